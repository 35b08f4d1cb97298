//! Sessions on real files: an anchor refers to the line that was shown, wherever it is now.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::JsonRequest;
use hashline_core::PatchOptions;
use hashline_core::Query;
use hashline_core::ReadRequest;
use hashline_core::SearchQuery;
use hashline_core::host::Turn;
use hashline_core::{Applied, Outcome, Rejected};
use hashline_core::{ApplyOptions, Durability};
use hashline_core::{
    ReadOn, ReadReport, Root, Session, SessionLimits, SessionOptions, WorkspaceOptions,
};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::{Value, json};

use crate::support::facts;

struct Scene {
    dir: tempfile::TempDir,
    state: tempfile::TempDir,
    session: Arc<Session>,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Scene {
        Scene::with(files, |_| {})
    }

    fn with(files: &[(&str, &str)], change: impl FnOnce(&mut SessionOptions)) -> Scene {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (name, content) in files {
            fs::write(dir.path().join(name), content).unwrap();
        }
        let mut options = SessionOptions {
            workspace: WorkspaceOptions {
                root: dir.path().into(),
                state_dir: Some(state.path().into()),
                apply: ApplyOptions { durability: Durability::Process, ..ApplyOptions::default() },
                ..WorkspaceOptions::default()
            },
            ..SessionOptions::default()
        };
        change(&mut options);
        let session = Arc::new(Session::new(options).unwrap());
        Scene { dir, state, session }
    }

    fn read(&self, path: &str) -> ReadReport {
        self.read_lines(path, None, None)
    }

    fn read_lines(
        &self,
        path: &str,
        start_line: Option<u64>,
        max_lines: Option<u64>,
    ) -> ReadReport {
        let mut request = ReadRequest { path: path.into(), start_line, ..ReadRequest::default() };
        request.limits.max_lines = max_lines;
        self.session.read_with(&[request], &Cancel::default()).unwrap()
    }

    fn try_apply(&self, operations: Value) -> Outcome {
        let patch = json!({"operations": operations}).into();
        let diff_context_lines = Some(3);
        let options = PatchOptions { diff_context_lines, ..PatchOptions::default() };
        self.session.apply_with(&patch, &options, &Cancel::default()).unwrap()
    }

    fn apply(&self, operations: Value) -> Applied {
        match self.try_apply(operations) {
            Outcome::Applied(applied) => applied,
            Outcome::Rejected(rejected) => panic!("{}", rejected.text),
        }
    }

    fn refuse(&self, operations: Value) -> Rejected {
        match self.try_apply(operations) {
            Outcome::Applied(applied) => panic!("{}", applied.text),
            Outcome::Rejected(rejected) => rejected,
        }
    }

    fn write(&self, path: &str, content: &str) {
        fs::write(self.dir.path().join(path), content).unwrap();
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.dir.path().join(path)).unwrap()
    }
}

fn anchor(number: u64, text: &str) -> String {
    let dialect = Dialect::default_dialect();
    dialect.anchor_text(number, hash_line(dialect, number, text))
}

fn set(number: u64, old: &str, new: &str) -> Value {
    json!({"op": "set_line", "path": "f", "anchor": anchor(number, old), "text": new})
}

fn literal(search: &str) -> Query {
    Query { search: search.into(), regex: false, case_sensitive: true, ..Query::default() }
}

fn numbered(count: u64) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn the_line_shown_is_edited_wherever_others_moved_it() {
    let scene = Scene::new(&[("f", &numbered(30))]);
    scene.read("f");
    scene.write("f", &format!("new\nnew\n{}", numbered(30)));
    let applied = scene.apply(json!([set(10, "line 10", "ten")]));
    assert_eq!(applied.relocations[0].distance, 2);
    assert_eq!(
        scene.content("f"),
        format!("new\nnew\n{}", numbered(30)).replace("line 10\n", "ten\n")
    );
}

#[test]
fn a_line_that_others_changed_is_refused_with_both_versions() {
    let scene = Scene::new(&[("f", &numbered(30))]);
    scene.read("f");
    scene.write("f", &numbered(30).replace("line 10\n", "line ten\n"));
    let rejected = scene.refuse(json!([set(10, "line 10", "x")]));
    assert_eq!(rejected.code, Code::HashMismatch);
    assert!(
        rejected.text.contains(&format!("- {}|line 10", anchor(10, "line 10"))),
        "{}",
        rejected.text
    );
    assert!(
        rejected.text.contains(&format!("{}|line ten", anchor(10, "line ten"))),
        "{}",
        rejected.text
    );
    // The lines in a refusal count as shown.
    scene.apply(json!([set(10, "line ten", "x")]));
}

#[test]
fn a_brace_at_the_old_number_is_not_mistaken_for_the_line_shown() {
    let before = "fn a() {\n  one();\n}\n\nfn b() {\n  two();\n}\n";
    let scene = Scene::new(&[("f", before)]);
    scene.read("f");
    // A new function moves the others down, so that a brace is on line 3 again.
    scene.write("f", &format!("fn z() {{\n  zero();\n}}\n\n{before}"));
    scene.apply(json!([
        {"op": "insert_before", "path": "f", "anchor": anchor(3, "}"), "text": "  done();"}
    ]));
    assert!(scene.content("f").contains("  one();\n  done();\n}"), "{}", scene.content("f"));
}

#[test]
fn in_a_file_that_did_not_change_nothing_is_relocated() {
    let scene = Scene::new(&[("f", "a\nb\nc\n")]);
    scene.read("f");
    let mistake = json!({"op": "set_line", "path": "f", "anchor": format!("2:{}", &anchor(3, "c")[2..]), "text": "x"});
    let rejected = scene.refuse(json!([mistake]));
    assert_eq!(rejected.code, Code::HashMismatch);
    assert!(rejected.text.contains("the number is usually right"), "{}", rejected.text);
    assert_eq!(scene.content("f"), "a\nb\nc\n");
}

/// All lines of all failures counted as shown, also those for which the text had no room.
#[test]
fn regression_a_refusal_shows_no_lines_that_its_text_has_no_room_for() {
    let text: String =
        (1..=3_000).map(|number| format!("line {number} {}\n", "x".repeat(80))).collect();
    let scene = Scene::new(&[("f", &text)]);
    let line = |number: u64| text.lines().nth(number as usize - 1).unwrap();
    let sets = |numbers: &mut dyn Iterator<Item = u64>| {
        numbers.map(|number| set(number, line(number), "x")).collect::<Vec<_>>()
    };
    let rejected = scene.refuse(json!(sets(&mut (1..=300).map(|number| number * 10))));
    assert!(rejected.text.contains("|line 10 ") && !rejected.text.contains("|line 3000 "));
    let again = scene.refuse(json!([set(3_000, line(3_000), "x")]));
    assert_eq!(again.code, Code::NotShown);
    assert!(again.text.contains("|line 3000 "), "{}", again.text);
    scene.apply(json!([set(3_000, line(3_000), "x"), set(10, line(10), "x")]));
}

#[test]
fn lines_that_were_never_shown_are_refused_with_those_lines() {
    let scene = Scene::new(&[("f", &numbered(100))]);
    scene.read_lines("f", Some(1), Some(10));
    let rejected = scene.refuse(json!([set(50, "line 50", "x")]));
    assert_eq!(rejected.code, Code::NotShown);
    assert!(
        rejected.text.contains(&format!("{}|line 50", anchor(50, "line 50"))),
        "{}",
        rejected.text
    );
    scene.apply(json!([set(50, "line 50", "x")]));
    let range = json!({
        "op": "replace_range", "path": "f", "text": null,
        "start_anchor": anchor(9, "line 9"), "end_anchor": anchor(20, "line 20"),
    });
    assert_eq!(scene.refuse(json!([range])).code, Code::NotShown);
    scene.apply(json!([range]));
    assert_eq!(scene.content("f").lines().count(), 88);
}

#[test]
fn files_that_were_never_read_are_refused_unless_matching_is_allowed() {
    let scene = Scene::new(&[("f", &numbered(3))]);
    assert_eq!(scene.refuse(json!([set(2, "line 2", "x")])).code, Code::NotShown);
    let scene = Scene::with(&[("f", &numbered(3))], |options| {
        options.unseen = hashline_core::Unseen::Match;
    });
    scene.apply(json!([set(2, "line 2", "x")]));
    assert_eq!(scene.content("f"), "line 1\nx\nline 3\n");
}

