//! Answers the requests of a client: lists the tools and calls them. A connection has one session.
//! It receives calls in the order of their arrival and runs them on other threads.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hashline_core::host::{CALLS, PoolJob, Turn};
use hashline_core::{Cancel, Code, Error, Root, Session, SessionOptions, StoreOptions};
use hashline_tools::{
    AnswerLimits, CallOptions, Definition, Given, Step, ToolKind, ToolResult, Tools, ToolsOptions,
    describe, refusal,
};
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, ConstString,
    ContentBlock, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation, JsonObject,
    ListToolsResult, MetaObject, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value as Json, json};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::{Instant, Interval, interval_at};

use super::intake::Taken;
use super::{hosts, roots};
use crate::after::AfterCommands;
use crate::served::Announcement;
use crate::usage::Record;

/// The options of the command line.
pub struct Settings {
    /// The directories to work in; empty leaves them to the client.
    pub roots: Vec<String>,
    /// Other directories that may be read.
    pub read_roots: Vec<String>,
    /// The options of the session, without directories.
    pub options: SessionOptions,
    /// Where the session is stored.
    pub store: Option<StoreOptions>,
    /// The options of the tools.
    pub tools: ToolsOptions,
    /// The most bytes of an answer, if the command line sets it.
    pub max_answer_bytes: Option<usize>,
    /// The tools that are offered.
    pub offered: Vec<ToolKind>,
    /// Whether answers have structured content.
    pub is_structured: bool,
    /// The commands that run on written files.
    pub after: AfterCommands,
}

/// The directories of a connection, and its tools.
struct Workplace {
    roots: Vec<String>,
    tools: Tools,
}

/// One connection.
pub struct Server {
    settings: Settings,
    workplace: Mutex<Option<Workplace>>,
    /// Whether the client has changed its roots.
    has_moved: AtomicBool,
    /// Created when the client knows the tools.
    announcement: OnceLock<Announcement>,
    /// Each call in progress holds a clone; the receiver notices when the last one is dropped.
    busy: mpsc::Sender<()>,
}

/// The progress of a call.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Progress {
    /// Records that `done` of `total` things are done.
    pub fn set(&self, done: usize, total: usize) {
        self.total.store(total, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
    }
}

impl Server {
    pub fn new(settings: Settings, busy: mpsc::Sender<()>) -> Server {
        Server {
            settings,
            workplace: Mutex::default(),
            has_moved: AtomicBool::new(false),
            announcement: OnceLock::new(),
            busy,
        }
    }

    /// Lets hooks know that the client has the tools.
    fn announce(&self) {
        let Settings { options, store, .. } = &self.settings;
        let conversation = store.as_ref().map(|store| store.id.as_str());
        let state_dir = options.workspace.state_dir.as_deref();
        self.announcement.get_or_init(|| Announcement::new(state_dir, conversation));
    }

    /// Runs a call of the client and appends its line to the usage log.
    async fn logged_call(
        &self,
        name: &str,
        arguments: Json,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let record = Record::begin();
        let result = self.call(name, arguments, context).await;
        match &result {
            Ok(result) => record.write_call(Some(name), result.code),
            Err(_) => record.write_call(None, Some(Code::InvalidArgument)),
        }
        Ok(result_of(result?, self.settings.is_structured))
    }

