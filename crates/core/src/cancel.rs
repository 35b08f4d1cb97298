//! Cancellation: a flag that the caller sets and the work looks at between steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Code, Error, Result};

/// How much of a text is worked on between two looks at the flag, where the work takes about as
/// long as reading the text does: well under a millisecond.
pub(crate) const PIECE_BYTES: usize = 1 << 20;

/// How much of a text that is taken apart, line by line, goes by between two looks.
const LINES_BYTES: usize = 64 << 10;

/// A flag shared between a call and its caller.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    looks: AtomicU64,
    /// The look at which the flag sets itself, if it does.
    at_look: Option<u64>,
}

impl Cancel {
    /// A flag that sets itself at the nth check: so a test can cancel a call at any point, without a
    /// clock.
    pub(crate) fn at_look(look: u64) -> Cancel {
        Cancel(Arc::new(Flag { at_look: Some(look), ..Flag::default() }))
    }

    /// Asks the call to stop at its next step.
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::Release);
    }

    /// How often the work has looked so far.
    pub(crate) fn looks(&self) -> u64 {
        self.0.looks.load(Ordering::Relaxed)
    }

    /// Whether the caller asked.
    pub fn is_cancelled(&self) -> bool {
        let look = self.0.looks.fetch_add(1, Ordering::Relaxed) + 1;
        if self.0.at_look.is_some_and(|at| look >= at) {
            self.cancel();
        }
        self.0.is_set.load(Ordering::Acquire)
    }

    /// `ABORTED` once the caller asked.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            Err(Error::new(Code::Aborted, "the call was aborted"))
        } else {
            Ok(())
        }
    }

    /// Looks at the flag while many lines or edits go by.
    pub(crate) fn watch(&self) -> CancelWatch<'_> {
        CancelWatch { cancel: self, bytes: 0 }
    }

    /// The pieces of a text, with a look at the flag before each.
    pub(crate) fn pieces<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = Result<&'t [u8]>> {
        text.chunks(PIECE_BYTES).map(|piece| self.check().map(|()| piece))
    }
}

/// Looks at a flag now and then, by how much text has gone by.
#[derive(Debug)]
pub(crate) struct CancelWatch<'c> {
    cancel: &'c Cancel,
    bytes: usize,
}

impl CancelWatch<'_> {
    /// Something of so many bytes goes by, which costs something even where these are none.
    pub(crate) fn pass(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(PASSING_BYTES);
        if self.bytes < LINES_BYTES {
            return Ok(());
        }
        self.bytes = 0;
        self.cancel.check()
    }
}

/// As much text as is worked on in the time that a line takes without any.
const PASSING_BYTES: usize = 16;
