//! Undoing patches of a session.

use std::collections::BTreeMap;

use hashline_core::{
    AfterWrite, Cancel, Change, Code, Outcome, Patch, PatchOperation, PatchOptions, Session,
    SessionOptions, StoreOptions, UndoRequest,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Interrupted, Project, applied, refused, show, snapshot};

fn undo(session: &Session) -> Outcome {
    let mut outcomes = session
        .undo(&UndoRequest::default(), &PatchOptions::default(), &Cancel::default())
        .unwrap();
    assert_eq!(outcomes.len(), 1);
    outcomes.remove(0)
}

fn turns(session: &Session, turns: usize) -> Vec<Outcome> {
    let request = UndoRequest { turns, ..UndoRequest::default() };
    session.undo(&request, &PatchOptions::default(), &Cancel::default()).unwrap()
}

fn apply(session: &Session, operations: Value) {
    applied(session.apply(json!({ "operations": operations })).unwrap());
}

fn set(session: &Session, path: &str, line: usize, text: &str) {
    let rows = session.read(path).unwrap().text;
    let anchor = rows.lines().nth(line - 1).unwrap();
    apply(session, json!([{"op": "set_line", "path": path, "anchor": anchor, "text": text}]));
}

fn files_of(session: &Session) -> Vec<Vec<String>> {
    session.undoable().into_iter().map(|patch| patch.files).collect()
}

#[test]
fn patches_are_undone_from_the_newest_and_not_redone() {
    let project = Project::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "three\n")]);
    let session = project.session(&["a.txt", "b.txt"]);
    set(&session, "a.txt", 1, "ONE");
    apply(
        &session,
        json!([
            {"op": "replace_text", "path": "a.txt", "old_text": "two", "new_text": "TWO"},
            {"op": "delete_file", "path": "b.txt"},
            {"op": "add_file", "path": "c/d.txt", "content": "four\n"},
        ]),
    );
    assert_eq!(files_of(&session), [vec!["a.txt", "b.txt", "c/d.txt"], vec!["a.txt"]]);
    let dry = PatchOptions { dry_run: true, ..PatchOptions::default() };
    session.undo(&UndoRequest::default(), &dry, &Cancel::default()).unwrap();
    assert!(!project.exists("b.txt"));
    let undone = applied(undo(&session));
    let changes: Vec<_> =
        undone.files.iter().map(|file| (file.path.as_str(), file.change)).collect();
    assert_eq!(
        changes,
        [("a.txt", Change::Edited), ("c/d.txt", Change::Deleted), ("b.txt", Change::Created)]
    );
    assert_eq!(project.content("a.txt"), "ONE\ntwo\n");
    assert_eq!((project.content("b.txt").as_str(), project.exists("c/d.txt")), ("three\n", false));
    // The restored line is shown, and its anchor is accepted.
    let row = undone.text.lines().find(|row| row.ends_with("two")).expect(&undone.text);
    assert_eq!(files_of(&session), [["a.txt"]]);
    applied(undo(&session));
    assert_eq!(project.content("a.txt"), "one\ntwo\n");
    assert!(
        session
            .undo(&UndoRequest::default(), &PatchOptions::default(), &Cancel::default())
            .unwrap()
            .is_empty()
    );
    let edit = PatchOperation::set_line("a.txt", row, "2");
    applied(session.apply(Patch::from([edit])).unwrap());
}

#[test]
fn moved_files_come_back_with_their_lines() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n"), ("c.txt", "three\n")]);
    let session = project.session(&["a.txt", "b.txt", "c.txt"]);
    let before = snapshot(project.dir.path());
    apply(
        &session,
        json!([
            // The first two swap their names.
            {"op": "move_file", "from": "a.txt", "to": "b.txt"},
            {"op": "move_file", "from": "b.txt", "to": "a.txt"},
            {"op": "replace_text", "path": "a.txt", "old_text": "one", "new_text": "1"},
            {"op": "move_file", "from": "c.txt", "to": "d.txt"},
            {"op": "add_file", "path": "c.txt", "content": "new\n"},
        ]),
    );
    assert_eq!(project.content("b.txt"), "1\n");
    applied(undo(&session));
    assert_eq!(snapshot(project.dir.path()), before);
}

