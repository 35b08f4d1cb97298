//! A text → a source: parsed, from the start or with what did not change of another tree, and seen
//! whether it is clean.

use std::sync::OnceLock;

use memchr::memmem;
use tree_sitter::{Range, Tree};
use tree_sitter_language::LanguageFn;

use crate::edit::{edit_between, point};
use crate::fault;
use crate::found::Fault;
use crate::grammar::{self, Budget, Job};
use crate::headings;
use crate::indentation;
use crate::language::{Grammar, Language};
use crate::rows::Rows;
use crate::source::Source;

/// Longer texts have no structure.
pub const SOURCE_LIMIT_BYTES: usize = 256 << 10;

/// A text to parse, owned or not.
pub trait SourceText: AsRef<[u8]> + Into<Vec<u8>> {}

impl<T: AsRef<[u8]> + Into<Vec<u8>>> SourceText for T {}

/// The text, unless it is too long.
fn owned(text: impl SourceText) -> Option<Vec<u8>> {
    (text.as_ref().len() <= SOURCE_LIMIT_BYTES).then(|| text.into())
}

impl Source {
    /// Parses a text. `None` where it is too long, or parsing it would take too long. What is too
    /// long is not copied.
    pub fn parse(language: &'static Language, text: impl SourceText) -> Option<Source> {
        let text = owned(text)?;
        let rows = Rows::of(&text);
        Source::build(language, text, rows, None, &mut Budget::full())
    }

    /// Parses a text that this one was turned into, and keeps of the tree what did not change.
    pub fn reparse(&self, text: impl SourceText) -> Option<Source> {
        let text = owned(text)?;
        let rows = Rows::of(&text);
        let reused = self.reused(&text, &rows);
        let full = &mut Budget::full();
        let source = Source::build(self.language, text, rows, reused.as_ref(), full)?;
        // Where a text is broken, a tree that kept parts of another may differ from a fresh one.
        if source.is_clean || reused.is_none() {
            return Some(source);
        }
        Source::build(self.language, source.text, source.rows, None, &mut Budget::full())
    }

    /// Whether a text that this one could be turned into is clean. It is not, either, where that
    /// takes more than is left of `reports` of the parser's progress; what did not change takes
    /// none.
    pub fn would_be_clean(&self, text: impl SourceText, reports: &mut u32) -> bool {
        let Some(text) = owned(text) else { return false };
        let rows = Rows::of(&text);
        let reused = self.reused(&text, &rows);
        let mut budget = Budget::to_see_whether_clean(*reports);
        let source = Source::build(self.language, text, rows, reused.as_ref(), &mut budget);
        *reports = budget.reports();
        source.is_some_and(|source| source.is_clean)
    }

    /// The tree, made ready for a text that this one is turned into.
    fn reused(&self, text: &[u8], rows: &Rows) -> Option<Tree> {
        let whole = matches!(self.language.grammar, Grammar::Whole(_));
        let mut tree = self.tree.clone().filter(|_| whole)?;
        tree.edit(&edit_between((&self.text, &self.rows), (text, rows)));
        Some(tree)
    }

    fn build(
        language: &'static Language,
        text: Vec<u8>,
        rows: Rows,
        old: Option<&Tree>,
        budget: &mut Budget,
    ) -> Option<Source> {
        let tree = match parser_of(language, &text, &rows) {
            Some((grammar, ranges)) => {
                Some(grammar::parse(&Job { text: &text, grammar, ranges: ranges? }, old, budget)?)
            }
            None => None,
        };
        let (headings, firsts) = (Vec::new(), OnceLock::new());
        let mut source = Source { language, text, tree, headings, rows, firsts, is_clean: true };
        if source.tree.is_none() {
            source.headings = headings::headings(&source);
        }
        source.is_clean = source.root().is_none_or(|root| !fault::has_error(&source, root))
            && indentation::fault(&source).is_none();
        Some(source)
    }

    /// What is wrong first; `None` in a clean text.
    pub fn fault(&self) -> Option<Fault> {
        if self.is_clean { None } else { fault::first(self) }
    }
}

/// The parser of a text, and the parts of it that count; no parts where none are there.
fn parser_of(
    language: &Language,
    text: &[u8],
    rows: &Rows,
) -> Option<(LanguageFn, Option<Vec<Range>>)> {
    match language.grammar {
        Grammar::Whole(grammar) => Some((grammar, Some(Vec::new()))),
        Grammar::Script(plain, typed) => {
            let (ranges, is_typed) = scripts(text, rows);
            let found = (!ranges.is_empty()).then_some(ranges);
            Some((if is_typed { typed } else { plain }, found))
        }
        Grammar::Headings => None,
    }
}

/// The insides of all `<script>`, and whether the first of them is TypeScript.
fn scripts(text: &[u8], rows: &Rows) -> (Vec<Range>, bool) {
    let lower = text.to_ascii_lowercase();
    let find =
        |needle: &[u8], from: usize| memmem::find(&lower[from..], needle).map(|at| from + at);
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
            start_point: point(rows, start),
            end_point: point(rows, end),
        });
        at = end;
    }
    (ranges, is_typed)
}
