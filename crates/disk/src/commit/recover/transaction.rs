//! One transaction of a dead process: finished when it is committed, cleared away when not.

use std::io;
use std::time::Instant;

use super::found::{JournalFile, Recovery};
use super::in_place::{InPlace, Wanted};
use super::{RecoveryReport, shown};
use crate::commit::files::remove_empty;
use crate::commit::journal::{Committed, JournalPath, JournalRecord, JournalStep, Mark};
use crate::commit::step::{Deed, Step, deeds};
use crate::commit::{LockKey, Locks, TransactionContext};
use crate::fs::{Place, plain_path};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};

/// Finishes or clears away one transaction, under the locks of its files.
pub(super) fn work_off(
    context: TransactionContext<'_>,
    journal: JournalFile<'_>,
    records: &[JournalRecord],
    deadline: Instant,
    cancel: &Cancel,
    report: &mut RecoveryReport,
) -> Result<()> {
    let Some(JournalRecord::Begin { steps, directories, .. }) = records.first() else {
        return Ok(());
    };
    let TransactionContext { fs, base, state } = context;
    base.forget();
    let (touched, conflicts, doomed) = (Vec::new(), Vec::new(), Vec::new());
    let is_torn = false;
    let mut recovery = Recovery { fs, state, base, journal, touched, conflicts, doomed, is_torn };
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
        self.remove_doomed()?;
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
        if !committed.is_published {
            self.record_published()?;
        }
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
                        self.rewrite_in_place(&files, Wanted::New)?;
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
                self.tell(&from.path(), Vec::new());
            }
        }
        Ok(())
    }

    /// Everything is in place: what is left under temporary names goes.
    fn remove_leftovers(&mut self, steps: &[JournalStep], committed: &Committed<'_>) -> Result<()> {
        let unseen = self.unseen(steps, committed)?;
        for (at, (step, unseen)) in steps.iter().zip(unseen).enumerate() {
            for path in step.temporaries() {
                self.remove_known(step, path, committed.mark(at), unseen)?;
            }
        }
        self.remove_doomed()?;
        self.sync()
    }

    /// Removes a version that the journal knows; an old one whose new version is not seen at
    /// `unseen` is kept. Any other was a rival's, displaced just before the crash: it goes back
    /// where it was, or is kept.
    fn remove_known(
        &mut self,
        step: &JournalStep,
        path: &JournalPath,
        new: Option<&Mark>,
        unseen: Option<&JournalPath>,
    ) -> Result<()> {
        let Some((place, stamp)) = self.there(&path.path())? else { return Ok(()) };
        if self.is_doomed(&place) {
            return Ok(());
        }
        let mark = Mark::of(&stamp);
        let is_old = step.old() == Some(&mark);
        if let Some(unseen) = unseen.filter(|_| is_old) {
            return self.keep(&unseen.path(), &[place]);
        }
        let was = match step {
            Step::RewriteInPlace { target, saved, .. } if saved == path => Some(target),
            _ => step.home().filter(|_| is_old),
        };
        if let Some(home) = was.filter(|_| self.is_torn) {
            return self.keep(&home.path(), &[place]);
        }
        let is_known = is_old || new == Some(&mark);
        let Some(home) = step.home() else { return self.remove(path) };
        if is_known { self.remove(path) } else { self.arrive(&place, home) }
    }

    /// Tells of a file that has the name of a new version, and is none of that.
    pub(super) fn tell_rival(&mut self, target: &JournalPath, new: Option<&Mark>) -> Result<()> {
        if let Some((_, stamp)) = self.there(&target.path())?
            && new.is_some_and(|new| !Mark::of(&stamp).is_same_file(new))
        {
            self.tell(&target.path(), Vec::new());
        }
        Ok(())
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
                None => self.tell_rival(target, new),
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
}