#[test]
fn changes_by_others_stay_where_they_touch_no_line_of_the_patch() {
    let lines: Vec<String> = (1..=40).map(|number| format!("line {number}")).collect();
    let content = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = lines.clone();
        change(&mut lines);
        lines.join("\n") + "\n"
    };
    let project = Project::new(&[("a.txt", content(&|_| {}).as_str())]);
    let session = project.session(&["a.txt"]);
    apply(
        &session,
        json!([
            {"op": "replace_text", "path": "a.txt", "old_text": "line 10\n", "new_text": "ten\nten a\n"},
            {"op": "replace_text", "path": "a.txt", "old_text": "line 20\nline 21\n", "new_text": ""},
        ]),
    );
    set(&session, "a.txt", 30, "THIRTY");
    let others = project.content("a.txt").replace("line 2\n", "line 2\nby others\n");
    let others = others.replace("line 39", "LINE 39");
    project.write("a.txt", others.as_str());
    // Both, though the second one meets a file that is not as it left it either.
    let outcomes = turns(&session, 2);
    outcomes.into_iter().for_each(|outcome| drop(applied(outcome)));
    let expected = content(&|lines| {
        lines[38] = "LINE 39".to_owned();
        lines.insert(2, "by others".to_owned());
    });
    assert_eq!(project.content("a.txt"), expected);
}

#[test]
fn where_others_changed_the_lines_nothing_is_undone() {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "b\n")]);
    let session = project.session(&["a.txt", "b.txt"]);
    apply(
        &session,
        json!([
            {"op": "replace_text", "path": "a.txt", "old_text": "two", "new_text": "TWO"},
            {"op": "replace_text", "path": "b.txt", "old_text": "b", "new_text": "B"},
        ]),
    );
    project.write("a.txt", "one\n2\nthree\n");
    let refusal = refused(undo(&session));
    assert_eq!(refusal.code, Code::ConcurrentChange);
    assert!(refusal.text.contains("|2\n"), "{}", refusal.text);
    assert_eq!((project.content("b.txt").as_str(), files_of(&session).len()), ("B\n", 1));
    // The lines of the refusal count as shown.
    let edit = json!([{"op": "replace_text", "path": "a.txt", "old_text": "2", "new_text": "TWO"}]);
    apply(&session, edit);
    let outcomes = turns(&session, 5);
    assert_eq!(outcomes.len(), 2);
    assert_eq!(refused(outcomes[1].clone()).code, Code::ConcurrentChange);
}

#[test]
fn a_created_file_is_deleted_only_as_it_was_left() {
    let project = Project::new(&[("a.txt", "a\n")]);
    let session = project.session(&["a.txt"]);
    let anew = json!([
        {"op": "add_file", "path": "b.txt", "content": "b\n"},
        {"op": "delete_file", "path": "a.txt"},
        {"op": "add_file", "path": "a.txt", "content": "A\n"},
    ]);
    for changed in ["a.txt", "b.txt"] {
        apply(&session, anew.clone());
        let left = project.content(changed);
        project.write(changed, "by others\n");
        assert_eq!(refused(undo(&session)).code, Code::ConcurrentChange);
        project.write(changed, left.as_str());
        applied(undo(&session));
        assert_eq!((project.content("a.txt").as_str(), project.exists("b.txt")), ("a\n", false));
    }
    // A deleted file whose name is taken now.
    apply(&session, json!([{"op": "delete_file", "path": "a.txt"}]));
    project.write("a.txt", "by others\n");
    assert_eq!(refused(undo(&session)).code, Code::FileExists);
}

#[cfg(unix)]
#[test]
fn deleted_files_come_back_with_mode_and_owner() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
    let project = Project::new(&[("a.sh", "one\n")]);
    let path = project.dir.path().join("a.sh");
    // Only root may change the owner.
    let _ = chown(&path, Some(12_345), Some(12_346));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4750)).unwrap();
    let rights = || {
        let now = std::fs::metadata(&path).unwrap();
        (now.mode(), now.uid(), now.gid())
    };
    let before = rights();
    let session = project.session(&[]);
    apply(&session, json!([{"op": "delete_file", "path": "a.sh"}]));
    applied(undo(&session));
    assert_eq!((project.content("a.sh").as_str(), rights()), ("one\n", before));
    symlink("a.sh", project.dir.path().join("link")).unwrap();
    apply(&session, json!([{"op": "delete_file", "path": "link"}]));
    let refusal = refused(undo(&session));
    assert!(refusal.text.contains("was a symbolic link"), "{}", refusal.text);
}

