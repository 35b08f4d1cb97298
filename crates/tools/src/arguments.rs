//! Arguments as a model wrote them → typed values. A deviation whose meaning is certain is repaired
//! and reported; anything else is refused in terms of the schema.

use hashline_core::host::Value;
use hashline_core::{Code, Error};
use serde::Serialize;
use serde_json::Value as Json;

use crate::table::{Field, names_of};
use crate::text::{MAX_DEPTH, MAX_VALUES, Unreadable, parse_json, without_fence};

/// Why a call failed.
#[derive(Debug)]
pub enum CallError {
    /// The arguments do not match the schema.
    Malformed(String),
    /// The core refused the call or failed.
    Engine(Error),
}

impl From<Error> for CallError {
    fn from(error: Error) -> CallError {
        CallError::Engine(error)
    }
}

impl From<Unreadable> for CallError {
    fn from(why: Unreadable) -> CallError {
        malformed(match why {
            Unreadable::DuplicateKey(message) => {
                return CallError::Engine(Error::argument(message));
            }
            Unreadable::TooDeep => {
                format!("the arguments nest deeper than {MAX_DEPTH} levels, or contain a cycle")
            }
            Unreadable::TooMany => format!("the arguments have more than {MAX_VALUES} values"),
            Unreadable::InvalidJson(cause) => format!("the arguments are {cause}"),
            Unreadable::NoData => "the arguments cannot be read: expected plain data".to_owned(),
        })
    }
}

/// The error for arguments that do not match the schema.
pub fn malformed(message: String) -> CallError {
    CallError::Malformed(message)
}

/// The error for a string with a lone surrogate.
pub fn lone_surrogate(field: &str) -> CallError {
    let message = format!("the field {field} has a lone surrogate, which cannot be encoded");
    CallError::Engine(Error::new(Code::UnencodableText, message))
}

/// An argument that did not match the schema and was accepted anyway, in its certain meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// Which kind of repair.
    pub rule: Rule,
    /// The field: `operations[0].path`.
    pub field: String,
    /// What was done, in a few words.
    pub message: String,
}

/// The kinds of repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A string that holds the expected value as JSON text.
    JsonText,
    /// A string that is not JSON, in a field for the JSON text of a value.
    JsonString,
    /// JSON inside a Markdown code block.
    CodeFence,
    /// A single value in place of a list.
    Wrapped,
    /// A list in place of a single value.
    Unwrapped,
    /// A path begins with the `@` of a mention.
    AtPath,
    /// A path is a `file:` URL.
    FileUrl,
    /// A path ends in line numbers.
    PathLines,
    /// A path has blanks or line ends around it.
    PathBlanks,
    /// A path has the separators of another system.
    PathSeparator,
    /// A field under the name that other tools use.
    OtherName,
    /// An operation without `op` whose fields belong to only one operation.
    ImpliedOp,
    /// A number in another form, or out of bounds.
    Number,
    /// The `path` of `move_file`, which the session calls `from`.
    MovePath,
    /// A field is empty.
    Unused,
}

/// The repairs of one call.
#[derive(Debug, Default)]
pub struct Repairs(Vec<Repair>);

impl Repairs {
    /// Records a repair.
    pub fn add(&mut self, rule: Rule, field: &str, message: impl Into<String>) {
        self.0.push(Repair { rule, field: field.to_owned(), message: message.into() });
    }

    /// All repairs, in the order in which they were made.
    pub fn all(&self) -> &[Repair] {
        &self.0
    }

    /// The repairs that the model should read. Empty fields are not reported because strict schemas
    /// demand them, nor is `path` of `move_file`, which is what the schema says.
    pub fn notes(&self) -> Vec<String> {
        let is_reported = |repair: &&Repair| !matches!(repair.rule, Rule::Unused | Rule::MovePath);
        let note = |Repair { field, message, .. }: &Repair| format!("{field}: {message}");
        self.0.iter().filter(is_reported).map(note).collect()
    }

    fn unused(&mut self, field: &str) {
        self.add(Rule::Unused, field, "omitted because it is empty");
    }
}

