//! A session's memory as its calls share it: short looks under a lock, long work without it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::body::{Version, hash_of};
use super::lines::LineSet;
use super::memory::{FileRecord, Memory, MemoryLimits, Moment, Showing};
use super::store::{Store, Taught};
use super::track::Splice;
use crate::disk::records::RecordStore;

/// What a session learns from one answer about one file.
#[derive(Clone, Debug)]
pub enum Lesson {
    /// Lines were shown.
    Shown {
        /// The file.
        file: PathBuf,
        /// Its text.
        text: Version,
        /// The lines.
        lines: LineSet,
        /// How that came.
        showing: Showing,
    },
    /// A patch made it.
    Written {
        /// The file.
        file: PathBuf,
        /// Its text.
        text: Version,
        /// The lines that the report shows.
        shown: LineSet,
    },
    /// A patch edited it.
    Edited {
        /// The file, under its new name if it was moved as well.
        file: PathBuf,
        /// Its text before.
        before: Version,
        /// Its text now.
        after: Version,
        /// Where they differ.
        splices: Vec<Splice>,
        /// The lines of its text now that the report shows.
        shown: LineSet,
    },
    /// A patch gave files other names, all at once.
    Moved {
        /// The old and the new name of each.
        moves: Vec<(PathBuf, PathBuf)>,
    },
    /// A patch removed it, or it is to be forgotten.
    Forgotten {
        /// The file.
        file: PathBuf,
    },
    /// All is to be forgotten.
    AllForgotten,
}

impl Lesson {
    /// The file that it is about, if it is about what is in one.
    fn file(&self) -> Option<&Path> {
        match self {
            Lesson::Shown { file, .. }
            | Lesson::Written { file, .. }
            | Lesson::Edited { file, .. } => Some(file),
            Lesson::Moved { .. } | Lesson::Forgotten { .. } | Lesson::AllForgotten => None,
        }
    }
}

impl Memory {
    /// Remembers what an answer showed of a file, or what a patch did to it.
    pub fn learn(&mut self, lesson: &Lesson) {
        match lesson {
            Lesson::Shown { file, text, lines, showing } => self.show(file, text, lines, *showing),
            Lesson::Written { file, text, shown } => {
                self.written(file, text);
                self.show(file, text, shown, Showing::Told);
            }
            Lesson::Edited { file, before, after, splices, shown } => {
                self.edited(file, before, after, splices);
                self.show(file, after, shown, Showing::Told);
            }
            Lesson::Moved { moves } => self.rename_all(moves),
            Lesson::Forgotten { file } => self.forget(file),
            Lesson::AllForgotten => self.forget_all(),
        }
    }
}

/// The memory of a session, for all of its calls.
pub struct HeldMemory {
    memory: Mutex<Memory>,
    limits: MemoryLimits,
    /// Where it is kept, if it is. Whoever needs both takes this lock first.
    store: Option<Mutex<Store>>,
}

impl HeldMemory {
    /// An empty memory.
    pub fn new(limits: MemoryLimits) -> HeldMemory {
        HeldMemory { memory: Mutex::new(Memory::new(limits)), limits, store: None }
    }

    /// A memory that is kept on disk: what others keep there, and have kept, is remembered.
    pub fn kept_in(records: RecordStore, limits: MemoryLimits) -> HeldMemory {
        let store = Some(Mutex::new(Store::new(records, limits.bytes)));
        let memory = HeldMemory { store, ..HeldMemory::new(limits) };
        memory.catch_up();
        memory
    }

    /// A copy of the memory for another session, for which no call is waiting, and which is not
    /// kept on disk.
    pub fn fork(&self) -> HeldMemory {
        self.catch_up();
        let memory = Mutex::new(self.lock().fork());
        HeldMemory { memory, limits: self.limits, store: None }
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This moment.
    pub fn now(&self) -> Moment {
        self.lock().now()
    }

    /// The moment in which a call is made. Nothing that it can mean is dropped until
    /// [`HeldMemory::let_go`].
    pub fn hold(&self) -> Moment {
        self.catch_up();
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

    /// Whether anything is known of a file.
    pub fn knows(&self, file: &Path) -> bool {
        self.lock().knows(file)
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.lock().bytes()
    }

    /// A text as the memory is to be told of it. It is copied and hashed while nobody waits for
    /// the lock; one that the memory has already is not copied again. `hash` is given if it is
    /// known already.
    pub fn version(&self, text: &[u8], hash: Option<u128>) -> Version {
        let hash = hash.unwrap_or_else(|| hash_of(text));
        let known = self.lock().version(hash);
        known.unwrap_or_else(|| Version::of(text, self.limits.bytes))
    }

    /// The version of a text that was just made, which the memory as a rule does not have. A text
    /// that is too large for it is kept as long as the version.
    pub fn version_of_new(&self, text: Vec<u8>) -> Version {
        Version::owned(text.into())
    }

    /// Forgets a file, or everything: also what calls that were made before have yet to teach.
    pub fn forget(&self, file: Option<PathBuf>) {
        self.lock().forget_from_now(file.as_deref());
        self.learn(&[file.map_or(Lesson::AllForgotten, |file| Lesson::Forgotten { file })]);
    }

    /// As [`HeldMemory::learn`], from a call that was made at a moment and is over by now. What
    /// was to be forgotten since is not learned.
    pub fn learn_from_call(&self, lessons: Vec<Lesson>, as_of: Moment) {
        let mut lessons = lessons;
        {
            let memory = self.lock();
            lessons.retain(|one| one.file().is_none_or(|file| memory.is_wanted(file, as_of)));
        }
        self.learn(&lessons);
    }

    /// Remembers what answers showed, and what a patch did, all at once.
    pub fn learn(&self, lessons: &[Lesson]) {
        let learn = || {
            let mut memory = self.lock();
            lessons.iter().for_each(|lesson| memory.learn(lesson));
        };
        match &self.store {
            None => learn(),
            Some(_) if lessons.is_empty() => {}
            Some(store) => {
                let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
                let image = || self.lock().image();
                store.write(lessons, |store| self.take_over(store), learn, image);
            }
        }
    }

    /// What went wrong with keeping it on disk.
    pub fn notes(&self) -> Vec<String> {
        let notes = self
            .store
            .as_ref()
            .map(|store| store.lock().unwrap_or_else(PoisonError::into_inner).notes());
        notes.unwrap_or_default()
    }

    /// Learns what other processes have kept since.
    fn catch_up(&self) {
        if let Some(store) = &self.store {
            self.take_over(&mut store.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn take_over(&self, store: &mut Store) {
        let empty = || self.lock().emptied();
        let news = store.news(&empty, &|hash| self.lock().version(hash));
        if news.is_empty() {
            return;
        }
        let mut memory = self.lock();
        for taught in news {
            match taught {
                Taught::Lesson(lesson) => memory.learn(&lesson),
                Taught::Memory(other) => memory.become_other(*other),
            }
        }
    }
}
