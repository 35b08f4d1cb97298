//! `doctor`: reports on this program, and whether edits are safe here.

use hashline_core::DIALECTS;
use hashline_core::{StateReport, Trial};
use serde::Serialize;

use crate::call::Call;
use crate::exit::{Exit, Failure, complain};

/// The report.
#[derive(Serialize)]
struct Report {
    program: String,
    version: &'static str,
    system: &'static str,
    processor: &'static str,
    dialects: Vec<&'static str>,
    dialect: &'static str,
    /// `None` if the state directory cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<StateReport>,
}

/// `hashline doctor`
pub fn doctor(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let program = std::env::current_exe();
    let (state, failure) = match call.files.workspace().examine_state() {
        Ok(state) => (Some(state), None),
        Err(error) => (None, Some(error)),
    };
    let report = Report {
        program: program.map_or_else(|cause| cause.to_string(), |path| path.display().to_string()),
        version: env!("CARGO_PKG_VERSION"),
        system: std::env::consts::OS,
        processor: std::env::consts::ARCH,
        dialects: DIALECTS.iter().map(|one| one.name).collect(),
        dialect: call.files.workspace().options().dialect.name,
        state,
    };
    if call.shared.json {
        call.out.json(&report)?;
    } else {
        print(call, &report)?;
    }
    if let Some(error) = failure {
        complain(&error, call.shared.json);
    }
    let is_sound = report.state.is_some_and(|state| state.is_sound());
    Ok(if is_sound { Exit::Done } else { Exit::Error })
}

fn print(call: &mut Call<'_>, report: &Report) -> Result<(), Failure> {
    let Report { program, version, system, processor, dialects, dialect, state } = report;
    let mut lines = vec![
        format!("program   {program}"),
        format!("version   {version}, {system} on {processor}"),
        format!("dialects  {}; in use: {dialect}", dialects.join(", ")),
    ];
    lines.extend(state.iter().flat_map(rows));
    for line in lines {
        call.out.line(&line)?;
    }
    Ok(())
}

fn rows(state: &StateReport) -> Vec<String> {
    let waiting = state.waiting.len();
    let advice = if waiting == 0 { "" } else { " (hashline recover)" };
    let (live, damaged) = (state.live, state.damaged.len());
    let mut rows = vec![
        format!("state     {}", state.path),
        format!(
            "patches   {waiting} waiting for recovery{advice}, {live} in progress, {damaged} damaged"
        ),
    ];
    let journals = state.waiting.iter().chain(&state.damaged);
    rows.extend(journals.map(|journal| format!("          {journal}")));
    rows.extend(state.trials.iter().map(row));
    rows
}

fn row(trial: &Trial) -> String {
    let name = trial.name;
    match &trial.failure {
        None => format!("ok        {name}"),
        Some(why) if trial.is_needed => format!("FAILED    {name}: {why}"),
        Some(why) => format!("missing   {name}: {why}; a fallback is used"),
    }
}
