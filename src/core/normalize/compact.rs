//! Normalizing many lines in one pass: what is kept of all their characters, one after the
//! other, and where each line ends in it.
//!
//! What a byte or character becomes is decided in [`super`] alone. Here are the loops over
//! whole blocks: which bytes are dropped comes from its table, and the few characters outside
//! ASCII that are not kept as they are are found by their bytes and then handed to it.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use super::{Normalization, Removal, map_character};
use crate::simd::Level;

/// How many bytes of text are compacted at a time, so that text, result and line ends stay in
/// the fastest cache. A longer line is a piece of its own.
pub(crate) const CHUNK_LIMIT_BYTES: usize = 16 * 1024;

/// How many bytes behind its result a kernel may overwrite, and how many behind a line's
/// result the hash kernels may look at.
pub(crate) const SLACK_BYTES: usize = 256;

/// The UTF-8 forms of the characters that some rule does not keep, as ranges of bytes. All
/// are found by their first three bytes; the test `finds_every_special_character` goes
/// through all of Unicode.
fn may_be_special(first: u8, second: u8, third: u8) -> bool {
    match first {
        0xC2 => matches!(second, 0x85 | 0xA0),
        0xE1 => second == 0x9A && third == 0x80,
        0xE2 => matches!(second, 0x80 | 0x81 | 0x88),
        0xE3 => second == 0x80 && third == 0x80,
        0xEF => second == 0xBB && third == 0xBF,
        _ => false,
    }
}

/// Compacts text by one rule, on one level of instructions.
#[derive(Debug)]
pub(crate) struct Compactor {
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
pub(crate) struct Compacted {
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
    pub(crate) fn bytes_with_slack(&self) -> &[u8] {
        &self.bytes[..self.written + SLACK_BYTES]
    }

    /// The kept bytes of all lines.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.written]
    }

    /// Where each line starts in the kept bytes, and then where the last one ends.
    pub(crate) fn bounds(&self) -> &[u32] {
        &self.bounds[..=self.lines]
    }

    /// Where each line ends in the chunk, terminator included.
    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends[..self.lines]
    }

    fn reset(&mut self, chunk_bytes: usize) {
        let room = chunk_bytes + SLACK_BYTES;
        if self.bytes.len() < room {
            self.bytes.resize(room, 0);
            // A line has a byte at least, and one slot is written ahead.
            self.bounds.resize(room, 0);
            self.ends.resize(room, 0);
        }
        self.bounds[0] = 0;
        self.written = 0;
        self.lines = 0;
    }

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
    pub(crate) fn of_lines(rule: &'static Normalization, level: Level) -> Compactor {
        Compactor::new(rule, level, true)
    }

    /// For parts of a line, in which `\n` is a character like any other.
    pub(crate) fn of_pieces(rule: &'static Normalization, level: Level) -> Compactor {
        Compactor::new(rule, level, false)
    }

    fn new(rule: &'static Normalization, level: Level, drop_newlines: bool) -> Compactor {
        assert!(level.is_available(), "this processor has no {}", level.name());
        Compactor {
            level,
            rule,
            has_special: rule.canonicalize || rule.removal == Removal::Everywhere,
            drops: Drops::new(rule, drop_newlines),
        }
    }

    /// Replaces `out` by what is kept of `chunk`, which is shorter than 4 GiB and begins and
    /// ends between characters. Of a rule that removes white space at the end alone, that is
    /// not done yet.
    pub(crate) fn compact(&self, chunk: &[u8], out: &mut Compacted) {
        debug_assert!(u32::try_from(chunk.len()).is_ok());
        out.reset(chunk.len());
        match self.level {
            Level::Portable => portable::compact(self, chunk, out),
            // SAFETY: `new` checked that the processor has these instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2::compact(self, chunk, out) },
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 => unreachable!("`new` checks the level"),
        }
        if chunk.last().is_some_and(|&last| last != b'\n') {
            out.end_line(chunk.len(), out.written);
        }
    }

    /// What is kept of the character at the start of `bytes`, and how long it is; `None` when
    /// it is kept as it is.
    fn special<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8], usize)> {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        if !self.has_special || !may_be_special(byte(0), byte(1), byte(2)) {
            return None;
        }
        let (kept, size) = map_character(self.rule, bytes);
        (kept != &bytes[..size]).then_some((kept, size))
    }
}

/// The ASCII bytes that are dropped, in the form the kernels use.
#[derive(Debug)]
struct Drops {
    /// By the low half of a byte: the one byte with it that is dropped, else 0xFF.
    by_low_half: [u8; 16],
    /// By byte: how the portable loop treats it.
    classes: [Class; 256],
}

/// How the portable loop treats a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Class {
    Drop = 0,
    Keep = 1,
    /// Ends a line.
    Newline = 2,
    /// May begin a character that is not kept as it is.
    Lead = 3,
}

impl Drops {
    fn new(rule: &Normalization, drop_newlines: bool) -> Drops {
        let keep = super::keep_table_of(rule);
        let mut drops = Drops { by_low_half: [0xFF; 16], classes: [Class::Keep; 256] };
        for byte in 0..128u8 {
            let is_newline = drop_newlines && byte == b'\n';
            if keep[byte as usize] == 1 && !is_newline {
                continue;
            }
            let slot = &mut drops.by_low_half[usize::from(byte & 15)];
            assert_eq!(*slot, 0xFF, "two dropped bytes with the same low half need two tables");
            *slot = byte;
            drops.classes[byte as usize] = if is_newline { Class::Newline } else { Class::Drop };
        }
        for lead in [0xC2, 0xE1, 0xE2, 0xE3, 0xEF] {
            drops.classes[lead as usize] = Class::Lead;
        }
        drops
    }
}
