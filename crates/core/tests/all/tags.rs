//! The dialect in which lines have only numbers; a tag above them identifies the version.

use crate::support::{Project, applied, facts, refused};
use hashline_core::Cancel;
use hashline_core::Outcome;
use hashline_core::Query;
use hashline_core::ReadRequest;
use hashline_core::SearchQuery;
use hashline_core::{Code, Error};
use hashline_core::{EditOptions, apply_to_text};
use hashline_core::{FileView, Limits};
use hashline_core::{Session, SessionOptions, StoreOptions, Workspace, WorkspaceOptions};
use hashline_lines::dialect::Dialect;
use hashline_lines::tag::Tag;
use serde_json::{Value, json};

const LINES: &str = "one\n\nthree\nfour\nfive\n";

fn tagged() -> &'static Dialect {
    Dialect::by_name("omp18").unwrap()
}

fn options(project: &Project) -> WorkspaceOptions {
    WorkspaceOptions { dialect: tagged(), ..project.options() }
}

fn session(project: &Project) -> Session {
    let options = SessionOptions { workspace: options(project), ..SessionOptions::default() };
    Session::new(options).unwrap()
}

fn tag(text: &str) -> Tag {
    Tag::of(text.as_bytes())
}

fn header(path: &str, text: &str) -> String {
    format!("[{path}#{}]", tag(text))
}

/// A view; checks that it is the same when streamed.
fn view(project: &Project, request: ReadRequest) -> FileView {
    let workspace = Workspace::new(options(project));
    let view = workspace.read(request.clone()).unwrap();
    let mut pieces = Vec::new();
    let pass_on = |piece: &[u8]| -> Result<(), Error> {
        pieces.extend_from_slice(piece);
        Ok(())
    };
    workspace.stream(&request, &Cancel::default(), pass_on).unwrap();
    assert_eq!(String::from_utf8(pieces).unwrap(), format!("{}\n", view.text));
    view
}

fn in_session(session: &Session, patch: &str) -> Outcome {
    session.apply(json!({"patch": patch})).unwrap()
}

#[test]
fn a_view_begins_with_the_tag_of_the_whole_file() {
    let files = [
        ("a.txt", LINES.as_bytes().to_vec(), LINES),
        ("crlf", b"\xef\xbb\xbfone\r\ntwo  \r\n".to_vec(), "one\ntwo\n"),
        ("open", b"one\n\xff".to_vec(), ""),
        ("empty", Vec::new(), ""),
        ("wide", [255, 254, 233, 0, 10, 0].to_vec(), "\u{e9}\n"),
        ("dir [x]#y", b"one\n".to_vec(), "one\n"),
    ];
    let named: Vec<_> = files.iter().map(|(name, bytes, _)| (*name, bytes.as_slice())).collect();
    let project = Project::new(&named);
    for (name, _, text) in files.iter().filter(|(name, ..)| *name != "open") {
        let rows: String =
            (1..).zip(text.lines()).map(|(at, line)| format!("\n{at}:{line}")).collect();
        let rows = if *name == "crlf" { "\n1:one\n2:two  ".to_owned() } else { rows };
        assert_eq!(view(&project, ReadRequest::new(*name)).text, header(name, text) + &rows);
    }
    assert!(view(&project, ReadRequest::new("open")).text.ends_with("]\n1:one\n2:\u{fffd}"));
    let limits = Limits { max_lines: Some(2), ..Limits::default() };
    let part = ReadRequest { start_line: Some(2), limits, ..ReadRequest::new("a.txt") };
    let part = view(&project, part);
    assert_eq!(part.text, header("a.txt", LINES) + "\n2:\n3:three");
    let part = facts(&part);
    assert_eq!((part.start_line, part.end_line, part.next_line), (2, 3, Some(4)));
    let search = Some(Query { search: "f".to_owned(), ..Query::default() });
    let found = view(&project, ReadRequest { search, ..ReadRequest::new("a.txt") });
    assert_eq!(found.text, header("a.txt", LINES) + "\n4:four\n5:five");
    for max_bytes in 0..60 {
        let limits = Limits { max_lines: None, max_bytes: Some(max_bytes) };
        let view = view(&project, ReadRequest { limits, ..ReadRequest::new("a.txt") });
        assert!(view.text.starts_with(&header("a.txt", LINES)), "{}", view.text);
        assert!(
            facts(&view).is_line_cut || view.text.len() <= max_bytes,
            "{max_bytes}: {}",
            view.text
        );
    }
}

