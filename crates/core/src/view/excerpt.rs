//! Output with limits: lines one after the other ([`Page`]), or matches with the lines around
//! them ([`Excerpt`]).

use crate::text::dialect::Dialect;
use crate::text::hash::{BlockHasher, LineHasher, with_block_hasher};
use crate::text::lines::{Lines, Span, Unit};
use crate::view::render::{
    BlockRenderer, GAP, LINE_ROOM_BYTES, cut_mark_bytes, render_cut_line, render_line,
    rendered_size_bound, with_room_for,
};

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
    out: Vec<u8>,
    first_line: Option<u64>,
    last_line: u64,
    shown_lines: u64,
    /// Set by the first line that did not fit.
    next_line: Option<u64>,
    is_cut: bool,
}

impl Page {
    /// An empty page with room for `size_bytes` of output.
    pub fn new(dialect: &'static Dialect, limits: Limits, size_bytes: usize) -> Page {
        let capacity = limits.max_bytes.map_or(size_bytes, |max| max.min(size_bytes));
        Page {
            hasher: LineHasher::new(dialect),
            limits,
            out: with_room_for(capacity + LINE_ROOM_BYTES),
            first_line: None,
            last_line: 0,
            shown_lines: 0,
            next_line: None,
            is_cut: false,
        }
    }

    /// A page of the first lines of a file, as they were rendered elsewhere.
    pub fn of_rendered(dialect: &'static Dialect, lines: u64, text: Vec<u8>) -> Page {
        Page {
            hasher: LineHasher::new(dialect),
            limits: Limits::default(),
            out: text,
            first_line: (lines > 0).then_some(1),
            last_line: lines,
            shown_lines: lines,
            next_line: None,
            is_cut: false,
        }
    }

    /// Adds a line; false when it did not fit, after which nothing does.
    pub fn push(&mut self, number: u64, text: &[u8]) -> bool {
        self.add(number, text, false)
    }

    /// Adds the lines of `text`, of which the first has the number `first`; false when not all
    /// fitted, after which nothing does.
    pub fn push_lines(&mut self, first: u64, text: &[u8]) -> bool {
        let dialect = self.hasher.dialect();
        with_block_hasher(dialect, |hasher| self.push_blocks(hasher, first, text))
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
            // The line feed behind the last line.
            self.out.pop();
            self.first_line.get_or_insert(number);
            self.last_line = next - 1;
            self.shown_lines += count;
            (number, rest) = (next, &rest[block_bytes..]);
        }
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

    fn add(&mut self, number: u64, text: &[u8], after_gap: bool) -> bool {
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
        // A line that cannot fit is not copied first.
        let mut fits = start.saturating_add(text.len()) <= max_bytes;
        if fits {
            render_line(dialect, number, hash, text, &mut self.out);
            fits = self.out.len() <= max_bytes;
        }
        if !fits {
            self.out.truncate(before);
            if self.shown_lines > 0 {
                self.next_line = Some(number);
                return false;
            }
            self.push_cut(number, hash, text, max_bytes);
        }
        self.first_line.get_or_insert(number);
        self.last_line = number;
        self.shown_lines += 1;
        true
    }

    /// Shows as much of a line as `max_bytes` have room for between the anchor and the mark.
    fn push_cut(&mut self, number: u64, hash: u32, text: &[u8], max_bytes: usize) {
        let dialect = self.hasher.dialect();
        let mut anchor = Vec::new();
        render_line(dialect, number, hash, b"", &mut anchor);
        let room = max_bytes.saturating_sub(anchor.len() + cut_mark_bytes(text.len()));
        render_cut_line(dialect, number, hash, text, room, &mut self.out);
        self.is_cut = true;
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

    /// Bytes of output so far.
    pub fn len_bytes(&self) -> usize {
        self.out.len()
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
    /// The first line not shown yet, and its offset.
    next: (u64, usize),
    /// Context after the last match goes up to this line.
    pending_until: u64,
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
        Excerpt { text, context, page, next: (first_line, first_offset), pending_until: 0 }
    }

    /// Adds a match; false when it did not fit, after which nothing does.
    pub fn push_match(&mut self, number: u64, span: Span) -> bool {
        if !self.show_pending(number - 1) {
            return false;
        }
        let earliest = number.saturating_sub(self.context.before).max(self.next.0);
        let mut offset = span.start;
        for _ in earliest..number {
            // A mapped file can change between two looks at it; then the view is thrown away.
            let above = &self.text[..offset.saturating_sub(1)];
            offset = memchr::memrchr(b'\n', above).map_or(0, |newline| newline + 1);
        }
        let gap = self.page.shown_lines() > 0 && earliest > self.next.0;
        self.next = (earliest, offset);
        let fitted = self.show_until(number, gap);
        self.pending_until = number.saturating_add(self.context.after);
        fitted
    }

    /// Shows the context after the last match and hands back the page.
    pub fn finish(mut self) -> Page {
        self.show_pending(u64::MAX);
        self.page
    }

    /// The page so far.
    pub fn page(&self) -> &Page {
        &self.page
    }

    fn show_pending(&mut self, last: u64) -> bool {
        self.show_until(self.pending_until.min(last), false)
    }

    fn show_until(&mut self, last: u64, mut gap: bool) -> bool {
        let lines = Lines::starting_at(self.text, Unit::Byte, self.next.1);
        for span in lines {
            if self.next.0 > last {
                break;
            }
            if !self.page.add(self.next.0, span.text(self.text), std::mem::take(&mut gap)) {
                return false;
            }
            self.next = (self.next.0 + 1, span.end);
        }
        true
    }
}
