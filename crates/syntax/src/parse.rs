//! Parses a text into a source, from scratch or reusing a tree of another text, and checks it for
//! errors.

use std::sync::{Arc, OnceLock};

use memchr::memmem;
use tree_sitter::{InputEdit, Range};
use tree_sitter_language::LanguageFn;

use crate::bounded::BoundedTree;
use crate::budget::Budget;
use crate::edit::{edit_between, point};
use crate::fault;
use crate::grammar::{self, Allowance, Job};
use crate::headings;
use crate::indentation;
use crate::language::{Grammar, Language};
use crate::lexical::Lexical;
use crate::required;
use crate::rows::Rows;
use crate::source::Source;
use crate::structure::Fault;

/// The limit on the size of texts; longer texts are not parsed.
pub const SOURCE_LIMIT_BYTES: usize = 256 << 10;

/// The limit on the size of texts that are parsed once, for their definitions. The limits on time and
/// memory are the same.
pub const SYMBOLS_LIMIT_BYTES: usize = 1 << 20;

/// How many bytes of a text are scanned for brackets in the time of one progress report.
const LEXICAL_BYTES_PER_REPORT: usize = 1 << 10;

/// A text to parse. A borrowed text is copied, unless it is too long.
pub enum SourceText<'a> {
    /// Borrowed from the caller.
    Borrowed(&'a [u8]),
    /// Shared with the source.
    Shared(Arc<Vec<u8>>),
}

impl SourceText<'_> {
    /// The text, unless it is too long.
    fn into_shared(self, limit_bytes: usize) -> Option<Arc<Vec<u8>>> {
        match self {
            SourceText::Borrowed(text) => {
                (text.len() <= limit_bytes).then(|| Arc::new(text.to_vec()))
            }
            SourceText::Shared(text) => (text.len() <= limit_bytes).then_some(text),
        }
    }
}

impl<'a, T: AsRef<[u8]> + ?Sized> From<&'a T> for SourceText<'a> {
    fn from(text: &'a T) -> SourceText<'a> {
        SourceText::Borrowed(text.as_ref())
    }
}

impl From<Vec<u8>> for SourceText<'_> {
    fn from(text: Vec<u8>) -> Self {
        SourceText::Shared(Arc::new(text))
    }
}

impl From<Arc<Vec<u8>>> for SourceText<'_> {
    fn from(text: Arc<Vec<u8>>) -> Self {
        SourceText::Shared(text)
    }
}

/// A text and the offsets of its lines.
struct Text {
    bytes: Arc<Vec<u8>>,
    rows: Arc<Rows>,
}

impl Text {
    fn of(bytes: Arc<Vec<u8>>) -> Text {
        let rows = Arc::new(Rows::of(&bytes));
        Text { bytes, rows }
    }
}

