//! Rules about markers that a model copied into its text: those of diffs, and anchors.

use std::borrow::Cow;

use super::echoes::{Neighbours, TextEnd};
use super::{EditContext, ModelText, equal_ignoring_whitespace, indentation};
use hashline_lines::anchor::RowAnchor;
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use hashline_lines::similarity::similarity;

/// A single line counts as a row of a diff if it is more similar than this to a replaced line.
const SIMILARITY_MIN: f64 = 0.5;

/// `strip-plus`: removes the `+` of a diff in front of every line.
pub(super) fn strip_plus(context: &EditContext<'_, '_>, draft: &ModelText) -> Option<Vec<String>> {
    let reference = context.reference_lines(draft);
    let filled: Vec<&str> = draft.non_blank_lines().map(String::as_str).collect();
    let has_plus = |line: &&str| line.starts_with('+') && !line.starts_with("++");
    if reference.iter().any(|line| line.trim_start().starts_with('+'))
        || !filled.iter().all(has_plus)
        || filled.iter().any(|line| is_meant_plus(&line[1..]))
        || context.is_prose && filled.iter().all(|line| line.starts_with("+ "))
        || is_in_diff(context, draft)
    {
        return None;
    }
    let is_diff = match filled.as_slice() {
        [] => false,
        [line] => is_diff_row(context, draft, &line[1..]),
        _ => true,
    };
    let strip = |line: &String| line.strip_prefix('+').unwrap_or(line).to_owned();
    let stripped: Vec<String> = draft.lines.iter().map(strip).collect();
    // If the text differs from the old lines only by the signs, the edit adds the signs. And `+ `
    // in place of another bullet is a bullet.
    let is_old = equal_ignoring_whitespace(&context.replaced(draft), &stripped);
    let is_bullet = |line: &str| matches!(line.trim_start().get(..2), Some("- " | "* "));
    let are_bullets = reference.iter().any(|line| is_bullet(line))
        && filled.iter().all(|line| line.starts_with("+ ") && !is_bullet(&line[1..]));
    (is_diff && !is_old && !are_bullets).then_some(stripped)
}

/// Whether a `+` before this text is probably no marker: `+word+` is markup of RDoc, and `+49 30 …`
/// a telephone number.
fn is_meant_plus(rest: &str) -> bool {
    let word = rest.find(['+', ' ', '\t']).filter(|&end| end > 0);
    let is_markup = word.is_some_and(|end| {
        let after = &rest[end..];
        after.starts_with('+') && !after.starts_with("++")
    });
    let is_number_part = |one: char| one.is_ascii_digit() || " ()-./".contains(one);
    let number = &rest[..rest.len() - rest.trim_start_matches(is_number_part).len()];
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    is_markup || rest.starts_with(|one: char| one.is_ascii_digit()) && digits >= PHONE_MIN_DIGITS
}

/// The minimum number of digits of a telephone number with its country.
const PHONE_MIN_DIGITS: usize = 7;

/// Whether a text is put into a diff: next to a line of one, or in a code block of that language.
fn is_in_diff(context: &EditContext<'_, '_>, draft: &ModelText) -> bool {
    let Some(neighbours) = Neighbours::of(draft.site) else { return false };
    let is_row = |number: u64| {
        let line = (context.line)(number).filter(|_| number > 0);
        line.is_some_and(|line| {
            line.starts_with("@@ ") || line.starts_with('+') && !line.starts_with("++")
        })
    };
    let [above, below] = [TextEnd::Start, TextEnd::End]
        .map(|end| neighbours.run(end, 1).map_or(0, |(line, _)| line));
    let fence = (1..=above).rev().take(FENCE_LIMIT_LINES).find_map(|number| {
        let line = (context.line)(number)?;
        let rest = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| rest.starts_with(mark))?;
        Some(rest.trim_start_matches(&mark[..1]).trim().to_owned())
    });
    let is_diff = |language: &str| language.starts_with("diff") || language.starts_with("patch");
    is_row(above) || is_row(below) || fence.is_some_and(|language| is_diff(&language))
}

/// The number of lines that are searched for the start of a code block.
const FENCE_LIMIT_LINES: usize = 200;

/// Whether the rest of a single line after its `+` fits the site of the edit.
fn is_diff_row(context: &EditContext<'_, '_>, draft: &ModelText, rest: &str) -> bool {
    let indented = |line: &str| {
        let indentation = indentation(line);
        !indentation.is_empty() && rest.starts_with(indentation)
    };
    context.reference_lines(draft).iter().any(|line| indented(line))
        || context.replaced(draft).iter().any(|line| similarity(rest, line) > SIMILARITY_MIN)
}

/// `strip-anchors`: removes anchors such as `12:a3|` in front of lines.
pub(super) fn strip_anchors(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let dialect = context.dialect;
    if context.reference_lines(draft).iter().any(|line| prefix(dialect, line).is_some()) {
        return None;
    }
    let lines: Vec<&str> = draft.lines.iter().map(String::as_str).collect();
    let stripped = strip_rows(&context.row_evidence(), &lines)?;
    Some(stripped.into_iter().map(str::to_owned).collect())
}

