//! The serialized requests, options and answers (`serde`) have the shapes that `index.d.ts`
//! declares.
//!
//! Each file of `vectors/shapes` has calls with their answers. This test makes the calls through
//! the core. `__test__/shapes.test.mjs` makes them through the addon, and also compares them with
//! the declared types.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use hashline_core::Cancel;
use hashline_core::JsonRequest;
use hashline_core::PatchOptions;
use hashline_core::ReadRequest;
use hashline_core::SearchQuery;
use hashline_core::apply_to_text;
use hashline_core::host::from_json_value;
use hashline_core::{Code, Error};
use hashline_core::{Root, Session, SessionOptions, Workspace, WorkspaceOptions};
use hashline_disk::commit::{Conflict, RecoveryReport};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Fixture {
    /// Contents by name; Base64 if they are not text.
    files: BTreeMap<String, Content>,
    /// The options of every call, or of the session that makes all calls.
    options: Map<String, Value>,
    session: bool,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Bytes { base64: String },
}

#[derive(Deserialize)]
struct Call {
    call: String,
    given: Value,
    /// The text for operations on a text in memory.
    text: Option<String>,
    answer: Value,
}

fn fixture_text(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(format!("vectors/shapes/{name}.json"))).unwrap()
}

fn data<T: Serialize>(value: T) -> Value {
    serde_json::to_value(value).unwrap()
}

fn given<T: for<'de> Deserialize<'de>>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

/// A single request or query, or several.
fn requests(value: &Value) -> Vec<ReadRequest> {
    match value {
        Value::Array(_) => given(value),
        one => vec![given(one)],
    }
}

fn holds(name: &str) {
    let fixture: Fixture = serde_json::from_str(&fixture_text(name)).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let (dir, state) = (scratch.path().join("files"), scratch.path().join("state"));
    fs::create_dir(&dir).unwrap();
    for (path, content) in &fixture.files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match content {
            Content::Text(text) => fs::write(path, text).unwrap(),
            Content::Bytes { base64 } => {
                fs::write(path, BASE64_STANDARD.decode(base64).unwrap()).unwrap();
            }
        }
    }
    let mut options = fixture.options.clone();
    let start = if fixture.session { "cwd" } else { "root" };
    options.insert(start.to_owned(), json!(dir));
    options.insert("stateDir".to_owned(), json!(state));
    let options = Value::Object(options);
    let mut answers = Vec::new();
    if fixture.session {
        let session = Session::new(given::<SessionOptions>(&options)).unwrap();
        answers.extend(fixture.calls.iter().map(|call| answer_of_session(&session, call)));
    } else {
        let workspace = Workspace::new(given::<WorkspaceOptions>(&options));
        answers.extend(fixture.calls.iter().map(|call| answer(&workspace, call)));
    }
    assert!(!answers.is_empty(), "{name} has no calls");
    for (answer, call) in answers.into_iter().zip(&fixture.calls) {
        let shown = |value: &Value| serde_json::to_string_pretty(value).unwrap();
        assert_eq!(answer, call.answer, "{name}, {}:\n{}", call.call, shown(&answer));
    }
}

fn answer(workspace: &Workspace<'_>, call: &Call) -> Value {
    let cancel = Cancel::default();
    match call.call.as_str() {
        "read" => data(workspace.read_with(&requests(&call.given), &cancel).unwrap()),
        "search" => {
            data(workspace.search_with(&given::<SearchQuery>(&call.given), &cancel).unwrap())
        }
        "readJson" => {
            data(workspace.read_json(&given::<JsonRequest>(&call.given), &cancel).unwrap())
        }
        "apply" => data(
            workspace
                .apply_with(&call.given.clone().into(), &PatchOptions::default(), &cancel)
                .unwrap(),
        ),
        "applyToText" => {
            let options = workspace.options();
            let text = call.text.as_deref().unwrap();
            let operations = call.given.clone().into();
            data(apply_to_text(options.dialect, text, &operations, &options.apply.edit))
        }
        other => panic!("unknown call {other}"),
    }
}

fn answer_of_session(session: &Session, call: &Call) -> Value {
    let cancel = Cancel::default();
    match call.call.as_str() {
        "read" => data(session.read_with(&requests(&call.given), &cancel).unwrap()),
        "search" => {
            let query = given::<SearchQuery>(&call.given);
            data(session.search_with(&query, &cancel).unwrap())
        }
        "apply" => {
            let patch = call.given.clone().into();
            let with_diff = PatchOptions { diff_context_lines: Some(3), ..PatchOptions::default() };
            data(session.apply_with(&patch, &with_diff, &cancel).unwrap())
        }
        other => panic!("unknown call {other}"),
    }
}

