//! The end of the process waits for patches that are being written.
//!
//! Threads end with the process wherever they are, and a recovery would then have to finish what
//! a moment would have finished. So patches that have not begun to write are cancelled, and the
//! others awaited, for a limited time: a disk may never answer.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Once;
#[cfg(target_os = "linux")]
use std::time::Duration;

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
    WRITERS.lock()
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

/// How long the end of the process waits at most. A patch that takes longer is left to a recovery.
#[cfg(target_os = "linux")]
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[cfg(target_os = "linux")]
extern "C" fn leave() {
    let mut writers = lock();
    writers.is_leaving = true;
    writers.calls.iter().for_each(|(_, cancel)| cancel.cancel());
    wait_for(writers, LONGEST_WAIT);
}

/// Waits until all calls have ended, or the time is over.
#[cfg(target_os = "linux")]
fn wait_for(mut writers: MutexGuard<'static, Writers>, limit: Duration) {
    ALL_ENDED.wait_while_for(&mut writers, |left| !left.calls.is_empty(), limit);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn regression_the_wait_for_a_call_that_never_ends_has_an_end() {
        let hangs = begin(&Cancel::default());
        assert!(hangs.is_some());
        wait_for(lock(), Duration::ZERO);
    }
}
