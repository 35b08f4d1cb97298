//! What a model wrote as arguments → values of the right type. What is plainly meant is taken as
//! meant, and each such repair is reported; the rest is refused in the words of the schema.

use hashline_core::host::Value;
use hashline_core::{Code, Error};
use serde::Serialize;
use serde_json::Value as Json;

use crate::table::{Field, names_of};
use crate::text::{MAX_DEPTH, MAX_VALUES, Unreadable, parsed, without_fence};

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

impl From<Unreadable> for Trouble {
    fn from(why: Unreadable) -> Trouble {
        malformed(match why {
            Unreadable::KeyTwice(message) => return Trouble::Engine(Error::argument(message)),
            Unreadable::TooDeep => {
                format!("the arguments nest deeper than {MAX_DEPTH} levels, or have no end")
            }
            Unreadable::TooMany => format!("the arguments hold over {MAX_VALUES} values"),
            Unreadable::NoJson(cause) => format!("the arguments are {cause}"),
            Unreadable::NoData => "the arguments cannot be read: expected plain data".to_owned(),
        })
    }
}

/// The refusal of arguments.
pub fn malformed(message: String) -> Trouble {
    Trouble::Malformed(message)
}

/// The refusal of a string with half a character in it.
pub fn half_a_character(field: &str) -> Trouble {
    let message = format!("the field {field} holds a lone surrogate, which no file can");
    Trouble::Engine(Error::new(Code::UnencodableText, message))
}

/// Something that a model wrote in another form than the schema says, and that was taken as meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// What kind of thing.
    pub rule: Rule,
    /// Where in the arguments: `operations[0].path`.
    pub field: String,
    /// What was done, in a few words.
    pub message: String,
}

/// The kinds of repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A string holds the JSON of what belongs there.
    JsonText,
    /// A string that is no JSON where a value of a document belongs.
    JsonString,
    /// JSON stands in a block of code.
    CodeFence,
    /// One thing stands where a list belongs.
    Wrapped,
    /// A list stands where one thing belongs.
    Unwrapped,
    /// A path begins with the `@` of a mention.
    AtPath,
    /// A path is a `file:` URL.
    FileUrl,
    /// A field has the name that other tools have for it.
    OtherName,
    /// An operation has no `op`, and the fields of one alone.
    ImpliedOp,
    /// A number is written otherwise, or out of bounds.
    Number,
    /// What a move calls `path` is `from` for the session.
    MovePath,
    /// A field is empty.
    Unused,
}

/// The repairs of one call.
#[derive(Debug, Default)]
pub struct Repairs(Vec<Repair>);

impl Repairs {
    /// Notes a repair.
    pub fn add(&mut self, rule: Rule, field: &str, message: impl Into<String>) {
        self.0.push(Repair { rule, field: field.to_owned(), message: message.into() });
    }

    /// All of them.
    pub fn all(&self) -> &[Repair] {
        &self.0
    }

    /// What the model is told of them. What the schema itself asks for is not worth a word: empty
    /// fields, where it is strict.
    pub fn notes(&self) -> Vec<String> {
        let is_worth = |one: &&Repair| !matches!(one.rule, Rule::Unused | Rule::MovePath);
        let note = |Repair { field, message, .. }: &Repair| format!("{field}: {message}");
        self.0.iter().filter(is_worth).map(note).collect()
    }

    fn unused(&mut self, field: &str) {
        self.add(Rule::Unused, field, "left out, since empty");
    }
}

pub const TAKEN_AS_JSON: &str = "taken as the JSON that the string holds";
pub const TAKEN_AS_ONE: &str = "taken as an array of one";

/// The fields of an object as a model wrote it, in order.
#[derive(Clone, Debug, Default)]
pub struct Fields(pub Vec<(String, Value)>);

