//! Patches in oh-my-pi's language, on files and in sessions.

use std::ops::Deref;

use crate::support::{Project, applied, refused};
use hashline_core::Code;
use hashline_core::Outcome;
use hashline_core::ReadRequest;
use hashline_core::{Session, SessionOptions, StoreOptions, Workspace};
use hashline_lines::tag::Tag;
use serde_json::json;

const LINES: &str = "one\ntwo\nthree\nfour\nfive\n";

struct Scene(Project);

impl Deref for Scene {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.0
    }
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Scene {
        Scene(Project::new(files))
    }

    /// The header of the current version of a file.
    fn header(&self, name: &str) -> String {
        format!("[{name}#{}]", tag(&self.content(name)))
    }

    /// A patch for the current version of a file.
    fn patch(&self, name: &str, rows: &str) -> String {
        format!("{}\n{rows}", self.header(name))
    }

    fn try_apply(&self, patch: &str) -> Outcome {
        self.outcome(json!({"patch": patch}))
    }
}

fn tag(text: &str) -> Tag {
    Tag::of(text.as_bytes())
}

fn in_session(session: &Session, patch: &str) -> Outcome {
    session.apply(json!({"patch": patch})).unwrap()
}

#[test]
fn hunks_of_one_file() {
    for (rows, expected) in [
        ("PUT 2.=3:\n+X\n+Y", "one\nX\nY\nfour\nfive\n"),
        ("PUT <1:\n+X\nPUT >$:\n+Y", "X\none\ntwo\nthree\nfour\nfive\nY\n"),
        ("PUT <3:\n+X\nPUT >2:\n+Y\nCUT 5.=5", "one\ntwo\nX\nY\nthree\nfour\n"),
        ("CUT 1.=5", ""),
        ("PUT 1.=5:\n+", "\n"),
        ("CUT 2.=3\nPUT >5", "one\nfour\nfive\ntwo\nthree\n"),
        ("CUT 2.=3 @r\nPUT >5 @r\nPUT <1 @r", "two\nthree\none\nfour\nfive\ntwo\nthree\n"),
        ("CUT 5.=5 @a\nPUT 1.=2 @a", "five\nthree\nfour\n"),
        ("CUT 2.=2\nPUT >4\nCUT 5.=5\nPUT <1", "five\none\nthree\nfour\ntwo\n"),
        ("CUT 2 @r\nPUT >5:\n+A\nPUT >5 @r\nPUT >5:\n+B", "one\nthree\nfour\nfive\nA\ntwo\nB\n"),
        ("PUT 2.=2:\n+a +b\n++c\n+-d", "one\na +b\n+c\n-d\nthree\nfour\nfive\n"),
    ] {
        let scene = Scene::new(&[("a.txt", LINES)]);
        applied(scene.try_apply(&scene.patch("a.txt", rows)));
        assert_eq!(scene.content("a.txt"), expected, "{rows}");
    }
}

#[test]
fn bytes_outside_of_the_lines_are_kept() {
    let text = "\u{feff}one\r\ntwo  \r\nthree";
    let scene = Scene::new(&[("a.txt", text)]);
    let header = format!("[a.txt#{}]", tag("one\ntwo\nthree"));
    applied(scene.try_apply(&format!("{header}\nPUT 1:\n+1\nPUT >$:\n+4")));
    assert_eq!(scene.content("a.txt"), "\u{feff}1\r\ntwo  \r\nthree\r\n4");
    let scene = Scene::new(&[("empty.txt", "")]);
    applied(scene.try_apply("[empty.txt#5D05]\nPUT <1:\n+a"));
    assert_eq!(scene.content("empty.txt"), "a\n");
}

#[test]
fn several_files_and_whole_files() {
    let scene = Scene::new(&[("a.txt", LINES), ("b.txt", "x\ny\n"), ("c.txt", "z\n")]);
    let patch = format!(
        "*** Begin Patch\n{}\nCUT 2.=3 @r\nPUT 1:\n+1\nMV sub/d e.txt\n{}\nPUT <2 @r\n{}\nREM\n*** End Patch",
        scene.header("a.txt"),
        scene.header("b.txt"),
        scene.header("c.txt")
    );
    let done = applied(scene.try_apply(&patch));
    assert_eq!(done.files.len(), 3);
    assert_eq!(scene.content("sub/d e.txt"), "1\nfour\nfive\n");
    assert_eq!(scene.content("b.txt"), "x\ntwo\nthree\ny\n");
    assert!(!scene.exists("a.txt") && !scene.exists("c.txt"));
}

