//! Rows that were cut for the model and that it sent as whole lines.

use super::{EditContext, ModelText};
use hashline_lines::rows::{cut_mark, left_mark};

/// The number, from 1, of the first row of a text with the mark of a cut row at an end. The mark
/// counts only if a replaced or neighbouring line is longer than the part that the mark omits.
/// Lines of the file that contain such a mark themselves do not count.
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

/// The number of bytes that a row omits at an end, according to its marks.
fn omitted_bytes(row: &str) -> Option<usize> {
    cut_mark(row).map(|(_, bytes)| bytes).max(left_mark(row))
}
