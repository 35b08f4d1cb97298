//! `recoverTransactions` and `recoverTransactionsSync`.

use hashline_core::{self as core, Cancel, Error, Result as CoreResult, Workspace};
use napi::Env;
use napi_derive::napi;

use super::error::Result;
use super::js::Js;
use super::options::{OptionNames, SIGNAL, STATE, workspace_options};
use super::task::{self, Call, Prepared};
use super::text::Word;

/// `RecoverOptions`.
const OPTIONS: OptionNames = &[STATE, SIGNAL];

/// What a recovery found and did.
#[napi(object, object_from_js = false)]
pub struct RecoveryReport {
    /// Patches that were finished, each with its files.
    pub finished: Vec<Vec<String>>,
    /// Patches that were rolled back, each with its files.
    pub undone: Vec<Vec<String>>,
    /// Files that another process changed in the meantime; they were not touched.
    pub conflicts: Vec<RecoveryConflict>,
    /// Patches of running processes, which were not touched.
    pub live: f64,
    /// Journals that are damaged, of another version, or writable by another user; they were kept
    /// and not applied.
    pub damaged: Vec<String>,
    /// Why patches could not be recovered; their journals are kept for the next recovery.
    pub failed: Vec<RecoveryFailure>,
}

/// A file of an interrupted patch that another process changed in the meantime.
#[napi(object, object_from_js = false)]
pub struct RecoveryConflict {
    /// The file, which was not touched.
    pub path: String,
    /// Where other versions are kept: the version of the patch, or those before and after it.
    pub kept: Vec<String>,
}

/// Why an interrupted patch could not be recovered.
#[napi(object, object_from_js = false)]
pub struct RecoveryFailure {
    /// The stable code.
    #[napi(ts_type = "HashlineErrorCode")]
    pub code: Word,
    /// What happened, where, and what to do instead.
    pub message: String,
    /// The file, if the failure is about one.
    pub path: Option<String>,
}

/// Finishes or rolls back every patch that a dead process left unfinished, so that its files are
/// all as before or all as requested. `applyHash` first does this for its own state directory.
///
/// Patches of running processes are not touched. Patches that cannot be recovered are in the
/// report. The promise is rejected, with an error that has a `code`, for misuse of the arguments,
/// when cancelled, and when the state directory cannot be read.
#[napi(ts_args_type = "options?: RecoverOptions", ts_return_type = "Promise<RecoveryReport>")]
pub fn recover_transactions<'env>(env: &'env Env, options: Js<'env>) -> napi::Result<Js<'env>> {
    task::later(env, || prepare(options))
}

/// As `recoverTransactions`, but synchronous: throws where `recoverTransactions` rejects its
/// promise.
#[napi(
    ts_args_type = "options?: Omit<RecoverOptions, 'signal'>",
    ts_return_type = "RecoveryReport"
)]
pub fn recover_transactions_sync<'env>(
    env: &'env Env,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::now(env, || prepare(options))
}

struct RecoverCall {
    workspace: Workspace<'static>,
}

impl Call for RecoverCall {
    type Output = core::RecoveryReport;
    type Answer = RecoveryReport;
    const WRITES: bool = true;

    fn run(&mut self, cancel: &Cancel) -> CoreResult<core::RecoveryReport> {
        self.workspace.recover(cancel)
    }

    fn answer(report: core::RecoveryReport) -> RecoveryReport {
        RecoveryReport {
            finished: report.finished,
            undone: report.undone,
            conflicts: report.conflicts.into_iter().map(Into::into).collect(),
            live: report.live as f64,
            damaged: report.damaged,
            failed: report.failed.into_iter().map(Into::into).collect(),
        }
    }
}

fn prepare(options: Js<'_>) -> Result<Prepared<'_, RecoverCall>> {
    let (options, signal) = workspace_options(options, OPTIONS)?;
    Ok((RecoverCall { workspace: Workspace::new(options) }, signal))
}

impl From<core::Conflict> for RecoveryConflict {
    fn from(conflict: core::Conflict) -> RecoveryConflict {
        RecoveryConflict { path: conflict.path, kept: conflict.kept }
    }
}

impl From<Error> for RecoveryFailure {
    fn from(error: Error) -> RecoveryFailure {
        RecoveryFailure {
            code: Word(error.code.as_str()),
            message: error.message.into(),
            path: error.path,
        }
    }
}
