//! Searches in directories: which files are searched and what is shown. Time, threads and files
//! outside of the root do not affect the result.

mod explanation;
mod globs;
mod lists;
mod skipped;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hashline_base::parallel;
use hashline_core::Cancel;
use hashline_core::Context;
use hashline_core::Query;
use hashline_core::ReadRequest;
use hashline_core::{Code, Result};
use hashline_core::{SearchQuery, SearchResult};
use hashline_core::{Workspace, WorkspaceOptions};
use hashline_disk::fs::{OsFileSystem, plain};
use hashline_lines::anchor::Anchor;
use hashline_lines::dialect::DIALECTS;
use hashline_lines::hash::hash_line;
use proptest::prelude::*;

/// A directory with files, removed at the end of the test.
struct Tree {
    _temporary: tempfile::TempDir,
    path: PathBuf,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Tree {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().canonicalize().unwrap().join("top");
        fs::create_dir(&path).unwrap();
        let tree = Tree { _temporary: temporary, path };
        for (path, content) in files {
            tree.write(path, content);
        }
        tree
    }

    /// Writes a file, or creates a directory if the path ends with a slash.
    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let full = self.path.join(path);
        if path.ends_with('/') {
            fs::create_dir_all(full).unwrap();
        } else {
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, content).unwrap();
        }
    }

    fn full(&self, path: &str) -> String {
        self.path.join(path).to_str().unwrap().to_owned()
    }

    fn options(&self) -> WorkspaceOptions {
        WorkspaceOptions { root: self.full("").into(), ..WorkspaceOptions::default() }
    }

    /// Searches within the root, and checks the text.
    fn search(&self, query: &SearchQuery) -> SearchResult {
        self.search_as(query, &self.options())
    }

    fn search_as(&self, query: &SearchQuery, options: &WorkspaceOptions) -> SearchResult {
        let result = search(query, options).unwrap();
        check_text(&result, query, options);
        check_streamed(&result, query, options);
        lists::check_lists(&result, query, options);
        result
    }

    /// The files with matches in the whole tree; checks that they are the same with and without a
    /// root.
    fn files(&self, query: &SearchQuery) -> Vec<String> {
        let with_root = paths(&self.search(query));
        let absolute = SearchQuery {
            paths: if query.paths.is_empty() {
                vec![self.full("").into()]
            } else {
                query.paths.iter().map(|path| self.full(path.to_str().unwrap()).into()).collect()
            },
            ..query.clone()
        };
        let unbounded =
            WorkspaceOptions { cwd: Some(self.path.clone()), ..WorkspaceOptions::unbounded() };
        let without = self.search_as(&absolute, &unbounded);
        // On Windows, results have forward slashes and no prefix before the drive.
        let top = format!("{}/", plain(self.path.to_str().unwrap()).replace('\\', "/"));
        let without: Vec<_> = paths(&without)
            .iter()
            .map(|path| path.strip_prefix(&top).unwrap().to_owned())
            .collect();
        assert_eq!(with_root, without);
        with_root
    }
}

fn search(query: &SearchQuery, options: &WorkspaceOptions) -> Result<SearchResult> {
    Workspace::on(&OsFileSystem, options).search_with(query, &Cancel::default())
}

/// Checks that a sink receives the text that the result has without one.
fn check_streamed(result: &SearchResult, query: &SearchQuery, options: &WorkspaceOptions) {
    let mut rows = Vec::new();
    let mut sink = |header: &str, lines: &str| {
        rows.push(format!("{header}\n{lines}"));
        true
    };
    let workspace = Workspace::on(&OsFileSystem, options);
    let streamed = workspace
        .search_with_progress(query, &Cancel::default(), &|_, _| {}, Some(&mut sink))
        .unwrap();
    assert_eq!(streamed.text, "");
    let streamed = SearchResult { text: rows.join("\n"), ..streamed };
    assert_eq!(format!("{streamed:?}"), format!("{result:?}"));
}

#[test]
fn a_sink_can_stop_a_search() {
    let tree = Tree::new(&[("a", "x\n"), ("b", "x\n"), ("c", "x\n")]);
    let mut headers = Vec::new();
    let mut sink = |header: &str, _: &str| {
        headers.push(header.to_owned());
        headers.len() < 2
    };
    let found = Workspace::on(&OsFileSystem, &tree.options())
        .search_with_progress(&text("x"), &Cancel::default(), &|_, _| {}, Some(&mut sink))
        .unwrap();
    assert_eq!(found.files.len(), 2);
    assert_eq!(headers, ["--- a ---", "--- b ---"]);
}

/// A case-insensitive search for literal text.
fn text(search: &str) -> SearchQuery {
    SearchQuery::new(Query {
        search: search.into(),
        regex: false,
        case_sensitive: false,
        ..Query::default()
    })
}

