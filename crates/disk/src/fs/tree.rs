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
        match self.beneath(dir) {
            Some((root, relative)) => root.read_dir(relative)?.map(listed_beneath).collect(),
            None => std::fs::read_dir(dir)?.map(listed).collect(),
        }
    }

    /// Whether a file exists at an absolute path, following links.
    pub fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    /// The start of the regular file at an absolute path, at most `limit_bytes`. Follows links.
    pub fn read_start(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
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

fn listed_beneath(entry: io::Result<cap_std::fs::DirEntry>) -> io::Result<Listed> {
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
fn is_hidden(name: &OsStr, attributes: u32) -> bool {
    const FILE_ATTRIBUTE_HIDDEN: u32 = 0x2;
    name.as_encoded_bytes().starts_with(b".") || attributes & FILE_ATTRIBUTE_HIDDEN != 0
}
