//! The completion queue: takes results of calls on other threads to the JavaScript thread.
//!
//! Each environment has one queue, created with its first asynchronous call. Another thread posts a
//! completion through a thread-safe function of Node-API, which wakes the JavaScript thread up. The
//! environment then settles the pending promise. JavaScript values never leave this thread.
//!
//! Changes of sessions take the same way to their listeners, after the answers of the calls that
//! made them.
//!
//! An environment can end during calls, for example when a worker is terminated. Then its calls are
//! cancelled, and calls that have not started never start. The environment waits for the others,
//! which end soon or finish what they have begun to write.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use hashline_core::Cancel;
use hashline_core::host::Delivery;
use napi::bindgen_prelude::FunctionRef;
use napi::{Env, check_status, sys};

use super::abort::Subscription;
use super::error::{self, Result};
use super::js::{Js, ask, take_exception};

/// A promise that is not settled yet, and what belongs to its call.
pub struct Pending {
    deferred: sys::napi_deferred,
    pub cancel: Cancel,
    pub subscription: Option<Subscription>,
    /// Completed once the promise is settled: only then can the caller have read the answer.
    delivery: Option<Arc<Delivery>>,
}

/// Called with the changes of a session, as JSON text.
type ChangeListener = FunctionRef<String, ()>;

/// What other threads post.
enum Posted {
    /// The completion of the promise with this number.
    Completion(u64, Completion),
    /// A change, for the listener with this number.
    Change(u64, String),
    /// A call has posted all of its changes.
    Delivered,
}

/// Computes the value or the reason that settles a promise.
type Completion = Box<dyn FnOnce(&Env, &Pending) -> napi::Result<Settled> + Send>;

/// How a promise is settled; the value belongs to the running call.
pub enum Settled {
    Resolved(sys::napi_value),
    Rejected(sys::napi_value),
}

/// The pending promises of an environment.
pub struct CompletionQueue {
    env: sys::napi_env,
    sender: Arc<CompletionSender>,
    pending: RefCell<HashMap<u64, Pending>>,
    /// The listeners of sessions of this environment.
    listeners: RefCell<HashMap<u64, ChangeListener>>,
    /// The number of calls whose changes may still be posted.
    undelivered: Cell<usize>,
    next_number: Cell<u64>,
}

thread_local! {
    /// The queues of the environments on this thread.
    static QUEUES: RefCell<Vec<Rc<CompletionQueue>>> = const { RefCell::new(Vec::new()) };
}

impl CompletionQueue {
    /// The queue of an environment, which is created on the first call.
    pub fn of(env: &Env) -> Result<Rc<CompletionQueue>> {
        if let Some(queue) = CompletionQueue::find(env.raw()) {
            return Ok(queue);
        }
        let sender = Arc::new(CompletionSender::new(env)?);
        let queue = Rc::new(CompletionQueue {
            env: env.raw(),
            sender,
            pending: RefCell::default(),
            listeners: RefCell::default(),
            undelivered: Cell::new(0),
            next_number: Cell::new(0),
        });
        let hook: unsafe extern "C" fn(*mut c_void) = close;
        // SAFETY: The environment is that of the running call; the hook receives its address. Hooks
        // run in reverse order, so this one runs before that of the thread-safe function.
        check_status!(unsafe {
            sys::napi_add_env_cleanup_hook(env.raw(), Some(hook), env.raw().cast())
        })?;
        QUEUES.with_borrow_mut(|all| all.push(Rc::clone(&queue)));
        Ok(queue)
    }

    fn find(env: sys::napi_env) -> Option<Rc<CompletionQueue>> {
        QUEUES.with_borrow(|all| all.iter().find(|one| one.env == env).cloned())
    }

    /// The handle by which other threads post completions.
    pub fn sender(&self) -> Arc<CompletionSender> {
        Arc::clone(&self.sender)
    }

    /// The number of the next promise.
    pub fn next_number(&self) -> u64 {
        self.next_number.replace(self.next_number.get() + 1)
    }

