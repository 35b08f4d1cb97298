//! Lists of files: those that a search would search, and those with a match.

use hashline_core::{FoundFile, FoundFiles, SearchOutput, Session, SessionOptions};
use serde_json::json;

use super::*;

fn listing(query: &SearchQuery, options: &WorkspaceOptions) -> (FoundFiles, SearchResult) {
    let result = search(query, options).unwrap();
    assert_eq!((result.files.len(), result.match_count), (0, 0), "no lines are shown");
    let list = result.list.clone().expect("a list");
    assert_eq!(result.truncated, list.next.is_some());
    assert_eq!(result.text.lines().count(), list.files.len());
    (list, result)
}

fn paths_of(list: &FoundFiles) -> Vec<&str> {
    list.files.iter().map(|file| file.path.as_str()).collect()
}

fn whole(query: &SearchQuery, output: SearchOutput) -> SearchQuery {
    SearchQuery { output, max_files: u64::MAX, max_bytes: None, ..query.clone() }
}

/// Checks that the lists of a query have the files of its search.
pub(super) fn check_lists(result: &SearchResult, query: &SearchQuery, options: &WorkspaceOptions) {
    let (files, of_files) = listing(&whole(query, SearchOutput::Files), options);
    let (counts, of_counts) = listing(&whole(query, SearchOutput::Count), options);
    let (all, of_all) = listing(&whole(query, SearchOutput::List), options);
    assert_eq!(paths_of(&files), paths_of(&counts));
    assert_eq!(files.file_count, counts.file_count);
    let total: u64 = counts.files.iter().map(|file| file.match_count.unwrap()).sum();
    assert_eq!((files.match_count, counts.match_count), (None, Some(total)));
    for path in paths_of(&files) {
        assert!(paths_of(&all).contains(&path), "{path}");
    }
    for other in [&of_files, &of_counts, &of_all] {
        assert_eq!(other.unmatched_globs, result.unmatched_globs);
        assert_eq!(other.warnings, result.warnings);
        let (mut other, mut expected) = (other.skipped.clone(), result.skipped.clone());
        for skipped in [&mut other, &mut expected] {
            (skipped.binary, skipped.too_large, skipped.lossy) = (0, 0, 0);
        }
        assert_eq!(other, expected);
    }
    if result.truncated {
        return;
    }
    let matches: Vec<_> =
        result.files.iter().map(|file| (file.path.as_str(), file.match_count)).collect();
    let counted: Vec<_> =
        counts.files.iter().map(|file| (file.path.as_str(), file.match_count.unwrap())).collect();
    assert_eq!(counted, matches);
    for other in [&of_files, &of_counts] {
        assert_eq!(other.files_searched, result.files_searched);
        assert_eq!(format!("{:?}", other.errors), format!("{:?}", result.errors));
        assert_eq!(other.explanation, result.explanation);
    }
}

fn tree() -> Tree {
    Tree::new(&[
        (".ignore", "dist\n"),
        (".github/ci.yml", "needle\n"),
        ("a.bin", "needle\0"),
        ("b.txt", "needle\nneedle\nhay\n"),
        ("b/c.txt", "hay needle\n"),
        ("dist/d.txt", "needle\n"),
        ("logo.png", "\u{89}PNG\r\n\u{1a}\n\0"),
        ("z.txt", ""),
    ])
}

fn named(paths: &[&str]) -> SearchQuery {
    SearchQuery { paths: paths.iter().map(PathBuf::from).collect(), ..SearchQuery::list() }
}

#[test]
fn regression_files_of_several_paths_are_sorted_by_the_names_shown() {
    let tree = Tree::new(&[
        ("a/one.txt", "needle\n"),
        ("b/two.txt", "needle\n"),
        ("b/three.txt", "needle\n"),
        ("c.txt", "needle\n"),
    ]);
    let (mut given, mut expected) = (vec!["c.txt", "b", "a"], vec!["a/one.txt"]);
    expected.extend(["b/three.txt", "b/two.txt", "c.txt"]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a", tree.path.join("link")).unwrap();
        // A link that the query names is followed; its file is found once.
        (given[2], expected) =
            ("link", ["b/three.txt", "b/two.txt", "c.txt", "link/one.txt"].to_vec());
    }
    let query = SearchQuery { max_files: u64::MAX, ..named(&given) };
    let (list, _) = listing(&query, &tree.options());
    assert_eq!(paths_of(&list), expected);
    let matches = tree.search(&SearchQuery { paths: query.paths, ..text("needle") });
    assert_eq!(paths(&matches), expected);
}

