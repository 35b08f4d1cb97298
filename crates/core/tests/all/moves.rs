//! Lines that are moved and copied, within a file and to other files.

use std::ops::Deref;

use crate::support::{Project, applied, refused, show};
use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::{Applied, Outcome, Rejected};
use hashline_core::{Session, Workspace};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::{Value, json};

mod model;

struct Scene(Project);

impl Deref for Scene {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.0
    }
}

impl Scene {
    fn new(files: &[(&str, &[u8])]) -> Scene {
        Scene(Project::new(files))
    }

    fn try_apply(&self, operations: Value) -> Outcome {
        self.outcome(json!({"operations": operations}))
    }

    fn apply(&self, operations: Value) -> Applied {
        applied(self.try_apply(operations))
    }

    fn refuse(&self, operations: Value) -> Rejected {
        refused(self.try_apply(operations))
    }
}

fn in_session(session: &Session, operations: &Value) -> Outcome {
    session.apply(json!({"operations": operations})).unwrap()
}

fn at(number: u64, text: &str) -> String {
    let dialect = Dialect::default_dialect();
    dialect.anchor_text(number, hash_line(dialect, number, text))
}

const LETTERS: &str = "a\nb\nc\nd\ne\n";

fn letters(range: (u64, &str, u64, &str), more: Value) -> Value {
    let mut operation = json!({
        "op": "move_lines", "path": "f",
        "start_anchor": at(range.0, range.1), "end_anchor": at(range.2, range.3),
    });
    for (name, value) in more.as_object().unwrap() {
        operation[name] = value.clone();
    }
    operation
}

#[test]
fn lines_move_down_up_and_to_both_ends() {
    for (goal, expected) in [
        (json!(at(4, "d")), "a\nd\nb\nc\ne\n"),
        (json!("EOF"), "a\nd\ne\nb\nc\n"),
        (json!("BOF"), "b\nc\na\nd\ne\n"),
    ] {
        let scene = Scene::new(&[("f", LETTERS.as_bytes())]);
        let applied = scene.apply(json!([letters((2, "b", 3, "c"), json!({"to_anchor": goal}))]));
        assert_eq!(scene.content("f"), expected);
        assert_eq!((applied.files[0].added, applied.files[0].removed), (2, 2));
        assert_eq!(applied.files[0].edits, 1);
    }
}

#[test]
fn copied_lines_stay_and_may_be_edited() {
    let scene = Scene::new(&[("f", LETTERS.as_bytes())]);
    scene.apply(json!([
        letters((2, "b", 3, "c"), json!({"op": "copy_lines", "to_anchor": "EOF"})),
        {"op": "set_line", "path": "f", "anchor": at(2, "b"), "text": "B"},
        {"op": "copy_lines", "path": "f", "anchor": at(5, "e"), "to_anchor": "BOF"},
    ]));
    assert_eq!(scene.content("f"), "e\na\nB\nc\nd\ne\nb\nc\n");
}

#[test]
fn lines_take_the_line_endings_of_their_destination() {
    let scene = Scene::new(&[("f", b"a\nb\nc\n"), ("g", b"x\r\ny")]);
    scene.apply(json!([
        {"op": "move_lines", "path": "f", "anchor": at(2, "b"), "to": "g", "to_anchor": at(1, "x")},
        {"op": "copy_lines", "path": "f", "anchor": at(3, "c"), "to": "g", "to_anchor": "EOF"},
        {"op": "copy_lines", "path": "g", "anchor": at(2, "y"), "to": "f", "to_anchor": "BOF"},
    ]));
    assert_eq!(scene.content("g"), "x\r\nb\r\ny\r\nc");
    assert_eq!(scene.content("f"), "y\na\nc\n");
}

