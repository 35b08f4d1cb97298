//! Texts with and without errors, and descriptions of the errors.

use hashline_syntax::Source;
use proptest::prelude::*;

use crate::budget;
use crate::parse;
use crate::samples::{PYTHON, RUST, SAMPLES, TYPESCRIPT};

#[test]
fn samples_are_clean_with_every_line_end() {
    for &(name, text) in SAMPLES {
        for text in [text.to_owned(), text.replace('\n', "\r\n"), text.trim_end().to_owned()] {
            let source = parse(name, &text);
            assert!(source.is_clean(), "{name}: {:?}", source.fault(&budget()));
            assert_eq!(source.fault(&budget()), None);
        }
        assert!(parse(name, &format!("\u{feff}{text}")).is_clean(), "{name} with a BOM");
    }
}

#[test]
fn an_empty_text_is_clean() {
    for name in ["a.js", "a.py", "a.rs", "a.go", "a.css", "a.toml", "a.yaml", "a.md", "a.c"] {
        let source = parse(name, "");
        assert!(source.is_clean(), "{name}");
        assert_eq!(source.lines(), 0);
    }
}

/// The line and description of the first fault.
fn fault(name: &str, text: &str) -> (u32, String) {
    let source = parse(name, text);
    assert!(!source.is_clean(), "{name} is clean");
    let fault = source.fault(&budget()).unwrap();
    (fault.line, fault.what)
}

/// A sample without one of its lines, counted from 1.
fn without(text: &str, line: usize) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    lines.filter(|&(index, _)| index + 1 != line).map(|(_, line)| line).collect()
}

#[test]
fn a_missing_closing_bracket_is_reported_with_its_opening_line() {
    let text = without(RUST, 26);
    let (line, what) = fault("pool.rs", &text);
    assert_eq!((line, &*what), (33, "`}` is missing: the block opened at line 17"));
    let (line, what) = fault("store.ts", &without(TYPESCRIPT, 16));
    assert_eq!((line, &*what), (16, "`}` is missing: the block opened at line 14"));
}

#[test]
fn a_surplus_closing_bracket_is_reported() {
    let text = RUST.replace("    }\n\n    fn text", "    }\n    }\n\n    fn text");
    let (line, what) = fault("pool.rs", &text);
    assert_eq!(&*what, "`}` closes nothing");
    assert!(line > 26);
}

#[test]
fn brackets_in_strings_and_comments_are_ignored() {
    let (line, what) = fault("a.js", "f('}', /* } */ `)`\n// )\nlet x\n");
    assert_eq!((line, &*what), (3, "`)` is missing: it was opened at line 1"));
}

#[test]
fn errors_without_brackets_show_the_code() {
    let (line, what) = fault("a.json", "{\n  \"a\": 1,\n  \"b\": oops\n}\n");
    assert_eq!(line, 3);
    assert!(what.contains("oops"), "{what}");
    let (line, what) = fault("a.go", "package a\n\nfunc f() {\n\tx :=\n}\n");
    assert!((4..=5).contains(&line), "{line} {what}");
}

#[test]
fn a_body_of_python_that_is_shifted() {
    for (text, line) in [
        ("def f():\n    a()\n      b()\n", 3),
        ("def f():\n    if x:\n        a()\n      b()\n", 4),
        ("x = 1\n  y = 2\n", 2),
        ("if x:\n\ta()\n        b()\n", 3),
        ("class A:\n    x = 1\n     # a comment may stand anywhere\n     def f(self): pass\n", 4),
    ] {
        let (found, what) = fault("a.py", text);
        assert_eq!(found, line, "{text}: {what}");
        assert!(what.contains("indentation"), "{what}");
    }
}

#[test]
fn a_body_of_python_that_is_missing() {
    let (line, what) = fault("a.py", "def f():\nx = 1\n");
    assert_eq!((line, &*what), (1, "an indented body is missing below"));
}

#[test]
fn depths_of_python_that_are_right() {
    for text in [
        "if x:\n    a()\n\n# c\n    b()\n",
        "x = [\n1,\n    2,\n]\n",
        "x = 1 + \\\n        2\ny = 3\n",
        "def f():\n    \"\"\"a\n  b\n\"\"\"\n    pass\n",
        "if x: a(); b()\nelse: c()\n",
        "if x:\n\ta()\n\tb()\n",
        "for a in b:\n  c()\nelse:\n      d()\n      e()\n",
        "\x0cdef f():\n    pass\n",
    ] {
        assert!(parse("a.py", text).is_clean(), "{text}");
    }
}

