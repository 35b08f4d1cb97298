//! The steps of a transaction: which strategy each change takes, and every name it will use.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use super::{Change, CommitOptions, Ground, Pieces, TEMPORARY_PREFIX};
use crate::disk::fs::{FileSystem, Lookup, Place, Stamp};
use crate::error::{Code, Error, Result};

/// A change with its strategy and its names, before anything exists.
pub(super) struct Draft<'a> {
    pub(super) action: Action<'a>,
    /// The name of its temporary file, beside the target.
    pub(super) temporary: OsString,
    /// The name under which an old version or a vacated file waits.
    pub(super) aside: OsString,
}

/// What a draft does.
pub(super) enum Action<'a> {
    Rewrite {
        target: Place,
        old: Stamp,
        content: &'a Pieces<'a>,
    },
    /// The file keeps its inode: it has other names, or its directory takes no new entries.
    /// The new and the old content wait in the state directory.
    RewriteInPlace {
        target: Place,
        old: Stamp,
        content: &'a Pieces<'a>,
        saved: Place,
        ready: Place,
    },
    Create {
        to: Lookup,
        content: &'a Pieces<'a>,
    },
    /// `parks` when the new name is one that the patch itself vacates.
    Rename {
        from: Place,
        old: Stamp,
        to: Lookup,
        parks: bool,
    },
    /// A move with new content (`None`: the old one), through a copy.
    Replace {
        from: Place,
        old: Stamp,
        to: Lookup,
        content: Option<&'a Pieces<'a>>,
    },
    Delete {
        target: Place,
        old: Stamp,
    },
}

/// A step that is ready: everything it needs is on the disk.
pub(super) enum Step {
    Rewrite { target: Place, old: Stamp, temporary: Place, saved: Place },
    RewriteInPlace { target: Place, old: Stamp, saved: Place, ready: Place },
    Create { target: Place, temporary: Place },
    Rename { from: Place, old: Stamp, to: Place, parked: Option<Place> },
    Replace { from: Place, old: Stamp, to: Place, temporary: Place, parked: Place },
    Delete { target: Place, old: Stamp, parked: Place },
}

impl Step {
    /// The file that it was made from.
    pub(super) fn source(&self) -> Option<(&Place, &Stamp)> {
        match self {
            Step::Rewrite { target, old, .. }
            | Step::RewriteInPlace { target, old, .. }
            | Step::Delete { target, old, .. }
            | Step::Rename { from: target, old, .. }
            | Step::Replace { from: target, old, .. } => Some((target, old)),
            Step::Create { .. } => None,
        }
    }

    /// The file that holds its new content until it is published.
    pub(super) fn staged(&self) -> Option<&Place> {
        match self {
            Step::Rewrite { temporary, .. }
            | Step::Create { temporary, .. }
            | Step::Replace { temporary, .. } => Some(temporary),
            _ => None,
        }
    }
}

/// Chooses a strategy and names for every change; refuses what must not or cannot be done.
pub(super) fn drafts<'a>(
    ground: Ground<'_>,
    changes: &'a [Change<'a>],
    options: CommitOptions,
) -> Result<Vec<Draft<'a>>> {
    let vacated: BTreeSet<&Path> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Delete { place, .. } | Change::Move { from: place, .. } => {
                Some(place.canonical())
            }
            _ => None,
        })
        .collect();
    let draft = |change| {
        check_length(change)?;
        let action = action(ground, change, options, &vacated)?;
        Ok(Draft { action, temporary: temporary_name(), aside: temporary_name() })
    };
    changes.iter().map(draft).collect()
}

/// Refuses a path that the system would not take. The commit could do with open directories, but
/// a recovery looks the paths of a journal up.
fn check_length(change: &Change<'_>) -> Result<()> {
    #[cfg(unix)]
    if let Change::Create { to, .. } | Change::Move { to, .. } = change {
        // The last byte is the system's.
        let most = libc::PATH_MAX as usize - 1;
        let length = to.path().as_os_str().len();
        let (Lookup::Found(place) | Lookup::Missing { first: place, .. }) = to;
        if length > most {
            let path = place.shown();
            let message = format!(
                "{path}: the path is too long: {length} bytes when links are followed, of at most {most}"
            );
            return Err(Error::at(Code::InvalidArgument, path, message));
        }
    }
    #[cfg(not(unix))]
    let _ = change;
    Ok(())
}

fn action<'a>(
    ground: Ground<'_>,
    change: &'a Change<'a>,
    options: CommitOptions,
    vacated: &BTreeSet<&Path>,
) -> Result<Action<'a>> {
    Ok(match change {
        Change::Rewrite { place, stamp, content } => {
            rewrite(ground, place, stamp, content, options)?
        }
        Change::Create { to, content } => Action::Create { to: to.clone(), content },
        Change::Move { from, stamp, to, content } => {
            let (from, old, to) = (from.clone(), *stamp, to.clone());
            if content.is_some() {
                check_rewritable(ground.fs, &from, stamp, options)?;
                if stamp.links > 1 {
                    return Err(many_names_moved(from.shown()));
                }
            }
            if content.is_some() || !is_same_device(ground.fs, &from, &to) {
                Action::Replace { from, old, to, content: content.as_ref() }
            } else {
                let parks = vacated.contains(to.path().as_path());
                Action::Rename { from, old, to, parks }
            }
        }
        Change::Delete { place, stamp } => Action::Delete { target: place.clone(), old: *stamp },
    })
}

fn rewrite<'a>(
    ground: Ground<'_>,
    place: &Place,
    stamp: &Stamp,
    content: &'a Pieces<'a>,
    options: CommitOptions,
) -> Result<Action<'a>> {
    let path = place.shown();
    check_rewritable(ground.fs, place, stamp, options)?;
    let (target, old) = (place.clone(), *stamp);
    let may_replace = || ground.fs.may_replace(place, stamp);
    if stamp.links == 1 && may_replace().map_err(|cause| Error::io("write", path, &cause))? {
        return Ok(Action::Rewrite { target, old, content });
    }
    let saved = ground.state.file(path, temporary_name())?;
    let ready = ground.state.file(path, temporary_name())?;
    Ok(Action::RewriteInPlace { target, old, content, saved, ready })
}

fn many_names_moved(path: &str) -> Error {
    Error::at(
        Code::InvalidOperation,
        path,
        format!(
            "{path}: has several names (hard links), and cannot be edited and moved in one patch: do it in two"
        ),
    )
}

fn may_write(fs: &dyn FileSystem, place: &Place) -> Result<bool> {
    fs.may_write(place).map_err(|cause| Error::io("write", place.shown(), &cause))
}

/// Refuses a file whose content must not be changed.
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
                "{path}: has {} names (hard links), and some may lie outside the root",
                stamp.links
            ),
        ));
    }
    Ok(())
}

/// Whether a rename can take the file to its new name; the new directory may be missing yet,
/// but the one above it is not.
fn is_same_device(fs: &dyn FileSystem, from: &Place, to: &Lookup) -> bool {
    let (Lookup::Found(above) | Lookup::Missing { first: above, .. }) = to;
    let device = |place: &Place| {
        let directory = place.directory();
        Some((fs.stamp(&directory).ok()?.device, fs.mount(&directory).ok()?))
    };
    device(from) == device(above)
}

/// A name for a temporary file that nobody else has.
pub(super) fn temporary_name() -> OsString {
    use std::hash::{BuildHasher, RandomState};
    // Each `RandomState` has keys of its own, from the system's source of randomness.
    let random = RandomState::new().hash_one(std::process::id());
    OsString::from(format!("{TEMPORARY_PREFIX}{random:016x}.tmp"))
}