#[test]
fn regression_lines_keep_a_trailing_carriage_return() {
    let scene = Scene::new(&[("f", b"a\nb\r"), ("g", b"x\r\r\ny\n")]);
    let to = |path: &str, anchor: String, goal: Value| {
        let (to, to_anchor) = (goal["to"].clone(), goal["to_anchor"].clone());
        json!({"op": "copy_lines", "path": path, "anchor": anchor, "to": to, "to_anchor": to_anchor})
    };
    scene.apply(json!([
        to("f", at(2, "b\r"), json!({"to": "g", "to_anchor": "EOF"})),
        to("g", at(1, "x\r"), json!({"to": "f", "to_anchor": at(1, "a")})),
        to("f", at(2, "b\r"), json!({"to": "new"})),
        to("g", at(2, "y"), json!({"to": "new"})),
    ]));
    assert_eq!(scene.content("f"), "a\nx\r\r\nb\r");
    assert_eq!(scene.content("g"), "x\r\r\ny\nb\r\r\n");
    assert_eq!(scene.content("new"), "b\r\r\ny\n");
}

/// A line that starts with U+FEFF becomes the first line of a file.
#[test]
fn regression_moved_lines_add_no_second_byte_order_mark() {
    let scene = Scene::new(&[("f", "\u{feff}a\n\u{feff}b\n".as_bytes())]);
    let copy = |to: &str, to_anchor: Value| {
        let anchor = at(2, "\u{feff}b");
        json!({"op": "copy_lines", "path": "f", "anchor": anchor, "to": to, "to_anchor": to_anchor})
    };
    let applied = scene.apply(json!([copy("f", json!("BOF")), copy("new", Value::Null)]));
    assert_eq!(scene.content("f"), "\u{feff}b\na\n\u{feff}b\n");
    assert_eq!(scene.content("new"), "\u{feff}b\n");
    let codes: Vec<_> = applied.warnings.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(codes, ["BYTE_ORDER_MARK"]);
}

#[test]
fn lines_take_the_encoding_of_their_destination() {
    let wide = |text: &str| -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let scene = Scene::new(&[("f", "größe\nb\n".as_bytes()), ("g", &wide("x\r\n日本\r\n"))]);
    scene.apply(json!([
        {"op": "move_lines", "path": "f", "anchor": at(1, "größe"), "to": "g", "to_anchor": "EOF"},
        {"op": "move_lines", "path": "g", "anchor": at(2, "日本"), "to": "f", "to_anchor": "BOF"},
    ]));
    assert_eq!(scene.bytes("g"), wide("x\r\ngröße\r\n"));
    assert_eq!(scene.content("f"), "日本\nb\n");
}

#[test]
fn invalid_bytes_move_only_within_their_encoding() {
    let wide: Vec<u8> = "\u{feff}x\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let scene = Scene::new(&[("f", b"a\nb\xff\nc\n"), ("g", &wide)]);
    let row = String::from_utf8_lossy(b"b\xff").into_owned();
    let refused = scene.refuse(json!([
        {"op": "move_lines", "path": "f", "anchor": at(2, &row), "to": "g", "to_anchor": "EOF"},
    ]));
    assert_eq!(refused.code, Code::UnencodableText, "{}", refused.text);
    scene.apply(json!([
        {"op": "move_lines", "path": "f", "anchor": at(2, &row), "to_anchor": "EOF"},
        {"op": "copy_lines", "path": "f", "anchor": at(2, &row), "to": "h"},
    ]));
    assert_eq!(scene.bytes("f"), b"a\nc\nb\xff\n");
    assert_eq!(scene.bytes("h"), b"b\xff\n");
}

#[test]
fn a_created_file_takes_encoding_and_line_endings_of_the_source() {
    let wide = |text: &str| -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let scene = Scene::new(&[("f", &wide("größe\r\nb\r\nc")), ("g", b"x\ny\n")]);
    let applied = scene.apply(json!([
        {"op": "move_lines", "path": "f", "anchor": at(1, "größe"), "to": "dir/new.txt"},
        {"op": "copy_lines", "path": "g", "anchor": at(1, "x"), "to": "dir/new.txt"},
        {"op": "move_lines", "path": "f", "anchor": at(3, "c"), "to": "dir/new.txt", "to_anchor": "EOF"},
    ]));
    assert_eq!(scene.bytes("dir/new.txt"), wide("größe\r\nx\nc"));
    assert_eq!(scene.bytes("f"), wide("b\r\n"));
    let paths: Vec<_> = applied.files.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["f", "dir/new.txt"]);
    assert!(applied.text.contains("--- dir/new.txt --- created, +3"), "{}", applied.text);
    assert_eq!(applied.files[1].line_count, Some(3));
}

