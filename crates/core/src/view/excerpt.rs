//! Output with limits: lines one after the other ([`Page`]), or matches with the lines around
//! them ([`Excerpt`]).

use std::ops::Range;

use crate::view::fold::fold_row;
use crate::view::width::{Measure, Width, around};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::{BlockHasher, LineHasher, with_block_hasher};
use hashline_lines::lines::{Lines, Span, Unit};
use hashline_lines::rows::{
    BlockRenderer, GAP, LINE_CAPACITY_BYTES, buffer_with_capacity, cut_mark_bytes, left_mark_bytes,
    render_line, render_part, rendered_size_bound,
};

/// How many lines one answer has, where nobody asks for more or less.
pub const ANSWER_LIMIT_LINES: u64 = 2_000;

/// How many bytes of text one answer has, where nobody asks for more or less.
pub const ANSWER_LIMIT_BYTES: usize = 51_200;

/// How much may be shown; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Lines.
    pub max_lines: Option<u64>,
    /// Bytes of rendered text. A first line that is longer is shown cut.
    pub max_bytes: Option<usize>,
}

/// Rendered lines, joined by `\n`, within limits.
pub struct Page {
    hasher: LineHasher,
    limits: Limits,
    width: Width,
    out: Vec<u8>,
    first_line: Option<u64>,
    last_line: u64,
    shown_lines: u64,
    /// Set by the first line that did not fit.
    next_line: Option<u64>,
    is_cut: bool,
    /// Lines that are longer than may be shown were cut.
    has_cut_rows: bool,
    rows: ShownRows,
}

/// The lines of a file that an answer shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownRows {
    /// Their numbers, in ascending ranges that do not touch.
    pub lines: Vec<Range<u64>>,
    /// Those of them of which only a part is shown.
    pub parts: Vec<RowPart>,
}

impl ShownRows {
    /// Adds a line, of which these bytes are shown.
    fn push_line(&mut self, line: u64, bytes: Range<usize>, of: usize) {
        self.push(line..line + 1);
        if bytes.len() < of {
            self.parts.push(RowPart { line, bytes, of });
        }
    }

    fn push(&mut self, lines: Range<u64>) {
        match self.lines.last_mut() {
            Some(last) if last.end == lines.start => last.end = lines.end,
            _ if lines.is_empty() => {}
            _ => self.lines.push(lines),
        }
    }
}

/// Which part of a line its row shows, if not all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPart {
    /// The number of the line.
    pub line: u64,
    /// The bytes of its text that are shown.
    pub bytes: Range<usize>,
    /// How many it has.
    pub of: usize,
}

impl Page {
    /// An empty page with room for `size_bytes` of output.
    pub fn new(dialect: &'static Dialect, limits: Limits, size_bytes: usize) -> Page {
        let capacity = limits.max_bytes.map_or(size_bytes, |max| max.min(size_bytes));
        Page {
            hasher: LineHasher::new(dialect),
            limits,
            width: Width::Whole,
            out: buffer_with_capacity(capacity + LINE_CAPACITY_BYTES),
            first_line: None,
            last_line: 0,
            shown_lines: 0,
            next_line: None,
            is_cut: false,
            has_cut_rows: false,
            rows: ShownRows::default(),
        }
    }

    /// The page with another width of its rows.
    pub fn with_width(self, width: Width) -> Page {
        Page { width, ..self }
    }

    /// A page of the first lines of a file, as they were rendered elsewhere.
    pub fn of_rendered(dialect: &'static Dialect, lines: u64, text: Vec<u8>) -> Page {
        let mut rows = ShownRows::default();
        rows.push(1..lines + 1);
        Page {
            hasher: LineHasher::new(dialect),
            limits: Limits::default(),
            width: Width::Whole,
            out: text,
            first_line: (lines > 0).then_some(1),
            last_line: lines,
            shown_lines: lines,
            next_line: None,
            is_cut: false,
            has_cut_rows: false,
            rows,
        }
    }

    /// Adds a line; false when it did not fit, after which nothing does.
    pub fn push(&mut self, number: u64, text: &[u8]) -> bool {
        self.add(number, text, false, None)
    }

