//! What a model wrote → typed operations.
//!
//! Three shapes are read: `{operations: […]}`, and the two of `{path, edits: […]}` that other
//! tools use. All become one [`Patch`], in which line edits and operations on whole files are
//! types of their own, so that no stage can take one for the other. A field that is wrong makes
//! a [`Failure`] that names the operation, the field and what was expected; the others are still
//! read, so that one answer tells all.

mod fields;

use crate::edit::json::{self, JsonEdit, JsonSlot};
use crate::edit::outcome::Failure;
use crate::error::{Code, Error, Result};
use crate::text::dialect::Dialect;
use crate::view::anchor::Anchor;
use crate::view::checksum::Checksum;
use fields::Fields;

/// The largest number of operations in a patch.
pub const MAX_OPERATIONS: usize = 10_000;

/// A value as it came from the caller: JSON, and what JSON cannot say.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Any number.
    Number(f64),
    /// A string.
    String(String),
    /// A string with a lone surrogate, which no file can hold.
    IllFormed,
    /// A JSON value as its text, where the order of keys and the spelling of numbers count: what
    /// a field `value` holds.
    Json(String),
    /// An array.
    Array(Vec<Value>),
    /// An object: its fields in order, without those that are undefined.
    Object(Vec<(String, Value)>),
    /// Something that is no data, by its JavaScript type: a function, a symbol, a bigint.
    Other(&'static str),
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Value {
        use serde_json::Value as Json;
        match value {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(value),
            Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Value::String(text),
            Json::Array(items) => Value::Array(items.into_iter().map(Value::from).collect()),
            Json::Object(map) => {
                let field = |(key, value): (String, Json)| match key.as_str() {
                    VALUE => (key, Value::Json(value.to_string())),
                    _ => (key, value.into()),
                };
                Value::Object(map.into_iter().map(field).collect())
            }
        }
    }
}

/// The field that holds a value of a JSON document.
pub const VALUE: &str = "value";

impl Value {
    /// Reads a request from its text. What a field `value` holds is kept as it is written: keys
    /// in their order, numbers with all of their digits.
    pub fn from_json(text: &str) -> Result<Value> {
        json::request(text)
    }
}

/// Everything that a patch asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// Edits of the lines of files, in the order of the request.
    pub edits: Vec<Operation<LineEdit>>,
    /// Operations on whole files, in the order of the request.
    pub files: Vec<Operation<FileAction>>,
    /// Paths with the snapshots of the files that the one who wrote the patch was shown.
    pub snapshots: Vec<(String, String)>,
}

impl Patch {
    /// The path of the operation with an index.
    pub fn path_of(&self, index: usize) -> Option<&str> {
        self.paths().find(|&(known, _)| known == index).map(|(_, path)| path)
    }

    /// The path that the first operation is about.
    pub fn first_path(&self) -> Option<&str> {
        self.paths().min_by_key(|&(index, _)| index).map(|(_, path)| path)
    }

    /// The index of the first operation that names `path`.
    pub fn operation_about(&self, path: &str) -> Option<usize> {
        let moves_there = |one: &&Operation<FileAction>| matches!(&one.action, FileAction::Move { to } if to == path);
        let moves = self.files.iter().filter(moves_there).map(|one| one.index);
        self.paths().filter(|&(_, named)| named == path).map(|(index, _)| index).chain(moves).min()
    }

    fn paths(&self) -> impl Iterator<Item = (usize, &str)> {
        let edits = self.edits.iter().map(|one| (one.index, one.path.as_str()));
        edits.chain(self.files.iter().map(|one| (one.index, one.path.as_str())))
    }
}

/// One operation of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<A = LineEdit> {
    /// Its place in the request, from 0.
    pub index: usize,
    /// The file it is about; empty for a text in memory.
    pub path: String,
    /// Whether its text is taken to the letter, without repairs.
    pub verbatim: bool,
    /// What it does.
    pub action: A,
}

/// What an operation does to the lines of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LineEdit {
    /// Replaces a line, or the lines from `first` to `last`, both included; with no lines it
    /// deletes them.
    Replace {
        /// The first line.
        first: Anchor,
        /// The last line, for a range.
        last: Option<Anchor>,
        /// The new lines.
        lines: Vec<String>,
        /// What the lines, and perhaps others around them, were when they were shown.
        checksum: Option<Checksum>,
    },
    /// Inserts lines.
    Insert {
        /// Where.
        at: InsertAt,
        /// The new lines, at least one.
        lines: Vec<String>,
    },
    /// Replaces an exact text.
    ReplaceText {
        /// The text, not empty; `\n` stands for any terminator.
        old_text: String,
        /// Its replacement; `\n` becomes the file's terminator.
        new_text: String,
        /// Every occurrence, instead of the only one.
        all: bool,
    },
    /// Edits a value of the JSON document that the text is.
    Json(JsonEdit),
}

