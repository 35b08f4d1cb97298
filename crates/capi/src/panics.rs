//! Converts panics to errors at the boundary to the host process: Node, or any program that calls
//! the C interface.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use hashline_core::{Code, Error};

/// Runs `work`; a panic becomes [`Code::Internal`] instead of aborting the host process.
pub fn contained<T, E: From<Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    silence_panics();
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let message = format!("a bug in the engine: {}", panic_message(&*payload));
        Err(Error::new(Code::Internal, message).into())
    })
}

/// Disables the output of panics: they all become errors with their message, and paths of the build
/// do not belong in the host's stderr. (This does not affect the host or other addons: each library
/// has its own copy of the standard library, and so its own hook.)
fn silence_panics() {
    static SILENT: Once = Once::new();
    SILENT.call_once(|| std::panic::set_hook(Box::new(|_| {})));
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(message), _) => message,
        (_, Some(message)) => message,
        _ => "a panic without message",
    }
}
