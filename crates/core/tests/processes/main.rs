//! Tests that start processes. They are a separate program, because a child inherits every open
//! file until it executes its own program, including the locks of journals, which would affect the
//! tests of `all`.

#[path = "../support/mod.rs"]
mod support;

use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

mod crash;
mod rights;
mod state;
mod syscalls;

/// Held while a process is started, and by a test that leaves the journal of an interrupted patch:
/// a child that inherits the lock of that journal would make it appear active.
static STARTS: Mutex<()> = Mutex::new(());

fn hold_starts() -> MutexGuard<'static, ()> {
    STARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(command: &mut Command) -> io::Result<Child> {
    let _starts = hold_starts();
    command.spawn()
}