impl LineEdit {
    /// The anchors that it names, in the order of the lines.
    pub fn anchors(&self) -> impl Iterator<Item = &Anchor> {
        let (first, last) = match self {
            LineEdit::Replace { first, last, .. } => (Some(first), last.as_ref()),
            LineEdit::Insert { at, .. } => match at {
                InsertAt::After(one) | InsertAt::Before(one) => (Some(one), None),
                InsertAt::Between(one, other) => (Some(one), Some(other)),
                InsertAt::Start | InsertAt::End => (None, None),
            },
            LineEdit::ReplaceText { .. } | LineEdit::Json(_) => (None, None),
        };
        first.into_iter().chain(last)
    }
}

/// What an operation does to a whole file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileAction {
    /// Creates it.
    Add {
        /// Its whole content.
        content: String,
    },
    /// Renames it.
    Move {
        /// The new path.
        to: String,
    },
    /// Removes it.
    Delete,
}

/// What an operation does, as it was read.
#[derive(Debug, PartialEq)]
enum Action {
    Lines(LineEdit),
    File(FileAction),
}

/// Where lines are inserted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InsertAt {
    /// Before the first line.
    Start,
    /// After the last line.
    End,
    /// After a line.
    After(Anchor),
    /// Before a line.
    Before(Anchor),
    /// Before the second line, with the first somewhere above it.
    Between(Anchor, Anchor),
}

/// Whether operations name the file they are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// Files: each operation has a path.
    Files,
    /// One text in memory: paths are left out, and so are operations on whole files.
    Text,
}

/// Reads a patch: every operation, or every failure.
pub fn parse(
    dialect: &Dialect,
    kind: PatchKind,
    patch: &Value,
) -> std::result::Result<Patch, Vec<Failure>> {
    let whole = |error: Error| vec![Failure::new(0, None, error)];
    let shape = Shape::of(patch, kind).map_err(whole)?;
    if shape.items.len() > MAX_OPERATIONS {
        return Err(whole(Error::argument(format!(
            "the patch has {} operations, over the limit of {MAX_OPERATIONS}: split it",
            shape.items.len()
        ))));
    }
    let mut read = Patch::default();
    if kind == PatchKind::Files {
        read.snapshots = Fields::whole(patch).snapshots().map_err(whole)?;
    }
    let mut failures = Vec::new();
    for (index, item) in shape.items.iter().enumerate() {
        let reader = Reader { dialect, kind, index, shared_path: shape.path };
        if let Err(error) = reader.operation(item, shape.kind, &mut read) {
            let path = Fields::find_text(item, "path").or(shape.path);
            failures.push(Failure::new(index, path, error));
        }
    }
    for (offset, action) in shape.whole_file.into_iter().enumerate() {
        read.files.push(Operation {
            index: shape.items.len() + offset,
            path: shape.path.unwrap_or_default().to_owned(),
            verbatim: false,
            action,
        });
    }
    if failures.is_empty() { Ok(read) } else { Err(failures) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `{op: "set_line", path, …}`
    Operations,
    /// `{set_line: {…}}` or `{op: "set", tag, …}` under one path.
    Edits,
}

/// The outer object of a patch.
struct Shape<'a> {
    kind: Kind,
    path: Option<&'a str>,
    items: &'a [Value],
    /// `delete` and `rename` beside `edits`.
    whole_file: Vec<FileAction>,
}

