//! Patches in oh-my-pi's language, as `crates/omp` reads them → operations. `lower` makes them of the
//! sections; `registers` are what a session keeps.

mod lower;
mod registers;

pub use lower::{LoweredScript, lower};
pub use registers::Registers;

#[cfg(test)]
mod tests;