impl Source {
    /// Parses a text. `None` if it is too long, or parsing it would take too much time or memory. A
    /// text that is too long is not copied.
    pub fn parse<'a>(
        language: &'static Language,
        text: impl Into<SourceText<'a>>,
        budget: &Budget<'_>,
    ) -> Option<Source> {
        let text = Text::of(text.into().into_shared(SOURCE_LIMIT_BYTES)?);
        Source::build(language, &text, &mut Allowance::full(), budget)
    }

    /// Parses a text that may be longer, for its definitions.
    pub fn parse_for_symbols<'a>(
        language: &'static Language,
        text: impl Into<SourceText<'a>>,
        budget: &Budget<'_>,
    ) -> Option<Source> {
        let text = Text::of(text.into().into_shared(SYMBOLS_LIMIT_BYTES)?);
        let bare = Source::bare(language, &text);
        let allowance = &mut Allowance::full();
        // If there is a tree, definitions are only in it.
        if matches!(language.grammar, Grammar::Whole(_)) {
            return bare.with_masks(allowance, budget);
        }
        bare.with_lexical(allowance, budget).with_masks(allowance, budget)
    }

    /// Parses an edited version of this text, reusing unchanged parts of the tree. If the parser
    /// is stopped because of errors that the edit brought into a text without errors, the result is a
    /// fault at the first edited line.
    pub fn reparse<'a>(
        &self,
        text: impl Into<SourceText<'a>>,
        budget: &Budget<'_>,
    ) -> Result<Source, Option<Fault>> {
        let text = Text::of(text.into().into_shared(SOURCE_LIMIT_BYTES).ok_or(None)?);
        let source = self.reuse(&text, &mut Allowance::full(), budget);
        // For a text with errors, a tree with reused parts may differ from a new one.
        if let Some(source) = source.filter(Source::is_clean) {
            return Ok(source);
        }
        let mut allowance = Allowance::full();
        let source = Source::build(self.language, &text, &mut allowance, budget);
        source.ok_or_else(|| {
            let is_broken = self.is_clean && allowance.met_error() && !budget.is_spent();
            is_broken.then(|| {
                let edit = edit_between((&self.text, &self.rows), (&text.bytes, &text.rows));
                let line = text.rows.row_of(edit.start_byte) as u32 + 1;
                let what = "a bracket or quote seems to be missing in the edited lines that start \
                            here; the rest of the file cannot be parsed";
                Fault { line, what: what.into(), opened: None }
            })
        })
    }

    /// Whether an edited version of this text would be free of errors. Returns false as well if
    /// checking it exceeds the budget or `reports` progress reports of the parser. Unchanged parts
    /// need no reports.
    pub fn would_be_clean<'a>(
        &self,
        text: impl Into<SourceText<'a>>,
        reports: &mut u32,
        budget: &Budget<'_>,
    ) -> bool {
        let Some(text) = text.into().into_shared(SOURCE_LIMIT_BYTES) else { return false };
        let text = Text::of(text);
        let mut allowance = Allowance::for_check(*reports);
        let source = if self.is_masked {
            Source::build(self.language, &text, &mut allowance, budget)
        } else {
            self.reuse(&text, &mut allowance, budget)
        };
        *reports = allowance.reports();
        source.is_some_and(|source| source.is_clean)
    }

    /// Parses an edited version of this text, with the nodes of this tree if these may be reused.
    fn reuse(&self, text: &Text, allowance: &mut Allowance, budget: &Budget<'_>) -> Option<Source> {
        let is_whole = matches!(self.language.grammar, Grammar::Whole(_)) && !self.is_masked;
        let tree = self.tree.as_ref().filter(|tree| is_whole && tree.is_shareable());
        let edit = edit_between((&self.text, &self.rows), (&text.bytes, &text.rows));
        let old = tree.map(|tree| (tree, edit));
        let bare = Source::bare(self.language, text).with_lexical(allowance, budget);
        bare.attempt(None, old, allowance, budget)
    }

    /// Parses a text, and scans it for brackets.
    fn build(
        language: &'static Language,
        text: &Text,
        allowance: &mut Allowance,
        budget: &Budget<'_>,
    ) -> Option<Source> {
        Source::bare(language, text).with_lexical(allowance, budget).with_masks(allowance, budget)
    }

    /// A text that has not been parsed.
    fn bare(language: &'static Language, text: &Text) -> Source {
        Source {
            language,
            text: Arc::clone(&text.bytes),
            rows: Arc::clone(&text.rows),
            tree: None,
            headings: Vec::new(),
            lexical: None,
            firsts: OnceLock::new(),
            is_masked: false,
            is_clean: true,
        }
    }

    /// The same text with its structure by brackets and tags, in languages that have it.
    fn with_lexical(self, allowance: &mut Allowance, budget: &Budget<'_>) -> Source {
        let Some(lexicon) = self.language.lexicon else { return self };
        allowance.charge(self.text.len() / LEXICAL_BYTES_PER_REPORT);
        let lexical = Arc::new(Lexical::of(&self, lexicon, &budget.meter()));
        Source { lexical: Some(lexical), ..self }
    }

    /// Parses this text as it is, and with masked constructs if it has errors.
    fn with_masks(self, allowance: &mut Allowance, budget: &Budget<'_>) -> Option<Source> {
        let recovery = *allowance;
        let plain = self.attempt(None, None, allowance, budget);
        if plain.as_ref().is_some_and(Source::is_clean) || budget.is_spent() {
            return plain;
        }
        let Some(input) = self.language.masks.masked(&self.text) else { return plain };
        allowance.renew_recovery(recovery);
        let masked = self.attempt(Some(&input), None, allowance, budget);
        let meter = &budget.meter();
        match (plain, masked) {
            (Some(plain), Some(masked))
                if !masked.is_clean
                    && fault::count(&plain, meter) < fault::count(&masked, meter) =>
            {
                Some(plain)
            }
            (plain, masked) => masked.or(plain),
        }
    }

    /// Parses this text, or `masked` in its place.
    fn attempt(
        &self,
        masked: Option<&[u8]>,
        old: Option<(&BoundedTree, InputEdit)>,
        allowance: &mut Allowance,
        budget: &Budget<'_>,
    ) -> Option<Source> {
        let input = masked.unwrap_or(&self.text);
        let tree = match parser_of(self.language, input, &self.rows) {
            Some((grammar, Some(ranges))) => {
                let job = Job { text: input, grammar, ranges, old };
                let tree = grammar::parse(&job, allowance, budget);
                // Without its tree, a script would count as one without errors.
                if tree.is_none() && self.checks_tree() {
                    return None;
                }
                tree
            }
            _ => None,
        };
        let mut source = Source {
            language: self.language,
            text: Arc::clone(&self.text),
            rows: Arc::clone(&self.rows),
            tree,
            headings: Vec::new(),
            lexical: self.lexical.clone(),
            firsts: self.firsts.clone(),
            is_masked: masked.is_some(),
            is_clean: true,
        };
        if matches!(self.language.grammar, Grammar::Headings) {
            source.headings = headings::headings(&source);
        }
        if source.tree.is_none() && source.lexical.is_none() {
            source = source.with_lexical(allowance, budget);
        }
        let meter = &budget.meter();
        source.is_clean = source.is_lexically_clean()
            && (!source.checks_tree()
                || !fault::has_error(&source, meter)
                    && indentation::fault(&source, meter).is_none()
                    && required::fault(&source, meter).is_none());
        // If the budget is spent, the structure may be incomplete.
        meter.check().then_some(source)
    }

    /// The first fault; `None` for a text without errors, or if the search exceeds the budget.
    pub fn fault(&self, budget: &Budget<'_>) -> Option<Fault> {
        if self.is_clean {
            return None;
        }
        let meter = &budget.meter();
        fault::first(self, meter).filter(|_| !meter.is_spent())
    }

    fn is_lexically_clean(&self) -> bool {
        self.lexical.as_ref().is_none_or(|lexical| lexical.first_fault().is_none())
    }

    /// Whether errors of the tree count.
    pub(crate) fn checks_tree(&self) -> bool {
        self.language.checks_tree()
    }
}

