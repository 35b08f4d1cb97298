//! Recoveries after other processes changed the files or the journal.

mod last_versions;

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::{
    Interrupted, anchor, fill, journals, options, patch, recover, recover_through, scratch,
    snapshot, stride, temporaries,
};
use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::{Applied, Outcome};
use hashline_core::{ApplyOptions, Durability, PatchOptions};
use hashline_core::{Workspace, WorkspaceOptions};
use hashline_disk::commit::{RecoveryReport, TEMPORARY_PREFIX};
use hashline_disk::fs::OsFileSystem;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The state after a crash: the files, and the state directory.
struct Scene {
    dir: TempDir,
    state: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene { dir: scratch(), state: scratch() };
        fill(scene.dir.path());
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn crash(&self, n: u64, patch: Value) -> bool {
        interrupt(n, patch, self.state.path(), &|| ())
    }

    fn recover(&self) -> RecoveryReport {
        recover(self.state.path())
    }

    /// Checks that no transaction left anything.
    fn check_clean(&self, label: &str) {
        assert!(journals(self.state.path()).is_empty(), "{label}");
        assert_eq!(temporaries(self.dir.path()), Vec::<String>::new(), "{label}");
    }
}

/// Interrupts a patch as if by a crash before operation `n`: all later operations fail. `rival`
/// runs just before the last operation that works. Returns false if the patch needed fewer
/// operations.
fn interrupt(n: u64, patch: Value, state: &Path, rival: &(dyn Fn() + Sync)) -> bool {
    let fs = Interrupted::new(|at| {
        if at + 1 == n {
            rival();
        }
        if at >= n {
            Err(std::io::Error::from_raw_os_error(crate::support::errors::EIO))
        } else {
            Ok(())
        }
    });
    let options = options(state, Durability::Process);
    let _ = Workspace::on(&fs, &options).apply(patch);
    fs.count() >= n
}

/// A scene for a crash before every operation of a patch with every kind of operation.
fn each_crash(mut check: impl FnMut(&Scene, &str)) {
    for n in (1..).step_by(stride()) {
        let scene = Scene::new();
        if !scene.crash(n, patch(scene.dir.path())) {
            assert!(n > 50, "the patch takes many operations");
            return;
        }
        check(&scene, &format!("before operation {n}"));
    }
}

fn applied(operations: Value, state: &Path) -> Applied {
    let patch = json!({ "operations": operations });
    let options = options(state, Durability::Process);
    match Workspace::on(&OsFileSystem, &options).apply(patch) {
        Ok(Outcome::Applied(applied)) => applied,
        other => panic!("{other:?}"),
    }
}

fn append(path: &Path, text: &str) -> Value {
    json!([{"op": "insert_after", "path": path, "anchor": "EOF", "text": text}])
}

/// Checks that the patch is complete or absent.
fn check_whole(scene: &Scene, before: &std::collections::BTreeMap<String, Vec<u8>>, label: &str) {
    let now = snapshot(scene.dir.path());
    if !now.contains_key("new/added") {
        assert_eq!(now, *before, "{label}");
        return;
    }
    assert_eq!(now["deleted"], b"again\n", "{label}");
    assert_eq!(now["linked"], now["second-name"], "{label}");
    assert!(now["edited"].starts_with(b"edited line 1\nedited line 2\nnew line 3\n"), "{label}");
    assert!(now["one"].starts_with(b"two line 1\n") && now["two"].starts_with(b"one line 1\n"));
    assert!(!now.contains_key("moved") && now.contains_key("new/deep/moved"), "{label}");
}

#[test]
fn an_interrupted_patch_is_recovered_by_the_next_call() {
    each_crash(|scene, label| {
        let before = snapshot(Scene::new().dir.path());
        let bystander = scene.path("bystander");
        applied(append(&bystander, "more"), scene.state.path());
        assert!(scene.read("bystander").ends_with("\nmore\n"), "{label}");
        fs::write(&bystander, &before["bystander"]).unwrap();
        scene.check_clean(label);
        check_whole(scene, &before, label);
    });
}

#[test]
fn a_dry_run_recovers_nothing() {
    let mut times_reported = 0;
    each_crash(|scene, label| {
        if journals(scene.state.path()).is_empty() {
            return;
        }
        let before = snapshot(scene.dir.path());
        let options = options(scene.state.path(), Durability::Process);
        let dry = PatchOptions { dry_run: true, ..PatchOptions::default() };
        let patch = json!({"operations": append(&scene.path("edited"), "x")});
        let outcome = Workspace::new(options).apply_with(&patch.into(), &dry, &Cancel::default());
        assert_eq!(snapshot(scene.dir.path()), before, "{label}");
        assert!(!journals(scene.state.path()).is_empty(), "{label}");
        if let Ok(Outcome::Rejected(rejected)) = outcome {
            let is_reported = rejected.text.contains("a dry run does not recover it");
            assert!(
                is_reported || rejected.code == Code::FileNotFound,
                "{label}: {}",
                rejected.text
            );
            times_reported += u32::from(is_reported);
        }
        assert!(scene.recover().failed.is_empty(), "{label}");
    });
    assert!(times_reported > 0);
}

#[test]
fn a_file_changed_by_another_process_after_the_crash_is_kept_with_both_versions() {
    let mut conflicts = 0;
    each_crash(|scene, label| {
        let theirs = scene.path("edited");
        fs::write(&theirs, "theirs\n").unwrap();
        let report = scene.recover();
        assert!(report.failed.is_empty() && report.damaged.is_empty(), "{report:?}");
        assert_eq!(scene.read("edited"), "theirs\n", "{label}");
        scene.check_clean(label);
        for conflict in &report.conflicts {
            assert_eq!(Path::new(&conflict.path), theirs);
            assert!(!conflict.kept.is_empty());
            for kept in &conflict.kept {
                assert!(fs::read_to_string(kept).unwrap().contains("line 5"), "{kept}");
            }
            conflicts += 1;
        }
    });
    assert!(conflicts > 0);
}

