//! Normalization: derives the hashed text of a line according to a [`Normalization`].
//!
//! Every normalization has two steps: the end of the slice is trimmed ([`trim`]), then each
//! character is mapped on its own ([`map_into`]). The second step works on any piece of a line, so
//! a line of any length can be hashed with a scratch buffer of bounded size.

pub mod blank;
pub mod compact;

use crate::dialect::{CarriageReturns, Normalization, Removal, Whitespace};

/// First step: the slice of the line that can contribute to the normalized text.
#[inline]
pub fn trim<'a>(rule: &Normalization, line: &'a [u8]) -> &'a [u8] {
    let line = match rule.carriage_returns {
        CarriageReturns::DropOneTrailing => line.strip_suffix(b"\r").unwrap_or(line),
        CarriageReturns::Keep | CarriageReturns::DropAll => line,
    };
    match rule.removal {
        Removal::Everywhere => line,
        // A carriage return is whitespace in both sets, so this also removes those in the trailing
        // whitespace that `DropAll` would remove.
        Removal::AtEnd if !matches!(line.last(), Some(b'!'..=b'~')) => {
            trim_end(rule.white_space, line)
        }
        // Most lines end in a visible ASCII character.
        Removal::AtEnd => line,
    }
}

fn trim_end(set: Whitespace, mut line: &[u8]) -> &[u8] {
    loop {
        let (character, size) = bstr::decode_last_utf8(line);
        match character {
            Some(found) if set.contains(found) => line = &line[..line.len() - size],
            _ => return line,
        }
    }
}

/// How the second step treats an ASCII byte: 1 keeps it, 0 removes it.
type KeepTable = [u8; 128];

/// Removes all ASCII whitespace.
const KEEP_VISIBLE: KeepTable = keep_table(Removal::Everywhere);
/// Removes only carriage returns.
const KEEP_ALL_BUT_CR: KeepTable = keep_table(Removal::AtEnd);

const fn keep_table(removal: Removal) -> KeepTable {
    let mut table = [1; 128];
    table[b'\r' as usize] = 0;
    if matches!(removal, Removal::Everywhere) {
        table[b'\t' as usize] = 0;
        table[b'\n' as usize] = 0;
        table[0x0b] = 0;
        table[0x0c] = 0;
        table[b' ' as usize] = 0;
    }
    table
}

fn keep_table_of(rule: &Normalization) -> &'static KeepTable {
    match rule.removal {
        Removal::Everywhere => &KEEP_VISIBLE,
        Removal::AtEnd => &KEEP_ALL_BUT_CR,
    }
}

/// Second step: replaces `out` by the normalized text of `piece`, a part of a trimmed line that
/// starts and ends at character boundaries. It is never longer than `piece`. Invalid UTF-8 is not
/// changed.
pub fn map_into(rule: &Normalization, piece: &[u8], out: &mut Vec<u8>) {
    let keep = keep_table_of(rule);
    out.clear();
    out.resize(piece.len(), 0);
    let mut written = 0;
    // Most lines are ASCII.
    let ascii = if piece.is_ascii() { piece } else { &[] };
    for &byte in ascii {
        out[written] = byte;
        written += usize::from(keep[usize::from(byte & 0x7f)]);
    }
    let mut rest = &piece[ascii.len()..];
    while let Some(&first) = rest.first() {
        if first < 0x80 {
            out[written] = first;
            written += usize::from(keep[first as usize]);
            rest = &rest[1..];
        } else {
            let (kept, size) = map_character(rule, rest);
            out[written..written + kept.len()].copy_from_slice(kept);
            written += kept.len();
            rest = &rest[size..];
        }
    }
    out.truncate(written);
}

/// Maps the non-ASCII character at the start of `bytes`. Also returns its length.
fn map_character<'a>(rule: &Normalization, bytes: &'a [u8]) -> (&'a [u8], usize) {
    let (character, size) = bstr::decode_utf8(bytes);
    let kept = match character {
        Some(found) => mapped(rule, found, &bytes[..size]),
        None => &bytes[..size],
    };
    (kept, size)
}

