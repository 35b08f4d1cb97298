//! Fault injection. For every n, file system operations fail from the n-th on: one, several in a
//! row, or all later ones; also those of a recovery. The result of the call must be true
//! immediately ("nothing was changed" only if so). After a recovery, all files are old or all are
//! new, and no temporary file is left.
//!
//! `npm run stress -- fault-test` also runs the long version.

#![allow(clippy::print_stdout, reason = "the figures are what this test is run for")]

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::io;
use std::sync::{Mutex, OnceLock};

use crate::support::errors::{EACCES, EINTR, EIO, ENODEV, ENOSPC, ESTALE};
use crate::support::{
    Interrupted, Scene, journals, options, patch, recover, recover_through, snapshot,
};
use hashline_core::Durability;
use hashline_core::Outcome;
use hashline_core::Workspace;
use hashline_core::{Code, Error};
use hashline_disk::commit::{RecoveryReport, TEMPORARY_PREFIX};
use hashline_disk::fs::OsFileSystem;

/// More operations than any of these patches needs, so that an endless loop fails.
const MOST_OPERATIONS: u64 = 3000;

/// All later operations fail.
const FOR_GOOD: u64 = u64::MAX;

/// The injected errors: a disk that is broken, full or removed, missing permissions, an interrupted
/// call, a file that a server has forgotten.
const ERRORS: [i32; 6] = [EIO, ENOSPC, EACCES, EINTR, ESTALE, ENODEV];

/// Which operations fail, and how.
#[derive(Clone, Copy, Debug)]
struct Faults {
    /// The first operation that fails, from 1.
    from: u64,
    /// The number of consecutive operations that fail.
    length: u64,
    errno: i32,
    /// Whether they take effect and are only reported as failed.
    is_late: bool,
    can_exchange: bool,
}

impl Faults {
    /// A single disk error, on a file system that can exchange names.
    const ONE: Faults =
        Faults { from: 1, length: 1, errno: EIO, is_late: false, can_exchange: true };

    fn file_system(self) -> Interrupted<impl Fn(u64) -> io::Result<()>> {
        let fs = Interrupted::new(move |at| {
            if at >= self.from && at - self.from < self.length {
                Err(io::Error::from_raw_os_error(self.errno))
            } else {
                Ok(())
            }
        });
        let fs = if self.can_exchange { fs } else { fs.without_exchange() };
        if self.is_late { fs.failing_after_taking_effect() } else { fs }
    }
}

/// The state of the files at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Old,
    New,
}

/// Whether an error says that a recovery must finish or undo the patch.
fn needs_recovery(outcome: &Result<Outcome, Error>) -> bool {
    matches!(outcome, Err(error) if error.message.contains("and recover() completes"))
}

