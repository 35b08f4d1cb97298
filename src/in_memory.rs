//! `formatHashed`, `hashLines`, `verify`, `applyHashToText`: the functions that do not use the file
//! system.

use hashline_core::host::{FormatOptions, LineNumber, string_of, valid_utf8};
use hashline_core::{self as core, Dialect};
use napi::{Env, ValueType};
use napi_derive::napi;

use super::buffers::with_text;
use super::error::{Result, returned};
use super::js::Js;
use super::options::{DIALECT, EDIT, Field, OptionNames, Options};
use super::outcome::text_outcome;
use super::text::Text;
use super::value::to_value;

/// `FormatOptions`.
const FORMAT: OptionNames = &[DIALECT, &["startLine"]];

/// `EditOptions`.
const EDIT_TEXT: OptionNames = &[DIALECT, EDIT];

/// The lines of a text in memory, each preceded by its anchor, joined by newlines.
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
        let options = format(options)?;
        let (dialect, start_line) = (options.dialect(), options.start_line());
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
        let options = format(options)?;
        let (dialect, start_line) = (options.dialect(), options.start_line());
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
        let line: LineNumber = Field::argument("lineNumber", line_number)?.read()?;
        let text: String = Field::argument("text", text)?.read()?;
        let expected: String = Field::argument("expectedHash", expected_hash)?.read()?;
        let dialect: Option<_> = Field::argument("dialect", dialect)?.read()?;
        let dialect = dialect.unwrap_or_else(Dialect::default_dialect);
        Ok(core::verify_hash(dialect, line.get(), &text, &expected))
    })
}

/// Applies operations to a text in memory: all of them or none. Operations have no path, and
/// operations on whole files are not possible.
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
        let options = Options::of(options, EDIT_TEXT)?.workspace()?;
        with_text(Field::argument("text", text)?, |text| {
            let operations = to_value("operations", operations)?;
            let edit = &options.apply.edit;
            text_outcome(core::apply_to_text(options.dialect, text, &operations.into(), edit))
        })
    })
}

fn format(value: Js<'_>) -> Result<FormatOptions> {
    Options::of(value, FORMAT)?.read()
}

/// Runs `work` with the argument `text` as valid UTF-8. Valid bytes that no other thread shares are
/// borrowed, so options must be read first: a getter could run JavaScript.
fn with_utf8<T>(text: Js<'_>, work: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    let field = Field::argument("text", text)?;
    match text.bytes()? {
        // Several times as fast as the check in `from_utf8_lossy`.
        Some((bytes, false)) if valid_utf8(bytes).is_some() => work(bytes),
        Some((bytes, false)) => work(String::from_utf8_lossy(bytes).as_bytes()),
        Some((bytes, true)) => work(string_of(bytes.to_vec()).as_bytes()),
        None if field.is(ValueType::String) => with_text(field, |text| work(text.as_bytes())),
        None => Err(field.wrong("a string or a Uint8Array")),
    }
}
