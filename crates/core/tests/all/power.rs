//! Power failures, by a model (`support/disk.rs`). A patch is stopped before each operation that
//! changes the disk, unflushed changes are lost in part or completely, then a recovery runs. All
//! files must be old or all new, without leftovers.
//!
//! A short version runs with the other tests. `npm run stress -- power-test` runs the long one; the
//! environment variable `HASHLINE_POWER_STATES` has the number of states for each power failure.

// On macOS a symbolic link cannot have a second name, which is needed to preserve it.
#![cfg(any(target_os = "linux", windows))]
#![allow(clippy::print_stdout, reason = "the figures are what this test is run for")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::disk::{Found, GRAVES, Plan, Random, Recorder, SHARE, UNWRITTEN};
use crate::support::{anchor, journals, options, scratch, snapshot, stride};
use hashline_core::Cancel;
use hashline_core::Durability;
use hashline_core::Outcome;
use hashline_core::Workspace;
use hashline_disk::commit::{
    Conflict, RecoveryReport, StateDir, TEMPORARY_PREFIX, recover_transactions,
};
use hashline_disk::fs::{FileSystem, OsFileSystem};
use serde_json::{Value, json};

/// States for each power failure in the short version.
const SHORT_STATES: usize = 3;

fn states_per_cut() -> usize {
    let number = std::env::var("HASHLINE_POWER_STATES").ok().and_then(|text| text.parse().ok());
    number.unwrap_or(SHORT_STATES)
}

/// Permissions and content of every entry below a directory.
type Picture = BTreeMap<String, (Permissions, Vec<u8>)>;

fn picture(dir: &Path) -> Picture {
    let with_rights = |(name, content): (String, Vec<u8>)| {
        let rights = std::fs::symlink_metadata(dir.join(&name)).unwrap().permissions();
        (name, (rights, content))
    };
    snapshot(dir).into_iter().map(with_rights).collect()
}

/// Files, and patches that are applied to them in sequence.
#[derive(Clone, Copy)]
struct Scene {
    fill: fn(&Path),
    patches: &'static [fn(&Path) -> Value],
    plan: fn() -> Plan,
    durability: Durability,
}

/// A scene on its own simulated disk.
struct Stage {
    base: tempfile::TempDir,
    durability: Durability,
}

impl Stage {
    fn new(fill: fn(&Path)) -> Stage {
        let stage = Stage { base: scratch(), durability: Durability::Power };
        std::fs::create_dir(stage.files()).unwrap();
        fill(&stage.files());
        stage
    }

    fn base(&self) -> PathBuf {
        self.base.path().canonicalize().unwrap()
    }

    fn files(&self) -> PathBuf {
        self.base().join("files")
    }

    /// Does not exist at first, as on a new machine.
    fn state(&self) -> PathBuf {
        self.base().join(SHARE).join("state")
    }

    /// The pictures before the first patch and after each patch.
    fn pictures(&self, scene: Scene) -> Vec<Picture> {
        let mut pictures = vec![picture(&self.files())];
        for patch in scene.patches {
            // A refused patch changes nothing and adds no picture.
            if self.apply(&OsFileSystem, *patch) {
                pictures.push(picture(&self.files()));
            }
        }
        assert!(pictures.len() > 1, "no patch works");
        pictures
    }

    fn apply(&self, fs: &dyn FileSystem, patch: fn(&Path) -> Value) -> bool {
        let options = options(&self.state(), self.durability);
        let outcome = Workspace::on(fs, &options).apply(patch(&self.files()));
        matches!(outcome, Ok(Outcome::Applied(_)))
    }

