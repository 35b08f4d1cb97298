//! The budget of a pattern on one text, with checks of the cancellation flag.
//!
//! A step is one byte processed in one state of an engine. Every text has a fixed number of steps
//! plus a number per byte. So a search that is linear in the text completes, and a quadratic one is
//! stopped.

use std::cell::Cell;
use std::time::{Duration, Instant};

use hashline_base::cancel::Cancel;

/// The fixed number of steps, and the number per byte.
const STEPS: u64 = 10_000_000;
const STEPS_PER_BYTE: u64 = 1000;

/// The fixed time, and the time per byte. They only matter for an engine whose steps cannot all be
/// counted. Counted steps run out much earlier, on any machine.
const TIME: Duration = Duration::from_secs(10);
const TIME_PER_BYTE: Duration = Duration::from_micros(1);

/// Steps between two checks of the flag: about a millisecond.
const STEPS_PER_CHECK: u64 = 1 << 17;

/// Why a search stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The caller cancelled it.
    Cancelled,
    /// The budget is exhausted.
    Exhausted,
}

/// The budget of one text.
pub(super) struct StepBudget<'a> {
    cancel: &'a Cancel,
    left_steps: Cell<u64>,
    steps_to_check: Cell<u64>,
    begin: Cell<Option<Instant>>,
    bytes: Cell<u64>,
}

impl<'a> StepBudget<'a> {
    pub(super) fn new(cancel: &'a Cancel) -> StepBudget<'a> {
        StepBudget {
            cancel,
            left_steps: Cell::new(STEPS),
            steps_to_check: Cell::new(0),
            begin: Cell::new(None),
            bytes: Cell::new(0),
        }
    }

    /// Adds the steps for a search of `bytes` bytes to the budget.
    pub(super) fn begin(&self, bytes: usize) -> Result<(), Stop> {
        let bytes = bytes as u64;
        self.left_steps.set(self.left_steps.get().saturating_add(bytes * STEPS_PER_BYTE));
        self.bytes.set(self.bytes.get() + bytes);
        self.check_after(bytes + 1)
    }

    /// Takes steps from the budget.
    pub(super) fn spend(&self, steps: u64) -> Result<(), Stop> {
        self.left_steps.set(self.left_steps.get().checked_sub(steps).ok_or(Stop::Exhausted)?);
        self.check_after(steps)
    }

    /// Takes one step that may include an uncounted scan of `bytes` bytes.
    pub(super) fn spend_uncounted(&self, bytes: usize) -> Result<(), Stop> {
        self.left_steps.set(self.left_steps.get().checked_sub(1).ok_or(Stop::Exhausted)?);
        self.check_after(1 + (bytes / UNCOUNTED_BYTES_PER_STEP) as u64)
    }

    fn check_after(&self, steps: u64) -> Result<(), Stop> {
        match self.steps_to_check.get().checked_sub(steps) {
            Some(left) => {
                self.steps_to_check.set(left);
                Ok(())
            }
            None => self.check(),
        }
    }

    fn check(&self) -> Result<(), Stop> {
        self.steps_to_check.set(STEPS_PER_CHECK);
        if self.cancel.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        let Some(begin) = self.begin.get() else {
            self.begin.set(Some(Instant::now()));
            return Ok(());
        };
        let bytes = u32::try_from(self.bytes.get()).unwrap_or(u32::MAX);
        if begin.elapsed() > TIME + TIME_PER_BYTE * bytes {
            return Err(Stop::Exhausted);
        }
        Ok(())
    }
}

/// Bytes that an uncounted scan covers in the time of one step.
const UNCOUNTED_BYTES_PER_STEP: usize = 16;
