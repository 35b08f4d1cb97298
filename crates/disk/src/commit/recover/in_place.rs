//! Files that are rewritten in place: finished or taken back from the copies of their two
//! versions. A copy that a power cut has torn counts as none.

use std::io;

use super::found::Recovery;
use super::shown;
use super::torn::{is_torn, is_unfinished_copy};
use crate::bytes::snapshot;
use crate::commit::Durability;
use crate::commit::files::{overwrite, sync_content};
use crate::commit::journal::{Committed, JournalPath, JournalStep, Mark};
use crate::commit::step::Step;
use crate::fs::{FileKind, Place};
use hashline_base::error::{Code, Error, Result};

/// A file that is rewritten in place, and the copies of its versions.
pub(super) struct InPlace<'j> {
    target: &'j JournalPath,
    old: &'j Mark,
    saved: &'j JournalPath,
    ready: &'j JournalPath,
    saved_hash: Option<&'j str>,
    ready_hash: Option<&'j str>,
}

/// Which of its contents a file is to have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Old,
    New,
}

/// What is there of it.
struct FoundInPlace {
    place: Place,
    now: Vec<u8>,
    /// Size and time are those of the old version.
    is_untouched: bool,
    /// The copies that are there.
    waiting: Vec<Place>,
    /// Those that are what was written.
    saved: Option<(Place, Vec<u8>)>,
    ready: Option<(Place, Vec<u8>)>,
}

impl<'j> InPlace<'j> {
    /// Of a step that is one of these.
    pub(super) fn of(
        step: &'j JournalStep,
        at: usize,
        committed: &Committed<'j>,
    ) -> Option<InPlace<'j>> {
        let Step::RewriteInPlace { target, old, saved, ready } = step else { return None };
        let (saved_hash, ready_hash) = (committed.hash(at, 0), committed.hash(at, 1));
        Some(InPlace { target, old, saved, ready, saved_hash, ready_hash })
    }
}

impl FoundInPlace {
    fn is_old(&self, files: &InPlace<'_>) -> bool {
        is_version(&self.now, self.saved.as_ref(), files.saved_hash)
    }

    fn is_new(&self, files: &InPlace<'_>) -> bool {
        is_version(&self.now, self.ready.as_ref(), files.ready_hash)
    }

    /// What an interrupted write of this transaction can have left: not a rival's.
    fn is_ours(&self, files: &InPlace<'_>) -> bool {
        match (&self.saved, &self.ready) {
            (Some((_, old)), Some((_, new))) => is_torn(&self.now, old, new),
            _ => self.is_untouched || self.is_old(files) || self.is_new(files),
        }
    }
}

fn is_version(now: &[u8], copy: Option<&(Place, Vec<u8>)>, hash: Option<&str>) -> bool {
    copy.is_some_and(|(_, content)| content == now)
        || hash.is_some_and(|hash| snapshot(now) == hash)
}

