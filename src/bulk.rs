//! Creates many JavaScript objects of the same shape.
//!
//! Setting properties one at a time creates each key again and moves the object from one hidden
//! class to the next. Instead, a JavaScript function takes the values and returns an object
//! literal. There is one function for each set of optional fields that are present, because absent
//! properties must not exist. Each environment caches its functions.

use napi::bindgen_prelude::ToNapiValue;
use napi::{Env, sys};

use super::js::Js;
use super::scripts;

/// A type that is converted into a JavaScript object.
pub trait Bulk {
    /// The property names.
    const NAMES: &'static [&'static str];

    /// The values, in the order of `NAMES`; `None` for an absent property.
    fn values(self, env: &Env) -> napi::Result<Vec<Option<Js<'_>>>>;
}

/// Implements [`Bulk`] for a struct by its fields, all of them optional.
macro_rules! bulk {
    ($name:ident { $($field:ident: $js_name:literal),* }) => {
        impl $crate::bulk::Bulk for $name {
            const NAMES: &'static [&'static str] = &[$($js_name),*];

            fn values(self, env: &napi::Env) -> napi::Result<Vec<Option<$crate::js::Js<'_>>>> {
                Ok(vec![$(self.$field.map(|value| $crate::js::Js::from_rust(env, value)).transpose()?),*])
            }
        }
    };
}
pub(super) use bulk;

/// An array of objects.
pub struct Objects<T>(pub Vec<T>);

impl<T: Bulk> ToNapiValue for Objects<T> {
    unsafe fn to_napi_value(env: sys::napi_env, objects: Self) -> napi::Result<sys::napi_value> {
        let env = Env::from_raw(env);
        let array = Js::new_array(&env, objects.0.len())?;
        for (index, object) in (0..).zip(objects.0) {
            let values = object.values(&env)?;
            let present = (0..).zip(&values).filter(|(_, value)| value.is_some());
            let set = present.map(|(bit, _)| 1 << bit).sum();
            let factory = scripts::kept(&env, (T::NAMES.as_ptr().addr(), set), || {
                Js::run_script(&env, &source(T::NAMES, set))
            })?;
            let arguments: Vec<_> = values.iter().flatten().map(|value| value.raw()).collect();
            array.set_element(index, factory.call(&arguments)?)?;
        }
        Ok(array.raw())
    }
}

/// The source of a function that returns an object with the properties whose bits are in `set`.
fn source(names: &[&str], set: u64) -> String {
    let present = names.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
    let names: Vec<_> = present.map(|(_, name)| *name).collect();
    let names = names.join(",");
    format!("(({names})=>({{{names}}}))")
}

#[cfg(test)]
mod tests {
    use super::source;

    #[test]
    fn a_function_takes_and_returns_what_is_present() {
        assert_eq!(source(&["path", "nextLine", "text"], 0b101), "((path,text)=>({path,text}))");
        assert_eq!(source(&["path"], 0b1), "((path)=>({path}))");
    }
}
