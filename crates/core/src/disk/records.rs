//! Records and contents that processes share: a log of checked lines, and contents by their hash,
//! in a private directory of the state directory.
//!
//! Whoever writes holds the store's lock; whoever reads needs none. A line is written in one go
//! behind its checksum, and counts once it is whole, so that a process that dies in between leaves
//! a line that nobody believes. Contents come before the records that name them. Nothing is forced
//! to the disk: after a power cut the newest records may be missing or damaged, and then they do
//! not count.
//!
//! Between calls nothing of it is open: a store may lie idle for days, and meanwhile anyone may
//! remove its directory (which Windows refuses while it is open) or put another in its place.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::cancel::Cancel;
use crate::disk::bytes::snapshot;
use crate::disk::commit::{LockKey, Locks, StateDir};
use crate::disk::fs::{FileSystem, Place, Stamp};
use crate::error::{Error, Result};

/// The log, in the store's directory.
const LOG: &str = "log";

/// A log that is longer is not one of ours.
const MAX_LOG_BYTES: u64 = 256 << 20;

/// What the first record of a log begins with.
const HEAD: &str = "log ";

/// The length of a log's first line: it is read to know the log again.
const HEAD_BYTES: usize = 2 * HASH_LETTERS + HEAD.len() + 2;

/// Letters of a checksum, and of a content's name.
const HASH_LETTERS: usize = 32;

/// What a log had to tell since it was read last.
#[derive(Debug, Default)]
pub struct News {
    /// The log is another one: what was read before does not count any more.
    pub is_new_log: bool,
    /// The records, oldest first.
    pub records: Vec<String>,
    /// Lines that are no records.
    pub damaged: u64,
}

/// How far a log was read.
#[derive(Clone, Debug, Default)]
struct Position {
    /// The first line of the log, which no other log has.
    head: Option<Vec<u8>>,
    bytes: u64,
    /// What the log was when it was read to its end.
    stamp: Option<Stamp>,
}

/// A store of records.
pub struct RecordStore {
    fs: &'static dyn FileSystem,
    state: StateDir,
    name: String,
    /// The path of the log, for messages.
    shown: String,
    position: Position,
}

impl RecordStore {
    /// Opens, or makes, the store of a name.
    pub fn open(fs: &'static dyn FileSystem, state: StateDir, name: &str) -> Result<RecordStore> {
        let shown = state.store_file(fs, name, LOG)?.shown().to_owned();
        let (name, position) = (name.to_owned(), Position::default());
        Ok(RecordStore { fs, state, name, shown, position })
    }

    /// The log in its directory, which is made anew if somebody has removed it.
    fn log(&self) -> Result<Place> {
        self.state.store_file(self.fs, &self.name, LOG)
    }

