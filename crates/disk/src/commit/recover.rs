//! Recovery of the transactions of dead processes. If the journal is committed and every new
//! version is as the journal describes it, the transaction is finished. Otherwise it is rolled
//! back.
//!
//! Every action first checks that a file is one that the journal describes: by inode, size and
//! modification time when finishing, by inode when restoring an old version. A file that is neither
//! the old nor the new version was changed by another process. It is not touched; the version of
//! the patch is preserved in the state directory and reported. A recovery can be interrupted and
//! repeated, because the journal records the decision before anything is removed.

mod in_place;
mod preserve;
mod record;
mod recovery;
mod roll_back;
mod torn;
mod transaction;
mod verify;
mod well_formed;

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::journal::{
    FINISHED, JournalRecord, JournalStep, LIMIT_BYTES, UNFINISHED, parse_journal,
};
use super::{LockKey, StateDir, TransactionContext};
use crate::fs::{Base, FileKind, FileSystem, Place, Stamp, is_delete_pending, plain_path};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use recovery::JournalFile;
use transaction::recover_transaction;
pub(super) use well_formed::is_well_formed;

/// A file that another process changed between a crash and the recovery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The file, which was not touched.
    pub path: String,
    /// Where the version of the patch is kept.
    pub kept: Vec<String>,
}

/// The result of a recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecoveryReport {
    /// The files of each patch that was finished.
    pub finished: Vec<Vec<String>>,
    /// The files of each patch that was rolled back completely.
    pub undone: Vec<Vec<String>>,
    /// Files that another process changed meanwhile.
    pub conflicts: Vec<Conflict>,
    /// Journals of running processes.
    pub live: u64,
    /// Journals that are damaged, of another version or of another user; they are kept and ignored.
    pub damaged: Vec<String>,
    /// Why journals could not be recovered; they are kept.
    pub failed: Vec<Error>,
}

impl RecoveryReport {
    /// Whether there was nothing to recover.
    pub fn is_empty(&self) -> bool {
        *self == RecoveryReport { live: self.live, ..RecoveryReport::default() }
    }
}

