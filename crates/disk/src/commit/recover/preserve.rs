//! Versions that a recovery preserves in the state directory because it cannot put them anywhere
//! else.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::recovery::Recovery;
use super::torn::is_unfinished_copy;
use super::well_formed::is_temporary;
use super::{Conflict, shown};
use crate::bytes::snapshot;
use crate::commit::files::{copy_content, stamp_if_exists};
use crate::fs::{FileKind, NewAccess, Place, plain_path};
use hashline_base::error::{Error, Result};

/// The limit on the part of a file's name in the name of its preserved version. Most file systems
/// allow 255 bytes, those with encrypted names 143.
const NAME_LIMIT_BYTES: usize = 100;
/// The length of the hash before the name.
const STEM_LENGTH: usize = 16;

impl Recovery<'_> {
    /// Preserves versions of the patch for a file that must not be touched. Those with temporary
    /// names are removed later.
    pub(super) fn preserve(&mut self, path: &Path, versions: &[Place]) -> Result<()> {
        self.preserve_copies(path, versions)?;
        let (waiting, named): (Vec<&Place>, Vec<_>) =
            versions.iter().partition(|version| is_temporary(version.canonical()));
        self.preserved.extend(waiting.into_iter().cloned());
        self.unlink_all(named)
    }

    pub(super) fn is_preserved(&self, place: &Place) -> bool {
        self.preserved.iter().any(|preserved| preserved.canonical() == place.canonical())
    }

    /// Removes temporary files that were preserved.
    pub(super) fn remove_preserved(&mut self) -> Result<()> {
        let preserved = std::mem::take(&mut self.preserved);
        self.unlink_all(preserved.iter())
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

    /// Copies versions into the state directory, without removing them.
    pub(super) fn preserve_copies(&mut self, path: &Path, versions: &[Place]) -> Result<()> {
        let mut kept = Vec::new();
        for version in versions {
            let to = self.preserved_place(path, version)?;
            let copied = self.copy_out(version, &to);
            copied.map_err(|cause| Error::io("preserve", &shown(version), &cause))?;
            kept.push(shown(&to));
        }
        self.report_conflict(path, kept);
        Ok(())
    }

    /// Reports a file that was not touched, and where versions of the patch are kept.
    pub(super) fn report_conflict(&mut self, path: &Path, kept: Vec<String>) {
        let path = plain_path(path);
        match self.conflicts.iter_mut().find(|conflict| conflict.path == path) {
            Some(conflict) => conflict.kept.extend(kept),
            None => self.conflicts.push(Conflict { path, kept }),
        }
    }

    /// A name for a preserved version that no other journal, and no other file of this journal,
    /// uses. Removes what an interrupted recovery left of the same copy.
    fn preserved_place(&self, path: &Path, version: &Place) -> Result<Place> {
        let fault = |cause: io::Error| Error::io("preserve", &shown(version), &cause);
        let from = [self.journal.place, version].map(|place| place.canonical().as_os_str());
        let stem = snapshot(&from.map(OsStr::as_encoded_bytes).join(&0));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = &name[..name.floor_char_boundary(NAME_LIMIT_BYTES)];
        let (mut nth, mut number) = (1_u64, String::new());
        loop {
            let name = format!("{}-{number}{name}", &stem[..STEM_LENGTH]);
            let to = self.state.preserved_file(self.fs, &name)?;
            if stamp_if_exists(self.fs, &to).map_err(fault)?.is_none() {
                return Ok(to);
            }
            if self.is_unfinished_copy_of(&to, version).map_err(fault)? {
                return self.fs.unlink(&to).map(|()| to).map_err(fault);
            }
            nth += 1;
            number = format!("{nth}-");
        }
    }

    /// Whether a preserved file is a copy of `version`, or an unfinished one.
    fn is_unfinished_copy_of(&self, kept: &Place, version: &Place) -> io::Result<bool> {
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

    /// Copies a file or symbolic link and flushes the copy, because the original may be removed
    /// next.
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
