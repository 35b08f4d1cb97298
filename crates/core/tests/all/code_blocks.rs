//! Operations that name a block by the line on which it starts.

use std::ops::Deref;

use crate::support::{Project, applied, refused, show};
use hashline_core::Code;
use hashline_core::Session;
use hashline_core::{Applied, Outcome, Rejected};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::{Value, json};

struct Scene(Project);

impl Deref for Scene {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.0
    }
}

impl Scene {
    fn new(name: &str, content: &[u8]) -> Scene {
        Scene(Project::new(&[(name, content)]))
    }

    fn try_apply(&self, operation: Value) -> Outcome {
        self.outcome(json!({"operations": [operation]}))
    }

    fn apply(&self, operation: Value) -> Applied {
        applied(self.try_apply(operation))
    }

    fn refuse(&self, operation: Value) -> Rejected {
        refused(self.try_apply(operation))
    }
}

fn in_session(session: &Session, operation: &Value) -> Outcome {
    let patch = json!({"operations": [operation]}).into();
    session.apply(&patch).unwrap()
}

/// The anchor of a line of a text, given without its indentation.
fn anchor(text: &str, line: &str) -> String {
    let dialect = Dialect::default_dialect();
    let at = text.lines().position(|one| one.trim() == line.trim()).expect(line);
    let row = text.lines().nth(at).unwrap();
    dialect.anchor_text(at as u64 + 1, hash_line(dialect, at as u64 + 1, row))
}

fn delete(path: &str, text: &str, line: &str) -> Value {
    json!({"op": "delete", "path": path, "anchor": anchor(text, line), "block": true})
}

const CODE: &str = "\
use a;

/// Says one.
#[inline]
fn one() {
    two()
}

fn two() -> [u8; 2] {
    [
        1,
        2,
    ]
}
";

#[test]
fn a_block_is_replaced_with_the_comments_above_it() {
    let scene = Scene::new("a.rs", CODE.as_bytes());
    let applied = scene.apply(json!({
        "op": "replace_range", "path": "a.rs", "start_anchor": anchor(CODE, "fn one() {"),
        "block": true, "text": "fn three() {}",
    }));
    let rest = CODE.find("\nfn two").unwrap();
    assert_eq!(scene.content("a.rs"), format!("use a;\n\nfn three() {{}}\n{}", &CODE[rest..]));
    assert!(applied.text.contains("Operation 0 took the block of lines 3-7."), "{}", applied.text);
}

#[test]
fn the_comment_above_names_the_block_as_well() {
    let scene = Scene::new("a.rs", CODE.as_bytes());
    scene.apply(delete("a.rs", CODE, "/// Says one."));
    let rest = CODE.find("\nfn two").unwrap();
    assert_eq!(scene.content("a.rs"), format!("use a;\n\n{}", &CODE[rest..]));
}

#[test]
fn lines_are_inserted_below_the_block() {
    let scene = Scene::new("a.rs", CODE.as_bytes());
    let applied = scene.apply(json!({
        "op": "insert_after", "path": "a.rs", "anchor": anchor(CODE, "fn one() {"),
        "block": true, "text": "\nfn three() {}",
    }));
    let (above, below) = CODE.split_at(CODE.find("\nfn two").unwrap());
    assert_eq!(scene.content("a.rs"), format!("{above}\nfn three() {{}}\n{below}"));
    assert!(applied.text.contains("Operation 0 took the block of lines 3-7."), "{}", applied.text);
}

#[test]
fn line_endings_and_surrounding_bytes_are_kept() {
    let text = "\u{feff}use a;\r\nfn one() {\r\n    two()\r\n}\r\nfn two() {\r\n}";
    let scene = Scene::new("a.rs", text.as_bytes());
    let lines = text.trim_start_matches('\u{feff}');
    scene.apply(delete("a.rs", lines, "fn one() {"));
    assert_eq!(scene.content("a.rs"), "\u{feff}use a;\r\nfn two() {\r\n}");
}

