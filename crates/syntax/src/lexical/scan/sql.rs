//! Texts, names and comments of the dialects of SQL.

use memchr::memmem;

use super::Scanner;
use super::extra::near_row;
use crate::lexical::token::Kind;

/// The limit on the tokens of `COPY`.
const COPY_TOKENS: usize = 200;

/// How far from a function its language is read.
const LANGUAGE_BYTES: usize = 500;

/// What the text so far shows of its dialect.
pub(super) struct Dialect<'a> {
    /// The `$tag$` that is open.
    dollars: Option<&'a [u8]>,
    /// What ends statements instead of `;`, if it begins with `$`.
    delimiter: Option<&'a [u8]>,
    /// Whether comments may nest, and `q'[…]'` may be a text.
    nests_comments: bool,
    has_q: bool,
    /// Whether lines of data may follow a statement.
    has_data: bool,
    /// Whether `\` escapes a character of a text.
    pub escapes: Option<bool>,
}

impl Dialect<'_> {
    pub fn of(text: &[u8]) -> Self {
        let has = |part: &str| memmem::find(text, part.as_bytes()).is_some();
        let first = &text[..text.len().min(10)];
        let is_mysql =
            first.eq_ignore_ascii_case(b"DELIMITER ") || has("\nDELIMITER ") || has("\ndelimiter ");
        let is_transact = has("DECLARE @") || has("\nGO\n") || has("\nGO\r");
        let escapes = (is_mysql || is_transact).then_some(is_mysql);
        let has_data = has("\n\\.");
        let (dollars, delimiter, has_q) = (None, None, true);
        Dialect { dollars, delimiter, nests_comments: true, has_q, has_data, escapes }
    }
}

