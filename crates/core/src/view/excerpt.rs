//! Output within limits: consecutive lines ([`Page`]), or matches with context ([`Excerpt`]).

use std::ops::Range;

use crate::view::fold::{Fold, fold_row};
use crate::view::width::{Amount, Width, window_around};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::{BlockHasher, LineHasher, with_block_hasher};
use hashline_lines::lines::{Lines, Span, Unit};
use hashline_lines::rows::{
    BlockRenderer, GAP, LINE_CAPACITY_BYTES, buffer_with_capacity, cut_mark_bytes, left_mark_bytes,
    render_line, render_part, rendered_size_bound,
};

/// The default limit of lines for one answer.
pub const ANSWER_LIMIT_LINES: u64 = 2_000;

/// The default limit of bytes of text for one answer.
pub const ANSWER_LIMIT_BYTES: usize = 51_200;

/// How much to show; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Lines.
    pub max_lines: Option<u64>,
    /// Bytes of rendered text. A first line that exceeds them is truncated.
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
    /// The first line that did not fit.
    next_line: Option<u64>,
    is_cut: bool,
    /// Whether the width limit truncated any line.
    has_cut_rows: bool,
    rows: ShownRows,
}

/// The lines of a file that an answer shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownRows {
    /// Their numbers, in ascending ranges with gaps between them.
    pub lines: Vec<Range<u64>>,
    /// The lines of which only a part is shown.
    pub parts: Vec<RowPart>,
}

impl ShownRows {
    /// Adds a line of which `bytes`, out of `of`, are shown.
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

/// The part of a line that is shown, if it is not the whole line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPart {
    /// The number of the line.
    pub line: u64,
    /// The bytes of its text that are shown.
    pub bytes: Range<usize>,
    /// The length of the line in bytes.
    pub of: usize,
}

impl Page {
    /// An empty page with a buffer of `size_bytes`.
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

    /// Sets the width limit of the lines.
    pub fn with_width(self, width: Width) -> Page {
        Page { width, ..self }
    }

    /// A page of the first lines of a file, rendered by other code.
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

    /// Adds a line. Returns false if it did not fit; no later line is added then.
    pub fn push(&mut self, number: u64, text: &[u8]) -> bool {
        self.add(number, text, false, None)
    }

    /// Adds the lines of `text`, numbered from `first`. Returns false if they did not all fit; no
    /// later line is added then.
    pub fn push_lines(&mut self, first: u64, text: &[u8]) -> bool {
        let dialect = self.hasher.dialect();
        with_block_hasher(dialect, |hasher| self.push_runs(hasher, first, text))
    }

