//! Rules about the layout of lines: indentation, merges, wraps and hyphens.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::{EditContext, EditSite, ModelText, equal_ignoring_whitespace, indentation};
use hashline_lines::dialect::Whitespace;
use hashline_lines::normalize::without_white_space;
use hashline_lines::similarity::similarity;

/// `inherit-indent`: indents a text for an indented block whose first line has lost its
/// indentation.
pub(super) fn inherit_indent(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let replaced = context.replaced(draft);
    let indent = indentation(replaced.first().filter(|line| !line.trim().is_empty())?);
    let mut filled = draft.non_blank_lines();
    let first = filled.next()?;
    let is_plain_word = first.chars().any(char::is_alphanumeric) && !first.starts_with('#');
    let is_unindented = |line: &str| !line.trim().is_empty() && indentation(line).is_empty();
    if context.is_prose
        || indent.is_empty()
        || !is_unindented(first)
        || !is_plain_word
        || replaced.iter().any(|line| is_unindented(line))
        || is_unindented_block(first, draft.non_blank_lines().nth(1), indent)
        || is_new_list_item(first, &replaced)
        || is_next_to_unindented(context, draft)
        || is_enclosing_block_changed(context, draft, indent)
        || equal_ignoring_whitespace(&replaced, &draft.lines)
    {
        return None;
    }
    let is_inside = draft.non_blank_lines().skip(1).all(|line| line.starts_with(indent));
    if !is_inside && !is_like_any(first, &replaced) {
        return None;
    }
    // If a later line equals an old one, the later lines still have their indentation.
    let only_first = is_inside || {
        let old: HashSet<&str> = replaced.iter().map(AsRef::as_ref).collect();
        filled.any(|line| old.contains(line.as_str()))
    };
    let mut seen_first = false;
    let indented = |line: &String| {
        if line.trim().is_empty() || (seen_first && only_first) {
            return line.clone();
        }
        seen_first = true;
        format!("{indent}{line}")
    };
    Some(draft.lines.iter().map(indented).collect())
}

/// The minimum similarity for a line to count as a changed version of another.
const CHANGED_LINE_MIN: f64 = 0.5;

/// Whether a line is an old line or a changed version of one. An unindented text of several lines
/// that begins with another line may be a different text, which is unindented on purpose.
fn is_like_any(line: &str, old: &[impl AsRef<str>]) -> bool {
    let trimmed = line.trim();
    old.iter().any(|old| similarity(trimmed, old.as_ref().trim()) >= CHANGED_LINE_MIN)
}

/// Whether a text begins with a block that is unindented on purpose: the first line opens it, and
/// the second line is indented no deeper than the old lines. Below a line that has lost its
/// indentation, the lines would be deeper.
fn is_unindented_block(first: &str, second: Option<&String>, indent: &str) -> bool {
    let inner = second.map_or(0, |line| indentation(line).len());
    opens_block(first) && inner > 0 && inner <= indent.len()
}

/// Whether a line begins a list item and no old line does: a new list may be unindented on purpose.
/// `+` does not count, because it is more often the marker of a diff.
fn is_new_list_item(line: &str, old: &[impl AsRef<str>]) -> bool {
    let is_item = |line: &str| {
        let rest = line.trim_start().strip_prefix(['-', '*']);
        rest.is_some_and(|rest| rest.starts_with([' ', '\t']))
    };
    is_item(line) && !old.iter().any(|old| is_item(old.as_ref()))
}

/// Whether the next non-blank line above or below is unindented and has a letter or digit. Then the
/// text may be unindented on purpose. A line above that opens a block does not count.
fn is_next_to_unindented(context: &EditContext<'_, '_>, draft: &ModelText) -> bool {
    let EditSite::Lines(first, last) = draft.site else {
        return false;
    };
    let filled = |number: u64| (context.line)(number).filter(|line| !line.trim().is_empty());
    let above = (1..first).rev().take(NEIGHBOUR_LIMIT_LINES).find_map(filled);
    let below = (last + 1..).take(NEIGHBOUR_LIMIT_LINES).find_map(filled);
    let has_word = |line: &str| line.chars().any(char::is_alphanumeric);
    let is_unindented = |line: &str| indentation(line).is_empty() && has_word(line);
    above.is_some_and(|line| is_unindented(&line) && !opens_block(&line))
        || below.is_some_and(|line| is_unindented(&line))
}

