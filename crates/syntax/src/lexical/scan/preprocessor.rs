//! Lines for a preprocessor, and branches of its conditions that are not code.

use memchr::memmem;

use super::{Scanner, quoted};
use crate::lexical::token::Kind;
use crate::lexical::{Condition, directive, is_never};

/// Directives of Swift and C#. Swift has expressions that begin with `#`, too.
const DIRECTIVES: &[&str] = &[
    "if",
    "elif",
    "elseif",
    "else",
    "endif",
    "error",
    "warning",
    "region",
    "endregion",
    "pragma",
    "nullable",
    "define",
    "undef",
    "line",
    "sourceLocation",
];

impl Scanner<'_> {
    pub(super) fn preprocessor(&mut self) {
        if self.byte(0) != b'#' || !self.is_line_start {
            return;
        }
        let word = self.text[self.at + 1..].trim_ascii_start();
        let is_prose = word.starts_with(b"error") || word.starts_with(b"warning");
        let mut end = self.at;
        while let Some(&byte) = self.text.get(end) {
            let rest = &self.text[end..];
            if rest.starts_with(b"/*") {
                let Some(length) = memmem::find(&rest[2..], b"*/") else {
                    return self.unterminated(Kind::Directive);
                };
                end += 4 + length;
                continue;
            }
            if byte == b'"' && !is_prose {
                let next = memchr::memchr2(b'"', b'\n', &rest[1..]);
                end += next.filter(|&at| rest[at + 1] == b'"').map_or(1, |at| at + 2);
                continue;
            }
            if rest.starts_with(b"//") {
                end = self.line_end(end);
                continue;
            }
            let line = &self.text[self.at..end];
            let is_continued = line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\");
            if byte == b'\n' && !is_continued {
                break;
            }
            end += 1;
        }
        let line = self.text[self.at..end].trim_ascii_end();
        self.push(Kind::Directive, self.at + line.len());
        self.after_directive(line);
    }

    /// Counts conditions, and skips the lines of a branch that is never code.
    fn after_directive(&mut self, line: &[u8]) {
        let Some(condition) = directive(line) else { return };
        match condition {
            Condition::If => self.conditions += 1,
            Condition::Else => {}
            Condition::End => self.conditions = self.conditions.saturating_sub(1),
        }
        if condition != Condition::End && is_never(line) {
            self.dead_branch();
        }
    }

    /// The lines after `#if 0`, which need not be code.
    fn dead_branch(&mut self) {
        let (mut depth, mut end) = (0_usize, self.line_end(self.at));
        while end < self.text.len() {
            let next = self.line_end(end + 1);
            match directive(self.text[end + 1..next].trim_ascii()) {
                Some(Condition::If) => depth += 1,
                Some(_) if depth == 0 => break,
                Some(Condition::End) => depth -= 1,
                _ => {}
            }
            end = next;
        }
        if end > self.line_end(self.at) {
            self.push(Kind::Text, end);
        }
    }

    pub(super) fn directive(&mut self) {
        if self.byte(0) != b'#' || !self.is_line_start {
            return;
        }
        let rest = self.text[self.at + 1..].trim_ascii_start();
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if DIRECTIVES.iter().any(|one| one.as_bytes() == &rest[..word]) {
            let start = self.at;
            self.until_line_end(Kind::Directive);
            self.after_directive(&self.text[start..self.at]);
        }
    }

    /// Skips the lines around an apostrophe in a word, up to the directives around them: no code has
    /// it, so no compiler reads this branch.
    pub(super) fn prose(&mut self) -> bool {
        if self.byte(0) != b'\''
            || self.conditions == 0
            || !self.byte(1).is_ascii_alphabetic()
            || quoted::character_end(self.rest()).is_some()
        {
            return false;
        }
        let last = self.out.tokens.last().filter(|last| last.end() == self.at);
        let is_word = last.is_some_and(|last| {
            let word = &self.text[last.range()];
            let is_prefix = matches!(word, b"u" | b"U" | b"L" | b"u8");
            last.kind == Kind::Word && !is_prefix && word.iter().all(u8::is_ascii_alphabetic)
        });
        let from = self.out.tokens.iter().rposition(|one| is_word && one.kind == Kind::Directive);
        let Some(from) = from else { return false };
        self.out.tokens.truncate(from + 1);
        self.at = self.out.tokens[from].end();
        let start = self.at;
        self.out.unterminated.retain(|&at| at < start);
        let mut end = self.line_end(start);
        while end < self.text.len() {
            let next = self.line_end(end + 1);
            if self.text[end + 1..next].trim_ascii_start().starts_with(b"#") {
                break;
            }
            end = next;
        }
        self.push(Kind::Text, end);
        true
    }
}
