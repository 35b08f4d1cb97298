//! Calls of the core, now on the caller's thread or later on another one.

use hashline_core::cancel::Cancel;
use hashline_core::error::{Code, Error, Result as CoreResult};
use napi::bindgen_prelude::{AsyncTask, ToNapiValue};
use napi::{Env, ScopedTask};

use super::abort::{Signal, Subscription};
use super::external;
use super::fault::{self, Fault, Result, error_object, guard, rejected, rejection};
use super::js::Js;
use super::options::{Field, optional};

/// A call of the core with its arguments.
pub trait Call: Send + 'static {
    /// What the core answers.
    type Output: Send + 'static;
    /// The answer for JavaScript.
    type Answer: ToNapiValue;

    /// Calls the core. Touches no JavaScript value.
    fn run(&self, cancel: &Cancel) -> CoreResult<Self::Output>;

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
        (call, None) => Ok(C::answer(call.run(&Cancel::default())?)),
    })
}

/// Runs a call on another thread and returns its promise; `prepare` reads the arguments.
/// Whatever is wrong rejects the promise: an asynchronous function throws nothing.
pub fn later<'env, C: Call>(
    env: &'env Env,
    prepare: impl FnOnce() -> Result<Prepared<'env, C>>,
) -> napi::Result<Js<'env>> {
    let started = guard(|| {
        let (call, signal) = prepare()?;
        start(env, call, optional(signal, Signal::read)?)
    });
    started.or_else(|fault: Fault| rejected(env, fault.into_js(env)?))
}

fn start<'env, C: Call>(env: &'env Env, call: C, signal: Option<Signal<'env>>) -> Result<Js<'env>> {
    let cancel = Cancel::default();
    if let Some(signal) = signal
        && signal.is_aborted()?
    {
        cancel.cancel();
        let aborted = cancel.check().expect_err("it was cancelled on the line above");
        let error = error_object(env, &aborted, signal.reason()?)?;
        return Ok(rejected(env, error)?);
    }
    let subscription = signal.map(|signal| signal.listen(&cancel)).transpose()?;
    let job = Job { call, cancel, subscription };
    Ok(Js::from_rust(env, AsyncTask::new(job))?)
}

/// A call on its way through another thread.
struct Job<C> {
    call: C,
    cancel: Cancel,
    subscription: Option<Subscription>,
}

impl<C: Call> Job<C> {
    fn error<'env>(&self, env: &'env Env, error: &Error) -> napi::Result<Js<'env>> {
        let cause = match &self.subscription {
            Some(subscription) if error.code == Code::Aborted => subscription.reason(env)?,
            _ => None,
        };
        error_object(env, error, cause)
    }
}

impl<'task, C: Call> ScopedTask<'task> for Job<C> {
    type Output = CoreResult<C::Output>;
    type JsValue = Js<'task>;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        Ok(guard(|| self.call.run(&self.cancel)))
    }

    fn resolve(&mut self, env: &'task Env, output: Self::Output) -> napi::Result<Js<'task>> {
        let answered = guard(|| match output {
            Ok(output) => Ok(Js::from_rust(env, C::answer(output))?),
            Err(error) => {
                let error = self.error(env, &error)?;
                Err(Fault::Napi(rejection(env, error)))
            }
        });
        external::report(env)?;
        answered.map_err(|fault| match fault {
            Fault::Napi(error) => error,
            refused => match refused.into_js(env) {
                Ok(error) => rejection(env, error),
                Err(error) => error,
            },
        })
    }

    fn finally(self, env: Env) -> napi::Result<()> {
        if let Some(subscription) = self.subscription {
            subscription.end(&env);
        }
        Ok(())
    }
}
