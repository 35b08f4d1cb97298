//! Finds the texts of `replace_text` in the bytes of a file, in its encoding.

use std::ops::Range;

use memchr::memmem;

use super::{Edit, PlanText, TextMatch};
use crate::edit::request::{LineEdit, Operation};
use hashline_base::error::{Code, Error, Mention, Result};
use hashline_lines::lines::{Lines, Span, Terminator, Unit};

/// The matches of one `replace_text`, as edits. `repaired` is its new text, if that was repaired.
/// Refuses a text that does not occur, or that occurs several times without `all`.
pub fn find_matches<'o>(
    subject: &PlanText<'_>,
    operation: &'o Operation,
    repaired: Option<&str>,
) -> Result<Vec<Edit<'o>>> {
    let LineEdit::ReplaceText { old_text, new_text, all } = &operation.action else {
        return Ok(Vec::new());
    };
    let new_text = NewText {
        text: repaired.unwrap_or(new_text),
        keeps_return: old_text.ends_with('\r'),
        keeps_line_ends: operation.verbatim && (old_text.contains('\r') || new_text.contains('\r')),
    };
    let needle = Needle::new(subject, operation, old_text)?;
    let mut matches = Vec::new();
    let mut from = 0;
    while let Some((start, end)) = needle.find(subject, from) {
        subject.check(matches.len())?;
        matches.push((start, end));
        // Without `all`, overlapping occurrences count, too.
        from = if *all { end } else { start + subject.index.unit().width_bytes() };
        if !*all && matches.len() > MAX_NAMED_LINES {
            break;
        }
    }
    match matches.len() {
        0 => Err(Error::new(
            Code::TextNotFound,
            Mention::Operation(operation.index)
                + ": old_text does not occur in the file; it must match exactly, including whitespace",
        )),
        1 => Ok(()),
        _ if *all => Ok(()),
        _ => Err(not_unique(subject, operation, &matches)),
    }?;
    let mut lines = LineCursor { subject, line: None };
    let edit = |(at, (start, end))| {
        subject.check(at)?;
        replacement(subject, &mut lines, operation, &new_text, start, end)
    };
    matches.into_iter().enumerate().map(edit).collect()
}

/// The number of lines that a refusal names.
const MAX_NAMED_LINES: usize = 5;

fn not_unique(subject: &PlanText<'_>, operation: &Operation, matches: &[(usize, usize)]) -> Error {
    let line =
        |&(start, _): &(usize, usize)| subject.index.line_at(subject.body(), start).to_string();
    let named: Vec<_> = matches.iter().take(MAX_NAMED_LINES).map(line).collect();
    let more = if matches.len() > MAX_NAMED_LINES { " and more" } else { "" };
    Error::new(
        Code::TextNotUnique,
        Mention::Operation(operation.index)
            + format!(
                ": old_text occurs more than once (lines {}{more}): include more of the surrounding text, or set all",
                named.join(", ")
            ),
    )
}

/// Finds the lines of ascending offsets. Several offsets in one long line cost one lookup.
struct LineCursor<'a, 'd> {
    subject: &'a PlanText<'d>,
    line: Option<(u64, Span)>,
}

impl LineCursor<'_, '_> {
    fn at(&mut self, offset: usize) -> (u64, Span) {
        if let Some((number, span)) = self.line
            && (span.start..span.end).contains(&offset)
        {
            return (number, span);
        }
        let (body, index) = (self.subject.body(), self.subject.index);
        let number = index.line_at(body, offset);
        let nothing = Span { start: offset, text_end: offset, end: offset };
        let span = index.span(body, number).unwrap_or(nothing);
        self.line = Some((number, span));
        (number, span)
    }
}

/// The replacement for a match.
struct NewText<'o> {
    text: &'o str,
    /// Keep a `\r` at its end even before a terminator, because the old text ends in one, too.
    keeps_return: bool,
    /// Write its line ends exactly: the operation is verbatim, and one of its texts has a `\r`.
    keeps_line_ends: bool,
}