/// The parser of a text, and the parts to parse; `None` in place of the parts if there are none.
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
        Grammar::Headings | Grammar::None => None,
    }
}

/// The end of a tag, whose attributes may contain `>`: `generics="T extends A<B>"`.
fn end_of_tag(text: &[u8], open: usize) -> Option<usize> {
    let mut quote = None;
    let is_end = |&byte: &u8| {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return true,
            _ => {}
        }
        false
    };
    text[open..].iter().position(is_end).map(|at| open + at + 1)
}

/// The contents of all `<script>` elements, and whether any of them is TypeScript.
fn scripts(text: &[u8], rows: &Rows) -> (Vec<Range>, bool) {
    let lower = text.to_ascii_lowercase();
    let find =
        |needle: &[u8], from: usize| memmem::find(&lower[from..], needle).map(|at| from + at);
    let (mut ranges, mut is_typed, mut at) = (Vec::new(), false, 0);
    while let Some(open) = find(b"<script", at) {
        let Some(start) = end_of_tag(text, open) else { break };
        let Some(end) = find(b"</script", start) else { break };
        let tag = String::from_utf8_lossy(&lower[open..start]);
        is_typed |= is_typescript(&tag);
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

/// Whether a tag, in lower case, is that of a script in TypeScript: `<script setup lang="ts">`.
fn is_typescript(tag: &str) -> bool {
    let mut words = tag.split(|char: char| char.is_whitespace() || char == '=' || char == '>');
    words.any(|word| {
        matches!(word.trim_matches(['"', '\'']), "ts" | "tsx" | "typescript" | "text/typescript")
    })
}
