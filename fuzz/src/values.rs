//! Generates values that a model might send: valid words in invalid positions.

use arbitrary::{Result, Unstructured};
use hashline_core::host::Value;
use hashline_lines::dialect::Dialect;

/// Field names and values of all three request shapes.
const WORDS: [&str; 62] = [
    "operations",
    "edits",
    "path",
    "op",
    "set_line",
    "replace_range",
    "insert_after",
    "insert_before",
    "delete",
    "replace_text",
    "add_file",
    "move_file",
    "delete_file",
    "replace_lines",
    "replace",
    "set",
    "append",
    "prepend",
    "insert",
    "replaceText",
    "set_path",
    "insert_at_path",
    "delete_path",
    "value",
    "key",
    "index",
    "$.a[0]:b2",
    "anchor",
    "start_anchor",
    "end_anchor",
    "range",
    "text",
    "new_text",
    "old_text",
    "all",
    "content",
    "from",
    "to",
    "from_path",
    "to_path",
    "tag",
    "first",
    "last",
    "after",
    "before",
    "line",
    "hash",
    "rename",
    "verbatim",
    "block",
    "BOF",
    "EOF",
    "a.txt",
    "",
    "one",
    "two",
    "1:60",
    "2:bf",
    "1:60-2:bf",
    "1#ZP",
    "+one\n+two",
    "\r\n",
];

/// The maximum nesting depth of a value: patch, list, operation, body, tag, and one invalid level.
const MAX_DEPTH: usize = 6;

fn word(input: &mut Unstructured<'_>) -> Result<String> {
    Ok(if input.ratio(1, 10)? {
        input.arbitrary::<&str>()?.to_owned()
    } else {
        (*input.choose(&WORDS)?).to_owned()
    })
}

/// Any value.
pub fn value(input: &mut Unstructured<'_>, depth: usize) -> Result<Value> {
    let kinds = if depth < MAX_DEPTH { 10 } else { 7 };
    Ok(match input.int_in_range(0..=kinds)? {
        0 => Value::Null,
        1 => Value::Bool(input.arbitrary()?),
        2 => Value::Number(input.arbitrary()?),
        3 => Value::IllFormed,
        4 => Value::Other("function"),
        5..=7 => Value::String(word(input)?),
        8 => Value::Array(
            (0..input.int_in_range(0..=4)?)
                .map(|_| value(input, depth + 1))
                .collect::<Result<_>>()?,
        ),
        _ => Value::Object(
            (0..input.int_in_range(0..=6)?)
                .map(|_| Ok((word(input)?, value(input, depth + 1)?)))
                .collect::<Result<_>>()?,
        ),
    })
}

/// A nearly valid patch: known operations with their fields, some of them invalid.
pub fn patch(input: &mut Unstructured<'_>, dialect: &Dialect) -> Result<Value> {
    let main = input.arbitrary()?;
    let mut items = Vec::new();
    for _ in 0..input.int_in_range(0..=4)? {
        items.push(if main { operation(input, dialect)? } else { edit(input, dialect)? });
    }
    let mut fields = if main {
        vec![("operations".to_owned(), Value::Array(items))]
    } else {
        vec![("path".to_owned(), text("a.txt")), ("edits".to_owned(), Value::Array(items))]
    };
    if input.ratio(1, 8)? {
        fields.push((word(input)?, value(input, 3)?));
    }
    Ok(Value::Object(fields))
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn anchor(input: &mut Unstructured<'_>, dialect: &Dialect) -> Result<Value> {
    let line = input.int_in_range(0..=6)?;
    let hash = input.int_in_range(0..=dialect.blank_hash().unwrap_or(dialect.modulus() - 1))?;
    Ok(match input.int_in_range(0..=9)? {
        0 => value(input, MAX_DEPTH)?,
        1 => Value::Object(vec![
            ("line".to_owned(), Value::Number(line as f64)),
            ("hash".to_owned(), Value::String(dialect.hash_text(hash))),
        ]),
        _ => Value::String(dialect.anchor_text(line, hash)),
    })
}

fn lines(input: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match input.int_in_range(0..=4)? {
        0 => Value::Null,
        1 => Value::Array(vec![Value::String(word(input)?), Value::String(word(input)?)]),
        2 => value(input, MAX_DEPTH - 1)?,
        _ => Value::String(word(input)?),
    })
}

fn fields(
    input: &mut Unstructured<'_>,
    dialect: &Dialect,
    names: &[&str],
) -> Result<Vec<(String, Value)>> {
    let mut fields = Vec::new();
    for &name in names {
        if input.ratio(1, 20)? {
            continue;
        }
        let (name, value) = match name {
            "path_anchor" => ("anchor", path_anchor(input)?),
            _ => (name, field(input, dialect, name)?),
        };
        fields.push((name.to_owned(), value));
    }
    Ok(fields)
}

