//! The calls without a session: they deserialize requests and options, call the core, and serialize
//! its answer.

use hashline_core::host::{FormatOptions, Host, Term, serves, string_of};
use hashline_core::{
    Cancel, Code, Error, FileView, JsonRequest, Patch, PatchOptions, ReadRequest, Result,
    SearchQuery, ViewKind, Workspace, WorkspaceOptions, apply_to_text, format_hashed, hash_lines,
};
use hashline_guard::{Policy, check_among};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::buffer::{Input, parsed, parsed_options, taken_options};

/// The names that C callers use for the terms in messages of the core.
pub(crate) fn spelling(term: Term) -> &'static str {
    match term {
        Term::LockTimeout => "lockTimeoutMs",
        Term::StateDir => "stateDir",
        Term::MaxFileBytes => "maxFileBytes",
        Term::StartLine => "startLine",
        Term::MaxLines => "maxLines",
        Term::MaxBytes => "maxBytes",
        Term::MaxFiles => "maxFiles",
        Term::CaseSensitive => "caseSensitive",
        Term::Literal => term.name(),
        Term::MaxVersions => "maxVersions",
        Term::Recover => "hashline_recover()",
    }
}

/// Serializes an answer as JSON.
pub(crate) fn data(answer: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(answer).map_err(|cause| {
        Error::new(Code::Internal, format!("the answer cannot be serialized as JSON: {cause}"))
    })
}

/// A workspace whose messages use the names of C callers.
fn c_workspace(options: WorkspaceOptions) -> Workspace<'static> {
    let host = Host { spelling, ..options.host };
    Workspace::new(WorkspaceOptions { host, ..options })
}

fn workspace(options: Input<'_>) -> Result<Workspace<'static>> {
    let given: WorkspaceOptions = options.object_or_default()?;
    Ok(c_workspace(given))
}

/// One request, or several in an array.
pub(crate) fn requests(input: Input<'_>) -> Result<Vec<ReadRequest>> {
    let text = input.text()?;
    if text.trim_start().starts_with('[') {
        return parsed(input.name(), text);
    }
    Ok(vec![input.json()?])
}

/// A patch in JSON; the core validates its operations.
pub(crate) fn patch(input: Input<'_>) -> Result<Patch> {
    Patch::from_json(input.text()?)
        .map_err(|error| Error::argument(format!("{}: {}", input.name(), error.message)))
}

pub(crate) fn read(input: Input<'_>, options: Input<'_>) -> Result<Vec<u8>> {
    let requests = requests(input)?;
    data(&workspace(options)?.read_with(&requests, &Cancel::default())?)
}

pub(crate) fn read_text(request: Input<'_>, options: Input<'_>) -> Result<Vec<u8>> {
    let request: ReadRequest = request.json()?;
    let views = workspace(options)?.read_with(&[request], &Cancel::default())?;
    views.into_iter().next().map_or(Ok(Vec::new()), rows)
}

/// The text of a view, or the reason why it has none.
fn rows(view: FileView) -> Result<Vec<u8>> {
    let FileView { path, kind, text, .. } = view;
    match kind {
        ViewKind::Text(_) => Ok(text.into_bytes()),
        ViewKind::Error { error } => Err(error),
        kind => {
            let message = format!("{path}: is not text ({}) and has no lines", kind.as_str());
            Err(Error::at(Code::BinaryFile, &path, message))
        }
    }
}

pub(crate) fn read_json(request: Input<'_>, options: Input<'_>) -> Result<Vec<u8>> {
    let request: JsonRequest = request.json()?;
    data(&workspace(options)?.read_json(&request, &Cancel::default())?)
}

pub(crate) fn search(query: Input<'_>, options: Input<'_>) -> Result<Vec<u8>> {
    let query: SearchQuery = query.object()?;
    data(&workspace(options)?.search_with(&query, &Cancel::default())?)
}

/// The number of unchanged lines that diffs show around each change.
pub(crate) const CONTEXT_LINES: u64 = 3;

pub(crate) fn apply(input: Input<'_>, options: Input<'_>) -> Result<Vec<u8>> {
    let patch = patch(input)?;
    let mut given: Map<String, Json> = options.object_or_default()?;
    let mut of_patch: PatchOptions = taken_options(&mut given, &["dryRun", "context"])?;
    // The purpose of a dry run is to see the diff.
    let default = of_patch.dry_run.then_some(CONTEXT_LINES);
    of_patch.diff_context_lines = of_patch.diff_context_lines.or(default);
    data(&c_workspace(parsed_options(given)?).apply_with(&patch, &of_patch, &Cancel::default())?)
}

pub(crate) fn apply_text(
    text: Input<'_>,
    operations: Input<'_>,
    options: Input<'_>,
) -> Result<Vec<u8>> {
    let (text, operations) = (text.text()?, patch(operations)?);
    let WorkspaceOptions { dialect, apply, .. } = options.object_or_default()?;
    data(&apply_to_text(dialect, text, &operations, &apply.edit))
}

pub(crate) fn recover(options: Input<'_>) -> Result<Vec<u8>> {
    data(&workspace(options)?.recover(&Cancel::default())?)
}

/// Replaces invalid sequences by U+FFFD: so they are shown and hashed.
fn with_utf8<T>(bytes: &[u8], work: impl FnOnce(&[u8]) -> T) -> T {
    match hashline_core::host::valid_utf8(bytes) {
        Some(_) => work(bytes),
        None => work(string_of(bytes.to_vec()).as_bytes()),
    }
}

pub(crate) fn format(text: Input<'_>, options: Input<'_>) -> Result<Vec<u8>> {
    let options: FormatOptions = options.object_or_default()?;
    let (dialect, start_line) = (options.dialect(), options.start_line());
    Ok(with_utf8(text.bytes()?, |text| format_hashed(dialect, text, start_line)))
}

pub(crate) fn hashes(text: Input<'_>, options: Input<'_>) -> Result<Vec<u8>> {
    let options: FormatOptions = options.object_or_default()?;
    let (dialect, start_line) = (options.dialect(), options.start_line());
    data(&with_utf8(text.bytes()?, |text| hash_lines(dialect, text, start_line)))
}

pub(crate) fn check_command(line: Input<'_>, policy: Input<'_>) -> Result<Vec<u8>> {
    let line = line.text()?;
    let policy: Policy = policy.object_or_default()?;
    data(&check_among(line, &policy, &serves(&policy.roots)))
}
