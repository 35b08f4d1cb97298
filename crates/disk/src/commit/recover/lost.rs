//! Whether a committed transaction can be finished. A power cut can take contents and names of
//! staged files that were not flushed, whatever the journal says; then it has to be taken back.

use std::collections::BTreeSet;
use std::io;

use super::found::Recovery;
use super::in_place::InPlace;
use super::shown;
use crate::bytes::snapshot_of_file;
use crate::commit::files::sync_content;
use crate::commit::journal::{Committed, JournalPath, JournalStep, Mark};
use crate::commit::step::Step;
use crate::fs::{Place, Stamp, is_refused_link};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result};

impl Recovery<'_> {
    /// Whether the new version of some step is not what the journal says, or is nowhere. What
    /// someone else has put in its place is not lost, but theirs.
    pub(super) fn has_lost(
        &self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
    ) -> Result<bool> {
        let gone = self.gone(steps, committed)?;
        let mut names = steps.iter().filter_map(JournalStep::new_name);
        let is_unmade = |path: &JournalPath| Ok::<_, Error>(self.place(&path.path())?.is_none());
        if gone.contains(&true) && names.any(|path| is_unmade(path).unwrap_or(true)) {
            // Someone has moved a new directory away, with files in it.
            self.check_reachable(steps, &[])?;
        }
        let known = known(steps, committed);
        for (at, step) in steps.iter().enumerate() {
            if self.is_lost(at, step, committed, &known)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Of each step that removes an old version, the new version that has come in its place, if
    /// that is nowhere: what a recovery does not see may never have been on the disk.
    pub(super) fn unseen<'s>(
        &self,
        steps: &'s [JournalStep],
        committed: &Committed<'_>,
    ) -> Result<Vec<Option<&'s JournalPath>>> {
        let is_there = |at: usize, step: &JournalStep| {
            let Some(new) = committed.mark(at) else { return Ok(true) };
            for path in [step.result(), step.staged()].into_iter().flatten() {
                let there = self.version(path, new)?.map(|(_, stamp)| Mark::of(&stamp));
                if there.is_some_and(|now| now == *new || now.is_later_than(new)) {
                    return Ok::<_, Error>(true);
                }
            }
            Ok(false)
        };
        let mut unseen = BTreeSet::new();
        for (at, step) in steps.iter().enumerate() {
            if !is_there(at, step)? {
                unseen.extend(step.result());
            }
        }
        let heir = |step: &'s JournalStep| step.result().or(step.home());
        Ok(steps.iter().map(|step| heir(step).filter(|path| unseen.contains(path))).collect())
    }

    /// Whether no old version has its own name any more, and no new one its temporary name. A
    /// power cut can take names back that were not flushed, also when all was in place.
    pub(super) fn is_in_place(
        &self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
    ) -> Result<bool> {
        for (at, step) in steps.iter().enumerate() {
            if let Some((source, old)) = step.source()
                && self.marked(source, old)?.is_some()
            {
                return Ok(false);
            }
            let waiting = match step {
                Step::Rename { old, parked: Some(parked), .. } => Some((parked, old)),
                _ => step.staged().zip(committed.mark(at)),
            };
            if let Some((temporary, version)) = waiting
                && self.version(temporary, version)?.is_some()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_lost(
        &self,
        at: usize,
        step: &JournalStep,
        committed: &Committed<'_>,
        known: &[&Mark],
    ) -> Result<bool> {
        if let Some(files) = InPlace::of(step, at, committed) {
            return self.has_lost_in_place(&files, committed.is_published);
        }
        if let Step::Rename { from, old, to, parked } = step {
            let is_unmade = self.place(&to.path())?.is_none();
            let mut is_near = false;
            for path in [Some(from), parked.as_ref()].into_iter().flatten() {
                is_near |= self.marked(path, old)?.is_some();
            }
            return Ok(is_unmade && is_near);
        }
        let (Some(temporary), Some(target)) = (step.staged(), step.result()) else {
            return Ok(false);
        };
        let hash = committed.hash(at, 0);
        let Some(new) = committed.mark(at) else { return Ok(false) };
        if let Some((place, stamp)) = self.version(temporary, new)? {
            return Ok(!self.is_whole(&place, &stamp, new, hash)?);
        }
        if let Some((place, stamp)) = self.version(target, new)? {
            let mark = Mark::of(&stamp);
            let is_theirs = mark.is_later_than(new)
                || (committed.is_published && mark.is_foreign_to(new) && !self.is_blank(&place)?);
            return Ok(!is_theirs && !self.is_whole(&place, &stamp, new, hash)?);
        }
        if !committed.is_published && step.new_name().is_some() {
            // It is nowhere, and may never have had its name, whoever has that now.
            return Ok(true);
        }
        Ok(match self.there(&target.path())? {
            // An old version still has the name, or someone else's file.
            Some((_, stamp)) => {
                let now = Mark::of(&stamp);
                if committed.is_published {
                    // The old version may be gone, and its inode another file's.
                    known.contains(&&now)
                } else {
                    step.old().is_some_and(|old| now.is_same_file(old)) || is_known(known, &stamp)
                }
            }
            // Someone removed it.
            None => false,
        })
    }

    /// Whether a staged file is what was written. One that this user may not read is judged by
    /// its size and time.
    fn is_whole(
        &self,
        place: &Place,
        stamp: &Stamp,
        mark: &Mark,
        hash: Option<&str>,
    ) -> Result<bool> {
        let Some(hash) = hash.filter(|_| Mark::of(stamp) == *mark) else {
            return Ok(Mark::of(stamp) == *mark);
        };
        let read = self
            .fs
            .open(place)
            .and_then(|mut file| snapshot_of_file(self.fs, &mut file, &Cancel::default()));
        match read {
            Ok(now) => Ok(now == hash),
            Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Ok(true),
            Err(cause) if is_refused_link(&cause) => Ok(false),
            Err(cause) => Err(Error::io("read", &shown(place), &cause)),
        }
    }

    /// Forces the new versions to the disk, before the old ones go: their process may not have.
    pub(super) fn sync_staged(
        &self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
    ) -> Result<()> {
        for (at, step) in steps.iter().enumerate() {
            let names = [step.staged(), step.result()].into_iter().flatten();
            let Some(new) = committed.mark(at) else { continue };
            for path in names {
                if let Some((place, _)) = self.version(path, new)? {
                    sync_content(self.fs, &place)?;
                }
            }
        }
        Ok(())
    }

    /// Of each step, whether its old version is nowhere, and nobody else has taken its name.
    pub(super) fn gone(
        &self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
    ) -> Result<Vec<bool>> {
        let known = known(steps, committed);
        let is_gone = |step: &JournalStep| {
            let Some((source, old)) = step.source() else { return Ok(false) };
            if let Some((_, stamp)) = self.there(&source.path())?
                && !is_known(&known, &stamp)
            {
                return Ok(false);
            }
            for path in [step.targets(), step.temporaries()].concat() {
                if self.version(path, old)?.is_some() {
                    return Ok(false);
                }
            }
            // A file that is rewritten in place is judged by its copies.
            Ok(!matches!(step, Step::RewriteInPlace { .. }))
        };
        steps.iter().map(is_gone).collect()
    }
}

/// The marks of all versions that the journal knows.
pub(super) fn known<'j>(steps: &'j [JournalStep], committed: &Committed<'j>) -> Vec<&'j Mark> {
    let new = (0..steps.len()).filter_map(|at| committed.mark(at));
    steps.iter().filter_map(JournalStep::old).chain(new).collect()
}

/// Whether a file is one of these versions. Someone else's may have got the inode of one that they
/// have replaced; while the patch was not in place, only one that is later is taken for theirs.
fn is_known(known: &[&Mark], stamp: &Stamp) -> bool {
    let now = Mark::of(stamp);
    known.iter().any(|mark| now.is_same_file(mark) && !now.is_later_than(mark))
}
