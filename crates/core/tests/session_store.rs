//! Sessions that are kept on disk: what one process was shown, another one remembers.

use std::fs;
use std::path::{Path, PathBuf};

use hashline_core::internals::cancel::Cancel;
use hashline_core::internals::edit::apply::{ApplyOptions, Durability};
use hashline_core::internals::edit::outcome::Outcome;
use hashline_core::internals::edit::session::MemoryLimits;
use hashline_core::internals::error::Code;
use hashline_core::internals::view::read::ReadRequest;
use hashline_core::internals::workspace::{
    Session, SessionOptions, StoreOptions, WorkspaceOptions,
};
use serde_json::{Value, json};

struct Scene {
    dir: tempfile::TempDir,
    state: tempfile::TempDir,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Scene {
        let scene =
            Scene { dir: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() };
        for (name, content) in files {
            fs::write(scene.dir.path().join(name), content).unwrap();
        }
        scene
    }

    fn options(&self) -> SessionOptions {
        let text = |path: &Path| Some(path.to_str().unwrap().to_owned());
        SessionOptions {
            workspace: WorkspaceOptions {
                root: text(self.dir.path()),
                state_dir: text(self.state.path()),
                apply: ApplyOptions { durability: Durability::Process, ..ApplyOptions::default() },
                ..WorkspaceOptions::default()
            },
            ..SessionOptions::default()
        }
    }

    /// The session "one", as another process would open it.
    fn open(&self) -> Session {
        self.open_as("one")
    }

    fn open_as(&self, id: &str) -> Session {
        let store = StoreOptions { id: id.into(), dir: None };
        Session::open(self.options(), &store).unwrap()
    }

    /// The files of the store.
    fn stored(&self) -> Vec<PathBuf> {
        let stores = fs::read_dir(self.state.path()).unwrap().map(|entry| entry.unwrap().path());
        let is_store =
            |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("store-");
        let files = stores.filter(is_store).flat_map(|store| fs::read_dir(store).unwrap());
        files.map(|entry| entry.unwrap().path()).collect()
    }

    fn log(&self) -> PathBuf {
        self.stored().into_iter().find(|path| path.ends_with("log")).unwrap()
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.dir.path().join(path)).unwrap()
    }
}

fn read(session: &Session, path: &str) -> Vec<String> {
    let request = ReadRequest { path: path.into(), ..ReadRequest::default() };
    let report = session.read(&session.reading(), &[request], &Cancel::default()).unwrap();
    report.text.lines().map(str::to_owned).collect()
}

fn apply(session: &Session, operations: Value) -> Outcome {
    let patch = json!({"operations": operations}).into();
    session.apply(&session.writing(), &patch, false, 3, &Cancel::default()).unwrap()
}

fn set(anchor: &str, text: &str) -> Value {
    json!([{"op": "set_line", "path": "f", "anchor": anchor, "text": text}])
}

fn numbered(count: u64) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn a_restart_remembers_what_was_shown() {
    let scene = Scene::new(&[("f", &numbered(9))]);
    let rows = read(&scene.open(), "f");
    // Others write it while no process is there.
    fs::write(scene.dir.path().join("f"), format!("new\n{}", numbered(9))).unwrap();
    let later = scene.open();
    assert!(matches!(apply(&later, set(&rows[4], "five")), Outcome::Applied(_)));
    assert_eq!(scene.content("f"), format!("new\n{}", numbered(9).replace("line 5", "five")));
    assert_eq!(later.notes(), Vec::<String>::new());
    // Another id is another session.
    let Outcome::Rejected(rejected) = apply(&scene.open_as("two"), set(&rows[6], "x")) else {
        panic!("it was never shown");
    };
    assert_eq!(rejected.code, Code::NotShown);
}