#[test]
fn a_file_that_was_to_move_and_was_changed_meanwhile_is_reported() {
    let mut reported = 0;
    each_crash(|scene, label| {
        let theirs = scene.path("moved");
        if !theirs.exists() {
            return;
        }
        fs::write(&theirs, "theirs\n").unwrap();
        let report = scene.recover();
        assert_eq!(scene.read("moved"), "theirs\n", "{label}");
        let is_named = report.conflicts.iter().any(|one| Path::new(&one.path) == theirs);
        // An uncommitted patch is rolled back, so nothing conflicts.
        assert_eq!(is_named, !report.finished.is_empty(), "{label}: {report:?}");
        reported += usize::from(is_named);
    });
    assert!(reported > 0);
}

#[test]
fn a_call_that_recovers_reports_conflicts() {
    let mut reported = 0;
    each_crash(|scene, label| {
        fs::write(scene.path("edited"), "theirs\n").unwrap();
        let applied = applied(append(&scene.path("bystander"), "more"), scene.state.path());
        let kept = fs::read_dir(scene.state.path().join("kept")).map_or(0, Iterator::count);
        let rows =
            applied.text.lines().filter(|row| row.starts_with("An interrupted patch")).count();
        assert_eq!(rows, kept, "{label}: {}", applied.text);
        reported += rows;
    });
    assert!(reported > 0);
}

/// An exchange of names can displace a concurrent process's version just before the crash.
#[test]
#[cfg_attr(windows, ignore = "where two names cannot be exchanged, such a version is lost")]
fn a_concurrent_version_displaced_just_before_the_crash_is_not_lost() {
    for name in ["edited", "moved", "changed", "deleted", "one"] {
        for n in (2..).step_by(stride()) {
            let scene = Scene::new();
            let rival = || {
                fs::write(scene.path("theirs"), "theirs\n").unwrap();
                fs::rename(scene.path("theirs"), scene.path(name)).unwrap();
            };
            if !interrupt(n, patch(scene.dir.path()), scene.state.path(), &rival) {
                break;
            }
            let report = scene.recover();
            assert!(report.failed.is_empty(), "{name}, {n}: {report:?}");
            let kept = snapshot(scene.state.path());
            let everything = [snapshot(scene.dir.path()), kept];
            let versions = everything.iter().flat_map(|tree| tree.values());
            let theirs = versions.filter(|content| *content == b"theirs\n").count();
            assert_eq!(theirs, 1, "{name}, {n}: {report:?}");
            scene.check_clean(&format!("{name}, {n}"));
        }
    }
}

#[test]
fn a_journal_waits_for_a_directory_that_was_moved_away() {
    each_crash(|scene, label| {
        let before = snapshot(Scene::new().dir.path());
        let away = scene.dir.path().with_extension("away");
        let is_begun = journals(scene.state.path()).iter().any(|name| name.ends_with(".journal"));
        fs::rename(scene.dir.path(), &away).unwrap();
        let report = scene.recover();
        fs::rename(&away, scene.dir.path()).unwrap();
        assert_eq!(report.failed.len(), usize::from(is_begun), "{label}: {report:?}");
        assert_eq!(!journals(scene.state.path()).is_empty(), is_begun, "{label}");
        let report = scene.recover();
        assert_eq!(report.is_empty(), !is_begun, "{label}: {report:?}");
        assert!(report.failed.is_empty() && report.conflicts.is_empty(), "{label}: {report:?}");
        scene.check_clean(label);
        check_whole(scene, &before, label);
    });
}

/// The inodes of the staged files of a committed patch that still has all old versions.
#[cfg(unix)]
fn staged_inodes(scene: &Scene) -> Option<Vec<u64>> {
    let text = read_journal(scene)?;
    let (_, json) = text.lines().find(|line| line.contains("\"committed\""))?.split_once(' ')?;
    let record: Value = serde_json::from_str(json).unwrap();
    let marks = record["staged"].as_array().unwrap().iter();
    let inodes = marks.filter_map(|mark| mark["inode"].as_u64()).collect();
    (!text.contains("\"published\"")).then_some(inodes)
}

#[cfg(unix)]
fn paths_of(scene: &Scene, inodes: &[u64]) -> Vec<PathBuf> {
    let paths = snapshot(scene.dir.path()).into_keys().map(|name| scene.path(&name));
    let is_one =
        |path: &PathBuf| path.symlink_metadata().is_ok_and(|file| inodes.contains(&file.ino()));
    paths.filter(is_one).collect()
}

/// What a power failure leaves of an unflushed file; its size may be preserved or not.
#[cfg(unix)]
#[derive(Clone, Copy, Debug)]
enum Loss {
    Emptied,
    Zeros,
    Half,
    OtherSector,
    Removed,
}

#[cfg(unix)]
impl Loss {
    const ALL: [Loss; 5] =
        [Loss::Emptied, Loss::Zeros, Loss::Half, Loss::OtherSector, Loss::Removed];

    fn of_placed(self) -> Loss {
        if matches!(self, Loss::Removed) { Loss::Emptied } else { self }
    }

    fn happen(self, path: &Path) {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        let mut bytes = fs::read(path).unwrap();
        let length = bytes.len();
        match self {
            Loss::Emptied => bytes.clear(),
            Loss::Zeros => bytes.fill(0),
            Loss::Half => bytes.truncate(length / 2),
            Loss::OtherSector => bytes.iter_mut().take(512).for_each(|byte| *byte ^= 1),
            Loss::Removed => return fs::remove_file(path).unwrap(),
        }
        fs::write(path, bytes).unwrap();
        fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    }
}

