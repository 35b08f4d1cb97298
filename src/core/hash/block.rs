//! The hashes of all lines of a text, a block of lines at a time.

use super::lanes::{self, Texts};
use super::{LineHasher, seed_without_word};
use crate::dialect::{Dialect, Removal, Seed};
use crate::normalize;
use crate::normalize::compact::{CHUNK_LIMIT_BYTES, Compacted, Compactor};
use crate::simd::Level;

/// Hashes all lines of texts in one dialect; several times as fast as line by line.
pub struct BlockHasher {
    dialect: &'static Dialect,
    level: Level,
    compactor: Compactor,
    compacted: Compacted,
    /// Where the hashed text of each line ends, where that is not where the next one starts.
    stops: Vec<u32>,
    seeds: Vec<u32>,
    hashes: Vec<u32>,
    ends: Vec<u32>,
    /// What compacting kept of the white space at the end of a line.
    scratch: Vec<u8>,
    single: LineHasher,
}

/// Lines that were hashed together.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The hash of each line.
    pub hashes: &'a [u32],
    /// Where each line ends in the text, terminator included.
    pub ends: &'a [u32],
}

impl Block<'_> {
    /// How much of the text the lines take.
    pub fn len_bytes(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }
}

impl BlockHasher {
    /// A hasher for one dialect.
    pub fn new(dialect: &'static Dialect) -> BlockHasher {
        BlockHasher::with_level(dialect, Level::best())
    }

    /// A hasher on the given level, which must be available.
    pub fn with_level(dialect: &'static Dialect, level: Level) -> BlockHasher {
        BlockHasher {
            dialect,
            level,
            compactor: Compactor::of_lines(&dialect.normalization, level),
            compacted: Compacted::default(),
            stops: Vec::new(),
            seeds: Vec::new(),
            hashes: Vec::new(),
            ends: Vec::new(),
            scratch: Vec::new(),
            single: LineHasher::with_level(dialect, level),
        }
    }

    /// The dialect whose hashes this makes.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Hashes the first lines of `text`: as many as fit a block, at least one unless there is
    /// none. `first_line` is the number of the first.
    pub fn hash_block(&mut self, first_line: u64, text: &[u8]) -> Block<'_> {
        let chunk = &text[..chunk_end(text)];
        self.hashes.clear();
        if chunk.len() > CHUNK_LIMIT_BYTES {
            return self.hash_long_line(first_line, chunk);
        }
        self.compactor.compact(chunk, &mut self.compacted);
        self.finish_lines(first_line, chunk);
        let bounds = self.compacted.bounds();
        let texts = Texts {
            bytes: self.compacted.bytes_with_slack(),
            starts: &bounds[..bounds.len() - 1],
            stops: match self.dialect.normalization.removal {
                Removal::Everywhere => &bounds[1..],
                Removal::AtEnd => &self.stops,
            },
            seeds: &self.seeds,
        };
        lanes::hash_all(self.level, texts, &mut self.hashes);
        reduce(&mut self.hashes, self.dialect.modulus());
        Block { hashes: &self.hashes, ends: self.compacted.ends() }
    }

    /// What compacting leaves to do: the white space at the end, and the seeds. Both come from
    /// the lines as they are in the chunk.
    fn finish_lines(&mut self, first_line: u64, chunk: &[u8]) {
        let rule = &self.dialect.normalization;
        let (bounds, ends) = (self.compacted.bounds(), self.compacted.ends());
        if rule.removal == Removal::Everywhere && self.dialect.seed == Seed::Zero {
            // Usually they are zeros already.
            self.seeds.resize(ends.len(), 0);
            return;
        }
        self.stops.clear();
        self.seeds.clear();
        let mut start = 0;
        for ((number, &end), &kept_end) in (first_line..).zip(ends).zip(&bounds[1..]) {
            let line = &chunk[start..end as usize];
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let text = normalize::trim(rule, line);
            // Compacting kept some of what is trimmed.
            normalize::map_into(rule, &line[text.len()..], &mut self.scratch);
            self.stops.push(kept_end - self.scratch.len() as u32);
            self.seeds.push(match self.dialect.seed {
                Seed::Zero => 0,
                Seed::LineNumberWithoutWord => seed_without_word(number, text),
            });
            start = end as usize;
        }
    }

    fn hash_long_line(&mut self, number: u64, line: &[u8]) -> Block<'_> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        self.hashes.push(self.single.hash(number, text.strip_suffix(b"\r").unwrap_or(text)));
        self.ends.clear();
        self.ends.push(line.len() as u32);
        Block { hashes: &self.hashes, ends: &self.ends }
    }
}

/// Where the lines end that are hashed together: after the last one that fits a chunk, or
/// after the first, when that does not.
fn chunk_end(text: &[u8]) -> usize {
    if text.len() <= CHUNK_LIMIT_BYTES {
        return text.len();
    }
    let (front, rest) = text.split_at(CHUNK_LIMIT_BYTES);
    match memchr::memrchr(b'\n', front) {
        Some(newline) => newline + 1,
        None => memchr::memchr(b'\n', rest)
            .map_or(text.len(), |newline| CHUNK_LIMIT_BYTES + newline + 1),
    }
}

fn reduce(hashes: &mut [u32], modulus: u32) {
    if modulus.is_power_of_two() {
        for hash in hashes {
            *hash &= modulus - 1;
        }
    } else {
        for hash in hashes {
            *hash %= modulus;
        }
    }
}
