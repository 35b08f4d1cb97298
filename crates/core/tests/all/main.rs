//! Tests of the core through its public interface. They are one program, because each further
//! program is linked separately. Tests that start processes are in `processes`.

#[cfg(any(target_os = "linux", windows))]
#[path = "../support/disk.rs"]
mod disk;
#[path = "../../../memory/tests/habits/mod.rs"]
mod habits;
#[path = "../support/mod.rs"]
mod support;

mod annotate;
mod answers;
mod apply;
mod cancel;
mod changes;
mod code_blocks;
mod control_characters;
mod directory;
mod documents;
mod enclosing;
mod encodings;
mod faults;
mod folds;
mod hostile;
mod json;
mod lean;
mod long_lines;
mod moves;
mod near_names;
mod offers;
mod partly_shown;
mod plans;
mod power;
mod read;
mod recovery;
mod reindented;
mod replaced_files;
mod scripts;
mod search;
mod session;
mod session_store;
mod settle;
mod shapes;
mod symbols;
mod syntax;
mod tags;
mod undo;
