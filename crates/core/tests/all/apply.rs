//! Patches on real files, from the request to the bytes on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::support::Interrupted;
#[cfg(unix)]
use crate::support::make_fifo;
use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::Relocate;
use hashline_core::{Applied, Change, NoopReason, Outcome, Rejected};
use hashline_core::{ApplyOptions, Durability, EditOptions, PatchOptions, apply_to_text};
use hashline_core::{Root, Workspace, WorkspaceOptions};
use hashline_disk::fs::{Base, FileSystem, OsFileSystem};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::{Value, json};

/// A directory with files, and a state directory.
struct Dir(tempfile::TempDir, tempfile::TempDir);

impl Dir {
    fn new(files: &[(&str, &str)]) -> Dir {
        let dir = Dir(tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (name, content) in files {
            dir.write(name, content.as_bytes());
        }
        dir
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn options(&self) -> WorkspaceOptions {
        WorkspaceOptions {
            root: self.0.path().into(),
            state_dir: Some(self.1.path().into()),
            apply: ApplyOptions { durability: Durability::Process, ..ApplyOptions::default() },
            ..WorkspaceOptions::default()
        }
    }

    fn run(&self, operations: Value) -> Outcome {
        self.run_with(operations, &self.options())
    }

    fn run_with(&self, operations: Value, options: &WorkspaceOptions) -> Outcome {
        let patch = json!({"operations": operations}).into();
        Workspace::on(&OsFileSystem, options).apply(&patch).unwrap()
    }

    fn applied(&self, operations: Value) -> Applied {
        match self.run(operations.clone()) {
            Outcome::Applied(applied) => applied,
            Outcome::Rejected(rejected) => panic!("{operations}\n{}", rejected.text),
        }
    }

    fn rejected(&self, operations: Value) -> Rejected {
        let before = self.snapshot();
        match self.run(operations.clone()) {
            Outcome::Rejected(rejected) => {
                assert_eq!(self.snapshot(), before, "a refusal changes nothing: {operations}");
                rejected
            }
            Outcome::Applied(applied) => panic!("{operations}\n{}", applied.text),
        }
    }

    /// Every file with its content; includes temporary files.
    fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        collect(self.0.path(), &mut files);
        files.sort();
        files
    }
}

fn collect(dir: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            collect(&path, files);
        } else {
            files.push((
                path.clone(),
                if path.is_file() { fs::read(&path).unwrap() } else { Vec::new() },
            ));
        }
    }
}

/// The current anchor of line `number` with `text`.
fn anchor(number: u64, text: &str) -> String {
    let dialect = Dialect::default_dialect();
    dialect.anchor_text(number, hash_line(dialect, number, text))
}

fn set(path: &str, anchor: &str, text: &str) -> Value {
    json!({"op": "set_line", "path": path, "anchor": anchor, "text": text})
}

/// Options for a directory, with a change.
fn with(dir: &Dir, change: impl FnOnce(&mut ApplyOptions)) -> WorkspaceOptions {
    let mut options = dir.options();
    change(&mut options.apply);
    options
}

#[test]
fn several_files_change_as_one() {
    let dir = Dir::new(&[("a.txt", "one\ntwo\nthree\n"), ("b/c.txt", "x\r\ny\r\n")]);
    let applied = dir.applied(json!([
        set("a.txt", &anchor(2, "two"), "TWO\nand a half"),
        set("b/c.txt", &anchor(1, "x"), "X"),
        {"op": "add_file", "path": "new/deep/d.txt", "content": "hello\n"},
        {"op": "insert_after", "path": "a.txt", "anchor": "EOF", "text": "four"},
    ]));
    assert_eq!(dir.read("a.txt"), "one\nTWO\nand a half\nthree\nfour\n");
    assert_eq!(dir.read("b/c.txt"), "X\r\ny\r\n");
    assert_eq!(dir.read("new/deep/d.txt"), "hello\n");
    assert_eq!(dir.snapshot().len(), 3, "no temporary file is left");
    let expected = format!(
        "--- a.txt --- 2 edits, +3 -1\n{}|one\n{}|TWO\n{}|and a half\n{}|three\n{}|four\n\
         --- b/c.txt --- 1 edit, +1 -1\n{}|X\n{}|y\n--- new/deep/d.txt --- created, +1\n{}|hello",
        anchor(1, "one"),
        anchor(2, "TWO"),
        anchor(3, "and a half"),
        anchor(4, "three"),
        anchor(5, "four"),
        anchor(1, "X"),
        anchor(2, "y"),
        anchor(1, "hello"),
    );
    assert_eq!(applied.text, expected);
}

#[test]
fn one_stale_anchor_stops_everything_and_the_answer_repairs_it() {
    let dir = Dir::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "x\ny\nz\n")]);
    let stale = "2:00";
    let patch = |anchor_b: &str| {
        json!([set("a.txt", &anchor(2, "two"), "TWO"), set("b.txt", anchor_b, "Y")])
    };
    let rejected = dir.rejected(patch(stale));
    assert_eq!(rejected.code, Code::HashMismatch);
    let fresh = anchor(2, "y");
    let expected = format!(
        "Hash mismatch at 2:00.\nActual state:\n{}|x\n{fresh}|y\n{}|z\n\
         Operation 1, b.txt: No line within 100 of line 2 has the hash 00: use {fresh} for line 2.",
        anchor(1, "x"),
        anchor(3, "z"),
    );
    assert_eq!(rejected.text, expected);
    assert_eq!(rejected.remaps, [("2:00".to_owned(), fresh.clone())]);
    assert_eq!(rejected.failures[0].suggestion.as_deref(), Some(fresh.as_str()));
    let row = rejected.text.lines().find(|line| line.starts_with("2:")).unwrap();
    dir.applied(patch(row));
    assert_eq!(
        (dir.read("a.txt").as_str(), dir.read("b.txt").as_str()),
        ("one\nTWO\nthree\n", "x\nY\nz\n")
    );
}

#[test]
fn the_hash_of_a_neighbouring_line_is_reported() {
    let dir = Dir::new(&[("a.txt", "alpha\nbeta\ngamma\ndelta\n")]);
    let mixed_up = anchor(2, "gamma");
    let rejected = dir.rejected(json!([{"op": "delete", "path": "a.txt", "anchor": mixed_up}]));
    let hash = &mixed_up[2..];
    let last = format!(
        "Operation 0, a.txt: {hash} is the hash of line 3. In such cases the number is usually right: use {}, or {} for line 3.",
        anchor(2, "beta"),
        anchor(3, "gamma")
    );
    assert_eq!(rejected.text.lines().last(), Some(last.as_str()));
    assert!(rejected.remaps.is_empty());
    let past = dir.rejected(json!([{"op": "delete", "path": "a.txt", "anchor": "400:00"}]));
    assert_eq!(past.code, Code::LineOutOfRange);
    assert_eq!(past.text.lines().last(), Some("Operation 0, a.txt: The file has 4 lines."));
}