#[test]
fn own_edits_are_tracked_exactly() {
    let scene = Scene::new(&[("f", &"}\n".repeat(40))]);
    scene.read("f");
    let at = |n: u64, text: &str| json!([{"op": "insert_after", "path": "f", "anchor": anchor(n, "}"), "text": text}]);
    scene.apply(at(10, "ten"));
    scene.apply(at(30, "thirty"));
    scene.apply(at(20, "twenty"));
    scene.apply(json!([{"op": "delete", "path": "f", "anchor": anchor(5, "}")}]));
    let mut expected = vec!["}"; 40];
    expected.insert(30, "thirty");
    expected.insert(20, "twenty");
    expected.insert(10, "ten");
    expected.remove(4);
    assert_eq!(scene.content("f").lines().collect::<Vec<_>>(), expected);
    // The new anchors of a report are valid like any others.
    let report = scene.apply(
        json!([{"op": "replace_text", "path": "f", "old_text": "ten\n", "new_text": "10\n"}]),
    );
    let row = report.text.lines().find(|row| row.ends_with("|10")).unwrap();
    scene.apply(json!([{"op": "set_line", "path": "f", "anchor": row, "text": "TEN"}]));
    assert!(scene.content("f").contains("TEN\n"));
}

#[test]
fn parallel_inserts_at_four_anchors_of_one_view_are_all_correct() {
    let scene = Scene::new(&[("f", "a\nb\n\n}\n")]);
    scene.read("f");
    let marks = [(1, "a"), (2, "b"), (3, ""), (4, "}")];
    // One caller queues the calls in sequence; many threads run them.
    let calls: Vec<_> = (0..300)
        .map(|n| {
            let (number, text) = marks[n % 4];
            let insert = json!({
                "op": "insert_after", "path": "f", "anchor": anchor(number, text),
                "text": format!("{number}: {n}"),
            });
            (scene.session.writing(), insert)
        })
        .collect();
    std::thread::scope(|scope| {
        for (turn, insert) in calls {
            scope.spawn(move || {
                let patch = json!({"operations": [insert]}).into();
                let outcome = turn.apply(&patch, &PatchOptions::default(), &Cancel::default());
                assert!(matches!(outcome, Ok(Outcome::Applied(_))), "{outcome:?}");
            });
        }
    });
    let mut expected = Vec::new();
    for (number, text) in marks {
        expected.push(text.to_owned());
        let mine = (0..300).filter(|n| marks[n % 4].0 == number);
        // Each is inserted directly after the line of its anchor, so the last one comes first.
        expected.extend(mine.rev().map(|n| format!("{number}: {n}")));
    }
    assert_eq!(scene.content("f").lines().collect::<Vec<_>>(), expected);
}

#[test]
fn searches_count_as_shown() {
    let scene = Scene::new(&[("f", &numbered(50)), ("g", "line 7\n")]);
    let query = SearchQuery::new(literal("line 7"));
    let found = scene.session.search_with(&query, &Cancel::default()).unwrap();
    assert_eq!(found.match_count, 2);
    scene.apply(json!([set(7, "line 7", "seven")]));
    assert_eq!(scene.refuse(json!([set(30, "line 30", "x")])).code, Code::NotShown);
}

#[test]
fn observed_rows_are_remembered_if_they_match() {
    let scene = Scene::new(&[("f", &numbered(5))]);
    let view = scene.read("f").text;
    let other = Scene::new(&[("f", &numbered(5).replace("line 3\n", "three\n"))]);
    assert_eq!(other.session.observe(&view, Some(Path::new("f")), &Cancel::default()).unwrap(), 4);
    other.apply(json!([set(2, "line 2", "two")]));
    let headed = format!("--- f ---\n{view}");
    assert_eq!(scene.session.fork().observe(&headed, None, &Cancel::default()).unwrap(), 5);
}

#[test]
fn forks_are_independent_and_forgetting_is_reported() {
    let scene = Scene::new(&[("f", &numbered(5)), ("g", &numbered(5))]);
    scene.read("f");
    let fork = scene.session.fork();
    scene.session.forget(Some(Path::new("f"))).unwrap();
    let rejected = scene.refuse(json!([set(2, "line 2", "x")]));
    assert_eq!(rejected.code, Code::NotShown);
    let patch = json!({"operations": [set(2, "line 2", "x")]}).into();
    let outcome = fork.apply(&patch);
    assert!(matches!(outcome, Ok(Outcome::Applied(_))), "{outcome:?}");
    // A file that was removed can be forgotten, too.
    fs::remove_file(scene.dir.path().join("g")).unwrap();
    scene.session.forget(Some(Path::new("g"))).unwrap();
    scene.session.forget(None).unwrap();
    assert_eq!(scene.session.memory_bytes(), 0);
}

