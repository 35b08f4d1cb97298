//! A pattern without a match is explained if it may be meant as in `grep` or as text.

use hashline_core::{PatternExplanation, SearchOutput};

use super::*;

#[test]
fn other_readings_are_counted_if_nothing_matches() {
    let tree = Tree::new(&[
        ("a.txt", "json\ntool\nprice: $5 and $5\ncall foo(bar)\naa\n"),
        ("b.txt", "tool foo(bar)\nitems[0]\n"),
        ("c.bin", "tool\0"),
    ]);
    for (pattern, literal_matches, grep, note) in [
        (
            r"json\|tool",
            0,
            Some(("json|tool", 3)),
            r#"here `\|` is the character |; as in grep, "json|tool", it matches 3 lines; as literal text it matches no line"#,
        ),
        (
            r"a\{2\}",
            0,
            Some(("a{2}", 1)),
            r#"here `\{` is the character {; as in grep, "a{2}", it matches 1 line; as literal text it matches no line"#,
        ),
        ("foo(bar)", 2, None, "here ( ) is a group; as literal text it matches 2 lines: set it"),
        ("$5", 1, None, "here $ is the end of a line; as literal text it matches 1 line: set it"),
        ("$6", 0, None, "here $ is the end of a line; as literal text it matches no line"),
        (
            "items[0]",
            1,
            None,
            "here [ ] is a set of characters; as literal text it matches 1 line: set it",
        ),
        // An invalid pattern in grep.
        (r"baz\(", 0, None, r"here `\(` is the character (; as literal text it matches no line"),
    ] {
        let found = tree.search(&regex(pattern));
        assert_eq!(found.explanation_note("set it", "omit it").as_deref(), Some(note), "{pattern}");
        let expected = PatternExplanation {
            meaning: found.explanation.as_ref().unwrap().meaning.clone(),
            literal_matches: Some(literal_matches),
            grep_pattern: grep.map(|(pattern, _)| pattern.to_owned()),
            grep_matches: grep.map(|(_, count)| count),
            regex_matches: None,
        };
        assert_eq!(found.explanation, Some(expected), "{pattern}");
    }
}

#[test]
fn a_pattern_of_several_lines_is_searched_without_explanation() {
    let tree = Tree::new(&[("a.txt", "one\n")]);
    let found = tree.search(&regex("(?x)\nfoo(bar)"));
    assert_eq!((found.match_count, found.explanation), (0, None));
}

#[test]
fn what_has_one_meaning_or_a_match_is_not_explained() {
    let tree = Tree::new(&[("a.txt", "json|tool\nfoobar\n")]);
    for query in [
        regex(r"json\|tool"),
        regex("foo(bar)"),
        regex("nothing.*here"),
        // Another reading, but without a match.
        regex("items[9]"),
        text("f(x)"),
        SearchQuery { max_matches: 0, ..regex("foo(bar)") },
    ] {
        assert_eq!(tree.search(&query).explanation, None, "{query:?}");
    }
}

#[test]
fn regression_an_invalid_pattern_counts_the_lines_with_its_text() {
    let tree = Tree::new(&[
        ("a.txt", "foo(x)\nfoo(y)\n*star*\nC:\\Users\n"),
        ("b.txt", "call foo(z)\na\\nb\n"),
        (".ignore", "skipped\n"),
        ("skipped/c.txt", "foo(\n"),
    ]);
    let session = hashline_core::Session::in_dir(&tree.path).unwrap();
    for (pattern, note) in [
        ("foo(", ". As literal text it matches 3 lines: set regex to false"),
        ("*star*", ". As literal text it matches 1 line: set regex to false"),
        (r"C:\Users", ". As literal text it matches 1 line: set regex to false"),
        (r"a\nb", ". As literal text it matches 1 line: set regex to false"),
        ("a{", ". As literal text it matches no line"),
        ("[", ". As literal text it matches no line"),
    ] {
        let query = regex(pattern);
        for output in [SearchOutput::Lines, SearchOutput::Count] {
            let query = SearchQuery { output, ..query.clone() };
            let errors = [search(&query, &tree.options()), session.search(query)];
            for error in errors.map(|found| found.unwrap_err()) {
                assert_eq!(error.code, Code::InvalidPattern);
                assert!(error.message.ends_with(note), "{error}");
            }
        }
    }
    let in_skipped = SearchQuery { paths: vec!["skipped".into()], ..regex("foo(") };
    let error = search(&in_skipped, &tree.options()).unwrap_err();
    assert!(error.message.ends_with("it matches 1 line: set regex to false"), "{error}");
    // Too long for a literal text, too.
    let error = search(&regex(&"(".repeat(40 << 10)), &tree.options()).unwrap_err();
    assert!(!error.message.contains("literal"), "{error}");
}

