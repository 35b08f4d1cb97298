//! What all of a commit and its recovery do with single files: looking, copying, overwriting,
//! removing, and forcing them and their directories to the disk.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;

use super::Durability;
use crate::fs::{FileSystem, Place, Stamp, is_refused_link, plain_path};
use hashline_base::error::{Error, Result};

/// How much of a file is copied at a time.
const COPY_CHUNK_BYTES: u64 = 1 << 20;

/// Forces the content of a file to the disk.
pub(super) fn sync_content(fs: &dyn FileSystem, place: &Place) -> Result<()> {
    // Windows flushes only what is open for writing.
    let opened = if cfg!(windows) { fs.open_for_rewrite(place) } else { fs.open(place) };
    let fault = |cause: io::Error| Error::io("flush", place.shown(), &cause);
    match opened {
        Ok(file) => fs.sync(&file).map_err(fault),
        // A link has no content apart from its name.
        Err(cause) if is_refused_link(&cause) => Ok(()),
        // A file that this user may move or remove, but not open.
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(cause) => Err(fault(cause)),
    }
}

/// Appends the content of one open file to another, from the start.
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

/// As [`overwrite`], of a file that is open already.
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

/// Flushes the directories from which something was taken away. One that this user may not read
/// cannot be flushed; nothing was staged in it that would have to last.
pub(super) fn sync_removals<'p>(
    fs: &dyn FileSystem,
    places: impl IntoIterator<Item = &'p Place>,
) -> Result<()> {
    sync_each_directory(fs, places, &[io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied])
}

/// Removes a directory that a transaction made. One that is not empty stays: someone else has
/// put a file there.
pub(super) fn remove_empty(fs: &dyn FileSystem, directory: &Place) -> Result<()> {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotFound};
    match fs.remove_dir(directory) {
        // Some systems say `EEXIST` for one that is not empty.
        Err(cause) if !matches!(cause.kind(), AlreadyExists | DirectoryNotEmpty | NotFound) => {
            Err(Error::io("remove", &plain_path(directory.canonical()), &cause))
        }
        _ => Ok(()),
    }
}

/// Forces the entries of the places' directories to the disk, each once; those that are gone
/// are passed over.
pub(super) fn sync_directories<'p>(
    fs: &dyn FileSystem,
    places: impl IntoIterator<Item = &'p Place>,
) -> Result<()> {
    sync_each_directory(fs, places, &[io::ErrorKind::NotFound])
}

/// Those with one of these faults are passed over.
fn sync_each_directory<'p>(
    fs: &dyn FileSystem,
    places: impl IntoIterator<Item = &'p Place>,
    passed_over: &[io::ErrorKind],
) -> Result<()> {
    let mut done = BTreeSet::new();
    for place in places {
        if done.insert(place.canonical().parent()) {
            match fs.sync_dir(place) {
                Err(cause) if !passed_over.contains(&cause.kind()) => {
                    return Err(Error::io("flush its directory", place.shown(), &cause));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// What is at a place; `None` only when nothing is. A file that cannot be looked at is not gone.
pub(super) fn look(fs: &dyn FileSystem, place: &Place) -> io::Result<Option<Stamp>> {
    match fs.stamp(place) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Whether nothing has the name.
pub(super) fn is_gone(fs: &dyn FileSystem, place: &Place) -> bool {
    matches!(look(fs, place), Ok(None))
}
