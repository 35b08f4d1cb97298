//! The hash of a line: normalized text → xxHash32 → a value below the dialect's modulus.

mod block;
mod lanes;
mod line_scan;

use std::sync::LazyLock;

pub use block::{BlockHasher, HashedBlock, with_block_hasher};
use xxhash_rust::xxh32::{Xxh32, xxh32};

use crate::dialect::{Dialect, Seed};
use crate::normalize;
use crate::normalize::compact::{Compacted, Compactor};
use crate::simd::Level;

/// Longer lines are hashed in pieces, which bounds the scratch memory.
const PIECE_LIMIT_BYTES: usize = 64 * 1024;

/// Lines up to this length are normalized byte by byte, because vectors gain little.
const SHORT_LIMIT_BYTES: usize = 16;

static WORD: LazyLock<regex::bytes::Regex> = LazyLock::new(|| {
    regex::bytes::Regex::new(r"[\p{L}\p{N}]").expect("a constant pattern that compiles")
});

/// Hashes lines of one dialect. Reuses its scratch buffer.
pub struct LineHasher {
    dialect: &'static Dialect,
    level: Level,
    modulus: u32,
    /// The value for blank lines, if the dialect has one.
    blank: Option<u32>,
    scratch: Vec<u8>,
    /// For longer lines; created on first use.
    pieces: Option<(Compactor, Compacted)>,
}

impl LineHasher {
    /// A hasher for one dialect.
    pub fn new(dialect: &'static Dialect) -> Self {
        LineHasher::with_level(dialect, Level::best())
    }

    fn with_level(dialect: &'static Dialect, level: Level) -> Self {
        let (modulus, blank) = (dialect.modulus(), dialect.blank_hash());
        LineHasher { dialect, level, modulus, blank, scratch: Vec::new(), pieces: None }
    }

    /// The dialect of the hashes.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The hash of `line` (without terminator, UTF-8), reduced for the dialect. `line_number`
    /// starts at 1 and is only used by dialects whose seed depends on it.
    pub fn hash(&mut self, line_number: u64, line: &[u8]) -> u32 {
        if !self.dialect.has_hashes() {
            return 0;
        }
        let rule = &self.dialect.normalization;
        let text = normalize::trim(rule, line);
        let seed = match self.dialect.seed {
            Seed::Zero => 0,
            Seed::LineNumberWithoutWord => seed_without_word(line_number, text),
        };
        let (digest, is_blank) = if normalize::is_identity(rule, text) {
            (xxh32(text, seed), text.is_empty())
        } else if text.len() <= SHORT_LIMIT_BYTES {
            normalize::map_into(rule, text, &mut self.scratch);
            (xxh32(&self.scratch, seed), self.scratch.is_empty())
        } else {
            self.hash_in_pieces(text, seed)
        };
        self.blank.filter(|_| is_blank).unwrap_or(digest % self.modulus)
    }

    /// The digest of a text, and whether its normalized form is empty.
    fn hash_in_pieces(&mut self, mut text: &[u8], seed: u32) -> (u32, bool) {
        let (rule, level) = (&self.dialect.normalization, self.level);
        let new = || (Compactor::of_pieces(rule, level), Compacted::default());
        let (compactor, compacted) = self.pieces.get_or_insert_with(new);
        if text.len() <= PIECE_LIMIT_BYTES {
            compactor.compact(text, compacted);
            return (xxh32(compacted.bytes(), seed), compacted.bytes().is_empty());
        }
        let (mut state, mut is_blank) = (Xxh32::new(seed), true);
        while !text.is_empty() {
            let (piece, rest) = text.split_at(floor_boundary(text, PIECE_LIMIT_BYTES));
            compactor.compact(piece, compacted);
            state.update(compacted.bytes());
            is_blank &= compacted.bytes().is_empty();
            text = rest;
        }
        (state.digest(), is_blank)
    }
}

