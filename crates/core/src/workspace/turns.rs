//! The queue of a session's calls: a call that writes waits for all earlier calls, a call that
//! reads for the earlier ones that write.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::time::Duration;

use hashline_base::call_threads;
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;

/// How often a waiting call checks its cancellation flag.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// The kind of access a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Reads,
    /// It may write any file: links are not resolved before it runs.
    Writes,
}

/// Starts the work of a call.
pub type Start = Box<dyn FnOnce() + Send>;

/// A call that has not ended.
struct Entry {
    number: u64,
    access: Access,
    /// Called once no earlier call blocks this one.
    start: Option<Start>,
}

#[derive(Default)]
struct Queue {
    next: u64,
    /// Sorted by the time of the call.
    entries: VecDeque<Entry>,
    /// The number of waiting threads.
    waiting: usize,
}

impl Queue {
    fn position(&self, number: u64) -> Option<usize> {
        self.entries.binary_search_by_key(&number, |entry| entry.number).ok()
    }

    /// The number of calls at the front that may run: the readers before the first writer, or that
    /// writer alone.
    fn runnable_count(&self) -> usize {
        let readers = self.entries.iter().take_while(|entry| entry.access == Access::Reads).count();
        if readers == 0 { self.entries.len().min(1) } else { readers }
    }

    fn can_run(&self, number: u64) -> bool {
        self.position(number).is_none_or(|at| at < self.runnable_count())
    }

    /// Takes the callbacks of the calls that may run now.
    fn starts(&mut self) -> Vec<Start> {
        let runnable = self.runnable_count();
        self.entries.iter_mut().take(runnable).filter_map(|entry| entry.start.take()).collect()
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

    /// Appends a call to the queue and returns its number.
    pub(super) fn enter(&self, access: Access) -> u64 {
        let mut queue = self.lock();
        let number = queue.next;
        queue.next += 1;
        queue.entries.push_back(Entry { number, access, start: None });
        number
    }

    /// Calls `start` once no earlier call blocks: now, or when the last of them leaves the queue. A
    /// call that waits this way blocks no thread.
    pub(super) fn when_free(&self, number: u64, start: Start) {
        {
            let mut queue = self.lock();
            if let Some(at) = queue.position(number)
                && !queue.can_run(number)
            {
                queue.entries[at].start = Some(start);
                return;
            }
        }
        start();
    }

    /// Blocks until no earlier call blocks this one.
    pub(super) fn wait(&self, number: u64, cancel: &Cancel) -> Result<()> {
        let mut queue = self.lock();
        if queue.can_run(number) {
            return Ok(());
        }
        queue.waiting += 1;
        call_threads::waiting(|| {
            let mut outcome = Ok(());
            while !queue.can_run(number) {
                outcome = cancel.check();
                if outcome.is_err() {
                    break;
                }
                self.has_moved.wait_for(&mut queue, CANCEL_CHECK_INTERVAL);
            }
            queue.waiting -= 1;
            outcome
        })
    }

    /// Removes a call from the queue.
    pub(super) fn leave(&self, number: u64) {
        let (left, starts, has_waiting) = {
            let mut queue = self.lock();
            let left = queue.position(number).and_then(|at| queue.entries.remove(at));
            (left, queue.starts(), queue.waiting > 0)
        };
        // `notify_all` costs a system call even without waiters.
        if has_waiting {
            self.has_moved.notify_all();
        }
        // Without the lock, because dropping or starting a call may use the queue again.
        drop(left);
        for start in starts {
            start();
        }
    }
}
