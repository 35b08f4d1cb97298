//! Where a text in quotes ends, with the code in it.

use crate::lexical::table::{Escape, Extra, Lexicon, Quote};

/// The limit on code of several lines in a text of one line.
pub(super) const CODE_LIMIT_BYTES: usize = 1 << 10;

/// The levels of a text with code in it, which can contain texts again.
enum Level<'q> {
    Text(&'q Quote),
    Code { open: u8, close: u8, depth: usize },
}

/// The end of a text that begins at an offset after its opening quote; `None` if it has none.
pub(super) fn end_of(
    text: &[u8],
    from: usize,
    quote: &Quote,
    lexicon: &'static Lexicon,
) -> Option<usize> {
    end_of_level(text, from, Level::Text(quote), quote.is_multiline, lexicon)
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
        let rest = &text[at..];
        match levels.last_mut()? {
            Level::Text(quote) => {
                let quote = *quote;
                if let Some(length) = escaped(rest, quote) {
                    at += length;
                } else if rest.starts_with(quote.close.as_bytes()) {
                    at += quote.close.len();
                    // `""""a""""` ends with the last quote.
                    while quote.close == "\"\"\"" && text.get(at) == Some(&b'"') {
                        at += 1;
                    }
                    levels.pop();
                    if levels.is_empty() {
                        return Some(at);
                    }
                } else if let Some(&(open, close)) =
                    quote.codes.iter().find(|(open, _)| rest.starts_with(open.as_bytes()))
                {
                    // `{{` is a brace in texts where `{` begins code.
                    if open == "{" && rest.starts_with(b"{{") {
                        at += 2;
                    } else {
                        let last = open.as_bytes()[open.len() - 1];
                        let last = if last == b'$' { b'{' } else { last };
                        levels.push(Level::Code { open: last, close, depth: 0 });
                        at += open.len();
                    }
                } else {
                    at += 1;
                }
            }
            Level::Code { open, close, depth } => {
                if byte == *close && *depth == 0 {
                    levels.pop();
                    if levels.is_empty() {
                        return Some(at + 1);
                    }
                } else if byte == *close {
                    *depth -= 1;
                } else if byte == *open {
                    *depth += 1;
                } else if byte == b'\\' {
                    at += 1;
                } else if let Some(length) = regex_in_code(text, at, lexicon) {
                    at += length;
                } else {
                    let is_open = |quote: &&Quote| rest.starts_with(quote.open.as_bytes());
                    let inner = lexicon.quotes.iter().find(is_open);
                    let inner =
                        inner.filter(|one| !one.is_character || character_end(rest).is_some());
                    if let Some(quote) = inner {
                        at += quote.open.len();
                        levels.push(Level::Text(quote));
                        continue;
                    }
                }
                at += 1;
            }
        }
    }
    None
}

/// The length of a regular expression in code of Ruby, except its last character:
/// `"#{line[/'.*'/]}"`.
fn regex_in_code(text: &[u8], at: usize, lexicon: &Lexicon) -> Option<usize> {
    let before = at.checked_sub(1).map(|before| text[before]);
    if text[at] != b'/'
        || !lexicon.extras.contains(&Extra::Ruby)
        || !matches!(before, Some(b'[' | b'('))
    {
        return None;
    }
    let near = &text[at + 1..text.len().min(at + 256)];
    let end = memchr::memchr2(b'/', b'\n', near)?;
    (near[end] == b'/').then_some(end + 1)
}

/// The length of an escaped character at the start.
fn escaped(rest: &[u8], quote: &Quote) -> Option<usize> {
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