impl Scanner<'_> {
    pub(super) fn sql(&mut self) {
        let (byte, before) = (self.byte(0), self.before());
        match byte {
            b'/' if self.byte(1) == b'*' => self.comment_of_sql(),
            b'#' if self.begins_comment_of_mysql() => self.until_line_end(Kind::Comment),
            b'\\' if self.begins_command_of_psql() => self.until_line_end(Kind::Directive),
            b';' if self.sql.has_data => self.data_of_copy(),
            b'`' => self.sql.escapes = self.sql.escapes.or(Some(true)),
            b'$' if self.sql.dollars.is_some() => self.dollar_quote(),
            _ if self.is_word(before) => {}
            b'$' => self.dollar_quote(),
            b'[' if !matches!(before, b']' | b')' | b'"') => self.bracketed_name(),
            b'q' | b'Q' | b'n' | b'N' if self.sql.has_q => self.text_of_oracle(),
            _ => {}
        }
    }

    /// `\copy` contains a statement.
    fn begins_command_of_psql(&self) -> bool {
        self.byte(1).is_ascii_alphabetic() && !self.rest().starts_with(b"\\copy")
    }

    /// The lines after `COPY a FROM stdin;`, until `\.`.
    fn data_of_copy(&mut self) {
        let mut statement = self.out.tokens.iter().rev().take(COPY_TOKENS);
        let is_copy = statement
            .by_ref()
            .take_while(|token| self.text[token.start()] != b';')
            .any(|token| self.text[token.range()].eq_ignore_ascii_case(b"stdin"));
        if !is_copy {
            return;
        }
        self.push(Kind::Mark, self.at + 1);
        let start = self.line_end(self.at);
        let Some(length) = memmem::find(&self.text[start..], b"\n\\.") else { return };
        self.at = start + 1;
        let end = start + length + 3;
        if end > self.at {
            self.push(Kind::Text, end);
        }
    }

    /// Comments nest in some dialects.
    fn comment_of_sql(&mut self) {
        let rest = self.rest();
        let first = memmem::find(&rest[2..], b"*/").map_or(rest.len(), |at| at + 2);
        let has_inner = memmem::find(&rest[2..first], b"/*").is_some();
        if has_inner && self.sql.nests_comments {
            match self.nested_comment_end(b"/*", b"*/") {
                Some(end) => return self.push(Kind::Comment, end),
                None => self.sql.nests_comments = false,
            }
        }
        self.until(Kind::Comment, 2, b"*/");
    }

    /// Whether `#` is not an operator or the start of a name.
    fn begins_comment_of_mysql(&self) -> bool {
        let row = near_row(self.rest());
        let marks = row.iter().take_while(|&&byte| byte == b'#').count();
        let is_prose = row.get(marks).is_none_or(|byte| b" \t\r-=*".contains(byte));
        let is_first = self.is_line_start
            || self
                .last()
                .is_some_and(|last| matches!(self.text[last.start()], b';' | b',' | b'('));
        is_prose && is_first
    }

    fn dollar_quote(&mut self) {
        let rest = self.rest();
        let is_tag = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let tag = rest[1..].iter().take_while(is_tag).count();
        if rest.get(tag + 1) != Some(&b'$') || rest[1].is_ascii_digit() {
            return;
        }
        let mark = &rest[..tag + 2];
        if self.is_last("DELIMITER") {
            self.sql.delimiter = Some(mark);
        }
        if self.sql.delimiter == Some(mark) {
            return self.push(Kind::Mark, self.at + mark.len());
        }
        let end = memmem::find(&rest[mark.len()..], mark).map(|at| self.at + mark.len() + at);
        match (self.sql.dollars, end) {
            (Some(open), _) if open == mark => {
                self.sql.dollars = None;
                self.push(Kind::Close, self.at + mark.len());
            }
            (None, Some(end)) if self.is_code_until(end, mark) => {
                self.sql.dollars = Some(mark);
                self.push(Kind::Open, self.at + mark.len());
            }
            _ => self.until(Kind::Text, mark.len(), mark),
        }
    }

    /// Whether the last word is this one.
    fn is_last(&self, word: &str) -> bool {
        let last = self.last();
        last.is_some_and(|last| self.text[last.range()].eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Whether a text in dollars is the body of a function, and can be read as code.
    fn is_code_until(&mut self, end: usize, mark: &[u8]) -> bool {
        let count = self.out.tokens.len();
        let before = count.checked_sub(2).map(|at| &self.text[self.out.tokens[at].range()]);
        let is_after_language = before.is_some_and(|word| word.eq_ignore_ascii_case(b"LANGUAGE"));
        let is_do = self.is_last("DO");
        if !is_do && !is_after_language && !self.is_last("AS") {
            return false;
        }
        let from = self.at + mark.len();
        let is_sql = |name: &[u8]| [&b"plpgsql"[..], b"sql"].contains(&&*name.to_ascii_lowercase());
        if is_do || self.language_around(end + mark.len()).is_some_and(is_sql) {
            return true;
        }
        // Quotes of this kind in it are texts.
        self.sql.dollars = Some(b"");
        let is_whole = self.apart(from, end, |scanner| {
            while scanner.at < scanner.text.len() && scanner.out.torn.is_none() {
                scanner.next();
            }
            scanner.out.torn.is_none()
        });
        self.sql.dollars = None;
        is_whole
    }

    /// The name after `LANGUAGE` in the same statement, before the position or after an offset.
    fn language_around(&self, after: usize) -> Option<&[u8]> {
        let before = &self.text[self.at.saturating_sub(LANGUAGE_BYTES)..self.at];
        let start = memchr::memrchr(b';', before).map_or(0, |at| at + 1);
        let after = &self.text[after..self.text.len().min(after + LANGUAGE_BYTES)];
        let end = memchr::memchr(b';', after).unwrap_or(after.len());
        language_in(&after[..end]).or_else(|| language_in(&before[start..]))
    }

    /// `[a(b]`.
    fn bracketed_name(&mut self) {
        let row = near_row(self.rest());
        let Some(length) = memchr::memchr(b']', row).filter(|_| !self.is_last("ARRAY")) else {
            return;
        };
        if memchr::memchr(b'[', &row[1..length]).is_none() {
            self.push(Kind::Word, self.at + length + 1);
        }
    }

    /// `q'[…]'`.
    fn text_of_oracle(&mut self) {
        let rest = self.rest();
        let skipped = usize::from(rest[0].eq_ignore_ascii_case(&b'n'));
        let is_it = rest.get(skipped).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'q'))
            && rest.get(skipped + 1) == Some(&b'\'');
        let Some(&open) = rest.get(skipped + 2).filter(|_| is_it) else { return };
        let close = [super::code::closing(open), b'\''];
        match memmem::find(&rest[skipped + 3..], &close) {
            Some(length) => self.push(Kind::Text, self.at + skipped + 3 + length + 2),
            None => self.sql.has_q = false,
        }
    }
}

/// The name after `LANGUAGE`.
fn language_in(part: &[u8]) -> Option<&[u8]> {
    let is_end = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
    let mut words = part.split(is_end).filter(|word| !word.is_empty());
    words.find(|word| word.eq_ignore_ascii_case(b"LANGUAGE"))?;
    words.next()
}
