//! Control characters in new texts: a character that makes the file unreadable for the tools is
//! refused, and one that is unusual in source code is reported.

use crate::support::{Project, applied, refused};
use hashline_core::Code;
use hashline_core::Workspace;
use hashline_core::{Applied, Outcome, Rejected};
use hashline_core::{EditOptions, apply_to_text};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use hashline_lines::tag::Tag;
use serde_json::{Value, json};

fn at(number: u64, text: &str) -> String {
    let dialect = Dialect::default_dialect();
    dialect.anchor_text(number, hash_line(dialect, number, text))
}

fn set(text: &str) -> Value {
    json!({"op": "set_line", "path": "f", "anchor": at(2, "b"), "text": text})
}

fn apply(project: &Project, operations: Value) -> Applied {
    applied(project.outcome(json!({ "operations": operations })))
}

/// Expects a refusal that changes nothing, even with `verbatim`.
fn refuse(project: &Project, patch: Value) -> Rejected {
    let before = project.bytes("f");
    let rejected = refused(project.outcome(patch.clone()));
    assert_eq!(project.bytes("f"), before, "{patch}");
    assert!(!project.exists("new"), "{patch}");
    rejected
}

/// The codes and messages of the warnings for one operation.
fn warnings(project: &Project, operation: Value) -> Vec<String> {
    let applied = apply(project, json!([operation]));
    let describe = |one: &hashline_core::Warning| {
        assert_eq!((one.code.as_str(), one.operation), ("CONTROL_CHARACTER", Some(0)));
        assert!(applied.text.contains(&*one.message), "{}", applied.text);
        one.message.to_string()
    };
    applied.warnings.iter().map(describe).collect()
}

#[test]
fn regression_nul_is_refused_in_the_texts_of_all_operations() {
    let wide: Vec<u8> = "\u{feff}a\nb\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for content in [b"a\nb\n".as_slice(), &wide] {
        let project = Project::new(&[("f", content)]);
        let (anchor, text) = (at(2, "b"), "x\ny\0z");
        let operations = [
            set(text),
            json!({"op": "replace_range", "path": "f", "start_anchor": at(1, "a"), "end_anchor": anchor, "text": ["x", "y\0"]}),
            json!({"op": "insert_after", "path": "f", "anchor": "EOF", "text": text}),
            json!({"op": "insert_before", "path": "f", "anchor": anchor, "text": text}),
        ];
        let verbatim = operations.iter().cloned().map(|mut one| {
            one["verbatim"] = json!(true);
            one
        });
        let others = [
            json!({"op": "replace_text", "path": "f", "old_text": "b", "new_text": text}),
            json!({"op": "add_file", "path": "new", "content": text}),
        ];
        for operation in operations.iter().cloned().chain(verbatim).chain(others) {
            let rejected = refuse(&project, json!({"operations": [operation]}));
            assert_eq!(rejected.code, Code::UnencodableText, "{operation}");
            assert!(
                rejected.text.contains("line 2 of the text has NUL (U+0000)"),
                "{}",
                rejected.text
            );
        }
        let edits =
            json!({"path": "f", "edits": [{"set_line": {"anchor": anchor, "new_text": text}}]});
        let rejected = refuse(&project, edits);
        assert_eq!(rejected.code, Code::UnencodableText, "{}", rejected.text);
    }
}

#[test]
fn regression_nul_is_refused_in_patches_of_oh_my_pi() {
    let project = Project::new(&[("f", "a\nb\n")]);
    let tag = Tag::of(b"a\nb\n");
    let patch = format!("[f#{tag}]\nPUT 1.=1:\n+x\nPUT 2.=2:\n+y\n+z\0\n");
    let mut options = project.options();
    options.dialect = Dialect::by_name("omp18").unwrap();
    let outcome = Workspace::new(options).apply(json!({ "patch": patch })).unwrap();
    let rejected = refused(outcome);
    assert_eq!((rejected.code, rejected.failures[0].operation), (Code::UnencodableText, 1));
    let expected = "`PUT 2.=2:` (row 4 of the patch): line 2 of the text has NUL";
    assert!(rejected.text.contains(expected), "{}", rejected.text);
}

#[test]
fn regression_nul_is_refused_in_a_text_in_memory() {
    let patch = json!([{"op": "set_line", "anchor": at(1, "a"), "text": "x\0"}]).into();
    let options = EditOptions::default();
    let outcome = apply_to_text(Dialect::default_dialect(), "a\n", &patch, &options).outcome;
    assert_eq!(refused(outcome).code, Code::UnencodableText);
}

/// A file is read as text if its first 8,192 bytes contain no NUL, so the lines at its start
/// matter.
#[test]
fn regression_no_patch_creates_a_file_that_reads_as_binary() {
    let filler = "x".repeat(9_000);
    let late = format!("a\n{filler}\nb\0\n");
    let project = Project::new(&[("f", late.as_str()), ("g", "c\n")]);
    let delete = json!({"op": "delete", "path": "f", "anchor": at(2, &filler)});
    let copy = |to: &str, place: Value| json!({"op": "copy_lines", "path": "f", "anchor": at(3, "b\0"), "to": to, "to_anchor": place});
    for operation in
        [delete.clone(), copy("f", json!("BOF")), copy("g", json!("EOF")), copy("new", Value::Null)]
    {
        let rejected = refuse(&project, json!({"operations": [operation]}));
        assert_eq!(rejected.code, Code::BinaryFile, "{operation}");
        assert!(rejected.text.contains("NUL (U+0000)"), "{}", rejected.text);
        assert_eq!(project.content("g"), "c\n");
    }
    // A NUL far from the start does not make the file binary, and can be removed.
    apply(&project, json!([copy("f", json!("EOF"))]));
    let take_out =
        json!({"op": "replace_text", "path": "f", "old_text": "\0", "new_text": "", "all": true});
    apply(&project, json!([take_out, delete]));
    assert_eq!(project.content("f"), "a\nb\nb\n");
}

