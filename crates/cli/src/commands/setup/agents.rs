//! The files and entries of each agent's configuration.

use std::env;
use std::path::{Path, PathBuf};

use hashline_core::host::read_start;
use hashline_core::{Error, Result};
use serde_json::{Value, json};

use super::entry::{Entry, Kind};
use super::shell::command_line;
use crate::args::SetupAgent;

/// The name of the server in every configuration.
pub const SERVER: &str = "hashline";

/// A file of an agent, with the entries of hashline in it.
pub struct Target {
    pub path: PathBuf,
    pub format: Format,
    pub entries: Vec<Entry>,
}

/// The format of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments or without.
    Json,
    /// TOML.
    Toml,
}

/// The configuration of an agent.
#[derive(Default)]
pub struct Plan {
    pub targets: Vec<Target>,
    /// Entries of older versions, which are removed.
    pub replaced: Vec<Target>,
    /// The arguments of the hook, and an event to test it with.
    pub hook: Option<(Vec<&'static str>, Value)>,
    pub has_server: bool,
    /// The arguments of the server after `mcp`.
    pub server_args: Vec<String>,
    /// A package that the agent would not find.
    pub missing: Option<MissingPackage>,
}

impl Plan {
    /// The plan with more arguments for the server.
    pub fn with_server_args(mut self, args: Vec<String>) -> Plan {
        let entries = self.targets.iter_mut().flat_map(|target| &mut target.entries);
        for entry in entries.filter(|entry| entry.keys.last() == Some(&SERVER)) {
            if let Some(Value::Array(all)) = entry.value.get_mut(ARGS) {
                all.extend(args.iter().map(|arg| Value::from(arg.as_str())));
            }
        }
        self.server_args.extend(args);
        self
    }
}

/// The field with the arguments of a server.
const ARGS: &str = "args";

/// A plug-in that is not installed where it would be loaded from.
pub struct MissingPackage {
    pub name: &'static str,
    /// The path searched.
    pub path: String,
}

const CLAUDE_HOOK: &[&str] = &[
    "hook",
    "claude",
    "--deny=Edit,MultiEdit,Write",
    "--read-tool=mcp__hashline__read",
    "--search-tool=mcp__hashline__search",
    "--edit-tool=mcp__hashline__apply",
];

const TOOL_NAMES: [&str; 3] = ["--read-tool=read", "--search-tool=search", "--edit-tool=apply"];

/// The configuration of an agent for the user, or for a project.
pub fn plan(agent: SetupAgent, project: Option<&Path>, program: &str) -> Result<Plan> {
    match agent {
        SetupAgent::Claude => claude(project, program),
        SetupAgent::Codex => codex(project, program),
        SetupAgent::Cursor => cursor(project, program),
        SetupAgent::Gemini => gemini(project, program),
        SetupAgent::Opencode => opencode(project, program),
        SetupAgent::Pi => pi(project, program),
        SetupAgent::Omp => omp(project, program),
    }
}

fn claude(project: Option<&Path>, program: &str) -> Result<Plan> {
    let variable = "CLAUDE_CONFIG_DIR";
    let settings = directory(project, variable, ".claude")?.join("settings.json");
    let servers_path = match (project, variable_path(variable)) {
        (Some(project), _) => project.join(".mcp.json"),
        (None, Some(directory)) => directory.join(".claude.json"),
        (None, None) => home()?.join(".claude.json"),
    };
    let command = command_line(program, CLAUDE_HOOK);
    let entry = json!({
        "matcher": "Bash|Edit|MultiEdit|Write",
        "hooks": [{"type": "command", "command": command, "timeout": 10}],
    });
    let allow = |tool: &str| Entry {
        keys: &["permissions", "allow"],
        value: tool.into(),
        kind: Kind::Text,
    };
    let command = command_line(program, &["hook", "claude", "--annotate"]);
    let after = json!({
        "matcher": "Bash",
        "hooks": [{"type": "command", "command": command, "timeout": 10}],
    });
    let entries = vec![
        hook(&["hooks", "PreToolUse"], entry, "claude"),
        hook(&["hooks", "PostToolUse"], after.clone(), "claude"),
        hook(&["hooks", "PostToolUseFailure"], after, "claude"),
        allow("mcp__hashline__read"),
        allow("mcp__hashline__search"),
    ];
    let plan = Plan {
        targets: vec![servers(servers_path, program), json_file(settings, entries)],
        hook: Some((CLAUDE_HOOK.to_vec(), tool_call("PreToolUse", "Bash"))),
        has_server: true,
        ..Plan::default()
    };
    // The hooks add lines to the session of the conversation.
    Ok(plan.with_server_args(vec!["--session-variable=CLAUDE_CODE_SESSION_ID".to_owned()]))
}

fn codex(project: Option<&Path>, program: &str) -> Result<Plan> {
    let args = hook_args("codex", "--deny=Edit,Write");
    let entry = json!({
        "matcher": "^(Bash|apply_patch)$",
        "hooks": [{"type": "command", "command": command_line(program, &args), "timeout": 10}],
    });
    let entries = vec![
        key(&["mcp_servers", SERVER], server(program)),
        hook(&["hooks", "PreToolUse"], entry, "codex"),
    ];
    let path = directory(project, "CODEX_HOME", ".codex")?.join("config.toml");
    Ok(Plan {
        targets: vec![Target { path, format: Format::Toml, entries }],
        hook: Some((args, tool_call("PreToolUse", "Bash"))),
        has_server: true,
        ..Plan::default()
    })
}

fn cursor(project: Option<&Path>, program: &str) -> Result<Plan> {
    let args = hook_args("cursor", "--deny=Write");
    let command = command_line(program, &args);
    let shell = json!({"command": command, "failClosed": true});
    let write = json!({"command": command, "matcher": "Write", "failClosed": true});
    let entries = vec![
        Entry { keys: &["version"], value: 1.into(), kind: Kind::Needed },
        hook(&["hooks", "beforeShellExecution"], shell, "cursor"),
        hook(&["hooks", "preToolUse"], write, "cursor"),
    ];
    let event = json!({"hook_event_name": "beforeShellExecution", "command": TRIED});
    let directory = directory(project, "", ".cursor")?;
    Ok(Plan {
        targets: vec![
            servers(directory.join("mcp.json"), program),
            json_file(directory.join("hooks.json"), entries),
        ],
        hook: Some((args, event)),
        has_server: true,
        ..Plan::default()
    })
}

fn gemini(project: Option<&Path>, program: &str) -> Result<Plan> {
    let args = hook_args("gemini", "--deny=Edit,Write");
    let entry = json!({
        "matcher": "run_shell_command|replace|write_file",
        "hooks": [{"type": "command", "command": command_line(program, &args)}],
    });
    let mut target = servers(directory(project, "", ".gemini")?.join("settings.json"), program);
    target.entries.push(hook(&["hooks", "BeforeTool"], entry, "gemini"));
    let event = tool_call("BeforeTool", "run_shell_command");
    Ok(Plan {
        targets: vec![target],
        hook: Some((args, event)),
        has_server: true,
        ..Plan::default()
    })
}

fn opencode(project: Option<&Path>, program: &str) -> Result<Plan> {
    let directory = match (project, variable_path("XDG_CONFIG_HOME")) {
        (Some(project), _) => project.to_owned(),
        (None, Some(config)) => config.join("opencode"),
        (None, None) => home()?.join(".config/opencode"),
    };
    let commented = directory.join("opencode.jsonc");
    let path = if commented.exists() { commented } else { directory.join("opencode.json") };
    let entry = |package: String| format!("file://{package}/index.js");
    Ok(plug_in_of(path, &["plugin"], "opencode-hashline", program, entry))
}

fn pi(project: Option<&Path>, program: &str) -> Result<Plan> {
    let path = pi_directory(project, ".pi")?.join("settings.json");
    Ok(plug_in_of(path, &["packages"], "pi-hashline", program, |package| package))
}

/// oh-my-pi finds the extension by a manifest in a directory that only hashline uses. Its other
/// places are unsuitable: its settings are in YAML, and only its own program writes its package
/// directory.
fn omp(project: Option<&Path>, program: &str) -> Result<Plan> {
    let directory = pi_directory(project, ".omp")?;
    let manifest = directory.join("extensions").join(SERVER).join("package.json");
    let name = "pi-hashline";
    let extension = package(program, name).map(|package| package + "/omp.js");
    // Another program may have installed the extension, which has the guard that the server lacks.
    let has_server = extension.is_none() && !names_extension(&manifest);
    let extension = extension.unwrap_or_else(|| name.to_owned());
    let own = plug_in(manifest, &["omp", "extensions"], name, extension);
    let server = vec![servers(directory.join("mcp.json"), program)];
    let (targets, replaced) =
        if has_server { (server, own.targets) } else { (own.targets, server) };
    Ok(Plan { targets, replaced, has_server, ..Plan::default() })
}

/// Whether a manifest names an extension that exists.
fn names_extension(manifest: &Path) -> bool {
    let text = read_start(manifest, MANIFEST_LIMIT_BYTES).unwrap_or_default();
    let manifest: Value = serde_json::from_slice(&text).unwrap_or_default();
    let paths = manifest["omp"]["extensions"].as_array();
    paths.into_iter().flatten().filter_map(Value::as_str).any(|path| Path::new(path).is_file())
}

/// The longest manifest of an extension that is read.
const MANIFEST_LIMIT_BYTES: u64 = 64 << 10;

/// The directory of pi, or of its fork oh-my-pi.
fn pi_directory(project: Option<&Path>, name: &str) -> Result<PathBuf> {
    match project {
        Some(project) => Ok(project.join(name)),
        None => directory(None, "PI_CODING_AGENT_DIR", &format!("{name}/agent")),
    }
}

/// The arguments of the hook for an agent whose tools have no prefix.
fn hook_args(agent: &'static str, deny: &'static str) -> Vec<&'static str> {
    [vec!["hook", agent, deny], TOOL_NAMES.to_vec()].concat()
}

