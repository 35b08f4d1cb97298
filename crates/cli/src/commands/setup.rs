//! `setup`: writes an agent's own configuration, removes it again, and tests it.
//!
//! `agents` defines the entries of each agent, `entry` recognizes them in a file, `change` computes
//! the changes, and `json` and `toml` apply them. `trial` runs the hook and the server as the agent
//! does, with a command line of `shell`. All files of an agent change in one patch, or none does.

mod agents;
mod change;
mod entry;
mod json;
mod shell;
mod toml;
mod trial;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hashline_core::host::read_start;
use hashline_core::{Code, Error, Outcome, Patch, PatchOptions, Result};
use serde_json::{Value, json};

use super::apply;
use crate::args::{Setup, SetupAgent};
use crate::call::Call;
use crate::exit::{Exit, Failure, say};
use crate::interrupt;
use agents::{Format, MissingPackage, Plan, Target};
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
    let plan = agents::plan(args.agent, project(call, args)?.as_deref(), &program)?;
    let server_args = args.after.arguments();
    if !plan.has_server && !server_args.is_empty() {
        return Err(has_no_server(args).into());
    }
    let plan = plan.with_server_args(server_args);
    interrupt::asks(&call.cancel);
    let options = PatchOptions {
        dry_run: args.dry_run,
        is_silent: false,
        diff_context_lines: Some(CONTEXT_LINES),
        ..PatchOptions::default()
    };
    for attempt in 1.. {
        let operations = operations(call, &plan, args.remove)?;
        if let Some(missing) =
            plan.missing.as_ref().filter(|_| !args.remove && !operations.is_empty())
        {
            return Err(not_installed(missing, args).into());
        }
        if operations.is_empty() {
            let state = if args.remove {
                "hashline is not set up in"
            } else {
                "hashline is already set up in"
            };
            say(&format!("{state} {}: no file was changed", paths(&plan)));
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
                return Err(unwritable(error, &plan, args.remove).into());
            }
            Err(error) if error.code == Code::Aborted => return Err(error.into()),
            Err(error) => return Err(unwritable(error, &plan, args.remove).into()),
        }
    }
    call.out.flush()?;
    if args.dry_run || args.remove {
        return Ok(Exit::Done);
    }
    for line in trial::run(&plan, &program)? {
        say(&line);
    }
    Ok(Exit::Done)
}

/// The refusal of commands for an agent that starts no server.
fn has_no_server(args: &Setup) -> Error {
    let agent = name_of(args.agent);
    Error::argument(format!(
        "--after is an option of the MCP server, and {agent} uses a plug-in instead of it, so no file was changed"
    ))
}

fn name_of(agent: SetupAgent) -> String {
    agent.to_possible_value().map_or_else(String::new, |one| one.get_name().to_owned())
}

/// The refusal to name a plug-in in a configuration that the agent could not load.
fn not_installed(missing: &MissingPackage, args: &Setup) -> Error {
    let MissingPackage { name, path } = missing;
    let agent = name_of(args.agent);
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
            Format::Toml => toml_operations(target, &path, old.as_deref(), removes)?,
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
    match (document, removes) {
        (None, true) => Ok(Vec::new()),
        (None, false) => Ok(whole(target, path, old, &json::fresh(&target.entries))),
        (Some(document), false) => document.put(&target.entries),
        (Some(document), true) => match document.take(&target.entries)? {
            Removal::Operations(operations) => Ok(operations),
            Removal::Whole if target.path.is_symlink() => Ok(whole(target, path, old, "{}\n")),
            Removal::Whole => Ok(whole(target, path, old, "")),
        },
    }
}

fn toml_operations(
    target: &Target,
    path: &str,
    old: Option<&str>,
    removes: bool,
) -> Result<Vec<Value>> {
    let text = old.unwrap_or_default();
    let edit = if removes { toml::take } else { toml::put };
    let new = edit(path, text, &target.entries)?;
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
    Some(std::fs::read_link(path).ok()?.display().to_string())
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
