//! The calls of a session, in the order in which they were made: whoever writes waits for all
//! earlier calls, whoever reads for the earlier ones that write.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cancel::Cancel;
use crate::error::Result;
use crate::threads;

/// How long a call that waits goes without a look at its flag.
const WAIT_STEP: Duration = Duration::from_millis(10);

/// What a call may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// It reads.
    Reads,
    /// It writes. Which files is not known before their links are followed, so all count.
    Writes,
}

impl Reach {
    /// Whether one call has to wait for another: calls that only read are not in each other's way.
    fn meets(self, other: Reach) -> bool {
        self == Reach::Writes || other == Reach::Writes
    }
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    waiting: VecDeque<(u64, Reach)>,
}

/// The queue of a session.
#[derive(Debug, Default)]
pub(super) struct Turns {
    queue: Mutex<Queue>,
    has_moved: Condvar,
}

/// A place in the queue.
#[derive(Debug)]
pub(super) struct Ticket(u64);

impl Turns {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place at the end of the queue.
    pub(super) fn enter(&self, reach: Reach) -> Ticket {
        let mut queue = self.lock();
        let number = queue.next;
        queue.next += 1;
        queue.waiting.push_back((number, reach));
        Ticket(number)
    }

    /// Waits until no earlier call is in the way.
    pub(super) fn wait(&self, ticket: &Ticket, cancel: &Cancel) -> Result<()> {
        let mut queue = self.lock();
        if is_free(&queue, ticket) {
            return Ok(());
        }
        threads::waiting(|| {
            while !is_free(&queue, ticket) {
                cancel.check()?;
                let waited = self.has_moved.wait_timeout(queue, WAIT_STEP);
                queue = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            Ok(())
        })
    }

    /// Leaves the queue.
    pub(super) fn leave(&self, ticket: &Ticket) {
        self.lock().waiting.retain(|(number, _)| *number != ticket.0);
        self.has_moved.notify_all();
    }
}

fn is_free(queue: &Queue, ticket: &Ticket) -> bool {
    let Some(&(_, reach)) = queue.waiting.iter().find(|(number, _)| *number == ticket.0) else {
        return true;
    };
    let mut earlier = queue.waiting.iter().take_while(|(number, _)| *number < ticket.0);
    !earlier.any(|&(_, other)| reach.meets(other))
}
