//! The class `HashSession`.

use std::sync::Arc;

use hashline_core::{
    self as core, Cancel, Code, Error, Gate, MemoryLimits, Outcome, ReadTurn, Result as CoreResult,
    SearchResult as Found, Session, SessionOptions, SessionRoot, StoreOptions, Unseen, Value,
    WorkspaceOptions, WriteTurn,
};
use napi::bindgen_prelude::Uint8Array;
use napi::{Env, ValueType};
use napi_derive::napi;

use super::apply::{EditOptions, commit_options, edit_options};
use super::fault::{self, Result, guard};
use super::js::Js;
use super::options::{Field, Holder, optional, read_options};
use super::outcome::{ApplyOutcome, apply_outcome};
use super::page::{PageText, PageViews, page};
use super::read;
use super::search::{self, SearchResult};
use super::task::{self, Call, Prepared};
use super::text::Word;
use super::value::to_value;

/// How a session reads and edits.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct HashSessionOptions<'env> {
    /// Where relative paths start: the working directory of the process when left out.
    #[napi(ts_type = "string")]
    pub cwd: Option<Field<'env>>,
    /// Nothing outside is written, nor read unless `readRoots` name it: `cwd` when left out,
    /// `false` for no bounds.
    #[napi(ts_type = "string | false")]
    pub root: Option<Field<'env>>,
    /// Directories that may be read beside the root.
    #[napi(ts_type = "string | readonly string[]")]
    pub read_roots: Option<Field<'env>>,
    /// The dialect of the anchors: `'pi'` when left out.
    #[napi(ts_type = "Dialect")]
    pub dialect: Option<Field<'env>>,
    /// What to do with anchors of lines that were never shown: `'refuse'` (when left out), or
    /// `'match'` them with the lines as they are, as `applyHash` does.
    #[napi(ts_type = "'refuse' | 'match'")]
    pub unseen: Option<Field<'env>>,
    /// How much one call shows.
    #[napi(ts_type = "HashSessionLimits")]
    pub limits: Option<Field<'env>>,
    /// How much is remembered.
    #[napi(ts_type = "HashSessionMemory")]
    pub memory: Option<Field<'env>>,
    /// Keeps the session on disk, so that it outlives the process and is shared with others:
    /// in memory alone when left out.
    #[napi(ts_type = "HashSessionStore")]
    pub store: Option<Field<'env>>,
    /// The WHATWG label of the encoding of files without byte order mark, and of new
    /// files: UTF-8 when left out.
    #[napi(ts_type = "string")]
    pub encoding: Option<Field<'env>>,
    /// Larger files are refused: 1 GiB when left out.
    #[napi(ts_type = "number")]
    pub max_file_bytes: Option<Field<'env>>,
    /// As for `applyHash`; counts for anchors of lines that were never shown, with
    /// `unseen: 'match'`.
    #[napi(ts_type = "'guarded' | 'unique' | 'off'")]
    pub relocate: Option<Field<'env>>,
    /// As for `applyHash`.
    #[napi(ts_type = "number")]
    pub relocate_window: Option<Field<'env>>,
    /// As for `applyHash`.
    #[napi(ts_type = "boolean | Partial<Record<RepairRule, boolean>>")]
    pub repairs: Option<Field<'env>>,
    /// As for `applyHash`.
    #[napi(ts_type = "'power' | 'process'")]
    pub durability: Option<Field<'env>>,
    /// As for `applyHash`.
    #[napi(ts_type = "string")]
    pub state_dir: Option<Field<'env>>,
    /// As for `applyHash`.
    #[napi(ts_type = "number")]
    pub lock_timeout_ms: Option<Field<'env>>,
}

read_options!(HashSessionOptions {
    cwd: "cwd",
    root: "root",
    read_roots: "readRoots",
    dialect: "dialect",
    unseen: "unseen",
    limits: "limits",
    memory: "memory",
    store: "store",
    encoding: "encoding",
    max_file_bytes: "maxFileBytes",
    relocate: "relocate",
    relocate_window: "relocateWindow",
    repairs: "repairs",
    durability: "durability",
    state_dir: "stateDir",
    lock_timeout_ms: "lockTimeoutMs"
});

/// How much one call of a session shows.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct HashSessionLimits<'env> {
    /// Lines of all files that a read shows: 2,000 when left out.
    #[napi(ts_type = "number")]
    pub max_lines: Option<Field<'env>>,
    /// Bytes of text that a read or a search shows: 51,200 when left out.
    #[napi(ts_type = "number")]
    pub max_bytes: Option<Field<'env>>,
    /// Matches that a read or a search shows: 200 when left out.
    #[napi(ts_type = "number")]
    pub max_matches: Option<Field<'env>>,
}

read_options!(HashSessionLimits {
    max_lines: "maxLines",
    max_bytes: "maxBytes",
    max_matches: "maxMatches"
});

