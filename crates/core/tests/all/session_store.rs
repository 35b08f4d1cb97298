//! Stored sessions: what one process was shown, another one remembers.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::stride;
use hashline_base::error::{Code, Term};
use hashline_core::Cancel;
use hashline_core::MemoryLimits;
use hashline_core::Outcome;
use hashline_core::PatchOptions;
use hashline_core::ReadRequest;
use hashline_core::{ApplyOptions, Durability};
use hashline_core::{Session, SessionOptions, StoreOptions, WorkspaceOptions};
use hashline_disk::bytes::snapshot;
use hashline_disk::commit::StateDir;
use hashline_disk::fs::{Directory, FileSystem, NewAccess, OsFileSystem, Place, Rights, Stamp};
use hashline_disk::records::{RecordStore, StoreLock};
use hashline_lines::anchor::Edition;
use hashline_lines::dialect::Dialect;
use hashline_memory::{LineSet, MemoryUpdate, SessionMemory};
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
        SessionOptions {
            workspace: WorkspaceOptions {
                root: self.dir.path().into(),
                state_dir: Some(self.state.path().into()),
                apply: ApplyOptions { durability: Durability::Process, ..ApplyOptions::default() },
                ..WorkspaceOptions::default()
            },
            ..SessionOptions::default()
        }
    }

    /// Opens the session "one", as another process would.
    fn open(&self) -> Arc<Session> {
        self.open_as("one")
    }

    /// Opens the session "one" with another memory limit.
    fn open_within(&self, bytes: usize) -> Session {
        let memory = MemoryLimits { bytes, ..MemoryLimits::default() };
        let options = SessionOptions { memory, ..self.options() };
        Session::open(options, &StoreOptions { id: "one".into(), dir: None }).unwrap()
    }

    /// The records of the session "one".
    fn records(&self, fs: &'static dyn FileSystem) -> RecordStore {
        let state = StateDir::new(self.state.path().to_str()).unwrap();
        RecordStore::open(fs, state, &snapshot(b"one")).unwrap()
    }

    /// The lock that another process would hold while it writes.
    fn lock(&self) -> StoreLock {
        self.records(&OsFileSystem).lock()
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.dir.path().join(name), content).unwrap();
    }

    fn open_as(&self, id: &str) -> Arc<Session> {
        let store = StoreOptions { id: id.into(), dir: None };
        Arc::new(Session::open(self.options(), &store).unwrap())
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
    let report = session.read_with(&[request], &Cancel::default()).unwrap();
    report.text.lines().map(str::to_owned).collect()
}

