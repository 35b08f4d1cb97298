//! The table of dialects. A dialect is data: a sixth one is one new row of [`DIALECTS`].

use crate::error::{Error, Result};

/// How a line is turned into the text that is hashed. Applied in the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Normalization {
    /// Typographic quotes, dashes, ellipsis and spaces become their ASCII forms first.
    pub canonicalize: bool,
    /// What happens to carriage returns that are part of the text.
    pub carriage_returns: CarriageReturns,
    /// Which characters are white space.
    pub white_space: WhiteSpace,
    /// Where white space is removed.
    pub removal: Removal,
}

/// Carriage returns in the text of a line (not in its terminator).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CarriageReturns {
    /// No special treatment.
    Keep,
    /// One at the very end is dropped.
    DropOneTrailing,
    /// All are dropped.
    DropAll,
}

/// The two sets of white space; they differ in U+0085 (Unicode only) and U+FEFF (JavaScript only).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhiteSpace {
    /// What `\s` matches in JavaScript.
    JavaScript,
    /// The Unicode property White_Space.
    Unicode,
}

impl WhiteSpace {
    /// Whether `character` is in the set.
    pub fn contains(self, character: char) -> bool {
        match character {
            '\u{0085}' => self == WhiteSpace::Unicode,
            '\u{FEFF}' => self == WhiteSpace::JavaScript,
            other => other.is_whitespace(),
        }
    }
}

/// Where white space is removed from a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Every white-space character.
    Everywhere,
    /// The run at the end.
    AtEnd,
}

/// The seed of the hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// Always 0.
    Zero,
    /// The line number for lines without a letter or digit (`\p{L}`, `\p{N}`), else 0.
    LineNumberWithoutWord,
}

/// What a line is in a string in memory (`format_hashed`, `hash_lines`); files always have
/// the lines of [`crate::text::lines`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLines {
    /// As in a file: terminators end a line.
    Terminated,
    /// As `text.split("\n")`: a final newline opens one more, empty line.
    Split,
}

/// How an anchor that a model wrote is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    /// Markers before, spaces around the separator, either case.
    Lenient,
    /// `/^\s*[>+-]*\s*(\d+)\s*#\s*(XY)/`, and nothing else.
    Strict,
}

/// One dialect of anchors and hashed lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name callers use.
    pub name: &'static str,
    /// Between line number and hash.
    pub separator: u8,
    /// Between anchor and text.
    pub text_mark: u8,
    /// Digits of the hash, by value.
    pub alphabet: &'static [u8],
    /// Number of digits, most significant first; the hash is taken modulo `alphabet.len() ^ width`.
    pub width: usize,
    /// What is hashed.
    pub normalization: Normalization,
    /// The seed of the hash function.
    pub seed: Seed,
    /// Lines of a string in memory.
    pub memory_lines: MemoryLines,
    /// How anchors are read.
    pub grammar: Grammar,
    /// Whether echoes and wraps in a model's text, and inserts that are there twice, are taken as
    /// the origin of the dialect was recorded to take them; otherwise by rules that harm less.
    pub recorded_repairs: bool,
}

const HEX: &[u8] = b"0123456789abcdef";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const NIBBLES: &[u8] = b"ZPMQVRWSNKTXJBYH";

const PI: Normalization = Normalization {
    canonicalize: true,
    carriage_returns: CarriageReturns::Keep,
    white_space: WhiteSpace::JavaScript,
    removal: Removal::Everywhere,
};

