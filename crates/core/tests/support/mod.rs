//! Helpers for the tests of commits: snapshots of directories, and a file system that can be
//! interrupted at any operation.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hashline_core::Cancel;
use hashline_core::Error;
use hashline_core::{Applied, Outcome, Rejected};
use hashline_core::{ApplyOptions, Durability};
use hashline_core::{FileView, ReadRequest, TextView};
use hashline_core::{Session, SessionOptions, Workspace, WorkspaceOptions};
use hashline_disk::commit::{RecoveryReport, StateDir, TEMPORARY_PREFIX, recover_transactions};
use hashline_disk::fs::{
    Directory, FileSystem, NewAccess, OsFileSystem, Place, Rights, Stamp, plain,
};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::{Value, json};

/// The properties of a view of a text.
pub fn facts(view: &FileView) -> &TextView {
    view.as_text().unwrap_or_else(|| panic!("{view:?}"))
}

/// Every entry below a directory: the content of files, the target of links, a marker for
/// directories.
pub fn snapshot(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, dir: &Path, out: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_string_lossy();
            let name = name.replace(std::path::MAIN_SEPARATOR, "/");
            if path.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                out.insert(name, [b"-> ", target.as_os_str().as_encoded_bytes()].concat());
            } else if path.is_dir() {
                out.insert(name + "/", Vec::new());
                walk(root, &path, out);
            } else {
                out.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut out = BTreeMap::new();
    walk(dir, dir, &mut out);
    out
}

/// The error numbers of the system.
#[cfg(unix)]
pub mod errors {
    #[allow(unused_imports, reason = "each test binary uses a part of this")]
    pub use libc::{EACCES, EINTR, EIO, ENODEV, ENOSPC, ESTALE};
}

/// The closest error numbers on Windows: device error, disk full, access denied, sharing violation,
/// volume changed, device removed.
#[cfg(windows)]
pub mod errors {
    pub const EIO: i32 = 1117;
    pub const ENOSPC: i32 = 112;
    pub const EACCES: i32 = 5;
    pub const EINTR: i32 = 32;
    pub const ESTALE: i32 = 1006;
    pub const ENODEV: i32 = 55;
}

/// A scratch directory, in memory if possible, because these tests flush a lot. Its path is
/// canonical and readable.
pub fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let place = place.canonicalize().unwrap();
    tempfile::tempdir_in(&*plain(place.to_str().unwrap())).unwrap()
}

/// The distance between operations that are interrupted: 1, except under an emulator, where a patch
/// takes a hundred times as long.
pub fn stride() -> usize {
    if std::env::var_os("HASHLINE_EMULATOR").is_some() { 7 } else { 1 }
}

/// How long test calls wait for each other; an emulator on a busy machine is slow.
pub const PATIENCE_MS: u64 = 600_000;

/// Files that a state directory should not contain when no patch is running.
pub fn journals(state: &Path) -> Vec<String> {
    match fs::read_dir(state.join("journals")) {
        Ok(entries) => entries.map(|one| one.unwrap().file_name().into_string().unwrap()).collect(),
        Err(_) => Vec::new(),
    }
}

/// Temporary files below a directory.
pub fn temporaries(dir: &Path) -> Vec<String> {
    snapshot(dir).into_keys().filter(|name| name.contains(TEMPORARY_PREFIX)).collect()
}

/// Recovers the journals in a state directory.
pub fn recover(state: &Path) -> RecoveryReport {
    recover_through(&OsFileSystem, state).unwrap()
}

/// Recovers the journals in a state directory, on a given file system.
pub fn recover_through(fs: &dyn FileSystem, state: &Path) -> Result<RecoveryReport, Error> {
    let state = StateDir::new(state.to_str()).unwrap();
    let deadline = Instant::now() + Duration::from_millis(PATIENCE_MS);
    recover_transactions(fs, &state, deadline, &Cancel::default())
}

/// Prints what was skipped and why, even if the output of passing tests is captured.
pub fn print_skipped(why: &str) {
    use std::io::Write;
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    // `eprintln!` would be captured.
    let mut screen = io::stderr();
    writeln!(screen, "skipped: {name}: {why}").unwrap();
}

/// The current anchor of line `number` with `text`.
pub fn anchor(number: u64, text: &str) -> String {
    let dialect = Dialect::default_dialect();
    dialect.anchor_text(number, hash_line(dialect, number, text))
}