#[test]
fn relocations_are_applied_and_reported() {
    let lines: Vec<String> =
        (1..=30).map(|n| format!("let value{n} = compute({});", n * n)).collect();
    let dir = Dir::new(&[("a.rs", &(lines.join("\n") + "\n"))]);
    let stale = anchor(25, &lines[19]);
    let applied = dir.applied(json!([set("a.rs", &stale, "let value20 = 400;")]));
    let fresh = anchor(20, &lines[19]);
    assert_eq!(applied.relocations.len(), 1);
    assert_eq!((&applied.relocations[0].to, applied.relocations[0].distance), (&fresh, -5));
    assert!(
        applied.text.contains(&format!("{stale} was found 5 lines further up: {fresh} was used."))
    );
    assert!(dir.read("a.rs").contains("\nlet value20 = 400;\n"));
}

#[test]
fn shifts_use_old_numbers_and_add_up() {
    let lines: Vec<String> = (1..=40).map(|n| format!("line {n}")).collect();
    let dir = Dir::new(&[("a.txt", &lines.join("\n"))]);
    let at = |n: usize| anchor(n as u64, &lines[n - 1]);
    let applied = dir.applied(json!([
        set("a.txt", &at(10), "a\nb\nc"),
        {"op": "delete", "path": "a.txt", "start_anchor": at(20), "end_anchor": at(20)},
        set("a.txt", &at(30), "same length"),
    ]));
    let notes: Vec<_> =
        applied.text.lines().filter(|line| line.starts_with("Lines after")).collect();
    assert_eq!(notes, ["Lines after 10 moved by +2.", "Lines after 20 moved by +1."]);
    // Every row must be an anchor of the current file.
    let now: Vec<String> = dir.read("a.txt").lines().map(str::to_owned).collect();
    let rows: Vec<_> = applied
        .text
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    assert_eq!(rows.len(), 7 + 4 + 5);
    for row in rows {
        let number: usize = row.split(':').next().unwrap().parse().unwrap();
        assert_eq!(row, format!("{}|{}", anchor(number as u64, &now[number - 1]), now[number - 1]));
    }
}

#[test]
fn noops_write_nothing() {
    let dir = Dir::new(&[("a.txt", "one\ntwo\n")]);
    let stamp = |dir: &Dir| {
        let place =
            Base::open(None).unwrap().existing(dir.path("a.txt").to_str().unwrap()).unwrap();
        OsFileSystem.stamp(&place).unwrap()
    };
    let before = stamp(&dir);
    let applied = dir.applied(json!([
        set("a.txt", &anchor(1, "one"), "one"),
        {"op": "replace_text", "path": "a.txt", "old_text": "two", "new_text": "two"},
        {"op": "move_file", "from": "a.txt", "to": "./a.txt"},
    ]));
    assert_eq!(stamp(&dir), before);
    assert!(applied.files.is_empty());
    assert_eq!(applied.noops.iter().map(|noop| noop.operation).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(applied.text.contains("Operation 0 changes nothing."), "{}", applied.text);
}

#[test]
fn repeats_are_applied_once() {
    let dir = Dir::new(&[("a.txt", "one\ntwo\n")]);
    let replace = set("a.txt", &anchor(1, "one"), "x");
    let other_spelling = set("./a.txt", &anchor(1, "one"), "x");
    let delete = json!({"op": "delete", "path": "a.txt", "anchor": anchor(2, "two")});
    let applied = dir.applied(json!([replace, other_spelling, delete, delete]));
    assert_eq!(dir.read("a.txt"), "x\n");
    let reasons: Vec<_> = applied.noops.iter().map(|noop| noop.reason).collect();
    assert_eq!(reasons, [NoopReason::Duplicate { of: 0 }, NoopReason::Duplicate { of: 2 }]);
}

#[test]
fn regression_equal_inserts_are_all_applied_except_in_dialects_that_record_one() {
    let row = |dialect: &'static Dialect| dialect.anchor_text(1, hash_line(dialect, 1, "one"));
    for (name, expected) in [("pi", "one\nx\nx\nx\n"), ("omp", "one\nx\n"), ("omp13", "one\nx\n")] {
        let dialect = Dialect::by_name(name).unwrap();
        let insert =
            json!({"op": "insert_after", "path": "a.txt", "anchor": row(dialect), "text": "x"});
        let patch = json!([insert, insert, insert]);
        let text = apply_to_text(dialect, "one\n", &patch.into(), &EditOptions::default());
        assert_eq!(text.content.as_deref(), Some(expected), "{name}");
    }
    let dir = Dir::new(&[("a.txt", "one\n"), ("a.json", "[]\n")]);
    let at_end = json!({"op": "insert_after", "path": "a.txt", "anchor": "EOF", "text": "x"});
    let value = json!({"op": "insert_at_path", "path": "a.json", "anchor": "$:cc", "value": 0});
    let applied = dir.applied(json!([at_end, value, at_end, value, value]));
    assert_eq!(
        (dir.read("a.txt"), dir.read("a.json")),
        ("one\nx\nx\n".into(), "[\n  0,\n  0,\n  0\n]\n".into())
    );
    assert_eq!(applied.noops, []);
}

#[test]
fn files_are_added_moved_and_deleted() {
    let dir = Dir::new(&[("a", "A\n"), ("b", "B\n"), ("c", "C\n"), ("e", "E\n")]);
    let applied = dir.applied(json!([
        {"op": "move_file", "from": "a", "to": "b"},
        {"op": "move_file", "from_path": "b", "to_path": "a"},
        {"op": "move_file", "from": "c", "to": "sub/d"},
        set("c", &anchor(1, "C"), "changed"),
        {"op": "delete_file", "path": "e"},
        {"op": "add_file", "path": "c", "content": "fresh"},
    ]));
    let root = dir.path("");
    let files: Vec<_> = dir
        .snapshot()
        .into_iter()
        .map(|(path, content)| {
            let path = path.canonicalize().unwrap();
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
            let name = name.replace(std::path::MAIN_SEPARATOR, "/");
            (name, String::from_utf8(content).unwrap())
        })
        .collect();
    let expected = [("a", "B\n"), ("b", "A\n"), ("c", "fresh"), ("sub/d", "changed\n")];
    assert_eq!(files, expected.map(|(name, content)| (name.to_owned(), content.to_owned())));
    let changes: Vec<_> =
        applied.files.iter().map(|file| (file.path.as_str(), file.change)).collect();
    assert_eq!(
        changes,
        [
            ("b", Change::Moved),
            ("a", Change::Moved),
            ("sub/d", Change::Edited),
            ("e", Change::Deleted),
            ("c", Change::Created),
        ]
    );
    assert!(
        applied.text.contains("--- sub/d --- 1 edit, +1 -1, moved from c\n"),
        "{}",
        applied.text
    );
}

#[test]
fn refusals_by_code() {
    let dir = Dir::new(&[("a.txt", "one\ntwo\n"), ("d/x", "")]);
    dir.write("bin", b"a\0b\n");
    let one = anchor(1, "one");
    let cases = [
        (set("missing", "1:00", "x"), Code::FileNotFound),
        (set("d", "1:00", "x"), Code::NotAFile),
        (set("bin", "1:00", "x"), Code::BinaryFile),
        (set("../a.txt", "1:00", "x"), Code::OutsideRoot),
        (set("/etc/passwd", "1:00", "x"), Code::OutsideRoot),
        (set("a\0.txt", "1:00", "x"), Code::InvalidArgument),
        (set("", "1:00", "x"), Code::InvalidArgument),
        (set("a.txt", "9:00", "x"), Code::LineOutOfRange),
        (set("a.txt", "one", "x"), Code::InvalidAnchor),
        (json!({"op": "add_file", "path": "a.txt", "content": ""}), Code::FileExists),
        (json!({"op": "add_file", "path": "d", "content": ""}), Code::FileExists),
        (json!({"op": "add_file", "path": "a.txt/b", "content": ""}), Code::NotAFile),
        (json!({"op": "add_file", "path": "../new", "content": ""}), Code::OutsideRoot),
        (json!({"op": "add_file", "path": "/nonexistent/new", "content": ""}), Code::OutsideRoot),
        (json!({"op": "move_file", "from": "a.txt", "to": "bin"}), Code::FileExists),
        (json!({"op": "move_file", "from": "d", "to": "e"}), Code::NotAFile),
        (json!({"op": "delete_file", "path": "missing"}), Code::FileNotFound),
        (json!({"op": "delete_file", "path": "d"}), Code::NotAFile),
        (json!({"op": "delete_file", "path": "."}), Code::NotAFile),
        (
            json!({"op": "replace_text", "path": "a.txt", "old_text": "three", "new_text": ""}),
            Code::TextNotFound,
        ),
        (
            json!({"op": "replace_text", "path": "a.txt", "old_text": "o", "new_text": ""}),
            Code::TextNotUnique,
        ),
        (json!({"op": "frob", "path": "a.txt"}), Code::InvalidOperation),
    ];
    refused_with(&dir, &one, cases);
}

/// Refuses each case, combined with a valid operation.
fn refused_with(dir: &Dir, one: &str, cases: impl IntoIterator<Item = (Value, Code)>) {
    for (operation, code) in cases {
        let good = set("a.txt", one, "never");
        let rejected = dir.rejected(json!([good, operation]));
        assert_eq!(rejected.code, code, "{operation}: {}", rejected.text);
        assert!(rejected.failures[0].operation == 1, "{operation}");
        assert!(!rejected.text.is_empty());
    }
}

/// On Windows, few users may create links.
#[cfg(unix)]
#[test]
fn refusals_of_links_by_code() {
    let dir = Dir::new(&[("a.txt", "one\ntwo\n")]);
    std::os::unix::fs::symlink("nowhere", dir.path("dangling")).unwrap();
    std::os::unix::fs::symlink("/etc", dir.path("out")).unwrap();
    let cases = [
        (set("dangling", "1:00", "x"), Code::FileNotFound),
        (set("out/passwd", "1:00", "x"), Code::OutsideRoot),
        (json!({"op": "add_file", "path": "dangling", "content": ""}), Code::FileExists),
        (json!({"op": "add_file", "path": "out/new", "content": ""}), Code::OutsideRoot),
        (json!({"op": "move_file", "from": "a.txt", "to": "out/x"}), Code::OutsideRoot),
    ];
    refused_with(&dir, &anchor(1, "one"), cases);
}

#[test]
fn overlaps_and_backward_ranges() {
    let dir = Dir::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let (one, two, three) = (anchor(1, "one"), anchor(2, "two"), anchor(3, "three"));
    let range = |first: &str, last: &str| json!({"op": "replace_range", "path": "a.txt", "start_anchor": first, "end_anchor": last, "text": "x"});
    let cases = [
        json!([set("a.txt", &one, "x"), set("a.txt", &one, "y")]),
        json!([range(&one, &three), {"op": "insert_after", "path": "a.txt", "anchor": two, "text": "y"}]),
        json!([range(&three, &one)]),
        json!([set("a.txt", &one, "x"), {"op": "delete_file", "path": "a.txt"}]),
        json!([{"op": "add_file", "path": "n", "content": ""}, {"op": "add_file", "path": "n", "content": "x"}]),
    ];
    for operations in cases {
        assert_eq!(dir.rejected(operations.clone()).code, Code::OverlappingEdits, "{operations}");
    }
}

#[cfg(unix)]
#[test]
fn links_modes_and_hard_links() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let dir = Dir::new(&[("real", "one\n"), ("linked", "one\n")]);
    fs::set_permissions(dir.path("real"), fs::Permissions::from_mode(0o751)).unwrap();
    std::os::unix::fs::symlink("real", dir.path("link")).unwrap();
    fs::hard_link(dir.path("linked"), dir.path("other")).unwrap();
    let one = anchor(1, "one");
    dir.applied(json!([set("link", &one, "two")]));
    assert_eq!(dir.read("real"), "two\n");
    assert!(fs::symlink_metadata(dir.path("link")).unwrap().is_symlink());
    assert_eq!(fs::metadata(dir.path("real")).unwrap().mode() & 0o7777, 0o751);

    let refused = dir.rejected(json!([set("linked", &one, "two")]));
    assert_eq!(refused.code, Code::OutsideRoot);
    let free = WorkspaceOptions { root: Root::Unbounded, ..dir.options() };
    let path = dir.path("linked");
    let outcome = dir.run_with(json!([set(path.to_str().unwrap(), &one, "two")]), &free);
    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
    assert_eq!(dir.read("other"), "two\n");
    assert_eq!(fs::metadata(&path).unwrap().nlink(), 2);
}

