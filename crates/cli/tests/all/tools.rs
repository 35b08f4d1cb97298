//! The calls of `vectors/tools.jsonl` through `mcp`, which answers what the addon answers. How they
//! are made is in `__test__/faces/tools.mjs`.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use crate::support::Project;
use serde_json::{Map, Value, json};

/// What the program answers in a fresh directory, whose path is written as `<dir>`.
fn answer(files: &[(&str, &str)], read: &Value, tool: &str, arguments: &str) -> Value {
    let project = Project::new(files);
    let dir = project.path("").canonicalize().unwrap().to_str().unwrap().to_owned();
    let arguments = arguments.replace("<dir>", &dir);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let request = |id: u8, method: &str, params: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n")
    };
    let call =
        |tool: &str, arguments: &str| format!("{{\"name\":\"{tool}\",\"arguments\":{arguments}}}");
    let hello = request(0, "initialize", &hello.to_string())
        + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    let mut command = project.command(&["mcp", "--json-tools", "--durability", "process", &dir]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = pipes.spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut messages = BufReader::new(stdout)
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut ask = |id: u8, said: String| {
        stdin.write_all(said.as_bytes()).unwrap();
        let message = messages.find(|message| message["id"] == id);
        message.unwrap_or_else(|| panic!("no answer: {said}"))["result"].take()
    };
    ask(0, hello);
    // An anchor means what was shown before the call that names it.
    ask(1, request(1, "tools/call", &call("read", &read.to_string())));
    let result = ask(2, request(2, "tools/call", &call(tool, &arguments)));
    drop(stdin);
    child.wait().unwrap();
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    let mut answer = json!({
        "text": text.replace(&dir, "<dir>"),
        "isError": result["isError"] == true,
    });
    let changed = changes(files, Path::new(&dir));
    if !changed.is_empty() {
        answer["changed"] = changed.into();
    }
    answer
}

/// The files that are otherwise than they were.
fn changes(files: &[(&str, &str)], dir: &Path) -> Map<String, Value> {
    let mut there = Map::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(one) = dirs.pop() {
        for entry in fs::read_dir(one).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
            there.insert(name, fs::read_to_string(path).unwrap().into());
        }
    }
    for (name, content) in files {
        if there.get(*name).is_some_and(|now| now == content) {
            there.remove(*name);
        } else {
            there.entry(*name).or_insert(Value::Null);
        }
    }
    there
}

#[test]
fn the_program_answers_as_the_addon() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/tools.jsonl");
    let table = fs::read_to_string(path).unwrap();
    let mut rows = table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let before = rows.next().unwrap();
    let files = before["files"].as_object().unwrap();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, content)| (name.as_str(), content.as_str().unwrap())).collect();
    let rows: Vec<Value> = rows.collect();
    assert!(rows.len() >= 400);
    let check = |row: &Value| {
        let (tool, arguments) = (row["tool"].as_str().unwrap(), row["arguments"].as_str().unwrap());
        let mut expected = row.clone();
        for given in ["tool", "arguments"] {
            expected.as_object_mut().unwrap().shift_remove(given);
        }
        assert_eq!(answer(&files, &before["read"], tool, arguments), expected, "{arguments}");
    };
    std::thread::scope(|scope| {
        for part in rows.chunks(rows.len().div_ceil(4)) {
            scope.spawn(move || part.iter().for_each(check));
        }
    });
}