#[test]
fn a_whole_file_moves_and_leaves_an_empty_one() {
    let scene = Scene::new(&[("f", b"a\r\nb")]);
    scene.apply(json!([letters((1, "a", 2, "b"), json!({"to": "g"}))]));
    assert_eq!((scene.content("f"), scene.content("g")), (String::new(), "a\r\nb".into()));
}

#[test]
fn a_destination_anchor_is_required_if_and_only_if_the_file_exists() {
    let scene = Scene::new(&[("f", LETTERS.as_bytes()), ("g", b"x\n")]);
    let one = |more: Value| json!([letters((2, "b", 3, "c"), more)]);
    let rejected = scene.refuse(one(json!({"to": "g"})));
    assert_eq!(rejected.code, Code::InvalidOperation);
    assert!(rejected.text.contains("to_anchor is missing, but g exists"), "{}", rejected.text);
    let rejected = scene.refuse(one(json!({})));
    assert!(rejected.text.contains("to_anchor is missing"), "{}", rejected.text);
    let rejected = scene.refuse(one(json!({"to": "h", "to_anchor": at(1, "x")})));
    assert_eq!(rejected.code, Code::FileNotFound);
    let rejected = scene.refuse(one(json!({"to": ".", "to_anchor": "EOF"})));
    assert_eq!(rejected.code, Code::NotAFile);
    let rejected = scene.refuse(one(json!({"to": "../h"})));
    assert_eq!(rejected.code, Code::OutsideRoot);
    let rejected = scene.refuse(one(json!({"to_anchor": "EOF", "indent": "wide"})));
    assert!(rejected.text.contains("keep or fit"), "{}", rejected.text);
    assert_eq!((scene.content("f"), scene.exists("h")), (LETTERS.to_owned(), false));
}

#[test]
fn conflicting_moves_are_refused() {
    let moved = |more: Value| letters((2, "b", 4, "d"), more);
    let cases = [
        // Into the moved lines, and into lines that are deleted, replaced or moved.
        json!([moved(json!({"to_anchor": at(3, "c")}))]),
        json!([moved(json!({"to_anchor": "EOF"})), {"op": "copy_lines", "path": "f", "anchor": at(1, "a"), "to_anchor": at(2, "b")}]),
        json!([{"op": "delete", "path": "f", "range": format!("{}-{}", at(2, "b"), at(4, "d"))},
            {"op": "move_lines", "path": "f", "anchor": at(1, "a"), "to_anchor": at(3, "c")}]),
        // In a cycle.
        json!([
            letters((1, "a", 2, "b"), json!({"to_anchor": at(4, "d")})),
            letters((4, "d", 5, "e"), json!({"to_anchor": at(1, "a")}))
        ]),
        // Moved and edited, or moved twice.
        json!([moved(json!({"to_anchor": "EOF"})), {"op": "set_line", "path": "f", "anchor": at(3, "c"), "text": "C"}]),
        json!([moved(json!({"to_anchor": "EOF"})), moved(json!({"to_anchor": "BOF"}))]),
        // Into a file that the patch deletes or creates.
        json!([moved(json!({"to": "g", "to_anchor": "EOF"})), {"op": "delete_file", "path": "g"}]),
        json!([moved(json!({"to": "new"})), {"op": "add_file", "path": "new", "content": "x\n"}]),
        json!([moved(json!({"to": "new"})), {"op": "move_file", "from": "g", "to": "new"}]),
    ];
    for operations in cases {
        let scene = Scene::new(&[("f", LETTERS.as_bytes()), ("g", b"x\n")]);
        let rejected = scene.refuse(operations.clone());
        let is_known = [Code::OverlappingEdits, Code::FileExists].contains(&rejected.code);
        assert!(is_known, "{operations}\n{}", rejected.text);
        assert_eq!((scene.content("f"), scene.content("g")), (LETTERS.into(), "x\n".into()));
        assert!(!scene.exists("new"));
    }
}

