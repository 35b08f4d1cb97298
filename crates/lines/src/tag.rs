//! The tag of a version of a text, as patches of oh-my-pi name it: four hexadecimal digits.
//!
//! It is the low half of xxHash32 (seed 0) of the text without spaces, tabs and carriage returns
//! before each newline and at the end, so that it does not depend on line terminators.

use std::convert::Infallible;
use std::fmt;

use memchr::{memchr, memchr_iter};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh32::Xxh32;

/// The number of bytes that are hashed between two checks.
const CHECK_BYTES: usize = 1 << 20;

/// The number of bytes that are scanned between two branches.
const SCAN_BYTES: usize = 4096;

/// Identifies a version of a text. Two versions have the same tag with a probability of 1 in
/// 65,536.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Tag(u16);

impl Tag {
    /// The number of digits.
    const DIGITS: usize = 4;

    /// The tag of a text: UTF-8, without byte order mark.
    pub fn of(text: &[u8]) -> Tag {
        let Ok(tag) = Tag::of_with_check(text, || Ok::<(), Infallible>(()));
        tag
    }

    /// Like [`Tag::of`], with a call of `check` after each line that ends at least a mebibyte after
    /// the last call. Stops on an error.
    pub fn of_with_check<E>(
        text: &[u8],
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Tag, E> {
        let mut hasher = Xxh32::new(0);
        let mut rest = text;
        while rest.len() >= CHECK_BYTES {
            let newline = memchr(b'\n', &rest[CHECK_BYTES..]);
            let piece_bytes = newline.map_or(rest.len(), |at| CHECK_BYTES + at);
            update(&mut hasher, &rest[..piece_bytes]);
            check()?;
            rest = &rest[piece_bytes..];
        }
        update(&mut hasher, rest);
        Ok(Tag(hasher.digest() as u16))
    }

    /// Parses four hexadecimal digits, in either case.
    pub fn parse(text: &str) -> Option<Tag> {
        let is_tag = text.len() == Tag::DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_tag.then(|| u16::from_str_radix(text, 16).ok().map(Tag)).flatten()
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:04X}", self.0)
    }
}

/// Hashes some lines without their trailing whitespace; the last of them is complete.
fn update(hasher: &mut Xxh32, lines: &[u8]) {
    if !has_trailing_whitespace(lines) {
        return hasher.update(lines);
    }
    // Consecutive lines without trailing whitespace are hashed in one call.
    let mut start = 0;
    for end in memchr_iter(b'\n', lines).chain([lines.len()]) {
        let kept = start + trim_line_end(&lines[start..end]).len();
        if kept < end {
            hasher.update(&lines[start..kept]);
            start = end;
        }
    }
    hasher.update(&lines[start..]);
}

/// Whether a line has trailing whitespace. Without branches, so that compilers vectorize it.
fn has_trailing_whitespace(lines: &[u8]) -> bool {
    let is_trailing = |byte: u8| (byte == b' ') | (byte == b'\t') | (byte == b'\r');
    let [_, next @ ..] = lines else { return false };
    let mut pieces = lines.chunks(SCAN_BYTES).zip(next.chunks(SCAN_BYTES));
    lines.last().is_some_and(|&last| is_trailing(last))
        || pieces.any(|(piece, next)| {
            let ends =
                piece.iter().zip(next).map(|(&one, &next)| is_trailing(one) & (next == b'\n'));
            ends.fold(false, |found, one| found | one)
        })
}

/// A line without its trailing whitespace.
fn trim_line_end(line: &[u8]) -> &[u8] {
    let kept = line.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    &line[..kept.map_or(0, |last| last + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use xxhash_rust::xxh32::xxh32;

    #[test]
    fn tags_round_trip() {
        assert_eq!(Tag::parse("1a2B"), Some(Tag(0x1a2b)));
        assert_eq!(Tag(0xab).to_string(), "00AB");
        for text in ["", "1A2", "1A2B3", "+123", " 1A2", "1A2G", "é12"] {
            assert_eq!(Tag::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn trailing_whitespace_is_found_at_any_piece_boundary() {
        for around in [SCAN_BYTES, CHECK_BYTES] {
            for before in around - 3..around + 3 {
                let line = "x".repeat(before);
                for end in ["\n", " \n", "\t\r\n", " ", "\n\n ", "\n \n"] {
                    let kept: Vec<&str> = end.split('\n').map(str::trim).collect();
                    let expected = xxh32(format!("{line}{}", kept.join("\n")).as_bytes(), 0) as u16;
                    let text = format!("{line}{end}");
                    assert_eq!(Tag::of(text.as_bytes()), Tag(expected), "{before} {end:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_line_by_line(text in "([ab \t\r]|\n|é|\u{a0}|\u{3000}){0,40}") {
            let lines: Vec<&str> =
                text.split('\n').map(|line| line.trim_end_matches([' ', '\t', '\r'])).collect();
            let expected = xxh32(lines.join("\n").as_bytes(), 0) as u16;
            prop_assert_eq!(Tag::of(text.as_bytes()), Tag(expected));
        }
    }
}
