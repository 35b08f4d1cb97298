//! The agents that get an MCP server and nothing else: one row each, as their pages document it.

use std::env;
use std::path::{Path, PathBuf};

use hashline_core::Result;
use serde_json::{Value, json};

use super::agents::{Allow, Format, Plan, SERVER, Target, home, key, server, variable_path};
use super::text_of;
use crate::args::SetupAgent;

/// An agent, and its configuration of MCP servers.
pub struct Host {
    pub agent: SetupAgent,
    /// Its program, if it has one: `PROGRAM mcp list` prints the servers.
    pub program: Option<&'static str>,
    /// The directory that exists if the agent is installed.
    pub directory: Place,
    /// The same on Windows, where it differs.
    pub on_windows: Option<Place>,
    /// The variable that names the directory.
    pub variable: &'static str,
    /// The file for the user, in the directory: the first that exists, otherwise the first.
    pub files: &'static [&'static str],
    /// The file of a project; none if the agent has only one for the user.
    pub project_files: &'static [&'static str],
    /// The keys that lead to the entry.
    pub keys: &'static [&'static str],
    pub shape: Shape,
    /// Whether the agent has hooks before tool calls. `hashline hook` does not know their format.
    pub has_hooks: bool,
    /// What lets the edit tool run without a question.
    pub allow: Allow,
}

/// A directory below one of the directories of the user.
#[derive(Clone, Copy)]
pub struct Place(Base, &'static str);

#[derive(Clone, Copy)]
enum Base {
    Home,
    /// `$XDG_CONFIG_HOME`, or `~/.config`, on every system.
    Config,
    /// Where the system keeps the data of applications.
    AppData,
}

/// The form of an entry.
#[derive(Clone, Copy)]
pub enum Shape {
    /// `command` and `args`.
    Plain,
    /// The same, with a `type`.
    Typed(&'static str),
    /// The same, with the tools that are offered.
    WithTools,
    /// One list with the program and its arguments.
    List,
    /// An extension of Goose, in YAML.
    Goose,
}

use Base::{AppData, Config, Home};

const MCP_SERVERS: &[&str] = &["mcpServers", SERVER];
const TOOLS: &[&str] = &["read", "search", "apply"];

/// Most agents: a file for the user and one for a project, with `mcpServers`.
const fn host(agent: SetupAgent, directory: Place, files: &'static [&'static str]) -> Host {
    Host {
        agent,
        program: None,
        directory,
        on_windows: None,
        variable: "",
        files,
        project_files: &[],
        keys: MCP_SERVERS,
        shape: Shape::Plain,
        has_hooks: false,
        allow: Allow::Dialog,
    }
}

pub const HOSTS: &[Host] = &[
    // https://code.visualstudio.com/docs/agents/reference/mcp-configuration
    Host {
        keys: &["servers", SERVER],
        shape: Shape::Typed("stdio"),
        project_files: &[".vscode/mcp.json"],
        has_hooks: true,
        ..host(SetupAgent::Vscode, Place(AppData, "Code/User"), &["mcp.json"])
    },
    // https://github.com/cline/cline/blob/main/sdk/packages/shared/src/storage/paths.ts: the
    // extension and the program share this file. https://docs.cline.bot/mcp/adding-and-configuring-servers
    Host {
        program: Some("cline"),
        variable: "CLINE_DATA_DIR",
        has_hooks: true,
        allow: Allow::Elements(&["mcpServers", SERVER, "autoApprove"], TOOLS),
        ..host(SetupAgent::Cline, Place(Home, ".cline/data"), &["settings/cline_mcp_settings.json"])
    },
    // https://docs.roocode.com/features/mcp/using-mcp-in-roo
    Host {
        project_files: &[".roo/mcp.json"],
        allow: Allow::Elements(&["mcpServers", SERVER, "alwaysAllow"], TOOLS),
        ..host(
            SetupAgent::Roo,
            Place(AppData, "Code/User/globalStorage/rooveterinaryinc.roo-cline"),
            &["settings/mcp_settings.json"],
        )
    },
    // https://github.com/Kilo-Org/kilocode/blob/main/packages/kilo-docs/pages/automate/mcp/using-in-kilo-code.md
    Host {
        program: Some("kilo"),
        project_files: &["kilo.json", "kilo.jsonc", ".kilo/kilo.json", ".kilo/kilo.jsonc"],
        keys: &["mcp", SERVER],
        shape: Shape::List,
        allow: Allow::Value(&["permission", "hashline_apply"], "allow"),
        ..host(SetupAgent::Kilo, Place(Config, "kilo"), &["kilo.jsonc", "kilo.json"])
    },
    // https://docs.windsurf.com/windsurf/cascade/mcp
    Host {
        has_hooks: true,
        ..host(SetupAgent::Windsurf, Place(Home, ".codeium/windsurf"), &["mcp_config.json"])
    },
    // https://zed.dev/docs/ai/mcp, https://zed.dev/docs/ai/tool-permissions
    Host {
        on_windows: Some(Place(AppData, "Zed")),
        project_files: &[".zed/settings.json"],
        keys: &["context_servers", SERVER],
        allow: Allow::Value(
            &["agent", "tool_permissions", "tools", "mcp:hashline:apply", "default"],
            "allow",
        ),
        ..host(SetupAgent::Zed, Place(Config, "zed"), &["settings.json"])
    },
    // https://block.github.io/goose/docs/guides/config-files
    Host {
        on_windows: Some(Place(AppData, "Block/goose/config")),
        keys: &["extensions", SERVER],
        shape: Shape::Goose,
        ..host(SetupAgent::Goose, Place(Config, "goose"), &["config.yaml"])
    },
    // https://github.com/charmbracelet/crush/blob/main/docs/config/README.md#legacy-json: Crush also
    // runs a shell script, which cannot be edited safely.
    Host {
        project_files: &["crush.json", ".crush.json"],
        keys: &["mcp", SERVER],
        shape: Shape::Typed("stdio"),
        has_hooks: true,
        allow: Allow::Elements(&["permissions", "allowed_tools"], &["mcp_hashline_apply"]),
        ..host(SetupAgent::Crush, Place(Config, "crush"), &["crush.json"])
    },
    // https://ampcode.com/manual#configuration
    Host {
        program: Some("amp"),
        project_files: &[".amp/settings.json", ".amp/settings.jsonc"],
        keys: &["amp.mcpServers", SERVER],
        ..host(SetupAgent::Amp, Place(Config, "amp"), &["settings.json", "settings.jsonc"])
    },
    // https://docs.continue.dev/customize/deep-dives/mcp: a file of its own, in the form of others
    Host {
        project_files: &[".continue/mcpServers/hashline.json"],
        ..host(SetupAgent::Continue, Place(Home, ".continue"), &["mcpServers/hashline.json"])
    },
    // https://kiro.dev/docs/mcp/configuration
    Host {
        project_files: &[".kiro/settings/mcp.json"],
        has_hooks: true,
        allow: Allow::Elements(&["mcpServers", SERVER, "autoApprove"], TOOLS),
        ..host(SetupAgent::Kiro, Place(Home, ".kiro"), &["settings/mcp.json"])
    },
    // https://docs.github.com/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers
    Host {
        program: Some("copilot"),
        variable: "COPILOT_HOME",
        project_files: &[".github/mcp.json"],
        shape: Shape::WithTools,
        has_hooks: true,
        ..host(SetupAgent::Copilot, Place(Home, ".copilot"), &["mcp-config.json"])
    },
    // https://junie.jetbrains.com/docs/junie-cli-mcp-configuration.html
    Host {
        project_files: &[".junie/mcp/mcp.json"],
        has_hooks: true,
        ..host(SetupAgent::Junie, Place(Home, ".junie"), &["mcp/mcp.json"])
    },
    // https://docs.factory.ai/cli/configuration/mcp
    Host {
        project_files: &[".factory/mcp.json"],
        shape: Shape::Typed("stdio"),
        has_hooks: true,
        ..host(SetupAgent::Droid, Place(Home, ".factory"), &["mcp.json"])
    },
    // https://docs.warp.dev/agents/capabilities/mcp
    Host {
        project_files: &[".warp/.mcp.json"],
        ..host(SetupAgent::Warp, Place(Home, ".warp"), &[".mcp.json"])
    },
];

/// The row of an agent.
pub fn of(agent: SetupAgent) -> Option<&'static Host> {
    HOSTS.iter().find(|host| host.agent == agent)
}

