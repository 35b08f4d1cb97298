//! The tools of `hashline-native/tools`. `js/tools` adds what only JavaScript can do.

use parking_lot::Mutex;

use hashline_core::host::{Mark, Turn};
use hashline_core::{
    AfterWrite, AnswerOptions, Cancel, Code, Error, PatchOptions, Result as CoreResult, Session,
};
use hashline_tools::{
    Allowed, CallOptions, Given, Names, ShellCall, Step, ToolKind, ToolResult, Tools, ToolsOptions,
    Unreadable, WrittenCall, after_write, annotation, anthropic, call_title, declined, describe,
    note_of, openai, refusal,
};
use napi::bindgen_prelude::{External, Object, ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};
use napi_derive::napi;

use super::error::{self, CallError, Result};
use super::js::Js;
use super::options::{Field, OptionNames, Options, SIGNAL};
use super::session::{CallTurn, HashSession, ReadImage, output_text};
use super::task::{self, Call, Prepared};
use super::text::Text;
use super::value::{Strings, to_arguments};

/// The options of `HashToolsOptions` that apply to each call.
const SHARED: &[&str] = &["answer", "answerContext", "operations"];

/// `HashToolsOptions`, without the names.
const OF_TOOLS: OptionNames = &[SHARED, &["json", "undo"]];

/// `ExecuteOptions` and the shared options.
const OF_CALL: OptionNames = &[SIGNAL, &["dryRun", "plan", "settles"], SHARED];

/// `AnnotationOptions`.
const OF_ANNOTATION: OptionNames = &[SIGNAL, &["command", "cwd", "since"]];

/// The option `operations`.
fn allowed(options: &Options<'_>) -> Result<Allowed> {
    let Some(field) = options.one("operations") else { return Ok(Allowed::default()) };
    if !field.value().is_array()? {
        return Err(field.wrong("an array of names of operations"));
    }
    Allowed::only(&field.read::<Vec<String>>()?).map_err(of_operations)
}

/// Names the option `operations` in an error.
fn of_operations(error: Error) -> CallError {
    Error::argument(format!("options.operations: {}", error.message)).into()
}

/// The definition of a tool as JSON, for a harness and a model.
#[napi(namespace = "tools", js_name = "definition", skip_typescript)]
pub fn tool_definition<'env>(
    env: &'env Env,
    session: &HashSession,
    names: Vec<String>,
    kind: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    error::returned(env, || {
        // A wrong option is refused when the tools are created.
        let options = Options::of(options, OF_TOOLS)?;
        options.read::<AnswerOptions>()?;
        let operations = allowed(&options)?;
        for name in ["json", "undo"] {
            options.one(name).map(Field::read::<bool>).transpose()?;
        }
        let kind = kind_of(kind)?;
        let dialect = session.for_call()?.options().workspace.dialect;
        operations.check(kind, dialect).map_err(of_operations)?;
        let options =
            ToolsOptions { names: names_of(names)?, operations, ..ToolsOptions::default() };
        let definition = describe(kind, dialect, &options);
        Ok(serde_json::to_string(&definition).unwrap_or_default())
    })
}

/// Runs a call.
#[napi(namespace = "tools", js_name = "call", skip_typescript)]
pub fn tool_call<'env>(
    env: &'env Env,
    session: &HashSession,
    names: Vec<String>,
    kind: Js<'env>,
    arguments: Js<'env>,
    options: Js<'env>,
    mark: Option<&External<HeldMark>>,
) -> napi::Result<Js<'env>> {
    let call = Made { session, names, kind, arguments, options, mark };
    match kind_of(kind).map(ToolKind::writes) {
        Ok(true) => task::later(env, || call.prepare::<true>()),
        _ => task::later(env, || call.prepare::<false>()),
    }
}

/// The result of an edit that a person did not approve.
#[napi(namespace = "tools", js_name = "declined", skip_typescript)]
pub fn tool_declined<'env>(env: &'env Env, reason: Js<'env>) -> napi::Result<Js<'env>> {
    error::returned(env, || Ok(ToolAnswer(declined(&reason.text_if_any()?.unwrap_or_default()))))
}

/// The files that a call names, as JSON.
#[napi(namespace = "tools", js_name = "named", skip_typescript)]
pub fn tool_named<'env>(
    env: &'env Env,
    session: &HashSession,
    kind: Js<'env>,
    arguments: Js<'env>,
) -> napi::Result<Js<'env>> {
    error::returned(env, || {
        let kind = kind_of(kind)?;
        let arguments = to_arguments(arguments, Strings::Whole);
        let tools = Tools::new(&*session.for_call()?, ToolsOptions::default());
        let named = tools.named_files(kind, arguments);
        Ok(serde_json::to_string(&named).unwrap_or_default())
    })
}

