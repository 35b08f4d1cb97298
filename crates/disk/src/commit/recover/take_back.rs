//! Taking a committed transaction back, when some of what it staged is lost: its deeds in the
//! opposite order, as far as they were done. Old versions go back to their names, or are kept;
//! none is removed.

use std::collections::BTreeSet;
use std::io;

use super::found::Recovery;
use super::in_place::{InPlace, Wanted};
use super::lost::known;
use super::shown;
use crate::commit::journal::{Committed, JournalPath, JournalStep, Mark};
use crate::commit::step::{Deed, Step, deeds};
use crate::fs::{Place, differ_in_case_only, is_refused_link};
use hashline_base::error::{Error, Result};

/// How much of a file is looked through at a time.
const CHUNK_BYTES: u64 = 1 << 20;

/// The records of the journal of a transaction that is committed: `begin` and `committed`.
const COMMITTED_RECORDS: usize = 2;

impl Recovery<'_> {
    /// Takes everything back; a step whose old version is nowhere stays as it is, and is told.
    pub(super) fn take_back(
        &mut self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
        directories: &[JournalPath],
    ) -> Result<()> {
        if committed.is_published {
            self.keep_new_files(steps, committed)?;
        }
        // Not all is in place any more.
        self.cut_journal_after(COMMITTED_RECORDS)?;
        let mut gone = self.gone(steps, committed)?;
        let vacant: BTreeSet<&JournalPath> = steps
            .iter()
            .zip(&gone)
            .filter(|(_, gone)| **gone)
            .filter_map(|(step, _)| step.home())
            .collect();
        for (step, gone) in steps.iter().zip(&mut gone) {
            // A new file in the place of an old one that is nowhere is better than none.
            *gone |= matches!(step, Step::Create { target, .. } if vacant.contains(target));
        }
        let all: Vec<_> = deeds(steps).filter(|(at, _)| !gone[*at]).collect();
        for (at, deed) in all.into_iter().rev() {
            self.take_back_deed(&steps[at], at, deed, committed)?;
        }
        for (step, _) in steps.iter().zip(&gone).filter(|(_, gone)| **gone) {
            self.keep_what_is_left(step)?;
        }
        self.tell_rivals(steps, committed)?;
        for (at, step) in steps.iter().enumerate() {
            for path in step.temporaries() {
                self.rescue(step, path, committed.mark(at))?;
            }
        }
        self.touch_all(steps)?;
        self.sync()?;
        self.cut_journal_after(1)?;
        // What was to be written into a file goes last: where the journal could not be cut, it says
        // that this patch was not finished.
        let (in_place, others): (Vec<_>, Vec<_>) =
            steps.iter().partition(|step| matches!(step, Step::RewriteInPlace { .. }));
        for path in others.into_iter().chain(in_place).flat_map(JournalStep::temporaries) {
            self.remove(path)?;
        }
        self.remove_directories(directories)?;
        self.sync()
    }

    fn take_back_deed(
        &mut self,
        step: &JournalStep,
        at: usize,
        deed: Deed<'_, JournalPath, Mark>,
        committed: &Committed<'_>,
    ) -> Result<()> {
        match deed {
            Deed::Place { temporary, target } => match committed.mark(at) {
                Some(new) => self.unplace(target, temporary, new),
                None => Ok(()),
            },
            Deed::Exchange { target, old, temporary, saved } => match committed.mark(at) {
                Some(new) => self.exchange_back(target, old, [temporary, saved], new),
                None => Ok(()),
            },
            Deed::Overwrite { .. } => match InPlace::of(step, at, committed) {
                Some(files) => self.rewrite_in_place(&files, Wanted::Old),
                None => Ok(()),
            },
            Deed::Arrive { parked: was, to } => match step.old() {
                Some(old) => self.rename_back(to, was, old),
                None => Ok(()),
            },
            Deed::Move { from, old, to } => self.rename_back(to, from, old),
            Deed::Park { from, old, parked } => self.rename_back(parked, from, old),
        }
    }

    /// The old file goes back from `now`, if it is there; it is the same whoever wrote to it.
    fn rename_back(&mut self, now: &JournalPath, was: &JournalPath, old: &Mark) -> Result<()> {
        match self.version(now, old)? {
            // Where a rename is two steps, it can have both names; where case is ignored, they can
            // be one.
            Some(_)
                if !differ_in_case_only(&now.path(), &was.path())
                    && self.version(was, old)?.is_some() =>
            {
                self.remove(now)
            }
            Some((place, _)) => self.arrive(&place, was),
            None => Ok(()),
        }
    }

    /// All was in place, so somebody may know the new files: those that are whole are kept.
    fn keep_new_files(&mut self, steps: &[JournalStep], committed: &Committed<'_>) -> Result<()> {
        for (at, step) in steps.iter().enumerate() {
            if let (Some(target), Some(new)) = (step.new_name(), committed.mark(at))
                && let Some(place) = self.marked(target, new)?
            {
                self.keep_copies(&target.path(), &[place])?;
            }
        }
        Ok(())
    }

    /// A new file leaves its name.
    fn unplace(&mut self, target: &JournalPath, temporary: &JournalPath, new: &Mark) -> Result<()> {
        let Some((place, stamp)) = self.version(target, new)? else { return Ok(()) };
        if self.version(temporary, new)?.is_some() {
            return self.remove(target);
        }
        let mark = Mark::of(&stamp);
        if mark.is_foreign_to(new) {
            // Someone else has written to it since, or made it.
            return self.keep(&target.path(), &[]);
        }
        if mark != *new && !self.is_blank(&place)? {
            return self.keep(&target.path(), &[place]);
        }
        self.rename(&place, temporary)
    }

    /// The old version gets its name back from the new one.
    fn exchange_back(
        &mut self,
        target: &JournalPath,
        old: &Mark,
        waiting: [&JournalPath; 2],
        new: &Mark,
    ) -> Result<()> {
        if self.version(target, old)?.is_some() {
            return Ok(());
        }
        let [temporary, saved] = waiting;
        let found = match self.version(temporary, old)? {
            None => self.version(saved, old)?,
            found => found,
        };
        let Some((waiting, _)) = found else { return self.tell_rival(target, Some(new)) };
        let Some((place, stamp)) = self.there(&target.path())? else {
            return self.arrive(&waiting, target);
        };
        let mark = Mark::of(&stamp);
        if !mark.is_same_file(new) || mark.is_foreign_to(new) {
            return self.keep(&target.path(), &[waiting]);
        }
        let is_in_doubt = mark != *new && !self.is_blank(&place)?;
        let fault = |cause: &io::Error| Error::io("put back", &shown(&place), cause);
        match self.fs.exchange(&waiting, &place) {
            Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                if is_in_doubt {
                    // It has the name until the old version takes it.
                    self.keep_copies(&target.path(), std::slice::from_ref(&place))?;
                }
                self.touched.push(place.clone());
                return self.fs.rename(&waiting, &place).map_err(|cause| fault(&cause));
            }
            exchanged => exchanged.map_err(|cause| fault(&cause))?,
        }
        self.touched.push(place.clone());
        let displaced = self.fs.stamp(&waiting).map_err(|cause| fault(&cause))?;
        if !Mark::of(&displaced).is_same_file(new) {
            // A rival's, who was there just before: theirs goes back.
            self.fs.exchange(&waiting, &place).map_err(|cause| fault(&cause))?;
            return self.keep(&target.path(), &[waiting]);
        }
        if is_in_doubt { self.keep(&target.path(), &[waiting]) } else { Ok(()) }
    }

    /// Tells of files that someone else has made where a new version was lost.
    fn tell_rivals(&mut self, steps: &[JournalStep], committed: &Committed<'_>) -> Result<()> {
        let known = known(steps, committed);
        for (at, step) in steps.iter().enumerate() {
            let (Some(target), Some(temporary), Some(new)) =
                (step.new_name(), step.staged(), committed.mark(at))
            else {
                continue;
            };
            let there = self.there(&target.path())?.map(|(_, stamp)| Mark::of(&stamp));
            let is_theirs = |now: Mark| !known.iter().any(|mark| now.is_same_file(mark));
            if there.is_some_and(is_theirs) && self.version(temporary, new)?.is_none() {
                self.tell(&target.path(), Vec::new());
            }
        }
        Ok(())
    }

    /// The old version is nowhere: whatever there is of the new one is all there is.
    fn keep_what_is_left(&mut self, step: &JournalStep) -> Result<()> {
        let Some(path) = step.home().or(step.result()) else { return Ok(()) };
        let mut waiting = Vec::new();
        for path in step.temporaries() {
            waiting.extend(self.exists(path)?);
        }
        self.keep(&path.path(), &waiting)
    }

    /// All temporary names are about to go. An old version or a rival's that has one goes back, or
    /// is kept; so does a new version that is not what was staged, and could be someone else's.
    fn rescue(&mut self, step: &JournalStep, path: &JournalPath, new: Option<&Mark>) -> Result<()> {
        let Some((place, stamp)) = self.there(&path.path())? else { return Ok(()) };
        if self.is_doomed(&place) {
            return Ok(());
        }
        let mark = Mark::of(&stamp);
        if let (Some(new), Some(target)) = (new, step.result())
            && mark.is_same_file(new)
        {
            let is_certain = mark == *new || self.is_blank(&place)?;
            return if is_certain { Ok(()) } else { self.keep(&target.path(), &[place]) };
        }
        match step.home() {
            Some(home) if self.version(home, &mark)?.is_none() => self.arrive(&place, home),
            _ => Ok(()),
        }
    }

    /// Whether a file is empty or all zeros, as a power cut leaves one that was not flushed. One
    /// that this user may not read is not said to be.
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
