//! Connects an `AbortSignal` of the caller to a call.
//!
//! The listener is added next to the caller's own listeners and `onabort`, which keep working.

use napi::bindgen_prelude::{Function, FunctionRef, JsObjectValue, Object, ObjectRef};
use napi::{Env, ValueType};

use super::error::{CallError, Result};
use super::js::{Js, take_exception};
use super::options::Field;

type Listener<'env> = Function<'env, (), ()>;
type ChangeListeners<'env> =
    Function<'env, napi::bindgen_prelude::FnArgs<(&'static str, Listener<'env>)>, Js<'env>>;

/// A signal that was passed as an option.
///
/// The signal may come from another realm or be an instance of the caller's own class, so it is
/// recognized by its methods, not by its class.
#[derive(Clone, Copy)]
pub struct Signal<'env> {
    field: Field<'env>,
    is_aborted: bool,
}

impl<'env> Signal<'env> {
    /// Takes the option `signal`, or refuses a value that is not a signal.
    pub fn read(field: Field<'env>) -> Result<Self> {
        match is_aborted(field) {
            Ok(Some(is_aborted)) => Ok(Signal { field, is_aborted }),
            Ok(None) | Err(_) => Err(no_signal(field)),
        }
    }

    pub fn is_aborted(self) -> bool {
        self.is_aborted
    }

    /// The signal's `reason`, or `None` if it has none.
    pub fn reason(self) -> Option<Js<'env>> {
        reason(self.field.value())
    }

    /// Calls `abort` when the signal fires.
    pub fn listen(self, abort: impl Fn() + 'static) -> Result<Subscription> {
        let signal = self.field.value();
        let env = signal.env();
        let listener: Listener<'_> = env.create_function_from_closure("abort", move |_| {
            abort();
            Ok(())
        })?;
        change(object(signal), "addEventListener", listener).map_err(|_| no_signal(self.field))?;
        Ok(Subscription { signal: object(signal).create_ref()?, listener: listener.create_ref()? })
    }
}

/// Whether the signal was aborted; `None` if the value is not a signal.
fn is_aborted(field: Field<'_>) -> napi::Result<Option<bool>> {
    let signal = field.value();
    if signal.kind()? != ValueType::Object
        || signal.get(c"addEventListener")?.kind()? != ValueType::Function
        || signal.get(c"removeEventListener")?.kind()? != ValueType::Function
    {
        return Ok(None);
    }
    let aborted = signal.get(c"aborted")?;
    Ok(match aborted.kind()? {
        ValueType::Boolean => Some(aborted.boolean()?),
        _ => None,
    })
}

/// The refusal of a value that is not a signal. An exception that reading it threw is dropped,
/// because the refusal says more.
fn no_signal(field: Field<'_>) -> CallError {
    take_exception(&field.value().env());
    field.wrong("an AbortSignal")
}

fn reason(signal: Js<'_>) -> Option<Js<'_>> {
    let given = signal.get(c"reason").and_then(|reason| Ok((reason, reason.kind()?)));
    take_exception(&signal.env());
    given.ok().filter(|(_, kind)| *kind != ValueType::Undefined).map(|(reason, _)| reason)
}

/// What connects a signal to a running call.
pub struct Subscription {
    signal: ObjectRef<false>,
    listener: FunctionRef<(), ()>,
}

impl Subscription {
    /// Why the signal was aborted.
    pub fn reason<'env>(&self, env: &'env Env) -> napi::Result<Option<Js<'env>>> {
        let signal = self.signal.get_value(env)?;
        Ok(reason(Js::from_rust(env, signal)?))
    }

    /// Removes the listener. The call is over by then, so errors here cannot be reported and are
    /// ignored.
    pub fn end(self, env: &Env) {
        let removed = self.signal.get_value(env).and_then(|signal| {
            change(signal, "removeEventListener", self.listener.borrow_back(env)?)
        });
        if removed.is_err() {
            take_exception(env);
        }
        self.signal.unref(env).ok();
    }
}

fn object(value: Js<'_>) -> Object<'_> {
    Object::from_raw(value.env().raw(), value.raw())
}

fn change(signal: Object<'_>, method: &str, listener: Listener<'_>) -> napi::Result<()> {
    let method: ChangeListeners<'_> = signal.get_named_property(method)?;
    method.apply(signal, ("abort", listener).into()).map(drop)
}
