//! Errors and panics → a JavaScript `Error` with a `code`, thrown or as a rejection.

use std::ptr;

pub use hashline_capi::contained;
use hashline_core::{Code, Error as CoreError};
use napi::bindgen_prelude::{Either, ToNapiValue};
use napi::{Env, check_status, sys};

use super::external;
use super::js::{Js, ask, take_exception};
use super::scripts;

/// Why a call does not return a result.
#[derive(Debug)]
pub enum CallError {
    /// A refusal or an error with a code.
    Core(CoreError),
    /// Node-API failed, usually because a getter or proxy of the caller threw. Then that exception
    /// is pending.
    Napi(napi::Error),
}

pub type Result<T> = std::result::Result<T, CallError>;

impl From<CoreError> for CallError {
    fn from(error: CoreError) -> CallError {
        CallError::Core(error)
    }
}

impl From<napi::Error> for CallError {
    fn from(error: napi::Error) -> CallError {
        CallError::Napi(error)
    }
}

impl CallError {
    /// The JavaScript exception: the caller's own if one is pending, otherwise an error with a
    /// code.
    pub fn into_js(self, env: &Env) -> napi::Result<Js<'_>> {
        if let Some(exception) = take_exception(env) {
            return Ok(exception);
        }
        match self {
            CallError::Core(error) => error_object(env, &error, None),
            CallError::Napi(error) => {
                let message = format!("Node-API failed: {} {}", error.status, error.reason);
                error_object(env, &CoreError::new(Code::Internal, message), None)
            }
        }
    }

    /// Throws into JavaScript and returns the error that reports this to napi.
    pub fn throw(self, env: &Env) -> napi::Error {
        self.into_js(env).map_or_else(|failed| failed, Js::throw)
    }
}

/// The source of the class `HashlineError`.
const CLASS: &str = include_str!("../js/error.cjs");

/// The class `HashlineError` of an environment.
pub fn error_class(env: &Env) -> napi::Result<Js<'_>> {
    scripts::kept(env, (CLASS.as_ptr().addr(), 0), || {
        let source =
            format!("((module) => {{{CLASS}\nreturn module.exports.HashlineError}})({{}})");
        Js::run_script(env, &source)
    })
}

/// A `HashlineError`. For an aborted call, the cause is the signal's reason.
pub fn error_object<'env>(
    env: &'env Env,
    error: &CoreError,
    cause: Option<Js<'env>>,
) -> napi::Result<Js<'env>> {
    let message = Js::from_rust(env, error.message.as_str())?;
    let code = Js::from_rust(env, error.code.as_str())?;
    let path = Js::from_rust(env, error.path.as_deref().map_or(Either::B(()), Either::A))?;
    let mut arguments = vec![message.raw(), code.raw(), path.raw()];
    arguments.extend(cause.map(Js::raw));
    error_class(env)?.construct(&arguments)
}

/// A promise that is rejected already.
pub fn rejected<'env>(env: &'env Env, reason: Js<'_>) -> napi::Result<Js<'env>> {
    let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
    ask!(napi_create_promise(env.raw(), &raw mut deferred; promise))?;
    // SAFETY: The deferred was just made, and is settled here alone.
    check_status!(unsafe { sys::napi_reject_deferred(env.raw(), deferred, reason.raw()) })?;
    Ok(Js::new(env.raw(), promise))
}

/// Runs a synchronous call: its result, or an exception. Then reports external memory to the
/// engine, which is allowed even while an exception is pending.
pub fn returned<T: ToNapiValue>(
    env: &Env,
    work: impl FnOnce() -> Result<T>,
) -> napi::Result<Js<'_>> {
    let answered = contained(|| Ok(Js::from_rust(env, work()?)?));
    external::report(env)?;
    answered.map_err(|error: CallError| error.throw(env))
}
