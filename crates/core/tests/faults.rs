//! Fault injection: for every n, the n-th operation on the file system fails. Afterwards all
//! files are old or all are new, nothing is left behind that a recovery does not clear, and
//! the error says what it is about.

#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "the figures are what this test is run for")]

mod support;

use std::io;
use std::time::{Duration, Instant};

use hashline_core::cancel::Cancel;
use hashline_core::disk::commit::{StateDir, recover_transactions};
use hashline_core::disk::fs::OsFileSystem;
use hashline_core::edit::apply::{Durability, apply_hash};
use hashline_core::edit::outcome::Outcome;
use hashline_core::error::Code;
use support::{Interrupted, Scene, journals, options, patch, snapshot};

/// More operations than any of these patches takes: a runaway loop shows as a failure.
const MOST_OPERATIONS: u64 = 2000;

/// Runs the patch with a fault at operation `n`; false when it took fewer operations.
fn run(n: u64, errno: i32, no_exchange: bool) -> bool {
    let scene = Scene::new();
    let before = snapshot(scene.path());
    let fs = Interrupted::new(move |at| match at == n {
        true => Err(io::Error::from_raw_os_error(errno)),
        false => Ok(()),
    });
    let fs = if no_exchange { fs.without_exchange() } else { fs };
    let options = options(scene.state.path(), Durability::Power);
    let outcome = apply_hash(&fs, &patch(scene.path()).into(), &options, &Cancel::default());
    let label = format!("operation {n}, error {errno}, {outcome:?}");
    assert!(fs.count() < MOST_OPERATIONS, "{label}");

    let state = StateDir::new(scene.state.path().to_str()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let report = recover_transactions(&OsFileSystem, &state, deadline, &Cancel::default()).unwrap();
    assert!(report.failed.is_empty() && report.damaged.is_empty(), "{label} {report:?}");
    assert!(report.conflicts.is_empty(), "{label} {report:?}");
    assert!(journals(scene.state.path()).is_empty(), "{label}");

    let after = snapshot(scene.path());
    match &outcome {
        Ok(Outcome::Applied(_)) => assert_eq!(after, expected(), "{label}"),
        Ok(Outcome::Rejected(rejected)) => {
            assert_eq!(after, before, "{label}");
            assert!(!rejected.failures[0].message.is_empty());
            assert_ne!(rejected.code, Code::Internal, "{label}");
        }
        Err(error) => {
            assert_eq!(after, before, "{label}");
            assert!(error.message.contains('/'), "names no path: {label}");
        }
    }
    fs.count() >= n
}

/// The files as the patch leaves them.
fn expected() -> std::collections::BTreeMap<String, Vec<u8>> {
    static EXPECTED: std::sync::OnceLock<std::collections::BTreeMap<String, Vec<u8>>> =
        std::sync::OnceLock::new();
    EXPECTED
        .get_or_init(|| {
            let scene = Scene::new();
            let options = options(scene.state.path(), Durability::Process);
            let patch = patch(scene.path()).into();
            let outcome = apply_hash(&OsFileSystem, &patch, &options, &Cancel::default()).unwrap();
            assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
            let after = snapshot(scene.path());
            assert_eq!(after["new/deep/moved"], support_content("moved"));
            assert_eq!(after["one"], support_content("two"));
            assert_eq!(after["deleted"], b"again\n");
            assert_eq!(after["linked"], after["second-name"]);
            after
        })
        .clone()
}

fn support_content(name: &str) -> Vec<u8> {
    (1..=200).map(|n| format!("{name} line {n}\n")).collect::<String>().into_bytes()
}

fn every_operation(errno: i32, no_exchange: bool) {
    let last = (1..MOST_OPERATIONS).find(|&n| !run(n, errno, no_exchange)).unwrap();
    println!("{} operations, each failed once with error {errno}", last - 1);
    assert!(last > 100);
}

#[test]
fn disk_errors() {
    every_operation(libc::EIO, false);
}

#[test]
fn disk_errors_without_exchange() {
    every_operation(libc::EIO, true);
}

#[test]
fn full_disks() {
    every_operation(libc::ENOSPC, false);
}

#[test]
fn refused_permissions() {
    every_operation(libc::EACCES, false);
}

#[test]
fn interrupted_calls() {
    every_operation(libc::EINTR, false);
}

/// The zeros that stand where a mapped text was are not its content.
#[test]
fn regression_a_file_that_is_cut_while_it_is_edited_is_not_binary() {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    let text = "a line of text\n".repeat(80_000);
    let mut place = 0;
    loop {
        place += 1;
        let (dir, state) = (support::scratch(), support::scratch());
        let path = dir.path().join("a");
        std::fs::write(&path, &text).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        let cutter = file.try_clone().unwrap();
        let text = text.clone();
        let fs = Interrupted::new(move |operation| match operation == place + 1 {
            true => file.write_all_at(text.as_bytes(), 0),
            false => Ok(()),
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
        let outcome = apply_hash(&fs, &patch, &options, &Cancel::default());
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
