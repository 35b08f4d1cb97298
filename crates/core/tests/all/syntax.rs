//! Whether files still parse after a patch: warnings, refusals, and the status of each file.

use std::fs;

use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::ReadRequest;
use hashline_core::{Applied, Outcome, Rejected, WarningCode};
use hashline_core::{ApplyOptions, Durability, PatchOptions};
use hashline_core::{Session, SessionOptions, Workspace, WorkspaceOptions};
use hashline_core::{SyntaxCheck, SyntaxState};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::{Value, json};

const CODE: &str = "\
function a(x) {
  if (x) {
    return 1
  }
  return 2
}

function b() {
  return 3
}
";

struct Scene {
    dir: tempfile::TempDir,
    _state: tempfile::TempDir,
    options: WorkspaceOptions,
    session: Session,
}

impl Scene {
    fn new(files: &[(&str, &str)], syntax: Option<SyntaxCheck>) -> Scene {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (name, content) in files {
            fs::write(dir.path().join(name), content).unwrap();
        }
        let options = WorkspaceOptions {
            root: dir.path().into(),
            state_dir: Some(state.path().into()),
            apply: ApplyOptions {
                durability: Durability::Process,
                syntax,
                ..ApplyOptions::default()
            },
            ..WorkspaceOptions::default()
        };
        let session = Session::new(SessionOptions {
            workspace: options.clone(),
            ..SessionOptions::default()
        })
        .unwrap();
        for (name, _) in files {
            let request = ReadRequest { path: (*name).into(), ..ReadRequest::default() };
            session.read_with(&[request], &Cancel::default()).unwrap();
        }
        Scene { dir, _state: state, options, session }
    }

    fn try_in_session(&self, operations: Value, dry_run: bool) -> Outcome {
        let patch = json!({"operations": operations}).into();
        let options = PatchOptions { dry_run, ..PatchOptions::default() };
        self.session.apply_with(&patch, &options, &Cancel::default()).unwrap()
    }

    fn in_session(&self, operations: Value) -> Applied {
        applied(self.try_in_session(operations, false))
    }

    fn plainly(&self, operations: Value) -> Outcome {
        let patch = json!({"operations": operations}).into();
        Workspace::new(self.options.clone()).apply(&patch).unwrap()
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.dir.path().join(path)).unwrap()
    }
}

fn applied(outcome: Outcome) -> Applied {
    match outcome {
        Outcome::Applied(applied) => applied,
        Outcome::Rejected(rejected) => panic!("{}", rejected.text),
    }
}

fn rejected(outcome: Outcome) -> Rejected {
    match outcome {
        Outcome::Applied(applied) => panic!("{}", applied.text),
        Outcome::Rejected(rejected) => rejected,
    }
}

fn anchor(number: u64, text: &str) -> String {
    let dialect = Dialect::default_dialect();
    dialect.anchor_text(number, hash_line(dialect, number, text))
}

fn set(path: &str, number: u64, old: &str, new: &str) -> Value {
    json!({"op": "set_line", "path": path, "anchor": anchor(number, old), "text": new})
}

/// Replaces the inner block and its closing bracket.
fn eat(path: &str) -> Value {
    json!([{
        "op": "replace_range", "path": path,
        "start_anchor": anchor(3, "    return 1"), "end_anchor": anchor(4, "  }"),
        "text": "    return 4",
    }])
}

#[test]
fn a_session_warns_of_a_deleted_closing_bracket() {
    let scene = Scene::new(&[("a.js", CODE)], None);
    let done = scene.in_session(eat("a.js"));
    assert_eq!(done.files[0].syntax, Some(SyntaxState::Broken));
    let [warning] = &done.warnings[..] else { panic!("{:?}", done.warnings) };
    assert_eq!((warning.code, warning.operation), (WarningCode::Syntax, Some(0)));
    let expected = format!(
        "a.js parsed before and does not now: line 5: `}}` is missing: the block opened at line 2.\n\
         {}|  if (x) {{\n...\n{}|}}",
        anchor(2, "  if (x) {"),
        anchor(5, "}"),
    );
    assert_eq!(warning.message, expected);
    assert!(done.text.ends_with(&expected), "{}", done.text);
    // The rows in the warning are anchors that were shown.
    scene.in_session(json!([{
        "op": "insert_before", "path": "a.js", "anchor": anchor(5, "}"), "text": "  }",
    }]));
    assert!(scene.content("a.js").contains("return 2\n  }\n}"), "{}", scene.content("a.js"));
}

