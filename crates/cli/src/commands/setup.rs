//! `setup`: writes an agent's own configuration, removes it again, and tests it.
//!
//! `agents` and `hosts` define the entries of each agent, `entry` recognizes them in a file,
//! `change` computes the changes, and `json`, `toml` and `yaml` apply them. `trial` runs the hook
//! and the server as the agent does, with a command line of `shell`, and the agent's own check.
//! `notes` says what the agent would still ask or not run. `list` prints all agents. All files of
//! an agent change in one patch, or none does.

mod agents;
mod change;
mod entry;
mod hosts;
mod json;
mod list;
mod notes;
mod shell;
mod toml;
mod trial;
mod yaml;

pub use agents::claude_directory;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hashline_core::host::{one_line, read_start};
use hashline_core::{Code, Error, Outcome, Patch, PatchOptions, Result};
use serde_json::{Value, json};

use super::apply;
use crate::args::{Setup, SetupAgent};
use crate::call::Call;
use crate::exit::{Exit, Failure, say};
use crate::interrupt;
use agents::{Allow, Format, MissingPackage, Plan, Target};
use entry::{ASK_DIFF, SHOW_DIFF};
use json::{Document, Removal};

/// How often the edit is tried again if another process has changed a file meanwhile.
const ATTEMPTS: usize = 5;

/// Unchanged lines around each change in the diff.
const CONTEXT_LINES: u64 = 3;

/// `hashline setup`
pub fn setup(call: &mut Call<'_>, args: &Setup) -> std::result::Result<Exit, Failure> {
    let program = text_of(std::env::current_exe().map_err(|cause| {
        Error::new(Code::Io, format!("cannot find the path of this program: {cause}"))
    })?)?;
    let Some(agent) = args.agent else { return list::print(call, &program) };
    let project = project(call, args)?;
    let plan = planned(agent, args, project.as_deref(), &program)?;
    interrupt::asks(&call.cancel);
    change_files(call, args, agent, &plan)?;
    call.out.flush()?;
    if args.dry_run || args.remove {
        return Ok(Exit::Done);
    }
    let directory = project.unwrap_or_else(|| PathBuf::from("."));
    let seen = trial::run(&plan, agent, &program, &directory, &call.cancel)?;
    let notes = notes::of(&plan, agent, &directory);
    seen.iter().chain(&notes).for_each(|line| say(line));
    Ok(Exit::Done)
}

/// The configuration that the options ask for.
fn planned(agent: SetupAgent, args: &Setup, project: Option<&Path>, program: &str) -> Result<Plan> {
    let plan = agents::plan(agent, project, program)?.ok_or_else(|| {
        let name = name_of(agent);
        let what = "has no configuration of MCP servers for a project";
        Error::argument(format!("{name} {what}, so no file was changed. Omit --project."))
    })?;
    check(agent, args, &plan)?;
    let plan = plan.with_server_args(args.after.arguments());
    // A removal also removes what an earlier run added.
    let plan = if args.allow || args.remove { plan.allowing() } else { plan };
    let mut diff_options = diff_options(args);
    if diff_options.is_empty() {
        diff_options = plan.diff_options(program);
    }
    let shows_diff = !diff_options.is_empty() || args.remove;
    let plan = if shows_diff { plan.with_diff_hook(program, &diff_options) } else { plan };
    Ok(if args.extend_hooks || args.remove { plan.with_edit_hooks() } else { plan })
}

/// The options for the hook that shows diffs.
fn diff_options(args: &Setup) -> Vec<&'static str> {
    let given = [(SHOW_DIFF, args.show_diff), (ASK_DIFF, args.ask_diff)];
    given.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
}

/// Refuses options that are not for this agent.
fn check(agent: SetupAgent, args: &Setup, plan: &Plan) -> Result<()> {
    if !plan.has_server && !args.after.arguments().is_empty() {
        return Err(has_no_server(&name_of(agent)));
    }
    if args.allow && matches!(plan.allow, Allow::Nothing | Allow::Dialog) {
        return Err(has_no_permission(&name_of(agent), plan.allow));
    }
    if args.extend_hooks && plan.edit_hooks.is_none() {
        return Err(is_for("--extend-hooks", |plan| plan.edit_hooks.is_some()));
    }
    match diff_options(args).first() {
        Some(option) if plan.diff_hook.is_none() => {
            Err(is_for(option, |plan| plan.diff_hook.is_some()))
        }
        _ => Ok(()),
    }
}

/// The refusal of an option that only some agents have.
fn is_for(option: &str, has_it: fn(&Plan) -> bool) -> Error {
    let plan = |agent| agents::plan(agent, None, "").ok().flatten();
    let agents = SetupAgent::value_variants().iter().copied();
    let names: Vec<_> = agents
        .filter(|agent| plan(*agent).is_some_and(|plan| has_it(&plan)))
        .map(name_of)
        .collect();
    let names = names.join(", ");
    Error::argument(format!("{option} is for {names}, so no file was changed"))
}

