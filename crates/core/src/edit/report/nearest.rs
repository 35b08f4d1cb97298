//! The lines that are most similar to an `old_text` that does not occur.
//!
//! The key is the longest of the first lines of `old_text`. The first line that equals it except
//! for whitespace is used, or else the most similar line. Lines whose length rules out a better
//! similarity are skipped, and the compared text is limited, so that a large file costs little.

use super::rejected::AnchorReport;
use crate::edit::outcome::Failure;
use crate::edit::request::{LineEdit, Operation};
use crate::edit::resolve::CurrentText;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Mention, Message};
use hashline_lines::normalize::visible_chars;
use hashline_lines::similarity::similarity;

/// The key is one of this number of first lines.
const KEY_LIMIT_LINES: usize = 20;

/// The maximum number of lines that are shown.
const SHOWN_LIMIT_LINES: u64 = 12;

/// The minimum similarity for a line to be suggested.
const SIMILARITY_MIN: f64 = 0.5;

/// Longer lines are neither used as the key nor compared.
const LINE_LIMIT_CHARS: usize = 1_000;

/// The maximum number of characters that are compared.
const WORK_LIMIT_CHARS: usize = 1 << 20;

/// The number of lines between two checks for cancellation.
const LINES_BETWEEN_CHECKS: u64 = 1_024;

/// The failure of an `old_text` that does not occur, with the most similar lines; `None` if no line
/// is similar.
pub fn nearest_failure(
    current_text: &CurrentText<'_>,
    path: &str,
    operation: &Operation,
    error: &Error,
    cancel: &Cancel,
) -> Option<(Failure, AnchorReport)> {
    let LineEdit::ReplaceText { old_text, .. } = &operation.action else { return None };
    let lines: Vec<&str> = old_text.lines().collect();
    let (at, key) = lines
        .iter()
        .enumerate()
        .take(KEY_LIMIT_LINES)
        .rev()
        .max_by_key(|(_, line)| visible_count(line))
        .filter(|(_, line)| (1..=LINE_LIMIT_CHARS).contains(&visible_count(line)))?;
    let found = nearest_line(current_text, key, cancel)?;
    let first = found.saturating_sub(at as u64).max(1);
    // The line that was found must be among those that are shown.
    let first = first.max(found.saturating_sub(SHOWN_LIMIT_LINES - 1));
    let last = first + (lines.len() as u64).clamp(1, SHOWN_LIMIT_LINES) - 1;
    let last = last.max(found).min(current_text.count());
    let headline =
        Message::from("Most like the old_text of ") + Mention::Operation(operation.index) + ":";
    let report = AnchorReport::new(current_text, path, headline, &[(first, last)], String::new());
    let named = (!path.is_empty()).then_some(path);
    let mut failure = Failure::new(operation.index, named, error.clone());
    failure.lines = Some(report.rows());
    Some((failure, report))
}

/// The number of characters of a line that are not whitespace.
fn visible_count(line: &str) -> usize {
    visible_chars(line).count()
}

/// The first line that equals the key except for whitespace, or else the most similar line.
fn nearest_line(current_text: &CurrentText<'_>, key: &str, cancel: &Cancel) -> Option<u64> {
    let length = visible_count(key);
    let mut best: Option<(u64, f64)> = None;
    let mut left = WORK_LIMIT_CHARS;
    for number in 1..=current_text.count() {
        if number % LINES_BETWEEN_CHECKS == 0 && cancel.is_cancelled() {
            return None;
        }
        let line = current_text.line(number)?;
        // Much shorter than the key, or too long to compare: a character has at most four bytes.
        if line.len() < length / 2 || line.len() > 8 * LINE_LIMIT_CHARS {
            continue;
        }
        let line = String::from_utf8_lossy(line);
        if visible_chars(&line).eq(visible_chars(key)) {
            return Some(number);
        }
        let count = visible_count(&line);
        let (shorter, longer) = (count.min(length) as f64, count.max(length) as f64);
        // The highest similarity that lines of these lengths can have.
        let possible = 2.0 * (shorter + 1.0) / (shorter + longer + 2.0);
        let least = best.map_or(SIMILARITY_MIN, |(_, similarity)| similarity);
        if possible <= least || count + length > left {
            continue;
        }
        left -= count + length;
        let similarity = similarity(key, &line);
        if similarity > least {
            best = Some((number, similarity));
        }
    }
    best.map(|(number, _)| number)
}
