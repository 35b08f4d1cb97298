//! What is in the directory of a name that does not exist, for the messages about it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::FileKind;
use super::place::{Base, Lookup, Place};
use super::tree::{Listed, is_hidden, listed_beneath};

/// The most entries of a directory that are listed.
pub const NEIGHBOURS_LIMIT: usize = 4_096;

/// Entries of the nearest existing directory above a name.
#[derive(Debug)]
pub struct Neighbours {
    /// The name that this directory lacks.
    pub name: OsString,
    /// How many names of the path are below that one: with none, only the file is missing.
    pub missing_below: usize,
    /// The entries, unsorted and at most [`NEIGHBOURS_LIMIT`]. Empty if the directory cannot be
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
        let entries = self.siblings(&place);
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

    /// The entries of the directory of a place, of which at most [`NEIGHBOURS_LIMIT`] are listed.
    fn siblings(&self, place: &Place) -> Vec<Listed> {
        let above = place.canonical().parent();
        let mut entries = above.map(|above| self.documents_in(above)).unwrap_or_default();
        if let Ok(on_disk) = place.dir().and_then(cap_std::fs::Dir::entries) {
            let on_disk = on_disk.filter_map(|entry| listed_beneath(entry).ok());
            entries.extend(on_disk.take(NEIGHBOURS_LIMIT));
        }
        entries
    }

    fn neighbours_off_disk(&self, path: &str) -> Option<Neighbours> {
        let full = self.absolute(path).ok()?;
        for (missing_below, missing) in full.ancestors().enumerate() {
            let above = missing.parent()?;
            let entries = self.documents_in(above);
            if !entries.is_empty() || self.is_root(above) {
                let name = missing.file_name()?.to_owned();
                return Some(Neighbours { name, missing_below, entries });
            }
        }
        None
    }

    /// The documents and directories of documents directly in a directory.
    fn documents_in(&self, dir: &Path) -> Vec<Listed> {
        let Some(documents) = self.documents() else { return Vec::new() };
        let children = documents.first_children(dir, NEIGHBOURS_LIMIT).into_iter();
        let entry =
            |(name, kind): (OsString, FileKind)| Listed { hidden: is_hidden(&name, 0), name, kind };
        children.map(entry).collect()
    }
}
