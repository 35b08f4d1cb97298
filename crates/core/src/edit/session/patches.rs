//! The state that patches of a session leave for later ones, in addition to the memory.

use parking_lot::{Mutex, MutexGuard};
use std::path::Path;

use crate::edit::script::Registers;
use crate::edit::structure::SyntaxTrees;

/// The state that patches of a session leave for later ones, while the session is open.
#[derive(Default)]
pub struct PatchState {
    /// Syntax trees of files that were edited.
    trees: SyntaxTrees,
    /// Named lines that patches cut.
    registers: Mutex<Registers>,
}

impl PatchState {
    /// A copy for another session, without the trees.
    pub fn fork(&self) -> PatchState {
        PatchState { registers: Mutex::new(self.registers()), ..PatchState::default() }
    }

    fn lock_registers(&self) -> MutexGuard<'_, Registers> {
        self.registers.lock()
    }

    /// A copy of the registers.
    pub fn registers(&self) -> Registers {
        self.lock_registers().clone()
    }

    /// Fills registers.
    pub fn keep(&self, registers: Vec<(String, Vec<String>)>) {
        let mut locked = self.lock_registers();
        registers.into_iter().for_each(|(name, lines)| locked.keep(name, lines));
    }

    /// Syntax trees of files that were edited.
    pub fn trees(&self) -> &SyntaxTrees {
        &self.trees
    }

    /// Forgets what is known of a file, or everything.
    pub fn forget(&self, file: Option<&Path>) {
        match file {
            Some(file) => self.trees.keep(file.to_owned(), None),
            None => {
                self.trees.clear();
                *self.lock_registers() = Registers::default();
            }
        }
    }

    /// Bytes that registers take.
    pub fn bytes(&self) -> usize {
        self.lock_registers().bytes()
    }
}