    fn recover(&self, fs: &dyn FileSystem) -> Result<RecoveryReport, String> {
        let state = StateDir::new(self.state().to_str()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        let report = recover_transactions(fs, &state, deadline, &Cancel::default());
        report.map_err(|error| error.message.into())
    }

    /// Recovers and returns the index of the resulting picture.
    fn check(&self, allowed: &[Picture], is_over: bool) -> Result<usize, String> {
        let mut report = self.recover(&OsFileSystem)?;
        if self.durability == Durability::Process {
            // A half-written new version under its final name could be another process's file.
            report.conflicts.retain(|conflict| conflict.kept.len() != 1);
        }
        if !is_without_conflict(&report) {
            return Err(format!("the recovery reports {report:?}"));
        }
        if is_over && !report.is_empty() {
            return Err(format!("the call had returned, but a recovery finds {report:?}"));
        }
        let left = journals(&self.state());
        if !left.is_empty() {
            return Err(format!("left in the state directory: {left:?}"));
        }
        let now = picture(&self.files());
        allowed.iter().position(|one| *one == now).ok_or_else(|| difference(allowed, &now))
    }
}

/// Whether a recovery completed without conflicts.
fn is_without_conflict(report: &RecoveryReport) -> bool {
    let troubles = report.damaged.len() + report.failed.len() + report.conflicts.len();
    report.live == 0 && troubles == 0
}

/// Describes the difference to the allowed pictures.
fn difference(allowed: &[Picture], now: &Picture) -> String {
    let mut out = String::from("files are mixed:");
    let names: BTreeSet<_> = allowed.iter().flat_map(Picture::keys).chain(now.keys()).collect();
    for name in names {
        let same: Vec<_> = allowed.iter().map(|one| one.get(name) == now.get(name)).collect();
        if !same.iter().all(|&same| same) {
            out += &format!("\n  {name}: like {same:?}");
        }
    }
    out
}

/// A run of a scene up to a power failure.
struct Run {
    stage: Stage,
    recorder: Recorder,
    /// The number of patches that returned success.
    acknowledged: usize,
}

impl Run {
    fn new(scene: Scene, plan: Plan) -> Run {
        let mut stage = Stage::new(scene.fill);
        stage.durability = scene.durability;
        let recorder = Recorder::new(&stage.base(), plan);
        let mut acknowledged = 0;
        for patch in scene.patches {
            let is_applied = stage.apply(&recorder, *patch);
            // The result of a call after the power failure is lost.
            if recorder.is_cut() {
                break;
            }
            acknowledged += usize::from(is_applied);
        }
        Run { stage, recorder, acknowledged }
    }

    /// The allowed pictures: an interrupted call has taken effect or not; a call that returned has.
    fn allowed<'p>(&self, pictures: &'p [Picture]) -> &'p [Picture] {
        let most = if self.recorder.is_cut() { self.acknowledged + 1 } else { self.acknowledged };
        &pictures[self.acknowledged..=most.min(pictures.len() - 1)]
    }
}

#[derive(Default)]
struct Figures {
    cuts: AtomicU64,
    states: AtomicU64,
    /// How often each picture resulted.
    found: Mutex<BTreeMap<usize, u64>>,
}

impl Figures {
    fn count(&self, patches: usize) {
        self.states.fetch_add(1, Ordering::Relaxed);
        *self.found.lock().unwrap().entry(patches).or_default() += 1;
    }

    fn print(&self, scene: &str) {
        let found = self.found.lock().unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(patches, times)| format!("{times} {}", ["old", "new", "new twice"][*patches]))
            .collect();
        let (cuts, states) = (&self.cuts, &self.states);
        println!(
            "{scene}: {} cuts, {} states of the disk: {}",
            cuts.load(Ordering::Relaxed),
            states.load(Ordering::Relaxed),
            found.join(", ")
        );
    }
}

/// Cuts the power before each operation from `first` on, and after the last one. Returns an error
/// for the first state from which a recovery results in a picture that is not allowed.
fn explore(scene: Scene, plan: Plan, first: u64, limit: usize) -> Result<Figures, String> {
    let last = Run::new(scene, plan).recorder.count() + 1;
    explore_to(scene, plan, first, last, limit)
}

fn explore_to(
    scene: Scene,
    plan: Plan,
    first: u64,
    last: u64,
    limit: usize,
) -> Result<Figures, String> {
    let pictures = Stage::new(scene.fill).pictures(scene);
    let (next, figures, fault) = (AtomicU64::new(first), Figures::default(), Mutex::new(None));
    let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while fault.lock().unwrap().is_none() {
                    let cut_at = next.fetch_add(stride() as u64, Ordering::Relaxed);
                    if cut_at > last {
                        return;
                    }
                    if let Err(message) =
                        one_cut(scene, Plan { cut_at, ..plan }, &pictures, limit, &figures)
                    {
                        *fault.lock().unwrap() = Some(message);
                    }
                }
            });
        }
    });
    fault.into_inner().unwrap().map_or(Ok(figures), Err)
}

