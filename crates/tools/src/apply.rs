//! The tool `apply`: edits, creates, moves and deletes files.

use hashline_core::host::{Turn, Value};
use hashline_core::{
    AnswerForm, AnswerOptions, Dialect, FileChange, Outcome, PatchOptions, format_hashed,
};
use serde_json::{Value as Json, json};

use crate::arguments::{Arguments, CallError, Fields};
use crate::operations::{LINE_FIELDS, PatchReader, arguments, usage};
use crate::read::encoding;
use crate::table::{Allowed, Field, Kind, PATH_NAMES, operations_of};
use crate::title::PartialArguments;
use crate::tool::{
    Answer, Call, NOTHING_WRITTEN, Names, Tool, ToolText, ToolsOptions, without_text,
};

pub static APPLY: Tool = Tool {
    title: "Apply",
    fields: &arguments(LINE_FIELDS),
    text: tool_text,
    run: apply,
    title_of: title,
};

fn tool_text(options: &ToolsOptions, dialect: &Dialect) -> ToolText {
    let ToolsOptions { names, operations: allowed, .. } = options;
    let Names { read, search, apply, .. } = names;
    let after =
        |gap: &str, part: String| if part.is_empty() { part } else { format!("{gap}{part}") };
    ToolText {
        description: format!(
            "{}: all operations, or none. \
             Copy anchors from {read}, {search} and answers of {apply}; all of a call refer to the files before it. \
             The answer has the new anchors of changed lines; others stay valid as they were shown. A refusal shows the lines as they are: correct the anchors and send all operations again.{}{}",
            file_verbs(allowed, "s"),
            after("\n", usage(allowed)),
            after("\n\n", example(names, dialect, allowed))
        ),
        snippet: format!(
            "{} by the anchors that {read} and {search} show",
            file_verbs(allowed, "")
        ),
        guidelines: vec![
            format!(
                "Change files only with {apply}; put all edits that belong together into one call."
            ),
            format!(
                "After {apply}, use the anchors of its answer; {read} again only what it did not show."
            ),
        ],
        advice: format!("Use {read} on the files for their anchors."),
    }
}

/// The operations on whole files, and the verb for each.
const WHOLE_FILES: [(&str, &str); 3] =
    [("add_file", "create"), ("move_file", "move"), ("delete_file", "delete")];

/// What the allowed operations do to files: `Edits, creates and moves files` with the ending `s`.
fn file_verbs(allowed: &Allowed, ending: &str) -> String {
    let is_edit = |name: &str| WHOLE_FILES.iter().all(|(whole, _)| *whole != name);
    let edits = operations_of(LINE_FIELDS, allowed)
        .any(|operation| is_edit(operation.name))
        .then_some("edit");
    let whole = WHOLE_FILES.iter().filter(|(name, _)| allowed.has(name)).map(|(_, verb)| *verb);
    let verbs: Vec<String> =
        edits.into_iter().chain(whole).map(|verb| verb.to_owned() + ending).collect();
    let list = match verbs.as_slice() {
        [others @ .., before, last] => {
            [others, &[format!("{before} and {last}")]].concat().join(", ")
        }
        verbs => verbs.concat(),
    };
    let (first, rest) = list.split_at_checked(1).unwrap_or_default();
    format!("{}{rest} files", first.to_uppercase())
}

/// Those of an example's operations that are allowed.
pub fn allowed_examples<const N: usize>(allowed: &Allowed, example: [Json; N]) -> Vec<Json> {
    let is_allowed = |operation: &Json| operation["op"].as_str().is_some_and(|op| allowed.has(op));
    example.into_iter().filter(is_allowed).collect()
}

const EXAMPLE: &str = "function hi() {\n  log('Hi')\n}";

/// A read and an edit of the lines that it showed; empty if none of its operations is allowed.
fn example(names: &Names, dialect: &Dialect, allowed: &Allowed) -> String {
    let task = match ["set_line", "copy_lines"].map(|name| allowed.has(name)) {
        [true, true] => "change line 2 and copy the old function",
        [true, false] => "change line 2",
        [false, true] => "copy the function",
        [false, false] => return String::new(),
    };
    // Rendering needs a `'static` dialect.
    let Ok(dialect) = Dialect::by_name(dialect.name) else { return String::new() };
    let rendered = format_hashed(dialect, EXAMPLE.as_bytes(), 1);
    let rows = String::from_utf8_lossy(&rendered);
    // A rendered line is the anchor, a mark of one character and the text.
    let anchors: Vec<&str> = rows
        .lines()
        .zip(EXAMPLE.lines())
        .map(|(row, line)| &row[..row.len() - line.len() - 1])
        .collect();
    let edits = allowed_examples(
        allowed,
        [
            json!({"op": "set_line", "anchor": anchors[1], "text": "  log('Hello')"}),
            json!({"op": "copy_lines", "anchor": anchors[0], "block": true, "to": "b.js", "to_anchor": "EOF"}),
        ],
    );
    format!(
        "{} showed of a.js\n{rows}\nTo {task}:\n{}",
        names.read,
        json!({"path": "a.js", "operations": edits})
    )
}

/// The form of the answer. By default it has only the new anchors, because the model has just
/// written the lines. If context lines are requested, the changed lines are shown with them.
pub fn answer_options(requested: AnswerOptions) -> AnswerOptions {
    let form = requested.context_lines.map_or(AnswerForm::Brief, |_| AnswerForm::Region);
    requested.or(AnswerOptions { form: Some(form), context_lines: Some(1) })
}

/// How many unchanged lines diffs show around each change.
pub const DIFF_CONTEXT_LINES: u64 = 3;

