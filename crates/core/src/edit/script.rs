//! Patches in oh-my-pi's language, as `crates/omp` parses them → operations. `lower` converts the
//! sections; `registers` are what a session keeps between patches.

mod lower;
mod registers;

pub use lower::{LoweredScript, lower};
pub use registers::Registers;

#[cfg(test)]
mod tests;