    /// Creates the promise that the completion with this number settles. While a promise is
    /// pending, the environment does not end by itself.
    pub fn promise<'env>(
        &self,
        env: &'env Env,
        number: u64,
        cancel: Cancel,
        subscription: Option<Subscription>,
    ) -> Result<Js<'env>> {
        let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
        ask!(napi_create_promise(env.raw(), &raw mut deferred; promise))?;
        let was_kept = self.keeps_environment();
        self.pending
            .borrow_mut()
            .insert(number, Pending { deferred, cancel, subscription, delivery: None });
        if !was_kept {
            self.sender.keep_environment(env, true)?;
        }
        Ok(Js::new(env.raw(), promise))
    }

    /// Keeps the delivery of an answer until its promise is settled.
    pub fn keep(&self, number: u64, delivery: Arc<Delivery>) {
        if let Some(pending) = self.pending.borrow_mut().get_mut(&number) {
            pending.delivery = Some(delivery);
        }
    }

    /// Settles the promise that a completion is for.
    fn complete(&self, env: &Env, number: u64, completion: Completion) -> napi::Result<()> {
        let pending = self.pending.borrow_mut().remove(&number);
        let settled = pending.map_or(Ok(()), |pending| settle(env, pending, completion));
        self.release_environment(env)?;
        settled
    }

    /// Whether anything is to be delivered.
    fn keeps_environment(&self) -> bool {
        !self.pending.borrow().is_empty() || self.undelivered.get() > 0
    }

    /// Lets the environment end once nothing is to be delivered.
    fn release_environment(&self, env: &Env) -> napi::Result<()> {
        if self.keeps_environment() {
            return Ok(());
        }
        self.sender.keep_environment(env, false)
    }

    /// Adds a listener under a number.
    pub fn listen(&self, number: u64, listener: ChangeListener) {
        self.listeners.borrow_mut().insert(number, listener);
    }

    /// Removes a listener.
    pub fn ignore(&self, number: u64) {
        let removed = self.listeners.borrow_mut().remove(&number);
        drop(removed);
    }

    /// Keeps the environment until the changes of a call are delivered; `None` if no one listens.
    pub fn changes_of_call(env: &Env) -> napi::Result<Option<CallChanges>> {
        let queue = CompletionQueue::find(env.raw());
        let Some(queue) = queue.filter(|queue| !queue.listeners.borrow().is_empty()) else {
            return Ok(None);
        };
        if !queue.keeps_environment() {
            queue.sender.keep_environment(env, true)?;
        }
        queue.undelivered.set(queue.undelivered.get() + 1);
        Ok(Some(CallChanges(queue.sender())))
    }

    /// Calls a listener. What it throws is an exception of JavaScript's own.
    fn deliver(&self, env: &Env, number: u64, change: String) -> napi::Result<()> {
        let listeners = self.listeners.borrow();
        let Some(listener) = listeners.get(&number) else { return Ok(()) };
        let listener = listener.borrow_back(env)?;
        // The listener may change the listeners.
        drop(listeners);
        listener.call(change)
    }

    fn receive(&self, env: &Env, posted: Posted) -> napi::Result<()> {
        match posted {
            Posted::Completion(number, completion) => self.complete(env, number, completion),
            Posted::Change(number, change) => self.deliver(env, number, change),
            Posted::Delivered => {
                self.undelivered.set(self.undelivered.get().saturating_sub(1));
                self.release_environment(env)
            }
        }
    }
}

/// A call that can change files while someone listens. Dropped after its turn has ended.
pub struct CallChanges(Arc<CompletionSender>);

impl Drop for CallChanges {
    fn drop(&mut self) {
        self.0.post(Posted::Delivered);
    }
}

fn settle(env: &Env, pending: Pending, completion: Completion) -> napi::Result<()> {
    let settled = completion(env, &pending);
    // An exception of the caller's getter cannot be reported here.
    take_exception(env);
    let (raw, deferred) = (env.raw(), pending.deferred);
    // SAFETY: The deferred belongs to a promise of this environment and is used once; the values
    // belong to the running call.
    let status = unsafe {
        match settled {
            Ok(Settled::Resolved(value)) => sys::napi_resolve_deferred(raw, deferred, value),
            Ok(Settled::Rejected(reason)) => sys::napi_reject_deferred(raw, deferred, reason),
            Err(_) => sys::napi_reject_deferred(raw, deferred, undefined(env)?.raw()),
        }
    };
    if let Some(delivery) = pending.delivery {
        delivery.complete();
    }
    if let Some(subscription) = pending.subscription {
        subscription.end(env);
    }
    check_status!(status)
}