fn regex(search: &str) -> SearchQuery {
    SearchQuery::new(Query {
        search: search.into(),
        regex: true,
        case_sensitive: true,
        ..Query::default()
    })
}

fn around(before: u64, after: u64) -> Context {
    Context { before, after }
}

fn paths(result: &SearchResult) -> Vec<String> {
    result.files.iter().map(|file| file.path.clone()).collect()
}

fn error_codes(result: &SearchResult) -> Vec<(&str, Code)> {
    result.errors.iter().map(|error| (error.path.as_deref().unwrap(), error.code)).collect()
}

/// Checks that every line is a header, `...`, or a line as a read shows it; that every anchor is
/// valid; that the lists match the text; and that no limit is exceeded.
fn check_text(result: &SearchResult, query: &SearchQuery, options: &WorkspaceOptions) {
    let mut shown: Vec<(String, Vec<u64>)> = Vec::new();
    let mut view = BTreeMap::new();
    for line in result.text.lines() {
        if let Some(path) = header_path(line) {
            view = read_lines(path, options);
            shown.push((path.to_owned(), Vec::new()));
        } else if line != "..." {
            let anchor = Anchor::parse(options.dialect, line).unwrap();
            let number = u64::from(anchor.line);
            let whole = &view[&number];
            let mark = char::from(options.dialect.text_mark);
            let content = whole.split_once(mark).unwrap().1;
            let hash = hash_line(options.dialect, number, content);
            assert_eq!(anchor.hash, hash, "{line}");
            let agrees = |hint: &hashline_lines::anchor::Hint| {
                hint.agrees(options.dialect, content.as_bytes())
            };
            assert!(anchor.hint.as_deref().is_none_or(agrees), "{line}");
            assert!(line == whole || line.ends_with(" bytes]"), "{line}");
            shown.last_mut().unwrap().1.push(number);
        }
    }
    let listed: Vec<_> = result.files.iter().map(|file| file.path.clone()).collect();
    let headers: Vec<_> = shown.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(headers, listed);
    for (file, (_, lines)) in result.files.iter().zip(&shown) {
        assert!(lines.is_sorted_by(|one, other| one < other), "{lines:?}");
        assert!(file.match_lines.iter().all(|line| lines.contains(line)));
        assert!(file.match_count >= file.match_lines.len() as u64);
        assert!(!file.match_lines.is_empty());
        assert!(!file.truncated || result.truncated);
    }
    let matches: usize = result.files.iter().map(|file| file.match_lines.len()).sum();
    assert_eq!(result.match_count, matches as u64);
    assert!(result.match_count <= query.max_matches);
    assert!(query.max_bytes.is_none_or(|max| result.text.len() <= max));
}

fn header_path(line: &str) -> Option<&str> {
    line.strip_prefix("--- ")?.strip_suffix(" ---")
}

/// The lines of a file by number, as a read shows them.
fn read_lines(path: &str, options: &WorkspaceOptions) -> BTreeMap<u64, String> {
    let request = ReadRequest::new(path);
    let views =
        Workspace::on(&OsFileSystem, options).read_with(&[request], &Cancel::default()).unwrap();
    assert!(views[0].error().is_none(), "{:?}", views[0]);
    (1..).zip(views[0].text.lines().map(str::to_owned)).collect()
}

#[test]
fn text_by_example() {
    let tree = Tree::new(&[
        ("src/b.rs", "one\ntwo\nneedle\nfour\nfive\nsix\nNeedle\neight\n"),
        ("src/a.rs", "needle"),
        ("src/a/z.rs", "a needle\n"),
        ("other.txt", "nothing\n"),
    ]);
    let query = SearchQuery { context: around(1, 1), ..text("NEEDLE") };
    let result = tree.search(&query);
    let shapes: Vec<_> = result
        .text
        .lines()
        .map(|line| match line.split_once('|') {
            Some((anchor, text)) => format!("{}|{text}", anchor.split_once(':').unwrap().0),
            None => line.to_owned(),
        })
        .collect();
    assert_eq!(
        shapes,
        [
            "--- src/a/z.rs ---",
            "1|a needle",
            "--- src/a.rs ---",
            "1|needle",
            "--- src/b.rs ---",
            "2|two",
            "3|needle",
            "4|four",
            "...",
            "6|six",
            "7|Needle",
            "8|eight",
        ]
    );
    assert_eq!(result.match_count, 4);
    assert_eq!(result.files_searched, 4);
    assert!(!result.truncated && !result.text.ends_with('\n'));
    let last = &result.files[2];
    assert_eq!((last.match_lines.as_slice(), last.match_count), (&[3, 7][..], 2));
    assert_eq!(last.line_count, 8);
}

