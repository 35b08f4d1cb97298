//! Entries of a TOML document → its new text. Comments, order and spaces of the rest stay.

use hashline_core::{Code, Error, Result};
use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike};

use super::agents::{Entry, Kind};

/// The text with the entries.
pub fn put(path: &str, text: &str, entries: &[Entry]) -> Result<String> {
    edited(path, text, |document| {
        entries.iter().try_for_each(|entry| put_entry(document.as_table_mut(), entry))
    })
}

/// The text without the entries, and without what is empty then.
pub fn take(path: &str, text: &str, entries: &[Entry]) -> Result<String> {
    edited(path, text, |document| {
        for entry in entries {
            take_entry(document.as_table_mut(), entry.keys, entry);
        }
        Some(())
    })
}

fn edited(
    path: &str,
    text: &str,
    edit: impl FnOnce(&mut DocumentMut) -> Option<()>,
) -> Result<String> {
    let refused =
        |code, why: &dyn std::fmt::Display| Error::at(code, path, format!("{path}: {why}"));
    let has_returns = text.contains("\r\n");
    let mut document: DocumentMut =
        text.replace("\r\n", "\n").parse().map_err(|cause: toml_edit::TomlError| {
            refused(Code::InvalidArgument, &format!("not TOML: {}", cause.message()))
        })?;
    let before = document.to_string();
    edit(&mut document).ok_or_else(|| {
        let why = "mcp_servers or hooks is of another kind than Codex reads: correct it by hand";
        refused(Code::InvalidArgument, &why)
    })?;
    let after = document.to_string();
    if after == before {
        return Ok(text.to_owned());
    }
    Ok(if has_returns { after.replace('\n', "\r\n") } else { after })
}

/// None when something else than a table is in the way.
fn put_entry(mut table: &mut dyn TableLike, entry: &Entry) -> Option<()> {
    let (last, keys) = entry.keys.split_last()?;
    for key in keys {
        let item = table.entry(key).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        table = item.as_table_like_mut()?;
    }
    let value = &entry.value;
    match entry.kind {
        Kind::Key if table.get(last).is_some_and(|item| json_of(item) == *value) => {}
        Kind::Key | Kind::Needed => {
            table.insert(last, Item::Table(table_of(value)));
        }
        Kind::Element { .. } => {
            let item =
                table.entry(last).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
            put_element(item, entry)?;
        }
    }
    Some(())
}

fn put_element(item: &mut Item, entry: &Entry) -> Option<()> {
    let elements = json_of(item);
    let place = elements.as_array()?.iter().position(|element| entry.is(element));
    if place.is_some_and(|place| elements[place] == entry.value) {
        return Some(());
    }
    match item {
        Item::ArrayOfTables(tables) => match place.and_then(|place| tables.get_mut(place)) {
            Some(table) => {
                let decor = table.decor().clone();
                *table = table_of(&entry.value);
                *table.decor_mut() = decor;
            }
            None => tables.push(table_of(&entry.value)),
        },
        Item::Value(toml_edit::Value::Array(array)) => match place {
            Some(place) => _ = array.replace(place, inline(&entry.value)),
            None => array.push(inline(&entry.value)),
        },
        _ => return None,
    }
    Some(())
}

fn take_entry(table: &mut dyn TableLike, keys: &[&str], entry: &Entry) {
    let Some((first, rest)) = keys.split_first() else { return };
    let Some(item) = table.get_mut(first) else { return };
    let is_empty = if !rest.is_empty() {
        let Some(inner) = item.as_table_like_mut() else { return };
        take_entry(inner, rest, entry);
        // One that has a header of its own was there before.
        inner.is_empty() && item.as_table().is_some_and(Table::is_implicit)
    } else if entry.kind == Kind::Key {
        true
    } else {
        let elements = json_of(item);
        let elements = elements.as_array().map_or(&[][..], Vec::as_slice);
        let ours: Vec<_> = (0..elements.len()).filter(|at| entry.is(&elements[*at])).collect();
        for at in ours.iter().rev() {
            match item {
                Item::ArrayOfTables(tables) => _ = tables.remove(*at),
                Item::Value(toml_edit::Value::Array(array)) => _ = array.remove(*at),
                _ => {}
            }
        }
        !ours.is_empty() && ours.len() == elements.len()
    };
    if is_empty {
        table.remove(first);
    }
}

/// An item as JSON, as far as entries are compared.
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

/// An object as a table; lists of objects in it as tables of their own.
fn table_of(value: &Value) -> Table {
    let mut table = Table::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let tables = value.as_array().filter(|array| array.iter().all(Value::is_object));
        let item = match tables {
            Some(tables) => Item::ArrayOfTables(tables.iter().map(table_of).collect()),
            None => Item::Value(inline(value)),
        };
        table.insert(key, item);
    }
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
