//! A value of JavaScript as what `serde` reads types from. Nothing else reads arguments and
//! options, so what is wrong with one is told in the same way everywhere: where it stands, what it
//! is, and what was expected.

use std::fmt;
use std::slice;

use hashline_core::{Code, Error};
use napi::{Env, ValueType};
use serde::Deserializer;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Expected, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{OptionNames, Place};
use crate::fault::{Fault, Result};
use crate::js::Js;
use crate::scripts;

/// The largest number that JavaScript counts to without gaps.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// A value that was passed.
#[derive(Clone, Copy)]
pub struct Given<'a, 'env> {
    value: Js<'env>,
    kind: ValueType,
    place: Place<'a>,
    /// Its properties, where somebody has looked at them.
    found: Option<&'a [Property<'env>]>,
}

/// An argument of the call, or an option that it looks at itself.
pub type Field<'env> = Given<'env, 'env>;

impl<'env> Field<'env> {
    pub fn argument(name: &'static str, value: Js<'env>) -> napi::Result<Self> {
        Given::new(value, Place::Argument(name))
    }
}

impl<'a, 'env> Given<'a, 'env> {
    pub fn new(value: Js<'env>, place: Place<'a>) -> napi::Result<Self> {
        Ok(Given { value, kind: value.kind()?, place, found: None })
    }

    pub fn value(self) -> Js<'env> {
        self.value
    }

    pub fn is(self, kind: ValueType) -> bool {
        self.kind == kind
    }

    /// Whether it counts as left out.
    pub fn is_missing(self) -> bool {
        matches!(self.kind, ValueType::Undefined | ValueType::Null)
    }

    /// The value as a type of Rust.
    pub fn read<T: DeserializeOwned>(self) -> Result<T> {
        T::deserialize(self).map_err(|why| why.at(&self))
    }

    /// The same value, with its properties, which are not read again.
    pub fn having<'b>(self, found: &'b [Property<'env>]) -> Given<'b, 'env>
    where
        'a: 'b,
    {
        Given { found: Some(found), ..self }
    }

    /// The refusal of the value.
    pub fn wrong(&self, expected: &str) -> Fault {
        match self.value.describe() {
            Ok(is) => {
                Error::argument(format!("{} is {is}: expected {expected}", self.place)).into()
            }
            Err(error) => error.into(),
        }
    }

    /// The properties of an object, without those that are undefined. Refuses what is no object,
    /// `or` something else, and names that are not known.
    pub fn properties(
        &self,
        or: &str,
        known: Known<impl Iterator<Item = &'static str> + Clone>,
    ) -> Result<Vec<Property<'env>>> {
        let names = || known.names.clone().collect::<Vec<_>>().join(", ");
        if !self.is(ValueType::Object) || self.value.is_array()? || self.value.is_typed_array()? {
            return Err(self.wrong(&format!("{or}an object with {}", names())));
        }
        let env = self.value.env();
        let found = known.reader(&env)?.call(&[self.value.raw()])?;
        if let Some(key) = found.text_if_any()? {
            let place = self.place;
            return Err(Error::argument(format!(
                "{place} has the unknown name {key:?}: the known ones are {}",
                names()
            ))
            .into());
        }
        // A number of JavaScript holds so many bits without loss.
        debug_assert!(known.names.clone().count() <= 53);
        let (set, mut at) = (found.element(0)?.number()? as u64, 0);
        let mut properties = Vec::new();
        for (number, name) in known.names.clone().enumerate() {
            if set >> number & 1 == 1 {
                at += 1;
                // Handles of a call live as long as the call, and so as long as the object's own.
                let value = Js::new(env.raw(), found.element(at)?.raw());
                properties.push(Property { name, value, kind: value.kind()? });
            }
        }
        Ok(properties)
    }

    /// What stands in place of a property that is missing.
    fn missing(&self, name: &str) -> &'static str {
        let is_given = |property: &Property<'_>| property.name == name;
        if self.found.is_some_and(|found| found.iter().any(is_given)) {
            "null"
        } else {
            "undefined"
        }
    }

    /// A string. That it cannot be one of Rust is told if nothing else is wrong with it.
    fn visit_text<'de, V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        let (text, is_whole) = self.value.text_and_is_whole()?;
        let read = visitor.visit_string::<Unread>(text)?;
        if !is_whole {
            let why = "holds a lone surrogate: expected a string that is valid Unicode";
            return Err(Error::new(Code::UnencodableText, format!("{} {why}", self.place)).into());
        }
        Ok(read)
    }
}

