//! The definition of a line: the bytes up to and including its terminator, `\n` or `\r\n`. A lone
//! `\r` is content. `"a\nb\n"` has two lines, `"a\nb"` has two, `""` has none.
//!
//! Offsets are bytes, line numbers start at 1.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

/// The code units in which terminators are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Any encoding in which the byte 0x0A is always a newline: UTF-8, ISO 8859, Shift_JIS, …
    Byte,
    /// UTF-16, little-endian.
    Utf16Le,
    /// UTF-16, big-endian.
    Utf16Be,
}

impl Unit {
    /// The bytes of a code unit.
    pub fn width_bytes(self) -> usize {
        match self {
            Unit::Byte => 1,
            Unit::Utf16Le | Unit::Utf16Be => 2,
        }
    }

    /// The end of the line that starts at `start`, including its terminator.
    fn line_end(self, bytes: &[u8], start: usize) -> usize {
        let mut from = start;
        while let Some(found) = memchr(b'\n', &bytes[from..]).map(|at| from + at) {
            match self {
                Unit::Byte => return found + 1,
                // The byte 0x0A is also part of other characters (U+0A00 and so on).
                Unit::Utf16Le if (found - start).is_multiple_of(2) => {
                    if bytes.get(found + 1) == Some(&0) {
                        return found + 2;
                    }
                }
                Unit::Utf16Be if (found - start) % 2 == 1 => {
                    if bytes[found - 1] == 0 {
                        return found + 1;
                    }
                }
                Unit::Utf16Le | Unit::Utf16Be => {}
            }
            from = found + 1;
        }
        bytes.len()
    }

    /// Whether the text ends with an ASCII character.
    pub fn ends_with(self, bytes: &[u8], ascii: u8) -> bool {
        match self {
            Unit::Byte => bytes.last() == Some(&ascii),
            Unit::Utf16Le => bytes.len().is_multiple_of(2) && bytes.ends_with(&[ascii, 0]),
            Unit::Utf16Be => bytes.len().is_multiple_of(2) && bytes.ends_with(&[0, ascii]),
        }
    }

    /// An ASCII character.
    pub fn encode(self, ascii: u8) -> Vec<u8> {
        match self {
            Unit::Byte => vec![ascii],
            Unit::Utf16Le => vec![ascii, 0],
            Unit::Utf16Be => vec![0, ascii],
        }
    }
}

/// A line terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminator {
    /// None: the last line of a file without a final newline.
    None,
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

impl Terminator {
    /// The characters of the terminator.
    pub fn as_str(self) -> &'static str {
        match self {
            Terminator::None => "",
            Terminator::Lf => "\n",
            Terminator::CrLf => "\r\n",
        }
    }

    /// The terminator after this text: a `\r` at the end of the text would become part of a
    /// `\r\n`.
    pub fn after(self, text: &[u8], unit: Unit) -> Terminator {
        match self {
            Terminator::Lf if unit.ends_with(text, b'\r') => Terminator::CrLf,
            other => other,
        }
    }
}

/// The position of a line in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte of the text.
    pub start: usize,
    /// One past the text, where the terminator starts.
    pub text_end: usize,
    /// One past the terminator.
    pub end: usize,
}

impl Span {
    fn new(bytes: &[u8], unit: Unit, start: usize, end: usize) -> Span {
        let width = unit.width_bytes();
        let mut text_end = end;
        if unit.ends_with(&bytes[start..text_end], b'\n') {
            text_end -= width;
            if unit.ends_with(&bytes[start..text_end], b'\r') {
                text_end -= width;
            }
        }
        Span { start, text_end, end }
    }

    /// The text of the line, without its terminator.
    pub fn text<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start..self.text_end]
    }

    /// The terminator of the line; `unit` must be that of the span.
    pub fn terminator(&self, unit: Unit) -> Terminator {
        match (self.end - self.text_end) / unit.width_bytes() {
            0 => Terminator::None,
            1 => Terminator::Lf,
            _ => Terminator::CrLf,
        }
    }
}

