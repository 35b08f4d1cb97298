//! A session: one model, what it was shown, and edits that mean just that.
//!
//! It reads, searches and edits through a workspace. Whatever it shows is remembered (the lines
//! of reads and searches, the fresh anchors of an outcome, the lines of a refusal), and anchors
//! are taken to mean the lines that were shown. The rules: docs/protocol.md, "Sessions".

mod broken;
mod learning;
mod reading;
mod repeats;
mod searching;
mod turn;
mod watch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::shape::{self, base64};
use super::turns::{Reach, Turns};
use super::{Root, Workspace, WorkspaceOptions, state_dir};
use crate::edit::apply::PatchOptions;
use crate::edit::outcome::{Applied, Outcome};
use crate::edit::request::Patch;
use crate::edit::session::{PatchState, Recall, Unseen};
use crate::json::{JsonRequest, JsonView};
use crate::view::excerpt::{ANSWER_LIMIT_BYTES, ANSWER_LIMIT_LINES};
use crate::view::read::{FileView, MAX_MATCHES, ReadRequest};
use crate::view::scope::Scope;
use crate::view::search::{SearchQuery, SearchResult};
use broken::BrokenFiles;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result, Spelling};
use hashline_base::shape::sized;
use hashline_disk::bytes::snapshot;
use hashline_disk::fs::{OsFileSystem, plain_path, unicode_path};
use hashline_disk::records::{RecordStore, sweep};
use hashline_lines::dialect::Dialect;
use hashline_memory::{MemoryLimits, MemoryUpdate, SessionMemory};
use learning::rows_by_header;
use reading::Reading;
use repeats::Repeats;
use turn::Place;
use watch::FileWatch;

pub use turn::Turn;

/// How much one call of a session shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionLimits {
    /// Lines of all files that a read shows.
    pub max_lines: u64,
    /// Bytes of text that a read or a search shows.
    #[serde(deserialize_with = "sized")]
    pub max_bytes: usize,
    /// Matches that a read or a search shows.
    pub max_matches: u64,
    /// Code points that a read or a search shows of each line.
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
    /// How much of a line is shown where so much is asked for.
    fn line_chars(&self, asked: Option<u64>) -> u64 {
        asked.unwrap_or(u64::MAX).min(self.max_line_chars)
    }
}

/// How many bytes of images one call hands over.
pub const IMAGE_LIMIT_BYTES: usize = 20 << 20;

/// What a session is made of.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "shape::SessionShape")]
pub struct SessionOptions {
    /// The workspace: its `cwd` is where relative paths start, its `root` bounds what is read and
    /// written.
    pub workspace: WorkspaceOptions,
    /// Directories that may be read beside the root.
    pub read_roots: Vec<PathBuf>,
    /// What to do with lines that were never shown.
    pub unseen: Unseen,
    /// How much one call shows.
    pub limits: SessionLimits,
    /// How much is remembered.
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
            unseen: Unseen::default(),
            limits: SessionLimits::default(),
            memory: MemoryLimits::default(),
        }
    }
}

/// Where a session is kept, so that it outlives its process and is shared with others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StoreOptions {
    /// Its name: whoever gives the same one has the same session.
    pub id: String,
    /// The directory: the workspace's directory for state when left out.
    pub dir: Option<PathBuf>,
}

/// Sessions that nobody wrote to for so long are removed when another one is opened.
const KEPT_FOR: Duration = Duration::from_secs(14 * 86_400);

/// How long an id may be.
const MAX_ID_CHARACTERS: usize = 200;

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

/// Where a read that was cut goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadOn {
    /// The path as requested.
    pub path: String,
    /// The first line that was not shown.
    pub start_line: u64,
}

/// What a read shows, ready for a model.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReadReport {
    /// The lines with their anchors, with a header for each file when there are several.
    pub text: String,
    /// The views, in the order of the requests.
    pub views: Vec<FileView>,
    /// Where in `text` the text of each view stands; empty for a view that shows none.
    #[serde(skip)]
    pub spans: Vec<std::ops::Range<usize>>,
    /// The images among them.
    pub images: Vec<ReadImage>,
    /// Where to go on, for each request that a limit cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<ReadOn>,
}

/// One model's work on files, and the memory of what it was shown.
pub struct Session {
    workspace: Workspace<'static>,
    /// The workspaces of directories that may be read beside the root.
    readable: Vec<Workspace<'static>>,
    options: SessionOptions,
    state: Arc<SessionState>,
}

