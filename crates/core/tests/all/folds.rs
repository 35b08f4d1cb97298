//! Views with folded lines.

// A list of folds can have a single range.
#![allow(clippy::single_range_in_vec_init)]

use std::fs;
use std::ops::Range;

use hashline_core::Folding;
use hashline_core::{Cancel, Outcome};
use hashline_core::{Code, Error};
use hashline_core::{FileView, ReadRequest};
use hashline_core::{Session, SessionLimits, SessionOptions, Workspace, WorkspaceOptions};
use proptest::prelude::*;
use serde_json::json;

use crate::support::facts;

/// `count` functions with `body` lines each.
fn functions(count: usize, body: usize) -> String {
    let function = |at| format!("fn f{at}() {{\n{}}}\n\n", "    work();\n".repeat(body));
    (0..count).map(function).collect()
}

fn folded(path: &str, lines: u64) -> ReadRequest {
    ReadRequest { path: path.into(), fold: Some(Folding::To(lines)), ..ReadRequest::default() }
}

fn try_view(content: &str, request: &ReadRequest) -> Result<FileView, Error> {
    let workspace = Workspace::new(WorkspaceOptions::unbounded());
    let view = workspace.read_bytes(request, content.as_bytes(), &Cancel::default())?;
    view.error().cloned().map_or(Ok(view), Err)
}

fn view(content: &str, request: &ReadRequest) -> FileView {
    try_view(content, request).unwrap()
}

fn rows(view: &FileView) -> Vec<&str> {
    view.text.lines().collect()
}

/// The lines of a text that a view shows; checks that every row is true.
fn shown_lines(content: &str, view: &FileView) -> Vec<u64> {
    let whole = self::view(content, &ReadRequest::new("whole"));
    let whole = rows(&whole);
    let mut shown = Vec::new();
    let facts = facts(view);
    let mut line = facts.start_line;
    let mut folds = facts.folds.iter();
    for row in rows(view) {
        if row == whole[line as usize - 1] {
            shown.push(line);
            line += 1;
            continue;
        }
        let Range { start, end } = folds.next().unwrap_or_else(|| panic!("{row}")).clone();
        let of_lines = format!("{start}-{} … {} lines", end - 1, end - start);
        let names = row.strip_prefix(&of_lines).unwrap_or_else(|| panic!("{row}"));
        assert!(names.is_empty() || names.starts_with(": "), "{row}");
        assert!(start == line && end - start > 1, "{row} at {line}");
        line = end;
    }
    assert_eq!((folds.next(), line), (None, facts.end_line + 1));
    shown
}

#[test]
fn folds_name_the_outermost_definitions_in_them() {
    let inner = functions(3, 2).replace("fn f", "fn g");
    let text = format!("mod inner {{\n{inner}}}\n\n{}", functions(6, 4));
    let view = view(&text, &folded("a.rs", 3));
    let rows = rows(&view);
    assert_eq!(rows.last(), Some(&"2-60 … 59 lines: f0, f1, f2, f3, f4, f5"), "{}", view.text);
    let alone = self::view(&functions(40, 2), &folded("a.rs", 1));
    let names = "f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, …";
    assert!(alone.text.contains(names), "{}", alone.text);
}

fn definitions_shown(view: &FileView) -> usize {
    rows(view).iter().filter(|row| row.contains("fn ")).count()
}

#[test]
fn bodies_are_folded_and_the_smallest_opened_first() {
    let content = functions(1, 20) + &functions(1, 3);
    let view = view(&content, &folded("a.rs", 10));
    let anchors: Vec<&str> = rows(&view).iter().map(|row| row.split('|').next().unwrap()).collect();
    let shown = facts(&view);
    assert_eq!(shown.folds, [2..22], "{anchors:?}");
    assert_eq!(shown_lines(&content, &view), [1, 22, 23, 24, 25, 26, 27, 28, 29]);
    assert_eq!((shown.line_count, shown.start_line, shown.end_line), (29, 1, 29));
    assert_eq!((shown.next_line, shown.truncated, shown.checksum), (None, false, None));
}

#[test]
fn a_file_that_fits_is_not_folded() {
    for (content, lines) in [(functions(3, 3), 18), (String::new(), 1), ("x".to_owned(), 1)] {
        let view = view(&content, &folded("a.rs", lines));
        let shown = facts(&view);
        assert_eq!((shown.folds.len(), shown.end_line), (0, shown.line_count), "{content:?}");
    }
}