/// The lines of `bytes` from offset `start`, which is the start of a line.
pub struct Lines<'a> {
    bytes: &'a [u8],
    unit: Unit,
    start: usize,
}

impl<'a> Lines<'a> {
    /// All lines of `bytes`.
    pub fn new(bytes: &'a [u8], unit: Unit) -> Self {
        Lines::starting_at(bytes, unit, 0)
    }

    /// The lines from the one that starts at byte `start`.
    pub fn starting_at(bytes: &'a [u8], unit: Unit, start: usize) -> Self {
        Lines { bytes, unit, start }
    }
}

impl Iterator for Lines<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        if self.start >= self.bytes.len() {
            return None;
        }
        let end = self.unit.line_end(self.bytes, self.start);
        let span = Span::new(self.bytes, self.unit, self.start, end);
        self.start = end;
        Some(span)
    }
}

/// The number of lines of `bytes`; a single vectorized pass for byte units.
pub fn count_lines(bytes: &[u8], unit: Unit) -> u64 {
    match unit {
        Unit::Byte => {
            let newlines = memchr_iter(b'\n', bytes).count() as u64;
            newlines + u64::from(bytes.last().is_some_and(|&last| last != b'\n'))
        }
        Unit::Utf16Le | Unit::Utf16Be => Lines::new(bytes, unit).count() as u64,
    }
}

/// The span of the line of UTF-8 `text` that contains the byte `offset`.
pub fn line_around(text: &[u8], offset: usize) -> Span {
    let start = memrchr(b'\n', &text[..offset]).map_or(0, |newline| newline + 1);
    Span::new(text, Unit::Byte, start, Unit::Byte.line_end(text, start))
}

/// The stride of the index: it stores the offset of every 16th line, which takes 8 bytes per 16
/// lines and limits the scan for any line to 15 lines.
const STRIDE_LINES: u64 = 16;

/// The number of bytes that are counted at a time: a fraction of the distance of stored offsets.
const PIECE_BYTES: usize = 256;

/// The number of bytes that are counted at a time where an offset is to be stored. The count fits
/// in a byte, so compilers vectorize the sum.
const BLOCK_BYTES: usize = 64;

fn count_in_block(block: &[u8]) -> usize {
    usize::from(block.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>())
}

/// The size of the first `count` lines of `bytes`, with byte units. Newlines are counted block by
/// block, which is several times as fast as finding each of them.
fn lines_size_bytes(bytes: &[u8], count: usize) -> usize {
    if count == 0 {
        return 0;
    }
    let mut left = count;
    for (block, at) in bytes.chunks(BLOCK_BYTES).zip((0..).step_by(BLOCK_BYTES)) {
        let newlines = count_in_block(block);
        if newlines >= left {
            let last = memchr_iter(b'\n', block).nth(left - 1);
            return last.map_or(bytes.len(), |newline| at + newline + 1);
        }
        left -= newlines;
    }
    bytes.len()
}

/// Finds a line by number, and the line of an offset.
#[derive(Clone, Debug)]
pub struct LineIndex {
    unit: Unit,
    count: u64,
    /// The offsets of lines 1, 17, 33, …
    starts: Vec<usize>,
}

impl LineIndex {
    /// Indexes `bytes` in one pass.
    pub fn new(bytes: &[u8], unit: Unit) -> Self {
        let mut index = LineIndex { unit, count: 0, starts: Vec::new() };
        match unit {
            Unit::Byte => index.push_bytes(bytes),
            Unit::Utf16Le | Unit::Utf16Be => {
                index.push_lines(Lines::new(bytes, unit).map(|span| span.end));
            }
        }
        index
    }