#[test]
fn every_dialect_has_its_shape() {
    let tree = Tree::new(&[("a.txt", "{\n  \"needle\": 1\n}\n")]);
    for dialect in DIALECTS.iter().filter(|one| one.has_hashes()) {
        let query = SearchQuery { context: around(1, 1), ..text("needle") };
        let options = WorkspaceOptions { dialect, ..tree.options() };
        assert_eq!(tree.search_as(&query, &options).text.lines().count(), 4);
    }
}

#[test]
fn context_merges() {
    let lines: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let tree = Tree::new(&[("a.txt", &lines)]);
    for (pattern, context, expected) in [
        ("line (5|8)$", around(1, 1), "4 5 6 7 8 9"),
        ("line (5|9)$", around(1, 1), "4 5 6 ... 8 9 10"),
        ("line (5|6)$", around(2, 0), "3 4 5 6"),
        ("line (1|30)$", around(2, 2), "1 2 3 ... 28 29 30"),
        ("line (5|7)$", around(0, 0), "5 ... 7"),
        ("line 2$", around(u64::MAX, 0), "1 2"),
        ("line 29$", around(0, u64::MAX), "29 30"),
    ] {
        let query = SearchQuery { context, ..regex(pattern) };
        let result = tree.search(&query);
        let shown: Vec<_> =
            result.text.lines().skip(1).map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(shown.join(" "), expected, "{pattern} {context:?}");
    }
}

