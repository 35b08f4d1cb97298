//! Typed access to the fields of one object of a request. An error names the operation, the field
//! and what was expected.

use std::cell::RefCell;

use super::InsertAt;
use crate::json::{JsonAnchor, JsonValue, Value};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Mention, Message, Result};
use hashline_lines::anchor::{Anchor, quote};
use hashline_lines::checksum::Checksum;
use hashline_lines::dialect::Dialect;

/// The fields of an object.
pub(super) struct Fields<'a> {
    object: &'a [(String, Value)],
    /// `operation 3`, or `the patch`: the subject of messages.
    subject: Message,
    /// The names that were read so far; any other field is unknown.
    known: RefCell<Vec<&'static str>>,
    /// Checked while long texts are split.
    cancel: &'a Cancel,
}

impl<'a> Fields<'a> {
    fn new(object: &'a [(String, Value)], subject: Message, cancel: &'a Cancel) -> Fields<'a> {
        Fields { object, subject, known: RefCell::default(), cancel }
    }

    /// The fields of the patch itself.
    pub(super) fn whole(patch: &'a Value, cancel: &'a Cancel) -> Fields<'a> {
        let object = if let Value::Object(object) = patch { object.as_slice() } else { &[] };
        Fields::new(object, Message::from("the patch"), cancel)
    }

    /// The fields of operation `index`.
    pub(super) fn of_operation(
        item: &'a Value,
        index: usize,
        cancel: &'a Cancel,
    ) -> Result<Fields<'a>> {
        let subject = Message::from(Mention::Operation(index));
        match item {
            Value::Object(object) => Ok(Fields::new(object, subject, cancel)),
            other => Err(Error::new(
                Code::InvalidOperation,
                subject + format!(" is {}: expected an object", noun(other)),
            )),
        }
    }

    /// The fields of the object in field `name`.
    pub(super) fn inner(&self, name: &'static str) -> Result<Fields<'a>> {
        match self.get(name) {
            Some(Value::Object(object)) => {
                Ok(Fields::new(object, self.subject.clone() + format!(", {name}"), self.cancel))
            }
            _ => Err(self.wrong(name, "an object")),
        }
    }

    /// The string in field `name` of `item`, for messages.
    pub(super) fn find_text<'v>(item: &'v Value, name: &str) -> Option<&'v str> {
        let Value::Object(object) = item else {
            return None;
        };
        match object.iter().find(|(key, _)| key == name) {
            Some((_, Value::String(text))) => Some(text),
            _ => None,
        }
    }

    /// The value of a field, which is marked as known.
    pub(super) fn get(&self, name: &'static str) -> Option<&'a Value> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&name) {
            known.push(name);
        }
        self.peek(name)
    }

    /// Accepts a field that has no meaning here.
    pub(super) fn ignore(&self, name: &'static str) {
        self.get(name);
    }

    /// The value of a field, without marking it as known.
    pub(super) fn peek(&self, name: &str) -> Option<&'a Value> {
        self.object.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Whether a field is present and not null.
    pub(super) fn has_value(&self, name: &'static str) -> bool {
        self.get(name).is_some_and(|value| *value != Value::Null)
    }

    /// Refuses fields that were not read, unless they are null. Call it after reading all others.
    pub(super) fn refuse_unknown(&self) -> Result<()> {
        let known = self.known.borrow();
        let is_other = |(key, value): &&(String, Value)| {
            *value != Value::Null && !known.contains(&key.as_str())
        };
        match self.object.iter().find(is_other) {
            None => Ok(()),
            Some((key, _)) => Err(self.invalid(&format!(
                "has the unknown field {}: the known ones are {}",
                quote(key),
                known.join(", ")
            ))),
        }
    }

    /// The error for the whole operation.
    pub(super) fn invalid(&self, what: &str) -> Error {
        Error::new(Code::InvalidOperation, self.subject.clone() + format!(" {what}"))
    }

    /// The error for a field that is missing or has the wrong type.
    pub(super) fn wrong(&self, name: &'static str, expected: &str) -> Error {
        let subject = self.subject.clone();
        match self.get(name) {
            None => {
                let present: Vec<_> = self.object.iter().map(|(key, _)| key.as_str()).collect();
                let present = if present.is_empty() { "none".into() } else { present.join(", ") };
                Error::new(
                    Code::InvalidOperation,
                    subject
                        + format!(
                            ": the field {name} is missing: expected {expected} (fields given: {present})"
                        ),
                )
            }
            Some(Value::IllFormed) => Error::new(
                Code::UnencodableText,
                subject
                    + format!(
                        ": the field {name} has a lone surrogate, which cannot be encoded: expected {expected}"
                    ),
            ),
            Some(value) => Error::new(
                Code::InvalidOperation,
                subject + format!(": the field {name} is {}: expected {expected}", noun(value)),
            ),
        }
    }

    pub(super) fn text(&self, name: &'static str, expected: &str) -> Result<&'a str> {
        match self.get(name) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(self.wrong(name, expected)),
        }
    }

    pub(super) fn optional_text(
        &self,
        name: &'static str,
        expected: &str,
    ) -> Result<Option<&'a str>> {
        if self.has_value(name) { self.text(name, expected).map(Some) } else { Ok(None) }
    }

    /// The path under one of two names.
    pub(super) fn either_path(&self, name: &'static str, other: &'static str) -> Result<String> {
        let name = match (self.has_value(name), self.has_value(other)) {
            (true, true) => {
                return Err(self.invalid(&format!("has {name} and {other}: give one of them")));
            }
            (false, true) => other,
            _ => name,
        };
        self.text(name, "a path").map(str::to_owned)
    }

    pub(super) fn flag(&self, name: &'static str) -> Result<bool> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    pub(super) fn anchor(&self, dialect: &Dialect, name: &'static str) -> Result<Anchor> {
        let example = dialect.example();
        let text = match self.get(name) {
            // Tagged edits can hold a parsed tag.
            Some(tag @ Value::Object(_)) => tag_text(dialect, tag),
            _ => None,
        };
        let text = match &text {
            Some(text) => text.as_str(),
            None => self.text(name, &format!("an anchor like {example}"))?,
        };
        Anchor::parse(dialect, text).map_err(|error| self.about(name, error))
    }

    pub(super) fn json_anchor(&self, name: &'static str) -> Result<JsonAnchor> {
        let text = self.text(name, "the anchor of a value, like $.name:34")?;
        JsonAnchor::parse(text).map_err(|error| self.about(name, error))
    }

    /// A JSON value, which can be null but must be present.
    pub(super) fn json_value(&self, name: &'static str) -> Result<JsonValue> {
        match self.get(name) {
            None => Err(self.wrong(name, "a JSON value")),
            Some(Value::Json(text)) => {
                JsonValue::parse(text).map_err(|error| self.about(name, error))
            }
            Some(value) => JsonValue::of(value).map_err(|error| self.about(name, error)),
        }
    }

    /// A whole number from 0 on.
    pub(super) fn index(&self, name: &'static str) -> Result<usize> {
        match self.get(name) {
            Some(Value::Number(number))
                if number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(number) =>
            {
                Ok(*number as usize)
            }
            _ => Err(self.wrong(name, "a whole number from 0 on")),
        }
    }

    pub(super) fn range(&self, dialect: &Dialect, name: &'static str) -> Result<(Anchor, Anchor)> {
        let (first, last) = (dialect.example(), dialect.anchor_text(12, 0xf2));
        let text = self.text(name, &format!("two anchors like {first}-{last}"))?;
        Anchor::parse_range(dialect, text).map_err(|error| self.about(name, error))
    }

    /// The checksum, if there is one. It must cover the lines from `first` to `last`.
    pub(super) fn checksum(&self, first: u32, last: u32) -> Result<Option<Checksum>> {
        let expected = "a checksum as a view has it, like 12-40:9f3a2c81";
        let Some(text) = self.optional_text("checksum", expected)? else {
            return Ok(None);
        };
        let checksum = Checksum::parse(text).ok_or_else(|| self.wrong("checksum", expected))?;
        if checksum.first > first.into() || checksum.last < last.into() {
            return Err(self.invalid(&format!(
                "has the checksum of lines {} to {}, but changes lines {first} to {last}: the checksum must cover all of them",
                checksum.first, checksum.last
            )));
        }
        Ok(Some(checksum))
    }

    /// Paths with the snapshots of their files.
    pub(super) fn snapshots(&self) -> Result<Vec<(String, String)>> {
        let given = match self.get("snapshots") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(given)) => given,
            Some(_) => return Err(self.wrong("snapshots", "an object {path: snapshot}")),
        };
        let snapshot = |(path, value): &(String, Value)| match value {
            Value::String(text) if is_snapshot(text) => Ok((path.clone(), text.clone())),
            other => Err(Error::new(
                Code::InvalidOperation,
                self.subject.clone()
                    + format!(
                        ": the snapshot of {} is {}: expected 32 hexadecimal digits, as a view has them",
                        quote(path),
                        noun(other)
                    ),
            )),
        };
        given.iter().map(snapshot).collect()
    }

    /// An anchor, `BOF` or `EOF`.
    pub(super) fn position(
        &self,
        dialect: &Dialect,
        name: &'static str,
        insert_at: impl FnOnce(Anchor) -> InsertAt,
    ) -> Result<InsertAt> {
        match self.get(name) {
            Some(Value::String(text)) if text.trim() == "BOF" => Ok(InsertAt::Start),
            Some(Value::String(text)) if text.trim() == "EOF" => Ok(InsertAt::End),
            _ => self.anchor(dialect, name).map(insert_at),
        }
    }

    /// Lines of text: a string, an array of strings, or null for none.
    pub(super) fn lines(&self, name: &'static str) -> Result<Vec<String>> {
        let expected = "a string, an array of strings, or null";
        match self.get(name) {
            Some(Value::Null) => Ok(Vec::new()),
            Some(Value::String(text)) => self.split(text).collect(),
            Some(Value::Array(items)) => {
                let mut lines = Vec::with_capacity(items.len());
                for item in items {
                    match item {
                        Value::String(text) => {
                            for line in self.split(text) {
                                lines.push(line?);
                            }
                        }
                        Value::IllFormed => return Err(self.lone_surrogate(name)),
                        other => {
                            return Err(self.invalid(&format!(
                                ": the field {name} holds {} in its array: expected {expected}",
                                noun(other)
                            )));
                        }
                    }
                }
                Ok(lines)
            }
            _ => Err(self.wrong(name, expected)),
        }
    }

    /// The lines of a text; splitting it stops when the call is cancelled.
    fn split(&self, text: &str) -> impl Iterator<Item = Result<String>> {
        let mut watch = self.cancel.watch();
        split_lines(text).map(move |line| watch.pass(line.len()).map(|()| line))
    }

    fn lone_surrogate(&self, name: &str) -> Error {
        Error::new(
            Code::UnencodableText,
            self.subject.clone()
                + format!(": the field {name} has a lone surrogate, which cannot be encoded"),
        )
    }

    /// Lines of text, at least one.
    pub(super) fn some_lines(&self, name: &'static str) -> Result<Vec<String>> {
        match self.lines(name)? {
            lines if lines.is_empty() => Err(self.wrong(name, "text to insert, at least one line")),
            lines => Ok(lines),
        }
    }

    /// The field `content` of tagged edits, in which an empty string means no lines.
    pub(super) fn content(&self) -> Result<Vec<String>> {
        match self.get("content") {
            Some(Value::String(text)) if text.is_empty() => Ok(Vec::new()),
            _ => self.lines("content"),
        }
    }

    pub(super) fn some_content(&self) -> Result<Vec<String>> {
        match self.content()? {
            lines if lines.is_empty() => {
                Err(self.wrong("content", "text to insert, at least one line"))
            }
            lines => Ok(lines),
        }
    }

    fn about(&self, name: &str, error: Error) -> Error {
        Error::new(
            error.code,
            self.subject.clone() + format!(": the field {name}: {}", error.message),
        )
    }
}

/// The text of an anchor that is given as `{line, hash}`.
fn tag_text(dialect: &Dialect, tag: &Value) -> Option<String> {
    let cancel = Cancel::default();
    let fields = Fields::whole(tag, &cancel);
    match (fields.get("line"), fields.get("hash")) {
        (Some(Value::Number(line)), Some(Value::String(hash)))
            if fields.refuse_unknown().is_ok() =>
        {
            Some(dialect.anchor_of(&line.to_string(), hash))
        }
        _ => None,
    }
}

/// Splits a string at `\n`, drops a `\r` before it and ignores one final `\n`. A `\r` at the very
/// end is dropped, too: with the `\n` that follows it in the file it would become another
/// terminator.
fn split_lines(text: &str) -> impl Iterator<Item = String> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned())
}

/// Whether a text has the form of a snapshot.
fn is_snapshot(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The description of a value in messages.
fn noun(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", quote(text)),
        Value::IllFormed => "a string with a lone surrogate".to_owned(),
        Value::Json(text) => format!("the JSON value {}", quote(text)),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        Value::Other(kind) => format!("a {kind}"),
    }
}
