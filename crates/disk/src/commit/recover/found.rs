//! A recovery of one transaction: what it knows, how it finds the files that the journal names, and
//! how it removes, renames and flushes one of them.

use std::io;
use std::path::Path;

use super::well_formed::is_temporary;
use super::{Conflict, shown};
use crate::commit::StateDir;
use crate::commit::files::{look, sync_removals};
use crate::commit::journal::{JournalPath, JournalStep, Mark};
use crate::fs::{Base, FileSystem, Lookup, Place, Stamp, differ_in_case_only, plain_path};
use hashline_base::error::{Code, Error, Result};

/// The journal that a recovery works off.
pub(super) struct JournalFile<'a> {
    pub(super) place: &'a Place,
    /// Where its records end.
    pub(super) ends: Vec<u64>,
    pub(super) size_bytes: u64,
}

impl<'a> JournalFile<'a> {
    pub(super) fn new(place: &'a Place, bytes: &[u8], records: usize) -> Self {
        let ends = memchr::memchr_iter(b'\n', bytes).map(|at| at as u64 + 1).take(records);
        JournalFile { place, ends: ends.collect(), size_bytes: bytes.len() as u64 }
    }
}

/// A recovery of one transaction.
pub(super) struct Recovery<'a> {
    pub(super) fs: &'a dyn FileSystem,
    pub(super) state: &'a StateDir,
    pub(super) base: &'a Base,
    pub(super) journal: JournalFile<'a>,
    pub(super) touched: Vec<Place>,
    pub(super) conflicts: Vec<Conflict>,
    /// Versions under temporary names that were kept, and go once the journal says which way the
    /// recovery goes: without them the next one could not tell.
    pub(super) doomed: Vec<Place>,
    /// A file that is rewritten in place could be made neither new nor old, since a power cut
    /// took one of its copies. Then the old versions of all others are kept, too.
    pub(super) is_torn: bool,
}

impl Recovery<'_> {
    /// The place of a path of the journal; `None` when its directory is gone, or when the
    /// path leads elsewhere by now: then it is not ours to touch.
    pub(super) fn place(&self, path: &Path) -> Result<Option<Place>> {
        match self.look_up(path)? {
            Lookup::Found(place) if place.canonical() == path => Ok(Some(place)),
            _ => Ok(None),
        }
    }

    /// Temporary files beside the journals are ours; all others lie beneath the root, if there
    /// is one.
    fn look_up(&self, path: &Path) -> Result<Lookup> {
        if let Some(name) = path.file_name()
            && is_temporary(path)
        {
            let own = self.state.file(self.fs, "the journal", name.to_owned())?;
            if own.canonical() == path {
                return Ok(Lookup::Found(own));
            }
        }
        self.base.named_path(path)
    }

    /// What is at a path; `None` only when nothing is. A file that cannot be looked at just now
    /// must not be taken for one that is gone.
    pub(super) fn there(&self, path: &Path) -> Result<Option<(Place, Stamp)>> {
        let Some(place) = self.place(path)? else { return Ok(None) };
        match self.fs.stamp(&place) {
            Ok(stamp) => Ok(Some((place, stamp))),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(Error::io("look at", &shown(&place), &cause)),
        }
    }

    /// The place, if the file of `mark` is there.
    pub(super) fn marked(&self, path: &JournalPath, mark: &Mark) -> Result<Option<Place>> {
        let there = self.there(&path.path())?.filter(|(_, stamp)| Mark::of(stamp) == *mark);
        Ok(there.map(|(place, _)| place))
    }

    pub(super) fn exists(&self, path: &JournalPath) -> Result<Option<Place>> {
        Ok(self.there(&path.path())?.map(|(place, _)| place))
    }

    /// A directory that cannot be looked into, or is elsewhere by now, must not be taken for
    /// one whose files are gone.
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

    /// The file of `mark`, of whatever version, if the name is its.
    pub(super) fn version(
        &self,
        path: &JournalPath,
        mark: &Mark,
    ) -> Result<Option<(Place, Stamp)>> {
        let there = self.there(&path.path())?;
        Ok(there.filter(|(_, stamp)| Mark::of(stamp).is_same_file(mark)))
    }

    /// What the dead process did itself may not be on the disk yet.
    pub(super) fn touch_all(&mut self, steps: &[JournalStep]) -> Result<()> {
        for path in steps.iter().flat_map(|step| [step.targets(), step.temporaries()]).flatten() {
            self.touched.extend(self.place(&path.path())?);
        }
        Ok(())
    }

    /// Windows removes no directory that is open.
    pub(super) fn close_directories(&mut self) -> Result<()> {
        if cfg!(windows) {
            self.sync()?;
            self.base.forget();
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &JournalPath) -> Result<()> {
        let Some(place) = self.exists(path)? else {
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

    /// Puts a waiting file under its new name, unless someone else has taken that.
    pub(super) fn arrive(&mut self, waiting: &Place, to: &JournalPath) -> Result<()> {
        let Some(target) = self.place(&to.path())? else {
            return self.keep(&to.path(), std::slice::from_ref(waiting));
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
                self.keep(&to.path(), std::slice::from_ref(waiting))
            }
            Err(cause) => Err(Error::io("move", &shown(&target), &cause)),
        }
    }

    /// Where case is ignored, a file has both of these names, and is not there twice.
    fn is_case_change(&self, one: &Place, other: &Place) -> Result<bool> {
        let fault = |cause: io::Error| Error::io("look at", &shown(one), &cause);
        let look = |place: &Place| look(self.fs, place).map_err(fault);
        let are_same = || Ok(look(one)?.zip(look(other)?).is_some_and(|(a, b)| a.is_same_file(&b)));
        if differ_in_case_only(one.canonical(), other.canonical()) { are_same() } else { Ok(false) }
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        sync_removals(self.fs, &std::mem::take(&mut self.touched))
    }
}
