//! The operations of a patch as a model wrote them → as the session takes them.

use std::path::Path;

use hashline_core::{VALUE, Value};
use serde_json::{Map, Value as Json, json};

use super::arguments::{
    Arguments, JSON_TEXT, OtherNames, Repairs, TAKEN_AS_JSON, TAKEN_AS_ONE, Trouble, UNUSED,
    WRAPPED, missing, parsed, plain_path, rename,
};

const OTHER_NAMES: OtherNames = &[("file_path", "path"), ("filePath", "path"), ("file", "path")];

/// The fields that each operation has, beside [`SHARED`].
const FIELDS: &[(&str, &[&str])] = &[
    ("set_line", &["anchor", "text"]),
    ("replace_range", &["start_anchor", "end_anchor", "text"]),
    ("insert_after", &["anchor", "text"]),
    ("insert_before", &["anchor", "text"]),
    ("delete", &["anchor", "start_anchor", "end_anchor", "range"]),
    ("replace_text", &["old_text", "new_text", "all"]),
    ("add_file", &["content"]),
    ("move_file", &["from", "to", "from_path", "to_path"]),
    ("delete_file", &[]),
    ("set_path", &["anchor", VALUE]),
    ("insert_at_path", &["anchor", VALUE, "key", "index"]),
    ("delete_path", &["anchor"]),
];

/// Fields in which an empty string says something.
const TEXTS: &[&str] = &["text", "old_text", "new_text", "content", VALUE, "key"];

const SHARED: &[&str] = &["op", "path", "verbatim"];

/// Fields that hold a path.
const PATHS: &[&str] = &["path", "from", "to", "from_path", "to_path"];

const OPERATIONS: &str = "operations";

/// The input schema of a tool that takes operations of this schema.
pub fn schema_of_patch(operation: Json) -> Json {
    json!({
        "type": "object",
        "properties": {
            OPERATIONS: {
                "type": "array",
                "description": "All are carried out, or none",
                "items": operation,
            },
        },
        "required": [OPERATIONS],
    })
}

/// The patch that the arguments ask for, as far as they are one: the session checks it.
pub fn patch(base: &Path, given: &mut Arguments<'_>) -> Result<Value, Trouble> {
    // The session reads the shapes in which other tools have edits on its own.
    if given.values.get(OPERATIONS).is_none_or(Json::is_null)
        && given.values.get("edits").is_some_and(Json::is_array)
    {
        return Ok(Json::Object(given.values.clone()).into());
    }
    let shared = given.values.get("path").and_then(Json::as_str).map(str::to_owned);
    let items = items(given)?;
    let repairs = &mut *given.repairs;
    let mut operations = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        let place = format!("{OPERATIONS}[{at}]");
        operations.push(match item_of(item, &place, repairs)? {
            Json::Object(fields) => operation(base, fields, shared.as_deref(), &place, repairs)?,
            other => other.into(),
        });
    }
    Ok(Value::Object(vec![(OPERATIONS.to_owned(), Value::Array(operations))]))
}

/// The list of operations: as an array, JSON text of it, or the only one of it.
fn items(given: &mut Arguments<'_>) -> Result<Vec<Json>, Trouble> {
    let values = &given.values;
    let mut list = match values.get(OPERATIONS).filter(|value| !value.is_null()) {
        Some(list) => list.clone(),
        None if values.contains_key("op") => Json::Object(values.clone()),
        None => return Err(missing(OPERATIONS, "an array of operations", values)),
    };
    if let Json::String(text) = &list {
        list = parsed(text, Some(OPERATIONS))?;
        given.repairs.add(JSON_TEXT, OPERATIONS, TAKEN_AS_JSON);
    }
    if let Json::Object(fields) = &mut list
        && fields.get(OPERATIONS).is_some_and(Json::is_array)
    {
        list = fields[OPERATIONS].take();
    }
    match list {
        Json::Array(items) => Ok(items),
        one => {
            given.repairs.add(WRAPPED, OPERATIONS, TAKEN_AS_ONE);
            Ok(vec![one])
        }
    }
}