#[test]
fn regression_lines_put_over_those_of_another_file_are_reported_once() {
    let scene = Scene::new(&[("a.json", "{\n  \"a\": [\n  ]\n}\n"), ("b.txt", "x\ny\n")]);
    let session = scene.session(&["a.json", "b.txt"]);
    let patch =
        format!("{}\nCUT 4 @r\n{}\nPUT 1.=1 @r", scene.header("a.json"), scene.header("b.txt"));
    let done = applied(in_session(&session, &patch));
    let files: Vec<_> = done.files.iter().map(|one| (one.path.as_str(), one.added)).collect();
    assert_eq!(files, [("a.json", 0), ("b.txt", 1)]);
    assert_eq!(scene.content("b.txt"), "}\ny\n");
    let warned: Vec<_> = done.warnings.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(warned, ["a.json"], "{}", done.text);
    let no = refused(scene.try_apply(&scene.patch("b.txt", "CUT 9 @r\nPUT 1.=1 @r")));
    assert_eq!(no.failures.len(), 1, "{}", no.text);
}

#[test]
fn blocks() {
    let code = "// Says it.\nfn a() {\n    say();\n}\n\nfn b() {\n    call();\n}\n";
    let scene = Scene::new(&[("a.rs", code), ("b.rs", "")]);
    let rows = "PUT 2*:\n+fn a() {}\nPUT >6*:\n+\n+fn c() {}";
    let done = applied(scene.try_apply(&scene.patch("a.rs", rows)));
    let note = "`PUT 2*:` (row 2 of the patch) took the block of lines 1-4.";
    assert!(done.text.contains(note), "{}", done.text);
    assert_eq!(scene.content("a.rs"), "fn a() {}\n\nfn b() {\n    call();\n}\n\nfn c() {}\n");
    let patch = format!(
        "{}\nCUT 3* @b\nPUT 1.=1 @b\n{}\nPUT >$ @b",
        scene.header("a.rs"),
        scene.header("b.rs")
    );
    applied(scene.try_apply(&patch));
    assert_eq!(scene.content("a.rs"), "fn b() {\n    call();\n}\n\n\nfn c() {}\n");
    assert_eq!(scene.content("b.rs"), "fn b() {\n    call();\n}\n");
    let code = "fn a() {\n}\nfn b() {\n}\nfn c() {\n}\n";
    let scene = Scene::new(&[("a.rs", code)]);
    applied(scene.try_apply(&scene.patch("a.rs", "CUT 1* @a\nPUT 5* @a\nPUT >3* @a")));
    assert_eq!(scene.content("a.rs"), "fn b() {\n}\nfn a() {\n}\nfn a() {\n}\n");
    let no = refused(scene.try_apply(&scene.patch("a.rs", "PUT 2*:\n+x")));
    assert_eq!(no.code, Code::NoBlock);
    assert!(
        no.failures[0].message.starts_with("`PUT 2*:` (row 2 of the patch): No block at 2."),
        "{}",
        no.text
    );
}

#[test]
fn another_version_is_refused_with_the_lines_as_they_are() {
    let scene = Scene::new(&[("a.txt", LINES), ("b.txt", "x\n")]);
    for rows in ["PUT 2.=3:\n+X", "REM", "MV c.txt", "PUT >$:\n+X", "PUT <1:\n+X"] {
        let patch = format!("{}\nPUT 1:\n+X\n[a.txt#0BAD]\n{rows}", scene.header("b.txt"));
        let no = refused(scene.try_apply(&patch));
        let failure = &no.failures[0];
        assert_eq!((no.code, failure.operation), (Code::HashMismatch, 1), "{rows}");
        let now = format!("[a.txt#{}] now and has 5 lines", tag(LINES));
        assert!(
            no.text.contains("[a.txt#0BAD] is not the current version of the file.")
                && no.text.contains(&now),
            "{}",
            no.text
        );
        assert_eq!(rows.starts_with("PUT 2"), no.text.contains("|three\n"), "{}", no.text);
        assert_eq!(
            (scene.content("a.txt").as_str(), scene.content("b.txt").as_str()),
            (LINES, "x\n")
        );
    }
}