fn apply(session: &Session, operations: Value) -> Outcome {
    let patch = json!({"operations": operations}).into();
    session.apply(&patch).unwrap()
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
    // Other processes write the file while no session is open.
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
fn open_sessions_share_their_memory() {
    let scene = Scene::new(&[("f", &numbered(9))]);
    let (one, other) = (scene.open(), scene.open());
    let rows = read(&one, "f");
    assert!(matches!(apply(&other, set(&rows[0], "first")), Outcome::Applied(_)));
    // An edit in one process is known exactly in the other.
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
fn concurrent_writers_lose_nothing() {
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
    let rows = read(&Session::new(scene.options()).unwrap(), &names[0]);
    for name in &names {
        let edit = json!([{"op": "set_line", "path": name, "anchor": rows[1], "text": "x"}]);
        assert!(matches!(apply(&later, edit), Outcome::Applied(_)), "{name}");
    }
}

/// A killed process leaves an incomplete record.
#[test]
fn a_killed_process_loses_at_most_its_last_record() {
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
    for end in (before..whole.len()).step_by(stride()).chain([whole.len()]) {
        reset();
        fs::write(&log, &whole[..end]).unwrap();
        let later = scene.open();
        let knows_g = matches!(apply(&later, edit("g")), Outcome::Applied(_));
        assert_eq!(knows_g, end + 1 > whole.len(), "{end} of {}", whole.len());
        assert!(matches!(apply(&later, edit("f")), Outcome::Applied(_)), "{end}");
    }
}

#[test]
fn damaged_records_are_skipped_and_noted() {
    let scene = Scene::new(&[("f", &numbered(4)), ("g", &numbered(4))]);
    let session = scene.open();
    let rows = read(&session, "f");
    read(&session, "g");
    let log = scene.log();
    let text = fs::read_to_string(&log).unwrap();
    let first = text.lines().find(|line| line.contains("shown")).unwrap();
    fs::write(&log, text.replacen(first, &first.replace("shown", "shewn"), 1)).unwrap();
    let later = scene.open();
    assert_eq!(later.notes(), ["1 damaged record of the session's memory was skipped"]);
    assert!(matches!(apply(&later, set(&rows[1], "x")), Outcome::Rejected(_)));
    let edit = json!([{"op": "set_line", "path": "g", "anchor": rows[1], "text": "x"}]);
    assert!(matches!(apply(&later, edit), Outcome::Applied(_)));
    // The stored text is damaged: what was shown of it stays valid while the file is unchanged.
    for path in scene.stored().into_iter().filter(|path| !path.ends_with("log")) {
        fs::write(path, "something else").unwrap();
    }
    fs::write(&log, text).unwrap();
    let later = scene.open();
    let notes = later.notes();
    assert!(notes[0].contains("damaged text"), "{notes:?}");
    assert!(matches!(apply(&later, set(&rows[1], "x")), Outcome::Applied(_)));
}

fn memory_in(records: RecordStore, limits: MemoryLimits) -> SessionMemory {
    SessionMemory::kept_in(records, limits, Dialect::default_dialect())
}

#[test]
fn records_larger_than_the_memory_are_compacted() {
    let scene = Scene::new(&[("f", &numbered(9))]);
    let (one, other) = (scene.open(), scene.open());
    let rows = read(&one, "f");
    apply(&one, set(&rows[0], "first"));
    let keeper = memory_in(scene.records(&OsFileSystem), MemoryLimits::default());
    let gone = scene.dir.path().join("a-name-that-makes-records-long".repeat(60));
    let mut longest = 0;
    for _ in 0..600 {
        keeper.learn(
            vec![MemoryUpdate::Forgotten { file: gone.clone(), keeps_undo: false }],
            &Cancel::default(),
        );
        longest = longest.max(fs::metadata(scene.log()).unwrap().len());
    }
    let now = fs::metadata(scene.log()).unwrap().len();
    assert!(longest > (1 << 20) - 4_000 && longest < (1 << 20) + 4_000, "{longest}");
    assert!(now < longest, "{now}");
    // A process that continues to read and one that opens the store later know the same.
    assert!(matches!(apply(&other, set(&rows[1], "second")), Outcome::Applied(_)));
    assert!(matches!(apply(&scene.open(), set(&rows[2], "third")), Outcome::Applied(_)));
    assert!(matches!(apply(&one, set(&rows[3], "fourth")), Outcome::Applied(_)));
    let Outcome::Rejected(rejected) = apply(&one, set(&rows[0], "again")) else {
        panic!("the session itself has replaced it");
    };
    assert!(rejected.text.contains("line 1"), "{}", rejected.text);
}

#[test]
fn unreferenced_texts_are_removed() {
    let scene = Scene::new(&[("f", "")]);
    let limits = MemoryLimits { bytes: 30_000, ..MemoryLimits::default() };
    let options = SessionOptions { memory: limits, ..scene.options() };
    let store = StoreOptions { id: "one".into(), dir: None };
    for round in 0..60 {
        // Each round acts as a new process, which has not seen the records of the others.
        let session = Session::open(options.clone(), &store).unwrap();
        fs::write(scene.dir.path().join("f"), format!("{round}\n").repeat(1_000)).unwrap();
        read(&session, "f");
        let bytes: u64 = scene.stored().iter().map(|path| fs::metadata(path).unwrap().len()).sum();
        assert!(bytes < 150_000, "{bytes} bytes");
        assert!(session.memory_bytes() <= limits.bytes);
        assert_eq!(session.notes(), Vec::<String>::new());
    }
}

#[test]
fn an_unwritable_store_is_noted_and_calls_continue() {
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
    assert!(notes.iter().any(|note| note.contains("could not be written")), "{notes:?}");
    // When the store can be written again, it is.
    fs::remove_file(&store).unwrap();
    scene.write("g", &numbered(4));
    read(&session, "g");
    let edit = json!([{"op": "set_line", "path": "g", "anchor": rows[2], "text": "x"}]);
    assert!(matches!(apply(&scene.open(), edit), Outcome::Applied(_)));
}

/// The lock can be taken, but the log cannot be written.
#[test]
fn regression_an_unwritable_log_does_not_affect_the_memory() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    let session = scene.open();
    let rows = read(&Session::new(scene.options()).unwrap(), "f");
    let store = fs::read_dir(scene.state.path()).unwrap().map(|entry| entry.unwrap().path());
    let store = store.into_iter().find(|path| path.to_str().unwrap().contains("store-")).unwrap();
    fs::create_dir(store.join("log")).unwrap();
    assert_eq!(read(&session, "f"), rows);
    assert!(matches!(apply(&session, set(&rows[1], "x")), Outcome::Applied(_)));
    let notes = session.notes();
    assert!(notes.iter().any(|note| note.contains("could not be written")), "{notes:?}");
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

#[cfg(target_os = "linux")]
#[test]
fn regression_stored_sessions_keep_no_file_open() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    let sessions: Vec<_> = (0..8).map(|at| scene.open_as(&at.to_string())).collect();
    for session in &sessions {
        let rows = read(session, "f");
        apply(session, set(&rows[1], "x"));
    }
    let state = scene.state.path().canonicalize().unwrap();
    let open = fs::read_dir("/proc/self/fd").unwrap();
    let open = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    let open: Vec<PathBuf> = open.filter(|path| path.starts_with(&state)).collect();
    assert_eq!(open, Vec::<PathBuf>::new());
}

/// The real file system, recording flushes, renames and removals.
#[derive(Default)]
struct RecordingFs {
    read_bytes: AtomicU64,
    /// The flushes, renames and removals.
    steps: Mutex<Vec<String>>,
    /// Whether the next write stops halfway.
    is_full: AtomicBool,
}

impl RecordingFs {
    fn new() -> &'static RecordingFs {
        Box::leak(Box::default())
    }

    fn step(&self, step: String) {
        self.steps.lock().unwrap().push(step);
    }
}

