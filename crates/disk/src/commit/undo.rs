//! Taking steps back. The inverse of a step is noted before the system is asked for it, and goes
//! by what it finds: a call that reported a fault may have done its work, and a file that cannot
//! be looked at is neither gone nor a rival's.

use std::io;

use super::Durability;
use super::files::{look, overwrite};
use crate::fs::{FileSystem, Place, Stamp, differ_in_case_only};

/// A step that was begun, and whether the system said that it was done.
pub(super) struct Begun {
    pub(super) undo: Undo,
    pub(super) is_certain: bool,
}

/// What takes a step back.
pub(super) enum Undo {
    /// Rename whatever waits at `now` back to `was`.
    Park { now: Place, was: Place },
    /// Rename `placed` back from `now` to `was`.
    Rename { now: Place, was: Place, placed: Stamp },
    /// Exchange the two names again.
    Exchange { temporary: Place, target: Place, old: Stamp, placed: Stamp },
    /// Put the saved old version over the new one, which gets its temporary name back.
    Restore { saved: Place, temporary: Place, target: Place, placed: Stamp },
    /// Write the saved content back into the same inode.
    Rewrite { target: Place, saved: Place, old: Stamp },
}

impl Undo {
    /// The name that an error is about.
    pub(super) fn shown(&self) -> &str {
        match self {
            Undo::Park { was: place, .. }
            | Undo::Rename { was: place, .. }
            | Undo::Exchange { target: place, .. }
            | Undo::Restore { target: place, .. }
            | Undo::Rewrite { target: place, .. } => place.shown(),
        }
    }
}

/// Takes a step back. Where someone else has replaced what was put in place, theirs stays: they
/// meant to replace what was there, whichever version that was.
pub(super) fn take_back(
    fs: &dyn FileSystem,
    begun: &Begun,
    durability: Durability,
) -> io::Result<()> {
    match &begun.undo {
        Undo::Park { now, was } => match look(fs, now)? {
            None if !begun.is_certain => Ok(()),
            _ => rename_back(fs, now, was),
        },
        Undo::Rename { now, was, placed } => match look(fs, now)? {
            Some(there) if there.is_same_file(placed) => rename_back(fs, now, was),
            None if begun.is_certain => rename_back(fs, now, was),
            _ => Ok(()),
        },
        Undo::Exchange { temporary, target, old, placed } => {
            exchange_back(fs, temporary, target, placed)?;
            match look(fs, temporary)? {
                Some(there) if ![old, placed].iter().any(|ours| there.is_same_file(ours)) => {
                    Err(io::Error::other("another process's version is kept under another name"))
                }
                _ => Ok(()),
            }
        }
        Undo::Restore { saved, temporary, target, placed } => {
            restore(fs, saved, temporary, target, placed)
        }
        Undo::Rewrite { target, saved, old } => match look(fs, target)? {
            Some(there) if there.is_same_file(old) => overwrite(fs, saved, target, durability),
            _ => Ok(()),
        },
    }
}

/// Renames to the old name, which is free, or has the file already: a rename that is made of a
/// link and an unlink can have stopped between the two.
fn rename_back(fs: &dyn FileSystem, now: &Place, was: &Place) -> io::Result<()> {
    match fs.rename_new(now, was) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            let file = look(fs, now)?.zip(look(fs, was)?);
            match file.filter(|(here, there)| here.is_same_file(there)) {
                // Where case is ignored, it is one name.
                Some(_) if differ_in_case_only(now.canonical(), was.canonical()) => {
                    fs.rename(now, was)
                }
                Some((here, _)) if here.links > 1 => fs.unlink(now),
                _ => Err(cause),
            }
        }
        other => other,
    }
}

/// Gives `target` the version back that an exchange took to `temporary`, unless a rival has
/// replaced or removed ours meanwhile: theirs then stands. A rival's version that this very
/// exchange displaces is put back by another, and so on while the rival goes on.
pub(super) fn exchange_back(
    fs: &dyn FileSystem,
    temporary: &Place,
    target: &Place,
    placed: &Stamp,
) -> io::Result<()> {
    let is_ours = |place: &Place| {
        Ok::<_, io::Error>(look(fs, place)?.is_some_and(|there| there.is_same_file(placed)))
    };
    while is_ours(target)? {
        match fs.exchange(temporary, target) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound && !is_ours(target)? => {
                return Ok(());
            }
            other => other?,
        }
        if is_ours(temporary)? {
            return Ok(());
        }
        match fs.exchange(temporary, target) {
            // Whoever removed the old version removed theirs.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        }
    }
    Ok(())
}

/// Puts the old version back where names cannot be exchanged. The new version keeps a name: should
/// another step not be taken back, a recovery needs it to finish the patch.
fn restore(
    fs: &dyn FileSystem,
    saved: &Place,
    temporary: &Place,
    target: &Place,
    placed: &Stamp,
) -> io::Result<()> {
    let is_ours = |there: Option<Stamp>| there.is_some_and(|there| there.is_same_file(placed));
    if is_ours(look(fs, target)?) {
        match fs.link(target, temporary) {
            Err(cause)
                if cause.kind() == io::ErrorKind::AlreadyExists
                    && is_ours(look(fs, temporary)?) => {}
            other => other?,
        }
        return fs.rename(saved, target);
    }
    // The old version was not replaced, or by a rival by now.
    match fs.unlink(saved) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}