/// The journal was flushed and the staged files were not. A recovery published an empty file and
/// removed the old version.
#[cfg(unix)]
#[test]
fn regression_a_patch_whose_staged_files_were_lost_in_a_power_failure_is_rolled_back() {
    let before = snapshot(Scene::new().dir.path());
    let mut times = 0;
    for _ in 0..2 {
        each_crash(|scene, label| {
            let Some(inodes) = staged_inodes(scene) else { return };
            let loss = Loss::ALL[times % Loss::ALL.len()];
            // Each file in turn, and sometimes all.
            let lost = match times / Loss::ALL.len() % (inodes.len() + 1) {
                0 => &inodes[..],
                nth => &inodes[nth - 1..nth],
            };
            times += 1;
            for path in paths_of(scene, lost) {
                // After an exchange of names, both names exist.
                let is_waiting = path.to_str().unwrap().contains(TEMPORARY_PREFIX);
                let loss = if is_waiting { loss } else { loss.of_placed() };
                loss.happen(&path);
            }
            let report = scene.recover();
            let label = format!("{label}, {loss:?}: {report:?}");
            assert_eq!((report.undone.len(), report.failed.len()), (1, 0), "{label}");
            // A file that is neither complete nor empty could be another process's file.
            let is_certain = !matches!(loss, Loss::Half);
            assert!(!is_certain || report.conflicts.is_empty(), "{label}");
            assert_eq!(snapshot(scene.dir.path()), before, "{label}");
            scene.check_clean(&label);
        });
    }
    assert!(times * stride() > 50, "{times}");
}

/// The copies from which a file is rewritten in place are staged files, too.
#[cfg(unix)]
#[test]
fn regression_a_torn_copy_is_not_written_into_a_file() {
    let mut times = 0;
    let (old, new) = (linked(false), linked(true));
    for field in ["saved", "ready"] {
        each_crash(|scene, label| {
            let loss = Loss::ALL[times % Loss::ALL.len()];
            let Some(text) = read_journal(scene) else { return };
            if staged_inodes(scene).is_none() {
                return;
            }
            let before = scene.read("linked");
            let copy = copy_of_linked(scene, &text, field);
            let Some(copy) = copy.filter(|path| path.exists()) else { return };
            loss.happen(&copy);
            let report = scene.recover();
            let label = format!("{label}, {loss:?} of {field}: {report:?}");
            assert!(report.failed.is_empty(), "{label}");
            let kept = snapshot(scene.state.path());
            let now = snapshot(scene.dir.path());
            let found: Vec<_> = now.values().chain(kept.values()).collect();
            // A complete version exists; a torn file is left and reported.
            let is_there = |text: &str| found.iter().any(|content| *content == text.as_bytes());
            assert!(is_there(&old) || is_there(&new), "{label}");
            let after = scene.read("linked");
            let is_reported = after == before && !report.conflicts.is_empty();
            assert!(after == old || after == new || is_reported, "{label}");
            times += 1;
        });
    }
    assert!(times * stride() > 50, "{times}");
}

/// The copy of a version of the file rewritten in place; `field` is its field in the journal.
#[cfg(unix)]
fn copy_of_linked(scene: &Scene, journal: &str, field: &str) -> Option<PathBuf> {
    let state = scene.state.path().canonicalize().unwrap();
    journal.split(&format!("\"{field}\":\"")).find_map(|rest| {
        let path = Path::new(rest.split('"').next()?);
        path.starts_with(&state).then(|| path.to_owned())
    })
}

/// A power failure can tear a file and both copies, and preserve its old size and time.
#[cfg(unix)]
#[test]
fn regression_a_torn_file_with_its_old_time_is_reported() {
    let mut times = 0;
    each_crash(|scene, label| {
        let Some(text) = read_journal(scene) else { return };
        let copies = ["saved", "ready"].map(|field| copy_of_linked(scene, &text, field));
        let [Some(saved), Some(ready)] = copies else { return };
        if staged_inodes(scene).is_none() || scene.read("linked") != linked(false) {
            return;
        }
        if !saved.exists() || !ready.exists() {
            return;
        }
        let modified = scene.path("linked").metadata().unwrap().modified().unwrap();
        let torn = scene.read("linked").replacen("line 1", "lone 1", 1);
        fs::write(scene.path("linked"), &torn).unwrap();
        let file = fs::File::options().append(true).open(scene.path("linked")).unwrap();
        file.set_modified(modified).unwrap();
        Loss::Emptied.happen(&saved);
        Loss::Emptied.happen(&ready);
        let report = scene.recover();
        let is_reported = report.conflicts.iter().any(|one| one.path.ends_with("linked"));
        assert!(is_reported && scene.read("linked") == torn, "{label}: {report:?}");
        scene.check_clean(label);
        times += 1;
    });
    assert!(times * stride() > 5, "{times}");
}

/// The new or old content of the file that is rewritten in place.
#[cfg(unix)]
fn linked(is_new: bool) -> String {
    let scene = Scene::new();
    if is_new {
        let options = options(scene.state.path(), Durability::Process);
        let patch = patch(scene.dir.path()).into();
        Workspace::on(&OsFileSystem, &options).apply(&patch).unwrap();
    }
    scene.read("linked")
}

