//! The tests that start processes. They are a program of their own: until a child runs its own
//! program it has a copy of every open file, and of the locks of journals with them, which the
//! tests of `all` would meet.

#[path = "../support/mod.rs"]
mod support;

use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

mod crash;
mod rights;
mod state;
mod syscalls;

/// Held while a process is started, and by a test whose interrupted patch leaves a journal: a child
/// that got a copy of that journal's lock would make it look like a live one.
static STARTS: Mutex<()> = Mutex::new(());

fn hold_starts() -> MutexGuard<'static, ()> {
    STARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(command: &mut Command) -> io::Result<Child> {
    let _starts = hold_starts();
    command.spawn()
}
