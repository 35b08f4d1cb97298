//! Bytes → strings.

use super::pieces;
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;

/// Bytes as a string if they are valid UTF-8. Several times as fast as the check of the standard
/// library.
pub fn valid_utf8(bytes: &[u8]) -> Option<&str> {
    simdutf8::basic::from_utf8(bytes).ok()
}

/// Bytes as a string; invalid sequences become U+FFFD.
pub fn string_of(bytes: Vec<u8>) -> String {
    string_with_cancel(bytes, &Cancel::default()).expect("it is not cancelled").0
}

/// Like [`string_of`], unless it is cancelled. Also returns whether the text is ASCII, which the
/// check determines anyway.
pub fn string_with_cancel(bytes: Vec<u8>, cancel: &Cancel) -> Result<(String, bool)> {
    let is_ascii = pieces::is_ascii(&bytes, cancel)?;
    let text = if is_ascii || pieces::is_utf8(&bytes, cancel, &|_| {})? {
        // SAFETY: The checks above were on these bytes, which nothing else can access; ASCII is
        // UTF-8.
        unsafe { String::from_utf8_unchecked(bytes) }
    } else {
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok((text, is_ascii))
}