/// The files without directories and temporary files.
fn visible(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    let is_own = |name: &str| !name.ends_with('/') && !name.contains(TEMPORARY_PREFIX);
    files.iter().filter(|(name, _)| is_own(name)).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// The state of the files after a recovery without faults.
fn found_after_recovery(scene: &Scene, label: &str) -> Found {
    let report = recover(scene.state.path());
    assert!(report.failed.is_empty() && report.damaged.is_empty(), "{label}: {report:?}");
    assert!(report.conflicts.is_empty(), "{label}: {report:?}");
    assert!(journals(scene.state.path()).is_empty(), "{label}: {report:?}");
    let after = snapshot(scene.path());
    if after == *before() {
        return Found::Old;
    }
    if after == *expected() {
        return Found::New;
    }
    let differs = |name: &String| after.get(name) != before().get(name);
    let changed: Vec<_> = after.keys().chain(before().keys()).filter(|one| differs(one)).collect();
    panic!("{label}: torn; not as before: {changed:?}; {report:?}");
}

/// Runs the patch with faults; `None` if it needed fewer operations. The result of the call must be
/// true immediately, and all files must be old or new after a recovery.
fn run(faults: Faults) -> Option<(Found, Result<Outcome, Error>)> {
    let scene = Scene::new();
    let fs = faults.file_system();
    let options = options(scene.state.path(), Durability::Power);
    let outcome = Workspace::on(&fs, &options).apply(patch(scene.path()));
    let label = format!("{faults:?}: {outcome:?}");
    assert!(fs.count() < MOST_OPERATIONS, "{label}");
    let at_once = visible(&snapshot(scene.path()));
    let is_left = needs_recovery(&outcome);
    match &outcome {
        Ok(Outcome::Applied(_)) => assert_eq!(at_once, visible(expected()), "{label}"),
        _ if is_left => {}
        _ => assert_eq!(at_once, visible(before()), "{label}"),
    }
    let found = found_after_recovery(&scene, &label);
    match &outcome {
        Ok(Outcome::Applied(_)) => assert_eq!(found, Found::New, "{label}"),
        _ if is_left => {}
        _ => assert_eq!(found, Found::Old, "{label}"),
    }
    match &outcome {
        Ok(Outcome::Applied(_)) => {}
        Ok(Outcome::Rejected(rejected)) => {
            assert!(!rejected.failures[0].message.is_empty());
            assert_ne!(rejected.code, Code::Internal, "{label}");
            // No other process works here.
            assert_ne!(rejected.code, Code::ConcurrentChange, "{label}");
        }
        Err(error) => {
            assert!(error.message.contains(std::path::MAIN_SEPARATOR), "names no path: {label}");
        }
    }
    (fs.count() >= faults.from).then_some((found, outcome))
}

/// The files before the patch.
fn before() -> &'static BTreeMap<String, Vec<u8>> {
    static BEFORE: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    BEFORE.get_or_init(|| snapshot(Scene::new().path()))
}

/// The files after the patch.
fn expected() -> &'static BTreeMap<String, Vec<u8>> {
    static EXPECTED: OnceLock<BTreeMap<String, Vec<u8>>> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        let scene = Scene::new();
        let options = options(scene.state.path(), Durability::Process);
        let patch = patch(scene.path()).into();
        let outcome = Workspace::on(&OsFileSystem, &options).apply(&patch).unwrap();
        assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
        let after = snapshot(scene.path());
        assert_eq!(after["new/deep/moved"], support_content("moved"));
        assert_eq!(after["one"], support_content("two"));
        assert_eq!(after["deleted"], b"again\n");
        assert_eq!(after["linked"], after["second-name"]);
        after
    })
}

fn support_content(name: &str) -> Vec<u8> {
    (1..=200).map(|n| format!("{name} line {n}\n")).collect::<String>().into_bytes()
}

/// Statistics of many runs.
#[derive(Default)]
struct Figures {
    runs: u64,
    old: u64,
    new: u64,
    left: u64,
}

impl Figures {
    fn count(&mut self, found: Found, is_left: bool) {
        self.runs += 1;
        self.left += u64::from(is_left);
        match found {
            Found::Old => self.old += 1,
            Found::New => self.new += 1,
        }
    }
}

impl Display for Figures {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Figures { runs, old, new, left } = self;
        write!(f, "{runs} patches: {old} old, {new} new, 0 torn ({left} left to a recovery)")?;
        match fault_stride() {
            1 => Ok(()),
            stride => write!(f, ", faults from every {stride}th operation on"),
        }
    }
}

/// The distance between operations at which faults start: 1, except under an emulator, where
/// hundreds of patches and recoveries would take most of an hour.
fn fault_stride() -> usize {
    if crate::support::stride() == 1 { 1 } else { 29 }
}

/// Faults that start at each operation in turn.
fn every_operation(faults: Faults, figures: &mut Figures) {
    operations(1, &[faults.errno], faults, figures);
}

/// Faults that start at every `step`-th operation, with each of the errors in turn.
fn operations(step: usize, errors: &[i32], faults: Faults, figures: &mut Figures) {
    let places = (1..).step_by(step * fault_stride());
    for (from, &errno) in places.zip(errors.iter().cycle()) {
        let Some((found, outcome)) = run(Faults { from, errno, ..faults }) else {
            assert!(from > 100, "the patch took some operations");
            return;
        };
        figures.count(found, needs_recovery(&outcome));
    }
}