fn one_cut(
    scene: Scene,
    plan: Plan,
    pictures: &[Picture],
    limit: usize,
    figures: &Figures,
) -> Result<(), String> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ plan.cut_at);
    let run = Run::new(scene, plan);
    let labels = run.recorder.labels();
    let states = run.recorder.states(limit, &mut random);
    figures.cuts.fetch_add(1, Ordering::Relaxed);
    let mut used = Some(run);
    for state in &states {
        let run = used.take().unwrap_or_else(|| Run::new(scene, plan));
        assert_eq!(run.recorder.labels(), labels, "the same patch takes the same steps");
        run.recorder.lose(state);
        let is_over = !run.recorder.is_cut() && !run.recorder.has_log();
        let found = run.stage.check(run.allowed(pictures), is_over);
        let found = found.map_err(|message| explain(&run.recorder, plan, state, &message))?;
        figures.count(run.acknowledged + found);
    }
    Ok(())
}

fn explain(recorder: &Recorder, plan: Plan, state: &Found, message: &str) -> String {
    let labels = recorder.labels();
    let when = if recorder.is_cut() {
        format!("cut before operation {} ({})", plan.cut_at, labels[plan.cut_at as usize - 1])
    } else {
        format!("cut after all {} operations", labels.len())
    };
    format!("{when}, {plan:?}, {}\n{message}", recorder.describe(state))
}

fn survives(name: &str, scene: Scene, first: u64) {
    let figures = explore(scene, (scene.plan)(), first, states_per_cut());
    let figures = figures.unwrap_or_else(|message| {
        panic!("{name}: {}", message.chars().take(3000).collect::<String>())
    });
    figures.print(name);
    assert!(figures.found.lock().unwrap().len() > 1);
}

/// The files of the other tests, and further kinds of files.
fn fill(dir: &Path) {
    crate::support::fill(dir);
    let lines: String = (1..=300).map(|n| format!("shrunk line {n}\n")).collect();
    std::fs::write(dir.join("shrunk"), &lines).unwrap();
    std::fs::hard_link(dir.join("shrunk"), dir.join("shrunk-too")).unwrap();
    std::fs::write(dir.join("windows"), "one\r\ntwo\r\n").unwrap();
    std::fs::write(dir.join("emptied"), "all of it\n").unwrap();
    std::fs::create_dir(dir.join("sub")).unwrap();
    fill_as_on_unix(dir);
}

#[cfg(unix)]
fn fill_as_on_unix(dir: &Path) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    std::fs::set_permissions(dir.join("emptied"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("nowhere", dir.join("dangling")).unwrap();
    symlink("edited", dir.join("pointer")).unwrap();
}

/// Few users may create links there; regular files replace them.
#[cfg(windows)]
fn fill_as_on_unix(dir: &Path) {
    std::fs::write(dir.join("dangling"), "nowhere").unwrap();
    std::fs::write(dir.join("pointer"), "edited").unwrap();
}

/// A patch with every kind of operation on these files.
fn patch(dir: &Path) -> Value {
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let mut patch = crate::support::patch(dir);
    let more = json!([
        {"op": "replace_text", "path": path("shrunk"), "old_text": "shrunk line 100\n", "new_text": ""},
        {"op": "replace_text", "path": path("shrunk"), "old_text": "shrunk line 1\n", "new_text": ""},
        {"op": "set_line", "path": path("windows"), "anchor": anchor(2, "two"), "text": "TWO"},
        {"op": "replace_text", "path": path("emptied"), "old_text": "all of it\n", "new_text": ""},
        {"op": "add_file", "path": path("sub/empty"), "content": ""},
        {"op": "delete_file", "path": path("dangling")},
        {"op": "move_file", "from": path("pointer"), "to": path("sub/pointer")},
    ]);
    let operations = patch["operations"].as_array_mut().unwrap();
    operations.extend(more.as_array().unwrap().iter().cloned());
    patch
}

/// The label of operations that write a record of a journal.
const JOURNAL_WRITE: &str = "write share/state/journals/*.new";

const EVERY_KIND: Scene =
    Scene { fill, patches: &[patch], plan: Plan::default, durability: Durability::Power };

const UNSYNCED: Scene = Scene { durability: Durability::Process, ..EVERY_KIND };

#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn a_patch_with_every_kind_of_operation() {
    survives("every kind of operation", EVERY_KIND, 1);
}

#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn without_exchange_of_names() {
    let plan = || Plan { can_exchange: false, ..Plan::default() };
    survives("without exchange of names", Scene { plan, ..EVERY_KIND }, 1);
}

