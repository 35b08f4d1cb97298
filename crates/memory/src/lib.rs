//! What a model was shown, and where these lines are now.
//!
//! `versions` records the versions of files that were shown, and the shown lines of each (`lines`,
//! `shown`). After an edit of the session, `track` has the exact current numbers of lines. After a
//! change by another process, `carry` finds them by comparing two texts (`body`). An `update` is
//! what a session learns from one answer.
//!
//! `undo` lists the patches that can be undone.
//!
//! The calls of a session share a memory (`session`, `mutex`). `store` keeps it on disk and shares
//! it with other processes; `notes` lists problems with that. Everything else does no I/O.
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
mod undo;
mod update;
mod versions;

pub use body::{Body, Version, hash_of, hex};
pub use carry::{Carry, Reindentation, says_enough};
pub use lines::LineSet;
pub use session::SessionMemory;
pub use shown::{Knowledge, SeenParts, ShownLines, ShownPart};
pub use track::{LineChanges, MovedLines, MovedOutLines, Splice, Track};
pub use undo::{AppliedPatch, UndoEntry};
pub use update::MemoryUpdate;
pub use versions::{FileMemory, Lineage, View};
pub use versions::{FileRecord, Memory, MemoryLimits, Moment, RetiredAnchors};
