//! Text as this engine sees it: lines, and the hash of each. This crate accesses no files.
//!
//! A *line* is the bytes up to and including its terminator (`lines`). Its *normalized* text
//! (`normalize`) is hashed according to a *dialect*, a row of a table (`dialect`). `hash` hashes
//! single lines or blocks of lines; `simd` selects the instructions of its loops. `similarity`
//! measures how similar two lines are; a `tag` names a version of a whole text. An *anchor* is a
//! line number and the hash of the line (`anchor`); `rows` renders lines with their anchors; a
//! `checksum` detects changes of a block of lines.

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod anchor;
pub mod checksum;
pub mod dialect;
pub mod hash;
pub mod lines;
pub mod normalize;
pub mod rows;
pub mod simd;
pub mod similarity;
pub mod tag;
