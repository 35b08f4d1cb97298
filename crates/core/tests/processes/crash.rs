//! Crashes: the process of a patch is killed at random times during its commit, and before every
//! operation. After recovery each patch is complete or absent, no temporary file is left, and no
//! other file has changed.
//!
//! A short version runs with the other tests. `npm run stress -- crash-test` runs the long one; the
//! environment variable `HASHLINE_KILLS` has the number of kills.

#![allow(clippy::print_stdout, reason = "the figures are what this test is run for")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::start;
use crate::support::{
    Interrupted, anchor, fill, journals, options, patch, scratch, snapshot, stride,
};
use hashline_core::Cancel;
use hashline_core::Durability;
use hashline_core::Outcome;
use hashline_core::Workspace;
use hashline_disk::commit::{StateDir, recover_transactions};
use hashline_disk::fs::OsFileSystem;
use serde_json::{Value, json};

/// Kills in the short version.
const SHORT_KILLS: u64 = 100;
/// Kills in the short version under an emulator.
const EMULATED_KILLS: u64 = 30;

/// The environment variable with the task of a child process.
const CHILD: &str = "HASHLINE_CRASH_CHILD";

/// The line that a child prints when its patch is done.
const ENDS: &str = "the patch ends";

/// A small pseudorandom generator, reproducible from a seed: xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % limit
    }
}

/// Not a test: the entry point of child processes. Applies the patch of its task, and is killed
/// before operation `kill_at`, or that number of microseconds after it created its journal; 0 means
/// never.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else {
        return;
    };
    let task: Value = serde_json::from_str(&task).unwrap();
    let kill_at = task["kill_at"].as_u64().unwrap();
    let kill_after_us = task["kill_after_us"].as_u64().unwrap();
    let state = Path::new(task["state"].as_str().unwrap());
    let is_timed = AtomicBool::new(kill_after_us == 0);
    let fs = Interrupted::new(|at| {
        if !is_timed.load(Ordering::SeqCst) && !journals(state).is_empty() {
            is_timed.store(true, Ordering::SeqCst);
            kill_after(kill_after_us);
        }
        if at == kill_at {
            kill();
        }
        Ok(())
    });
    let durability =
        if task["sync"].as_bool().unwrap() { Durability::Power } else { Durability::Process };
    let options = options(state, durability);
    let patch = task["patch"].clone().into();
    let outcome = Workspace::on(&fs, &options).apply(&patch);
    println!("{ENDS}");
    assert!(matches!(outcome, Ok(Outcome::Applied(_))), "{outcome:?}");
}

/// Ends this process immediately, like a kill from outside; no more of its code runs.
#[cfg(unix)]
fn kill() {
    use rustix::process::{Signal, getpid, kill_process};
    let _ = kill_process(getpid(), Signal::KILL);
}

#[cfg(windows)]
fn kill() {
    use windows_sys::Win32::System::Threading::{GetCurrentProcess, TerminateProcess};
    // SAFETY: The handle is the pseudo handle of the current process, which is never closed.
    unsafe { TerminateProcess(GetCurrentProcess(), 1) };
}

/// Windows has no such timer. The thread spins, because sleeping would be too coarse.
#[cfg(windows)]
fn kill_after(microseconds: u64) {
    let begin = Instant::now();
    std::thread::spawn(move || {
        while begin.elapsed() < Duration::from_micros(microseconds) {
            std::thread::yield_now();
        }
        kill();
    });
}

/// Lets the system kill this process, which is more precise than a kill by another process.
#[cfg(unix)]
fn kill_after(microseconds: u64) {
    let none = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let rest = libc::timeval { tv_sec: 0, tv_usec: microseconds as libc::suseconds_t };
    let timer = libc::itimerval { it_interval: none, it_value: rest };
    // SAFETY: The call reads the timer before it returns; the old timer is not requested. No
    // handler for SIGALRM is installed, so the signal ends the process like SIGKILL.
    let status =
        unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
    assert_eq!(status, 0);
}

/// When a child is killed: before an operation, or after a time; 0 means never.
#[derive(Clone, Copy)]
struct Kill {
    at: u64,
    after_us: u64,
}

fn spawn(state: &Path, patch: &Value, kill: Kill, sync: bool) -> Child {
    let Kill { at, after_us } = kill;
    let task = json!({
        "state": state, "patch": patch, "kill_at": at, "kill_after_us": after_us, "sync": sync
    });
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "crash::child", "--nocapture"])
        .env(CHILD, task.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    start(&mut command).unwrap()
}

/// The state after a kill and the recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Old,
    New,
}

