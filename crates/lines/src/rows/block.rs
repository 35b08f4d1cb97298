//! Renders many lines at a time. Line numbers are incremented in decimal, and the digits of hashes
//! come from a table. Short texts are copied in one step of a fixed size, which may write too much
//! because the bytes after it are written later.

use std::mem::MaybeUninit;
use std::sync::OnceLock;

use super::counter::{Counter, DIGITS_LIMIT};
use super::rendered_size_bound;
use crate::dialect::{DIALECTS, Dialect, MemoryLines};
use crate::hash::HashedBlock;
use crate::simd::Level;

/// The size of the copy for texts up to this length. A copy of fixed size takes a few instructions,
/// and branches between more sizes would be mispredicted.
const SHORT_BYTES: usize = 64;

/// The capacity for one short line with its anchor and newline, if all parts are written in steps
/// of fixed sizes. A buffer that has this capacity in addition to that of its output has room for
/// such steps at every line. The length of a number is taken modulo twice its limit, which shows
/// the compiler that everything fits.
pub const LINE_CAPACITY_BYTES: usize = 2 * DIGITS_LIMIT + HEAD_LIMIT_BYTES + SHORT_BYTES;
const _: () = assert!(2 * DIGITS_LIMIT - 1 + HEAD_LIMIT_BYTES + SHORT_BYTES < LINE_CAPACITY_BYTES);

/// Separator, four digits and text mark.
const HEAD_LIMIT_BYTES: usize = 6;

/// A buffer that may be uninitialized.
type Buffer = [MaybeUninit<u8>];

/// Renders consecutive blocks of lines.
pub struct BlockRenderer {
    /// Supported by this processor; checked on construction.
    level: Level,
    dialect: &'static Dialect,
    number: Counter,
    /// Whether a `\r` before the `\n` is part of the text.
    keeps_carriage_returns: bool,
    pairs: &'static [Pair],
}

/// Two letters of a hash between separator and text mark. Without a separator: the letters before a
/// text, and in the last byte their number, because a blank line, or any line, may have no hash.
type Pair = [u8; 4];

/// The maximum length of the letters in a [`Pair`] without a separator, including the text mark.
const BARE_HEAD_BYTES: usize = 3;

impl BlockRenderer {
    /// A renderer that starts at line `first_line`.
    pub fn new(dialect: &'static Dialect, first_line: u64) -> BlockRenderer {
        BlockRenderer::with_lines(dialect, first_line, MemoryLines::Terminated)
    }

    /// Like `new`, for strings that are split as `lines` says.
    pub fn with_lines(
        dialect: &'static Dialect,
        first_line: u64,
        lines: MemoryLines,
    ) -> BlockRenderer {
        BlockRenderer::with_level(Level::best(), dialect, first_line, lines)
    }

    /// Like `with_lines`, for the given level, which must be available.
    fn with_level(
        level: Level,
        dialect: &'static Dialect,
        first_line: u64,
        lines: MemoryLines,
    ) -> BlockRenderer {
        assert!(level.is_available(), "this processor has no {}", level.name());
        BlockRenderer {
            level,
            dialect,
            number: Counter::new(first_line),
            keeps_carriage_returns: lines == MemoryLines::Split,
            pairs: pairs_of(dialect),
        }
    }

    /// Appends the lines of a block at the start of `text`, each followed by a newline.
    pub fn append(&mut self, text: &[u8], block: HashedBlock<'_>, out: &mut Vec<u8>) {
        out.reserve(self.capacity_bytes(block));
        let written = self.write(text, block, out.spare_capacity_mut());
        // SAFETY: Each line has initialized everything up to the end that it returned, including
        // digits (`write_line` only gets numbers that fit the register), and the next one starts
        // there. The slice checks ensure that `written` is within the capacity.
        unsafe { out.set_len(out.len() + written) };
    }

    /// Like [`BlockRenderer::append`], to the start of `out`; returns the number of bytes. `None`
    /// if the capacity may be too small. Bytes after the lines may be overwritten.
    pub fn overwrite(
        &mut self,
        text: &[u8],
        block: HashedBlock<'_>,
        out: &mut [u8],
    ) -> Option<usize> {
        if out.len() < self.capacity_bytes(block) {
            return None;
        }
        // SAFETY: The types have the same layout, and only initialized bytes are written, so no
        // part of `out` becomes uninitialized.
        let buffer = unsafe { &mut *(std::ptr::from_mut(out) as *mut Buffer) };
        Some(self.write(text, block, buffer))
    }

