//! A simulated disk that can lose power. A recorder passes every operation on to the real file
//! system and logs the changes. After a power failure, unflushed changes are undone in the real
//! files: all of them, or any subset that the assumptions in docs/durability.md allow. Files keep
//! their inodes, by which a recovery recognizes them: removed and replaced files get a second name
//! in a directory of graves.
//!
//! What can be lost: directory entries that changed since their directory was flushed, but of two
//! changes to the same name or file never only the first; and file contents written since the file
//! was flushed, sector by sector. Lock files are never flushed, and losing them has no effect; all
//! of them share the fate of the first other change.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::{self, Read, Seek, Write};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use hashline_disk::commit::TEMPORARY_PREFIX;
use hashline_disk::fs::{Directory, FileSystem, NewAccess, OsFileSystem, Place, Rights, Stamp};

use crate::support::errors::EIO;

/// The unit of an atomic write.
const SECTOR_BYTES: usize = 512;

/// Up to this number of changed entries, every subset is tried.
const EXHAUSTIVE: usize = 6;

/// The number of extreme states of a power failure, which are always tried first.
const EXTREMES: usize = 2;

/// The directory in `base` that contains the state directory.
pub const SHARE: &str = "share";

/// The directory in `base` for files that lose a name.
pub const GRAVES: &str = "graves";

/// The name of the directory of locks.
const LOCKS: &str = "locks";

/// The label of a file that was never written to.
pub const UNWRITTEN: &str = "of an unwritten file";

/// A small pseudorandom generator, reproducible from a seed: xorshift64*.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }
}

/// What happens to the operations, which are numbered from 1.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The power fails before this operation.
    pub cut_at: u64,
    /// This operation fails.
    pub fault_at: Option<u64>,
    /// This flush has no effect, as if the engine had omitted it.
    pub ignored_flush: Option<u64>,
    /// Whether the system can exchange two names.
    pub can_exchange: bool,
    /// Whether it logs changes of names, as NTFS does: the last changes are lost first, and a flush
    /// of any file or a rename persists all of them. Directories cannot be flushed.
    pub has_log: bool,
    /// Whether everything in the state directory is preserved, as on another disk that kept its
    /// power.
    pub keeps_state: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            cut_at: u64::MAX,
            fault_at: None,
            ignored_flush: None,
            can_exchange: cfg!(unix),
            has_log: false,
            keeps_state: false,
        }
    }
}

/// A change of directory entries.
#[derive(Debug)]
enum Entry {
    /// A new name, of a new or an existing file.
    New(PathBuf),
    Rename {
        from: PathBuf,
        to: PathBuf,
        displaced: Option<PathBuf>,
    },
    Exchange {
        one: PathBuf,
        other: PathBuf,
    },
    Unlink {
        path: PathBuf,
        grave: PathBuf,
    },
    MakeDir(PathBuf),
    RemoveDir(PathBuf),
}

impl Entry {
    fn paths(&self) -> Vec<&Path> {
        match self {
            Entry::New(path)
            | Entry::Unlink { path, .. }
            | Entry::MakeDir(path)
            | Entry::RemoveDir(path) => vec![path],
            Entry::Rename { from: one, to: other, .. } | Entry::Exchange { one, other } => {
                vec![one, other]
            }
        }
    }
}

struct Change {
    entry: Entry,
    inodes: Vec<u64>,
    /// The directories that must be flushed; two for a rename.
    directories: BTreeSet<PathBuf>,
    is_flushed: bool,
}

impl Change {
    /// Whether this change cannot be on the disk without an earlier one.
    fn needs(&self, earlier: &Change) -> bool {
        let is_below = |path: &Path| match &self.entry {
            Entry::RemoveDir(dir) => path.starts_with(dir),
            _ => false,
        };
        self.inodes.iter().any(|inode| earlier.inodes.contains(inode))
            || earlier
                .entry
                .paths()
                .iter()
                .any(|path| self.entry.paths().contains(path) || is_below(path))
    }

    /// Whether it concerns locks or their directory.
    fn is_of_locks(&self) -> bool {
        self.entry
            .paths()
            .iter()
            .any(|path| path.components().any(|part| part.as_os_str() == LOCKS))
    }