    /// Adds runs of lines that the width cannot truncate as a whole, other lines one by one.
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
            // The newline after the last line.
            self.out.pop();
            self.first_line.get_or_insert(number);
            self.last_line = next - 1;
            self.shown_lines += count;
            self.rows.push(number..next);
            (number, rest) = (next, &rest[block_bytes..]);
        }
        true
    }

    /// Adds a row for folded lines. Returns false if it did not fit; no later line is added then.
    pub fn push_fold(&mut self, fold: &Fold) -> bool {
        let (row, lines) = (fold_row(fold), &fold.lines);
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

    /// Whether this number of lines, of at most `size_bytes` in total, is certain to fit.
    fn has_room_for(&self, lines: u64, size_bytes: usize) -> bool {
        let max_lines = self.limits.max_lines.unwrap_or(u64::MAX);
        let max_bytes = self.limits.max_bytes.unwrap_or(usize::MAX);
        self.next_line.is_none()
            && !self.is_cut
            && self.shown_lines.saturating_add(lines) <= max_lines
            && self.out.len().saturating_add(size_bytes) <= max_bytes
    }

    /// Like [`push_lines`](Page::push_lines), for lines that fit; `after_gap` adds a gap marker
    /// above them.
    fn add_lines(&mut self, first: u64, text: &[u8], after_gap: bool) {
        if after_gap {
            if !self.out.is_empty() {
                self.out.push(b'\n');
            }
            self.out.extend_from_slice(GAP.as_bytes());
        }
        self.push_lines(first, text);
    }

    /// Adds a line; `matched` is the range of the match in it.
    fn add(
        &mut self,
        number: u64,
        text: &[u8],
        after_gap: bool,
        matched: Option<Range<usize>>,
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
        let mut part = self.width.part(text, matched.clone());
        let is_cut_row = matches!(self.width, Width::Chars(_)) && part.len() < text.len();
        // Avoids copying a line that cannot fit.
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
            part = self.push_cut(number, hash, text, (part, matched), max_bytes);
        }
        self.has_cut_rows |= is_cut_row;
        self.rows.push_line(number, part, text.len());
        self.first_line.get_or_insert(number);
        self.last_line = number;
        self.shown_lines += 1;
        true
    }

    /// Adds as much of a line as fits into `max_bytes` with the anchor and the truncation marks.
    /// Returns the range shown.
    fn push_cut(
        &mut self,
        number: u64,
        hash: u32,
        text: &[u8],
        (part, matched): (Range<usize>, Option<Range<usize>>),
        max_bytes: usize,
    ) -> Range<usize> {
        let dialect = self.hasher.dialect();
        let mut anchor = Vec::new();
        render_line(dialect, number, hash, b"", &mut anchor);
        let room = max_bytes.saturating_sub(anchor.len() + cut_mark_bytes(text.len()));
        let matched =
            matched.filter(|matched| part.start <= matched.start && matched.end <= part.end);
        let matched = matched.map(|matched| matched.start - part.start..matched.end - part.start);
        let shown = &text[part.clone()];
        let mut fitting = window_around(shown, matched.clone(), Amount::Bytes(room));
        if part.start + fitting.start > 0 {
            let room = room.saturating_sub(left_mark_bytes(text.len()));
            fitting = window_around(shown, matched, Amount::Bytes(room));
        }
        let fitting = part.start + fitting.start..part.start + fitting.end;
        render_part(dialect, number, hash, text, fitting.clone(), &mut self.out);
        self.is_cut = true;
        fitting
    }

    /// Whether a line of this length might be truncated.
    pub fn may_cut(&self, line_bytes: usize) -> bool {
        line_bytes > self.width.whole_bytes()
            || line_bytes.saturating_add(LINE_CAPACITY_BYTES)
                > self.limits.max_bytes.unwrap_or(usize::MAX)
    }

    /// Whether the width limit truncated any line.
    pub fn has_cut_rows(&self) -> bool {
        self.has_cut_rows
    }

    /// Whether the page consists of one line that the byte limit truncated.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub fn first_line(&self) -> Option<u64> {
        self.first_line
    }

    /// The last line shown; 0 if none is.
    pub fn last_line(&self) -> u64 {
        self.last_line
    }

    /// The first line that did not fit.
    pub fn next_line(&self) -> Option<u64> {
        self.next_line
    }

    pub fn shown_lines(&self) -> u64 {
        self.shown_lines
    }

    /// Takes the lines shown out of the page.
    pub fn take_rows(&mut self) -> ShownRows {
        std::mem::take(&mut self.rows)
    }

    pub fn into_text(self) -> Vec<u8> {
        self.out
    }
}

/// The number of lines around a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Lines before.
    pub before: u64,
    /// Lines after.
    pub after: u64,
}

/// Renders matches in ascending order, with context. Overlapping context is merged; groups are
/// separated by `...`.
pub struct Excerpt<'a> {
    text: &'a [u8],
    context: Context,
    page: Page,
    /// The first line that is not shown yet.
    next: LineStart,
    /// Consecutive lines before `next` that will be rendered together.
    deferred: Option<ConsecutiveLines>,
    /// The last line of the context after the last match.
    pending_until: u64,
}

/// A line and its offset.
#[derive(Clone, Copy)]
struct LineStart {
    number: u64,
    offset: usize,
}

/// Consecutive lines that are certain to fit.
struct ConsecutiveLines {
    first: LineStart,
    after_gap: bool,
}

impl<'a> Excerpt<'a> {
    /// An excerpt of UTF-8 `text`. It shows no line before `first_line`, which starts at byte
    /// `first_offset`.
    pub fn new(
        text: &'a [u8],
        context: Context,
        page: Page,
        first_line: u64,
        first_offset: usize,
    ) -> Self {
        let next = LineStart { number: first_line, offset: first_offset };
        Excerpt { text, context, page, next, deferred: None, pending_until: 0 }
    }

    /// Adds a match; `matched` is its range in a line that might be truncated. Returns false if it
    /// did not fit; no later line is added then.
    pub fn push_match(&mut self, number: u64, span: Span, matched: Option<Range<usize>>) -> bool {
        if !self.show_pending(number - 1) {
            return false;
        }
        let earliest = number.saturating_sub(self.context.before).max(self.next.number);
        let mut gap = false;
        if earliest > self.next.number {
            gap = self.page.shown_lines() > 0 || self.deferred.is_some();
            self.render();
            let mut offset = span.start;
            for _ in earliest..number {
                // A mapped file can change between two reads; then the view is discarded.
                let above = &self.text[..offset.saturating_sub(1)];
                offset = memchr::memrchr(b'\n', above).map_or(0, |newline| newline + 1);
            }
            self.next = LineStart { number: earliest, offset };
        }
        let fitted = self.show_until(number, gap, matched);
        self.pending_until = number.saturating_add(self.context.after);
        fitted
    }

