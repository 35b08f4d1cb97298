//! What a tool is: its texts, its arguments, the context of a call, and the answer.

use std::collections::HashSet;
use std::sync::Arc;

use hashline_core::host::Turn;
use hashline_core::{AnswerOptions, Cancel, Code, Dialect, Error, ReadImage, Session, Written};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::arguments::{Arguments, CallError};
use crate::bounds::AnswerLimits;
use crate::table::{Allowed, Field};
use crate::title::PartialArguments;

/// The start of an answer to a call that should have written and did not.
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
    /// Undoes the last edit.
    Undo,
}

impl ToolKind {
    /// All tools, in the order in which they are listed.
    pub const ALL: [ToolKind; 6] = [
        ToolKind::Read,
        ToolKind::Search,
        ToolKind::Apply,
        ToolKind::ReadJson,
        ToolKind::ApplyJson,
        ToolKind::Undo,
    ];

    /// Whether it is only for JSON documents.
    pub fn is_of_json(self) -> bool {
        matches!(self, ToolKind::ReadJson | ToolKind::ApplyJson)
    }

    /// Whether it changes files.
    pub fn writes(self) -> bool {
        matches!(self, ToolKind::Apply | ToolKind::ApplyJson | ToolKind::Undo)
    }
}

/// The longest name of a tool.
const NAME_LIMIT_CHARS: usize = 128;

/// The names of the tools.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Names {
    /// The tool that reads files.
    pub read: String,
    /// The tool that searches files.
    pub search: String,
    /// The tool that edits files.
    pub apply: String,
    /// The tool that reads JSON documents.
    pub read_json: String,
    /// The tool that edits values of JSON documents.
    pub apply_json: String,
    /// The tool that undoes the last edit.
    pub undo: String,
}

impl Default for Names {
    fn default() -> Names {
        let [read, search, apply, read_json, apply_json, undo] =
            ["read", "search", "apply", "read_json", "apply_json", "undo_edit"].map(str::to_owned);
        Names { read, search, apply, read_json, apply_json, undo }
    }
}

impl Names {
    /// Refuses names that a model cannot use, and two tools with one name.
    pub fn check(&self, offered: &[ToolKind]) -> Result<(), Error> {
        let mut used = HashSet::new();
        for name in offered.iter().map(|&kind| self.of(kind)) {
            let is_name = (1..=NAME_LIMIT_CHARS).contains(&name.chars().count())
                && !name.contains(|c: char| c.is_whitespace() || c.is_control());
            if !is_name {
                return Err(Error::argument(format!(
                    "names: {name:?} is not a name without spaces"
                )));
            }
            if !used.insert(name) {
                return Err(Error::argument(format!("names: {name:?} is the name of two tools")));
            }
        }
        Ok(())
    }

    /// The name of a tool.
    pub fn of(&self, kind: ToolKind) -> &str {
        match kind {
            ToolKind::Read => &self.read,
            ToolKind::Search => &self.search,
            ToolKind::Apply => &self.apply,
            ToolKind::ReadJson => &self.read_json,
            ToolKind::ApplyJson => &self.apply_json,
            ToolKind::Undo => &self.undo,
        }
    }
}

/// What a host can configure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsOptions {
    /// The names of the tools.
    pub names: Names,
    /// The operations that edits may use.
    pub operations: Allowed,
    /// How long answers are.
    pub limits: AnswerLimits,
}

/// The declaration of a tool.
pub struct Tool {
    /// Its name for people.
    pub title: &'static str,
    /// Its arguments.
    pub fields: &'static [Field],
    /// Its description, in the names and the dialect of a session.
    pub text: fn(&ToolsOptions, &Dialect) -> ToolText,
    /// Runs a call.
    pub run: fn(&Call<'_>, Turn, Arguments<'_>) -> Result<Answer, CallError>,
    /// The title of a call.
    pub title_of: fn(&PartialArguments) -> String,
}

/// The texts that describe a tool.
pub struct ToolText {
    pub description: String,
    pub snippet: String,
    pub guidelines: Vec<String>,
    /// What the model can do about a truncated answer.
    pub advice: String,
}

/// The context of a call.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    pub session: &'a Session,
    pub names: &'a Names,
    pub allowed: &'a Allowed,
    pub options: &'a CallOptions,
    pub cancel: &'a Cancel,
    pub progress: &'a dyn Fn(usize, usize),
}

/// What a tool answers, before notes and limits are applied.
#[derive(Debug, Default)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
    /// The codes of all failures.
    pub codes: Vec<Code>,
    pub images: Vec<ReadImage>,
    pub summary: String,
    pub structured: Json,
    pub diff: Option<String>,
    pub plan: Option<String>,
    /// What an edit wrote, if it is not answered yet.
    pub written: Option<Arc<Written>>,
}

/// The form of a rendered line in a dialect, for descriptions.
pub fn line_form(dialect: &Dialect) -> String {
    format!("{}{}TEXT", anchor_form(dialect), dialect.text_mark as char)
}

/// The form of a rendered blank line, in a dialect that gives it no hash.
pub fn blank_form(dialect: &Dialect) -> String {
    let row = dialect.blank_hash().map(|hash| dialect.anchor_text(10, hash));
    row.map(|row| format!("; a blank line as {row}{}", dialect.text_mark as char))
        .unwrap_or_default()
}

/// What edits name lines by.
pub fn locator_noun(dialect: &Dialect) -> &'static str {
    if dialect.has_hashes() { "the anchor" } else { "the number" }
}

/// The form of an anchor in a dialect.
pub fn anchor_form(dialect: &Dialect) -> String {
    dialect.form("NUMBER")
}

/// Options of one call.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// An `apply` checks and reports everything, but writes nothing.
    pub dry_run: bool,
    /// The plan that an `apply` must follow: [`ToolResult::plan`](crate::ToolResult::plan) of a dry
    /// run with the same arguments.
    pub plan: Option<String>,
    /// An `apply` that writes is answered by [`Tools::settle`](crate::Tools::settle).
    pub settles: bool,
    /// The form of the answer to an `apply`; overrides the options of the session.
    pub answer: AnswerOptions,
}

/// A value of the core as data, without `text`, which the answer has already.
pub fn without_text(value: impl Serialize) -> Json {
    let mut data = serde_json::to_value(value).unwrap_or_default();
    if let Some(fields) = data.as_object_mut() {
        fields.shift_remove("text");
    }
    data
}
