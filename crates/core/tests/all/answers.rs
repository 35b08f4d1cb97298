//! What a model is told of its edits: how much of the changed lines, and in which form.

use std::fs;

use hashline_core::internals::cancel::Cancel;
use hashline_core::internals::edit::apply::{PatchOptions, apply_to_text};
use hashline_core::internals::edit::outcome::{Applied, Outcome};
use hashline_core::internals::edit::report::AnswerOptions;
use hashline_core::internals::text::dialect::Dialect;
use hashline_core::internals::text::hash::hash_line;
use hashline_core::{Session, SessionOptions, WorkspaceOptions};
use serde_json::{Value, json};

/// A session over files that were read, all of them.
struct Scene {
    dir: tempfile::TempDir,
    session: Session,
}

impl Scene {
    fn new(files: &[(&str, &str)], mut options: Value) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        fs::create_dir(&work).unwrap();
        for (name, content) in files {
            fs::write(work.join(name), content).unwrap();
        }
        options["cwd"] = json!(work);
        options["stateDir"] = json!(dir.path().join("state"));
        options["durability"] = json!("process");
        let options: SessionOptions = serde_json::from_value(options).unwrap();
        let session = Session::new(options).unwrap();
        for (name, _) in files {
            session.read(*name).unwrap();
        }
        Scene { dir, session }
    }

    fn outcome(&self, operations: &Value, options: &PatchOptions) -> Outcome {
        let patch = json!({"operations": operations}).into();
        self.session.apply_with(&patch, options, &Cancel::default()).unwrap()
    }

    fn applied(&self, operations: Value) -> Applied {
        match self.outcome(&operations, &PatchOptions::default()) {
            Outcome::Applied(applied) => applied,
            Outcome::Rejected(rejected) => panic!("{operations}\n{}", rejected.text),
        }
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.dir.path().join("work").join(path)).unwrap()
    }
}

fn anchor(number: u64, text: &str) -> String {
    let dialect = Dialect::default_dialect();
    dialect.anchor_text(number, hash_line(dialect, number, text))
}

fn row(number: u64, text: &str) -> String {
    format!("{}|{text}", anchor(number, text))
}

/// `line 1` to `line COUNT`.
fn lines(count: u64) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

fn set(number: u64, text: &str) -> Value {
    json!({"op": "set_line", "path": "f", "anchor": anchor(number, &format!("line {number}")), "text": text})
}

fn delete(number: u64) -> Value {
    json!({"op": "delete", "path": "f", "anchor": anchor(number, &format!("line {number}"))})
}

#[test]
fn as_many_unchanged_lines_are_shown_as_asked_for() {
    for (asked, shown) in [(None, 2), (Some(0), 0), (Some(1), 1), (Some(3), 3)] {
        let scene = Scene::new(&[("f", &lines(20))], json!({"answerContext": asked}));
        let told = scene.applied(json!([set(10, "new")])).text;
        let around = |number| row(number, &format!("line {number}"));
        let mut expected = vec!["--- f --- 1 edit, +1 -1".to_owned()];
        expected.extend((10 - shown..10).map(around));
        expected.push(row(10, "new"));
        expected.extend((11..11 + shown).map(around));
        assert_eq!(told, expected.join("\n"), "{asked:?}");
    }
}

#[test]
fn regions_are_shown_together_where_the_lines_around_them_meet() {
    let told = |context: u64, second: u64| {
        let scene = Scene::new(&[("f", &lines(20))], json!({"answerContext": context}));
        scene.applied(json!([set(5, "a"), set(second, "b")])).text
    };
    for (context, apart) in [(0, 7), (1, 9), (2, 11), (3, 13)] {
        assert!(told(context, apart).contains("\n...\n"), "{context}");
        assert!(!told(context, apart - 1).contains("..."), "{context}");
    }
}

#[test]
fn without_context_a_deletion_leaves_no_empty_place() {
    let scene = Scene::new(&[("f", &lines(20))], json!({"answerContext": 0}));
    let told = scene.applied(json!([set(5, "a"), delete(10), delete(20)])).text;
    let expected = ["--- f --- 3 edits, +1 -3", &row(5, "a"), "...", "Lines after 10 moved by -1."];
    assert_eq!(told, expected.join("\n"));
    assert!(scene.content("f").ends_with("line 18\nline 19\n"));
}

#[test]
fn a_patch_may_be_answered_otherwise_than_the_session_says() {
    let scene = Scene::new(&[("f", &lines(20))], json!({"answerContext": 3}));
    let answer = AnswerOptions { context_lines: Some(0) };
    let options = PatchOptions { answer, ..PatchOptions::default() };
    let Outcome::Applied(applied) = scene.outcome(&json!([set(5, "a")]), &options) else {
        panic!()
    };
    assert_eq!(applied.text, format!("--- f --- 1 edit, +1 -1\n{}", row(5, "a")));
}

#[test]
fn refusals_show_two_lines_whatever_is_asked_for() {
    let scene = Scene::new(&[("f", &lines(20))], json!({"answerContext": 0}));
    let stale = json!([{"op": "set_line", "path": "f", "anchor": anchor(5, "other"), "text": "x"}]);
    let Outcome::Rejected(rejected) = scene.outcome(&stale, &PatchOptions::default()) else {
        panic!()
    };
    for number in 3..=7 {
        assert!(
            rejected.text.contains(&row(number, &format!("line {number}"))),
            "{}",
            rejected.text
        );
    }
}

#[test]
fn a_text_in_memory_is_answered_by_the_same_options() {
    let options: WorkspaceOptions = serde_json::from_value(json!({"answerContext": 1})).unwrap();
    let operations = json!([{"op": "set_line", "anchor": anchor(5, "line 5"), "text": "x"}]).into();
    let outcome =
        apply_to_text(Dialect::default_dialect(), &lines(9), &operations, &options.apply.edit);
    let Outcome::Applied(applied) = outcome.outcome else { panic!() };
    assert_eq!(applied.text.lines().count(), 4, "{}", applied.text);
}

#[test]
fn more_context_than_there_may_be_is_refused() {
    let refused =
        serde_json::from_value::<SessionOptions>(json!({"answerContext": 4})).unwrap_err();
    let expected = "answerContext is 4: expected a whole number from 0 to 3";
    assert!(refused.to_string().contains(expected), "{refused}");
}
