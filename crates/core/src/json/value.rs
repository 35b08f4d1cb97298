//! JSON values of a request, and how they are written into a document.

use std::fmt::Write as _;

use super::canonical::quoted;
use super::data::{VALUE, Value};
use super::style::{Layout, Style};
use super::tree::{
    JsonGrammar, NodeId, ROOT, Tree, ValueKind, unescaped, unescaped_and_well_formed,
};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};

/// A JSON value as text: it keeps the order of keys and the spelling of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JsonValue(String);

impl JsonValue {
    /// Parses a value: strict JSON, without duplicate keys.
    pub fn parse(text: &str) -> Result<JsonValue> {
        let tree = Tree::parse(text, JsonGrammar::Strict, &Cancel::default())?;
        tree.unique_keys().map_err(|error| Error::new(Code::InvalidOperation, error.message))?;
        Ok(JsonValue(tree.slice(ROOT).to_owned()))
    }

    /// Converts a value of a request; refuses values that JSON lacks.
    pub fn of(value: &Value) -> Result<JsonValue> {
        let mut text = String::new();
        write_value(value, &mut text)?;
        JsonValue::parse(&text)
    }

    /// The text of the value.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The parsed value.
    pub(super) fn tree(&self) -> Tree<'_> {
        let tree = Tree::parse(&self.0, JsonGrammar::Strict, &Cancel::default());
        tree.expect("the text was read before")
    }
}

impl Value {
    /// Parses a request. The field `value` is kept as written: keys in their order, numbers with
    /// all digits.
    pub fn from_json(text: &str) -> Result<Value> {
        Value::read(text, JsonGrammar::Strict)
    }

    /// Like `from_json`, for text that a model wrote: strings may contain lone surrogates.
    pub fn from_model(text: &str) -> Result<Value> {
        Value::read(text, JsonGrammar::WithSurrogates)
    }

    /// Parses the longest valid prefix of a truncated or malformed text. Keys may be duplicated;
    /// lone surrogates are replaced.
    pub fn from_part(text: &str) -> Option<Value> {
        let string = |raw: &str| Value::String(unescaped(raw).into_owned());
        Tree::parse_part(text).map(|(tree, _)| request_value(&tree, ROOT, string))
    }

    fn read(text: &str, grammar: JsonGrammar) -> Result<Value> {
        let tree = Tree::parse(text, grammar, &Cancel::default())?;
        tree.unique_keys()?;
        Ok(request_value(&tree, ROOT, well_formed))
    }
}

/// The longest valid prefix of a truncated or malformed text.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialValue {
    /// Its value. Keys may be duplicated.
    pub value: Value,
    /// How many objects and arrays are open at its end, from the outermost.
    pub open: usize,
    /// Whether its last value is a string, number or word that ends with the text.
    pub ends_in_scalar: bool,
}

impl PartialValue {
    /// Parses a text; none if it has no value.
    pub fn of(text: &str) -> Option<PartialValue> {
        let (tree, open) = Tree::parse_part(text)?;
        let last = tree.count() - 1;
        let ends_in_scalar = !tree.kind(last).is_container() && tree.end(last) == text.len();
        Some(PartialValue { value: request_value(&tree, ROOT, well_formed), open, ends_in_scalar })
    }
}

/// Decodes a string literal. A string with a lone surrogate is ill-formed.
fn well_formed(raw: &str) -> Value {
    match unescaped_and_well_formed(raw) {
        (text, true) => Value::String(text.into_owned()),
        (_, false) => Value::IllFormed,
    }
}

/// Converts a parsed value; `string` decodes a string literal.
fn request_value(tree: &Tree<'_>, id: NodeId, string: fn(&str) -> Value) -> Value {
    match tree.kind(id) {
        ValueKind::Plain => match tree.slice(id) {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            number => Value::Number(number.parse().unwrap_or(f64::NAN)),
        },
        ValueKind::String => string(tree.slice(id)),
        ValueKind::Array => Value::Array(
            tree.children(id).map(|child| request_value(tree, child, string)).collect(),
        ),
        ValueKind::Object => {
            let field = |child| {
                let key = tree.key(child).unwrap_or_default().into_owned();
                let value = match key.as_str() {
                    VALUE => Value::Json(tree.slice(child).to_owned()),
                    _ => request_value(tree, child, string),
                };
                (key, value)
            };
            Value::Object(tree.children(id).map(field).collect())
        }
    }
}

fn write_value(value: &Value, out: &mut String) -> Result<()> {
    let refused = |what: &str| Err(Error::new(Code::InvalidOperation, what.to_owned()));
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) if !number.is_finite() => {
            return refused(&format!("{number} is not a JSON number"));
        }
        // An exponent is easier to read than a long run of zeros.
        Value::Number(number) if *number != 0.0 && !(1e-7..1e21).contains(&number.abs()) => {
            _ = write!(out, "{number:e}");
        }
        Value::Number(number) => _ = write!(out, "{}", number + 0.0),
        Value::String(text) => out.push_str(&quoted(text)),
        Value::Json(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                write_value(item, out)?;
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (at, (key, field)) in fields.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(&quoted(key));
                out.push(':');
                write_value(field, out)?;
            }
            out.push('}');
        }
        Value::IllFormed => {
            let message = "a string has a lone surrogate, which cannot be encoded";
            return Err(Error::new(Code::UnencodableText, message));
        }
        Value::Other(kind) => return refused(&format!("a {kind} is not a JSON value")),
    }
    Ok(())
}

/// Renders a value in a style; `indent` is the indentation of the line it starts in.
pub fn render(value: &JsonValue, style: &Style, layout: Layout, indent: &str) -> String {
    let tree = value.tree();
    let mut out = String::with_capacity(value.0.len());
    render_node(&tree, ROOT, style, layout, &mut indent.to_owned(), &mut out);
    out
}

fn render_node(
    tree: &Tree<'_>,
    id: NodeId,
    style: &Style,
    layout: Layout,
    indent: &mut String,
    out: &mut String,
) {
    let (open, close, pad) = match tree.kind(id) {
        ValueKind::Object => ('{', '}', &style.object_pad),
        ValueKind::Array => ('[', ']', &style.array_pad),
        ValueKind::String | ValueKind::Plain => {
            out.push_str(tree.slice(id));
            return;
        }
    };
    out.push(open);
    let outer = indent.len();
    indent.push_str(&style.unit);
    let mut is_first = true;
    for child in tree.children(id) {
        if !is_first {
            out.push(',');
        }
        match layout {
            Layout::Lines => {
                out.push_str(style.newline);
                out.push_str(indent);
            }
            Layout::Inline => out.push_str(if is_first { pad } else { &style.comma_gap }),
        }
        is_first = false;
        if let Some(key) = tree.raw_key(child) {
            out.push_str(key);
            out.push_str(&style.colon);
        }
        render_node(tree, child, style, layout, indent, out);
    }
    indent.truncate(outer);
    if !is_first {
        match layout {
            Layout::Lines => {
                out.push_str(style.newline);
                out.push_str(indent);
            }
            Layout::Inline => out.push_str(pad),
        }
    }
    out.push(close);
}
