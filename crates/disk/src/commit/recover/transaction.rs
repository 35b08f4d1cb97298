//! The recovery of one transaction: it is finished if it is committed, otherwise its staged files
//! are removed.

use std::io;
use std::time::Instant;

use super::in_place::{InPlace, Wanted};
use super::recovery::{JournalFile, Recovery};
use super::{RecoveryReport, shown};
use crate::commit::files::remove_empty;
use crate::commit::journal::{Committed, JournalPath, JournalRecord, JournalStep, Mark};
use crate::commit::step::{Action, Step, actions};
use crate::commit::{LockKey, Locks, TransactionContext};
use crate::fs::{Place, plain_path};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};

/// Recovers one transaction, under the locks of its files.
pub(super) fn recover_transaction(
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
    base.close_directories();
    let (touched, conflicts, preserved) = (Vec::new(), Vec::new(), Vec::new());
    let is_torn = false;
    let mut recovery =
        Recovery { fs, state, base, journal, touched, conflicts, preserved, is_torn };
    let _locks = Locks::take(fs, state, recovery.lock_keys(steps)?, deadline, cancel)?;
    let files: Vec<String> =
        steps.iter().flat_map(JournalStep::targets).map(|path| plain_path(&path.path())).collect();
    let mut committed = Committed::of(records);
    // Directories that the patch would create may be missing if it is not committed, and after a
    // power cut.
    recovery.check_reachable(steps, directories)?;
    if let Some(committed) = committed.as_mut().filter(|committed| committed.is_published) {
        committed.is_published = recovery.is_in_place(steps, committed)?;
    }
    let is_undone = match &committed {
        Some(committed) => recovery.has_lost_version(steps, committed)?,
        None => true,
    };
    let done = match &committed {
        Some(committed) if is_undone => recovery.roll_back(steps, committed, directories),
        Some(committed) => recovery.finish(steps, committed),
        None => recovery.clear(steps, directories),
    };
    // Report conflicts also on an error: a repeated recovery does not find preserved versions
    // again.
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
            if let Some((_, stamp)) = self.find(&path)? {
                keys.push(LockKey::of_file(&stamp, &shown));
            }
        }
        Ok(keys)
    }

    /// Removes the staged files of a transaction that changed nothing or was rolled back. An old
    /// version with a temporary name is restored if its own name does not have it.
    fn clear(&mut self, steps: &[JournalStep], directories: &[JournalPath]) -> Result<()> {
        for (at, step) in steps.iter().enumerate() {
            if let Some(files) = InPlace::of(step, at, &Committed::default()) {
                self.clear_in_place(&files)?;
                continue;
            }
            for path in step.temporaries() {
                match (step.old(), step.home()) {
                    (Some(old), Some(home)) if self.find_file(home, old)?.is_none() => {
                        match self.find_file(path, old)? {
                            Some((waiting, _)) => self.rename_or_preserve(&waiting, home)?,
                            None => self.remove(path)?,
                        }
                    }
                    _ => self.remove(path)?,
                }
            }
        }
        self.remove_preserved()?;
        self.remove_directories(directories)?;
        self.sync()
    }

    /// Removes the directories that the patch created.
    pub(super) fn remove_directories(&mut self, directories: &[JournalPath]) -> Result<()> {
        for path in directories.iter().rev() {
            self.close_directories()?;
            if let Some(place) = self.find_place(path)? {
                remove_empty(self.fs, &place)?;
                self.touched.push(place);
            }
        }
        Ok(())
    }

    /// Finishes a transaction whose new content is on the disk: publishes the remaining steps, then
    /// removes old versions.
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

    /// Performs the remaining actions of the transaction, in the order of publishing.
    fn publish(&mut self, steps: &[JournalStep], committed: &Committed<'_>) -> Result<()> {
        for (at, action) in actions(steps) {
            match action {
                // A file at the new name with the mark `old` would be this very file: then it was
                // moved already.
                Action::Park { from, old, parked } => {
                    if self.find_place(parked)?.is_none()
                        && let Some(place) = self.find_version(from, old)?
                    {
                        self.rename(&place, parked)?;
                    }
                }
                Action::Move { from, old, to } => {
                    if let Some(place) = self.find_version(from, old)? {
                        self.rename_or_preserve(&place, to)?;
                    }
                }
                Action::Unpark { parked: waiting, to }
                | Action::Install { temporary: waiting, target: to } => {
                    if let Some(place) = self.find_place(waiting)? {
                        self.rename_or_preserve(&place, to)?;
                    }
                }
                Action::Exchange { target, old, temporary, .. } => {
                    self.rewrite(target, old, committed.mark(at), temporary)?;
                }
                Action::Overwrite { .. } => {
                    if let Some(files) = InPlace::of(&steps[at], at, committed) {
                        self.rewrite_in_place(&files, Wanted::New)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reports files that should exist after the patch but do not, because another process removed
    /// them or their staged file. Preserves remaining old versions.
    fn report_missing(&mut self, steps: &[JournalStep]) -> Result<()> {
        for step in steps {
            let Some(target) = step.result() else { continue };
            let path = plain_path(&target.path());
            let is_known = self.conflicts.iter().any(|one| one.path == path);
            if is_known || self.find_place(target)?.is_some() {
                continue;
            }
            let mut old_versions = Vec::new();
            for path in step.temporaries() {
                if let Some(old) = step.old() {
                    old_versions.extend(self.find_version(path, old)?);
                }
            }
            self.preserve(&target.path(), &old_versions)?;
        }
        Ok(())
    }

    /// Reports files that the patch would have removed or renamed, but another process changed
    /// before. They are not touched.
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
                is_under_way |= self.find_version(path, old)?.is_some();
            }
            let is_changed =
                self.find_place(from)?.is_some() && self.find_version(from, old)?.is_none();
            if is_changed && !is_under_way && !arrives(from) {
                self.report_conflict(&from.path(), Vec::new());
            }
        }
        Ok(())
    }

    /// Removes the temporary files of published steps.
    fn remove_leftovers(&mut self, steps: &[JournalStep], committed: &Committed<'_>) -> Result<()> {
        let unseen = self.missing_replacements(steps, committed)?;
        for (at, (step, unseen)) in steps.iter().zip(unseen).enumerate() {
            for path in step.temporaries() {
                self.remove_known(step, path, committed.mark(at), unseen)?;
            }
        }
        self.remove_preserved()?;
        self.sync()
    }

    /// Removes a version that the journal describes. An old version is preserved if its new
    /// version, at `unseen`, does not exist. Any other file belongs to another process and was
    /// displaced just before the crash: it is restored, or preserved.
    fn remove_known(
        &mut self,
        step: &JournalStep,
        path: &JournalPath,
        new: Option<&Mark>,
        unseen: Option<&JournalPath>,
    ) -> Result<()> {
        let Some((place, stamp)) = self.find(&path.path())? else { return Ok(()) };
        if self.is_preserved(&place) {
            return Ok(());
        }
        let mark = Mark::of(&stamp);
        let is_old = step.old() == Some(&mark);
        if let Some(unseen) = unseen.filter(|_| is_old) {
            return self.preserve(&unseen.path(), &[place]);
        }
        let was = match step {
            Step::RewriteInPlace { target, saved, .. } if saved == path => Some(target),
            _ => step.home().filter(|_| is_old),
        };
        if let Some(home) = was.filter(|_| self.is_torn) {
            return self.preserve(&home.path(), &[place]);
        }
        let is_known = is_old || new == Some(&mark);
        let Some(home) = step.home() else { return self.remove(path) };
        if is_known { self.remove(path) } else { self.rename_or_preserve(&place, home) }
    }

    /// Reports a file at `target` that is not the new version.
    pub(super) fn report_foreign(
        &mut self,
        target: &JournalPath,
        new: Option<&Mark>,
    ) -> Result<()> {
        if let Some((_, stamp)) = self.find(&target.path())?
            && new.is_some_and(|new| !Mark::of(&stamp).is_same_file(new))
        {
            self.report_conflict(&target.path(), Vec::new());
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
        // A missing temporary file means that the step was done, and all other steps, too.
        let Some(waiting) = self.find_place(temporary)? else {
            // Otherwise, another process removed it.
            return match self.find_version(target, old)? {
                Some(place) => {
                    let shown = shown(&place);
                    let missing = temporary.path();
                    let message =
                        format!("{shown}: its new content, {}, is missing", missing.display());
                    Err(Error::at(Code::Io, &shown, message))
                }
                None => self.report_foreign(target, new),
            };
        };
        let placed = match new {
            Some(new) => self.find_version(target, new)?,
            None => None,
        };
        let fault = |place: &Place, cause: &io::Error| Error::io("replace", &shown(place), cause);
        let place = match (placed, self.find_version(target, old)?) {
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
            (None, None) => return self.preserve(&target.path(), &[waiting]),
        };
        self.touched.push(place.clone());
        // The displaced file is the old version, or one with which another process just replaced
        // it: then exchange back, and preserve the version of the patch. Where the system has no
        // exchange, a roll-back can have given this name to the new version, too.
        let displaced = self.find(&temporary.path())?.map(|(_, stamp)| Mark::of(&stamp));
        let is_own_write = |displaced: Mark| displaced == *old || Some(&displaced) == new;
        if displaced.is_some_and(|displaced| !is_own_write(displaced)) {
            self.fs.exchange(&waiting, &place).map_err(|cause| fault(&place, &cause))?;
            return self.preserve(&target.path(), &[waiting]);
        }
        Ok(())
    }
}
