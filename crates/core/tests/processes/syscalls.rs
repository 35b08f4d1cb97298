//! Faults of the real system: `strace` makes every system call of a patch fail in turn, and all
//! later calls with the same name, including those of locks, journals and lookups. The result of
//! the call must be true immediately, and after a recovery all files are old or all are new.
//!
//! A short version runs with the other tests; `npm run stress -- fault-test` runs the long one.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "the figures are what this test is run for")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::start;
use crate::support::{Scene, journals, options, patch, print_skipped, recover, scratch, snapshot};
use hashline_core::Code;
use hashline_core::Durability;
use hashline_core::Outcome;
use hashline_core::Workspace;
use hashline_disk::commit::TEMPORARY_PREFIX;
use hashline_disk::fs::OsFileSystem;
use serde_json::{Value, json};

/// The environment variable with the task of a child process.
const CHILD: &str = "HASHLINE_SYSCALLS_CHILD";

/// The exit code of a child reports the result of its call, because output could fail, too.
const APPLIED: i32 = 40;
const REFUSED: i32 = 41;
const CONCURRENT: i32 = 42;
const FAULT: i32 = 43;
const LEFT_TO_A_RECOVERY: i32 = 44;

/// Not a test: the entry point of child processes. The child reports that it has started and waits
/// until it is being traced. So neither its start nor the output of the test harness is counted or
/// fails.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else {
        return;
    };
    let task: Value = serde_json::from_str(&task).unwrap();
    std::io::stderr().write_all(b"ready\n").unwrap();
    // This read may be the call that fails; the child is being traced then, too.
    let _ = std::io::stdin().read_line(&mut String::new());
    let durability =
        if task["sync"].as_bool().unwrap() { Durability::Power } else { Durability::Process };
    let options = options(Path::new(task["state"].as_str().unwrap()), durability);
    let patch = task["patch"].clone().into();
    let code = match Workspace::on(&OsFileSystem, &options).apply(&patch) {
        Ok(Outcome::Applied(_)) => APPLIED,
        Ok(Outcome::Rejected(rejected)) if rejected.code == Code::ConcurrentChange => CONCURRENT,
        Ok(Outcome::Rejected(_)) => REFUSED,
        Err(error) if error.message.contains("and recover() completes") => LEFT_TO_A_RECOVERY,
        Err(_) => FAULT,
    };
    std::process::exit(code);
}

/// Kills and reaps a child process on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads lines until one contains `word`, or to the end.
fn read_until(from: &mut impl BufRead, word: &str) -> String {
    let mut heard = String::new();
    loop {
        let before = heard.len();
        from.read_line(&mut heard).unwrap();
        if heard.len() == before || heard[before..].contains(word) {
            return heard;
        }
    }
}

/// The result of a traced child.
struct Traced {
    ended: i32,
    calls: String,
    /// Its error output, which has the reason if it crashed.
    said: String,
}

/// Runs a patch with every kind of operation under `strace`; `None` if tracing is not possible.
fn traced(scene: &Scene, arguments: &[&str], sync: bool) -> Option<Traced> {
    traced_patch(scene, &patch(scene.path()), arguments, sync)
}

