//! The journal: the plan of a transaction, on the disk before the first change.
//!
//! A journal is a file of records, one per line: a checksum (XXH3, 128 bits) and JSON. The first
//! record names every step and every temporary file. A `committed` record follows when all new
//! content is on the disk; it is cut off if the transaction is rolled back afterwards. The process
//! that writes a journal holds a file lock on it. A journal that can be locked is hot: its process
//! is dead.

use std::convert::Infallible;
use std::fs::File;
use std::path::{Path, PathBuf};
// The units of file names.
#[cfg(unix)]
use std::primitive::u8 as Unit;
#[cfg(windows)]
use std::primitive::u16 as Unit;

use serde::{Deserialize, Serialize};

use super::draft::{Draft, temporary_name};
use super::step::Step;
use super::{CommitError, Durability, StateDir};
use crate::bytes::snapshot;
use crate::fs::{FileSystem, Lookup, NewAccess, Place, Stamp, plain_path};
use hashline_base::error::{Code, Error, Result};

/// The version of the format. Journals of other versions are reported and not changed.
pub(super) const VERSION: u32 = 1;

/// The extension of complete journals; until then it is [`UNFINISHED`].
pub(super) const FINISHED: &str = "journal";
pub(super) const UNFINISHED: &str = "new";

/// The limit on the size of a journal: a larger file is not read. The journal of a patch of 100,000
/// files is smaller.
pub(super) const LIMIT_BYTES: u64 = 256 << 20;
/// The limit on the first record: later records have less data for each step.
const BEGIN_LIMIT_BYTES: usize = 64 << 20;

/// One day: the longest assumed time between writing a file and committing its patch.
const STAGING_LIMIT_SECONDS: i64 = 24 * 60 * 60;

/// How often creating a journal is tried, if a recovery mistakes the new file for a hot journal.
const BEGIN_ATTEMPTS: u32 = 4;

/// A path as JSON, even if it is not valid Unicode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum JournalPath {
    Text(String),
    Units(Vec<Unit>),
}

impl JournalPath {
    pub(super) fn new(path: &Path) -> JournalPath {
        match path.to_str() {
            Some(text) => JournalPath::Text(text.to_owned()),
            None => JournalPath::Units(units(path)),
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        match self {
            JournalPath::Text(text) => PathBuf::from(text),
            JournalPath::Units(units) => of_units(units),
        }
    }
}

#[cfg(unix)]
fn units(path: &Path) -> Vec<Unit> {
    path.as_os_str().as_encoded_bytes().to_vec()
}

#[cfg(windows)]
fn units(path: &Path) -> Vec<Unit> {
    std::os::windows::ffi::OsStrExt::encode_wide(path.as_os_str()).collect()
}

fn of_units(units: &[Unit]) -> PathBuf {
    #[cfg(unix)]
    use std::os::unix::ffi::OsStringExt;
    #[cfg(windows)]
    use std::os::windows::ffi::OsStringExt;
    #[cfg(unix)]
    return std::ffi::OsString::from_vec(units.to_vec()).into();
    #[cfg(windows)]
    return std::ffi::OsString::from_wide(units).into();
}

/// The identity and version of a file, limited to the attributes that a rename preserves.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Mark {
    device: u64,
    inode: u64,
    size_bytes: u64,
    modified_seconds: i64,
    modified_nanoseconds: i64,
}

/// The device is ignored because its number can change after a restart. Marks are only compared for
/// the same path.
impl PartialEq for Mark {
    fn eq(&self, other: &Mark) -> bool {
        let rest = |mark: &Mark| {
            (mark.inode, mark.size_bytes, mark.modified_seconds, mark.modified_nanoseconds)
        };
        rest(self) == rest(other)
    }
}

impl Mark {
    pub(super) fn of(stamp: &Stamp) -> Mark {
        Mark {
            device: stamp.device,
            inode: stamp.inode,
            size_bytes: stamp.size_bytes,
            modified_seconds: stamp.modified_ns.div_euclid(1_000_000_000) as i64,
            modified_nanoseconds: stamp.modified_ns.rem_euclid(1_000_000_000) as i64,
        }
    }