/// As on NTFS: names cannot be exchanged and directories cannot be flushed, but changes of names
/// reach the disk in sequence.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn with_a_log_of_names() {
    let plan = || Plan { can_exchange: false, has_log: true, ..Plan::default() };
    survives("names in a log", Scene { plan, ..EVERY_KIND }, 1);
    survives("names in a log, moves", Scene { plan, ..MOVES }, 1);
    match explore_unflushed(plan(), 1, states_per_cut() * 2) {
        Ok(figures) => figures.print("names in a log, files not flushed by their writer"),
        Err(message) => panic!("{message}"),
    }
}

/// While a patch is rolled back, the new version temporarily has two names. A recovery took the
/// second one for another process's version and stopped.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn regression_a_patch_rolled_back_without_exchange_of_names() {
    let plan = || Plan { can_exchange: false, has_log: true, ..Plan::default() };
    for (name, label) in [("halfway", "link"), ("while it was prepared", "copy attributes")] {
        let scene = Scene { plan, ..EVERY_KIND };
        let fault_at = operation(scene, label, 0);
        let figures =
            explore(scene, Plan { fault_at: Some(fault_at), ..plan() }, fault_at, states_per_cut());
        let name = format!("names in a log, rolled back {name}");
        figures.unwrap_or_else(|message| panic!("{name}: {message:.3000}")).print(&name);
    }
}

/// The index of the operation with a label that is the `nth` from the end.
fn operation(scene: Scene, label: &str, nth: usize) -> u64 {
    let labels = Run::new(scene, (scene.plan)()).recorder.labels();
    let found = labels.iter().enumerate().filter(|(_, one)| one.starts_with(label));
    let found: Vec<_> = found.map(|(at, _)| at as u64 + 1).collect();
    found[found.len() - 1 - nth]
}

/// The end of a long message, which shows the difference.
fn tail(message: &str) -> &str {
    let start = message.len().saturating_sub(3000);
    let start = (start..message.len()).find(|&at| message.is_char_boundary(at));
    &message[start.unwrap_or(0)..]
}

/// With `durability: 'process'`, and the journal on a disk that kept its power: contents of staged
/// files are lost although their names exist, and names are lost although the journal records them.
/// After old versions are removed, nothing is guaranteed.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn unflushed_staged_files_with_a_flushed_journal() {
    for (name, can_exchange) in [("not flushed", true), ("not flushed, no exchange", false)] {
        let plan = Plan { keeps_state: true, can_exchange, ..Plan::default() };
        let labels = Run::new(UNSYNCED, plan).recorder.labels();
        let published = labels.iter().rposition(|label| label == JOURNAL_WRITE).unwrap();
        let figures = explore_to(UNSYNCED, plan, 1, published as u64 + 2, states_per_cut());
        let figures = figures.unwrap_or_else(|message| panic!("{name}: {}", tail(&message)));
        figures.print(name);
        assert_eq!(figures.found.lock().unwrap().len(), 2, "all old, and all new");
    }
}

/// With `durability: 'process'`, and everything on one disk: the record `committed` or the whole
/// journal can be lost while data written in place is on disk. The patch may be torn then, but no
/// recovery removes the only copy of an old version.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn regression_the_only_old_version_is_kept_if_the_journal_lost_its_last_record() {
    let [old, new] = &Stage::new(fill).pictures(UNSYNCED)[..] else { panic!("two pictures") };
    for can_exchange in [true, false] {
        let plan = Plan { can_exchange, ..Plan::default() };
        let labels = Run::new(UNSYNCED, plan).recorder.labels();
        let mut written = (1..).zip(&labels).filter(|(_, label)| *label == JOURNAL_WRITE);
        let (committed, _) = written.nth(1).unwrap();
        let (first, last) = (committed + 1, labels.len() as u64 + 1);
        let figures = Figures::default();
        for cut_at in (first..=last).step_by(stride()) {
            let plan = Plan { cut_at, ..plan };
            let mut random = Random(0xA076_1D64_78BD_642F ^ cut_at);
            figures.cuts.fetch_add(1, Ordering::Relaxed);
            let mut used = Some(Run::new(UNSYNCED, plan));
            let states = used.as_ref().unwrap().recorder.states(states_per_cut(), &mut random);
            for state in states {
                let state = match random.below(2) {
                    0 => state,
                    _ => state.with_whole_versions(&mut random),
                };
                let run = used.take().unwrap_or_else(|| Run::new(UNSYNCED, plan));
                run.recorder.lose(&state);
                let found = check_old_versions(&run, old, new).unwrap_or_else(|message| {
                    panic!("{}", tail(&explain(&run.recorder, plan, &state, &message)))
                });
                figures.count(found);
            }
        }
        figures.print("not flushed, on one disk");
    }
}

