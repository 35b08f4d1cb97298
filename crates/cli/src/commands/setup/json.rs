//! Entries of a JSON document, with comments or without → operations by path.

use std::collections::HashMap;

use hashline_core::{Cancel, Code, Error, JsonRequest, Result, Workspace};
use serde_json::{Map, Value, json};

use super::agents::{Entry, Kind};

/// A document with the anchors of its values.
pub struct Document<'p> {
    path: &'p str,
    value: Value,
    /// By path: `$.hooks`.
    anchors: HashMap<String, String>,
}

impl<'p> Document<'p> {
    /// Reads a document; none when there is no file, or nothing in it.
    pub fn read(workspace: &Workspace<'_>, path: &'p str) -> Result<Option<Document<'p>>> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(Error::io("read", path, &cause)),
        };
        let plain = text.strip_prefix('\u{feff}').unwrap_or(&text);
        if plain.trim().is_empty() {
            return Ok(None);
        }
        let refused = |why: &dyn std::fmt::Display| {
            Error::at(Code::InvalidJson, path, format!("{path}: {why}"))
        };
        let options = jsonc_parser::ParseOptions::default();
        let value: Value =
            jsonc_parser::parse_to_serde_value(plain, &options).map_err(|cause| refused(&cause))?;
        if !value.is_object() {
            return Err(refused(&"the document is no object, as the agent's settings are"));
        }
        let request = JsonRequest { path: path.into(), ..JsonRequest::default() };
        let view = workspace.read_json(&request, &Cancel::default())?;
        let anchors = view.text.lines().filter_map(anchor);
        Ok(Some(Document { path, value, anchors: anchors.collect() }))
    }

    /// The operations that put the entries in.
    pub fn put(&self, entries: &[Entry]) -> Result<Vec<Value>> {
        let mut operations = Vec::new();
        // What is missing, by the place where it begins.
        let mut missing: Vec<(String, String, Value)> = Vec::new();
        for entry in entries {
            let (found, rest) = self.deepest(entry.keys);
            if let [first, deeper @ ..] = rest {
                self.expect(found, Value::is_object, "an object")?;
                let value = nested(deeper, entry);
                let place = path_of(found);
                match missing.iter_mut().find(|(at, key, _)| *at == place && key == first) {
                    Some((.., known)) => merge(known, value),
                    None => missing.push((place, (*first).to_owned(), value)),
                }
                continue;
            }
            let value = self.at(entry.keys);
            match entry.kind {
                Kind::Needed => {}
                Kind::Key if *value == entry.value => {}
                Kind::Key => operations.push(self.set(path_of(entry.keys), &entry.value)?),
                Kind::Element { .. } => {
                    self.expect(entry.keys, Value::is_array, "a list")?;
                    operations.extend(self.put_element(entry, value)?);
                }
            }
        }
        for (place, key, value) in missing {
            let mut operation = self.operation("insert_at_path", &place)?;
            operation["key"] = key.into();
            operation["value"] = value;
            operations.push(operation);
        }
        Ok(operations)
    }

    fn put_element(&self, entry: &Entry, array: &Value) -> Result<Option<Value>> {
        let elements = array.as_array().map_or(&[][..], Vec::as_slice);
        let array = path_of(entry.keys);
        match elements.iter().position(|element| entry.is(element)) {
            Some(at) if elements[at] == entry.value => Ok(None),
            Some(at) => self.set(format!("{array}[{at}]"), &entry.value).map(Some),
            None => {
                let mut operation = self.operation("insert_at_path", &array)?;
                operation["value"] = entry.value.clone();
                Ok(Some(operation))
            }
        }
    }

    /// The operations that take the entries out, and what is empty without them.
    pub fn take(&self, entries: &[Entry]) -> Result<Removal> {
        let mut left = self.value.clone();
        let mut ours = Vec::new();
        for entry in entries {
            let (_, rest) = self.deepest(entry.keys);
            if rest.is_empty() && entry.kind != Kind::Needed {
                ours.extend(take_out(&mut left, entry));
            }
        }
        if ours.is_empty() {
            return Ok(Removal::Operations(Vec::new()));
        }
        let is_needed = |key: &String, value: &Value| {
            let needed = |entry: &&Entry| entry.kind == Kind::Needed;
            entries.iter().filter(needed).any(|e| e.keys == [key.as_str()] && e.value == *value)
        };
        let fields = left.as_object().into_iter().flatten();
        if fields.clone().all(|(key, value)| is_empty(value) || is_needed(key, value)) {
            return Ok(Removal::Whole);
        }
        // From the highest that is empty now.
        let mut paths: Vec<String> = Vec::new();
        for (keys, index) in ours {
            let emptied =
                (1..=keys.len()).find(|depth| lookup(&left, &keys[..*depth]).is_none_or(is_empty));
            let path = match (emptied, index) {
                (Some(depth), _) => path_of(&keys[..depth]),
                (None, Some(index)) => format!("{}[{index}]", path_of(keys)),
                (None, None) => path_of(keys),
            };
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let delete = |path: &String| self.operation("delete_path", path);
        Ok(Removal::Operations(paths.iter().map(delete).collect::<Result<_>>()?))
    }

    fn at(&self, keys: &[&str]) -> &Value {
        lookup(&self.value, keys).unwrap_or(&Value::Null)
    }

    /// The keys as far as they are there, and those that are missing.
    fn deepest<'k>(&self, keys: &'k [&'k str]) -> (&'k [&'k str], &'k [&'k str]) {
        let depth =
            (0..=keys.len()).rev().find(|depth| lookup(&self.value, &keys[..*depth]).is_some());
        keys.split_at(depth.unwrap_or(0))
    }

    fn expect(&self, keys: &[&str], is: impl Fn(&Value) -> bool, what: &str) -> Result<()> {
        if is(self.at(keys)) {
            return Ok(());
        }
        let message = format!("{}: {} is not {what}: correct it by hand", self.path, path_of(keys));
        Err(Error::at(Code::InvalidArgument, self.path, message))
    }

    fn set(&self, path: String, value: &Value) -> Result<Value> {
        let mut operation = self.operation("set_path", &path)?;
        operation["value"] = value.clone();
        Ok(operation)
    }

    fn operation(&self, op: &str, path: &str) -> Result<Value> {
        let anchor = self.anchors.get(path).ok_or_else(|| {
            let message = format!("{}: {path} was not found again", self.path);
            Error::at(Code::Internal, self.path, message)
        })?;
        Ok(json!({"op": op, "path": self.path, "anchor": anchor}))
    }
}

/// How entries are taken out.
pub enum Removal {
    /// By operations.
    Operations(Vec<Value>),
    /// Nothing else is in the file.
    Whole,
}

/// A document with the entries and nothing else.
pub fn fresh(entries: &[Entry]) -> String {
    let mut document = Value::Object(Map::new());
    for entry in entries {
        merge(&mut document, nested(entry.keys, entry));
    }
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text + "\n"
}

/// The row of an anchor: `// $.hooks:7f`.
fn anchor(row: &str) -> Option<(String, String)> {
    let anchor = row.trim_start().strip_prefix("// ").filter(|anchor| anchor.starts_with('$'))?;
    let (path, _) = anchor.rsplit_once(':')?;
    Some((path.to_owned(), anchor.to_owned()))
}

fn path_of(keys: &[&str]) -> String {
    ["$"].iter().chain(keys).copied().collect::<Vec<_>>().join(".")
}

fn lookup<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().try_fold(value, |value, key| value.get(key))
}

/// The value of an entry in objects with the keys that lead to it.
fn nested(keys: &[&str], entry: &Entry) -> Value {
    let value = match entry.kind {
        Kind::Element { .. } => json!([entry.value]),
        Kind::Key | Kind::Needed => entry.value.clone(),
    };
    keys.iter().rev().fold(value, |value, key| json!({*key: value}))
}

/// Adds the fields and elements of another value.
fn merge(value: &mut Value, other: Value) {
    match (value, other) {
        (Value::Object(fields), Value::Object(others)) => {
            for (key, other) in others {
                match fields.get_mut(&key) {
                    Some(known) => merge(known, other),
                    None => _ = fields.insert(key, other),
                }
            }
        }
        (Value::Array(elements), Value::Array(others)) => elements.extend(others),
        (value, other) => *value = other,
    }
}

/// An entry that was taken out: its keys, and which element it was.
type Taken = (&'static [&'static str], Option<usize>);

/// Takes an entry out of a value.
fn take_out(value: &mut Value, entry: &Entry) -> Vec<Taken> {
    let Some((last, keys)) = entry.keys.split_last() else { return Vec::new() };
    let holder = keys.iter().try_fold(value, |value, key| value.get_mut(key));
    let Some(fields) = holder.and_then(Value::as_object_mut) else { return Vec::new() };
    if entry.kind == Kind::Key {
        return fields.remove(*last).map(|_| (entry.keys, None)).into_iter().collect();
    }
    let Some(elements) = fields.get_mut(*last).and_then(Value::as_array_mut) else {
        return Vec::new();
    };
    let mut taken = Vec::new();
    // Blotted out, so that the places of the others stay those of the document.
    for (at, element) in elements.iter_mut().enumerate().filter(|(_, element)| entry.is(element)) {
        *element = Value::Null;
        taken.push((entry.keys, Some(at)));
    }
    taken
}

/// Whether nothing is left of a value.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(elements) => elements.iter().all(is_empty),
        Value::Object(fields) => fields.values().all(is_empty),
        _ => false,
    }
}
