//! Which line of the current file an anchor means, by what a model was shown.
//!
//! `locate` decides, for the anchors of one operation, where it takes place or why it is refused:
//! texts come in, numbers go out. `recall` asks that for the operations of a patch, and tells the
//! memory what came of it; `refusal` says why one is refused. `patches` is what a patch leaves for the next one, and
//! `renamed` under which name a file is now. What was shown, and
//! where these lines are now, is known to the crate `hashline-memory`. Rules: docs/protocol.md, "Sessions".

// A set of lines is a list of ranges, and some sets have one.
#![allow(clippy::single_range_in_vec_init)]

mod locate;
mod patches;
mod recall;
mod refusal;
mod renamed;

pub use locate::Unseen;
pub use patches::PatchState;
pub use recall::{FileRefusal, Recall, resolve_plainly, rows_shown, shown_lines};
pub use renamed::renamed;

#[cfg(test)]
mod tests;
