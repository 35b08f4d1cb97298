//! `mcp`: the engine as tools of an agent, over the Model Context Protocol on standard input and
//! output.
//!
//! The tools are those of `hashline-tools`, where all that a model reads is written. `server`
//! answers the client's requests, one session for the connection; `roots` says where it works, and
//! `hosts` how long its answers are.
//! `pipes` are those to the client; `message` reads what comes; `intake` bounds how much of that is
//! under way.

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

use hashline_core::{Code, Error, SessionOptions};
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
        offered: useful.filter(|&kind| args.json_tools() || !kind.is_of_json()).collect(),
        roots: roots_of(call.shared.root(), &args.roots)?,
        read_roots: args.read_roots.iter().map(|path| at_home(path)).collect::<Result<_, _>>()?,
        options: SessionOptions { workspace, ..SessionOptions::default() },
        store: args.kept.store(),
        tools,
        max_answer_bytes: args.max_answer_bytes(),
        is_structured: args.structured,
    };
    // The client's messages leave by this process's standard output, which the call holds.
    drop(call);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|cause| Error::io("start", "the server", &cause))?;
    let exit = runtime.block_on(serve(settings));
    // The thread that reads standard input may wait there for ever.
    runtime.shutdown_background();
    exit
}

/// The directories of the command line, which have to be there. They are absolute, since those
/// after the first are not beneath it.
fn roots_of(root: Option<&str>, more: &[String]) -> Result<Vec<String>, Error> {
    root.into_iter().chain(more.iter().map(String::as_str)).map(absolute_directory).collect()
}

/// A directory, absolute: configurations of agents name those of the user without a shell.
fn at_home(path: &str) -> Result<String, Error> {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => absolute(&home.join(rest)),
        _ => absolute(Path::new(path)),
    }
}

fn absolute_directory(path: &str) -> Result<String, Error> {
    let fault = |cause| Error::io("open", path, &cause);
    if !std::fs::metadata(path).map_err(fault)?.is_dir() {
        let message = format!("{path}: is not a directory: name one to work in");
        return Err(Error::at(Code::NotAFile, path, message));
    }
    absolute(Path::new(path))
}

fn absolute(path: &Path) -> Result<String, Error> {
    let fault = |cause| Error::io("find", &path.to_string_lossy(), &cause);
    let absolute = std::path::absolute(path).map_err(fault)?;
    absolute.into_os_string().into_string().map_err(|path| {
        Error::argument(format!("{path:?} is not valid Unicode, as paths of tools have to be"))
    })
}

/// Serves one client, until it goes or the user interrupts.
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
    // Calls that are still at work stop at their next look, but never in the midst of a change.
    let _ = all_done.recv().await;
    Ok(exit)
}

/// How the program ends: by the wish of the user, or since nobody reads any more.
async fn first(stop: impl Future<Output = ()>, gone: impl Future<Output = ()>) -> Exit {
    tokio::select! {
        () = stop => Exit::Interrupted,
        () = gone => Exit::Done,
    }
}

fn ended(quit: Result<QuitReason, tokio::task::JoinError>) -> Result<Exit, Error> {
    match quit {
        Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(Exit::Done),
        other => Err(Error::new(Code::Internal, format!("the server broke off: {other:?}"))),
    }
}

/// A connection that ended before it began.
fn ended_early(error: ServerInitializeError) -> Result<Exit, Failure> {
    match error {
        // Whoever closes a pipe has seen enough.
        ServerInitializeError::ConnectionClosed(_)
        | ServerInitializeError::TransportError { .. } => Ok(Exit::Done),
        other => {
            Err(Error::argument(format!("the client's first message was not expected: {other}"))
                .into())
        }
    }
}
