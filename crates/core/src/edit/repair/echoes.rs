//! Echoes: a text that begins or ends with the lines next to its site. The edit keeps these lines,
//! so they would be duplicated.
//!
//! It is not known what the model meant. Dropping echoes was wrong more often than right, so they
//! are refused, which costs one call. Only surplus brackets are dropped, as a parser finds them, or the
//! balance of brackets where there is no parser. Dialects with recorded repairs drop echoes as the
//! original implementation does.

use std::cell::LazyCell;

use super::{EditContext, EditSite, ModelText, RepairRules, Rule, equal_ignoring_whitespace};

/// The maximum number of lines that are compared at each end.
const MAX_ECHO_LINES: usize = 32;

/// An end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEnd {
    /// Its first lines.
    Start,
    /// Its last lines.
    End,
}

impl TextEnd {
    /// The first or the last `count` lines of a text.
    fn lines_of(self, text: &[String], count: usize) -> &[String] {
        match self {
            TextEnd::Start => &text[..count],
            TextEnd::End => &text[text.len() - count..],
        }
    }

    fn opposite(self) -> TextEnd {
        match self {
            TextEnd::Start => TextEnd::End,
            TextEnd::End => TextEnd::Start,
        }
    }
}

/// Neighbouring lines that a text repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The first of the lines.
    pub first: u64,
    /// The last of the lines.
    pub last: u64,
    /// The end of the text that repeats them.
    pub end: TextEnd,
}

/// The lines next to a text, which the edit keeps: `above` and the lines before it, `below` and the
/// lines after it.
#[derive(Clone, Copy)]
pub(super) struct Neighbours {
    above: u64,
    below: u64,
}

impl Neighbours {
    pub(super) fn of(site: EditSite) -> Option<Neighbours> {
        Some(match site {
            EditSite::Lines(first, last) => Neighbours { above: first - 1, below: last + 1 },
            EditSite::After(line) => Neighbours { above: line, below: line + 1 },
            EditSite::Before(line) | EditSite::Between(_, line) => {
                Neighbours { above: line - 1, below: line }
            }
            EditSite::End => return None,
        })
    }

    /// The first and the last of the `count` lines next to an end of the text.
    pub(super) fn run(self, end: TextEnd, count: usize) -> Option<(u64, u64)> {
        let further = count as u64 - 1;
        match end {
            TextEnd::Start => Some((self.above.checked_sub(further)?, self.above)),
            TextEnd::End => Some((self.below, self.below + further)),
        }
    }
}

