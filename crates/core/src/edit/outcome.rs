//! The outcome of a patch: what was done, or why it was refused. As data (`serde`) it has the names
//! that `index.d.ts` declares.

use std::collections::HashSet;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine};
use serde::{Serialize, Serializer};

use crate::edit::repair::Rule;
use crate::edit::structure::SyntaxState;
use crate::edit::written::Written;
use crate::view::scope::Host;
use hashline_base::error::{Code, Error, Message};
use hashline_disk::overlay::OpenContent;
use hashline_lines::rows::GAP;

/// The answer to a patch. A refusal is data, not an error.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Outcome {
    /// Every operation was applied or had nothing to do.
    Applied(Applied),
    /// Nothing was changed.
    Rejected(Rejected),
}

/// What was done.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Applied {
    /// The files that changed, in the order of their first operation.
    pub files: Vec<FileChange>,
    /// Anchors that were found on another line.
    pub relocations: Vec<Relocation>,
    /// Repairs of the model's text.
    pub repairs: Vec<Repair>,
    /// Applied operations that look like mistakes.
    pub warnings: Vec<Warning>,
    /// Operations that had nothing to do.
    pub noops: Vec<Noop>,
    /// The report for the model: fresh anchors around every change.
    pub text: String,
    /// The id of a dry run: what was read, and what would be written.
    #[serde(skip)]
    pub plan: Option<String>,
    /// Whether the patch is about one file alone. Then the report need not name it.
    #[serde(skip)]
    pub is_about_one_file: bool,
    /// What was written, if the options ask for it ([`PatchOptions::keeps_written`]).
    ///
    /// [`PatchOptions::keeps_written`]: crate::PatchOptions::keeps_written
    #[serde(skip)]
    pub written: Option<Arc<Written>>,
    /// The message about a call that was repeated several times and changes nothing.
    #[serde(skip)]
    pub stop: Option<String>,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Its content changed. It may have been moved, too.
    Edited,
    /// It is new.
    Created,
    /// It was moved, with the same content.
    Moved,
    /// It was deleted.
    Deleted,
}

impl Change {
    /// The word callers see.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Edited => "edited",
            Change::Created => "created",
            Change::Moved => "moved",
            Change::Deleted => "deleted",
        }
    }
}

/// One changed file.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// Its current path, or its last path if it was deleted.
    pub path: String,
    /// Its path before, if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What happened.
    pub change: Change,
    /// The number of line edits that changed something.
    pub edits: usize,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Its number of lines after the patch; `None` if the file was deleted or was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_count: Option<u64>,
    /// The hash of its content after the patch, as in a view; `None` like `line_count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// Whether it parses after the patch, if a check was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax: Option<SyntaxState>,
    /// The diff of its text, if it was requested.
    #[serde(flatten)]
    pub diff: Option<FileDiff>,
    /// What the host must do, if it is a document.
    #[serde(flatten)]
    pub document: Option<DocumentChange>,
}

/// The change of a document, which the host makes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentChange {
    /// Always `true`.
    pub document: bool,
    /// Its new content; `None` if it was deleted. As data (`serde`), a text, or bytes in Base64 in
    /// the field `contentBase64`.
    #[serde(flatten, serialize_with = "shaped_content")]
    pub content: Option<DocumentText>,
    /// The edits of the text that was set, in its order; empty if it was created, moved or deleted,
    /// or was not set as text.
    pub text_edits: Vec<TextEdit>,
    /// The version of the text that the edits are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}

impl DocumentChange {
    /// Counts a byte order mark, the first character of the text that was set, in the edits of a
    /// text without it.
    pub(crate) fn count_byte_order_mark(&mut self) {
        let Some(DocumentText::Text(text)) = &self.content else { return };
        if !text.starts_with('\u{feff}') {
            return;
        }
        let ranges = self.text_edits.iter_mut().map(|edit| &mut edit.range);
        let positions = ranges.flat_map(|range| [&mut range.start, &mut range.end]);
        positions
            .filter(|position| position.line == 0)
            .for_each(|position| position.character += 1);
    }
}

/// The text of a document, as the host holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentText {
    /// A text; its first character may be a byte order mark.
    Text(String),
    /// The bytes of a file, in the encoding of files.
    Bytes(Vec<u8>),
}

