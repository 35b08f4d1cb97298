//! The files and entries of each agent's configuration. The agents of `hosts` get only a server; those
//! here also a hook or a plug-in.

use std::env;
use std::path::{Path, PathBuf};

use hashline_core::host::read_start;
use hashline_core::{Code, Error, Result};
use serde_json::{Value, json};

use super::change::EditHooks;
use super::entry::{EDIT_TOOL, Entry, Kind};
use super::shell::command_line;
use super::{hosts, toml};
use crate::args::SetupAgent;

/// The name of the server in every configuration.
pub const SERVER: &str = "hashline";

/// A file of an agent, with the entries of hashline in it.
pub struct Target {
    pub path: PathBuf,
    pub format: Format,
    pub entries: Vec<Entry>,
    /// Hooks of the user whose matchers are extended, or restored.
    pub edit_hooks: Option<EditHooks>,
}

impl Target {
    /// The values in the file, for notes; null if it cannot be read.
    pub fn document(&self) -> Value {
        self.format.document(&self.path)
    }
}

impl Format {
    /// The values in a file of this format; null if it cannot be read.
    pub fn document(self, path: &Path) -> Value {
        let text = read_start(path, SETTINGS_LIMIT_BYTES).unwrap_or_default();
        let text = String::from_utf8(text).unwrap_or_default();
        let document = match self {
            Format::Json => super::json::parsed(&text),
            Format::Toml => toml::parsed(&text),
            Format::Yaml => None,
        };
        document.unwrap_or_default()
    }
}

/// The longest settings that are read for a note.
const SETTINGS_LIMIT_BYTES: u64 = 64 << 20;

/// The format of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments or without.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// What lets the edit tool run without a question.
#[derive(Clone, Copy, Default)]
pub enum Allow {
    /// A plug-in's tool follows the rules of the agent.
    #[default]
    Nothing,
    /// The answer to the agent's question.
    Dialog,
    /// Texts in a list.
    Elements(&'static [&'static str], &'static [&'static str]),
    /// A text at a key.
    Value(&'static [&'static str], &'static str),
    /// `true` at a key.
    Truth(&'static [&'static str]),
}

impl Allow {
    /// The entries that allow it.
    pub fn entries(self) -> Vec<Entry> {
        match self {
            Allow::Nothing | Allow::Dialog => Vec::new(),
            Allow::Elements(keys, names) => names.iter().map(|name| text(keys, name)).collect(),
            Allow::Value(keys, value) => vec![key(keys, value.into())],
            Allow::Truth(keys) => vec![key(keys, true.into())],
        }
    }
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
    /// What lets the edit tool run without a question.
    pub allow: Allow,
    /// What earlier versions set for it, which still does.
    pub older_allow: Option<Allow>,
    /// The hooks that do not run for the edit tool.
    pub edit_hooks: Option<EditHooks>,
    /// The hook that shows the diff of an edit, where the agent can.
    pub diff_hook: Option<DiffHook>,
    /// The target with the permissions and hooks.
    pub settings: usize,
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
            let field = if entry.value.get(ARGS).is_some() { ARGS } else { COMMAND };
            if let Some(Value::Array(all)) = entry.value.get_mut(field) {
                all.extend(args.iter().map(|arg| Value::from(arg.as_str())));
            }
        }
        self.server_args.extend(args);
        self
    }

    /// The plan with the entries that let the edit tool run without a question.
    pub fn allowing(mut self) -> Plan {
        let entries = self.allow.entries();
        if let Some(target) = self.targets.get_mut(self.settings) {
            target.entries.extend(entries);
        }
        self
    }

    /// The plan with the hook that shows the diff of an edit, by options of `hashline hook`.
    pub fn with_diff_hook(mut self, program: &str, options: &[&str]) -> Plan {
        let entry = self.diff_hook.as_ref().map(|hook| hook.entry(program, options));
        if let Some(target) = self.targets.get_mut(self.settings) {
            target.entries.extend(entry);
        }
        self
    }

    /// The options of such a hook in the settings.
    pub fn diff_options(&self, program: &str) -> Vec<&'static str> {
        let found = self.diff_hook.as_ref().zip(self.targets.get(self.settings));
        found.map_or_else(Vec::new, |(hook, target)| {
            hook.entry(program, &[]).diff_options(&target.document())
        })
    }

    /// The plan that extends the matchers of the user's hooks, or restores them.
    pub fn with_edit_hooks(mut self) -> Plan {
        let hooks = self.edit_hooks;
        if let Some(target) = self.targets.get_mut(self.settings) {
            target.edit_hooks = hooks;
        }
        self
    }
}

/// A hook that shows the diff of an edit.
pub struct DiffHook {
    agent: &'static str,
    /// The edit tool.
    tool: &'static str,
}

