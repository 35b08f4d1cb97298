//! The answer to a patch after the host has worked on its files.

use std::fs;
use std::sync::Arc;

use hashline_core::{
    AfterWrite, AnswerForm, AnswerOptions, Applied, ApplyOptions, Cancel, Diagnostic, Durability,
    Outcome, PatchOptions, Session, SessionOptions, Severity, StoreOptions, WorkspaceOptions,
    Written,
};
use hashline_lines::dialect::Dialect;
use serde_json::{Value, json};

use crate::support::Dice;

struct Scene {
    dir: tempfile::TempDir,
    _state: tempfile::TempDir,
    session: Session,
    form: AnswerForm,
}

impl Scene {
    fn new(dialect: &str, form: AnswerForm, content: &str) -> Scene {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let options = options(dialect, &dir, &state);
        let session = Session::new(options).unwrap();
        let scene = Scene { dir, _state: state, session, form };
        scene.write(content);
        scene
    }

    fn write(&self, content: &str) {
        fs::write(self.dir.path().join("a.txt"), content).unwrap();
    }

    fn content(&self) -> String {
        fs::read_to_string(self.dir.path().join("a.txt")).unwrap()
    }

    fn rows(&self) -> Vec<String> {
        let text = self.session.read("a.txt").unwrap().text;
        text.lines().filter(|row| row.contains(['|', ':'])).map(str::to_owned).collect()
    }

    fn options(&self, keeps_written: bool) -> PatchOptions {
        let answer = AnswerOptions { form: Some(self.form), context_lines: Some(1) };
        let diff_context_lines = Some(3);
        PatchOptions { keeps_written, answer, diff_context_lines, ..PatchOptions::default() }
    }

    fn apply(&self, operations: &Value, keeps_written: bool) -> Applied {
        let patch = json!({"operations": operations}).into();
        let options = self.options(keeps_written);
        applied(self.session.apply_with(&patch, &options, &Cancel::default()).unwrap())
    }

    fn write_patch(&self, operations: &Value) -> Arc<Written> {
        self.apply(operations, true).written.expect("the patch changes files")
    }

    fn settle(&self, written: &Written, after: &AfterWrite) -> Applied {
        applied(self.session.settle(written, after, &Cancel::default()).unwrap())
    }
}

fn options(dialect: &str, dir: &tempfile::TempDir, state: &tempfile::TempDir) -> SessionOptions {
    SessionOptions::from(WorkspaceOptions {
        root: dir.path().into(),
        cwd: Some(dir.path().into()),
        state_dir: Some(state.path().into()),
        dialect: Dialect::by_name(dialect).unwrap(),
        apply: ApplyOptions { durability: Durability::Process, ..ApplyOptions::default() },
        ..WorkspaceOptions::default()
    })
}

fn applied(outcome: Outcome) -> Applied {
    match outcome {
        Outcome::Applied(applied) => applied,
        Outcome::Rejected(rejected) => panic!("{}", rejected.text),
    }
}

const TEN: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

const FORMS: [AnswerForm; 2] = [AnswerForm::Brief, AnswerForm::Region];

/// Operations on a file that was read: a deletion, two inserts and a replacement.
fn operations(rows: &[String]) -> Value {
    json!([
        {"op": "delete", "path": "a.txt", "anchor": rows[1]},
        {"op": "insert_after", "path": "a.txt", "anchor": rows[4], "text": "x\ny"},
        {"op": "set_line", "path": "a.txt", "anchor": rows[5], "text": "SIX"},
        {"op": "insert_before", "path": "a.txt", "anchor": "BOF", "text": "start"},
    ])
}

#[test]
fn without_a_change_by_the_host_the_answer_is_the_usual_one() {
    for dialect in ["lean", "pi", "cli", "omp"] {
        for form in FORMS {
            let (plain, kept) = (Scene::new(dialect, form, TEN), Scene::new(dialect, form, TEN));
            let usual = plain.apply(&operations(&plain.rows()), false);
            let written = kept.write_patch(&operations(&kept.rows()));
            let settled = kept.settle(&written, &AfterWrite::default());
            assert_eq!(settled.text, usual.text, "{dialect}");
            assert_eq!(json!(settled), json!(usual), "{dialect}");
            // The memory knows the same: each anchor of the answer is accepted.
            for scene in [plain, kept] {
                let last = scene.rows().pop().unwrap();
                scene.apply(&json!([{"op": "delete", "path": "a.txt", "anchor": last}]), false);
            }
        }
    }
}

