//! Functions that only the modules in `js/` call. They have a namespace of their own and are not
//! declared for other callers.

mod lines;

use std::ptr;

use hashline_core::{self as core, Error, mixes_line_number};
use lines::{BLOCK_UNITS, CodeUnit, count_line_feeds};
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};
use napi_derive::napi;

use super::buffers::{Buffers, read_utf8, with_buffers};
use super::error::{Result, returned};
use super::js::{Js, ask};
use super::options::Field;
use super::text::Text;

/// The lines of a text, split as by `split("\n")`, each preceded by its anchor. Null if the text
/// has a lone surrogate, which UTF-8 would replace. Null, too, if the Unicode tables of the host
/// might hash a line differently.
#[napi(namespace = "omp", skip_typescript)]
pub fn format_lines<'env>(
    env: &'env Env,
    dialect: Js<'env>,
    text: Js<'env>,
    start_line: Js<'env>,
) -> napi::Result<Js<'env>> {
    returned(env, || {
        let dialect = Field::argument("dialect", dialect)?.read()?;
        let start_line = Field::argument("startLine", start_line)?.read()?;
        with_utf8(Field::argument("text", text)?, |bytes| {
            if may_hold_lone_surrogate(bytes) && text.has_lone_surrogate()? {
                return Ok(None);
            }
            if mixes_line_number(dialect) && !lines::has_clear_words(bytes) {
                return Ok(None);
            }
            Ok(Some(Text::of_bytes(core::format_hashed(dialect, bytes, start_line))?))
        })
    })
}

/// xxHash32 of a text. A lone surrogate counts as U+FFFD.
#[napi(namespace = "omp", skip_typescript)]
pub fn hash_text<'env>(env: &'env Env, text: Js<'env>, seed: Js<'env>) -> napi::Result<Js<'env>> {
    returned(env, || {
        let seed = Field::argument("seed", seed)?.read()?;
        with_utf8(Field::argument("text", text)?, |bytes| Ok(lines::hash_text(bytes, seed)))
    })
}

/// How many newlines precede each block of 128 code units of a text, followed by their total:
/// 32-bit numbers in an `ArrayBuffer`.
#[napi(namespace = "omp", skip_typescript)]
pub fn line_feed_counts<'env>(env: &'env Env, text: Js<'env>) -> napi::Result<Js<'env>> {
    returned(env, || {
        with_units(
            Field::argument("text", text)?,
            |units| Words(counts_of(units)),
            |units| Words(counts_of(units)),
        )
    })
}

/// Where the lines of a text start, split as by `split("\n")`: 32-bit numbers in an `ArrayBuffer`.
#[napi(namespace = "omp", skip_typescript)]
pub fn line_starts<'env>(env: &'env Env, text: Js<'env>) -> napi::Result<Js<'env>> {
    returned(env, || {
        with_units(
            Field::argument("text", text)?,
            |units| Words(lines::line_starts(units)),
            |units| Words(lines::line_starts(units)),
        )
    })
}

fn counts_of<U: CodeUnit>(units: &[U]) -> Vec<u32> {
    let mut counts = vec![0; units.len().div_ceil(BLOCK_UNITS) + 1];
    count_line_feeds(units, &mut counts);
    counts
}

/// Runs one of two functions with the code units of a string: the first if they are all ASCII.
fn with_units<T>(
    field: Field<'_>,
    narrow: impl FnOnce(&[u8]) -> T,
    wide: impl FnOnce(&[u16]) -> T,
) -> Result<T> {
    let text = string(field)?;
    with_buffers(|Buffers { utf8, utf16 }| {
        if read_utf8(text, utf8)? == utf8.len() {
            return Ok(narrow(utf8));
        }
        // Positions are counted in code units, so the search is in code units.
        text.read_utf16(utf16)?;
        Ok(wide(utf16))
    })
}

fn string(field: Field<'_>) -> Result<Js<'_>> {
    if field.is(ValueType::String) { Ok(field.value()) } else { Err(field.wrong("a string")) }
}

/// Runs `work` with the UTF-8 form of a string, with lone surrogates as U+FFFD.
fn with_utf8<T>(field: Field<'_>, work: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    let text = string(field)?;
    with_buffers(|Buffers { utf8, .. }| {
        read_utf8(text, utf8)?;
        work(utf8)
    })
}

fn may_hold_lone_surrogate(text: &[u8]) -> bool {
    !text.is_ascii() && String::from_utf8_lossy(text).contains(char::REPLACEMENT_CHARACTER)
}

/// Numbers in an `ArrayBuffer`.
struct Words(Vec<u32>);

impl TypeName for Words {
    fn type_name() -> &'static str {
        "ArrayBuffer"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl ToNapiValue for Words {
    unsafe fn to_napi_value(env: sys::napi_env, words: Self) -> napi::Result<sys::napi_value> {
        let size = size_of_val(words.0.as_slice());
        let (mut data, mut raw) = (ptr::null_mut(), ptr::null_mut());
        ask!(napi_create_arraybuffer(env, size, &raw mut data; raw))?;
        if data.is_null() {
            return Err(napi::Error::from_reason(
                Error::argument("no memory for a buffer").message,
            ));
        }
        // SAFETY: The engine just created this buffer of `size` bytes, and nothing else refers to
        // it yet.
        unsafe { ptr::copy_nonoverlapping(words.0.as_ptr().cast::<u8>(), data.cast(), size) };
        Ok(raw)
    }
}
