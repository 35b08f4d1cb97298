//! Refusals of patches in oh-my-pi's language: operations by the heads of their hunks, and the
//! version that a section names.

use memchr::memmem;

use super::CONTEXT_LINES;
use super::rejected::AnchorReport;
use crate::edit::outcome::{Applied, Failure};
use crate::edit::request::{HunkName, NamedVersion};
use crate::edit::resolve::Evidence;
use crate::error::{Code, Terms};
use crate::text::tag::Tag;

/// The word for which the heads of hunks stand, without the letter that can be a capital.
const OPERATION: &str = "peration";

impl HunkName {
    /// How it is spoken of.
    fn spoken(&self) -> String {
        format!("`{}` (row {} of the patch)", self.head, self.row)
    }
}

/// Puts the heads of hunks in place of the numbers of operations, and says which hunk it is.
pub fn name_hunks(hunks: &[HunkName], failure: &mut Failure, report: Option<&mut AnchorReport>) {
    let name = hunks.get(failure.operation).map(HunkName::spoken);
    let told = |text: &str| named(hunks, text);
    let told_first = |text: &str| {
        let text = told(text);
        match &name {
            Some(name) if !text.contains(name.as_str()) => format!("{name}: {text}"),
            _ => text,
        }
    };
    failure.message = told_first(&failure.message);
    if let Some(report) = report {
        report.headline = told_first(&report.headline);
        report.truth = told(&report.truth);
    }
}

/// The same in the report of what was done. Rows of files, which begin with their numbers, stay.
pub fn name_applied_hunks(hunks: &[HunkName], applied: &mut Applied) {
    if hunks.is_empty() {
        return;
    }
    if memmem::find(applied.text.as_bytes(), OPERATION.as_bytes()).is_some() {
        let is_row = |row: &str| row.starts_with(|first: char| first.is_ascii_digit());
        let told = |row| if is_row(row) { row.to_owned() } else { named(hunks, row) };
        applied.text = applied.text.split('\n').map(told).collect::<Vec<_>>().join("\n");
    }
    for warning in &mut applied.warnings {
        warning.message = named(hunks, &warning.message);
    }
}

/// A text in which operations have the names of their hunks.
fn named(hunks: &[HunkName], text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(OPERATION) {
        // The letter before is that of the word.
        let start = at.saturating_sub(1);
        let word = &rest[at..];
        let (behind, is_many) = match word.strip_prefix("perations ") {
            Some(behind) => (Some(behind), true),
            None => (word.strip_prefix("peration "), false),
        };
        let first = behind.and_then(|behind| hunk_at(hunks, behind));
        let is_word = at > 0 && matches!(rest.as_bytes()[start], b'o' | b'O');
        let Some((first, behind)) = first.filter(|_| is_word) else {
            out += &rest[..at + OPERATION.len()];
            rest = &rest[at + OPERATION.len()..];
            continue;
        };
        out += &rest[..start];
        out += &first;
        rest = behind;
        let second = rest.strip_prefix(" and ").filter(|_| is_many);
        if let Some((second, behind)) = second.and_then(|second| hunk_at(hunks, second)) {
            out += &format!(" and {second}");
            rest = behind;
        }
    }
    (out + rest).replace("into one operation", "into one hunk")
}

/// The name of the hunk whose number a text begins with, and what follows the number.
fn hunk_at<'t>(hunks: &[HunkName], text: &'t str) -> Option<(String, &'t str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let hunk = hunks.get(text[..digits].parse::<usize>().ok()?)?;
    Some((hunk.spoken(), &text[digits..]))
}

/// The refusal of a section that names another version than the file is: the lines around those
/// that it names, as they are. `named` is from the first to the last line of each of its hunks.
pub fn stale_version(
    evidence: &Evidence<'_>,
    version: &NamedVersion,
    named: &[(u64, u64)],
) -> (Failure, AnchorReport) {
    let path = &version.path;
    let now = Tag::of(evidence.text);
    let count = evidence.count();
    let around = |&(first, last): &(u64, u64)| {
        let first = first.min(count).saturating_sub(CONTEXT_LINES).max(1);
        (first, last.saturating_add(CONTEXT_LINES).min(count).min(first + SHOWN_LIMIT_LINES))
    };
    let ranges: Vec<(u64, u64)> = named.iter().take(SHOWN_LIMIT_RANGES).map(around).collect();
    let headline = format!("[{path}#{}] is not the file as it is.", version.tag);
    let truth = format!(
        "The file is [{path}#{now}] now and has {count} lines: find the lines you mean, and name them by this tag and the numbers that they have in it."
    );
    let report = AnchorReport::new(evidence, path, headline, &ranges, truth);
    let failure = Failure {
        operation: version.operation,
        path: Some(path.clone()),
        code: Code::HashMismatch,
        message: format!("{} {}", report.headline, report.truth),
        anchor: Some(version.tag.to_string()),
        lines: Some(report.rows()),
        suggestion: None,
        terms: Terms::default(),
    };
    (failure, report)
}

/// The most that is shown of the lines that a section names.
const SHOWN_LIMIT_LINES: u64 = 40;
const SHOWN_LIMIT_RANGES: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_the_names_of_their_hunks() {
        let hunk = |head: &str, row| HunkName { head: head.to_owned(), row };
        let hunks = [hunk("PUT 3.=5:", 2), hunk("REM", 7)];
        let (put, rem) = ("`PUT 3.=5:` (row 2 of the patch)", "`REM` (row 7 of the patch)");
        for (text, expected) in [
            (
                "operations 0 and 1 meet; combine them into one operation",
                format!("{put} and {rem} meet; combine them into one hunk"),
            ),
            ("Operation 1: no", format!("{rem}: no")),
            ("the text of operation 0 is", format!("the text of {put} is")),
            (
                "operation 2, operations x, an operation",
                "operation 2, operations x, an operation".to_owned(),
            ),
            ("peration 0", "peration 0".to_owned()),
            ("", String::new()),
        ] {
            assert_eq!(named(&hunks, text), expected);
        }
    }
}
