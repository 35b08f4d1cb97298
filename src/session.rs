//! The class `HashSession`.

pub(crate) mod options;

use std::path::PathBuf;
use std::sync::Arc;

use hashline_core::host::{OUTPUT_LIMIT_BYTES, Turn, output_text as decoded_output};
use hashline_core::{
    self as core, Cancel, Code, DocumentText, Error, Outcome, Patch, PatchOptions,
    Result as CoreResult, SearchResult as Found, Session,
};
use napi::bindgen_prelude::Uint8Array;
use napi::{Env, ValueType};
use napi_derive::napi;

use super::buffers::with_text;
use super::error::{self, Result, contained};
use super::external::ExternalMemory;
use super::js::Js;
use super::json::{self, JsonView};
use super::options::Field;
use super::outcome::{ApplyOutcome, apply_outcome};
use super::page::{PageText, PageViews, page};
use super::plan::PlanCall;
use super::read;
use super::search::{self, SearchResult};
use super::task::{self, Call, Prepared};
use super::text::Word;
use super::undo::{UndoCall, UndoablePatch};
use super::value::to_value;

/// An image that was read.
#[napi(object, object_from_js = false)]
pub struct ReadImage {
    /// The path as requested.
    pub path: String,
    /// Its media type.
    #[napi(ts_type = "string")]
    pub mime_type: Word,
    /// Its bytes.
    pub data: Uint8Array,
}

/// Where to continue a read that was cut.
#[napi(object, object_from_js = false)]
pub struct ReadOn {
    /// The path as requested.
    pub path: String,
    /// The first line that was not shown.
    pub start_line: f64,
}

/// The result of a session's read.
#[napi(object, object_from_js = false)]
pub struct ReadReport {
    /// Ready for a model: lines with anchors, a header for each file if there are several, and
    /// notes.
    #[napi(ts_type = "string")]
    pub text: PageText,
    /// The views, in the order of the requests.
    #[napi(ts_type = "Array<FileView>")]
    pub views: PageViews,
    /// The images among the files, up to 20 MiB in one call.
    pub images: Vec<ReadImage>,
    /// Where to continue, for each request that a limit cut.
    pub next: Option<Vec<ReadOn>>,
    /// With `annotate`: the files that are newer than `since`.
    pub changed: Option<Vec<String>>,
}

/// A document that is set.
#[napi(object, object_from_js = false)]
pub struct OpenDocument {
    /// The path, as it was set.
    pub path: String,
    /// The version of its text, if one was given.
    pub version: Option<f64>,
}

impl From<core::OpenDocumentInfo> for OpenDocument {
    fn from(document: core::OpenDocumentInfo) -> OpenDocument {
        let core::OpenDocumentInfo { path, version } = document;
        OpenDocument { path, version: version.map(|version| version as f64) }
    }
}

impl From<core::ReadImage> for ReadImage {
    fn from(image: core::ReadImage) -> ReadImage {
        let core::ReadImage { path, mime_type, data } = image;
        ReadImage { path, mime_type: Word(mime_type), data: data.into() }
    }
}

impl From<core::ReadReport> for ReadReport {
    fn from(report: core::ReadReport) -> ReadReport {
        let on = |on: core::ReadOn| ReadOn { path: on.path, start_line: on.start_line as f64 };
        let next: Vec<ReadOn> = report.next.into_iter().map(on).collect();
        let (text, views) = page(report.text, report.views, report.spans);
        ReadReport {
            text,
            views,
            images: report.images.into_iter().map(ReadImage::from).collect(),
            next: (!next.is_empty()).then_some(next),
            changed: (!report.changed.is_empty()).then_some(report.changed),
        }
    }
}

/// One model's work on files, with a memory of what the model was shown: an anchor means exactly
/// the line that was shown. Lines that reads and searches show count as shown, and so do the fresh
/// anchors of an outcome and the lines of a refusal. (The fresh anchors of a dry run do not,
/// because their lines do not exist.)
///
/// Calls take effect one after the other, in the order in which they are made.
#[napi]
pub struct HashSession {
    /// `None` once the session is closed.
    session: Option<Arc<Session>>,
    /// The memory of the session, reported to the engine.
    memory: ExternalMemory,
}

