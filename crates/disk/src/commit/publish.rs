//! Putting staged files in place, one reversible deed after the other.

use std::collections::BTreeSet;
use std::io;

use super::files::{is_gone, look, overwrite_open, sync_directories, sync_removals};
use super::step::{Deed, deeds};
use super::undo::{Begun, Undo, exchange_back, take_back};
use super::{CommitError, Durability, ReadyStep, check_version, concurrent};
use crate::fs::{FileSystem, Place, Stamp, differ_in_case_only};
use hashline_base::error::{Code, Error, Result};

/// What was published so far.
pub(super) struct Published<'a> {
    fs: &'a dyn FileSystem,
    durability: Durability,
    /// The steps that were begun, in order.
    begun: Vec<Begun>,
    touched: Vec<Place>,
    /// Files of which one name was changed: that changes the ctime under all their names.
    renamed: BTreeSet<(u64, u64)>,
}

impl<'a> Published<'a> {
    pub(super) fn new(fs: &'a dyn FileSystem, durability: Durability) -> Self {
        let (begun, touched, renamed) = (Vec::new(), Vec::new(), BTreeSet::new());
        Published { fs, durability, begun, touched, renamed }
    }

    /// Puts everything in place, in the order of [`deeds`].
    pub(super) fn publish(&mut self, steps: &[ReadyStep]) -> Result<()> {
        for (_, deed) in deeds(steps) {
            match deed {
                Deed::Park { from, old, parked } => self.park(from, old, parked)?,
                Deed::Move { from, old, to } => {
                    self.check(from, old)?;
                    self.take_name(from, to)?;
                }
                Deed::Arrive { parked, to } => self.take_name(parked, to)?,
                Deed::Place { temporary, target } => self.place_new(temporary, target)?,
                Deed::Exchange { target, old, temporary, saved } => {
                    self.rewrite(target, old, temporary, saved)?;
                }
                Deed::Overwrite { target, old, saved, ready } => {
                    self.rewrite_in_place(target, old, saved, ready)?;
                }
            }
        }
        if self.durability.syncs() { sync_directories(self.fs, &self.touched) } else { Ok(()) }
    }

    /// Everything is in place: old versions go. False when one of them would not; the patch is
    /// done all the same, and the journal knows what is left. Nobody does once it is removed, so
    /// the removals come to the disk first.
    pub(super) fn finish(self, steps: &[ReadyStep]) -> bool {
        let mut all = true;
        let mut gone = Vec::new();
        for leftover in steps.iter().flat_map(ReadyStep::leftovers) {
            // Of the two names of a rewrite, one was not used.
            all &= self.fs.unlink(leftover).is_ok() || is_gone(self.fs, leftover);
            gone.push(leftover);
        }
        all && (!self.durability.syncs() || sync_removals(self.fs, gone).is_ok())
    }

    /// Takes back every step, the last one first.
    pub(super) fn roll_back(self, error: Error) -> CommitError {
        let mut stuck = Vec::new();
        for begun in self.begun.iter().rev() {
            if let Err(cause) = take_back(self.fs, begun, self.durability) {
                stuck.push(format!("{} ({cause})", begun.undo.shown()));
            }
        }
        if stuck.is_empty() && self.durability.syncs() {
            // What was taken back must stay so; the journal is marked only after this.
            if let Err(cause) = sync_directories(self.fs, &self.touched) {
                stuck.push(cause.message.into());
            }
        }
        if !stuck.is_empty() {
            let stuck = stuck.join(", ");
            let after = format!("; and the patch could not be rolled back completely: {stuck}");
            return CommitError::Stuck(error.within("", after).with_code(Code::Io));
        }
        if matches!(error.code, Code::Io | Code::Internal) {
            CommitError::Fault(error.within("", "; nothing was changed"))
        } else {
            CommitError::Refused(error)
        }
    }

    /// Takes a step that `undo` takes back, also when it only seems to have failed.
    fn take(
        &mut self,
        undo: Undo,
        step: impl FnOnce(&dyn FileSystem) -> io::Result<()>,
    ) -> io::Result<()> {
        self.begun.push(Begun { undo, is_certain: false });
        step(self.fs)?;
        if let Some(begun) = self.begun.last_mut() {
            begun.is_certain = true;
        }
        Ok(())
    }

    /// The file is still what was read; what this transaction itself did to it aside.
    fn check(&self, place: &Place, old: &Stamp) -> Result<()> {
        let fault = |cause| Error::io("look at", place.shown(), &cause);
        if self.renamed.contains(&(old.device, old.inode))
            && self.is_displaced(place, old).map_err(fault)?
        {
            return Ok(());
        }
        check_version(self.fs, place, old)
    }

