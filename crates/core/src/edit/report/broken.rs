//! What is told of a file that parsed before a patch and does not after it.

use super::Rows;
use crate::edit::structure::Break;
use crate::text::dialect::Dialect;
use crate::text::lines::{LineIndex, Unit};
use crate::view::render::one_line;

/// The warning: what is wrong, and the rows where it shows. `text` is that after the patch.
pub fn broken_message(
    dialect: &'static Dialect,
    path: &str,
    found: &Break,
    text: &[u8],
) -> (String, String) {
    let mut rows = Rows::new(dialect);
    let index = LineIndex::new(text, Unit::Byte);
    let mut numbers: Vec<u64> = found.opened.into_iter().chain([found.line]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let line = index.from_line(text, number).and_then(|mut lines| lines.next());
        if let Some(span) = line {
            rows.line(number, span.text(text));
        }
    }
    let Break { line, what, .. } = found;
    let path = one_line(path);
    (format!("{path} parsed before and does not now: line {line}: {what}."), rows.into_text())
}

/// The refusal of a patch that would do so.
pub fn breaks_message(path: &str, found: &Break) -> String {
    let Break { line, what, .. } = found;
    let path = one_line(path);
    format!(
        "{path} parses now and would not after the patch: line {line} of the result: {what}. Mend the text or the range, or let the syntax only be warned of"
    )
}