pub const TAKEN_AS_JSON: &str = "the string was parsed as JSON";
pub const TAKEN_AS_ONE: &str = "used as an array of one";

/// The fields of an object, in the order in which the model wrote them.
#[derive(Clone, Debug, Default)]
pub struct Fields(pub Vec<(String, Value)>);

impl Fields {
    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// The value of a field, unless it is null.
    pub fn given(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| **value != Value::Null)
    }

    /// The value of a field, if it is a string.
    pub fn string(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Removes a field and returns its value.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.0.iter().position(|(field, _)| field == name)?;
        Some(self.0.remove(at).1)
    }

    /// Sets the value of a field.
    pub fn put(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(field, _)| field == name) {
            Some((_, held)) => *held = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Renames aliases to the names of the table. A field that is given under two names is refused.
    /// Reports put `prefix` in front of the names.
    pub fn rename(
        &mut self,
        table: &[Field],
        prefix: &str,
        repairs: &mut Repairs,
    ) -> Result<(), CallError> {
        for field in table {
            self.rename_one(field.name, field.aliases, prefix, repairs)?;
        }
        Ok(())
    }

    /// Renames the aliases of one field.
    pub fn rename_one(
        &mut self,
        name: &str,
        aliases: &[&str],
        prefix: &str,
        repairs: &mut Repairs,
    ) -> Result<(), CallError> {
        for other in aliases {
            if self.get(other).is_none_or(is_null_or_empty) {
                if self.take(other).is_some() {
                    repairs.unused(&format!("{prefix}{other}"));
                }
                continue;
            }
            if !self.get(name).is_none_or(is_null_or_empty) {
                let whole = match prefix.trim_end_matches('.') {
                    "" => String::new(),
                    prefix => format!("{prefix}: "),
                };
                return Err(malformed(format!(
                    "{whole}{other} and {name} are two names of one field: give only {name}"
                )));
            }
            if let Some(value) = self.take(other) {
                self.put(name, value);
                repairs.add(
                    Rule::OtherName,
                    &format!("{prefix}{other}"),
                    format!("taken as {name}"),
                );
            }
        }
        Ok(())
    }

    /// The names of the fields, for a message.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

/// Whether a value is null or empty, which no field distinguishes from an absent one.
pub fn is_null_or_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Whether a value only fills in a field that the operation does not have.
pub fn is_unset(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => !flag,
        Value::String(text) => text.is_empty() || text == "false",
        Value::Json(text) => text == "null" || text == "\"\"",
        other => is_null_or_empty(other),
    }
}

/// The arguments of a call, with the repairs made to them.
#[derive(Debug)]
pub struct Arguments<'a> {
    pub fields: Fields,
    pub repairs: &'a mut Repairs,
}

