//! Whether a text may define a name, without parsing it.
//!
//! A search for a definition parses only the files that may have one. Most of those that contain a
//! name only use it: they call the function, or import it. What is next to the name shows that.

use memchr::memmem;

use crate::language::{Language, NameForms};
use crate::symbol::SymbolName;

/// Words that precede a call, not a definition.
const WORDS_OF_CALLS: &[&str] =
    &["return", "new", "await", "throw", "yield", "case", "typeof", "in", "of", "delete", "and"];

impl SymbolName {
    /// Whether a text contains the last part of the name as a whole word.
    pub fn is_in(&self, text: &[u8]) -> bool {
        occurrences(text, self.last()).next().is_some()
    }

    /// Whether a text in a language may have a definition with this name that is not secondary. A
    /// comment between a keyword and its name hides it.
    pub fn may_be_defined_in(&self, text: &[u8], language: &Language) -> bool {
        let name = self.last();
        let Some(forms) = language.kinds.names.filter(|_| name.chars().all(is_part)) else {
            return self.is_in(text);
        };
        let can_be_bound = !language.kinds.bindings.is_empty();
        occurrences(text, name).any(|at| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            is_definition(&forms, can_be_bound, before, after)
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
fn occurrences(text: &[u8], name: &str) -> impl Iterator<Item = usize> {
    let length = name.len();
    let found = memmem::find_iter(text, name.as_bytes()).map(move |at| (at, at + length));
    let is_inside = |byte: Option<&u8>| byte.is_some_and(|&byte| is_word(byte));
    found
        .filter(move |&(start, end)| !is_inside(text[..start].last()) && !is_inside(text.get(end)))
        .map(|(start, _)| start)
}

fn is_definition(forms: &NameForms, can_be_bound: bool, before: &[u8], after: &[u8]) -> bool {
    // Names can be quoted, computed or raw: `'some-name'() {}`, `[Symbol.iterator]() {}`, `r#gen`.
    let is_computed = after.starts_with(b"]");
    let after = after.strip_prefix(b"]").unwrap_or(after);
    let before = before.strip_suffix(b"r#").unwrap_or(before);
    let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
    let after = after.strip_prefix(b"\"").or(after.strip_prefix(b"'")).unwrap_or(after);
    let (above, line) = (before.trim_ascii_end(), trim_blanks(before));
    let words = above.strip_suffix(b"!").or(above.strip_suffix(b"*")).unwrap_or(above);
    let word = last_word(words.trim_ascii_end());
    let is_one_of = |words: &[&str]| words.iter().any(|one| one.as_bytes() == word);
    if is_one_of(forms.words) {
        return true;
    }
    let last = line.last().copied().unwrap_or(b'\n');
    let next = after.trim_ascii_start().first().copied().unwrap_or(b'\n');
    let is_call = is_one_of(WORDS_OF_CALLS) && is_word(last);
    let can_precede = is_computed
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
        && !is_call;
    let is_bound = can_be_bound && matches!(next, b'=' | b':' | b'?' | b'!');
    let is_first = forms.begins_line && matches!(last, b'\n' | b'(' | b')' | b';');
    let is_typedef = forms.is_typedef
        && matches!(next, b';' | b',' | b')' | b'[')
        && (last == b'}' || contains_on_line(before, b"typedef") || contains_on_line(before, b"}"));
    // `class EXPORT Name {`, `struct __attribute__((packed)) Name {`
    let is_marked = forms.is_typedef
        && (is_word(last) || matches!(last, b')' | b']'))
        && matches!(next, b'{' | b':');
    is_declared || is_bound || is_first || is_typedef || is_marked
}

fn trim_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[..text.len() - blanks]
}

fn last_word(text: &[u8]) -> &[u8] {
    let word = text.iter().rev().take_while(|&&byte| is_word(byte)).count();
    &text[text.len() - word..]
}

/// How far before a name its `typedef` is searched.
const TYPEDEF_BYTES: usize = 256;

fn contains_on_line(before: &[u8], what: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(TYPEDEF_BYTES)..];
    let start = memchr::memrchr(b'\n', near).map_or(0, |newline| newline + 1);
    memmem::find(&near[start..], what).is_some()
}