#[test]
fn a_binary_file_comes_back_and_a_large_one_cannot() {
    let project = Project::new(&[("a.bin", &[0u8, 1, 255][..]), ("b.txt", &vec![b'x'; 5 << 20])]);
    let session = project.session(&[]);
    apply(&session, json!([{"op": "delete_file", "path": "a.bin"}]));
    applied(undo(&session));
    assert_eq!(project.bytes("a.bin"), [0, 1, 255]);
    apply(&session, json!([{"op": "delete_file", "path": "b.txt"}]));
    assert!(session.undoable()[0].refused.as_ref().unwrap().contains("too large"));
    let refusal = refused(undo(&session));
    assert_eq!(refusal.code, Code::InvalidOperation);
    assert!(refusal.text.contains("(b.txt) cannot be undone"), "{}", refusal.text);
}

fn stored(project: &Project) -> Session {
    let options = SessionOptions { workspace: project.options(), ..SessionOptions::default() };
    let store = StoreOptions { id: "one".to_owned(), dir: None };
    Session::open(options, &store).unwrap()
}

#[test]
fn a_stored_session_can_undo_after_a_restart_and_in_another_process() {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\nfour\n")]);
    let session = stored(&project);
    show(&session, "a.txt", 1, 10);
    set(&session, "a.txt", 1, "ONE");
    set(&session, "a.txt", 3, "THREE");
    let other = stored(&project);
    assert_eq!(files_of(&other), [["a.txt"], ["a.txt"]]);
    project.write("a.txt", "ONE\ntwo\nTHREE\nfour\nby others\n");
    applied(undo(&other));
    drop(other);
    applied(undo(&session));
    assert_eq!(project.content("a.txt"), "one\ntwo\nthree\nfour\nby others\n");
    assert!(stored(&project).undoable().is_empty());
    // Forgetting a file forgets its old lines.
    set(&session, "a.txt", 1, "ONE");
    session.forget(Some("a.txt".as_ref())).unwrap();
    assert!(stored(&project).undoable().is_empty());
}

#[test]
fn only_own_patches_within_the_limit_are_kept() {
    let project = Project::new(&[("a.txt", "0\n")]);
    let session = project.session(&["a.txt"]);
    for number in 1..=110 {
        set(&session, "a.txt", 1, &number.to_string());
    }
    assert_eq!(session.undoable().len(), 100);
    let fork = session.fork();
    assert!(fork.undoable().is_empty());
    set(&fork, "a.txt", 1, "fork");
    assert_eq!((fork.undoable().len(), session.undoable().len()), (1, 100));
    applied(undo(&fork));
    let outcomes = turns(&session, 200);
    assert_eq!(outcomes.len(), 100);
    assert_eq!(project.content("a.txt"), "10\n");
}

#[test]
fn a_patch_that_is_undone_already_is_only_removed() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let session = project.session(&["a.txt"]);
    set(&session, "a.txt", 1, "ONE");
    project.write("a.txt", "one\n");
    let outcome = applied(undo(&session));
    assert!(outcome.files.is_empty() && outcome.text.starts_with("Nothing to undo"));
    assert!(session.undoable().is_empty());
}

#[test]
fn documents_are_undone_like_files() {
    let options = SessionOptions { disk: false, ..SessionOptions::in_dir("/p") };
    let session = Session::new(options).unwrap();
    session.set_document("a.txt", "one\n", None).unwrap();
    set(&session, "a.txt", 1, "ONE");
    apply(&session, json!([{"op": "delete_file", "path": "a.txt"}]));
    for (content, change) in [("ONE\n", Change::Created), ("one\n", Change::Edited)] {
        let undone = applied(undo(&session));
        assert_eq!(undone.files[0].change, change);
        let document = undone.files[0].document.clone().unwrap();
        assert_eq!(document.content, Some(content.into()));
    }
}

