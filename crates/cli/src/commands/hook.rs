//! `hook`: answers an agent that is about to call a tool.
//!
//! `tests/hooks` records what each agent sends and accepts, and the packages where this was found.
//! An event that is not about tools gets an empty object, which leaves the decision to the agent.
//! An unreadable event is an error, which agents treat as a refusal. A shell call without a
//! readable command is refused. `annotate` answers after a shell call.

mod annotate;
mod ask;

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;

use hashline_core::Error;
use hashline_core::host::{JsonFault, from_json, read_start, serves};
use hashline_guard::{Policy, Verdict, check_among};
use hashline_tools::{Names, ToolKind};
use serde_json::{Value, json};

use crate::args::{Agent, Hook};
use crate::call::Call;
use crate::exit::{Exit, Failure};
use crate::input::{standard_input, without_mark};
use crate::served::is_served;

/// The longest accepted event.
const EVENT_LIMIT_BYTES: u64 = 64 << 20;

/// A tool that is about to be called.
#[derive(Debug, PartialEq, Eq)]
struct ToolCall<'e> {
    tool: &'e str,
    command: ShellCommand<'e>,
    /// The files that it names, as it writes their paths.
    files: Vec<&'e str>,
}

/// The command in a tool call.
#[derive(Debug, PartialEq, Eq)]
enum ShellCommand<'e> {
    /// The tool is not a shell.
    None,
    /// A command line.
    Line(Cow<'e, str>),
    /// Neither a string nor a list of words.
    Unreadable,
}

/// `hashline hook`
pub fn hook(call: &mut Call<'_>, args: &Hook) -> Result<Exit, Failure> {
    if args.annotate {
        return annotate::annotate(call, args);
    }
    if args.ask_diff || args.show_diff {
        return ask::ask(call, args);
    }
    let bytes = standard_input(EVENT_LIMIT_BYTES)?;
    let event: Value = from_json(without_mark(&bytes)).map_err(|fault| match fault {
        JsonFault::Malformed(cause) => Error::argument(format!("the event is not JSON: {cause}")),
        JsonFault::DuplicateKey(error) => error.within("the event: ", ""),
    })?;
    if args.if_served && !is_served(call.shared.state_dir(), event["session_id"].as_str()) {
        call.out.json(&json!({}))?;
        return Ok(Exit::Done);
    }
    let policy = policy(args)?;
    let is_guarded = policy.is_some();
    let policy = served(policy.unwrap_or_else(|| args.guard.policy()), &event);
    let refusal = tool_call(args.agent, &event).and_then(|call| {
        let guarded = || is_guarded.then(|| guarded(&call, &policy)).flatten();
        edit_while_planning(&policy, &call, &event)
            .or_else(|| denied(args, &policy, &call, &event))
            .or_else(guarded)
    });
    call.out.json(&match refusal {
        Some(reason) => denial(args.agent, &reason),
        None => json!({}),
    })?;
    Ok(Exit::Done)
}

/// The variable with a policy that overrides the options of the command line: `off`, or JSON.
pub const POLICY_VARIABLE: &str = "HASHLINE_GUARD";

/// The policy for commands; `None` if they are not checked.
fn policy(args: &Hook) -> Result<Option<Policy>, Failure> {
    let named = args.guard.policy();
    match std::env::var(POLICY_VARIABLE) {
        Ok(given) if given == "off" => Ok(None),
        Ok(given) if !given.is_empty() => {
            let policy: Policy = from_json(given.as_bytes()).map_err(|fault| {
                Error::argument(format!(
                    "{POLICY_VARIABLE} is neither off nor a valid policy: {fault}"
                ))
            })?;
            Ok(Some(Policy { tools: named.tools, ..policy }))
        }
        _ => Ok(Some(named)),
    }
}

/// The longest file of ignored paths that is read.
const IGNORE_LIMIT_BYTES: u64 = 64 << 10;

/// Completes the policy for the agent's directory, as far as the command line leaves it open: the
/// root of the project, and its ignored paths.
fn served(mut policy: Policy, event: &Value) -> Policy {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let cwd = event.get("cwd").and_then(text).filter(|cwd| !cwd.is_empty());
    let here = || std::env::current_dir().ok()?.into_os_string().into_string().ok();
    if policy.roots.is_empty() {
        let named = event.get("workspace_roots").and_then(Value::as_array);
        policy.roots.extend(named.into_iter().flatten().filter_map(text));
        // The directory in which Claude Code was started; its shell may be in one below.
        let project =
            std::env::var("CLAUDE_PROJECT_DIR").ok().filter(|project| !project.is_empty());
        let is_below =
            |project: &String| cwd.as_deref().is_none_or(|cwd| cwd.starts_with(project.as_str()));
        if policy.roots.is_empty() {
            policy.roots.extend(project.filter(is_below).or_else(|| cwd.clone()).or_else(here));
        }
    }
    policy.check_files = true;
    policy.cwd = policy.cwd.or(cwd);
    if let Some(root) = policy.roots.first() {
        let lines = ignore_lines(&Path::new(root).join(".gitignore"));
        policy.ignored.extend(lines);
    }
    policy
}

