//! What the patches of a session leave for the next ones, besides the memory.

use parking_lot::{Mutex, MutexGuard};
use std::path::Path;

use crate::edit::script::Registers;
use crate::edit::structure::SyntaxTrees;

/// What patches of a session leave for the next ones. It lasts as long as the session is open.
#[derive(Default)]
pub struct PatchState {
    /// What parsers made of files that were edited.
    trees: SyntaxTrees,
    /// What patches cut under a name.
    registers: Mutex<Registers>,
}

impl PatchState {
    /// A copy for another session. Trees are made again there.
    pub fn fork(&self) -> PatchState {
        PatchState { registers: Mutex::new(self.registers()), ..PatchState::default() }
    }

    fn lock_registers(&self) -> MutexGuard<'_, Registers> {
        self.registers.lock()
    }

    /// What registers hold now.
    pub fn registers(&self) -> Registers {
        self.lock_registers().clone()
    }

    /// Fills registers.
    pub fn keep(&self, registers: Vec<(String, Vec<String>)>) {
        let mut lock_registers = self.lock_registers();
        registers.into_iter().for_each(|(name, lines)| lock_registers.keep(name, lines));
    }

    /// What parsers made of files that were edited.
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