#[test]
fn regression_notes_on_a_file_are_below_its_name() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.bin", "\0\u{1}"), ("c.txt", "x\n")]);
    let session = session(&project);
    let search =
        Query { search: "zzz".into(), regex: false, case_sensitive: true, ..Query::default() };
    let none = ReadRequest { search: Some(search), ..ReadRequest::new("c.txt") };
    let requests = [ReadRequest::new("a.txt"), ReadRequest::new("b.bin"), none];
    let page = session.read_with(&requests, &Cancel::default()).unwrap();
    let expected = [
        header("a.txt", "one\n") + "\n1:one",
        "--- b.bin ---\n(binary file: not shown)".to_owned(),
        header("c.txt", "x\n") + "\n(no match for zzz in 1 lines)",
    ];
    assert_eq!(page.text, expected.join("\n"));
}

#[test]
fn regression_the_tag_of_a_new_file_excludes_its_byte_order_mark() {
    let project = Project::new(&[("other", "")]);
    let session = session(&project);
    let add =
        json!({"operations": [{"op": "add_file", "path": "n.txt", "content": "\u{feff}a\n"}]});
    let added = applied(session.apply(add).unwrap());
    assert!(added.text.starts_with(&header("n.txt", "a\n")), "{}", added.text);
    assert_eq!(project.content("n.txt"), "\u{feff}a\n");
    applied(in_session(&session, &format!("{}\nPUT 1:\n+b", header("n.txt", "a\n"))));
}

#[test]
fn a_session_shows_each_tag_once_and_takes_patches_by_it() {
    let project = Project::new(&[("a.txt", LINES), ("b.txt", "x\n"), ("empty", "")]);
    let session = session(&project);
    let requests = ["a.txt", "b.txt", "empty"].map(ReadRequest::new);
    let page = session.read_with(&requests, &Cancel::default()).unwrap();
    let expected = [
        header("a.txt", LINES) + "\n1:one\n2:\n3:three\n4:four\n5:five",
        header("b.txt", "x\n") + "\n1:x",
        header("empty", "") + "\n(empty file)",
    ];
    assert_eq!(page.text, expected.join("\n"));
    let patch = format!(
        "{}\nPUT 2.=3:\n+TWO\n+2.5\n+THREE\n{}\nCUT 1\n{}\nPUT <1:\n+first",
        header("a.txt", LINES),
        header("b.txt", "x\n"),
        header("empty", "")
    );
    let done = applied(in_session(&session, &patch));
    let now = "one\nTWO\n2.5\nTHREE\nfour\nfive\n";
    assert_eq!(project.content("a.txt"), now);
    let expected = format!(
        "{}\n(1 edit, +3 -2)\n1:one\n2:TWO\n3:2.5\n4:THREE\n5:four\n6:five\nLines after 3 moved by +1.\n{}\n(1 edit, +0 -1)\n{}\n(1 edit, +1 -0)\n1:first",
        header("a.txt", now),
        header("b.txt", ""),
        header("empty", "first\n")
    );
    assert_eq!(done.text, expected);
    // The answer shows the next version.
    applied(in_session(&session, &format!("{}\nCUT 3", header("a.txt", now))));
    assert_eq!(project.content("a.txt"), "one\nTWO\nTHREE\nfour\nfive\n");
    let new = session.apply(json!({"operations": [
        {"op": "add_file", "path": "new", "content": "a\nb\n"},
        {"op": "replace_text", "path": "a.txt", "old_text": "TWO", "new_text": "2"},
        {"op": "insert_after", "path": "a.txt", "anchor": "EOF", "text": "1:x"},
    ]}));
    let done = applied(new.unwrap());
    assert!(
        done.text.contains(&(header("new", "a\nb\n") + "\n(created, +2)\n1:a")),
        "{}",
        done.text
    );
    let now = "one\n2\nTHREE\nfour\nfive\n1:x\n";
    assert_eq!(project.content("a.txt"), now, "a number is not a copied anchor");
    applied(in_session(&session, &format!("{}\nPUT 6:\n+six\n", header("a.txt", now))));
}

