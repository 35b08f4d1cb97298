//! What a tool is: what is said of it, what it works with, and what it gives.

use hashline_core::host::Turn;
use hashline_core::{AnswerOptions, Cancel, Code, Dialect, ReadImage, Session};
use serde::Serialize;
use serde_json::Value as Json;

use crate::arguments::{Arguments, Trouble};
use crate::bounds::AnswerLimits;
use crate::table::{Allowed, Field};
use crate::title::SoFar;

/// How the answer to a call begins that was to write and did not.
pub const NOTHING_WRITTEN: &str = "Nothing was written.";

/// The tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// Reads files.
    Read,
    /// Searches files.
    Search,
    /// Edits files.
    Apply,
    /// Reads JSON documents.
    ReadJson,
    /// Edits values of JSON documents.
    ApplyJson,
}

impl ToolKind {
    /// All of them, in the order in which a model is told of them.
    pub const ALL: [ToolKind; 5] = [
        ToolKind::Read,
        ToolKind::Search,
        ToolKind::Apply,
        ToolKind::ReadJson,
        ToolKind::ApplyJson,
    ];

    /// Whether it is for JSON documents alone.
    pub fn is_of_json(self) -> bool {
        matches!(self, ToolKind::ReadJson | ToolKind::ApplyJson)
    }

    /// Whether it changes files.
    pub fn writes(self) -> bool {
        matches!(self, ToolKind::Apply | ToolKind::ApplyJson)
    }
}

/// What the tools are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Of the one that reads files.
    pub read: String,
    /// Of the one that searches them.
    pub search: String,
    /// Of the one that edits them.
    pub apply: String,
    /// Of the one that reads JSON documents.
    pub read_json: String,
    /// Of the one that edits their values.
    pub apply_json: String,
}

impl Default for Names {
    fn default() -> Names {
        let [read, search, apply, read_json, apply_json] =
            ["read", "search", "apply", "read_json", "apply_json"].map(str::to_owned);
        Names { read, search, apply, read_json, apply_json }
    }
}

impl Names {
    /// What a tool is called.
    pub fn of(&self, kind: ToolKind) -> &str {
        match kind {
            ToolKind::Read => &self.read,
            ToolKind::Search => &self.search,
            ToolKind::Apply => &self.apply,
            ToolKind::ReadJson => &self.read_json,
            ToolKind::ApplyJson => &self.apply_json,
        }
    }
}

/// What a harness says of the tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsOptions {
    /// What they are called.
    pub names: Names,
    /// Which operations there are.
    pub operations: Allowed,
    /// How long answers are.
    pub limits: AnswerLimits,
}

/// A tool, as it is declared.
pub struct Tool {
    /// Its name for people.
    pub title: &'static str,
    /// Its arguments.
    pub fields: &'static [Field],
    /// What is said of it.
    pub words: fn(&ToolsOptions, &Dialect) -> Wording,
    /// What it does.
    pub work: fn(&Call<'_>, Turn, Arguments<'_>) -> Result<Answer, Trouble>,
    /// A call of it in a few words.
    pub title_of: fn(&SoFar) -> String,
}

/// What is said of a tool.
pub struct Wording {
    pub description: String,
    pub snippet: String,
    pub guidelines: Vec<String>,
    /// What the model can do about an answer that is cut.
    pub advice: String,
}

/// What a call works with.
pub struct Call<'a> {
    pub session: &'a Session,
    pub names: &'a Names,
    pub allowed: &'a Allowed,
    pub options: &'a CallOptions,
    pub cancel: &'a Cancel,
    pub progress: &'a dyn Fn(usize, usize),
}

/// A result, as far as the tools differ.
#[derive(Debug, Default)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
    /// What went wrong, file by file.
    pub codes: Vec<Code>,
    pub images: Vec<ReadImage>,
    pub summary: String,
    pub structured: Json,
    pub diff: Option<String>,
}

/// How a line with its anchor looks in a dialect.
pub fn line_form(dialect: &Dialect) -> String {
    format!("{}{}TEXT", anchor_form(dialect), dialect.text_mark as char)
}

/// How a blank line looks, where it has no hash.
pub fn blank_form(dialect: &Dialect) -> String {
    let row = dialect.blank_hash().map(|hash| dialect.anchor_text(10, hash));
    row.map(|row| format!("; a blank line as {row}{}", dialect.text_mark as char))
        .unwrap_or_default()
}

/// What a line is named by in an edit.
pub fn place_words(dialect: &Dialect) -> &'static str {
    if dialect.has_hashes() { "the anchor" } else { "the number" }
}

/// How the anchor of a line looks.
pub fn anchor_form(dialect: &Dialect) -> String {
    dialect.form("NUMBER")
}

/// How one call is carried out.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// Of an apply: checks and tells everything, and writes nothing.
    pub dry_run: bool,
    /// Of an apply: how it is told what was done, where the session does not say it.
    pub answer: AnswerOptions,
}

/// A value of the core as data, without the text that the answer has already.
pub fn without_text(value: impl Serialize) -> Json {
    let mut data = serde_json::to_value(value).unwrap_or_default();
    if let Some(fields) = data.as_object_mut() {
        fields.shift_remove("text");
    }
    data
}
