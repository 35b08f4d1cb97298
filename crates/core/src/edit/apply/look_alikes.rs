//! Refuses new names that differ only by case or Unicode normalization from existing ones, or from
//! other new ones: usually the existing file was meant, and many file systems cannot hold both.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::lookup::{FileTask, Tasks};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Mention, Message, Result};
use hashline_disk::fs::{Base, Lookup, NEIGHBOURS_LIMIT, Place};
use hashline_disk::names::{Difference, NameMatcher, folded};
use hashline_lines::rows::one_line;

/// Entries that are compared between two checks of the cancellation flag.
const ENTRIES_PER_CANCEL_CHECK: usize = 1024;

/// A name that the patch adds to a directory.
struct NewName<'a> {
    task: &'a FileTask<'a>,
    /// Where it is, or the first of its missing directories.
    place: &'a Place,
    name: &'a str,
    /// The missing names below that one.
    rest: Vec<&'a str>,
    /// The path as the request wrote it.
    shown: &'a str,
    /// Whether the name exists, too.
    exists: bool,
    /// The first of the names that it resembles and that the patch keeps.
    resembles: Option<String>,
}

/// The errors for names that are almost those of files or directories that the patch keeps or adds.
/// A preview compares only some names of a large directory.
pub(super) fn refused(
    base: &Base,
    tasks: &Tasks<'_>,
    is_preview: bool,
    cancel: &Cancel,
) -> Result<Vec<(usize, Error)>> {
    let mut new_names: Vec<NewName<'_>> = tasks.files.iter().filter_map(new_name).collect();
    let freed: HashSet<&Path> = tasks.files.iter().filter_map(FileTask::freed).collect();
    let mut directories: HashMap<&Path, Vec<&mut NewName<'_>>> = HashMap::new();
    for new in new_names.iter_mut().filter(|new| !new.task.is_verbatim) {
        if let Some(directory) = new.place.canonical().parent() {
            directories.entry(directory).or_default().push(new);
        }
    }
    let max_entries = if is_preview { NEIGHBOURS_LIMIT } else { usize::MAX };
    for names in directories.into_values() {
        compare_with_entries(base, names, &freed, max_entries, cancel);
        cancel.check()?;
    }
    let (mut added, mut errors) = (HashMap::new(), Vec::new());
    for new in &new_names {
        let among_new = resembles_added(new, &mut added).filter(|_| !new.task.is_verbatim);
        errors.extend(existing_error(new).or(among_new).map(|error| (new.task.operation, error)));
    }
    Ok(errors)
}

fn new_name<'a>(task: &'a FileTask<'a>) -> Option<NewName<'a>> {
    // A file system that ignores case reports the name itself as taken.
    if task.is_taken() {
        return None;
    }
    let (to, shown) = task.destination()?;
    let (place, rest) = match to {
        Lookup::Found(place) => (place, &[][..]),
        Lookup::Missing { first, rest } => (first, &rest[..]),
    };
    let rest = rest.iter().map(|name| name.to_str()).collect::<Option<_>>()?;
    let name = place.name().to_str()?;
    Some(NewName { task, place, name, rest, shown, exists: false, resembles: None })
}

/// Compares the new names of one directory with its entries, of which none are kept: there can be
/// millions.
fn compare_with_entries(
    base: &Base,
    mut names: Vec<&mut NewName<'_>>,
    freed: &HashSet<&Path>,
    max_entries: usize,
    cancel: &Cancel,
) {
    let Some(place) = names.first().map(|new| new.place) else { return };
    let mut by_folded: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, new) in names.iter().enumerate() {
        by_folded.entry(folded(new.name)).or_default().push(at);
    }
    let mut compared = 0;
    base.each_sibling(place, &mut |entry: &OsStr| {
        compared += 1;
        let alike = entry.to_str().and_then(|entry| Some((entry, by_folded.get(&folded(entry))?)));
        for (entry, at) in
            alike.into_iter().flat_map(|(entry, all)| all.iter().map(move |at| (entry, *at)))
        {
            let new = &mut *names[at];
            if entry == new.name {
                new.exists = true;
            } else if !freed.contains(&*place.canonical().with_file_name(entry))
                && new.resembles.as_deref().is_none_or(|first| entry < first)
            {
                new.resembles = Some(entry.to_owned());
            }
        }
        let is_cancelled = compared % ENTRIES_PER_CANCEL_CHECK == 0 && cancel.is_cancelled();
        compared < max_entries && !is_cancelled
    });
}

/// The error for a name that resembles an existing one. There is none if the new name exists, too.
fn existing_error(new: &NewName<'_>) -> Option<Error> {
    let existing = new.resembles.as_ref().filter(|_| !new.exists)?;
    let difference = NameMatcher::new(new.name).difference(existing)?;
    let which = Message::from("which exists");
    Some(error(new, new.rest.len(), existing, difference, which))
}

/// The names that the patch adds, by their directory and folded form, with the operation.
type Added<'a> = HashMap<(PathBuf, String), (&'a str, usize)>;

/// The error for a name that resembles one that an earlier operation adds, or one of its missing
/// directories.
fn resembles_added<'a>(new: &NewName<'a>, added: &mut Added<'a>) -> Option<Error> {
    let mut directory = new.place.canonical().parent()?.to_owned();
    let names = std::iter::once(new.name).chain(new.rest.iter().copied());
    for (depth, name) in names.enumerate() {
        let key = (directory.clone(), folded(name));
        let &mut (other, operation) = added.entry(key).or_insert((name, new.task.operation));
        if let Some(difference) = NameMatcher::new(name).difference(other) {
            let which = Message::from("which ") + Mention::Operation(operation) + " adds";
            return Some(error(new, new.rest.len() - depth, other, difference, which));
        }
        directory.push(name);
    }
    None
}

/// `below` is the number of names below the one that resembles another.
fn error(
    new: &NewName<'_>,
    below: usize,
    other: &str,
    difference: Difference,
    which: Message,
) -> Error {
    let by = match difference {
        Difference::Normalization => "Unicode normalization",
        _ => "case",
    };
    let path = Path::new(new.shown);
    let path = path.ancestors().nth(below).unwrap_or(path);
    let other = path.with_file_name(other);
    let (path, other) = (path.to_string_lossy(), other.to_string_lossy());
    let message = Mention::Operation(new.task.operation)
        + format!(": {} differs from {}, ", one_line(&path), one_line(&other))
        + which
        + format!(", only by {by}: use that name, or set verbatim to have both");
    Error::at(Code::FileExists, new.shown, message)
}