/// How much a session remembers; what was shown first is forgotten first.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct HashSessionMemory<'env> {
    /// Bytes in all: 64 MiB when left out.
    #[napi(ts_type = "number")]
    pub max_bytes: Option<Field<'env>>,
    /// Files: 256 when left out.
    #[napi(ts_type = "number")]
    pub max_files: Option<Field<'env>>,
    /// Versions of a file that others made: 8 when left out.
    #[napi(ts_type = "number")]
    pub max_versions: Option<Field<'env>>,
}

read_options!(HashSessionMemory {
    max_bytes: "maxBytes",
    max_files: "maxFiles",
    max_versions: "maxVersions"
});

/// Where a session is kept. Processes that name the same one have the same session. Nobody's
/// but the user's to read, and removed 14 days after it was last written.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct HashSessionStore<'env> {
    /// Its name: 1 to 200 characters.
    #[napi(ts_type = "string")]
    pub id: Option<Field<'env>>,
    /// The directory: `stateDir` when left out.
    #[napi(ts_type = "string")]
    pub dir: Option<Field<'env>>,
}

read_options!(HashSessionStore { id: "id", dir: "dir" });

/// How one read or search of a session is made.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct SessionReadOptions<'env> {
    /// Cancels the call: the promise is rejected with an `AbortError`.
    #[napi(ts_type = "AbortSignal")]
    pub signal: Option<Field<'env>>,
}

read_options!(SessionReadOptions { signal: "signal" });

/// How one patch of a session is applied.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct SessionApplyOptions<'env> {
    /// Cancels the call, as long as it has not begun to change files: the promise is
    /// rejected with an `AbortError`.
    #[napi(ts_type = "AbortSignal")]
    pub signal: Option<Field<'env>>,
    /// Checks and tells everything, and writes nothing: false when left out.
    #[napi(ts_type = "boolean")]
    pub dry_run: Option<Field<'env>>,
    /// How many unchanged lines the diffs show around each change: 3 when left out.
    #[napi(ts_type = "number")]
    pub context: Option<Field<'env>>,
}

read_options!(SessionApplyOptions { signal: "signal", dry_run: "dryRun", context: "context" });

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

/// Where a read that was cut goes on.
#[napi(object, object_from_js = false)]
pub struct ReadOn {
    /// The path as requested.
    pub path: String,
    /// The first line that was not shown.
    pub start_line: f64,
}

/// What a read of a session shows.
#[napi(object, object_from_js = false)]
pub struct ReadReport {
    /// Ready for a model: lines with anchors, a header for each file when there are several, and
    /// what there is to say beside them.
    #[napi(ts_type = "string")]
    pub text: PageText,
    /// The views, in the order of the requests.
    #[napi(ts_type = "Array<FileView>")]
    pub views: PageViews,
    /// The images among the files, up to 20 MiB in one call.
    pub images: Vec<ReadImage>,
    /// Where to go on, for each request that a limit cut.
    pub next: Option<Vec<ReadOn>>,
}

impl From<core::ReadReport> for ReadReport {
    fn from(report: core::ReadReport) -> ReadReport {
        let image = |image: core::ReadImage| ReadImage {
            path: image.path,
            mime_type: Word(image.mime_type),
            data: image.data.into(),
        };
        let on = |on: core::ReadOn| ReadOn { path: on.path, start_line: on.start_line as f64 };
        let next: Vec<ReadOn> = report.next.into_iter().map(on).collect();
        let (text, views) = page(report.text, report.views, report.spans);
        ReadReport {
            text,
            views,
            images: report.images.into_iter().map(image).collect(),
            next: (!next.is_empty()).then_some(next),
        }
    }
}

/// One model's work on files, with a memory of what it was shown: an anchor means the line that
/// was shown, and nothing else. Lines that reads and searches show count as shown, and so do the
/// fresh anchors of an outcome and the lines of a refusal.
///
/// Calls are carried out as if one after the other, in the order in which they are made.
#[napi]
pub struct HashSession {
    session: Arc<Session>,
}