    /// Takes the lock that whoever writes must hold.
    pub fn lock(&self, timeout: Duration) -> Result<Locks<'static>> {
        let key = LockKey::of_store(&self.name, &self.shown);
        let state = self.state.closed();
        Locks::take(self.fs, &state, vec![key], Instant::now() + timeout, &Cancel::default())
    }

    /// How long the log is that was read.
    pub fn log_bytes(&self) -> u64 {
        self.position.bytes
    }

    /// Reads on.
    pub fn read(&mut self) -> Result<News> {
        let fault = |cause| self.fault("read", &cause);
        let log = self.log()?;
        // Most calls find the log as the last one left it.
        if let (Some(known), Ok(now)) = (self.position.stamp, self.fs.stamp(&log))
            && now.is_same_content(&known)
        {
            return Ok(News::default());
        }
        let mut file = match self.fs.open(&log) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                // Somebody cleared the directory. What was read is true all the same.
                self.position = Position::default();
                return Ok(News::default());
            }
            Err(cause) => return Err(fault(cause)),
        };
        // Before it is read: what comes meanwhile is news the next time.
        let stamp = Some(self.fs.stamp_of(&file).map_err(fault)?);
        let mut head = Vec::new();
        self.fs.read(&mut file, HEAD_BYTES as u64, &mut head).map_err(fault)?;
        head.truncate(HEAD_BYTES);
        let known = self.position.head.clone();
        let is_same = known.as_ref().is_some_and(|known| *known == head);
        let start = if is_same { self.position.bytes } else { 0 };
        let mut news = News { is_new_log: known.is_some() && !is_same, ..News::default() };
        let mut bytes = Vec::new();
        self.fs.seek(&mut file, start).map_err(fault)?;
        self.fs.read(&mut file, MAX_LOG_BYTES, &mut bytes).map_err(fault)?;
        let mut read_bytes = 0;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else { break };
            read_bytes += line.len() as u64 + 1;
            match record(line) {
                Some(record) if record.starts_with(HEAD) => {}
                Some(record) => news.records.push(record.to_owned()),
                // Empty lines end what was left without an end.
                None => news.damaged += u64::from(!line.is_empty()),
            }
        }
        let head = Some(head).filter(|head| head.len() == HEAD_BYTES);
        self.position = Position { head, bytes: start + read_bytes, stamp };
        Ok(news)
    }

    /// Adds records at the end. The lock is held, and the log was read to its end under it.
    pub fn append(&mut self, records: &[String]) -> Result<()> {
        let fault = |cause| self.fault("write", &cause);
        let log = self.log()?;
        let opened = match self.fs.open_for_rewrite(&log) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => self.fs.create_new(&log, true),
            opened => opened,
        };
        let mut file = opened.map_err(fault)?;
        let size_bytes = self.fs.stamp_of(&file).map_err(fault)?.size_bytes;
        let mut text = String::new();
        if size_bytes == 0 {
            push_line(&mut text, &head());
        } else if size_bytes > self.position.bytes {
            // Somebody died while writing a line: it ends here.
            text.push('\n');
        }
        records.iter().for_each(|record| push_line(&mut text, record));
        self.fs.seek(&mut file, size_bytes).map_err(fault)?;
        self.fs.write(&mut file, text.as_bytes()).map_err(fault)?;
        self.position.stamp = Some(self.fs.stamp_of(&file).map_err(fault)?);
        self.position.bytes = size_bytes + text.len() as u64;
        if size_bytes == 0 {
            self.position.head = text.as_bytes().get(..HEAD_BYTES).map(<[u8]>::to_vec);
        }
        Ok(())
    }

    /// Puts other records in the place of all, and drops the contents that are not to be kept.
    /// The lock is held. A process that dies in between leaves the old log or the new one.
    pub fn replace(&mut self, records: &[String], keep: &HashSet<u128>) -> Result<()> {
        let fault = |cause| self.fault("write", &cause);
        let log = self.log()?;
        let fresh = log.sibling("log.new");
        let _ = self.fs.unlink(&fresh);
        let mut text = String::new();
        push_line(&mut text, &head());
        records.iter().for_each(|record| push_line(&mut text, record));
        let mut file = self.fs.create_new(&fresh, true).map_err(fault)?;
        self.fs.write(&mut file, text.as_bytes()).map_err(fault)?;
        let stamp = Some(self.fs.stamp_of(&file).map_err(fault)?);
        drop(file);
        self.fs.rename(&fresh, &log).map_err(fault)?;
        let head = text.as_bytes().get(..HEAD_BYTES).map(<[u8]>::to_vec);
        self.position = Position { head, bytes: text.len() as u64, stamp };
        for name in self.state.store_names(self.fs, &self.name)? {
            let hash = name.to_str().filter(|name| name.len() == HASH_LETTERS);
            let hash = hash.and_then(|name| u128::from_str_radix(name, 16).ok());
            if hash.is_some_and(|hash| !keep.contains(&hash)) {
                let _ = self.fs.unlink(&log.sibling(name));
            }
        }
        Ok(())
    }

    /// Keeps a content under its hash. The lock is held.
    pub fn put(&self, hash: u128, content: &[u8]) -> Result<()> {
        let fault = |cause| self.fault("write", &cause);
        let place = self.log()?.sibling(content_name(hash));
        if self.fs.stamp(&place).is_ok_and(|stamp| stamp.size_bytes == content.len() as u64) {
            return Ok(());
        }
        let fresh = place.sibling("content.new");
        let _ = self.fs.unlink(&fresh);
        let mut file = self.fs.create_new(&fresh, true).map_err(fault)?;
        self.fs.write(&mut file, content).map_err(fault)?;
        drop(file);
        self.fs.rename(&fresh, &place).map_err(fault)
    }

    /// The content of a hash; `None` if it is not there, or is another one.
    pub fn get(&self, hash: u128) -> Option<Vec<u8>> {
        let name = content_name(hash);
        let mut file = self.fs.open(&self.log().ok()?.sibling(&name)).ok()?;
        let mut content = Vec::new();
        self.fs.read(&mut file, u64::MAX, &mut content).ok()?;
        (snapshot(&content) == name).then_some(content)
    }

    fn fault(&self, verb: &str, cause: &io::Error) -> Error {
        Error::io(verb, &self.shown, cause)
    }
}

