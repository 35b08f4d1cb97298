//! State directories that must not be trusted, and journals that must not be read.

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "a child answers so")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{
    Interrupted, Scene, journals, options, print_skipped, recover, recover_through, scratch,
};
use crate::{hold_starts, start};
use hashline_core::Code;
use hashline_core::Durability;
use hashline_core::Outcome;
use hashline_core::Workspace;
use hashline_disk::commit::StateDir;
use hashline_disk::fs::OsFileSystem;
use hashline_disk::records::RecordStore;
use serde_json::{Value, json};

/// The environment variable that marks a child process.
const CHILD: &str = "HASHLINE_STATE_CHILD";

/// The refusal of an edit of `edited`; checks that the file is unchanged.
fn refusal(scene: &Scene, state: &Path) -> (Code, String) {
    let path = scene.path().join("edited");
    let before = fs::read(&path).unwrap();
    let edit =
        json!({"operations": [{"op": "insert_after", "path": path, "anchor": "EOF", "text": "x"}]});
    let options = options(state, Durability::Process);
    let outcome = Workspace::on(&OsFileSystem, &options).apply(edit).unwrap();
    let Outcome::Rejected(rejected) = outcome else { panic!("{outcome:?}") };
    assert_eq!(fs::read(&path).unwrap(), before);
    (rejected.code, rejected.text)
}

/// The owner of the directory can put a link in it that leads anywhere.
#[test]
fn regression_a_link_in_the_state_directory_is_not_followed() {
    for name in ["locks", "journals"] {
        let (scene, elsewhere) = (Scene::new(), scratch());
        symlink(elsewhere.path(), scene.state.path().join(name)).unwrap();
        let (code, text) = refusal(&scene, scene.state.path());
        assert_eq!(code, Code::InvalidArgument, "{text}");
        assert!(text.contains("state directory") && text.contains(name), "{text}");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn regression_a_directory_that_others_may_write_is_not_trusted() {
    for name in ["locks", "journals"] {
        let scene = Scene::new();
        let directory = scene.state.path().join(name);
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, PermissionsExt::from_mode(0o777)).unwrap();
        let (code, text) = refusal(&scene, scene.state.path());
        assert_eq!(code, Code::InvalidArgument, "{text}");
        assert!(text.contains("other users may write to"), "{text}");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "{name}");
    }
}

/// In a directory that others may write, any file may be theirs.
#[test]
fn regression_a_state_directory_that_others_may_write_is_refused() {
    for mode in [0o777, 0o1777, 0o770, 0o707] {
        let scene = Scene::new();
        fs::set_permissions(scene.state.path(), PermissionsExt::from_mode(mode)).unwrap();
        let (code, text) = refusal(&scene, scene.state.path());
        assert_eq!(code, Code::InvalidArgument, "{text}");
        let advice = format!("(mode {mode:o}): run `chmod go-w {}`", scene.state.path().display());
        assert!(text.contains(&advice), "{text}");
        assert_eq!(fs::read_dir(scene.state.path()).unwrap().count(), 0, "{mode:o}");
    }
}

/// A user who can replace the link controls what a recovery does. A link in the path above is
/// allowed.
#[test]
fn regression_a_state_directory_that_is_a_link_is_refused() {
    let scene = Scene::new();
    let links = scratch();
    let (link, dangling) = (links.path().join("link"), links.path().join("dangling"));
    symlink(scene.state.path(), &link).unwrap();
    symlink(links.path().join("nothing"), &dangling).unwrap();
    for (state, written) in [(&link, &link), (&dangling, &dangling), (&link.join(""), &link)] {
        let (code, text) = refusal(&scene, state);
        assert_eq!(code, Code::InvalidArgument, "{text}");
        let why = format!("{} is a symbolic link", written.display());
        assert!(text.contains(&why), "{text}");
        assert_eq!(fs::read_dir(scene.state.path()).unwrap().count(), 0);
        assert!(!links.path().join("nothing").exists());
        let refused = recover_through(&OsFileSystem, state).unwrap_err();
        assert_eq!(refused.code, Code::InvalidArgument, "{refused}");
    }
    let below = link.join("state");
    let edit = json!({"operations": [{"op": "add_file", "path": scene.path().join("new"), "content": "x"}]});
    let outcome = Workspace::on(&OsFileSystem, &options(&below, Durability::Process)).apply(edit);
    assert!(matches!(outcome, Ok(Outcome::Applied(_))), "{outcome:?}");
}

