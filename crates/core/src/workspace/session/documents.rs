//! The documents of a session: files whose text the host holds.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Session;
use crate::edit::outcome::DocumentText;
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;
use hashline_disk::bytes::{Loaded, with_file};
use hashline_disk::fs::{Stamp, unicode_path};
use hashline_memory::hash_of;

/// A document that is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenDocumentInfo {
    /// The path, as the host gave it.
    pub path: String,
    /// The version that the host gave its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}

impl Session {
    /// Sets the text of a document. Until it is closed, the session reads, searches and edits this
    /// text instead of the file with its path. It never writes a document: the outcome of a patch
    /// has the new text, and the host writes it.
    ///
    /// Calls that are already running use the previous text, and their patches to it are refused.
    pub fn set_document(
        &self,
        path: impl AsRef<Path>,
        text: impl Into<DocumentText>,
        version: Option<i64>,
    ) -> Result<()> {
        let name = unicode_path("path", path.as_ref())?;
        let canonical = self.document_path(name)?;
        let spelling = self.options.workspace.host.spelling;
        let set = self.state.documents.set(&canonical, name, text.into().into(), version);
        set.map_err(|error| error.spelled(spelling))
    }

    /// Closes a document: its path names the file again. Returns whether there was one.
    pub fn close_document(&self, path: impl AsRef<Path>) -> Result<bool> {
        let name = unicode_path("path", path.as_ref())?;
        let documents = &self.state.documents;
        match self.document_path(name) {
            Ok(canonical) if documents.remove(&canonical) => Ok(true),
            // The path may lead elsewhere since the document was set.
            found => match documents.remove_named(name) {
                true => Ok(true),
                false => found.map(|_| false),
            },
        }
    }

    /// The documents that are set, by path.
    pub fn documents(&self) -> Vec<OpenDocumentInfo> {
        let documents = self.state.documents.documents();
        let info = documents.iter().map(|(_, document)| OpenDocumentInfo {
            path: document.name.clone(),
            version: document.version,
        });
        info.collect()
    }

    /// The absolute path of a file that need not exist, as a host names a document.
    pub fn absolute_path(&self, path: impl AsRef<Path>) -> Result<PathBuf> {
        let path = unicode_path("path", path.as_ref())?;
        let workspace = self.reader_of(path);
        workspace.scoped(&Cancel::default(), |scope| scope.base.absolute(path))
    }

    fn document_path(&self, path: &str) -> Result<PathBuf> {
        let workspace = self.reader_of(path);
        workspace.scoped(&Cancel::default(), |scope| scope.base.document_path(path))
    }

    /// Records that the current state of files was shown.
    pub(super) fn show_now(&self, files: &[PathBuf]) {
        self.state.watch.show(files, |file| self.stamp_of(file));
    }

    /// The stamp of a file that is as it was shown; `None` if it is not. Opening and closing a
    /// document changes its stamp, so then the texts decide.
    pub(super) fn stamp_if_as_shown(&self, file: &Path, shown: &Stamp) -> Option<Stamp> {
        match self.stamp_of(file) {
            Ok(now) if now.is_same_content(shown) => Some(*shown),
            Ok(now) if now.is_document() || shown.is_document() => {
                self.has_known_text(file).then_some(now)
            }
            Ok(_) => None,
            // The host closed it, and it has no file.
            Err(_) => shown.is_document().then_some(*shown),
        }
    }

    /// Whether the text of a file is the last one that the memory knows.
    fn has_known_text(&self, file: &Path) -> bool {
        let known = || {
            let record = self.state.memory.record(file);
            Some(record.file()?.lineages.last()?.tip)
        };
        let (Some(known), Some(path)) = (known(), file.to_str()) else { return false };
        let cancel = Cancel::default();
        let is_known = self.reader_of(path).scoped(&cancel, |scope| {
            with_file(scope.fs, scope.base, path, &scope.load_options_at(file), |loaded| {
                match loaded {
                    Loaded::Text(document) => Ok(hash_of(document.text()) == known),
                    Loaded::Binary(_) => Ok(false),
                }
            })
        });
        is_known.unwrap_or(false)
    }

    /// The stamp of a document, or of the file with a canonical path.
    pub(super) fn stamp_of(&self, file: &Path) -> io::Result<Stamp> {
        match self.state.documents.documents().get(file) {
            Some(document) => Ok(document.stamp()),
            None if self.options.disk => Stamp::of_path(file),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}
