//! Users with restricted permissions: a read-only journal, a directory that cannot be searched,
//! also from the middle of a commit on, and too few file descriptors. Each case runs in its own
//! process.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "a child answers so")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{
    Interrupted, Scene, journals, options, patch, scratch, snapshot, temporaries,
};
use crate::{hold_starts, start};
use hashline_core::Code;
use hashline_core::Durability;
use hashline_core::Outcome;
use hashline_core::Workspace;
use hashline_disk::commit::RecoveryReport;
use hashline_disk::fs::OsFileSystem;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::{Value, json};

/// The environment variable with the task of a child process.
const CHILD: &str = "HASHLINE_RIGHTS_CHILD";
/// The prefix of a child's answer.
const ANSWER: &str = "answer: ";
/// The unprivileged user and group on Linux.
const NOBODY: u32 = 65534;

/// Not a test: the entry point of child processes. Recovers with a limited number of descriptors,
/// or applies a patch in a directory that is closed before an operation.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else {
        return;
    };
    let task: Value = serde_json::from_str(&task).unwrap();
    if let Some(most) = task["descriptors"].as_u64() {
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(Resource::Nofile, limit).unwrap();
    }
    if let Some(closed_at) = task["closed_at"].as_u64() {
        println!("\n{ANSWER}{}", patch_in_a_closed_directory(&task, closed_at));
        return;
    }
    if task["patch"].is_object() {
        let options = options(Path::new(task["state"].as_str().unwrap()), Durability::Process);
        let patch = task["patch"].clone().into();
        let outcome = Workspace::on(&OsFileSystem, &options).apply(&patch);
        let is_applied = matches!(outcome, Ok(Outcome::Applied(_)));
        println!("\n{ANSWER}{}", if is_applied { json!("applied") } else { json!("not") });
        return;
    }
    let report = recover(Path::new(task["state"].as_str().unwrap()));
    let failed: Vec<_> = report.failed.iter().map(|one| one.message.clone()).collect();
    let done = report.finished.len() + report.undone.len();
    println!("\n{ANSWER}{}", json!({"done": done, "failed": failed}));
}

/// The result of the call, and whether it reached that operation.
fn patch_in_a_closed_directory(task: &Value, closed_at: u64) -> Value {
    let path = |name: &str| Path::new(task[name].as_str().unwrap()).to_owned();
    let dir = path("dir");
    let fs = Interrupted::new(|at| {
        if at == closed_at {
            fs::set_permissions(&dir, PermissionsExt::from_mode(0o600))
        } else {
            Ok(())
        }
    });
    let options = options(&path("state"), Durability::Process);
    let outcome = Workspace::on(&fs, &options).apply(patch(&dir));
    let said = match outcome {
        Ok(Outcome::Applied(_)) => "applied",
        Ok(Outcome::Rejected(rejected)) if rejected.code == Code::ConcurrentChange => "concurrent",
        Ok(Outcome::Rejected(_)) => "refused",
        Err(error) if error.message.contains("and recover() completes") => "left to a recovery",
        Err(_) => "fault",
    };
    json!({"said": said, "is_done": fs.count() < closed_at})
}

fn recover(state: &Path) -> RecoveryReport {
    let _starts = hold_starts();
    crate::support::recover(state)
}

/// The answer of a child, run through `program` if given; `None` if it panicked.
fn run(prefix: &[&str], task: &Value) -> Option<Value> {
    let exe = std::env::current_exe().unwrap();
    let mut words: Vec<PathBuf> = prefix.iter().map(PathBuf::from).collect();
    words.push(exe);
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .args(["--exact", "rights::child", "--nocapture"])
        .env(CHILD, task.to_string())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = start(&mut command).and_then(Child::wait_with_output).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer = text.lines().find_map(|line| line.strip_prefix(ANSWER))?;
    serde_json::from_str(answer).ok()
}

/// A patch that was interrupted after its commit.
struct Interruption(Scene);