/// Removes the stores to which nothing was written for `age`, unless somebody uses them.
pub fn sweep(fs: &dyn FileSystem, state: &StateDir, age: Duration) {
    let Ok(now) = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) else { return };
    for name in state.stores(fs) {
        let Ok(log) = state.store_file(fs, &name, LOG) else { continue };
        let is_old = |stamp: Stamp| {
            let age_ns = now.as_nanos() as i128 - stamp.modified_ns;
            age_ns > age.as_nanos() as i128
        };
        // One that has no log yet is being made.
        if !fs.stamp(&log).is_ok_and(is_old) {
            continue;
        }
        let key = LockKey::of_store(&name, log.shown());
        let Ok(_lock) = Locks::take(fs, state, vec![key], Instant::now(), &Cancel::default())
        else {
            continue;
        };
        for file in state.store_names(fs, &name).unwrap_or_default() {
            let _ = fs.unlink(&log.sibling(file));
        }
        state.remove_store(fs, &name);
    }
}

/// The first record of a log: another one for every log.
fn head() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mark = format!("{} {} {count}", since.as_nanos(), std::process::id());
    format!("{HEAD}{}", snapshot(mark.as_bytes()))
}

fn content_name(hash: u128) -> String {
    format!("{hash:032x}")
}

fn push_line(text: &mut String, record: &str) {
    debug_assert!(!record.contains('\n'));
    *text += &snapshot(record.as_bytes());
    text.push(' ');
    *text += record;
    text.push('\n');
}