#[cfg(unix)]
#[test]
fn special_files_are_refused_at_once() {
    let dir = Dir::new(&[]);
    let fifo = dir.path("fifo");
    make_fifo(&fifo);
    assert_eq!(dir.rejected(json!([set("fifo", "1:00", "x")])).code, Code::NotAFile);
    let delete = json!([{"op": "delete_file", "path": "fifo"}]);
    assert_eq!(dir.rejected(delete).code, Code::NotAFile);
}

#[test]
fn encodings_survive() {
    let dir = Dir::new(&[]);
    let utf16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    dir.write("wide.txt", &utf16("\u{feff}eins\r\nzwei\r\n"));
    dir.write("bom.txt", "\u{feff}eins\nzwei".as_bytes());
    dir.write("bad.txt", b"\xFFx\r\nzwei\n\xFE");
    let edit = |path: &str| set(path, &anchor(2, "zwei"), "drei ü");
    dir.applied(json!([edit("wide.txt"), edit("bom.txt"), edit("bad.txt")]));
    assert_eq!(fs::read(dir.path("wide.txt")).unwrap(), utf16("\u{feff}eins\r\ndrei ü\r\n"));
    assert_eq!(dir.read("bom.txt"), "\u{feff}eins\ndrei ü");
    assert_eq!(fs::read(dir.path("bad.txt")).unwrap(), b"\xFFx\r\ndrei \xC3\xBC\n\xFE");

    dir.write("latin.txt", b"caf\xE9\nx\n");
    let latin = WorkspaceOptions { encoding: Some("latin1".into()), ..dir.options() };
    let outcome = dir.run_with(json!([set("latin.txt", &anchor(1, "café"), "thé")]), &latin);
    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
    assert_eq!(fs::read(dir.path("latin.txt")).unwrap(), b"th\xE9\nx\n");
    let outcome = dir.run_with(json!([set("latin.txt", &anchor(1, "thé"), "茶")]), &latin);
    assert!(matches!(outcome, Outcome::Rejected(Rejected { code: Code::UnencodableText, .. })));
    let stateful = WorkspaceOptions { encoding: Some("iso-2022-jp".into()), ..dir.options() };
    let outcome = dir.run_with(json!([set("latin.txt", "1:00", "x")]), &stateful);
    assert!(matches!(outcome, Outcome::Rejected(Rejected { code: Code::UnsupportedEncoding, .. })));
}

