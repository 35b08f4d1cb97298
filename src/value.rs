//! A patch as JavaScript holds it → the core's [`Value`]. Whatever is wrong with its content
//! is for the core to say; only what is no finite tree is refused here.

use hashline_core::Error;
use hashline_core::{VALUE, Value};
use napi::ValueType;

use super::fault::Result;
use super::js::Js;

/// The deepest nesting; the deepest known shape has six levels.
const MAX_DEPTH: u32 = 64;
/// The most values in one patch: what limits sparse arrays and objects used many times over.
const MAX_VALUES: u32 = 4_000_000;

/// Converts the argument `name`.
pub fn to_value(name: &'static str, value: Js<'_>) -> Result<Value> {
    let mut reader = Reader { name, values_left: MAX_VALUES };
    // An argument left out is nothing, as null is.
    Ok(reader.read(value, 0)?.unwrap_or(Value::Null))
}

struct Reader {
    name: &'static str,
    values_left: u32,
}

impl Reader {
    /// The value, or none for undefined.
    fn read(&mut self, value: Js<'_>, depth: u32) -> Result<Option<Value>> {
        self.values_left = self
            .values_left
            .checked_sub(1)
            .ok_or_else(|| self.refuse(&format!("holds more than {MAX_VALUES} values")))?;
        Ok(Some(match value.kind()? {
            ValueType::Undefined => return Ok(None),
            ValueType::Null => Value::Null,
            ValueType::Boolean => Value::Bool(value.boolean()?),
            ValueType::Number => Value::Number(value.number()?),
            ValueType::String => value.text()?.map_or(Value::IllFormed, Value::String),
            ValueType::Object => self.read_object(value, depth)?,
            ValueType::Function => Value::Other("function"),
            ValueType::Symbol => Value::Other("symbol"),
            ValueType::BigInt => Value::Other("bigint"),
            _ => Value::Other("foreign value"),
        }))
    }

    fn read_object(&mut self, object: Js<'_>, depth: u32) -> Result<Value> {
        if depth >= MAX_DEPTH {
            return Err(self
                .refuse(&format!("is cyclic or nested deeper than {MAX_DEPTH} levels"))
                .into());
        }
        if object.is_array()? {
            let mut items = Vec::new();
            for index in 0..object.array_len()? {
                let item = self.read(object.element(index)?, depth + 1)?;
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
            let value = match name.as_str() {
                VALUE => as_json(field)?,
                _ => self.read(field, depth + 1)?,
            };
            fields.extend(value.map(|value| (name, value)));
        }
        Ok(Value::Object(fields))
    }

    fn refuse(&self, why: &str) -> Error {
        Error::argument(format!("{} {why}: expected plain data", self.name))
    }
}

/// What goes into a JSON document: as `JSON.stringify` writes it, whatever that throws included.
/// What it leaves out is no value of JSON.
fn as_json(field: Js<'_>) -> Result<Option<Value>> {
    match field.kind()? {
        ValueType::Undefined => return Ok(None),
        ValueType::Function => return Ok(Some(Value::Other("function"))),
        ValueType::Symbol => return Ok(Some(Value::Other("symbol"))),
        ValueType::BigInt => return Ok(Some(Value::Other("bigint"))),
        _ => {}
    }
    let text = field.stringify()?;
    Ok(match text.kind()? {
        ValueType::String => text.text()?.map(Value::Json),
        _ => None,
    })
}