#[test]
fn a_dry_run_reports_everything_and_writes_nothing() {
    let scene = Scene::new(&[("f", "a\nb\n")]);
    scene.read("f");
    let patch = json!({"operations": [set(2, "b", "B")]}).into();
    let dry_run =
        PatchOptions { dry_run: true, diff_context_lines: Some(3), ..PatchOptions::default() };
    let outcome = scene.session.apply_with(&patch, &dry_run, &Cancel::default()).unwrap();
    let Outcome::Applied(applied) = outcome else { panic!("{outcome:?}") };
    let diff = applied.files[0].diff.as_ref().unwrap();
    assert_eq!(diff.text, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n");
    assert_eq!(scene.content("f"), "a\nb\n");
    assert!(
        !scene.state.path().join("journals").read_dir().is_ok_and(|mut one| one.next().is_some())
    );
    scene.apply(json!([set(2, "b", "B")]));
}

#[test]
fn a_call_stays_within_its_limits_and_says_where_to_continue() {
    let limits = SessionLimits { max_lines: 10, ..SessionLimits::default() };
    let files = [("f", &*numbered(8)), ("g", &*numbered(8)), ("h", &*numbered(8))];
    let scene = Scene::with(&files, |options| options.limits = limits);
    let requests: Vec<_> = ["f", "g", "h"]
        .map(|path| ReadRequest { path: path.into(), ..ReadRequest::default() })
        .into();
    let report = scene.session.read_with(&requests, &Cancel::default()).unwrap();
    let next: Vec<_> = report.next.iter().map(|one| (one.path.as_str(), one.start_line)).collect();
    assert_eq!(next, [("g", 3), ("h", 1)]);
    assert!(report.text.contains("--- g ---\n1:"), "{}", report.text);
    assert!(report.text.contains("(8 lines. Continue from line 3.)"), "{}", report.text);
    // Line 3 of g was not shown.
    let rejected = scene.refuse(json!([
        {"op": "set_line", "path": "g", "anchor": anchor(3, "line 3"), "text": "x"}
    ]));
    assert_eq!(rejected.code, Code::NotShown);
}

/// For one file and several, with notes below the lines.
#[test]
fn spans_locate_the_text_of_views_in_the_page() {
    let limits = SessionLimits { max_lines: 10, ..SessionLimits::default() };
    let files = [("f", &*numbered(12)), ("g", "\u{fc}\n"), ("empty", "")];
    let scene = Scene::with(&files, |options| options.limits = limits);
    let session = Arc::new(scene.session);
    for names in [&["f"][..], &["g"], &["empty"], &["gone"], &["g", "f", "empty"]] {
        let requests = requests(names);
        let report = session.read_with(&requests, &Cancel::default()).unwrap();
        let page = session.reading().read(&requests, &Cancel::default()).unwrap();
        assert_eq!((&page.text, &page.spans), (&report.text, &report.spans));
        for ((shown, view), span) in page.views.iter().zip(&report.views).zip(&page.spans) {
            let text = if shown.text.is_empty() { &page.text[span.clone()] } else { &shown.text };
            assert_eq!(text, view.text);
            assert_eq!(text, &report.text[span.clone()]);
        }
    }
}

#[test]
fn a_deletion_shows_the_deleted_lines() {
    let scene = Scene::new(&[("f", "a\nb"), ("empty", ""), ("big", &"x\n".repeat(600_000))]);
    fs::write(scene.dir.path().join("bin"), b"\0\x01").unwrap();
    let delete = |path: &str| json!({"op": "delete_file", "path": path});
    let applied = scene.apply(json!([delete("f"), delete("empty"), delete("bin"), delete("big")]));
    let diffs: Vec<_> = applied.files.into_iter().map(|file| file.diff.unwrap()).collect();
    assert_eq!(
        diffs[0].text,
        "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n"
    );
    assert_eq!(diffs[0].hunks.len(), 1);
    assert_eq!(diffs[1].hunks, []);
    assert_eq!(diffs[2].text, "--- a/bin\n+++ /dev/null\n(a binary file)\n");
    assert!(diffs[3].text.ends_with("there are too many)\n") && diffs[3].hunks.is_empty());
}

fn requests(paths: &[&str]) -> Vec<ReadRequest> {
    let request = |path: &&str| ReadRequest { path: (*path).into(), ..ReadRequest::default() };
    paths.iter().map(request).collect()
}

#[test]
fn a_line_is_not_truncated_by_the_remainder_of_a_limit() {
    let limits = SessionLimits { max_bytes: 140, ..SessionLimits::default() };
    let long = "a line of some forty characters, or so..\n";
    let files = [("f", &*numbered(8)), ("g", long), ("h", "short\n")];
    let scene = Scene::with(&files, |options| options.limits = limits);
    let cancel = Cancel::default();
    let report = scene.session.read_with(&requests(&["f", "g", "h"]), &cancel).unwrap();
    assert!(!report.text.contains("--- g ---"), "{}", report.text);
    let end = "(Not shown, because the limit of one call is reached: g from line 1.)";
    assert!(report.text.ends_with(end), "{}", report.text);
    assert!(report.text.contains("--- h ---\n1:"), "{}", report.text);
    let next: Vec<_> = report.next.iter().map(|one| (one.path.as_str(), one.start_line)).collect();
    assert_eq!(next, [("g", 1)]);
    assert_eq!(report.views.len(), 3);
    // On a page of its own, as much of it as fits is shown.
    assert!(scene.read("g").text.contains(":"), "{}", scene.read("g").text);
}

#[test]
fn regression_a_long_line_does_not_end_a_search_with_little_room() {
    let minified = "needle();".repeat(20_000);
    let files = [("a.js", "const needle = 1\n"), ("b.min.js", &*minified), ("c.js", "needle()\n")];
    for max_line_chars in [900, 2_000, 1_000_000] {
        let limits = SessionLimits { max_bytes: 1_000, max_line_chars, ..SessionLimits::default() };
        let scene = Scene::with(&files, |options| options.limits = limits);
        let query = SearchQuery::new(literal("needle"));
        let result = scene.session.search_with(&query, &Cancel::default()).unwrap();
        let found: Vec<_> = result.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(found, ["a.js", "b.min.js", "c.js"], "{}", result.text);
        assert!(result.text.len() <= 1_000 && result.text.contains(" bytes]"), "{}", result.text);
        assert!(!result.truncated && !result.ran_out);
    }
    // Even with little room, short lines are not truncated.
    let line = format!("{} needle", "x".repeat(150));
    let limits = SessionLimits { max_bytes: 300, ..SessionLimits::default() };
    let scene = Scene::with(&[("a", &*line)], |options| options.limits = limits);
    let query = SearchQuery::new(literal("needle"));
    let result = scene.session.search_with(&query, &Cancel::default()).unwrap();
    assert!(result.text.ends_with(&line), "{}", result.text);
}

#[test]
fn thousands_of_missing_files_stay_within_the_limit_of_a_call() {
    let scene = Scene::new(&[]);
    let names: Vec<String> = (0..5_000).map(|at| format!("none/{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let report = scene.session.read_with(&requests(&names), &Cancel::default()).unwrap();
    assert!(report.text.len() < 53_000, "{} bytes", report.text.len());
    assert_eq!(report.views.len(), names.len());
}

#[test]
fn images_of_one_call_have_a_total_limit() {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.resize(9 << 20, 0);
    let scene = Scene::new(&[]);
    for name in ["a.png", "b.png", "c.png"] {
        fs::write(scene.dir.path().join(name), &png).unwrap();
    }
    let cancel = Cancel::default();
    let report = scene.session.read_with(&requests(&["a.png", "b.png", "c.png"]), &cancel);
    let report = report.unwrap();
    let images: Vec<_> = report.images.iter().map(|image| image.path.as_str()).collect();
    assert_eq!(images, ["a.png", "b.png"]);
    assert!(
        report.text.ends_with(
            "--- c.png ---\n(image/png: not shown; one call shows at most 20 MiB of images)"
        ),
        "{}",
        report.text
    );
}

#[test]
fn a_missing_read_root_leaves_the_others_readable() {
    let other = tempfile::tempdir().unwrap();
    let file = other.path().join("g");
    fs::write(&file, "there\n").unwrap();
    let roots = [other.path().join("missing"), other.path().to_owned()];
    let roots = roots.map(|root| root.to_str().unwrap().to_owned());
    let scene = Scene::with(&[], |options| options.read_roots = roots.map(PathBuf::from).into());
    assert!(scene.read(file.to_str().unwrap()).text.contains("there"));
    let outside = scene.read("/etc/hostname").text;
    assert!(outside.starts_with("OUTSIDE_ROOT"), "{outside}");
}

#[test]
fn a_cancelled_call_has_shown_nothing() {
    let scene = Scene::new(&[("f", "a\nb\n")]);
    let cancel = Cancel::default();
    cancel.cancel();
    let error = scene.session.read_with(&requests(&["f"]), &cancel).unwrap_err();
    assert_eq!(error.code, Code::Aborted);
    assert_eq!(scene.session.memory_bytes(), 0);
    assert_eq!(scene.refuse(json!([set(2, "b", "B")])).code, Code::NotShown);
}

#[test]
fn rows_are_observed_below_the_header_of_any_file() {
    let name = "a --- b";
    let scene = Scene::new(&[(name, "a\nb\n")]);
    let rows = scene.read(name).text;
    scene.session.forget(None).unwrap();
    for header in [format!("--- {name} ---"), format!("--- {name} --- 1 edit, +1 -1")] {
        let text = format!("{header}\n{rows}\n");
        assert_eq!(scene.session.observe(&text, None, &Cancel::default()).unwrap(), 2, "{text}");
    }
}

/// The line of `tls` was taken for that of the server, which had become equal to it.
#[test]
fn regression_a_re_indented_file_is_not_edited_at_another_line() {
    let old = "server:\n  enabled: true\n  tls:\n    enabled: true\n";
    let scene = Scene::new(&[("a.yaml", old)]);
    scene.session.read("a.yaml").unwrap();
    let new = "server:\n    enabled: true\n    tls:\n        enabled: true\n";
    scene.write("a.yaml", new);
    let edit = json!({
        "op": "set_line", "path": "a.yaml", "anchor": anchor(4, "    enabled: true"),
        "text": "    enabled: false",
    });
    let applied = scene.apply(json!([edit]));
    assert_eq!(
        scene.content("a.yaml"),
        new.replace("        enabled: true", "        enabled: false")
    );
    insta::assert_snapshot!(applied.text, @r"
    --- a.yaml --- 1 edit, +1 -1
    2:6e|    enabled: true
    3:2f|    tls:
    4:8f|        enabled: false
    Operation 0: your line was indented by 8 spaces instead of 4 spaces: another process re-indented line 4 since you read it (follow-indent).
    ");
}

/// The old text of a file, the new one that others wrote, and an edit by the old anchors.
fn after_others(path: &str, old: &str, new: &str, edit: Value) -> (Scene, Outcome) {
    let scene = Scene::new(&[(path, old)]);
    scene.read(path);
    scene.write(path, new);
    let outcome = scene.try_apply(json!([edit]));
    (scene, outcome)
}

#[test]
fn a_text_is_indented_as_others_indented_its_lines_unless_it_is_verbatim() {
    let (old, new) = ("def f():\n  one()\n  two()\n", "def f():\n\tone()\n\ttwo()\n");
    let edit = json!({
        "op": "insert_after", "path": "a.py", "anchor": anchor(1, "def f():"),
        "text": "  if x:\n    three()",
    });
    let (scene, _) = after_others("a.py", old, new, edit.clone());
    let expected = "def f():\n\tif x:\n\t\tthree()\n\tone()\n\ttwo()\n";
    assert_eq!(scene.content("a.py"), expected);
    let mut verbatim = edit;
    verbatim["verbatim"] = true.into();
    let (scene, _) = after_others("a.py", old, new, verbatim);
    let expected = "def f():\n  if x:\n    three()\n\tone()\n\ttwo()\n";
    assert_eq!(scene.content("a.py"), expected);
}

#[test]
fn lines_that_were_re_indented_unevenly_are_refused() {
    let old = "def f():\n  if x:\n    one()\n    two()\n  end()\n";
    let new = "def f():\n  if x:\n    one()\n  two()\n  end()\n";
    let edit = |path: &str| {
        json!({
            "op": "replace_range", "path": path, "start_anchor": anchor(3, "    one()"),
            "end_anchor": anchor(4, "    two()"), "text": "    three()\n    two()",
        })
    };
    for path in ["a.py", "a.c"] {
        let (scene, outcome) = after_others(path, old, new, edit(path));
        let Outcome::Rejected(rejected) = outcome else { panic!("{}", scene.content(path)) };
        assert_eq!(rejected.code, Code::HashMismatch);
        assert_eq!(scene.content(path), new);
    }
}

#[test]
fn the_refusal_of_a_line_that_others_wrapped_shows_the_lines_that_have_its_words() {
    let call = "  let value = call(first_argument, second_argument);";
    let calls: String = (0..40).map(|at| format!("  step_{at}();\n")).collect();
    let old = format!("{calls}{call}\n{calls}");
    let wrapped = "  let value = call(\n    first_argument,\n    second_argument,\n  );";
    let edit = json!({
        "op": "set_line", "path": "a.rs", "anchor": anchor(41, call), "text": "  let value = 1;",
    });
    let (_, outcome) = after_others("a.rs", &old, &old.replace(call, wrapped), edit);
    let Outcome::Rejected(rejected) = outcome else { panic!() };
    insta::assert_snapshot!(rejected.text, @r"
    Hash mismatch at 41:1e.
    Actual state:
    39:16@9491|  step_38();
    40:67@9491|  step_39();
    41:41|  let value = call(
    42:88|    first_argument,
    43:e2|    second_argument,
    44:2c|  );
    45:03|  step_0();
    Operation 0, a.rs: Another process changed these lines or too much around them since you read them: use the lines above. You had read:
    - 41:1e|  let value = call(first_argument, second_argument);
    ");
}

#[test]
fn a_file_that_another_one_has_replaced_is_not_edited_by_a_line_that_both_have() {
    let line = "use std::collections::HashMap;";
    let old = format!("{line}\n{}", numbered(30));
    let edit = json!({
        "op": "set_line", "path": "a.rs", "anchor": anchor(1, line), "text": "// nothing",
    });
    let another: String = (1..=30).map(|at| format!("another {at}\n")).collect();
    let (scene, outcome) = after_others("a.rs", &old, &format!("{line}\n{another}"), edit.clone());
    let Outcome::Rejected(rejected) = outcome else { panic!("{}", scene.content("a.rs")) };
    assert_eq!(rejected.code, Code::HashMismatch);
    assert!(rejected.text.contains("replaced the file"), "{}", rejected.text);
    // A few more lines are left.
    let new = format!("{line}\n{}{another}", numbered(4));
    let (scene, _) = after_others("a.rs", &old, &new, edit);
    assert_eq!(scene.content("a.rs"), new.replace(line, "// nothing"));
}

#[test]
fn regression_a_file_of_which_most_is_left_was_not_replaced() {
    // All lines that are left are edited.
    let edit = json!({
        "op": "delete", "path": "a.rs",
        "start_anchor": anchor(1, "line 1"), "end_anchor": anchor(15, "line 15"),
    });
    let changed = |at: u64| if at > 15 { format!("other {at}\n") } else { format!("line {at}\n") };
    let new: String = (1..=20).map(changed).collect();
    let (scene, _) = after_others("a.rs", &numbered(20), &new, edit);
    assert_eq!(scene.content("a.rs"), (16..=20).map(changed).collect::<String>());
    // Of the lines that were shown, few are left; of the file, most are.
    let scene = Scene::new(&[("f", &numbered(100))]);
    scene.read_lines("f", Some(48), Some(6));
    let changed = |at: u64| match at {
        48..=49 | 52..=53 => format!("other {at}\n"),
        at => format!("line {at}\n"),
    };
    scene.write("f", &(1..=100).map(changed).collect::<String>());
    scene.apply(json!([set(50, "line 50", "edited")]));
    assert!(scene.content("f").contains("other 49\nedited\nline 51\n"));
}

#[test]
fn a_small_file_that_another_one_has_replaced_is_not_edited_by_its_one_equal_line() {
    let line = "use std::collections::HashMap;";
    let edit = json!({
        "op": "set_line", "path": "a.rs", "anchor": anchor(1, line), "text": "// nothing",
    });
    let old = format!("{line}\n{}", numbered(4));
    let new = format!("{line}\nanother 1\nanother 2\nanother 3\n");
    let (_, outcome) = after_others("a.rs", &old, &new, edit.clone());
    let Outcome::Rejected(rejected) = outcome else { panic!("edited") };
    assert!(rejected.text.contains("replaced the file"), "{}", rejected.text);
    // One line around the edit is left, or there are hardly any.
    let new = format!("{line}\nanother 1\nline 2\nanother 3\n");
    let (scene, _) = after_others("a.rs", &old, &new, edit.clone());
    assert_eq!(scene.content("a.rs"), new.replace(line, "// nothing"));
    let new = format!("{line}\nanother 1\n");
    let (scene, _) = after_others("a.rs", &format!("{line}\n{}", numbered(3)), &new, edit);
    assert_eq!(scene.content("a.rs"), new.replace(line, "// nothing"));
}

#[test]
fn the_refusal_of_a_file_that_others_renamed_names_it() {
    let scene = Scene::new(&[("f", &numbered(30)), ("g", &numbered(29)), ("h", "other\n")]);
    scene.read("f");
    fs::rename(scene.dir.path().join("f"), scene.dir.path().join("renamed.rs")).unwrap();
    let rejected = scene.refuse(json!([set(10, "line 10", "x")]));
    assert_eq!(rejected.code, Code::FileNotFound);
    assert!(rejected.text.contains("is renamed.rs: if it was renamed"), "{}", rejected.text);
    scene.write("renamed.rs", &numbered(31));
    let rejected = scene.refuse(json!([set(10, "line 10", "x")]));
    assert!(!rejected.text.contains("renamed"), "{}", rejected.text);
}

#[test]
fn a_file_without_enough_letters_is_not_named_as_the_renamed_one() {
    let scene = Scene::new(&[("f", "}\n"), ("other", "}\n")]);
    scene.read("f");
    fs::remove_file(scene.dir.path().join("f")).unwrap();
    let rejected = scene.refuse(json!([set(1, "}", "x")]));
    assert_eq!(rejected.code, Code::FileNotFound);
    assert!(!rejected.text.contains("other"), "{}", rejected.text);
}

#[test]
fn a_malformed_patch_does_not_wait_for_its_turn() {
    let scene = Scene::new(&[("f", "one\n")]);
    let earlier = scene.session.writing();
    for patch in [
        json!({"operations": [{"op": "set_line", "path": "f", "anchor": "x", "text": "y"}]}),
        json!({"operations": {}}),
        json!({"patch": "PUT 1:"}),
    ] {
        let outcome = scene.session.apply(patch.clone()).unwrap();
        assert!(matches!(outcome, Outcome::Rejected(_)), "{patch}");
    }
    drop(earlier);
}

#[test]
fn calls_wait_for_their_turn_without_a_thread() {
    let scene = Scene::new(&[("f", &numbered(3))]);
    let first = scene.session.writing();
    let started = Arc::new(Mutex::new(Vec::new()));
    let begin = |name: &'static str| {
        let started = Arc::clone(&started);
        Box::new(move || started.lock().unwrap().push(name))
    };
    first.when_free(begin("first"));
    let mut turns: Vec<_> = (0..1_000).map(|_| scene.session.writing()).collect();
    turns.iter().for_each(|turn| turn.when_free(begin("write")));
    let readers = [scene.session.reading(), scene.session.reading()];
    readers.iter().for_each(|turn| turn.when_free(begin("read")));
    let last = scene.session.writing();
    last.when_free(begin("last"));
    assert_eq!(*started.lock().unwrap(), ["first"]);
    drop(first);
    assert_eq!(*started.lock().unwrap(), ["first", "write"]);
    // A call that leaves the queue never starts, and no other call waits for it.
    let given_up = turns.remove(500);
    drop(given_up);
    while !turns.is_empty() {
        drop(turns.remove(0));
    }
    let begun = started.lock().unwrap().clone();
    assert_eq!(begun.iter().filter(|name| **name == "write").count(), 999);
    assert_eq!(begun[begun.len() - 2..], ["read", "read"]);
    drop(readers);
    assert_eq!(started.lock().unwrap().last(), Some(&"last"));
}

#[test]
fn empty_files_missing_files_and_no_match_are_reported() {
    let scene = Scene::new(&[("empty", ""), ("f", "a\n")]);
    assert_eq!(scene.read("empty").text, "(empty file)");
    assert!(scene.read("none").text.starts_with("FILE_NOT_FOUND: none: "));
    let search =
        Some(Query { search: "b".into(), regex: false, case_sensitive: false, ..Query::default() });
    let request = ReadRequest { path: "f".into(), search, ..ReadRequest::default() };
    let report = scene.session.read_with(&[request], &Cancel::default());
    assert_eq!(report.unwrap().text, "(no match for b in 1 lines)");
    let insert = json!([{"op": "insert_after", "path": "empty", "anchor": "EOF", "text": "a"}]);
    scene.apply(insert);
    assert_eq!(scene.content("empty"), "a\n");
}

#[test]
fn relative_paths_start_in_the_working_directory_and_the_root_limits_access() {
    let scene = Scene::new(&[("f", "a\n")]);
    let dir = scene.dir.path();
    fs::create_dir(dir.join("sub")).unwrap();
    fs::write(dir.join("sub/g"), "b\n").unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("lib"), "c\n").unwrap();
    let other = Scene::with(&[], |options| {
        options.workspace.root = dir.into();
        options.workspace.cwd = Some(dir.join("sub"));
        options.read_roots = vec![outside.path().into()];
    });
    assert_eq!(facts(&other.read("g").views[0]).line_count, 1);
    assert_eq!(facts(&other.read("../f").views[0]).line_count, 1);
    let lib = outside.path().join("lib").to_str().unwrap().to_owned();
    assert_eq!(other.read(&lib).text, format!("{}|c", anchor(1, "c")));
    let edit = json!([{"op": "set_line", "path": lib, "anchor": anchor(1, "c"), "text": "x"}]);
    assert_eq!(other.refuse(edit).code, Code::OutsideRoot);
    let passwd = other.read("/etc/passwd").views.remove(0);
    assert_eq!(passwd.error().unwrap().code, Code::OutsideRoot);
    other.apply(json!([{"op": "set_line", "path": "g", "anchor": anchor(1, "b"), "text": "B"}]));
    assert_eq!(fs::read_to_string(dir.join("sub/g")).unwrap(), "B\n");
}

#[test]
fn moved_created_and_deleted_files_are_followed() {
    let scene = Scene::new(&[("f", &numbered(5)), ("g", "g\n")]);
    scene.read("f");
    scene.read("g");
    scene.apply(json!([
        {"op": "move_file", "from": "f", "to": "h"},
        {"op": "move_file", "from": "g", "to": "f"},
        {"op": "add_file", "path": "new", "content": "one\ntwo\n"},
    ]));
    scene.apply(json!([
        {"op": "set_line", "path": "h", "anchor": anchor(2, "line 2"), "text": "two"},
        {"op": "set_line", "path": "f", "anchor": anchor(1, "g"), "text": "G"},
        {"op": "set_line", "path": "new", "anchor": anchor(2, "two"), "text": "2"},
    ]));
    assert_eq!((scene.content("f"), scene.content("new")), ("G\n".into(), "one\n2\n".into()));
}

#[test]
fn rows_that_match_by_chance_are_not_remembered() {
    let scene = Scene::new(&[("f", "fn a() {\n  one();\n}\n\nfn b() {\n  two();\n}\n")]);
    let view = scene.read("f").text;
    // A brace is on line 3 again, but it is a different one.
    let other = Scene::new(&[("f", "new();\n{\n}\nfn a() {\n  one();\n}\n")]);
    assert_eq!(other.session.observe(&view, Some(Path::new("f")), &Cancel::default()).unwrap(), 0);
    // Anchors quoted in a sentence are not rows.
    let spoken = format!("{} was found 2 lines further down", anchor(3, "}"));
    assert_eq!(
        other.session.observe(&spoken, Some(Path::new("f")), &Cancel::default()).unwrap(),
        0
    );
}

#[test]
fn a_call_does_not_refer_to_lines_written_by_a_parallel_call() {
    let scene = Scene::new(&[("f", &numbered(60))]);
    scene.read_lines("f", Some(1), Some(40));
    scene.apply(json!([{"op": "insert_before", "path": "f", "anchor": "BOF", "text": "top"}]));
    scene.read_lines("f", Some(42), Some(19));
    let late = scene.session.writing();
    let early = scene.session.writing();
    // Both calls are queued; the first one writes into the range of the second.
    let insert = json!({"operations": [{
        "op": "insert_after", "path": "f", "anchor": anchor(31, "line 31"), "text": ["x", "y"],
    }]});
    let range = json!({"operations": [{
        "op": "replace_range", "path": "f", "text": "z",
        "start_anchor": anchor(20, "line 20"), "end_anchor": anchor(51, "line 50"),
    }]});
    let apply = |turn: Turn, patch: Value| {
        turn.apply(&patch.into(), &PatchOptions::default(), &Cancel::default()).unwrap()
    };
    assert!(matches!(apply(late, insert), Outcome::Applied(_)));
    assert!(matches!(apply(early, range), Outcome::Rejected(_)));
    assert!(scene.content("f").contains("x\ny\n"));
}

#[test]
fn a_text_that_repeats_its_neighbours_is_refused_and_its_lines_count_as_shown() {
    let scene = Scene::new(&[("f", &numbered(30))]);
    scene.read_lines("f", Some(5), Some(1));
    let lines: Vec<String> = numbered(30).lines().map(str::to_owned).collect();
    let edit = json!([{"op": "insert_after", "path": "f", "anchor": anchor(5, &lines[4]),
        "text": ["new", lines[5]]}]);
    let rejected = scene.refuse(edit.clone());
    assert_eq!(rejected.code, Code::RepeatsNeighbours);
    let row = format!("{}|{}", anchor(7, &lines[6]), lines[6]);
    assert!(rejected.text.contains(&row), "{}", rejected.text);
    // Line 7 was never read, but the refusal has shown it.
    scene.apply(json!([set(7, &lines[6], "seven")]));
}

#[test]
fn json_documents_are_read_in_all_roots() {
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("b.json"), "{\"b\": 2}\n").unwrap();
    let path_of = |name: &str| elsewhere.path().join(name).to_str().unwrap().to_owned();
    let roots = [path_of("none"), path_of("")];
    let scene = Scene::with(&[("a.json", "{\"a\": 1}\n")], |options| {
        options.read_roots = roots.map(PathBuf::from).into();
    });
    let read = |path: &str| {
        let request = JsonRequest::new(path);
        let view = scene.session.read_json(&request, &Cancel::default());
        view.map(|view| view.text).map_err(|error| error.code)
    };
    assert_eq!(read("a.json").unwrap(), "// $:4d\n// $.a:b2\n{\"a\": 1}");
    assert!(read(&path_of("b.json")).unwrap().contains("// $.b:"));
    assert_eq!(read(&path_of("c.json")), Err(Code::FileNotFound));
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().join("d.json").to_str().unwrap().to_owned();
    assert_eq!(read(&outside), Err(Code::OutsideRoot));
}

#[test]
fn regression_read_roots_are_searched_observed_and_forgotten() {
    let other = tempfile::tempdir().unwrap();
    let file = other.path().join("g");
    fs::write(&file, "there\n").unwrap();
    let (file, root) = (file.to_str().unwrap(), other.path().to_str().unwrap().to_owned());
    let scene = Scene::with(&[("f", "there, too\n")], |options| {
        options.read_roots = vec!["/missing directory".into(), PathBuf::from(&root)];
    });
    let search =
        Query { search: "there".into(), regex: false, case_sensitive: true, ..Query::default() };
    let mut query = SearchQuery::new(search);
    query.paths = vec![".".into(), root.into(), "/etc".into()];
    let found = scene.session.search_with(&query, &Cancel::default()).unwrap();
    assert_eq!((found.match_count, found.files.len()), (2, 2), "{}", found.text);
    let errors: Vec<_> = found.errors.iter().map(|error| error.path.as_deref()).collect();
    assert_eq!(errors, [Some("/etc")]);
    scene.session.forget(Some(Path::new(file))).unwrap();
    let rows = scene.read(file).text;
    assert_eq!(scene.session.observe(&rows, Some(Path::new(file)), &Cancel::default()).unwrap(), 1);
}

#[test]
fn regression_a_waiting_call_does_not_restore_forgotten_lines() {
    let scene = Scene::new(&[("f", &numbered(5)), ("g", "one line\n")]);
    let waiting = scene.session.reading();
    scene.session.forget(Some(Path::new("f"))).unwrap();
    waiting.read(&requests(&["f", "g"]), &Cancel::default()).unwrap();
    assert_eq!(scene.refuse(json!([set(2, "line 2", "x")])).code, Code::NotShown);
    let g = json!({"op": "set_line", "path": "g", "anchor": anchor(1, "one line"), "text": "x"});
    scene.apply(json!([g]));
    // The refusal has shown it since then.
    scene.apply(json!([set(2, "line 2", "x")]));
}

#[test]
fn regression_the_lines_of_a_file_created_by_the_session_are_known() {
    let scene = Scene::new(&[]);
    scene.apply(json!([{"op": "add_file", "path": "f", "content": numbered(50)}]));
    scene.read_lines("f", Some(1), Some(2));
    scene.read_lines("f", Some(46), Some(2));
    scene.apply(json!([{
        "op": "delete", "path": "f",
        "start_anchor": anchor(2, "line 2"), "end_anchor": anchor(46, "line 46"),
    }]));
    assert_eq!(scene.content("f").lines().count(), 5);
}

#[test]
fn regression_two_refused_calls_do_not_help_each_other() {
    let scene = Scene::new(&[("f", &numbered(30))]);
    scene.read_lines("f", Some(1), Some(5));
    scene.read_lines("f", Some(20), Some(5));
    let range = || {
        json!({"operations": [{
            "op": "replace_range", "path": "f", "text": "z",
            "start_anchor": anchor(3, "line 3"), "end_anchor": anchor(22, "line 22"),
        }]})
    };
    let turns = [scene.session.writing(), scene.session.writing()];
    for turn in turns {
        let patch = range().into();
        let outcome = turn.apply(&patch, &PatchOptions::default(), &Cancel::default()).unwrap();
        assert!(matches!(outcome, Outcome::Rejected(_)));
    }
    // The model has now read the lines for which it was refused.
    scene.apply(json!(range()["operations"]));
    assert_eq!(scene.content("f").lines().count(), 11);
}

#[test]
fn regression_comparing_large_texts_stops_when_cancelled() {
    let lines = |others: &str| -> String {
        (0..200_000)
            .map(|n| format!("line {n}{}\n", if n % 1000 == 0 { others } else { "" }))
            .collect()
    };
    let scene = Scene::new(&[("f", &lines(""))]);
    scene.read_lines("f", Some(1), Some(20));
    scene.write("f", &lines(" of others"));
    let patch = json!({"operations": [set(5, "line 4", "x")]}).into();
    // Cancelled at its first check, its second …, until the call needs no further check.
    for nth in 1.. {
        let dry_run = PatchOptions { dry_run: true, ..PatchOptions::default() };
        match scene.session.apply_with(&patch, &dry_run, &Cancel::at_check(nth)) {
            Err(error) => assert_eq!(error.code, Code::Aborted),
            Ok(Outcome::Applied(_)) => {
                // Each text has four pieces, and there are three diffs.
                assert!(nth > 12, "{nth}");
                return;
            }
            Ok(outcome) => panic!("{outcome:?}"),
        }
    }
}

#[test]
fn regression_a_refused_long_range_shows_the_changed_lines() {
    let scene = Scene::new(&[("f", &numbered(900))]);
    scene.read("f");
    scene.write("f", &numbered(900).replace("line 500\n", "other\n"));
    let range = json!({
        "op": "replace_range", "path": "f", "text": "z",
        "start_anchor": anchor(100, "line 100"), "end_anchor": anchor(850, "line 850"),
    });
    let rejected = scene.refuse(json!([range]));
    assert_eq!(rejected.code, Code::HashMismatch);
    for row in ["|other", "|line 500", "(of 751 lines)"] {
        assert!(rejected.text.contains(row), "{row}: {}", rejected.text);
    }
}

#[test]
fn a_file_emptied_by_others_is_reported_as_empty() {
    let scene = Scene::new(&[("f", &numbered(3))]);
    scene.read("f");
    scene.write("f", "");
    let rejected = scene.refuse(json!([set(2, "line 2", "x")]));
    assert!(rejected.text.contains("The file is empty now."), "{}", rejected.text);
    assert!(rejected.text.contains("|line 2"), "{}", rejected.text);
}

#[test]
fn regression_a_session_with_a_missing_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (missing, file) = (dir.path().join("missing"), dir.path().join("file"));
    fs::write(&file, "a\n").unwrap();
    let refusal = |cwd: Option<&PathBuf>, root: Root| {
        let workspace = WorkspaceOptions { cwd: cwd.cloned(), root, ..WorkspaceOptions::default() };
        let Err(error) = Session::new(SessionOptions { workspace, ..SessionOptions::default() })
        else {
            panic!("a session in {cwd:?}")
        };
        assert_eq!(error.code, Code::InvalidArgument);
        error.message
    };
    let start = format!("cwd {} cannot be the directory of relative", missing.display());
    let root = format!("root {}: cannot open", missing.display());
    assert!(refusal(Some(&missing), Root::Cwd).starts_with(&start));
    assert!(refusal(Some(&missing), Root::Unbounded).starts_with(&start));
    assert!(refusal(None, Root::At(missing)).starts_with(&root));
    assert!(refusal(Some(&file), Root::Unbounded).starts_with("cwd "));
}

#[test]
fn regression_a_session_in_a_directory_has_the_dialect_of_sessions() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), "one\n").unwrap();
    let session = Session::in_dir(dir.path()).unwrap();
    assert_eq!(session.read("f").unwrap().text, "1ed|one");
    let options = SessionOptions::in_dir(dir.path());
    assert_eq!(options.workspace.dialect.name, SessionOptions::default().workspace.dialect.name);
}

