//! Putting staged files in place, one reversible step after the other.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::{CommitError, Ready, check_version, concurrent, temporary_name};
use crate::error::{Code, Error, Result};
use crate::fs::{FileSystem, Place, Stamp};

/// A step that was taken, and what takes it back.
enum Undo {
    /// Rename `now` back to `was`.
    Rename { now: Place, was: Place },
    /// Exchange the two names again.
    Exchange { one: Place, other: Place },
    /// Put the saved old version over the new one.
    Restore { saved: Place, target: Place },
    /// Remove a name that was not there before: the staged file goes back to its own name.
    Remove { target: Place, temporary: Place },
    /// Write the old content into the same inode.
    Rewrite { target: Place, content: Vec<u8> },
}

/// What was published so far.
pub(super) struct Published<'a> {
    fs: &'a dyn FileSystem,
    sync: bool,
    undo: Vec<Undo>,
    /// Names to remove when all went well: old versions and deleted files.
    leftovers: Vec<Place>,
    touched: Vec<Place>,
}

impl<'a> Published<'a> {
    pub(super) fn new(fs: &'a dyn FileSystem, sync: bool) -> Self {
        Published {
            fs,
            sync,
            undo: Vec::new(),
            leftovers: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Takes every step: first names are vacated, then taken, so that moves may chain and
    /// swap; contents come last.
    pub(super) fn publish(&mut self, ready: &[Ready]) -> Result<()> {
        let vacated: BTreeSet<&Path> = ready.iter().filter_map(vacated).collect();
        let mut parked = Vec::new();
        for change in ready {
            match change {
                Ready::Delete { target, stamp } => drop(self.park(target, stamp, true)?),
                Ready::Replace { from, stamp, .. } => drop(self.park(from, stamp, true)?),
                Ready::Rename { from, stamp, to } if vacated.contains(to.canonical()) => {
                    parked.push((self.park(from, stamp, false)?, to));
                }
                _ => {}
            }
        }
        for (from, to) in parked {
            self.take_name(&from, to)?;
        }
        for change in ready {
            match change {
                Ready::Rename { from, stamp, to } if !vacated.contains(to.canonical()) => {
                    check_version(self.fs, from, stamp)?;
                    self.take_name(from, to)?;
                }
                Ready::Create { target, temporary }
                | Ready::Replace {
                    to: target,
                    temporary,
                    ..
                } => {
                    self.place_new(temporary, target)?;
                }
                Ready::Rewrite {
                    target,
                    stamp,
                    temporary,
                } => self.rewrite(target, stamp, temporary)?,
                Ready::RewriteInPlace {
                    target,
                    stamp,
                    content,
                } => {
                    self.rewrite_in_place(target, stamp, content)?;
                }
                _ => {}
            }
        }
        self.sync_directories()
    }

    /// Everything is in place: old versions go. What cannot be removed stays behind under its
    /// temporary name; the patch is done all the same.
    pub(super) fn finish(self) {
        for leftover in &self.leftovers {
            let _ = self.fs.unlink(leftover);
        }
    }

    /// Takes back every step, the last one first.
    pub(super) fn roll_back(self, error: Error) -> CommitError {
        let is_fault = matches!(error.code, Code::Io | Code::Internal);
        let mut stuck = Vec::new();
        for undo in self.undo.iter().rev() {
            if let Err((path, cause)) = take_back(self.fs, undo) {
                stuck.push(format!("{path} ({cause})"));
            }
        }
        if !stuck.is_empty() {
            let message = format!(
                "{}; and the patch could not be undone completely: {}",
                error.message,
                stuck.join(", ")
            );
            return CommitError::Fault(Error {
                code: Code::Io,
                message,
                path: error.path,
            });
        }
        match is_fault {
            true => {
                let message = format!("{}; nothing was changed", error.message);
                CommitError::Fault(Error { message, ..error })
            }
            false => CommitError::Refused(error),
        }
    }

    /// Renames a file out of the way, in its own directory.
    fn park(&mut self, place: &Place, stamp: &Stamp, is_leftover: bool) -> Result<Place> {
        check_version(self.fs, place, stamp)?;
        let parked = place.sibling(temporary_name());
        self.fs
            .rename_new(place, &parked)
            .map_err(|cause| Error::io("move", place.shown(), &cause))?;
        self.undo.push(Undo::Rename {
            now: parked.clone(),
            was: place.clone(),
        });
        self.touched.push(parked.clone());
        // What was renamed is what was checked, or someone replaced it in between.
        if !self.is_displaced(&parked, stamp) {
            return Err(concurrent(place.shown(), "was changed"));
        }
        if is_leftover {
            self.leftovers.push(parked.clone());
        }
        Ok(parked)
    }

    /// Whether the file at `place` is the one of `stamp`; a rename changes a file's ctime, so
    /// that is left out.
    fn is_displaced(&self, place: &Place, stamp: &Stamp) -> bool {
        self.fs.stamp(place).is_ok_and(|now| {
            now.is_same_file(stamp)
                && (now.size_bytes, now.modified_ns) == (stamp.size_bytes, stamp.modified_ns)
        })
    }

    /// Renames to a name that nobody has.
    fn take_name(&mut self, from: &Place, to: &Place) -> Result<()> {
        let renamed = match self.is_case_change(from, to) {
            true => self.fs.rename(from, to),
            false => self.fs.rename_new(from, to),
        };
        renamed.map_err(|cause| appeared("move", to, &cause))?;
        self.undo.push(Undo::Rename {
            now: to.clone(),
            was: from.clone(),
        });
        self.touched.extend([from.clone(), to.clone()]);
        Ok(())
    }

    /// On a file system that ignores case, `a` → `A` finds its own file at the new name.
    fn is_case_change(&self, from: &Place, to: &Place) -> bool {
        let folded = |place: &Place| place.canonical().to_string_lossy().to_lowercase();
        from.canonical() != to.canonical()
            && folded(from) == folded(to)
            && matches!((self.fs.stamp(from), self.fs.stamp(to)), (Ok(one), Ok(other)) if one.is_same_file(&other))
    }

    fn place_new(&mut self, temporary: &Place, target: &Place) -> Result<()> {
        self.fs
            .rename_new(temporary, target)
            .map_err(|cause| appeared("create", target, &cause))?;
        self.undo.push(Undo::Remove {
            target: target.clone(),
            temporary: temporary.clone(),
        });
        self.touched.push(target.clone());
        Ok(())
    }

    /// Exchanges the names of the new and the old version, and looks at what came out. Where
    /// the system cannot exchange, the old version is saved under another name first.
    fn rewrite(&mut self, target: &Place, stamp: &Stamp, temporary: &Place) -> Result<()> {
        let fault = |cause: io::Error| Error::io("replace", target.shown(), &cause);
        check_version(self.fs, target, stamp)?;
        match self.fs.exchange(temporary, target) {
            Ok(()) => {
                self.undo.push(Undo::Exchange {
                    one: temporary.clone(),
                    other: target.clone(),
                });
                if !self.is_displaced(temporary, stamp) {
                    return Err(concurrent(target.shown(), "was changed"));
                }
                self.leftovers.push(temporary.clone());
            }
            Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                let saved = target.sibling(temporary_name());
                self.fs.link(target, &saved).map_err(fault)?;
                self.leftovers.push(saved.clone());
                if !self.is_displaced(&saved, stamp) {
                    let _ = self.fs.unlink(&saved);
                    return Err(concurrent(target.shown(), "was changed"));
                }
                self.undo.push(Undo::Restore {
                    saved,
                    target: target.clone(),
                });
                self.fs.rename(temporary, target).map_err(fault)?;
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                return Err(concurrent(target.shown(), "was removed"));
            }
            Err(cause) => return Err(fault(cause)),
        }
        self.touched.push(target.clone());
        Ok(())
    }

    fn rewrite_in_place(&mut self, target: &Place, stamp: &Stamp, content: &[u8]) -> Result<()> {
        let fault = |cause: io::Error| Error::io("rewrite", target.shown(), &cause);
        check_version(self.fs, target, stamp)?;
        let mut file = self.fs.open_for_rewrite(target).map_err(fault)?;
        let mut old = Vec::new();
        self.fs.read(&mut file, u64::MAX, &mut old).map_err(fault)?;
        self.undo.push(Undo::Rewrite {
            target: target.clone(),
            content: old,
        });
        self.fs.rewind(&mut file).map_err(fault)?;
        self.fs.write(&mut file, content).map_err(fault)?;
        self.fs
            .set_len(&file, content.len() as u64)
            .map_err(fault)?;
        if self.sync {
            self.fs.sync(&file).map_err(fault)?;
        }
        Ok(())
    }

    fn sync_directories(&self) -> Result<()> {
        if !self.sync {
            return Ok(());
        }
        let mut done = BTreeSet::new();
        for place in &self.touched {
            if done.insert(place.canonical().parent()) {
                self.fs
                    .sync_dir(place)
                    .map_err(|cause| Error::io("flush the directory of", place.shown(), &cause))?;
            }
        }
        Ok(())
    }
}

/// The name that a change leaves free.
fn vacated(change: &Ready) -> Option<&Path> {
    match change {
        Ready::Delete { target, .. } => Some(target.canonical()),
        Ready::Rename { from, .. } | Ready::Replace { from, .. } => Some(from.canonical()),
        _ => None,
    }
}

/// The error of taking a name that was free when the patch was checked.
fn appeared(action: &str, place: &Place, cause: &io::Error) -> Error {
    match cause.kind() {
        io::ErrorKind::AlreadyExists => concurrent(place.shown(), "was created"),
        _ => Error::io(action, place.shown(), cause),
    }
}

fn take_back(fs: &dyn FileSystem, undo: &Undo) -> std::result::Result<(), (String, io::Error)> {
    let (path, result) = match undo {
        Undo::Rename { now, was } => (was.shown(), fs.rename_new(now, was)),
        Undo::Exchange { one, other } => (other.shown(), fs.exchange(one, other)),
        Undo::Restore { saved, target } => (target.shown(), fs.rename(saved, target)),
        Undo::Remove { target, temporary } => (target.shown(), fs.rename_new(target, temporary)),
        Undo::Rewrite { target, content } => (target.shown(), rewrite_back(fs, target, content)),
    };
    result.map_err(|cause| (path.to_owned(), cause))
}

fn rewrite_back(fs: &dyn FileSystem, target: &Place, content: &[u8]) -> io::Result<()> {
    let mut file = fs.open_for_rewrite(target)?;
    fs.write(&mut file, content)?;
    fs.set_len(&file, content.len() as u64)?;
    fs.sync(&file)
}
