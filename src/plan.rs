//! The class `EditPlan`: a patch that is shown first, and then applied exactly as shown.

use std::sync::Arc;

use hashline_core::{
    Cancel, Error, Outcome, Patch, PatchOptions, Plan, Result as CoreResult, Session,
};
use napi::Env;
use napi_derive::napi;

use hashline_core::host::Turn;

use super::error::Result;
use super::js::Js;
use super::outcome::{ApplyOutcome, apply_outcome};
use super::session::{CallTurn, options};
use super::task::{self, Call};

/// A patch with its outcome before anything is written. `apply` writes exactly what the outcome
/// shows, or nothing. A plan takes no copy of the files, and it does not lock them.
#[napi]
pub struct EditPlan {
    session: Arc<Session>,
    /// `None` once it is discarded.
    plan: Option<Plan>,
}

#[napi]
impl EditPlan {
    /// What the patch would do: the outcome of a dry run, with a diff for each file. It may be a
    /// refusal.
    #[napi(getter, ts_return_type = "ApplyOutcome")]
    pub fn outcome(&self, env: &Env) -> napi::Result<ApplyOutcome> {
        let plan = self.open().map_err(|error| error.throw(env))?;
        Ok(apply_outcome(plan.outcome.clone()))
    }

    /// Applies the patch. It is refused with `CONCURRENT_CHANGE` if a file that the plan read was
    /// changed since. A plan that was refused stays refused.
    #[napi(ts_args_type = "options?: SessionReadOptions", ts_return_type = "Promise<ApplyOutcome>")]
    pub fn apply<'env>(&self, env: &'env Env, options: Js<'env>) -> napi::Result<Js<'env>> {
        task::later(env, || {
            let signal = options::read_options(options)?;
            let plan = self.open()?.clone();
            let turn = CallTurn::of(Arc::clone(&self.session));
            Ok((ApplyPlanCall { turn, plan }, signal))
        })
    }

    /// Frees the plan. It cannot be applied afterwards.
    #[napi]
    pub fn discard(&mut self) {
        self.plan = None;
    }
}

impl EditPlan {
    fn open(&self) -> Result<&Plan> {
        self.plan.as_ref().ok_or_else(|| Error::argument("the plan was discarded").into())
    }
}

struct ApplyPlanCall {
    turn: CallTurn,
    plan: Plan,
}

impl Call for ApplyPlanCall {
    type Output = Outcome;
    type Answer = ApplyOutcome;
    const WRITES: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        self.turn.take(Session::writing)
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<Outcome> {
        self.turn.turn()?.apply_plan(&self.plan, cancel)
    }

    fn answer(outcome: Outcome) -> ApplyOutcome {
        apply_outcome(outcome)
    }
}

/// A call that plans a patch.
pub struct PlanCall {
    pub turn: CallTurn,
    pub patch: Patch,
    pub options: PatchOptions,
}

impl Call for PlanCall {
    type Output = (Arc<Session>, Plan);
    type Answer = EditPlan;
    const WRITES: bool = false;
    const IS_REMEMBERED: bool = true;

    fn enter(&mut self) -> Option<Turn> {
        self.turn.take(Session::writing)
    }

    fn run(&mut self, cancel: &Cancel) -> CoreResult<Self::Output> {
        let (patch, options) = (self.patch.clone(), self.options.clone());
        let plan = self.turn.turn()?.plan(patch, options, cancel)?;
        Ok((self.turn.session(), plan))
    }

    fn answer((session, plan): Self::Output) -> EditPlan {
        EditPlan { session, plan: Some(plan) }
    }
}
