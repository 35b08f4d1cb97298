//! `HashSession.undo` and `HashSession.undoable`.

use hashline_core::host::Turn;
use hashline_core::{
    self as core, Cancel, Outcome, PatchOptions, Result as CoreResult, Session, UndoRequest,
};
use napi_derive::napi;

use super::outcome::{ApplyOutcome, apply_outcome};
use super::session::CallTurn;
use super::task::Call;

/// A patch that can be undone.
#[napi(object, object_from_js = false)]
pub struct UndoablePatch {
    /// When it was applied, in milliseconds after the epoch.
    pub time_ms: f64,
    /// The files that it changed, created, moved or deleted.
    pub files: Vec<String>,
    /// Why it cannot be undone.
    pub refused: Option<String>,
}

impl From<core::UndoablePatch> for UndoablePatch {
    fn from(patch: core::UndoablePatch) -> UndoablePatch {
        let core::UndoablePatch { time_ms, files, refused } = patch;
        UndoablePatch { time_ms: time_ms as f64, files, refused }
    }
}

/// A call that undoes patches.
pub struct UndoCall {
    pub turn: CallTurn,
    pub request: UndoRequest,
    pub options: PatchOptions,
}

impl Call for UndoCall {
    type Output = Vec<Outcome>;
    type Answer = Vec<ApplyOutcome>;
    const WRITES: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        self.turn.take(Session::writing)
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<Vec<Outcome>> {
        self.turn.turn()?.undo(&self.request, &self.options, cancel)
    }

    fn answer(outcomes: Vec<Outcome>) -> Vec<ApplyOutcome> {
        outcomes.into_iter().map(apply_outcome).collect()
    }
}