#[test]
fn open_sessions_learn_from_each_other() {
    let scene = Scene::new(&[("f", &numbered(9))]);
    let (one, other) = (scene.open(), scene.open());
    let rows = read(&one, "f");
    assert!(matches!(apply(&other, set(&rows[0], "first")), Outcome::Applied(_)));
    // The edit of one is an own edit of the other: its lines are exact.
    let insert = json!([{"op": "insert_before", "path": "f", "anchor": rows[0], "text": "x"}]);
    assert!(matches!(apply(&other, insert), Outcome::Rejected(_)));
    let insert = json!([{"op": "insert_after", "path": "f", "anchor": rows[1], "text": "}"}]);
    assert!(matches!(apply(&one, insert.clone()), Outcome::Applied(_)));
    assert!(matches!(apply(&other, insert), Outcome::Applied(_)));
    assert!(matches!(apply(&one, set(&rows[8], "last")), Outcome::Applied(_)));
    let expected = "first\nline 2\n}\n}\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nlast\n";
    assert_eq!(scene.content("f"), expected);
    one.forget(None).unwrap();
    assert!(matches!(apply(&other, set(&rows[5], "x")), Outcome::Rejected(_)));
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let names: Vec<String> = (0..24).map(|at| format!("f{at}")).collect();
    let text = numbered(3);
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), &*text)).collect();
    let scene = Scene::new(&files);
    std::thread::scope(|scope| {
        for part in names.chunks(6) {
            let session = scene.open();
            scope.spawn(move || part.iter().for_each(|name| drop(read(&session, name))));
        }
    });
    let later = scene.open();
    assert_eq!(later.notes(), Vec::<String>::new());
    let rows = read(&Session::new(scene.options()), &names[0]);
    for name in &names {
        let edit = json!([{"op": "set_line", "path": name, "anchor": rows[1], "text": "x"}]);
        assert!(matches!(apply(&later, edit), Outcome::Applied(_)), "{name}");
    }
}

/// A process that is killed leaves a beginning of what it wrote.
#[test]
fn a_process_that_is_killed_loses_at_most_what_it_was_about_to_remember() {
    let scene = Scene::new(&[("f", &numbered(4)), ("g", &numbered(4))]);
    let session = scene.open();
    let rows = read(&session, "f");
    let log = scene.log();
    let before = fs::read(&log).unwrap().len();
    read(&session, "g");
    let whole = fs::read(&log).unwrap();
    let edit =
        |path: &str| json!([{"op": "set_line", "path": path, "anchor": rows[1], "text": "x"}]);
    let reset = || {
        for name in ["f", "g"] {
            fs::write(scene.dir.path().join(name), numbered(4)).unwrap();
        }
    };
    for end in before..=whole.len() {
        reset();
        fs::write(&log, &whole[..end]).unwrap();
        let later = scene.open();
        let knows_g = matches!(apply(&later, edit("g")), Outcome::Applied(_));
        assert_eq!(knows_g, end + 1 > whole.len(), "{end} of {}", whole.len());
        assert!(matches!(apply(&later, edit("f")), Outcome::Applied(_)), "{end}");
    }
}

#[test]
fn damage_is_left_out_and_noted() {
    let scene = Scene::new(&[("f", &numbered(4)), ("g", &numbered(4))]);
    let session = scene.open();
    let rows = read(&session, "f");
    read(&session, "g");
    let log = scene.log();
    let text = fs::read_to_string(&log).unwrap();
    let second = text.lines().nth(1).unwrap();
    fs::write(&log, text.replacen(second, &second.replace("shown", "shewn"), 1)).unwrap();
    let later = scene.open();
    assert_eq!(later.notes(), ["1 damaged records of the session's memory were left out"]);
    assert!(matches!(apply(&later, set(&rows[1], "x")), Outcome::Rejected(_)));
    let edit = json!([{"op": "set_line", "path": "g", "anchor": rows[1], "text": "x"}]);
    assert!(matches!(apply(&later, edit), Outcome::Applied(_)));
    // A text that is gone, or another: what was shown of it holds while the file is unchanged.
    for path in scene.stored().into_iter().filter(|path| !path.ends_with("log")) {
        fs::write(path, "something else").unwrap();
    }
    fs::write(&log, text).unwrap();
    assert!(matches!(apply(&scene.open(), set(&rows[1], "x")), Outcome::Applied(_)));
}

