//! Calls of a session that are made at one time and worked on at another: a turn is taken when
//! the call is made, and keeps its place in the order of calls whenever the work begins.

use std::sync::Arc;

use super::{ReadReport, Session, SessionState};
use crate::edit::apply::PatchOptions;
use crate::edit::outcome::Outcome;
use crate::edit::request::Patch;
use crate::json::{JsonRequest, JsonView};
use crate::view::read::ReadRequest;
use crate::view::search::{SearchQuery, SearchResult};
use crate::workspace::turns::{Reach, Start, Ticket};
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;
use hashline_memory::Moment;

/// A place in the order of a session's calls, which is given up when it is dropped.
pub(super) struct PlaceInOrder {
    ticket: Ticket,
    /// What was known when the call was made.
    pub(super) as_of: Moment,
    state: Arc<SessionState>,
}

impl PlaceInOrder {
    /// Waits until no earlier call is in the way.
    pub(super) fn wait(&self, cancel: &Cancel) -> Result<()> {
        self.state.turns.wait(&self.ticket, cancel)
    }

    fn gate(&self) -> Gate {
        Gate { ticket: self.ticket.clone(), state: Arc::clone(&self.state) }
    }
}

impl Drop for PlaceInOrder {
    fn drop(&mut self) {
        self.state.memory.let_go(self.as_of);
        self.state.turns.leave(&self.ticket);
    }
}

/// Where a call waits for its turn without a thread of its own.
pub struct Gate {
    ticket: Ticket,
    state: Arc<SessionState>,
}

impl Gate {
    /// Has `start` called once no earlier call is in the way: at once, or by the thread that ends
    /// the last of them. It is dropped if the turn is given up before.
    pub fn pass(self, start: Start) {
        self.state.turns.when_free(&self.ticket, start);
    }
}

/// Keeps later calls waiting until it is dropped, also after the call of its turn: for those who
/// pass answers on in the order of the calls.
pub struct HeldTurn {
    _place: Arc<PlaceInOrder>,
}

/// The turn of a read or a search: it waits for earlier calls that write. Given up when dropped.
pub struct ReadTurn {
    session: Arc<Session>,
    place: Arc<PlaceInOrder>,
}

/// The turn of an apply: it waits for all earlier calls. Given up when dropped.
pub struct WriteTurn {
    session: Arc<Session>,
    place: Arc<PlaceInOrder>,
}

impl Session {
    pub(super) fn place(&self, reach: Reach) -> PlaceInOrder {
        let ticket = self.state.turns.enter(reach);
        let as_of = self.state.memory.hold();
        PlaceInOrder { ticket, as_of, state: Arc::clone(&self.state) }
    }

    /// Takes the turn of a read or a search that is made now and carried out later.
    pub fn reading(self: &Arc<Self>) -> ReadTurn {
        let place = Arc::new(self.place(Reach::Reads));
        ReadTurn { session: Arc::clone(self), place }
    }

    /// Takes the turn of an apply that is made now and carried out later.
    pub fn writing(self: &Arc<Self>) -> WriteTurn {
        let place = Arc::new(self.place(Reach::Writes));
        WriteTurn { session: Arc::clone(self), place }
    }
}

impl ReadTurn {
    /// The gate at which the call waits for this turn.
    pub fn gate(&self) -> Gate {
        self.place.gate()
    }

    /// Keeps the turn beyond its call.
    pub fn hold(&self) -> HeldTurn {
        HeldTurn { _place: Arc::clone(&self.place) }
    }

    /// As [`Session::read_with`]. A view with which the page begins has its text only there, where
    /// `spans` say: hosts do not hand it over twice.
    pub fn read(self, requests: &[ReadRequest], cancel: &Cancel) -> Result<ReadReport> {
        self.session.read_at(&self.place, requests, cancel)
    }

    /// As [`Session::read_json`].
    pub fn read_json(self, request: &JsonRequest, cancel: &Cancel) -> Result<JsonView> {
        self.session.read_json_at(&self.place, request, cancel)
    }

    /// As [`Session::search_telling`].
    pub fn search(
        self,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<SearchResult> {
        self.session.search_at(&self.place, query, cancel, progress)
    }
}

impl WriteTurn {
    /// The gate at which the call waits for this turn.
    pub fn gate(&self) -> Gate {
        self.place.gate()
    }

    /// Keeps the turn beyond its call.
    pub fn hold(&self) -> HeldTurn {
        HeldTurn { _place: Arc::clone(&self.place) }
    }

    /// As [`Session::apply_with`].
    pub fn apply(
        self,
        patch: &Patch,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        self.session.apply_at(&self.place, patch, patch_options, cancel)
    }
}
