//! Locks: calls and processes that share a state directory take turns to edit a file.
//!
//! A lock is a file in the state directory, held with the file lock of the operating system, which
//! ends with the process. Every edited file has two locks. The lock of its device and inode is the
//! same for all links and spellings. The lock of its path stays the same when a commit gives the
//! path another inode. Locks are taken in sorted order, which prevents deadlocks.

use std::collections::BTreeMap;
use std::fmt::{Debug, Formatter};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::StateDir;
use super::files::stamp_if_exists;
use crate::bytes::snapshot;
use crate::fs::{FileKind, FileSystem, Place, Stamp, is_delete_pending};
use hashline_base::call_threads;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Message, Result, Term};

/// The key of a lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockKey {
    name: String,
    /// The path for error messages.
    shown: String,
}

impl LockKey {
    /// The key of an existing file, by device and inode.
    pub fn of_file(stamp: &Stamp, shown: &str) -> LockKey {
        LockKey::of_inode((stamp.device, stamp.inode), shown)
    }

    /// The key of an existing file whose device and inode are known already.
    pub(super) fn of_inode((device, inode): (u64, u64), shown: &str) -> LockKey {
        LockKey::new(&format!("file {device} {inode}"), shown)
    }

    /// The key of a path without links.
    pub fn of_path(path: &Path, shown: &str) -> LockKey {
        LockKey::new(&format!("path {}", path.to_string_lossy()), shown)
    }

    /// The key of a store of records.
    pub fn of_store(name: &str, shown: &str) -> LockKey {
        LockKey::new(&format!("store {name}"), shown)
    }

    /// Whether both are the same lock.
    pub(super) fn is_same(&self, other: &LockKey) -> bool {
        self.name == other.name
    }

    fn new(key: &str, shown: &str) -> LockKey {
        let name = format!("{}.lock", snapshot(key.as_bytes()));
        LockKey { name, shown: shown.to_owned() }
    }
}

/// Locks that are held until they are dropped.
pub struct Locks<'a> {
    fs: &'a dyn FileSystem,
    /// By file name. A file stays locked as long as it is open.
    held: BTreeMap<String, (Place, File)>,
}

impl Debug for Locks<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.held.values().map(|(place, _)| place.canonical())).finish()
    }
}

/// The first and the longest pause between two attempts.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(4);

impl<'a> Locks<'a> {
    /// Takes all locks, in sorted order, and waits until `deadline` at most.
    pub fn take(
        fs: &'a dyn FileSystem,
        state: &StateDir,
        keys: Vec<LockKey>,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Locks<'a>> {
        let mut locks = Locks { fs, held: BTreeMap::new() };
        for key in sorted_keys(keys) {
            let held = acquire(fs, state, &key, deadline, cancel)?;
            locks.held.insert(key.name, held);
        }
        Ok(locks)
    }

    /// Changes the held locks to those of `keys`. Locks that stay are not released, because other
    /// waiting calls would take them. Returns false if another call holds a missing lock. It does
    /// not wait for that lock, because the other call may be waiting for one of these.
    pub fn change_to(&mut self, state: &StateDir, keys: Vec<LockKey>) -> Result<bool> {
        let keys = sorted_keys(keys);
        for key in &keys {
            if self.held.contains_key(&key.name) {
                continue;
            }
            let held = loop {
                match try_acquire(self.fs, state, key)? {
                    Attempt::Taken(place, file) => break (place, file),
                    Attempt::Held => return Ok(false),
                    Attempt::Removed => {}
                }
            };
            self.held.insert(key.name.clone(), held);
        }
        self.held.retain(|name, (place, _)| {
            let is_wanted = keys.binary_search_by(|key| key.name.cmp(name)).is_ok();
            if !is_wanted {
                remove(self.fs, place);
            }
            is_wanted
        });
        Ok(true)
    }
}

impl Drop for Locks<'_> {
    fn drop(&mut self) {
        for (place, _held) in self.held.values() {
            remove(self.fs, place);
        }
    }
}

/// Removes the file of a held lock. No other call can hold a lock file with this name (see
/// `is_current`).
fn remove(fs: &dyn FileSystem, place: &Place) {
    let _ = fs.unlink(place);
}

/// Sorts keys in the order in which all calls take locks, and removes duplicates.
fn sorted_keys(mut keys: Vec<LockKey>) -> Vec<LockKey> {
    keys.sort();
    keys.dedup_by(|one, other| one.name == other.name);
    keys
}

/// Removes the lock files of dead processes.
pub(super) fn sweep(fs: &dyn FileSystem, state: &StateDir) {
    for place in state.lock_places(fs) {
        if fs.stamp(&place).is_ok_and(|stamp| stamp.kind == FileKind::File)
            && let Ok(file) = fs.open(&place)
            && fs.try_lock(&file).is_ok_and(|is_taken| is_taken)
            && is_current(fs, &place, &file).is_ok_and(|is_current| is_current)
        {
            let _ = fs.unlink(&place);
        }
    }
}

