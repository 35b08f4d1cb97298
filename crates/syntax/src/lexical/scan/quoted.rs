//! Where a text in quotes ends, with the code in it.

use super::Scanner;
use super::opened::Opened;
use crate::lexical::table::{Escape, Extra, Quote};

/// The limit on code of several lines in a text of one line.
pub(super) const CODE_LIMIT_BYTES: usize = 1 << 10;

/// The end of a text that begins at an offset after its opening quote; `None` if it has none.
pub(super) fn end_of(scanner: &mut Scanner<'_>, from: usize, opened: Opened<'_>) -> Option<usize> {
    let text = scanner.text;
    let mut at = from;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest[0] == b'\n' && !opened.is_multiline() {
            return None;
        }
        at = if let Some((length, close)) = opened.code(rest) {
            let limit = if opened.is_multiline() { text.len() } else { at + CODE_LIMIT_BYTES };
            if scanner.has(Extra::Shell) {
                scanner.end_of_expansion(at, true)?
            } else {
                scanner.end_of_code(at + length, close, limit)?
            }
        } else if let Some(length) = opened.escaped(rest, scanner.sql.escapes) {
            at + length
        } else if let Some(length) = opened.end(rest) {
            return Some(at + length);
        } else {
            at + opened.plain(rest)
        };
    }
    None
}

/// The length of an escaped character at the start. `escapes` says whether `\` escapes in this dialect
/// of SQL.
pub(super) fn escaped(rest: &[u8], quote: &Quote, escapes: Option<bool>) -> Option<usize> {
    let doubled = || {
        let close = quote.close.as_bytes();
        (rest.starts_with(close) && rest[close.len()..].starts_with(close))
            .then_some(2 * close.len())
    };
    match quote.escape {
        Escape::None => None,
        Escape::After(mark) => {
            let length = if rest[1..].starts_with(b"\r\n") { 3 } else { 2 };
            (rest[0] == mark && rest.len() > 1).then_some(length)
        }
        Escape::Lua if rest.starts_with(b"\\z") => {
            Some(rest.len() - rest[2..].trim_ascii_start().len())
        }
        Escape::Lua => escaped(rest, &Quote { escape: Escape::After(b'\\'), ..*quote }, None),
        Escape::Doubled => doubled(),
        Escape::Sql => {
            let close = quote.close.as_bytes()[0];
            let is_end = |&byte: &u8| matches!(byte, b',' | b')' | b';' | b'\r' | b'\n' | b' ');
            let seems_escape = rest.get(1).is_some_and(|&next| {
                let ends = close == b'\'' && rest.get(2).is_none_or(is_end);
                next == b'\\' || next == close && !ends
            });
            if rest[0] == b'\\' && escapes.unwrap_or(seems_escape) { Some(2) } else { doubled() }
        }
    }
}

/// The end of a literal of one character, such as `'a'`, `'\n'` and `'\u{1F600}'`.
pub(super) fn character_end(rest: &[u8]) -> Option<usize> {
    let inner = rest.get(1..)?;
    let (first, skipped) = match inner.first()? {
        b'\\' => (2, 12),
        b'\'' | b'\n' => return None,
        byte if byte.is_ascii() => (1, 0),
        _ => (1, 3),
    };
    let near = &inner[first.min(inner.len())..inner.len().min(first + skipped + 1)];
    let end = near.iter().position(|&byte| byte == b'\'')?;
    Some(1 + first + end + 1)
}
