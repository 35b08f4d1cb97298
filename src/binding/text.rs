//! Strings for JavaScript.

use std::ptr;

use encoding_rs::mem;
use hashline_core::bytes::string_and_kind;
use hashline_core::error::{Code, Error};
use hashline_core::read::STRING_LIMIT_UNITS;
use hashline_core::render;
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};

use super::external;
use super::fault::Result;
use super::js::{Js, ask};

/// Larger texts are left to the engine to decode where it copies them: a second form of them
/// would take room.
const DECODED_LIMIT_BYTES: usize = 1 << 20;

/// Shorter strings are copied, which costs less than remembering what to give back (measured on
/// batches of source files: 16 KiB and 64 KiB alike, 4 KiB slower).
const LENT_MIN_BYTES: usize = 16 * 1024;

/// From this length on a text is lent also where it stands alone. A copy would take as much fresh
/// memory again, and V8 lets gigabytes of such copies pile up; with shorter ones the collections
/// that go with lending cost more than that (docs/architecture.md).
const LENT_ALONE_MIN_BYTES: usize = 64 << 20;

/// A string for JavaScript, where possible in a form that the engine plainly copies: decoding
/// UTF-8 takes it longer, and it can do that on one thread only.
pub enum Text {
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
        Text::to_copy(text, is_ascii)
    }
}

impl Text {
    /// A text of which the caller knows whether it is nothing but ASCII.
    pub fn to_copy(text: String, is_ascii: bool) -> Text {
        match text.len() < LENT_ALONE_MIN_BYTES {
            true => Text::decoded(text, is_ascii, DECODED_LIMIT_BYTES),
            false => Text::to_lend(text, is_ascii),
        }
    }

    /// The same for [`Text::lend`].
    pub fn to_lend(text: String, is_ascii: bool) -> Text {
        if !external::is_available() {
            return Text::decoded(text, is_ascii, DECODED_LIMIT_BYTES);
        }
        // What a buffer has room for beyond the text would be held as long as the string lives.
        match Text::decoded(text, is_ascii, usize::MAX) {
            Text::Latin1(text) => Text::Latin1(fitted(text)),
            Text::Utf16(text) => Text::Utf16(fitted(text)),
            other => other,
        }
    }

    fn decoded(text: String, is_ascii: bool, limit_bytes: usize) -> Text {
        if is_ascii {
            return Text::Latin1(text.into_bytes());
        }
        if text.len() > limit_bytes {
            return Text::Unicode(text);
        }
        let decoded = match mem::is_str_latin1(&text) {
            true => Text::Latin1(mem::encode_latin1_lossy(&text).into_owned()),
            false => {
                let mut units = vec![0; text.len()];
                let len = mem::convert_str_to_utf16(&text, &mut units);
                units.truncate(len);
                Text::Utf16(units)
            }
        };
        render::give_back(text.into_bytes());
        decoded
    }

    /// The string, of which the engine copies nothing if it is long and the host can do that:
    /// for answers of so many texts that not every buffer can be kept. What is lent is for
    /// [`external::report`] to tell.
    pub fn lend(self, env: &Env) -> napi::Result<Js<'_>> {
        let raw = self.lent(env, LENT_MIN_BYTES).or_else(|text| text.copied(env.raw()))?;
        Ok(Js::new(env.raw(), raw))
    }

    fn lent(self, env: &Env, least_bytes: usize) -> std::result::Result<sys::napi_value, Text> {
        match self {
            Text::Latin1(text) if size_of_val(&text[..]) >= least_bytes => {
                external::lend(env, text).map_err(Text::Latin1)
            }
            Text::Utf16(text) if size_of_val(&text[..]) >= least_bytes => {
                external::lend(env, text).map_err(Text::Utf16)
            }
            other => Err(other),
        }
    }

    fn copied(self, env: sys::napi_env) -> napi::Result<sys::napi_value> {
        let mut raw = ptr::null_mut();
        let bytes = match self {
            Text::Latin1(text) => {
                let (start, len) = (text.as_ptr().cast(), text.len() as isize);
                ask!(napi_create_string_latin1(env, start, len; raw))?;
                text
            }
            Text::Utf16(text) => {
                let (start, len) = (text.as_ptr(), text.len() as isize);
                ask!(napi_create_string_utf16(env, start, len; raw))?;
                return Ok(raw);
            }
            Text::Unicode(text) => {
                let (start, len) = (text.as_ptr().cast(), text.len() as isize);
                ask!(napi_create_string_utf8(env, start, len; raw))?;
                text.into_bytes()
            }
        };
        render::give_back(bytes);
        Ok(raw)
    }

    /// The string, or `FILE_TOO_LARGE` when JavaScript cannot hold it. Invalid sequences become
    /// U+FFFD.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Text> {
        let (text, is_ascii) = string_and_kind(bytes);
        Text::to_copy(text, is_ascii).checked()
    }

    fn checked(self) -> Result<Text> {
        let units = match &self {
            Text::Latin1(text) => text.len(),
            Text::Utf16(text) => text.len(),
            Text::Unicode(text) if text.len() > STRING_LIMIT_UNITS => text.encode_utf16().count(),
            Text::Unicode(text) => text.len(),
        };
        if units > STRING_LIMIT_UNITS {
            return Err(Error::new(
                Code::FileTooLarge,
                format!("the result has {units} characters, more than a string can hold ({STRING_LIMIT_UNITS})"),
            )
            .into());
        }
        Ok(self)
    }
}

/// Without room for much more, if it is long.
fn fitted<T>(mut characters: Vec<T>) -> Vec<T> {
    let is_long = size_of_val(&characters[..]) >= LENT_MIN_BYTES;
    if is_long && characters.capacity() - characters.len() > characters.len() / 8 {
        characters.shrink_to_fit();
    }
    characters
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
        let lent = text.lent(&Env::from_raw(env), LENT_ALONE_MIN_BYTES);
        lent.or_else(|text| text.copied(env))
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
