//! Rules about markers that a model copied into its text: those of diffs, and anchors.

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

/// Whether the rest of a single line after its `+` fits the site of the edit.
fn is_diff_row(context: &EditContext<'_, '_>, draft: &ModelText, rest: &str) -> bool {
    let indented = |line: &str| {
        let indentation = indentation(line);
        !indentation.is_empty() && rest.starts_with(indentation)
    };
    context.reference_lines(draft).iter().any(|line| indented(line))
        || context.replaced(draft).iter().any(|line| similarity(rest, line) > SIMILARITY_MIN)
}

/// `strip-anchors`: removes anchors such as `12:a3|` in front of every line.
pub(super) fn strip_anchors(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let dialect = context.dialect;
    // Without hashes, an anchor is a number, and any text may begin with a number.
    if !dialect.has_hashes()
        || context.reference_lines(draft).iter().any(|line| prefix(dialect, line).is_some())
    {
        return None;
    }
    let prefixes: Option<Vec<RowAnchor<'_>>> =
        draft.non_blank_lines().map(|line| prefix(dialect, line)).collect();
    // The anchor of a blank line is a number alone, so it proves nothing.
    let hashed = prefixes?.into_iter().filter(|prefix| !dialect.is_bare(prefix.hash));
    let hashed: Vec<RowAnchor<'_>> = hashed.collect();
    let is_anchor = |prefix: &&RowAnchor<'_>| {
        hash_line(dialect, prefix.line, prefix.text) == prefix.hash
            || (context.line)(prefix.line)
                .is_some_and(|line| hash_line(dialect, prefix.line, &line) == prefix.hash)
    };
    let anchor_count = hashed.iter().filter(is_anchor).count();
    if anchor_count == 0 || anchor_count * 2 < hashed.len() {
        return None;
    }
    let strip = |line: &String| {
        prefix(dialect, line).map_or(line.as_str(), |prefix| prefix.text).to_owned()
    };
    Some(draft.lines.iter().map(strip).collect())
}

/// The anchor in front of a line, after an optional `>>>` of a report.
fn prefix<'a>(dialect: &Dialect, line: &'a str) -> Option<RowAnchor<'a>> {
    let text = line.trim_start();
    RowAnchor::of(dialect, text.strip_prefix(">>>").unwrap_or(text).trim_start())
}