/// It can be neither completed nor rolled back: nothing is removed, and the report names what is
/// left.
#[cfg(unix)]
#[test]
fn a_patch_that_can_be_neither_completed_nor_rolled_back_keeps_all_files() {
    let before = snapshot(Scene::new().dir.path());
    let mut times = 0;
    each_crash(|scene, label| {
        let Some(inodes) = staged_inodes(scene) else { return };
        paths_of(scene, &inodes[..1]).iter().for_each(|path| Loss::Emptied.happen(path));
        // A waiting old version is missing, too.
        let gone = temporaries(scene.dir.path()).into_iter().map(|name| scene.path(&name));
        let mut gone =
            gone.filter(|path| !inodes.contains(&path.symlink_metadata().unwrap().ino()));
        let Some(gone) = gone.next_back() else { return };
        let content = fs::read(&gone).unwrap();
        fs::remove_file(&gone).unwrap();
        let report = scene.recover();
        assert!(report.failed.is_empty(), "{label}: {report:?}");
        assert!(!report.conflicts.is_empty(), "{label}: {report:?}");
        scene.check_clean(label);
        let trees = [snapshot(scene.dir.path()), snapshot(scene.state.path())];
        let found: Vec<_> = trees.iter().flat_map(|tree| tree.values()).collect();
        for (name, old) in before.iter().filter(|(_, old)| **old != content) {
            assert!(found.contains(&old), "{label}: {name} is lost: {report:?}");
        }
        times += 1;
    });
    assert!(times * stride() > 5, "{times}");
}

/// A power failure has lost the record, and the modification time of a file that its user wrote
/// just before.
#[cfg(unix)]
#[test]
fn regression_an_old_version_with_another_time_is_not_removed() {
    let mut times = 0;
    each_crash(|scene, label| {
        let (Some(inodes), Some(journal)) = (staged_inodes(scene), journal_path(scene)) else {
            return;
        };
        let waiting: Vec<_> = temporaries(scene.dir.path())
            .into_iter()
            .map(|name| scene.path(&name))
            .filter(|path| !inodes.contains(&path.symlink_metadata().unwrap().ino()))
            .collect();
        let old: Vec<_> = waiting.iter().map(|path| fs::read(path).unwrap()).collect();
        for path in &waiting {
            let file = fs::File::options().append(true).open(path).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        }
        let text = fs::read_to_string(&journal).unwrap();
        fs::write(&journal, text.split_inclusive('\n').next().unwrap()).unwrap();
        let report = scene.recover();
        scene.check_clean(label);
        let trees = [snapshot(scene.dir.path()), snapshot(scene.state.path())];
        for content in &old {
            let is_there = trees.iter().any(|tree| tree.values().any(|one| one == content));
            assert!(is_there, "{label}: {report:?}");
            times += 1;
        }
    });
    assert!(times * stride() > 5, "{times}");
}

#[test]
fn a_patch_whose_temporary_files_were_removed_is_reported() {
    let (mut undone, mut conflicts) = (0, 0);
    each_crash(|scene, label| {
        let gone = temporaries(scene.dir.path());
        for name in &gone {
            fs::remove_file(scene.path(name)).unwrap();
        }
        let report = scene.recover();
        assert!(report.failed.is_empty(), "{label}: {report:?}");
        scene.check_clean(label);
        for name in ["edited", "other", "linked", "bystander"] {
            assert!(scene.path(name).exists(), "{label}, {name}: {report:?}");
        }
        if !gone.is_empty() {
            for name in ["deleted", "one", "two"] {
                let path = scene.path(name);
                let is_reported = report.conflicts.iter().any(|one| Path::new(&one.path) == path);
                assert!(path.exists() || is_reported, "{label}, {name}: {report:?}");
            }
        }
        undone += report.undone.len();
        conflicts += report.conflicts.len();
    });
    assert!(undone > 0 && conflicts > 0, "{undone} {conflicts}");
}

/// After any crash, the file is the old or the new one, with the permissions of the old one.
#[cfg(unix)]
#[test]
fn regression_a_crash_keeps_the_permissions_of_a_file_that_is_deleted_and_added() {
    let mut seen = [0, 0];
    for n in 1.. {
        let scene = Scene::new();
        let path = scene.path("deleted");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o751)).unwrap();
        let before = scene.read("deleted");
        let operations = json!([
            {"op": "delete_file", "path": path},
            {"op": "add_file", "path": path, "content": "again\n"},
        ]);
        let is_crash = scene.crash(n, json!({ "operations": operations }));
        let report = scene.recover();
        assert!(report.failed.is_empty() && report.conflicts.is_empty(), "{n}: {report:?}");
        scene.check_clean(&n.to_string());
        let now = scene.read("deleted");
        assert!(now == before || now == "again\n", "{n}: {now}");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o751, "{n}");
        seen[usize::from(now == before)] += 1;
        if !is_crash {
            break;
        }
    }
    assert!(seen.iter().all(|&count| count > 1), "{seen:?}");
}

/// The path of the state directory through a new link in `links`.
#[cfg(unix)]
fn below_a_link(scene: &Scene, links: &Path) -> PathBuf {
    let (link, state) = (links.join("link"), scene.state.path());
    symlink(state.parent().unwrap(), &link).unwrap();
    link.join(state.file_name().unwrap())
}

#[cfg(unix)]
#[test]
fn a_state_directory_below_a_link_is_the_same() {
    each_crash(|scene, label| {
        let before = snapshot(Scene::new().dir.path());
        let links = scratch();
        let report = recover(&below_a_link(scene, links.path()));
        assert!(report.failed.is_empty() && report.conflicts.is_empty(), "{label}: {report:?}");
        scene.check_clean(label);
        check_whole(scene, &before, label);
    });
}

#[cfg(unix)]
#[test]
fn a_patch_that_reached_its_state_directory_by_a_link_is_recovered() {
    let mut recovered = 0;
    for n in (1..).step_by(7) {
        let scene = Scene::new();
        let links = scratch();
        let state = below_a_link(&scene, links.path());
        if !interrupt(n, patch(scene.dir.path()), &state, &|| ()) {
            break;
        }
        let report = scene.recover();
        assert!(report.failed.is_empty() && report.conflicts.is_empty(), "{n}: {report:?}");
        recovered += report.finished.len() + report.undone.len();
        scene.check_clean(&n.to_string());
    }
    assert!(recovered > 0);
}

