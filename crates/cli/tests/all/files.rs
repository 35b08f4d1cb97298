//! The output and exit codes of `read`, `search`, `hash`, `verify` and `apply`.

use crate::support::{Answer, Project, exists, printed};
use serde_json::Value;

const GREET: &str = "fn main() {\n    println!(\"hello\");\n}\n";

#[test]
fn read_prints_anchors_and_apply_takes_them() {
    let project = Project::new(&[("greet.rs", GREET)]);
    let lines = "1:6c|fn main() {\n2:24|    println!(\"hello\");\n3:18|}\n";
    assert_eq!(project.run(&["read", "greet.rs"]), printed(lines));
    let patch = r#"{"path":"greet.rs","edits":[{"set_line":{"anchor":"2:24","new_text":"    println!(\"bye\");"}}]}"#;
    assert_eq!(project.run_with(&["apply"], patch), printed(""));
    assert_eq!(project.content("greet.rs"), GREET.replace("hello", "bye"));
    // The same anchor for another edit: its line has changed.
    let Answer { code, stdout, stderr } =
        project.run_with(&["apply"], &patch.replace("bye", "ciao"));
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.starts_with("1 line has changed since last read. "), "{stderr}");
}

#[test]
fn regression_a_patch_that_was_applied_before_is_called_that() {
    let patches = [
        r#"{"path":"a","edits":[{"set_line":{"anchor":"2:b2","new_text":"two"}}]}"#,
        // The range becomes shorter, and then longer, and keeps its first line.
        r#"{"path":"a","edits":[{"replace_lines":{"start_anchor":"2:b2","end_anchor":"4:5f","new_text":"two"}}]}"#,
        r#"{"path":"a","edits":[{"replace_lines":{"start_anchor":"2:b2","end_anchor":"3:83","new_text":"line 2\ntwo\nthree"}}]}"#,
    ];
    for patch in patches {
        let project = Project::new(&[("a", &numbers(5))]);
        assert_eq!(project.run_with(&["apply"], patch), printed(""));
        let before = project.content("a");
        let Answer { code, stdout, stderr } = project.run_with(&["apply"], patch);
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        let applied = "from line 2 on: perhaps it was applied before.";
        assert!(stderr.contains(applied) && !stderr.contains("since last read"), "{stderr}");
        assert_eq!(project.content("a"), before);
    }
}

#[test]
fn regression_a_kept_first_line_is_not_taken_for_an_edit_that_was_applied() {
    let project = Project::new(&[("a", &numbers(5).replace("line 4", "other"))]);
    let patch = r#"{"path":"a","edits":[{"replace_lines":{"start_anchor":"2:b2","end_anchor":"4:5f","new_text":"line 2"}}]}"#;
    let refused = project.run_with(&["apply"], patch);
    assert!(refused.stderr.starts_with("1 line has changed since last read."), "{refused:?}");
}

#[test]
fn options_of_ripgrep_are_accepted() {
    let project = Project::new(&[
        ("src/a.rs", "one two\ntwos\nTwo_\n"),
        ("b.py", "two\n"),
        ("c.pyi", "café two\n"),
    ]);
    let search = |args: &[&str]| project.run(&[&["search", "--dialect", "pi"], args].concat());
    let found = |args: &[&str]| search(args).stdout.matches("|").count();
    assert_eq!(found(&["two"]), 5);
    assert_eq!(found(&["-n", "-i", "two"]), 5);
    assert_eq!(found(&["-s", "two"]), 4);
    assert_eq!(found(&["-s", "-i", "two"]), 5);
    assert_eq!(found(&["-F", "two"]), 5);
    assert_eq!(found(&["--regex", "-F", "t.o"]), 0);
    assert_eq!(found(&["-w", "two"]), 3);
    // A word ends at a letter of any script; the whole pattern is the word, and not its last part.
    assert_eq!(found(&["-w", "caf"]), 0);
    assert_eq!(found(&["-w", "-e", "x|tw|café"]), 1);
    assert_eq!(found(&["-w", "-e", r"(?<=one )two"]), 1);
    assert_eq!(found(&["-w", "é two"]), 0);
    assert_eq!(found(&["-t", "py", "two"]), 2);
    assert_eq!(found(&["-t", "py", "-t", "rust", "two"]), 5);
    assert_eq!(found(&["-t", "py", "-g", "!*.pyi", "two"]), 1);
    assert_eq!(["two", "Two", r"Two\S"].map(|text| found(&["-S", "-e", text])), [5, 1, 1]);
    assert_eq!((found(&["-S", "-i", "Two"]), found(&["-s", "-S", "two"])), (5, 5));
    assert_eq!((found(&["-m", "1", "two"]), found(&["--max-count=2", "two"])), (3, 4));
    assert_eq!(found(&["-e", "^(?!.*wo)", "src", "b.py"]), 0);
    assert_eq!(found(&["-e", "^(?!.*one)", "src"]), 2);
    for (args, message) in [
        (&["-t", "py", "-g", "src/**", "two"][..], "use one glob"),
        (&["-t", "nothing", "two"], "unknown type: use --glob"),
        (&["-e", "one", "-e", "two"], "-e 'first|second'"),
        (&["-w", "-e", "one)(two"], "invalid pattern at character 4"),
        (&["-o", "two"], "--max-line-chars N"),
        (&["-vn", "two"], "-e '^(?!.*PATTERN)'"),
        (&["-U", "-e", r"two\ntwo"], "-A N"),
        (&["-uuu", "two"], "Use -uu"),
    ] {
        let refused = search(args);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(refused.stderr.contains(message), "{}", refused.stderr);
    }
}

