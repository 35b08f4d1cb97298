//! The tools `read_json` and `apply_json`, which read and edit values of JSON documents by path.

use hashline_core::host::Turn;
use hashline_core::{Dialect, JsonRequest, JsonView, Limits};
use serde_json::json;

use crate::apply::{allowed_examples, apply_operations, title as title_of_apply};
use crate::arguments::{Arguments, CallError, MAX_COUNT};
use crate::bounds;
use crate::operations::{VALUE_FIELDS, arguments};
use crate::path::plain_path;
use crate::read::{
    MAX_LINES, PATH, START_LINE, UNLISTED_ENCODING, encoding, title as title_of_read,
};
use crate::tool::{Answer, Call, Names, Tool, ToolText, ToolsOptions, without_text};

pub static READ_JSON: Tool = Tool {
    title: "Read JSON",
    fields: &[PATH, START_LINE, MAX_LINES.about("Those of anchors count"), UNLISTED_ENCODING],
    text: read_text,
    run: read_json,
    title_of: title_of_read,
};

pub static APPLY_JSON: Tool = Tool {
    title: "Apply JSON",
    fields: &arguments(VALUE_FIELDS),
    text: apply_text,
    run: apply_json,
    title_of: title_of_apply,
};

fn read_text(options: &ToolsOptions, _: &Dialect) -> ToolText {
    let Names { read_json, apply_json, .. } = &options.names;
    let limits = options.limits.words();
    ToolText {
        description: format!(
            "Reads a JSON document, with comments or without, as it is in its file. \
             Above each line comes a comment // $.PATH:HASH for every value that begins in it, \
             where $.PATH:HASH is the anchor of the value: {apply_json} edits by these anchors. \
             Shows at most {limits}, and says where to go on (start_line)."
        ),
        snippet: format!(
            "Read a JSON document, each value with the anchor that {apply_json} edits by"
        ),
        guidelines: vec![format!(
            "Values of JSON documents can be edited by path: {read_json}, then {apply_json}."
        )],
        advice: "Continue with start_line.".to_owned(),
    }
}

fn apply_text(options: &ToolsOptions, _: &Dialect) -> ToolText {
    let read_json = &options.names.read_json;
    let edits = allowed_examples(
        &options.operations,
        [
            json!({"op": "set_path", "anchor": "$.version:a7", "value": "\"1.1.0\""}),
            json!({"op": "insert_at_path", "anchor": "$.scripts:89", "key": "test", "value": "\"node --test\""}),
        ],
    );
    let example = if edits.is_empty() {
        String::new()
    } else {
        let call = json!({"path": "package.json", "operations": edits});
        format!("\n\nExample, with anchors from {read_json} of package.json:\n{call}")
    };
    ToolText {
        description: format!(
            "Edits values of JSON documents by path, any number in one call: \
             all operations are applied, or none. \
             Values are named by the anchors that {read_json} showed; copy them exactly. \
             All anchors of a call refer to the documents before it; \
             comments, order and layout of everything else stay as they are. \
             A refusal shows the current anchors: correct them and send all operations again.{example}"
        ),
        snippet: format!("Edit values of JSON documents by the anchors that {read_json} shows"),
        guidelines: Vec::new(),
        advice: format!("Use {read_json} on the files for their anchors."),
    }
}

fn read_json(call: &Call<'_>, turn: Turn, mut given: Arguments<'_>) -> Result<Answer, CallError> {
    given.normalize(READ_JSON.fields)?;
    let path = given.text(PATH.name, "the path of a file")?;
    let most = bounds::MAX_LINES as u64;
    let max_lines = given.count(MAX_LINES.name, 1, most)?.unwrap_or(most);
    let start_line = given.count(START_LINE.name, 1, MAX_COUNT)?;
    let path = plain_path(call, path, PATH.name, given.repairs)?;
    let request = JsonRequest {
        start_line,
        encoding: encoding(&given)?,
        limits: Limits {
            max_lines: Some(max_lines),
            max_bytes: Some(call.session.options().limits.max_bytes),
        },
        ..JsonRequest::new(path)
    };
    let view = turn.read_json(&request, call.cancel)?;
    let structured = without_text(&view);
    let lines = bounds::plural(view.line_count, "line", "lines");
    let summary = format!("{}: {lines}", view.path);
    Ok(Answer { text: page(view), summary, structured, ..Answer::default() })
}

/// The text of a view, with where to continue.
fn page(view: JsonView) -> String {
    let JsonView { mut text, line_count, next_line, .. } = view;
    if let Some(next) = next_line {
        text += &format!("\n({line_count} lines. Continue from line {next}.)");
    }
    text
}

fn apply_json(call: &Call<'_>, turn: Turn, given: Arguments<'_>) -> Result<Answer, CallError> {
    apply_operations(call, turn, given, VALUE_FIELDS)
}
