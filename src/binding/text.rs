//! Strings for JavaScript.

use std::ptr;

use hashline_core::error::{Code, Error};
use hashline_core::read::STRING_LIMIT_UNITS;
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{ValueType, sys};

use super::fault::Result;
use super::js::ask;

/// A string for JavaScript. ASCII is handed over as Latin-1, which is a plain copy.
pub struct Text(String);

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(text)
    }
}

impl Text {
    /// The string, or `FILE_TOO_LARGE` when JavaScript cannot hold it.
    pub fn bounded(text: String) -> Result<Text> {
        if text.len() > STRING_LIMIT_UNITS {
            let units = text.encode_utf16().count();
            if units > STRING_LIMIT_UNITS {
                return Err(Error::new(
                    Code::FileTooLarge,
                    format!("the result has {units} characters, more than a string can hold ({STRING_LIMIT_UNITS})"),
                )
                .into());
            }
        }
        Ok(Text(text))
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
        let (start, len) = (text.0.as_ptr().cast(), text.0.len() as isize);
        let mut raw = ptr::null_mut();
        if text.0.is_ascii() {
            ask!(napi_create_string_latin1(env, start, len; raw))?;
        } else {
            ask!(napi_create_string_utf8(env, start, len; raw))?;
        }
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
