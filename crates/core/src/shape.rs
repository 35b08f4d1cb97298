//! What requests and options that come as data (`serde`) have in common. Their names are those
//! that `index.d.ts` declares; each is read through a flat struct of its own, the *shape*, next
//! to what is made of it.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A string, or an array of strings.
#[derive(Debug, Default)]
pub(crate) struct OneOrMany(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Given;

        impl<'de> Visitor<'de> for Given {
            type Value = OneOrMany;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string or an array of strings")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMany, E> {
                Ok(OneOrMany(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<OneOrMany, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(items)).map(OneOrMany)
            }
        }

        deserializer.deserialize_any(Given)
    }
}

/// A number of bytes in memory; more than there can be is as good as the most.
pub(crate) fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