    /// Adds the lines of `text`, of which the first has the number `first`; false when not all
    /// fitted, after which nothing does.
    pub fn push_lines(&mut self, first: u64, text: &[u8]) -> bool {
        let dialect = self.hasher.dialect();
        with_block_hasher(dialect, |hasher| self.push_runs(hasher, first, text))
    }

    /// Lines that are shown whole go together, others one by one.
    fn push_runs(&mut self, hasher: &mut BlockHasher, first: u64, text: &[u8]) -> bool {
        let (mut number, mut rest) = (first, text);
        while !rest.is_empty() {
            let (whole, others) = rest.split_at(self.width.whole_lines_bytes(rest));
            let before = self.shown_lines;
            if !self.push_blocks(hasher, number, whole) {
                return false;
            }
            number += self.shown_lines - before;
            rest = others;
            if let Some(span) = Lines::new(rest, Unit::Byte).next() {
                if !self.push(number, span.text(rest)) {
                    return false;
                }
                (number, rest) = (number + 1, &rest[span.end..]);
            }
        }
        true
    }

    fn push_blocks(&mut self, hasher: &mut BlockHasher, first: u64, text: &[u8]) -> bool {
        let dialect = hasher.dialect();
        let mut renderer = BlockRenderer::new(dialect, first);
        let (mut number, mut rest) = (first, text);
        while !rest.is_empty() {
            let block = hasher.hash_block(number, rest);
            let (block_bytes, count) = (block.len_bytes(), block.hashes.len() as u64);
            let next = number + count;
            let size = rendered_size_bound(dialect, block_bytes, count, next) + 1;
            if !self.has_room_for(count, size) {
                let lines = Lines::new(rest, Unit::Byte);
                return (number..)
                    .zip(lines)
                    .all(|(number, span)| self.push(number, span.text(rest)));
            }
            if !self.out.is_empty() {
                self.out.push(b'\n');
            }
            renderer.append(rest, block, &mut self.out);
            // The line feed after the last line.
            self.out.pop();
            self.first_line.get_or_insert(number);
            self.last_line = next - 1;
            self.shown_lines += count;
            self.rows.push(number..next);
            (number, rest) = (next, &rest[block_bytes..]);
        }
        true
    }

    /// Adds a row for lines that are left out; false when it did not fit, after which nothing does.
    pub fn push_fold(&mut self, lines: &Range<u64>) -> bool {
        let row = fold_row(lines);
        let has_room = self.shown_lines == 0 || self.has_room_for(1, row.len() + 1);
        if self.next_line.is_some() || !has_room {
            self.next_line.get_or_insert(lines.start);
            return false;
        }
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
        self.out.extend_from_slice(row.as_bytes());
        self.first_line.get_or_insert(lines.start);
        self.last_line = lines.end - 1;
        self.shown_lines += 1;
        true
    }

    /// Whether so many lines, which together take at most so many bytes, fit for certain.
    fn has_room_for(&self, lines: u64, size_bytes: usize) -> bool {
        let max_lines = self.limits.max_lines.unwrap_or(u64::MAX);
        let max_bytes = self.limits.max_bytes.unwrap_or(usize::MAX);
        self.next_line.is_none()
            && !self.is_cut
            && self.shown_lines.saturating_add(lines) <= max_lines
            && self.out.len().saturating_add(size_bytes) <= max_bytes
    }

    /// As [`push_lines`](Page::push_lines), for lines that fit; `after_gap`: after a mark for the
    /// lines that are left out above them.
    fn add_lines(&mut self, first: u64, text: &[u8], after_gap: bool) {
        if after_gap {
            if !self.out.is_empty() {
                self.out.push(b'\n');
            }
            self.out.extend_from_slice(GAP.as_bytes());
        }
        self.push_lines(first, text);
    }