/// Otherwise no edit of a project with a formatter could be undone.
#[test]
fn what_a_formatter_did_after_a_patch_is_undone_with_it() {
    let before = "\u{feff}a\r\nb\r\nc";
    let project = Project::new(&[("a.txt", before), ("b.txt", "b\n")]);
    let session = project.session(&["a.txt", "b.txt"]);
    let options = PatchOptions { keeps_written: true, ..PatchOptions::default() };
    let patch = json!({"operations": [
        {"op": "replace_text", "path": "a.txt", "old_text": "b", "new_text": "x=1"},
        {"op": "delete_file", "path": "b.txt"},
        {"op": "add_file", "path": "b.txt", "content": "B=1\n"},
        {"op": "add_file", "path": "c.txt", "content": "c=1\n"},
    ]});
    let done = applied(session.apply_with(&patch.into(), &options, &Cancel::default()).unwrap());
    project.write("a.txt", "\u{feff}a;\nx = 1;\n\nc;\n");
    project.write("b.txt", "B = 1;\n");
    project.write("c.txt", "c = 1;\n");
    let written = done.written.unwrap();
    applied(session.settle(&written, &AfterWrite::default(), &Cancel::default()).unwrap());
    assert_eq!(session.undoable().len(), 1);
    applied(undo(&session));
    assert_eq!(
        (project.content("a.txt").as_str(), project.content("b.txt").as_str()),
        (before, "b\n")
    );
    assert!(!project.exists("c.txt") && session.undoable().is_empty());
}

/// The line that others appended was joined to the last one of the file.
#[test]
fn regression_lines_that_others_append_after_a_patch_stay_lines() {
    for (before, others) in [("alpha line", "\ngamma line"), ("alpha line", "\ngamma line\n")] {
        let project = Project::new(&[("a.txt", before)]);
        let session = project.session(&["a.txt"]);
        apply(
            &session,
            json!([{"op": "insert_after", "path": "a.txt", "anchor": "EOF", "text": "beta line"}]),
        );
        assert_eq!(project.content("a.txt"), "alpha line\nbeta line");
        project.write("a.txt", &format!("alpha line\nbeta line{others}"));
        applied(undo(&session));
        assert_eq!(project.content("a.txt"), format!("alpha line{others}"));
    }
}

#[test]
fn restored_lines_get_line_ends_that_were_converted_since() {
    let lines: String = (1..=9).map(|number| format!("line {number}\n")).collect();
    let project = Project::new(&[("a.txt", lines.as_str())]);
    let session = project.session(&["a.txt"]);
    let edit = json!([{"op": "replace_text", "path": "a.txt", "old_text": "line 4\nline 5\n", "new_text": ""}]);
    apply(&session, edit);
    project.write("a.txt", &project.content("a.txt").replace('\n', "\r\n"));
    applied(undo(&session));
    assert_eq!(project.content("a.txt"), lines.replace('\n', "\r\n"));
}

#[test]
fn a_patch_that_cannot_be_undone_is_discarded() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", &"x".repeat(5 << 20))]);
    let session = project.session(&["a.txt"]);
    set(&session, "a.txt", 1, "ONE");
    apply(&session, json!([{"op": "delete_file", "path": "b.txt"}]));
    assert!(refused(undo(&session)).text.contains("A host can discard it"));
    let request = UndoRequest { discard: true, ..UndoRequest::default() };
    let discarded = session.undo(&request, &PatchOptions::default(), &Cancel::default());
    assert!(applied(discarded.unwrap().remove(0)).files.is_empty());
    applied(undo(&session));
    assert_eq!((project.content("a.txt").as_str(), project.exists("b.txt")), ("one\n", false));
}

/// What others have undone already refused the rest.
#[test]
fn regression_files_that_are_undone_already_do_not_refuse_others() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let session = project.session(&["a.txt"]);
    apply(
        &session,
        json!([
            {"op": "replace_text", "path": "a.txt", "old_text": "one", "new_text": "ONE"},
            {"op": "delete_file", "path": "b.txt"},
            {"op": "move_file", "from": "c.txt", "to": "d.txt"},
            {"op": "add_file", "path": "e.txt", "content": "e\n"},
        ]),
    );
    project.write("b.txt", "b\n");
    let path = |name: &str| project.dir.path().join(name);
    std::fs::rename(path("d.txt"), path("c.txt")).unwrap();
    std::fs::remove_file(path("e.txt")).unwrap();
    let undone = applied(undo(&session));
    assert_eq!((undone.files.len(), project.content("a.txt").as_str()), (1, "one\n"));
}