/// Creates a directory with a file for every kind of operation.
pub fn fill(dir: &Path) {
    for name in
        ["edited", "other", "moved", "changed", "deleted", "one", "two", "linked", "bystander"]
    {
        let lines: String = (1..=200).map(|n| format!("{name} line {n}\n")).collect();
        fs::write(dir.join(name), lines).unwrap();
    }
    fs::hard_link(dir.join("linked"), dir.join("second-name")).unwrap();
    // On Windows, few users may create links.
    #[cfg(unix)]
    std::os::unix::fs::symlink("other", dir.join(SYMBOLIC)).unwrap();
}

/// The name by which [`patch`] edits `other`: a link, if the system has links.
pub const SYMBOLIC: &str = if cfg!(unix) { "symbolic" } else { "other" };

/// A directory with files, and a state directory.
pub struct Scene {
    pub dir: tempfile::TempDir,
    pub state: tempfile::TempDir,
}

impl Scene {
    /// With the files of [`fill`].
    pub fn new() -> Scene {
        let scene = Scene { dir: scratch(), state: scratch() };
        fill(scene.path());
        scene
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// A patch with every kind of operation on the files of [`fill`].
pub fn patch(dir: &Path) -> Value {
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let set = |name: &str, line: &str, number: u64, text: &str| json!({"op": "set_line", "path": path(name), "anchor": anchor(number, line), "text": text});
    json!({"operations": [
        set("edited", "edited line 3", 3, "new line 3"),
        set(SYMBOLIC, "other line 1", 1, "through the link"),
        {"op": "replace_text", "path": path("edited"), "old_text": "edited line 9\n", "new_text": ""},
        {"op": "move_file", "from": path("moved"), "to": path("new/deep/moved")},
        {"op": "move_file", "from": path("changed"), "to": path("new/changed")},
        set("changed", "changed line 200", 200, "the last line"),
        {"op": "delete_file", "path": path("deleted")},
        {"op": "add_file", "path": path("deleted"), "content": "again\n"},
        {"op": "add_file", "path": path("new/added"), "content": "added\n"},
        {"op": "move_file", "from": path("one"), "to": path("two")},
        {"op": "move_file", "from": path("two"), "to": path("one")},
        set("linked", "linked line 7", 7, &"x".repeat(3000)),
    ]})
}

pub fn options(state: &Path, durability: Durability) -> WorkspaceOptions {
    WorkspaceOptions {
        state_dir: Some(state.into()),
        apply: ApplyOptions { durability, lock_timeout_ms: PATIENCE_MS, ..ApplyOptions::default() },
        ..WorkspaceOptions::unbounded()
    }
}

/// A directory with files, and a state directory.
pub struct Project {
    pub dir: tempfile::TempDir,
    pub state: tempfile::TempDir,
}

impl Project {
    pub fn new<C: AsRef<[u8]> + ?Sized>(files: &[(&str, &C)]) -> Project {
        let project =
            Project { dir: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() };
        files.iter().for_each(|(name, content)| project.write(name, content));
        project
    }

    /// Options for a workspace in it that does not flush.
    pub fn options(&self) -> WorkspaceOptions {
        WorkspaceOptions {
            root: self.dir.path().into(),
            state_dir: Some(self.state.path().into()),
            apply: ApplyOptions { durability: Durability::Process, ..ApplyOptions::default() },
            ..WorkspaceOptions::default()
        }
    }

    pub fn outcome(&self, patch: Value) -> Outcome {
        Workspace::new(self.options()).apply(patch).unwrap()
    }

    /// A session that has read these files.
    pub fn session(&self, shown: &[&str]) -> Session {
        let options = SessionOptions { workspace: self.options(), ..SessionOptions::default() };
        let session = Session::new(options).unwrap();
        shown.iter().for_each(|path| show(&session, path, 1, 1_000_000));
        session
    }

    pub fn write<C: AsRef<[u8]> + ?Sized>(&self, name: &str, content: &C) {
        fs::write(self.dir.path().join(name), content).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.dir.path().join(name)).unwrap()
    }

    pub fn content(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub fn exists(&self, name: &str) -> bool {
        self.dir.path().join(name).exists()
    }
}

/// The result of an applied patch; a refusal fails the test.
pub fn applied(outcome: Outcome) -> Applied {
    match outcome {
        Outcome::Applied(applied) => applied,
        Outcome::Rejected(rejected) => panic!("{}", rejected.text),
    }
}

/// The refusal; an applied patch fails the test.
pub fn refused(outcome: Outcome) -> Rejected {
    match outcome {
        Outcome::Rejected(rejected) => rejected,
        Outcome::Applied(applied) => panic!("{}", applied.text),
    }
}

/// Reads some lines of a file in a session.
pub fn show(session: &Session, path: &str, start_line: u64, max_lines: u64) {
    let mut request =
        ReadRequest { path: path.into(), start_line: Some(start_line), ..ReadRequest::default() };
    request.limits.max_lines = Some(max_lines);
    session.read(request).unwrap();
}

/// Counts operations, and asks before each one whether it may run.
pub struct Interrupted<F> {
    inner: OsFileSystem,
    count: AtomicU64,
    before: F,
    after: Box<dyn Fn(u64) + Send + Sync>,
    can_exchange: bool,
    /// Whether an interrupted operation takes effect and is only reported as failed.
    takes_effect: bool,
    /// The first stamp of each file, which is reported from then on.
    frozen: Option<Mutex<BTreeMap<u64, Stamp>>>,
    /// Whether names are case-insensitive.
    folds_case: bool,
    /// A directory that cannot be flushed because the user may not read it.
    unreadable: Option<PathBuf>,
    /// The directories that were flushed.
    flushed: Mutex<Vec<PathBuf>>,
    /// Whether journals are read-only.
    protects_journals: bool,
}

impl<F: Fn(u64) -> io::Result<()>> Interrupted<F> {
    pub fn new(before: F) -> Self {
        let count = AtomicU64::new(0);
        let after = Box::new(|_| {});
        Interrupted {
            inner: OsFileSystem,
            count,
            before,
            after,
            can_exchange: true,
            takes_effect: false,
            frozen: None,
            folds_case: false,
            unreadable: None,
            flushed: Mutex::default(),
            protects_journals: false,
        }
    }

    /// Calls `after` with the number of each operation that read the stamp of an open file.
    pub fn and_after_stamps(self, after: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Interrupted { after: Box::new(after), ..self }
    }

    /// A system that cannot exchange two names.
    pub fn without_exchange(self) -> Self {
        Interrupted { can_exchange: false, ..self }
    }

    /// A system whose responses get lost, such as a server: an operation reported as failed took
    /// effect.
    pub fn failing_after_taking_effect(self) -> Self {
        Interrupted { takes_effect: true, ..self }
    }

    /// A system whose clock does not advance: files keep their first stamps.
    pub fn with_frozen_stamps(self) -> Self {
        Interrupted { frozen: Some(Mutex::default()), ..self }
    }

    /// A system with case-insensitive names.
    pub fn folding_case(self) -> Self {
        Interrupted { folds_case: true, ..self }
    }

    /// A system on which the user may not read this directory, and so cannot flush it.
    pub fn with_unreadable(self, directory: PathBuf) -> Self {
        Interrupted { unreadable: Some(directory), ..self }
    }

    /// A system on which journals are read-only.
    pub fn protecting_journals(self) -> Self {
        Interrupted { protects_journals: true, ..self }
    }

    /// The directories that were flushed.
    pub fn flushed(&self) -> Vec<PathBuf> {
        self.flushed.lock().unwrap().clone()
    }

    /// The name of the file as stored, if the system finds it by this name.
    fn spelled(&self, place: &Place) -> Place {
        let folded = |name: &std::ffi::OsStr| name.to_string_lossy().to_lowercase();
        let parent = place.canonical().parent().filter(|_| self.folds_case);
        let names = parent.and_then(|parent| fs::read_dir(parent).ok()).into_iter().flatten();
        let mut names = names.map(|entry| entry.unwrap().file_name());
        let found = names.find(|name| folded(name) == folded(place.name()));
        found.map_or_else(|| place.clone(), |name| place.sibling(name))
    }

    fn reported(&self, stamp: Stamp) -> Stamp {
        match &self.frozen {
            Some(frozen) => *frozen.lock().unwrap().entry(stamp.inode).or_insert(stamp),
            None => stamp,
        }
    }

    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Runs one operation, which may fail, before or after it takes effect.
    fn step<T>(&self, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match (self.before)(self.count.fetch_add(1, Ordering::SeqCst) + 1) {
            Err(cause) if self.takes_effect => operation().and(Err(cause)),
            Err(cause) => Err(cause),
            Ok(()) => operation(),
        }
    }
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => {
        impl<F: Fn(u64) -> io::Result<()> + Send + Sync> FileSystem for Interrupted<F> {
            $(fn $name(&self, $($arg: $type),*) -> io::Result<$out> {
                self.step(|| self.inner.$name($($arg),*))
            })*

            fn stamp(&self, place: &Place) -> io::Result<Stamp> {
                let place = self.spelled(place);
                self.step(|| self.inner.stamp(&place).map(|stamp| self.reported(stamp)))
            }

            fn open(&self, place: &Place) -> io::Result<File> {
                self.step(|| self.inner.open(&self.spelled(place)))
            }

            fn open_for_rewrite(&self, place: &Place) -> io::Result<File> {
                let is_journal = place.canonical().extension().is_some_and(|end| end == "journal");
                self.step(|| match self.protects_journals && is_journal {
                    true => Err(io::ErrorKind::PermissionDenied.into()),
                    false => self.inner.open_for_rewrite(place),
                })
            }

            fn unlink(&self, place: &Place) -> io::Result<()> {
                self.step(|| self.inner.unlink(&self.spelled(place)))
            }

            fn rename(&self, from: &Place, to: &Place) -> io::Result<()> {
                let (from, found) = (self.spelled(from), self.spelled(to));
                let is_same = from.canonical() == found.canonical();
                self.step(|| self.inner.rename(&from, if is_same { to } else { &found }))
            }

            fn rename_new(&self, from: &Place, to: &Place) -> io::Result<()> {
                self.step(|| self.inner.rename_new(&self.spelled(from), &self.spelled(to)))
            }

            fn sync_dir(&self, place: &Place) -> io::Result<()> {
                let directory = place.canonical().parent().unwrap();
                self.step(|| {
                    if self.unreadable.as_deref() == Some(directory) {
                        return Err(io::ErrorKind::PermissionDenied.into());
                    }
                    self.flushed.lock().unwrap().push(directory.to_owned());
                    self.inner.sync_dir(place)
                })
            }

            fn stamp_of(&self, file: &File) -> io::Result<Stamp> {
                self.step(|| {
                    let stamp = self.inner.stamp_of(file).map(|stamp| self.reported(stamp));
                    (self.after)(self.count());
                    stamp
                })
            }

            fn exchange(&self, one: &Place, other: &Place) -> io::Result<()> {
                self.step(|| if self.can_exchange { self.inner.exchange(one, other) } else { Err(io::ErrorKind::Unsupported.into()) })
            }
        }
    };
}

forward! {
    open_state(place: &Place) -> File;
    create_new(place: &Place, access: NewAccess) -> File;
    read(file: &mut File, limit_bytes: u64, out: &mut Vec<u8>) -> ();
    write(file: &mut File, bytes: &[u8]) -> ();
    seek(file: &mut File, offset_bytes: u64) -> ();
    set_len(file: &File, len_bytes: u64) -> ();

    copy_attributes(file: &File, model: &File, stamp: &Stamp) -> ();
    rights(file: &File) -> Option<Rights>;
    set_rights(file: &File, rights: Rights) -> ();
    sync(file: &File) -> ();
    link(from: &Place, to: &Place) -> ();
    copy_link(from: &Place, to: &Place) -> ();
    read_link(place: &Place) -> PathBuf;
    make_dir(place: &Place, access: NewAccess) -> ();
    remove_dir(place: &Place) -> ();
    canonicalize(path: &Path) -> PathBuf;
    open_dir_at(path: &Path) -> Directory;
    open_dir(place: &Place) -> Directory;
    stamp_of_dir(directory: &Directory) -> Stamp;
    list(directory: &Directory) -> Vec<OsString>;
    open_lock(place: &Place) -> File;
    lock(file: &File) -> ();
    try_lock(file: &File) -> bool;
    duplicate(file: &File) -> File;
    may_write(place: &Place) -> bool;
    mount(place: &Place) -> Option<u64>;
    may_replace(place: &Place, stamp: &Stamp) -> bool;
}

#[cfg(unix)]
pub fn make_fifo(path: &Path) {
    use rustix::fs::{CWD, FileType, mknodat};
    mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).unwrap();
}

/// Pseudorandom numbers, reproducible from a seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
