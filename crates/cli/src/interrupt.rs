//! Handles Ctrl-C. It ends the process at once, unless the command has begun to write files. Then
//! it sets a flag, which the engine checks. The engine never stops between the first change of a
//! file and the last.

use std::sync::OnceLock;

use hashline_core::Cancel;

use crate::exit::Exit;

/// Ctrl-C calls this during work that must not be interrupted.
static STOP: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Makes Ctrl-C end the process, with the exit code of shells.
pub fn ends_the_process() {
    // If no handler can be set, the system ends the process.
    let _ = ctrlc::set_handler(|| match STOP.get() {
        Some(stop) => stop(),
        None => std::process::exit(Exit::Interrupted.code().into()),
    });
}

/// Makes Ctrl-C cancel the call, without ending the process.
pub fn asks(cancel: &Cancel) {
    let cancel = cancel.clone();
    calls(move || cancel.cancel());
}

/// Makes Ctrl-C call `stop`, without ending the process.
pub fn calls(stop: impl Fn() + Send + Sync + 'static) {
    let _ = STOP.set(Box::new(stop));
}
