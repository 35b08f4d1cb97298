//! The plan of a transaction: the strategy of each update, and every name it will use.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use super::step::Step;
use super::{CommitOptions, Content, TEMPORARY_PREFIX, TransactionContext, Update};
use crate::fs::{FileSystem, Lookup, Place, Rights, Stamp};
use hashline_base::error::{Code, Error, Result};

/// A planned step with the names it will use, and the content of its new file.
pub(super) struct Draft<'a> {
    pub(super) step: Step<Lookup, Stamp>,
    /// The new content; `None` if the content does not change.
    pub(super) content: Option<&'a Content<'a>>,
    /// The attributes that a created file gets, unless the system chooses them.
    pub(super) attributes: Option<Attributes<'a>>,
}

/// The attributes of a new file.
#[derive(Clone, Copy)]
pub(super) enum Attributes<'a> {
    /// Those of a file.
    Of(&'a Place, &'a Stamp),
    /// A mode and owner.
    Rights(Rights),
}

impl<'a> Draft<'a> {
    fn new(step: Step<Lookup, Stamp>, content: Option<&'a Content<'a>>) -> Draft<'a> {
        Draft { step, content, attributes: None }
    }
}

/// Chooses a strategy and names for every update; refuses updates that are not allowed or not
/// possible.
pub(super) fn drafts<'a>(
    context: TransactionContext<'_>,
    updates: &'a [Update<'a>],
    options: CommitOptions,
) -> Result<Vec<Draft<'a>>> {
    let vacated: BTreeSet<&Path> = updates
        .iter()
        .filter_map(|update| match update {
            Update::Delete { place, .. } | Update::Move { from: place, .. } => {
                Some(place.canonical())
            }
            Update::Rewrite { .. } | Update::Create { .. } | Update::Recreate { .. } => None,
        })
        .collect();
    let mut drafts = Vec::with_capacity(updates.len());
    for update in updates {
        check_length(update)?;
        drafts.extend(drafts_of(context, update, options, &vacated)?);
    }
    Ok(drafts)
}

/// Refuses a path that is too long for the system. The commit works with open directories and would
/// not fail, but a recovery opens files by the paths in the journal.
fn check_length(update: &Update<'_>) -> Result<()> {
    #[cfg(unix)]
    if let Update::Create { to, .. } | Update::Move { to, .. } = update {
        // `PATH_MAX` includes the terminating NUL.
        let limit = libc::PATH_MAX as usize - 1;
        let length = to.path().as_os_str().len();
        let (Lookup::Found(place) | Lookup::Missing { first: place, .. }) = to;
        if length > limit {
            let path = place.shown();
            let message = format!(
                "{path}: the path is too long: {length} bytes when links are followed, over the limit of {limit}"
            );
            return Err(Error::at(Code::InvalidArgument, path, message));
        }
    }
    #[cfg(not(unix))]
    let _ = update;
    Ok(())
}

fn drafts_of<'a>(
    context: TransactionContext<'_>,
    update: &'a Update<'a>,
    options: CommitOptions,
    vacated: &BTreeSet<&Path>,
) -> Result<Vec<Draft<'a>>> {
    let draft = match update {
        Update::Rewrite { place, stamp, content } => {
            Draft::new(rewrite(context, place, stamp, options)?, Some(content))
        }
        Update::Create { to, content, rights } => {
            let attributes = rights.map(Attributes::Rights);
            Draft { attributes, ..Draft::new(create(to), Some(content)) }
        }
        Update::Move { from, stamp, to, content } => {
            if content.is_some() {
                check_rewritable(context.fs, from, stamp, options)?;
                if stamp.links > 1 {
                    return Err(cannot_move_and_edit(from, "has several names (hard links)"));
                }
                if !may_replace(context.fs, from, stamp)? {
                    let why = "belongs to another user, or cannot be moved out of its directory";
                    return Err(cannot_move_and_edit(from, why));
                }
            }
            let is_copied = content.is_some() || !is_same_device(context.fs, from, to);
            let is_vacated = vacated.contains(to.path().as_path());
            let (from, old, to) = (Lookup::Found(from.clone()), *stamp, to.clone());
            let parked = temporary_sibling(&from);
            let step = if is_copied {
                Step::Replace { from, old, temporary: temporary_sibling(&to), to, parked }
            } else {
                Step::Rename { from, old, to, parked: is_vacated.then_some(parked) }
            };
            Draft::new(step, content.as_ref())
        }
        Update::Delete { place, stamp } => Draft::new(delete(place, stamp), None),
        Update::Recreate { place, stamp, content } => {
            return recreate(context, place, stamp, content, options);
        }
    };
    Ok(vec![draft])
}

