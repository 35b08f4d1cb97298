//! What a model was shown, and where these lines are now.
//!
//! `versions` are those of files that were shown, and the lines of each (`lines`), whole or in part
//! (`shown`). Where lines are
//! now is known exactly after own edits (`track`), and found after those of others by comparing
//! two texts (`carry`, `body`). An `update` is what one answer teaches.
//!
//! The calls of a session share a memory (`session`, `mutex`); `store` keeps it on disk, where
//! other processes learn of it, and `notes` says what went wrong there. All else is pure.
//! Rules: docs/protocol.md, "Sessions".

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
// A set of lines is a list of ranges, and some sets have one.
#![allow(clippy::single_range_in_vec_init)]

mod body;
mod carry;
mod lines;
mod mutex;
mod notes;
mod session;
mod shown;
mod store;
mod track;
mod update;
mod versions;

pub use body::hash_of;
pub use body::{Body, Version};
pub use carry::{Carry, Reindentation, says_enough};
pub use lines::LineSet;
pub use session::SessionMemory;
pub use shown::{Knowledge, SeenParts, ShownLines, ShownPart};
pub use track::{Course, LeftLines, MovedLines, Splice, Track};
pub use update::MemoryUpdate;
pub use versions::{FileMemory, Lineage, View};
pub use versions::{FileRecord, Memory, MemoryLimits, Moment, Showing};
