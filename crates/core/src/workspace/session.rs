//! A session: one model, what it was shown, and edits that mean just that.
//!
//! It reads, searches and edits through a workspace. Whatever it shows is remembered (the lines
//! of reads and searches, the fresh anchors of an outcome, the lines of a refusal), and anchors
//! are taken to mean the lines that were shown. The rules: docs/sessions.md.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::turns::{Reach, Ticket, Turns};
use super::{Workspace, WorkspaceOptions};
use crate::cancel::Cancel;
use crate::disk::bytes::{Loaded, with_file};
use crate::edit::apply::Manner;
use crate::edit::outcome::Outcome;
use crate::edit::request::Value;
use crate::edit::session::{
    Body, LineSet, Memory, MemoryLimits, Moment, Recall, Unseen, rows_shown,
};
use crate::error::{Code, Error, Result};
use crate::text::lines::{LineIndex, Unit};
use crate::view::read::{FileView, ReadRequest, ViewKind, read_hashed};
use crate::view::render::{file_header, one_line};
use crate::view::scope::Scope;
use crate::view::search::{SearchQuery, SearchResult};

/// How much one call of a session shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// Lines of all files that a read shows.
    pub max_lines: u64,
    /// Bytes of text that a read or a search shows.
    pub max_bytes: usize,
    /// Matches that a read or a search shows.
    pub max_matches: u64,
}

impl Default for SessionLimits {
    fn default() -> Self {
        SessionLimits { max_lines: 2_000, max_bytes: 51_200, max_matches: 200 }
    }
}

/// An image that is larger is not handed over.
pub const IMAGE_LIMIT_BYTES: usize = 20 << 20;

/// What a session is made of.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// The workspace: its `cwd` is where relative paths start, its `root` confines writing.
    pub workspace: WorkspaceOptions,
    /// Directories that may be read beside the root.
    pub read_roots: Vec<String>,
    /// What to do with lines that were never shown.
    pub unseen: Unseen,
    /// How much one call shows.
    pub limits: SessionLimits,
    /// How much is remembered.
    pub memory: MemoryLimits,
}

/// A place in the order of a session's calls. It is taken when a call is made, whenever the
/// call's work begins.
pub struct Turn {
    ticket: Ticket,
    as_of: Moment,
    turns: Arc<Turns>,
    memory: Arc<Mutex<Memory>>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.leave(&self.ticket);
        lock(&self.memory).let_go(self.as_of);
    }
}

fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An image that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadImage {
    /// The path as requested.
    pub path: String,
    /// Its media type.
    pub mime_type: &'static str,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// Where a read that was cut goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOn {
    /// The path as requested.
    pub path: String,
    /// The first line that was not shown.
    pub start_line: u64,
}

/// What a read shows, ready for a model.
#[derive(Clone, Debug, Default)]
pub struct ReadReport {
    /// The lines with their anchors, with a header for each file when there are several.
    pub text: String,
    /// The views, in the order of the requests.
    pub views: Vec<FileView>,
    /// The images among them.
    pub images: Vec<ReadImage>,
    /// Where to go on, for each request that a limit cut.
    pub next: Vec<ReadOn>,
}

/// One model's work on files, and the memory of what it was shown.
pub struct Session {
    workspace: Workspace<'static>,
    /// The workspaces of directories that may be read beside the root.
    readable: Vec<Workspace<'static>>,
    options: SessionOptions,
    memory: Arc<Mutex<Memory>>,
    turns: Arc<Turns>,
}

/// What a view was made of, kept until the view is known to be the one that is returned.
enum Seen {
    Nothing,
    Text(Vec<u8>),
    Image(&'static str, Vec<u8>),
}

impl Session {
    /// A session that remembers nothing yet.
    pub fn new(options: SessionOptions) -> Session {
        let memory = Memory::new(options.memory);
        Session::with_memory(options, memory)
    }