/// The record in a line, if its checksum is true.
fn record(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let (checksum, record) = line.split_once(' ')?;
    (checksum == snapshot(record.as_bytes())).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::fs::OsFileSystem;
    use std::path::Path;

    const TIMEOUT: Duration = Duration::from_secs(60);

    fn state(dir: &Path) -> StateDir {
        StateDir::new(dir.to_str()).unwrap()
    }

    fn store(dir: &Path) -> RecordStore {
        RecordStore::open(&OsFileSystem, state(dir), "one").unwrap()
    }

    fn append(store: &mut RecordStore, records: &[&str]) {
        let _lock = store.lock(TIMEOUT).unwrap();
        store.read().unwrap();
        let records: Vec<String> = records.iter().map(|one| (*one).to_owned()).collect();
        store.append(&records).unwrap();
    }

    #[test]
    fn one_reads_what_another_writes_and_not_twice() {
        let dir = tempfile::tempdir().unwrap();
        let (mut one, mut other) = (store(dir.path()), store(dir.path()));
        assert!(one.read().unwrap().records.is_empty());
        append(&mut other, &["a", "b"]);
        assert_eq!(one.read().unwrap().records, ["a", "b"]);
        append(&mut other, &["c"]);
        assert_eq!(one.read().unwrap().records, ["c"]);
        assert!(other.read().unwrap().records.is_empty());
        assert_eq!(store(dir.path()).read().unwrap().records, ["a", "b", "c"]);
    }

    #[test]
    fn a_line_that_was_cut_or_changed_does_not_count_and_harms_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let mut one = store(dir.path());
        append(&mut one, &["first", "second"]);
        let log = one.log().unwrap().canonical().to_owned();
        let whole = std::fs::read(&log).unwrap();
        let lines: Vec<usize> = memchr::memchr_iter(b'\n', &whole).map(|end| end + 1).collect();
        assert_eq!(lines.len(), 3);
        for end in lines[1] + 1..whole.len() - 1 {
            std::fs::write(&log, &whole[..end]).unwrap();
            let mut other = store(dir.path());
            assert_eq!(other.read().unwrap().records, ["first"], "{end}");
            append(&mut other, &["third"]);
            let news = store(dir.path()).read().unwrap();
            assert_eq!((news.records, news.damaged), (vec!["first".into(), "third".into()], 1));
        }
        for at in lines[0]..lines[1] - 1 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&log, &damaged).unwrap();
            let news = store(dir.path()).read().unwrap();
            assert_eq!(news.records, ["second"], "{at}");
        }
    }

    #[test]
    fn a_log_that_took_the_place_of_another_is_read_from_its_start() {
        let dir = tempfile::tempdir().unwrap();
        let (mut one, mut other) = (store(dir.path()), store(dir.path()));
        append(&mut one, &["a", "b"]);
        other.read().unwrap();
        {
            let _lock = one.lock(TIMEOUT).unwrap();
            one.put(1, b"kept").unwrap();
            one.put(2, b"dropped").unwrap();
            one.replace(&["whole".to_owned()], &HashSet::from([1])).unwrap();
        }
        assert!(one.read().unwrap().records.is_empty());
        let news = other.read().unwrap();
        assert!(news.is_new_log);
        assert_eq!(news.records, ["whole"]);
        assert_eq!(one.state.store_names(&OsFileSystem, "one").unwrap().len(), 2);
    }

    #[test]
    fn contents_are_believed_only_if_they_have_their_hash() {
        let dir = tempfile::tempdir().unwrap();
        let one = store(dir.path());
        let hash = u128::from_str_radix(&snapshot(b"text"), 16).unwrap();
        assert_eq!(one.get(hash), None);
        one.put(hash, b"text").unwrap();
        assert_eq!(one.get(hash).as_deref(), Some(&b"text"[..]));
        let place = one.log().unwrap().sibling(content_name(hash));
        std::fs::write(place.canonical(), b"tex!").unwrap();
        assert_eq!(one.get(hash), None);
    }

    #[test]
    fn a_store_whose_directory_was_removed_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let state_dir = dir.path().join("state");
        let mut one = store(&state_dir);
        append(&mut one, &["a"]);
        std::fs::remove_dir_all(&state_dir).unwrap();
        assert!(one.read().unwrap().records.is_empty());
        append(&mut one, &["b"]);
        one.put(1, b"text").unwrap();
        assert_eq!(store(&state_dir).read().unwrap().records, ["b"]);
        // Another one has taken its place.
        std::fs::remove_dir_all(&state_dir).unwrap();
        append(&mut store(&state_dir), &["c"]);
        assert_eq!(one.read().unwrap().records, ["c"]);
    }

    #[cfg(unix)]
    #[test]
    fn stores_are_private_and_old_ones_are_swept() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let mut one = store(dir.path());
        append(&mut one, &["a"]);
        let log = one.log().unwrap().canonical().to_owned();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(log.parent().unwrap()), mode(&log)), (0o700, 0o600));
        let day = Duration::from_secs(86_400);
        sweep(&OsFileSystem, &state(dir.path()), day);
        assert!(log.exists());
        let old = SystemTime::now() - 2 * day;
        let file = std::fs::File::options().write(true).open(&log).unwrap();
        file.set_times(std::fs::FileTimes::new().set_modified(old)).unwrap();
        {
            let _in_use = one.lock(TIMEOUT).unwrap();
            sweep(&OsFileSystem, &state(dir.path()), day);
            assert!(log.exists());
        }
        sweep(&OsFileSystem, &state(dir.path()), day);
        assert!(!log.parent().unwrap().exists());
    }
}