impl Fields {
    /// What a field holds.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// What a field holds, if that is not null.
    pub fn given(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| **value != Value::Null)
    }

    /// The string that a field holds.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Takes a field out.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.0.iter().position(|(field, _)| field == name)?;
        Some(self.0.remove(at).1)
    }

    /// Gives a field a value.
    pub fn put(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(field, _)| field == name) {
            Some((_, held)) => *held = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Gives the fields of a table their names. A field that is given under two names is refused;
    /// `place` stands in front of names in reports.
    pub fn rename(
        &mut self,
        table: &[Field],
        place: &str,
        repairs: &mut Repairs,
    ) -> Result<(), Trouble> {
        for field in table {
            self.rename_one(field.name, field.other_names, place, repairs)?;
        }
        Ok(())
    }

    /// Gives one field its name.
    pub fn rename_one(
        &mut self,
        name: &str,
        other_names: &[&str],
        place: &str,
        repairs: &mut Repairs,
    ) -> Result<(), Trouble> {
        for other in other_names {
            if self.get(other).is_none_or(says_nothing) {
                if self.take(other).is_some() {
                    repairs.unused(&format!("{place}{other}"));
                }
                continue;
            }
            if !self.get(name).is_none_or(says_nothing) {
                let whole = match place.trim_end_matches('.') {
                    "" => String::new(),
                    place => format!("{place}: "),
                };
                return Err(malformed(format!(
                    "{whole}{other} and {name} are two names of one field: give {name} alone"
                )));
            }
            if let Some(value) = self.take(other) {
                self.put(name, value);
                repairs.add(
                    Rule::OtherName,
                    &format!("{place}{other}"),
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

/// Whether what a field holds cannot be told from nothing, whatever the field.
pub fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Whether a field that an operation does not have is left empty.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => !flag,
        Value::String(text) => text.is_empty() || text == "false",
        Value::Json(text) => text == "null" || text == "\"\"",
        other => says_nothing(other),
    }
}

/// The arguments of a call, and where repairs are noted.
#[derive(Debug)]
pub struct Arguments<'a> {
    pub fields: Fields,
    pub repairs: &'a mut Repairs,
}

impl<'a> Arguments<'a> {
    /// The fields of an object, or of its text.
    pub fn of(
        given: Result<Value, Unreadable>,
        repairs: &'a mut Repairs,
    ) -> Result<Arguments<'a>, Trouble> {
        let value = match given? {
            Value::String(text) => whole(&text, repairs)?,
            other => {
                check_data(&other, 0, &mut 0)?;
                other
            }
        };
        match value {
            Value::Null => Ok(Arguments { fields: Fields::default(), repairs }),
            Value::IllFormed => Err(half_a_character("arguments")),
            Value::Object(fields) => Ok(Arguments { fields: Fields(fields), repairs }),
            other => {
                let noun = noun(&other);
                Err(malformed(format!("the arguments are {noun}: expected an object")))
            }
        }
    }

    /// Gives fields the names of the table, leaves out empty ones, and refuses those that the
    /// table does not have: a call that does less than a model wrote may do harm.
    pub fn settle(&mut self, table: &[Field]) -> Result<(), Trouble> {
        self.fields.rename(table, "", self.repairs)?;
        let is_known = |name: &str| table.iter().any(|field| field.name == name);
        let mut strange = None;
        let repairs = &mut *self.repairs;
        self.fields.0.retain(|(name, value)| {
            let is_unused = *value == Value::Null || (!is_known(name) && is_empty(value));
            if is_unused {
                repairs.unused(name);
            } else if !is_known(name) && strange.is_none() {
                strange = Some(name.clone());
            }
            !is_unused
        });
        match strange {
            None => Ok(()),
            Some(name) => {
                let known = names_of(table);
                Err(malformed(format!("there is no field {name}: expected {known}")))
            }
        }
    }

    /// A string that may be left out.
    pub fn optional_text(&self, field: &str) -> Result<Option<String>, Trouble> {
        match self.fields.given(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::IllFormed) => Err(half_a_character(field)),
            Some(other) => Err(wrong(field, other, "a string")),
        }
    }

    /// A string; `what` says what it is.
    pub fn text(&self, field: &str, what: &str) -> Result<String, Trouble> {
        let text = self.optional_text(field)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| missing(field, what, &self.fields))
    }

    /// A list of strings: an array, JSON text of one, or a single one.
    pub fn texts(&mut self, field: &str) -> Result<Vec<String>, Trouble> {
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
            Value::IllFormed => return Err(half_a_character(field)),
            other => return Err(wrong(field, other, "an array of strings")),
        };
        // A path may begin as JSON does: `[id]/page.tsx`.
        let inside = without_fence(&text).unwrap_or(&text);
        let inside = parsed(inside).ok().map(|inside| strings(&inside, field)).transpose()?;
        let (rule, message, list) = match inside.flatten() {
            Some(list) => (Rule::JsonText, TAKEN_AS_JSON, list),
            None => (Rule::Wrapped, TAKEN_AS_ONE, vec![text]),
        };
        self.repairs.add(rule, field, message);
        Ok(list)
    }

    /// A whole number within bounds.
    pub fn count(&mut self, field: &str, min: u64, max: u64) -> Result<Option<u64>, Trouble> {
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

    /// Two whole numbers from 1: an array, or JSON text of one.
    pub fn pair(&mut self, field: &str) -> Result<Option<[u64; 2]>, Trouble> {
        let value = match self.fields.given(field) {
            None => return Ok(None),
            Some(Value::Array(items)) if items.is_empty() => return Ok(None),
            Some(Value::String(text)) => match parsed(text) {
                Ok(inside @ Value::Array(_)) => {
                    self.repairs.add(Rule::JsonText, field, TAKEN_AS_JSON);
                    inside
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

    /// True or false; false when it is left out.
    pub fn flag(&mut self, field: &str) -> Result<bool, Trouble> {
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

/// Refuses what JSON cannot say.
fn check_data(value: &Value, depth: usize, count: &mut usize) -> Result<(), Trouble> {
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
            Err(malformed(format!("the arguments hold a {kind}: expected what JSON can say")))
        }
        Value::Array(items) => items.iter().try_for_each(|one| check_data(one, depth + 1, count)),
        Value::Object(fields) => {
            fields.iter().try_for_each(|(_, one)| check_data(one, depth + 1, count))
        }
        _ => Ok(()),
    }
}

/// Arguments that are a text. That they are one needs no word: so they come from the model.
fn whole(text: &str, repairs: &mut Repairs) -> Result<Value, Trouble> {
    match inside(text, "arguments", repairs)? {
        Value::String(text) => {
            repairs.add(Rule::JsonText, "arguments", TAKEN_AS_JSON);
            inside(&text, "arguments", repairs)
        }
        value => Ok(value),
    }
}

/// The value that a text holds, which may be a block of code; that of no text is an empty object.
fn inside(text: &str, field: &str, repairs: &mut Repairs) -> Result<Value, Trouble> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Vec::new()));
    }
    let fenced = without_fence(text);
    if fenced.is_some() {
        repairs.add(Rule::CodeFence, field, "taken without the block of code around it");
    }
    parsed(fenced.unwrap_or(text)).map_err(|why| match why {
        Unreadable::NoJson(cause) if field != "arguments" => {
            malformed(format!("the field {field} is a string that is {cause}"))
        }
        Unreadable::KeyTwice(message) if field != "arguments" => {
            Trouble::Engine(Error::argument(format!("{field}: {message}")))
        }
        other => other.into(),
    })
}