/// Marks what the model has read until now, for calls that it makes now and that run later.
#[napi(namespace = "tools", js_name = "mark", skip_typescript)]
pub fn tool_mark(env: &Env, session: &HashSession) -> napi::Result<External<HeldMark>> {
    let session = session.for_call().map_err(|error| error.throw(env))?;
    Ok(External::new(Mutex::new(Some(session.mark()))))
}

/// Frees a mark: the memory keeps what a call at this time can mean.
#[napi(namespace = "tools", js_name = "unmark", skip_typescript)]
pub fn tool_unmark(mark: &External<HeldMark>) {
    *mark.lock() = None;
}

/// A mark, until it is freed.
type HeldMark = Mutex<Option<Mark>>;

/// The names of all operations.
#[napi(namespace = "tools", js_name = "operations", skip_typescript)]
pub fn tool_operations() -> Vec<&'static str> {
    hashline_tools::operation_names()
}

/// The absolute path of a file that need not exist, as the host of documents names it.
#[napi(namespace = "tools", js_name = "absolute", skip_typescript)]
pub fn tool_absolute<'env>(
    env: &'env Env,
    session: &HashSession,
    path: Js<'env>,
) -> napi::Result<Js<'env>> {
    error::returned(env, || {
        let path: String = Field::argument("path", path)?.read()?;
        let absolute = session.for_call()?.absolute_path(path)?;
        Ok(absolute.to_string_lossy().into_owned())
    })
}

/// The result of a call that failed in JavaScript.
#[napi(namespace = "tools", js_name = "refusal", skip_typescript)]
pub fn tool_refusal<'env>(
    env: &'env Env,
    names: Vec<String>,
    kind: Js<'env>,
    code: Js<'env>,
    message: Js<'env>,
) -> napi::Result<Js<'env>> {
    error::returned(env, || {
        let code = code.text_if_any()?.unwrap_or_default();
        let code = Code::ALL.iter().copied().find(|known| known.as_str() == code);
        let message = message.text_if_any()?.unwrap_or_else(|| "an unknown error".to_owned());
        let error = Error::new(code.unwrap_or(Code::Internal), message);
        Ok(ToolAnswer(refusal(kind_of(kind)?, &names_of(names)?, error)))
    })
}

/// Learns from a call of an earlier run what the call showed.
#[napi(namespace = "tools", js_name = "remember", skip_typescript)]
pub fn tool_remember<'env>(
    env: &'env Env,
    session: &HashSession,
    kind: Js<'env>,
    arguments: Js<'env>,
    text: Js<'env>,
) -> napi::Result<Js<'env>> {
    error::returned(env, || {
        let kind = if kind.is_missing()? { None } else { Some(kind_of(kind)?) };
        let text: String = Field::argument("text", text)?.read()?;
        let arguments = to_arguments(arguments, Strings::Whole);
        let tools = Tools::new(&*session.for_call()?, ToolsOptions::default());
        Ok(tools.remember(kind, arguments, &text)? as f64)
    })
}

/// The lines that the output of a shell command names, to append to it.
#[napi(namespace = "tools", js_name = "annotation", skip_typescript)]
pub fn tool_annotation<'env>(
    env: &'env Env,
    session: &HashSession,
    output: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::later(env, || {
        let given = Options::of(options, OF_ANNOTATION)?;
        let (call, output) = (given.read()?, output_text(output)?);
        let turn = CallTurn::of(session.for_call()?);
        Ok((AnnotationCall { turn, output, call }, given.signal()))
    })
}

struct AnnotationCall {
    turn: CallTurn,
    output: String,
    call: ShellCall,
}

impl Call for AnnotationCall {
    type Output = String;
    type Answer = Text;
    const WRITES: bool = false;
    const IS_REMEMBERED: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        self.turn.take(Session::reading)
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<String> {
        annotation(self.turn.turn()?, &self.output, &self.call, cancel)
    }

    fn answer(text: String) -> Text {
        text.into()
    }
}

/// What an edit would do, from the part of its arguments that has arrived, as JSON.
#[napi(namespace = "tools", js_name = "preview", skip_typescript)]
pub fn tool_preview<'env>(
    env: &'env Env,
    session: &HashSession,
    kind: Js<'env>,
    arguments: Js<'env>,
    options: Js<'env>,
    is_partial: Js<'env>,
) -> napi::Result<Js<'env>> {
    error::returned(env, || {
        let operations = allowed(&Options::of(options, OF_TOOLS)?)?;
        let is_partial = Field::argument("partial", is_partial)?.read()?;
        let given = to_arguments(arguments, Strings::Lossy);
        let options = ToolsOptions { operations, ..ToolsOptions::default() };
        let tools = Tools::new(&*session.for_call()?, options);
        let preview = tools.preview(kind_of(kind)?, given, is_partial, &Cancel::default());
        Ok(Text::from(serde_json::to_string(&preview).unwrap_or_default()))
    })
}