impl Interruption {
    fn new() -> Interruption {
        let scene = Interruption(Scene::new());
        let fs = Interrupted::new(|_| {
            if scene.is_committed() {
                Err(std::io::Error::from_raw_os_error(libc::EIO))
            } else {
                Ok(())
            }
        });
        let options = options(scene.0.state.path(), Durability::Process);
        let outcome = {
            let _starts = hold_starts();
            Workspace::on(&fs, &options).apply(patch(scene.0.dir.path()))
        };
        assert!(outcome.is_err());
        assert!(scene.is_committed());
        scene
    }

    fn is_committed(&self) -> bool {
        let mut names = journals(self.0.state.path()).into_iter();
        names.any(|name| {
            let bytes = fs::read(self.0.state.path().join("journals").join(name));
            bytes.is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains("\"committed\""))
        })
    }

    fn task(&self) -> Value {
        json!({"state": self.0.state.path()})
    }

    fn journal(&self) -> PathBuf {
        let name = journals(self.0.state.path()).into_iter().find(|one| one.ends_with(".journal"));
        self.0.state.path().join("journals").join(name.unwrap())
    }

    fn check_complete(&self) {
        assert!(journals(self.0.state.path()).is_empty());
        assert!(temporaries(self.0.dir.path()).is_empty());
        assert_eq!(fs::read(self.0.dir.path().join("deleted")).unwrap(), b"again\n");
    }
}

