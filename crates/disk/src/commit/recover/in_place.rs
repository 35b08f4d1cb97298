//! Files that are rewritten in place: their recovery from copies of the old and the new version. A
//! copy that a power cut has damaged is ignored.

use std::io;

use super::recovery::Recovery;
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

/// The version that a file is to have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Old,
    New,
}

/// The current state of the file and its copies.
struct InPlaceState {
    place: Place,
    now: Vec<u8>,
    /// Whether size and time are those of the old version.
    is_untouched: bool,
    /// The copies that exist.
    waiting: Vec<Place>,
    /// The copies that are complete.
    saved: Option<(Place, Vec<u8>)>,
    ready: Option<(Place, Vec<u8>)>,
}

impl<'j> InPlace<'j> {
    /// The files of a step, if it is a rewrite in place.
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

impl InPlaceState {
    fn is_old(&self, files: &InPlace<'_>) -> bool {
        is_version(&self.now, self.saved.as_ref(), files.saved_hash)
    }

    fn is_new(&self, files: &InPlace<'_>) -> bool {
        is_version(&self.now, self.ready.as_ref(), files.ready_hash)
    }

    /// Whether an interrupted write of this transaction can have left this content, as opposed to a
    /// write of another process.
    fn is_own_write(&self, files: &InPlace<'_>) -> bool {
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
    /// `None` if the file is gone, or another file has its name.
    fn contents(&self, files: &InPlace<'_>) -> Result<Option<InPlaceState>> {
        let there = self.find(&files.target.path())?;
        let Some((place, stamp)) =
            there.filter(|(_, stamp)| Mark::of(stamp).is_same_file(files.old))
        else {
            return Ok(None);
        };
        let copies = [(files.saved, files.saved_hash), (files.ready, files.ready_hash)];
        let (mut waiting, mut whole) = (Vec::new(), Vec::new());
        for (path, hash) in copies {
            let copy = self.find_place(path)?;
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
        Ok(Some(InPlaceState { place, now, is_untouched, waiting, saved, ready }))
    }

    fn read(&self, place: &Place) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read =
            self.fs.open(place).and_then(|mut file| self.fs.read(&mut file, u64::MAX, &mut bytes));
        read.map_err(|cause| Error::io("read", &shown(place), &cause))?;
        Ok(bytes)
    }

    /// Whether the new content is lost: it is neither in the file nor in a copy.
    pub(super) fn is_new_content_lost(
        &self,
        files: &InPlace<'_>,
        is_published: bool,
    ) -> Result<bool> {
        let Some(contents) = self.contents(files)? else { return Ok(false) };
        let is_rolled_back = !is_published && contents.is_old(files);
        // Without both copies, the file was recovered earlier, and may have changed since.
        let is_already_recovered =
            contents.waiting.is_empty() && !contents.is_untouched && !is_rolled_back;
        Ok(contents.ready.is_none() && !contents.is_new(files) && !is_already_recovered)
    }

    /// Gives the file its new or its old content. The current content may be old, new, or a mix of
    /// both; any other content was written by another process.
    pub(super) fn rewrite_in_place(&mut self, files: &InPlace<'_>, wanted: Wanted) -> Result<()> {
        let Some(contents) = self.contents(files)? else {
            let waiting = [self.find_place(files.saved)?, self.find_place(files.ready)?];
            return self.preserve_both(files, &waiting.into_iter().flatten().collect::<Vec<_>>());
        };
        let (copy, is_there) = match wanted {
            Wanted::Old => (&contents.saved, contents.is_old(files)),
            Wanted::New => (&contents.ready, contents.is_new(files)),
        };
        let has_no_reference =
            wanted == Wanted::Old && contents.is_untouched && files.saved_hash.is_none();
        let rewritten = match copy {
            _ if is_there => return sync_content(self.fs, &contents.place),
            Some((copy, _)) if contents.is_own_write(files) => {
                overwrite(self.fs, copy, &contents.place, Durability::Power)
            }
            // The file is untouched, and only size and time of the old content are known.
            None if has_no_reference => return Ok(()),
            _ => {
                self.is_torn |= contents.saved.is_none() || contents.ready.is_none();
                return self.preserve_both(files, &contents.waiting);
            }
        };
        let fault = |cause: io::Error| Error::io("rewrite", &shown(&contents.place), &cause);
        rewritten.map_err(fault)
    }

    /// Checks a published file before its copies are removed, and handles a wrong content.
    pub(super) fn check_in_place(&mut self, files: &InPlace<'_>) -> Result<()> {
        match self.contents(files)? {
            // The dead process may not have flushed it.
            Some(contents) if contents.is_new(files) => sync_content(self.fs, &contents.place),
            Some(contents) if contents.is_untouched => self.rewrite_in_place(files, Wanted::New),
            Some(contents) => self.preserve_both(files, &contents.waiting),
            None => Ok(()),
        }
    }

    /// Removes the copies of a file of an uncommitted transaction, which should have its old
    /// content. However, a power cut can have removed the `committed` record and kept later writes.
    /// Then the first copy can be the only old version, and both copies are preserved.
    pub(super) fn clear_in_place(&mut self, files: &InPlace<'_>) -> Result<()> {
        let saved = self.find(&files.saved.path())?;
        let is_redundant = match &saved {
            Some((saved, stamp)) if stamp.kind == FileKind::File => {
                let saved = self.read(saved)?;
                let is_whole = saved.len() as u64 == files.old.size_bytes();
                let now = self.readable(files.target)?;
                now.is_some_and(|now| {
                    let may_contain_it = !is_whole || saved.len() == now.len();
                    may_contain_it && is_unfinished_copy(&saved, &now)
                })
            }
            Some(_) => false,
            None => true,
        };
        if is_redundant {
            self.remove(files.saved)?;
            return self.remove(files.ready);
        }
        let waiting = [saved.map(|(place, _)| place), self.find_place(files.ready)?];
        self.preserve_both(files, &waiting.into_iter().flatten().collect::<Vec<_>>())
    }

    /// The content of a file, if it exists and this user may read it.
    fn readable(&self, path: &JournalPath) -> Result<Option<Vec<u8>>> {
        match self.find(&path.path())? {
            Some((place, stamp)) if stamp.kind == FileKind::File => match self.read(&place) {
                Err(error) if error.code == Code::PermissionDenied => Ok(None),
                read => read.map(Some),
            },
            _ => Ok(None),
        }
    }

    fn preserve_both(&mut self, files: &InPlace<'_>, waiting: &[Place]) -> Result<()> {
        if waiting.is_empty() { Ok(()) } else { self.preserve(&files.target.path(), waiting) }
    }
}
