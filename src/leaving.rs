//! The end of the process waits for patches that are being written.
//!
//! Threads end with the process wherever they are, and a recovery would then have to finish what
//! a moment would have finished. So patches that have not begun to write are cancelled, and the
//! others awaited.

use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};

use hashline_core::Cancel;

struct Writers {
    /// The flags of calls that may write, by number.
    calls: Vec<(u64, Cancel)>,
    next_number: u64,
    is_leaving: bool,
}

static WRITERS: Mutex<Writers> =
    Mutex::new(Writers { calls: Vec::new(), next_number: 0, is_leaving: false });
static ALL_ENDED: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, Writers> {
    WRITERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call that may write, until this is dropped.
pub struct Writing(u64);

/// Notes that a call begins that may write; none once the process ends.
pub fn begin(cancel: &Cancel) -> Option<Writing> {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        #[cfg(target_os = "linux")]
        // SAFETY: The function is there as long as the library, which is never unloaded. Where it
        // cannot be registered, nothing waits.
        unsafe {
            libc::atexit(leave);
        }
    });
    let mut writers = lock();
    if writers.is_leaving {
        return None;
    }
    let number = writers.next_number;
    writers.next_number += 1;
    writers.calls.push((number, cancel.clone()));
    Some(Writing(number))
}

impl Drop for Writing {
    fn drop(&mut self) {
        let mut writers = lock();
        writers.calls.retain(|(number, _)| *number != self.0);
        if writers.calls.is_empty() {
            ALL_ENDED.notify_all();
        }
    }
}

#[cfg(target_os = "linux")]
extern "C" fn leave() {
    let mut writers = lock();
    writers.is_leaving = true;
    writers.calls.iter().for_each(|(_, cancel)| cancel.cancel());
    while !writers.calls.is_empty() {
        writers = ALL_ENDED.wait(writers).unwrap_or_else(PoisonError::into_inner);
    }
}
