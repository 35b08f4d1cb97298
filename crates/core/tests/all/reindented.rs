//! Edits by old anchors, in sessions, on files whose whitespace others have changed.

use std::fs;

use hashline_core::Cancel;
use hashline_core::{ApplyOptions, Durability, SyntaxCheck};
use hashline_core::{Outcome, PatchOptions, ReadRequest};
use hashline_core::{Session, SessionOptions, WorkspaceOptions};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::json;

use crate::habits::{Figures, Line, Random, check, front, joined, measure};

const PATH: &str = "text.c";

fn session(dir: &tempfile::TempDir, state: &tempfile::TempDir) -> Session {
    let workspace = WorkspaceOptions {
        root: dir.path().into(),
        state_dir: Some(state.path().into()),
        apply: ApplyOptions {
            durability: Durability::Process,
            syntax: Some(SyntaxCheck::Off),
            ..ApplyOptions::default()
        },
        ..WorkspaceOptions::default()
    };
    Session::new(SessionOptions { workspace, ..SessionOptions::default() }).unwrap()
}

/// A new line that is indented like an old one.
fn edited(line: &Line) -> String {
    format!("{}edited(line);", front(&line.text))
}

/// A text with a line in the place of some.
fn replaced(lines: &[Line], at: usize, count: usize) -> String {
    let edited = Line { text: edited(&lines[at]), id: 0 };
    let mut text = lines.to_vec();
    text.splice(at..at + count, [edited]);
    joined(&text)
}

/// Each line of a text without whitespace at its ends.
fn trimmed(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).collect()
}