/// The edit that replaces a match.
fn replacement<'o>(
    subject: &PlanText<'_>,
    lines: &mut LineCursor<'_, '_>,
    operation: &'o Operation,
    new_text: &NewText<'_>,
    start: usize,
    end: usize,
) -> Result<Edit<'o>> {
    let unit = subject.index.unit();
    let (first, first_span) = lines.at(start);
    let (last, last_span) = lines.at(end - 1);
    let has_terminator = last_span.terminator(unit) != Terminator::None;
    // Before a terminator, a `\r` at the end of a text is dropped, as in texts of lines.
    let is_half = has_terminator && end == last_span.text_end && !new_text.keeps_return;
    let is_half = is_half && !new_text.keeps_line_ends;
    let text = new_text.text.strip_suffix('\r').filter(|_| is_half).unwrap_or(new_text.text);
    let replacement = if text.contains('\n') && !new_text.keeps_line_ends {
        subject.encode(operation, &with_terminators(subject, first, first_span, text))?
    } else {
        subject.encode(operation, text)?
    };
    let takes_terminator = end == last_span.end && has_terminator;
    let matched = TextMatch {
        start,
        end,
        replacement,
        first,
        last,
        starts_line: start == first_span.start,
        takes_terminator,
    };
    Ok(Edit::Text { operation, matched })
}

/// Edits that replace byte ranges of the body, which can be empty, by texts that keep their
/// terminators.
pub struct TextEdits<'a, 'd> {
    lines: LineCursor<'a, 'd>,
}

impl<'a, 'd> TextEdits<'a, 'd> {
    /// Starts the edits of one file.
    pub fn of(subject: &'a PlanText<'d>) -> Self {
        TextEdits { lines: LineCursor { subject, line: None } }
    }

    /// One edit.
    pub fn edit<'o>(
        &mut self,
        operation: &'o Operation,
        range: Range<usize>,
        text: &str,
    ) -> Result<Edit<'o>> {
        let subject = self.lines.subject;
        let unit = subject.index.unit();
        let Range { start, end } = range;
        if start == subject.body().len() && !subject.has_open_end() {
            return subject.encode(operation, text).map(|replacement| {
                let line = subject.index.count() + 1;
                let (first, last, starts_line, takes_terminator) = (line, line, true, false);
                let matched = TextMatch {
                    start,
                    end,
                    replacement,
                    first,
                    last,
                    starts_line,
                    takes_terminator,
                };
                Edit::Text { operation, matched }
            });
        }
        let (first, first_span) = self.lines.at(start);
        let (last, last_span) = self.lines.at(end.saturating_sub(1).max(start));
        let has_terminator = last_span.terminator(unit) != Terminator::None;
        let matched = TextMatch {
            start,
            end,
            replacement: subject.encode(operation, text)?,
            first,
            last,
            starts_line: start == first_span.start,
            takes_terminator: end > start && end == last_span.end && has_terminator,
        };
        Ok(Edit::Text { operation, matched })
    }
}

/// Replaces `\n` in a text by the terminator of the line that it is put into.
fn with_terminators(subject: &PlanText<'_>, first: u64, span: Span, text: &str) -> String {
    let terminator = match span.terminator(subject.index.unit()) {
        Terminator::None => subject.terminator(first),
        own => own,
    };
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        // A `\r` at the very end has no `\n` after it and is content.
        out += if is_last { line } else { line.strip_suffix('\r').unwrap_or(line) };
        if !is_last {
            out += terminator.after(out.as_bytes(), Unit::Byte).as_str();
        }
    }
    out
}

/// A match that removes the terminator of its line joins the next line to it. The next line then
/// counts as touched. At the end of the file, the gap after the last line counts as the next line,
/// because inserts at the end go there.
pub(super) fn touch_joined_lines(unit: Unit, matches: &mut [&mut TextMatch]) {
    let mut first = 0;
    while first < matches.len() {
        let (mut last, mut bottom) = (first, matches[first].last);
        loop {
            while last + 1 < matches.len() && matches[last + 1].first <= bottom {
                last += 1;
                bottom = bottom.max(matches[last].last);
            }
            let tail = &mut *matches[last];
            if tail.last != bottom || !tail.takes_terminator {
                break;
            }
            if !leaves_open_end(unit, &matches[first..=last]) {
                break;
            }
            let tail = &mut *matches[last];
            tail.takes_terminator = false;
            tail.last += 1;
            bottom = tail.last;
        }
        first = last + 1;
    }
}

/// Whether the lines of these matches end without terminator after the edit. The last match
/// includes the terminator.
fn leaves_open_end(unit: Unit, matches: &[&mut TextMatch]) -> bool {
    let mut end = None;
    for one in matches.iter().rev() {
        if end.is_some_and(|end| one.end != end) {
            break;
        }
        if !one.replacement.is_empty() {
            let last = Lines::new(&one.replacement, unit).last();
            return last.is_some_and(|span| span.terminator(unit) == Terminator::None);
        }
        if !one.starts_line {
            end = Some(one.start);
            continue;
        }
        // An earlier match in the line above can end right here.
        end = Some(one.start);
        if !matches.iter().any(|other| other.end == one.start) {
            return false;
        }
    }
    // Unless the first of these adjacent matches starts its line, text remains before it.
    matches
        .iter()
        .rev()
        .find(|matched| Some(matched.start) == end)
        .is_some_and(|matched| !matched.starts_line)
}

