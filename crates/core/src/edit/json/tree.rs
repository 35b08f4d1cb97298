//! A JSON text → its values, each with the bytes where it stands.
//!
//! The tokens are those of `jsonc-parser`: comments and trailing commas are allowed, nothing else
//! that JSON does not have. Values stand in one list, each before those in it, so that neither
//! reading a document nor letting go of it takes a call for each level.

use std::borrow::Cow;

use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};

/// How deep values may be nested.
pub const DEPTH_LIMIT: usize = 512;

/// Between two looks at the flag, so many tokens are read.
const TOKENS_PER_LOOK: usize = 1 << 14;

/// A value, by its place in the document: the root is 0, and a value comes before those in it.
pub type NodeId = usize;

/// The value that a document is.
pub const ROOT: NodeId = 0;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// A number, `true`, `false` or `null`.
    Plain,
}

impl Kind {
    /// Whether other values can be in it.
    pub fn is_container(self) -> bool {
        matches!(self, Kind::Object | Kind::Array)
    }

    /// What to call it.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Object => "an object",
            Kind::Array => "an array",
            Kind::String => "a string",
            Kind::Plain => "a number, true, false or null",
        }
    }
}

/// Offsets are 32 bits wide: half the memory of a document of many small values.
#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    start: u32,
    end: u32,
    /// Where its key stands, quotes included; empty without one.
    key: (u32, u32),
    /// The comma behind it; 0 without one.
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
pub enum Grammar {
    /// Nothing.
    Strict,
    /// Comments and trailing commas.
    WithComments,
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
    pub fn parse(text: &'t str, grammar: Grammar, cancel: &Cancel) -> Result<Tree<'t>> {
        if u32::try_from(text.len()).is_err() {
            let message = "the document is over 4 GiB, more than can be edited by path";
            return Err(Error::new(Code::FileTooLarge, message));
        }
        let mut builder = Builder {
            text,
            grammar,
            tree: Tree { text, nodes: Vec::new(), comments: Vec::new() },
            open: Vec::new(),
            expected: Expected::Root,
            key: (0, 0),
        };
        builder.run(cancel)?;
        Ok(builder.tree)
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
    pub fn kind(&self, id: NodeId) -> Kind {
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

    /// The comma behind a value.
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

    /// The value behind all that is in a value; the count of values behind the last one.
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

/// Whether a piece of a line has nothing to see in it.
pub fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Root,
    /// A value, or the end of the array, of which this is the start or what follows a comma.
    Item {
        first: bool,
    },
    /// A key, or the end of the object.
    Key {
        first: bool,
    },
    Colon,
    MemberValue,
    CommaOrEnd,
    Nothing,
}

struct Builder<'t> {
    text: &'t str,
    grammar: Grammar,
    tree: Tree<'t>,
    /// The objects and arrays around the next token.
    open: Vec<NodeId>,
    expected: Expected,
    /// The key that was read last.
    key: (u32, u32),
}

/// Only JSON's own tokens and comments.
const TOKENS: ScannerOptions = ScannerOptions {
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

impl Builder<'_> {
    fn run(&mut self, cancel: &Cancel) -> Result<()> {
        let mut scanner = Scanner::new(self.text, &TOKENS);
        for count in 1_usize.. {
            if count.is_multiple_of(TOKENS_PER_LOOK) {
                cancel.check()?;
            }
            let Some(token) = scanner.scan().map_err(|error| self.unreadable(&error))? else {
                break;
            };
            self.token(&token, scanner.token_start(), scanner.token_end())?;
        }
        match self.expected {
            Expected::Nothing => Ok(()),
            Expected::Root => {
                Err(self.wrong(self.text.len(), "there is no value: the text is empty"))
            }
            _ => {
                let open = self.open.last().map_or(ROOT, |&id| id);
                let (line, _) = line_and_column(self.text, self.tree.start(open));
                let bracket = &self.tree.text[self.tree.start(open)..=self.tree.start(open)];
                Err(self.wrong(
                    self.text.len(),
                    &format!("the text ends before the {bracket} of line {line} is closed"),
                ))
            }
        }
    }

    fn token(&mut self, token: &Token<'_>, start: usize, end: usize) -> Result<()> {
        match (token, self.expected) {
            (Token::CommentLine(_) | Token::CommentBlock(_), _) => {
                if self.grammar == Grammar::Strict {
                    return Err(self.wrong(start, "comments are not allowed here"));
                }
                let is_line = matches!(token, Token::CommentLine(_));
                self.tree.comments.push(Comment { start, end, is_line });
            }
            (Token::String(_), Expected::Key { .. }) => {
                self.check_string(start, end)?;
                self.key = (start as u32, end as u32);
                self.expected = Expected::Colon;
            }
            (Token::Colon, Expected::Colon) => self.expected = Expected::MemberValue,
            (Token::Comma, Expected::CommaOrEnd) => self.comma(start),
            (Token::CloseBrace, Expected::Key { first }) => {
                self.close(Kind::Object, first, start)?;
            }
            (Token::CloseBracket, Expected::Item { first }) => {
                self.close(Kind::Array, first, start)?;
            }
            (Token::CloseBrace, Expected::CommaOrEnd) if self.is_in(Kind::Object) => {
                self.close(Kind::Object, true, start)?;
            }
            (Token::CloseBracket, Expected::CommaOrEnd) if self.is_in(Kind::Array) => {
                self.close(Kind::Array, true, start)?;
            }
            (_, Expected::Root | Expected::Item { .. } | Expected::MemberValue) => {
                self.value(token, start, end)?;
            }
            _ => return Err(self.unexpected(start, end)),
        }
        Ok(())
    }

    fn is_in(&self, kind: Kind) -> bool {
        self.open.last().is_some_and(|&id| self.tree.kind(id) == kind)
    }

    fn value(&mut self, token: &Token<'_>, start: usize, end: usize) -> Result<()> {
        let kind = match token {
            Token::OpenBrace => Kind::Object,
            Token::OpenBracket => Kind::Array,
            Token::String(_) => {
                self.check_string(start, end)?;
                Kind::String
            }
            Token::Number(_) | Token::Boolean(_) | Token::Null => Kind::Plain,
            _ => return Err(self.unexpected(start, end)),
        };
        let id = self.tree.nodes.len();
        let parent = self.open.last().copied().unwrap_or(ROOT) as u32;
        let key = match self.expected {
            Expected::MemberValue => self.key,
            _ => (0, 0),
        };
        let (start, end) = (start as u32, end as u32);
        self.tree.nodes.push(Node { kind, start, end, key, comma: 0, parent, size: 1 });
        self.expected = match kind {
            Kind::Object => Expected::Key { first: true },
            Kind::Array => Expected::Item { first: true },
            Kind::String | Kind::Plain => self.after_value(),
        };
        if kind.is_container() {
            if self.open.len() == DEPTH_LIMIT {
                let what = format!("values are nested deeper than {DEPTH_LIMIT} levels");
                return Err(self.wrong(start as usize, &what));
            }
            self.open.push(id);
        }
        Ok(())
    }

    fn after_value(&self) -> Expected {
        if self.open.is_empty() { Expected::Nothing } else { Expected::CommaOrEnd }
    }

    fn close(&mut self, kind: Kind, is_plain: bool, at: usize) -> Result<()> {
        if !is_plain && self.grammar == Grammar::Strict {
            return Err(self.wrong(at, "a trailing comma is not allowed here"));
        }
        let Some(id) = self.open.pop().filter(|&id| self.tree.kind(id) == kind) else {
            return Err(self.unexpected(at, at + 1));
        };
        let size = self.tree.nodes.len() - id;
        let node = &mut self.tree.nodes[id];
        node.end = at as u32 + 1;
        node.size = size as u32;
        self.expected = self.after_value();
        Ok(())
    }

    fn comma(&mut self, at: usize) {
        let Some(&id) = self.open.last() else { return };
        // The value before it: the last one directly in what is open.
        let mut last = self.tree.nodes.len() - 1;
        while self.tree.nodes[last].parent as usize != id {
            last = self.tree.nodes[last].parent as usize;
        }
        self.tree.nodes[last].comma = at as u32;
        self.expected = match self.tree.kind(id) {
            Kind::Object => Expected::Key { first: false },
            _ => Expected::Item { first: false },
        };
    }

    /// JSON strings have no control characters but escaped ones.
    fn check_string(&self, start: usize, end: usize) -> Result<()> {
        let inside = &self.text.as_bytes()[start + 1..end - 1];
        match inside.iter().position(|&byte| byte < 0x20) {
            None => Ok(()),
            Some(at) => {
                let what = format!(
                    "a string holds the control character U+{:04X}, which must be escaped",
                    inside[at]
                );
                Err(self.wrong(start + 1 + at, &what))
            }
        }
    }

    fn unexpected(&self, start: usize, end: usize) -> Error {
        let found: String = self.text[start..end].chars().take(40).collect();
        let expected = match self.expected {
            Expected::Root | Expected::MemberValue => "a value",
            Expected::Item { .. } => "a value or ]",
            Expected::Key { .. } => "a key in double quotes or }",
            Expected::Colon => "a colon",
            Expected::CommaOrEnd if self.is_in(Kind::Object) => "a comma or }",
            Expected::CommaOrEnd => "a comma or ]",
            Expected::Nothing => "nothing after the value",
        };
        self.wrong(start, &format!("expected {expected}, found {found}"))
    }

    fn unreadable(&self, error: &ParseError) -> Error {
        let what = error.kind().to_string();
        let mut letters = what.chars();
        let first = letters.next().map(|letter| letter.to_ascii_lowercase());
        let what: String = first.into_iter().chain(letters).collect();
        self.wrong(error.range().start, &what)
    }

    fn wrong(&self, offset: usize, what: &str) -> Error {
        let (line, column) = line_and_column(self.text, offset);
        Error::new(
            Code::InvalidJson,
            format!("not valid JSON at line {line}, column {column}: {what}"),
        )
    }
}

/// The line and column of an offset, both from 1; columns are characters.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}

/// What a string says: `raw` is as it was written, quotes included, and was read before.
pub fn unescaped(raw: &str) -> Cow<'_, str> {
    let inside = &raw[1..raw.len() - 1];
    let Some(first) = memchr::memchr(b'\\', inside.as_bytes()) else {
        return Cow::Borrowed(inside);
    };
    let mut out = String::with_capacity(inside.len());
    out.push_str(&inside[..first]);
    let mut rest = &inside[first..];
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let (character, length) = escape(&rest[at + 1..]);
        out.push(character);
        rest = &rest[at + 1 + length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character that an escape stands for, and how long the escape is without its backslash.
fn escape(rest: &str) -> (char, usize) {
    let unit = |from: usize| {
        rest.get(from..from + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    let Some(first) = rest.chars().next() else { return ('\\', 0) };
    match first {
        'b' => ('\u{08}', 1),
        'f' => ('\u{0C}', 1),
        'n' => ('\n', 1),
        'r' => ('\r', 1),
        't' => ('\t', 1),
        'u' => match (unit(1), unit(7)) {
            (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
                let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 11)
            }
            (Some(code), _) => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 5),
            (None, _) => ('u', 1),
        },
        other => (other, other.len_utf8()),
    }
}