/// Recovers, and returns whether all contents are new. Otherwise every old version that existed
/// before still exists, possibly under another name.
fn check_old_versions(run: &Run, old: &Picture, new: &Picture) -> Result<usize, String> {
    let everything = || -> BTreeSet<Vec<u8>> {
        let below = snapshot(&run.stage.base()).into_iter();
        below.filter(|(name, _)| !name.starts_with(GRAVES)).map(|(_, content)| content).collect()
    };
    let before = everything();
    let report = run.stage.recover(&OsFileSystem)?;
    // Unflushed permissions can be lost, too; only contents are compared.
    let contents = |picture: &Picture| -> BTreeMap<String, Vec<u8>> {
        picture.iter().map(|(name, (_, content))| (name.clone(), content.clone())).collect()
    };
    let is_new = contents(&picture(&run.stage.files())) == contents(new);
    let after = everything();
    for (name, (_, content)) in old {
        if !is_new && before.contains(content) && !after.contains(content) {
            return Err(format!("{name}: its old version was removed, {report:?}"));
        }
    }
    Ok(usize::from(is_new))
}

/// The files are restored before the call returns, and stay so.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn a_patch_that_is_rolled_back() {
    for (name, label) in [
        ("rolled back when all was in place", "flush directory of files"),
        ("rolled back halfway", if cfg!(unix) { "exchange" } else { "link" }),
        ("refused while it was prepared", "copy attributes"),
    ] {
        let fault_at = operation(EVERY_KIND, label, usize::from(label.starts_with("flush")));
        let plan = Plan { fault_at: Some(fault_at), ..Plan::default() };
        let figures = explore(EVERY_KIND, plan, fault_at, states_per_cut());
        figures
            .unwrap_or_else(|message| {
                panic!("{name}: {}", message.chars().take(3000).collect::<String>())
            })
            .print(name);
    }
}

/// A later call does not lose what an earlier one acknowledged.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn two_patches_of_the_same_files() {
    fn second(dir: &Path) -> Value {
        let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
        json!({"operations": [
            {"op": "set_line", "path": path("edited"), "anchor": anchor(1, "edited line 1"), "text": "second"},
            {"op": "set_line", "path": path("linked"), "anchor": anchor(1, "linked line 1"), "text": "second"},
            {"op": "delete_file", "path": path("new/deep/moved")},
            {"op": "move_file", "from": path("new/added"), "to": path("moved")},
            {"op": "add_file", "path": path("new/added"), "content": "second\n"},
        ]})
    }
    let first = Run::new(EVERY_KIND, Plan::default()).recorder.count() + 1;
    survives("the second of two patches", Scene { patches: &[patch, second], ..EVERY_KIND }, first);
}

/// A second power failure interrupts the recovery.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn a_power_failure_during_recovery() {
    let first_cuts = Run::new(EVERY_KIND, Plan::default()).recorder.count();
    let found = cut_twice(EVERY_KIND, Plan::default(), first_cuts, states_per_cut() * 40);
    assert!(found[0] > 0 && found[1] > 0);
    print_pairs("a second cut during the recovery", found);
}

/// The same if staged files were not flushed: a recovery that rolls the patch back was interrupted,
/// and the next one completed the rest of the patch.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn regression_a_power_failure_during_a_rollback() {
    for can_exchange in [true, false] {
        let plan = Plan { keeps_state: true, can_exchange, ..Plan::default() };
        let labels = Run::new(UNSYNCED, plan).recorder.labels();
        let published = labels.iter().rposition(|label| label == JOURNAL_WRITE).unwrap();
        let found = cut_twice(UNSYNCED, plan, published as u64, states_per_cut() * 10);
        assert!(found[0] > 0, "a patch with lost versions is rolled back");
        print_pairs("not flushed, a second cut during the recovery", found);
    }
}

