//! The calls of `vectors/tools.jsonl`. How they are made is in `__test__/bindings/toolCalls.mjs`.

// Paths and messages of the system were recorded on Unix.
#![cfg(unix)]

use std::fs;

use hashline_core::SessionOptions;
use hashline_core::host::Value;
use serde_json::{Map, Value as Json, json};

use crate::support::{Files, Project};

/// The answer to a call in a fresh directory, whose path is written as `<dir>`.
fn answer(before: &Json, tool: &str, given: impl FnOnce(&str) -> Value) -> Json {
    let files: Files = serde_json::from_value(before["files"].clone()).unwrap();
    let project = Project::with(&files, SessionOptions::default());
    // A session accepts only anchors that it has shown.
    project.call("read", &before["read"]);
    let result = project.run(tool, given(project.dir()));
    let text = result.text.replace(project.dir(), "<dir>");
    let mut answer = json!({"text": text, "isError": result.is_error});
    let now = project.files();
    let names = files.keys().chain(now.keys());
    let changed: Map<String, Json> = names
        .filter(|name| files.get(*name) != now.get(*name))
        .map(|name| (name.clone(), json!(now.get(name))))
        .collect();
    if !changed.is_empty() {
        answer["changed"] = changed.into();
    }
    answer
}

#[test]
fn recorded_calls_are_answered_as_recorded() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/tools.jsonl");
    let table = fs::read_to_string(path).unwrap();
    let mut rows: Vec<Json> = table.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let before = rows.remove(0);
    assert!(rows.len() >= 400);
    let check = |row: &Json| {
        let mut expected = row.as_object().unwrap().clone();
        let mut given = |field| expected.shift_remove(field).unwrap().as_str().unwrap().to_owned();
        let (tool, arguments) = (given("tool"), given("arguments"));
        let expected = Json::Object(expected);
        // Arguments that are a JSON string would be encoded twice.
        if !arguments.starts_with('"') {
            let text = |dir: &str| Value::String(arguments.replace("<dir>", dir));
            assert_eq!(answer(&before, &tool, text), expected, "as text: {arguments}");
        }
        // A `serde_json::Value` cannot have a duplicate key.
        let is_twice = row["text"].as_str().unwrap().contains(" has the key \"path\" twice");
        if !is_twice && serde_json::from_str::<Json>(&arguments).is_ok() {
            let value = |dir: &str| {
                let value: Json = serde_json::from_str(&arguments.replace("<dir>", dir)).unwrap();
                value.into()
            };
            assert_eq!(answer(&before, &tool, value), expected, "as a value: {arguments}");
        }
    };
    std::thread::scope(|scope| {
        for part in rows.chunks(rows.len().div_ceil(4)) {
            scope.spawn(move || part.iter().for_each(check));
        }
    });
}
