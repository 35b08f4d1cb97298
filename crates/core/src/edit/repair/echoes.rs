//! Echoes: a text that begins or ends with the lines next to its place, which stay where they
//! are and would be there twice.
//!
//! What a model meant by them is not known: dropping them was wrong more often than right, so
//! they are a refusal, which costs one round. Only brackets are dropped, where a parser, or else
//! the balance of brackets, says that they are too many. Dialects with recorded repairs drop as
//! their origin does.

use std::cell::LazyCell;

use super::{EditContext, EditSite, ModelText, RepairRules, Rule, equal_ignoring_whitespace};

/// How many lines, at most, are compared at each end.
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
    /// So many lines at this end of a text.
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

/// Lines next to the place of a text that the text repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The first of the lines.
    pub first: u64,
    /// The last of the lines.
    pub last: u64,
    /// The end of the text that repeats them.
    pub end: TextEnd,
}

/// The lines that stay on both sides of a text: from `above` up, and from `below` down.
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

    /// The first and the last of `count` lines next to an end of a text.
    pub(super) fn run(self, end: TextEnd, count: usize) -> Option<(u64, u64)> {
        let further = count as u64 - 1;
        match end {
            TextEnd::Start => Some((self.above.checked_sub(further)?, self.above)),
            TextEnd::End => Some((self.below, self.below + further)),
        }
    }
}

/// The lines of letters or digits beside the place of a text that it begins or ends with,
/// exactly: they would be there twice. Lines that another operation changes do not count, and
/// neither does what the replaced lines begin or end with themselves.
///
/// None where the rule `echoes` is switched off, or drops them as recorded.
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
            let has_word = text.iter().any(|line| line.chars().any(char::is_alphanumeric));
            let (first, last) = neighbours.run(end, count)?;
            (has_word
                && file_has(context, text, first)
                && !replaced_lines_have(context, draft, text, end))
            .then_some(Repeat { first, last, end })
        });
        runs.next()
    };
    [TextEnd::Start, TextEnd::End].into_iter().filter_map(repeat).collect()
}

/// Whether the file has these lines from line `first` on, and no other operation changes them.
fn file_has(context: &EditContext<'_, '_>, text: &[String], first: u64) -> bool {
    first > 0
        && (first..).zip(text).all(|(number, line)| {
            (context.line)(number).is_some_and(|known| known == *line)
                && !(context.is_touched)(number)
        })
}

/// Whether the replaced lines have that text at the same end, too.
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

/// `echoes`, where letters are refused: brackets that the text repeats go, when the file parses
/// without them and not with them. Where no parser can say that, they go when the text opens and
/// closes as much as the lines that it replaces without them, and not with them. An insertion
/// replaces none, and stays as it is.
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

/// Whether a text fits as it is.
enum Fit {
    Right,
    /// A parser says so.
    Wrong,
    /// Brackets do not balance, and no parser looked.
    Unknown,
}

/// Whether a line is brackets and what stands around them, but nothing that says something.
fn is_brackets(line: &str) -> bool {
    line.contains(['(', ')', '[', ']', '{', '}']) && !line.chars().any(char::is_alphanumeric)
}

/// How many more brackets of each kind are opened than closed.
fn balance<'l>(lines: impl Iterator<Item = &'l str>) -> [i64; 3] {
    let mut open = [0; 3];
    for byte in lines.flat_map(str::bytes) {
        for (count, pair) in open.iter_mut().zip([b"()", b"[]", b"{}"]) {
            *count += i64::from(byte == pair[0]) - i64::from(byte == pair[1]);
        }
    }
    open
}

/// `echoes` as recorded: the text repeats, but for white space, the line that it is inserted at,
/// or the lines around the block that it replaces.
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
    // An insert has to leave something; a block whose text is nothing but its surroundings goes.
    let may_be_all = matches!(draft.site, EditSite::Lines(..));
    if (lines.len() > 1 || may_be_all) && lines.last().is_some_and(|line| repeats_line(below, line))
    {
        lines.pop();
    }
    Some(lines)
}
