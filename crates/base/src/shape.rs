//! What requests and options that are deserialized (`serde`) have in common. Their field names are
//! those in `index.d.ts`. Each type is deserialized through a flat struct, its *shape*, which is
//! defined next to it.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// A string, or an array of strings.
#[derive(Debug, Default)]
pub struct OneOrMany<T = String>(pub Vec<T>);

impl<'de, T: From<String> + Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Given<T>(PhantomData<T>);

        impl<'de, T: From<String> + Deserialize<'de>> Visitor<'de> for Given<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string or an array of strings")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMany<T>, E> {
                Ok(OneOrMany(vec![text.to_owned().into()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<OneOrMany<T>, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(items)).map(OneOrMany)
            }
        }

        deserializer.deserialize_any(Given(PhantomData))
    }
}

/// Deserializes a request from an object, or from a string that is its path.
pub fn path_or_object<'de, S, D>(
    deserializer: D,
    of_path: impl FnOnce(String) -> S,
) -> Result<S, D::Error>
where
    S: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Given<S, F>(F, PhantomData<S>);

    impl<'de, S: Deserialize<'de>, F: FnOnce(String) -> S> Visitor<'de> for Given<S, F> {
        type Value = S;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a path, or an object with a path")
        }

        fn visit_str<E: Error>(self, path: &str) -> Result<S, E> {
            Ok((self.0)(path.to_owned()))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<S, A::Error> {
            S::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_any(Given(of_path, PhantomData))
}

/// Deserializes an option; null means that it is omitted.
pub fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Converts a number of bytes to `usize`, saturating.
pub fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Deserializes a number of bytes, saturating.
pub fn sized<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    u64::deserialize(deserializer).map(size)
}

/// An integer from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug)]
pub struct Whole<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Whole<MIN, MAX> {
    /// The number, within the bounds.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// The number of a line, from 1.
pub type LineNumber = Whole<1, { u32::MAX as u64 }>;

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Given<const MIN: u64, const MAX: u64>;

        impl<const MIN: u64, const MAX: u64> Visitor<'_> for Given<MIN, MAX> {
            type Value = Whole<MIN, MAX>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "a whole number from {MIN} to {MAX}")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Whole<MIN, MAX>, E> {
                if (MIN..=MAX).contains(&number) {
                    return Ok(Whole(number));
                }
                Err(E::invalid_value(Unexpected::Unsigned(number), &self))
            }
        }

        deserializer.deserialize_u64(Given)
    }
}
