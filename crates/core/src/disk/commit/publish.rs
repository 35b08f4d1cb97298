//! Putting staged files in place, one reversible step after the other.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;

use super::stage::{copy_content, is_gone, sync_directories, sync_removals};
use super::step::Step;
use super::{CommitError, check_version, concurrent};
use crate::disk::fs::{FileSystem, Place, Stamp, differ_in_case_only};
use crate::error::{Code, Error, Result};

/// A step that was taken, and what takes it back.
enum Undo {
    /// Rename `now` back to `was`, if it is still the file that was put there.
    Rename { now: Place, was: Place, placed: Option<Stamp> },
    /// Exchange the two names again, if `other` is still the file that was put there.
    Exchange { one: Place, other: Place, placed: Option<Stamp> },
    /// Put the saved old version over the new one.
    Restore { saved: Place, target: Place, placed: Option<Stamp> },
    /// Write the saved content back into the same inode.
    Rewrite { target: Place, saved: Place },
}

/// What was published so far.
pub(super) struct Published<'a> {
    fs: &'a dyn FileSystem,
    sync: bool,
    undo: Vec<Undo>,
    touched: Vec<Place>,
    /// Files of which one name was changed: that changes the ctime under all their names.
    renamed: BTreeSet<(u64, u64)>,
}

impl<'a> Published<'a> {
    pub(super) fn new(fs: &'a dyn FileSystem, sync: bool) -> Self {
        Published { fs, sync, undo: Vec::new(), touched: Vec::new(), renamed: BTreeSet::new() }
    }

    /// Takes every step: first names are vacated, then taken, so that moves may chain and
    /// swap; contents come last.
    pub(super) fn publish(&mut self, steps: &[Step]) -> Result<()> {
        for step in steps {
            match step {
                Step::Delete { target: from, old, parked }
                | Step::Replace { from, old, parked, .. }
                | Step::Rename { from, old, parked: Some(parked), .. } => {
                    self.park(from, old, parked)?;
                }
                _ => {}
            }
        }
        // A name that a parked file waits for may be left by one that is not parked.
        for step in steps {
            if let Step::Rename { from, old, to, parked: None } = step {
                self.check(from, old)?;
                self.take_name(from, to)?;
            }
        }
        for step in steps {
            if let Step::Rename { to, parked: Some(parked), .. } = step {
                self.take_name(parked, to)?;
            }
        }
        for step in steps {
            match step {
                Step::Create { target, temporary }
                | Step::Replace { to: target, temporary, .. } => {
                    self.place_new(temporary, target)?;
                }
                Step::Rewrite { target, old, temporary, saved } => {
                    self.rewrite(target, old, temporary, saved)?;
                }
                Step::RewriteInPlace { target, old, saved, ready } => {
                    self.rewrite_in_place(target, old, saved, ready)?;
                }
                _ => {}
            }
        }
        match self.sync {
            true => sync_directories(self.fs, &self.touched),
            false => Ok(()),
        }
    }

    /// Everything is in place: old versions go. False when one of them would not; the patch is
    /// done all the same, and the journal knows what is left. Nobody does once it is removed, so
    /// the removals come to the disk first.
    pub(super) fn finish(self, steps: &[Step]) -> bool {
        let mut all = true;
        let mut gone = Vec::new();
        for step in steps {
            let leftovers = match step {
                Step::Delete { parked, .. } | Step::Replace { parked, .. } => [Some(parked), None],
                Step::Rewrite { temporary, saved, .. } => [Some(temporary), Some(saved)],
                Step::RewriteInPlace { saved, ready, .. } => [Some(saved), Some(ready)],
                Step::Create { .. } | Step::Rename { .. } => [None, None],
            };
            for leftover in leftovers.into_iter().flatten() {
                // Of the two names of a rewrite, one was not used.
                all &= self.fs.unlink(leftover).is_ok() || is_gone(self.fs, leftover);
                gone.push(leftover);
            }
        }
        all && (!self.sync || sync_removals(self.fs, gone).is_ok())
    }

