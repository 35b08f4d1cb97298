//! Which line of the current file an anchor means, by what a model was shown.
//!
//! `locate` finds the place of one operation by its anchors, or the reason to refuse it. It does no
//! I/O. `call_memory` does that for all operations of a patch, and returns what the memory learns.
//! `refusal` explains refusals to the model. `patches` is the state that patches leave for later
//! ones. `renamed` finds the current name of a file. `copied` knows the rows that were shown. The crate `hashline-memory` knows what was
//! shown and where these lines are now. Rules: docs/protocol.md, "Sessions".

// A set of lines is a list of ranges, and some sets have one.
#![allow(clippy::single_range_in_vec_init)]

mod call_memory;
mod copied;
mod locate;
mod patches;
mod refusal;
mod renamed;

pub use call_memory::{
    CallMemory, FileRefusal, ambiguous_to_show, resolve_plainly, rows_shown, shown_lines,
};
pub use copied::{CopiedRows, begins_like_row};
pub use locate::Unseen;
pub use patches::PatchState;
pub use renamed::renamed;

#[cfg(test)]
mod tests;