#[test]
fn repairs_are_reported() {
    let dir = Dir::new(&[("a.js", "function f() {\n    return 1;\n}\n")]);
    let two = anchor(2, "    return 1;");
    let applied = dir.applied(json!([set("a.js", &two, "return 2;")]));
    assert_eq!(dir.read("a.js"), "function f() {\n    return 2;\n}\n");
    assert_eq!(applied.repairs[0].rule.name(), "inherit-indent");
    assert_eq!(
        (applied.repairs[0].before.as_str(), applied.repairs[0].after.as_str()),
        ("return 2;", "    return 2;")
    );
    let mut verbatim = set("a.js", &anchor(2, "    return 2;"), "return 3;");
    verbatim["verbatim"] = json!(true);
    assert!(dir.applied(json!([verbatim])).repairs.is_empty());
    assert_eq!(dir.read("a.js"), "function f() {\nreturn 3;\n}\n");
}

#[test]
fn cancelled_calls_change_nothing() {
    let dir = Dir::new(&[("a.txt", "one\n")]);
    let cancel = Cancel::default();
    cancel.cancel();
    let patch = json!({"operations": [set("a.txt", &anchor(1, "one"), "x")]}).into();
    let error = Workspace::on(&OsFileSystem, &dir.options())
        .apply_with(&patch, &PatchOptions::default(), &cancel)
        .unwrap_err();
    assert_eq!(error.code, Code::Aborted);
    assert_eq!(dir.read("a.txt"), "one\n");
}

#[test]
fn texts_in_memory() {
    let in_memory = |text, edit: Value| {
        apply_to_text(Dialect::default_dialect(), text, &edit.into(), &EditOptions::default())
    };
    let edit = json!([{"op": "set_line", "anchor": anchor(1, "one"), "text": "ONE"}]);
    let outcome = in_memory("one\r\ntwo", edit);
    assert_eq!(outcome.content.as_deref(), Some("ONE\r\ntwo"));
    let Outcome::Applied(applied) = &outcome.outcome else { panic!("{outcome:?}") };
    assert!(applied.text.starts_with("--- text --- 1 edit, +1 -1\n"), "{}", applied.text);
    let add = json!([{"op": "add_file", "path": "x", "content": ""}]);
    let outcome = in_memory("", add);
    assert!(matches!(
        outcome.outcome,
        Outcome::Rejected(Rejected { code: Code::InvalidOperation, .. })
    ));
}

/// Recorded mistakes of models: each row becomes an edit of a file with its lines.
#[test]
fn recorded_mistakes_edit_no_strangers_line() {
    let path = format!("{}/../../vectors/mispaired.jsonl", env!("CARGO_MANIFEST_DIR"));
    let rows: Vec<Value> = fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 138);
    let (mut meant_rows, mut right, mut went_through) = (0, 0, 0);
    for row in &rows {
        let lines: Vec<(u64, &str)> = {
            let map = row["lines"].as_object().unwrap();
            let mut lines: Vec<_> = map
                .iter()
                .map(|(number, text)| (number.parse().unwrap(), text.as_str().unwrap()))
                .collect();
            lines.sort_unstable();
            lines
        };
        let text_of =
            |number: u64| lines.iter().find(|(one, _)| *one == number).map(|(_, text)| *text);
        let named = row["line"].as_u64().unwrap();
        let Some(hash_line_number) = row["hashOfLine"].as_u64() else {
            continue;
        };
        let last = lines.last().unwrap().0;
        let all: Vec<&str> = (1..=last).map(|number| text_of(number).unwrap_or_default()).collect();
        let file = all.join("\n");
        let stale = anchor(named, text_of(hash_line_number).unwrap());
        let mut edit = json!([{"op": "set_line", "anchor": stale, "text": row["text"]}]);
        edit[0]["verbatim"] = json!(true);
        let options = EditOptions { relocate: Relocate::Guarded, ..EditOptions::default() };
        let dialect = Dialect::default_dialect();
        let outcome = apply_to_text(dialect, &file, &edit.into(), &options);
        let Some(meant) = row["meant"].as_u64() else {
            continue;
        };
        meant_rows += 1;
        right += u64::from(meant == hash_line_number);
        if let Some(content) = outcome.content {
            // The lines before and after the intended one are unchanged.
            let (before, after) = all.split_at(meant as usize - 1);
            let now: Vec<&str> = content.split('\n').collect();
            assert!(now.starts_with(before) && now.ends_with(&after[1..]), "{row}");
            went_through += u64::from(meant == hash_line_number);
        }
    }
    assert_eq!(right, 19);
    assert!(went_through >= 15, "{went_through} of {right}");
    assert!(meant_rows >= right);
}

#[test]
fn regression_moves_chain_in_either_order() {
    for reversed in [false, true] {
        let dir = Dir::new(&[("a", "A\n"), ("b", "B\n"), ("c", "C\n")]);
        let mut moves = vec![
            json!({"op": "move_file", "from": "a", "to": "b"}),
            json!({"op": "move_file", "from": "b", "to": "c"}),
            json!({"op": "move_file", "from": "c", "to": "d"}),
        ];
        if reversed {
            moves.reverse();
        }
        dir.applied(json!(moves));
        assert_eq!(
            (dir.read("b"), dir.read("c"), dir.read("d")),
            ("A\n".into(), "B\n".into(), "C\n".into())
        );
        assert_eq!(dir.snapshot().len(), 3);
    }
}

#[test]
fn regression_two_names_of_one_file_do_not_conflict() {
    let free = |dir: &Dir| WorkspaceOptions { root: Root::Unbounded, ..dir.options() };
    let scene = || {
        let dir = Dir::new(&[("a", "one\n")]);
        fs::hard_link(dir.path("a"), dir.path("b")).unwrap();
        dir
    };
    let cases: [fn(&str, &str) -> Value; 4] = [
        |a, b| json!([{"op": "delete_file", "path": a}, {"op": "delete_file", "path": b}]),
        |a, b| json!([{"op": "move_file", "from": a, "to": format!("{a}2")}, {"op": "move_file", "from": b, "to": format!("{b}2")}]),
        |a, b| json!([set(a, &anchor(1, "one"), "two"), {"op": "delete_file", "path": b}]),
        |a, b| json!([set(a, &anchor(1, "one"), "two"), {"op": "move_file", "from": b, "to": format!("{b}2")}]),
    ];
    for case in cases {
        let dir = scene();
        let (a, b) = (dir.path("a"), dir.path("b"));
        let operations = case(a.to_str().unwrap(), b.to_str().unwrap());
        let outcome = dir.run_with(operations.clone(), &free(&dir));
        assert!(matches!(outcome, Outcome::Applied(_)), "{operations} {outcome:?}");
    }
}

#[test]
fn regression_moves_onto_a_name_of_the_same_file_are_refused() {
    let dir = Dir::new(&[("a", "precious\n")]);
    fs::hard_link(dir.path("a"), dir.path("b")).unwrap();
    for operations in [
        json!([{"op": "delete_file", "path": "a"}, {"op": "move_file", "from": "b", "to": "a"}]),
        json!([{"op": "move_file", "from": "a", "to": "b"}, {"op": "move_file", "from": "b", "to": "c"}]),
    ] {
        assert_eq!(dir.rejected(operations).code, Code::InvalidOperation);
    }
}

