//! JSON documents: read with their anchors, edited by path together with other edits.

use std::fs;
use std::path::Path;

use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::JsonRequest;
use hashline_core::Limits;
use hashline_core::Outcome;
use hashline_core::Patch;
use hashline_core::{Workspace, WorkspaceOptions};

const DOCUMENT: &str = "{\n  \"name\": \"demo\",\n  \"files\": [\"a.js\"], // all\n  \"id\": 12345678901234567890\n}\n";

fn workspace(dir: &Path) -> Workspace<'static> {
    Workspace::new(WorkspaceOptions {
        root: dir.into(),
        state_dir: Some(dir.join("state")),
        ..WorkspaceOptions::default()
    })
}

fn read(dir: &Path, request: JsonRequest) -> Result<String, Code> {
    let view = workspace(dir).read_json(&request, &Cancel::default());
    view.map(|view| view.text).map_err(|error| error.code)
}

fn request(path: &str) -> JsonRequest {
    JsonRequest::new(path)
}

/// The anchor of a path, from a view of the file.
fn anchor(dir: &Path, file: &str, path: &str) -> String {
    let text = read(dir, request(file)).unwrap();
    let row = text.lines().find(|row| row.trim_start().starts_with(&format!("// {path}:")));
    row.unwrap().trim_start().trim_start_matches("// ").to_owned()
}

fn apply(dir: &Path, patch: &str) -> Outcome {
    let patch = Patch::from_json(patch).unwrap();
    workspace(dir).apply(&patch).unwrap()
}

#[test]
fn a_document_is_shown_unchanged_with_anchors_above_its_lines() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("a.json"),
        "{\n  \"name\": \"demo\",\n  \"files\": [\"a.js\"],\n  \"version\": \"1.0.0\"\n}\n",
    )
    .unwrap();
    let shown = "// $:7f\n{\n  // $.name:1c\n  \"name\": \"demo\",\n  // $.files:36\n  // $.files[0]:1e\n  \"files\": [\"a.js\"],\n  // $.version:a7\n  \"version\": \"1.0.0\"\n}";
    assert_eq!(read(dir.path(), request("a.json")).unwrap(), shown);

    let limits = Limits { max_lines: Some(3), max_bytes: None };
    let part = JsonRequest { start_line: Some(2), limits, ..request("a.json") };
    let view = workspace(dir.path()).read_json(&part, &Cancel::default()).unwrap();
    assert_eq!(view.text, "  // $.name:1c\n  \"name\": \"demo\",");
    assert_eq!(
        (view.start_line, view.end_line, view.next_line, view.line_count),
        (2, 2, Some(3), 5)
    );
    assert_eq!((view.truncated, view.value_count), (true, 5));

    fs::write(dir.path().join("twice.json"), "{\"a\":1,\"a\":2}").unwrap();
    let text = read(dir.path(), request("twice.json")).unwrap();
    assert_eq!(text.matches("is duplicated").count(), 2, "{text}");
}

#[test]
fn an_unreadable_document_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [("empty", &b""[..]), ("nan", b"[NaN]"), ("deep", &[b'['; 100_000])] {
        fs::write(dir.path().join(name), bytes).unwrap();
        assert_eq!(read(dir.path(), request(name)), Err(Code::InvalidJson), "{name}");
    }
    fs::write(dir.path().join("binary"), b"{\0}").unwrap();
    assert_eq!(read(dir.path(), request("binary")), Err(Code::BinaryFile));
    assert_eq!(read(dir.path(), request("none")), Err(Code::FileNotFound));
    assert_eq!(read(dir.path(), request("../x")), Err(Code::OutsideRoot));
}

#[test]
fn several_documents_and_lines_are_edited_in_one_patch() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let crlf = format!("\u{feff}{}", DOCUMENT.replace('\n', "\r\n"));
    let utf16: Vec<u8> = crlf.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(path("a.json"), &crlf).unwrap();
    fs::write(path("b.json"), &utf16).unwrap();
    fs::write(path("c.txt"), "}\n").unwrap();
    let (set, list) =
        (anchor(dir.path(), "a.json", "$.name"), anchor(dir.path(), "a.json", "$.files"));
    let patch = format!(
        r#"{{"operations": [
            {{"op": "set_path", "path": "a.json", "anchor": "{set}", "value": "é"}},
            {{"op": "set_path", "path": "b.json", "anchor": "{set}", "value": "é"}},
            {{"op": "insert_at_path", "path": "b.json", "anchor": "{list}", "value": "b.js"}},
            {{"op": "set_line", "path": "c.txt", "anchor": "1:18", "text": "x"}}
        ]}}"#
    );
    let Outcome::Applied(applied) = apply(dir.path(), &patch) else { panic!("{patch}") };
    assert_eq!(applied.files.len(), 3);
    assert_eq!(fs::read_to_string(path("a.json")).unwrap(), crlf.replace("demo", "é"));
    let expected = crlf.replace("demo", "é").replace("\"a.js\"", "\"a.js\", \"b.js\"");
    let expected: Vec<u8> = expected.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(fs::read(path("b.json")).unwrap(), expected);
    assert_eq!(fs::read_to_string(path("c.txt")).unwrap(), "x\n");
}

