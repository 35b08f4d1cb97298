//! The way back: what calls on other threads answer, for the one thread that runs JavaScript.
//!
//! Each environment has a mailbox, made with its first asynchronous call. A letter of another
//! thread comes by a bell (a thread-safe function of Node-API, which queues them), and the
//! environment then settles the promise that waits for it. What belongs to JavaScript never leaves
//! this thread.
//!
//! An environment can end while calls are under way: a worker is terminated. Then its calls are
//! cancelled, and those that have not begun never begin. The environment waits for the others. They
//! end soon, or first finish what they have begun to write.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use hashline_core::Cancel;
use napi::{Env, check_status, sys};

use super::abort::Subscription;
use super::fault::{self, Result};
use super::js::{Js, ask, take_exception};

/// A promise that nobody has settled, and what its call came with.
pub struct Waiting {
    deferred: sys::napi_deferred,
    pub cancel: Cancel,
    pub subscription: Option<Subscription>,
}

/// What settles a promise: its value, or the reason why there is none.
type Letter = Box<dyn FnOnce(&Env, &Waiting) -> napi::Result<Settled> + Send>;

/// How a promise ends; a value of the running call.
pub enum Settled {
    Resolved(sys::napi_value),
    Rejected(sys::napi_value),
}

/// The promises of an environment.
pub struct Mailbox {
    env: sys::napi_env,
    bell: Arc<Bell>,
    waiting: RefCell<HashMap<u64, Waiting>>,
    next_number: Cell<u64>,
}

thread_local! {
    /// Those of the environments of this thread.
    static MAILBOXES: RefCell<Vec<Rc<Mailbox>>> = const { RefCell::new(Vec::new()) };
}

impl Mailbox {
    /// The mailbox of an environment.
    pub fn of(env: &Env) -> Result<Rc<Mailbox>> {
        if let Some(mailbox) = Mailbox::find(env.raw()) {
            return Ok(mailbox);
        }
        let bell = Arc::new(Bell::new(env)?);
        let (waiting, next_number) = (RefCell::default(), Cell::new(0));
        let mailbox = Rc::new(Mailbox { env: env.raw(), bell, waiting, next_number });
        let hook: unsafe extern "C" fn(*mut c_void) = close;
        // SAFETY: The environment is that of the running call; the hook takes its address. Hooks
        // run in the opposite order, so this one comes before that of the thread-safe function.
        check_status!(unsafe {
            sys::napi_add_env_cleanup_hook(env.raw(), Some(hook), env.raw().cast())
        })?;
        MAILBOXES.with_borrow_mut(|all| all.push(Rc::clone(&mailbox)));
        Ok(mailbox)
    }

    fn find(env: sys::napi_env) -> Option<Rc<Mailbox>> {
        MAILBOXES.with_borrow(|all| all.iter().find(|one| one.env == env).cloned())
    }

    /// What other threads ring.
    pub fn bell(&self) -> Arc<Bell> {
        Arc::clone(&self.bell)
    }

    /// The number of the next promise.
    pub fn next_number(&self) -> u64 {
        self.next_number.replace(self.next_number.get() + 1)
    }

    /// A promise that the letter of this number will settle. As long as there is one, the
    /// environment does not end by itself.
    pub fn promise<'env>(
        &self,
        env: &'env Env,
        number: u64,
        cancel: Cancel,
        subscription: Option<Subscription>,
    ) -> Result<Js<'env>> {
        let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
        ask!(napi_create_promise(env.raw(), &raw mut deferred; promise))?;
        let is_first = self.waiting.borrow().is_empty();
        self.waiting.borrow_mut().insert(number, Waiting { deferred, cancel, subscription });
        if is_first {
            self.bell.keep_environment(env, true)?;
        }
        Ok(Js::new(env.raw(), promise))
    }

    /// Settles what a letter has come for.
    fn open(&self, env: &Env, number: u64, letter: Letter) -> napi::Result<()> {
        let waiting = self.waiting.borrow_mut().remove(&number);
        let settled = waiting.map_or(Ok(()), |waiting| settle(env, waiting, letter));
        if self.waiting.borrow().is_empty() {
            self.bell.keep_environment(env, false)?;
        }
        settled
    }
}

fn settle(env: &Env, waiting: Waiting, letter: Letter) -> napi::Result<()> {
    let settled = letter(env, &waiting);
    // What a getter of the caller threw on the way has nobody to tell.
    take_exception(env);
    let (raw, deferred) = (env.raw(), waiting.deferred);
    // SAFETY: The deferred is that of a promise of this environment, and used this one time; the
    // values are of the running call.
    let status = unsafe {
        match settled {
            Ok(Settled::Resolved(value)) => sys::napi_resolve_deferred(raw, deferred, value),
            Ok(Settled::Rejected(reason)) => sys::napi_reject_deferred(raw, deferred, reason),
            Err(_) => sys::napi_reject_deferred(raw, deferred, undefined(env)?.raw()),
        }
    };
    if let Some(subscription) = waiting.subscription {
        subscription.end(env);
    }
    check_status!(status)
}

