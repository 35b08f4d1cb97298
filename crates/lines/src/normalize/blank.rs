//! Counts the lines whose normalized text is empty, without hashing them.
//!
//! Most lines end in a visible ASCII character, or are empty. These are counted by the bytes before
//! their newlines, many at a time. Lines are checked one by one only in chunks with other lines.

use crate::dialect::Normalization;
use crate::normalize;
use crate::simd::Level;

/// The number of bytes that are counted at a time, and checked line by line if that is not
/// sufficient.
const CHUNK_BYTES: usize = 1024;

/// The number of blank lines in `text`, which starts at a line.
pub fn blank_lines(rule: &Normalization, text: &[u8]) -> usize {
    match Level::best() {
        // SAFETY: `Level::best` returns a level that this processor supports, and both of these
        // include AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { count_avx2(rule, text) },
        _ => count(rule, text),
    }
}

/// [`count`], compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn count_avx2(rule: &Normalization, text: &[u8]) -> usize {
    count(rule, text)
}

#[inline(always)]
fn count(rule: &Normalization, text: &[u8]) -> usize {
    // As if a newline preceded the text.
    let mut front = [b'\n'; 2 + CHUNK_BYTES];
    let front_bytes = text.len().min(CHUNK_BYTES);
    front[2..2 + front_bytes].copy_from_slice(&text[..front_bytes]);
    let mut blank = 0;
    for start in (0..text.len()).step_by(CHUNK_BYTES) {
        let end = text.len().min(start + CHUNK_BYTES);
        let with_two_before = match start {
            0 => &front[..2 + front_bytes],
            _ => &text[start - 2..end],
        };
        let (empty, others) = count_chunk(with_two_before);
        blank += empty;
        if others > 0 {
            blank += count_whitespace_lines(rule, text, start, end);
        }
    }
    let last = &text[memchr::memrchr(b'\n', text).map_or(0, |at| at + 1)..];
    blank + usize::from(!last.is_empty() && is_blank(rule, last))
}

/// The number of lines that end after the first two of `bytes` and are empty, and the number of
/// others that have no visible ASCII character before the terminator.
#[inline(always)]
fn count_chunk(bytes: &[u8]) -> (usize, usize) {
    let (mut empty, mut others) = (0, 0);
    let last = bytes.len() - 2;
    let (before_two, before, now) = (&bytes[..last], &bytes[1..last + 1], &bytes[2..]);
    // Byte sums vectorize best, and cannot overflow within this number of steps.
    const STEPS: usize = 128;
    let parts = now.chunks(STEPS).zip(before.chunks(STEPS)).zip(before_two.chunks(STEPS));
    for ((now, before), before_two) in parts {
        let (mut part_empty, mut part_others) = (0u8, 0u8);
        for ((&now, &before), &before_two) in now.iter().zip(before).zip(before_two) {
            let ends = now == b'\n';
            let after_return = before == b'\r';
            let is_empty = (before == b'\n') | (after_return & (before_two == b'\n'));
            let is_plain = visible(before) | (after_return & visible(before_two));
            part_empty += u8::from(ends & is_empty);
            part_others += u8::from(ends & !is_empty & !is_plain);
        }
        empty += usize::from(part_empty);
        others += usize::from(part_others);
    }
    (empty, others)
}

#[inline(always)]
fn visible(byte: u8) -> bool {
    // A single comparison for both ends of the range.
    byte.wrapping_sub(b'!') < b'\x7f' - b'!'
}

/// The number of lines that end between two offsets and are blank, but not empty.
#[cold]
#[inline(never)]
fn count_whitespace_lines(rule: &Normalization, text: &[u8], start: usize, end: usize) -> usize {
    let mut line_start = memchr::memrchr(b'\n', &text[..start]).map_or(0, |at| at + 1);
    let mut blank = 0;
    for at in memchr::memchr_iter(b'\n', &text[start..end]) {
        let line = &text[line_start..start + at];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        blank += usize::from(!line.is_empty() && is_blank(rule, line));
        line_start = start + at + 1;
    }
    blank
}

fn is_blank(rule: &Normalization, line: &[u8]) -> bool {
    // The last byte decides for most lines.
    !line.last().is_some_and(|&byte| visible(byte)) && normalize::normalized(rule, line).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::DIALECTS;
    use crate::lines::{Lines, Unit};
    use proptest::prelude::*;

    fn check(text: &str) {
        for dialect in &DIALECTS {
            let rule = &dialect.normalization;
            let lines = Lines::new(text.as_bytes(), Unit::Byte);
            let is_blank = |line: &&[u8]| normalize::normalized(rule, line).is_empty();
            let expected = lines.map(|span| span.text(text.as_bytes())).filter(is_blank).count();
            assert_eq!(blank_lines(rule, text.as_bytes()), expected, "{} {text:?}", dialect.name);
            assert_eq!(count(rule, text.as_bytes()), expected, "{} {text:?}", dialect.name);
        }
    }

    #[test]
    fn lines_at_the_ends_of_chunks_are_counted_once() {
        for line in ["\n", "\r\n", " \n", "\u{3000}\n", "}\n", "é\n", "\u{85}\n", " \r\n", "\r\r\n"]
        {
            for before in CHUNK_BYTES - 4..CHUNK_BYTES + 3 {
                for filler in ["x", " "] {
                    check(&format!("{}{}", filler.repeat(before), line.repeat(3)));
                }
            }
            check(&line.repeat(3 * CHUNK_BYTES));
        }
        check("");
        check(" ");
    }

    proptest! {
        #[test]
        fn blank_lines_are_counted(
            parts in proptest::collection::vec("[ \t\r\n\n\n\u{a0}\u{85}\u{3000}xé}]{0,9}|x{400}| {700}", 0..60),
        ) {
            check(&parts.concat());
        }
    }
}
