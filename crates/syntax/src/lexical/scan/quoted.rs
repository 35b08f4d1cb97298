//! Where a text in quotes ends, with the code in it.

use memchr::memmem;

use super::Scanner;
use super::opened::{Opened, opened};
use crate::lexical::table::{Escape, Extra, Lexicon, Quote};

/// The limit on code of several lines in a text of one line.
pub(super) const CODE_LIMIT_BYTES: usize = 1 << 10;

/// The levels of a text with code in it, which can contain texts again.
enum Level<'q> {
    Text(Opened<'q>),
    Code { open: u8, close: u8, depth: usize },
}

/// What a part of a text does to its level.
enum Next<'q> {
    Same,
    Inner(Level<'q>),
    End,
}

/// The end of a text that begins at an offset after its opening quote; `None` if it has none.
pub(super) fn end_of(
    scanner: &mut Scanner<'_>,
    from: usize,
    outermost: Opened<'_>,
) -> Option<usize> {
    let (text, lexicon) = (scanner.text, scanner.lexicon);
    let mut levels = vec![Level::Text(outermost)];
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        let is_row_end = byte == b'\n' && !outermost.is_multiline();
        if is_row_end && (levels.len() == 1 || at > from + CODE_LIMIT_BYTES) {
            return None;
        }
        let is_in_code = levels.len() > 1;
        let (length, next) = match levels.last_mut()? {
            Level::Text(opened) => in_text(scanner, at, *opened, is_in_code)?,
            Level::Code { open, close, depth } => {
                in_code(text, at, (*open, *close, depth), lexicon)?
            }
        };
        at += length;
        match next {
            Next::Same => {}
            Next::Inner(level) => levels.push(level),
            Next::End => {
                levels.pop();
                if levels.is_empty() {
                    return Some(at);
                }
            }
        }
    }
    None
}

/// The part of a text at an offset: its length, and what follows; `None` if it is code that does not
/// end.
fn in_text<'q>(
    scanner: &mut Scanner<'_>,
    at: usize,
    opened: Opened<'q>,
    is_in_code: bool,
) -> Option<(usize, Next<'q>)> {
    let rest = &scanner.text[at..];
    if rest[0] == b'\n' && !opened.is_multiline() && is_in_code {
        // It was only a character of the code.
        Some((0, Next::End))
    } else if let Some((length, open, close)) = opened.code(rest) {
        if scanner.reads_code() {
            let end = match close {
                b'}' if rest[0] == b'#' => {
                    scanner.end_of_code(at + length, close, scanner.text.len())
                }
                _ => scanner.end_of_expansion(at, true),
            };
            return Some((end? - at, Next::Same));
        }
        Some((length, Next::Inner(Level::Code { open, close, depth: 0 })))
    } else if let Some(length) = opened.escaped(rest, scanner.sql.escapes) {
        Some((length, Next::Same))
    } else if let Some(length) = opened.end(rest) {
        Some((length, Next::End))
    } else {
        Some((opened.plain(rest), Next::Same))
    }
}

/// The part of code at an offset; `None` if it does not end.
fn in_code<'q>(
    text: &[u8],
    at: usize,
    (open, close, depth): (u8, u8, &mut usize),
    lexicon: &'static Lexicon,
) -> Option<(usize, Next<'q>)> {
    let (byte, rest) = (text[at], &text[at..]);
    let length = if byte == close {
        if *depth == 0 {
            return Some((1, Next::End));
        }
        *depth -= 1;
        1
    } else if byte == open {
        *depth += 1;
        1
    } else if byte == b'\\' {
        2
    } else if let Some(length) = regex_in_code(text, at, lexicon) {
        length + 1
    } else if byte == b'/' && has_comment(rest, lexicon) {
        4 + memmem::find(&rest[2..], b"*/")?
    } else if let Some(inner) = opened(text, at, lexicon) {
        return Some((inner.length, Next::Inner(Level::Text(inner))));
    } else {
        1
    };
    Some((length, Next::Same))
}

/// Whether a comment begins at the start.
fn has_comment(rest: &[u8], lexicon: &Lexicon) -> bool {
    let open = b"/*";
    rest.starts_with(open) && lexicon.block_comments.iter().any(|one| one.0.as_bytes() == open)
}

/// The length of a regular expression in code of Groovy, except its last character:
/// `"${line.find(/'.*'/)}"`.
fn regex_in_code(text: &[u8], at: usize, lexicon: &Lexicon) -> Option<usize> {
    let before = at.checked_sub(1).map(|before| text[before]);
    if text[at] != b'/'
        || !lexicon.extras.contains(&Extra::Slashes)
        || !matches!(before, Some(b'[' | b'(' | b'~'))
    {
        return None;
    }
    let near = &text[at + 1..text.len().min(at + 256)];
    let end = memchr::memchr2(b'/', b'\n', near)?;
    (near[end] == b'/').then_some(end + 1)
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
