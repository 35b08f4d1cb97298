//! The core's outcome of an edit → what JavaScript sees.

use hashline_core::{self as core, NoopReason, Outcome};
use napi::bindgen_prelude::{Either, ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};
use napi_derive::napi;

use super::fault::Result;
use super::js::Js;
use super::text::{Text, Word};

/// What `applyHash` did, or why it did nothing: declared in `patch.d.ts`.
pub type ApplyOutcome = Either<AppliedOutcome, RejectedOutcome>;

/// What `applyHashToText` did, or why it did nothing: declared in `patch.d.ts`.
pub type TextOutcome = Either<AppliedText, RejectedOutcome>;

/// Every operation was carried out, or had nothing to do.
#[napi(object, object_from_js = false)]
pub struct AppliedOutcome {
    /// Tells this outcome from a refusal.
    #[napi(ts_type = "'applied'")]
    pub status: Word,
    /// The files that changed, in the order of their first operation.
    pub files: Vec<FileChange>,
    /// Anchors that were found on another line.
    pub relocations: Vec<Relocation>,
    /// Repairs of the model's text.
    pub repairs: Vec<Repair>,
    /// What looks like a mistake and was done all the same.
    pub warnings: Vec<Warning>,
    /// Operations that had nothing to do.
    pub noops: Vec<Noop>,
    /// The report for the model: fresh anchors around every change.
    #[napi(ts_type = "string")]
    pub text: Text,
}

/// Every operation on a text in memory was carried out, or had nothing to do.
#[napi(object, object_from_js = false)]
pub struct AppliedText {
    /// Tells this outcome from a refusal.
    #[napi(ts_type = "'applied'")]
    pub status: Word,
    /// The new text.
    #[napi(ts_type = "string")]
    pub content: Text,
    /// One entry, with an empty path, when the text changed.
    pub files: Vec<FileChange>,
    /// Anchors that were found on another line.
    pub relocations: Vec<Relocation>,
    /// Repairs of the model's text.
    pub repairs: Vec<Repair>,
    /// What looks like a mistake and was done all the same.
    pub warnings: Vec<Warning>,
    /// Operations that had nothing to do.
    pub noops: Vec<Noop>,
    /// The report for the model: fresh anchors around every change.
    #[napi(ts_type = "string")]
    pub text: Text,
}

/// Nothing was changed.
#[napi(object, object_from_js = false)]
pub struct RejectedOutcome {
    /// Tells this outcome from a success.
    #[napi(ts_type = "'rejected'")]
    pub status: Word,
    /// The code of the first failure.
    #[napi(ts_type = "HashlineErrorCode")]
    pub code: Word,
    /// Every failure, in the order of the operations.
    pub failures: Vec<Failure>,
    /// Stale anchors and the fresh anchors of the same line numbers, where nothing points to
    /// another line.
    #[napi(ts_type = "Record<Anchor, Anchor>")]
    pub remaps: Remaps,
    /// The report for the model: what failed, and the lines as they are now.
    #[napi(ts_type = "string")]
    pub text: Text,
}

/// What happened to one file.
#[napi(object, object_from_js = false)]
pub struct FileChange {
    /// The path under which the file is now (or was, when it is gone).
    pub path: String,
    /// The path under which it was, when that changed.
    pub from: Option<String>,
    /// What happened. A file that was edited may have another name, too.
    #[napi(ts_type = "'edited' | 'created' | 'moved' | 'deleted'")]
    pub change: Word,
    /// The number of line edits that took effect.
    pub edits: f64,
    /// Lines added.
    pub added: f64,
    /// Lines removed.
    pub removed: f64,
    /// Lines it has now, where they were counted.
    pub line_count: Option<f64>,
    /// The hash of its content now, as in a view, where it was looked into.
    pub snapshot: Option<String>,
    /// What a parser says of it now, where the option `syntax` has one asked: it parses; it did
    /// before the patch and does not now; it did not before either; or nothing, since its language
    /// is not known or the file is too long.
    #[napi(ts_type = "'ok' | 'broken' | 'unclean' | 'unknown'")]
    pub syntax: Option<Word>,
    /// What became of its text, as a unified diff, where one is made. Of a deleted file of more than
    /// 1 MiB it does not show the lines.
    pub diff: Option<String>,
    /// The same, hunk by hunk.
    pub hunks: Option<Vec<DiffHunk>>,
}