macro_rules! passed_on {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> io::Result<$result> {
            OsFileSystem.$name($($argument),*)
        })*
    };
}

impl FileSystem for RecordingFs {
    fn read(&self, file: &mut File, limit_bytes: u64, out: &mut Vec<u8>) -> io::Result<()> {
        let before = out.len();
        let read = OsFileSystem.read(file, limit_bytes, out);
        self.read_bytes.fetch_add((out.len() - before) as u64, Ordering::Relaxed);
        read
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if self.is_full.swap(false, Ordering::Relaxed) {
            OsFileSystem.write(file, &bytes[..bytes.len() / 2])?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        OsFileSystem.write(file, bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.step("sync".into());
        OsFileSystem.sync(file)
    }

    fn rename(&self, from: &Place, to: &Place) -> io::Result<()> {
        let name = |place: &Place| place.canonical().file_name().unwrap().to_owned();
        self.step(format!("rename {} {}", name(from).display(), name(to).display()));
        OsFileSystem.rename(from, to)
    }

    passed_on! {
        open(place: &Place) -> File;
        open_state(place: &Place) -> File;
        open_for_rewrite(place: &Place) -> File;
        create_new(place: &Place, access: NewAccess) -> File;
        stamp(place: &Place) -> Stamp;
        stamp_of(file: &File) -> Stamp;
        seek(file: &mut File, offset_bytes: u64) -> ();
        set_len(file: &File, len_bytes: u64) -> ();
        copy_attributes(file: &File, model: &File, stamp: &Stamp) -> ();
        rights(file: &File) -> Option<Rights>;
        set_rights(file: &File, rights: Rights) -> ();
        sync_dir(place: &Place) -> ();
        rename_new(from: &Place, to: &Place) -> ();
        exchange(one: &Place, other: &Place) -> ();
        link(from: &Place, to: &Place) -> ();
        copy_link(from: &Place, to: &Place) -> ();
        read_link(place: &Place) -> PathBuf;
        unlink(place: &Place) -> ();
        make_dir(place: &Place, access: NewAccess) -> ();
        remove_dir(place: &Place) -> ();
        may_write(place: &Place) -> bool;
        canonicalize(path: &Path) -> PathBuf;
        open_dir_at(path: &Path) -> Directory;
        open_dir(place: &Place) -> Directory;
        stamp_of_dir(directory: &Directory) -> Stamp;
        list(directory: &Directory) -> Vec<OsString>;
        open_lock(place: &Place) -> File;
        lock(file: &File) -> ();
        try_lock(file: &File) -> bool;
        duplicate(file: &File) -> File;
        mount(place: &Place) -> Option<u64>;
        may_replace(place: &Place, stamp: &Stamp) -> bool;
    }
}

#[test]
fn regression_opening_a_store_reads_each_text_once() {
    let scene = Scene::new(&[("f", &numbered(20_000))]);
    let session = scene.open();
    for _ in 0..12 {
        read(&session, "f");
    }
    let watched = RecordingFs::new();
    let memory = memory_in(scene.records(watched), MemoryLimits::default());
    assert!(memory.bytes() > 200_000);
    let text_bytes = numbered(20_000).len() as u64;
    let read_bytes = watched.read_bytes.load(Ordering::Relaxed);
    assert!((text_bytes..text_bytes * 3 / 2).contains(&read_bytes), "{read_bytes} bytes");
    // Of the versions created by own edits, the first and the last are needed, and those from which
    // an edit removed lines that were shown.
    let rows = read(&session, "f");
    for row in &rows[..6] {
        let insert = json!([{"op": "insert_after", "path": "f", "anchor": row, "text": "new"}]);
        assert!(matches!(apply(&session, insert), Outcome::Applied(_)));
    }
    watched.read_bytes.store(0, Ordering::Relaxed);
    let memory = memory_in(scene.records(watched), MemoryLimits::default());
    assert!(memory.bytes() > 400_000);
    let read_bytes = watched.read_bytes.load(Ordering::Relaxed);
    assert!((2 * text_bytes..text_bytes * 5 / 2).contains(&read_bytes), "{read_bytes} bytes");
}

/// The number of cancellation checks of a read.
fn checks_of_a_read(scene: &Scene) -> u64 {
    let (session, cancel) = (scene.open_as("other"), Cancel::counting());
    let request = ReadRequest { path: "f".into(), ..ReadRequest::default() };
    session.read_with(&[request], &cancel).unwrap();
    cancel.checks()
}

#[test]
fn regression_a_call_that_waits_for_another_process_can_be_cancelled() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    let of_a_read = checks_of_a_read(&scene);
    let session = scene.open();
    let held = scene.lock().take(Duration::from_secs(60), &Cancel::default()).unwrap();
    let request = ReadRequest { path: "f".into(), ..ReadRequest::default() };
    let cancel = Cancel::at_check(of_a_read + 3);
    let error = session.read_with(&[request], &cancel).unwrap_err();
    assert_eq!(error.code, Code::Aborted);
    drop(held);
    // What it would have shown was not shown.
    let rows = read(&Session::new(scene.options()).unwrap(), "f");
    assert!(matches!(apply(&session, set(&rows[1], "x")), Outcome::Rejected(_)));
}

#[test]
fn regression_no_call_waits_for_one_that_waits_for_another_process() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    let of_a_read = checks_of_a_read(&scene);
    let session = scene.open();
    let held = scene.lock().take(Duration::from_secs(60), &Cancel::default()).unwrap();
    let (cancel, turn) = (Cancel::counting(), session.reading());
    std::thread::scope(|scope| {
        let request = ReadRequest { path: "f".into(), ..ReadRequest::default() };
        let reader = scope.spawn(|| turn.read(&[request], &cancel).unwrap());
        // Further checks happen while it waits, for up to two seconds.
        while cancel.checks() < of_a_read + 2 {
            std::thread::yield_now();
        }
        // If these waited for the call, it would time out first.
        drop((session.writing(), session.reading(), session.fork()));
        let notes = session.notes();
        drop(held);
        let rows = reader.join().unwrap().text;
        let rows: Vec<&str> = rows.lines().collect();
        assert_eq!(notes, Vec::<String>::new());
        assert_eq!(session.notes(), Vec::<String>::new());
        assert!(matches!(apply(&scene.open(), set(rows[1], "x")), Outcome::Applied(_)));
    });
}