#[test]
fn regression_an_edited_move_obeys_the_rules_of_an_edit() {
    let dir = Dir::new(&[("a", "one\n")]);
    fs::hard_link(dir.path("a"), dir.path("b")).unwrap();
    let operations =
        json!([set("a", &anchor(1, "one"), "two"), {"op": "move_file", "from": "a", "to": "c"}]);
    assert_eq!(dir.rejected(operations).code, Code::OutsideRoot);
    assert_eq!(dir.read("b"), "one\n");
}

#[test]
fn regression_names_the_system_refuses_are_refusals() {
    if std::env::var("HASHLINE_EMULATOR").is_ok_and(|name| name == "wine") {
        return crate::support::print_skipped("Wine 8 finds no file where a name is too long");
    }
    let dir = Dir::new(&[("a", "one\n")]);
    let long = "n".repeat(300);
    let rejected = dir.rejected(json!([
        {"op": "add_file", "path": "first", "content": ""},
        {"op": "add_file", "path": long, "content": ""},
    ]));
    assert_eq!((rejected.code, rejected.failures[0].operation), (Code::InvalidArgument, 1));
    let rejected = dir.rejected(json!([
        set("a", &anchor(1, "one"), "two"),
        {"op": "move_file", "from": "a", "to": long},
    ]));
    assert_eq!((rejected.code, rejected.failures[0].operation), (Code::InvalidArgument, 1));
}

/// A file that is rewritten in place stays mapped while the report is written.
#[test]
fn regression_the_report_of_a_large_linked_file_shows_the_new_content() {
    let lines: Vec<String> = (1..=60_000).map(|n| format!("line number {n} of the file")).collect();
    let dir = Dir::new(&[("a", &(lines.join("\n") + "\n"))]);
    fs::hard_link(dir.path("a"), dir.path("b")).unwrap();
    let path = dir.path("a");
    let path = path.to_str().unwrap();
    let at = |n: usize| anchor(n as u64, &lines[n - 1]);
    let operations = json!([
        {"op": "insert_before", "path": path, "anchor": "BOF", "text": "n1\nn2\nn3"},
        set(path, &at(30_000), "changed"),
    ]);
    let outcome =
        dir.run_with(operations, &WorkspaceOptions { root: Root::Unbounded, ..dir.options() });
    let Outcome::Applied(applied) = outcome else { panic!("{outcome:?}") };
    let now: Vec<String> = dir.read("b").lines().map(str::to_owned).collect();
    assert_eq!(now.len(), 60_003);
    for row in applied.text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let number: usize = row.split(':').next().unwrap().parse().unwrap();
        assert_eq!(row, format!("{}|{}", anchor(number as u64, &now[number - 1]), now[number - 1]));
    }
    let content = fs::read(dir.path("a")).unwrap();
    assert_eq!(applied.files[0].snapshot, Some(hashline_disk::bytes::snapshot(&content)));
}

#[test]
fn regression_remaps_that_differ_between_files_are_omitted() {
    let dir = Dir::new(&[("a", "one\n"), ("b", "two\n"), ("c", "three\n")]);
    let operations = json!([set("a", "1:00", "x"), set("b", "1:00", "x"), set("c", "1:01", "x")]);
    let rejected = dir.rejected(operations);
    assert_eq!(rejected.remaps, [("1:01".to_owned(), anchor(1, "three"))]);
    assert_eq!(rejected.text.lines().filter(|line| line.starts_with("--- ")).count(), 3);
}

#[test]
fn regression_relocation_off_is_a_mismatch_however_many_lines_have_the_hash() {
    let dir = Dir::new(&[("a", "same\nb\nc\nsame\nd\n")]);
    let options = with(&dir, |options| options.edit.relocate = Relocate::Off);
    let outcome = dir.run_with(json!([set("a", &anchor(3, "same"), "x")]), &options);
    assert!(matches!(outcome, Outcome::Rejected(Rejected { code: Code::HashMismatch, .. })));
}

#[test]
fn regression_a_different_hint_is_reported_as_such() {
    let dir = Dir::new(&[("a", "one\ntwo\nthree\n")]);
    let stale = format!("{}|foo", anchor(1, "three"));
    let rejected = dir.rejected(json!([set("a", &stale, "x")]));
    let last = rejected.text.lines().last().unwrap();
    assert!(last.contains("is the hash of line 3, but its text is not"), "{last}");
}

#[test]
fn regression_null_for_an_unused_field_is_accepted() {
    let dir = Dir::new(&[("a", "one\ntwo\n")]);
    dir.applied(json!([{"op": "delete", "path": "a", "anchor": anchor(1, "one"),
        "start_anchor": null, "end_anchor": null, "range": null}]));
    assert_eq!(dir.read("a"), "two\n");
}

#[cfg(unix)]
#[test]
fn owner_mode_and_extended_attributes_survive() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let dir = Dir::new(&[("a", "one\n")]);
    let path = dir.path("a");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).unwrap();
    // Only root may change the owner; everyone may set extended attributes.
    let given_away = chown(&path, Some(12_345), Some(12_346)).is_ok();
    if given_away {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o4750)).unwrap();
    }
    let has_attributes = xattr::set(&path, "user.note", b"kept").is_ok();
    let before = fs::metadata(&path).unwrap();
    dir.applied(json!([set("a", &anchor(1, "one"), "two")]));
    let after = fs::metadata(&path).unwrap();
    assert_ne!(before.ino(), after.ino(), "a new file replaced it");
    assert_eq!(
        (before.mode(), before.uid(), before.gid()),
        (after.mode(), after.uid(), after.gid())
    );
    if has_attributes {
        assert_eq!(xattr::get(&path, "user.note").unwrap().as_deref(), Some(&b"kept"[..]));
    }
    dir.applied(
        json!([set("a", &anchor(1, "two"), "three"), {"op": "move_file", "from": "a", "to": "b"}]),
    );
    assert_eq!(fs::metadata(dir.path("b")).unwrap().mode(), before.mode());
}

/// The refusal `FILE_EXISTS` suggests it, and models do it with scripts.
#[cfg(unix)]
#[test]
fn regression_a_file_that_is_deleted_and_added_keeps_its_attributes() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let anew = |add_first: bool| {
        let mut operations = vec![
            json!({"op": "delete_file", "path": "a"}),
            json!({"op": "add_file", "path": "./a", "content": "new\n"}),
        ];
        if add_first {
            operations.reverse();
        }
        json!(operations)
    };
    for add_first in [false, true] {
        let dir = Dir::new(&[("a", "one\n")]);
        let path = dir.path("a");
        // Only root may change the owner; everyone may set extended attributes.
        let _ = chown(&path, Some(12_345), Some(12_346));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        let has_attributes = xattr::set(&path, "user.note", b"kept").is_ok();
        let rights = || {
            let now = fs::metadata(&path).unwrap();
            (now.mode(), now.uid(), now.gid())
        };
        let before = rights();
        let applied = dir.applied(anew(add_first));
        let changes: Vec<_> = applied.files.iter().map(|file| file.change).collect();
        let expected = [Change::Deleted, Change::Created];
        assert!(changes == expected || changes == [expected[1], expected[0]], "{changes:?}");
        assert_eq!((dir.read("a").as_str(), rights()), ("new\n", before));
        if has_attributes {
            assert_eq!(xattr::get(&path, "user.note").unwrap().as_deref(), Some(&b"kept"[..]));
        }
    }
}

