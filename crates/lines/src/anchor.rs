//! Anchors: converts between their text and line number, hash and content hint.

use std::fmt;

use crate::dialect::{Dialect, Grammar, Whitespace};
use crate::normalize;
use crate::rows::{between_marks, cut_mark, left_mark};
use crate::tag::Tag;
use hashline_base::error::{Code, Error, Result};

/// The limit on the length of a quoted bad anchor in a message.
const QUOTE_LIMIT_CHARS: usize = 80;

/// A reference to a line, as a model writes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// The line number, from 1.
    pub line: u32,
    /// The hash: a value below the modulus of the dialect.
    pub hash: u32,
    /// The text after the anchor, if any. It is boxed because few anchors have one, and a patch can
    /// have thousands of anchors.
    pub hint: Option<Box<Hint>>,
    /// The version of the text in which the line has that number. Such an anchor has no hash.
    pub tag: Option<Tag>,
    /// The version in addition to a hash, if an answer of a session included it.
    pub edition: Option<Edition>,
}

/// The version of the file that a row is from: `@` and four hexadecimal digits after the hash. It
/// is added where number and hash alone could mean another line that a session has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edition(u16);

impl Edition {
    /// The character before the digits.
    const MARK: char = '@';

    /// The number of digits.
    const DIGITS: usize = 4;

    /// The length as text.
    pub const SIZE_BYTES: usize = Edition::MARK.len_utf8() + Edition::DIGITS;

    /// The edition of a text with this hash.
    pub fn of(hash: u128) -> Edition {
        Edition(hash as u16)
    }

    /// Parses an edition at the start of a text, if there is one. Also returns the rest.
    fn scan(text: &str) -> (Option<Edition>, &str) {
        let read = || {
            let (digits, rest) =
                text.strip_prefix(Edition::MARK)?.split_at_checked(Edition::DIGITS)?;
            let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let number = are_digits.then(|| u16::from_str_radix(digits, 16).ok()).flatten()?;
            Some((Some(Edition(number)), rest))
        };
        read().unwrap_or((None, text))
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{:04x}", Edition::MARK, self.0)
    }
}

/// The text that the model saw on the line. Its normalized form must be that of the line, so that a
/// hash collision is detected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hint {
    /// The whitespace before the text, as written.
    indentation: String,
    /// The whole text, normalized.
    whole: Vec<u8>,
    /// If the text ends in the mark of a cut line: the normalized text before the mark.
    prefix: Option<Vec<u8>>,
}

impl Hint {
    fn new(dialect: &Dialect, text: &str) -> Option<Hint> {
        // If a text starts in the middle of its line, the text before it is unknown.
        if text.chars().all(is_space) || left_mark(text).is_some() {
            return None;
        }
        let rule = &dialect.normalization;
        let prefix =
            cut_mark(text).map(|(start, _)| normalize::normalized(rule, &text.as_bytes()[..start]));
        let indentation = text[..text.len() - text.trim_start().len()].to_owned();
        Some(Hint { indentation, whole: normalize::normalized(rule, text.as_bytes()), prefix })
    }

    /// The whitespace before the text.
    pub fn indentation(&self) -> &str {
        &self.indentation
    }

    /// Whether `line` (without terminator) is the line in the hint.
    pub fn agrees(&self, dialect: &Dialect, line: &[u8]) -> bool {
        let line = normalize::normalized(&dialect.normalization, line);
        line == self.whole || self.prefix.as_ref().is_some_and(|prefix| line.starts_with(prefix))
    }
}

impl Anchor {
    /// The short form of the anchor, e.g. `10:a3`; only the number if it has a tag.
    pub fn text(&self, dialect: &Dialect) -> String {
        match self.tag {
            Some(_) => self.line.to_string(),
            None => anchor_text(dialect, u64::from(self.line), self.hash, self.edition),
        }
    }

    /// An anchor of a line number and a hash.
    pub fn of_line(line: u32, hash: u32) -> Anchor {
        Anchor { line, hash, hint: None, tag: None, edition: None }
    }