    /// Counts newlines piece by piece, which is several times as fast as finding each of them.
    fn push_bytes(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.starts.push(0);
        }
        let mut offset = 0;
        for piece in bytes.chunks(PIECE_BYTES) {
            let newlines = memchr_iter(b'\n', piece).count() as u64;
            // The offset of the line after this many more newlines is stored.
            let to_next = STRIDE_LINES - self.count % STRIDE_LINES;
            if newlines >= to_next {
                self.store_offsets(bytes, offset..offset + piece.len(), to_next as usize);
            }
            self.count += newlines;
            offset += piece.len();
        }
        self.count += u64::from(!bytes.is_empty() && !bytes.ends_with(b"\n"));
    }

    /// Stores the offsets of lines in a piece: of the one after newline number `due`, and of each
    /// that is a stride further. Newlines are located in few blocks only.
    fn store_offsets(&mut self, bytes: &[u8], piece: Range<usize>, mut due: usize) {
        let mut seen = 0;
        for at in piece.clone().step_by(BLOCK_BYTES) {
            let block = &bytes[at..piece.end.min(at + BLOCK_BYTES)];
            let newlines = count_in_block(block);
            while due <= seen + newlines {
                let newline = memchr_iter(b'\n', block).nth(due - seen - 1);
                let start = newline.map_or(bytes.len(), |newline| at + newline + 1);
                if start < bytes.len() {
                    self.starts.push(start);
                }
                due += STRIDE_LINES as usize;
            }
            seen += newlines;
        }
    }

    fn push_lines(&mut self, ends: impl Iterator<Item = usize>) {
        let mut start = 0;
        for end in ends {
            if self.count.is_multiple_of(STRIDE_LINES) {
                self.starts.push(start);
            }
            self.count += 1;
            start = end;
        }
    }

    /// The number of lines.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Its size in memory.
    pub fn size_bytes(&self) -> usize {
        self.starts.capacity() * size_of::<usize>()
    }

    /// The unit of the indexed text.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The span of a line; `None` for 0 and after the end. `bytes` is the indexed text.
    pub fn span(&self, bytes: &[u8], line: u64) -> Option<Span> {
        self.from_line(bytes, line)?.next()
    }

    /// The bytes of lines with their terminators, or for no lines the place between two of them. The
    /// lines are counted from 0.
    pub fn bytes_of(&self, bytes: &[u8], lines: &Range<u64>) -> Range<usize> {
        let start_of =
            |line: u64| self.span(bytes, line + 1).map_or(bytes.len(), |span| span.start);
        start_of(lines.start)..start_of(lines.end)
    }

    /// The lines from number `line`; `None` for 0 and after the end.
    pub fn from_line<'a>(&self, bytes: &'a [u8], line: u64) -> Option<Lines<'a>> {
        if line == 0 || line > self.count {
            return None;
        }
        let near = self.starts[((line - 1) / STRIDE_LINES) as usize];
        let lines_after = ((line - 1) % STRIDE_LINES) as usize;
        let start = match self.unit {
            Unit::Byte => near + lines_size_bytes(&bytes[near..], lines_after),
            Unit::Utf16Le | Unit::Utf16Be => {
                let above = Lines::starting_at(bytes, self.unit, near).take(lines_after);
                above.last().map_or(near, |span| span.end)
            }
        };
        Some(Lines::starting_at(bytes, self.unit, start))
    }

    /// The number of the line that contains the byte `offset`; the last line for the end of the
    /// text.
    pub fn line_at(&self, bytes: &[u8], offset: usize) -> u64 {
        let stride = self.starts.partition_point(|&start| start <= offset).max(1) - 1;
        let mut line = stride as u64 * STRIDE_LINES;
        let from = self.starts.get(stride).copied().unwrap_or(0);
        for span in Lines::starting_at(bytes, self.unit, from) {
            line += 1;
            if offset < span.end {
                break;
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<&str> {
        let spans = Lines::new(text.as_bytes(), Unit::Byte);
        spans.map(|span| &text[span.start..span.text_end]).collect()
    }

    #[test]
    fn lines_by_example() {
        assert_eq!(texts(""), Vec::<&str>::new());
        assert_eq!(texts("a\nb\n"), ["a", "b"]);
        assert_eq!(texts("a\nb"), ["a", "b"]);
        assert_eq!(texts("a\r\nb\r"), ["a", "b\r"]);
        assert_eq!(texts("\n\r\n"), ["", ""]);
        assert_eq!(texts("a\r\r\n"), ["a\r"]);
        assert_eq!(texts("a\rb\n"), ["a\rb"]);
    }

    #[test]
    fn bytes_within_utf16_characters_are_not_terminators() {
        let text = "\u{0a0a}\u{010a}\u{0a00}x\r\ny\n\u{0d0a}";
        for (unit, encode) in [
            (Unit::Utf16Le, u16::to_le_bytes as fn(u16) -> [u8; 2]),
            (Unit::Utf16Be, u16::to_be_bytes),
        ] {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(encode).collect();
            let lengths: Vec<_> =
                Lines::new(&bytes, unit).map(|span| (span.text_end - span.start) / 2).collect();
            assert_eq!(lengths, [4, 1, 1]);
            let index = LineIndex::new(&bytes, unit);
            assert_eq!(index.span(&bytes, 1).unwrap().terminator(unit), Terminator::CrLf);
            assert_eq!(index.span(&bytes, 3).unwrap().terminator(unit), Terminator::None);
        }
    }

    /// Only the first of them was stored.
    #[test]
    fn regression_several_stored_offsets_can_be_in_one_block() {
        let text = [b'\n'; 40];
        let index = LineIndex::new(&text, Unit::Byte);
        let starts = (1..=40).map(|line| index.span(&text, line).unwrap().start);
        assert_eq!(starts.collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
    }

    proptest! {
        /// Texts of many pieces, with lines that end at the ends of pieces.
        #[test]
        fn long_texts_are_indexed_like_short_ones(
            lengths in prop::collection::vec(prop_oneof![0usize..3, 0usize..200, 1020usize..1030], 0..400),
            is_open in any::<bool>(),
        ) {
            let mut text: Vec<u8> = Vec::new();
            let mut starts = Vec::new();
            for length in &lengths {
                starts.push(text.len());
                text.extend(std::iter::repeat_n(b'x', *length));
                text.push(b'\n');
            }
            if is_open && text.pop().is_some() && starts.last() == Some(&text.len()) {
                starts.pop();
            }
            let index = LineIndex::new(&text, Unit::Byte);
            let found: Vec<usize> =
                (1..=index.count()).map(|line| index.span(&text, line).unwrap().start).collect();
            prop_assert_eq!(found, starts);
        }
    }

    proptest! {
        #[test]
        fn index_agrees_with_split(text in "([ab\r]{0,3}\n?){0,300}") {
            let naive: Vec<&str> = text.split_inclusive('\n').collect();
            let bytes = text.as_bytes();
            let index = LineIndex::new(bytes, Unit::Byte);
            prop_assert_eq!(index.count(), naive.len() as u64);
            prop_assert_eq!(count_lines(bytes, Unit::Byte), naive.len() as u64);
            prop_assert!(index.span(bytes, 0).is_none());
            prop_assert!(index.span(bytes, index.count() + 1).is_none());
            let mut offset = 0;
            for (at, line) in naive.iter().enumerate() {
                let number = at as u64 + 1;
                let span = index.span(bytes, number).unwrap();
                prop_assert_eq!(&text[span.start..span.end], *line);
                let body = line.strip_suffix('\n').map_or(*line, |l| l.strip_suffix('\r').unwrap_or(l));
                prop_assert_eq!(&text[span.start..span.text_end], body);
                prop_assert_eq!(index.line_at(bytes, offset), number);
                prop_assert_eq!(index.line_at(bytes, offset + line.len() - 1), number);
                prop_assert_eq!(line_around(bytes, offset), span);
                offset += line.len();
            }
        }
    }
}