/// Recovers every hot journal in the state directory.
pub fn recover_transactions(
    fs: &dyn FileSystem,
    state: &StateDir,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<RecoveryReport> {
    let base = Base::open(None)?;
    recover_beneath(TransactionContext { fs, base: &base, state }, deadline, cancel)
}

/// Recovers the hot journals whose files are beneath the root of `context`. Journals about other
/// files are reported as failed.
pub fn recover_beneath(
    context: TransactionContext<'_>,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<RecoveryReport> {
    let state = context.state;
    let mut report = RecoveryReport::default();
    for name in state.journal_names(context.fs)? {
        cancel.check()?;
        let ending = Path::new(&name).extension();
        if ending.is_some_and(|ending| ending == FINISHED || ending == UNFINISHED) {
            let place = state.journal_file(context.fs, "the journal", name)?;
            recover_journal(context, &place, deadline, cancel, &mut report)?;
        }
    }
    if !report.is_empty() {
        super::lock::sweep(context.fs, state);
    }
    Ok(report)
}

/// Whether there is a journal about one of the files of `keys`, whose locks the caller holds. Such
/// a journal is hot, and another process may be recovering it.
pub fn has_hot_journal(context: TransactionContext<'_>, keys: &[LockKey]) -> Result<bool> {
    for name in context.state.journal_names(context.fs)? {
        if Path::new(&name).extension().is_none_or(|ending| ending != FINISHED) {
            continue;
        }
        let place = context.state.journal_file(context.fs, "the journal", name)?;
        let read = || match stamp(context.fs, &place)? {
            stamp if is_trusted(&stamp) => {
                read_journal(context.fs, &mut context.fs.open_state(&place)?).map(Some)
            }
            _ => Ok(None),
        };
        let bytes = match read() {
            Ok(Some(bytes)) => bytes,
            Ok(None) => continue,
            // It was recovered by another process.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
            Err(cause) => return Err(Error::io("read", &shown(&place), &cause)),
        };
        if parse_journal(&bytes).is_some_and(|records| names_any_of(&records, keys)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The stamp of a journal.
fn stamp(fs: &dyn FileSystem, place: &Place) -> io::Result<Stamp> {
    match fs.stamp(place) {
        // Opening waits until a deletion that is pending is complete.
        Err(cause) if is_delete_pending(&cause) => fs.stamp_of(&fs.open_state(place)?),
        other => other,
    }
}

/// Whether only this user can have written a journal, and its size is within the limit.
fn is_trusted(stamp: &Stamp) -> bool {
    stamp.kind == FileKind::File && stamp.is_private() && stamp.size_bytes <= LIMIT_BYTES
}

pub(super) fn read_journal(fs: &dyn FileSystem, file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs.read(file, LIMIT_BYTES, &mut bytes)?;
    Ok(bytes)
}

fn names_any_of(records: &[JournalRecord], keys: &[LockKey]) -> bool {
    let Some(JournalRecord::Begin { steps, .. }) = records.first() else { return false };
    let paths = steps.iter().flat_map(JournalStep::targets);
    let paths = paths.map(|path| LockKey::of_path(&path.path(), ""));
    let files = steps.iter().filter_map(JournalStep::old);
    let files = files.map(|old| LockKey::of_inode(old.file(), ""));
    paths.chain(files).any(|named| keys.iter().any(|key| key.is_same(&named)))
}

/// Recovers one journal, unless its process is running. An error is reported and does not stop the
/// recovery of other journals; only cancellation does.
fn recover_journal(
    context: TransactionContext<'_>,
    place: &Place,
    deadline: Instant,
    cancel: &Cancel,
    report: &mut RecoveryReport,
) -> Result<()> {
    let recovered = lock_hot_journal(context.fs, place, report).and_then(|file| match file {
        Some(file) => recover_locked(context, place, &file, deadline, cancel, report),
        None => Ok(()),
    });
    match recovered {
        Err(error) if error.code != Code::Aborted => report.failed.push(error),
        other => return other,
    }
    Ok(())
}

/// Opens and locks a journal if its process is dead.
pub(super) fn lock_hot_journal(
    fs: &dyn FileSystem,
    place: &Place,
    report: &mut RecoveryReport,
) -> Result<Option<File>> {
    // If the file is gone, its owner or another recovery has finished with it.
    let unless_gone = |action: &str, cause: &io::Error| match cause.kind() {
        io::ErrorKind::NotFound => Ok(None),
        _ => Err(Error::io(action, &shown(place), cause)),
    };
    match stamp(fs, place) {
        // Opening a FIFO could block, and the journal of another user could name any file.
        Ok(stamp) if !is_trusted(&stamp) => {
            report.damaged.push(shown(place));
            return Ok(None);
        }
        Ok(_) => {}
        Err(cause) => return unless_gone("stat", &cause),
    }
    // Read-only: a journal in a read-only directory can be recovered, too.
    let file = match fs.open_state(place) {
        Ok(file) => file,
        Err(cause) => return unless_gone("open", &cause),
    };
    if !fs.try_lock(&file).map_err(|cause| Error::io("lock", &shown(place), &cause))? {
        report.live += 1;
        return Ok(None);
    }
    // Another recovery may have removed it between open and lock.
    match fs.stamp(place).and_then(|there| Ok(there.is_same_file(&fs.stamp_of(&file)?))) {
        Ok(is_there) => Ok(is_there.then_some(file)),
        Err(cause) if is_delete_pending(&cause) => Ok(None),
        Err(cause) => unless_gone("stat", &cause),
    }
}

fn recover_locked(
    context: TransactionContext<'_>,
    place: &Place,
    file: &File,
    deadline: Instant,
    cancel: &Cancel,
    report: &mut RecoveryReport,
) -> Result<()> {
    let fs = context.fs;
    let fault = |action: &str, cause: &io::Error| Error::io(action, &shown(place), cause);
    if place.canonical().extension().is_some_and(|ending| ending == UNFINISHED) {
        // The owner died before its first change.
        return fs.unlink(place).map_err(|cause| fault("remove", &cause));
    }
    let mut reading = fs.duplicate(file).map_err(|cause| fault("read", &cause))?;
    let bytes = read_journal(fs, &mut reading).map_err(|cause| fault("read", &cause))?;
    let Some(records) = parse_journal(&bytes).filter(|records| is_well_formed(records)) else {
        report.damaged.push(shown(place));
        return Ok(());
    };
    let journal = JournalFile::new(place, &bytes, records.len());
    recover_transaction(context, journal, &records, deadline, cancel, report)?;
    fs.unlink(place).map_err(|cause| fault("remove", &cause))?;
    fs.sync_dir(place).map_err(|cause| fault("flush", &cause))
}

pub(super) fn shown(place: &Place) -> String {
    plain_path(place.canonical())
}