#[test]
fn ignored_and_hidden_files_are_searched_with_the_options_of_ripgrep() {
    let project = Project::new(&[
        ("a", "two\n"),
        (".ignore", "b\nin/c\n"),
        ("b", "two\n"),
        ("in/c", "two\n"),
        (".hidden", "two\n"),
    ]);
    let found = |args: &[&str]| {
        let listed = project.run(&[&["search", "-l", "two"], args].concat());
        listed.stdout.lines().collect::<Vec<_>>().join(" ").replace('\\', "/")
    };
    assert_eq!(found(&[]), "a");
    assert_eq!(found(&["--hidden"]), ".hidden a");
    for no_ignore in ["--no-ignore", "-u", "--unrestricted"] {
        assert_eq!(found(&[no_ignore]), "a b in/c", "{no_ignore}");
    }
    assert_eq!(found(&["-uu"]), ".hidden a b in/c");
    assert_eq!(found(&["--no-ignore", "--hidden"]), ".hidden a b in/c");
}

#[test]
fn regression_a_byte_order_mark_before_a_patch_is_ignored() {
    let project = Project::new(&[("a", "line 1\n")]);
    let patch = r#"{"path":"a","edits":[{"set_line":{"anchor":"1:02","new_text":"one"}}]}"#;
    assert_eq!(project.run_with(&["apply"], &format!("\u{feff}{patch}")), printed(""));
    assert_eq!(project.content("a"), "one\n");
    let event =
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cat a"}}"#;
    let answers = [event.to_owned(), format!("\u{feff}{event}")]
        .map(|event| project.run_with(&["hook", "claude"], &event));
    assert!(answers[0].stdout.contains("\"deny\""), "{:?}", answers[0]);
    assert_eq!(answers[0], answers[1]);
}

fn numbers(last: u32) -> String {
    (1..=last).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn all_stale_anchors_are_reported_at_once() {
    let project = Project::new(&[("a", &numbers(12))]);
    let patch = r#"{"path":"a","edits":[
        {"set_line":{"anchor":"2:00","new_text":"two"}},
        {"replace_lines":{"start_anchor":"9:00","end_anchor":"10:00","new_text":"nine"}}]}"#;
    let Answer { code, stdout, stderr } = project.run_with(&["apply"], patch);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    let expected = "\
3 lines have changed since last read. Use the updated LINE:HASH references shown below (>>> marks changed lines).

    1:02|line 1
>>> 2:b2|line 2
    3:83|line 3
    4:5f|line 4
    ...
    7:db|line 7
    8:1d|line 8
>>> 9:1c|line 9
>>> 10:84|line 10
    11:54|line 11
    12:b3|line 12

2:00 -> 2:b2
9:00 -> 9:1c
10:00 -> 10:84
";
    assert_eq!(stderr, expected);
    assert_eq!(project.content("a"), numbers(12));
}

#[test]
fn other_refusals_end_with_another_code() {
    let project = Project::new(&[("a", "one\n")]);
    let cases = [
        ("{", "standard input: the patch is not JSON"),
        ("[]", "INVALID_OPERATION"),
        (
            r#"{"operations":[],"operations":[{"op":"delete","path":"a","anchor":"1:60"}]}"#,
            "hashline: standard input: the outer object has the key \"operations\" twice",
        ),
        (
            r#"{"operations":[{"op":"delete","path":"a","anchor":"1:60","anchor":"2:00"}]}"#,
            "standard input: operations[0] has the key \"anchor\" twice: give it once",
        ),
        (
            r#"{"path":"a","edits":[{"set_line":{"anchor":"1:60","new_text":"X","new_text":"Y"}}]}"#,
            "edits[0].set_line has the key \"new_text\" twice",
        ),
        (r#"{"path":"a","edits":[{"set_line":{"anchor":"x","new_text":""}}]}"#, "INVALID_ANCHOR"),
        (
            r#"{"path":"b","edits":[{"set_line":{"anchor":"1:00","new_text":""}}]}"#,
            "FILE_NOT_FOUND",
        ),
    ];
    for (patch, expected) in cases {
        let Answer { code, stdout, stderr } = project.run_with(&["apply"], patch);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{patch}");
        assert!(stderr.contains(expected), "{patch}: {stderr}");
    }
    assert_eq!(project.run(&["read", "b"]).code, Some(2));
    assert_eq!(project.run(&["bake"]).code, Some(2));
    assert_eq!(project.run(&["--version"]).code, Some(0));
    assert_eq!(project.content("a"), "one\n");
}

#[test]
fn regression_the_output_of_a_refusal_is_limited() {
    let wide = format!("{}\n", "x".repeat(900)).repeat(1_000);
    let project = Project::new(&[("a", &wide)]);
    let stale = |at: usize| {
        let line = at * 2 + 1;
        format!(r#"{{"op":"delete","path":"a","anchor":"{line}:00"}}"#)
    };
    let operations: Vec<String> = (0..500).map(stale).collect();
    let patch = format!(r#"{{"operations":[{}]}}"#, operations.join(","));
    let Answer { code, stderr, .. } = project.run_with(&["apply"], &patch);
    assert_eq!(code, Some(1));
    assert!(stderr.len() < 60_000, "{}", stderr.len());
    let shown = stderr.matches(">>> ").count();
    assert!((10..100).contains(&shown), "{shown}");
    let end = format!("\n({} more problems are not shown.)\n", 500 - shown + 1);
    assert!(stderr.ends_with(&end), "{shown}: {}", &stderr[stderr.len() - 60..]);
    let Answer { stdout, .. } = project.run_with(&["apply", "--json"], &patch);
    let data: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(data["failures"].as_array().unwrap().len(), 500);
    assert!(data["text"].as_str().unwrap().len() < 52_000);
}

#[test]
fn verify_reports_stale_anchors() {
    let project = Project::new(&[("a", &numbers(12))]);
    let good = ["verify", "a", "1:02", ">>> 2:b2|line 2", "12:B3"];
    assert_eq!(project.run(&good), printed(""));
    let answer = project.run(&["verify", "a", "2:b2", "14:00"]);
    let expected = "    10:84|line 10\n    11:54|line 11\n    12:b3|line 12\n\nLine out of range at 14:00. The file has 12 lines.\n";
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(1), expected));
    assert_eq!(project.run(&["verify", "a", "nonsense"]).code, Some(2));
    let piped = project.run_with(&["verify", "-", "2:b2", "3:00"], &numbers(3));
    assert_eq!(piped.code, Some(1));
    assert!(piped.stderr.ends_with("\n>>> 3:83|line 3\n\n3:00 -> 3:83\n"), "{}", piped.stderr);
}

#[test]
fn files_with_syntax_errors_are_reported() {
    let project = Project::new(&[
        ("good.js", "let a = { b: [1] }\n"),
        ("bad.js", "function f() {\n  if (a) {\n    b()\n}\n"),
        ("bad.py", "def f():\n    a()\n  b()\n"),
        ("empty.rs", ""),
        ("notes.txt", "(\n"),
        ("data.json", "\u{feff}{\"a\": 1}\r\n"),
    ]);
    let clean = ["check-syntax", "good.js", "empty.rs", "data.json"];
    assert_eq!(project.run(&clean), printed(""));
    let answer = project.run(&["check-syntax", "bad.js", "notes.txt", "good.js", "bad.py"]);
    let expected = "\
bad.js: line 4: `}` is missing: the block opened at line 2
2:be|  if (a) {
...
4:18|}
bad.py: line 3: the indentation is not that of the lines around it
3:67|  b()
";
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(1), expected));
    let expected =
        "notes.txt: not checked, because its language is unknown or the file is too large\n";
    assert!(answer.stderr.ends_with(expected), "{}", answer.stderr);

    let answer = project.run(&["--json", "check-syntax", "bad.js", "good.js", "notes.txt"]);
    let reports = json(&answer.stdout);
    let states: Vec<_> = reports.as_array().unwrap().iter().map(|one| &one["syntax"]).collect();
    assert_eq!(states, ["unclean", "ok", "unknown"]);
    assert_eq!(reports[0]["line"], 4);
    assert_eq!(project.run(&["check-syntax", "missing.js", "bad.js"]).code, Some(2));
}

