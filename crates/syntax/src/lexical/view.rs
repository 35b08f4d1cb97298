//! A text with its tokens, and queries on them that blocks and outlines share.

use super::Lexical;
use super::table::{Attributes, Ends, Extra, Fact};
use super::token::{Kind, NONE, Token};
use crate::budget::Meter;
use crate::lookup::COMMENTS_LIMIT;
use crate::source::Source;

/// Words that continue a statement in a new line, after a block.
const CONTINUING: &[&[u8]] =
    &[b"else", b"elif", b"elsif", b"elseif", b"catch", b"finally", b"where"];

#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub source: &'a Source,
    pub lexical: &'a Lexical,
    /// When it is spent, results are not valid.
    pub meter: &'a Meter<'a>,
}

impl<'a> View<'a> {
    pub fn len(self) -> usize {
        self.lexical.tokens.len()
    }

    pub fn token(self, at: usize) -> Token {
        self.lexical.tokens[at]
    }

    pub fn get(self, at: usize) -> Option<Token> {
        self.lexical.tokens.get(at).copied()
    }

    pub fn kind(self, at: usize) -> Kind {
        self.token(at).kind
    }

    pub fn text(self, at: usize) -> &'a [u8] {
        &self.source.text[self.token(at).range()]
    }

    pub fn is(self, at: usize, text: &str) -> bool {
        self.text(at) == text.as_bytes()
    }

    pub fn has(self, fact: Fact) -> bool {
        self.lexical.lexicon.facts.contains(&fact)
    }

    pub fn row(self, at: usize) -> usize {
        self.source.row_of(self.token(at).start())
    }

    pub fn last_row(self, at: usize) -> usize {
        self.source.row_of(self.token(at).end().saturating_sub(1))
    }

    pub fn begins_row(self, at: usize) -> bool {
        self.source.begins_line(self.token(at).start())
    }

    pub fn column(self, at: usize) -> usize {
        self.token(at).start() - self.source.start_of(self.row(at))
    }

    /// The first token that ends after an offset.
    pub fn after(self, offset: usize) -> usize {
        self.lexical.tokens.partition_point(|token| token.end() <= offset)
    }

    /// The next token that is not a comment or directive.
    pub fn next_code(self, at: usize) -> Option<usize> {
        let is_code = |&at: &usize| !matches!(self.kind(at), Kind::Comment | Kind::Directive);
        (at + 1..self.len()).take(COMMENTS_LIMIT).find(is_code)
    }

    pub fn previous_code(self, at: usize) -> Option<usize> {
        let is_code = |&at: &usize| !matches!(self.kind(at), Kind::Comment | Kind::Directive);
        (0..at).rev().take(COMMENTS_LIMIT).find(is_code)
    }

    /// The token that matches a bracket.
    pub fn partner(self, at: usize) -> Option<usize> {
        let region = self.lexical.regions[self.token(at).region as usize];
        let own = at as u32;
        let found = match self.kind(at) {
            Kind::Open if region.open == own => region.close,
            Kind::Close if region.close == own => region.open,
            _ => NONE,
        };
        (found != NONE).then_some(found as usize)
    }

    /// The region around a token.
    pub fn around(self, at: usize) -> u32 {
        let region = self.token(at).region;
        match self.partner(at) {
            Some(_) => self.lexical.regions[region as usize].parent,
            None => region,
        }
    }

    /// Whether a token of a later line continues the statement before it.
    pub fn continues(self, at: usize, next: usize) -> bool {
        let lines = self.lexical.lexicon.ends == Ends::Lines;
        let gap = &self.source.text[self.token(at).end()..self.token(next).start()];
        let has_words = !self.lexical.lexicon.words.is_empty();
        let lexicon = self.lexical.lexicon;
        if lexicon.extras.contains(&Extra::Continuations) && ends_with_backslash(gap) {
            return true;
        }
        let (text, after) = (self.text(next), self.source.text.get(self.token(next).end()));
        let begins = match self.kind(next) {
            Kind::Word if has_words => matches!(text, b"and" | b"or" | b"when"),
            Kind::Word
                if text == b"else"
                    && self.get(next + 1).is_some_and(|_| self.is(next + 1, "-")) =>
            {
                false
            }
            Kind::Word => CONTINUING.iter().any(|word| word.eq_ignore_ascii_case(text)),
            Kind::Mark if self.has(Fact::Commands) => false,
            Kind::Mark if self.has(Fact::MarksBeginValues) => is_operator_of_elixir(text[0], after),
            Kind::Mark => match text[0] {
                b':' => after != Some(&b':') && !has_words,
                b'&' | b'|' => lines || after == Some(&text[0]),
                b'+' | b'-' | b'*' | b'/' | b'!' | b'@' | b'#' | b'~' | b'$' | b'%' | b'^' => {
                    text[0] == b'-' && after == Some(&b'>')
                }
                b';' => false,
                b'.' => after != Some(&b'.'),
                _ => true,
            },
            _ => false,
        };
        begins || lines && self.ends_open(at)
    }

    /// The first token of the line of a token, or of the line where a bracket that it closes opens.
    pub fn first_of_statement_row(self, at: usize) -> usize {
        let mut at = at;
        loop {
            let row_start = self.source.start_of(self.row(at));
            let first = self.after(row_start).min(at);
            match (first..=at).find(|&one| self.kind(one) != Kind::Comment).and_then(|one| {
                (self.kind(one) == Kind::Close).then(|| self.partner(one)).flatten()
            }) {
                Some(open) if open < first => at = open,
                _ => return first,
            }
        }
    }

    /// Whether a statement continues after this token at the end of a line.
    pub fn ends_open(self, at: usize) -> bool {
        let text = self.text(at);
        match self.kind(at) {
            Kind::Mark if self.has(Fact::Commands) => {
                let before = self.source.text[..self.token(at).start()].last();
                text == b"|" || text == b"&" && before == Some(&b'&')
            }
            Kind::Mark if matches!(text, b"+" | b"-") => {
                self.source.text[..self.token(at).start()].last() != Some(&text[0])
            }
            Kind::Mark => {
                matches!(text[0], b'=' | b'/' | b',' | b'.' | b'&' | b'|' | b'<' | b':' | b'\\')
            }
            Kind::Word => matches!(text, b"and" | b"or" | b"not" | b"in" | b"extends" | b"with"),
            _ => false,
        }
    }

    /// The last token of the comments and attributes that begin at a token, if nothing else is in
    /// their last line.
    pub fn leading_end(self, at: usize) -> Option<usize> {
        let mut last = self.one_leading_end(at)?;
        loop {
            if !self.meter.step() {
                return None;
            }
            match self.get(last + 1) {
                Some(_) if self.row(last + 1) == self.last_row(last) => {
                    last = self.one_leading_end(last + 1)?;
                }
                _ => return Some(last),
            }
        }
    }

    fn one_leading_end(self, at: usize) -> Option<usize> {
        let text = self.text(at);
        if self.kind(at) == Kind::Comment {
            return Some(at);
        }
        match self.lexical.lexicon.attributes {
            Attributes::None => None,
            Attributes::At if text == b"@" => {
                let mut last = at;
                while let Some(next) = self.get(last + 1) {
                    let is_part = next.kind == Kind::Word
                        || next.kind == Kind::Mark && matches!(self.text(last + 1), b"." | b":");
                    if next.start() != self.token(last).end() || !is_part {
                        break;
                    }
                    last += 1;
                }
                let is_called = self.get(last + 1).is_some_and(|next| {
                    next.start() == self.token(last).end() && self.is(last + 1, "(")
                });
                let end = if is_called { self.partner(last + 1)? } else { last };
                (last > at && !self.is(at + 1, "file")).then_some(end)
            }
            Attributes::Brackets if text == b"[" && self.begins_row(at) => {
                (!self.is(at + 1, "assembly")).then(|| self.partner(at)).flatten()
            }
            Attributes::HashBrackets if text == b"#" && self.get(at + 1).is_some() => {
                (self.is(at + 1, "[")).then(|| self.partner(at + 1)).flatten()
            }
            Attributes::Elixir if self.kind(at) == Kind::Word && is_attribute(text) => {
                self.end_of_statement(at, &mut { ATTRIBUTE_LIMIT }).ok()
            }
            _ => None,
        }
    }
}

/// The limit on the tokens of an attribute of Elixir, besides those in brackets.
const ATTRIBUTE_LIMIT: usize = 1_000;

fn is_attribute(text: &[u8]) -> bool {
    let known = [&b"@doc"[..], b"@spec", b"@impl", b"@deprecated", b"@since", b"@typedoc", b"@tag"];
    known.contains(&text)
}

/// Whether the first character of a line and the one after it begin an operator, not a value.
fn is_operator_of_elixir(first: u8, after: Option<&u8>) -> bool {
    match first {
        b'|' | b'=' | b'>' | b'*' | b'/' | b'.' | b'\\' | b',' => true,
        b':' | b'+' | b'&' => after == Some(&first),
        b'-' => matches!(after, Some(b'-' | b'>')),
        b'<' => matches!(after, Some(b'>' | b'-' | b'=' | b'~')),
        b'!' => after == Some(&b'='),
        _ => false,
    }
}

/// Whether a line ends with `\` between two tokens.
fn ends_with_backslash(gap: &[u8]) -> bool {
    memchr::memchr(b'\n', gap).is_some_and(|at| gap[..at].trim_ascii_end().ends_with(b"\\"))
}
