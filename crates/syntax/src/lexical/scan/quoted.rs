//! Where a text in quotes ends, with the code in it.

use memchr::memmem;

use super::opened::{Opened, opened};
use crate::lexical::table::{Escape, Extra, Lexicon, Quote};

/// The limit on code of several lines in a text of one line.
pub(super) const CODE_LIMIT_BYTES: usize = 1 << 10;

/// The levels of a text with code in it, which can contain texts again.
enum Level<'q> {
    Text(Opened<'q>),
    Code { open: u8, close: u8, depth: usize },
}

/// The end of a text that begins at an offset after its opening quote; `None` if it has none.
pub(super) fn end_of(
    text: &[u8],
    from: usize,
    opened: Opened<'_>,
    lexicon: &'static Lexicon,
) -> Option<usize> {
    let is_multiline = opened.is_multiline();
    end_of_level(text, from, Level::Text(opened), is_multiline, lexicon)
}

/// The end of code in braces that begins at an offset after its opening brace.
pub(super) fn end_of_code(text: &[u8], from: usize, lexicon: &'static Lexicon) -> Option<usize> {
    let code = Level::Code { open: b'{', close: b'}', depth: 0 };
    end_of_level(text, from, code, true, lexicon)
}

fn end_of_level(
    text: &[u8],
    from: usize,
    outermost: Level<'_>,
    is_multiline: bool,
    lexicon: &'static Lexicon,
) -> Option<usize> {
    let mut levels = vec![outermost];
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        if byte == b'\n' && !is_multiline && (levels.len() == 1 || at > from + CODE_LIMIT_BYTES) {
            return None;
        }
        let (length, next) = match levels.last_mut()? {
            Level::Text(quote) => in_text(&text[at..], *quote, levels.len() > 1),
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

/// What a part of a text does to its level.
enum Next<'q> {
    Same,
    Inner(Level<'q>),
    End,
}

/// The part of a text at the start: its length, and what follows.
fn in_text<'q>(rest: &[u8], quote: Opened<'q>, is_in_code: bool) -> (usize, Next<'q>) {
    if rest[0] == b'\n' && !quote.is_multiline() && is_in_code {
        // It was only a character of the code.
        (0, Next::End)
    } else if let Some((length, open, close)) = quote.code(rest) {
        (length, Next::Inner(Level::Code { open, close, depth: 0 }))
    } else if let Some(length) = quote.escaped(rest) {
        (length, Next::Same)
    } else if let Some(length) = quote.end(rest) {
        (length, Next::End)
    } else {
        (quote.plain(rest), Next::Same)
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

/// The length of a regular expression in code of Ruby and Groovy, except its last character:
/// `"#{line[/'.*'/]}"`.
fn regex_in_code(text: &[u8], at: usize, lexicon: &Lexicon) -> Option<usize> {
    let before = at.checked_sub(1).map(|before| text[before]);
    if text[at] != b'/'
        || !lexicon.extras.iter().any(|one| matches!(one, Extra::Ruby | Extra::Slashes))
        || !matches!(before, Some(b'[' | b'(' | b'~'))
    {
        return None;
    }
    let near = &text[at + 1..text.len().min(at + 256)];
    let end = memchr::memchr2(b'/', b'\n', near)?;
    (near[end] == b'/').then_some(end + 1)
}

/// The length of an escaped character at the start.
pub(super) fn escaped(rest: &[u8], quote: &Quote) -> Option<usize> {
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
        Escape::Doubled => doubled(),
        Escape::Sql => {
            let is_end = |&byte: &u8| matches!(byte, b',' | b')' | b';' | b'\r' | b'\n' | b' ');
            let is_escape = rest[0] == b'\\'
                && rest.get(1).is_some_and(|&next| {
                    next == b'\\' || next == b'\'' && !rest.get(2).is_none_or(is_end)
                });
            if is_escape { Some(2) } else { doubled() }
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