#[test]
fn before_the_answer_nothing_of_it_counts_as_shown() {
    let scene = Scene::new("lean", AnswerForm::Region, TEN);
    let rows = scene.rows();
    let operation =
        json!([{"op": "set_line", "path": "a.txt", "anchor": rows[2], "text": "THREE"}]);
    let written = scene.write_patch(&operation);
    scene.write(&scene.content().replace("THREE", "  THREE;").replace("nine", "NINE"));
    let settled = scene.settle(&written, &AfterWrite::default());
    let expected = ["  THREE;", "two", "four"];
    assert!(expected.iter().all(|line| settled.text.contains(&format!("|{line}\n"))));
    assert!(settled.text.ends_with("formatted: line 9"), "{}", settled.text);
    let change = &settled.files[0];
    assert_eq!((change.added, change.removed, change.edits), (2, 2, 1));
    assert_eq!(change.snapshot, Some(hashline_disk::bytes::snapshot(scene.content().as_bytes())));
    // What only the formatter changed is not known.
    let stale = json!({"operations": [{"op": "delete", "path": "a.txt", "anchor": rows[8]}]});
    let refused = scene.session.apply(stale).unwrap();
    assert!(matches!(refused, Outcome::Rejected(_)));
    assert!(scene.session.changed_files().is_empty());
}

#[test]
fn a_stored_session_learns_the_final_text() {
    let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = StoreOptions { id: "s".to_owned(), dir: Some(state.path().into()) };
    let open = || Session::open(options("lean", &dir, &state), &store).unwrap();
    fs::write(dir.path().join("a.txt"), TEN).unwrap();
    let session = open();
    let shown = session.read("a.txt").unwrap().text;
    let row = |at: usize| shown.lines().nth(at).unwrap();
    let patch = json!({"path": "a.txt", "edits": [{"set_line": {"anchor": row(2), "new_text": "f(1, 2)"}}]});
    let options = PatchOptions { keeps_written: true, ..PatchOptions::default() };
    let written = applied(session.apply_with(&patch.into(), &options, &Cancel::default()).unwrap());
    let content = fs::read_to_string(dir.path().join("a.txt")).unwrap();
    fs::write(dir.path().join("a.txt"), content.replace("f(1, 2)", "f(\n  1,\n  2,\n)")).unwrap();
    let written = written.written.unwrap();
    let settled =
        applied(session.settle(&written, &AfterWrite::default(), &Cancel::default()).unwrap());
    drop(session);
    // Another process: the anchors of the answer, and those of the read.
    let session = open();
    let new = settled.text.lines().find(|row| row.ends_with("|  1,")).unwrap();
    for (anchor, text) in [(new, "  one,"), (row(9), "TEN")] {
        let edit = json!({"set_line": {"anchor": anchor, "new_text": text}});
        applied(session.apply(json!({"path": "a.txt", "edits": [edit]})).unwrap());
    }
    let content = fs::read_to_string(dir.path().join("a.txt")).unwrap();
    assert!(content.contains("f(\n  one,\n  2,\n)\n") && content.ends_with("\nTEN\n"), "{content}");
}

#[test]
fn diagnostics_and_notes_are_bounded() {
    let scene = Scene::new("lean", AnswerForm::Brief, TEN);
    let operation =
        json!([{"op": "set_line", "path": "a.txt", "anchor": scene.rows()[0], "text": "1"}]);
    let written = scene.write_patch(&operation);
    let diagnostic = |line: u64| Diagnostic {
        path: "a.txt".to_owned(),
        line,
        column: Some(u64::MAX),
        severity: Severity::Warning,
        message: "x\u{202e}\0\n".repeat(10_000),
    };
    let after = AfterWrite {
        notes: vec!["note".to_owned(); 20],
        diagnostics: [0, 3, 3, u64::MAX].into_iter().cycle().take(5_000).map(diagnostic).collect(),
    };
    let settled = scene.settle(&written, &after);
    assert!(settled.text.len() < 20_000, "{}", settled.text.len());
    assert!(settled.text.contains("(And 15 more notes.)"));
    assert!(settled.text.ends_with("(4980 more diagnostics are not shown.)"));
    assert_eq!(settled.text.matches("|three\n").count(), 1);
    assert!(!settled.text.contains('\0'));
}

