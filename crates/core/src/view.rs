//! What a model sees of files: lines with anchors, within limits.
//!
//! An *excerpt* is the output for one text: a page, or matches with context (`excerpt`, `pattern`).
//! It shows a part of each long line (`width`) and folds long texts (`fold`). `enclosing` finds the
//! lines that open the blocks around a match. `read` renders one file, `search` many; `scope` holds
//! what the files of one call share.

pub mod enclosing;
pub mod excerpt;
pub mod fold;
pub mod near;
pub mod pattern;
pub mod places;
pub mod read;
pub mod scope;
pub mod search;
pub mod symbols;
pub mod width;
