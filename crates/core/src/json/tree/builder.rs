//! Tokens → a tree, or a syntax error with its position.
//!
//! Depending on the grammar, comments, trailing commas or lone surrogates are allowed, no other
//! extension of JSON.

use super::tokens::{Token, TokenError, TokenKind, Tokens, control_character};
use super::{Comment, DEPTH_LIMIT, JsonGrammar, Node, NodeId, ROOT, Tree, ValueKind};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};

/// Tokens read between two checks of the cancellation flag.
const TOKENS_PER_CANCEL_CHECK: usize = 1 << 14;

/// Parses a text of at most 4 GiB.
pub(super) fn build<'t>(text: &'t str, grammar: JsonGrammar, cancel: &Cancel) -> Result<Tree<'t>> {
    let mut builder = Builder::of(text, grammar);
    builder.run(cancel)?;
    Ok(builder.tree)
}

/// Parses such a text up to its first syntax error; open objects and arrays extend to the end of
/// the text. Also returns how many they are.
pub(super) fn build_part(text: &str) -> (Tree<'_>, usize) {
    let mut builder = Builder::of(text, JsonGrammar::WithSurrogates);
    let _ = builder.run(&Cancel::default());
    let (count, open) = (builder.tree.nodes.len(), builder.open.len());
    for id in builder.open {
        let node = &mut builder.tree.nodes[id];
        node.end = text.len() as u32;
        node.size = (count - id) as u32;
    }
    (builder.tree, open)
}

/// What the grammar allows next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Root,
    /// A value, or the end of the array; `first` at the start of the array, not after a comma.
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
    grammar: JsonGrammar,
    tree: Tree<'t>,
    /// The open objects and arrays.
    open: Vec<NodeId>,
    /// The last complete value.
    last: NodeId,
    expected: Expected,
    /// The last key.
    key: (u32, u32),
}

