//! Rows that were cut for the model, and come back as if they were whole lines.

use super::{EditContext, ModelText};
use hashline_lines::rows::{cut_mark, left_mark};

/// The first row of a text, from 1, that has the mark of a cut row at an end, where a line beside
/// the text's place has more bytes than the mark leaves out. Lines that have one in the file do
/// not count.
pub fn cut_row(context: &EditContext<'_, '_>, draft: &ModelText) -> Option<usize> {
    if !draft.lines.iter().any(|line| omitted_bytes(line).is_some()) {
        return None;
    }
    let reference = context.reference_lines(draft);
    let whole = reference.iter().filter(|line| omitted_bytes(line).is_none());
    let longest_bytes = whole.map(|line| line.len()).max()?;
    let is_part = |row: &String| omitted_bytes(row).is_some_and(|bytes| bytes < longest_bytes);
    Some(draft.lines.iter().position(is_part)? + 1)
}

/// The bytes that a row leaves out at an end, as its marks say.
fn omitted_bytes(row: &str) -> Option<usize> {
    cut_mark(row).map(|(_, bytes)| bytes).max(left_mark(row))
}
