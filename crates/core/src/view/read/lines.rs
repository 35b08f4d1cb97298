//! The lines of a text: how many there are, where they start and how they end, with looks at the
//! flag.

use super::LineEnding;
use crate::cancel::{Cancel, PIECE_BYTES};
use crate::error::Result;
use crate::text::lines::{Unit, count_lines};

/// As [`count_lines`], with looks at the flag.
pub fn count_lines_while(text: &[u8], cancel: &Cancel) -> Result<u64> {
    if text.len() <= PIECE_BYTES {
        return Ok(count_lines(text, Unit::Byte));
    }
    let mut count = u64::from(!text.ends_with(b"\n"));
    for piece in cancel.pieces(text) {
        count += memchr::memchr_iter(b'\n', piece?).count() as u64;
    }
    Ok(count)
}

/// Where a line starts.
pub fn offset_of_line(text: &[u8], line: u64, cancel: &Cancel) -> Result<usize> {
    offset_after_lines(text, 0, line - 1, cancel)
}

/// Where the line starts that comes so many lines after an offset.
pub fn offset_after_lines(text: &[u8], start: usize, lines: u64, cancel: &Cancel) -> Result<usize> {
    let (mut left, mut offset) = (lines, start);
    while left > 0 && offset < text.len() {
        cancel.check()?;
        let piece = &text[offset..text.len().min(offset + PIECE_BYTES)];
        match memchr::memchr_iter(b'\n', piece).nth(left as usize - 1) {
            Some(newline) => return Ok(offset + newline + 1),
            None => left -= memchr::memchr_iter(b'\n', piece).count() as u64,
        }
        offset += piece.len();
    }
    Ok(offset)
}

/// How lines end.
pub fn line_ending(text: &[u8], cancel: &Cancel) -> Result<LineEnding> {
    let mut has_carriage_return = false;
    for piece in cancel.pieces(text) {
        if memchr::memchr(b'\r', piece?).is_some() {
            has_carriage_return = true;
            break;
        }
    }
    let (mut lf, mut crlf) = (false, false);
    let mut start = 0;
    for piece in cancel.pieces(text) {
        for newline in memchr::memchr_iter(b'\n', piece?) {
            if !has_carriage_return {
                return Ok(LineEnding::Lf);
            }
            match (start + newline).checked_sub(1).map(|before| text[before]) {
                Some(b'\r') => crlf = true,
                _ => lf = true,
            }
            if lf && crlf {
                return Ok(LineEnding::Mixed);
            }
        }
        start += PIECE_BYTES;
    }
    Ok(match (lf, crlf) {
        (true, _) => LineEnding::Lf,
        (_, true) => LineEnding::CrLf,
        _ => LineEnding::None,
    })
}
