//! A text with its tree, and what can be asked of it.

use tree_sitter::{Node, Range, Tree};
use tree_sitter_language::LanguageFn;

use crate::fault::{self, Fault};
use crate::grammar::{self, Job};
use crate::headings::{self, Heading};
use crate::indentation;
use crate::language::{Grammar, Kinds, Language};

/// Longer texts have no structure.
pub const SOURCE_LIMIT_BYTES: usize = 256 << 10;

/// What a node of a tree takes in memory, with its share of lists: measured on sources of all
/// languages.
const NODE_BYTES: usize = 40;

/// As much of a node's text is read for a name.
const SLICE_LIMIT_BYTES: usize = 400;

/// A text that was parsed.
#[derive(Debug)]
pub struct Source {
    pub(crate) language: &'static Language,
    pub(crate) text: Vec<u8>,
    /// `None` for languages without a parser.
    pub(crate) tree: Option<Tree>,
    pub(crate) headings: Vec<Heading>,
    /// Where each line starts, and the end of the text.
    starts: Vec<u32>,
    /// Where its first character stands that is no white space, or the line ends.
    firsts: Vec<u32>,
    is_clean: bool,
}

impl Source {
    /// Parses a text. `None` where it is too long, or parsing it would take too long.
    pub fn parse(language: &'static Language, text: Vec<u8>) -> Option<Source> {
        Source::build(language, text, None)
    }

    /// Parses a text that this one was turned into, and keeps of the tree what did not change.
    pub fn reparse(&self, text: Vec<u8>) -> Option<Source> {
        let reused =
            self.tree.as_ref().filter(|_| matches!(self.language.grammar, Grammar::Whole(_)));
        let reused = reused.cloned().map(|mut tree| {
            tree.edit(&grammar::edit_between(&self.text, &text));
            tree
        });
        let source = Source::build(self.language, text, reused.as_ref())?;
        // Where a text is broken, a tree that kept parts of another may differ from a fresh one.
        if source.is_clean || reused.is_none() {
            return Some(source);
        }
        Source::build(self.language, source.text, None)
    }

    fn build(language: &'static Language, text: Vec<u8>, old: Option<&Tree>) -> Option<Source> {
        if text.len() > SOURCE_LIMIT_BYTES {
            return None;
        }
        let tree = match parser_of(language, &text) {
            Some((grammar, ranges)) => {
                Some(grammar::parse(&Job { text: &text, grammar, ranges: ranges? }, old)?)
            }
            None => None,
        };
        let starts = starts_of(&text);
        let firsts = starts.windows(2).map(|line| {
            let line = line[0] as usize..line[1] as usize;
            let white = text[line.clone()].iter().take_while(|byte| byte.is_ascii_whitespace());
            (line.start + white.count()) as u32
        });
        let firsts = firsts.collect();
        let mut source =
            Source { language, text, tree, headings: Vec::new(), starts, firsts, is_clean: true };
        if source.tree.is_none() {
            source.headings = headings::headings(&source);
        }
        source.is_clean = source.root().is_none_or(|root| !root.has_error())
            && indentation::fault(&source).is_none();
        Some(source)
    }

