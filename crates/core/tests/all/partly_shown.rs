//! Lines of which a session has shown only a part: replacing them would lose the rest.

use crate::support::{Project, applied, refused};
use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::Columns;
use hashline_core::PatchOptions;
use hashline_core::Query;
use hashline_core::ReadRequest;
use hashline_core::SearchQuery;
use hashline_core::Unseen;
use hashline_core::{Outcome, Rejected};
use hashline_core::{Session, SessionOptions, StoreOptions};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::{Value, json};

/// A line of 13,000 characters.
fn long() -> String {
    let letters = (0..12_995).map(|at| char::from(b'a' + (at % 26) as u8));
    "START".chars().chain(letters).collect()
}

fn project() -> Project {
    Project::new(&[("f", format!("one\n{}\nthree\n", long()).as_str())])
}

fn options(project: &Project) -> SessionOptions {
    SessionOptions { workspace: project.options(), ..SessionOptions::default() }
}

fn session(project: &Project) -> Session {
    Session::new(options(project)).unwrap()
}

fn read(session: &Session, change: impl FnOnce(&mut ReadRequest)) -> String {
    let mut request = ReadRequest::new("f");
    change(&mut request);
    session.read(request).unwrap().text
}

fn columns(session: &Session, from: u64, to: u64) {
    read(session, |request| request.columns = Some(Columns { from, to }));
}

fn at(number: u64, text: &str) -> String {
    let dialect = Dialect::default_dialect();
    dialect.anchor_text(number, hash_line(dialect, number, text))
}

fn set(text: &str) -> Value {
    json!({"op": "set_line", "path": "f", "anchor": at(2, &long()), "text": text})
}

fn apply(session: &Session, operation: Value) -> Outcome {
    session.apply(json!({"operations": [operation]})).unwrap()
}

/// Expects a refusal that changes nothing.
fn refuse(project: &Project, session: &Session, operation: Value) -> Rejected {
    let before = project.content("f");
    let rejected = refused(apply(session, operation.clone()));
    assert_eq!(project.content("f"), before, "{operation}");
    assert_eq!(rejected.code, Code::PartlyShown, "{operation}: {}", rejected.text);
    rejected
}

/// The check of the truncation mark only applies if the row has the mark unchanged.
#[test]
fn regression_a_partly_shown_line_is_not_replaced() {
    let (long, project) = (long(), project());
    let session = session(&project);
    let text = read(&session, |_| ());
    assert!(text.contains("… [+11000 bytes]"), "{text}");
    let (start, mark) = (&long[..2_000], "… [+11000 bytes]");
    for text in [start.to_owned(), format!("{start}..."), format!("{start}{mark}"), String::new()] {
        let rejected = refuse(&project, &session, set(&text));
        assert_eq!(rejected.failures[0].anchor.as_deref(), Some(&*at(2, &long)));
        for part in ["replace_text", "columns: [2001, 13000]", "\"verbatim\": true"] {
            assert!(rejected.text.contains(part), "{part}: {}", rejected.text);
        }
    }
    let range = |first: &str, last: &str| json!({"op": "replace_range", "path": "f", "start_anchor": first, "end_anchor": last, "text": "x"});
    let (one, two, three) = (at(1, "one"), at(2, &long), at(3, "three"));
    for operation in [range(&one, &two), range(&two, &three), range(&one, &three)] {
        refuse(&project, &session, operation);
    }
}

/// What a model may try after a replacement was refused.
#[test]
fn regression_deleting_and_inserting_is_replacing() {
    let (long, project) = (long(), project());
    let session = session(&project);
    read(&session, |_| ());
    let (two, three) = (at(2, &long), at(3, "three"));
    let delete = json!({"op": "delete", "path": "f", "anchor": two});
    let insert =
        |op: &str, anchor: &str| json!({"op": op, "path": "f", "anchor": anchor, "text": "short"});
    let both = |one: &Value, other: &Value| session.apply(json!({"operations": [one, other]}));
    let at_its_place = [
        insert("insert_after", &two),
        insert("insert_before", &two),
        insert("insert_before", &three),
        insert("insert_after", &at(1, "one")),
    ];
    for insert in at_its_place {
        for outcome in [both(&delete, &insert), both(&insert, &delete)] {
            let rejected = refused(outcome.unwrap());
            assert_eq!(rejected.code, Code::PartlyShown, "{insert}: {}", rejected.text);
        }
    }
    applied(both(&delete, &insert("insert_after", &three)).unwrap());
    assert_eq!(project.content("f"), "one\nthree\nshort\n");
}

