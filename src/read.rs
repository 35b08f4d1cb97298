//! `readHashed` and `readHashedSync`.

use std::ops::Range;

use hashline_core::{self as core, Cancel, Error, Result as CoreResult, ViewKind, Workspace};
use napi::Env;
use napi_derive::napi;

use super::bulk::{Objects, bulk, converted};
use super::fault::Result;
use super::js::Js;
use super::options::{
    DIALECT, FILES, OptionNames, Place, ROOT, SIGNAL, request, workspace_options,
};
use super::task::{self, Call, Prepared};
use super::text::{Text, Word};

/// `ReadOptions`.
pub const OPTIONS: OptionNames = &[DIALECT, ROOT, FILES, SIGNAL];

/// What was read of one file: declared in `patch.d.ts`, where its kind says which fields there
/// are.
pub struct FileView {
    path: String,
    kind: Word,
    text: Text,
    line_count: Option<f64>,
    start_line: Option<f64>,
    end_line: Option<f64>,
    truncated: Option<bool>,
    folds: Option<Vec<Vec<f64>>>,
    line_ending: Option<Word>,
    final_newline: Option<bool>,
    encoding: Option<String>,
    bom: Option<bool>,
    lossy: Option<bool>,
    snapshot: Option<String>,
    checksum: Option<String>,
    next_line: Option<f64>,
    match_lines: Option<Vec<f64>>,
    match_count: Option<f64>,
    mime_type: Option<Word>,
    error: Option<ViewError>,
}

bulk!(FileView {
    path: "path",
    kind: "kind",
    text: "text",
    line_count: "lineCount",
    start_line: "startLine",
    end_line: "endLine",
    truncated: "truncated",
    folds: "folds",
    line_ending: "lineEnding",
    final_newline: "finalNewline",
    encoding: "encoding",
    bom: "bom",
    lossy: "lossy",
    snapshot: "snapshot",
    next_line: "nextLine",
    match_lines: "matchLines",
    match_count: "matchCount",
    mime_type: "mimeType",
    checksum: "checksum",
    error: "error"
});

/// Why a file has no view.
#[napi(object, object_from_js = false)]
pub struct ViewError {
    /// The stable code.
    #[napi(ts_type = "HashlineErrorCode")]
    pub code: Word,
    /// What, where and what instead.
    pub message: String,
}

converted!(ViewError);

impl From<Error> for ViewError {
    fn from(error: Error) -> ViewError {
        ViewError { code: Word(error.code.as_str()), message: error.message }
    }
}

/// The first and the last line of each fold; nothing where there are none.
fn folds_of(folds: &[Range<u64>]) -> Option<Vec<Vec<f64>>> {
    let lines = |fold: &Range<u64>| vec![fold.start as f64, (fold.end - 1) as f64];
    (!folds.is_empty()).then(|| folds.iter().map(lines).collect())
}

impl FileView {
    pub fn of(view: core::FileView, to_text: fn(String, bool) -> Text) -> FileView {
        let is_text = view.kind == ViewKind::Text;
        let is_read = is_text || matches!(view.kind, ViewKind::Binary | ViewKind::Image);
        let is_shown = is_text || view.kind == ViewKind::Unread;
        FileView {
            path: view.path,
            kind: Word(view.kind.as_str()),
            text: to_text(view.text, view.is_ascii),
            line_count: is_text.then_some(view.line_count as f64),
            start_line: is_text.then_some(view.start_line as f64),
            end_line: is_text.then_some(view.end_line as f64),
            truncated: is_shown.then_some(view.truncated),
            folds: folds_of(&view.folds),
            line_ending: is_text.then(|| Word(view.line_ending.as_str())),
            final_newline: is_text.then_some(view.final_newline),
            encoding: is_text.then_some(view.encoding),
            bom: is_text.then_some(view.bom),
            lossy: is_text.then_some(view.lossy),
            snapshot: is_read.then_some(view.snapshot),
            next_line: view.next_line.map(|line| line as f64),
            match_lines: view
                .match_lines
                .map(|lines| lines.into_iter().map(|line| line as f64).collect()),
            match_count: view.match_count.map(|count| count as f64),
            mime_type: view.mime_type.map(Word),
            checksum: view.checksum.map(|checksum| checksum.to_string()),
            error: view.error.map(ViewError::from),
        }
    }
}

/// Reads files, in parallel: each line with its anchor in front. Views come in the order of
/// the requests; a file that cannot be read has its reason in its view and does not fail the
/// others.
///
/// Rejects with an error that has a `code` for misuse of the arguments and when cancelled.
#[napi(
    ts_args_type = "requests: string | ReadRequest | readonly (string | ReadRequest)[], options?: ReadOptions",
    ts_return_type = "Promise<FileView[]>"
)]
pub fn read_hashed<'env>(
    env: &'env Env,
    requests: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::later(env, || prepare(requests, options))
}

/// As `readHashed`, on the calling thread: throws where that rejects.
#[napi(
    ts_args_type = "requests: string | ReadRequest | readonly (string | ReadRequest)[], options?: Omit<ReadOptions, 'signal'>",
    ts_return_type = "FileView[]"
)]
pub fn read_hashed_sync<'env>(
    env: &'env Env,
    requests: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::now(env, || prepare(requests, options))
}

/// From so many views on, long texts are lent: fewer have buffers that their thread keeps.
const MANY: usize = 32;

struct ReadCall {
    requests: Vec<core::ReadRequest>,
    workspace: Workspace<'static>,
}

impl Call for ReadCall {
    type Output = Vec<FileView>;
    type Answer = Objects<FileView>;
    const WRITES: bool = false;

    fn run(&mut self, cancel: &Cancel) -> CoreResult<Self::Output> {
        let requests = &self.requests;
        let to_text = if requests.len() < MANY { Text::alone } else { Text::among_many };
        let convert = |view| FileView::of(view, to_text);
        self.workspace.read_as(requests, cancel, convert)
    }

    fn answer(views: Self::Output) -> Self::Answer {
        Objects(views)
    }
}

fn prepare<'env>(requests: Js<'env>, options: Js<'env>) -> Result<Prepared<'env, ReadCall>> {
    let (options, signal) = workspace_options(options, OPTIONS)?;
    let requests = read_requests(requests)?;
    Ok((ReadCall { requests, workspace: Workspace::new(options) }, signal))
}

pub fn read_requests(value: Js<'_>) -> Result<Vec<core::ReadRequest>> {
    let place = Place::Argument("requests");
    if !value.is_array()? {
        return Ok(vec![request(value, place)?]);
    }
    (0..value.array_len()?)
        .map(|index| request(value.element(index)?, Place::Item(&place, index)))
        .collect()
}
