//! A JSON text → its values, each with its range of bytes.
//!
//! All values are in one list, parents before children. So neither parsing (`builder`, on `tokens`)
//! nor freeing a document recurses.
//!
//! `jsonc-parser` has its own tree. For a document of 23 MB with 1.8 million values it takes four
//! times as long (261 ms instead of 57 ms) and three times the memory (240 MB instead of 75 MB),
//! does not record the offsets of commas, and cannot be cancelled.

mod builder;
mod tokens;

use std::borrow::Cow;
use std::collections::HashSet;

use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};

/// The maximum nesting depth.
pub const DEPTH_LIMIT: usize = 512;

/// A value, by its index in the document: the root is 0, and a parent comes before its children.
pub type NodeId = usize;

/// The outermost value.
pub const ROOT: NodeId = 0;

/// The kind of a value.
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
    /// Whether it can have children.
    pub fn is_container(self) -> bool {
        matches!(self, ValueKind::Object | ValueKind::Array)
    }

    /// The noun that messages use.
    pub fn noun(self) -> &'static str {
        match self {
            ValueKind::Object => "an object",
            ValueKind::Array => "an array",
            ValueKind::String => "a string",
            ValueKind::Plain => "a number, true, false or null",
        }
    }
}

/// Offsets have 32 bits, which halves the memory of a document of many small values.
#[derive(Clone, Copy, Debug)]
struct Node {
    kind: ValueKind,
    start: u32,
    end: u32,
    /// The range of its key, quotes included; empty without a key.
    key: (u32, u32),
    /// The offset of the comma after it; 0 without one.
    comma: u32,
    parent: u32,
    /// The number of values in its subtree, itself included.
    size: u32,
}

/// A comment of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The offset of its first byte.
    pub start: usize,
    /// One past its last byte; for a line comment, the end of the line.
    pub end: usize,
    /// Whether it extends to the end of its line.
    pub is_line: bool,
}

/// Which extensions of JSON are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonGrammar {
    /// None.
    Strict,
    /// Comments and trailing commas.
    WithComments,
    /// Strings with lone surrogates.
    WithSurrogates,
}

/// The parsed values of a JSON text.
#[derive(Debug)]
pub struct Tree<'t> {
    text: &'t str,
    nodes: Vec<Node>,
    comments: Vec<Comment>,
}

impl<'t> Tree<'t> {
    /// Parses a document. Errors have the line and column.
    pub fn parse(text: &'t str, grammar: JsonGrammar, cancel: &Cancel) -> Result<Tree<'t>> {
        check_length(text)?;
        builder::build(text, grammar, cancel)
    }

    /// Parses the longest valid prefix of a text, and counts its open objects and arrays; none if
    /// it has no value.
    pub fn parse_part(text: &'t str) -> Option<(Tree<'t>, usize)> {
        check_length(text).ok()?;
        Some(builder::build_part(text)).filter(|(tree, _)| tree.count() > 0)
    }

    /// Refuses a document with a duplicate key in an object.
    pub fn unique_keys(&self) -> Result<()> {
        let mut seen = HashSet::new();
        let is_duplicate =
            |id: &NodeId| self.key(*id).is_some_and(|key| !seen.insert((self.parent(*id), key)));
        let Some(id) = (0..self.count()).find(is_duplicate) else { return Ok(()) };
        let object = match self.location(self.nodes[id].parent as usize) {
            location if location.is_empty() => "the outer object".to_owned(),
            location => location,
        };
        let key = serde_json::Value::from(shortened(self.key(id)));
        Err(Error::argument(format!("{object} has the key {key} twice: give it once")))
    }

    /// The path of a value as error messages print it: `operations[1].text`.
    fn location(&self, mut id: NodeId) -> String {
        let mut steps = Vec::new();
        while let Some(parent) = self.parent(id) {
            let index = || self.children(parent).take_while(|&child| child != id).count();
            steps.push(match self.key(id) {
                None => format!("[{}]", index()),
                key if parent == ROOT => shortened(key),
                key => format!(".{}", shortened(key)),
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

    /// The number of values.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    pub fn kind(&self, id: NodeId) -> ValueKind {
        self.nodes[id].kind
    }

    /// The offset of the first byte of a value.
    pub fn start(&self, id: NodeId) -> usize {
        self.nodes[id].start as usize
    }

    /// The offset one past the last byte of a value.
    pub fn end(&self, id: NodeId) -> usize {
        self.nodes[id].end as usize
    }

    /// The text of a value.
    pub fn slice(&self, id: NodeId) -> &'t str {
        &self.text[self.start(id)..self.end(id)]
    }

    /// The offset of the key of a value or, without a key, of the value.
    pub fn member_start(&self, id: NodeId) -> usize {
        match self.raw_key(id) {
            Some(_) => self.nodes[id].key.0 as usize,
            None => self.start(id),
        }
    }

    /// The key of a value as written, quotes and escapes included.
    pub fn raw_key(&self, id: NodeId) -> Option<&'t str> {
        let (start, end) = self.nodes[id].key;
        (end > start).then(|| &self.text[start as usize..end as usize])
    }

    /// The decoded key of a value.
    pub fn key(&self, id: NodeId) -> Option<Cow<'t, str>> {
        self.raw_key(id).map(unescaped)
    }

    /// Whether the key of a value equals `key`.
    pub fn has_key(&self, id: NodeId, key: &str) -> bool {
        // Decoding never makes a key longer.
        self.raw_key(id).is_some_and(|raw| raw.len() >= key.len() + 2 && *unescaped(raw) == *key)
    }

    /// The offset of the comma after a value.
    pub fn comma(&self, id: NodeId) -> Option<usize> {
        let comma = self.nodes[id].comma as usize;
        (comma > 0).then_some(comma)
    }

    /// The object or array that contains a value.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        (id != ROOT).then(|| self.nodes[id].parent as usize)
    }

    /// The direct children of a value.
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

    /// The index after the last value in a subtree.
    pub fn end_of_node(&self, id: NodeId) -> NodeId {
        id + self.nodes[id].size as usize
    }

    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.children(id).next()
    }

    /// The comments that start between two offsets.
    pub fn comments_in(&self, start: usize, end: usize) -> &[Comment] {
        let first = self.comments.partition_point(|comment| comment.start < start);
        let last = self.comments.partition_point(|comment| comment.start < end);
        &self.comments[first..last.max(first)]
    }

    /// The indentation of the line at an offset.
    pub fn indent_at(&self, offset: usize) -> &'t str {
        let start = self.line_start(offset);
        let line = &self.text[start..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The start of the line at an offset.
    pub fn line_start(&self, offset: usize) -> usize {
        memchr::memrchr(b'\n', &self.text.as_bytes()[..offset]).map_or(0, |newline| newline + 1)
    }

    /// Whether only whitespace precedes an offset in its line.
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

/// Whether a piece of a line is only whitespace.
pub fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// How many characters of a key a message quotes.
const QUOTED_KEY_CHARS: usize = 80;

fn shortened(key: Option<Cow<'_, str>>) -> String {
    let key = key.unwrap_or_default();
    match key.char_indices().nth(QUOTED_KEY_CHARS) {
        Some((end, _)) => format!("{}…", &key[..end]),
        None => key.into_owned(),
    }
}

/// Decodes a string; `raw` has its quotes and must have been parsed.
pub fn unescaped(raw: &str) -> Cow<'_, str> {
    unescaped_and_well_formed(raw).0
}

/// Decodes a string, and returns whether it is well-formed. A lone surrogate becomes a replacement
/// character.
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

/// Decodes an escape: its character, none for a lone surrogate, and its length without the
/// backslash.
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
