//! Forms of texts and lines that only some languages have.

use memchr::memmem;

use super::Scanner;
use super::code::Enclosed;
use crate::lexical::table::Extra;
use crate::lexical::token::Kind;

/// A text whose lines begin after this one.
pub(super) struct Heredoc {
    /// What ends it, by its offsets.
    pub tag: (usize, usize),
    /// Whether whitespace may precede the tag.
    is_indented: bool,
    /// Whether code may follow the tag.
    is_followed: bool,
}

/// How much of a line is read for a form that may not be one: otherwise a line of marks would be read
/// again at each of them.
const NEAR_BYTES: usize = 4 << 10;

pub(super) fn near_row(rest: &[u8]) -> &[u8] {
    let near = &rest[..rest.len().min(NEAR_BYTES)];
    &near[..memchr::memchr(b'\n', near).unwrap_or(near.len())]
}

/// Words of Ruby, Elixir and Groovy after which a value follows.
const BEFORE_VALUES: &[&[u8]] = &[
    b"if", b"unless", b"while", b"until", b"and", b"or", b"not", b"when", b"then", b"return",
    b"in", b"do", b"else", b"elsif", b"case", b"begin", b"yield", b"puts", b"assert",
];

impl<'a> Scanner<'a> {
    /// Reads one of the forms that the language has; `false` if there is none.
    pub(super) fn extra(&mut self) -> bool {
        let before = self.at;
        self.lexicon.extras.iter().any(|&extra| {
            match extra {
                Extra::Preprocessor => self.preprocessor(),
                Extra::Directives => self.directive(),
                Extra::RawStrings => self.raw_string(),
                Extra::HeredocsOfShells => self.heredoc_of_shell(),
                Extra::Ruby => self.ruby(),
                Extra::Php => self.php(),
                Extra::HeredocsOfTerraform => self.heredoc_of_terraform(),
                Extra::LongBrackets => self.long_bracket(),
                Extra::Sigils => self.sigil(),
                Extra::Sql => self.sql(),
                Extra::Urls => self.url(),
                Extra::Instructions => self.instruction(),
                Extra::Shell => self.shell(),
                Extra::Slashes => {
                    if self.byte(0) == b'/'
                        && !matches!(self.byte(1), b'/' | b'*')
                        && self.expects_value()
                    {
                        self.regex(false);
                    }
                }
                Extra::RegexesInLines => self.regex_in_line(),
                Extra::BackslashLines => {
                    if self.rest().starts_with(br"\\") {
                        self.until_line_end(Kind::Text);
                    }
                }
                Extra::Continuations | Extra::QuotesInNumbers => {}
            }
            self.at > before
        })
    }

    pub(super) fn begins_line_comment(&self) -> bool {
        !self.has(Extra::Shell)
            || self.is_line_start
            || matches!(self.before(), b';' | b'&' | b'|' | b'(' | b')')
            || self.before().is_ascii_whitespace()
    }

    fn raw_string(&mut self) {
        let rest = self.rest();
        let prefix = [&b"R\""[..], b"LR\"", b"uR\"", b"UR\"", b"u8R\""];
        let Some(prefix) = prefix.iter().find(|prefix| rest.starts_with(prefix)) else { return };
        let inner = &rest[prefix.len()..];
        // A delimiter has at most 16 characters.
        let near = &inner[..inner.len().min(17)];
        let Some(length) = near.iter().position(|&byte| byte == b'(') else { return };
        let mark = [b")", &inner[..length], b"\""].concat();
        self.until(Kind::Text, prefix.len() + length + 1, &mark);
    }

