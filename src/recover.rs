//! `recoverTransactions` and `recoverTransactionsSync`.

use hashline_core::{self as core, Cancel, Error, Result as CoreResult, Workspace};
use napi::Env;
use napi_derive::napi;

use super::fault::Result;
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
    /// Patches of which nothing is left now, each with its files.
    pub undone: Vec<Vec<String>>,
    /// Files that someone else changed since; they were left as they are.
    pub conflicts: Vec<RecoveryConflict>,
    /// Patches of processes that are alive, which were not touched.
    pub live: f64,
    /// Journals that are damaged, of another version, or such as another user may write; they
    /// are kept and were not acted on.
    pub damaged: Vec<String>,
    /// Why patches could not be recovered; their journals are kept for another try.
    pub failed: Vec<RecoveryFailure>,
}

/// A file of an interrupted patch that someone else changed since.
#[napi(object, object_from_js = false)]
pub struct RecoveryConflict {
    /// The file, which was left as it is.
    pub path: String,
    /// Where other versions of it are kept: that of the patch, or those before and after it.
    pub kept: Vec<String>,
}

/// Why an interrupted patch could not be recovered.
#[napi(object, object_from_js = false)]
pub struct RecoveryFailure {
    /// The stable code.
    #[napi(ts_type = "HashlineErrorCode")]
    pub code: Word,
    /// What, where and what instead.
    pub message: String,
    /// The file it is about, where there is one.
    pub path: Option<String>,
}

/// Finishes or undoes every patch that a dead process left half done, so that all its files are
/// as before or all are as asked. `applyHash` does the same first for its state directory.
///
/// Patches of living processes are not touched. What cannot be recovered is in the report;
/// the promise is rejected, with an error that has a `code`, for misuse of the arguments, when
/// cancelled, and when the state directory cannot be read.
#[napi(ts_args_type = "options?: RecoverOptions", ts_return_type = "Promise<RecoveryReport>")]
pub fn recover_transactions<'env>(env: &'env Env, options: Js<'env>) -> napi::Result<Js<'env>> {
    task::later(env, || prepare(options))
}

/// As `recoverTransactions`, on the calling thread: throws where that rejects its promise.
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