#[test]
fn stale_anchors_are_reported_together_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.json"), DOCUMENT).unwrap();
    let fresh = anchor(dir.path(), "a.json", "$.name");
    let patch = r#"{"path": "a.json", "edits": [
        {"set_path": {"anchor": "$.name:00", "value": 1}},
        {"delete_path": {"anchor": "$.z:00"}}
    ]}"#;
    let Outcome::Rejected(rejected) = apply(dir.path(), patch) else { panic!("stale") };
    assert_eq!((rejected.code, rejected.failures.len()), (Code::HashMismatch, 2));
    assert_eq!(rejected.failures[0].suggestion.as_deref(), Some(fresh.as_str()));
    assert_eq!(rejected.remaps, [("$.name:00".to_owned(), fresh)]);
    for headline in [
        "Hash mismatch for $.name.\n$.z does not exist.\n",
        "Operation 0, a.json: Expected 00, current ",
        "Operation 1, a.json: $ is an object with the keys",
    ] {
        assert!(rejected.text.contains(headline), "{}", rejected.text);
    }
    assert_eq!(fs::read_to_string(dir.path().join("a.json")).unwrap(), DOCUMENT);
}

#[test]
fn an_edit_that_changes_nothing_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.json"), DOCUMENT).unwrap();
    let set = anchor(dir.path(), "a.json", "$.files");
    let patch = format!(
        r#"{{"path": "a.json", "edits": [{{"set_path": {{"anchor": "{set}", "value": ["a.js"]}}}}]}}"#
    );
    let Outcome::Applied(applied) = apply(dir.path(), &patch) else { panic!("{patch}") };
    assert_eq!((applied.files.len(), applied.noops.len()), (0, 1));
}

#[test]
fn invalid_bytes_elsewhere_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.json"), b"{\"a\": \"\xff\", \"b\": 1}").unwrap();
    let set = anchor(dir.path(), "a.json", "$.b");
    let patch = format!(
        r#"{{"path": "a.json", "edits": [{{"set_path": {{"anchor": "{set}", "value": 2}}}}]}}"#
    );
    assert!(matches!(apply(dir.path(), &patch), Outcome::Applied(_)));
    assert_eq!(fs::read(dir.path().join("a.json")).unwrap(), b"{\"a\": \"\xff\", \"b\": 2}");
}

/// Edits a copy of a document by path, and compares it with the same edits of its text.
fn check_edited(text: &str, edits: &[(&str, &str)], expected: &str) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.json"), text).unwrap();
    let rows = read(dir.path(), request("a.json")).unwrap();
    let anchors: Vec<&str> =
        rows.lines().filter_map(|row| row.trim().strip_prefix("// ")).collect();
    let anchor_of = |path: &str| {
        let is_it = |row: &&&str| row.rsplit_once(':').is_some_and(|(one, _)| one == path);
        let anchor = anchors.iter().find(is_it).unwrap_or_else(|| panic!("no {path}"));
        serde_json::to_string(anchor).unwrap()
    };
    let edit = |(path, edit): &(&str, &str)| edit.replace("ANCHOR", &anchor_of(path));
    let edits: Vec<String> = edits.iter().map(edit).collect();
    let patch = format!(r#"{{"path": "a.json", "edits": [{}]}}"#, edits.join(","));
    let Outcome::Applied(_) = apply(dir.path(), &patch) else { panic!("{patch}") };
    let found = fs::read_to_string(dir.path().join("a.json")).unwrap();
    // Not with `assert_eq`, because a document can have megabytes.
    let differ = found.bytes().zip(expected.bytes()).position(|(one, other)| one != other);
    let shown = |text: &str| text[differ.unwrap_or(0)..].chars().take(80).collect::<String>();
    assert!(found == expected, "{differ:?}: {:?}, not {:?}", shown(&found), shown(expected));
}