#[napi]
impl HashSession {
    /// A session that was shown nothing yet. Throws for misuse of the options.
    #[napi(constructor, ts_args_type = "options?: HashSessionOptions")]
    pub fn new(env: &Env, options: Js<'_>) -> napi::Result<Self> {
        let made = guard(|| {
            let (options, store) = session_options(options)?;
            Ok::<_, fault::Fault>(match store {
                Some(store) => Session::open(options, &store)?,
                None => Session::new(options),
            })
        });
        match made {
            Ok(session) => Ok(HashSession { session: Arc::new(session) }),
            Err(fault) => Err(fault.throw(env)),
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

    /// As `read`, on the calling thread: throws where that rejects its promise.
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

    /// As `search`, on the calling thread: throws where that rejects its promise.
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

    /// As `apply`, on the calling thread: throws where that rejects its promise.
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

    /// Learns from what a tool showed earlier, to go on where another session ended: rows with
    /// anchors, under headers `--- path ---` or of the file `path`. Only rows that are true of the
    /// files as they are now count. Returns how many lines were learned.
    #[napi(ts_args_type = "text: string, path?: string", ts_return_type = "number")]
    pub fn observe<'env>(
        &self,
        env: &'env Env,
        text: Js<'env>,
        path: Js<'env>,
    ) -> napi::Result<Js<'env>> {
        fault::returned(env, || {
            let text = Field::argument("text", text).text()?;
            let path = Field::optional_argument("path", path)?;
            let path = optional(path, Field::text)?;
            let learned = self.session.observe(&text, path.as_deref(), &Cancel::default())?;
            Ok(learned as f64)
        })
    }

    /// A session of its own that remembers all that this one does by now: for a branch, a
    /// subagent. What calls that still wait will show is not part of it.
    #[napi]
    pub fn fork(&self) -> HashSession {
        HashSession { session: Arc::new(self.session.fork()) }
    }

    /// Forgets what was shown of a file, or of all files, also by calls that still wait.
    #[napi(ts_args_type = "path?: string", ts_return_type = "void")]
    pub fn forget<'env>(&self, env: &'env Env, path: Js<'env>) -> napi::Result<Js<'env>> {
        fault::returned(env, || {
            let path = Field::optional_argument("path", path)?;
            self.session.forget(optional(path, Field::text)?.as_deref())?;
            Ok(())
        })
    }

    /// What went wrong with keeping the session on disk: damaged records that were left out, a
    /// full disk. None of it makes a call fail.
    #[napi(getter)]
    pub fn notes(&self) -> Vec<String> {
        self.session.notes()
    }

    /// The dialect of its anchors.
    #[napi(getter, ts_return_type = "Dialect")]
    pub fn dialect(&self) -> &'static str {
        self.session.options().workspace.dialect.name
    }

    /// How many bytes the memory takes.
    #[napi(getter)]
    pub fn memory_bytes(&self) -> f64 {
        self.session.memory_bytes() as f64
    }
}

impl HashSession {
    fn prepare_read<'env>(
        &self,
        requests: Js<'env>,
        options: Js<'env>,
    ) -> Result<Prepared<'env, ReadCall>> {
        let given = SessionReadOptions::read(Holder::Options, options)?;
        let requests = read::read_requests(requests)?;
        let session = Arc::clone(&self.session);
        Ok((ReadCall { session, turn: None, requests }, given.signal))
    }

    fn prepare_search<'env>(
        &self,
        query: Js<'env>,
        options: Js<'env>,
    ) -> Result<Prepared<'env, SearchCall>> {
        let given = SessionReadOptions::read(Holder::Options, options)?;
        let query = search::search_query(search::SearchQuery::read(Holder::Query, query)?)?;
        let session = Arc::clone(&self.session);
        Ok((SearchCall { session, turn: None, query }, given.signal))
    }

    fn prepare_apply<'env>(
        &self,
        patch: Js<'env>,
        options: Js<'env>,
    ) -> Result<Prepared<'env, ApplyCall>> {
        let given = SessionApplyOptions::read(Holder::Options, options)?;
        let dry_run = optional(given.dry_run, Field::flag)?.unwrap_or_default();
        let context_lines = optional(given.context, Field::count)?.unwrap_or(DIFF_CONTEXT_LINES);
        let patch = to_value("patch", patch)?;
        let session = Arc::clone(&self.session);
        Ok((ApplyCall { session, turn: None, patch, dry_run, context_lines }, given.signal))
    }
}

/// Lines of context in a diff, as most tools have.
const DIFF_CONTEXT_LINES: u64 = 3;

struct ReadCall {
    session: Arc<Session>,
    turn: Option<ReadTurn>,
    requests: Vec<core::ReadRequest>,
}

impl Call for ReadCall {
    type Output = core::ReadReport;
    type Answer = ReadReport;
    const WRITES: bool = false;
    const IS_REMEMBERED: bool = true;

    fn enter(&mut self) -> Option<Gate> {
        Some(self.turn.insert(self.session.reading()).gate())
    }

    fn run(&self, cancel: &Cancel) -> CoreResult<core::ReadReport> {
        let turn = self.turn.as_ref().ok_or_else(no_turn)?;
        self.session.read(turn, &self.requests, cancel)
    }

    fn answer(report: core::ReadReport) -> ReadReport {
        report.into()
    }
}

struct SearchCall {
    session: Arc<Session>,
    turn: Option<ReadTurn>,
    query: core::SearchQuery,
}

impl Call for SearchCall {
    type Output = Found;
    type Answer = SearchResult;
    const WRITES: bool = false;
    const IS_REMEMBERED: bool = true;

