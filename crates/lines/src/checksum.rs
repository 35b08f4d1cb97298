//! Checksums of blocks of lines, to detect whether they changed.

use serde::{Serialize, Serializer};
use xxhash_rust::xxh32::Xxh32;

use crate::lines::{LineIndex, Lines, Unit};

/// The number of digits of a checksum.
const HEX_DIGITS: usize = 8;

/// A range of lines and the hash of their texts, written `12-40:9f3a2c81`. Whitespace is
/// significant; line terminators are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Checksum {
    /// The first line.
    pub first: u64,
    /// The last line.
    pub last: u64,
    /// xxHash32 of their texts, each followed by a newline.
    hash: u32,
}

impl Checksum {
    /// The checksum of the lines from `first` to `last` of `text`, which starts at line `first`.
    pub fn of(first: u64, last: u64, text: &[u8]) -> Checksum {
        let lines = Lines::new(text, Unit::Byte).map(|span| span.text(text));
        Checksum { first, last, hash: hash(lines.take((last + 1 - first) as usize)) }
    }

    /// Parses a checksum.
    pub fn parse(text: &str) -> Option<Checksum> {
        let (lines, digits) = text.trim().split_once(':')?;
        let (first, last) = lines.split_once('-')?;
        let number = |digits: &str| {
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|number: &u64| is_number && *number > 0)
        };
        let (first, last) = (number(first)?, number(last)?);
        let is_hash =
            digits.len() == HEX_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let hash = u32::from_str_radix(digits, 16).ok()?;
        (is_hash && first <= last).then_some(Checksum { first, last, hash })
    }

    /// Whether the lines, moved by `distance`, are unchanged.
    pub fn holds(&self, text: &[u8], index: &LineIndex, distance: i64) -> bool {
        let first = self.first.saturating_add_signed(distance);
        let count = self.last - self.first + 1;
        let Some(lines) = index.from_line(text, first) else {
            return false;
        };
        let end = first.saturating_add(count - 1);
        end <= index.count()
            && hash(lines.take(count as usize).map(|span| span.text(text))) == self.hash
    }
}

impl std::fmt::Display for Checksum {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}-{}:{:08x}", self.first, self.last, self.hash)
    }
}

impl Serialize for Checksum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn hash<'l>(lines: impl Iterator<Item = &'l [u8]>) -> u32 {
    let mut state = Xxh32::new(0);
    for line in lines {
        state.update(line);
        state.update(b"\n");
    }
    state.digest()
}
