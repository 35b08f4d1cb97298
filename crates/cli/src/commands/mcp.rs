//! `mcp`: serves the tools of an agent by the Model Context Protocol, over standard input and
//! output.
//!
//! The tools are those of `hashline-tools`, which writes everything that a model reads. `server`
//! answers the client's requests, with one session per connection; `roots` determines its
//! directories, and `hosts` the length of its answers. `pipes` connects to the client; `message`
//! parses lines; `intake` limits the requests in progress.

mod hosts;
mod intake;
mod message;
mod pipes;
mod roots;
mod server;

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use hashline_core::{Code, Error, Session, SessionOptions};
use hashline_tools::{ToolKind, ToolsOptions};
use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::BufReader;
use tokio::sync::{Notify, mpsc};

use crate::args::Mcp;
use crate::call::Call;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use pipes::Pipes;
use server::{Server, Settings};

/// `hashline mcp`
pub fn mcp(call: Call<'_>, args: &Mcp) -> Result<Exit, Failure> {
    let workspace = call.files.workspace().options().clone();
    let tools = ToolsOptions { operations: args.operations()?, ..ToolsOptions::default() };
    if !workspace.dialect.has_hashes() {
        tools.operations.check(ToolKind::Apply, workspace.dialect)?;
    }
    let useful = tools.useful(workspace.dialect);
    let settings = Settings {
        offered: useful.filter(|&kind| is_offered(args, kind)).collect(),
        roots: roots_of(call.shared.root(), &args.roots)?,
        read_roots: args.read_roots.iter().map(|path| at_home(path)).collect::<Result<_, _>>()?,
        options: SessionOptions { workspace, ..SessionOptions::default() },
        store: args.store(),
        tools,
        max_answer_bytes: args.max_answer_bytes(),
        is_structured: args.structured,
        after: args.after.commands(),
    };
    // Hooks add to a session that exists, even before the first call. A fault is reported there.
    if let Some(store) = &settings.store {
        let _ = Session::open(settings.options.clone(), store);
    }
    // The server writes to standard output, which the call holds.
    drop(call);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|cause| Error::io("start", "the server", &cause))?;
    let exit = runtime.block_on(serve(settings));
    // The thread that reads standard input may block there forever.
    runtime.shutdown_background();
    exit
}

/// Whether the server offers a tool.
fn is_offered(args: &Mcp, kind: ToolKind) -> bool {
    match kind {
        ToolKind::ReadJson | ToolKind::ApplyJson => args.json_tools(),
        ToolKind::Undo => args.offers_undo,
        ToolKind::Read | ToolKind::Search | ToolKind::Apply => true,
    }
}

/// The directories of the command line, which must exist. They are absolute, because the later ones
/// are not below the first.
fn roots_of(root: Option<&str>, more: &[String]) -> Result<Vec<String>, Error> {
    root.into_iter().chain(more.iter().map(String::as_str)).map(absolute_directory).collect()
}

/// A directory, absolute. `~` is expanded here, because agents start servers without a shell.
fn at_home(path: &str) -> Result<String, Error> {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => absolute(&home.join(rest)),
        _ => absolute(Path::new(path)),
    }
}

fn absolute_directory(path: &str) -> Result<String, Error> {
    let fault = |cause| Error::io("open", path, &cause);
    if !std::fs::metadata(path).map_err(fault)?.is_dir() {
        let message = format!("{path}: this is not a directory. Pass a directory to work in.");
        return Err(Error::at(Code::NotAFile, path, message));
    }
    absolute(Path::new(path))
}

fn absolute(path: &Path) -> Result<String, Error> {
    let fault = |cause| Error::io("find", &path.to_string_lossy(), &cause);
    let absolute = std::path::absolute(path).map_err(fault)?;
    absolute.into_os_string().into_string().map_err(|path| {
        Error::argument(format!(
            "the path {path:?} is not valid Unicode, which the tools require. Rename it."
        ))
    })
}

/// Serves one client until it disconnects or the user interrupts.
async fn serve(settings: Settings) -> Result<Exit, Failure> {
    let (stop, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let interrupted = Arc::clone(&stop);
    interrupt::calls(move || interrupted.notify_one());
    let (busy, mut all_done) = mpsc::channel(1);
    let (input, output) = (BufReader::new(tokio::io::stdin()), tokio::io::stdout());
    let pipes = Pipes::new(input, output, Arc::clone(&gone));
    let starting = Server::new(settings, busy).serve(pipes);
    let running = tokio::select! {
        started = starting => match started {
            Ok(running) => running,
            Err(error) => return ended_early(error),
        },
        () = stop.notified() => return Ok(Exit::Interrupted),
    };
    let token = running.cancellation_token();
    let exit = {
        let mut waiting = pin!(running.waiting());
        tokio::select! {
            quit = &mut waiting => ended(quit)?,
            exit = first(stop.notified(), gone.notified()) => {
                token.cancel();
                ended(waiting.await)?;
                exit
            }
        }
    };
    // Running calls stop at their next check for cancellation, but never in the middle of a change.
    let _ = all_done.recv().await;
    Ok(exit)
}

/// How the program ends: the user stops it, or the client no longer reads.
async fn first(stop: impl Future<Output = ()>, gone: impl Future<Output = ()>) -> Exit {
    tokio::select! {
        () = stop => Exit::Interrupted,
        () = gone => Exit::Done,
    }
}

fn ended(quit: Result<QuitReason, tokio::task::JoinError>) -> Result<Exit, Error> {
    match quit {
        Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(Exit::Done),
        other => Err(Error::new(Code::Internal, format!("the server stopped: {other:?}"))),
    }
}

/// Handles a connection that ended before the handshake.
fn ended_early(error: ServerInitializeError) -> Result<Exit, Failure> {
    match error {
        // A client that closes the pipe is done.
        ServerInitializeError::ConnectionClosed(_)
        | ServerInitializeError::TransportError { .. } => Ok(Exit::Done),
        other => {
            Err(Error::argument(format!("the client's first message is not a handshake: {other}"))
                .into())
        }
    }
}
