//! A patch in any shape → operations.

use super::controls::nul_failures;
use super::failures::{Failures, rejected};
use super::versions::stale_text;
use crate::edit::outcome::{Failure, Outcome, Warning, WarningCode};
use crate::edit::report::HunkNames;
use crate::edit::request::{Operations, Patch, PatchKind, parse, script_text, whole_file_error};
use crate::edit::script::{LoweredScript, Registers, lower};
use crate::view::scope::Host;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error};
use hashline_lines::dialect::Dialect;
use hashline_omp::{Script, ScriptProblem, read_script};

/// A patch on files that was parsed before its turn, or its failures.
pub struct ReadPatch(Result<PatchForm, Vec<Failure>>);

/// A parsed patch.
enum PatchForm {
    Operations(Operations),
    /// In oh-my-pi's language. It is lowered in its turn, when the contents of registers are known.
    Script(Script),
}

impl ReadPatch {
    /// Parses a patch.
    pub fn of(dialect: &Dialect, patch: &Patch, cancel: &Cancel) -> ReadPatch {
        ReadPatch(match script_text(patch.value(), cancel) {
            None => parse(dialect, PatchKind::Files, patch.value(), cancel)
                .and_then(without_nul)
                .map(PatchForm::Operations),
            Some(Err(error)) => Err(vec![Failure::new(0, None, error)]),
            Some(Ok(text)) => script_of(text, cancel).map(PatchForm::Script),
        })
    }

    /// The operations that undo a patch.
    pub fn of_undo(operations: Operations) -> ReadPatch {
        ReadPatch(Ok(PatchForm::Operations(operations)))
    }

    /// Whether the patch is refused without waiting for its turn.
    pub fn is_malformed(&self) -> bool {
        self.0.is_err()
    }

    /// The operations of the patch.
    pub(super) fn operations(
        self,
        registers: Option<&Registers>,
    ) -> Result<Operations, Vec<Failure>> {
        match self.0? {
            PatchForm::Operations(operations) => Ok(operations),
            PatchForm::Script(script) => lowered(script, registers).and_then(without_nul),
        }
    }
}

/// Refuses operations whose texts have NUL.
fn without_nul(operations: Operations) -> Result<Operations, Vec<Failure>> {
    let failures = nul_failures(&operations);
    if failures.is_empty() { Ok(operations) } else { Err(failures) }
}

/// The operations of a patch on a text in memory, or the refusal. Only a patch in oh-my-pi's
/// language gives the text a name.
pub(super) fn operations_on_text(
    dialect: &'static Dialect,
    patch: &Patch,
    text: &str,
) -> Result<Operations, Box<Outcome>> {
    let cancel = &Cancel::default();
    // A refusal for a text in memory names no option, so the spelling does not matter.
    let refused = |failures| {
        Box::new(rejected(Failures::of(failures), &Host::default(), HunkNames::default()))
    };
    let Some(script) = script_text(patch.value(), cancel) else {
        let operations = parse(dialect, PatchKind::Text, patch.value(), cancel);
        return operations.and_then(without_nul).map_err(refused);
    };
    let script = script.map_err(|error| refused(vec![Failure::new(0, None, error)]))?;
    let script = script_of(script, cancel).map_err(refused)?;
    let operations = lowered(script, None).and_then(without_nul).map_err(refused)?;
    let mut failures = Failures::default();
    let name = operations.versions.first().map(|first| first.path.as_str());
    for version in &operations.versions {
        if Some(version.path.as_str()) == name {
            let stale = stale_text(dialect, text.as_bytes(), &operations, version);
            failures.extend(stale.unwrap_or_default());
        } else {
            let message = "a text in memory is one file: the patch names several";
            let error = Error::new(Code::InvalidOperation, message);
            failures.push(version.operation, Some(&version.path), error);
        }
    }
    for one in &operations.files {
        failures.push(one.index, Some(&one.path), whole_file_error());
    }
    if failures.is_empty() {
        Ok(operations)
    } else {
        Err(Box::new(rejected(failures, &Host::default(), HunkNames::of(&operations))))
    }
}

/// Parses a patch in oh-my-pi's language.
fn script_of(text: &str, cancel: &Cancel) -> Result<Script, Vec<Failure>> {
    let script = read_script(text, cancel).map_err(|error| vec![Failure::new(0, None, error)])?;
    script.map_err(failures)
}

/// The operations of a patch in oh-my-pi's language.
fn lowered(script: Script, registers: Option<&Registers>) -> Result<Operations, Vec<Failure>> {
    let LoweredScript { mut operations, notes } = lower(script, registers).map_err(failures)?;
    let path_of = |hunk: usize| operations.path_of(hunk).unwrap_or_default().to_owned();
    let warnings = notes.into_iter().map(|note| Warning {
        code: WarningCode::Reading,
        operation: Some(note.hunk),
        path: path_of(note.hunk),
        message: format!("Row {} of the patch: {}.", note.row, note.what).into(),
    });
    operations.warnings = warnings.collect();
    Ok(operations)
}

fn failures(problems: Vec<ScriptProblem>) -> Vec<Failure> {
    problems.into_iter().map(failure).collect()
}

fn failure(problem: ScriptProblem) -> Failure {
    let message = format!("row {} of the patch: {}", problem.row, problem.what);
    Failure::new(problem.hunk, None, Error::new(Code::InvalidOperation, message))
}
