//! Previews of edits whose arguments are still arriving: the diff of the operations that are
//! complete, and where the next one points. Nothing is written, and the session learns nothing.

mod selection;
mod streamed;

use hashline_core::host::Value;
use hashline_core::{
    Cancel, Change, Code, DiffHunk, Failure, FileChange, FileDiff, Outcome, PREVIEW_FILE_BYTES,
    Patch,
};
use serde::Serialize;

use crate::arguments::{Arguments, CallError, Fields, Repairs};
use crate::operations::{LINE_FIELDS, PatchReader, VALUE_FIELDS};
use crate::path::plain_path;
use crate::text::{Arriving, has_open_fence};
use crate::tool::{Call, CallOptions, ToolKind, ToolsOptions};
use crate::tools::{Given, Tools};
use selection::{Selection, select};
use streamed::{Pending, Streamed, code_of, script_patch};

/// Only this much of the text of arguments is read.
pub const PREVIEW_TEXT_BYTES: usize = 1 << 20;

/// How many unchanged lines diffs show around each change.
const CONTEXT_LINES: u64 = 3;

/// What a call would do as far as it has arrived.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Preview {
    /// The files that its complete operations change.
    pub files: Vec<PreviewedFile>,
    /// Where the operation that is still arriving points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingOperation>,
    /// The complete operations that would be refused.
    pub refused: Vec<Refusal>,
    /// What is not shown although it may be valid.
    pub omitted: Vec<Omission>,
}

/// A file that the complete operations change.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewedFile {
    /// Its path after the edit.
    pub path: String,
    /// Its path before, if it is moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What happens to it.
    pub change: Change,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// The diff of its text.
    #[serde(flatten)]
    pub diff: FileDiff,
}

/// An operation that is still arriving.
#[derive(Clone, Debug, Serialize)]
pub struct PendingOperation {
    /// Its number in the call, from 0.
    pub operation: usize,
    /// What it does: `set_line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The anchor of its first line or of its value, as the model wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// The lines that it names, or next to which it inserts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineSpan>,
}

/// A range of lines of a file, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LineSpan {
    /// The first line.
    pub start: u64,
    /// The last line.
    pub end: u64,
}

/// An operation that would be refused.
#[derive(Clone, Debug, Serialize)]
pub struct Refusal {
    /// Its number in the call, from 0; `None` for the call as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<usize>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The code.
    pub code: Code,
    /// Why, in words for the model.
    pub message: String,
}

/// What a preview does not show.
#[derive(Clone, Debug, Serialize)]
pub struct Omission {
    /// The number of the operation in the call, from 0; `None` for all that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<usize>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why.
    pub reason: OmissionReason,
}

/// Why a preview does not show an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OmissionReason {
    /// The arguments are longer than 1 MiB.
    ArgumentsTooLarge,
    /// The file is larger than 2 MiB.
    FileTooLarge,
    /// More than 16 operations before it would be refused.
    TooManyRefused,
}

impl Refusal {
    /// The refusal of an item of a list, or of the whole call, by the tool itself.
    fn of_call(item: Option<(&str, usize)>, error: CallError) -> Refusal {
        let code = code_of(&error);
        let message = match error {
            CallError::Malformed(message) => message,
            CallError::Engine(error) => error.message.into(),
        };
        let message = match item {
            // It was read alone.
            Some((list, number)) => {
                message.replacen(&format!("{list}[0]"), &format!("{list}[{number}]"), 1)
            }
            None => message,
        };
        Refusal { operation: item.map(|(_, number)| number), path: None, code, message }
    }

    fn of_operation(operation: usize, failure: Failure) -> Refusal {
        let Failure { path, code, message, .. } = failure;
        Refusal { operation: Some(operation), path, code, message: message.into() }
    }
}

/// How an operation names lines.
enum LineNames {
    /// By these fields.
    Anchors(Vec<(String, Value)>),
    /// As this patch in oh-my-pi's language does.
    Cut(String),
}

impl Default for LineNames {
    fn default() -> LineNames {
        LineNames::Anchors(Vec::new())
    }
}