#[test]
fn a_query_without_a_pattern_lists_what_a_search_would_search() {
    let tree = tree();
    let (list, found) = listing(&SearchQuery::list(), &tree.options());
    // Binary files and images are listed; nothing is read.
    assert_eq!(found.text, "a.bin\nb/c.txt\nb.txt\nlogo.png\nz.txt");
    assert_eq!((list.file_count, list.next, found.files_searched), (5, None, 0));
    assert_eq!(found.list_note().unwrap(), "5 files");
    assert_eq!(
        found.skipped_note().unwrap(),
        "skipped: 1 ignored directory, 1 hidden directory, 1 hidden file"
    );
    let (list, _) = listing(&named(&["dist", ".github", "b.txt"]), &tree.options());
    assert_eq!(paths_of(&list), [".github/ci.yml", "b.txt", "dist/d.txt"]);
    let globs = vec!["*.txt".to_owned(), "*.rs".to_owned()];
    let (list, found) = listing(&SearchQuery { globs, ..SearchQuery::list() }, &tree.options());
    assert_eq!(paths_of(&list), ["b/c.txt", "b.txt", "z.txt"]);
    assert_eq!(found.unmatched_globs, ["*.rs"]);
}

#[test]
fn a_list_of_nothing_says_what_was_skipped() {
    let tree = Tree::new(&[(".ignore", "dist\n"), ("dist/d.txt", "needle\n")]);
    let (list, found) = listing(&SearchQuery::list(), &tree.options());
    assert_eq!((list.file_count, found.text.as_str()), (0, ""));
    assert_eq!(
        found.skipped_note().unwrap(),
        "skipped: 1 ignored directory (dist), 1 hidden file; name a path to search it"
    );
}

#[test]
fn files_with_a_match_and_their_counts() {
    let tree = tree();
    let output = |output| SearchQuery { output, ..text("needle") };
    let (list, found) = listing(&output(SearchOutput::Files), &tree.options());
    assert_eq!((found.text.as_str(), list.file_count), ("b/c.txt\nb.txt", 2));
    assert_eq!(found.list_note().unwrap(), "2 files");
    assert_eq!((found.files_searched, found.skipped.binary), (3, 2));
    let (list, found) = listing(&output(SearchOutput::Count), &tree.options());
    assert_eq!(found.text, "b/c.txt:1\nb.txt:2");
    assert_eq!((list.file_count, list.match_count), (2, Some(3)));
    assert_eq!(found.list_note().unwrap(), "3 matching lines in 2 files");
}

#[test]
fn limits_of_lines_do_not_change_counts() {
    let tree = tree();
    let query = SearchQuery {
        output: SearchOutput::Count,
        max_matches: 0,
        max_matches_per_file: Some(1),
        ..text("needle")
    };
    assert_eq!(listing(&query, &tree.options()).1.text, "b/c.txt:1\nb.txt:2");
}

#[test]
fn a_list_that_was_cut_can_be_continued() {
    let files: Vec<String> = (0..2500).map(|number| format!("d{}/{number}", number % 7)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "needle\n")).collect();
    let tree = Tree::new(&files);
    for output in [SearchOutput::List, SearchOutput::Files, SearchOutput::Count] {
        let query = whole(&text("needle"), output);
        let (all, found) = listing(&query, &tree.options());
        assert_eq!((all.files.len(), all.file_count), (2500, 2500));
        for (max_files, max_bytes) in [(999, None), (u64::MAX, Some(9000))] {
            let (mut rows, mut skip) = (Vec::new(), 0);
            loop {
                let query = SearchQuery { max_files, max_bytes, skip, ..query.clone() };
                let (page, found) = listing(&query, &tree.options());
                assert_eq!((page.file_count, page.match_count), (all.file_count, all.match_count));
                assert!(page.files.len() as u64 <= max_files);
                assert!(found.text.len() <= max_bytes.unwrap_or(usize::MAX));
                rows.push(found.text);
                let Some(next) = page.next else { break };
                assert_eq!(next, skip + page.files.len() as u64);
                skip = next;
            }
            assert!(rows.len() > 2);
            assert!(rows.join("\n") == found.text, "{output:?}");
        }
    }
}

