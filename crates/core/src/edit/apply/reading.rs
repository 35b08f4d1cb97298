//! A patch as a caller passes it on → operations, whichever shape it has.

use crate::cancel::Cancel;
use crate::edit::outcome::{Failure, Warning, WarningCode};
use crate::edit::request::{Operations, Patch, PatchKind, parse, script_text};
use crate::edit::script::{LoweredScript, Registers, ScriptProblem, lower, read_script};
use crate::error::{Code, Error};
use crate::text::dialect::Dialect;

/// Operations on files, or every reason why there are none.
pub(super) fn operations(
    dialect: &Dialect,
    patch: &Patch,
    registers: Option<&Registers>,
    cancel: &Cancel,
) -> Result<Operations, Vec<Failure>> {
    match script_text(patch.value(), cancel) {
        None => parse(dialect, PatchKind::Files, patch.value(), cancel),
        Some(Err(error)) => Err(vec![Failure::new(0, None, error)]),
        Some(Ok(text)) => of_script(text, registers, cancel),
    }
}

/// The operations of a patch in oh-my-pi's language.
fn of_script(
    text: &str,
    registers: Option<&Registers>,
    cancel: &Cancel,
) -> Result<Operations, Vec<Failure>> {
    let refused =
        |problems: Vec<ScriptProblem>| problems.into_iter().map(failure).collect::<Vec<_>>();
    let script = read_script(text, cancel).map_err(|error| vec![Failure::new(0, None, error)])?;
    let lowered = lower(script.map_err(refused)?, registers).map_err(refused)?;
    let LoweredScript { mut operations, notes } = lowered;
    let path_of = |hunk: usize| operations.path_of(hunk).unwrap_or_default().to_owned();
    let warnings = notes.into_iter().map(|note| Warning {
        code: WarningCode::Reading,
        operation: Some(note.hunk),
        path: path_of(note.hunk),
        message: format!("Row {} of the patch: {}.", note.row, note.what),
    });
    operations.warnings = warnings.collect();
    Ok(operations)
}

fn failure(problem: ScriptProblem) -> Failure {
    let message = format!("row {} of the patch: {}", problem.row, problem.what);
    Failure::new(problem.hunk, None, Error::new(Code::InvalidOperation, message))
}