/// Faults of several lengths that start at each operation in turn, on file systems that can
/// exchange names and that cannot.
fn every_length(faults: Faults, lengths: &[u64], name: &str) {
    let mut figures = Figures::default();
    for &length in lengths {
        for can_exchange in [true, false] {
            every_operation(Faults { length, can_exchange, ..faults }, &mut figures);
        }
    }
    println!("{name}: {figures}");
}

#[test]
fn single_faults() {
    let mut figures = Figures::default();
    for errno in [EIO, EACCES, EINTR] {
        every_operation(Faults { errno, ..Faults::ONE }, &mut figures);
    }
    let without = Faults { can_exchange: false, ..Faults::ONE };
    operations(1, &[ENOSPC, EIO, ESTALE, ENODEV], without, &mut figures);
    println!("one error: {figures}");
}

/// A failed stat was taken for a concurrent change: the old version was removed, and the torn patch
/// was reported as one that had changed nothing.
#[test]
fn regression_persistent_faults_tear_no_patch() {
    let mut figures = Figures::default();
    for can_exchange in [true, false] {
        let two = Faults { length: 2, can_exchange, ..Faults::ONE };
        operations(3, &[EIO], two, &mut figures);
    }
    println!("two errors in a row, from every third operation on: {figures}");
    every_length(Faults::ONE, &[FOR_GOOD], "errors for good");
}

/// As when the response of a server is lost: an operation that is reported as failed took effect.
#[test]
fn faults_reported_for_operations_that_took_effect() {
    every_length(Faults { is_late: true, ..Faults::ONE }, &[1], "answers lost");
}

/// Every error, alone and in a row. `npm run stress -- fault-test` runs it.
#[test]
#[ignore = "takes minutes"]
fn every_fault() {
    for errno in ERRORS {
        for is_late in [false, true] {
            let faults = Faults { errno, is_late, ..Faults::ONE };
            let name = format!("error {errno}{}", if is_late { ", taking effect" } else { "" });
            every_length(faults, &[1, 2, 3, 5, 8, 13, 30, 60, FOR_GOOD], &name);
        }
    }
}

/// A patch that a fault stops, a recovery with faults, and a recovery without. Returns whether the
/// faulty recovery reached the fault.
fn run_recovery(interrupted: Faults, recovering: Faults, figures: &mut Figures) -> bool {
    let scene = Scene::new();
    let options = options(scene.state.path(), Durability::Power);
    let fs = interrupted.file_system();
    let outcome = Workspace::on(&fs, &options).apply(patch(scene.path()));
    let fs = recovering.file_system();
    let label = format!("{interrupted:?}, recovery with {recovering:?}: {outcome:?}");
    let outcome = recover_through(&fs, scene.state.path());
    assert!(fs.count() < MOST_OPERATIONS, "{label}");
    let is_refused = outcome.is_err();
    let report = outcome.unwrap_or_else(|error| {
        assert!(error.message.contains("state directory"), "{label}: {error:?}");
        RecoveryReport::default()
    });
    // The report of a recovery must be true, too.
    let at_once = visible(&snapshot(scene.path()));
    let label = format!("{label}: {report:?}");
    assert!(report.conflicts.is_empty() && report.damaged.is_empty(), "{label}");
    if !report.finished.is_empty() {
        assert_eq!(at_once, visible(expected()), "{label}");
    }
    if !report.undone.is_empty() {
        assert_eq!(at_once, visible(before()), "{label}");
    }
    let found = found_after_recovery(&scene, &label);
    figures.count(found, is_refused || !report.failed.is_empty());
    fs.count() >= recovering.from
}

/// The number of journal records before each operation of the patch: none while the journal is
/// created, one while new contents are staged, two while they are published, three while old
/// versions are removed. `None` if there is no journal.
fn journal_records(can_exchange: bool) -> Vec<Option<usize>> {
    let scene = Scene::new();
    let directory = scene.state.path().join("journals");
    let records = || {
        let name = journals(scene.state.path()).pop()?;
        let bytes = std::fs::read(directory.join(&name)).unwrap();
        let records = bytes.iter().filter(|&&byte| byte == b'\n').count();
        Some(if name.ends_with(".new") { 0 } else { records })
    };
    let seen = Mutex::new(Vec::new());
    let fs = Interrupted::new(|_| {
        seen.lock().unwrap().push(records());
        Ok(())
    });
    let fs = if can_exchange { fs } else { fs.without_exchange() };
    let options = options(scene.state.path(), Durability::Power);
    Workspace::on(&fs, &options).apply(patch(scene.path())).unwrap();
    drop(fs);
    seen.into_inner().unwrap()
}

