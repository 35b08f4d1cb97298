//! Requests as data: values as a binding passes them in, and deserialization into types (`serde`).

use std::fmt;

use serde::de::DeserializeOwned;
use serde_path_to_error::{Error as PathError, Track};

use super::tree::{JsonGrammar, Tree};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result};

/// A value of a request: everything JSON has, and values of the caller's language that JSON lacks.
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
    /// A string with a lone surrogate, which cannot be encoded in any file.
    IllFormed,
    /// The text of the field `value`. It stays text because the order of keys and the spelling of
    /// numbers must survive.
    Json(String),
    /// An array.
    Array(Vec<Value>),
    /// An object: its fields in the order given, without undefined ones.
    Object(Vec<(String, Value)>),
    /// Not data, such as a function: the name of its type in the caller's language.
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

/// Refuses a JSON text with a duplicate key in an object, because parsers disagree about which
/// value wins. Ignores invalid JSON: the caller's parser reports that.
pub fn unique_keys(text: &str) -> Result<()> {
    let tree = Tree::parse(text, JsonGrammar::WithSurrogates, &Cancel::default());
    tree.map_or(Ok(()), |tree| tree.unique_keys())
}

/// Why a JSON text is refused.
#[derive(Debug)]
pub enum JsonFault {
    /// Not valid JSON, or not the expected type at some path.
    Malformed(PathError<serde_json::Error>),
    /// An object has a duplicate key.
    DuplicateKey(Error),
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A syntax error has a line and column, which is enough.
            JsonFault::Malformed(cause) if !cause.inner().is_data() => cause.inner().fmt(f),
            JsonFault::Malformed(cause) => cause.fmt(f),
            JsonFault::DuplicateKey(error) => write!(f, "{}", error.message),
        }
    }
}

/// Deserializes a JSON text; refuses duplicate keys.
pub fn from_json<T: DeserializeOwned>(text: &[u8]) -> std::result::Result<T, JsonFault> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(JsonFault::Malformed)?;
    let nowhere = || Track::new().path();
    reader.end().map_err(|cause| JsonFault::Malformed(PathError::new(nowhere(), cause)))?;
    unique_keys(&String::from_utf8_lossy(text)).map_err(JsonFault::DuplicateKey)?;
    Ok(value)
}

/// Deserializes a JSON value.
pub fn from_json_value<T: DeserializeOwned>(
    value: serde_json::Value,
) -> std::result::Result<T, JsonFault> {
    serde_path_to_error::deserialize(value).map_err(JsonFault::Malformed)
}