impl From<&str> for DocumentText {
    fn from(text: &str) -> DocumentText {
        DocumentText::Text(text.to_owned())
    }
}

impl From<String> for DocumentText {
    fn from(text: String) -> DocumentText {
        DocumentText::Text(text)
    }
}

impl From<Vec<u8>> for DocumentText {
    fn from(bytes: Vec<u8>) -> DocumentText {
        DocumentText::Bytes(bytes)
    }
}

impl From<&OpenContent> for DocumentText {
    fn from(content: &OpenContent) -> DocumentText {
        let bytes = content.bytes.to_vec();
        match String::from_utf8(bytes) {
            Ok(text) if content.is_text => DocumentText::Text(text),
            Ok(text) => DocumentText::Bytes(text.into_bytes()),
            Err(error) => DocumentText::Bytes(error.into_bytes()),
        }
    }
}

impl From<DocumentText> for OpenContent {
    fn from(text: DocumentText) -> OpenContent {
        let (bytes, is_text) = match text {
            DocumentText::Text(text) => (text.into_bytes(), true),
            DocumentText::Bytes(bytes) => (bytes, false),
        };
        OpenContent { bytes: Arc::new(bytes), is_text }
    }
}

/// An edit of a text, as the Language Server Protocol defines it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextEdit {
    /// The range of the text before.
    pub range: TextRange,
    /// The text to put there.
    pub new_text: String,
}

/// A range of a text; the end is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TextRange {
    /// Where it starts.
    pub start: TextPosition,
    /// Where it ends.
    pub end: TextPosition,
}

/// A position in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextPosition {
    /// The line, from 0. Lines end with `\n`, `\r\n` or `\r`.
    pub line: u64,
    /// The UTF-16 code units before it in the line.
    pub character: u64,
}

fn shaped_content<S: Serializer>(
    content: &Option<DocumentText>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let field = match content {
        None => None,
        Some(DocumentText::Text(text)) => Some(("content", text.clone())),
        Some(DocumentText::Bytes(bytes)) => Some(("contentBase64", BASE64_STANDARD.encode(bytes))),
    };
    serializer.collect_map(field)
}

/// The diff of one file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FileDiff {
    /// The diff in the unified format.
    #[serde(rename = "diff")]
    pub text: String,
    /// The diff as hunks.
    pub hunks: Vec<DiffHunk>,
}

/// One hunk of a diff.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// The first line of the old text; for an empty range, the line after it.
    pub old_start: u64,
    /// The number of lines of the old text.
    pub old_lines: u64,
    /// The first line of the new text; for an empty range, the line after it.
    pub new_start: u64,
    /// The number of lines of the new text.
    pub new_lines: u64,
    /// The lines, each with a space, `-` or `+` in front; notes have `\` in front.
    pub lines: Vec<String>,
}

/// An anchor whose line was found at another number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Relocation {
    /// The operation.
    pub operation: usize,
    /// The file.
    pub path: String,
    /// The anchor as written.
    pub from: String,
    /// The anchor of the line that was used.
    pub to: String,
    /// By how many lines the line has moved; negative if it moved up.
    pub distance: i64,
}

/// A repair of a model's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The rule.
    pub rule: Rule,
    /// The operation.
    pub operation: usize,
    /// The text as written, lines joined by `\n`.
    pub before: String,
    /// The text that was used.
    pub after: String,
    /// What was done, in words for the model: a clause without a full stop.
    #[serde(skip)]
    pub description: String,
}

/// The kind of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum WarningCode {
    /// The indentation of a text differs from that of the lines that it replaces.
    Indentation,
    /// A file parsed before the patch and does not parse after it.
    Syntax,
    /// A row of a patch in oh-my-pi's language is not exactly as its grammar has it.
    Reading,
    /// A text at the start of a file began with U+FEFF, which was removed.
    ByteOrderMark,
    /// A text contains a control character that is rare in sources.
    ControlCharacter,
}

impl WarningCode {
    /// The code as callers see it.
    pub fn as_str(self) -> &'static str {
        match self {
            WarningCode::Indentation => "INDENTATION",
            WarningCode::Syntax => "SYNTAX",
            WarningCode::Reading => "READING",
            WarningCode::ByteOrderMark => "BYTE_ORDER_MARK",
            WarningCode::ControlCharacter => "CONTROL_CHARACTER",
        }
    }
}