#[test]
fn ignore_rules() {
    let files = [
        ("a.txt", "needle"),
        ("a.log", "needle"),
        ("b.tmp", "needle"),
        (".hidden/c.txt", "needle"),
        ("sub/keep.log", "needle"),
        ("sub/d.log", "needle"),
        ("sub/excluded.txt", "needle"),
        (".gitignore", "*.log\n"),
        ("sub/.gitignore", "!keep.log\n"),
        (".ignore", "*.tmp\n"),
    ];
    let visible = ["a.txt", "sub/excluded.txt"];
    let logs = ["a.log", "sub/d.log", "sub/keep.log"];
    type Change = fn(&mut SearchQuery);
    let no_change: Change = |_| {};
    for (name, git, change, extra) in [
        ("no repository", false, no_change, &logs[..]),
        ("no .ignore", false, |query| query.ignore_files = false, {
            &["a.log", "b.tmp", "sub/d.log", "sub/keep.log"]
        }),
        ("hidden", false, |query| query.hidden = true, {
            &[".hidden/c.txt", "a.log", "sub/d.log", "sub/keep.log"]
        }),
        ("repository", true, |_| {}, &["sub/keep.log"]),
        ("no gitignore", true, |query| query.gitignore = false, &logs[..]),
    ] {
        let tree = Tree::new(&files);
        if git {
            tree.write(".git/", "");
        }
        let mut query = text("needle");
        change(&mut query);
        let mut expected: Vec<_> = visible.iter().chain(extra).map(PathBuf::from).collect();
        expected.sort();
        let found: Vec<_> = tree.files(&query).into_iter().map(PathBuf::from).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn private_excludes_of_a_repository() {
    let tree = Tree::new(&[
        ("a.txt", "needle"),
        ("excluded.txt", "needle"),
        ("sub/excluded.txt", "needle"),
        ("nested/excluded.txt", "needle"),
        ("nested/.git/", ""),
        (".git/info/exclude", "excluded.txt\n"),
    ]);
    let expected = ["a.txt", "nested/excluded.txt"];
    assert_eq!(tree.files(&text("needle")), expected);
}

#[test]
fn rules_above_a_path_apply_below_it() {
    let tree = Tree::new(&[
        (".git/", ""),
        (".gitignore", "*.log\n/sub/deep/anchored.txt\n"),
        (".ignore", "*.tmp\n"),
        ("sub/deep/a.log", "needle"),
        ("sub/deep/b.tmp", "needle"),
        ("sub/deep/anchored.txt", "needle"),
        ("sub/deep/keep.log", "needle"),
        ("sub/deep/.gitignore", "!keep.log\n"),
    ]);
    let query = SearchQuery { paths: vec!["sub/deep".into()], ..text("needle") };
    assert_eq!(tree.files(&query), ["sub/deep/keep.log"]);
    let query = SearchQuery { parent_ignore_files: false, ..query };
    let all = ["a.log", "anchored.txt", "b.tmp", "keep.log"].map(|name| format!("sub/deep/{name}"));
    assert_eq!(tree.files(&query), all);
}

#[test]
fn paths_of_the_query_are_searched_even_if_ignored() {
    let tree = Tree::new(&[
        (".ignore", "target\n*.log\n"),
        ("a.log", "needle"),
        (".hidden", "needle"),
        ("target/b.txt", "needle"),
    ]);
    for path in ["a.log", ".hidden"] {
        let query =
            SearchQuery { paths: vec![path.into()], globs: vec!["!*".into()], ..text("needle") };
        assert_eq!(tree.files(&query), [path]);
    }
    let query = SearchQuery { paths: vec!["target".into()], ..text("needle") };
    assert_eq!(tree.files(&query), ["target/b.txt"]);
}

#[test]
fn globs_decide_in_order() {
    let tree = Tree::new(&[
        ("a.rs", "needle"),
        ("b.txt", "needle"),
        ("src/c.rs", "needle"),
        ("src/gen/d.rs", "needle"),
        (".hidden.rs", "needle"),
        ("skipped.rs", "needle"),
        (".ignore", "skipped.rs\n"),
    ]);
    for (globs, expected) in [
        (&["*.txt"][..], &["b.txt"][..]),
        (&["!*.rs"], &["b.txt"]),
        (&["src/**"], &["src/c.rs", "src/gen/d.rs"]),
        (&["/*.txt", "*.md"], &["b.txt"]),
        (&["src/**", "!gen"], &["src/c.rs"]),
        (&["!src", "*.txt", "src"], &["b.txt", "src/c.rs", "src/gen/d.rs"]),
        (&["src", "!src"], &[]),
        (&["*.rs"], &[".hidden.rs", "a.rs", "skipped.rs", "src/c.rs", "src/gen/d.rs"]),
        (&["*.{txt,md}"], &["b.txt"]),
    ] {
        let query = SearchQuery {
            globs: globs.iter().map(|&glob| glob.to_owned()).collect(),
            ..text("needle")
        };
        // A glob with a slash is relative to the base of paths.
        assert_eq!(paths(&tree.search(&query)), expected, "{globs:?}");
    }
}

#[test]
fn globs_apply_to_any_spelling_of_a_path() {
    let tree =
        Tree::new(&[("a.txt", "needle"), ("sub/a.txt", "needle"), ("x/sub/a.txt", "needle")]);
    for path in [".", "sub", "./sub/", &tree.full(""), &tree.full("sub"), &tree.full("sub/a.txt")] {
        let query = SearchQuery {
            paths: vec![path.into()],
            globs: vec!["/sub/*.txt".to_owned()],
            ..text("needle")
        };
        assert_eq!(tree.search(&query).match_count, 1, "{path}");
    }
}

#[test]
fn depth_is_limited() {
    let tree = Tree::new(&[("a", "needle"), ("b/c", "needle"), ("b/d/e", "needle")]);
    for (max_depth, expected) in
        [(0, &[][..]), (1, &["a"]), (2, &["a", "b/c"]), (3, &["a", "b/c", "b/d/e"])]
    {
        let query = SearchQuery { max_depth: Some(max_depth), ..text("needle") };
        assert_eq!(tree.files(&query), expected);
    }
}

#[test]
fn overlapping_paths_are_searched_once() {
    let tree =
        Tree::new(&[("src/a.txt", "needle"), ("src/sub/b.txt", "needle"), ("c.txt", "needle")]);
    for (named, expected) in [
        (&["src", "src/sub"][..], &["src/a.txt", "src/sub/b.txt"][..]),
        (&["src/sub", "src"], &["src/a.txt", "src/sub/b.txt"]),
        (&["src/a.txt", "./src/", "src//a.txt"], &["src/a.txt", "src/sub/b.txt"]),
        (&["c.txt", "."], &["c.txt", "src/a.txt", "src/sub/b.txt"]),
        (&["./src/../c.txt", "c.txt"], &["src/../c.txt"]),
    ] {
        let query =
            SearchQuery { paths: named.iter().map(PathBuf::from).collect(), ..text("needle") };
        assert_eq!(paths(&tree.search(&query)), expected, "{named:?}");
    }
}

#[test]
fn caps_count_in_path_order() {
    let tree = Tree::new(&[
        ("a.txt", "needle 1\nneedle 2\nneedle 3\n"),
        ("b.txt", "nothing\n"),
        ("c.txt", "needle 1\nneedle 2\nneedle 3\n"),
        ("d.txt", "nothing\n"),
    ]);
    for (max, per_file, shown, searched, truncated) in [
        (6, None, &[3, 3][..], 4, false),
        (5, None, &[3, 2], 3, true),
        (4, None, &[3, 1], 3, true),
        (3, None, &[3], 3, true),
        (2, None, &[2], 1, true),
        (0, None, &[], 1, true),
        (9, Some(2), &[2, 2], 4, true),
        (3, Some(2), &[2, 1], 3, true),
        (9, Some(3), &[3, 3], 4, false),
    ] {
        let query =
            SearchQuery { max_matches: max, max_matches_per_file: per_file, ..text("needle") };
        let result = tree.search(&query);
        let case = format!("{max} {per_file:?}");
        let counts: Vec<_> = result.files.iter().map(|file| file.match_lines.len()).collect();
        assert_eq!(counts, shown, "{case}");
        assert_eq!(result.files_searched, searched, "{case}");
        assert_eq!(result.truncated, truncated, "{case}");
        assert!(result.files.iter().all(|file| file.match_count == 3), "{case}");
    }
}

#[test]
fn text_is_truncated_after_a_whole_line() {
    let tree =
        Tree::new(&[("a.txt", "before\nneedle 1\nafter\nneedle 2\n"), ("b.txt", "needle 1\n")]);
    let query = SearchQuery { context: around(1, 0), ..text("needle") };
    let whole = tree.search(&query);
    assert!(!whole.truncated);
    for max_bytes in 0..=whole.text.len() + 1 {
        let query = SearchQuery { max_bytes: Some(max_bytes), ..query.clone() };
        let result = tree.search(&query);
        assert_eq!(result.truncated, max_bytes < whole.text.len(), "{max_bytes}");
        let lines: Vec<_> = result.text.lines().filter(|line| !line.ends_with(" bytes]")).collect();
        let prefix: Vec<_> = whole.text.lines().take(lines.len()).collect();
        assert_eq!(lines, prefix, "{max_bytes}");
    }
}

#[test]
fn a_first_line_that_is_too_long_is_truncated() {
    let long = format!("needle {}\n", "x".repeat(5000));
    let tree = Tree::new(&[("a.txt", &long), ("b.txt", &long)]);
    let query = SearchQuery { max_bytes: Some(500), ..text("needle") };
    let result = tree.search(&query);
    assert_eq!(paths(&result), ["a.txt"]);
    assert!(result.truncated && result.files[0].truncated);
    assert_eq!(result.text.len(), 500);
    tree.write("a.txt", "needle\n");
    assert_eq!(tree.search(&query).text.lines().count(), 2);
}

#[test]
fn encodings_and_terminators() {
    let tree = Tree::new(&[
        ("crlf.txt", "one\r\nneedle\r\nthree\r\n"),
        ("bom.txt", "\u{feff}needle\nb\n"),
    ]);
    let wide = |text: &str| -> Vec<u8> {
        let units = ['\u{feff}'].into_iter().chain(text.chars());
        let units = units.flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec());
        units.flat_map(u16::to_le_bytes).collect()
    };
    tree.write("wide.txt", wide("eins\r\nüber needle\r\n"));
    tree.write("latin.txt", b"caf\xe9 needle\n");
    for (pattern, expected) in [
        (r"^needle$", &["bom.txt", "crlf.txt"][..]),
        (r"über needle$", &["wide.txt"]),
        (r"caf. needle", &["latin.txt"]),
    ] {
        assert_eq!(tree.files(&regex(pattern)), expected, "{pattern}");
    }
    let options = WorkspaceOptions { encoding: Some("latin1".into()), ..tree.options() };
    assert_eq!(paths(&tree.search_as(&text("café"), &options)), ["latin.txt"]);
}

#[test]
fn files_that_are_not_text_are_counted() {
    let tree = Tree::new(&[("a.txt", "needle"), ("b.bin", "needle\0")]);
    let query = SearchQuery { paths: vec![".".into(), "b.bin".into()], ..text("needle") };
    let result = tree.search(&query);
    assert_eq!(paths(&result), ["a.txt"]);
    assert_eq!((result.files_searched, result.binary_skipped), (1, 1));
}

#[test]
fn large_files_are_reported() {
    let tree = Tree::new(&[("a.txt", "needle\n"), ("large.txt", "needle and more\n")]);
    let options = WorkspaceOptions { max_file_bytes: 10, ..tree.options() };
    let result = tree.search_as(&text("needle"), &options);
    assert_eq!(paths(&result), ["a.txt"]);
    assert_eq!(error_codes(&result), [("large.txt", Code::FileTooLarge)]);
}

#[test]
fn look_around_and_its_limit() {
    let tree = Tree::new(&[("a.txt", "ab\nac\n"), ("b.txt", &"ab".repeat(60))]);
    let result = tree.search(&regex(r"a(?!b)c"));
    assert_eq!(result.files[0].match_lines, [2]);
    let result = tree.search(&regex(r"(?:(a|b|ab)(?!z))*c\1"));
    assert_eq!(error_codes(&result), [("b.txt", Code::InvalidPattern)]);
    assert!(result.errors[0].message.starts_with("b.txt: "));
}

#[test]
fn invalid_arguments_fail_the_call() {
    let tree = Tree::new(&[]);
    let glob = SearchQuery { globs: vec!["*.rs".into(), "[".into()], ..text("a") };
    let no_root =
        WorkspaceOptions { root: tree.full("missing").into(), ..WorkspaceOptions::default() };
    let no_encoding = WorkspaceOptions { encoding: Some("klingon".into()), ..tree.options() };
    for (query, options, code) in [
        (regex("("), tree.options(), Code::InvalidPattern),
        (text(""), tree.options(), Code::InvalidArgument),
        (glob, tree.options(), Code::InvalidArgument),
        (text("a"), no_root, Code::InvalidArgument),
        (text("a"), no_encoding, Code::UnsupportedEncoding),
    ] {
        let error = search(&query, &options).unwrap_err();
        assert_eq!(error.code, code, "{query:?} {}", error.message);
    }
}

#[test]
fn unsearchable_paths_are_reported_as_data() {
    let tree = Tree::new(&[("a.txt", "needle")]);
    let query = SearchQuery {
        paths: ["missing/x", "a.txt", "", "a\0b", "a.txt/x"].map(PathBuf::from).to_vec(),
        ..text("needle")
    };
    let result = tree.search(&query);
    assert_eq!(paths(&result), ["a.txt"]);
    let codes: Vec<_> = result.errors.iter().map(|error| error.code).collect();
    assert_eq!(codes.len(), 4, "{:?}", result.errors);
    assert!(codes.contains(&Code::FileNotFound));
    assert_eq!(codes.iter().filter(|&&code| code == Code::InvalidArgument).count(), 2);
}

#[test]
fn result_does_not_depend_on_threads() {
    let names: Vec<_> = (0..300).map(|n| format!("d{}/e{}/f{n}.txt", n % 7, n % 3)).collect();
    let content = "needle 1\nb\nc\nneedle 2\n";
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), content)).collect();
    let tree = Tree::new(&files);
    for (max_matches, max_bytes) in [(1000, None), (123, None), (1000, Some(3000))] {
        let query = SearchQuery { max_matches, max_bytes, context: around(1, 1), ..text("needle") };
        let run = || format!("{:?}", tree.search(&query));
        let alone = parallel::alone(run);
        for _ in 0..5 {
            assert_eq!(run(), alone);
        }
    }
}

