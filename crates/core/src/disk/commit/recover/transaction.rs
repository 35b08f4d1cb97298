//! One transaction of a dead process: finished when it is committed, cleared away when not.

use std::io;
use std::path::Path;
use std::time::Instant;

use super::in_place::InPlace;
use super::shape::is_temporary;
use super::{Conflict, RecoveryReport, shown};
use crate::cancel::Cancel;
use crate::disk::commit::files::{copy_content, remove_empty, sync_removals};
use crate::disk::commit::journal::{JournalPath, JournalRecord, JournalStep, Mark};
use crate::disk::commit::step::{Deed, Step, deeds};
use crate::disk::commit::{Ground, LockKey, Locks, StateDir, TEMPORARY_PREFIX};
use crate::disk::fs::{Base, FileKind, FileSystem, Lookup, Place, Stamp, plain_path};
use crate::error::{Code, Error, Result};

/// Finishes or clears away one transaction, under the locks of its files.
pub(super) fn work_off(
    ground: Ground<'_>,
    records: &[JournalRecord],
    deadline: Instant,
    cancel: &Cancel,
    report: &mut RecoveryReport,
) -> Result<()> {
    let Some(JournalRecord::Begin { steps, directories, .. }) = records.first() else {
        return Ok(());
    };
    let Ground { fs, base, state } = ground;
    base.forget();
    let mut recovery = Recovery { fs, state, base, touched: Vec::new(), conflicts: Vec::new() };
    let _locks = Locks::take(fs, state, recovery.lock_keys(steps)?, deadline, cancel)?;
    let files: Vec<String> =
        steps.iter().flat_map(JournalStep::targets).map(|path| plain_path(&path.path())).collect();
    let mut committed = Committed::of(records);
    // Directories that the patch was about to make may be missing while it is not committed, and
    // after a power cut.
    recovery.check_reachable(steps, directories)?;
    if let Some(committed) = committed.as_mut().filter(|committed| committed.is_published) {
        committed.is_published = recovery.is_in_place(steps, committed)?;
    }
    let is_undone = match &committed {
        Some(committed) => recovery.has_lost(steps, committed)?,
        None => true,
    };
    let done = match &committed {
        Some(committed) if is_undone => recovery.take_back(steps, committed, directories),
        Some(committed) => recovery.finish(steps, committed),
        None => recovery.clear(steps, directories),
    };
    // Also when it was not done: what was kept is found only once.
    report.conflicts.append(&mut recovery.conflicts);
    done?;
    if is_undone {
        report.undone.push(files);
    } else {
        report.finished.push(files);
    }
    Ok(())
}

/// What the journal of a committed transaction says of the staged files.
#[derive(Default)]
pub(super) struct Committed<'j> {
    staged: &'j [Option<Mark>],
    hashes: &'j [Vec<Option<String>>],
    /// Everything was in place, if only in the memory of the system.
    pub(super) is_published: bool,
}

impl<'j> Committed<'j> {
    fn of(records: &'j [JournalRecord]) -> Option<Committed<'j>> {
        let is_published = matches!(records.last(), Some(JournalRecord::Published));
        records.iter().find_map(|record| match record {
            JournalRecord::Committed { staged, hashes } => {
                Some(Committed { staged, hashes, is_published })
            }
            _ => None,
        })
    }

    /// The version that step `at` has staged.
    pub(super) fn mark(&self, at: usize) -> Option<&'j Mark> {
        self.staged.get(at)?.as_ref()
    }

    /// The hash of what was written to the `nth` temporary file of step `at`.
    pub(super) fn hash(&self, at: usize, nth: usize) -> Option<&'j str> {
        self.hashes.get(at)?.get(nth)?.as_deref()
    }
}

pub(super) struct Recovery<'a> {
    pub(super) fs: &'a dyn FileSystem,
    state: &'a StateDir,
    base: &'a Base,
    pub(super) touched: Vec<Place>,
    pub(super) conflicts: Vec<Conflict>,
}

