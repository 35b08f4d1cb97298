//! Temporary files and new directories: everything a transaction makes before its first
//! rename. Dropped, it takes all of it away again.

use std::fs::File;
use std::io;

use super::{NewDirectories, Pieces, temporary_name};
use crate::error::{Error, Result};
use crate::fs::{Base, FileKind, FileSystem, Lookup, Place, Stamp};

/// How much of a file is copied at a time.
const COPY_CHUNK_BYTES: u64 = 1 << 20;

/// What was made so far.
pub(super) struct Staged<'a> {
    fs: &'a dyn FileSystem,
    base: &'a Base,
    sync: bool,
    files: Vec<Place>,
    /// In the order in which they were made.
    directories: Vec<Place>,
    known: NewDirectories,
    armed: bool,
}

impl<'a> Staged<'a> {
    pub(super) fn new(fs: &'a dyn FileSystem, base: &'a Base, sync: bool) -> Self {
        Staged {
            fs,
            base,
            sync,
            files: Vec::new(),
            directories: Vec::new(),
            known: NewDirectories::new(),
            armed: true,
        }
    }

    /// What was made is in use now and stays.
    pub(super) fn disarm(&mut self) {
        self.armed = false;
    }

    /// Makes the missing directories of a name.
    pub(super) fn directories(&mut self, lookup: &Lookup) -> Result<Place> {
        let (first, rest) = match lookup {
            Lookup::Found(place) => return Ok(place.clone()),
            Lookup::Missing { first, rest } => (first, rest),
        };
        let mut directory = first.clone();
        for name in rest {
            directory = self.directory(directory)?;
            directory = match self.known.get(&directory.canonical().join(name)) {
                Some(known) => known.clone(),
                None => self.base.below(&directory, name)?,
            };
        }
        Ok(directory)
    }

    fn directory(&mut self, place: Place) -> Result<Place> {
        if self.known.contains_key(place.canonical()) {
            return Ok(place);
        }
        match self.fs.make_dir(&place) {
            Ok(()) => self.directories.push(place.clone()),
            // Made by someone else meanwhile: theirs to keep.
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(Error::io("make the directory of", place.shown(), &cause)),
        }
        self.known
            .insert(place.canonical().to_owned(), place.clone());
        Ok(place)
    }

    /// Writes a new content to a temporary file beside `target`, with the attributes of
    /// the file it replaces, and forces it to the disk.
    pub(super) fn file(
        &mut self,
        target: &Place,
        content: &Pieces<'_>,
        model: Option<(&Place, &Stamp)>,
    ) -> Result<Place> {
        self.write(target, |fs, file| {
            content.iter().try_for_each(|piece| fs.write(file, piece))?;
            match model {
                Some((place, stamp)) => fs.copy_attributes(file, &fs.open(place)?, stamp),
                None => fs.set_default_mode(file),
            }
        })
    }

    /// Copies a file, or a symbolic link, of another file system to a temporary file beside
    /// `target`.
    pub(super) fn copy(&mut self, from: &Place, target: &Place) -> Result<Place> {
        let fault = |cause| Error::io("copy", from.shown(), &cause);
        let stamp = self.fs.stamp(from).map_err(fault)?;
        if stamp.kind == FileKind::Link {
            let temporary = target.sibling(temporary_name());
            self.fs.copy_link(from, &temporary).map_err(fault)?;
            self.files.push(temporary.clone());
            return Ok(temporary);
        }
        self.write(target, |fs, file| {
            let mut source = fs.open(from)?;
            let mut chunk = Vec::new();
            loop {
                chunk.clear();
                fs.read(&mut source, COPY_CHUNK_BYTES, &mut chunk)?;
                if chunk.is_empty() {
                    break;
                }
                fs.write(file, &chunk)?;
            }
            fs.copy_attributes(file, &source, &stamp)
        })
    }

    fn write(
        &mut self,
        target: &Place,
        fill: impl FnOnce(&dyn FileSystem, &mut File) -> io::Result<()>,
    ) -> Result<Place> {
        let fault = |cause: io::Error| Error::io("write", target.shown(), &cause);
        let temporary = target.sibling(temporary_name());
        let mut file = self.fs.create_new(&temporary).map_err(fault)?;
        self.files.push(temporary.clone());
        fill(self.fs, &mut file).map_err(fault)?;
        if self.sync {
            self.fs.sync(&file).map_err(fault)?;
        }
        Ok(temporary)
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.armed {
            for file in &self.files {
                // One that was never filled, or is gone already, is no loss.
                let _ = self.fs.unlink(file);
            }
            for directory in self.directories.iter().rev() {
                // Not empty: someone else put a file there meanwhile, so it stays.
                let _ = self.fs.remove_dir(directory);
            }
        }
    }
}