#[napi]
impl HashSession {
    /// A session that has shown nothing yet. Throws for misuse of the options.
    #[napi(constructor, ts_args_type = "options?: HashSessionOptions")]
    pub fn new(env: &Env, options: Js<'_>) -> napi::Result<Self> {
        let made = contained(|| {
            let (options, store) = options::session_options(options)?;
            Ok::<_, error::CallError>(match store {
                Some(store) => Session::open(options, &store)?,
                None => Session::new(options)?,
            })
        });
        match made {
            Ok(session) => Ok(HashSession::of(session)),
            Err(error) => Err(error.throw(env)),
        }
    }

    /// Reads files, within the limits of one call.
    #[napi(
        ts_args_type = "requests: string | ReadRequest | readonly (string | ReadRequest)[], options?: SessionReadOptions",
        ts_return_type = "Promise<ReadReport>"
    )]
    pub fn read<'env>(
        &self,
        env: &'env Env,
        requests: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::later(env, || self.prepare_read(requests, options))
    }

    /// As `read`, but synchronous: throws where `read` rejects its promise.
    #[napi(
        ts_args_type = "requests: string | ReadRequest | readonly (string | ReadRequest)[]",
        ts_return_type = "ReadReport"
    )]
    pub fn read_sync<'env>(
        &self,
        env: &'env Env,
        requests: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::now(env, || self.prepare_read(requests, options))
    }

    /// Shows the lines that the output of a program names, such as a compiler, a linter, a test, a
    /// stack trace or `grep -n`: each once, with its anchor, and only those of existing text files
    /// that the session may read. The text is empty if there are none.
    #[napi(
        ts_args_type = "output: string | Uint8Array, options?: AnnotateOptions",
        ts_return_type = "Promise<ReadReport>"
    )]
    pub fn annotate<'env>(
        &self,
        env: &'env Env,
        output: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::later(env, || self.prepare_annotate(output, options))
    }

    /// As `annotate`, but synchronous: throws where `annotate` rejects its promise.
    #[napi(
        ts_args_type = "output: string | Uint8Array, options?: Omit<AnnotateOptions, 'signal'>",
        ts_return_type = "ReadReport"
    )]
    pub fn annotate_sync<'env>(
        &self,
        env: &'env Env,
        output: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::now(env, || self.prepare_annotate(output, options))
    }

    /// Searches files, within the limits of one call.
    #[napi(
        ts_args_type = "query: SearchQuery, options?: SessionReadOptions",
        ts_return_type = "Promise<SearchResult>"
    )]
    pub fn search<'env>(
        &self,
        env: &'env Env,
        query: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::later(env, || self.prepare_search(query, options))
    }

    /// As `search`, but synchronous: throws where `search` rejects its promise.
    #[napi(ts_args_type = "query: SearchQuery", ts_return_type = "SearchResult")]
    pub fn search_sync<'env>(
        &self,
        env: &'env Env,
        query: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::now(env, || self.prepare_search(query, options))
    }

    /// Applies a patch whose anchors mean the lines that were shown: all of it, or nothing. The
    /// outcome has a diff for each file.
    #[napi(
        ts_args_type = "patch: Patch, options?: SessionApplyOptions",
        ts_return_type = "Promise<ApplyOutcome>"
    )]
    pub fn apply<'env>(
        &self,
        env: &'env Env,
        patch: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::later(env, || self.prepare_apply(patch, options))
    }

    /// Undoes the newest patches of this session, the newest first: an outcome for each, of which the
    /// last may be a refusal. Each is undone completely or not at all. What others changed elsewhere
    /// in its files stays; where they changed its lines, it is refused with `CONCURRENT_CHANGE`. An
    /// undone patch cannot be redone.
    #[napi(
        ts_args_type = "options?: SessionUndoOptions",
        ts_return_type = "Promise<Array<ApplyOutcome>>"
    )]
    pub fn undo<'env>(&self, env: &'env Env, options: Js<'env>) -> napi::Result<Js<'env>> {
        task::later(env, || {
            let (request, options, signal) = options::undo_options(options)?;
            let turn = CallTurn::of(self.for_call()?);
            Ok((UndoCall { turn, request, options }, signal))
        })
    }

    /// The patches that can be undone, the newest first: at most 100, with at most 16 MiB of old
    /// lines.
    #[napi(ts_return_type = "Array<UndoablePatch>")]
    pub fn undoable(&self, env: &Env) -> napi::Result<Vec<UndoablePatch>> {
        let patches = self.query(env, Session::undoable)?;
        Ok(patches.into_iter().map(UndoablePatch::from).collect())
    }

    /// Plans a patch, to show it to a person first: `plan.outcome` has the diff, and `plan.apply()`
    /// writes exactly that, or nothing if a file was changed meanwhile.
    #[napi(
        ts_args_type = "patch: Patch, options?: Omit<SessionApplyOptions, 'dryRun'>",
        ts_return_type = "Promise<EditPlan>"
    )]
    pub fn plan<'env>(
        &self,
        env: &'env Env,
        patch: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::later(env, || {
            let (ApplyCall { turn, patch, options }, signal) =
                self.prepare_apply(patch, options)?;
            Ok((PlanCall { turn, patch, options }, signal))
        })
    }

    /// As `apply`, but synchronous: throws where `apply` rejects its promise.
    #[napi(
        ts_args_type = "patch: Patch, options?: Omit<SessionApplyOptions, 'signal'>",
        ts_return_type = "ApplyOutcome"
    )]
    pub fn apply_sync<'env>(
        &self,
        env: &'env Env,
        patch: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::now(env, || self.prepare_apply(patch, options))
    }

    /// Reads a JSON document, with the anchors of its values.
    #[napi(
        ts_args_type = "request: string | JsonRequest, options?: SessionReadOptions",
        ts_return_type = "Promise<JsonView>"
    )]
    pub fn read_json<'env>(
        &self,
        env: &'env Env,
        request: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::later(env, || self.prepare_read_json(request, options))
    }

    /// As `readJson`, but synchronous: throws where `readJson` rejects its promise.
    #[napi(ts_args_type = "request: string | JsonRequest", ts_return_type = "JsonView")]
    pub fn read_json_sync<'env>(
        &self,
        env: &'env Env,
        request: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::now(env, || self.prepare_read_json(request, options))
    }

    /// Applies edits of the values of JSON documents: all of them, or nothing. `apply` accepts
    /// these operations as well.
    #[napi(
        ts_args_type = "patch: JsonPatch, options?: SessionApplyOptions",
        ts_return_type = "Promise<ApplyOutcome>"
    )]
    pub fn apply_json<'env>(
        &self,
        env: &'env Env,
        patch: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::later(env, || self.prepare_apply(patch, options))
    }

    /// As `applyJson`, but synchronous: throws where `applyJson` rejects its promise.
    #[napi(
        ts_args_type = "patch: JsonPatch, options?: Omit<SessionApplyOptions, 'signal'>",
        ts_return_type = "ApplyOutcome"
    )]
    pub fn apply_json_sync<'env>(
        &self,
        env: &'env Env,
        patch: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        task::now(env, || self.prepare_apply(patch, options))
    }

    /// Learns from what a tool showed earlier, to continue where another session ended: rows with
    /// anchors, below headers `--- path ---` or of the file `path`. Only rows that match the
    /// current files count. Returns how many lines were learned.
    ///
    /// It does not wait for earlier calls: it reads the files as they are now. What it learns
    /// counts for later calls.
    #[napi(ts_args_type = "text: string, path?: string", ts_return_type = "number")]
    pub fn observe<'env>(
        &self,
        env: &'env Env,
        text: Js<'env>,
        path: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        error::returned(env, || {
            let text: String = Field::argument("text", text)?.read()?;
            let path: Option<PathBuf> = Field::argument("path", path)?.read()?;
            let learned = self.open()?.observe(&text, path.as_deref(), &Cancel::default())?;
            Ok(learned as f64)
        })
    }

    /// A separate session that remembers all that this one does now: for a branch or a subagent.
    /// Lines that pending calls will show are not included.
    #[napi]
    pub fn fork(&self, env: &Env) -> napi::Result<HashSession> {
        self.query(env, |session| HashSession::of(session.fork()))
    }

    /// Frees its memory now instead of when the session is collected. No call is possible
    /// afterwards; calls that were made before are finished.
    #[napi]
    pub fn close(&mut self) {
        self.session = None;
        self.memory.set(0);
    }

    /// Forgets what was shown of a file, or of all files, also by pending calls. A store is cleared
    /// of it, too. If clearing the store fails, this throws, but the process has still forgotten
    /// the lines.
    #[napi(ts_args_type = "path?: string", ts_return_type = "void")]
    pub fn forget<'env>(&self, env: &'env Env, path: Js<'env>) -> napi::Result<Js<'env>> {
        error::returned(env, || {
            let path: Option<PathBuf> = Field::argument("path", path)?.read()?;
            self.open()?.forget(path.as_deref())?;
            Ok(())
        })
    }

    /// Sets the text of a document. Until it is closed, the session reads, searches and edits this
    /// text in place of the file with its path, and never writes it: the entry of the file in an
    /// outcome has the new text, and the host writes it. Bytes are in the encoding of files.
    ///
    /// Calls that have started use the text before; if one of them is a patch of the document, it is
    /// refused.
    #[napi(
        ts_args_type = "path: string, text: string | Uint8Array, options?: DocumentOptions",
        ts_return_type = "void"
    )]
    pub fn set_document<'env>(
        &self,
        env: &'env Env,
        path: Js<'env>,
        text: Js<'env>,
        options: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        error::returned(env, || {
            let options = options::document_options(options)?;
            let path: PathBuf = Field::argument("path", path)?.read()?;
            let text = document_text(text)?;
            Ok(self.open()?.set_document(path, text, options.version)?)
        })
    }

    /// Closes a document: its path names the file again. Returns whether it was set.
    #[napi(ts_args_type = "path: string", ts_return_type = "boolean")]
    pub fn close_document<'env>(&self, env: &'env Env, path: Js<'env>) -> napi::Result<Js<'env>> {
        error::returned(env, || {
            let path: PathBuf = Field::argument("path", path)?.read()?;
            Ok(self.open()?.close_document(path)?)
        })
    }

    /// The documents that are set, sorted by path.
    #[napi(ts_return_type = "Array<OpenDocument>")]
    pub fn documents(&self, env: &Env) -> napi::Result<Vec<OpenDocument>> {
        self.query(env, |session| session.documents().into_iter().map(Into::into).collect())
    }

    /// Files that were shown and that another process has changed since then. Calls detect this by
    /// size, time and inode; each change is returned once. The 256 files that were shown last are
    /// watched.
    #[napi(ts_return_type = "Array<string>")]
    pub fn changed_files(&self, env: &Env) -> napi::Result<Vec<String>> {
        self.query(env, Session::changed_files)
    }

    /// Problems with storing the session on disk, such as damaged records that were skipped or a
    /// full disk. Only `forget` fails because of them.
    #[napi(getter, ts_return_type = "Array<string>")]
    pub fn notes(&self, env: &Env) -> napi::Result<Vec<String>> {
        self.query(env, Session::notes)
    }

    /// The dialect of the session's anchors.
    #[napi(getter, ts_return_type = "Dialect")]
    pub fn dialect(&self, env: &Env) -> napi::Result<&'static str> {
        self.query(env, |session| session.options().workspace.dialect.name)
    }

    /// Whether paths can lead to the disk: the option `disk`.
    #[napi(getter, ts_return_type = "boolean")]
    pub fn disk(&self, env: &Env) -> napi::Result<bool> {
        self.query(env, |session| session.options().disk)
    }

    /// How many bytes the memory takes.
    #[napi(getter, ts_return_type = "number")]
    pub fn memory_bytes(&self, env: &Env) -> napi::Result<f64> {
        self.query(env, |session| session.memory_bytes() as f64)
    }
}

