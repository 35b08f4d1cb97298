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
        ("a.hpp", "C++"),
        ("a.cs", "C#"),
        ("a.php", "PHP"),
        ("Gemfile", "Ruby"),
        ("a.kts", "Kotlin"),
        ("a.swift", "Swift"),
        ("a.sh", "Shell"),
        ("a.html", "HTML"),
        ("docker/Dockerfile", "Dockerfile"),
        ("a.tf", "Terraform"),
    ] {
        assert_eq!(name(file, ""), Some(expected), "{file}");
    }
}

#[test]
fn an_unknown_name_has_no_language() {
    for file in
        ["", "Makefile", "rs", ".py", "a.", "a.txt", "a.inc", "a.m", "a.sc", "a.tpl", "js/a"]
    {
        assert_eq!(name(file, "x = 1\n"), None, "{file}");
    }
}

#[test]
fn zsh_is_not_another_shell() {
    let unknown = [
        ("a.zsh", ""),
        (".zshrc", ""),
        ("a", "#!/usr/bin/env zsh\n"),
        ("a.sh", "#!/bin/zsh -f\n"),
        ("a.sh", "#!/bin/zsh\n# vim: ft=sh\n"),
        ("a.sh", "# -*- mode: zsh -*-\n"),
    ];
    for (file, text) in unknown {
        assert_eq!(name(file, text), None, "{file}: {text}");
    }
    assert_eq!(name("a.sh", "#!/bin/bash\n# not zsh\n"), Some("Shell"));
}

#[test]
fn interpreters() {
    for (line, expected) in [
        ("#!/usr/bin/python3\n", Some("Python")),
        ("#!/usr/bin/env python3.12\n", Some("Python")),
        ("#!/usr/bin/env -S node --no-warnings\n", Some("JavaScript")),
        ("#!/usr/bin/env -S A=1 deno run\n", Some("TypeScript")),
        ("#! /opt/bin/pypy\r\n", Some("Python")),
        ("#!/bin/sh\n", Some("Shell")),
        ("#!/usr/bin/env tclsh\n", None),
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
    assert_eq!(name("app_de.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n"), Some("XML"));
}

#[test]
fn a_header_is_in_c_unless_it_has_constructs_of_cpp() {
    for (text, expected) in [
        ("", "C"),
        ("int a(void);\n", "C"),
        ("// class A {\nchar *a = \"namespace b {\";\n", "C"),
        ("struct a { int class; };\nint b(int class, int template);\n", "C"),
        ("#ifdef __cplusplus\nextern \"C\" {\nnamespace a {}\n#endif\nint b;\n", "C"),
        ("#ifdef __cplusplus\nnamespace a {}\n#else\nint b;\n#endif\n", "C"),
        ("int a = b ? c::d : e;\n", "C++"),
        ("class A;\n", "C++"),
        ("struct A {\npublic:\n  int b;\n};\n", "C++"),
        ("template <typename T>\nT a(T b);\n", "C++"),
        ("#ifndef A\n#define A\nnamespace {\n}\n#endif\n", "C++"),
        ("#ifndef __cplusplus\nint b;\n#else\nnamespace a {}\n#endif\n", "C"),
        ("#ifndef __cplusplus\n#error C++\n#endif\nnamespace a {}\n", "C++"),
        ("#if !defined(__cplusplus)\nclass A;\n#endif\n", "C++"),
        ("#if A && defined(__cplusplus)\n#if B\nclass A;\n#endif\n#endif\n", "C"),
        // Objective-C.
        ("@class A;\n@interface B\n@end\n", "C"),
    ] {
        assert_eq!(name("a.h", text), Some(expected), "{text}");
    }
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
