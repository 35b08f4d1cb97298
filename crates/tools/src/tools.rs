//! The tools over one session: their definitions, how a call runs, and its result.

use std::sync::Arc;

use hashline_core::host::{Mark, Term, Turn, Value};
use hashline_core::{Cancel, Code, Dialect, Error, ReadImage, Root, Session};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::after::{Step, WrittenCall};
use crate::apply::APPLY;
use crate::arguments::{Arguments, CallError, Repair, Repairs};
use crate::bounds::{AnswerLimits, bounded, bounded_notes};
use crate::json::{APPLY_JSON, READ_JSON};
use crate::read::READ;
use crate::script::{self, NOT_LIMITED, SCRIPT};
use crate::search::SEARCH;
use crate::table::{Allowed, Field, Kind, op_names, operations_of, schema};
use crate::text::Unreadable;
use crate::title::{PartialArguments, one_line};
use crate::tool::{
    Answer, Call, CallOptions, NOTHING_WRITTEN, Names, Tool, ToolKind, ToolText, ToolsOptions,
};
use crate::undo::UNDO;

impl ToolKind {
    /// The tool in a dialect. In a dialect without hashes, `apply` takes patches.
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
            ToolKind::Undo => &UNDO,
        }
    }
}

impl ToolsOptions {
    /// The tools that can do something: an editing tool needs an allowed operation, and `read_json`
    /// is useless without `apply_json`.
    pub fn useful(&self, dialect: &Dialect) -> impl Iterator<Item = ToolKind> {
        let can_edit = |kind| self.operations.check(kind, dialect).is_ok();
        ToolKind::ALL.into_iter().filter(move |&kind| match kind {
            ToolKind::ReadJson => can_edit(ToolKind::ApplyJson),
            kind => can_edit(kind),
        })
    }
}

impl Allowed {
    /// Refuses a tool that would be left without operations, and a limit on the tool that takes
    /// whole patches.
    pub fn check(&self, kind: ToolKind, dialect: &Dialect) -> Result<(), Error> {
        let is_script = kind == ToolKind::Apply && !dialect.has_hashes();
        if is_script && !self.is_all() {
            return Err(Error::argument(NOT_LIMITED));
        }
        let Some(fields) = kind.tool().fields.iter().find_map(operation_fields) else {
            return Ok(());
        };
        if operations_of(fields, self).next().is_some() {
            return Ok(());
        }
        let known = op_names(operations_of(fields, &Allowed::default())).join(", ");
        let title = kind.tool().title;
        Err(Error::argument(format!(
            "no operation of the tool {title} is allowed: add at least one of {known}"
        )))
    }
}

fn operation_fields(field: &Field) -> Option<&'static [Field]> {
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
    /// The description for the model.
    pub description: String,
    /// One line for a list of tools in a system prompt.
    pub snippet: String,
    /// Rules for a system prompt.
    pub guidelines: Vec<String>,
    /// The schema of the arguments.
    pub input_schema: Json,
    /// Hints about its effects.
    pub annotations: Annotations,
}

/// Hints about the effects of a tool, as the Model Context Protocol defines them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// The name for people.
    pub title: &'static str,
    /// Whether it only reads.
    pub read_only_hint: bool,
    /// Whether it can destroy data.
    pub destructive_hint: bool,
    /// Whether a second call changes nothing more.
    pub idempotent_hint: bool,
    /// Whether it reaches beyond the files of this machine.
    pub open_world_hint: bool,
}

