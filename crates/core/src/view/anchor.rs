//! Anchor text ↔ line number, hash and content hint.

use crate::error::{Code, Error, Result};
use crate::text::dialect::{Dialect, Grammar, WhiteSpace};
use crate::text::normalize;
use crate::view::render::{cut_mark, left_mark};

/// How much of a bad anchor a message quotes.
const QUOTE_LIMIT_CHARS: usize = 80;

/// What a model wrote to name a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// The line number, from 1.
    pub line: u32,
    /// The hash, as a value below the dialect's modulus.
    pub hash: u32,
    /// The text that stood behind the anchor, if any.
    pub hint: Option<Hint>,
}

/// The text that the model saw on the line. It must normalize to the same as the line, so that
/// a collision of hashes cannot pass.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hint {
    /// The white space in front of the text, as written.
    indentation: String,
    /// The whole text, normalized.
    whole: Vec<u8>,
    /// When the text ends in the mark of a cut line: what stands before the mark, normalized.
    prefix: Option<Vec<u8>>,
}

impl Hint {
    fn new(dialect: &Dialect, text: &str) -> Option<Hint> {
        // Of a text that begins within its line nobody knows what stands before it.
        if text.chars().all(is_space) || left_mark(text).is_some() {
            return None;
        }
        let rule = &dialect.normalization;
        let prefix =
            cut_mark(text).map(|(start, _)| normalize::normalized(rule, &text.as_bytes()[..start]));
        let indentation = text[..text.len() - text.trim_start().len()].to_owned();
        Some(Hint { indentation, whole: normalize::normalized(rule, text.as_bytes()), prefix })
    }

    /// The white space in front of the text.
    pub fn indentation(&self) -> &str {
        &self.indentation
    }

    /// Whether `line` (text without terminator) is the line that the hint shows.
    pub fn agrees(&self, dialect: &Dialect, line: &[u8]) -> bool {
        let line = normalize::normalized(&dialect.normalization, line);
        line == self.whole || self.prefix.as_ref().is_some_and(|prefix| line.starts_with(prefix))
    }
}

impl Anchor {
    /// The anchor in its short form, e.g. `10:a3`.
    pub fn text(&self, dialect: &Dialect) -> String {
        dialect.anchor_text(u64::from(self.line), self.hash)
    }

    /// Reads an anchor as the dialect's grammar allows it.
    pub fn parse(dialect: &Dialect, text: &str) -> Result<Anchor> {
        let (head, rest) = Head::scan(dialect, text).ok_or_else(|| invalid(dialect, text))?;
        let rest = match dialect.grammar {
            Grammar::Strict => rest,
            Grammar::Lenient => match rest.chars().next() {
                None => rest,
                Some(next) if is_space(next) || next == dialect.text_mark as char => rest,
                Some(_) => return Err(invalid(dialect, text)),
            },
        };
        let line = head.line.ok_or_else(|| invalid(dialect, text))?;
        let hint = rest.trim_start_matches(is_blank).strip_prefix(dialect.text_mark as char);
        let hint = hint.map(|hint| hint.split('\n').next().unwrap_or(hint));
        Ok(Anchor { line, hash: head.hash, hint: hint.and_then(|hint| Hint::new(dialect, hint)) })
    }

    /// Reads two anchors with a hyphen between, e.g. `10:a3-12:f2`.
    pub fn parse_range(dialect: &Dialect, text: &str) -> Result<(Anchor, Anchor)> {
        let bad = || {
            let (first, last) = (dialect.example(), dialect.anchor_text(12, 0xf2));
            Error::new(
                Code::InvalidAnchor,
                format!("{} is not a range: write two anchors like {first}-{last}", quote(text)),
            )
        };
        let (head, rest) = Head::scan(dialect, text).ok_or_else(bad)?;
        let line = head.line.ok_or_else(bad)?;
        let end = rest.trim_start_matches(is_space).strip_prefix('-').ok_or_else(bad)?;
        let end = Anchor::parse(dialect, end).map_err(|_| bad())?;
        Ok((Anchor { line, hash: head.hash, hint: None }, end))
    }
}

/// The number and hash at the start of a text; `line` is `None` when it is not in 1..2^32.
struct Head {
    line: Option<u32>,
    hash: u32,
}

impl Head {
    fn scan<'a>(dialect: &Dialect, text: &'a str) -> Option<(Head, &'a str)> {
        let text = match dialect.grammar {
            Grammar::Lenient => {
                text.trim_start_matches(|c| is_space(c) || "> + - ! * # L".contains(c))
            }
            Grammar::Strict => text
                .trim_start_matches(is_space)
                .trim_start_matches(['>', '+', '-'])
                .trim_start_matches(is_space),
        };
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, text) = text.split_at(digits);
        let text = text.trim_start_matches(is_space).strip_prefix(dialect.separator as char)?;
        let text = text.trim_start_matches(is_space);
        if number.is_empty() || !text.is_char_boundary(dialect.width.min(text.len())) {
            return None;
        }
        let (hash, rest) = text.split_at(dialect.width.min(text.len()));
        let hash = dialect.parse_hash(hash.as_bytes())?;
        Some((Head { line: number.parse().ok().filter(|&line| line > 0), hash }, rest))
    }
}

/// White space around the parts of an anchor: that of JavaScript or of Unicode.
fn is_space(character: char) -> bool {
    WhiteSpace::JavaScript.contains(character) || WhiteSpace::Unicode.contains(character)
}

/// White space within a line.
fn is_blank(character: char) -> bool {
    is_space(character) && character != '\n'
}