#[test]
fn refusals_name_hunks() {
    let scene = Scene::new(&[("a.txt", LINES), ("b.txt", "x\n")]);
    for (rows, code, expected) in [
        (
            "PUT 2.=3:\n+X\nPUT 3.=4:\n+Y",
            Code::OverlappingEdits,
            "`PUT 2.=3:` (row 2 of the patch) and `PUT 3.=4:` (row 4 of the patch) both touch line 3",
        ),
        (
            "PUT 2:\n+X\nPUT 5.=9:\n+Y",
            Code::LineOutOfRange,
            "`PUT 5.=9:` (row 4 of the patch): Line out of range at 9.",
        ),
        ("PUT 2,3:\n+X", Code::InvalidOperation, "row 2 of the patch: \"PUT 2,3:\" is not a hunk"),
        ("PUT >2 @r", Code::InvalidOperation, "row 2 of the patch: @r is empty"),
        ("CUT 2.=4\nPUT >3", Code::OverlappingEdits, "`PUT >3` (row 3 of the patch)"),
        ("MV b.txt", Code::FileExists, "`MV b.txt` (row 2 of the patch)"),
        ("PUT 1:\n+X\nREM", Code::OverlappingEdits, "`REM` (row 4 of the patch)"),
    ] {
        let no = refused(scene.try_apply(&scene.patch("a.txt", rows)));
        assert_eq!(no.code, code, "{rows}: {}", no.text);
        assert!(no.text.contains(expected), "{rows}: {}", no.text);
        assert!(!no.text.contains("peration "), "{}", no.text);
        assert_eq!(scene.content("a.txt"), LINES);
    }
    let no = refused(scene.try_apply("[no.txt#0000]\nPUT 1:\n+X"));
    assert_eq!((no.code, no.failures[0].path.as_deref()), (Code::FileNotFound, Some("no.txt")));
    let workspace = Workspace::new(scene.options());
    for (patch, expected) in [
        (json!({"patch": 3}), "patch is the number 3"),
        (json!({"patch": "[a#0000]\nREM", "force": true}), "unknown field \"force\""),
    ] {
        let no = refused(workspace.apply(patch).unwrap());
        assert_eq!(no.code, Code::InvalidOperation);
        assert!(no.text.contains(expected), "{}", no.text);
    }
}

#[test]
fn lenient_parsing_causes_a_warning() {
    let scene = Scene::new(&[("a.txt", LINES)]);
    let done = applied(scene.try_apply(&scene.patch("a.txt", "PUT 2-3:\nX\nCUT 5:")));
    assert_eq!(scene.content("a.txt"), "one\nX\nfour\n");
    let warnings: Vec<_> =
        done.warnings.iter().map(|one| (one.code.as_str(), one.operation)).collect();
    assert_eq!(warnings, [("READING", Some(0)), ("READING", Some(1))]);
    assert!(done.text.contains("Row 3 of the patch: rows without a leading +"), "{}", done.text);
}

#[test]
fn in_a_session_a_tag_names_a_version_that_was_shown() {
    let scene = Scene::new(&[("a.txt", LINES)]);
    let session = scene.session(&["a.txt"]);
    let shown = scene.header("a.txt");
    applied(in_session(&session, &format!("{shown}\nPUT >1:\n+1.5")));
    let second = scene.header("a.txt");
    // Numbers refer to the version that the header names, whatever was edited since.
    applied(in_session(&session, &format!("{shown}\nPUT 3:\n+THREE")));
    assert_eq!(scene.content("a.txt"), "one\n1.5\ntwo\nTHREE\nfour\nfive\n");
    applied(in_session(&session, &format!("{second}\nPUT 3:\n+TWO")));
    assert_eq!(scene.content("a.txt"), "one\n1.5\nTWO\nTHREE\nfour\nfive\n");
    // A line that the session itself replaced no longer exists.
    let no = refused(in_session(&session, &format!("{shown}\nPUT 2:\n+2")));
    assert_eq!(no.code, Code::HashMismatch);
    assert!(no.text.contains("Your own edit changed these lines"), "{}", no.text);
    // Changes by others are merged.
    scene.write("a.txt", "zero\none\n1.5\nTWO\nTHREE\nfour\nfive\n");
    applied(in_session(&session, &format!("{shown}\nCUT 4.=4")));
    assert_eq!(scene.content("a.txt"), "zero\none\n1.5\nTWO\nTHREE\nfive\n");
    let no = refused(in_session(&session, "[a.txt#0BAD]\nPUT 4:\n+X"));
    assert!(no.text.contains("No version #0BAD of the file was shown to you"), "{}", no.text);
    assert!(
        no.text.contains(&format!("The file is #{} now", tag(&scene.content("a.txt")))),
        "{}",
        no.text
    );
}

