//! Texts whose quotes have marks: `##"…"##`, `$$"""…"""`, `s"…"`.

use super::quoted;
use crate::lexical::table::{Escape, Lexicon, Marks, Quote};

/// More marks than this are not read: otherwise a line of them would be read again at each of them.
const MARKS_LIMIT: usize = 64;

/// A text that has been opened.
#[derive(Clone, Copy)]
pub(super) struct Opened<'q> {
    quote: &'q Quote,
    /// The number of marks.
    marks: usize,
    /// The number of quotes that open it, if it is not always the same.
    quotes: usize,
    /// The length of what opens it.
    pub length: usize,
    has_code: bool,
}

/// The text that begins at an offset.
pub(super) fn opened(text: &[u8], at: usize, lexicon: &'static Lexicon) -> Option<Opened<'static>> {
    lexicon.quotes.iter().find_map(|quote| Opened::of(quote, text, at))
}

/// The number of times that a byte is repeated at the start.
fn run_of(byte: u8, rest: &[u8]) -> usize {
    rest.iter().take_while(|&&one| one == byte).count()
}

impl<'q> Opened<'q> {
    pub fn of(quote: &'q Quote, text: &[u8], at: usize) -> Option<Opened<'q>> {
        let rest = &text[at..];
        let first = *rest.first()?;
        let is_mark = quote.marks != Marks::None && matches!(first, b'#' | b'$');
        if first != quote.open.as_bytes()[0] && !is_mark {
            return None;
        }
        let before = at.checked_sub(1).map_or(b' ', |before| text[before]);
        let (marks, has_code) = match quote.marks {
            Marks::None => (0, true),
            Marks::Letters => (0, before.is_ascii_alphanumeric() || before == b'_'),
            Marks::Around => (run_of(b'#', &rest[..rest.len().min(MARKS_LIMIT)]), true),
            Marks::Braces | Marks::Dollars => {
                let marks = run_of(b'$', &rest[..rest.len().min(MARKS_LIMIT)]);
                (marks, marks > 0 || quote.marks == Marks::Dollars)
            }
        };
        let own = &rest[marks..];
        if !own.starts_with(quote.open.as_bytes())
            || quote.is_character && quoted::character_end(rest).is_none()
        {
            return None;
        }
        let is_counted = quote.marks == Marks::Braces;
        let quotes = if is_counted { run_of(b'"', own) } else { 0 };
        let length = marks + quote.open.len().max(quotes);
        Some(Opened { quote, marks, quotes, length, has_code })
    }

    pub fn is_multiline(&self) -> bool {
        self.quote.is_multiline
    }

    pub fn is_name(&self) -> bool {
        self.quote.is_name
    }

    /// The length of an escaped character at the start. `escapes` says whether `\` escapes in this
    /// dialect of SQL.
    pub fn escaped(&self, rest: &[u8], escapes: Option<bool>) -> Option<usize> {
        let is_around = self.marks > 0 && self.quote.marks == Marks::Around;
        if is_around && self.quote.escape != Escape::None {
            return (rest[0] == b'\\' && self.has_marks(&rest[1..])).then_some(self.marks + 2);
        }
        quoted::escaped(rest, self.quote, escapes)
    }

    /// Whether the marks of a text in `#` are at the start.
    fn has_marks(&self, rest: &[u8]) -> bool {
        self.quote.marks != Marks::Around
            || rest.len() >= self.marks && run_of(b'#', &rest[..self.marks]) == self.marks
    }

    /// The length of what ends the text at the start.
    pub fn end(&self, rest: &[u8]) -> Option<usize> {
        let close = self.quote.close.as_bytes();
        if !rest.starts_with(close) {
            return None;
        }
        if self.quotes > 0 {
            let quotes = run_of(b'"', rest);
            return (quotes >= self.quotes).then_some(quotes);
        }
        if self.marks > 0 && self.quote.marks == Marks::Around {
            return self.has_marks(&rest[close.len()..]).then_some(close.len() + self.marks);
        }
        // `""""a""""` ends with the last quote.
        let is_long = self.quote.close == "\"\"\"";
        Some(if is_long { run_of(b'"', rest) } else { close.len() })
    }

    /// The length up to the code that begins at the start, with its opening bracket, and what closes it.
    pub fn code(&self, rest: &[u8]) -> Option<(usize, u8)> {
        if !self.has_code {
            return None;
        }
        match self.quote.marks {
            Marks::Braces => {
                let braces = run_of(b'{', &rest[..rest.len().min(2 * MARKS_LIMIT)]);
                (braces >= self.marks).then_some((braces, b'}'))
            }
            Marks::Dollars if self.marks > 0 => {
                let dollars = run_of(b'$', &rest[..rest.len().min(2 * MARKS_LIMIT)]);
                let begins = dollars >= self.marks && rest.get(dollars) == Some(&b'{');
                begins.then_some((dollars + 1, b'}'))
            }
            Marks::Around if self.marks > 0 => {
                let begins = rest[0] == b'\\' && self.has_marks(&rest[1..]);
                (begins && rest.get(1 + self.marks) == Some(&b'('))
                    .then_some((self.marks + 2, b')'))
            }
            _ => {
                let mut codes = self.quote.codes.iter();
                let (open, close) = codes.find(|(open, _)| rest.starts_with(open.as_bytes()))?;
                // `{{` is a brace.
                if *open == "{" && rest.starts_with(b"{{") {
                    return None;
                }
                // The `$` of `{$a}` is code.
                Some((open.trim_end_matches('$').len(), *close))
            }
        }
    }

    /// The length of what only seems to begin code or to end the text at the start.
    pub fn plain(&self, rest: &[u8]) -> usize {
        let is_doubled = self.quote.codes.iter().any(|(open, _)| *open == "{");
        match rest[0] {
            b'{' if is_doubled && rest.starts_with(b"{{") => 2,
            b'$' if self.quote.marks == Marks::Letters && rest.starts_with(b"$$") => 2,
            b'"' if self.quotes > 0 => run_of(b'"', rest),
            byte @ (b'{' | b'$') if self.marks > 0 => {
                run_of(byte, &rest[..rest.len().min(2 * MARKS_LIMIT)])
            }
            _ => 1,
        }
    }
}
