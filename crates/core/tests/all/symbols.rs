//! Reads and searches of definitions by name.

use std::fs;

use hashline_core::{
    Cancel, Code, FileView, Folding, ReadRequest, SearchQuery, SearchResult, Session,
    SessionLimits, SessionOptions, Workspace, WorkspaceOptions,
};
use serde_json::json;

use crate::support::{Project, applied};

const PARSER: &str = "\
import re


class Parser:
    \"\"\"Parses.\"\"\"

    # Takes one.
    @cached
    def take(self):
        return self.next()

    def next(self):
        return 1


class Lexer:
    def next(self):
        return 2
";

fn project() -> Project {
    let project = Project::new(&[("parser.py", PARSER), ("notes.txt", "take\n")]);
    fs::create_dir(project.dir.path().join("src")).unwrap();
    let text = "pub fn take() -> u32 {\n    1\n}\n\nfn main() {\n    take();\n}\n";
    fs::write(project.dir.path().join("src/impl.rs"), "impl Lexer {}\nimpl take {}\n").unwrap();
    fs::write(project.dir.path().join("src/main.rs"), text).unwrap();
    project
}

fn session(project: &Project, limits: SessionLimits) -> Session {
    let workspace = WorkspaceOptions { ..project.options() };
    Session::new(SessionOptions { workspace, limits, ..SessionOptions::default() }).unwrap()
}

fn of_symbol(path: &str, name: &str) -> ReadRequest {
    ReadRequest { symbol: Some(name.to_owned()), ..ReadRequest::new(path) }
}

fn read(session: &Session, request: ReadRequest) -> (String, FileView) {
    let mut report = session.read_with(&[request], &Cancel::default()).unwrap();
    (report.text, report.views.pop().unwrap())
}

fn search(session: &Session, name: &str) -> SearchResult {
    let query = SearchQuery { symbol: Some(name.to_owned()), ..SearchQuery::new("") };
    session.search_with(&query, &Cancel::default()).unwrap()
}

/// The lines of rows, without anchors; other rows are whole.
fn texts(rows: &str) -> Vec<&str> {
    rows.lines().map(|row| row.split_once('|').map_or(row, |(_, text)| text)).collect()
}

#[test]
fn a_read_shows_one_definition_and_it_can_be_edited() {
    let project = project();
    let session = session(&project, SessionLimits::default());
    let (text, view) = read(&session, of_symbol("parser.py", "Parser.take"));
    assert_eq!(
        texts(&text),
        ["    # Takes one.", "    @cached", "    def take(self):", "        return self.next()"]
    );
    let shown = view.as_text().unwrap();
    assert_eq!((shown.start_line, shown.end_line, shown.next_line), (7, 10, None));
    assert_eq!(shown.symbols.len(), 1);
    assert_eq!(
        json!(shown.symbols[0]),
        json!({"name": "Parser.take", "startLine": 7, "endLine": 10})
    );
    let anchor = text.lines().nth(3).unwrap().split_once('|').unwrap().0;
    let patch = json!({"operations": [
        {"path": "parser.py", "op": "set_line", "anchor": anchor, "text": "        return 3"},
    ]});
    applied(session.apply(patch).unwrap());
    assert!(project.content("parser.py").contains("    def take(self):\n        return 3\n"));
}

#[test]
fn a_name_of_several_definitions_lists_them() {
    let project = project();
    let session = session(&project, SessionLimits::default());
    let (text, view) = read(&session, of_symbol("parser.py", "next"));
    assert_eq!(
        texts(&text),
        [
            "    def next(self):",
            "...",
            "    def next(self):",
            "(2 definitions have this name: Parser.next in lines 12-13, Lexer.next in lines 17-18. \
             Read one by its full name, or by its lines.)"
        ]
    );
    let names: Vec<&str> =
        view.as_text().unwrap().symbols.iter().map(|place| place.name.as_str()).collect();
    assert_eq!(names, ["Parser.next", "Lexer.next"]);
}

