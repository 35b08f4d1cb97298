//! Answers that have not reached the caller yet. What they show, the model cannot have read when it
//! makes its next call, although the memory knows it already.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::SessionState;
use hashline_memory::{Moment, SessionMemory};

/// The moments before the memory learned from calls whose answers are not delivered, by the numbers
/// of the calls.
#[derive(Default)]
pub struct Undelivered(Mutex<BTreeMap<u64, Moment>>);

impl Undelivered {
    /// Registers a call that is made now, and returns the moment up to which its anchors can mean
    /// what was shown.
    pub fn hold(&self, memory: &SessionMemory) -> Moment {
        let undelivered = self.0.lock();
        match undelivered.values().min() {
            Some(&before) => memory.hold_at(before),
            None => memory.hold(),
        }
    }

    /// Called before the memory learns from a call.
    fn note(&self, number: u64, memory: &SessionMemory) {
        let mut undelivered = self.0.lock();
        undelivered.entry(number).or_insert_with(|| memory.hold());
    }

    fn remove(&self, number: u64, memory: &SessionMemory) {
        let mut undelivered = self.0.lock();
        if let Some(before) = undelivered.remove(&number) {
            memory.release(before);
        }
    }
}

/// The answer to a call, until it has reached the caller.
pub struct Delivery {
    number: u64,
    state: Arc<SessionState>,
}

impl Delivery {
    pub(super) fn new(number: u64, state: Arc<SessionState>) -> Delivery {
        Delivery { number, state }
    }

    /// Called before the memory learns what the answer shows.
    pub(super) fn note(&self) {
        self.state.undelivered.note(self.number, &self.state.memory);
    }

    /// Call this when the answer has reached the caller. Its next call may come before the turn is
    /// released on another thread.
    pub fn complete(&self) {
        self.state.undelivered.remove(self.number, &self.state.memory);
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.complete();
    }
}

/// A moment at which the model had read all answers that were delivered until then.
pub struct Mark {
    pub(super) as_of: Moment,
    state: Arc<SessionState>,
}

impl Mark {
    pub(super) fn new(state: &Arc<SessionState>) -> Mark {
        Mark { as_of: state.undelivered.hold(&state.memory), state: Arc::clone(state) }
    }

    /// Another mark of the same moment.
    #[must_use]
    pub fn again(&self) -> Mark {
        let state = Arc::clone(&self.state);
        Mark { as_of: state.memory.hold_at(self.as_of), state }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.state.memory.release(self.as_of);
    }
}