/// Runs pairs of power failures, the first before one of the operations 2 to `last` + 1. Returns
/// how often all files were old, and how often new.
fn cut_twice(scene: Scene, plan: Plan, last: u64, pairs: usize) -> [u64; 2] {
    let pictures = Stage::new(scene.fill).pictures(scene);
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let mut found = [0, 0];
    for _ in 0..pairs / stride() {
        let first = Plan { cut_at: 2 + random.below(last as usize) as u64, ..plan };
        let run = Run::new(scene, first);
        let choices = run.recorder.states(states_per_cut(), &mut random);
        let state = &choices[random.below(choices.len())];
        run.recorder.lose(state);
        let again = Plan { cut_at: 1 + random.below(90) as u64, ..plan };
        let recovery = Recorder::new(&run.stage.base(), again);
        let _ = run.stage.recover(&recovery);
        let choices = recovery.states(states_per_cut(), &mut random);
        let second_state = &choices[random.below(choices.len())];
        recovery.lose(second_state);
        let which = run.stage.check(run.allowed(&pictures), false).unwrap_or_else(|message| {
            let first = explain(&run.recorder, first, state, "");
            panic!("{first}\nthen {}", explain(&recovery, again, second_state, &message))
        });
        found[run.acknowledged + which] += 1;
    }
    found
}

fn print_pairs(name: &str, [old, new]: [u64; 2]) {
    println!("{name}: {} pairs of cuts: {old} old, {new} new", old + new);
}

/// A file that was rewritten in place without a flush is flushed before its copies are removed.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn regression_a_file_rewritten_in_place_is_flushed_before_its_copies_are_removed() {
    let scene = Scene {
        fill: |dir| {
            std::fs::write(dir.join("a"), "old\n").unwrap();
            std::fs::hard_link(dir.join("a"), dir.join("b")).unwrap();
        },
        patches: &[|dir| {
            let edit = json!({"op": "set_line", "path": dir.join("a"), "anchor": anchor(1, "old"), "text": "new"});
            json!({ "operations": [edit] })
        }],
        ..UNSYNCED
    };
    let labels = Run::new(scene, Plan::default()).recorder.labels();
    let removal = |label: &String| label == "unlink share/state/journals/*.tmp";
    let cut_at = labels.iter().position(removal).unwrap() as u64 + 1;
    let run = Run::new(scene, Plan { cut_at, ..Plan::default() });
    let recovery = Recorder::new(&run.stage.base(), Plan::default());
    let report = run.stage.recover(&recovery).unwrap();
    assert_eq!(report.finished.len(), 1, "{report:?}");
    let labels = recovery.labels();
    let before = &labels[..labels.iter().position(removal).unwrap()];
    assert!(before.iter().any(|label| label == &format!("flush file {UNWRITTEN}")), "{labels:?}");
}

/// A patch without temporary files in its new directories.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn moves_into_new_directories() {
    survives("moves into new directories", MOVES, 1);
}

const MOVES: Scene = Scene {
    fill: |dir| std::fs::write(dir.join("a"), "a\n").unwrap(),
    patches: &[|dir| {
        let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
        json!({"operations": [{"op": "move_file", "from": path("a"), "to": path("b/c/d")}]})
    }],
    plan: Plan::default,
    durability: Durability::Power,
};

/// A refused call creates the state directory, too.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn a_patch_after_a_refused_one() {
    let scene = Scene {
        patches: &[
            |dir| {
                let path = dir.join("edited");
                let edit =
                    json!({"op": "replace_text", "path": path, "old_text": "none", "new_text": ""});
                json!({ "operations": [edit] })
            },
            patch,
        ],
        ..EVERY_KIND
    };
    survives("a patch after a refused one", scene, 1);
}

/// If a call created a part of the state directory and then failed, the next call found that part
/// and assumed that it was flushed.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn regression_a_patch_after_one_that_could_not_create_the_state_directory() {
    let refused = Scene { patches: &[patch, patch], ..EVERY_KIND };
    for (name, label) in [
        ("the directory of locks is not made", "make directory share/state/locks"),
        ("the entry of the state directory is not flushed", "flush directory of share/state"),
    ] {
        let labels = Run::new(EVERY_KIND, Plan::default()).recorder.labels();
        let fault_at = labels.iter().position(|one| one == label).map(|at| at as u64 + 1);
        assert!(fault_at.is_some(), "{labels:?}");
        let figures = explore(refused, Plan { fault_at, ..Plan::default() }, 1, states_per_cut());
        figures.unwrap_or_else(|message| panic!("{name}: {message:.3000}")).print(name);
    }
}

/// A file that its writer did not flush may lose the writer's change, as it would without a patch;
/// the patch itself is still complete or absent.
#[test]
#[cfg_attr(windows, ignore = "Wine keeps names of removed files that are open, as all are here")]
fn files_written_just_before_the_patch() {
    match explore_unflushed(Plan::default(), 1, states_per_cut() * 2) {
        Ok(figures) => figures.print("files not flushed by their writer"),
        Err(message) => panic!("{message}"),
    }
}

