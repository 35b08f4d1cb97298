//! The tools over one session: which there are, how a call is carried out, how it is answered.

use std::sync::Arc;

use hashline_core::host::{Term, Turn, Value};
use hashline_core::{Cancel, Code, Dialect, Error, ReadImage, Root, Session};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::apply::APPLY;
use crate::arguments::{Arguments, Repair, Repairs, Trouble};
use crate::bounds::{AnswerLimits, bounded, bounded_notes};
use crate::json::{APPLY_JSON, READ_JSON};
use crate::read::READ;
use crate::script::{self, NOT_LIMITED, SCRIPT};
use crate::search::SEARCH;
use crate::table::{Allowed, Field, Kind, op_names, operations_of, schema};
use crate::text::Unreadable;
use crate::title::{SoFar, one_line};
use crate::tool::{
    Answer, Call, CallOptions, NOTHING_WRITTEN, Names, Tool, ToolKind, ToolsOptions, Wording,
};

impl ToolKind {
    /// The tool in a dialect: where lines have no hashes, files are edited by patches.
    pub(crate) fn tool_in(self, dialect: &Dialect) -> &'static Tool {
        match self {
            ToolKind::Apply if !dialect.has_hashes() => &SCRIPT,
            _ => self.tool(),
        }
    }

    pub(crate) fn tool(self) -> &'static Tool {
        match self {
            ToolKind::Read => &READ,
            ToolKind::Search => &SEARCH,
            ToolKind::Apply => &APPLY,
            ToolKind::ReadJson => &READ_JSON,
            ToolKind::ApplyJson => &APPLY_JSON,
        }
    }
}

impl ToolsOptions {
    /// The tools that can do something: what edits needs an operation that is allowed, and who
    /// cannot edit values needs no anchors of them.
    pub fn useful(&self, dialect: &Dialect) -> impl Iterator<Item = ToolKind> {
        let can_edit = |kind| self.operations.check(kind, dialect).is_ok();
        ToolKind::ALL.into_iter().filter(move |&kind| match kind {
            ToolKind::ReadJson => can_edit(ToolKind::ApplyJson),
            kind => can_edit(kind),
        })
    }
}

impl Allowed {
    /// Refuses to allow none of the operations of a tool that has some, and to allow some alone of a
    /// tool that takes whole patches.
    pub fn check(&self, kind: ToolKind, dialect: &Dialect) -> Result<(), Error> {
        let is_script = kind == ToolKind::Apply && !dialect.has_hashes();
        if is_script && !self.is_all() {
            return Err(Error::argument(NOT_LIMITED));
        }
        let Some(fields) = kind.tool().fields.iter().find_map(of_operations) else {
            return Ok(());
        };
        if operations_of(fields, self).next().is_some() {
            return Ok(());
        }
        let known = op_names(operations_of(fields, &Allowed::default())).join(", ");
        let title = kind.tool().title;
        Err(Error::argument(format!(
            "the tool {title} could do nothing: expected some of {known} as well"
        )))
    }
}

fn of_operations(field: &Field) -> Option<&'static [Field]> {
    match field.kind {
        Kind::Operations(fields) => Some(fields),
        _ => None,
    }
}

/// The definition of a tool, for a harness and a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    /// The name by which the model calls it.
    pub name: String,
    /// The name for people.
    pub title: &'static str,
    /// Its description for the model.
    pub description: String,
    /// The same in one line, for a list in a system prompt.
    pub snippet: String,
    /// Rules for a system prompt.
    pub guidelines: Vec<String>,
    /// The schema of the arguments.
    pub input_schema: Json,
    /// What it does to the world.
    pub annotations: Annotations,
}

/// What a tool does to the world, in the words of the Model Context Protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// The name for people.
    pub title: &'static str,
    /// Whether it changes nothing.
    pub read_only_hint: bool,
    /// Whether it may destroy something.
    pub destructive_hint: bool,
    /// Whether a second call changes nothing more.
    pub idempotent_hint: bool,
    /// Whether it deals with more than the files of this machine.
    pub open_world_hint: bool,
}

