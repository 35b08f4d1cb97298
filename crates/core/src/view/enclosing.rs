//! The lines that open the blocks around a line.

use hashline_syntax::{Budget, Source, language_of};

/// Finds the blocks of one text, which it parses on first use.
pub struct Enclosing<'a> {
    path: &'a str,
    text: &'a [u8],
    budget: &'a Budget<'a>,
    parsed: Option<Option<Box<Source>>>,
}

impl<'a> Enclosing<'a> {
    pub fn new(path: &'a str, text: &'a [u8], budget: &'a Budget<'a>) -> Enclosing<'a> {
        Enclosing { path, text, budget, parsed: None }
    }

    /// The lines that open the blocks around `line`, outermost first; empty if the language is not
    /// known.
    pub fn opening_lines(&mut self, line: u64) -> Vec<u64> {
        let Enclosing { path, text, budget, parsed } = self;
        let source = parsed.get_or_insert_with(|| {
            let language = language_of(path, text)?;
            budget.extend(text.len());
            Source::parse(language, *text, budget).map(Box::new)
        });
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let opening_lines = source.iter().flat_map(|source| source.enclosing(line, budget));
        opening_lines.map(u64::from).collect()
    }
}