#[test]
fn regression_calls_queued_together_refer_to_lines_that_other_processes_showed_before() {
    let scene = Scene::new(&[("f", &numbered(4)), ("g", &numbered(4))]);
    let (one, other) = (scene.open(), scene.open());
    let rows = read(&other, "f");
    read(&other, "g");
    let (first, second) = (one.writing(), one.writing());
    for (turn, path) in [(first, "f"), (second, "g")] {
        let edit = json!([{"op": "set_line", "path": path, "anchor": rows[1], "text": "x"}]);
        let patch = json!({"operations": edit}).into();
        let outcome = turn.apply(&patch, &PatchOptions::default(), &Cancel::default()).unwrap();
        assert!(matches!(outcome, Outcome::Applied(_)), "{path}: {outcome:?}");
    }
}

fn line_of(record: &str) -> String {
    format!("{} {record}\n", snapshot(record.as_bytes()))
}

/// Replaces the `at`th number of a record by `to`; returns false if there are fewer.
fn put_number(value: &mut Value, at: &mut usize, to: u64) -> bool {
    match value {
        Value::Number(_) if *at == 0 => {
            *value = to.into();
            true
        }
        Value::Number(_) => {
            *at -= 1;
            false
        }
        Value::Array(values) => values.iter_mut().any(|one| put_number(one, at, to)),
        Value::Object(values) => values.values_mut().any(|one| put_number(one, at, to)),
        _ => false,
    }
}

