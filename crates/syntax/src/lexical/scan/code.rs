//! Code in texts, which the scanner itself reads, because it can contain texts, heredocs and
//! comments again: `"#{…}"` of Ruby and Elixir, `"$(…)"` of shells.

use super::extra::near_row;
use super::{Scanner, quoted};
use crate::lexical::table::Lexicon;
use crate::lexical::token::{Kind, Token};
use crate::lexical::words::Words;

/// The limit on code in texts in code. What is deeper is not known.
const DEPTH_LIMIT: usize = 20;

/// A text between two delimiters: `%w[…]`, `/…/`.
#[derive(Clone, Copy)]
pub(super) struct Enclosed {
    pub open: u8,
    /// The length up to the text.
    pub skipped: usize,
    pub has_code: bool,
    /// Whether the text contains its delimiters in pairs.
    pub nests: bool,
    pub is_multiline: bool,
}

impl<'a> Scanner<'a> {
    /// Whether code in code can be read.
    pub(super) fn enter_code(&mut self) -> bool {
        self.is_uncertain |= self.depth == DEPTH_LIMIT;
        let can_enter = self.depth < DEPTH_LIMIT;
        self.depth += usize::from(can_enter);
        can_enter
    }

    /// The end of code that begins at an offset, after its opening bracket; `None` if it does not
    /// end before a limit. Heredocs that begin in it may end after it.
    pub(super) fn end_of_code(&mut self, from: usize, close: u8, limit: usize) -> Option<usize> {
        if !self.enter_code() {
            return None;
        }
        let end = self.apart(from, limit, |scanner| scanner.read_code(close));
        self.depth -= 1;
        end
    }

    /// Reads from an offset up to a limit, without a trace.
    pub(super) fn apart<R>(
        &mut self,
        from: usize,
        limit: usize,
        read: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let (whole, at, is_line_start) = (self.text, self.at, self.is_line_start);
        // Empty, because a full list would not show that another text does not end.
        let unterminated = std::mem::take(&mut self.out.unterminated);
        let (tokens, torn) = (self.out.tokens.len(), self.out.torn);
        self.text = &whole[..limit.min(whole.len())];
        (self.at, self.is_line_start) = (from, false);
        let result = read(self);
        (self.text, self.at, self.is_line_start) = (whole, at, is_line_start);
        self.out.tokens.truncate(tokens);
        self.out.unterminated = unterminated;
        self.out.torn = torn;
        result
    }

    fn read_code(&mut self, close: u8) -> Option<usize> {
        let first = self.out.tokens.len();
        self.out.tokens.push(Token::new(Kind::Open, self.at - 1, self.at));
        let mut words = Words::new(self.text, self.lexicon);
        let (mut read, mut depth) = (0, 0_usize);
        while self.at < self.text.len() && self.out.unterminated.is_empty() {
            self.next();
            let tokens = &mut self.out.tokens[first..];
            while read < tokens.len() {
                tokens[read].kind = words.kind(tokens, read);
                let token = tokens[read];
                read += 1;
                let byte = self.text[token.start()];
                match token.kind {
                    Kind::Open if closing(byte) == close => depth += 1,
                    Kind::Close if byte == close && depth == 1 => return Some(token.end()),
                    Kind::Close if byte == close => depth -= 1,
                    _ => {}
                }
            }
        }
        None
    }

    /// A text until a delimiter.
    pub(super) fn enclosed(&mut self, form: Enclosed) {
        let is_multiline = form.is_multiline;
        let end =
            if is_multiline { self.text.len() } else { self.at + near_row(self.rest()).len() };
        match self.end_of_enclosed(form, end) {
            Some(Some(end)) => self.push(Kind::Text, end),
            None | Some(None) if is_multiline => self.unterminated(Kind::Text),
            // Otherwise all code around it would be read again, too.
            None if self.depth > 0 => self.out.add_unterminated(self.at, false),
            None | Some(None) => self.is_uncertain = false,
        }
    }

    /// Where the text ends; the outer `None` if it has code that does not end.
    fn end_of_enclosed(&mut self, form: Enclosed, end: usize) -> Option<Option<usize>> {
        let close = closing(form.open);
        let (mut depth, mut at) = (0_usize, self.at + form.skipped);
        while let Some(&byte) = self.text[..end].get(at) {
            if byte == b'\\' {
                at += if self.text[at + 1..].starts_with(b"\r\n") { 3 } else { 2 };
                continue;
            }
            if form.has_code && self.text[at..].starts_with(b"#{") {
                let limit = if form.is_multiline { end } else { at + quoted::CODE_LIMIT_BYTES };
                at = self.end_of_code(at + 2, b'}', limit)?;
                continue;
            }
            match byte {
                _ if byte == close && depth == 0 => return Some(Some(at + 1)),
                _ if byte == close && form.nests => depth -= 1,
                _ if byte == form.open && form.nests => depth += 1,
                _ => {}
            }
            at += 1;
        }
        Some(None)
    }
}

/// What closes a bracket; a character that opens none closes itself.
pub(super) fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    }
}

/// Where the bracket at an offset is closed, by the tokens of a language, and the first
/// bracket before that closes nothing.
pub(crate) fn end_of_brackets(
    text: &[u8],
    from: usize,
    lexicon: &'static Lexicon,
) -> Option<(usize, Option<usize>)> {
    let mut scanner = Scanner::new(text, lexicon);
    (scanner.at, scanner.is_line_start) = (from, false);
    let (mut open, mut surplus) = (Vec::new(), None);
    let mut read = 0;
    while scanner.at < text.len() {
        scanner.next();
        for token in &scanner.out.tokens[read..] {
            let bracket = text[token.start()];
            match token.kind {
                Kind::Open => open.push(bracket),
                Kind::Close if open.last().is_some_and(|&open| closing(open) == bracket) => {
                    open.pop();
                    if open.is_empty() {
                        return Some((token.end(), surplus));
                    }
                }
                Kind::Close => surplus = surplus.or(Some(token.start())),
                _ => {}
            }
        }
        read = scanner.out.tokens.len();
    }
    None
}