    fn with_memory(options: SessionOptions, memory: Memory) -> Session {
        let readable = options.read_roots.iter().map(|root| {
            let root = Some(root.clone());
            Workspace::new(WorkspaceOptions { root, ..options.workspace.clone() })
        });
        Session {
            workspace: Workspace::new(options.workspace.clone()),
            readable: readable.collect(),
            options,
            memory: Arc::new(Mutex::new(memory)),
            turns: Arc::default(),
        }
    }

    /// A session of its own that remembers all that this one does.
    pub fn fork(&self) -> Session {
        Session::with_memory(self.options.clone(), self.lock().fork())
    }

    /// What the session is made of.
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// Bytes that its memory takes.
    pub fn memory_bytes(&self) -> usize {
        self.lock().bytes()
    }

    /// Forgets what was shown of a file, or of all files.
    pub fn forget(&self, path: Option<&str>) -> Result<()> {
        let Some(path) = path else {
            self.lock().forget_all();
            return Ok(());
        };
        let file = self.workspace.scoped(&Cancel::default(), |scope| {
            // One that is gone by now can be forgotten, too.
            canonical(scope, path).or_else(|_| Ok(scope.base.named(path)?.path()))
        })?;
        self.lock().forget(&file);
        Ok(())
    }

    /// Takes the place of a read or a search in the order of calls.
    pub fn reading(&self) -> Turn {
        self.turn(Reach::Reads)
    }

    /// Takes the place of an apply in the order of calls.
    pub fn writing(&self) -> Turn {
        self.turn(Reach::Writes)
    }

    fn turn(&self, reach: Reach) -> Turn {
        let ticket = self.turns.enter(reach);
        let as_of = self.lock().hold();
        let (turns, memory) = (Arc::clone(&self.turns), Arc::clone(&self.memory));
        Turn { ticket, as_of, turns, memory }
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        lock(&self.memory)
    }

    /// Reads files, within the limits of one call.
    pub fn read(
        &self,
        turn: &Turn,
        requests: &[ReadRequest],
        cancel: &Cancel,
    ) -> Result<ReadReport> {
        self.turns.wait(&turn.ticket, cancel)?;
        let mut report = ReadReport::default();
        let mut left = self.options.limits;
        let has_headers = requests.len() > 1;
        let mut blocks = Vec::new();
        for request in requests {
            let (view, seen) = self.read_one(request, &mut left, cancel)?;
            let block = describe(request, &view, &seen, &mut report);
            blocks.push(if has_headers {
                format!("{}\n{block}", file_header(&request.path))
            } else {
                block
            });
            report.views.push(view);
        }
        report.text = blocks.join("\n");
        Ok(report)
    }

    /// Reads one file with what is left of the limits, and remembers what it shows.
    fn read_one(
        &self,
        request: &ReadRequest,
        left: &mut SessionLimits,
        cancel: &Cancel,
    ) -> Result<(FileView, Seen)> {
        let mut request = request.clone();
        if left.max_lines == 0 || left.max_bytes == 0 {
            let start_line = request.start_line.unwrap_or(1);
            let (path, next_line) = (request.path, Some(start_line));
            let view =
                FileView { path, start_line, next_line, truncated: true, ..FileView::default() };
            return Ok((view, Seen::Nothing));
        }
        let limits = &mut request.limits;
        limits.max_lines = Some(limits.max_lines.unwrap_or(u64::MAX).min(left.max_lines));
        limits.max_bytes = Some(limits.max_bytes.unwrap_or(usize::MAX).min(left.max_bytes));
        request.max_matches = Some(request.max_matches.unwrap_or(u64::MAX).min(left.max_matches));
        let (view, seen) = self.in_first_root(&request.path, |workspace| {
            workspace.scoped(cancel, |scope| self.view(scope, &request))
        })?;
        let shown_lines = view.text.split('\n').count() as u64;
        left.max_lines = left.max_lines.saturating_sub(shown_lines);
        left.max_bytes = left.max_bytes.saturating_sub(view.text.len() + 1);
        left.max_matches = left
            .max_matches
            .saturating_sub(view.match_lines.as_ref().map_or(0, |lines| lines.len() as u64));
        Ok((view, seen))
    }

