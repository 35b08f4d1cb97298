//! The lines that open the blocks around a line.

use hashline_syntax::{Source, language_of};

/// The blocks of one text. It is parsed when the first of them is asked for.
pub struct Enclosing<'a> {
    path: &'a str,
    text: &'a [u8],
    parsed: Option<Option<Box<Source>>>,
}

impl<'a> Enclosing<'a> {
    /// Those of a file with this path and text.
    pub fn new(path: &'a str, text: &'a [u8]) -> Enclosing<'a> {
        Enclosing { path, text, parsed: None }
    }

    /// The lines that open the blocks around a line, the outermost first; none where the language
    /// is not known.
    pub fn openers(&mut self, line: u64) -> Vec<u64> {
        let Enclosing { path, text, parsed } = self;
        let source = parsed
            .get_or_insert_with(|| Source::parse(language_of(path, text)?, *text).map(Box::new));
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let openers = source.iter().flat_map(|source| source.enclosing(line));
        openers.map(u64::from).collect()
    }
}
