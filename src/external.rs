//! External strings: JavaScript strings that refer to memory of this library instead of a copy. The
//! engine calls a finalizer when it no longer uses the memory.
//!
//! In an answer of many views, copying strings is most of the work left for the JavaScript thread.
//! A very long text would also take its memory twice.
//!
//! The functions are part of Node-API 10, which is newer than the addon requires, so they are
//! resolved when the first external string is created. Only Node gets such strings: Bun up to 1.1
//! finalized strings that were still referenced, and later versions free nothing while a program is
//! busy. Only on Linux: there the library is linked to stay loaded, and a string can outlive the
//! environment (such as a worker) that created it.
//!
//! The engine's collector decides when to finalize, which may be late. So a process shares at most
//! a fixed number of bytes at a time; strings beyond that are copied.
//!
//! External memory is reported per thread, because each Node thread has its own engine.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use napi::{Env, sys};

use super::js::ask;

/// The most bytes in external strings of a process at a time. A program that keeps every string
/// holds at most this much memory outside of the engine's heap.
const LIMIT_BYTES: usize = 128 << 20;

/// The external strings of all threads.
static BUDGET: Budget = Budget::new(LIMIT_BYTES);

/// The Node-API function for one kind of characters.
type Create<Unit> = unsafe extern "C" fn(
    env: sys::napi_env,
    characters: *mut Unit,
    len: usize,
    finalize: sys::napi_finalize,
    hint: *mut c_void,
    result: *mut sys::napi_value,
    copied: *mut bool,
) -> sys::napi_status;

/// The code units of a JavaScript string.
pub trait Unit: Copy + 'static {
    /// The Node-API function, if the host has it.
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
        // SAFETY: `dlsym` runs no code of this library, and the name is a C string.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    };
    // `node::Start` of node.h, which only Node exports. The host's own reports are not enough: Bun
    // claims to be Node in `napi_get_node_version` and `process.release.name`. Testing
    // `process.versions` for other hosts would miss unknown ones, which must get copies.
    address(c"_ZN4node5StartEiPPc")?;
    let address = address(name)?;
    // SAFETY: In Node the symbol of this name is the function that the type describes: Node-API
    // keeps signatures for good, and this one was the same while it was experimental.
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

/// Creates an external string. Returns the characters if the host does not support such strings, or
/// if the limit is reached. A host that cannot refer to foreign memory copies the characters and
/// calls the finalizer at once.
pub fn create_string<T: Unit>(env: &Env, text: Vec<T>) -> Result<sys::napi_value, Vec<T>> {
    match T::create() {
        // SAFETY: The function is that of Node-API, and a live `Env` is that of a running call.
        Some(create) if !text.is_empty() => unsafe {
            create_with(create, env.raw(), text, &BUDGET)
        },
        _ => Err(text),
    }
}

/// # Safety
///
/// `create` behaves as Node-API specifies: if it succeeds, it calls the finalizer once, at any time
/// and on any thread, and does not use the characters afterwards; if it fails, it does neither.
/// `env` is valid for `create`.
unsafe fn create_with<T: Unit>(
    create: Create<T>,
    env: sys::napi_env,
    mut text: Vec<T>,
    budget: &'static Budget,
) -> Result<sys::napi_value, Vec<T>> {
    let (characters, len) = (text.as_mut_ptr(), text.len());
    let size_bytes = capacity_bytes(&text);
    let Some(reservation) = budget.reserve(size_bytes) else {
        return Err(text);
    };
    let string = Box::new(ExternalString { text, reservation, freed: FREED.with(Arc::clone) });
    let hint = Box::into_raw(string);
    let mut raw = ptr::null_mut();
    // Not needed: the host calls the finalizer for a copy as well.
    let copied = ptr::null_mut();
    // SAFETY: As the caller promises. The characters are on the heap and do not move before
    // `finalize` frees them.
    let status = unsafe {
        create(env, characters, len, Some(finalize::<T>), hint.cast(), &raw mut raw, copied)
    };
    if status != sys::Status::napi_ok {
        // SAFETY: The host did not use the hint.
        return Err(unsafe { Box::from_raw(hint) }.text);
    }
    ADDED.set(ADDED.get() + size_bytes as i64);
    Ok(raw)
}

