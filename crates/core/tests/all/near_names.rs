//! Names that are nearly right: paths that do not exist.

use std::fs;

use hashline_core::{Cancel, Code, JsonRequest, Query, SearchQuery, SessionOptions};
use hashline_core::{PatchOptions, ReadRequest, Session, UndoRequest, Workspace};
use hashline_disk::fs::{NEIGHBOURS_LIMIT, OsFileSystem};
use serde_json::{Value, json};

use crate::support::{Project, applied, refused};

/// A project whose files can be in directories.
fn project(files: &[&str]) -> Project {
    let project = Project::new::<str>(&[]);
    for name in files {
        let path = project.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    project
}

/// The message of a read of a path that does not exist.
fn missing(project: &Project, path: &str) -> String {
    let workspace = Workspace::on(&OsFileSystem, &project.options());
    let views = workspace.read_with(&[ReadRequest::new(path)], &Cancel::default()).unwrap();
    let error = views[0].error().unwrap();
    assert_eq!((error.code, error.path.as_deref()), (Code::FileNotFound, Some(path)));
    error.message.to_string()
}

#[test]
fn a_missing_file_names_up_to_three_near_paths() {
    let files = ["lib/README.md", "lib/gro\u{308}ße.txt", "lib/shot\u{202f}1.png"];
    let code = ["lib/parser.rs", "lib/parser.css", "lib/parsers.rs", "lib/parser.ts", "a.txt"];
    let project = project(&[&files[..], &code[..]].concat());
    let cases = [
        ("lib/readme.md", ". Did you mean lib/README.md (another case)?"),
        ("lib/größe.txt", ". Did you mean lib/gro\u{308}ße.txt (another Unicode normalization)?"),
        ("lib/shot 1.png", ". Did you mean lib/shot\u{202f}1.png (another kind of space)?"),
        ("./lib/README", ". Did you mean ./lib/README.md (another extension)?"),
        ("lib/parsr.rs", ". Did you mean lib/parser.rs (one letter differs)?"),
        (
            "lib/parser.rb",
            ". Did you mean lib/parser.rs (one letter differs), lib/parser.css (another extension) or lib/parser.ts (another extension)?",
        ),
        ("lib/other.rs", ""),
        ("b.txt", ""),
        (
            "lbi/parser.rs",
            ". There is no directory lbi. Did you mean lib/parser.rs (one letter differs)?",
        ),
        ("Lib/none.rs", ". There is no directory Lib. Did you mean lib/ (another case)?"),
        ("lib/deep/er/x.rs", ". There is no directory deep in lib"),
    ];
    for (path, note) in cases {
        assert_eq!(missing(&project, path), format!("{path}: no such file{note}"));
    }
}

#[test]
fn edits_searches_and_json_name_near_paths_too() {
    let project = project(&["src/config.json", "src/main.rs"]);
    let note = ". Did you mean src/config.json (another case)?";
    let operation = json!({"op": "delete_file", "path": "src/Config.json"});
    let edit = refused(project.outcome(json!({"operations": [operation]})));
    assert!(edit.failures[0].message.ends_with(note), "{}", edit.text);
    let operation = json!({"op": "move_file", "from": "src/Config.json", "to": "src/b.json"});
    let edit = refused(project.outcome(json!({"operations": [operation]})));
    assert!(edit.text.contains(note), "{}", edit.text);
    let workspace = Workspace::on(&OsFileSystem, &project.options());
    let request = JsonRequest::new("src/Config.json");
    let error = workspace.read_json(&request, &Cancel::default()).unwrap_err();
    assert!(error.message.ends_with(note), "{error}");
    let query =
        Query { search: "x".to_owned(), regex: false, case_sensitive: true, ..Query::default() };
    let paths = vec!["SRC/".into(), "src/mian.rs".into()];
    let query = SearchQuery { paths, ..SearchQuery::new(query) };
    let found = workspace.search(query).unwrap();
    let messages: Vec<String> =
        found.errors.iter().map(|error| error.message.to_string()).collect();
    assert_eq!(
        messages,
        [
            "SRC/: no such file. Did you mean src/ (another case)?",
            "src/mian.rs: no such file. Did you mean src/main.rs (one letter differs)?",
        ]
    );
}

#[test]
fn a_document_is_a_near_name_and_without_a_disk_no_file_is() {
    let project = project(&["src/parser.rs"]);
    let options = SessionOptions { workspace: project.options(), ..SessionOptions::default() };
    let session = Session::new(options).unwrap();
    session.set_document("src/reader.rs", "x\n", None).unwrap();
    let read = |session: &Session, path: &str| session.read(path).unwrap().text;
    let text = read(&session, "src/raeder.rs");
    assert!(text.ends_with(". Did you mean src/reader.rs (one letter differs)?"), "{text}");
    let text = read(&session, "src/parsers.rs");
    assert!(text.ends_with(". Did you mean src/parser.rs (one letter differs)?"), "{text}");
    let options =
        SessionOptions { workspace: project.options(), disk: false, ..SessionOptions::default() };
    let session = Session::new(options).unwrap();
    session.set_document("src/reader.rs", "x\n", None).unwrap();
    assert!(read(&session, "src/parsers.rs").ends_with("no such file"));
    let text = read(&session, "scr/reader.rs");
    let note = ". There is no directory scr. Did you mean src/reader.rs (one letter differs)?";
    assert!(text.ends_with(note), "{text}");
}

#[test]
fn a_large_directory_is_listed_only_in_part() {
    let project = project(&[]);
    let root = project.dir.path().to_owned();
    let many = NEIGHBOURS_LIMIT + 16_000;
    for at in 0..many {
        fs::File::create(root.join(format!("entry-{at}.txt"))).unwrap();
    }
    let base = hashline_disk::fs::Base::open(root.to_str()).unwrap();
    let neighbours = base.neighbours("entry.txt").unwrap();
    assert_eq!(neighbours.entries.len(), NEIGHBOURS_LIMIT);
    // All of them have this name with another extension, and three are named.
    let message = missing(&project, "entry-1.tx");
    assert!(message.matches(" (").count() <= 3, "{message}");
}

#[test]
fn regression_the_name_itself_in_another_form_is_found_in_a_directory_of_any_size() {
    let project = project(&[]);
    let root = project.dir.path().to_owned();
    let many = 2 * NEIGHBOURS_LIMIT;
    for at in 0..many {
        fs::File::create(root.join(format!("Größe {at}.txt"))).unwrap();
    }
    fs::create_dir(root.join("in-memory")).unwrap();
    let documents = project.session(&[]);
    for at in 0..many {
        documents.set_document(format!("in-memory/Größe {at}.txt"), "", None).unwrap();
    }
    // Whatever the order of the entries is, most of these are listed last.
    for at in (0..many).step_by(1_000) {
        let plain = format!("größe {at}.txt");
        if root.join(&plain).exists() {
            return;
        }
        let found = |other: &str, noun: &str| {
            let message = missing(&project, other);
            let expected = format!("Did you mean Größe {at}.txt ({noun})");
            assert!(message.contains(&expected), "{message}");
        };
        found(&plain, "another case");
        found(&format!("Gro\u{308}ße {at}.txt"), "another Unicode normalization");
        found(&format!("Größe\u{a0}{at}.txt"), "another kind of space");
        let request = ReadRequest::new(format!("in-memory/{plain}"));
        let text = documents.read(request).unwrap().text;
        let expected = format!("Did you mean in-memory/Größe {at}.txt (another case)");
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn a_call_names_near_paths_for_few_missing_files() {
    let project = project(&["parser.rs"]);
    let session = project.session(&[]);
    let requests: Vec<_> = (0..50).map(|at| ReadRequest::new(format!("parser.{at}"))).collect();
    let report = session.read_with(&requests, &Cancel::default()).unwrap();
    assert_eq!(report.text.matches("Did you mean").count(), 8, "{}", report.text);
}

#[test]
fn nothing_outside_the_root_is_named() {
    let project = project(&["in/parser.rs", "parsers.rs"]);
    let mut options = project.options();
    options.root = project.dir.path().join("in").into();
    let workspace = Workspace::on(&OsFileSystem, &options);
    for path in ["../parser.rs", "../none/parser.rs"] {
        let views = workspace.read_with(&[ReadRequest::new(path)], &Cancel::default()).unwrap();
        let error = views[0].error().unwrap();
        assert_eq!(error.code, Code::OutsideRoot);
        assert!(!error.message.contains("Did you mean"), "{error}");
    }
}

fn add(path: &str) -> Value {
    json!({"op": "add_file", "path": path, "content": "new\n"})
}

fn verbatim(mut operation: Value) -> Value {
    operation["verbatim"] = true.into();
    operation
}

/// Whether the names are two files here, and not on a file system that ignores case or normalization.
fn are_two(project: &Project, one: &str, other: &str) -> bool {
    project.exists(one) && !project.exists(other)
}

#[test]
fn a_new_name_that_only_looks_different_is_refused() {
    let project = project(&["src/README.md", "src/gro\u{308}ße.txt", "a.txt"]);
    if !are_two(&project, "src/README.md", "src/readme.md") {
        return;
    }
    let moved = |to: &str| json!({"op": "move_file", "from": "a.txt", "to": to});
    let copied =
        json!({"op": "move_lines", "path": "a.txt", "anchor": "1:00", "to": "src/Readme.md"});
    let cases = [
        (
            add("src/readme.md"),
            "src/readme.md differs from src/README.md, which exists, only by case",
        ),
        (add("src/größe.txt"), ", which exists, only by Unicode normalization"),
        (add("src/GRÖßE.txt"), ", which exists, only by case"),
        (moved("src/readme.md"), "src/readme.md differs from src/README.md"),
        (add("SRC/deep/new.txt"), "SRC differs from src, which exists, only by case"),
        (copied, "src/Readme.md differs from src/README.md"),
    ];
    for (operation, message) in cases {
        let edit = refused(project.outcome(json!({"operations": [operation]})));
        let found = edit.failures.iter().find(|failure| failure.code == Code::FileExists);
        assert!(found.is_some_and(|failure| failure.message.contains(message)), "{}", edit.text);
        assert!(edit.text.contains("set verbatim to have both"), "{}", edit.text);
    }
    assert!(!project.exists("src/readme.md"));
}

#[test]
fn similar_names_are_allowed_where_they_are_meant() {
    let project = project(&["README.md", "a.txt", "A.txt", "Name.txt"]);
    if !are_two(&project, "README.md", "readme.md") {
        return;
    }
    let apply = |operations: &[Value]| applied(project.outcome(json!({"operations": operations})));
    // Only the spelling changes, or the patch frees the other name.
    apply(&[json!({"op": "move_file", "from": "Name.txt", "to": "name.txt"})]);
    apply(&[json!({"op": "delete_file", "path": "README.md"}), add("Readme.md")]);
    apply(&[json!({"op": "move_file", "from": "Readme.md", "to": "b.md"}), add("README.md")]);
    // Both are meant.
    apply(&[verbatim(add("readme.md"))]);
    assert!(project.exists("README.md") && project.exists("readme.md"));
    // Two files that differ by case already are edited, replaced and moved like others.
    apply(&[json!({"op": "move_file", "from": "a.txt", "to": "c.txt"})]);
    apply(&[json!({"op": "delete_file", "path": "README.md"}), add("README.md")]);
}

#[test]
fn undoing_a_patch_puts_back_a_name_that_looks_like_another_one() {
    let project = project(&["a.txt", "A.txt"]);
    if project.dir.path().read_dir().unwrap().count() < 2 {
        return;
    }
    let session = project.session(&["a.txt", "A.txt"]);
    let operations = json!([
        {"op": "delete_file", "path": "a.txt"},
        {"op": "move_file", "from": "A.txt", "to": "b.txt"},
    ]);
    applied(session.apply(json!({"operations": operations})).unwrap());
    for undone in
        session.undo(&UndoRequest::default(), &PatchOptions::default(), &Cancel::default()).unwrap()
    {
        applied(undone);
    }
    assert!(project.exists("a.txt") && project.exists("A.txt") && !project.exists("b.txt"));
}

#[test]
fn a_new_document_may_not_look_like_a_file() {
    let project = project(&["src/Parser.rs"]);
    let options =
        SessionOptions { workspace: project.options(), disk: false, ..SessionOptions::default() };
    let session = Session::new(options).unwrap();
    let outcome = session.apply(json!({"operations": [add("src/parser.rs")]})).unwrap();
    applied(outcome);
    let edit = refused(session.apply(json!({"operations": [add("src/Parser.rs")]})).unwrap());
    assert_eq!(edit.code, Code::FileExists);
}

#[test]
fn regression_a_name_in_a_large_directory_is_compared_with_all() {
    let project = project(&[]);
    let many = NEIGHBOURS_LIMIT + 1_000;
    for at in 0..many {
        fs::File::create(project.dir.path().join(format!("entry-{at}.txt"))).unwrap();
    }
    if !are_two(&project, "entry-1.txt", "Entry-1.txt") {
        return;
    }
    applied(project.outcome(json!({"operations": [add("new.txt")]})));
    // Whatever the order of the entries is, some of these are listed last.
    let all: Vec<Value> = (0..many).map(|at| add(&format!("Entry-{at}.txt"))).collect();
    let edit = refused(project.outcome(json!({"operations": all})));
    assert!(edit.failures.iter().all(|failure| failure.code == Code::FileExists));
    assert_eq!(edit.failures.len(), many);
}

#[test]
fn regression_new_names_of_one_patch_that_only_look_different_are_refused() {
    let project = project(&["a.txt", "src/b.txt"]);
    let moved = |to: &str| json!({"op": "move_file", "from": "a.txt", "to": to});
    for (operations, message) in [
        (
            [add("Name.txt"), add("name.txt")],
            "operation 1: name.txt differs from Name.txt, which operation 0 adds, only by case: ",
        ),
        (
            [add("src/größe"), add("src/gro\u{308}ße")],
            ", which operation 0 adds, only by Unicode normalization",
        ),
        ([add("N.txt"), moved("n.txt")], "n.txt differs from N.txt, which operation 0 adds"),
        ([add("new/a.txt"), add("New/b.txt")], "New differs from new, which operation 0 adds"),
        ([add("x/y/a"), add("x/Y/a")], "x/Y differs from x/y, which operation 0 adds"),
        ([verbatim(add("x/y/a")), add("x/y/A")], "x/y/A differs from x/y/a, which operation 0"),
    ] {
        let edit = refused(project.outcome(json!({"operations": operations})));
        let found = edit.failures.iter().find(|failure| failure.code == Code::FileExists);
        assert!(found.is_some_and(|failure| failure.message.contains(message)), "{}", edit.text);
    }
    assert!(!project.exists("Name.txt") && !project.exists("x"));
    if are_two(&project, "a.txt", "A.txt") {
        let both = [add("Name.txt"), verbatim(add("name.txt")), add("x/y/a"), add("x/y/b")];
        applied(project.outcome(json!({"operations": both})));
    }
}

#[test]
fn a_cancelled_comparison_with_a_large_directory_stops() {
    let project = project(&[]);
    for at in 0..3_000 {
        fs::File::create(project.dir.path().join(format!("entry-{at}.txt"))).unwrap();
    }
    let workspace = Workspace::on(&OsFileSystem, &project.options());
    let patch = json!({"operations": [add("new.txt")]}).into();
    let apply = |cancel: &Cancel| workspace.apply_with(&patch, &PatchOptions::default(), cancel);
    let counting = Cancel::counting();
    let dry = PatchOptions { dry_run: true, ..PatchOptions::default() };
    workspace.apply_with(&patch, &dry, &counting).unwrap();
    for nth in 1..=counting.checks() {
        let outcome = apply(&Cancel::at_check(nth));
        assert!(outcome.is_err_and(|error| error.code == Code::Aborted), "{nth}");
        assert!(!project.exists("new.txt"));
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use crate::support::make_fifo;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn hostile_names_are_skipped_or_shown_on_one_line() {
        let project = project(&["parser\n1:ab|x.rs", "target.rs"]);
        let root = project.dir.path().to_owned();
        fs::write(root.join(OsStr::from_bytes(b"pars\xffer.rs")), "").unwrap();
        make_fifo(&root.join("parser.fifo"));
        fs::create_dir(root.join("parsers.rs")).unwrap();
        symlink("target.rs", root.join("parser.link")).unwrap();
        symlink("/", root.join("parser.root")).unwrap();
        let message = missing(&project, "parser.rs");
        assert_eq!(
            message,
            "parser.rs: no such file. Did you mean parsers.rs/ (one letter differs), parser.link (another extension) or parser.root (another extension)?"
        );
        let message = missing(&project, "parser 1:ab|x.rs");
        assert!(!message.contains('\n'), "{message}");
        let message = missing(&project, "parser\t1:ab|x.rs");
        let note = r". Did you mean parser\n1:ab|x.rs (one letter differs)?";
        assert!(message.ends_with(note), "{message}");
        // Beyond a link that leads out of the root, nothing is listed.
        let workspace = Workspace::on(&OsFileSystem, &project.options());
        let outside = [ReadRequest::new("parser.root/etcc")];
        let views = workspace.read_with(&outside, &Cancel::default()).unwrap();
        assert_eq!(views[0].error().unwrap().code, Code::OutsideRoot);
    }

    #[test]
    fn a_directory_that_cannot_be_listed_names_nothing() {
        let project = project(&["closed/parser.rs"]);
        let closed = project.dir.path().to_owned().join("closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o100)).unwrap();
        let can_list = fs::read_dir(&closed).is_ok();
        let message = missing(&project, "closed/parsers.rs");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(can_list || message.ends_with("no such file"), "{message}");
    }
}