#[test]
fn regression_equal_changes_are_undone_one_after_the_other() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let (session, other) = (stored(&project), stored(&project));
    show(&session, "a.txt", 1, 1);
    for text in ["ONE", "one", "ONE"] {
        set(&session, "a.txt", 1, text);
    }
    applied(undo(&session));
    assert_eq!(other.undoable().len(), 2);
    applied(undo(&other));
    assert_eq!((session.undoable().len(), project.content("a.txt").as_str()), (1, "ONE\n"));
    applied(undo(&session));
    assert_eq!(project.content("a.txt"), "one\n");
}

#[test]
fn a_missing_final_newline_comes_back_next_to_changes_by_others() {
    let project = Project::new(&[("a.txt", "a one\nb two\nc three")]);
    let session = project.session(&["a.txt"]);
    let add =
        json!({"op": "add_file", "path": "a.txt", "content": "NEW LINE\nOTHER\n", "replace": true});
    apply(&session, json!([add]));
    project.write("a.txt", "by others\nNEW LINE\nOTHER\n");
    applied(undo(&session));
    assert_eq!(project.content("a.txt"), "by others\na one\nb two\nc three");
}

/// A formatter may change the encoding, so that no line can be compared.
#[test]
fn regression_a_byte_order_mark_that_a_formatter_removed_comes_back() {
    let project = Project::new(&[("a.txt", "\u{feff}a one\nb two\n")]);
    let session = project.session(&["a.txt"]);
    let options = PatchOptions { keeps_written: true, ..PatchOptions::default() };
    let patch = json!({"operations": [{"op": "replace_text", "path": "a.txt", "old_text": "b", "new_text": "B"}]});
    let done = applied(session.apply_with(&patch.into(), &options, &Cancel::default()).unwrap());
    project.write("a.txt", "a one\nB two\n");
    let written = done.written.unwrap();
    applied(session.settle(&written, &AfterWrite::default(), &Cancel::default()).unwrap());
    applied(undo(&session));
    assert_eq!(project.content("a.txt"), "\u{feff}a one\nb two\n");
}

#[cfg(unix)]
#[test]
fn regression_a_file_without_permissions_comes_back_without_them() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new(&[("a.txt", "a\n")]);
    let path = project.dir.path().join("a.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o0)).unwrap();
    let session = project.session(&[]);
    apply(&session, json!([{"op": "delete_file", "path": "a.txt"}]));
    // Only root could read it.
    if let Outcome::Applied(_) = undo(&session) {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0);
    }
}

