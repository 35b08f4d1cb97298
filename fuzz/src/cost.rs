//! Measures the cost of a call: CPU time and peak memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The number of bytes that are allocated now.
static CURRENT: AtomicU64 = AtomicU64::new(0);
/// The maximum of [`CURRENT`] since the last call of [`Cost::of`].
static PEAK: AtomicU64 = AtomicU64::new(0);

/// The system allocator, with a count of the allocated bytes.
pub struct Counting;

// SAFETY: every call is forwarded unchanged to the system allocator; counting does not touch the
// allocated memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is that of `System`.
        let memory = unsafe { System.alloc(layout) };
        if !memory.is_null() {
            let size = layout.size() as u64;
            PEAK.fetch_max(CURRENT.fetch_add(size, Ordering::Relaxed) + size, Ordering::Relaxed);
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        CURRENT.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above; `memory` was allocated by `System`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The cost of a call.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// CPU time of all threads.
    pub time: Duration,
    /// Peak of allocated memory above that before the call; zero without [`Counting`].
    pub bytes: u64,
}

impl Cost {
    /// Runs a call; returns its result and its cost.
    pub fn of<T>(call: impl FnOnce() -> T) -> (T, Cost) {
        let before = CURRENT.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let start = cpu_time();
        let returned = call();
        let time = cpu_time().saturating_sub(start);
        let bytes = PEAK.load(Ordering::Relaxed).saturating_sub(before);
        (returned, Cost { time, bytes })
    }

    /// Whether the time or the memory is above the limit.
    pub fn exceeds(&self, limit: &Cost) -> bool {
        self.time > limit.time || self.bytes > limit.bytes
    }

    /// The minimum of both times, and of both memory sizes.
    pub fn min(self, other: Cost) -> Cost {
        Cost { time: self.time.min(other.time), bytes: self.bytes.min(other.bytes) }
    }
}

/// The CPU time that the process has used so far.
fn cpu_time() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` can be written to, and every Unix has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