impl<'a> Shape<'a> {
    fn of(patch: &'a Value, kind: PatchKind) -> Result<Shape<'a>> {
        let expected = || {
            Error::new(
                Code::InvalidOperation,
                "a patch is an object {operations: […]}, or {path, edits: […]}",
            )
        };
        let items = match patch {
            Value::Array(items) if kind == PatchKind::Text => return Ok(Shape::list(items)),
            Value::Object(_) => Fields::whole(patch),
            _ => return Err(expected()),
        };
        match (items.get("operations"), items.get("edits")) {
            (Some(Value::Array(list)), None) => Ok(Shape::list(list)),
            (Some(_), None) => Err(items.wrong("operations", "an array of operations")),
            (None, edits) if edits.is_some() || items.get("path").is_some() => {
                Shape::edits(&items, kind)
            }
            (Some(_), Some(_)) => Err(Error::new(
                Code::InvalidOperation,
                "a patch has either operations or edits, not both",
            )),
            _ => Err(expected()),
        }
    }

    fn list(items: &'a [Value]) -> Shape<'a> {
        Shape { kind: Kind::Operations, path: None, items, whole_file: Vec::new() }
    }

    fn edits(fields: &Fields<'a>, kind: PatchKind) -> Result<Shape<'a>> {
        let path = match kind {
            PatchKind::Files => Some(fields.text("path", "the path of the file")?),
            PatchKind::Text => None,
        };
        let items = match fields.get("edits") {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) => items.as_slice(),
            Some(_) => return Err(fields.wrong("edits", "an array of edits")),
        };
        let mut whole_file = Vec::new();
        if fields.flag("delete")? {
            whole_file.push(FileAction::Delete);
        }
        if let Some(to) = fields.optional_text("rename", "the new path of the file")? {
            whole_file.push(FileAction::Move { to: to.to_owned() });
        }
        if kind == PatchKind::Text && !whole_file.is_empty() {
            return Err(no_whole_file());
        }
        Ok(Shape { kind: Kind::Edits, path, items, whole_file })
    }
}

fn no_whole_file() -> Error {
    Error::new(Code::InvalidOperation, "a text in memory cannot be created, moved or deleted")
}

/// Reads one operation.
struct Reader<'a> {
    dialect: &'a Dialect,
    kind: PatchKind,
    index: usize,
    shared_path: Option<&'a str>,
}

/// The operations of the first shape.
const OPERATIONS: [&str; 12] = [
    "set_line",
    "replace_range",
    "insert_after",
    "insert_before",
    "delete",
    "replace_text",
    "set_path",
    "insert_at_path",
    "delete_path",
    "add_file",
    "move_file",
    "delete_file",
];
const KEYED_EDITS: [&str; 7] = [
    "set_line",
    "replace_lines",
    "insert_after",
    "replace",
    "set_path",
    "insert_at_path",
    "delete_path",
];
/// The keys by which two operations in one object are recognized.
const KEYS: [&str; 14] = [
    "set_line",
    "replace_range",
    "replace_lines",
    "insert_after",
    "insert_before",
    "delete",
    "replace",
    "replace_text",
    "set_path",
    "insert_at_path",
    "delete_path",
    "add_file",
    "move_file",
    "delete_file",
];
const TAGGED_EDITS: [&str; 6] = ["set", "replace", "append", "prepend", "insert", "replaceText"];

impl Reader<'_> {
    /// Reads one operation and adds it to the patch.
    fn operation(&self, item: &Value, kind: Kind, patch: &mut Patch) -> Result<()> {
        let fields = Fields::of_operation(item, self.index)?;
        let keys: Vec<&str> = KEYS.into_iter().filter(|key| fields.has_value(key)).collect();
        let op = fields.get("op");
        if keys.len() + usize::from(op.is_some()) > 1 {
            return Err(
                fields.invalid("holds more than one operation: give each an object of its own")
            );
        }
        let action = match (kind, op, keys.first()) {
            (Kind::Operations, ..) => self.main_action(&fields)?,
            (Kind::Edits, Some(_), _) => Action::Lines(self.tagged_edit(&fields)?),
            (Kind::Edits, None, Some(&key)) if KEYED_EDITS.contains(&key) => {
                Action::Lines(self.keyed_edit(key, &fields.inner(key)?)?)
            }
            (Kind::Edits, None, _) => {
                return Err(fields.invalid(&format!(
                    "has no known edit: expected one of {}, or op: one of {}",
                    KEYED_EDITS.join(", "),
                    TAGGED_EDITS.join(", ")
                )));
            }
        };
        if fields.has_value("checksum")
            && !matches!(action, Action::Lines(LineEdit::Replace { .. }))
        {
            return Err(fields.invalid(
                "has a checksum: that goes with operations that replace or delete lines",
            ));
        }
        let verbatim = fields.flag("verbatim")?;
        let (index, path) = (self.index, self.path(&fields, &action)?);
        match action {
            Action::Lines(action) => {
                patch.edits.push(Operation { index, path, verbatim, action });
            }
            Action::File(action) => patch.files.push(Operation { index, path, verbatim, action }),
        }
        Ok(())
    }