/// What a session knows. Sessions that differ only in how they write messages have the same.
struct SessionState {
    memory: SessionMemory,
    patches: PatchState,
    turns: Turns,
    watch: FileWatch,
    broken: BrokenFiles,
    repeats: Repeats,
}

impl Session {
    /// A session with the default options that reads and writes nothing outside of a directory,
    /// where its paths start.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Result<Session> {
        Session::new(SessionOptions::in_dir(dir))
    }

    /// A session that remembers nothing yet. Fails when its directories are not there.
    pub fn new(options: impl Into<SessionOptions>) -> Result<Session> {
        let options = options.into().resolved()?;
        options.check_directories()?;
        let memory = SessionMemory::new(options.memory);
        Ok(Session::with_state(options, memory, PatchState::default()))
    }

    /// A session that is kept on disk, with all that it remembers from before. Processes that
    /// open it at the same time share what they learn.
    pub fn open(options: impl Into<SessionOptions>, store: &StoreOptions) -> Result<Session> {
        let options = options.into().resolved()?;
        options.check_directories()?;
        let id = &store.id;
        let characters = id.chars().count();
        if id.chars().any(char::is_control) || !(1..=MAX_ID_CHARACTERS).contains(&characters) {
            return Err(Error::argument(format!(
                "the id of a session is {id:?}: expected 1 to {MAX_ID_CHARACTERS} characters, none of them a control character"
            )));
        }
        let dir = store.dir.as_deref().or(options.workspace.state_dir.as_deref());
        let records = || {
            sweep(&OsFileSystem, &state_dir(dir)?, KEPT_FOR);
            RecordStore::open(&OsFileSystem, state_dir(dir)?, &snapshot(id.as_bytes()))
        };
        let spelling = options.workspace.host.spelling;
        let records = records().map_err(|error| error.spelled(spelling))?;
        let memory = SessionMemory::kept_in(records, options.memory);
        Ok(Session::with_state(options, memory, PatchState::default()))
    }

    fn with_state(options: SessionOptions, memory: SessionMemory, patches: PatchState) -> Session {
        let memory = memory.showing_tags(!options.workspace.dialect.has_hashes());
        let state = Arc::new(SessionState {
            memory,
            patches,
            turns: Turns::default(),
            watch: FileWatch::default(),
            broken: BrokenFiles::default(),
            repeats: Repeats::default(),
        });
        Session::over(options, state)
    }

    fn over(options: SessionOptions, state: Arc<SessionState>) -> Session {
        let readable = options.read_roots.iter().map(|root| {
            let root = Root::At(root.clone());
            Workspace::new(WorkspaceOptions { root, ..options.workspace.clone() })
        });
        Session {
            workspace: Workspace::new(options.workspace.clone()),
            readable: readable.collect(),
            options,
            state,
        }
    }

    /// This session with messages as another face writes them: it has the same memory, and its
    /// calls take turns with those of this one.
    pub fn spelled(&self, spelling: Spelling) -> Session {
        let mut options = self.options.clone();
        options.workspace.host.spelling = spelling;
        Session::over(options, Arc::clone(&self.state))
    }

    /// A session of its own that remembers all that this one does, and is not kept on disk.
    pub fn fork(&self) -> Session {
        let (memory, patches) = (self.state.memory.fork(), self.state.patches.fork());
        Session::with_state(self.options.clone(), memory, patches)
    }

    /// What the session is made of.
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// Problems with keeping it on disk: damaged records that were left out, a full disk. No call
    /// but `forget` fails because of them.
    pub fn notes(&self) -> Vec<String> {
        self.state.memory.notes(self.options.workspace.host.spelling)
    }

    /// Bytes that its memory takes.
    pub fn memory_bytes(&self) -> usize {
        self.state.memory.bytes() + self.state.patches.bytes()
    }

    /// Forgets what was shown of a file, or of all files.
    ///
    /// What calls that were made before have yet to show is forgotten, too. What a store has of
    /// it is removed; if it cannot be, that is an error, and this process has forgotten all the
    /// same.
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

    /// Whether there is something at a path where this session works.
    pub fn has(&self, path: impl AsRef<Path>) -> bool {
        let canonical = |scope: &Scope<'_>| canonical(scope, unicode_path("path", path.as_ref())?);
        self.workspace.scoped(&Cancel::default(), canonical).is_ok()
    }

    /// The workspaces whose files may be read.
    fn readers(&self) -> impl Iterator<Item = &Workspace<'static>> {
        std::iter::once(&self.workspace).chain(&self.readable)
    }

    /// The workspace that reads what is at a path: the first in whose root it leads, or that of the
    /// session, which then says that it is outside the root.
    fn reader_of(&self, path: &str) -> &Workspace<'static> {
        let has = |workspace: &&Workspace<'static>| {
            let found = workspace.scoped(&Cancel::default(), |scope| {
                let found = scope.base.existing(path);
                Ok(!matches!(found, Err(error) if error.code == Code::OutsideRoot))
            });
            // A directory that is not there holds nothing.
            found.unwrap_or(false)
        };
        if self.readable.is_empty() {
            return &self.workspace;
        }
        self.readers().find(has).unwrap_or(&self.workspace)
    }

    /// The name under which a file is remembered. One that is gone by now has one, too.
    fn named(&self, path: &str) -> Result<PathBuf> {
        self.reader_of(path).scoped(&Cancel::default(), |scope| {
            canonical(scope, path).or_else(|_| Ok(scope.base.named(path)?.path()))
        })
    }

    /// Reads a file, within the limits of one call.
    pub fn read(&self, request: impl Into<ReadRequest>) -> Result<ReadReport> {
        self.read_with(&[request.into()], &Cancel::default())
    }

    /// Reads files, within the limits of one call, unless it is cancelled.
    pub fn read_with(&self, requests: &[ReadRequest], cancel: &Cancel) -> Result<ReadReport> {
        let mut report = self.read_at(&self.place(Reach::Reads), requests, cancel)?;
        for (view, span) in report.views.iter_mut().zip(&report.spans) {
            if view.text.is_empty() {
                report.text[span.clone()].clone_into(&mut view.text);
            }
        }
        Ok(report)
    }

    /// As [`Session::read_with`]; a view with which the page begins has its text only there.
    fn read_at(
        &self,
        place: &Place,
        requests: &[ReadRequest],
        cancel: &Cancel,
    ) -> Result<ReadReport> {
        place.wait(cancel)?;
        self.look();
        self.state.repeats.note_other();
        let mut reading = Reading::new(self, requests.len() > 1);
        for request in requests {
            reading.add(request, cancel)?;
        }
        let (report, updates) = reading.finish();
        let files = shown_files(&updates);
        let learning = self.state.memory.ready(updates, Some(place.as_of), cancel);
        // What a cancelled call would have shown was not shown.
        cancel.check()?;
        learning.learn();
        self.state.watch.show(&files);
        Ok(report)
    }

    /// Reads a JSON document, with the anchors of its values. Of its lines nothing counts as
    /// shown: edits by path name values by their hashes alone.
    pub fn read_json(&self, request: &JsonRequest, cancel: &Cancel) -> Result<JsonView> {
        self.read_json_at(&self.place(Reach::Reads), request, cancel)
    }

    fn read_json_at(
        &self,
        place: &Place,
        request: &JsonRequest,
        cancel: &Cancel,
    ) -> Result<JsonView> {
        place.wait(cancel)?;
        self.state.repeats.note_other();
        self.reader_of(&request.name()).read_json(request, cancel)
    }

    /// Searches files, within the limits of one call.
    pub fn search(&self, query: impl Into<SearchQuery>) -> Result<SearchResult> {
        self.search_with(&query.into(), &Cancel::default())
    }

    /// As [`Session::search`], unless it is cancelled.
    pub fn search_with(&self, query: &SearchQuery, cancel: &Cancel) -> Result<SearchResult> {
        self.search_telling(query, cancel, &|_, _| {})
    }

    /// As [`Session::search`]; `progress` is told now and then how many files of how many are
    /// done.
    pub fn search_telling(
        &self,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<SearchResult> {
        self.search_at(&self.place(Reach::Reads), query, cancel, progress)
    }

    fn search_at(
        &self,
        place: &Place,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<SearchResult> {
        place.wait(cancel)?;
        let limits = &self.options.limits;
        let mut query = query.clone();
        query.max_matches = query.max_matches.min(limits.max_matches);
        query.max_bytes = Some(query.max_bytes.unwrap_or(usize::MAX).min(limits.max_bytes));
        query.max_line_chars = Some(limits.line_chars(query.max_line_chars));
        self.look();
        self.state.repeats.note_other();
        let (result, updates) = self.search_in_order(&query, cancel, progress)?;
        let files = shown_files(&updates);
        let learning = self.state.memory.ready(updates, Some(place.as_of), cancel);
        cancel.check()?;
        learning.learn();
        self.state.watch.show(&files);
        Ok(result)
    }

    /// Learns from what a tool showed earlier: rows with anchors, under the headers of their
    /// files or of the file that `path` names. Only rows that are true of the files as they are
    /// now count; returns how many lines they are.
    pub fn observe(&self, text: &str, path: Option<&Path>, cancel: &Cancel) -> Result<u64> {
        let path = path.map(|path| unicode_path("path", path)).transpose()?;
        let updates = self
            .updates_of_rows(rows_by_header(self.options.workspace.dialect, text, path), cancel)?;
        let lines = updates.iter().map(|update| match update {
            MemoryUpdate::Shown { lines, .. } => lines.lines.count(),
            _ => 0,
        });
        let lines = lines.sum();
        let learning = self.state.memory.ready(updates, None, cancel);
        cancel.check()?;
        learning.learn();
        Ok(lines)
    }

    /// Applies a patch whose anchors mean the lines that were shown.
    pub fn apply(&self, patch: impl Into<Patch>) -> Result<Outcome> {
        self.apply_with(&patch.into(), &PatchOptions::default(), &Cancel::default())
    }

    /// As [`Session::apply`], with options of this one patch, unless it is cancelled.
    pub fn apply_with(
        &self,
        patch: &Patch,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        self.apply_at(&self.place(Reach::Writes), patch, patch_options, cancel)
    }

    fn apply_at(
        &self,
        place: &Place,
        patch: &Patch,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        // What is malformed is refused without waiting.
        let read = self.workspace.read_patch(patch, cancel);
        let as_of = if read.is_malformed() {
            place.as_of
        } else {
            place.wait(cancel)?;
            self.look();
            // What other processes were shown before the call was made, it may mean.
            self.state.memory.catch_up(place.as_of)
        };
        let (memory, patches) = (&self.state.memory, Some(&self.state.patches));
        let unseen = self.options.unseen;
        let recall = Some(Recall { memory, patches, unseen, as_of, cancel });
        let mut outcome = self.workspace.apply_recalling(read, patch_options, recall, cancel)?;
        self.state.repeats.note_patch(patch, patch_options, &mut outcome);
        // What the session wrote itself is no news, nor is what a refusal shows.
        let files = match &outcome {
            Outcome::Applied(_) if patch_options.dry_run => Vec::new(),
            Outcome::Applied(applied) => self.note_written(applied),
            Outcome::Rejected(rejected) => {
                let names = rejected.failures.iter().filter_map(|failure| failure.path.as_ref());
                let names: BTreeSet<&String> = names.collect();
                names.into_iter().filter_map(|name| self.named(name).ok()).collect()
            }
        };
        self.state.watch.show(&files);
        Ok(outcome)
    }

    /// A call begins.
    fn look(&self) {
        self.state.watch.look();
        self.state.broken.look();
    }

    /// Notes which files a patch has broken or mended; returns all that it has touched.
    fn note_written(&self, applied: &Applied) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for change in &applied.files {
            let gone = change.from.as_ref().map(|from| (from, None));
            for (name, state) in gone.into_iter().chain([(&change.path, change.syntax)]) {
                if let Ok(file) = self.named(name) {
                    files.push(file.clone());
                    self.state.broken.note(file, state);
                }
            }
        }
        files
    }

    /// Files that an earlier patch of the session has broken, and that are still as broken: found by
    /// the calls since, and returned once.
    pub fn broken_files(&self) -> Vec<String> {
        self.relative(&self.state.broken.take())
    }

    /// Files that were shown, and that somebody else has changed since: found by the calls so far,
    /// and returned once. Only the files that were shown last are watched, by what the file system
    /// says of them.
    pub fn changed_files(&self) -> Vec<String> {
        self.relative(&self.state.watch.take())
    }

    /// Files by names that start where the session works.
    fn relative(&self, files: &[PathBuf]) -> Vec<String> {
        // Where a relative name leads, whether or not there is a file.
        let here = self.named("_").ok().and_then(|name| name.parent().map(Path::to_owned));
        let here = here.unwrap_or_default();
        files.iter().map(|file| plain_path(file.strip_prefix(&here).unwrap_or(file))).collect()
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

/// The name under which a file is remembered.
fn canonical(scope: &Scope<'_>, path: &str) -> Result<PathBuf> {
    scope.base.canonical(path)
}
