//! The calls of a session, in the order in which they were made: whoever writes waits for all
//! earlier calls, whoever reads for the earlier ones that write.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::time::Duration;

use hashline_base::call_threads;
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;

/// How long a call that waits goes without a look at its flag.
const WAIT_STEP: Duration = Duration::from_millis(10);

/// What a call may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// It reads.
    Reads,
    /// It writes. Which files is not known before their links are followed, so all count.
    Writes,
}

/// Begins a call's work.
pub type Start = Box<dyn FnOnce() + Send>;

/// A call that is not over.
struct Entry {
    number: u64,
    reach: Reach,
    /// What to do once no earlier call is in the way.
    start: Option<Start>,
}

#[derive(Default)]
struct Queue {
    next: u64,
    /// In the order in which the calls were made.
    entries: VecDeque<Entry>,
    /// How many threads wait for their turn.
    waiting: usize,
}

impl Queue {
    fn position(&self, number: u64) -> Option<usize> {
        self.entries.binary_search_by_key(&number, |entry| entry.number).ok()
    }

    /// How many calls at the front are in nobody's way: the readers up to the first writer, or
    /// that writer alone.
    fn free(&self) -> usize {
        let readers = self.entries.iter().take_while(|entry| entry.reach == Reach::Reads).count();
        if readers == 0 { self.entries.len().min(1) } else { readers }
    }

    fn is_free(&self, number: u64) -> bool {
        self.position(number).is_none_or(|at| at < self.free())
    }

    /// Takes out what can begin now.
    fn starts(&mut self) -> Vec<Start> {
        let free = self.free();
        self.entries.iter_mut().take(free).filter_map(|entry| entry.start.take()).collect()
    }
}

/// The queue of a session.
#[derive(Default)]
pub(super) struct Turns {
    queue: Mutex<Queue>,
    has_moved: Condvar,
}

impl Turns {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock()
    }

    /// Takes a place at the end of the queue.
    pub(super) fn enter(&self, reach: Reach) -> u64 {
        let mut queue = self.lock();
        let number = queue.next;
        queue.next += 1;
        queue.entries.push_back(Entry { number, reach, start: None });
        number
    }

    /// Calls `start` once no earlier call is in the way: now, or when the last of them leaves.
    /// Calls that wait so hold no thread meanwhile.
    pub(super) fn when_free(&self, number: u64, start: Start) {
        {
            let mut queue = self.lock();
            if let Some(at) = queue.position(number)
                && !queue.is_free(number)
            {
                queue.entries[at].start = Some(start);
                return;
            }
        }
        start();
    }

    /// Waits until no earlier call is in the way.
    pub(super) fn wait(&self, number: u64, cancel: &Cancel) -> Result<()> {
        let mut queue = self.lock();
        if queue.is_free(number) {
            return Ok(());
        }
        queue.waiting += 1;
        call_threads::waiting(|| {
            let mut outcome = Ok(());
            while !queue.is_free(number) {
                outcome = cancel.check();
                if outcome.is_err() {
                    break;
                }
                self.has_moved.wait_for(&mut queue, WAIT_STEP);
            }
            queue.waiting -= 1;
            outcome
        })
    }

    /// Leaves the queue.
    pub(super) fn leave(&self, number: u64) {
        let (left, starts, has_waiting) = {
            let mut queue = self.lock();
            let left = queue.position(number).and_then(|at| queue.entries.remove(at));
            (left, queue.starts(), queue.waiting > 0)
        };
        // To wake nobody takes a call of the system, too.
        if has_waiting {
            self.has_moved.notify_all();
        }
        // Without the lock: what is dropped or begun here may leave or enter the queue itself.
        drop(left);
        for start in starts {
            start();
        }
    }
}