#[test]
fn lines_can_be_swapped_between_files() {
    let scene = Scene::new(&[("f", b"a\nb\n"), ("g", b"x\ny\n")]);
    scene.apply(json!([
        {"op": "move_lines", "path": "f", "anchor": at(1, "a"), "to": "g", "to_anchor": at(1, "x")},
        {"op": "move_lines", "path": "g", "anchor": at(1, "x"), "to": "f", "to_anchor": at(1, "a")},
    ]));
    assert_eq!((scene.content("f"), scene.content("g")), ("x\nb\n".into(), "a\ny\n".into()));
}

#[test]
fn a_move_to_the_same_position_changes_nothing() {
    for goal in [at(1, "a"), at(3, "c")] {
        let scene = Scene::new(&[("f", LETTERS.as_bytes())]);
        let applied = scene.apply(json!([letters((2, "b", 3, "c"), json!({"to_anchor": goal}))]));
        assert!(applied.files.is_empty(), "{}", applied.text);
        assert_eq!(applied.noops.len(), 1);
        assert_eq!(applied.text, "Operation 0 changes nothing.\nNothing was changed.");
    }
    let scene = Scene::new(&[("f", LETTERS.as_bytes())]);
    scene.apply(json!([
        letters((2, "b", 3, "c"), json!({"to_anchor": at(1, "a")})),
        {"op": "insert_after", "path": "f", "anchor": at(1, "a"), "text": "new"},
    ]));
    assert_eq!(scene.content("f"), "a\nb\nc\nnew\nd\ne\n");
}

#[test]
fn an_exact_repeat_moves_once_and_copies_twice() {
    let scene = Scene::new(&[("f", LETTERS.as_bytes())]);
    let moved = letters((2, "b", 3, "c"), json!({"to": "g"}));
    let applied = scene.apply(json!([moved, moved]));
    assert_eq!((applied.noops.len(), applied.noops[0].operation), (1, 1));
    assert_eq!((scene.content("f"), scene.content("g")), ("a\nd\ne\n".into(), "b\nc\n".into()));
    let copied = json!({"op": "copy_lines", "path": "f", "anchor": at(1, "a"), "to_anchor": "EOF"});
    scene.apply(json!([copied, copied]));
    assert_eq!(scene.content("f"), "a\nd\ne\na\na\n");
}

/// Two files with equal lines, and a destination for them.
fn scene_of_equals() -> Scene {
    Scene::new(&[("f", LETTERS.as_bytes()), ("g", LETTERS.as_bytes()), ("to", b"x\n")])
}

#[test]
fn regression_equal_lines_of_two_files_move_to_one_destination() {
    for (goal, expected) in
        [(json!({"to": "to", "to_anchor": "EOF"}), "x\nb\nb\n"), (json!({"to": "new"}), "b\nb\n")]
    {
        let scene = scene_of_equals();
        let of = |path: &str| {
            let mut operation =
                json!({"op": "move_lines", "path": path, "anchor": at(2, "b"), "to": goal["to"]});
            if let Some(anchor) = goal.get("to_anchor") {
                operation["to_anchor"] = anchor.clone();
            }
            operation
        };
        let applied = scene.apply(json!([of("f"), of("g")]));
        assert!(applied.noops.is_empty(), "{}", applied.text);
        assert_eq!(scene.content("f"), "a\nc\nd\ne\n");
        assert_eq!(scene.content("g"), "a\nc\nd\ne\n");
        assert_eq!(scene.content(goal["to"].as_str().unwrap()), expected);
    }
}

