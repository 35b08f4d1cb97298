//! A JSON text → its tokens.
//!
//! `jsonc-parser` defines what a token is. Almost all tokens of large documents are brackets,
//! commas, colons and strings without escapes, separated by whitespace. This module scans those
//! itself, eight bytes at a time, and leaves all others to the parser crate.

use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::Token as ParserToken;
use jsonc_parser::{Scanner, ScannerOptions};
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Comma,
    Colon,
    String,
    /// A string with an unescaped control character, which is not valid JSON.
    StringWithControl,
    /// A number, `true`, `false` or `null`.
    Plain,
    CommentLine,
    CommentBlock,
    /// An unquoted word, which is not valid JSON.
    Word,
}

/// A token and its range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Why no token could be read, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TokenError {
    pub(super) offset: usize,
    pub(super) what: String,
}

/// JSON's own tokens and comments only.
const OPTIONS: ScannerOptions = ScannerOptions {
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// An iterator over the tokens of a text.
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
    takes_surrogates: bool,
}

impl<'t> Tokens<'t> {
    /// `takes_surrogates`: whether strings may contain lone surrogates.
    pub(super) fn of(text: &'t str, takes_surrogates: bool) -> Tokens<'t> {
        Tokens { text, at: 0, takes_surrogates }
    }

    /// The next token; none at the end of the text.
    #[inline]
    pub(super) fn scan(&mut self) -> Result<Option<Token>, TokenError> {
        let bytes = self.text.as_bytes();
        let start = skip_whitespace(bytes, self.at);
        let Some(&first) = bytes.get(start) else { return Ok(None) };
        let (kind, end) = match first {
            b'{' => (TokenKind::OpenBrace, start + 1),
            b'}' => (TokenKind::CloseBrace, start + 1),
            b'[' => (TokenKind::OpenBracket, start + 1),
            b']' => (TokenKind::CloseBracket, start + 1),
            b',' => (TokenKind::Comma, start + 1),
            b':' => (TokenKind::Colon, start + 1),
            b'"' => match skip_plain_text(bytes, start + 1) {
                end if bytes.get(end) == Some(&b'"') => (TokenKind::String, end + 1),
                _ => return self.scan_any(start),
            },
            _ => return self.scan_any(start),
        };
        self.at = end;
        Ok(Some(Token { kind, start, end }))
    }

    /// The next token, by `jsonc-parser`.
    #[inline(never)]
    fn scan_any(&mut self, from: usize) -> Result<Option<Token>, TokenError> {
        let mut scanner = Scanner::new(&self.text[from..], &OPTIONS);
        let token = match scanner.scan() {
            Ok(token) => token,
            Err(error) => {
                let string = self.string_with_surrogate(from);
                return string.map(Some).ok_or_else(|| token_error(from, &error));
            }
        };
        let (start, end) = (from + scanner.token_start(), from + scanner.token_end());
        let Some(token) = token else { return Ok(None) };
        let kind = match kind_of(&token) {
            TokenKind::String if control_character(&self.text[start..end]).is_some() => {
                TokenKind::StringWithControl
            }
            kind => kind,
        };
        self.at = end;
        Ok(Some(Token { kind, start, end }))
    }

    /// A string with a lone surrogate, which JSON allows and `jsonc-parser` refuses.
    fn string_with_surrogate(&mut self, start: usize) -> Option<Token> {
        let rest = self.text[start..].starts_with('"').then_some(&self.text[start..])?;
        let mut values = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        values.next().filter(|_| self.takes_surrogates)?.ok()?;
        self.at = start + values.byte_offset();
        Some(Token { kind: TokenKind::String, start, end: self.at })
    }
}

fn kind_of(token: &ParserToken<'_>) -> TokenKind {
    match token {
        ParserToken::OpenBrace => TokenKind::OpenBrace,
        ParserToken::CloseBrace => TokenKind::CloseBrace,
        ParserToken::OpenBracket => TokenKind::OpenBracket,
        ParserToken::CloseBracket => TokenKind::CloseBracket,
        ParserToken::Comma => TokenKind::Comma,
        ParserToken::Colon => TokenKind::Colon,
        ParserToken::String(_) => TokenKind::String,
        ParserToken::Number(_) | ParserToken::Boolean(_) | ParserToken::Null => TokenKind::Plain,
        ParserToken::CommentLine(_) => TokenKind::CommentLine,
        ParserToken::CommentBlock(_) => TokenKind::CommentBlock,
        ParserToken::Word(_) => TokenKind::Word,
    }
}

/// A 1 in each byte.
const ONES: u64 = u64::from_le_bytes([1; 8]);
/// The highest bit of each byte.
const HIGH: u64 = ONES << 7;

/// Eight bytes of a text, the first of them least significant.
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at + 8)?;
    eight.try_into().ok().map(u64::from_le_bytes)
}

/// Skips ASCII whitespace. Other whitespace is left to `jsonc-parser`.
fn skip_whitespace(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C) = bytes.get(at) {
        at += 1;
        while let Some(word) = word(bytes, at) {
            let others = word ^ (ONES * u64::from(b' '));
            at += others.trailing_zeros() as usize / 8;
            if others != 0 {
                break;
            }
        }
    }
    at
}

/// Skips characters that need no handling in a string. Stops at the first quote, backslash or
/// control character, or within eight bytes of the end of the text.
fn skip_plain_text(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = word(bytes, at) {
        // Only the lowest set bit is reliable: the subtraction borrows from higher bytes.
        let is = |byte: u8| {
            let others = word ^ (ONES * u64::from(byte));
            others.wrapping_sub(ONES) & !others
        };
        let is_control = word.wrapping_sub(ONES * 0x20) & !word;
        let matches = (is(b'"') | is(b'\\') | is_control) & HIGH;
        at += matches.trailing_zeros() as usize / 8;
        if matches != 0 {
            break;
        }
    }
    at
}

/// The first control character and its offset.
pub(super) fn control_character(text: &str) -> Option<(usize, u8)> {
    text.bytes().enumerate().find(|&(_, byte)| byte < 0x20)
}

fn token_error(from: usize, error: &ParseError) -> TokenError {
    let what = error.kind().to_string();
    let mut letters = what.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    TokenError {
        offset: from + error.range().start,
        what: first.into_iter().chain(letters).collect(),
    }
}

#[cfg(test)]
mod tests;