    /// Device and inode.
    pub(super) fn file(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Whether both are the same file, in any version.
    pub(super) fn is_same_file(&self, other: &Mark) -> bool {
        self.inode == other.inode
    }

    /// Whether this version was written after `other`.
    pub(super) fn is_later_than(&self, other: &Mark) -> bool {
        let time = |mark: &Mark| (mark.modified_seconds, mark.modified_nanoseconds);
        time(self) > time(other)
    }

    /// Whether a file with the inode of the staged version `new` belongs to another process. After
    /// a power cut, a staged file is never newer, longer or much older than `new`. Copied or
    /// unpacked files may have older times, and inodes are reused.
    pub(super) fn is_foreign_to(&self, new: &Mark) -> bool {
        let earliest = new.modified_seconds.saturating_sub(STAGING_LIMIT_SECONDS);
        self.is_later_than(new)
            || self.size_bytes > new.size_bytes
            || self.modified_seconds < earliest
    }
}

/// A step with the paths and marks of a journal.
pub(super) type JournalStep = Step<JournalPath, Mark>;

/// A record of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(super) enum JournalRecord {
    /// The first record: everything that the transaction will touch.
    Begin { version: u32, steps: Vec<JournalStep>, directories: Vec<JournalPath> },
    /// All new content is written. Contains the marks of staged files, by step, and the hashes of
    /// all written contents, by step and in the order of the temporary files. Journals of earlier
    /// releases have no hashes.
    Committed {
        staged: Vec<Option<Mark>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hashes: Vec<Vec<Option<String>>>,
    },
    /// All steps are published: only old versions remain to be removed.
    Published,
}

/// The data about staged files in the journal of a committed transaction.
#[derive(Default)]
pub(super) struct Committed<'j> {
    staged: &'j [Option<Mark>],
    hashes: &'j [Vec<Option<String>>],
    /// Whether all steps were published, although perhaps not flushed to the disk.
    pub(super) is_published: bool,
}

impl<'j> Committed<'j> {
    pub(super) fn of(records: &'j [JournalRecord]) -> Option<Committed<'j>> {
        let is_published = matches!(records.last(), Some(JournalRecord::Published));
        records.iter().find_map(|record| match record {
            JournalRecord::Committed { staged, hashes } => {
                Some(Committed { staged, hashes, is_published })
            }
            _ => None,
        })
    }

    /// The version that was staged for step `at`.
    pub(super) fn mark(&self, at: usize) -> Option<&'j Mark> {
        self.staged.get(at)?.as_ref()
    }

    /// The hash of the content of the `nth` temporary file of step `at`.
    pub(super) fn hash(&self, at: usize, nth: usize) -> Option<&'j str> {
        self.hashes.get(at)?.get(nth)?.as_deref()
    }
}

impl JournalRecord {
    pub(super) fn line(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_string(self)
            .map_err(|cause| Error::argument(format!("the journal cannot be written: {cause}")))?;
        let checksum = snapshot(json.as_bytes());
        Ok(format!("{checksum} {json}\n").into_bytes())
    }

    fn parse(line: &[u8]) -> Option<JournalRecord> {
        let (checksum, json) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        (checksum == snapshot(json.as_bytes())).then(|| serde_json::from_str(json).ok()).flatten()
    }
}

/// The records of a journal; `None` if it is damaged. A last line that is truncated by a crash
/// counts as not written. So does a last line with zeros in it: a power cut leaves zeros if a
/// sector of a long record did not reach the disk.
pub(super) fn parse_journal(bytes: &[u8]) -> Option<Vec<JournalRecord>> {
    let mut records = Vec::new();
    let mut rest = bytes;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let line = &rest[..end];
        rest = &rest[end + 1..];
        match JournalRecord::parse(line) {
            Some(record) => records.push(record),
            None if !records.is_empty() && rest.is_empty() && line.contains(&0) => break,
            None => return None,
        }
    }
    matches!(records.first(), Some(JournalRecord::Begin { version: VERSION, .. }))
        .then_some(records)
}

/// The journal of a transaction of this process.
pub(super) struct Journal {
    place: Place,
    file: File,
    /// The length of the first record.
    begin_bytes: u64,
    durability: Durability,
}

