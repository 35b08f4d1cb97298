//! Undoing actions. The inverse of an action is recorded before the action is performed, and
//! depends on the files it finds: an action that reported an error may have been done, and a file
//! whose stamp cannot be read is neither missing nor that of another process.

use std::io;

use super::Durability;
use super::files::{overwrite, stamp_if_exists};
use crate::fs::{FileSystem, Place, Stamp, differ_in_case_only};

/// An action that was started, and whether the system reported success.
pub(super) struct Begun {
    pub(super) undo: Undo,
    pub(super) is_certain: bool,
}

/// The inverse of an action.
pub(super) enum Undo {
    /// Rename the file at `now` back to `was`.
    Park { now: Place, was: Place },
    /// Rename `placed` back from `now` to `was`.
    Rename { now: Place, was: Place, placed: Stamp },
    /// Exchange the two names again.
    Exchange { temporary: Place, target: Place, old: Stamp, placed: Stamp },
    /// Rename the saved old version over the new one, which gets its temporary name back.
    Restore { saved: Place, temporary: Place, target: Place, placed: Stamp },
    /// Write the saved content back into the same inode.
    Rewrite { target: Place, saved: Place, old: Stamp },
}

impl Undo {
    /// The path for error messages.
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

/// Undoes an action. If another process has replaced the published file, that file stays: the
/// process meant to replace whatever was there.
pub(super) fn undo(fs: &dyn FileSystem, begun: &Begun, durability: Durability) -> io::Result<()> {
    match &begun.undo {
        Undo::Park { now, was } => match stamp_if_exists(fs, now)? {
            None if !begun.is_certain => Ok(()),
            _ => rename_back(fs, now, was),
        },
        Undo::Rename { now, was, placed } => match stamp_if_exists(fs, now)? {
            Some(there) if there.is_same_file(placed) => rename_back(fs, now, was),
            None if begun.is_certain => rename_back(fs, now, was),
            _ => Ok(()),
        },
        Undo::Exchange { temporary, target, old, placed } => {
            exchange_back(fs, temporary, target, placed)?;
            match stamp_if_exists(fs, temporary)? {
                Some(there) if ![old, placed].iter().any(|ours| there.is_same_file(ours)) => {
                    Err(io::Error::other(
                        "a version of another process was left under a temporary name",
                    ))
                }
                _ => Ok(()),
            }
        }
        Undo::Restore { saved, temporary, target, placed } => {
            restore(fs, saved, temporary, target, placed)
        }
        Undo::Rewrite { target, saved, old } => match stamp_if_exists(fs, target)? {
            Some(there) if there.is_same_file(old) => overwrite(fs, saved, target, durability),
            _ => Ok(()),
        },
    }
}

/// Renames a file to its old name, which is free or is the same file: a rename that consists of
/// link and unlink can have been interrupted in between.
fn rename_back(fs: &dyn FileSystem, now: &Place, was: &Place) -> io::Result<()> {
    match fs.rename_new(now, was) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            let file = stamp_if_exists(fs, now)?.zip(stamp_if_exists(fs, was)?);
            match file.filter(|(here, there)| here.is_same_file(there)) {
                // On a case-insensitive file system, both are spellings of the same name.
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

/// Exchanges `target` back with the version at `temporary`, unless another process has replaced or
/// removed the new version; then its change stays. If the exchange displaces a version that another
/// process just wrote, that is exchanged back, and so on.
pub(super) fn exchange_back(
    fs: &dyn FileSystem,
    temporary: &Place,
    target: &Place,
    placed: &Stamp,
) -> io::Result<()> {
    let is_ours = |place: &Place| {
        Ok::<_, io::Error>(
            stamp_if_exists(fs, place)?.is_some_and(|there| there.is_same_file(placed)),
        )
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
            // Another process removed the old version and may do so.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        }
    }
    Ok(())
}

/// Restores the old version where names cannot be exchanged. The new version gets its temporary
/// name back: if another action cannot be undone, a recovery needs it to finish the patch.
fn restore(
    fs: &dyn FileSystem,
    saved: &Place,
    temporary: &Place,
    target: &Place,
    placed: &Stamp,
) -> io::Result<()> {
    let is_ours = |there: Option<Stamp>| there.is_some_and(|there| there.is_same_file(placed));
    if is_ours(stamp_if_exists(fs, target)?) {
        match fs.link(target, temporary) {
            Err(cause)
                if cause.kind() == io::ErrorKind::AlreadyExists
                    && is_ours(stamp_if_exists(fs, temporary)?) => {}
            other => other?,
        }
        return fs.rename(saved, target);
    }
    // The old version was not replaced, or another process has replaced it since.
    match fs.unlink(saved) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}
