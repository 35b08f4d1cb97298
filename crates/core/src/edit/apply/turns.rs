//! Whose turn it is: the locks of a patch's files, taken again until paths and locks agree, and
//! the recovery of what a dead process left of them.

use std::time::{Duration, Instant};

use super::failures::Failures;
use super::lookup::{Lookups, Tasks};
use crate::edit::report::recovery_rows;
use crate::edit::request::Operations;
use hashline_base::call_threads;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Message, Result, Term};
use hashline_disk::commit::{
    Locks, RecoveryReport, TransactionContext, has_hot_journal, recover_beneath,
};
use hashline_lines::dialect::Dialect;

/// The tasks of a patch, and the locks of everything it is about.
pub(super) struct Locked<'a, 'o> {
    pub(super) tasks: Tasks<'o>,
    pub(super) failures: Failures,
    pub(super) _locks: Locks<'a>,
}

/// Takes the locks of a patch's files, and of names that nobody has: another call may have
/// vacated them for a moment. Paths are looked up again once the locks are held: by then
/// another call may have put other files there, which have other locks. What a dead process
/// left of these files is recovered first, but not by a dry run, which writes nothing.
pub(super) fn lock<'a, 'o>(
    context: TransactionContext<'a>,
    dialect: &'static Dialect,
    patch: &'o Operations,
    timeout_ms: u64,
    dry_run: bool,
    cancel: &Cancel,
    recovered: &mut String,
) -> Result<Locked<'a, 'o>> {
    let deadline = Instant::now() + Duration::from_millis(timeout_ms);
    let TransactionContext { fs, base, state } = context;
    loop {
        // Without waiting: a dead patch whose files others use is theirs to recover, unless
        // its files are ours, too.
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
            // As a rule, the one who was waited for has put another file there.
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

/// How long to wait before looking again at a journal that another process works off.
const RECOVERY_PAUSE: Duration = Duration::from_millis(2);

/// Someone who takes no locks gives the names of our files to others, again and again.
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

/// A journal about our files that cannot be worked off stops the call.
fn still_unrecovered(report: RecoveryReport) -> Error {
    let message = Message::from("it is still being recovered (option ") + Term::LockTimeout + ")";
    let unfinished = Error::new(Code::LockTimeout, message);
    let cause = report.failed.into_iter().next().unwrap_or(unfinished);
    cause.within("an interrupted patch of these files blocks this call: ", "")
}