#[test]
fn in_a_session_only_lines_that_were_shown_are_edited() {
    let scene = Scene::new(&[("a.txt", LINES)]);
    let session = scene.session(&[]);
    let limits = hashline_core::Limits { max_lines: Some(2), ..Default::default() };
    let part = ReadRequest { start_line: Some(2), limits, ..ReadRequest::new("a.txt") };
    session.read(part).unwrap();
    let header = scene.header("a.txt");
    let no = refused(in_session(&session, &format!("{header}\nPUT 5:\n+FIVE")));
    assert_eq!(no.code, Code::NotShown);
    // The refusal has shown it.
    applied(in_session(&session, &format!("{header}\nPUT 5:\n+FIVE")));
    let no = refused(in_session(&session, &format!("{header}\nPUT 1:\n+ONE")));
    // The line was shown, but it is not in the version that the header names.
    assert_eq!(no.code, Code::HashMismatch, "{}", no.text);
    let expected = "was never shown to you, and the file changed since";
    assert!(no.text.contains(expected), "{}", no.text);
    applied(in_session(&session, &scene.patch("a.txt", "PUT 1:\n+ONE")));
    assert_eq!(scene.content("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\n");
}

#[test]
fn a_file_is_deleted_only_in_its_current_version() {
    let scene = Scene::new(&[("a.txt", LINES)]);
    let session = scene.session(&["a.txt"]);
    let shown = scene.header("a.txt");
    scene.write("a.txt", "something else\n");
    let no = refused(in_session(&session, &format!("{shown}\nREM")));
    assert_eq!(no.code, Code::HashMismatch);
    applied(in_session(&session, &scene.patch("a.txt", "REM")));
    assert!(!scene.exists("a.txt"));
}

#[test]
fn registers_live_as_long_as_the_session() {
    let scene = Scene::new(&[("a.txt", LINES), ("b.txt", "x\ny\n")]);
    let session = scene.session(&["a.txt", "b.txt"]);
    applied(in_session(&session, &scene.patch("a.txt", "CUT 2.=3 @r\nCUT 5 @s\nPUT <1 @s")));
    assert_eq!(scene.content("a.txt"), "five\none\nfour\n");
    // A refused patch fills no register.
    refused(in_session(&session, &scene.patch("a.txt", "CUT 1 @t\nCUT 9")));
    let no = refused(in_session(&session, &scene.patch("b.txt", "PUT >1 @t")));
    assert!(no.text.contains("filled are @r, @s"), "{}", no.text);
    let fork = session.fork();
    applied(in_session(&session, &scene.patch("b.txt", "PUT >1 @r\nPUT 2.=2 @s")));
    assert_eq!(scene.content("b.txt"), "x\ntwo\nthree\nfive\n");
    session.forget(None).unwrap();
    session.read(ReadRequest::new("b.txt")).unwrap();
    refused(in_session(&session, &scene.patch("b.txt", "PUT >1 @r")));
    fork.read(ReadRequest::new("b.txt")).unwrap();
    applied(in_session(&fork, &scene.patch("b.txt", "PUT <1 @s")));
    assert_eq!(scene.content("b.txt"), "five\nx\ntwo\nthree\nfive\n");
    let no = refused(scene.try_apply(&scene.patch("b.txt", "PUT <1 @s")));
    assert!(no.text.contains("no register is filled"), "{}", no.text);
}

#[test]
fn a_register_is_not_kept_in_a_store() {
    let scene = Scene::new(&[("a.txt", LINES), ("b.txt", "x\n")]);
    let process = || {
        let options = SessionOptions { workspace: scene.options(), ..SessionOptions::default() };
        Session::open(options, &StoreOptions { id: "one".into(), dir: None }).unwrap()
    };
    let first = process();
    first.read_with(&["a.txt", "b.txt"].map(ReadRequest::new), &Default::default()).unwrap();
    applied(in_session(&first, &scene.patch("a.txt", "CUT 2 @r")));
    let later = scene.patch("b.txt", "PUT >1 @r");
    let no = refused(in_session(&process(), &later));
    assert!(no.text.contains("@r is empty"), "{}", no.text);
    assert_eq!(scene.content("b.txt"), "x\n");
    applied(in_session(&first, &later));
    assert_eq!(scene.content("b.txt"), "x\ntwo\n");
}

#[test]
fn a_dry_run_fills_no_register() {
    let scene = Scene::new(&[("a.txt", LINES)]);
    let session = scene.session(&["a.txt"]);
    let options = hashline_core::PatchOptions { dry_run: true, ..Default::default() };
    let patch = json!({"patch": scene.patch("a.txt", "CUT 2 @r")}).into();
    applied(session.apply_with(&patch, &options, &Default::default()).unwrap());
    refused(in_session(&session, &scene.patch("a.txt", "PUT >1 @r")));
    assert_eq!(scene.content("a.txt"), LINES);
}

#[test]
fn a_path_that_reads_like_the_number_of_an_operation_stays() {
    let name = "operation 0.txt";
    let scene = Scene::new(&[(name, LINES)]);
    let refused = refused(scene.try_apply(&scene.patch(name, "PUT 2.=3:\n+X\nPUT 3.=4:\n+Y")));
    assert_eq!(
        refused.text,
        "OVERLAPPING_EDITS: `PUT 2.=3:` (row 2 of the patch) and `PUT 3.=4:` (row 4 of the patch) both touch line 3; combine them into one hunk"
    );
    let refused = self::refused(scene.try_apply(&scene.patch(name, "MV operation 1.txt\nREM")));
    assert!(refused.text.contains(name), "{}", refused.text);
}
