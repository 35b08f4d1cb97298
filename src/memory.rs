//! `formatHashed`, `hashLines`, `verify`, `applyHashToText`: what needs no file system.

use hashline_core::{self as core, Dialect, string_of, valid_utf8};
use napi::{Env, ValueType};
use napi_derive::napi;

use super::apply::{EditOptions, edit_options};
use super::buffers::with_text;
use super::fault::{Result, returned};
use super::js::Js;
use super::options::{Field, Holder, optional, read_options};
use super::outcome::text_outcome;
use super::text::Text;
use super::value::to_value;

/// How a text in memory is formatted.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct FormatOptions<'env> {
    /// The dialect of the anchors: `'pi'` when left out.
    #[napi(ts_type = "Dialect")]
    pub dialect: Option<Field<'env>>,
    /// The number of the first line: 1 when left out.
    #[napi(ts_type = "number")]
    pub start_line: Option<Field<'env>>,
}

read_options!(FormatOptions { dialect: "dialect", start_line: "startLine" });

/// The lines of a text in memory, each with its anchor in front, joined by line feeds.
///
/// Bytes are taken as UTF-8; invalid sequences are shown (and hashed) as U+FFFD.
#[napi(
    ts_args_type = "text: string | Uint8Array, options?: FormatOptions",
    ts_return_type = "string"
)]
pub fn format_hashed<'env>(
    env: &'env Env,
    text: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    returned(env, || {
        let (dialect, start_line) = format_options(options)?;
        with_utf8(text, |text| Text::of_bytes(core::format_hashed(dialect, text, start_line)))
    })
}

/// The hash of each line of a text in memory, without line numbers.
///
/// Bytes are taken as UTF-8; invalid sequences are hashed as U+FFFD.
#[napi(
    ts_args_type = "text: string | Uint8Array, options?: FormatOptions",
    ts_return_type = "string[]"
)]
pub fn hash_lines<'env>(
    env: &'env Env,
    text: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    returned(env, || {
        let (dialect, start_line) = format_options(options)?;
        with_utf8(text, |text| Ok(core::hash_lines(dialect, text, start_line)))
    })
}

/// Whether the hash of a line's text is the expected one. The line number counts only in
/// dialects that mix it into the hash (`omp13`).
#[napi(
    ts_args_type = "lineNumber: number, text: string, expectedHash: string, dialect?: Dialect",
    ts_return_type = "boolean"
)]
pub fn verify<'env>(
    env: &'env Env,
    line_number: Js<'env>,
    text: Js<'env>,
    expected_hash: Js<'env>,
    dialect: Js<'env>,
) -> napi::Result<Js<'env>> {
    returned(env, || {
        let line_number = Field::argument("lineNumber", line_number).line_number()?;
        let text = Field::argument("text", text).text()?;
        let expected = Field::argument("expectedHash", expected_hash).text()?;
        let dialect = Field::optional_argument("dialect", dialect)?;
        let dialect = optional(dialect, Field::dialect)?.unwrap_or(Dialect::default_dialect());
        Ok(core::verify_hash(dialect, line_number, &text, &expected))
    })
}

/// Applies operations to a text in memory: all of them or none. Operations name no path, and
/// there are none on whole files.
#[napi(
    ts_args_type = "text: string, operations: TextPatch, options?: EditOptions",
    ts_return_type = "TextOutcome"
)]
pub fn apply_hash_to_text<'env>(
    env: &'env Env,
    text: Js<'env>,
    operations: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    returned(env, || {
        let (dialect, options) = edit_options(EditOptions::read(Holder::Options, options)?)?;
        with_text(Field::argument("text", text), |text| {
            let operations = to_value("operations", operations)?;
            text_outcome(core::apply_to_text(dialect, text, &operations, &options))
        })
    })
}

fn format_options(value: Js<'_>) -> Result<(&'static Dialect, u64)> {
    let given = FormatOptions::read(Holder::Options, value)?;
    let dialect = optional(given.dialect, Field::dialect)?;
    let start_line = optional(given.start_line, Field::line_number)?;
    Ok((dialect.unwrap_or(Dialect::default_dialect()), start_line.unwrap_or(1)))
}

/// Runs `work` with the argument `text` as valid UTF-8; bytes that are, and that no other thread
/// shares, are borrowed. So the options are read before it: a getter could run JavaScript.
fn with_utf8<T>(text: Js<'_>, work: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    let field = Field::argument("text", text);
    match text.bytes()? {
        // Several times as fast as the check that `from_utf8_lossy` makes.
        Some((bytes, false)) if valid_utf8(bytes).is_some() => work(bytes),
        Some((bytes, false)) => work(String::from_utf8_lossy(bytes).as_bytes()),
        Some((bytes, true)) => work(string_of(bytes.to_vec()).as_bytes()),
        None if field.is(ValueType::String)? => with_text(field, |text| work(text.as_bytes())),
        None => Err(field.wrong("a string or a Uint8Array")),
    }
}
