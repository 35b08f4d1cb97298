//! The tag of a version of a text, as oh-my-pi's patches name it: four hexadecimal digits.
//!
//! It is the low half of xxHash32 (seed 0) of the text without the spaces, tabs and carriage returns
//! before each line feed and at the end, so that it is the same whatever ends the lines.

use std::convert::Infallible;
use std::fmt;

use memchr::{memchr, memchr_iter};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh32::Xxh32;

/// As much of a text goes by between two looks.
const LOOK_BYTES: usize = 1 << 20;

/// So much of it is looked through before it is asked whether something was found.
const LOOSE_BYTES: usize = 4096;

/// Names a version of a text. Two versions in 65,536 have the same by accident.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Tag(u16);

impl Tag {
    /// How many digits it is written with.
    const DIGITS: usize = 4;

    /// The tag of a text: UTF-8, without byte order mark.
    pub fn of(text: &[u8]) -> Tag {
        let Ok(tag) = Tag::of_while(text, || Ok::<(), Infallible>(()));
        tag
    }

    /// The same, unless a look, after each line that ends a mebibyte or more behind the last one,
    /// finds that nobody wants it any more.
    pub fn of_while<E>(text: &[u8], mut look: impl FnMut() -> Result<(), E>) -> Result<Tag, E> {
        let mut hasher = Xxh32::new(0);
        let mut rest = text;
        while rest.len() >= LOOK_BYTES {
            let newline = memchr(b'\n', &rest[LOOK_BYTES..]);
            let piece_bytes = newline.map_or(rest.len(), |at| LOOK_BYTES + at);
            update(&mut hasher, &rest[..piece_bytes]);
            look()?;
            rest = &rest[piece_bytes..];
        }
        update(&mut hasher, rest);
        Ok(Tag(hasher.digest() as u16))
    }

    /// Reads four hexadecimal digits, in either case.
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

/// Hashes what counts of some lines; the last of them ends where they end.
fn update(hasher: &mut Xxh32, lines: &[u8]) {
    if !has_loose_end(lines) {
        return hasher.update(lines);
    }
    // Where nothing is left out, a stretch of many lines is hashed at once.
    let mut start = 0;
    for end in memchr_iter(b'\n', lines).chain([lines.len()]) {
        let kept = start + without_end(&lines[start..end]).len();
        if kept < end {
            hasher.update(&lines[start..kept]);
            start = end;
        }
    }
    hasher.update(&lines[start..]);
}

/// Whether a line ends in white space that does not count. Without branches, so that compilers make
/// vector instructions of it.
fn has_loose_end(lines: &[u8]) -> bool {
    let is_loose = |byte: u8| (byte == b' ') | (byte == b'\t') | (byte == b'\r');
    let [_, next @ ..] = lines else { return false };
    let mut pieces = lines.chunks(LOOSE_BYTES).zip(next.chunks(LOOSE_BYTES));
    lines.last().is_some_and(|&last| is_loose(last))
        || pieces.any(|(piece, next)| {
            let ends = piece.iter().zip(next).map(|(&one, &next)| is_loose(one) & (next == b'\n'));
            ends.fold(false, |found, one| found | one)
        })
}

/// A line without the white space at its end that does not count.
fn without_end(line: &[u8]) -> &[u8] {
    let kept = line.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    &line[..kept.map_or(0, |last| last + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use xxhash_rust::xxh32::xxh32;

    #[test]
    fn tags_are_read_as_they_are_written() {
        assert_eq!(Tag::parse("1a2B"), Some(Tag(0x1a2b)));
        assert_eq!(Tag(0xab).to_string(), "00AB");
        for text in ["", "1A2", "1A2B3", "+123", " 1A2", "1A2G", "é12"] {
            assert_eq!(Tag::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn white_space_at_an_end_is_found_wherever_pieces_are_cut() {
        for around in [LOOSE_BYTES, LOOK_BYTES] {
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
