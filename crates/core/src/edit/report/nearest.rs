//! A text to replace that does not occur: the lines that are most like it.
//!
//! The longest of its first lines is looked for: as it stands but for white space, and if no line is
//! that, the line that is most alike. A line whose length alone says that it cannot be is passed over,
//! and so much is compared at most, so that a large file costs little.

use super::rejected::AnchorReport;
use crate::edit::outcome::Failure;
use crate::edit::request::{LineEdit, Operation};
use crate::edit::resolve::Evidence;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Mention, Message};
use hashline_lines::normalize::visible_chars;
use hashline_lines::similarity::similarity;

/// Among so many first lines of the text the longest is looked for.
const KEY_LIMIT_LINES: usize = 20;

/// The most lines that are shown.
const SHOWN_LIMIT_LINES: u64 = 12;

/// A line that is less alike is no near one.
const ALIKE_MIN: f64 = 0.5;

/// A line with more characters is not looked for, and not compared.
const LINE_LIMIT_CHARS: usize = 1_000;

/// So many characters of lines are compared, at most.
const WORK_LIMIT_CHARS: usize = 1 << 20;

/// So many lines go by between two looks at the flag that cancels.
const LINES_BETWEEN_LOOKS: u64 = 1_024;

/// The failure of a text that does not occur, with the lines that are most like it; nothing if none
/// are near.
pub fn nearest_failure(
    evidence: &Evidence<'_>,
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
        .max_by_key(|(_, line)| visible(line))
        .filter(|(_, line)| (1..=LINE_LIMIT_CHARS).contains(&visible(line)))?;
    let found = nearest_line(evidence, key, cancel)?;
    let first = found.saturating_sub(at as u64).max(1);
    // The line that was found is among those that are shown.
    let first = first.max(found.saturating_sub(SHOWN_LIMIT_LINES - 1));
    let last = first + (lines.len() as u64).clamp(1, SHOWN_LIMIT_LINES) - 1;
    let last = last.max(found).min(evidence.count());
    let headline =
        Message::from("Most like the old_text of ") + Mention::Operation(operation.index) + ":";
    let report = AnchorReport::new(evidence, path, headline, &[(first, last)], String::new());
    let named = (!path.is_empty()).then_some(path);
    let mut failure = Failure::new(operation.index, named, error.clone());
    failure.lines = Some(report.rows());
    Some((failure, report))
}

/// How many characters of a line are no white space.
fn visible(line: &str) -> usize {
    visible_chars(line).count()
}

/// The first line that is the key but for white space, or else the one that is most like it.
fn nearest_line(evidence: &Evidence<'_>, key: &str, cancel: &Cancel) -> Option<u64> {
    let length = visible(key);
    let mut best: Option<(u64, f64)> = None;
    let mut left = WORK_LIMIT_CHARS;
    for number in 1..=evidence.count() {
        if number % LINES_BETWEEN_LOOKS == 0 && cancel.is_cancelled() {
            return None;
        }
        let line = evidence.line(number)?;
        // Each character has four bytes at most.
        if line.len() < length / 2 || line.len() > 8 * LINE_LIMIT_CHARS {
            continue;
        }
        let line = String::from_utf8_lossy(line);
        if visible_chars(&line).eq(visible_chars(key)) {
            return Some(number);
        }
        let count = visible(&line);
        let (shorter, longer) = (count.min(length) as f64, count.max(length) as f64);
        let possible = 2.0 * (shorter + 1.0) / (shorter + longer + 2.0);
        let least = best.map_or(ALIKE_MIN, |(_, alike)| alike);
        if possible <= least || count + length > left {
            continue;
        }
        left -= count + length;
        let alike = similarity(key, &line);
        if alike > least {
            best = Some((number, alike));
        }
    }
    best.map(|(number, _)| number)
}
