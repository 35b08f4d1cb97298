//! `--list`: the agents, whether they are found on this computer, and whether they are set up.

use clap::ValueEnum;
use serde_json::{Value, json};

use super::agents::{self, Format};
use super::{hosts, name_of, operations, trial};
use crate::args::SetupAgent;
use crate::call::Call;
use crate::exit::{Exit, Failure};

/// Prints a line for each agent, or all as JSON.
pub fn print(call: &mut Call<'_>, program: &str) -> Result<Exit, Failure> {
    let rows = SetupAgent::value_variants().iter().map(|&agent| row(call, agent, program));
    let rows: Vec<Value> = rows.collect::<Result<_, Failure>>()?;
    if call.shared.json {
        call.out.json(&rows)?;
        return Ok(Exit::Done);
    }
    for row in &rows {
        let field = |name: &str| row[name].as_str().unwrap_or_default();
        let is = |name: &str, word: &'static str| if row[name] == true { word } else { "-" };
        let (found, set_up) = (is("found", "found"), is("isSetUp", "set up"));
        let (agent, gets, file) = (field("agent"), field("gets"), field("file"));
        call.out.line(&format!("{agent:<10}{found:<7}{set_up:<8}{gets:<17}{file}"))?;
    }
    Ok(Exit::Done)
}

fn row(call: &Call<'_>, agent: SetupAgent, program: &str) -> Result<Value, Failure> {
    let (own_program, directory) = agents::presence(agent)?;
    let found = directory.is_dir() || own_program.is_some_and(|name| trial::find(name).is_some());
    let Some(plan) = agents::plan(agent, None, program)? else { return Ok(Value::Null) };
    // A file that cannot be edited has a message of its own when the agent is set up. One in YAML
    // has an entry that only its user can remove.
    let is_set_up = match operations(call, &plan, true) {
        Ok(removed) => !removed.is_empty(),
        Err(_) => plan.targets.iter().any(|target| target.format == Format::Yaml),
    };
    let gets = match (plan.hook.is_some(), hosts::of(agent).is_some() || plan.has_server) {
        (true, _) => "server and hook",
        (false, true) => "server",
        (false, false) => "plug-in",
    };
    let file = plan.targets.first().map(|target| target.path.display().to_string());
    let agent = name_of(agent);
    Ok(json!({"agent": agent, "found": found, "isSetUp": is_set_up, "gets": gets, "file": file}))
}