    /// Whether this change is inside a directory that an earlier one creates.
    fn is_inside(&self, earlier: &Change) -> bool {
        match &earlier.entry {
            Entry::MakeDir(dir) => self.entry.paths().iter().any(|path| path.starts_with(dir)),
            _ => false,
        }
    }
}

#[derive(Clone, PartialEq)]
struct Version {
    bytes: Vec<u8>,
    modified: SystemTime,
    permissions: Permissions,
}

impl Version {
    fn of(file: &mut File) -> io::Result<Version> {
        let metadata = file.metadata()?;
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(Version { bytes, modified: metadata.modified()?, permissions: metadata.permissions() })
    }
}

/// A file with its versions since it was flushed, the flushed one first.
struct Content {
    /// For messages.
    label: String,
    file: File,
    versions: Vec<Version>,
}

#[derive(Default)]
struct Log {
    count: u64,
    /// The labels of the operations, without the names of temporary files.
    labels: Vec<String>,
    flushes: Vec<u64>,
    changes: Vec<Change>,
    contents: BTreeMap<u64, Content>,
    graves: u64,
}

/// The target of an operation.
#[derive(Clone, Copy)]
enum On<'a> {
    Place(&'a Place),
    File(&'a File),
}

/// Records operations, and undoes them.
pub struct Recorder {
    plan: Plan,
    /// Contains all directories of the test.
    base: PathBuf,
    log: Mutex<Log>,
}

/// How much of the unflushed contents is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contents {
    All,
    None,
    /// The length is preserved, but the content is zeros.
    Zeros,
    /// The first half of the added content.
    Half,
    /// Each sector old or new, with any length that the file had.
    Sectors(u64),
    /// For each file one of its complete versions.
    Versions(u64),
}

impl Contents {
    fn any(random: &mut Random) -> Contents {
        match random.below(6) {
            0 => Contents::All,
            1 => Contents::None,
            2 => Contents::Zeros,
            3 => Contents::Half,
            _ => Contents::Sectors(random.below(1 << 30) as u64 | 1),
        }
    }
}

/// A state in which the disk may be after a power failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Which changes of entries are on the disk.
    entries: Vec<bool>,
    contents: Contents,
}

impl Found {
    /// The same names, with a complete version of each file.
    pub fn with_whole_versions(&self, random: &mut Random) -> Found {
        let contents = Contents::Versions(random.below(1 << 30) as u64 | 1);
        Found { entries: self.entries.clone(), contents }
    }
}

impl Recorder {
    /// Records operations in `base`, where everything must be flushed.
    pub fn new(base: &Path, plan: Plan) -> Recorder {
        let mut log = Log::default();
        fs::create_dir_all(base.join(GRAVES)).unwrap();
        log.graves = fs::read_dir(base.join(GRAVES)).unwrap().count() as u64;
        Recorder { plan, base: base.to_owned(), log: Mutex::new(log) }
    }

    /// Rewrites a file without flushing it, as its user may do just before the patch.
    pub fn rewrite_unflushed(&self, path: &Path, bytes: &[u8]) {
        let mut log = self.log.lock().unwrap();
        let mut file = File::options().read(true).write(true).open(path).unwrap();
        let before = Version::of(&mut file).unwrap();
        file.set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(bytes).unwrap();
        let after = Version::of(&mut file).unwrap();
        let (label, versions) = (self.shown(path), vec![before, after]);
        log.contents.insert(inode(path), Content { label, file, versions });
    }

    /// Replaces a file by another one, as editors do, without flushing the directory.
    pub fn replace_unflushed(&self, path: &Path, bytes: &[u8]) {
        let mut log = self.log.lock().unwrap();
        let written = path.with_extension("written");
        fs::write(&written, bytes).unwrap();
        let (new, old) = (inode(&written), inode(path));
        log.change(Entry::New(written.clone()), vec![new]);
        let grave = self.bury(&mut log, path).unwrap();
        fs::rename(&written, path).unwrap();
        let rename = Entry::Rename { from: written, to: path.to_owned(), displaced: Some(grave) };
        log.change(rename, vec![new, old]);
    }

    /// The number of operations so far.
    pub fn count(&self) -> u64 {
        self.log.lock().unwrap().count
    }