#[test]
fn regression_a_depth_that_depends_on_the_tab_width_is_reported() {
    // Python itself reports inconsistent use of tabs and spaces.
    let text = "def a():\n    if x:\n\tb()\n    return 1\n";
    assert_eq!(
        fault("a.py", text),
        (3, "whether this is deeper depends on the width of tabs".into())
    );
    assert!(parse("a.py", "def a():\n    if x:\n    \tb()\n    return 1\n").is_clean());
    assert!(parse("a.py", "def a():\n\tif x:\n\t    b()\n\treturn 1\n").is_clean());
}

#[test]
fn regression_a_trailing_comma_is_valid_in_json_with_comments() {
    let texts = [
        "{\"a\": 1,}\n",
        "[1, 2, // two\n]\n",
        "{\"a\": [1,], /* c */ \"b\": {\"c\": 2, // d\n},}\n",
    ];
    for text in texts {
        assert!(parse("a.jsonc", text).is_clean(), "{text}");
        assert!(parse("x/tsconfig.json", text).is_clean(), "{text}");
        fault("a.json", text);
    }
    for text in ["{,}", "[,]", "[,1]", "{\"a\": 1,,}", "[1,,]", "{\"a\": 1 \"b\": 2,}", "{\"a\",}"]
    {
        fault("a.jsonc", text);
    }
    let (line, what) = fault("a.jsonc", "{\n  \"a\": {\n    \"b\": 1,\n\n  \"c\": 2,\n}\n");
    assert_eq!((line, &*what), (6, "`}` is missing: the block opened at line 2"));
    fault("a.jsonc", "{\n  \"a\": [1,],\n  \"b\" 2,\n}\n");
}

#[test]
fn depths_of_yaml() {
    for text in ["a:\n  b: 1\n   c: 2\n", "a:\n    b: 1\n  c: 2\n", "a:\n- x\n  - y\nb: 1\n"] {
        fault("a.yaml", text);
    }
    for text in ["a:\n- x\n- y\nb: 1\n", "a:\n  - x: 1\n    y: 2\n  - z\n", "a: b\n  c\nd: 1\n"] {
        assert!(parse("a.yaml", text).is_clean(), "{text}");
    }
}

#[test]
fn the_script_and_the_tags_of_a_component_count() {
    let text = "<template>\n  <p>{{ a ( }}</p>\n</template>\n<script>\nlet a = {\n</script>\n";
    assert_eq!(fault("a.vue", text).0, 5);
    let text = text.replace(" = {", "");
    assert!(parse("a.vue", &text).is_clean());
    let (line, what) = fault("a.vue", &text.replace("</p>", ""));
    assert_eq!((line, &*what), (3, "`</p>` is missing: the element opened at line 2"));
    assert!(parse("a.vue", "<p></p>\n").is_clean());
}

/// The script began at the first `>`.
#[test]
fn regression_an_attribute_of_a_script_contains_a_tag() {
    let tag = "<script lang=\"ts\" generics=\"T extends A<B>, U extends C\">";
    let text = format!("{tag}\nlet a: T | U;\n</script>\n");
    assert!(parse("a.svelte", &text).is_clean());
    assert_eq!(fault("a.svelte", &text.replace("a: T", "a: (T")).0, 2);
}

#[test]
fn invalid_utf8_is_an_error() {
    let source = parse("a.rs", "fn a() {}\n");
    let broken = source.reparse(b"fn a() { \xff\xfe }\n", &budget()).unwrap();
    assert!(!broken.is_clean());
    assert!(broken.fault(&budget()).is_some());
}

