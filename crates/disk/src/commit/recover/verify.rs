//! Verifies the files of a committed transaction. A power cut can destroy contents and names of
//! staged files that were not flushed, whatever the journal says. Then the transaction must be
//! rolled back.

use std::collections::BTreeSet;
use std::io;

use super::in_place::InPlace;
use super::recovery::Recovery;
use super::shown;
use crate::bytes::snapshot_of_file;
use crate::commit::files::sync_content;
use crate::commit::journal::{Committed, JournalPath, JournalStep, Mark};
use crate::commit::step::Step;
use crate::fs::{Place, Stamp, is_refused_link};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result};

impl Recovery<'_> {
    /// Whether the new version of some step differs from the journal, or does not exist. A version
    /// that another process has replaced is not lost.
    pub(super) fn has_lost_version(
        &self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
    ) -> Result<bool> {
        let gone = self.missing_old_versions(steps, committed)?;
        let mut names = steps.iter().filter_map(JournalStep::new_name);
        let is_unmade = |path: &JournalPath| Ok::<_, Error>(self.place(&path.path())?.is_none());
        if gone.contains(&true) && names.any(|path| is_unmade(path).unwrap_or(true)) {
            // Another process has moved a new directory away, together with the files in it.
            self.check_reachable(steps, &[])?;
        }
        let known = known_marks(steps, committed);
        for (at, step) in steps.iter().enumerate() {
            if self.is_version_lost(at, step, committed, &known)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// For each step that removes an old version, the path of the new version that replaces it, if
    /// that new version does not exist: it may never have reached the disk.
    pub(super) fn missing_replacements<'s>(
        &self,
        steps: &'s [JournalStep],
        committed: &Committed<'_>,
    ) -> Result<Vec<Option<&'s JournalPath>>> {
        let is_there = |at: usize, step: &JournalStep| {
            let Some(new) = committed.mark(at) else { return Ok(true) };
            for path in [step.result(), step.staged()].into_iter().flatten() {
                let there = self.find_file(path, new)?.map(|(_, stamp)| Mark::of(&stamp));
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
        let replacement = |step: &'s JournalStep| step.result().or(step.home());
        Ok(steps
            .iter()
            .map(|step| replacement(step).filter(|path| unseen.contains(path)))
            .collect())
    }

    /// Whether no old version has its own name and no new version its temporary name. A power cut
    /// can undo renames that were not flushed, even after all steps were published.
    pub(super) fn is_in_place(
        &self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
    ) -> Result<bool> {
        for (at, step) in steps.iter().enumerate() {
            if let Some((source, old)) = step.source()
                && self.find_version(source, old)?.is_some()
            {
                return Ok(false);
            }
            let waiting = match step {
                Step::Rename { old, parked: Some(parked), .. } => Some((parked, old)),
                _ => step.staged().zip(committed.mark(at)),
            };
            if let Some((temporary, version)) = waiting
                && self.find_file(temporary, version)?.is_some()
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_version_lost(
        &self,
        at: usize,
        step: &JournalStep,
        committed: &Committed<'_>,
        known: &[&Mark],
    ) -> Result<bool> {
        if let Some(files) = InPlace::of(step, at, committed) {
            return self.is_new_content_lost(&files, committed.is_published);
        }
        if let Step::Rename { from, old, to, parked } = step {
            let is_unmade = self.place(&to.path())?.is_none();
            let mut has_old_version = false;
            for path in [Some(from), parked.as_ref()].into_iter().flatten() {
                has_old_version |= self.find_version(path, old)?.is_some();
            }
            return Ok(is_unmade && has_old_version);
        }
        let (Some(temporary), Some(target)) = (step.staged(), step.result()) else {
            return Ok(false);
        };
        let hash = committed.hash(at, 0);
        let Some(new) = committed.mark(at) else { return Ok(false) };
        if let Some((place, stamp)) = self.find_file(temporary, new)? {
            return Ok(!self.is_whole(&place, &stamp, new, hash)?);
        }
        if let Some((place, stamp)) = self.find_file(target, new)? {
            let mark = Mark::of(&stamp);
            let is_foreign = mark.is_later_than(new)
                || (committed.is_published && mark.is_foreign_to(new) && !self.is_blank(&place)?);
            return Ok(!is_foreign && !self.is_whole(&place, &stamp, new, hash)?);
        }
        if !committed.is_published && step.new_name().is_some() {
            // It does not exist, and may never have had its name, even if another file has that
            // name now.
            return Ok(true);
        }
        Ok(match self.find(&target.path())? {
            // The name belongs to the old version, or to a file of another process.
            Some((_, stamp)) => {
                let now = Mark::of(&stamp);
                if committed.is_published {
                    // The old version may be removed, and its inode reused for another file.
                    known.contains(&&now)
                } else {
                    step.old().is_some_and(|old| now.is_same_file(old)) || is_known(known, &stamp)
                }
            }
            // Another process removed it.
            None => false,
        })
    }

    /// Whether a staged file has the content that was written. If this user may not read it, size
    /// and time decide.
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

    /// Flushes the new versions before the old ones are removed: the dead process may not have done
    /// so.
    pub(super) fn sync_staged(
        &self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
    ) -> Result<()> {
        for (at, step) in steps.iter().enumerate() {
            let names = [step.staged(), step.result()].into_iter().flatten();
            let Some(new) = committed.mark(at) else { continue };
            for path in names {
                if let Some((place, _)) = self.find_file(path, new)? {
                    sync_content(self.fs, &place)?;
                }
            }
        }
        Ok(())
    }

    /// For each step, whether its old version does not exist and no other process has taken its
    /// name.
    pub(super) fn missing_old_versions(
        &self,
        steps: &[JournalStep],
        committed: &Committed<'_>,
    ) -> Result<Vec<bool>> {
        let known = known_marks(steps, committed);
        let is_gone = |step: &JournalStep| {
            let Some((source, old)) = step.source() else { return Ok(false) };
            if let Some((_, stamp)) = self.find(&source.path())?
                && !is_known(&known, &stamp)
            {
                return Ok(false);
            }
            for path in [step.targets(), step.temporaries()].concat() {
                if self.find_file(path, old)?.is_some() {
                    return Ok(false);
                }
            }
            // For a file that is rewritten in place, its copies decide.
            Ok(!matches!(step, Step::RewriteInPlace { .. }))
        };
        steps.iter().map(is_gone).collect()
    }
}

/// The marks of all versions in the journal.
pub(super) fn known_marks<'j>(
    steps: &'j [JournalStep],
    committed: &Committed<'j>,
) -> Vec<&'j Mark> {
    let new = (0..steps.len()).filter_map(|at| committed.mark(at));
    steps.iter().filter_map(JournalStep::old).chain(new).collect()
}

/// Whether a file is one of these versions. A file of another process may have reused the inode of
/// a version that it replaced. While the patch was not published, only a later file counts as such.
fn is_known(known: &[&Mark], stamp: &Stamp) -> bool {
    let now = Mark::of(stamp);
    known.iter().any(|mark| now.is_same_file(mark) && !now.is_later_than(mark))
}
