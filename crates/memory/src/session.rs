//! A session's memory as its calls share it: short reads under a lock, long work without it.

use parking_lot::{Mutex, MutexGuard};
use std::path::{Path, PathBuf};

use super::body::{Body, Version, hash_of};
use super::lines::LineSet;
use super::mutex::{LockedMemory, MemoryMutex};
use super::notes::Notes;
use super::store::{Store, StoreLocked, take};
use super::update::MemoryUpdate;
use super::versions::{FileRecord, Memory, MemoryLimits, Moment};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Result, Spelling};
use hashline_disk::records::{RecordStore, StoreLock};

/// The memory of a session, for all of its calls.
pub struct SessionMemory {
    memory: MemoryMutex,
    limits: MemoryLimits,
    /// Whether the model is shown tags of versions.
    shows_tags: bool,
    kept: Option<KeptOnDisk>,
}

/// Where a memory is kept on disk.
struct KeptOnDisk {
    /// Locked before the memory, if both are needed. Its holder does not wait for other processes.
    store: Mutex<Store>,
    /// What keeps other processes from writing: it is taken before the store.
    lock: StoreLock,
    notes: Notes,
}

impl KeptOnDisk {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock()
    }
}

/// Updates that are about to be learned, while no other process writes.
pub struct Learning<'m> {
    session: &'m SessionMemory,
    updates: Vec<MemoryUpdate>,
    /// When the call was made that teaches them, if it is one that had to wait.
    as_of: Option<Moment>,
    /// Where they are kept on disk, and the lock.
    kept: Option<(&'m KeptOnDisk, StoreLocked)>,
}

impl Learning<'_> {
    /// Remembers what answers showed, and what a patch did, all at once. What was to be forgotten
    /// since the call was made is not learned.
    pub fn learn(self) {
        let Learning { session, updates, as_of, kept } = self;
        match kept {
            None => session.lock().learn_wanted(&updates, as_of),
            Some((kept, locked)) => kept.store().learn(updates, &session.memory, as_of, &locked),
        }
    }
}

impl SessionMemory {
    /// An empty memory.
    pub fn new(limits: MemoryLimits) -> SessionMemory {
        let memory = MemoryMutex::new(Memory::new(limits));
        SessionMemory { memory, limits, shows_tags: false, kept: None }
    }

    /// The memory of one who is shown tags of versions, or is not.
    pub fn showing_tags(self, shows_tags: bool) -> SessionMemory {
        SessionMemory { shows_tags, ..self }
    }

    /// A memory that is kept on disk: what others keep there, and have kept, is remembered.
    pub fn kept_in(records: RecordStore, limits: MemoryLimits) -> SessionMemory {
        let lock = records.lock();
        let mut store = Store::new(records, limits);
        let (notes, memory) = (store.notes(), SessionMemory::new(limits));
        store.catch_up(&memory.memory, None);
        SessionMemory { kept: Some(KeptOnDisk { store: Mutex::new(store), lock, notes }), ..memory }
    }

    /// A copy of the memory for another session, for which no call is waiting, and which is not
    /// kept on disk. What others have kept is in it, unless a call is just about to learn that.
    pub fn fork(&self) -> SessionMemory {
        if let Some(mut store) = self.kept.as_ref().and_then(|kept| kept.store.try_lock()) {
            store.catch_up(&self.memory, None);
        }
        let &SessionMemory { limits, shows_tags, .. } = self;
        SessionMemory { memory: self.memory.fork(), limits, shows_tags, kept: None }
    }

