//! `hook --ask-diff` and `--show-diff`: before an edit of the agent's server, asks the person with
//! the diff, or refuses what the server would refuse; shows the person the diff.
//!
//! The call is tried on a copy of the session that the server stores, so that nothing counts as
//! shown. A refusal shows lines to the model, so it is tried again on the session itself. Whatever
//! cannot be tried is left to the agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashline_core::host::{from_json, read_start};
use hashline_core::{Code, Session};
use hashline_tools::{CallOptions, ToolKind, ToolResult, Tools, ToolsOptions};
use serde_json::{Value, json};

use super::{EVENT_LIMIT_BYTES, annotate, is_planning, served};
use crate::args::Hook;
use crate::call::Call;
use crate::commands::setup::claude_directory;
use crate::exit::{Exit, Failure};
use crate::input::{standard_input, without_mark};
use crate::paint::visible;

/// The most lines of a diff.
const MAX_LINES: usize = 200;

/// The most bytes of each line.
const MAX_LINE_BYTES: usize = 400;

/// The longest file of settings that is read.
const SETTINGS_LIMIT_BYTES: u64 = 1 << 20;

/// `hashline hook --ask-diff` and `--show-diff`
pub fn ask(call: &mut Call<'_>, args: &Hook) -> Result<Exit, Failure> {
    let bytes = standard_input(EVENT_LIMIT_BYTES)?;
    let event: Value = from_json(without_mark(&bytes)).unwrap_or_default();
    let mut answer = json!({});
    let mut decide = |decision: &str, reason: &str| {
        answer["hookSpecificOutput"] = json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        });
    };
    match tried(call, args, &event) {
        Some(result) if result.is_error => decide("deny", &result.text),
        Some(ToolResult { diff: Some(diff), summary, .. }) => {
            let shown = shown(&summary, &diff);
            if args.ask_diff && asks(args, &event) {
                decide("ask", &shown);
            }
            if args.show_diff {
                // Claude Code prints it, and the model does not get it.
                answer["systemMessage"] = shown.into();
            }
        }
        _ => {}
    }
    call.out.json(&answer)?;
    Ok(Exit::Done)
}

/// The result that the call would have; none if that is not known here.
fn tried(call: &Call<'_>, args: &Hook, event: &Value) -> Option<ToolResult> {
    let text = |key: &str| event.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let policy = args.guard.policy();
    let is_edit =
        text("hook_event_name")? == "PreToolUse" && text("tool_name")? == policy.tools.edit;
    // While it plans, the agent or the hook before tools refuses the call.
    if !is_edit || is_planning(event) {
        return None;
    }
    let named = args.kept.store().map(|store| store.id);
    let id = named.or_else(|| text("session_id").map(str::to_owned))?;
    let session = annotate::session(call, served(policy, event), id)?;
    let arguments = event.get("tool_input")?;
    let probed = run(call, &Arc::new(session.fork()), arguments)?;
    match probed.code {
        None if !probed.is_error => Some(probed),
        // The server may have other directories.
        Some(Code::OutsideRoot) => None,
        _ if !args.ask_diff => None,
        _ => run(call, &session, arguments),
    }
}

fn run(call: &Call<'_>, session: &Arc<Session>, arguments: &Value) -> Option<ToolResult> {
    let tools = Tools::new(session, ToolsOptions::default());
    let turn = tools.enter(ToolKind::Apply, None);
    let options = CallOptions { dry_run: true, ..CallOptions::default() };
    tools
        .run(
            ToolKind::Apply,
            turn,
            Ok(arguments.clone().into()),
            &options,
            &call.cancel,
            &|_, _| (),
        )
        .ok()
}

/// Whether the agent would ask the person: in the default mode, without a rule that allows the tool.
fn asks(args: &Hook, event: &Value) -> bool {
    let mode = event.get("permission_mode").and_then(Value::as_str);
    if !matches!(mode, None | Some("default")) {
        return false;
    }
    let policy = served(args.guard.policy(), event);
    let project = policy.roots.first().map(PathBuf::from);
    let is_allowing = |path: PathBuf| allows(&path, &policy.tools.edit);
    !settings(project.as_deref()).into_iter().any(is_allowing)
}

/// The files with Claude Code's permissions.
fn settings(project: Option<&Path>) -> Vec<PathBuf> {
    let managed = if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode"
    } else if cfg!(windows) {
        r"C:\Program Files\ClaudeCode"
    } else {
        "/etc/claude-code"
    };
    let in_directory = |of: Option<&Path>, name: &str| Some(claude_directory(of).ok()?.join(name));
    let known = [
        Some(Path::new(managed).join("managed-settings.json")),
        in_directory(None, "settings.json"),
        project.and_then(|_| in_directory(project, "settings.json")),
        project.and_then(|_| in_directory(project, "settings.local.json")),
    ];
    known.into_iter().flatten().collect()
}

/// Whether a file of settings allows a tool: by its name, by its server, or by a pattern.
fn allows(path: &Path, tool: &str) -> bool {
    let bytes = read_start(path, SETTINGS_LIMIT_BYTES).unwrap_or_default();
    let settings: Value = from_json(without_mark(&bytes)).unwrap_or_default();
    let rules = settings["permissions"]["allow"].as_array();
    rules.into_iter().flatten().filter_map(Value::as_str).any(|rule| {
        let of_server = |rest: &str| rest.is_empty() || rest.starts_with("__");
        match rule.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => tool.strip_prefix(rule).is_some_and(of_server),
        }
    })
}

/// A diff as it is shown to the person.
fn shown(summary: &str, diff: &str) -> String {
    let mut lines = diff.lines();
    let mut rows = vec![summary.to_owned()];
    rows.extend(lines.by_ref().take(MAX_LINES).map(|line| {
        let end = line.floor_char_boundary(MAX_LINE_BYTES);
        let mark = if end < line.len() { "…" } else { "" };
        visible(line.get(..end).unwrap_or(line)).into_owned() + mark
    }));
    match lines.count() {
        0 => {}
        more => rows.push(format!("… {more} more lines")),
    }
    rows.join("\n")
}
