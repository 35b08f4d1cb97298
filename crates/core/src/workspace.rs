//! The entry point of every binding: the root, the options, and methods to read, search and edit. A
//! binding converts its values into options and requests, calls a method, and converts the answer.
//!
//! A workspace keeps no file open: each call opens the root and closes it. If the root was replaced
//! by another directory between two calls, the second call uses the new one.

mod directories;
mod roots;
mod session;
mod shape;
mod turns;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;

use hashline_syntax::Budget;

use crate::edit::apply::{
    Application, ApplyOptions, PatchOptions, ReadPatch, SyntaxReport, apply_hash, check_syntax,
    check_syntax_bytes, verify_bytes, verify_file,
};
use crate::edit::outcome::{Outcome, Rejected};
use crate::edit::request::Patch;
use crate::edit::session::CallMemory;
use crate::json::{JsonRequest, JsonView, read_json, read_json_bytes};
use crate::view::read::{
    FileView, ReadRequest, read_bytes, read_hashed, stream_bytes, stream_file,
};
use crate::view::scope::{Encodings, Host, Scope};
use crate::view::search::{RowSink, SearchQuery, SearchResult, directory_view, search_and_explain};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result, Term};
use hashline_disk::bytes::{Charset, Loaded, MAX_FILE_BYTES};
use hashline_disk::commit::{
    RecoveryReport, StateDir, StateReport, TransactionContext, examine_state, recover_beneath,
};
use hashline_disk::fs::{Base, FileSystem, OsFileSystem, unicode_path};
use hashline_disk::overlay::Overlay;
use hashline_lines::dialect::Dialect;
use hashline_memory::SessionMemory;

pub use directories::Root;
pub use roots::serves;
pub use session::{
    AnnotateOptions, ChangedFile, Delivery, IMAGE_LIMIT_BYTES, Mark, OpenDocumentInfo,
    PREVIEW_FILE_BYTES, Plan, ReadImage, ReadOn, ReadReport, RunsIn, Session, SessionChange,
    SessionLimits, SessionOptions, StoreOptions, Subscription, Turn, UndoRequest, UndoablePatch,
};
pub use turns::Start;

/// The options that all calls of a workspace share.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "shape::WorkspaceShape")]
pub struct WorkspaceOptions {
    /// No file outside of it is read or written.
    pub root: Root,
    /// The base of relative paths. `None` means the root, if that is a directory of its own,
    /// otherwise the working directory of the process.
    pub cwd: Option<PathBuf>,
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// The label of the encoding of new files and of files without a byte order mark; `None` is
    /// UTF-8.
    pub encoding: Option<String>,
    /// The largest file size that is accepted.
    pub max_file_bytes: u64,
    /// The directory of journals and locks; `None` means the platform's state directory.
    pub state_dir: Option<PathBuf>,
    /// How patches are applied.
    pub apply: ApplyOptions,
    /// The conventions of a binding for another language.
    pub host: Host,
}

impl Default for WorkspaceOptions {
    fn default() -> Self {
        WorkspaceOptions {
            root: Root::default(),
            cwd: None,
            dialect: Dialect::default_dialect(),
            encoding: None,
            max_file_bytes: MAX_FILE_BYTES,
            state_dir: None,
            apply: ApplyOptions::default(),
            host: Host::default(),
        }
    }
}

/// Reads, searches and edits files.
#[derive(Clone)]
pub struct Workspace<'fs> {
    fs: &'fs dyn FileSystem,
    options: WorkspaceOptions,
    /// The documents of a session, and whether it has a disk.
    documents: Option<(Arc<Overlay>, bool)>,
    /// The memory of a session, which knows the encodings of files.
    memory: Option<Arc<SessionMemory>>,
}

impl Workspace<'static> {
    /// A workspace on the system's files.
    pub fn new(options: WorkspaceOptions) -> Self {
        Workspace { fs: &OsFileSystem, options, documents: None, memory: None }
    }
}

impl<'fs> Workspace<'fs> {
    /// A workspace on another file system.
    pub fn on(fs: &'fs dyn FileSystem, options: &WorkspaceOptions) -> Self {
        Workspace { fs, options: options.clone(), documents: None, memory: None }
    }

