//! Cancellation: a flag that the caller sets and the work checks between steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Code, Error, Result};

/// The number of bytes that are processed between two checks of the flag, for work that is about as
/// fast as reading the text. One piece takes well under a millisecond.
pub const PIECE_BYTES: usize = 1 << 20;

/// The number of bytes between two checks for work that processes a text line by line.
const LINES_BYTES: usize = 64 << 10;

/// A flag shared between a call and its caller.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    /// Counts the checks, for tests.
    probe: Option<Probe>,
}

#[derive(Debug)]
struct Probe {
    checks: AtomicU64,
    /// The check at which the flag sets itself.
    cancels_at: u64,
}

impl Cancel {
    /// A flag that counts its checks and sets itself at check number `check`. A test can so cancel
    /// a call at any point, without a clock.
    pub fn at_check(check: u64) -> Cancel {
        let probe = Probe { checks: AtomicU64::new(0), cancels_at: check };
        Cancel(Arc::new(Flag { is_set: AtomicBool::new(false), probe: Some(probe) }))
    }

    /// A flag that counts its checks.
    pub fn counting() -> Cancel {
        Cancel::at_check(u64::MAX)
    }

    /// The number of checks so far; 0 for a flag that does not count.
    pub fn checks(&self) -> u64 {
        self.0.probe.as_ref().map_or(0, |probe| probe.checks.load(Ordering::Relaxed))
    }

    /// Asks the call to stop at its next check.
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::Release);
    }

    /// Whether the caller asked the call to stop.
    pub fn is_cancelled(&self) -> bool {
        if let Some(probe) = &self.0.probe
            && probe.checks.fetch_add(1, Ordering::Relaxed) + 1 >= probe.cancels_at
        {
            self.cancel();
        }
        self.0.is_set.load(Ordering::Acquire)
    }

    /// Returns `ABORTED` if the caller asked the call to stop.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            Err(Error::new(Code::Aborted, "the call was aborted"))
        } else {
            Ok(())
        }
    }

    /// A watch that checks the flag periodically while many lines or edits are processed.
    pub fn watch(&self) -> CancelWatch<'_> {
        CancelWatch { cancel: self, bytes: 0 }
    }

    /// The pieces of a text, with a check of the flag before each.
    pub fn pieces<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = Result<&'t [u8]>> {
        text.chunks(PIECE_BYTES).map(|piece| self.check().map(|()| piece))
    }
}

/// Checks a flag periodically, by how much text was processed.
#[derive(Debug)]
pub struct CancelWatch<'c> {
    cancel: &'c Cancel,
    bytes: usize,
}

impl CancelWatch<'_> {
    /// Counts `bytes` as processed, plus a constant for the item itself.
    pub fn pass(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(PASSING_BYTES);
        if self.bytes < LINES_BYTES {
            return Ok(());
        }
        self.bytes = 0;
        self.cancel.check()
    }
}

/// The cost that is counted for an item in addition to its bytes.
const PASSING_BYTES: usize = 16;
