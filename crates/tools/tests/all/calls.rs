//! Calls of each tool, and deviations from the schema that models write.

use hashline_core::{DIALECTS, WorkspaceOptions};
use hashline_tools::ToolResult;
use serde_json::{Value as Json, json};

use crate::support::{Project, kind_of};

const LINES: &str = "line 1\nline 2\nline 3\n";

#[test]
fn two_files_are_edited_together_or_not_at_all() {
    let project = Project::new(&[("a.txt", LINES), ("b.txt", LINES)]);
    let shown = project.call("read", &json!({"path": "a.txt", "more_paths": "[\"b.txt\"]"}));
    assert!(shown.text.contains("--- a.txt ---\n1ac|line 1\n"), "{}", shown.text);
    assert!(shown.text.contains("--- b.txt ---\n1ac|line 1\n"), "{}", shown.text);
    assert!(shown.text.contains("\n(more_paths: the string was parsed as JSON.)"));
    let both = |anchor: &str| {
        json!([
            {"op": "set_line", "path": "a.txt", "anchor": "1ac", "text": "one"},
            {"op": "delete", "path": "b.txt", "anchor": anchor},
        ])
    };
    let refused = project.call("apply", &json!({"operations": both("3aa")}));
    assert!(refused.is_error);
    assert_eq!((project.content("a.txt"), project.content("b.txt")), (LINES.into(), LINES.into()));
    // As a string, which some models send.
    let done = project.call("apply", &json!({"operations": both("3tr").to_string()}));
    assert!(!done.is_error, "{}", done.text);
    assert_eq!(project.content("a.txt"), "one\nline 2\nline 3\n");
    assert_eq!(project.content("b.txt"), "line 1\nline 2\n");
}

#[test]
fn a_whole_file_is_replaced_if_its_lines_were_shown() {
    let project = Project::new(&[("a.txt", LINES)]);
    let write = |content: &str| {
        let operation =
            json!({"op": "add_file", "path": "a.txt", "content": content, "overwrite": "true"});
        project.call("apply", &json!({"operations": [operation]}))
    };
    let refused = write("line 1\n");
    assert!(refused.is_error && refused.text.contains("2hv|line 2\n"), "{}", refused.text);
    let done = write("line 1\n");
    assert!(!done.is_error, "{}", done.text);
    assert!(done.text.contains("(operations[0].overwrite: taken as replace.)"), "{}", done.text);
    assert_eq!(project.content("a.txt"), "line 1\n");
}

#[test]
fn a_search_shows_lines_to_edit() {
    let project = Project::new(&[("a.txt", LINES), ("sub/b.txt", "other\nline 7\n")]);
    let found = project.call("search", &json!({"pattern": "LINE [27]"}));
    assert!(
        found.text.starts_with("--- a.txt ---\n2hv|line 2\n--- sub/b.txt ---\n"),
        "{}",
        found.text
    );
    let edit = json!({"op": "set_line", "path": "a.txt", "anchor": "2hv", "text": "two"});
    assert!(!project.call("apply", &json!({"operations": [edit]})).is_error);
    let cut = project.call("search", &json!({"pattern": "line", "max_matches": "1"}));
    let advice = "(1 match is shown, and there are more. Narrow pattern, paths or globs, or go on with read a.txt from line 2.)";
    assert!(cut.text.contains(advice), "{}", cut.text);
    let none = project.call("search", &json!({"pattern": "a(b", "literal": true}));
    assert_eq!(none.text, "(no match for \"a(b\" in 2 files)");
    let wrong = project.call("search", &json!({"pattern": "a(b"}));
    assert!(wrong.is_error);
    assert!(wrong.text.starts_with("INVALID_PATTERN: "), "{}", wrong.text);
    assert!(wrong.text.ends_with("As literal text it matches no line"), "{}", wrong.text);
}