/// A faulty program can write impossible numbers with valid checksums.
#[test]
fn regression_impossible_numbers_are_treated_as_damage() {
    let scene = Scene::new(&[("f", &numbered(9)), ("g", &numbered(9))]);
    let session = scene.open_within(4_000);
    let rows = read(&session, "f");
    read(&session, "g");
    apply(&session, set(&rows[3], "four"));
    apply(&session, set(&rows[5], "six\nand a half"));
    let log = scene.log();
    let with_updates = fs::read_to_string(&log).unwrap();
    // A snapshot of the memory then replaces the updates.
    let pages = (0..40).map(|page| format!("{page}{}", "x".repeat(300)));
    for page in pages {
        scene.write("h", &page);
        read(&session, "h");
        apply(&session, set(&rows[7], &page[..9]));
    }
    let as_a_whole = fs::read_to_string(&log).unwrap();
    assert!(as_a_whole.contains("\"memory\":"), "{as_a_whole}");
    let content = scene.content("f");
    let mut mutations = 0;
    for text in [with_updates, as_a_whole] {
        let records: Vec<&str> = text.lines().map(|line| &line[33..]).collect();
        let is_whole = text.contains("\"memory\":");
        for (changed, record) in records.iter().enumerate().skip(1) {
            if is_whole && !record.contains("\"memory\":") {
                continue;
            }
            let value: Value = serde_json::from_str(record).unwrap();
            for number in (0..).step_by(stride()) {
                let mut is_number = false;
                for to in [0, 1 << 33, u64::MAX] {
                    let mut value = value.clone();
                    is_number = put_number(&mut value, &mut number.clone(), to);
                    let mut lines: Vec<String> = records.iter().map(|one| line_of(one)).collect();
                    lines[changed] = line_of(&value.to_string());
                    fs::write(&log, lines.concat()).unwrap();
                    scene.write("f", &content);
                    let later = scene.open_within(4_000);
                    apply(&later, set(&rows[1], "one"));
                    apply(
                        &later,
                        json!([{"op": "replace_range", "path": "f", "start_anchor": rows[2], "end_anchor": rows[6], "text": "x"}]),
                    );
                    read(&later, "f");
                    mutations += 1;
                }
                if !is_number {
                    break;
                }
            }
        }
    }
    assert!(mutations * stride() > 100, "{mutations}");
}

#[test]
fn regression_a_short_record_does_not_allocate_all_memory() {
    let scene = Scene::new(&[("f", &numbered(9))]);
    read(&scene.open(), "f");
    let log = scene.log();
    let mut text = fs::read_to_string(&log).unwrap();
    let name = snapshot(numbered(9).as_bytes());
    let file = scene.dir.path().canonicalize().unwrap().join("f");
    // More lines than any text has, and as many as the largest text.
    for (lines, half) in [(1u64 << 53, 1u64 << 33), (u64::from(u32::MAX), 1 << 31)] {
        let before = json!({"hash": name, "lines": lines});
        let after = json!({"hash": "1", "lines": lines});
        let all = json!([{"start": 1, "end": lines}]);
        let splices = json!([{"first": 1, "removed": half, "inserted": half}]);
        let shown = json!({"shown": {"file": file, "text": before, "lines": all}});
        let edited = json!({"edited": {"file": file, "before": before, "after": after, "splices": splices, "shown": all}});
        text += &(line_of(&shown.to_string()) + &line_of(&edited.to_string()));
    }
    fs::write(&log, text).unwrap();
    let later = scene.open();
    assert_eq!(later.notes(), ["2 damaged records of the session's memory were skipped"]);
    let rows = read(&later, "f");
    assert!(matches!(apply(&later, set(&rows[1], "x")), Outcome::Applied(_)));
}

#[test]
fn regression_a_damaged_text_is_repaired() {
    let scene = Scene::new(&[("f", &numbered(9))]);
    read(&scene.open(), "f");
    let text = scene.stored().into_iter().find(|path| !path.ends_with("log")).unwrap();
    let mut content = fs::read(&text).unwrap();
    content[3] ^= 1;
    fs::write(&text, content).unwrap();
    let later = scene.open();
    assert_eq!(later.notes(), ["1 damaged text of the session's memory was skipped"]);
    let rows = read(&later, "f");
    assert_eq!(fs::read_to_string(&text).unwrap(), numbered(9));
    // A process that opens the store now knows the text, and so finds its lines in another text.
    scene.write("f", &format!("new\n{}", numbered(9)));
    assert!(matches!(apply(&scene.open(), set(&rows[4], "five")), Outcome::Applied(_)));
}

#[test]
fn regression_a_log_of_another_version_is_kept() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    read(&scene.open(), "f");
    let log = scene.log();
    let other = line_of("log 2 something") + &line_of("what only it knows");
    fs::write(&log, &other).unwrap();
    let session = scene.open();
    let rows = read(&session, "f");
    assert!(matches!(apply(&session, set(&rows[1], "x")), Outcome::Applied(_)));
    assert_eq!(fs::read_to_string(&log).unwrap(), other);
    let notes = session.notes();
    assert!(notes.iter().any(|note| note.contains("its format is 2")), "{notes:?}");
}