/// A deletion affects one name: other names of the file and the target of a link stay.
#[cfg(unix)]
#[test]
fn deleting_and_adding_affects_only_the_name() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new(&[("a", "one\n"), ("target", "two\n")]);
    fs::hard_link(dir.path("a"), dir.path("b")).unwrap();
    std::os::unix::fs::symlink("target", dir.path("link")).unwrap();
    for name in ["a", "target"] {
        fs::set_permissions(dir.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let anew = |path: &str| {
        dir.applied(json!([
            {"op": "delete_file", "path": path},
            {"op": "add_file", "path": path, "content": "new\n"},
        ]));
        fs::metadata(dir.path(path)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(anew("a"), 0o755);
    assert_eq!((dir.read("a").as_str(), dir.read("b").as_str()), ("new\n", "one\n"));
    assert_eq!(anew("link") & 0o100, 0, "a link has no mode");
    assert_eq!((dir.read("link").as_str(), dir.read("target").as_str()), ("new\n", "two\n"));
}

/// A dropped byte order mark is reported, and a session knows the file as written.
#[test]
fn regression_a_byte_order_mark_in_a_text_is_reported() {
    let dir = Dir::new(&[("with", "\u{feff}a\nb\n"), ("without", "a\nb\n")]);
    for (name, what) in [("with", "keeps its own"), ("without", "has none")] {
        let edit = set(name, &anchor(1, "a"), "\u{feff}x");
        let applied = dir.applied(json!([edit]));
        let [warning] = &applied.warnings[..] else { panic!("{:?}", applied.warnings) };
        assert_eq!((warning.code.as_str(), warning.operation), ("BYTE_ORDER_MARK", Some(0)));
        assert!(
            warning.message.contains("U+FEFF") && warning.message.contains(what),
            "{warning:?}"
        );
        assert!(applied.text.contains(&*warning.message), "{}", applied.text);
    }
    assert_eq!(
        (dir.read("with").as_str(), dir.read("without").as_str()),
        ("\u{feff}x\nb\n", "x\nb\n")
    );
    let add = json!([{"op": "add_file", "path": "new", "content": "\u{feff}a\n"}]);
    assert!(dir.applied(add).warnings.is_empty());
    assert_eq!(dir.read("new"), "\u{feff}a\n");
}

#[cfg(unix)]
#[test]
fn new_files_have_the_mode_of_new_files() {
    use std::os::unix::fs::MetadataExt;
    let dir = Dir::new(&[]);
    dir.write("usual", b"");
    dir.applied(json!([{"op": "add_file", "path": "added", "content": "x"}]));
    let mode = |name: &str| fs::metadata(dir.path(name)).unwrap().mode();
    assert_eq!(mode("added"), mode("usual"));
}

/// From one file system to another, if the machine has two.
#[cfg(unix)]
#[test]
fn files_move_across_file_systems() {
    use std::os::unix::fs::MetadataExt;
    let here = Dir::new(&[("a", "one\n"), ("b", "two\n")]);
    let Ok(there) = tempfile::tempdir_in("/dev/shm") else { return };
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    if device(there.path()) == device(&here.path("")) {
        return;
    }
    std::os::unix::fs::symlink("a", here.path("link")).unwrap();
    let to = |name: &str| there.path().join(name).to_str().unwrap().to_owned();
    let from = |name: &str| here.path(name).to_str().unwrap().to_owned();
    let operations = json!([
        {"op": "move_file", "from": from("a"), "to": to("deep/a")},
        {"op": "move_file", "from": from("b"), "to": to("b")},
        {"op": "move_file", "from": from("link"), "to": to("link")},
        set(&from("b"), &anchor(1, "two"), "TWO"),
    ]);
    let outcome =
        here.run_with(operations, &WorkspaceOptions { root: Root::Unbounded, ..here.options() });
    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
    assert_eq!(fs::read_to_string(to("deep/a")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(to("b")).unwrap(), "TWO\n");
    assert_eq!(fs::read_link(to("link")).unwrap(), Path::new("a"));
    assert!(here.snapshot().is_empty());
}

#[test]
fn a_name_changes_its_case() {
    if std::env::var("HASHLINE_EMULATOR").is_ok_and(|name| name == "wine") {
        return crate::support::print_skipped(
            "Wine 8 says that it is done, and leaves the name as it was",
        );
    }
    let dir = Dir::new(&[("readme", "x\n")]);
    dir.applied(json!([{"op": "move_file", "from": "readme", "to": "README"}]));
    let names: Vec<_> = dir.snapshot().into_iter().map(|(path, _)| path).collect();
    assert_eq!(names.len(), 1);
    assert!(names[0].ends_with("README"));
}

/// Two threads edit one file: the second sees the result of the first.
#[test]
fn concurrent_threads_lose_no_edit() {
    let dir = Dir::new(&[("a", "start\n")]);
    let patient = with(&dir, |options| options.lock_timeout_ms = crate::support::PATIENCE_MS);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (dir, patient) = (&dir, &patient);
            scope.spawn(move || {
                for round in 0..25 {
                    let text = format!("thread {thread} round {round}");
                    let outcome = dir.run_with(
                        json!([{"op": "insert_after", "path": "a", "anchor": "EOF", "text": text}]),
                        patient,
                    );
                    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
                }
            });
        }
    });
    let content = dir.read("a");
    let mut lines: Vec<_> = content.lines().collect();
    assert_eq!(lines.len(), 101);
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 101);
}

/// A waiting call usually finds another file at its path than the one it waits to lock, because the
/// previous call replaced it. It then released the lock of the path, too. On a slow system other
/// calls could overtake it again and again.
#[test]
fn regression_a_call_that_waited_keeps_its_turn() {
    assert_turn_is_kept(|_| {});
}

/// The previous holder can remove the new file's lock after it was opened. Then a new lock must be
/// taken, and no other call is ahead.
#[test]
#[cfg(unix)]
fn regression_a_lock_that_is_removed_while_it_is_taken_costs_no_turn() {
    assert_turn_is_kept(|lock| fs::remove_file(lock).unwrap());
}

