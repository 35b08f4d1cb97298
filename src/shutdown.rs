//! Makes the end of the process wait for patches that are being written.
//!
//! Otherwise threads end with the process at any point, and a recovery has to finish what takes
//! only a moment more. Patches that have not begun to write are cancelled. The others are awaited
//! for a limited time, because a disk may never answer.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Once;
#[cfg(target_os = "linux")]
use std::time::Duration;

use hashline_core::Cancel;

struct Writers {
    /// The flags of calls that may write, by number.
    calls: Vec<(u64, Cancel)>,
    next_number: u64,
    is_exiting: bool,
}

static WRITERS: Mutex<Writers> =
    Mutex::new(Writers { calls: Vec::new(), next_number: 0, is_exiting: false });
static ALL_ENDED: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, Writers> {
    WRITERS.lock()
}

/// A call that may write, until this is dropped.
pub struct Writing(u64);

/// Registers a call that may write; `None` if the process is ending.
pub fn begin(cancel: &Cancel) -> Option<Writing> {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        #[cfg(target_os = "linux")]
        // SAFETY: The function exists as long as the library, which is never unloaded. If it cannot
        // be registered, the process does not wait.
        unsafe {
            libc::atexit(at_exit);
        }
    });
    let mut writers = lock();
    if writers.is_exiting {
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

/// The longest wait at the end of the process. A patch that takes longer is left to a recovery.
#[cfg(target_os = "linux")]
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[cfg(target_os = "linux")]
extern "C" fn at_exit() {
    let mut writers = lock();
    writers.is_exiting = true;
    writers.calls.iter().for_each(|(_, cancel)| cancel.cancel());
    wait_for(writers, LONGEST_WAIT);
}

/// Waits until all calls have ended or the time is over.
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
