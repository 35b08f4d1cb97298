//! Whether code for an interpreter prints only string literals. Its output is then text of the
//! command line, in another form.
//!
//! Code is not parsed. It qualifies if it prints, contains a string, and has no names except those
//! in [`Syntax`] and those that it assigns, and no operators that compute. Any other code may be a
//! program.

use std::collections::HashSet;

/// The tokens that the code of a language may consist of.
pub struct Syntax {
    /// Calls that print.
    pub prints: &'static [&'static str],
    /// Other names that introduce no text; methods start with a dot.
    pub plain: &'static [&'static str],
    /// The start of a comment.
    pub comments: &'static [&'static str],
    /// Quotes, each with the starts of interpolated expressions in its strings.
    pub quotes: &'static [(char, &'static [&'static str])],
    pub has_triple_quotes: bool,
    /// Whether a dot concatenates strings; otherwise it is part of names.
    pub joins_by_dot: bool,
    /// Whether a name before a `:` is the key of an object.
    pub has_keys: bool,
}

/// Punctuation that only arranges or concatenates strings.
const SIGNS: &str = "()[]{},;:=+";

/// Whether code prints only its own string literals.
pub fn prints_texts(code: &str, syntax: &Syntax) -> bool {
    let mut reader = Reader {
        rest: code,
        syntax,
        last: Last::Other,
        assigned: HashSet::new(),
        prints: false,
        has_text: false,
    };
    while !reader.rest.is_empty() {
        if reader.token().is_none() {
            return false;
        }
    }
    reader.prints && reader.has_text
}

/// The kind of the last token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Number,
    Plus,
    Dot,
    Other,
}

struct Reader<'c> {
    rest: &'c str,
    syntax: &'c Syntax,
    last: Last,
    /// Names that the code assigns.
    assigned: HashSet<&'c str>,
    prints: bool,
    has_text: bool,
}

impl<'c> Reader<'c> {
    /// Reads whitespace, a comment or a token; `None` if it may be part of a program.
    fn token(&mut self) -> Option<()> {
        let first = self.rest.chars().next()?;
        if first.is_whitespace() {
            self.rest = self.rest.trim_start();
            return Some(());
        }
        if self.syntax.comments.iter().any(|sign| self.rest.starts_with(sign)) {
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            return Some(());
        }
        if self.quote(self.rest).is_some() {
            return self.text(false);
        }
        if first.is_ascii_digit() {
            let is_number = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
            self.take(self.length(is_number));
            return self.then(Last::Number, self.last != Last::Plus);
        }
        if first.is_alphabetic() || "_$@".contains(first) {
            return self.name();
        }
        let last = self.last;
        self.take(first.len_utf8());
        match first {
            // The sum of two numbers is not a literal of the code.
            '+' => self.then(Last::Plus, last != Last::Number),
            '.' if self.syntax.joins_by_dot => self.then(Last::Other, true),
            '.' => self.then(Last::Dot, true),
            sign => self.then(Last::Other, SIGNS.contains(sign)),
        }
    }

    fn then(&mut self, last: Last, is_right: bool) -> Option<()> {
        self.last = last;
        is_right.then_some(())
    }

    fn take(&mut self, length: usize) -> &'c str {
        #[cfg(test)]
        super::steps::count(length);
        let (piped, rest) = self.rest.split_at(length);
        self.rest = rest;
        piped
    }

    fn length(&self, belongs: impl Fn(char) -> bool) -> usize {
        self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len())
    }

    /// If a string starts at `text`: its quote, and the starts of expressions in it.
    fn quote(&self, text: &str) -> Option<(char, &'static [&'static str])> {
        let first = text.chars().next()?;
        self.syntax.quotes.iter().find(|(quote, _)| *quote == first).copied()
    }

    /// Reads a string to its end.
    fn text(&mut self, is_formatted: bool) -> Option<()> {
        let (quote, expressions) = self.quote(self.rest)?;
        let triple = [quote; 3].iter().collect::<String>();
        let is_triple = self.syntax.has_triple_quotes && self.rest.starts_with(&triple);
        let close = if is_triple { triple } else { quote.to_string() };
        self.take(close.len());
        while !self.rest.starts_with(&close) {
            let next = self.rest.chars().next()?;
            if is_formatted && self.rest.starts_with('{') && !self.rest.starts_with("{{") {
                return None;
            }
            if expressions.iter().any(|sign| self.rest.starts_with(sign)) {
                return None;
            }
            self.take(next.len_utf8());
            // Skip the second character of an escape.
            if next == '\\' || (is_formatted && next == '{') {
                self.take(self.rest.chars().next()?.len_utf8());
            }
        }
        self.take(close.len());
        self.has_text = true;
        self.then(Last::Other, true)
    }

    fn name(&mut self) -> Option<()> {
        let is_letter = |c: char| c.is_alphanumeric() || "_$@".contains(c);
        let (code, mut end) = (self.rest, self.length(is_letter));
        while !self.syntax.joins_by_dot
            && let Some(method) = code[end..].strip_prefix('.')
            && method.starts_with(|c: char| c.is_alphabetic() || c == '_')
        {
            end += 1 + method.find(|c| !is_letter(c)).unwrap_or(method.len());
        }
        let name = self.take(end);
        // `r'…'`, `b"…"`, `f'…'`
        if self.syntax.has_triple_quotes && name.len() <= 2 && self.quote(self.rest).is_some() {
            let is_prefix = name.chars().all(|c| "rbufRBUF".contains(c));
            return self.text(name.contains(['f', 'F'])).filter(|()| is_prefix);
        }
        let next = self.rest.trim_start_matches([' ', '\t']);
        let is_assigned = next.starts_with('=') && !next.starts_with("==");
        if is_assigned && !name.contains('.') {
            self.assigned.insert(name);
        }
        let is_print = self.syntax.prints.contains(&name);
        self.prints |= is_print;
        let is_key = self.syntax.has_keys && next.starts_with(':');
        let is_known = match self.last {
            Last::Dot => self.is_method(name),
            _ => is_print || is_key || self.is_plain(name),
        };
        self.then(Last::Other, is_known)
    }

    fn is_method(&self, name: &str) -> bool {
        self.syntax.plain.iter().any(|plain| plain.strip_prefix('.') == Some(name))
    }

    fn is_plain(&self, name: &str) -> bool {
        let (of, method) = name.split_once('.').unwrap_or((name, ""));
        self.syntax.plain.contains(&name)
            || (self.assigned.contains(of) && (method.is_empty() || self.is_method(method)))
    }
}
