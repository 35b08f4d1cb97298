//! Rendering many lines at once: numbers are counted up in decimal, digits of hashes come
//! from a table, and short texts are copied in one step of a fixed size, which may write more
//! than it has to, since what follows is written later.

use crate::dialect::{Dialect, MemoryLines};
use crate::hash::Block;

/// Texts up to this length are copied in one step of this size, most of them: a step of a fixed
/// size is a few instructions, and a choice among more sizes could not be foreseen.
const SHORT_BYTES: usize = 64;

/// Longer texts are left to the general copy.
const MIDDLE_BYTES: usize = 128;

/// How much room behind a line's output lets its text be copied in one step.
pub(crate) const SLACK_BYTES: usize = 64;

/// Renders blocks of lines, the one after the other.
pub(crate) struct BlockRenderer {
    dialect: &'static Dialect,
    number: Counter,
    /// Whether a `\r` before the `\n` is part of the text.
    keeps_carriage_returns: bool,
    /// Every pair of digits, in order, between separator and text mark; none where the width
    /// is odd.
    pairs: Vec<[u8; 4]>,
}

impl BlockRenderer {
    /// Starts at line `first_line`.
    pub(crate) fn new(dialect: &'static Dialect, first_line: u64) -> BlockRenderer {
        BlockRenderer::with_lines(dialect, first_line, MemoryLines::Terminated)
    }

    /// As `new`, for lines of another kind.
    pub(crate) fn with_lines(
        dialect: &'static Dialect,
        first_line: u64,
        lines: MemoryLines,
    ) -> BlockRenderer {
        let pairs = match dialect.width % 2 {
            0 => {
                let (separator, text_mark) = (dialect.separator, dialect.text_mark);
                let seconds = |first: u8| {
                    let pair = move |&second: &u8| [separator, first, second, text_mark];
                    dialect.alphabet.iter().map(pair)
                };
                dialect.alphabet.iter().flat_map(|&first| seconds(first)).collect()
            }
            _ => Vec::new(),
        };
        let keeps_carriage_returns = lines == MemoryLines::Split;
        BlockRenderer { dialect, number: Counter::new(first_line), keeps_carriage_returns, pairs }
    }

    /// Writes the lines of a block at the start of `text`, each with a line feed behind it,
    /// to the front of `room`, and says how many bytes that took.
    pub(crate) fn render(&mut self, text: &[u8], block: Block<'_>, room: &mut [u8]) -> usize {
        let mut at = 0;
        let mut start = 0;
        for (&hash, end) in block.hashes.iter().zip(block.ends()) {
            let mut text_end = end;
            if text_end > start && text[text_end - 1] == b'\n' {
                text_end -= 1;
                let may_end_in = !self.keeps_carriage_returns && text_end > start;
                if may_end_in && text[text_end - 1] == b'\r' {
                    text_end -= 1;
                }
            }
            at += self.number.write(&mut room[at..]);
            self.number.increase();
            at += self.write_hash(hash, &mut room[at..]);
            copy(text, start, text_end, &mut room[at..]);
            at += text_end - start;
            room[at] = b'\n';
            at += 1;
            start = end;
        }
        at
    }

    /// Writes separator, hash and text mark.
    #[inline]
    fn write_hash(&self, hash: u32, room: &mut [u8]) -> usize {
        let (dialect, count) = (self.dialect, self.pairs.len() as u32);
        match dialect.width {
            2 => {
                room[..4].copy_from_slice(&self.pairs[hash as usize]);
                4
            }
            4 => {
                let [separator, first, second, _] = self.pairs[(hash / count) as usize];
                let [_, third, fourth, text_mark] = self.pairs[(hash % count) as usize];
                room[..6].copy_from_slice(&[separator, first, second, third, fourth, text_mark]);
                6
            }
            width => {
                let mut digits = Vec::with_capacity(width);
                dialect.write_hash(hash, &mut digits);
                room[0] = dialect.separator;
                room[1..=width].copy_from_slice(&digits);
                room[width + 1] = dialect.text_mark;
                width + 2
            }
        }
    }
}

/// Copies `text[start..end]` to the front of `room`.
#[inline]
fn copy(text: &[u8], start: usize, end: usize, room: &mut [u8]) {
    let len = end - start;
    let is_copied = if len <= SHORT_BYTES {
        copy_more::<SHORT_BYTES>(text, start, room)
    } else {
        len <= MIDDLE_BYTES && copy_more::<MIDDLE_BYTES>(text, start, room)
    };
    if !is_copied {
        room[..len].copy_from_slice(&text[start..end]);
    }
}

/// Copies `COUNT` bytes from `start` on, if there are so many on both sides.
#[inline]
fn copy_more<const COUNT: usize>(text: &[u8], start: usize, room: &mut [u8]) -> bool {
    match (text[start..].first_chunk::<COUNT>(), room.first_chunk_mut::<COUNT>()) {
        (Some(from), Some(to)) => {
            *to = *from;
            true
        }
        _ => false,
    }
}

/// A number in decimal that is counted up.
struct Counter {
    value: u64,
    /// The digits, the first one in the lowest byte. Kept in a register: bytes that were just
    /// written one by one are slow to read together.
    digits: u128,
    len: usize,
    /// What counts the last digit up.
    step: u128,
    /// How often that may be done.
    steps_left: u8,
}

impl Counter {
    /// Longer numbers do not fit `digits`.
    const DIGITS_LIMIT: usize = 16;

    fn new(value: u64) -> Counter {
        let (mut digits, mut len, mut left) = (0, 0, value);
        loop {
            digits = digits << 8 | u128::from(b'0' + (left % 10) as u8);
            len += 1;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        let step = 1 << (8 * (len.min(Counter::DIGITS_LIMIT) - 1));
        Counter { value, digits, len, step, steps_left: 9 - (value % 10) as u8 }
    }

    #[inline]
    fn increase(&mut self) {
        if self.steps_left > 0 {
            self.steps_left -= 1;
            self.digits = self.digits.wrapping_add(self.step);
            self.value += 1;
        } else {
            self.carry();
        }
    }

    #[cold]
    fn carry(&mut self) {
        *self = Counter::new(self.value.wrapping_add(1));
    }

    #[inline]
    fn write(&self, room: &mut [u8]) -> usize {
        match room.first_chunk_mut() {
            Some(room) if self.len <= Counter::DIGITS_LIMIT => *room = self.digits.to_le_bytes(),
            _ => self.write_exactly(room),
        }
        self.len
    }

    #[cold]
    fn write_exactly(&self, room: &mut [u8]) {
        let mut left = self.value;
        for digit in room[..self.len].iter_mut().rev() {
            *digit = b'0' + (left % 10) as u8;
            left /= 10;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count() {
        let long = 9_999_999_999_999_990;
        for start in [0, 1, 8, 95, 989, 99_990, 4_294_967_290, long, u64::MAX - 25] {
            let mut counter = Counter::new(start);
            for value in start..start + 25 {
                let mut long = [b'x'; 30];
                let len = counter.write(&mut long);
                assert_eq!(long[..len], *value.to_string().as_bytes());
                let mut exact = vec![b'x'; len];
                assert_eq!(counter.write(&mut exact), len);
                assert_eq!(exact, value.to_string().as_bytes());
                counter.increase();
            }
        }
    }
}