/// Edits a file that another call replaces when the first lock is taken. `on_lock` is called before
/// each later lock is taken, with the locked file.
fn assert_turn_is_kept(on_lock: impl Fn(&Path) + Sync) {
    let dir = Dir::new(&[("a", "one\n")]);
    let (path, locks) = (dir.path("a"), dir.1.path().join("locks"));
    let held = || fs::read_dir(&locks).map_or(0, Iterator::count);
    let is_edited = || fs::read_to_string(&path).unwrap().contains("three");
    let names = || -> Vec<PathBuf> {
        fs::read_dir(&locks).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    let first_names = Mutex::new(Vec::new());
    // The number of locks taken before each operation of the edit.
    let seen = Mutex::new(Vec::new());
    let system = Interrupted::new(|_| {
        if is_edited() {
            return Ok(());
        }
        let mut seen = seen.lock().unwrap();
        if held() == 1 && seen.iter().all(|&count| count == 0) {
            fs::write(dir.path("b"), "one\ntwo\n").unwrap();
            fs::rename(dir.path("b"), &path).unwrap();
        }
        let count = held();
        if count == 2 && !seen.contains(&3) {
            *first_names.lock().unwrap() = names();
        }
        if count == 3 && !seen.contains(&3) {
            let first_names = first_names.lock().unwrap();
            on_lock(names().iter().find(|name| !first_names.contains(name)).unwrap());
        }
        seen.push(count);
        Ok(())
    });
    let operations = json!([{"op": "insert_after", "path": "a", "anchor": "EOF", "text": "three"}]);
    let patch = json!({"operations": operations}).into();
    let outcome = Workspace::on(&system, &dir.options()).apply(&patch).unwrap();
    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
    assert_eq!(dir.read("a"), "one\ntwo\nthree\n");
    let seen = seen.into_inner().unwrap();
    let with_locks: Vec<_> = seen.iter().skip_while(|&&count| count == 0).collect();
    assert!(with_locks.contains(&&3), "the lock of the new file was not taken: {seen:?}");
    assert!(!with_locks.contains(&&0), "the turn was given away: {seen:?}");
    assert_eq!(held(), 0);
}

#[test]
fn a_call_waits_for_a_held_lock_until_the_timeout() {
    use hashline_disk::commit::{LockKey, Locks, StateDir};
    let dir = Dir::new(&[("a", "one\n")]);
    let state = StateDir::new(dir.1.path().to_str()).unwrap();
    let soon = std::time::Instant::now() + std::time::Duration::from_secs(5);
    let keys = vec![LockKey::of_path(&dir.path("a"), "a")];
    let held = Locks::take(&OsFileSystem, &state, keys, soon, &Cancel::default()).unwrap();
    let impatient = with(&dir, |options| options.lock_timeout_ms = 20);
    let outcome = dir.run_with(json!([set("a", &anchor(1, "one"), "two")]), &impatient);
    let Outcome::Rejected(rejected) = outcome else { panic!("{outcome:?}") };
    assert_eq!(rejected.code, Code::LockTimeout);
    assert!(rejected.text.contains("lock_timeout_ms"), "{}", rejected.text);
    // Cancellation ends the wait.
    let cancel = Cancel::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(30));
            cancel.cancel();
        });
        let patch = json!({"operations": [set("a", &anchor(1, "one"), "two")]}).into();
        let error = Workspace::on(&OsFileSystem, &dir.options())
            .apply_with(&patch, &PatchOptions::default(), &cancel)
            .unwrap_err();
        assert_eq!(error.code, Code::Aborted);
    });
    drop(held);
    dir.applied(json!([set("a", &anchor(1, "one"), "two")]));
}

/// A patch with the snapshots of its files.
fn with_snapshots(dir: &Dir, operations: Value, snapshots: Value) -> Outcome {
    let patch = json!({"operations": operations, "snapshots": snapshots}).into();
    Workspace::on(&OsFileSystem, &dir.options()).apply(&patch).unwrap()
}

fn snapshot_of(dir: &Dir, name: &str) -> String {
    hashline_disk::bytes::snapshot(&fs::read(dir.path(name)).unwrap())
}

#[test]
fn a_file_with_its_snapshot_is_not_relocated() {
    let text: String = (1..=30).map(|n| format!("let value{n} = {n};\n")).collect();
    let dir = Dir::new(&[("a.txt", &text), ("b/c.txt", &text)]);
    // The hash of line 21 with the number 10; without a snapshot it is relocated.
    let mistake = |path: &str| {
        let hash = anchor(21, "let value21 = 21;");
        let anchor = hash.replace("21:", "10:");
        json!([{"op": "set_line", "path": path, "anchor": anchor, "text": "let value21 = 22;"}])
    };
    let current = snapshot_of(&dir, "a.txt");
    let other = hashline_disk::bytes::snapshot(b"other");
    for (path, snapshots) in [
        ("a.txt", json!({"a.txt": current})),
        ("a.txt", json!({"./b/../a.txt": current})),
        ("b/../a.txt", json!({"a.txt": current, "b/c.txt": other, "gone.txt": other})),
    ] {
        let Outcome::Rejected(rejected) = with_snapshots(&dir, mistake(path), snapshots.clone())
        else {
            panic!("{snapshots} let it through");
        };
        assert_eq!(rejected.code, Code::HashMismatch);
        assert!(rejected.text.contains("is that of line 21"), "{}", rejected.text);
        assert!(rejected.text.contains("|let value21 = 21;"), "{}", rejected.text);
        assert_eq!(dir.read("a.txt"), text);
    }
    // The valid part is applied; a file with another snapshot is resolved by its anchors only.
    let exact =
        json!([{"op": "delete", "path": "a.txt", "anchor": anchor(30, "let value30 = 30;")}]);
    let outcome = with_snapshots(&dir, exact, json!({"a.txt": current}));
    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
    for snapshots in
        [json!({}), json!({"a.txt": current}), json!({"a.txt": current, "./a.txt": other})]
    {
        let outcome = with_snapshots(&dir, mistake("a.txt"), snapshots.clone());
        let Outcome::Applied(applied) = outcome else { panic!("{snapshots}: {outcome:?}") };
        assert_eq!(applied.relocations.len(), 1);
        dir.write("a.txt", text.as_bytes());
        dir.write("a.txt", text.strip_suffix("let value30 = 30;\n").unwrap().as_bytes());
    }
}

#[test]
fn extra_brackets_are_detected_by_parsing_not_by_counting() {
    let content = "function f() {\n  if (a) {\n    s = '}'\n  }\n}\n";
    // The file after an edit of line 3; brackets within strings are balanced, too.
    let edited = |path: &str, text: &str| {
        let dir = Dir::new(&[(path, content)]);
        let applied = dir.applied(json!([{"op": "set_line", "path": path,
            "anchor": anchor(3, "    s = '}'"), "text": text}]));
        (dir.read(path), applied.repairs.len())
    };
    let with = |text: &str| content.replace("    s = '}'", text);
    let (added, exchanged) = ("    s = '}}'\n  }", "    s = ''\n  }");
    assert_eq!(edited("a.js", added), (with("    s = '}}'"), 1));
    assert_eq!(edited("a.js", exchanged), (with("    s = ''"), 1));
    assert_eq!(edited("a.js", "    s = ''\n  } else {\n  }"), (with("    s = ''\n  } else {"), 1));
    assert_eq!(edited("a.txt", exchanged), (with(exchanged), 0));
}

#[test]
fn a_text_that_repeats_its_neighbours_is_refused_with_those_lines() {
    let dir = Dir::new(&[("a.txt", "one();\ntwo();\nthree();\nfour();\nfive();\n")]);
    let range = |verbatim: bool| {
        json!([{"op": "set_line", "path": "a.txt", "anchor": anchor(3, "three();"),
            "text": ["two();", "3();"], "verbatim": verbatim}])
    };
    let rejected = dir.rejected(range(false));
    assert_eq!(rejected.code, Code::RepeatsNeighbours);
    let expected = format!(
        "Repeats neighbours at {three}.\nActual state:\n{}\na.txt: The text of operation 0 begins with line 2, which stays: omit it, or add \"verbatim\": true to repeat it.",
        (1..=4)
            .map(|n| {
                let line = ["one();", "two();", "three();", "four();"][n - 1];
                format!("{}|{line}", anchor(n as u64, line))
            })
            .collect::<Vec<_>>()
            .join("\n"),
        three = anchor(3, "three();")
    );
    assert_eq!(rejected.text, expected);
    assert_eq!(rejected.failures[0].anchor, Some(anchor(3, "three();")));
    dir.applied(range(true));
    assert_eq!(dir.read("a.txt"), "one();\ntwo();\ntwo();\n3();\nfour();\nfive();\n");
    // All problems are reported at once.
    let two = json!([
        {"op": "insert_after", "path": "a.txt", "anchor": anchor(5, "four();"), "text": ["x", "five();"]},
        {"op": "delete", "path": "a.txt", "anchor": "9:00"},
    ]);
    let rejected = dir.rejected(two);
    let codes: Vec<_> = rejected.failures.iter().map(|failure| failure.code).collect();
    assert_eq!(codes, [Code::LineOutOfRange]);
}