    /// Whether directories cannot be flushed, so that the last changes of names are lost.
    pub fn has_log(&self) -> bool {
        self.plan.has_log
    }

    /// Whether the power has failed.
    pub fn is_cut(&self) -> bool {
        self.count() >= self.plan.cut_at
    }

    /// The labels of the operations.
    pub fn labels(&self) -> Vec<String> {
        self.log.lock().unwrap().labels.clone()
    }

    /// The numbers of the operations that were flushes.
    pub fn flushes(&self) -> Vec<u64> {
        self.log.lock().unwrap().flushes.clone()
    }

    /// Counts an operation; fails if it must not happen.
    fn step(&self, name: &str, on: On<'_>) -> io::Result<MutexGuard<'_, Log>> {
        let mut log = self.log.lock().unwrap();
        let shown = match on {
            On::Place(place) => self.shown(place.canonical()),
            On::File(file) => {
                let content = log.contents.get(&inode_of(file)?);
                content.map_or_else(|| UNWRITTEN.to_owned(), |content| content.label.clone())
            }
        };
        log.count += 1;
        log.labels.push(format!("{name} {shown}"));
        if log.count >= self.plan.cut_at || Some(log.count) == self.plan.fault_at {
            return Err(io::Error::from_raw_os_error(EIO));
        }
        Ok(log)
    }

    fn shown(&self, path: &Path) -> String {
        let relative = path.strip_prefix(&self.base).unwrap_or(path);
        let name = relative.file_name().unwrap_or_default().to_string_lossy();
        let slashed = |path: &Path| path.to_string_lossy().replace(MAIN_SEPARATOR, "/");
        let is_random = name.starts_with(TEMPORARY_PREFIX) || name.ends_with(".lock");
        match (is_random, relative.extension(), relative.parent()) {
            (true, Some(ending), Some(dir)) => {
                format!("{}/*.{}", slashed(dir), ending.to_string_lossy())
            }
            _ => slashed(relative),
        }
    }

    /// Counts a flush; `None` if it must have no effect.
    fn flush(&self, name: &str, on: On<'_>) -> io::Result<Option<MutexGuard<'_, Log>>> {
        let mut log = self.step(name, on)?;
        let count = log.count;
        log.flushes.push(count);
        Ok((self.plan.ignored_flush != Some(count)).then_some(log))
    }

    /// Gives a second name to a file that is about to lose a name.
    fn bury(&self, log: &mut Log, path: &Path) -> io::Result<PathBuf> {
        log.graves += 1;
        let grave = self.base.join(GRAVES).join(log.graves.to_string());
        fs::hard_link(path, &grave)?;
        Ok(grave)
    }

    /// Up to `limit` possible states of the disk, and at least the extreme ones: all unflushed
    /// changes are lost, or only the unflushed contents.
    pub fn states(&self, limit: usize, random: &mut Random) -> Vec<Found> {
        let log = self.log.lock().unwrap();
        let (locks, pending): (Vec<usize>, Vec<usize>) = (0..log.changes.len())
            .filter(|&at| !log.changes[at].is_flushed && !self.is_kept(&log.changes[at]))
            .partition(|&at| log.changes[at].is_of_locks());
        let number = pending.len();
        let mut states = Vec::new();
        let mut add = |chosen: &dyn Fn(usize) -> bool, contents: Contents| {
            let mut entries = vec![false; log.changes.len()];
            pending.iter().enumerate().for_each(|(nth, &at)| entries[at] = chosen(nth));
            locks.iter().for_each(|&at| entries[at] = number > 0 && chosen(0));
            for (at, change) in log.changes.iter().enumerate() {
                entries[at] |= self.is_kept(change);
            }
            let contents = if log.is_dirty() { contents } else { Contents::All };
            let state = Found { entries: log.closed(entries), contents };
            if !states.contains(&state) {
                states.push(state);
            }
        };
        add(&|_| false, Contents::None);
        add(&|_| true, Contents::None);
        for contents in [Contents::All, Contents::Zeros, Contents::Half] {
            add(&|_| false, contents);
            add(&|_| true, contents);
        }
        // All up to one change, as on a journaling file system; all but one; only one; a random
        // subset.
        for one in 0..number {
            add(&|nth| nth <= one, Contents::any(random));
            if self.plan.has_log {
                continue;
            }
            add(&|nth| nth != one, Contents::any(random));
            add(&|nth| nth == one, Contents::any(random));
        }
        if number <= EXHAUSTIVE && !self.plan.has_log {
            for bits in 0..1_usize << number {
                add(&|nth| bits >> nth & 1 == 1, Contents::any(random));
            }
        }
        for _ in 0..if self.plan.has_log { 0 } else { limit } {
            let bits: Vec<bool> = (0..number).map(|_| random.below(2) == 0).collect();
            add(&|nth| bits[nth], Contents::any(random));
        }
        while states.len() > limit.max(EXTREMES) {
            let at = EXTREMES + random.below(states.len() - EXTREMES);
            states.swap_remove(at);
        }
        states
    }

    fn is_kept(&self, change: &Change) -> bool {
        let share = self.base.join(SHARE);
        self.plan.keeps_state && change.entry.paths().iter().all(|path| path.starts_with(&share))
    }

    /// Undoes the changes that a state lacks.
    pub fn lose(&self, state: &Found) {
        let mut log = self.log.lock().unwrap();
        assert_eq!(log.changes.len(), state.entries.len(), "another run");
        for at in (0..log.changes.len()).rev() {
            if !state.entries[at] {
                log.graves += 1;
                let grave = self.base.join(GRAVES).join(log.graves.to_string());
                undo(&log.changes[at].entry, &grave);
            }
        }
        for (nth, content) in log.contents.values_mut().enumerate() {
            if !(self.plan.keeps_state && content.label.starts_with(SHARE)) {
                content.lose(state.contents, nth as u64);
            }
        }
    }

    /// Describes the changes that a state has and lacks, for messages.
    pub fn describe(&self, state: &Found) -> String {
        use std::fmt::Write;
        let log = self.log.lock().unwrap();
        let mut out = format!("contents {:?}", state.contents);
        for (change, is_there) in log.changes.iter().zip(&state.entries) {
            if !change.is_flushed {
                let paths: Vec<_> =
                    change.entry.paths().iter().map(|path| self.shown(path)).collect();
                let kind = format!("{:?}", change.entry);
                let kind: String = kind.chars().take_while(|one| one.is_alphabetic()).collect();
                let word = if *is_there { "there" } else { "lost " };
                let _ = write!(out, "\n  {word} {kind} {}", paths.join(" "));
            }
        }
        out
    }
}

impl Log {
    fn change(&mut self, entry: Entry, inodes: Vec<u64>) {
        let directories =
            entry.paths().iter().filter_map(|path| path.parent()).map(Path::to_owned).collect();
        self.changes.push(Change { entry, inodes, directories, is_flushed: false });
    }

    /// Stores the version of a file before or after a write.
    fn version(&mut self, file: &File) -> io::Result<()> {
        let Some(content) = self.contents.get_mut(&inode_of(file)?) else { return Ok(()) };
        let version = Version::of(&mut content.file)?;
        if content.versions.last() != Some(&version) {
            content.versions.push(version);
        }
        Ok(())
    }

    /// Tracks a file from now on.
    fn follow(&mut self, path: &Path, label: String) -> io::Result<()> {
        // Opens a separate handle: a duplicate of the engine's would hold the lock of a journal.
        let mut file = File::options().read(true).write(true).open(path)?;
        let versions = vec![Version::of(&mut file)?];
        self.contents.entry(inode(path)).or_insert(Content { label, file, versions });
        Ok(())
    }

    fn is_dirty(&self) -> bool {
        self.contents.values().any(|content| content.versions.len() > 1)
    }

    /// Marks the changes of a directory, and those they depend on, as flushed.
    fn flush_dir(&mut self, dir: &Path) {
        let mut flushed: Vec<bool> = Vec::with_capacity(self.changes.len());
        for change in &mut self.changes {
            change.directories.remove(dir);
            flushed.push(change.directories.is_empty());
        }
        for at in (0..self.changes.len()).rev() {
            for earlier in 0..at {
                flushed[earlier] |= flushed[at]
                    && !self.changes[at].is_flushed
                    && self.changes[at].needs(&self.changes[earlier]);
            }
        }
        for (change, is_flushed) in self.changes.iter_mut().zip(flushed) {
            change.is_flushed |= is_flushed;
        }
    }

    /// Marks all changes so far as flushed.
    fn flush_log(&mut self) {
        self.changes.iter_mut().for_each(|change| change.is_flushed = true);
    }

    /// Adds everything that is flushed, and everything that another change depends on.
    fn closed(&self, mut entries: Vec<bool>) -> Vec<bool> {
        for at in (0..self.changes.len()).rev() {
            let change = &self.changes[at];
            for earlier in 0..at {
                let other = &self.changes[earlier];
                entries[earlier] |= entries[at]
                    && !change.is_flushed
                    && (change.needs(other) || change.is_inside(other));
            }
            entries[at] |= change.is_flushed;
        }
        entries
    }
}

impl Content {
    fn lose(&mut self, contents: Contents, nth: u64) {
        let (first, last) = (&self.versions[0], &self.versions[self.versions.len() - 1]);
        if first == last && self.versions.len() == 1 {
            return;
        }
        let (short, long) = (first.bytes.len(), last.bytes.len());
        let (bytes, version) = match contents {
            Contents::All => return,
            Contents::None => (first.bytes.clone(), first),
            Contents::Zeros => {
                let mut bytes = first.bytes.clone();
                bytes.resize(long, 0);
                (bytes, last)
            }
            Contents::Half => {
                (last.bytes[..long.min(short + long.saturating_sub(short) / 2)].to_vec(), last)
            }
            Contents::Sectors(seed) => {
                let mut random = Random(seed);
                let version = &self.versions[random.below(self.versions.len())];
                (self.sectors(&mut random), version)
            }
            Contents::Versions(seed) => {
                let mut random = Random(seed ^ nth << 32);
                let version = &self.versions[random.below(self.versions.len())];
                (version.bytes.clone(), version)
            }
        };
        let (modified, permissions) = (version.modified, version.permissions.clone());
        let mut file = &self.file;
        file.set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(&bytes).unwrap();
        file.set_permissions(permissions).unwrap();
        file.set_times(FileTimes::new().set_modified(modified)).unwrap();
    }

    /// Each sector from one of the versions; a version that is shorter has zeros there.
    fn sectors(&self, random: &mut Random) -> Vec<u8> {
        let mut pick = || &self.versions[random.below(self.versions.len())].bytes;
        let length = pick().len();
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let version = pick();
            let end = version.len().min(bytes.len() + SECTOR_BYTES);
            let next = bytes.len() + SECTOR_BYTES;
            bytes.extend_from_slice(&version[bytes.len().min(end)..end]);
            bytes.resize(next, 0);
        }
        bytes.truncate(length);
        bytes
    }
}

/// Undoes a change in the real directories.
fn undo(entry: &Entry, grave: &Path) {
    match entry {
        Entry::New(path) => fs::remove_file(path),
        Entry::Rename { from, to, displaced } => {
            fs::rename(to, from).and_then(|()| match displaced {
                Some(grave) => fs::hard_link(grave, to),
                None => Ok(()),
            })
        }
        Entry::Exchange { one, other } => exchange(one, other),
        Entry::Unlink { path, grave } => fs::hard_link(grave, path),
        Entry::MakeDir(path) => fs::rename(path, grave),
        Entry::RemoveDir(path) => fs::create_dir(path),
    }
    .unwrap_or_else(|cause| panic!("cannot undo {entry:?}: {cause}"));
}

#[cfg(unix)]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(windows)]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The inode of a name; 0 if it does not exist.
fn inode(path: &Path) -> u64 {
    #[cfg(unix)]
    return fs::symlink_metadata(path)
        .map_or(0, |metadata| std::os::unix::fs::MetadataExt::ino(&metadata));
    #[cfg(windows)]
    File::open(path).and_then(|file| inode_of(&file)).unwrap_or(0)
}

fn inode_of(file: &File) -> io::Result<u64> {
    Ok(OsFileSystem.stamp_of(file)?.inode)
}

impl FileSystem for Recorder {
    fn open(&self, place: &Place) -> io::Result<File> {
        OsFileSystem.open(place)
    }

