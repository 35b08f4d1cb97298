//! Hashes all lines of a text, a block of lines at a time.

use std::cell::Cell;

use super::lanes::{self, READ_BYTES, Texts};
use super::line_scan::LineScan;
use super::{LineHasher, seed_without_word};
use crate::dialect::{Dialect, Removal, Seed};
use crate::normalize;
use crate::normalize::compact::{CHUNK_LIMIT_BYTES, Compacted, Compactor};
use crate::simd::Level;

/// Hashes all lines of a text in one dialect. Several times as fast as [`LineHasher`].
pub struct BlockHasher {
    dialect: &'static Dialect,
    level: Level,
    compactor: Compactor,
    compacted: Compacted,
    scan: LineScan,
    /// The end of the hashed text of each line, if it is not the start of the next one.
    stops: Vec<u32>,
    seeds: Vec<u32>,
    hashes: Vec<u32>,
    /// The normalized trailing whitespace of a line.
    scratch: Vec<u8>,
    single: LineHasher,
}

/// A block of hashed lines.
#[derive(Clone, Copy, Debug)]
pub struct HashedBlock<'a> {
    /// The hash of each line.
    pub hashes: &'a [u32],
    /// The end of each line except the last, including its terminator. The last line may have any
    /// length, see [`HashedBlock::len_bytes`].
    ends: &'a [u32],
    len_bytes: usize,
}

impl<'a> HashedBlock<'a> {
    /// A block of no line, or of one line with `len_bytes` bytes.
    pub fn of_one(hashes: &'a [u32], len_bytes: usize) -> HashedBlock<'a> {
        HashedBlock { hashes, ends: &[], len_bytes }
    }

    /// A block of lines that end at `ends`.
    fn of(hashes: &'a [u32], ends: &'a [u32]) -> HashedBlock<'a> {
        let (last, before) = ends.split_last().map_or((0, ends), |(&last, before)| (last, before));
        HashedBlock { hashes, ends: before, len_bytes: last as usize }
    }

    /// The length of the lines in the text.
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// The end of each line except the last in the text, including its terminator.
    pub fn ends_but_last(&self) -> &'a [u32] {
        self.ends
    }

    /// The end of each line in the text, including its terminator.
    pub fn ends(self) -> impl Iterator<Item = usize> + 'a {
        let last = (!self.hashes.is_empty()).then_some(self.len_bytes);
        self.ends.iter().map(|&end| end as usize).chain(last)
    }
}

impl BlockHasher {
    /// A hasher for one dialect.
    pub fn new(dialect: &'static Dialect) -> BlockHasher {
        BlockHasher::with_level(dialect, Level::best())
    }

    /// A hasher for the given level, which must be available.
    pub fn with_level(dialect: &'static Dialect, level: Level) -> BlockHasher {
        BlockHasher {
            dialect,
            level,
            compactor: Compactor::of_lines(&dialect.normalization, level),
            compacted: Compacted::default(),
            scan: LineScan::default(),
            stops: Vec::new(),
            seeds: Vec::new(),
            hashes: Vec::new(),
            scratch: Vec::new(),
            single: LineHasher::with_level(dialect, level),
        }
    }

    /// A hasher for another dialect that reuses the memory of this one.
    fn in_dialect(self, dialect: &'static Dialect) -> BlockHasher {
        if std::ptr::eq(self.dialect, dialect) {
            return self;
        }
        let level = self.level;
        BlockHasher {
            dialect,
            compactor: Compactor::of_lines(&dialect.normalization, level),
            single: LineHasher::with_level(dialect, level),
            // All zero in most dialects, and then reused for each block.
            seeds: Vec::new(),
            ..self
        }
    }

    /// The dialect of the hashes.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Hashes the first lines of `text`: those that fit in a block, but at least one unless `text`
    /// is empty. `first_line` is the number of the first line.
    pub fn hash_block(&mut self, first_line: u64, text: &[u8]) -> HashedBlock<'_> {
        let chunk = &text[..chunk_end(text)];
        self.hashes.clear();
        if chunk.len() > CHUNK_LIMIT_BYTES {
            return self.hash_long_line(first_line, chunk);
        }
        if self.may_hash_in_place() && self.scan.run(self.level, chunk) {
            return self.hash_in_place(first_line, text, chunk.len());
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
        reduce(self.dialect, (texts.starts, texts.stops), &mut self.hashes);
        HashedBlock::of(&self.hashes, self.compacted.ends())
    }

    /// Completes what compacting does not do, from the original lines in the chunk: trims trailing
    /// whitespace, and computes the seeds.
    fn finish_lines(&mut self, first_line: u64, chunk: &[u8]) {
        let rule = &self.dialect.normalization;
        let (bounds, ends) = (self.compacted.bounds(), self.compacted.ends());
        if rule.removal == Removal::Everywhere && self.dialect.seed == Seed::Zero {
            self.seeds.resize(ends.len(), 0);
            return;
        }
        self.stops.clear();
        self.seeds.clear();
        let mut start = 0;
        let kept = bounds.windows(2).map(|pair| (pair[0], pair[1]));
        for ((number, &end), (kept_start, kept_end)) in (first_line..).zip(ends).zip(kept) {
            let line = &chunk[start..end as usize];
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let text = normalize::trim(rule, line);
            // Compacting kept a part of what is trimmed. The bytes of a mapped file may have
            // changed since.
            normalize::map_into(rule, &line[text.len()..], &mut self.scratch);
            let trimmed = self.scratch.len() as u32;
            self.stops.push(kept_end.saturating_sub(trimmed).max(kept_start));
            self.seeds.push(match self.dialect.seed {
                Seed::Zero => 0,
                Seed::LineNumberWithoutWord => seed_without_word(number, text),
            });
            start = end as usize;
        }
    }