#[test]
fn a_repaired_file_is_ok_and_a_broken_one_is_reported_once() {
    let scene = Scene::new(&[("a.js", CODE)], None);
    scene.in_session(eat("a.js"));
    let more = scene.in_session(json!([set("a.js", 9, "  return 3", "  return 5")]));
    assert_eq!(more.files[0].syntax, Some(SyntaxState::Unclean));
    assert!(more.warnings.is_empty());
    let mended = scene.in_session(json!([{
        "op": "insert_after", "path": "a.js", "anchor": anchor(3, "    return 4"), "text": "  }",
    }]));
    assert_eq!(mended.files[0].syntax, Some(SyntaxState::Ok));
}

#[test]
fn calls_without_a_session_parse_only_on_request() {
    let scene = Scene::new(&[("a.js", CODE)], None);
    let done = applied(scene.plainly(eat("a.js")));
    assert_eq!(done.files[0].syntax, None);
    assert!(done.warnings.is_empty());
    let scene = Scene::new(&[("a.js", CODE)], Some(SyntaxCheck::Warn));
    let done = applied(scene.plainly(eat("a.js")));
    assert_eq!(done.files[0].syntax, Some(SyntaxState::Broken));
    assert_eq!(done.warnings.len(), 1);
    let scene = Scene::new(&[("a.js", CODE)], Some(SyntaxCheck::Off));
    assert_eq!(scene.in_session(eat("a.js")).files[0].syntax, None);
}

#[test]
fn a_patch_that_breaks_a_file_can_be_refused() {
    let scene = Scene::new(&[("a.js", CODE), ("b.txt", "x\n")], Some(SyntaxCheck::Refuse));
    let mut operations = eat("a.js");
    operations.as_array_mut().unwrap().insert(0, set("b.txt", 1, "x", "y"));
    for outcome in [scene.plainly(operations.clone()), scene.try_in_session(operations, false)] {
        let refused = rejected(outcome);
        assert_eq!(refused.code, Code::BreaksSyntax);
        let [failure] = &refused.failures[..] else { panic!("{:?}", refused.failures) };
        assert_eq!((failure.operation, failure.path.as_deref()), (1, Some("a.js")));
        assert!(failure.message.contains("line 5 of the result: `}` is missing"), "{failure:?}");
        assert!(refused.text.contains(&*failure.message), "{}", refused.text);
    }
    assert_eq!((scene.content("a.js"), scene.content("b.txt")), (CODE.into(), "x\n".into()));
    // A file that was broken before can be edited.
    fs::write(scene.dir.path().join("a.js"), "f(\n").unwrap();
    applied(scene.plainly(json!([set("a.js", 1, "f(", "g(")])));
}

#[test]
fn a_new_error_in_a_file_with_older_ones_is_reported() {
    let code = "@future one;\n\nfn a() {\n    f(1);\n}\n";
    let scene = Scene::new(&[("a.rs", code)], None);
    let same = scene.in_session(json!([set("a.rs", 4, "    f(1);", "    f(2);")]));
    assert_eq!(same.files[0].syntax, Some(SyntaxState::Unclean));
    assert!(same.warnings.is_empty(), "{:?}", same.warnings);
    let broken = scene.in_session(json!([set("a.rs", 4, "    f(2);", "    f(2;")]));
    assert_eq!(broken.files[0].syntax, Some(SyntaxState::Broken));
    let message = &broken.warnings[0].message;
    assert!(
        message.starts_with("a.rs has a new syntax error: line 5: `)` is missing"),
        "{message}"
    );
    let scene = Scene::new(&[("a.rs", code)], Some(SyntaxCheck::Refuse));
    let refused = rejected(scene.plainly(json!([set("a.rs", 4, "    f(1);", "    f(1;")])));
    let message = &refused.failures[0].message;
    assert!(message.starts_with("a.rs would have a new syntax error after the patch"), "{message}");
    applied(scene.plainly(json!([set("a.rs", 4, "    f(1);", "    f(3);")])));
}

/// It advised to delete a line without relation, because the variant parses, as does the text.
#[test]
fn regression_a_duplicate_key_suggests_nothing() {
    let text = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n";
    let scene = Scene::new(&[("a.json", text)], None);
    let twice = "  \"a\": 1,\n  \"c\": 9,";
    let done = scene.in_session(json!([set("a.json", 2, "  \"a\": 1,", twice)]));
    let [warning] = &done.warnings[..] else { panic!("{:?}", done.warnings) };
    assert!(warning.message.contains("the key `c` is a duplicate of that in line 3"));
    assert!(!warning.message.contains("send"), "{}", warning.message);
}