/// The text in quotes, cut for a message.
pub fn quote(text: &str) -> String {
    match text.char_indices().nth(QUOTE_LIMIT_CHARS) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

fn invalid(dialect: &Dialect, text: &str) -> Error {
    let example = dialect.example();
    Error::new(
        Code::InvalidAnchor,
        format!(
            "{} is not an anchor: write the line number and hash as shown in front of the line, like {example}",
            quote(text)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::dialect::DIALECTS;
    use crate::text::hash::hash_line;
    use proptest::prelude::*;

    fn parse(dialect: &str, text: &str) -> Option<(u32, String, bool)> {
        let dialect = Dialect::by_name(dialect).unwrap();
        let anchor = Anchor::parse(dialect, text).ok()?;
        Some((anchor.line, dialect.hash_text(anchor.hash), anchor.hint.is_some()))
    }

    #[test]
    fn lenient_anchors() {
        for text in [
            "10:a3",
            " 10:a3 ",
            ">>> 10:a3",
            "+10:a3",
            "-10:a3",
            "L10:a3",
            "#10:A3",
            "10 : a3",
            "* 10:a3 // why",
            "!10:a3|",
            "10:a3|  ",
            "0010:a3",
            "> + 10:a3",
            "\u{feff}10:a3\r\n",
        ] {
            assert_eq!(parse("pi", text), Some((10, "a3".into(), false)), "{text:?}");
        }
        assert_eq!(parse("pi", "10:a3|  return x;"), Some((10, "a3".into(), true)));
        assert_eq!(parse("pi26", "10:TDCN|x"), Some((10, "tdcn".into(), true)));
        for text in [
            "",
            "10",
            "a3",
            "10:",
            "10:a",
            "10:a3b",
            "10:g3",
            "0:a3",
            "4294967296:a3",
            ":a3",
            "10#a3",
            "10:a3-11:b4",
            "10:aé",
            "99999999999999999999999:a3",
            "ten:a3",
        ] {
            assert_eq!(parse("pi", text), None, "{text:?}");
        }
    }

    #[test]
    fn strict_anchors() {
        assert_eq!(parse("omp", " >>> 5 # ZP"), Some((5, "ZP".into(), false)));
        assert_eq!(parse("omp", "5#ZPX"), Some((5, "ZP".into(), false)));
        assert_eq!(parse("omp", ">+ 12#HB:foo"), Some((12, "HB".into(), true)));
        for text in ["5#zp", "5:ZP", "> > 5#ZP", "L5#ZP", "0#ZP", "5#Z"] {
            assert_eq!(parse("omp", text), None, "{text:?}");
        }
    }

    #[test]
    fn messages_quote_and_show_the_shape() {
        let dialect = Dialect::default_dialect();
        let error = Anchor::parse(dialect, &"é".repeat(200)).unwrap_err();
        assert_eq!(error.code, Code::InvalidAnchor);
        assert!(error.message.contains(&format!("\"{}\"…", "é".repeat(80))), "{}", error.message);
        assert!(error.message.contains("like 10:a3"), "{}", error.message);
    }

    #[test]
    fn ranges() {
        let dialect = Dialect::default_dialect();
        let (first, last) = Anchor::parse_range(dialect, "10:a3 - 12:f2").unwrap();
        assert_eq!((first.text(dialect), last.text(dialect)), ("10:a3".into(), "12:f2".into()));
        let omp = Dialect::by_name("omp").unwrap();
        assert!(Anchor::parse_range(omp, "1#ZP-2#QV").is_ok());
        for text in ["10:a3", "10:a3-", "-12:f2", "10:a3..12:f2", "10:a3-0:f2", ""] {
            let error = Anchor::parse_range(dialect, text).unwrap_err();
            assert_eq!(error.code, Code::InvalidAnchor);
            assert!(error.message.contains("10:a3-12:f2"), "{}", error.message);
        }
    }

    #[test]
    fn cut_hints_need_only_be_a_prefix() {
        let dialect = Dialect::default_dialect();
        let anchor = Anchor::parse(dialect, "1:00|abc… [+12345 bytes]").unwrap();
        let hint = anchor.hint.unwrap();
        assert!(hint.agrees(dialect, b"a b c and much more"));
        assert!(hint.agrees(dialect, "abc… [+12345 bytes]".as_bytes()));
        assert!(!hint.agrees(dialect, b"ab"));
    }

    #[test]
    fn a_text_that_begins_within_its_line_is_no_hint() {
        for text in ["1:aa|[1000 bytes+] …abc", "1:aa|[7 bytes+] …abc… [+12 bytes]"] {
            assert_eq!(parse("pi", text), Some((1, "aa".into(), false)), "{text}");
        }
        assert_eq!(parse("pi", "1:aa|[1000 bytes+]"), Some((1, "aa".into(), true)));
        assert_eq!(parse("omp", "5#ZP:[1 bytes+] …x"), Some((5, "ZP".into(), false)));
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_read(text in any::<String>()) {
            for dialect in &DIALECTS {
                let _ = Anchor::parse(dialect, &text);
                let _ = Anchor::parse_range(dialect, &text);
            }
        }

        #[test]
        fn printed_lines_are_anchors(line in 1u32.., text in "[^\n]{0,30}") {
            for dialect in &DIALECTS {
                let hash = hash_line(dialect, u64::from(line), &text);
                let row = format!(
                    "{}{}{text}",
                    dialect.anchor_text(u64::from(line), hash),
                    dialect.text_mark as char
                );
                for prefix in ["", "+", "-", ">>> ", "  "] {
                    let anchor = Anchor::parse(dialect, &format!("{prefix}{row}")).unwrap();
                    prop_assert_eq!((anchor.line, anchor.hash), (line, hash));
                    prop_assert!(anchor.hint.is_none_or(|hint| hint.agrees(dialect, text.as_bytes())));
                }
            }
        }
    }
}