    /// Does `read` in the root, or in the first other directory that the path does not lead out
    /// of.
    fn in_first_root(
        &self,
        path: &str,
        read: impl Fn(&Workspace<'static>) -> Result<(FileView, Seen)>,
    ) -> Result<(FileView, Seen)> {
        let mut answer = read(&self.workspace)?;
        for workspace in &self.readable {
            let is_outside =
                answer.0.error.as_ref().is_some_and(|error| error.code == Code::OutsideRoot);
            if !is_outside {
                return Ok(answer);
            }
            answer = read(workspace)?;
        }
        if let Some(error) = &mut answer.0.error
            && error.code == Code::OutsideRoot
        {
            path.clone_into(&mut answer.0.path);
        }
        Ok(answer)
    }

    /// The view of one file, remembered.
    fn view(&self, scope: &Scope<'_>, request: &ReadRequest) -> Result<(FileView, Seen)> {
        let seen = Mutex::new(Seen::Nothing);
        let witness = |_, loaded: &Loaded, _: &FileView| {
            let now = match loaded {
                Loaded::Text(document) => Seen::Text(document.text().to_vec()),
                Loaded::Binary(binary) => match binary.image_type {
                    Some(kind) if binary.bytes().len() <= IMAGE_LIMIT_BYTES => {
                        Seen::Image(kind, binary.bytes().to_vec())
                    }
                    _ => Seen::Nothing,
                },
            };
            *seen.lock().unwrap_or_else(PoisonError::into_inner) = now;
        };
        let mut views = read_hashed(scope, std::slice::from_ref(request), witness, |view| view)?;
        let view = views.pop().ok_or_else(|| Error::new(Code::Internal, "a read without view"))?;
        let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let (Seen::Text(text), None) = (&seen, &view.error) {
            let index = LineIndex::new(text, Unit::Byte);
            let body = Body::new(text, &index);
            let lines = match view.match_lines {
                None if view.end_line >= view.start_line => {
                    LineSet::of(view.start_line, view.end_line)
                }
                _ => rows_shown(scope.dialect, &body, &view.text),
            };
            // A file that is gone by now is not remembered: it cannot be edited either.
            if let Ok(file) = canonical(scope, &request.path) {
                self.lock().show(&file, &body, &lines);
            }
        }
        Ok((view, seen))
    }

    /// Searches files, within the limits of one call.
    pub fn search(
        &self,
        turn: &Turn,
        query: &SearchQuery,
        cancel: &Cancel,
    ) -> Result<SearchResult> {
        self.turns.wait(&turn.ticket, cancel)?;
        let limits = &self.options.limits;
        let mut query = query.clone();
        query.max_matches = query.max_matches.min(limits.max_matches);
        query.max_bytes = Some(query.max_bytes.unwrap_or(usize::MAX).min(limits.max_bytes));
        let result = self.workspace.search(&query, cancel)?;
        self.learn_rows(&result.text, None, cancel)?;
        Ok(result)
    }

    /// Learns from what a tool showed earlier: rows with anchors, under the headers of their
    /// files or of the file that `path` names. Only rows that are true of the files as they are
    /// now count; returns how many lines they are.
    pub fn observe(&self, text: &str, path: Option<&str>, cancel: &Cancel) -> Result<u64> {
        self.learn_rows(text, path, cancel)
    }

    fn learn_rows(&self, text: &str, path: Option<&str>, cancel: &Cancel) -> Result<u64> {
        let mut blocks: Vec<(String, String)> = Vec::new();
        if let Some(path) = path {
            blocks.push((path.to_owned(), String::new()));
        }
        for row in text.lines() {
            let header = row.strip_prefix("--- ").and_then(|rest| rest.split_once(" ---"));
            match (header, blocks.last_mut()) {
                (Some((path, _)), _) => blocks.push((path.to_owned(), String::new())),
                (None, Some((_, rows))) => {
                    *rows += row;
                    rows.push('\n');
                }
                (None, None) => {}
            }
        }
        self.workspace.scoped(cancel, |scope| {
            let mut learned = 0;
            for (path, rows) in blocks.iter().filter(|(_, rows)| !rows.is_empty()) {
                learned += self.learn_file(scope, path, rows)?;
            }
            Ok(learned)
        })
    }

    /// Learns the rows of one file. A file that cannot be read now teaches nothing.
    fn learn_file(&self, scope: &Scope<'_>, path: &str, rows: &str) -> Result<u64> {
        let load = scope.load_options();
        let read = with_file(scope.fs, scope.base, path, &load, |loaded| match loaded {
            Loaded::Text(document) => Ok(Some(document.text().to_vec())),
            Loaded::Binary(_) => Ok(None),
        });
        scope.cancel.check()?;
        let (Ok(Some(text)), Ok(file)) = (read, canonical(scope, path)) else { return Ok(0) };
        let index = LineIndex::new(&text, Unit::Byte);
        let body = Body::new(&text, &index);
        let lines = rows_shown(scope.dialect, &body, rows);
        if !lines.is_empty() {
            self.lock().show(&file, &body, &lines);
        }
        Ok(lines.count())
    }

    /// Applies a patch whose anchors mean the lines that were shown.
    pub fn apply(
        &self,
        turn: &Turn,
        patch: &Value,
        dry_run: bool,
        diff_context_lines: u64,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        self.turns.wait(&turn.ticket, cancel)?;
        let (memory, unseen, as_of) = (&self.memory, self.options.unseen, turn.as_of);
        let manner = Manner {
            recall: Some(Recall { memory, unseen, as_of }),
            dry_run,
            diff_context_lines: Some(diff_context_lines),
        };
        self.workspace.apply_with(patch, &manner, cancel)
    }
}

/// The name under which a file is remembered.
fn canonical(scope: &Scope<'_>, path: &str) -> Result<PathBuf> {
    Ok(scope.base.existing(path)?.canonical().to_owned())
}

/// What a model is told of one view; images and where to go on go to the report, too.
fn describe(
    request: &ReadRequest,
    view: &FileView,
    seen: &Seen,
    report: &mut ReadReport,
) -> String {
    if let Some(error) = &view.error {
        return format!("{}: {}", error.code.as_str(), error.message);
    }
    match (view.kind, seen) {
        (ViewKind::Image, Seen::Image(mime_type, data)) => {
            let image = ReadImage { path: view.path.clone(), mime_type, data: data.clone() };
            let text = format!("(image, {mime_type}, {} bytes)", data.len());
            report.images.push(image);
            return text;
        }
        (ViewKind::Image | ViewKind::Binary, _) => {
            let kind = view.mime_type.unwrap_or("binary file");
            return format!("({kind}: not shown)");
        }
        (ViewKind::Text, _) => {}
    }
    let mut text = view.text.clone();
    match (&request.search, view.match_count) {
        (Some(query), Some(0)) => {
            text =
                format!("(no match for {} in {} lines)", one_line(&query.search), view.line_count);
        }
        _ if view.line_count == 0 && view.next_line.is_none() => {
            "(empty file)".clone_into(&mut text);
        }
        _ => {}
    }
    if let Some(start_line) = view.next_line {
        report.next.push(ReadOn { path: view.path.clone(), start_line });
        let newline = if text.is_empty() { "" } else { "\n" };
        text += &match (view.match_count, view.line_count) {
            (_, 0) => format!(
                "{newline}(Not shown: the limit of one call is reached. Go on from line {start_line}.)"
            ),
            (Some(matches), _) => {
                format!("{newline}({matches} lines match. Go on from line {start_line}.)")
            }
            (None, count) => {
                format!("{newline}(The file has {count} lines. Go on from line {start_line}.)")
            }
        };
    }
    text
}
