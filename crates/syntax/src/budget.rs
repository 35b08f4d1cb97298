//! The budget of one call for the structure of its files: processor time, and cancellation by the
//! caller.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The processor time of one call. 256 KB of ordinary source take 50 ms.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// The additional time per byte of a file, for calls that may parse any number of files: five times
/// the time for ordinary source.
const NANOS_FOR_BYTE: u64 = 1_000;

/// How long a thread works before it charges its processor time.
const TIME_BETWEEN_CHARGES: Duration = Duration::from_millis(1);

/// The number of steps between two checks. A step takes a few microseconds at most, except at a
/// node with many children or ancestors.
const STEPS_BETWEEN_CHECKS: u32 = 16;

/// The budget of a call. All its work shares it, on any thread.
pub struct Budget<'a> {
    limit_nanos: AtomicU64,
    spent_nanos: AtomicU64,
    is_cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Budget").field("left", &self.left()).finish_non_exhaustive()
    }
}

impl Budget<'static> {
    /// A budget without cancellation.
    pub fn unattended() -> Budget<'static> {
        Budget::new(&|| false)
    }
}

impl<'a> Budget<'a> {
    /// The budget of a call that stops when `is_cancelled` returns true. It is called about once
    /// per millisecond of work.
    pub fn new(is_cancelled: &'a (dyn Fn() -> bool + Sync)) -> Budget<'a> {
        Budget {
            limit_nanos: AtomicU64::new(TIME_LIMIT.as_nanos() as u64),
            spent_nanos: AtomicU64::new(0),
            is_cancelled,
        }
    }

    /// Sets the remaining time to zero.
    pub fn exhaust(&self) {
        self.limit_nanos.store(0, Ordering::Relaxed);
    }

    /// Adds the time for another file, for calls that may parse any number of them.
    pub fn extend(&self, text_bytes: usize) {
        self.limit_nanos.fetch_add(NANOS_FOR_BYTE * text_bytes as u64, Ordering::Relaxed);
    }

    /// Whether the time is used up or the call is cancelled.
    pub fn is_spent(&self) -> bool {
        self.left().is_zero() || (self.is_cancelled)()
    }

    fn left(&self) -> Duration {
        let limit = self.limit_nanos.load(Ordering::Relaxed);
        Duration::from_nanos(limit.saturating_sub(self.spent_nanos.load(Ordering::Relaxed)))
    }

    /// Starts measuring work of this thread.
    pub(crate) fn meter(&self) -> Meter<'_> {
        Meter {
            budget: self,
            started: Instant::now(),
            processor_start: processor_time(),
            charged_at: Cell::new(Duration::ZERO),
            charged: Cell::new(Duration::ZERO),
            steps: Cell::new(0),
            is_spent: Cell::new(false),
        }
    }
}

/// Measures the work of one thread. Its processor time is charged periodically and at the end.
pub(crate) struct Meter<'a> {
    budget: &'a Budget<'a>,
    started: Instant,
    processor_start: Duration,
    /// When time was last charged, relative to `started`, and the total charged.
    charged_at: Cell<Duration>,
    charged: Cell<Duration>,
    steps: Cell<u32>,
    is_spent: Cell<bool>,
}

impl Meter<'_> {
    /// Counts a step; returns `false` if the budget is spent.
    pub fn step(&self) -> bool {
        let steps = self.steps.get() + 1;
        self.steps.set(steps % STEPS_BETWEEN_CHECKS);
        steps < STEPS_BETWEEN_CHECKS && !self.is_spent.get() || self.check()
    }

    /// Returns `false` if the budget is spent.
    pub fn check(&self) -> bool {
        // A thread cannot use more processor time than the elapsed time, which is cheaper to query.
        let passed = self.started.elapsed();
        if passed >= self.charged_at.get() + TIME_BETWEEN_CHARGES {
            self.charged_at.set(passed);
            self.charge();
        }
        if !self.is_spent.get() && self.budget.is_spent() {
            self.is_spent.set(true);
        }
        !self.is_spent.get()
    }

    /// Whether an earlier step or check found the budget spent; then the results are incomplete.
    pub fn is_spent(&self) -> bool {
        self.is_spent.get()
    }

    /// Charges the time since the last charge, so that other threads see it.
    fn charge(&self) {
        let used = processor_time().saturating_sub(self.processor_start);
        let new = used.saturating_sub(self.charged.replace(used));
        let nanos = new.as_nanos().try_into().unwrap_or(u64::MAX);
        self.budget.spent_nanos.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        self.charge();
    }
}

/// The processor time of this thread. It does not depend on the load of the machine.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// The time since the first call, because the processor time of the system is too coarse.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    use std::sync::LazyLock;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each thread saw only its own time, so twelve of them could take twelve seconds.
    #[test]
    fn regression_threads_share_the_time_of_a_call() {
        let budget = Budget::unattended();
        let (one, other) = (budget.meter(), budget.meter());
        assert!(one.check() && other.check());
        budget.spent_nanos.fetch_add(TIME_LIMIT.as_nanos() as u64, Ordering::Relaxed);
        assert!(!one.check() && !other.check());
        // Time is charged before the work ends.
        let budget = Budget::unattended();
        let meter = budget.meter();
        while budget.spent_nanos.load(Ordering::Relaxed) == 0 {
            meter.check();
        }
    }
}
