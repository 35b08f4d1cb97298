//! Calls of `vectors/tools.jsonl` through `mcp`, which must return the answers of the tools.
//! `crates/tools/tests` runs all rows; this test runs those whose arguments reach the tools in
//! another way, and a sample of the others.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::support::Project;
use serde_json::{Value, json};

/// The program's answer in a fresh directory, whose path is replaced by `<dir>`.
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
    // An anchor means a line that an earlier call has shown.
    ask(1, request(1, "tools/call", &call("read", &read.to_string())));
    let result = ask(2, request(2, "tools/call", &call(tool, &arguments)));
    drop(stdin);
    child.wait().unwrap();
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    json!({"text": text.replace(&dir, "<dir>"), "isError": result["isError"] == true})
}

/// One of this number of rows with ordinary arguments is run.
const ROWS_FOR_ONE: usize = 40;

#[test]
fn the_program_answers_like_the_tools() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/tools.jsonl");
    let table = fs::read_to_string(path).unwrap();
    let mut rows = table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let before = rows.next().unwrap();
    let files = before["files"].as_object().unwrap();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, content)| (name.as_str(), content.as_str().unwrap())).collect();
    for (at, row) in rows.enumerate() {
        let (tool, arguments) = (row["tool"].as_str().unwrap(), row["arguments"].as_str().unwrap());
        let read = serde_json::from_str::<Value>(arguments);
        let is_usual = read.is_ok_and(|read| read.is_object())
            && !row["text"].as_str().unwrap().contains("\" twice");
        if !is_usual || at % ROWS_FOR_ONE == 0 {
            let expected = json!({"text": row["text"], "isError": row["isError"]});
            assert_eq!(answer(&files, &before["read"], tool, arguments), expected, "{arguments}");
        }
    }
}
