//! Rolls back a committed transaction whose staged files are partly lost: undoes its actions in
//! reverse order, as far as they were done. Old versions get their names back, or are preserved;
//! none is removed.

use std::collections::BTreeSet;
use std::io;

use super::in_place::{InPlace, Wanted};
use super::recovery::Recovery;
use super::shown;
use super::verify::known_marks;
use crate::commit::journal::{Committed, JournalPath, JournalStep, Mark};
use crate::commit::step::{Action, Step, actions};
use crate::fs::{Place, differ_in_case_only, is_refused_link};
use hashline_base::error::{Error, Result};

/// The buffer size of scans.
const CHUNK_BYTES: u64 = 1 << 20;

/// The number of records in the journal of a committed transaction: `begin` and `committed`.
const COMMITTED_RECORDS: usize = 2;

impl Recovery<'_> {
    /// Rolls back all steps, except for those whose old version does not exist; these are reported.
    pub(super) fn roll_back(
        &mut self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
        directories: &[JournalPath],
    ) -> Result<()> {
        if committed.is_published {
            self.preserve_new_files(steps, committed)?;
        }
        // From here on, not all steps are published.
        self.cut_journal_after(COMMITTED_RECORDS)?;
        let mut gone = self.missing_old_versions(steps, committed)?;
        let vacant: BTreeSet<&JournalPath> = steps
            .iter()
            .zip(&gone)
            .filter(|(_, gone)| **gone)
            .filter_map(|(step, _)| step.home())
            .collect();
        for (step, gone) in steps.iter().zip(&mut gone) {
            // If the old file does not exist, a new file in its place is better than none.
            *gone |= matches!(step, Step::Create { target, .. } if vacant.contains(target));
        }
        let all: Vec<_> = actions(steps).filter(|(at, _)| !gone[*at]).collect();
        for (at, action) in all.into_iter().rev() {
            self.roll_back_action(&steps[at], at, action, committed)?;
        }
        for (step, _) in steps.iter().zip(&gone).filter(|(_, gone)| **gone) {
            self.preserve_remaining(step)?;
        }
        self.report_foreign_files(steps, committed)?;
        for (at, step) in steps.iter().enumerate() {
            for path in step.temporaries() {
                self.restore_or_preserve(step, path, committed.mark(at))?;
            }
        }
        self.touch_all(steps)?;
        self.sync()?;
        self.cut_journal_after(1)?;
        // Copies for rewriting in place are removed last: if the journal could not be cut, their
        // absence would mean that the patch was finished.
        let (in_place, others): (Vec<_>, Vec<_>) =
            steps.iter().partition(|step| matches!(step, Step::RewriteInPlace { .. }));
        for path in others.into_iter().chain(in_place).flat_map(JournalStep::temporaries) {
            self.remove(path)?;
        }
        self.remove_directories(directories)?;
        self.sync()
    }

    fn roll_back_action(
        &mut self,
        step: &JournalStep,
        at: usize,
        action: Action<'_, JournalPath, Mark>,
        committed: &Committed<'_>,
    ) -> Result<()> {
        match action {
            Action::Install { temporary, target } => match committed.mark(at) {
                Some(new) => self.unpublish(target, temporary, new),
                None => Ok(()),
            },
            Action::Exchange { target, old, temporary, saved } => match committed.mark(at) {
                Some(new) => self.exchange_back(target, old, [temporary, saved], new),
                None => Ok(()),
            },
            Action::Overwrite { .. } => match InPlace::of(step, at, committed) {
                Some(files) => self.rewrite_in_place(&files, Wanted::Old),
                None => Ok(()),
            },
            Action::Unpark { parked: was, to } => match step.old() {
                Some(old) => self.rename_back(to, was, old),
                None => Ok(()),
            },
            Action::Move { from, old, to } => self.rename_back(to, from, old),
            Action::Park { from, old, parked } => self.rename_back(parked, from, old),
        }
    }

    /// Renames the old file back, even if another process wrote to it.
    fn rename_back(&mut self, now: &JournalPath, was: &JournalPath, old: &Mark) -> Result<()> {
        match self.find_file(now, old)? {
            // A rename that consists of link and unlink can have left both names. On a
            // case-insensitive file system, both can be the same name.
            Some(_)
                if !differ_in_case_only(&now.path(), &was.path())
                    && self.find_file(was, old)?.is_some() =>
            {
                self.remove(now)
            }
            Some((place, _)) => self.rename_or_preserve(&place, was),
            None => Ok(()),
        }
    }

    /// All steps were published, so other processes may have seen the new files: complete ones are
    /// preserved.
    fn preserve_new_files(
        &mut self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
    ) -> Result<()> {
        for (at, step) in steps.iter().enumerate() {
            if let (Some(target), Some(new)) = (step.new_name(), committed.mark(at))
                && let Some(place) = self.find_version(target, new)?
            {
                self.preserve_copies(&target.path(), &[place])?;
            }
        }
        Ok(())
    }

    /// Renames a new file back to its temporary name.
    fn unpublish(
        &mut self,
        target: &JournalPath,
        temporary: &JournalPath,
        new: &Mark,
    ) -> Result<()> {
        let Some((place, stamp)) = self.find_file(target, new)? else { return Ok(()) };
        if self.find_file(temporary, new)?.is_some() {
            return self.remove(target);
        }
        let mark = Mark::of(&stamp);
        if mark.is_foreign_to(new) {
            // Another process has written to it since, or created it.
            return self.preserve(&target.path(), &[]);
        }
        if mark != *new && !self.is_blank(&place)? {
            return self.preserve(&target.path(), &[place]);
        }
        self.rename(&place, temporary)
    }

    /// Exchanges the new version with the old one.
    fn exchange_back(
        &mut self,
        target: &JournalPath,
        old: &Mark,
        waiting: [&JournalPath; 2],
        new: &Mark,
    ) -> Result<()> {
        if self.find_file(target, old)?.is_some() {
            return Ok(());
        }
        let [temporary, saved] = waiting;
        let found = match self.find_file(temporary, old)? {
            None => self.find_file(saved, old)?,
            found => found,
        };
        let Some((waiting, _)) = found else { return self.report_foreign(target, Some(new)) };
        let Some((place, stamp)) = self.find(&target.path())? else {
            return self.rename_or_preserve(&waiting, target);
        };
        let mark = Mark::of(&stamp);
        if !mark.is_same_file(new) || mark.is_foreign_to(new) {
            return self.preserve(&target.path(), &[waiting]);
        }
        let is_in_doubt = mark != *new && !self.is_blank(&place)?;
        let fault = |cause: &io::Error| Error::io("put back", &shown(&place), cause);
        match self.fs.exchange(&waiting, &place) {
            Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                if is_in_doubt {
                    // It keeps the name until the old version replaces it.
                    self.preserve_copies(&target.path(), std::slice::from_ref(&place))?;
                }
                self.touched.push(place.clone());
                return self.fs.rename(&waiting, &place).map_err(|cause| fault(&cause));
            }
            exchanged => exchanged.map_err(|cause| fault(&cause))?,
        }
        self.touched.push(place.clone());
        let displaced = self.fs.stamp(&waiting).map_err(|cause| fault(&cause))?;
        if !Mark::of(&displaced).is_same_file(new) {
            // The displaced file belongs to another process, which just replaced the new version:
            // exchange back.
            self.fs.exchange(&waiting, &place).map_err(|cause| fault(&cause))?;
            return self.preserve(&target.path(), &[waiting]);
        }
        if is_in_doubt { self.preserve(&target.path(), &[waiting]) } else { Ok(()) }
    }

    /// Reports files that another process created in place of a lost new version.
    fn report_foreign_files(
        &mut self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
    ) -> Result<()> {
        let known = known_marks(steps, committed);
        for (at, step) in steps.iter().enumerate() {
            let (Some(target), Some(temporary), Some(new)) =
                (step.new_name(), step.staged(), committed.mark(at))
            else {
                continue;
            };
            let there = self.find(&target.path())?.map(|(_, stamp)| Mark::of(&stamp));
            let is_foreign = |now: Mark| !known.iter().any(|mark| now.is_same_file(mark));
            if there.is_some_and(is_foreign) && self.find_file(temporary, new)?.is_none() {
                self.report_conflict(&target.path(), Vec::new());
            }
        }
        Ok(())
    }

    /// The old version does not exist: preserve all that exists of the new one.
    fn preserve_remaining(&mut self, step: &JournalStep) -> Result<()> {
        let Some(path) = step.home().or(step.result()) else { return Ok(()) };
        let mut waiting = Vec::new();
        for path in step.temporaries() {
            waiting.extend(self.find_place(path)?);
        }
        self.preserve(&path.path(), &waiting)
    }

    /// Restores or preserves files before all temporary names are removed: old versions, files of
    /// other processes, and new versions that differ from what was staged and may belong to another
    /// process.
    fn restore_or_preserve(
        &mut self,
        step: &JournalStep,
        path: &JournalPath,
        new: Option<&Mark>,
    ) -> Result<()> {
        let Some((place, stamp)) = self.find(&path.path())? else { return Ok(()) };
        if self.is_preserved(&place) {
            return Ok(());
        }
        let mark = Mark::of(&stamp);
        if let (Some(new), Some(target)) = (new, step.result())
            && mark.is_same_file(new)
        {
            let is_certain = mark == *new || self.is_blank(&place)?;
            return if is_certain { Ok(()) } else { self.preserve(&target.path(), &[place]) };
        }
        match step.home() {
            Some(home) if self.find_file(home, &mark)?.is_none() => {
                self.rename_or_preserve(&place, home)
            }
            _ => Ok(()),
        }
    }

    /// Whether a file is empty or all zeros, as after a power cut before it was flushed. A file
    /// that this user may not read is not considered blank.
    pub(super) fn is_blank(&self, place: &Place) -> Result<bool> {
        let mut file = match self.fs.open(place) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => return Ok(false),
            Err(cause) if is_refused_link(&cause) => return Ok(false),
            Err(cause) => return Err(Error::io("read", &shown(place), &cause)),
        };
        let mut chunk = Vec::new();
        loop {
            chunk.clear();
            let read = self.fs.read(&mut file, CHUNK_BYTES, &mut chunk);
            read.map_err(|cause| Error::io("read", &shown(place), &cause))?;
            if chunk.is_empty() || chunk.iter().any(|&byte| byte != 0) {
                return Ok(chunk.is_empty());
            }
        }
    }
}
