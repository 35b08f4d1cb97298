//! What a search needs of the file system: where a path leads, and what lies in a directory.
//! With a root, every step is resolved beneath its descriptor, as the opening of a file is.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::named::start_of;
use super::place::{Base, check_path};
use super::{FileKind, open_ambient, reading};
use hashline_base::error::{Error, Result};

/// Where a path leads.
#[derive(Debug)]
pub struct FoundPath {
    /// The path without links and dots.
    pub canonical: PathBuf,
    /// What is there.
    pub kind: FileKind,
}

/// An entry of a directory.
#[derive(Debug)]
pub struct Listed {
    /// Its name.
    pub name: OsString,
    /// What it is; a link is not followed.
    pub kind: FileKind,
    /// Whether listings leave it out by custom.
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

    /// Where `path` leads, links followed; `shown` is the same path for messages.
    pub fn find(&self, path: &Path, shown: &str) -> Result<FoundPath> {
        check_path(shown)?;
        let canonical = match self.start_dir()?.join(path).canonicalize() {
            Ok(canonical) => canonical,
            // Tells a path that is outside the root from one that leads nowhere.
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

    /// What lies in the directory at an absolute path, in no particular order.
    pub fn list(&self, dir: &Path) -> io::Result<Vec<Listed>> {
        match self.beneath(dir) {
            Some((root, relative)) => root.read_dir(relative)?.map(listed_beneath).collect(),
            None => std::fs::read_dir(dir)?.map(listed).collect(),
        }
    }

    /// Whether there is something at an absolute path, links followed.
    pub fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    /// At most `limit_bytes` of the regular file at an absolute path, links followed.
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
        // Some file systems do not say.
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

/// Hidden is a name with a leading dot, and on Windows also what has the attribute.
fn is_hidden(name: &OsStr, attributes: u32) -> bool {
    const FILE_ATTRIBUTE_HIDDEN: u32 = 0x2;
    name.as_encoded_bytes().starts_with(b".") || attributes & FILE_ATTRIBUTE_HIDDEN != 0
}