impl Recovery<'_> {
    fn lock_keys(&self, steps: &[JournalStep]) -> Result<Vec<LockKey>> {
        let mut keys = Vec::new();
        for path in steps.iter().flat_map(JournalStep::targets) {
            let path = path.path();
            let shown = plain_path(&path);
            keys.push(LockKey::of_path(&path, &shown));
            if let Some((_, stamp)) = self.there(&path)? {
                keys.push(LockKey::of_file(&stamp, &shown));
            }
        }
        Ok(keys)
    }

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
                        "{shown}: cannot be recovered while its directory is missing or leads elsewhere"
                    );
                    return Err(Error::at(Code::Io, &shown, message));
                }
            }
        }
        Ok(())
    }

    /// Nothing was changed, or all of it was taken back: what was staged goes. An old version
    /// that waits under a temporary name all the same is the only one, unless it has its own name.
    fn clear(&mut self, steps: &[JournalStep], directories: &[JournalPath]) -> Result<()> {
        for (at, step) in steps.iter().enumerate() {
            if let Some(files) = InPlace::of(step, at, &Committed::default()) {
                self.clear_in_place(&files)?;
                continue;
            }
            for path in step.temporaries() {
                match (step.old(), step.home()) {
                    (Some(old), Some(home)) if self.version(home, old)?.is_none() => {
                        match self.version(path, old)? {
                            Some((waiting, _)) => self.arrive(&waiting, home)?,
                            None => self.remove(path)?,
                        }
                    }
                    _ => self.remove(path)?,
                }
            }
        }
        self.remove_directories(directories)?;
        self.sync()
    }

    /// Removes the directories that the patch has made.
    pub(super) fn remove_directories(&mut self, directories: &[JournalPath]) -> Result<()> {
        for path in directories.iter().rev() {
            self.close_directories()?;
            if let Some(place) = self.exists(path)? {
                remove_empty(self.fs, &place)?;
                self.touched.push(place);
            }
        }
        Ok(())
    }

    /// What the dead process did itself may not be on the disk yet.
    pub(super) fn touch_all(&mut self, steps: &[JournalStep]) -> Result<()> {
        for path in steps.iter().flat_map(|step| [step.targets(), step.temporaries()]).flatten() {
            self.touched.extend(self.place(&path.path())?);
        }
        Ok(())
    }

    /// Windows removes no directory that is open.
    fn close_directories(&mut self) -> Result<()> {
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

    /// All new content is on the disk: what is not in place yet is put there; then old versions
    /// go.
    fn finish(&mut self, steps: &[JournalStep], committed: &Committed<'_>) -> Result<()> {
        self.sync_staged(steps, committed)?;
        if committed.is_published {
            for (at, step) in steps.iter().enumerate() {
                if let Some(files) = InPlace::of(step, at, committed) {
                    self.check_in_place(&files)?;
                }
            }
        } else {
            self.report_changed_sources(steps)?;
            self.publish(steps, committed)?;
            self.report_missing(steps)?;
        }
        self.touch_all(steps)?;
        self.sync()?;
        self.remove_leftovers(steps, committed)
    }

    /// Does what the transaction has not done yet, in the order in which it would have.
    fn publish(&mut self, steps: &[JournalStep], committed: &Committed<'_>) -> Result<()> {
        for (at, deed) in deeds(steps) {
            match deed {
                // A file at its new name with the mark of `old` would be this very file: then it
                // moved already.
                Deed::Park { from, old, parked } => {
                    if self.exists(parked)?.is_none()
                        && let Some(place) = self.marked(from, old)?
                    {
                        self.rename(&place, parked)?;
                    }
                }
                Deed::Move { from, old, to } => {
                    if let Some(place) = self.marked(from, old)? {
                        self.arrive(&place, to)?;
                    }
                }
                Deed::Arrive { parked: waiting, to }
                | Deed::Place { temporary: waiting, target: to } => {
                    if let Some(place) = self.exists(waiting)? {
                        self.arrive(&place, to)?;
                    }
                }
                Deed::Exchange { target, old, temporary, .. } => {
                    self.rewrite(target, old, committed.mark(at), temporary)?;
                }
                Deed::Overwrite { .. } => {
                    if let Some(files) = InPlace::of(&steps[at], at, committed) {
                        self.rewrite_in_place(&files, false)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Files that the patch leaves behind and that are not there: someone else removed them, or
    /// what was to be put there. What is left of an old version is kept.
    fn report_missing(&mut self, steps: &[JournalStep]) -> Result<()> {
        for step in steps {
            let Some(target) = step.result() else { continue };
            let path = plain_path(&target.path());
            let is_known = self.conflicts.iter().any(|one| one.path == path);
            if is_known || self.exists(target)?.is_some() {
                continue;
            }
            let mut old_versions = Vec::new();
            for path in step.temporaries() {
                if let Some(old) = step.old() {
                    old_versions.extend(self.marked(path, old)?);
                }
            }
            self.keep(&target.path(), &old_versions)?;
        }
        Ok(())
    }

    /// Files that were to go or to move, and that someone else changed before they did: they
    /// stay as they are.
    fn report_changed_sources(&mut self, steps: &[JournalStep]) -> Result<()> {
        let arrives = |path: &JournalPath| steps.iter().any(|step| step.new_name() == Some(path));
        for step in steps {
            let (from, old, waiting) = match step {
                Step::Delete { target, old, parked } => (target, old, vec![parked]),
                Step::Replace { from, old, parked, .. } => (from, old, vec![parked]),
                Step::Rename { from, old, to, parked } => {
                    (from, old, parked.iter().chain([to]).collect())
                }
                _ => continue,
            };
            let mut is_under_way = false;
            for path in waiting {
                is_under_way |= self.marked(path, old)?.is_some();
            }
            let is_changed = self.exists(from)?.is_some() && self.marked(from, old)?.is_none();
            if is_changed && !is_under_way && !arrives(from) {
                let path = plain_path(&from.path());
                self.conflicts.push(Conflict { path, kept: Vec::new() });
            }
        }
        Ok(())
    }

    /// Everything is in place: what is left under temporary names goes.
    fn remove_leftovers(&mut self, steps: &[JournalStep], committed: &Committed<'_>) -> Result<()> {
        for (at, step) in steps.iter().enumerate() {
            for path in step.temporaries() {
                self.remove_known(step, path, committed.mark(at))?;
            }
        }
        self.sync()
    }

    /// Removes a version that the journal knows. Any other was a rival's, displaced just
    /// before the crash: it goes back where it was, or is kept.
    fn remove_known(
        &mut self,
        step: &JournalStep,
        path: &JournalPath,
        new: Option<&Mark>,
    ) -> Result<()> {
        let Some((place, stamp)) = self.there(&path.path())? else { return Ok(()) };
        let mark = Mark::of(&stamp);
        let is_known = step.old() == Some(&mark) || new == Some(&mark);
        let Some(home) = step.home() else { return self.remove(path) };
        if is_known { self.remove(path) } else { self.arrive(&place, home) }
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
                self.keep(&to.path(), std::slice::from_ref(waiting))
            }
            Err(cause) => Err(Error::io("move", &shown(&target), &cause)),
        }
    }

    fn rewrite(
        &mut self,
        target: &JournalPath,
        old: &Mark,
        new: Option<&Mark>,
        temporary: &JournalPath,
    ) -> Result<()> {
        // Without its temporary file the step was done, and all others were, too.
        let Some(waiting) = self.exists(temporary)? else {
            // Unless someone else removed it.
            return match self.marked(target, old)? {
                Some(place) => {
                    let shown = shown(&place);
                    let missing = temporary.path();
                    let message =
                        format!("{shown}: its new content, {}, is missing", missing.display());
                    Err(Error::at(Code::Io, &shown, message))
                }
                None => Ok(()),
            };
        };
        let placed = match new {
            Some(new) => self.marked(target, new)?,
            None => None,
        };
        let fault = |place: &Place, cause: &io::Error| Error::io("replace", &shown(place), cause);
        let place = match (placed, self.marked(target, old)?) {
            (Some(place), _) => place,
            (None, Some(place)) => {
                match self.fs.exchange(&waiting, &place) {
                    Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                        self.fs.rename(&waiting, &place).map_err(|cause| fault(&place, &cause))?;
                    }
                    other => other.map_err(|cause| fault(&place, &cause))?,
                }
                place
            }
            (None, None) => return self.keep(&target.path(), &[waiting]),
        };
        self.touched.push(place.clone());
        // What came out is the old version, or a rival's, who was there just before: then
        // theirs goes back, and the patch's is kept. Where names cannot be exchanged, a patch
        // that was being taken back has given the new version this name, too.
        let displaced = self.there(&temporary.path())?.map(|(_, stamp)| Mark::of(&stamp));
        let is_ours = |displaced: Mark| displaced == *old || Some(&displaced) == new;
        if displaced.is_some_and(|displaced| !is_ours(displaced)) {
            self.fs.exchange(&waiting, &place).map_err(|cause| fault(&place, &cause))?;
            return self.keep(&target.path(), &[waiting]);
        }
        Ok(())
    }

    /// Keeps versions of the patch in the state directory, for a file that is not ours to touch.
    pub(super) fn keep(&mut self, path: &Path, versions: &[Place]) -> Result<()> {
        let mut kept = Vec::new();
        for version in versions {
            let name: String = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .chars()
                .take(KEPT_NAME_LIMIT_CHARS)
                .collect();
            let stem = version.name().to_string_lossy().replace(TEMPORARY_PREFIX, "");
            let to = self.state.kept_file(self.fs, &format!("{stem}-{name}"))?;
            let fault = |cause: io::Error| Error::io("keep", &shown(version), &cause);
            copy_out(self.fs, version, &to).map_err(fault)?;
            kept.push(shown(&to));
            self.fs.unlink(version).map_err(fault)?;
            self.touched.push(version.clone());
        }
        self.conflicts.push(Conflict { path: plain_path(path), kept });
        Ok(())
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        sync_removals(self.fs, &std::mem::take(&mut self.touched))
    }
}

/// How much of a file's name goes into that of its kept version, which is longer.
const KEPT_NAME_LIMIT_CHARS: usize = 50;

/// Copies a file, or a symbolic link, and forces the copy to the disk: the original goes.
fn copy_out(fs: &dyn FileSystem, from: &Place, to: &Place) -> io::Result<()> {
    // A recovery that was interrupted here has left a copy, or a part of one.
    match fs.unlink(to) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        _ => {}
    }
    if fs.stamp(from)?.kind == FileKind::Link {
        fs.copy_link(from, to)?;
    } else {
        let mut copy = fs.create_new(to, true)?;
        copy_content(fs, &fs.open(from)?, &mut copy)?;
        fs.sync(&copy)?;
    }
    fs.sync_dir(to)
}