    fn open_state(&self, place: &Place) -> io::Result<File> {
        OsFileSystem.open_state(place)
    }

    fn open_for_rewrite(&self, place: &Place) -> io::Result<File> {
        let file = OsFileSystem.open_for_rewrite(place)?;
        let label = self.shown(place.canonical());
        self.log.lock().unwrap().follow(place.canonical(), label)?;
        Ok(file)
    }

    fn create_new(&self, place: &Place, access: NewAccess) -> io::Result<File> {
        let mut log = self.step("create", On::Place(place))?;
        let file = OsFileSystem.create_new(place, access)?;
        log.follow(place.canonical(), self.shown(place.canonical()))?;
        log.change(Entry::New(place.canonical().to_owned()), vec![inode_of(&file)?]);
        Ok(file)
    }

    fn stamp(&self, place: &Place) -> io::Result<Stamp> {
        OsFileSystem.stamp(place)
    }

    fn stamp_of(&self, file: &File) -> io::Result<Stamp> {
        OsFileSystem.stamp_of(file)
    }

    fn read(&self, file: &mut File, limit_bytes: u64, out: &mut Vec<u8>) -> io::Result<()> {
        OsFileSystem.read(file, limit_bytes, out)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let mut log = self.step("write", On::File(file))?;
        OsFileSystem.write(file, bytes)?;
        log.version(file)
    }

