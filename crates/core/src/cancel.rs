//! Cancellation: a flag that the caller sets and the work looks at between steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Code, Error, Result};

/// A flag shared between a call and its caller.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the call to stop at its next step.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the caller asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// `ABORTED` once the caller asked.
    pub fn check(&self) -> Result<()> {
        match self.is_cancelled() {
            true => Err(Error::new(Code::Aborted, "the call was aborted")),
            false => Ok(()),
        }
    }
}