/// Every dialect; the first is the default.
pub static DIALECTS: [Dialect; 5] = [
    Dialect {
        name: "pi",
        separator: b':',
        text_mark: b'|',
        alphabet: HEX,
        width: 2,
        normalization: PI,
        seed: Seed::Zero,
        memory_lines: MemoryLines::Terminated,
        grammar: Grammar::Lenient,
        recorded_repairs: false,
    },
    Dialect {
        name: "pi26",
        separator: b':',
        text_mark: b'|',
        alphabet: LETTERS,
        width: 4,
        normalization: PI,
        seed: Seed::Zero,
        memory_lines: MemoryLines::Terminated,
        grammar: Grammar::Lenient,
        recorded_repairs: false,
    },
    Dialect {
        name: "cli",
        separator: b':',
        text_mark: b'|',
        alphabet: HEX,
        width: 2,
        normalization: Normalization {
            canonicalize: false,
            carriage_returns: CarriageReturns::DropOneTrailing,
            white_space: WhiteSpace::Unicode,
            removal: Removal::Everywhere,
        },
        seed: Seed::Zero,
        memory_lines: MemoryLines::Terminated,
        grammar: Grammar::Lenient,
        recorded_repairs: false,
    },
    Dialect {
        name: "omp",
        separator: b'#',
        text_mark: b':',
        alphabet: NIBBLES,
        width: 2,
        normalization: Normalization {
            canonicalize: false,
            carriage_returns: CarriageReturns::DropOneTrailing,
            white_space: WhiteSpace::JavaScript,
            removal: Removal::Everywhere,
        },
        seed: Seed::Zero,
        memory_lines: MemoryLines::Split,
        grammar: Grammar::Strict,
        recorded_repairs: true,
    },
    Dialect {
        name: "omp13",
        separator: b'#',
        text_mark: b':',
        alphabet: NIBBLES,
        width: 2,
        normalization: Normalization {
            canonicalize: false,
            carriage_returns: CarriageReturns::DropAll,
            white_space: WhiteSpace::JavaScript,
            removal: Removal::AtEnd,
        },
        seed: Seed::LineNumberWithoutWord,
        memory_lines: MemoryLines::Split,
        grammar: Grammar::Strict,
        recorded_repairs: true,
    },
];

impl Dialect {
    /// The dialect used where none is named.
    pub fn default_dialect() -> &'static Dialect {
        &DIALECTS[0]
    }

    /// The dialect of that name, or an error that lists the names.
    pub fn by_name(name: &str) -> Result<&'static Dialect> {
        DIALECTS.iter().find(|dialect| dialect.name == name).ok_or_else(|| {
            let names: Vec<_> = DIALECTS.iter().map(|dialect| dialect.name).collect();
            Error::argument(format!(
                "unknown dialect {name:?}: the dialects are {}",
                names.join(", ")
            ))
        })
    }

    /// The number of different hashes.
    pub fn modulus(&self) -> u32 {
        (self.alphabet.len() as u32).pow(self.width as u32)
    }

    /// Appends the digits of a hash.
    pub fn write_hash(&self, hash: u32, out: &mut Vec<u8>) {
        let base = self.alphabet.len() as u32;
        let mut place = self.modulus() / base;
        for _ in 0..self.width {
            out.push(self.alphabet[(hash / place % base) as usize]);
            place = (place / base).max(1);
        }
    }

    /// The digits of a hash as a string.
    pub fn hash_text(&self, hash: u32) -> String {
        let mut digits = Vec::with_capacity(self.width);
        self.write_hash(hash, &mut digits);
        digits.iter().map(|&byte| byte as char).collect()
    }

    /// The hash that `digits` spell, if they are exactly one hash of this dialect.
    pub fn parse_hash(&self, digits: &[u8]) -> Option<u32> {
        if digits.len() != self.width {
            return None;
        }
        digits.iter().try_fold(0, |value, &digit| {
            let digit = match self.grammar {
                Grammar::Lenient => digit.to_ascii_lowercase(),
                Grammar::Strict => digit,
            };
            let place = self.alphabet.iter().position(|&known| known == digit)?;
            Some(value * self.alphabet.len() as u32 + place as u32)
        })
    }

    /// An anchor in this dialect, e.g. `10:a3`.
    pub fn anchor_text(&self, line: u64, hash: u32) -> String {
        format!("{line}{}{}", self.separator as char, self.hash_text(hash))
    }

    /// The shape shown in messages about anchors, e.g. `10:a3`.
    pub fn example(&self) -> String {
        self.anchor_text(10, 0xa3 % self.modulus())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_spelled_and_read_back() {
        for dialect in &DIALECTS {
            for hash in [0, 1, 0xa3, dialect.modulus() - 1] {
                let text = dialect.hash_text(hash);
                assert_eq!(text.len(), dialect.width);
                assert_eq!(dialect.parse_hash(text.as_bytes()), Some(hash), "{}", dialect.name);
            }
            assert_eq!(dialect.parse_hash(b"!!"), None);
            assert_eq!(dialect.parse_hash(b""), None);
        }
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let error = Dialect::by_name("hex").unwrap_err();
        assert!(error.message.contains("pi, pi26, cli, omp, omp13"), "{}", error.message);
    }
}
