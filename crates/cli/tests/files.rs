//! `read`, `search`, `hash`, `verify` and `apply`: what they print, and how they end.

mod support;

use support::{Answer, Project, printed};

const GREET: &str = "fn main() {\n    println!(\"hello\");\n}\n";

#[test]
fn read_prints_anchors_and_apply_takes_them() {
    let project = Project::new(&[("greet.rs", GREET)]);
    let lines = "1:6c|fn main() {\n2:24|    println!(\"hello\");\n3:18|}\n";
    assert_eq!(project.run(&["read", "greet.rs"]), printed(lines));
    let patch = r#"{"path":"greet.rs","edits":[{"set_line":{"anchor":"2:24","new_text":"    println!(\"bye\");"}}]}"#;
    assert_eq!(project.run_with(&["apply"], patch), printed(""));
    assert_eq!(project.content("greet.rs"), GREET.replace("hello", "bye"));
    // The same anchor again: its line has changed.
    let Answer { code, stdout, stderr } = project.run_with(&["apply"], patch);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.starts_with("1 line has changed since last read. "), "{stderr}");
}

fn numbers(last: u32) -> String {
    (1..=last).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn all_stale_anchors_are_told_at_once() {
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
fn what_is_no_stale_anchor_is_trouble() {
    let project = Project::new(&[("a", "one\n")]);
    let cases = [
        ("{", "standard input: the patch is not JSON"),
        ("[]", "INVALID_OPERATION"),
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
fn verify_names_what_does_not_hold() {
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
fn hash_prints_anchors_alone() {
    let project = Project::new(&[("a", "line 1\nline 2|x\n")]);
    let expected = "1:02\n2:42\n";
    assert_eq!(project.run(&["hash", "a"]).stdout, expected);
    assert_eq!(project.run_with(&["hash", "-"], &project.content("a")), printed(expected));
}

#[test]
fn several_files_have_headers_and_fail_alone() {
    let project = Project::new(&[("a", "line 1\n"), ("b", "line 2\n")]);
    let answer = project.run_with(&["read", "a", "missing", "-", "b"], "line 3\n");
    let expected = "--- a ---\n1:02|line 1\n--- - ---\n1:83|line 3\n--- b ---\n1:b2|line 2\n";
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), expected));
    assert_eq!(answer.stderr, "hashline: missing: there is no such file\n");
}