impl<'a> Arguments<'a> {
    /// The fields of an object or of its JSON text.
    pub fn of(
        given: Result<Value, Unreadable>,
        repairs: &'a mut Repairs,
    ) -> Result<Arguments<'a>, CallError> {
        let value = match given? {
            Value::String(text) => parse_arguments(&text, repairs)?,
            other => {
                check_data(&other, 0, &mut 0)?;
                other
            }
        };
        match value {
            Value::Null => Ok(Arguments { fields: Fields::default(), repairs }),
            Value::IllFormed => Err(lone_surrogate("arguments")),
            Value::Object(fields) => Ok(Arguments { fields: Fields(fields), repairs }),
            other => {
                let noun = noun(&other);
                Err(malformed(format!("the arguments are {noun}: expected an object")))
            }
        }
    }

    /// Renames aliases, drops empty fields and refuses unknown ones: a call that silently ignored a
    /// field would do something else than the model asked for.
    pub fn normalize(&mut self, table: &[Field]) -> Result<(), CallError> {
        self.fields.rename(table, "", self.repairs)?;
        let is_known = |name: &str| table.iter().any(|field| field.name == name);
        let mut unknown = None;
        let repairs = &mut *self.repairs;
        self.fields.0.retain(|(name, value)| {
            let is_unused = *value == Value::Null || (!is_known(name) && is_unset(value));
            if is_unused {
                repairs.unused(name);
            } else if !is_known(name) && unknown.is_none() {
                unknown = Some(name.clone());
            }
            !is_unused
        });
        match unknown {
            None => Ok(()),
            Some(name) => {
                let known = names_of(table);
                let known = if known.is_empty() { "no fields" } else { &known };
                Err(malformed(format!("there is no field {name}: expected {known}")))
            }
        }
    }

    /// A string, if the field is given.
    pub fn optional_text(&self, field: &str) -> Result<Option<String>, CallError> {
        match self.fields.given(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::IllFormed) => Err(lone_surrogate(field)),
            Some(other) => Err(wrong(field, other, "a string")),
        }
    }

    /// A required string; `what` describes it in the error.
    pub fn text(&self, field: &str, what: &str) -> Result<String, CallError> {
        let text = self.optional_text(field)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| missing(field, what, &self.fields))
    }

    /// A list of strings: an array, the JSON text of an array, or a single string.
    pub fn texts(&mut self, field: &str) -> Result<Vec<String>, CallError> {
        let value = match self.fields.given(field) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) if text.is_empty() => return Ok(Vec::new()),
            Some(value) => value,
        };
        if let Some(list) = strings(value, field)? {
            return Ok(list);
        }
        let text = match value {
            Value::String(text) => text.clone(),
            Value::IllFormed => return Err(lone_surrogate(field)),
            other => return Err(wrong(field, other, "an array of strings")),
        };
        // A path can look like the start of JSON: `[id]/page.tsx`.
        let content = without_fence(&text).unwrap_or(&text);
        let content =
            parse_json(content).ok().map(|content| strings(&content, field)).transpose()?;
        let (rule, message, list) = match content.flatten() {
            Some(list) => (Rule::JsonText, TAKEN_AS_JSON, list),
            None => (Rule::Wrapped, TAKEN_AS_ONE, vec![text]),
        };
        self.repairs.add(rule, field, message);
        Ok(list)
    }

    /// A whole number within bounds.
    pub fn count(&mut self, field: &str, min: u64, max: u64) -> Result<Option<u64>, CallError> {
        let Some(value) = self.fields.given(field) else { return Ok(None) };
        let Some(number) = whole_number(value) else {
            return Err(wrong(field, value, &format!("a whole number from {min}")));
        };
        let bounded = number.clamp(min, max);
        if matches!(value, Value::String(_)) || bounded != number {
            self.repairs.add(Rule::Number, field, format!("taken as {bounded}"));
        }
        Ok(Some(bounded))
    }

    /// Two whole numbers from 1: an array, or the JSON text of an array.
    pub fn pair(&mut self, field: &str) -> Result<Option<[u64; 2]>, CallError> {
        let value = match self.fields.given(field) {
            None => return Ok(None),
            Some(Value::Array(items)) if items.is_empty() => return Ok(None),
            Some(Value::String(text)) => match parse_json(text) {
                Ok(content @ Value::Array(_)) => {
                    self.repairs.add(Rule::JsonText, field, TAKEN_AS_JSON);
                    content
                }
                _ => Value::String(text.clone()),
            },
            Some(value) => value.clone(),
        };
        if let Value::Array(items) = &value
            && let [first, second] = items.as_slice()
            && let (Some(first), Some(second)) = (whole_number(first), whole_number(second))
        {
            return Ok(Some([first, second]));
        }
        let noun = noun(&value);
        let message = format!("the field {field} is {noun}: expected two whole numbers from 1");
        Err(malformed(message))
    }

    /// A boolean; false when the field is omitted.
    pub fn flag(&mut self, field: &str) -> Result<bool, CallError> {
        match self.fields.given(field) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(word)) if word == "true" || word == "false" => {
                let flag = word == "true";
                self.repairs.add(Rule::JsonText, field, format!("taken as {flag}"));
                Ok(flag)
            }
            Some(other) => Err(wrong(field, other, "true or false")),
        }
    }
}