/// A text in which a formatter has changed some lines.
fn formatted(content: &str, dice: &mut Dice) -> String {
    let lines = content.lines().flat_map(|line| match dice.below(8) {
        0 => vec![format!("  {line}")],
        1 => vec![format!("{line};")],
        2 => vec![line.to_owned(), format!("new {}", dice.below(100))],
        3 => vec![],
        4 => line.split(' ').map(str::to_owned).collect(),
        _ => vec![line.to_owned()],
    });
    let lines: Vec<String> = lines.collect();
    let end = if dice.below(6) == 0 { "\r\n" } else { "\n" };
    lines.iter().map(|line| format!("{line}{end}")).collect()
}

/// The anchors of an answer, with their numbers, and the texts that it shows of their lines.
fn anchors(text: &str) -> Vec<(usize, String, Option<String>)> {
    let number = |word: &str| {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        word[..digits].parse::<usize>().ok().filter(|_| digits < word.len())
    };
    let mut found = Vec::new();
    for line in text.lines().skip(1) {
        if let Some((anchor, shown)) = line.split_once('|') {
            found.extend(number(anchor).map(|at| (at, line.to_owned(), Some(shown.to_owned()))));
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let words = line.split("(old").next().unwrap().split(' ');
            let words = words.filter(|word| !word.ends_with(':'));
            found.extend(words.filter_map(|word| Some((number(word)?, word.to_owned(), None))));
        }
    }
    found
}

#[test]
fn anchors_name_their_lines_after_random_rewrites() {
    let mut dice = Dice(48);
    let words = ["alpha beta", "gamma", "}", "{", "", "return x", "f(a, b)"];
    let mut checked = 0;
    for round in 0..150 {
        let mut lines = |most: usize, least: usize| {
            let count = least + dice.below(most);
            (0..count).map(|_| words[dice.below(words.len())]).collect::<Vec<_>>().join("\n")
        };
        let (content, text) = (lines(12, 1) + "\n", lines(4, 1));
        let scene = Scene::new("lean", FORMS[round % 2], &content);
        let rows: Vec<String> =
            scene.session.read("a.txt").unwrap().text.lines().map(str::to_owned).collect();
        let anchor = rows[dice.below(rows.len())].split('|').next().unwrap();
        let operation = json!({"op": "set_line", "path": "a.txt", "anchor": anchor, "text": text, "verbatim": true});
        let Some(written) = scene.apply(&json!([operation]), true).written else { continue };
        let last = formatted(&scene.content(), &mut dice);
        scene.write(&last);
        let settled = scene.settle(&written, &AfterWrite::default());
        let finals: Vec<&str> = last.lines().collect();
        assert_eq!(settled.files[0].line_count, Some(finals.len() as u64));
        for (number, anchor, shown) in anchors(&settled.text) {
            checked += 1;
            assert!(shown.is_none_or(|shown| shown == finals[number - 1]), "{}", settled.text);
            let operation = json!({"op": "set_line", "path": "a.txt", "anchor": anchor, "text": "NEXT", "verbatim": true});
            let next = scene.session.fork().apply(json!({"operations": [operation]})).unwrap();
            assert!(matches!(next, Outcome::Applied(_)), "{anchor}\n{}\n{last}", settled.text);
            let edited = scene.content();
            let mut expected = finals.clone();
            expected[number - 1] = "NEXT";
            assert_eq!(edited.lines().collect::<Vec<_>>(), expected, "{anchor}\n{}", settled.text);
            scene.write(&last);
        }
    }
    assert!(checked > 150, "only {checked} anchors");
}

#[test]
fn a_tag_names_the_final_text() {
    let scene = Scene::new("omp18", AnswerForm::Brief, TEN);
    let tag_of = |text: &str| {
        let (_, rest) = text.split_once("[a.txt#").unwrap_or_else(|| panic!("{text}"));
        rest.split(']').next().unwrap().to_owned()
    };
    let shown = tag_of(&scene.session.read("a.txt").unwrap().text);
    let patch = |tag: &str, line: u64, text: &str| {
        json!({"patch": format!("[a.txt#{tag}]\nPUT {line}.={line}:\n+{text}")}).into()
    };
    let (options, cancel) = (scene.options(true), Cancel::default());
    let written = scene.session.apply_with(&patch(&shown, 3, "THREE"), &options, &cancel).unwrap();
    scene.write(&format!("# formatted\n{}", scene.content()));
    let settled = scene.settle(&applied(written).written.unwrap(), &AfterWrite::default());
    assert!(
        settled.text.ends_with("\n(4) (old lines below: +1)\nformatted: line 1"),
        "{}",
        settled.text
    );
    let next = scene.session.apply(patch(&tag_of(&settled.text), 4, "drei")).unwrap();
    applied(next);
    assert!(scene.content().contains("\ntwo\ndrei\nfour\n"), "{}", scene.content());
}