/// Device numbers depend on the order in which devices are detected.
#[test]
fn a_device_may_have_another_number_after_a_restart() {
    each_crash(|scene, label| {
        let before = snapshot(Scene::new().dir.path());
        let is_journal = |name: &String| name.ends_with(".journal");
        for name in journals(scene.state.path()).into_iter().filter(is_journal) {
            let path = scene.state.path().join("journals").join(name);
            renumber_devices(&path);
        }
        let report = scene.recover();
        assert!(report.failed.is_empty() && report.damaged.is_empty(), "{label}: {report:?}");
        assert!(report.conflicts.is_empty(), "{label}: {report:?}");
        scene.check_clean(label);
        check_whole(scene, &before, label);
    });
}

fn renumber_devices(journal: &Path) {
    fn renumber(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match (name.as_str(), value.as_u64()) {
                        ("device", Some(number)) => *value = (number + 1).into(),
                        _ => renumber(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(renumber),
            _ => {}
        }
    }
    let text = fs::read_to_string(journal).unwrap();
    let record = |line: &str| {
        let mut record: Value = serde_json::from_str(line.split_once(' ').unwrap().1).unwrap();
        renumber(&mut record);
        format!("- {record}\n")
    };
    rewrite_journal(journal, &text.lines().map(record).collect::<String>());
}

#[test]
fn of_many_concurrent_recoveries_one_does_the_work() {
    each_crash(|scene, label| {
        let before = snapshot(Scene::new().dir.path());
        let is_open = !journals(scene.state.path()).is_empty();
        let reports: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| scene.recover())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let done: usize = reports.iter().map(|one| one.finished.len() + one.undone.len()).sum();
        assert!(done <= usize::from(is_open), "{label}: {reports:?}");
        let is_quiet = |one: &RecoveryReport| one.failed.is_empty() && one.conflicts.is_empty();
        assert!(reports.iter().all(is_quiet), "{label}: {reports:?}");
        scene.check_clean(label);
        check_whole(scene, &before, label);
    });
}

/// If several calls need the files of an interrupted patch, one recovers it and the others wait.
#[test]
fn calls_on_files_that_are_being_recovered_wait() {
    each_crash(|scene, label| {
        let state = scene.state.path();
        thread::scope(|scope| {
            for text in ["first", "second", "third"] {
                scope.spawn(move || applied(append(&scene.path("edited"), text), state));
            }
        });
        let edited = scene.read("edited");
        let is_finished = scene.path("new/added").exists();
        assert_eq!(edited.contains("new line 3\n"), is_finished, "{label}");
        for text in ["first\n", "second\n", "third\n"] {
            assert!(edited.contains(text), "{label}: {text}");
        }
        scene.check_clean(label);
    });
}

#[test]
fn another_name_of_an_interrupted_file_is_the_same_file() {
    each_crash(|scene, label| {
        let alias = scene.path("second-name");
        applied(append(&alias, "through the other name"), scene.state.path());
        let text = scene.read("linked");
        assert_eq!(text, scene.read("second-name"), "{label}");
        assert!(text.ends_with("linked line 200\nthrough the other name\n"), "{label}");
        assert_eq!(text.contains("xxx"), scene.path("new/added").exists(), "{label}");
        assert_eq!(text.contains("linked line 7\n"), !text.contains("xxx"), "{label}");
        scene.check_clean(label);
    });
}

/// An interrupted rewrite never leaves a truncated file.
#[test]
fn a_file_rewritten_in_place_that_someone_truncated_is_left() {
    let mut conflicts = 0;
    each_crash(|scene, label| {
        fs::write(scene.path("linked"), "").unwrap();
        let report = scene.recover();
        assert_eq!(scene.read("linked"), "", "{label}: {report:?}");
        scene.check_clean(label);
        for conflict in &report.conflicts {
            assert!(conflict.path.ends_with("linked"), "{label}");
            assert!((1..=2).contains(&conflict.kept.len()), "{label}");
            conflicts += 1;
        }
    });
    assert!(conflicts > 0);
}

/// Other systems do not have such names.
#[cfg(target_os = "linux")]
#[test]
fn directories_with_names_that_are_not_utf_8_are_recovered() {
    let (mut finished, mut undone) = (0, 0);
    for n in 1.. {
        let scene = Scene { dir: scratch(), state: scratch() };
        let odd = scene
            .dir
            .path()
            .join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"odd \xFF name"));
        fs::create_dir(&odd).unwrap();
        symlink(&odd, scene.path("link")).unwrap();
        fill(&odd);
        let before = snapshot(&odd);
        let crashed = scene.crash(n, patch(&scene.path("link")));
        let report = scene.recover();
        assert!(report.failed.is_empty() && report.conflicts.is_empty(), "{n}: {report:?}");
        assert!(journals(scene.state.path()).is_empty(), "{n}");
        let now = snapshot(&odd);
        assert!(now == before || now["deleted"] == b"again\n", "{n}");
        assert!(temporaries(&odd).is_empty(), "{n}");
        finished += report.finished.len();
        undone += report.undone.len();
        if !crashed {
            break;
        }
    }
    assert!(finished > 0 && undone > 0);
}