    fn seek(&self, file: &mut File, offset_bytes: u64) -> io::Result<()> {
        OsFileSystem.seek(file, offset_bytes)
    }

    fn set_len(&self, file: &File, len_bytes: u64) -> io::Result<()> {
        let mut log = self.step("set length", On::File(file))?;
        OsFileSystem.set_len(file, len_bytes)?;
        log.version(file)
    }

    fn copy_attributes(&self, file: &File, model: &File, stamp: &Stamp) -> io::Result<()> {
        let mut log = self.step("copy attributes", On::File(file))?;
        OsFileSystem.copy_attributes(file, model, stamp)?;
        log.version(file)
    }

    fn rights(&self, file: &File) -> io::Result<Option<Rights>> {
        OsFileSystem.rights(file)
    }

    fn set_rights(&self, file: &File, rights: Rights) -> io::Result<()> {
        let mut log = self.step("set rights", On::File(file))?;
        OsFileSystem.set_rights(file, rights)?;
        log.version(file)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let Some(mut log) = self.flush("flush file", On::File(file))? else { return Ok(()) };
        OsFileSystem.sync(file)?;
        if self.plan.has_log {
            log.flush_log();
        }
        if let Some(content) = log.contents.get_mut(&inode_of(file)?) {
            content.versions = content.versions.split_off(content.versions.len() - 1);
        }
        Ok(())
    }