    /// The workspace with the documents of a session, and with or without a disk.
    fn with_documents(self, overlay: Arc<Overlay>, has_disk: bool) -> Self {
        Workspace { documents: Some((overlay, has_disk)), ..self }
    }

    /// The workspace with the memory of a session. It guesses the encodings of files.
    fn with_memory(self, memory: Arc<SessionMemory>) -> Self {
        Workspace { memory: Some(memory), ..self }
    }

    fn on_other(self, fs: &'fs dyn FileSystem) -> Self {
        Workspace { fs, ..self }
    }

    /// The workspace with a lower size limit of files.
    fn limited_to(&self, max_file_bytes: u64) -> Self {
        let mut workspace = self.clone();
        let limit = &mut workspace.options.max_file_bytes;
        *limit = max_file_bytes.min(*limit);
        workspace
    }

    fn has_disk(&self) -> bool {
        self.documents.as_ref().is_none_or(|(_, has_disk)| *has_disk)
    }

    /// Opens the root.
    fn base(&self) -> Result<Base> {
        match &self.documents {
            None => self.options.base(),
            Some((overlay, true)) => Ok(self.options.base()?.with_overlay(Arc::clone(overlay))),
            Some((overlay, false)) => self.options.base_without_disk(Arc::clone(overlay)),
        }
    }

    /// The options that all calls share.
    pub fn options(&self) -> &WorkspaceOptions {
        &self.options
    }

    /// Reads a file: returns its view, which may be an error.
    pub fn read(&self, request: impl Into<ReadRequest>) -> Result<FileView> {
        let mut views = self.read_with(&[request.into()], &Cancel::default())?;
        let view = views.pop().ok_or_else(|| Error::new(Code::Internal, "a read without view"))?;
        view.error().cloned().map_or(Ok(view), Err)
    }

    /// Reads many files in parallel. Views are in the order of the requests; a file that cannot be
    /// read has an error in its view. Fails only for invalid options and cancellation.
    pub fn read_with(&self, requests: &[ReadRequest], cancel: &Cancel) -> Result<Vec<FileView>> {
        self.read_as(requests, cancel, |view| view)
    }

    /// The view of the directory that a request names, if it names one and asks for no lines. Reads
    /// of sessions list directories; for other reads they are an error.
    pub fn list_directory(
        &self,
        request: &ReadRequest,
        cancel: &Cancel,
    ) -> Result<Option<FileView>> {
        self.scoped(cancel, |scope| directory_view(scope, request))
    }

    /// Like [`Workspace::read_with`]; converts each view on the thread that made it.
    pub fn read_as<T: Send>(
        &self,
        requests: &[ReadRequest],
        cancel: &Cancel,
        convert: impl Fn(FileView) -> T + Sync,
    ) -> Result<Vec<T>> {
        let nobody = |_, _: &Loaded, _: &FileView| {};
        self.scoped(cancel, |scope| read_hashed(scope, requests, nobody, convert))
    }

    /// Like [`Workspace::read_with`] for one file, for bytes in memory, such as from a pipe. The
    /// path of the request is only their name.
    pub fn read_bytes(
        &self,
        request: &ReadRequest,
        bytes: &[u8],
        cancel: &Cancel,
    ) -> Result<FileView> {
        self.scoped(cancel, |scope| read_bytes(scope, request, bytes))
    }