/// A stored session determines which lines a model may edit.
#[test]
fn regression_a_store_in_a_directory_of_others_is_refused() {
    let (dir, links) = (scratch(), scratch());
    let link = links.path().join("link");
    symlink(dir.path(), &link).unwrap();
    let open = |state: &Path| {
        let state = StateDir::new(state.to_str()).unwrap();
        RecordStore::open(&OsFileSystem, state, "a").map(drop)
    };
    let refused = open(&link).unwrap_err();
    assert!(refused.message.contains("is a symbolic link"), "{refused}");
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let refused = open(dir.path()).unwrap_err();
    assert!(refused.message.contains("(mode 777)"), "{refused}");
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
    open(dir.path()).unwrap();
    let store = dir.path().join("store-a");
    fs::set_permissions(&store, PermissionsExt::from_mode(0o777)).unwrap();
    assert!(open(dir.path()).unwrap_err().message.contains("(mode 777)"));
    fs::remove_dir(&store).unwrap();
    symlink(links.path(), &store).unwrap();
    assert!(open(dir.path()).unwrap_err().message.contains("is a symbolic link"));
}

#[test]
fn regression_the_state_of_another_user_is_not_trusted() {
    let own = scratch().path().metadata().unwrap().uid();
    let other = if own == 65534 { 65533 } else { 65534 };
    let owned: [fn(&Path) -> std::path::PathBuf; 3] =
        [|state| state.to_owned(), |state| state.join("locks"), |state| state.join("journals")];
    for owned in owned {
        let scene = Scene::new();
        let directory = owned(scene.state.path());
        fs::create_dir_all(&directory).unwrap();
        if std::os::unix::fs::chown(&directory, Some(other), Some(other)).is_err() {
            print_skipped("only root can give a directory away");
            return;
        }
        let (code, text) = refusal(&scene, scene.state.path());
        assert_eq!(code, Code::InvalidArgument, "{text}");
        assert!(text.contains("belongs to another user"), "{text}");
    }
}

/// Not a test: the entry point of child processes.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_some() {
        println!("\nanswer: {:?}", StateDir::new(None).map(|state| state.path().to_owned()));
    }
}

