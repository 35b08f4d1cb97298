//! `readJson`, `applyJson` and their `…Sync` twins.

use hashline_core::{self as core, Cancel, Result as CoreResult, Workspace};
use napi::Env;
use napi_derive::napi;

use super::apply;
use super::error::Result;
use super::js::Js;
use super::options::{Place, request, workspace_options};
use super::read;
use super::task::{self, Call, Prepared};
use super::text::Text;

/// A JSON document with the anchors of its values.
#[napi(object, object_from_js = false)]
pub struct JsonView {
    /// The path as requested.
    pub path: String,
    /// The lines of the file, joined by `\n`; above each, a comment for every value that begins in
    /// it: `// $.a.b:34`.
    #[napi(ts_type = "string")]
    pub text: Text,
    /// Lines in the whole file.
    pub line_count: f64,
    /// The first line of the file that is shown.
    pub start_line: f64,
    /// The last line of the file that is shown; `startLine - 1` when none is.
    pub end_line: f64,
    /// Where to go on, when the view was cut.
    pub next_line: Option<f64>,
    /// Whether the view was cut by a limit.
    pub truncated: bool,
    /// Values in the whole document.
    pub value_count: f64,
    /// The name of the encoding.
    pub encoding: String,
    /// Whether the file starts with a byte order mark.
    pub bom: bool,
    /// The hash of the whole content.
    pub snapshot: String,
}

/// Reads a JSON document, which may have comments and trailing commas: as it is in its file, with
/// the anchors of its values.
///
/// Rejects with an error that has a `code` when the file cannot be read, or is not JSON
/// (`INVALID_JSON`, with the line and column).
#[napi(
    ts_args_type = "request: string | JsonRequest, options?: ReadOptions",
    ts_return_type = "Promise<JsonView>"
)]
pub fn read_json<'env>(
    env: &'env Env,
    request: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::later(env, || prepare(request, options))
}

/// As `readJson`, but synchronous: throws where `readJson` rejects its promise.
#[napi(
    ts_args_type = "request: string | JsonRequest, options?: Omit<ReadOptions, 'signal'>",
    ts_return_type = "JsonView"
)]
pub fn read_json_sync<'env>(
    env: &'env Env,
    request: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::now(env, || prepare(request, options))
}

/// Applies edits of the values of JSON documents: all of them, or nothing. `applyHash` accepts
/// these operations as well.
#[napi(
    ts_args_type = "patch: JsonPatch, options?: ApplyOptions",
    ts_return_type = "Promise<ApplyOutcome>"
)]
pub fn apply_json<'env>(
    env: &'env Env,
    patch: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::later(env, || apply::prepare(patch, options))
}

/// As `applyJson`, but synchronous: throws where `applyJson` rejects its promise.
#[napi(
    ts_args_type = "patch: JsonPatch, options?: Omit<ApplyOptions, 'signal'>",
    ts_return_type = "ApplyOutcome"
)]
pub fn apply_json_sync<'env>(
    env: &'env Env,
    patch: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::now(env, || apply::prepare(patch, options))
}

struct ReadJsonCall {
    request: core::JsonRequest,
    workspace: Workspace<'static>,
}

impl Call for ReadJsonCall {
    type Output = core::JsonView;
    type Answer = JsonView;
    const WRITES: bool = false;

    fn run(&mut self, cancel: &Cancel) -> CoreResult<Self::Output> {
        self.workspace.read_json(&self.request, cancel)
    }

    fn answer(view: Self::Output) -> JsonView {
        view.into()
    }
}

impl From<core::JsonView> for JsonView {
    fn from(view: core::JsonView) -> JsonView {
        JsonView {
            path: view.path,
            text: Text::from(view.text),
            line_count: view.line_count as f64,
            start_line: view.start_line as f64,
            end_line: view.end_line as f64,
            next_line: view.next_line.map(|line| line as f64),
            truncated: view.truncated,
            value_count: view.value_count as f64,
            encoding: view.encoding,
            bom: view.bom,
            snapshot: view.snapshot,
        }
    }
}

fn prepare<'env>(request: Js<'env>, options: Js<'env>) -> Result<Prepared<'env, ReadJsonCall>> {
    let (options, signal) = workspace_options(options, read::OPTIONS)?;
    let request = read_request(request)?;
    Ok((ReadJsonCall { request, workspace: Workspace::new(options) }, signal))
}

/// The argument that names the document.
pub fn read_request(value: Js<'_>) -> Result<core::JsonRequest> {
    request(value, Place::Argument("requests"))
}