/// The definition of a tool, with the anchors of a dialect in its examples.
pub fn describe(kind: ToolKind, dialect: &Dialect, options: &ToolsOptions) -> Definition {
    let tool = kind.tool_in(dialect);
    let writes = kind.writes();
    let ToolText { description, snippet, guidelines, .. } = (tool.text)(options, dialect);
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

/// The title of a call for one line of a terminal; empty until an argument of it has arrived.
/// `arguments` is an object, or as much of its JSON text as has arrived.
pub fn call_title(kind: ToolKind, arguments: &Value) -> String {
    let arguments = PartialArguments::of(arguments);
    let is_patch = kind == ToolKind::Apply && script::is_meant(&arguments);
    let tool = if is_patch { &SCRIPT } else { kind.tool() };
    one_line(&(tool.title_of)(&arguments))
}

/// The arguments as a model wrote them: an object, or the JSON text of one.
pub type Given = Result<Value, Unreadable>;

/// The result of a call.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The answer for the model.
    pub text: String,
    /// Whether nothing was read, searched or written.
    pub is_error: bool,
    /// The code of the first failure, if it is an error of the call or of its files.
    #[serde(skip)]
    pub code: Option<Code>,
    /// The images among the files that were read, in formats that models accept.
    pub images: Vec<ReadImage>,
    /// The outcome in a few words, for a line of a terminal.
    pub summary: String,
    /// The answer as data.
    pub structured: Json,
    /// The changes of an `apply` as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Identifies what a dry run planned, for [`CallOptions::plan`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

/// The tools over one session.
#[derive(Clone)]
pub struct Tools {
    session: Arc<Session>,
    options: Arc<ToolsOptions>,
}

/// Messages of the core spell option names as the fields of calls do.
fn spelling(term: Term) -> &'static str {
    match term {
        Term::Literal => "set literal to true",
        term => term.name(),
    }
}

impl Tools {
    /// The tools over a session, which remembers what they show.
    pub fn new(session: &Session, options: ToolsOptions) -> Tools {
        Tools { session: Arc::new(session.spelled(spelling)), options: Arc::new(options) }
    }

    /// The definition of a tool, for a harness and a model.
    pub fn describe(&self, kind: ToolKind) -> Definition {
        describe(kind, self.session.options().workspace.dialect, &self.options)
    }

    /// Queues a call. Its turn decides the order of reads and writes. `mark` is when the model made
    /// the call, if that was earlier.
    pub fn enter(&self, kind: ToolKind, mark: Option<&Mark>) -> Turn {
        match mark {
            _ if !kind.writes() => self.session.reading(),
            Some(mark) => self.session.writing_as_of(mark),
            None => self.session.writing(),
        }
    }