/// What is known of the rows that a text may contain.
pub struct RowEvidence<'r, 'a> {
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// Whether the session showed exactly this row.
    pub has_shown: &'r dyn Fn(&RowAnchor<'_>) -> bool,
    /// The text of a line of the file.
    pub line: &'r dyn Fn(u64) -> Option<Cow<'a, str>>,
    /// Whether lines of the file begin like rows.
    pub file_has_rows: &'r dyn Fn() -> bool,
}

/// What the beginning of a line of a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowKind {
    /// The whole line is a row that was shown.
    Shown,
    /// An anchor with the hash of this text, or of the line with its number.
    Known,
    /// The number of a blank line, which has no hash and so proves nothing.
    Bare,
    /// An anchor with another hash.
    Invented,
}

impl RowEvidence<'_, '_> {
    fn kind(&self, row: &RowAnchor<'_>) -> RowKind {
        let RowAnchor { line, hash, text } = *row;
        let has_hash = |text: &str| hash_line(self.dialect, line, text) == hash;
        if (self.has_shown)(row) {
            RowKind::Shown
        } else if !self.dialect.has_hashes() || self.dialect.is_bare(hash) {
            RowKind::Bare
        } else if has_hash(text) || (self.line)(line).is_some_and(|line| has_hash(&line)) {
            RowKind::Known
        } else {
            RowKind::Invented
        }
    }

    /// The kinds of the lines that are not blank; `None` for a line that does not begin like a row.
    fn kinds<'t>(&self, lines: &[&'t str]) -> Vec<Option<(RowKind, RowAnchor<'t>)>> {
        let filled = lines.iter().filter(|line| !line.trim().is_empty());
        let kind = |row: RowAnchor<'t>| (self.kind(&row), row);
        filled.map(|line| prefix(self.dialect, line).map(kind)).collect()
    }
}

/// The lines of a text without copied anchors; `None` if there are none.
///
/// If every line begins like a row and at least half of the hashes are correct, all anchors are
/// removed. Otherwise those of rows that were shown, and correct ones next to them; and correct
/// ones if at least half of the lines, and two, have one. Nothing is removed if lines of the file
/// itself begin like rows.
pub fn strip_rows<'t>(evidence: &RowEvidence<'_, '_>, lines: &[&'t str]) -> Option<Vec<&'t str>> {
    let kinds = evidence.kinds(lines);
    let count = |wanted: &[RowKind]| {
        let has_kind = |(kind, _): &&(RowKind, RowAnchor<'_>)| wanted.contains(kind);
        kinds.iter().flatten().filter(has_kind).count()
    };
    let (shown, right) = (count(&[RowKind::Shown]), count(&[RowKind::Shown, RowKind::Known]));
    let hashed = right + count(&[RowKind::Invented]);
    let has_hashes = evidence.dialect.has_hashes();
    let all = has_hashes && kinds.iter().all(Option::is_some) && right * 2 >= hashed;
    let is_copied = shown > 0 || right >= 2 && right * 2 >= kinds.len();
    if right == 0 || !(all || is_copied) || (evidence.file_has_rows)() {
        return None;
    }
    let strip = |&line: &&'t str| match prefix(evidence.dialect, line) {
        Some(row) if all || evidence.kind(&row) != RowKind::Invented => {
            let is_number = !has_hashes && !(evidence.has_shown)(&row);
            if is_number { line } else { row.text }
        }
        _ => line,
    };
    Some(lines.iter().map(strip).collect())
}

/// The index of the first row of a text in which most lines begin like rows whose hashes no line
/// has. `named` are the lines that the operation names, if it names any: then the file must have
/// the line of the first row, and a single row must have one of their numbers. Rows whose hashes
/// are only digits may be times.
pub fn invented_row(
    evidence: &RowEvidence<'_, '_>,
    lines: &[&str],
    named: Option<(u64, u64)>,
) -> Option<usize> {
    let kinds = evidence.kinds(lines);
    let rows = kinds.iter().flatten().filter(|(kind, _)| *kind == RowKind::Invented);
    let rows: Vec<&RowAnchor<'_>> = rows.map(|(_, row)| row).collect();
    let has_letter = |row: &&RowAnchor<'_>| {
        evidence.dialect.hash_text(row.hash).contains(|digit: char| digit.is_ascii_alphabetic())
    };
    let is_in_file = |row: &RowAnchor<'_>| named.is_none() || (evidence.line)(row.line).is_some();
    let are_rows = match *rows.as_slice() {
        [] => false,
        [row] => named.is_some_and(|(first, last)| (first..=last).contains(&row.line)),
        [first, ..] => is_in_file(first) && rows.is_sorted_by(|one, next| one.line < next.line),
    };
    let is_most = rows.len() * 2 > kinds.len();
    if !is_most || !are_rows || !rows.iter().any(has_letter) || (evidence.file_has_rows)() {
        return None;
    }
    lines.iter().position(|line| prefix(evidence.dialect, line).is_some())
}

/// The anchor in front of a line, after an optional `>>>` of a report.
fn prefix<'a>(dialect: &Dialect, line: &'a str) -> Option<RowAnchor<'a>> {
    let text = line.trim_start();
    RowAnchor::of(dialect, text.strip_prefix(">>>").unwrap_or(text).trim_start())
}
