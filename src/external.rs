//! Long strings that the host does not copy: it refers to the characters where they are, and gives
//! them back when nobody has the string any more. In an answer of many views, copying them is
//! most of what is left to do on the one thread that may make values; and a very long text would
//! take its memory twice.
//!
//! The functions are part of Node-API 10, which is more than the addon asks of a host, so they
//! are looked up when the first long string is made. Node alone gets such strings: Bun up to 1.1
//! gave characters back while strings still referred to them, and later ones free nothing as
//! long as a program does not wait. Linux only: there the library is linked to stay loaded, and a
//! string can outlive the environment (of a worker) that made it.
//!
//! When they come back is up to the engine's collector, which may take its time. So no more than a
//! fixed number of bytes is lent at once in a whole process; what does not fit there is copied.
//!
//! What the engine is told about is counted by thread, since Node has one engine on each.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use napi::{Env, sys};

use super::js::ask;

/// So many bytes of a process are lent and not yet returned at most: a program that keeps every
/// string it is given pays no more than this for room that the engine does not manage.
const LENT_LIMIT_BYTES: usize = 128 << 20;

/// What all threads of the process have lent.
static LENDING: Account = Account::new(LENT_LIMIT_BYTES);

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
        // SAFETY: Looking a name up runs no code of ours, and the name is a C string.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    };
    // `node::Start` of node.h, which no other host exports. What hosts report is not enough: Bun
    // is Node to `napi_get_node_version` and in `process.release.name`. Only what is absent from
    // `process.versions` would be left to check, and a host that is not known yet must get copies.
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

/// A string of the given characters; they come back if the host makes no such strings, or if too
/// much is lent already. A host that cannot refer to foreign memory copies them and gives them
/// back at once.
pub fn lend<T: Unit>(env: &Env, text: Vec<T>) -> Result<sys::napi_value, Vec<T>> {
    match T::create() {
        // SAFETY: The function is that of Node-API, and a live `Env` is that of a running call.
        Some(create) if !text.is_empty() => unsafe { lend_with(create, env.raw(), text, &LENDING) },
        _ => Err(text),
    }
}

/// # Safety
///
/// `create` keeps the promises of Node-API: if it succeeds it calls the function it is given once,
/// at any time and on any thread, and makes no use of the characters afterwards; if it fails it
/// does neither. `env` is one that it takes.
unsafe fn lend_with<T: Unit>(
    create: Create<T>,
    env: sys::napi_env,
    mut text: Vec<T>,
    account: &'static Account,
) -> Result<sys::napi_value, Vec<T>> {
    let (characters, len) = (text.as_mut_ptr(), text.len());
    let size_bytes = room_bytes(&text);
    let Some(entry) = account.enter(size_bytes) else {
        return Err(text);
    };
    let loan = Box::new(Loan { text, entry, returned: RETURNED.with(Arc::clone) });
    let hint = Box::into_raw(loan);
    let mut raw = ptr::null_mut();
    // Not asked for: a copy is given back like anything else.
    let copied = ptr::null_mut();
    // SAFETY: As the caller promises. The characters are on the heap and stay until
    // `give_back` takes them.
    let status = unsafe {
        create(env, characters, len, Some(give_back::<T>), hint.cast(), &raw mut raw, copied)
    };
    if status != sys::Status::napi_ok {
        // SAFETY: The host made no use of the hint.
        return Err(unsafe { Box::from_raw(hint) }.text);
    }
    LENT.set(LENT.get() + size_bytes as i64);
    Ok(raw)
}

/// What a string keeps from being used otherwise, which can be more than its characters.
fn room_bytes<T>(text: &Vec<T>) -> usize {
    text.capacity() * size_of::<T>()
}

/// Bytes that are lent at the same time, within a limit.
struct Account {
    lent_bytes: AtomicUsize,
    limit_bytes: usize,
}

/// Bytes of an account, until this is dropped.
struct Entry {
    account: &'static Account,
    size_bytes: usize,
}