#[test]
fn regression_a_search_refuses_fields_that_it_would_ignore() {
    let project = Project::new(&[("a.rs", "fn f() {}\nf(x)\n")]);
    for (arguments, message) in [
        (json!({"symbol": "", "paths": ["."]}), "symbol is \"\": use the name of a definition"),
        (json!({"symbol": ""}), "symbol is \"\": use the name of a definition"),
        (json!({"symbol": "f", "literal": true}), "the fields symbol and literal are both given"),
        (
            json!({"symbol": "f", "case_sensitive": true}),
            "symbol and case_sensitive are both given",
        ),
        (json!({"symbol": "f", "sizes": true}), "the field sizes is for lists of files"),
        (json!({"pattern": "f", "sizes": true}), "the field sizes is for lists of files"),
        (json!({"pattern": "f", "skip": 1}), "the field skip is for lists of files"),
        (json!({"pattern": "f("}), "As literal text it matches 2 lines: set literal to true"),
    ] {
        let refused = project.call("search", &arguments);
        assert!(
            refused.is_error && refused.text.contains(message),
            "{arguments}: {}",
            refused.text
        );
    }
    // Some models fill in every field.
    let filled = json!({
        "pattern": "", "symbol": "", "literal": false, "case_sensitive": false, "skip": 0,
        "globs": ["*.rs"], "context": 0, "enclosing": false, "sizes": false,
    });
    assert!(project.call("search", &filled).text.starts_with("a.rs\n"));
    let filled = json!({
        "pattern": "", "symbol": "f", "literal": false, "case_sensitive": false, "skip": 0,
        "context": 0, "enclosing": false, "sizes": false, "max_matches": 9,
    });
    let found = project.call("search", &filled);
    assert!(found.text.starts_with("--- a.rs ---\n1"), "{}", found.text);
}

#[test]
fn globs_of_other_tools_are_understood_and_those_that_match_no_file_are_named() {
    let project = Project::new(&[("src/a.ts", LINES), ("src/b.tsx", LINES), ("c.md", "other\n")]);
    let search = |globs: Json, paths: Json| {
        project.call("search", &json!({"pattern": "line 2", "globs": globs, "paths": paths})).text
    };
    let absolute = format!("{}/src/*.ts", project.dir());
    for glob in ["./src/*.ts", &absolute, "src/*.ts,*.md"] {
        assert_eq!(search(json!([glob]), json!([])), "--- src/a.ts ---\n2hv|line 2", "{glob}");
    }
    assert_eq!(search(json!(["src/", "!*.tsx"]), json!([])), "--- src/a.ts ---\n2hv|line 2");
    assert_eq!(
        search(json!(["*.ts", "*.zig"]), json!(["src"])),
        "--- src/a.ts ---\n2hv|line 2\n(no file matches the glob \"*.zig\")"
    );
    assert_eq!(
        search(json!(["*.zig"]), json!([])),
        "(no match for \"line 2\" in 0 files)\n(no file matches the glob \"*.zig\")"
    );
}

#[test]
fn a_search_says_what_it_skipped() {
    let project = Project::new(&[
        (".ignore", "dist\n"),
        ("a.txt", LINES),
        ("dist/b.txt", "line 9\n"),
        (".github/ci.yml", "line 9\n"),
    ]);
    let search = |arguments: Json| project.call("search", &arguments).text;
    assert_eq!(
        search(json!({"pattern": "line 9"})),
        "(no match for \"line 9\" in 1 file)\n(skipped: 1 ignored directory (dist), \
         1 hidden directory (.github), 1 hidden file; name a path to search it)"
    );
    assert_eq!(
        search(json!({"pattern": "line 2"})),
        "--- a.txt ---\n2hv|line 2\n\
         (skipped: 1 ignored directory, 1 hidden directory, 1 hidden file)"
    );
    for (arguments, path) in [
        (json!({"pattern": "line 9", "paths": ["dist"]}), "dist/b.txt"),
        (json!({"pattern": "line 9", "paths": [".github"]}), ".github/ci.yml"),
        (json!({"pattern": "line 9", "globs": [".github/**"]}), ".github/ci.yml"),
    ] {
        let found = search(arguments);
        assert!(found.starts_with(&format!("--- {path} ---\n")), "{found}");
    }
}