/// A short title of a call, from the part of its arguments that has arrived.
#[napi(namespace = "tools", js_name = "title", skip_typescript)]
pub fn tool_title<'env>(
    env: &'env Env,
    kind: Js<'env>,
    arguments: Js<'env>,
) -> napi::Result<Js<'env>> {
    error::returned(env, || {
        let given = to_arguments(arguments, Strings::Lossy);
        let kind = kind_of(kind)?;
        Ok(given.map(|arguments| call_title(kind, &arguments)).unwrap_or_default())
    })
}

/// Converts a tool definition into the form of a vendor, both as JSON.
#[napi(namespace = "tools", js_name = "form", skip_typescript)]
pub fn tool_form<'env>(
    env: &'env Env,
    vendor: Js<'env>,
    tool: Js<'env>,
    strict: Js<'env>,
) -> napi::Result<Js<'env>> {
    error::returned(env, || {
        let tool: String = Field::argument("tool", tool)?.read()?;
        let tool: serde_json::Value = serde_json::from_str(&tool).unwrap_or_default();
        let word = |name: &str| tool[name].as_str().unwrap_or_default();
        let (name, description, schema) = (word("name"), word("description"), &tool["inputSchema"]);
        let strict = Field::argument("strict", strict)?;
        let form = match vendor.text_if_any()?.as_deref() {
            Some("anthropic") => anthropic(name, description, schema),
            _ => openai(name, description, schema, strict.read()?),
        };
        Ok(form.to_string())
    })
}

fn kind_of(kind: Js<'_>) -> Result<ToolKind> {
    let name: String = Field::argument("kind", kind)?.read()?;
    match name.as_str() {
        "read" => Ok(ToolKind::Read),
        "search" => Ok(ToolKind::Search),
        "apply" => Ok(ToolKind::Apply),
        "read_json" => Ok(ToolKind::ReadJson),
        "apply_json" => Ok(ToolKind::ApplyJson),
        "undo" => Ok(ToolKind::Undo),
        _ => Err(Error::argument(format!("there is no tool {name:?}")).into()),
    }
}

/// The names of the tools for the model, in the order of [`ToolKind::ALL`].
fn names_of(names: Vec<String>) -> Result<Names> {
    let [read, search, apply, read_json, apply_json, undo] =
        <[String; ToolKind::ALL.len()]>::try_from(names)
            .map_err(|_| Error::argument("names must have one name for each tool"))?;
    Ok(Names { read, search, apply, read_json, apply_json, undo })
}

/// The arguments of a call.
struct Made<'a, 'env> {
    mark: Option<&'a External<HeldMark>>,
    session: &'a HashSession,
    names: Vec<String>,
    kind: Js<'env>,
    arguments: Js<'env>,
    options: Js<'env>,
}

impl<'env> Made<'_, 'env> {
    fn prepare<const WRITES: bool>(self) -> Result<Prepared<'env, ToolCall<WRITES>>> {
        let given = Options::of(self.options, OF_CALL)?;
        let PatchOptions { dry_run, .. } = given.read()?;
        let plan = given.one("plan").map(Field::read).transpose()?;
        let settles = given.one("settles").map(Field::read::<bool>).transpose()?;
        let answer = given.read()?;
        let operations = allowed(&given)?;
        let names = names_of(self.names)?;
        let call = ToolCall {
            tools: Tools::new(
                &*self.session.for_call()?,
                ToolsOptions { names, operations, ..ToolsOptions::default() },
            ),
            kind: kind_of(self.kind)?,
            mark: self.mark.and_then(|mark| Some(mark.lock().as_ref()?.again())),
            turn: None,
            given: Mutex::new(to_arguments(self.arguments, Strings::Whole)),
            options: CallOptions { dry_run, plan, answer, settles: settles.unwrap_or(false) },
        };
        Ok((call, given.signal()))
    }
}

struct ToolCall<const WRITES: bool> {
    tools: Tools,
    kind: ToolKind,
    /// When the model made the call, if it did not run at once.
    mark: Option<Mark>,
    /// Held until the answer is posted, so answers come in the order of the calls.
    turn: Option<Turn>,
    given: Mutex<Given>,
    options: CallOptions,
}

