//! Offsets in the text of a document → offsets in its own bytes.

use super::Charset;
use hashline_base::error::{Code, Error, Result};

/// Decodes a body and notes how far it is read when so many bytes of text have come out. A place
/// is told exactly where characters begin and end; it cannot be told where an invalid sequence and
/// what is after it come out together.
pub(super) fn in_body(charset: Charset, body: &[u8], offsets: &[usize]) -> Result<Vec<usize>> {
    let mut found = Vec::with_capacity(offsets.len());
    let mut decoder = charset.any_decoder();
    // More than one unit of any encoding becomes.
    let mut out = [0; 64];
    let (mut read, mut written) = (0, 0);
    let step = charset.unit().width_bytes();
    for &offset in offsets {
        while written < offset && read < body.len() {
            let end = (read + step).min(body.len());
            let (_, _, bytes, _) = decoder.decode_to_utf8(&body[read..end], &mut out, false);
            read = end;
            written += bytes;
        }
        if written != offset {
            return Err(Error::new(
                Code::UnsupportedEncoding,
                format!(
                    "the edited text contains bytes that are invalid in {}: edit it by line",
                    charset.name()
                ),
            ));
        }
        found.push(read);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_between_characters_are_told_in_every_encoding() {
        let text = "{\"aé€😀\": [1, \"ß\"]}\r\n";
        for label in ["utf-8", "utf-16le", "utf-16be", "gb18030"] {
            let charset = Charset::by_label(label).unwrap();
            let body = charset.encode(text).unwrap();
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let expected: Vec<usize> =
                places.iter().map(|&at| charset.encode(&text[..at]).unwrap().len()).collect();
            assert_eq!(in_body(charset, &body, &places).unwrap(), expected, "{label}");
        }
    }

    #[test]
    fn invalid_bytes_elsewhere_do_not_matter() {
        // One invalid byte is three bytes of text.
        let body = b"[\"\xFF\", 12]";
        assert_eq!(in_body(Charset::Utf8, body, &[0, 7, 8, 10]).unwrap(), [0, 5, 6, 8]);
        let beside = in_body(Charset::Utf8, b"\xE2\x82x", &[3]).unwrap_err();
        assert_eq!(beside.code, Code::UnsupportedEncoding);
    }
}
