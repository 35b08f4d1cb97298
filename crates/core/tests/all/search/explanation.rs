//! A pattern without a match is explained if it may be meant as in `grep` or as text.

use hashline_core::PatternExplanation;

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
        assert_eq!(found.explanation_note("set it").as_deref(), Some(note), "{pattern}");
        let expected = PatternExplanation {
            meaning: found.explanation.as_ref().unwrap().meaning.clone(),
            literal_matches,
            grep_pattern: grep.map(|(pattern, _)| pattern.to_owned()),
            grep_matches: grep.map(|(_, count)| count),
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
