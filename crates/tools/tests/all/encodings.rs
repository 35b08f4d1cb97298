//! Files that are not UTF-8.

use serde_json::{Value as Json, json};

use crate::support::Project;

/// "日本語の文章です。" and "値", in Shift_JIS.
const SENTENCE: &[u8] =
    b"\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x95\xb6\x8f\xcd\x82\xc5\x82\xb7\x81\x42\n";
const VALUE: &[u8] = b"\x92\x6c\n";

fn project(content: &[u8]) -> Project {
    let project = Project::new(&[]);
    project.write_bytes("a.txt", content);
    project
}

fn insert(text: &str) -> Json {
    json!({"path": "a.txt", "operations": [{"op": "insert_after", "anchor": "EOF", "text": text}]})
}

#[test]
fn regression_a_read_says_the_encoding_and_an_edit_keeps_it() {
    let project = project(SENTENCE);
    let shown = project.call("read", &json!({"path": "a.txt"}));
    assert!(
        shown.text.contains("|日本語の文章です。\n(encoding: Shift_JIS; edits keep it)"),
        "{}",
        shown.text
    );
    assert_eq!(shown.structured["files"][0]["encoding"], "shift_jis");
    let done = project.call("apply", &insert("値"));
    assert!(!done.is_error, "{}", done.text);
    assert_eq!(project.bytes("a.txt"), [SENTENCE, VALUE].concat());
    let refused = project.call("apply", &insert("é"));
    assert!(refused.is_error && refused.text.contains("make the file UTF-8"), "{}", refused.text);
    let found = project.call("search", &json!({"pattern": "日本語"}));
    assert!(found.text.contains("\n(encoding: a.txt is Shift_JIS)"), "{}", found.text);
}

#[test]
fn regression_a_read_says_that_bytes_are_invalid() {
    let content = b"Gr\xc3\xb6\xc3\x9fe \xe9\n";
    let project = project(content);
    let shown = project.call("read", &json!({"path": "a.txt"}));
    assert!(
        shown.text.contains(
            "\n(Some bytes are invalid in UTF-8: \u{fffd} shows them, and edits keep them."
        ),
        "{}",
        shown.text
    );
    let refused = project.call("apply", &insert("\u{fffd}"));
    assert!(refused.is_error && refused.text.contains("overwrite"), "{}", refused.text);
    assert_eq!(project.bytes("a.txt"), content);
}

#[test]
fn calls_can_name_the_encoding() {
    // A single character, for which every guess is wrong.
    let project = project(b"\xd4\n");
    let shown = project.call("read", &json!({"path": "a.txt", "encoding": "windows-1251"}));
    assert!(shown.text.contains("|Ф"), "{}", shown.text);
    let again = project.call("read", &json!({"path": "a.txt"}));
    assert!(again.text.contains("|Ф\n(encoding: windows-1251; edits keep it)"), "{}", again.text);
    let found = project.call("search", &json!({"pattern": "ф", "encoding": "windows-1251"}));
    assert!(found.text.contains("|Ф"), "{}", found.text);
    let mut add = json!({"path": "b.txt", "encoding": "shift_jis", "operations": [{"op": "add_file", "content": "値\n"}]});
    let done = project.call("apply", &add);
    assert!(!done.is_error, "{}", done.text);
    assert_eq!(project.bytes("b.txt"), VALUE);
    let wrong = project.call("read", &json!({"path": "a.txt", "encoding": "klingon"}));
    assert!(
        wrong.is_error && wrong.text.contains("encoding \"klingon\" is unknown"),
        "{}",
        wrong.text
    );
    for encoding in [json!("klingon"), json!(5)] {
        add["encoding"] = encoding;
        let wrong = project.call("apply", &add);
        assert!(wrong.is_error && wrong.text.starts_with("Nothing was written."), "{}", wrong.text);
    }
}
