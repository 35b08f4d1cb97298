//! Calls that are queued now and run later: a turn fixes the position of a call in the queue.

use std::sync::Arc;

use parking_lot::Mutex;

use super::changes::SessionChange;
use super::delivery::{Delivery, Mark};
use super::undo::UndoRequest;
use super::{AnnotateOptions, Plan, ReadReport, Session, SessionState};
use crate::edit::apply::PatchOptions;
use crate::edit::outcome::Outcome;
use crate::edit::request::Patch;
use crate::edit::written::{AfterWrite, Written};
use crate::json::{JsonRequest, JsonView};
use crate::view::read::ReadRequest;
use crate::view::search::{SearchQuery, SearchResult};
use crate::workspace::turns::{Access, Start};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_memory::Moment;

/// A position in the queue of a session's calls, released on drop.
pub(super) struct QueuePosition {
    number: u64,
    access: Access,
    /// The moment at which the call was queued.
    pub(super) made_at: Moment,
    /// The moment up to which its anchors can mean what was shown: earlier, if answers are not
    /// delivered yet.
    pub(super) as_of: Moment,
    pub(super) delivery: Arc<Delivery>,
    /// What its patches changed. Listeners are called when the call ends: after its answer, and before
    /// the next call.
    changed: Mutex<Vec<SessionChange>>,
    state: Arc<SessionState>,
    /// The last field, so that the answer counts as delivered before the next call starts.
    _entry: QueueEntry,
}

/// An entry of the queue, which leaves it on drop.
struct QueueEntry {
    number: u64,
    state: Arc<SessionState>,
}

impl Drop for QueueEntry {
    fn drop(&mut self) {
        self.state.turns.leave(self.number);
    }
}

impl QueuePosition {
    /// Blocks until no earlier call blocks this one.
    pub(super) fn wait(&self, cancel: &Cancel) -> Result<()> {
        self.state.turns.wait(self.number, cancel)
    }

    /// Records what a patch of the call changed.
    pub(super) fn change(&self, change: Option<SessionChange>) {
        self.changed.lock().extend(change);
    }
}

impl Drop for QueuePosition {
    fn drop(&mut self) {
        for change in self.changed.get_mut().drain(..) {
            self.state.changes.call(&change);
        }
        self.state.memory.release(self.as_of);
        self.state.memory.release(self.made_at);
    }
}

/// The turn of a call, released when its last clone is dropped. A clone that outlives its call
/// makes later calls wait; use it to deliver answers in the order of the calls.
#[derive(Clone)]
pub struct Turn {
    session: Arc<Session>,
    position: Arc<QueuePosition>,
}

impl Session {
    pub(super) fn enqueue(&self, access: Access) -> QueuePosition {
        let as_of = self.state.undelivered.hold(&self.state.memory);
        self.enqueue_as_of(access, as_of)
    }

    fn enqueue_as_of(&self, access: Access, as_of: Moment) -> QueuePosition {
        let state = Arc::clone(&self.state);
        let number = state.turns.enter(access);
        let made_at = state.memory.hold();
        let delivery = Arc::new(Delivery::new(number, Arc::clone(&state)));
        let (changed, _entry) =
            (Mutex::default(), QueueEntry { number, state: Arc::clone(&state) });
        QueuePosition { number, access, made_at, as_of, delivery, changed, state, _entry }
    }

    /// Marks what the model has read until now, for a call that is queued later
    /// ([`Session::writing_as_of`]).
    pub fn mark(&self) -> Mark {
        Mark::new(&self.state)
    }

    /// Like [`Session::writing`], for a call that the model made at a mark.
    pub fn writing_as_of(self: &Arc<Self>, mark: &Mark) -> Turn {
        let as_of = self.state.memory.hold_at(mark.as_of);
        let position = self.enqueue_as_of(Access::Writes, as_of);
        Turn { session: Arc::clone(self), position: Arc::new(position) }
    }

    /// Queues a read or search that runs later; it waits for earlier calls that write.
    pub fn reading(self: &Arc<Self>) -> Turn {
        Turn { session: Arc::clone(self), position: Arc::new(self.enqueue(Access::Reads)) }
    }

    /// Queues an apply that runs later; it waits for all earlier calls.
    pub fn writing(self: &Arc<Self>) -> Turn {
        Turn { session: Arc::clone(self), position: Arc::new(self.enqueue(Access::Writes)) }
    }
}

impl Turn {
    /// The answer of the call, to be completed when it has reached the caller. If this is dropped or
    /// never taken, the answer counts as delivered when the turn is released.
    pub fn delivery(&self) -> Arc<Delivery> {
        Arc::clone(&self.position.delivery)
    }

    /// Calls `start` once no earlier call blocks: now, or on the thread that ends the last of them.
    /// Drops it if the turn is released before.
    pub fn when_free(&self, start: Start) {
        self.position.state.turns.when_free(self.position.number, start);
    }

    /// Like [`Session::read_with`], but the text of a view at the start of the page is only in the
    /// page, at its span: a host need not convert it twice.
    pub fn read(self, requests: &[ReadRequest], cancel: &Cancel) -> Result<ReadReport> {
        self.session.read_at(&self.position, requests, cancel)
    }

    /// Like [`Session::annotate`], with the texts of views as [`Turn::read`] returns them.
    pub fn annotate(
        self,
        output: &str,
        options: &AnnotateOptions,
        cancel: &Cancel,
    ) -> Result<ReadReport> {
        self.session.annotate_at(&self.position, output, options, cancel)
    }

    /// Like [`Session::read_json`].
    pub fn read_json(self, request: &JsonRequest, cancel: &Cancel) -> Result<JsonView> {
        self.session.read_json_at(&self.position, request, cancel)
    }

    /// Like [`Session::search_with_progress`].
    pub fn search(
        self,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<SearchResult> {
        self.session.search_at(&self.position, query, cancel, progress)
    }

    /// Like [`Session::apply_with`], for a turn of [`Session::writing`].
    pub fn apply(
        self,
        patch: &Patch,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        if self.position.access == Access::Reads {
            return Err(Error::new(Code::Internal, "a patch in the turn of a read"));
        }
        self.session.apply_at(&self.position, patch, patch_options, cancel)
    }

    /// Like [`Session::undo`], for a turn of [`Session::writing`].
    pub fn undo(
        self,
        request: &UndoRequest,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Vec<Outcome>> {
        self.session.undo_at(&self.position, request, patch_options, cancel)
    }

    /// Like [`Session::settle`], for a turn of [`Session::writing`].
    pub fn settle(self, written: &Written, after: &AfterWrite, cancel: &Cancel) -> Result<Outcome> {
        self.session.settle_at(&self.position, written, after, cancel)
    }

    /// Like [`Session::plan`], for a turn of [`Session::writing`].
    pub fn plan(self, patch: Patch, patch_options: PatchOptions, cancel: &Cancel) -> Result<Plan> {
        let outcome = self.apply(&patch, &Plan::dry_run(&patch_options), cancel)?;
        Ok(Plan { outcome, patch, options: patch_options })
    }

    /// Like [`Session::apply_plan`], for a turn of [`Session::writing`].
    pub fn apply_plan(self, plan: &Plan, cancel: &Cancel) -> Result<Outcome> {
        self.session.apply_plan_at(&self.position, plan, cancel)
    }
}
