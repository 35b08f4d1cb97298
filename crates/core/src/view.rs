//! Files as a model sees them: lines with anchors, within limits.
//!
//! An *excerpt* is what is shown of a text: a page, or matches with context around them (`excerpt`,
//! `pattern`), of long lines a part (`width`), and of long texts without what `fold` leaves out;
//! `enclosing` finds the lines above that say where it stands. `read` makes a view of one file,
//! `search` of many; what the files of a call have in common is its `scope`.

pub mod enclosing;
pub mod excerpt;
pub mod fold;
pub mod pattern;
pub mod read;
pub mod scope;
pub mod search;
pub mod width;
