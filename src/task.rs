//! Calls of the core, now on the caller's thread or later on another one.

use parking_lot::Mutex;
use std::sync::Arc;

use hashline_core::host::{Start, Turn};
use hashline_core::{self as core, Cancel, Code, Error, Result as CoreResult};
use napi::Env;
use napi::bindgen_prelude::ToNapiValue;

use super::abort::Signal;
use super::external;
use super::fault::{self, Fault, Result, contained, error_object, rejected};
use super::js::Js;
use super::leaving;
use super::mailbox::{Bell, Mailbox, Settled, Waiting};
use super::options::Field;

/// A call of the core with its arguments.
pub trait Call: Send + 'static {
    /// What the core answers.
    type Output: Send + 'static;
    /// The answer for JavaScript.
    type Answer: ToNapiValue;
    /// Whether it changes files: then what was done is told, even to a caller who has lost his
    /// interest meanwhile.
    const WRITES: bool;
    /// Whether its answer has consequences besides itself: then an answer that is there is told,
    /// too. What a session showed is remembered as shown.
    const IS_REMEMBERED: bool = false;

    /// Takes the call's turn, if it has one, after the last bit of JavaScript that can run before
    /// it begins.
    fn enter(&mut self) -> Option<Turn> {
        None
    }

    /// Calls the core. Touches no JavaScript value.
    fn run(&mut self, cancel: &Cancel) -> CoreResult<Self::Output>;

    /// Converts the answer.
    fn answer(output: Self::Output) -> Self::Answer;
}

/// A call with the option `signal` that came along.
pub type Prepared<'env, C> = (C, Option<Field<'env>>);

/// Runs a call now; `prepare` reads the arguments.
pub fn now<'env, C: Call>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Prepared<'env, C>>,
) -> napi::Result<Js<'env>> {
    fault::returned(env, || match prepare()? {
        (_, Some(signal)) => {
            Err(signal
                .wrong("none, since a synchronous call cannot be aborted (use the async one)"))
        }
        (mut call, None) => {
            // It waits at its place, not at a gate: this thread has nothing else to do.
            call.enter();
            Ok(C::answer(call.run(&Cancel::default())?))
        }
    })
}

/// Runs a call on another thread and returns its promise; `prepare` reads the arguments.
/// Whatever is wrong rejects the promise: an asynchronous function throws nothing.
pub fn later<'env, C: Call>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Prepared<'env, C>>,
) -> napi::Result<Js<'env>> {
    let started = contained(|| {
        let (call, signal) = prepare()?;
        start(env, call, signal.map(Signal::read).transpose()?)
    });
    started.or_else(|fault: Fault| rejected(env, fault.into_js(env)?))
}

fn start<'env, C: Call>(env: &'env Env, call: C, signal: Option<Signal<'env>>) -> Result<Js<'env>> {
    let cancel = Cancel::default();
    if let Some(signal) = signal
        && signal.is_aborted()
    {
        let error = error_object(env, &aborted(), signal.reason())?;
        return Ok(rejected(env, error)?);
    }
    let mailbox = Mailbox::of(env)?;
    let number = mailbox.next_number();
    let flight = Arc::new(Flight {
        call: Mutex::new(Some(call)),
        cancel: cancel.clone(),
        bell: mailbox.bell(),
        number,
    });
    let aborted = Arc::clone(&flight);
    let listen = |signal: Signal<'env>| signal.listen(move || aborted.abort());
    let subscription = signal.map(listen).transpose()?;
    let promise = mailbox.promise(env, number, cancel, subscription)?;
    let turn = flight.enter();
    let start: Start = Box::new(move || {
        // Without another thread it is done on this one, before the promise is returned.
        if let Err(job) = core::host::CALLS.submit(Box::new(move || flight.run())) {
            job();
        }
    });
    match turn {
        Some(turn) => turn.when_free(start),
        None => start(),
    }
    Ok(promise)
}

/// A call on its way through another thread.
struct Flight<C> {
    /// Gone once it is worked on, or aborted before.
    call: Mutex<Option<C>>,
    cancel: Cancel,
    bell: Arc<Bell>,
    number: u64,
}

impl<C: Call> Flight<C> {
    fn take(&self) -> Option<C> {
        self.call.lock().take()
    }

    fn enter(&self) -> Option<Turn> {
        self.call.lock().as_mut()?.enter()
    }

    fn run(&self) {
        if !self.bell.begin() {
            return;
        }
        if let Some(mut call) = self.take() {
            let output = contained(|| self.call(&mut call));
            self.land(output);
        }
        self.bell.end();
    }

    fn call(&self, call: &mut C) -> CoreResult<C::Output> {
        let _writing =
            if C::WRITES { Some(leaving::begin(&self.cancel).ok_or_else(aborted)?) } else { None };
        call.run(&self.cancel)
    }

    /// What the caller's signal does. A call that nobody has begun is over at once.
    fn abort(&self) {
        self.cancel.cancel();
        if self.take().is_some() {
            self.land(Err(aborted()));
        }
    }

    fn land(&self, output: CoreResult<C::Output>) {
        let letter = move |env: &Env, waiting: &Waiting| settle::<C>(env, waiting, output);
        self.bell.send(self.number, Box::new(letter));
    }
}

fn aborted() -> Error {
    let cancel = Cancel::default();
    cancel.cancel();
    cancel.check().expect_err("it was cancelled on the line above")
}

/// Makes of an output what its promise becomes.
fn settle<C: Call>(
    env: &Env,
    waiting: &Waiting,
    output: CoreResult<C::Output>,
) -> napi::Result<Settled> {
    let is_late = !C::WRITES && !C::IS_REMEMBERED && waiting.cancel.is_cancelled();
    let answered = contained(|| match output {
        Ok(_) if is_late => Err(Fault::Refused(aborted())),
        Ok(output) => Ok(Js::from_rust(env, C::answer(output))?.raw()),
        Err(error) => Err(Fault::Refused(error)),
    });
    external::report(env)?;
    match answered {
        Ok(value) => Ok(Settled::Resolved(value)),
        Err(Fault::Refused(error)) if error.code == Code::Aborted => {
            let cause = match &waiting.subscription {
                Some(subscription) => subscription.reason(env)?,
                None => None,
            };
            Ok(Settled::Rejected(error_object(env, &error, cause)?.raw()))
        }
        Err(fault) => Ok(Settled::Rejected(fault.into_js(env)?.raw())),
    }
}
