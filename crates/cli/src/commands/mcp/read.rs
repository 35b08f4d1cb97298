//! The tool that reads files.

use hashline_core::{Dialect, Limits, ReadReport, ReadRequest, ReadTurn};
use serde_json::{Value as Json, json};

use super::arguments::{Arguments, Trouble, plain_path};
use super::tool::{Answer, Call, Definition, Work, without_text};

pub const READ: Definition = Definition {
    name: "read",
    title: "Read",
    description,
    input_schema,
    other_names: &[
        ("file_path", "path"),
        ("filePath", "path"),
        ("file", "path"),
        ("offset", "start_line"),
        ("startLine", "start_line"),
        ("limit", "max_lines"),
        ("maxLines", "max_lines"),
        ("paths", "more_paths"),
        ("files", "more_paths"),
    ],
    work: Work::Reads(read),
};

fn description(dialect: &Dialect) -> String {
    let (separator, mark) = (dialect.separator as char, dialect.text_mark as char);
    format!(
        "Reads files. Each line comes as NUMBER{separator}HASH{mark}TEXT, where NUMBER{separator}HASH is its anchor: apply edits by these anchors. \
         Shows at most 2,000 lines and 50 KB, and says where to go on (start_line). Images are shown as images. \
         search finds lines in many files."
    )
}

fn input_schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, relative to the working directory"},
            "start_line": {"type": "integer", "description": "The first line to show, from 1"},
            "max_lines": {"type": "integer", "description": "The most lines to show"},
            "more_paths": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Further files to show in the same call",
            },
        },
        "required": ["path"],
    })
}

fn read(call: &Call, turn: &ReadTurn, mut given: Arguments<'_>) -> Result<Answer, Trouble> {
    let requests = requests(call, &mut given)?;
    Ok(answer(call.session.read(turn, &requests, &call.cancel)?))
}

/// The window belongs to the first file; the others are shown as far as there is room.
fn requests(call: &Call, given: &mut Arguments<'_>) -> Result<Vec<ReadRequest>, Trouble> {
    let mut more = given.texts("more_paths")?;
    let path = match given.optional_text("path")?.filter(|path| !path.is_empty()) {
        Some(path) => path,
        None if !more.is_empty() => more.remove(0),
        None => given.text("path", "the path of a file")?,
    };
    let start_line = given.count("start_line", 1, u64::MAX)?;
    let max_lines = given.count("max_lines", 1, u64::MAX)?;
    let mut requests = vec![ReadRequest {
        path: plain_path(&call.base, path, "path", given.repairs)?,
        start_line,
        limits: Limits { max_lines, max_bytes: None },
        ..ReadRequest::default()
    }];
    for (at, path) in more.into_iter().enumerate() {
        let path = plain_path(&call.base, path, &format!("more_paths[{at}]"), given.repairs)?;
        requests.push(ReadRequest { path, ..ReadRequest::default() });
    }
    Ok(requests)
}

fn answer(report: ReadReport) -> Answer {
    let ReadReport { text, views, images, next, .. } = report;
    let error = views.first().and_then(|view| view.error.as_ref());
    let is_error = views.iter().all(|view| view.error.is_some());
    let files: Vec<Json> = views.iter().map(without_text).collect();
    let mut structured = json!({"files": files, "truncated": !next.is_empty()});
    if let Some(error) = error.filter(|_| is_error) {
        structured["code"] = error.code.as_str().into();
    }
    Answer { text, is_error, images, structured }
}
