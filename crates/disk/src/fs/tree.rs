//! Access to directories for searches: resolving paths and listing. With a root, every path is
//! resolved relative to its descriptor.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::named::start_of;
use super::place::{Base, check_path};
use super::{FileKind, open_ambient, reading};
use hashline_base::error::{Error, Result};

/// A resolved path.
#[derive(Debug)]
pub struct FoundPath {
    /// The path without links and dots.
    pub canonical: PathBuf,
    /// The kind of the file there.
    pub kind: FileKind,
}

/// An entry of a directory.
#[derive(Debug)]
pub struct Listed {
    /// Its name.
    pub name: OsString,
    /// The kind; a link is not followed.
    pub kind: FileKind,
    /// Whether listings omit it by convention.
    pub hidden: bool,
}

impl Base {
    /// The directory where relative paths start.
    pub fn start_dir(&self) -> Result<PathBuf> {
        match self.start().or(self.root_path()) {
            Some(root) => Ok(root.to_owned()),
            None => std::env::current_dir()
                .map_err(|cause| Error::io("find the working directory", ".", &cause)),
        }
    }

    /// Resolves `path`, following links; `shown` is the same path for messages.
    pub fn find(&self, path: &Path, shown: &str) -> Result<FoundPath> {
        check_path(shown)?;
        if let Some(found) = self.find_off_disk(path, shown)? {
            return Ok(found);
        }
        let canonical = match self.start_dir()?.join(path).canonicalize() {
            Ok(canonical) => canonical,
            // Distinguishes a path outside the root from a missing one.
            Err(_) => self.existing(shown)?.canonical().to_owned(),
        };
        let kind = match self.beneath(&canonical) {
            Some((root, relative)) => {
                root.metadata(relative).map(|metadata| metadata.file_type().into())
            }
            None => std::fs::metadata(&canonical).map(|metadata| metadata.file_type().into()),
        };
        let kind = kind.map_err(|cause| self.fault("open", shown, &cause))?;
        Ok(FoundPath { canonical, kind })
    }

    /// The entries of the directory at an absolute path, unsorted.
    pub fn list(&self, dir: &Path) -> io::Result<Vec<Listed>> {
        let overlaid = self.documents().map(|documents| documents.children(dir));
        let mut children = overlaid.unwrap_or_default();
        let on_disk = match self.list_disk(dir) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound && !children.is_empty() => {
                Vec::new()
            }
            listed => listed?,
        };
        // A document takes the place of the file with its name. A directory is listed once.
        let mut entries = on_disk;
        entries.retain(|entry| match children.get(&entry.name) {
            Some(FileKind::File) => false,
            Some(_) if entry.kind == FileKind::Directory => children.remove(&entry.name).is_some(),
            Some(_) => false,
            None => true,
        });
        let entry =
            |(name, kind): (OsString, FileKind)| Listed { kind, hidden: is_hidden(&name, 0), name };
        entries.extend(children.into_iter().map(entry));
        Ok(entries)
    }

    fn list_disk(&self, dir: &Path) -> io::Result<Vec<Listed>> {
        if !self.has_disk() {
            return Ok(Vec::new());
        }
        match self.beneath(dir) {
            Some((root, relative)) => root.read_dir(relative)?.map(listed_beneath).collect(),
            None => std::fs::read_dir(dir)?.map(listed).collect(),
        }
    }

    /// Whether a file exists at an absolute path, following links.
    pub fn exists(&self, path: &Path) -> bool {
        let is_document = || {
            self.documents()
                .is_some_and(|documents| documents.get(path).is_some() || documents.has_below(path))
        };
        self.has_disk() && path.exists() || is_document()
    }

    /// The size of the regular file at an absolute path. Follows links.
    pub fn size_bytes(&self, path: &Path) -> io::Result<u64> {
        if let Some(document) = self.documents().and_then(|known| known.get(path).cloned()) {
            return Ok(document.content.bytes.len() as u64);
        }
        if !self.has_disk() {
            return Err(io::ErrorKind::NotFound.into());
        }
        match self.beneath(path) {
            Some((root, relative)) => root.metadata(relative).map(|metadata| metadata.len()),
            None => std::fs::metadata(path).map(|metadata| metadata.len()),
        }
    }

    /// The start of the regular file at an absolute path, at most `limit_bytes`. Follows links.
    pub fn read_start(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
        if let Some(document) = self.documents().and_then(|known| known.get(path).cloned()) {
            let bytes = &document.content.bytes;
            return Ok(bytes[..bytes.len().min(limit_bytes as usize)].to_vec());
        }
        if !self.has_disk() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = match self.beneath(path) {
            Some((root, relative)) => root.open_with(relative, &reading())?.into_std(),
            None => open_ambient(path)?,
        };
        start_of(file, limit_bytes)
    }
}

fn listed(entry: io::Result<std::fs::DirEntry>) -> io::Result<Listed> {
    let entry = entry?;
    let name = entry.file_name();
    let kind = entry.file_type()?.into();
    #[cfg(windows)]
    let attributes = entry
        .metadata()
        .map_or(0, |metadata| std::os::windows::fs::MetadataExt::file_attributes(&metadata));
    #[cfg(not(windows))]
    let attributes = 0;
    Ok(Listed { kind, hidden: is_hidden(&name, attributes), name })
}

pub(super) fn listed_beneath(entry: io::Result<cap_std::fs::DirEntry>) -> io::Result<Listed> {
    let entry = entry?;
    let name = entry.file_name();
    let kind = match entry.file_type()? {
        // Some file systems do not report the kind.
        unknown if unknown == cap_std::fs::FileType::unknown() => {
            entry.metadata()?.file_type().into()
        }
        known => known.into(),
    };
    #[cfg(windows)]
    let attributes =
        entry.metadata().map_or(0, |metadata| cap_std::fs::MetadataExt::file_attributes(&metadata));
    #[cfg(not(windows))]
    let attributes = 0;
    Ok(Listed { kind, hidden: is_hidden(&name, attributes), name })
}

/// A name is hidden if it starts with a dot, or on Windows if it has the attribute.
pub(super) fn is_hidden(name: &OsStr, attributes: u32) -> bool {
    const FILE_ATTRIBUTE_HIDDEN: u32 = 0x2;
    name.as_encoded_bytes().starts_with(b".") || attributes & FILE_ATTRIBUTE_HIDDEN != 0
}
