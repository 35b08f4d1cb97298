//! Whether a text may define a name, without parsing it.
//!
//! A search for a definition parses only the files that may have one. Most of those that contain a
//! name only use it: they call the function, or import it. What is next to the name shows that.

use memchr::memmem;

use crate::language::{Language, NameForms, Variables};
use crate::symbol::SymbolName;

/// Words that precede a call or a value, not a definition.
const WORDS_OF_CALLS: &[&str] = &[
    "return", "new", "await", "throw", "yield", "case", "typeof", "in", "of", "delete", "and",
    "goto",
];

/// How many bytes around the occurrences in a text are read. A text that needs more is parsed.
const CONTEXT_BYTES: usize = 1 << 20;

/// How much of a line before or after a name is read.
const LINE_BYTES: usize = 256;

/// How many lines of a list of variables are read.
const LIST_LINES: usize = 50;

impl SymbolName {
    /// Whether a text contains the last part of the name as a whole word.
    pub fn is_in(&self, text: &[u8]) -> bool {
        self.occurrences(text).next().is_some()
    }

    /// Where a text contains the last part of the name as a whole word.
    pub fn occurrences(&self, text: &[u8]) -> impl Iterator<Item = usize> {
        occurrences(text, self.last())
    }

    /// Whether a text in a language may have a definition with this name that is not secondary. A
    /// comment between a keyword and its name hides it.
    pub fn may_be_defined_in(&self, text: &[u8], language: &Language) -> bool {
        self.possible_definitions(text, language).next().is_some()
    }

    /// Where the name of a definition that is not secondary may be.
    pub(crate) fn possible_definitions(
        &self,
        text: &[u8],
        language: &Language,
    ) -> impl Iterator<Item = usize> {
        let name = self.last();
        let forms = language.kinds.names.filter(|_| name.chars().all(is_part));
        let mut context = ContextBudget { remaining_bytes: CONTEXT_BYTES };
        occurrences(text, name).filter(move |&at| {
            if !context.spend(2 * LINE_BYTES) {
                return true;
            }
            let place = Place::new(&text[..at], &text[at + name.len()..]);
            forms.is_none_or(|forms| {
                place.is_definition(&forms) || place.is_value(&forms, &mut context)
            })
        })
    }
}

fn is_part(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '$'
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// Where a name is that is not a part of a longer word.
pub(crate) fn occurrences(text: &[u8], name: &str) -> impl Iterator<Item = usize> {
    let length = name.len();
    let found = memmem::find_iter(text, name.as_bytes()).map(move |at| (at, at + length));
    let is_inside = |byte: Option<&u8>| byte.is_some_and(|&byte| is_word(byte));
    found
        .filter(move |&(start, end)| !is_inside(text[..start].last()) && !is_inside(text.get(end)))
        .map(|(start, _)| start)
}

/// What is around a name.
struct Place<'t> {
    before: &'t [u8],
    /// The text before the name, without blanks at its end.
    line: &'t [u8],
    /// The byte before the name and blanks; `\n` at the start.
    last: u8,
    /// The word before the name.
    word: &'t [u8],
    after: &'t [u8],
    /// The byte after the name and whitespace; `\n` at the end.
    next: u8,
    is_computed: bool,
}

