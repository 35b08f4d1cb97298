//! The tools over a session, as a front end calls them: what a model wrote → an answer.

mod calls;
mod properties;
mod support;
mod vectors;