const UNFLUSHED: [&str; 5] = ["first", "second", "b/third", "b/fourth", "fifth"];

/// Edits two of the files and one in place, removes one and moves one.
fn patch_unflushed(dir: &Path) -> Value {
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let edit = |name: &str| json!({"op": "set_line", "path": path(name), "anchor": anchor(2, "two"), "text": "new"});
    json!({"operations": [
        edit("first"),
        edit("second"),
        edit("fifth"),
        {"op": "delete_file", "path": path("b/third")},
        {"op": "move_file", "from": path("b/fourth"), "to": path("moved")},
    ]})
}

fn run_unflushed(plan: Plan) -> Run {
    let stage = Stage::new(|dir| {
        for name in UNFLUSHED {
            std::fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
            std::fs::write(dir.join(name), "older\n").unwrap();
        }
        std::fs::hard_link(dir.join("fifth"), dir.join("fifth-too")).unwrap();
    });
    let recorder = Recorder::new(&stage.base(), plan);
    for name in UNFLUSHED {
        let path = stage.files().join(name);
        if name.contains('/') {
            recorder.replace_unflushed(&path, b"one\ntwo\nthree\n");
        } else {
            recorder.rewrite_unflushed(&path, b"one\ntwo\nthree\n");
        }
    }
    let is_applied = stage.apply(&recorder, patch_unflushed);
    let acknowledged = usize::from(is_applied && !recorder.is_cut());
    Run { stage, recorder, acknowledged }
}

fn explore_unflushed(plan: Plan, first: u64, limit: usize) -> Result<Figures, String> {
    let figures = Figures::default();
    for cut_at in (first..=run_unflushed(plan).recorder.count() + 1).step_by(stride()) {
        let plan = Plan { cut_at, ..plan };
        let mut random = Random(0x2545_F491_4F6C_DD1D ^ cut_at);
        figures.cuts.fetch_add(1, Ordering::Relaxed);
        for state in &run_unflushed(plan).recorder.states(limit, &mut random) {
            let run = run_unflushed(plan);
            run.recorder.lose(state);
            let which = check_unflushed(&run);
            let which = which.map_err(|message| explain(&run.recorder, plan, state, &message))?;
            figures.count(which);
        }
    }
    Ok(figures)
}

/// A file rewritten in place is old or new, or has lost what its writer did not flush. If it is
/// neither after the rewrite started, both versions are kept, and the report names them.
fn check_in_place(run: &Run, now: &[u8], report: &mut RecoveryReport) -> Result<(), String> {
    let is_version =
        |content: &[u8]| [&b"one\ntwo\nthree\n"[..], b"one\nnew\nthree\n"].contains(&content);
    if is_version(now) {
        return Ok(());
    }
    let is_reported = |one: &Conflict| one.path.ends_with("fifth");
    let reported: Vec<_> = report.conflicts.extract_if(.., |one| is_reported(one)).collect();
    let is_begun = run.recorder.labels().iter().any(|label| label == "write files/fifth");
    let kept: Vec<_> = reported.iter().flat_map(|one| &one.kept).map(std::fs::read).collect();
    let is_kept = |one: &std::io::Result<Vec<u8>>| one.as_deref().is_ok_and(is_version);
    if !is_begun || kept.len() == 2 && kept.iter().all(is_kept) {
        Ok(())
    } else {
        Err(format!("the file in place is {now:?}, {reported:?}, {kept:?}"))
    }
}

fn check_unflushed(run: &Run) -> Result<usize, String> {
    let mut report = run.stage.recover(&OsFileSystem)?;
    let now = snapshot(&run.stage.files());
    check_in_place(run, &now["fifth"], &mut report)?;
    let is_new = |name| now.get(name).is_some_and(|content| content == b"one\nnew\nthree\n");
    let steps = [
        is_new("first"),
        is_new("second"),
        is_new("fifth"),
        !now.contains_key("b/third"),
        !now.contains_key("b/fourth"),
        now.get("moved").is_some_and(|content| content == b"one\ntwo\nthree\n"),
    ];
    let is_whole = steps.iter().all(|&step| step == steps[0]);
    let is_temporary = |name: &String| name.contains(TEMPORARY_PREFIX);
    let is_clean = is_without_conflict(&report)
        && journals(&run.stage.state()).is_empty()
        && !now.keys().any(is_temporary)
        && (run.recorder.is_cut() || run.recorder.has_log() || report.is_empty());
    if is_whole && is_clean && (steps[0] || run.acknowledged == 0) {
        Ok(usize::from(steps[0]))
    } else {
        Err(format!("steps that were taken: {steps:?}, {report:?}"))
    }
}

