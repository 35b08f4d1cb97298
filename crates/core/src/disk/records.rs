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

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::cancel::Cancel;
use crate::disk::bytes::snapshot;
use crate::disk::commit::{LockKey, Locks, StateDir};
use crate::disk::fs::{FileSystem, Place, Stamp};
use crate::error::{Code, Error, Result};

/// The log, in the store's directory.
const LOG: &str = "log";

/// A log that is longer is not one of ours.
const MAX_LOG_BYTES: u64 = 256 << 20;

/// What the first record of a log begins with. The version follows, then a mark that no other log
/// has.
const HEAD: &str = "log ";

/// The version of what is written here, and of the records.
const VERSION: &str = "1";

/// The first line of a log has so many bytes at most: it is read to know the log again.
const MAX_HEAD_BYTES: u64 = 200;

/// Letters of a checksum, and of a content's name.
const HASH_LETTERS: usize = 32;

/// What a log had to tell since it was read last.
#[derive(Debug, Default)]
pub struct News {
    /// The log is another one than before, or the first that was read: this is all of it.
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
    /// The last try to read it came to its end. Whoever writes behind what was not read would
    /// never read it.
    is_at_end: bool,
}

/// A content, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredContent {
    /// It has its hash.
    Whole(Vec<u8>),
    /// It is not there, or larger than asked for.
    Missing,
    /// It is another one, or cannot be read.
    Damaged,
}

/// The lock of a store, which whoever writes must hold. It is waited for without the store.
pub struct StoreLock {
    fs: &'static dyn FileSystem,
    state: StateDir,
    name: String,
    shown: String,
}

impl StoreLock {
    /// Takes the lock, or waits for it until the call is cancelled.
    pub fn take(&self, timeout: Duration, cancel: &Cancel) -> Result<Locks<'static>> {
        let key = LockKey::of_store(&self.name, &self.shown);
        let state = self.state.closed();
        Locks::take(self.fs, &state, vec![key], Instant::now() + timeout, cancel)
    }
}

/// A store of records.
pub struct RecordStore {
    fs: &'static dyn FileSystem,
    state: StateDir,
    name: String,
    /// The path of the log, for messages.
    shown: String,
    position: Position,
    max_log_bytes: u64,
    /// The contents that were compared with their hashes, as they were then.
    compared: HashMap<u128, Stamp>,
}

impl RecordStore {
    /// Opens, or makes, the store of a name.
    pub fn open(fs: &'static dyn FileSystem, state: StateDir, name: &str) -> Result<RecordStore> {
        let shown = state.store_file(fs, name, LOG)?.shown().to_owned();
        let (name, position) = (name.to_owned(), Position::default());
        let compared = HashMap::new();
        Ok(RecordStore { fs, state, name, shown, position, max_log_bytes: MAX_LOG_BYTES, compared })
    }

    /// The same store, of which nothing was read yet.
    pub fn unread(&self) -> RecordStore {
        RecordStore {
            state: self.state.closed(),
            name: self.name.clone(),
            shown: self.shown.clone(),
            position: Position::default(),
            compared: HashMap::new(),
            ..*self
        }
    }

    /// The log in its directory, which is made anew if somebody has removed it.
    fn log(&self) -> Result<Place> {
        self.state.store_file(self.fs, &self.name, LOG)
    }

    /// The lock of this store.
    pub fn lock(&self) -> StoreLock {
        let (name, shown) = (self.name.clone(), self.shown.clone());
        StoreLock { fs: self.fs, state: self.state.closed(), name, shown }
    }

    /// How long the log is that was read.
    pub fn log_bytes(&self) -> u64 {
        self.position.bytes
    }