/// Changes the files, and shows the changes.
fn change_files(
    call: &mut Call<'_>,
    args: &Setup,
    agent: SetupAgent,
    plan: &Plan,
) -> std::result::Result<(), Failure> {
    let options = PatchOptions {
        dry_run: args.dry_run,
        is_silent: false,
        diff_context_lines: Some(CONTEXT_LINES),
        ..PatchOptions::default()
    };
    for attempt in 1.. {
        let operations = operations(call, plan, args.remove)?;
        if let Some(missing) =
            plan.missing.as_ref().filter(|_| !args.remove && !operations.is_empty())
        {
            return Err(not_installed(missing, &name_of(agent)).into());
        }
        if operations.is_empty() {
            let state = if args.remove { "not set up" } else { "already set up" };
            say(&format!("hashline is {state} in {}: no file was changed", paths(plan)));
            break;
        }
        let patch = Patch::from_json(&json!({"operations": operations}).to_string())?;
        match call.files.apply(&patch, &options, &call.cancel) {
            Ok(Outcome::Applied(applied)) => {
                let shown = if call.shared.json {
                    call.out.json(&Outcome::Applied(applied)).map_err(Failure::from)
                } else {
                    apply::show_diff(call, &applied)
                };
                shown.map_err(|failure| failure.after("the files were changed"))?;
                break;
            }
            Ok(Outcome::Rejected(_)) if attempt < ATTEMPTS => {}
            Ok(Outcome::Rejected(rejected)) => {
                let failure = rejected.failures.into_iter().next();
                let error = failure.map_or_else(
                    || Error::new(Code::Internal, "a refusal without reason"),
                    |failure| Error::new(failure.code, failure.message),
                );
                return Err(unwritable(error, plan, args.remove).into());
            }
            Err(error) if error.code == Code::Aborted => return Err(error.into()),
            Err(error) => return Err(unwritable(error, plan, args.remove).into()),
        }
    }
    Ok(())
}

/// The refusal of commands for an agent that starts no server.
fn has_no_server(agent: &str) -> Error {
    Error::argument(format!(
        "--after is an option of the MCP server, and {agent} uses a plug-in instead of it, so no file was changed"
    ))
}

/// The refusal to allow the edit tool where no file can.
fn has_no_permission(agent: &str, allow: Allow) -> Error {
    let why = match allow {
        Allow::Dialog => {
            "stores permissions itself. Omit --allow, and choose to always allow `apply` when it asks."
        }
        _ => "needs no permission for the plug-in's tools. Omit --allow.",
    };
    Error::argument(format!("no file was changed: {agent} {why}"))
}

fn name_of(agent: SetupAgent) -> String {
    agent.to_possible_value().map_or_else(String::new, |one| one.get_name().to_owned())
}

/// The refusal to name a plug-in in a configuration that the agent could not load.
fn not_installed(missing: &MissingPackage, agent: &str) -> Error {
    let MissingPackage { name, path } = missing;
    Error::argument(format!(
        "the plug-in {name} is not installed next to this program ({path} does not exist), so no file was changed. Run `npm start` and `npm run plugin -- {agent} DIR` in a clone of hashline-native: they install both in DIR. Then run `DIR/node_modules/.bin/hashline setup {agent}`"
    ))
}

/// A failed write, with what to do by hand: the files may belong to a program that generates them.
fn unwritable(error: Error, plan: &Plan, removes: bool) -> Error {
    let what = "cannot write the configuration, so no file was changed: ";
    if removes {
        return error.within(what, "");
    }
    let by_hand: String = plan.targets.iter().map(by_hand).collect();
    error.within(what, format!(". To set it up by hand, add:{by_hand}"))
}

/// The entries of a file, as the file would have them if it had nothing else.
fn by_hand(target: &Target) -> String {
    let text = match target.format {
        Format::Json => json::fresh(&target.entries),
        Format::Toml => toml::put("", "", &target.entries).unwrap_or_default(),
        Format::Yaml => yaml::fresh(&target.entries),
    };
    format!("\n\n{}:\n{}", target.path.display(), text.trim_end())
}

/// The directory of the project, if the project is set up.
fn project(call: &Call<'_>, args: &Setup) -> Result<Option<PathBuf>> {
    if !args.project {
        return Ok(None);
    }
    let here = std::path::absolute(call.shared.root().unwrap_or("."));
    here.map(Some).map_err(|cause| Error::io("find", ".", &cause))
}