/// Omits each flush in turn: the model must detect the damage. The exceptions are listed with a
/// reason.
#[test]
#[ignore = "takes minutes: npm run stress -- power-test"]
fn every_flush_is_needed() {
    let limit = states_per_cut().max(20);
    let flushes = |recorder: &Recorder| {
        let labels = recorder.labels();
        let named = |at: u64| (at, labels[at as usize - 1].clone());
        recorder.flushes().into_iter().map(named).collect::<Vec<_>>()
    };
    let mut needless = Vec::new();
    let mut number = 0;
    let mut judge = |scene: &str, at: u64, label: &str, result: Result<Figures, String>| {
        number += 1;
        match result {
            Ok(_) => {
                println!("{scene}, without {label} (operation {at}): not missed");
                needless.push(format!("{scene}: {label}"));
            }
            Err(message) => {
                let found = message.lines().last().unwrap_or_default().trim();
                println!("{scene}, without {label} (operation {at}): {found:.100}");
            }
        }
    };
    let taken_back = operation(EVERY_KIND, "flush directory of files", 1);
    let scenes = [
        ("every kind", EVERY_KIND, Plan::default()),
        ("moves", MOVES, Plan::default()),
        ("rolled back", EVERY_KIND, Plan { fault_at: Some(taken_back), ..Plan::default() }),
    ];
    for (name, scene, plan) in scenes {
        for (at, label) in flushes(&Run::new(scene, plan).recorder) {
            // Sources that were flushed before the patch; another scene has unflushed ones.
            if at > plan.fault_at.unwrap_or(0) && !label.ends_with(UNWRITTEN) {
                let without = Plan { ignored_flush: Some(at), ..plan };
                judge(name, at, &label, explore(scene, without, at + 1, limit));
            }
        }
    }
    for (at, label) in flushes(&run_unflushed(Plan::default()).recorder) {
        let without = Plan { ignored_flush: Some(at), ..Plan::default() };
        judge("unflushed files", at, &label, explore_unflushed(without, at + 1, limit));
    }
    println!("{number} flushes, each omitted once: {} noticed", number - needless.len());
    let expected = [
        // An empty file has no content to lose.
        "every kind: flush file files/sub/*.tmp",
        // Before `committed`: if names of new versions are lost, the patch is rolled back.
        "every kind: flush directory of files/*.tmp",
        "every kind: flush directory of files/sub/*.tmp",
        // Before `published`: old versions are removed from the same directory, and a removal never
        // reaches the disk before earlier changes of the same names.
        "every kind: flush directory of files/*.tmp",
        // `published`: the recovery detects that everything is in place. The flush is for processes
        // that change a file right afterwards, so that they do not conflict with the patch.
        "every kind: flush file share/state/journals/*.new",
        // The moved file is in the same directory, which is flushed after the move.
        "moves: flush directory of files/b",
        // `committed` and `published`: a single move is atomic without a journal.
        "moves: flush file share/state/journals/*.new",
        "moves: flush file share/state/journals/*.new",
        // A recovery also detects the rollback by the missing new version.
        "rolled back: flush file share/state/journals/*.new",
        // A directory that is removed itself.
        "rolled back: flush directory of files/new/*.tmp",
        // The copies of a file that is rewritten in place and has one sector, which cannot be torn.
        // The scene "every kind" needs the flush for larger files.
        "unflushed files: flush file share/state/journals/*.tmp",
        "unflushed files: flush file share/state/journals/*.tmp",
        // Before `committed`, as above.
        "unflushed files: flush directory of files/*.tmp",
        "unflushed files: flush directory of share/state/journals/*.tmp",
        // Files that were renamed just before; the model treats their contents as flushed.
        "unflushed files: flush file of an unwritten file",
        "unflushed files: flush file of an unwritten file",
        // Before `published`, as above.
        "unflushed files: flush directory of files/b/*.tmp",
        "unflushed files: flush directory of files/moved",
        // `published`, as above.
        "unflushed files: flush file share/state/journals/*.new",
    ];
    assert_eq!(needless, expected);
}