fn apply(call: &Call<'_>, turn: Turn, given: Arguments<'_>) -> Result<Answer, CallError> {
    apply_operations(call, turn, given, LINE_FIELDS)
}

/// Applies the operations in the arguments, which follow a schema.
pub fn apply_operations(
    call: &Call<'_>,
    turn: Turn,
    given: Arguments<'_>,
    schema: &'static [Field],
) -> Result<Answer, CallError> {
    let encoding = encoding(&given)?;
    let patch = PatchReader::patch(call, schema, given)?;
    apply_patch(call, turn, patch, encoding)
}

/// Applies a patch.
pub fn apply_patch(
    call: &Call<'_>,
    turn: Turn,
    patch: Value,
    encoding: Option<String>,
) -> Result<Answer, CallError> {
    let patch = patch.into();
    let of_session = call.session.options().workspace.apply.edit.answer;
    let options = PatchOptions {
        answer: answer_options(call.options.answer.or(of_session)),
        dry_run: call.options.dry_run,
        plan: call.options.plan.clone(),
        diff_context_lines: Some(DIFF_CONTEXT_LINES),
        keeps_written: call.options.settles,
        encoding,
        ..PatchOptions::default()
    };
    Ok(answer_of(turn.apply(&patch, &options, call.cancel)?))
}

/// The answer with an outcome.
pub fn answer_of(outcome: Outcome) -> Answer {
    let structured = without_text(&outcome);
    match outcome {
        Outcome::Applied(applied) => Answer {
            text: applied.text,
            summary: match applied.files.as_slice() {
                [] => "no change".to_owned(),
                files => files.iter().map(summary).collect::<Vec<_>>().join(", "),
            },
            diff: diff(&applied.files),
            plan: applied.plan,
            written: applied.written,
            structured,
            ..Answer::default()
        },
        Outcome::Rejected(rejected) => {
            let first = rejected.failures.first();
            let location =
                first.map(|failure| [failure.path.as_deref(), failure.anchor.as_deref()]);
            let location: Vec<&str> = location.into_iter().flatten().flatten().collect();
            let at = if location.is_empty() { "" } else { " at " };
            Answer {
                text: format!("{NOTHING_WRITTEN}\n{}", rejected.text),
                is_error: true,
                codes: rejected.failures.iter().map(|failure| failure.code).collect(),
                summary: format!("refused: {}{at}{}", rejected.code.as_str(), location.join(" ")),
                structured,
                ..Answer::default()
            }
        }
    }
}

fn diff(files: &[FileChange]) -> Option<String> {
    let diffs: Vec<&str> =
        files.iter().filter_map(|file| Some(file.diff.as_ref()?.text.as_str())).collect();
    (!diffs.is_empty()).then(|| diffs.concat())
}

fn summary(file: &FileChange) -> String {
    let FileChange { path, from, change, added, removed, .. } = file;
    let name = match from {
        Some(from) => format!("{from} → {path}"),
        None => path.clone(),
    };
    let what = match change.as_str() {
        "edited" | "moved" => None,
        other => Some(other.to_owned()),
    };
    let counts = [(*added, '+'), (*removed, '-')];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, sign)| format!("{sign}{count}"));
    let parts: Vec<String> = std::iter::once(name).chain(what).chain(counts).collect();
    parts.join(" ")
}

pub const OPERATIONS: Field = Field::new("operations", Kind::Texts, "").aliases(&["edits"]);
pub const OP: Field = Field::new("op", Kind::Text, "").aliases(&["type"]);
const PATH: Field = Field::new("path", Kind::Path, "").aliases(PATH_NAMES);
const SOURCE: Field = Field::new("from", Kind::Path, "").aliases(&["from_path"]);

/// The files that a call edits, with the number of operations on each.
pub fn title(given: &PartialArguments) -> String {
    let path_of = |arguments: &PartialArguments| {
        arguments.scalar(&PATH).or_else(|| arguments.scalar(&SOURCE))
    };
    let listed: Vec<PartialArguments> =
        given.list(&OPERATIONS).iter().filter_map(PartialArguments::of_object).collect();
    let mut counts: Vec<(String, u64)> = Vec::new();
    let shared = path_of(given);
    let mut count = |path: Option<String>| {
        let Some(path) = path else { return };
        match counts.iter_mut().find(|(known, _)| *known == path) {
            Some((_, count)) => *count += 1,
            None => counts.push((path, 1)),
        }
    };
    if listed.is_empty() && given.scalar(&OP).is_some() {
        count(shared);
    } else {
        for one in &listed {
            count(path_of(one).or_else(|| shared.clone()));
        }
    }
    let named = |(path, count): &(String, u64)| match count {
        1 => path.clone(),
        _ => format!("{path} ×{count}"),
    };
    counts.iter().map(named).collect::<Vec<_>>().join(", ")
}

/// The file of an edit, if the call named only one.
pub fn only_file(call: &Call<'_>, given: Arguments<'_>) -> Option<String> {
    let patch = PatchReader::patch(call, LINE_FIELDS, given).ok()?;
    let Value::Object(fields) = patch else { return None };
    let fields = Fields(fields);
    let path_of = |fields: &Fields| {
        fields.string("path").or_else(|| fields.string("from")).map(str::to_owned)
    };
    let Some(Value::Array(operations)) = fields.get("operations") else { return path_of(&fields) };
    let mut paths = operations.iter().map(|operation| match operation {
        Value::Object(fields) => path_of(&Fields(fields.clone())),
        _ => None,
    });
    let first = paths.next()??;
    paths.all(|path| path.as_ref() == Some(&first)).then_some(first)
}
