//! Malicious contents of repositories, queries and files: none of them crashes the process, and
//! what is ignored is reported.

use std::fs;
use std::path::Path;

use hashline_core::Cancel;
use hashline_core::Query;
use hashline_core::{Code, Result};
use hashline_core::{SearchQuery, SearchResult};
use hashline_core::{Workspace, WorkspaceOptions};
use hashline_disk::fs::OsFileSystem;

fn nested(open: &str, close: &str) -> String {
    let depth = 30_000;
    format!("{}a{}", open.repeat(depth), close.repeat(depth))
}

fn search(root: &Path, query: &SearchQuery) -> Result<SearchResult> {
    let root = root.into();
    let options = WorkspaceOptions { root, ..WorkspaceOptions::default() };
    Workspace::on(&OsFileSystem, &options).search_with(query, &Cancel::default())
}

fn needle() -> SearchQuery {
    let search = "needle".to_owned();
    SearchQuery::new(Query { search, regex: false, case_sensitive: true, ..Query::default() })
}

fn write(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// The files with matches, and the paths of the warnings.
fn found(result: &SearchResult) -> (Vec<&str>, Vec<&str>) {
    let files = result.files.iter().map(|file| file.path.as_str()).collect();
    (files, result.warnings.iter().map(|warning| warning.path.as_str()).collect())
}

#[test]
fn deep_braces_in_ignore_files_are_reported_and_other_lines_apply() {
    for name in [".gitignore", ".ignore", ".git/info/exclude", "sub/.gitignore"] {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "sub/a.txt", "needle");
        write(dir.path(), "sub/b.log", "needle");
        write(dir.path(), ".git/HEAD", "");
        write(dir.path(), name, &format!("*.tmp\n{}\n*.log\n", nested("{", "}")));
        let result = search(dir.path(), &needle()).unwrap();
        assert_eq!(found(&result), (vec!["sub/a.txt"], vec![name]));
        let message = &result.warnings[0].message;
        assert!(message.starts_with(&format!("{name}: line 2 ")), "{message}");
    }
}

#[test]
fn few_braces_apply_and_comments_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.log", "c.tmp"] {
        write(dir.path(), name, "needle");
    }
    let rules = format!("# {}\n*.{{log,{{tmp,x}}}}\n", nested("{", "}"));
    write(dir.path(), ".ignore", &rules);
    assert_eq!(found(&search(dir.path(), &needle()).unwrap()), (vec!["a.txt"], vec![]));
}

#[test]
fn deep_braces_in_globs_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for glob in [nested("{", "}"), nested("!{", "}"), nested("{[", "]}"), "a".repeat(1 << 20)] {
        let error = search(dir.path(), &SearchQuery { globs: vec![glob], ..needle() }).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.len() < 400, "{}", error.message);
    }
}

#[test]
fn long_ignore_files_are_truncated() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.txt", "first.log", "last.log"] {
        write(dir.path(), name, "needle");
    }
    write(dir.path(), ".ignore", &format!("first.log\n{}last.log\n", "*.tmp\n".repeat(200_000)));
    let result = search(dir.path(), &needle()).unwrap();
    assert_eq!(found(&result), (vec!["a.txt", "last.log"], vec![".ignore"]));
}

/// Independent of the order in which threads read them.
#[test]
fn many_ignore_files_are_truncated() {
    let dir = tempfile::tempdir().unwrap();
    let rules = format!("*.log\n{}", "# a comment\n".repeat(10_000));
    for number in 10..30 {
        write(dir.path(), &format!("{number}/a.log"), "needle");
        write(dir.path(), &format!("{number}/.ignore"), &rules);
    }
    let result = search(dir.path(), &needle()).unwrap();
    let (files, warnings) = found(&result);
    assert_eq!(files.first(), Some(&"18/a.log"));
    assert_eq!(files.len(), 12);
    assert_eq!(warnings.len(), 12);
    assert_eq!(warnings[0], "18/.ignore");
}

fn regex(search: &str) -> SearchQuery {
    SearchQuery::new(Query {
        search: search.to_owned(),
        regex: true,
        case_sensitive: true,
        ..Query::default()
    })
}

/// Each of these ran for more than a minute or exhausted the memory.
#[test]
fn patterns_with_too_many_steps_are_stopped() {
    let digitless = format!("{}\n", "a".repeat(100_000));
    let words = format!("{}\n", "ab ".repeat(200_000));
    for (pattern, content) in [("(?-u:.{1,50000}[0-9])", &digitless), (r"(.+).*\1!", &words)] {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "a.txt", content);
        write(dir.path(), "b.txt", "nothing\n");
        let result = search(dir.path(), &regex(pattern)).unwrap();
        assert_eq!(result.errors.len(), 1, "{pattern} {:?}", result.errors);
        let error = &result.errors[0];
        assert_eq!(error.code, Code::InvalidPattern, "{pattern}");
        assert!(error.message.starts_with("a.txt: the pattern "), "{}", error.message);
        assert_eq!(result.files_searched, 1);
    }
}

#[test]
fn long_lines_are_searched_for_patterns_that_need_few_steps() {
    let dir = tempfile::tempdir().unwrap();
    let line = "lorem ipsum, ".repeat(30_000);
    write(dir.path(), "a.txt", &format!("x\n{line}needle7 \u{e9}t\u{e9}\nneedle8\n"));
    for (pattern, lines) in [
        (r"\bneedle\d\b", &[2, 3][..]),
        (r"\w+7 \w+$", &[2]),
        (r"^lorem.*needle", &[2]),
        (r"needle(?!7)\d", &[3]),
        (r"(\w)\1", &[2, 3]),
        (r"\bxyz\w*", &[]),
        (r"^x$", &[1]),
    ] {
        let result = search(dir.path(), &regex(pattern)).unwrap();
        assert_eq!(result.errors, [], "{pattern}");
        let found = result.files.first().map_or(&[][..], |file| &file.match_lines);
        assert_eq!(found, lines, "{pattern}");
    }
}

#[test]
fn patterns_that_are_too_large_to_compile_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.txt", "a\n");
    for pattern in [
        r"\pL".repeat(100_000),
        r"\pL".repeat(2000),
        r"(?i)\w".repeat(2000),
        r"\pL{1000}{1000}".to_owned(),
        "[a-\u{10ffff}]".repeat(1000),
        r"[a-\u{10ffff}]".repeat(1000),
        nested("(", ")"),
        nested("(?=", ")"),
        nested("[", "]"),
        format!("(?=a){}", nested("(", ")")),
        format!("(?=a){}", r"\w{1000}".repeat(90)),
    ] {
        let error = search(dir.path(), &regex(&pattern)).unwrap_err();
        let shown: String = pattern.chars().take(40).collect();
        assert_eq!(error.code, Code::InvalidPattern, "{shown}");
        assert!(error.message.len() < 1000, "{shown}: {}", error.message);
    }
    let text = Query {
        search: "a".repeat(1 << 20),
        regex: false,
        case_sensitive: false,
        ..Query::default()
    };
    let error = search(dir.path(), &SearchQuery::new(text)).unwrap_err();
    assert_eq!(error.code, Code::InvalidPattern);
}