#[test]
fn regression_a_process_with_less_memory_does_not_affect_one_with_more() {
    let scene = Scene::new(&[("f", &numbered(2_000))]);
    let rows = read(&scene.open(), "f");
    let small = MemoryLimits { bytes: 9_000, ..MemoryLimits::default() };
    let small = memory_in(scene.records(&OsFileSystem), small);
    let gone = scene.dir.path().join("a-name-that-makes-records-long".repeat(60));
    let mut longest = 0;
    for _ in 0..600 {
        small.learn(
            vec![MemoryUpdate::Forgotten { file: gone.clone(), keeps_undo: false }],
            &Cancel::default(),
        );
        longest = longest.max(fs::metadata(scene.log()).unwrap().len());
    }
    assert!(fs::metadata(scene.log()).unwrap().len() < longest);
    // This requires the text, which does not fit into the smaller memory.
    scene.write("f", &format!("new\n{}", numbered(2_000)));
    assert!(matches!(apply(&scene.open(), set(&rows[4], "five")), Outcome::Applied(_)));
}

#[test]
fn regression_edits_that_move_no_line_store_no_move() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    let session = scene.open();
    let rows = read(&session, "f");
    apply(&session, set(&rows[1], "x"));
    let log = fs::read_to_string(scene.log()).unwrap();
    assert!(log.contains("{\"edited\"") && !log.contains("{\"moved\""), "{log}");
}

/// Lines that were read before another process cleared the store are still valid, whether or not
/// this process accessed the store in between.
#[test]
fn regression_clearing_the_store_does_not_affect_the_memory() {
    for reads in [false, true] {
        let names = ["f", "g", "h"];
        let scene = Scene::new(&names.map(|name| (name, "one\ntwo\n")));
        let session = scene.open();
        let rows = read(&session, "f");
        fs::remove_dir_all(scene.log().parent().unwrap()).unwrap();
        if reads {
            session.fork();
        }
        read(&scene.open(), "g");
        for name in ["f", "g"] {
            let edit = json!([{"op": "set_line", "path": name, "anchor": rows[1], "text": "x"}]);
            assert!(matches!(apply(&session, edit), Outcome::Applied(_)), "{name}, {reads}");
        }
    }
}

/// Whether any stored file contains a word.
fn says(scene: &Scene, word: &str) -> bool {
    let contents = scene.stored().into_iter().map(|path| fs::read(path).unwrap());
    contents.into_iter().any(|content| String::from_utf8_lossy(&content).contains(word))
}

#[test]
fn regression_forgotten_files_are_removed_from_disk() {
    for whole in [false, true] {
        let scene = Scene::new(&[("f", "secret\nedited\n"), ("g", &numbered(4))]);
        let (session, other) = (scene.open(), scene.open());
        let rows = read(&session, "f");
        apply(&session, set(&rows[1], "private"));
        let kept = read(&other, "g");
        // A process was killed while it wrote a text.
        fs::write(scene.log().with_file_name("content.new"), "secret").unwrap();
        assert!(says(&scene, "secret") && says(&scene, "private"));
        let path = scene.dir.path().join("f");
        session.forget((!whole).then_some(&*path)).unwrap();
        for word in ["secret", "edited", "private"] {
            assert!(!says(&scene, word), "{word}");
        }
        // No anchor refers to it any more; other files are remembered unless all were forgotten.
        for session in [&session, &other, &scene.open()] {
            let Outcome::Rejected(rejected) = apply(session, set(&rows[0], "x")) else {
                panic!("it was forgotten");
            };
            assert_eq!(rejected.code, Code::NotShown);
            let edit = json!([{"op": "delete", "path": "g", "anchor": kept[3]}]);
            let patch = json!({"operations": edit}).into();
            let dry_run = PatchOptions {
                dry_run: true,
                diff_context_lines: Some(3),
                ..PatchOptions::default()
            };
            let dry = session.apply_with(&patch, &dry_run, &Cancel::default()).unwrap();
            assert_eq!(matches!(dry, Outcome::Applied(_)), !whole);
            // The refusals have shown it again.
            session.forget(Some(&path)).unwrap();
            if whole {
                session.forget(None).unwrap();
            }
        }
    }
}

