//! The memory that the calls of a session share. The lock is held only briefly: long work is done
//! without it.

use parking_lot::{Mutex, MutexGuard};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::body::{Body, Version, hash_of};
use super::lines::LineSet;
use super::mutex::{LockedMemory, MemoryMutex};
use super::notes::Notes;
use super::store::{Store, StoreLocked, lock_store};
use super::undo::UndoEntry;
use super::update::MemoryUpdate;
use super::versions::{FileRecord, Memory, MemoryLimits, Moment};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Result, Spelling};
use hashline_disk::bytes::Charset;
use hashline_disk::records::{RecordStore, StoreLock};
use hashline_lines::dialect::Dialect;

/// The memory of a session, shared by its calls.
pub struct SessionMemory {
    memory: MemoryMutex,
    limits: MemoryLimits,
    /// Whether the model is shown tags of versions.
    shows_tags: bool,
    /// Patches that were applied before this moment belong to the session from which this one was
    /// forked, and cannot be undone here.
    undo_since: Moment,
    kept: Option<DiskStore>,
}

/// The stored copy of a memory.
struct DiskStore {
    /// Locked before the memory if both are needed. The holder never waits for another process.
    store: Mutex<Store>,
    /// The lock between processes. It is taken before `store`.
    lock: StoreLock,
    notes: Notes,
}

impl DiskStore {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock()
    }
}

/// Updates that are ready to be learned. If the memory is on disk, the lock between processes is
/// held.
pub struct PendingUpdates<'m> {
    session: &'m SessionMemory,
    updates: Vec<MemoryUpdate>,
    /// When the call was made, if it waited.
    as_of: Option<Moment>,
    /// The store on disk, and its lock.
    kept: Option<(&'m DiskStore, StoreLocked)>,
}

impl PendingUpdates<'_> {
    /// Learns all updates at once, except those of files that were forgotten after the call was
    /// made.
    pub fn learn(self) {
        let PendingUpdates { session, updates, as_of, kept } = self;
        match kept {
            None => session.lock().learn_unless_forgotten(&updates, as_of),
            Some((kept, locked)) => kept.store().learn(updates, &session.memory, as_of, &locked),
        }
    }
}

impl SessionMemory {
    /// An empty memory of rows in a dialect.
    pub fn new(limits: MemoryLimits, dialect: &'static Dialect) -> SessionMemory {
        let memory = MemoryMutex::new(Memory::new(limits).with_dialect(dialect));
        let (shows_tags, undo_since) = (!dialect.has_hashes(), Moment::default());
        SessionMemory { memory, limits, shows_tags, undo_since, kept: None }
    }

    /// A memory that is kept on disk and shared with other processes.
    pub fn kept_in(
        records: RecordStore,
        limits: MemoryLimits,
        dialect: &'static Dialect,
    ) -> SessionMemory {
        let lock = records.lock();
        let mut store = Store::new(records, limits);
        let (notes, memory) = (store.notes(), SessionMemory::new(limits, dialect));
        store.catch_up(&memory.memory, None);
        SessionMemory { kept: Some(DiskStore { store: Mutex::new(store), lock, notes }), ..memory }
    }

    /// A copy of the memory for another session, without waiting calls and not on disk. It includes
    /// what other processes wrote, unless the store is in use at this moment.
    pub fn fork(&self) -> SessionMemory {
        if let Some(mut store) = self.kept.as_ref().and_then(|kept| kept.store.try_lock()) {
            store.catch_up(&self.memory, None);
        }
        let &SessionMemory { limits, shows_tags, .. } = self;
        let undo_since = self.now();
        SessionMemory { memory: self.memory.fork(), limits, shows_tags, undo_since, kept: None }
    }

