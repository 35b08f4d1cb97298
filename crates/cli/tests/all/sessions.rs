//! `--session`: processes that share the memory of what was shown.

use std::fs;
use std::process::Stdio;

use crate::support::{Answer, Project, answer, printed};
use serde_json::{Value, json};

/// Two functions with the same last line: the hash of a `}` does not identify one.
const TWO: &str = "fn one() {\n    first();\n}\nfn two() {\n    second();\n}\n";

fn numbers(last: u32) -> String {
    (1..=last).map(|number| format!("line {number}\n")).collect()
}

/// The rest of the anchor in the output of `read` or `search`, after its number.
fn anchor(rows: &str, text: &str) -> String {
    let row = rows.lines().find(|row| row.ends_with(&format!("|{text}")));
    row.unwrap_or_else(|| panic!("{text:?} in {rows}")).split('|').next().unwrap().to_owned()
}

fn patch(edits: Value) -> String {
    json!({"path": "a", "edits": edits}).to_string()
}

fn set_line(anchor: &str, text: &str) -> String {
    patch(json!([{"set_line": {"anchor": anchor, "new_text": text}}]))
}

fn replace_lines(first: &str, last: &str, text: &str) -> String {
    patch(json!([{"replace_lines": {"start_anchor": first, "end_anchor": last, "new_text": text}}]))
}

#[test]
fn a_line_that_was_shown_to_one_process_is_found_by_another() {
    let before = format!("{TWO}// end\n");
    let project = Project::new(&[("a", &before)]);
    let shown = project.run(&["read", "a", "--session", "s"]).stdout;
    // The line number now has the end of another function.
    let changed = format!("fn zero() {{\n}}\n{}", before.replacen("first", "fi(\n);\nrst", 1));
    project.write("a", changed.as_bytes());
    let end = anchor(&shown, "// end");
    let edit = set_line(&end, "// the end");
    assert_eq!(project.run_with(&["apply", "--session", "s"], &edit).code, Some(0));
    assert_eq!(project.content("a"), changed.replace("// end", "// the end"));
}