#[test]
fn regression_a_repeated_move_next_to_that_of_another_file_is_omitted_completely() {
    let scene = scene_of_equals();
    let of = |path: &str| json!({"op": "move_lines", "path": path, "anchor": at(2, "b"), "to": "to", "to_anchor": "EOF"});
    let applied = scene.apply(json!([of("f"), of("g"), of("f")]));
    let repeated: Vec<usize> = applied.noops.iter().map(|one| one.operation).collect();
    assert_eq!(repeated, [2], "{}", applied.text);
    assert!(applied.text.contains("Operation 2 repeats operation 0 and was applied once."));
    assert_eq!(scene.content("to"), "x\nb\nb\n");
}

#[test]
fn moves_go_with_other_operations_and_with_moved_files() {
    let scene = Scene::new(&[("f", LETTERS.as_bytes()), ("g", b"x\ny\n")]);
    let applied = scene.apply(json!([
        {"op": "move_file", "from": "g", "to": "h"},
        letters((2, "b", 3, "c"), json!({"to": "g", "to_anchor": at(1, "x")})),
        {"op": "set_line", "path": "g", "anchor": at(2, "y"), "text": "Y"},
        {"op": "delete", "path": "f", "anchor": at(5, "e")},
    ]));
    assert_eq!((scene.content("f"), scene.content("h")), ("a\nd\n".into(), "x\nb\nc\nY\n".into()));
    assert!(!scene.exists("g"), "{}", applied.text);
}

#[test]
fn moved_lines_are_indented_for_their_destination() {
    let python = "class A:\n    def a(self):\n        b()\n\n        c()\n\ndef d():\n    e()\n";
    let scene = Scene::new(&[("a.py", python.as_bytes())]);
    scene.apply(json!([{
        "op": "move_lines", "path": "a.py", "anchor": at(2, "    def a(self):"), "block": true,
        "to_anchor": "EOF", "indent": "fit",
    }]));
    let moved = "def a(self):\n    b()\n\n    c()\n";
    assert_eq!(scene.content("a.py"), format!("class A:\n\ndef d():\n    e()\n{moved}"));
    // The next line below or, if it is indented deeper, the line above.
    let tabs = "x {\n\ty\n}\n";
    for (goal, expected) in [
        (at(1, "x {"), "x {\n\tz {\n\t  z\n\t}\n\ty\n}\n"),
        (at(2, "\ty"), "x {\n\ty\n\tz {\n\t  z\n\t}\n}\n"),
        ("EOF".to_owned(), "x {\n\ty\n}\nz {\n  z\n}\n"),
    ] {
        let scene = Scene::new(&[("f", b"    z {\n      z\n    }\n"), ("g", tabs.as_bytes())]);
        scene.apply(json!([{
            "op": "copy_lines", "path": "f", "start_anchor": at(1, "    z {"),
            "end_anchor": at(3, "    }"), "to": "g", "to_anchor": goal, "indent": "fit",
        }]));
        assert_eq!(scene.content("g"), expected);
    }
}

#[test]
fn a_stale_anchor_of_either_end_is_refused() {
    let scene = Scene::new(&[("f", LETTERS.as_bytes()), ("g", b"x\n")]);
    let rejected = scene.refuse(json!([letters(
        (2, "b", 3, "wrong"),
        json!({"to": "g", "to_anchor": at(1, "other")})
    ),]));
    assert_eq!(rejected.failures.len(), 2, "{}", rejected.text);
    assert_eq!(rejected.failures[0].path.as_deref(), Some("f"));
    assert_eq!(rejected.failures[1].path.as_deref(), Some("g"));
}

#[test]
fn a_dry_run_moves_nothing_and_shows_both_diffs() {
    use hashline_core::PatchOptions;
    let scene = Scene::new(&[("f", LETTERS.as_bytes())]);
    let patch = json!({"operations": [letters((2, "b", 3, "c"), json!({"to": "g"}))]}).into();
    let options =
        PatchOptions { dry_run: true, diff_context_lines: Some(0), ..PatchOptions::default() };
    let outcome =
        Workspace::new(scene.options()).apply_with(&patch, &options, &Cancel::default()).unwrap();
    let files = applied(outcome).files;
    assert!(files[0].diff.as_ref().unwrap().text.contains("-b\n-c\n"));
    assert!(files[1].diff.as_ref().unwrap().text.contains("+b\n+c\n"));
    assert_eq!((scene.content("f"), scene.exists("g")), (LETTERS.to_owned(), false));
}