/// Each row: the file, its content, the line that names the block, the content after deletion.
#[test]
fn blocks_in_each_language_are_what_a_reader_expects() {
    let cases = [
        // In Python and YAML, the outermost node that starts on a line is often the surrounding
        // list.
        (
            "a.py",
            "def a():\n    b()\n    if c:\n        d()\n    e()\n",
            "if c:",
            "def a():\n    b()\n    e()\n",
        ),
        ("a.yaml", "a:\n  b:\n    c: 1\n    d: 2\n  e: 3\n", "b:", "a:\n  e: 3\n"),
        ("a.yaml", "- a: 1\n  b: 2\n- c: 3\n  d: 4\n", "- a: 1", "- c: 3\n  d: 4\n"),
        // Decorators and comments belong to the block.
        (
            "a.py",
            "x = 1\n\n# Of a.\n@b\n@c(1)\ndef a():\n    pass\n\ny = 2\n",
            "def a():",
            "x = 1\n\n\ny = 2\n",
        ),
        ("a.ts", "// Of A.\n@b()\nclass A {\n  c = 1\n}\nlet d\n", "class A {", "let d\n"),
        // A node that ends in column 0 ends on the previous line.
        (
            "a.py",
            "def a():\n    b()\n\n\ndef c():\n    d()\n",
            "def a():",
            "\n\ndef c():\n    d()\n",
        ),
        ("a.yaml", "a:\n  b: 1\n\nc:\n  d: 2\n", "a:", "\nc:\n  d: 2\n"),
        // A clause of a chain is a block of its own.
        (
            "a.py",
            "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()\n",
            "elif c:",
            "if a:\n    b()\nelse:\n    e()\n",
        ),
        (
            "a.py",
            "try:\n    a()\nexcept B:\n    c()\nfinally:\n    d()\n",
            "except B:",
            "try:\n    a()\nfinally:\n    d()\n",
        ),
        ("a.py", "if a:\n    b()\nelif c:\n    d()\nf()\n", "if a:", "f()\n"),
        // A comma or semicolon directly after the block belongs to it.
        ("a.js", "f({\n  a: {\n    b: 1,\n  },\n  c: 2,\n})\n", "a: {", "f({\n  c: 2,\n})\n"),
        ("a.js", "const a = {\n  b: 1\n};\nc();\n", "const a = {", "c();\n"),
        (
            "a.rs",
            "struct A {\n    b: [u8; 1],\n}\nmatch c {\n    D => {\n        1\n    },\n    E => 2,\n}\n",
            "D => {",
            "struct A {\n    b: [u8; 1],\n}\nmatch c {\n    E => 2,\n}\n",
        ),
        // A string of several lines belongs to the statement that contains it.
        ("a.py", "a = \"\"\"\ndef b():\n    c\n\"\"\"\nd = 1\n", "a = \"\"\"", "d = 1\n"),
        ("a.js", "const a = `\n  if (b) {\n  }\n`\nc()\n", "const a = `", "c()\n"),
        // A section of Markdown includes its subsections.
        ("a.md", "# A\n\none\n\n## B\n\ntwo\n\n# C\n\nthree\n", "# A", "# C\n\nthree\n"),
        (
            "a.md",
            "# A\n\none\n\n## B\n\ntwo\n\n## D\n\n# C\n",
            "## B",
            "# A\n\none\n\n\n## D\n\n# C\n",
        ),
        // A table extends to the next heading.
        ("a.toml", "[a]\nb = 1\nc = 2\n\n[d]\ne = 3\n", "[a]", "[d]\ne = 3\n"),
    ];
    for (path, text, line, left) in cases {
        let scene = Scene::new(path, text.as_bytes());
        match scene.try_apply(delete(path, text, line)) {
            Outcome::Applied(_) => {}
            Outcome::Rejected(rejected) => panic!("{path}: {line}\n{}", rejected.text),
        }
        let now = scene.content(path);
        assert_eq!(now.trim(), left.trim(), "{path}: {line}\nwas\n{text}\nis\n{now}");
    }
}

#[test]
fn a_line_without_a_block_is_refused_with_the_nearest_blocks() {
    let text = "\
function a(b) {
  if (b) {
    c()
  } else {
    d()
  }
  return b
}
function e() {
  return 1
}
";
    let scene = Scene::new("a.js", text.as_bytes());
    for line in ["} else {", "return b", "c()"] {
        let rejected = scene.refuse(delete("a.js", text, line));
        assert_eq!(rejected.code, Code::NoBlock, "{line}: {}", rejected.text);
        let below = anchor(text, "function e() {");
        assert!(rejected.text.contains(&anchor(text, "if (b) {")), "{}", rejected.text);
        assert!(rejected.text.contains(&below), "{}", rejected.text);
    }
    assert_eq!(scene.content("a.js"), text);
    let rejected = scene.refuse(delete("a.js", text, "} else {"));
    assert_eq!(
        rejected.text,
        "No block at 4:32.\nActual state:\n2:29|  if (b) {\n...\n4:32|  } else {\n...\n9:db|function e() {\nOperation 0, a.js: No block begins at line 4: nothing of more than one line begins there. The nearest lines where one begins are 2:29 and 9:db."
    );
}