#[test]
fn sessions_are_confined_by_default() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = outside.path().join("f");
    fs::write(&path, "a\n").unwrap();
    let code = |root: Root| {
        let cwd = Some(dir.path().into());
        let workspace = WorkspaceOptions { cwd, root, ..WorkspaceOptions::default() };
        let session = Session::new(SessionOptions { workspace, ..SessionOptions::default() });
        let request = ReadRequest { path: path.to_str().unwrap().into(), ..ReadRequest::default() };
        let report = session.unwrap().read_with(&[request], &Cancel::default()).unwrap();
        report.views[0].error().map(|error| error.code)
    };
    assert_eq!(code(Root::default()), Some(Code::OutsideRoot));
    assert_eq!(code(Root::Unbounded), None);
}

#[test]
fn regression_observing_without_a_readable_root_fails() {
    let gone = tempfile::tempdir().unwrap();
    let scene = Scene::with(&[], |options| options.workspace.root = gone.path().into());
    gone.close().unwrap();
    let error =
        scene.session.observe("1:aa|a", Some(Path::new("f")), &Cancel::default()).unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
}

#[test]
fn regression_matches_in_a_file_with_an_unusual_name_count_as_shown() {
    // In the first name, the header escapes a control character, which results in the second name.
    let names = ["new\u{85}line", r"new\u{85}line", "--- x ---", "x --- 1 edit"];
    let files: Vec<_> = names.iter().filter(|name| is_name(name)).collect();
    let scene = Scene::new(&[]);
    for (at, name) in files.iter().enumerate() {
        scene.write(name, &format!("{}needle {at}\n", numbered(20)));
    }
    let query = SearchQuery::new(literal("needle"));
    let found = scene.session.search_with(&query, &Cancel::default()).unwrap();
    assert_eq!(found.files.len(), files.len(), "{}", found.text);
    for (at, name) in files.iter().enumerate() {
        let needle = anchor(21, &format!("needle {at}"));
        scene.apply(json!([{"op": "set_line", "path": name, "anchor": needle, "text": "found"}]));
        assert_eq!(scene.content(name), numbered(20) + "found\n");
        // A line without a match was not shown.
        let anchor = anchor(1, "line 1");
        let rejected = scene.refuse(json!([{"op": "delete", "path": name, "anchor": anchor}]));
        assert_eq!(rejected.code, Code::NotShown, "{name}");
    }
}

