//! `add_file` with `replace`: the whole content of a file is replaced.

use hashline_core::{Change, Code, Patch, PatchOperation};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Project, applied, refused};

fn replace(path: &str, content: &str) -> Value {
    json!({"operations": [{"op": "add_file", "path": path, "content": content, "replace": true}]})
}

#[test]
fn unchanged_lines_keep_their_anchors_and_the_diff_shows_the_others() {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\nfour\n")]);
    let session = project.session(&["a.txt"]);
    let shown = session.read("a.txt").unwrap().text;
    let done = applied(session.apply(replace("a.txt", "zero\none\nTWO\nthree\nfour\n")).unwrap());
    let [file] = &done.files[..] else { panic!("{:?}", done.files) };
    assert_eq!((file.change, file.added, file.removed), (Change::Edited, 2, 1));
    assert_eq!(project.content("a.txt"), "zero\none\nTWO\nthree\nfour\n");
    let four = shown.lines().nth(3).unwrap();
    let edit = PatchOperation::set_line("a.txt", four, "FOUR");
    applied(session.apply(Patch::from([edit])).unwrap());
    assert_eq!(project.content("a.txt"), "zero\none\nTWO\nthree\nFOUR\n");
}

#[test]
fn encoding_mark_and_line_ends_stay_unless_verbatim() {
    let utf16: Vec<u8> = "\u{feff}a\r\nb\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let expected: Vec<u8> =
        "\u{feff}x\r\nb\r\ny\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&[u8], &str, &[u8]); 9] = [
        (b"a\r\nb\r\n", "x\nb\n", b"x\r\nb\r\n"),
        (b"\xef\xbb\xbfa\nb\n", "\u{feff}x\nb\n", b"\xef\xbb\xbfx\nb\n"),
        (&utf16, "x\nb\ny\n", &expected),
        (b"a\nb", "a\nb\n", b"a\nb\n"),
        (b"a\nb\n", "a\nc", b"a\nc"),
        (b"a\r\nb", "a\nb\nc\n", b"a\r\nb\r\nc\r\n"),
        (b"", "a", b"a"),
        (b"a\nb\n", "", b""),
        // Not valid in UTF-8, on a line that stays.
        (b"\xff\nb\n", "\u{fffd}\nc\n", b"\xff\nc\n"),
    ];
    for (before, content, after) in cases {
        let project = Project::new(&[("a.txt", before)]);
        let session = project.session(&["a.txt"]);
        applied(session.apply(replace("a.txt", content)).unwrap());
        assert_eq!(project.bytes("a.txt"), after, "{:?}", String::from_utf8_lossy(before));
    }
    let project = Project::new(&[("a.txt", "a\r\nb\r\n")]);
    let session = project.session(&["a.txt"]);
    let verbatim = PatchOperation::replace_file("a.txt", "a\nb\n").verbatim();
    applied(session.apply(Patch::from([verbatim])).unwrap());
    assert_eq!(project.content("a.txt"), "a\nb\n");
}

#[test]
fn a_missing_file_is_created_also_where_the_patch_frees_the_name() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let session = project.session(&[]);
    let created = applied(session.apply(replace("new/c.txt", "three\n")).unwrap());
    assert_eq!(created.files[0].change, Change::Created);
    let patch = Patch::from([
        PatchOperation::move_file("a.txt", "moved.txt"),
        PatchOperation::replace_file("a.txt", "fresh\n"),
        PatchOperation::delete_file("b.txt"),
        PatchOperation::replace_file("b.txt", "fresh\n"),
    ]);
    applied(session.apply(patch).unwrap());
    assert_eq!(
        ["a.txt", "b.txt", "moved.txt"].map(|name| project.content(name)),
        ["fresh\n", "fresh\n", "one\n"]
    );
}

/// Otherwise a model would overwrite what others wrote since, or a file that it never read.
#[test]
fn a_session_refuses_to_remove_lines_that_were_not_shown() {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let session = project.session(&[]);
    let unread = refused(session.apply(replace("a.txt", "one\n2\nthree\n")).unwrap());
    assert_eq!(unread.code, Code::NotShown);
    assert!(unread.text.contains("|two"), "{}", unread.text);
    assert!(!unread.text.contains("|three"), "{}", unread.text);
    // The refusal has shown what would be lost.
    applied(session.apply(replace("a.txt", "one\n2\nthree\n")).unwrap());
    project.write("a.txt", "one\n2\n3\n");
    let stale = refused(session.apply(replace("a.txt", "one\n2\nthree\nfour\n")).unwrap());
    assert_eq!(stale.code, Code::NotShown);
    assert_eq!(project.content("a.txt"), "one\n2\n3\n");
    applied(session.apply(replace("a.txt", "one\n2\nthree\nfour\n")).unwrap());
    // Nothing is lost.
    project.write("b.txt", "one\n");
    applied(session.apply(replace("b.txt", "one\ntwo\n")).unwrap());
}