#[test]
fn a_tag_keeps_naming_its_version_after_later_edits() {
    for dialect in ["omp18", "lean"] {
        let project = Project::new(&[("a.txt", LINES)]);
        let workspace =
            WorkspaceOptions { dialect: Dialect::by_name(dialect).unwrap(), ..project.options() };
        let session = Session::new(SessionOptions { workspace, ..SessionOptions::default() });
        let session = session.unwrap();
        session.read(ReadRequest::new("a.txt")).unwrap();
        // By a text; by the tag; and by the tag again, for a version two edits ago.
        let first = json!([{"op": "replace_text", "path": "a.txt", "old_text": "one", "new_text": "1\n1.5"}]);
        applied(session.apply(json!({"operations": first})).unwrap());
        for line in ["PUT 3:\n+III", "PUT 5:\n+V"] {
            let patch = format!("{}\n{line}", header("a.txt", LINES));
            applied(in_session(&session, &patch));
        }
        assert_eq!(project.content("a.txt"), "1\n1.5\n\nIII\nfour\nV\n", "{dialect}");
    }
}

#[test]
fn regression_a_tag_is_known_after_edits_in_another_dialect() {
    let project = Project::new(&[("a.txt", LINES)]);
    let dir = tempfile::tempdir().unwrap();
    let store = StoreOptions { id: "s".to_owned(), dir: Some(dir.path().to_owned()) };
    let open = |dialect: &str| {
        let dialect = Dialect::by_name(dialect).unwrap();
        let workspace = WorkspaceOptions { dialect, ..project.options() };
        let options = SessionOptions { workspace, ..SessionOptions::default() };
        Session::open(options, &store).unwrap()
    };
    let tagged = open("omp18");
    tagged.read(ReadRequest::new("a.txt")).unwrap();
    // The answer names a version whose text is not kept after the next edits.
    applied(in_session(&tagged, &format!("{}\nPUT <1:\n+zero", header("a.txt", LINES))));
    let second = project.content("a.txt");
    let hashed = open("lean");
    for (old, new) in [("four", "4\n4.5"), ("five", "5")] {
        let edit =
            json!([{"op": "replace_text", "path": "a.txt", "old_text": old, "new_text": new}]);
        applied(hashed.apply(json!({"operations": edit})).unwrap());
    }
    drop(tagged);
    for (session, line) in [(open("omp18"), "PUT 2:\n+ONE"), (hashed, "PUT 1:\n+0")] {
        let patch = format!("{}\n{line}", header("a.txt", &second));
        applied(in_session(&session, &patch));
    }
    assert_eq!(project.content("a.txt"), "0\nONE\n\nthree\n4\n4.5\n5\n");
}

#[test]
fn lines_shown_by_a_search_can_be_edited() {
    let project = Project::new(&[("a.txt", LINES), ("b.txt", "x\nfine\n"), ("c.txt", "z\n")]);
    let session = session(&project);
    let query = Query { search: "f".to_owned(), ..Query::default() };
    let found = session.search(SearchQuery::new(query)).unwrap();
    let expected = format!(
        "{}\n4:four\n5:five\n{}\n2:fine",
        header("a.txt", LINES),
        header("b.txt", "x\nfine\n")
    );
    assert_eq!(found.text, expected);
    let patch = format!("{}\nPUT 4:\n+FOUR", header("a.txt", LINES));
    applied(in_session(&session, &patch));
    let patch = format!("{}\nPUT 1:\n+X", header("b.txt", "x\nfine\n"));
    assert_eq!(refused(in_session(&session, &patch)).code, Code::NotShown);
}

