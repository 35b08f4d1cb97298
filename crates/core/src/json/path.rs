//! JSON anchors: the path of a value and its hash, `$.a.b[0]:34`.

use std::fmt;

use super::canonical::quoted;
use super::tree::{JsonGrammar, Tree, unescaped};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_lines::anchor::quote;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// A member of an object, by key.
    Key(String),
    /// An element of an array, by index from 0.
    Index(usize),
}

/// The path from the root to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct JsonPath(pub Vec<PathStep>);

/// A value as a model saw it: its path and its hash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JsonAnchor {
    /// The path.
    pub path: JsonPath,
    /// The hash of the canonical text.
    pub hash: u8,
}

impl fmt::Display for PathStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Key(key) if is_word(key) => write!(out, ".{key}"),
            PathStep::Key(key) => write!(out, "[{}]", quoted(key)),
            PathStep::Index(index) => write!(out, "[{index}]"),
        }
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "$")?;
        self.0.iter().try_for_each(|step| step.fmt(out))
    }
}

impl fmt::Display for JsonAnchor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{:02x}", self.path, self.hash)
    }
}

/// Whether a key is written after a dot: `[A-Za-z_][A-Za-z0-9_]*`.
fn is_word(key: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    key.bytes().next().is_some_and(is_letter)
        && key.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

impl JsonAnchor {
    /// Parses an anchor, or the comment line that shows one.
    pub fn parse(text: &str) -> Result<JsonAnchor> {
        parse_anchor(text.trim_start()).ok_or_else(|| {
            Error::new(
                Code::InvalidAnchor,
                format!(
                    "{} is not a JSON anchor: use a path and a hash, such as $.name[0]:34 or $[\"a key\"]:34",
                    quote(text)
                ),
            )
        })
    }
}

fn parse_anchor(text: &str) -> Option<JsonAnchor> {
    let text = text.strip_prefix("//").map_or(text, str::trim_start);
    let mut rest = text.strip_prefix('$')?;
    let mut steps = Vec::new();
    while let Some((step, after)) = parse_step(rest) {
        steps.push(step);
        rest = after;
    }
    let hash = rest.trim_start().strip_prefix(':')?.trim_start();
    let digits = hash.get(..2)?;
    let is_end = hash[2..].chars().next().is_none_or(char::is_whitespace);
    if !is_end || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    Some(JsonAnchor { path: JsonPath(steps), hash: u8::from_str_radix(digits, 16).ok()? })
}

/// Parses the step that a text starts with; returns the rest, too.
fn parse_step(text: &str) -> Option<(PathStep, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let (key, after) = rest.split_at(length);
        return is_word(key).then(|| (PathStep::Key(key.to_owned()), after));
    }
    let rest = text.strip_prefix('[')?;
    if rest.starts_with('"') {
        let length = string_length(rest)?;
        let (raw, after) = rest.split_at(length);
        Tree::parse(raw, JsonGrammar::Strict, &Cancel::default()).ok()?;
        return Some((PathStep::Key(unescaped(raw).into_owned()), after.strip_prefix(']')?));
    }
    let length = rest.find(|digit: char| !digit.is_ascii_digit())?;
    let (digits, after) = rest.split_at(length);
    Some((PathStep::Index(digits.parse().ok()?), after.strip_prefix(']')?))
}

/// The length of the string literal that a text starts with, quotes included.
fn string_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}