/// A text with a range of bytes replaced.
fn changed(text: &str, at: usize, length: usize, with: &str) -> Option<String> {
    let (at, end) = (at.min(text.len()), (at + length).min(text.len()));
    let around = (text.get(..at)?, text.get(end..)?);
    Some(format!("{}{with}{}", around.0, around.1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Reusing parts of a tree makes no difference: the result is the same as for parsing from
    /// scratch.
    #[test]
    fn reparsing_agrees_with_parsing(
        sample in 0..SAMPLES.len(),
        edits in prop::collection::vec(
            (0..1200usize, 0..40usize, "[a-z{}()\\[\\]:;,\"'`# \n]{0,12}"), 1..4),
    ) {
        let (name, text) = SAMPLES[sample];
        let mut source = parse(name, text);
        let mut text = text.to_owned();
        for (at, length, with) in &edits {
            let Some(next) = changed(&text, *at, *length, with) else { continue };
            let Ok(reparsed) = source.reparse(next.as_str(), &budget()) else { continue };
            let Some(whole) = Source::parse(source.language(), next.as_str(), &budget()) else { continue };
            prop_assert_eq!(reparsed.is_clean(), whole.is_clean());
            prop_assert_eq!(reparsed.outline(&budget()).unwrap(), whole.outline(&budget()).unwrap());
            (source, text) = (reparsed, next);
        }
    }
}

#[test]
fn a_clean_text_is_clean_again_after_an_edit_is_undone() {
    let source = parse("ledger.py", PYTHON);
    let broken = source.reparse(&PYTHON.replace("else:", "else"), &budget()).unwrap();
    assert!(!broken.is_clean());
    assert!(broken.reparse(PYTHON, &budget()).unwrap().is_clean());
}

/// Texts with lists and objects in many styles.
const BRACKETS: &[(&str, &str)] = &[
    (
        "flow.yaml",
        "on: [push, pull]\na:\n  needs: [x, y]\n  env: {A: 1, B: 2}\n  list: [\n    one,\n  ]\nb:\n  map: {\n    x: [1, 2],\n    y: {z: 1},\n    w: 1\n  }\nc: 1\n",
    ),
    (
        "block.yaml",
        "a: \"}\"\nb:\n  - d: '[x'\n  - e: (f)\n  - g: {h: i}\nj: |\n  text ] }\nk: [l]\nm: n\n",
    ),
    (
        "a.toml",
        "[server]\nports = [1, 2]\nlimits = { a = 1, b = [1, 2] }\nhosts = [\n  \"a\",\n]\n[[items]]\nname = \"]\"\n",
    ),
    (
        "a.json",
        "{\n  \"a\": [1, 2],\n  \"b\": {\n    \"c\": [\n      {\"d\": \"}\"}\n    ]\n  },\n  \"f\": 2\n}\n",
    ),
    (
        "a.css",
        ".b {\n  width: calc((1px + 2px) * 3);\n}\n@media (min-width: 1px) {\n  .c {\n    margin: 0;\n  }\n}\n.d[x=\"]\"] {\n  top: 0;\n}\n",
    ),
];

/// The text with the closing bracket at an offset duplicated; and with its line duplicated, if that
/// has only brackets. Each with the number of the surplus line.
fn doubled(text: &str, at: usize) -> Vec<(u32, String)> {
    let line = text[..at].matches('\n').count() as u32 + 1;
    let mut variants = vec![(line, format!("{}{}", &text[..=at], &text[at..]))];
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    if text[start..end].trim().bytes().all(|byte| b")]},;".contains(&byte)) {
        variants.push((line + 1, format!("{}{}", &text[..end], &text[start..])));
    }
    variants
}

#[test]
fn regression_a_duplicated_closing_bracket_is_reported_on_its_line() {
    let (mut right, mut all) = (0, 0);
    for (name, text) in SAMPLES.iter().chain(BRACKETS) {
        let source = parse(name, text);
        assert!(source.is_clean(), "{name}: {:?}", source.fault(&budget()));
        let closers = text.bytes().enumerate().filter(|(_, byte)| b")]}".contains(byte));
        for (line, broken) in closers.flat_map(|(at, _)| doubled(text, at)) {
            let found = parse(name, &broken).fault(&budget());
            // Duplicates in comments, strings and parts that are not parsed are not errors.
            let Some(found) = found else { continue };
            all += 1;
            right += usize::from(found.line == line);
            // Without indentation, the position of the block is ambiguous.
            assert!(found.line >= line, "{name}: {found:?} instead of line {line}");
        }
    }
    assert!(all > 250 && right * 100 >= all * 96, "{right} of {all}");
}

#[test]
fn regression_an_unexpected_closing_bracket_closes_no_other_block() {
    assert_eq!(fault("a.json", "{\n  \"a\": 1]\n}\n"), (2, "`]` closes nothing".into()));
    assert_eq!(fault("a.yaml", "a: 1\nb: {c: 1]\nd: 1\n").0, 2);
    // In a style in which blocks end more indented, the last bracket is the surplus one.
    let text = "f(\n  a\n  )\ng()\nh())\n";
    assert_eq!(fault("a.js", text), (5, "`)` closes nothing".into()));
    // The code where the parser stopped is shown.
    let (line, what) = fault("a.yaml", "a: 1\nb: \"x\" y\nc: 1\n");
    assert_eq!((line, &*what), (2, "`y` is not expected here"));
}