#[cfg(unix)]
#[test]
fn links_are_kept_on_another_file_system() {
    let far = tempfile::tempdir().unwrap();
    let near = scratch();
    if fs::metadata(far.path()).unwrap().dev() == fs::metadata(near.path()).unwrap().dev() {
        crate::support::print_skipped("there is only one file system here");
        return;
    }
    let mut kept = 0;
    for n in 1.. {
        let scene = Scene { dir: scratch(), state: tempfile::tempdir().unwrap() };
        let there = tempfile::tempdir().unwrap();
        // Both directions: the copy of the link is staged on the file system of the journals, or on
        // another.
        let (from, to) = (there.path().join("link"), scene.path("moved link"));
        symlink("leads nowhere", &from).unwrap();
        let patch = json!({"operations": [{"op": "move_file", "from": from, "to": to}]});
        let crashed = scene.crash(n, patch);
        let is_taken = !to.is_symlink();
        if is_taken {
            fs::write(&to, "theirs\n").unwrap();
        }
        let report = scene.recover();
        assert!(report.failed.is_empty(), "{n}: {report:?}");
        scene.check_clean(&n.to_string());
        for path in report.conflicts.iter().flat_map(|one| &one.kept) {
            assert_eq!(fs::read_link(path).unwrap(), Path::new("leads nowhere"));
            kept += 1;
        }
        if is_taken {
            assert_eq!(fs::read_to_string(&to).unwrap(), "theirs\n");
        }
        if !crashed {
            break;
        }
    }
    assert!(kept > 0);
}

/// A swap removes each name for a moment; a lookup then waits.
#[test]
fn a_call_waits_for_names_that_another_call_removed_for_a_moment() {
    let scene = Scene::new();
    let (one, two, link) = (scene.path("one"), scene.path("two"), scene.path("to one"));
    #[cfg(unix)]
    symlink("one", &link).unwrap();
    let link = if cfg!(unix) { link } else { one.clone() };
    let impatient = ApplyOptions {
        durability: Durability::Process,
        lock_timeout_ms: 0,
        ..ApplyOptions::default()
    };
    let impatient =
        WorkspaceOptions { apply: impatient, ..options(scene.state.path(), Durability::Process) };
    let meetings = AtomicUsize::new(0);
    let swapping = Interrupted::new(|_| {
        if !one.exists() {
            for path in [&one, &link] {
                let edit = json!({"operations": append(path, "edit")}).into();
                let outcome = Workspace::on(&OsFileSystem, &impatient).apply(&edit);
                let Ok(Outcome::Rejected(rejected)) = outcome else { panic!("{outcome:?}") };
                assert_eq!(rejected.code, Code::LockTimeout, "{}", rejected.text);
            }
            meetings.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    });
    let swap = json!({"operations": [
        {"op": "move_file", "from": one, "to": two},
        {"op": "move_file", "from": two, "to": one},
    ]});
    let options = options(scene.state.path(), Durability::Process);
    let outcome = Workspace::on(&swapping, &options).apply(swap);
    assert!(matches!(outcome, Ok(Outcome::Applied(_))), "{outcome:?}");
    assert!(meetings.load(Ordering::SeqCst) > 0);
    applied(append(&link, "edit"), scene.state.path());
    assert!(scene.read("one").ends_with("two line 200\nedit\n"));
}

/// However a recovery is interrupted, the next one finds all it needs.
#[test]
fn a_fault_in_a_recovery_leaves_the_rest_to_the_next_one() {
    faults_in_recoveries(61 * stride());
}

/// `npm run stress -- fault-test` runs it.
#[test]
#[ignore = "takes minutes"]
fn every_fault_in_a_recovery_leaves_the_rest_to_the_next_one() {
    faults_in_recoveries(3);
}

/// A crash before every `step`-th operation, then faults at each operation of the recovery in turn.
fn faults_in_recoveries(step: usize) {
    let before = snapshot(Scene::new().dir.path());
    for n in (1..).step_by(step) {
        for fault_at in (1..).step_by(stride()) {
            let scene = Scene::new();
            if !scene.crash(n, patch(scene.dir.path())) {
                return;
            }
            let label = format!("before operation {n}, fault at {fault_at} of the recovery");
            let fs = Interrupted::new(|at| {
                if at == fault_at {
                    Err(std::io::Error::from_raw_os_error(crate::support::errors::EIO))
                } else {
                    Ok(())
                }
            });
            let disturbed = recover_through(&fs, scene.state.path());
            let report = scene.recover();
            scene.check_clean(&label);
            check_whole(&scene, &before, &label);
            assert!(report.failed.is_empty() && report.conflicts.is_empty(), "{label}: {report:?}");
            let is_over = fs.count() < fault_at;
            match disturbed {
                Ok(report) => {
                    assert!(report.conflicts.is_empty(), "{label}: {report:?}");
                    assert!(!is_over || report.failed.is_empty(), "{label}: {report:?}");
                }
                Err(error) => {
                    assert!(!is_over && error.message.contains("state directory"), "{error:?}");
                }
            }
            if is_over {
                break;
            }
        }
    }
}

/// A journal that this process did not write can name any file.
#[test]
fn a_journal_writable_by_others_or_not_from_a_transaction_is_ignored() {
    let committed = |scene: &Scene| {
        (1..).step_by(3).find(|&n| {
            let _ = fs::remove_dir_all(scene.state.path().join("journals"));
            scene.crash(n, json!({"operations": append(&scene.path("bystander"), "more")}));
            read_journal(scene).is_some_and(|text| text.contains("\"committed\""))
        })
    };
    let scene = Scene::new();
    assert!(committed(&scene).is_some());
    let path = journal_path(&scene).unwrap();
    let own = read_journal(&scene).unwrap();
    #[cfg(unix)]
    {
        fs::set_permissions(&path, PermissionsExt::from_mode(0o660)).unwrap();
        let report = scene.recover();
        assert_eq!((report.damaged.len(), report.finished.len()), (1, 0), "{report:?}");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    }
    // A name of a temporary file that no transaction creates, in this or another directory.
    let temporary = own.split("\"temporary\":\"").nth(1).unwrap().split('"').next().unwrap();
    let secret = scene.path("deleted");
    for other in [secret.clone(), PathBuf::from("/elsewhere/.hashline-0.tmp")] {
        rewrite_journal(&path, &own.replace(temporary, other.to_str().unwrap()));
        let report = scene.recover();
        assert_eq!((report.damaged.len(), report.finished.len()), (1, 0), "{report:?}");
        assert!(secret.exists());
    }
    rewrite_journal(&path, &own);
    assert_eq!(scene.recover().finished.len(), 1);
}

fn journal_path(scene: &Scene) -> Option<PathBuf> {
    let name = journals(scene.state.path()).into_iter().find(|name| name.ends_with(".journal"))?;
    Some(scene.state.path().join("journals").join(name))
}

fn read_journal(scene: &Scene) -> Option<String> {
    fs::read_to_string(journal_path(scene)?).ok()
}

/// Writes the records of `text` with valid checksums.
fn rewrite_journal(path: &Path, text: &str) {
    let record = |line: &str| {
        let json = line.split_once(' ').unwrap().1;
        format!("{:032x} {json}\n", twox_hash::XxHash3_128::oneshot(json.as_bytes()))
    };
    fs::write(path, text.lines().map(record).collect::<String>()).unwrap();
}

/// A journal recorded on a system with links, for a patch with every kind of step. `FILES` and
/// `STATE` are placeholders for directories; each stamp has the name of its file instead of the
/// inode.
#[cfg(unix)]
const RECORDED: &str = include_str!("../journals/version-1.jsonl");

/// Creates the files that the first `records` records of [`RECORDED`] refer to.
#[cfg(unix)]
fn as_recorded(records: usize) -> Scene {
    let scene = Scene::new();
    let (files, state) =
        [&scene.dir, &scene.state].map(|dir| dir.path().canonicalize().unwrap()).into();
    let journals = state.join("journals");
    fs::create_dir(&journals).unwrap();
    fs::create_dir_all(files.join("new/deep")).unwrap();
    let text = RECORDED.lines().take(records).map(|line| format!("- {line}\n"));
    let text = text.collect::<String>();
    let text = text.replace("FILES", files.to_str().unwrap());
    let text = text.replace("STATE", state.to_str().unwrap());
    let begin: Value = serde_json::from_str(&text.lines().next().unwrap()[2..]).unwrap();
    for step in begin["steps"].as_array().unwrap() {
        // Where the new content is staged, or the old content of a file that is rewritten in place.
        for (field, content) in [("temporary", "new"), ("ready", "new"), ("saved", "old")] {
            let is_copied = field != "saved" || step["step"] == "rewrite_in_place";
            if let Some(path) = step[field].as_str().filter(|_| is_copied) {
                let old = fs::read_to_string(step["target"].as_str().unwrap_or_default());
                let new = format!("new {}\n", step["step"].as_str().unwrap());
                let content = if content == "new" { new } else { old.unwrap() };
                fs::write(path, content).unwrap();
            }
        }
    }
    let text = text.lines().map(|line| {
        let mut record: Value = serde_json::from_str(&line[2..]).unwrap();
        fill_marks(&mut record);
        format!("- {record}\n")
    });
    let journal = journals.join(".hashline-e86836eb6a9026b5.journal");
    fs::write(&journal, "").unwrap();
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(&journals, fs::Permissions::from_mode(0o700)).unwrap();
    rewrite_journal(&journal, &text.collect::<String>());
    scene
}

/// Fills the stamps with the values of their files.
#[cfg(unix)]
fn fill_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(file) = fields.get("inode").and_then(Value::as_str) {
                let file = fs::symlink_metadata(file).unwrap();
                for (name, value) in fields.iter_mut() {
                    *value = match name.as_str() {
                        "device" => file.dev().into(),
                        "inode" => file.ino().into(),
                        "size_bytes" => file.size().into(),
                        "modified_seconds" => file.mtime().into(),
                        "modified_nanoseconds" => file.mtime_nsec().into(),
                        other => panic!("{other}"),
                    };
                }
            }
            fields.values_mut().for_each(fill_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(fill_marks),
        _ => {}
    }
}