#[test]
fn a_new_file_that_does_not_parse_is_reported() {
    let scene = Scene::new(&[], Some(SyntaxCheck::Refuse));
    let add = |path: &str, text: &str| json!([{"op": "add_file", "path": path, "content": text}]);
    for (path, text, expected) in [
        ("a.js", "f(\n", "a.js does not parse: line 1: `)` is missing"),
        (
            "b.py",
            "a = 1\\nb = 2\\n",
            "line 1: its only line contains `\\n` 2 times: the text seems to be escaped twice",
        ),
        ("c.js", "a = 1\\nb = (2\\n", "c.js does not parse: line 1: its only line contains"),
    ] {
        let done = scene.in_session(add(path, text));
        assert_eq!(scene.content(path), text);
        let [warning] = &done.warnings[..] else { panic!("{path}: {:?}", done.warnings) };
        assert!(warning.message.contains(expected), "{}", warning.message);
    }
    for (path, text) in [
        ("d.js", "f('a\\nb\\n')\n"),
        ("e.txt", "print \"a\\nb\\n\""),
        ("f.txt", "C:\\new\\name\\docs"),
        ("g.tex", "\\newcommand{\\name}{\\emph{x}}"),
        ("h.txt", "one\\ntwo\\n\nthree\n"),
    ] {
        let done = scene.in_session(add(path, text));
        assert!(done.warnings.is_empty(), "{path}: {:?}", done.warnings);
    }
}

#[test]
fn files_without_a_known_language_are_unknown() {
    let long = format!("let a\n{}", "// x\n".repeat(60_000));
    let scene = Scene::new(&[("f", CODE), ("a.txt", CODE), ("long.js", &long)], None);
    let done = scene.in_session(json!([
        set("f", 2, "  if (x) {", "  if (x)"),
        set("a.txt", 2, "  if (x) {", "  if (x)"),
        set("long.js", 1, "let a", "let a ="),
    ]));
    assert!(done.files.iter().all(|file| file.syntax == Some(SyntaxState::Unknown)));
    assert!(done.warnings.is_empty());
}

#[test]
fn a_dry_run_warns_and_remembers_nothing() {
    let scene = Scene::new(&[("a.js", CODE)], None);
    for _ in 0..2 {
        let tried = applied(scene.try_in_session(eat("a.js"), true));
        assert_eq!(tried.files[0].syntax, Some(SyntaxState::Broken));
        assert_eq!(tried.warnings.len(), 1);
    }
    assert_eq!(scene.content("a.js"), CODE);
}

#[test]
fn new_moved_and_deleted_files() {
    let scene = Scene::new(&[("a.js", CODE), ("b.js", CODE), ("c.js", CODE)], None);
    let mut operations = eat("a.js");
    operations.as_array_mut().unwrap().extend([
        json!({"op": "move_file", "from": "a.js", "to": "d.js"}),
        json!({"op": "move_file", "from": "b.js", "to": "e.js"}),
        json!({"op": "delete_file", "path": "c.js"}),
        json!({"op": "add_file", "path": "f.js", "content": "f("}),
        json!({"op": "add_file", "path": "g.js", "content": "f()"}),
    ]);
    let done = scene.in_session(operations);
    let states: Vec<_> = done.files.iter().map(|file| (file.path.as_str(), file.syntax)).collect();
    assert_eq!(
        states,
        [
            ("d.js", Some(SyntaxState::Broken)),
            ("e.js", None),
            ("c.js", None),
            ("f.js", Some(SyntaxState::Unclean)),
            ("g.js", Some(SyntaxState::Ok)),
        ]
    );
    let paths: Vec<_> = done.warnings.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(paths, ["d.js", "f.js"]);
    // Its syntax tree was moved with the file.
    let mended = scene.in_session(json!([{
        "op": "insert_after", "path": "d.js", "anchor": anchor(3, "    return 4"), "text": "  }",
    }]));
    assert_eq!(mended.files[0].syntax, Some(SyntaxState::Ok));
}