fn operations(call: &Call<'_>, plan: &Plan, removes: bool) -> Result<Vec<Value>> {
    let mut operations = Vec::new();
    let replaced = plan.replaced.iter().map(|target| (target, true));
    for (target, removes) in plan.targets.iter().map(|target| (target, removes)).chain(replaced) {
        let path = text_of(target.path.clone())?;
        let old = content(&path)?;
        let of_target = match target.format {
            Format::Json => json_operations(call, target, &path, old.as_deref(), removes)?,
            Format::Toml | Format::Yaml => text_operations(target, &path, old.as_deref(), removes)?,
        };
        operations.extend(of_target);
    }
    Ok(operations)
}

fn json_operations(
    call: &Call<'_>,
    target: &Target,
    path: &str,
    old: Option<&str>,
    removes: bool,
) -> Result<Vec<Value>> {
    let document = Document::of(call.files.workspace(), path, old.unwrap_or_default())?;
    let Some(document) = document else {
        let fresh = || whole(target, path, old, &json::fresh(&target.entries));
        return Ok(if removes { Vec::new() } else { fresh() });
    };
    let mut operations = match removes {
        false => document.put(&target.entries)?,
        true => match document.take(&target.entries)? {
            Removal::Operations(operations) => operations,
            Removal::Whole if target.path.is_symlink() => {
                return Ok(whole(target, path, old, "{}\n"));
            }
            Removal::Whole => return Ok(whole(target, path, old, "")),
        },
    };
    if let Some(hooks) = &target.edit_hooks {
        operations.extend(document.set_matchers(hooks, removes)?);
    }
    Ok(operations)
}

fn text_operations(
    target: &Target,
    path: &str,
    old: Option<&str>,
    removes: bool,
) -> Result<Vec<Value>> {
    let text = old.unwrap_or_default();
    let edit = match (target.format, removes) {
        (Format::Yaml, false) => yaml::put,
        (Format::Yaml, true) => yaml::take,
        (_, false) => toml::put,
        (_, true) => toml::take,
    };
    let mut new = edit(path, text, &target.entries)?;
    if let Some(hooks) = &target.edit_hooks {
        new = toml::set_matchers(path, &new, hooks, removes)?;
    }
    Ok(if new == text { Vec::new() } else { whole(target, path, old, &new) })
}

/// Writes the whole file. An empty text deletes the file, unless it is a link.
fn whole(target: &Target, path: &str, old: Option<&str>, new: &str) -> Vec<Value> {
    vec![match old {
        None => json!({"op": "add_file", "path": path, "content": new}),
        Some(_) if new.is_empty() && !target.path.is_symlink() => {
            json!({"op": "delete_file", "path": path})
        }
        Some("") => json!({"op": "insert_after", "path": path, "anchor": "BOF", "text": new}),
        // The new text has the ends of the lines as they will be.
        Some(old) => json!({
            "op": "replace_text", "path": path, "old_text": old, "new_text": new, "verbatim": true,
        }),
    }]
}

/// The text of a file, if it exists, without its byte order mark, which edits preserve.
fn content(path: &str) -> Result<Option<String>> {
    let invalid = |cause| std::io::Error::new(std::io::ErrorKind::InvalidData, cause);
    let bytes = read_start(Path::new(path), u64::MAX);
    match bytes.and_then(|bytes| String::from_utf8(bytes).map_err(invalid)) {
        Ok(text) => Ok(Some(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => match path_of_link(path) {
            Some(target) => Err(Error::at(
                Code::FileNotFound,
                path,
                format!(
                    "{path} is a link to {target}, which does not exist, so no file was changed. Create that file or remove the link, and run the command again."
                ),
            )),
            None => Ok(None),
        },
        Err(cause) => Err(Error::io("read", path, &cause)),
    }
}

fn path_of_link(path: &str) -> Option<String> {
    Some(shown(&std::fs::read_link(path).ok()?.to_string_lossy()))
}

/// The most characters of a foreign text in a message.
const SHOWN_CHARS: usize = 300;

/// A foreign text in a message: one line, not long, without control characters.
fn shown(text: &str) -> String {
    let end = text.char_indices().nth(SHOWN_CHARS).map_or(text.len(), |(at, _)| at);
    let rest = if end < text.len() { "…" } else { "" };
    one_line(&text[..end]).into_owned() + rest
}

fn text_of(path: PathBuf) -> Result<String> {
    path.into_os_string().into_string().map_err(|path| {
        Error::argument(format!(
            "the path {path:?} is not UTF-8, which the configuration requires. Rename it."
        ))
    })
}

fn paths(plan: &Plan) -> String {
    let paths: Vec<_> = plan.targets.iter().map(|one| one.path.display().to_string()).collect();
    paths.join(" and ")
}
