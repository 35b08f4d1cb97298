//! `apply`: a patch on files.

use hashline_core::{Applied, Outcome, PatchOptions, Relocation};

use super::json;
use crate::args::Apply;
use crate::call::Call;
use crate::exit::{Exit, Failure, say};
use crate::input::patch;
use crate::{diff_view, interrupt, mismatch};

/// Lines around each change of a document that are shown with it.
const VALUES_CONTEXT_LINES: u64 = 2;

/// How a report begins to tell of a patch that was interrupted, and that this call recovered.
const RECOVERED: &str = "An interrupted patch was recovered: ";

/// What anchors a report of success shows.
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
    match call.files.apply(&patch, &options, &call.cancel)? {
        Outcome::Rejected(rejected) => mismatch::tell(call, rejected),
        Outcome::Applied(applied) => {
            tell_liberties(&applied);
            let told = show(call, args, anchors, applied);
            if args.dry_run {
                told?;
            } else {
                told.map_err(|failure| failure.after("the patch was applied"))?;
            }
            Ok(Exit::Done)
        }
    }
}

/// Prints what was asked for of a patch that was applied, to the last byte.
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

/// What would change: a view for eyes, or a unified diff.
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

/// The changed regions with their new anchors. A file that the patch names alone needs no header,
/// unless that has the tag of the version.
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

/// Tells what was done otherwise than asked for, even where success is silent.
fn tell_liberties(applied: &Applied) {
    for relocation in &applied.relocations {
        let Relocation { path, from, to, .. } = relocation;
        say(&format!("{path}: {from} was not found there, and {to} was used"));
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
        let (operation, told, rule) = (repair.operation, &repair.description, repair.rule.name());
        say(&format!("operation {operation}: {told} ({rule})"));
    }
}