/// Whether the system allows this file name: on Windows a backslash is a separator.
fn is_name(name: &str) -> bool {
    !cfg!(windows) || !name.contains('\\')
}

#[test]
fn regression_a_path_without_remaining_room_is_not_reported_as_outside_the_root() {
    let [outside, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for dir in [&outside, &elsewhere] {
        fs::write(dir.path().join("g"), numbered(30)).unwrap();
    }
    let [outside, elsewhere] =
        [&outside, &elsewhere].map(|dir| dir.path().to_str().unwrap().to_owned());
    let scene = Scene::with(&[("f", &numbered(30))], |options| {
        options.read_roots = vec![PathBuf::from(&outside)];
        options.limits.max_matches = 20;
    });
    let mut query = SearchQuery::new(literal("line"));
    query.paths = vec![".".into(), outside.into(), elsewhere.clone().into()];
    let found = scene.session.search_with(&query, &Cancel::default()).unwrap();
    assert!(found.truncated);
    let paths: Vec<_> = found.errors.iter().map(|error| error.path.as_deref()).collect();
    assert_eq!(paths, [Some(elsewhere.as_str())], "{:?}", found.errors);
    // The limit for each file leaves room for the others.
    query.max_matches_per_file = Some(5);
    let found = scene.session.search_with(&query, &Cancel::default()).unwrap();
    assert_eq!((found.files.len(), found.match_count, found.truncated), (2, 10, true));
}

#[test]
fn regression_a_search_in_several_directories_keeps_its_limit_to_the_byte() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("g"), "needle\n").unwrap();
    let root = outside.path().to_str().unwrap().to_owned();
    let scene = Scene::with(&[("f", "needle\n")], |options| {
        options.read_roots = vec![PathBuf::from(&root)];
    });
    let mut query = SearchQuery::new(literal("needle"));
    query.paths = vec![".".into(), root.into()];
    let search =
        |query: &SearchQuery| scene.session.search_with(query, &Cancel::default()).unwrap();
    let whole = search(&query);
    assert_eq!((whole.match_count, whole.truncated), (2, false));
    query.max_bytes = Some(whole.text.len());
    assert_eq!(search(&query).text, whole.text);
    query.max_bytes = Some(whole.text.len() - 1);
    let cut = search(&query);
    assert!(cut.truncated && cut.text.len() < whole.text.len(), "{}", cut.text);
}