#[test]
fn regression_an_anchor_that_was_observed_without_text_shows_nothing() {
    let project = project();
    let session = session(&project);
    for row in [at(2, &long()) + "|", at(2, &long()) + "| "] {
        let lines = session.observe(&row, Some("f".as_ref()), &Cancel::default()).unwrap();
        assert_eq!(lines, 0, "{row}");
    }
}

/// These operations determine the content of the whole line.
#[test]
fn operations_that_lose_no_unseen_text_may_name_a_partly_shown_line() {
    let two = at(2, &long());
    for (operation, expected) in [
        (json!({"op": "delete", "path": "f", "anchor": two}), "one\nthree\n".to_owned()),
        (
            json!({"op": "set_line", "path": "f", "anchor": two, "text": null}),
            "one\nthree\n".to_owned(),
        ),
        (
            json!({"op": "set_line", "path": "f", "anchor": two, "text": "x", "verbatim": true}),
            "one\nx\nthree\n".to_owned(),
        ),
        (
            json!({"op": "insert_after", "path": "f", "anchor": two, "text": "x"}),
            format!("one\n{}\nx\nthree\n", long()),
        ),
        (
            json!({"op": "move_lines", "path": "f", "anchor": two, "to_anchor": "EOF"}),
            format!("one\nthree\n{}\n", long()),
        ),
        (
            json!({"op": "replace_text", "path": "f", "old_text": "one", "new_text": "1"}),
            format!("1\n{}\nthree\n", long()),
        ),
    ] {
        let project = project();
        let session = session(&project);
        read(&session, |_| ());
        applied(apply(&session, operation));
        assert_eq!(project.content("f"), expected);
    }
}

#[test]
fn a_line_read_in_pieces_may_be_replaced() {
    let project = project();
    let session = session(&project);
    columns(&session, 9_001, 13_000);
    columns(&session, 1, 4_000);
    refuse(&project, &session, set("x"));
    columns(&session, 3_500, 9_000);
    applied(apply(&session, set("x")));
    assert_eq!(project.content("f"), "one\nx\nthree\n");
}

#[test]
fn own_edits_of_other_lines_lose_no_piece() {
    let (long, project) = (long(), project());
    let session = session(&project);
    columns(&session, 1, 9_000);
    let insert =
        json!({"op": "insert_before", "path": "f", "anchor": at(1, "one"), "text": "zero"});
    applied(apply(&session, insert));
    refuse(&project, &session, set("x"));
    columns(&session, 9_001, 13_000);
    let new = json!({"op": "set_line", "path": "f", "anchor": at(3, &long), "text": "x"});
    applied(apply(&session, new));
    assert_eq!(project.content("f"), "zero\none\nx\nthree\n");
}

/// If a file has the same text again, the pieces shown of both versions count.
#[test]
fn a_restored_text_keeps_its_pieces() {
    let project = project();
    let session = session(&project);
    columns(&session, 1, 9_000);
    let zero = json!({"op": "insert_before", "path": "f", "anchor": at(1, "one"), "text": "zero"});
    applied(apply(&session, zero));
    applied(apply(&session, json!({"op": "delete", "path": "f", "anchor": at(1, "zero")})));
    refuse(&project, &session, set("x"));
    columns(&session, 9_001, 13_000);
    applied(apply(&session, set("x")));
}

/// A line that was shown in full stays known, even if a later search or answer shows only a part.
#[test]
fn a_search_shows_parts_and_a_read_the_whole() {
    let line = "needle ".repeat(40);
    let project = Project::new(&[("f", format!("one\n{line}\n").as_str())]);
    let set = json!({"op": "set_line", "path": "f", "anchor": at(2, &line), "text": "x"});
    let search = |session: &Session| {
        let query = Query {
            search: "needle".into(),
            regex: false,
            case_sensitive: true,
            ..Query::default()
        };
        let query = SearchQuery { max_line_chars: Some(20), ..SearchQuery::new(query) };
        assert!(session.search(query).unwrap().text.contains(" bytes]"));
    };
    let session = session(&project);
    search(&session);
    refuse(&project, &session, set.clone());
    read(&session, |_| ());
    search(&session);
    applied(apply(&session, set));
}