/// Whether the patch changes the line that opens the block around the old lines, which is the next
/// line above with less indentation. A patch that removes a block sends its lines unindented.
fn is_enclosing_block_changed(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
    indent: &str,
) -> bool {
    let EditSite::Lines(first, _) = draft.site else {
        return false;
    };
    let is_less_deep = |number: &u64| {
        let line = (context.line)(*number).filter(|line| !line.trim().is_empty());
        line.is_some_and(|line| indentation(&line).len() < indent.len())
    };
    let mut above = (1..first).rev().take(ENCLOSING_LIMIT_LINES);
    above.find(is_less_deep).is_some_and(|number| (context.is_touched)(number))
}

/// The number of lines that are searched for the line that opens the block around a text.
const ENCLOSING_LIMIT_LINES: usize = 500;

/// The number of lines that are searched for the next non-blank line.
const NEIGHBOUR_LIMIT_LINES: usize = 5;

fn opens_block(line: &str) -> bool {
    line.trim_end().ends_with(['{', '(', '[', ':'])
}

/// Tokens after which a statement continues in the next line.
const CONTINUATIONS: [&str; 13] =
    ["&&", "||", "??", "?", ":", "=", ",", "+", "-", "*", "/", ".", "("];

/// How much longer than both lines together a merged line may be, in UTF-16 units.
const MERGE_SLACK_UNITS: usize = 32;

/// `merges`: if the only new line contains the replaced line and an adjacent line of the same
/// statement, above or below, both old lines are replaced.
pub(super) fn expand_merge(context: &EditContext<'_, '_>, draft: &ModelText) -> Option<ModelText> {
    let (EditSite::Lines(line, last), [new]) = (draft.site, draft.lines.as_slice()) else {
        return None;
    };
    if line != last {
        return None;
    }
    let new = without_white_space(new);
    let old = without_white_space(&context.text(line));
    let free = |number: u64| {
        let text = (context.line)(number).filter(|_| !(context.is_touched)(number))?;
        Some(without_white_space(&text)).filter(|text| !text.is_empty())
    };
    if old.is_empty() {
        return None;
    }
    let merged = |site| Some(ModelText { site, lines: draft.lines.clone() });
    if let (Some(head), Some(next)) = (without_continuation(&old), free(line + 1))
        && contains_in_sequence(&new, head, &next)
        && is_about_as_long(&new, &old, &next)
    {
        return merged(EditSite::Lines(line, line + 1));
    }
    let previous = free(line.checked_sub(1)?)?;
    let head = without_operators(without_continuation(&previous)?);
    (contains_in_sequence(&without_operators(&new), &head, &without_operators(&old))
        && is_about_as_long(&new, &previous, &old))
    .then(|| merged(EditSite::Lines(line - 1, line)))
    .flatten()
}

fn contains_in_sequence(new: &str, head: &str, tail: &str) -> bool {
    matches!((new.find(head), new.find(tail)), (Some(head), Some(tail)) if head < tail)
}

/// Whether the new line is not much longer than both old lines together.
fn is_about_as_long(new: &str, one: &str, other: &str) -> bool {
    units(new) <= units(one) + units(other) + MERGE_SLACK_UNITS
}

/// The length of a text in UTF-16 units, which the origin of these rules counts.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn without_continuation(line: &str) -> Option<&str> {
    CONTINUATIONS.iter().find_map(|token| line.strip_suffix(token))
}

fn without_operators(text: &str) -> String {
    text.replace(['|', '&', '?'], "")
}

/// The maximum number of new lines that are joined to one wrapped line.
const WRAP_LIMIT_LINES: usize = 10;

/// The minimum length of a wrapped line, in UTF-16 units. Shorter lines match by accident.
const WRAP_MIN_UNITS: usize = 6;

/// A run of new lines that together equal one old line except for whitespace.
struct Wrap {
    start: usize,
    count: usize,
    canon: String,
}