fn traced_patch(scene: &Scene, patch: &Value, arguments: &[&str], sync: bool) -> Option<Traced> {
    let log = scratch();
    let log = log.path().join("log");
    let task = json!({"state": scene.state.path(), "patch": patch, "sync": sync});
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "syscalls::child", "--quiet"])
        .env(CHILD, task.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = Running(start(&mut command).unwrap());
    let mut child_says = BufReader::new(child.0.stderr.take().unwrap());
    let heard = read_until(&mut child_says, "ready");
    assert!(heard.contains("ready"), "the child did not get as far as its task: {heard}");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-p", &child.0.id().to_string(), "-o"])
        .arg(&log)
        .args(arguments)
        .stderr(Stdio::piped());
    let mut strace = Running(start(&mut command).ok()?);
    let mut messages = BufReader::new(strace.0.stderr.take().unwrap());
    let heard = read_until(&mut messages, "attached");
    if !heard.contains("attached") {
        println!("strace says: {heard}");
        return None;
    }
    // `strace` reports each new thread and blocks until the report is read.
    let messages = std::thread::spawn(move || std::io::copy(&mut messages, &mut std::io::sink()));
    // The child may have exited already.
    let _ = child.0.stdin.take().unwrap().write_all(b"go\n");
    let mut said = String::new();
    child_says.read_to_string(&mut said).unwrap();
    let ended = child.0.wait().unwrap().code();
    messages.join().unwrap().unwrap();
    strace.0.wait().unwrap();
    let calls = String::from_utf8_lossy(&fs::read(&log).ok()?).into_owned();
    Some(Traced { ended: ended?, calls, said })
}

/// For each system call on files, its maximum number per thread; none if tracing is not possible.
fn calls(sync: bool) -> Option<BTreeMap<String, usize>> {
    let scene = Scene::new();
    let traced = traced(&scene, &["-e", "trace=%file,%desc"], sync)?;
    if traced.ended != APPLIED {
        return None;
    }
    // A line has the thread id and the call.
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in traced.calls.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let Some((name, _)) = call.trim_start().split_once('(') else { continue };
        *counts.entry((thread, name)).or_default() += 1;
    }
    let mut most = BTreeMap::new();
    for ((_, name), count) in counts {
        // Calls for memory and for starting a program are not tested.
        let is_about_files = !name.contains(['<', '+', '-']) && !["mmap", "execve"].contains(&name);
        if is_about_files {
            let known = most.entry(name.to_owned()).or_default();
            *known = count.max(*known);
        }
    }
    Some(most)
}

fn visible(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = snapshot(dir);
    files.retain(|name, _| !name.ends_with('/') && !name.contains(TEMPORARY_PREFIX));
    files
}

/// Runs one patch with a fault; returns whether it succeeded.
fn check(call: &str, error: &str, when: &str, sync: bool, after: &Snapshots) -> bool {
    let scene = Scene::new();
    let inject = format!("inject={call}:error={error}:when={when}");
    let trace = format!("trace={call}");
    let traced = traced(&scene, &["-e", &trace, "-e", &inject], sync).unwrap();
    let code = traced.ended;
    let label = format!("{inject}, flushing {sync}, ended with {code}");
    let at_once = visible(scene.path());
    match code {
        APPLIED => assert_eq!(at_once, after.new_visible, "{label}"),
        REFUSED | FAULT => assert_eq!(at_once, after.old_visible, "{label}"),
        LEFT_TO_A_RECOVERY => {}
        CONCURRENT => panic!("{label}: no other process is active"),
        _ => panic!("{label}: the process died: {}", traced.said),
    }
    let report = recover(scene.state.path());
    let label = format!("{label}: {report:?}");
    assert!(report.failed.is_empty() && report.damaged.is_empty(), "{label}");
    assert!(report.conflicts.is_empty() && journals(scene.state.path()).is_empty(), "{label}");
    let now = snapshot(scene.path());
    assert!(now == after.old || now == after.new, "{label}: torn: {:?}", now.keys());
    match code {
        APPLIED => assert_eq!(now, after.new, "{label}"),
        REFUSED | FAULT => assert_eq!(now, after.old, "{label}"),
        _ => {}
    }
    now == after.new
}

/// The files before and after the patch.
struct Snapshots {
    old: BTreeMap<String, Vec<u8>>,
    new: BTreeMap<String, Vec<u8>>,
    old_visible: BTreeMap<String, Vec<u8>>,
    new_visible: BTreeMap<String, Vec<u8>>,
}

