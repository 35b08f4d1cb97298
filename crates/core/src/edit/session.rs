//! What a model was shown, and which line of the current file an anchor means by it.
//!
//! `memory` keeps the versions of files and the lines of each that were shown; `carry` finds
//! the lines of an older version in a newer one; `locate` decides, for the anchors of one
//! operation, where it takes place or why it is refused. But for `store`, which keeps a memory on
//! disk, all of it is pure: texts come in, numbers go out. Rules: docs/protocol.md, "Sessions".

// A set of lines is a list of ranges, and some sets have one.
#![allow(clippy::single_range_in_vec_init)]

mod body;
mod carry;
mod guarded;
mod held;
mod lesson;
mod lines;
mod locate;
mod memory;
mod notes;
mod patches;
mod recall;
mod store;
mod track;

pub use body::{Body, Version};
pub use carry::Carry;
pub use held::{HeldMemory, Learning};
pub use lesson::Lesson;
pub use lines::LineSet;
pub use locate::{Found, How, Locator, Placed, Refused, ShownLine, Target, Unseen, Why};
pub use memory::{FileRecord, Memory, MemoryLimits, Moment, Showing};
pub use patches::PatchState;
pub use recall::{FileRefusal, Recall, Settlement, resolve_plainly, rows_shown};
pub use track::{Course, LeftLines, MovedLines, Splice, Track};

#[cfg(test)]
mod tests;
