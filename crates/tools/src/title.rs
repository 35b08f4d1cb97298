//! Titles of calls, from arguments that may not have arrived completely.

use hashline_core::host::Value;

use crate::table::Field;
use crate::text::parse_partial;

const TITLE_CHARS: usize = 100;
/// The rest of a longer text is not scanned.
const SCANNED_CHARS: usize = 2_000;

/// A text cut_line to one line of a terminal.
pub fn one_line(text: &str) -> String {
    let mut line = String::new();
    for char in text.chars().take(SCANNED_CHARS) {
        match char {
            _ if char.is_whitespace() || char.is_control() || char == '\u{feff}' => {
                if !line.ends_with(' ') {
                    line.push(' ');
                }
            }
            // Bidirectional controls would reorder the line; U+FFFD replaces a lone surrogate.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | char::REPLACEMENT_CHARACTER => {}
            _ => line.push(char),
        }
    }
    let line = line.trim();
    match line.char_indices().nth(TITLE_CHARS) {
        None => line.to_owned(),
        Some(_) => line.chars().take(TITLE_CHARS - 1).chain(['…']).collect(),
    }
}

/// The fields of an object that have arrived so far.
#[derive(Debug, Default)]
pub struct PartialArguments(Vec<(String, Value)>);

impl PartialArguments {
    /// The fields of an object or of its JSON text; none for any other value.
    pub fn of(value: &Value) -> PartialArguments {
        match value {
            Value::Object(fields) => PartialArguments(fields.clone()),
            Value::String(text) => match parse_partial(text) {
                Some(Value::Object(fields)) => PartialArguments(fields),
                _ => PartialArguments::default(),
            },
            _ => PartialArguments::default(),
        }
    }

    /// The fields of an object.
    pub fn of_object(value: &Value) -> Option<PartialArguments> {
        matches!(value, Value::Object(_)).then(|| PartialArguments::of(value))
    }

    /// The first usable value under the field's name or one of its aliases.
    fn find<T>(&self, field: &Field, convert: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let mut names = std::iter::once(&field.name).chain(field.aliases);
        names.find_map(|name| {
            let (_, value) = self.0.iter().rfind(|(known, _)| known == name)?;
            convert(value)
        })
    }

    /// The string or number in a field.
    pub fn scalar(&self, field: &Field) -> Option<String> {
        self.find(field, |value| match value {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    /// Whether a field is true.
    pub fn flag(&self, field: &Field) -> bool {
        self.find(field, |value| Some(matches!(value, Value::Bool(true)))).unwrap_or_default()
    }

    /// The items of the list in a field.
    pub fn list(&self, field: &Field) -> Vec<Value> {
        let items = self.find(field, |value| {
            let held = match value {
                Value::String(text) => parse_partial(text)?,
                other => other.clone(),
            };
            match held {
                Value::Array(items) => Some(items),
                one @ Value::Object(_) => Some(vec![one]),
                _ => None,
            }
        });
        items.unwrap_or_default()
    }

    /// The strings of the list in a field.
    pub fn strings(&self, field: &Field) -> Vec<String> {
        let word = |item| match item {
            Value::String(text) => Some(text),
            _ => None,
        };
        self.list(field).into_iter().filter_map(word).collect()
    }
}
