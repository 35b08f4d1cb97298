//! Panics → errors, where the library meets the process that it lives in: of somebody who calls it in
//! C, or of Node.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use hashline_core::{Code, Error};

/// Runs `work`; a panic becomes [`Code::Internal`] instead of the end of the host
/// process.
pub fn contained<T, E: From<Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    be_silent();
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let message = format!("a bug in the engine: {}", panic_message(&*payload));
        Err(Error::new(Code::Internal, message).into())
    })
}

/// Lets panics print nothing: every one of this library is contained, what is known of it is in
/// its error, and the host's stderr is no place for paths of the build. (The hook is this
/// library's own: it has its own copy of the standard library, and so has any other addon.)
fn be_silent() {
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
