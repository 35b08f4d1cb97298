//! The core's outcome of an edit → what JavaScript sees.

use hashline_core::{self as core, DocumentText, NoopReason, Outcome};
use napi::bindgen_prelude::{Either, ToNapiValue, TypeName, Uint8Array};
use napi::{Env, ValueType, sys};
use napi_derive::napi;

use super::error::Result;
use super::js::Js;
use super::text::{Text, Word};

/// The result of `applyHash`, declared in `patch.d.ts`.
pub type ApplyOutcome = Either<AppliedOutcome, RejectedOutcome>;

/// The result of `applyHashToText`, declared in `patch.d.ts`.
pub type TextOutcome = Either<AppliedText, RejectedOutcome>;

/// Every operation was applied, or had nothing to do.
#[napi(object, object_from_js = false)]
pub struct AppliedOutcome {
    /// Distinguishes this outcome from a refusal.
    #[napi(ts_type = "'applied'")]
    pub status: Word,
    /// The files that changed, in the order of their first operation.
    pub files: Vec<FileChange>,
    /// Anchors that were found on another line.
    pub relocations: Vec<Relocation>,
    /// Repairs of the model's text.
    pub repairs: Vec<Repair>,
    /// Likely mistakes in operations that were applied anyway.
    pub warnings: Vec<Warning>,
    /// Operations that had nothing to do.
    pub noops: Vec<Noop>,
    /// The report for the model: fresh anchors around every change.
    #[napi(ts_type = "string")]
    pub text: Text,
}

/// Every operation on a text in memory was applied, or had nothing to do.
#[napi(object, object_from_js = false)]
pub struct AppliedText {
    /// Distinguishes this outcome from a refusal.
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
    /// Likely mistakes in operations that were applied anyway.
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
    /// Distinguishes this outcome from a success.
    #[napi(ts_type = "'rejected'")]
    pub status: Word,
    /// The code of the first failure.
    #[napi(ts_type = "HashlineErrorCode")]
    pub code: Word,
    /// Every failure, in the order of the operations.
    pub failures: Vec<Failure>,
    /// Maps each stale anchor to the current anchor of its line number. Omits anchors that may mean
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
    /// The former path, if it changed.
    pub from: Option<String>,
    /// What happened. An edited file may have another name, too.
    #[napi(ts_type = "'edited' | 'created' | 'moved' | 'deleted'")]
    pub change: Word,
    /// The number of line edits that took effect.
    pub edits: f64,
    /// Lines added.
    pub added: f64,
    /// Lines removed.
    pub removed: f64,
    /// The line count now, if the lines were counted.
    pub line_count: Option<f64>,
    /// The hash of the content now, as in a view, if the file was read.
    pub snapshot: Option<String>,
    /// The parser's result, if the option `syntax` asks for it: the file parses; it parsed before
    /// the patch and does not now; it did not parse before either; or unknown, because its language
    /// is not known or the file is too long.
    #[napi(ts_type = "'ok' | 'broken' | 'unclean' | 'unknown'")]
    pub syntax: Option<Word>,
    /// The change of the text as a unified diff, if one is made. For a deleted file of more than 1
    /// MiB it does not show the lines.
    pub diff: Option<String>,
    /// The same, hunk by hunk.
    pub hunks: Option<Vec<DiffHunk>>,
    /// `true` for a document, which the host must write, move or remove. Documents alone have the
    /// fields below.
    #[napi(ts_type = "true")]
    pub document: Option<bool>,
    /// The new content, unless it is deleted: a string, or bytes if it was set as bytes.
    #[napi(ts_type = "string | Uint8Array")]
    pub content: Option<Either<Text, Uint8Array>>,
    /// The edits that make the new content of the text that was set, in its order. Empty if the
    /// document is new, only moved, or set as bytes.
    pub text_edits: Option<Vec<TextEdit>>,
    /// The version of the text that the edits are for.
    pub version: Option<f64>,
}

