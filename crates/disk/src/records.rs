//! Records and contents that processes share: a log of lines with checksums, and contents by their
//! hash, in a private directory within the state directory.
//!
//! A writer holds the lock of the store; readers need no lock. A line is written in one call, after
//! its checksum, and ignored if it is incomplete, for example because its writer died. Contents are
//! written before the records that name them. Nothing is flushed: after a power cut, the newest
//! records may be missing or damaged, and are then ignored.
//!
//! Between calls, a store keeps no handle open: it may be idle for days, and meanwhile its
//! directory may be removed (which Windows refuses while it is open) or replaced.

mod contents;
mod log;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::time::{Duration, Instant, SystemTime};

use crate::commit::{LockKey, Locks, StateDir};
use crate::fs::{FileSystem, NewAccess, Place, Stamp};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};

pub use contents::StoredContent;
pub use log::LogUpdate;
use log::{VERSION, head, other_version, push_line, records_in};

/// The name of the log in the directory of the store.
const LOG: &str = "log";

/// The limit on the size of a log; a longer file is not a valid log.
const MAX_LOG_BYTES: u64 = 256 << 20;

/// The size of a log that was invalidated: shorter than any first line, and different from that of
/// a new file.
const CUT_BYTES: u64 = 1;

/// The limit on the first line of a log, which identifies the log.
const MAX_HEAD_BYTES: u64 = 200;

/// How many bytes at the end of the last read are compared before reading continues.
const TAIL_BYTES: usize = 64;

/// The position up to which a log was read.
#[derive(Clone, Debug, Default)]
struct Position {
    /// The first line of the log, which is unique.
    head: Option<Vec<u8>>,
    bytes: u64,
    /// The end of what was read. If the log has other bytes there, or ends before it, the log was
    /// truncated, and others may have written after that.
    tail: Vec<u8>,
    /// The stamp of the log when it was read to its end.
    stamp: Option<Stamp>,
    /// Whether the last read reached the end of the log. A writer that appends after unread records
    /// would never read them.
    is_at_end: bool,
}

/// The lock of a store, which a writer must hold. Waiting for it does not need the store.
pub struct StoreLock {
    fs: &'static dyn FileSystem,
    state: StateDir,
    name: String,
    shown: String,
}

impl StoreLock {
    /// Takes the lock; waits until the timeout or until the call is cancelled.
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
    /// The stamps of the contents that were compared with their hashes.
    compared: HashMap<u128, Stamp>,
}

impl RecordStore {
    /// Opens a store by its name, and creates it if necessary.
    pub fn open(fs: &'static dyn FileSystem, state: StateDir, name: &str) -> Result<RecordStore> {
        let shown = state.store_file(fs, name, LOG)?.shown().to_owned();
        let (name, position) = (name.to_owned(), Position::default());
        let compared = HashMap::new();
        Ok(RecordStore { fs, state, name, shown, position, max_log_bytes: MAX_LOG_BYTES, compared })
    }

    /// Whether a store was opened before, and not removed since.
    pub fn exists(fs: &'static dyn FileSystem, state: &StateDir, name: &str) -> Result<bool> {
        Ok(state.store_file_if_made(fs, name, LOG)?.is_some())
    }

    /// The same store, with nothing read so far.
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

    /// The log in its directory, which is created again if it was removed.
    fn log(&self) -> Result<Place> {
        self.state.store_file(self.fs, &self.name, LOG)
    }

    /// The lock of this store.
    pub fn lock(&self) -> StoreLock {
        let (name, shown) = (self.name.clone(), self.shown.clone());
        StoreLock { fs: self.fs, state: self.state.closed(), name, shown }
    }

    /// The number of bytes of the log that were read.
    pub fn log_bytes(&self) -> u64 {
        self.position.bytes
    }