/// Journals stay readable: the crash and the recovery can happen with different releases.
#[cfg(unix)]
#[test]
fn a_recorded_journal_is_recovered() {
    let before = snapshot(Scene::new().dir.path());
    let scene = as_recorded(1);
    let report = scene.recover();
    assert_eq!((report.undone.len(), report.finished.len()), (1, 0), "{report:?}");
    scene.check_clean("begun");
    assert_eq!(snapshot(scene.dir.path()), before);

    let scene = as_recorded(2);
    let report = scene.recover();
    assert_eq!((report.undone.len(), report.finished.len()), (0, 1), "{report:?}");
    assert!(report.conflicts.is_empty() && report.failed.is_empty(), "{report:?}");
    scene.check_clean("committed");
    let mut expected = before.clone();
    for gone in ["moved", "changed"] {
        expected.remove(gone);
    }
    for (name, content) in [
        ("edited", "new rewrite\n"),
        ("other", "new rewrite\n"),
        ("linked", "new rewrite_in_place\n"),
        ("second-name", "new rewrite_in_place\n"),
        ("deleted", "new create\n"),
        ("new/", ""),
        ("new/added", "new create\n"),
        ("new/changed", "new replace\n"),
        ("new/deep/", ""),
    ] {
        expected.insert(name.to_owned(), content.as_bytes().to_vec());
    }
    for (from, to) in [("moved", "new/deep/moved"), ("one", "two"), ("two", "one")] {
        expected.insert(to.to_owned(), before[from].clone());
    }
    assert_eq!(snapshot(scene.dir.path()), expected);
}