#[test]
fn in_a_session_moved_lines_keep_their_anchors() {
    let scene = Scene::new(&[("f", LETTERS.as_bytes())]);
    let session = scene.session(&["f"]);
    applied(in_session(&session, &json!([letters((1, "a", 2, "b"), json!({"to_anchor": "EOF"}))])));
    assert_eq!(scene.content("f"), "c\nd\ne\na\nb\n");
    let set = |line, text, new| json!({"op": "set_line", "path": "f", "anchor": at(line, text), "text": new});
    applied(in_session(&session, &json!([set(2, "b", "B"), set(3, "c", "C")])));
    assert_eq!(scene.content("f"), "C\nd\ne\na\nB\n");
    // Moving back gives the old anchors.
    let back = letters((1, "a", 1, "a"), json!({"to_anchor": "BOF"}));
    applied(in_session(&session, &json!([back])));
    applied(in_session(&session, &json!([set(1, "a", "A"), set(4, "d", "D")])));
    assert_eq!(scene.content("f"), "A\nC\nD\ne\nB\n");
}

#[test]
fn in_a_session_moved_lines_are_refused_with_their_new_anchors() {
    let scene = Scene::new(&[("f", LETTERS.as_bytes()), ("g", b"x\n")]);
    let session = scene.session(&["f", "g"]);
    let moved = letters((2, "b", 3, "c"), json!({"to": "g", "to_anchor": "EOF"}));
    applied(in_session(&session, &json!([moved])));
    let set = |path, line, text, new| json!({"op": "set_line", "path": path, "anchor": at(line, text), "text": new});
    let rejected = refused(in_session(&session, &json!([set("f", 2, "b", "B")])));
    assert_eq!(rejected.code, Code::HashMismatch);
    let there = at(2, "b");
    let expected = format!("Your own edit moved this line to g: use {there} there.");
    assert!(rejected.text.contains(&expected), "{}", rejected.text);
    applied(in_session(&session, &json!([set("g", 2, "b", "B"), set("g", 3, "c", "C")])));
    assert_eq!(scene.content("g"), "x\nB\nC\n");
    // Also to a new file.
    applied(in_session(&session, &json!([letters((4, "d", 5, "e"), json!({"to": "h"}))])));
    let rejected = refused(in_session(
        &session,
        &json!([
            {"op": "delete", "path": "f", "range": format!("{}-{}", at(4, "d"), at(5, "e"))},
        ]),
    ));
    let expected = format!("moved these lines to h: use {} to {} there.", at(1, "d"), at(2, "e"));
    assert!(rejected.text.contains(&expected), "{}", rejected.text);
    applied(in_session(&session, &json!([set("h", 2, "e", "E")])));
    assert_eq!(scene.content("h"), "d\nE\n");
}

#[test]
fn in_a_session_unseen_lines_can_be_moved_but_stay_unknown() {
    let text: String = (1..=60).map(|n| format!("line {n}\n")).collect();
    let scene = Scene::new(&[("f", text.as_bytes())]);
    let session = scene.session(&[]);
    show(&session, "f", 1, 10);
    show(&session, "f", 50, 10);
    let moved = json!([{
        "op": "move_lines", "path": "f", "start_anchor": at(5, "line 5"),
        "end_anchor": at(55, "line 55"), "to": "g",
    }]);
    applied(in_session(&session, &moved));
    let delete = |line: u64, now: u64| json!([{"op": "delete", "path": "g", "anchor": at(now, &format!("line {line}"))}]);
    let rejected = refused(in_session(&session, &delete(30, 26)));
    assert_eq!(rejected.code, Code::NotShown, "{}", rejected.text);
    applied(in_session(&session, &delete(9, 5)));
    // Also within a file.
    let scene = Scene::new(&[("f", text.as_bytes())]);
    let session = scene.session(&[]);
    show(&session, "f", 1, 10);
    show(&session, "f", 50, 11);
    let moved = json!([{
        "op": "move_lines", "path": "f", "start_anchor": at(5, "line 5"),
        "end_anchor": at(55, "line 55"), "to_anchor": "EOF",
    }]);
    applied(in_session(&session, &moved));
    let set = |line: u64| json!([{"op": "set_line", "path": "f", "anchor": at(line, &format!("line {line}")), "text": "x"}]);
    assert_eq!(refused(in_session(&session, &set(30))).code, Code::NotShown);
    applied(in_session(&session, &set(9)));
    assert!(scene.content("f").contains("line 8\nx\nline 10\n"));
}

