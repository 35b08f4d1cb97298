//! A patch → new files and an outcome.
//!
//! request → resolve → repair → plan → splice, and `apply` runs these stages and commits. What a
//! model wrote becomes typed *operations* (`request`); their anchors become lines (`resolve`);
//! known mistakes are fixed (`repair`); a *plan* is ordered, disjoint regions; `splice` makes new
//! bytes of it. The *outcome* is the answer as data, the *report* the same as a text for the model.
//!
//! A patch can also be a text in oh-my-pi's language (`script`), which becomes operations as well.
//!
//! Values of JSON documents are edited by path: the module `json` finds which bytes such an edit
//! changes, and from there on it is an edit like any other.
//!
//! In a *session* an anchor means the line that the model saw, whatever happened to the file
//! since: the crate `hashline-memory` knows which lines were shown.
//!
//! What undoes a patch is data as well (`undo`): it becomes operations of another patch.
//!
//! `structure` checks with `hashline-syntax` whether the files still parse afterwards.

pub mod apply;
mod block;
mod line_diff;
pub mod outcome;
pub mod plan;
mod recurring;
pub mod repair;
pub mod report;
pub mod request;
pub mod resolve;
pub mod script;
pub mod session;
pub mod settle;
pub mod splice;
pub mod structure;
pub mod undo;
pub mod written;
