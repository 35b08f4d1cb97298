//! `doctor`: this program, and whether edits are safe where it runs.

use hashline_core::disk::commit::{StateReport, Trial};
use hashline_core::text::dialect::DIALECTS;

use super::Call;
use crate::exit::{Exit, Failure, complain};

/// `hashline doctor`
pub fn doctor(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let program = std::env::current_exe();
    let program = program.map_or_else(|cause| cause.to_string(), |path| path.display().to_string());
    let names: Vec<_> = DIALECTS.iter().map(|one| one.name).collect();
    let dialect = call.workspace.options().dialect.name;
    call.out.line(&format!("program   {program}"))?;
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    let version = env!("CARGO_PKG_VERSION");
    call.out.line(&format!("version   {version}, {system} on {processor}"))?;
    call.out.line(&format!("dialects  {}; in use: {dialect}", names.join(", ")))?;
    match call.workspace.examine_state() {
        Ok(report) => {
            print(call, &report)?;
            Ok(if report.is_sound() { Exit::Done } else { Exit::Trouble })
        }
        Err(error) => {
            complain(&error, call.shared.json);
            Ok(Exit::Trouble)
        }
    }
}

fn print(call: &mut Call<'_>, report: &StateReport) -> Result<(), Failure> {
    call.out.line(&format!("state     {}", report.path))?;
    let advice = if report.waiting.is_empty() { "" } else { " (hashline recover)" };
    call.out.line(&format!(
        "patches   {} waiting for recovery{advice}, {} at work, {} damaged",
        report.waiting.len(),
        report.live,
        report.damaged.len()
    ))?;
    for journal in report.waiting.iter().chain(&report.damaged) {
        call.out.line(&format!("          {journal}"))?;
    }
    for trial in &report.trials {
        call.out.line(&row(trial))?;
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
