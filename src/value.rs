//! Converts a patch, or the arguments that a model wrote, from JavaScript into the core's
//! [`Value`]. Only values that are not finite trees are refused here; the core and the tools check
//! the content.

use hashline_core::Error;
use hashline_core::host::{VALUE, Value};
use hashline_tools::Unreadable;
use napi::ValueType;

use super::error::{CallError, Result};
use super::js::{Js, take_exception};
use super::options::Place;

/// The deepest nesting; the deepest known shape has six levels.
const MAX_DEPTH: u32 = 64;
/// The most values in one patch. This limits sparse arrays and objects that are referenced many
/// times.
const MAX_VALUES: u32 = 4_000_000;

/// Converts the argument `name`.
pub fn to_value(name: &'static str, value: Js<'_>) -> Result<Value> {
    let mut reader = Reader::new(name, Strings::Whole);
    // An omitted argument is null.
    Ok(reader.read(value, &Place::Argument(name))?.unwrap_or(Value::Null))
}

/// Converts the arguments that a model wrote. Throws nothing: the model receives the error.
pub fn to_arguments(value: Js<'_>, strings: Strings) -> std::result::Result<Value, Unreadable> {
    let name = "arguments";
    let mut reader = Reader::new(name, strings);
    match reader.read(value, &Place::Argument(name)) {
        Ok(value) => Ok(value.unwrap_or(Value::Null)),
        Err(_) => {
            // A getter or proxy of the caller threw.
            take_exception(&value.env());
            Err(reader.why.unwrap_or(Unreadable::NoData))
        }
    }
}

/// How lone surrogates are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Strings {
    /// They are kept as values.
    Whole,
    /// They are replaced by U+FFFD: for titles of calls that have only partly arrived.
    Lossy,
}

struct Reader {
    name: &'static str,
    strings: Strings,
    values_left: u32,
    /// The limit that ended reading, if one did.
    why: Option<Unreadable>,
}

impl Reader {
    fn new(name: &'static str, strings: Strings) -> Reader {
        Reader { name, strings, values_left: MAX_VALUES, why: None }
    }

    /// The value, or `None` for undefined.
    fn read(&mut self, value: Js<'_>, place: &Place<'_>) -> Result<Option<Value>> {
        self.values_left = self.values_left.checked_sub(1).ok_or_else(|| {
            self.why = Some(Unreadable::TooMany);
            self.refuse(&format!("holds more than {MAX_VALUES} values"))
        })?;
        Ok(Some(match value.kind()? {
            ValueType::Undefined => return Ok(None),
            ValueType::Null => Value::Null,
            ValueType::Boolean => Value::Bool(value.boolean()?),
            ValueType::Number => Value::Number(value.number()?),
            ValueType::String if self.strings == Strings::Lossy => {
                Value::String(value.lossy_text()?)
            }
            ValueType::String => value.text()?.map_or(Value::IllFormed, Value::String),
            ValueType::Object => self.read_object(value, place)?,
            ValueType::Function => Value::Other("function"),
            ValueType::Symbol => Value::Other("symbol"),
            ValueType::BigInt => Value::Other("bigint"),
            _ => Value::Other("foreign value"),
        }))
    }

    fn read_object(&mut self, object: Js<'_>, place: &Place<'_>) -> Result<Value> {
        if place.depth() >= MAX_DEPTH {
            self.why = Some(Unreadable::TooDeep);
            return Err(self
                .refuse(&format!("is cyclic or nested deeper than {MAX_DEPTH} levels"))
                .into());
        }
        if object.is_array()? {
            let mut items = Vec::new();
            for index in 0..object.array_len()? {
                let item = self.read(object.element(index)?, &Place::Item(place, index))?;
                items.push(item.unwrap_or(Value::Null));
            }
            return Ok(Value::Array(items));
        }
        if object.is_typed_array()? {
            return Ok(Value::Other("typed array"));
        }
        let keys = object.own_keys()?;
        let mut fields = Vec::new();
        for index in 0..keys.array_len()? {
            let key = keys.element(index)?;
            let name = key.lossy_text()?;
            let field = object.get_by(key)?;
            let place = Place::Field(place, &name);
            let value = match name.as_str() {
                VALUE => as_json(field, &place)?,
                _ => self.read(field, &place)?,
            };
            fields.extend(value.map(|value| (name, value)));
        }
        Ok(Value::Object(fields))
    }

    fn refuse(&self, why: &str) -> Error {
        Error::argument(format!("{} {why}: expected plain data", self.name))
    }
}

/// A value for a JSON document, as `JSON.stringify` writes it; `None` if `JSON.stringify` omits it.
fn as_json(field: Js<'_>, place: &Place<'_>) -> Result<Option<Value>> {
    match field.kind()? {
        ValueType::Undefined => return Ok(None),
        ValueType::Function => return Ok(Some(Value::Other("function"))),
        ValueType::Symbol => return Ok(Some(Value::Other("symbol"))),
        ValueType::BigInt => return Ok(Some(Value::Other("bigint"))),
        _ => {}
    }
    let text = field.stringify().map_err(|error| no_json(field, place, error))?;
    Ok(match text.kind()? {
        ValueType::String => text.text()?.map(Value::Json),
        _ => None,
    })
}

/// The refusal of a value for which `JSON.stringify` throws: it is cyclic, has a bigint, or is
/// nested too deeply for the stack. An exception of the caller's own code stays as it is.
fn no_json(field: Js<'_>, place: &Place<'_>, error: napi::Error) -> CallError {
    let env = field.env();
    let Some(exception) = take_exception(&env) else { return error.into() };
    let text = |name| exception.get(name).and_then(Js::text_if_any);
    match (text(c"name"), text(c"message")) {
        (Ok(Some(name)), Ok(Some(message))) if name == "TypeError" || name == "RangeError" => {
            let why = message.lines().next().unwrap_or_default();
            Error::argument(format!(
                "{place} cannot be written as JSON: {why}: expected plain data"
            ))
            .into()
        }
        _ => {
            // Describing the thrown value may throw again.
            take_exception(&env);
            exception.throw().into()
        }
    }
}
