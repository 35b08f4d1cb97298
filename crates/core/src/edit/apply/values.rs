//! Edits of values by path → edits of the bytes of these values.

use std::collections::HashMap;

use super::failures::Failures;
use crate::edit::outcome::Failure;
use crate::edit::plan::{Edit, PlanText, TextEdits};
use crate::edit::report::AnchorReport;
use crate::edit::request::{LineEdit, Operation};
use crate::json::{JsonPiece, JsonRefusal, plan_json};
use hashline_base::error::{Code, Error, Message};
use hashline_disk::bytes::valid_utf8;

/// The byte edits of the values of one file.
#[derive(Default)]
pub(super) struct ValueEdits<'o> {
    pub(super) edits: Vec<Edit<'o>>,
    /// Operations that change nothing.
    pub(super) unchanged: Vec<usize>,
}

/// The edits by path among `operations`, or their failures.
pub(super) fn edits<'o>(
    subject: &PlanText<'_>,
    path: &str,
    operations: &[&'o Operation],
) -> Result<ValueEdits<'o>, Failures> {
    let json_edits = operations.iter().filter_map(|operation| match &operation.action {
        LineEdit::Json(edit) => Some((operation.index, edit)),
        LineEdit::Replace { .. }
        | LineEdit::Insert { .. }
        | LineEdit::ReplaceText { .. }
        | LineEdit::ReplaceFile { .. }
        | LineEdit::Restore(_)
        | LineEdit::Take(_)
        | LineEdit::Put(_) => None,
    });
    let json_edits: Vec<_> = json_edits.collect();
    let mut failures = Failures::default();
    let Some(&(first, _)) = json_edits.first() else { return Ok(ValueEdits::default()) };
    let named = (!path.is_empty()).then_some(path);
    let Some(text) = valid_utf8(subject.document.text()) else {
        // A mapped file can change after it was loaded. The commit would detect that, too.
        let message = format!("{path}: another process changed it; read it again");
        failures.push(first, named, Error::new(Code::ConcurrentChange, message));
        return Err(failures);
    };
    let planned = match plan_json(text, &json_edits) {
        Ok(planned) => planned,
        Err(refused) => {
            refused.into_iter().for_each(|refusal| push(&mut failures, path, refusal));
            return Err(failures);
        }
    };
    let mut edits = Vec::with_capacity(planned.pieces.len());
    let offsets = planned.pieces.iter().flat_map(|piece| [piece.range.start, piece.range.end]);
    let offsets = match subject.document.body_offsets(&offsets.collect::<Vec<_>>()) {
        Ok(offsets) => offsets,
        Err(error) => {
            failures.push(first, named, error);
            return Err(failures);
        }
    };
    let by_index: HashMap<usize, &Operation> =
        operations.iter().map(|&operation| (operation.index, operation)).collect();
    let mut text_edits = TextEdits::of(subject);
    for (piece, ends) in planned.pieces.iter().zip(offsets.chunks(2)) {
        let JsonPiece { operation, text, .. } = piece;
        let Some(operation) = by_index.get(operation) else {
            continue;
        };
        match text_edits.edit(operation, ends[0]..ends[1], text) {
            Ok(edit) => edits.push(edit),
            Err(error) => failures.push(operation.index, named, error),
        }
    }
    if failures.is_empty() {
        Ok(ValueEdits { edits, unchanged: planned.unchanged })
    } else {
        Err(failures)
    }
}

fn push(failures: &mut Failures, path: &str, refused: JsonRefusal) {
    let named = (!path.is_empty()).then_some(path);
    match refused {
        JsonRefusal::Operation(operation, error) => {
            let message = match error.code {
                Code::InvalidJson if !path.is_empty() => {
                    Message::from(format!("{path}: ")) + error.message
                }
                _ => error.message,
            };
            failures.push(operation, named, Error::new(error.code, message));
        }
        JsonRefusal::Anchor { operation, anchor, refusal } => {
            let anchor = anchor.to_string();
            let (headline, truth) = (&refusal.headline, &refusal.truth);
            let fresh = refusal.fresh.as_deref();
            let report = AnchorReport::of_value(path, &anchor, headline, truth, fresh);
            let failure = Failure {
                operation,
                path: named.map(str::to_owned),
                code: refusal.code,
                message: format!("{headline} {truth}").into(),
                anchor: Some(anchor),
                lines: None,
                suggestion: refusal.fresh,
                is_applied: false,
            };
            failures.push_reported(failure, report);
        }
    }
}