impl Host {
    /// The configuration for the user, or for a project if the agent has one.
    pub fn plan(&self, project: Option<&Path>, program: &str) -> Result<Option<Plan>> {
        let path = match project {
            Some(_) if self.project_files.is_empty() => return Ok(None),
            Some(project) => first_of(project, self.project_files),
            None => first_of(&self.directory()?, self.files),
        };
        let format = if let Shape::Goose = self.shape { Format::Yaml } else { Format::Json };
        let entries = vec![key(self.keys, self.entry(program))];
        let targets = vec![Target { path, format, entries, edit_hooks: None }];
        let plan = Plan { targets, has_server: true, allow: self.allow, ..Plan::default() };
        // Some of these agents start servers in the home directory, and name no roots.
        let root = project.map(|project| text_of(project.to_owned())).transpose()?;
        Ok(Some(plan.with_server_args(root.into_iter().collect())))
    }

    /// The directory of the agent.
    pub fn directory(&self) -> Result<PathBuf> {
        let named = (!self.variable.is_empty()).then(|| variable_path(self.variable)).flatten();
        let place = if cfg!(windows) { self.on_windows } else { None };
        named.map_or_else(|| place.unwrap_or(self.directory).path(), Ok)
    }

    fn entry(&self, program: &str) -> Value {
        let plain = server(program);
        let args = plain["args"].clone();
        match self.shape {
            Shape::Plain => plain,
            Shape::Typed(kind) => json!({"type": kind, "command": program, "args": args}),
            Shape::WithTools => {
                json!({"type": "stdio", "command": program, "args": args, "tools": ["*"]})
            }
            Shape::List => json!({"type": "local", "command": [program, "mcp"], "enabled": true}),
            Shape::Goose => json!({
                "type": "stdio", "name": SERVER, "description": "Reads and edits files by anchors",
                "cmd": program, "args": args, "enabled": true, "timeout": 300,
            }),
        }
    }
}

impl Place {
    fn path(self) -> Result<PathBuf> {
        let Place(base, below) = self;
        let config = || match variable_path("XDG_CONFIG_HOME") {
            Some(config) => Ok(config),
            None => Ok(home()?.join(".config")),
        };
        let base = match base {
            Home => home()?,
            Config => config()?,
            AppData if cfg!(windows) => match variable_path("APPDATA") {
                Some(data) => data,
                None => home()?.join("AppData/Roaming"),
            },
            AppData if env::consts::OS == "macos" => home()?.join("Library/Application Support"),
            AppData => config()?,
        };
        Ok(base.join(below))
    }
}

/// The first of the files that exists, otherwise the first.
fn first_of(directory: &Path, files: &[&str]) -> PathBuf {
    let mut paths = files.iter().map(|file| directory.join(file));
    let first = directory.join(files.first().copied().unwrap_or_default());
    paths.find(|path| path.symlink_metadata().is_ok()).unwrap_or(first)
}
