//! What a call costs: time of the processor and memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Bytes that are allocated now, and the most since they were last asked for.
static NOW: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(0);

/// The allocator of the system, counted.
pub struct Counting;

// SAFETY: every call goes to the allocator of the system as it is; counting touches no memory that
// is handed out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        let memory = unsafe { System.alloc(layout) };
        if !memory.is_null() {
            let size = layout.size() as u64;
            MOST.fetch_max(NOW.fetch_add(size, Ordering::Relaxed) + size, Ordering::Relaxed);
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above; `memory` came from the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// What a call cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Time of the processor, of all threads.
    pub time: Duration,
    /// The most memory that was allocated at once; zero without [`Counting`].
    pub bytes: u64,
}

impl Cost {
    /// What a call returns, and what it cost.
    pub fn of<T>(call: impl FnOnce() -> T) -> (T, Cost) {
        let before = NOW.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        let start = processor_time();
        let returned = call();
        let time = processor_time().saturating_sub(start);
        let bytes = MOST.load(Ordering::Relaxed).saturating_sub(before);
        (returned, Cost { time, bytes })
    }

    /// Whether one of both is more.
    pub fn exceeds(&self, limit: &Cost) -> bool {
        self.time > limit.time || self.bytes > limit.bytes
    }

    /// The less of each.
    pub fn least(self, other: Cost) -> Cost {
        Cost { time: self.time.min(other.time), bytes: self.bytes.min(other.bytes) }
    }
}

/// What the process has used so far.
fn processor_time() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a timespec to write to, and this clock is there on every Unix.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