type Read<T> = std::result::Result<T, Unread>;

impl<'de> Deserializer<'de> for Given<'_, '_> {
    type Error = Unread;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        if let Some(found) = self.found {
            return visitor.visit_map(Properties::of(&self, found, None));
        }
        match self.kind {
            ValueType::Boolean => visitor.visit_bool(self.value.boolean()?),
            ValueType::Number => match self.value.number()? {
                count if is_count(count) => visitor.visit_u64(count as u64),
                number => visitor.visit_f64(number),
            },
            ValueType::String => self.visit_text(visitor),
            ValueType::Object if self.value.is_array()? => {
                visitor.visit_seq(Items { holder: &self, next: 0, len: self.value.array_len()? })
            }
            ValueType::Object => {
                visitor.visit_map(Entries { holder: &self, keys: None, next: 0, value: None })
            }
            _ => Err(Unread::expected(&visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        if self.is_missing() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    /// An array, or its only element.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        if self.is(ValueType::String) {
            return visitor.visit_seq(Items { holder: &self, next: 0, len: 1 });
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Read<V::Value> {
        if self.value.is_array()? && self.value.array_len()? as usize != len {
            return Err(Unread::expected(&visitor));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Read<V::Value> {
        if let Some(found) = self.found {
            return visitor.visit_map(Properties::of(&self, found, Some(names)));
        }
        let found = self.properties("", Known::of(names))?;
        let given = self.having(&found);
        let read = visitor.visit_map(Properties::of(&given, &found, None));
        Ok(read.map_err(|why| why.at(&given))?)
    }

    /// One of a few words.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Read<V::Value> {
        let given = self.value.text_if_any()?;
        match words.iter().find(|word| given.as_deref() == Some(**word)) {
            Some(word) => visitor.visit_enum(StrDeserializer::new(word)),
            None => {
                let words: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
                Err(Unread::Expected(format!("one of {}", words.join(", "))))
            }
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct tuple_struct map identifier ignored_any
    }
}

fn is_count(number: f64) -> bool {
    number.fract() == 0.0 && (0.0..=MAX_SAFE_INTEGER as f64).contains(&number)
}

/// The names that an object may have.
pub struct Known<I> {
    /// The address of the list of names: it tells this list from others.
    key: usize,
    names: I,
}

impl Known<()> {
    pub fn of(names: &'static [&'static str]) -> Known<impl Iterator<Item = &'static str> + Clone> {
        Known { key: names.as_ptr().addr(), names: names.iter().copied() }
    }

    pub fn in_groups(groups: OptionNames) -> Known<impl Iterator<Item = &'static str> + Clone> {
        Known { key: groups.as_ptr().addr(), names: groups.iter().copied().flatten().copied() }
    }
}

impl<I: Iterator<Item = &'static str> + Clone> Known<I> {
    /// A function that takes an object and returns its properties that are not undefined, behind a
    /// number with a bit for each of them; or the first name of the object that is not known. One
    /// call of it costs less than a call of Node-API for each name.
    fn reader<'env>(&self, env: &'env Env) -> napi::Result<Js<'env>> {
        scripts::kept(env, (self.key, u64::MAX), || {
            let maker = Js::run_script(env, &reader_source(self.names.clone()))?;
            maker.call(&[object_keys(env)?.raw()])
        })
    }
}

