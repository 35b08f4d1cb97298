//! Normalizes many lines in one pass: concatenates the characters that are kept, and records where
//! each line ends.
//!
//! The mapping of a byte or character is defined only in [`super`]. This module has the loops over
//! whole blocks. They derive the bytes to remove from its table. They detect the few non-ASCII
//! characters that may change by their bytes, and pass these to it.

/// The bytes of one step: one per bit of a mask.
const BLOCK_BYTES: usize = 64;

/// The number of bytes after a block that a kernel may read: to decode a character that starts in
/// the block, and to copy more than necessary.
const AHEAD_BYTES: usize = 16;

/// A block and the bytes after it.
type BlockWindow = [u8; BLOCK_BYTES + AHEAD_BYTES];

/// The output buffer for a block.
type OutputBlock = [u8; BLOCK_BYTES + AHEAD_BYTES];

/// The properties of the bytes of a block, one bit per byte, starting at the lowest bit.
#[derive(Clone, Copy)]
struct KeptMasks {
    /// Kept by the rules for ASCII.
    kept: u64,
    newline: u64,
    /// Part of a non-ASCII character.
    high: u64,
}

/// The loop over the blocks of a chunk for one set of instructions. It is a macro because functions
/// with different target features cannot be inlined into a shared one. The module that uses it
/// defines three functions with the same attributes:
///
/// - `masks(&Drops, &BlockWindow) -> KeptMasks`
/// - `special_mask(&BlockWindow) -> u64`: the starts of characters for which [`may_be_special`] is
///   true;
/// - `compress(&BlockWindow, u64, &mut OutputBlock)`: moves the bytes of a mask to the front.
macro_rules! block_loop {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        pub(super) fn compact<'a>(
            compactor: &Compactor,
            chunk: &[u8],
            mut out: Writer<'a>,
        ) -> Writer<'a> {
            // Local copies, and a single call of each step, let the compiler build one loop that
            // keeps constants in registers.
            let (drops, has_special) = (compactor.drops, compactor.has_special);
            let mut patched: BlockWindow;
            let mut at = 0;
            loop {
                let rest = &chunk[at..];
                let last;
                let (mut len, mut window) = match rest.first_chunk() {
                    Some(window) => (BLOCK_BYTES, window),
                    None if rest.is_empty() => return out,
                    None => {
                        last = super::last_window(rest);
                        (rest.len().min(BLOCK_BYTES), &last)
                    }
                };
                let KeptMasks { mut kept, mut newline, high } = masks(&drops, window);
                if high != 0 && has_special {
                    let special = special_mask(window) & (u64::MAX >> (BLOCK_BYTES - len));
                    if special != 0 {
                        patched = *window;
                        (kept, len) = compactor.patch(&mut patched, special, kept, len);
                        window = &patched;
                    }
                }
                if len < BLOCK_BYTES {
                    // The end of the chunk, or a character that is left to the next block.
                    let valid = u64::MAX >> (BLOCK_BYTES - len);
                    (kept, newline) = (kept & valid, newline & valid);
                }
                put(window, kept, newline, at, &mut out);
                at += len;
            }
        }

        /// Appends the kept bytes of a block, and ends the lines that end in it.
        #[inline]
        $(#[$attribute])*
        fn put(window: &BlockWindow, kept: u64, mut newline: u64, at: usize, out: &mut Writer<'_>) {
            let start = out.written;
            while newline != 0 {
                let index = newline.trailing_zeros();
                newline &= newline - 1;
                let kept_before = (kept & ((1 << index) - 1)).count_ones();
                out.end_line(at + index as usize + 1, start + kept_before as usize);
            }
            let output = out.bytes[start..].first_chunk_mut();
            compress(window, kept, output.expect("the slack is longer than a block"));
            out.written = start + kept.count_ones() as usize;
        }
    };
}

/// The mask of offsets where three bytes match one of [`SPECIAL_FORMS`]; each vector has one of the
/// three bytes. The module that uses it defines `is`, `and` and `or`.
#[cfg(target_arch = "x86_64")]
macro_rules! special_forms {
    ($first:expr, $second:expr, $third:expr) => {{
        let (first, second, third) = ($first, $second, $third);
        let second_80 = is(second, 0x80);
        let third_80 = is(third, 0x80);
        let c2 = and(is(first, 0xC2), or(is(second, 0x85), is(second, 0xA0)));
        let e1 = and(is(first, 0xE1), and(is(second, 0x9A), third_80));
        let e2_seconds = or(second_80, or(is(second, 0x81), is(second, 0x88)));
        let e2 = and(is(first, 0xE2), e2_seconds);
        let e3 = and(is(first, 0xE3), and(second_80, third_80));
        let ef = and(is(first, 0xEF), and(is(second, 0xBB), is(third, 0xBF)));
        or(or(c2, e1), or(e2, or(e3, ef)))
    }};
}

