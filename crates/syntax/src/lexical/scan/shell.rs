//! Texts and expansions of shells.

use super::extra::near_row;
use super::opened::Opened;
use super::{Scanner, quoted};
use crate::lexical::token::Kind;

/// How deep parentheses of arithmetic are read: otherwise a line of them would be read again at each.
const ARITHMETIC_DEPTH: usize = 64;

impl Scanner<'_> {
    pub(super) fn heredoc_of_shell(&mut self) {
        let rest = self.rest();
        if !rest.starts_with(b"<<") || rest.starts_with(b"<<<") || self.before() == b'<' {
            return;
        }
        let is_indented = self.byte(2) == b'-';
        let mut from = 2 + usize::from(is_indented);
        while matches!(self.byte(from), b' ' | b'\t') {
            from += 1;
        }
        self.heredoc(from, is_indented, false);
    }

    /// `${…}`, and `((…))` in one line.
    pub(super) fn shell(&mut self) {
        if self.rest().starts_with(b"${") {
            return match self.end_of_parameter(self.at + 2, false) {
                Some(end) => self.push(Kind::Text, end),
                None => self.unterminated(Kind::Text),
            };
        }
        if let Some(end) = self.end_of_arithmetic(self.at) {
            self.push(Kind::Text, end);
        }
    }

    fn end_of_arithmetic(&self, from: usize) -> Option<usize> {
        let row = near_row(&self.text[from..]);
        if !row.starts_with(b"((") {
            return None;
        }
        let mut depth = 0_usize;
        let end = row.iter().position(|&byte| {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            depth == 0 || depth > ARITHMETIC_DEPTH
        });
        end.filter(|_| depth == 0).map(|end| from + end + 1)
    }

    /// The end of `$(…)` or `${…}` at an offset in a text or in another one.
    pub(super) fn end_of_expansion(&mut self, at: usize, is_quoted: bool) -> Option<usize> {
        if self.text[at..].starts_with(b"${") {
            return self.end_of_parameter(at + 2, is_quoted);
        }
        let arithmetic = self.end_of_arithmetic(at + 1);
        arithmetic.or_else(|| self.end_of_code(at + 2, b')', self.text.len()))
    }

    fn end_of_parameter(&mut self, from: usize, is_quoted: bool) -> Option<usize> {
        if !self.enter_code() {
            return None;
        }
        let end = self.read_parameter(from, is_quoted);
        self.depth -= 1;
        end
    }

    /// Reads `${…}`, whose braces do not nest.
    fn read_parameter(&mut self, from: usize, is_quoted: bool) -> Option<usize> {
        let (text, lexicon) = (self.text, self.lexicon);
        // In a text, `'` is a quote only in patterns: `"${a%'}'}"`, not `"${a:-it's}"`.
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_!@*[]-?$".contains(byte);
        let operator = text[from..].iter().find(|byte| !is_name(byte));
        let has_single = !is_quoted || operator.is_some_and(|byte| b"#%/^,".contains(byte));
        let mut at = from;
        while let Some(&byte) = text.get(at) {
            let rest = &text[at..];
            let mut quotes = lexicon.quotes.iter().filter(|one| has_single || one.close != "'");
            at = match byte {
                b'}' => return Some(at + 1),
                b'\\' => at + 2,
                b'$' if rest.starts_with(b"$(") || rest.starts_with(b"${") => {
                    self.end_of_expansion(at, is_quoted)?
                }
                _ => match quotes.find_map(|quote| Opened::of(quote, text, at)) {
                    Some(opened) => quoted::end_of(self, at + opened.length, opened)?,
                    None => at + 1,
                },
            };
        }
        None
    }
}
