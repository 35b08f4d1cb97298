//! Parts that a statement must have: `catch` after `try`, `then` after `if`, `)` after a pattern.

use super::Lexical;
use super::token::{Kind, NONE, Token};
use super::words::Missing;
use crate::budget::Meter;
use crate::pairs::{Closer, FAULTS_LIMIT, Found, Wrong, unclosed};
use crate::source::Source;
use crate::structure::Fault;

/// The words and brackets that are missing in blocks, up to where what follows is not known.
pub(super) fn missing_marks(
    source: &Source,
    tokens: &[Token],
    missing: &[Missing],
    torn: Option<usize>,
) -> Vec<Found> {
    let row = |at: usize| source.row_of(tokens[at].start());
    let is_known = |one: &&Missing| torn.is_none_or(|torn| tokens[one.at()].start() < torn);
    let found = missing.iter().filter(is_known).map(|one| match *one {
        Missing::Then { open, end } => unclosed(Closer::Word("then"), row(open) as u32, row(end)),
        Missing::PatternEnd(last) => {
            let what = "`)` is missing after the pattern".into();
            let fault = Fault { line: row(last) as u32 + 1, what, opened: None };
            Found { wrong: Wrong::Unclosed(")".into()), fault }
        }
    });
    found.take(FAULTS_LIMIT).collect()
}

impl Lexical {
    /// The blocks after which a part is missing.
    pub(super) fn missing_parts(&self, source: &Source, meter: &Meter<'_>) -> Vec<Found> {
        let required = self.lexicon.required;
        let mut found = Vec::new();
        if required.is_empty() {
            return found;
        }
        for (at, token) in self.tokens.iter().enumerate() {
            if found.len() >= FAULTS_LIMIT || !meter.step() {
                break;
            }
            if token.kind != Kind::Word {
                continue;
            }
            let word = &source.text[token.range()];
            let part = required.iter().find(|(first, _)| first.as_bytes() == word);
            let Some(&(first, parts)) = part else { continue };
            if !self.lacks_part(source, at, parts) {
                continue;
            }
            let names: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
            let what = format!("{} is missing after this `{first}`", names.join(" or "));
            let line = source.row_of(token.start()) as u32 + 1;
            let wrong = Wrong::Unclosed(first.to_owned());
            found.push(Found { wrong, fault: Fault { line, what, opened: None } });
        }
        found
    }

    /// Whether it is certain that none of the parts follows the block after a word.
    fn lacks_part(&self, source: &Source, word: usize, parts: &[&str]) -> bool {
        let text = |at: usize| &source.text[self.tokens[at].range()];
        let is_code = |at: &usize| self.tokens[*at].kind != Kind::Comment;
        let next = |at: usize| (at + 1..self.tokens.len()).find(is_code);
        let Some(open) = next(word).filter(|&open| text(open) == b"{") else { return false };
        let is_name = word.checked_sub(1).is_some_and(|before| text(before) == b".");
        let close = self.regions[self.tokens[open].region as usize].close;
        if is_name || close == NONE {
            return false;
        }
        let Some(after) = next(close as usize) else { return true };
        let is_part = parts.iter().any(|part| part.as_bytes() == text(after));
        // A macro can contain the part.
        let is_macro = text(after).iter().all(|byte| !byte.is_ascii_lowercase());
        match self.tokens[after].kind {
            Kind::Directive => false,
            Kind::Word => !is_part && !is_macro,
            _ => true,
        }
    }
}
