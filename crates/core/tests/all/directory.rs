//! Reads of directories: a session lists them, folded to a number of rows.

use std::fs;
use std::path::PathBuf;

use hashline_core::{
    Cancel, Code, DirectoryView, Folding, Limits, ReadReport, ReadRequest, Session, SessionOptions,
    ViewKind, Workspace, WorkspaceOptions,
};

/// A session in a directory with files; a path that ends with a slash is a directory.
fn session(files: &[&str]) -> (tempfile::TempDir, Session) {
    let dir = tempfile::tempdir().unwrap();
    for path in files {
        let full = dir.path().join(path);
        if path.ends_with('/') {
            fs::create_dir_all(full).unwrap();
        } else {
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, "text\n").unwrap();
        }
    }
    let session = Session::in_dir(dir.path()).unwrap();
    (dir, session)
}

fn folded(path: &str, rows: u64) -> ReadRequest {
    ReadRequest { fold: Some(Folding::To(rows)), ..ReadRequest::new(path) }
}

fn directory(report: &ReadReport, at: usize) -> &DirectoryView {
    match &report.views[at].kind {
        ViewKind::Directory(shown) => shown,
        other => panic!("{other:?}"),
    }
}

const FILES: [&str; 8] = [
    "src/core/a.rs",
    "src/core/b.rs",
    "src/lib.rs",
    "docs/guide.md",
    "docs/img/one.png",
    "docs/img/two.png",
    "empty/",
    "README.md",
];