#[test]
fn regression_standard_input_is_checked_for_syntax_too() {
    let project = Project::new(&[("good.js", "let a = 1\n")]);
    let script = "#!/usr/bin/env python3\ndef f():\n    a()\n  b()\n";
    let answer = project.run_with(&["check-syntax", "good.js", "-", "-"], script);
    let fault = "-: line 4: the indentation is not that of the lines around it\n4:67|  b()\n";
    assert_eq!((answer.code, answer.stdout), (Some(1), fault.repeat(2)));
    let unknown = project.run_with(&["check-syntax", "-"], "(\n");
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(0), ""));
    assert!(unknown.stderr.contains("its language is unknown"), "{}", unknown.stderr);
}

#[test]
fn hash_prints_only_anchors() {
    let project = Project::new(&[("a", "line 1\nline 2|x\n")]);
    let expected = "1:02\n2:42\n";
    assert_eq!(project.run(&["hash", "a"]).stdout, expected);
    assert_eq!(project.run_with(&["hash", "-"], &project.content("a")), printed(expected));
}

#[test]
fn several_files_have_headers_and_fail_independently() {
    let project = Project::new(&[("a", "line 1\n"), ("b", "line 2\n")]);
    let answer = project.run_with(&["read", "a", "missing", "-", "b"], "line 3\n");
    let expected = "--- a ---\n1:02|line 1\n--- - ---\n1:83|line 3\n--- b ---\n1:b2|line 2\n";
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), expected));
    assert_eq!(answer.stderr, "hashline: missing: no such file\n");
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn json_prints_the_results_of_the_engine() {
    let project = Project::new(&[("a", "line 1\nline 2\n"), ("b/c", "line 1\n")]);
    let read = json(&project.run(&["--json", "read", "a", "missing"]).stdout);
    assert_eq!(read[0]["kind"], "text");
    assert_eq!(read[0]["text"], "1:02|line 1\n2:b2|line 2");
    assert_eq!(read[1]["error"]["code"], "FILE_NOT_FOUND");
    let found = json(&project.run(&["search", "1", "--json"]).stdout);
    assert_eq!(found["matchCount"], 2);
    assert_eq!(found["files"][1]["path"], "b/c");
    assert_eq!(project.run(&["hash", "a", "--json"]), printed("[\"02\",\"b2\"]\n"));
    let verified = project.run(&["verify", "a", "1:02", "--json"]);
    assert_eq!(verified, printed("{\"status\":\"verified\"}\n"));
    let patch = r#"{"path":"a","edits":[{"set_line":{"anchor":"1:02","new_text":"one"}}]}"#;
    let applied = json(&project.run_with(&["apply", "--json"], patch).stdout);
    assert_eq!((&applied["status"], &applied["files"][0]["added"]), (&"applied".into(), &1.into()));
    let refused = project.run_with(&["apply", "--json"], patch);
    assert_eq!((refused.code, refused.stderr.as_str()), (Some(1), ""));
    let refused = json(&refused.stdout);
    assert_eq!(refused["code"], "HASH_MISMATCH");
    assert!(refused["remaps"]["1:02"].as_str().unwrap().starts_with("1:"));
    let misused = project.run(&["--json", "read", "a", "--root", "nowhere"]);
    assert_eq!((misused.code, misused.stdout.as_str()), (Some(2), ""));
    assert!(json(&misused.stderr)["message"].is_string());
    let doctor = json(&project.run(&["doctor", "--json"]).stdout);
    assert_eq!(doctor["state"]["path"].as_str(), project.state().join("hashline").to_str());
    assert_eq!(json(&project.run(&["recover", "--json"]).stdout)["live"], 0);
}