    /// An anchor of a line number in a version of the text.
    pub fn of_version(tag: Tag, line: u32) -> Anchor {
        Anchor { tag: Some(tag), ..Anchor::of_line(line, 0) }
    }

    /// Whether it is only the number of a blank line.
    pub fn is_bare(&self, dialect: &Dialect) -> bool {
        dialect.is_bare(self.hash)
    }

    /// Parses an anchor according to the grammar of the dialect.
    pub fn parse(dialect: &Dialect, text: &str) -> Result<Anchor> {
        let bad = || invalid(dialect, text);
        let (head, rest) = Head::scan(dialect, text).ok_or_else(bad)?;
        let (edition, rest) = Edition::scan(rest);
        let mark = dialect.text_mark as char;
        let ends_here = match dialect.grammar {
            Grammar::Strict => true,
            Grammar::Lenient => {
                rest.chars().next().is_none_or(|next| is_space(next) || next == mark)
            }
        };
        let is_read = ends_here && (!dialect.is_bare(head.hash) || is_blank_row(dialect, rest));
        let line = head.line.filter(|_| is_read).ok_or_else(bad)?;
        let hint = rest.trim_start_matches(is_blank).strip_prefix(mark);
        let hint = hint.map(|hint| hint.split('\n').next().unwrap_or(hint));
        let hint = hint.and_then(|hint| Hint::new(dialect, hint));
        let hint = hint.filter(|_| !dialect.is_bare(head.hash));
        Ok(Anchor { hint: hint.map(Box::new), edition, ..Anchor::of_line(line, head.hash) })
    }

    /// Parses two anchors separated by a hyphen, e.g. `10:a3-12:f2`.
    pub fn parse_range(dialect: &Dialect, text: &str) -> Result<(Anchor, Anchor)> {
        let bad = || {
            if !dialect.has_hashes() {
                return invalid(dialect, text);
            }
            let (first, last) = (dialect.example(), dialect.anchor_text(12, 0xf2));
            Error::new(
                Code::InvalidAnchor,
                format!("{} is not a range: write two anchors like {first}-{last}", quote(text)),
            )
        };
        let (head, rest) = Head::scan(dialect, text).ok_or_else(bad)?;
        let (edition, rest) = Edition::scan(rest);
        let line = head.line.ok_or_else(bad)?;
        let end = rest.trim_start_matches(is_space).strip_prefix('-').ok_or_else(bad)?;
        let end = Anchor::parse(dialect, end).map_err(|_| bad())?;
        Ok((Anchor { edition, ..Anchor::of_line(line, head.hash) }, end))
    }
}

/// The short form of an anchor.
pub fn anchor_text(dialect: &Dialect, line: u64, hash: u32, edition: Option<Edition>) -> String {
    let text = dialect.anchor_text(line, hash);
    match edition {
        Some(edition) => format!("{text}{edition}"),
        None => text,
    }
}

/// The number and hash at the start of a text; `line` is `None` if it is not in 1..2^32.
struct Head {
    line: Option<u32>,
    hash: u32,
}

impl Head {
    fn scan<'a>(dialect: &Dialect, text: &'a str) -> Option<(Head, &'a str)> {
        if !dialect.has_hashes() {
            return None;
        }
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
        let line = number.parse().ok().filter(|&line| line > 0);
        if number.is_empty() {
            return None;
        }
        match hash_at(dialect, text) {
            Some((hash, rest)) => Some((Head { line, hash }, rest)),
            None => Some((Head { line, hash: dialect.blank_hash()? }, text)),
        }
    }
}

