//! What an edit broke, in texts with and without earlier errors.

use hashline_syntax::Fault;

use crate::samples::GO;
use crate::{budget, parse};

fn new_fault(name: &str, before: &str, after: &str) -> Option<Fault> {
    let old = parse(name, before);
    let new = old.reparse(after, &budget()).expect("it is short");
    new.new_fault(&old, &budget())
}

fn line_and_what(name: &str, before: &str, after: &str) -> (u32, String) {
    let fault = new_fault(name, before, after).unwrap_or_else(|| panic!("{after} has no fault"));
    (fault.line, fault.what)
}

/// A construct that the grammar does not know, between two functions.
const UNKNOWN: &str =
    "fn a() {\n    f(1);\n}\n\n@future item;\n\nfn b() {\n    if c {\n        g(2);\n    }\n}\n";

#[test]
fn an_old_error_is_not_reported() {
    for (old, new) in [
        ("f(1)", "f(11)"),
        ("f(1);", "f(1);\n    h(3);"),
        ("@future item;", "@future other;"),
        ("@future item;", "@future item;\n@future item;"),
        ("@future item;\n", ""),
        ("    f(1);\n", ""),
    ] {
        let after = UNKNOWN.replacen(old, new, 1);
        assert_eq!(new_fault("a.rs", UNKNOWN, &after), None, "{after}");
    }
}

#[test]
fn a_new_error_is_reported_in_a_text_with_old_ones() {
    for (old, new, line, what) in [
        ("    }\n}\n", "}\n", 10, "`}` is missing: the block opened at line 8"),
        ("f(1);\n}", "f(1);\n}\n}", 4, "`}` closes nothing"),
        ("g(2)", "g(2", 10, "`)` is missing: it was opened at line 9"),
        ("f(1);", "let = 1;", 2, "`=` is not expected here"),
    ] {
        let after = UNKNOWN.replacen(old, new, 1);
        let (found, message) = line_and_what("a.rs", UNKNOWN, &after);
        assert_eq!((found, &*message), (line, what), "{after}");
    }
}

#[test]
fn a_try_that_handles_nothing_is_an_error() {
    for (name, before, after, line) in [
        ("a.py", "try:\n    a()\nexcept B:\n    c()\nd()\n", "try:\n    a()\nd()\n", 1),
        ("a.py", "x = 1\ntry:\n    a()\nfinally:\n    b()\n", "x = 1\ntry:\n    a()\n", 2),
        ("a.js", "f()\ntry { a() } catch { b() }\n", "f()\ntry { a() }\n", 2),
        ("a.ts", "try {\n  a()\n} finally {\n  b()\n}\n", "try {\n  a()\n}\n", 1),
    ] {
        assert!(parse(name, before).is_clean());
        let (found, what) = line_and_what(name, before, after);
        assert!(found == line && what.ends_with("is missing after this `try`"), "{found} {what}");
    }
}

#[test]
fn a_document_of_json_has_one_value() {
    let before = "// c\n{\"a\": 1}\n";
    let fault = line_and_what("a.json", before, &before.repeat(2));
    assert_eq!(fault, (4, "a second value follows the document".into()));
    assert_eq!(new_fault("a.json", "1 2\n", "1 3\n"), None);
}

#[test]
fn a_file_of_go_begins_with_its_package() {
    let before = "//go:build linux\n\npackage a\n\nfunc b() {}\n";
    let fault = line_and_what("a.go", before, &before.replace("package a\n", ""));
    assert_eq!(fault, (4, "`package` is missing above".into()));
}

#[test]
fn a_duplicate_key_is_an_error_if_it_is_new() {
    for (name, before, after, line, key) in [
        ("a.json", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"a\": 2\n}\n", 3, "a"),
        ("a.yaml", "b:\n  a: 1\n", "b:\n  a: 1\n  \"a\": 2\n", 3, "a"),
        ("a.yaml", "b: {a: 1}\n", "b: {a: 1, a: 2}\n", 1, "a"),
        ("a.toml", "[t]\na = 1\n", "[t]\na = 1\na = 2\n", 3, "a"),
        ("a.toml", "[t]\na = 1\n", "[t]\na = 1\n[t]\nb = 2\n", 3, "t"),
    ] {
        assert!(parse(name, after).is_clean());
        let (found, what) = line_and_what(name, before, after);
        assert!(found == line && what.starts_with(&format!("the key `{key}` is a duplicate")));
        // An old duplicate, and equal keys of other mappings.
        assert_eq!(new_fault(name, after, &format!("{after}\n")), None);
    }
    for (name, before, after) in [
        ("a.json", "[{\"a\": 1}]", "[{\"a\": 1}, {\"a\": 1}]"),
        ("a.json", "{\"//\": 1}", "{\"//\": 1, \"//\": 2}"),
        ("a.yaml", "- a: 1\n", "- a: 1\n- a: 2\n"),
        ("a.yaml", "a: 1\n", "a: 1\n---\na: 1\n"),
        (
            "a.yaml",
            "{{ if b }}\na: 1\n{{ end }}\n",
            "{{ if b }}\na: 1\n{{ else }}\na: 2\n{{ end }}\n",
        ),
        ("a.toml", "[[t]]\n[t.u]\na = 1\n", "[[t]]\n[t.u]\na = 1\n[[t]]\n[t.u]\na = 1\n"),
    ] {
        assert_eq!(new_fault(name, before, after), None, "{after}");
    }
}

#[test]
fn a_parser_that_is_stopped_in_an_edited_text_is_reported() {
    let before = GO.repeat(80_000 / GO.len());
    let old = parse("a.go", &before);
    assert!(old.is_clean());
    let (at, _) = before.match_indices("\"missing\"").nth(90).unwrap();
    let mut after = before.clone();
    after.remove(at + "\"missing".len());
    let fault = old.reparse(&after, &budget()).map(|new| new.is_clean());
    let fault = fault.expect_err("the parser is stopped").expect("there is an error");
    assert_eq!(fault.line as usize, before[..at].matches('\n').count() + 1);
}
