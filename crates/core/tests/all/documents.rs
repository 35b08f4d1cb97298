//! Documents: files whose text the host holds. A session reads, searches and edits that text, and
//! the host gets the new one.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashline_core::host::{Turn, Value};
use hashline_core::{
    Applied, Cancel, Code, DocumentChange, DocumentText, Folding, JsonRequest, Outcome, Patch,
    PatchOptions, ReadRequest, Rejected, Root, SearchQuery, Session, SessionOptions, TextEdit,
    TextPosition, WorkspaceOptions,
};
use serde_json::json;

use crate::support::{Dice, Interrupted, Project, applied, refused, snapshot};

/// A session without a disk, whose root does not exist.
fn in_memory(documents: &[(&str, &str)]) -> Session {
    let root = Root::At("/nowhere/project".into());
    let workspace = WorkspaceOptions { root, ..WorkspaceOptions::default() };
    let session = Session::new(SessionOptions { disk: false, ..workspace.into() }).unwrap();
    for (path, text) in documents {
        session.set_document(path, *text, None).unwrap();
    }
    session
}

/// The anchor that a read shows for the line with a text.
fn anchor(session: &Session, path: &str, line: &str) -> String {
    let text = session.read(path).unwrap().text;
    let row = text.lines().find(|row| row.ends_with(&format!("|{line}"))).unwrap_or_else(|| {
        panic!("{line:?} is not in {text}");
    });
    row[..row.len() - line.len() - 1].to_owned()
}

fn set_line(session: &Session, path: &str, line: &str, text: &str) -> serde_json::Value {
    json!({"op": "set_line", "path": path, "anchor": anchor(session, path, line), "text": text})
}

fn apply(session: &Session, operations: Vec<serde_json::Value>) -> Outcome {
    session.apply(json!({ "operations": operations })).unwrap()
}

fn only_change(applied: &Applied) -> &DocumentChange {
    let [file] = applied.files.as_slice() else { panic!("{:?}", applied.files) };
    file.document.as_ref().unwrap()
}

