//! Patches that are built in Rust or parsed from JSON. A mistake in one is reported when the patch
//! is applied, with the refusal that a model would read.

use std::path::Path;

use crate::json::{VALUE, Value};
use hashline_base::error::Result;

/// A patch: operations that are applied together, all of them or none.
///
/// ```
/// use hashline_core::{Patch, PatchOperation};
///
/// let patch = Patch::from([
///     PatchOperation::set_line("src/a.rs", "2:9f", "let two = 2;"),
///     PatchOperation::insert_after("src/a.rs", "7:c1", ["let three = 3;", "let four = 4;"].join("\n")),
///     PatchOperation::move_file("src/b.rs", "src/c.rs"),
/// ]);
/// let same = Patch::from_json(r#"{"operations": [
///     {"op": "set_line", "path": "src/a.rs", "anchor": "2:9f", "text": "let two = 2;"},
///     {"op": "insert_after", "path": "src/a.rs", "anchor": "7:c1", "text": "let three = 3;\nlet four = 4;"},
///     {"op": "move_file", "from": "src/b.rs", "to": "src/c.rs"}
/// ]}"#)?;
/// assert_eq!(patch, same);
/// # Ok::<(), hashline_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Patch(Value);

impl Patch {
    /// Parses a patch from JSON text, in any of the shapes that models write. A field `value` is
    /// kept as it is written: keys in their order, numbers with all of their digits.
    pub fn from_json(text: &str) -> Result<Patch> {
        Value::from_json(text).map(Patch)
    }

    /// Adds the snapshot of the file that the author of the patch was shown. While the file is
    /// unchanged, no anchor is relocated; a changed file is edited as without a snapshot.
    #[must_use]
    pub fn with_snapshot(mut self, path: impl AsRef<Path>, snapshot: impl Into<String>) -> Patch {
        let path = path.as_ref().to_string_lossy().into_owned();
        let one = (path, Value::String(snapshot.into()));
        if let Value::Object(fields) = &mut self.0 {
            match fields.iter_mut().find(|(name, _)| name == SNAPSHOTS) {
                Some((_, Value::Object(snapshots))) => snapshots.push(one),
                _ => fields.push((SNAPSHOTS.to_owned(), Value::Object(vec![one]))),
            }
        }
        self
    }

    /// The patch as data.
    pub(crate) fn value(&self) -> &Value {
        &self.0
    }
}

const SNAPSHOTS: &str = "snapshots";

impl From<Value> for Patch {
    fn from(value: Value) -> Patch {
        Patch(value)
    }
}

impl From<serde_json::Value> for Patch {
    fn from(value: serde_json::Value) -> Patch {
        Patch(value.into())
    }
}

impl From<&Patch> for Patch {
    fn from(patch: &Patch) -> Patch {
        patch.clone()
    }
}

impl From<PatchOperation> for Patch {
    fn from(operation: PatchOperation) -> Patch {
        Patch::from([operation])
    }
}

impl From<Vec<PatchOperation>> for Patch {
    fn from(operations: Vec<PatchOperation>) -> Patch {
        operations.into_iter().collect()
    }
}

impl<const N: usize> From<[PatchOperation; N]> for Patch {
    fn from(operations: [PatchOperation; N]) -> Patch {
        operations.into_iter().collect()
    }
}

impl FromIterator<PatchOperation> for Patch {
    fn from_iter<I: IntoIterator<Item = PatchOperation>>(operations: I) -> Patch {
        let operations =
            operations.into_iter().map(|operation| Value::Object(operation.0)).collect();
        Patch(Value::Object(vec![("operations".to_owned(), Value::Array(operations))]))
    }
}

/// A path that is not valid Unicode becomes a value that is refused when the patch is applied.
fn path_field(name: &str, path: impl AsRef<Path>) -> (&str, Value) {
    let path = path.as_ref().to_str();
    (name, path.map_or(Value::IllFormed, |path| Value::String(path.to_owned())))
}

fn text_field(name: &str, text: impl Into<String>) -> (&str, Value) {
    (name, Value::String(text.into()))
}

/// One operation of a [`Patch`]. Lines are named by their anchors, or by whole rendered lines.
/// Texts of several lines have `\n` between them.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchOperation(Vec<(String, Value)>);