#[test]
fn a_pattern_in_the_spelling_of_grep_is_explained() {
    let project = Project::new(&[("a.txt", "json\ntool f(x)\n")]);
    let search = |pattern: &str| project.call("search", &json!({"pattern": pattern})).text;
    assert_eq!(
        search(r"json\|tool"),
        "(no match for \"json\\\\|tool\" in 1 file)\n(here `\\|` is the character |; as in grep, \
         \"json|tool\", it matches 2 lines; as literal text it matches no line)"
    );
    assert_eq!(
        search("f(x)"),
        "(no match for \"f(x)\" in 1 file)\n\
         (here ( ) is a group; as literal text it matches 1 line: set literal to true)"
    );
}

#[test]
fn values_of_documents_are_edited_by_path() {
    let project = Project::new(&[("a.json", "{\n  \"a\": 1, // one\n  \"b\": [1, 2]\n}\n")]);
    let shown = project.call("read_json", &json!({"path": "a.json"}));
    assert!(shown.text.contains("  // $.a:b2\n  \"a\": 1, // one\n"), "{}", shown.text);
    let row = shown.text.lines().find(|row| row.contains("$.b:")).unwrap();
    let list = row.trim_start_matches([' ', '/']);
    let operations = json!([
        {"op": "set_path", "path": "a.json", "anchor": "$.a:b2", "value": "12345678901234567890.50"},
        {"op": "insert_at_path", "path": "a.json", "anchor": list, "value": "no JSON", "index": "0"},
    ]);
    let done = project.call("apply_json", &json!({"operations": operations}));
    assert!(!done.is_error, "{}", done.text);
    assert!(done.text.contains("taken as a string, because it is not JSON"), "{}", done.text);
    let edited = "{\n  \"a\": 12345678901234567890.50, // one\n  \"b\": [\"no JSON\", 1, 2]\n}\n";
    assert_eq!(project.content("a.json"), edited);
    let stale = project.call("apply_json", &json!({"operations": operations}));
    assert!(stale.is_error);
    assert!(stale.text.starts_with("Nothing was written.\n"), "{}", stale.text);
    let page = project.call("read_json", &json!({"path": "a.json", "max_lines": 4}));
    assert!(page.text.ends_with("\n(4 lines. Continue from line 3.)"), "{}", page.text);
}

#[test]
fn an_answer_keeps_its_limits_and_says_how_to_continue() {
    let long: String = (1..=5_000).map(|number| format!("line {number}\n")).collect();
    let list: String = (1..=5_000).map(|number| format!("{number},\n")).collect();
    let document = format!("[\n{list}0]\n");
    let wide = "x".repeat(200_000);
    let project = Project::new(&[("long.txt", &long), ("wide.txt", &wide), ("a.json", &document)]);
    for (tool, arguments) in [
        ("read", json!({"path": "long.txt"})),
        ("read", json!({"path": "long.txt", "max_lines": 4_000})),
        ("read", json!({"path": "wide.txt"})),
        ("read", json!({"path": "long.txt", "more_paths": ["wide.txt", "long.txt"]})),
        ("read_json", json!({"path": "a.json"})),
        ("search", json!({"pattern": "line", "context": 9})),
        ("search", json!({"pattern": "x"})),
    ] {
        let answer = project.call(tool, &arguments);
        assert!(!answer.is_error, "{}", answer.text);
        // The note that says how to continue is added after the limit is applied.
        let place = format!("{tool} {arguments}");
        assert!(answer.text.lines().count() <= 2_005, "{place}: {}", answer.text.lines().count());
        assert!(answer.text.len() <= 51_200 + 500, "{place}: {}", answer.text.len());
        let last = answer.text.lines().last().unwrap();
        let says =
            last.contains(" from line ") || last.contains("Not shown") || last.contains("bytes]");
        assert!(says, "{place}: {}", &last[last.len().saturating_sub(200)..]);
    }
    // The answer is cut, the edit is not.
    let operation =
        json!({"op": "insert_after", "path": "long.txt", "anchor": "EOF", "text": long});
    let done = project.call("apply", &json!({"operations": [operation]}));
    assert!(!done.is_error && done.text.len() <= 51_200 + 500, "{}", done.text.len());
    assert_eq!(project.content("long.txt"), long.repeat(2));
}

