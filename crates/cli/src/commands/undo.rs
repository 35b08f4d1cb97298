//! `undo`: undoes the last patches of a session, or lists them.

use std::time::{Duration, UNIX_EPOCH};

use hashline_core::{
    Applied, Change, FileChange, Outcome, PatchOptions, UndoRequest, UndoablePatch,
};
use humantime::format_rfc3339_seconds;

use super::apply::show_diff;
use crate::args::{DIFF_CONTEXT_LINES, Undo};
use crate::call::Call;
use crate::exit::{Exit, Failure};
use crate::{interrupt, mismatch};

/// `hashline undo`
pub fn undo(call: &mut Call<'_>, args: &Undo) -> Result<Exit, Failure> {
    if args.list {
        let patches = call.files.session("undo")?.undoable();
        return list(call, &patches);
    }
    interrupt::asks(&call.cancel);
    let options = PatchOptions {
        dry_run: args.dry_run,
        diff_context_lines: (args.dry_run || call.shared.json).then_some(DIFF_CONTEXT_LINES),
        is_silent: true,
        ..PatchOptions::default()
    };
    let request = UndoRequest { turns: args.turns as usize, discard: args.discard };
    let session = call.files.session("undo")?;
    let mut outcomes = session.undo(&request, &options, &call.cancel)?;
    if call.shared.json {
        let is_refused = matches!(outcomes.last(), Some(Outcome::Rejected(_)));
        call.out.json(&outcomes)?;
        return Ok(if is_refused { Exit::Error } else { Exit::Done });
    }
    let refused = match outcomes.pop() {
        Some(Outcome::Rejected(rejected)) => Some(rejected),
        last => {
            outcomes.extend(last);
            None
        }
    };
    if outcomes.is_empty() && refused.is_none() {
        call.out.line("nothing to undo")?;
    }
    for outcome in &outcomes {
        let Outcome::Applied(applied) = outcome else { continue };
        if args.dry_run {
            show_diff(call, applied)?;
        } else {
            call.out.line(&summary(applied))?;
        }
    }
    call.out.flush()?;
    match refused {
        Some(rejected) => mismatch::report(call, rejected),
        None => Ok(Exit::Done),
    }
}

/// Prints the patches that can be undone, the newest first, a line each.
fn list(call: &mut Call<'_>, patches: &[UndoablePatch]) -> Result<Exit, Failure> {
    if call.shared.json {
        call.out.json(&patches)?;
        return Ok(Exit::Done);
    }
    for patch in patches {
        let time = UNIX_EPOCH + Duration::from_millis(patch.time_ms);
        let refused = patch.refused.as_ref();
        let why = refused.map(|why| format!(" (cannot be undone: {why})")).unwrap_or_default();
        let files = patch.files.join(", ");
        call.out.line(&format!("{}  {files}{why}", format_rfc3339_seconds(time)))?;
    }
    if patches.is_empty() {
        call.out.line("nothing to undo")?;
    }
    Ok(Exit::Done)
}

/// What an undo did to each file.
fn summary(applied: &Applied) -> String {
    let part = |file: &FileChange| match (file.change, &file.from) {
        (Change::Edited, None) => format!("{} restored", file.path),
        (Change::Edited | Change::Moved, from) => {
            format!("{} moved back to {}", from.as_deref().unwrap_or_default(), file.path)
        }
        (change, _) => format!("{} {}", file.path, change.as_str()),
    };
    if applied.files.is_empty() {
        return applied.text.clone();
    }
    format!("undone: {}", applied.files.iter().map(part).collect::<Vec<_>>().join(", "))
}