#[test]
fn a_dry_run_prints_a_diff_and_writes_nothing() {
    let project = Project::new(&[("a", "line 1\nline 2\n")]);
    let patch = r#"{"operations":[
        {"op":"set_line","path":"a","anchor":"2:b2","text":"two"},
        {"op":"add_file","path":"b","content":"new\n"}]}"#;
    let diff = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n line 1\n-line 2\n+two\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+new\n";
    assert_eq!(project.run_with(&["apply", "--dry-run"], patch), printed(diff));
    assert_eq!(project.content("a"), "line 1\nline 2\n");
    assert!(!exists(&project.path("b")));
    // Colours only if they are requested.
    let colored = project.run_with(&["apply", "--dry-run", "--color", "always"], patch).stdout;
    assert!(colored.contains("\u{1b}[31m-line 2\u{1b}[0m\n\u{1b}[32m+two\u{1b}[0m\n"), "{colored}");
    assert_eq!(project.run_with(&["apply", "--emit-updated"], patch).code, Some(0));
    assert_eq!(project.content("b"), "new\n");
}

#[test]
fn emit_updated_prints_changed_regions() {
    let project = Project::new(&[("a", &numbers(12))]);
    let patch = r#"{"path":"a","edits":[
        {"set_line":{"anchor":"2:b2","new_text":"two"}},
        {"insert_after":{"anchor":"10:84","text":"ten and a half"}}]}"#;
    let answer = project.run_with(&["apply", "--emit-updated"], patch);
    let expected = "---\n1:02|line 1\n2:f4|two\n3:83|line 3\n4:5f|line 4\n...\n9:1c|line 9\n10:84|line 10\n11:75|ten and a half\n12:54|line 11\n13:b3|line 12\nLines after 10 moved by +1.\n";
    assert_eq!(answer, printed(expected));
    let nothing = r#"{"path":"a","edits":[{"set_line":{"anchor":"2:f4","new_text":"two"}}]}"#;
    assert_eq!(project.run_with(&["apply"], nothing), printed(""));
}

#[test]
fn regression_emit_updated_names_the_file_where_a_patch_names_two() {
    let (one, two) = (numbers(3), numbers(3));
    let apply = |options: &[&str], patch: &str| {
        let project = Project::new(&[("a", &one), ("b", &two)]);
        let answer = project.run_with(&[&["apply", "--emit-updated"], options].concat(), patch);
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
        answer.stdout
    };
    let copy = r#"{"operations":[{"op":"copy_lines","path":"a","anchor":"1:02","to":"b","to_anchor":"3:83"}]}"#;
    let shown = apply(&[], copy);
    assert!(shown.starts_with("---\n--- b --- 1 edit, +1 -0\n2:b2|line 2\n"), "{shown}");
    let created = copy.replace(r#""to":"b","to_anchor":"3:83""#, r#""to":"new""#);
    let shown = apply(&[], &created);
    assert!(shown.starts_with("---\n--- new --- created, +1\n1:02|line 1\n"), "{shown}");
    // The other file is edited without a change.
    let same = r#"{"operations":[{"op":"set_line","path":"a","anchor":"1:02","text":"line 1"},
        {"op":"set_line","path":"b","anchor":"2:b2","text":"two"}]}"#;
    for options in [&[][..], &["--answer", "brief"]] {
        let shown = apply(options, same);
        assert!(shown.starts_with("---\n--- b --- 1 edit, +1 -1\n"), "{shown}");
    }
    let alone = r#"{"operations":[{"op":"set_line","path":"b","anchor":"2:b2","text":"two"}]}"#;
    assert_eq!(apply(&["--answer", "brief"], alone), "---\n2:f4\n");
    // In dialects without hashes, the header has the tag of the version.
    let shown = Project::new(&[("b", &two)]).run(&["read", "b", "--dialect", "omp18"]).stdout;
    let patch = format!("{}\nPUT 2.=2:\n+two", shown.lines().next().unwrap());
    let patch = serde_json::json!({ "patch": patch }).to_string();
    let shown = apply(&["--dialect", "omp18"], &patch);
    assert!(shown.starts_with("---\n[b#"), "{shown}");
}

#[test]
fn regression_json_apply_names_the_file_where_a_patch_names_two() {
    let project = Project::new(&[("a.json", "{\"x\": 1}\n"), ("b.json", "{\"x\": 1}\n")]);
    let patch = r#"{"operations":[{"op":"set_path","path":"a.json","anchor":"$.x:b2","value":1},
        {"op":"set_path","path":"b.json","anchor":"$.x:b2","value":2}]}"#;
    let shown = project.run_with(&["json-apply", "--emit-updated"], patch).stdout;
    assert!(shown.starts_with("---\n--- b.json ---\n"), "{shown}");
}

#[test]
fn a_relocation_is_reported() {
    let project = Project::new(&[("a", "new\nnew\nnew\nnew\nlet one = 1;\n")]);
    let anchor = project.run_with(&["hash", "-"], "let one = 1;\n").stdout;
    let patch = format!(
        r#"{{"path":"a","edits":[{{"set_line":{{"anchor":"{}","new_text":"let one = 2;"}}}}]}}"#,
        anchor.trim()
    );
    let answer = project.run_with(&["apply"], &patch);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""));
    let expected = format!("hashline: a: {} was not found in its line, so 5:", anchor.trim());
    assert!(answer.stderr.starts_with(&expected), "{}", answer.stderr);
    assert!(project.content("a").ends_with("let one = 2;\n"));
    let strict = project.run_with(&["apply", "--relocate", "off"], &patch);
    assert_eq!(strict.code, Some(1));
}