    /// Notes the heredoc with a tag at this offset, and skips the tag.
    pub(super) fn heredoc(&mut self, from: usize, is_indented: bool, is_followed: bool) -> bool {
        let start = self.at + from;
        let quote = self.text.get(start).copied().filter(|byte| b"\"'`".contains(byte));
        let start = start + usize::from(quote.is_some() || self.text.get(start) == Some(&b'\\'));
        let row = near_row(&self.text[start.min(self.text.len())..]);
        let length = match quote {
            Some(quote) => memchr::memchr(quote, row).unwrap_or(0),
            None => {
                let is_tag = |byte: &&u8| {
                    byte.is_ascii_alphanumeric()
                        || **byte == b'_'
                        || self.has(Extra::HeredocsOfShells) && b"-.:+@!".contains(byte)
                };
                row.iter().take_while(is_tag).count()
            }
        };
        if length == 0 || row[0].is_ascii_digit() {
            return false;
        }
        let tag = (start, start + length);
        self.heredocs.push(Heredoc { tag, is_indented, is_followed });
        self.push(Kind::Text, tag.1 + usize::from(quote.is_some()));
        true
    }

    /// Reads the texts that begin after a line.
    pub(super) fn heredoc_bodies(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let tag = &self.text[heredoc.tag.0..heredoc.tag.1];
            let mut start = self.at;
            let end = loop {
                if start >= self.text.len() {
                    break None;
                }
                let end = self.line_end(start);
                let line = &self.text[start..end];
                let own = if heredoc.is_indented { line.trim_ascii_start() } else { line };
                let indent = line.len() - own.len();
                let own = own.strip_suffix(b"\r").unwrap_or(own);
                let follows = own.get(tag.len()).copied().unwrap_or(b'\n');
                let is_whole = own.len() == tag.len()
                    || heredoc.is_followed && !follows.is_ascii_alphanumeric() && follows != b'_';
                if own.starts_with(tag) && is_whole {
                    break Some(start + indent + tag.len());
                }
                start = end + 1;
            };
            match end {
                Some(end) => self.push(Kind::Text, end),
                None if self.at < self.text.len() => {
                    self.unterminated(Kind::Text);
                }
                None => self.out.add_unterminated(heredoc.tag.0, true),
            }
        }
    }

    fn heredoc_of_terraform(&mut self) {
        let rest = self.rest();
        if rest.starts_with(b"<<") {
            let from = 2 + usize::from(self.byte(2) == b'-');
            self.heredoc(from, true, false);
        }
    }

    /// Whether a value follows, so that `/` does not divide.
    pub(super) fn expects_value(&self) -> bool {
        let Some(last) = self.last().filter(|_| !self.is_line_start) else { return true };
        match last.kind {
            Kind::Mark | Kind::Open => true,
            Kind::Word => BEFORE_VALUES.contains(&&self.text[last.range()]),
            _ => false,
        }
    }

    /// A regular expression that ends in its line. A `/` that is an operator can have the parenthesis
    /// after it that closes one before it: `a.reduce(1, /)`.
    fn regex_in_line(&mut self) {
        if self.byte(0) != b'/'
            || matches!(self.byte(1), b'/' | b'*' | b' ' | b'\t' | b'\r' | b'\n')
            || !self.expects_value()
        {
            return;
        }
        let row = near_row(self.rest());
        let (mut at, mut depth, mut is_class) = (1, 0_usize, false);
        while let Some(&byte) = row.get(at) {
            match byte {
                b'\\' => at += 1,
                b'[' => is_class = true,
                b']' => is_class = false,
                _ if is_class => {}
                b'/' => return self.push(Kind::Text, self.at + at + 1),
                b'(' => depth += 1,
                b')' if depth == 0 => return,
                b')' => depth -= 1,
                _ => {}
            }
            at += 1;
        }
    }

    fn php(&mut self) {
        let rest = self.rest();
        let is_halt = || rest[..rest.len().min(15)].eq_ignore_ascii_case(b"__halt_compiler");
        if rest.starts_with(b"?>") {
            self.html();
        } else if rest[0] == b'_' && !self.is_word(self.before()) && is_halt() {
            self.push(Kind::Text, self.text.len());
        } else if rest.starts_with(b"#[") {
            self.push(Kind::Mark, self.at + 1);
        } else if rest.starts_with(b"//") || rest.starts_with(b"#") {
            let end = self.line_end(self.at);
            let inner =
                memmem::find(&self.text[self.at..end], b"?>").map_or(end, |at| self.at + at);
            let trimmed = self.text[self.at..inner].trim_ascii_end().len();
            self.push(Kind::Comment, self.at + trimmed);
        } else if rest.starts_with(b"<<<") {
            let blanks = rest[3..].iter().take_while(|byte| **byte == b' ').count();
            self.heredoc(3 + blanks, true, true);
        }
    }

    /// The text until the next `<?php`.
    pub(super) fn html(&mut self) {
        let mut end = self.at;
        loop {
            let Some(at) = memmem::find(&self.text[end..], b"<?") else {
                return self.push(Kind::Text, self.text.len());
            };
            end += at + 2;
            let after = &self.text[end..];
            if after.starts_with(b"php") {
                return self.push(Kind::Text, end + 3);
            }
            if after.first().is_none_or(|&byte| byte == b'=' || byte.is_ascii_whitespace()) {
                return self.push(Kind::Text, end + usize::from(after.starts_with(b"=")));
            }
        }
    }

    fn long_bracket(&mut self) {
        let rest = self.rest();
        let is_comment = rest.starts_with(b"--[");
        let inner = if is_comment { &rest[2..] } else { rest };
        if inner.first() != Some(&b'[') {
            return;
        }
        let level = inner[1..].iter().take_while(|&&byte| byte == b'=').count();
        if inner.get(level + 1) == Some(&b'[') {
            let mark = [&b"]"[..], &inner[1..=level], b"]"].concat();
            let kind = if is_comment { Kind::Comment } else { Kind::Text };
            self.until(kind, level + 2, &mark);
        }
    }

    fn sigil(&mut self) {
        let rest = self.rest();
        if rest[0] == b'?' && !self.is_word(self.before()) {
            let length = if self.byte(1) == b'\\' { 3 } else { 2 };
            if !self.byte(1).is_ascii_whitespace() {
                self.push(Kind::Text, self.at + length);
            }
            return;
        }
        let letters = rest[1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if rest[0] != b'~' || letters == 0 {
            return;
        }
        let skipped = 1 + letters;
        let is_raw = rest[1].is_ascii_uppercase();
        let long =
            ["\"\"\"", "'''"].into_iter().find(|mark| rest[skipped..].starts_with(mark.as_bytes()));
        let open = self.byte(skipped);
        if let Some(mark) = long {
            match self.line_that_begins(self.at + skipped + 3, mark.as_bytes()) {
                Some(end) => self.push(Kind::Text, end),
                None => self.unterminated(Kind::Text),
            }
        } else if b"/|\"'([{<".contains(&open) {
            let (skipped, has_code) = (skipped + 1, !is_raw);
            self.enclosed(Enclosed { open, skipped, has_code, nests: false, is_multiline: true });
        }
    }

    /// The end of a mark that only whitespace precedes in its line.
    fn line_that_begins(&self, from: usize, mark: &[u8]) -> Option<usize> {
        let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t');
        let is_first = |&at: &usize| {
            let before = self.text[..at].iter().rev().find(|byte| !is_blank(byte));
            before == Some(&b'\n')
        };
        let found = memmem::find_iter(&self.text[from..], mark).map(|at| from + at).find(is_first);
        found.map(|at| at + mark.len())
    }

    fn url(&mut self) {
        let rest = self.rest();
        if !rest.starts_with(b"url(") || self.is_word(self.before()) {
            return;
        }
        let inner = &rest[4..rest.len().min(4 + 4096)];
        let is_quoted =
            matches!(inner.trim_ascii_start().first(), Some(b'"' | b'\'' | b'#' | b'$'));
        if is_quoted {
            return;
        }
        let mut closing = memchr::memchr_iter(b')', inner);
        if let Some(end) = closing.find(|&at| !inner[..at].ends_with(b"\\")) {
            self.push(Kind::Text, self.at + 4 + end + 1);
        }
    }
}