    /// Adds a line that opens a block around the next match, unless it is shown already. Returns
    /// false if it did not fit; no later line is added then.
    pub fn push_enclosing(&mut self, number: u64) -> bool {
        if !self.show_pending(number) {
            return false;
        }
        let Some(skipped) = number.checked_sub(self.next.number) else { return true };
        let mut gap = false;
        if skipped > 0 {
            gap = self.page.shown_lines() > 0 || self.deferred.is_some();
            self.render();
            let below = self.text.get(self.next.offset..).unwrap_or_default();
            let end = memchr::memchr_iter(b'\n', below).nth(skipped as usize - 1);
            let offset = self.next.offset + end.map_or(below.len(), |newline| newline + 1);
            self.next = LineStart { number, offset };
        }
        self.show_until(number, gap, None)
    }

    /// Adds lines that are not shown yet. Returns false if they did not all fit; no later line is
    /// added then.
    pub fn push_lines(&mut self, lines: Range<u64>) -> bool {
        self.push_enclosing(lines.start) && self.show_until(lines.end - 1, false, None)
    }

    /// Adds a row for the lines that follow those shown. Returns false if it did not fit; no later
    /// line is added then.
    pub fn push_fold(&mut self, lines: Range<u64>) -> bool {
        self.render();
        let fold = Fold { lines, names: Vec::new() };
        let lines = &fold.lines;
        if !self.page.push_fold(&fold) {
            return false;
        }
        let below = self.text.get(self.next.offset..).unwrap_or_default();
        let skipped = (lines.end - self.next.number) as usize;
        let end = memchr::memchr_iter(b'\n', below).nth(skipped - 1);
        let offset = self.next.offset + end.map_or(below.len(), |newline| newline + 1);
        self.next = LineStart { number: lines.end, offset };
        true
    }

    /// Adds the context after the last match and returns the page.
    pub fn finish(mut self) -> Page {
        self.show_pending(u64::MAX);
        self.render();
        self.page
    }

    /// Whether a matching line might be truncated.
    pub fn may_cut(&self, span: Span) -> bool {
        self.page.may_cut(span.text_end - span.start)
    }

    fn show_pending(&mut self, last: u64) -> bool {
        self.show_until(self.pending_until.min(last), false, None)
    }

    /// Shows the lines up to `last`, which contains the match. Defers rendering if all of them are
    /// certain to fit untruncated; otherwise adds them one by one until one does not fit.
    fn show_until(&mut self, last: u64, gap: bool, matched: Option<Range<usize>>) -> bool {
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
        let first = self.deferred.as_ref().map_or(start, |lines| lines.first);
        if are_whole && self.has_room_for(first, end) {
            self.deferred.get_or_insert(ConsecutiveLines { first, after_gap: gap });
            self.next = end;
            return true;
        }
        self.render();
        self.show_one_by_one(last, gap, matched)
    }

    fn has_room_for(&self, first: LineStart, end: LineStart) -> bool {
        let (lines, text_bytes) = (end.number - first.number, end.offset - first.offset);
        let dialect = self.page.hasher.dialect();
        let lines_bytes = rendered_size_bound(dialect, text_bytes, lines, end.number);
        self.page.has_room_for(lines, lines_bytes + GAP.len() + 2)
    }

    /// Renders the deferred lines.
    fn render(&mut self) {
        if let Some(ConsecutiveLines { first, after_gap }) = self.deferred.take() {
            let lines = &self.text[first.offset..self.next.offset];
            self.page.add_lines(first.number, lines, after_gap);
        }
    }

    fn show_one_by_one(
        &mut self,
        last: u64,
        mut gap: bool,
        mut matched: Option<Range<usize>>,
    ) -> bool {
        for span in Lines::starting_at(self.text, Unit::Byte, self.next.offset) {
            if self.next.number > last {
                break;
            }
            let LineStart { number, .. } = self.next;
            let matched = if number == last { matched.take() } else { None };
            if !self.page.add(number, span.text(self.text), std::mem::take(&mut gap), matched) {
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

    /// The expected output and accepted matches, computed line by line.
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
        let mut accepted = Vec::new();
        let mut shown_to = 0;
        for (at, &number) in matches.iter().enumerate() {
            let above = at.checked_sub(1).map_or(0, |at| matches[at] + context.after);
            let mut wanted = (shown_to + 1..=number)
                .filter(|&line| line <= above || line + context.before >= number);
            accepted.push(wanted.all(|line| fits(&mut page, line)));
            shown_to = number;
        }
        let last = matches.last().map_or(0, |last| last + context.after).min(lines.len() as u64);
        (shown_to + 1..=last).all(|line| fits(&mut page, line));
        (page.into_text(), accepted)
    }

    proptest! {
        #[test]
        fn runs_render_like_single_lines(
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
            let accepted: Vec<bool> = matches
                .iter()
                .map(|&number| excerpt.push_match(number, spans[number as usize - 1], None))
                .collect();
            let shown = excerpt.finish();
            let expected = naive(text, context, page(), &matches);
            prop_assert_eq!((shown.into_text(), accepted), expected);
        }
    }
}