/// One hunk of a diff, in the shape that the npm package `diff` has.
#[napi(object, object_from_js = false)]
pub struct DiffHunk {
    /// The first line of the old text; where it has none, the line after the place.
    pub old_start: f64,
    /// How many lines of the old text.
    pub old_lines: f64,
    /// The first line of the new text; where it has none, the line after the place.
    pub new_start: f64,
    /// How many lines of the new text.
    pub new_lines: f64,
    /// The lines, each after a space, `-` or `+`; notes after a backslash.
    pub lines: Vec<String>,
}

/// An anchor that was found on another line.
#[napi(object, object_from_js = false)]
pub struct Relocation {
    /// The operation's place in the request, from 0.
    pub operation: f64,
    /// The file.
    pub path: String,
    /// The anchor as written.
    #[napi(ts_type = "Anchor")]
    pub from: String,
    /// The anchor of the line that was used.
    #[napi(ts_type = "Anchor")]
    pub to: String,
    /// By how many lines; negative towards the start.
    pub distance: f64,
}

/// A repair of a model's text.
#[napi(object, object_from_js = false)]
pub struct Repair {
    /// The rule.
    #[napi(ts_type = "RepairRule")]
    pub rule: Word,
    /// The operation's place in the request, from 0.
    pub operation: f64,
    /// The text as written, lines joined by `\n`.
    pub before: String,
    /// The text that was used.
    pub after: String,
}

/// Something that looks like a mistake.
#[napi(object, object_from_js = false)]
pub struct Warning {
    /// What kind of mistake: a line whose new text has another indentation, a file that parsed
    /// before the patch and does not now, a row of a patch that its grammar has otherwise, a byte
    /// order mark in a text, which was dropped, or a control character that sources hardly ever have.
    #[napi(
        ts_type = "'INDENTATION' | 'SYNTAX' | 'READING' | 'BYTE_ORDER_MARK' | 'CONTROL_CHARACTER'"
    )]
    pub code: Word,
    /// The operation's place in the request, from 0, if it is about one operation.
    pub operation: Option<f64>,
    /// The file.
    pub path: String,
    /// What, where and what to do, for the model.
    pub message: String,
}

/// An operation that had nothing to do.
#[napi(object, object_from_js = false)]
pub struct Noop {
    /// The operation's place in the request, from 0.
    pub operation: f64,
    /// The file.
    pub path: String,
    /// Whether the file has what it asks for, or it repeats an earlier operation.
    #[napi(ts_type = "'unchanged' | 'duplicate'")]
    pub reason: Word,
    /// The operation that it repeats, which was carried out.
    pub duplicate_of: Option<f64>,
}

/// Why an operation, or one anchor of it, was refused.
#[napi(object, object_from_js = false)]
pub struct Failure {
    /// The operation's place in the request, from 0.
    pub operation: f64,
    /// The file, as the request wrote it.
    pub path: Option<String>,
    /// The stable code.
    #[napi(ts_type = "HashlineErrorCode")]
    pub code: Word,
    /// What, where and what instead.
    pub message: String,
    /// The anchor that failed, in its short form.
    #[napi(ts_type = "Anchor")]
    pub anchor: Option<String>,
    /// The current lines around the anchor, each with its own.
    pub lines: Option<String>,
    /// A fresh anchor to use instead, where one is known.
    #[napi(ts_type = "Anchor")]
    pub suggestion: Option<String>,
}

/// An object from stale to fresh anchors.
pub struct Remaps(Vec<(String, String)>);

