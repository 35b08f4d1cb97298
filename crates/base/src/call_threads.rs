//! Threads that run whole calls while their caller does something else. A thread is started when
//! there is work for it; if the system refuses to start one, the next job tries again.
//!
//! Not a rayon pool: a call may wait for a lock that another process holds, and another call must
//! then run instead of it.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use crate::parallel::processors;

/// A job for a thread. It must contain its own panics.
pub type PoolJob = Box<dyn FnOnce() + Send>;

/// Threads that take jobs from one queue.
pub struct Pool {
    /// The limit on jobs that run at the same time, not counting those that wait for a lock.
    width: usize,
    /// The limit on further threads, for jobs that wait for a lock.
    waiting_limit: usize,
    start: fn(PoolJob) -> io::Result<()>,
    state: Mutex<PoolState>,
    has_job: Condvar,
}

#[derive(Default)]
struct PoolState {
    jobs: VecDeque<PoolJob>,
    threads: usize,
    /// Threads without a job.
    idle: usize,
    /// Threads whose job waits for a lock.
    waiting: usize,
}

/// The pool for whole calls whose caller does not wait for them.
pub static CALLS: LazyLock<Pool> =
    LazyLock::new(|| Pool::new(processors().max(CALLS_MIN_WIDTH), WAITING_LIMIT, start_thread));

/// The minimum number of calls that run at the same time. It may exceed the number of processors
/// because many calls wait for a disk.
const CALLS_MIN_WIDTH: usize = 4;

/// The number of calls that can wait for a lock before further calls queue up.
const WAITING_LIMIT: usize = 64;

fn start_thread(body: PoolJob) -> io::Result<()> {
    std::thread::Builder::new().name("hashline".to_owned()).spawn(body).map(drop)
}

thread_local! {
    /// The pool that this thread belongs to; `None` while its job waits for a lock.
    static WORKS_FOR: Cell<Option<&'static Pool>> = const { Cell::new(None) };
}

impl Pool {
    fn new(width: usize, waiting_limit: usize, start: fn(PoolJob) -> io::Result<()>) -> Pool {
        Pool { width, waiting_limit, start, state: Mutex::default(), has_job: Condvar::new() }
    }

    /// Queues a job. Returns it if the pool has no thread and none can be started.
    pub fn submit(&'static self, job: PoolJob) -> Result<(), PoolJob> {
        let mut state = self.lock();
        state.jobs.push_back(job);
        self.grow(&mut state);
        if state.threads > 0 {
            self.has_job.notify_one();
            return Ok(());
        }
        state.jobs.pop_back().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock()
    }

    /// Starts one more thread if there is work for it and the limits allow it.
    fn grow(&'static self, state: &mut PoolState) {
        let at_work = state.threads - state.idle - state.waiting;
        let is_needed = state.idle < state.jobs.len() && at_work < self.width;
        let is_allowed = state.threads < self.width + self.waiting_limit;
        if is_needed && is_allowed && (self.start)(Box::new(move || self.work())).is_ok() {
            state.threads += 1;
        }
    }

    /// The loop of a thread: runs one job after the other, until there are more threads than
    /// needed.
    fn work(&'static self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                WORKS_FOR.set(Some(self));
                // A job that does not contain its panics must not end the thread.
                let _ = catch_unwind(AssertUnwindSafe(job));
                WORKS_FOR.set(None);
                state = self.lock();
            } else if state.threads - state.waiting > self.width {
                state.threads -= 1;
                return;
            } else {
                state.idle += 1;
                self.has_job.wait(&mut state);
                state.idle -= 1;
            }
        }
    }

    /// Records that a job waits for a lock, and starts another thread if there is work for it.
    fn begin_waiting(&'static self) {
        let mut state = self.lock();
        state.waiting += 1;
        self.grow(&mut state);
    }

    fn end_waiting(&self) {
        self.lock().waiting -= 1;
    }
}

/// Runs work that mostly waits for a lock (not for the disk). On a thread of [`CALLS`], another
/// call can run in the meantime.
pub fn waiting<T>(work: impl FnOnce() -> T) -> T {
    struct EndOfWait(Option<&'static Pool>);
    impl Drop for EndOfWait {
        fn drop(&mut self) {
            WORKS_FOR.set(self.0);
            if let Some(pool) = self.0 {
                pool.end_waiting();
            }
        }
    }
    // In nested calls, only the outermost wait is counted.
    let pool = WORKS_FOR.take();
    if let Some(pool) = pool {
        pool.begin_waiting();
    }
    let _end = EndOfWait(pool);
    work()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, mpsc};

    fn pool(width: usize, waiting_limit: usize) -> &'static Pool {
        Box::leak(Box::new(Pool::new(width, waiting_limit, start_thread)))
    }

    #[test]
    fn without_threads_a_job_is_returned_and_the_next_one_tries_again() {
        static FAILS: AtomicBool = AtomicBool::new(true);
        fn start(body: PoolJob) -> io::Result<()> {
            if FAILS.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            start_thread(body)
        }
        let here = || std::thread::current().id();
        let pool: &'static Pool = Box::leak(Box::new(Pool::new(2, 0, start)));
        assert!(pool.submit(Box::new(|| unreachable!("it is never run"))).is_err());
        FAILS.store(false, Ordering::SeqCst);
        let (send, received) = mpsc::channel();
        assert!(pool.submit(Box::new(move || send.send(here()).unwrap())).is_ok());
        assert_ne!(received.recv().unwrap(), here());
    }

    #[test]
    fn jobs_that_wait_make_room_for_others() {
        let pool = pool(1, 8);
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let (begun, begins) = mpsc::channel();
        for _ in 0..8 {
            let (released, begun) = (Arc::clone(&released), begun.clone());
            let job = move || {
                waiting(|| {
                    begun.send(()).unwrap();
                    let _ = released.lock().recv();
                });
            };
            assert!(pool.submit(Box::new(job)).is_ok());
        }
        (0..8).for_each(|_| begins.recv().unwrap());
        // All eight wait; a job that does not wait still runs.
        let (send, received) = mpsc::channel();
        assert!(pool.submit(Box::new(move || send.send(()).unwrap())).is_ok());
        received.recv().unwrap();
        drop(release);
    }
}
