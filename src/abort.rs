//! An `AbortSignal` of the caller → what it does to a call.
//!
//! The listener is one of many: the caller's own `onabort` and listeners keep working.

use napi::bindgen_prelude::{Function, FunctionRef, JsObjectValue, Object, ObjectRef};
use napi::{Env, ValueType};

use super::fault::Result;
use super::js::{Js, take_exception};
use super::options::Field;

type Listener<'env> = Function<'env, (), ()>;
type ChangeListeners<'env> =
    Function<'env, napi::bindgen_prelude::FnArgs<(&'static str, Listener<'env>)>, Js<'env>>;

/// A signal that was passed as an option.
#[derive(Clone, Copy)]
pub struct Signal<'env>(Js<'env>);

impl<'env> Signal<'env> {
    /// Takes an option, or says what it is instead.
    pub fn read(field: Field<'env>) -> Result<Self> {
        let signal = field.value();
        let is_signal = field.is(ValueType::Object)?
            && signal.get(c"aborted")?.kind()? == ValueType::Boolean
            && signal.get(c"addEventListener")?.kind()? == ValueType::Function
            && signal.get(c"removeEventListener")?.kind()? == ValueType::Function;
        if is_signal { Ok(Signal(signal)) } else { Err(field.wrong("an AbortSignal")) }
    }

    pub fn is_aborted(self) -> napi::Result<bool> {
        self.0.get(c"aborted")?.boolean()
    }

    /// Why it was aborted; none where the platform does not say.
    pub fn reason(self) -> napi::Result<Option<Js<'env>>> {
        let reason = self.0.get(c"reason")?;
        Ok((reason.kind()? != ValueType::Undefined).then_some(reason))
    }

    /// Calls `abort` when the signal fires.
    pub fn listen(self, abort: impl Fn() + 'static) -> napi::Result<Subscription> {
        let env = self.0.env();
        let listener: Listener<'_> = env.create_function_from_closure("abort", move |_| {
            abort();
            Ok(())
        })?;
        let subscription =
            Subscription { signal: object(self.0).create_ref()?, listener: listener.create_ref()? };
        change(object(self.0), "addEventListener", listener)?;
        Ok(subscription)
    }
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
        Signal(Js::from_rust(env, signal)?).reason()
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
