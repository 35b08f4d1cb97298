//! `hook --annotate`: adds the lines that the output of a shell command names, after the command.
//!
//! The command has run, so nothing here may fail the agent's call: without an answer, nothing is
//! printed. The lines count as shown in the session of the agent's MCP server, by its store. Without
//! that store nothing is printed either, because an edit by these anchors would be refused.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use hashline_core::host::from_json;
use hashline_core::{ApplyOptions, Root, Session, SessionOptions, StoreOptions};
use hashline_guard::Policy;
use hashline_tools::{ShellCall, annotation};
use serde_json::{Value, json};

use super::{EVENT_LIMIT_BYTES, POLICY_VARIABLE, ShellCommand, served, shell, shell_command};
use crate::args::{Agent, Hook};
use crate::call::Call;
use crate::exit::{Exit, Failure};
use crate::input::{standard_input, without_mark};

/// Switches annotations `on` or `off`. By default they are on where the guard is.
const ANNOTATE_VARIABLE: &str = "HASHLINE_ANNOTATE";

/// `hashline hook --annotate`
pub fn annotate(call: &mut Call<'_>, args: &Hook) -> Result<Exit, Failure> {
    // Read even if it is not used: the agent may wait until its event is read.
    let bytes = standard_input(EVENT_LIMIT_BYTES).unwrap_or_default();
    let event: Value = from_json(without_mark(&bytes)).unwrap_or_default();
    if let Some(text) = is_on().then(|| context(call, args, &event)).flatten() {
        call.out.json(&json!({"hookSpecificOutput": {
            "hookEventName": event["hook_event_name"],
            "additionalContext": text,
        }}))?;
    }
    Ok(Exit::Done)
}

fn is_on() -> bool {
    let value = |name: &str| std::env::var(name).unwrap_or_default();
    match value(ANNOTATE_VARIABLE).as_str() {
        "on" => true,
        "off" => false,
        _ => value(POLICY_VARIABLE) != "off",
    }
}

/// The text for the model, if there is any.
fn context(call: &Call<'_>, args: &Hook, event: &Value) -> Option<String> {
    let text = |key: &str| event.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let output = match (args.agent, text("hook_event_name")?) {
        // Claude Code reports a command that failed as an error.
        (Agent::Claude, "PostToolUseFailure") => text("error")?.to_owned(),
        (Agent::Claude | Agent::Codex, "PostToolUse") => output(event.get("tool_response")?)?,
        _ => return None,
    };
    if text("tool_name") != Some(shell(args.agent)) {
        return None;
    }
    let named = args.kept.store().map(|store| store.id);
    let id = named.or_else(|| text("session_id").map(str::to_owned))?;
    let session = session(call, served(args.guard.policy(), event), id)?;
    let shell_call = ShellCall {
        // Claude Code's `cwd` is where the command ended.
        command: (args.agent != Agent::Claude).then(|| command(event)).flatten(),
        cwd: text("cwd").map(PathBuf::from),
        since_ms: event.get("duration_ms").and_then(Value::as_u64).and_then(before),
    };
    let text = annotation(session.reading(), &output, &shell_call, &call.cancel).ok()?;
    // If the store cannot be written, the server does not know the lines.
    (!text.is_empty() && session.notes().is_empty()).then_some(text)
}

/// The output in the result of a shell call: a text, or the texts of both streams.
fn output(response: &Value) -> Option<String> {
    if let Some(text) = response.as_str() {
        return Some(text.to_owned());
    }
    let streams = ["stdout", "stderr", "output"].iter().filter_map(|name| response.get(name));
    let texts: Vec<&str> = streams.filter_map(Value::as_str).collect();
    Some(texts.join("\n")).filter(|text| !text.is_empty())
}

fn command(event: &Value) -> Option<String> {
    match shell_command(event.get("tool_input")?.get("command")) {
        ShellCommand::Line(line) => Some(line.into_owned()),
        ShellCommand::None | ShellCommand::Unreadable => None,
    }
}

/// The time that was `duration_ms` ago, in milliseconds after the epoch.
fn before(duration_ms: u64) -> Option<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(now.as_millis()).ok()?.checked_sub(duration_ms)
}

/// The stored session of the agent's server, in the agent's project.
pub(super) fn session(call: &Call<'_>, policy: Policy, id: String) -> Option<Arc<Session>> {
    let workspace = call.shared.workspace_options(ApplyOptions::default(), true).ok()?;
    let mut options = SessionOptions { workspace, ..SessionOptions::default() };
    let mut roots = policy.roots.into_iter().map(PathBuf::from);
    options.workspace.cwd = Some(roots.next()?);
    options.workspace.root = Root::Cwd;
    options.read_roots = roots.collect();
    let opened = Session::open_existing(options, &StoreOptions { id, dir: None });
    opened.ok().flatten().map(Arc::new)
}
