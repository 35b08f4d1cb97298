//! Work on many parts, shared among threads.
//!
//! The caller processes parts itself, and threads of a rayon pool help if some are free. A call
//! never waits for a helper that has not started, because it asks for at most as many helpers as
//! are free. So a large call does not delay a small one. If the system cannot start threads,
//! everything runs on the caller's thread, and the next call tries again.

use parking_lot::Mutex;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::cancel::{Cancel, PIECE_BYTES};
use crate::error;

/// Beyond this number, helpers wait for memory and the file system rather than for a processor.
const HELPERS_LIMIT: usize = 11;

/// Shorter texts are processed by one thread: waking others would take longer.
pub const SHARED_FROM_BYTES: usize = 4 << 20;

/// The number of processors that this process may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

type BuildPool = fn(usize) -> Result<ThreadPool, ThreadPoolBuildError>;

/// The threads that help calls.
struct Helpers {
    count: usize,
    busy: AtomicUsize,
    build: BuildPool,
    pool: OnceLock<ThreadPool>,
}

static HELPERS: LazyLock<Helpers> =
    LazyLock::new(|| Helpers::new((processors() - 1).min(HELPERS_LIMIT), build_pool));

fn build_pool(threads: usize) -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(threads).thread_name(|_| "hashline".to_owned()).build()
}

thread_local! {
    /// Whether calls of this thread use no helpers.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// A reserved helper. Dropping this frees it.
struct Taken<'h>(&'h Helpers);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Helpers {
    const fn new(count: usize, build: BuildPool) -> Helpers {
        Helpers { count, busy: AtomicUsize::new(0), build, pool: OnceLock::new() }
    }

    /// The pool; `None` if the system cannot start its threads.
    fn pool(&self) -> Option<&ThreadPool> {
        if self.pool.get().is_none() {
            let built = (self.build)(self.count).ok()?;
            // If another call built a pool in the meantime, this one is dropped.
            let _ = self.pool.set(built);
        }
        self.pool.get()
    }

    /// Reserves a helper, if one is free.
    fn take(&self) -> Option<Taken<'_>> {
        let free = |busy| (busy < self.count).then_some(busy + 1);
        let taken = self.busy.fetch_update(Ordering::AcqRel, Ordering::Acquire, free);
        taken.ok().map(|_| Taken(self))
    }

    /// Runs `first` and then `work` on this thread, while up to `limit` helpers run `work` as well.
    fn share(&self, limit: usize, work: &(dyn Fn() + Sync), first: impl FnOnce()) {
        let is_alone = limit == 0 || self.count == 0 || ALONE.get();
        // A helper that waited for other helpers would process parts of other calls in the
        // meantime.
        let is_helper = |pool: &&ThreadPool| pool.current_thread_index().is_some();
        let pool = if is_alone { None } else { self.pool().filter(|pool| !is_helper(pool)) };
        let Some(pool) = pool else {
            first();
            return work();
        };
        pool.in_place_scope(|scope| {
            for taken in std::iter::from_fn(|| self.take()).take(limit) {
                scope.spawn(move |_| {
                    let _taken = taken;
                    work();
                });
            }
            first();
            work();
        });
    }

    /// See [`map_after`].
    fn map<'i, T: Sync, R: Send>(
        &self,
        items: &'i [T],
        work: impl Fn(&'i T) -> R + Sync,
        first: impl FnOnce(),
    ) -> Vec<R> {
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(items.len()));
        let take_part = || {
            let mut own = Vec::new();
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(item) = items.get(index)
            {
                own.push((index, work(item)));
            }
            done.lock().append(&mut own);
        };
        self.share(items.len().saturating_sub(1), &take_part, first);
        let mut done = done.into_inner();
        done.sort_unstable_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// Runs `work` without helpers, so that tests can compare the results.
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

/// Whether work of this thread on a text of this size is shared with helpers.
pub fn are_shared(text_bytes: usize) -> bool {
    text_bytes >= SHARED_FROM_BYTES && HELPERS.count > 0 && !ALONE.get()
}

/// Whether `holds` is true for all pieces of a text, each of at most `PIECE_BYTES`. Checks for
/// cancellation before each piece, and starts no further piece after the first failure.
pub fn all<'i, T: Sync>(
    pieces: &'i [T],
    cancel: &Cancel,
    holds: impl Fn(&'i T) -> bool + Sync,
) -> error::Result<bool> {
    let fails = AtomicBool::new(false);
    let check = |piece: &'i T| {
        if !fails.load(Ordering::Relaxed) {
            cancel.check()?;
            fails.fetch_or(!holds(piece), Ordering::Relaxed);
        }
        Ok(())
    };
    if are_shared(pieces.len() * PIECE_BYTES) {
        map(pieces, check).into_iter().collect::<error::Result<()>>()?;
    } else {
        pieces.iter().try_for_each(check)?;
    }
    Ok(!fails.into_inner())
}

/// Applies `work` to each item, on this thread and on helpers. Results are in the order of the
/// items.
pub fn map<'i, T: Sync, R: Send>(items: &'i [T], work: impl Fn(&'i T) -> R + Sync) -> Vec<R> {
    HELPERS.map(items, work, || {})
}