impl HashSession {
    fn of(session: Session) -> HashSession {
        HashSession { session: Some(Arc::new(session)), memory: ExternalMemory::default() }
    }

    fn open(&self) -> Result<&Arc<Session>> {
        self.session.as_ref().ok_or_else(|| Error::argument("the session is closed").into())
    }

    /// Queries the session directly, without a call.
    fn query<T>(&self, env: &Env, ask: impl FnOnce(&Session) -> T) -> napi::Result<T> {
        self.open().map(|session| ask(session)).map_err(|error| error.throw(env))
    }

    /// The session for the next call, with the memory reported so far.
    pub fn for_call(&self) -> Result<Arc<Session>> {
        let session = self.open()?;
        self.memory.set(session.memory_bytes());
        Ok(Arc::clone(session))
    }

    fn prepare_read<'env>(
        &self,
        requests: Js<'env>,
        options: Js<'env>,
    ) -> Result<Prepared<'env, ReadCall>> {
        let signal = options::read_options(options)?;
        let requests = read::read_requests(requests)?;
        let session = self.for_call()?;
        Ok((ReadCall { turn: CallTurn::of(session), requests }, signal))
    }

    fn prepare_annotate<'env>(
        &self,
        output: Js<'env>,
        options: Js<'env>,
    ) -> Result<Prepared<'env, AnnotateCall>> {
        let (options, signal) = options::annotate_options(options)?;
        let output = output_text(output)?;
        let session = self.for_call()?;
        Ok((AnnotateCall { turn: CallTurn::of(session), output, options }, signal))
    }

    fn prepare_read_json<'env>(
        &self,
        request: Js<'env>,
        options: Js<'env>,
    ) -> Result<Prepared<'env, ReadJsonCall>> {
        let signal = options::read_options(options)?;
        let request = json::read_request(request)?;
        let session = self.for_call()?;
        Ok((ReadJsonCall { turn: CallTurn::of(session), request }, signal))
    }

    fn prepare_search<'env>(
        &self,
        query: Js<'env>,
        options: Js<'env>,
    ) -> Result<Prepared<'env, SearchCall>> {
        let signal = options::read_options(options)?;
        let query = search::search_query(query)?;
        let session = self.for_call()?;
        Ok((SearchCall { turn: CallTurn::of(session), query }, signal))
    }

    fn prepare_apply<'env>(
        &self,
        patch: Js<'env>,
        options: Js<'env>,
    ) -> Result<Prepared<'env, ApplyCall>> {
        let (options, signal) = options::apply_options(options)?;
        let patch = to_value("patch", patch)?.into();
        let session = self.for_call()?;
        Ok((ApplyCall { turn: CallTurn::of(session), patch, options }, signal))
    }
}

