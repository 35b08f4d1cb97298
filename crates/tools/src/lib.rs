//! What a model calls: the tools `read`, `search`, `apply`, `read_json` and `apply_json` over a
//! [`Session`]. A face hands the definitions to the model ([`describe`]), and what the model wrote
//! to [`Tools::run`]; all that a model reads is written here.
//!
//! A tool is declared once: `table` says what a field is, `read`, `search`, `apply`, `script` and
//! `json` have tools, `tool` says what a tool is, and `tools` lists them and carries calls out.
//! Schemas, the reading of arguments and the refusal of what is unknown follow from that. `text` takes
//! JSON as models write it. `arguments`, `operations` and `path` understand slips. `bounds` and `title`
//! say how long answers are. `vendors` has the forms of definitions that vendors want.
//!
//! The crate is synchronous, and knows neither JavaScript nor a protocol.

#![deny(missing_docs)]

mod apply;
mod arguments;
mod bounds;
mod json;
mod operations;
mod path;
mod read;
mod remember;
mod script;
mod search;
mod table;
mod text;
mod title;
mod tool;
mod tools;
mod vendors;

pub use arguments::{Repair, Rule};
pub use bounds::AnswerLimits;
pub use path::path_of_url;
pub use table::Allowed;
pub use text::Unreadable;
pub use tool::{CallOptions, Names, ToolKind, ToolsOptions};
pub use tools::{Annotations, Definition, Given, ToolResult, Tools, call_title, describe, refusal};
pub use vendors::{anthropic, openai};

#[cfg(doc)]
use hashline_core::Session;
