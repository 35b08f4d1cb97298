//! A session: one model, the lines that it was shown, and edits that refer to these lines.
//!
//! It reads, searches and edits through a workspace. It remembers every line that it shows (in
//! reads and searches, in the new anchors of an outcome, in a refusal). An anchor refers to the
//! line as shown. The rules: docs/protocol.md, "Sessions".

mod annotating;
mod broken;
mod changes;
mod delivery;
mod documents;
mod observe;
mod reading;
mod repeats;
mod searching;
mod settling;
mod turn;
mod undo;
mod watch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::shape::{self, base64};
use super::turns::{Access, Turns};
use super::{Root, Workspace, WorkspaceOptions, state_dir};
use crate::edit::apply::{PatchOptions, ReadPatch};
use crate::edit::outcome::{Applied, Outcome};
use crate::edit::request::Patch;
use crate::edit::session::{CallMemory, PatchState, Unseen};
use crate::json::{JsonRequest, JsonView};
use crate::view::excerpt::{ANSWER_LIMIT_BYTES, ANSWER_LIMIT_LINES};
use crate::view::read::{FileView, MAX_MATCHES, ReadRequest};
use crate::view::scope::Scope;
use crate::view::search::{SearchOutput, SearchQuery, SearchResult};
use broken::BrokenFiles;
use changes::ChangeListeners;
use delivery::Undelivered;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result, Spelling};
use hashline_base::shape::sized;
use hashline_disk::bytes::snapshot;
use hashline_disk::fs::{FileSystem, OsFileSystem, plain_path, unicode_path};
use hashline_disk::overlay::Overlay;
use hashline_disk::records::{RecordStore, sweep};
use hashline_lines::dialect::Dialect;
use hashline_memory::{MemoryLimits, MemoryUpdate, Moment, SessionMemory};
use observe::rows_by_header;
use reading::Reading;
use repeats::Repeats;
use turn::QueuePosition;
use watch::FileWatch;

pub use annotating::{AnnotateOptions, RunsIn};
pub use changes::{ChangedFile, SessionChange, Subscription};
pub use delivery::{Delivery, Mark};
pub use documents::OpenDocumentInfo;
pub use turn::Turn;
pub use undo::{UndoRequest, UndoablePatch};

/// The output limits of one call of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionLimits {
    /// Lines of a read, for all files together.
    pub max_lines: u64,
    /// Bytes of text of a read or search.
    #[serde(deserialize_with = "sized")]
    pub max_bytes: usize,
    /// Matches of a read or search.
    pub max_matches: u64,
    /// Code points of each line in a read or search.
    pub max_line_chars: u64,
}

impl Default for SessionLimits {
    fn default() -> Self {
        SessionLimits {
            max_lines: ANSWER_LIMIT_LINES,
            max_bytes: ANSWER_LIMIT_BYTES,
            max_matches: MAX_MATCHES,
            max_line_chars: 2_000,
        }
    }
}

impl SessionLimits {
    /// The line limit of a request, at most that of the session.
    fn line_chars(&self, requested: Option<u64>) -> u64 {
        requested.unwrap_or(u64::MAX).min(self.max_line_chars)
    }
}

/// The size limit of the images of one call.
pub const IMAGE_LIMIT_BYTES: usize = 20 << 20;

/// The options of a session.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "shape::SessionShape")]
pub struct SessionOptions {
    /// The workspace: its `cwd` is the base of relative paths, and its `root` limits what is read
    /// and written.
    pub workspace: WorkspaceOptions,
    /// Directories outside of the root that may be read.
    pub read_roots: Vec<PathBuf>,
    /// Whether paths can name files on the disk. Without it, every file is a document
    /// ([`Session::set_document`]); directories need not exist, and nothing is written.
    pub disk: bool,
    /// How to treat lines that were never shown.
    pub unseen: Unseen,
    /// The output limits of one call.
    pub limits: SessionLimits,
    /// The limits of the memory.
    pub memory: MemoryLimits,
}