#[test]
fn records_that_outgrow_the_memory_are_replaced_by_it() {
    let scene = Scene::new(&[("f", &numbered(9))]);
    let (one, other) = (scene.open(), scene.open());
    let rows = read(&one, "f");
    apply(&one, set(&rows[0], "first"));
    let gone = scene.dir.path().join("a-name-that-makes-records-long".repeat(6));
    let mut longest = 0;
    for _ in 0..6_000 {
        one.forget(gone.to_str()).unwrap();
        longest = longest.max(fs::metadata(scene.log()).unwrap().len());
    }
    let now = fs::metadata(scene.log()).unwrap().len();
    assert!(longest > (1 << 20) - 1_000 && longest < (1 << 20) + 1_000, "{longest}");
    assert!(now < longest, "{now}");
    // Whoever reads on, and whoever comes later, knows the same.
    assert!(matches!(apply(&other, set(&rows[1], "second")), Outcome::Applied(_)));
    assert!(matches!(apply(&scene.open(), set(&rows[2], "third")), Outcome::Applied(_)));
    assert!(matches!(apply(&one, set(&rows[3], "fourth")), Outcome::Applied(_)));
    let Outcome::Rejected(rejected) = apply(&one, set(&rows[0], "again")) else {
        panic!("the session itself has replaced it");
    };
    assert!(rejected.text.contains("line 1"), "{}", rejected.text);
}

#[test]
fn texts_that_no_record_needs_are_dropped() {
    let scene = Scene::new(&[("f", "")]);
    let limits = MemoryLimits { bytes: 30_000, ..MemoryLimits::default() };
    let options = SessionOptions { memory: limits, ..scene.options() };
    let store = StoreOptions { id: "one".into(), dir: None };
    let session = Session::open(options, &store).unwrap();
    for round in 0..60 {
        fs::write(scene.dir.path().join("f"), format!("{round}\n").repeat(1_000)).unwrap();
        read(&session, "f");
        let bytes: u64 = scene.stored().iter().map(|path| fs::metadata(path).unwrap().len()).sum();
        assert!(bytes < 150_000, "{bytes} bytes");
        assert!(session.memory_bytes() <= limits.bytes);
    }
    assert_eq!(session.notes(), Vec::<String>::new());
}

#[test]
fn a_place_that_cannot_be_written_is_noted_and_calls_go_on() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    let session = scene.open();
    let rows = read(&session, "f");
    let store = scene.log().parent().unwrap().to_owned();
    fs::remove_dir_all(&store).unwrap();
    fs::write(&store, "in the way").unwrap();
    let rows_again = read(&session, "f");
    assert_eq!(rows, rows_again);
    assert!(matches!(apply(&session, set(&rows[1], "x")), Outcome::Applied(_)));
    let notes = session.notes();
    assert!(notes.iter().any(|note| note.contains("was not written")), "{notes:?}");
}

/// The lock can be had, the log cannot be written.
#[test]
fn regression_a_log_that_cannot_be_written_takes_nothing_from_the_memory() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    let session = scene.open();
    let rows = read(&Session::new(scene.options()), "f");
    let store = fs::read_dir(scene.state.path()).unwrap().map(|entry| entry.unwrap().path());
    let store = store.into_iter().find(|path| path.to_str().unwrap().contains("store-")).unwrap();
    fs::create_dir(store.join("log")).unwrap();
    assert_eq!(read(&session, "f"), rows);
    assert!(matches!(apply(&session, set(&rows[1], "x")), Outcome::Applied(_)));
    let notes = session.notes();
    assert!(notes.iter().any(|note| note.contains("was not written")), "{notes:?}");
}

#[test]
fn regression_a_text_over_the_bound_is_not_stored_when_it_is_edited() {
    let scene = Scene::new(&[("f", &numbered(9_000))]);
    let limits = MemoryLimits { bytes: 80_000, ..MemoryLimits::default() };
    let options = SessionOptions { memory: limits, ..scene.options() };
    let store = StoreOptions { id: "one".into(), dir: None };
    let session = Session::open(options, &store).unwrap();
    let rows = read(&session, "f");
    for row in &rows[..4] {
        let outcome = apply(&session, set(row, &format!("edited {row}")));
        assert!(matches!(outcome, Outcome::Applied(_)), "{row}: {outcome:?}");
        let bytes: u64 = scene.stored().iter().map(|path| fs::metadata(path).unwrap().len()).sum();
        assert!(bytes < 30_000, "{bytes} bytes");
    }
}

#[test]
fn ids_are_any_text_on_one_line() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    for id in ["", "a\nb", &"x".repeat(201)] {
        let store = StoreOptions { id: id.into(), dir: None };
        let Err(error) = Session::open(scene.options(), &store) else { panic!("{id:?}") };
        assert_eq!(error.code, Code::InvalidArgument);
    }
    for id in ["../../etc", "a/b", "\u{e4}", "CON", "."] {
        read(&scene.open_as(id), "f");
    }
    let others = fs::read_dir(scene.state.path()).unwrap().count();
    assert!(others >= 5);
}