fn item_of(item: Json, place: &str, repairs: &mut Repairs) -> Result<Json, Trouble> {
    let Json::String(text) = &item else { return Ok(item) };
    let value = parsed(text, Some(place))?;
    repairs.add(JSON_TEXT, place, TAKEN_AS_JSON);
    Ok(value)
}

/// One operation; `shared` is the path beside the operations.
fn operation(
    base: &Path,
    mut fields: Map<String, Json>,
    shared: Option<&str>,
    place: &str,
    repairs: &mut Repairs,
) -> Result<Value, Trouble> {
    rename(&mut fields, OTHER_NAMES, &format!("{place}."), repairs);
    drop_unused(&mut fields, place, repairs);
    let is_move = fields.get("op").is_some_and(|op| op == "move_file");
    if is_move && !fields.contains_key("from") && !fields.contains_key("from_path") {
        // That is how the schema has it; the session calls it `from`.
        if let Some(path) = fields.shift_remove("path").or_else(|| shared.map(Json::from)) {
            fields.insert("from".to_owned(), path);
        }
    } else if !is_move
        && !fields.contains_key("path")
        && let Some(shared) = shared
    {
        fields.insert("path".to_owned(), shared.into());
        let message = "taken from beside the operations";
        repairs.add("shared-path", &format!("{place}.path"), message);
    }
    let mut operation = Vec::with_capacity(fields.len());
    for (field, held) in fields {
        let place = format!("{place}.{field}");
        let value = match held {
            Json::String(path) if PATHS.contains(&field.as_str()) => {
                Value::String(plain_path(base, path, &place, repairs)?)
            }
            held if field == VALUE => json_value(held, &place, repairs),
            held if field == "index" => whole_index(held, &place, repairs),
            held => held.into(),
        };
        operation.push((field, value));
    }
    Ok(Value::Object(operation))
}

/// Leaves out the fields that models leave empty: null anywhere but where it means something, an
/// empty string where no text belongs, and nothing in fields of other operations.
fn drop_unused(fields: &mut Map<String, Json>, place: &str, repairs: &mut Repairs) {
    let op = fields.get("op").and_then(Json::as_str);
    let own = FIELDS.iter().find(|(name, _)| op == Some(name)).map(|(_, own)| *own);
    // What is empty in an operation that is not described here may say something.
    let Some(own) = own else { return };
    fields.retain(|field, held| {
        let field = field.as_str();
        let is_unused = if own.contains(&field) || SHARED.contains(&field) {
            is_unused_of_its_own(field, held)
        } else {
            held.is_null() || *held == false || *held == ""
        };
        if is_unused {
            repairs.add(UNUSED, &format!("{place}.{field}"), "left out, since empty");
        }
        !is_unused
    });
}

fn is_unused_of_its_own(field: &str, held: &Json) -> bool {
    match held {
        // A text that is null deletes; a value that is null is a value.
        Json::Null => field != "text" && field != VALUE,
        Json::String(text) => text.is_empty() && !TEXTS.contains(&field),
        _ => false,
    }
}

/// A value for a document: the schema asks for its text, since every vendor takes strings.
fn json_value(held: Json, place: &str, repairs: &mut Repairs) -> Value {
    match held {
        Json::String(text) if serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok() => {
            Value::Json(text)
        }
        Json::String(text) => {
            repairs.add("json-string", place, "taken as a string, since it is no JSON");
            Value::Json(Json::String(text).to_string())
        }
        other => Value::Json(other.to_string()),
    }
}

fn whole_index(held: Json, place: &str, repairs: &mut Repairs) -> Value {
    match held.as_str().and_then(|text| text.trim().parse::<u32>().ok()) {
        Some(index) => {
            repairs.add("number", place, format!("taken as {index}"));
            Value::Number(index.into())
        }
        None => held.into(),
    }
}