#[test]
fn limits_at_their_ends() {
    let tree = tree();
    let of = |query: SearchQuery| {
        let (list, found) = listing(&query, &tree.options());
        (found.text.clone(), list.file_count, list.next, found.list_note().unwrap())
    };
    // One row is shown although it does not fit: so a list can be continued.
    let tiny = SearchQuery { max_bytes: Some(1), skip: 1, ..SearchQuery::list() };
    assert_eq!(of(tiny), ("b/c.txt".to_owned(), 5, Some(2), "5 files, 1 shown".to_owned()));
    let last = SearchQuery { max_bytes: Some(1), skip: 4, ..SearchQuery::list() };
    assert_eq!(of(last), ("z.txt".to_owned(), 5, None, "5 files, 1 shown".to_owned()));
    for skip in [5, u64::MAX] {
        let past = SearchQuery { skip, max_files: u64::MAX, ..SearchQuery::list() };
        assert_eq!(of(past), (String::new(), 5, None, "5 files, 0 shown".to_owned()));
    }
}

#[test]
fn sizes_are_data_and_short_text() {
    let tree = Tree::new(&[
        ("a", ""),
        ("b", &"x\n".repeat(500)),
        ("c", &"x\n".repeat(800)),
        ("d", &"x\n".repeat(3 << 20)),
    ]);
    let query = SearchQuery { sizes: true, ..SearchQuery::list() };
    let (list, found) = listing(&query, &tree.options());
    assert_eq!(found.text, "a (0 B)\nb (1000 B)\nc (1.6 KiB)\nd (6.0 MiB)");
    let bytes: Vec<_> = list.files.iter().map(|file| file.bytes.unwrap()).collect();
    assert_eq!(bytes, [0, 1000, 1600, 6 << 20]);
    let query = SearchQuery { sizes: true, output: SearchOutput::Count, ..text("x") };
    let (list, found) = listing(&query, &tree.options());
    assert_eq!(found.text, "b:500 (1000 B)\nc:800 (1.6 KiB)\nd:3145728 (6.0 MiB)");
    let of_c = FoundFile { path: "c".into(), match_count: Some(800), bytes: Some(1600) };
    assert_eq!(list.files[1], of_c);
}

#[test]
#[cfg(unix)]
fn a_name_cannot_forge_a_row() {
    let tree = Tree::new(&[("a\nb.txt", "needle\n")]);
    let (list, found) = listing(&SearchQuery::list(), &tree.options());
    assert_eq!((found.text.as_str(), paths_of(&list)), ("a\\nb.txt", vec!["a\nb.txt"]));
    let query = SearchQuery { output: SearchOutput::Count, ..text("needle") };
    assert_eq!(listing(&query, &tree.options()).1.text, "a\\nb.txt:1");
}

#[test]
#[cfg(unix)]
fn a_named_pipe_is_not_listed() {
    let tree = Tree::new(&[("a.txt", "")]);
    crate::support::make_fifo(tree.full("pipe").as_ref());
    let (list, found) = listing(&named(&["pipe", ".", "none.txt"]), &tree.options());
    assert_eq!(paths_of(&list), ["a.txt"]);
    let errors = error_codes(&found);
    assert_eq!(errors, [("none.txt", Code::FileNotFound), ("pipe", Code::NotAFile)]);
}

