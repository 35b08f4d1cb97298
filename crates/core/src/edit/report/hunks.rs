//! Refusals of patches in oh-my-pi's language: operations by the heads of their hunks, and the
//! version that a section names.

use std::ops::Range;

use memchr::memmem;

use super::CONTEXT_LINES;
use super::rejected::AnchorReport;
use crate::edit::outcome::{Applied, Failure};
use crate::edit::request::{FileAction, NamedVersion, Operations, ScriptHunk};
use crate::edit::resolve::Evidence;
use hashline_base::error::{Code, Terms};
use hashline_lines::tag::Tag;

/// The word for which the heads of hunks stand, without the letter that can be a capital.
const OPERATION: &str = "peration";

impl ScriptHunk {
    /// How it is spoken of.
    fn spoken(&self) -> String {
        format!("`{}` (row {} of the patch)", self.act, self.row)
    }
}

/// What the operations of a patch are called; empty for patches in other languages.
#[derive(Default)]
pub struct HunkNames<'p> {
    hunks: &'p [ScriptHunk],
    /// The paths of the patch that hold the word: they stay as they are.
    paths: Vec<&'p str>,
}

impl<'p> HunkNames<'p> {
    /// Those of a patch.
    pub fn of(patch: &'p Operations) -> Self {
        let hunks = patch.hunks.as_slice();
        if hunks.is_empty() {
            return HunkNames::default();
        }
        let edits = patch.edits.iter().map(|one| one.path.as_str());
        let files = patch.files.iter().flat_map(|one| match &one.action {
            FileAction::Move { to } => vec![one.path.as_str(), to.as_str()],
            FileAction::Add { .. } | FileAction::Delete => vec![one.path.as_str()],
        });
        let mut paths: Vec<_> =
            edits.chain(files).filter(|path| path.contains(OPERATION)).collect();
        paths.sort_unstable();
        paths.dedup();
        HunkNames { hunks, paths }
    }

    /// Whether the operations have none.
    pub fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }
}

/// Puts the heads of hunks in place of the numbers of operations, and says which hunk it is.
pub fn name_hunks(names: &HunkNames<'_>, failure: &mut Failure, report: Option<&mut AnchorReport>) {
    let name = names.hunks.get(failure.operation).map(ScriptHunk::spoken);
    let told = |text: &str| named(names, text);
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
pub fn name_applied_hunks(names: &HunkNames<'_>, applied: &mut Applied) {
    if names.is_empty() {
        return;
    }
    let is_row = |row: &str| row.starts_with(|first: char| first.is_ascii_digit());
    let told = |row: &str| if is_row(row) { row.to_owned() } else { named(names, row) };
    let messages = applied.warnings.iter_mut().map(|warning| &mut warning.message);
    for text in messages.chain([&mut applied.text]) {
        if memmem::find(text.as_bytes(), OPERATION.as_bytes()).is_some() {
            *text = text.split('\n').map(told).collect::<Vec<_>>().join("\n");
        }
    }
}

/// A text in which operations have the names of their hunks.
fn named(names: &HunkNames<'_>, text: &str) -> String {
    let kept: Vec<Range<usize>> = names
        .paths
        .iter()
        .flat_map(|path| text.match_indices(path).map(|(at, path)| at..at + path.len()))
        .collect();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(OPERATION) {
        // The letter before is that of the word.
        let start = at.saturating_sub(1);
        let is_word = at > 0 && matches!(rest.as_bytes()[start], b'o' | b'O');
        let place = text.len() - rest.len() + at;
        let is_kept = kept.iter().any(|path| path.contains(&place));
        let Some((told, behind)) =
            named_here(names.hunks, &rest[at..]).filter(|_| is_word && !is_kept)
        else {
            out += &rest[..at + OPERATION.len()];
            rest = &rest[at + OPERATION.len()..];
            continue;
        };
        out += &rest[..start];
        out += &told;
        rest = behind;
    }
    (out + rest).replace("into one operation", "into one hunk")
}

/// What stands for the operation, or the two, that a text names at its start, and the text behind.
fn named_here<'t>(hunks: &[ScriptHunk], text: &'t str) -> Option<(String, &'t str)> {
    let Some(behind) = text.strip_prefix("perations ") else {
        return hunk_at(hunks, text.strip_prefix("peration ")?);
    };
    let (first, rest) = hunk_at(hunks, behind)?;
    match rest.strip_prefix(" and ").and_then(|behind| hunk_at(hunks, behind)) {
        Some((second, rest)) => Some((format!("{first} and {second}"), rest)),
        None => Some((first, rest)),
    }
}

/// The name of the hunk whose number a text begins with, and what follows the number.
fn hunk_at<'t>(hunks: &[ScriptHunk], text: &'t str) -> Option<(String, &'t str)> {
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
    use crate::edit::request::{HunkAct, HunkLines};

    #[test]
    fn operations_have_the_names_of_their_hunks() {
        let put = HunkAct::Replace(HunkLines::Range(3, 5), Vec::new());
        let hunks = [ScriptHunk { row: 2, act: put }, ScriptHunk { row: 7, act: HunkAct::Remove }];
        let names = HunkNames { hunks: &hunks, paths: vec!["operation 0.txt"] };
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
            ("[operation 0.txt#A341] operation 1", format!("[operation 0.txt#A341] {rem}")),
            ("", String::new()),
        ] {
            assert_eq!(named(&names, text), expected);
        }
    }
}
