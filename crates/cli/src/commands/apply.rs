//! `apply`: applies a patch to files.

use hashline_core::{AfterWrite, Applied, Diagnostic, Outcome, PatchOptions, Relocation};

use super::json;
use crate::args::Apply;
use crate::call::Call;
use crate::exit::{Exit, Failure, say};
use crate::input::patch;
use crate::{diff_view, interrupt, mismatch};

/// The lines of context that are shown around each change of a document.
const VALUES_CONTEXT_LINES: u64 = 2;

/// The start of a row about an interrupted patch that this call recovered.
const RECOVERED: &str = "An interrupted patch was recovered: ";

/// The anchors in a report of success.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Anchors {
    /// The anchors of lines.
    Lines,
    /// The anchors of values in JSON documents.
    Values,
}

/// `hashline apply` and `hashline json-apply`
pub fn apply(call: &mut Call<'_>, args: &Apply, anchors: Anchors) -> Result<Exit, Failure> {
    let patch = patch(&args.input, call.files.workspace().options().max_file_bytes)?;
    interrupt::asks(&call.cancel);
    let options = PatchOptions {
        dry_run: args.dry_run,
        is_silent: !(call.shared.json || args.emit_updated && anchors == Anchors::Lines),
        diff_context_lines: match anchors {
            Anchors::Values if args.emit_updated && !args.dry_run => Some(VALUES_CONTEXT_LINES),
            _ => args.dry_run.then_some(args.context),
        },
        ..PatchOptions::default()
    };
    let commands = args.after.commands();
    let outcome = if args.dry_run || commands.is_empty() {
        call.files.apply(&patch, &options, &call.cancel)?
    } else {
        let (outcome, after) =
            call.files.apply_and_run(&patch, &options, &commands, &call.cancel)?;
        if options.is_silent {
            report_commands(&after);
        }
        outcome
    };
    match outcome {
        Outcome::Rejected(rejected) => mismatch::report(call, rejected),
        Outcome::Applied(applied) => {
            report_deviations(&applied);
            let shown = show(call, args, anchors, applied);
            if args.dry_run {
                shown?;
            } else {
                shown.map_err(|failure| failure.after("the patch was applied"))?;
            }
            Ok(Exit::Done)
        }
    }
}

/// Reports what commands said about the written files, where the answer is not printed.
fn report_commands(after: &AfterWrite) {
    after.notes.iter().for_each(|note| say(note));
    for Diagnostic { path, line, column, severity, message } in &after.diagnostics {
        let column = column.map(|column| format!(":{column}")).unwrap_or_default();
        say(&format!("{path}:{line}{column}: {}: {message}", severity.as_str()));
    }
}

/// Prints what the options ask for, and flushes it.
fn show(
    call: &mut Call<'_>,
    args: &Apply,
    anchors: Anchors,
    applied: Applied,
) -> Result<(), Failure> {
    if call.shared.json {
        call.out.json(&Outcome::Applied(applied))?;
    } else if args.dry_run {
        show_diff(call, &applied)?;
    } else if args.emit_updated {
        match anchors {
            Anchors::Lines => show_updated(call, &applied)?,
            Anchors::Values => json::show_updated(call, &applied)?,
        }
    }
    Ok(call.out.flush()?)
}

/// Shows the changes: formatted on a terminal, otherwise as a unified diff.
pub fn show_diff(call: &mut Call<'_>, applied: &Applied) -> Result<(), Failure> {
    if call.out.is_terminal() {
        let view = diff_view::view(&applied.files, call.out.painter());
        call.out.bytes(view.as_bytes())?;
        return Ok(());
    }
    for diff in applied.files.iter().filter_map(|file| file.diff.as_ref()) {
        call.out.unified_diff(&diff.text)?;
    }
    Ok(())
}

/// The changed regions with their new anchors. A single file needs no header, unless the header has
/// the tag of the version.
fn show_updated(call: &mut Call<'_>, applied: &Applied) -> Result<(), Failure> {
    let has_hashes = call.files.workspace().options().dialect.has_hashes();
    let needs_no_header = has_hashes && applied.is_about_one_file && applied.files.len() == 1;
    let text = match applied.text.split_once('\n') {
        Some((_header, rows)) if needs_no_header => rows,
        _ => &applied.text,
    };
    call.out.rows("---")?;
    call.out.rows(text)?;
    Ok(())
}

/// Reports deviations from the request, even with silent output.
fn report_deviations(applied: &Applied) {
    for relocation in &applied.relocations {
        let Relocation { path, from, to, .. } = relocation;
        say(&format!("{path}: {from} was not found in its line, so {to} was used"));
    }
    for row in applied.text.lines().filter(|row| row.starts_with(RECOVERED)) {
        say(row);
    }
    for warning in &applied.warnings {
        say(&warning.message);
    }
    if let Some(stop) = &applied.stop {
        say(stop);
    }
    for repair in &applied.repairs {
        let (operation, message, rule) =
            (repair.operation, &repair.description, repair.rule.name());
        say(&format!("operation {operation}: {message} ({rule})"));
    }
}
