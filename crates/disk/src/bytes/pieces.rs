//! Work on all bytes of a text, piece by piece, with checks for cancellation in between.

use std::borrow::Cow;

use super::{Charset, Decoded, valid_utf8};
use hashline_base::cancel::{Cancel, PIECE_BYTES};
use hashline_base::error::Result;
use hashline_base::parallel;

/// The hash of a content: XXH3, 128 bits.
pub(super) fn hash(bytes: &[u8], cancel: &Cancel) -> Result<u128> {
    if bytes.len() <= PIECE_BYTES {
        return Ok(twox_hash::XxHash3_128::oneshot(bytes));
    }
    let mut state = twox_hash::xxhash3_128::Hasher::new();
    for piece in cancel.pieces(bytes) {
        state.write(piece?);
    }
    Ok(state.finish_128())
}

pub(super) fn is_ascii(bytes: &[u8], cancel: &Cancel) -> Result<bool> {
    if bytes.len() <= PIECE_BYTES {
        return Ok(bytes.is_ascii());
    }
    let pieces: Vec<&[u8]> = bytes.chunks(PIECE_BYTES).collect();
    parallel::all(&pieces, cancel, |piece| piece.is_ascii())
}

pub(super) fn is_utf8(
    bytes: &[u8],
    cancel: &Cancel,
    passed: &(dyn Fn(usize) + Sync),
) -> Result<bool> {
    if bytes.len() <= PIECE_BYTES {
        return Ok(valid_utf8(bytes).is_some());
    }
    let pieces: Vec<&[u8]> = between_characters(bytes).collect();
    parallel::all(&pieces, cancel, |piece| {
        let is_valid = valid_utf8(piece).is_some();
        passed(piece.len());
        is_valid
    })
}

/// Like [`Charset::decode`]. Calls `passed` with the lengths of pieces that need no decoding.
pub(super) fn decode<'t>(
    charset: Charset,
    bytes: &'t [u8],
    cancel: &Cancel,
    passed: &(dyn Fn(usize) + Sync),
) -> Result<Decoded<'t>> {
    if bytes.len() <= PIECE_BYTES {
        return Ok(charset.decode(bytes));
    }
    match charset.decoder() {
        None if is_utf8(bytes, cancel, passed)? => {
            Ok(Decoded { text: Cow::Borrowed(bytes), is_lossy: false })
        }
        None => {
            let mut text = Vec::new();
            for piece in between_characters(bytes) {
                cancel.check()?;
                text.extend_from_slice(&charset.decode(piece).text);
            }
            Ok(Decoded { text: Cow::Owned(text), is_lossy: true })
        }
        Some(mut decoder) => {
            let (mut text, mut is_lossy) = (String::new(), false);
            let mut left = bytes.len();
            for piece in cancel.pieces(bytes) {
                let piece = piece?;
                left -= piece.len();
                // An upper bound, so that one call decodes the whole piece.
                text.reserve(decoder.max_utf8_buffer_length(piece.len()).unwrap_or(0));
                let (_, _, replaced) = decoder.decode_to_string(piece, &mut text, left == 0);
                is_lossy |= replaced;
            }
            Ok(Decoded { text: Cow::Owned(text.into_bytes()), is_lossy })
        }
    }
}

/// Splits UTF-8 text into pieces that end at the border of a character. Where there is no such
/// border, the bytes are invalid, and splitting them anywhere gives the same result.
pub(super) fn between_characters(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = if rest.len() <= PIECE_BYTES {
            rest.len()
        } else {
            (PIECE_BYTES - 3..=PIECE_BYTES)
                .rev()
                .find(|&at| rest[at] & 0xC0 != 0x80)
                .unwrap_or(PIECE_BYTES)
        };
        let piece;
        (piece, rest) = rest.split_at(end);
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text whose characters cross the ends of pieces in every way.
    fn awkward(unit: &[u8], shift: usize) -> Vec<u8> {
        let mut bytes = vec![b'a'; shift];
        while bytes.len() < PIECE_BYTES * 2 + 100 {
            bytes.extend_from_slice(unit);
        }
        bytes
    }

    #[test]
    fn pieces_make_no_difference() {
        let units: [&[u8]; 6] = [
            "\u{e9}x".as_bytes(),
            "\u{20ac}".as_bytes(),
            "\u{1f600}".as_bytes(),
            b"a\xE2\x82",
            b"\x80",
            b"\xF0\x9F",
        ];
        let charsets = ["utf-8", "utf-16le", "utf-16be", "shift_jis", "gb18030", "windows-1252"];
        for unit in units {
            for shift in 0..5 {
                let bytes = awkward(unit, shift);
                let cancel = Cancel::counting();
                assert_eq!(
                    is_utf8(&bytes, &cancel, &|_| {}).unwrap(),
                    valid_utf8(&bytes).is_some()
                );
                assert_eq!(is_ascii(&bytes, &cancel).unwrap(), bytes.is_ascii());
                for charset in charsets.map(|label| Charset::by_label(label).unwrap()) {
                    let whole = charset.decode(&bytes);
                    assert!(
                        decode(charset, &bytes, &cancel, &|_| {}).unwrap() == whole,
                        "{charset:?}"
                    );
                }
                assert!(cancel.checks() > 2);
            }
        }
        let bytes = awkward(b"xyz", 0);
        let whole = twox_hash::XxHash3_128::oneshot(&bytes);
        assert_eq!(hash(&bytes, &Cancel::default()).unwrap(), whole);
    }
}