#[test]
fn definitions_within_others_are_found_and_tests_come_last() {
    let method = "    fn m() {\n        work();\n        work();\n        work();\n    }\n";
    let of = |head: &str| format!("{head} {{\n{}}}\n", method.repeat(4));
    let content = of("#[cfg(test)]\nmod tests") + &of("impl A") + &of("impl B");
    let view = view(&content, &folded("a.rs", 24));
    assert_eq!(definitions_shown(&view), 8, "{}", view.text);
    assert_eq!(facts(&view).folds[0], 3..23, "{}", view.text);
}

#[test]
fn only_definitions_are_shown_if_only_they_fit() {
    let content = functions(40, 5);
    assert_eq!(definitions_shown(&view(&content, &folded("a.rs", 80))), 40);
    // If even the definitions do not fit, the start of the file is shown.
    let few = view(&content, &folded("a.rs", 20));
    assert!(definitions_shown(&few) >= 9, "{}", few.text);
    assert!(rows(&few).len() <= 20 && facts(&few).end_line == facts(&few).line_count);
}

#[test]
fn opened_folds_are_shown_in_addition() {
    let content = functions(9, 20);
    let request = folded("a.rs", 40);
    let before = view(&content, &request);
    let anchor = rows(&before)[0].split_once('|').map_or(rows(&before)[0], |row| row.0);
    let names = ["2-21", "2-21 … 20 lines", anchor.split_once("fn").map_or(anchor, |row| row.0)];
    for open in names {
        let opened = view(&content, &ReadRequest { open: vec![open.into()], ..request.clone() });
        assert_eq!(facts(&opened).folds, facts(&before).folds[1..], "{open}");
        assert_eq!(shown_lines(&content, &opened)[..23], (1..24).collect::<Vec<u64>>());
    }
    let part = ReadRequest { open: vec!["5-6".into(), "6-20".into()], ..request };
    let part = view(&content, &part);
    assert_eq!(facts(&part).folds[..2], [2..5, facts(&before).folds[1].clone()]);
    // A single line takes no more room than its fold. A read that opens a fold is folded.
    let content = functions(40, 20);
    let request = ReadRequest { open: vec!["3-21".into()], ..ReadRequest::new("a.rs") };
    let opened = view(&content, &request);
    assert_eq!(shown_lines(&content, &opened)[..22], (1..23).collect::<Vec<u64>>());
    assert!(!facts(&opened).folds.is_empty());
}

#[test]
fn invalid_folds_are_refused() {
    let content = functions(9, 20);
    let refused = |request: ReadRequest| try_view(&content, &request).unwrap_err();
    for open in ["here", "", "0-4", "9-2", "14"] {
        let error = refused(ReadRequest { open: vec![open.into()], ..folded("a.rs", 9) });
        assert_eq!(error.code, Code::InvalidArgument, "{open}");
        assert!(error.message.contains("such as \"14-80\""), "{}", error.message);
    }
    let error = refused(ReadRequest { open: vec!["1:ff".into()], ..folded("a.rs", 9) });
    assert_eq!(error.code, Code::HashMismatch);
    let error = refused(ReadRequest { open: vec!["4000:00".into()], ..folded("a.rs", 9) });
    assert_eq!(error.code, Code::HashMismatch);
    assert!(refused(folded("a.rs", 0)).message.contains("fold is 0"));
}

#[test]
fn a_file_without_a_grammar_is_folded_by_indentation() {
    let content = format!("a\n{}b\n\tx\n\ty\n\nc\n", "  one\n    two\n\n".repeat(20));
    let view = view(&content, &folded("notes", 8));
    assert_eq!(shown_lines(&content, &view), [1, 61, 62, 63, 64, 65, 66]);
    assert_eq!(facts(&view).folds, [2..61], "{}", view.text);
}

#[test]
fn hostile_texts_are_folded_within_the_limits() {
    let texts = [
        "fn f() {}\n".repeat((256 << 10) / 10),
        "x\n".repeat(300_000),
        (0..3000).map(|depth| " ".repeat(depth) + "x\n").collect(),
        (0..3000).rev().map(|depth| " ".repeat(depth) + "x\n").collect(),
        "(\n".repeat(20_000) + &")\n".repeat(20_000),
        "\n".repeat(5000),
        "\r\n  a\r\n".repeat(5000),
    ];
    for text in &texts {
        for path in ["a.rs", "notes"] {
            for lines in [1, 7, 200] {
                let view = view(text, &folded(path, lines));
                let name = format!("{path} {lines} {:?}", &text[..9]);
                assert!(rows(&view).len() as u64 <= lines + 1, "{name}: {}", rows(&view).len());
                assert_eq!(facts(&view).end_line, facts(&view).line_count, "{name}");
            }
        }
    }
}