/// Maps one non-ASCII character with the UTF-8 form `bytes`.
fn mapped<'a>(rule: &Normalization, character: char, bytes: &'a [u8]) -> &'a [u8] {
    if rule.canonicalize
        && let Some(ascii) = canonical(character)
    {
        return if ascii == " " { b"" } else { ascii.as_bytes() };
    }
    match rule.removal {
        Removal::Everywhere if rule.white_space.contains(character) => b"",
        _ => bytes,
    }
}

/// The ASCII form of a typographic character.
fn canonical(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' => "'",
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '\u{2026}' => "...",
        '\u{00A0}' | '\u{2002}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => " ",
        _ => return None,
    })
}

/// Whether [`map_into`] would not change the piece, so that it can be hashed in place.
pub fn is_identity(rule: &Normalization, piece: &[u8]) -> bool {
    match rule.removal {
        Removal::Everywhere => false,
        Removal::AtEnd => !rule.canonicalize && memchr::memchr(b'\r', piece).is_none(),
    }
}

/// The normalized text of a line. Allocates; used for hints, messages and tests, not for hashing.
pub fn normalized(rule: &Normalization, line: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    map_into(rule, trim(rule, line), &mut out);
    out
}

/// The text without JavaScript whitespace. Repairs and the guard compare lines by it.
pub fn without_white_space(text: &str) -> String {
    visible_chars(text).collect()
}

/// The characters of a text that are not JavaScript whitespace.
pub fn visible_chars(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|&character| !Whitespace::JavaScript.contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::DIALECTS;
    use proptest::prelude::*;

    /// The rules of the protocol, one after the other, by characters.
    fn naive(rule: &Normalization, line: &str) -> String {
        let mut text = line.to_owned();
        if rule.canonicalize {
            text =
                text.chars().map(|c| canonical(c).map_or(c.to_string(), str::to_owned)).collect();
        }
        match rule.carriage_returns {
            CarriageReturns::Keep => {}
            CarriageReturns::DropOneTrailing => {
                text = text.strip_suffix('\r').unwrap_or(&text).to_owned();
            }
            CarriageReturns::DropAll => text = text.replace('\r', ""),
        }
        let set = rule.white_space;
        match rule.removal {
            Removal::Everywhere => text.chars().filter(|&c| !set.contains(c)).collect(),
            Removal::AtEnd => text.trim_end_matches(|c| set.contains(c)).to_owned(),
        }
    }

    fn awkward_text() -> impl Strategy<Value = String> {
        let character = prop_oneof![
            any::<char>(),
            proptest::char::range(' ', '~'),
            proptest::sample::select(vec![
                '\r', '\t', '\u{0b}', '\u{0c}', ' ', '\u{85}', '\u{a0}', '\u{feff}', '\u{2001}',
                '\u{2003}', '\u{2014}', '\u{2026}', '\u{201c}', '\u{2028}', '\u{1680}', '\u{180e}',
                '\u{200b}', '\u{3000}',
            ]),
        ];
        proptest::collection::vec(character, 0..40).prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn agrees_with_a_naive_implementation(line in awkward_text()) {
            for dialect in &DIALECTS {
                let rule = &dialect.normalization;
                let fast = normalized(rule, line.as_bytes());
                prop_assert_eq!(String::from_utf8(fast).unwrap(), naive(rule, &line), "{}", dialect.name);
                if is_identity(rule, trim(rule, line.as_bytes())) {
                    let expected = naive(rule, &line);
                    prop_assert_eq!(trim(rule, line.as_bytes()), expected.as_bytes());
                }
            }
        }

        #[test]
        fn never_grows_and_never_panics_on_bytes(line in proptest::collection::vec(any::<u8>(), 0..60)) {
            for dialect in &DIALECTS {
                prop_assert!(normalized(&dialect.normalization, &line).len() <= line.len());
            }
        }
    }
}