impl PatchOperation {
    fn new<const N: usize>(op: &str, fields: [(&str, Value); N]) -> PatchOperation {
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        let op = ("op".to_owned(), Value::String(op.to_owned()));
        PatchOperation([op].into_iter().chain(fields).collect())
    }

    fn with(mut self, name: &str, value: Value) -> PatchOperation {
        self.0.push((name.to_owned(), value));
        self
    }

    /// Replaces a line.
    pub fn set_line(
        path: impl AsRef<Path>,
        anchor: impl Into<String>,
        text: impl Into<String>,
    ) -> PatchOperation {
        let fields =
            [path_field("path", path), text_field("anchor", anchor), text_field("text", text)];
        PatchOperation::new("set_line", fields)
    }

    /// Replaces a range of lines, both ends included.
    pub fn replace_range(
        path: impl AsRef<Path>,
        start_anchor: impl Into<String>,
        end_anchor: impl Into<String>,
        text: impl Into<String>,
    ) -> PatchOperation {
        let fields = [
            path_field("path", path),
            text_field("start_anchor", start_anchor),
            text_field("end_anchor", end_anchor),
            text_field("text", text),
        ];
        PatchOperation::new("replace_range", fields)
    }

    /// Inserts lines after a line. The anchor `"BOF"` is the start of the file, `"EOF"` its end.
    pub fn insert_after(
        path: impl AsRef<Path>,
        anchor: impl Into<String>,
        text: impl Into<String>,
    ) -> PatchOperation {
        let fields =
            [path_field("path", path), text_field("anchor", anchor), text_field("text", text)];
        PatchOperation::new("insert_after", fields)
    }

    /// Inserts lines before a line.
    pub fn insert_before(
        path: impl AsRef<Path>,
        anchor: impl Into<String>,
        text: impl Into<String>,
    ) -> PatchOperation {
        let fields =
            [path_field("path", path), text_field("anchor", anchor), text_field("text", text)];
        PatchOperation::new("insert_before", fields)
    }

    /// Deletes a line.
    pub fn delete_line(path: impl AsRef<Path>, anchor: impl Into<String>) -> PatchOperation {
        PatchOperation::new("delete", [path_field("path", path), text_field("anchor", anchor)])
    }

    /// Deletes a range of lines, both ends included.
    pub fn delete_range(
        path: impl AsRef<Path>,
        start_anchor: impl Into<String>,
        end_anchor: impl Into<String>,
    ) -> PatchOperation {
        let fields = [
            path_field("path", path),
            text_field("start_anchor", start_anchor),
            text_field("end_anchor", end_anchor),
        ];
        PatchOperation::new("delete", fields)
    }

    /// Moves a range of lines, both ends included, to after a line of the same or another file. The
    /// anchor `"BOF"` is the start of the file, `"EOF"` its end.
    pub fn move_lines(
        path: impl AsRef<Path>,
        start_anchor: impl Into<String>,
        end_anchor: impl Into<String>,
        to: impl AsRef<Path>,
        to_anchor: impl Into<String>,
    ) -> PatchOperation {
        let fields = [
            path_field("path", path),
            text_field("start_anchor", start_anchor),
            text_field("end_anchor", end_anchor),
            path_field("to", to),
            text_field("to_anchor", to_anchor),
        ];
        PatchOperation::new("move_lines", fields)
    }

    /// Moves the whole block that begins at a line, with the comments and attributes directly above
    /// it, to after a line.
    pub fn move_block(
        path: impl AsRef<Path>,
        anchor: impl Into<String>,
        to: impl AsRef<Path>,
        to_anchor: impl Into<String>,
    ) -> PatchOperation {
        let fields = [
            path_field("path", path),
            text_field("anchor", anchor),
            path_field("to", to),
            text_field("to_anchor", to_anchor),
        ];
        PatchOperation::new("move_lines", fields).of_block()
    }

    /// Replaces the only occurrence of a text.
    pub fn replace_text(
        path: impl AsRef<Path>,
        old_text: impl Into<String>,
        new_text: impl Into<String>,
    ) -> PatchOperation {
        let fields = [
            path_field("path", path),
            text_field("old_text", old_text),
            text_field("new_text", new_text),
        ];
        PatchOperation::new("replace_text", fields)
    }

    /// Replaces all occurrences of a text.
    pub fn replace_all(
        path: impl AsRef<Path>,
        old_text: impl Into<String>,
        new_text: impl Into<String>,
    ) -> PatchOperation {
        PatchOperation::replace_text(path, old_text, new_text).with("all", Value::Bool(true))
    }