fn text() -> impl Strategy<Value = String> {
    "([ab]{0,2}(\n|\r\n)){0,6}[ab]{0,2}"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// What others insert elsewhere stays, and the lines of the patch are what they were, or nothing
    /// is undone.
    #[test]
    fn lines_of_others_stay(
        content in prop::collection::vec("[abc]{0,6}", 1..12),
        is_open: bool,
        edit in (0u8..3, 0u64..12, "[abc]{0,3}(\n[abc]{0,3})?"),
        inserted in prop::collection::vec(0usize..16, 1..4),
    ) {
        let before = content.join("\n") + if is_open { "" } else { "\n" };
        let project = Project::new(&[("a.txt", before.as_str())]);
        let session = project.session(&["a.txt"]);
        let (kind, line, text) = edit;
        let rows = session.read("a.txt").unwrap().text;
        let anchor = rows.lines().nth(line as usize).unwrap_or("EOF");
        let operation = match kind {
            0 => json!({"op": "insert_after", "path": "a.txt", "anchor": anchor, "text": text}),
            1 => json!({"op": "set_line", "path": "a.txt", "anchor": anchor, "text": text}),
            _ => json!({"op": "delete", "path": "a.txt", "anchor": anchor}),
        };
        let outcome = session.apply(json!({"operations": [operation]})).unwrap();
        if !matches!(&outcome, Outcome::Applied(done) if !done.files.is_empty()) {
            return Ok(());
        }
        let after = project.content("a.txt");
        let mut lines: Vec<String> = after.split_inclusive('\n').map(str::to_owned).collect();
        for (number, at) in inserted.iter().enumerate() {
            let at = (*at).min(lines.len().saturating_sub(1));
            lines.insert(at, format!("by others {number}\n"));
        }
        let changed = lines.concat();
        project.write("a.txt", changed.as_str());
        let now = match undo(&session) {
            Outcome::Rejected(_) => {
                prop_assert_eq!(project.content("a.txt"), changed);
                return Ok(());
            }
            Outcome::Applied(_) => project.content("a.txt"),
        };
        let of_others = |line: &&str| line.starts_with("by others");
        prop_assert_eq!(now.lines().filter(of_others).count(), inserted.len());
        let own: Vec<&str> = now.lines().filter(|line| !of_others(line)).collect();
        prop_assert_eq!(own, before.lines().collect::<Vec<_>>());
    }

    /// Every byte comes back, whatever the patches did.
    #[test]
    fn the_bytes_of_every_file_come_back(
        contents in prop::collection::vec(text(), 1..4),
        steps in prop::collection::vec((0usize..4, 0u8..5, text(), 0u64..7, any::<bool>()), 1..5),
        with_mark: bool,
    ) {
        let names = ["a.txt", "b.txt", "c.txt", "d.txt"];
        let project = Project::new::<str>(&[]);
        for (name, content) in names.iter().zip(&contents) {
            let mark = if with_mark { "\u{feff}" } else { "" };
            project.write(name, &format!("{mark}{content}"));
        }
        let session = project.session(&[]);
        let mut states: Vec<BTreeMap<_, _>> = vec![snapshot(project.dir.path())];
        for (file, kind, content, line, verbatim) in steps {
            let (path, other) = (names[file], names[(file + 1) % 4]);
            let rows = session.read(path).map(|view| view.text).unwrap_or_default();
            let anchor = rows.lines().nth(line as usize).unwrap_or("BOF");
            let operation = match kind {
                0 => json!({"op": "add_file", "path": path, "content": content, "replace": true, "verbatim": verbatim}),
                1 => json!({"op": "delete_file", "path": path}),
                2 => json!({"op": "move_file", "from": path, "to": other}),
                3 => json!({"op": "insert_after", "path": path, "anchor": anchor, "text": content}),
                _ => json!({"op": "set_line", "path": path, "anchor": anchor, "text": content}),
            };
            if let Outcome::Applied(done) = session.apply(json!({"operations": [operation]})).unwrap()
                && !done.files.is_empty()
            {
                states.push(snapshot(project.dir.path()));
            }
        }
        prop_assert_eq!(states.pop().unwrap(), snapshot(project.dir.path()));
        while let Some(state) = states.pop() {
            applied(undo(&session));
            prop_assert_eq!(snapshot(project.dir.path()), state);
        }
        prop_assert!(session.undoable().is_empty());
    }
}

/// A full disk at any step: the files are as before the undo or after it, and it can be repeated.
#[test]
fn an_undo_that_fails_is_repeated_later() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    let is_full_at = Arc::new(AtomicU64::new(u64::MAX));
    let is_full = Arc::clone(&is_full_at);
    let check = move |step| match step >= is_full.load(Ordering::Relaxed) {
        true => Err(std::io::ErrorKind::StorageFull.into()),
        false => Ok(()),
    };
    let fs: &'static Interrupted<_> = Box::leak(Box::new(Interrupted::new(check)));
    let mut refusals = 0;
    for step in (0..).step_by(crate::support::stride()) {
        let project = Project::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
        let session = project.session(&["a.txt", "b.txt"]).on(fs);
        let before = snapshot(project.dir.path());
        apply(
            &session,
            json!([
                {"op": "replace_text", "path": "a.txt", "old_text": "a", "new_text": "A"},
                {"op": "delete_file", "path": "b.txt"},
            ]),
        );
        is_full_at.store(fs.count() + step, Ordering::Relaxed);
        let failed =
            session.undo(&UndoRequest::default(), &PatchOptions::default(), &Cancel::default());
        is_full_at.store(u64::MAX, Ordering::Relaxed);
        let is_refused = !matches!(failed.as_deref(), Ok([Outcome::Applied(_)]));
        refusals += u64::from(is_refused);
        if is_refused {
            assert_eq!(session.undoable().len(), 1);
            // What could not be rolled back either is recovered by the next call.
            let is_as_left = project.content("a.txt") == "A\n" && !project.exists("b.txt");
            assert!(is_as_left || failed.is_err(), "step {step}");
            applied(undo(&session));
        }
        let mut now = snapshot(project.dir.path());
        // Temporary files of a call that is over but for cleaning up.
        now.retain(|name, _| !name.starts_with(".hashline-"));
        assert_eq!(now, before, "step {step}");
        assert!(session.undoable().is_empty());
        if !is_refused {
            break;
        }
    }
    assert!(refusals > 0);
}