struct Scene {
    dir: tempfile::TempDir,
    session: Session,
}

impl Scene {
    fn new(files: &[(&str, &str)], limits: SessionLimits) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, content)| fs::write(dir.path().join(name), content).unwrap());
        let workspace = WorkspaceOptions { root: dir.path().into(), ..WorkspaceOptions::default() };
        let options = SessionOptions { workspace, limits, ..SessionOptions::default() };
        Scene { session: Session::new(options).unwrap(), dir }
    }

    fn delete(&self, first: &str, last: &str) -> Outcome {
        let delete =
            json!({"op": "delete", "path": "a.rs", "start_anchor": first, "end_anchor": last});
        self.session.apply(json!({"operations": [delete]})).unwrap()
    }
}

fn anchor_of(row: &str) -> String {
    row.split(['|', 'f', ' ', '}']).next().unwrap().to_owned()
}

#[test]
fn a_read_over_its_limits_is_folded_instead_of_truncated() {
    let (long, flat) = (functions(300, 20), "x\n".repeat(3000));
    let scene = Scene::new(&[("a.rs", &long), ("flat", &flat)], SessionLimits::default());
    let report = scene.session.read("a.rs").unwrap();
    assert!(report.next.is_empty() && !facts(&report.views[0]).folds.is_empty());
    assert!(report.text.contains(" of them folded. To see some, read with open: [\""));
    assert!(report.text.lines().count() <= 202);
    // Neither a request with a window nor a file without structure is folded.
    let window = ReadRequest { start_line: Some(1), ..ReadRequest::new("a.rs") };
    for request in [window, ReadRequest::new("flat")] {
        let report = scene.session.read(request).unwrap();
        assert!(facts(&report.views[0]).folds.is_empty() && report.next.len() == 1);
    }
}

#[test]
fn folded_lines_count_as_not_shown() {
    let content = functions(9, 20);
    let scene = Scene::new(&[("a.rs", &content)], SessionLimits::default());
    let report = scene.session.read(folded("a.rs", 40)).unwrap();
    let text = rows(&report.views[0]);
    assert_eq!(facts(&report.views[0]).folds[0], 2..22);
    let (first, last) = (anchor_of(text[0]), anchor_of(text[2]));
    match scene.delete(&first, &last) {
        Outcome::Rejected(rejected) => {
            assert!(rejected.text.contains("Lines 2-21 were never shown"), "{}", rejected.text);
        }
        Outcome::Applied(applied) => panic!("{}", applied.text),
    }
    assert_eq!(fs::read_to_string(scene.dir.path().join("a.rs")).unwrap(), content);
}

#[test]
fn a_file_changed_after_a_folded_view_is_edited_at_the_line_shown() {
    let content = functions(9, 20);
    let scene = Scene::new(&[("a.rs", &content)], SessionLimits::default());
    let request = ReadRequest { open: vec!["2-21".into()], ..folded("a.rs", 40) };
    let report = scene.session.read(request).unwrap();
    let text = rows(&report.views[0]);
    let (first, last) = (anchor_of(text[0]), anchor_of(text[22]));
    fs::write(scene.dir.path().join("a.rs"), format!("// new\n{content}")).unwrap();
    assert!(matches!(scene.delete(&first, &last), Outcome::Applied(_)));
    let left: String = content.split_inclusive('\n').skip(23).collect();
    assert_eq!(
        fs::read_to_string(scene.dir.path().join("a.rs")).unwrap(),
        format!("// new\n{left}")
    );
}

proptest! {
    #[test]
    fn views_of_any_folded_text_are_true(
        lines in prop::collection::vec("(  |\t){0,3}(fn a\\(\\) \\{|\\}|class B:|def c\\(\\):|x = 1|)", 0..60),
        budget in 1u64..40,
        start in 1u64..10,
        open in prop::option::of((1u64..40, 0u64..9)),
        path in prop::sample::select(vec!["a.rs", "a.py", "notes"]),
    ) {
        let content = lines.join("\n");
        let open: Vec<String> =
            open.iter().map(|(first, more)| format!("{first}-{}", first + more)).collect();
        let opened = if open.is_empty() { 0 } else { 10 };
        let view = view(&content, &ReadRequest { open, ..folded(path, budget) });
        let line_count = facts(&view).line_count;
        prop_assert_eq!(facts(&view).end_line, line_count);
        prop_assert!(rows(&view).len() as u64 <= budget.max(2) + opened);
        shown_lines(&content, &view);
        if start <= line_count {
            let later = ReadRequest { start_line: Some(start), ..folded(path, budget) };
            shown_lines(&content, &self::view(&content, &later));
        }
    }
}