#[test]
fn a_checksum_of_changed_lines_is_refused_with_the_lines_and_a_fresh_one() {
    let dir = Dir::new(&[("a.txt", "one\ntwo\nTHREE\nfour\nfive\n")]);
    let checksum =
        |text: &str| hashline_lines::checksum::Checksum::of(1, 4, text.as_bytes()).to_string();
    let range = |checksum: String| {
        json!([{"op": "delete", "path": "a.txt", "start_anchor": anchor(2, "two"),
            "end_anchor": anchor(4, "four"), "checksum": checksum}])
    };
    let rejected = dir.rejected(range(checksum("one\ntwo\nthree\nfour\nfive\n")));
    assert_eq!(rejected.code, Code::HashMismatch);
    let fresh = checksum("one\r\ntwo\r\nTHREE\r\nfour\r\n");
    for part in
        [format!("Checksum mismatch at {}.", anchor(2, "two")), fresh.clone(), anchor(3, "THREE")]
    {
        assert!(rejected.text.contains(&part), "{part}\n{}", rejected.text);
    }
    dir.applied(range(fresh));
    assert_eq!(dir.read("a.txt"), "one\nfive\n");
}

#[test]
fn a_different_indentation_causes_a_warning() {
    let dir = Dir::new(&[("a.txt", "if (x) {\n        total = first + second;\n}\n")]);
    let edit = json!([{"op": "set_line", "path": "a.txt",
        "anchor": anchor(2, "    total = first + second;"), "text": "    total = first - second;"}]);
    let applied = dir.applied(edit);
    let expected = "Operation 0: line 2 was indented by 8 spaces, its new text is indented by 4 spaces: if another process re-indented it since you read it, adjust your text.";
    assert_eq!(applied.warnings.len(), 1);
    assert_eq!(
        (applied.warnings[0].operation, applied.warnings[0].message.as_str()),
        (Some(0), expected)
    );
    assert!(applied.text.ends_with(expected), "{}", applied.text);
}

/// The maximum size of a text in an answer, from docs/protocol.md.
const ANSWER_LIMIT_BYTES: usize = 51_200;

#[test]
fn regression_the_text_of_a_refusal_is_bounded() {
    let wide = format!("{}\n", "x".repeat(1_900)).repeat(2_000);
    let dir = Dir::new(&[("wide.txt", &wide), ("a.txt", "a\n")]);
    let stale =
        |line: usize| json!({"op": "delete", "path": "wide.txt", "anchor": format!("{line}:00")});
    let operations: Vec<Value> = (0..500).map(|at| stale(at * 4 + 1)).collect();
    let rejected = dir.rejected(json!(operations));
    let text = &rejected.text;
    assert!(text.len() < ANSWER_LIMIT_BYTES + 100, "{}", text.len());
    assert!(text.len() > ANSWER_LIMIT_BYTES / 2, "{}", text.len());
    assert!(text.starts_with("Hash mismatch at 1:00.\n"), "{}", &text[..100]);
    // The data has all failures; the text has the number of those it omits.
    assert_eq!(rejected.failures.len(), 500);
    assert_eq!(rejected.remaps.len(), 500);
    let shown = text.matches("Hash mismatch at ").count();
    assert!(text.ends_with(&format!("\n({} more problems are not shown.)", 500 - shown)));
    assert_eq!(dir.rejected(json!(operations)).text, *text);
    // Problems that do not concern a line.
    let path = |at: usize| format!("{at}{}", "p".repeat(200));
    let delete = |at: usize| json!({"op": "delete_file", "path": path(at)});
    let rejected = dir.rejected((0..400).map(delete).collect());
    assert!(rejected.text.len() < ANSWER_LIMIT_BYTES + 100, "{}", rejected.text.len());
    assert!(rejected.text.ends_with(" more problems are not shown.)"));
    // A single problem.
    let long = "p".repeat(100_000);
    let rejected = dir.rejected(json!([{"op": "delete_file", "path": long}]));
    assert!(rejected.text.len() < 10_000, "{}", rejected.text.len());
    let [failure] = rejected.failures.as_slice() else { panic!("{:?}", rejected.failures.len()) };
    assert!(failure.message.len() < 10_000 && failure.path.as_ref().unwrap().len() < 10_000);
    // A single block of many lines whose checksum does not match.
    let (first, last) = (anchor(1, &"x".repeat(1_900)), anchor(150, &"x".repeat(1_900)));
    let range = json!([{"op": "delete", "path": "wide.txt", "start_anchor": first,
        "end_anchor": last, "checksum": "1-150:00000000"}]);
    let rejected = dir.rejected(range);
    assert!(rejected.text.len() < ANSWER_LIMIT_BYTES, "{}", rejected.text.len());
    assert!(rejected.text.contains(" Read the rest from line "), "{}", rejected.code.as_str());
}

#[test]
fn regression_the_text_of_an_answer_is_bounded() {
    let line = "x".repeat(900);
    let content = format!("{line}\n").repeat(16);
    let add =
        |at: usize| json!({"op": "add_file", "path": format!("{at}.txt"), "content": content});
    let dir = Dir::new(&[("a.txt", "a\n"), ("wide.txt", &content.repeat(20))]);
    let applied = dir.applied((0..20).map(add).collect());
    assert!(applied.text.len() < ANSWER_LIMIT_BYTES + 100, "{}", applied.text.len());
    assert_eq!(applied.files.len(), 20);
    let shown = applied.text.matches("--- created, +16\n").count();
    assert!((2..20).contains(&shown), "{shown}");
    let end = format!(
        "more lines of this file are not shown.)\n({} more files are not shown.)",
        20 - shown
    );
    assert!(applied.text.ends_with(&end), "{}", &applied.text[applied.text.len() - 200..]);
    // Adjacent changes in one file, and messages about operations.
    let set = |at: u64| json!({"op": "set_line", "path": "wide.txt", "anchor": anchor(at, &line), "text": format!("{line}{at}")});
    let mut operations: Vec<Value> = (1..=300).map(set).collect();
    operations.extend((1..=2).map(
        |_| json!({"op": "set_line", "path": "a.txt", "anchor": anchor(1, "a"), "text": "a"}),
    ));
    let applied = dir.applied(json!(operations));
    assert!(applied.text.len() < ANSWER_LIMIT_BYTES + 100, "{}", applied.text.len());
    assert!(applied.text.contains(" more lines of this file are not shown.)\n"));
    assert!(applied.text.contains("\nOperation 300 changes nothing."), "{}", applied.noops.len());
}
