//! Rules about marks that a model copied from what it was shown: diff markers and anchors.

use super::{ModelText, Surroundings, alike_without_white_space, indentation};
use crate::text::dialect::Dialect;
use crate::text::hash::hash_line;
use crate::text::similarity::similarity;

/// A single line counts as a diff row when it is more than this alike to the replaced line.
const ALIKE_MIN: f64 = 0.5;

/// `strip-plus`: the `+` of a diff in front of every line.
pub(super) fn strip_plus(subject: &Surroundings<'_, '_>, draft: &ModelText) -> Option<Vec<String>> {
    let beside = subject.beside(draft);
    let filled: Vec<&str> = draft.filled().map(String::as_str).collect();
    let marked = |line: &&str| line.starts_with('+') && !line.starts_with("++");
    if beside.iter().any(|line| line.trim_start().starts_with('+')) || !filled.iter().all(marked) {
        return None;
    }
    let is_diff = match filled.as_slice() {
        [] => false,
        [line] => is_diff_row(subject, draft, &line[1..]),
        _ => true,
    };
    let strip = |line: &String| line.strip_prefix('+').unwrap_or(line).to_owned();
    let stripped: Vec<String> = draft.lines.iter().map(strip).collect();
    // A sign that alone tells the text from the old lines is what the edit is about, and
    // `+ ` in place of another bullet is a bullet.
    let is_old = alike_without_white_space(&subject.replaced(draft), &stripped);
    let is_bullet = |line: &str| matches!(line.trim_start().get(..2), Some("- " | "* "));
    let are_bullets = beside.iter().any(|line| is_bullet(line))
        && filled.iter().all(|line| line.starts_with("+ ") && !is_bullet(&line[1..]));
    (is_diff && !is_old && !are_bullets).then_some(stripped)
}

/// Whether what follows a lone `+` is a line for this place.
fn is_diff_row(subject: &Surroundings<'_, '_>, draft: &ModelText, rest: &str) -> bool {
    let indented = |line: &str| {
        let indentation = indentation(line);
        !indentation.is_empty() && rest.starts_with(indentation)
    };
    subject.beside(draft).iter().any(|line| indented(line))
        || subject.replaced(draft).iter().any(|line| similarity(rest, line) > ALIKE_MIN)
}

/// `strip-anchors`: `12:a3|` in front of every line.
pub(super) fn strip_anchors(
    subject: &Surroundings<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let dialect = subject.dialect;
    if subject.beside(draft).iter().any(|line| prefix(dialect, line).is_some()) {
        return None;
    }
    let prefixes: Option<Vec<Prefix<'_>>> =
        draft.filled().map(|line| prefix(dialect, line)).collect();
    let prefixes = prefixes.filter(|prefixes| !prefixes.is_empty())?;
    let is_true = |prefix: &&Prefix<'_>| {
        hash_line(dialect, prefix.number, prefix.rest) == prefix.hash
            || (subject.line)(prefix.number)
                .is_some_and(|line| hash_line(dialect, prefix.number, &line) == prefix.hash)
    };
    if prefixes.iter().filter(is_true).count() * 2 < prefixes.len() {
        return None;
    }
    let strip = |line: &String| {
        prefix(dialect, line).map_or(line.as_str(), |prefix| prefix.rest).to_owned()
    };
    Some(draft.lines.iter().map(strip).collect())
}

/// The anchor in front of a line.
struct Prefix<'a> {
    number: u64,
    hash: u32,
    rest: &'a str,
}

fn prefix<'a>(dialect: &Dialect, line: &'a str) -> Option<Prefix<'a>> {
    let text = line.trim_start();
    let text = text.strip_prefix(">>>").unwrap_or(text).trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok()?;
    let text = text[digits..].strip_prefix(dialect.separator as char)?;
    let hash = dialect.parse_hash(text.get(..dialect.width)?.as_bytes())?;
    let rest = text[dialect.width..].strip_prefix(dialect.text_mark as char)?;
    Some(Prefix { number, hash, rest })
}