impl Account {
    const fn new(limit_bytes: usize) -> Account {
        Account { lent_bytes: AtomicUsize::new(0), limit_bytes }
    }

    /// Enters so many bytes if that keeps the account within its limit.
    fn enter(&'static self, size_bytes: usize) -> Option<Entry> {
        let sum = |lent: usize| lent.checked_add(size_bytes).filter(|&sum| sum <= self.limit_bytes);
        // A count that orders no other memory.
        let entered = self.lent_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        entered.ok().map(|_| Entry { account: self, size_bytes })
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.account.lent_bytes.fetch_sub(self.size_bytes, Ordering::Relaxed);
    }
}

/// Characters that the host has. The fields are dropped in this order, so the memory is free
/// before the account says so.
struct Loan<T> {
    text: Vec<T>,
    /// Never read: what it holds ends with the loan.
    #[expect(dead_code, reason = "dropped, not read")]
    entry: Entry,
    /// The count of the thread that lent them.
    returned: Arc<AtomicI64>,
}

thread_local! {
    /// Bytes lent to the host of this thread, and of those the ones it returned; both since the
    /// last report.
    static LENT: Cell<i64> = const { Cell::new(0) };
    static RETURNED: Arc<AtomicI64> = Arc::default();
}

/// What an object of the engine holds outside of it: a collector that does not know sees small
/// objects, and is in no hurry.
pub struct Weight {
    told_bytes: Cell<i64>,
    /// The count of the thread that told.
    returned: Arc<AtomicI64>,
}

impl Default for Weight {
    fn default() -> Weight {
        Weight { told_bytes: Cell::new(0), returned: RETURNED.with(Arc::clone) }
    }
}

impl Weight {
    /// Notes what the object holds now, for the next report. On the thread that made it.
    pub fn set(&self, bytes: usize) {
        let bytes = bytes as i64;
        LENT.set(LENT.get() + bytes - self.told_bytes.replace(bytes));
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.returned.fetch_add(self.told_bytes.get(), Ordering::Relaxed);
    }
}

/// Tells the engine how much memory its strings took or returned since the last time. It counts
/// such strings, but would collect none for their sake. Not done when they are returned, since
/// that is in the middle of a collection.
pub fn report(env: &Env) -> napi::Result<()> {
    let change = settle();
    if change != 0 {
        let mut total = 0;
        ask!(napi_adjust_external_memory(env.raw(), change; total))?;
    }
    Ok(())
}

/// How many bytes more are lent than at the last time.
fn settle() -> i64 {
    LENT.take() - RETURNED.with(|returned| returned.swap(0, Ordering::Relaxed))
}

