//! Rules about the layout of lines: indentation, merges, wraps and hyphens.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::{EditContext, EditSite, ModelText, equal_ignoring_whitespace, indentation};
use hashline_lines::dialect::Whitespace;
use hashline_lines::normalize::without_white_space;
use hashline_lines::similarity::similarity;

/// `inherit-indent`: indents a text for an indented block whose first line has lost its
/// indentation. In prose any line may be at the margin.
pub(super) fn inherit_indent(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let replaced = context.replaced(draft);
    let indent = indentation(replaced.first().filter(|line| !line.trim().is_empty())?);
    let mut filled = draft.non_blank_lines();
    let first = filled.next()?;
    if context.is_prose
        || indent.is_empty()
        || !is_unindented(first)
        || is_directive(first)
        || replaced.iter().any(|line| is_unindented(line))
        || is_unindented_block(draft, indent)
        || is_new_list_item(first, &replaced)
        || is_new_comment(first, &replaced)
        || is_next_to_unindented(context, draft)
        || is_enclosing_block_changed(context, draft, indent)
        || equal_ignoring_whitespace(&replaced, &draft.lines)
    {
        return None;
    }
    let is_inside = draft.non_blank_lines().skip(1).all(|line| line.starts_with(indent));
    let is_changed = is_like_any(first, &replaced);
    if !is_inside && !is_changed || is_new_at_margin(context, draft, first, is_changed) {
        return None;
    }
    // If a later line equals an old one, the later lines still have their indentation.
    let only_first = is_inside || {
        let old: HashSet<&str> = replaced.iter().map(AsRef::as_ref).collect();
        filled.any(|line| old.contains(line.as_str()))
    };
    if !only_first && is_aligned_with_next(context, draft, indent) {
        return None;
    }
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

/// Whether a line has text, which begins at the margin.
fn is_unindented(line: &str) -> bool {
    !line.trim().is_empty() && indentation(line).is_empty()
}

/// Whether a line may belong at the margin wherever it is: one of the preprocessor or of a
/// template, one that begins with a control character such as ESC, and one without a word.
fn is_directive(line: &str) -> bool {
    line.starts_with(|first: char| first == '#' || first.is_control())
        || line.starts_with("{{")
        || line.starts_with("{%")
        || !line.chars().any(char::is_alphanumeric)
}

/// What comments, quotations and docstrings begin with.
const COMMENT_MARKS: [&str; 12] =
    ["//", "--", "/*", "<!--", "\"\"\"", "'''", "#", ";", "%", ">", "!", "*"];

/// What a line begins with, if it is a comment.
fn comment_mark(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    COMMENT_MARKS.into_iter().find(|mark| line.starts_with(mark))
}

/// Whether a line begins a comment and no old line does, or the comment is code with its
/// indentation: lines are commented out at the margin.
fn is_new_comment(line: &str, old: &[impl AsRef<str>]) -> bool {
    let Some(mark) = comment_mark(line) else { return false };
    let is_same = |old: &str| comment_mark(old) == Some(mark);
    let code_indent = indentation(&line[mark.len()..]);
    let is_first_same = old.first().is_some_and(|old| is_same(old.as_ref()));
    !old.iter().any(|old| is_same(old.as_ref())) || !is_first_same && code_indent.len() > 1
}

/// Whether the first line of a text may belong at the margin. If it is not a changed old line: it
/// closes a bracket, or a blank line is in the text. For comments, too: another line at the margin
/// begins alike.
fn is_new_at_margin(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
    first: &str,
    is_changed: bool,
) -> bool {
    let (EditSite::Lines(above, below), start) = (draft.site, line_start(first)) else {
        return false;
    };
    let is_alike = |number: u64| {
        let line = (context.line)(number);
        line.is_some_and(|line| is_unindented(&line) && line_start(&line) == start)
    };
    let has_paragraphs = draft.lines.iter().any(|line| line.trim().is_empty())
        && draft.non_blank_lines().nth(1).is_some();
    let is_other = !is_changed && (first.starts_with([')', ']', '}']) || has_paragraphs);
    is_other
        || (!is_changed || comment_mark(first).is_some())
            && ((1..above).rev().take(ENCLOSING_LIMIT_LINES).any(is_alike)
                || (below + 1..).take(ENCLOSING_LIMIT_LINES).any(is_alike))
}

/// The first signs and the first word of a line.
fn line_start(line: &str) -> &str {
    let is_word = |one: char| one.is_alphanumeric() || one == '_';
    let signs = line.trim_start_matches(|one: char| !is_word(one) && !one.is_whitespace());
    let rest = signs.trim_start().trim_start_matches(is_word);
    &line[..line.len() - rest.len()]
}

/// Whether the last line of a text is indented like the next line of the file, at least as deep as
/// the old lines: then the text is where it belongs.
fn is_aligned_with_next(context: &EditContext<'_, '_>, draft: &ModelText, indent: &str) -> bool {
    let EditSite::Lines(_, last) = draft.site else { return false };
    let filled = |number: u64| (context.line)(number).filter(|line| !line.trim().is_empty());
    let below = (last + 1..).take(NEIGHBOUR_LIMIT_LINES).find_map(filled);
    let end = draft.non_blank_lines().last().map_or("", |line| indentation(line));
    end.len() >= indent.len() && below.is_some_and(|line| indentation(&line) == end)
}

/// The minimum similarity for a line to count as a changed version of another.
const CHANGED_LINE_MIN: f64 = 0.5;

/// Whether a line is an old line or a changed version of one. An unindented text of several lines
/// that begins with another line may be a different text, which is unindented on purpose.
fn is_like_any(line: &str, old: &[impl AsRef<str>]) -> bool {
    let trimmed = line.trim();
    old.iter().any(|old| similarity(trimmed, old.as_ref().trim()) >= CHANGED_LINE_MIN)
}

/// Whether a text begins with a block that is unindented on purpose: the first line opens it, or a
/// bracket in the second line, and the next line is indented no deeper than the old lines. Below a
/// line that has lost its indentation, the lines would be deeper.
fn is_unindented_block(draft: &ModelText, indent: &str) -> bool {
    let mut lines = draft.non_blank_lines();
    let (first, second) = (lines.next(), lines.next());
    let inner = match (first, second) {
        (Some(first), second) if opens_block(first) => second,
        (_, Some(second)) if second.trim_end() == "{" => lines.next(),
        _ => None,
    };
    let inner = inner.map_or(0, |line| indentation(line).len());
    inner > 0 && inner <= indent.len()
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

/// The maximum number of new lines that are joined into one line.
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
