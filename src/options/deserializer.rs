//! Deserializes JavaScript values with `serde`. All arguments and options are read here, so every
//! error has the same form: where the value is, what it is, and what was expected.

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
use crate::error::{CallError, Result};
use crate::js::Js;
use crate::scripts;

/// The largest integer up to which JavaScript numbers have no gaps.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// A value that the caller passed.
#[derive(Clone, Copy)]
pub struct Given<'a, 'env> {
    value: Js<'env>,
    kind: ValueType,
    place: Place<'a>,
    /// Its properties, if they were read before.
    found: Option<&'a [Property<'env>]>,
}

/// An argument of a call, or an option that the call reads itself.
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

    /// Whether the value counts as omitted.
    pub fn is_missing(self) -> bool {
        matches!(self.kind, ValueType::Undefined | ValueType::Null)
    }

    /// Deserializes the value.
    pub fn read<T: DeserializeOwned>(self) -> Result<T> {
        T::deserialize(self).map_err(|why| why.at(&self))
    }

    /// The same value with its properties, so that they are not read again.
    pub fn having<'b>(self, found: &'b [Property<'env>]) -> Given<'b, 'env>
    where
        'a: 'b,
    {
        Given { found: Some(found), ..self }
    }

    /// The refusal of the value.
    pub fn wrong(&self, expected: &str) -> CallError {
        match self.value.describe() {
            Ok(is) => {
                Error::argument(format!("{} is {is}: expected {expected}", self.place)).into()
            }
            Err(error) => error.into(),
        }
    }

    /// The properties of an object, except undefined ones. Refuses a value that is not an object
    /// (or what `or` names), and unknown names.
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
        // A JavaScript number holds 53 bits exactly.
        debug_assert!(known.names.clone().count() <= 53);
        let (set, mut at) = (found.element(0)?.number()? as u64, 0);
        let mut properties = Vec::new();
        for (number, name) in known.names.clone().enumerate() {
            if set >> number & 1 == 1 {
                at += 1;
                // Handles live as long as the call, and so as long as the object's own handle.
                let value = Js::new(env.raw(), found.element(at)?.raw());
                properties.push(Property { name, value, kind: value.kind()? });
            }
        }
        Ok(properties)
    }

    /// How a message describes a missing property.
    fn missing(&self, name: &str) -> &'static str {
        let is_given = |property: &Property<'_>| property.name == name;
        if self.found.is_some_and(|found| found.iter().any(is_given)) {
            "null"
        } else {
            "undefined"
        }
    }

    /// A string. A lone surrogate is reported only if nothing else is wrong.
    fn visit_text<'de, V: Visitor<'de>>(self, visitor: V) -> Read<V::Value> {
        let (text, is_whole) = self.value.text_and_is_whole()?;
        let read = visitor.visit_string::<ReadError>(text)?;
        if !is_whole {
            let why = "holds a lone surrogate: expected a string that is valid Unicode";
            return Err(Error::new(Code::UnencodableText, format!("{} {why}", self.place)).into());
        }
        Ok(read)
    }
}

type Read<T> = std::result::Result<T, ReadError>;

impl<'de> Deserializer<'de> for Given<'_, '_> {
    type Error = ReadError;

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
            _ => Err(ReadError::expected(&visitor)),
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
            return Err(ReadError::expected(&visitor));
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

    /// One of a few names.
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
                Err(ReadError::Expected(format!("one of {}", words.join(", "))))
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
    /// The address of the list of names, which identifies it.
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
    /// A function that takes an object and returns its properties that are not undefined, preceded
    /// by a number with one bit per property; or the first unknown name. One call of it costs less
    /// than a call of Node-API for each name.
    fn reader<'env>(&self, env: &'env Env) -> napi::Result<Js<'env>> {
        scripts::kept(env, (self.key, u64::MAX), || {
            let maker = Js::run_script(env, &reader_source(self.names.clone()))?;
            maker.call(&[object_keys(env)?.raw()])
        })
    }
}

/// `Object.keys` as it was when the addon was loaded, even if a script replaces it later.
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
    /// The property with this name, unless it counts as omitted.
    pub fn named(all: &[Property<'env>], name: &'static str) -> Option<Field<'env>> {
        let found = all.iter().find(|property| property.name == name && !property.is_null())?;
        Some(found.at(Place::Option(name)))
    }

    /// Null counts as omitted.
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
    /// If set, only these are read.
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
    type Error = ReadError;

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

/// The properties of an object whose names are data. They are read on demand.
struct Entries<'a, 'env> {
    holder: &'a Given<'a, 'env>,
    keys: Option<Js<'env>>,
    next: u32,
    value: Option<(String, Js<'env>)>,
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = ReadError;

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
                return seed.deserialize(StrDeserializer::<ReadError>::new(name)).map(Some);
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
    type Error = ReadError;

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

/// Why a value could not be read. The caller adds its place.
#[derive(Debug)]
pub enum ReadError {
    /// It is not what a type expects.
    Expected(String),
    /// Another error, with its message.
    Other(String),
    /// The object lacks a property.
    Missing(&'static str),
    /// The object has a name that is not in this list.
    Unknown(&'static [&'static str]),
    /// A complete error.
    Call(CallError),
}

impl ReadError {
    fn expected(expected: &dyn Expected) -> ReadError {
        ReadError::Expected(in_words(&expected.to_string()))
    }

    /// The error for the caller.
    pub fn at(self, given: &Given<'_, '_>) -> CallError {
        let place = given.place;
        match self {
            ReadError::Expected(expected) => given.wrong(&expected),
            ReadError::Other(why) => Error::argument(format!("{place}: {why}")).into(),
            // All required properties are strings.
            ReadError::Missing(name) => {
                let is = given.missing(name);
                Error::argument(format!("{place}.{name} is {is}: expected a string")).into()
            }
            ReadError::Unknown(names) => {
                Error::argument(format!("{place}: the known names are {}", names.join(", "))).into()
            }
            ReadError::Call(error) => error,
        }
    }
}

/// How messages describe the types that Rust expects. The descriptions on the left are those of
/// `serde`, which may change: `__test__/options.test.mjs` fails for an unknown one.
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

impl<T: Into<CallError>> From<T> for ReadError {
    fn from(error: T) -> ReadError {
        ReadError::Call(error.into())
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

impl std::error::Error for ReadError {}

impl serde::de::Error for ReadError {
    fn custom<T: fmt::Display>(why: T) -> ReadError {
        ReadError::Other(why.to_string())
    }

    fn invalid_type(is: Unexpected<'_>, expected: &dyn Expected) -> ReadError {
        match (is, expected.to_string()) {
            // A number, but not a whole number of lines.
            (Unexpected::Float(_), words) if words.ends_with("a number of lines") => {
                ReadError::Expected(in_words("u64"))
            }
            (_, words) => ReadError::Expected(in_words(&words)),
        }
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> ReadError {
        ReadError::expected(expected)
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> ReadError {
        ReadError::expected(expected)
    }

    fn missing_field(name: &'static str) -> ReadError {
        ReadError::Missing(name)
    }

    fn unknown_field(_: &str, known: &'static [&'static str]) -> ReadError {
        ReadError::Unknown(known)
    }
}