/// The output of a program, of which no more than is read is copied.
pub(crate) fn output_text(output: Js<'_>) -> Result<String> {
    let field = Field::argument("output", output)?;
    if let Some((bytes, _)) = output.bytes()? {
        return Ok(decoded_output(bytes).into_owned());
    }
    if !field.is(ValueType::String) {
        return Err(field.wrong("a string or a Uint8Array"));
    }
    let units = output.units()?;
    if units <= 2 * OUTPUT_LIMIT_BYTES {
        return Ok(output.lossy_text()?);
    }
    // A unit takes at least a byte, so these parts have at least as much as is read.
    let start = output.slice(0..OUTPUT_LIMIT_BYTES)?.lossy_text()?;
    let end = output.slice(units - OUTPUT_LIMIT_BYTES..units)?.lossy_text()?;
    Ok(format!("{start}\n{end}"))
}

/// The text of a document: a string, or the bytes of a file.
fn document_text(text: Js<'_>) -> Result<DocumentText> {
    let field = Field::argument("text", text)?;
    match text.bytes()? {
        Some((bytes, _)) => Ok(bytes.to_vec().into()),
        None if field.is(ValueType::String) => with_text(field, |text| Ok(text.into())),
        None => Err(field.wrong("a string or a Uint8Array")),
    }
}

