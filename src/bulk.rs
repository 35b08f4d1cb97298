//! Objects of one kind for JavaScript.
//!
//! Setting properties one by one makes the key anew each time and moves the object from hidden
//! class to hidden class. So a function of JavaScript is made that takes the values and returns
//! an object literal; one for each set of optional fields that are present, since the others
//! must stay absent. Each environment keeps those that were made for it.

use std::marker::PhantomData;

use napi::bindgen_prelude::ToNapiValue;
use napi::{Env, sys};

use super::js::Js;
use super::scripts;
use super::text::{Text, Word};

/// What JavaScript receives as an object.
pub trait Bulk {
    /// The properties in their order.
    const NAMES: &'static [&'static str];

    /// Their values in the same order; `None` for one that is absent.
    fn values<'env>(self, maker: &mut Maker<'env>) -> napi::Result<Vec<Option<Js<'env>>>>;
}

/// Implements [`Bulk`] for a struct by its fields, all of them: first those that are always
/// present, then the optional ones, as napi's derive orders them.
macro_rules! bulk {
    ($name:ident { $($field:ident: $js_name:literal),* }) => {
        impl $crate::bulk::Bulk for $name {
            const NAMES: &'static [&'static str] = &[$($js_name),*];

            fn values<'env>(
                self,
                maker: &mut $crate::bulk::Maker<'env>,
            ) -> napi::Result<Vec<Option<$crate::js::Js<'env>>>> {
                use $crate::bulk::BulkValue;
                let $name { $($field),* } = self;
                Ok(vec![$($field.make(maker)?),*])
            }
        }
    };
}
pub(super) use bulk;

/// Implements [`BulkValue`] for kinds of which each value is converted for itself.
macro_rules! converted {
    ($($kind:ty),*) => {
        $(impl $crate::bulk::BulkValue for $kind {
            fn make<'env>(
                self,
                maker: &mut $crate::bulk::Maker<'env>,
            ) -> napi::Result<Option<$crate::js::Js<'env>>> {
                maker.convert(self).map(Some)
            }
        })*
    };
}
pub(super) use converted;

/// An array of objects.
pub struct Objects<T>(pub Vec<T>);

impl<T: Bulk> ToNapiValue for Objects<T> {
    unsafe fn to_napi_value(env: sys::napi_env, objects: Self) -> napi::Result<sys::napi_value> {
        let env = Env::from_raw(env);
        let objects = objects.0;
        let array = Js::new_array(&env, objects.len())?;
        let mut factories = Factories::<T>::default();
        let mut maker = Maker { env: &env, words: Vec::new() };
        for (index, object) in (0..).zip(objects) {
            let values = object.values(&mut maker)?;
            array.set_element(index, factories.object(&env, &values)?)?;
        }
        Ok(array.raw())
    }
}

/// A function for each set of present properties that an answer needed: a bit of the number for
/// each property.
struct Factories<'env, T> {
    made: Vec<(u64, Js<'env>)>,
    of: PhantomData<T>,
}

impl<T> Default for Factories<'_, T> {
    fn default() -> Self {
        Factories { made: Vec::new(), of: PhantomData }
    }
}

impl<'env, T: Bulk> Factories<'env, T> {
    fn object(&mut self, env: &'env Env, values: &[Option<Js<'env>>]) -> napi::Result<Js<'env>> {
        let present = (0..).zip(values).filter(|(_, value)| value.is_some());
        let set = present.map(|(bit, _)| 1 << bit).sum();
        let factory = match self.made.iter().find(|(made, _)| *made == set) {
            Some((_, factory)) => *factory,
            None => {
                let factory = kept_factory(env, T::NAMES, set)?;
                self.made.push((set, factory));
                factory
            }
        };
        let arguments: Vec<_> = values.iter().flatten().map(|value| value.raw()).collect();
        factory.call(&arguments)
    }
}

fn kept_factory<'env>(
    env: &'env Env,
    names: &'static [&'static str],
    set: u64,
) -> napi::Result<Js<'env>> {
    scripts::kept(env, (names.as_ptr().addr(), set), || Js::run_script(env, &source(names, set)))
}

/// The function that returns an object with these of the properties.
fn source(names: &[&str], set: u64) -> String {
    let present = names.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
    let names: Vec<_> = present.map(|(_, name)| *name).collect();
    let names = names.join(",");
    format!("(({names})=>({{{names}}}))")
}

/// Makes the values of objects.
pub struct Maker<'env> {
    env: &'env Env,
    words: Vec<(&'static str, Js<'env>)>,
}

impl<'env> Maker<'env> {
    /// The value as napi converts it.
    pub fn convert<T: ToNapiValue>(&self, value: T) -> napi::Result<Js<'env>> {
        Js::from_rust(self.env, value)
    }
}

/// The value of a property.
pub trait BulkValue {
    /// The value; `None` when the property is to be absent.
    fn make<'env>(self, maker: &mut Maker<'env>) -> napi::Result<Option<Js<'env>>>;
}

impl<T: BulkValue> BulkValue for Option<T> {
    fn make<'env>(self, maker: &mut Maker<'env>) -> napi::Result<Option<Js<'env>>> {
        self.map_or(Ok(None), |value| value.make(maker))
    }
}

impl BulkValue for Word {
    /// The same few words stand in all objects: each is made once.
    fn make<'env>(self, maker: &mut Maker<'env>) -> napi::Result<Option<Js<'env>>> {
        if let Some((_, made)) = maker.words.iter().find(|(word, _)| *word == self.0) {
            return Ok(Some(*made));
        }
        let word = self.0;
        let made = Js::from_rust(maker.env, self)?;
        maker.words.push((word, made));
        Ok(Some(made))
    }
}

impl BulkValue for Text {
    fn make<'env>(self, maker: &mut Maker<'env>) -> napi::Result<Option<Js<'env>>> {
        Js::from_rust(maker.env, self).map(Some)
    }
}

impl BulkValue for String {
    fn make<'env>(self, maker: &mut Maker<'env>) -> napi::Result<Option<Js<'env>>> {
        Text::from(self).make(maker)
    }
}

converted!(f64, bool, Vec<f64>, Vec<Vec<f64>>);

#[cfg(test)]
mod tests {
    use super::source;

    #[test]
    fn a_function_takes_and_returns_what_is_present() {
        assert_eq!(source(&["path", "nextLine", "text"], 0b101), "((path,text)=>({path,text}))");
        assert_eq!(source(&["path"], 0b1), "((path)=>({path}))");
    }
}