#[test]
fn views() {
    holds("FileView");
}

#[test]
fn a_view_starts_with_the_fields_of_all_kinds() {
    let workspace = Workspace::new(WorkspaceOptions::unbounded());
    for (bytes, kind) in [(&b""[..], "text"), (b"a\0b", "binary"), (b"GIF89a\0", "image")] {
        let view = workspace.read_bytes(&"a".into(), bytes, &Cancel::default()).unwrap();
        let json = serde_json::to_string(&view).unwrap();
        let start = format!(r#"{{"kind":"{kind}","path":"a","text":"","#);
        assert!(json.starts_with(&start), "{json}");
    }
}

#[test]
fn views_of_json() {
    holds("JsonView");
}

#[test]
fn searches() {
    holds("SearchResult");
}

#[test]
fn outcomes() {
    holds("ApplyOutcome");
}

#[test]
fn outcomes_of_texts() {
    holds("TextOutcome");
}

#[test]
fn sessions() {
    holds("HashSession");
}

#[test]
fn recoveries() {
    let report = RecoveryReport {
        finished: vec![vec!["/p/a.txt".into(), "/p/b.txt".into()]],
        undone: vec![vec!["/p/c.txt".into()]],
        conflicts: vec![Conflict { path: "/p/d.txt".into(), kept: vec!["/s/kept/d.txt".into()] }],
        live: 1,
        damaged: vec!["/s/journals/1.journal".into()],
        failed: vec![
            Error::at(Code::PermissionDenied, "/p/e.txt", "/p/e.txt: permission denied"),
            Error::new(Code::Internal, "an internal error"),
        ],
    };
    let expected: Value = serde_json::from_str(&fixture_text("RecoveryReport")).unwrap();
    assert_eq!(data(report), expected["answer"]);
}

#[test]
fn unknown_fields_are_refused_by_name() {
    fn refusal<T: DeserializeOwned>(value: Value) -> String {
        from_json_value::<T>(value).err().expect("a refusal").to_string()
    }
    let cases = [
        (refusal::<ReadRequest>(json!({"path": "a", "startline": 1})), "unknown field `startline`"),
        (refusal::<ReadRequest>(json!({"startLine": 1})), "missing field `path`"),
        (refusal::<ReadRequest>(json!(1)), "a path, or an object with a path"),
        (refusal::<JsonRequest>(json!({"path": "a", "search": "b"})), "unknown field `search`"),
        (refusal::<JsonRequest>(json!({})), "missing field `path`"),
        (refusal::<JsonRequest>(json!([])), "a path, or an object with a path"),
        (refusal::<SearchQuery>(json!({"search": "a", "path": "b"})), "unknown field `path`"),
        (refusal::<SearchQuery>(json!({"search": "a", "paths": 1})), "a string or an array"),
        (refusal::<WorkspaceOptions>(json!({"cwd": "a"})), "unknown field `cwd`"),
        (refusal::<WorkspaceOptions>(json!({"dialect": "hex"})), "unknown dialect \"hex\""),
        (refusal::<WorkspaceOptions>(json!({"relocate": "on"})), "unknown variant `on`"),
        (
            refusal::<WorkspaceOptions>(json!({"relocateWindow": 1001})),
            "relocateWindow: invalid value: integer `1001`, expected a whole number from 0 to 1000",
        ),
        (refusal::<WorkspaceOptions>(json!({"repairs": {"x": true}})), "unknown repair \"x\""),
        (refusal::<WorkspaceOptions>(json!({"repairs": 1})), "true, false, or an object"),
        (refusal::<SessionOptions>(json!({"root": true})), "a directory, or false"),
        (refusal::<SessionOptions>(json!({"limits": {"lines": 1}})), "unknown field `lines`"),
        (refusal::<SessionOptions>(json!({"memory": {"lines": 1}})), "unknown field `lines`"),
        (refusal::<SessionOptions>(json!({"unseen": "guess"})), "unknown variant `guess`"),
    ];
    for (message, part) in cases {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

#[test]
fn null_is_the_same_as_omitted() {
    let request: ReadRequest = given(&json!({"path": "a", "maxLines": null, "regex": null}));
    assert_eq!(request.limits.max_lines, None);
    let query: SearchQuery = given(&json!({"search": "a", "gitignore": null, "paths": null}));
    assert!(query.gitignore && query.paths.is_empty());
    let options: SessionOptions = given(&json!({"root": null, "limits": null, "repairs": null}));
    let options = options.resolved().unwrap();
    assert_eq!(options.workspace.root, Root::At(options.workspace.cwd.unwrap()));
    assert_eq!(options.limits.max_lines, 2000);
}