    /// Adds a line; `found` is where the match is that it is shown for.
    fn add(
        &mut self,
        number: u64,
        text: &[u8],
        after_gap: bool,
        found: Option<Range<usize>>,
    ) -> bool {
        if self.next_line.is_some() {
            return false;
        }
        let is_full = |max| self.is_cut || self.shown_lines >= max;
        if is_full(self.limits.max_lines.unwrap_or(u64::MAX)) {
            self.next_line = Some(number);
            return false;
        }
        let before = self.out.len();
        if before > 0 {
            self.out.push(b'\n');
        }
        if after_gap {
            self.out.extend_from_slice(GAP.as_bytes());
            self.out.push(b'\n');
        }
        let dialect = self.hasher.dialect();
        let hash = self.hasher.hash(number, text);
        let start = self.out.len();
        let max_bytes = self.limits.max_bytes.unwrap_or(usize::MAX);
        let mut part = self.width.part(text, found.clone());
        let is_cut_row = matches!(self.width, Width::Chars(_)) && part.len() < text.len();
        // A line that cannot fit is not copied first.
        let mut fits = start.saturating_add(part.len()) <= max_bytes;
        if fits {
            render_part(dialect, number, hash, text, part.clone(), &mut self.out);
            fits = self.out.len() <= max_bytes;
        }
        if !fits {
            self.out.truncate(before);
            if self.shown_lines > 0 {
                self.next_line = Some(number);
                return false;
            }
            part = self.push_cut(number, hash, text, (part, found), max_bytes);
        }
        self.has_cut_rows |= is_cut_row;
        self.rows.push_line(number, part, text.len());
        self.first_line.get_or_insert(number);
        self.last_line = number;
        self.shown_lines += 1;
        true
    }

    /// Shows as much of a part of a line as `max_bytes` have room for between the anchor and the
    /// marks. Returns what it shows.
    fn push_cut(
        &mut self,
        number: u64,
        hash: u32,
        text: &[u8],
        (part, found): (Range<usize>, Option<Range<usize>>),
        max_bytes: usize,
    ) -> Range<usize> {
        let dialect = self.hasher.dialect();
        let mut anchor = Vec::new();
        render_line(dialect, number, hash, b"", &mut anchor);
        let room = max_bytes.saturating_sub(anchor.len() + cut_mark_bytes(text.len()));
        let found = found.filter(|found| part.start <= found.start && found.end <= part.end);
        let found = found.map(|found| found.start - part.start..found.end - part.start);
        let shown = &text[part.clone()];
        let mut fitting = around(shown, found.clone(), Measure::Bytes(room));
        if part.start + fitting.start > 0 {
            let room = room.saturating_sub(left_mark_bytes(text.len()));
            fitting = around(shown, found, Measure::Bytes(room));
        }
        let fitting = part.start + fitting.start..part.start + fitting.end;
        render_part(dialect, number, hash, text, fitting.clone(), &mut self.out);
        self.is_cut = true;
        fitting
    }

    /// Whether of a line of so many bytes maybe only a part is shown.
    pub fn may_cut(&self, line_bytes: usize) -> bool {
        line_bytes > self.width.whole_bytes()
            || line_bytes.saturating_add(LINE_CAPACITY_BYTES)
                > self.limits.max_bytes.unwrap_or(usize::MAX)
    }

    /// Whether of some lines only as much is shown as the width allows.
    pub fn has_cut_rows(&self) -> bool {
        self.has_cut_rows
    }

    /// Whether the page shows one line that alone is too long, cut.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The first line shown.
    pub fn first_line(&self) -> Option<u64> {
        self.first_line
    }

    /// The last line shown; 0 before the first.
    pub fn last_line(&self) -> u64 {
        self.last_line
    }

    /// The first line that did not fit.
    pub fn next_line(&self) -> Option<u64> {
        self.next_line
    }

    /// The number of lines shown.
    pub fn shown_lines(&self) -> u64 {
        self.shown_lines
    }

    /// Takes the lines that are shown.
    pub fn take_rows(&mut self) -> ShownRows {
        std::mem::take(&mut self.rows)
    }

    /// The output.
    pub fn into_text(self) -> Vec<u8> {
        self.out
    }
}

/// How many lines to show around a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Lines before.
    pub before: u64,
    /// Lines after.
    pub after: u64,
}

