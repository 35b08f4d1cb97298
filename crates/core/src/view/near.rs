//! Names that are nearly the path of a file that does not exist, for the message that says so.

use std::ffi::OsStr;
use std::path::{Path, is_separator};

use hashline_base::error::{Code, Error};
use hashline_disk::fs::{Base, FileKind, Listed, Neighbours};
use hashline_disk::names::{Difference, NameMatcher, has_several_forms};
use hashline_lines::rows::one_line;

/// The most missing files of one call that get near names. Each costs the listing of a directory.
pub const MISSING_LIMIT: usize = 8;

/// The most names of a path that are searched in another Unicode normalization.
const NORMALIZED_NAMES: usize = 8;

/// The most names of one message.
const NAMES_LIMIT: usize = 3;

/// The error, with near names if it says that the file at `path` does not exist.
pub fn with_near_names(base: &Base, path: &str, error: Error) -> Error {
    if error.code != Code::FileNotFound {
        return error;
    }
    match near_names(base, path) {
        Some(note) => error.within("", note),
        None => error,
    }
}

/// The question whether one of these names was meant, to append to a message; `None` without names.
pub fn did_you_mean(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [one] => Some(format!(". Did you mean {one}?")),
        [names @ .., last] => Some(format!(". Did you mean {} or {last}?", names.join(", "))),
    }
}

/// What to append to the message that there is no file at `path`.
pub fn near_names(base: &Base, path: &str) -> Option<String> {
    // A search may name a directory with a separator at the end.
    let path = path.trim_end_matches(is_separator);
    let Neighbours { name, missing_below, entries } = base.neighbours(path)?;
    let path = Path::new(path);
    let first = path.ancestors().nth(missing_below)?;
    let below = path.strip_prefix(first).ok()?;
    // The path can reach the directory by links or dots, but its missing part has neither.
    if first.file_name() != Some(&name) {
        return None;
    }
    let alike = most_alike(&name, &entries, missing_below > 0);
    let shown: Vec<String> =
        alike.into_iter().map(|near| shown(base, &near, first, below)).collect();
    let meant = did_you_mean(&shown).unwrap_or_default();
    let lacking = if missing_below > 0 { no_directory(first) } else { String::new() };
    Some(lacking + &meant).filter(|note| !note.is_empty())
}

/// The path of an existing file that differs from a missing one only in its Unicode normalization:
/// programs print names in NFC that may be in NFD. `None` if there are several.
pub fn normalized(base: &Base, path: &str) -> Option<String> {
    let mut path = path.to_owned();
    for _ in 0..NORMALIZED_NAMES {
        if !has_several_forms(&path) {
            return None;
        }
        let Neighbours { name, missing_below, entries } = base.neighbours(&path)?;
        let missing = Path::new(&path).ancestors().nth(missing_below)?;
        let below = Path::new(&path).strip_prefix(missing).ok()?;
        let matcher = NameMatcher::new(name.to_str()?);
        let names = entries.iter().filter_map(|entry| entry.name.to_str());
        let is_same = |name: &&str| matcher.difference(name) == Some(Difference::Normalization);
        let mut same: Vec<&str> = names.filter(is_same).collect();
        same.sort_unstable();
        same.dedup();
        let [only] = same[..] else { return None };
        let full = missing.with_file_name(only).join(below);
        // A path without a name below ends with a separator otherwise.
        let full = full.to_str()?.trim_end_matches(is_separator).to_owned();
        if base.existing(&full).is_ok() {
            return Some(full);
        }
        path = full;
    }
    None
}

/// An entry that is alike.
struct Near<'e> {
    difference: Difference,
    name: &'e str,
    is_dir: bool,
}

/// The entries most like a name. Names that are not Unicode cannot be given to a tool.
fn most_alike<'e>(name: &OsStr, entries: &'e [Listed], only_dirs: bool) -> Vec<Near<'e>> {
    let Some(matcher) = name.to_str().map(NameMatcher::new) else { return Vec::new() };
    let near = |entry: &'e Listed| {
        let is_dir = entry.kind == FileKind::Directory;
        let fits = match entry.kind {
            FileKind::Directory | FileKind::Link => true,
            FileKind::File => !only_dirs,
            FileKind::Special => false,
        };
        let name = entry.name.to_str().filter(|_| fits)?;
        Some(Near { difference: matcher.difference(name)?, name, is_dir })
    };
    let mut alike: Vec<Near<'_>> = entries.iter().filter_map(near).collect();
    alike.sort_by_key(|near| (near.difference, near.name));
    // A document takes the place of the file with its name.
    alike.dedup_by_key(|near| near.name);
    alike.truncate(NAMES_LIMIT);
    alike
}

/// The path that may have been meant, on one line: the file, if the near name is that of a
/// directory that has it.
fn shown(base: &Base, near: &Near<'_>, missing: &Path, below: &Path) -> String {
    let path = missing.with_file_name(near.name);
    let file = path.join(below);
    let exists = || file.to_str().is_some_and(|file| base.existing(file).is_ok());
    let has_file = !below.as_os_str().is_empty() && exists();
    let (path, end) = match (has_file, near.is_dir) {
        (true, _) => (file, ""),
        (false, true) => (path, "/"),
        (false, false) => (path, ""),
    };
    format!("{}{end} ({})", one_line(&path.to_string_lossy()), near.difference.noun())
}

/// The sentence that a directory does not exist, and where not.
fn no_directory(missing: &Path) -> String {
    let name = missing.file_name().unwrap_or_default().to_string_lossy();
    let name = one_line(&name).into_owned();
    match missing.parent().filter(|above| !above.as_os_str().is_empty()) {
        Some(above) => {
            format!(". There is no directory {name} in {}", one_line(&above.to_string_lossy()))
        }
        None => format!(". There is no directory {name}"),
    }
}
