//! Scans the lines of a chunk that are hashed in place: finds their ends, and whether they contain
//! a letter or digit, in a single pass.

/// The bytes of one step: one per bit of a mask.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const BLOCK_BYTES: usize = 64;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
type BlockBytes = [u8; BLOCK_BYTES];

/// The properties of the bytes of a block, one bit per byte, starting at the lowest bit.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
struct LineMasks {
    newline: u64,
    /// ASCII letters and digits.
    word: u64,
    has_carriage_return: bool,
    is_ascii: bool,
}

/// The loop over the blocks of a chunk for one set of instructions. It is a macro because functions
/// with different target features cannot be inlined into a shared one. The module that uses it
/// defines `masks(&BlockBytes) -> LineMasks` with the same attributes.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! scan_loop {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        pub(super) fn find(chunk: &[u8], out: &mut LineScan) -> bool {
            out.is_ascii = true;
            let (blocks, rest) = chunk.as_chunks::<BLOCK_BYTES>();
            let mut has_word = false;
            for (index, block) in blocks.iter().enumerate() {
                if !end_lines(block, index * BLOCK_BYTES, &mut has_word, out) {
                    return false;
                }
            }
            if !rest.is_empty() {
                let mut block = [0; BLOCK_BYTES];
                block[..rest.len()].copy_from_slice(rest);
                if !end_lines(&block, blocks.len() * BLOCK_BYTES, &mut has_word, out) {
                    return false;
                }
            }
            // Do not read the last byte again, because it may have changed.
            if out.bounds[out.lines] as usize != chunk.len() {
                out.end_line(chunk.len(), has_word);
            }
            true
        }

        /// Ends the lines that end in a block; returns false if it contains a carriage return.
        /// `has_word` describes the line that is not finished.
        #[inline]
        $(#[$attribute])*
        fn end_lines(block: &BlockBytes, at: usize, has_word: &mut bool, out: &mut LineScan) -> bool {
            let LineMasks { mut newline, mut word, has_carriage_return, is_ascii } = masks(block);
            if has_carriage_return {
                return false;
            }
            out.is_ascii &= is_ascii;
            while newline != 0 {
                let index = newline.trailing_zeros();
                // Mask of the bits up to the newline.
                let line = newline ^ (newline - 1);
                newline &= newline - 1;
                out.end_line(at + index as usize + 1, *has_word || word & line != 0);
                word &= !line;
                *has_word = false;
            }
            *has_word |= word != 0;
            true
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

use crate::simd::Level;

/// The result of scanning a chunk. Reused for its memory.
#[derive(Debug, Default)]
pub(super) struct LineScan {
    /// The start of each line in the chunk, followed by the end of the last one.
    bounds: Vec<u32>,
    /// Whether each line contains an ASCII letter or digit.
    words: Vec<bool>,
    lines: usize,
    is_ascii: bool,
}

impl LineScan {
    /// The start of each line in the chunk.
    pub(super) fn starts(&self) -> &[u32] {
        &self.bounds[..self.lines]
    }

    /// The end of each line in the chunk, including its terminator.
    pub(super) fn ends(&self) -> &[u32] {
        &self.bounds[1..=self.lines]
    }

    /// Whether each line contains an ASCII letter or digit.
    pub(super) fn words(&self) -> &[bool] {
        &self.words[..self.lines]
    }

    /// Whether the chunk is ASCII.
    pub(super) fn is_ascii(&self) -> bool {
        self.is_ascii
    }

    /// Scans a chunk of less than 4 GiB. Returns false if it contains a carriage return; then the
    /// result is not valid. `level` must be available.
    pub(super) fn run(&mut self, level: Level, chunk: &[u8]) -> bool {
        assert!(level.is_available());
        assert!(u32::try_from(chunk.len()).is_ok(), "too long a chunk");
        if self.words.len() < chunk.len() {
            // A line has at least one byte.
            self.words.resize(chunk.len(), false);
            self.bounds.resize(chunk.len() + 1, 0);
        }
        self.bounds.resize(self.bounds.len().max(1), 0);
        self.lines = 0;
        match level {
            Level::Portable => find(chunk, self),
            // SAFETY: The assertion checked that the processor supports these instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2::find(chunk, self) },
            // SAFETY: The assertion checked that the processor supports these instructions.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { avx512::find(chunk, self) },
            // SAFETY: The assertion checked that the processor supports these instructions.
            #[cfg(target_arch = "aarch64")]
            Level::Neon => unsafe { neon::find(chunk, self) },
            _ => unreachable!("not available"),
        }
    }

    #[inline(always)]
    fn end_line(&mut self, end: usize, has_word: bool) {
        self.words[self.lines] = has_word;
        self.lines += 1;
        self.bounds[self.lines] = end as u32;
    }
}

fn find(chunk: &[u8], out: &mut LineScan) -> bool {
    if memchr::memchr(b'\r', chunk).is_some() {
        return false;
    }
    out.is_ascii = chunk.is_ascii();
    let has_word = |line: &[u8]| line.iter().any(u8::is_ascii_alphanumeric);
    let mut start = 0;
    for newline in memchr::memchr_iter(b'\n', chunk) {
        out.end_line(newline + 1, has_word(&chunk[start..newline]));
        start = newline + 1;
    }
    if start < chunk.len() {
        out.end_line(chunk.len(), has_word(&chunk[start..]));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A byte-by-byte implementation.
    fn naive(chunk: &[u8]) -> Option<(Vec<u32>, Vec<bool>)> {
        let lines: Vec<&[u8]> = chunk.split_inclusive(|&byte| byte == b'\n').collect();
        let mut end = 0;
        let ends = lines.iter().map(|line| {
            end += line.len() as u32;
            end
        });
        let words = lines.iter().map(|line| line.iter().any(u8::is_ascii_alphanumeric));
        (!chunk.contains(&b'\r')).then(|| (ends.collect(), words.collect()))
    }

    fn check(scan: &mut LineScan, chunk: &[u8]) {
        for level in Level::available() {
            let found = scan.run(level, chunk);
            let found = found.then(|| (scan.ends().to_vec(), scan.words().to_vec()));
            assert_eq!(found, naive(chunk), "{} {chunk:x?}", level.name());
            if found.is_some() {
                assert_eq!(scan.is_ascii(), chunk.is_ascii(), "{} {chunk:x?}", level.name());
            }
        }
    }

    #[test]
    fn every_byte_at_every_offset() {
        let mut scan = LineScan::default();
        for byte in 0..=255u8 {
            for before in (0..8).chain(28..36).chain(60..68) {
                let chunk = [&vec![b' '; before][..], &[byte], b" \n ", &[byte]].concat();
                check(&mut scan, &chunk);
            }
        }
        check(&mut scan, b"");
    }

    proptest! {
        #[test]
        fn lines_are_found(
            parts in proptest::collection::vec(prop_oneof![
                4 => "[ ;{}\u{e9}]{0,70}", 2 => Just("\n".to_owned()), 2 => Just(" x".to_owned()),
                1 => "\r?".prop_map(|part| part),
            ], 0..40),
            rest in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let mut scan = LineScan::default();
            check(&mut scan, parts.concat().as_bytes());
            check(&mut scan, &rest);
        }
    }
}
