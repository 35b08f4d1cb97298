//! The refusal of a text that contains the mark of a cut row.

use super::rejected::AnchorReport;
use crate::edit::outcome::Failure;
use crate::edit::request::Operation;
use crate::edit::resolve::Evidence;
use hashline_base::error::{Code, Mention, Message};

/// The failure of an operation whose text contains a cut row, and its report. `row` is the number
/// of that row in the text, from 1. `line` is the first line that the text would replace, or next
/// to which it would be inserted.
pub fn cut_row_failure(
    evidence: &Evidence<'_>,
    path: &str,
    operation: &Operation,
    (row, line): (usize, u64),
) -> Option<(Failure, AnchorReport)> {
    let anchor = operation.action.anchors().next()?.text(evidence.dialect);
    let explanation = Message::from(format!("Row {row} of the text of "))
        + Mention::Operation(operation.index)
        + " ends in the mark of a cut row, and the rest of the line would be lost: change a part of the line with replace_text, or read it with columns first. If you mean the mark itself, add \"verbatim\": true.";
    let headline = format!("Cut row at {anchor}.");
    let report = AnchorReport::new(evidence, path, headline, &[(line, line)], explanation);
    Some((report.failure(operation, Code::InvalidOperation, anchor), report))
}