impl DiffHook {
    fn entry(&self, program: &str, options: &[&str]) -> Entry {
        let edit_tool = format!("{EDIT_TOOL}={}", self.tool);
        let args = [&["hook", self.agent], options, &[&edit_tool]].concat();
        let value = json!({
            "matcher": self.tool,
            "hooks": [{"type": "command", "command": command_line(program, &args), "timeout": 10}],
        });
        let kind = Kind::Hook { agent: self.agent, shows_diff: true };
        Entry { keys: &["hooks", "PreToolUse"], value, kind }
    }
}

/// The fields with the program of a server and its arguments. Some agents have one list for both.
const ARGS: &str = "args";
const COMMAND: &str = "command";

/// A plug-in that is not installed where it would be loaded from.
pub struct MissingPackage {
    pub name: &'static str,
    /// The path searched.
    pub path: String,
}

/// The names that an agent gives to the tools of the server.
struct ToolNames {
    /// Those that change nothing.
    reads: [&'static str; 2],
    edit: &'static str,
    /// All that write files, also those that a server offers on request, for a matcher.
    writing: &'static str,
    /// The options of a hook.
    options: [&'static str; 3],
}

macro_rules! tool_names {
    ($prefix:literal) => {
        ToolNames {
            reads: [concat!($prefix, "read"), concat!($prefix, "search")],
            edit: concat!($prefix, "apply"),
            writing: concat!($prefix, "apply|", $prefix, "apply_json|", $prefix, "undo_edit"),
            options: [
                concat!("--read-tool=", $prefix, "read"),
                concat!("--search-tool=", $prefix, "search"),
                concat!("--edit-tool=", $prefix, "apply"),
            ],
        }
    };
}

/// In messages to a model that sees no prefix.
const PLAIN: ToolNames = tool_names!("");
const PREFIXED: ToolNames = tool_names!("mcp__hashline__");
const GEMINI: ToolNames = tool_names!("mcp_hashline_");

/// Where Claude Code and Qwen Code keep the tools that run without a question.
const ALLOWED: &[&str] = &["permissions", "allow"];

/// The permissions of the tools that change nothing.
fn allowed_reads() -> [Entry; 2] {
    PREFIXED.reads.map(|tool| text(ALLOWED, tool))
}

/// The configuration of an agent for the user, or for a project; none if it has none for projects.
pub fn plan(agent: SetupAgent, project: Option<&Path>, program: &str) -> Result<Option<Plan>> {
    if let Some(host) = hosts::of(agent) {
        return host.plan(project, program);
    }
    let plan = match agent {
        SetupAgent::Claude => claude(project, program),
        SetupAgent::Codex => codex(project, program),
        SetupAgent::Cursor => cursor(project, program),
        SetupAgent::Gemini => gemini(project, program),
        SetupAgent::Qwen => qwen(project, program),
        SetupAgent::Opencode => opencode(project, program),
        SetupAgent::Pi => pi(project, program),
        SetupAgent::Omp => omp(project, program),
        other => return Err(unknown(other)),
    };
    plan.map(Some)
}

/// An agent that neither `hosts` nor this module has.
fn unknown(agent: SetupAgent) -> Error {
    Error::new(Code::Internal, format!("there is no configuration for {agent:?}"))
}

/// The program of an agent, and the directory that exists if it is installed.
pub fn presence(agent: SetupAgent) -> Result<(Option<&'static str>, PathBuf)> {
    if let Some(host) = hosts::of(agent) {
        return Ok((host.program, host.directory()?));
    }
    let (program, directory) = match agent {
        SetupAgent::Claude => ("claude", claude_directory(None)?),
        SetupAgent::Codex => ("codex", directory(None, "CODEX_HOME", ".codex")?),
        SetupAgent::Gemini => ("gemini", gemini_directory(None)?),
        SetupAgent::Qwen => ("qwen", qwen_directory(None)?),
        SetupAgent::Opencode => ("opencode", opencode_directory()?),
        SetupAgent::Pi => ("pi", pi_directory(None, ".pi")?),
        SetupAgent::Omp => ("omp", pi_directory(None, ".omp")?),
        SetupAgent::Cursor => ("cursor", home()?.join(".cursor")),
        other => return Err(unknown(other)),
    };
    Ok((Some(program), directory))
}

/// The variable that names Claude Code's directory.
const CLAUDE_DIRECTORY: &str = "CLAUDE_CONFIG_DIR";

/// Where Claude Code keeps the settings of the user, or of a project.
pub fn claude_directory(project: Option<&Path>) -> Result<PathBuf> {
    directory(project, CLAUDE_DIRECTORY, ".claude")
}

fn claude(project: Option<&Path>, program: &str) -> Result<Plan> {
    let settings = claude_directory(project)?.join("settings.json");
    let servers_path = match (project, variable_path(CLAUDE_DIRECTORY)) {
        (Some(project), _) => project.join(".mcp.json"),
        (None, Some(directory)) => directory.join(".claude.json"),
        (None, None) => home()?.join(".claude.json"),
    };
    let args = hook_args("claude", "--deny=Edit,MultiEdit,Write", PREFIXED);
    let command = if_served(program, &args);
    let entry = json!({
        "matcher": format!("Bash|Edit|MultiEdit|Write|{}", PREFIXED.writing),
        "hooks": [{"type": "command", "command": command, "timeout": 10}],
    });
    let command = command_line(program, &["hook", "claude", "--annotate"]);
    let after = json!({
        "matcher": "Bash",
        "hooks": [{"type": "command", "command": command, "timeout": 10}],
    });
    let mut entries = vec![
        hook(&["hooks", "PreToolUse"], entry, "claude"),
        hook(&["hooks", "PostToolUse"], after.clone(), "claude"),
        hook(&["hooks", "PostToolUseFailure"], after, "claude"),
    ];
    entries.extend(allowed_reads());
    let plan = Plan {
        targets: vec![servers(servers_path, program), json_file(settings, entries)],
        hook: Some((args, tool_call("PreToolUse", "Bash"))),
        has_server: true,
        allow: Allow::Elements(ALLOWED, &[PREFIXED.edit]),
        diff_hook: Some(DiffHook { agent: "claude", tool: PREFIXED.edit }),
        edit_hooks: Some(EditHooks {
            tools: &["Edit", "MultiEdit", "Write"],
            ours: PREFIXED.edit,
            project_files: &[".claude/settings.json", ".claude/settings.local.json"],
        }),
        settings: 1,
        ..Plan::default()
    };
    // The hooks add lines to the session of the conversation.
    Ok(plan.with_server_args(vec!["--session-variable=CLAUDE_CODE_SESSION_ID".to_owned()]))
}

fn codex(project: Option<&Path>, program: &str) -> Result<Plan> {
    let args = hook_args("codex", "--deny=Edit,Write", PLAIN);
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
        targets: vec![Target { path, format: Format::Toml, entries, edit_hooks: None }],
        hook: Some((args, tool_call("PreToolUse", "Bash"))),
        has_server: true,
        allow: Allow::Value(&["mcp_servers", SERVER, "default_tools_approval_mode"], "approve"),
        edit_hooks: Some(EditHooks {
            tools: &["apply_patch", "Edit", "Write"],
            ours: PREFIXED.edit,
            project_files: &[".codex/config.toml"],
        }),
        ..Plan::default()
    })
}