impl Journal {
    /// Writes the journal of a transaction and flushes it to the disk.
    pub(super) fn write(
        fs: &dyn FileSystem,
        state: &StateDir,
        drafts: &[Draft<'_>],
        durability: Durability,
    ) -> Result<Journal> {
        let begin = JournalRecord::Begin {
            version: VERSION,
            steps: drafts.iter().map(journal_step).collect(),
            directories: missing_directories(drafts),
        };
        let line = begin.line()?;
        if line.len() > BEGIN_LIMIT_BYTES {
            return Err(Error::new(
                Code::InvalidOperation,
                "the patch names too many files for one journal: split it",
            ));
        }
        let mut attempts = BEGIN_ATTEMPTS;
        loop {
            attempts -= 1;
            let id = Path::new(&temporary_name()).with_extension("");
            let unfinished =
                state.journal_file(fs, "the journal", id.with_extension(UNFINISHED).into())?;
            match Journal::begin(fs, &unfinished, &line, durability) {
                // A recovery removed the file between its creation and its lock.
                Err(cause) if attempts > 0 && cause.kind() == std::io::ErrorKind::NotFound => {}
                Err(cause) => {
                    // If a file remains, a recovery finds it and has nothing to do.
                    let _ = fs.unlink(&unfinished);
                    let _ = fs.unlink(&finished(&unfinished));
                    return Err(journal_fault(&unfinished, &cause));
                }
                Ok(journal) => return Ok(journal),
            }
        }
    }

    fn begin(
        fs: &dyn FileSystem,
        unfinished: &Place,
        line: &[u8],
        durability: Durability,
    ) -> std::io::Result<Journal> {
        let place = finished(unfinished);
        let mut file = fs.create_new(unfinished, NewAccess::OwnerOnly)?;
        fs.lock(&file)?;
        fs.write(&mut file, line)?;
        if durability.syncs() {
            fs.sync(&file)?;
        }
        fs.rename(unfinished, &place)?;
        if durability.syncs() {
            fs.sync_dir(&place)?;
        }
        Ok(Journal { place, file, begin_bytes: line.len() as u64, durability })
    }

    /// The path, for messages.
    pub(super) fn path(&self) -> &Path {
        self.place.canonical()
    }

    /// Writes the `committed` record. From then on, a recovery finishes the transaction. On an
    /// error, the record is cut off. If that fails, too, a recovery may find the record, so the
    /// transaction is stuck.
    pub(super) fn mark_committed(
        &mut self,
        fs: &dyn FileSystem,
        committed: &JournalRecord,
    ) -> std::result::Result<(), CommitError> {
        let line = committed.line().map_err(CommitError::Refused)?;
        let written = fs.write(&mut self.file, &line);
        let flushed = written
            .and_then(|()| if self.durability.syncs() { fs.sync(&self.file) } else { Ok(()) });
        let Err(cause) = flushed else { return Ok(()) };
        let error = journal_fault(&self.place, &cause);
        Err(match self.unmark(fs) {
            Ok(()) => CommitError::Refused(error),
            Err(_) => CommitError::Stuck(error),
        })
    }

    /// Writes the `published` record. From then on, a recovery only removes old versions, unless a
    /// power cut has undone changes. Without the record, a recovery would take a new file that was
    /// removed since for a lost one.
    pub(super) fn mark_published(&mut self, fs: &dyn FileSystem) {
        let Ok(line) = JournalRecord::Published.line() else { return };
        // A truncated record is ignored.
        if fs.write(&mut self.file, &line).is_ok() && self.durability.syncs() {
            let _ = fs.sync(&self.file);
        }
    }

    /// Cuts off the `committed` record. From then on, a recovery only removes staged files. Unlike
    /// a new record, this needs no disk space.
    pub(super) fn unmark(&mut self, fs: &dyn FileSystem) -> Result<()> {
        let fault = |cause| journal_fault(&self.place, &cause);
        fs.set_len(&self.file, self.begin_bytes).map_err(fault)?;
        if self.durability.syncs() { fs.sync(&self.file).map_err(fault) } else { Ok(()) }
    }

    /// Ends the transaction. The removal is flushed like the files, so that the journal does not
    /// reappear after later transactions.
    pub(super) fn remove(self, fs: &dyn FileSystem) {
        if fs.unlink(&self.place).is_ok() && self.durability.syncs() {
            // If the journal reappears, a recovery finds all steps done.
            let _ = fs.sync_dir(&self.place);
        }
    }
}

/// The name of a journal that is written completely.
fn finished(unfinished: &Place) -> Place {
    unfinished.sibling(Path::new(unfinished.name()).with_extension(FINISHED))
}

fn journal_fault(place: &Place, cause: &std::io::Error) -> Error {
    let error = Error::io("write", &plain_path(place.canonical()), cause);
    error.within("the journal: ", "").without_path()
}

/// The directories that a transaction will create, parents first.
fn missing_directories(drafts: &[Draft<'_>]) -> Vec<JournalPath> {
    let mut directories = std::collections::BTreeSet::new();
    for to in drafts.iter().filter_map(|draft| draft.step.new_name()) {
        if let Lookup::Missing { first, rest } = to {
            let mut path = first.canonical().to_owned();
            for name in rest {
                directories.insert(path.clone());
                path.push(name);
            }
        }
    }
    directories.iter().map(|path| JournalPath::new(path)).collect()
}

fn journal_step(draft: &Draft<'_>) -> JournalStep {
    let path = |name: &Lookup| Ok::<_, Infallible>(JournalPath::new(&name.path()));
    let Ok(step) = draft.step.try_map(path, Mark::of);
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin() -> JournalRecord {
        JournalRecord::Begin { version: VERSION, steps: Vec::new(), directories: Vec::new() }
    }

    #[test]
    fn records_are_parsed_and_damage_is_detected() {
        let mut bytes = begin().line().unwrap();
        bytes.extend(
            JournalRecord::Committed { staged: vec![None], hashes: Vec::new() }.line().unwrap(),
        );
        assert_eq!(parse_journal(&bytes).unwrap().len(), 2);
        // A truncated last line counts as not written.
        for cut in bytes.len() - 10..bytes.len() {
            assert_eq!(parse_journal(&bytes[..cut]).unwrap().len(), 1);
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let records = parse_journal(&damaged).map_or(0, |records| records.len());
            assert!(records < 2, "byte {at}");
        }
        assert!(parse_journal(b"").is_none());
        assert!(parse_journal(b"something else\n").is_none());
        let newer = JournalRecord::Begin { version: 2, steps: Vec::new(), directories: Vec::new() };
        assert!(parse_journal(&newer.line().unwrap()).is_none());
    }

    /// A power cut while a long record was written: some of its sectors, including the last one,
    /// reached the disk.
    #[test]
    fn a_last_record_with_zeros_counts_as_not_written() {
        let begin = begin().line().unwrap();
        let committed = JournalRecord::Committed { staged: vec![None; 200], hashes: Vec::new() };
        let committed = committed.line().unwrap();
        for at in 0..committed.len() - 1 {
            let mut torn = [&begin[..], &committed].concat();
            let end = (begin.len() + at + 512).min(torn.len() - 1);
            torn[begin.len() + at..end].fill(0);
            assert_eq!(parse_journal(&torn).unwrap().len(), 1, "byte {at}");
            // Only the last record may contain zeros.
            torn.extend(JournalRecord::Published.line().unwrap());
            assert!(parse_journal(&torn).is_none(), "byte {at}");
        }
        for at in 0..begin.len() {
            let mut torn = [&begin[..], &committed].concat();
            torn[at] = 0;
            assert!(parse_journal(&torn).is_none(), "byte {at}");
        }
    }

    #[test]
    fn any_path_round_trips() {
        #[cfg(unix)]
        let odd = of_units(b"/a\xFF\"\\\n/\xC3\xA9");
        // A lone surrogate.
        #[cfg(windows)]
        let odd = of_units(&[0x43, 0x3A, 0x5C, 0xD800, 0x61]);
        assert!(odd.to_str().is_none());
        for path in [Path::new("/a/b"), &odd] {
            let json = serde_json::to_string(&JournalPath::new(path)).unwrap();
            let back: JournalPath = serde_json::from_str(&json).unwrap();
            assert_eq!(back.path(), path);
        }
    }
}