#[test]
fn cancelled_calls_end() {
    let tree = Tree::new(&[("a.txt", "needle")]);
    let cancel = Cancel::default();
    cancel.cancel();
    let result =
        Workspace::on(&OsFileSystem, &tree.options()).search_with(&text("needle"), &cancel);
    assert_eq!(result.unwrap_err().code, Code::Aborted);
}

#[test]
fn a_name_cannot_forge_a_line() {
    if cfg!(windows) {
        return;
    }
    let tree = Tree::new(&[("a\n1:00|b.txt", "needle")]);
    let result = search(&text("needle"), &tree.options()).unwrap();
    assert_eq!(result.files[0].path, "a\n1:00|b.txt");
    assert_eq!(result.text.lines().count(), 2);
}

#[test]
fn nothing_outside_of_the_root_is_read() {
    let tree = Tree::new(&[("a.txt", "needle"), ("sub/b.txt", "needle")]);
    let outside = tree.path.parent().unwrap();
    fs::write(outside.join("secret.txt"), "needle").unwrap();
    fs::write(outside.join(".ignore"), "*.txt\n").unwrap();
    fs::write(outside.join(".gitignore"), "*.txt\n").unwrap();
    fs::create_dir(outside.join(".git")).unwrap();
    assert_eq!(paths(&tree.search(&text("needle"))), ["a.txt", "sub/b.txt"]);
    let inside = tree.full("sub");
    let beyond = outside.join("secret.txt").to_str().unwrap().to_owned();
    for (path, expected) in [
        ("..", None),
        ("../secret.txt", None),
        ("../missing.txt", None),
        ("sub/../../secret.txt", None),
        (&beyond, None),
        ("/", None),
        ("sub/..", Some(2)),
        (&inside, Some(1)),
    ] {
        let query = SearchQuery { paths: vec![path.into()], ..text("needle") };
        let result = tree.search(&query);
        match expected {
            None => assert_eq!(error_codes(&result), [(path, Code::OutsideRoot)]),
            Some(count) => assert_eq!(result.files.len(), count, "{path} {:?}", result.errors),
        }
    }
}

