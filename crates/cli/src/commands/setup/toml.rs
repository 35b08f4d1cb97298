//! Edits a TOML document. Comments, order and whitespace of the rest are preserved.

use hashline_core::{Code, Error, Result};
use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table};

use super::change::{self, Change, EditHooks, Step};
use super::entry::Entry;

/// The text with the entries added.
pub fn put(path: &str, text: &str, entries: &[Entry]) -> Result<String> {
    edited(path, text, |document| {
        let changes = change::put(&json_of(document.as_item()), entries).ok()?;
        // Removes first, while the indices are still valid.
        let (gone, rest): (Vec<_>, Vec<_>) =
            changes.iter().partition(|change| matches!(change, Change::Delete { .. }));
        rest.into_iter().chain(gone.into_iter().rev()).try_for_each(|one| apply(document, one))
    })
}

/// The text without the entries, and without tables that become empty.
pub fn take(path: &str, text: &str, entries: &[Entry]) -> Result<String> {
    edited(path, text, |document| {
        let mut value = json_of(document.as_item());
        for at in change::take(&mut value, entries).iter().rev() {
            delete(document, at)?;
            prune(document, at);
        }
        Some(())
    })
}

/// The text with the matchers of the user's hooks extended, or restored.
pub fn set_matchers(path: &str, text: &str, hooks: &EditHooks, restores: bool) -> Result<String> {
    edited(path, text, |document| {
        let value = json_of(document.as_item());
        let changes = if restores { hooks.restore(&value) } else { hooks.extend(&value) };
        changes.iter().try_for_each(|change| apply(document, change))
    })
}

/// The values of a document, if it is valid.
pub fn parsed(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Some(json_of(text.parse::<DocumentMut>().ok()?.as_item()))
}

fn edited(
    path: &str,
    text: &str,
    edit: impl FnOnce(&mut DocumentMut) -> Option<()>,
) -> Result<String> {
    let refused =
        |code, why: &dyn std::fmt::Display| Error::at(code, path, format!("{path}: {why}"));
    let mut document: DocumentMut =
        marked(text).parse().map_err(|cause: toml_edit::TomlError| {
            refused(Code::InvalidArgument, &format!("not TOML: {}", cause.message()))
        })?;
    let before = document.to_string();
    edit(&mut document).ok_or_else(|| {
        let why = "mcp_servers or hooks has a type that Codex does not read. Correct it by hand.";
        refused(Code::InvalidArgument, &why)
    })?;
    let after = document.to_string();
    if after == before {
        return Ok(text.to_owned());
    }
    Ok(unmarked(&after, if text.contains("\r\n") { "\r\n" } else { "\n" }))
}

/// Whitespace at the end of lines that end in `\n` and in `\r\n`. The library writes all lines with
/// `\n`, but keeps trailing whitespace, which TOML allows everywhere.
const MARKS: [(&str, &str); 2] = [("\t \t  \t ", "\n"), (" \t  \t \t", "\r\n")];

/// The text with a mark of the terminator on each line.
fn marked(text: &str) -> String {
    let [(lf, _), (crlf, _)] = MARKS;
    let mark = |line: &str| match (line.strip_suffix("\r\n"), line.strip_suffix('\n')) {
        (Some(line), _) => [line, crlf, "\n"].concat(),
        (None, Some(line)) => [line, lf, "\n"].concat(),
        (None, None) => line.to_owned(),
    };
    text.split_inclusive('\n').map(mark).collect()
}

/// The text with the terminators that the marks name. A new line has no mark, and gets that of the
/// file.
fn unmarked(text: &str, terminator: &str) -> String {
    let unmark = |line: &str| {
        let Some(line) = line.strip_suffix('\n') else { return line.to_owned() };
        let known = MARKS.iter().find_map(|(mark, end)| Some((line.strip_suffix(mark)?, *end)));
        let (line, end) = known.unwrap_or((line, terminator));
        [line, end].concat()
    };
    text.split_inclusive('\n').map(unmark).collect()
}