fn undefined(env: &Env) -> napi::Result<Js<'_>> {
    let mut raw = ptr::null_mut();
    ask!(napi_get_undefined(env.raw(); raw))?;
    Ok(Js::new(env.raw(), raw))
}

/// Runs on the environment's thread for all that is posted; without an environment if it is ending.
unsafe extern "C" fn receive(
    env: sys::napi_env,
    _: sys::napi_value,
    _: *mut c_void,
    posted: *mut c_void,
) {
    // SAFETY: The box comes from `post`, and this is its only use.
    let posted = *unsafe { Box::from_raw(posted.cast::<Posted>()) };
    if !env.is_null()
        && let Some(queue) = CompletionQueue::find(env)
    {
        let env = Env::from_raw(env);
        // An error in settling a promise cannot be reported.
        let _ = error::contained(|| queue.receive(&env, posted).map_err(error::CallError::from));
    }
}

/// Runs when an environment ends.
unsafe extern "C" fn close(env: *mut c_void) {
    let of_env = |queue: &Rc<CompletionQueue>| queue.env.cast() == env;
    // At the end of a thread the queues may already be gone.
    let found = QUEUES.try_with(|all| {
        let mut all = all.borrow_mut();
        let at = all.iter().position(of_env)?;
        Some(all.swap_remove(at))
    });
    if let Ok(Some(queue)) = found {
        for pending in queue.pending.borrow().values() {
            pending.cancel.cancel();
        }
        queue.sender.close();
    }
}

/// Posts completions from other threads, and counts the running calls.
pub struct CompletionSender {
    state: Mutex<State>,
    all_ended: Condvar,
}

struct State {
    /// `None` when the environment is about to end.
    function: Option<Function>,
    /// Calls that are running.
    running_calls: usize,
}

struct Function(sys::napi_threadsafe_function);

// SAFETY: A thread-safe function may be called on any thread. `close` takes it out of the state
// before it releases it.
unsafe impl Send for Function {}

impl CompletionSender {
    fn new(env: &Env) -> Result<CompletionSender> {
        let name = Js::from_rust(env, "hashline")?;
        let (none, callback): (_, sys::napi_threadsafe_function_call_js) =
            (ptr::null_mut(), Some(receive));
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
        let state = State { function, running_calls: 0 };
        let sender = CompletionSender { state: Mutex::new(state), all_ended: Condvar::new() };
        sender.keep_environment(env, false)?;
        Ok(sender)
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

    /// Returns whether a call may start; then [`CompletionSender::end`] must follow.
    pub fn begin(&self) -> bool {
        let mut state = self.lock();
        let is_open = state.function.is_some();
        state.running_calls += usize::from(is_open);
        is_open
    }

    /// Reports the end of a call that was started.
    pub fn end(&self) {
        let mut state = self.lock();
        state.running_calls -= 1;
        if state.running_calls == 0 {
            self.all_ended.notify_all();
        }
    }

    /// Posts the completion of a promise.
    pub fn send(&self, number: u64, completion: Completion) {
        self.post(Posted::Completion(number, completion));
    }

    /// Posts a change for a listener.
    pub fn send_change(&self, number: u64, change: String) {
        self.post(Posted::Change(number, change));
    }

    /// Posts anything; dropped if the environment is ending.
    fn post(&self, posted: Posted) {
        let state = self.lock();
        let Some(Function(function)) = state.function else { return };
        let posted = Box::into_raw(Box::new(posted));
        let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
        // SAFETY: The function is open, and cannot be closed while the state is locked.
        let status = unsafe { sys::napi_call_threadsafe_function(function, posted.cast(), mode) };
        if status != sys::Status::napi_ok {
            // SAFETY: The function did not take the box.
            drop(unsafe { Box::from_raw(posted) });
        }
    }

    /// Prevents calls from starting and waits for running calls, whose completions are dropped.
    fn close(&self) {
        let mut state = self.lock();
        let function = state.function.take();
        while state.running_calls > 0 {
            self.all_ended.wait(&mut state);
        }
        drop(state);
        if let Some(Function(function)) = function {
            let mode = sys::ThreadsafeFunctionReleaseMode::abort;
            // SAFETY: The function was taken out of the state, and this is its only release.
            unsafe { sys::napi_release_threadsafe_function(function, mode) };
        }
    }
}
