//! The tools that read and edit values of JSON documents by path.

use hashline_core::{Dialect, JsonRequest, JsonView, Limits, ReadTurn};
use serde_json::{Value as Json, json};

use super::apply::apply;
use super::arguments::{Arguments, Trouble, plain_path};
use super::operations::schema_of_patch;
use super::tool::{Answer, Call, Definition, MAX_BYTES, MAX_LINES, Work, without_text};

pub const READ_JSON: Definition = Definition {
    name: "read_json",
    title: "Read JSON",
    description: |_| READ_DESCRIPTION.to_owned(),
    input_schema: read_schema,
    other_names: &[
        ("file_path", "path"),
        ("filePath", "path"),
        ("file", "path"),
        ("offset", "start_line"),
        ("startLine", "start_line"),
        ("limit", "max_lines"),
        ("maxLines", "max_lines"),
    ],
    work: Work::Reads(read_json),
};

pub const APPLY_JSON: Definition = Definition {
    name: "apply_json",
    title: "Apply JSON",
    description: apply_description,
    input_schema: apply_schema,
    other_names: &[],
    work: Work::Writes(apply),
};

const READ_DESCRIPTION: &str = "Reads a JSON document, with comments or without, as it stands in its file. \
    Above each line comes a comment // $.PATH:HASH for every value that begins in it, where $.PATH:HASH is the anchor of the value: apply_json edits by these anchors. \
    Shows at most 2,000 lines and 50 KB, and says where to go on (start_line).";

fn apply_description(_: &Dialect) -> String {
    let edits = json!([
        {"op": "set_path", "path": "package.json", "anchor": "$.version:a7", "value": "\"1.1.0\""},
        {"op": "insert_at_path", "path": "package.json", "anchor": "$.scripts:89", "key": "test", "value": "\"node --test\""},
    ]);
    format!(
        "Edits values of JSON documents by path, any number in one call: all operations are carried out, or none. \
         Values are named by the anchors that read_json showed; copy them exactly. \
         All anchors of a call refer to the documents before it; comments, order and layout of everything else stay as they are. \
         A refusal shows the current anchors: correct them and send all operations again.\n\n\
         Example, with anchors that read_json showed of package.json:\n{}",
        json!({"operations": edits})
    )
}

fn read_schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, relative to the working directory"},
            "start_line": {"type": "integer", "description": "The first line of the file to show, from 1"},
            "max_lines": {"type": "integer", "description": "The most lines to show, those of anchors too"},
        },
        "required": ["path"],
    })
}

fn apply_schema() -> Json {
    let text = |description: &str| json!({"type": "string", "description": description});
    let operation = json!({
        "type": "object",
        "properties": {
            "op": {"type": "string", "enum": ["set_path", "insert_at_path", "delete_path"]},
            "path": text("The file"),
            "anchor": text("set_path, delete_path: the value. insert_at_path: the object or array"),
            "value": text("set_path, insert_at_path: the new value as JSON text, like \"a\" in quotes, 5 or {\"b\":true}"),
            "key": text("insert_at_path into an object: the new key"),
            "index": {
                "type": "integer",
                "description": "insert_at_path into an array: before the element with this index; the end when left out",
            },
        },
        "required": ["op", "path", "anchor"],
    });
    schema_of_patch(operation)
}

fn read_json(call: &Call, turn: &ReadTurn, mut given: Arguments<'_>) -> Result<Answer, Trouble> {
    let path = given.text("path", "the path of a file")?;
    let max_lines = given.count("max_lines", 1, MAX_LINES as u64)?.unwrap_or(MAX_LINES as u64);
    let request = JsonRequest {
        path: plain_path(&call.base, path, "path", given.repairs)?,
        start_line: given.count("start_line", 1, u64::MAX)?,
        limits: Limits { max_lines: Some(max_lines), max_bytes: Some(MAX_BYTES) },
        ..JsonRequest::default()
    };
    let view = call.session.read_json(turn, &request, &call.cancel)?;
    let structured = without_text(&view);
    Ok(Answer { text: page(view), structured, ..Answer::default() })
}

/// What is shown, and where to go on.
fn page(view: JsonView) -> String {
    let JsonView { mut text, line_count, next_line, .. } = view;
    if let Some(next) = next_line {
        text += &format!("\n(The file has {line_count} lines. Go on from line {next}.)");
    }
    text
}
