//! Guesses the encoding of a text that is not UTF-8, with the detector of Firefox (`chardetng`).
//!
//! A wrong guess would show other characters than those that were written, and new text would be
//! stored as these. So a guess is used only if the whole text decodes without errors and encodes
//! to the same bytes, and never for a text that may be damaged UTF-8.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

use super::pieces::{between_characters, decode, is_ascii};
use super::{Charset, Decoded};
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;

/// The detector reads at most this much.
const SAMPLE_BYTES: usize = 1 << 20;

/// Longer texts are not guessed, because a guess decodes and encodes all of a text.
pub const GUESS_LIMIT_BYTES: usize = 64 << 20;

/// How much before the first byte that is not ASCII the detector reads.
const LEAD_BYTES: usize = 256;

/// How much of a text is encoded at a time.
const ENCODE_BYTES: usize = 1 << 16;

/// Valid and invalid UTF-8 in a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Utf8Tally {
    /// Valid characters of several bytes.
    pub valid: usize,
    /// Invalid sequences.
    pub invalid: usize,
    /// The length of the last invalid sequence, if the text ends with it.
    cut_bytes: usize,
}

impl Utf8Tally {
    /// Counts in a text.
    pub fn of(bytes: &[u8], cancel: &Cancel) -> Result<Utf8Tally> {
        let mut tally = Utf8Tally::default();
        for piece in between_characters(bytes) {
            cancel.check()?;
            for chunk in piece.utf8_chunks() {
                let (valid, invalid) = (chunk.valid().as_bytes(), chunk.invalid());
                tally.valid += valid.iter().filter(|&&byte| byte >= 0xC0).count();
                tally.invalid += usize::from(!invalid.is_empty());
                tally.cut_bytes = invalid.len();
            }
        }
        Ok(tally)
    }

    /// Whether the text is rather in another encoding than damaged UTF-8. In other encodings of
    /// several bytes, about every fifth character looks like UTF-8.
    pub(super) fn is_other(self) -> bool {
        self.valid.saturating_mul(2) <= self.invalid
    }

    /// Whether nothing in the text looks like UTF-8, or like UTF-8 that was cut.
    fn has_no_utf8(self) -> bool {
        self.valid == 0 && !(self.invalid == 1 && self.cut_bytes > 1)
    }
}

/// The encoding of a text that is not valid UTF-8, with the text; `None` if no guess is safe. A
/// text in `known` is not guessed again: an edit can change what the detector would say.
pub(super) fn guess(
    bytes: &[u8],
    known: Option<Charset>,
    cancel: &Cancel,
) -> Result<Option<(Charset, Vec<u8>)>> {
    if bytes.len() > GUESS_LIMIT_BYTES || known == Some(Charset::Utf8) {
        return Ok(None);
    }
    if let Some(known) = known
        && let Some(text) = decoded_exactly(known, bytes, cancel)?
    {
        return Ok(Some((known, text)));
    }
    let tally = Utf8Tally::of(bytes, cancel)?;
    let encoding = detect(bytes);
    let is_safe = match is_western(encoding) {
        // In Western text the letter 0xFF is rarer than binary data.
        true => tally.has_no_utf8() && memchr::memchr(0xFF, bytes).is_none(),
        false => tally.is_other(),
    };
    if !is_safe {
        return Ok(None);
    }
    // The detector knows GB18030 only by its older part.
    let wider = (encoding == encoding_rs::GBK).then_some(encoding_rs::GB18030);
    for encoding in std::iter::once(encoding).chain(wider) {
        let charset = Charset::Legacy(encoding);
        let text = decoded_exactly(charset, bytes, cancel)?;
        if let Some(text) = text.filter(|text| !has_c1_controls(text)) {
            return Ok(Some((charset, text)));
        }
    }
    Ok(None)
}

/// The text of ASCII bytes in an encoding that the file is known to have.
pub(super) fn ascii_in(known: Charset, bytes: &[u8], cancel: &Cancel) -> Result<Option<Vec<u8>>> {
    if known == Charset::Utf8 || !is_ascii(bytes, cancel)? {
        return Ok(None);
    }
    if known.is_stateless() {
        return decoded_exactly(known, bytes, cancel);
    }
    let Decoded { text, is_lossy } = decode(known, bytes, cancel, &|_| {})?;
    Ok((!is_lossy).then(|| text.into_owned()))
}

/// What the detector says.
fn detect(bytes: &[u8]) -> &'static encoding_rs::Encoding {
    let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0);
    let sample = &bytes[first.saturating_sub(LEAD_BYTES)..];
    let (sample, is_whole) = match sample.get(..SAMPLE_BYTES) {
        Some(start) => (start, start.len() == sample.len()),
        None => (sample, true),
    };
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, is_whole);
    detector.guess(None, Utf8Detection::Deny)
}