/// The end of a chunk, padded with zeros.
#[cold]
fn last_window(rest: &[u8]) -> BlockWindow {
    let mut window = [0; BLOCK_BYTES + AHEAD_BYTES];
    window[..rest.len()].copy_from_slice(rest);
    window
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use super::{Normalization, Removal, map_character};
use crate::simd::Level;

/// The number of bytes that are compacted at a time, so that text, result and line ends stay in the
/// L1 cache. A longer line is a chunk of its own.
pub const CHUNK_LIMIT_BYTES: usize = 16 * 1024;

/// The number of bytes that a kernel may overwrite after its result, and that the hash kernels may
/// read after the result of a line.
pub const SLACK_BYTES: usize = 256;

/// The UTF-8 forms of the characters that some rule changes, and of a few others: the first byte,
/// the possible second bytes, and the third byte unless any is possible. The test
/// `finds_every_special_character` checks all of Unicode.
const SPECIAL_FORMS: [(u8, &[u8], Option<u8>); 5] = [
    (0xC2, &[0x85, 0xA0], None),
    (0xE1, &[0x9A], Some(0x80)),
    (0xE2, &[0x80, 0x81, 0x88], None),
    (0xE3, &[0x80], Some(0x80)),
    (0xEF, &[0xBB], Some(0xBF)),
];

/// For the first, second and third byte of a character, the matching forms, one bit each.
static FITTING_FORMS: [[u8; 256]; 3] = fitting_forms();

const fn fitting_forms() -> [[u8; 256]; 3] {
    let mut table = [[0; 256]; 3];
    let mut form = 0;
    while form < SPECIAL_FORMS.len() {
        let (first, seconds, third) = SPECIAL_FORMS[form];
        let bit = 1 << form;
        table[0][first as usize] |= bit;
        let mut at = 0;
        while at < seconds.len() {
            table[1][seconds[at] as usize] |= bit;
            at += 1;
        }
        let mut byte = 0;
        while byte < 256 {
            if third.is_none() || matches!(third, Some(third) if third as usize == byte) {
                table[2][byte] |= bit;
            }
            byte += 1;
        }
        form += 1;
    }
    table
}

/// The forms (one bit each) that match any third byte. That byte may belong to the next character.
#[cfg(target_arch = "aarch64")]
const ANY_THIRD_FORMS: u8 = FITTING_FORMS[2][0];

/// Whether a byte is the first of characters that may be special.
#[inline]
fn is_special_lead(first: u8) -> bool {
    FITTING_FORMS[0][usize::from(first)] != 0
}

/// Whether some rule may change the character with these first bytes.
#[inline]
fn may_be_special(first: u8, second: u8, third: u8) -> bool {
    let [firsts, seconds, thirds] = &FITTING_FORMS;
    firsts[usize::from(first)] & seconds[usize::from(second)] & thirds[usize::from(third)] != 0
}

/// For each mask of eight bytes: the indices of the kept bytes, ascending. Used as shuffle indices,
/// they move these bytes together.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
static KEPT_INDICES: [[u8; 8]; 256] = kept_indices();

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const fn kept_indices() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut index, mut count) = (0, 0);
        while index < 8 {
            if mask >> index & 1 == 1 {
                table[mask][count] = index;
                count += 1;
            }
            index += 1;
        }
        mask += 1;
    }
    table
}

/// Compacts text according to one rule, with one set of instructions.
#[derive(Debug)]
pub struct Compactor {
    /// Supported by this processor; checked on construction.
    level: Level,
    rule: &'static Normalization,
    /// Whether the rule changes any non-ASCII character.
    has_special: bool,
    /// The ASCII bytes to remove, including terminators.
    drops: Drops,
}

/// The result of compacting a chunk. Reused for its memory.
#[derive(Debug, Default)]
pub struct Compacted {
    /// The kept bytes, and [`SLACK_BYTES`] more.
    bytes: Vec<u8>,
    written: usize,
    /// The start of each line in `bytes`, followed by the end of the last one.
    bounds: Vec<u32>,
    /// The end of each line in the chunk, including its terminator.
    ends: Vec<u32>,
    lines: usize,
}