/// The seed for dialects that distinguish lines without words by their numbers.
fn seed_without_word(line_number: u64, text: &[u8]) -> u32 {
    let has_word =
        text.iter().any(u8::is_ascii_alphanumeric) || (!text.is_ascii() && WORD.is_match(text));
    // The original implementation converts the number to a 32-bit seed, which wraps.
    if has_word { 0 } else { line_number as u32 }
}

/// The last character boundary of UTF-8 `text` at or before `limit`. At least 1, so that a loop
/// over invalid UTF-8 terminates.
pub fn floor_boundary(text: &[u8], limit: usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    let mut end = limit;
    while end > 0 && limit - end < 4 && text[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    if end == 0 || text[end] & 0xC0 == 0x80 { limit.max(1) } else { end }
}

/// The hash of a single line.
pub fn hash_line(dialect: &'static Dialect, line_number: u64, line: &str) -> u32 {
    LineHasher::new(dialect).hash(line_number, line.as_bytes())
}

/// Whether `expected` (the digits of a hash, or empty for a blank line without one) is the hash of
/// `line`.
pub fn verify(dialect: &'static Dialect, line_number: u64, line: &str, expected: &str) -> bool {
    dialect.parse_hash(expected.as_bytes()) == Some(hash_line(dialect, line_number, line))
}

/// Whether hashes of the dialect depend on the line number.
pub fn mixes_line_number(dialect: &Dialect) -> bool {
    dialect.seed != Seed::Zero
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::DIALECTS;

    fn check(name: &str, line: &str, expected: &str) {
        let dialect = Dialect::by_name(name).unwrap();
        assert_eq!(dialect.hash_text(hash_line(dialect, 1, line)), expected, "{name} {line:?}");
        assert!(verify(dialect, 1, line, expected));
        assert!(!verify(dialect, 1, &format!("{line}x"), expected));
    }

    #[test]
    fn check_values_of_the_protocol() {
        for (line, pi, pi26) in [
            ("", "05", "tdcn"),
            ("}", "18", "ovpo"),
            ("return null;", "56", "nqju"),
            ("const x = 10;", "61", "tprd"),
            ("こんにちは世界", "0c", "mrii"),
            ("🎉", "09", "ylcj"),
        ] {
            check("pi", line, pi);
            check("pi26", line, pi26);
        }
    }

    #[test]
    fn long_lines_hash_like_short_ones() {
        let mut long = "é x—\u{3000}".repeat(40_000);
        long.push('\r');
        for dialect in &DIALECTS {
            let whole = normalize::normalized(&dialect.normalization, long.as_bytes());
            assert_eq!(
                hash_line(dialect, 7, &long),
                xxh32(&whole, 0) % dialect.modulus(),
                "{}",
                dialect.name
            );
        }
    }

    #[test]
    fn blank_lines_have_no_hash_in_dialects_that_say_so() {
        let lean = Dialect::by_name("lean").unwrap();
        let long = " \t\u{3000}".repeat(PIECE_LIMIT_BYTES);
        for blank in ["", " ", "\t\r", "\u{a0}\u{feff}", &" ".repeat(SHORT_LIMIT_BYTES + 1), &long]
        {
            assert_eq!(hash_line(lean, 1, blank), 512, "{} bytes", blank.len());
            assert!(verify(lean, 1, blank, ""));
        }
        for text in ["}", "\u{85}", &format!("{long}x"), &format!("x{long}")] {
            let pi = normalize::normalized(&lean.normalization, text.as_bytes());
            assert_eq!(hash_line(lean, 1, text), xxh32(&pi, 0) % 512, "{} bytes", text.len());
            assert!(!verify(lean, 1, text, ""));
        }
    }

    #[test]
    fn boundaries_make_progress_on_any_bytes() {
        assert_eq!(floor_boundary("aé".as_bytes(), 2), 1);
        assert_eq!(floor_boundary("aé".as_bytes(), 3), 3);
        assert_eq!(floor_boundary(&[0x80; 10], 3), 3);
        assert_eq!(floor_boundary("é".as_bytes(), 1), 1);
    }
}