#[test]
fn broken_code_shared_lines_and_unknown_languages_have_no_block() {
    let cases = [
        ("a.js", "function a( {\n  b()\n}\n", "function a( {", "syntax error"),
        ("a.js", "function a() {\n  b()\n}; c()\n", "function a() {", "contains other code"),
        ("a.txt", "a {\n  b\n}\n", "a {", "the language of the file is unknown"),
    ];
    for (path, text, line, why) in cases {
        let scene = Scene::new(path, text.as_bytes());
        let rejected = scene.refuse(delete(path, text, line));
        assert_eq!(rejected.code, Code::NoBlock, "{}", rejected.text);
        assert!(rejected.text.contains(why), "{}", rejected.text);
        assert!(rejected.failures[0].message.contains(why));
    }
    let long = format!("function a() {{\n  b()\n}}\n{}", "// x\n".repeat(60_000));
    let scene = Scene::new("a.js", long.as_bytes());
    let rejected = scene.refuse(delete("a.js", &long, "function a() {"));
    assert!(rejected.text.contains("longer than 256 KiB"), "{}", rejected.text);
}

#[test]
fn a_block_takes_exactly_one_anchor() {
    let scene = Scene::new("a.rs", CODE.as_bytes());
    let one = anchor(CODE, "fn one() {");
    let cases = [
        (
            json!({"op": "replace_range", "start_anchor": one, "end_anchor": one, "text": "x"}),
            "end_anchor",
        ),
        (json!({"op": "delete", "anchor": one, "range": "1:a3-2:b4"}), "range"),
        (json!({"op": "insert_after", "anchor": "EOF", "text": "x"}), "anchor"),
        (json!({"op": "set_line", "anchor": one, "text": "x"}), "unknown field \"block\""),
    ];
    for (mut operation, what) in cases {
        operation["path"] = "a.rs".into();
        operation["block"] = true.into();
        let rejected = scene.refuse(operation);
        assert_eq!(rejected.code, Code::InvalidOperation);
        assert!(rejected.text.contains(what), "{}", rejected.text);
    }
}

#[test]
fn a_session_removes_no_line_of_a_block_that_it_never_showed() {
    let body: String = (1..=300).map(|n| format!("    call({n});\n")).collect();
    let text = format!("fn a() {{\n{body}}}\n");
    let scene = Scene::new("a.rs", text.as_bytes());
    let session = scene.session(&[]);
    show(&session, "a.rs", 1, 1);
    let operation = delete("a.rs", &text, "fn a() {");
    let rejected = refused(in_session(&session, &operation));
    assert_eq!(rejected.code, Code::NotShown);
    assert!(rejected.text.contains("201:"), "{}", rejected.text);
    assert!(!rejected.text.contains("\n210:"), "{}", rejected.text);
    assert!(rejected.text.contains("read on from line 204"), "{}", rejected.text);
    // The lines that the refusal showed count as shown; the others must be read.
    show(&session, "a.rs", 204, 99);
    applied(in_session(&session, &operation));
    assert_eq!(scene.content("a.rs"), "");
}

#[test]
fn a_session_inserts_below_a_block_of_which_only_the_line_was_shown() {
    let scene = Scene::new("a.rs", CODE.as_bytes());
    let session = scene.session(&[]);
    show(&session, "a.rs", 5, 1);
    let operation = json!({
        "op": "insert_after", "path": "a.rs", "anchor": anchor(CODE, "fn one() {"), "block": true,
        "text": "// end",
    });
    applied(in_session(&session, &operation));
    assert!(scene.content("a.rs").contains("}\n// end\n\nfn two"));
}

#[test]
fn a_block_moved_by_others_is_found() {
    let scene = Scene::new("a.rs", CODE.as_bytes());
    let session = scene.session(&[]);
    show(&session, "a.rs", 1, 20);
    scene.write("a.rs", format!("// new\n// lines\n\n{CODE}").as_bytes());
    applied(in_session(&session, &delete("a.rs", CODE, "fn one() {")));
    let rest = CODE.find("\nfn two").unwrap();
    assert_eq!(scene.content("a.rs"), format!("// new\n// lines\n\nuse a;\n\n{}", &CODE[rest..]));
}