#[test]
fn regression_other_limits_truncate_a_line_as_well() {
    let cuts: [fn(&mut ReadRequest); 4] = [
        |request| {
            request.start_line = Some(2);
            request.limits.max_bytes = Some(300);
        },
        |request| request.max_line_chars = Some(1),
        |request| request.columns = Some(Columns { from: 2, to: 20_000 }),
        |request| {
            let search = Query {
                search: "nop".into(),
                regex: false,
                case_sensitive: true,
                ..Query::default()
            };
            request.search = Some(search);
        },
    ];
    for cut in cuts {
        let project = project();
        let session = session(&project);
        read(&session, cut);
        refuse(&project, &session, set("x"));
    }
}

/// A refusal shows a thousand bytes of a line.
#[test]
fn regression_a_refusal_shows_parts() {
    let project = project();
    let session = session(&project);
    let first = refused(apply(&session, set("x")));
    assert_eq!(first.code, Code::NotShown);
    refuse(&project, &session, set("x"));
}

/// After a replacement in a line, the answer shows its start; the rest is still unseen.
#[test]
fn regression_a_replaced_text_does_not_make_its_line_known() {
    let (long, project) = (long(), project());
    let session = session(&project);
    read(&session, |_| ());
    let text = json!({"op": "replace_text", "path": "f", "old_text": "START", "new_text": "X"});
    applied(apply(&session, text));
    let now = format!("X{}", &long[5..]);
    let new = json!({"op": "set_line", "path": "f", "anchor": at(2, &now), "text": "x"});
    refuse(&project, &session, new.clone());
    columns(&session, 1, 13_000);
    applied(apply(&session, new));
}

#[test]
fn regression_forks_stores_and_observed_rows_keep_parts() {
    let project = project();
    let one = session(&project);
    let text = read(&one, |_| ());
    refuse(&project, &one.fork(), set("x"));
    let other = session(&project);
    other.observe(&text, Some("f".as_ref()), &Cancel::default()).unwrap();
    refuse(&project, &other, set("x"));
    let rest = read(&one, |request| request.columns = Some(Columns { from: 2_001, to: 13_000 }));
    other.observe(&rest, Some("f".as_ref()), &Cancel::default()).unwrap();
    let store = StoreOptions { id: "one".into(), dir: None };
    let open = || Session::open(options(&project), &store).unwrap();
    let (kept, shared) = (open(), open());
    read(&kept, |_| ());
    refuse(&project, &shared, set("x"));
    refuse(&project, &open(), set("x"));
    columns(&shared, 2_001, 13_000);
    applied(apply(
        &other,
        json!({"op": "insert_after", "path": "f", "anchor": "EOF", "text": "four"}),
    ));
    // The records are replaced by a snapshot of the memory.
    let third =
        Session::open(options(&project), &StoreOptions { id: "two".into(), dir: None }).unwrap();
    columns(&third, 1, 4_000);
    third.forget(Some("g".as_ref())).unwrap();
    let again =
        Session::open(options(&project), &StoreOptions { id: "two".into(), dir: None }).unwrap();
    columns(&again, 4_001, 12_999);
    refuse(&project, &again, set("x"));
    again.forget(Some("g".as_ref())).unwrap();
    columns(&again, 13_000, 13_000);
    for session in [kept, open(), again] {
        applied(apply(&session, set("x")));
        applied(apply(
            &session,
            json!({"op": "set_line", "path": "f", "anchor": at(2, "x"), "text": long()}),
        ));
    }
}

#[test]
fn regression_a_patch_of_oh_my_pi_replaces_no_partly_shown_line() {
    let project = project();
    let mut options = options(&project);
    options.workspace.dialect = Dialect::by_name("omp18").unwrap();
    let session = Session::new(options).unwrap();
    let text = read(&session, |_| ());
    let header = text.lines().next().unwrap();
    let patch =
        |hunk: &str| session.apply(json!({"patch": format!("{header}\n{hunk}\n")})).unwrap();
    let rejected = refused(patch("PUT 1.=2:\n+x"));
    assert_eq!(rejected.code, Code::PartlyShown);
    assert!(rejected.text.contains("columns: [2001, 13000]"), "{}", rejected.text);
    assert!(!rejected.text.contains("replace_text"), "{}", rejected.text);
    applied(patch("CUT 2.=2 @a"));
    assert_eq!(project.content("f"), "one\nthree\n");
}