    /// Runs a call of the client; errors are results, too.
    async fn call(
        &self,
        name: &str,
        arguments: Json,
        context: &RequestContext<RoleServer>,
    ) -> Result<ToolResult, ErrorData> {
        let Settings { tools: ToolsOptions { names, .. }, offered, .. } = &self.settings;
        let Some(&kind) = offered.iter().find(|&&kind| names.of(kind) == name) else {
            let known: Vec<&str> = offered.iter().map(|&kind| names.of(kind)).collect();
            let message = format!("there is no tool {name:?}. Use one of {}.", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        begin(context).await;
        let (cancel, progress) = (Cancel::default(), Arc::<Progress>::default());
        let refused = |error| refusal(kind, names, error);
        let (tools, turn) = match self.enter(kind, context).await {
            Ok(entered) => entered,
            Err(error) => return Ok(refused(error)),
        };
        let busy = self.busy.clone();
        let after = self.settings.after.clone();
        let (stop, call_progress) = (cancel.clone(), Arc::clone(&progress));
        // Cancelled while it waited for its turn.
        if context.ct.is_cancelled() {
            cancel.cancel();
        }
        let (done, running) = oneshot::channel();
        let job: PoolJob = Box::new(move || {
            let on_progress = |done, total| call_progress.set(done, total);
            let given = Ok(arguments.into());
            let result = if after.is_empty() {
                tools.run(kind, turn, given, &CallOptions::default(), &stop, &on_progress)
            } else {
                run_with_commands(&tools, &after, kind, turn, given, (&stop, &on_progress))
            };
            drop(busy);
            let _ = done.send(result);
        });
        // Without another thread it runs on this one.
        if let Err(job) = CALLS.submit(job) {
            job();
        }
        let token = context.meta.get_progress_token();
        let mut report = Report::new(&context.peer, token, &progress);
        // The first report is sent even for a short call, so a client that asks for progress gets
        // some.
        report.send().await;
        let mut running = std::pin::pin!(running);
        let finished = loop {
            tokio::select! {
                biased;
                () = context.ct.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
                // Sent completely before anything else: nothing may follow the answer.
                () = report.due() => report.send().await,
                finished = &mut running => break finished,
            }
        };
        let broke_off = |fault| Error::new(Code::Internal, format!("the call stopped: {fault}"));
        let result = finished.map_err(broke_off).flatten();
        Ok(result.unwrap_or_else(refused))
    }

    /// Takes the turn of a call. Calls that have to wait for the session queue up.
    async fn enter(
        &self,
        kind: ToolKind,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Tools, Turn), Error> {
        let mut held = self.workplace.lock().await;
        if held.is_none() || self.has_moved.swap(false, Ordering::Relaxed) {
            let roots = match self.settings.roots.as_slice() {
                [] => roots::of_client(context).await,
                roots => roots.to_vec(),
            };
            if roots.is_empty() {
                roots::check_working_directory()?;
            }
            if held.as_ref().is_none_or(|workplace| workplace.roots != roots) {
                let tools = self.tools(context);
                let tools = Tools::new(&self.open(&roots, tools.limits)?, tools);
                *held = Some(Workplace { tools, roots });
            }
        }
        let Some(Workplace { tools, .. }) = held.as_ref() else {
            return Err(Error::new(Code::Internal, "a connection without session"));
        };
        Ok((tools.clone(), tools.enter(kind, None)))
    }

    /// What the tools may do, with answers as long as the client takes them.
    fn tools(&self, context: &RequestContext<RoleServer>) -> ToolsOptions {
        let client = context.client_info().map(|client| client.name);
        let of_client = hosts::limits(client.as_deref());
        let limits = match self.settings.max_answer_bytes {
            Some(bytes) => AnswerLimits { answer_bytes: bytes, error_bytes: bytes, ..of_client },
            None => of_client,
        };
        ToolsOptions { limits, ..self.settings.tools.clone() }
    }

    /// Opens a session that works in the first of the roots and reads the others; without roots it
    /// works in the working directory.
    fn open(&self, roots: &[String], limits: AnswerLimits) -> Result<Session, Error> {
        let Settings { options, store, read_roots, .. } = &self.settings;
        let (first, others) = match roots.split_first() {
            Some((first, others)) => (Some(first.as_str()), others),
            None => (None, roots),
        };
        let readable = [others, read_roots].concat();
        let mut options = options.clone();
        options.workspace.cwd = first.map(PathBuf::from);
        options.workspace.root = Root::Cwd;
        options.read_roots = readable.into_iter().map(PathBuf::from).collect();
        limits.limit(&mut options);
        match store {
            Some(store) => Session::open(options, store),
            None => Session::new(options),
        }
    }
}

/// Runs a call; if it writes files, runs the commands on them before it is answered. It keeps its
/// turn meanwhile: a formatter would overwrite an edit that is made while it runs.
fn run_with_commands(
    tools: &Tools,
    after: &AfterCommands,
    kind: ToolKind,
    turn: Turn,
    given: Given,
    (cancel, progress): (&Cancel, &dyn Fn(usize, usize)),
) -> Result<ToolResult, Error> {
    let directory = tools.directory()?;
    let options = CallOptions { settles: true, ..CallOptions::default() };
    let written = match tools.write(kind, turn.clone(), given, &options, cancel, progress)? {
        Step::Answered(result) => return Ok(*result),
        Step::Written(written) => written,
    };
    let after = after.run(&tools.written_paths(&written), &directory, cancel);
    Ok(tools.settle(written, turn, &after, &Cancel::default()))
}

/// Waits until the answer to a request may be created.
async fn begin(context: &RequestContext<RoleServer>) {
    if let Some(taken) = context.extensions.get::<Arc<Taken>>() {
        taken.begin().await;
    }
}

/// The definition of a tool in the protocol's form.
fn listed(definition: Definition) -> Tool {
    let Definition { name, title, description, input_schema, annotations, .. } = definition;
    let schema = match input_schema {
        Json::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    let annotations = ToolAnnotations::with_title(annotations.title)
        .read_only(annotations.read_only_hint)
        .destructive(annotations.destructive_hint)
        .idempotent(annotations.idempotent_hint)
        .open_world(annotations.open_world_hint);
    // Claude Code loads some tools on demand, and these at the start; and it puts long results into
    // a file.
    let meta = JsonObject::from_iter([
        ("anthropic/alwaysLoad".to_owned(), true.into()),
        ("anthropic/maxResultSizeChars".to_owned(), hosts::MAX_RESULT_CHARS.into()),
    ]);
    Tool::new(Cow::Owned(name), description, schema)
        .with_title(title)
        .with_annotations(annotations)
        .with_meta(MetaObject::from(meta))
}

/// The result of a call in the protocol's form.
fn result_of(result: ToolResult, is_structured: bool) -> CallToolResult {
    let ToolResult { text, is_error, images, structured, .. } = result;
    let mut content = vec![ContentBlock::text(text)];
    content.extend(
        images
            .iter()
            .map(|image| ContentBlock::image(STANDARD.encode(&image.data), image.mime_type)),
    );
    let mut result =
        if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = is_structured.then_some(structured);
    result
}

/// The instructions for the tools.
fn instructions(settings: &Settings) -> String {
    let dialect = settings.options.workspace.dialect;
    let rules_of = |&kind| describe(kind, dialect, &settings.tools).guidelines;
    settings.offered.iter().flat_map(rules_of).collect::<Vec<_>>().join(" ")
}

/// Reports the progress of a call to the client, if it asks for it.
struct Report<'a> {
    peer: &'a Peer<RoleServer>,
    token: Option<ProgressToken>,
    progress: &'a Progress,
    ticks: Interval,
    reported: Option<usize>,
}

/// The interval between progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);

impl<'a> Report<'a> {
    fn new(
        peer: &'a Peer<RoleServer>,
        token: Option<ProgressToken>,
        progress: &'a Progress,
    ) -> Report<'a> {
        let ticks = interval_at(Instant::now() + PROGRESS_INTERVAL, PROGRESS_INTERVAL);
        Report { peer, token, progress, ticks, reported: None }
    }

    /// Waits until the next report is due; forever if the client did not ask for reports.
    async fn due(&mut self) {
        if self.token.is_none() {
            return std::future::pending().await;
        }
        self.ticks.tick().await;
    }

    /// Reports the progress of the call, if there is more than before.
    async fn send(&mut self) {
        let Some(token) = &self.token else { return };
        let (done, total) = (&self.progress.done, &self.progress.total);
        let (done, total) = (done.load(Ordering::Relaxed), total.load(Ordering::Relaxed));
        if self.reported.is_some_and(|reported| reported >= done) {
            return;
        }
        self.reported = Some(done);
        let mut word = ProgressNotificationParam::new(token.clone(), done as f64);
        if total > 0 {
            word = word.with_total(total as f64).with_message(format!("{done} of {total} files"));
        }
        // A client that does not receive this will not read the answer either.
        let _ = self.peer.notify_progress(word).await;
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let program = Implementation::new("hashline", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(program.with_title("Hashline"))
            .with_instructions(instructions(&self.settings))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        begin(&context).await;
        let Settings { options, offered, .. } = &self.settings;
        let tools = self.tools(&context);
        let tool = |&kind| listed(describe(kind, options.workspace.dialect, &tools));
        self.announce();
        Ok(ListToolsResult::with_all_items(offered.iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.map_or(Json::Null, Json::Object);
        Ok(self.logged_call(&request.name, arguments, &context).await?.into())
    }

    /// Answers calls whose arguments are not an object, so that the model gets the error.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let is_call = method == CallToolRequestMethod::VALUE;
        let params = params.filter(|_| is_call).unwrap_or_default();
        let Some(name) = params["name"].as_str() else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        };
        let mut result = self.logged_call(name, params["arguments"].clone(), &context).await?;
        if context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28)
        {
            result.result_type = None;
        }
        Ok(CustomResult::new(json!(result)))
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.has_moved.store(true, Ordering::Relaxed);
    }
}
