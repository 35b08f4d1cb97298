//! The tokens of a JSON text → its tree, or what is wrong with it and where.
//!
//! The tokens are those of `jsonc-parser`: comments and trailing commas are allowed, nothing else
//! that JSON does not have.

use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

use super::{Comment, DEPTH_LIMIT, JsonGrammar, Node, NodeId, ROOT, Tree, ValueKind};
use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};

/// How many tokens are read between two looks at the flag.
const TOKENS_PER_LOOK: usize = 1 << 14;

/// Reads a text that is at most 4 GiB long.
pub(super) fn build<'t>(text: &'t str, grammar: JsonGrammar, cancel: &Cancel) -> Result<Tree<'t>> {
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
    grammar: JsonGrammar,
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
                if self.grammar == JsonGrammar::Strict {
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
                self.close(ValueKind::Object, first, start)?;
            }
            (Token::CloseBracket, Expected::Item { first }) => {
                self.close(ValueKind::Array, first, start)?;
            }
            (Token::CloseBrace, Expected::CommaOrEnd) if self.is_in(ValueKind::Object) => {
                self.close(ValueKind::Object, true, start)?;
            }
            (Token::CloseBracket, Expected::CommaOrEnd) if self.is_in(ValueKind::Array) => {
                self.close(ValueKind::Array, true, start)?;
            }
            (_, Expected::Root | Expected::Item { .. } | Expected::MemberValue) => {
                self.value(token, start, end)?;
            }
            _ => return Err(self.unexpected(start, end)),
        }
        Ok(())
    }

    fn is_in(&self, kind: ValueKind) -> bool {
        self.open.last().is_some_and(|&id| self.tree.kind(id) == kind)
    }

    fn value(&mut self, token: &Token<'_>, start: usize, end: usize) -> Result<()> {
        let kind = match token {
            Token::OpenBrace => ValueKind::Object,
            Token::OpenBracket => ValueKind::Array,
            Token::String(_) => {
                self.check_string(start, end)?;
                ValueKind::String
            }
            Token::Number(_) | Token::Boolean(_) | Token::Null => ValueKind::Plain,
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
            ValueKind::Object => Expected::Key { first: true },
            ValueKind::Array => Expected::Item { first: true },
            ValueKind::String | ValueKind::Plain => self.after_value(),
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

    fn close(&mut self, kind: ValueKind, is_plain: bool, at: usize) -> Result<()> {
        if !is_plain && self.grammar == JsonGrammar::Strict {
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
            ValueKind::Object => Expected::Key { first: false },
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
            Expected::CommaOrEnd if self.is_in(ValueKind::Object) => "a comma or }",
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
