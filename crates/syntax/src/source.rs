//! A parsed text, and queries on it.

use std::sync::{Arc, OnceLock};

use tree_sitter::Node;

use crate::bounded::BoundedTree;
use crate::language::{Grammar, Kinds, Language};
use crate::lexical::Lexical;
use crate::rows::Rows;
use crate::structure::{Fault, Heading};

/// The limit on the bytes of a node's text that are read for a name.
const SLICE_LIMIT_BYTES: usize = 400;

/// A parsed text.
#[derive(Debug)]
pub struct Source {
    pub(crate) language: &'static Language,
    pub(crate) text: Arc<Vec<u8>>,
    /// `None` for languages without a parser.
    pub(crate) tree: Option<BoundedTree>,
    pub(crate) headings: Vec<Heading>,
    /// The structure by brackets and tags, of languages that have it.
    pub(crate) lexical: Option<Arc<Lexical>>,
    pub(crate) rows: Arc<Rows>,
    /// The offset of the first non-whitespace character of each line, or of its end. Computed on
    /// demand, because most checks for errors do not need it.
    pub(crate) firsts: OnceLock<Vec<u32>>,
    /// Whether the tree is that of a text in which constructs are masked.
    pub(crate) is_masked: bool,
    pub(crate) is_clean: bool,
}

impl Source {
    /// The language that it was parsed as.
    pub fn language(&self) -> &'static Language {
        self.language
    }

    /// The parsed text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The number of lines.
    pub fn lines(&self) -> u32 {
        self.rows.count() as u32
    }

    /// Whether the parser found no error, and the indentation is consistent.
    pub fn is_clean(&self) -> bool {
        self.is_clean
    }

    /// The size in memory, including older trees whose nodes it uses.
    pub fn size_bytes(&self) -> usize {
        let tree = self.tree.as_ref().map_or(0, BoundedTree::held_bytes);
        let lexical = self.lexical.as_ref().map_or(0, |lexical| lexical.size_bytes());
        self.text.len() + self.rows.size_bytes() + tree + lexical
    }

    /// The structure by brackets and tags of a line, counted from 0, unless a grammar has parsed
    /// it.
    pub(crate) fn lexical_at(&self, row: usize) -> Option<&Lexical> {
        let lexical = self.lexical.as_deref()?;
        let Some(tree) = &self.tree else { return Some(lexical) };
        let is_part = matches!(self.language.grammar, Grammar::Script(..));
        let start = self.start_of(row);
        let is_parsed = || {
            let ranges = tree.included_ranges();
            ranges.iter().any(|range| range.start_byte <= start && start < range.end_byte)
        };
        (is_part && !is_parsed()).then_some(lexical)
    }

    pub(crate) fn root(&self) -> Option<Node<'_>> {
        self.tree.as_ref().map(|tree| tree.root_node())
    }

    pub(crate) fn kinds(&self) -> &'static Kinds {
        self.language.kinds
    }

    /// The bytes of a line, counted from 0, including its terminator.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        &self.text[self.rows.range(row)]
    }

    /// The start of a line.
    pub(crate) fn start_of(&self, row: usize) -> usize {
        self.rows.start_of(row)
    }

    /// Whether only whitespace follows an offset in its line.
    pub(crate) fn ends_line(&self, at: usize) -> bool {
        let rest = self.text[at..].iter().take_while(|&&byte| byte != b'\n');
        rest.into_iter().all(u8::is_ascii_whitespace)
    }

    /// The offset of the first non-whitespace character of a line; `None` if it is blank.
    pub(crate) fn first_byte(&self, row: usize) -> Option<usize> {
        let first = self.firsts.get_or_init(|| self.first_bytes())[row] as usize;
        (first < self.start_of(row + 1)).then_some(first)
    }

    /// The line of a byte, counted from 0.
    pub(crate) fn row_of(&self, at: usize) -> usize {
        self.rows.row_of(at)
    }

    fn first_bytes(&self) -> Vec<u32> {
        let first = |row| {
            let white = self.row(row).iter().take_while(|byte| byte.is_ascii_whitespace());
            (self.start_of(row) + white.count()) as u32
        };
        (0..self.rows.count()).map(first).collect()
    }

    /// Whether only whitespace precedes an offset in its line.
    pub(crate) fn begins_line(&self, at: usize) -> bool {
        self.first_byte(self.row_of(at)) == Some(at)
    }

    /// Whether a node is on an indented line.
    pub(crate) fn begins_with_depth(&self, node: Node<'_>) -> bool {
        let row = self.row_of(node.start_byte());
        self.first_byte(row).is_some_and(|at| at > self.start_of(row))
    }

    /// A fault in the first line of a node.
    pub(crate) fn fault_at(&self, node: Node<'_>, what: impl Into<String>) -> Fault {
        let line = self.row_of(node.start_byte()) as u32 + 1;
        Fault { line, what: what.into(), opened: None }
    }

    /// The start of the text of a node.
    pub(crate) fn slice(&self, node: Node<'_>) -> std::borrow::Cow<'_, str> {
        let end = node.end_byte().min(node.start_byte() + SLICE_LIMIT_BYTES);
        String::from_utf8_lossy(&self.text[node.start_byte()..end])
    }
}