    /// The language it was parsed as.
    pub fn language(&self) -> &'static Language {
        self.language
    }

    /// The text it is the tree of.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// How many lines the text has.
    pub fn lines(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// Whether the parser understood all of it, and all depths are consistent.
    pub fn is_clean(&self) -> bool {
        self.is_clean
    }

    /// What is wrong first; `None` in a clean text.
    pub fn fault(&self) -> Option<Fault> {
        if self.is_clean { None } else { fault::first(self) }
    }

    /// About how much memory it holds.
    pub fn size_bytes(&self) -> usize {
        let nodes = self.root().map_or(0, |root| root.descendant_count());
        self.text.len() + 4 * self.starts.len() + NODE_BYTES * nodes
    }

    pub(crate) fn root(&self) -> Option<Node<'_>> {
        self.tree.as_ref().map(Tree::root_node)
    }

    pub(crate) fn kinds(&self) -> &'static Kinds {
        self.language.kinds
    }

    /// The bytes of a line, counted from 0, with its end.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        &self.text[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// Where a line starts.
    pub(crate) fn start_of(&self, row: usize) -> usize {
        self.starts[row] as usize
    }

    /// Whether nothing but white space stands after a place in its line.
    pub(crate) fn ends_line(&self, at: usize) -> bool {
        let rest = self.text[at..].iter().take_while(|&&byte| byte != b'\n');
        rest.into_iter().all(u8::is_ascii_whitespace)
    }

    /// Where the first character of a line stands that is no white space; `None` in a blank one.
    pub(crate) fn first_byte(&self, row: usize) -> Option<usize> {
        let first = self.firsts[row];
        (first < self.starts[row + 1]).then_some(first as usize)
    }

    /// The line of a byte, counted from 0.
    pub(crate) fn row_of(&self, at: usize) -> usize {
        let after = self.starts.partition_point(|&start| start as usize <= at);
        after.min(self.starts.len() - 1).saturating_sub(1)
    }

    /// Whether nothing but white space stands before a byte in its line.
    pub(crate) fn begins_line(&self, at: usize) -> bool {
        self.first_byte(self.row_of(at)) == Some(at)
    }

    /// Whether a node is deeper than the text's first column.
    pub(crate) fn begins_with_depth(&self, node: Node<'_>) -> bool {
        let row = self.row_of(node.start_byte());
        self.first_byte(row).is_some_and(|at| at > self.start_of(row))
    }

    /// How the text of a node begins.
    pub(crate) fn slice(&self, node: Node<'_>) -> std::borrow::Cow<'_, str> {
        let end = node.end_byte().min(node.start_byte() + SLICE_LIMIT_BYTES);
        String::from_utf8_lossy(&self.text[node.start_byte()..end])
    }
}

/// The parser of a text, and the parts of it that count; no parts where none are there.
fn parser_of(language: &Language, text: &[u8]) -> Option<(LanguageFn, Option<Vec<Range>>)> {
    match language.grammar {
        Grammar::Whole(grammar) => Some((grammar, Some(Vec::new()))),
        Grammar::Script(plain, typed) => {
            let (ranges, is_typed) = scripts(text);
            let found = (!ranges.is_empty()).then_some(ranges);
            Some((if is_typed { typed } else { plain }, found))
        }
        Grammar::Headings => None,
    }
}

/// The insides of all `<script>`, and whether the first of them is TypeScript.
fn scripts(text: &[u8]) -> (Vec<Range>, bool) {
    let lower = text.to_ascii_lowercase();
    let find = |needle: &[u8], from: usize| {
        let found = lower[from..].windows(needle.len()).position(|window| window == needle);
        found.map(|at| from + at)
    };
    let (mut ranges, mut is_typed, mut at) = (Vec::new(), false, 0);
    while let Some(open) = find(b"<script", at) {
        let Some(start) = find(b">", open).map(|end| end + 1) else { break };
        let Some(end) = find(b"</script", start) else { break };
        let tag = String::from_utf8_lossy(&lower[open..start]);
        is_typed |= ranges.is_empty()
            && ["\"ts\"", "'ts'", "typescript"].iter().any(|mark| tag.contains(mark));
        ranges.push(Range {
            start_byte: start,
            end_byte: end,
            start_point: grammar::point(text, start),
            end_point: grammar::point(text, end),
        });
        at = end;
    }
    (ranges, is_typed)
}

fn starts_of(text: &[u8]) -> Vec<u32> {
    let ends = text.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
    let mut starts: Vec<u32> =
        std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect();
    if *starts.last().unwrap_or(&0) as usize != text.len() {
        starts.push(text.len() as u32);
    }
    starts
}