/// The neighbouring lines that a text begins or ends with, exactly; they would be duplicated. At
/// least one of them must contain a letter or digit, and not follow itself elsewhere in the file.
/// Lines that another operation changes do not count, and neither do lines with which the replaced
/// lines already begin or end.
///
/// Empty if the rule `echoes` is off, or if the dialect has recorded repairs, which drop echoes.
pub fn repeats(
    rules: &RepairRules,
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Vec<Repeat> {
    let is_on = rules.has(Rule::Echoes, context.dialect) && !context.dialect.recorded_repairs;
    let Some(neighbours) = Neighbours::of(draft.site).filter(|_| is_on) else {
        return Vec::new();
    };
    let repeat = |end: TextEnd| {
        let lengths = 1..=draft.lines.len().min(MAX_ECHO_LINES);
        let mut runs = lengths.filter_map(|count| {
            let text = end.lines_of(&draft.lines, count);
            let has_word = |line: &String| line.chars().any(char::is_alphanumeric);
            let (first, last) = neighbours.run(end, count)?;
            (text.iter().any(has_word)
                && file_has(context, text, first)
                && !replaced_lines_have(context, draft, text, end)
                && text.iter().any(|line| has_word(line) && !recurs(context, line, first)))
            .then_some(Repeat { first, last, end })
        });
        runs.next()
    };
    [TextEnd::Start, TextEnd::End].into_iter().filter_map(repeat).collect()
}

/// Whether a line often follows itself: the file has it twice in a row, or it is a directive of a
/// preprocessor or template, such as `{{- end }}`, that occurs several times. `near` is one of its
/// places.
fn recurs(context: &EditContext<'_, '_>, line: &str, near: u64) -> bool {
    let is_directive = ["{{", "{%", "#"].iter().any(|start| line.trim_start().starts_with(start));
    let (mut count, mut is_above) = (0, false);
    let lines = near.saturating_sub(RECURRENCE_LIMIT_LINES).max(1)..;
    for number in lines.take(2 * RECURRENCE_LIMIT_LINES as usize) {
        let Some(other) = (context.line)(number) else { break };
        let is_equal = *other == *line;
        count += usize::from(other.trim() == line.trim());
        if is_equal && is_above || is_directive && count >= DIRECTIVE_MIN_COUNT {
            return true;
        }
        is_above = is_equal;
    }
    false
}

/// The number of lines in each direction in which a line is searched for.
const RECURRENCE_LIMIT_LINES: u64 = 5_000;

/// How often a directive occurs that may follow itself.
const DIRECTIVE_MIN_COUNT: usize = 3;

/// Whether the file has these lines from `first` on and no other operation changes them.
fn file_has(context: &EditContext<'_, '_>, text: &[String], first: u64) -> bool {
    first > 0
        && (first..).zip(text).all(|(number, line)| {
            (context.line)(number).is_some_and(|known| known == *line)
                && !(context.is_touched)(number)
        })
}

/// Whether the replaced lines have the same text at the same end.
fn replaced_lines_have(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
    text: &[String],
    end: TextEnd,
) -> bool {
    let EditSite::Lines(first, last) = draft.site else {
        return false;
    };
    let count = text.len() as u64;
    let from = match end {
        TextEnd::Start => Some(first),
        TextEnd::End => (last + 1).checked_sub(count),
    };
    count <= draft.line_count()
        && from.is_some_and(|from| {
            (from..).zip(text).all(|(number, line)| *context.text(number) == *line)
        })
}

/// `echoes` in dialects without recorded repairs: drops repeated lines of brackets from a
/// replacement if the file parses without them and not with them. If no parser can decide, it drops
/// them if the text without them opens and closes as many brackets as the replaced lines, and the
/// text with them does not. An insertion is not changed, because it replaces no lines to compare
/// with.
pub(super) fn drop_bracket_echoes(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let EditSite::Lines(..) = draft.site else {
        return None;
    };
    let neighbours = Neighbours::of(draft.site)?;
    let before = balance(context.replaced(draft).iter().map(AsRef::as_ref));
    let of_text = |lines: &[String]| balance(lines.iter().map(String::as_str));
    let with = LazyCell::new(|| match (context.parses)(draft) {
        Some(true) => Fit::Right,
        Some(false) => Fit::Wrong,
        None if of_text(&draft.lines) == before => Fit::Right,
        None => Fit::Unknown,
    });
    let fits_without = |rest: &[String]| match *with {
        Fit::Right => false,
        Fit::Wrong => {
            let draft = ModelText { site: draft.site, lines: rest.to_vec() };
            (context.parses)(&draft) == Some(true)
        }
        Fit::Unknown => of_text(rest) == before,
    };
    let without = |end: TextEnd| {
        let lengths = 1..draft.lines.len().min(MAX_ECHO_LINES);
        let mut rests = lengths.filter_map(|count| {
            let echo = end.lines_of(&draft.lines, count);
            let rest = end.opposite().lines_of(&draft.lines, draft.lines.len() - count);
            let (first, _) = neighbours.run(end, count)?;
            let is_bracket_echo = echo.iter().all(|line| is_brackets(line))
                && file_has(context, echo, first)
                && !replaced_lines_have(context, draft, echo, end);
            (is_bracket_echo && fits_without(rest)).then(|| rest.to_vec())
        });
        rests.next()
    };
    without(TextEnd::End).or_else(|| without(TextEnd::Start))
}

/// Whether a text fits unchanged.
enum Fit {
    Right,
    /// The file does not parse with it.
    Wrong,
    /// It opens and closes other brackets than the replaced lines, and the file was not parsed.
    Unknown,
}

/// Whether a line contains a bracket, and no letter or digit.
fn is_brackets(line: &str) -> bool {
    line.contains(['(', ')', '[', ']', '{', '}']) && !line.chars().any(char::is_alphanumeric)
}

/// For each kind of brackets, how many more are opened than closed.
fn balance<'l>(lines: impl Iterator<Item = &'l str>) -> [i64; 3] {
    let mut open = [0; 3];
    for byte in lines.flat_map(str::bytes) {
        for (count, pair) in open.iter_mut().zip([b"()", b"[]", b"{}"]) {
            *count += i64::from(byte == pair[0]) - i64::from(byte == pair[1]);
        }
    }
    open
}

/// `echoes` in dialects with recorded repairs: drops the first line if it equals the line above,
/// and the last line if it equals the line below, except for whitespace. For an insertion, only the
/// lines that its anchors name are compared. A replacement must have more lines than it replaces.
pub(super) fn drop_echoes(context: &EditContext<'_, '_>, draft: &ModelText) -> Option<Vec<String>> {
    if draft.lines.len() < 2 {
        return None;
    }
    let (above, below) = match draft.site {
        EditSite::After(line) => (Some(line), None),
        EditSite::Before(line) => (None, Some(line)),
        EditSite::Between(after, before) => (Some(after), Some(before)),
        EditSite::Lines(first, last) if draft.lines.len() as u64 > draft.line_count() => {
            (first.checked_sub(1), Some(last + 1))
        }
        _ => (None, None),
    };
    let repeats_line = |number: Option<u64>, line: &String| {
        number
            .and_then(|number| (context.line)(number))
            .is_some_and(|text| equal_ignoring_whitespace(&[text], &[line]))
    };
    let mut lines = draft.lines.clone();
    if repeats_line(above, &lines[0]) {
        lines.remove(0);
    }
    // An insertion keeps at least one line. A replacement that only echoes its neighbours may
    // become empty.
    let may_become_empty = matches!(draft.site, EditSite::Lines(..));
    if (lines.len() > 1 || may_become_empty)
        && lines.last().is_some_and(|line| repeats_line(below, line))
    {
        lines.pop();
    }
    Some(lines)
}
