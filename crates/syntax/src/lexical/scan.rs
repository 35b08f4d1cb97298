//! A text → its tokens: words, brackets, texts, comments, directives. Each byte is read a constant
//! number of times.

mod code;
mod docker;
mod extra;
mod opened;
mod preprocessor;
mod quoted;
mod ruby;
mod shell;
mod sql;

use memchr::memmem;

use super::table::{Extra, Lexicon};
use super::token::{Kind, Token};
use crate::budget::Meter;
use crate::pairs::FAULTS_LIMIT;
pub(crate) use code::end_of_brackets;

/// The tokens of a text, and where a text or comment begins that does not end.
#[derive(Default)]
pub(crate) struct Scanned {
    pub tokens: Vec<Token>,
    pub unterminated: Vec<usize>,
    /// Closing brackets that close nothing, in code that is one token.
    pub surplus: Vec<usize>,
    /// The first of them that may have several lines, so that what follows is not known.
    pub torn: Option<usize>,
}

impl Scanned {
    pub fn add_surplus(&mut self, at: usize) {
        if self.surplus.len() < FAULTS_LIMIT {
            self.surplus.push(at);
        }
    }

    /// Adds a text or comment that does not end.
    pub fn add_unterminated(&mut self, at: usize, is_multiline: bool) {
        if self.unterminated.len() < FAULTS_LIMIT {
            self.unterminated.push(at);
        }
        if is_multiline {
            self.torn.get_or_insert(at);
        }
    }
}

/// Scans a text; incomplete if the budget is spent.
pub(crate) fn scan(text: &[u8], lexicon: &'static Lexicon, meter: &Meter<'_>) -> Scanned {
    let mut scanner = Scanner::new(text, lexicon);
    let start = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    scanner.at = start;
    if text[start..].starts_with(b"#!") {
        scanner.until_line_end(Kind::Comment);
    } else if scanner.has(Extra::Php) {
        scanner.html();
    }
    while scanner.at < text.len() && meter.step() {
        scanner.next();
    }
    scanner.out
}