fn cursor(project: Option<&Path>, program: &str) -> Result<Plan> {
    let args = hook_args("cursor", "--deny=Write", PLAIN);
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
        allow: Allow::Dialog,
        ..Plan::default()
    })
}

fn gemini(project: Option<&Path>, program: &str) -> Result<Plan> {
    let args = hook_args("gemini", "--deny=Edit,Write", GEMINI);
    let entry = json!({
        "matcher": "run_shell_command|replace|write_file",
        "hooks": [{"type": "command", "command": command_line(program, &args)}],
    });
    let mut target = servers(gemini_directory(project)?.join("settings.json"), program);
    target.entries.push(hook(&["hooks", "BeforeTool"], entry, "gemini"));
    let event = tool_call("BeforeTool", "run_shell_command");
    Ok(Plan {
        targets: vec![target],
        hook: Some((args, event)),
        has_server: true,
        allow: Allow::Truth(&["mcpServers", SERVER, "trust"]),
        edit_hooks: Some(EditHooks {
            tools: &["replace", "write_file"],
            ours: GEMINI.edit,
            project_files: &[".gemini/settings.json"],
        }),
        ..Plan::default()
    })
}

/// Where Gemini CLI keeps the settings of the user, or of a project.
pub fn gemini_directory(project: Option<&Path>) -> Result<PathBuf> {
    directory(project, "", ".gemini")
}

