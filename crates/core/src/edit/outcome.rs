//! What an apply answers: what was done, or why nothing was. As data (`serde`) it has the names
//! that `index.d.ts` declares.

use std::collections::HashSet;

use serde::{Serialize, Serializer};

use crate::edit::repair::Rule;
use crate::edit::structure::SyntaxState;
use crate::view::scope::Host;
use hashline_base::error::{Code, Error, Message};
use hashline_lines::rows::GAP;

/// The answer to a patch. A refusal is data, not an error.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Outcome {
    /// Every operation was carried out (or had nothing to do).
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
    /// What looks like a mistake and was done all the same.
    pub warnings: Vec<Warning>,
    /// Operations that had nothing to do.
    pub noops: Vec<Noop>,
    /// The report for the model: fresh anchors around every change.
    pub text: String,
    /// Whether the patch names one file alone, so that its report need not say which one.
    #[serde(skip)]
    pub is_about_one_file: bool,
    /// What the report says of a call that was sent several times in a row and changes nothing.
    #[serde(skip)]
    pub stop: Option<String>,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Its content changed; its name may have, too.
    Edited,
    /// It is new.
    Created,
    /// It has another name and the same content.
    Moved,
    /// It is gone.
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
    /// The path under which it is now (or was, when it is gone).
    pub path: String,
    /// The path under which it was, when that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What happened.
    pub change: Change,
    /// The number of line edits that took effect.
    pub edits: usize,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Lines it has now; `None` for files that are gone or were not looked into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_count: Option<u64>,
    /// The hash of its content now, as in a view; `None` like `line_count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// What a parser says of it now, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax: Option<SyntaxState>,
    /// What became of its text, where that was asked for.
    #[serde(flatten)]
    pub diff: Option<FileDiff>,
}

/// What became of a file's text.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FileDiff {
    /// The change in the unified format.
    #[serde(rename = "diff")]
    pub text: String,
    /// The change, hunk by hunk.
    pub hunks: Vec<DiffHunk>,
}

/// One hunk of a diff.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffHunk {
    /// The first line of the old text; where it has none, the line after the place.
    pub old_start: u64,
    /// How many lines of the old text.
    pub old_lines: u64,
    /// The first line of the new text; where it has none, the line after the place.
    pub new_start: u64,
    /// How many lines of the new text.
    pub new_lines: u64,
    /// The lines, each after a space, `-` or `+`; notes after `\`.
    pub lines: Vec<String>,
}

/// An anchor that was found on another line.
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
    /// By how many lines.
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
    pub told: String,
}

/// A kind of what looks like a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum WarningCode {
    /// A text is indented otherwise than the lines that it replaces.
    Indentation,
    /// A file parsed before and does not now.
    Syntax,
    /// A patch in oh-my-pi's language has a row that its grammar has otherwise.
    Reading,
    /// A text that became the start of a file began with U+FEFF, which was dropped.
    ByteOrderMark,
    /// A text has a control character that sources hardly ever have.
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
    /// What kind of mistake.
    pub code: WarningCode,
    /// The operation, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<usize>,
    /// The file.
    pub path: String,
    /// What, where and what to do, for the model.
    pub message: Message,
}

/// Why an operation had nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "lowercase")]
pub enum NoopReason {
    /// The file has what it asks for.
    Unchanged,
    /// It repeats an earlier operation of the patch, which was carried out.
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
    /// The number of the first line that it names.
    #[serde(skip)]
    pub line: Option<u64>,
}

/// Why nothing was changed.
#[derive(Clone, Debug, Serialize)]
pub struct Rejected {
    /// The code of the first failure.
    pub code: Code,
    /// Every failure, in the order of the operations.
    pub failures: Vec<Failure>,
    /// Stale anchors and the fresh anchors of the same line numbers, where nothing points to
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
    /// The operation's place in the request, from 0.
    pub operation: usize,
    /// The file, as the request wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The stable code.
    pub code: Code,
    /// What, where and what instead.
    pub message: Message,
    /// The anchor that failed, in its short form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// The current lines around the anchor, rendered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// A fresh anchor to use instead, where one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// How much of a text is told of one failure.
const MESSAGE_LIMIT_BYTES: usize = 8_192;

/// What names the operation of a failure has so much room.
const LEAD_BYTES: usize = 32;

/// The failures that one text tells: the first, as many as an answer has room for, and at least one.
pub fn told_failures(failures: &[Failure], limit_bytes: usize) -> &[Failure] {
    let mut rows = HashSet::new();
    let mut bytes = 0;
    for (at, failure) in failures.iter().enumerate() {
        let path = failure.path.as_deref().unwrap_or_default();
        bytes += failure.message.len() + failure.code.as_str().len() + path.len() + LEAD_BYTES;
        // Lines that several failures show are shown once; a gap may stand before each.
        let lines = failure.lines.iter().flat_map(|lines| lines.lines());
        let new = lines.filter(|row| rows.insert((path, *row)));
        bytes += new.map(|row| row.len() + GAP.len() + 2).sum::<usize>();
        if bytes > limit_bytes {
            return &failures[..at.max(1)];
        }
    }
    failures
}

/// A text that is not longer than a failure may have it.
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
        }
    }

    /// Makes the message one as a face writes it.
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
