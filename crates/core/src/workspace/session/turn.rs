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
use crate::workspace::turns::{Reach, Start};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_memory::Moment;

/// A place in the order of a session's calls, which is given up when it is dropped.
pub(super) struct Place {
    number: u64,
    reach: Reach,
    /// What was known when the call was made.
    pub(super) as_of: Moment,
    state: Arc<SessionState>,
}

impl Place {
    /// Waits until no earlier call is in the way.
    pub(super) fn wait(&self, cancel: &Cancel) -> Result<()> {
        self.state.turns.wait(self.number, cancel)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.state.memory.let_go(self.as_of);
        self.state.turns.leave(self.number);
    }
}

/// The turn of a call, given up when the last copy is dropped. A copy that is kept beyond its call
/// makes later ones wait: for those who pass answers on in the order of the calls.
#[derive(Clone)]
pub struct Turn {
    session: Arc<Session>,
    place: Arc<Place>,
}

impl Session {
    pub(super) fn place(&self, reach: Reach) -> Place {
        let number = self.state.turns.enter(reach);
        let as_of = self.state.memory.hold();
        Place { number, reach, as_of, state: Arc::clone(&self.state) }
    }

    /// Takes the turn of a read or a search that is made now and carried out later: it waits for
    /// earlier calls that write.
    pub fn reading(self: &Arc<Self>) -> Turn {
        Turn { session: Arc::clone(self), place: Arc::new(self.place(Reach::Reads)) }
    }

    /// Takes the turn of an apply that is made now and carried out later: it waits for all earlier
    /// calls.
    pub fn writing(self: &Arc<Self>) -> Turn {
        Turn { session: Arc::clone(self), place: Arc::new(self.place(Reach::Writes)) }
    }
}

impl Turn {
    /// Has `start` called once no earlier call is in the way: at once, or by the thread that ends
    /// the last of them. It is dropped if the turn is given up before.
    pub fn when_free(&self, start: Start) {
        self.place.state.turns.when_free(self.place.number, start);
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

    /// As [`Session::apply_with`], in a turn that [`Session::writing`] gave.
    pub fn apply(
        self,
        patch: &Patch,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        if self.place.reach == Reach::Reads {
            return Err(Error::new(Code::Internal, "a patch in the turn of a read"));
        }
        self.session.apply_at(&self.place, patch, patch_options, cancel)
    }
}