impl Compacted {
    /// The kept bytes of all lines, and [`SLACK_BYTES`] of unspecified content.
    pub fn bytes_with_slack(&self) -> &[u8] {
        &self.bytes[..self.written + SLACK_BYTES]
    }

    /// The kept bytes of all lines.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.written]
    }

    /// The start of each line in the kept bytes, followed by the end of the last one.
    pub fn bounds(&self) -> &[u32] {
        &self.bounds[..=self.lines]
    }

    /// The end of each line in the chunk, including its terminator.
    pub fn ends(&self) -> &[u32] {
        &self.ends[..self.lines]
    }

    fn reset(&mut self, chunk_bytes: usize, lines_limit: usize) {
        if self.bytes.len() < chunk_bytes + SLACK_BYTES {
            self.bytes.resize(chunk_bytes + SLACK_BYTES, 0);
        }
        if self.ends.len() < lines_limit {
            self.ends.resize(lines_limit, 0);
            self.bounds.resize(lines_limit + 1, 0);
        }
        self.bounds.resize(self.bounds.len().max(1), 0);
        self.bounds[0] = 0;
        self.written = 0;
        self.lines = 0;
    }

    fn writer(&mut self) -> Writer<'_> {
        let Compacted { bytes, bounds, ends, .. } = self;
        Writer { bytes, bounds, ends, written: 0, lines: 0 }
    }
}

/// Writes a [`Compacted`].
struct Writer<'a> {
    bytes: &'a mut [u8],
    bounds: &'a mut [u32],
    ends: &'a mut [u32],
    written: usize,
    lines: usize,
}

impl Writer<'_> {
    /// Ends a line that ends at `end` in the chunk.
    #[inline(always)]
    fn end_line(&mut self, end: usize, kept_end: usize) {
        self.ends[self.lines] = end as u32;
        self.lines += 1;
        self.bounds[self.lines] = kept_end as u32;
    }
}

impl Compactor {
    /// For text whose lines end at `\n`, which is removed in all dialects.
    pub fn of_lines(rule: &'static Normalization, level: Level) -> Compactor {
        Compactor::new(rule, level, Some(b'\n'))
    }

    /// For parts of a line, in which `\n` is an ordinary character.
    pub fn of_pieces(rule: &'static Normalization, level: Level) -> Compactor {
        Compactor::new(rule, level, None)
    }

    fn new(rule: &'static Normalization, level: Level, newline: Option<u8>) -> Compactor {
        assert!(level.is_available(), "this processor has no {}", level.name());
        Compactor {
            level,
            rule,
            has_special: rule.canonicalize || rule.removal == Removal::Everywhere,
            drops: Drops::new(rule, newline),
        }
    }

    /// Replaces `out` by the kept bytes of `chunk`, which is shorter than 4 GiB and starts and ends
    /// at character boundaries. Does not trim trailing whitespace for rules that only remove that.
    pub fn compact(&self, chunk: &[u8], out: &mut Compacted) {
        assert!(u32::try_from(chunk.len()).is_ok(), "too long a chunk");
        // A line has at least one byte; without terminators, everything is one line.
        let lines_limit = if self.drops.newline.is_some() { chunk.len() } else { 1 };
        out.reset(chunk.len(), lines_limit);
        let writer = out.writer();
        let mut writer = match self.level {
            Level::Portable => portable::compact(self, chunk, writer),
            // SAFETY: `new` checked that the processor supports these instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2::compact(self, chunk, writer) },
            // SAFETY: `new` checked that the processor supports these instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { avx512::compact(self, chunk, writer) },
            // SAFETY: `new` checked that the processor supports these instructions.
            #[cfg(target_arch = "aarch64")]
            Level::Neon => unsafe { neon::compact(self, chunk, writer) },
            _ => unreachable!("`new` checks the level"),
        };
        // Do not read the last byte again, because it may have changed.
        let last_end = writer.lines.checked_sub(1).map_or(0, |last| writer.ends[last]);
        if last_end as usize != chunk.len() {
            writer.end_line(chunk.len(), writer.written);
        }
        (out.written, out.lines) = (writer.written, writer.lines);
    }

    /// Maps the characters that start at the bits of `special` in the window, and clears the bits
    /// of removed bytes in `kept`. Returns the number of bytes of the block that are processed:
    /// less than `len` only to avoid splitting a character.
    #[cold]
    fn patch(
        &self,
        window: &mut BlockWindow,
        mut special: u64,
        mut kept: u64,
        len: usize,
    ) -> (u64, usize) {
        while special != 0 {
            let index = special.trailing_zeros() as usize;
            special &= special - 1;
            let character: [u8; 4] = *window[index..].first_chunk().expect("the window goes on");
            let Some((left, size)) = self.special(&character) else {
                continue;
            };
            if index + size > BLOCK_BYTES {
                // Leave it to the next block.
                return (kept, index);
            }
            window[index..index + left.len()].copy_from_slice(left);
            for lost in index + left.len()..index + size {
                kept &= !(1 << lost);
            }
        }
        (kept, len)
    }