#[test]
fn a_root_in_a_repository_applies_its_gitignore() {
    let tree = Tree::new(&[("a.log", "needle"), ("b.txt", "needle"), (".gitignore", "*.log\n")]);
    assert_eq!(tree.files(&text("needle")), ["a.log", "b.txt"]);
    fs::create_dir(tree.path.parent().unwrap().join(".git")).unwrap();
    assert_eq!(tree.files(&text("needle")), ["b.txt"]);
}

#[cfg(unix)]
mod on_unix {
    use super::*;
    use crate::support::make_fifo;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn links_are_followed_on_request_and_never_out_of_the_root() {
        let tree = Tree::new(&[("dir/a.txt", "needle")]);
        let outside = tree.path.parent().unwrap();
        fs::create_dir(outside.join("away")).unwrap();
        fs::write(outside.join("away/secret.txt"), "needle").unwrap();
        symlink("dir", tree.path.join("link")).unwrap();
        symlink("../dir", tree.path.join("dir/loop")).unwrap();
        symlink("dir/a.txt", tree.path.join("file")).unwrap();
        symlink("nowhere", tree.path.join("broken")).unwrap();
        symlink(outside.join("away"), tree.path.join("out")).unwrap();
        symlink(outside.join("away/secret.txt"), tree.path.join("out.txt")).unwrap();
        assert_eq!(tree.files(&text("needle")), ["dir/a.txt"]);
        let query = SearchQuery { follow_links: true, ..text("needle") };
        let result = tree.search(&query);
        assert_eq!(paths(&result), ["dir/a.txt", "file", "link/a.txt"]);
        assert_eq!(
            error_codes(&result),
            [
                ("broken", Code::FileNotFound),
                ("dir/loop", Code::Io),
                ("link/loop", Code::Io),
                ("out", Code::OutsideRoot),
                ("out.txt", Code::OutsideRoot),
            ]
        );
        for (path, code) in [("out", Code::OutsideRoot), ("out.txt", Code::OutsideRoot)] {
            let query = SearchQuery { paths: vec![path.into()], ..text("needle") };
            assert_eq!(error_codes(&tree.search(&query)), [(path, code)]);
        }
        let query = SearchQuery { paths: vec!["link".into(), "file".into()], ..text("needle") };
        assert_eq!(paths(&tree.search(&query)), ["link/a.txt"]);
    }

