//! The stages that the examples run to measure: sums of hashes, so that
//! nothing can be left out.

use hashline_lines::dialect::Dialect;
use hashline_lines::hash::{BlockHasher, LineHasher};
use hashline_lines::lines::{Lines, Unit};
use hashline_lines::simd::Level;

/// All lines, by blocks.
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

/// All lines, one at a time.
pub fn hash_one_by_one(dialect: &'static Dialect, bytes: &[u8]) -> u64 {
    let mut hasher = LineHasher::new(dialect);
    let lines = (1..).zip(Lines::new(bytes, Unit::Byte));
    lines.map(|(number, span)| u64::from(hasher.hash(number, span.text(bytes)))).sum()
}