    fn path(&self, fields: &Fields<'_>, action: &Action) -> Result<String> {
        match (self.kind, self.shared_path) {
            (PatchKind::Text, _) => Ok(String::new()),
            (_, Some(path)) => Ok(path.to_owned()),
            _ => match action {
                Action::File(FileAction::Move { .. }) => fields.either_text("from", "from_path"),
                Action::File(FileAction::Add { .. } | FileAction::Delete) | Action::Lines(_) => {
                    fields.text("path", "the path of the file").map(str::to_owned)
                }
            },
        }
    }

    /// `{op: "set_line", …}`
    fn main_action(&self, fields: &Fields<'_>) -> Result<Action> {
        let op = fields.text("op", &format!("one of {}", OPERATIONS.join(", ")))?;
        let dialect = self.dialect;
        let whole_file = matches!(op, "add_file" | "move_file" | "delete_file");
        if whole_file && self.kind == PatchKind::Text {
            return Err(no_whole_file());
        }
        let edit = match op {
            "set_line" => {
                let first = fields.anchor(dialect, "anchor")?;
                replace(fields, first, None, fields.lines("text")?)?
            }
            "replace_range" => {
                let first = fields.anchor(dialect, "start_anchor")?;
                let last = fields.anchor(dialect, "end_anchor")?;
                replace(fields, first, Some(last), fields.lines("text")?)?
            }
            "insert_after" => LineEdit::Insert {
                at: fields.position(dialect, "anchor", InsertAt::After)?,
                lines: fields.some_lines("text")?,
            },
            "insert_before" => LineEdit::Insert {
                at: fields.position(dialect, "anchor", InsertAt::Before)?,
                lines: fields.some_lines("text")?,
            },
            "delete" => self.delete(fields)?,
            "replace_text" => replace_text(fields)?,
            "set_path" | "insert_at_path" | "delete_path" => json_edit(op, fields)?,
            _ => return file_action(op, fields).map(Action::File),
        };
        Ok(Action::Lines(edit))
    }

    fn delete(&self, fields: &Fields<'_>) -> Result<LineEdit> {
        let (anchor, range) = (fields.has_value("anchor"), fields.has_value("range"));
        let ends = fields.has_value("start_anchor") || fields.has_value("end_anchor");
        let (first, last) = match (anchor, ends, range) {
            (true, false, false) => (fields.anchor(self.dialect, "anchor")?, None),
            (false, true, false) => (
                fields.anchor(self.dialect, "start_anchor")?,
                Some(fields.anchor(self.dialect, "end_anchor")?),
            ),
            (false, false, true) => {
                let (first, last) = fields.range(self.dialect, "range")?;
                (first, Some(last))
            }
            _ => {
                return Err(fields.invalid(
                    "names no lines, or names them twice: expected anchor, or start_anchor and end_anchor, or range",
                ));
            }
        };
        replace(fields, first, last, Vec::new())
    }

