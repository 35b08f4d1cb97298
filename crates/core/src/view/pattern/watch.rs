//! How much a pattern may cost, and looks at the caller's flag while it runs.
//!
//! A step is what an engine does with one byte in one of its states. Every text has a fixed number
//! of steps, and more for each byte. So a search whose steps grow with the text is finished, and
//! one whose steps grow with its square ends soon.

use std::cell::Cell;
use std::time::{Duration, Instant};

use hashline_base::cancel::Cancel;

/// Steps that every text has, and those that each byte adds.
const STEPS: u64 = 10_000_000;
const STEPS_PER_BYTE: u64 = 1000;

/// Time that every text has, and what each byte adds. Only where an engine takes steps that it
/// does not show; what it shows ends by their number long before, whatever the machine.
const TIME: Duration = Duration::from_secs(10);
const TIME_PER_BYTE: Duration = Duration::from_micros(1);

/// Steps between two looks at the flag: about a millisecond.
const LOOK_STEPS: u64 = 1 << 17;

/// Why a search stops before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The caller asked.
    Cancelled,
    /// It costs too much.
    Exhausted,
}

/// The account of one text.
pub(super) struct Watch<'a> {
    cancel: &'a Cancel,
    left_steps: Cell<u64>,
    steps_to_look: Cell<u64>,
    begin: Cell<Option<Instant>>,
    bytes: Cell<u64>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(cancel: &'a Cancel) -> Watch<'a> {
        Watch {
            cancel,
            left_steps: Cell::new(STEPS),
            steps_to_look: Cell::new(0),
            begin: Cell::new(None),
            bytes: Cell::new(0),
        }
    }

    /// Notes that a search of so many bytes begins; looks at the flag every so many of them.
    pub(super) fn begin(&self, bytes: usize) -> Result<(), Stop> {
        let bytes = bytes as u64;
        self.left_steps.set(self.left_steps.get().saturating_add(bytes * STEPS_PER_BYTE));
        self.bytes.set(self.bytes.get() + bytes);
        self.look_after(bytes + 1)
    }

    /// Takes steps off the account.
    pub(super) fn spend(&self, steps: u64) -> Result<(), Stop> {
        self.left_steps.set(self.left_steps.get().checked_sub(steps).ok_or(Stop::Exhausted)?);
        self.look_after(steps)
    }

    /// One step after which there can be a search through so many bytes that is not shown.
    pub(super) fn spend_hidden(&self, bytes: usize) -> Result<(), Stop> {
        self.left_steps.set(self.left_steps.get().checked_sub(1).ok_or(Stop::Exhausted)?);
        self.look_after(1 + (bytes / HIDDEN_BYTES_PER_STEP) as u64)
    }

    fn look_after(&self, steps: u64) -> Result<(), Stop> {
        match self.steps_to_look.get().checked_sub(steps) {
            Some(left) => {
                self.steps_to_look.set(left);
                Ok(())
            }
            None => self.look(),
        }
    }

    fn look(&self) -> Result<(), Stop> {
        self.steps_to_look.set(LOOK_STEPS);
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

/// Bytes that a hidden search passes in the time of a step.
const HIDDEN_BYTES_PER_STEP: usize = 16;
