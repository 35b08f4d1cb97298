//! What is in the directory of a name that does not exist, for the messages about it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::FileKind;
use super::place::{Base, Lookup, Place};
use super::tree::{Listed, is_hidden, listed_beneath};
use crate::names::NameMatcher;

/// How many entries of a directory are listed, whatever their names are.
pub const NEIGHBOURS_LIMIT: usize = 4_096;

/// Entries of the nearest existing directory above a name.
#[derive(Debug)]
pub struct Neighbours {
    /// The name that this directory lacks.
    pub name: OsString,
    /// How many names of the path are below that one: with none, only the file is missing.
    pub missing_below: usize,
    /// The first entries, unsorted and at most [`NEIGHBOURS_LIMIT`], and no more than that of the
    /// others, which differ from the name only in their form. Empty if the directory cannot be
    /// listed.
    pub entries: Vec<Listed>,
}

impl Base {
    /// The neighbours of a name that does not exist. Nothing outside the root, and without a disk
    /// nothing but documents.
    pub fn neighbours(&self, path: &str) -> Option<Neighbours> {
        if !self.has_disk() {
            return self.neighbours_off_disk(path);
        }
        let (place, missing_below) = match self.named(path).ok()? {
            Lookup::Found(place) => (place, 0),
            Lookup::Missing { first, rest } => (first, rest.len()),
        };
        let entries = self.siblings(&place, place.name());
        Some(Neighbours { name: place.name().to_owned(), missing_below, entries })
    }

    /// Passes the name of each entry in the directory of a place to `each`, until that returns false.
    pub fn each_sibling(&self, place: &Place, each: &mut dyn FnMut(&OsStr) -> bool) {
        let documents = place.canonical().parent().zip(self.documents());
        let documents = documents.map(|(dir, documents)| documents.children(dir));
        if !documents.into_iter().flatten().all(|(name, _)| each(&name)) {
            return;
        }
        if let Ok(on_disk) = place.dir().and_then(cap_std::fs::Dir::entries) {
            let _ = on_disk.filter_map(Result::ok).all(|entry| each(&entry.file_name()));
        }
    }

    /// The entries of the directory of a place, as far as they are [listed](Neighbours::entries).
    fn siblings(&self, place: &Place, name: &OsStr) -> Vec<Listed> {
        let above = place.canonical().parent();
        let mut entries = above.map(|above| self.documents_in(above, name)).unwrap_or_default();
        if let Ok(on_disk) = place.dir().and_then(cap_std::fs::Dir::entries) {
            entries.extend(listed(on_disk.filter_map(|entry| listed_beneath(entry).ok()), name));
        }
        entries
    }

    fn neighbours_off_disk(&self, path: &str) -> Option<Neighbours> {
        let full = self.absolute(path).ok()?;
        for (missing_below, missing) in full.ancestors().enumerate() {
            let above = missing.parent()?;
            let name = missing.file_name()?.to_owned();
            let entries = self.documents_in(above, &name);
            if !entries.is_empty() || self.is_root(above) {
                return Some(Neighbours { name, missing_below, entries });
            }
        }
        None
    }

    /// The documents and directories of documents directly in a directory, as far as they are
    /// listed.
    fn documents_in(&self, dir: &Path, name: &OsStr) -> Vec<Listed> {
        let Some(documents) = self.documents() else { return Vec::new() };
        let entry =
            |(name, kind): (OsString, FileKind)| Listed { hidden: is_hidden(&name, 0), name, kind };
        listed(documents.children(dir).into_iter().map(entry), name).collect()
    }
}

/// Those of the entries of a directory that are listed for a name that it lacks.
fn listed(entries: impl Iterator<Item = Listed>, name: &OsStr) -> impl Iterator<Item = Listed> {
    let matcher = name.to_str().map(NameMatcher::new);
    let is_close = move |entry: &Listed| {
        let names = matcher.as_ref().zip(entry.name.to_str());
        names.is_some_and(|(matcher, name)| matcher.differs_in_form(name))
    };
    let close =
        entries.enumerate().filter(move |(at, entry)| *at < NEIGHBOURS_LIMIT || is_close(entry));
    close.map(|(_, entry)| entry).take(2 * NEIGHBOURS_LIMIT)
}
