//! Arguments and options of calls. Their shapes are those of the core's types as data (`serde`);
//! each call names the options that it accepts.
//!
//! The interfaces in `patch.d.ts` document them for users; `__test__/options.test.mjs` compares the
//! two.

mod deserializer;
mod place;
mod workspace;

use hashline_core::{Code, Error};
use napi::ValueType;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;

use super::error::Result;
use super::js::Js;
pub use deserializer::{Field, object_keys};
use deserializer::{Given, Known, Property, ReadError};
pub use place::Place;
pub use workspace::{COMMIT, DIALECT, EDIT, FILES, HOST, ROOT, STATE, workspace_options};

/// The option names of a call, in groups that several calls share.
pub type OptionNames = &'static [&'static [&'static str]];

/// The option that cancels a call. Only JavaScript has it.
pub const SIGNAL: &[&str] = &["signal"];

/// The options of a call: an object, or nothing.
pub struct Options<'env> {
    given: Field<'env>,
    properties: Vec<Property<'env>>,
}

impl<'env> Options<'env> {
    /// Rejects a value that is not an object, and unknown option names.
    pub fn of(value: Js<'env>, names: OptionNames) -> Result<Self> {
        let given = Field::argument("options", value)?;
        let properties = match given.is_missing() {
            true => Vec::new(),
            false => given.properties("", Known::in_groups(names))?,
        };
        Ok(Options { given, properties })
    }

    /// Deserializes the options that `T` declares.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        self.given.having(&self.properties).read()
    }

    /// A single option.
    pub fn one(&self, name: &'static str) -> Option<Field<'env>> {
        Property::named(&self.properties, name)
    }

    /// The option `signal`, which the call reads itself.
    pub fn signal(&self) -> Option<Field<'env>> {
        self.one("signal")
    }
}

/// Reads a request: an object, or a string that is its path.
pub fn request<T: DeserializeOwned>(value: Js<'_>, place: Place<'_>) -> Result<T> {
    let given = Given::new(value, place)?;
    if given.is(ValueType::String) {
        return given.read();
    }
    let properties = given.properties("a path, or ", Known::of(names_of::<T>()?))?;
    given.having(&properties).read()
}

/// The property names that a type declares. The type lists them when it refuses an object with an
/// unknown name.
fn names_of<'de, T: Deserialize<'de>>() -> Result<&'static [&'static str]> {
    match T::deserialize(MapDeserializer::new([("", ())].into_iter())) {
        Err(ReadError::Unknown(names)) => Ok(names),
        _ => Err(Error::new(Code::Internal, "the type of a request does not refuse unknown names")
            .into()),
    }
}