    /// Reads on. Of another log than before all is read; what was read before is true all the same.
    pub fn read(&mut self) -> Result<News> {
        self.position.is_at_end = false;
        let log = self.state.store_file_if_made(self.fs, &self.name, LOG)?;
        let Some(log) = log else { return Ok(self.cleared()) };
        // Most calls find the log as the last one left it.
        if let (Some(known), Ok(now)) = (self.position.stamp, self.fs.stamp(&log))
            && now.is_same_content(&known)
        {
            self.position.is_at_end = true;
            return Ok(News::default());
        }
        let fault = |cause| self.fault("read", &cause);
        let mut file = match self.fs.open(&log) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(self.cleared()),
            Err(cause) => return Err(fault(cause)),
        };
        // Before it is read: what comes meanwhile is news the next time.
        let stamp = self.fs.stamp_of(&file).map_err(fault)?;
        let mut head = Vec::new();
        self.fs.read(&mut file, MAX_HEAD_BYTES, &mut head).map_err(fault)?;
        let head = memchr::memchr(b'\n', &head).map(|end| head[..=end].to_vec());
        if let Some(version) = head.as_deref().and_then(other_version) {
            return Err(self.of_other_version(&version));
        }
        let is_same = head.is_some() && self.position.head == head;
        let start = if is_same { self.position.bytes } else { 0 };
        let mut bytes = Vec::new();
        self.fs.seek(&mut file, start).map_err(fault)?;
        self.fs.read(&mut file, self.max_log_bytes, &mut bytes).map_err(fault)?;
        let is_at_end = (bytes.len() as u64) < self.max_log_bytes;
        let (mut news, read_bytes) = records_in(&bytes);
        news.is_new_log = !is_same;
        let stamp = Some(stamp).filter(|_| is_at_end);
        self.position = Position { head, bytes: start + read_bytes, stamp, is_at_end };
        Ok(news)
    }

    /// Somebody removed the log: the next one is read from its start.
    fn cleared(&mut self) -> News {
        self.position = Position { is_at_end: true, ..Position::default() };
        News { is_new_log: true, ..News::default() }
    }

    fn of_other_version(&self, version: &str) -> Error {
        let shown = &self.shown;
        let message = format!(
            "{shown}: its format is {version}, and this program knows {VERSION} alone; it is left as it is"
        );
        Error::at(Code::Io, shown, message)
    }

    /// Refuses to write where the log was not read to its end.
    fn check_is_at_end(&self) -> Result<()> {
        if self.position.is_at_end {
            return Ok(());
        }
        let shown = &self.shown;
        let message = format!("{shown}: it was not read to its end, and nothing is added to it");
        Err(Error::at(Code::Io, shown, message))
    }

    /// Adds records at the end. The lock is held, and the log was read to its end under it.
    pub fn append(&mut self, records: &[String]) -> Result<()> {
        self.check_is_at_end()?;
        let fault = |cause| self.fault("write", &cause);
        let log = self.log()?;
        let opened = match self.fs.open_for_rewrite(&log) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => self.fs.create_new(&log, true),
            opened => opened,
        };
        let mut file = opened.map_err(fault)?;
        let mut size_bytes = self.fs.stamp_of(&file).map_err(fault)?.size_bytes;
        let mut text = String::new();
        if self.position.bytes == 0 {
            // Somebody may have died while writing the first line.
            self.fs.set_len(&file, 0).map_err(fault)?;
            size_bytes = 0;
            push_line(&mut text, &head());
        } else if size_bytes > self.position.bytes {
            // Somebody died while writing a line: it ends here.
            text.push('\n');
        }
        let head = text.find('\n').filter(|_| size_bytes == 0);
        let head = head.map(|end| text.as_bytes()[..=end].to_vec());
        records.iter().for_each(|record| push_line(&mut text, record));
        self.fs.seek(&mut file, size_bytes).map_err(fault)?;
        if let Err(cause) = self.fs.write(&mut file, text.as_bytes()) {
            // What of it is there would be read as news.
            let _ = self.fs.set_len(&file, size_bytes);
            return Err(fault(cause));
        }
        self.position.stamp = Some(self.fs.stamp_of(&file).map_err(fault)?);
        self.position.bytes = size_bytes + text.len() as u64;
        self.position.head = head.or(self.position.head.take());
        Ok(())
    }

    /// Puts other records in the place of all, and drops the contents that are not to be kept.
    /// The lock is held, and the log was read to its end under it. A process that dies in between
    /// leaves the old log or the new one.
    pub fn replace(&mut self, records: &[String], keep: &HashSet<u128>) -> Result<()> {
        self.check_is_at_end()?;
        let fault = |cause| self.fault("write", &cause);
        let log = self.log()?;
        let fresh = log.sibling("log.new");
        let _ = self.fs.unlink(&fresh);
        let mut text = String::new();
        push_line(&mut text, &head());
        let head = Some(text.as_bytes().to_vec());
        records.iter().for_each(|record| push_line(&mut text, record));
        let mut file = self.fs.create_new(&fresh, true).map_err(fault)?;
        self.fs.write(&mut file, text.as_bytes()).map_err(fault)?;
        let stamp = Some(self.fs.stamp_of(&file).map_err(fault)?);
        drop(file);
        self.fs.rename(&fresh, &log).map_err(fault)?;
        self.position = Position { head, bytes: text.len() as u64, stamp, is_at_end: true };
        self.compared.retain(|hash, _| keep.contains(hash));
        for (hash, place) in self.contents()? {
            if !keep.contains(&hash) {
                let _ = self.fs.unlink(&place);
            }
        }
        Ok(())
    }

    /// The contents that are there.
    fn contents(&self) -> Result<Vec<(u128, Place)>> {
        let log = self.state.store_file_if_made(self.fs, &self.name, LOG)?;
        let Some(log) = log else { return Ok(Vec::new()) };
        let names = self.state.store_names(self.fs, &self.name)?;
        let contents = names.into_iter().filter_map(|name| {
            let letters = name.to_str().filter(|name| name.len() == HASH_LETTERS)?;
            Some((u128::from_str_radix(letters, 16).ok()?, log.sibling(name)))
        });
        Ok(contents.collect())
    }

    /// How many bytes the contents have.
    pub fn contents_bytes(&self) -> Result<u64> {
        let contents = self.contents()?;
        let sizes = contents.iter().filter_map(|(_, place)| self.fs.stamp(place).ok());
        Ok(sizes.map(|stamp| stamp.size_bytes).sum())
    }

    /// Keeps a content under its hash, and says how many bytes were written for that. The lock is
    /// held.
    pub fn put(&mut self, hash: u128, content: &[u8]) -> Result<u64> {
        let fault = |cause| self.fault("write", &cause);
        let place = self.log()?.sibling(content_name(hash));
        if let Ok(stamp) = self.fs.stamp(&place) {
            let known = self.compared.get(&hash);
            if known.is_some_and(|known| known.is_same_content(&stamp))
                || (stamp.size_bytes == content.len() as u64 && self.holds(&place, content))
            {
                self.compared.insert(hash, stamp);
                return Ok(0);
            }
        }
        let fresh = place.sibling("content.new");
        let _ = self.fs.unlink(&fresh);
        let mut file = self.fs.create_new(&fresh, true).map_err(fault)?;
        self.fs.write(&mut file, content).map_err(fault)?;
        let stamp = self.fs.stamp_of(&file).map_err(fault)?;
        drop(file);
        self.fs.rename(&fresh, &place).map_err(fault)?;
        self.compared.insert(hash, stamp);
        Ok(content.len() as u64)
    }

    fn holds(&self, place: &Place, content: &[u8]) -> bool {
        let mut found = Vec::with_capacity(content.len() + 1);
        let read = self
            .fs
            .open(place)
            .and_then(|mut file| self.fs.read(&mut file, content.len() as u64, &mut found));
        read.is_ok() && found == content
    }

    /// The content of a hash, up to so many bytes.
    pub fn get(&self, hash: u128, limit_bytes: u64) -> StoredContent {
        let log = self.state.store_file_if_made(self.fs, &self.name, LOG);
        let Ok(Some(log)) = log else { return StoredContent::Missing };
        let name = content_name(hash);
        let mut file = match self.fs.open(&log.sibling(&name)) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return StoredContent::Missing,
            Err(_) => return StoredContent::Damaged,
        };
        let mut content = match self.fs.stamp_of(&file) {
            Ok(stamp) if stamp.size_bytes > limit_bytes => return StoredContent::Missing,
            Ok(stamp) => Vec::with_capacity(stamp.size_bytes as usize),
            Err(_) => return StoredContent::Damaged,
        };
        let read = self.fs.read(&mut file, limit_bytes, &mut content);
        if read.is_ok() && snapshot(&content) == name {
            StoredContent::Whole(content)
        } else {
            StoredContent::Damaged
        }
    }

    /// Removes a content that is damaged, so that it can be put there again. The lock is held.
    pub fn discard(&mut self, hash: u128, limit_bytes: u64) {
        if self.get(hash, limit_bytes) == StoredContent::Damaged
            && let Ok(log) = self.log()
        {
            self.compared.remove(&hash);
            let _ = self.fs.unlink(&log.sibling(content_name(hash)));
        }
    }

    fn fault(&self, verb: &str, cause: &io::Error) -> Error {
        Error::io(verb, &self.shown, cause)
    }
}