/// A position in a text.
struct Scanner<'a> {
    /// The text up to the limit of what is read.
    text: &'a [u8],
    whole: &'a [u8],
    lexicon: &'static Lexicon,
    at: usize,
    /// Whether only whitespace precedes the position in its line.
    is_line_start: bool,
    /// The ends of heredocs that begin after this line.
    heredocs: Vec<extra::Heredoc>,
    sql: sql::Dialect<'a>,
    instructions: docker::Instructions,
    /// The number of open conditions of the preprocessor.
    conditions: usize,
    /// The last line of each text, of those that may end heredocs. Computed on demand.
    last_lines: Option<std::collections::HashMap<&'a [u8], usize>>,
    /// The number of texts with code around the position, and whether there are too many.
    depth: usize,
    is_uncertain: bool,
    out: Scanned,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a [u8], lexicon: &'static Lexicon) -> Scanner<'a> {
        let (heredocs, out) = (Vec::new(), Scanned::default());
        let if_has = |extra| if lexicon.extras.contains(&extra) { text } else { b"" };
        Scanner {
            text,
            whole: text,
            lexicon,
            at: 0,
            is_line_start: true,
            heredocs,
            sql: sql::Dialect::of(if_has(Extra::Sql)),
            instructions: docker::Instructions::of(if_has(Extra::Instructions)),
            conditions: 0,
            last_lines: None,
            depth: 0,
            is_uncertain: false,
            out,
        }
    }

    fn has(&self, extra: Extra) -> bool {
        self.lexicon.extras.contains(&extra)
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn byte(&self, offset: usize) -> u8 {
        self.text.get(self.at + offset).copied().unwrap_or(b'\n')
    }

    fn before(&self) -> u8 {
        self.at.checked_sub(1).map_or(b'\n', |at| self.text[at])
    }

    /// The last token that is not a comment.
    fn last(&self) -> Option<Token> {
        let is_code = |token: &&Token| token.kind != Kind::Comment;
        self.out.tokens.iter().rev().take(8).find(is_code).copied()
    }

    fn push(&mut self, kind: Kind, end: usize) {
        let end = end.min(self.text.len());
        self.out.tokens.push(Token::new(kind, self.at, end));
        self.at = end;
        self.is_line_start = false;
    }

    /// Reports that the text or comment here does not end if that is certain.
    fn report_unterminated(&mut self, is_multiline: bool) {
        if self.is_uncertain && self.depth == 0 {
            self.out.torn.get_or_insert(self.at);
        } else {
            self.out.add_unterminated(self.at, is_multiline);
        }
    }

    /// Ends the token here at the end of the text.
    fn unterminated(&mut self, kind: Kind) {
        self.report_unterminated(true);
        self.push(kind, self.text.len());
    }

    fn line_end(&self, from: usize) -> usize {
        memchr::memchr(b'\n', &self.text[from..]).map_or(self.text.len(), |at| from + at)
    }

    fn until_line_end(&mut self, kind: Kind) {
        let end = self.line_end(self.at);
        let trimmed = self.text[self.at..end].trim_ascii_end().len();
        self.push(kind, self.at + trimmed.max(1));
    }

    /// Until the end of a mark, or the whole rest if it does not occur.
    fn until(&mut self, kind: Kind, skipped: usize, mark: &[u8]) {
        let from = (self.at + skipped).min(self.text.len());
        match memmem::find(&self.text[from..], mark) {
            Some(at) => self.push(kind, from + at + mark.len()),
            None => self.unterminated(kind),
        }
    }

    fn next(&mut self) {
        let byte = self.byte(0);
        match byte {
            b'\n' => {
                self.at += 1;
                self.is_line_start = true;
                self.heredoc_bodies();
            }
            _ if byte.is_ascii_whitespace() => self.at += 1,
            _ if self.extra() || self.comment() || self.prose() || self.quoted() => {}
            b'\\' if self.has(Extra::Continuations) || self.has(Extra::Shell) => {
                // An escaped character, or a line that continues.
                self.at += 1;
                if self.byte(0) == b'\r' {
                    self.at += 1;
                }
                match self.byte(0) {
                    b'\n' => self.at += usize::from(self.heredocs.is_empty()),
                    _ => self.push(Kind::Word, self.at + 1),
                }
            }
            _ if self.is_word(byte) => self.word(),
            _ if self.lexicon.brackets.as_bytes().contains(&byte) => {
                let kind =
                    if matches!(byte, b'(' | b'[' | b'{') { Kind::Open } else { Kind::Close };
                self.push(kind, self.at + 1);
            }
            _ => self.push(Kind::Mark, self.at + 1),
        }
    }

    fn is_word(&self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || byte == b'_'
            || !byte.is_ascii()
            || self.lexicon.word_bytes.as_bytes().contains(&byte)
    }

    fn word(&mut self) {
        let is_number = self.byte(0).is_ascii_digit();
        let has_quotes = is_number && self.has(Extra::QuotesInNumbers);
        let mut end = self.at + 1;
        while let Some(&byte) = self.text.get(end) {
            let after = self.text.get(end + 1).copied().unwrap_or(b'\n');
            let is_quote = has_quotes && byte == b'\'' && after.is_ascii_alphanumeric();
            if !self.is_word(byte) && !is_quote {
                break;
            }
            end += 1;
        }
        // Methods such as `empty?` and `save!`.
        if (self.has(Extra::Ruby) || self.has(Extra::Sigils))
            && matches!(self.text.get(end), Some(b'?' | b'!'))
            && self.text.get(end + 1) != Some(&b'=')
            && !is_number
        {
            end += 1;
        }
        self.push(Kind::Word, end);
    }

    fn comment(&mut self) -> bool {
        let (rest, lexicon) = (self.rest(), self.lexicon);
        if let Some((open, close)) =
            lexicon.block_comments.iter().find(|(open, _)| rest.starts_with(open.as_bytes()))
        {
            if lexicon.has_nested_comments {
                match self.nested_comment_end(open.as_bytes(), close.as_bytes()) {
                    Some(end) => self.push(Kind::Comment, end),
                    None => self.unterminated(Kind::Comment),
                }
            } else {
                self.until(Kind::Comment, open.len(), close.as_bytes());
            }
            return true;
        }
        let is_line = lexicon.line_comments.iter().any(|open| rest.starts_with(open.as_bytes()));
        if is_line && self.begins_line_comment() {
            self.line_comment();
            return true;
        }
        false
    }

    /// A comment until the end of the line, or of the lines that `\` continues.
    fn line_comment(&mut self) {
        let start = self.at;
        while self.has(Extra::Preprocessor) {
            let end = self.line_end(self.at);
            let line = &self.text[start..end];
            if end == self.text.len() || !line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
            {
                break;
            }
            self.at = end + 1;
        }
        let end = self.line_end(self.at);
        let length = self.text[start..end].trim_ascii_end().len();
        self.at = start;
        self.push(Kind::Comment, start + length);
    }

    fn nested_comment_end(&self, open: &[u8], close: &[u8]) -> Option<usize> {
        let (mut depth, mut end) = (0_usize, self.at);
        loop {
            let rest = &self.text[end..];
            end += memchr::memchr2(open[0], close[0], rest)?;
            if self.text[end..].starts_with(open) {
                (depth, end) = (depth + 1, end + open.len());
            } else if self.text[end..].starts_with(close) {
                (depth, end) = (depth - 1, end + close.len());
            } else {
                end += 1;
            }
            if depth == 0 {
                return Some(end);
            }
        }
    }

    fn quoted(&mut self) -> bool {
        let Some(opened) = opened::opened(self.text, self.at, self.lexicon) else { return false };
        let kind = if opened.is_name() { Kind::Word } else { Kind::Text };
        match quoted::end_of(self, self.at + opened.length, opened) {
            Some(end) => self.push(kind, end),
            None if opened.is_multiline() => self.unterminated(kind),
            None => {
                let end = self.line_end(self.at).max(self.at + 1);
                self.report_unterminated(false);
                self.push(kind, end);
            }
        }
        true
    }
}
