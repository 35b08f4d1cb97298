//! The file system: every touch of it, and transactions over it.
//!
//! A *place* is an open directory and a name in it; a *stamp* says whether a file is still what
//! it was (`fs`). A *document* is a file's bytes with their encoding and their view as UTF-8
//! (`bytes`). A *commit* publishes new contents and names, all of them or none, with a *journal*
//! from which a *recovery* finishes or undoes what a crash left half done (`commit`).
//! `records` keeps what processes share beside the files, in the state directory.

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod bytes;
pub mod commit;
#[allow(clippy::disallowed_methods, reason = "the only module that touches files")]
pub mod fs;
pub mod records;