/// Matches in ascending order with context; overlapping context merges, `...` stands between
/// groups.
pub struct Excerpt<'a> {
    text: &'a [u8],
    context: Context,
    page: Page,
    /// The first line not shown yet.
    next: LineStart,
    /// Lines up to the next one that are to be rendered together.
    unrendered: Option<UnbrokenLines>,
    /// Context after the last match goes up to this line.
    pending_until: u64,
}

/// A line and where it starts.
#[derive(Clone, Copy)]
struct LineStart {
    number: u64,
    offset: usize,
}

/// Lines without a gap between them, of which it is certain that they fit.
struct UnbrokenLines {
    first: LineStart,
    after_gap: bool,
}

impl<'a> Excerpt<'a> {
    /// An excerpt of UTF-8 `text`, no line before number `first_line`, which starts at byte
    /// `first_offset`.
    pub fn new(
        text: &'a [u8],
        context: Context,
        page: Page,
        first_line: u64,
        first_offset: usize,
    ) -> Self {
        let next = LineStart { number: first_line, offset: first_offset };
        Excerpt { text, context, page, next, unrendered: None, pending_until: 0 }
    }

    /// Adds a match, of a line of which only a part may be shown with the place that counts;
    /// false when it did not fit, after which nothing does.
    pub fn push_match(&mut self, number: u64, span: Span, found: Option<Range<usize>>) -> bool {
        if !self.show_pending(number - 1) {
            return false;
        }
        let earliest = number.saturating_sub(self.context.before).max(self.next.number);
        let mut gap = false;
        if earliest > self.next.number {
            gap = self.page.shown_lines() > 0 || self.unrendered.is_some();
            self.render();
            let mut offset = span.start;
            for _ in earliest..number {
                // A mapped file can change between two looks at it; then the view is thrown away.
                let above = &self.text[..offset.saturating_sub(1)];
                offset = memchr::memrchr(b'\n', above).map_or(0, |newline| newline + 1);
            }
            self.next = LineStart { number: earliest, offset };
        }
        let fitted = self.show_until(number, gap, found);
        self.pending_until = number.saturating_add(self.context.after);
        fitted
    }

    /// Adds a line that says where the next match stands, if it is not shown yet; false when it did
    /// not fit, after which nothing does.
    pub fn push_opener(&mut self, number: u64) -> bool {
        if !self.show_pending(number) {
            return false;
        }
        let Some(skipped) = number.checked_sub(self.next.number) else { return true };
        let mut gap = false;
        if skipped > 0 {
            gap = self.page.shown_lines() > 0 || self.unrendered.is_some();
            self.render();
            let below = self.text.get(self.next.offset..).unwrap_or_default();
            let end = memchr::memchr_iter(b'\n', below).nth(skipped as usize - 1);
            let offset = self.next.offset + end.map_or(below.len(), |newline| newline + 1);
            self.next = LineStart { number, offset };
        }
        self.show_until(number, gap, None)
    }

    /// Shows the context after the last match and hands back the page.
    pub fn finish(mut self) -> Page {
        self.show_pending(u64::MAX);
        self.render();
        self.page
    }

    /// Whether of a matching line maybe only a part is shown.
    pub fn may_cut(&self, span: Span) -> bool {
        self.page.may_cut(span.text_end - span.start)
    }

    fn show_pending(&mut self, last: u64) -> bool {
        self.show_until(self.pending_until.min(last), false, None)
    }

    /// Shows the lines up to number `last`, in which the match is: later and all at once if they
    /// fit whole for certain, otherwise one by one until one does not.
    fn show_until(&mut self, last: u64, gap: bool, found: Option<Range<usize>>) -> bool {
        let start = self.next;
        let mut end = start;
        let mut are_whole = true;
        for span in Lines::starting_at(self.text, Unit::Byte, start.offset) {
            if end.number > last {
                break;
            }
            are_whole &= !self.may_cut(span);
            end = LineStart { number: end.number + 1, offset: span.end };
        }
        if end.number == start.number {
            return true;
        }
        let first = self.unrendered.as_ref().map_or(start, |lines| lines.first);
        if are_whole && self.has_room_for(first, end) {
            self.unrendered.get_or_insert(UnbrokenLines { first, after_gap: gap });
            self.next = end;
            return true;
        }
        self.render();
        self.show_singly(last, gap, found)
    }