fn undefined(env: &Env) -> napi::Result<Js<'_>> {
    let mut raw = ptr::null_mut();
    ask!(napi_get_undefined(env.raw(); raw))?;
    Ok(Js::new(env.raw(), raw))
}

/// Runs on the environment's thread for each letter; without an environment where it ends.
unsafe extern "C" fn answer(
    env: sys::napi_env,
    _: sys::napi_value,
    _: *mut c_void,
    letter: *mut c_void,
) {
    // SAFETY: The box that `send` gave away, and this is its only use.
    let (number, letter) = *unsafe { Box::from_raw(letter.cast::<(u64, Letter)>()) };
    if !env.is_null()
        && let Some(mailbox) = Mailbox::find(env)
    {
        let env = Env::from_raw(env);
        // Nobody is there to be told what goes wrong with a promise itself.
        let _ = fault::contained(|| mailbox.open(&env, number, letter).map_err(fault::Fault::from));
    }
}

/// Runs when an environment ends.
unsafe extern "C" fn close(env: *mut c_void) {
    let of_env = |mailbox: &Rc<Mailbox>| mailbox.env.cast() == env;
    // At the end of a thread there may be nothing left to close.
    let found = MAILBOXES.try_with(|all| {
        let mut all = all.borrow_mut();
        let at = all.iter().position(of_env)?;
        Some(all.swap_remove(at))
    });
    if let Ok(Some(mailbox)) = found {
        for waiting in mailbox.waiting.borrow().values() {
            waiting.cancel.cancel();
        }
        mailbox.bell.close();
    }
}

/// What other threads have of a mailbox.
pub struct Bell {
    state: Mutex<State>,
    all_ended: Condvar,
}

struct State {
    /// Gone when the environment is about to end.
    function: Option<Function>,
    /// Calls that are being worked on.
    under_way: usize,
}

struct Function(sys::napi_threadsafe_function);

// SAFETY: Calling a thread-safe function from any thread is what it is for; the one who closes it
// takes it out of the state first.
unsafe impl Send for Function {}

impl Bell {
    fn new(env: &Env) -> Result<Bell> {
        let name = Js::from_rust(env, "hashline")?;
        let (none, callback): (_, sys::napi_threadsafe_function_call_js) =
            (ptr::null_mut(), Some(answer));
        let mut function = ptr::null_mut();
        ask!(napi_create_threadsafe_function(
            env.raw(),
            none,
            ptr::null_mut(),
            name.raw(),
            0,
            1,
            ptr::null_mut(),
            None,
            ptr::null_mut(),
            callback;
            function
        ))?;
        let function = Some(Function(function));
        let state = State { function, under_way: 0 };
        let bell = Bell { state: Mutex::new(state), all_ended: Condvar::new() };
        bell.keep_environment(env, false)?;
        Ok(bell)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn keep_environment(&self, env: &Env, keep: bool) -> napi::Result<()> {
        let Some(Function(function)) = self.lock().function else { return Ok(()) };
        // SAFETY: The function is open, and this is the thread of its environment.
        check_status!(unsafe {
            if keep {
                sys::napi_ref_threadsafe_function(env.raw(), function)
            } else {
                sys::napi_unref_threadsafe_function(env.raw(), function)
            }
        })
    }

    /// Whether a call may begin; [`Bell::end`] follows.
    pub fn begin(&self) -> bool {
        let mut state = self.lock();
        let is_open = state.function.is_some();
        state.under_way += usize::from(is_open);
        is_open
    }

    /// Says that a call is over that had begun.
    pub fn end(&self) {
        let mut state = self.lock();
        state.under_way -= 1;
        if state.under_way == 0 {
            self.all_ended.notify_all();
        }
    }

    /// Sends what settles the promise of this number; it goes nowhere once the bell is closed.
    pub fn send(&self, number: u64, letter: Letter) {
        let state = self.lock();
        let Some(Function(function)) = state.function else { return };
        let letter = Box::into_raw(Box::new((number, letter)));
        let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
        // SAFETY: The function is open, and cannot be closed while the state is locked.
        let status = unsafe { sys::napi_call_threadsafe_function(function, letter.cast(), mode) };
        if status != sys::Status::napi_ok {
            // SAFETY: The function did not take it.
            drop(unsafe { Box::from_raw(letter) });
        }
    }

    /// Lets no call begin any more and waits for those under way. Their letters go nowhere.
    fn close(&self) {
        let mut state = self.lock();
        let function = state.function.take();
        while state.under_way > 0 {
            self.all_ended.wait(&mut state);
        }
        drop(state);
        if let Some(Function(function)) = function {
            let mode = sys::ThreadsafeFunctionReleaseMode::abort;
            // SAFETY: Nobody else has the function any more, and this is its one release.
            unsafe { sys::napi_release_threadsafe_function(function, mode) };
        }
    }
}