#[test]
fn cancelled_lists_stop() {
    let tree = tree();
    for output in [SearchOutput::List, SearchOutput::Files, SearchOutput::Count] {
        let query = whole(&text("needle"), output);
        let workspace = Workspace::on(&OsFileSystem, &tree.options());
        let counting = Cancel::counting();
        workspace.search_with(&query, &counting).unwrap();
        assert!(counting.checks() > 2);
        for nth in 1..=counting.checks() {
            let found = workspace.search_with(&query, &Cancel::at_check(nth));
            assert!(found.is_err_and(|error| error.code == Code::Aborted), "{output:?} {nth}");
        }
    }
}

#[test]
fn a_query_as_data() {
    let query = |value| serde_json::from_value::<SearchQuery>(value);
    let list = query(json!({"globs": "*.rs", "sizes": true, "maxFiles": 3, "skip": 2})).unwrap();
    assert_eq!(list.output, SearchOutput::List);
    assert_eq!((list.sizes, list.max_files, list.skip), (true, 3, 2));
    for (output, expected) in [
        (None, SearchOutput::Lines),
        (Some("lines"), SearchOutput::Lines),
        (Some("files"), SearchOutput::Files),
        (Some("count"), SearchOutput::Count),
    ] {
        assert_eq!(query(json!({"search": "a", "output": output})).unwrap().output, expected);
        // Without a pattern there is only one output.
        assert_eq!(
            query(json!({"paths": ".", "output": output})).unwrap().output,
            SearchOutput::List
        );
    }
    assert!(query(json!({"search": "a", "output": "list"})).is_err());
}

fn session(tree: &Tree, change: impl FnOnce(&mut SessionOptions)) -> Session {
    let mut options = SessionOptions::in_dir(tree.full(""));
    change(&mut options);
    Session::new(options).unwrap()
}

/// A patch of the first line, with the anchor that a read shows elsewhere.
fn edits_unseen(tree: &Tree, session: &Session, path: &str) -> Code {
    let rows = self::session(tree, |_| {}).read(path).unwrap().text;
    let anchor = rows.split('|').next().unwrap().to_owned();
    let edit = json!({"op": "set_line", "path": path, "anchor": anchor, "text": "x"});
    match session.apply(json!({"operations": [edit]})).unwrap() {
        hashline_core::Outcome::Rejected(rejected) => rejected.code,
        applied => panic!("{applied:?}"),
    }
}

#[test]
fn a_list_shows_no_lines() {
    let tree = tree();
    for output in [SearchOutput::List, SearchOutput::Files, SearchOutput::Count] {
        let session = session(&tree, |_| {});
        let found = session.search(whole(&text("needle"), output)).unwrap();
        assert!(found.text.contains("b.txt"));
        assert_eq!(edits_unseen(&tree, &session, "b.txt"), Code::NotShown, "{output:?}");
    }
}

#[test]
fn a_session_limits_a_list() {
    let tree = tree();
    let session = session(&tree, |options| options.limits.max_lines = 2);
    let found = session.search(SearchQuery::list()).unwrap();
    assert_eq!(found.text, "a.bin\nb/c.txt");
    assert_eq!(found.list.unwrap().next, Some(2));
}

#[test]
fn documents_are_listed_with_their_sizes() {
    let tree = tree();
    let session = session(&tree, |_| {});
    session.set_document("b/new.txt", "twelve bytes", None).unwrap();
    session.set_document("z.txt", "7 bytes", None).unwrap();
    let globs = vec!["*.txt".to_owned()];
    let query = SearchQuery { globs, sizes: true, ..SearchQuery::list() };
    let found = session.search(query).unwrap();
    assert_eq!(found.text, "b/c.txt (11 B)\nb/new.txt (12 B)\nb.txt (18 B)\nz.txt (7 B)");
}

