//! What a model wrote as arguments → values of the right type. What is plainly meant is taken as
//! meant, and each such repair is told; the rest is refused in the words of the schema.

use std::path::Path;

use hashline_core::Error;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::roots::path_of_url;

/// Why a call has no answer of its own.
#[derive(Debug)]
pub enum Trouble {
    /// Arguments that nobody can make sense of.
    Malformed(String),
    /// The engine refused, or failed.
    Engine(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Engine(error)
    }
}

/// Something about the arguments that was taken otherwise than written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    pub rule: &'static str,
    pub field: String,
    pub message: String,
}

/// The repairs of one call.
#[derive(Debug, Default)]
pub struct Repairs(Vec<Repair>);

impl Repairs {
    /// Notes a repair.
    pub fn add(&mut self, rule: &'static str, field: &str, message: impl Into<String>) {
        self.0.push(Repair { rule, field: field.to_owned(), message: message.into() });
    }

    /// All repairs of the call.
    pub fn all(&self) -> &[Repair] {
        &self.0
    }

    /// What the model is told of the repairs. Empty fields are not mentioned: strict schemas ask for
    /// them.
    pub fn told(&self) -> String {
        let worth = self.0.iter().filter(|repair| repair.rule != UNUSED);
        worth.map(|Repair { field, message, .. }| format!("\n({field}: {message}.)")).collect()
    }
}

/// The rule of empty fields.
pub const UNUSED: &str = "unused";
/// The rule of values that arrive as the text of JSON.
pub const JSON_TEXT: &str = "json-text";
/// The rule of a single value where there should be an array.
pub const WRAPPED: &str = "wrapped";

pub const TAKEN_AS_JSON: &str = "taken as the JSON that the string holds";
pub const TAKEN_AS_ONE: &str = "taken as an array of one";

/// How other tools call a field, and what it is called here.
pub type OtherNames = &'static [(&'static str, &'static str)];

/// The arguments of a call, and where repairs are noted.
#[derive(Debug)]
pub struct Arguments<'a> {
    pub values: Map<String, Json>,
    pub repairs: &'a mut Repairs,
}

impl<'a> Arguments<'a> {
    /// The fields of an object, or of its text.
    pub fn of(
        given: Json,
        other_names: OtherNames,
        repairs: &'a mut Repairs,
    ) -> Result<Arguments<'a>, Trouble> {
        let value = match given {
            Json::String(text) => parsed(&text, None)?,
            other => other,
        };
        let mut values = match value {
            Json::Null => Map::new(),
            Json::Object(values) => values,
            other => {
                let noun = noun(&other);
                return Err(malformed(format!("the arguments are {noun}: expected an object")));
            }
        };
        rename(&mut values, other_names, "", repairs);
        Ok(Arguments { values, repairs })
    }

    /// What a field holds; null is nothing.
    fn given(&self, field: &str) -> Option<&Json> {
        self.values.get(field).filter(|value| !value.is_null())
    }

    /// A string that may be left out.
    pub fn optional_text(&self, field: &str) -> Result<Option<String>, Trouble> {
        match self.given(field) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(wrong(field, other, "a string")),
        }
    }

    /// A string; `what` says what it is.
    pub fn text(&self, field: &str, what: &str) -> Result<String, Trouble> {
        let text = self.optional_text(field)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| missing(field, what, &self.values))
    }

    /// A list of strings: an array, JSON text of one, or a single one.
    pub fn texts(&mut self, field: &str) -> Result<Vec<String>, Trouble> {
        let value = match self.given(field) {
            None => return Ok(Vec::new()),
            Some(Json::String(text)) if text.is_empty() => return Ok(Vec::new()),
            Some(value) => value,
        };
        if let Some(list) = strings(value) {
            return Ok(list);
        }
        let Json::String(text) = value else {
            return Err(wrong(field, value, "an array of strings"));
        };
        // A path may begin as JSON does: `[id]/page.tsx`.
        let inside = serde_json::from_str(text).ok().and_then(|inside: Json| strings(&inside));
        let (rule, message, list) = match inside {
            Some(list) => (JSON_TEXT, TAKEN_AS_JSON, list),
            None => (WRAPPED, TAKEN_AS_ONE, vec![text.clone()]),
        };
        self.repairs.add(rule, field, message);
        Ok(list)
    }

    /// A whole number within bounds.
    pub fn count(&mut self, field: &str, min: u64, max: u64) -> Result<Option<u64>, Trouble> {
        let Some(value) = self.given(field) else { return Ok(None) };
        let number = match value {
            Json::Number(number) => whole(number),
            Json::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let Some(number) = number else {
            return Err(wrong(field, value, &format!("a whole number from {min}")));
        };
        let (bounded, is_text) = (number.clamp(min, max), value.is_string());
        if is_text || bounded != number {
            self.repairs.add("number", field, format!("taken as {bounded}"));
        }
        Ok(Some(bounded))
    }

    /// True or false; false when it is left out.
    pub fn flag(&mut self, field: &str) -> Result<bool, Trouble> {
        match self.given(field) {
            None => Ok(false),
            Some(Json::Bool(flag)) => Ok(*flag),
            Some(Json::String(text)) if text == "true" || text == "false" => {
                let flag = text == "true";
                self.repairs.add(JSON_TEXT, field, format!("taken as {flag}"));
                Ok(flag)
            }
            Some(other) => Err(wrong(field, other, "true or false")),
        }
    }
}