/// The memory that a string occupies, which can exceed its characters.
fn capacity_bytes<T>(text: &Vec<T>) -> usize {
    text.capacity() * size_of::<T>()
}

/// Counts the bytes of external strings, up to a limit.
struct Budget {
    used_bytes: AtomicUsize,
    limit_bytes: usize,
}

/// Bytes reserved in a budget until this is dropped.
struct Reservation {
    budget: &'static Budget,
    size_bytes: usize,
}

impl Budget {
    const fn new(limit_bytes: usize) -> Budget {
        Budget { used_bytes: AtomicUsize::new(0), limit_bytes }
    }

    /// Reserves bytes if that stays within the limit.
    fn reserve(&'static self, size_bytes: usize) -> Option<Reservation> {
        let sum = |used: usize| used.checked_add(size_bytes).filter(|&sum| sum <= self.limit_bytes);
        // The count does not order other memory accesses.
        let reserved = self.used_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        reserved.ok().map(|_| Reservation { budget: self, size_bytes })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.used_bytes.fetch_sub(self.size_bytes, Ordering::Relaxed);
    }
}

/// Characters that the host refers to. Fields are dropped in declaration order, so the memory is
/// free before the reservation ends.
struct ExternalString<T> {
    text: Vec<T>,
    /// Dropped with the string, which ends the reservation.
    #[expect(dead_code, reason = "dropped, not read")]
    reservation: Reservation,
    /// The counter of the thread that created the string.
    freed: Arc<AtomicI64>,
}

thread_local! {
    /// The bytes of external memory that this thread has added since its last report.
    static ADDED: Cell<i64> = const { Cell::new(0) };
    /// The bytes of this memory that any thread has freed since then.
    static FREED: Arc<AtomicI64> = Arc::default();
}

/// Memory that an engine object keeps alive outside of the engine's heap. Without this report the
/// collector sees only small objects and rarely runs.
pub struct ExternalMemory {
    reported_bytes: Cell<i64>,
    /// The counter of the thread that reported.
    freed: Arc<AtomicI64>,
}

impl Default for ExternalMemory {
    fn default() -> ExternalMemory {
        ExternalMemory { reported_bytes: Cell::new(0), freed: FREED.with(Arc::clone) }
    }
}

impl ExternalMemory {
    /// Records the current size for the next report. Call it on the thread that created the object.
    pub fn set(&self, bytes: usize) {
        let bytes = bytes as i64;
        ADDED.set(ADDED.get() + bytes - self.reported_bytes.replace(bytes));
    }
}

impl Drop for ExternalMemory {
    fn drop(&mut self) {
        self.freed.fetch_add(self.reported_bytes.get(), Ordering::Relaxed);
    }
}

/// Reports to the engine how much external memory was added or freed since the last report. The
/// engine counts external strings itself, but does not start a collection because of them.
/// Finalizers do not report, because they run during a collection.
pub fn report(env: &Env) -> napi::Result<()> {
    let change = take_change();
    if change != 0 {
        let mut total = 0;
        ask!(napi_adjust_external_memory(env.raw(), change; total))?;
    }
    Ok(())
}

/// The change in external memory since the last report, in bytes.
fn take_change() -> i64 {
    ADDED.take() - FREED.with(|freed| freed.swap(0, Ordering::Relaxed))
}

