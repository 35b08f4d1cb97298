//! Text as this engine sees it: lines, and the hash of each. Nothing here touches a file.
//!
//! A *line* is the bytes up to and including its terminator (`lines`). What is hashed of it is
//! its *normalized* text (`normalize`), as a row of the table of *dialects* says (`dialect`).
//! `hash` takes one line or blocks of many; `simd` says which instructions its loops run on;
//! `similarity` says how much alike two lines are; a `tag` names a version of a whole text.
//! An *anchor* is a line number and the hash of the line (`anchor`); `rows` writes lines with
//! theirs; a `checksum` says in one word what many lines were.

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
