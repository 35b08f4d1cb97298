//! Strings for JavaScript.

use std::ptr;

use encoding_rs::mem;
use hashline_core::host::string_while;
use hashline_core::{self as core, Cancel, Code, Error};
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};

use super::external;
use super::fault::Result;
use super::js::ask;

/// The longest string of V8, in UTF-16 code units.
pub const STRING_LIMIT_UNITS: usize = (1 << 29) - 24;

/// Larger texts are left to the engine to decode where it copies them: a second form of them
/// would take room.
const DECODED_LIMIT_BYTES: usize = 1 << 20;

/// Shorter strings are copied, which costs less than remembering what to give back (measured on
/// batches of source files: 16 KiB and 64 KiB alike, 4 KiB slower).
const LENT_MIN_BYTES: usize = 16 * 1024;

/// From this length of its UTF-8 on a text is lent also where it stands alone. A copy would take
/// as much fresh memory again, and V8 lets gigabytes of such copies pile up; with shorter ones
/// the collections that go with lending cost more than that (docs/decisions.md).
const LENT_ALONE_MIN_BYTES: usize = 64 << 20;

/// A string for JavaScript, where possible in a form that the engine plainly copies: decoding
/// UTF-8 takes it longer, and it can do that on one thread only.
pub struct Text {
    characters: Characters,
    /// Whether the engine is to refer to the characters, if they are many and not too much is lent
    /// already. What is lent is for [`external::report`] to tell.
    is_lent: bool,
}

enum Characters {
    /// Nothing beyond U+00FF, which is how the engine keeps such strings.
    Latin1(Vec<u8>),
    /// What does not fit there.
    Utf16(Vec<u16>),
    /// Any text.
    Unicode(String),
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        let is_ascii = text.is_ascii();
        Text::alone(text, is_ascii)
    }
}

impl Text {
    /// One of few texts. Short ones are copied: their thread keeps the buffer for the next.
    /// `is_ascii` says whether the text is nothing but ASCII.
    pub fn alone(text: String, is_ascii: bool) -> Text {
        let is_lent = text.len() >= LENT_ALONE_MIN_BYTES;
        Text::of(text, is_ascii, is_lent)
    }

    /// One of so many texts that not every buffer can be kept: lent where the host can do that and
    /// the account of what is lent allows it.
    pub fn among_many(text: String, is_ascii: bool) -> Text {
        Text::of(text, is_ascii, true)
    }

    fn of(text: String, is_ascii: bool, is_lent: bool) -> Text {
        let is_lent = is_lent && external::is_available();
        let limit_bytes = if is_lent { usize::MAX } else { DECODED_LIMIT_BYTES };
        let mut characters = Characters::decoded(text, is_ascii, limit_bytes);
        if is_lent {
            characters.fit();
        }
        Text { characters, is_lent }
    }

    /// The string, or `FILE_TOO_LARGE` when JavaScript cannot hold it. Invalid sequences become
    /// U+FFFD.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Text> {
        let (text, is_ascii) = string_while(bytes, &Cancel::default())?;
        Text::within_limit(text, is_ascii)
    }

    /// As [`Text::of_bytes`].
    pub fn of_result(text: String) -> Result<Text> {
        let is_ascii = text.is_ascii();
        Text::within_limit(text, is_ascii)
    }

    fn within_limit(text: String, is_ascii: bool) -> Result<Text> {
        // Before another form of it is made.
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

    /// Lets go of room beyond the text, which would be held as long as the string lives.
    fn fit(&mut self) {
        match self {
            Characters::Latin1(text) => fit(text),
            Characters::Utf16(text) => fit(text),
            Characters::Unicode(_) => {}
        }
    }

    /// The string that refers to them, if they are many, the host makes such strings and not too
    /// much is lent already.
    fn lent(self, env: &Env) -> std::result::Result<sys::napi_value, Characters> {
        match self {
            Characters::Latin1(text) if is_long(&text) => {
                external::lend(env, text).map_err(Characters::Latin1)
            }
            Characters::Utf16(text) if is_long(&text) => {
                external::lend(env, text).map_err(Characters::Utf16)
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
    size_of_val(characters) >= LENT_MIN_BYTES
}

fn fit<T>(characters: &mut Vec<T>) {
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
        let lent = if text.is_lent {
            text.characters.lent(&Env::from_raw(env))
        } else {
            Err(text.characters)
        };
        lent.or_else(|characters| characters.copied(env))
    }
}

/// One of the engine's own words; for fields whose declared type is a union of literals.
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
