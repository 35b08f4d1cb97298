//! What a repository, a query or a file can hold that was made to do harm: none of it ends the
//! process, and what does not count is told.

use std::fs;
use std::path::Path;

use hashline_core::cancel::Cancel;
use hashline_core::disk::fs::OsFileSystem;
use hashline_core::error::{Code, Result};
use hashline_core::view::pattern::Query;
use hashline_core::view::read::ReadOptions;
use hashline_core::view::search::{SearchQuery, SearchResult, search_hashed};

fn nested(open: &str, close: &str) -> String {
    let depth = 30_000;
    format!("{}a{}", open.repeat(depth), close.repeat(depth))
}

fn search(root: &Path, query: &SearchQuery) -> Result<SearchResult> {
    let root = Some(root.to_str().unwrap().to_owned());
    let options = ReadOptions { root, ..ReadOptions::default() };
    search_hashed(&OsFileSystem, query, &options, &Cancel::default())
}

fn needle() -> SearchQuery {
    let search = "needle".to_owned();
    SearchQuery::new(Query { search, regex: false, case_sensitive: true })
}

fn write(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// The files found, and what the warnings are about.
fn found(result: &SearchResult) -> (Vec<&str>, Vec<&str>) {
    let files = result.files.iter().map(|file| file.path.as_str()).collect();
    (files, result.warnings.iter().map(|warning| warning.path.as_str()).collect())
}

#[test]
fn deep_braces_in_ignore_files_are_told_and_the_other_lines_hold() {
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
fn few_braces_hold_and_comments_are_comments() {
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
fn long_ignore_files_count_in_part() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.txt", "first.log", "last.log"] {
        write(dir.path(), name, "needle");
    }
    write(dir.path(), ".ignore", &format!("first.log\n{}last.log\n", "*.tmp\n".repeat(200_000)));
    let result = search(dir.path(), &needle()).unwrap();
    assert_eq!(found(&result), (vec!["a.txt", "last.log"], vec![".ignore"]));
}

/// Whatever the order in which threads come to them.
#[test]
fn many_ignore_files_count_in_part() {
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