#[test]
fn windows_matches_and_their_limits() {
    let project = Project::new(&[("a", &numbers(12)), ("empty", "")]);
    let window = project.run(&["read", "a", "--start-line", "3", "--lines", "2"]);
    assert_eq!(window, printed("3:83|line 3\n4:5f|line 4\n"));
    let matches =
        project.run(&["read", "a", "--search", "LINE 1", "-A", "1", "--max-matches", "2"]);
    assert_eq!(matches.stdout, "1:02|line 1\n2:b2|line 2\n...\n10:84|line 10\n11:54|line 11\n");
    assert_eq!(matches.stderr, "hashline: a: 4 lines match. Continue with --start-line 11.\n");
    let pattern = ["read", "a", "--search", "^line 1$", "--regex", "-s"];
    assert_eq!(project.run(&pattern), printed("1:02|line 1\n"));
    assert_eq!(project.run(&["read", "empty"]), printed(""));
    let past = project.run(&["read", "a", "--start-line", "13"]);
    assert_eq!((past.code, past.stdout.as_str()), (Some(2), ""));
    assert_eq!(past.stderr, "hashline: a: has 12 lines; line 13 does not exist\n");
    assert_eq!(project.run(&["read", "a", "--start-line", "12"]).stdout, "12:b3|line 12\n");
}

#[test]
fn search_lists_files() {
    let project = Project::new(&[
        ("src/a.rs", "one\ntwo\ntwo\n"),
        ("src/b.txt", "two\n"),
        ("c.txt", "one\n"),
        (".ignore", "ignored\n"),
        ("ignored", "two\n"),
    ]);
    assert_eq!(project.run(&["search", "--files"]), printed("c.txt\nsrc/a.rs\nsrc/b.txt\n"));
    let sizes = project.run(&["search", "--files", "--sizes", "src", "ignored"]);
    assert_eq!(sizes, printed("ignored (4 B)\nsrc/a.rs (12 B)\nsrc/b.txt (4 B)\n"));
    let some = project.run(&["search", "--files", "--skip", "1", "--max-files", "1"]);
    assert_eq!(some.stdout, "src/a.rs\n");
    assert_eq!(some.stderr, "hashline: 3 files, 1 shown. Continue with --skip 2.\n");
    for option in ["-l", "--files-with-matches"] {
        assert_eq!(project.run(&["search", "two", option]), printed("src/a.rs\nsrc/b.txt\n"));
    }
    for option in ["-c", "--count"] {
        let counts = project.run(&["search", "two", option]);
        assert_eq!(counts.stdout, "src/a.rs:2\nsrc/b.txt:1\n");
        assert_eq!(counts.stderr, "hashline: 3 matching lines in 2 files\n");
    }
    let piped = project.run_with(&["search", "two", "-c", "-", "src/a.rs"], "two\n");
    assert_eq!(piped.stdout, "src/a.rs:2\n-:1\n");
    assert_eq!(piped.stderr, "hashline: 3 matching lines in 2 files\n");
    let piped = project.run_with(&["search", "two", "-l", "-"], "two\n");
    assert_eq!(piped, printed("-\n"));
    let cut = ["search", "two", "-l", "--max-files", "1", "-", "src"];
    let cut = project.run_with(&cut, "two\n");
    assert_eq!(cut.stdout, "src/a.rs\n");
    assert_eq!(cut.stderr, "hashline: 3 files, 1 shown. Continue with --skip 1.\n");
    assert_eq!(project.run(&["search", "--files", "-"]).code, Some(2));
    let symbol = project.run_with(&["search", "--symbol", "two", "-"], "fn two() {}\n");
    assert_eq!((symbol.code, symbol.stdout.as_str()), (Some(2), ""));
    assert!(symbol.stderr.contains("standard input has none"), "{}", symbol.stderr);
    for option in [&["--sizes"][..], &["--skip", "1"], &["--max-files", "1"]] {
        let ignored = project.run(&[&["search", "two"], option].concat());
        assert_eq!((ignored.code, ignored.stdout.as_str()), (Some(2), ""));
        assert!(ignored.stderr.contains("is for lists of files"), "{}", ignored.stderr);
    }
    let none = project.run(&["search", "--files", "--max-files", "0"]);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("--max-files is 0"), "{}", none.stderr);
    let invalid = project.run(&["search", "-e", "two("]);
    assert_eq!(invalid.code, Some(2));
    assert!(invalid.stderr.contains("As literal text it matches no line"), "{}", invalid.stderr);
    assert_eq!(project.run(&["search"]).code, Some(2));
    assert_eq!(project.run(&["search", "-l", "-c", "two"]).code, Some(2));
    let none = project.run(&["search", "--files", "-g", "*.zig"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""));
    assert!(none.stderr.contains("no file matches the glob"), "{}", none.stderr);
}

#[test]
fn read_lists_directories() {
    let project = Project::new(&[("src/a.rs", "one\n"), ("src/b/c.txt", "two\n"), (".env", "x\n")]);
    let tree = project.run(&["read", "."]);
    assert_eq!(tree.stdout, "src/\n  b/\n    c.txt\n  a.rs\n");
    assert_eq!(tree.stderr, "hashline: 2 files\nhashline: skipped: 1 hidden file\n");
    let in_session = project.run(&["read", ".", "--session", "s"]);
    assert_eq!((in_session.stdout, in_session.stderr), (tree.stdout, tree.stderr));
    let folded = project.run(&["read", "src", "--fold=2", ".env"]);
    assert!(folded.stdout.starts_with("--- src ---\nb/ (1 file)\na.rs\n--- .env ---\n1:"));
    let absent = project.run(&["read", "src/none"]);
    assert_eq!(absent.code, Some(2));
}