/// The lines of a file of ignored paths; none if it cannot be read.
fn ignore_lines(path: &Path) -> Vec<String> {
    let bytes = read_start(path, IGNORE_LIMIT_BYTES).unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The tool call that an event announces, if there is one.
fn tool_call(agent: Agent, event: &Value) -> Option<ToolCall<'_>> {
    let text = |key: &str| event.get(key).and_then(Value::as_str);
    let input = |key: &str| event.get(key).and_then(|input| input.get("command"));
    let (tool_key, input_key) = match (agent, text("hook_event_name")) {
        (Agent::Cursor, Some("beforeShellExecution")) => {
            let command = shell_command(event.get("command"));
            return Some(ToolCall { tool: shell(agent), command, files: Vec::new() });
        }
        (Agent::Cursor, Some("beforeReadFile")) => {
            let files = text("file_path").into_iter().collect();
            return Some(ToolCall { tool: "Read", command: ShellCommand::None, files });
        }
        (Agent::Opencode, _) => ("tool", "args"),
        (Agent::Claude | Agent::Codex | Agent::Qwen, Some("PreToolUse"))
        | (Agent::Gemini, Some("BeforeTool"))
        | (Agent::Cursor, Some("preToolUse"))
        | (_, None) => ("tool_name", "tool_input"),
        _ => return None,
    };
    // An event with a command and without a tool name counts as a shell call.
    let of_shell = || input(input_key).map(|_| shell(agent));
    let tool = text(tool_key).filter(|tool| !tool.is_empty()).or_else(of_shell)?;
    let is_shell = tool == shell(agent);
    let command = if is_shell { shell_command(input(input_key)) } else { ShellCommand::None };
    let files = if is_shell { Vec::new() } else { files(event.get(input_key)) };
    Some(ToolCall { tool, command, files })
}

/// How the tools of agents call the path of a file.
const PATH_FIELDS: [&str; 5] = ["file_path", "filePath", "notebook_path", "absolute_path", "path"];

/// The lines of a patch in the language of `apply_patch` that name a file.
const PATCH_HEADS: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The paths in the arguments of a tool.
fn files(input: Option<&Value>) -> Vec<&str> {
    let text = |name: &&str| input?.get(name).and_then(Value::as_str);
    let patch = text(&"command").into_iter().flat_map(str::lines);
    let in_patch = patch.filter_map(|line| {
        PATCH_HEADS.iter().find_map(|head| line.strip_prefix(head)).map(str::trim)
    });
    PATH_FIELDS.iter().filter_map(text).chain(in_patch).collect()
}

/// A command line, or the words of a command: `["bash", "-lc", "cat a"]`.
fn shell_command(given: Option<&Value>) -> ShellCommand<'_> {
    match given {
        Some(Value::String(line)) => ShellCommand::Line(Cow::Borrowed(line)),
        Some(Value::Array(words)) if !words.is_empty() => {
            let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
            words.map_or(ShellCommand::Unreadable, |words| {
                let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''")));
                ShellCommand::Line(Cow::Owned(quoted.collect::<Vec<_>>().join(" ")))
            })
        }
        _ => ShellCommand::Unreadable,
    }
}

/// The agent's name of its shell tool.
fn shell(agent: Agent) -> &'static str {
    match agent {
        Agent::Claude | Agent::Codex => "Bash",
        Agent::Cursor => "Shell",
        Agent::Gemini | Agent::Qwen => "run_shell_command",
        Agent::Opencode => "bash",
    }
}

/// Whether a tool is the one that `name` means: agents have other names for reading, editing and
/// writing.
fn is_known_as(agent: Agent, tool: &str, name: &str) -> bool {
    let other = match (agent, name.to_ascii_lowercase().as_str()) {
        (Agent::Codex, "edit" | "write") => "apply_patch",
        (Agent::Cursor, "edit") => "Write",
        (Agent::Gemini, "edit") => "replace",
        (Agent::Gemini | Agent::Qwen, "write") => "write_file",
        (Agent::Gemini | Agent::Qwen, "read") => "read_file",
        _ => name,
    };
    tool.eq_ignore_ascii_case(name) || tool == other
}