impl TypeName for Remaps {
    fn type_name() -> &'static str {
        "Record"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl ToNapiValue for Remaps {
    unsafe fn to_napi_value(env: sys::napi_env, remaps: Self) -> napi::Result<sys::napi_value> {
        let env = Env::from_raw(env);
        let mut object = napi::bindgen_prelude::Object::new(&env)?;
        for (stale, fresh) in remaps.0 {
            object.set(stale, fresh)?;
        }
        Ok(Js::from_rust(&env, object)?.raw())
    }
}

/// The outcome of a patch on files.
pub fn apply_outcome(outcome: Outcome) -> ApplyOutcome {
    match outcome {
        Outcome::Applied(applied) => Either::A(applied.into()),
        Outcome::Rejected(rejected) => Either::B(rejected.into()),
    }
}

/// The outcome of operations on a text in memory; `FILE_TOO_LARGE` when the text they make is
/// longer than a string can be.
pub fn text_outcome(outcome: core::TextOutcome) -> Result<TextOutcome> {
    Ok(match outcome.outcome {
        Outcome::Applied(applied) => {
            let applied = AppliedOutcome::from(applied);
            Either::A(AppliedText {
                status: applied.status,
                content: Text::of_result(outcome.content.unwrap_or_default())?,
                files: applied.files,
                relocations: applied.relocations,
                repairs: applied.repairs,
                warnings: applied.warnings,
                noops: applied.noops,
                text: applied.text,
            })
        }
        Outcome::Rejected(rejected) => Either::B(rejected.into()),
    })
}

/// Converts each element.
fn each<T, U: From<T>>(items: Vec<T>) -> Vec<U> {
    items.into_iter().map(U::from).collect()
}

impl From<core::Applied> for AppliedOutcome {
    fn from(applied: core::Applied) -> AppliedOutcome {
        AppliedOutcome {
            status: Word("applied"),
            files: each(applied.files),
            relocations: each(applied.relocations),
            repairs: each(applied.repairs),
            warnings: each(applied.warnings),
            noops: each(applied.noops),
            text: applied.text.into(),
        }
    }
}

impl From<core::Rejected> for RejectedOutcome {
    fn from(rejected: core::Rejected) -> RejectedOutcome {
        RejectedOutcome {
            status: Word("rejected"),
            code: Word(rejected.code.as_str()),
            failures: each(rejected.failures),
            remaps: Remaps(rejected.remaps),
            text: rejected.text.into(),
        }
    }
}

impl From<core::FileChange> for FileChange {
    fn from(file: core::FileChange) -> FileChange {
        FileChange {
            path: file.path,
            from: file.from,
            change: Word(file.change.as_str()),
            edits: file.edits as f64,
            added: file.added as f64,
            removed: file.removed as f64,
            line_count: file.line_count.map(|count| count as f64),
            snapshot: file.snapshot,
            syntax: file.syntax.map(|state| Word(state.as_str())),
            hunks: file.diff.as_ref().map(|diff| diff.hunks.iter().map(DiffHunk::from).collect()),
            diff: file.diff.map(|diff| diff.text),
        }
    }
}

impl From<&core::DiffHunk> for DiffHunk {
    fn from(hunk: &core::DiffHunk) -> DiffHunk {
        DiffHunk {
            old_start: hunk.old_start as f64,
            old_lines: hunk.old_lines as f64,
            new_start: hunk.new_start as f64,
            new_lines: hunk.new_lines as f64,
            lines: hunk.lines.clone(),
        }
    }
}

impl From<core::Relocation> for Relocation {
    fn from(relocation: core::Relocation) -> Relocation {
        Relocation {
            operation: relocation.operation as f64,
            path: relocation.path,
            from: relocation.from,
            to: relocation.to,
            distance: relocation.distance as f64,
        }
    }
}

impl From<core::Repair> for Repair {
    fn from(repair: core::Repair) -> Repair {
        Repair {
            rule: Word(repair.rule.name()),
            operation: repair.operation as f64,
            before: repair.before,
            after: repair.after,
        }
    }
}

impl From<core::Warning> for Warning {
    fn from(warning: core::Warning) -> Warning {
        let core::Warning { code, operation, path, message } = warning;
        let operation = operation.map(|operation| operation as f64);
        Warning { code: Word(code.as_str()), operation, path, message: message.into() }
    }
}

impl From<core::Noop> for Noop {
    fn from(noop: core::Noop) -> Noop {
        let (reason, duplicate_of) = match noop.reason {
            NoopReason::Unchanged => ("unchanged", None),
            NoopReason::Duplicate { of } => ("duplicate", Some(of as f64)),
        };
        Noop {
            operation: noop.operation as f64,
            path: noop.path,
            reason: Word(reason),
            duplicate_of,
        }
    }
}

impl From<core::Failure> for Failure {
    fn from(failure: core::Failure) -> Failure {
        Failure {
            operation: failure.operation as f64,
            path: failure.path,
            code: Word(failure.code.as_str()),
            message: failure.message.into(),
            anchor: failure.anchor,
            lines: failure.lines,
            suggestion: failure.suggestion,
        }
    }
}
