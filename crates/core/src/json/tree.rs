//! A JSON text → its values, each with the bytes where it stands.
//!
//! Values stand in one list, each before those in it. So neither reading a document (`builder`, of
//! `tokens`) nor freeing it takes a call for each level.
//!
//! `jsonc-parser` has a tree of its own. Of a document of 23 MB with 1.8 million values it takes
//! four times as long (261 ms and 57 ms) and three times the memory (240 MB and 75 MB), does not say
//! where commas stand, and cannot be cancelled.

mod builder;
mod tokens;

use std::borrow::Cow;
use std::collections::HashSet;

use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};

/// How deep values may be nested.
pub const DEPTH_LIMIT: usize = 512;

/// A value, by its place in the document: the root is 0, and a value comes before those in it.
pub type NodeId = usize;

/// The value that a document is.
pub const ROOT: NodeId = 0;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number, `true`, `false` or `null`.
    Plain,
}

impl ValueKind {
    /// Whether other values can be in it.
    pub fn is_container(self) -> bool {
        matches!(self, ValueKind::Object | ValueKind::Array)
    }

    /// What messages call it.
    pub fn noun(self) -> &'static str {
        match self {
            ValueKind::Object => "an object",
            ValueKind::Array => "an array",
            ValueKind::String => "a string",
            ValueKind::Plain => "a number, true, false or null",
        }
    }
}

/// Offsets are 32 bits wide: half the memory of a document of many small values.
#[derive(Clone, Copy, Debug)]
struct Node {
    kind: ValueKind,
    start: u32,
    end: u32,
    /// Where its key stands, quotes included; empty without one.
    key: (u32, u32),
    /// The comma after it; 0 without one.
    comma: u32,
    parent: u32,
    /// How many values it is: itself and those in it.
    size: u32,
}

/// A comment of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its first byte.
    pub start: usize,
    /// One past its last byte; of a line comment, where the line ends.
    pub end: usize,
    /// Whether it reaches to the end of its line.
    pub is_line: bool,
}

/// Which of what JSON itself does not have is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonGrammar {
    /// Nothing.
    Strict,
    /// Comments and trailing commas.
    WithComments,
    /// Strings that hold lone surrogates.
    WithSurrogates,
}

/// The values of a JSON text.
#[derive(Debug)]
pub struct Tree<'t> {
    text: &'t str,
    nodes: Vec<Node>,
    comments: Vec<Comment>,
}

impl<'t> Tree<'t> {
    /// Reads a document. Refuses what is not JSON with the line and column.
    pub fn parse(text: &'t str, grammar: JsonGrammar, cancel: &Cancel) -> Result<Tree<'t>> {
        check_length(text)?;
        builder::build(text, grammar, cancel)
    }

    /// Reads a text as far as it is JSON; none if no value begins there.
    pub fn parse_part(text: &'t str) -> Option<Tree<'t>> {
        check_length(text).ok()?;
        Some(builder::build_part(text)).filter(|tree| tree.count() > 0)
    }

    /// Refuses a document in which an object has a key twice.
    pub fn unique_keys(&self) -> Result<()> {
        let mut seen = HashSet::new();
        let is_twice =
            |id: &NodeId| self.key(*id).is_some_and(|key| !seen.insert((self.parent(*id), key)));
        let Some(id) = (0..self.count()).find(is_twice) else { return Ok(()) };
        let object = match self.place(self.nodes[id].parent as usize) {
            place if place.is_empty() => "the outer object".to_owned(),
            place => place,
        };
        let key = serde_json::Value::from(shown(self.key(id)));
        Err(Error::argument(format!("{object} has the key {key} twice: give it once")))
    }

    /// Where a value is, for a message: `operations[1].text`.
    fn place(&self, mut id: NodeId) -> String {
        let mut steps = Vec::new();
        while let Some(parent) = self.parent(id) {
            let index = || self.children(parent).take_while(|&child| child != id).count();
            steps.push(match self.key(id) {
                None => format!("[{}]", index()),
                key if parent == ROOT => shown(key),
                key => format!(".{}", shown(key)),
            });
            id = parent;
        }
        steps.reverse();
        steps.concat()
    }

    /// The text of the document.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// How many values there are.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// What a value is.
    pub fn kind(&self, id: NodeId) -> ValueKind {
        self.nodes[id].kind
    }

    /// The first byte of a value.
    pub fn start(&self, id: NodeId) -> usize {
        self.nodes[id].start as usize
    }

    /// One past the last byte of a value.
    pub fn end(&self, id: NodeId) -> usize {
        self.nodes[id].end as usize
    }

    /// The text of a value.
    pub fn slice(&self, id: NodeId) -> &'t str {
        &self.text[self.start(id)..self.end(id)]
    }

    /// Where the value, or its key, begins.
    pub fn member_start(&self, id: NodeId) -> usize {
        match self.raw_key(id) {
            Some(_) => self.nodes[id].key.0 as usize,
            None => self.start(id),
        }
    }

    /// The key of a value as it is written, quotes included.
    pub fn raw_key(&self, id: NodeId) -> Option<&'t str> {
        let (start, end) = self.nodes[id].key;
        (end > start).then(|| &self.text[start as usize..end as usize])
    }