/// `Object.keys` as it was when the addon was loaded, whatever scripts put in its place later.
pub fn object_keys(env: &Env) -> napi::Result<Js<'_>> {
    const SOURCE: &str = "Object.keys";
    scripts::kept(env, (SOURCE.as_ptr().addr(), 0), || Js::run_script(env, SOURCE))
}

fn reader_source(names: impl Iterator<Item = &'static str> + Clone) -> String {
    let cases: String = names.clone().map(|name| format!("case {name:?}:")).collect();
    let read = |(number, name)| {
        format!(
            "if((value=object[{name:?}])!==undefined){{found[end++]=value;found[0]+=2**{number}}}"
        )
    };
    let reads: String = names.enumerate().map(read).collect();
    format!(
        "keys=>object=>{{
            const all=keys(object)
            for(let at=0;at<all.length;at++)switch(all[at]){{{cases}break;default:return all[at]}}
            const found=[0];let value,end=1
            {reads}
            return found
        }}"
    )
}

/// A property of an object that is not undefined.
#[derive(Clone, Copy)]
pub struct Property<'env> {
    name: &'static str,
    value: Js<'env>,
    kind: ValueType,
}

impl<'env> Property<'env> {
    /// The value of the one with a name among these, unless it counts as left out.
    pub fn named(all: &[Property<'env>], name: &'static str) -> Option<Field<'env>> {
        let found = all.iter().find(|property| property.name == name && !property.is_null())?;
        Some(found.at(Place::Option(name)))
    }

    /// Null counts as left out.
    fn is_null(&self) -> bool {
        self.kind == ValueType::Null
    }

    fn at<'a>(&self, place: Place<'a>) -> Given<'a, 'env> {
        Given { value: self.value, kind: self.kind, place, found: None }
    }
}

/// Properties of an object.
struct Properties<'a, 'env> {
    holder: &'a Given<'a, 'env>,
    left: slice::Iter<'a, Property<'env>>,
    /// Only these are taken, if it is said.
    known: Option<&'static [&'static str]>,
    next: Option<&'a Property<'env>>,
}

impl<'a, 'env> Properties<'a, 'env> {
    fn of(
        holder: &'a Given<'a, 'env>,
        all: &'a [Property<'env>],
        known: Option<&'static [&'static str]>,
    ) -> Self {
        Properties { holder, left: all.iter(), known, next: None }
    }
}

