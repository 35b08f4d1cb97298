//! What goes wrong → a JavaScript `Error` with `code`, thrown or as a rejection.

use std::ptr;

pub use hashline_core::guard;
use hashline_core::{Code, Error as CoreError};
use napi::bindgen_prelude::ToNapiValue;
use napi::{Env, check_status, sys};

use super::external;
use super::js::{Js, ask, take_exception};

/// Why a call does not return a result.
#[derive(Debug)]
pub enum Fault {
    /// A refusal or fault with a code.
    Refused(CoreError),
    /// Node-API failed. Mostly since a getter or proxy of the caller threw; then that exception
    /// is pending.
    Napi(napi::Error),
}

pub type Result<T> = std::result::Result<T, Fault>;

impl From<CoreError> for Fault {
    fn from(error: CoreError) -> Fault {
        Fault::Refused(error)
    }
}

impl From<napi::Error> for Fault {
    fn from(error: napi::Error) -> Fault {
        Fault::Napi(error)
    }
}

impl Fault {
    /// What JavaScript gets to see: the caller's own exception, or an error with a code.
    pub fn into_js(self, env: &Env) -> napi::Result<Js<'_>> {
        if let Some(exception) = take_exception(env) {
            return Ok(exception);
        }
        match self {
            Fault::Refused(error) => error_object(env, &error, None),
            Fault::Napi(error) => {
                let message = format!("Node-API failed: {} {}", error.status, error.reason);
                error_object(env, &CoreError::new(Code::Internal, message), None)
            }
        }
    }

    /// Throws into JavaScript; the result says so to the caller in Rust.
    pub fn throw(self, env: &Env) -> napi::Error {
        self.into_js(env).map_or_else(|failed| failed, Js::throw)
    }
}

/// An `Error` with `code`, `path` where there is one, and for `ABORTED` the name and the cause
/// that callers of an `AbortController` know.
pub fn error_object<'env>(
    env: &'env Env,
    error: &CoreError,
    cause: Option<Js<'env>>,
) -> napi::Result<Js<'env>> {
    let code = Js::from_rust(env, error.code.as_str())?;
    let message = Js::from_rust(env, error.message.as_str())?;
    let mut raw = ptr::null_mut();
    ask!(napi_create_error(env.raw(), code.raw(), message.raw(); raw))?;
    let object = Js::new(env.raw(), raw);
    let hidden = sys::PropertyAttributes::writable | sys::PropertyAttributes::configurable;
    let shown = hidden | sys::PropertyAttributes::enumerable;
    if let Some(path) = &error.path {
        define(env, object, c"path", Js::from_rust(env, path)?, shown)?;
    }
    if error.code == Code::Aborted {
        let name = Js::from_rust(env, "AbortError")?;
        define(env, object, c"name", name, hidden)?;
    }
    if let Some(cause) = cause {
        define(env, object, c"cause", cause, hidden)?;
    }
    Ok(object)
}

fn define(
    env: &Env,
    object: Js<'_>,
    name: &std::ffi::CStr,
    value: Js<'_>,
    attributes: sys::napi_property_attributes,
) -> napi::Result<()> {
    let property = sys::napi_property_descriptor {
        utf8name: name.as_ptr(),
        name: ptr::null_mut(),
        method: None,
        getter: None,
        setter: None,
        value: value.raw(),
        attributes,
        data: ptr::null_mut(),
    };
    // SAFETY: The name outlives the call, and the handles are of the running call.
    check_status!(unsafe {
        sys::napi_define_properties(env.raw(), object.raw(), 1, &raw const property)
    })
}

/// A promise that is rejected already.
pub fn rejected<'env>(env: &'env Env, reason: Js<'_>) -> napi::Result<Js<'env>> {
    let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
    ask!(napi_create_promise(env.raw(), &raw mut deferred; promise))?;
    // SAFETY: The deferred was just made, and is settled here alone.
    check_status!(unsafe { sys::napi_reject_deferred(env.raw(), deferred, reason.raw()) })?;
    Ok(Js::new(env.raw(), promise))
}

/// Runs a synchronous call: its result, or an exception. Tells the engine what was lent to it,
/// which it may ask for whether or not an exception waits.
pub fn returned<T: ToNapiValue>(
    env: &Env,
    work: impl FnOnce() -> Result<T>,
) -> napi::Result<Js<'_>> {
    let answered = guard(|| Ok(Js::from_rust(env, work()?)?));
    external::report(env)?;
    answered.map_err(|fault: Fault| fault.throw(env))
}
