//! `readHashed` and `readHashedSync`.

use hashline_core::{
    self as core, Cancel, Context, Error, Limits, Query, Result as CoreResult, Term, ViewKind,
    Workspace, WorkspaceOptions,
};
use napi::{Env, ValueType};
use napi_derive::napi;

use super::bulk::{Objects, bulk, converted};
use super::fault::Result;
use super::js::Js;
use super::options::{Field, Holder, optional, read_options};
use super::task::{self, Call, Prepared};
use super::text::{STRING_LIMIT_UNITS, Text, Word};

/// What to read of one file.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct ReadRequest<'env> {
    /// The file; relative to `root`, or to the working directory.
    #[napi(ts_type = "string")]
    pub path: Field<'env>,
    /// The first line shown, from 1.
    #[napi(ts_type = "number")]
    pub start_line: Option<Field<'env>>,
    /// The most lines shown.
    #[napi(ts_type = "number")]
    pub max_lines: Option<Field<'env>>,
    /// The most bytes of text shown. A first line that is longer is shown cut.
    #[napi(ts_type = "number")]
    pub max_bytes: Option<Field<'env>>,
    /// Show only the lines that match this text or pattern.
    #[napi(ts_type = "string")]
    pub search: Option<Field<'env>>,
    /// Whether `search` is a regular expression (the syntax of Rust's `regex`, with
    /// look-around and back-references): false when left out.
    #[napi(ts_type = "boolean")]
    pub regex: Option<Field<'env>>,
    /// Whether letters match only their own case: false when left out.
    #[napi(ts_type = "boolean")]
    pub case_sensitive: Option<Field<'env>>,
    /// Lines shown before each match: 0 when left out.
    #[napi(ts_type = "number")]
    pub context_before: Option<Field<'env>>,
    /// Lines shown after each match: 0 when left out.
    #[napi(ts_type = "number")]
    pub context_after: Option<Field<'env>>,
    /// The most matches listed: 200 when left out.
    #[napi(ts_type = "number")]
    pub max_matches: Option<Field<'env>>,
    /// The WHATWG label of the encoding, where the file has no byte order mark; instead of
    /// the option of the same name.
    #[napi(ts_type = "string")]
    pub encoding: Option<Field<'env>>,
    /// Whether the view says the checksum of its lines: false when left out.
    #[napi(ts_type = "boolean")]
    pub checksum: Option<Field<'env>>,
}

read_options!(ReadRequest {
    path: "path",
    start_line: "startLine",
    max_lines: "maxLines",
    max_bytes: "maxBytes",
    search: "search",
    regex: "regex",
    case_sensitive: "caseSensitive",
    context_before: "contextBefore",
    context_after: "contextAfter",
    max_matches: "maxMatches",
    encoding: "encoding",
    checksum: "checksum"
});

/// How files are read.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct ReadOptions<'env> {
    /// The dialect of the anchors: `'pi'` when left out.
    #[napi(ts_type = "Dialect")]
    pub dialect: Option<Field<'env>>,
    /// Relative paths start here, and nothing outside is read. Without it paths are taken
    /// as the process would.
    #[napi(ts_type = "string")]
    pub root: Option<Field<'env>>,
    /// The WHATWG label of the encoding of files without byte order mark: UTF-8 when left
    /// out.
    #[napi(ts_type = "string")]
    pub encoding: Option<Field<'env>>,
    /// Larger files are refused: 1 GiB when left out.
    #[napi(ts_type = "number")]
    pub max_file_bytes: Option<Field<'env>>,
    /// Cancels the call: the promise is rejected with an `AbortError`.
    #[napi(ts_type = "AbortSignal")]
    pub signal: Option<Field<'env>>,
}

read_options!(ReadOptions {
    dialect: "dialect",
    root: "root",
    encoding: "encoding",
    max_file_bytes: "maxFileBytes",
    signal: "signal"
});

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

    fn run(&self, cancel: &Cancel) -> CoreResult<Self::Output> {
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
    let (options, signal) = read_options(options)?;
    let requests = read_requests(requests)?;
    Ok((ReadCall { requests, workspace: Workspace::new(options) }, signal))
}

/// The options of a read or a search, and the signal apart.
pub fn read_options(value: Js<'_>) -> Result<(WorkspaceOptions, Option<Field<'_>>)> {
    let given = ReadOptions::read(Holder::Options, value)?;
    let defaults = workspace_defaults();
    let options = WorkspaceOptions {
        dialect: optional(given.dialect, Field::dialect)?.unwrap_or(defaults.dialect),
        root: optional(given.root, Field::text)?,
        encoding: optional(given.encoding, Field::text)?,
        max_file_bytes: optional(given.max_file_bytes, Field::count)?
            .unwrap_or(defaults.max_file_bytes),
        ..defaults
    };
    Ok((options, given.signal))
}

/// What holds for every workspace of this face.
pub fn workspace_defaults() -> WorkspaceOptions {
    WorkspaceOptions {
        string_limit_units: STRING_LIMIT_UNITS,
        spelling,
        ..WorkspaceOptions::default()
    }
}

/// How JavaScript writes what messages of the core name.
fn spelling(term: Term) -> &'static str {
    match term {
        Term::LockTimeout => "lockTimeoutMs",
        Term::StateDir => "stateDir",
        Term::MaxFileBytes => "maxFileBytes",
        Term::StartLine => "startLine",
        Term::MaxLines => "maxLines",
        Term::MaxBytes => "maxBytes",
        Term::Recover => "recoverTransactions()",
    }
}

pub fn read_requests(value: Js<'_>) -> Result<Vec<core::ReadRequest>> {
    if !value.is_array()? {
        return Ok(vec![read_request(None, value)?]);
    }
    (0..value.array_len()?).map(|index| read_request(Some(index), value.element(index)?)).collect()
}

fn read_request(index: Option<u32>, value: Js<'_>) -> Result<core::ReadRequest> {
    let holder = Holder::Request(index);
    if value.kind()? == ValueType::String {
        return Ok(core::ReadRequest {
            path: Field::instead_of(holder, value).text()?,
            ..core::ReadRequest::default()
        });
    }
    let given = ReadRequest::read(holder, value)?;
    let regex = optional(given.regex, Field::flag)?.unwrap_or_default();
    let case_sensitive = optional(given.case_sensitive, Field::flag)?.unwrap_or_default();
    let query = |search| Query { search, regex, case_sensitive };
    Ok(core::ReadRequest {
        path: given.path.text()?,
        start_line: optional(given.start_line, Field::count)?,
        limits: Limits {
            max_lines: optional(given.max_lines, Field::count)?,
            max_bytes: optional(given.max_bytes, Field::size)?,
        },
        search: optional(given.search, Field::text)?.map(query),
        context: Context {
            before: optional(given.context_before, Field::count)?.unwrap_or_default(),
            after: optional(given.context_after, Field::count)?.unwrap_or_default(),
        },
        max_matches: optional(given.max_matches, Field::count)?,
        encoding: optional(given.encoding, Field::text)?,
        checksum: optional(given.checksum, Field::flag)?.unwrap_or_default(),
    })
}