fn create(to: &Lookup) -> Step<Lookup, Stamp> {
    Step::Create { target: to.clone(), temporary: temporary_sibling(to) }
}

fn delete(place: &Place, stamp: &Stamp) -> Step<Lookup, Stamp> {
    let target = Lookup::Found(place.clone());
    let parked = temporary_sibling(&target);
    Step::Delete { target, old: *stamp, parked }
}

/// The steps that remove a file and create another one with its name. If a new file would lose the
/// owner, the old one is rewritten in place instead.
fn recreate<'a>(
    context: TransactionContext<'_>,
    place: &'a Place,
    stamp: &'a Stamp,
    content: &'a Content<'a>,
    options: CommitOptions,
) -> Result<Vec<Draft<'a>>> {
    let fs = context.fs;
    if stamp.links == 1 && !may_replace(fs, place, stamp)? && may_write(fs, place)? {
        return Ok(vec![Draft::new(rewrite(context, place, stamp, options)?, Some(content))]);
    }
    let created = Draft::new(create(&Lookup::Found(place.clone())), Some(content));
    let created = Draft { attributes: Some(Attributes::Of(place, stamp)), ..created };
    Ok(vec![Draft::new(delete(place, stamp), None), created])
}

fn rewrite(
    context: TransactionContext<'_>,
    place: &Place,
    stamp: &Stamp,
    options: CommitOptions,
) -> Result<Step<Lookup, Stamp>> {
    let path = place.shown();
    check_rewritable(context.fs, place, stamp, options)?;
    let (target, old) = (Lookup::Found(place.clone()), *stamp);
    if stamp.links == 1 && may_replace(context.fs, place, stamp)? {
        let (temporary, saved) = (temporary_sibling(&target), temporary_sibling(&target));
        return Ok(Step::Rewrite { target, old, temporary, saved });
    }
    let in_state_dir =
        || Ok(Lookup::Found(context.state.journal_file(context.fs, path, temporary_name())?));
    let (saved, ready) = (in_state_dir()?, in_state_dir()?);
    Ok(Step::RewriteInPlace { target, old, saved, ready })
}

/// A temporary name in the same directory.
fn temporary_sibling(name: &Lookup) -> Lookup {
    name.sibling(temporary_name())
}

fn cannot_move_and_edit(file: &Place, why: &str) -> Error {
    let path = file.shown();
    let message =
        format!("{path}: {why}, and cannot be edited and moved in one patch: do it in two");
    Error::at(Code::InvalidOperation, path, message)
}

fn may_replace(fs: &dyn FileSystem, place: &Place, stamp: &Stamp) -> Result<bool> {
    fs.may_replace(place, stamp).map_err(|cause| Error::io("write", place.shown(), &cause))
}

fn may_write(fs: &dyn FileSystem, place: &Place) -> Result<bool> {
    fs.may_write(place).map_err(|cause| Error::io("write", place.shown(), &cause))
}

/// Refuses a file whose content may not be changed.
fn check_rewritable(
    fs: &dyn FileSystem,
    place: &Place,
    stamp: &Stamp,
    options: CommitOptions,
) -> Result<()> {
    let path = place.shown();
    if !may_write(fs, place)? {
        let message = format!("{path}: permission denied (the file is not writable)");
        return Err(Error::at(Code::PermissionDenied, path, message));
    }
    if stamp.links > 1 && options.refuse_hard_links {
        return Err(Error::at(
            Code::OutsideRoot,
            path,
            format!(
                "{path}: has {} names (hard links), and some may be outside the root",
                stamp.links
            ),
        ));
    }
    Ok(())
}

/// Whether a rename can move the file to its new name. If the new directory does not exist yet, the
/// closest existing ancestor decides.
fn is_same_device(fs: &dyn FileSystem, from: &Place, to: &Lookup) -> bool {
    let (Lookup::Found(above) | Lookup::Missing { first: above, .. }) = to;
    let device = |place: &Place| {
        let directory = place.directory();
        Some((fs.stamp(&directory).ok()?.device, fs.mount(&directory).ok()?))
    };
    device(from) == device(above)
}

/// A unique name for a temporary file.
pub(super) fn temporary_name() -> OsString {
    use std::hash::{BuildHasher, RandomState};
    // Each `RandomState` has its own keys, from the random source of the system.
    let random = RandomState::new().hash_one(std::process::id());
    OsString::from(format!("{TEMPORARY_PREFIX}{random:016x}.tmp"))
}