#[test]
fn regression_a_limit_shorter_than_a_header_lets_a_read_continue() {
    let name = "a long name of a file";
    let scene = Scene::with(&[(name, "one\ntwo\n"), ("g", "three\n")], |options| {
        options.limits.max_bytes = 10;
    });
    let mut left: Vec<ReadRequest> =
        [name, "g"].map(|path| ReadRequest { path: path.into(), ..ReadRequest::default() }).into();
    let mut rows = Vec::new();
    for _ in 0..3 {
        let report = scene.session.read_with(&left, &Cancel::default()).unwrap();
        let shown = report.views.into_iter().filter(|view| !view.text.is_empty());
        rows.extend(shown.map(|view| (view.path, view.text)));
        let request = |on: ReadOn| ReadRequest {
            path: on.path.into(),
            start_line: Some(on.start_line),
            ..ReadRequest::default()
        };
        left = report.next.into_iter().map(request).collect();
    }
    assert_eq!(left.len(), 0, "{rows:?}");
    let row = |path: &str, number, text: &str| {
        (path.to_owned(), format!("{}|{text}", anchor(number, text)))
    };
    assert_eq!(rows, [row(name, 1, "one"), row(name, 2, "two"), row("g", 1, "three")]);
}

#[test]
fn regression_a_range_takes_only_lines_that_the_last_read_showed() {
    let text = "one\ntwo\nx\nx\nfive\nsix\n";
    let scene = Scene::new(&[("f", text)]);
    scene.read("f");
    let now = format!("top\n{text}");
    scene.write("f", &now);
    scene.read_lines("f", Some(4), Some(1));
    let range = json!({
        "op": "replace_range", "path": "f", "text": "new",
        "start_anchor": anchor(4, "x"), "end_anchor": anchor(5, "five"),
    });
    assert_eq!(scene.refuse(json!([range])).code, Code::AmbiguousAnchor);
    assert_eq!(scene.content("f"), now);
}