    /// Runs a call. A failure is a result, too; only cancellation is an error. `progress` is called
    /// periodically with how much is done, and of how much.
    pub fn run(
        &self,
        kind: ToolKind,
        turn: Turn,
        given: Given,
        options: &CallOptions,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<ToolResult, Error> {
        let (answer, repairs) = self.answer(kind, turn, given, options, cancel, progress)?;
        Ok(self.result(kind, answer, &repairs))
    }

    /// Like [`Tools::run`]; with [`CallOptions::settles`], an edit that writes is not answered yet.
    pub fn write(
        &self,
        kind: ToolKind,
        turn: Turn,
        given: Given,
        options: &CallOptions,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<Step, Error> {
        let (mut answer, repairs) = self.answer(kind, turn, given, options, cancel, progress)?;
        Ok(match answer.written.take() {
            Some(written) => Step::Written(WrittenCall { kind, written, repairs }),
            None => Step::Answered(Box::new(self.result(kind, answer, &repairs))),
        })
    }

    fn answer(
        &self,
        kind: ToolKind,
        turn: Turn,
        given: Given,
        options: &CallOptions,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<(Answer, Repairs), Error> {
        let ToolsOptions { names, operations: allowed, .. } = &*self.options;
        let dialect = self.session.options().workspace.dialect;
        let call = Call { session: &self.session, names, allowed, options, cancel, progress };
        let mut repairs = Repairs::default();
        let answer = Arguments::of(given, &mut repairs)
            .and_then(|given| (kind.tool_in(dialect).run)(&call, turn, given));
        let answer = match answer {
            Err(CallError::Engine(error)) if error.code == Code::Aborted => return Err(error),
            Err(error) => failed(kind, names, &error),
            Ok(answer) => answer,
        };
        Ok((answer, repairs))
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn options(&self) -> &ToolsOptions {
        &self.options
    }

    /// Calls a function with a [`Call`] outside of any call of a model. All operations are allowed,
    /// because it interprets calls that have run already.
    pub(crate) fn with_call<T>(&self, look: impl FnOnce(&Call<'_>) -> T) -> T {
        let (session, names, allowed) = (&*self.session, &self.options.names, &Allowed::default());
        let (options, cancel) = (&CallOptions::default(), &Cancel::default());
        look(&Call { session, names, allowed, options, cancel, progress: &|_, _| {} })
    }

    pub(crate) fn result(&self, kind: ToolKind, answer: Answer, repairs: &Repairs) -> ToolResult {
        let Answer { text, is_error, codes, images, summary, structured, diff, plan, .. } = answer;
        let dialect = self.session.options().workspace.dialect;
        let advice = (kind.tool_in(dialect).text)(&self.options, dialect).advice;
        let advice = if is_error && !kind.writes() { String::new() } else { format!(" {advice}") };
        let AnswerLimits { lines, answer_bytes, error_bytes } = self.options.limits;
        let max_bytes = if is_error { error_bytes } else { answer_bytes };
        let mut notes = repairs.notes();
        // Otherwise the model would use anchors that are stale.
        let changed = self.session.changed_files().into_iter();
        notes.extend(changed.map(|file| format!("{file} changed since you read it")));
        let broken = self.session.broken_files().into_iter();
        notes.extend(broken.map(|file| format!("{file} still does not parse")));
        notes.extend(codes.contains(&Code::OutsideRoot).then(|| self.access_note(kind)).flatten());
        // Messages name this option, but it is not an argument of any call.
        let limit = Term::MaxFileBytes.name();
        let is_over_limit = codes.contains(&Code::FileTooLarge) && text.contains(limit);
        notes.extend(is_over_limit.then(|| {
            format!(
                "{limit} is an option of the host, not of this call: use the shell for this file"
            )
        }));
        ToolResult {
            text: bounded(text, (lines, max_bytes), dialect, &advice) + &bounded_notes(&notes),
            is_error,
            code: codes.first().copied().filter(|_| is_error),
            images,
            summary: one_line(&summary),
            structured: with_repairs(structured, repairs.all()),
            diff,
            plan,
        }
    }

    /// Names the accessible directories after a call that left them.
    fn access_note(&self, kind: ToolKind) -> Option<String> {
        let options = self.session.options();
        let Root::At(root) = &options.workspace.root else { return None };
        let names = &self.options.names;
        let name = names.of(kind);
        let readable: Vec<_> =
            options.read_roots.iter().map(|root| root.to_string_lossy()).collect();
        let also = match readable.as_slice() {
            [] => String::new(),
            roots if kind.writes() => {
                format!("; {} also reads files in {}", names.read, roots.join(", "))
            }
            roots => format!(", {}", roots.join(", ")),
        };
        Some(format!(
            "{name} works on files in {}{also}. For other files, use the shell",
            root.display()
        ))
    }
}

/// The longest reason against an edit that is shown.
const REASON_LIMIT_CHARS: usize = 4_000;

/// The result of an edit that a person did not approve; the reason may be empty.
pub fn declined(reason: &str) -> ToolResult {
    let end = reason.char_indices().nth(REASON_LIMIT_CHARS).map_or(reason.len(), |(end, _)| end);
    let reason = &reason[..end];
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    ToolResult {
        text: format!("{NOTHING_WRITTEN}\nThe user did not approve this edit{reason}"),
        is_error: true,
        code: None,
        images: Vec::new(),
        summary: "not approved".to_owned(),
        structured: with_repairs(json!({}), &[]),
        diff: None,
        plan: None,
    }
}

/// The result of a call that could not start or did not finish.
pub fn refusal(kind: ToolKind, names: &Names, error: Error) -> ToolResult {
    let code = Some(error.code);
    let Answer { text, is_error, summary, structured, .. } =
        failed(kind, names, &CallError::Engine(error));
    let (structured, images) = (with_repairs(structured, &[]), Vec::new());
    ToolResult { text, is_error, code, images, summary, structured, diff: None, plan: None }
}

/// The answer to a call that failed. Misuse certainly wrote nothing; the message of a disk fault
/// says itself what happened to the files.
fn failed(kind: ToolKind, names: &Names, error: &CallError) -> Answer {
    let (code, text) = match error {
        CallError::Malformed(message) => {
            (Code::InvalidArgument, format!("{}: {message}", names.of(kind)))
        }
        CallError::Engine(error) => {
            (error.code, format!("{}: {}", error.code.as_str(), error.message))
        }
    };
    let is_misuse =
        matches!(code, Code::InvalidArgument | Code::UnencodableText | Code::UnsupportedEncoding);
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

/// The answer as data with all repairs: first those of arguments, then those of texts.
fn with_repairs(mut structured: Json, repairs: &[Repair]) -> Json {
    let mut all: Vec<Json> = repairs.iter().map(|repair| json!(repair)).collect();
    if let Json::Array(of_texts) = structured["repairs"].take() {
        all.extend(of_texts);
    }
    structured["repairs"] = all.into();
    structured
}