    fn enter(&mut self) -> Option<Gate> {
        Some(self.turn.insert(self.session.reading()).gate())
    }

    fn run(&self, cancel: &Cancel) -> CoreResult<Found> {
        let turn = self.turn.as_ref().ok_or_else(no_turn)?;
        self.session.search(turn, &self.query, cancel)
    }

    fn answer(result: Found) -> SearchResult {
        result.into()
    }
}

struct ApplyCall {
    session: Arc<Session>,
    turn: Option<WriteTurn>,
    patch: Value,
    dry_run: bool,
    context_lines: u64,
}

impl Call for ApplyCall {
    type Output = Outcome;
    type Answer = ApplyOutcome;
    const WRITES: bool = true;

    fn enter(&mut self) -> Option<Gate> {
        Some(self.turn.insert(self.session.writing()).gate())
    }

    fn run(&self, cancel: &Cancel) -> CoreResult<Outcome> {
        let turn = self.turn.as_ref().ok_or_else(no_turn)?;
        self.session.apply(turn, &self.patch, self.dry_run, self.context_lines, cancel)
    }

    fn answer(outcome: Outcome) -> ApplyOutcome {
        apply_outcome(outcome)
    }
}

fn no_turn() -> Error {
    Error::new(Code::Internal, "a call of a session without its turn")
}

fn session_options(value: Js<'_>) -> Result<(SessionOptions, Option<StoreOptions>)> {
    let given = HashSessionOptions::read(Holder::Options, value)?;
    let (dialect, edit) = edit_options(EditOptions {
        dialect: given.dialect,
        relocate: given.relocate,
        relocate_window: given.relocate_window,
        repairs: given.repairs,
    })?;
    let unseen = [("refuse", Unseen::Refuse), ("match", Unseen::Match)];
    let defaults = read::workspace_defaults();
    let cwd = optional(given.cwd, Field::text)?;
    let root = optional(given.root, root)?.unwrap_or_default();
    let read_roots = optional(given.read_roots, Field::texts)?.unwrap_or_default();
    let store = optional(given.store, store)?;
    let options = SessionOptions {
        workspace: WorkspaceOptions {
            dialect,
            encoding: optional(given.encoding, Field::text)?,
            max_file_bytes: optional(given.max_file_bytes, Field::count)?
                .unwrap_or(defaults.max_file_bytes),
            state_dir: optional(given.state_dir, Field::text)?,
            apply: commit_options(edit, given.durability, given.lock_timeout_ms)?,
            ..defaults
        },
        read_roots: Vec::new(),
        unseen: optional(given.unseen, |field| field.choice(&unseen))?.unwrap_or_default(),
        limits: optional(given.limits, limits)?.unwrap_or_default(),
        memory: optional(given.memory, memory)?.unwrap_or_default(),
    };
    let options = options
        .in_directories(cwd.as_deref(), root, &read_roots)
        .map_err(|error| Error::argument(format!("{}.{}", Holder::Options, error.message)))?;
    Ok((options, store))
}

/// The option `root`.
fn root(field: Field<'_>) -> Result<SessionRoot> {
    if !field.is(ValueType::Boolean)? {
        return Ok(SessionRoot::At(field.text()?));
    }
    if field.flag()? {
        return Err(field.wrong("a directory, or false"));
    }
    Ok(SessionRoot::Unbounded)
}

fn limits(field: Field<'_>) -> Result<core::SessionLimits> {
    let given = HashSessionLimits::read(Holder::Inside("limits"), field.value())?;
    let defaults = core::SessionLimits::default();
    Ok(core::SessionLimits {
        max_lines: optional(given.max_lines, Field::count)?.unwrap_or(defaults.max_lines),
        max_bytes: optional(given.max_bytes, Field::size)?.unwrap_or(defaults.max_bytes),
        max_matches: optional(given.max_matches, Field::count)?.unwrap_or(defaults.max_matches),
    })
}

fn store(field: Field<'_>) -> Result<StoreOptions> {
    let given = HashSessionStore::read(Holder::Inside("store"), field.value())?;
    let Some(id) = optional(given.id, Field::text)? else {
        return Err(Error::argument("options.store names no session: give it an id").into());
    };
    Ok(StoreOptions { id, dir: optional(given.dir, Field::text)? })
}

fn memory(field: Field<'_>) -> Result<MemoryLimits> {
    let given = HashSessionMemory::read(Holder::Inside("memory"), field.value())?;
    let defaults = MemoryLimits::default();
    Ok(MemoryLimits {
        bytes: optional(given.max_bytes, Field::size)?.unwrap_or(defaults.bytes),
        files: optional(given.max_files, Field::size)?.unwrap_or(defaults.files),
        versions: optional(given.max_versions, Field::size)?.unwrap_or(defaults.versions),
    })
}