#[test]
fn regression_a_refusal_reports_changes_by_others_after_an_own_edit_and_keeps_trailing_whitespace()
{
    let scene = Scene::new(&[("f", "one\ntwo\nthree\n")]);
    scene.read("f");
    scene.apply(json!([set(2, "two", "2")]));
    let alone = scene.refuse(json!([set(2, "two", "zwei")]));
    assert!(alone.text.contains("since you read them: use the lines above"), "{}", alone.text);
    scene.write("f", "zero\none\n2 \t\nthree \n");
    let rejected = scene.refuse(json!([set(2, "two", "zwei")]));
    let expected = "Your own edit changed these lines since you read them, and another process";
    assert!(rejected.text.contains(expected), "{}", rejected.text);
    assert!(rejected.text.contains("|2 \t\n"), "{:?}", rejected.text);
}

/// The note in an answer to a repeated call.
fn stop_note(outcome: &Outcome) -> Option<&str> {
    let text = match outcome {
        Outcome::Applied(applied) => &applied.text,
        Outcome::Rejected(rejected) => &rejected.text,
    };
    text.lines().find(|row| row.starts_with("You sent this call "))
}

#[test]
fn regression_the_third_equal_call_without_effect_is_answered_with_a_stop_note() {
    let scene = Scene::new(&[("f", "one\ntwo\n"), ("g", "x\n")]);
    scene.read("f");
    let same = || json!([set(2, "two", "two")]);
    let times = |count: usize| (0..count).map(|_| scene.try_apply(same())).collect::<Vec<_>>();
    let answers = times(4);
    let notes: Vec<_> = answers.iter().map(stop_note).collect();
    let note = |count| {
        format!(
            "You sent this call {count} times in a row, and it changes nothing: f already has this text in line 2. Do not send it again: continue, or read f if you expected different text."
        )
    };
    assert_eq!(notes, [None, None, Some(&*note(3)), Some(&*note(4))]);
    // Any other call resets the count: a read, another edit without effect, an edit with one.
    let other = || json!([set(1, "one", "one")]);
    let between: [&dyn Fn(); 5] = [
        &|| drop(scene.read("g")),
        &|| drop(scene.session.search(literal("two")).unwrap()),
        &|| drop(scene.try_apply(other())),
        &|| drop(scene.try_apply(json!([set(1, "one", "uno")]))),
        &|| drop(scene.try_apply(json!([set(1, "uno", "one")]))),
    ];
    for between in between {
        between();
        assert_eq!(times(2).iter().filter_map(stop_note).count(), 0);
    }
    // Of several operations, some are listed.
    let both = || json!([set(1, "one", "one"), set(2, "two", "two")]);
    let [_, _, last] = [both(), both(), both()].map(|patch| scene.try_apply(patch));
    let places = "f already has this text in lines 1 and 2.";
    assert!(stop_note(&last).unwrap().contains(places), "{:?}", stop_note(&last));
}

#[test]
fn regression_the_third_equal_refused_call_is_answered_with_a_stop_note() {
    let scene = Scene::new(&[("f", "one\ntwo\n")]);
    scene.read("f");
    let stale = || json!([set(2, "other", "new")]);
    let answers: Vec<_> = (0..3).map(|_| scene.try_apply(stale())).collect();
    let notes: Vec<_> = answers.iter().map(stop_note).collect();
    let note = "You sent this call 3 times in a row, and each was refused with HASH_MISMATCH. Do not send it again: change it as described here.";
    assert_eq!(notes, [None, None, Some(note)]);
    // A call that was refused until the lines were shown is applied.
    let scene = Scene::new(&[("f", "one\ntwo\n")]);
    scene.refuse(json!([set(2, "two", "new")]));
    scene.apply(json!([set(2, "two", "new")]));
}

#[test]
fn changes_by_others_are_reported_once_by_the_next_call() {
    let scene = Scene::new(&[("a", "one\ntwo\n"), ("b", "one\n"), ("c", "one\n")]);
    let changed = || scene.session.changed_files();
    let nothing: [&str; 0] = [];
    scene.read("a");
    scene.read("b");
    assert_eq!(changed(), nothing);
    // A change by another process, then one by the session.
    scene.write("a", "zero\none\ntwo\n");
    scene.apply(json!([set(1, "one", "ONE and more")].map(|mut operation| {
        operation["path"] = json!("b");
        operation
    })));
    assert_eq!(changed(), ["a"]);
    scene.read("c");
    assert_eq!(changed(), nothing, "reported once, without the session's own edits");
    // A removed file counts as changed; a file that is shown again is watched again.
    scene.read("a");
    fs::remove_file(scene.dir.path().join("a")).unwrap();
    scene.write("b", "two\n");
    scene.read("c");
    assert_eq!(changed(), ["b", "a"]);
    scene.read("b");
    scene.write("b", "three\n");
    scene.session.forget(Some(Path::new("b"))).unwrap();
    scene.read("c");
    assert_eq!(changed(), nothing);
}