/// The turn of a call. It is held until the call is dropped, after its answer is posted, so answers
/// come in the order of the calls.
pub(crate) struct CallTurn {
    session: Arc<Session>,
    turn: Option<Turn>,
}

impl CallTurn {
    pub(crate) fn of(session: Arc<Session>) -> CallTurn {
        CallTurn { session, turn: None }
    }

    pub(crate) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.session)
    }

    pub(crate) fn take(&mut self, take: fn(&Arc<Session>) -> Turn) -> Option<Turn> {
        Some(self.turn.insert(take(&self.session)).clone())
    }

    /// Waits for the turn that was taken.
    pub(crate) fn turn(&self) -> CoreResult<Turn> {
        let none = || Error::new(Code::Internal, "a session was called without a turn");
        self.turn.clone().ok_or_else(none)
    }
}

struct ReadCall {
    turn: CallTurn,
    requests: Vec<core::ReadRequest>,
}

impl Call for ReadCall {
    type Output = core::ReadReport;
    type Answer = ReadReport;
    const WRITES: bool = false;
    const IS_REMEMBERED: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        self.turn.take(Session::reading)
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<core::ReadReport> {
        self.turn.turn()?.read(&self.requests, cancel)
    }

    fn answer(report: core::ReadReport) -> ReadReport {
        report.into()
    }
}