/// Like [`map`], but this thread runs `first` before its share, while helpers start immediately.
pub fn map_after<'i, T: Sync, R: Send>(
    items: &'i [T],
    work: impl Fn(&'i T) -> R + Sync,
    first: impl FnOnce(),
) -> Vec<R> {
    HELPERS.map(items, work, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::sync::{Barrier, mpsc};
    use std::thread::ThreadId;

    fn map_in<'i, T: Sync, R: Send>(
        helpers: &Helpers,
        items: &'i [T],
        work: impl Fn(&'i T) -> R + Sync,
    ) -> Vec<R> {
        helpers.map(items, work, || {})
    }

    fn here() -> ThreadId {
        std::thread::current().id()
    }

    #[test]
    fn results_are_in_order_on_any_thread() {
        let helpers = Helpers::new(3, build_pool);
        let items: Vec<u32> = (0..1000).collect();
        for _ in 0..50 {
            let doubled = map_in(&helpers, &items, |item| item * 2);
            assert!(doubled.iter().zip(&items).all(|(double, item)| *double == item * 2));
        }
        assert!(map_in(&helpers, &[], |item: &u32| *item).is_empty());
        assert_eq!(helpers.busy.into_inner(), 0);
    }

    #[test]
    fn helpers_take_part() {
        let helpers = Helpers::new(1, build_pool);
        let barrier = Barrier::new(2);
        let threads = map_in(&helpers, &[0, 1], |_| {
            barrier.wait();
            here()
        });
        assert_ne!(threads[0], threads[1]);
    }

    #[test]
    fn helpers_do_not_wait_for_what_the_caller_does_first() {
        let helpers = Helpers::new(1, build_pool);
        let (done, is_done) = mpsc::channel();
        let work = |item: &i32| {
            done.send(()).unwrap();
            item * 2
        };
        // The caller waits until a helper has processed the first item.
        assert_eq!(helpers.map(&[1, 2, 3], work, || is_done.recv().unwrap()), [2, 4, 6]);
    }

    #[test]
    fn a_small_call_does_not_wait_for_a_large_one() {
        let helpers = &Helpers::new(2, build_pool);
        let (begun, begins) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let released = &Mutex::new(released);
        std::thread::scope(|scope| {
            let large = move |_: &i32| {
                begun.send(()).unwrap();
                let _ = released.lock().recv();
            };
            scope.spawn(move || map_in(helpers, &[0; 3], large));
            (0..3).for_each(|_| begins.recv().unwrap());
            // All helpers are busy with the large call.
            let threads = map_in(helpers, &[0; 100], |_| here());
            assert!(threads.iter().all(|thread| *thread == here()));
            drop(release);
        });
        assert_eq!(helpers.busy.load(Ordering::Acquire), 0);
    }

    #[test]
    fn a_helper_does_not_share_its_parts_with_other_helpers() {
        let helpers = &Helpers::new(2, build_pool);
        let barrier = Barrier::new(2);
        let threads = map_in(helpers, &[0, 1], |_| {
            barrier.wait();
            (here(), map_in(helpers, &[0; 100], |_| here()))
        });
        let of_helpers: Vec<_> = threads.iter().filter(|(thread, _)| *thread != here()).collect();
        assert_eq!(of_helpers.len(), 1);
        assert!(of_helpers.iter().all(|(thread, parts)| parts.iter().all(|part| part == thread)));
    }

    #[test]
    fn without_threads_the_caller_does_all_work_and_the_next_call_tries_again() {
        static FAILS: AtomicBool = AtomicBool::new(true);
        fn build(threads: usize) -> Result<ThreadPool, ThreadPoolBuildError> {
            if FAILS.load(Ordering::SeqCst) {
                let refuse = |_| Err(std::io::ErrorKind::WouldBlock.into());
                return ThreadPoolBuilder::new().num_threads(threads).spawn_handler(refuse).build();
            }
            build_pool(threads)
        }
        let helpers = Helpers::new(1, build);
        let threads = map_in(&helpers, &[0; 10], |_| here());
        assert!(threads.iter().all(|thread| *thread == here()));
        FAILS.store(false, Ordering::SeqCst);
        let barrier = Barrier::new(2);
        map_in(&helpers, &[0, 1], |_| barrier.wait());
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_helpers_keep_working() {
        let helpers = Helpers::new(2, build_pool);
        for culprit in 0..20 {
            let work = |item: &i32| {
                if *item == culprit { resume_unwind(Box::new("an item")) } else { *item }
            };
            let items: Vec<_> = (0..20).collect();
            let panic =
                catch_unwind(AssertUnwindSafe(|| map_in(&helpers, &items, work))).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"an item"));
        }
        assert_eq!(map_in(&helpers, &[1, 2, 3], |item| item + 1), [2, 3, 4]);
        assert_eq!(helpers.busy.into_inner(), 0);
    }

    #[test]
    fn alone_uses_no_helper() {
        let threads = alone(|| map(&[0; 100], |_| here()));
        assert!(threads.iter().all(|thread| *thread == here()));
        assert!(!ALONE.get());
    }
}
