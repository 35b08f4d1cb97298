//! The requests of a client: what there is, and calls of the tools. A connection has one session,
//! which hears of calls in the order in which they arrive; each is carried out on a thread of its
//! own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hashline_core::{Cancel, Code, Error, Session, SessionOptions, SessionRoot, StoreOptions};
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, ConstString,
    CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value as Json, json};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, Interval, interval_at};

use super::apply::APPLY;
use super::json::{APPLY_JSON, READ_JSON};
use super::read::READ;
use super::roots;
use super::search::SEARCH;
use super::tool::{Begun, Call, Definition};

/// The tools, in the order in which clients show them.
static TOOLS: &[Definition] = &[READ, SEARCH, APPLY, READ_JSON, APPLY_JSON];

const INSTRUCTIONS: &str = "Read files with read rather than cat, head, tail or sed: only lines that read or search showed have anchors to edit by. \
    Search with search rather than grep, rg or find. \
    Change files with apply alone; put all edits that belong together into one call. \
    After apply, use the anchors of its answer; read again only what it did not show. \
    Values of JSON documents can be edited by path: read_json, then apply_json.";

/// What the command line says.
pub struct Settings {
    /// Where to work; none leaves it to the client.
    pub roots: Vec<String>,
    /// The session, but for its directories.
    pub options: SessionOptions,
    /// Where the session is kept.
    pub store: Option<StoreOptions>,
    /// Whether answers have structured content.
    pub is_structured: bool,
}

/// The session of a connection.
struct Place {
    roots: Vec<String>,
    session: Arc<Session>,
}

/// One connection.
pub struct Server {
    settings: Settings,
    place: Mutex<Option<Place>>,
    /// The client has other roots now.
    has_moved: AtomicBool,
    /// Every call that is under way holds one; the other end hears when the last is dropped.
    busy: mpsc::Sender<()>,
}

/// How far a call has come, for the client.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Progress {
    /// Tells that `done` of `total` things are done.
    pub fn tell(&self, done: usize, total: usize) {
        self.total.store(total, Ordering::Relaxed);
        self.done.store(done, Ordering::Relaxed);
    }
}

impl Server {
    pub fn new(settings: Settings, busy: mpsc::Sender<()>) -> Server {
        Server { settings, place: Mutex::default(), has_moved: AtomicBool::new(false), busy }
    }

