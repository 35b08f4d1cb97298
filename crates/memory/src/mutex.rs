//! A memory that several threads use, each for a short time. Its size is known without waiting. A
//! fork shares it until one of the two learns something.

use parking_lot::{Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::versions::Memory;

/// A memory with a lock.
pub(super) struct MemoryMutex {
    memory: Mutex<Arc<Memory>>,
    /// What it took when it was used last.
    bytes: AtomicUsize,
}

impl MemoryMutex {
    pub(super) fn new(memory: Memory) -> MemoryMutex {
        let bytes = AtomicUsize::new(memory.bytes());
        MemoryMutex { memory: Mutex::new(Arc::new(memory)), bytes }
    }

    /// A memory for another session.
    pub(super) fn fork(&self) -> MemoryMutex {
        let memory = self.lock();
        if memory.is_waited_for() {
            return MemoryMutex::new(memory.fork());
        }
        let bytes = AtomicUsize::new(memory.bytes());
        MemoryMutex { memory: Mutex::new(Arc::clone(&memory.memory)), bytes }
    }

    pub(super) fn lock(&self) -> LockedMemory<'_> {
        let memory = self.memory.lock();
        LockedMemory { memory, bytes: &self.bytes }
    }

    /// What it takes, or took before its current use.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// A memory while one thread uses it.
pub(super) struct LockedMemory<'m> {
    memory: MutexGuard<'m, Arc<Memory>>,
    bytes: &'m AtomicUsize,
}

impl Deref for LockedMemory<'_> {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.memory
    }
}

impl DerefMut for LockedMemory<'_> {
    fn deref_mut(&mut self) -> &mut Memory {
        Arc::make_mut(&mut self.memory)
    }
}

impl Drop for LockedMemory<'_> {
    fn drop(&mut self) {
        self.bytes.store(self.memory.bytes(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::body::Version;
    use crate::lines::LineSet;
    use crate::versions::Showing;

    #[test]
    fn regression_the_size_is_told_while_another_call_learns() {
        let mutex = MemoryMutex::new(Memory::default());
        let mut learning = mutex.lock();
        let text = Version::of(b"text\n", 100);
        learning.show(Path::new("f"), &text, &LineSet::of(1, 1).into(), Showing::Asked);
        // This thread would wait for itself.
        assert_eq!(mutex.bytes(), 0);
        let bytes = learning.bytes();
        drop(learning);
        assert!(bytes > 0 && mutex.bytes() == bytes);
    }

    /// A loop of forks held 80 to 130 KB for each until the host's loop had a turn.
    #[test]
    fn regression_a_fork_shares_the_memory_until_one_learns() {
        let mutex = MemoryMutex::new(Memory::default());
        let text = Version::of(b"text\n", 100);
        let lines = LineSet::of(1, 1);
        mutex.lock().show(Path::new("f"), &text, &lines.clone().into(), Showing::Asked);
        let fork = mutex.fork();
        assert!(Arc::ptr_eq(&mutex.lock().memory, &fork.lock().memory));
        fork.lock().show(Path::new("g"), &text, &lines.clone().into(), Showing::Asked);
        assert!(fork.lock().knows(Path::new("g")) && fork.lock().knows(Path::new("f")));
        assert!(!mutex.lock().knows(Path::new("g")));
        // What calls are waiting for is not part of a fork.
        mutex.lock().hold();
        assert!(!mutex.fork().lock().is_waited_for());
    }
}
