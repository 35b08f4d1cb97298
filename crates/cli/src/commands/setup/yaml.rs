//! Entries in a YAML document. No library edits YAML without loss, so this writes only a document
//! that has nothing else.

use hashline_core::{Code, Error, Result};
use serde_json::Value;

use super::change;
use super::entry::Entry;

/// A document that has only the entries. Values are written as JSON, which is YAML.
pub fn fresh(entries: &[Entry]) -> String {
    let mut text = String::new();
    write(&mut text, &change::fresh(entries), 0);
    text
}

fn write(text: &mut String, value: &Value, depth: usize) {
    for (key, value) in value.as_object().into_iter().flatten() {
        *text += &"  ".repeat(depth);
        *text += key;
        match value {
            Value::Object(_) => {
                *text += ":\n";
                write(text, value, depth + 1);
            }
            value => *text += &format!(": {value}\n"),
        }
    }
}

/// The text with the entries added.
pub fn put(path: &str, text: &str, entries: &[Entry]) -> Result<String> {
    let fresh = fresh(entries);
    if text.trim().is_empty() || text == fresh {
        return Ok(fresh);
    }
    let (outer, own) = fresh.split_once('\n').unwrap_or_default();
    if lines_of(text).contains(own) {
        return Ok(text.to_owned());
    }
    Err(by_hand(path, &format!("add under `{outer}`, in place of an older entry:\n\n{own}")))
}

/// The text without the entries.
pub fn take(path: &str, text: &str, entries: &[Entry]) -> Result<String> {
    if text == fresh(entries) {
        return Ok(String::new());
    }
    let name = entries.first().and_then(|entry| entry.keys.last()).copied().unwrap_or_default();
    let is_named = text.lines().any(|line| line.trim() == format!("{name}:"));
    if is_named {
        Err(by_hand(path, &format!("delete the entry `{name}`")))
    } else {
        Ok(text.into())
    }
}

/// The text with every line as it is written here.
fn lines_of(text: &str) -> String {
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

fn by_hand(path: &str, step: &str) -> Error {
    let step = step.trim_end();
    let message =
        format!("{path} has other entries in YAML, so it was not changed. By hand, {step}");
    Error::at(Code::InvalidArgument, path, message)
}