    /// `{set_line: {anchor, new_text}}` and its like.
    fn keyed_edit(&self, key: &str, fields: &Fields<'_>) -> Result<LineEdit> {
        let dialect = self.dialect;
        let new_lines = |fields: &Fields<'_>| match fields.get("new_text") {
            None => Ok(Vec::new()),
            Some(Value::String(text)) if text.is_empty() => Ok(Vec::new()),
            Some(_) => fields.lines("new_text"),
        };
        Ok(match key {
            "set_line" => {
                let first = fields.anchor(dialect, "anchor")?;
                replace(fields, first, None, new_lines(fields)?)?
            }
            "replace_lines" => {
                let first = fields.anchor(dialect, "start_anchor")?;
                let last = if fields.has_value("end_anchor") {
                    Some(fields.anchor(dialect, "end_anchor")?)
                } else {
                    None
                };
                replace(fields, first, last, new_lines(fields)?)?
            }
            "insert_after" => LineEdit::Insert {
                at: fields.position(dialect, "anchor", InsertAt::After)?,
                lines: match fields.lines("text")? {
                    lines if lines.is_empty() => vec![String::new()],
                    lines => lines,
                },
            },
            "set_path" | "insert_at_path" | "delete_path" => json_edit(key, fields)?,
            _ => replace_text(fields)?,
        })
    }

    /// `{op: "set", tag, content}` and its like.
    fn tagged_edit(&self, fields: &Fields<'_>) -> Result<LineEdit> {
        let dialect = self.dialect;
        let op = fields.text("op", &format!("one of {}", TAGGED_EDITS.join(", ")))?;
        Ok(match op {
            "set" => {
                let first = fields.anchor(dialect, "tag")?;
                replace(fields, first, None, fields.content()?)?
            }
            "replace" => {
                let first = fields.anchor(dialect, "first")?;
                let last = fields.anchor(dialect, "last")?;
                replace(fields, first, Some(last), fields.content()?)?
            }
            "append" => LineEdit::Insert {
                at: if fields.has_value("after") {
                    InsertAt::After(fields.anchor(dialect, "after")?)
                } else {
                    InsertAt::End
                },
                lines: fields.some_content()?,
            },
            "prepend" => LineEdit::Insert {
                at: if fields.has_value("before") {
                    InsertAt::Before(fields.anchor(dialect, "before")?)
                } else {
                    InsertAt::Start
                },
                lines: fields.some_content()?,
            },
            "insert" => LineEdit::Insert {
                at: match (fields.has_value("after"), fields.has_value("before")) {
                    (true, true) => InsertAt::Between(
                        fields.anchor(dialect, "after")?,
                        fields.anchor(dialect, "before")?,
                    ),
                    (true, false) => InsertAt::After(fields.anchor(dialect, "after")?),
                    (false, true) => InsertAt::Before(fields.anchor(dialect, "before")?),
                    (false, false) => {
                        return Err(fields.invalid("names no line: expected after, before or both"));
                    }
                },
                lines: fields.some_content()?,
            },
            "replaceText" => replace_text(fields)?,
            unknown => {
                return Err(fields.invalid(&format!(
                    "has the unknown op {unknown:?}: expected one of {}",
                    TAGGED_EDITS.join(", ")
                )));
            }
        })
    }
}

/// A replacement, with its checksum if it has one.
fn replace(
    fields: &Fields<'_>,
    first: Anchor,
    last: Option<Anchor>,
    lines: Vec<String>,
) -> Result<LineEdit> {
    let checksum = fields.checksum(first.line, last.as_ref().map_or(first.line, |one| one.line))?;
    Ok(LineEdit::Replace { first, last, lines, checksum })
}

/// `{op: "add_file", …}` and its like.
fn file_action(op: &str, fields: &Fields<'_>) -> Result<FileAction> {
    Ok(match op {
        "add_file" => FileAction::Add {
            content: fields.text("content", "the whole content, a string")?.to_owned(),
        },
        "move_file" => FileAction::Move { to: fields.either_text("to", "to_path")? },
        "delete_file" => FileAction::Delete,
        unknown => {
            return Err(fields.invalid(&format!(
                "has the unknown op {unknown:?}: expected one of {}",
                OPERATIONS.join(", ")
            )));
        }
    })
}

/// `{op: "set_path", …}` and its like.
fn json_edit(op: &str, fields: &Fields<'_>) -> Result<LineEdit> {
    let anchor = fields.json_anchor("anchor")?;
    Ok(LineEdit::Json(match op {
        "set_path" => JsonEdit::Set { anchor, value: fields.json_value(VALUE)? },
        "insert_at_path" => {
            let slot = match (fields.has_value("key"), fields.has_value("index")) {
                (true, true) => {
                    return Err(fields.invalid(
                        "names a key and an index: expected a key for an object, an index for an array",
                    ));
                }
                (true, false) => JsonSlot::Key(fields.text("key", "a key, a string")?.to_owned()),
                (false, true) => JsonSlot::Index(fields.index("index")?),
                (false, false) => JsonSlot::End,
            };
            JsonEdit::Insert { anchor, slot, value: fields.json_value(VALUE)? }
        }
        _ => JsonEdit::Delete { anchor },
    }))
}

fn replace_text(fields: &Fields<'_>) -> Result<LineEdit> {
    let old_text = fields.text("old_text", "the text to replace, a string")?;
    if old_text.is_empty() {
        return Err(fields.wrong("old_text", "a text that is not empty"));
    }
    let new_text = fields.text("new_text", "the text to put there, a string")?;
    Ok(LineEdit::ReplaceText {
        old_text: old_text.to_owned(),
        new_text: new_text.to_owned(),
        all: fields.flag("all")?,
    })
}

#[cfg(test)]
mod tests;
