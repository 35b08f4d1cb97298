//! Detection of the language of a file.

use hashline_syntax::{LANGUAGES, language_of};

fn name(file: &str, text: &str) -> Option<&'static str> {
    language_of(file, text.as_bytes()).map(|language| language.name)
}

#[test]
fn names_and_extensions() {
    for (file, expected) in [
        ("src/a.js", "JavaScript"),
        ("a.mjs", "JavaScript"),
        ("A.TS", "TypeScript"),
        ("a.d.mts", "TypeScript"),
        ("a.tsx", "TSX"),
        (r"dir\a.pyi", "Python"),
        ("a.rs", "Rust"),
        ("a.go", "Go"),
        ("A.java", "Java"),
        ("package.json", "JSON"),
        (".prettierrc", "JSON"),
        ("a.css", "CSS"),
        ("Cargo.lock", "TOML"),
        ("a.yml", "YAML"),
        ("a.h", "C"),
        ("a.vue", "Vue"),
        ("a.svelte", "Svelte"),
        ("README.md", "Markdown"),
    ] {
        assert_eq!(name(file, ""), Some(expected), "{file}");
    }
}

#[test]
fn an_unknown_name_has_no_language() {
    for file in ["", "Makefile", "rs", ".py", "a.", "a.txt", "a.cs", "a.html", "a.sh", "js/a"] {
        assert_eq!(name(file, "x = 1\n"), None, "{file}");
    }
}

#[test]
fn interpreters() {
    for (line, expected) in [
        ("#!/usr/bin/python3\n", Some("Python")),
        ("#!/usr/bin/env python3.12\n", Some("Python")),
        ("#!/usr/bin/env -S node --no-warnings\n", Some("JavaScript")),
        ("#!/usr/bin/env -S A=1 deno run\n", Some("TypeScript")),
        ("#! /opt/bin/pypy\r\n", Some("Python")),
        ("#!/bin/sh\n", None),
        ("#!\n", None),
        ("\n#!/usr/bin/python\n", None),
    ] {
        assert_eq!(name("tool", line), expected, "{line}");
    }
    assert_eq!(name("a.rs", "#!/usr/bin/env python\n"), Some("Rust"));
}

#[test]
fn mode_lines() {
    for (text, expected) in [
        ("# -*- python -*-\n", Some("Python")),
        ("#!/bin/sh\n# -*- mode: Python; coding: utf-8 -*-\n", Some("Python")),
        ("// vim: set ft=rust ts=4:\n", Some("Rust")),
        ("# vi: syntax=yaml\n", Some("YAML")),
        ("# -*- coding: utf-8 -*-\n", None),
        ("# -*- cobol -*-\n", None),
    ] {
        assert_eq!(name("file", text), expected, "{text}");
    }
    assert_eq!(name("a.h", "/* -*- Java -*- */\n"), Some("Java"));
}

#[test]
fn translations_of_qt_are_not_typescript() {
    assert_eq!(name("app_de.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n"), None);
}

#[test]
fn every_row_is_unique_and_can_be_parsed() {
    let names: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
    assert!(names.len() >= 15);
    for language in LANGUAGES {
        assert_eq!(LANGUAGES.iter().filter(|other| *other == language).count(), 1);
        assert!(
            hashline_syntax::Source::parse(language, b"<script>\n</script>\n", &crate::budget())
                .is_some()
        );
    }
}