/// The value in a field that holds JSON text, which may be encoded twice.
pub fn decoded(text: &str, field: &str, repairs: &mut Repairs) -> Result<Value, Trouble> {
    let mut value = inside(text, field, repairs)?;
    if let Value::String(text) = &value {
        value = inside(text, field, repairs)?;
    }
    repairs.add(Rule::JsonText, field, TAKEN_AS_JSON);
    Ok(value)
}

/// The strings of an array of nothing else.
fn strings(value: &Value, field: &str) -> Result<Option<Vec<String>>, Trouble> {
    let Value::Array(items) = value else { return Ok(None) };
    if items.contains(&Value::IllFormed) {
        return Err(half_a_character(field));
    }
    let text = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    Ok(items.iter().map(text).collect())
}

/// The largest number that JavaScript counts to.
pub const MAX_COUNT: u64 = (1 << 53) - 1;

/// A whole number, also as its digits.
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
    // What is larger becomes the largest.
    is_whole.then_some((number as u64).min(MAX_COUNT))
}

pub fn wrong(field: &str, value: &Value, expected: &str) -> Trouble {
    malformed(format!("the field {field} is {}: expected {expected}", noun(value)))
}

pub fn missing(field: &str, what: &str, fields: &Fields) -> Trouble {
    let given = fields.names();
    malformed(format!("the field {field} is missing: expected {what} (fields given: {given})"))
}

/// How much of a string a message quotes.
const QUOTED_CHARS: usize = 80;

/// A string in quotes, if need be cut.
pub fn quoted(text: &str) -> String {
    let cut = match text.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    Json::String(cut).to_string()
}

/// How a message calls a value.
pub fn noun(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) if number.is_infinite() => {
            format!("the number {}Infinity", if *number < 0.0 { "-" } else { "" })
        }
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::IllFormed => "a string with half a character in it".to_owned(),
        Value::Json(text) => format!("the JSON value {}", quoted(text)),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Other(kind) => format!("a {kind}"),
    }
}