#[test]
fn other_encodings_are_parsed_as_text() {
    let scene = Scene::new(&[], None);
    let utf16: Vec<u8> = "\u{feff}let a = 1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(scene.dir.path().join("a.js"), utf16).unwrap();
    let request = ReadRequest { path: "a.js".into(), ..ReadRequest::default() };
    scene.session.read_with(&[request], &Cancel::default()).unwrap();
    let done = scene.in_session(json!([set("a.js", 1, "let a = 1", "let a = (1")]));
    assert_eq!(done.files[0].syntax, Some(SyntaxState::Broken), "{}", done.text);
}

#[test]
fn a_shifted_python_body_is_reported() {
    let text = "def f(x):\n    if x:\n        a()\n        b()\n    c()\n";
    let scene = Scene::new(&[("a.py", text)], None);
    let done = scene.in_session(json!([set("a.py", 4, "        b()", "      d()")]));
    assert_eq!(done.files[0].syntax, Some(SyntaxState::Broken));
    assert!(done.warnings.iter().any(|one| one.code == WarningCode::Syntax));
}

#[test]
fn a_text_that_parses_causes_no_indentation_warning() {
    let text = "class A {\n    f() {\n        update(value)\n    }\n}\n";
    for (path, expected) in [("a.txt", 1), ("a.js", 0)] {
        let scene = Scene::new(&[(path, text)], None);
        let edit = set(path, 3, "        update(value)", "      update(value, 1)");
        let done = scene.in_session(json!([edit]));
        let warnings = done.warnings.iter().filter(|one| one.code == WarningCode::Indentation);
        assert_eq!(warnings.count(), expected, "{path}: {:?}", done.warnings);
    }
}

#[test]
fn at_most_64_files_are_parsed() {
    let names: Vec<String> = (0..66).map(|at| format!("{at}.js")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "f()\n")).collect();
    let scene = Scene::new(&files, None);
    let operations: Vec<Value> = names.iter().map(|name| set(name, 1, "f()", "f(")).collect();
    let done = scene.in_session(operations.into());
    let of = |state| done.files.iter().filter(|file| file.syntax == Some(state)).count();
    assert_eq!((of(SyntaxState::Broken), of(SyntaxState::Unknown)), (64, 2));
}

/// The operations that a message suggests.
fn said(message: &str) -> Value {
    let from = message.find("{\"operations\"").expect(message);
    let end = message[from..].find("]}").expect(message) + 2;
    serde_json::from_str(&message[from..from + end]).unwrap()
}

/// Replaces the last line of a function and its closing bracket.
fn delete_the_end() -> Value {
    json!([{
        "op": "replace_range", "path": "a.js", "text": "  return 4",
        "start_anchor": anchor(3, "  return 3"), "end_anchor": anchor(4, "}"),
    }])
}

const SHORT: &str = "function b() {\n  f()\n  return 3\n}\n";

#[test]
fn the_only_similar_variant_that_parses_is_suggested() {
    let repeats = |line: u64| {
        format!("the last line of the text of operation 0, which repeats line {line}, is a mistake")
    };
    for (code, operations, may_be, wanted) in [
        (
            SHORT,
            delete_the_end(),
            "operation 0 was meant to end 1 line earlier".into(),
            SHORT.replace("return 3", "return 4"),
        ),
        (
            CODE,
            json!([{
                "op": "insert_after", "path": "a.js", "anchor": anchor(3, "    return 1"),
                "text": "    f()\n  }",
            }]),
            repeats(4),
            CODE.replace("return 1\n", "return 1\n    f()\n"),
        ),
        (
            CODE,
            json!([{
                "op": "insert_after", "path": "a.js", "anchor": anchor(9, "  return 3"),
                "text": "  // end\n}",
            }]),
            repeats(10),
            CODE.replace("return 3\n", "return 3\n  // end\n"),
        ),
    ] {
        let scene = Scene::new(&[("a.js", code)], None);
        let done = scene.in_session(operations);
        let [warning] = &done.warnings[..] else { panic!("{:?}", done.warnings) };
        assert!(warning.message.contains(&may_be), "{}", warning.message);
        let mended = scene.in_session(said(&warning.message)["operations"].clone());
        assert_eq!(mended.files[0].syntax, Some(SyntaxState::Ok), "{}", mended.text);
        assert_eq!(scene.content("a.js"), wanted);
    }
}

#[test]
fn of_two_variants_that_parse_none_is_suggested() {
    // The edit could also have been meant to start at the `if`.
    let scene = Scene::new(&[("a.js", CODE)], None);
    let done = scene.in_session(eat("a.js"));
    assert!(!done.warnings[0].message.contains("operation 0"), "{}", done.warnings[0].message);
}