    /// The maximum size of a block, including the excess of steps of fixed sizes.
    fn capacity_bytes(&self, block: HashedBlock<'_>) -> usize {
        let count = block.hashes.len() as u64;
        let last = self.number.value().saturating_add(count);
        rendered_size_bound(self.dialect, block.len_bytes(), count, last) + LINE_CAPACITY_BYTES
    }

    fn write(&mut self, text: &[u8], block: HashedBlock<'_>, buffer: &mut Buffer) -> usize {
        match self.level {
            // NEON needs no separate function for wider copies: everything is compiled with it.
            Level::Portable | Level::Neon => self.write_lines(text, block, buffer),
            // SAFETY: `with_level` checked that the processor supports these instructions, which
            // `Level::Avx512` includes.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => unsafe { self.write_lines_avx2(text, block, buffer) },
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => unreachable!("not available"),
        }
    }

    /// [`BlockRenderer::write_lines`], compiled for AVX2, which copies in wider steps.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn write_lines_avx2(
        &mut self,
        text: &[u8],
        block: HashedBlock<'_>,
        buffer: &mut Buffer,
    ) -> usize {
        self.write_lines(text, block, buffer)
    }

    /// Writes a block to the start of `buffer` and returns the number of bytes.
    #[inline(always)]
    fn write_lines(&mut self, text: &[u8], block: HashedBlock<'_>, buffer: &mut Buffer) -> usize {
        match (self.dialect.width, self.dialect.separator) {
            (2, Some(_)) => self.write_lines_with::<4>(text, block, buffer),
            (4, Some(_)) => self.write_lines_with::<6>(text, block, buffer),
            _ => self.write_lines_with::<BARE_HEAD_BYTES>(text, block, buffer),
        }
    }

    /// `HEAD_BYTES` is the maximum length of separator, digits and text mark. As a variable, it
    /// would add a tenth to the cost of a read.
    ///
    /// The capacity suffices for each line: it takes at most its bytes in the block, including the
    /// terminator, and its anchor; [`rendered_size_bound`] counts both. The ends of lines were
    /// determined once, so changes of a mapped file cannot make a line longer.
    #[inline(always)]
    fn write_lines_with<const HEAD_BYTES: usize>(
        &mut self,
        text: &[u8],
        block: HashedBlock<'_>,
        buffer: &mut Buffer,
    ) -> usize {
        let Some((&last_hash, hashes)) = block.hashes.split_last() else {
            return 0;
        };
        let BlockRenderer { dialect, mut number, keeps_carriage_returns, pairs, .. } = *self;
        let (mut at, mut start) = (0, 0);
        for (&hash, &end) in hashes.iter().zip(block.ends_but_last()) {
            let end = end as usize;
            let line_bytes = line_len_bytes(text, start, end, keeps_carriage_returns);
            let (text, buffer) = (&text[start..], &mut buffer[at..]);
            at += if number.len <= DIGITS_LIMIT {
                let head = |buffer: &mut _, at| put_head::<HEAD_BYTES>(pairs, hash, buffer, at);
                write_line(&number, head, text, line_bytes, buffer)
            } else {
                write_any_line(dialect, number.value(), hash, &text[..line_bytes], buffer)
            };
            number.count_up();
            start = end;
        }
        // The last line may have any length, and no newline.
        let end = block.len_bytes();
        let line_bytes = if text[start..end].ends_with(b"\n") {
            line_len_bytes(text, start, end, keeps_carriage_returns)
        } else {
            end - start
        };
        let last = &text[start..start + line_bytes];
        at += write_any_line(dialect, number.value(), last_hash, last, &mut buffer[at..]);
        number.count_up();
        self.number = number;
        at
    }
}

/// The length of a line that ends at a newline, without its terminator.
#[inline(always)]
fn line_len_bytes(text: &[u8], start: usize, end: usize, keeps_carriage_returns: bool) -> usize {
    let mut text_end = end - 1;
    let before = text_end.wrapping_sub(1);
    if !keeps_carriage_returns && text.get(before) == Some(&b'\r') {
        text_end = before;
    }
    text_end.saturating_sub(start)
}