/// Edits of single lines and of short ranges, each by a session of its own that was shown the old
/// text.
fn edits(random: &mut Random, (old, new): (&[Line], &[Line]), count: usize, figures: &mut Figures) {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = dir.path().join(PATH);
    fs::write(&file, joined(old)).unwrap();
    let shown = session(&dir, &state);
    let mut request = ReadRequest { path: PATH.into(), ..ReadRequest::default() };
    request.limits.max_lines = Some(old.len() as u64);
    request.limits.max_bytes = Some(1 << 24);
    shown.read_with(&[request], &Cancel::default()).unwrap();
    let dialect = Dialect::default_dialect();
    let after = joined(new);
    for _ in 0..count {
        let first = random.below(old.len());
        let length = 1 + if random.below(3) == 0 { random.below(4) } else { 0 };
        let length = length.min(old.len() - first);
        let anchor = |at: usize| {
            let (number, text) = (at as u64 + 1, old[at].text.as_str());
            dialect.anchor_text(number, hash_line(dialect, number, text))
        };
        let edit = json!({
            "op": "replace_range", "path": PATH, "start_anchor": anchor(first),
            "end_anchor": anchor(first + length - 1), "text": edited(&old[first]),
        });
        fs::write(&file, &after).unwrap();
        let patch = json!({"operations": [edit]}).into();
        let (options, cancel) = (PatchOptions::default(), Cancel::default());
        let outcome = shown.fork().apply_with(&patch, &options, &cancel).unwrap();
        let truth = new.iter().position(|line| line.id == old[first].id);
        let is_whole = |&at: &usize| {
            let now = new.get(at..at + length);
            now.is_some_and(|now| now.iter().zip(&old[first..]).all(|(now, old)| now.id == old.id))
        };
        match (truth.filter(is_whole), outcome) {
            (None, Outcome::Rejected(_)) => {}
            (Some(_), Outcome::Rejected(_)) => figures.refused += 1,
            (truth, Outcome::Applied(applied)) => {
                let found = fs::read_to_string(&file).unwrap();
                let expected = truth.map(|at| replaced(new, at, length));
                match expected {
                    Some(expected) if trimmed(&expected) == trimmed(&found) => {
                        figures.right += 1;
                        figures.indented += u32::from(expected == found);
                    }
                    _ => {
                        figures.wrong += 1;
                        eprintln!(
                            "{first}, {length} lines, is at {truth:?}:\n{}\n{}=====\n{after}",
                            applied.text,
                            joined(old)
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn edits_follow_lines_whose_whitespace_changed() {
    check(&measure(20, |random, texts, figures| edits(random, texts, 20, figures)));
}

#[test]
#[ignore = "minutes"]
fn edits_follow_lines_whose_whitespace_changed_in_many_texts() {
    check(&measure(200, |random, texts, figures| edits(random, texts, 20, figures)));
}

/// Applies one `set_line` by the anchor that a read of `old` showed, after the file became `new`.
fn set_line(path: &str, (old, new): (&str, &str), line: usize, text: &str) -> (bool, String) {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = dir.path().join(path);
    fs::write(&file, old).unwrap();
    let session = session(&dir, &state);
    let shown = session.read(path).unwrap().text;
    fs::write(&file, new).unwrap();
    let row = shown.lines().nth(line - 1).unwrap();
    let operation = json!({"op": "set_line", "path": path, "anchor": row, "text": text});
    let outcome = session.apply(json!({"operations": [operation]})).unwrap();
    let is_applied = matches!(outcome, Outcome::Applied(_));
    (is_applied, fs::read_to_string(file).unwrap())
}

/// The depth of the other lines of a text was guessed from the lines around: in Python and YAML the
/// lines below moved silently into another block.
#[test]
fn regression_a_text_with_depths_that_its_lines_do_not_have_is_refused_where_depth_has_a_meaning() {
    let functions = "def f():\n  a()\n  b()\n\ndef g():\n  c()\n  d()\n  e()\n";
    let item = "a:\n  x: 1\nb:\n  y: 1\nc:\n  z:\n    w: 1\nkey:\n  - name: n\n    port: 80\n";
    for (path, old, new, line, text) in [
        (
            "a.py",
            functions,
            functions.replacen("  a()\n  b()", "    a()\n    b()", 1),
            1,
            "def f(x):\n  if x:\n    log()",
        ),
        (
            "b.yml",
            item,
            "a:\n    x: 1\nb:\n    y: 1\nc:\n    z:\n        w: 1\nkey:\n    - name: n\n      port: 80\n".into(),
            9,
            "  - name: m\n    host: h",
        ),
    ] {
        let (is_applied, content) = set_line(path, (old, &new), line, text);
        assert!(!is_applied, "{content}");
        assert_eq!(content, new);
    }
    // Depths that have one new form around the line are certain.
    let old = "env:\n  A: 1\n  B: 2\nitems:\n  - name: a\n    v: 1\n  - name: b\n    v: 2\n";
    let new =
        "env:\n    A: 1\n    B: 2\nitems:\n    - name: a\n      v: 1\n    - name: b\n      v: 2\n";
    let (_, content) = set_line("a.yml", (old, new), 1, "env:\n  C:\n    D: 1");
    assert_eq!(content, new.replacen("env:\n", "env:\n    C:\n      D: 1\n", 1));
    // A text with the depth of its line is certain.
    let new = functions.replacen("  a()\n  b()", "    a()\n    b()", 1);
    let (is_applied, content) = set_line("a.py", (functions, &new), 2, "  a(1)\n  a(2)");
    assert!(is_applied, "{content}");
    assert_eq!(content, new.replacen("    a()\n", "    a(1)\n    a(2)\n", 1));
}

/// Two swaps, and no change of depth: the edit of one call changed another one, unchanged, at
/// another depth.
#[test]
fn regression_an_unchanged_line_is_not_taken_for_one_of_another_depth() {
    let old = "class K:\n    if x:\n        finish_all()\n        item()\n    finish_all()\n    def a(self):\n        prepare()\n        finish_all()\n    def b(self):\n        q_call()\n        r_call()\n";
    let new = "class K:\n    if x:\n        item()\n        finish_all()\n    finish_all()\n    def b(self):\n        q_call()\n        r_call()\n    def a(self):\n        prepare()\n        finish_all()\n";
    let (is_applied, content) = set_line("t.py", (old, new), 8, "        edited()");
    assert!(!is_applied, "{content}");
}
