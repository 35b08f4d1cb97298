//! The shapes in which models write patches → operations. An invalid operation gives a [`Failure`]
//! that names the operation, the field and what was expected. The other operations are read anyway,
//! so that one answer reports all mistakes.

use super::fields::Fields;
use super::{
    FileAction, InsertAt, LineEdit, MovedIndent, NamedLines, Operation, Operations, PatchKind,
    Transfer,
};
use crate::edit::outcome::Failure;
use crate::json::{JsonEdit, JsonSlot, VALUE, Value};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_lines::anchor::Anchor;
use hashline_lines::dialect::Dialect;

/// The largest number of operations in a patch.
pub const MAX_OPERATIONS: usize = hashline_omp::HUNKS_LIMIT;

/// The cost of reading an operation without its texts, as the number of bytes of text that are
/// processed in the same time.
const OPERATION_BYTES: usize = 4_096;

/// What an operation does.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    Lines(LineEdit),
    Transfer(Transfer),
    File(FileAction),
}

/// Reads a patch: every operation, or every failure.
pub fn parse(
    dialect: &Dialect,
    kind: PatchKind,
    patch: &Value,
    cancel: &Cancel,
) -> std::result::Result<Operations, Vec<Failure>> {
    let whole = |error: Error| vec![Failure::new(0, None, error)];
    let fields = Fields::whole(patch, cancel);
    let shape = Shape::of(patch, &fields, kind).map_err(whole)?;
    if shape.items.len() > MAX_OPERATIONS {
        return Err(whole(Error::argument(format!(
            "the patch has {} operations, over the limit of {MAX_OPERATIONS}: split it",
            shape.items.len()
        ))));
    }
    let mut read = Operations::default();
    if kind == PatchKind::Files {
        read.snapshots = fields.snapshots().map_err(whole)?;
    }
    fields.refuse_unknown().map_err(whole)?;
    let mut failures = Vec::new();
    let mut watch = cancel.watch();
    for (index, item) in shape.items.iter().enumerate() {
        watch.pass(OPERATION_BYTES).map_err(whole)?;
        let reader = OperationReader { dialect, kind, index, shared_path: shape.path, cancel };
        if let Err(error) = reader.operation(item, shape.kind, &mut read) {
            let path = Fields::find_text(item, "path").or(shape.path);
            if error.code == Code::Aborted {
                return Err(whole(error));
            }
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
    if read.edits.is_empty() && read.files.is_empty() {
        read.path_without_operations = shape.path.map(str::to_owned);
    }
    if failures.is_empty() { Ok(read) } else { Err(failures) }
}

/// The text of a patch in oh-my-pi's language, if it is one.
pub fn script_text<'a>(patch: &'a Value, cancel: &'a Cancel) -> Option<Result<&'a str>> {
    let fields = Fields::whole(patch, cancel);
    let is_other = |name: &&str| fields.peek(name).is_some();
    if fields.peek("patch").is_none() || ["operations", "edits", "path"].iter().any(is_other) {
        return None;
    }
    let text = fields.text("patch", "the text of a patch, which begins with [path#TAG]");
    Some(text.and_then(|text| fields.refuse_unknown().map(|()| text)))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemKind {
    /// `{op: "set_line", path, …}`
    Operations,
    /// `{set_line: {…}}` or `{op: "set", tag, …}` under one path.
    Edits,
}

/// The outer object of a patch.
struct Shape<'a> {
    kind: ItemKind,
    path: Option<&'a str>,
    items: &'a [Value],
    /// `delete` and `rename` next to `edits`.
    whole_file: Vec<FileAction>,
}

impl<'a> Shape<'a> {
    fn of(patch: &'a Value, fields: &Fields<'a>, kind: PatchKind) -> Result<Shape<'a>> {
        let expected = || {
            Error::new(
                Code::InvalidOperation,
                "a patch is an object {operations: […]}, or {path, edits: […]}",
            )
        };
        match patch {
            Value::Array(items) if kind == PatchKind::Text => return Ok(Shape::list(items)),
            Value::Object(_) => {}
            _ => return Err(expected()),
        }
        match (fields.get("operations"), fields.get("edits")) {
            (Some(Value::Array(list)), None) => Ok(Shape::list(list)),
            (Some(_), None) => Err(fields.wrong("operations", "an array of operations")),
            (None, edits) if edits.is_some() || fields.get("path").is_some() => {
                Shape::edits(fields, kind)
            }
            (Some(_), Some(_)) => Err(Error::new(
                Code::InvalidOperation,
                "a patch has either operations or edits, not both",
            )),
            _ => Err(expected()),
        }
    }

    fn list(items: &'a [Value]) -> Shape<'a> {
        Shape { kind: ItemKind::Operations, path: None, items, whole_file: Vec::new() }
    }

    fn edits(fields: &Fields<'a>, kind: PatchKind) -> Result<Shape<'a>> {
        let path = match kind {
            PatchKind::Files => Some(fields.text("path", "the path of the file")?),
            PatchKind::Text => None,
        };
        let items = match fields.get("edits") {
            None if !fields.has_value("delete") && !fields.has_value("rename") => {
                return Err(fields.wrong("edits", "an array of edits"));
            }
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
            return Err(whole_file_error());
        }
        Ok(Shape { kind: ItemKind::Edits, path, items, whole_file })
    }
}

/// The error for an operation on a whole file in a patch of a text in memory.
pub fn whole_file_error() -> Error {
    Error::new(Code::InvalidOperation, "a text in memory cannot be created, moved or deleted")
}

/// Reads one operation.
struct OperationReader<'a> {
    dialect: &'a Dialect,
    kind: PatchKind,
    index: usize,
    shared_path: Option<&'a str>,
    cancel: &'a Cancel,
}

/// The operations of the first shape.
const OPERATIONS: [&str; 14] = [
    "set_line",
    "replace_range",
    "insert_after",
    "insert_before",
    "delete",
    "move_lines",
    "copy_lines",
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
/// Keys that show that one object holds several operations.
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

impl OperationReader<'_> {
    /// Reads one operation and adds it to the patch.
    fn operation(&self, item: &Value, kind: ItemKind, patch: &mut Operations) -> Result<()> {
        let fields = Fields::of_operation(item, self.index, self.cancel)?;
        // `replace` is also a field of `add_file`, a flag.
        let is_key = |key: &&str| match fields.peek(key) {
            None | Some(Value::Null) => false,
            Some(Value::Object(_)) => true,
            Some(_) => *key != "replace",
        };
        let keys: Vec<&str> = KEYS.into_iter().filter(is_key).collect();
        let op = fields.peek("op");
        if keys.len() + usize::from(op.is_some()) > 1 {
            return Err(fields.invalid("combines several operations: give each its own object"));
        }
        let action = match (kind, op, keys.first()) {
            (ItemKind::Operations, ..) => self.main_action(&fields)?,
            (ItemKind::Edits, Some(_), _) => Action::Lines(self.tagged_edit(&fields)?),
            (ItemKind::Edits, None, Some(&key)) if KEYED_EDITS.contains(&key) => {
                let inner = fields.inner(key)?;
                let edit = self.keyed_edit(key, &inner)?;
                inner.refuse_unknown()?;
                Action::Lines(edit)
            }
            (ItemKind::Edits, None, _) => {
                return Err(fields.invalid(&format!(
                    "has no known edit: expected one of {}, or op: one of {}",
                    KEYED_EDITS.join(", "),
                    TAGGED_EDITS.join(", ")
                )));
            }
        };
        let verbatim = fields.flag("verbatim")?;
        let (index, path) = (self.index, self.path(&fields, &action)?);
        fields.refuse_unknown()?;
        match action {
            Action::Lines(action) => {
                patch.edits.push(Operation { index, path, verbatim, action });
            }
            Action::Transfer(transfer) => {
                let to = transfer.to.clone().unwrap_or_else(|| path.clone());
                let action = LineEdit::Take(transfer.clone());
                patch.edits.push(Operation { index, path, verbatim, action });
                let action = LineEdit::Put(transfer);
                patch.edits.push(Operation { index, path: to, verbatim, action });
            }
            Action::File(action) => patch.files.push(Operation { index, path, verbatim, action }),
        }
        Ok(())
    }

    fn path(&self, fields: &Fields<'_>, action: &Action) -> Result<String> {
        match (self.kind, self.shared_path) {
            (PatchKind::Text, _) => {
                fields.ignore("path");
                Ok(String::new())
            }
            (_, Some(path)) => Ok(path.to_owned()),
            _ => match action {
                Action::File(FileAction::Move { .. }) => fields.either_path("from", "from_path"),
                Action::File(
                    FileAction::Add { .. } | FileAction::Delete | FileAction::Restore(_),
                )
                | Action::Lines(_)
                | Action::Transfer(_) => {
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
            return Err(whole_file_error());
        }
        let edit = match op {
            "set_line" => {
                let first = fields.anchor(dialect, "anchor")?;
                replace(fields, first, None, fields.lines("text")?)?
            }
            "replace_range" if block(fields, "start_anchor", &["end_anchor"])? => {
                let first = fields.anchor(dialect, "start_anchor")?;
                of_block(replace(fields, first, None, fields.lines("text")?)?)
            }
            "replace_range" => {
                let first = fields.anchor(dialect, "start_anchor")?;
                let last = fields.anchor(dialect, "end_anchor")?;
                replace(fields, first, Some(last), fields.lines("text")?)?
            }
            "insert_after" => {
                let names_block = block(fields, "anchor", &[])?;
                let at = fields.position(dialect, "anchor", InsertAt::After)?;
                if names_block && !matches!(at, InsertAt::After(_)) {
                    return Err(
                        fields.wrong("anchor", "the anchor of a line, because block is true")
                    );
                }
                LineEdit::Insert { at, lines: fields.some_lines("text")?, block: names_block }
            }
            "insert_before" => LineEdit::Insert {
                at: fields.position(dialect, "anchor", InsertAt::Before)?,
                lines: fields.some_lines("text")?,
                block: false,
            },
            "delete" => self.delete(fields)?,
            "move_lines" | "copy_lines" => {
                return self.transfer(fields, op == "copy_lines").map(Action::Transfer);
            }
            "replace_text" => replace_text(fields)?,
            "set_path" | "insert_at_path" | "delete_path" => json_edit(op, fields)?,
            "add_file" if fields.flag("replace")? => {
                LineEdit::ReplaceFile { content: file_content(fields)? }
            }
            _ => return file_action(op, fields).map(Action::File),
        };
        Ok(Action::Lines(edit))
    }

    /// `{op: "move_lines", …}`
    fn transfer(&self, fields: &Fields<'_>, is_copy: bool) -> Result<Transfer> {
        let NamedLines { first, last, block } = self.lines_named(fields)?;
        let to = match fields.optional_text("to", "the path of the destination file")? {
            Some(_) if self.kind == PatchKind::Text => {
                return Err(fields
                    .invalid("has the field to: lines of a text in memory cannot go to a file"));
            }
            to => to.map(str::to_owned),
        };
        let at = if fields.has_value("to_anchor") || to.is_none() {
            Some(fields.position(self.dialect, "to_anchor", InsertAt::After)?)
        } else {
            None
        };
        let indent = match fields.optional_text("indent", "keep or fit")? {
            None | Some("keep") => MovedIndent::Keep,
            Some("fit") => MovedIndent::Fit,
            Some(_) => return Err(fields.wrong("indent", "keep or fit")),
        };
        Ok(Transfer { is_copy, first, last, block, to, at, at_block: false, indent })
    }

    fn delete(&self, fields: &Fields<'_>) -> Result<LineEdit> {
        let NamedLines { first, last, block } = self.lines_named(fields)?;
        let edit = replace(fields, first, last, Vec::new())?;
        Ok(if block { of_block(edit) } else { edit })
    }

    /// The lines of an operation: `anchor` (of a line or a block), `start_anchor` and `end_anchor`,
    /// or `range`.
    fn lines_named(&self, fields: &Fields<'_>) -> Result<NamedLines> {
        let (anchor, range) = (fields.has_value("anchor"), fields.has_value("range"));
        let ends = fields.has_value("start_anchor") | fields.has_value("end_anchor");
        if block(fields, "anchor", &["start_anchor", "end_anchor", "range"])? {
            let first = fields.anchor(self.dialect, "anchor")?;
            return Ok(NamedLines { first, last: None, block: true });
        }
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
                    "must name its lines once: give anchor, or start_anchor and end_anchor, or range",
                ));
            }
        };
        Ok(NamedLines { first, last, block: false })
    }

    /// `{set_line: {anchor, new_text}}` and the other keyed edits.
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
                block: false,
            },
            "set_path" | "insert_at_path" | "delete_path" => json_edit(key, fields)?,
            _ => replace_text(fields)?,
        })
    }

    /// `{op: "set", tag, content}` and the other tagged edits.
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
                block: false,
            },
            "prepend" => LineEdit::Insert {
                at: if fields.has_value("before") {
                    InsertAt::Before(fields.anchor(dialect, "before")?)
                } else {
                    InsertAt::Start
                },
                lines: fields.some_content()?,
                block: false,
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
                block: false,
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

/// A replacement with its optional checksum.
fn replace(
    fields: &Fields<'_>,
    first: Anchor,
    last: Option<Anchor>,
    lines: Vec<String>,
) -> Result<LineEdit> {
    let checksum =
        fields.checksum(first.line, last.as_ref().map_or(first.line, |last| last.line))?;
    Ok(LineEdit::Replace { first, last, lines, checksum, block: false })
}

/// Whether the anchor `name` names the block that begins there. Fields that name its end are then
/// refused.
fn block(fields: &Fields<'_>, name: &str, ends: &[&'static str]) -> Result<bool> {
    let names_block = fields.flag("block")?;
    match ends.iter().find(|end| names_block && fields.has_value(end)) {
        None => Ok(names_block),
        Some(end) => Err(fields.invalid(&format!(
            "has block and {end}: with block, give only {name}, the first line of the block"
        ))),
    }
}

fn of_block(mut edit: LineEdit) -> LineEdit {
    if let LineEdit::Replace { block, .. } = &mut edit {
        *block = true;
    }
    edit
}

/// `add_file`, `move_file` or `delete_file`; another `op` is unknown.
fn file_action(op: &str, fields: &Fields<'_>) -> Result<FileAction> {
    Ok(match op {
        "add_file" => FileAction::Add { content: file_content(fields)? },
        "move_file" => FileAction::Move { to: fields.either_path("to", "to_path")? },
        "delete_file" => FileAction::Delete,
        unknown => {
            return Err(fields.invalid(&format!(
                "has the unknown op {unknown:?}: expected one of {}",
                OPERATIONS.join(", ")
            )));
        }
    })
}

/// The content of `add_file`.
fn file_content(fields: &Fields<'_>) -> Result<String> {
    fields.text("content", "the whole content, a string").map(str::to_owned)
}

/// `set_path`, `insert_at_path` or `delete_path`.
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
    let new_text = fields.text("new_text", "the new text, a string")?;
    Ok(LineEdit::ReplaceText {
        old_text: old_text.to_owned(),
        new_text: new_text.to_owned(),
        all: fields.flag("all")?,
    })
}