fn acquire(
    fs: &dyn FileSystem,
    state: &StateDir,
    key: &LockKey,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(Place, File)> {
    if let Attempt::Taken(place, file) = try_acquire(fs, state, key)? {
        return Ok((place, file));
    }
    call_threads::waiting(|| wait_and_acquire(fs, state, key, deadline, cancel))
}

/// The result of one attempt to take a lock.
enum Attempt {
    Taken(Place, File),
    /// Another call holds it.
    Held,
    /// Its last holder removed the file between open and lock; a new file must be opened.
    Removed,
}

fn try_acquire(fs: &dyn FileSystem, state: &StateDir, key: &LockKey) -> Result<Attempt> {
    let fault = |cause| Error::io("lock", &key.shown, &cause);
    let (place, file) = state.lock_file(fs, &key.name)?;
    if !fs.try_lock(&file).map_err(fault)? {
        return Ok(Attempt::Held);
    }
    if is_current(fs, &place, &file).map_err(fault)? {
        Ok(Attempt::Taken(place, file))
    } else {
        Ok(Attempt::Removed)
    }
}

fn wait_and_acquire(
    fs: &dyn FileSystem,
    state: &StateDir,
    key: &LockKey,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<(Place, File)> {
    let mut pause = FIRST_PAUSE;
    loop {
        match try_acquire(fs, state, key)? {
            Attempt::Taken(place, file) => return Ok((place, file)),
            Attempt::Removed => pause = FIRST_PAUSE,
            Attempt::Held => {}
        }
        cancel.check()?;
        if Instant::now() >= deadline {
            let shown = &key.shown;
            return Err(Error::at(
                Code::LockTimeout,
                shown,
                Message::from(format!("{shown}: another call is editing it (option "))
                    + Term::LockTimeout
                    + "); try again",
            ));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Whether `place` still names the open file.
fn is_current(fs: &dyn FileSystem, place: &Place, file: &File) -> io::Result<bool> {
    let held = fs.stamp_of(file)?;
    match stamp_if_exists(fs, place) {
        Err(cause) if is_delete_pending(&cause) => Ok(false),
        there => Ok(there?.is_some_and(|there| there.is_same_file(&held))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::OsFileSystem;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn state() -> (tempfile::TempDir, StateDir) {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::new(dir.path().to_str()).unwrap();
        (dir, state)
    }

    fn in_seconds(seconds: u64) -> Instant {
        Instant::now() + Duration::from_secs(seconds)
    }

    #[test]
    fn threads_take_turns_and_leave_no_lock_file() {
        let (dir, state) = state();
        let inside = AtomicU32::new(0);
        let keys = |order: bool| {
            let mut keys = vec![
                LockKey::of_path(Path::new("/a"), "a"),
                LockKey::of_path(Path::new("/b"), "b"),
            ];
            if order {
                keys.reverse();
            }
            keys
        };
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (state, inside, keys) = (&state, &inside, &keys);
                scope.spawn(move || {
                    for round in 0..50 {
                        let keys = keys((thread + round) % 2 == 0);
                        let _locks = Locks::take(
                            &OsFileSystem,
                            state,
                            keys,
                            in_seconds(60),
                            &Cancel::default(),
                        )
                        .unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(dir.path().join("locks")).unwrap().count(), 0);
    }

    #[test]
    fn changing_locks_does_not_release_those_that_stay() {
        let (dir, state) = state();
        let keys = |names: &[&str]| -> Vec<LockKey> {
            names.iter().map(|name| LockKey::of_path(Path::new(name), name)).collect()
        };
        let try_take = |names: &[&str]| {
            Locks::take(&OsFileSystem, &state, keys(names), Instant::now(), &Cancel::default())
        };
        let mut locks = try_take(&["a", "b"]).unwrap();
        assert!(locks.change_to(&state, keys(&["b", "c"])).unwrap());
        for held in ["b", "c"] {
            assert_eq!(try_take(&[held]).unwrap_err().code, Code::LockTimeout);
        }
        let other = try_take(&["a"]).unwrap();
        // The call that holds "a" may be waiting for one of these.
        assert!(!locks.change_to(&state, keys(&["a", "b"])).unwrap());
        assert_eq!(try_take(&["b"]).unwrap_err().code, Code::LockTimeout);
        drop((locks, other));
        assert_eq!(std::fs::read_dir(dir.path().join("locks")).unwrap().count(), 0);
    }

    #[test]
    fn waiting_ends_at_the_deadline_and_when_cancelled() {
        let (_dir, state) = state();
        let keys = || vec![LockKey::of_path(Path::new("/a"), "a.txt")];
        let _held =
            Locks::take(&OsFileSystem, &state, keys(), in_seconds(60), &Cancel::default()).unwrap();
        let error = Locks::take(&OsFileSystem, &state, keys(), Instant::now(), &Cancel::default())
            .unwrap_err();
        assert_eq!(error.code, Code::LockTimeout);
        assert!(error.message.contains("a.txt"), "{}", error.message);
        let cancel = Cancel::default();
        cancel.cancel();
        let error =
            Locks::take(&OsFileSystem, &state, keys(), in_seconds(60), &cancel).unwrap_err();
        assert_eq!(error.code, Code::Aborted);
    }
}