/// The whole records of a part of a log, and how many bytes the lines have.
fn records_in(bytes: &[u8]) -> (News, u64) {
    let (mut news, mut read_bytes) = (News::default(), 0);
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
    (news, read_bytes)
}

/// Removes the stores to which nothing was written for `age`, unless somebody uses them.
pub fn sweep(fs: &dyn FileSystem, state: &StateDir, age: Duration) {
    let Ok(now) = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) else { return };
    let is_old = |log: &Place| {
        let stamp = match fs.stamp(log) {
            // The directory of one that is being made, or that nobody ever wrote to.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => fs.stamp(&log.directory()),
            found => found,
        };
        let age_ns = |stamp: Stamp| now.as_nanos() as i128 - stamp.modified_ns;
        stamp.is_ok_and(|stamp| age_ns(stamp) > age.as_nanos() as i128)
    };
    for name in state.stores(fs) {
        let Ok(Some(log)) = state.store_file_if_made(fs, &name, LOG) else { continue };
        if !is_old(&log) {
            continue;
        }
        let key = LockKey::of_store(&name, log.shown());
        let lock = Locks::take(fs, state, vec![key], Instant::now(), &Cancel::default());
        // Somebody may have written before the lock was taken.
        if lock.is_err() || !is_old(&log) {
            continue;
        }
        for file in state.store_names(fs, &name).unwrap_or_default() {
            let _ = fs.unlink(&log.sibling(file));
        }
        // Nothing of it is open any more: Windows would refuse.
        drop(log);
        state.remove_store(fs, &name);
    }
}