    fn sync_dir(&self, place: &Place) -> io::Result<()> {
        let directory = place.directory();
        let Some(mut log) = self.flush("flush directory of", On::Place(place))? else {
            return Ok(());
        };
        OsFileSystem.sync_dir(&directory)?;
        if !self.plan.has_log {
            log.flush_dir(place.canonical().parent().unwrap());
        }
        Ok(())
    }

    fn rename(&self, from: &Place, to: &Place) -> io::Result<()> {
        let mut log = self.step("rename", On::Place(to))?;
        let (source, target) = (from.canonical(), to.canonical());
        let mut inodes = vec![inode(source), inode(target)];
        inodes.retain(|&inode| inode != 0);
        let displaced = fs::symlink_metadata(target).is_ok();
        let displaced = displaced.then(|| self.bury(&mut log, target)).transpose()?;
        OsFileSystem.rename(from, to)?;
        let (from, to) = (source.to_owned(), target.to_owned());
        log.change(Entry::Rename { from, to, displaced }, inodes);
        if self.plan.has_log {
            log.flush_log();
        }
        Ok(())
    }

    fn rename_new(&self, from: &Place, to: &Place) -> io::Result<()> {
        let mut log = self.step("rename", On::Place(to))?;
        let inodes = vec![inode(from.canonical())];
        OsFileSystem.rename_new(from, to)?;
        let (from, to) = (from.canonical().to_owned(), to.canonical().to_owned());
        log.change(Entry::Rename { from, to, displaced: None }, inodes);
        if self.plan.has_log {
            log.flush_log();
        }
        Ok(())
    }