impl<'t> Place<'t> {
    fn new(before: &'t [u8], after: &'t [u8]) -> Place<'t> {
        // Names can be quoted, computed or raw: `'some-name'() {}`, `[Symbol.iterator]() {}`,
        // `r#gen`.
        let is_computed = after.starts_with(b"]");
        let after = after.strip_prefix(b"]").unwrap_or(after);
        let before = before.strip_suffix(b"r#").unwrap_or(before);
        let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
        let after = after.strip_prefix(b"\"").or(after.strip_prefix(b"'")).unwrap_or(after);
        let line = trim_blanks(before);
        let next = after.trim_ascii_start().first().copied().unwrap_or(b'\n');
        let last = line.last().copied().unwrap_or(b'\n');
        Place { before, line, last, word: word_before(before), after, next, is_computed }
    }

    fn is_definition(&self, forms: &NameForms) -> bool {
        let &Place { before, line, last, next, .. } = self;
        if forms.words.iter().any(|word| word.as_bytes() == self.word) {
            return true;
        }
        let can_precede = self.is_computed
            || is_word(last)
            || matches!(
                last,
                b'\n' | b'\r' | b'{' | b'}' | b';' | b',' | b'*' | b'&' | b'>' | b']' | b')'
            )
            || matches!(last, b'#' | b'~' | b'/' | b'`')
            || line.ends_with(b"::");
        let is_declared = forms.is_before_parenthesis
            && matches!(next, b'(' | b'<' | b'?')
            && can_precede
            && !self.is_called();
        let is_first = forms.begins_line && matches!(last, b'\n' | b'(' | b')' | b';' | b'{');
        let is_typedef = forms.is_typedef
            && matches!(next, b';' | b',' | b')' | b'[')
            && (last == b'}'
                || line_before(before).windows(7).any(|part| part == b"typedef")
                || line_before(before).contains(&b'}'));
        // `class EXPORT Name {`, `struct __attribute__((packed)) Name {`
        let is_marked = forms.is_typedef
            && (is_word(last) || matches!(last, b')' | b']'))
            && matches!(next, b'{' | b':');
        is_declared || is_first || is_typedef || is_marked
    }

    /// Whether a word before the name shows that it is a call or a value.
    fn is_called(&self) -> bool {
        is_word(self.last) && WORDS_OF_CALLS.iter().any(|word| word.as_bytes() == self.word)
    }

    /// Whether it may be a variable, a constant or a member.
    fn is_value(&self, forms: &NameForms, context: &mut ContextBudget) -> bool {
        let is_variable = match forms.variables {
            Variables::Words => false,
            Variables::Lists => self.last == b',' && self.is_in_list(b" \t,"),
            Variables::Lines => self.is_assigned(),
            Variables::Typed => self.is_after_type(),
            Variables::Bound => self.is_bound(context),
        };
        is_variable || (forms.has_enums && self.is_enum_member(context))
    }

    /// Whether the line before the name has only words and these bytes.
    fn is_in_list(&self, separators: &[u8]) -> bool {
        line_before(self.before).iter().all(|byte| is_word(*byte) || separators.contains(byte))
    }

    /// `NAME = 1`, `NAME: int`, `a, NAME = 1, 2`, `(a, NAME) = f()`, `a = NAME = 1`.
    fn is_assigned(&self) -> bool {
        // `if x: NAME = 1`
        let line = line_before(self.before).rsplit(|byte| *byte == b':').next().unwrap_or_default();
        let is_call =
            line.windows(2).any(|pair| is_word(pair[0]) && matches!(pair[1], b'(' | b'['));
        let has_value = || line_after(self.after).contains(&b'=');
        let can_follow = match self.next {
            b'=' => !self.after.trim_ascii_start().starts_with(b"=="),
            b':' => true,
            b',' | b')' | b']' => has_value(),
            _ => false,
        };
        can_follow && !is_call && self.is_in_list(b" \t,([*=.:;")
    }

    /// `int NAME = 1`, `char *NAME;`, `List<T> NAME`, `int a, NAME[2]`, `void (*NAME)(int)`.
    fn is_after_type(&self) -> bool {
        let (line, after) = (self.line, self.after.trim_ascii_start());
        let is_type = match self.last {
            b',' => self.next == b'=' || !line_before(self.before).contains(&b'('),
            b'>' => !line.ends_with(b"->"),
            b'*' | b'&' | b']' | b')' | b'}' => true,
            // The type can be in the line above.
            b'\n' | b'\r' => line
                .trim_ascii_end()
                .last()
                .is_some_and(|&last| is_word(last) || matches!(last, b'*' | b'>')),
            last => is_word(last) && !self.is_called(),
        };
        let can_follow = match self.next {
            b'=' => !after.starts_with(b"=="),
            b';' | b',' | b'[' | b'{' | b'_' => true,
            b')' => self.last == b'*' && after[1..].trim_ascii_start().starts_with(b"("),
            _ => false,
        };
        is_type && can_follow
    }

    /// `NAME: value`, `NAME = value`, `NAME?: type`, `{ NAME } = value`, `class { NAME; }`.
    fn is_bound(&self, context: &mut ContextBudget) -> bool {
        let after = self.after.trim_ascii_start();
        match self.next {
            b'=' => return !after.starts_with(b"==") && !after.starts_with(b"=>"),
            b'?' => return after[1..].trim_ascii_start().starts_with(b":"),
            b':' | b'!' => return true,
            _ => {}
        }
        let is_listed = matches!(self.next, b',' | b'}' | b']' | b';' | b'\n')
            && (is_word(self.last)
                || matches!(self.last, b'{' | b',' | b'[' | b':' | b'.' | b'#' | b'\n' | b'\r'));
        let ends_line =
            trim_start_blanks(self.after).first().is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
        if !is_listed && !ends_line {
            return false;
        }
        // `let a, NAME`
        if continues_declaration(self.before, context) {
            return true;
        }
        let Some((open, header)) = context.around(self.before, b"([{") else { return false };
        match open {
            b'{' if contains_word(header, &[b"class"]) => true,
            b'{' | b'[' => is_pattern(header, context),
            _ => false,
        }
    }

    /// `NAME,`, `NAME = 1,`, `NAME(T),` or `NAME { … }` in the braces of an `enum`.
    fn is_enum_member(&self, context: &mut ContextBudget) -> bool {
        let can_precede =
            matches!(self.last, b'{' | b',' | b'\n' | b'\r' | b']' | b'/' | b')' | b'}');
        if !can_precede || !matches!(self.next, b',' | b'=' | b'}' | b'(' | b'{' | b';' | b'/') {
            return false;
        }
        let around = context.around(self.before, b"{");
        around.is_some_and(|(_, header)| contains_word(header, &[b"enum"]))
    }
}

