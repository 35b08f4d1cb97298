//! The tests of the program, as its users run it.

#[path = "../support/mod.rs"]
mod support;

#[cfg(unix)]
mod after;
mod annotate;
mod ask;
mod bindings;
mod files;
mod hooks;
mod mcp;
mod served;
mod sessions;
mod setup;
mod setup_agents;
mod streams;
mod tools;
