//! Strings for JavaScript.

use std::ptr;

use hashline_core::error::{Code, Error};
use hashline_core::read::STRING_LIMIT_UNITS;
use hashline_core::render;
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{ValueType, sys};

use super::fault::Result;
use super::js::{ask, string_of};

/// A string for JavaScript. ASCII is handed over as Latin-1, which is a plain copy.
pub enum Text {
    /// Nothing but ASCII.
    Ascii(Vec<u8>),
    /// Any text.
    Unicode(String),
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        match text.is_ascii() {
            true => Text::Ascii(text.into_bytes()),
            false => Text::Unicode(text),
        }
    }
}

impl Text {
    /// The string, or `FILE_TOO_LARGE` when JavaScript cannot hold it. Invalid sequences become
    /// U+FFFD.
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Text> {
        match bytes.is_ascii() {
            true => Text::Ascii(bytes).checked(),
            false => Text::Unicode(string_of(bytes)).checked(),
        }
    }

    fn checked(self) -> Result<Text> {
        let bytes = match &self {
            Text::Ascii(text) => text.len(),
            Text::Unicode(text) => text.len(),
        };
        if bytes > STRING_LIMIT_UNITS {
            let units = match &self {
                Text::Ascii(text) => text.len(),
                Text::Unicode(text) => text.encode_utf16().count(),
            };
            if units > STRING_LIMIT_UNITS {
                return Err(Error::new(
                    Code::FileTooLarge,
                    format!("the result has {units} characters, more than a string can hold ({STRING_LIMIT_UNITS})"),
                )
                .into());
            }
        }
        Ok(self)
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
        let mut raw = ptr::null_mut();
        let bytes = match text {
            Text::Ascii(text) => {
                let (start, len) = (text.as_ptr().cast(), text.len() as isize);
                ask!(napi_create_string_latin1(env, start, len; raw))?;
                text
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