#[test]
fn a_line_changed_by_another_process_is_refused_with_its_old_text() {
    let project = Project::new(&[("a", TWO)]);
    let shown = project.run(&["read", "a", "--session", "s"]).stdout;
    // The line number has a `}` again, but of another function.
    let changed = "fn zero() {\n\n}\nfn two() {\n    second();\n}\n";
    project.write("a", changed.as_bytes());
    let edit = replace_lines(&anchor(&shown, "    first();"), "3or", "    last();\n}");
    let refused = project.run_with(&["apply", "--session", "s"], &edit);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    for part in ["Another process changed these lines", "You had read:", "|    first();"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert_eq!(project.content("a"), changed);
    // As data, on standard output.
    let refused = project.run_with(&["apply", "--session", "s", "--json"], &edit);
    let answer: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!((refused.code, &answer["code"]), (Some(1), &"HASH_MISMATCH".into()));
}

#[test]
fn the_last_patches_of_a_session_are_undone() {
    let project = Project::new(&[("a", "one\ntwo\n")]);
    let run = |arguments: &[&str]| project.run(&[arguments, &["--session", "s"]].concat());
    for (line, text) in [("one", "ONE"), ("two", "TWO")] {
        let edit = set_line(&anchor(&run(&["read", "a"]).stdout, line), text);
        assert_eq!(project.run_with(&["apply", "--session", "s"], &edit).code, Some(0));
    }
    let listed = run(&["undo", "--list"]).stdout;
    let is_entry = |row: &str| row.starts_with("20") && row.ends_with("Z  a");
    assert!(listed.lines().count() == 2 && listed.lines().all(is_entry), "{listed}");
    assert!(run(&["undo", "--dry-run"]).stdout.contains("-TWO\n+two\n"));
    assert_eq!(run(&["undo"]).stdout, "undone: a restored\n");
    assert_eq!(project.content("a"), "ONE\ntwo\n");
    let done = run(&["undo", "--turns", "5", "--json"]).stdout;
    let done: Value = serde_json::from_str(&done).unwrap();
    assert_eq!((done.as_array().unwrap().len(), &done[0]["status"]), (1, &"applied".into()));
    assert_eq!(project.content("a"), "one\ntwo\n");
    assert_eq!(run(&["undo"]).stdout, "nothing to undo\n");
    assert_eq!(run(&["undo", "--list"]).stdout, "nothing to undo\n");
    let without = project.run(&["undo"]);
    assert_eq!(without.code, Some(2));
    assert!(without.stderr.contains("undo needs a session: name it by --session"));
}

#[test]
fn an_undo_that_meets_changes_by_others_is_refused() {
    let project = Project::new(&[("a", "one\ntwo\n")]);
    let shown = project.run(&["read", "a", "--session", "s"]).stdout;
    let edit = set_line(&anchor(&shown, "two"), "TWO");
    assert_eq!(project.run_with(&["apply", "--session", "s"], &edit).code, Some(0));
    project.write("a", b"one\n2\n");
    let refused = project.run(&["undo", "--session", "s"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("|2\n"), "{}", refused.stderr);
    assert_eq!(project.content("a"), "one\n2\n");
}

#[test]
fn lines_that_were_never_shown_are_refused_once() {
    let project = Project::new(&[("a", &numbers(12))]);
    let hashes = project.run(&["hash", "a", "--dialect", "lean"]).stdout;
    let ninth = hashes.lines().nth(8).unwrap();
    project.run(&["read", "a", "--lines", "2", "--session", "s"]);
    let edit = set_line(ninth, "nine");
    let refused = project.run_with(&["apply", "--session", "s"], &edit);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    assert!(refused.stderr.contains("Line 9 was never shown to you."), "{}", refused.stderr);
    assert!(refused.stderr.contains("9ov|line 9"), "{}", refused.stderr);
    assert_eq!(project.content("a"), numbers(12));
    // The refusal has shown the line.
    assert_eq!(project.run_with(&["apply", "--session", "s"], &edit), printed(""));
    assert_eq!(project.content("a"), numbers(12).replace("line 9\n", "nine\n"));
    // Other sessions have their own memory, and without a session the hash is enough.
    assert_eq!(project.run_with(&["apply", "--session", "t"], &set_line("1ac", "x")).code, Some(1));
    assert_eq!(project.run_with(&["apply"], &set_line("1:02", "one")), printed(""));
}

#[test]
fn a_range_with_lines_that_were_not_shown_is_refused() {
    let project = Project::new(&[("a", &numbers(12))]);
    let found = project.run(&["search", "line [37]$", "--regex", "a", "--session", "s"]).stdout;
    let edit = replace_lines(&anchor(&found, "line 3"), &anchor(&found, "line 7"), "all");
    let refused = project.run_with(&["apply", "--session", "s"], &edit);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("Lines 4-6 were never shown to you."), "{}", refused.stderr);
    assert_eq!(project.content("a"), numbers(12));
}

#[test]
fn the_environment_names_the_session_and_an_empty_name_disables_it() {
    let project = Project::new(&[("a", &numbers(3))]);
    let run = |args: &[&str]| {
        let mut command = project.command(args);
        command.env("HASHLINE_SESSION", "s").stdin(fs::File::open(project.path("patch")).unwrap());
        answer(command.output().unwrap())
    };
    project.write("patch", set_line("2hv", "two").as_bytes());
    assert_eq!(run(&["apply"]).code, Some(1));
    assert_eq!(run(&["apply", "--session", "t"]).code, Some(1));
    assert_eq!(run(&["apply", "--session", "", "--dialect", "lean"]), printed(""));
    assert_eq!(project.content("a"), "line 1\ntwo\nline 3\n");
    let long = "x".repeat(201);
    for id in ["a\nb", long.as_str()] {
        let refused = project.run(&["read", "a", "--session", id]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
        assert!(refused.stderr.starts_with("hashline: the id of a session is "));
    }
}

#[test]
fn a_session_does_not_change_the_output() {
    let long = format!("{}{}\n{}", numbers(500), "é".repeat(20_000), numbers(2_500));
    let document = "{\n  // kept\n  \"a\": [1.0, 2]\n}\n";
    let project = Project::new(&[("a", &long), ("b", "line 3"), ("e", ""), ("d.json", document)]);
    project.write("binary", b"a\0b");
    for command in [
        "read a",
        "read a b e - missing binary",
        "read a --json",
        "read a missing --json",
        "read a --start-line 498 --lines 5",
        "read a --start-line 501 --max-bytes 100",
        "read a --start-line 9000",
        "read a --search LINE -C 1",
        "read a --search 4 --max-matches 3 --start-line 20",
        "search line -C 1",
        "search line --max-matches 5000 --json",
        "search line - b",
        "search ( --regex",
        "json-read d.json",
        "json-read d.json --lines 2",
        "json-read b",
    ] {
        let args: Vec<&str> = command.split(' ').collect();
        let plain = project.run_with(&[&args[..], &["--dialect", "lean"]].concat(), "line 1\n");
        let kept = project.run_with(&[&args[..], &["--session", "s"]].concat(), "line 1\n");
        assert_eq!(kept, plain, "{command}");
    }
}

/// A session prints the full path, because other commands share it.
#[test]
fn a_session_in_a_missing_directory_is_an_error() {
    let project = Project::new(&[("a", "one\n")]);
    let missing = project.path("missing");
    let answer = project.run(&["--root", "missing", "read", "a", "--session", "s"]);
    let said = format!("root {}: cannot open this directory", missing.display());
    assert!(answer.code == Some(2) && answer.stderr.contains(&said), "{answer:?}");
}

#[test]
fn edits_by_path_update_the_session() {
    let project = Project::new(&[("a", "{\n  \"x\": [1, 2],\n  \"y\": {},\n  \"z\": {}\n}\n")]);
    let session = ["--session", "s"];
    let shown = project.run(&["read", "a", "--session", "s"]).stdout;
    let values = project.run(&["json-read", "a", "--session", "s"]).stdout;
    let list = values.lines().find_map(|row| row.trim().strip_prefix("// $.x:")).unwrap();
    let edit = patch(json!([{"set_path": {"anchor": format!("$.x:{list}"), "value": {"a": {}}}}]));
    assert_eq!(project.run_with(&[&["json-apply"], &session[..]].concat(), &edit), printed(""));
    let edit = set_line(&anchor(&shown, "  \"z\": {}"), "  \"z\": 1");
    assert_eq!(project.run_with(&[&["apply"], &session[..]].concat(), &edit), printed(""));
    let now: Value = serde_json::from_str(&project.content("a")).unwrap();
    assert_eq!(now, json!({"x": {"a": {}}, "y": {}, "z": 1}));
}

#[test]
fn a_silent_apply_shows_no_lines() {
    for (is_silent, code) in [(true, Some(1)), (false, Some(0))] {
        let project = Project::new(&[("a", &numbers(9))]);
        let shown = project.run(&["read", "a", "--search", "line", "--session", "s"]);
        assert_eq!(shown.code, Some(0));
        // Another process inserts a line, and this session edits a line two lines above.
        let changed = numbers(9).replace("line 6\n", "line 6\nnew\n");
        project.write("a", changed.as_bytes());
        let edit = set_line(&anchor(&shown.stdout, "line 5"), "five");
        let arguments = ["apply", "--session", "s", "--emit-updated"];
        let applied = project.run_with(&arguments[..if is_silent { 3 } else { 4 }], &edit);
        assert_eq!(applied.code, Some(0), "{applied:?}");
        // From the edited line to the new one.
        let hashes = project.run(&["hash", "a", "--dialect", "lean"]).stdout;
        let hashes: Vec<&str> = hashes.lines().collect();
        let range = replace_lines(hashes[4], hashes[6], "all");
        let answer = project.run_with(&["apply", "--session", "s"], &range);
        assert_eq!(answer.code, code, "{answer:?}");
    }
}

#[test]
fn a_dry_run_shows_no_lines() {
    let project = Project::new(&[("a", &numbers(5))]);
    let shown = project.run(&["read", "a", "--session", "s"]).stdout;
    let dry = set_line(&anchor(&shown, "line 2"), "two\ntwo and a half");
    let arguments = ["apply", "--session", "s", "--dry-run"];
    let answer = project.run_with(&arguments, &dry);
    assert_eq!(answer, project.run_with(&["apply", "--dry-run", "--dialect", "lean"], &dry));
    assert!(answer.stdout.contains("\n+two and a half\n"));
    let edit = set_line(&anchor(&shown, "line 4"), "four");
    assert_eq!(project.run_with(&arguments[..3], &edit), printed(""));
    assert_eq!(project.content("a"), numbers(5).replace("line 4", "four"));
}

#[test]
fn concurrent_processes_share_a_session() {
    let project = Project::new(&[("a", &numbers(40))]);
    let shown = project.run(&["read", "a", "--session", "s"]).stdout;
    let edits = (1..=8).map(|at| {
        let text = format!("line {}", 5 * at);
        let insert = json!([{"insert_after": {"anchor": anchor(&shown, &text), "text": format!("after {text}")}}]);
        project.write(&format!("patch{at}"), patch(insert).as_bytes());
        let mut command = project.command(&["apply", "--session", "s", "-i", &format!("patch{at}")]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    let edits: Vec<_> = edits.collect();
    for child in edits {
        let Answer { code, stderr, .. } = answer(child.wait_with_output().unwrap());
        assert_eq!(code, Some(0), "{stderr}");
    }
    let expected: String =
        (1..=40)
            .map(|n| {
                if n % 5 == 0 {
                    format!("line {n}\nafter line {n}\n")
                } else {
                    format!("line {n}\n")
                }
            })
            .collect();
    assert_eq!(project.content("a"), expected);
}

#[test]
fn a_session_that_cannot_be_stored_is_reported_and_does_not_fail_the_command() {
    let project = Project::new(&[("a", "line 1\n")]);
    project.run(&["read", "a", "--session", "s"]);
    let state = project.state().join("hashline");
    let stores = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path());
    let mut stores = stores.filter(|path| path.to_str().unwrap().contains("/store-"));
    let store = stores.next().unwrap();
    // The log of what was shown can be neither read nor written.
    fs::remove_file(store.join("log")).unwrap();
    fs::create_dir(store.join("log")).unwrap();
    let Answer { code, stdout, stderr } = project.run(&["read", "a", "--session", "s"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "1ac|line 1\n"), "{stderr}");
    assert!(stderr.contains("hashline: the session's memory could not be written: "), "{stderr}");
    // If no directory can be created, no session is.
    fs::remove_dir_all(&store).unwrap();
    fs::write(&store, "").unwrap();
    let Answer { code, stdout, stderr } = project.run(&["read", "a", "--session", "s"]);
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("(option --state-dir)"), "{stderr}");
}
