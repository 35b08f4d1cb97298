//! `applyHash` and `applyHashSync`.

use hashline_core::{
    Cancel, Outcome, Patch, PatchOptions, Result as CoreResult, Workspace, WorkspaceOptions,
};
use napi::Env;
use napi_derive::napi;

use super::fault::Result;
use super::js::Js;
use super::options::{Field, Holder, OfWorkspace, Row, Table, read, row, workspace_defaults};
use super::outcome::{self, ApplyOutcome};
use super::task::{self, Call, Prepared};
use super::value::to_value;

/// `ApplyOptions`.
const OPTIONS: Table<Given> = &[
    Given::DIALECT,
    &[row!("root", Field::path => workspace.root)],
    Given::FILES,
    Given::EDIT,
    Given::COMMIT,
    Given::STATE,
    Row::SIGNAL,
    &[
        row!("dryRun", Field::flag => patch.dry_run),
        row!("context", Field::count => patch.diff_context_lines),
    ],
];

/// The options of a call.
struct Given {
    workspace: WorkspaceOptions,
    patch: PatchOptions,
}

impl OfWorkspace for Given {
    fn workspace(&mut self) -> &mut WorkspaceOptions {
        &mut self.workspace
    }
}

/// Lines of context in a diff, as most tools have.
pub const DIFF_CONTEXT_LINES: u64 = 3;

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
    patch: Patch,
    workspace: Workspace<'static>,
    patch_options: PatchOptions,
}

impl Call for ApplyCall {
    type Output = Outcome;
    type Answer = ApplyOutcome;
    const WRITES: bool = true;

    fn run(&mut self, cancel: &Cancel) -> CoreResult<Outcome> {
        self.workspace.apply_with(&self.patch, &self.patch_options, cancel)
    }

    fn answer(outcome: Outcome) -> ApplyOutcome {
        outcome::apply_outcome(outcome)
    }
}

/// Reads the arguments of a call that applies a patch.
pub fn prepare<'env>(patch: Js<'env>, options: Js<'env>) -> Result<Prepared<'env, ApplyCall>> {
    let workspace = workspace_defaults();
    let mut given = Given { workspace, patch: PatchOptions::default() };
    let signal = read(Holder::Options, options, OPTIONS, &mut given)?;
    let patch = to_value("patch", patch)?.into();
    let Given { workspace, patch: mut patch_options } = given;
    // A dry run is made to see what the patch does.
    let shown = patch_options.dry_run.then_some(DIFF_CONTEXT_LINES);
    patch_options.diff_context_lines = patch_options.diff_context_lines.or(shown);
    let workspace = Workspace::new(workspace);
    Ok((ApplyCall { patch, workspace, patch_options }, signal))
}