#[test]
fn regression_a_failure_to_forget_on_disk_is_reported() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    let session = scene.open();
    let rows = read(&session, "f");
    let (log, aside) = (scene.log(), scene.state.path().join("aside"));
    fs::rename(&log, &aside).unwrap();
    fs::create_dir(&log).unwrap();
    let error = session.forget(None).unwrap_err();
    let said = "this process has forgotten it, but it is still on disk: ";
    assert!(error.message.starts_with(said), "{}", error.message);
    // The original error, not a consequence of it.
    assert!(!error.message.contains("nothing is added"), "{}", error.message);
    fs::remove_dir(&log).unwrap();
    fs::rename(&aside, &log).unwrap();
    assert!(matches!(apply(&session, set(&rows[1], "x")), Outcome::Rejected(_)));
    session.forget(None).unwrap();
    assert!(matches!(apply(&scene.open(), set(&rows[1], "x")), Outcome::Rejected(_)));
}

/// A process with a larger memory keeps more than one with a smaller memory, but not what the other
/// one was asked to forget.
#[test]
fn regression_a_process_with_less_memory_forgets_for_one_with_more() {
    let scene = Scene::new(&[("f", &"secret\n".repeat(2_000)), ("g", &numbered(2_000))]);
    let large = scene.open();
    read(&large, "f");
    let rows = read(&large, "g");
    let small = scene.open_within(9_000);
    small.forget(Some(&scene.dir.path().join("f"))).unwrap();
    assert!(!says(&scene, "secret"));
    scene.write("g", &format!("new\n{}", numbered(2_000)));
    let edit = json!([{"op": "set_line", "path": "g", "anchor": rows[4], "text": "five"}]);
    assert!(matches!(apply(&scene.open(), edit), Outcome::Applied(_)));
}

#[test]
fn regression_a_truncated_log_is_read_again() {
    let scene = Scene::new(&[("f", &numbered(4)), ("g", &numbered(4)), ("h", &numbered(4))]);
    let (one, other) = (scene.open(), scene.open());
    let rows = read(&one, "f");
    read(&one, "g");
    assert!(matches!(apply(&other, set(&rows[1], "x")), Outcome::Applied(_)));
    let size_bytes = fs::metadata(scene.log()).unwrap().len();
    for cut_bytes in [20, size_bytes / 2] {
        let log = File::options().write(true).open(scene.log()).unwrap();
        log.set_len(size_bytes - cut_bytes).unwrap();
        drop(log);
        // A record is appended after the truncation; for one process its end is not beyond what
        // that process has read.
        read(&one, "h");
        let edit = json!([{"op": "set_line", "path": "h", "anchor": rows[1], "text": "x"}]);
        for session in [&other, &scene.open()] {
            let patch = json!({"operations": edit}).into();
            let dry_run = PatchOptions {
                dry_run: true,
                diff_context_lines: Some(3),
                ..PatchOptions::default()
            };
            let dry = session.apply_with(&patch, &dry_run, &Cancel::default()).unwrap();
            assert!(matches!(dry, Outcome::Applied(_)), "{cut_bytes}");
        }
    }
}

/// Another process reads while a write is in progress that will fail. What it has read must not be
/// overwritten.
#[test]
fn regression_a_partly_failed_write_is_not_overwritten() {
    let scene = Scene::new(&[("f", &numbered(4))]);
    let watched = RecordingFs::new();
    let mut writer = scene.records(watched);
    let _lock = writer.lock().take(Duration::from_secs(60), &Cancel::default()).unwrap();
    writer.read().unwrap();
    writer.append(&["first".to_owned()]).unwrap();
    let mut reader = scene.records(&OsFileSystem);
    reader.read().unwrap();
    watched.is_full.store(true, Ordering::Relaxed);
    let lines = ["second", "third, which is longer"].map(str::to_owned);
    writer.append(&lines).unwrap_err();
    assert_eq!(reader.read().unwrap().records, ["second"]);
    writer.read().unwrap();
    writer.append(&["fourth".to_owned()]).unwrap();
    assert_eq!(reader.read().unwrap().records, ["fourth"]);
}

#[test]
fn regression_a_log_is_written_before_it_is_renamed_into_place() {
    let scene = Scene::new(&[]);
    let watched = RecordingFs::new();
    let mut records = scene.records(watched);
    let _lock = records.lock().take(Duration::from_secs(60), &Cancel::default()).unwrap();
    records.read().unwrap();
    records.replace(&["all".to_owned()]).unwrap();
    assert_eq!(*watched.steps.lock().unwrap(), ["sync", "rename log.new log"]);
}

/// Two processes that share a session; the disk of one can be full.
struct Sharers {
    scene: Scene,
    disk: &'static RecordingFs,
    writer: SessionMemory,
    other: Arc<Session>,
}

