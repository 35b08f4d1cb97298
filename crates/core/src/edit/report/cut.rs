//! Why a text was refused that has the mark of a cut row, and what to do.

use super::rejected::AnchorReport;
use crate::edit::outcome::Failure;
use crate::edit::request::Operation;
use crate::edit::resolve::Evidence;
use hashline_base::error::{Code, Mention, Message};

/// The failure of an operation whose text has a cut row, and what to report of it; `row` counts
/// from 1. `line` is the first line that it would replace, or stand beside.
pub fn cut_row_failure(
    evidence: &Evidence<'_>,
    path: &str,
    operation: &Operation,
    (row, line): (usize, u64),
) -> Option<(Failure, AnchorReport)> {
    let anchor = operation.action.anchors().next()?.text(evidence.dialect);
    let truth = Message::from(format!("Row {row} of the text of "))
        + Mention::Operation(operation.index)
        + " ends in the mark of a cut row, and the rest of the line would be lost: change a part of the line with replace_text, or read it with columns first. If you mean the mark itself, add \"verbatim\": true.";
    let headline = format!("Cut row at {anchor}.");
    let report = AnchorReport::new(evidence, path, headline, &[(line, line)], truth);
    Some((report.failure(operation, Code::InvalidOperation, anchor), report))
}