/// The text, if it has no errors in the encoding and encodes to the same bytes.
fn decoded_exactly(charset: Charset, bytes: &[u8], cancel: &Cancel) -> Result<Option<Vec<u8>>> {
    let Decoded { text, is_lossy } = decode(charset, bytes, cancel, &|_| {})?;
    if is_lossy || !charset.is_stateless() {
        return Ok(None);
    }
    let Ok(mut rest) = std::str::from_utf8(&text) else { return Ok(None) };
    let (mut left, mut encoded) = (bytes, Vec::new());
    while !rest.is_empty() {
        cancel.check()?;
        let piece;
        (piece, rest) = rest.split_at(rest.floor_char_boundary(ENCODE_BYTES));
        encoded.clear();
        let is_encoded = charset.encode_into(piece, &mut encoded).is_ok();
        match left.strip_prefix(encoded.as_slice()).filter(|_| is_encoded) {
            Some(after) => left = after,
            None => return Ok(None),
        }
    }
    Ok(left.is_empty().then(|| text.into_owned()))
}

/// Whether an encoding has one byte for a character and Latin letters: almost any bytes are text in
/// it, so such a guess says little.
fn is_western(encoding: &'static encoding_rs::Encoding) -> bool {
    let others = [
        encoding_rs::IBM866,
        encoding_rs::ISO_8859_5,
        encoding_rs::ISO_8859_6,
        encoding_rs::ISO_8859_7,
        encoding_rs::ISO_8859_8,
        encoding_rs::ISO_8859_8_I,
        encoding_rs::KOI8_R,
        encoding_rs::KOI8_U,
        encoding_rs::WINDOWS_874,
        encoding_rs::WINDOWS_1251,
        encoding_rs::WINDOWS_1253,
        encoding_rs::WINDOWS_1255,
        encoding_rs::WINDOWS_1256,
        encoding_rs::X_MAC_CYRILLIC,
    ];
    encoding.is_single_byte() && !others.contains(&encoding)
}

/// Whether a text has U+0080 to U+009F. No text has them; the bytes of other data decode to them.
fn has_c1_controls(text: &[u8]) -> bool {
    memchr::memchr_iter(0xC2, text).any(|at| text.get(at + 1).is_some_and(|&next| next < 0xA0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashline_base::cancel::PIECE_BYTES;

    fn guessed(bytes: &[u8], known: Option<&str>) -> Option<(String, String)> {
        let known = known.map(|label| Charset::by_label(label).unwrap());
        let (charset, text) = guess(bytes, known, &Cancel::default()).unwrap()?;
        Some((charset.name(), String::from_utf8(text).unwrap()))
    }

    fn owned(name: &str, text: &str) -> Option<(String, String)> {
        Some((name.to_owned(), text.to_owned()))
    }

    /// U+2170 has several forms in Shift_JIS, and a character of GB18030 has four bytes.
    #[test]
    fn a_guess_encodes_to_the_same_bytes() {
        let japanese = Charset::by_label("shift_jis").unwrap();
        let text = "これは日本語の文章です。ⅰ\n";
        let bytes = japanese.encode(text).unwrap();
        assert_eq!(guessed(&bytes, None), owned("shift_jis", text));
        let other_form = [&bytes[..bytes.len() - 3], b"\xee\xef\n"].concat();
        assert_eq!(japanese.decode(&other_form).text, text.as_bytes());
        assert_eq!(guessed(&other_form, None), None);
        let text = "这是一个中文文件，内容很简单。\u{20087}\n";
        let bytes = Charset::by_label("gb18030").unwrap().encode(text).unwrap();
        assert_eq!(guessed(&bytes, None), owned("gb18030", text));
    }

    #[test]
    fn a_known_encoding_counts_before_a_guess() {
        assert_eq!(guessed(b"caf\xe9", None), owned("windows-1252", "café"));
        assert_eq!(guessed(b"caf\xe9", Some("windows-1251")), owned("windows-1251", "cafй"));
        assert_eq!(guessed(b"caf\xe9", Some("utf-8")), None);
        // It has errors in that encoding.
        assert_eq!(guessed(b"caf\xe9", Some("shift_jis")), owned("windows-1252", "café"));
    }

    /// Characters at the ends of the pieces in which a text is encoded and counted.
    #[test]
    fn pieces_make_no_difference() {
        for shift in 0..4 {
            let text = "a".repeat(shift) + &"日本語の文章。".repeat(70_000);
            let bytes = Charset::by_label("shift_jis").unwrap().encode(&text).unwrap();
            assert_eq!(guessed(&bytes, None), owned("shift_jis", &text));
        }
        let utf8 = "é".repeat(PIECE_BYTES) + "x";
        let tally = Utf8Tally::of(utf8.as_bytes(), &Cancel::default()).unwrap();
        assert_eq!((tally.valid, tally.invalid), (PIECE_BYTES, 0));
    }
}
