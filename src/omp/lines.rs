//! Helpers for the dialects `omp` and `omp13` in `js/`, besides formatting and hashing.
//!
//! JavaScript applies their edits to its own strings, because a string may have a lone surrogate,
//! which UTF-8 cannot encode and which must be preserved. Native code is still faster at finding
//! lines, at hashing long lines, and at deciding whether the engine formats a text as JavaScript
//! would.

use std::sync::LazyLock;

use memchr::{memchr, memchr_iter, memrchr};
use regex::bytes::Regex;
use xxhash_rust::xxh32::xxh32;

/// The block size of [`count_line_feeds`], in code units.
pub(super) const BLOCK_UNITS: usize = 128;

/// A code unit of a text.
pub(super) trait CodeUnit: Copy {
    /// How many newlines a block has. Sums as narrow as the units compile to vector instructions,
    /// and a sum of one byte is large enough for a block.
    fn count_line_feeds(block: &[Self]) -> u32;

    /// The positions of the newlines of a text.
    fn line_feeds(text: &[Self]) -> impl Iterator<Item = usize>;
}

impl CodeUnit for u8 {
    fn count_line_feeds(block: &[u8]) -> u32 {
        u32::from(block.iter().map(|&unit| u8::from(unit == b'\n')).sum::<u8>())
    }

    fn line_feeds(text: &[u8]) -> impl Iterator<Item = usize> {
        memchr_iter(b'\n', text)
    }
}

impl CodeUnit for u16 {
    fn count_line_feeds(block: &[u16]) -> u32 {
        u32::from(block.iter().map(|&unit| u16::from(unit == u16::from(b'\n'))).sum::<u16>())
    }

    fn line_feeds(text: &[u16]) -> impl Iterator<Item = usize> {
        (0..text.len()).filter(|&at| text[at] == u16::from(b'\n'))
    }
}

/// Writes to `counts` how many newlines precede each block of `text`, followed by their total. With
/// these counts, finding a line takes a search of one block.
///
/// `counts` has one element more than the text has blocks; if it is shorter, the last counts are
/// omitted.
pub(super) fn count_line_feeds<U: CodeUnit>(text: &[U], counts: &mut [u32]) {
    let mut total = 0;
    let mut counts = counts.iter_mut();
    for block in text.chunks(BLOCK_UNITS) {
        let Some(count) = counts.next() else { return };
        *count = total;
        total += U::count_line_feeds(block);
    }
    if let Some(count) = counts.next() {
        *count = total;
    }
}

/// Where the lines of `text` start, split as by `split("\n")`.
pub(super) fn line_starts<U: CodeUnit>(text: &[U]) -> Vec<u32> {
    let mut starts = vec![0];
    starts.extend(U::line_feeds(text).map(|at| at as u32 + 1));
    starts
}

/// Characters that a supported host may classify differently: those that Unicode added recently or
/// has not assigned yet.
static NEW: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\P{Age:13.0}").expect("a constant pattern that compiles"));

/// Letters and digits in every supported host.
static OLD_WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[[\p{L}\p{N}]&&\p{Age:13.0}]").expect("a constant pattern that compiles")
});

/// Whether every host agrees with this engine on which lines of UTF-8 `text` have a letter or
/// digit. The Unicode versions of both usually differ. A line is in doubt if only new characters
/// make it such a line.
pub(super) fn has_clear_words(text: &[u8]) -> bool {
    if text.is_ascii() {
        return true;
    }
    let mut from = 0;
    while let Some(new) = NEW.find_at(text, from) {
        let start = memrchr(b'\n', &text[..new.start()]).map_or(0, |at| at + 1);
        let end = memchr(b'\n', &text[new.end()..]).map_or(text.len(), |at| new.end() + at);
        if !OLD_WORD.is_match(&text[start..end]) {
            return false;
        }
        from = end;
    }
    true
}

/// xxHash32; its low byte is the hash of a line.
pub(super) fn hash_text(text: &[u8], seed: u32) -> u32 {
    xxh32(text, seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_of_new_characters_are_in_doubt() {
        // U+323B0 is a letter since Unicode 17, U+1FAE8 a symbol since 15, U+3FFFD nothing yet.
        for new in ["\u{323B0}", "\u{1FAE8}", "\u{3FFFD}", "\u{0CDC}"] {
            for doubtful in [new.to_owned(), format!("a\n  {new}}}\r\nb"), format!("a\n\n{new}")] {
                assert!(!has_clear_words(doubtful.as_bytes()), "{doubtful:?}");
            }
            for clear in [format!("a{new}"), format!("{new} \u{5909}"), format!("\n{new}7{new}\n")]
            {
                assert!(has_clear_words(clear.as_bytes()), "{clear:?}");
            }
        }
        for clear in ["", "}\n{", "\u{1F389}", "\u{5909}\u{6570}\n\u{2014}", "\u{FFFD}\u{E000}"] {
            assert!(has_clear_words(clear.as_bytes()), "{clear:?}");
        }
    }

    proptest! {
        #[test]
        fn line_feeds_are_counted(
            units in proptest::collection::vec(prop_oneof![Just(10u16), Just(13), Just(0x0a0a), any::<u16>()], 0..1000),
            room in 0usize..12,
        ) {
            let bytes: Vec<u8> = units.iter().map(|&unit| unit as u8).collect();
            let naive = |is_line_feed: &dyn Fn(usize) -> bool| -> Vec<u32> {
                let blocks = units.len().div_ceil(BLOCK_UNITS);
                let ends = (0..blocks).map(|block| block * BLOCK_UNITS).chain([units.len()]);
                ends.take(room).map(|end| (0..end).filter(|&at| is_line_feed(at)).count() as u32).collect()
            };
            let room = room.min(units.len().div_ceil(BLOCK_UNITS) + 1);
            let (mut narrow, mut wide) = (vec![0; room], vec![0; room]);
            count_line_feeds(&bytes, &mut narrow);
            count_line_feeds(&units, &mut wide);
            let starts = |is_line_feed: &dyn Fn(usize) -> bool| -> Vec<u32> {
                let ends = (0..units.len()).filter(|&at| is_line_feed(at));
                std::iter::once(0).chain(ends.map(|at| at as u32 + 1)).collect()
            };
            prop_assert_eq!(line_starts(&bytes), starts(&|at| bytes[at] == b'\n'));
            prop_assert_eq!(line_starts(&units), starts(&|at| units[at] == u16::from(b'\n')));
            prop_assert_eq!(narrow, naive(&|at| bytes[at] == b'\n'));
            prop_assert_eq!(wide, naive(&|at| units[at] == u16::from(b'\n')));
        }
    }
}