/// Qwen Code was made from Gemini CLI, and its hooks and permissions after those of Claude Code.
fn qwen(project: Option<&Path>, program: &str) -> Result<Plan> {
    let args = hook_args("qwen", "--deny=Edit,Write", PREFIXED);
    let entry = json!({
        "matcher": format!("^(run_shell_command|edit|write_file|{})$", PREFIXED.writing),
        "hooks": [{"type": "command", "command": if_served(program, &args)}],
    });
    let mut server = server(program);
    // Otherwise the model has to search for the tools that the hook names.
    server["alwaysLoadTools"] = true.into();
    let mut entries =
        vec![key(&["mcpServers", SERVER], server), hook(&["hooks", "PreToolUse"], entry, "qwen")];
    entries.extend(allowed_reads());
    let plan = Plan {
        targets: vec![json_file(qwen_directory(project)?.join("settings.json"), entries)],
        hook: Some((args, tool_call("PreToolUse", "run_shell_command"))),
        has_server: true,
        allow: Allow::Elements(ALLOWED, &[PREFIXED.edit]),
        edit_hooks: Some(EditHooks {
            tools: &["edit", "write_file"],
            ours: PREFIXED.edit,
            project_files: &[".qwen/settings.json"],
        }),
        older_allow: Some(Allow::Truth(&["mcpServers", SERVER, "trust"])),
        ..Plan::default()
    };
    // Without it, --if-served finds the server by its process alone, which Windows does not show.
    Ok(plan.with_server_args(vec!["--session-variable=QWEN_CODE_SESSION_ID".to_owned()]))
}

/// Where Qwen Code keeps the settings of the user, or of a project.
pub fn qwen_directory(project: Option<&Path>) -> Result<PathBuf> {
    directory(project, "QWEN_HOME", ".qwen")
}

fn opencode(project: Option<&Path>, program: &str) -> Result<Plan> {
    let directory = match project {
        Some(project) => project.to_owned(),
        None => opencode_directory()?,
    };
    let commented = directory.join("opencode.jsonc");
    let path = if commented.exists() { commented } else { directory.join("opencode.json") };
    let entry = |package: String| format!("file://{package}/index.js");
    Ok(plug_in_of(path, &["plugin"], OPENCODE_PLUG_IN, program, entry))
}

/// The package of the plug-in for opencode.
pub const OPENCODE_PLUG_IN: &str = "opencode-hashline";

fn opencode_directory() -> Result<PathBuf> {
    Ok(match variable_path("XDG_CONFIG_HOME") {
        Some(config) => config.join("opencode"),
        None => home()?.join(".config/opencode"),
    })
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
    let allow = if has_server { Allow::Dialog } else { Allow::Nothing };
    Ok(Plan { targets, replaced, has_server, allow, ..Plan::default() })
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

/// The arguments of the hook for an agent.
fn hook_args(agent: &'static str, deny: &'static str, tools: ToolNames) -> Vec<&'static str> {
    [&["hook", agent, deny], &tools.options[..]].concat()
}

/// The command of a hook that waits for the server, for agents that begin to work before it has
/// started. The trial has no server.
fn if_served(program: &str, args: &[&str]) -> String {
    command_line(program, &[args, &["--if-served"]].concat())
}

/// The command that tests a hook.
const TRIED: &str = "cat README.md";

fn tool_call(event: &str, tool: &str) -> Value {
    json!({"hook_event_name": event, "tool_name": tool, "tool_input": {"command": TRIED}})
}

pub fn server(program: &str) -> Value {
    json!({"command": program, ARGS: ["mcp"]})
}

/// A file with MCP servers in the form that most agents use.
fn servers(path: PathBuf, program: &str) -> Target {
    json_file(path, vec![key(&["mcpServers", SERVER], server(program))])
}

fn text(keys: &'static [&'static str], value: &str) -> Entry {
    Entry { keys, value: value.into(), kind: Kind::Text }
}

pub fn key(keys: &'static [&'static str], value: Value) -> Entry {
    Entry { keys, value, kind: Kind::Key }
}

fn hook(keys: &'static [&'static str], value: Value, agent: &'static str) -> Entry {
    Entry { keys, value, kind: Kind::Hook { agent, shows_diff: false } }
}

fn json_file(path: PathBuf, entries: Vec<Entry>) -> Target {
    Target { path, format: Format::Json, entries, edit_hooks: None }
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
pub fn variable_path(name: &str) -> Option<PathBuf> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

pub fn home() -> Result<PathBuf> {
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

#[cfg(test)]
mod tests {
    use hashline_tools::{Names, ToolKind};

    use super::*;

    #[test]
    fn the_names_of_the_tools_are_those_of_the_server() {
        let names = Names::default();
        let of = |kind| names.of(kind);
        assert_eq!(PLAIN.reads, [ToolKind::Read, ToolKind::Search].map(of));
        assert_eq!(PLAIN.edit, of(ToolKind::Apply));
        let writing: Vec<_> =
            ToolKind::ALL.into_iter().filter(|kind| kind.writes()).map(of).collect();
        assert_eq!(PLAIN.writing, writing.join("|"));
        let prefixed: Vec<_> =
            PLAIN.writing.split('|').map(|it| format!("mcp__hashline__{it}")).collect();
        assert_eq!(PREFIXED.writing, prefixed.join("|"));
    }
}
