//! Every call checks its cancellation flag often enough, and reports when it was cancelled. Checks
//! are counted; no test depends on time.

use std::fs;
use std::path::Path;

use hashline_base::parallel;
use hashline_core::Cancel;
use hashline_core::Limits;
use hashline_core::Outcome;
use hashline_core::Patch;
use hashline_core::Query;
use hashline_core::ReadRequest;
use hashline_core::SearchQuery;
use hashline_core::{ApplyOptions, Durability, PatchOptions};
use hashline_core::{Code, Error, Result};
use hashline_core::{Workspace, WorkspaceOptions};
use hashline_disk::fs::OsFileSystem;
use hashline_lines::dialect::Dialect;

const MIB: usize = 1 << 20;

/// A call in a root directory.
type Call<'a> = &'a dyn Fn(&Path, &Cancel) -> Result<()>;

/// Cancels a call at some of its checks: it must return `ABORTED` and stop. Returns the number of
/// checks of an uncancelled call.
fn check_cancellation(root: &Path, call: Call<'_>) -> u64 {
    let undisturbed = Cancel::counting();
    parallel::alone(|| call(root, &undisturbed)).unwrap();
    let all = undisturbed.checks();
    // Work that is shared by threads is split differently, and is checked as often.
    for nth in [1, all / 4] {
        let error = call(root, &Cancel::at_check(nth.max(1))).unwrap_err();
        assert_eq!(error.code, Code::Aborted, "at check {nth} of {all}, shared");
    }
    for nth in [1, 2, 3, all / 4, all / 2, all - 1, all] {
        let cancel = Cancel::at_check(nth.max(1));
        let error = parallel::alone(|| call(root, &cancel)).unwrap_err();
        assert_eq!(error.code, Code::Aborted, "at check {nth} of {all}");
        let more = cancel.checks() - nth.max(1);
        assert!(more <= 4, "{more} more checks after check {nth} of {all}");
    }
    all
}

fn read_as(request: &ReadRequest, root: &Path, cancel: &Cancel) -> Result<()> {
    read_in(Dialect::default_dialect(), request, root, cancel)
}

fn read_in(
    dialect: &'static Dialect,
    request: &ReadRequest,
    root: &Path,
    cancel: &Cancel,
) -> Result<()> {
    let options = WorkspaceOptions { root: root.into(), dialect, ..WorkspaceOptions::default() };
    let views =
        Workspace::on(&OsFileSystem, &options).read_with(std::slice::from_ref(request), cancel)?;
    views[0].error().cloned().map_or(Ok(()), Err)
}

/// Writes a file of at least 8 MiB that repeats `text`.
fn eight_mib(root: &Path, text: &str) {
    fs::write(root.join("a.txt"), text.repeat(8 * MIB / text.len() + 1)).unwrap();
}

#[test]
fn reads_check_at_every_mebibyte_in_every_pass() {
    let whole = ReadRequest { path: "a.txt".into(), ..ReadRequest::default() };
    let of_lines = |start_line, max_lines| ReadRequest {
        start_line: Some(start_line),
        limits: Limits { max_lines: Some(max_lines), max_bytes: None },
        ..whole.clone()
    };
    let in_encoding =
        |label: &str| ReadRequest { encoding: Some(label.to_owned()), ..whole.clone() };
    let texts = ["some line\n", "one\r\ntwo\r\n", "\u{e9}t\u{e9} \u{20ac}\n"];
    // At least three passes: detect text, render lines, compute the hash.
    let passes = 3;
    for text in texts {
        let dir = tempfile::tempdir().unwrap();
        eight_mib(dir.path(), text);
        for request in
            [whole.clone(), of_lines(400_000, 200_000), of_lines(2, 1), in_encoding("latin1")]
        {
            let call = |root: &Path, cancel: &Cancel| read_as(&request, root, cancel);
            let all = check_cancellation(dir.path(), &call);
            assert!(all >= 8 * passes, "{all} checks {text:?} {request:?}");
        }
    }
}

#[test]
fn regression_the_tag_of_a_file_is_made_with_checks() {
    let dir = tempfile::tempdir().unwrap();
    let one = ReadRequest {
        path: "a.txt".into(),
        limits: Limits { max_lines: Some(1), max_bytes: None },
        ..ReadRequest::default()
    };
    let tagged = Dialect::by_name("omp18").unwrap();
    for text in ["a line\n", "trailing whitespace \t\r\n"] {
        eight_mib(dir.path(), text);
        let in_dialect = |dialect| {
            let call = |root: &Path, cancel: &Cancel| read_in(dialect, &one, root, cancel);
            check_cancellation(dir.path(), &call)
        };
        let (with, without) = (in_dialect(tagged), in_dialect(Dialect::default_dialect()));
        assert!(with >= without + 7, "{with} and {without} checks, {text:?}");
    }
}