fn field(input: &mut Unstructured<'_>, dialect: &Dialect, name: &str) -> Result<Value> {
    Ok(match name {
        "text" | "new_text" | "old_text" | "content" => lines(input)?,
        "path" | "from" | "to" => text("a.txt"),
        "all" | "verbatim" | "block" => Value::Bool(input.arbitrary()?),
        "value" => value(input, 3)?,
        "indent" => text(if input.arbitrary()? { "fit" } else { "keep" }),
        "key" => text(&word(input)?),
        "index" => Value::Number(f64::from(input.int_in_range(0..=4)?)),
        _ => anchor(input, dialect)?,
    })
}

/// A JSON document, and the anchors of its values.
pub const DOCUMENT: &str = "{\n  // all of it\n  \"a\": [1, 1.0, {\"b c\": null}],\r\n  \"d\": {}, /* none */\n  \"a\\u0062\": \"x\",\n}\n";

const DOCUMENT_ANCHORS: [&str; 8] = [
    "$:5d",
    "$.a:86",
    "$.a[0]:b2",
    "$.a[1]:76",
    "$.a[2]:01",
    "$.a[2][\"b c\"]:6d",
    "$.d:89",
    "$.ab:38",
];

/// A nearly valid patch that has only edits by JSON path.
pub fn json_patch(input: &mut Unstructured<'_>, dialect: &Dialect) -> Result<Value> {
    let count = input.int_in_range(1..=4)?;
    let mut items = Vec::new();
    for _ in 0..count {
        let (op, names) = *input.choose(&JSON_SHAPES)?;
        let mut all = vec![("op".to_owned(), text(op))];
        all.extend(fields(input, dialect, names)?);
        items.push(Value::Object(all));
    }
    Ok(Value::Object(vec![("operations".to_owned(), Value::Array(items))]))
}

const JSON_SHAPES: [(&str, &[&str]); 4] = [
    ("set_path", &["path_anchor", "value"]),
    ("insert_at_path", &["path_anchor", "value", "key"]),
    ("insert_at_path", &["path_anchor", "value", "index"]),
    ("delete_path", &["path_anchor"]),
];

fn path_anchor(input: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match input.int_in_range(0..=9)? {
        0 => text("$.z:00"),
        1 => value(input, MAX_DEPTH)?,
        _ => text(input.choose(&DOCUMENT_ANCHORS)?),
    })
}

fn operation(input: &mut Unstructured<'_>, dialect: &Dialect) -> Result<Value> {
    let shapes: [(&str, &[&str]); 20] = [
        ("set_line", &["path", "anchor", "text", "verbatim"]),
        ("replace_range", &["path", "start_anchor", "end_anchor", "text"]),
        ("insert_after", &["path", "anchor", "text"]),
        ("insert_after", &["path", "anchor", "text", "block"]),
        ("replace_range", &["path", "start_anchor", "text", "block"]),
        ("delete", &["path", "anchor", "block"]),
        ("move_lines", &["path", "anchor", "block", "to_anchor", "indent"]),
        ("move_lines", &["path", "start_anchor", "end_anchor", "to_anchor"]),
        ("copy_lines", &["path", "start_anchor", "end_anchor", "to", "to_anchor"]),
        ("insert_before", &["path", "anchor", "text"]),
        ("delete", &["path", "anchor"]),
        ("delete", &["path", "start_anchor", "end_anchor"]),
        ("delete", &["path", "range"]),
        ("replace_text", &["path", "old_text", "new_text", "all"]),
        ("add_file", &["path", "content"]),
        ("move_file", &["from", "to"]),
        ("delete_file", &["path"]),
        ("set_path", &["path", "path_anchor", "value"]),
        ("insert_at_path", &["path", "path_anchor", "value", "key", "index"]),
        ("delete_path", &["path", "path_anchor"]),
    ];
    let (op, names) = *input.choose(&shapes)?;
    let mut all = vec![("op".to_owned(), text(op))];
    all.extend(fields(input, dialect, names)?);
    Ok(Value::Object(all))
}

fn edit(input: &mut Unstructured<'_>, dialect: &Dialect) -> Result<Value> {
    let keyed: [(&str, &[&str]); 7] = [
        ("set_line", &["anchor", "new_text"]),
        ("replace_lines", &["start_anchor", "end_anchor", "new_text"]),
        ("insert_after", &["anchor", "text"]),
        ("replace", &["old_text", "new_text", "all"]),
        ("set_path", &["path_anchor", "value"]),
        ("insert_at_path", &["path_anchor", "value", "key", "index"]),
        ("delete_path", &["path_anchor"]),
    ];
    let tagged: [(&str, &[&str]); 6] = [
        ("set", &["tag", "content"]),
        ("replace", &["first", "last", "content"]),
        ("append", &["after", "content"]),
        ("prepend", &["before", "content"]),
        ("insert", &["after", "before", "content"]),
        ("replaceText", &["old_text", "new_text", "all"]),
    ];
    if input.arbitrary()? {
        let (key, names) = *input.choose(&keyed)?;
        let body = Value::Object(fields(input, dialect, names)?);
        return Ok(Value::Object(vec![(key.to_owned(), body)]));
    }
    let (op, names) = *input.choose(&tagged)?;
    let mut all = vec![("op".to_owned(), text(op))];
    all.extend(fields(input, dialect, names)?);
    Ok(Value::Object(all))
}
