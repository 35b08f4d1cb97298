//! Recovery: what a dead process left is finished when its journal says `committed` and every
//! new version is what the journal says; otherwise it is taken back, or cleared away.
//!
//! Every action asks first whether the file is one that the journal knows: by inode, size
//! and time of change where the patch is finished, by inode where an old version goes back.
//! What matches neither the old nor the new version was changed by someone else and is left as
//! it is; the version that the patch had for it is kept in the state directory, and the report
//! says so. Running a recovery twice, or half of one, is harmless: the journal says which way it
//! went before anything goes.

mod found;
mod in_place;
mod kept;
mod lost;
mod record;
mod take_back;
mod torn;
mod transaction;
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
use crate::fs::{Base, FileKind, FileSystem, Place, Stamp, is_unseen, plain_path};
use found::JournalFile;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use transaction::work_off;
pub(super) use well_formed::is_well_formed;

/// A file that someone else changed between a crash and the recovery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The file, left as it is.
    pub path: String,
    /// Where the version of the patch is kept.
    pub kept: Vec<String>,
}

/// What a recovery found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecoveryReport {
    /// Patches that were finished: their files.
    pub finished: Vec<Vec<String>>,
    /// Patches that were cleared away, so that nothing of them is left: their files.
    pub undone: Vec<Vec<String>>,
    /// Files that someone else changed meanwhile.
    pub conflicts: Vec<Conflict>,
    /// Journals of processes that are alive.
    pub live: u64,
    /// Journals that are damaged, of another version or of another user; they are kept and not
    /// acted on.
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
    let base = Base::open(None)?;
    recover_beneath(TransactionContext { fs, base: &base, state }, deadline, cancel)
}

/// Recovers the journals whose files lie beneath the root of `context`; those about other files are
/// told among the failed ones.
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
            let place = state.file(context.fs, "the journal", name)?;
            one_journal(context, &place, deadline, cancel, &mut report)?;
        }
    }
    if !report.is_empty() {
        super::lock::sweep(context.fs, state);
    }
    Ok(report)
}

/// Whether there is a journal about one of the files of `keys`, whose locks the caller holds:
/// then it is that of a dead process, and perhaps being recovered by another.
pub fn is_abandoned(context: TransactionContext<'_>, keys: &[LockKey]) -> Result<bool> {
    for name in context.state.journal_names(context.fs)? {
        if Path::new(&name).extension().is_none_or(|ending| ending != FINISHED) {
            continue;
        }
        let place = context.state.file(context.fs, "the journal", name)?;
        let read = || match stamp(context.fs, &place)? {
            stamp if is_trusted(&stamp) => {
                read_journal(context.fs, &mut context.fs.open_state(&place)?).map(Some)
            }
            _ => Ok(None),
        };
        let bytes = match read() {
            Ok(Some(bytes)) => bytes,
            Ok(None) => continue,
            // It was worked off.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => continue,
            Err(cause) => return Err(Error::io("read", &shown(&place), &cause)),
        };
        if parse_journal(&bytes).is_some_and(|records| is_about(&records, keys)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The stamp of a journal.
fn stamp(fs: &dyn FileSystem, place: &Place) -> io::Result<Stamp> {
    match fs.stamp(place) {
        // To open it waits until it is gone.
        Err(cause) if is_unseen(&cause) => fs.stamp_of(&fs.open_state(place)?),
        other => other,
    }
}

/// Whether a journal is one that only this user can have written, and no longer than such are.
fn is_trusted(stamp: &Stamp) -> bool {
    stamp.kind == FileKind::File && stamp.is_private() && stamp.size_bytes <= LIMIT_BYTES
}

pub(super) fn read_journal(fs: &dyn FileSystem, file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs.read(file, LIMIT_BYTES, &mut bytes)?;
    Ok(bytes)
}

fn is_about(records: &[JournalRecord], keys: &[LockKey]) -> bool {
    let Some(JournalRecord::Begin { steps, .. }) = records.first() else { return false };
    let paths = steps.iter().flat_map(JournalStep::targets);
    let paths = paths.map(|path| LockKey::of_path(&path.path(), ""));
    let files = steps.iter().filter_map(JournalStep::old);
    let files = files.map(|old| LockKey::of_inode(old.file(), ""));
    paths.chain(files).any(|named| keys.iter().any(|key| key.is_same(&named)))
}

/// Works off one journal, unless its process is alive. What goes wrong with it is told, and
/// does not stop the work on others; only cancellation does.
fn one_journal(
    context: TransactionContext<'_>,
    place: &Place,
    deadline: Instant,
    cancel: &Cancel,
    report: &mut RecoveryReport,
) -> Result<()> {
    let worked_off = lock_abandoned(context.fs, place, report).and_then(|file| match file {
        Some(file) => locked_journal(context, place, &file, deadline, cancel, report),
        None => Ok(()),
    });
    match worked_off {
        Err(error) if error.code != Code::Aborted => report.failed.push(error),
        other => return other,
    }
    Ok(())
}

/// Opens and locks a journal whose process is dead.
pub(super) fn lock_abandoned(
    fs: &dyn FileSystem,
    place: &Place,
    report: &mut RecoveryReport,
) -> Result<Option<File>> {
    // Gone: its owner, or another recovery, is done with it.
    let unless_gone = |action: &str, cause: &io::Error| match cause.kind() {
        io::ErrorKind::NotFound => Ok(None),
        _ => Err(Error::io(action, &shown(place), cause)),
    };
    match stamp(fs, place) {
        // A FIFO would block whoever opens it; a stranger's journal could name any file.
        Ok(stamp) if !is_trusted(&stamp) => {
            report.damaged.push(shown(place));
            return Ok(None);
        }
        Ok(_) => {}
        Err(cause) => return unless_gone("look at", &cause),
    }
    // Not for writing: a journal that may only be read can be worked off, too.
    let file = match fs.open_state(place) {
        Ok(file) => file,
        Err(cause) => return unless_gone("open", &cause),
    };
    if !fs.try_lock(&file).map_err(|cause| Error::io("lock", &shown(place), &cause))? {
        report.live += 1;
        return Ok(None);
    }
    // Another recovery may have worked it off between our open and our lock.
    match fs.stamp(place).and_then(|there| Ok(there.is_same_file(&fs.stamp_of(&file)?))) {
        Ok(is_there) => Ok(is_there.then_some(file)),
        Err(cause) if is_unseen(&cause) => Ok(None),
        Err(cause) => unless_gone("look at", &cause),
    }
}

fn locked_journal(
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
        // Its owner died before it had done anything.
        return fs.unlink(place).map_err(|cause| fault("remove", &cause));
    }
    let mut reading = fs.duplicate(file).map_err(|cause| fault("read", &cause))?;
    let bytes = read_journal(fs, &mut reading).map_err(|cause| fault("read", &cause))?;
    let Some(records) = parse_journal(&bytes).filter(|records| is_well_formed(records)) else {
        report.damaged.push(shown(place));
        return Ok(());
    };
    let journal = JournalFile::new(place, &bytes, records.len());
    work_off(context, journal, &records, deadline, cancel, report)?;
    fs.unlink(place).map_err(|cause| fault("remove", &cause))?;
    fs.sync_dir(place).map_err(|cause| fault("flush", &cause))
}

pub(super) fn shown(place: &Place) -> String {
    plain_path(place.canonical())
}
