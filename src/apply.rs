//! `applyHash` and `applyHashSync`.

use hashline_core::{Cancel, Outcome, Patch, PatchOptions, Result as CoreResult, Workspace};
use napi::Env;
use napi_derive::napi;

use super::error::Result;
use super::js::Js;
use super::options::{COMMIT, DIALECT, EDIT, FILES, OptionNames, Options, ROOT, SIGNAL, STATE};
use super::outcome::{self, ApplyOutcome};
use super::task::{self, Call, Prepared};
use super::value::to_value;

/// `ApplyOptions`.
const OPTIONS: OptionNames =
    &[DIALECT, ROOT, FILES, EDIT, COMMIT, STATE, SIGNAL, &["dryRun", "context"]];

/// Lines of context in a diff, as most tools have.
pub const DIFF_CONTEXT_LINES: u64 = 3;

/// Applies a patch to files: all of it, or nothing.
///
/// A patch that cannot be applied is not an error: the outcome is `'rejected'` and has the reason,
/// as a text for the model with fresh anchors. The promise is rejected, with an error that has a
/// `code`, for misuse of the arguments, when cancelled, and for errors of the file system.
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

/// As `applyHash`, but synchronous: throws where `applyHash` rejects its promise.
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
    let options = Options::of(options, OPTIONS)?;
    let workspace = Workspace::new(options.workspace()?);
    let mut patch_options: PatchOptions = options.read()?;
    let signal = options.signal();
    let patch = to_value("patch", patch)?.into();
    // The caller of a dry run wants to see what the patch would do.
    let shown = patch_options.dry_run.then_some(DIFF_CONTEXT_LINES);
    patch_options.diff_context_lines = patch_options.diff_context_lines.or(shown);
    Ok((ApplyCall { patch, workspace, patch_options }, signal))
}