impl Recovery<'_> {
    /// `None` when the file itself is gone, or another one has its name.
    fn contents(&self, files: &InPlace<'_>) -> Result<Option<FoundInPlace>> {
        let there = self.there(&files.target.path())?;
        let Some((place, stamp)) =
            there.filter(|(_, stamp)| Mark::of(stamp).is_same_file(files.old))
        else {
            return Ok(None);
        };
        let copies = [(files.saved, files.saved_hash), (files.ready, files.ready_hash)];
        let (mut waiting, mut whole) = (Vec::new(), Vec::new());
        for (path, hash) in copies {
            let copy = self.exists(path)?;
            waiting.extend(copy.clone());
            let read = |place: Place| Ok::<_, Error>((self.read(&place)?, place));
            let copy = copy.map(read).transpose()?;
            whole.push(copy.and_then(|(content, place)| {
                let is_whole = hash.is_none_or(|hash| snapshot(&content) == hash);
                is_whole.then_some((place, content))
            }));
        }
        let (ready, saved) = (whole.pop().flatten(), whole.pop().flatten());
        let now = self.read(&place)?;
        let is_untouched = Mark::of(&stamp) == *files.old;
        Ok(Some(FoundInPlace { place, now, is_untouched, waiting, saved, ready }))
    }

    fn read(&self, place: &Place) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read =
            self.fs.open(place).and_then(|mut file| self.fs.read(&mut file, u64::MAX, &mut bytes));
        read.map_err(|cause| Error::io("read", &shown(place), &cause))?;
        Ok(bytes)
    }

    /// Whether the new content is neither in the file nor waits for it.
    pub(super) fn has_lost_in_place(
        &self,
        files: &InPlace<'_>,
        is_published: bool,
    ) -> Result<bool> {
        let Some(contents) = self.contents(files)? else { return Ok(false) };
        let is_taken_back = !is_published && contents.is_old(files);
        // Without both copies it was recovered already, and perhaps changed since.
        let is_over = contents.waiting.is_empty() && !contents.is_untouched && !is_taken_back;
        Ok(contents.ready.is_none() && !contents.is_new(files) && !is_over)
    }

    /// Gives the file its new content, or its old one. It may be old, new, or torn between the
    /// two; anything else was written by someone else.
    pub(super) fn rewrite_in_place(&mut self, files: &InPlace<'_>, wanted: Wanted) -> Result<()> {
        let Some(contents) = self.contents(files)? else {
            let waiting = [self.exists(files.saved)?, self.exists(files.ready)?];
            return self.keep_both(files, &waiting.into_iter().flatten().collect::<Vec<_>>());
        };
        let (copy, is_there) = match wanted {
            Wanted::Old => (&contents.saved, contents.is_old(files)),
            Wanted::New => (&contents.ready, contents.is_new(files)),
        };
        let is_nothing_known =
            wanted == Wanted::Old && contents.is_untouched && files.saved_hash.is_none();
        let rewritten = match copy {
            _ if is_there => return sync_content(self.fs, &contents.place),
            Some((copy, _)) if contents.is_ours(files) => {
                overwrite(self.fs, copy, &contents.place, Durability::Power)
            }
            // Nothing was done, and nothing is known of the old content but size and time.
            None if is_nothing_known => return Ok(()),
            _ => {
                self.is_torn |= contents.saved.is_none() || contents.ready.is_none();
                return self.keep_both(files, &contents.waiting);
            }
        };
        let fault = |cause: io::Error| Error::io("rewrite", &shown(&contents.place), &cause);
        rewritten.map_err(fault)
    }

    /// All is in place, and the copies are about to go: unless the file is not what it should be.
    pub(super) fn check_in_place(&mut self, files: &InPlace<'_>) -> Result<()> {
        match self.contents(files)? {
            // Its process may not have flushed it.
            Some(contents) if contents.is_new(files) => sync_content(self.fs, &contents.place),
            Some(contents) if contents.is_untouched => self.rewrite_in_place(files, Wanted::New),
            Some(contents) => self.keep_both(files, &contents.waiting),
            None => Ok(()),
        }
    }

    /// The journal knows of no commit, so the file should be the old one, and its copies go. A
    /// power cut can have taken the record and left what was written after it: then the first copy
    /// can be all that there is of the old version, and both are kept.
    pub(super) fn clear_in_place(&mut self, files: &InPlace<'_>) -> Result<()> {
        let saved = self.there(&files.saved.path())?;
        let is_needless = match &saved {
            Some((saved, stamp)) if stamp.kind == FileKind::File => {
                let saved = self.read(saved)?;
                let is_whole = saved.len() as u64 == files.old.size_bytes();
                let now = self.readable(files.target)?;
                now.is_some_and(|now| {
                    let can_hold_it = !is_whole || saved.len() == now.len();
                    can_hold_it && is_unfinished_copy(&saved, &now)
                })
            }
            Some(_) => false,
            None => true,
        };
        if is_needless {
            self.remove(files.saved)?;
            return self.remove(files.ready);
        }
        let waiting = [saved.map(|(place, _)| place), self.exists(files.ready)?];
        self.keep_both(files, &waiting.into_iter().flatten().collect::<Vec<_>>())
    }

    /// The content of a file, if there is one, and this user may read it.
    fn readable(&self, path: &JournalPath) -> Result<Option<Vec<u8>>> {
        match self.there(&path.path())? {
            Some((place, stamp)) if stamp.kind == FileKind::File => match self.read(&place) {
                Err(error) if error.code == Code::PermissionDenied => Ok(None),
                read => read.map(Some),
            },
            _ => Ok(None),
        }
    }

    fn keep_both(&mut self, files: &InPlace<'_>, waiting: &[Place]) -> Result<()> {
        if waiting.is_empty() { Ok(()) } else { self.keep(&files.target.path(), waiting) }
    }
}
