//! Threads of our own: some that help a call with its many parts, others that run whole calls.
//!
//! Why not a pool from a crate: whoever has work to share here always does it himself, too, and
//! never waits for a helper that has not come yet. So a busy pool delays nobody, and where the
//! system makes no threads everything is still done, on the caller's own. Threads are made when
//! there is work for them; when that fails, the next piece of work is the next occasion to try.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::cancel::{Cancel, PIECE_BYTES};
use crate::error;

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

/// Helpers of calls: as many as there are processors.
static HELPERS: LazyLock<Pool> = LazyLock::new(|| Pool::new(processors(), 0, start_thread));

/// Where whole calls run that their caller does not wait for.
pub static CALLS: LazyLock<Pool> =
    LazyLock::new(|| Pool::new(processors().max(CALLS_MIN_WIDTH), WAITING_LIMIT, start_thread));

/// How many calls can run at a time even where there are fewer processors: many of them wait for a
/// disk.
const CALLS_MIN_WIDTH: usize = 4;

/// How many calls can wait for a lock before others queue up behind them.
const WAITING_LIMIT: usize = 64;

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn start_thread(body: PoolJob) -> io::Result<()> {
    std::thread::Builder::new().name("hashline".to_owned()).spawn(body).map(drop)
}

thread_local! {
    /// The pool whose thread this is, while its job does not wait for others.
    static WORKS_FOR: Cell<Option<&'static Pool>> = const { Cell::new(None) };
    /// Calls of this thread share their work with nobody.
    static ALONE: Cell<bool> = const { Cell::new(false) };
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

    /// Jobs that nobody has taken yet.
    fn queued(&self) -> usize {
        self.lock().jobs.len()
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
                state = self.has_job.wait(state).unwrap_or_else(PoisonError::into_inner);
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

/// Runs `work`, whose calls share nothing with helpers: to see that they make no difference.
pub fn alone<T>(work: impl FnOnce() -> T) -> T {
    struct EndOfAlone(bool);
    impl Drop for EndOfAlone {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _end = EndOfAlone(ALONE.replace(true));
    work()
}

/// Texts of fewer bytes are worked on by one thread: asking others would take longer.
pub const SHARED_FROM_BYTES: usize = 4 << 20;

/// Whether work of this thread on so much text is shared with others.
pub fn are_shared(text_bytes: usize) -> bool {
    text_bytes >= SHARED_FROM_BYTES && HELPERS.width > 1 && !ALONE.get()
}

/// Whether something holds of all pieces of a text, each of at most `PIECE_BYTES`. The flag is
/// looked at before each, and after the first of which it does not hold no further one is begun.
pub fn all<'i, T: Sync>(
    pieces: &'i [T],
    cancel: &Cancel,
    holds: impl Fn(&'i T) -> bool + Sync,
) -> error::Result<bool> {
    let fails = AtomicBool::new(false);
    let look = |piece: &'i T| {
        if !fails.load(Ordering::Relaxed) {
            cancel.check()?;
            fails.fetch_or(!holds(piece), Ordering::Relaxed);
        }
        Ok(())
    };
    if are_shared(pieces.len() * PIECE_BYTES) {
        map(pieces, look).into_iter().collect::<error::Result<()>>()?;
    } else {
        pieces.iter().try_for_each(look)?;
    }
    Ok(!fails.into_inner())
}

/// Does `work` for each of the items, on this thread and on those of helpers that come before it
/// is done. The results are in the order of the items.
pub fn map<'i, T: Sync, R: Send>(items: &'i [T], work: impl Fn(&'i T) -> R + Sync) -> Vec<R> {
    map_in(&HELPERS, items, work)
}

/// As [`map`]; before it takes part, this thread does something else: helpers need not wait for
/// that.
pub fn map_beside<'i, T: Sync, R: Send>(
    items: &'i [T],
    work: impl Fn(&'i T) -> R + Sync,
    beside: impl FnOnce(),
) -> Vec<R> {
    map_beside_in(&HELPERS, items, work, beside)
}

fn map_in<'i, T: Sync, R: Send>(
    pool: &'static Pool,
    items: &'i [T],
    work: impl Fn(&'i T) -> R + Sync,
) -> Vec<R> {
    map_beside_in(pool, items, work, || {})
}

fn map_beside_in<'i, T: Sync, R: Send>(
    pool: &'static Pool,
    items: &'i [T],
    work: impl Fn(&'i T) -> R + Sync,
    beside: impl FnOnce(),
) -> Vec<R> {
    let helpers = pool.width.saturating_sub(1).min(items.len().saturating_sub(1));
    if helpers == 0 || ALONE.get() {
        beside();
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let take_part = || {
        let mut mine = Vec::new();
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(index)
        {
            mine.push((index, work(item)));
        }
        done.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
    };
    share(pool, helpers, &next, &take_part, beside);
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Has `take_part` called on this thread, after `beside`, and at the same time by up to so many
/// helpers. Once this thread is through, no helper begins any more. A panic of one is a panic of
/// all.
fn share(
    pool: &'static Pool,
    helpers: usize,
    next: &AtomicUsize,
    take_part: &(dyn Fn() + Sync),
    beside: impl FnOnce(),
) {
    // SAFETY: Only the lifetime changes. A helper calls the function between `WorkGate::enter` and
    // `WorkGate::leave` alone, and `Closing` lets this frame go, whether by return or by a panic,
    // only after it has shut the gate and everybody is out.
    let work =
        unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(take_part) };
    let gate = Arc::new(WorkGate::new(work));
    let closing = Closing { gate: &gate, next };
    for _ in 0..helpers {
        // Helpers that do not come for a long time need not be many.
        if pool.queued() > QUEUED_HELPERS_LIMIT {
            break;
        }
        let gate = Arc::clone(&gate);
        if pool.submit(Box::new(move || gate.help())).is_err() {
            break;
        }
    }
    beside();
    take_part();
    drop(closing);
    if let Some(payload) = gate.lock().panic.take() {
        resume_unwind(payload);
    }
}

/// How many helpers may be asked for at a time, by all calls together.
const QUEUED_HELPERS_LIMIT: usize = 256;

/// Where helpers come in.
struct WorkGate {
    inside: Mutex<Inside>,
    all_out: Condvar,
}

struct Inside {
    /// What there is to do, as long as the gate is open.
    work: Option<&'static (dyn Fn() + Sync)>,
    helpers: usize,
    panic: Option<Box<dyn Any + Send>>,
}

impl WorkGate {
    fn new(work: &'static (dyn Fn() + Sync)) -> WorkGate {
        let inside = Inside { work: Some(work), helpers: 0, panic: None };
        WorkGate { inside: Mutex::new(inside), all_out: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn help(&self) {
        let Some(work) = self.enter() else { return };
        let ended = catch_unwind(AssertUnwindSafe(work));
        self.leave(ended.err());
    }

    fn enter(&self) -> Option<&'static (dyn Fn() + Sync)> {
        let mut inside = self.lock();
        let work = inside.work?;
        inside.helpers += 1;
        Some(work)
    }

    fn leave(&self, panic: Option<Box<dyn Any + Send>>) {
        let mut inside = self.lock();
        inside.helpers -= 1;
        inside.panic = inside.panic.take().or(panic);
        if inside.helpers == 0 {
            self.all_out.notify_all();
        }
    }
}

/// Shuts the gate when it is dropped, and waits until everybody is out.
struct Closing<'a> {
    gate: &'a WorkGate,
    next: &'a AtomicUsize,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        // After a panic of this thread helpers are to take no further item.
        self.next.fetch_max(usize::MAX / 2, Ordering::Relaxed);
        let mut inside = self.gate.lock();
        inside.work = None;
        while inside.helpers > 0 {
            inside = self.gate.all_out.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread::ThreadId;

    fn pool(width: usize, waiting_limit: usize) -> &'static Pool {
        Box::leak(Box::new(Pool::new(width, waiting_limit, start_thread)))
    }

    fn here() -> ThreadId {
        std::thread::current().id()
    }

    /// Keeps threads of a pool busy until the sender is dropped.
    fn occupy(pool: &'static Pool, threads: usize) -> mpsc::Sender<()> {
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let (begun, begins) = mpsc::channel();
        for _ in 0..threads {
            let (released, begun) = (Arc::clone(&released), begun.clone());
            let job = move || {
                begun.send(()).unwrap();
                let _ = released.lock().unwrap().recv();
            };
            assert!(pool.submit(Box::new(job)).is_ok());
        }
        (0..threads).for_each(|_| begins.recv().unwrap());
        release
    }

    #[test]
    fn results_are_in_order_whoever_made_them() {
        let pool = pool(4, 0);
        let items: Vec<u32> = (0..1000).collect();
        for _ in 0..50 {
            let doubled = map_in(pool, &items, |item| item * 2);
            assert!(doubled.iter().zip(&items).all(|(double, item)| *double == item * 2));
        }
        assert!(map_in(pool, &[], |item: &u32| *item).is_empty());
    }

    #[test]
    fn helpers_take_part() {
        let pool = pool(2, 0);
        let barrier = std::sync::Barrier::new(2);
        let threads = map_in(pool, &[0, 1], |_| {
            barrier.wait();
            here()
        });
        assert_ne!(threads[0], threads[1]);
    }

    #[test]
    fn helpers_do_not_wait_for_what_is_done_beside() {
        let pool = pool(2, 0);
        let (done, is_done) = mpsc::channel();
        // What is done beside ends when a helper has done the first item.
        let results = map_beside_in(
            pool,
            &[1, 2, 3],
            |item| {
                done.send(()).unwrap();
                item * 2
            },
            || is_done.recv().unwrap(),
        );
        assert_eq!(results, [2, 4, 6]);
    }

    #[test]
    fn a_busy_pool_delays_nobody() {
        let pool = pool(2, 0);
        let release = occupy(pool, 2);
        let items: Vec<u32> = (0..100).collect();
        let threads = map_in(pool, &items, |_| here());
        assert!(threads.iter().all(|thread| *thread == here()));
        drop(release);
    }

    #[test]
    fn helpers_that_never_come_are_not_asked_for_without_end() {
        let pool = pool(2, 0);
        let release = occupy(pool, 2);
        for _ in 0..2000 {
            map_in(pool, &[1, 2], |item| *item);
        }
        assert!(pool.queued() <= QUEUED_HELPERS_LIMIT + 1);
        drop(release);
    }

    #[test]
    fn without_threads_the_caller_does_it_and_tries_again() {
        static FAILS: AtomicBool = AtomicBool::new(true);
        fn start(body: PoolJob) -> io::Result<()> {
            if FAILS.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            start_thread(body)
        }
        let pool: &'static Pool = Box::leak(Box::new(Pool::new(2, 0, start)));
        let threads = map_in(pool, &[0; 10], |_| here());
        assert!(threads.iter().all(|thread| *thread == here()));
        assert!(pool.submit(Box::new(|| unreachable!("nobody runs it"))).is_err());
        FAILS.store(false, Ordering::SeqCst);
        let (send, received) = mpsc::channel();
        assert!(pool.submit(Box::new(move || send.send(here()).unwrap())).is_ok());
        assert_ne!(received.recv().unwrap(), here());
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
        let pool = pool(3, 0);
        for culprit in 0..20 {
            let work = |item: &i32| {
                if *item == culprit { resume_unwind(Box::new("an item")) } else { *item }
            };
            let items: Vec<_> = (0..20).collect();
            let panic = catch_unwind(AssertUnwindSafe(|| map_in(pool, &items, work))).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"an item"));
        }
        assert_eq!(map_in(pool, &[1, 2, 3], |item| item + 1), [2, 3, 4]);
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
                    let _ = released.lock().unwrap().recv();
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

    #[test]
    fn alone_is_alone() {
        let threads = alone(|| map(&[0; 100], |_| here()));
        assert!(threads.iter().all(|thread| *thread == here()));
        assert!(!ALONE.get());
    }
}
