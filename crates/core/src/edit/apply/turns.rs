//! The locks of a patch's files, and the recovery of interrupted patches of these files. Paths can
//! change while a call waits, so locks are taken again until they match the paths.

use std::time::{Duration, Instant};

use super::failures::Failures;
use super::lookup::{Lookups, Tasks};
use super::options::PatchOptions;
use crate::edit::report::recovery_rows;
use crate::edit::request::Operations;
use hashline_base::call_threads;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Message, Result, Term};
use hashline_disk::commit::{
    Locks, RecoveryReport, TransactionContext, has_hot_journal, recover_beneath,
};
use hashline_lines::dialect::Dialect;

/// The tasks of a patch, with the locks of all of its files.
pub(super) struct Locked<'a, 'o> {
    pub(super) tasks: Tasks<'o>,
    pub(super) failures: Failures,
    pub(super) _locks: Locks<'a>,
}

/// Takes the locks of a patch's files, and of names without a file, which another call may have
/// freed for a moment. Paths are resolved again once the locks are held, because another call may
/// have put other files there, which have other locks. An interrupted patch of these files is
/// recovered first, except by a dry run, which writes nothing. Documents need no locks: their
/// session takes turns. A preview takes none, so that no call waits for it.
pub(super) fn lock<'a, 'o>(
    context: TransactionContext<'a>,
    dialect: &'static Dialect,
    patch: &'o Operations,
    timeout_ms: u64,
    &PatchOptions { dry_run, is_preview, .. }: &PatchOptions,
    cancel: &Cancel,
    recovered: &mut String,
) -> Result<Locked<'a, 'o>> {
    let deadline = Instant::now() + Duration::from_millis(timeout_ms);
    let TransactionContext { fs, base, state } = context;
    if is_preview || !base.has_disk() {
        base.forget();
        let (tasks, failures) = Lookups::new(fs, base, dialect).tasks(patch);
        let _locks = Locks::take(fs, state, Vec::new(), deadline, cancel)?;
        return Ok(Locked { tasks, failures, _locks });
    }
    loop {
        // Without waiting for locks: if other calls use the files of an interrupted patch, they
        // recover it. Those of this patch are checked below.
        base.forget();
        let report = if dry_run {
            RecoveryReport::default()
        } else {
            recover_beneath(context, Instant::now(), cancel)?
        };
        *recovered += &recovery_rows(&report);
        let look_up = || {
            base.forget();
            Lookups::new(fs, base, dialect).tasks(patch)
        };
        let mut keys = look_up().0.lock_keys();
        let mut locks = Locks::take(fs, state, keys.clone(), deadline, cancel)?;
        let is_abandoned = loop {
            let is_abandoned = has_hot_journal(context, &keys)?;
            let (tasks, failures) = look_up();
            let wanted = tasks.lock_keys();
            if !is_abandoned && wanted == keys {
                return Ok(Locked { tasks, failures, _locks: locks });
            }
            // Usually the call that held the locks has put other files there.
            let is_in_time = !cancel.is_cancelled() && Instant::now() < deadline;
            if is_abandoned || !is_in_time || !locks.change_to(state, wanted.clone())? {
                break is_abandoned;
            }
            keys = wanted;
        };
        drop(locks);
        cancel.check()?;
        if is_abandoned && dry_run {
            return Err(not_recovered(patch));
        }
        if Instant::now() >= deadline {
            return Err(if is_abandoned {
                still_unrecovered(report)
            } else {
                still_changing(patch)
            });
        }
        if is_abandoned {
            call_threads::waiting(|| std::thread::sleep(RECOVERY_PAUSE));
        }
    }
}

/// The pause before checking again a journal that another process is recovering.
const RECOVERY_PAUSE: Duration = Duration::from_millis(2);

/// The error when another process without locks keeps replacing the files.
fn still_changing(patch: &Operations) -> Error {
    let path = patch.first_path().unwrap_or_default();
    let what = format!("{path}: another process keeps replacing the files of the patch (option ");
    let message = Message::from(what) + Term::LockTimeout + ")";
    Error::at(Code::LockTimeout, path, message)
}

fn not_recovered(patch: &Operations) -> Error {
    let path = patch.first_path().unwrap_or_default();
    let message = format!(
        "{path}: an interrupted patch of these files is not recovered yet, and a dry run does not recover it: apply a patch first"
    );
    Error::at(Code::LockTimeout, path, message)
}

/// The error when a journal about these files could not be recovered in time.
fn still_unrecovered(report: RecoveryReport) -> Error {
    let message = Message::from("it is still being recovered (option ") + Term::LockTimeout + ")";
    let unfinished = Error::new(Code::LockTimeout, message);
    let cause = report.failed.into_iter().next().unwrap_or(unfinished);
    cause.within("an interrupted patch of these files blocks this call: ", "")
}