/// Called by the host, during a collection or later, on whatever thread; it makes no use of
/// the environment, which may be gone.
unsafe extern "C" fn give_back<T: Unit>(_: sys::napi_env, _: *mut c_void, hint: *mut c_void) {
    // SAFETY: The hint is the box that `create` gave away, and this is its only use.
    let loan = unsafe { Box::from_raw(hint.cast::<Loan<T>>()) };
    let size_bytes = room_bytes(&loan.text);
    loan.returned.fetch_add(size_bytes as i64, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    type Finalize = (sys::napi_finalize, usize, usize);

    /// What a host that holds characters has to call.
    static HELD: Mutex<Vec<Finalize>> = Mutex::new(Vec::new());

    /// What a host does with characters.
    #[derive(Clone, Copy)]
    enum Manner {
        Refuse,
        Copy,
        Hold,
    }

    thread_local! {
        static MANNER: Cell<Manner> = const { Cell::new(Manner::Refuse) };
    }

    unsafe extern "C" fn host(
        env: sys::napi_env,
        characters: *mut u16,
        len: usize,
        give_back: sys::napi_finalize,
        hint: *mut c_void,
        _: *mut sys::napi_value,
        _: *mut bool,
    ) -> sys::napi_status {
        // SAFETY: So many characters were lent.
        let text = unsafe { std::slice::from_raw_parts(characters, len) };
        assert!(text.iter().all(|&unit| unit == 7));
        match MANNER.get() {
            Manner::Refuse => return sys::Status::napi_generic_failure,
            // SAFETY: What the function is for, once.
            Manner::Copy => unsafe { give_back.expect("a function")(env, characters.cast(), hint) },
            Manner::Hold => {
                HELD.lock().unwrap().push((give_back, characters as usize, hint as usize));
            }
        }
        sys::Status::napi_ok
    }

    /// Lends 200 bytes.
    fn lend_to(manner: Manner, account: &'static Account) -> Result<sys::napi_value, Vec<u16>> {
        MANNER.set(manner);
        // SAFETY: The host keeps the promises, and looks at no environment.
        unsafe { lend_with(host, ptr::null_mut(), vec![7; 100], account) }
    }

    fn lent_bytes(account: &Account) -> usize {
        account.lent_bytes.load(Ordering::Relaxed)
    }

    #[test]
    fn characters_come_back_from_a_host_that_refuses() {
        static ACCOUNT: Account = Account::new(200);
        for _ in 0..2 {
            assert_eq!(lend_to(Manner::Refuse, &ACCOUNT), Err(vec![7; 100]));
            assert_eq!((settle(), lent_bytes(&ACCOUNT)), (0, 0));
        }
    }

    #[test]
    fn a_host_that_copies_owes_nothing() {
        static ACCOUNT: Account = Account::new(200);
        for _ in 0..2 {
            assert!(lend_to(Manner::Copy, &ACCOUNT).is_ok());
            assert_eq!((settle(), lent_bytes(&ACCOUNT)), (0, 0));
        }
    }

    #[test]
    fn what_is_held_is_owed_until_it_is_returned_on_any_thread() {
        static ACCOUNT: Account = Account::new(599);
        let hold = || lend_to(Manner::Hold, &ACCOUNT);
        assert!(hold().is_ok() && hold().is_ok());
        assert_eq!(settle(), 400);
        assert_eq!(hold(), Err(vec![7; 100]), "more than the account allows");
        assert_eq!((settle(), lent_bytes(&ACCOUNT)), (0, 400));
        let return_all = || {
            for (give_back, characters, hint) in HELD.lock().unwrap().drain(..) {
                let (characters, hint) = (characters as *mut c_void, hint as *mut c_void);
                // SAFETY: What the function is for, once; it looks at no environment.
                unsafe { give_back.expect("a function")(ptr::null_mut(), characters, hint) };
            }
        };
        std::thread::scope(|scope| scope.spawn(return_all).join().expect("no panic"));
        assert_eq!((settle(), lent_bytes(&ACCOUNT)), (-400, 0));
        assert!(hold().is_ok(), "what came back can be lent again");
        return_all();
    }

    #[test]
    fn regression_what_an_object_holds_is_told_until_it_is_gone() {
        let weight = Weight::default();
        weight.set(1000);
        assert_eq!(settle(), 1000);
        weight.set(1000);
        assert_eq!(settle(), 0);
        weight.set(300);
        assert_eq!(settle(), -700);
        drop(weight);
        assert_eq!(settle(), -300);
    }

    #[test]
    fn threads_that_lend_at_once_stay_within_the_account() {
        static ACCOUNT: Account = Account::new(1000);
        let take = || std::iter::from_fn(|| ACCOUNT.enter(7)).take(1000).collect::<Vec<_>>();
        let taken: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            let all: Vec<_> = threads.into_iter().map(|it| it.join().expect("no panic")).collect();
            assert!(ACCOUNT.enter(7).is_none() && ACCOUNT.enter(usize::MAX).is_none());
            all.iter().map(Vec::len).sum()
        });
        assert_eq!((taken, lent_bytes(&ACCOUNT)), (142, 0));
        assert!(ACCOUNT.enter(1000).is_some() && ACCOUNT.enter(1001).is_none());
    }
}