#[test]
fn search_walks_directories() {
    let project = Project::new(&[
        ("src/a.rs", "one\ntwo\n"),
        ("src/b.txt", "two\n"),
        (".hidden", "two\n"),
        (".ignore", "ignored\n"),
        ("ignored", "two\n"),
    ]);
    let found = project.run(&["search", "two"]);
    assert_eq!(found.stdout, "--- src/a.rs ---\n2:f4|two\n--- src/b.txt ---\n1:f4|two\n");
    let globs = project.run(&["search", "two", "-g", "*.rs", "-B1"]);
    assert_eq!(globs.stdout, "--- src/a.rs ---\n1:60|one\n2:f4|two\n");
    let all = project.run(&["search", "two", "--hidden", "--no-ignore-files", "."]);
    assert_eq!(all.stdout.matches("--- ").count(), 4, "{}", all.stdout);
    let none = project.run(&["search", "three"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""));
    assert_eq!(project.run(&["search", "three", "--json"]).code, Some(1));
    let skipped = "hashline: skipped: 1 ignored file, 2 hidden files; name a path to search it\n";
    assert_eq!(none.stderr, skipped);
    let no_file = project.run(&["search", "two", "-g", "*.zig"]);
    assert_eq!(no_file.stderr, "hashline: no file matches the glob \"*.zig\"\n");
    let as_in_grep = project.run(&["search", r"one\|three", "--regex", "src"]);
    assert_eq!(
        as_in_grep.stderr,
        "hashline: here `\\|` is the character |; as in grep, \"one|three\", it matches 1 line; \
         as literal text it matches no line\n"
    );
    let as_it_stands = project.run(&["search", "t.o|one"]);
    assert!(as_it_stands.stderr.contains("--regex"), "{}", as_it_stands.stderr);
    let piped = project.run_with(&["search", "two", "-"], "one\ntwo\n");
    assert_eq!(piped, printed("--- - ---\n2:f4|two\n"));
    let capped = project.run(&["search", "two", "--max-matches", "1"]);
    assert!(capped.stderr.contains("--max-matches"), "{}", capped.stderr);
    assert_eq!(project.run(&["search", "(", "--regex"]).code, Some(2));
    assert_eq!(project.run(&["search", "x", "nowhere"]).code, Some(2));
}

#[test]
fn nothing_outside_of_the_root_is_accessed() {
    let project = Project::new(&[("in/a", "line 1\n"), ("out", "line 1\n")]);
    let inside = project.run(&["--root", "in", "read", "a"]);
    assert_eq!(inside, printed("1:02|line 1\n"));
    let outside = project.run(&["--root", "in", "read", "../out"]);
    assert_eq!((outside.code, outside.stdout.as_str()), (Some(2), ""));
    let patch = r#"{"path":"../out","edits":[{"set_line":{"anchor":"1:02","new_text":"x"}}]}"#;
    let refused = project.run_with(&["apply", "--root", "in"], patch);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("OUTSIDE_ROOT"), "{}", refused.stderr);
    assert_eq!(project.content("out"), "line 1\n");
}

#[test]
fn binary_files_are_not_shown() {
    let project = Project::new(&[]);
    project.write("binary", b"a\0b");
    project.write("utf16", b"\xFF\xFEa\0\n\0b\0");
    let binary = project.run(&["read", "binary"]);
    assert_eq!((binary.code, binary.stdout.as_str()), (Some(2), ""));
    assert_eq!(
        binary.stderr,
        "hashline: binary: the file is not text (binary), and cannot be shown\n"
    );
    assert_eq!(project.run(&["read", "utf16"]).stdout.lines().count(), 2);
    let large = project.run(&["read", "utf16", "--max-file-bytes", "3"]);
    assert_eq!(large.code, Some(2));
}

#[test]
fn files_read_in_pieces_are_printed_as_a_whole() {
    let line = "é".repeat(40_000);
    let long = format!("{}{line}\n{}", numbers(100_000), numbers(90_000).trim_end());
    let project = Project::new(&[("a", &long)]);
    let whole = json(&project.run(&["read", "a", "--json"]).stdout);
    let shown = project.run(&["read", "a"]).stdout;
    assert!(shown.strip_suffix('\n').unwrap() == whole[0]["text"].as_str().unwrap());
    assert!(project.run_with(&["read", "-"], &long).stdout == shown);
    let window = ["read", "a", "--start-line", "99999", "--lines", "80000"];
    let expected: Vec<&str> = shown.lines().skip(99_998).take(80_000).collect();
    assert!(project.run(&window).stdout.lines().eq(expected));
}

#[test]
fn the_usage_log_is_written_on_request() {
    let project = Project::new(&[("a", "line 1\n")]);
    let log = project.path("log");
    for args in [&["hash", "a"][..], &["read", "missing"]] {
        let mut command = project.command(args);
        command.env("HASHLINE_USAGE_LOG", &log).output().unwrap();
        assert_eq!(project.run(args).code, command.output().unwrap().status.code());
    }
    let lines: Vec<Value> = project.content("log").lines().map(json).collect();
    let logged: Vec<_> = lines.iter().map(|line| (&line["command"], &line["exitCode"])).collect();
    let (hash, read) = ("hash".into(), "read".into());
    let (done, failed) = (0.into(), 2.into());
    assert_eq!(logged, [(&hash, &done), (&hash, &done), (&read, &failed), (&read, &failed)]);
    // The log has no file names.
    assert!(!project.content("log").contains("missing"));
    let nowhere = project.command(&["hash", "a"]).env("HASHLINE_USAGE_LOG", "no/where").output();
    let nowhere = crate::support::answer(nowhere.unwrap());
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (Some(0), "1:02\n"));
    assert!(nowhere.stderr.starts_with("hashline: HASHLINE_USAGE_LOG: no/where: "));
}

#[test]
fn regression_an_empty_root_has_a_message_of_its_own() {
    let answer = Project::new(&[("a", "")]).run(&["read", "a", "--root", ""]);
    assert_eq!(answer.code, Some(2));
    assert_eq!(answer.stderr, "hashline: the root is empty: name a directory\n");
}

