//! What a person should know after a setup: which permission stops the agent's questions, and what
//! the agent does not run.

use std::path::Path;

use hashline_core::host::read_start;
use serde_json::Value;

use super::agents::{self, Allow, Plan};
use super::change::{self, EditHook};
use super::{hosts, json, name_of, shown};
use crate::args::SetupAgent;

/// The longest file that is read.
const LIMIT_BYTES: u64 = 16 << 20;

/// The notes for an agent that was set up, as one works in `directory`.
pub fn of(plan: &Plan, agent: SetupAgent, directory: &Path) -> Vec<String> {
    let plug_in = || (agent == SetupAgent::Claude).then(|| second_plug_in(plan)).flatten();
    let notes = [own_tools(agent), permission(plan), distrust(agent, directory), plug_in()]
        .into_iter()
        .flatten();
    notes.chain(missed_hooks(plan, directory)).collect()
}

/// That Claude Code also has the plug-in, and so every tool and hook twice.
fn second_plug_in(plan: &Plan) -> Option<String> {
    let settings = plan.targets.get(plan.settings)?.document();
    let mut plug_ins = settings["enabledPlugins"].as_object()?.iter();
    let (name, _) = plug_ins.find(|(name, on)| name.starts_with("hashline@") && **on == true)?;
    Some(format!(
        "Claude Code also has the plug-in {name}. Keep one of them: run `claude plugin disable {name}`, or this command with --remove",
        name = shown(name)
    ))
}

/// The hooks of the user that do not run for the edit tool, also those of the project.
fn missed_hooks(plan: &Plan, directory: &Path) -> Vec<String> {
    let (Some(kind), Some(target)) = (plan.edit_hooks, plan.targets.get(plan.settings)) else {
        return Vec::new();
    };
    let canonical = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let own = canonical(&target.path);
    let others = kind.project_files.iter().map(|file| canonical(&directory.join(file)));
    let others = others.filter(|path| *path != own).map(|path| {
        let remedy = format!("Or add {} to the matcher", kind.ours);
        (path, remedy)
    });
    let extend = "--extend-hooks adds the tool to the matcher".to_owned();
    let note = |path: &Path, hook: &EditHook, remedy: &str| {
        let [path, event, matcher, command] =
            [&*path.to_string_lossy(), &hook.event, &hook.matcher, &hook.command].map(shown);
        format!(
            "the {event} hook on {matcher} ({command}) in {path} does not run for the tool `apply`. For a formatter, use --after. {remedy}: its event has the paths in `tool_input.operations`, not `tool_input.file_path`"
        )
    };
    let mut notes = Vec::new();
    for (path, remedy) in std::iter::once((own.clone(), extend)).chain(others) {
        let found = kind.found(&target.format.document(&path));
        notes.extend(found.iter().map(|hook| note(&path, hook, &remedy)));
    }
    notes
}

/// That nothing blocks the agent's own tools.
fn own_tools(agent: SetupAgent) -> Option<String> {
    let host = hosts::of(agent)?;
    let name = name_of(agent);
    let why = if host.has_hooks { ", because its hooks are not supported yet" } else { "" };
    let remedy = match host.project_files {
        [] => "add the directory of your project to `args`",
        _ => "use --project",
    };
    Some(format!(
        "{name} may still use its own tools and shell commands on files{why}. If it starts the server in the home directory, every call is refused. In that case, {remedy}."
    ))
}

/// Which permission lets the edit tool run without a question.
fn permission(plan: &Plan) -> Option<String> {
    let (keys, value) = match plan.allow {
        Allow::Nothing => return None,
        Allow::Dialog => {
            return Some("to stop the questions, choose to always allow `apply`".to_owned());
        }
        Allow::Elements(keys, names) => (keys, names.join(", ")),
        Allow::Value(keys, value) => (keys, value.to_owned()),
        Allow::Truth(keys) => (keys, "true".to_owned()),
    };
    let file = plan.targets.get(plan.settings)?;
    let document = file.document();
    let is_set = |allow: Allow| {
        change::put(&document, &allow.entries()).is_ok_and(|missing| missing.is_empty())
    };
    if is_set(plan.allow) || plan.older_allow.is_some_and(is_set) {
        return None;
    }
    Some(format!(
        "the agent may ask before each edit. To stop that, run the same command with --allow: it sets {} to {value} in {}",
        keys.join(" → "),
        file.path.display()
    ))
}

/// That the agent does not trust the directory: Gemini CLI checks it unless this is turned off, Qwen
/// Code if it is turned on.
fn distrust(agent: SetupAgent, directory: &Path) -> Option<String> {
    let (name, home, is_checked, variable, command) = match agent {
        SetupAgent::Gemini => {
            let (home, variable) =
                (agents::gemini_directory(None), "GEMINI_CLI_TRUSTED_FOLDERS_PATH");
            ("Gemini CLI", home, true, variable, "/permissions trust")
        }
        SetupAgent::Qwen => {
            let (home, variable) = (agents::qwen_directory(None), "QWEN_CODE_TRUSTED_FOLDERS_PATH");
            ("Qwen Code", home, false, variable, "/trust")
        }
        _ => return None,
    };
    let home = home.ok()?;
    let settings = parsed(&home.join("settings.json"));
    let is_checked = settings["security"]["folderTrust"]["enabled"].as_bool().unwrap_or(is_checked);
    let is_set = |name: &str, value: &str| std::env::var(name).is_ok_and(|given| given == value);
    if !is_checked || (agent == SetupAgent::Gemini && is_set("GEMINI_CLI_TRUST_WORKSPACE", "true"))
    {
        return None;
    }
    let rules = agents::variable_path(variable).unwrap_or_else(|| home.join("trustedFolders.json"));
    let directory = std::fs::canonicalize(directory).ok()?;
    if is_trusted(&parsed(&rules), &directory) {
        return None;
    }
    Some(format!(
        "{name} starts no server in a directory that it does not trust, such as {}. Start it there and trust the folder, or run {command}",
        directory.display()
    ))
}

/// Whether the rule with the longest path that contains the directory trusts it.
fn is_trusted(rules: &Value, directory: &Path) -> bool {
    let rules = rules.as_object().into_iter().flatten().filter_map(|(path, rule)| {
        let path = Path::new(path);
        let (path, trusts) = match rule.as_str()? {
            "TRUST_FOLDER" => (path, true),
            "TRUST_PARENT" => (path.parent()?, true),
            _ => (path, false),
        };
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        directory.starts_with(&path).then(|| (path.components().count(), trusts))
    });
    rules.max().is_some_and(|(_, trusts)| trusts)
}

/// A JSON file, with comments or without; null if it cannot be read.
fn parsed(path: &Path) -> Value {
    let bytes = read_start(path, LIMIT_BYTES).unwrap_or_default();
    String::from_utf8(bytes).ok().and_then(|text| json::parsed(&text)).unwrap_or_default()
}
