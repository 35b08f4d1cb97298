//! Operations on single files that commits and recoveries share: stat, copy, overwrite, remove, and
//! flush to the disk.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;

use super::Durability;
use crate::fs::{FileSystem, Place, Stamp, is_refused_link, plain_path};
use hashline_base::error::{Error, Result};

/// The buffer size of copies.
const COPY_CHUNK_BYTES: u64 = 1 << 20;

/// Flushes the content of a file to the disk.
pub(super) fn sync_content(fs: &dyn FileSystem, place: &Place) -> Result<()> {
    // Windows flushes only handles that are open for writing.
    let opened = if cfg!(windows) { fs.open_for_rewrite(place) } else { fs.open(place) };
    let fault = |cause: io::Error| Error::io("flush", place.shown(), &cause);
    match opened {
        Ok(file) => fs.sync(&file).map_err(fault),
        // A symbolic link has no content apart from its name.
        Err(cause) if is_refused_link(&cause) => Ok(()),
        // This user may move or remove the file, but not open it.
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(cause) => Err(fault(cause)),
    }
}

/// Appends the whole content of one open file to another.
pub(super) fn copy_content(fs: &dyn FileSystem, from: &File, to: &mut File) -> io::Result<()> {
    let mut source = fs.duplicate(from)?;
    fs.seek(&mut source, 0)?;
    let mut chunk = Vec::new();
    loop {
        chunk.clear();
        fs.read(&mut source, COPY_CHUNK_BYTES, &mut chunk)?;
        if chunk.is_empty() {
            return Ok(());
        }
        fs.write(to, &chunk)?;
    }
}

/// Writes the content of one file into the inode of another.
pub(super) fn overwrite(
    fs: &dyn FileSystem,
    from: &Place,
    to: &Place,
    durability: Durability,
) -> io::Result<()> {
    overwrite_open(fs, from, fs.open_for_rewrite(to)?, durability)
}

/// Like [`overwrite`], for a target that is open already.
pub(super) fn overwrite_open(
    fs: &dyn FileSystem,
    from: &Place,
    mut target: File,
    durability: Durability,
) -> io::Result<()> {
    let source = fs.open(from)?;
    copy_content(fs, &source, &mut target)?;
    fs.set_len(&target, fs.stamp_of(&source)?.size_bytes)?;
    if durability.syncs() { fs.sync(&target) } else { Ok(()) }
}

/// Flushes the directories from which files were removed. Directories that this user may not read
/// are skipped: they cannot be flushed, and nothing durable was staged in them.
pub(super) fn sync_removals<'p>(
    fs: &dyn FileSystem,
    places: impl IntoIterator<Item = &'p Place>,
) -> Result<()> {
    sync_each_directory(fs, places, &[io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied])
}

/// Removes a directory that a transaction created, unless it is not empty: then another process has
/// put a file there.
pub(super) fn remove_empty(fs: &dyn FileSystem, directory: &Place) -> Result<()> {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotFound};
    match fs.remove_dir(directory) {
        // Some systems report `EEXIST` for a directory that is not empty.
        Err(cause) if !matches!(cause.kind(), AlreadyExists | DirectoryNotEmpty | NotFound) => {
            Err(Error::io("remove", &plain_path(directory.canonical()), &cause))
        }
        _ => Ok(()),
    }
}

/// Flushes the directories of the places, each once. Missing directories are skipped.
pub(super) fn sync_directories<'p>(
    fs: &dyn FileSystem,
    places: impl IntoIterator<Item = &'p Place>,
) -> Result<()> {
    sync_each_directory(fs, places, &[io::ErrorKind::NotFound])
}

/// Skips directories whose flush fails with one of the `ignored` kinds.
fn sync_each_directory<'p>(
    fs: &dyn FileSystem,
    places: impl IntoIterator<Item = &'p Place>,
    ignored: &[io::ErrorKind],
) -> Result<()> {
    let mut done = BTreeSet::new();
    for place in places {
        if done.insert(place.canonical().parent()) {
            match fs.sync_dir(place) {
                Err(cause) if !ignored.contains(&cause.kind()) => {
                    return Err(Error::io("flush its directory", place.shown(), &cause));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The stamp of a place; `None` only if nothing exists there. An error does not mean that the file
/// is missing.
pub(super) fn stamp_if_exists(fs: &dyn FileSystem, place: &Place) -> io::Result<Option<Stamp>> {
    match fs.stamp(place) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Whether nothing exists at the place.
pub(super) fn is_gone(fs: &dyn FileSystem, place: &Place) -> bool {
    matches!(stamp_if_exists(fs, place), Ok(None))
}
