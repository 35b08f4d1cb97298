//! The engine behind `hashline-native`: lines with anchors, read, searched and edited.
//!
//! Four layers, each of which imports only from those before it: [`text`] ← [`disk`] ← [`view`]
//! ← [`edit`]. Beside them stand the kinds of refusals ([`error`]), cancellation
//! ([`cancel`]) and threads ([`threads`]); over them, what faces hold: a [`workspace`].

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]

pub mod cancel;
pub mod disk;
pub mod edit;
pub mod error;
pub mod text;
pub mod threads;
pub mod view;
pub mod workspace;
