//! `applyHash` and `applyHashSync`.

use hashline_core::{Cancel, Outcome, Result as CoreResult, Value, Workspace, WorkspaceOptions};
use napi::Env;
use napi_derive::napi;

use super::fault::Result;
use super::js::Js;
use super::options::{OfWorkspace, ROOT, Row, Table, workspace_options};
use super::outcome::{self, ApplyOutcome};
use super::task::{self, Call, Prepared};
use super::value::to_value;

/// `ApplyOptions`.
const OPTIONS: Table<WorkspaceOptions> = &[
    WorkspaceOptions::DIALECT,
    ROOT,
    WorkspaceOptions::FILES,
    WorkspaceOptions::EDIT,
    WorkspaceOptions::COMMIT,
    WorkspaceOptions::STATE,
    Row::SIGNAL,
];

/// Applies a patch to files: all of it, or nothing.
///
/// A patch that cannot be applied is no error: the outcome says `'rejected'` and why, in a
/// text for the model with fresh anchors. The promise is rejected, with an error that has a
/// `code`, for misuse of the arguments, when cancelled, and for faults of the file system.
#[napi(
    ts_args_type = "patch: Patch, options?: ApplyOptions",
    ts_return_type = "Promise<ApplyOutcome>"
)]
pub fn apply_hash<'env>(
    env: &'env Env,
    patch: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::later(env, || prepare(patch, options))
}

/// As `applyHash`, on the calling thread: throws where that rejects its promise.
#[napi(
    ts_args_type = "patch: Patch, options?: Omit<ApplyOptions, 'signal'>",
    ts_return_type = "ApplyOutcome"
)]
pub fn apply_hash_sync<'env>(
    env: &'env Env,
    patch: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::now(env, || prepare(patch, options))
}

pub struct ApplyCall {
    patch: Value,
    workspace: Workspace<'static>,
}

impl Call for ApplyCall {
    type Output = Outcome;
    type Answer = ApplyOutcome;
    const WRITES: bool = true;

    fn run(&self, cancel: &Cancel) -> CoreResult<Outcome> {
        self.workspace.apply(&self.patch, cancel)
    }

    fn answer(outcome: Outcome) -> ApplyOutcome {
        outcome::apply_outcome(outcome)
    }
}

/// Reads the arguments of a call that applies a patch.
pub fn prepare<'env>(patch: Js<'env>, options: Js<'env>) -> Result<Prepared<'env, ApplyCall>> {
    let (options, signal) = workspace_options(options, OPTIONS)?;
    let patch = to_value("patch", patch)?;
    Ok((ApplyCall { patch, workspace: Workspace::new(options) }, signal))
}