#[test]
fn regression_a_dropped_closing_bracket_suggests_no_further_deletion() {
    let code = "function a() {\n  f()\n}\n\nfunction c() {\n  g()\n}\n";
    let scene = Scene::new(&[("a.js", code)], None);
    let drop_closer = json!([{"op": "delete", "path": "a.js", "anchor": anchor(3, "}")}]);
    let message = &scene.in_session(drop_closer).warnings[0].message;
    assert!(message.contains("`}` is missing"), "{message}");
    assert!(!message.contains("send"), "{message}");
}

#[test]
fn regression_rows_of_a_warning_belong_to_its_file() {
    let scene = Scene::new(&[("a.js", CODE), ("b.js", CODE)], None);
    let mut operations = eat("a.js");
    operations.as_array_mut().unwrap().push(set("b.js", 9, "  return 3", "  return 4"));
    let done = scene.in_session(operations);
    let warning = format!("\n--- a.js ---\n{}", done.warnings[0].message);
    assert!(done.text.ends_with(&warning), "{}", done.text);
    let later = Scene::new(&[("a.js", CODE), ("b.js", CODE)], None);
    for name in ["a.js", "b.js"] {
        fs::write(later.dir.path().join(name), scene.content(name)).unwrap();
    }
    later.session.forget(None).unwrap();
    // Line 2 is the same in both files, and only the warning shows it.
    later.session.observe(&warning, None, &Cancel::default()).unwrap();
    let of = |path: &str| json!([set(path, 2, "  if (x) {", "  if (!x) {")]);
    assert_eq!(rejected(later.try_in_session(of("b.js"), true)).failures[0].code, Code::NotShown);
    later.in_session(of("a.js"));
}

#[test]
fn a_refused_patch_reports_how_it_would_parse() {
    let row = format!("{}|  return 3", anchor(3, "  return 3"));
    let how = format!("would parse if operation 0 ended at `{row}`.");
    let scene = Scene::new(&[("a.js", SHORT)], None);
    let tried = applied(scene.try_in_session(delete_the_end(), true));
    assert!(tried.warnings[0].message.contains(&how), "{}", tried.warnings[0].message);
    let scene = Scene::new(&[("a.js", SHORT)], Some(SyntaxCheck::Refuse));
    let refused = rejected(scene.try_in_session(delete_the_end(), false));
    assert!(refused.text.contains(&how), "{}", refused.text);
    assert_eq!(scene.content("a.js"), SHORT);
}

#[test]
fn a_file_that_is_still_broken_is_reported_again_by_the_next_call() {
    let scene = Scene::new(&[("a.js", SHORT), ("b.js", SHORT)], None);
    let read = |path: &str| {
        let request = ReadRequest { path: path.into(), ..ReadRequest::default() };
        scene.session.read_with(&[request], &Cancel::default()).unwrap();
    };
    let nothing: [&str; 0] = [];
    scene.in_session(delete_the_end());
    assert_eq!(scene.session.broken_files(), nothing, "the answer to the patch reported it");
    read("b.js");
    assert_eq!(scene.session.broken_files(), ["a.js"]);
    read("b.js");
    assert_eq!(scene.session.broken_files(), nothing, "reported only once");
    // A file that was repaired, or changed by another process, is not reported.
    let mend = json!([{ "op": "insert_after", "path": "a.js", "anchor": "EOF", "text": "}" }]);
    scene.in_session(mend.clone());
    let eat = json!([{ "op": "delete", "path": "a.js", "anchor": anchor(4, "}") }]);
    scene.in_session(eat.clone());
    scene.in_session(mend.clone());
    assert_eq!(scene.session.broken_files(), nothing);
    scene.in_session(eat.clone());
    fs::write(scene.dir.path().join("a.js"), "f(\n(").unwrap();
    read("b.js");
    assert_eq!(scene.session.broken_files(), nothing);
    // If an edit leaves the file broken, its answer says so; a dry run changes nothing.
    let scene = Scene::new(&[("a.js", SHORT)], None);
    scene.try_in_session(delete_the_end(), true);
    scene.in_session(json!([set("a.js", 2, "  f()", "  g()")]));
    assert_eq!(scene.session.broken_files(), nothing);
    scene.in_session(eat.clone());
    scene.in_session(json!([set("a.js", 2, "  g()", "  h()")]));
    assert_eq!(scene.session.broken_files(), ["a.js"]);
}