impl<'t> Builder<'t> {
    fn of(text: &'t str, grammar: JsonGrammar) -> Builder<'t> {
        Builder {
            text,
            grammar,
            tree: Tree { text, nodes: Vec::new(), comments: Vec::new() },
            open: Vec::new(),
            last: ROOT,
            expected: Expected::Root,
            key: (0, 0),
        }
    }

    fn run(&mut self, cancel: &Cancel) -> Result<()> {
        let mut tokens = Tokens::of(self.text, self.grammar == JsonGrammar::WithSurrogates);
        for count in 1_usize.. {
            if count.is_multiple_of(TOKENS_PER_CANCEL_CHECK) {
                cancel.check()?;
            }
            let Some(token) = tokens.scan().map_err(|error| self.token_error(&error))? else {
                break;
            };
            self.token(token)?;
        }
        match self.expected {
            Expected::Nothing => Ok(()),
            Expected::Root => {
                Err(self.syntax_error(self.text.len(), "there is no value: the text is empty"))
            }
            _ => {
                let open = self.open.last().map_or(ROOT, |&id| id);
                let (line, _) = line_and_column(self.text, self.tree.start(open));
                let bracket = &self.tree.text[self.tree.start(open)..=self.tree.start(open)];
                Err(self.syntax_error(
                    self.text.len(),
                    &format!("the text ends before the {bracket} of line {line} is closed"),
                ))
            }
        }
    }

    fn token(&mut self, token: Token) -> Result<()> {
        let Token { kind, start, end } = token;
        match (kind, self.expected) {
            (TokenKind::CommentLine | TokenKind::CommentBlock, _) => {
                if self.grammar != JsonGrammar::WithComments {
                    return Err(self.syntax_error(start, "comments are not allowed here"));
                }
                let is_line = kind == TokenKind::CommentLine;
                self.tree.comments.push(Comment { start, end, is_line });
            }
            (TokenKind::String, Expected::Key { .. }) => {
                self.key = (start as u32, end as u32);
                self.expected = Expected::Colon;
            }
            (TokenKind::StringWithControl, Expected::Key { .. }) => {
                return Err(self.control_character_error(start, end));
            }
            (TokenKind::Colon, Expected::Colon) => self.expected = Expected::MemberValue,
            (TokenKind::Comma, Expected::CommaOrEnd) => self.comma(start),
            (TokenKind::CloseBrace, Expected::Key { first }) => {
                self.close(ValueKind::Object, first, start)?;
            }
            (TokenKind::CloseBracket, Expected::Item { first }) => {
                self.close(ValueKind::Array, first, start)?;
            }
            (TokenKind::CloseBrace, Expected::CommaOrEnd) if self.is_in(ValueKind::Object) => {
                self.close(ValueKind::Object, true, start)?;
            }
            (TokenKind::CloseBracket, Expected::CommaOrEnd) if self.is_in(ValueKind::Array) => {
                self.close(ValueKind::Array, true, start)?;
            }
            (_, Expected::Root | Expected::Item { .. } | Expected::MemberValue) => {
                self.value(token)?;
            }
            _ => return Err(self.unexpected(start, end)),
        }
        Ok(())
    }

    fn is_in(&self, kind: ValueKind) -> bool {
        self.open.last().is_some_and(|&id| self.tree.kind(id) == kind)
    }

    fn value(&mut self, token: Token) -> Result<()> {
        let kind = match token.kind {
            TokenKind::OpenBrace => ValueKind::Object,
            TokenKind::OpenBracket => ValueKind::Array,
            TokenKind::String => ValueKind::String,
            TokenKind::Plain => ValueKind::Plain,
            TokenKind::StringWithControl => {
                return Err(self.control_character_error(token.start, token.end));
            }
            _ => return Err(self.unexpected(token.start, token.end)),
        };
        let id = self.tree.nodes.len();
        let parent = self.open.last().copied().unwrap_or(ROOT) as u32;
        let key = match self.expected {
            Expected::MemberValue => self.key,
            _ => (0, 0),
        };
        let (start, end) = (token.start as u32, token.end as u32);
        self.tree.nodes.push(Node { kind, start, end, key, comma: 0, parent, size: 1 });
        self.expected = match kind {
            ValueKind::Object => Expected::Key { first: true },
            ValueKind::Array => Expected::Item { first: true },
            ValueKind::String | ValueKind::Plain => {
                self.last = id;
                self.after_value()
            }
        };
        if kind.is_container() {
            if self.open.len() == DEPTH_LIMIT {
                let what = format!("values are nested deeper than {DEPTH_LIMIT} levels");
                return Err(self.syntax_error(token.start, &what));
            }
            self.open.push(id);
        }
        Ok(())
    }

    fn after_value(&self) -> Expected {
        if self.open.is_empty() { Expected::Nothing } else { Expected::CommaOrEnd }
    }

    fn close(&mut self, kind: ValueKind, is_plain: bool, at: usize) -> Result<()> {
        if !is_plain && self.grammar != JsonGrammar::WithComments {
            return Err(self.syntax_error(at, "a trailing comma is not allowed here"));
        }
        let Some(id) = self.open.pop().filter(|&id| self.tree.kind(id) == kind) else {
            return Err(self.unexpected(at, at + 1));
        };
        let size = self.tree.nodes.len() - id;
        let node = &mut self.tree.nodes[id];
        node.end = at as u32 + 1;
        node.size = size as u32;
        self.last = id;
        self.expected = self.after_value();
        Ok(())
    }

    fn comma(&mut self, at: usize) {
        self.tree.nodes[self.last].comma = at as u32;
        self.expected = if self.is_in(ValueKind::Object) {
            Expected::Key { first: false }
        } else {
            Expected::Item { first: false }
        };
    }

    /// The error for a control character in a string, where JSON requires an escape.
    fn control_character_error(&self, start: usize, end: usize) -> Error {
        let (at, control) = control_character(&self.text[start..end]).unwrap_or_default();
        let what =
            format!("a string holds the control character U+{control:04X}, which must be escaped");
        self.syntax_error(start + at, &what)
    }

    fn unexpected(&self, start: usize, end: usize) -> Error {
        let found: String = self.text[start..end].chars().take(40).collect();
        let expected = match self.expected {
            Expected::Root | Expected::MemberValue => "a value",
            Expected::Item { .. } => "a value or ]",
            Expected::Key { .. } => "a key in double quotes or }",
            Expected::Colon => "a colon",
            Expected::CommaOrEnd if self.is_in(ValueKind::Object) => "a comma or }",
            Expected::CommaOrEnd => "a comma or ]",
            Expected::Nothing => "nothing after the value",
        };
        self.syntax_error(start, &format!("expected {expected}, found {found}"))
    }

    fn token_error(&self, error: &TokenError) -> Error {
        self.syntax_error(error.offset, &error.what)
    }

    fn syntax_error(&self, offset: usize, what: &str) -> Error {
        let (line, column) = line_and_column(self.text, offset);
        Error::new(
            Code::InvalidJson,
            format!("not valid JSON at line {line}, column {column}: {what}"),
        )
    }
}

/// The line and column of an offset, both from 1; a column is a character.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}