/// The command that tests a hook.
const TRIED: &str = "cat README.md";

fn tool_call(event: &str, tool: &str) -> Value {
    json!({"hook_event_name": event, "tool_name": tool, "tool_input": {"command": TRIED}})
}

fn server(program: &str) -> Value {
    json!({"command": program, ARGS: ["mcp"]})
}

/// A file with MCP servers in the form that most agents use.
fn servers(path: PathBuf, program: &str) -> Target {
    json_file(path, vec![key(&["mcpServers", SERVER], server(program))])
}

fn key(keys: &'static [&'static str], value: Value) -> Entry {
    Entry { keys, value, kind: Kind::Key }
}

fn hook(keys: &'static [&'static str], value: Value, agent: &'static str) -> Entry {
    Entry { keys, value, kind: Kind::Hook { agent } }
}

fn json_file(path: PathBuf, entries: Vec<Entry>) -> Target {
    Target { path, format: Format::Json, entries }
}

/// The plug-in that is installed next to the program. The agent does not start if its configuration
/// names a missing package.
fn plug_in_of(
    path: PathBuf,
    keys: &'static [&'static str],
    name: &'static str,
    program: &str,
    entry: impl FnOnce(String) -> String,
) -> Plan {
    match package(program, name) {
        Some(package) => plug_in(path, keys, name, entry(package)),
        None => {
            let path_of = modules(program).map(|modules| modules.join(name).display().to_string());
            let missing = MissingPackage { name, path: path_of.unwrap_or_default() };
            Plan { missing: Some(missing), ..plug_in(path, keys, name, name.to_owned()) }
        }
    }
}