/// The definition of a tool, with anchors of a dialect.
pub fn describe(kind: ToolKind, dialect: &Dialect, options: &ToolsOptions) -> Definition {
    let tool = kind.tool_in(dialect);
    let writes = kind.writes();
    let Wording { description, snippet, guidelines, .. } = (tool.words)(options, dialect);
    Definition {
        name: options.names.of(kind).to_owned(),
        title: tool.title,
        description,
        snippet,
        guidelines,
        input_schema: schema(tool.fields.iter(), &options.operations),
        annotations: Annotations {
            title: tool.title,
            read_only_hint: !writes,
            destructive_hint: writes,
            idempotent_hint: !writes,
            open_world_hint: false,
        },
    }
}

/// A call in a few words, for a line of a terminal; empty as long as there is nothing to say.
/// `arguments` are what has arrived: an object, or its text so far.
pub fn call_title(kind: ToolKind, arguments: &Value) -> String {
    let arguments = SoFar::of(arguments);
    let is_patch = kind == ToolKind::Apply && script::is_meant(&arguments);
    let tool = if is_patch { &SCRIPT } else { kind.tool() };
    one_line(&(tool.title_of)(&arguments))
}

/// What a model wrote as arguments: an object, or the text of one.
pub type Given = Result<Value, Unreadable>;

/// What a call gives.
#[derive(Clone, Debug)]
pub struct ToolResult {
    /// For the model.
    pub text: String,
    /// Whether nothing was read, searched or written.
    pub is_error: bool,
    /// The images among the files that were read, as far as models take them.
    pub images: Vec<ReadImage>,
    /// The outcome in a few words, for a line of a terminal.
    pub summary: String,
    /// The same as data.
    pub structured: Json,
    /// Of an apply: what changed, as a unified diff.
    pub diff: Option<String>,
}

/// The tools over one session.
#[derive(Clone)]
pub struct Tools {
    session: Arc<Session>,
    options: Arc<ToolsOptions>,
}

impl Tools {
    /// The tools over a session, which remembers what they show.
    pub fn new(session: &Session, options: ToolsOptions) -> Tools {
        // What messages of the core name is written as the fields of calls are.
        Tools { session: Arc::new(session.spelled(Term::name)), options: Arc::new(options) }
    }

    /// The definition of a tool, for a harness and a model.
    pub fn describe(&self, kind: ToolKind) -> Definition {
        describe(kind, self.session.options().workspace.dialect, &self.options)
    }

    /// Takes the turn of a call.
    pub fn enter(&self, kind: ToolKind) -> Turn {
        if kind.writes() { self.session.writing() } else { self.session.reading() }
    }