/// The hash after a number, and the rest of the text.
fn hash_at<'a>(dialect: &Dialect, text: &'a str) -> Option<(u32, &'a str)> {
    let text = match dialect.separator {
        Some(separator) => {
            let text = text.trim_start_matches(is_space).strip_prefix(separator as char)?;
            text.trim_start_matches(is_space)
        }
        // Separators of other dialects are accepted; a newline is not.
        None => {
            let text = text.trim_start_matches(is_blank);
            text.strip_prefix([':', '#']).unwrap_or(text).trim_start_matches(is_blank)
        }
    };
    let (hash, rest) = text.split_at_checked(dialect.width.min(text.len()))?;
    let hash = dialect.parse_hash(hash.as_bytes()).filter(|_| !hash.is_empty())?;
    Some((hash, rest))
}

/// Whether the text after the number of a blank line is how such a line is rendered: a mark and
/// whitespace, a part of which may be cut.
fn is_blank_row(dialect: &Dialect, rest: &str) -> bool {
    let rest = rest.trim_start_matches(is_blank);
    let Some(text) = rest.strip_prefix(dialect.text_mark as char) else {
        return rest.chars().all(is_space);
    };
    let text = between_marks(text.split('\n').next().unwrap_or(text));
    normalize::normalized(&dialect.normalization, text.as_bytes()).is_empty()
}

/// An anchor and text exactly as this engine renders them in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowAnchor<'a> {
    /// The line number.
    pub line: u64,
    /// The hash.
    pub hash: u32,
    /// The text after the mark.
    pub text: &'a str,
}

