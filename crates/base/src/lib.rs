//! What every call of the engine has: an error with a stable code and a message that names options
//! as data (`error`), cancellation (`cancel`), threads for its parts (`parallel`) and for calls
//! that wait (`call_threads`), and requests and options read from data (`shape`).

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]

pub mod call_threads;
pub mod cancel;
pub mod error;
pub mod parallel;
pub mod shape;
