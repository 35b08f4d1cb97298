//! The journal: what a transaction is about to do, on the disk before it is done.
//!
//! A file of records, each a line: a checksum (XXH3, 128 bits) and JSON. The first names every
//! step and every temporary file; `committed` follows when all new content is on the disk,
//! and is cut off again when a transaction is taken back after that. The process that writes a journal
//! holds the system's lock on it; a journal that can be locked belongs to a dead process.

use std::convert::Infallible;
use std::fs::File;
use std::path::{Path, PathBuf};
// What the system's names are made of.
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

/// The version of the format; others are reported and left alone.
pub(super) const VERSION: u32 = 1;

/// How the names of finished journals end; until then they end in [`UNFINISHED`].
pub(super) const FINISHED: &str = "journal";
pub(super) const UNFINISHED: &str = "new";

/// A file that is longer is no journal, and is not read; that of a patch of 100,000 files is not.
pub(super) const LIMIT_BYTES: u64 = 256 << 20;
/// The longest first record: those that follow say less of each step.
const BEGIN_LIMIT_BYTES: usize = 64 << 20;

/// A day: no file is written for longer before its patch is committed.
const STAGING_LIMIT_SECONDS: i64 = 24 * 60 * 60;

/// How often a new journal is begun when a recovery takes it for an abandoned one.
const BEGIN_ATTEMPTS: u32 = 4;

/// A path as JSON, also when it is no Unicode.
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

/// The identity and version of a file, as far as renames leave them alone.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Mark {
    device: u64,
    inode: u64,
    size_bytes: u64,
    modified_seconds: i64,
    modified_nanoseconds: i64,
}

/// The number of a device can be another one after a restart, so it does not count: marks are
/// compared for one path.
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

    /// Whether both are the same file, of whatever version.
    pub(super) fn is_same_file(&self, other: &Mark) -> bool {
        self.inode == other.inode
    }

    /// Whether this version was written after the other one.
    pub(super) fn is_later_than(&self, other: &Mark) -> bool {
        let time = |mark: &Mark| (mark.modified_seconds, mark.modified_nanoseconds);
        time(self) > time(other)
    }

    /// Whether a file with the inode of the staged version `new` is somebody else's: nothing that
    /// a power cut leaves of it is later, longer or much older. Files that are copied or unpacked
    /// get older times, and inodes are used again.
    pub(super) fn is_foreign_to(&self, new: &Mark) -> bool {
        let earliest = new.modified_seconds.saturating_sub(STAGING_LIMIT_SECONDS);
        self.is_later_than(new)
            || self.size_bytes > new.size_bytes
            || self.modified_seconds < earliest
    }
}

/// A step, by paths.
pub(super) type JournalStep = Step<JournalPath, Mark>;

/// A record of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(super) enum JournalRecord {
    /// The first one: everything that will be touched.
    Begin { version: u32, steps: Vec<JournalStep>, directories: Vec<JournalPath> },
    /// All new content is written: the marks of the staged files, by step, and the hashes of
    /// everything that was written, by step and in the order of its temporary files. Journals of
    /// earlier releases have no hashes.
    Committed {
        staged: Vec<Option<Mark>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hashes: Vec<Vec<Option<String>>>,
    },
    /// Everything is in place: only old versions are left to be removed.
    Published,
}

/// What the journal of a committed transaction says of the staged files.
#[derive(Default)]
pub(super) struct Committed<'j> {
    staged: &'j [Option<Mark>],
    hashes: &'j [Vec<Option<String>>],
    /// Everything was in place, if only in the memory of the system.
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

    /// The version that step `at` has staged.
    pub(super) fn mark(&self, at: usize) -> Option<&'j Mark> {
        self.staged.get(at)?.as_ref()
    }

    /// The hash of what was written to the `nth` temporary file of step `at`.
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

/// The records of a journal; `None` when it is damaged. A last line that was cut short by a
/// crash counts as not written, and so does one with zeros in it: a power cut leaves them where
/// a sector of a longer record did not reach the disk.
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
    /// Writes the journal of a transaction and forces it to the disk.
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
            let unfinished = state.file(fs, "the journal", id.with_extension(UNFINISHED).into())?;
            match Journal::begin(fs, &unfinished, &line, durability) {
                // A recovery took the file between its creation and its lock.
                Err(cause) if attempts > 0 && cause.kind() == std::io::ErrorKind::NotFound => {}
                Err(cause) => {
                    // What stays is found by a recovery, which has nothing to do for it.
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

    /// From here on, a recovery finishes the transaction. On an error the mark is taken back; where
    /// that fails too, a recovery may find it, and the transaction is stuck.
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

    /// From here on, a recovery only removes old versions, unless a power cut has taken back what
    /// was in place. Without the mark, it would take a new file that is nowhere for a lost one.
    pub(super) fn mark_published(&mut self, fs: &dyn FileSystem) {
        let Ok(line) = JournalRecord::Published.line() else { return };
        // Half a record counts as none.
        if fs.write(&mut self.file, &line).is_ok() && self.durability.syncs() {
            let _ = fs.sync(&self.file);
        }
    }

    /// From here on, a recovery only clears away what was staged. Cutting the mark off needs
    /// no space, which a record of its own would.
    pub(super) fn unmark(&mut self, fs: &dyn FileSystem) -> Result<()> {
        let fault = |cause| journal_fault(&self.place, &cause);
        fs.set_len(&self.file, self.begin_bytes).map_err(fault)?;
        if self.durability.syncs() { fs.sync(&self.file).map_err(fault) } else { Ok(()) }
    }

    /// The transaction is over. Its end is forced to the disk like the files, so that it does
    /// not come back after later transactions.
    pub(super) fn remove(self, fs: &dyn FileSystem) {
        if fs.unlink(&self.place).is_ok() && self.durability.syncs() {
            // Should it come back, it finds every step done.
            let _ = fs.sync_dir(&self.place);
        }
    }
}

/// The name that a journal gets when all of it is written.
fn finished(unfinished: &Place) -> Place {
    unfinished.sibling(Path::new(unfinished.name()).with_extension(FINISHED))
}

fn journal_fault(place: &Place, cause: &std::io::Error) -> Error {
    let error = Error::io("write", &plain_path(place.canonical()), cause);
    error.within("the journal: ", "").without_path()
}

/// The directories that a transaction will make, the upper ones first.
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
    fn records_are_read_back_and_damage_is_seen() {
        let mut bytes = begin().line().unwrap();
        bytes.extend(
            JournalRecord::Committed { staged: vec![None], hashes: Vec::new() }.line().unwrap(),
        );
        assert_eq!(parse_journal(&bytes).unwrap().len(), 2);
        // A last line that is cut short was never written.
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

    /// A power cut while a long mark was written: some of its sectors are there, the last one
    /// among them.
    #[test]
    fn a_mark_with_zeros_in_it_was_not_written() {
        let begin = begin().line().unwrap();
        let committed = JournalRecord::Committed { staged: vec![None; 200], hashes: Vec::new() };
        let committed = committed.line().unwrap();
        for at in 0..committed.len() - 1 {
            let mut torn = [&begin[..], &committed].concat();
            let end = (begin.len() + at + 512).min(torn.len() - 1);
            torn[begin.len() + at..end].fill(0);
            assert_eq!(parse_journal(&torn).unwrap().len(), 1, "byte {at}");
            // Only the last record can be like that.
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
    fn paths_survive_whatever_their_names() {
        #[cfg(unix)]
        let odd = of_units(b"/a\xFF\"\\\n/\xC3\xA9");
        // Half of a pair that stands for one character.
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
