//! Long strings that the host does not copy: it refers to the characters where they are, and gives
//! them back when nobody has the string any more. In an answer of many views, copying them is
//! most of what is left to do on the one thread that may make values.
//!
//! The functions are part of Node-API 10, which is more than the addon asks of a host, so they
//! are looked up when the first long string is made. Node alone gets such strings: Bun up to 1.1
//! gave characters back while strings still referred to them, and later ones free nothing as
//! long as a program does not wait. Linux only: there the library is linked to stay loaded, and a
//! string can outlive the environment (of a worker) that made it.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock};

use napi::sys;

use super::js::ask;

/// The Node-API function for one kind of characters.
type Create<Unit> = unsafe extern "C" fn(
    env: sys::napi_env,
    characters: *mut Unit,
    len: usize,
    give_back: sys::napi_finalize,
    hint: *mut c_void,
    result: *mut sys::napi_value,
    copied: *mut bool,
) -> sys::napi_status;

/// What a string of JavaScript is made of.
pub trait Unit: Copy + 'static {
    /// The function of the host, if it has one.
    fn create() -> Option<Create<Self>>;
}

impl Unit for u8 {
    fn create() -> Option<Create<u8>> {
        static FOUND: LazyLock<Option<Create<u8>>> =
            LazyLock::new(|| find(c"node_api_create_external_string_latin1"));
        *FOUND
    }
}

impl Unit for u16 {
    fn create() -> Option<Create<u16>> {
        static FOUND: LazyLock<Option<Create<u16>>> =
            LazyLock::new(|| find(c"node_api_create_external_string_utf16"));
        *FOUND
    }
}

#[cfg(target_os = "linux")]
fn find<T: Unit>(name: &CStr) -> Option<Create<T>> {
    let address = |name: &CStr| {
        // SAFETY: The name ends with NUL.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    };
    // `node::Start`, which nobody else exports.
    address(c"_ZN4node5StartEiPPc")?;
    let address = address(name)?;
    // SAFETY: In Node the symbol of this name is the function that the type describes.
    Some(unsafe { std::mem::transmute::<*mut c_void, Create<T>>(address) })
}

#[cfg(not(target_os = "linux"))]
fn find<T: Unit>(_: &CStr) -> Option<Create<T>> {
    None
}

/// Whether the host makes such strings.
pub fn is_available() -> bool {
    <u8 as Unit>::create().is_some() && <u16 as Unit>::create().is_some()
}

/// A string of the given characters; they come back if the host makes no such strings. A host
/// that cannot refer to foreign memory copies them and gives them back at once.
pub fn create<T: Unit>(env: sys::napi_env, mut text: Vec<T>) -> Result<sys::napi_value, Vec<T>> {
    let Some(create) = T::create().filter(|_| !text.is_empty()) else {
        return Err(text);
    };
    // What a buffer has room for beyond the text is held as long as the string lives.
    if text.capacity() - text.len() > text.len() / 8 {
        text.shrink_to_fit();
    }
    let (characters, len) = (text.as_mut_ptr(), text.len());
    let loan = Loan { text, returned: RETURNED.with(Arc::clone) };
    let hint = Box::into_raw(Box::new(loan));
    let (mut raw, mut copied) = (ptr::null_mut(), false);
    // SAFETY: `env` is the environment of the running call. The characters stay where they are
    // until `give_back` takes them, which the host calls once if it succeeds, else never.
    unsafe {
        let finalize: sys::napi_finalize = Some(give_back::<T>);
        let status =
            create(env, characters, len, finalize, hint.cast(), &raw mut raw, &raw mut copied);
        if status != sys::Status::napi_ok {
            return Err(Box::from_raw(hint).text);
        }
    }
    LENT.set(LENT.get() + (len * size_of::<T>()) as i64);
    Ok(raw)
}

/// Characters that the host has.
struct Loan<T> {
    text: Vec<T>,
    /// The count of the thread that lent them.
    returned: Arc<AtomicI64>,
}

thread_local! {
    /// Bytes lent to the host of this thread, and of those the ones it returned; both since the
    /// last report.
    static LENT: Cell<i64> = const { Cell::new(0) };
    static RETURNED: Arc<AtomicI64> = Arc::default();
}

/// Tells the engine how much memory hangs on its strings by now, of which it knows only their
/// heads: without that it would see no reason to collect them. Not done when they are returned,
/// since that is in the middle of a collection.
pub fn report(env: sys::napi_env) -> napi::Result<()> {
    let returned = RETURNED.with(|returned| returned.swap(0, Ordering::Relaxed));
    let change = LENT.take() - returned;
    if change != 0 {
        let mut total = 0;
        ask!(napi_adjust_external_memory(env, change; total))?;
    }
    Ok(())
}

/// Called by the host, during a collection or later, on whatever thread; it makes no use of
/// the environment, which may be gone.
unsafe extern "C" fn give_back<T: Unit>(_: sys::napi_env, _: *mut c_void, hint: *mut c_void) {
    // SAFETY: The hint is the box that `create` gave away, and this is its only use.
    let loan = unsafe { Box::from_raw(hint.cast::<Loan<T>>()) };
    let size_bytes = size_of_val(&loan.text[..]) as i64;
    loan.returned.fetch_add(size_bytes, Ordering::Relaxed);
}