#[test]
fn a_refusal_shows_the_tag_to_continue_with() {
    let project = Project::new(&[("a.txt", LINES)]);
    let session = session(&project);
    session.read(ReadRequest::new("a.txt")).unwrap();
    let now = "one\n\nother\nfour\nfive\n";
    project.write("a.txt", now);
    let no = refused(in_session(&session, &format!("{}\nPUT 3:\n+X", header("a.txt", LINES))));
    assert_eq!(no.code, Code::HashMismatch);
    assert!(no.text.starts_with(&(header("a.txt", now) + "\n")), "{}", no.text);
    assert!(
        no.text.contains("\nActual state:\n1:one\n2:\n3:other\n4:four\n5:five\n"),
        "{}",
        no.text
    );
    applied(in_session(&session, &format!("{}\nPUT 3:\n+X", header("a.txt", now))));
    // The same without a session.
    let workspace = Workspace::new(options(&project));
    let no = refused(workspace.apply(json!({"patch": "[a.txt#0BAD]\nPUT 3:\n+Y"})).unwrap());
    let now = project.content("a.txt");
    assert!(no.text.starts_with(&(header("a.txt", &now) + "\n")), "{}", no.text);
    let none = refused(workspace.apply(json!({"patch": "[no.txt#0BAD]\nCUT 1"})).unwrap());
    assert_eq!(none.text, "FILE_NOT_FOUND: `CUT 1.=1` (row 2 of the patch): no.txt: no such file");
}

#[test]
fn lines_are_edited_only_by_patches_in_this_dialect() {
    let project = Project::new(&[("a.txt", LINES)]);
    let session = session(&project);
    session.read(ReadRequest::new("a.txt")).unwrap();
    for anchor in ["3", "3:three", "3#1A2B", "3ab"] {
        let operation = json!({"op": "set_line", "path": "a.txt", "anchor": anchor, "text": "X"});
        let no = refused(session.apply(json!({"operations": [operation]})).unwrap());
        assert_eq!(no.code, Code::InvalidAnchor);
        assert!(no.text.contains("send a patch, {\"patch\": \"[path#TAG]\\n"), "{}", no.text);
        assert_eq!(project.content("a.txt"), LINES);
    }
}

#[test]
fn observed_rows_are_compared_by_their_whole_text() {
    let project = Project::new(&[("a.txt", LINES)]);
    let learned = |rows: &str| session(&project).observe(rows, None, &Cancel::default()).unwrap();
    let above = header("a.txt", LINES);
    assert_eq!(learned(&format!("{above}\n1:one\n2:\n3:three")), 3);
    // The file had another text at that line: a match by chance does not count.
    assert_eq!(learned(&format!("{above}\n1:once\n2:\n3:three")), 1);
    assert_eq!(learned(&format!("{above}\n1:\n3:thr")), 0);
    assert_eq!(learned(&format!("{above}\n3:thr… [+2 bytes]")), 1);
    assert_eq!(learned("1:one"), 0);
    let session = session(&project);
    session.observe(&format!("{above}\n4:four"), None, &Cancel::default()).unwrap();
    applied(in_session(&session, &format!("{above}\nPUT 4:\n+FOUR")));
}

#[test]
fn brief_answers_name_ranges() {
    let project = Project::new(&[("a.txt", LINES)]);
    let given: SessionOptions = serde_json::from_value(json!({"answer": "brief"})).unwrap();
    let mut workspace = options(&project);
    workspace.apply.edit.answer = given.workspace.apply.edit.answer;
    let session = Session::new(SessionOptions { workspace, ..SessionOptions::default() }).unwrap();
    session.read(ReadRequest::new("a.txt")).unwrap();
    let patch = format!("{}\nPUT 3:\n+X\n+Y\nPUT 5:\n+Z", header("a.txt", LINES));
    let done = applied(in_session(&session, &patch));
    let now = "one\n\nX\nY\nfour\nZ\n";
    let expected = header("a.txt", now) + "\n(2 edits, +3 -2)\n(3-4) (old lines below: +1)\n(6)";
    assert_eq!(done.text, expected);
    applied(in_session(&session, &format!("{}\nPUT 3.=6:\n+all", header("a.txt", now))));
}

