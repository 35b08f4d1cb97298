//! What each agent is given: which files, and which entries in them.

use std::env;
use std::path::{Path, PathBuf};

use hashline_core::{Code, Error, Result};
use serde_json::{Value, json};

use crate::args::SetupAgent;

/// The name of the server in every configuration.
pub const SERVER: &str = "hashline";

/// A file of an agent, and what is ours in it.
pub struct Target {
    pub path: PathBuf,
    pub format: Format,
    pub entries: Vec<Entry>,
}

/// How a file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments or without.
    Json,
    /// TOML.
    Toml,
}

/// A value that is ours.
pub struct Entry {
    /// The keys to it, or to the array that it is an element of.
    pub keys: &'static [&'static str],
    pub value: Value,
    pub kind: Kind,
}

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The value of the last key.
    Key,
    /// An element of an array. Ours is known by a text in it.
    Element { mark: &'static str },
    /// A value that the file needs, and that stays as it is once it is there.
    Needed,
}

impl Entry {
    /// Whether an element of the array is this entry, perhaps in an older form.
    pub fn is(&self, element: &Value) -> bool {
        match (self.kind, &self.value) {
            (Kind::Element { mark }, _) => texts(element).any(|text| text.contains(mark)),
            _ => *element == self.value,
        }
    }
}

/// All texts in a value.
fn texts(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(items) => Box::new(items.iter().flat_map(texts)),
        Value::Object(fields) => Box::new(fields.values().flat_map(texts)),
        _ => Box::new(std::iter::empty()),
    }
}

/// What an agent is given.
pub struct Plan {
    pub targets: Vec<Target>,
    /// The arguments of the hook, and an event to try it with.
    pub hook: Option<(Vec<&'static str>, Value)>,
    pub has_server: bool,
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

/// What an agent is given for one user, or in the project that is `project`.
pub fn plan(agent: SetupAgent, project: Option<&Path>, program: &str) -> Result<Plan> {
    let hook = |name: &'static str, deny: &'static str| {
        [vec!["hook", name, deny], TOOL_NAMES.to_vec()].concat()
    };
    let server = json!({"command": program, "args": ["mcp"]});
    let servers = |path| json_file(path, vec![key(&["mcpServers", SERVER], server.clone())]);
    match agent {
        SetupAgent::Claude => {
            let settings = match project {
                Some(_) => file(project, "", ".claude/settings.json")?,
                None => file(None, "CLAUDE_CONFIG_DIR", ".claude")?.join("settings.json"),
            };
            let servers_path = match (project, env::var_os("CLAUDE_CONFIG_DIR")) {
                (Some(_), _) => file(project, "", ".mcp.json")?,
                (None, Some(directory)) => PathBuf::from(directory).join(".claude.json"),
                (None, None) => file(None, "", ".claude.json")?,
            };
            let command = command_line(program, CLAUDE_HOOK);
            let entry = json!({
                "matcher": "Bash|Edit|MultiEdit|Write",
                "hooks": [{"type": "command", "command": command, "timeout": 10}],
            });
            let allow = |tool: &'static str| Entry {
                keys: &["permissions", "allow"],
                value: tool.into(),
                kind: Kind::Element { mark: tool },
            };
            let entries = vec![
                element(&["hooks", "PreToolUse"], entry, " hook claude "),
                allow("mcp__hashline__read"),
                allow("mcp__hashline__search"),
            ];
            let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash",
                "tool_input": {"command": "cat README.md"}});
            Ok(Plan {
                targets: vec![servers(servers_path), json_file(settings, entries)],
                hook: Some((CLAUDE_HOOK.to_vec(), event)),
                has_server: true,
            })
        }
        SetupAgent::Codex => {
            let args = hook("codex", "--deny=Edit,Write");
            let entry = json!({
                "matcher": "^(Bash|apply_patch)$",
                "hooks": [{"type": "command", "command": command_line(program, &args), "timeout": 10}],
            });
            let directory = match project {
                Some(project) => project.join(".codex"),
                None => file(None, "CODEX_HOME", ".codex")?,
            };
            let entries = vec![
                key(&["mcp_servers", SERVER], server),
                element(&["hooks", "PreToolUse"], entry, " hook codex "),
            ];
            let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash",
                "tool_input": {"command": "cat README.md"}});
            let path = directory.join("config.toml");
            Ok(Plan {
                targets: vec![Target { path, format: Format::Toml, entries }],
                hook: Some((args, event)),
                has_server: true,
            })
        }
        SetupAgent::Cursor => {
            let args = hook("cursor", "--deny=Write");
            let command = command_line(program, &args);
            let entry = json!({"command": command, "failClosed": true});
            let write = json!({"command": command, "matcher": "Write", "failClosed": true});
            let entries = vec![
                Entry { keys: &["version"], value: 1.into(), kind: Kind::Needed },
                element(&["hooks", "beforeShellExecution"], entry, " hook cursor "),
                element(&["hooks", "preToolUse"], write, " hook cursor "),
            ];
            let event =
                json!({"hook_event_name": "beforeShellExecution", "command": "cat README.md"});
            let directory = file(project, "", ".cursor")?;
            Ok(Plan {
                targets: vec![
                    servers(directory.join("mcp.json")),
                    json_file(directory.join("hooks.json"), entries),
                ],
                hook: Some((args, event)),
                has_server: true,
            })
        }
        SetupAgent::Gemini => {
            let args = hook("gemini", "--deny=Edit,Write");
            let entry = json!({
                "matcher": "run_shell_command|replace|write_file",
                "hooks": [{"type": "command", "command": command_line(program, &args)}],
            });
            let mut target = servers(file(project, "", ".gemini/settings.json")?);
            target.entries.push(element(&["hooks", "BeforeTool"], entry, " hook gemini "));
            let event = json!({"hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
                "tool_input": {"command": "cat README.md"}});
            Ok(Plan { targets: vec![target], hook: Some((args, event)), has_server: true })
        }
        SetupAgent::Opencode => {
            let directory = match (project, env::var_os("XDG_CONFIG_HOME")) {
                (Some(project), _) => project.to_owned(),
                (None, Some(config)) => PathBuf::from(config).join("opencode"),
                (None, None) => file(None, "", ".config/opencode")?,
            };
            let commented = directory.join("opencode.jsonc");
            let path = if commented.exists() { commented } else { directory.join("opencode.json") };
            let package = package(program, "opencode-hashline")
                .map(|package| format!("file://{package}/index.js"));
            let package = package.unwrap_or_else(|| "opencode-hashline".to_owned());
            Ok(plug_in(path, element(&["plugin"], package.into(), "opencode-hashline")))
        }
        SetupAgent::Pi => {
            let directory = match project {
                Some(project) => project.join(".pi"),
                None => file(None, "PI_CODING_AGENT_DIR", ".pi/agent")?,
            };
            let package = package(program, "pi-hashline");
            let package = package.unwrap_or_else(|| "npm:pi-hashline".to_owned());
            let entry = element(&["packages"], package.into(), "pi-hashline");
            Ok(plug_in(directory.join("settings.json"), entry))
        }
        SetupAgent::Omp => {
            let directory = match project {
                Some(project) => project.join(".omp"),
                None => file(None, "PI_CODING_AGENT_DIR", ".omp/agent")?,
            };
            let targets = vec![servers(directory.join("mcp.json"))];
            Ok(Plan { targets, hook: None, has_server: true })
        }
    }
}

