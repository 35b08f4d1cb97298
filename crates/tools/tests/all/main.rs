//! The tools over a session, called as a front end calls them.

mod calls;
mod encodings;
mod preview;
mod properties;
mod support;
mod vectors;