    /// Whether lines without a carriage return are hashed unchanged except for their ends.
    fn may_hash_in_place(&self) -> bool {
        let rule = &self.dialect.normalization;
        rule.removal == Removal::AtEnd && !rule.canonicalize
    }

    /// Hashes the scanned lines, which are the first `chunk_bytes` of `text`.
    fn hash_in_place(
        &mut self,
        first_line: u64,
        text: &[u8],
        chunk_bytes: usize,
    ) -> HashedBlock<'_> {
        self.finish_scanned_lines(first_line, text);
        let (starts, stops, seeds) = (self.scan.starts(), &self.stops[..], &self.seeds[..]);
        // The last lines are too close to the end of the text for the reads of the lanes.
        let near = starts.partition_point(|&start| start as usize + READ_BYTES <= text.len());
        let texts = Texts {
            bytes: text,
            starts: &starts[..near],
            stops: &stops[..near],
            seeds: &seeds[..near],
        };
        lanes::hash_all(self.level, texts, &mut self.hashes);
        if let Some(&first_start) = starts.get(near) {
            let tail = &text[first_start as usize..chunk_bytes];
            let mut bytes = [0; 2 * READ_BYTES];
            bytes[..tail.len()].copy_from_slice(tail);
            let moved = |bounds: &[u32]| -> Vec<u32> {
                bounds[near..].iter().map(|&index| index - first_start).collect()
            };
            let (starts, stops) = (&moved(starts)[..], &moved(stops)[..]);
            let texts = Texts { bytes: &bytes, starts, stops, seeds: &seeds[near..] };
            lanes::hash_all(self.level, texts, &mut self.hashes);
        }
        let bounds = (self.scan.starts(), &self.stops[..]);
        reduce(self.dialect, bounds, &mut self.hashes);
        HashedBlock::of(&self.hashes, self.scan.ends())
    }

    /// Computes the ends of the hashed texts of the scanned lines, and their seeds.
    fn finish_scanned_lines(&mut self, first_line: u64, text: &[u8]) {
        let rule = &self.dialect.normalization;
        let scan = &self.scan;
        self.stops.clear();
        self.seeds.clear();
        let (starts, ends) = (scan.starts(), scan.ends());
        self.stops.extend(starts.iter().zip(ends).map(|(&start, &end)| {
            let line = &text[start as usize..end as usize];
            let line = normalize::trim(rule, line.strip_suffix(b"\n").unwrap_or(line));
            start + line.len() as u32
        }));
        let words = scan.words().iter().zip(first_line..);
        match self.dialect.seed {
            Seed::Zero => self.seeds.resize(ends.len(), 0),
            Seed::LineNumberWithoutWord if scan.is_ascii() => self
                .seeds
                .extend(words.map(|(&has_word, number)| if has_word { 0 } else { number as u32 })),
            Seed::LineNumberWithoutWord => {
                let lines = starts.iter().zip(&self.stops);
                let lines = lines.map(|(&start, &stop)| &text[start as usize..stop as usize]);
                self.seeds.extend(words.zip(lines).map(|((&has_word, number), line)| {
                    if has_word { 0 } else { seed_without_word(number, line) }
                }));
            }
        }
    }

    fn hash_long_line(&mut self, number: u64, line: &[u8]) -> HashedBlock<'_> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        self.hashes.push(self.single.hash(number, text.strip_suffix(b"\r").unwrap_or(text)));
        HashedBlock::of_one(&self.hashes, line.len())
    }
}

thread_local! {
    /// The hasher of the last text of this thread. A hasher needs more memory than most texts, and
    /// fresh memory costs a page fault every 4 KiB. Its size does not depend on the texts.
    static RECYCLED: Cell<Option<BlockHasher>> = const { Cell::new(None) };
}

/// Runs `work` with a hasher that is reused for the next text of the thread.
pub fn with_block_hasher<T>(
    dialect: &'static Dialect,
    work: impl FnOnce(&mut BlockHasher) -> T,
) -> T {
    let kept = RECYCLED.try_with(Cell::take).ok().flatten();
    let mut hasher = match kept {
        Some(kept) => kept.in_dialect(dialect),
        None => BlockHasher::new(dialect),
    };
    let result = work(&mut hasher);
    // At the end of a thread, the storage may be destroyed already.
    let _ = RECYCLED.try_with(|kept| kept.set(Some(hasher)));
    result
}

/// The end of the lines that are hashed together: after the last one that fits in a chunk, or after
/// the first one if that is longer than a chunk.
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

/// Reduces digests of texts with these starts and stops to hashes of the dialect.
fn reduce(dialect: &Dialect, (starts, stops): (&[u32], &[u32]), hashes: &mut [u32]) {
    let modulus = dialect.modulus();
    let mask = modulus.is_power_of_two().then(|| modulus - 1);
    match (mask, dialect.blank_hash()) {
        (Some(mask), None) => hashes.iter_mut().for_each(|hash| *hash &= mask),
        (None, None) => hashes.iter_mut().for_each(|hash| *hash %= modulus),
        // In a single pass.
        (_, Some(blank)) => {
            for ((hash, start), stop) in hashes.iter_mut().zip(starts).zip(stops) {
                let reduced = mask.map_or_else(|| *hash % modulus, |mask| *hash & mask);
                *hash = if start == stop { blank } else { reduced };
            }
        }
    }
}
