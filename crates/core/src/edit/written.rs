//! What a patch wrote, kept until the host has worked on the files: it may format them before the
//! answer is made.

use std::fmt;
use std::path::PathBuf;

use hashline_memory::{LineSet, ShownLines, Version};
use hashline_omp::ScriptHunk;
use serde::{Deserialize, Serialize};

use super::outcome::{Applied, FileChange};
use super::report::{AnswerOptions, Section};

/// What a patch wrote. It shares the texts with the memory of the session.
pub struct Written {
    /// The answer as if nothing else changed the files.
    pub(crate) applied: Applied,
    /// One for each of `applied.files`.
    pub(crate) files: Vec<WrittenFile>,
    /// The hunks of a patch in oh-my-pi's language.
    pub(crate) hunks: Vec<ScriptHunk>,
    /// The form of the answer.
    pub(crate) answer: AnswerOptions,
    /// The number of context lines of diffs; no diffs if `None`.
    pub(crate) diff_context_lines: Option<u64>,
    /// The id by which a session can undo the patch.
    pub(crate) undone_by: Option<u128>,
    /// The report of an interrupted patch that this one recovered; its rows begin with newlines.
    pub(crate) recovered: String,
    /// Whether the report is not shown to a model.
    pub(crate) is_silent: bool,
    /// Whether the syntax of files is checked.
    pub(crate) checks_syntax: bool,
}

/// A file that a patch changed.
pub(crate) struct WrittenFile {
    /// The name by which the memory identifies it; `None` if it was deleted.
    pub(crate) name: Option<PathBuf>,
    /// Its text before the patch; `None` if it had none, or if that is not known.
    pub(crate) before: Option<Version>,
    /// Its text after the patch.
    pub(crate) after: Option<Version>,
    /// The changed regions.
    pub(crate) regions: Vec<WrittenRegion>,
    /// The new lines that the model has written or seen.
    pub(crate) known: LineSet,
    /// The rows of the answer.
    pub(crate) section: Section<'static>,
    /// The lines that a warning shows.
    pub(crate) in_warning: ShownLines,
}

/// A changed region of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenRegion {
    /// The number of old lines.
    pub(crate) old_lines: u64,
    /// The number of its first line after the patch.
    pub(crate) first: u64,
    /// The number of new lines.
    pub(crate) new_lines: u64,
}

impl Written {
    /// The answer as if nothing but the patch changed the files.
    pub fn answer_before(&self) -> &Applied {
        &self.applied
    }

    /// The changed files, as the patch left them.
    pub fn files(&self) -> &[FileChange] {
        &self.applied.files
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Written").field("files", &self.applied.files).finish_non_exhaustive()
    }
}

/// What the host reports after it has worked on the files of a patch.
#[derive(Clone, Debug, Default)]
pub struct AfterWrite {
    /// Sentences about failures, without their full stops.
    pub notes: Vec<String>,
    /// What a compiler or linter says.
    pub diagnostics: Vec<Diagnostic>,
}

/// A message about a line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The path.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// How serious it is.
    #[serde(default)]
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
}

/// How serious a diagnostic is, the most serious first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// An error.
    #[default]
    Error,
    /// A warning.
    Warning,
    /// An information.
    Information,
    /// A hint.
    Hint,
}

impl Severity {
    /// The word callers see.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "information",
            Severity::Hint => "hint",
        }
    }
}