    /// Takes back every step, the last one first.
    pub(super) fn roll_back(self, error: Error) -> CommitError {
        let mut stuck = Vec::new();
        for undo in self.undo.iter().rev() {
            if let Err((path, cause)) = take_back(self.fs, undo, self.sync) {
                stuck.push(format!("{path} ({cause})"));
            }
        }
        if stuck.is_empty() && self.sync {
            // What was taken back must stay so; the journal is marked only after this.
            if let Err(cause) = sync_directories(self.fs, &self.touched) {
                stuck.push(cause.message);
            }
        }
        let Error { code, message, path } = error;
        if !stuck.is_empty() {
            let message = format!(
                "{message}; and the patch could not be undone completely: {}",
                stuck.join(", ")
            );
            return CommitError::Stuck(Error { code: Code::Io, message, path });
        }
        match matches!(code, Code::Io | Code::Internal) {
            true => {
                let message = format!("{message}; nothing was changed");
                CommitError::Fault(Error { code, message, path })
            }
            false => CommitError::Refused(Error { code, message, path }),
        }
    }

    /// The file is still what was read; what this transaction itself did to it aside.
    fn check(&self, place: &Place, old: &Stamp) -> Result<()> {
        match self.renamed.contains(&(old.device, old.inode)) && self.is_displaced(place, old) {
            true => Ok(()),
            false => check_version(self.fs, place, old),
        }
    }

    /// Renames a file out of the way, in its own directory.
    fn park(&mut self, place: &Place, old: &Stamp, parked: &Place) -> Result<()> {
        self.check(place, old)?;
        self.fs
            .rename_new(place, parked)
            .map_err(|cause| Error::io("move", place.shown(), &cause))?;
        self.renamed.insert((old.device, old.inode));
        self.undo.push(Undo::Rename { now: parked.clone(), was: place.clone(), placed: None });
        self.touched.push(parked.clone());
        // What was renamed is what was checked, or someone replaced it in between.
        match self.is_displaced(parked, old) {
            true => Ok(()),
            false => Err(concurrent(place.shown(), "was changed")),
        }
    }

    /// Whether the file at `place` is the one of `old`; a rename changes a file's ctime, so
    /// that is left out.
    fn is_displaced(&self, place: &Place, old: &Stamp) -> bool {
        self.fs.stamp(place).is_ok_and(|now| now.is_same_content(old))
    }

    /// Renames to a name that nobody has.
    fn take_name(&mut self, from: &Place, to: &Place) -> Result<()> {
        let placed = self.fs.stamp(from).ok();
        let renamed = match self.is_case_change(from, to) {
            true => self.fs.rename(from, to),
            false => self.fs.rename_new(from, to),
        };
        renamed.map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => concurrent(to.shown(), "was created"),
            _ => Error::io(&format!("move to {}", to.shown()), from.shown(), &cause),
        })?;
        if let Some(file) = &placed {
            self.renamed.insert((file.device, file.inode));
        }
        self.undo.push(Undo::Rename { now: to.clone(), was: from.clone(), placed });
        self.touched.extend([from.clone(), to.clone()]);
        Ok(())
    }

    /// On a file system that ignores case, `a` → `A` finds its own file at the new name.
    fn is_case_change(&self, from: &Place, to: &Place) -> bool {
        differ_in_case_only(from.canonical(), to.canonical())
            && matches!((self.fs.stamp(from), self.fs.stamp(to)), (Ok(one), Ok(other)) if one.is_same_file(&other))
    }

    fn place_new(&mut self, temporary: &Place, target: &Place) -> Result<()> {
        let placed = self.fs.stamp(temporary).ok();
        self.fs.rename_new(temporary, target).map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => concurrent(target.shown(), "was created"),
            _ => Error::io("create", target.shown(), &cause),
        })?;
        self.undo.push(Undo::Rename { now: target.clone(), was: temporary.clone(), placed });
        self.touched.push(target.clone());
        Ok(())
    }

    /// Exchanges the names of the new and the old version, and looks at what came out. Where
    /// the system cannot exchange, the old version is saved under another name first.
    fn rewrite(
        &mut self,
        target: &Place,
        old: &Stamp,
        temporary: &Place,
        saved: &Place,
    ) -> Result<()> {
        let fault = |cause: io::Error| Error::io("replace", target.shown(), &cause);
        self.check(target, old)?;
        let placed = self.fs.stamp(temporary).ok();
        match self.fs.exchange(temporary, target) {
            Ok(()) => {
                let undo = Undo::Exchange { one: temporary.clone(), other: target.clone(), placed };
                if !self.is_displaced(temporary, old) {
                    // Where that fails, the roll-back tries once more, and keeps it otherwise.
                    if let Err(cause) = exchange_back(self.fs, temporary, target, placed.as_ref()) {
                        self.undo.push(undo);
                        return Err(fault(cause));
                    }
                    return Err(concurrent(target.shown(), "was changed"));
                }
                self.undo.push(undo);
            }
            Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                self.fs.link(target, saved).map_err(fault)?;
                self.renamed.insert((old.device, old.inode));
                if !self.is_displaced(saved, old) {
                    let _ = self.fs.unlink(saved);
                    return Err(concurrent(target.shown(), "was changed"));
                }
                self.fs
                    .rename(temporary, target)
                    .inspect_err(|_| drop(self.fs.unlink(saved)))
                    .map_err(fault)?;
                let (saved, target) = (saved.clone(), target.clone());
                self.undo.push(Undo::Restore { saved, target, placed });
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                return Err(concurrent(target.shown(), "was removed"));
            }
            Err(cause) => return Err(fault(cause)),
        }
        self.touched.push(target.clone());
        Ok(())
    }

    fn rewrite_in_place(
        &mut self,
        target: &Place,
        old: &Stamp,
        saved: &Place,
        ready: &Place,
    ) -> Result<()> {
        self.check(target, old)?;
        let fault = |cause: io::Error| Error::io("rewrite", target.shown(), &cause);
        // A file that only grows cannot be opened for this: then there is nothing to take back.
        let file = self.fs.open_for_rewrite(target).map_err(fault)?;
        self.undo.push(Undo::Rewrite { target: target.clone(), saved: saved.clone() });
        overwrite_open(self.fs, ready, file, self.sync).map_err(fault)
    }
}

