//! What scripts of our own evaluate to, which each environment keeps.

use std::cell::RefCell;
use std::ffi::c_void;

use napi::{Env, sys};

use super::js::Js;

/// What tells scripts apart: the address of something that belongs to one kind of them, and a
/// number among its kind.
pub type Key = (usize, u64);

/// The value of a script that an environment of this thread keeps.
struct Kept {
    env: sys::napi_env,
    key: Key,
    value: sys::napi_ref,
}

thread_local! {
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// The value with a key, which a script makes once in each environment.
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
    // At the end of a thread there may be nothing left to forget.
    let _ = KEPT.try_with(|all| all.borrow_mut().retain(|kept| kept.env.cast() != env));
}