#[test]
fn a_suggestion_that_parses_is_a_patch() {
    let code = "function b() {\n  f()\n  return 3\n}\n";
    let project = Project::new(&[("a.js", code)]);
    let session = session(&project);
    session.read(ReadRequest::new("a.js")).unwrap();
    let patch = format!("{}\nPUT 3.=4:\n+  return 4", header("a.js", code));
    let done = applied(in_session(&session, &patch));
    let (_, rest) = done.text.split_once(", send ").unwrap_or_else(|| panic!("{}", done.text));
    let (request, _) = rest.split_once(": then it parses.").unwrap();
    applied(session.apply(serde_json::from_str::<Value>(request).unwrap()).unwrap());
    assert_eq!(project.content("a.js"), code.replace('3', "4"));
}

#[test]
fn a_patch_of_a_text_in_memory() {
    let apply = |text: &str, patch: &str| {
        apply_to_text(tagged(), text, &json!({"patch": patch}).into(), &EditOptions::default())
    };
    let rust = "fn a() {\n}\nfn b() {\n}\n";
    for (name, text, rows, expected) in [
        ("a", LINES, "PUT 2.=3:\n+X", "one\nX\nfour\nfive\n"),
        ("a", LINES, "CUT 1 @r\nPUT >$ @r\nPUT >3 @r", "\nthree\none\nfour\nfive\none\n"),
        ("a", "", "PUT <1:\n+a", "a\n"),
        ("a", "a\r\nb", "PUT 2:\n+c", "a\r\nc"),
        ("a.rs", rust, "CUT 1*", "fn b() {\n}\n"),
    ] {
        let done = apply(text, &format!("{}\n{rows}", header(name, text)));
        assert_eq!(done.content.as_deref(), Some(expected), "{rows}");
        let note = applied(done.outcome);
        assert!(note.text.starts_with(&header(name, expected)), "{}", note.text);
    }
    let above = header("a", LINES);
    for (patch, code) in [
        ("[a#0BAD]\nCUT 1".to_owned(), Code::HashMismatch),
        (format!("{above}\nREM"), Code::InvalidOperation),
        (format!("{above}\nCUT 1\nMV b"), Code::InvalidOperation),
        (format!("{above}\nCUT 1\n[b#{}]\nCUT 2", tag(LINES)), Code::InvalidOperation),
        (format!("{above}\nPUT 1"), Code::InvalidOperation),
        (format!("{above}\nCUT 9"), Code::LineOutOfRange),
    ] {
        let done = apply(LINES, &patch);
        assert_eq!(done.content, None);
        assert_eq!(refused(done.outcome).code, code, "{patch}");
    }
}

/// The labels of hunks replaced words in a path and in a quoted row.
#[test]
fn regression_a_path_and_a_row_with_the_word_operation_are_unchanged() {
    let (path, text) = ("operation 0.rs", "fn a() {\n    b(1);\n}\n");
    let project = Project::new(&[(path, text)]);
    let session = session(&project);
    session.read_with(&[ReadRequest::new(path)], &Cancel::default()).unwrap();
    let patch = format!("{}\nPUT 2.=3:\n+    go( // operation 0", header(path, text));
    let applied = applied(in_session(&session, &patch));
    assert!(applied.text.contains("[operation 0.rs#"), "{}", applied.text);
    let warning = &applied.warnings.first().expect("the file no longer parses").message;
    assert!(warning.contains("go( // operation 0"), "{warning}");
}

/// Its text is taken to the letter, and would be indented as the lines were.
#[test]
fn a_text_for_lines_that_others_re_indented_is_refused_if_it_is_indented_as_they_were() {
    let (old, now) = ("if (a) {\n  b();\n  c();\n}\n", "if (a) {\n\tb();\n\tc();\n}\n");
    let project = Project::new(&[("a.c", old)]);
    let session = session(&project);
    session.read_with(&[ReadRequest::new("a.c")], &Cancel::default()).unwrap();
    project.write("a.c", now);
    let put = |text: &str| format!("{}\nPUT 2:\n+{text}", header("a.c", old));
    assert_eq!(refused(in_session(&session, &put("  d();"))).code, Code::HashMismatch);
    assert_eq!(project.content("a.c"), now);
    applied(in_session(&session, &format!("{}\nCUT 3", header("a.c", old))));
    assert_eq!(project.content("a.c"), now.replace("\tc();\n", ""));
}