/// Refuses values that JSON does not have, and values that are too deep or too many.
fn check_data(value: &Value, depth: usize, count: &mut usize) -> Result<(), CallError> {
    *count += 1;
    if *count > MAX_VALUES {
        return Err(Unreadable::TooMany.into());
    }
    let is_nested = matches!(value, Value::Array(_) | Value::Object(_));
    if is_nested && depth >= MAX_DEPTH {
        return Err(Unreadable::TooDeep.into());
    }
    match value {
        Value::Other(kind) => {
            Err(malformed(format!("the arguments contain a {kind}, which JSON does not have")))
        }
        Value::Array(items) => items.iter().try_for_each(|item| check_data(item, depth + 1, count)),
        Value::Object(fields) => {
            fields.iter().try_for_each(|(_, one)| check_data(one, depth + 1, count))
        }
        _ => Ok(()),
    }
}

/// Arguments as JSON text. This is not reported as a repair: models send arguments as text.
fn parse_arguments(text: &str, repairs: &mut Repairs) -> Result<Value, CallError> {
    match parse_text(text, "arguments", repairs)? {
        Value::String(text) => {
            repairs.add(Rule::JsonText, "arguments", TAKEN_AS_JSON);
            parse_text(&text, "arguments", repairs)
        }
        value => Ok(value),
    }
}

/// Parses JSON text, with or without a code block around it. A blank text is an empty object.
fn parse_text(text: &str, field: &str, repairs: &mut Repairs) -> Result<Value, CallError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Vec::new()));
    }
    let fenced = without_fence(text);
    if fenced.is_some() {
        repairs.add(Rule::CodeFence, field, "taken without the code block around it");
    }
    parse_json(fenced.unwrap_or(text)).map_err(|why| match why {
        Unreadable::InvalidJson(cause) if field != "arguments" => {
            malformed(format!("the field {field} is a string that is {cause}"))
        }
        Unreadable::DuplicateKey(message) if field != "arguments" => {
            CallError::Engine(Error::argument(format!("{field}: {message}")))
        }
        other => other.into(),
    })
}

/// Parses the JSON text in a field, which may be encoded twice.
pub fn parse_nested(text: &str, field: &str, repairs: &mut Repairs) -> Result<Value, CallError> {
    let mut value = parse_text(text, field, repairs)?;
    if let Value::String(text) = &value {
        value = parse_text(text, field, repairs)?;
    }
    repairs.add(Rule::JsonText, field, TAKEN_AS_JSON);
    Ok(value)
}

/// The items of an array, if all of them are strings.
fn strings(value: &Value, field: &str) -> Result<Option<Vec<String>>, CallError> {
    let Value::Array(items) = value else { return Ok(None) };
    if items.contains(&Value::IllFormed) {
        return Err(lone_surrogate(field));
    }
    let text = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    Ok(items.iter().map(text).collect())
}

/// JavaScript's `Number.MAX_SAFE_INTEGER`.
pub const MAX_COUNT: u64 = (1 << 53) - 1;

/// A whole number, or a string of its digits. Larger numbers become [`MAX_COUNT`].
pub fn whole_number(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => *number,
        Value::String(text) => {
            let digits = text.trim();
            let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_whole.then(|| digits.parse().ok())??
        }
        _ => return None,
    };
    let is_whole = number >= 0.0 && number.is_finite() && number.fract() == 0.0;
    is_whole.then_some((number as u64).min(MAX_COUNT))
}

pub fn wrong(field: &str, value: &Value, expected: &str) -> CallError {
    malformed(format!("the field {field} is {}: expected {expected}", noun(value)))
}

pub fn missing(field: &str, what: &str, fields: &Fields) -> CallError {
    let given = fields.names();
    malformed(format!("the field {field} is missing: expected {what} (fields given: {given})"))
}

/// Messages quote at most this much of a string.
const QUOTED_CHARS: usize = 80;

/// A string in quotes, cut_line if necessary.
pub fn quoted(text: &str) -> String {
    let cut = match text.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    Json::String(cut).to_string()
}

/// The description of a value in messages.
pub fn noun(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) if number.is_infinite() => {
            format!("the number {}Infinity", if *number < 0.0 { "-" } else { "" })
        }
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::IllFormed => "a string with a lone surrogate".to_owned(),
        Value::Json(text) => format!("the JSON value {}", quoted(text)),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Other(kind) => format!("a {kind}"),
    }
}
