//! The table of dialects. A dialect is data: to add one, add a row to [`DIALECTS`].

use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

use hashline_base::error::{Error, Result};

/// How the hashed text of a line is derived. The steps are applied in the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Normalization {
    /// Whether typographic quotes, dashes, ellipses and spaces are replaced by their ASCII forms
    /// first.
    pub canonicalize: bool,
    /// How carriage returns in the text are treated.
    pub carriage_returns: CarriageReturns,
    /// The characters that count as whitespace.
    pub white_space: Whitespace,
    /// Where whitespace is removed.
    pub removal: Removal,
}

/// The treatment of carriage returns in the text of a line (not in its terminator).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarriageReturns {
    /// They are kept.
    Keep,
    /// One at the end is removed.
    DropOneTrailing,
    /// All are removed.
    DropAll,
}

/// The two sets of whitespace. They differ in U+0085 (Unicode only) and U+FEFF (JavaScript only).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whitespace {
    /// What `\s` matches in JavaScript.
    JavaScript,
    /// The Unicode property White_Space.
    Unicode,
}

impl Whitespace {
    /// Whether `character` is in the set.
    pub fn contains(self, character: char) -> bool {
        match character {
            '\u{0085}' => self == Whitespace::Unicode,
            '\u{FEFF}' => self == Whitespace::JavaScript,
            other => other.is_whitespace(),
        }
    }
}

/// Where whitespace is removed from a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Everywhere.
    Everywhere,
    /// At the end.
    AtEnd,
}

/// The seed of the hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// Always 0.
    Zero,
    /// The line number if the line has no letter or digit (`\p{L}`, `\p{N}`), otherwise 0.
    LineNumberWithoutWord,
}

/// How a string in memory is split into lines (`format_hashed`, `hash_lines`). Files are always
/// split as in [`crate::lines`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLines {
    /// As in a file: a terminator ends a line.
    Terminated,
    /// As by `text.split("
    /// ")`: a final newline starts another, empty line.
    Split,
}

/// The grammar of anchors in the input of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// Markers before the anchor, spaces around the separator, either case.
    Lenient,
    /// Exactly `/^\s*[>+-]*\s*(\d+)\s*#\s*(XY)/`.
    Strict,
}

/// A dialect of anchors and hashed lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name in options.
    pub name: &'static str,
    /// The separator between line number and hash, if there is one.
    pub separator: Option<u8>,
    /// The character between anchor and text.
    pub text_mark: u8,
    /// The digits of the hash, concatenated in the order of their values.
    pub alphabet: &'static [u8],
    /// The number of letters of a digit.
    pub digit_bytes: usize,
    /// The number of letters of a hash, which is written with the most significant digit first. The
    /// hash is reduced modulo the number of possible values. If 0, lines have only numbers: the tag
    /// of the text is in the header, and anchors cannot name lines.
    pub width: usize,
    /// Whether a line whose normalized text is empty is shown without a hash, so that its number is
    /// its anchor.
    pub bare_blanks: bool,
    /// How the hashed text is derived.
    pub normalization: Normalization,
    /// The seed of the hash function.
    pub seed: Seed,
    /// How a string in memory is split into lines.
    pub memory_lines: MemoryLines,
    /// The grammar of anchors.
    pub grammar: Grammar,
    /// Whether echoes, wraps and duplicated inserts in the text of a model are treated like in the
    /// recordings of the original implementation; otherwise, by less harmful rules.
    pub recorded_repairs: bool,
}

const HEX: &[u8] = b"0123456789abcdef";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const NIBBLES: &[u8] = b"ZPMQVRWSNKTXJBYH";

/// Pairs of letters that are a single token each, chosen by `scripts/pairs.mjs`.
const PAIRS: &[u8] = &letters_of::<1024>(include_bytes!("dialect/lean.txt"));

/// The letters of a text, without the characters between them; there must be `COUNT`.
const fn letters_of<const COUNT: usize>(text: &[u8]) -> [u8; COUNT] {
    let (mut letters, mut count, mut at) = ([0; COUNT], 0, 0);
    while at < text.len() {
        if text[at].is_ascii_lowercase() {
            letters[count] = text[at];
            count += 1;
        }
        at += 1;
    }
    assert!(count == COUNT, "wrong number of letters");
    letters
}

const PI: Normalization = Normalization {
    canonicalize: true,
    carriage_returns: CarriageReturns::Keep,
    white_space: Whitespace::JavaScript,
    removal: Removal::Everywhere,
};

