//! Recovery: what a dead process left is finished when its journal says `committed`, and
//! cleared away when it does not.
//!
//! Every action asks first whether the file is one that the journal knows: by inode, size
//! and time of change. What matches neither the old nor the new version was changed by
//! someone else and is left as it is; the version that the patch had for it is kept in the
//! state directory, and the report says so. Running a recovery twice, or half of one, is
//! harmless.

mod torn;
mod transaction;

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Instant;

use super::journal::{FINISHED, Record, UNFINISHED, parse_journal};
use super::{LockKey, StateDir};
use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::fs::{FileKind, FileSystem, Place};
use transaction::{old_mark, targets, work_off};

/// A file that someone else changed between a crash and the recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file, left as it is.
    pub path: String,
    /// Where the version of the patch is kept.
    pub kept: Vec<String>,
}

/// What a recovery found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Patches that were finished: their files.
    pub finished: Vec<Vec<String>>,
    /// Patches that were cleared away, so that nothing of them is left: their files.
    pub undone: Vec<Vec<String>>,
    /// Files that someone else changed meanwhile.
    pub conflicts: Vec<Conflict>,
    /// Journals of processes that are alive.
    pub live: u64,
    /// Journals that are damaged or of another version; they are kept and not acted on.
    pub damaged: Vec<String>,
    /// Journals that could not be worked off, and why; they are kept.
    pub failed: Vec<Error>,
}

impl RecoveryReport {
    /// Whether there was nothing to recover.
    pub fn is_empty(&self) -> bool {
        *self == RecoveryReport { live: self.live, ..RecoveryReport::default() }
    }
}

/// Works off every journal of a dead process in the state directory.
pub fn recover_transactions(
    fs: &dyn FileSystem,
    state: &StateDir,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<RecoveryReport> {
    let mut report = RecoveryReport::default();
    let directory = state.journals_path();
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(report),
        Err(cause) => return Err(Error::io("read", &directory.to_string_lossy(), &cause)),
    };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names {
        cancel.check()?;
        let ending = Path::new(&name).extension();
        if ending.is_some_and(|ending| ending == FINISHED || ending == UNFINISHED) {
            let place = state.file("the journal", name)?;
            one_journal(fs, state, &place, deadline, cancel, &mut report)?;
        }
    }
    if !report.is_empty() {
        super::lock::sweep(state);
    }
    Ok(report)
}

/// Whether there is a journal about one of the files of `keys`, whose locks the caller holds:
/// then it is that of a dead process, and perhaps being recovered by another.
pub fn is_abandoned(state: &StateDir, keys: &[LockKey]) -> Result<bool> {
    let Ok(entries) = std::fs::read_dir(state.journals_path()) else { return Ok(false) };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || entry.path().extension().is_none_or(|ending| ending != FINISHED) {
            continue;
        }
        // One that is gone by now was worked off.
        let Ok(bytes) = std::fs::read(entry.path()) else { continue };
        let records = parse_journal(&bytes).unwrap_or_default();
        let Some(Record::Begin { steps, .. }) = records.first() else { continue };
        let paths = steps.iter().flat_map(targets).map(|path| LockKey::of_path(&path.path(), ""));
        let files = steps.iter().filter_map(old_mark).map(|old| LockKey::of_inode(old.file(), ""));
        if paths.chain(files).any(|named| keys.iter().any(|key| key.is_same(&named))) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn one_journal(
    fs: &dyn FileSystem,
    state: &StateDir,
    place: &Place,
    deadline: Instant,
    cancel: &Cancel,
    report: &mut RecoveryReport,
) -> Result<()> {
    match fs.stamp(place) {
        // A FIFO would block whoever opens it.
        Ok(stamp) if stamp.kind != FileKind::File => {
            report.damaged.push(shown(place));
            return Ok(());
        }
        Ok(_) => {}
        // Its owner, or another recovery, is done with it.
        Err(_) => return Ok(()),
    }
    let file = match File::open(place.canonical()) {
        Ok(file) => file,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => {
            report.failed.push(Error::io("open", &shown(place), &cause));
            return Ok(());
        }
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            report.live += 1;
            return Ok(());
        }
        Err(TryLockError::Error(cause)) => return Err(Error::io("lock", &shown(place), &cause)),
    }
    if !fs
        .stamp(place)
        .is_ok_and(|there| fs.stamp_of(&file).is_ok_and(|held| there.is_same_file(&held)))
    {
        return Ok(());
    }
    if place.canonical().extension().is_some_and(|ending| ending == UNFINISHED) {
        // Its owner died before it had done anything.
        return fs.unlink(place).map_err(|cause| Error::io("remove", &shown(place), &cause));
    }
    let mut bytes = Vec::new();
    fs.read(
        &mut file.try_clone().map_err(|cause| Error::io("read", &shown(place), &cause))?,
        u64::MAX,
        &mut bytes,
    )
    .map_err(|cause| Error::io("read", &shown(place), &cause))?;
    let Some(records) = parse_journal(&bytes) else {
        report.damaged.push(shown(place));
        return Ok(());
    };
    match work_off(fs, state, &records, deadline, cancel, report) {
        Ok(()) => {
            fs.unlink(place).map_err(|cause| Error::io("remove", &shown(place), &cause))?;
            fs.sync_dir(place).map_err(|cause| Error::io("flush", &shown(place), &cause))
        }
        Err(error) if error.code == Code::Aborted => Err(error),
        Err(error) => {
            report.failed.push(error);
            Ok(())
        }
    }
}

fn shown(place: &Place) -> String {
    place.canonical().to_string_lossy().into_owned()
}
