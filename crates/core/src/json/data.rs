//! What requests say that come as data: values, as a face passes them on, and types (`serde`).

use std::fmt;

use serde::de::DeserializeOwned;
use serde_path_to_error::{Error as PathError, Track};

use super::tree::{JsonGrammar, Tree};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result};

/// A value as it came from the caller: JSON, and what JSON cannot say.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any number.
    Number(f64),
    /// A string.
    String(String),
    /// A string with a lone surrogate, which no file can hold.
    IllFormed,
    /// A JSON value as its text, where the order of keys and the spelling of numbers count: what
    /// a field `value` holds.
    Json(String),
    /// An array.
    Array(Vec<Value>),
    /// An object: its fields in order, without those that are undefined.
    Object(Vec<(String, Value)>),
    /// A value that is not data, by the name of its type in the language of the caller.
    Other(&'static str),
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Value {
        use serde_json::Value as Json;
        match value {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(value),
            Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Value::String(text),
            Json::Array(items) => Value::Array(items.into_iter().map(Value::from).collect()),
            Json::Object(map) => {
                let field = |(key, value): (String, Json)| match key.as_str() {
                    VALUE => (key, Value::Json(value.to_string())),
                    _ => (key, value.into()),
                };
                Value::Object(map.into_iter().map(field).collect())
            }
        }
    }
}

/// The field that holds a value of a JSON document.
pub const VALUE: &str = "value";

/// Refuses a JSON text in which an object has a key twice: readers differ in which of the values they
/// take. A text that is no JSON is for its reader to refuse.
pub fn unique_keys(text: &str) -> Result<()> {
    let tree = Tree::parse(text, JsonGrammar::WithSurrogates, &Cancel::default());
    tree.map_or(Ok(()), |tree| tree.unique_keys())
}

/// Why a JSON text is not taken.
#[derive(Debug)]
pub enum JsonFault {
    /// It is no JSON, or not what was expected at a place.
    Malformed(PathError<serde_json::Error>),
    /// An object has a key twice.
    KeyTwice(Error),
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Where a text is no JSON, its line and column say enough.
            JsonFault::Malformed(cause) if !cause.inner().is_data() => cause.inner().fmt(f),
            JsonFault::Malformed(cause) => cause.fmt(f),
            JsonFault::KeyTwice(twice) => write!(f, "{}", twice.message),
        }
    }
}

/// What a JSON text says, in which no object has a key twice.
pub fn from_json<T: DeserializeOwned>(text: &[u8]) -> std::result::Result<T, JsonFault> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(JsonFault::Malformed)?;
    let nowhere = || Track::new().path();
    reader.end().map_err(|cause| JsonFault::Malformed(PathError::new(nowhere(), cause)))?;
    unique_keys(&String::from_utf8_lossy(text)).map_err(JsonFault::KeyTwice)?;
    Ok(value)
}

/// What a JSON value says.
pub fn from_json_value<T: DeserializeOwned>(
    value: serde_json::Value,
) -> std::result::Result<T, JsonFault> {
    serde_path_to_error::deserialize(value).map_err(JsonFault::Malformed)
}