/// Patches that are interrupted at the given operations, then recoveries with faults that start at
/// every `step`-th operation.
fn recoveries(recovering: Faults, places: &[usize], step: usize, figures: &mut Figures) {
    let interrupted = Faults { length: FOR_GOOD, ..recovering };
    let interrupted = Faults { errno: EIO, is_late: false, ..interrupted };
    for &place in places {
        let interrupted = Faults { from: place as u64, ..interrupted };
        let enough =
            |&at: &u64| !run_recovery(interrupted, Faults { from: at, ..recovering }, figures);
        (1..MOST_OPERATIONS).step_by(step * fault_stride()).find(enough).unwrap();
    }
}

/// Faults during the recovery of a patch that was interrupted in the middle of each stage; the
/// recovery has different work after each stage.
#[test]
fn faults_during_a_recovery() {
    let mut figures = Figures::default();
    for can_exchange in [true, false] {
        let records = journal_records(can_exchange);
        let middle = |stage: usize| {
            let is_in_it = |place: &usize| records[place - 1] == Some(stage);
            let places: Vec<usize> = (1..=records.len()).filter(is_in_it).collect();
            assert!(!places.is_empty(), "no operation with {stage} records: {records:?}");
            places[places.len() / 2]
        };
        let middles = [0, 1, 2, 3].map(middle);
        for length in [1, FOR_GOOD] {
            let recovering = Faults { length, can_exchange, ..Faults::ONE };
            recoveries(recovering, &middles, 5, &mut figures);
        }
    }
    println!("recoveries with faults: {figures}");
}

/// Faults during the recovery of a patch that was interrupted at every third operation. `npm run
/// stress -- fault-test` runs it.
#[test]
#[ignore = "takes minutes"]
fn every_fault_during_a_recovery() {
    for is_late in [false, true] {
        let mut figures = Figures::default();
        for can_exchange in [true, false] {
            let operations = journal_records(can_exchange).len();
            let places: Vec<usize> = (1..=operations).step_by(3).collect();
            for length in [1, 3, FOR_GOOD] {
                let recovering = Faults { length, can_exchange, is_late, ..Faults::ONE };
                recoveries(recovering, &places, 1, &mut figures);
            }
        }
        println!("recoveries with faults, taking effect {is_late}: {figures}");
    }
}

/// Zeros read from a truncated mapping are not the content of the file.
#[cfg(unix)]
#[test]
fn regression_a_file_truncated_while_it_is_edited_is_not_binary() {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    let text = "a line of text\n".repeat(80_000);
    let mut place = 0;
    loop {
        place += 1;
        let (dir, state) = (crate::support::scratch(), crate::support::scratch());
        let path = dir.path().join("a");
        std::fs::write(&path, &text).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        let cutter = file.try_clone().unwrap();
        let text = text.clone();
        let fs = Interrupted::new(move |operation| {
            if operation == place + 1 { file.write_all_at(text.as_bytes(), 0) } else { Ok(()) }
        });
        let fs = fs.and_after_stamps(move |operation| {
            if operation == place {
                cutter.set_len(0).unwrap();
            }
        });
        let edit =
            serde_json::json!({"op": "insert_after", "path": path, "anchor": "EOF", "text": "b"});
        let patch = serde_json::json!({"operations": [edit]}).into();
        let options = options(state.path(), Durability::Process);
        let outcome = Workspace::on(&fs, &options).apply(&patch);
        let code = match &outcome {
            Ok(Outcome::Rejected(rejected)) => Some(rejected.code),
            Ok(Outcome::Applied(_)) => None,
            Err(error) => Some(error.code),
        };
        assert_ne!(code, Some(Code::BinaryFile), "{place}: {outcome:?}");
        if fs.count() < place {
            assert!(place > 3, "the patch took some operations");
            break;
        }
    }
}
