//! What a source consists of: text and file name in; language, cleanliness, first error, blocks,
//! folds and definitions out. It opens no file, edits nothing and knows nothing of anchors.
//!
//! Lines are counted from 1 and end with `\n`, as in the rest of the project.

mod arena;
mod block;
mod bounded;
mod budget;
mod detect;
mod edit;
mod fault;
mod found;
mod grammar;
mod headings;
mod indentation;
mod language;
mod outline;
mod parse;
mod place;
mod rows;
mod scanner;
mod source;
mod walk;

pub use block::{NoBlock, NoBlockReason};
pub use budget::Budget;
pub use detect::language_of;
pub use found::{Block, Definition, Fault, Fold, Outline};
pub use language::{LANGUAGES, Language};
pub use parse::{SOURCE_LIMIT_BYTES, SourceText};
pub use source::Source;
