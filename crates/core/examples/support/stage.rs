//! The stages that the examples measure. Each returns a sum of hashes, so that the compiler cannot
//! remove the work.

use hashline_lines::dialect::Dialect;
use hashline_lines::hash::{BlockHasher, LineHasher};
use hashline_lines::lines::{Lines, Unit};
use hashline_lines::simd::Level;

/// Hashes all lines in blocks.
pub fn hash(dialect: &'static Dialect, level: Level, bytes: &[u8]) -> u64 {
    let mut hasher = BlockHasher::with_level(dialect, level);
    let (mut number, mut rest, mut sum) = (1, bytes, 0);
    while !rest.is_empty() {
        let block = hasher.hash_block(number, rest);
        number += block.hashes.len() as u64;
        sum += block.hashes.iter().map(|&hash| u64::from(hash)).sum::<u64>();
        rest = &rest[block.len_bytes()..];
    }
    sum
}

/// Hashes the lines one at a time.
pub fn hash_one_by_one(dialect: &'static Dialect, bytes: &[u8]) -> u64 {
    let mut hasher = LineHasher::new(dialect);
    let lines = (1..).zip(Lines::new(bytes, Unit::Byte));
    lines.map(|(number, span)| u64::from(hasher.hash(number, span.text(bytes)))).sum()
}
