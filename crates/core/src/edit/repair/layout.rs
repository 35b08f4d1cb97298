//! Rules about how lines are laid out: indentation, merges, wraps, hyphens.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::{EditContext, EditSite, ModelText, equal_ignoring_whitespace, indentation};
use hashline_lines::dialect::WhiteSpace;
use hashline_lines::normalize::without_white_space;
use hashline_lines::similarity::similarity;

/// `inherit-indent`: the text of an indented block whose first line lost its indentation.
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
    if indent.is_empty()
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
    // A line that is an old one stands as it did: then the others do, too.
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

/// From this similarity on, a line is taken for a changed version of another.
const CHANGED_LINE_MIN: f64 = 0.5;

/// Whether a line is one of the old ones or a changed version of it. A text of several lines at
/// the margin that begins with none may be another one, which belongs there.
fn is_like_any(line: &str, old: &[impl AsRef<str>]) -> bool {
    let trimmed = line.trim();
    old.iter().any(|old| similarity(trimmed, old.as_ref().trim()) >= CHANGED_LINE_MIN)
}

/// Whether a text begins with a block that belongs at the margin: its first line opens one, and
/// the next is indented, but no deeper than the old lines were. A line that had lost its
/// indentation would have deeper ones below it.
fn is_unindented_block(first: &str, second: Option<&String>, indent: &str) -> bool {
    let inner = second.map_or(0, |line| indentation(line).len());
    opens_block(first) && inner > 0 && inner <= indent.len()
}

/// Whether a line begins an item of a list, and no old line did: a list where none was may well
/// begin at the margin. A `+` is rather one of a diff.
fn is_new_list_item(line: &str, old: &[impl AsRef<str>]) -> bool {
    let is_item = |line: &str| {
        let rest = line.trim_start().strip_prefix(['-', '*']);
        rest.is_some_and(|rest| rest.starts_with([' ', '\t']))
    };
    is_item(line) && !old.iter().any(|old| is_item(old.as_ref()))
}

/// Whether the text stands beside one at the margin that says something: then it may well belong
/// there itself. The line that opens the block around it is none of that kind.
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

/// Whether the patch changes the line in whose block the old lines are: the first above that is
/// less deep. Whoever takes a block apart sends its lines at the margin.
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

/// How far above a text the line is looked for in whose block it is.
const ENCLOSING_LIMIT_LINES: usize = 500;

/// How far from a text its neighbours are looked for beyond empty lines.
const NEIGHBOUR_LIMIT_LINES: usize = 5;

fn opens_block(line: &str) -> bool {
    line.trim_end().ends_with(['{', '(', '[', ':'])
}

/// Tokens after which a statement goes on in the next line.
const CONTINUATIONS: [&str; 13] =
    ["&&", "||", "??", "?", ":", "=", ",", "+", "-", "*", "/", ".", "("];

/// How much longer than both lines their merged form may be, in UTF-16 units.
const MERGE_SLACK_UNITS: usize = 32;

/// `merges`: one line of text holds a line and the one that continues it, or the one that it
/// continues; both are then replaced.
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

/// Whether the new line is not much longer than both old ones.
fn is_about_as_long(new: &str, one: &str, other: &str) -> bool {
    units(new) <= units(one) + units(other) + MERGE_SLACK_UNITS
}

/// The length of a text as the origin of these rules counts it.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn without_continuation(line: &str) -> Option<&str> {
    CONTINUATIONS.iter().find_map(|token| line.strip_suffix(token))
}

fn without_operators(text: &str) -> String {
    text.replace(['|', '&', '?'], "")
}

/// The longest run of new lines that is looked at as one wrapped line.
const WRAP_LIMIT_LINES: usize = 10;

/// A shorter text says too little to tell a wrapped line by, in UTF-16 units.
const WRAP_MIN_UNITS: usize = 6;

/// New lines that, white space aside, are one old line.
struct Wrap {
    start: usize,
    count: usize,
    canon: String,
}

/// `wraps`: a run of new lines that, white space aside, is one old line becomes that line. Where
/// several runs are the same line, none does.
pub(super) fn restore_wraps(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let mut old: HashMap<String, Vec<String>> = HashMap::new();
    for line in context.replaced(draft) {
        old.entry(without_white_space(&line)).or_default().push(line.into_owned());
    }
    // A blank line adds nothing to another, and a line that is an old one is that one still: a
    // model that copies the lines around its change has not wrapped what stands beside them.
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
    // From the end, so that no wrap moves an earlier one; where two overlap, the earlier one
    // takes in what the later one made.
    unique.sort_by_key(|wrap| Reverse(wrap.start));
    let mut lines = draft.lines.clone();
    for wrap in unique {
        let end = lines.len().min(wrap.start + wrap.count);
        lines.splice(wrap.start..end, old[&wrap.canon].clone());
    }
    Some(lines)
}

/// The runs of `parts` that are an old line together; `None` is part of no such run.
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

/// `paired-indent`: as many new lines as old; one without indentation gets the old one's.
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

/// All white space at the start of a line: more than its indentation on odd lines, and what
/// the origin of this rule takes.
fn leading_whitespace(line: &str) -> &str {
    let rest = line.trim_start_matches(|character| WhiteSpace::JavaScript.contains(character));
    &line[..line.len() - rest.len()]
}

/// `confusables`: the text is the old lines but for their look-alike hyphens: they become `-`.
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