#[test]
fn a_hundred_thousand_lines_move() {
    let text: String = (1..=100_002).map(|n| format!("line {n}\n")).collect();
    let scene = Scene::new(&[("f", text.as_bytes()), ("g", b"top\r\nend\r\n")]);
    let session = scene.session(&["f", "g"]);
    show(&session, "f", 100_001, 2);
    applied(in_session(
        &session,
        &json!([{
            "op": "move_lines", "path": "f", "start_anchor": at(2, "line 2"),
            "end_anchor": at(100_001, "line 100001"), "to": "g", "to_anchor": at(1, "top"),
        }]),
    ));
    assert_eq!(scene.content("f"), "line 1\nline 100002\n");
    let moved = scene.content("g");
    assert_eq!(moved.lines().count(), 100_002);
    assert!(moved.starts_with("top\r\nline 2\r\n") && moved.ends_with("line 100001\r\nend\r\n"));
    let back = json!([{
        "op": "move_lines", "path": "g", "anchor": at(2, "line 2"), "to_anchor": "EOF",
    }]);
    applied(in_session(&session, &back));
    assert!(scene.content("g").ends_with("end\r\nline 2\r\n"));
}

#[test]
fn lines_of_a_text_in_memory_move_within_it() {
    use hashline_core::{EditOptions, apply_to_text};
    let dialect = Dialect::default_dialect();
    let one = |more: Value| json!([letters((2, "b", 3, "c"), more)]).into();
    let moved =
        apply_to_text(dialect, LETTERS, &one(json!({"to_anchor": "EOF"})), &EditOptions::default());
    assert_eq!(moved.content.as_deref(), Some("a\nd\ne\nb\nc\n"));
    let away = apply_to_text(dialect, LETTERS, &one(json!({"to": "g"})), &EditOptions::default());
    assert!(refused(away.outcome).text.contains("cannot go to a file"));
}

#[test]
fn regression_a_repeated_move_within_a_text_in_memory_is_reported_once() {
    use hashline_core::{EditOptions, apply_to_text};
    let moved = letters((2, "b", 3, "c"), json!({"to_anchor": "EOF"}));
    let twice = json!([moved, moved]).into();
    let dialect = Dialect::default_dialect();
    let answer = apply_to_text(dialect, LETTERS, &twice, &EditOptions::default());
    assert_eq!(answer.content.as_deref(), Some("a\nd\ne\nb\nc\n"));
    let text = applied(answer.outcome).text;
    let note = "Operation 1 repeats operation 0 and was applied once.";
    assert_eq!(text.matches(note).count(), 1, "{text}");
}

#[test]
fn the_answer_shows_the_ends_of_many_moved_lines() {
    let long: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let scene = Scene::new(&[("a", long.as_bytes()), ("b", LETTERS.as_bytes())]);
    let (first, last) = (at(1, "line 1"), at(30, "line 30"));
    let applied = scene.apply(json!([
        {"op": "move_lines", "path": "a", "start_anchor": first, "end_anchor": last, "to": "b", "to_anchor": "EOF"},
    ]));
    let shown: Vec<&str> = applied.text.lines().filter(|row| row.contains("line ")).collect();
    let texts: Vec<&str> = shown.iter().map(|row| row.split_once('|').unwrap().1).collect();
    assert_eq!(texts, ["line 1", "line 2", "line 29", "line 30"], "{}", applied.text);
}