#[test]
fn the_most_recently_shown_files_are_watched() {
    let names: Vec<_> = (0..300).map(|number| format!("f{number}")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "one\n")).collect();
    let scene = Scene::new(&files);
    for name in &names {
        scene.read(name);
        scene.write(name, "one\ntwo\n");
    }
    // Each file was reported, or was no longer watched at the time of the check.
    scene.read("f0");
    assert_eq!(scene.session.changed_files().len(), 299, "f0 is shown as it is");
    for name in &names {
        scene.read(name);
    }
    for name in &names {
        scene.write(name, "three\n");
    }
    scene.read("f299");
    assert_eq!(scene.session.changed_files().len(), 255);
}

/// A row as the session shows it.
fn row(number: u64, text: &str) -> String {
    format!("{}|{text}", anchor(number, text))
}

#[test]
fn regression_shown_rows_are_stripped_from_any_text_with_lines_that_are_not_rows() {
    let old = "fn a() {\n  one();\n\n  two();\n}\nlast\n";
    let copied = format!("{}\n  new();\n{}", row(2, "  one();"), row(4, "  two();"));
    let lines = "  one();\n  new();\n  two();";
    let edited = "fn a() {\n  one();\n  new();\n  two();\n}\nlast\n";
    let range = json!({
        "op": "replace_range", "path": "f", "start_anchor": anchor(2, "  one();"),
        "end_anchor": anchor(4, "  two();"), "text": copied,
    });
    let text = json!({
        "op": "replace_text", "path": "f", "old_text": "  one();\n\n  two();", "new_text": copied,
    });
    let add = json!({"op": "add_file", "path": "g", "content": format!("{copied}\r\n")});
    for (operation, path, expected) in
        [(range, "f", edited), (text, "f", edited), (add, "g", &format!("{lines}\r\n"))]
    {
        let scene = Scene::new(&[("f", old)]);
        scene.read("f");
        let applied = scene.apply(json!([operation]));
        assert_eq!(scene.content(path), expected);
        assert_eq!(applied.repairs.len(), 1);
        let what = "in front of 2 of your lines was removed (strip-anchors)";
        assert!(applied.text.contains(what), "{}", applied.text);
        // The anchors are meant.
        let scene = Scene::new(&[("f", old)]);
        scene.read("f");
        let mut verbatim = operation;
        verbatim["verbatim"] = true.into();
        scene.apply(json!([verbatim]));
        assert!(scene.content(path).contains(&copied));
    }
}

#[test]
fn regression_a_row_of_another_file_is_stripped() {
    let scene = Scene::new(&[("f", "fn a() {\n  one();\n}\n"), ("g", "fn b() {\n}\n")]);
    scene.read("f");
    scene.read("g");
    let text = format!("  zero();\n{}", row(2, "  one();"));
    scene.apply(json!([{
        "op": "insert_after", "path": "g", "anchor": anchor(1, "fn b() {"), "text": text,
    }]));
    assert_eq!(scene.content("g"), "fn b() {\n  zero();\n  one();\n}\n");
}

#[test]
fn rows_are_kept_where_the_file_has_such_lines_or_they_were_not_shown() {
    let example = row(2, "  one();");
    let doc = format!("# Rows\n{example}\nend\n");
    let scene = Scene::new(&[("f", "fn a() {\n  one();\n}\n"), ("doc", &doc)]);
    scene.read("f");
    scene.read("doc");
    let replace = |path: &str, old: &str, new: &str| json!({"op": "replace_text", "path": path, "old_text": old, "new_text": new});
    scene.apply(json!([replace("doc", "end", &format!("{example}\nend"))]));
    assert_eq!(scene.content("doc"), format!("# Rows\n{example}\n{example}\nend\n"));
    // Never shown with this number.
    let others = format!("{}\nx\ny", row(1, "  one();"));
    scene.apply(json!([replace("f", "  one();", &others)]));
    assert_eq!(scene.content("f"), format!("fn a() {{\n{others}\n}}\n"));
    // A time of day is not an anchor.
    let times = "10:30|standup\n11:30|review\n12:30|lunch\n";
    scene.apply(json!([{"op": "add_file", "path": "times", "content": times}]));
    assert_eq!(scene.content("times"), times);
}

#[test]
fn regression_rows_with_invented_hashes_are_refused() {
    let old = "fn a() {\n  one();\n  two();\n}\n";
    let wrong = |number: u64, text: &str| {
        let hash = hash_line(Dialect::default_dialect(), number, text);
        format!("{number}:{:02x}|{text}", (hash ^ 0xa0) | 0x0a)
    };
    let text = format!("{}\n{}", wrong(2, "  three();"), wrong(3, "  four();"));
    let range = json!({
        "op": "replace_range", "path": "f", "start_anchor": anchor(2, "  one();"),
        "end_anchor": anchor(3, "  two();"), "text": text,
    });
    let line = json!({
        "op": "set_line", "path": "f", "anchor": anchor(2, "  one();"),
        "text": wrong(2, "  three();"),
    });
    let replace =
        json!({"op": "replace_text", "path": "f", "old_text": "  one();", "new_text": text});
    let add = json!({"op": "add_file", "path": "g", "content": format!("{text}\n")});
    for operation in [range, line, replace, add] {
        let scene = Scene::new(&[("f", old)]);
        scene.read("f");
        let rejected = scene.refuse(json!([operation]));
        assert_eq!(rejected.code, Code::InvalidOperation);
        assert!(rejected.text.contains("send the text without anchors"), "{}", rejected.text);
        let mut verbatim = operation;
        verbatim["verbatim"] = true.into();
        scene.apply(json!([verbatim]));
    }
}

#[test]
fn regression_a_warning_about_others_needs_their_changes() {
    let old = "a {\n        one(1);\n    two(2);\n    three(3);\n}\n";
    let edit = |number: u64, old: &str, new: &str| json!({"op": "set_line", "path": "f", "anchor": anchor(number, old), "text": new});
    let scene = Scene::new(&[("f", old)]);
    scene.read("f");
    let applied = scene.apply(json!([edit(2, "        one(1);", "    one(0);")]));
    let expected = "Operation 0: line 2 was indented by 8 spaces, its new text is indented by 4 spaces: if that is not intended, adjust your text.";
    assert!(applied.text.contains(expected), "{}", applied.text);
    // A patch that shifts several texts alike means to.
    let applied = scene.apply(json!([
        edit(3, "    two(2);", "  two(0);"),
        edit(4, "    three(3);", "  three(0);"),
    ]));
    assert_eq!(applied.warnings, []);
}

#[test]
fn regression_line_ends_can_be_changed() {
    let replace = |old: &str, new: &str, verbatim: bool| {
        json!([{
            "op": "replace_text", "path": "f", "old_text": old, "new_text": new, "all": true,
            "verbatim": verbatim,
        }])
    };
    let (crlf, lf, mixed, cr) = ("a\r\nb\r\n", "a\nb\n", "a\r\nb\n", "a\rb\r");
    for (before, old, new, after) in [
        (crlf, "\r\n", "\n", lf),
        (mixed, "\r\n", "\n", lf),
        (lf, "\n", "\r\n", crlf),
        (mixed, "\n", "\r\n", crlf),
        (cr, "\r", "\n", lf),
    ] {
        let scene = Scene::new(&[("f", before)]);
        scene.read("f");
        scene.apply(replace(old, new, true));
        assert_eq!(scene.content("f"), after, "{before:?}");
        // The lines are still known.
        scene.apply(json!([set(2, "b", "c")]));
        assert_eq!(scene.content("f"), after.replace('b', "c"));
    }
    // Other edits keep line ends, and say how to change them.
    let how =
        "Edits keep line ends. To change those of a file, use replace_text with all and verbatim";
    let scene = Scene::new(&[("f", crlf)]);
    scene.read("f");
    for operations in [replace("\r\n", "\n", false), json!([set(1, "a", "a\n")])] {
        let applied = scene.apply(operations);
        assert!(applied.text.contains(how), "{}", applied.text);
    }
    assert_eq!(scene.content("f"), crlf);
}