    /// The mapped form and the length of the character at the start of `bytes`; `None` if it is not
    /// changed.
    fn special<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8], usize)> {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        if !may_be_special(byte(0), byte(1), byte(2)) {
            return None;
        }
        let (kept, size) = map_character(self.rule, bytes);
        (kept != &bytes[..size]).then_some((kept, size))
    }
}

/// The ASCII bytes to remove, in the forms that the kernels use.
#[derive(Clone, Copy, Debug)]
struct Drops {
    /// Indexed by the low half of a byte: the single byte to remove with that low half, or 0xFF.
    by_low_half: [u8; 16],
    /// The bytes to remove as two half-open ranges.
    ranges: [(u8, u8); 2],
    /// The terminator, if lines are ended.
    newline: Option<u8>,
}

impl Drops {
    fn new(rule: &Normalization, newline: Option<u8>) -> Drops {
        let keep = super::keep_table_of(rule);
        let mut drops = Drops { by_low_half: [0xFF; 16], ranges: [(0, 0); 2], newline };
        let mut ranges = 0;
        for byte in (0..128u8).filter(|&byte| keep[byte as usize] == 0 || newline == Some(byte)) {
            let slot = &mut drops.by_low_half[usize::from(byte & 15)];
            assert_eq!(*slot, 0xFF, "two dropped bytes with the same low half need two tables");
            *slot = byte;
            if ranges == 0 || drops.ranges[ranges - 1].1 != byte {
                drops.ranges[ranges] = (byte, byte);
                ranges += 1;
            }
            drops.ranges[ranges - 1].1 = byte + 1;
        }
        drops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::DIALECTS;

    #[test]
    fn finds_every_special_character() {
        for character in ('\u{80}'..=char::MAX).filter(|&character| character != '\n') {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
            let is_kept = |dialect: &crate::dialect::Dialect| {
                map_character(&dialect.normalization, bytes) == (bytes, bytes.len())
            };
            if !DIALECTS.iter().all(is_kept) {
                assert!(may_be_special(byte(0), byte(1), byte(2)), "{character:?}");
            }
        }
    }

    /// The check is skipped for a rule that changes no non-ASCII character.
    #[test]
    fn rules_without_special_characters_have_none() {
        for dialect in &DIALECTS {
            let compactor = Compactor::of_lines(&dialect.normalization, Level::Portable);
            let is_special =
                |character: char| compactor.special(character.to_string().as_bytes()).is_some();
            assert_eq!(('\u{80}'..='\u{ffff}').any(is_special), compactor.has_special);
        }
    }

    /// Chunks that end near the end of a block, or of the bytes after it.
    #[test]
    fn chunks_may_end_anywhere() {
        let specials = ["\u{3000}", "\u{a0}", "\u{feff}", "\u{e9}", " ", "\r", "x"];
        for (special, dialect) in
            specials.iter().flat_map(|it| DIALECTS.iter().map(move |d| (it, d)))
        {
            for (before, after) in (58..68).flat_map(|before| (0..20).map(move |it| (before, it))) {
                let text = format!("{}{special}{}", "a ".repeat(before / 2), "b".repeat(after));
                let mut expected = Vec::new();
                crate::normalize::map_into(&dialect.normalization, text.as_bytes(), &mut expected);
                for level in Level::available() {
                    let mut out = Compacted::default();
                    let compactor = Compactor::of_pieces(&dialect.normalization, level);
                    compactor.compact(text.as_bytes(), &mut out);
                    assert_eq!(out.bytes(), expected, "{} {} {text:?}", dialect.name, level.name());
                }
            }
        }
    }

    #[test]
    fn pieces_keep_newlines_that_are_not_removed_as_whitespace() {
        for (dialect, kept) in DIALECTS.iter().zip(["ab", "ab", "ab", "ab", "a\n b"]) {
            for level in Level::available() {
                let mut out = Compacted::default();
                Compactor::of_pieces(&dialect.normalization, level).compact(b"a\n\r b", &mut out);
                assert_eq!(out.bytes(), kept.as_bytes(), "{} {}", dialect.name, level.name());
            }
        }
    }
}