    #[test]
    fn ignore_files_are_not_read_through_links_out_of_the_root() {
        let tree = Tree::new(&[("a.txt", "needle")]);
        let outside = tree.path.parent().unwrap();
        fs::write(outside.join("rules"), "*.txt\n").unwrap();
        symlink("../rules", tree.path.join(".ignore")).unwrap();
        assert_eq!(paths(&tree.search(&text("needle"))), ["a.txt"]);
        fs::write(tree.path.join("rules"), "*.txt\n").unwrap();
        fs::remove_file(tree.path.join(".ignore")).unwrap();
        symlink("rules", tree.path.join(".ignore")).unwrap();
        assert_eq!(paths(&tree.search(&text("needle"))), Vec::<String>::new());
    }

    #[test]
    fn unreadable_files_are_reported() {
        let tree = Tree::new(&[("a.txt", "needle"), ("b.txt", "needle"), ("shut/c.txt", "needle")]);
        let set_mode = |path: &str, mode| {
            let mode = fs::Permissions::from_mode(mode);
            fs::set_permissions(tree.path.join(path), mode).unwrap();
        };
        set_mode("b.txt", 0);
        set_mode("shut", 0);
        // The superuser can read every file.
        if fs::read(tree.path.join("b.txt")).is_err() {
            let result = tree.search(&text("needle"));
            assert_eq!(paths(&result), ["a.txt"]);
            let denied = Code::PermissionDenied;
            assert_eq!(error_codes(&result), [("b.txt", denied), ("shut", denied)]);
        }
        set_mode("shut", 0o755);
    }

    #[test]
    fn special_files_and_files_without_a_unicode_name() {
        let tree = Tree::new(&[("a.txt", "needle")]);
        let fifo = tree.full("pipe");
        make_fifo(fifo.as_ref());
        assert_eq!(tree.files(&text("needle")), ["a.txt"]);
        let query = SearchQuery { paths: vec!["pipe".into()], ..text("needle") };
        assert_eq!(error_codes(&tree.search(&query)), [("pipe", Code::NotAFile)]);
        // macOS has no such names.
        if fs::write(tree.path.join(OsStr::from_bytes(b"b\xff.txt")), "needle").is_ok() {
            let result = tree.search(&text("needle"));
            assert_eq!(paths(&result), ["a.txt"]);
            assert_eq!(error_codes(&result), []);
            let message =
                r"b\xFF.txt: was not searched: its name is not UTF-8, so no path can name it";
            assert_eq!(result.warnings.len(), 1);
            assert_eq!(result.warnings[0].message, message);
        }
    }
}

/// A tree with few distinct names, so that rules often match.
fn generated_trees() -> impl Strategy<Value = Vec<(String, String)>> {
    let dir = prop::sample::select(vec!["", "a/", "b/", "a/b/", "a/b/a/", ".h/", "b/.h/", "b/a/"]);
    let rule = prop::sample::select(vec![
        "a",
        "b/",
        "/a",
        "*.x",
        "!*.x",
        "a/b",
        "**/b",
        "x.x",
        "!x.x",
        "/a/*",
        "!a",
        "!.h",
        "*",
        "!*/",
        ".h",
        "a/**",
        "!y.y",
        "# a",
        "a\\",
        "[",
        "b/a/",
        "!/b/a/y.y",
    ]);
    let rules = prop::collection::vec(rule, 1..4).prop_map(|rules| rules.join("\n"));
    let entry = prop_oneof![
        3 => prop::sample::select(vec!["x.x", "y.y", ".z"]).prop_map(|name| (name, String::new())),
        2 => rules.prop_flat_map(|rules| {
            let names = vec![".gitignore", ".gitignore", ".ignore", ".git/info/exclude"];
            (prop::sample::select(names), Just(rules))
        }),
        1 => Just((".git/", String::new())),
        1 => Just((".jj/", String::new())),
    ];
    let file = (dir, entry)
        .prop_map(|(dir, (name, rules))| (format!("{dir}{name}"), format!("# needle\n{rules}\n")));
    prop::collection::vec(file, 1..30)
}