    fn lock(&self) -> LockedMemory<'_> {
        self.memory.lock()
    }

    /// This moment.
    pub fn now(&self) -> Moment {
        self.lock().now()
    }

    /// Registers a call, and returns its moment. Nothing that the call can mean is dropped until
    /// [`SessionMemory::release`]. This does not wait: what other processes wrote is learned when
    /// the call starts its work, with [`SessionMemory::catch_up`].
    pub fn hold(&self) -> Moment {
        self.lock().hold()
    }

    /// Registers another call at a moment that is held already.
    pub fn hold_at(&self, moment: Moment) -> Moment {
        self.lock().hold_at(moment)
    }

    /// Ends a call that was registered with [`SessionMemory::hold`].
    pub fn release(&self, moment: Moment) {
        self.lock().release(moment);
    }

    /// A snapshot of what is known of a file. It needs no lock.
    pub fn record(&self, file: &Path) -> FileRecord {
        self.lock().record(file)
    }

    /// A snapshot of what is known of each file.
    pub fn records(&self) -> Vec<FileRecord> {
        self.lock().records()
    }

    /// What would be known of a file after an update. The memory does not change.
    pub fn preview(&self, file: &Path, update: &MemoryUpdate) -> FileRecord {
        let mut memory = self.lock().only(file);
        memory.learn(update);
        memory.record(file)
    }

    /// The lines that the model knows whole of the text with this hash; none if the session does
    /// not know the text.
    pub fn known_lines(&self, file: &Path, hash: u128, as_of: Moment) -> LineSet {
        let record = self.record(file);
        let lineages = record.file().map(|file| file.lineages.as_slice()).unwrap_or_default();
        let tip = lineages.iter().rev().find(|one| one.tip == hash);
        tip.map(|tip| tip.known(Some(as_of)).whole()).unwrap_or_default()
    }

    /// The files whose encodings are known, with these.
    pub fn charsets(&self) -> Vec<(PathBuf, Charset)> {
        self.lock().charsets()
    }

    /// Whether anything is known of a file.
    pub fn knows(&self, file: &Path) -> bool {
        self.lock().knows(file)
    }

    /// Bytes that it takes. Does not wait for the lock.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// The limit of bytes.
    pub fn limit_bytes(&self) -> usize {
        self.limits.bytes
    }

    /// A text as the memory records it. It is copied and hashed without the lock, and not copied if
    /// the memory already has it. `hash` is the hash of the text if the caller knows it.
    pub fn version(&self, text: &[u8], hash: Option<u128>) -> Version {
        let known = self.known(text, hash.unwrap_or_else(|| hash_of(text)));
        known.unwrap_or_else(|| Version::of(text, self.limits.bytes))
    }

    /// As [`SessionMemory::version`], for a text that cannot change meanwhile: its lines and hash
    /// are reused.
    pub fn version_of(&self, body: Body<'_>) -> Version {
        let known = self.known(body.text, body.hash);
        known.unwrap_or_else(|| Version::copy_of(body, self.limits.bytes))
    }

    /// The version of a text that the memory has.
    fn known(&self, text: &[u8], hash: u128) -> Option<Version> {
        let known = self.lock().version(hash);
        known.filter(|known| known.body().is_some_and(|body| body.text == text))
    }

    /// Forgets a file, or everything, also on disk. What earlier calls showed but have not reported
    /// yet is not learned. An error says why something is still on disk.
    pub fn forget(&self, file: Option<PathBuf>) -> Result<()> {
        self.lock().forget_from_now(file.as_deref());
        let update = file.map_or(MemoryUpdate::AllForgotten, |file| MemoryUpdate::Forgotten {
            file,
            keeps_undo: false,
        });
        match &self.kept {
            None => {
                self.lock().learn(&update);
                Ok(())
            }
            Some(kept) => {
                let locked = lock_store(&kept.lock, &Cancel::default());
                kept.store().forget(update, &self.memory, &locked)
            }
        }
    }

    /// Prepares updates to be learned. If the memory is on disk, waits for the lock for at most two
    /// seconds, or until the call is cancelled. `as_of` is when the call was made, if it waited.
    pub fn prepare(
        &self,
        mut updates: Vec<MemoryUpdate>,
        as_of: Option<Moment>,
        cancel: &Cancel,
    ) -> PendingUpdates<'_> {
        if self.shows_tags {
            updates.iter_mut().for_each(MemoryUpdate::note_tag);
        }
        let kept = self.kept.as_ref().filter(|_| !updates.is_empty());
        let kept = kept.map(|kept| (kept, lock_store(&kept.lock, cancel)));
        PendingUpdates { session: self, updates, as_of, kept }
    }

    /// Learns what a call made at `as_of` showed and did. It is also written to disk, unless the
    /// lock takes too long or the call is cancelled.
    pub fn learn_from_call(&self, updates: Vec<MemoryUpdate>, as_of: Moment, cancel: &Cancel) {
        self.prepare(updates, Some(as_of), cancel).learn();
    }

    /// Learns all updates at once.
    pub fn learn(&self, updates: Vec<MemoryUpdate>, cancel: &Cancel) {
        self.prepare(updates, None, cancel).learn();
    }

    /// The patches that can be undone, the oldest first.
    pub fn undo_entries(&self) -> Vec<Arc<UndoEntry>> {
        let memory = self.lock();
        let own = memory.undo_entries().iter().filter(|entry| entry.at > self.undo_since);
        own.cloned().collect()
    }

    /// The newest patch that can be undone.
    pub fn last_undo_entry(&self) -> Option<Arc<UndoEntry>> {
        let last = self.lock().undo_entries().last().cloned();
        last.filter(|entry| entry.at > self.undo_since)
    }

    /// The text by which a patch is undone; `None` if it is no longer kept.
    pub fn inverse(&self, entry: &UndoEntry) -> Option<Version> {
        self.lock().version(entry.inverse?.hash)
    }

    /// A text of a file after a patch, by its hash; `None` if it is no longer kept.
    pub fn text(&self, hash: u128) -> Option<Version> {
        self.lock().version(hash)
    }

    /// The problems with the memory on disk.
    pub fn notes(&self, spelling: Spelling) -> Vec<String> {
        self.kept.as_ref().map(|kept| kept.notes.all(spelling)).unwrap_or_default()
    }

    /// Learns what other processes wrote until now, for a call made at `as_of`. The anchors of the
    /// call can mean what was shown until the returned moment.
    pub fn catch_up(&self, as_of: Moment) -> Moment {
        match &self.kept {
            Some(kept) => kept.store().catch_up(&self.memory, Some(as_of)),
            None => as_of,
        }
    }
}
