//! The tests of the C interface.

mod contract;
mod header;
mod panics;