/// Writes the line of `line_bytes` at the start of `text`. Its number has at most [`DIGITS_LIMIT`]
/// digits; `put_head` writes the bytes between number and text.
#[inline(always)]
fn write_line(
    number: &Counter,
    put_head: impl FnOnce(&mut [MaybeUninit<u8>; LINE_CAPACITY_BYTES], usize) -> usize,
    text: &[u8],
    line_bytes: usize,
    buffer: &mut Buffer,
) -> usize {
    let front = buffer.first_chunk_mut::<LINE_CAPACITY_BYTES>().expect("room was reserved");
    put(front, 0, number.digits.to_le_bytes());
    let digits_end = number.len % (2 * DIGITS_LIMIT);
    let text_start = digits_end + put_head(front, digits_end);
    match text.first_chunk::<SHORT_BYTES>() {
        Some(short) if line_bytes <= SHORT_BYTES => {
            put(front, text_start, *short);
            front[text_start + line_bytes].write(b'\n');
        }
        _ => put_text(&text[..line_bytes], &mut buffer[text_start..]),
    }
    text_start + line_bytes + 1
}

/// Writes the bytes between a number and its text, and returns their number.
#[inline(always)]
fn put_head<const HEAD_BYTES: usize>(
    pairs: &[Pair],
    hash: u32,
    buffer: &mut [MaybeUninit<u8>; LINE_CAPACITY_BYTES],
    at: usize,
) -> usize {
    if HEAD_BYTES == 4 {
        put(buffer, at, pairs[hash as usize]);
        return HEAD_BYTES;
    }
    if HEAD_BYTES == BARE_HEAD_BYTES {
        let pair = pairs[hash as usize];
        // In one step; excess bytes are overwritten by the text or its newline.
        put(buffer, at, pair);
        // Shows the compiler the maximum.
        return usize::from(pair[3]) % (BARE_HEAD_BYTES + 1);
    }
    let count = pairs.len() as u32;
    let [separator, first, second, _] = pairs[(hash / count) as usize];
    let [_, third, fourth, text_mark] = pairs[(hash % count) as usize];
    put(buffer, at, [separator, first, second, third, fourth, text_mark]);
    HEAD_BYTES
}

/// Writes a line with a number and a text of any length.
#[inline(never)]
fn write_any_line(
    dialect: &Dialect,
    number: u64,
    hash: u32,
    text: &[u8],
    buffer: &mut Buffer,
) -> usize {
    let mut anchor = Vec::with_capacity(32);
    super::render_line(dialect, number, hash, b"", &mut anchor);
    buffer[..anchor.len()].write_copy_of_slice(&anchor);
    put_text(text, &mut buffer[anchor.len()..]);
    anchor.len() + text.len() + 1
}

/// Writes a text of any length and a newline.
#[inline(never)]
fn put_text(text: &[u8], buffer: &mut Buffer) {
    buffer[..text.len()].write_copy_of_slice(text);
    buffer[text.len()].write(b'\n');
}

#[inline(always)]
fn put<const COUNT: usize>(buffer: &mut Buffer, at: usize, bytes: [u8; COUNT]) {
    buffer[at..at + COUNT].write_copy_of_slice(&bytes);
}

/// The bytes before the texts of lines, indexed by the hash or by its halves.
fn pairs_of(dialect: &'static Dialect) -> &'static [Pair] {
    static TABLES: OnceLock<Vec<Vec<Pair>>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| DIALECTS.iter().map(make_pairs).collect());
    let index = DIALECTS.iter().position(|known| std::ptr::eq(known, dialect));
    &tables[index.expect("it is one of the dialects")]
}

