//! Publishing: moves staged files to their names by reversible actions.

use std::collections::BTreeSet;
use std::io;

use super::files::{is_gone, overwrite_open, stamp_if_exists, sync_directories, sync_removals};
use super::step::{Action, actions};
use super::undo::{Begun, Undo, exchange_back, undo};
use super::{CommitError, Durability, ReadyStep, check_version, concurrent};
use crate::fs::{FileSystem, Place, Stamp, differ_in_case_only};
use hashline_base::error::{Code, Error, Result};

/// The actions that were published so far.
pub(super) struct Published<'a> {
    fs: &'a dyn FileSystem,
    durability: Durability,
    /// The actions that were started, in the order of publishing.
    begun: Vec<Begun>,
    touched: Vec<Place>,
    /// The inodes of files of which one name was changed: this changes the ctime, which all their
    /// names share.
    renamed: BTreeSet<(u64, u64)>,
}

impl<'a> Published<'a> {
    pub(super) fn new(fs: &'a dyn FileSystem, durability: Durability) -> Self {
        let (begun, touched, renamed) = (Vec::new(), Vec::new(), BTreeSet::new());
        Published { fs, durability, begun, touched, renamed }
    }

    /// Publishes all steps, in the order of [`actions`].
    pub(super) fn publish(&mut self, steps: &[ReadyStep]) -> Result<()> {
        for (_, action) in actions(steps) {
            match action {
                Action::Park { from, old, parked } => self.park(from, old, parked)?,
                Action::Move { from, old, to } => {
                    self.check(from, old)?;
                    self.take_name(from, to)?;
                }
                Action::Unpark { parked, to } => self.take_name(parked, to)?,
                Action::Install { temporary, target } => self.install(temporary, target)?,
                Action::Exchange { target, old, temporary, saved } => {
                    self.rewrite(target, old, temporary, saved)?;
                }
                Action::Overwrite { target, old, saved, ready } => {
                    self.rewrite_in_place(target, old, saved, ready)?;
                }
            }
        }
        if self.durability.syncs() { sync_directories(self.fs, &self.touched) } else { Ok(()) }
    }

    /// Removes the old versions. Returns false if one of them cannot be removed: the patch is
    /// published anyway, and the journal lists what remains. The removals are flushed before the
    /// journal is removed, because nothing else lists these files.
    pub(super) fn finish(self, steps: &[ReadyStep]) -> bool {
        let mut all = true;
        let mut gone = Vec::new();
        for leftover in steps.iter().flat_map(ReadyStep::leftovers) {
            // A rewrite uses only one of its two temporary names.
            all &= self.fs.unlink(leftover).is_ok() || is_gone(self.fs, leftover);
            gone.push(leftover);
        }
        all && (!self.durability.syncs() || sync_removals(self.fs, gone).is_ok())
    }

    /// Undoes every action, the last one first.
    pub(super) fn roll_back(self, error: Error) -> CommitError {
        let mut stuck = Vec::new();
        for begun in self.begun.iter().rev() {
            if let Err(cause) = undo(self.fs, begun, self.durability) {
                stuck.push(format!("{} ({cause})", begun.undo.shown()));
            }
        }
        if stuck.is_empty() && self.durability.syncs() {
            // The roll-back must be durable before the journal is marked.
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

    /// Performs an action after recording its inverse: an action that reports a failure may have
    /// been done.
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

    /// Checks that the file is still the version that was read, ignoring changes by this
    /// transaction.
    fn check(&self, place: &Place, old: &Stamp) -> Result<()> {
        let fault = |cause| Error::io("stat", place.shown(), &cause);
        if self.renamed.contains(&(old.device, old.inode))
            && self.is_same_content_as(place, old).map_err(fault)?
        {
            return Ok(());
        }
        check_version(self.fs, place, old)
    }

    /// Renames a file to its temporary name in the same directory.
    fn park(&mut self, place: &Place, old: &Stamp, parked: &Place) -> Result<()> {
        self.check(place, old)?;
        let fault = |cause: io::Error| Error::io("move", place.shown(), &cause);
        self.touched.push(parked.clone());
        let undo = Undo::Park { now: parked.clone(), was: place.clone() };
        self.take(undo, |fs| fs.rename_new(place, parked)).map_err(fault)?;
        self.renamed.insert((old.device, old.inode));
        // A different file means that another process replaced it between check and rename.
        if self.is_same_content_as(parked, old).map_err(fault)? {
            return Ok(());
        }
        Err(concurrent(place.shown(), "was changed"))
    }

    /// Whether the file at `place` is that of `old`. Ignores the ctime, which a rename changes.
    fn is_same_content_as(&self, place: &Place, old: &Stamp) -> io::Result<bool> {
        Ok(stamp_if_exists(self.fs, place)?.is_some_and(|now| now.is_same_content(old)))
    }

    /// Renames to a name that must not exist.
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

    /// On a case-insensitive file system, renaming `a` to `A` finds the file itself at the new
    /// name.
    fn is_case_change(&self, from: &Place, to: &Place) -> io::Result<bool> {
        if !differ_in_case_only(from.canonical(), to.canonical()) {
            return Ok(false);
        }
        let files = stamp_if_exists(self.fs, from)?.zip(stamp_if_exists(self.fs, to)?);
        Ok(files.is_some_and(|(one, other)| one.is_same_file(&other)))
    }

    fn install(&mut self, temporary: &Place, target: &Place) -> Result<()> {
        let fault = |cause: io::Error| match cause.kind() {
            io::ErrorKind::AlreadyExists => concurrent(target.shown(), "was created"),
            _ => Error::io("create", target.shown(), &cause),
        };
        let placed = self.fs.stamp(temporary).map_err(fault)?;
        self.touched.push(target.clone());
        let undo = Undo::Rename { now: target.clone(), was: temporary.clone(), placed };
        self.take(undo, |fs| fs.rename_new(temporary, target)).map_err(fault)
    }

    /// Exchanges the names of the new and the old version, and checks the file that was displaced.
    /// Where the system has no exchange, the old version gets a second name first.
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
        if self.is_same_content_as(temporary, old).map_err(fault)? {
            return Ok(());
        }
        // Exchanges back immediately, before other processes read the file. If that fails, the
        // roll-back tries again.
        exchange_back(self.fs, temporary, target, &placed).map_err(fault)?;
        self.begun.pop();
        Err(concurrent(target.shown(), "was changed"))
    }

    /// Renames the new version over the old one, after the old one got a second name.
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
        if !self.is_same_content_as(saved, old).map_err(fault)? {
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
        // Opening fails for an append-only file; then there is nothing to undo.
        let file = self.fs.open_for_rewrite(target).map_err(fault)?;
        let undo = Undo::Rewrite { target: target.clone(), saved: saved.clone(), old: *old };
        let durability = self.durability;
        self.take(undo, |fs| overwrite_open(fs, ready, file, durability)).map_err(fault)
    }
}