    fn has_room_for(&self, first: LineStart, end: LineStart) -> bool {
        let (lines, text_bytes) = (end.number - first.number, end.offset - first.offset);
        let dialect = self.page.hasher.dialect();
        let lines_bytes = rendered_size_bound(dialect, text_bytes, lines, end.number);
        self.page.has_room_for(lines, lines_bytes + GAP.len() + 2)
    }

    /// Renders the lines that wait for it.
    fn render(&mut self) {
        if let Some(UnbrokenLines { first, after_gap }) = self.unrendered.take() {
            let lines = &self.text[first.offset..self.next.offset];
            self.page.add_lines(first.number, lines, after_gap);
        }
    }

    fn show_singly(&mut self, last: u64, mut gap: bool, mut found: Option<Range<usize>>) -> bool {
        for span in Lines::starting_at(self.text, Unit::Byte, self.next.offset) {
            if self.next.number > last {
                break;
            }
            let LineStart { number, .. } = self.next;
            let found = if number == last { found.take() } else { None };
            if !self.page.add(number, span.text(self.text), std::mem::take(&mut gap), found) {
                return false;
            }
            self.next = LineStart { number: number + 1, offset: span.end };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What an excerpt shows, and which matches it takes: every line looked at alone.
    fn naive(
        text: &[u8],
        context: Context,
        mut page: Page,
        matches: &[u64],
    ) -> (Vec<u8>, Vec<bool>) {
        let lines: Vec<Span> = Lines::new(text, Unit::Byte).collect();
        let mut next = 1;
        let mut fits = |page: &mut Page, number: u64| {
            let gap = page.shown_lines() > 0 && number > next;
            let added = page.add(number, lines[number as usize - 1].text(text), gap, None);
            next += u64::from(added) * (number + 1 - next);
            added
        };
        let mut taken = Vec::new();
        let mut shown_to = 0;
        for (at, &number) in matches.iter().enumerate() {
            let above = at.checked_sub(1).map_or(0, |at| matches[at] + context.after);
            let mut asked = (shown_to + 1..=number)
                .filter(|&line| line <= above || line + context.before >= number);
            taken.push(asked.all(|line| fits(&mut page, line)));
            shown_to = number;
        }
        let last = matches.last().map_or(0, |last| last + context.after).min(lines.len() as u64);
        (shown_to + 1..=last).all(|line| fits(&mut page, line));
        (page.into_text(), taken)
    }

    proptest! {
        #[test]
        fn lines_together_are_as_lines_alone(
            lines in prop::collection::vec(("[ab é\t]{0,9}", any::<bool>()), 1..40),
            is_last_open in any::<bool>(),
            picks in prop::collection::btree_set(1u64..40, 1..12),
            (before, after) in (0u64..4, 0u64..4),
            max_lines in prop::option::of(0u64..40),
            max_bytes in prop::option::of(0usize..400),
        ) {
            let mut text: String = lines
                .iter()
                .map(|(line, is_crlf)| format!("{line}{}", if *is_crlf { "\r\n" } else { "\n" }))
                .collect();
            if is_last_open {
                text.push('x');
            }
            let text = text.as_bytes();
            let spans: Vec<Span> = Lines::new(text, Unit::Byte).collect();
            let matches: Vec<u64> =
                picks.into_iter().filter(|&pick| pick <= spans.len() as u64).collect();
            let (context, limits) = (Context { before, after }, Limits { max_lines, max_bytes });
            let page = || Page::new(Dialect::default_dialect(), limits, 0);

            let mut excerpt = Excerpt::new(text, context, page(), 1, 0);
            let taken: Vec<bool> = matches
                .iter()
                .map(|&number| excerpt.push_match(number, spans[number as usize - 1], None))
                .collect();
            let shown = excerpt.finish();
            let expected = naive(text, context, page(), &matches);
            prop_assert_eq!((shown.into_text(), taken), expected);
        }
    }
}