#[test]
fn a_missing_definition_names_those_that_are_alike() {
    let project = project();
    let session = session(&project, SessionLimits::default());
    for (path, name, expected) in [
        (
            "parser.py",
            "Parser.tak",
            "no definition is named \"Parser.tak\". Did you mean \"take\"?",
        ),
        ("parser.py", "lexer", "no definition is named \"lexer\". Did you mean \"Lexer\"?"),
        (
            "parser.py",
            "Lexer.take",
            "\"Lexer.take\", but line 9 contains \"take\": search the file for it to see it. \
             Did you mean \"take\"?",
        ),
        ("parser.py", "other", "\"other\"; read it with fold to see its definitions"),
        ("parser.py", "Parser.self", "\"Parser.self\", but lines 9, 10, 12, 17 contain \"self\""),
        ("notes.txt", "take", "the structure of this file is not known"),
    ] {
        let (text, view) = read(&session, of_symbol(path, name));
        let error = view.error().unwrap();
        assert_eq!(error.code, Code::SymbolNotFound, "{name}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn symbol_excludes_other_ways_to_choose_lines() {
    let project = project();
    let session = session(&project, SessionLimits::default());
    for request in [
        ReadRequest { start_line: Some(1), ..of_symbol("parser.py", "next") },
        ReadRequest { search: Some("next".into()), ..of_symbol("parser.py", "next") },
        ReadRequest { fold: Some(Folding::To(5)), ..of_symbol("parser.py", "next") },
        ReadRequest { open: vec!["1-2".to_owned()], ..of_symbol("parser.py", "next") },
        of_symbol("parser.py", " . "),
    ] {
        let (_, view) = read(&session, request);
        assert_eq!(view.error().unwrap().code, Code::InvalidArgument);
    }
    let query = SearchQuery { symbol: Some("next".to_owned()), ..SearchQuery::new("next") };
    let error = session.search_with(&query, &Cancel::default()).unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
}

#[test]
fn a_search_shows_definitions_in_all_files() {
    let project = project();
    let session = session(&project, SessionLimits::default());
    let found = search(&session, "take");
    assert_eq!(
        texts(&found.text),
        [
            "--- parser.py ---",
            "    # Takes one.",
            "    @cached",
            "    def take(self):",
            "        return self.next()",
            "--- src/main.rs ---",
            "pub fn take() -> u32 {",
            "    1",
            "}",
        ]
    );
    assert_eq!((found.match_count, found.truncated), (2, false));
    assert_eq!(found.files[0].match_lines, [9]);
    // The name is in a file without structure.
    assert_eq!(found.skipped.unknown_structure, 1);
    let anchor = found.text.lines().nth(7).unwrap().split_once('|').unwrap().0;
    let patch = json!({"operations": [
        {"path": "src/main.rs", "op": "set_line", "anchor": anchor, "text": "    2"},
    ]});
    applied(session.apply(patch).unwrap());
    assert_eq!(search(&session, "tak").match_count, 0);
}

#[test]
fn regression_a_name_without_a_definition_shows_the_lines_that_contain_it() {
    let project = project();
    let session = session(&project, SessionLimits::default());
    let found = search(&session, "Lexer.take");
    assert!(found.no_definition && !found.truncated);
    assert_eq!((found.match_count, found.files_searched), (5, 4));
    assert_eq!(
        texts(&found.text),
        [
            "--- notes.txt ---",
            "take",
            "--- parser.py ---",
            "    def take(self):",
            "--- src/impl.rs ---",
            "impl take {}",
            "--- src/main.rs ---",
            "pub fn take() -> u32 {",
            "...",
            "    take();",
        ]
    );
    // The lines count as shown.
    let anchor = found.text.lines().last().unwrap().split_once('|').unwrap().0;
    let patch = json!({"operations": [
        {"path": "src/main.rs", "op": "set_line", "anchor": anchor, "text": "    give();"},
    ]});
    applied(session.apply(patch).unwrap());
    let nowhere = search(&session, "tak");
    assert!(!nowhere.no_definition && nowhere.text.is_empty());
    let workspace = Workspace::new(project.options());
    let query = SearchQuery { symbol: Some("main.take".to_owned()), ..SearchQuery::new("") };
    let found = workspace.search(query).unwrap();
    assert!(found.no_definition);
    assert_eq!((found.files.len(), found.match_count), (4, 4));
}

#[test]
fn lines_with_a_name_are_limited() {
    let line = format!("load({});\n", "x".repeat(1000));
    let text = format!("fn main() {{\n{}}}\n", line.repeat(20));
    let files: Vec<(String, &str)> =
        (0..20).map(|at| (format!("f{at:02}.rs"), text.as_str())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    let project = Project::new(&files);
    let found = search(&session(&project, SessionLimits::default()), "load");
    assert!(found.no_definition && found.truncated);
    assert_eq!((found.match_count, found.files.len()), (10, 4));
    assert!(found.text.len() <= 4096, "{}", found.text.len());
}

#[test]
fn regression_variables_are_found_in_files() {
    let project = Project::new(&[
        ("config.ts", "export const config = {\n  port: 1,\n}\n"),
        ("use.ts", "import { config } from './config'\nlisten(config.port)\n"),
        ("limits.py", "LIMIT = 10\n\n\ndef run():\n    LIMIT = 2\n"),
        ("box.h", "int box_size(struct box *);\n"),
        ("box.c", "int box_size(struct box *box) {\n  return 1;\n}\n"),
    ]);
    let session = session(&project, SessionLimits::default());
    for (name, expected) in [
        ("config", &["--- config.ts ---", "export const config = {", "  port: 1,", "}"][..]),
        ("LIMIT", &["--- limits.py ---", "LIMIT = 10"]),
        (
            "box_size",
            &[
                "--- box.c ---",
                "int box_size(struct box *box) {",
                "  return 1;",
                "}",
                "--- box.h ---",
                "int box_size(struct box *);",
            ],
        ),
    ] {
        assert_eq!(texts(&search(&session, name).text), expected, "{name}");
    }
    let (text, _) = read(&session, of_symbol("config.ts", "config"));
    assert_eq!(texts(&text).len(), 3);
}

#[test]
fn definitions_that_cross_a_limit_are_shown_alike_from_any_batch() {
    let body = "    work();\n".repeat(20);
    let text = format!("fn run() {{\n{body}}}\n\nfn run2() {{\n{body}}}\n").replace("run2", "run");
    let files: Vec<(String, &str)> =
        (0..40).map(|at| (format!("f{at:02}.rs"), text.as_str())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    let project = Project::new(&files);
    let found = search(&session(&project, SessionLimits::default()), "run");
    let whole = texts(&found.text).iter().filter(|row| **row == "    work();").count();
    // Nine definitions of 22 lines fit into 200 lines.
    assert_eq!((found.match_count, whole), (80, 9 * 20));
}

#[test]
fn definitions_beyond_the_limit_of_lines_show_their_first_lines() {
    let body = "    work();\n".repeat(150);
    let text = format!("/// One.\nfn run() {{\n{body}}}\n");
    let files: Vec<(String, &str)> =
        (0..80).map(|at| (format!("f{at:02}.rs"), text.as_str())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, *text)).collect();
    let project = Project::new(&files);
    let session = session(&project, SessionLimits::default());
    let found = search(&session, "run");
    let rows = texts(&found.text);
    // The first definition is whole, the others do not fit into 200 lines.
    assert_eq!(rows[..3], ["--- f00.rs ---", "/// One.", "fn run() {"]);
    assert_eq!(
        rows[154..158],
        ["--- f01.rs ---", "fn run() {", "3-153 … 151 lines", "--- f02.rs ---"]
    );
    assert_eq!((found.match_count, found.files.len()), (80, 80));
    let again = search(&session, "run");
    assert_eq!(again.text, found.text);
}

#[test]
fn limits_of_a_search_apply_to_definitions() {
    let project = project();
    let session = session(&project, SessionLimits::default());
    let query =
        SearchQuery { symbol: Some("next".to_owned()), max_matches: 1, ..SearchQuery::new("") };
    let found = session.search_with(&query, &Cancel::default()).unwrap();
    assert_eq!((found.match_count, found.truncated), (1, true));
    assert_eq!(found.files[0].symbols.len(), 1);
    let query = SearchQuery { max_bytes: Some(60), max_matches: 10, ..query };
    let found = session.search_with(&query, &Cancel::default()).unwrap();
    assert!(found.text.len() <= 60 && found.truncated, "{}", found.text);
}

#[test]
fn a_directory_has_no_symbols_and_no_lines() {
    let project = project();
    let session = session(&project, SessionLimits::default());
    for request in
        [of_symbol("src", "take"), ReadRequest { start_line: Some(2), ..ReadRequest::new("src") }]
    {
        let error = session.read_with(&[request], &Cancel::default()).map(|report| report.text);
        let text = error.unwrap_or_else(|error| error.message.to_string());
        assert!(text.contains("src is a directory"), "{text}");
    }
}

#[test]
fn regression_of_a_long_line_the_part_with_the_definition_is_shown() {
    let filler = |name: &str| -> String {
        (0..500).map(|at| format!("function {name}{at}(){{return \"é\"}}")).collect()
    };
    let line = format!("{}function wanted(a){{return a+1}}{}", filler("x"), filler("y"));
    let twice =
        format!("{}var A={{twice(){{}}}};{}var B={{twice(){{}}}};", filler("x"), filler("z"));
    let long = format!("/* One. */\n{}function below(){{\n  return 2\n}}\n", filler("w"));
    let text = format!("// Minified.\n{line}\n{twice}\n{long}");
    let project = Project::new(&[("a.min.js", text.as_str())]);
    let session = session(&project, SessionLimits::default());
    let (text, _) = read(&session, of_symbol("a.min.js", "wanted"));
    assert!(text.contains("function wanted(a){return a+1}"), "{text}");
    let (text, _) = read(&session, of_symbol("a.min.js", "twice"));
    assert!(text.contains("var A={twice(){}}"), "{text}");
    let (text, view) = read(&session, of_symbol("a.min.js", "below"));
    assert!(text.contains("function below(){"), "{text}");
    assert!(texts(&text).ends_with(&["  return 2", "}"]), "{text}");
    assert_eq!(view.as_text().unwrap().next_line, None);
    let found = search(&session, "wanted");
    assert!(found.text.contains("function wanted(a){return a+1}"), "{}", found.text);
    let found = search(&session, "below");
    assert!(found.text.contains("function below(){"), "{}", found.text);
    let small = SessionLimits { max_bytes: 2_000, ..SessionLimits::default() };
    let session = self::session(&project, small);
    let (text, _) = read(&session, of_symbol("a.min.js", "wanted"));
    assert!(text.contains("function wanted(a){return a+1}"), "{text}");
}