    /// Reads the new records. If the log was replaced, all its records are read; earlier records
    /// remain valid.
    pub fn read(&mut self) -> Result<LogUpdate> {
        self.position.is_at_end = false;
        let log = self.state.store_file_if_made(self.fs, &self.name, LOG)?;
        let Some(log) = log else { return Ok(self.cleared()) };
        // The usual case: the log is unchanged.
        if let (Some(known), Ok(now)) = (self.position.stamp, self.fs.stamp(&log))
            && now.is_same_content(&known)
        {
            self.position.is_at_end = true;
            return Ok(LogUpdate::default());
        }
        let fault = |cause| self.fault("read", &cause);
        let mut file = match self.fs.open_state(&log) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(self.cleared()),
            Err(cause) => return Err(fault(cause)),
        };
        // Take the stamp before reading, so that later writes are read the next time.
        let stamp = self.fs.stamp_of(&file).map_err(fault)?;
        let mut head = Vec::new();
        self.fs.read(&mut file, MAX_HEAD_BYTES, &mut head).map_err(fault)?;
        let head = memchr::memchr(b'\n', &head).map(|end| head[..=end].to_vec());
        if let Some(version) = head.as_deref().and_then(other_version) {
            return Err(self.of_other_version(&version));
        }
        if stamp.size_bytes == CUT_BYTES || stamp.size_bytes > MAX_LOG_BYTES {
            return Ok(self.invalidated(stamp));
        }
        let is_same = head.is_some() && self.position.head == head;
        let rest = if is_same { self.read_after_tail(&mut file)? } else { None };
        let is_same = rest.is_some();
        let (start, bytes) = match rest {
            Some(bytes) => (self.position.bytes, bytes),
            None => (0, self.read_from(&mut file, 0, self.max_log_bytes)?),
        };
        let is_at_end = (bytes.len() as u64) < self.max_log_bytes;
        let (mut news, read_bytes) = records_in(&bytes);
        news.is_new_log = !is_same;
        let stamp = Some(stamp).filter(|_| is_at_end);
        let known: &[u8] = if is_same { &self.position.tail } else { &[] };
        let tail = tail_of(&[known, &bytes[..read_bytes as usize]].concat());
        self.position = Position { head, bytes: start + read_bytes, tail, stamp, is_at_end };
        Ok(news)
    }

    /// What follows what was read before; `None` if that is no longer in the log.
    fn read_after_tail(&self, file: &mut File) -> Result<Option<Vec<u8>>> {
        let Position { bytes, tail, .. } = &self.position;
        let start = bytes.saturating_sub(tail.len() as u64);
        let mut found = self.read_from(file, start, self.max_log_bytes + tail.len() as u64)?;
        Ok(found.starts_with(tail).then(|| found.split_off(tail.len())))
    }

    fn read_from(&self, file: &mut File, start: u64, limit_bytes: u64) -> Result<Vec<u8>> {
        let fault = |cause| self.fault("read", &cause);
        let mut bytes = Vec::new();
        self.fs.seek(file, start).map_err(fault)?;
        self.fs.read(file, limit_bytes, &mut bytes).map_err(fault)?;
        Ok(bytes)
    }

    /// The log was removed: the next one is read from its start.
    fn cleared(&mut self) -> LogUpdate {
        self.position = Position { is_at_end: true, ..Position::default() };
        LogUpdate { is_new_log: true, ..LogUpdate::default() }
    }

    /// The log is not valid: the next records replace it.
    fn invalidated(&mut self, stamp: Stamp) -> LogUpdate {
        self.position = Position { is_at_end: true, stamp: Some(stamp), ..Position::default() };
        let is_cut = stamp.size_bytes == CUT_BYTES;
        let unread = (!is_cut).then(|| {
            let (shown, size) = (&self.shown, stamp.size_bytes);
            let message = format!("{shown}: it has {size} bytes, more than a store can write");
            Error::at(Code::Io, shown, message)
        });
        LogUpdate { is_new_log: true, is_cut, unread, ..LogUpdate::default() }
    }

    /// Invalidates the log because some records could not be written, so that readers do not take
    /// it for complete. Truncating needs no disk space. Requires the lock, and that the log was
    /// read to its end while holding it.
    pub fn cut(&mut self) -> Result<()> {
        self.check_is_at_end()?;
        let fault = |cause| self.fault("cut", &cause);
        let log = self.log()?;
        let file = match self.fs.open_for_rewrite(&log) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened.map_err(fault)?,
        };
        self.fs.set_len(&file, CUT_BYTES).map_err(fault)?;
        let stamp = Some(self.fs.stamp_of(&file).map_err(fault)?);
        self.position = Position { is_at_end: true, stamp, ..Position::default() };
        Ok(())
    }

    fn of_other_version(&self, version: &str) -> Error {
        let shown = &self.shown;
        let message = format!(
            "{shown}: its format is {version}, and this program reads only {VERSION}; it was not changed"
        );
        Error::at(Code::Io, shown, message)
    }

    /// Refuses to write if the log was not read to its end.
    fn check_is_at_end(&self) -> Result<()> {
        if self.position.is_at_end {
            return Ok(());
        }
        let shown = &self.shown;
        let message = format!("{shown}: it could not be read to its end, so nothing is appended");
        Err(Error::at(Code::Io, shown, message))
    }

    /// Appends records. Requires the lock, and that the log was read to its end while holding it.
    pub fn append(&mut self, records: &[String]) -> Result<()> {
        self.check_is_at_end()?;
        let fault = |cause| self.fault("write", &cause);
        let log = self.log()?;
        let opened = match self.fs.open_for_rewrite(&log) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                self.fs.create_new(&log, NewAccess::OwnerOnly)
            }
            opened => opened,
        };
        let mut file = opened.map_err(fault)?;
        let mut size_bytes = self.fs.stamp_of(&file).map_err(fault)?.size_bytes;
        let mut text = String::new();
        if self.position.bytes == 0 {
            // A writer may have died while it wrote the first line.
            self.fs.set_len(&file, 0).map_err(fault)?;
            size_bytes = 0;
            push_line(&mut text, &head());
        } else if size_bytes > self.position.bytes {
            // A writer died while it wrote a line: end that line.
            text.push('\n');
        }
        let head = text.find('\n').filter(|_| size_bytes == 0);
        let head = head.map(|end| text.as_bytes()[..=end].to_vec());
        records.iter().for_each(|record| push_line(&mut text, record));
        self.fs.seek(&mut file, size_bytes).map_err(fault)?;
        // On an error, a part that was written remains, because others may have read it.
        self.fs.write(&mut file, text.as_bytes()).map_err(fault)?;
        self.position.stamp = Some(self.fs.stamp_of(&file).map_err(fault)?);
        self.position.bytes = size_bytes + text.len() as u64;
        self.position.tail = tail_of(text.as_bytes());
        self.position.head = head.or(self.position.head.take());
        Ok(())
    }

    /// Replaces all records. Requires the lock, and that the log was read to its end while holding
    /// it. If the process dies or the power is cut, the log is the old or the new one.
    pub fn replace(&mut self, records: &[String]) -> Result<()> {
        self.check_is_at_end()?;
        let fault = |cause| self.fault("write", &cause);
        let log = self.log()?;
        let fresh = log.sibling("log.new");
        let _ = self.fs.unlink(&fresh);
        let mut text = String::new();
        push_line(&mut text, &head());
        let head = Some(text.as_bytes().to_vec());
        records.iter().for_each(|record| push_line(&mut text, record));
        let mut file = self.fs.create_new(&fresh, NewAccess::OwnerOnly).map_err(fault)?;
        let written = self.fs.write(&mut file, text.as_bytes());
        // Flush before the rename: a name that reached the disk before the content would be an
        // empty log.
        if let Err(cause) = written.and_then(|()| self.fs.sync(&file)) {
            // Free the disk space for others.
            let _ = self.fs.unlink(&fresh);
            return Err(fault(cause));
        }
        let stamp = Some(self.fs.stamp_of(&file).map_err(fault)?);
        drop(file);
        self.fs.rename(&fresh, &log).map_err(fault)?;
        let (bytes, tail) = (text.len() as u64, tail_of(text.as_bytes()));
        self.position = Position { head, bytes, tail, stamp, is_at_end: true };
        // Not all systems can flush directories, so errors are ignored.
        let _ = self.fs.sync_dir(&log);
        Ok(())
    }

    fn fault(&self, verb: &str, cause: &io::Error) -> Error {
        Error::io(verb, &self.shown, cause)
    }
}

/// The last bytes of a part of the log.
fn tail_of(bytes: &[u8]) -> Vec<u8> {
    bytes[bytes.len().saturating_sub(TAIL_BYTES)..].to_vec()
}

/// Removes the stores to which nothing was written for `age`, unless they are in use.
pub fn sweep(fs: &dyn FileSystem, state: &StateDir, age: Duration) {
    let Ok(now) = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) else { return };
    let is_old = |log: &Place| {
        let stamp = match fs.stamp(log) {
            // A store that is being created, or to which nothing was ever written.
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
        // Another process may have written before the lock was taken.
        if lock.is_err() || !is_old(&log) {
            continue;
        }
        for file in state.store_names(fs, &name).unwrap_or_default() {
            let _ = fs.unlink(&log.sibling(file));
        }
        // Close the directory: Windows does not remove open ones.
        drop(log);
        state.remove_store(fs, &name);
    }
}

#[cfg(test)]
mod tests;