#[test]
fn binary_files_are_hashed_with_checks() {
    let dir = tempfile::tempdir().unwrap();
    eight_mib(dir.path(), "\0\u{1}\u{2}\u{3}");
    let request = ReadRequest { path: "a.txt".into(), ..ReadRequest::default() };
    let all = check_cancellation(dir.path(), &|root, cancel| read_as(&request, root, cancel));
    assert!(all >= 8, "{all} checks");
}

#[test]
fn searches_check_within_a_file() {
    let dir = tempfile::tempdir().unwrap();
    for (text, least) in [("one line of some words\n", 8), ("one line without an end ", 8)] {
        eight_mib(dir.path(), text);
        for pattern in
            ["absent", r"absent\d+", r"\bxyz\w*", r"[a-z]+!$", r"^absent$", r"s(?=!)", r"\w(?<!w)!"]
        {
            let search = Query {
                search: pattern.into(),
                regex: true,
                case_sensitive: true,
                ..Query::default()
            };
            let query = SearchQuery::new(search);
            let call = |root: &Path, cancel: &Cancel| {
                let root = root.into();
                let options = WorkspaceOptions { root, ..WorkspaceOptions::default() };
                let found = Workspace::on(&OsFileSystem, &options).search_with(&query, cancel)?;
                // On a line of 8 MiB the backtracking engine reaches its own limit.
                assert!(found.errors.is_empty() || pattern.contains("(?"), "{:?}", found.errors);
                Ok(())
            };
            let all = check_cancellation(dir.path(), &call);
            let least = if pattern.contains("(?") { 4 } else { least };
            assert!(all >= least, "{all} checks for {pattern} in {text:?}");
        }
    }
}

#[test]
fn walks_check_in_large_directories() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..3000 {
        fs::write(dir.path().join(format!("{number}.log")), "").unwrap();
    }
    let search =
        Query { search: "absent".into(), regex: false, case_sensitive: true, ..Query::default() };
    let query = SearchQuery { globs: vec!["*.txt".into()], ..SearchQuery::new(search) };
    let call = |root: &Path, cancel: &Cancel| {
        let root = root.into();
        let options = WorkspaceOptions { root, ..WorkspaceOptions::default() };
        Workspace::on(&OsFileSystem, &options).search_with(&query, cancel).map(drop)
    };
    assert!(check_cancellation(dir.path(), &call) >= 5);
}