/// Returns `None` if the document does not have the expected structure.
fn apply(document: &mut DocumentMut, change: &Change) -> Option<()> {
    match change {
        Change::Set { at, value } => set(item_at(document, at)?, value),
        Change::Insert { at, key, value } => {
            let holder = item_at(document, at)?.as_table_like_mut()?;
            holder.insert(key, item_of(value));
        }
        Change::Append { at, value } => match item_at(document, at)? {
            Item::ArrayOfTables(tables) => tables.push(table_of(value)),
            Item::Value(toml_edit::Value::Array(array)) => array.push(inline(value)),
            _ => return None,
        },
        Change::Delete { at } => delete(document, at)?,
    }
    Some(())
}

fn item_at<'d>(document: &'d mut DocumentMut, at: &[Step]) -> Option<&'d mut Item> {
    at.iter().try_fold(document.as_item_mut(), |item, step| match step {
        Step::Key(key) => item.get_mut(key.as_str()),
        Step::At(index) => item.get_mut(*index),
    })
}

/// Replaces a value, and keeps the comment after it.
fn set(item: &mut Item, value: &Value) {
    match item {
        Item::Value(old) => {
            let decor = old.decor().clone();
            *old = inline(value);
            *old.decor_mut() = decor;
        }
        item => *item = item_of(value),
    }
}

fn delete(document: &mut DocumentMut, at: &[Step]) -> Option<()> {
    let (last, holder) = at.split_last()?;
    match (item_at(document, holder)?, last) {
        (item, Step::Key(key)) => _ = item.as_table_like_mut()?.remove(key),
        (Item::ArrayOfTables(tables), Step::At(index)) => _ = tables.remove(*index),
        (Item::Value(toml_edit::Value::Array(array)), Step::At(index)) => _ = array.remove(*index),
        _ => return None,
    }
    Some(())
}

/// Deletes empty tables above a place, unless they have a header of their own.
fn prune(document: &mut DocumentMut, at: &[Step]) {
    for depth in (1..at.len()).rev() {
        let is_empty = match item_at(document, &at[..depth]) {
            Some(Item::Table(table)) => table.is_empty() && table.is_implicit(),
            Some(Item::ArrayOfTables(tables)) => tables.is_empty(),
            Some(Item::Value(toml_edit::Value::Array(array))) => array.is_empty(),
            _ => false,
        };
        if !is_empty || delete(document, &at[..depth]).is_none() {
            return;
        }
    }
}

/// An item as JSON, for comparisons with entries.
fn json_of(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(table) => {
            table.iter().map(|(key, item)| (key.to_owned(), json_of(item))).collect()
        }
        Item::ArrayOfTables(tables) => {
            tables.iter().map(|table| json_of(&Item::Table(table.clone()))).collect()
        }
        Item::Value(value) => json_of_value(value),
    }
}

fn json_of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(truth) => (*truth.value()).into(),
        toml_edit::Value::Array(array) => array.iter().map(json_of_value).collect(),
        toml_edit::Value::InlineTable(table) => {
            table.iter().map(|(key, value)| (key.to_owned(), json_of_value(value))).collect()
        }
        other => other.to_string().into(),
    }
}

/// A value as an item of a table: objects become tables, lists of objects become arrays of tables.
fn item_of(value: &Value) -> Item {
    match value {
        Value::Object(_) => Item::Table(table_of(value)),
        Value::Array(elements) if elements.iter().all(Value::is_object) => {
            Item::ArrayOfTables(elements.iter().map(table_of).collect())
        }
        value => Item::Value(inline(value)),
    }
}

/// An object as a table. A table with only tables in it needs no header.
fn table_of(value: &Value) -> Table {
    let mut table = Table::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        table.insert(key, item_of(value));
    }
    table.set_implicit(!table.is_empty() && table.iter().all(|(_, item)| !item.is_value()));
    table
}

fn inline(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::Array(elements) => elements.iter().map(inline).collect::<Array>().into(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (key.as_str(), inline(value)));
            fields.collect::<InlineTable>().into()
        }
        Value::String(text) => text.as_str().into(),
        Value::Null => "".into(),
    }
}