#[test]
fn a_small_directory_is_shown_whole() {
    let (_dir, session) = session(&FILES);
    let report = session.read(".").unwrap();
    insta::assert_snapshot!(report.text, @r"
    docs/
      img/
        one.png
        two.png
      guide.md
    empty/ (0 files)
    src/
      core/
        a.rs
        b.rs
      lib.rs
    README.md
    (7 files)
    ");
    let shown = directory(&report, 0);
    assert_eq!((shown.file_count, shown.partial, shown.truncated), (7, false, false));
    // The view has the rows, the page also the notes.
    assert_eq!(Some(report.views[0].text.as_str()), report.text.strip_suffix("\n(7 files)"));
    assert!(report.next.is_empty());
}

#[test]
fn a_directory_is_folded_to_a_number_of_rows() {
    let (_dir, session) = session(&FILES);
    let texts: Vec<String> =
        [4, 6, 8, 9].map(|rows| session.read(folded("./", rows)).unwrap().text).into();
    insta::assert_snapshot!(texts.join("\n\n"), @r"
    docs/ (3 files)
    empty/ (0 files)
    src/ (3 files)
    README.md
    (7 files. To see more, read a directory in it, or list its files with a search)

    docs/
      img/ (2 files)
      guide.md
    empty/ (0 files)
    src/ (3 files)
    README.md
    (7 files. To see more, read a directory in it, or list its files with a search)

    docs/
      img/ (2 files)
      guide.md
    empty/ (0 files)
    src/
      core/ (2 files)
      lib.rs
    README.md
    (7 files. To see more, read a directory in it, or list its files with a search)

    docs/
      img/ (2 files)
      guide.md
    empty/ (0 files)
    src/
      core/ (2 files)
      lib.rs
    README.md
    (7 files. To see more, read a directory in it, or list its files with a search)
    ");
    for rows in 1..15 {
        let report = session.read(folded(".", rows)).unwrap();
        let view = &report.views[0];
        assert!(view.text.lines().count() as u64 <= rows, "{}", view.text);
        let shown = directory(&report, 0);
        assert_eq!((shown.file_count, shown.truncated), (7, rows < 12), "{rows}");
    }
}

#[test]
fn a_wide_directory_is_cut() {
    let files: Vec<String> = (0..500).map(|number| format!("f{number:03}")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).chain(["zoo/a"]).collect();
    let (_dir, session) = session(&files);
    let report = session.read(".").unwrap();
    let rows: Vec<&str> = report.text.lines().collect();
    assert_eq!((rows.len(), rows[0], rows[1], rows[199]), (201, "zoo/ (1 file)", "f000", "f198"));
    assert!(rows[200].starts_with("(501 files. To see more, "), "{}", rows[200]);
    let limits = Limits { max_lines: Some(3), max_bytes: None };
    let report = session.read(ReadRequest { limits, ..ReadRequest::new(".") }).unwrap();
    assert_eq!(report.views[0].text, "zoo/ (1 file)\nf000\nf001");
    let limits = Limits { max_lines: None, max_bytes: Some(20) };
    let report = session.read(ReadRequest { limits, ..ReadRequest::new(".") }).unwrap();
    assert_eq!(report.views[0].text, "zoo/ (1 file)\nf000");
    assert!(directory(&report, 0).truncated);
}

#[test]
fn the_rules_are_those_of_a_search() {
    let (dir, session) = session(&[
        ".git/config",
        ".github/ci.yml",
        "a.txt",
        "dist/b.js",
        "node_modules/c/index.js",
        "src/d.log",
        "src/e.rs",
    ]);
    fs::write(dir.path().join(".gitignore"), "dist\nnode_modules\n*.log\n").unwrap();
    insta::assert_snapshot!(session.read(".").unwrap().text, @r"
    src/
      e.rs
    a.txt
    (2 files)
    (skipped: 2 ignored directories (dist, node_modules), 1 hidden directory (.github), 1 ignored file, 1 hidden file)
    ");
    // A path that the call names is listed, ignored or hidden.
    for (path, expected) in [
        ("node_modules", "c/\n  index.js\n(1 file)"),
        ("dist/", "b.js\n(1 file)"),
        (".github", "ci.yml\n(1 file)"),
        ("src/../src", "e.rs\n(1 file)\n(skipped: 1 ignored file)"),
    ] {
        assert_eq!(session.read(path).unwrap().text, expected, "{path}");
    }
}

#[test]
fn directories_and_files_of_one_call_have_headers() {
    let (_dir, session) = session(&["a/b.txt", "c.txt", "empty/"]);
    let requests = ["a", "c.txt", "empty", "none"].map(ReadRequest::new);
    let report = session.read_with(&requests, &Cancel::default()).unwrap();
    let (before, after) = report.text.split_once("--- c.txt ---").unwrap();
    assert_eq!(before, "--- a ---\nb.txt\n(1 file)\n");
    let (_, after) = after.split_once("--- empty ---\n").unwrap();
    assert!(after.starts_with("(0 files)\n--- none ---\nFILE_NOT_FOUND: "), "{after}");
    let kinds: Vec<_> = report.views.iter().map(|view| view.kind.as_str()).collect();
    assert_eq!(kinds, ["directory", "text", "directory", "error"]);
}

#[test]
fn what_asks_for_lines_of_a_directory_is_an_error() {
    let (_dir, session) = session(&["a/b.txt"]);
    let search = ReadRequest { search: Some("x".into()), ..ReadRequest::new("a") };
    let open = ReadRequest { open: vec!["1-2".to_owned()], ..ReadRequest::new("a") };
    for request in [search, open] {
        let report = session.read(request).unwrap();
        assert_eq!(report.views[0].error().unwrap().code, Code::NotAFile);
    }
    // A read without a session lists none.
    let options = WorkspaceOptions {
        root: session.options().workspace.root.clone(),
        ..WorkspaceOptions::default()
    };
    assert_eq!(Workspace::new(options).read("a").unwrap_err().code, Code::NotAFile);
}

#[test]
fn documents_are_in_their_directories() {
    let (_dir, session) = session(&["a/b.txt"]);
    session.set_document("a/new/c.txt", "text", None).unwrap();
    assert_eq!(session.read("a").unwrap().text, "new/\n  c.txt\nb.txt\n(2 files)");
    let workspace =
        WorkspaceOptions { root: PathBuf::from("/nowhere").into(), ..WorkspaceOptions::default() };
    let off_disk = Session::new(SessionOptions { disk: false, ..workspace.into() }).unwrap();
    off_disk.set_document("a/b.txt", "text", None).unwrap();
    assert_eq!(off_disk.read(".").unwrap().text, "a/\n  b.txt\n(1 file)");
    assert_eq!(off_disk.read("a").unwrap().text, "b.txt\n(1 file)");
}

#[test]
fn directories_of_read_roots_are_listed() {
    let (outside, _) = session(&["x/y.txt"]);
    let dir = tempfile::tempdir().unwrap();
    let options = SessionOptions {
        read_roots: vec![outside.path().into()],
        ..SessionOptions::in_dir(dir.path())
    };
    let session = Session::new(options).unwrap();
    let path = outside.path().join("x");
    assert_eq!(session.read(path.as_path()).unwrap().text, "y.txt\n(1 file)");
    let above = outside.path().parent().unwrap();
    assert_eq!(session.read(above).unwrap().views[0].error().unwrap().code, Code::OutsideRoot);
}

#[test]
fn a_deep_tree_and_a_hostile_name() {
    let deep = "d/".repeat(300) + "last\nrow.txt";
    let (_dir, session) = session(&[&deep]);
    let report = session.read(".").unwrap();
    assert_eq!(report.views[0].text.lines().count(), 200);
    assert!(report.text.ends_with(
        " (1 file)\n(1 file. To see more, read a directory in it, or list its files with a search)"
    ));
    let path = "d/".repeat(250);
    let report = session.read(folded(&path, u64::MAX)).unwrap();
    assert!(report.views[0].text.ends_with("  last\\nrow.txt"));
}

#[test]
fn many_entries_are_counted_up_to_a_limit() {
    let (dir, session) = session(&["a/deep/x.txt"]);
    for number in 0..100_000 {
        fs::write(dir.path().join("a").join(number.to_string()), "").unwrap();
    }
    let text = session.read(folded(".", 3)).unwrap().text;
    assert_eq!(
        text,
        "a/ (100000+ files)\n(more than 100000 files. To see more, read a directory in it, or list its files with a search)"
    );
    let report = session.read(folded("a", 3)).unwrap();
    assert_eq!(report.views[0].text, "deep/ (0+ files)\n0\n1");
    assert!(directory(&report, 0).partial);
}

#[test]
fn a_cancelled_read_of_a_directory_stops() {
    let (_dir, session) = session(&FILES);
    let requests = [ReadRequest::new(".")];
    let counting = Cancel::counting();
    session.read_with(&requests, &counting).unwrap();
    assert!(counting.checks() > 3);
    for nth in 1..=counting.checks() {
        let read = session.read_with(&requests, &Cancel::at_check(nth));
        assert!(read.is_err_and(|error| error.code == Code::Aborted), "{nth}");
    }
}

#[test]
#[cfg(unix)]
fn directories_that_cannot_be_listed_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, session) =
        session(&["closed/a.txt", "b.txt", "sub/deep/closed/a.txt", "sub/deep/c.txt"]);
    let closed = dir.path().join("closed");
    let below = dir.path().join("sub/deep/closed");
    for closed in [&closed, &below] {
        fs::set_permissions(closed, fs::Permissions::from_mode(0o000)).unwrap();
    }
    if fs::read_dir(&closed).is_ok() {
        return; // The superuser may list it.
    }
    let text = session.read(".").unwrap().text;
    let sub = session.read("./sub/deep").unwrap().text;
    let report = session.read("closed").unwrap();
    for closed in [&closed, &below] {
        fs::set_permissions(closed, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let rows = "closed/ (cannot be read)\nsub/\n  deep/\n    closed/ (cannot be read)\n    c.txt\nb.txt\n(2 files)\n(closed: ";
    assert!(text.starts_with(rows), "{text}");
    assert!(sub.starts_with("closed/ (cannot be read)\nc.txt\n(1 file)\n("), "{sub}");
    assert_eq!(report.views[0].error().unwrap().code, Code::PermissionDenied);
}

#[test]
#[cfg(target_os = "linux")]
fn regression_names_that_are_not_utf8_are_reported() {
    use std::os::unix::ffi::OsStrExt;
    let (dir, session) = session(&["a.txt"]);
    fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"b\xff.txt")), "").unwrap();
    let report = session.read(".").unwrap();
    let message = "b\\xFF.txt: was not searched: its name is not UTF-8, so no path can name it";
    assert_eq!(report.text, format!("a.txt\n(1 file)\n({message})"));
    let warnings = &directory(&report, 0).warnings;
    assert_eq!((warnings.len(), &*warnings[0].message), (1, message));
}