#[test]
fn regression_text_that_resembles_json_is_not_taken_as_a_string() {
    let project = Project::new(&[("a.json", "{\"a\": 1}\n")]);
    let set = |value: &str| {
        let set = json!({"op": "set_path", "path": "a.json", "anchor": "$.a:b2", "value": value});
        json!({"operations": [set]})
    };
    for value in [".5", "tru", "fals", "nu", "// c\n1", "/* c */ 1", "TRUE"] {
        let refused = project.call("apply_json", &set(value));
        assert!(refused.is_error, "{value}: {}", refused.text);
        assert!(refused.text.contains("which is not JSON: expected JSON text"), "{}", refused.text);
    }
    for value in [".gitignore", "/usr/bin", "t", "nullable"] {
        project.write("a.json", "{\"a\": 1}\n");
        let done = project.call("apply_json", &set(value));
        assert!(!done.is_error, "{value}: {}", done.text);
        assert_eq!(project.content("a.json"), format!("{{\"a\": \"{value}\"}}\n"));
    }
}

#[test]
fn regression_an_operation_may_not_contradict_the_shared_path() {
    let project = Project::new(&[("a.txt", LINES), ("b.txt", LINES)]);
    project.call("read", &json!({"path": "a.txt", "more_paths": ["b.txt"]}));
    let delete = json!({"op": "delete", "path": "b.txt", "anchor": "1ac"});
    let moved = json!({"op": "move_file", "path": "b.txt", "to": "c.txt"});
    for operation in [delete, moved] {
        let arguments = json!({"path": "a.txt", "operations": [operation]});
        let refused = project.call("apply", &arguments);
        let part = "operations[0].path is \"b.txt\", but the path next to operations is \"a.txt\"";
        assert!(refused.is_error && refused.text.contains(part), "{}", refused.text);
    }
    assert_eq!((project.content("a.txt"), project.content("b.txt")), (LINES.into(), LINES.into()));
    for shared in ["b.txt", "./b.txt", "@b.txt"] {
        project.write("b.txt", LINES);
        let delete = json!({"op": "delete", "path": "b.txt", "anchor": "1ac"});
        let done = project.call("apply", &json!({"path": shared, "operations": [delete]}));
        assert!(!done.is_error, "{}", done.text);
    }
}

#[test]
fn regression_an_edit_without_its_text_deletes_nothing() {
    let project = Project::new(&[("a.txt", LINES)]);
    project.call("read", &json!({"path": "a.txt"}));
    for (edit, part) in [
        (
            json!({"op": "set", "tag": "1ac", "content": null}),
            "edits[0].content is null, but set needs",
        ),
        (
            json!({"op": "set", "tag": "1ac", "content": []}),
            "edits[0].content is [], but set needs",
        ),
        (json!({"op": "set", "tag": "1ac"}), "edits[0].content is missing, but set needs"),
        (
            json!({"op": "set", "tag": "1ac", "text": "x"}),
            "edits[0] has no field text: put the new lines into content",
        ),
        (
            json!({"op": "replace", "first": "1ac", "last": "2hv", "content": null}),
            "edits[0].content is null, but replace needs",
        ),
        (
            json!({"set_line": {"anchor": "1ac", "new_text": []}}),
            "new_text is [], but set_line needs",
        ),
    ] {
        let refused = project.call("apply", &json!({"path": "a.txt", "edits": [edit]}));
        assert!(refused.is_error && refused.text.contains(part), "{edit}: {}", refused.text);
    }
    assert_eq!(project.content("a.txt"), LINES);
    let edit = json!({"op": "set", "tag": "1ac", "content": ["one"]});
    assert!(!project.call("apply", &json!({"path": "a.txt", "edits": [edit]})).is_error);
    assert_eq!(project.content("a.txt"), LINES.replace("line 1", "one"));
}

