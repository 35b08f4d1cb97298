//! What a recovery does when someone else was at the files meanwhile, or at the journal.

#![cfg(unix)]

mod support;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use hashline_core::apply::{Durability, apply_hash};
use hashline_core::cancel::Cancel;
use hashline_core::commit::{RecoveryReport, StateDir, recover_transactions};
use hashline_core::error::Code;
use hashline_core::fs::OsFileSystem;
use hashline_core::outcome::Outcome;
use serde_json::json;
use support::{Interrupted, anchor, fill, journals, options, patch, scratch, snapshot};

fn recover(state: &Path) -> RecoveryReport {
    let state = StateDir::new(state.to_str()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    recover_transactions(&OsFileSystem, &state, deadline, &Cancel::default()).unwrap()
}

/// Leaves a transaction as a crash before operation `n` would: from there on, nothing works.
fn crash_at(n: u64, dir: &Path, state: &Path) -> bool {
    let fs = Interrupted::new(move |at| match at >= n {
        true => Err(std::io::Error::from_raw_os_error(libc::EIO)),
        false => Ok(()),
    });
    let options = options(state, Durability::Process);
    let outcome = apply_hash(&fs, &patch(dir).into(), &options, &Cancel::default());
    !matches!(outcome, Ok(Outcome::Applied(_)))
}

#[test]
fn a_stuck_patch_is_worked_off_by_the_next_call() {
    for n in 1.. {
        let (dir, state) = (scratch(), scratch());
        fill(dir.path());
        fs::write(dir.path().join("unrelated"), "one\n").unwrap();
        let before = snapshot(dir.path());
        let failed = crash_at(n, dir.path(), state.path());
        let unrelated = dir.path().join("unrelated");
        let edit = json!({"operations": [
            {"op": "set_line", "path": unrelated, "anchor": anchor(1, "one"), "text": "two"},
        ]});
        let options = options(state.path(), Durability::Process);
        let outcome =
            apply_hash(&OsFileSystem, &edit.into(), &options, &Cancel::default()).unwrap();
        assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
        assert!(journals(state.path()).is_empty());
        let mut now = snapshot(dir.path());
        assert_eq!(now["unrelated"], b"two\n");
        now.insert("unrelated".into(), b"one\n".to_vec());
        let complete = now.contains_key("new/added");
        assert!(complete || now == before, "operation {n}: {:?}", now.keys());
        if complete {
            assert_eq!(now["deleted"], b"again\n", "operation {n}");
            assert_eq!(now["linked"], now["second-name"], "operation {n}");
        }
        if !failed {
            return;
        }
    }
}

#[test]
fn a_file_changed_by_someone_else_after_the_crash_is_left_and_both_versions_kept() {
    let mut conflicts = 0;
    for n in 1.. {
        let (dir, state) = (scratch(), scratch());
        fill(dir.path());
        if !crash_at(n, dir.path(), state.path()) {
            break;
        }
        let theirs = dir.path().join("edited");
        fs::write(&theirs, "theirs\n").unwrap();
        let report = recover(state.path());
        assert!(report.failed.is_empty() && report.damaged.is_empty(), "{report:?}");
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs\n", "operation {n}");
        assert!(journals(state.path()).is_empty(), "operation {n}");
        let stray: Vec<_> =
            snapshot(dir.path()).into_keys().filter(|name| name.contains(".hashline-")).collect();
        assert!(stray.is_empty(), "operation {n}: {stray:?}");
        for conflict in &report.conflicts {
            assert_eq!(Path::new(&conflict.path), theirs);
            assert!(!conflict.kept.is_empty());
            for kept in &conflict.kept {
                assert!(fs::read_to_string(kept).unwrap().contains("line 5"), "{kept}");
            }
            conflicts += 1;
        }
    }
    assert!(conflicts > 0);
}

#[test]
fn a_file_that_was_to_move_and_was_changed_meanwhile_is_reported() {
    let mut reported = 0;
    for n in 1.. {
        let (dir, state) = (scratch(), scratch());
        fill(dir.path());
        if !crash_at(n, dir.path(), state.path()) {
            break;
        }
        let theirs = dir.path().join("moved");
        if !theirs.exists() {
            continue;
        }
        fs::write(&theirs, "theirs\n").unwrap();
        let report = recover(state.path());
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs\n", "operation {n}");
        let is_named = report.conflicts.iter().any(|one| Path::new(&one.path) == theirs);
        // A patch that was not committed is cleared away: then nothing is in conflict.
        assert_eq!(is_named, !report.finished.is_empty(), "operation {n}: {report:?}");
        reported += usize::from(is_named);
    }
    assert!(reported > 0);
}

#[test]
fn a_call_that_recovers_tells_of_conflicts() {
    let mut told = 0;
    for n in (1..).step_by(7) {
        let (dir, state) = (scratch(), scratch());
        fill(dir.path());
        if !crash_at(n, dir.path(), state.path()) {
            break;
        }
        let theirs = dir.path().join("edited");
        fs::write(&theirs, "theirs\n").unwrap();
        let other = dir.path().join("bystander");
        let edit = json!({"operations": [
            {"op": "insert_after", "path": other, "anchor": "EOF", "text": "more"},
        ]});
        let options = options(state.path(), Durability::Process);
        let outcome =
            apply_hash(&OsFileSystem, &edit.into(), &options, &Cancel::default()).unwrap();
        let Outcome::Applied(applied) = outcome else { panic!("{outcome:?}") };
        let kept = fs::read_dir(state.path().join("kept")).map_or(0, Iterator::count);
        let rows =
            applied.text.lines().filter(|row| row.starts_with("An interrupted patch")).count();
        assert_eq!(rows, kept, "operation {n}: {}", applied.text);
        told += rows;
    }
    assert!(told > 0);
}

#[test]
fn damaged_and_foreign_journals_are_kept_and_not_acted_on() {
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
    // They stop nobody.
    let options = options(state.path(), Durability::Process);
    let outcome =
        apply_hash(&OsFileSystem, &patch(dir.path()).into(), &options, &Cancel::default());
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

/// A rewrite that keeps size and timestamps is seen by its content.
#[test]
fn a_change_that_stamps_cannot_show_is_seen() {
    let (dir, state) = (scratch(), scratch());
    let path = dir.path().join("a");
    fs::write(&path, "one\ntwo\n").unwrap();
    let edit = json!({"operations": [
        {"op": "set_line", "path": path, "anchor": anchor(1, "one"), "text": "ONE"},
    ]});
    // The rival writes when the journal is begun, and gives the file its old times back.
    let rival = path.clone();
    let fs_with_rival = Interrupted::new(move |at| {
        if at == 8 {
            let metadata = fs::metadata(&rival)?;
            fs::write(&rival, "one\nTWO\n")?;
            let times = fs::FileTimes::new().set_modified(metadata.modified()?);
            fs::File::options().write(true).open(&rival)?.set_times(times)?;
        }
        Ok(())
    });
    let options = options(state.path(), Durability::Process);
    let outcome = apply_hash(&fs_with_rival, &edit.into(), &options, &Cancel::default()).unwrap();
    let Outcome::Rejected(rejected) = outcome else { panic!("{outcome:?}") };
    assert_eq!(rejected.code, Code::ConcurrentChange);
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\nTWO\n");
}