/// Whether the agent only plans, as far as its events say so: those of Claude Code and Qwen Code.
fn is_planning(event: &Value) -> bool {
    event.get("permission_mode").is_some_and(|mode| mode == "plan")
}

/// Why a tool of the server that writes files may not be called while the agent plans. Not every
/// agent checks this for a tool that the user allowed.
fn edit_while_planning(policy: &Policy, call: &ToolCall<'_>, event: &Value) -> Option<String> {
    let (names, tool, edit) = (Names::default(), call.tool, &policy.tools.edit);
    let prefix = edit.strip_suffix(&names.apply);
    let is_named =
        |kind: &ToolKind| prefix.is_some_and(|it| tool.strip_prefix(it) == Some(names.of(*kind)));
    let writes = tool == edit || ToolKind::ALL.iter().filter(|kind| kind.writes()).any(is_named);
    (writes && is_planning(event)).then(|| {
        format!("{tool} edits files, which plan mode does not allow. Finish the plan first.")
    })
}

/// Why a tool may not be called that `--deny` names, and what to call instead. A file is left to
/// the agent's own tool where the tools named instead could not edit it: outside of what they
/// serve, and while the agent only plans, when the one file it may write is its plan.
fn denied(args: &Hook, policy: &Policy, call: &ToolCall<'_>, event: &Value) -> Option<String> {
    let tool = call.tool;
    if is_planning(event) || !args.deny.iter().any(|name| is_known_as(args.agent, tool, name)) {
        return None;
    }
    let Policy { tools, roots, cwd, .. } = policy;
    let serves = serves(roots);
    let cwd = cwd.as_ref().or(roots.first()).map_or("", String::as_str);
    let is_served = |file: &&str| {
        serves(&Path::new(cwd).join(file).to_string_lossy()) && !may_be_plan(args.agent, cwd, file)
    };
    if !call.files.is_empty() && !call.files.iter().any(is_served) {
        return None;
    }
    let is_reading = tool.to_ascii_lowercase().contains("read");
    let instead = if is_reading { &tools.read } else { &tools.edit };
    Some(format!("{tool} is not allowed here. Use {instead}."))
}

/// Whether Gemini CLI may mean a file in its directory of plans: while it plans, it takes the name of
/// a file so, and its events do not say that it plans. A new file needs no anchors.
fn may_be_plan(agent: Agent, cwd: &str, file: &str) -> bool {
    let path = Path::new(file);
    let is_bare = path.file_name() == Some(path.as_os_str());
    let is_markdown = path.extension().is_some_and(|end| end == "md");
    let is_missing = || {
        let found = Path::new(cwd).join(path).symlink_metadata();
        found.is_err_and(|cause| cause.kind() == ErrorKind::NotFound)
    };
    agent == Agent::Gemini && is_bare && is_markdown && is_missing()
}

/// Why the guard refuses the command of a call, and what to call instead.
fn guarded(call: &ToolCall<'_>, policy: &Policy) -> Option<String> {
    let tool = call.tool;
    let command = match &call.command {
        ShellCommand::None => return None,
        ShellCommand::Line(line) => line,
        ShellCommand::Unreadable => {
            return Some(format!(
                "{tool} was called without a readable command. Pass the command as one string."
            ));
        }
    };
    let judgement = check_among(command, policy, &serves(&policy.roots));
    match judgement.verdict {
        Verdict::Allow | Verdict::Unparsed => None,
        Verdict::Write if judgement.findings.is_empty() => Some(
            "The command cannot be parsed, and might write files. Write it in a simpler form."
                .into(),
        ),
        Verdict::Read | Verdict::Write => {
            let mut messages: Vec<&str> = Vec::new();
            for finding in &judgement.findings {
                if !messages.contains(&finding.message.as_str()) {
                    messages.push(&finding.message);
                }
            }
            Some(messages.join("\n"))
        }
    }
}

/// A refusal in the agent's format.
fn denial(agent: Agent, reason: &str) -> Value {
    match agent {
        Agent::Claude | Agent::Codex | Agent::Qwen => json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }}),
        // The model gets the same message as the user.
        Agent::Cursor => {
            json!({"permission": "deny", "user_message": reason, "agent_message": reason})
        }
        Agent::Gemini => json!({"decision": "deny", "reason": reason}),
        Agent::Opencode => json!({"status": "deny", "reason": reason}),
    }
}