    /// Sets a value of a JSON document.
    pub fn set_path(
        path: impl AsRef<Path>,
        anchor: impl Into<String>,
        value: &serde_json::Value,
    ) -> PatchOperation {
        PatchOperation::new("set_path", [path_field("path", path), text_field("anchor", anchor)])
            .with(VALUE, Value::Json(value.to_string()))
    }

    /// Inserts a value into an object of a JSON document, under a new key.
    pub fn insert_key(
        path: impl AsRef<Path>,
        anchor: impl Into<String>,
        key: impl Into<String>,
        value: &serde_json::Value,
    ) -> PatchOperation {
        let fields =
            [path_field("path", path), text_field("anchor", anchor), text_field("key", key)];
        PatchOperation::new("insert_at_path", fields).with(VALUE, Value::Json(value.to_string()))
    }

    /// Inserts a value into an array of a JSON document: before the element that has this index
    /// before the patch, or at the end.
    pub fn insert_element(
        path: impl AsRef<Path>,
        anchor: impl Into<String>,
        index: Option<usize>,
        value: &serde_json::Value,
    ) -> PatchOperation {
        let fields = [path_field("path", path), text_field("anchor", anchor)];
        let operation = PatchOperation::new("insert_at_path", fields)
            .with(VALUE, Value::Json(value.to_string()));
        match index {
            Some(index) => operation.with("index", Value::Number(index as f64)),
            None => operation,
        }
    }

    /// Deletes a value of a JSON document, with its key.
    pub fn delete_path(path: impl AsRef<Path>, anchor: impl Into<String>) -> PatchOperation {
        PatchOperation::new("delete_path", [path_field("path", path), text_field("anchor", anchor)])
    }

    /// Creates a file.
    pub fn add_file(path: impl AsRef<Path>, content: impl Into<String>) -> PatchOperation {
        PatchOperation::new("add_file", [path_field("path", path), text_field("content", content)])
    }

    /// Replaces the whole content of a file, or creates the file. An existing file keeps its
    /// encoding, line ends and attributes. In a [`Session`](crate::Session), all lines that it
    /// removes must have been shown.
    pub fn replace_file(path: impl AsRef<Path>, content: impl Into<String>) -> PatchOperation {
        PatchOperation::add_file(path, content).with("replace", Value::Bool(true))
    }

    /// Moves a file.
    pub fn move_file(from: impl AsRef<Path>, to: impl AsRef<Path>) -> PatchOperation {
        PatchOperation::new("move_file", [path_field("from", from), path_field("to", to)])
    }

    /// Deletes a file.
    pub fn delete_file(path: impl AsRef<Path>) -> PatchOperation {
        PatchOperation::new("delete_file", [path_field("path", path)])
    }

    /// Replaces the whole block that begins at a line, with the comments and attributes directly
    /// above it.
    pub fn replace_block(
        path: impl AsRef<Path>,
        start_anchor: impl Into<String>,
        text: impl Into<String>,
    ) -> PatchOperation {
        let fields = [
            path_field("path", path),
            text_field("start_anchor", start_anchor),
            text_field("text", text),
        ];
        PatchOperation::new("replace_range", fields).of_block()
    }

    /// Inserts lines after the whole block that begins at a line.
    pub fn insert_after_block(
        path: impl AsRef<Path>,
        anchor: impl Into<String>,
        text: impl Into<String>,
    ) -> PatchOperation {
        PatchOperation::insert_after(path, anchor, text).of_block()
    }

    /// Deletes the whole block that begins at a line, with the comments and attributes directly
    /// above it.
    pub fn delete_block(path: impl AsRef<Path>, anchor: impl Into<String>) -> PatchOperation {
        PatchOperation::delete_line(path, anchor).of_block()
    }

    fn of_block(self) -> PatchOperation {
        self.with("block", Value::Bool(true))
    }

    /// Uses the text of this operation literally, without repairs.
    #[must_use]
    pub fn verbatim(self) -> PatchOperation {
        self.with("verbatim", Value::Bool(true))
    }

    /// Refuses this replacement if the lines have changed since a view showed them with this
    /// checksum.
    #[must_use]
    pub fn with_checksum(self, checksum: impl Into<String>) -> PatchOperation {
        self.with("checksum", Value::String(checksum.into()))
    }
}
