//! Reads and edits files, directly or through a session that is stored on disk, so that commands,
//! hooks and servers with the same session share one memory of what was shown.
//!
//! Both print the same. A session only changes what anchors mean, and adds notes on its storage.

use hashline_core::{
    AfterWrite, Applied, Cancel, Code, Error, FileView, JsonRequest, JsonView, Outcome, Patch,
    PatchOptions, ReadRequest, Result, RowSink, SearchQuery, SearchResult, Session, SessionLimits,
    SessionOptions, StoreOptions, SyntaxCheck, Unseen, Workspace, WorkspaceOptions,
};
use hashline_tools::written_paths;

use crate::after::AfterCommands;

/// Commands show everything that was requested.
const UNLIMITED: SessionLimits = SessionLimits {
    max_lines: u64::MAX,
    max_bytes: usize::MAX,
    max_matches: u64::MAX,
    max_line_chars: u64::MAX,
};

/// Files, and the memory of what was shown, if there is one.
pub struct Files {
    workspace: Workspace<'static>,
    session: Option<Session>,
}

impl Files {
    /// Opens the files of a workspace; with a store, in the session that is stored there.
    pub fn open(options: WorkspaceOptions, store: Option<&StoreOptions>) -> Result<Files> {
        let open = |store| {
            let (workspace, limits) = (options.clone(), UNLIMITED);
            let options = SessionOptions { workspace, limits, ..SessionOptions::default() };
            Session::open(options, store)
        };
        let session = store.map(open).transpose()?;
        Ok(Files { workspace: Workspace::new(options), session })
    }

    /// The files without the session: for standard input, and for reads that need no memory.
    pub fn workspace(&self) -> &Workspace<'static> {
        &self.workspace
    }

    /// Reads files, each with a view of its own.
    pub fn read(&self, requests: &[ReadRequest], cancel: &Cancel) -> Result<Vec<FileView>> {
        let Some(session) = &self.session else {
            return self.workspace.read_with(requests, cancel);
        };
        let mut views = Vec::with_capacity(requests.len());
        for request in requests {
            // One file at a time, so that each view is the same as without a session.
            let request = std::slice::from_ref(request);
            views.extend(session.read_with(request, cancel)?.views);
        }
        Ok(views)
    }

    /// Reads one file and passes its lines on in pieces, after they were remembered.
    pub fn stream<E: From<Error>>(
        &self,
        request: &ReadRequest,
        cancel: &Cancel,
        mut pass_on: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<FileView, E> {
        if self.session.is_none() {
            return self.workspace.stream(request, cancel, pass_on);
        }
        let mut views = self.read(std::slice::from_ref(request), cancel)?;
        let none = || Error::new(Code::Internal, "a read without view");
        let mut view = views.pop().ok_or_else(none)?;
        if !view.text.is_empty() {
            pass_on(view.text.as_bytes())?;
            pass_on(b"\n")?;
        }
        view.text.clear();
        Ok(view)
    }

    /// Lists the directory that a request names, if it names one.
    pub fn list_directory(
        &self,
        request: &ReadRequest,
        cancel: &Cancel,
    ) -> Result<Option<FileView>> {
        self.workspace.list_directory(request, cancel)
    }

    /// Searches files and directories. The text goes to `sink`, if there is one; a session returns
    /// it in the result, because it remembers the whole text.
    pub fn search(
        &self,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
        sink: Option<RowSink<'_>>,
    ) -> Result<SearchResult> {
        match &self.session {
            Some(session) => session.search_with_progress(query, cancel, progress),
            None => self.workspace.search_with_progress(query, cancel, progress, sink),
        }
    }

    /// Reads a JSON document.
    pub fn read_json(&self, request: &JsonRequest, cancel: &Cancel) -> Result<JsonView> {
        match &self.session {
            Some(session) => session.read_json(request, cancel),
            None => self.workspace.read_json(request, cancel),
        }
    }

    /// Applies a patch.
    pub fn apply(&self, patch: &Patch, options: &PatchOptions, cancel: &Cancel) -> Result<Outcome> {
        match &self.session {
            Some(session) => session.apply_with(patch, options, cancel),
            None => self.workspace.apply_with(patch, options, cancel),
        }
    }

    /// The session; an error if there is none. `command` needs it.
    pub fn session(&self, command: &str) -> Result<&Session> {
        let none = || {
            let message = format!("{command} needs a session: name it by --session");
            Error::argument(message)
        };
        self.session.as_ref().ok_or_else(none)
    }

    /// Applies a patch and runs commands on the written files; the outcome is that of their final
    /// texts. Returns it with what the commands reported.
    pub fn apply_and_run(
        &self,
        patch: &Patch,
        options: &PatchOptions,
        commands: &AfterCommands,
        cancel: &Cancel,
    ) -> Result<(Outcome, AfterWrite)> {
        let passing;
        let session = match &self.session {
            Some(session) => session,
            None => {
                passing = self.passing_session()?;
                &passing
            }
        };
        let directory = session.absolute_path(".")?;
        let options = PatchOptions { keeps_written: true, ..options.clone() };
        let outcome = session.apply_with(patch, &options, cancel)?;
        let Outcome::Applied(Applied { written: Some(written), .. }) = &outcome else {
            return Ok((outcome, AfterWrite::default()));
        };
        let mut after = commands.run(&written_paths(session, written), &directory, cancel);
        // Ctrl-C at this point only ended the commands.
        let settled = session.settle(written, &after, &Cancel::default());
        // The edit is written in any case.
        let outcome = settled.unwrap_or_else(|error| {
            let note = format!("the files were not read again: {}", error.message);
            after.notes.push(note);
            Outcome::Applied(written.answer_before().clone())
        });
        Ok((outcome, after))
    }

    /// A session for one patch, in which anchors mean what they mean without one.
    fn passing_session(&self) -> Result<Session> {
        let mut workspace = self.workspace.options().clone();
        workspace.apply.syntax = workspace.apply.syntax.or(Some(SyntaxCheck::Off));
        let (limits, unseen) = (UNLIMITED, Unseen::Match);
        Session::new(SessionOptions { workspace, limits, unseen, ..SessionOptions::default() })
    }

    /// Whether a session determines what anchors mean.
    pub fn has_memory(&self) -> bool {
        self.session.is_some()
    }

    /// Problems with storing the session.
    pub fn notes(&self) -> Vec<String> {
        self.session.as_ref().map(Session::notes).unwrap_or_default()
    }
}
