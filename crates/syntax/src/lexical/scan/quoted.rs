//! Where a text in quotes ends, with the code in it.

use super::Scanner;
use crate::lexical::table::{Escape, Quote};

/// The limit on code of several lines in a text of one line.
pub(super) const CODE_LIMIT_BYTES: usize = 1 << 10;

/// The levels of a text with code in it, which can contain texts again.
enum Level<'q> {
    Text(&'q Quote),
    Code { open: u8, close: u8, depth: usize },
}

/// The end of a text that begins at an offset after its opening quote; `None` if it has none.
pub(super) fn end_of(scanner: &mut Scanner<'_>, from: usize, quote: &Quote) -> Option<usize> {
    let mut levels = vec![Level::Text(quote)];
    let mut at = from;
    while let Some(&byte) = scanner.text.get(at) {
        let is_row_end = byte == b'\n' && !quote.is_multiline;
        if is_row_end && (levels.len() == 1 || at > from + CODE_LIMIT_BYTES) {
            return None;
        }
        at = match levels.last_mut()? {
            Level::Text(quote) => {
                let quote = *quote;
                after_one_in_text(scanner, at, quote, &mut levels)?
            }
            Level::Code { .. } => after_one_in_code(scanner, at, &mut levels),
        };
        if levels.is_empty() {
            return Some(at);
        }
    }
    None
}

/// Reads a character of a text, its end, or where code in it begins.
fn after_one_in_text<'q>(
    scanner: &mut Scanner<'_>,
    at: usize,
    quote: &'q Quote,
    levels: &mut Vec<Level<'q>>,
) -> Option<usize> {
    let (text, rest) = (scanner.text, &scanner.text[at..]);
    if let Some(length) = escaped(rest, quote, scanner.sql.escapes) {
        return Some(at + length);
    }
    if rest.starts_with(quote.close.as_bytes()) {
        let mut end = at + quote.close.len();
        // `""""a""""` ends with the last quote.
        while quote.close == "\"\"\"" && text.get(end) == Some(&b'"') {
            end += 1;
        }
        levels.pop();
        return Some(end);
    }
    let mut codes = quote.codes.iter();
    let Some(&(open, close)) = codes.find(|(open, _)| rest.starts_with(open.as_bytes())) else {
        return Some(at + 1);
    };
    // `{{` is a brace in texts where `{` begins code.
    if open == "{" && rest.starts_with(b"{{") {
        return Some(at + 2);
    }
    if scanner.reads_code() {
        return match open {
            "#{" => scanner.end_of_code(at + 2, close, text.len()),
            _ => scanner.end_of_expansion(at, true),
        };
    }
    let last = open.as_bytes()[open.len() - 1];
    levels.push(Level::Code { open: if last == b'$' { b'{' } else { last }, close, depth: 0 });
    Some(at + open.len())
}

/// Reads a character of code in a text, or where a text in it begins.
fn after_one_in_code(scanner: &Scanner<'_>, at: usize, levels: &mut Vec<Level<'_>>) -> usize {
    let (byte, rest) = (scanner.text[at], &scanner.text[at..]);
    let Some(Level::Code { open, close, depth }) = levels.last_mut() else { return at + 1 };
    if byte == *close && *depth == 0 {
        levels.pop();
    } else if byte == *close {
        *depth -= 1;
    } else if byte == *open {
        *depth += 1;
    } else if byte == b'\\' {
        return at + 2;
    } else {
        let is_open = |quote: &&Quote| rest.starts_with(quote.open.as_bytes());
        let inner = scanner.lexicon.quotes.iter().find(is_open);
        if let Some(quote) = inner.filter(|one| !one.is_character || character_end(rest).is_some())
        {
            levels.push(Level::Text(quote));
            return at + quote.open.len();
        }
    }
    at + 1
}

/// The length of an escaped character at the start. `escapes` says whether `\` escapes in this dialect
/// of SQL.
fn escaped(rest: &[u8], quote: &Quote, escapes: Option<bool>) -> Option<usize> {
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