#[test]
fn deviations_with_a_certain_meaning_are_accepted() {
    let project = Project::new(&[("a.txt", LINES), ("@b.txt", "b\n"), ("ü x.txt", "u\n")]);
    let path = project.dir();
    for (arguments, first) in [
        (json!({"file_path": "a.txt", "offset": "2", "limit": 1}), "2hv|line 2"),
        (json!({"path": "@a.txt", "start_line": 3.0}), "3tr|line 3"),
        (json!({"path": "@b.txt"}), "1wh|b"),
        (json!({"path": format!("file://{path}/%C3%BC%20x.txt")}), "1"),
        (json!("{\"path\": \"a.txt\"}"), "1ac|line 1"),
    ] {
        let shown = project.call("read", &arguments);
        assert!(!shown.is_error && shown.text.starts_with(first), "{arguments}: {}", shown.text);
    }
    let one = json!({"op": "set_line", "file_path": "@a.txt", "anchor": "1ac", "text": "one",
        "content": "", "all": false, "end_anchor": null});
    let done = project.call("apply", &json!({"operations": one}));
    assert!(!done.is_error, "{}", done.text);
    assert!(done.text.contains("(operations: used as an array of one.)"), "{}", done.text);
    assert!(!done.text.contains("omitted"), "{}", done.text);
    assert_eq!(project.content("a.txt"), "one\nline 2\nline 3\n");
    let moved = json!([{"op": "move_file", "path": "a.txt", "to": "c.txt"}]);
    assert!(!project.call("apply", &json!({"operations": moved})).is_error);
    assert_eq!(project.content("c.txt"), "one\nline 2\nline 3\n");
}

#[test]
fn the_examples_of_descriptions_work() {
    let project = Project::new(&[
        ("a.js", "function hi() {\n  log('Hi')\n}\n"),
        ("package.json", "{\n  \"version\": \"1.0.0\",\n  \"scripts\": {}\n}\n"),
    ]);
    let shown = project.call("read", &json!({"path": "a.js"})).text;
    project.call("read_json", &json!({"path": "package.json"}));
    for tool in ["apply", "apply_json"] {
        let description = project.tools.describe(kind_of(tool)).description;
        assert!(tool != "apply" || description.contains(&format!("of a.js\n{shown}\n")));
        let call = serde_json::from_str(description.lines().last().unwrap()).unwrap();
        let done = project.call(tool, &call);
        assert!(!done.is_error, "{}", done.text);
    }
    assert_eq!(project.content("a.js"), "function hi() {\n  log('Hello')\n}\n");
    assert_eq!(project.content("b.js"), "function hi() {\n  log('Hi')\n}\n");
    let package: Json = serde_json::from_str(&project.content("package.json")).unwrap();
    assert_eq!(package, json!({"version": "1.1.0", "scripts": {"test": "node --test"}}));
}