/// A text to search for: its encoded lines, with any terminator between them.
struct Needle {
    parts: Vec<Vec<u8>>,
    first: memmem::Finder<'static>,
    newline: Vec<u8>,
    carriage_return: Vec<u8>,
}

impl Needle {
    fn new(subject: &PlanText<'_>, operation: &Operation, text: &str) -> Result<Needle> {
        let mut parts: Vec<&str> = text.split('\n').collect();
        let last = parts.len() - 1;
        for part in &mut parts[..last] {
            *part = part.strip_suffix('\r').unwrap_or(part);
        }
        let parts: Vec<Vec<u8>> = parts
            .into_iter()
            .map(|part| subject.encode(operation, part))
            .collect::<Result<_>>()
            .map_err(|error| {
                Error::new(
                    Code::TextNotFound,
                    format!("{}: old_text cannot occur in it", error.message),
                )
            })?;
        let newline = subject.encode(operation, "\n")?;
        let carriage_return = subject.encode(operation, "\r")?;
        let needle = if parts[0].is_empty() { &newline } else { &parts[0] };
        let first = memmem::Finder::new(needle).into_owned();
        Ok(Needle { parts, first, newline, carriage_return })
    }

    /// The first match at or after `from`.
    fn find(&self, subject: &PlanText<'_>, from: usize) -> Option<(usize, usize)> {
        let body = subject.body();
        let mut at = from;
        while let Some(found) = self.first.find(body.get(at..)?).map(|offset| at + offset) {
            if let Some(matched) = self.match_at(body, found, from)
                && self.is_whole(subject, matched)
            {
                return Some(matched);
            }
            at = found + 1;
        }
        None
    }

    fn match_at(&self, body: &[u8], found: usize, from: usize) -> Option<(usize, usize)> {
        // An empty first part was found by the `\n` after it, whose terminator can start with `\r`.
        let is_late =
            self.parts[0].is_empty() && body[from..found].ends_with(&self.carriage_return);
        let start = if is_late { found - self.carriage_return.len() } else { found };
        let mut end = start + self.parts[0].len();
        for part in &self.parts[1..] {
            end += self.terminator_at(&body[end..])?;
            end = body[end..].starts_with(part).then(|| end + part.len())?;
        }
        Some((start, end))
    }

    fn terminator_at(&self, rest: &[u8]) -> Option<usize> {
        let after_return = rest.strip_prefix(self.carriage_return.as_slice());
        match after_return {
            Some(rest) if rest.starts_with(&self.newline) => {
                Some(self.carriage_return.len() + self.newline.len())
            }
            _ => rest.starts_with(&self.newline).then_some(self.newline.len()),
        }
    }

    /// Whether a match of bytes is a match of text: it starts and ends between characters, and does
    /// not split a `\r\n`.
    fn is_whole(&self, subject: &PlanText<'_>, (start, end): (usize, usize)) -> bool {
        let body = subject.body();
        let cuts_terminator = |at: usize| {
            body[..at].ends_with(&self.carriage_return) && body[at..].starts_with(&self.newline)
        };
        if cuts_terminator(start) || cuts_terminator(end) {
            return false;
        }
        let width = subject.index.unit().width_bytes();
        if width > 1 {
            return start.is_multiple_of(width) && end.is_multiple_of(width);
        }
        // In encodings that are not self-synchronizing, a trailing byte of one character can equal
        // another character. There the parts of the line must decode to the same text as the whole.
        subject.document.charset().is_self_synchronizing()
            || reads_the_same_in_pieces(subject, start, end)
    }
}

fn reads_the_same_in_pieces(subject: &PlanText<'_>, start: usize, end: usize) -> bool {
    let (body, charset) = (subject.body(), subject.document.charset());
    let index = subject.index;
    let first = index.span(body, index.line_at(body, start)).map_or(0, |span| span.start);
    let last = index.span(body, index.line_at(body, end - 1)).map_or(end, |span| span.end);
    let mut pieces = charset.decode(&body[first..start]).text.into_owned();
    pieces.extend_from_slice(&charset.decode(&body[start..end]).text);
    pieces.extend_from_slice(&charset.decode(&body[end..last]).text);
    pieces == *charset.decode(&body[first..last]).text
}