#[test]
fn regression_text_that_is_a_valid_pattern_is_explained() {
    let tree = Tree::new(&[
        ("a.txt", "open C:\\dir\\sub and x a.b(c)\n"),
        ("b.txt", "[ERROR] disk\nno letter\n"),
    ]);
    for (pattern, note) in [
        (r"C:\dir", r"here `\d` is a digit; as literal text it matches 1 line: set it"),
        ("a.b(c)", "here ( ) is a group; as literal text it matches 1 line: set it"),
    ] {
        let found = tree.search(&regex(pattern));
        assert_eq!(found.explanation_note("set it", "omit it").as_deref(), Some(note), "{pattern}");
    }
    // It has matches, so the lines with the text are not counted.
    let found = tree.search(&SearchQuery::new(Query::regex("[ERROR]")));
    assert_eq!(found.match_count, 3);
    let note = "here [ ] is a set of characters; to search for it as literal text, set it";
    assert_eq!(found.explanation_note("set it", "omit it").as_deref(), Some(note));
    assert_eq!(tree.search(&regex("[aeiou]")).explanation, None);
    assert_eq!(tree.search(&text("[ERROR]")).explanation, None);
}

#[test]
fn a_pattern_is_explained_once_for_all_directories() {
    let (tree, other) = (Tree::new(&[("a.txt", "f(x)\n")]), Tree::new(&[("b.txt", "f(x) fx\n")]));
    let options = hashline_core::SessionOptions {
        workspace: tree.options(),
        read_roots: vec![other.path.clone()],
        ..hashline_core::SessionOptions::default()
    };
    let session = hashline_core::Session::new(options).unwrap();
    let paths = vec![".".into(), other.path.clone()];
    let search =
        |pattern: &str| session.search(SearchQuery { paths: paths.clone(), ..regex(pattern) });
    // The second directory has a match.
    assert_eq!(search("f(x)").unwrap().explanation, None);
    assert_eq!(search(r"f(x)$[^a]").unwrap().explanation.unwrap().literal_matches, Some(0));
    assert_eq!(search("f(x)(y)?z").unwrap().explanation.unwrap().literal_matches, Some(0));
    let error = search("f(x").unwrap_err();
    assert!(
        error.message.ends_with("As literal text it matches 2 lines: set regex to false"),
        "{error}"
    );
}

#[test]
fn regression_patterns_with_anchors_and_repetitions_are_explained() {
    let tree = Tree::new(&[
        ("a.txt", "the price$ is\n the ^start\n(\\d+ lit)\n"),
        ("b.txt", "x foo| y\na** z\n"),
    ]);
    for (pattern, note) in [
        ("price$", "here $ is the end of a line; as literal text it matches 1 line: set it"),
        ("^start", "here ^ is the start of a line; as literal text it matches 1 line: set it"),
        (r"\d+ lit", r"here `\d` is a digit; as literal text it matches 1 line: set it"),
        (
            "foo|",
            "here the pattern matches every line, because it matches the empty text; to search for \
             it as literal text, set it",
        ),
        (
            "a**",
            "here * repeats what precedes it; the pattern matches every line, because it matches \
             the empty text; to search for it as literal text, set it",
        ),
    ] {
        let found = tree.search(&SearchQuery::new(Query::regex(pattern)));
        let note = Some(note);
        assert_eq!(found.explanation_note("set it", "omit it").as_deref(), note, "{pattern}");
    }
    for (pattern, matches) in [("foo$", 0), ("^foo", 0), (r"\s+foo", 1), (".*", 5)] {
        let found = tree.search(&SearchQuery::new(Query::regex(pattern)));
        assert_eq!((found.match_count, found.explanation), (matches, None), "{pattern}");
    }
}

#[test]
fn regression_a_literal_text_that_is_rather_a_pattern_counts_its_matches() {
    let tree = Tree::new(&[("a.txt", "price\nstart\nend\n"), ("b.txt", "start again\n")]);
    let session = hashline_core::Session::in_dir(&tree.path).unwrap();
    let query = text("price|start");
    let note =
        "here the pattern is literal text; as a regular expression it matches 3 lines: omit it";
    for found in [tree.search(&query), session.search(query).unwrap()] {
        assert_eq!(found.explanation_note("set it", "omit it").as_deref(), Some(note));
    }
    for pattern in ["price|none|", "one|two", "a|b(", "f(x)"] {
        assert_eq!(tree.search(&text(pattern)).explanation, None, "{pattern}");
    }
}