impl Tools {
    /// What a call of an editing tool would do, from its arguments as far as they have arrived: an
    /// object, or the start of its JSON text. It is empty for other tools and for anything else.
    ///
    /// An operation is complete when its end has arrived. It is shown if it goes together with the
    /// operations before it that are shown, so it stays when more arrive. The last operation of an
    /// object counts as complete unless the object `is_partial`.
    ///
    /// Nothing counts as shown to the model, and no call waits for it.
    pub fn preview(
        &self,
        kind: ToolKind,
        given: Given,
        is_partial: bool,
        cancel: &Cancel,
    ) -> Preview {
        let (Ok(mut given), true) = (given, kind.writes()) else { return Preview::default() };
        let is_too_large = match &mut given {
            Value::String(text) => truncate(text, PREVIEW_TEXT_BYTES),
            other => size_of(other) > PREVIEW_TEXT_BYTES,
        };
        let mut preview = match is_too_large && !matches!(given, Value::String(_)) {
            true => Preview::default(),
            false => self.with_preview_call(cancel, |call| of_call(call, kind, given, is_partial)),
        };
        if is_too_large {
            let reason = OmissionReason::ArgumentsTooLarge;
            preview.omitted.push(Omission { operation: None, path: None, reason });
        }
        preview
    }

    fn with_preview_call<T>(&self, cancel: &Cancel, look: impl FnOnce(&Call<'_>) -> T) -> T {
        let options = &CallOptions::default();
        let ToolsOptions { names, operations: allowed, .. } = self.options();
        let session = self.session();
        look(&Call { session, names, allowed, options, cancel, progress: &|_, _| {} })
    }
}

/// Cuts a text to a length in bytes; returns whether it was longer.
fn truncate(text: &mut String, bytes: usize) -> bool {
    let is_longer = text.len() > bytes;
    text.truncate(text.floor_char_boundary(bytes));
    is_longer
}

/// About how many bytes a value takes as text.
fn size_of(value: &Value) -> usize {
    match value {
        Value::String(text) | Value::Json(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| size_of(item) + 1).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + size_of(value) + 1).sum()
        }
        _ => 4,
    }
}

fn of_call(call: &Call<'_>, kind: ToolKind, given: Value, is_partial: bool) -> Preview {
    let Some((root, is_whole)) = arriving(&given, is_partial) else { return Preview::default() };
    if !matches!(root.value, Value::Object(_)) {
        return Preview::default();
    }
    let repairs = &mut Repairs::default();
    let is_script = kind == ToolKind::Apply && !dialect_has_hashes(call);
    let streamed = if is_script {
        streamed::script(call, root, is_whole.then(|| Arguments::of(Ok(given), repairs)))
    } else {
        let schema = if kind == ToolKind::Apply { LINE_FIELDS } else { VALUE_FIELDS };
        let patch = |given| PatchReader::patch(call, schema, given);
        let whole = is_whole.then(|| Arguments::of(Ok(given), repairs).and_then(patch));
        streamed::operations(call, schema, root, whole)
    };
    preview_of(call, streamed)
}

fn dialect_has_hashes(call: &Call<'_>) -> bool {
    call.session.options().workspace.dialect.has_hashes()
}

/// The arguments, and whether all of them have arrived.
fn arriving(given: &Value, is_partial: bool) -> Option<(Arriving, bool)> {
    let Value::String(text) = given else {
        let (one, is_whole) = (given.clone(), !is_partial);
        return Some(match is_partial {
            true => (Arriving::unfinished(one), is_whole),
            false => (Arriving::whole(one), is_whole),
        });
    };
    let outer = Arriving::of(text)?;
    let is_whole = outer.is_whole() && !has_open_fence(text);
    // Arguments can be encoded twice.
    match &outer.value {
        Value::String(inner) => Some((Arriving::of(inner)?, is_whole)),
        _ => Some((outer, is_whole)),
    }
}

