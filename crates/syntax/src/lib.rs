//! The structure of source code: from a text and a file name it determines the language, whether
//! the text is free of errors, its first error, blocks, folds and definitions. It opens no files,
//! edits nothing and does not depend on anchors.
//!
//! Lines are counted from 1 and end with `\n`, as in the rest of the project.

mod arena;
mod block;
mod bounded;
mod budget;
mod detect;
mod difference;
mod edit;
mod fault;
mod grammar;
mod headings;
mod indentation;
mod items;
mod keys;
mod language;
mod lexical;
mod lookup;
mod mask;
mod occurrence;
mod outline;
mod pairs;
mod parse;
mod required;
mod rows;
mod scanner;
mod source;
mod structure;
mod symbol;
mod value;
mod walk;

pub use block::{NoBlock, NoBlockReason};
pub use budget::Budget;
pub use detect::language_of;
pub use language::{LANGUAGES, Language};
pub use parse::{SOURCE_LIMIT_BYTES, SYMBOLS_LIMIT_BYTES, SourceText};
pub use source::Source;
pub use structure::{Block, Definition, Fault, Fold, Outline, Symbol};
pub use symbol::SymbolName;