/// Called by the host, during a collection or later, on any thread. Does not use the environment,
/// which may be gone.
unsafe extern "C" fn finalize<T: Unit>(_: sys::napi_env, _: *mut c_void, hint: *mut c_void) {
    // SAFETY: The hint is the box that `create` gave away, and this is its only use.
    let string = unsafe { Box::from_raw(hint.cast::<ExternalString<T>>()) };
    let size_bytes = capacity_bytes(&string.text);
    string.freed.fetch_add(size_bytes as i64, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    type Finalize = (sys::napi_finalize, usize, usize);

    /// The finalizers that a host still has to call.
    static HELD: Mutex<Vec<Finalize>> = Mutex::new(Vec::new());

    /// How a host treats the characters.
    #[derive(Clone, Copy)]
    enum Behaviour {
        Refuse,
        Copy,
        Hold,
    }

    thread_local! {
        static BEHAVIOUR: Cell<Behaviour> = const { Cell::new(Behaviour::Refuse) };
    }

    unsafe extern "C" fn host(
        env: sys::napi_env,
        characters: *mut u16,
        len: usize,
        finalize: sys::napi_finalize,
        hint: *mut c_void,
        _: *mut sys::napi_value,
        _: *mut bool,
    ) -> sys::napi_status {
        // SAFETY: The test passes `len` characters.
        let text = unsafe { std::slice::from_raw_parts(characters, len) };
        assert!(text.iter().all(|&unit| unit == 7));
        match BEHAVIOUR.get() {
            Behaviour::Refuse => return sys::Status::napi_generic_failure,
            // SAFETY: The finalizer is called once.
            Behaviour::Copy => unsafe {
                finalize.expect("a function")(env, characters.cast(), hint);
            },
            Behaviour::Hold => {
                HELD.lock().unwrap().push((finalize, characters as usize, hint as usize));
            }
        }
        sys::Status::napi_ok
    }

    /// Creates an external string of 200 bytes.
    fn create_in(
        behaviour: Behaviour,
        budget: &'static Budget,
    ) -> Result<sys::napi_value, Vec<u16>> {
        BEHAVIOUR.set(behaviour);
        // SAFETY: `host` behaves as required and does not use the environment.
        unsafe { create_with(host, ptr::null_mut(), vec![7; 100], budget) }
    }

    fn used_bytes(budget: &Budget) -> usize {
        budget.used_bytes.load(Ordering::Relaxed)
    }

    #[test]
    fn a_host_that_refuses_returns_the_characters() {
        static BUDGET: Budget = Budget::new(200);
        for _ in 0..2 {
            assert_eq!(create_in(Behaviour::Refuse, &BUDGET), Err(vec![7; 100]));
            assert_eq!((take_change(), used_bytes(&BUDGET)), (0, 0));
        }
    }

    #[test]
    fn a_host_that_copies_leaves_nothing_reserved() {
        static BUDGET: Budget = Budget::new(200);
        for _ in 0..2 {
            assert!(create_in(Behaviour::Copy, &BUDGET).is_ok());
            assert_eq!((take_change(), used_bytes(&BUDGET)), (0, 0));
        }
    }

    #[test]
    fn a_reservation_lasts_until_any_thread_finalizes_the_string() {
        static BUDGET: Budget = Budget::new(599);
        let hold = || create_in(Behaviour::Hold, &BUDGET);
        assert!(hold().is_ok() && hold().is_ok());
        assert_eq!(take_change(), 400);
        assert_eq!(hold(), Err(vec![7; 100]), "over the limit");
        assert_eq!((take_change(), used_bytes(&BUDGET)), (0, 400));
        let return_all = || {
            for (finalize, characters, hint) in HELD.lock().unwrap().drain(..) {
                let (characters, hint) = (characters as *mut c_void, hint as *mut c_void);
                // SAFETY: The finalizer is called once, and does not use the environment.
                unsafe { finalize.expect("a function")(ptr::null_mut(), characters, hint) };
            }
        };
        std::thread::scope(|scope| scope.spawn(return_all).join().expect("no panic"));
        assert_eq!((take_change(), used_bytes(&BUDGET)), (-400, 0));
        assert!(hold().is_ok(), "finalized bytes are available again");
        return_all();
    }

    #[test]
    fn regression_memory_of_an_object_is_reported_until_it_is_dropped() {
        let memory = ExternalMemory::default();
        memory.set(1000);
        assert_eq!(take_change(), 1000);
        memory.set(1000);
        assert_eq!(take_change(), 0);
        memory.set(300);
        assert_eq!(take_change(), -700);
        drop(memory);
        assert_eq!(take_change(), -300);
    }

    #[test]
    fn concurrent_reservations_stay_within_the_limit() {
        static BUDGET: Budget = Budget::new(1000);
        let take = || std::iter::from_fn(|| BUDGET.reserve(7)).take(1000).collect::<Vec<_>>();
        let taken: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            let all: Vec<_> = threads.into_iter().map(|it| it.join().expect("no panic")).collect();
            assert!(BUDGET.reserve(7).is_none() && BUDGET.reserve(usize::MAX).is_none());
            all.iter().map(Vec::len).sum()
        });
        assert_eq!((taken, used_bytes(&BUDGET)), (142, 0));
        assert!(BUDGET.reserve(1000).is_some() && BUDGET.reserve(1001).is_none());
    }
}