/// Changes the owner of everything to another user.
fn give_away(scene: &Scene) {
    let mut todo = vec![scene.path().to_owned(), scene.state.path().to_owned()];
    while let Some(path) = todo.pop() {
        std::os::unix::fs::lchown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        if path.is_dir() && !path.is_symlink() {
            todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
}

const AS_NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// Whether a child can run as another user; prints a message if not.
fn can_change_user() -> bool {
    let state = scratch();
    let is_possible = chown(state.path(), Some(NOBODY), Some(NOBODY)).is_ok()
        && run(&AS_NOBODY, &json!({"state": state.path()})).is_some();
    if !is_possible {
        crate::support::print_skipped("no process of another user can be started here");
    }
    is_possible
}

#[test]
fn a_read_only_journal_is_recovered() {
    if !can_change_user() {
        return;
    }
    let scene = Interruption::new();
    give_away(&scene.0);
    fs::set_permissions(scene.journal(), PermissionsExt::from_mode(0o400)).unwrap();
    let answer = run(&AS_NOBODY, &scene.task()).unwrap();
    assert_eq!(answer, json!({"done": 1, "failed": []}));
    scene.check_complete();
}

#[test]
fn a_journal_waits_for_a_directory_that_cannot_be_searched() {
    if !can_change_user() {
        return;
    }
    let scene = Interruption::new();
    give_away(&scene.0);
    fs::set_permissions(scene.0.dir.path(), PermissionsExt::from_mode(0o000)).unwrap();
    let answer = run(&AS_NOBODY, &scene.task()).unwrap();
    assert_eq!(answer["done"], 0);
    let message = answer["failed"][0].as_str().unwrap();
    assert!(message.contains("ermission denied"), "{message}");
    fs::set_permissions(scene.0.dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
    assert_eq!(run(&AS_NOBODY, &scene.task()).unwrap(), json!({"done": 1, "failed": []}));
    scene.check_complete();
}

/// A directory that can no longer be searched does not count as changed by other processes: the
/// result of the call is true, and a recovery completes once the directory is accessible again.
#[test]
fn regression_a_directory_closed_during_a_commit_tears_no_patch() {
    let is_root = rustix::process::geteuid().is_root();
    if is_root && !can_change_user() {
        return;
    }
    let prefix: &[&str] = if is_root { &AS_NOBODY } else { &[] };
    let (before, after) = {
        let scene = Scene::new();
        let before = snapshot(scene.path());
        let options = options(scene.state.path(), Durability::Process);
        Workspace::on(&OsFileSystem, &options).apply(patch(scene.path())).unwrap();
        (before, snapshot(scene.path()))
    };
    for closed_at in 1.. {
        let scene = Scene::new();
        if is_root {
            give_away(&scene);
        }
        let mut task = json!({"state": scene.state.path(), "dir": scene.path()});
        task["closed_at"] = closed_at.into();
        let answer = run(prefix, &task).unwrap();
        fs::set_permissions(scene.path(), PermissionsExt::from_mode(0o700)).unwrap();
        let report = run(prefix, &json!({"state": scene.state.path()})).unwrap();
        let label = format!("closed before operation {closed_at}: {answer}, {report}");
        assert!(report["failed"].as_array().unwrap().is_empty(), "{label}");
        assert!(journals(scene.state.path()).is_empty(), "{label}");
        let now = snapshot(scene.path());
        match answer["said"].as_str().unwrap() {
            "applied" => assert_eq!(now, after, "{label}"),
            "refused" | "fault" => assert_eq!(now, before, "{label}"),
            "left to a recovery" => assert!(now == before || now == after, "{label}"),
            _ => panic!("{label}"),
        }
        if answer["is_done"] == true {
            assert!(closed_at > 100);
            return;
        }
    }
}

/// For any number of descriptors: what cannot be done now is left to a later recovery, and no file
/// counts as missing because it could not be opened.
#[test]
fn too_few_descriptors_leave_the_journal_to_a_later_recovery() {
    let mut incomplete = 0;
    for descriptors in 3..60 {
        let scene = Interruption::new();
        let mut task = scene.task();
        task["descriptors"] = descriptors.into();
        let answer = run(&[], &task);
        let is_done = answer.as_ref().is_some_and(|answer| answer["done"] == 1);
        assert_eq!(is_done, journals(scene.0.state.path()).is_empty(), "{descriptors}: {answer:?}");
        incomplete += usize::from(!is_done);
        let report = recover(scene.0.state.path());
        assert_eq!(report.finished.len(), usize::from(!is_done), "{descriptors}: {report:?}");
        assert!(report.conflicts.is_empty(), "{descriptors}: {report:?}");
        scene.check_complete();
        if is_done {
            assert!(incomplete > 0);
            return;
        }
    }
    panic!("the recovery needs more than 60 descriptors");
}

/// The version, then tag, permissions and id of: owner, a user, group, mask, others.
fn access_list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, rights, number) in entries {
        list.extend(tag.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(number.to_le_bytes());
    }
    list
}

/// A new file inherits an access list from its directory; a file that replaces another must not.
#[test]
fn an_edit_grants_no_new_access() {
    let (dir, state) = (scratch(), scratch());
    let path = dir.path().join("a");
    fs::write(&path, "one\n").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    let list = access_list(&[
        (0x01, 7, u32::MAX),
        (0x02, 6, 12345),
        (0x04, 4, u32::MAX),
        (0x10, 6, u32::MAX),
        (0x20, 0, u32::MAX),
    ]);
    if let Err(cause) = xattr::set(dir.path(), "system.posix_acl_default", &list) {
        crate::support::print_skipped(&format!("no access lists here: {cause}"));
        return;
    }
    let edit = json!({"operations": [
        {"op": "insert_after", "path": path, "anchor": "EOF", "text": "two"},
    ]});
    let options = options(state.path(), Durability::Process);
    let outcome = Workspace::on(&OsFileSystem, &options).apply(edit).unwrap();
    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    assert_eq!(xattr::get(&path, "system.posix_acl_access").unwrap(), None);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

/// As an unprivileged user, appends to a file with this owner and mode; returns the owner and mode
/// afterwards.
fn edited_unprivileged(owner: (u32, u32), mode: u32, list: Option<&[u8]>) -> (u32, u32, u32) {
    let append =
        |path: &Path| json!([{"op": "insert_after", "path": path, "anchor": "EOF", "text": "x"}]);
    changed_unprivileged(owner, mode, list, append)
}

/// As an unprivileged user, deletes and adds a file with this owner and mode; returns the owner and mode
/// afterwards.
fn added_unprivileged(owner: (u32, u32), mode: u32, list: Option<&[u8]>) -> (u32, u32, u32) {
    let add = |path: &Path| {
        json!([
            {"op": "delete_file", "path": path},
            {"op": "add_file", "path": path, "content": "new\nx\n"},
        ])
    };
    changed_unprivileged(owner, mode, list, add)
}

fn changed_unprivileged(
    owner: (u32, u32),
    mode: u32,
    list: Option<&[u8]>,
    operations: impl Fn(&Path) -> Value,
) -> (u32, u32, u32) {
    let scene = Scene::new();
    give_away(&scene);
    let path = scene.path().join("edited");
    if let Some(list) = list {
        xattr::set(&path, "system.posix_acl_access", list).unwrap();
    }
    chown(&path, Some(owner.0), Some(owner.1)).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    let patch = json!({"operations": operations(&path)});
    let task = json!({"state": scene.state.path(), "patch": patch});
    assert_eq!(run(&AS_NOBODY, &task).unwrap(), json!("applied"), "{owner:?} {mode:o}");
    assert!(fs::read_to_string(&path).unwrap().ends_with("\nx\n"));
    let now = fs::metadata(&path).unwrap();
    (now.uid(), now.gid(), now.permissions().mode() & 0o7777)
}

/// If the user may not assign a new version to the group of the old one, the new version must not
/// grant access to another group, nor to members of the old group as others.
#[test]
fn regression_members_of_a_lost_group_get_no_more_access() {
    if !can_change_user() {
        return;
    }
    for (mode, then) in [(0o660, 0o600), (0o604, 0o600), (0o606, 0o600), (0o654, 0o644)] {
        assert_eq!(
            edited_unprivileged((NOBODY, 0), mode, None),
            (NOBODY, NOBODY, then),
            "{mode:o}"
        );
    }
}

/// With an access list, the group bits of the mode are its mask; the permissions of the group
/// itself are in the list.
#[test]
fn a_lost_group_that_the_list_denies_stays_denied() {
    if !can_change_user() {
        return;
    }
    let list = access_list(&[
        (0x01, 6, u32::MAX),
        (0x02, 6, 12345),
        (0x04, 0, u32::MAX),
        (0x10, 6, u32::MAX),
        (0x20, 4, u32::MAX),
    ]);
    let probe = scratch();
    if let Err(cause) = xattr::set(probe.path(), "system.posix_acl_access", &list) {
        crate::support::print_skipped(&format!("no access lists here: {cause}"));
        return;
    }
    let (_, _, mode) = edited_unprivileged((NOBODY, 0), 0o664, Some(&list));
    assert_eq!(mode & 0o007, 0, "{mode:o}");
}

/// A new version of another owner's file would belong to the user who edits it.
#[test]
fn regression_a_world_writable_file_keeps_its_owner() {
    if !can_change_user() {
        return;
    }
    for mode in [0o666, 0o676] {
        assert_eq!(edited_unprivileged((0, 0), mode, None), (0, 0, mode), "{mode:o}");
    }
}

/// A file that is deleted and added in one patch keeps the same attributes as an edited one.
#[test]
fn regression_deleting_and_adding_a_file_grants_no_access_and_keeps_its_owner() {
    if !can_change_user() {
        return;
    }
    assert_eq!(added_unprivileged((NOBODY, NOBODY), 0o751, None), (NOBODY, NOBODY, 0o751));
    for (mode, then) in [(0o660, 0o600), (0o654, 0o644)] {
        assert_eq!(added_unprivileged((NOBODY, 0), mode, None), (NOBODY, NOBODY, then), "{mode:o}");
    }
    assert_eq!(added_unprivileged((0, 0), 0o666, None), (0, 0, 0o666));
    // A file that cannot be written in place becomes the user's.
    assert_eq!(added_unprivileged((0, 0), 0o644, None), (NOBODY, NOBODY, 0o644));
    // So does a file that cannot be read; an access list it may have had is lost.
    assert_eq!(added_unprivileged((0, 0), 0o600, None), (NOBODY, NOBODY, 0o600));
    assert_eq!(added_unprivileged((NOBODY, NOBODY), 0o244, None), (NOBODY, NOBODY, 0o600));
}