proptest! {
    /// The reference for which files are searched is ripgrep's own walker.
    #[test]
    fn the_walk_agrees_with_ripgrep(
        files in generated_trees(),
        start in prop::sample::select(vec!["", "", "a", "a/b", "b", ".h"]),
        switches in any::<[bool; 4]>(),
        globs in prop::sample::select(vec![&[][..], &[][..], &["*.x"], &["!a"], &["a/**", "!*.y"], &["**/.h/**"]]),
    ) {
        let tree = Tree::new(&[]);
        for (path, content) in &files {
            tree.write(path, content);
        }
        let start_path = tree.path.join(start);
        prop_assume!(start_path.is_dir());
        let [hidden, gitignore, ignore_files, parents] = switches.map(|switch| !switch);
        let walker = |start: &Path, parents: bool| {
            let mut walker = ignore::WalkBuilder::new(start);
            walker
                .git_ignore(gitignore)
                .git_exclude(gitignore)
                .git_global(gitignore)
                .ignore(ignore_files)
                .parents(parents);
            walker
        };
        // A directory that the query names is searched although ignore files exclude it: those
        // above do not apply.
        let is_found = |walker: &ignore::WalkBuilder| {
            walker.build().filter_map(std::result::Result::ok).any(|entry| entry.path() == start_path)
        };
        let is_named = !start.is_empty();
        let parents_apply = parents && (!is_named || is_found(walker(&tree.path, true).hidden(false)));
        // So is one all of whose visible entries are excluded, which ripgrep has no option for. An
        // ignore file can admit a hidden entry.
        let has_visible = |walker: &mut ignore::WalkBuilder| {
            // An invalid rule is an error before the start itself.
            let entries = walker.max_depth(Some(1)).build().filter_map(std::result::Result::ok);
            entries.filter(|entry| entry.depth() == 1).map(|entry| entry.file_name().to_owned()).any(|name| !name.as_encoded_bytes().starts_with(b"."))
        };
        let is_emptied = !has_visible(&mut walker(&start_path, parents_apply));
        let was_empty = !has_visible(ignore::WalkBuilder::new(&start_path).standard_filters(false));
        prop_assume!(!is_named || !is_emptied || was_empty);
        let mut overrides = ignore::overrides::OverrideBuilder::new(&tree.path);
        for glob in globs.iter().flat_map(|glob| as_of_ripgrep(glob, start)) {
            overrides.add(&glob).unwrap();
        }
        let mut expected: Vec<String> = walker(&start_path, parents_apply)
            .hidden(!hidden)
            .overrides(overrides.build().unwrap())
            .build()
            .filter_map(std::result::Result::ok)
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| relative(entry.path(), &tree.path))
            .collect();
        expected.sort();
        let query = SearchQuery {
            paths: if start.is_empty() { Vec::new() } else { vec![start.into()] },
            hidden,
            gitignore,
            ignore_files,
            parent_ignore_files: parents,
            globs: globs.iter().map(|&glob| glob.to_owned()).collect(),
            ..text("# needle")
        };
        let mut found = paths(&tree.search(&query));
        found.sort();
        prop_assert_eq!(&found, &expected);
        if globs.is_empty() {
            let mut found = tree.files(&query);
            found.sort();
            prop_assert_eq!(&found, &expected);
        }
    }
}

/// A glob of [`the_walk_agrees_with_ripgrep`] for ripgrep, which enters no ignored or hidden
/// directory that a glob names, and has no globs relative to the start.
fn as_of_ripgrep(glob: &str, start: &str) -> Vec<String> {
    let globs = match glob {
        "a/**" if ["b", ".h"].contains(&start) => {
            vec!["/a", glob, "/b/a", "/b/a/**", "/.h/a", "/.h/a/**"]
        }
        "a/**" => vec!["/a", glob],
        "**/.h/**" => vec!["**/.h", glob],
        glob => vec![glob],
    };
    globs.into_iter().map(str::to_owned).collect()
}

/// With forward slashes, as in results.
fn relative(path: &Path, top: &Path) -> String {
    path.strip_prefix(top).unwrap().to_str().unwrap().replace(std::path::MAIN_SEPARATOR, "/")
}