impl SessionOptions {
    /// The defaults for a directory: paths start there, and nothing outside of it is read or
    /// written.
    pub fn in_dir(dir: impl Into<PathBuf>) -> SessionOptions {
        let workspace = WorkspaceOptions::in_dir(dir);
        WorkspaceOptions { dialect: Dialect::of_sessions(), ..workspace }.into()
    }
}

impl Default for SessionOptions {
    fn default() -> SessionOptions {
        WorkspaceOptions { dialect: Dialect::of_sessions(), ..WorkspaceOptions::default() }.into()
    }
}

/// Keeps the dialect of the workspace, whose default is not that of sessions.
impl From<WorkspaceOptions> for SessionOptions {
    fn from(workspace: WorkspaceOptions) -> SessionOptions {
        SessionOptions {
            workspace,
            read_roots: Vec::new(),
            disk: true,
            unseen: Unseen::default(),
            limits: SessionLimits::default(),
            memory: MemoryLimits::default(),
        }
    }
}

/// Where a session is stored, so that it outlives its process and other processes can share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StoreOptions {
    /// The identifier: the same one opens the same session.
    pub id: String,
    /// The directory; `None` means the state directory of the workspace.
    pub dir: Option<PathBuf>,
}

/// Opening a session removes stored sessions that were not written to for this long.
const STORE_RETENTION: Duration = Duration::from_secs(14 * 86_400);

/// The maximum length of an id.
const MAX_ID_CHARS: usize = 200;

/// The size limit of the files of a preview.
pub const PREVIEW_FILE_BYTES: u64 = 2 << 20;

/// An image that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadImage {
    /// The path as requested.
    pub path: String,
    /// Its media type.
    pub mime_type: &'static str,
    /// Its bytes; as data (`serde`) in Base64.
    #[serde(serialize_with = "base64")]
    pub data: Vec<u8>,
}

/// Where to continue a truncated read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadOn {
    /// The path as requested.
    pub path: String,
    /// The first line that was not shown.
    pub start_line: u64,
}

/// The output of a read, ready for a model.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReadReport {
    /// The lines with their anchors; if there are several files, each has a header.
    pub text: String,
    /// The views, in the order of the requests.
    pub views: Vec<FileView>,
    /// The range of each view's text in `text`; empty for a view without text.
    #[serde(skip)]
    pub spans: Vec<std::ops::Range<usize>>,
    /// The images that were read.
    pub images: Vec<ReadImage>,
    /// Where to continue, for each request that a limit truncated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<ReadOn>,
    /// The files that are newer than the output that [`Session::annotate`] read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

impl ReadReport {
    /// The report whose views all have their texts.
    fn with_texts(mut self) -> ReadReport {
        for (view, span) in self.views.iter_mut().zip(&self.spans) {
            if view.text.is_empty() {
                self.text[span.clone()].clone_into(&mut view.text);
            }
        }
        self
    }
}

/// The files that one model works on, with the memory of what it was shown.
pub struct Session {
    workspace: Workspace<'static>,
    /// The workspaces of the directories outside of the root that may be read.
    readable: Vec<Workspace<'static>>,
    options: SessionOptions,
    state: Arc<SessionState>,
}

/// The state of a session, shared by copies of it with other message spellings.
struct SessionState {
    memory: Arc<SessionMemory>,
    patches: PatchState,
    documents: Arc<Overlay>,
    undelivered: Undelivered,
    turns: Turns,
    watch: FileWatch,
    broken: BrokenFiles,
    repeats: Repeats,
    changes: Arc<ChangeListeners>,
}

