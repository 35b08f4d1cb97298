//! `readHashed` and `readHashedSync`.

use std::ops::Range;

use hashline_core::{self as core, Cancel, Error, Result as CoreResult, ViewKind, Workspace};
use napi::Env;
use napi_derive::napi;

use super::bulk::{Objects, bulk};
use super::error::Result;
use super::js::Js;
use super::options::{
    DIALECT, FILES, OptionNames, Place, ROOT, SIGNAL, request, workspace_options,
};
use super::search::{SearchError, SearchWarning, Skipped};
use super::task::{self, Call, Prepared};
use super::text::{Text, Word};

/// `ReadOptions`.
pub const OPTIONS: OptionNames = &[DIALECT, ROOT, FILES, SIGNAL];

/// The result of reading one file, declared in `patch.d.ts`: its kind determines its fields.
#[derive(Default)]
pub struct FileView {
    path: Option<String>,
    kind: Option<Word>,
    text: Option<Text>,
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
    symbols: Option<Vec<SymbolPlace>>,
    mime_type: Option<Word>,
    file_count: Option<f64>,
    partial: Option<bool>,
    skipped: Option<Skipped>,
    errors: Option<Vec<SearchError>>,
    warnings: Option<Vec<SearchWarning>>,
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
    symbols: "symbols",
    mime_type: "mimeType",
    checksum: "checksum",
    file_count: "fileCount",
    partial: "partial",
    skipped: "skipped",
    errors: "errors",
    warnings: "warnings",
    error: "error"
});

/// Why a file has no view.
#[napi(object, object_from_js = false)]
pub struct ViewError {
    /// The stable code.
    #[napi(ts_type = "HashlineErrorCode")]
    pub code: Word,
    /// What happened, where, and what to do instead.
    pub message: String,
}

impl From<Error> for ViewError {
    fn from(error: Error) -> ViewError {
        ViewError { code: Word(error.code.as_str()), message: error.message.into() }
    }
}

/// Where a definition is.
#[napi(object, object_from_js = false)]
pub struct SymbolPlace {
    /// Its name after those of the definitions around it: `Class.method`.
    pub name: String,
    /// Its first line, including comments, attributes and decorators above it.
    pub start_line: f64,
    /// Its last line.
    pub end_line: f64,
}

impl From<core::SymbolPlace> for SymbolPlace {
    fn from(place: core::SymbolPlace) -> SymbolPlace {
        let core::SymbolPlace { name, start_line, end_line, .. } = place;
        SymbolPlace { name, start_line: start_line as f64, end_line: end_line as f64 }
    }
}

/// The definitions; `None` if there are none.
pub fn symbols_of(symbols: Vec<core::SymbolPlace>) -> Option<Vec<SymbolPlace>> {
    (!symbols.is_empty()).then(|| symbols.into_iter().map(SymbolPlace::from).collect())
}

/// The first and the last line of each fold; `None` if there are none.
fn folds_of(folds: &[Range<u64>]) -> Option<Vec<Vec<f64>>> {
    let lines = |fold: &Range<u64>| vec![fold.start as f64, (fold.end - 1) as f64];
    (!folds.is_empty()).then(|| folds.iter().map(lines).collect())
}

impl FileView {
    pub fn of(view: core::FileView, to_text: fn(String, bool) -> Text) -> FileView {
        let core::FileView { path, text, is_ascii, kind } = view;
        let (word, text) = (Some(Word(kind.as_str())), Some(to_text(text, is_ascii)));
        let bare = FileView { path: Some(path), kind: word, text, ..FileView::default() };
        match kind {
            ViewKind::Text(shown) => FileView {
                line_count: Some(shown.line_count as f64),
                start_line: Some(shown.start_line as f64),
                end_line: Some(shown.end_line as f64),
                truncated: Some(shown.truncated),
                folds: folds_of(&shown.folds),
                line_ending: Some(Word(shown.line_ending.as_str())),
                final_newline: Some(shown.final_newline),
                encoding: Some(shown.encoding),
                bom: Some(shown.bom),
                lossy: Some(shown.lossy),
                snapshot: Some(shown.snapshot),
                next_line: shown.next_line.map(|line| line as f64),
                match_lines: shown
                    .match_lines
                    .map(|lines| lines.into_iter().map(|line| line as f64).collect()),
                match_count: shown.match_count.map(|count| count as f64),
                symbols: symbols_of(shown.symbols),
                checksum: shown.checksum.map(|checksum| checksum.to_string()),
                ..bare
            },
            ViewKind::Binary { snapshot } => FileView { snapshot: Some(snapshot), ..bare },
            ViewKind::Image { mime_type, snapshot } => {
                FileView { mime_type: Some(Word(mime_type)), snapshot: Some(snapshot), ..bare }
            }
            ViewKind::Directory(shown) => FileView {
                file_count: Some(shown.file_count as f64),
                partial: Some(shown.partial),
                truncated: Some(shown.truncated),
                skipped: Some(shown.skipped.into()),
                errors: Some(shown.errors.into_iter().map(SearchError::from).collect()),
                warnings: Some(shown.warnings.into_iter().map(SearchWarning::from).collect()),
                ..bare
            },
            ViewKind::Unread { next_line, truncated } => {
                let next_line = Some(next_line as f64);
                FileView { next_line, truncated: Some(truncated), ..bare }
            }
            ViewKind::Error { error } => FileView { error: Some(error.into()), ..bare },
            _ => bare,
        }
    }
}

/// Reads files in parallel: each line preceded by its anchor. Views are in the order of the
/// requests. A file that cannot be read has the reason in its view and does not fail the others.
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

/// As `readHashed`, but synchronous: throws where `readHashed` rejects its promise.
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

/// The number of views from which long texts become external strings; for fewer, each thread reuses
/// its buffers.
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
