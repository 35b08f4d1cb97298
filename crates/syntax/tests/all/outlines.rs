//! Definitions, folds, and the blocks around a line.

use hashline_syntax::Outline;

use crate::budget;
use crate::parse;
use crate::samples::*;

/// `name first-last`, with a `*` for tests, indented by depth.
fn definitions(name: &str, text: &str) -> Vec<String> {
    let outline = parse(name, text).outline(&budget()).unwrap();
    let line = |one: &hashline_syntax::Definition| {
        let mark = if one.is_test { "*" } else { "" };
        let indent = " ".repeat(one.depth as usize);
        let name = [&*one.qualifier, &*one.name].join(" ");
        format!("{indent}{}{mark} {}-{}", name.trim_start(), one.first, one.last)
    };
    outline.definitions.iter().map(line).collect()
}

/// `first-last name`, indented by depth.
fn folds(outline: &Outline) -> Vec<String> {
    let line = |fold: &hashline_syntax::Fold| {
        let name = fold.definition.map(|at| outline.definitions[at as usize].name.as_str());
        let indent = " ".repeat(fold.depth as usize);
        format!("{indent}{}-{} {}", fold.first, fold.last, name.unwrap_or("")).trim_end().to_owned()
    };
    outline.folds.iter().map(line).collect()
}

#[test]
fn definitions_by_language() {
    for (name, text, expected) in [
        (
            "a.js",
            JAVASCRIPT,
            &[
                "Queue 4-19",
                " push 10-18",
                "load 21-26",
                "run 31-33",
                "Queue* 46-50",
                " takes items* 47-49",
            ][..],
        ),
        (
            "a.ts",
            TYPESCRIPT,
            &[
                "Store 6-17",
                " find 12-16",
                "Options 19-22",
                "Result 24-26",
                "Level 28-31",
                "Inner 33-37",
                " cast 34-36",
            ],
        ),
        ("a.tsx", TSX, &["Panel 3-18"]),
        ("a.py", PYTHON, &["Ledger 10-35", " add 17-24", " total 26-35", "test_total* 45-46"]),
        (
            "a.rs",
            RUST,
            &[
                "Pool 11-13",
                "Pool 15-34",
                " take 17-26",
                " text 28-33",
                "From<T> Pool 36-44",
                " from 37-43",
                "tests* 47-54",
                " takes* 51-53",
            ],
        ),
        ("a.go", GO, &["Router 9-11", "(r *Router) Find 16-30", "TestFind* 32-34"]),
        ("A.java", JAVA, &["Basket 9-32", " iterator 14-21", " isEmpty* 24-26", " Size 28-31"]),
        ("a.json", JSON, &["scripts 3-6", "files 7-14"]),
        ("a.css", CSS, &["body 4-8", "@media (min-width: 40em) 10-14", " .wide::after 11-13"]),
        ("a.toml", TOML, &["[target.linux] 5-10", "[[file]] 13-14", "[[file]] 16-17"]),
        (
            "a.yaml",
            YAML,
            &[
                "on 3-11",
                " push 4-5",
                " manual 7-11",
                "  inputs 8-11",
                "jobs 13-21",
                " build 14-20",
                "  script 16-20",
            ],
        ),
        ("a.c", C, &["ring 4-7", "ring_push 9-19"]),
        ("a.cpp", CPP, &["shape 1-17", " Circle 4-15", "  Circle 6-7", "  area 9-11"]),
        ("a.vue", VUE, &["add 10-12"]),
        ("a.md", "# A\ntext\n## B\nmore\n# C\n", &["A 1-4", " B 3-4", "C 5-5"]),
    ] {
        assert_eq!(definitions(name, text), expected, "{name}");
    }
}

#[test]
fn folds_by_language() {
    let of = |name: &str, text: &str| folds(&parse(name, text).outline(&budget()).unwrap());
    assert_eq!(
        of("a.js", JAVASCRIPT),
        [
            "5-18 Queue",
            " 8-9",
            " 11-17 push",
            "22-25 load",
            "29-35",
            " 30-33",
            "39-43",
            "47-49 Queue"
        ]
    );
    assert_eq!(
        of("a.py", PYTHON),
        ["11-35 Ledger", " 12-13", " 18-24 add", "  23-24", " 27-35 total", "  28-31", "   29-30"]
    );
    assert_eq!(of("a.toml", TOML), ["6-10 [target.linux]", " 7-8"]);
    assert_eq!(
        of("a.yaml", YAML),
        [
            "4-11 on",
            " 8-11 manual",
            "  9-11 inputs",
            "14-21 jobs",
            " 15-20 build",
            "  17-19 script"
        ]
    );
    assert_eq!(of("a.md", "# A\n\ntext\n## B\nmore\nlast\n# C\n"), ["2-6 A", " 5-6 B"]);
}

#[test]
fn long_runs_of_imports_and_comments_are_folded() {
    let imports: String = (0..20).map(|at| format!("import a{at} from 'a{at}'\n")).collect();
    let text = format!("{imports}\n// a\n// b\n// c\nlet x\n");
    assert_eq!(folds(&parse("a.js", &text).outline(&budget()).unwrap()), ["2-20", "23-24"]);
}

#[test]
fn folds_are_nested_or_apart() {
    for &(name, text) in SAMPLES {
        let outline = parse(name, text).outline(&budget()).unwrap();
        for (index, one) in outline.folds.iter().enumerate() {
            for other in &outline.folds[index + 1..] {
                let apart = other.first > one.last;
                assert!(apart || other.last <= one.last, "{name}: {one:?} {other:?}");
            }
        }
    }
}

#[test]
fn tests_are_recognized_by_attributes() {
    let folds = parse("a.rs", RUST).outline(&budget()).unwrap().folds;
    assert!(folds.iter().all(|fold| fold.is_test == (fold.first >= 48)));
    let text = "#[cfg(not(test))]\nfn a() {}\n#[tokio::test]\nasync fn b() {}\nfn c() {}\n";
    assert_eq!(definitions("a.rs", text), ["a 2-2", "b* 4-4", "c 5-5"]);
}

#[test]
fn the_path_to_a_line_lists_enclosing_definitions() {
    let outline = parse("ledger.py", PYTHON).outline(&budget()).unwrap();
    let path = |line| outline.path(line).map(|one| one.name.as_str()).collect::<Vec<_>>().join("/");
    assert_eq!(path(21), "Ledger/add");
    assert_eq!(path(25), "Ledger");
    assert_eq!(path(36), "");
    assert_eq!(path(46), "test_total");
}

#[test]
fn enclosing_lists_the_first_lines_of_blocks_around() {
    let around = |name: &str, text: &str, line| parse(name, text).enclosing(line, &budget());
    assert_eq!(around("a.js", JAVASCRIPT, 12), [4, 10, 11]);
    assert_eq!(around("a.ts", TYPESCRIPT, 15), [6, 12]);
    assert_eq!(around("a.py", PYTHON, 21), [10, 17, 18, 20]);
    assert_eq!(around("A.java", JAVA, 17), [9, 14, 15, 16]);
    assert_eq!(around("a.rs", RUST, 31), [15, 28]);
    assert_eq!(around("a.yaml", YAML, 5), [3, 4]);
    assert_eq!(around("a.md", "# A\n## B\ntext\n", 3), [1, 2]);
    assert_eq!(around("a.js", JAVASCRIPT, 0), []);
    assert_eq!(around("a.js", JAVASCRIPT, 99), []);
}