/// An edit of a text, as the Language Server Protocol defines it.
#[napi(object, object_from_js = false)]
pub struct TextEdit {
    /// The range of the text before; the end is not in it.
    pub range: TextRange,
    /// The text to put there.
    pub new_text: String,
}

/// A range of a text.
#[napi(object, object_from_js = false)]
pub struct TextRange {
    /// Where it starts.
    pub start: TextPosition,
    /// Where it ends.
    pub end: TextPosition,
}

/// A position in a text.
#[napi(object, object_from_js = false)]
pub struct TextPosition {
    /// The line, from 0. Lines end with `\n`, `\r\n` or `\r`.
    pub line: f64,
    /// The UTF-16 code units before it in the line.
    pub character: f64,
}

/// One hunk of a diff, in the shape of the npm package `diff`.
#[napi(object, object_from_js = false)]
pub struct DiffHunk {
    /// The first line of the old text; if it has none, the line after the change.
    pub old_start: f64,
    /// The number of lines of the old text.
    pub old_lines: f64,
    /// The first line of the new text; if it has none, the line after the change.
    pub new_start: f64,
    /// The number of lines of the new text.
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

/// A likely mistake.
#[napi(object, object_from_js = false)]
pub struct Warning {
    /// The kind of mistake: a line whose new text has another indentation, a file that parsed
    /// before the patch and does not now, a patch row that deviates from the grammar, a byte order
    /// mark in a text, which was dropped, or a control character that source files rarely have.
    #[napi(
        ts_type = "'INDENTATION' | 'SYNTAX' | 'READING' | 'BYTE_ORDER_MARK' | 'CONTROL_CHARACTER'"
    )]
    pub code: Word,
    /// The operation's place in the request, from 0, if the warning is about one operation.
    pub operation: Option<f64>,
    /// The file.
    pub path: String,
    /// For the model: what happened, where, and what to do.
    pub message: String,
}

/// An operation that had nothing to do.
#[napi(object, object_from_js = false)]
pub struct Noop {
    /// The operation's place in the request, from 0.
    pub operation: f64,
    /// The file.
    pub path: String,
    /// Whether the file already has the requested content, or the operation repeats an earlier one.
    #[napi(ts_type = "'unchanged' | 'duplicate'")]
    pub reason: Word,
    /// The earlier operation, which was applied.
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
    /// What happened, where, and what to do instead.
    pub message: String,
    /// The anchor that failed, in its short form.
    #[napi(ts_type = "Anchor")]
    pub anchor: Option<String>,
    /// The current lines around the anchor, each with its anchor.
    pub lines: Option<String>,
    /// A fresh anchor to use instead, if one is known.
    #[napi(ts_type = "Anchor")]
    pub suggestion: Option<String>,
}

/// An object that maps stale anchors to fresh ones.
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

/// The outcome of operations on a text in memory; `FILE_TOO_LARGE` if the resulting text is longer
/// than a JavaScript string can be.
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

impl From<core::TextEdit> for TextEdit {
    fn from(edit: core::TextEdit) -> TextEdit {
        let position = |at: core::TextPosition| TextPosition {
            line: at.line as f64,
            character: at.character as f64,
        };
        let core::TextRange { start, end } = edit.range;
        let range = TextRange { start: position(start), end: position(end) };
        TextEdit { range, new_text: edit.new_text }
    }
}

/// The content of a document.
fn content(text: DocumentText) -> Either<Text, Uint8Array> {
    match text {
        DocumentText::Text(text) => Either::A(text.into()),
        DocumentText::Bytes(bytes) => Either::B(bytes.into()),
    }
}

impl From<core::FileChange> for FileChange {
    fn from(file: core::FileChange) -> FileChange {
        let is_document = file.document.is_some();
        let (text, edits, version) = match file.document {
            Some(document) => (document.content, Some(document.text_edits), document.version),
            None => (None, None, None),
        };
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
            document: is_document.then_some(true),
            content: text.map(content),
            text_edits: edits.map(each),
            version: version.map(|version| version as f64),
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