/// `ÿþ` in windows-1252 has the bytes of a UTF-16 byte order mark.
#[test]
fn regression_no_text_creates_a_file_that_reads_in_another_encoding() {
    let project = Project::new(&[("f", b"\xE4\nb\n")]);
    let mut options = project.options();
    options.encoding = Some("windows-1252".to_owned());
    let outcome = |operation: Value| {
        Workspace::new(options.clone()).apply(json!({"operations": [operation]})).unwrap()
    };
    for operation in [
        json!({"op": "insert_before", "path": "f", "anchor": at(1, "\u{e4}"), "text": "\u{ff}\u{fe}a"}),
        json!({"op": "replace_text", "path": "f", "old_text": "\u{e4}", "new_text": "\u{ef}\u{bb}\u{bf}"}),
        json!({"op": "add_file", "path": "new", "content": "\u{fe}\u{ff}a"}),
    ] {
        let rejected = refused(outcome(operation));
        assert_eq!(rejected.code, Code::UnencodableText, "{}", rejected.text);
        assert!(rejected.text.contains("byte order mark"), "{}", rejected.text);
        assert_eq!(project.bytes("f"), b"\xE4\nb\n");
    }
    let op = json!({"op": "set_line", "path": "f", "anchor": at(2, "b"), "text": "\u{ff}\u{fe}"});
    applied(outcome(op));
    assert_eq!(project.bytes("f"), b"\xE4\n\xFF\xFE\n");
}

#[test]
fn regression_unusual_control_characters_are_reported() {
    let project = || Project::new(&[("f", "a\nb\nc \u{7}\n")]);
    for (text, expected) in [
        ("\u{8}word\u{8}", Some("line 1 of the text has U+0008 (`\\b` in JSON)")),
        ("x\n\u{c}rac{1}{2}", Some("line 2 of the text has U+000C (`\\f` in JSON)")),
        ("x\u{7f}", Some("line 1 of the text has U+007F")),
        ("x\n\n\u{85}", Some("line 3 of the text has U+0085")),
        ("\u{1}\u{2}\u{1}", Some("line 1 of the text has U+0001 and U+0002")),
        ("\t\u{1b}[31m\r.", None),
        ("x\n \u{c}\n\u{c}\ny", None),
        ("\u{a0}\u{ad}\u{200b}", None),
    ] {
        let found = warnings(&project(), set(text));
        assert_eq!(found.len(), usize::from(expected.is_some()), "{text:?}: {found:?}");
        assert!(found.iter().all(|one| one.contains(expected.unwrap())), "{text:?}: {found:?}");
        let mut verbatim = set(text);
        verbatim["verbatim"] = json!(true);
        assert_eq!(warnings(&project(), verbatim), found);
    }
}

#[test]
fn existing_control_characters_are_not_reported() {
    let project = Project::new(&[("f", "a\nb \u{7}\nc\n"), ("j", "{\"a\": \"\u{7f}\"}")]);
    let keep =
        json!({"op": "set_line", "path": "f", "anchor": at(2, "b \u{7}"), "text": "x \u{7}"});
    assert_eq!(warnings(&project, keep).len(), 0);
    let text = |old: &str, new: &str| json!({"op": "replace_text", "path": "f", "old_text": old, "new_text": new, "all": true});
    assert_eq!(warnings(&project, text("x \u{7}", "\u{7}y")).len(), 0);
    assert_eq!(warnings(&project, text("c", "\u{7}c")).len(), 1);
    let copy =
        json!({"op": "copy_lines", "path": "f", "anchor": at(2, "\u{7}y"), "to_anchor": "EOF"});
    assert_eq!(warnings(&project, copy).len(), 0);
    // Many matches of a pattern are one hunk.
    let many = Project::new(&[("f", "b\n".repeat(2_000).as_str())]);
    assert_eq!(warnings(&many, text("b", "\u{7}")).len(), 1);
}

#[test]
fn control_characters_of_new_files_and_values_are_reported() {
    let project = Project::new(&[("j", "{\"a\": \"\u{7f}\"}")]);
    let add = |content: &str| json!({"op": "add_file", "path": "new", "content": content});
    assert_eq!(warnings(&project, add("a\n\u{c}\nb\n\u{8}")).len(), 1);
    let set = |anchor: &str, value: &str| json!({"op": "set_path", "path": "j", "anchor": anchor, "value": value});
    let value = |value: &str| {
        // One of these anchors is stale; the refusal has the current one.
        let stale = ["$:00", "$:01"].map(|anchor| json!({"operations": [set(anchor, value)]}));
        let refusals =
            stale.map(|patch| project.outcome(patch)).into_iter().find_map(|one| match one {
                Outcome::Rejected(rejected) => rejected.failures[0].suggestion.clone(),
                Outcome::Applied(_) => None,
            });
        warnings(&project, set(&refusals.unwrap(), value)).len()
    };
    // JSON escapes these characters, but not the others.
    assert_eq!(value("\0\u{8}"), 0);
    assert_eq!(project.content("j"), "\"\\u0000\\b\"");
    assert_eq!(value("\u{7f}"), 1);
    assert_eq!(value("\u{7f}!"), 0);
}
