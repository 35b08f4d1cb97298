//! What an answer reports of edits to the model: how much of the changed lines, and in which form.

use std::fs;

use hashline_core::AnswerOptions;
use hashline_core::Cancel;
use hashline_core::host::from_json_value;
use hashline_core::{Applied, Outcome, Rejected};
use hashline_core::{Code, ReadRequest, Session, SessionOptions, WorkspaceOptions};
use hashline_core::{PatchOptions, apply_to_text};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A session that has read all of its files.
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
        if options["dialect"].is_null() {
            options["dialect"] = json!("pi");
        }
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

/// The text `line 1` to `line COUNT`.
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
fn context_is_as_long_as_requested() {
    let answers = [None, Some(0), Some(1), Some(3)].map(|asked| {
        let scene = Scene::new(&[("f", &lines(20))], json!({"answerContext": asked}));
        scene.applied(json!([set(10, "new")])).text
    });
    assert_snapshot!(answers.join("\n\n"), @"
    --- f --- 1 edit, +1 -1
    8:1d|line 8
    9:1c|line 9
    10:dc|new
    11:54|line 11
    12:b3|line 12

    --- f --- 1 edit, +1 -1
    10:dc|new

    --- f --- 1 edit, +1 -1
    9:1c|line 9
    10:dc|new
    11:54|line 11

    --- f --- 1 edit, +1 -1
    7:db|line 7
    8:1d|line 8
    9:1c|line 9
    10:dc|new
    11:54|line 11
    12:b3|line 12
    13:6e|line 13
    ");
}

#[test]
fn regions_with_overlapping_context_are_merged() {
    let answer = |context: u64, second: u64| {
        let scene = Scene::new(&[("f", &lines(20))], json!({"answerContext": context}));
        scene.applied(json!([set(5, "a"), set(second, "b")])).text
    };
    for (context, apart) in [(0, 7), (1, 9), (2, 11), (3, 13)] {
        assert!(answer(context, apart).contains("\n...\n"), "{context}");
        assert!(!answer(context, apart - 1).contains("..."), "{context}");
    }
}

#[test]
fn a_deletion_without_context_leaves_no_blank_row() {
    let scene = Scene::new(&[("f", &lines(20))], json!({"answerContext": 0}));
    let answer = scene.applied(json!([set(5, "a"), delete(10), delete(20)])).text;
    assert_snapshot!(answer, @"
    --- f --- 3 edits, +1 -3
    5:56|a
    ...
    Lines after 10 moved by -1.
    ");
    assert!(scene.content("f").ends_with("line 18\nline 19\n"));
}

#[test]
fn options_of_a_patch_override_those_of_the_session() {
    let scene = Scene::new(&[("f", &lines(20))], json!({"answerContext": 3}));
    let answer = AnswerOptions { context_lines: Some(0), ..AnswerOptions::default() };
    let options = PatchOptions { answer, ..PatchOptions::default() };
    let Outcome::Applied(applied) = scene.outcome(&json!([set(5, "a")]), &options) else {
        panic!()
    };
    assert_snapshot!(applied.text, @"
    --- f --- 1 edit, +1 -1
    5:56|a
    ");
}

#[test]
fn refusals_show_two_lines_of_context_for_any_option() {
    let scene = Scene::new(&[("f", &lines(20))], json!({"answerContext": 0}));
    let stale = json!([{"op": "set_line", "path": "f", "anchor": anchor(5, "other"), "text": "x"}]);
    assert_snapshot!(refused(&scene, stale).text, @"
    Hash mismatch at 5:6a.
    Actual state:
    3:83|line 3
    4:5f|line 4
    5:bf|line 5
    6:0a|line 6
    7:db|line 7
    Operation 0, f: No line near line 5 has the hash 6a: use 5:bf for line 5.
    ");
}

#[test]
fn the_same_options_apply_to_a_text_in_memory() {
    let options: WorkspaceOptions = serde_json::from_value(json!({"answerContext": 1})).unwrap();
    let operations = json!([{"op": "set_line", "anchor": anchor(5, "line 5"), "text": "x"}]).into();
    let outcome =
        apply_to_text(Dialect::default_dialect(), &lines(9), &operations, &options.apply.edit);
    let Outcome::Applied(applied) = outcome.outcome else { panic!() };
    assert_snapshot!(applied.text, @"
    --- text --- 1 edit, +1 -1
    4:5f|line 4
    5:ea|x
    6:0a|line 6
    ");
}

#[test]
fn context_over_the_limit_is_refused() {
    let refused = from_json_value::<SessionOptions>(json!({"answerContext": 4})).unwrap_err();
    let expected = "answerContext: invalid value: integer `4`, expected a whole number from 0 to 3";
    assert!(refused.to_string().contains(expected), "{refused}");
}

fn brief(files: &[(&str, &str)]) -> Scene {
    Scene::new(files, json!({"answer": "brief"}))
}

#[test]
fn a_brief_answer_has_new_anchors_and_the_shift_of_later_lines() {
    let scene = brief(&[("f", &lines(20))]);
    let answer = scene
        .applied(json!([
            {"op": "replace_range", "path": "f", "start_anchor": anchor(4, "line 4"), "end_anchor": anchor(5, "line 5"), "text": "a\nb\nc"},
            set(6, "d"),
            delete(10),
            delete(20),
            {"op": "add_file", "path": "new", "content": "x\ny\n"},
            {"op": "add_file", "path": "empty", "content": ""},
        ]))
        .text;
    assert_snapshot!(answer, @"
    --- f --- 4 edits, +4 -5
    4-6: 4:56 5:bf 6:1b (old lines below: +1)
    7:90
    Lines after 10 moved by +0.
    --- new --- created, +2
    1-2: 1:ea 2:37
    --- empty --- created, +0
    ");
}

#[test]
fn a_brief_answer_names_the_file_if_the_call_has_several() {
    let scene = brief(&[("f", &lines(20)), ("g", "old\n")]);
    let old = json!({"op": "set_line", "path": "g", "anchor": anchor(1, "old"), "text": "old"});
    let answers = [
        json!([set(5, "five")]),
        json!([set(6, "six"), old]),
        json!([set(7, "seven"), {"op": "move_file", "from": "f", "to": "h"}]),
    ]
    .map(|operations| scene.applied(operations).text);
    assert_snapshot!(answers.join("\n\n"), @"
    1 edit, +1 -1
    5:bb

    --- f --- 1 edit, +1 -1
    6:12
    Operation 1 changes nothing.

    --- h --- 1 edit, +1 -1, moved from f
    7:77
    ");
}

#[test]
fn anchors_of_a_brief_answer_and_older_ones_are_known() {
    let scene = brief(&[("f", &lines(20))]);
    scene.applied(
        json!([{"op": "insert_after", "path": "f", "anchor": anchor(4, "line 4"), "text": "a\nb"}]),
    );
    // A new line by its new anchor, the lines after it by their old anchors.
    scene.applied(json!([
        {"op": "set_line", "path": "f", "anchor": anchor(5, "a"), "text": "A"},
        set(5, "five"),
        set(10, "ten"),
    ]));
    let content = scene.content("f");
    assert!(content.starts_with("line 1\nline 2\nline 3\nline 4\nA\nb\nfive\n"), "{content}");
    assert!(content.contains("\nline 9\nten\nline 11\n"), "{content}");
}

#[test]
fn a_long_text_has_the_anchors_of_both_ends() {
    let scene = brief(&[("f", "old\n")]);
    let text: Vec<String> = (1..=200).map(|number| format!("new {number}")).collect();
    let applied = scene.applied(json!([
        {"op": "set_line", "path": "f", "anchor": anchor(1, "old"), "text": text},
        {"op": "add_file", "path": "g", "content": text.join("\n")},
    ]));
    assert_snapshot!(applied.text, @"
    --- f --- 1 edit, +200 -1
    1-200: 1:9a 2:e3 3:b2 4:72 5:3b 6:f4 ... 195:41 196:b3 197:c6 198:14 199:89 200:78
    --- g --- created, +200
    1-200: 1:9a 2:e3 3:b2 4:72 5:3b 6:f4 ... 195:41 196:b3 197:c6 198:14 199:89 200:78
    ");
    // The model wrote the lines between them.
    scene.applied(json!([
        {"op": "delete", "path": "f", "start_anchor": anchor(6, "new 6"), "end_anchor": anchor(195, "new 195")},
        {"op": "delete", "path": "g", "start_anchor": anchor(6, "new 6"), "end_anchor": anchor(195, "new 195")},
    ]));
    assert_eq!(scene.content("f").lines().count(), 10);
    // An anchor that no answer contained is refused.
    let unnamed =
        json!([{"op": "set_line", "path": "f", "anchor": anchor(8, "new 8"), "text": "x"}]);
    assert!(matches!(scene.outcome(&unnamed, &PatchOptions::default()), Outcome::Rejected(_)));
}

#[test]
fn a_brief_answer_has_both_ends_of_moved_or_copied_lines() {
    let scene = brief(&[("f", &lines(60)), ("g", "first\n")]);
    let applied = scene.applied(json!([
        {"op": "copy_lines", "path": "f", "start_anchor": anchor(1, "line 1"), "end_anchor": anchor(40, "line 40"), "to": "g", "to_anchor": "EOF"},
    ]));
    assert_snapshot!(applied.text, @"
    --- g --- 1 edit, +40 -0
    2-41: 2:02 3:b2 ... 40:e3 41:f1
    ");
}

/// A session with brief answers that has read only these lines of a file.
fn brief_of_lines(text: &str, numbers: &[u64]) -> Scene {
    let scene = brief(&[]);
    fs::write(scene.dir.path().join("work/f"), text).unwrap();
    for &number in numbers {
        let mut request = ReadRequest::new("f");
        request.start_line = Some(number);
        request.limits.max_lines = Some(1);
        scene.session.read(request).unwrap();
    }
    scene
}

/// The code of the refusal to set a line by an anchor that an answer contained; `None` if it is
/// accepted.
fn code_of_set(scene: &Scene, number: u64, text: &str) -> Option<Code> {
    let edit =
        json!([{"op": "set_line", "path": "f", "anchor": anchor(number, text), "text": "new"}]);
    match scene.outcome(&edit, &PatchOptions { dry_run: true, ..PatchOptions::default() }) {
        Outcome::Applied(_) => None,
        Outcome::Rejected(rejected) => Some(rejected.code),
    }
}

#[test]
fn regression_moved_unseen_lines_are_shown_with_their_text() {
    let moved = |scene: &Scene| {
        let applied = scene.applied(json!([{
            "op": "move_lines", "path": "f", "start_anchor": anchor(1, "line 1"),
            "end_anchor": anchor(4, "line 4"), "to_anchor": anchor(8, "line 8"),
        }]));
        applied.text
    };
    let texts = ["line 1", "line 2", "line 3", "line 4"];
    let scene = brief_of_lines(&lines(10), &[1, 2, 3, 4, 8]);
    assert_snapshot!(moved(&scene), @"
    1 edit, +4 -4
    Lines after 4 moved by -4.
    5-8: 5:02 6:b2 7:83 8:5f (old lines below: +0)
    ");
    let scene = brief_of_lines(&lines(10), &[1, 4, 8]);
    assert_snapshot!(moved(&scene), @"
    1 edit, +4 -4
    Lines after 4 moved by -4.
    5:02|line 1
    6:b2|line 2
    7:83|line 3
    8:5f|line 4
    Lines after 8 moved by +0.
    ");
    for (at, text) in (5..).zip(texts) {
        assert_eq!(code_of_set(&scene, at, text), None, "{text}");
    }
}

#[test]
fn regression_an_unseen_line_with_a_replacement_is_shown_in_full() {
    let replace = json!([
        {"op": "replace_text", "path": "f", "old_text": "two", "new_text": "2"},
        {"op": "replace_text", "path": "f", "old_text": "five", "new_text": "5\nand a half\n"},
        {"op": "replace_text", "path": "f", "old_text": "seven", "new_text": "7"},
    ]);
    let scene = brief_of_lines("one two three\nkept\nfour five six\nkept\nseven\n", &[1]);
    let answer = scene.applied(replace).text;
    assert_snapshot!(answer, @"
    3 edits, +5 -3
    1:f4
    3:57|four 5
    4:68|and a half
    5:12| six
    Lines after 3 moved by +2.
    7:02
    ");
    for (at, text) in [(1, "one 2 three"), (3, "four 5"), (5, " six"), (7, "7")] {
        assert_eq!(code_of_set(&scene, at, text), None, "{text}");
    }
}

#[test]
fn regression_an_unseen_line_with_a_replacement_stays_unknown_unless_shown() {
    let text: String = (0..9_000).map(|number| format!("old {number} rest\n")).collect();
    let scene = brief_of_lines(&text, &[9_000]);
    let applied = scene.applied(json!([
        {"op": "replace_text", "path": "f", "old_text": "old", "new_text": "new", "all": true},
    ]));
    assert!(applied.text.contains(" are not shown."), "{}", applied.text);
    let text = text.replace("old", "new");
    let line = |number: u64| text.lines().nth(number as usize - 1).unwrap();
    assert_eq!(code_of_set(&scene, 1, line(1)), None);
    assert_eq!(code_of_set(&scene, 8_000, line(8_000)), Some(Code::NotShown));
}

/// Rows that did not fit into an answer counted as shown.
#[test]
fn regression_rows_that_do_not_fit_into_an_answer_are_not_known() {
    let long = "x".repeat(100);
    let text: String = (0..600).map(|at| format!("old {at} {long}\nkept {at} {long}\n")).collect();
    let scene = Scene::new(&[("f", &text)], json!({}));
    let replace = json!([{"op": "replace_text", "path": "f", "old_text": "old", "new_text": "new", "all": true}]);
    let answer = scene.applied(replace).text;
    let is_shown = |at: u64| answer.contains(&format!("|kept {at} {long}"));
    assert!(is_shown(1) && !is_shown(598), "{}", answer.len());
    for at in [1, 598] {
        let code = code_of_set(&scene, 2 * at + 2, &format!("kept {at} {long}"));
        assert_eq!(code, Some(Code::NotShown).filter(|_| !is_shown(at)), "{at}");
    }
}

#[test]
fn a_dry_run_is_answered_in_full() {
    let scene = brief(&[("f", &lines(20))]);
    let options = PatchOptions { dry_run: true, ..PatchOptions::default() };
    let Outcome::Applied(applied) = scene.outcome(&json!([set(5, "new")]), &options) else {
        panic!()
    };
    assert_snapshot!(applied.text, @"
    --- f --- 1 edit, +1 -1
    3:83|line 3
    4:5f|line 4
    5:dc|new
    6:0a|line 6
    7:db|line 7
    ");
}

#[test]
fn brief_answers_have_the_anchors_of_every_dialect() {
    for dialect in hashline_core::DIALECTS.iter().filter(|one| one.has_hashes()) {
        let hash = |number, text: &str| hash_line(dialect, number, text);
        let anchor = |number, text: &str| dialect.anchor_text(number, hash(number, text));
        let scene =
            Scene::new(&[("f", &lines(9))], json!({"answer": "brief", "dialect": dialect.name}));
        let text = ["let a = 1", "", "}", "  é 🎉"];
        let applied = scene.applied(json!([
            {"op": "set_line", "path": "f", "anchor": anchor(5, "line 5"), "text": text},
        ]));
        let anchors: Vec<String> = (5..).zip(text).map(|(at, text)| anchor(at, text)).collect();
        // In this dialect the hashes of some later lines change with their numbers.
        let shift = match dialect.name {
            "omp13" => "\nLines after 5 moved by +3.",
            _ => " (old lines below: +3)",
        };
        let row = format!("\n5-8: {}{shift}", anchors.join(" "));
        assert!(applied.text.contains(&row), "{}: {}", dialect.name, applied.text);
        let edits = (5..).zip(text).map(|(at, text)| {
            json!({"op": "set_line", "path": "f", "anchor": anchor(at, text), "text": format!("new {at}")})
        });
        scene.applied(edits.collect());
        assert!(scene.content("f").contains("\nnew 5\nnew 6\nnew 7\nnew 8\nline 6\n"));
    }
}

#[test]
fn a_brief_answer_to_many_edits_is_bounded_and_its_anchors_are_known() {
    let count = 9_000;
    let scene = brief(&[("f", &"old text\n".repeat(count))]);
    let applied = scene.applied(json!([
        {"op": "replace_text", "path": "f", "old_text": "old", "new_text": "new", "all": true},
    ]));
    assert!(applied.text.len() < 51_300, "{}", applied.text.len());
    assert!(applied.text.contains(" are not shown."), "{}", applied.text);
    let last = applied.text.lines().rfind(|row| row.contains(':') && !row.contains(' ')).unwrap();
    let last: u64 = last.split_once(':').unwrap().0.parse().unwrap();
    assert!(last > 1_000, "{last}");
    scene.applied(json!([
        {"op": "set_line", "path": "f", "anchor": anchor(last, "new text"), "text": "x"},
    ]));
}

#[test]
fn an_unknown_answer_form_is_refused() {
    let refused = serde_json::from_value::<SessionOptions>(json!({"answer": "short"})).unwrap_err();
    assert!(refused.to_string().contains("expected `region` or `brief`"), "{refused}");
}

fn refused(scene: &Scene, operations: Value) -> Rejected {
    match scene.outcome(&operations, &PatchOptions::default()) {
        Outcome::Rejected(rejected) => rejected,
        Outcome::Applied(applied) => panic!("{operations}\n{}", applied.text),
    }
}

#[test]
fn a_refusal_says_whether_the_number_or_the_hash_is_more_likely_correct() {
    let scene = Scene::new(&[("f", &lines(20))], json!({}));
    let mistake = anchor(5, "line 6");
    let reasons = [
        json!({"op": "delete", "path": "f", "anchor": mistake}),
        json!({"op": "set_line", "path": "f", "anchor": mistake, "text": "line 5, changed"}),
        json!({"op": "set_line", "path": "f", "anchor": mistake, "text": "line 6, changed"}),
        json!({"op": "delete", "path": "f", "anchor": format!("{mistake}|line 6")}),
    ]
    .map(|operation| refused(&scene, json!([operation])).text.lines().last().unwrap().to_owned());
    assert_snapshot!(reasons.join("\n"), @"
    Operation 0, f: Line 5 has bf; your hash 0a is that of line 6. In such cases the number is usually right: use 5:bf, or 6:0a for line 6.
    Operation 0, f: Line 5 has bf; your hash 0a is that of line 6. In such cases the number is usually right: use 5:bf, or 6:0a for line 6.
    Operation 0, f: Line 5 has bf; your hash 0a is that of line 6, and your text is more like that line: use 6:0a, or 5:bf for line 5.
    Operation 0, f: Line 5 has bf; your hash 0a is that of line 6, and so is the text after it: use 6:0a, or 5:bf for line 5.
    ");
}

#[test]
fn a_refusal_names_each_operation_and_its_file() {
    let scene = Scene::new(&[("f", &lines(20)), ("g", &lines(3))], json!({}));
    let stale = |path: &str, line: u64| json!({"op": "delete", "path": path, "anchor": anchor(line, "none of them")});
    let insert = json!({"op": "insert_after", "path": "f", "anchor": anchor(5, "none of them"), "text": "y"});
    let answers = [
        json!([set(1, "x"), stale("f", 5), insert]),
        json!([stale("f", 5), stale("g", 2)]),
        json!([set(1, "x"), {"op": "delete_file", "path": "gone"}]),
    ]
    .map(|operations| refused(&scene, operations).text);
    assert_snapshot!(answers.join("\n\n"), @"
    Hash mismatch at 5:22.
    Actual state:
    3:83|line 3
    4:5f|line 4
    5:bf|line 5
    6:0a|line 6
    7:db|line 7
    Operations 1, 2, f: No line near line 5 has the hash 22: use 5:bf for line 5.

    --- f ---
    Hash mismatch at 5:22.
    Actual state:
    3:83|line 3
    4:5f|line 4
    5:bf|line 5
    6:0a|line 6
    7:db|line 7
    Operation 0: No line near line 5 has the hash 22: use 5:bf for line 5.
    --- g ---
    Hash mismatch at 2:22.
    Actual state:
    1:02|line 1
    2:b2|line 2
    3:83|line 3
    Operation 1: No line near line 2 has the hash 22: use 2:b2 for line 2.

    FILE_NOT_FOUND: operation 1: gone: no such file
    ");
}

fn replace(old: &str) -> Value {
    json!({"op": "replace_text", "path": "f", "old_text": old, "new_text": "x"})
}

#[test]
fn a_text_not_found_is_refused_with_the_most_similar_lines() {
    let content =
        "fn one() {\n    call(1);\n}\n\nfn two() {\n    let total = sum(a, b);\n    call(2);\n}\n";
    let scene = Scene::new(&[("f", content)], json!({}));
    // Different whitespace, a different word, and additional lines.
    let answers = [
        "  let total  = sum(a, b);",
        "    let total = sum(a, c);\n    call(2);",
        "fn two()\n{\n    let total = sum(b);\n    call(2);\n}\n",
    ]
    .map(|old| {
        let rejected = refused(&scene, json!([replace(old)]));
        let failure = &rejected.failures[0];
        assert_eq!(failure.anchor, None);
        assert!(rejected.text.ends_with(failure.lines.as_ref().unwrap()), "{}", rejected.text);
        rejected.text
    });
    assert_snapshot!(answers.join("\n\n"), @"
    TEXT_NOT_FOUND: f: operation 0: old_text does not occur in the file; it must match exactly, including whitespace
    Most like the old_text of operation 0:
    Actual state:
    6:af|    let total = sum(a, b);

    TEXT_NOT_FOUND: f: operation 0: old_text does not occur in the file; it must match exactly, including whitespace
    Most like the old_text of operation 0:
    Actual state:
    6:af|    let total = sum(a, b);
    7:eb|    call(2);

    TEXT_NOT_FOUND: f: operation 0: old_text does not occur in the file; it must match exactly, including whitespace
    Most like the old_text of operation 0:
    Actual state:
    4:05|
    5:d8|fn two() {
    6:af|    let total = sum(a, b);
    7:eb|    call(2);
    8:18|}
    ");
    // No line is similar, or there is nothing to search for.
    for old in ["entirely other words", "\n\n\n", "\t"] {
        let rejected = refused(&scene, json!([replace(old)]));
        assert!(!rejected.text.contains("Most like"), "{}", rejected.text);
    }
}

#[test]
fn the_most_similar_lines_count_as_shown() {
    let scene = Scene::new(&[("f", &lines(3))], json!({}));
    scene.session.forget(None).unwrap();
    let rejected = refused(&scene, json!([replace("line  2")]));
    assert!(rejected.text.ends_with(&row(2, "line 2")), "{}", rejected.text);
    scene.applied(json!([set(2, "two")]));
}

#[test]
fn the_search_for_similar_lines_is_bounded() {
    let long = format!("{}\n", "some words of a long line ".repeat(400));
    let content = long.repeat(200) + &"value = compute(first, second)\n".repeat(20_000);
    let scene = Scene::new(&[("f", &content)], json!({}));
    let old = "value = compute(second, third)";
    let many: Value = (0..50).map(|at| replace(&format!("{old}{at}"))).collect();
    let rejected = refused(&scene, many);
    assert_eq!(rejected.failures.len(), 50);
    assert_eq!(rejected.text.matches("Most like the old_text").count(), 8);
    // A text of one extremely long line is not searched for.
    let rejected = refused(&scene, json!([replace(&"y".repeat(1_000_000))]));
    assert!(rejected.text.len() < 1_000, "{}", rejected.text.len());
}