/// A relative home directory would depend on the working directory.
#[test]
fn regression_a_relative_home_directory_is_not_used() {
    for home in ["home", "./home"] {
        let dir = scratch();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "state::child", "--nocapture"])
            .current_dir(dir.path())
            .env(CHILD, "1")
            .env("HOME", home)
            .env_remove("XDG_STATE_HOME")
            .stdout(Stdio::piped());
        let output = start(&mut command).unwrap().wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let answer = text.lines().find_map(|line| line.strip_prefix("answer: ")).unwrap();
        assert!(answer.contains("no home directory"), "{home:?}: {answer}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

/// If the state directory cannot be located, no path counts as outside of it.
#[test]
fn regression_no_fault_lets_a_patch_into_the_state_directory() {
    for fault_at in 1.. {
        let scene = Scene::new();
        let (above, real) = (scene.path().join("above"), scene.state.path());
        symlink(real.parent().unwrap(), &above).unwrap();
        let state = above.join(real.file_name().unwrap());
        let fault = || std::io::Error::from_raw_os_error(libc::EIO);
        let fs = Interrupted::new(|at| if at == fault_at { Err(fault()) } else { Ok(()) });
        let path = scene.state.path().join("journals/.hashline-0.journal");
        let add = json!({"op": "add_file", "path": path, "content": "x"});
        let patch = json!({"operations": [add]}).into();
        let options = options(&state, Durability::Process);
        let outcome = Workspace::on(&fs, &options).apply(&patch);
        assert!(matches!(outcome, Ok(Outcome::Rejected(_))), "{fault_at}: {outcome:?}");
        assert!(!path.exists(), "{fault_at}");
        if fs.count() < fault_at {
            assert!(fault_at > 10, "the patch takes some operations");
            return;
        }
    }
}

/// A file with a length of one terabyte.
#[test]
fn regression_an_endless_journal_is_damaged_and_not_read() {
    let scene = Scene::new();
    let journals = scene.state.path().join("journals");
    fs::create_dir(&journals).unwrap();
    let file = fs::File::create(journals.join("a.journal")).unwrap();
    // File systems have different limits.
    let is_long = [1u64 << 40, 1 << 34].iter().any(|&length| file.set_len(length).is_ok());
    if !is_long {
        print_skipped("the file system takes no long files");
        return;
    }
    assert_eq!(recover(scene.state.path()).damaged.len(), 1);
    // The journal does not block other patches.
    let path = scene.path().join("edited");
    let edit =
        json!({"operations": [{"op": "insert_after", "path": path, "anchor": "EOF", "text": "x"}]});
    let options = options(scene.state.path(), Durability::Process);
    let outcome = Workspace::on(&OsFileSystem, &options).apply(edit);
    assert!(matches!(outcome, Ok(Outcome::Applied(_))), "{outcome:?}");
}

/// Either the path is refused, or a recovery can handle every crash.
#[test]
fn regression_no_path_is_too_long_for_a_recovery() {
    const LIMIT: usize = libc::PATH_MAX as usize;
    let mut refused = 0;
    for length in [LIMIT - 60, LIMIT - 30, LIMIT - 10, LIMIT - 1, LIMIT, LIMIT + 30, LIMIT + 400] {
        for (through_a_link, missing) in [(false, 0), (true, 0), (true, 1), (false, 9), (true, 9)] {
            let label = format!("{length} bytes, {through_a_link}, {missing} directories missing");
            let scene = Scene::new();
            let deep = (length - 220 - missing * 150).min(LIMIT - 30);
            let deep = deep_directory(scene.path(), deep);
            symlink(&deep, scene.path().join("short")).unwrap();
            let mut name = "n".repeat(length - deep.as_os_str().len() - 1);
            for directory in 1..=missing {
                let end = directory * 150;
                name.replace_range(end..=end, "/");
            }
            let above = if through_a_link { scene.path().join("short") } else { deep.clone() };
            let add = json!({"op": "add_file", "path": above.join(name), "content": "x\n"});
            let patch = json!({ "operations": [add] });
            refused += u32::from(!every_crash_is_recovered(&scene, &patch, &label));
            assert_eq!(fs::read_dir(&deep).unwrap().count(), 0, "{label}");
        }
    }
    assert!(refused > 0, "some of them are too long");
}

/// Creates a directory whose path has `length` bytes.
fn deep_directory(above: &Path, length: usize) -> std::path::PathBuf {
    let mut deep = above.canonicalize().unwrap();
    while deep.as_os_str().len() + 1 < length {
        let rest = length - deep.as_os_str().len() - 1;
        // Does not leave a component of a single byte.
        deep.push("d".repeat(if rest > 200 { 100 } else { rest }));
    }
    fs::create_dir_all(&deep).unwrap();
    deep
}

/// Crashes the patch before every operation and rolls the result of the recoveries back. Returns
/// false if the patch is refused.
fn every_crash_is_recovered(scene: &Scene, patch: &Value, label: &str) -> bool {
    let _starts = hold_starts();
    for crash_at in 1.. {
        let fs = Interrupted::new(|at| {
            if at >= crash_at {
                return Err(std::io::Error::from_raw_os_error(libc::EIO));
            }
            Ok(())
        });
        let options = options(scene.state.path(), Durability::Process);
        let outcome = Workspace::on(&fs, &options).apply(patch.clone());
        if let Ok(Outcome::Rejected(rejected)) = &outcome
            && rejected.code == Code::InvalidArgument
        {
            assert!(rejected.text.contains("too long"), "{label}: {}", rejected.text);
            return false;
        }
        let report = recover(scene.state.path());
        assert!(report.failed.is_empty(), "{label}: {report:?}");
        assert!(journals(scene.state.path()).is_empty(), "{label}: {report:?}");
        if fs.count() < crash_at || !report.finished.is_empty() {
            let deep = fs::read_link(scene.path().join("short")).unwrap();
            for entry in fs::read_dir(&deep).unwrap() {
                let path = Path::new(".").join(entry.unwrap().file_name());
                remove_below(&deep, &path);
            }
        }
        if fs.count() < crash_at {
            return true;
        }
    }
    true
}

/// Removes a file or tree whose path may be too long for the system.
fn remove_below(dir: &Path, name: &Path) {
    let status = Command::new("rm").arg("-rf").arg(name).current_dir(dir).status();
    assert!(status.unwrap().success());
}