#[test]
fn a_block_whose_end_was_changed_is_shown_before_it_is_removed() {
    let scene = Scene::new("a.rs", CODE.as_bytes());
    let session = scene.session(&[]);
    show(&session, "a.rs", 1, 20);
    let changed = CODE.replace("    two()\n", "    two();\n    others();\n");
    scene.write("a.rs", changed.as_bytes());
    let operation = delete("a.rs", CODE, "fn one() {");
    let rejected = refused(in_session(&session, &operation));
    assert!([Code::NotShown, Code::HashMismatch].contains(&rejected.code), "{}", rejected.text);
    assert!(rejected.text.contains("others();"), "{}", rejected.text);
    assert_eq!(scene.content("a.rs"), changed);
    applied(in_session(&session, &delete("a.rs", &changed, "fn one() {")));
    assert!(!scene.content("a.rs").contains("others"));
}

/// A function with `count` lines in its body.
fn long(count: usize) -> String {
    let body: String = (1..=count).map(|n| format!("    step{n}();\n")).collect();
    format!("fn long() {{\n{body}}}\n")
}

#[test]
fn regression_a_refused_block_says_which_lines_others_changed_and_which_were_not_shown() {
    let text = long(20);
    let scene = Scene::new("a.rs", text.as_bytes());
    let session = scene.session(&[]);
    // Lines 16 to 18 of the block are not shown.
    show(&session, "a.rs", 1, 15);
    show(&session, "a.rs", 19, 10);
    let changed = text.replace("    step5();\n", "    other();\n    step5b();\n");
    scene.write("a.rs", changed.as_bytes());
    let operation = delete("a.rs", &text, "fn long() {");
    let rejected = refused(in_session(&session, &operation));
    assert_eq!(rejected.code, Code::NotShown);
    let why = "Another process changed lines 6-7 since you read them, and lines 17-19 were never shown to you. They are shown above: repeat the edit if you mean them.";
    assert!(rejected.text.contains(why), "{}", rejected.text);
    for (row, is_shown) in [("step5b()", true), ("step16()", true), ("step10()", false)] {
        assert_eq!(rejected.text.contains(row), is_shown, "{row}: {}", rejected.text);
    }
    // Together with earlier reads, the refusal has shown the whole block.
    applied(in_session(&session, &operation));
    assert_eq!(scene.content("a.rs"), "");
}

#[test]
fn regression_a_refused_block_of_which_others_changed_lines_does_not_call_all_unseen() {
    let text = long(6);
    for (others, expected) in [
        (text.replace("step3", "other"), "Another process changed line 4 since you read it"),
        (
            text.replace("    step3();\n", ""),
            "Another process changed lines 3-4 since you read them",
        ),
        (
            text.replace("    step3();", "    step3();\n    new();"),
            "Another process changed line 5 since",
        ),
    ] {
        let scene = Scene::new("a.rs", text.as_bytes());
        let session = scene.session(&[]);
        show(&session, "a.rs", 1, 20);
        scene.write("a.rs", others.as_bytes());
        let operation = delete("a.rs", &text, "fn long() {");
        let rejected = refused(in_session(&session, &operation));
        assert_eq!(rejected.code, Code::NotShown);
        assert!(rejected.text.contains(expected), "{}", rejected.text);
        assert!(rejected.text.starts_with("Changed lines at "), "{}", rejected.text);
        assert!(!rejected.text.contains("never"), "{}", rejected.text);
        assert_eq!(scene.content("a.rs"), others);
        applied(in_session(&session, &operation));
        assert_eq!(scene.content("a.rs"), "");
    }
}

#[test]
fn the_lines_that_a_refusal_names_count_as_shown() {
    let scene = Scene::new("a.rs", CODE.as_bytes());
    let session = scene.session(&[]);
    show(&session, "a.rs", 6, 1);
    let rejected = refused(in_session(&session, &delete("a.rs", CODE, "    two()")));
    assert_eq!(rejected.code, Code::NoBlock, "{}", rejected.text);
    let fn_one = anchor(CODE, "fn one() {");
    assert!(rejected.text.contains(&fn_one), "{}", rejected.text);
    let operation = json!({
        "op": "insert_after", "path": "a.rs", "anchor": fn_one, "block": true, "text": "// end",
    });
    applied(in_session(&session, &operation));
}
