//! A memory with a lock. Its size can be read without the lock. A fork shares the memory until one
//! of the two learns something.

use parking_lot::{Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::versions::Memory;

/// A memory with a lock.
pub(super) struct MemoryMutex {
    memory: Mutex<Arc<Memory>>,
    /// Its size when the lock was last released.
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
        if memory.has_waiting_calls() {
            return MemoryMutex::new(memory.fork());
        }
        let bytes = AtomicUsize::new(memory.bytes());
        MemoryMutex { memory: Mutex::new(Arc::clone(&memory.memory)), bytes }
    }

    pub(super) fn lock(&self) -> LockedMemory<'_> {
        let memory = self.memory.lock();
        LockedMemory { memory, bytes: &self.bytes }
    }

    /// Its size, or its size before the lock was taken.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// A memory whose lock is held. Dropping it updates the size.
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

    #[test]
    fn regression_the_size_can_be_read_while_another_call_learns() {
        let mutex = MemoryMutex::new(Memory::default());
        let mut learning = mutex.lock();
        let text = Version::of(b"text\n", 100);
        learning.show(Path::new("f"), &text, &LineSet::of(1, 1).into());
        // If `bytes` took the lock, this would deadlock.
        assert_eq!(mutex.bytes(), 0);
        let bytes = learning.bytes();
        drop(learning);
        assert!(bytes > 0 && mutex.bytes() == bytes);
    }

    /// In a loop, each fork held 80 to 130 KB until the event loop of the host ran.
    #[test]
    fn regression_a_fork_shares_the_memory_until_one_learns() {
        let mutex = MemoryMutex::new(Memory::default());
        let text = Version::of(b"text\n", 100);
        let lines = LineSet::of(1, 1);
        mutex.lock().show(Path::new("f"), &text, &lines.clone().into());
        let fork = mutex.fork();
        assert!(Arc::ptr_eq(&mutex.lock().memory, &fork.lock().memory));
        fork.lock().show(Path::new("g"), &text, &lines.clone().into());
        assert!(fork.lock().knows(Path::new("g")) && fork.lock().knows(Path::new("f")));
        assert!(!mutex.lock().knows(Path::new("g")));
        // Waiting calls are not copied.
        mutex.lock().hold();
        assert!(!mutex.fork().lock().has_waiting_calls());
    }
}