    /// Carries out a call. What is wrong with it is told in the result; only a call that was
    /// cancelled has none. `progress` is told now and then how much of how much is done.
    pub fn run(
        &self,
        kind: ToolKind,
        turn: Turn,
        given: Given,
        options: &CallOptions,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<ToolResult, Error> {
        let ToolsOptions { names, operations: allowed, .. } = &*self.options;
        let dialect = self.session.options().workspace.dialect;
        let call = Call { session: &self.session, names, allowed, options, cancel, progress };
        let mut repairs = Repairs::default();
        let answer = Arguments::of(given, &mut repairs)
            .and_then(|given| (kind.tool_in(dialect).work)(&call, turn, given));
        let answer = match answer {
            Err(Trouble::Engine(error)) if error.code == Code::Aborted => return Err(error),
            Err(trouble) => failed(kind, names, &trouble),
            Ok(answer) => answer,
        };
        Ok(self.result(kind, answer, &repairs))
    }

    /// The session, as the tools see it.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// How the session's own paths and files are looked at outside of calls. What was done is done,
    /// whatever is allowed.
    pub(crate) fn looking<T>(&self, look: impl FnOnce(&Call<'_>) -> T) -> T {
        let (session, names, allowed) = (&*self.session, &self.options.names, &Allowed::default());
        let (options, cancel) = (&CallOptions::default(), &Cancel::default());
        look(&Call { session, names, allowed, options, cancel, progress: &|_, _| {} })
    }

    fn result(&self, kind: ToolKind, answer: Answer, repairs: &Repairs) -> ToolResult {
        let Answer { text, is_error, codes, images, summary, structured, diff } = answer;
        let dialect = self.session.options().workspace.dialect;
        let advice = (kind.tool_in(dialect).words)(&self.options, dialect).advice;
        let advice = if is_error && !kind.writes() { String::new() } else { format!(" {advice}") };
        let AnswerLimits { answer_bytes, error_bytes } = self.options.limits;
        let max_bytes = if is_error { error_bytes } else { answer_bytes };
        let mut notes = repairs.notes();
        // So that the model does not go on with anchors that are old.
        let changed = self.session.changed_files().into_iter();
        notes.extend(changed.map(|file| format!("{file} changed on disk since you read it")));
        let broken = self.session.broken_files().into_iter();
        notes.extend(broken.map(|file| format!("{file} still does not parse")));
        notes.extend(codes.contains(&Code::OutsideRoot).then(|| self.reach(kind)).flatten());
        // The one option that messages name and no call has.
        let limit = Term::MaxFileBytes.name();
        let is_over_limit = codes.contains(&Code::FileTooLarge) && text.contains(limit);
        notes.extend(is_over_limit.then(|| {
            format!(
                "{limit} is an option of the host, not of this call: use the shell for this file"
            )
        }));
        ToolResult {
            text: bounded(text, max_bytes, dialect, &advice) + &bounded_notes(&notes),
            is_error,
            images,
            summary: one_line(&summary),
            structured: with_repairs(structured, repairs.all()),
            diff,
        }
    }

    /// What can be reached, for a call that was out of bounds.
    fn reach(&self, kind: ToolKind) -> Option<String> {
        let options = self.session.options();
        let Root::At(root) = &options.workspace.root else { return None };
        let names = &self.options.names;
        let name = names.of(kind);
        let readable: Vec<_> =
            options.read_roots.iter().map(|root| root.to_string_lossy()).collect();
        let also = match readable.as_slice() {
            [] => String::new(),
            roots if kind.writes() => {
                format!("; {} shows files of {}, too", names.read, roots.join(", "))
            }
            roots => format!(", {}", roots.join(", ")),
        };
        Some(format!("{name} works on files in {}{also}. For others use the shell", root.display()))
    }
}

/// The result of a call that could not even begin, or broke off.
pub fn refusal(kind: ToolKind, names: &Names, error: Error) -> ToolResult {
    let Answer { text, is_error, summary, structured, .. } =
        failed(kind, names, &Trouble::Engine(error));
    let structured = with_repairs(structured, &[]);
    ToolResult { text, is_error, images: Vec::new(), summary, structured, diff: None }
}

/// The answer to a call that ended in an error. Of misuse it is certain that it wrote nothing; a
/// fault of the disk says itself what became of the files.
fn failed(kind: ToolKind, names: &Names, trouble: &Trouble) -> Answer {
    let (code, text) = match trouble {
        Trouble::Malformed(message) => {
            (Code::InvalidArgument, format!("{}: {message}", names.of(kind)))
        }
        Trouble::Engine(error) => {
            (error.code, format!("{}: {}", error.code.as_str(), error.message))
        }
    };
    let is_misuse = matches!(code, Code::InvalidArgument | Code::UnencodableText);
    let is_untouched = kind.writes() && is_misuse;
    Answer {
        text: if is_untouched { format!("{NOTHING_WRITTEN}\n{text}") } else { text },
        is_error: true,
        codes: vec![code],
        summary: code.as_str().to_owned(),
        structured: json!({"code": code.as_str()}),
        ..Answer::default()
    }
}

/// An answer as data, with what was taken otherwise than the model wrote it: first arguments, then
/// texts.
fn with_repairs(mut structured: Json, repairs: &[Repair]) -> Json {
    let mut all: Vec<Json> = repairs.iter().map(|repair| json!(repair)).collect();
    if let Json::Array(of_texts) = structured["repairs"].take() {
        all.extend(of_texts);
    }
    structured["repairs"] = all.into();
    structured
}