/// `wraps`: a run of new lines that equals one old line except for whitespace becomes that line. If
/// several runs equal the same old line, none is changed.
pub(super) fn restore_wraps(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let mut old: HashMap<String, Vec<String>> = HashMap::new();
    for line in context.replaced(draft) {
        old.entry(without_white_space(&line)).or_default().push(line.into_owned());
    }
    // A blank line, or a line that equals an old one, is not part of a wrap: a model that copies
    // the lines around its change has not wrapped the lines next to them.
    let canons = draft.lines.iter().map(|line| without_white_space(line));
    let parts: Vec<Option<String>> = canons
        .map(|canon| {
            let is_whole = canon.is_empty() || old.contains_key(&canon);
            Some(canon).filter(|_| context.dialect.recorded_repairs || !is_whole)
        })
        .collect();
    old.retain(|canon, lines| lines.len() == 1 && units(canon) >= WRAP_MIN_UNITS);
    let wraps = wraps_of(&old, &parts);
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for wrap in &wraps {
        *uses.entry(&wrap.canon).or_default() += 1;
    }
    let is_unique = |wrap: &&Wrap| uses[wrap.canon.as_str()] == 1;
    let mut unique: Vec<&Wrap> = wraps.iter().filter(is_unique).collect();
    // From the end, so that no wrap moves an earlier one. If two overlap, the earlier one replaces
    // the result of the later one.
    unique.sort_by_key(|wrap| Reverse(wrap.start));
    let mut lines = draft.lines.clone();
    for wrap in unique {
        let end = lines.len().min(wrap.start + wrap.count);
        lines.splice(wrap.start..end, old[&wrap.canon].clone());
    }
    Some(lines)
}

/// The runs of `parts` that together equal an old line. A run does not contain `None`.
fn wraps_of(old: &HashMap<String, Vec<String>>, parts: &[Option<String>]) -> Vec<Wrap> {
    let longest = old.keys().map(String::len).max().unwrap_or(0);
    let mut wraps = Vec::new();
    for start in 0..parts.len() {
        let mut canon = String::new();
        let run = parts[start..].iter().map_while(Option::as_ref);
        for (count, part) in (1..=WRAP_LIMIT_LINES).zip(run) {
            canon.push_str(part);
            if canon.len() > longest {
                break;
            }
            if count > 1 && old.contains_key(&canon) {
                wraps.push(Wrap { start, count, canon: canon.clone() });
            }
        }
    }
    wraps
}

/// `paired-indent`: if there are as many new lines as old lines, a new line without indentation
/// gets that of its old line.
pub(super) fn paired_indent(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let replaced = context.replaced(draft);
    if replaced.len() != draft.lines.len() {
        return None;
    }
    let indented = |(old, new): (&std::borrow::Cow<'_, str>, &String)| {
        if !new.is_empty() && leading_whitespace(new).is_empty() {
            format!("{}{new}", leading_whitespace(old))
        } else {
            new.clone()
        }
    };
    Some(replaced.iter().zip(&draft.lines).map(indented).collect())
}

/// All whitespace at the start of a line, as the origin of this rule defines it. It includes more
/// characters than spaces and tabs.
fn leading_whitespace(line: &str) -> &str {
    let rest = line.trim_start_matches(|character| Whitespace::JavaScript.contains(character));
    &line[..line.len() - rest.len()]
}

/// `confusables`: if the text equals the old lines except for characters that look like hyphens,
/// these become `-`.
pub(super) fn plain_hyphens(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let replaced = context.replaced(draft);
    let plain = |line: &str| line.replace(is_hyphen, "-");
    let same = replaced.len() == draft.lines.len()
        && replaced.iter().any(|line| line.contains(is_hyphen))
        && replaced.iter().zip(&draft.lines).all(|(old, new)| plain(old) == plain(new));
    same.then(|| draft.lines.iter().map(|line| plain(line)).collect())
}

fn is_hyphen(character: char) -> bool {
    matches!(character, '\u{2010}'..='\u{2014}' | '\u{2212}' | '\u{FE63}' | '\u{FF0D}')
}