fn make_pairs(dialect: &Dialect) -> Vec<Pair> {
    let Dialect { alphabet, text_mark, .. } = *dialect;
    match (dialect.separator, dialect.digit_bytes) {
        (Some(separator), 1) if [2, 4].contains(&dialect.width) && !dialect.bare_blanks => {
            let seconds = |first: u8| {
                alphabet.iter().map(move |&second| [separator, first, second, text_mark])
            };
            alphabet.iter().flat_map(|&first| seconds(first)).collect()
        }
        (None, _) if !dialect.has_hashes() => vec![[text_mark, 0, 0, 1]],
        (None, 2) if dialect.width == 2 => {
            let (pairs, _) = alphabet.as_chunks();
            let heads = pairs.iter().map(|&[first, second]| [first, second, text_mark, 3]);
            heads.chain(dialect.bare_blanks.then_some([text_mark, 0, 0, 1])).collect()
        }
        _ => unreachable!("no dialect has this form"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{BlockHasher, LineHasher};

    /// Covers every way to write a line: lengths near the limits, in the middle and at the end of
    /// the text, numbers of every length, every hash width, and every terminator.
    #[test]
    fn blocks_are_rendered_like_lines() {
        // For each length, a text and whitespace only.
        let lengths = [0, 1, SHORT_BYTES - 1, SHORT_BYTES, SHORT_BYTES + 1, 200, 3, 0];
        for (end, dialect) in ["\n", "\r\n", ""]
            .iter()
            .flat_map(|end| DIALECTS.iter().map(move |dialect| (end, dialect)))
        {
            let fillers = lengths.iter().flat_map(|&len| ["x".repeat(len), " ".repeat(len)]);
            let lines: Vec<String> = fillers.collect();
            let mut text = lines.join(if end.is_empty() { "\n" } else { end });
            text.push_str(end);
            for first in [1, 7, 95, 99_999_990, 99_999_999, 100_000_000, u64::MAX - 17] {
                for lines in [MemoryLines::Terminated, MemoryLines::Split] {
                    check(dialect, &text, first, lines);
                }
            }
        }
    }

    fn check(dialect: &'static Dialect, text: &str, first: u64, lines: MemoryLines) {
        let mut expected = Vec::new();
        let mut hasher = LineHasher::new(dialect);
        for (number, line) in (first..).zip(text.split_inclusive('\n')) {
            let line = line.strip_suffix('\n').unwrap_or(line);
            let line = match line.strip_suffix('\r') {
                Some(line) if lines == MemoryLines::Terminated => line,
                _ => line,
            };
            let hash = hasher.hash(number, line.as_bytes());
            crate::rows::render_line(dialect, number, hash, line.as_bytes(), &mut expected);
            expected.push(b'\n');
        }
        for level in Level::available() {
            let renderer = || BlockRenderer::with_level(level, dialect, first, lines);
            let out = rendered(renderer(), level, text.as_bytes(), text.as_bytes());
            let (out, expected) = (bstr::BStr::new(&out), bstr::BStr::new(&expected));
            assert_eq!(out, expected, "{} {} {lines:?}", dialect.name, level.name());
        }
    }

    /// The lines of `text` as rendered from `changed`, which has the same length. The buffers have
    /// different initial contents, so uninitialized bytes would differ.
    fn rendered(renderer: BlockRenderer, level: Level, text: &[u8], changed: &[u8]) -> Vec<u8> {
        let mut outs = [0x00, 0xFF].map(|filler| {
            let mut out = vec![filler; 4 * text.len() + (1 << 16)];
            out.clear();
            out
        });
        let first = renderer.number.value();
        for out in &mut outs {
            let mut renderer = BlockRenderer { number: Counter::new(first), ..renderer };
            let mut hasher = BlockHasher::with_level(renderer.dialect, level);
            let mut start = 0;
            while start < text.len() {
                let block = hasher.hash_block(renderer.number.value(), &text[start..]);
                renderer.append(&changed[start..], block, out);
                start += block.len_bytes();
            }
        }
        let [out, other] = outs;
        assert_eq!(out, other, "uninitialized bytes");
        out
    }

    /// A mapped file can change between hashing and rendering. The result is discarded then, but
    /// rendering must not fail.
    #[test]
    fn texts_that_change_meanwhile_are_rendered_without_failure() {
        let long = format!("{}\r\n{}\n", "x".repeat(SHORT_BYTES), "y".repeat(SHORT_BYTES + 1));
        let texts = ["a\n\nbc\n", "a\r\n\r\n\n", "\n\n\n", "abc", "\u{e9}x\ny\n", &long];
        for (text, dialect) in texts.iter().flat_map(|text| DIALECTS.iter().map(move |d| (text, d)))
        {
            let text = text.repeat(300);
            for byte in [b'\n', b'\r', b'x', 0xC3] {
                for step in 1..4 {
                    let mut changed = text.clone().into_bytes();
                    changed.iter_mut().step_by(step).for_each(|index| *index = byte);
                    let firsts = [1, 99_999_990, u64::MAX - 5000];
                    for (level, first) in
                        Level::available().flat_map(|level| firsts.map(|first| (level, first)))
                    {
                        let lines = MemoryLines::Terminated;
                        let renderer = BlockRenderer::with_level(level, dialect, first, lines);
                        let out = rendered(renderer, level, text.as_bytes(), &changed);
                        let more = text.split_inclusive('\n').count() as u64 - 1;
                        let last = first.wrapping_add(more);
                        let last = dialect.anchor_of(&last.to_string(), "");
                        assert!(bstr::ByteSlice::contains_str(&out[..], &last), "{last}");
                    }
                }
            }
        }
    }
}