/// A plug-in has its own tools and guard.
fn plug_in(
    path: PathBuf,
    keys: &'static [&'static str],
    name: &'static str,
    package: String,
) -> Plan {
    let entry = Entry { keys, value: package.into(), kind: Kind::Package(name) };
    Plan { targets: vec![json_file(path, vec![entry])], ..Plan::default() }
}

/// The directory of an agent: in the project; otherwise from a variable; otherwise in the home
/// directory.
fn directory(project: Option<&Path>, variable: &str, name: &str) -> Result<PathBuf> {
    match (project, variable_path(variable)) {
        (Some(project), _) => Ok(project.join(name)),
        (None, Some(named)) => Ok(named),
        (None, None) => Ok(home()?.join(name)),
    }
}

/// A path in an environment variable. An empty one counts as unset.
fn variable_path(name: &str) -> Option<PathBuf> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

fn home() -> Result<PathBuf> {
    let home = env::home_dir().filter(|home| !home.as_os_str().is_empty());
    home.ok_or_else(|| {
        let what = "the home directory is unknown. Set HOME, or use --project.";
        Error::argument(what)
    })
}

/// The directory in which the package of the program is installed.
fn modules(program: &str) -> Option<&Path> {
    Path::new(program).parent()?.parent()
}

/// A package that is installed in the same directory as that of the program.
fn package(program: &str, name: &str) -> Option<String> {
    let package = modules(program)?.join(name);
    package.join("package.json").is_file().then(|| package.to_str().map(str::to_owned))?
}
