//! Edits a JSON document, with comments or without, by operations on its values.

use std::collections::HashMap;
use std::slice;

use hashline_core::{Cancel, Code, Error, JsonRequest, Result, Workspace};
use jsonc_parser::ParseOptions;
use serde_json::{Value, json};

use super::change::{self, Change, EditHooks, Misfit, Step};
use super::entry::{Entry, Kind};

/// A document with the anchors of its values.
pub struct Document<'p> {
    path: &'p str,
    value: Value,
    /// The anchors by path: `$.hooks`.
    anchors: HashMap<String, String>,
}

impl<'p> Document<'p> {
    /// Parses the document; `None` if the text is empty.
    pub fn of(
        workspace: &Workspace<'_>,
        path: &'p str,
        text: &str,
    ) -> Result<Option<Document<'p>>> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        let refused = |why: &dyn std::fmt::Display| {
            Error::at(Code::InvalidJson, path, format!("{path}: {why}"))
        };
        let value: Value = jsonc_parser::parse_to_serde_value(text, &ParseOptions::default())
            .map_err(|cause| refused(&cause))?;
        if !value.is_object() {
            return Err(refused(&"it is not a JSON object. Correct it by hand."));
        }
        let request = JsonRequest { path: path.into(), ..JsonRequest::default() };
        let view = workspace.read_json_bytes(&request, text.as_bytes(), &Cancel::default())?;
        let anchors = view.text.lines().filter_map(anchor);
        Ok(Some(Document { path, value, anchors: anchors.collect() }))
    }

    /// The operations that add the entries.
    pub fn put(&self, entries: &[Entry]) -> Result<Vec<Value>> {
        let changes = change::put(&self.value, entries).map_err(|Misfit { at, wanted }| {
            let message =
                format!("{}: {} is not {wanted}. Correct it by hand.", self.path, path_of(&at));
            Error::at(Code::InvalidArgument, self.path, message)
        })?;
        changes.iter().map(|change| self.operation(change)).collect()
    }

    /// The operations that extend the matchers of the user's hooks, or restore them.
    pub fn set_matchers(&self, hooks: &EditHooks, restores: bool) -> Result<Vec<Value>> {
        let changes = if restores { hooks.restore(&self.value) } else { hooks.extend(&self.value) };
        changes.iter().map(|change| self.operation(change)).collect()
    }

    /// The operations that remove the entries, and objects that become empty.
    pub fn take(&self, entries: &[Entry]) -> Result<Removal> {
        let removed = change::take(&mut self.value.clone(), entries);
        if removed.is_empty() {
            return Ok(Removal::Operations(Vec::new()));
        }
        let is_needed = |key: &String, value: &Value| {
            let needed = |entry: &&Entry| entry.kind == Kind::Needed;
            entries.iter().filter(needed).any(|e| e.keys == [key.as_str()] && e.value == *value)
        };
        let mut fields = self.value.as_object().into_iter().flatten();
        let is_gone = |key: &String| is_emptied(&self.value, &[Step::Key(key.clone())], &removed);
        if fields.all(|(key, value)| is_gone(key) || is_needed(key, value)) {
            return Ok(Removal::Whole);
        }
        // Starts at the highest place that becomes empty.
        let mut places: Vec<&[Step]> = Vec::new();
        for at in &removed {
            let emptied =
                (1..=at.len()).find(|depth| is_emptied(&self.value, &at[..*depth], &removed));
            let place = &at[..emptied.unwrap_or(at.len())];
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let delete = |at: &&[Step]| self.operation(&Change::Delete { at: at.to_vec() });
        Ok(Removal::Operations(places.iter().map(delete).collect::<Result<_>>()?))
    }

    /// A change as an operation of a patch.
    fn operation(&self, change: &Change) -> Result<Value> {
        let (op, at) = match change {
            Change::Set { at, .. } => ("set_path", at),
            Change::Insert { at, .. } | Change::Append { at, .. } => ("insert_at_path", at),
            Change::Delete { at } => ("delete_path", at),
        };
        let at = path_of(at);
        let anchor = self.anchors.get(&at).ok_or_else(|| {
            let message = format!("{}: {at} was not found", self.path);
            Error::at(Code::Internal, self.path, message)
        })?;
        let mut operation = json!({"op": op, "path": self.path, "anchor": anchor});
        if let Change::Insert { key, .. } = change {
            operation["key"] = key.as_str().into();
        }
        if let Change::Set { value, .. }
        | Change::Insert { value, .. }
        | Change::Append { value, .. } = change
        {
            operation["value"] = value.clone();
        }
        Ok(operation)
    }
}

/// How entries are removed.
pub enum Removal {
    /// By operations.
    Operations(Vec<Value>),
    /// The file has nothing else.
    Whole,
}

/// The values of a document, if it is valid.
pub fn parsed(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    jsonc_parser::parse_to_serde_value(text, &ParseOptions::default()).ok()
}

/// A document that has only the entries.
pub fn fresh(entries: &[Entry]) -> String {
    let text = serde_json::to_string_pretty(&change::fresh(entries)).unwrap_or_default();
    text + "\n"
}

/// Parses the row of an anchor: `// $.hooks:7f`.
fn anchor(row: &str) -> Option<(String, String)> {
    let anchor = row.trim_start().strip_prefix("// ").filter(|anchor| anchor.starts_with('$'))?;
    let (path, _) = anchor.rsplit_once(':')?;
    Some((path.to_owned(), anchor.to_owned()))
}

fn path_of(at: &[Step]) -> String {
    at.iter().fold("$".to_owned(), |path, step| match step {
        Step::Key(key) if is_word(key) => path + "." + key,
        Step::Key(key) => format!("{path}[{}]", Value::from(key.as_str())),
        Step::At(index) => format!("{path}[{index}]"),
    })
}

/// Whether a key needs no quotes in an anchor.
fn is_word(key: &str) -> bool {
    key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !key.starts_with(|c: char| c.is_ascii_digit())
}

fn lookup<'v>(value: &'v Value, at: &[Step]) -> Option<&'v Value> {
    at.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::At(index) => value.get(index),
    })
}

/// Whether a place is an entry, or has a non-empty content that consists only of entries.
fn is_emptied(document: &Value, at: &[Step], removed: &[Vec<Step>]) -> bool {
    if removed.iter().any(|one| one == at) {
        return true;
    }
    let inner: Vec<Step> = match lookup(document, at) {
        Some(Value::Object(fields)) => fields.keys().cloned().map(Step::Key).collect(),
        Some(Value::Array(elements)) => (0..elements.len()).map(Step::At).collect(),
        _ => Vec::new(),
    };
    let is_removed =
        |step: &Step| is_emptied(document, &[at, slice::from_ref(step)].concat(), removed);
    !inner.is_empty() && inner.iter().all(is_removed)
}
