//! The recovery of one transaction: its state, the lookup of files that the journal names, and how
//! it removes, renames and flushes one of them.

use std::io;
use std::path::Path;

use super::well_formed::is_temporary;
use super::{Conflict, shown};
use crate::commit::StateDir;
use crate::commit::files::{stamp_if_exists, sync_removals};
use crate::commit::journal::{JournalPath, JournalStep, Mark};
use crate::fs::{Base, FileSystem, Lookup, Place, Stamp, differ_in_case_only, plain_path};
use hashline_base::error::{Code, Error, Result};

/// The journal of a recovery.
pub(super) struct JournalFile<'a> {
    pub(super) place: &'a Place,
    /// The end offset of each record.
    pub(super) ends: Vec<u64>,
    pub(super) size_bytes: u64,
}

impl<'a> JournalFile<'a> {
    pub(super) fn new(place: &'a Place, bytes: &[u8], records: usize) -> Self {
        let ends = memchr::memchr_iter(b'\n', bytes).map(|at| at as u64 + 1).take(records);
        JournalFile { place, ends: ends.collect(), size_bytes: bytes.len() as u64 }
    }
}

/// The state of the recovery of one transaction.
pub(super) struct Recovery<'a> {
    pub(super) fs: &'a dyn FileSystem,
    pub(super) state: &'a StateDir,
    pub(super) base: &'a Base,
    pub(super) journal: JournalFile<'a>,
    pub(super) touched: Vec<Place>,
    pub(super) conflicts: Vec<Conflict>,
    /// Preserved temporary files. They are removed after the journal records the decision of this
    /// recovery: a repeated recovery needs them to come to the same decision.
    pub(super) preserved: Vec<Place>,
    /// A file that is rewritten in place could be made neither new nor old, because a power cut
    /// destroyed one of its copies. Then the old versions of all other files are preserved, too.
    pub(super) is_torn: bool,
}

impl Recovery<'_> {
    /// The place of a path in the journal. `None` if its directory is gone, or if the path now
    /// leads elsewhere: then it must not be touched.
    pub(super) fn place(&self, path: &Path) -> Result<Option<Place>> {
        match self.look_up(path)? {
            Lookup::Found(place) if place.canonical() == path => Ok(Some(place)),
            _ => Ok(None),
        }
    }

    /// Temporary files next to the journals are internal. All other files are beneath the root, if
    /// there is one.
    fn look_up(&self, path: &Path) -> Result<Lookup> {
        if let Some(name) = path.file_name()
            && is_temporary(path)
        {
            let own = self.state.journal_file(self.fs, "the journal", name.to_owned())?;
            if own.canonical() == path {
                return Ok(Lookup::Found(own));
            }
        }
        self.base.named_path(path)
    }

    /// The place and stamp of a path; `None` only if nothing exists there. An error must not be
    /// taken for a missing file.
    pub(super) fn find(&self, path: &Path) -> Result<Option<(Place, Stamp)>> {
        let Some(place) = self.place(path)? else { return Ok(None) };
        match self.fs.stamp(&place) {
            Ok(stamp) => Ok(Some((place, stamp))),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(Error::io("stat", &shown(&place), &cause)),
        }
    }

    /// The place, if the file there is the version of `mark`.
    pub(super) fn find_version(&self, path: &JournalPath, mark: &Mark) -> Result<Option<Place>> {
        let there = self.find(&path.path())?.filter(|(_, stamp)| Mark::of(stamp) == *mark);
        Ok(there.map(|(place, _)| place))
    }

    pub(super) fn find_place(&self, path: &JournalPath) -> Result<Option<Place>> {
        Ok(self.find(&path.path())?.map(|(place, _)| place))
    }

    /// Refuses to recover if a directory cannot be read, or its path leads elsewhere: its files
    /// must not be taken for missing.
    pub(super) fn check_reachable(
        &self,
        steps: &[JournalStep],
        unmade: &[JournalPath],
    ) -> Result<()> {
        for path in
            steps.iter().flat_map(|step| step.targets().into_iter().chain(step.temporaries()))
        {
            let path = path.path();
            match self.look_up(&path)? {
                Lookup::Found(place) if place.canonical() == path => {}
                Lookup::Missing { first, .. }
                    if unmade.iter().any(|path| path.path() == first.canonical()) => {}
                _ => {
                    let shown = plain_path(&path);
                    let message = format!(
                        "{shown}: cannot be recovered while its directory is missing or is a link to another place"
                    );
                    return Err(Error::at(Code::Io, &shown, message));
                }
            }
        }
        Ok(())
    }

    /// The place and stamp, if the file there is that of `mark`, in any version.
    pub(super) fn find_file(
        &self,
        path: &JournalPath,
        mark: &Mark,
    ) -> Result<Option<(Place, Stamp)>> {
        let there = self.find(&path.path())?;
        Ok(there.filter(|(_, stamp)| Mark::of(stamp).is_same_file(mark)))
    }

    /// Marks all directories for flushing: the dead process may not have flushed its own changes.
    pub(super) fn touch_all(&mut self, steps: &[JournalStep]) -> Result<()> {
        for path in steps.iter().flat_map(|step| [step.targets(), step.temporaries()]).flatten() {
            self.touched.extend(self.place(&path.path())?);
        }
        Ok(())
    }

    /// Closes the cached directories, because Windows cannot remove open ones.
    pub(super) fn close_directories(&mut self) -> Result<()> {
        if cfg!(windows) {
            self.sync()?;
            self.base.close_directories();
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &JournalPath) -> Result<()> {
        let Some(place) = self.find_place(path)? else {
            return Ok(());
        };
        self.fs.unlink(&place).map_err(|cause| Error::io("remove", &shown(&place), &cause))?;
        self.touched.push(place);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Place, to: &JournalPath) -> Result<()> {
        let Some(to) = self.place(&to.path())? else {
            return Ok(());
        };
        self.fs.rename_new(from, &to).map_err(|cause| Error::io("move", &shown(from), &cause))?;
        self.touched.extend([from.clone(), to]);
        Ok(())
    }

    /// Renames a temporary file to `to`, or preserves it if another process has taken that name.
    pub(super) fn rename_or_preserve(&mut self, waiting: &Place, to: &JournalPath) -> Result<()> {
        let Some(target) = self.place(&to.path())? else {
            return self.preserve(&to.path(), std::slice::from_ref(waiting));
        };
        match self.fs.rename_new(waiting, &target) {
            Ok(()) => {
                self.touched.extend([waiting.clone(), target]);
                Ok(())
            }
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                if self.is_case_change(waiting, &target)? {
                    let renamed = self.fs.rename(waiting, &target);
                    self.touched.push(target);
                    return renamed.map_err(|cause| Error::io("move", &shown(waiting), &cause));
                }
                self.preserve(&to.path(), std::slice::from_ref(waiting))
            }
            Err(cause) => Err(Error::io("move", &shown(&target), &cause)),
        }
    }

    /// On a case-insensitive file system, whether both names are spellings of the same name.
    fn is_case_change(&self, one: &Place, other: &Place) -> Result<bool> {
        let fault = |cause: io::Error| Error::io("stat", &shown(one), &cause);
        let stamp = |place: &Place| stamp_if_exists(self.fs, place).map_err(fault);
        let are_same =
            || Ok(stamp(one)?.zip(stamp(other)?).is_some_and(|(a, b)| a.is_same_file(&b)));
        if differ_in_case_only(one.canonical(), other.canonical()) { are_same() } else { Ok(false) }
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        sync_removals(self.fs, &std::mem::take(&mut self.touched))
    }
}
