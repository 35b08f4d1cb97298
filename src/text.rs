//! Strings for JavaScript.

use std::ptr;

use encoding_rs::mem;
use hashline_core::host::string_with_cancel;
use hashline_core::{self as core, Cancel, Code, Error};
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};

use super::error::Result;
use super::external;
use super::js::ask;

/// The longest string of V8, in UTF-16 code units.
pub const STRING_LIMIT_UNITS: usize = (1 << 29) - 24;

/// The engine decodes larger texts itself when it copies them, because a decoded copy would take
/// memory.
const DECODED_LIMIT_BYTES: usize = 1 << 20;

/// Shorter strings are copied, which costs less than a finalizer (measured on batches of source
/// files: 16 KiB and 64 KiB are equal, 4 KiB is slower).
const EXTERNAL_MIN_BYTES: usize = 16 * 1024;

/// A single text becomes an external string from this UTF-8 length. A copy would take as much fresh
/// memory again, and V8 lets gigabytes of such copies accumulate. For shorter texts the additional
/// collections cost more than a copy (docs/decisions.md).
const EXTERNAL_ALONE_MIN_BYTES: usize = 64 << 20;

/// A string for JavaScript, if possible in an encoding that the engine copies without decoding:
/// decoding UTF-8 is slower in the engine, and runs only on the JavaScript thread.
pub struct Text {
    characters: Characters,
    /// Whether to create an external string if the text is long and within the limit of
    /// [`external`]. The memory is reported by [`external::report`].
    is_external: bool,
}

enum Characters {
    /// No characters beyond U+00FF: the engine's own encoding of such strings.
    Latin1(Vec<u8>),
    /// Text with other characters, decoded.
    Utf16(Vec<u16>),
    /// Any text, which the engine decodes.
    Unicode(String),
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        let is_ascii = text.is_ascii();
        Text::alone(text, is_ascii)
    }
}

impl Text {
    /// One of few texts. Short ones are copied: their thread reuses the buffer. `is_ascii` says
    /// whether the text is ASCII.
    pub fn alone(text: String, is_ascii: bool) -> Text {
        let is_external = text.len() >= EXTERNAL_ALONE_MIN_BYTES;
        Text::of(text, is_ascii, is_external)
    }

    /// One of many texts, too many to reuse all buffers: an external string if the host supports it
    /// and the limit allows it.
    pub fn among_many(text: String, is_ascii: bool) -> Text {
        Text::of(text, is_ascii, true)
    }

    fn of(text: String, is_ascii: bool, is_external: bool) -> Text {
        let is_external = is_external && external::is_available();
        let limit_bytes = if is_external { usize::MAX } else { DECODED_LIMIT_BYTES };
        let mut characters = Characters::decoded(text, is_ascii, limit_bytes);
        if is_external {
            characters.shrink();
        }
        Text { characters, is_external }
    }

    /// The string, or `FILE_TOO_LARGE` if JavaScript cannot hold it. Invalid sequences become
    /// U+FFFD.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Text> {
        let (text, is_ascii) = string_with_cancel(bytes, &Cancel::default())?;
        Text::within_limit(text, is_ascii)
    }

    /// As [`Text::of_bytes`].
    pub fn of_result(text: String) -> Result<Text> {
        let is_ascii = text.is_ascii();
        Text::within_limit(text, is_ascii)
    }

    fn within_limit(text: String, is_ascii: bool) -> Result<Text> {
        // Checked before another copy is made.
        let units = if is_ascii || text.len() <= STRING_LIMIT_UNITS {
            text.len()
        } else {
            text.encode_utf16().count()
        };
        if units > STRING_LIMIT_UNITS {
            return Err(Error::new(
                Code::FileTooLarge,
                format!("the result has {units} characters, more than a string can hold ({STRING_LIMIT_UNITS})"),
            )
            .into());
        }
        Ok(Text::alone(text, is_ascii))
    }
}

impl Characters {
    fn decoded(text: String, is_ascii: bool, limit_bytes: usize) -> Characters {
        if is_ascii {
            return Characters::Latin1(text.into_bytes());
        }
        if text.len() > limit_bytes {
            return Characters::Unicode(text);
        }
        let decoded = if mem::is_str_latin1(&text) {
            Characters::Latin1(mem::encode_latin1_lossy(&text).into_owned())
        } else {
            let mut units = vec![0; text.len()];
            let len = mem::convert_str_to_utf16(&text, &mut units);
            units.truncate(len);
            Characters::Utf16(units)
        };
        core::host::recycle(text.into_bytes());
        decoded
    }

    /// Frees unused capacity, which would be held as long as the string lives.
    fn shrink(&mut self) {
        match self {
            Characters::Latin1(text) => shrink(text),
            Characters::Utf16(text) => shrink(text),
            Characters::Unicode(_) => {}
        }
    }

    /// The external string, if the text is long, the host supports it and the limit allows it.
    fn external(self, env: &Env) -> std::result::Result<sys::napi_value, Characters> {
        match self {
            Characters::Latin1(text) if is_long(&text) => {
                external::create_string(env, text).map_err(Characters::Latin1)
            }
            Characters::Utf16(text) if is_long(&text) => {
                external::create_string(env, text).map_err(Characters::Utf16)
            }
            other => Err(other),
        }
    }

    fn copied(self, env: sys::napi_env) -> napi::Result<sys::napi_value> {
        let mut raw = ptr::null_mut();
        let bytes = match self {
            Characters::Latin1(text) => {
                let (start, len) = (text.as_ptr().cast(), text.len() as isize);
                ask!(napi_create_string_latin1(env, start, len; raw))?;
                text
            }
            Characters::Utf16(text) => {
                let (start, len) = (text.as_ptr(), text.len() as isize);
                ask!(napi_create_string_utf16(env, start, len; raw))?;
                return Ok(raw);
            }
            Characters::Unicode(text) => {
                let (start, len) = (text.as_ptr().cast(), text.len() as isize);
                ask!(napi_create_string_utf8(env, start, len; raw))?;
                text.into_bytes()
            }
        };
        core::host::recycle(bytes);
        Ok(raw)
    }
}

fn is_long<T>(characters: &[T]) -> bool {
    size_of_val(characters) >= EXTERNAL_MIN_BYTES
}

fn shrink<T>(characters: &mut Vec<T>) {
    if is_long(characters) && characters.capacity() - characters.len() > characters.len() / 8 {
        characters.shrink_to_fit();
    }
}

impl TypeName for Text {
    fn type_name() -> &'static str {
        "String"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ToNapiValue for Text {
    unsafe fn to_napi_value(env: sys::napi_env, text: Self) -> napi::Result<sys::napi_value> {
        let created = if text.is_external {
            text.characters.external(&Env::from_raw(env))
        } else {
            Err(text.characters)
        };
        created.or_else(|characters| characters.copied(env))
    }
}

/// A fixed name, for fields whose declared type is a union of literals.
pub struct Word(pub &'static str);

impl TypeName for Word {
    fn type_name() -> &'static str {
        "String"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ToNapiValue for Word {
    unsafe fn to_napi_value(env: sys::napi_env, word: Self) -> napi::Result<sys::napi_value> {
        let (start, len) = (word.0.as_ptr().cast(), word.0.len() as isize);
        let mut raw = ptr::null_mut();
        ask!(napi_create_string_utf8(env, start, len; raw))?;
        Ok(raw)
    }
}