fn recover_and_check(
    dir: &Path,
    state: &Path,
    before: &BTreeMap<String, Vec<u8>>,
    after: &BTreeMap<String, Vec<u8>>,
    label: &str,
) -> Found {
    let state_dir = StateDir::new(state.to_str()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let report =
        recover_transactions(&OsFileSystem, &state_dir, deadline, &Cancel::default()).unwrap();
    let is_clean =
        report.conflicts.is_empty() && report.failed.is_empty() && report.damaged.is_empty();
    assert!(is_clean && report.live == 0, "{label}: {report:?}");
    assert!(journals(state).is_empty(), "{label}: {:?}", journals(state));
    let now = snapshot(dir);
    if now == *before {
        return Found::Old;
    }
    if now == *after {
        return Found::New;
    }
    let names: Vec<_> = now.keys().collect();
    panic!("{label}: neither old nor new: {names:?}");
}

/// The directory after the patch, determined on a copy.
fn outcome_on_copy(
    fill: &dyn Fn(&Path),
    patch: &dyn Fn(&Path) -> Value,
) -> BTreeMap<String, Vec<u8>> {
    let (copy, state) = (scratch(), scratch());
    fill(copy.path());
    let options = options(state.path(), Durability::Process);
    let patch = patch(copy.path()).into();
    let outcome = Workspace::on(&OsFileSystem, &options).apply(&patch).unwrap();
    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
    snapshot(copy.path())
}

#[test]
fn killed_before_every_operation() {
    let after = outcome_on_copy(&fill, &patch);
    let (mut old, mut new) = (0, 0);
    for kill_at in (1..).step_by(stride()) {
        let (dir, state) = (scratch(), scratch());
        fill(dir.path());
        let before = snapshot(dir.path());
        let status =
            spawn(state.path(), &patch(dir.path()), Kill { at: kill_at, after_us: 0 }, true)
                .wait()
                .unwrap();
        let label = format!("killed before operation {kill_at}");
        match recover_and_check(dir.path(), state.path(), &before, &after, &label) {
            Found::Old => old += 1,
            Found::New => new += 1,
        }
        if status.success() {
            println!(
                "{} operations, killed before {}: {old} patches absent, {} complete",
                kill_at - 1,
                if stride() == 1 { "each".to_owned() } else { format!("every {}th", stride()) },
                new - 1
            );
            assert!(kill_at > 100 && old > 0 && new > 1);
            return;
        }
    }
}

/// A directory with `files` files, and a patch that edits, moves, adds and deletes.
fn random_fill(files: u64) -> impl Fn(&Path) {
    move |dir| {
        for file in 0..files {
            let lines: String =
                (1..=50 + file * 97 % 300).map(|n| format!("file {file} line {n}\n")).collect();
            std::fs::write(dir.join(format!("f{file}")), lines).unwrap();
        }
        std::fs::write(dir.join("bystander"), "untouched\n").unwrap();
    }
}

fn random_patch(files: u64, seed: u64) -> impl Fn(&Path) -> Value {
    move |dir| {
        let mut random = Random(seed | 1);
        let path = |name: String| dir.join(name).to_str().unwrap().to_owned();
        let operations = (0..files).map(|file| match random.below(6) {
            0 => json!({"op": "delete_file", "path": path(format!("f{file}"))}),
            1 => json!({"op": "add_file", "path": path(format!("d{}/new{file}", file % 3)), "content": "new\n"}),
            2 => json!({"op": "move_file", "from": path(format!("f{file}")), "to": path(format!("m/g{file}"))}),
            _ => {
                let line = random.below(50) + 1;
                let anchor = anchor(line, &format!("file {file} line {line}"));
                json!({"op": "set_line", "path": path(format!("f{file}")), "anchor": anchor, "text": format!("new text {seed}")})
            }
        });
        json!({"operations": operations.collect::<Vec<_>>()})
    }
}

#[test]
fn killed_at_random_moments() {
    let kills = std::env::var("HASHLINE_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(if stride() == 1 { SHORT_KILLS } else { EMULATED_KILLS });
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut old, mut new, mut late, mut under_way) = (0, 0, 0, 0);
    let mut aim = Aim::default();
    while old + new < kills {
        let files = 2 + random.below(19);
        let seed = random.below(u64::MAX);
        let (fill, patch) = (random_fill(files), random_patch(files, seed));
        let after = outcome_on_copy(&fill, &patch);
        let (dir, state) = (scratch(), scratch());
        fill(dir.path());
        let before = snapshot(dir.path());
        let sync = random.below(2) == 0;
        let kill = Kill { at: 0, after_us: aim.delay_us(sync, &mut random) };
        let mut child = spawn(state.path(), &patch(dir.path()), kill, sync);
        child.wait().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let has_ended = said.any(|line| line.contains(ENDS));
        aim.learn(sync, has_ended);
        under_way += u32::from(!has_ended && !journals(state.path()).is_empty());
        let label = format!("kill {}, seed {seed}, {files} files", old + new);
        let found = recover_and_check(dir.path(), state.path(), &before, &after, &label);
        match found {
            // The process was killed after the patch was done.
            _ if has_ended => late += 1,
            Found::Old => old += 1,
            Found::New => new += 1,
        }
        assert!(late < 20 * kills + 1000, "every patch ends before it can be killed");
    }
    println!(
        "{kills} patches killed at a random moment of their commit, {under_way} of them with a journal left: {old} absent, {new} complete (another {late} had ended before the kill, and do not count)"
    );
}

/// The delay before the kill: up to the time after which most patches have ended. This is
/// determined by trial, because it depends on the machine and its load.
struct Aim {
    /// In microseconds, without and with flushes.
    longest_us: [u64; 2],
}

impl Default for Aim {
    fn default() -> Self {
        Aim { longest_us: [1_000; 2] }
    }
}

impl Aim {
    fn delay_us(&self, sync: bool, random: &mut Random) -> u64 {
        1 + random.below(self.longest_us[usize::from(sync)])
    }

    /// Adjusts the delay so that about one patch in ten ends before it is killed. Then late kills
    /// also occur.
    fn learn(&mut self, sync: bool, has_ended: bool) {
        let longest_us = &mut self.longest_us[usize::from(sync)];
        *longest_us = if has_ended { *longest_us * 14 / 16 } else { *longest_us * 65 / 64 + 1 };
        *longest_us = (*longest_us).clamp(50, 999_000);
    }
}