impl Sharers {
    /// Both have read a file with two equal lines.
    fn new() -> Sharers {
        let scene = Scene::new(&[("f", OLD), ("g", &numbered(4))]);
        let disk = RecordingFs::new();
        let writer = memory_in(scene.records(disk), MemoryLimits::default());
        let other = scene.open();
        let sharers = Sharers { scene, disk, writer, other };
        sharers.show("f");
        read(&sharers.other, "g");
        sharers
    }

    fn show(&self, name: &str) {
        let text = self.scene.content(name);
        let file = self.scene.dir.path().canonicalize().unwrap().join(name);
        let lines = LineSet::of(1, text.lines().count() as u64).into();
        let text = self.writer.version(text.as_bytes(), None);
        let update = MemoryUpdate::Shown { file, text, lines };
        self.writer.learn(vec![update], &Cancel::default());
    }

    /// A line is inserted at the top; what the writer then shows of the file cannot be stored.
    fn miss(&self) {
        self.scene.write("f", NEW);
        self.disk.is_full.store(true, Ordering::Relaxed);
        self.show("f");
        let notes = self.writer.notes(Term::name);
        assert!(notes.iter().any(|note| note.contains("could not be written")), "{notes:?}");
    }
}

const OLD: &str = "one\ntwo\nx\nx\nfive\n";
const NEW: &str = "top\none\ntwo\nx\nx\nfive\n";

/// Another process resolved the anchor of the first `x` to the second one, which had that number in
/// the version it knew. Only the new version has a row with that version.
#[test]
fn regression_records_that_did_not_fit_on_a_full_disk_are_written_later() {
    let sharers = Sharers::new();
    sharers.miss();
    sharers.show("g");
    let hash = u128::from_str_radix(&snapshot(NEW.as_bytes()), 16).unwrap();
    let row = format!("{}{}", crate::support::anchor(4, "x"), Edition::of(hash));
    for session in [&sharers.other, &sharers.scene.open()] {
        sharers.scene.write("f", NEW);
        let outcome = apply(session, set(&row, "X"));
        assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
        assert_eq!(sharers.scene.content("f"), NEW.replacen("x\n", "X\n", 1));
    }
}

/// Until then no process knows what was shown.
#[test]
fn regression_an_incomplete_log_is_not_used() {
    let sharers = Sharers::new();
    sharers.miss();
    for session in [&sharers.other, &sharers.scene.open()] {
        sharers.scene.write("f", NEW);
        // A process that has not read the file resolves the anchor in the current file, or refuses
        // it.
        apply(session, set(&crate::support::anchor(4, "x"), "X"));
        let now = sharers.scene.content("f");
        assert!([NEW, &NEW.replacen("x\n", "X\n", 1)].contains(&now.as_str()), "{now}");
    }
    // The writer can no longer know which lines were shown last, by it or by the others.
    sharers.scene.write("f", NEW);
    sharers.show("g");
    let outcome = apply(&sharers.scene.open(), set(&crate::support::anchor(4, "x"), "X"));
    let Outcome::Rejected(refused) = outcome else { panic!("it was forgotten: {outcome:?}") };
    assert_eq!(refused.code, Code::NotShown);
}

/// A process that had read before the truncation took the records that a third process then wrote
/// for the complete log.
#[test]
fn regression_a_truncated_log_is_not_used_after_a_third_process_wrote() {
    let sharers = Sharers::new();
    sharers.miss();
    sharers.disk.is_full.store(false, Ordering::Relaxed);
    read(&sharers.scene.open(), "g");
    apply(&sharers.other, set(&crate::support::anchor(4, "x"), "X"));
    let now = sharers.scene.content("f");
    assert!([NEW, &NEW.replacen("x\n", "X\n", 1)].contains(&now.as_str()), "{now}");
}

/// Every call read it completely and never repaired it.
#[test]
fn regression_a_log_of_endless_zeros_is_not_read_and_is_repaired() {
    let scene = Scene::new(&[("f", &numbered(4)), ("g", &numbered(4))]);
    let rows = read(&scene.open(), "f");
    let log = File::options().write(true).open(scene.log()).unwrap();
    log.set_len(300 << 20).unwrap();
    drop(log);
    let disk = RecordingFs::new();
    let memory = memory_in(scene.records(disk), MemoryLimits::default());
    assert!(disk.read_bytes.load(Ordering::Relaxed) < 1000);
    assert_eq!(memory.notes(Term::name).len(), 1);
    let session = scene.open();
    assert!(matches!(apply(&session, set(&rows[1], "x")), Outcome::Rejected(_)));
    assert!(fs::metadata(scene.log()).unwrap().len() < 10_000);
    read(&session, "g");
    let edit = json!([{"op": "set_line", "path": "g", "anchor": rows[2], "text": "x"}]);
    assert!(matches!(apply(&scene.open(), edit), Outcome::Applied(_)));
}
