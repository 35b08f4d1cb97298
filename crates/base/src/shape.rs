//! What requests and options that come as data (`serde`) have in common. Their names are those
//! that `index.d.ts` declares; each is read through a flat struct of its own, the *shape*, next
//! to what is made of it.

use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_path_to_error::{Error as PathError, Track};

use crate::error;

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

/// Reads a request that is an object, or the path alone that it would have.
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

/// Reads an option that is left out where it is null.
pub fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A number of bytes in memory; more than there can be is as good as the most.
pub fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Reads a number of bytes in memory.
pub fn sized<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    u64::deserialize(deserializer).map(size)
}

/// A whole number within bounds.
#[derive(Clone, Copy, Debug)]
pub struct Whole<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Whole<MIN, MAX> {
    /// The number, which is within the bounds.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// The number of a line, as an anchor can say it.
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

/// Refuses a JSON text in which an object has a key twice: readers differ in which of the values they
/// take. A text that is no JSON is for its reader to refuse.
pub fn unique_keys(text: &str) -> error::Result<()> {
    let mut open: Vec<OpenPart> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let mut end = at + 1;
        let depth = open.len();
        match (byte, open.last_mut()) {
            (b'"', inside) => {
                end = end_of_string(bytes, at);
                if let Some(OpenPart::Object { keys, key, is_key_next: is_next @ true }) = inside {
                    *key = key_of(text, at, end);
                    *is_next = false;
                    if !keys.insert(key.clone()) {
                        return Err(key_twice(&open));
                    }
                }
            }
            (b'{' | b'[', _) if depth > KEYS_LIMIT_LEVELS => return Ok(()),
            (b'{', _) => open.push(OpenPart::Object {
                keys: HashSet::new(),
                key: String::new(),
                is_key_next: true,
            }),
            (b'[', _) => open.push(OpenPart::Array { index: 0 }),
            (b'}' | b']', _) => drop(open.pop()),
            (b',', Some(OpenPart::Object { is_key_next, .. })) => *is_key_next = true,
            (b',', Some(OpenPart::Array { index })) => *index += 1,
            _ => {}
        }
        at = end;
    }
    Ok(())
}

/// Why a JSON text is not taken.
#[derive(Debug)]
pub enum JsonFault {
    /// It is no JSON, or not what was expected at a place.
    Malformed(PathError<serde_json::Error>),
    /// An object has a key twice.
    KeyTwice(error::Error),
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Where a text is no JSON, its line and column say enough.
            JsonFault::Malformed(cause) if !cause.inner().is_data() => cause.inner().fmt(f),
            JsonFault::Malformed(cause) => cause.fmt(f),
            JsonFault::KeyTwice(twice) => write!(f, "{}", twice.message),
        }
    }
}

/// What a JSON text says, in which no object has a key twice.
pub fn from_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, JsonFault> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(JsonFault::Malformed)?;
    let nowhere = || Track::new().path();
    reader.end().map_err(|cause| JsonFault::Malformed(PathError::new(nowhere(), cause)))?;
    unique_keys(&String::from_utf8_lossy(text)).map_err(JsonFault::KeyTwice)?;
    Ok(value)
}

/// What a JSON value says.
pub fn from_json_value<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, JsonFault> {
    serde_path_to_error::deserialize(value).map_err(JsonFault::Malformed)
}

/// Keys that are deeper are not compared: no reader of requests takes so many levels.
const KEYS_LIMIT_LEVELS: usize = 600;
/// How much of a key a message shows.
const SHOWN_KEY_CHARS: usize = 80;

/// An object or array in which a place of a text lies.
enum OpenPart {
    Object { keys: HashSet<String>, key: String, is_key_next: bool },
    Array { index: usize },
}

/// Where the string ends whose quote stands at a place, or the text.
fn end_of_string(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while let Some(next) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        match bytes[at + next] {
            b'"' => return at + next + 1,
            _ => at += next + 2,
        }
    }
    bytes.len()
}

/// The key in a piece of a text; one with half a character in it as it is written.
fn key_of(text: &str, start: usize, end: usize) -> String {
    let written = &text[start..end];
    serde_json::from_str(written).unwrap_or_else(|_| written.to_owned())
}

fn key_twice(open: &[OpenPart]) -> error::Error {
    let Some((OpenPart::Object { key, .. }, around)) = open.split_last() else {
        return error::Error::argument("a key is there twice");
    };
    let mut place = String::new();
    for one in around {
        let _ = match one {
            OpenPart::Object { key, .. } if place.is_empty() => write!(place, "{}", shown(key)),
            OpenPart::Object { key, .. } => write!(place, ".{}", shown(key)),
            OpenPart::Array { index } => write!(place, "[{index}]"),
        };
    }
    let object = if place.is_empty() { "the outer object" } else { &place };
    let key = serde_json::Value::from(shown(key));
    error::Error::argument(format!("{object} has the key {key} twice: give it once"))
}

fn shown(key: &str) -> String {
    match key.char_indices().nth(SHOWN_KEY_CHARS) {
        Some((end, _)) => format!("{}…", &key[..end]),
        None => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_a_key_that_is_there_twice_is_refused_with_its_place() {
        for (text, part) in [
            (
                r#"{"operations":[],"operations":[]}"#,
                r#"the outer object has the key "operations" twice"#,
            ),
            (
                r#"{"operations":[{},{"a":{"b":1},"a":2}]}"#,
                r#"operations[1] has the key "a" twice"#,
            ),
            (r#"[[1,{"x":{"k":[],"b":"}","k":{}}}]]"#, r#"[0][1].x has the key "k" twice"#),
            (r#"{"a":1,"\u0061":2}"#, r#"the key "a" twice"#),
            (r#"{"\ud83d":1,"\ud83d":2}"#, "twice"),
            (r#"{"":1,"":2}"#, r#"the key "" twice"#),
            (r#"{"a\"":",","a\"":2"#, r#"the key "a\"" twice"#),
        ] {
            let error = unique_keys(text).unwrap_err();
            assert_eq!(error.code, error::Code::InvalidArgument);
            assert!(error.message.contains(part), "{}", error.message);
        }
        let long = "k".repeat(5_000);
        let error = unique_keys(&format!("{{\"{long}\":1,\"{long}\":2}}")).unwrap_err();
        assert!(error.message.len() < 200, "{}", error.message);
    }

    #[test]
    fn keys_of_several_objects_may_be_alike() {
        let deep = "[".repeat(100_000);
        for text in [
            "",
            "\"",
            "\"\\",
            "}]{",
            r#"[{"a":1},{"a":{"a":["a","a"]}}]"#,
            r#"{"a":"a","b":"a\\","c":"\"a\":1,\"a\":2"}"#,
            &deep,
        ] {
            unique_keys(text).unwrap();
        }
    }
}