#[test]
fn regression_doctor_reports_without_a_state_directory() {
    let project = Project::new(&[("a", "")]);
    // A file has the name of the directory.
    let answer = project.run(&["doctor", "--state-dir", "a"]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.stdout.contains("dialects  pi, "), "{}", answer.stdout);
    assert!(answer.stderr.starts_with("hashline: the state directory: "), "{}", answer.stderr);
    let answer = project.run(&["doctor", "--state-dir", "a", "--json"]);
    assert_eq!((answer.code, json(&answer.stdout).get("state")), (Some(2), None));
    assert!(json(&answer.stderr)["message"].as_str().unwrap().starts_with("the state directory: "));
}

#[test]
fn doctor_and_recover_report_journals() {
    let project = Project::new(&[]);
    assert_eq!(project.run(&["recover"]), printed("nothing to recover\n"));
    let sound = project.run(&["doctor"]);
    assert_eq!((sound.code, sound.stderr.as_str()), (Some(0), ""));
    assert!(sound.stdout.contains("patches   0 waiting for recovery, 0 in progress, 0 damaged\n"));
    assert!(!sound.stdout.contains("FAILED"), "{}", sound.stdout);
    let journal = project.state().join("hashline/journals/x.journal");
    std::fs::write(&journal, "damaged\n").unwrap();
    let damaged = project.run(&["doctor"]);
    assert_eq!(damaged.code, Some(2));
    assert!(damaged.stdout.contains(" 1 damaged\n"), "{}", damaged.stdout);
    let recovered = project.run(&["recover"]);
    assert_eq!(recovered.code, Some(2));
    assert!(recovered.stderr.contains("x.journal: the journal is damaged"), "{}", recovered.stderr);
    assert!(exists(&journal));
}

#[test]
fn completions_and_manuals_have_every_command() {
    let project = Project::new(&[]);
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = project.run(&["completions", shell]);
        assert_eq!(script.code, Some(0));
        for word in ["verify", "emit-updated", "max-matches-per-file"] {
            assert!(script.stdout.contains(word), "{shell}: {word}");
        }
    }
    let fish = project.run(&["completions", "fish"]).stdout;
    for (command, values) in
        [("setup", "claude codex "), ("hook", "claude "), ("completions", "bash ")]
    {
        let values = format!("__fish_hashline_using_subcommand {command}\" -f -a \"{values}");
        assert!(fish.contains(&values), "{values}");
    }
    assert!(project.run(&["man"]).stdout.contains(".TH hashline 1"));
    assert_eq!(project.run(&["man", "pages"]), printed(""));
    assert!(project.content("pages/hashline-apply.1").contains("emit"));
}

#[test]
fn values_of_documents_are_read_and_edited_by_path() {
    let document = "{\n  // kept\n  \"a\": 1,\n  \"b\": [1.0, 2],\n}\n";
    let project = Project::new(&[("d.json", document)]);
    let shown = project.run(&["json-read", "d.json"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    assert!(shown.stdout.contains("  // $.a:b2\n  \"a\": 1,\n"), "{}", shown.stdout);
    assert!(shown.stdout.contains("// $.b[0]:76\n"), "{}", shown.stdout);
    let view = json(&project.run(&["json-read", "d.json", "--json"]).stdout);
    assert_eq!(view["path"], "d.json");
    let stale = r#"{"path":"d.json","edits":[
        {"set_path":{"anchor":"$.a:00","value":2}},{"delete_path":{"anchor":"$.b[0]:00"}}]}"#;
    let refused = project.run_with(&["json-apply"], stale);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    let messages = ["Hash mismatch for $.a.", "Hash mismatch for $.b[0].", "$.a:b2", "$.b[0]:76"];
    for message in messages {
        assert!(refused.stderr.contains(message), "{message}: {}", refused.stderr);
    }
    let patch = r#"{"path":"d.json","edits":[
        {"set_path":{"anchor":"$.a:b2","value":12345678901234567890.0}},
        {"delete_path":{"anchor":"$.b[0]:76"}}]}"#;
    let dry = project.run_with(&["json-apply", "--dry-run"], patch);
    assert!(dry.stdout.contains("\n+  \"a\": 12345678901234567890.0,\n"), "{}", dry.stdout);
    assert_eq!(project.run_with(&["json-apply"], patch), printed(""));
    let expected = document.replace(": 1,", ": 12345678901234567890.0,").replace("1.0, ", "");
    assert_eq!(project.content("d.json"), expected);
    assert_eq!(project.run(&["json-read", "missing"]).code, Some(2));
    let piped = project.run_with(&["json-read", "-"], "[1, 1.0]");
    assert_eq!(piped, printed("// $:0f\n// $[0]:b2\n// $[1]:76\n[1, 1.0]\n"));
    let broken = project.run_with(&["json-read", "-"], "[1,");
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(2), ""));
    assert!(broken.stderr.starts_with("hashline: -: not valid JSON at line 1, "));
    let patch =
        r#"{"path":"d.json","edits":[{"insert_at_path":{"anchor":"$.b:ANCHOR","value":3}}]}"#;
    let shown = project.run(&["json-read", "d.json"]).stdout;
    let anchor = shown.split_once("// $.b:").unwrap().1;
    let patch = patch.replace("ANCHOR", &anchor[..2]);
    let updated = project.run_with(&["json-apply", "--emit-updated"], &patch);
    assert_eq!((updated.code, updated.stderr.as_str()), (Some(0), ""));
    let now = project.run(&["json-read", "d.json", "--start-line", "2"]).stdout;
    assert_eq!(updated.stdout, format!("---\n{now}"));
    assert!(now.contains("// $.b[1]:"), "{now}");
}

