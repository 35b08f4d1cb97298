//! Offsets in the text of a document → offsets in its bytes.

use super::Charset;
use hashline_base::error::{Code, Error, Result};

/// Decodes `body` and returns, for each offset in the text, the number of bytes that were read when
/// the text reached that length. This is exact at the borders of characters. It is ambiguous where
/// an invalid sequence and the bytes after it are decoded in one step.
pub(super) fn in_body(charset: Charset, body: &[u8], offsets: &[usize]) -> Result<Vec<usize>> {
    let mut found = Vec::with_capacity(offsets.len());
    let mut decoder = charset.any_decoder();
    // More than the decoded size of one unit in any encoding.
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
    fn offsets_between_characters_are_converted_in_every_encoding() {
        let text = "{\"aé€😀\": [1, \"ß\"]}\r\n";
        for label in ["utf-8", "utf-16le", "utf-16be", "gb18030"] {
            let charset = Charset::by_label(label).unwrap();
            let body = charset.encode(text).unwrap();
            let text_offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let expected: Vec<usize> =
                text_offsets.iter().map(|&at| charset.encode(&text[..at]).unwrap().len()).collect();
            assert_eq!(in_body(charset, &body, &text_offsets).unwrap(), expected, "{label}");
        }
    }

    #[test]
    fn invalid_bytes_elsewhere_do_not_matter() {
        // One invalid byte becomes three bytes of text.
        let body = b"[\"\xFF\", 12]";
        assert_eq!(in_body(Charset::Utf8, body, &[0, 7, 8, 10]).unwrap(), [0, 5, 6, 8]);
        let ambiguous = in_body(Charset::Utf8, b"\xE2\x82x", &[3]).unwrap_err();
        assert_eq!(ambiguous.code, Code::UnsupportedEncoding);
    }
}
