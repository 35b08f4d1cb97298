//! Paths that lead to documents of the host, or to nothing in a session without a disk. Lookups ask
//! here before they search the disk.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::FileKind;
use super::place::{At, Base, Place, not_a_file, outside};
use super::tree::FoundPath;
use crate::overlay::{OpenDocument, OpenDocuments, Overlay};
use hashline_base::error::{Error, Result};

/// The documents of a call.
#[derive(Debug)]
pub(super) struct Overlaid {
    pub(super) overlay: Arc<Overlay>,
    /// The documents as the call sees them.
    pub(super) seen: Mutex<OpenDocuments>,
    /// Without a disk, every path is that of a document or of nothing. The root then need not
    /// exist.
    pub(super) without_disk: Option<VirtualRoot>,
}

/// The root of a session without a disk.
#[derive(Debug)]
pub(super) struct VirtualRoot(pub(super) Option<PathBuf>);

/// An opened file.
pub enum Opened {
    /// A file on the disk.
    File(File),
    /// A document of the host.
    Document(Arc<OpenDocument>),
}

impl Base {
    /// A base without a disk: its files are documents alone. Both paths are absolute.
    pub fn without_disk(root: Option<&Path>, start: &Path, overlay: Arc<Overlay>) -> Base {
        let seen = Mutex::new(overlay.documents());
        let without_disk = Some(VirtualRoot(root.map(normalized)));
        Base {
            root: None,
            start: Some(normalized(start)),
            dirs: Mutex::default(),
            overlaid: Some(Overlaid { overlay, seen, without_disk }),
        }
    }

    /// The base with documents in place of files.
    #[must_use]
    pub fn with_overlay(mut self, overlay: Arc<Overlay>) -> Base {
        let seen = Mutex::new(overlay.documents());
        self.overlaid = Some(Overlaid { overlay, seen, without_disk: None });
        self
    }

    /// The documents, as the call sees them.
    pub(super) fn documents(&self) -> Option<OpenDocuments> {
        self.overlaid.as_ref().map(|overlaid| overlaid.seen.lock().clone())
    }

    /// Whether there is a disk.
    pub fn has_disk(&self) -> bool {
        self.overlaid.as_ref().is_none_or(|overlaid| overlaid.without_disk.is_none())
    }

    /// The documents to change, and as the call sees them.
    pub fn overlay(&self) -> Option<(&Overlay, OpenDocuments)> {
        Some((&*self.overlaid.as_ref()?.overlay, self.documents()?))
    }

    /// The name by which a full path is known among the documents.
    pub(super) fn name_of(&self, full: &Path) -> PathBuf {
        if self.has_disk() { canonical_name(full) } else { normalized(full) }
    }

    /// The absolute path of a file, document or directory that need not exist.
    pub fn absolute(&self, path: &str) -> Result<PathBuf> {
        let canonical = self.name_of(&self.full(path, Path::new(path))?);
        if self.is_within_root(&canonical) { Ok(canonical) } else { Err(outside(path)) }
    }

    /// The absolute path of a document. Refuses the path of a directory.
    pub fn document_path(&self, path: &str) -> Result<PathBuf> {
        if path.ends_with(std::path::is_separator) {
            return Err(not_a_file(path, "the name of a directory"));
        }
        let canonical = self.absolute(path)?;
        let is_directory = self.is_root(&canonical) || self.has_disk() && canonical.is_dir();
        if is_directory || canonical.file_name().is_none() {
            return Err(not_a_file(path, "a directory"));
        }
        Ok(canonical)
    }

    /// The place of a path, if it leads to a document, or if there is no disk. A link leads to the
    /// document of its target.
    pub(super) fn off_disk(&self, shown: &str, path: &Path) -> Result<Option<Place>> {
        self.off_disk_by(shown, path, |full| self.name_of(full))
    }