#[test]
fn a_list_over_several_roots_has_one_sequence() {
    let (tree, other) = (tree(), Tree::new(&[("x.txt", "needle"), ("y.txt", "needle\nneedle")]));
    let root = other.full("");
    let session = session(&tree, |options| options.read_roots = vec![root.clone().into()]);
    let paths: Vec<PathBuf> = vec![root.clone().into(), "b".into(), "b.txt".into()];
    for (output, counts) in
        [(SearchOutput::List, None), (SearchOutput::Files, None), (SearchOutput::Count, Some(6))]
    {
        let query = SearchQuery { paths: paths.clone(), ..whole(&text("needle"), output) };
        let all = session.search(query.clone()).unwrap();
        let rows: Vec<&str> = all.text.lines().collect();
        assert_eq!(rows.len(), 4);
        for max_files in 1..=4 {
            for skip in 0..=5 {
                let found = session.search(SearchQuery { max_files, skip, ..query.clone() });
                let found = found.unwrap();
                let list = found.list.unwrap();
                let first = (skip as usize).min(4);
                let last = (first + max_files as usize).min(4);
                assert_eq!(found.text, rows[first..last].join("\n"), "{max_files} {skip}");
                assert_eq!((list.file_count, list.match_count), (4, counts));
                assert_eq!(list.next, (last < 4).then_some(last as u64), "{max_files} {skip}");
                assert_eq!(found.truncated, last < 4);
            }
        }
    }
}

#[test]
fn regression_a_list_is_streamed_row_by_row() {
    let tree = tree();
    let workspace = Workspace::on(&OsFileSystem, &tree.options());
    let list = SearchQuery { sizes: true, ..SearchQuery::list() };
    let counts = SearchQuery { output: SearchOutput::Count, ..text("needle") };
    let limited = SearchQuery { max_bytes: Some(9), max_files: 2, skip: 1, ..list.clone() };
    for query in [list, counts, limited] {
        let whole = search(&query, &tree.options()).unwrap();
        let mut rows = Vec::new();
        let mut stops_after = |limit: usize| {
            rows.clear();
            let mut sink = |row: &str, more: &str| {
                rows.push(row.to_owned() + more);
                rows.len() < limit
            };
            let none = Cancel::default();
            workspace.search_with_progress(&query, &none, &|_, _| {}, Some(&mut sink)).unwrap()
        };
        let streamed = stops_after(usize::MAX);
        assert_eq!((streamed.text.as_str(), &streamed.list), ("", &whole.list));
        let stopped = stops_after(1);
        assert_eq!(stopped.list.unwrap().files.len(), 1);
        stops_after(usize::MAX);
        assert_eq!(rows.join("\n"), whole.text);
    }
}

#[test]
fn regression_options_that_would_be_ignored_are_refused() {
    let tree = tree();
    let named = |name: &str| SearchQuery { symbol: Some(name.into()), ..SearchQuery::new("") };
    let pattern = |query: Query| SearchQuery { search: query, ..named("f") };
    let lines = || text("needle");
    for (query, message) in [
        (
            SearchQuery { max_files: 0, ..SearchQuery::list() },
            "max_files is 0: a list shows at least one file",
        ),
        (SearchQuery { max_files: 0, ..lines() }, "max_files is 0: a list shows at least one file"),
        (
            SearchQuery { skip: 1, ..lines() },
            "skip is for lists of files, and this search shows lines",
        ),
        (
            SearchQuery { sizes: true, ..named("f") },
            "sizes is for lists of files, and this search shows lines",
        ),
        (
            SearchQuery { max_files: 5, ..lines() },
            "max_files is for lists of files, and this search shows lines",
        ),
        (named(""), "symbol is \"\": use the name of a definition"),
        (
            pattern(Query { case_sensitive: true, ..Query::default() }),
            "symbol and case_sensitive are both given",
        ),
        (pattern(Query { regex: true, ..Query::default() }), "symbol and regex are both given"),
        (pattern(Query::text("g")), "symbol and search are both given"),
        (
            SearchQuery { output: SearchOutput::Files, ..named("f") },
            "symbol and output are both given",
        ),
    ] {
        let session = Session::in_dir(&tree.path).unwrap();
        for error in
            [search(&query, &tree.options()).unwrap_err(), session.search(query).unwrap_err()]
        {
            assert_eq!(error.code, Code::InvalidArgument);
            assert!(error.message.starts_with(message), "{error}");
        }
    }
}