    /// Carries out a call, as the client has it; what is wrong with it is a result, too.
    async fn call(
        &self,
        name: &str,
        arguments: Json,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let message = format!("there is no tool {name:?}; there are {}", names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let (cancel, progress) = (Cancel::default(), Arc::<Progress>::default());
        let is_structured = self.settings.is_structured;
        let begun = match self.begin(tool, context, &cancel, &progress).await {
            Ok(begun) => begun,
            Err(error) => return Ok(tool.refused(error, is_structured)),
        };
        let busy = self.busy.clone();
        let running = tokio::task::spawn_blocking(move || {
            let result = begun.carry_out(arguments, is_structured);
            drop(busy);
            result
        });
        let token = context.meta.get_progress_token();
        let mut report = Report::new(&context.peer, token, &progress);
        // The first word is sent however short the call is: who asked for progress gets some.
        report.tell().await;
        let mut running = std::pin::pin!(running);
        let finished = loop {
            tokio::select! {
                biased;
                () = context.ct.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
                // Told to the end, before anything else: no word may come behind the answer.
                () = report.due() => report.tell().await,
                finished = &mut running => break finished,
            }
        };
        Ok(finished.unwrap_or_else(|fault| {
            let error = Error::new(Code::Internal, format!("the call broke off: {fault}"));
            tool.refused(error, is_structured)
        }))
    }

    /// Takes the place of a call in the order of calls. Those that have to wait for the session
    /// wait in line.
    async fn begin(
        &self,
        tool: &'static Definition,
        context: &RequestContext<RoleServer>,
        cancel: &Cancel,
        progress: &Arc<Progress>,
    ) -> Result<Begun, Error> {
        let mut held = self.place.lock().await;
        if held.is_none() || self.has_moved.swap(false, Ordering::Relaxed) {
            let roots = match self.settings.roots.as_slice() {
                [] => roots::of_client(context).await,
                roots => roots.to_vec(),
            };
            if held.as_ref().is_none_or(|place| place.roots != roots) {
                *held = Some(Place { session: Arc::new(self.open(&roots)?), roots });
            }
        }
        let Some(place) = held.as_ref() else {
            return Err(Error::new(Code::Internal, "a connection without session"));
        };
        let session = Arc::clone(&place.session);
        let base = session.options().workspace.cwd.as_deref().map(Path::new);
        let base = base.map(PathBuf::from).unwrap_or_default();
        let (cancel, progress) = (cancel.clone(), Arc::clone(progress));
        Ok(tool.begin(Call { session, base, cancel, progress }))
    }

    /// A session that works in the first of the roots and reads the others; without any it works
    /// in the working directory.
    fn open(&self, roots: &[String]) -> Result<Session, Error> {
        let Settings { options, store, .. } = &self.settings;
        let (first, others) = match roots.split_first() {
            Some((first, others)) => (Some(first.as_str()), others),
            None => (None, roots),
        };
        let options = options.clone().in_directories(first, SessionRoot::Cwd, others)?;
        match store {
            Some(store) => Session::open(options, store),
            None => Ok(Session::new(options)),
        }
    }
}

/// Word of a call's progress for the client, if it asked.
struct Report<'a> {
    peer: &'a Peer<RoleServer>,
    token: Option<ProgressToken>,
    progress: &'a Progress,
    ticks: Interval,
    told: Option<usize>,
}

/// How often clients hear of progress.
const TOLD_EVERY: Duration = Duration::from_millis(500);

impl<'a> Report<'a> {
    fn new(
        peer: &'a Peer<RoleServer>,
        token: Option<ProgressToken>,
        progress: &'a Progress,
    ) -> Report<'a> {
        let ticks = interval_at(Instant::now() + TOLD_EVERY, TOLD_EVERY);
        Report { peer, token, progress, ticks, told: None }
    }

    /// Waits for the time to tell; for ever, where nobody asked.
    async fn due(&mut self) {
        if self.token.is_none() {
            return std::future::pending().await;
        }
        self.ticks.tick().await;
    }

    /// Tells how far the call has come, if that is further than it was.
    async fn tell(&mut self) {
        let Some(token) = &self.token else { return };
        let (done, total) = (&self.progress.done, &self.progress.total);
        let (done, total) = (done.load(Ordering::Relaxed), total.load(Ordering::Relaxed));
        if self.told.is_some_and(|told| told >= done) {
            return;
        }
        self.told = Some(done);
        let mut word = ProgressNotificationParam::new(token.clone(), done as f64);
        if total > 0 {
            word = word.with_total(total as f64).with_message(format!("{done} of {total} files"));
        }
        // Who cannot be told will not read the answer either.
        let _ = self.peer.notify_progress(word).await;
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let program = Implementation::new("hashline", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(program.with_title("Hashline"))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let dialect = self.settings.options.workspace.dialect;
        let tools = TOOLS.iter().map(|tool| tool.tool(dialect)).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.map_or(Json::Null, Json::Object);
        Ok(self.call(&request.name, arguments, &context).await?.into())
    }

    /// Answers calls whose arguments are no object: the model is to hear of it.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let is_call = method == CallToolRequestMethod::VALUE;
        let params = params.filter(|_| is_call).unwrap_or_default();
        let (Some(name), true) = (params["name"].as_str(), is_call) else {
            let code =
                if is_call { ErrorCode::INVALID_PARAMS } else { ErrorCode::METHOD_NOT_FOUND };
            return Err(ErrorData::new(code, method, None));
        };
        let mut result = self.call(name, params["arguments"].clone(), &context).await?;
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