impl<const WRITES: bool> Call for ToolCall<WRITES> {
    type Output = ToolStep;
    type Answer = ToolStep;
    const WRITES: bool = WRITES;
    const IS_REMEMBERED: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        let turn = self.tools.enter(self.kind, self.mark.as_ref());
        Some(self.turn.insert(turn).clone())
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<ToolStep> {
        let none = || Error::new(Code::Internal, "a tool was called without a turn");
        let turn = self.turn.clone().ok_or_else(none)?;
        // Taken, not cloned: a call runs once, and its arguments may be long.
        let mut given = self.given.lock();
        let given = std::mem::replace(&mut *given, Err(Unreadable::NoData));
        let (tools, options) = (&self.tools, &self.options);
        Ok(match tools.write(self.kind, turn, given, options, cancel, &|_, _| {})? {
            Step::Answered(result) => ToolStep::Answered(ToolAnswer(*result)),
            Step::Written(call) => {
                let files = serde_json::to_string(&tools.written_paths(&call)).unwrap_or_default();
                ToolStep::Written(files, call)
            }
        })
    }

    fn answer(step: ToolStep) -> ToolStep {
        step
    }
}

/// The result of a call, or what it wrote before it is answered.
enum ToolStep {
    Answered(ToolAnswer),
    /// The written files as JSON, and the call.
    Written(String, WrittenCall),
}

/// A call that is not answered yet, until it is.
type HeldWritten = Mutex<Option<WrittenCall>>;

impl TypeName for ToolStep {
    fn type_name() -> &'static str {
        "Object"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl ToNapiValue for ToolStep {
    unsafe fn to_napi_value(env: sys::napi_env, step: Self) -> napi::Result<sys::napi_value> {
        match step {
            // SAFETY: the environment is the caller's.
            ToolStep::Answered(answer) => unsafe { ToolAnswer::to_napi_value(env, answer) },
            ToolStep::Written(files, call) => {
                let env = Env::from_raw(env);
                let mut object = Object::new(&env)?;
                object.set("files", Text::from(files))?;
                object.set("written", External::new(Mutex::new(Some(call))))?;
                Ok(Js::from_rust(&env, object)?.raw())
            }
        }
    }
}

/// Answers a call that has written files, once the host has worked on them. `returned` is what its
/// function returned, as JSON; `note` says why it failed.
#[napi(namespace = "tools", js_name = "settle", skip_typescript)]
pub fn tool_settle<'env>(
    env: &'env Env,
    session: &HashSession,
    names: Vec<String>,
    written: &External<HeldWritten>,
    returned: Js<'env>,
    note: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::later(env, || {
        let returned = returned.text_if_any()?.unwrap_or_default();
        let mut after = after_write(&serde_json::from_str(&returned).unwrap_or_default());
        after.notes.extend(note.text_if_any()?.map(|note| note_of(&note)));
        let answered = || Error::argument("written was answered already");
        let written = written.lock().take().ok_or_else(answered)?;
        let options = ToolsOptions { names: names_of(names)?, ..ToolsOptions::default() };
        let tools = Tools::new(&*session.for_call()?, options);
        Ok((Settling { tools, written: Mutex::new(Some(written)), turn: None, after }, None))
    })
}

/// The answer to a call that has written files.
struct Settling {
    tools: Tools,
    written: Mutex<Option<WrittenCall>>,
    /// Held until the answer is posted, as that of [`ToolCall`].
    turn: Option<Turn>,
    after: AfterWrite,
}

impl Call for Settling {
    type Output = ToolResult;
    type Answer = ToolAnswer;
    const WRITES: bool = true;
    const IS_REMEMBERED: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        let turn = self.tools.enter(ToolKind::Apply, None);
        Some(self.turn.insert(turn).clone())
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<ToolResult> {
        let turn = self.turn.clone().zip(self.written.lock().take());
        let none = || Error::new(Code::Internal, "a call was answered twice");
        let (turn, written) = turn.ok_or_else(none)?;
        Ok(self.tools.settle(written, turn, &self.after, cancel))
    }

    fn answer(result: ToolResult) -> ToolAnswer {
        ToolAnswer(result)
    }
}

/// The result of a call as a JavaScript object, with its data as JSON.
struct ToolAnswer(ToolResult);

impl TypeName for ToolAnswer {
    fn type_name() -> &'static str {
        "Object"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl ToNapiValue for ToolAnswer {
    unsafe fn to_napi_value(env: sys::napi_env, answer: Self) -> napi::Result<sys::napi_value> {
        let ToolResult { text, is_error, images, summary, structured, diff, plan, .. } = answer.0;
        let images: Vec<ReadImage> = images.into_iter().map(ReadImage::from).collect();
        let env = Env::from_raw(env);
        let mut object = Object::new(&env)?;
        object.set("images", images)?;
        object.set("text", Text::from(text))?;
        object.set("isError", is_error)?;
        object.set("summary", summary)?;
        object.set("structured", Text::from(structured.to_string()))?;
        if let Some(diff) = diff {
            object.set("diff", Text::from(diff))?;
        }
        if let Some(plan) = plan {
            object.set("plan", plan)?;
        }
        Ok(Js::from_rust(&env, object)?.raw())
    }
}
