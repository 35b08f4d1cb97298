//! Arguments and options of calls. Their shapes are those that the core's types have as data
//! (`serde`); a call says which of these options it takes, by name.
//!
//! What users read of an object is an interface in `patch.d.ts`; `__test__/options.test.mjs`
//! compares the two.

mod deserializer;
mod place;
mod workspace;

use hashline_core::{Code, Error};
use napi::ValueType;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;

use super::fault::Result;
use super::js::Js;
pub use deserializer::{Field, object_keys};
use deserializer::{Given, Known, Property, Unread};
pub use place::Place;
pub use workspace::{COMMIT, DIALECT, EDIT, FILES, HOST, ROOT, STATE, workspace_options};

/// The names of the options of a call, in groups that several calls may have.
pub type OptionNames = &'static [&'static [&'static str]];

/// The option that cancels a call, which JavaScript alone has.
pub const SIGNAL: &[&str] = &["signal"];

/// The options of a call: an object, or nothing.
pub struct Options<'env> {
    given: Field<'env>,
    properties: Vec<Property<'env>>,
}

impl<'env> Options<'env> {
    /// Refuses what is no object, and names that the call does not have.
    pub fn of(value: Js<'env>, names: OptionNames) -> Result<Self> {
        let given = Field::argument("options", value)?;
        let properties = match given.is_missing() {
            true => Vec::new(),
            false => given.properties("", Known::in_groups(names))?,
        };
        Ok(Options { given, properties })
    }

    /// Those that a type knows, as it has them.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        self.given.having(&self.properties).read()
    }

    /// One of them alone.
    pub fn one(&self, name: &'static str) -> Option<Field<'env>> {
        Property::named(&self.properties, name)
    }

    /// The signal, which the call itself looks at.
    pub fn signal(&self) -> Option<Field<'env>> {
        self.one("signal")
    }
}

/// Reads a request: an object, or the path alone that it would have.
pub fn request<T: DeserializeOwned>(value: Js<'_>, place: Place<'_>) -> Result<T> {
    let given = Given::new(value, place)?;
    if given.is(ValueType::String) {
        return given.read();
    }
    let properties = given.properties("a path, or ", Known::of(names_of::<T>()?))?;
    given.having(&properties).read()
}

/// The names that an object may have from which a type is read. The type tells them when it refuses
/// an object with another name.
fn names_of<'de, T: Deserialize<'de>>() -> Result<&'static [&'static str]> {
    match T::deserialize(MapDeserializer::new([("", ())].into_iter())) {
        Err(Unread::Unknown(names)) => Ok(names),
        _ => Err(Error::new(Code::Internal, "a request whose type takes unknown names").into()),
    }
}