fn strings(value: &Json) -> Option<Vec<String>> {
    let items = value.as_array()?.iter();
    items.map(|item| item.as_str().map(str::to_owned)).collect()
}

/// A number that is whole, also when it is written as `2.0`.
fn whole(number: &serde_json::Number) -> Option<u64> {
    let is_whole = |float: &f64| *float >= 0.0 && *float < 2_f64.powi(53) && float.fract() == 0.0;
    number.as_u64().or_else(|| number.as_f64().filter(is_whole).map(|float| float as u64))
}

/// Gives fields the names of the schema. A field that is there under its right name, too, stays.
pub fn rename(
    values: &mut Map<String, Json>,
    other_names: OtherNames,
    place: &str,
    repairs: &mut Repairs,
) {
    for (other, name) in other_names {
        let is_taken = values.get(*name).is_some_and(|value| !value.is_null());
        let is_given = values.get(*other).is_some_and(|value| !value.is_null());
        if is_taken || !is_given {
            continue;
        }
        if let Some(value) = values.shift_remove(*other) {
            values.insert((*name).to_owned(), value);
            repairs.add("other-name", &format!("{place}{other}"), format!("taken as {name}"));
        }
    }
}

/// A path as the session takes it: that of a `file:` URL, and without the `@` in front with which
/// people and agents mention files, unless something of that name is there.
pub fn plain_path(
    base: &Path,
    path: String,
    field: &str,
    repairs: &mut Repairs,
) -> Result<String, Trouble> {
    if path.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://")) {
        let Some(local) = path_of_url(&path) else {
            let noun = noun(&Json::String(path));
            return Err(malformed(format!("{field} is {noun}: expected a path")));
        };
        repairs.add("file-url", field, format!("taken as {local:?}"));
        return Ok(local);
    }
    let Some(plain) = path.strip_prefix('@').filter(|rest| !rest.starts_with(['/', '\\'])) else {
        return Ok(path);
    };
    let first_part = path.split(['/', '\\']).next().unwrap_or_default();
    let is_there = |name: &str| base.join(name).symlink_metadata().is_ok();
    if plain.is_empty() || is_there(&path) || is_there(first_part) {
        return Ok(path);
    }
    repairs.add("at-path", field, format!("taken as {plain:?}"));
    Ok(plain.to_owned())
}

/// JSON text of a model: of a field, or of all arguments.
pub fn parsed(text: &str, field: Option<&str>) -> Result<Json, Trouble> {
    if text.trim().is_empty() {
        return Ok(Json::Object(Map::new()));
    }
    serde_json::from_str(text).map_err(|cause| {
        let what = match field {
            None => "the arguments are".to_owned(),
            Some(field) => format!("the field {field} is a string that is"),
        };
        malformed(format!("{what} no JSON: {cause}"))
    })
}

pub fn malformed(message: String) -> Trouble {
    Trouble::Malformed(message)
}

fn wrong(field: &str, value: &Json, expected: &str) -> Trouble {
    malformed(format!("the field {field} is {}: expected {expected}", noun(value)))
}

pub fn missing(field: &str, what: &str, values: &Map<String, Json>) -> Trouble {
    let given: Vec<&str> = values.keys().map(String::as_str).collect();
    let given = if given.is_empty() { "none".to_owned() } else { given.join(", ") };
    malformed(format!("the field {field} is missing: expected {what} (fields given: {given})"))
}

/// How much of a string a message quotes.
const QUOTED_CHARACTERS: usize = 80;

/// How a message calls a value.
fn noun(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => format!("the number {number}"),
        Json::String(text) => {
            let cut = match text.char_indices().nth(QUOTED_CHARACTERS) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text.clone(),
            };
            format!("the string {}", Json::String(cut))
        }
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}