    /// Like `off_disk`, but a link in the last component is not followed.
    pub(super) fn off_disk_named(&self, shown: &str, path: &Path) -> Result<Option<Place>> {
        let name_of = |full: &Path| match (full.parent(), full.file_name()) {
            (Some(parent), Some(name)) => self.name_of(parent).join(name),
            _ => self.name_of(full),
        };
        self.off_disk_by(shown, path, name_of)
    }

    fn off_disk_by(
        &self,
        shown: &str,
        path: &Path,
        name_of: impl FnOnce(&Path) -> PathBuf,
    ) -> Result<Option<Place>> {
        let Some(documents) = self.documents() else { return Ok(None) };
        let has_disk = self.has_disk();
        if has_disk && documents.is_empty() {
            return Ok(None);
        }
        let full = self.full(shown, path)?;
        let canonical = name_of(&full);
        if !self.is_within_root(&canonical) {
            return if has_disk { Ok(None) } else { Err(outside(shown)) };
        }
        let is_directory = || documents.has_below(&canonical) && !(has_disk && canonical.exists());
        let at = match documents.get(&canonical) {
            Some(document) => At::Document(Arc::clone(document)),
            None if canonical.ancestors().skip(1).any(|above| documents.get(above).is_some()) => {
                return Err(Error::io("find", shown, &io::ErrorKind::NotADirectory.into()));
            }
            None if !has_disk && self.is_root(&canonical) => {
                return Err(not_a_file(shown, "a directory"));
            }
            None if is_directory() => At::ImpliedDirectory,
            None if has_disk => return Ok(None),
            None => At::Nothing,
        };
        let Some(name) = canonical.file_name().map(OsStr::to_owned) else {
            return Err(not_a_file(shown, "a directory"));
        };
        Ok(Some(Place { at, name, canonical, shown: shown.to_owned() }))
    }

    /// Opens a file or document for reading, following links, without blocking on a FIFO.
    pub fn open_or_document(&self, path: &str) -> Result<Opened> {
        match self.off_disk(path, Path::new(path))? {
            None => self.open_file(path).map(Opened::File),
            Some(place) => match place.at {
                At::Document(document) => Ok(Opened::Document(document)),
                At::ImpliedDirectory => Err(not_a_file(path, "a directory")),
                At::Directory(_) | At::Nothing => {
                    Err(Error::io("open", path, &io::ErrorKind::NotFound.into()))
                }
            },
        }
    }

    /// Like `find`, for documents and for the directories that their paths imply.
    pub(super) fn find_off_disk(&self, path: &Path, shown: &str) -> Result<Option<FoundPath>> {
        let Some(documents) = self.documents() else { return Ok(None) };
        if self.has_disk() && documents.is_empty() {
            return Ok(None);
        }
        let full = self.start_dir()?.join(path);
        let canonical = self.name_of(&full);
        if !self.has_disk() && !self.is_within_root(&canonical) {
            return Err(outside(shown));
        }
        let is_directory = documents.has_below(&canonical) || self.root_path() == Some(&canonical);
        let kind = match documents.get(&canonical) {
            Some(_) => FileKind::File,
            None if is_directory && (!self.has_disk() || !full.exists()) => FileKind::Directory,
            None if self.has_disk() => return Ok(None),
            None => return Err(Error::io("open", shown, &io::ErrorKind::NotFound.into())),
        };
        let is_inside = self.is_within_root(&canonical);
        Ok(is_inside.then_some(FoundPath { canonical, kind }))
    }
}

/// A path without `.` and `..`, which are resolved without following links.
fn normalized(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// The path without links and dots of a file, or of a name whose file or directories do not exist.
fn canonical_name(full: &Path) -> PathBuf {
    if let Ok(canonical) = full.canonicalize() {
        return canonical;
    }
    let plain = normalized(full);
    let mut missing = plain.ancestors().skip(1);
    let found = missing.find_map(|above| Some((above, above.canonicalize().ok()?)));
    match found {
        Some((above, canonical)) => {
            plain.strip_prefix(above).map_or(plain.clone(), |rest| canonical.join(rest))
        }
        None => plain,
    }
}