    /// Like [`Workspace::read_with`] for one file, but passes its lines to `pass_on` in pieces; the
    /// view has no text. Also fails if the file cannot be read.
    pub fn stream<E: From<Error>>(
        &self,
        request: &ReadRequest,
        cancel: &Cancel,
        pass_on: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<FileView, E> {
        self.stream_with(cancel, pass_on, |scope, pass_on| stream_file(scope, request, pass_on))
    }

    /// Like [`Workspace::stream`], for bytes in memory.
    pub fn stream_bytes<E: From<Error>>(
        &self,
        request: &ReadRequest,
        bytes: &[u8],
        cancel: &Cancel,
        pass_on: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<FileView, E> {
        self.stream_with(cancel, pass_on, |scope, pass_on| {
            stream_bytes(scope, request, bytes, pass_on)
        })
    }

    /// Distinguishes an error of `pass_on`, which is the caller's, from an error of the read.
    fn stream_with<E: From<Error>>(
        &self,
        cancel: &Cancel,
        mut pass_on: impl FnMut(&[u8]) -> std::result::Result<(), E>,
        stream: impl FnOnce(&Scope<'_>, &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<FileView>,
    ) -> std::result::Result<FileView, E> {
        let mut refused = None;
        let mut accept = |piece: &[u8]| {
            pass_on(piece).map_err(|failure| {
                refused = Some(failure);
                Error::new(Code::Aborted, "the caller stopped the stream")
            })
        };
        let result = self.scoped(cancel, |scope| stream(scope, &mut accept));
        match refused {
            Some(failure) => Err(failure),
            None => Ok(result?),
        }
    }

    /// Compares anchors with a file: each anchor must match the line with its number, wherever that
    /// line may have moved. Returns the refusal of an apply, or `None` if all anchors match.
    pub fn verify(
        &self,
        path: impl AsRef<Path>,
        anchors: &[String],
        cancel: &Cancel,
    ) -> Result<Option<Rejected>> {
        let path = unicode_path("path", path.as_ref())?;
        self.scoped(cancel, |scope| verify_file(scope, path, anchors))
    }

    /// Like [`Workspace::verify`], for bytes in memory; `name` is only their name.
    pub fn verify_bytes(
        &self,
        name: &str,
        bytes: &[u8],
        anchors: &[String],
        cancel: &Cancel,
    ) -> Result<Option<Rejected>> {
        self.scoped(cancel, |scope| verify_bytes(scope, name, bytes, anchors))
    }

    /// Parses a file and reports the first error.
    pub fn check_syntax(&self, path: impl AsRef<Path>, cancel: &Cancel) -> Result<SyntaxReport> {
        let path = unicode_path("path", path.as_ref())?;
        self.scoped(cancel, |scope| check_syntax(scope, path))
    }

    /// Like [`Workspace::check_syntax`], for bytes in memory; the path is only their name.
    pub fn check_syntax_bytes(
        &self,
        path: &str,
        bytes: &[u8],
        cancel: &Cancel,
    ) -> Result<SyntaxReport> {
        self.scoped(cancel, |scope| check_syntax_bytes(scope, path, bytes))
    }

    /// Reads a JSON document with the anchors of its values. Fails if the file cannot be read or is
    /// not JSON.
    pub fn read_json(&self, request: &JsonRequest, cancel: &Cancel) -> Result<JsonView> {
        self.scoped(cancel, |scope| read_json(scope, request))
    }

    /// Like [`Workspace::read_json`], for bytes in memory; the path of the request is only their
    /// name.
    pub fn read_json_bytes(
        &self,
        request: &JsonRequest,
        bytes: &[u8],
        cancel: &Cancel,
    ) -> Result<JsonView> {
        self.scoped(cancel, |scope| read_json_bytes(scope, request, bytes))
    }

    /// Searches files and directories. Reports what cannot be searched in the result; fails only
    /// for invalid arguments.
    pub fn search(&self, query: impl Into<SearchQuery>) -> Result<SearchResult> {
        self.search_with(&query.into(), &Cancel::default())
    }

    /// Like [`Workspace::search`], with cancellation.
    pub fn search_with(&self, query: &SearchQuery, cancel: &Cancel) -> Result<SearchResult> {
        self.search_with_progress(query, cancel, &|_, _| {}, None)
    }

    /// Like [`Workspace::search`]. Calls `progress` periodically with the number of files searched
    /// and the total. With a `sink`, the text of each file goes there as soon as it is final, and
    /// the result has no text; the search ends early if the sink returns false.
    pub fn search_with_progress(
        &self,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
        sink: Option<RowSink<'_>>,
    ) -> Result<SearchResult> {
        cancel.check()?;
        self.scoped(cancel, |scope| search_and_explain(scope, query, progress, sink))
    }

    /// Applies a patch to files, all of it or nothing. Fails only for invalid options, and for
    /// faults after the first change.
    pub fn apply(&self, patch: impl Into<Patch>) -> Result<Outcome> {
        self.apply_with(&patch.into(), &PatchOptions::default(), &Cancel::default())
    }

    /// Like [`Workspace::apply`], with options for this patch and cancellation.
    pub fn apply_with(
        &self,
        patch: &Patch,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        self.apply_remembering(self.read_patch(patch, cancel), patch_options, None, cancel)
    }

    /// Parses a patch.
    fn read_patch(&self, patch: &Patch, cancel: &Cancel) -> ReadPatch {
        ReadPatch::of(self.options.dialect, patch, cancel)
    }

    /// Like [`Workspace::apply`], with the memory of a session to resolve anchors.
    fn apply_remembering(
        &self,
        patch: ReadPatch,
        patch_options: &PatchOptions,
        call_memory: Option<CallMemory<'_>>,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        // Without a disk, the directory is not used, so it need not be known.
        let state = &if self.has_disk() { self.state_dir()? } else { StateDir::new(Some("/"))? };
        let how = Application { state, options: &self.options.apply, patch_options, call_memory };
        let given = patch_options.encoding.as_deref().map(Charset::by_label).transpose()?;
        self.scoped(cancel, |scope| {
            apply_hash(&Scope { charset: given.or(scope.charset), ..*scope }, &how, patch)
        })
    }

    /// Recovers the journals of dead processes in the state directory; with a root, only journals
    /// whose files are all within it.
    pub fn recover(&self, cancel: &Cancel) -> Result<RecoveryReport> {
        let options = &self.options;
        let state = self.state_dir()?;
        let timeout = Duration::from_millis(options.apply.lock_timeout_ms);
        let recover = || {
            let base = options.base()?;
            let context = TransactionContext { fs: self.fs, base: &base, state: &state };
            recover_beneath(context, Instant::now() + timeout, cancel)
        };
        let report = recover().map_err(|error| error.spelled(options.host.spelling))?;
        let failed = report.failed.into_iter().map(|error| error.spelled(options.host.spelling));
        Ok(RecoveryReport { failed: failed.collect(), ..report })
    }

    /// Inspects the state directory: which journals need recovery, and whether its file system
    /// supports transactions.
    pub fn examine_state(&self) -> Result<StateReport> {
        examine_state(self.fs, &self.state_dir()?)
            .map_err(|error| error.spelled(self.options.host.spelling))
    }

    fn state_dir(&self) -> Result<StateDir> {
        state_dir(self.options.state_dir.as_deref())
            .map_err(|error| error.spelled(self.options.host.spelling))
    }

    /// Validates the options, opens the root and calls `work`.
    pub(crate) fn scoped<T>(
        &self,
        cancel: &Cancel,
        work: impl FnOnce(&Scope<'_>) -> Result<T>,
    ) -> Result<T> {
        let options = &self.options;
        let charset = options.encoding.as_deref().map(Charset::by_label).transpose()?;
        let base = self.base()?;
        let is_cancelled = || cancel.is_cancelled();
        let budget = &Budget::new(&is_cancelled);
        let memory = self.memory.as_deref();
        let encodings = &memory.map(Encodings::of_session).unwrap_or_default();
        work(&Scope {
            fs: self.fs,
            base: &base,
            dialect: options.dialect,
            charset,
            encodings,
            max_file_bytes: options.max_file_bytes,
            host: options.host,
            cancel,
            budget,
        })
        .map_err(|error| error.spelled(options.host.spelling))
    }
}

/// The path of the state directory given by an option.
pub fn state_path(dir: Option<&Path>) -> Result<PathBuf> {
    Ok(state_dir(dir)?.path().to_owned())
}

/// The state directory given by an option.
fn state_dir(dir: Option<&Path>) -> Result<StateDir> {
    StateDir::new(dir.map(|dir| unicode_path(Term::StateDir.name(), dir)).transpose()?)
}