#[test]
fn the_example_of_a_patch_works() {
    let dialect = DIALECTS.iter().find(|dialect| !dialect.has_hashes()).unwrap();
    let workspace = WorkspaceOptions { dialect, ..WorkspaceOptions::default() };
    let lines: String = (1..=8).map(|number| format!("line {number}\n")).collect();
    let files = [("a.js".to_owned(), lines.clone())].into();
    let project = Project::with(&files, workspace.into());
    let shown = project.call("read", &json!({"path": "a.js"})).text;
    let header = shown.lines().next().unwrap();
    let description = project.tools.describe(kind_of("apply")).description;
    let call = description.lines().last().unwrap().replace("[a.js#1A2B]", header);
    let done = project.call("apply", &serde_json::from_str(&call).unwrap());
    assert!(!done.is_error, "{}", done.text);
    let edited = lines.replace("line 2", "  log('Hello')").replace("line 7\n", "");
    assert_eq!(project.content("a.js"), edited);
}

fn rules(result: &ToolResult) -> Vec<&str> {
    let repairs = result.structured["repairs"].as_array().unwrap();
    repairs.iter().map(|repair| repair["rule"].as_str().unwrap()).collect()
}

#[test]
fn paths_with_lines_blanks_and_backslashes_are_understood() {
    let project = Project::new(&[("src/x.ts", LINES), ("b.txt", "b\n")]);
    let rows = |rows: &[&str]| rows.join("\n");
    let (one, two) = (rows(&["1ac|line 1", "2hv|line 2"]), rows(&["2hv|line 2", "3tr|line 3"]));
    let cases = [
        ("src/x.ts:2-3", &two, "path-lines"),
        ("src/x.ts:2", &two, "path-lines"),
        ("src/x.ts:2:7", &two, "path-lines"),
        ("src/x.ts#L2-L3", &two, "path-lines"),
        ("src/x.ts:1-2", &one, "path-lines"),
    ];
    for (path, text, rule) in cases {
        let shown = project.call("read", &json!({"path": path}));
        assert!(!shown.is_error && shown.text.starts_with(text.as_str()), "{path}: {}", shown.text);
        assert!(shown.text.ends_with("(path: taken as \"src/x.ts\".)"), "{path}: {}", shown.text);
        assert_eq!(shown.structured["repairs"][0]["rule"], rule);
    }
    for path in ["src/x.ts ", "src/x.ts\n", "\tsrc/x.ts\r\n"] {
        let shown = project.call("read", &json!({"path": path}));
        assert!(!shown.is_error, "{}", shown.text);
        assert_eq!(shown.structured["repairs"][0]["rule"], "path-blanks");
    }
    // Fields take precedence; other files of a call have lines of their own.
    let arguments = json!({"path": "src/x.ts:1", "start_line": 3, "more_paths": ["src/x.ts:2-2"]});
    let shown = project.call("read", &arguments);
    assert!(!shown.text.contains("1ac|") && shown.text.contains("3tr|"), "{}", shown.text);
    assert!(shown.text.contains("2hv|"), "{}", shown.text);
    let found = project.call("search", &json!({"pattern": "line 2", "paths": ["src/x.ts:1 "]}));
    assert!(found.text.contains("2hv|line 2"), "{}", found.text);
    let operation = json!({"op": "set_line", "path": "src/x.ts:2", "anchor": "2hv", "text": "two"});
    let done = project.call("apply", &json!({"operations": [operation]}));
    assert!(!done.is_error, "{}", done.text);
    assert_eq!(project.content("src/x.ts"), "line 1\ntwo\nline 3\n");
}

