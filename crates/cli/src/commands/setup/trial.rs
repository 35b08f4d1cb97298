//! Tests an agent's configuration: the hook answers an event, the server lists its tools, and the
//! agent, if it is found, lists the server.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anstream::adapter::strip_str;
use hashline_core::{Cancel, Code, Error, Result};
use serde_json::{Value, json};

use super::agents::{OPENCODE_PLUG_IN, Plan, SERVER};
use super::entry;
use super::shell::{self, command_line};
use super::shown;
use crate::after::process::{self, Ended, Limits};
use crate::args::{SESSION_VARIABLE, SetupAgent};
use crate::commands::hook::POLICY_VARIABLE;

/// How long an agent's own check may take: it may start all servers of the user.
const CHECK_TIMEOUT: Duration = Duration::from_secs(20);

/// An agent, its command, and whether a line of the output shows that it is set up.
type Check = (SetupAgent, &'static [&'static str], fn(&str) -> bool);

/// The agents whose program prints what it has loaded.
const CHECKS: &[Check] = &[
    (SetupAgent::Claude, &["claude", "mcp", "list"], lists_server),
    (SetupAgent::Codex, &["codex", "mcp", "list"], lists_server),
    (SetupAgent::Gemini, &["gemini", "mcp", "list"], lists_server),
    (SetupAgent::Opencode, &["opencode", "debug", "config"], lists_plug_in),
    (SetupAgent::Cline, &["cline", "config", "mcp"], lists_server),
    (SetupAgent::Kilo, &["kilo", "mcp", "list"], lists_server),
    (SetupAgent::Amp, &["amp", "mcp", "list"], lists_server),
    (SetupAgent::Qwen, &["qwen", "mcp", "list"], lists_server),
    (SetupAgent::Copilot, &["copilot", "mcp", "list"], lists_server),
];

/// Runs the tests, and returns a line for each.
pub fn run(
    plan: &Plan,
    agent: SetupAgent,
    program: &str,
    directory: &Path,
    cancel: &Cancel,
) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    if let Some((args, event)) = &plan.hook {
        let answer = answer(shell::command(&command_line(program, args)), &event.to_string())?;
        // Every agent's format of a refusal has this text.
        if !answer.contains("deny") || !answer.contains("`cat` reads `README.md`") {
            return Err(failed("the hook", &answer));
        }
        lines.push("the hook works: it refused `cat README.md`".to_owned());
    }
    if plan.has_server {
        let mut server = Command::new(program);
        server.arg("mcp").args(&plan.server_args);
        let answer = answer(server, &questions())?;
        let tools = tools(&answer).ok_or_else(|| failed("the server", &answer))?;
        lines.push(format!("the server works: it has the tools {}", tools.join(", ")));
    }
    if lines.is_empty() {
        lines.push("the plug-in is loaded when the agent starts".to_owned());
    }
    lines.extend(checked(agent, directory, cancel));
    Ok(lines)
}

/// What the agent's own check shows, if the agent is found.
fn checked(agent: SetupAgent, directory: &Path, cancel: &Cancel) -> Option<String> {
    let (_, words, lists_it) = CHECKS.iter().find(|(of, ..)| *of == agent)?;
    let (name, rest) = words.split_first()?;
    let path = find(name)?.into_os_string().into_string().ok()?;
    let arguments: Vec<String> =
        std::iter::once(path).chain(rest.iter().map(|word| (*word).to_owned())).collect();
    let limits = Limits { timeout: CHECK_TIMEOUT, cancel };
    let (ended, output) = process::run(&arguments, directory, limits);
    let output = strip_str(&output).to_string();
    let line = |line: &str| shown(line.trim());
    let command = words.join(" ");
    let seen = output.lines().find(|line| lists_it(line));
    Some(match (seen, ended) {
        (Some(seen), _) => format!("`{command}` prints: {}", line(seen)),
        (None, Ended::TimedOut) => {
            format!("`{command}` did not end within {} seconds", CHECK_TIMEOUT.as_secs())
        }
        (None, Ended::Cancelled) => format!("`{command}` was interrupted"),
        (None, Ended::NotStarted(cause)) => format!("`{command}` cannot be started: {cause}"),
        (None, Ended::Succeeded | Ended::Failed(_)) => {
            let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
            format!("`{command}` does not list hashline. Its last line is: {}", line(last))
        }
    })
}

fn lists_server(line: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || c == ':').any(|word| word == SERVER)
}

/// A line of JSON with the path or the package of the plug-in.
fn lists_plug_in(line: &str) -> bool {
    line.split('"').any(|text| entry::names(text, OPENCODE_PLUG_IN))
}

/// The path of a program on the `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };
    let directories = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&directories)
        .flat_map(|directory| endings.iter().map(move |end| directory.join(format!("{name}{end}"))))
        .find(|path| path.is_file())
}

fn questions() -> String {
    let client = json!({"name": "hashline setup", "version": env!("CARGO_PKG_VERSION")});
    let begin = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ];
    messages.map(|message| message.to_string() + "\n").concat()
}

/// The names of the tools in the server's answer.
fn tools(answer: &str) -> Option<Vec<String>> {
    let messages = answer.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let listed = messages.into_iter().find(|message| message["id"] == 2)?;
    let tools = listed["result"]["tools"].as_array()?;
    let names: Vec<_> =
        tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect();
    (!names.is_empty()).then_some(names)
}

/// Runs a program with an input and returns its output. The end of the input ends the hook and the
/// server.
fn answer(mut command: Command, input: &str) -> Result<String> {
    let mut child = with_pipes(&mut command).spawn().map_err(|cause| {
        let what = format!("the files were changed, but {command:?} cannot be started: {cause}");
        Error::new(Code::Io, what)
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // Ignore write errors: if the child does not read its input, its output shows it.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(|cause| {
        Error::new(Code::Io, format!("the files were changed, but the test failed: {cause}"))
    })?;
    let output = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&output).into_owned())
}

fn with_pipes(command: &mut Command) -> &mut Command {
    command
        .env_remove(POLICY_VARIABLE)
        .env_remove(SESSION_VARIABLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
}

fn failed(what: &str, answer: &str) -> Error {
    let answer = answer.trim_end();
    let message = format!(
        "the files were changed, but {what} does not work. It printed: {answer}\nTo undo the change, use --remove."
    );
    Error::new(Code::Io, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_agents_print_is_recognized() {
        for line in ["hashline: hashline mcp - Connected", "  hashline  /opt/bin/hashline mcp"] {
            assert!(lists_server(line), "{line}");
        }
        assert!(!lists_server("cannot start /opt/bin/hashline"));
        for line in [
            "    \"file:///m/opencode-hashline/index.js\",",
            "\"plugin\": [\"opencode-hashline@1.0\"]",
        ] {
            assert!(lists_plug_in(line), "{line}");
        }
        assert!(!lists_plug_in("\"plugin\": [\"opencode-hashline-themes\"]"));
    }
}
