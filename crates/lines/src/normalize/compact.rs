//! Normalizing many lines in one pass: what is kept of all their characters, one after the
//! other, and where each line ends in it.
//!
//! [`super`] alone decides what a byte or character becomes. Here are the loops over whole blocks.
//! They take from its table which bytes are dropped. They find the few characters outside ASCII that
//! change, by their bytes, and hand them to it.

/// Bytes of one step: as many as a mask has bits.
const BLOCK_BYTES: usize = 64;

/// How far after a block a kernel may look: to know a character that begins in it, and to
/// copy more than it has to.
const AHEAD_BYTES: usize = 16;

/// A block and what follows it.
type BlockWindow = [u8; BLOCK_BYTES + AHEAD_BYTES];

/// Where a kernel moves what it keeps of a block.
type BlockRoom = [u8; BLOCK_BYTES + AHEAD_BYTES];

/// What is known of each byte of a block, one bit each, the first byte's lowest.
#[derive(Clone, Copy)]
struct KeptMasks {
    /// Kept, as far as ASCII goes.
    kept: u64,
    newline: u64,
    /// Part of a character outside ASCII.
    high: u64,
}

/// The loop over the blocks of a chunk, for one set of instructions. It is a macro because
/// functions with different instructions cannot be inlined into one that is shared. The
/// module that uses it has three functions of the same attributes:
///
/// - `masks(&Drops, &BlockWindow) -> KeptMasks`
/// - `special_mask(&BlockWindow) -> u64`: where characters begin for which
///   [`may_be_special`] is true;
/// - `move_together(&BlockWindow, u64, &mut BlockRoom)`: moves the bytes of a mask to the front.
macro_rules! block_loop {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        pub(super) fn compact<'a>(
            compactor: &Compactor,
            chunk: &[u8],
            mut out: Pen<'a>,
        ) -> Pen<'a> {
            // Copies, and one place for each step: so all of it becomes one loop, which keeps
            // what does not change in registers.
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
                    // The end of the chunk, or a character that the next block begins with.
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
        fn put(window: &BlockWindow, kept: u64, mut newline: u64, at: usize, out: &mut Pen<'_>) {
            let start = out.written;
            while newline != 0 {
                let place = newline.trailing_zeros();
                newline &= newline - 1;
                let kept_before = (kept & ((1 << place) - 1)).count_ones();
                out.end_line(at + place as usize + 1, start + kept_before as usize);
            }
            let room = out.bytes[start..].first_chunk_mut();
            move_together(window, kept, room.expect("the slack is longer than a block"));
            out.written = start + kept.count_ones() as usize;
        }
    };
}

/// Where three bytes, at one place each of three vectors, are of one of [`SPECIAL_FORMS`]. The
/// module that uses it has `is`, `both` and `either`.
#[cfg(target_arch = "x86_64")]
macro_rules! special_forms {
    ($first:expr, $second:expr, $third:expr) => {{
        let (first, second, third) = ($first, $second, $third);
        let second_80 = is(second, 0x80);
        let third_80 = is(third, 0x80);
        let c2 = both(is(first, 0xC2), either(is(second, 0x85), is(second, 0xA0)));
        let e1 = both(is(first, 0xE1), both(is(second, 0x9A), third_80));
        let e2_seconds = either(second_80, either(is(second, 0x81), is(second, 0x88)));
        let e2 = both(is(first, 0xE2), e2_seconds);
        let e3 = both(is(first, 0xE3), both(second_80, third_80));
        let ef = both(is(first, 0xEF), both(is(second, 0xBB), is(third, 0xBF)));
        either(either(c2, e1), either(e2, either(e3, ef)))
    }};
}

/// The end of a chunk, and zeros after it.
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

/// How many bytes of text are compacted at a time, so that text, result and line ends stay in
/// the fastest cache. A longer line is a piece of its own.
pub const CHUNK_LIMIT_BYTES: usize = 16 * 1024;

/// How many bytes after its result a kernel may overwrite, and how many after a line's
/// result the hash kernels may look at.
pub const SLACK_BYTES: usize = 256;