    fn lock(&self) -> LockedMemory<'_> {
        self.memory.lock()
    }

    /// This moment.
    pub fn now(&self) -> Moment {
        self.lock().now()
    }

    /// The moment in which a call is made. Nothing that it can mean is dropped until
    /// [`SessionMemory::let_go`]. Nothing is waited for here: what others have kept until then is
    /// learned when the call's work begins, with [`SessionMemory::catch_up`].
    pub fn hold(&self) -> Moment {
        self.lock().hold()
    }

    /// A call that was made at a moment is over.
    pub fn let_go(&self, moment: Moment) {
        self.lock().let_go(moment);
    }

    /// What is known of a file, to be worked with for as long as it takes.
    pub fn record(&self, file: &Path) -> FileRecord {
        self.lock().record(file)
    }

    /// What will be known of a file once an answer has taught something of it.
    pub fn foresee(&self, file: &Path, update: &MemoryUpdate) -> FileRecord {
        let mut memory = self.lock().only(file);
        memory.learn(update);
        memory.record(file)
    }

    /// The lines of a file's text, by its hash, that the model knows whole, if the file is what the
    /// session knows.
    pub fn known_lines(&self, file: &Path, hash: u128, as_of: Moment) -> LineSet {
        let record = self.record(file);
        let lineages = record.file().map(|file| file.lineages.as_slice()).unwrap_or_default();
        let tip = lineages.iter().rev().find(|one| one.tip == hash);
        tip.map(|tip| tip.known(Some(as_of)).whole()).unwrap_or_default()
    }

    /// Whether anything is known of a file.
    pub fn knows(&self, file: &Path) -> bool {
        self.lock().knows(file)
    }

    /// Bytes that it takes. Does not wait.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// How much the texts may take that are kept.
    pub fn limit_bytes(&self) -> usize {
        self.limits.bytes
    }

    /// A text as the memory records it. It is copied and hashed without holding the lock; one that
    /// the memory has already is not copied again. `hash` is given if it is known.
    pub fn version(&self, text: &[u8], hash: Option<u128>) -> Version {
        let known = self.known(text, hash.unwrap_or_else(|| hash_of(text)));
        known.unwrap_or_else(|| Version::of(text, self.limits.bytes))
    }

    /// The same for a text that cannot change meanwhile: its lines and hash are reused.
    pub fn version_of(&self, body: Body<'_>) -> Version {
        let known = self.known(body.text, body.hash);
        known.unwrap_or_else(|| Version::copy_of(body, self.limits.bytes))
    }

    /// The version of a text that the memory has.
    fn known(&self, text: &[u8], hash: u128) -> Option<Version> {
        let known = self.lock().version(hash);
        known.filter(|known| known.body().is_some_and(|body| body.text == text))
    }

    /// Forgets a file, or everything: also what calls that were made before have yet to teach.
    /// What is kept of it on disk is removed; the error says why it was not.
    pub fn forget(&self, file: Option<PathBuf>) -> Result<()> {
        self.lock().forget_from_now(file.as_deref());
        let update =
            file.map_or(MemoryUpdate::AllForgotten, |file| MemoryUpdate::Forgotten { file });
        match &self.kept {
            None => {
                self.lock().learn(&update);
                Ok(())
            }
            Some(kept) => {
                let locked = take(&kept.lock, &Cancel::default());
                kept.store().forget(update, &self.memory, &locked)
            }
        }
    }

    /// Prepares to learn. If the memory is kept on disk, waits until no other process writes there,
    /// at most two seconds, or until the call is cancelled. `as_of` is when the call was made, if
    /// it waited.
    pub fn ready(
        &self,
        mut updates: Vec<MemoryUpdate>,
        as_of: Option<Moment>,
        cancel: &Cancel,
    ) -> Learning<'_> {
        if self.shows_tags {
            updates.iter_mut().for_each(MemoryUpdate::note_tag);
        }
        let kept = self.kept.as_ref().filter(|_| !updates.is_empty());
        let kept = kept.map(|kept| (kept, take(&kept.lock, cancel)));
        Learning { session: self, updates, as_of, kept }
    }

    /// Remembers what a call that was made at a moment showed and did; on disk, too, unless that
    /// takes too long or the call is cancelled.
    pub fn learn_from_call(&self, updates: Vec<MemoryUpdate>, as_of: Moment, cancel: &Cancel) {
        self.ready(updates, Some(as_of), cancel).learn();
    }

    /// Remembers what answers showed, and what a patch did, all at once.
    pub fn learn(&self, updates: Vec<MemoryUpdate>, cancel: &Cancel) {
        self.ready(updates, None, cancel).learn();
    }

    /// What went wrong with keeping it on disk.
    pub fn notes(&self, spelling: Spelling) -> Vec<String> {
        self.kept.as_ref().map(|kept| kept.notes.all(spelling)).unwrap_or_default()
    }

    /// Learns what other processes have kept until now, for a call that was made at a moment.
    /// Returns the moment until which it may mean what was shown.
    pub fn catch_up(&self, as_of: Moment) -> Moment {
        match &self.kept {
            Some(kept) => kept.store().catch_up(&self.memory, Some(as_of)),
            None => as_of,
        }
    }
}
