//! What all calls of the engine share: errors with a stable code and a message that names options
//! as data (`error`), cancellation (`cancel`), threads for the parts of a call (`parallel`) and for
//! calls that wait (`call_threads`), and requests and options that are deserialized (`shape`).

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]

pub mod call_threads;
pub mod cancel;
pub mod error;
pub mod parallel;
pub mod shape;
