//! Definitions by name in the text of a file.

use std::ops::Range;

use hashline_syntax::{Budget, Source, Symbol, SymbolName, language_of};
use serde::Serialize;

use super::excerpt::Excerpt;
use super::near::did_you_mean;
use hashline_base::error::{Code, Error, Result};
use hashline_disk::names::NameMatcher;
use hashline_lines::anchor::quote;
use hashline_lines::lines::{Lines, Unit};

/// The most near names of one message.
const NEAR_NAMES: usize = 3;

/// The most lines that one message names.
const LINES_NAMED: usize = 5;

/// Where a definition is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SymbolPlace {
    /// Its name after those of the definitions around it: `Class.method`.
    pub name: String,
    /// Its first line, including comments, attributes and decorators above it.
    pub start_line: u64,
    /// Its last line.
    pub end_line: u64,
    /// Whether it has the name of something that is defined elsewhere, as a Rust `impl` does.
    #[serde(skip)]
    pub is_secondary: bool,
    /// The line where the definition itself starts.
    #[serde(skip)]
    pub own_line: u64,
    /// The definition itself in the text.
    #[serde(skip)]
    pub own_bytes: Range<usize>,
}

impl SymbolPlace {
    fn of(symbol: Symbol) -> SymbolPlace {
        let Symbol { path, is_secondary, first, start, last, bytes: own_bytes } = symbol;
        let (start_line, end_line, own_line) = (first.into(), last.into(), start.into());
        SymbolPlace { name: path, start_line, end_line, is_secondary, own_line, own_bytes }
    }

    /// Adds the lines of the definition up to `last`. If the line where it starts is long, adds the
    /// part with it, and nothing above it, for which it might not have room. Returns false if they did not all fit; no later line is added then.
    pub(crate) fn push_to(&self, excerpt: &mut Excerpt<'_>, text: &[u8], last: u64) -> bool {
        let &SymbolPlace { start_line, own_line, .. } = self;
        let own_start = self.start_of_own_line(text);
        let span = Lines::starting_at(text, Unit::Byte, own_start).next();
        let Some(span) = span.filter(|&span| excerpt.may_cut(span)) else {
            return excerpt.push_lines(start_line..last + 1);
        };
        // A mapped file can change between two reads; then the view is discarded.
        let end = self.own_bytes.end.min(span.text_end).max(self.own_bytes.start);
        let own = self.own_bytes.start - own_start..end - own_start;
        excerpt.push_match(own_line, span, Some(own))
            && (own_line == last || excerpt.push_lines(own_line + 1..last + 1))
    }

    /// The column where the definition itself starts.
    pub(crate) fn own_column(&self, text: &[u8]) -> u64 {
        let before = &text[self.start_of_own_line(text)..self.own_bytes.start];
        // Every byte that is not a continuation begins a code point.
        before.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64 + 1
    }

    fn start_of_own_line(&self, text: &[u8]) -> usize {
        memchr::memrchr(b'\n', &text[..self.own_bytes.start]).map_or(0, |newline| newline + 1)
    }
}

/// A name as the user gave it.
pub fn parse_symbol(text: &str) -> Result<SymbolName> {
    SymbolName::parse(text).ok_or_else(|| {
        Error::argument(format!(
            "symbol is {}: use the name of a definition, such as \"parse\" or \"Parser.parse\"",
            quote(text)
        ))
    })
}

/// The structure of a text; `None` if it is not known.
pub fn structure_of(path: &str, text: &[u8], budget: &Budget<'_>) -> Option<Source> {
    let language = language_of(path, text)?;
    budget.extend(text.len());
    Source::parse_for_symbols(language, text, budget)
}

/// The definitions with a name in a text; `None` if its structure is not known.
pub fn places_in(
    path: &str,
    text: &[u8],
    name: &SymbolName,
    budget: &Budget<'_>,
) -> Option<Vec<SymbolPlace>> {
    let language = language_of(path, text)?;
    budget.extend(text.len());
    let symbols = Source::symbols_in(language, text, name, budget)?;
    Some(symbols.into_iter().map(SymbolPlace::of).collect())
}

/// The definitions with a name; `None` if finding them exceeds the budget.
fn places(source: &Source, name: &SymbolName, budget: &Budget<'_>) -> Option<Vec<SymbolPlace>> {
    Some(source.symbols(name, budget)?.into_iter().map(SymbolPlace::of).collect())
}

/// The definitions with a name in a file, at least one.
pub fn find(
    path: &str,
    text: &[u8],
    name: &SymbolName,
    budget: &Budget<'_>,
) -> Result<Vec<SymbolPlace>> {
    let missing = |what: &str| Error::at(Code::SymbolNotFound, path, format!("{path}: {what}"));
    let unknown = || {
        missing("the structure of this file is not known, so search it for the text of the name")
    };
    let source = structure_of(path, text, budget).ok_or_else(unknown)?;
    let found = places(&source, name, budget).ok_or_else(unknown)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let uses = lines_with(text, name);
    let advice = did_you_mean(&near_names(&source, name, budget)).unwrap_or_else(|| match uses {
        None => "; read it with fold to see its definitions".to_owned(),
        Some(_) => String::new(),
    });
    let uses = uses.unwrap_or_default();
    Err(missing(&format!("no definition is named {}{uses}{advice}", quote(name.text()))))
}

/// Which lines contain a name, and how to see them.
fn lines_with(text: &[u8], name: &SymbolName) -> Option<String> {
    let (mut lines, mut line, mut counted) = (Vec::new(), 1_u64, 0);
    for at in name.occurrences(text) {
        line += memchr::memchr_iter(b'\n', &text[counted..at]).count() as u64;
        counted = at;
        if lines.last() != Some(&line.to_string()) {
            lines.push(line.to_string());
        }
        if lines.len() > LINES_NAMED {
            break;
        }
    }
    let more = if lines.len() > LINES_NAMED { ", …" } else { "" };
    lines.truncate(LINES_NAMED);
    let nouns =
        if lines.len() > 1 { ("lines", "contain", "them") } else { ("line", "contains", "it") };
    let (noun, verb, object) = nouns;
    (!lines.is_empty()).then(|| {
        let name = quote(name.last());
        let lines = lines.join(", ");
        format!(", but {noun} {lines}{more} {verb} {name}: search the file for it to see {object}")
    })
}

/// The names of definitions that are most like a name.
fn near_names(source: &Source, name: &SymbolName, budget: &Budget<'_>) -> Vec<String> {
    let Some(definitions) = source.definitions(budget) else { return Vec::new() };
    let matcher = NameMatcher::new(name.last());
    let near = |name: &str| {
        // The parts before the last one are wrong, or it differs in case or in one letter.
        let difference = matcher.difference(name);
        (difference.is_some() || name == matcher.name()).then_some((difference, quote(name)))
    };
    let names = definitions.iter().map(|definition| definition.name.as_str());
    let mut found: Vec<_> = names.filter_map(near).collect();
    found.sort();
    found.dedup_by(|one, other| one.1 == other.1);
    found.into_iter().take(NEAR_NAMES).map(|(_, name)| name).collect()
}