impl Snapshots {
    fn take() -> Snapshots {
        let scene = Scene::new();
        let (old, old_visible) = (snapshot(scene.path()), visible(scene.path()));
        let options = options(scene.state.path(), Durability::Process);
        let patch = patch(scene.path()).into();
        Workspace::on(&OsFileSystem, &options).apply(&patch).unwrap();
        let (new, new_visible) = (snapshot(scene.path()), visible(scene.path()));
        Snapshots { old, new, old_visible, new_visible }
    }
}

/// Every `stride`-th call of each name fails with `error`; with `lasting`, all later ones, too.
fn every_call(error: &str, lasting: bool, sync: bool, stride: usize) {
    let Some(calls) = calls(sync) else {
        print_skipped("nothing can be traced here: is there a strace, and may it be used?");
        return;
    };
    let after = Snapshots::take();
    let (mut patches, mut new) = (0, 0);
    for (call, &count) in &calls {
        for n in (1..=count).step_by(stride) {
            let when = format!("{n}{}", if lasting { "+" } else { "" });
            patches += 1;
            new += u32::from(check(call, error, &when, sync, &after));
        }
    }
    let names = calls.len();
    let mode = if lasting { "from there on" } else { "once" };
    println!(
        "{error} {mode}, flushing {sync}, {names} system calls: {patches} patches: {} old, {new} new, 0 torn",
        patches - new
    );
    assert!(patches > 10);
}

#[test]
fn a_sample_of_system_calls_fails() {
    every_call("EIO", true, true, 13);
}

/// The group bits of the mode are the mask of the access list. Without the list they would grant
/// access to the group, which the list denies.
#[test]
fn regression_a_group_gets_no_access_if_an_access_list_cannot_be_copied() {
    const ACCESS_LIST: &str = "system.posix_acl_access";
    // Version, then tag, permissions and id of: owner, user 12345, group, mask, others.
    let entries = [(0x01, 6, u32::MAX), (0x02, 6, 12345), (0x04, 0, u32::MAX)];
    let entries = entries.iter().chain(&[(0x10, 6, u32::MAX), (0x20, 0, u32::MAX)]);
    let mut list = 2u32.to_le_bytes().to_vec();
    for (tag, rights, number) in entries {
        list.extend(u16::to_le_bytes(*tag));
        list.extend(u16::to_le_bytes(*rights));
        list.extend(number.to_le_bytes());
    }
    let faults = ["fsetxattr:error=EPERM", "fsetxattr:error=ENOSPC", "fgetxattr:error=EIO"];
    for fault in faults.into_iter().chain(["flistxattr:error=EIO"]) {
        let scene = Scene::new();
        let path = scene.path().join("edited");
        if let Err(cause) = xattr::set(&path, ACCESS_LIST, &list) {
            print_skipped(&format!("no access lists here: {cause}"));
            return;
        }
        let before = fs::read(&path).unwrap();
        let edit = json!({"op": "insert_after", "path": path, "anchor": "EOF", "text": "x"});
        let patch = json!({ "operations": [edit] });
        let arguments = ["-e", "trace=%file,%desc", "-e", &format!("inject={fault}")];
        let Some(traced) = traced_patch(&scene, &patch, &arguments, false) else {
            print_skipped("nothing can be traced here");
            return;
        };
        let code = traced.ended;
        assert!([APPLIED, REFUSED].contains(&code), "{fault}: {code}");
        assert_eq!(fs::read(&path).unwrap() == before, code == REFUSED, "{fault}");
        assert_eq!(xattr::get(&path, ACCESS_LIST).unwrap().as_ref(), Some(&list), "{fault}");
    }
}

/// `npm run stress -- fault-test` runs it.
#[test]
#[ignore = "takes minutes"]
fn every_system_call_fails() {
    for error in ["EIO", "EACCES", "ENOSPC", "ESTALE", "ENODEV"] {
        every_call(error, true, false, 1);
    }
    every_call("EIO", true, true, 1);
    every_call("EIO", false, true, 1);
    every_call("EINTR", false, true, 1);
}
