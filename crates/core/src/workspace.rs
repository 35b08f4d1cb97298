//! What all faces hold: a file system, where paths start, how files become lines, and how
//! patches are committed. Faces convert their values into its options and requests, call a
//! method, and convert the answer back.
//!
//! A workspace keeps nothing open: each call opens the root when it begins, and closes it at its end.
//! If another directory takes the root's place between two calls, the second call uses that one.

mod directories;
mod served;
mod session;
mod shape;
mod turns;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;

use hashline_syntax::Budget;

use crate::edit::apply::{
    Application, ApplyOptions, PatchOptions, ReadPatch, SyntaxReport, apply_hash, check_syntax,
    check_syntax_bytes, verify_bytes, verify_file,
};
use crate::edit::outcome::{Outcome, Rejected};
use crate::edit::request::Patch;
use crate::edit::session::Recall;
use crate::json::{JsonRequest, JsonView, read_json, read_json_bytes};
use crate::view::read::{
    FileView, ReadRequest, read_bytes, read_hashed, stream_bytes, stream_file,
};
use crate::view::scope::{Host, Scope};
use crate::view::search::{RowSink, SearchQuery, SearchResult, search_hashed};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result, Term};
use hashline_disk::bytes::{Charset, Loaded, MAX_FILE_BYTES};
use hashline_disk::commit::{
    RecoveryReport, StateDir, StateReport, TransactionContext, examine_state, recover_beneath,
};
use hashline_disk::fs::{FileSystem, OsFileSystem, unicode_path};
use hashline_lines::dialect::Dialect;

pub use directories::Root;
pub use served::serves;
pub use session::{
    IMAGE_LIMIT_BYTES, ReadImage, ReadOn, ReadReport, Session, SessionLimits, SessionOptions,
    StoreOptions, Turn,
};
pub use turns::Start;

/// What all calls of a workspace have in common.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "shape::WorkspaceShape")]
pub struct WorkspaceOptions {
    /// Outside of it nothing is read or written.
    pub root: Root,
    /// Where relative paths start: in the root, or where that is no directory of its own, in the
    /// working directory of the process when `None`.
    pub cwd: Option<PathBuf>,
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// The label of the encoding of files without byte order mark, and of new files; UTF-8 when
    /// `None`.
    pub encoding: Option<String>,
    /// Larger files are refused.
    pub max_file_bytes: u64,
    /// Where journals and locks are; the platform's directory for state when `None`.
    pub state_dir: Option<PathBuf>,
    /// How patches are applied.
    pub apply: ApplyOptions,
    /// What a face asks for that passes answers on to another language.
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

/// Files to read, search and edit.
#[derive(Clone)]
pub struct Workspace<'fs> {
    fs: &'fs dyn FileSystem,
    options: WorkspaceOptions,
}

impl Workspace<'static> {
    /// The files of the system.
    pub fn new(options: WorkspaceOptions) -> Self {
        Workspace { fs: &OsFileSystem, options }
    }
}

impl<'fs> Workspace<'fs> {
    /// The files of another file system.
    pub fn on(fs: &'fs dyn FileSystem, options: &WorkspaceOptions) -> Self {
        Workspace { fs, options: options.clone() }
    }

    /// What all calls have in common.
    pub fn options(&self) -> &WorkspaceOptions {
        &self.options
    }

    /// Reads a file: its view, or why there is none.
    pub fn read(&self, request: impl Into<ReadRequest>) -> Result<FileView> {
        let mut views = self.read_with(&[request.into()], &Cancel::default())?;
        let view = views.pop().ok_or_else(|| Error::new(Code::Internal, "a read without view"))?;
        view.error().cloned().map_or(Ok(view), Err)
    }

    /// Reads many files in parallel. Views come in the order of the requests; a file that cannot
    /// be read has its reason in its view. Fails only for misuse of the options and cancellation.
    pub fn read_with(&self, requests: &[ReadRequest], cancel: &Cancel) -> Result<Vec<FileView>> {
        self.read_as(requests, cancel, |view| view)
    }

