//! A memory that several threads use, each for a short time, and its size, for which nobody waits.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::memory::Memory;

/// A memory behind a lock.
pub(super) struct GuardedMemory {
    memory: Mutex<Memory>,
    /// What it took when it was used last.
    bytes: AtomicUsize,
}

impl GuardedMemory {
    pub(super) fn new(memory: Memory) -> GuardedMemory {
        let bytes = AtomicUsize::new(memory.bytes());
        GuardedMemory { memory: Mutex::new(memory), bytes }
    }

    pub(super) fn lock(&self) -> MemoryGuard<'_> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        MemoryGuard { memory, bytes: &self.bytes }
    }

    /// What it takes, or took before whoever uses it just now.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// A memory while one thread uses it.
pub(super) struct MemoryGuard<'m> {
    memory: MutexGuard<'m, Memory>,
    bytes: &'m AtomicUsize,
}

impl Deref for MemoryGuard<'_> {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.memory
    }
}

impl DerefMut for MemoryGuard<'_> {
    fn deref_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }
}

impl Drop for MemoryGuard<'_> {
    fn drop(&mut self) {
        self.bytes.store(self.memory.bytes(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::edit::session::body::Version;
    use crate::edit::session::lines::LineSet;
    use crate::edit::session::memory::Showing;

    #[test]
    fn regression_the_size_is_told_while_another_call_learns() {
        let guarded = GuardedMemory::new(Memory::default());
        let mut learning = guarded.lock();
        let text = Version::of(b"text\n", 100);
        learning.show(Path::new("f"), &text, &LineSet::of(1, 1), Showing::Asked);
        // This thread would wait for itself.
        assert_eq!(guarded.bytes(), 0);
        let bytes = learning.bytes();
        drop(learning);
        assert!(bytes > 0 && guarded.bytes() == bytes);
    }
}