#[test]
fn what_a_refusal_has_no_room_for_must_be_read() {
    let long = "x".repeat(100_000);
    let lines: String = (1..=1_000).map(|number| format!("line {number}\n")).collect();
    for content in [lines, format!("{long}\n")] {
        let project = Project::new(&[("a.txt", content.as_str())]);
        let session = project.session(&[]);
        for _ in 0..2 {
            let refusal = refused(session.apply(replace("a.txt", "new\n")).unwrap());
            assert!(refusal.text.contains("Read the file from line "), "{}", refusal.text);
        }
        assert_eq!(project.content("a.txt"), content);
    }
}

#[test]
fn other_operations_on_the_file_are_refused() {
    let project = Project::new(&[("a.txt", "one\n"), ("b.txt", "")]);
    std::fs::create_dir(project.dir.path().join("dir")).unwrap();
    let session = project.session(&["a.txt"]);
    let patch = Patch::from([
        PatchOperation::replace_file("a.txt", "two\n"),
        PatchOperation::replace_text("./a.txt", "one", "three"),
    ]);
    assert_eq!(refused(session.apply(patch).unwrap()).code, Code::OverlappingEdits);
    // The same operation twice is one.
    let twice = PatchOperation::replace_file("a.txt", "two\n");
    let done = applied(session.apply(Patch::from([twice.clone(), twice])).unwrap());
    assert_eq!(done.noops.len(), 1);
    let unchanged = applied(session.apply(replace("a.txt", "two\n")).unwrap());
    assert_eq!((unchanged.files.len(), unchanged.noops.len()), (0, 1));
    assert_eq!(refused(session.apply(replace("dir", "x\n")).unwrap()).code, Code::NotAFile);
    let exists = json!({"operations": [{"op": "add_file", "path": "a.txt", "content": ""}]});
    let refusal = refused(session.apply(exists).unwrap());
    assert!(refusal.text.contains("set replace"), "{}", refusal.text);
}

#[cfg(unix)]
#[test]
fn attributes_stay_and_links_are_followed() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
    let project = Project::new(&[("a.sh", "one\n")]);
    let path = project.dir.path().join("a.sh");
    // Only root may change the owner.
    let _ = chown(&path, Some(12_345), Some(12_346));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.sh", project.dir.path().join("link.sh")).unwrap();
    let rights = || {
        let now = std::fs::metadata(&path).unwrap();
        (now.mode(), now.uid(), now.gid())
    };
    let before = rights();
    let session = project.session(&["a.sh"]);
    applied(session.apply(replace("link.sh", "two\n")).unwrap());
    assert_eq!((project.content("a.sh").as_str(), rights()), ("two\n", before));
    assert!(project.dir.path().join("link.sh").is_symlink());
    symlink("nowhere", project.dir.path().join("dangling")).unwrap();
    let dangling = refused(session.apply(replace("dangling", "x\n")).unwrap());
    assert_eq!(dangling.code, Code::FileNotFound);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever the contents are, the file has the new one afterwards.
    #[test]
    fn the_file_has_exactly_the_new_content(
        before in "([ab]{0,2}\n){0,8}[ab]{0,2}",
        after in "([abc]{0,2}\n){0,8}[abc]{0,2}",
        verbatim: bool,
    ) {
        let project = Project::new(&[("a.txt", before.as_str())]);
        let session = project.session(&["a.txt"]);
        let operation = PatchOperation::replace_file("a.txt", after.as_str());
        let operation = if verbatim { operation.verbatim() } else { operation };
        applied(session.apply(Patch::from([operation])).unwrap());
        prop_assert_eq!(&project.content("a.txt"), &after);
        // The session knows the lines as they are now.
        if let Some(line) = after.lines().next() {
            let rows = session.read("a.txt").unwrap().text;
            let edit = PatchOperation::set_line("a.txt", rows.lines().next().unwrap(), "new");
            applied(session.apply(Patch::from([edit])).unwrap());
            prop_assert_eq!(project.content("a.txt"), after.replacen(line, "new", 1));
        }
    }
}

#[test]
fn without_a_session_any_file_is_replaced() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let outcome = project.outcome(replace("a.txt", "two\n"));
    applied(outcome);
    assert_eq!(project.content("a.txt"), "two\n");
}
