//! The engine behind `hashline-native`: lines with anchors, read, searched and edited.
//!
//! A reader follows one direction. Reading: bytes → lines → normalize → hash → render.
//! Editing: request → resolve → repair → plan → splice → commit. Each module imports only
//! from those above it in the list below; `docs/architecture.md` says why the pieces are cut
//! this way.

#![deny(missing_docs)]

pub mod error;

pub mod cancel;
pub mod dialect;
pub mod fs;
pub mod lines;
pub mod simd;

pub mod bytes;
pub mod normalize;

pub mod hash;
pub mod render;

pub mod anchor;
pub mod excerpt;
pub mod pattern;

pub mod read;
pub mod search;

pub mod request;
pub mod similarity;

pub mod resolve;

pub mod repair;

pub mod omp;

pub mod plan;
pub mod splice;

pub mod commit;

pub mod outcome;
pub mod report;

pub mod apply;