fn text_of(change: &DocumentChange) -> &str {
    match &change.content {
        Some(DocumentText::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

fn found(session: &Session, word: &str) -> Vec<String> {
    let result = session.search(SearchQuery::new(word)).unwrap();
    assert_eq!(result.errors, []);
    result.files.into_iter().map(|file| file.path).collect()
}

fn code_of(session: &Session, path: &str) -> Code {
    session.read(path).unwrap().views[0].error().unwrap().code
}

/// Applies the edits as an editor does.
fn edited(text: &str, edits: &[TextEdit]) -> String {
    let offset = |position: TextPosition| {
        let mut starts = vec![0];
        let bytes = text.as_bytes();
        for (at, byte) in text.bytes().enumerate() {
            let is_end = byte == b'\n' || byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
            starts.extend(is_end.then_some(at + 1));
        }
        let start = starts[position.line as usize];
        let mut units = 0;
        for (at, character) in text[start..].char_indices() {
            if units >= position.character {
                return start + at;
            }
            units += character.len_utf16() as u64;
        }
        text.len()
    };
    let mut new = String::new();
    let mut at = 0;
    for edit in edits {
        let (start, end) = (offset(edit.range.start), offset(edit.range.end));
        assert!(at <= start && start <= end, "{edits:?}");
        new += &text[at..start];
        new += &edit.new_text;
        at = end;
    }
    new + &text[at..]
}

#[test]
fn a_document_is_read_searched_and_edited_in_place_of_its_file() {
    let project = Project::new(&[("a.txt", "saved\n"), ("b.txt", "saved\n")]);
    let session = project.session(&[]);
    session.set_document("a.txt", "unsaved\nlast", Some(7)).unwrap();
    assert!(session.read("a.txt").unwrap().text.contains("|unsaved"));
    assert_eq!(found(&session, "saved"), ["a.txt", "b.txt"]);
    assert_eq!(found(&session, "unsaved"), ["a.txt"]);
    let before = snapshot(project.dir.path());
    let outcome = applied(apply(&session, vec![set_line(&session, "a.txt", "last", "end\n")]));
    let change = only_change(&outcome);
    assert_eq!((text_of(change), change.version), ("unsaved\nend", Some(7)));
    assert_eq!(edited("unsaved\nlast", &change.text_edits), "unsaved\nend");
    assert_eq!(snapshot(project.dir.path()), before);
    // The session goes on with the new text.
    apply(&session, vec![set_line(&session, "a.txt", "end", "more")]);
    assert!(session.close_document("a.txt").unwrap());
    assert!(!session.close_document("a.txt").unwrap());
    assert!(session.read("a.txt").unwrap().text.contains("|saved"));
    assert!(session.documents().is_empty());
}

#[test]
fn a_session_without_a_disk_needs_no_directory_and_reads_no_file() {
    let session = in_memory(&[
        ("src/a.rs", "fn a() {\n    one();\n}\n\nfn b() {}\n"),
        ("/nowhere/project/c.json", "{\"a\": [1, 2]}\n"),
    ]);
    let read = session.read("src/./../src/a.rs").unwrap();
    assert!(read.text.contains("fn b"));
    assert_eq!(found(&session, "one"), ["src/a.rs"]);
    let query = SearchQuery { paths: vec!["src".into()], ..SearchQuery::new("a") };
    assert_eq!(session.search(query).unwrap().files.len(), 1);
    let query = SearchQuery { globs: vec!["*.json".into()], ..SearchQuery::new("a") };
    assert_eq!(session.search(query).unwrap().files.len(), 1);
    let fold = ReadRequest { fold: Some(Folding::To(1)), ..ReadRequest::new("src/a.rs") };
    assert!(!session.read(fold).unwrap().views[0].as_text().unwrap().folds.is_empty());
    let json = session.read_json(&JsonRequest::new("c.json"), &Cancel::default()).unwrap();
    assert!(json.text.contains("$.a"));
    // This file exists on the disk.
    let here = std::env::current_exe().unwrap();
    assert_eq!(code_of(&session, here.to_str().unwrap()), Code::OutsideRoot);
    let listed = session.read("src").unwrap();
    assert_eq!(
        (listed.views[0].kind.as_str(), listed.text.as_str()),
        ("directory", "a.rs\n(1 file)")
    );
    assert_eq!(code_of(&session, "src/b.rs"), Code::FileNotFound);
    assert_eq!(code_of(&session, "../other"), Code::OutsideRoot);
    assert!(session.has("src/a.rs") && !session.has("b") && !session.has("../../bin"));
    let unbounded = WorkspaceOptions { root: Root::Unbounded, ..WorkspaceOptions::default() };
    let session = Session::new(SessionOptions { disk: false, ..unbounded.into() }).unwrap();
    assert_eq!(code_of(&session, here.to_str().unwrap()), Code::FileNotFound);
    assert!(session.search("fn").unwrap().files.is_empty());
}

#[test]
fn files_of_a_session_without_a_disk_are_created_moved_and_deleted() {
    let session = in_memory(&[("a.txt", "one\ntwo\n"), ("b.txt", "three\n"), ("old.txt", "x\n")]);
    let outcome = applied(apply(
        &session,
        vec![
            json!({"op": "add_file", "path": "new/c.txt", "content": "added\n"}),
            json!({"op": "move_file", "from": "a.txt", "to": "new/a.txt"}),
            set_line(&session, "a.txt", "two", "2"),
            json!({"op": "delete_file", "path": "old.txt"}),
            json!({"op": "move_lines", "path": "b.txt", "anchor": anchor(&session, "b.txt", "three"), "to": "d.txt"}),
        ],
    ));
    let all: Vec<_> = outcome
        .files
        .iter()
        .map(|file| {
            let content = file.document.as_ref().unwrap().content.clone();
            (file.from.as_deref(), file.path.as_str(), file.change.as_str(), content)
        })
        .collect();
    let text = |text: &str| Some(DocumentText::from(text));
    assert_eq!(
        all,
        [
            (None, "new/c.txt", "created", text("added\n")),
            (Some("a.txt"), "new/a.txt", "edited", text("one\n2\n")),
            (None, "old.txt", "deleted", None),
            (None, "b.txt", "edited", text("")),
            (None, "d.txt", "created", text("three\n")),
        ]
    );
    let paths: Vec<_> = session.documents().into_iter().map(|document| document.path).collect();
    assert_eq!(paths.len(), 4, "{paths:?}");
    for (path, code) in [("a.txt", Code::FileNotFound), ("old.txt", Code::FileNotFound)] {
        assert_eq!(code_of(&session, path), code);
    }
    // Anchors of a moved document stay valid.
    applied(apply(&session, vec![set_line(&session, "new/a.txt", "2", "two")]));
    for (path, code) in [
        ("new/a.txt", Code::FileExists),
        ("new", Code::FileExists),
        ("b.txt/x", Code::NotAFile),
        ("../x", Code::OutsideRoot),
    ] {
        let add = json!({"op": "add_file", "path": path, "content": ""});
        assert_eq!(refused(apply(&session, vec![add])).code, code, "{path}");
    }
}

#[test]
fn a_document_cannot_be_where_no_file_can_be() {
    let project = Project::new(
        &[("dir/a.txt", "")].map(|(name, content)| (name.rsplit('/').next().unwrap(), content)),
    );
    fs::create_dir(project.dir.path().join("sub")).unwrap();
    let session = project.session(&[]);
    session.set_document("doc", "", None).unwrap();
    for (path, code) in [
        ("sub", Code::NotAFile),
        (".", Code::NotAFile),
        ("doc/below", Code::NotAFile),
        ("../outside", Code::OutsideRoot),
        ("", Code::InvalidArgument),
        ("a\0b", Code::InvalidArgument),
    ] {
        let error = session.set_document(path, "", None).unwrap_err();
        assert_eq!(error.code, code, "{path:?}: {}", error.message);
    }
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_the_document_of_its_target() {
    let project = Project::new(&[("a.txt", "saved\n")]);
    std::os::unix::fs::symlink("a.txt", project.dir.path().join("link.txt")).unwrap();
    let session = project.session(&[]);
    session.set_document("link.txt", "unsaved\n", None).unwrap();
    applied(apply(&session, vec![set_line(&session, "a.txt", "unsaved", "new")]));
    assert!(session.read("link.txt").unwrap().text.contains("|new"));
    assert_eq!(project.content("a.txt"), "saved\n");
    assert_eq!(session.documents().len(), 1);
    // Operations on whole files are about the link itself.
    let outcome = applied(apply(&session, vec![json!({"op": "delete_file", "path": "link.txt"})]));
    assert_eq!(outcome.files[0].document, None);
    assert!(session.read("a.txt").unwrap().text.contains("|new"));
    assert!(!project.exists("link.txt"));
}

#[test]
fn anchors_follow_when_the_host_changes_a_document() {
    let session = in_memory(&[("a.txt", "one\ntwo\nthree\n")]);
    let edit = set_line(&session, "a.txt", "two", "2");
    session.set_document("a.txt", "zero\none\ntwo\nthree\n", Some(2)).unwrap();
    assert!(session.read("b.txt").unwrap().views[0].error().is_some());
    assert_eq!(session.changed_files(), ["a.txt"]);
    let outcome = applied(apply(&session, vec![edit.clone()]));
    assert_eq!(text_of(only_change(&outcome)), "zero\none\n2\nthree\n");
    // Setting the text that the session made itself does not count as a change.
    session.set_document("a.txt", "zero\none\n2\nthree\n", Some(3)).unwrap();
    assert!(session.read("b.txt").unwrap().views[0].error().is_some());
    assert!(session.changed_files().is_empty());
    session.set_document("a.txt", "zero\none\n", Some(4)).unwrap();
    assert_eq!(refused(apply(&session, vec![edit])).code, Code::HashMismatch);
}

#[test]
fn encodings_marks_and_line_ends_survive() {
    let session = in_memory(&[]);
    let cases: [(&str, DocumentText, DocumentText); 5] = [
        ("crlf.txt", "a\r\nb\r\n".into(), "a\r\nB\r\n".into()),
        ("mark.txt", "\u{feff}a\nb\n".into(), "\u{feff}a\nB\n".into()),
        ("latin.txt", "ä\nb\n".into(), "ä\nB\n".into()),
        ("wide.txt", b"\xFF\xFEa\0\n\0b\0".to_vec().into(), b"\xFF\xFEa\0\n\0B\0".to_vec().into()),
        ("bytes.txt", b"a\nb\n".to_vec().into(), b"a\nB\n".to_vec().into()),
    ];
    for (path, before, after) in cases {
        session.set_document(path, before.clone(), None).unwrap();
        let outcome = applied(apply(&session, vec![set_line(&session, path, "b", "B")]));
        let change = only_change(&outcome);
        assert_eq!(change.content, Some(after.clone()), "{path}");
        if let (DocumentText::Text(before), DocumentText::Text(after)) = (before, after) {
            assert_eq!(edited(&before, &change.text_edits), after);
        }
    }
    session.set_document("binary", b"a\0b".to_vec(), None).unwrap();
    let add = json!({"op": "insert_after", "path": "binary", "anchor": "EOF", "text": "x"});
    assert_eq!(refused(apply(&session, vec![add])).code, Code::BinaryFile);
}

/// The session's encoding of files does not matter for a text.
#[test]
fn regression_a_text_is_not_decoded_in_the_encoding_of_files() {
    let workspace = WorkspaceOptions {
        encoding: Some("shift_jis".into()),
        ..SessionOptions::default().workspace
    };
    let session = Session::new(SessionOptions { disk: false, ..workspace.into() }).unwrap();
    session.set_document("text", "日本\n", None).unwrap();
    session.set_document("bytes", b"\x93\xfa\x96\x7b\n".to_vec(), None).unwrap();
    for path in ["text", "bytes"] {
        assert!(session.read(path).unwrap().text.ends_with("|日本"), "{path}");
    }
}

/// Three documents and two files, with a fault at each operation on the disk.
#[test]
fn documents_and_files_change_together_or_not_at_all() {
    let stopped_at = |at: u64| {
        let project = Project::new(&[("one.txt", "1\n"), ("two.txt", "2\n")]);
        let armed: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let count = std::sync::atomic::AtomicU64::new(0);
        let fs = Box::leak(Box::new(Interrupted::new(move |_| {
            let is_here =
                armed.load(Ordering::SeqCst) && count.fetch_add(1, Ordering::SeqCst) + 1 == at;
            if is_here { Err(std::io::Error::other("fault")) } else { Ok(()) }
        })));
        let session = project.session(&[]).on(fs);
        for path in ["a.txt", "b.txt", "c.txt"] {
            session.set_document(path, "old\n", None).unwrap();
        }
        let mut operations: Vec<_> =
            ["a.txt", "b.txt"].map(|path| set_line(&session, path, "old", "new")).into();
        operations.push(json!({"op": "move_file", "from": "c.txt", "to": "d.txt"}));
        operations.push(set_line(&session, "one.txt", "1", "new"));
        operations.push(set_line(&session, "two.txt", "2", "new"));
        armed.store(true, Ordering::SeqCst);
        let outcome = session.apply(json!({ "operations": operations }));
        armed.store(false, Ordering::SeqCst);
        let is_applied = matches!(outcome, Ok(Outcome::Applied(_)));
        let is_new = |path: &str| session.read(path).unwrap().text.contains("|new");
        let states = ["a.txt", "b.txt", "one.txt", "two.txt"].map(is_new);
        assert_eq!(states, [is_applied; 4], "fault {at}");
        assert_eq!(session.has("d.txt"), is_applied, "fault {at}");
        assert_eq!(session.has("c.txt"), !is_applied, "fault {at}");
        let disk = project.content("one.txt") + &project.content("two.txt");
        assert_eq!(disk == "new\nnew\n", is_applied, "fault {at}");
        is_applied
    };
    let faults = (1..10_000).take_while(|&at| at == 1 || !stopped_at(at) || at < 40).count();
    assert!((40..10_000).contains(&faults), "{faults}");
}

#[test]
fn a_patch_that_is_not_possible_changes_no_document() {
    let project = Project::new(&[("one.txt", "1\n")]);
    let session = project.session(&[]);
    session.set_document("a.txt", "old\n", None).unwrap();
    let edit = set_line(&session, "a.txt", "old", "new");
    let stale = json!({"op": "set_line", "path": "one.txt", "anchor": "1zz", "text": "x"});
    refused(apply(&session, vec![edit.clone(), stale]));
    assert!(session.read("a.txt").unwrap().text.contains("|old"));
    // A file would be hidden by a document that the same patch frees.
    let onto = json!([
        {"op": "delete_file", "path": "a.txt"},
        {"op": "move_file", "from": "one.txt", "to": "a.txt"}
    ]);
    let rejected: Rejected = refused(session.apply(json!({ "operations": onto })).unwrap());
    assert_eq!(rejected.code, Code::InvalidOperation);
    let dry = PatchOptions { dry_run: true, ..PatchOptions::default() };
    let patch = Patch::from(json!({ "operations": [edit] }));
    let outcome = applied(session.apply_with(&patch, &dry, &Cancel::default()).unwrap());
    assert_eq!(text_of(only_change(&outcome)), "new\n");
    assert!(session.read("a.txt").unwrap().text.contains("|old"));
}

#[test]
fn forks_have_their_own_documents() {
    let session = in_memory(&[("a.txt", "one\n")]);
    let edit = set_line(&session, "a.txt", "one", "two");
    let fork = session.fork();
    applied(apply(&fork, vec![edit]));
    assert!(session.read("a.txt").unwrap().text.contains("|one"));
    assert!(fork.read("a.txt").unwrap().text.contains("|two"));
}

#[test]
fn a_thousand_documents_are_searched_with_the_files() {
    let project = Project::new(&[("disk.txt", "needle\n"), (".ignore", "ignored/\n")]);
    let session = project.session(&[]);
    for at in 0..1_000 {
        let path = format!("d{}/{at:04}.txt", at % 7);
        session.set_document(path, if at % 100 == 0 { "needle\n" } else { "hay\n" }, None).unwrap();
    }
    session.set_document("ignored/x.txt", "needle\n", None).unwrap();
    let files = found(&session, "needle");
    assert_eq!(files.len(), 11, "{files:?}");
    assert!(files.is_sorted() && files.contains(&"disk.txt".to_owned()));
    // An ignore file can be a document, too.
    session.set_document(".ignore", "d0/\nd1/\nd2/\nd3/\nd4/\nd5/\nd6/\n", None).unwrap();
    assert_eq!(found(&session, "needle"), ["disk.txt", "ignored/x.txt"]);
}

#[test]
fn regression_a_directory_with_a_document_is_searched() {
    let project = Project::new::<str>(&[]);
    fs::create_dir(project.dir.path().join("src")).unwrap();
    for name in ["src/a.ts", "src/other.ts"] {
        project.write(name, "needle\n");
    }
    let session = project.session(&[]);
    session.set_document("src/a.ts", "unsaved needle\n", None).unwrap();
    session.set_document("src/new.ts", "needle\n", None).unwrap();
    assert_eq!(found(&session, "needle"), ["src/a.ts", "src/new.ts", "src/other.ts"]);
    assert_eq!(found(&session, "unsaved"), ["src/a.ts"]);
}

#[test]
fn regression_opening_and_closing_a_document_is_not_a_change() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let session = project.session(&[]);
    let is_changed = || {
        session.read("b.txt").unwrap();
        !session.changed_files().is_empty()
    };
    session.read("a.txt").unwrap();
    session.set_document("a.txt", "one\n", None).unwrap();
    assert!(!is_changed());
    session.close_document("a.txt").unwrap();
    session.set_document("a.txt", b"one\n".to_vec(), None).unwrap();
    assert!(!is_changed());
    session.close_document("a.txt").unwrap();
    assert!(!is_changed());
    session.set_document("a.txt", "other\n", None).unwrap();
    assert!(is_changed());
}

#[test]
fn regression_a_tree_of_documents_and_files_is_possible() {
    let project = Project::new::<str>(&[]);
    let session = project.session(&[]);
    session.set_document("doc", "", None).unwrap();
    session.set_document("dir/x", "", None).unwrap();
    for (path, code) in
        [("doc/y", Code::NotAFile), ("dir", Code::FileExists), ("doc", Code::FileExists)]
    {
        let add = json!({"op": "add_file", "path": path, "content": ""});
        assert_eq!(refused(apply(&session, vec![add])).code, code, "{path}");
        assert!(!project.exists(path));
    }
    assert_eq!(session.set_document("a/", "", None).unwrap_err().code, Code::NotAFile);
}

#[cfg(unix)]
#[test]
fn regression_a_document_can_be_closed_after_its_path_leads_elsewhere() {
    let project = Project::new::<str>(&[]);
    let session = project.session(&[]);
    let path = |name: &str| project.dir.path().join(name);
    std::os::unix::fs::symlink("target", path("link")).unwrap();
    session.set_document("link", "", None).unwrap();
    session.set_document("later", "", None).unwrap();
    project.write("target", "");
    fs::create_dir(path("later")).unwrap();
    assert!(session.close_document("link").unwrap());
    assert!(session.close_document("later").unwrap());
    assert!(session.documents().is_empty());
}

/// A model that makes two calls at once has not read the answer to the first.
#[test]
fn regression_an_anchor_does_not_mean_what_an_undelivered_answer_shows() {
    let text = "foo\nx = 1\nbar\n";
    let session = Arc::new(in_memory(&[("a.txt", text)]));
    let edit = set_line(&session, "a.txt", "x = 1", "x = 99");
    session.set_document("a.txt", "other\nx = 1\nsomething\nfoo\nx = 1\nbar\n", None).unwrap();
    let apply = |turn: Turn| {
        let patch = Patch::from(json!({ "operations": [edit] }));
        let dry_run = PatchOptions { dry_run: true, ..PatchOptions::default() };
        text_of(only_change(&applied(turn.apply(&patch, &dry_run, &Cancel::default()).unwrap())))
            .to_owned()
    };
    let right = "other\nx = 1\nsomething\nfoo\nx = 99\nbar\n";
    let read = session.reading();
    let delivery = read.delivery();
    read.read(&["a.txt".into()], &Cancel::default()).unwrap();
    assert_eq!(apply(session.writing()), right);
    let mark = session.mark();
    drop(delivery);
    assert_eq!(apply(session.writing_as_of(&mark)), right);
    drop(mark);
    // Now the model has read a row with the same number and hash, and may mean its line.
    let patch = Patch::from(json!({ "operations": [edit] }));
    let refusal = session.writing().apply(&patch, &PatchOptions::default(), &Cancel::default());
    assert_eq!(refused(refusal.unwrap()).code, Code::AmbiguousAnchor);
}

/// A thread that has posted an answer may release its turn only after the next call is made. Then
/// an edit of a line that had moved was refused, as if the answer had not been read.
#[test]
fn regression_an_answer_is_delivered_before_its_turn_is_released() {
    let session = Arc::new(in_memory(&[("a.txt", "foo\nx = 1\nbar\n")]));
    let turn = session.reading();
    let delivery = turn.delivery();
    let page = turn.clone().read(&["a.txt".into()], &Cancel::default()).unwrap();
    delivery.complete();
    let anchor = page.text.lines().find(|row| row.ends_with("bar")).unwrap().to_owned();
    session.set_document("a.txt", "foo\nnew\nx = 1\nbar\n", None).unwrap();
    let edit = json!({ "op": "delete", "path": "a.txt", "anchor": anchor });
    let patch = Patch::from(json!({ "operations": [edit] }));
    let next = session.writing();
    drop(turn);
    let outcome = next.apply(&patch, &PatchOptions::default(), &Cancel::default()).unwrap();
    assert_eq!(text_of(only_change(&applied(outcome))), "foo\nnew\nx = 1\n");
}

#[test]
fn rows_of_a_document_can_be_observed() {
    let session = in_memory(&[("a.txt", "one\ntwo\n")]);
    let rows = session.fork().read("a.txt").unwrap().text;
    let observed = session.observe(&rows, Some(Path::new("a.txt")), &Cancel::default()).unwrap();
    assert_eq!(observed, 2);
    let edit =
        json!({"op": "set_line", "path": "a.txt", "anchor": rows.lines().nth(1), "text": "2"});
    applied(apply(&session, vec![edit]));
}

/// Random edits of random texts, each by a document and by a file.
#[test]
fn documents_are_edited_as_files_are() {
    let mut dice = Dice(4);
    for round in 0..150 {
        let ending = dice.one_of(&["\n", "\r\n"]);
        let count = 1 + dice.below(12);
        let line = |dice: &mut Dice| dice.one_of(&["", "}", "é😀", "a b", "\treturn x;", "x\ry"]);
        let mut text = (0..count).map(|_| line(&mut dice)).collect::<Vec<_>>().join(ending);
        text += if dice.one_in(2) { ending } else { "" };
        let project = Project::new(&[("a.txt", &text)]);
        let (of_file, of_document) = (project.session(&[]), in_memory(&[("a.txt", &text)]));
        let rows = of_file.read("a.txt").unwrap().text;
        assert_eq!(of_document.read("a.txt").unwrap().text, rows);
        let rows: Vec<&str> = rows.lines().filter(|row| !row.starts_with('(')).collect();
        let mut operations = Vec::new();
        for _ in 0..1 + dice.below(3) {
            let (Some(row), text) = (rows.get(dice.below(rows.len().max(1))), line(&mut dice))
            else {
                break;
            };
            let op = dice.one_of(&["set_line", "insert_after", "insert_before", "delete"]);
            let mut operation = json!({"op": op, "path": "a.txt", "anchor": row});
            if op != "delete" {
                operation["text"] = json!(text);
            }
            operations.push(operation);
        }
        let patch = Value::from(json!({ "operations": operations }));
        let [file, document] = [&of_file, &of_document]
            .map(|session| session.apply(Patch::from(patch.clone())).unwrap());
        match (file, document) {
            (Outcome::Applied(file), Outcome::Applied(document)) => {
                assert_eq!(file.text, document.text, "round {round}");
                let [change] = document.files.as_slice() else {
                    assert!(file.files.is_empty(), "round {round}");
                    continue;
                };
                let change = change.document.as_ref().unwrap();
                assert_eq!(text_of(change), project.content("a.txt"), "round {round}");
                assert_eq!(edited(&text, &change.text_edits), text_of(change), "round {round}");
            }
            (Outcome::Rejected(file), Outcome::Rejected(document)) => {
                assert_eq!(file.text, document.text, "round {round}");
            }
            (file, document) => panic!("round {round}: {file:?} {document:?}"),
        }
    }
}
