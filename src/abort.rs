//! An `AbortSignal` of the caller → what it does to a call.
//!
//! The listener is one of many: the caller's own `onabort` and listeners keep working.

use napi::bindgen_prelude::{Function, FunctionRef, JsObjectValue, Object, ObjectRef};
use napi::{Env, ValueType};

use super::fault::{Fault, Result};
use super::js::{Js, take_exception};
use super::options::Field;

type Listener<'env> = Function<'env, (), ()>;
type ChangeListeners<'env> =
    Function<'env, napi::bindgen_prelude::FnArgs<(&'static str, Listener<'env>)>, Js<'env>>;

/// A signal that was passed as an option.
///
/// It may be of another realm, or a class of the caller's own, so it is known by what it can do;
/// whatever it does otherwise is a mistake of the caller.
#[derive(Clone, Copy)]
pub struct Signal<'env> {
    field: Field<'env>,
    is_aborted: bool,
}

impl<'env> Signal<'env> {
    /// Takes an option, or says what it is instead.
    pub fn read(field: Field<'env>) -> Result<Self> {
        match is_aborted(field) {
            Ok(Some(is_aborted)) => Ok(Signal { field, is_aborted }),
            Ok(None) | Err(_) => Err(no_signal(field)),
        }
    }

    pub fn is_aborted(self) -> bool {
        self.is_aborted
    }

    /// Why it was aborted; none where it does not say.
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

/// Whether a signal was aborted; none where it is no signal.
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

/// The refusal of what is no signal. What it threw when it was looked at says less.
fn no_signal(field: Field<'_>) -> Fault {
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

    /// Removes the listener. Called when the call is over, so nothing that goes wrong here
    /// has anyone to tell.
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