impl Session {
    /// A session with the default options, with a directory as its root and base of relative paths.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Result<Session> {
        Session::new(SessionOptions::in_dir(dir))
    }

    /// A session with an empty memory. Fails if its directories do not exist.
    pub fn new(options: impl Into<SessionOptions>) -> Result<Session> {
        let options = options.into().resolved()?;
        options.check_directories()?;
        let memory = SessionMemory::new(options.memory, options.workspace.dialect);
        let (patches, changes) = (PatchState::default(), Arc::default());
        Ok(Session::with_state(options, memory, patches, Overlay::default(), changes))
    }

    /// The session on another file system.
    #[must_use]
    pub fn on(mut self, fs: &'static dyn FileSystem) -> Session {
        self.workspace = self.workspace.on_other(fs);
        self.readable = self.readable.into_iter().map(|one| one.on_other(fs)).collect();
        self
    }

    /// Opens a stored session with all that it remembers. Processes that have it open share its
    /// memory.
    pub fn open(options: impl Into<SessionOptions>, store: &StoreOptions) -> Result<Session> {
        let absent = || Error::new(Code::Internal, "a session that was not created");
        Session::open_stored(options.into(), store, true)?.ok_or_else(absent)
    }

    /// Opens a stored session as [`Session::open`], but does not create it: `None` if no process
    /// has opened it before.
    pub fn open_existing(
        options: impl Into<SessionOptions>,
        store: &StoreOptions,
    ) -> Result<Option<Session>> {
        Session::open_stored(options.into(), store, false)
    }

    fn open_stored(
        options: SessionOptions,
        store: &StoreOptions,
        creates: bool,
    ) -> Result<Option<Session>> {
        let options = options.resolved()?;
        options.check_directories()?;
        if !options.disk {
            return Err(Error::argument(
                "disk is false, but a stored session needs a directory: create it without an id",
            ));
        }
        let id = &store.id;
        let characters = id.chars().count();
        if id.chars().any(char::is_control) || !(1..=MAX_ID_CHARS).contains(&characters) {
            return Err(Error::argument(format!(
                "the id of a session is {id:?}: expected 1 to {MAX_ID_CHARS} characters, none of them a control character"
            )));
        }
        let dir = store.dir.as_deref().or(options.workspace.state_dir.as_deref());
        let name = snapshot(id.as_bytes());
        let records = || {
            let opened = state_dir(dir)?;
            if !creates && !RecordStore::exists(&OsFileSystem, &opened, &name)? {
                return Ok(None);
            }
            sweep(&OsFileSystem, &opened, STORE_RETENTION);
            let changes = ChangeListeners::of_store(&OsFileSystem, opened.path(), id);
            let records = RecordStore::open(&OsFileSystem, state_dir(dir)?, &name)?;
            Ok(Some((records, changes)))
        };
        let spelling = options.workspace.host.spelling;
        let opened = records().map_err(|error: Error| error.spelled(spelling))?;
        let Some((records, changes)) = opened else { return Ok(None) };
        let memory = SessionMemory::kept_in(records, options.memory, options.workspace.dialect);
        let patches = PatchState::default();
        let documents = Overlay::default();
        Ok(Some(Session::with_state(options, memory, patches, documents, changes)))
    }

    fn with_state(
        options: SessionOptions,
        memory: SessionMemory,
        patches: PatchState,
        documents: Overlay,
        changes: Arc<ChangeListeners>,
    ) -> Session {
        let state = Arc::new(SessionState {
            memory: Arc::new(memory),
            patches,
            documents: Arc::new(documents),
            undelivered: Undelivered::default(),
            turns: Turns::default(),
            watch: FileWatch::default(),
            broken: BrokenFiles::default(),
            repeats: Repeats::default(),
            changes,
        });
        Session::with_shared_state(options, state)
    }

    fn with_shared_state(options: SessionOptions, state: Arc<SessionState>) -> Session {
        let has_disk = options.disk;
        let workspace = |options| {
            Workspace::new(options)
                .with_documents(Arc::clone(&state.documents), has_disk)
                .with_memory(Arc::clone(&state.memory))
        };
        let readable = options.read_roots.iter().map(|root| {
            let root = Root::At(root.clone());
            workspace(WorkspaceOptions { root, ..options.workspace.clone() })
        });
        Session {
            workspace: workspace(options.workspace.clone()),
            readable: readable.collect(),
            options,
            state,
        }
    }

    /// This session with the message spelling of another binding. It shares the memory and the
    /// queue of calls.
    pub fn spelled(&self, spelling: Spelling) -> Session {
        let mut options = self.options.clone();
        options.workspace.host.spelling = spelling;
        Session::with_shared_state(options, Arc::clone(&self.state))
    }

    /// A separate session with a copy of the memory and the documents, not stored on disk.
    pub fn fork(&self) -> Session {
        let (memory, patches) = (self.state.memory.fork(), self.state.patches.fork());
        let (options, documents) = (self.options.clone(), self.state.documents.fork());
        Session::with_state(options, memory, patches, documents, Arc::default())
    }

    /// The options of the session.
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// Problems with storing the session, such as damaged records that were skipped or a full disk.
    /// Only `forget` fails because of them.
    pub fn notes(&self) -> Vec<String> {
        self.state.memory.notes(self.options.workspace.host.spelling)
    }

    /// The size of its memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.state.memory.bytes() + self.state.patches.bytes()
    }

    /// Forgets what was shown of a file, or of all files.
    ///
    /// This includes what pending calls will show. The stored records are removed, too. If that
    /// fails, an error is returned, although this process has forgotten them.
    pub fn forget(&self, path: Option<&Path>) -> Result<()> {
        let file = path.map(|path| self.named(unicode_path("path", path)?)).transpose()?;
        self.state.watch.forget(file.as_deref());
        self.state.broken.forget(file.as_deref());
        self.state.patches.forget(file.as_deref());
        self.state
            .memory
            .forget(file)
            .map_err(|error| error.spelled(self.options.workspace.host.spelling))
    }

    /// Whether a path exists, as seen from this session.
    pub fn has(&self, path: impl AsRef<Path>) -> bool {
        let canonical = |scope: &Scope<'_>| canonical(scope, unicode_path("path", path.as_ref())?);
        self.workspace.scoped(&Cancel::default(), canonical).is_ok()
    }

    /// The workspaces that may read files.
    fn readers(&self) -> impl Iterator<Item = &Workspace<'static>> {
        std::iter::once(&self.workspace).chain(&self.readable)
    }

    /// The workspace that reads a path: the first whose root contains it, otherwise that of the
    /// session, which then reports that the path is outside of the root.
    fn reader_of(&self, path: &str) -> &Workspace<'static> {
        let has = |workspace: &&Workspace<'static>| {
            let found = workspace.scoped(&Cancel::default(), |scope| {
                let found = scope.base.existing(path);
                Ok(!matches!(found, Err(error) if error.code == Code::OutsideRoot))
            });
            // A directory that does not exist contains nothing.
            found.unwrap_or(false)
        };
        if self.readable.is_empty() {
            return &self.workspace;
        }
        self.readers().find(has).unwrap_or(&self.workspace)
    }

    /// The name by which the memory identifies a file, even one that no longer exists.
    fn named(&self, path: &str) -> Result<PathBuf> {
        self.reader_of(path).scoped(&Cancel::default(), |scope| {
            canonical(scope, path).or_else(|_| Ok(scope.base.named(path)?.path()))
        })
    }

    /// Reads a file, within the limits of one call.
    pub fn read(&self, request: impl Into<ReadRequest>) -> Result<ReadReport> {
        self.read_with(&[request.into()], &Cancel::default())
    }

    /// Reads files, within the limits of one call, with cancellation.
    pub fn read_with(&self, requests: &[ReadRequest], cancel: &Cancel) -> Result<ReadReport> {
        let report = self.read_at(&self.enqueue(Access::Reads), requests, cancel)?;
        Ok(report.with_texts())
    }

    /// Like [`Session::read_with`], but the text of a view at the start of the page is only in the
    /// page.
    fn read_at(
        &self,
        position: &QueuePosition,
        requests: &[ReadRequest],
        cancel: &Cancel,
    ) -> Result<ReadReport> {
        self.report_at(position, cancel, || {
            let mut reading = Reading::new(self, requests.len() > 1);
            requests.iter().try_for_each(|request| reading.add(request, cancel))?;
            Ok(reading)
        })
    }

    /// The answer of a call that reads files, which counts as shown.
    fn report_at<'s>(
        &'s self,
        position: &QueuePosition,
        cancel: &Cancel,
        read: impl FnOnce() -> Result<Reading<'s>>,
    ) -> Result<ReadReport> {
        position.wait(cancel)?;
        self.check_files();
        self.state.repeats.note_other();
        let (report, updates) = read()?.finish();
        let files = shown_files(&updates);
        let learning = self.state.memory.prepare(updates, Some(position.made_at), cancel);
        // A cancelled call has shown nothing.
        cancel.check()?;
        position.delivery.note();
        learning.learn();
        self.show_now(&files);
        Ok(report)
    }

    /// Reads a JSON document with the anchors of its values. Its lines do not count as shown,
    /// because edits by path identify values by their hashes only.
    pub fn read_json(&self, request: &JsonRequest, cancel: &Cancel) -> Result<JsonView> {
        self.read_json_at(&self.enqueue(Access::Reads), request, cancel)
    }

    fn read_json_at(
        &self,
        position: &QueuePosition,
        request: &JsonRequest,
        cancel: &Cancel,
    ) -> Result<JsonView> {
        position.wait(cancel)?;
        self.state.repeats.note_other();
        self.reader_of(&request.name()).read_json(request, cancel)
    }

    /// Searches files, within the limits of one call.
    pub fn search(&self, query: impl Into<SearchQuery>) -> Result<SearchResult> {
        self.search_with(&query.into(), &Cancel::default())
    }

    /// Like [`Session::search`], with cancellation.
    pub fn search_with(&self, query: &SearchQuery, cancel: &Cancel) -> Result<SearchResult> {
        self.search_with_progress(query, cancel, &|_, _| {})
    }

    /// Like [`Session::search`]. Calls `progress` periodically with the number of files searched
    /// and the total.
    pub fn search_with_progress(
        &self,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<SearchResult> {
        self.search_at(&self.enqueue(Access::Reads), query, cancel, progress)
    }

    fn search_at(
        &self,
        position: &QueuePosition,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<SearchResult> {
        position.wait(cancel)?;
        let limits = &self.options.limits;
        let mut query = query.clone();
        query.max_matches = query.max_matches.min(limits.max_matches);
        if query.output != SearchOutput::Lines {
            query.max_files = query.max_files.min(limits.max_lines.max(1));
        }
        query.max_bytes = Some(query.max_bytes.unwrap_or(usize::MAX).min(limits.max_bytes));
        query.max_line_chars = Some(limits.line_chars(query.max_line_chars));
        self.check_files();
        self.state.repeats.note_other();
        let (mut result, mut updates) = self.search_all_roots(&query, cancel, progress)?;
        if let Some(uses) = query.for_uses().filter(|_| result.found_nothing()) {
            let (found, shown) = self.search_all_roots(&uses, cancel, progress)?;
            result.add_uses(found);
            updates = shown;
        }
        let files = shown_files(&updates);
        let learning = self.state.memory.prepare(updates, Some(position.made_at), cancel);
        cancel.check()?;
        position.delivery.note();
        learning.learn();
        self.show_now(&files);
        Ok(result)
    }

    /// Remembers what another tool showed: rows with anchors, below the headers of their files or
    /// in the file `path`. Ignores rows that do not match the current files. Returns the number of
    /// lines remembered.
    pub fn observe(&self, text: &str, path: Option<&Path>, cancel: &Cancel) -> Result<u64> {
        let path = path.map(|path| unicode_path("path", path)).transpose()?;
        let updates = self
            .updates_for_rows(rows_by_header(self.options.workspace.dialect, text, path), cancel)?;
        let lines = updates.iter().map(|update| match update {
            MemoryUpdate::Shown { lines, .. } => lines.lines.count(),
            _ => 0,
        });
        let lines = lines.sum();
        let learning = self.state.memory.prepare(updates, None, cancel);
        cancel.check()?;
        learning.learn();
        Ok(lines)
    }

    /// Applies a patch whose anchors refer to the lines that were shown.
    pub fn apply(&self, patch: impl Into<Patch>) -> Result<Outcome> {
        self.apply_with(&patch.into(), &PatchOptions::default(), &Cancel::default())
    }

    /// Like [`Session::apply`], with options for this patch and cancellation.
    pub fn apply_with(
        &self,
        patch: &Patch,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        self.apply_at(&self.enqueue(Access::Writes), patch, patch_options, cancel)
    }

    /// What a patch would do as far as the model has written it: its diffs, or the refusal. Nothing
    /// of it counts as shown, and it neither waits for calls nor delays any. It does not check the
    /// syntax of files. Files over [`PREVIEW_FILE_BYTES`] are refused.
    pub fn preview(
        &self,
        patch: &Patch,
        diff_context_lines: u64,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        let read = self.workspace.read_patch(patch, cancel);
        let options = PatchOptions {
            dry_run: true,
            is_preview: true,
            diff_context_lines: Some(diff_context_lines),
            ..PatchOptions::default()
        };
        // The model is writing the patch now, by what it has read until now.
        let mark = self.mark();
        let (memory, patches) = (&self.state.memory, Some(&self.state.patches));
        let (unseen, as_of) = (self.options.unseen, mark.as_of);
        let call_memory = Some(CallMemory { memory, patches, unseen, as_of, learned: &[], cancel });
        let workspace = self.workspace.limited_to(PREVIEW_FILE_BYTES);
        workspace.apply_remembering(read, &options, call_memory, cancel)
    }

    /// Plans a patch: its outcome as a dry run, which [`Session::apply_plan`] can apply later.
    pub fn plan(
        &self,
        patch: impl Into<Patch>,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Plan> {
        let patch = patch.into();
        let outcome = self.apply_with(&patch, &Plan::dry_run(patch_options), cancel)?;
        Ok(Plan { outcome, patch, options: patch_options.clone() })
    }

    /// Applies a patch exactly as it was planned. It is refused with `CONCURRENT_CHANGE` if a file
    /// that the plan read was changed since. A plan that was refused stays refused.
    pub fn apply_plan(&self, plan: &Plan, cancel: &Cancel) -> Result<Outcome> {
        self.apply_plan_at(&self.enqueue(Access::Writes), plan, cancel)
    }

    fn apply_plan_at(
        &self,
        position: &QueuePosition,
        plan: &Plan,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        let Outcome::Applied(applied) = &plan.outcome else { return Ok(plan.outcome.clone()) };
        let options = PatchOptions { plan: applied.plan.clone(), ..plan.options.clone() };
        self.apply_at(position, &plan.patch, &options, cancel)
    }

    fn apply_at(
        &self,
        position: &QueuePosition,
        patch: &Patch,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        // A malformed patch is refused without waiting.
        let read = self.workspace.read_patch(patch, cancel);
        let as_of = if read.is_malformed() {
            position.as_of
        } else {
            self.start_writing(position, cancel)?
        };
        let mut outcome = self.apply_read(read, as_of, patch_options, &[], cancel)?;
        self.state.repeats.note_patch(patch, patch_options, &mut outcome);
        self.note_outcome(position, &outcome, patch_options);
        Ok(outcome)
    }

    /// Waits for the turn of a call that writes. Its anchors can mean what was shown until the
    /// returned moment.
    fn start_writing(&self, position: &QueuePosition, cancel: &Cancel) -> Result<Moment> {
        position.wait(cancel)?;
        self.check_files();
        // No other call learns while this one runs.
        position.delivery.note();
        // The patch may refer to lines that other processes were shown before the call.
        Ok(self.state.memory.catch_up(position.as_of))
    }

    fn apply_read(
        &self,
        read: ReadPatch,
        as_of: Moment,
        patch_options: &PatchOptions,
        learned: &[MemoryUpdate],
        cancel: &Cancel,
    ) -> Result<Outcome> {
        let (memory, patches) = (&self.state.memory, Some(&self.state.patches));
        let unseen = self.options.unseen;
        let call_memory = Some(CallMemory { memory, patches, unseen, as_of, learned, cancel });
        self.workspace.apply_remembering(read, patch_options, call_memory, cancel)
    }

    /// Notes which files a patch changed, or a refusal shows.
    fn note_outcome(
        &self,
        position: &QueuePosition,
        outcome: &Outcome,
        patch_options: &PatchOptions,
    ) {
        // The session's own changes are not reported as changes, nor are files whose lines a
        // refusal shows.
        let files = match outcome {
            Outcome::Applied(_) if patch_options.dry_run => Vec::new(),
            Outcome::Applied(applied) => {
                position.change(self.change_of(applied));
                self.note_written(applied)
            }
            Outcome::Rejected(rejected) => {
                let names = rejected.failures.iter().filter_map(|failure| failure.path.as_ref());
                let names: BTreeSet<&String> = names.collect();
                names.into_iter().filter_map(|name| self.named(name).ok()).collect()
            }
        };
        self.show_now(&files);
    }

    /// Checks for files that changed or are still broken, at the start of a call.
    fn check_files(&self) {
        self.state.watch.poll(|file, shown| self.stamp_if_as_shown(file, shown));
        self.state.broken.poll(|file| self.stamp_of(file));
    }

    /// Records which files a patch broke or repaired; returns all files it changed.
    fn note_written(&self, applied: &Applied) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for change in &applied.files {
            let gone = change.from.as_ref().map(|from| (from, None));
            for (name, state) in gone.into_iter().chain([(&change.path, change.syntax)]) {
                if let Ok(file) = self.named(name) {
                    files.push(file.clone());
                    self.state.broken.note(file, state, |file| self.stamp_of(file));
                }
            }
        }
        files
    }

    /// Files that an earlier patch of the session broke and that are unchanged since. Each is
    /// returned once, after a later call started.
    pub fn broken_files(&self) -> Vec<String> {
        self.relative(&self.state.broken.take())
    }

    /// Files that changed since they were shown, other than by this session. Each is returned once.
    /// Only the most recently shown files are watched, by their metadata.
    pub fn changed_files(&self) -> Vec<String> {
        self.relative(&self.state.watch.take())
    }

    /// Paths relative to the base directory.
    fn relative(&self, files: &[PathBuf]) -> Vec<String> {
        // The name of a file that need not exist.
        let here = self.named("_").ok().and_then(|name| name.parent().map(Path::to_owned));
        let here = here.unwrap_or_default();
        files.iter().map(|file| plain_path(file.strip_prefix(&here).unwrap_or(file))).collect()
    }
}

/// A patch with its outcome, before anything is written ([`Session::plan`]).
#[derive(Clone, Debug)]
pub struct Plan {
    /// The outcome of a dry run.
    pub outcome: Outcome,
    patch: Patch,
    options: PatchOptions,
}

impl Plan {
    fn dry_run(patch_options: &PatchOptions) -> PatchOptions {
        PatchOptions { dry_run: true, plan: None, ..patch_options.clone() }
    }
}

/// The files of which lines are shown.
fn shown_files(updates: &[MemoryUpdate]) -> Vec<PathBuf> {
    let file = |update: &MemoryUpdate| match update {
        MemoryUpdate::Shown { file, .. } => Some(file.clone()),
        _ => None,
    };
    updates.iter().filter_map(file).collect()
}

/// The name by which the memory identifies a file.
fn canonical(scope: &Scope<'_>, path: &str) -> Result<PathBuf> {
    scope.base.canonical(path)
}