fn key(keys: &'static [&'static str], value: Value) -> Entry {
    Entry { keys, value, kind: Kind::Key }
}

fn element(keys: &'static [&'static str], value: Value, mark: &'static str) -> Entry {
    Entry { keys, value, kind: Kind::Element { mark } }
}

fn json_file(path: PathBuf, entries: Vec<Entry>) -> Target {
    Target { path, format: Format::Json, entries }
}

/// A plug-in brings its own tools and guard.
fn plug_in(path: PathBuf, entry: Entry) -> Plan {
    Plan { targets: vec![json_file(path, vec![entry])], hook: None, has_server: false }
}

/// A file of the project; else the one that a variable names; else one in the home directory.
fn file(project: Option<&Path>, variable: &str, name: &str) -> Result<PathBuf> {
    if let Some(project) = project {
        return Ok(project.join(name));
    }
    let named = env::var_os(variable).filter(|value| !variable.is_empty() && !value.is_empty());
    let home = || env::home_dir().filter(|home| !home.as_os_str().is_empty());
    named.map(PathBuf::from).or_else(|| Some(home()?.join(name))).ok_or_else(|| {
        let what = "the home directory is not known: set HOME, or use --project";
        Error::new(Code::InvalidArgument, what)
    })
}

/// A package that was installed beside that of the program.
fn package(program: &str, name: &str) -> Option<String> {
    let modules = Path::new(program).parent()?.parent()?;
    let package = modules.join(name);
    package.join("package.json").is_file().then(|| package.to_str().map(str::to_owned))?
}

/// A command as a shell reads it.
pub fn command_line(program: &str, args: &[&str]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/\\:._-+@".contains(c);
    let quoted = if program.chars().all(is_plain) && !(cfg!(unix) && program.contains('\\')) {
        program.to_owned()
    } else if cfg!(windows) {
        format!("\"{program}\"")
    } else {
        format!("'{}'", program.replace('\'', r"'\''"))
    };
    [&[quoted.as_str()], args].concat().join(" ")
}
