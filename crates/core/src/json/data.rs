//! A value of a request, as a face passes it on.

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
    /// Something that is no data, by its JavaScript type: a function, a symbol, a bigint.
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