fn preview_of(call: &Call<'_>, streamed: Streamed) -> Preview {
    let Streamed { source, mut refused, pending } = streamed;
    let attempt = |chosen: &[usize]| outcome(call, source.patch(chosen), CONTEXT_LINES);
    let numbers = &source.numbers;
    let next = numbers.iter().copied().chain(refused.iter().filter_map(|one| one.operation)).max();
    let selection = match numbers.is_empty() {
        true => Selection::default(),
        false => select(source.len(), &attempt, &|at| source.frees_name(at)),
    };
    let mut omitted = Vec::new();
    for (at, failure) in selection.refused {
        let operation = numbers[at];
        if failure.code == Code::FileTooLarge && is_limit_of_previews(call) {
            let (path, reason) = (failure.path, OmissionReason::FileTooLarge);
            omitted.push(Omission { operation: Some(operation), path, reason });
        } else {
            refused.push(Refusal::of_operation(operation, failure));
        }
    }
    if selection.tried < source.len() {
        let (operation, reason) = (Some(numbers[selection.tried]), OmissionReason::TooManyRefused);
        omitted.push(Omission { operation, path: None, reason });
    }
    refused.sort_by_key(|one| one.operation);
    let pending = pending.map(|pending| pointed_at(call, pending, next.map_or(0, |last| last + 1)));
    let files = selection.files.into_iter().map(previewed).collect();
    Preview { files, pending, refused, omitted }
}

/// Whether a file can be too large for a preview, but not for an edit.
fn is_limit_of_previews(call: &Call<'_>) -> bool {
    call.session.options().workspace.max_file_bytes > PREVIEW_FILE_BYTES
}

/// The changes of a patch, or why it is refused.
fn outcome(
    call: &Call<'_>,
    patch: Value,
    context_lines: u64,
) -> Result<Vec<FileChange>, Vec<Failure>> {
    match call.session.preview(&Patch::from(patch), context_lines, call.cancel) {
        Ok(Outcome::Applied(applied)) => Ok(applied.files),
        Ok(Outcome::Rejected(rejected)) => Err(rejected.failures),
        Err(error) => Err(vec![Failure::new(0, None, error)]),
    }
}

fn previewed(file: FileChange) -> PreviewedFile {
    let FileChange { path, from, change, added, removed, diff, .. } = file;
    PreviewedFile { path, from, change, added, removed, diff: diff.unwrap_or_default() }
}

/// An operation that is still arriving, with the lines that it names now.
fn pointed_at(call: &Call<'_>, pending: Pending, operation: usize) -> PendingOperation {
    let Pending { op, path, anchor, lines } = pending;
    let path = path.map(|path| {
        let plain = plain_path(call, path.clone(), "path", &mut Repairs::default());
        plain.unwrap_or(path)
    });
    let patch = match lines {
        LineNames::Cut(patch) => Some(script_patch(patch)),
        LineNames::Anchors(anchors) => deletion(call, path.as_deref(), anchors),
    };
    let lines = patch.and_then(|patch| lines_of(&outcome(call, patch, 0).ok()?));
    PendingOperation { operation, op, path, anchor, lines }
}

/// A patch that deletes the lines that an operation names. Its diff shows which they are.
fn deletion(
    call: &Call<'_>,
    path: Option<&str>,
    mut fields: Vec<(String, Value)>,
) -> Option<Value> {
    if fields.is_empty() {
        return None;
    }
    for (name, text) in [("op", "delete"), ("path", path?)] {
        fields.push((name.to_owned(), Value::String(text.to_owned())));
    }
    // A line that was shown in part is deleted as well.
    fields.push(("verbatim".to_owned(), Value::Bool(true)));
    let (allowed, repairs) = (&Default::default(), &mut Repairs::default());
    let call = Call { allowed, ..*call };
    let given = Arguments { fields: Fields(fields), repairs };
    PatchReader::patch(&call, LINE_FIELDS, given).ok()
}

/// The old lines of the only hunk of a diff.
fn lines_of(files: &[FileChange]) -> Option<LineSpan> {
    let [FileChange { diff: Some(FileDiff { hunks, .. }), .. }] = files else { return None };
    let [DiffHunk { old_start, old_lines, .. }] = hunks.as_slice() else { return None };
    let end = (old_start + old_lines).checked_sub(1)?;
    (*old_lines > 0).then_some(LineSpan { start: *old_start, end })
}
