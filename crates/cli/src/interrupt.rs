//! Ctrl-C. It ends the process at once as long as the command has not begun to write files. After
//! that it sets a flag, which the engine checks. The engine never stops between the first change of
//! a file and the last.

use std::sync::OnceLock;

use hashline_core::Cancel;

use crate::exit::Exit;

/// What Ctrl-C calls while there is work that must not be cut off.
static STOP: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// From now on Ctrl-C ends the process, with the exit code that shells know.
pub fn ends_the_process() {
    // Where no handler can be set, the system ends the process.
    let _ = ctrlc::set_handler(|| match STOP.get() {
        Some(stop) => stop(),
        None => std::process::exit(Exit::Interrupted.code().into()),
    });
}

/// From now on Ctrl-C asks the call with this flag to stop, and nothing more.
pub fn asks(cancel: &Cancel) {
    let cancel = cancel.clone();
    calls(move || cancel.cancel());
}

/// From now on Ctrl-C calls this, and nothing more.
pub fn calls(stop: impl Fn() + Send + Sync + 'static) {
    let _ = STOP.set(Box::new(stop));
}