    /// As [`Workspace::read_with`]; each view is converted on the thread that made it.
    pub fn read_as<T: Send>(
        &self,
        requests: &[ReadRequest],
        cancel: &Cancel,
        convert: impl Fn(FileView) -> T + Sync,
    ) -> Result<Vec<T>> {
        let nobody = |_, _: &Loaded, _: &FileView| {};
        self.scoped(cancel, |scope| read_hashed(scope, requests, nobody, convert))
    }

    /// As [`Workspace::read_with`] of one file, for bytes that came from elsewhere (a pipe); the path
    /// of the request is what they are called.
    pub fn read_bytes(
        &self,
        request: &ReadRequest,
        bytes: &[u8],
        cancel: &Cancel,
    ) -> Result<FileView> {
        self.scoped(cancel, |scope| read_bytes(scope, request, bytes))
    }

    /// As [`Workspace::read_with`] of one file, whose lines are passed on in pieces: its view has no
    /// text, and nothing of it is kept. Fails with what went wrong, also with the file.
    pub fn stream<E: From<Error>>(
        &self,
        request: &ReadRequest,
        cancel: &Cancel,
        pass_on: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<FileView, E> {
        self.streamed(cancel, pass_on, |scope, pass_on| stream_file(scope, request, pass_on))
    }

    /// As [`Workspace::stream`], for bytes that came from elsewhere.
    pub fn stream_bytes<E: From<Error>>(
        &self,
        request: &ReadRequest,
        bytes: &[u8],
        cancel: &Cancel,
        pass_on: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<FileView, E> {
        self.streamed(cancel, pass_on, |scope, pass_on| {
            stream_bytes(scope, request, bytes, pass_on)
        })
    }

    /// Keeps the failure of `pass_on`, which is the caller's, apart from those of the engine.
    fn streamed<E: From<Error>>(
        &self,
        cancel: &Cancel,
        mut pass_on: impl FnMut(&[u8]) -> std::result::Result<(), E>,
        stream: impl FnOnce(&Scope<'_>, &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<FileView>,
    ) -> std::result::Result<FileView, E> {
        let mut refused = None;
        let mut accept = |piece: &[u8]| {
            pass_on(piece).map_err(|failure| {
                refused = Some(failure);
                Error::new(Code::Aborted, "nobody takes the lines that were read")
            })
        };
        let streamed = self.scoped(cancel, |scope| stream(scope, &mut accept));
        match refused {
            Some(failure) => Err(failure),
            None => Ok(streamed?),
        }
    }

    /// Compares anchors with a file, each with the line of its number alone: what an apply would
    /// answer that follows no line. `None` when all of them hold.
    pub fn verify(
        &self,
        path: impl AsRef<Path>,
        anchors: &[String],
        cancel: &Cancel,
    ) -> Result<Option<Rejected>> {
        let path = unicode_path("path", path.as_ref())?;
        self.scoped(cancel, |scope| verify_file(scope, path, anchors))
    }

    /// As [`Workspace::verify`], for bytes that came from elsewhere; `name` is what they are
    /// called.
    pub fn verify_bytes(
        &self,
        name: &str,
        bytes: &[u8],
        anchors: &[String],
        cancel: &Cancel,
    ) -> Result<Option<Rejected>> {
        self.scoped(cancel, |scope| verify_bytes(scope, name, bytes, anchors))
    }

    /// Says whether a file parses, and what is wrong first.
    pub fn check_syntax(&self, path: impl AsRef<Path>, cancel: &Cancel) -> Result<SyntaxReport> {
        let path = unicode_path("path", path.as_ref())?;
        self.scoped(cancel, |scope| check_syntax(scope, path))
    }

    /// As [`Workspace::check_syntax`], for bytes that came from elsewhere; the path is what they
    /// are called.
    pub fn check_syntax_bytes(
        &self,
        path: &str,
        bytes: &[u8],
        cancel: &Cancel,
    ) -> Result<SyntaxReport> {
        self.scoped(cancel, |scope| check_syntax_bytes(scope, path, bytes))
    }

    /// Reads a JSON document, with the anchors of its values. Fails when the file cannot be read,
    /// or is not JSON.
    pub fn read_json(&self, request: &JsonRequest, cancel: &Cancel) -> Result<JsonView> {
        self.scoped(cancel, |scope| read_json(scope, request))
    }

    /// As [`Workspace::read_json`], for bytes that came from elsewhere; the path of the request is
    /// what they are called.
    pub fn read_json_bytes(
        &self,
        request: &JsonRequest,
        bytes: &[u8],
        cancel: &Cancel,
    ) -> Result<JsonView> {
        self.scoped(cancel, |scope| read_json_bytes(scope, request, bytes))
    }

    /// Searches files and directories. What cannot be searched is reported in the result; fails
    /// only for misuse.
    pub fn search(&self, query: impl Into<SearchQuery>) -> Result<SearchResult> {
        self.search_with(&query.into(), &Cancel::default())
    }

    /// As [`Workspace::search`], unless it is cancelled.
    pub fn search_with(&self, query: &SearchQuery, cancel: &Cancel) -> Result<SearchResult> {
        self.search_telling(query, cancel, &|_, _| {}, None)
    }

    /// As [`Workspace::search`]; `progress` is told now and then how many files of how many are
    /// done. Where there is a `sink`, the text goes there, file by file as soon as it is certain,
    /// and not into the result; the search ends early when the sink wants no more.
    pub fn search_telling(
        &self,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
        sink: Option<RowSink<'_>>,
    ) -> Result<SearchResult> {
        cancel.check()?;
        let search = |scope: &Scope<'_>| search_hashed(scope, query, progress, sink, |_| ());
        self.scoped(cancel, search).map(|(result, _)| result)
    }

    /// Applies a patch to files: all of it or nothing. Fails only for misuse of the options, and
    /// faults after the first change.
    pub fn apply(&self, patch: impl Into<Patch>) -> Result<Outcome> {
        self.apply_with(&patch.into(), &PatchOptions::default(), &Cancel::default())
    }

    /// As [`Workspace::apply`], with options of this one patch, unless it is cancelled.
    pub fn apply_with(
        &self,
        patch: &Patch,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        self.apply_recalling(self.read_patch(patch, cancel), patch_options, None, cancel)
    }

    /// Reads a patch.
    fn read_patch(&self, patch: &Patch, cancel: &Cancel) -> ReadPatch {
        ReadPatch::of(self.options.dialect, patch, cancel)
    }

    /// As [`Workspace::apply`], where a session says what anchors mean.
    fn apply_recalling(
        &self,
        patch: ReadPatch,
        patch_options: &PatchOptions,
        recall: Option<Recall<'_>>,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        let state = &self.state_dir()?;
        let how = Application { state, options: &self.options.apply, patch_options, recall };
        self.scoped(cancel, |scope| apply_hash(scope, &how, patch))
    }

    /// Works off every journal of a dead process in the state directory; with a root, as far as
    /// the files of a journal lie beneath it.
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

    /// Looks at the state directory: what waits there for a recovery, and whether its file system
    /// has what transactions need.
    pub fn examine_state(&self) -> Result<StateReport> {
        examine_state(self.fs, &self.state_dir()?)
            .map_err(|error| error.spelled(self.options.host.spelling))
    }

    fn state_dir(&self) -> Result<StateDir> {
        state_dir(self.options.state_dir.as_deref())
            .map_err(|error| error.spelled(self.options.host.spelling))
    }

    /// Does `work` with the root open and the options checked.
    pub(crate) fn scoped<T>(
        &self,
        cancel: &Cancel,
        work: impl FnOnce(&Scope<'_>) -> Result<T>,
    ) -> Result<T> {
        let options = &self.options;
        let charset = options.encoding.as_deref().map(Charset::by_label).transpose()?;
        let base = options.base()?;
        let is_cancelled = || cancel.is_cancelled();
        let budget = &Budget::new(&is_cancelled);
        work(&Scope {
            fs: self.fs,
            base: &base,
            dialect: options.dialect,
            charset,
            max_file_bytes: options.max_file_bytes,
            host: options.host,
            cancel,
            budget,
        })
        .map_err(|error| error.spelled(options.host.spelling))
    }
}

/// The state directory that an option names.
fn state_dir(dir: Option<&Path>) -> Result<StateDir> {
    StateDir::new(dir.map(|dir| unicode_path(Term::StateDir.name(), dir)).transpose()?)
}