/// Whatever the patch would do: change files, be refused, or change nothing.
#[test]
fn cancelled_patches_report_it_and_change_nothing() {
    let patches = [
        (r#"{"op":"set_line","path":"a.txt","anchor":"1:56","text":"b"}"#, "applied"),
        (r#"{"op":"set_line","path":"a.txt","anchor":"1:56","text":"a"}"#, "applied"),
        (r#"{"op":"set_line","path":"a.txt","anchor":"1:00","text":"b"}"#, "rejected"),
        (r#"{"op":"delete_file","path":"a.txt"}"#, "applied"),
    ];
    for (operation, expected) in patches {
        let (mut nth, mut aborted) = (1, 0);
        loop {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("a.txt");
            fs::write(&file, "a\n").unwrap();
            let cancel = Cancel::at_check(nth);
            match patch(dir.path(), operation, &cancel) {
                Err(error) => {
                    assert_eq!(error.code, Code::Aborted, "{operation}");
                    assert_eq!(fs::read(&file).unwrap(), b"a\n");
                    let names = fs::read_dir(dir.path()).unwrap();
                    let names = names.map(|entry| entry.unwrap().file_name());
                    assert_eq!(names.filter(|name| name != "state").count(), 1);
                    aborted += 1;
                }
                // The last check set the flag, or none did: nothing was left to stop.
                Ok(outcome) if cancel.checks() < nth => {
                    let status = match outcome {
                        Outcome::Applied(_) => "applied",
                        Outcome::Rejected(_) => "rejected",
                    };
                    assert_eq!(status, expected, "{operation}");
                    break;
                }
                Ok(outcome) => panic!("cancelled at check {nth}: {outcome:?}"),
            }
            nth += 1;
        }
        assert!(aborted >= 4, "{operation}: {aborted}");
    }
}

/// Finding, planning and writing many matches takes long, so each step checks the flag.
#[test]
fn regression_a_replacement_of_all_occurrences_checks_throughout() {
    const MATCHES: usize = 40_000;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::write(root.join("a.txt"), "one\ntwo\n\nfour\nfive\nsix\n".repeat(MATCHES)).unwrap();
    let operation =
        r#"{"op":"replace_text","path":"a.txt","old_text":"one","new_text":"1","all":true}"#;
    let all = {
        let undisturbed = Cancel::counting();
        let Outcome::Applied(applied) = patch(root, operation, &undisturbed).unwrap() else {
            panic!("it is refused")
        };
        // The text for the model and the diff for the user are bounded.
        assert!(applied.text.len() < 60_000, "{} bytes", applied.text.len());
        let answer = applied.text.lines().last().unwrap();
        assert!(answer.contains(" more changed places, from line "), "{answer}");
        assert!(
            fs::read(root.join("a.txt")).unwrap().starts_with(b"1\ntwo\n\nfour\nfive\nsix\n1\n")
        );
        undisturbed.checks()
    };
    // Each match is found, becomes an edit, becomes a region, and is written.
    assert!(all >= 4 * (MATCHES / 1024) as u64, "{all} checks");
    fs::write(root.join("a.txt"), "one\ntwo\n\nfour\nfive\nsix\n".repeat(MATCHES)).unwrap();
    for nth in [all / 5, all / 2, all * 4 / 5] {
        let cancel = Cancel::at_check(nth);
        let error = patch(root, operation, &cancel).unwrap_err();
        assert_eq!(error.code, Code::Aborted, "at check {nth} of {all}");
        assert!(cancel.checks() - nth <= 4, "at check {nth} of {all}: {} checks", cancel.checks());
    }
    assert!(fs::read(root.join("a.txt")).unwrap().starts_with(b"one\n"));
}

fn patch(root: &Path, operation: &str, cancel: &Cancel) -> std::result::Result<Outcome, Error> {
    let patch = format!(r#"{{"operations":[{operation}]}}"#);
    let patch: Patch = serde_json::from_str::<serde_json::Value>(&patch).unwrap().into();
    let options = WorkspaceOptions {
        root: root.into(),
        state_dir: Some(root.join("state")),
        apply: ApplyOptions { durability: Durability::Process, ..ApplyOptions::default() },
        ..WorkspaceOptions::default()
    };
    Workspace::on(&OsFileSystem, &options).apply_with(&patch, &PatchOptions::default(), cancel)
}

/// The lines of a long new text are processed one by one, in every kind of operation.
#[test]
fn regression_a_long_text_is_processed_with_checks() {
    const TEXT: usize = 8 * MIB;
    const LINES_BYTES: usize = 64 << 10;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let before = "a\n".repeat(2_000);
    let edit = |op: &str, line: usize, text: &str| {
        let text = serde_json::Value::from(text);
        format!(r#"{{"op":"{op}","path":"a.txt","anchor":"{line}:56","text":{text}}}"#)
    };
    let long = "some line of text\n".repeat(TEXT / 18);
    let many: Vec<String> = (1..=2_000)
        .map(|line| edit("insert_after", line, &"some line of text\n".repeat(TEXT / 18 / 2_000)))
        .collect();
    for operations in [edit("insert_after", 1, &long), edit("set_line", 1, &long), many.join(",")] {
        let what = &operations[..40];
        let call = |cancel: &Cancel| {
            fs::write(root.join("a.txt"), &before).unwrap();
            patch(root, &operations, cancel)
        };
        let undisturbed = Cancel::counting();
        assert!(matches!(call(&undisturbed), Ok(Outcome::Applied(_))), "{what}");
        let all = undisturbed.checks();
        // The text is split into lines, encoded, written and read back.
        let least = 2 * (TEXT / LINES_BYTES) + 2 * (TEXT / MIB);
        assert!(all >= least as u64, "{what}: {all} checks");
        for nth in [all / 5, all / 2, all - 10] {
            let cancel = Cancel::at_check(nth);
            let error = call(&cancel).unwrap_err();
            assert_eq!(error.code, Code::Aborted, "{what}, check {nth} of {all}");
            let more = cancel.checks() - nth;
            assert!(more <= 4, "{what}, check {nth} of {all}: {more} more");
            assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), before);
        }
    }
}
