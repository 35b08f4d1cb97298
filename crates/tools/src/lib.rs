//! The tools that a model calls: `read`, `search`, `apply`, `read_json` and `apply_json` over a
//! [`Session`]. A front end passes the definitions to the model ([`describe`]) and the model's
//! arguments to [`Tools::run`]. Every text that a model reads is written in this crate.
//!
//! A tool is declared once, and its schema, the parsing of its arguments and the refusal of unknown
//! fields are derived from the declaration. `table` defines fields, `tool` defines what a tool is,
//! and `read`, `search`, `apply`, `script` and `json` declare the tools. `tools` lists them and
//! runs calls; `after` answers edits once a formatter has run; `named` finds the files that a call
//! names, and `preview` shows what a call would do while it is still arriving. `text` parses JSON as
//! models write it; `arguments`, `operations` and `path` accept common mistakes in it. `bounds` limits
//! the length of answers, `title` that of titles. `annotation` adds lines to the output of a shell
//! command. `vendors` converts definitions to the formats of vendors.
//!
//! The crate is synchronous and independent of JavaScript and of any protocol.

#![deny(missing_docs)]

mod after;
mod annotation;
mod apply;
mod arguments;
mod bounds;
mod json;
mod named;
mod operations;
mod path;
mod preview;
mod read;
mod remember;
mod script;
mod search;
mod table;
mod text;
mod title;
mod tool;
mod tools;
mod undo;
mod vendors;

pub use after::{Step, WrittenCall, WrittenPath, after_write, note_of, written_paths};
pub use annotation::{ShellCall, annotation};
pub use arguments::{Repair, Rule};
pub use bounds::AnswerLimits;
/// The arguments of a call, and other JSON that keeps the order of keys and the form of numbers.
pub use hashline_core::host::Value;
pub use named::NamedFiles;
pub use operations::operation_names;
pub use preview::{
    LineSpan, Omission, OmissionReason, PREVIEW_TEXT_BYTES, PendingOperation, Preview,
    PreviewedFile, Refusal,
};
pub use table::Allowed;
pub use text::Unreadable;
pub use tool::{CallOptions, Names, ToolKind, ToolsOptions};
pub use tools::{
    Annotations, Definition, Given, ToolResult, Tools, call_title, declined, describe, refusal,
};
pub use vendors::{anthropic, openai};

#[cfg(doc)]
use hashline_core::Session;

/// Compiles and runs the code of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
mod page {}
