//! Runs calls of the core on the caller's thread or on another one.

use parking_lot::Mutex;
use std::sync::Arc;

use hashline_core::host::{Start, Turn};
use hashline_core::{self as core, Cancel, Code, Error, Result as CoreResult};
use napi::Env;
use napi::bindgen_prelude::ToNapiValue;

use super::abort::Signal;
use super::completions::{CallChanges, CompletionQueue, CompletionSender, Pending, Settled};
use super::error::{self, CallError, Result, contained, error_object, rejected};
use super::external;
use super::js::Js;
use super::options::Field;
use super::shutdown;

/// A call of the core with its arguments.
pub trait Call: Send + 'static {
    /// What the core returns.
    type Output: Send + 'static;
    /// The answer for JavaScript.
    type Answer: ToNapiValue;
    /// Whether the call changes files. Then its result is delivered even if the call was aborted
    /// meanwhile.
    const WRITES: bool;
    /// Whether the answer has side effects. Then a finished answer is delivered even if the call
    /// was aborted: a session remembers the lines as shown.
    const IS_REMEMBERED: bool = false;

    /// Takes the call's turn, if it needs one. Runs after the last JavaScript code that can run
    /// before the call starts.
    fn enter(&mut self) -> Option<Turn> {
        None
    }

    /// Calls the core. Does not touch JavaScript values.
    fn run(&mut self, cancel: &Cancel) -> CoreResult<Self::Output>;

    /// Converts the answer.
    fn answer(output: Self::Output) -> Self::Answer;
}

/// A call and its option `signal`.
pub type Prepared<'env, C> = (C, Option<Field<'env>>);

/// Runs a call now; `prepare` reads the arguments.
pub fn now<'env, C: Call>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Prepared<'env, C>>,
) -> napi::Result<Js<'env>> {
    error::returned(env, || match prepare()? {
        (_, Some(signal)) => Err(signal
            .wrong("none: a synchronous call cannot be aborted. Use the asynchronous function")),
        (call, None) => {
            // Dropped after the call.
            let _changes = changes_of::<C>(env)?;
            let mut call = call;
            // Waits for its turn by blocking: this thread has nothing else to do.
            call.enter();
            Ok(C::answer(call.run(&Cancel::default())?))
        }
    })
}

/// Runs a call on another thread and returns its promise; `prepare` reads the arguments. Every
/// error rejects the promise: an asynchronous function never throws.
pub fn later<'env, C: Call>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Prepared<'env, C>>,
) -> napi::Result<Js<'env>> {
    let started = contained(|| {
        let (call, signal) = prepare()?;
        start(env, call, signal.map(Signal::read).transpose()?)
    });
    started.or_else(|error: CallError| rejected(env, error.into_js(env)?))
}

/// Keeps the environment until listeners have the changes of a call that writes.
fn changes_of<C: Call>(env: &Env) -> napi::Result<Option<CallChanges>> {
    if C::WRITES { CompletionQueue::changes_of_call(env) } else { Ok(None) }
}

fn start<'env, C: Call>(env: &'env Env, call: C, signal: Option<Signal<'env>>) -> Result<Js<'env>> {
    let cancel = Cancel::default();
    if let Some(signal) = signal
        && signal.is_aborted()
    {
        let error = error_object(env, &aborted(), signal.reason())?;
        return Ok(rejected(env, error)?);
    }
    let queue = CompletionQueue::of(env)?;
    let number = queue.next_number();
    let in_flight = Arc::new(InFlight {
        call: Mutex::new(Some(call)),
        changes: Mutex::new(changes_of::<C>(env)?),
        cancel: cancel.clone(),
        sender: queue.sender(),
        number,
    });
    let aborted = Arc::clone(&in_flight);
    let listen = |signal: Signal<'env>| signal.listen(move || aborted.abort());
    let subscription = signal.map(listen).transpose()?;
    let promise = queue.promise(env, number, cancel, subscription)?;
    let turn = in_flight.enter();
    if let Some(turn) = &turn {
        queue.keep(number, turn.delivery());
    }
    let start: Start = Box::new(move || {
        // Without another thread it runs on this one, before the promise is returned.
        if let Err(job) = core::host::CALLS.submit(Box::new(move || in_flight.run())) {
            job();
        }
    });
    match turn {
        Some(turn) => turn.when_free(start),
        None => start(),
    }
    Ok(promise)
}

/// A call that was handed to another thread.
struct InFlight<C> {
    /// `None` once the call runs or was aborted.
    call: Mutex<Option<C>>,
    /// Dropped after the call.
    changes: Mutex<Option<CallChanges>>,
    cancel: Cancel,
    sender: Arc<CompletionSender>,
    number: u64,
}

impl<C: Call> InFlight<C> {
    fn take(&self) -> Option<C> {
        self.call.lock().take()
    }

    fn enter(&self) -> Option<Turn> {
        self.call.lock().as_mut()?.enter()
    }

    fn run(&self) {
        if !self.sender.begin() {
            return;
        }
        if let Some(mut call) = self.take() {
            let output = contained(|| self.call(&mut call));
            self.complete(output);
        }
        drop(self.changes.lock().take());
        self.sender.end();
    }

    fn call(&self, call: &mut C) -> CoreResult<C::Output> {
        let _writing =
            if C::WRITES { Some(shutdown::begin(&self.cancel).ok_or_else(aborted)?) } else { None };
        call.run(&self.cancel)
    }

    /// Runs when the caller's signal fires. A call that has not started ends at once.
    fn abort(&self) {
        self.cancel.cancel();
        if self.take().is_some() {
            self.complete(Err(aborted()));
            drop(self.changes.lock().take());
        }
    }

    fn complete(&self, output: CoreResult<C::Output>) {
        let completion = move |env: &Env, pending: &Pending| settle::<C>(env, pending, output);
        self.sender.send(self.number, Box::new(completion));
    }
}

fn aborted() -> Error {
    let cancel = Cancel::default();
    cancel.cancel();
    cancel.check().expect_err("it was cancelled on the line above")
}

/// Converts an output into the result of its promise.
fn settle<C: Call>(
    env: &Env,
    pending: &Pending,
    output: CoreResult<C::Output>,
) -> napi::Result<Settled> {
    let is_late = !C::WRITES && !C::IS_REMEMBERED && pending.cancel.is_cancelled();
    let answered = contained(|| match output {
        Ok(_) if is_late => Err(CallError::Core(aborted())),
        Ok(output) => Ok(Js::from_rust(env, C::answer(output))?.raw()),
        Err(error) => Err(CallError::Core(error)),
    });
    external::report(env)?;
    match answered {
        Ok(value) => Ok(Settled::Resolved(value)),
        Err(CallError::Core(error)) if error.code == Code::Aborted => {
            let cause = match &pending.subscription {
                Some(subscription) => subscription.reason(env)?,
                None => None,
            };
            Ok(Settled::Rejected(error_object(env, &error, cause)?.raw()))
        }
        Err(error) => Ok(Settled::Rejected(error.into_js(env)?.raw())),
    }
}