/// Whether a bracket with this text before it is a pattern of a declaration.
fn is_pattern(mut header: &[u8], context: &mut ContextBudget) -> bool {
    loop {
        let text = header.trim_ascii_end();
        let mut words = line_before(text).split(|&byte| !is_word(byte));
        if text.ends_with(b",") && words.any(is_declaring) || is_declaring(last_word(text)) {
            return true;
        }
        if !matches!(text.last(), Some(b':' | b',' | b'[' | b'{' | b'.')) {
            return false;
        }
        match context.around(text, b"([{") {
            Some((b'{' | b'[', outer)) => header = outer,
            _ => return false,
        }
    }
}

/// Whether a list of variables ends here: `let a,`, also in several lines.
fn continues_declaration(before: &[u8], context: &mut ContextBudget) -> bool {
    let mut text = before.trim_ascii_end();
    for _ in 0..LIST_LINES {
        if !text.ends_with(b",") {
            return false;
        }
        if !context.spend(LINE_BYTES) {
            return true;
        }
        let line = line_before(text);
        if line.split(|&byte| !is_word(byte)).any(is_declaring) {
            return true;
        }
        text = text[..text.len() - line.len()].trim_ascii_end();
    }
    false
}

fn is_declaring(word: &[u8]) -> bool {
    matches!(word, b"const" | b"let" | b"var")
}

/// The limit on what is read around the occurrences in one text.
struct ContextBudget {
    remaining_bytes: usize,
}

impl ContextBudget {
    /// Whether this number of bytes can be read.
    fn spend(&mut self, bytes: usize) -> bool {
        let remaining = self.remaining_bytes.checked_sub(bytes);
        self.remaining_bytes = remaining.unwrap_or(0);
        remaining.is_some()
    }

    /// The innermost of these opening brackets that is not closed before the end of a text, and the
    /// text before it. Beyond the limit it is a `{` of everything.
    fn around<'t>(&mut self, text: &'t [u8], opening: &[u8]) -> Option<(u8, &'t [u8])> {
        let mut depth = 0_usize;
        for (at, &byte) in text.iter().enumerate().rev() {
            if !self.spend(1) {
                return Some((b'{', b"const enum class "));
            }
            let is_quoted = || {
                at > 0
                    && matches!(text[at - 1], b'"' | b'\'' | b'`')
                    && text.get(at + 1) == Some(&text[at - 1])
            };
            let pair = match byte {
                b')' => b'(',
                b']' => b'[',
                b'}' => b'{',
                other => other,
            };
            if !opening.contains(&pair) || is_quoted() {
                continue;
            }
            match (pair == byte, depth) {
                (false, _) => depth += 1,
                (true, 0) => return Some((byte, &text[..at])),
                (true, _) => depth -= 1,
            }
        }
        None
    }
}

/// Whether the last statement of a text has one of these words.
fn contains_word(text: &[u8], words: &[&[u8]]) -> bool {
    let near = &text[text.len().saturating_sub(LINE_BYTES)..];
    let start = near.iter().rposition(|byte| matches!(byte, b';' | b'{' | b'}'));
    let near = &near[start.map_or(0, |at| at + 1)..];
    near.split(|&byte| !is_word(byte)).any(|word| words.contains(&word))
}

fn trim_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[..text.len() - blanks]
}

fn trim_start_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[blanks..]
}

/// The word before a name. `static mut NAME` has `static`, `*const NAME` none.
fn word_before(before: &[u8]) -> &[u8] {
    let words = before.trim_ascii_end();
    let words = words.strip_suffix(b"!").or(words.strip_suffix(b"*")).unwrap_or(words);
    let words = words.trim_ascii_end();
    let mut word = last_word(words);
    let mut above = &words[..words.len() - word.len()];
    if word == b"mut" {
        above = above.trim_ascii_end();
        word = last_word(above);
        above = &above[..above.len() - word.len()];
    }
    match above.last() {
        Some(b'*' | b'&' | b'.') => b"",
        _ => word,
    }
}

fn last_word(text: &[u8]) -> &[u8] {
    let word = text.iter().rev().take_while(|&&byte| is_word(byte)).count();
    &text[text.len() - word..]
}

/// The part of a line before a name, without what is too far away.
fn line_before(before: &[u8]) -> &[u8] {
    let near = &before[before.len().saturating_sub(LINE_BYTES)..];
    let start = memchr::memrchr(b'\n', near).map_or(0, |newline| newline + 1);
    &near[start..]
}

/// The part of a line after a name, without what is too far away.
fn line_after(after: &[u8]) -> &[u8] {
    let near = &after[..after.len().min(LINE_BYTES)];
    &near[..memchr::memchr(b'\n', near).unwrap_or(near.len())]
}
