//! A cache of the values that scripts of this library evaluate to, in each environment.

use std::cell::RefCell;
use std::ffi::c_void;

use napi::{Env, sys};

use super::js::Js;

/// Identifies a script: an address that belongs to its kind, and a number within the kind.
pub type Key = (usize, u64);

/// A cached value of an environment of this thread.
struct Kept {
    env: sys::napi_env,
    key: Key,
    value: sys::napi_ref,
}

thread_local! {
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// The cached value of a key. The script runs once in each environment.
pub fn kept<'env>(
    env: &'env Env,
    key: Key,
    make: impl FnOnce() -> napi::Result<Js<'env>>,
) -> napi::Result<Js<'env>> {
    let known = KEPT.with_borrow(|all| {
        all.iter().find(|kept| kept.env == env.raw() && kept.key == key).map(|kept| kept.value)
    });
    if let Some(value) = known {
        return Js::referred_to(env, value);
    }
    let made = make()?;
    let value = made.refer()?;
    if !KEPT.with_borrow(|all| all.iter().any(|kept| kept.env == env.raw())) {
        let hook: unsafe extern "C" fn(*mut c_void) = forget;
        // SAFETY: The environment is that of the running call; the hook takes its address.
        napi::check_status!(unsafe {
            sys::napi_add_env_cleanup_hook(env.raw(), Some(hook), env.raw().cast())
        })?;
    }
    KEPT.with_borrow_mut(|all| all.push(Kept { env: env.raw(), key, value }));
    Ok(made)
}

/// Runs when an environment ends, which deletes its references itself.
unsafe extern "C" fn forget(env: *mut c_void) {
    // At the end of a thread the cache may already be gone.
    let _ = KEPT.try_with(|all| all.borrow_mut().retain(|kept| kept.env.cast() != env));
}