/// All dialects. The first is the default, the last is the default of sessions.
pub static DIALECTS: [Dialect; 7] = [
    Dialect {
        name: "pi",
        separator: Some(b':'),
        text_mark: b'|',
        alphabet: HEX,
        digit_bytes: 1,
        width: 2,
        bare_blanks: false,
        normalization: PI,
        seed: Seed::Zero,
        memory_lines: MemoryLines::Terminated,
        grammar: Grammar::Lenient,
        recorded_repairs: false,
    },
    Dialect {
        name: "pi26",
        separator: Some(b':'),
        text_mark: b'|',
        alphabet: LETTERS,
        digit_bytes: 1,
        width: 4,
        bare_blanks: false,
        normalization: PI,
        seed: Seed::Zero,
        memory_lines: MemoryLines::Terminated,
        grammar: Grammar::Lenient,
        recorded_repairs: false,
    },
    Dialect {
        name: "cli",
        separator: Some(b':'),
        text_mark: b'|',
        alphabet: HEX,
        digit_bytes: 1,
        width: 2,
        bare_blanks: false,
        normalization: Normalization {
            canonicalize: false,
            carriage_returns: CarriageReturns::DropOneTrailing,
            white_space: Whitespace::Unicode,
            removal: Removal::Everywhere,
        },
        seed: Seed::Zero,
        memory_lines: MemoryLines::Terminated,
        grammar: Grammar::Lenient,
        recorded_repairs: false,
    },
    Dialect {
        name: "omp",
        separator: Some(b'#'),
        text_mark: b':',
        alphabet: NIBBLES,
        digit_bytes: 1,
        width: 2,
        bare_blanks: false,
        normalization: Normalization {
            canonicalize: false,
            carriage_returns: CarriageReturns::DropOneTrailing,
            white_space: Whitespace::JavaScript,
            removal: Removal::Everywhere,
        },
        seed: Seed::Zero,
        memory_lines: MemoryLines::Split,
        grammar: Grammar::Strict,
        recorded_repairs: true,
    },
    Dialect {
        name: "omp13",
        separator: Some(b'#'),
        text_mark: b':',
        alphabet: NIBBLES,
        digit_bytes: 1,
        width: 2,
        bare_blanks: false,
        normalization: Normalization {
            canonicalize: false,
            carriage_returns: CarriageReturns::DropAll,
            white_space: Whitespace::JavaScript,
            removal: Removal::AtEnd,
        },
        seed: Seed::LineNumberWithoutWord,
        memory_lines: MemoryLines::Split,
        grammar: Grammar::Strict,
        recorded_repairs: true,
    },
    Dialect {
        name: "omp18",
        separator: None,
        text_mark: b':',
        alphabet: &[],
        digit_bytes: 1,
        width: 0,
        bare_blanks: false,
        normalization: Normalization {
            canonicalize: false,
            carriage_returns: CarriageReturns::DropAll,
            white_space: Whitespace::JavaScript,
            removal: Removal::AtEnd,
        },
        seed: Seed::Zero,
        memory_lines: MemoryLines::Terminated,
        grammar: Grammar::Strict,
        recorded_repairs: false,
    },
    Dialect {
        name: "lean",
        separator: None,
        text_mark: b'|',
        alphabet: PAIRS,
        digit_bytes: 2,
        width: 2,
        bare_blanks: true,
        normalization: PI,
        seed: Seed::Zero,
        memory_lines: MemoryLines::Terminated,
        grammar: Grammar::Lenient,
        recorded_repairs: false,
    },
];

/// A dialect is deserialized from its name.
impl<'de> Deserialize<'de> for &'static Dialect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = &'static Dialect;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("the name of a dialect")
            }

            fn visit_str<E: serde::de::Error>(
                self,
                name: &str,
            ) -> std::result::Result<&'static Dialect, E> {
                Dialect::by_name(name).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Name)
    }
}