    fn exchange(&self, one: &Place, other: &Place) -> io::Result<()> {
        if !self.plan.can_exchange {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut log = self.step("exchange", On::Place(other))?;
        OsFileSystem.exchange(one, other)?;
        let (one, other) = (one.canonical().to_owned(), other.canonical().to_owned());
        let inodes = vec![inode(&one), inode(&other)];
        log.change(Entry::Exchange { one, other }, inodes);
        Ok(())
    }

    fn link(&self, from: &Place, to: &Place) -> io::Result<()> {
        let mut log = self.step("link", On::Place(from))?;
        OsFileSystem.link(from, to)?;
        let to = to.canonical().to_owned();
        let inodes = vec![inode(&to)];
        log.change(Entry::New(to), inodes);
        Ok(())
    }

    fn copy_link(&self, from: &Place, to: &Place) -> io::Result<()> {
        let mut log = self.step("copy link", On::Place(from))?;
        OsFileSystem.copy_link(from, to)?;
        let to = to.canonical().to_owned();
        let inodes = vec![inode(&to)];
        log.change(Entry::New(to), inodes);
        Ok(())
    }

    fn unlink(&self, place: &Place) -> io::Result<()> {
        // Fails if there is nothing to remove, before the change is counted.
        OsFileSystem.stamp(place)?;
        let mut log = self.step("unlink", On::Place(place))?;
        let path = place.canonical().to_owned();
        let inodes = vec![inode(&path)];
        let grave = self.bury(&mut log, &path)?;
        OsFileSystem.unlink(place)?;
        log.change(Entry::Unlink { path, grave }, inodes);
        Ok(())
    }

    fn read_link(&self, place: &Place) -> io::Result<PathBuf> {
        OsFileSystem.read_link(place)
    }

    fn make_dir(&self, place: &Place, access: NewAccess) -> io::Result<()> {
        let mut log = self.step("make directory", On::Place(place))?;
        OsFileSystem.make_dir(place, access)?;
        log.change(Entry::MakeDir(place.canonical().to_owned()), vec![]);
        Ok(())
    }

    fn remove_dir(&self, place: &Place) -> io::Result<()> {
        let mut log = self.step("remove directory", On::Place(place))?;
        OsFileSystem.remove_dir(place)?;
        log.change(Entry::RemoveDir(place.canonical().to_owned()), vec![]);
        Ok(())
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        OsFileSystem.canonicalize(path)
    }

    fn open_dir_at(&self, path: &Path) -> io::Result<Directory> {
        OsFileSystem.open_dir_at(path)
    }

    fn open_dir(&self, place: &Place) -> io::Result<Directory> {
        OsFileSystem.open_dir(place)
    }

    fn stamp_of_dir(&self, directory: &Directory) -> io::Result<Stamp> {
        OsFileSystem.stamp_of_dir(directory)
    }

    fn list(&self, directory: &Directory) -> io::Result<Vec<OsString>> {
        OsFileSystem.list(directory)
    }

    fn open_lock(&self, place: &Place) -> io::Result<File> {
        if OsFileSystem.stamp(place).is_ok() {
            return OsFileSystem.open_lock(place);
        }
        let mut log = self.step("create", On::Place(place))?;
        let file = OsFileSystem.open_lock(place)?;
        log.change(Entry::New(place.canonical().to_owned()), vec![inode_of(&file)?]);
        Ok(file)
    }

    fn lock(&self, file: &File) -> io::Result<()> {
        OsFileSystem.lock(file)
    }

    fn try_lock(&self, file: &File) -> io::Result<bool> {
        OsFileSystem.try_lock(file)
    }

    fn duplicate(&self, file: &File) -> io::Result<File> {
        OsFileSystem.duplicate(file)
    }

    fn may_write(&self, place: &Place) -> io::Result<bool> {
        OsFileSystem.may_write(place)
    }

    fn mount(&self, place: &Place) -> io::Result<Option<u64>> {
        OsFileSystem.mount(place)
    }

    fn may_replace(&self, place: &Place, stamp: &Stamp) -> io::Result<bool> {
        OsFileSystem.may_replace(place, stamp)
    }
}