/// The version in the first line of a log, if it is not ours. A line that is damaged has none.
fn other_version(line: &[u8]) -> Option<String> {
    let rest = record(line.strip_suffix(b"\n")?)?.strip_prefix(HEAD)?;
    let (version, _mark) = rest.split_once(' ').unwrap_or(("unknown", rest));
    (version != VERSION).then(|| version.to_owned())
}

/// The first record of a log: another one for every log.
fn head() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mark = format!("{} {} {count}", since.as_nanos(), std::process::id());
    format!("{HEAD}{VERSION} {}", snapshot(mark.as_bytes()))
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
        let _lock = store.lock().take(TIMEOUT, &Cancel::default()).unwrap();
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
            let _lock = one.lock().take(TIMEOUT, &Cancel::default()).unwrap();
            one.put(1, b"kept").unwrap();
            one.put(2, b"dropped").unwrap();
            one.replace(&["whole".to_owned()], &HashSet::from([1])).unwrap();
        }
        assert!(one.read().unwrap().records.is_empty());
        let news = other.read().unwrap();
        assert_eq!(news.records, ["whole"]);
        assert_eq!(one.state.store_names(&OsFileSystem, "one").unwrap().len(), 2);
    }

    #[test]
    fn contents_are_believed_only_if_they_have_their_hash() {
        let dir = tempfile::tempdir().unwrap();
        let mut one = store(dir.path());
        let hash = u128::from_str_radix(&snapshot(b"text"), 16).unwrap();
        assert_eq!(one.get(hash, 4), StoredContent::Missing);
        assert_eq!(one.put(hash, b"text").unwrap(), 4);
        assert_eq!(one.put(hash, b"text").unwrap(), 0);
        assert_eq!(one.get(hash, 4), StoredContent::Whole(b"text".to_vec()));
        assert_eq!(one.get(hash, 3), StoredContent::Missing);
        assert_eq!(one.contents_bytes().unwrap(), 4);
        let place = one.log().unwrap().sibling(content_name(hash));
        std::fs::write(place.canonical(), b"tex!").unwrap();
        assert_eq!(one.get(hash, 4), StoredContent::Damaged);
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
            let _in_use = one.lock().take(TIMEOUT, &Cancel::default()).unwrap();
            sweep(&OsFileSystem, &state(dir.path()), day);
            assert!(log.exists());
        }
        sweep(&OsFileSystem, &state(dir.path()), day);
        assert!(!log.parent().unwrap().exists());
    }

    /// What the process has open below a directory.
    #[cfg(target_os = "linux")]
    fn open_below(dir: &Path) -> usize {
        let dir = dir.canonicalize().unwrap();
        let open = std::fs::read_dir("/proc/self/fd").unwrap();
        let paths = open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
        paths.filter(|path| path.starts_with(&dir)).count()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn regression_a_store_keeps_nothing_open() {
        let dir = tempfile::tempdir().unwrap();
        let mut one = store(dir.path());
        append(&mut one, &["a"]);
        one.put(1, b"text").unwrap();
        one.get(1, 4);
        one.read().unwrap();
        assert_eq!(open_below(dir.path()), 0);
    }

    #[test]
    fn regression_neither_reading_nor_sweeping_makes_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let mut one = store(dir.path());
        let place = one.log().unwrap().canonical().parent().unwrap().to_owned();
        std::fs::remove_dir(&place).unwrap();
        assert!(one.read().unwrap().records.is_empty());
        assert_eq!(one.get(1, 4), StoredContent::Missing);
        assert_eq!(one.contents_bytes().unwrap(), 0);
        sweep(&OsFileSystem, &state(dir.path()), Duration::ZERO);
        assert!(!place.exists());
    }

    /// The directory of a process that died, or never showed anything.
    #[cfg(unix)]
    #[test]
    fn regression_an_old_store_without_a_log_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let log = store(dir.path()).log().unwrap().canonical().to_owned();
        let place = log.parent().unwrap();
        let day = Duration::from_secs(86_400);
        sweep(&OsFileSystem, &state(dir.path()), day);
        assert!(place.exists());
        let old = std::fs::FileTimes::new().set_modified(SystemTime::now() - 2 * day);
        std::fs::File::open(place).unwrap().set_times(old).unwrap();
        sweep(&OsFileSystem, &state(dir.path()), day);
        assert!(!place.exists());
    }

    #[test]
    fn regression_behind_records_that_were_not_read_nothing_is_written() {
        let dir = tempfile::tempdir().unwrap();
        append(&mut store(dir.path()), &["a", "b", "c"]);
        let mut one = store(dir.path());
        let log = one.log().unwrap().canonical().to_owned();
        let whole = std::fs::read(&log).unwrap();
        // A read that is cut comes to the end in several steps.
        one.max_log_bytes = whole.len() as u64 - 1;
        assert_eq!(one.read().unwrap().records, ["a", "b"]);
        one.append(&["d".to_owned()]).unwrap_err();
        one.replace(&["d".to_owned()], &HashSet::new()).unwrap_err();
        assert_eq!(std::fs::read(&log).unwrap(), whole);
        assert_eq!(one.read().unwrap().records, ["c"]);
        one.append(&["d".to_owned()]).unwrap();
        assert_eq!(store(dir.path()).read().unwrap().records, ["a", "b", "c", "d"]);
        // A read that fails: what others wrote must not be passed over.
        append(&mut store(dir.path()), &["e"]);
        let aside = log.with_file_name("aside");
        std::fs::rename(&log, &aside).unwrap();
        std::fs::create_dir(&log).unwrap();
        one.read().unwrap_err();
        std::fs::remove_dir(&log).unwrap();
        std::fs::rename(&aside, &log).unwrap();
        one.append(&["f".to_owned()]).unwrap_err();
        assert_eq!(one.read().unwrap().records, ["e"]);
        one.append(&["f".to_owned()]).unwrap();
    }

    #[test]
    fn regression_a_log_of_another_version_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let mut one = store(dir.path());
        let log = one.log().unwrap().canonical().to_owned();
        for head in ["log 2 0123", "log 0123456789abcdef0123456789abcdef"] {
            let mut text = String::new();
            push_line(&mut text, head);
            push_line(&mut text, "something else");
            std::fs::write(&log, &text).unwrap();
            let error = one.read().unwrap_err();
            assert!(error.message.contains("its format is "), "{}", error.message);
            one.append(&["a".to_owned()]).unwrap_err();
            one.replace(&["a".to_owned()], &HashSet::new()).unwrap_err();
            assert_eq!(std::fs::read_to_string(&log).unwrap(), text);
        }
    }

    #[test]
    fn regression_a_damaged_content_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut one = store(dir.path());
        let hash = u128::from_str_radix(&snapshot(b"text"), 16).unwrap();
        let place = one.log().unwrap().sibling(content_name(hash)).canonical().to_owned();
        // By the next process.
        std::fs::write(&place, b"tex!").unwrap();
        assert_eq!(one.put(hash, b"text").unwrap(), 4);
        assert_eq!(one.get(hash, 4), StoredContent::Whole(b"text".to_vec()));
        // And at once by whoever finds it damaged.
        std::fs::write(&place, b"te").unwrap();
        one.discard(hash, 4);
        assert!(!place.exists());
        one.put(hash, b"text").unwrap();
        one.discard(hash, 4);
        assert!(place.exists());
    }

    /// A process died while it began the log.
    #[test]
    fn a_log_without_a_whole_line_is_begun_anew() {
        let dir = tempfile::tempdir().unwrap();
        let mut one = store(dir.path());
        append(&mut one, &["a"]);
        let log = one.log().unwrap().canonical().to_owned();
        let whole = std::fs::read(&log).unwrap();
        let head = whole.iter().position(|&byte| byte == b'\n').unwrap();
        for end in 0..=head {
            std::fs::write(&log, &whole[..end]).unwrap();
            let mut other = store(dir.path());
            append(&mut other, &["b"]);
            let news = store(dir.path()).read().unwrap();
            assert_eq!((news.records, news.damaged), (vec!["b".to_owned()], 0), "{end}");
        }
    }
}