/// The UTF-8 forms of the characters that some rule does not keep, and of a few more: a first
/// byte, second bytes, and the third byte where not every one will do. The test
/// `finds_every_special_character` goes through all of Unicode.
const SPECIAL_FORMS: [(u8, &[u8], Option<u8>); 5] = [
    (0xC2, &[0x85, 0xA0], None),
    (0xE1, &[0x9A], Some(0x80)),
    (0xE2, &[0x80, 0x81, 0x88], None),
    (0xE3, &[0x80], Some(0x80)),
    (0xEF, &[0xBB], Some(0xBF)),
];

/// For the first, second and third byte of a character: the forms it fits, one bit each.
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

/// The forms, one bit each, that any third byte fits, of the same character or of the next.
#[cfg(target_arch = "aarch64")]
const ANY_THIRD_FORMS: u8 = FITTING_FORMS[2][0];

/// Whether a byte begins characters that may be special.
#[inline]
fn is_special_lead(first: u8) -> bool {
    FITTING_FORMS[0][usize::from(first)] != 0
}

/// Whether some rule may not keep the character that begins with these bytes.
#[inline]
fn may_be_special(first: u8, second: u8, third: u8) -> bool {
    let [firsts, seconds, thirds] = &FITTING_FORMS;
    firsts[usize::from(first)] & seconds[usize::from(second)] & thirds[usize::from(third)] != 0
}

/// For each mask of eight bytes: the places of the kept ones, in order. A shuffle by them moves
/// these bytes together.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
static KEPT_PLACES: [[u8; 8]; 256] = kept_places();

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const fn kept_places() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut place, mut count) = (0, 0);
        while place < 8 {
            if mask >> place & 1 == 1 {
                table[mask][count] = place;
                count += 1;
            }
            place += 1;
        }
        mask += 1;
    }
    table
}

/// Compacts text by one rule, on one level of instructions.
#[derive(Debug)]
pub struct Compactor {
    /// Available on this processor; checked when the value is made.
    level: Level,
    rule: &'static Normalization,
    /// Whether the rule does anything to characters outside ASCII.
    has_special: bool,
    /// ASCII bytes that are dropped, terminators included.
    drops: Drops,
}

/// What a compactor made of a chunk. Kept between chunks for its memory.
#[derive(Debug, Default)]
pub struct Compacted {
    /// The kept bytes, and [`SLACK_BYTES`] more.
    bytes: Vec<u8>,
    written: usize,
    /// Where each line starts in `bytes`, and then where the last one ends.
    bounds: Vec<u32>,
    /// Where each line ends in the chunk, terminator included.
    ends: Vec<u32>,
    lines: usize,
}

impl Compacted {
    /// The kept bytes of all lines, and [`SLACK_BYTES`] without meaning.
    pub fn bytes_with_slack(&self) -> &[u8] {
        &self.bytes[..self.written + SLACK_BYTES]
    }

    /// The kept bytes of all lines.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.written]
    }

    /// Where each line starts in the kept bytes, and then where the last one ends.
    pub fn bounds(&self) -> &[u32] {
        &self.bounds[..=self.lines]
    }

    /// Where each line ends in the chunk, terminator included.
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

    fn pen(&mut self) -> Pen<'_> {
        let Compacted { bytes, bounds, ends, .. } = self;
        Pen { bytes, bounds, ends, written: 0, lines: 0 }
    }
}

/// A [`Compacted`] while it is written.
struct Pen<'a> {
    bytes: &'a mut [u8],
    bounds: &'a mut [u32],
    ends: &'a mut [u32],
    written: usize,
    lines: usize,
}

impl Pen<'_> {
    /// Ends a line whose last byte stands before `end` in the chunk.
    #[inline(always)]
    fn end_line(&mut self, end: usize, kept_end: usize) {
        self.ends[self.lines] = end as u32;
        self.lines += 1;
        self.bounds[self.lines] = kept_end as u32;
    }
}

impl Compactor {
    /// For text of which each line ends at `\n`, which is dropped in any dialect.
    pub fn of_lines(rule: &'static Normalization, level: Level) -> Compactor {
        Compactor::new(rule, level, Some(b'\n'))
    }

    /// For parts of a line, in which `\n` is a character like any other.
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