/// A file of this repository.
fn own(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

#[test]
fn a_package_json_keeps_every_byte_outside_of_edits() {
    let text = own("package.json");
    let version = text.lines().find(|line| line.starts_with("  \"version\": ")).unwrap();
    let lint = text.lines().find(|line| line.starts_with("    \"lint\": ")).unwrap();
    let files = "    \"js\"\n  ],";
    assert!(text.contains(files));
    let expected = text
        .replacen(version, "  \"version\": \"9.8.7\",", 1)
        .replacen(&format!("{lint}\n"), "", 1)
        .replacen(files, "    \"js\",\n    \"docs\"\n  ],", 1);
    check_edited(
        &text,
        &[
            ("$.version", r#"{"set_path":{"anchor":ANCHOR,"value":"9.8.7"}}"#),
            ("$.scripts.lint", r#"{"delete_path":{"anchor":ANCHOR}}"#),
            ("$.files", r#"{"insert_at_path":{"anchor":ANCHOR,"value":"docs"}}"#),
        ],
        &expected,
    );
}

/// A file as editors and people leave it: both kinds of comments, at line ends and on their own
/// lines, options that are commented out, a trailing comma, CRLF line endings.
const TSCONFIG: &str = r#"{
  // Where the sources of this package are compiled to.
  "extends": "../base.json",
  "compilerOptions": {
    /* Language */
    "target": "es2022", /* not ES5: see {docs} */
    // "jsx": "preserve",
    "lib": ["es2022", "dom"], // no "webworker"

    /* Output */
    "outDir": "./dist",
    "paths": {
      "@/*": ["./src/*"],
    },
  },
  "include": ["src", /* and */ "test"],
}
"#;

#[test]
fn a_tsconfig_json_keeps_its_comments() {
    for text in [TSCONFIG.to_owned(), TSCONFIG.replace('\n', "\r\n")] {
        let newline = if text.contains('\r') { "\r\n" } else { "\n" };
        let expected = text
            .replace("\"es2022\", /* not", "\"es2023\", /* not")
            .replace("\"dom\"], //", "\"dom\", \"webworker\"], //")
            .replace("src/*\"],", &format!("src/*\"],{newline}      \"~/*\": [\"./lib/*\"],"))
            .replace("[\"src\", /* and */ \"test\"]", "[/* and */ \"test\"]");
        check_edited(
            &text,
            &[
                ("$.compilerOptions.target", r#"{"set_path":{"anchor":ANCHOR,"value":"es2023"}}"#),
                (
                    "$.compilerOptions.lib",
                    r#"{"insert_at_path":{"anchor":ANCHOR,"value":"webworker"}}"#,
                ),
                (
                    "$.compilerOptions.paths",
                    r#"{"insert_at_path":{"anchor":ANCHOR,"key":"~/*","value":["./lib/*"]}}"#,
                ),
                ("$.include[0]", r#"{"delete_path":{"anchor":ANCHOR}}"#),
            ],
            &expected,
        );
    }
}

#[test]
fn one_value_of_a_lock_file_of_5_mb_is_edited() {
    const ENTRY: &str = "    \"node_modules/fast-check\": {";
    let lock = own("package-lock.json");
    let packages = "  \"packages\": {\n";
    let (head, rest) = lock.split_once(packages).unwrap();
    let entries = rest.strip_suffix("\n  }\n}\n").unwrap();
    assert!(entries.contains(ENTRY));
    let times = 5_000_000 / entries.len() + 1;
    let copies: Vec<String> = (0..times)
        .map(|at| {
            // A number makes the keys of packages distinct; only these are indented by four spaces.
            let lines = entries.split('\n').map(|line| match line.strip_prefix("    \"") {
                Some(rest) => format!("    \"{at}/{rest}"),
                None => line.to_owned(),
            });
            lines.collect::<Vec<_>>().join("\n")
        })
        .collect();
    let text = format!("{head}{packages}{}\n  }}\n}}\n", copies.join(",\n"));
    assert!(text.len() > 5_000_000);
    let at = times / 2;
    let entry = ENTRY.replace("\"node", &format!("\"{at}/node"));
    let start = text.find(&entry).unwrap();
    let version = start + text[start..].find("\"version\": \"").unwrap() + 11;
    let end = version + 1 + text[version + 1..].find('"').unwrap();
    let expected = format!("{}0.0.0{}", &text[..=version], &text[end..]);
    let path = format!("$.packages[\"{at}/node_modules/fast-check\"].version");
    let set = r#"{"set_path":{"anchor":ANCHOR,"value":"0.0.0"}}"#;
    check_edited(&text, &[(&path, set)], &expected);
}
