//! The versions that a recovery keeps in the state directory, since it may put them nowhere else.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::found::Recovery;
use super::torn::is_unfinished_copy;
use super::well_formed::is_temporary;
use super::{Conflict, shown};
use crate::bytes::snapshot;
use crate::commit::files::{copy_content, look};
use crate::fs::{FileKind, NewAccess, Place, plain_path};
use hashline_base::error::{Error, Result};

/// How much of a file's name goes into that of its kept version. A name has at most 255 bytes
/// where most files are, and 143 where their names are encrypted.
const NAME_LIMIT_BYTES: usize = 100;
/// How much of the hash that stands before it.
const STEM_LENGTH: usize = 16;

impl Recovery<'_> {
    /// Keeps versions of the patch, for a file that is not ours to touch. One that waits under a
    /// temporary name stays there for now.
    pub(super) fn keep(&mut self, path: &Path, versions: &[Place]) -> Result<()> {
        self.keep_copies(path, versions)?;
        let (waiting, named): (Vec<&Place>, Vec<_>) =
            versions.iter().partition(|version| is_temporary(version.canonical()));
        self.doomed.extend(waiting.into_iter().cloned());
        self.unlink_all(named)
    }

    pub(super) fn is_doomed(&self, place: &Place) -> bool {
        self.doomed.iter().any(|doomed| doomed.canonical() == place.canonical())
    }

    /// What was kept goes.
    pub(super) fn remove_doomed(&mut self) -> Result<()> {
        let doomed = std::mem::take(&mut self.doomed);
        self.unlink_all(doomed.iter())
    }

    fn unlink_all<'p>(&mut self, places: impl IntoIterator<Item = &'p Place>) -> Result<()> {
        for place in places {
            match self.fs.unlink(place) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &shown(place), &cause));
                }
                _ => self.touched.push(place.clone()),
            }
        }
        Ok(())
    }

    /// Keeps copies of versions that stay.
    pub(super) fn keep_copies(&mut self, path: &Path, versions: &[Place]) -> Result<()> {
        let mut kept = Vec::new();
        for version in versions {
            let to = self.kept_place(path, version)?;
            let copied = self.copy_out(version, &to);
            copied.map_err(|cause| Error::io("keep", &shown(version), &cause))?;
            kept.push(shown(&to));
        }
        self.tell(path, kept);
        Ok(())
    }

    /// Tells of a file that is left as it is, and where a version of the patch is kept.
    pub(super) fn tell(&mut self, path: &Path, kept: Vec<String>) {
        let path = plain_path(path);
        match self.conflicts.iter_mut().find(|told| told.path == path) {
            Some(told) => told.kept.extend(kept),
            None => self.conflicts.push(Conflict { path, kept }),
        }
    }

    /// Where a version is kept: under a name that no other journal gives, nor this one to another
    /// file. What an interrupted recovery has left of this very copy is removed.
    fn kept_place(&self, path: &Path, version: &Place) -> Result<Place> {
        let fault = |cause: io::Error| Error::io("keep", &shown(version), &cause);
        let from = [self.journal.place, version].map(|place| place.canonical().as_os_str());
        let stem = snapshot(&from.map(OsStr::as_encoded_bytes).join(&0));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = &name[..name.floor_char_boundary(NAME_LIMIT_BYTES)];
        let (mut nth, mut number) = (1_u64, String::new());
        loop {
            let name = format!("{}-{number}{name}", &stem[..STEM_LENGTH]);
            let to = self.state.kept_file(self.fs, &name)?;
            if look(self.fs, &to).map_err(fault)?.is_none() {
                return Ok(to);
            }
            if self.is_begun_copy(&to, version).map_err(fault)? {
                return self.fs.unlink(&to).map(|()| to).map_err(fault);
            }
            nth += 1;
            number = format!("{nth}-");
        }
    }

    /// Whether a kept file is a copy of `version`, or the beginning of one.
    fn is_begun_copy(&self, kept: &Place, version: &Place) -> io::Result<bool> {
        let fs = self.fs;
        let [kind, other_kind] = [fs.stamp(kept)?.kind, fs.stamp(version)?.kind];
        if kind != other_kind {
            return Ok(false);
        }
        if kind == FileKind::Link {
            return Ok(fs.read_link(kept)? == fs.read_link(version)?);
        }
        let read = |place: &Place| {
            let mut bytes = Vec::new();
            fs.read(&mut fs.open(place)?, u64::MAX, &mut bytes)?;
            Ok::<_, io::Error>(bytes)
        };
        Ok(is_unfinished_copy(&read(kept)?, &read(version)?))
    }

    /// Copies a file, or a symbolic link, and forces the copy to the disk: the original may go.
    fn copy_out(&self, from: &Place, to: &Place) -> io::Result<()> {
        let fs = self.fs;
        if fs.stamp(from)?.kind == FileKind::Link {
            fs.copy_link(from, to)?;
        } else {
            let mut copy = fs.create_new(to, NewAccess::OwnerOnly)?;
            copy_content(fs, &fs.open(from)?, &mut copy)?;
            fs.sync(&copy)?;
        }
        fs.sync_dir(to)
    }
}