impl Dialect {
    /// The default dialect.
    pub fn default_dialect() -> &'static Dialect {
        &DIALECTS[0]
    }

    /// The default dialect of sessions.
    pub fn of_sessions() -> &'static Dialect {
        let [.., last] = &DIALECTS;
        last
    }

    /// The dialect with that name, or an error that lists the names.
    pub fn by_name(name: &str) -> Result<&'static Dialect> {
        DIALECTS.iter().find(|dialect| dialect.name == name).ok_or_else(|| {
            let names: Vec<_> = DIALECTS.iter().map(|dialect| dialect.name).collect();
            Error::argument(format!(
                "unknown dialect {name:?}: the dialects are {}",
                names.join(", ")
            ))
        })
    }

    /// Whether lines have hashes. Otherwise, a version is identified by its tag.
    pub fn has_hashes(&self) -> bool {
        self.width > 0
    }

    /// The number of different hashes of non-blank lines.
    pub fn modulus(&self) -> u32 {
        (self.digit_count() as u32).pow((self.width / self.digit_bytes) as u32)
    }

    /// The value that represents the missing hash of a blank line, in dialects that show such lines
    /// without one: the value after all hashes, which has no digits.
    pub fn blank_hash(&self) -> Option<u32> {
        self.bare_blanks.then(|| self.modulus())
    }

    /// Whether `hash` is that of a line that is shown without a hash.
    pub fn is_bare(&self, hash: u32) -> bool {
        self.blank_hash() == Some(hash)
    }

    fn digit_count(&self) -> usize {
        self.alphabet.len() / self.digit_bytes
    }

    /// Appends the digits of a hash.
    pub fn write_hash(&self, hash: u32, out: &mut Vec<u8>) {
        if self.is_bare(hash) || !self.has_hashes() {
            return;
        }
        let base = self.digit_count() as u32;
        let (start, mut rest) = (out.len(), hash);
        out.resize(start + self.width, 0);
        for slot in out[start..].rchunks_mut(self.digit_bytes) {
            let digit = (rest % base) as usize * self.digit_bytes;
            let letters = &self.alphabet[digit..digit + self.digit_bytes];
            slot.iter_mut().zip(letters).for_each(|(to, &letter)| *to = letter);
            rest /= base;
        }
    }

    /// The digits of a hash as a string.
    pub fn hash_text(&self, hash: u32) -> String {
        let mut digits = Vec::with_capacity(self.width);
        self.write_hash(hash, &mut digits);
        digits.iter().map(|&byte| byte as char).collect()
    }

    /// The hash with these digits, if they are exactly one hash of this dialect.
    pub fn parse_hash(&self, digits: &[u8]) -> Option<u32> {
        if digits.is_empty() || !self.has_hashes() {
            return self.blank_hash();
        }
        if digits.len() != self.width {
            return None;
        }
        let is_digit = |digit: &[u8], known: &[u8]| match self.grammar {
            Grammar::Lenient => digit.eq_ignore_ascii_case(known),
            Grammar::Strict => digit == known,
        };
        digits.chunks(self.digit_bytes).try_fold(0, |value, digit| {
            let mut known = self.alphabet.chunks(self.digit_bytes);
            let slot = known.position(|known| is_digit(digit, known))?;
            Some(value * self.digit_count() as u32 + slot as u32)
        })
    }

    /// An anchor in this dialect, e.g. `10:a3`.
    pub fn anchor_text(&self, line: u64, hash: u32) -> String {
        self.anchor_of(&line.to_string(), &self.hash_text(hash))
    }

    /// The length of that text.
    pub fn anchor_bytes(&self, line: u64, hash: u32) -> usize {
        let number_bytes = line.checked_ilog10().unwrap_or(0) as usize + 1;
        let hash_bytes = if self.is_bare(hash) { 0 } else { self.width };
        number_bytes + usize::from(self.separator.is_some()) + hash_bytes
    }

    /// An anchor with any texts for number and hash.
    pub fn anchor_of(&self, line: &str, hash: &str) -> String {
        let separator = self.separator.map(char::from);
        line.chars().chain(separator).chain(hash.chars()).collect()
    }

    /// The form of anchors for messages, e.g. `NUMBER:HASH`; an example if these words could not be
    /// separated.
    pub fn form(&self, number: &str) -> String {
        if self.separator.is_some() { self.anchor_of(number, "HASH") } else { self.example() }
    }

    /// An example of an anchor for messages, e.g. `10:a3`.
    pub fn example(&self) -> String {
        self.anchor_text(10, 0xa3 % self.modulus())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_round_trip() {
        for dialect in DIALECTS.iter().filter(|one| one.has_hashes()) {
            for hash in [0, 1, 0xa3, dialect.modulus() - 1] {
                let text = dialect.hash_text(hash);
                assert_eq!(text.len(), dialect.width);
                assert_eq!(dialect.parse_hash(text.as_bytes()), Some(hash), "{}", dialect.name);
            }
            assert_eq!(dialect.parse_hash(b"!!"), None);
            assert_eq!(dialect.parse_hash(b""), dialect.blank_hash());
        }
        let without = Dialect::by_name("omp18").unwrap();
        assert_eq!((without.modulus(), without.anchor_text(12, 0)), (1, "12".to_owned()));
        assert_eq!(without.parse_hash(b""), None);
        assert_eq!(without.parse_hash(b"a3"), None);
    }

    #[test]
    fn plain_calls_and_sessions_have_defaults() {
        assert_eq!((Dialect::default_dialect().name, Dialect::of_sessions().name), ("pi", "lean"));
    }

    /// Basic properties of the pairs. `npm run bench -- pairs` compares them with tokenizers.
    #[test]
    fn pairs_are_unique_and_have_no_letter_that_resembles_a_digit() {
        let pairs: Vec<&[u8]> = PAIRS.chunks(2).collect();
        assert_eq!(pairs.len(), 512);
        assert!(pairs.is_sorted_by(|one, next| one < next));
        assert!(PAIRS.iter().all(|letter| !b"il".contains(letter)));
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let error = Dialect::by_name("hex").unwrap_err();
        assert!(
            error.message.contains("pi, pi26, cli, omp, omp13, omp18, lean"),
            "{}",
            error.message
        );
    }
}
