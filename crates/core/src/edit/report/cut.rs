//! Refusals that are not about an anchor: texts that contain rows (the mark of a cut row, or invented
//! anchors), and lines that an undone patch cannot put back.

use super::rejected::AnchorReport;
use crate::edit::outcome::Failure;
use crate::edit::request::Operation;
use crate::edit::resolve::CurrentText;
use hashline_base::error::{Code, Error, Mention, Message};

/// The failure of an operation whose text contains a cut row, and its report. `row` is the number
/// of that row in the text, from 1. `line` is the first line that the text would replace, or next
/// to which it would be inserted.
pub fn cut_row_failure(
    current_text: &CurrentText<'_>,
    path: &str,
    operation: &Operation,
    (row, line): (usize, u64),
) -> Option<(Failure, AnchorReport)> {
    let anchor = operation.action.anchors().next()?.text(current_text.dialect);
    let explanation = Message::from(format!("Row {row} of the text of "))
        + Mention::Operation(operation.index)
        + " ends in the mark of a cut row, and the rest of the line would be lost: change a part of the line with replace_text, or read it with columns first. If you mean the mark itself, add \"verbatim\": true.";
    let headline = format!("Cut row at {anchor}.");
    let report = AnchorReport::new(current_text, path, headline, &[(line, line)], explanation);
    Some((report.failure(operation, Code::InvalidOperation, anchor), report))
}

/// The error for a text with rows whose hashes no line has. `row` is the number of the first one in
/// the text, from 1.
pub fn invented_row_error(operation: usize, row: usize) -> Error {
    let message = Message::from(format!("Row {row} of the text of "))
        + Mention::Operation(operation)
        + " begins like an anchor, with a hash that no line has: send the text without anchors. If you mean the anchors themselves, add \"verbatim\": true.";
    Error::new(Code::InvalidOperation, message)
}

/// The failure of an operation that would put back lines where other changes were made, and its
/// report, which shows the current lines.
pub fn changed_since_failure(
    current_text: &CurrentText<'_>,
    path: &str,
    operation: &Operation,
    (first, last): (u64, u64),
) -> (Failure, AnchorReport) {
    let (headline, remedy) = match last {
        0 => ("Cannot undo: the file is empty now.".to_owned(), "Write its content instead."),
        _ => (
            format!("Cannot undo: lines {first}-{last} were changed again."),
            "Edit these lines instead.",
        ),
    };
    let explanation = format!("Nothing was undone. {remedy}");
    let report = AnchorReport::new(current_text, path, headline, &[(first, last)], &*explanation);
    (report.failure(operation, Code::ConcurrentChange, None), report)
}
