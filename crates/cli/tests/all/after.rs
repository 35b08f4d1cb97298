//! `--after` of `apply`: commands that run on written files.

use crate::support::Project;

/// A project with a formatter, which removes spaces at the ends of lines and adds a first line.
fn project() -> Project {
    let format = "{ echo '# formatted'; sed 's/ *$//' \"$1\"; } > tmp && mv tmp \"$1\"\n";
    Project::new(&[("a.txt", "one\ntwo\nthree\n"), ("format.sh", format)])
}

/// A patch of one line, with the anchor of the program.
fn patch(project: &Project, line: usize, text: &str) -> String {
    let shown = project.run(&["read", "a.txt"]).stdout;
    let row = shown.lines().nth(line - 1).unwrap();
    let anchor = row.split('|').next().unwrap();
    format!(
        r#"{{"path": "a.txt", "edits": [{{"set_line": {{"anchor": "{anchor}", "new_text": "{text}"}}}}]}}"#
    )
}

#[test]
fn the_answer_is_that_of_the_final_text() {
    let project = project();
    let patch = patch(&project, 2, "zwei  ");
    let args = ["apply", "--emit-updated", "--after", "sh format.sh"];
    let answer = project.run_with(&args, &patch);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    assert_eq!(project.content("a.txt"), "# formatted\none\nzwei\nthree\n");
    let rows: Vec<&str> = answer.stdout.lines().collect();
    assert!(rows[3].starts_with("3:") && rows[3].ends_with("|zwei"), "{}", answer.stdout);
    assert_eq!(rows.last(), Some(&"formatted: line 1"), "{}", answer.stdout);
    // Without a session, the anchors are valid as well.
    let anchor = rows[3].split('|').next().unwrap();
    let next = format!(
        r#"{{"path": "a.txt", "edits": [{{"set_line": {{"anchor": "{anchor}", "new_text": "2"}}}}]}}"#
    );
    assert_eq!(project.run_with(&["apply"], &next).code, Some(0));
    assert_eq!(project.content("a.txt"), "# formatted\none\n2\nthree\n");
}

#[test]
fn a_stored_session_follows_the_command() {
    let project = project();
    let session = ["--session", "s"];
    let shown = project.run(&[&["read", "a.txt"], &session[..]].concat()).stdout;
    let edit = |row: usize, text: &str| {
        let row = shown.lines().nth(row - 1).unwrap();
        let anchor = row.split('|').next().unwrap();
        let patch = format!(
            r#"{{"path": "a.txt", "edits": [{{"set_line": {{"anchor": "{anchor}", "new_text": "{text}"}}}}]}}"#
        );
        project.run_with(&[&["apply", "--after", "sh format.sh"], &session[..]].concat(), &patch)
    };
    for (row, text) in [(1, "eins"), (3, "drei")] {
        let answer = edit(row, text);
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{answer:?}");
    }
    assert_eq!(project.content("a.txt"), "# formatted\n# formatted\neins\ntwo\ndrei\n");
}

#[test]
fn failures_and_messages_go_to_standard_error() {
    let project = project();
    let patch = patch(&project, 2, "zwei");
    let lint = "sh -c 'echo a.txt:2:1: bad; exit 1'";
    let answer = project.run_with(&["apply", "--after", lint, "--after", "/no/such"], &patch);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""), "{answer:?}");
    assert_eq!(project.content("a.txt"), "one\nzwei\nthree\n");
    let rows: Vec<&str> = answer.stderr.lines().collect();
    assert!(rows[0].contains("sh on a.txt ended with exit code 1"), "{answer:?}");
    assert!(rows[1].contains("/no/such on a.txt cannot be started"), "{answer:?}");
    assert_eq!(rows[2], "hashline: a.txt:2:1: error: bad");
}

#[test]
fn no_command_runs_for_a_dry_run_or_a_refusal_and_a_malformed_one_is_refused() {
    let project = project();
    let good = patch(&project, 2, "zwei");
    let touch = ["--after", "sh -c 'touch called'"];
    assert_eq!(
        project.run_with(&[&["apply", "--dry-run"], &touch[..]].concat(), &good).code,
        Some(0)
    );
    let stale = good.replace("\"anchor\": \"2:", "\"anchor\": \"2:f");
    let refused = project.run_with(&[&["apply"], &touch[..]].concat(), &stale);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(!project.path("called").exists());
    let answer = project.run_with(&["apply", "--after", "fmt 'open"], &good);
    assert!(answer.stderr.contains("a quote is not closed"), "{answer:?}");
    assert_eq!(project.content("a.txt"), "one\ntwo\nthree\n");
}