/// With a root, a recovery only affects files in it, and no patch can write a journal.
#[test]
fn a_call_with_a_root_recovers_nothing_outside_and_writes_no_journal() {
    let scene = Scene::new();
    let confined = scene.path("confined");
    fs::create_dir(&confined).unwrap();
    fs::write(confined.join("a"), "one\n").unwrap();
    // Creates the state directories first, so that each call needs the same number of operations.
    applied(append(&scene.path("bystander"), "more"), scene.state.path());
    let mut n = 0;
    while !read_journal(&scene).is_some_and(|text| text.contains("\"committed\"")) {
        n += 1;
        scene.recover();
        let name = format!("note {n}");
        let add = json!({"op": "add_file", "path": scene.path(&name), "content": ""});
        scene.crash(n, json!({"operations": [add]}));
    }
    let before = snapshot(scene.dir.path());
    let with_root = |patch: Value, state: &Path| {
        let options = WorkspaceOptions {
            root: confined.as_path().into(),
            ..options(state, Durability::Process)
        };
        Workspace::on(&OsFileSystem, &options).apply(patch).unwrap()
    };
    let edit = json!({"operations": append(Path::new("a"), "two")});
    let outcome = with_root(edit, scene.state.path());
    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
    assert!(read_journal(&scene).is_some());
    let mut now = snapshot(scene.dir.path());
    assert_eq!(now.insert("confined/a".into(), b"one\n".to_vec()).unwrap(), b"one\ntwo\n");
    assert_eq!(now, before);
    assert_eq!(scene.recover().finished.len(), 1);

    let state = confined.join("state");
    fs::create_dir(&state).unwrap();
    let path = "state/journals/.hashline-0.journal";
    let add = json!({"operations": [{"op": "add_file", "path": path, "content": "x\n"}]});
    let Outcome::Rejected(rejected) = with_root(add, &state) else { panic!("it was written") };
    assert_eq!(rejected.code, Code::InvalidOperation, "{}", rejected.text);
    assert!(rejected.text.contains("state directory"), "{}", rejected.text);
}

/// Whatever a journal says, an old version without another name is not removed.
#[test]
fn a_staged_old_version_is_not_taken_for_a_new_one() {
    let mut committed = 0;
    each_crash(|scene, label| {
        let Some(text) = read_journal(scene) else { return };
        // Before `committed` nothing was published; after `published` old versions are removed.
        if !text.contains("\"committed\"") || text.contains("\"published\"") {
            return;
        }
        committed += 1;
        let begin = text.split_inclusive('\n').next().unwrap();
        rewrite_journal(&journal_path(scene).unwrap(), begin);
        scene.recover();
        let found: Vec<_> = [scene.dir.path(), scene.state.path()]
            .into_iter()
            .flat_map(|dir| snapshot(dir).into_values())
            .collect();
        let before = snapshot(Scene::new().dir.path());
        // A file with two names is rewritten in place.
        for (name, content) in before.iter().filter(|(name, _)| !is_linked(name)) {
            assert!(found.contains(content), "{label}: {name} is lost");
        }
    });
    assert!(committed * stride() > 10);
}

fn is_linked(name: &str) -> bool {
    ["linked", "second-name"].contains(&name)
}

#[test]
fn damaged_and_foreign_journals_are_kept_and_ignored() {
    let (dir, state) = (scratch(), scratch());
    fill(dir.path());
    fs::create_dir_all(state.path().join("journals")).unwrap();
    let target = dir.path().join("edited");
    let damaged = [
        ("a.journal", "0000 {}\n".to_owned()),
        ("b.journal", String::new()),
        ("c.journal", format!("{{\"record\":\"begin\",\"target\":{target:?}}}\n")),
    ];
    for (name, content) in &damaged {
        fs::write(state.path().join("journals").join(name), content).unwrap();
    }
    fs::write(state.path().join("journals/notes.txt"), "not a journal").unwrap();
    let before = snapshot(dir.path());
    let report = recover(state.path());
    assert_eq!(report.damaged.len(), 3, "{report:?}");
    assert_eq!(journals(state.path()).len(), 4);
    assert_eq!(snapshot(dir.path()), before);
    // They do not block other patches.
    let options = options(state.path(), Durability::Process);
    let outcome = Workspace::on(&OsFileSystem, &options).apply(patch(dir.path()));
    assert!(matches!(outcome, Ok(Outcome::Applied(_))), "{outcome:?}");
}

#[test]
fn a_live_transaction_is_left_alone() {
    let (dir, state) = (scratch(), scratch());
    fill(dir.path());
    fs::create_dir_all(state.path().join("journals")).unwrap();
    let path = state.path().join("journals/live.journal");
    fs::write(&path, "").unwrap();
    let held = fs::File::open(&path).unwrap();
    held.lock().unwrap();
    let report = recover(state.path());
    assert_eq!((report.live, report.damaged.len()), (1, 0));
    drop(held);
    assert_eq!(recover(state.path()).damaged.len(), 1);
}

/// A rewrite that preserves size and timestamps is detected by the content.
#[test]
fn a_change_that_stamps_do_not_show_is_detected() {
    let (dir, state) = (scratch(), scratch());
    let path = dir.path().join("a");
    fs::write(&path, "one\ntwo\n").unwrap();
    let edit = json!({"operations": [
        {"op": "set_line", "path": path, "anchor": anchor(1, "one"), "text": "ONE"},
    ]});
    // The other process writes when the journal is created, and the file system shows no change.
    let wrote = AtomicUsize::new(0);
    let fs_with_rival = Interrupted::new(|_| {
        if !journals(state.path()).is_empty() && wrote.fetch_add(1, Ordering::SeqCst) == 0 {
            fs::write(&path, "one\nTWO\n")?;
        }
        Ok(())
    });
    let fs_with_rival = fs_with_rival.with_frozen_stamps();
    let options = options(state.path(), Durability::Process);
    let outcome = Workspace::on(&fs_with_rival, &options).apply(edit).unwrap();
    let Outcome::Rejected(rejected) = outcome else { panic!("{outcome:?}") };
    assert_eq!(rejected.code, Code::ConcurrentChange);
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\nTWO\n");
}