#[test]
fn a_list_of_paths_as_text_is_read() {
    let project = Project::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let shown = project.call("read", &json!({"path": "[\"a.txt\", \"b.txt:1\"]"}));
    assert!(!shown.is_error, "{}", shown.text);
    assert!(shown.text.contains("--- a.txt ---\n") && shown.text.contains("--- b.txt ---\n"));
    assert_eq!(rules(&shown), ["json-text", "path-lines"]);
    for path in ["[id]", "[]", "[1]", "[\"\"]", "[\"a.txt\"", "{}"] {
        assert!(project.call("read", &json!({"path": path})).is_error, "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_with_the_literal_name_is_meant() {
    let names = ["x.ts", "x.ts:2", "x.ts#L1", "b ", "b", "s\\b", "s/b", "[\"b\"]"];
    let files: Vec<_> = names.iter().map(|name| (*name, *name)).collect();
    let project = Project::new(&files);
    for name in names {
        let shown = project.call("read", &json!({"path": name}));
        assert!(shown.text.ends_with(&format!("|{name}")), "{name}: {}", shown.text);
        assert!(rules(&shown).is_empty());
    }
}

#[cfg(unix)]
#[test]
fn backslashes_are_separators_where_that_names_a_file_or_directory() {
    let project = Project::new(&[("src/deep/x.ts", LINES)]);
    let shown = project.call("read", &json!({"path": "src\\deep\\x.ts:2-2\n"}));
    assert!(shown.text.starts_with("2hv|line 2\n"), "{}", shown.text);
    assert_eq!(rules(&shown), ["path-blanks", "path-separator", "path-lines"]);
    let add = |path: &str| {
        let operation = json!({"op": "add_file", "path": path, "content": "x"});
        project.call("apply", &json!({"operations": [operation]}))
    };
    assert!(!add("src\\deep\\new.ts\n").is_error);
    assert_eq!(project.content("src/deep/new.ts"), "x");
    // Without such a directory, the backslash can be part of a name.
    assert!(!add("a\\ b.txt").is_error);
    assert_eq!(project.content("a\\ b.txt"), "x");
    let outside = project.call("read", &json!({"path": "..\\..\\x:1"}));
    assert!(outside.is_error, "{}", outside.text);
}

#[test]
fn regression_the_name_of_a_new_file_has_no_lines() {
    let project = Project::new(&[("src/a.ts", LINES), ("old:10", LINES)]);
    let apply = |operation: Json| project.call("apply", &json!({"operations": [operation]}));
    for path in ["src/new2.ts:10-20", "src/new.ts:3", "src/new.ts#L3", "src/new.ts(3)"] {
        let added = apply(json!({"op": "add_file", "path": path, "content": "x"}));
        assert!(added.is_error, "{path}: {}", added.text);
        let moved = apply(json!({"op": "move_file", "from": "src/a.ts", "to": path}));
        assert!(moved.is_error, "{path}: {}", moved.text);
    }
    let refused = apply(json!({"op": "add_file", "path": "src/new.ts:3", "content": "x"}));
    assert!(refused.text.contains("give only its name, \"src/new.ts\""), "{}", refused.text);
    assert_eq!(project.files().len(), 2);
    for (from, to) in [("old:10", "copy (2)"), ("copy (2)", "photo(1)")] {
        let moved = apply(json!({"op": "move_file", "from": from, "to": to}));
        assert!(!moved.is_error, "{}", moved.text);
    }
}

#[test]
fn regression_a_list_of_one_path_is_a_path_of_apply() {
    let project = Project::new(&[("a.txt", LINES)]);
    let operation = json!({"op": "add_file", "path": "[\"b.txt\"]", "content": "x"});
    let added = project.call("apply", &json!({"operations": [operation]}));
    assert!(!added.is_error, "{}", added.text);
    assert_eq!(project.content("b.txt"), "x");
}

#[test]
fn regression_lines_of_a_path_stay_next_to_start_line() {
    let project = Project::new(&[("a.txt", LINES)]);
    let read = |fields: Json| project.call("read", &fields);
    let rows = |fields: Json| {
        let shown = read(fields).text;
        shown.lines().filter(|row| row.contains('|')).count()
    };
    assert_eq!(rows(json!({"path": "a.txt:1-3", "start_line": 2})), 2);
    assert_eq!(rows(json!({"path": "a.txt:2-3", "max_lines": 1})), 1);
    assert!(read(json!({"path": "a.txt:2-3", "max_lines": 1})).text.starts_with("2"));
    assert!(read(json!({"path": "a.txt:1-3", "start_line": 4})).is_error);
}
