//! Threads on which whole calls run while their caller does something else. They are started when
//! there is work for them; if the system refuses one, the next job tries again.
//!
//! Not a pool of rayon: a call may wait for a lock of another process, and another call then has to
//! run in its place.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use crate::parallel::processors;

/// Something for a thread to do. It contains its own panics.
pub type PoolJob = Box<dyn FnOnce() + Send>;

/// Threads that take jobs in turn.
pub struct Pool {
    /// How many jobs are worked on at a time, those that wait for others apart.
    width: usize,
    /// How many threads there may be for jobs that wait for others.
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
    /// Threads whose job waits for others.
    waiting: usize,
}

/// Where whole calls run that their caller does not wait for.
pub static CALLS: LazyLock<Pool> =
    LazyLock::new(|| Pool::new(processors().max(CALLS_MIN_WIDTH), WAITING_LIMIT, start_thread));

/// How many calls can run at a time even where there are fewer processors: many of them wait for a
/// disk.
const CALLS_MIN_WIDTH: usize = 4;

/// How many calls can wait for a lock before others queue up behind them.
const WAITING_LIMIT: usize = 64;

fn start_thread(body: PoolJob) -> io::Result<()> {
    std::thread::Builder::new().name("hashline".to_owned()).spawn(body).map(drop)
}

thread_local! {
    /// The pool whose thread this is, while its job does not wait for others.
    static WORKS_FOR: Cell<Option<&'static Pool>> = const { Cell::new(None) };
}

impl Pool {
    fn new(width: usize, waiting_limit: usize, start: fn(PoolJob) -> io::Result<()>) -> Pool {
        Pool { width, waiting_limit, start, state: Mutex::default(), has_job: Condvar::new() }
    }

    /// Has a job done by one of the threads, or hands it back: there is none, and none can be
    /// made.
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

    /// Makes one more thread if there is work for it, and the system has one.
    fn grow(&'static self, state: &mut PoolState) {
        let at_work = state.threads - state.idle - state.waiting;
        let is_needed = state.idle < state.jobs.len() && at_work < self.width;
        let is_allowed = state.threads < self.width + self.waiting_limit;
        if is_needed && is_allowed && (self.start)(Box::new(move || self.work())).is_ok() {
            state.threads += 1;
        }
    }

    /// What a thread does: one job after the other, until there are more threads than needed.
    fn work(&'static self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                WORKS_FOR.set(Some(self));
                // A job contains its own panics; one that does not must not take the thread along.
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

    /// Notes that a job waits for others; another thread takes its place if there is work.
    fn begin_waiting(&'static self) {
        let mut state = self.lock();
        state.waiting += 1;
        self.grow(&mut state);
    }

    fn end_waiting(&self) {
        self.lock().waiting -= 1;
    }
}

/// Runs work that mostly waits for others: for a lock, not for the disk. On a thread of [`CALLS`]
/// somebody else's call can be worked on meanwhile.
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
    // Not twice, where one wait is inside another.
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
    fn without_threads_a_job_is_handed_back_and_the_next_one_tries_again() {
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
        // All of them wait; a job that does not is done nevertheless.
        let (send, received) = mpsc::channel();
        assert!(pool.submit(Box::new(move || send.send(()).unwrap())).is_ok());
        received.recv().unwrap();
        drop(release);
    }
}