    /// The key of a value.
    pub fn key(&self, id: NodeId) -> Option<Cow<'t, str>> {
        self.raw_key(id).map(unescaped)
    }

    /// Whether a value has a key.
    pub fn has_key(&self, id: NodeId, key: &str) -> bool {
        // A key is never longer than it is written.
        self.raw_key(id).is_some_and(|raw| raw.len() >= key.len() + 2 && *unescaped(raw) == *key)
    }

    /// The comma after a value.
    pub fn comma(&self, id: NodeId) -> Option<usize> {
        let comma = self.nodes[id].comma as usize;
        (comma > 0).then_some(comma)
    }

    /// The object or array that a value is in.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        (id != ROOT).then(|| self.nodes[id].parent as usize)
    }

    /// The values that are directly in a value.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.end_of_node(id);
        let mut next = id + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next += self.nodes[child].size as usize;
                child
            })
        })
    }

    /// The value after all that is in a value; the count of values after the last one.
    pub fn end_of_node(&self, id: NodeId) -> NodeId {
        id + self.nodes[id].size as usize
    }

    /// The first value in a value.
    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.children(id).next()
    }

    /// The comments that begin between two offsets.
    pub fn comments_in(&self, start: usize, end: usize) -> &[Comment] {
        let first = self.comments.partition_point(|comment| comment.start < start);
        let last = self.comments.partition_point(|comment| comment.start < end);
        &self.comments[first..last.max(first)]
    }

    /// The whitespace that the line around an offset begins with.
    pub fn indent_at(&self, offset: usize) -> &'t str {
        let start = self.line_start(offset);
        let line = &self.text[start..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Where the line around an offset begins.
    pub fn line_start(&self, offset: usize) -> usize {
        memchr::memrchr(b'\n', &self.text.as_bytes()[..offset]).map_or(0, |newline| newline + 1)
    }

    /// Whether nothing but blanks stands before an offset in its line.
    pub fn begins_line(&self, offset: usize) -> bool {
        is_blank(&self.text[self.line_start(offset)..offset])
    }
}

fn check_length(text: &str) -> Result<()> {
    if u32::try_from(text.len()).is_ok() {
        return Ok(());
    }
    let message = "the document is over 4 GiB, more than can be edited by path";
    Err(Error::new(Code::FileTooLarge, message))
}

/// Whether a piece of a line has nothing to see in it.
pub fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// How much of a key a message shows.
const SHOWN_KEY_CHARS: usize = 80;

fn shown(key: Option<Cow<'_, str>>) -> String {
    let key = key.unwrap_or_default();
    match key.char_indices().nth(SHOWN_KEY_CHARS) {
        Some((end, _)) => format!("{}…", &key[..end]),
        None => key.into_owned(),
    }
}

/// What a string says: `raw` is as it was written, quotes included, and was read before.
pub fn unescaped(raw: &str) -> Cow<'_, str> {
    unescaped_and_well_formed(raw).0
}

/// The same, and whether it has no lone surrogate, which becomes a replacement character.
pub fn unescaped_and_well_formed(raw: &str) -> (Cow<'_, str>, bool) {
    let inside = &raw[1..raw.len() - 1];
    let Some(first) = memchr::memchr(b'\\', inside.as_bytes()) else {
        return (Cow::Borrowed(inside), true);
    };
    let mut is_well_formed = true;
    let mut out = String::with_capacity(inside.len());
    out.push_str(&inside[..first]);
    let mut rest = &inside[first..];
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let (character, length) = escape(&rest[at + 1..]);
        is_well_formed &= character.is_some();
        out.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &rest[at + 1 + length..];
    }
    out.push_str(rest);
    (Cow::Owned(out), is_well_formed)
}

/// The character that an escape stands for, none for a lone surrogate; and how long the escape is
/// without its backslash.
fn escape(rest: &str) -> (Option<char>, usize) {
    let unit = |from: usize| {
        rest.get(from..from + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    let Some(first) = rest.chars().next() else { return (Some('\\'), 0) };
    match first {
        'b' => (Some('\u{08}'), 1),
        'f' => (Some('\u{0C}'), 1),
        'n' => (Some('\n'), 1),
        'r' => (Some('\r'), 1),
        't' => (Some('\t'), 1),
        'u' => match (unit(1), unit(7)) {
            (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
                let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(code), 11)
            }
            (Some(code), _) => (char::from_u32(code), 5),
            (None, _) => (Some('u'), 1),
        },
        other => (Some(other), other.len_utf8()),
    }
}
