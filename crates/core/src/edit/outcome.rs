//! What an apply answers: what was done, or why nothing was.

use crate::edit::repair::Rule;
use crate::edit::report::{DiffHunk, unified_diff};
use crate::error::{Code, Error};

/// The answer to a patch. A refusal is data, not an error.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Every operation was carried out (or had nothing to do).
    Applied(Applied),
    /// Nothing was changed.
    Rejected(Rejected),
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// The files that changed, in the order of their first operation.
    pub files: Vec<FileChange>,
    /// Anchors that were found on another line.
    pub relocations: Vec<Relocation>,
    /// What was mended in the model's text.
    pub repairs: Vec<Repair>,
    /// Operations that had nothing to do.
    pub noops: Vec<Noop>,
    /// The report for the model: fresh anchors around every change.
    pub text: String,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug)]
pub struct FileChange {
    /// The path under which it is now (or was, when it is gone).
    pub path: String,
    /// The path under which it was, when that changed.
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
    pub line_count: Option<u64>,
    /// The hash of its content now, as in a view; `None` like `line_count`.
    pub snapshot: Option<String>,
    /// What became of its text, where that was asked for.
    pub diff: Option<FileDiff>,
}

/// What became of a file's text.
#[derive(Clone, Debug, Default)]
pub struct FileDiff {
    /// In the unified format.
    pub text: String,
    /// The same, hunk by hunk.
    pub hunks: Vec<DiffHunk>,
}

impl FileDiff {
    /// Of the hunks of a file; `None` stands for no file.
    pub(crate) fn of(from: Option<&str>, to: Option<&str>, hunks: Vec<DiffHunk>) -> FileDiff {
        FileDiff { text: unified_diff(from, to, &hunks), hunks }
    }
}

/// An anchor that was found on another line.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The rule.
    pub rule: Rule,
    /// The operation.
    pub operation: usize,
    /// The text as written, lines joined by `\n`.
    pub before: String,
    /// The text that was used.
    pub after: String,
}

/// Why an operation had nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoopReason {
    /// The file has what it asks for.
    Unchanged,
    /// It repeats an earlier operation of the patch, which was carried out.
    Duplicate {
        /// That operation.
        of: usize,
    },
}

/// An operation that had nothing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noop {
    /// The operation.
    pub operation: usize,
    /// The file.
    pub path: String,
    /// Why.
    pub reason: NoopReason,
}

/// Why nothing was changed.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// The code of the first failure.
    pub code: Code,
    /// Every failure, in the order of the operations.
    pub failures: Vec<Failure>,
    /// Stale anchors and the fresh anchors of the same line numbers, where nothing points to
    /// another line.
    pub remaps: Vec<(String, String)>,
    /// The report for the model.
    pub text: String,
}

/// Why an operation, or one anchor of it, was refused.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The operation's place in the request, from 0.
    pub operation: usize,
    /// The file, as the request wrote it.
    pub path: Option<String>,
    /// The stable code.
    pub code: Code,
    /// What, where and what instead.
    pub message: String,
    /// The anchor that failed, in its short form.
    pub anchor: Option<String>,
    /// The current lines around the anchor, rendered.
    pub lines: Option<String>,
    /// A fresh anchor to use instead, where one is known.
    pub suggestion: Option<String>,
}

impl Failure {
    /// A failure that is not about an anchor.
    pub fn new(operation: usize, path: Option<&str>, error: Error) -> Failure {
        Failure {
            operation,
            path: path.map(str::to_owned).or(error.path),
            code: error.code,
            message: error.message,
            anchor: None,
            lines: None,
            suggestion: None,
        }
    }
}

/// The answer to a patch on a text in memory.
#[derive(Clone, Debug)]
pub struct TextOutcome {
    /// As for files; `files` has one entry without path when the text changed.
    pub outcome: Outcome,
    /// The new text, when the patch was applied.
    pub content: Option<String>,
}