    /// Renames a file out of the way, in its own directory.
    fn park(&mut self, place: &Place, old: &Stamp, parked: &Place) -> Result<()> {
        self.check(place, old)?;
        let fault = |cause: io::Error| Error::io("move", place.shown(), &cause);
        self.touched.push(parked.clone());
        let undo = Undo::Park { now: parked.clone(), was: place.clone() };
        self.take(undo, |fs| fs.rename_new(place, parked)).map_err(fault)?;
        self.renamed.insert((old.device, old.inode));
        // What was renamed is what was checked, or someone replaced it in between.
        if self.is_displaced(parked, old).map_err(fault)? {
            return Ok(());
        }
        Err(concurrent(place.shown(), "was changed"))
    }

    /// Whether the file at `place` is the one of `old`; a rename changes a file's ctime, so
    /// that is left out.
    fn is_displaced(&self, place: &Place, old: &Stamp) -> io::Result<bool> {
        Ok(look(self.fs, place)?.is_some_and(|now| now.is_same_content(old)))
    }

    /// Renames to a name that nobody has.
    fn take_name(&mut self, from: &Place, to: &Place) -> Result<()> {
        let fault = |cause: io::Error| match cause.kind() {
            io::ErrorKind::AlreadyExists => concurrent(to.shown(), "was created"),
            _ => Error::io(&format!("move to {}", to.shown()), from.shown(), &cause),
        };
        let placed = self.fs.stamp(from).map_err(fault)?;
        let is_case_change = self.is_case_change(from, to).map_err(fault)?;
        self.touched.extend([from.clone(), to.clone()]);
        let undo = Undo::Rename { now: to.clone(), was: from.clone(), placed };
        let rename = |fs: &dyn FileSystem| {
            if is_case_change { fs.rename(from, to) } else { fs.rename_new(from, to) }
        };
        self.take(undo, rename).map_err(fault)?;
        self.renamed.insert((placed.device, placed.inode));
        Ok(())
    }

    /// On a file system that ignores case, `a` → `A` finds its own file at the new name.
    fn is_case_change(&self, from: &Place, to: &Place) -> io::Result<bool> {
        if !differ_in_case_only(from.canonical(), to.canonical()) {
            return Ok(false);
        }
        let files = look(self.fs, from)?.zip(look(self.fs, to)?);
        Ok(files.is_some_and(|(one, other)| one.is_same_file(&other)))
    }

    fn place_new(&mut self, temporary: &Place, target: &Place) -> Result<()> {
        let fault = |cause: io::Error| match cause.kind() {
            io::ErrorKind::AlreadyExists => concurrent(target.shown(), "was created"),
            _ => Error::io("create", target.shown(), &cause),
        };
        let placed = self.fs.stamp(temporary).map_err(fault)?;
        self.touched.push(target.clone());
        let undo = Undo::Rename { now: target.clone(), was: temporary.clone(), placed };
        self.take(undo, |fs| fs.rename_new(temporary, target)).map_err(fault)
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
        let placed = self.fs.stamp(temporary).map_err(fault)?;
        self.touched.push(target.clone());
        let undo = Undo::Exchange {
            temporary: temporary.clone(),
            target: target.clone(),
            old: *old,
            placed,
        };
        match self.take(undo, |fs| fs.exchange(temporary, target)) {
            Ok(()) => {}
            Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                self.begun.pop();
                return self.replace(target, old, temporary, saved, placed);
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                return Err(concurrent(target.shown(), "was removed"));
            }
            Err(cause) => return Err(fault(cause)),
        }
        if self.is_displaced(temporary, old).map_err(fault)? {
            return Ok(());
        }
        // At once, before others see it. Where that fails, the roll-back tries once more.
        exchange_back(self.fs, temporary, target, &placed).map_err(fault)?;
        self.begun.pop();
        Err(concurrent(target.shown(), "was changed"))
    }

    /// Renames the new version over the old one, which gets a second name before.
    fn replace(
        &mut self,
        target: &Place,
        old: &Stamp,
        temporary: &Place,
        saved: &Place,
        placed: Stamp,
    ) -> Result<()> {
        let fault = |cause: io::Error| Error::io("replace", target.shown(), &cause);
        let undo = Undo::Restore {
            saved: saved.clone(),
            temporary: temporary.clone(),
            target: target.clone(),
            placed,
        };
        self.take(undo, |fs| fs.link(target, saved)).map_err(fault)?;
        self.renamed.insert((old.device, old.inode));
        if !self.is_displaced(saved, old).map_err(fault)? {
            return Err(concurrent(target.shown(), "was changed"));
        }
        self.fs.rename(temporary, target).map_err(fault)
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
        let undo = Undo::Rewrite { target: target.clone(), saved: saved.clone(), old: *old };
        let durability = self.durability;
        self.take(undo, |fs| overwrite_open(fs, ready, file, durability)).map_err(fault)
    }
}