#[test]
#[cfg(target_os = "linux")]
fn regression_a_name_that_is_not_utf_8_does_not_stop_a_search() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let project = Project::new(&[("a", "needle\n")]);
    let odd = project.path("").join(OsStr::from_bytes(b"b\xFF"));
    std::fs::write(&odd, "needle\n").unwrap();
    let Answer { code, stdout, stderr } = project.run(&["search", "needle"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "--- a ---\n1:ae|needle\n"));
    let expected =
        "hashline: b\\xFF: was not searched: its name is not UTF-8, so no path can name it\n";
    assert_eq!(stderr, expected);
    let answer = crate::support::answer(project.command(&["read"]).arg(&odd).output().unwrap());
    assert_eq!(answer.code, Some(2));
    assert!(answer.stderr.contains("b\\xFF\" is not UTF-8, which paths"), "{}", answer.stderr);
    let mut command = project.command(&["read", "a"]);
    command.env("HASHLINE_SESSION", OsStr::from_bytes(b"\xFF"));
    let answer = crate::support::answer(command.output().unwrap());
    assert_eq!(answer.code, Some(2));
    let said = "hashline: the variable HASHLINE_SESSION is \"\\xFF\", which is not UTF-8";
    assert!(answer.stderr.starts_with(said), "{}", answer.stderr);
    let piped = project.shell("for odd in b*; do $hashline read - < \"$odd\"; done");
    assert_eq!(piped, printed("1:ae|needle\n"));
}

#[test]
fn regression_an_empty_patch_of_a_missing_file_is_refused() {
    let project = Project::new(&[("a", "one\n")]);
    let answer = project.run_with(&["apply"], r#"{"path":"nope","edits":[]}"#);
    assert_eq!(answer.code, Some(2));
    assert!(answer.stderr.contains("nope"), "{}", answer.stderr);
    assert_eq!(project.run_with(&["apply"], r#"{"path":"a","edits":[]}"#), printed(""));
}

#[test]
fn options_of_matches_need_a_pattern() {
    let project = Project::new(&[("a", "one\n")]);
    for option in ["-e", "-s", "-A1", "-B1", "-C1"] {
        let Answer { code, stdout, stderr } = project.run(&["read", "a", option]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{option}");
        assert!(stderr.contains("--search"), "{option}: {stderr}");
        assert_eq!(project.run(&["search", "one", option]).code, Some(0), "{option}");
    }
}

#[test]
fn help_of_check_has_only_its_own_options() {
    let project = Project::new(&[]);
    let help = project.run(&["check", "--help"]).stdout;
    assert!(help.lines().count() < 40, "{help}");
    assert!(help.contains("--json") && !help.contains("--state-dir"), "{help}");
}

#[test]
fn usage_errors_are_json_with_json() {
    let project = Project::new(&[]);
    for args in [&["read", "--json"][..], &["--json", "bake"], &["read", "a", "--nope", "--json"]] {
        let Answer { code, stdout, stderr } = project.run(args);
        assert_eq!((code, stdout.as_str()), (Some(2), ""));
        let error: Value = serde_json::from_str(&stderr).unwrap();
        assert_eq!(error["code"], "INVALID_ARGUMENT");
        assert!(error["message"].as_str().unwrap().contains("Usage: hashline"), "{error}");
    }
}

/// A search waited for a FIFO instead of git's configuration, and read a device forever.
#[cfg(unix)]
#[test]
fn regression_only_regular_files_are_read_as_configurations_of_git() {
    let project = Project::new(&[("a.txt", "needle\n"), ("b.log", "needle\n")]);
    project.shell("mkdir -p .git home/.config/git git && mkfifo pipe");
    let search = |variables: &[(&str, &str)]| {
        let mut command = project.command(&["search", "needle"]);
        command.env("HOME", project.path("home"));
        for name in ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        crate::support::answer(command.output().unwrap())
    };
    let usual = search(&[]);
    assert_eq!(usual.code, Some(0), "{usual:?}");
    for file in ["home/.gitconfig", "home/.config/git/config", "home/.config/git/ignore"] {
        for script in ["mkfifo", "ln -s /dev/zero"] {
            project.shell(&format!("{script} {file}"));
            assert_eq!(search(&[]), usual, "{script} {file}");
            std::fs::remove_file(project.path(file)).unwrap();
        }
    }
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        for path in ["pipe", "/dev/zero", "/dev/null"] {
            assert_eq!(search(&[(name, path)]), usual, "{name}={path}");
        }
    }
    // A regular file is read.
    project.write("git/config", b"[core]\n\texcludesFile = ~/ignored\n");
    project.write("home/ignored", b"*.log\n");
    let config = project.path("git/config");
    let found = search(&[("GIT_CONFIG_GLOBAL", config.to_str().unwrap())]);
    assert!(!found.stdout.contains("b.log"), "{found:?}");
}

/// A patch may come through a pipe, but the program waited for a FIFO without a writer.
#[cfg(unix)]
#[test]
fn regression_a_fifo_without_a_writer_is_not_read() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.shell("mkfifo pipe");
    for command in ["apply", "json-apply"] {
        let answer = project.run(&[command, "-i", "pipe"]);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        let why = "pipe: cannot read: it is a FIFO to which no program writes";
        assert!(answer.stderr.contains(why), "{answer:?}");
    }
    let patch = r#"{"operations":[{"op":"replace_text","path":"a.txt","old_text":"one","new_text":"two"}]}"#;
    project.write("patch.json", patch.as_bytes());
    let done = project.shell("cat patch.json | $hashline apply -i /dev/fd/0");
    assert_eq!((done.code, project.content("a.txt").as_str()), (Some(0), "two\n"), "{done:?}");
    let empty = project.run(&["apply", "-i", "/dev/null"]);
    assert!(empty.stderr.contains("the patch is not JSON"), "{empty:?}");
}
