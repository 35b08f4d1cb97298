//! `doctor`: this program, and whether edits are safe where it runs.

use hashline_core::DIALECTS;
use hashline_core::{StateReport, Trial};
use serde::Serialize;

use super::Call;
use crate::exit::{Exit, Failure};

/// What there is to tell.
#[derive(Serialize)]
struct Report {
    program: String,
    version: &'static str,
    system: &'static str,
    processor: &'static str,
    dialects: Vec<&'static str>,
    dialect: &'static str,
    state: StateReport,
}

/// `hashline doctor`
pub fn doctor(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let program = std::env::current_exe();
    let report = Report {
        program: program.map_or_else(|cause| cause.to_string(), |path| path.display().to_string()),
        version: env!("CARGO_PKG_VERSION"),
        system: std::env::consts::OS,
        processor: std::env::consts::ARCH,
        dialects: DIALECTS.iter().map(|one| one.name).collect(),
        dialect: call.files.workspace().options().dialect.name,
        state: call.files.workspace().examine_state()?,
    };
    if call.shared.json {
        call.out.json(&report)?;
    } else {
        print(call, &report)?;
    }
    Ok(if report.state.is_sound() { Exit::Done } else { Exit::Trouble })
}

fn print(call: &mut Call<'_>, report: &Report) -> Result<(), Failure> {
    let Report { program, version, system, processor, dialects, dialect, state } = report;
    let waiting = state.waiting.len();
    let advice = if waiting == 0 { "" } else { " (hashline recover)" };
    let (live, damaged) = (state.live, state.damaged.len());
    let lines = [
        format!("program   {program}"),
        format!("version   {version}, {system} on {processor}"),
        format!("dialects  {}; in use: {dialect}", dialects.join(", ")),
        format!("state     {}", state.path),
        format!(
            "patches   {waiting} waiting for recovery{advice}, {live} at work, {damaged} damaged"
        ),
    ];
    let journals = state.waiting.iter().chain(&state.damaged);
    let journals = journals.map(|journal| format!("          {journal}"));
    for line in lines.into_iter().chain(journals).chain(state.trials.iter().map(row)) {
        call.out.line(&line)?;
    }
    Ok(())
}

fn row(trial: &Trial) -> String {
    let name = trial.name;
    match &trial.failure {
        None => format!("ok        {name}"),
        Some(why) if trial.is_needed => format!("FAILED    {name}: {why}"),
        Some(why) => format!("missing   {name}: {why}; there is another way"),
    }
}