#[test]
fn regression_a_block_with_such_a_line_is_not_replaced() {
    let file = format!("fn a() {{\n    let s = \"{}\";\n}}\n", long());
    let project = Project::new(&[("f.rs", file.as_str())]);
    let session = session(&project);
    session.read("f.rs").unwrap();
    let anchor = at(1, "fn a() {");
    let replace = json!({"op": "replace_range", "path": "f.rs", "start_anchor": anchor, "block": true, "text": "fn a() {}"});
    let rejected = refused(apply(&session, replace));
    assert_eq!(rejected.code, Code::PartlyShown, "{}", rejected.text);
    let delete = json!({"op": "delete", "path": "f.rs", "anchor": anchor, "block": true});
    applied(apply(&session, delete));
    assert_eq!(project.content("f.rs"), "");
}

#[test]
fn regression_a_line_moved_by_others_stays_partly_shown() {
    let (long, project) = (long(), project());
    let session = session(&project);
    read(&session, |_| ());
    project.write("f", &format!("zero\none\n{long}\nthree\n"));
    refuse(&project, &session, set("x"));
}

/// The option allows replacing lines that were never shown, but this line was shown truncated.
#[test]
fn regression_unseen_matching_does_not_allow_partly_shown_lines() {
    let project = project();
    let options = SessionOptions { unseen: Unseen::Match, ..options(&project) };
    let session = Session::new(options).unwrap();
    read(&session, |_| ());
    refuse(&project, &session, set("x"));
    let range = json!({"op": "replace_range", "path": "f", "start_anchor": at(1, "one"), "end_anchor": at(3, "three"), "text": "x"});
    applied(apply(&session, range));
}

/// Lines that a read shows after the call was queued do not count for that call.
#[test]
fn regression_lines_shown_after_a_call_was_queued_do_not_count_for_it() {
    let project = project();
    let session = std::sync::Arc::new(session(&project));
    read(&session, |_| ());
    let (reading, early) = (session.reading(), session.writing());
    let rest =
        ReadRequest { columns: Some(Columns { from: 2_001, to: 13_000 }), ..ReadRequest::new("f") };
    reading.read(&[rest], &Cancel::default()).unwrap();
    let late = session.writing();
    let patch = json!({"operations": [set("x")]}).into();
    let apply = |turn: hashline_core::host::Turn| {
        turn.apply(&patch, &PatchOptions::default(), &Cancel::default()).unwrap()
    };
    assert_eq!(refused(apply(early)).code, Code::PartlyShown);
    applied(apply(late));
}

#[test]
fn moved_lines_stay_partly_shown() {
    let (long, project) = (long(), project());
    project.write("g", "a\n");
    let session = session(&project);
    read(&session, |_| ());
    session.read("g").unwrap();
    let two = at(2, &long);
    let copy =
        json!({"op": "copy_lines", "path": "f", "anchor": two, "to": "g", "to_anchor": "EOF"});
    let within = json!({"op": "move_lines", "path": "f", "anchor": two, "to_anchor": "EOF"});
    applied(apply(&session, copy));
    applied(apply(&session, within));
    for (path, number) in [("g", 2), ("f", 3)] {
        let set = json!({"op": "set_line", "path": path, "anchor": at(number, &long), "text": "x"});
        assert_eq!(refused(apply(&session, set)).code, Code::PartlyShown, "{path}");
    }
}

#[test]
fn lines_that_the_model_wrote_are_known() {
    let (long, project) = (long(), project());
    let session = session(&project);
    let new = json!({"op": "insert_after", "path": "f", "anchor": "EOF", "text": long});
    applied(apply(&session, new));
    let set = json!({"op": "set_line", "path": "f", "anchor": at(4, &long), "text": "x"});
    applied(apply(&session, set));
    applied(apply(&session, json!({"op": "add_file", "path": "g", "content": long})));
    let set = json!({"op": "set_line", "path": "g", "anchor": at(1, &long), "text": "x"});
    applied(apply(&session, set));
}

/// The memory for any number of pieces is bounded, and the line stays unknown.
#[test]
fn many_small_pieces_are_bounded() {
    let project = project();
    let session = session(&project);
    columns(&session, 1, 1);
    let before = session.memory_bytes();
    for at in (3..4_000).step_by(2) {
        columns(&session, at, at);
    }
    let bytes = session.memory_bytes() - before;
    assert!(bytes < 10_000, "{bytes}");
    columns(&session, 3, 13_000);
    refuse(&project, &session, set("x"));
    columns(&session, 1, 2);
    applied(apply(&session, set("x")));
}
