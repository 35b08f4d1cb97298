//! Refuses new names that differ from existing ones only by case or Unicode normalization: usually
//! the existing file was meant, and many file systems cannot hold both.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::lookup::{FileTask, Tasks};
use hashline_base::error::{Code, Error, Mention};
use hashline_disk::fs::{Base, Lookup, Place};
use hashline_disk::names::{Difference, NameMatcher, folded};
use hashline_lines::rows::one_line;

/// The names of a directory, by their folded forms.
type Names = HashMap<String, Vec<String>>;

/// The errors for names that are almost those of files or directories that the patch keeps.
pub(super) fn refused(base: &Base, tasks: &Tasks<'_>) -> Vec<(usize, Error)> {
    let freed: HashSet<&Path> = tasks.files.iter().filter_map(FileTask::freed).collect();
    let mut directories: HashMap<PathBuf, Names> = HashMap::new();
    let mut refusal = |task: &FileTask<'_>| {
        // A file system that ignores case reports the name itself as taken.
        if task.is_verbatim || task.is_taken() {
            return None;
        }
        let (to, shown) = task.destination()?;
        let (new, below) = match to {
            Lookup::Found(place) => (place, 0),
            Lookup::Missing { first, rest } => (first, rest.len()),
        };
        let directory = new.canonical().parent()?;
        let names =
            directories.entry(directory.to_owned()).or_insert_with(|| sibling_names(base, new));
        let (existing, difference) = look_alike(names, new, &freed)?;
        Some((task.operation, error(task.operation, shown, below, &existing, difference)))
    };
    tasks.files.iter().filter_map(&mut refusal).collect()
}

fn sibling_names(base: &Base, place: &Place) -> Names {
    let mut names = Names::new();
    for entry in base.siblings(place) {
        if let Ok(name) = entry.name.into_string() {
            names.entry(folded(&name)).or_default().push(name);
        }
    }
    names
}

/// An existing name that the new one resembles. There is none if the new name exists, too.
fn look_alike(names: &Names, new: &Place, freed: &HashSet<&Path>) -> Option<(String, Difference)> {
    let name = new.name().to_str()?;
    let alike = names.get(&folded(name))?;
    if alike.iter().any(|other| other == name) {
        return None;
    }
    let is_kept =
        |other: &&String| !freed.contains(new.canonical().with_file_name(other).as_path());
    let kept = alike.iter().filter(is_kept).min()?;
    Some((kept.clone(), NameMatcher::new(name).difference(kept)?))
}

fn error(
    operation: usize,
    shown: &str,
    below: usize,
    existing: &str,
    difference: Difference,
) -> Error {
    let by = match difference {
        Difference::Normalization => "Unicode normalization",
        _ => "case",
    };
    let new = Path::new(shown).ancestors().nth(below).unwrap_or(Path::new(shown));
    let existing = new.with_file_name(existing);
    let existing = existing.to_string_lossy();
    let existing = one_line(&existing);
    let message = Mention::Operation(operation)
        + format!(
            ": {} differs from {existing}, which exists, only by {by}: use that name, or set verbatim to have both",
            one_line(&new.to_string_lossy()),
        );
    Error::at(Code::FileExists, shown, message)
}