/// Something that looks like a mistake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The kind of mistake.
    pub code: WarningCode,
    /// The operation, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<usize>,
    /// The file.
    pub path: String,
    /// What seems wrong, where, and what to do, for the model.
    pub message: Message,
}

/// Why an operation had nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "lowercase")]
pub enum NoopReason {
    /// The file already has what the operation asks for.
    Unchanged,
    /// It repeats an earlier operation of the patch, which was applied.
    Duplicate {
        /// That operation.
        #[serde(rename = "duplicateOf")]
        of: usize,
    },
}

/// An operation that had nothing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Noop {
    /// The operation.
    pub operation: usize,
    /// The file.
    pub path: String,
    /// Why.
    #[serde(flatten)]
    pub reason: NoopReason,
    /// The number of the first line that the operation names.
    #[serde(skip)]
    pub line: Option<u64>,
    /// Whether it may have been meant to change line ends, which texts of lines keep.
    #[serde(skip)]
    pub is_about_line_ends: bool,
}

/// A refused patch, which changed nothing.
#[derive(Clone, Debug, Serialize)]
pub struct Rejected {
    /// The code of the first failure.
    pub code: Code,
    /// Every failure, in the order of the operations.
    pub failures: Vec<Failure>,
    /// Each stale anchor with the current anchor of its line number, except anchors that may mean
    /// another line.
    #[serde(serialize_with = "as_map")]
    pub remaps: Vec<(String, String)>,
    /// The report for the model.
    pub text: String,
}

fn as_map<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(stale, fresh)| (stale, fresh)))
}

/// Why an operation, or one anchor of it, was refused.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// The index of the operation in the request.
    pub operation: usize,
    /// The file, as the request wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The stable code.
    pub code: Code,
    /// What is wrong, where, and what to do instead.
    pub message: Message,
    /// The anchor that failed, in its short form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// The current lines around the anchor, rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// A fresh anchor to use instead, if one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Whether the file already has the new text of the operation.
    #[serde(skip)]
    pub is_applied: bool,
}

/// The maximum size of the message of one failure.
const MESSAGE_LIMIT_BYTES: usize = 8_192;

/// The size that is reserved for the name of an operation.
const LEAD_BYTES: usize = 32;

/// The failures that one text reports: the first that fit into it, and at least one.
pub fn reported_failures(failures: &[Failure], limit_bytes: usize) -> &[Failure] {
    let mut rows = HashSet::new();
    let mut bytes = 0;
    for (at, failure) in failures.iter().enumerate() {
        let path = failure.path.as_deref().unwrap_or_default();
        bytes += failure.message.len() + failure.code.as_str().len() + path.len() + LEAD_BYTES;
        // A line that several failures show is printed once. Each may have a gap before it.
        let lines = failure.lines.iter().flat_map(|lines| lines.lines());
        let new = lines.filter(|row| rows.insert((path, *row)));
        bytes += new.map(|row| row.len() + GAP.len() + 2).sum::<usize>();
        if bytes > limit_bytes {
            return &failures[..at.max(1)];
        }
    }
    failures
}

/// Truncates a text to the maximum size of a message.
fn bounded(text: String) -> String {
    let mut text = Message::from(text);
    text.truncate(MESSAGE_LIMIT_BYTES);
    text.into()
}

impl Failure {
    /// A failure that is not about an anchor.
    pub fn new(operation: usize, path: Option<&str>, error: Error) -> Failure {
        Failure {
            operation,
            path: path.map(str::to_owned).or(error.path).map(bounded),
            code: error.code,
            message: error.message,
            anchor: None,
            lines: None,
            suggestion: None,
            is_applied: false,
        }
    }

    /// Writes the message with the names that the caller's front end uses.
    pub(crate) fn spell(&mut self, host: &Host) {
        self.message.spell(host.spelling);
        self.message.truncate(MESSAGE_LIMIT_BYTES.min(host.refusal_limit_bytes / 2));
    }
}

/// The answer to a patch on a text in memory.
#[derive(Clone, Debug, Serialize)]
pub struct TextOutcome {
    /// As for files; `files` has one entry without path when the text changed.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The new text, when the patch was applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}