/// Writes the content of one file into the inode of another.
pub(super) fn overwrite(
    fs: &dyn FileSystem,
    from: &Place,
    to: &Place,
    sync: bool,
) -> io::Result<()> {
    overwrite_open(fs, from, fs.open_for_rewrite(to)?, sync)
}

fn overwrite_open(
    fs: &dyn FileSystem,
    from: &Place,
    mut target: File,
    sync: bool,
) -> io::Result<()> {
    let source = fs.open(from)?;
    copy_content(fs, &source, &mut target)?;
    fs.set_len(&target, fs.stamp_of(&source)?.size_bytes)?;
    match sync {
        true => fs.sync(&target),
        false => Ok(()),
    }
}

fn take_back(
    fs: &dyn FileSystem,
    undo: &Undo,
    sync: bool,
) -> std::result::Result<(), (String, io::Error)> {
    let (path, result) = match undo {
        Undo::Rename { now, placed, .. } | Undo::Restore { target: now, placed, .. }
            if !is_still(fs, now, placed.as_ref()) =>
        {
            return Ok(());
        }
        Undo::Rename { now, was, .. } => (was.shown(), fs.rename_new(now, was)),
        Undo::Exchange { one, other, placed } => {
            (other.shown(), exchange_back(fs, one, other, placed.as_ref()))
        }
        Undo::Restore { saved, target, .. } => (target.shown(), fs.rename(saved, target)),
        Undo::Rewrite { target, saved } => (target.shown(), overwrite(fs, saved, target, sync)),
    };
    result.map_err(|cause| (path.to_owned(), cause))
}

/// Gives `target` the version back that an exchange took to `temporary`, unless a rival has
/// replaced or removed ours meanwhile: theirs then stands. A rival's version that this very
/// exchange displaces is put back by another, and so on while the rival goes on.
fn exchange_back(
    fs: &dyn FileSystem,
    temporary: &Place,
    target: &Place,
    placed: Option<&Stamp>,
) -> io::Result<()> {
    while fs.stamp(target).is_ok_and(|now| placed.is_some_and(|placed| now.is_same_file(placed))) {
        match fs.exchange(temporary, target) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        }
        if is_still(fs, temporary, placed) {
            return Ok(());
        }
        match fs.exchange(temporary, target) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        }
    }
    Ok(())
}

/// Whether the file that was put at `place` is still there. If someone else has replaced it
/// since, theirs stays: they meant to replace what was there, whichever version that was.
fn is_still(fs: &dyn FileSystem, place: &Place, placed: Option<&Stamp>) -> bool {
    match (fs.stamp(place), placed) {
        (Ok(now), Some(placed)) => now.is_same_file(placed),
        _ => true,
    }
}
