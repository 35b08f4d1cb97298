//! Rules about how lines are laid out: indentation, echoes, merges, wraps, hyphens.

use std::collections::HashMap;

use super::{Draft, Place, Subject, alike_without_white_space, indentation};
use crate::normalize::without_white_space;

/// `inherit-indent`: the text of an indented block whose first line lost its indentation.
pub(super) fn inherit_indent(subject: &Subject<'_, '_>, draft: &Draft) -> Option<Vec<String>> {
    let replaced = subject.replaced(draft);
    let indent = indentation(replaced.first().filter(|line| !line.trim().is_empty())?);
    let mut filled = draft.filled();
    let first = filled.next()?;
    let is_plain_word = first.chars().any(char::is_alphanumeric) && !first.starts_with('#');
    let at_margin = |line: &str| !line.trim().is_empty() && indentation(line).is_empty();
    if indent.is_empty()
        || !at_margin(first)
        || !is_plain_word
        || replaced.iter().any(|line| at_margin(line))
        || alike_without_white_space(&replaced.join(""), &draft.lines.concat())
    {
        return None;
    }
    let only_first = filled.all(|line| line.starts_with(indent));
    let mut seen_first = false;
    let mend = |line: &String| {
        if line.trim().is_empty() || (seen_first && only_first) {
            return line.clone();
        }
        seen_first = true;
        format!("{indent}{line}")
    };
    Some(draft.lines.iter().map(mend).collect())
}

/// `echoes`: the text repeats the line that it is inserted at, or the lines around the block
/// that it replaces.
pub(super) fn drop_echoes(subject: &Subject<'_, '_>, draft: &Draft) -> Option<Vec<String>> {
    if draft.lines.len() < 2 {
        return None;
    }
    let (above, below) = match draft.place {
        Place::After(line) => (Some(line), None),
        Place::Before(line) => (None, Some(line)),
        Place::Between(after, before) => (Some(after), Some(before)),
        Place::Lines(first, last) if draft.lines.len() as u64 > draft.line_count() => {
            (first.checked_sub(1), Some(last + 1))
        }
        _ => (None, None),
    };
    let echoes = |number: Option<u64>, line: &String| {
        number
            .and_then(|number| (subject.line)(number))
            .is_some_and(|text| alike_without_white_space(&text, line))
    };
    let mut lines = draft.lines.clone();
    if echoes(above, &lines[0]) {
        lines.remove(0);
    }
    if lines.len() > 1 && lines.last().is_some_and(|line| echoes(below, line)) {
        lines.pop();
    }
    Some(lines)
}

/// Tokens after which a statement goes on in the next line.
const CONTINUATIONS: [&str; 13] =
    ["&&", "||", "??", "?", ":", "=", ",", "+", "-", "*", "/", ".", "("];

/// How much longer than both lines their merged form may be, in characters.
const MERGE_SLACK_CHARS: usize = 32;

/// `merges`: one line of text holds a line and the one that continues it, or the one that it
/// continues; both are then replaced.
pub(super) fn expand_merge(subject: &Subject<'_, '_>, draft: &Draft) -> Option<Draft> {
    let (Place::Lines(line, last), [new]) = (draft.place, draft.lines.as_slice()) else {
        return None;
    };
    if line != last {
        return None;
    }
    let new = without_white_space(new);
    let old = without_white_space(&subject.text(line));
    let free = |number: u64| {
        let text = (subject.line)(number).filter(|_| !(subject.is_touched)(number))?;
        Some(without_white_space(&text)).filter(|text| !text.is_empty())
    };
    if old.is_empty() {
        return None;
    }
    let merged = |place| Some(Draft { place, lines: draft.lines.clone() });
    if let (Some(head), Some(next)) = (without_continuation(&old), free(line + 1))
        && is_merge(&new, head, &next, old.chars().count())
    {
        return merged(Place::Lines(line, line + 1));
    }
    let previous = free(line.checked_sub(1)?)?;
    let head = without_continuation(&previous)?;
    let (new, head, tail) =
        (without_operators(&new), without_operators(head), without_operators(&old));
    is_merge(&new, &head, &tail, previous.chars().count())
        .then(|| merged(Place::Lines(line - 1, line)))
        .flatten()
}

fn is_merge(new: &str, head: &str, tail: &str, head_chars: usize) -> bool {
    let (at_head, at_tail) = (new.find(head), new.find(tail));
    let limit = head_chars + tail.chars().count() + MERGE_SLACK_CHARS;
    matches!((at_head, at_tail), (Some(head), Some(tail)) if head < tail)
        && new.chars().count() <= limit
}

fn without_continuation(line: &str) -> Option<&str> {
    CONTINUATIONS.iter().find_map(|token| line.strip_suffix(token))
}

fn without_operators(text: &str) -> String {
    text.replace(['|', '&', '?'], "")
}

/// The longest run of new lines that is looked at as one wrapped line.
const WRAP_LIMIT_LINES: usize = 10;

/// A shorter text says too little to tell a wrapped line by.
const WRAP_MIN_CHARS: usize = 6;

/// `wraps`: a run of new lines that, white space aside, is one old line becomes that line.
pub(super) fn restore_wraps(subject: &Subject<'_, '_>, draft: &Draft) -> Option<Vec<String>> {
    let mut old: HashMap<String, Vec<String>> = HashMap::new();
    for line in subject.replaced(draft) {
        old.entry(without_white_space(&line)).or_default().push(line.into_owned());
    }
    let mut lines = Vec::with_capacity(draft.lines.len());
    let mut at = 0;
    while at < draft.lines.len() {
        let longest = WRAP_LIMIT_LINES.min(draft.lines.len() - at);
        let restored = (2..=longest).find_map(|length| {
            let joined = without_white_space(&draft.lines[at..at + length].concat());
            match old.get(&joined).map(Vec::as_slice) {
                Some([line]) if joined.chars().count() >= WRAP_MIN_CHARS => {
                    Some((length, line.clone()))
                }
                _ => None,
            }
        });
        let (length, line) = restored.unwrap_or_else(|| (1, draft.lines[at].clone()));
        lines.push(line);
        at += length;
    }
    Some(lines)
}

/// `paired-indent`: as many new lines as old; one without indentation gets the old one's.
pub(super) fn paired_indent(subject: &Subject<'_, '_>, draft: &Draft) -> Option<Vec<String>> {
    let replaced = subject.replaced(draft);
    if replaced.len() != draft.lines.len() {
        return None;
    }
    let mend = |(old, new): (&std::borrow::Cow<'_, str>, &String)| match new.trim().is_empty() {
        false if indentation(new).is_empty() => format!("{}{new}", indentation(old)),
        _ => new.clone(),
    };
    Some(replaced.iter().zip(&draft.lines).map(mend).collect())
}

/// `confusables`: the text is the old lines but for their look-alike hyphens: they become `-`.
pub(super) fn plain_hyphens(subject: &Subject<'_, '_>, draft: &Draft) -> Option<Vec<String>> {
    let replaced = subject.replaced(draft);
    let plain = |line: &str| line.replace(is_hyphen, "-");
    let same = replaced.len() == draft.lines.len()
        && replaced.iter().any(|line| line.contains(is_hyphen))
        && replaced.iter().zip(&draft.lines).all(|(old, new)| plain(old) == plain(new));
    same.then(|| draft.lines.iter().map(|line| plain(line)).collect())
}

fn is_hyphen(character: char) -> bool {
    matches!(character, '\u{2010}'..='\u{2014}' | '\u{2212}' | '\u{FE63}' | '\u{FF0D}')
}
