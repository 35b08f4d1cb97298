//! Access to the file system, and transactions on it.
//!
//! A *place* is an open directory and a name in it; a *stamp* identifies a version of a file
//! (`fs`). A *document* is the bytes of a file with their encoding and their view as UTF-8
//! (`bytes`). A *commit* publishes new contents and names, all of them or none. It writes a
//! *journal*, from which a *recovery* finishes or rolls back what a crash interrupted (`commit`).
//! `records` stores data that processes share, in the state directory. `overlay` holds the documents
//! of a host, which take the place of files.

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod bytes;
pub mod commit;
#[allow(clippy::disallowed_methods, reason = "the only module that touches files")]
pub mod fs;
pub mod names;
pub mod overlay;
pub mod records;
