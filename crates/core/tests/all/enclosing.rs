//! Searches that show the lines that open the blocks around each match.

use std::collections::BTreeSet;
use std::fs;

use hashline_core::Context;
use hashline_core::Query;
use hashline_core::{Cancel, Outcome};
use hashline_core::{SearchQuery, SearchResult};
use hashline_core::{Session, SessionOptions, Workspace, WorkspaceOptions};
use proptest::prelude::*;
use serde_json::json;

const CODE: &str = "\
impl Place {
    fn first(&self) {
        work();
        if self.is_open() {
            found(1);
            found(2);
        }
    }

    fn second(&self) {
        found(3);
    }
}

fn third() {
    found(4);
}
";

fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, WorkspaceOptions) {
    let dir = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, content)| fs::write(dir.path().join(name), content).unwrap());
    let options = WorkspaceOptions { root: dir.path().into(), ..WorkspaceOptions::default() };
    (dir, options)
}

fn query(search: &str) -> SearchQuery {
    let search =
        Query { search: search.to_owned(), regex: false, case_sensitive: true, ..Query::default() };
    SearchQuery { enclosing: true, ..SearchQuery::new(search) }
}

fn found(content: &str, name: &str, query: &SearchQuery) -> SearchResult {
    let (_dir, options) = workspace(&[(name, content)]);
    Workspace::new(options).search_with(query, &Cancel::default()).unwrap()
}

/// The numbers of the lines shown; 0 is a gap.
fn shown(result: &SearchResult) -> Vec<u64> {
    let rows = result.text.lines().filter(|row| !row.starts_with("---"));
    rows.map(|row| row.split_once(':').map_or(0, |(number, _)| number.parse().unwrap())).collect()
}

#[test]
fn each_opening_line_is_shown_once_above_the_matches_in_its_block() {
    let result = found(CODE, "a.rs", &query("found"));
    assert_eq!(shown(&result), [1, 2, 0, 4, 5, 6, 0, 10, 11, 0, 15, 16]);
    assert_eq!(result.files[0].match_lines, [5, 6, 11, 16]);
    assert_eq!((result.match_count, result.truncated), (4, false));
}

#[test]
fn context_and_opening_lines_are_shown_together() {
    let context = Context { before: 1, after: 1 };
    let result = found(CODE, "a.rs", &SearchQuery { context, ..query("found") });
    assert_eq!(shown(&result), [1, 2, 0, 4, 5, 6, 7, 0, 10, 11, 12, 0, 15, 16, 17]);
}

#[test]
fn a_match_that_opens_a_block_is_shown_once() {
    let result = found(CODE, "a.rs", &query("fn"));
    assert_eq!(shown(&result), [1, 2, 0, 10, 0, 15]);
    assert_eq!(result.files[0].match_lines, [2, 10, 15]);
}

#[test]
fn files_without_a_known_language_have_no_opening_lines() {
    for content in [CODE, "", "found", "a\n  found\r\n"] {
        let with = found(content, "notes", &query("found"));
        let without = found(content, "notes", &SearchQuery { enclosing: false, ..query("found") });
        assert_eq!(with.text, without.text);
    }
}

#[test]
fn limits_apply() {
    for max_matches in 0..5 {
        let result = found(CODE, "a.rs", &SearchQuery { max_matches, ..query("found") });
        assert_eq!(result.match_count, max_matches.min(4));
        assert_eq!(result.truncated, max_matches < 4);
    }
    for max_bytes in 0..300 {
        let limited = SearchQuery { max_bytes: Some(max_bytes), ..query("found") };
        let result = found(CODE, "a.rs", &limited);
        assert!(result.text.len() <= max_bytes.max(60), "{max_bytes}: {}", result.text);
        assert_eq!(result.truncated, result.match_count < 4, "{max_bytes}: {}", result.text);
    }
}

#[test]
fn opening_lines_have_anchors_to_edit_by() {
    let (dir, workspace) = workspace(&[("a.rs", CODE)]);
    let session = Session::new(SessionOptions { workspace, ..SessionOptions::default() }).unwrap();
    let found = session.search(query("found(3)")).unwrap();
    let row = found.text.lines().find(|row| row.starts_with("10:")).unwrap();
    let anchor = row.split_once('|').map_or(row, |(anchor, _)| anchor);
    let edit =
        json!({"op": "set_line", "path": "a.rs", "anchor": anchor, "text": "    fn other() {"});
    let outcome = session.apply(json!({"operations": [edit]})).unwrap();
    assert!(matches!(outcome, Outcome::Applied(_)));
    let now = fs::read_to_string(dir.path().join("a.rs")).unwrap();
    assert_eq!(now, CODE.replace("fn second(&self)", "fn other()"));
}

#[test]
fn a_text_with_many_matches_in_deep_blocks_is_searched_in_time() {
    let depth = 300;
    let open: String = (0..depth).map(|at| format!("{}if x {{\n", " ".repeat(at))).collect();
    let close: String = (0..depth).rev().map(|at| format!("{}}}\n", " ".repeat(at))).collect();
    let content = format!("fn f() {{\n{open}{}{close}}}\n", "found();\n".repeat(2000));
    let result = found(&content, "a.rs", &SearchQuery { max_matches: 5000, ..query("found") });
    assert_eq!(result.match_count, 2000);
    assert_eq!(shown(&result).len(), 1 + depth + 2000);
}

proptest! {
    #[test]
    fn rows_are_those_of_the_search_plus_opening_lines(
        depths in prop::collection::vec(0usize..4, 1..40),
        picks in prop::collection::btree_set(0usize..40, 0..8),
        (before, after) in (0u64..3, 0u64..3),
    ) {
        let mut depth = 0;
        let mut content = String::new();
        for (at, wanted) in depths.iter().enumerate() {
            depth = (*wanted).min(depth + 1);
            let word = if picks.contains(&at) { "found" } else { "other" };
            content += &format!("{}{word}:\n{}- x\n", "  ".repeat(depth), "  ".repeat(depth + 1));
        }
        let context = Context { before, after };
        let with = found(&content, "a.yaml", &SearchQuery { context, ..query("found") });
        let plain = SearchQuery { context, enclosing: false, ..query("found") };
        let without = found(&content, "a.yaml", &plain);
        let rows = |result: &SearchResult| -> BTreeSet<u64> { shown(result).into_iter().filter(|&row| row > 0).collect() };
        prop_assert_eq!(&with.files, &without.files);
        prop_assert!(rows(&with).is_superset(&rows(&without)));
        let lines: Vec<u64> = shown(&with).into_iter().filter(|&row| row > 0).collect();
        prop_assert!(lines.windows(2).all(|pair| pair[0] < pair[1]), "{}", with.text);
        for (above, below) in shown(&with).iter().zip(shown(&with).iter().skip(1)) {
            prop_assert!(*above == 0 || *below == 0 || above + 1 == *below, "{}", with.text);
        }
    }
}