impl<'de> MapAccess<'de> for Properties<'_, '_> {
    type Error = Unread;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Read<Option<K::Value>> {
        let is_known = |name| self.known.is_none_or(|known| known.contains(name));
        self.next = self.left.find(|one| is_known(&one.name) && !one.is_null());
        let name = self.next.map(|one| StrDeserializer::new(one.name));
        name.map(|name| seed.deserialize(name)).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Read<V::Value> {
        let property = self.next.ok_or_else(nameless)?;
        let given = property.at(Place::Field(&self.holder.place, property.name));
        Ok(seed.deserialize(given).map_err(|why| why.at(&given))?)
    }
}

fn nameless() -> Error {
    Error::new(Code::Internal, "a property without its name")
}

/// The properties of an object whose names are data. It is looked at when they are asked for.
struct Entries<'a, 'env> {
    holder: &'a Given<'a, 'env>,
    keys: Option<Js<'env>>,
    next: u32,
    value: Option<(String, Js<'env>)>,
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = Unread;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Read<Option<K::Value>> {
        let object = self.holder.value;
        let keys = self.keys.map_or_else(|| object.own_keys(), Ok)?;
        self.keys = Some(keys);
        while self.next < keys.array_len()? {
            let key = keys.element(self.next)?;
            self.next += 1;
            let value = object.get_by(key)?;
            if value.kind()? != ValueType::Undefined {
                let (name, _) = self.value.insert((key.lossy_text()?, value));
                return seed.deserialize(StrDeserializer::<Unread>::new(name)).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Read<V::Value> {
        let (name, value) = self.value.take().ok_or_else(nameless)?;
        let given = Given::new(value, Place::Entry(&self.holder.place, &name))?;
        Ok(seed.deserialize(given).map_err(|why| why.at(&given))?)
    }
}

/// The elements of an array.
struct Items<'a, 'env> {
    holder: &'a Given<'a, 'env>,
    next: u32,
    len: u32,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = Unread;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Read<Option<T::Value>> {
        if self.next == self.len {
            return Ok(None);
        }
        let (holder, index) = (self.holder, self.next);
        self.next += 1;
        let given = match holder.kind {
            ValueType::String => *holder,
            _ => Given::new(holder.value.element(index)?, Place::Item(&holder.place, index))?,
        };
        Ok(Some(seed.deserialize(given).map_err(|why| why.at(&given))?))
    }
}

/// Why a value could not be read; without its place, which whoever asked for it knows.
#[derive(Debug)]
pub enum Unread {
    /// It is not what a type expects.
    Expected(String),
    /// Something else is wrong with it.
    Said(String),
    /// It is an object that lacks a property.
    Missing(&'static str),
    /// It is an object with a name that is none of these.
    Unknown(&'static [&'static str]),
    /// All is said.
    Fault(Fault),
}

impl Unread {
    fn expected(expected: &dyn Expected) -> Unread {
        Unread::Expected(in_words(&expected.to_string()))
    }

    /// What the caller is told of the value.
    pub fn at(self, given: &Given<'_, '_>) -> Fault {
        let place = given.place;
        match self {
            Unread::Expected(expected) => given.wrong(&expected),
            Unread::Said(why) => Error::argument(format!("{place}: {why}")).into(),
            // What must be there is text, everywhere.
            Unread::Missing(name) => {
                let is = given.missing(name);
                Error::argument(format!("{place}.{name} is {is}: expected a string")).into()
            }
            Unread::Unknown(names) => {
                Error::argument(format!("{place}: the known names are {}", names.join(", "))).into()
            }
            Unread::Fault(fault) => fault,
        }
    }
}

/// How JavaScript calls what the types of Rust expect. The words on the left are those of `serde`,
/// which promises none of them: `__test__/options.test.mjs` fails where one is not known here.
fn in_words(expected: &str) -> String {
    let whole = |max: u64| format!("a whole number from 0 to {max}");
    match expected {
        "a boolean" => "true or false".to_owned(),
        "path string" => "a string".to_owned(),
        "u32" => whole(u32::MAX.into()),
        "u64" | "usize" => whole(MAX_SAFE_INTEGER),
        "a sequence" => "a string or an array of strings".to_owned(),
        "a tuple of size 2" => "an array of two whole numbers".to_owned(),
        other => other.to_owned(),
    }
}

impl<T: Into<Fault>> From<T> for Unread {
    fn from(fault: T) -> Unread {
        Unread::Fault(fault.into())
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

impl std::error::Error for Unread {}

impl serde::de::Error for Unread {
    fn custom<T: fmt::Display>(why: T) -> Unread {
        Unread::Said(why.to_string())
    }

    fn invalid_type(is: Unexpected<'_>, expected: &dyn Expected) -> Unread {
        match (is, expected.to_string()) {
            // It is a number, but none of lines.
            (Unexpected::Float(_), words) if words.ends_with("a number of lines") => {
                Unread::Expected(in_words("u64"))
            }
            (_, words) => Unread::Expected(in_words(&words)),
        }
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Unread {
        Unread::expected(expected)
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Unread {
        Unread::expected(expected)
    }

    fn missing_field(name: &'static str) -> Unread {
        Unread::Missing(name)
    }

    fn unknown_field(_: &str, known: &'static [&'static str]) -> Unread {
        Unread::Unknown(known)
    }
}