struct AnnotateCall {
    turn: CallTurn,
    output: String,
    options: core::AnnotateOptions,
}

impl Call for AnnotateCall {
    type Output = core::ReadReport;
    type Answer = ReadReport;
    const WRITES: bool = false;
    const IS_REMEMBERED: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        self.turn.take(Session::reading)
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<core::ReadReport> {
        self.turn.turn()?.annotate(&self.output, &self.options, cancel)
    }

    fn answer(report: core::ReadReport) -> ReadReport {
        report.into()
    }
}

struct ReadJsonCall {
    turn: CallTurn,
    request: core::JsonRequest,
}

impl Call for ReadJsonCall {
    type Output = core::JsonView;
    type Answer = JsonView;
    const WRITES: bool = false;
    const IS_REMEMBERED: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        self.turn.take(Session::reading)
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<core::JsonView> {
        self.turn.turn()?.read_json(&self.request, cancel)
    }

    fn answer(view: core::JsonView) -> JsonView {
        view.into()
    }
}

struct SearchCall {
    turn: CallTurn,
    query: core::SearchQuery,
}

impl Call for SearchCall {
    type Output = Found;
    type Answer = SearchResult;
    const WRITES: bool = false;
    const IS_REMEMBERED: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        self.turn.take(Session::reading)
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<Found> {
        self.turn.turn()?.search(&self.query, cancel, &|_, _| {})
    }

    fn answer(result: Found) -> SearchResult {
        result.into()
    }
}

pub(crate) struct ApplyCall {
    pub(crate) turn: CallTurn,
    pub(crate) patch: Patch,
    pub(crate) options: PatchOptions,
}

impl Call for ApplyCall {
    type Output = Outcome;
    type Answer = ApplyOutcome;
    const WRITES: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        self.turn.take(Session::writing)
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<Outcome> {
        self.turn.turn()?.apply(&self.patch, &self.options, cancel)
    }

    fn answer(outcome: Outcome) -> ApplyOutcome {
        apply_outcome(outcome)
    }
}
