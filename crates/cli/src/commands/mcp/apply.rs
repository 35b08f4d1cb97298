//! The tool that edits files.

use hashline_core::{Dialect, Outcome, WriteTurn, format_hashed};
use serde_json::{Value as Json, json};

use super::arguments::{Arguments, Trouble};
use super::operations::{patch, schema_of_patch};
use super::tool::{Answer, Call, Definition, NOTHING_WRITTEN, Work, within, without_text};

pub const APPLY: Definition = Definition {
    name: "apply",
    title: "Apply",
    description,
    input_schema,
    other_names: &[],
    work: Work::Writes(apply),
};

fn description(dialect: &Dialect) -> String {
    format!(
        "Edits, creates, moves and deletes files, any number in one call: all operations are carried out, or none. \
         Lines are named by the anchors that read, search and earlier answers of apply showed; copy them exactly. \
         All anchors of a call refer to the files before it. The answer shows the changed lines with new anchors, so no new read is needed. \
         A refusal shows the lines as they are: correct the anchors and send all operations again.\n\n{}",
        example(dialect)
    )
}

const EXAMPLE: &str = "function greet(name) {\n  const hi = 'Hi'\n  log(hi)\n}";

/// A read and an edit of what it showed.
fn example(dialect: &Dialect) -> String {
    // The table's own row: what renders wants one that lives as long as the program.
    let Ok(dialect) = Dialect::by_name(dialect.name) else { return String::new() };
    let rendered = format_hashed(dialect, EXAMPLE.as_bytes(), 1);
    let rows = String::from_utf8_lossy(&rendered);
    // In front of the mark, whose place depends on the dialect, stands the anchor.
    let anchors: Vec<&str> = rows
        .lines()
        .zip(EXAMPLE.lines())
        .map(|(row, line)| &row[..row.len() - line.len() - 1])
        .collect();
    let edits = json!([
        {"op": "set_line", "path": "greet.js", "anchor": anchors[1], "text": "  const hi = 'Hi, ' + name"},
        {"op": "insert_after", "path": "greet.js", "anchor": anchors[2], "text": "  return hi"},
    ]);
    format!(
        "Example. read showed of greet.js\n{rows}\nand this changes line 2 and adds a line below line 3:\n{}",
        json!({"operations": edits})
    )
}

fn input_schema() -> Json {
    let text = |description: &str| json!({"type": "string", "description": description});
    let operation = json!({
        "type": "object",
        "properties": {
            "op": {
                "type": "string",
                "enum": [
                    "set_line",
                    "replace_range",
                    "insert_after",
                    "insert_before",
                    "delete",
                    "replace_text",
                    "add_file",
                    "move_file",
                    "delete_file",
                ],
            },
            "path": text("The file; of move_file: where it is"),
            "anchor": text("set_line, delete: the line. insert_after, insert_before: also BOF, EOF"),
            "start_anchor": text("replace_range, delete: the first line"),
            "end_anchor": text("replace_range, delete: the last line"),
            "text": text("set_line, replace_range, insert_*: the new lines, without anchors"),
            "old_text": text("replace_text: exact text, found once"),
            "new_text": text("replace_text: its replacement"),
            "all": {"type": "boolean", "description": "replace_text: every occurrence"},
            "content": text("add_file: the whole content"),
            "to": text("move_file: the new path"),
            "verbatim": {"type": "boolean", "description": "Take the text to the letter"},
        },
        "required": ["op", "path"],
    });
    schema_of_patch(operation)
}

/// How many unchanged lines diffs show around each change.
const DIFF_CONTEXT_LINES: u64 = 3;

/// Carries out the operations of `apply`, and those of `apply_json`.
pub fn apply(call: &Call, turn: &WriteTurn, mut given: Arguments<'_>) -> Result<Answer, Trouble> {
    let patch = patch(&call.base, &mut given)?;
    let outcome = call.session.apply(turn, &patch, false, DIFF_CONTEXT_LINES, &call.cancel)?;
    let structured = without_text(&outcome);
    let (text, is_error) = match outcome {
        Outcome::Applied(applied) => (within(applied.text), false),
        Outcome::Rejected(rejected) => {
            (format!("{NOTHING_WRITTEN}\n{}", within(rejected.text)), true)
        }
    };
    Ok(Answer { text, is_error, structured, ..Answer::default() })
}