    /// Replaces `out` by what is kept of `chunk`, which is shorter than 4 GiB and begins and
    /// ends between characters. Of a rule that removes white space at the end alone, that is
    /// not done yet.
    pub fn compact(&self, chunk: &[u8], out: &mut Compacted) {
        assert!(u32::try_from(chunk.len()).is_ok(), "too long a chunk");
        // A line has a byte at least; where nothing ends one, all is one line.
        let lines_limit = if self.drops.newline.is_some() { chunk.len() } else { 1 };
        out.reset(chunk.len(), lines_limit);
        let pen = out.pen();
        let mut pen = match self.level {
            Level::Portable => portable::compact(self, chunk, pen),
            // SAFETY: `new` checked that the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2::compact(self, chunk, pen) },
            // SAFETY: `new` checked that the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { avx512::compact(self, chunk, pen) },
            // SAFETY: `new` checked that the processor has these instructions.
            #[cfg(target_arch = "aarch64")]
            Level::Neon => unsafe { neon::compact(self, chunk, pen) },
            _ => unreachable!("`new` checks the level"),
        };
        // Not by a second look at the bytes, which may have changed.
        let last_end = pen.lines.checked_sub(1).map_or(0, |last| pen.ends[last]);
        if last_end as usize != chunk.len() {
            pen.end_line(chunk.len(), pen.written);
        }
        (out.written, out.lines) = (pen.written, pen.lines);
    }

    /// Puts what becomes of the characters that begin at the bits of `special` into the
    /// window, and takes what they lose from `kept`. Says how much of the block of `len` bytes
    /// is done: less only so as not to split a character.
    #[cold]
    fn patch(
        &self,
        window: &mut BlockWindow,
        mut special: u64,
        mut kept: u64,
        len: usize,
    ) -> (u64, usize) {
        while special != 0 {
            let place = special.trailing_zeros() as usize;
            special &= special - 1;
            let character: [u8; 4] = *window[place..].first_chunk().expect("the window goes on");
            let Some((left, size)) = self.special(&character) else {
                continue;
            };
            if place + size > BLOCK_BYTES {
                // The next block begins with it.
                return (kept, place);
            }
            window[place..place + left.len()].copy_from_slice(left);
            for lost in place + left.len()..place + size {
                kept &= !(1 << lost);
            }
        }
        (kept, len)
    }

    /// What is kept of the character at the start of `bytes`, and how long it is; `None` when
    /// it is kept as it is.
    fn special<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8], usize)> {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        if !may_be_special(byte(0), byte(1), byte(2)) {
            return None;
        }
        let (kept, size) = map_character(self.rule, bytes);
        (kept != &bytes[..size]).then_some((kept, size))
    }
}

/// The ASCII bytes that are dropped, in the forms that the kernels use.
#[derive(Clone, Copy, Debug)]
struct Drops {
    /// By the low half of a byte: the one byte with it that is dropped, else 0xFF.
    by_low_half: [u8; 16],
    /// The bytes that are dropped, as two ranges, each without its end.
    ranges: [(u8, u8); 2],
    /// The byte that ends a line, if one does.
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

    /// A rule that does nothing outside ASCII is not asked.
    #[test]
    fn rules_without_special_characters_have_none() {
        for dialect in &DIALECTS {
            let compactor = Compactor::of_lines(&dialect.normalization, Level::Portable);
            let is_special =
                |character: char| compactor.special(character.to_string().as_bytes()).is_some();
            assert_eq!(('\u{80}'..='\u{ffff}').any(is_special), compactor.has_special);
        }
    }

    /// Chunks that end around the end of a block or of what is looked at beyond it.
    #[test]
    fn every_end_of_a_chunk() {
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
    fn pieces_keep_newlines_where_they_are_no_white_space() {
        for (dialect, kept) in DIALECTS.iter().zip(["ab", "ab", "ab", "ab", "a\n b"]) {
            for level in Level::available() {
                let mut out = Compacted::default();
                Compactor::of_pieces(&dialect.normalization, level).compact(b"a\n\r b", &mut out);
                assert_eq!(out.bytes(), kept.as_bytes(), "{} {}", dialect.name, level.name());
            }
        }
    }
}