impl<'a> RowAnchor<'a> {
    /// The anchor and the text of a row; `None` if the row does not start with an anchor and a text
    /// mark.
    pub fn of(dialect: &Dialect, row: &'a str) -> Option<RowAnchor<'a>> {
        let digits = row.bytes().take_while(u8::is_ascii_digit).count();
        let (line, rest) = row.split_at(digits);
        let line = line.parse().ok()?;
        let mark = dialect.text_mark as char;
        if !dialect.has_hashes() {
            return Some(RowAnchor { line, hash: 0, text: rest.strip_prefix(mark)? });
        }
        let with_hash = || {
            let rest = match dialect.separator {
                Some(separator) => rest.strip_prefix(separator as char)?,
                None => rest,
            };
            let (hash, rest) = rest.split_at_checked(dialect.width)?;
            let (_, rest) = Edition::scan(rest);
            Some((dialect.parse_hash(hash.as_bytes())?, rest.strip_prefix(mark)?))
        };
        let without = || {
            let (_, rest) = Edition::scan(rest);
            let text = rest.strip_prefix(mark).filter(|_| is_blank_row(dialect, rest))?;
            Some((dialect.blank_hash()?, text))
        };
        let (hash, text) = with_hash().or_else(without)?;
        Some(RowAnchor { line, hash, text })
    }
}

/// Whitespace around the parts of an anchor: that of JavaScript or of Unicode.
fn is_space(character: char) -> bool {
    Whitespace::JavaScript.contains(character) || Whitespace::Unicode.contains(character)
}

/// Whitespace within a line.
fn is_blank(character: char) -> bool {
    is_space(character) && character != '\n'
}

/// The text in quotes, shortened for a message.
pub fn quote(text: &str) -> String {
    match text.char_indices().nth(QUOTE_LIMIT_CHARS) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

fn invalid(dialect: &Dialect, text: &str) -> Error {
    if !dialect.has_hashes() {
        let message = format!(
            "{} names no line, because rows without hashes do not say which version they show: send a patch, {{\"patch\": \"[path#TAG]\\nPUT 10.=12:\\n+text\"}}, with the header above the rows",
            quote(text)
        );
        return Error::new(Code::InvalidAnchor, message);
    }
    let example = dialect.example();
    let blank = if dialect.bare_blanks { ", or the number alone for a blank line" } else { "" };
    Error::new(
        Code::InvalidAnchor,
        format!(
            "{} is not an anchor: write the line number and hash as shown in front of the line, like {example}{blank}",
            quote(text)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::DIALECTS;
    use crate::hash::hash_line;
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
    fn anchors_without_a_separator() {
        for text in [
            "12ab",
            "12AB",
            " 12aB ",
            "12 ab",
            "12:ab",
            "12#ab",
            "12 : ab",
            "L12ab",
            "> 12ab",
            "+12ab|",
            "12ab|  ",
            "12\tab // why",
            "0012ab",
            "12ab\n13ac",
        ] {
            assert_eq!(parse("lean", text), Some((12, "ab".into(), false)), "{text:?}");
        }
        assert_eq!(parse("lean", ">>> 12ab|  return x;"), Some((12, "ab".into(), true)));
        assert_eq!(parse("lean", "12 ab | 12|"), Some((12, "ab".into(), true)));
        for text in [
            "",
            "ab",
            "12a",
            "12abc",
            "12il",
            "12:a3",
            "12 a3",
            "12:05|",
            "12\nab",
            "12:\nab",
            "0ab",
            "12ab-13ac",
            "12::ab",
            "12.ab",
            "12é",
            "12aé",
            "4294967296ab",
            "3 if x else 4",
        ] {
            assert_eq!(parse("lean", text), None, "{text:?}");
        }
    }

    #[test]
    fn the_number_of_a_blank_line_is_its_anchor() {
        for text in [
            "12",
            " 12 ",
            "12|",
            "12 |",
            ">>> 12|",
            "-12|  \t",
            "12|\r\n",
            "12|\u{3000}",
            "12|\n13ab|x",
            "12|  … [+5 bytes]",
            "12|[9 bytes+] …  ",
            "12|[9 bytes+] …… [+5 bytes]",
        ] {
            let lean = Dialect::by_name("lean").unwrap();
            let anchor = Anchor::parse(lean, text).unwrap();
            assert!(anchor.is_bare(lean) && anchor.line == 12 && anchor.hint.is_none(), "{text:?}");
            assert_eq!(anchor.text(lean), "12");
            assert_eq!(parse("pi", text), None, "{text:?}");
        }
        for text in
            ["12|x", "12|12ab|", "12||", "12:", "12#", "12-", "0", "12|… [+5 bytes]x", "12 67"]
        {
            let error = Anchor::parse(Dialect::by_name("lean").unwrap(), text).unwrap_err();
            assert_eq!(error.code, Code::InvalidAnchor, "{text:?}");
            assert!(
                error.message.contains("the number alone for a blank line"),
                "{}",
                error.message
            );
        }
    }

    #[test]
    fn rows_start_with_anchors() {
        let read = |dialect: &str, row| {
            let dialect = Dialect::by_name(dialect).unwrap();
            let RowAnchor { line, hash, text } = RowAnchor::of(dialect, row)?;
            Some((line, dialect.hash_text(hash), text))
        };
        assert_eq!(read("pi", "12:a3|x|y"), Some((12, "a3".into(), "x|y")));
        assert_eq!(read("omp", "12#ZP:"), Some((12, "ZP".into(), "")));
        assert_eq!(read("lean", "12ab|x|y"), Some((12, "ab".into(), "x|y")));
        assert_eq!(read("lean", "12|  "), Some((12, String::new(), "  ")));
        for row in ["12|x", "12", "12 ab|x", "12:ab|x", "12il|x", "|", "ab|x", "12a", "12é|", ""] {
            assert_eq!(read("lean", row), None, "{row}");
        }
        assert_eq!(read("omp18", "12:x:y"), Some((12, String::new(), "x:y")));
        for row in ["12|x", "12", "12 :x", "[a#1A2B]", ":x"] {
            assert_eq!(read("omp18", row), None, "{row}");
        }
        for row in ["12|", "12:a3", "12:a|", "12:a", ":a3|x", "99999999999999999999:a3|x"] {
            assert_eq!(read("pi", row), None, "{row}");
        }
    }

    #[test]
    fn a_version_can_follow_the_hash() {
        let edition = Edition::of(0x1_7f3c);
        assert_eq!(edition.to_string(), "@7f3c");
        for (dialect, text, short) in [
            ("pi", "10:a3@7f3c", "10:a3@7f3c"),
            ("pi", "> 10 : A3@7F3C|x", "10:a3@7f3c"),
            ("pi26", "10:tdcn@7f3c // why", "10:tdcn@7f3c"),
            ("omp", "10#ZP@7f3c:x", "10#ZP@7f3c"),
            ("lean", "10ab@7f3c|x", "10ab@7f3c"),
            ("lean", "10@7f3c", "10@7f3c"),
            ("lean", "10@7f3c|  ", "10@7f3c"),
        ] {
            let dialect = Dialect::by_name(dialect).unwrap();
            let anchor = Anchor::parse(dialect, text).unwrap();
            assert_eq!((anchor.edition, anchor.text(dialect)), (Some(edition), short.into()));
            assert_eq!(anchor.hint.is_some(), text.ends_with('x'), "{text}");
        }
        let lean = Dialect::by_name("lean").unwrap();
        let (first, last) = Anchor::parse_range(lean, "10ab@7f3c - 12@7f3c|").unwrap();
        assert_eq!([first.text(lean), last.text(lean)], ["10ab@7f3c", "12@7f3c"]);
        for text in ["10ab@7f3", "10ab@7f3cd", "10ab@7f3g", "10ab@", "10@7f3c|x"] {
            assert!(
                Anchor::parse(lean, text).is_err_and(|error| error.code == Code::InvalidAnchor)
            );
        }
        for row in ["10ab@7f3c|x", "10@7f3c|"] {
            assert!(RowAnchor::of(lean, row).is_some_and(|row| row.line == 10));
        }
        assert!(RowAnchor::of(lean, "10ab@7f3|x").is_none());
    }

    #[test]
    fn without_hashes_no_text_is_an_anchor() {
        let dialect = Dialect::by_name("omp18").unwrap();
        for text in ["12", "12:x", "12:", "12#1A2B", "12a3", ""] {
            let errors = [
                Anchor::parse(dialect, text).unwrap_err(),
                Anchor::parse_range(dialect, text).unwrap_err(),
            ];
            for error in errors {
                assert_eq!(error.code, Code::InvalidAnchor);
                assert!(error.message.contains("[path#TAG]"), "{}", error.message);
            }
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
        let lean = Dialect::by_name("lean").unwrap();
        for (text, expected) in [
            ("10ab-12cd", ["10ab", "12cd"]),
            ("10 AB - 12:cd|x", ["10ab", "12cd"]),
            ("10-12cd", ["10", "12cd"]),
            ("10ab - 12|", ["10ab", "12"]),
            ("10-12", ["10", "12"]),
        ] {
            let (first, last) = Anchor::parse_range(lean, text).unwrap();
            assert_eq!([first.text(lean), last.text(lean)], expected, "{text}");
        }
        for text in ["14-80 … 67 lines", "14", "14-", "10ab-12x", "10\nab-12", "12-40:9f3a2c81"] {
            assert!(Anchor::parse_range(lean, text).is_err(), "{text}");
        }
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
    fn a_text_that_starts_within_its_line_is_not_a_hint() {
        for text in ["1:aa|[1000 bytes+] …abc", "1:aa|[7 bytes+] …abc… [+12 bytes]"] {
            assert_eq!(parse("pi", text), Some((1, "aa".into(), false)), "{text}");
        }
        assert_eq!(parse("pi", "1:aa|[1000 bytes+]"), Some((1, "aa".into(), true)));
        assert_eq!(parse("omp", "5#ZP:[1 bytes+] …x"), Some((5, "ZP".into(), false)));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in any::<String>()) {
            for dialect in &DIALECTS {
                let _ = Anchor::parse(dialect, &text);
                let _ = Anchor::parse_range(dialect, &text);
            }
        }

        #[test]
        fn printed_lines_are_anchors(line in 1u32.., text in "[^\n]{0,30}") {
            for dialect in DIALECTS.iter().filter(|one| one.has_hashes()) {
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
