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

/// Words before the braces of types.
const TYPES: &[&[u8]] = &[b"interface", b"type"];

/// How much of a statement before a name is read.
const STATEMENT_BYTES: usize = 2 * LINE_BYTES;

/// How many comments next to a name are skipped.
const COMMENTS: usize = 8;

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

    /// Whether a text in a language may have a definition with this name that is not secondary.
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
        let comment = forms.map_or(&b""[..], |forms| forms.comment.as_bytes());
        let mut context = ContextBudget { remaining_bytes: CONTEXT_BYTES, comment };
        occurrences(text, name).filter(move |&at| {
            if !context.spend(2 * LINE_BYTES) {
                return true;
            }
            let place = Place::new(&text[..at], &text[at + name.len()..], comment);
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
    /// What starts a comment to the end of the line.
    comment: &'static [u8],
    is_computed: bool,
}

impl<'t> Place<'t> {
    fn new(before: &'t [u8], after: &'t [u8], comment: &'static [u8]) -> Place<'t> {
        // Names can be quoted, computed or raw: `'some-name'() {}`, `[Symbol.iterator]() {}`,
        // `r#gen`.
        let is_computed = after.starts_with(b"]");
        let after = after.strip_prefix(b"]").unwrap_or(after);
        let before = before.strip_suffix(b"r#").unwrap_or(before);
        let (before, after) = without_quotes(before, after);
        let (before, after) = (trim_block_comments(before), skip_comments(after, comment));
        let line = trim_blanks(before);
        let next = after.trim_ascii_start().first().copied().unwrap_or(b'\n');
        let last = line.last().copied().unwrap_or(b'\n');
        let word = word_before(before, comment);
        Place { before, line, last, word, after, next, comment, is_computed }
    }

    fn is_definition(&self, forms: &NameForms) -> bool {
        let &Place { line, last, next, .. } = self;
        let is_declaring = |word: &[u8]| forms.words.iter().any(|one| one.as_bytes() == word);
        // `namespace A.NAME`
        let is_in_path =
            || last == b'.' && is_declaring(word_before(before_path(line), self.comment));
        if is_declaring(self.word) || is_in_path() {
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
            && (last == b'}' || self.is_in_typedef());
        // `class EXPORT Name {`, `struct __attribute__((packed)) Name {`
        let is_marked = forms.is_typedef
            && (is_word(last) || matches!(last, b')' | b']'))
            && matches!(next, b'{' | b':');
        is_declared || is_first || is_typedef || is_marked
    }

    /// `typedef int (*NAME)`, `typedef struct { … } A, *NAME`
    fn is_in_typedef(&self) -> bool {
        let statement = last_statement(self.before, self.comment);
        statement.first() == Some(&b'}') || memmem::find(&statement, b"typedef").is_some()
    }

    /// Whether a word before the name shows that it is a call or a value.
    fn is_called(&self) -> bool {
        is_word(self.last) && WORDS_OF_CALLS.iter().any(|word| word.as_bytes() == self.word)
    }

    /// Whether it may be a variable, a constant or a member.
    fn is_value(&self, forms: &NameForms, context: &mut ContextBudget) -> bool {
        let is_variable = match forms.variables {
            Variables::Words => false,
            Variables::Lists => self.last == b',' && self.is_in_list(),
            Variables::Lines => self.is_assigned(context),
            Variables::Typed => self.is_after_type(),
            Variables::Bound => self.is_bound(context),
        };
        is_variable || (forms.has_enums && self.is_enum_member(context))
    }

    /// Whether the line before the name has only words and commas.
    fn is_in_list(&self) -> bool {
        let statement = last_statement(self.before, self.comment);
        let line = statement.split(|&byte| byte == b'\n').rfind(|line| !line.is_empty());
        line.is_some_and(|line| line.iter().all(|byte| is_word(*byte) || b" \t,".contains(byte)))
    }

    /// `NAME = 1`, `NAME: int`, `a, NAME = 1, 2`, `(a, NAME) = f()`, `a = NAME = 1`.
    fn is_assigned(&self, context: &mut ContextBudget) -> bool {
        // `if x: NAME = 1`, `a = 1; NAME = 2`
        let line = line_before(self.before).rsplit(|byte| matches!(byte, b':' | b';'));
        let line = line.into_iter().next().unwrap_or_default();
        let is_call =
            line.windows(2).any(|pair| is_word(pair[0]) && matches!(pair[1], b'(' | b'['));
        let is_list = line.iter().all(|byte| is_word(*byte) || b" \t,([])*=.".contains(byte));
        let has_value = |context: &mut ContextBudget| {
            line_after(self.after).contains(&b'=') || self.is_in_assigned_tuple(context)
        };
        let can_follow = match self.next {
            b'=' => !self.after.trim_ascii_start().starts_with(b"=="),
            b':' => true,
            b',' | b')' | b']' | b'#' => has_value(context),
            _ => false,
        };
        can_follow && !is_call && is_list
    }

    /// `(a,` in one line and `NAME) = f()` in another.
    fn is_in_assigned_tuple(&self, context: &mut ContextBudget) -> bool {
        let mut before = self.before;
        let mut rest = self.after;
        loop {
            let Some((b'(' | b'[', header)) = context.around(before, b"([{") else { return false };
            let Some(after) = context.after_group(rest) else { return true };
            (before, rest) = (header, after);
            let follows = skip_comments(rest, self.comment).trim_ascii_start();
            if follows.starts_with(b"=") && !follows.starts_with(b"==") {
                return true;
            }
            let is_inner = matches!(follows.first(), Some(b',' | b')' | b']'));
            if !is_inner {
                return false;
            }
        }
    }

    /// `int NAME = 1`, `char *NAME;`, `List<T> NAME`, `int a, NAME[2]`, `void (*NAME)(int)`.
    fn is_after_type(&self) -> bool {
        let (line, after) = (self.line, self.after.trim_ascii_start());
        let is_type = match self.last {
            b',' => self.next == b'=' || self.is_listed(),
            b'>' => !line.ends_with(b"->"),
            b'*' | b'&' | b']' | b')' | b'}' => true,
            // The type can be in the line above.
            b'\n' | b'\r' => match trim_comments(line, self.comment).last() {
                Some(b',') => self.next == b'=' || self.is_listed(),
                Some(&last) => is_word(last) || matches!(last, b'*' | b'&' | b'>' | b']'),
                None => false,
            },
            last => is_word(last) && !self.is_called(),
        };
        let can_follow = match self.next {
            b'=' => !after.starts_with(b"=="),
            b';' | b',' | b'[' | b'{' | b'_' => true,
            b')' => {
                let parameters = skip_comments(&after[1..], self.comment).trim_ascii_start();
                trim_comments(line, self.comment).ends_with(b"*") && parameters.starts_with(b"(")
            }
            _ => false,
        };
        is_type && can_follow
    }

    /// Whether the statement before the name can be a list of variables, and not of arguments.
    fn is_listed(&self) -> bool {
        !last_statement(self.before, self.comment).contains(&b'(')
    }

    /// `NAME: value`, `NAME = value`, `NAME?: type`, `{ NAME } = value`, `class { NAME; }`.
    fn is_bound(&self, context: &mut ContextBudget) -> bool {
        let after = self.after.trim_ascii_start();
        // `constructor(private NAME)`
        if matches!(self.word, b"public" | b"private" | b"protected" | b"readonly" | b"override") {
            return true;
        }
        match self.next {
            b'=' => return !after.starts_with(b"==") && !after.starts_with(b"=>"),
            b'?' => return after[1..].trim_ascii_start().starts_with(b":"),
            b':' | b'!' => return true,
            _ => {}
        }
        let is_listed = matches!(self.next, b',' | b'}' | b']' | b';' | b'\n')
            && (is_word(self.last)
                || matches!(
                    self.last,
                    b'{' | b',' | b';' | b'[' | b':' | b'.' | b'#' | b'\n' | b'\r'
                ));
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
            b'{' if context.has_word(header, b"class") => true,
            b'{' if self.begins_member()
                && TYPES.iter().any(|word| context.has_word(header, word)) =>
            {
                true
            }
            b'{' | b'[' => is_pattern(header, context),
            _ => false,
        }
    }

    fn begins_member(&self) -> bool {
        matches!(self.last, b'{' | b';' | b',' | b'\n' | b'\r')
    }

    /// `NAME,`, `NAME = 1,`, `NAME(T),` or `NAME { … }` in the braces of an `enum`.
    fn is_enum_member(&self, context: &mut ContextBudget) -> bool {
        let can_precede =
            matches!(self.last, b'{' | b',' | b'\n' | b'\r' | b']' | b'/' | b')' | b'}');
        if !can_precede || !matches!(self.next, b',' | b'=' | b'}' | b'(' | b'{' | b';' | b'/') {
            return false;
        }
        let around = context.around(self.before, b"{");
        around.is_some_and(|(_, header)| context.has_word(header, b"enum"))
    }
}

/// Whether a bracket with this text before it is a pattern of a declaration.
fn is_pattern(mut header: &[u8], context: &mut ContextBudget) -> bool {
    loop {
        let text = trim_comments(header, context.comment);
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
    let mut text = trim_comments(before, context.comment);
    if text.ends_with(b",") {
        let statement = last_statement(text, context.comment);
        let count = |byte| memchr::memchr_iter(byte, &statement).count();
        let mut words = statement.split(|&byte| !is_word(byte));
        if count(b'(') == count(b')') && count(b'[') == count(b']') && words.any(is_declaring) {
            return true;
        }
    }
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
        text = trim_comments(&text[..text.len() - line.len()], context.comment);
    }
    false
}

fn is_declaring(word: &[u8]) -> bool {
    matches!(word, b"const" | b"let" | b"var")
}

/// The limit on what is read around the occurrences in one text.
struct ContextBudget {
    remaining_bytes: usize,
    /// What starts a comment to the end of the line.
    comment: &'static [u8],
}

impl ContextBudget {
    /// Whether this number of bytes can be read.
    fn spend(&mut self, bytes: usize) -> bool {
        let remaining = self.remaining_bytes.checked_sub(bytes);
        self.remaining_bytes = remaining.unwrap_or(0);
        remaining.is_some()
    }

    /// The text after the bracket that closes the group around the start of a text; `None` if the
    /// limit is reached before.
    fn after_group<'t>(&mut self, text: &'t [u8]) -> Option<&'t [u8]> {
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(byte) = text.get(at) {
            if !self.spend(1) {
                return None;
            }
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => return Some(&text[at + 1..]),
                b')' | b']' | b'}' => depth -= 1,
                _ if !self.comment.is_empty() && text[at..].starts_with(self.comment) => {
                    at += memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        Some(b"")
    }

    /// Whether the last statement of a text has a word.
    fn has_word(&self, text: &[u8], word: &[u8]) -> bool {
        let statement = last_statement(text, self.comment);
        statement.split(|&byte| !is_word(byte)).any(|one| one == word)
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
            // A `//` is searched for in what is before the bracket.
            let _ = self.spend(LINE_BYTES / 4);
            if is_in_comment(&text[..at], self.comment) {
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

/// What is around a name in quotes, which may be the end of it: `'a.NAME'() {}`.
fn without_quotes<'t>(before: &'t [u8], after: &'t [u8]) -> (&'t [u8], &'t [u8]) {
    let Some((&quote @ (b'"' | b'\''), rest)) = after.split_first() else {
        let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before);
        return (before, after);
    };
    let line = line_before(before);
    match line.iter().rposition(|&byte| byte == quote) {
        Some(at) => (&before[..before.len() - line.len() + at], rest),
        None => (before, rest),
    }
}

/// A text without the comments in `/* */` at its end.
fn trim_block_comments(mut text: &[u8]) -> &[u8] {
    for _ in 0..COMMENTS {
        let near = &text[text.len().saturating_sub(LINE_BYTES)..];
        let inner = near.trim_ascii_end().strip_suffix(b"*/");
        let Some(start) = inner.and_then(|inner| memmem::rfind(inner, b"/*")) else { break };
        text = &text[..text.len() - near.len() + start];
    }
    text
}

/// A text without whitespace and comments at its end.
fn trim_comments<'t>(mut text: &'t [u8], comment: &[u8]) -> &'t [u8] {
    for _ in 0..COMMENTS {
        let trimmed = trim_block_comments(text).trim_ascii_end();
        let ends_line = text[trimmed.len()..].contains(&b'\n');
        let line = line_before(trimmed);
        match line_comment(line, comment).filter(|_| ends_line) {
            Some(at) => text = &trimmed[..trimmed.len() - line.len() + at],
            None => return trimmed,
        }
    }
    text
}

/// A text without the comments at its start.
fn skip_comments<'t>(text: &'t [u8], comment: &[u8]) -> &'t [u8] {
    let mut rest = text;
    for _ in 0..COMMENTS {
        let start = rest.trim_ascii_start();
        let end: &[u8] = match start {
            [b'/', b'*', ..] => b"*/",
            [b'\\', b'\n' | b'\r', ..] => b"\n",
            start if !comment.is_empty() && start.starts_with(comment) => b"\n",
            _ => break,
        };
        let Some(at) = memmem::find(&start[..start.len().min(LINE_BYTES)], end) else { break };
        // The end of a line stays.
        rest = &start[at + if end == b"\n" { 0 } else { end.len() }..];
    }
    rest
}

/// The last statement of a text, with the end of what precedes it, without comments, and without what
/// is too far away.
fn last_statement(text: &[u8], comment: &[u8]) -> Vec<u8> {
    let near = &text[text.len().saturating_sub(STATEMENT_BYTES)..];
    let mut plain = Vec::with_capacity(near.len());
    for line in near.split(|&byte| byte == b'\n') {
        let end = line_comment(line, comment).unwrap_or(line.len());
        plain.extend_from_slice(&line[..end]);
        plain.push(b'\n');
    }
    while let Some(end) = memmem::find(&plain, b"*/") {
        let start = memmem::rfind(&plain[..end], b"/*").unwrap_or(0);
        plain.drain(start..end + 2);
    }
    let start = plain.iter().rposition(|byte| matches!(byte, b';' | b'{' | b'}'));
    plain.split_off(start.unwrap_or(0))
}

/// Whether a text ends in a comment.
fn is_in_comment(text: &[u8], comment: &[u8]) -> bool {
    let line = line_before(text);
    let is_open = |at: usize| memmem::find(&line[at..], b"*/").is_none();
    line.trim_ascii_start().starts_with(b"* ")
        || memmem::rfind(line, b"/*").is_some_and(is_open)
        || line_comment(line, comment).is_some()
}

/// Where a comment to the end of a line starts.
fn line_comment(line: &[u8], comment: &[u8]) -> Option<usize> {
    let at = memmem::find(line, comment).filter(|_| !comment.is_empty())?;
    let before = &line[..at];
    let is_open = |quote: u8| memchr::memchr_iter(quote, before).count() % 2 == 1;
    // `'` is also in lifetimes of Rust.
    let is_text = is_open(b'"') || is_open(b'`') || (comment == b"#" && is_open(b'\''));
    (!is_text && !before.ends_with(b":")).then_some(at)
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
fn word_before<'t>(before: &'t [u8], comment: &[u8]) -> &'t [u8] {
    let words = trim_comments(before, comment);
    let words = words.strip_suffix(b"!").or(words.strip_suffix(b"*")).unwrap_or(words);
    let words = trim_comments(words, comment);
    let mut word = last_word(words);
    let mut above = &words[..words.len() - word.len()];
    if word == b"mut" {
        above = trim_comments(above, comment);
        word = last_word(above);
        above = &above[..above.len() - word.len()];
    }
    match above.last() {
        Some(b'*' | b'&' | b'.') => b"",
        _ => word,
    }
}

/// The text before the words and dots at its end.
fn before_path(text: &[u8]) -> &[u8] {
    let near = &text[text.len().saturating_sub(LINE_BYTES)..];
    let path = near.iter().rev().take_while(|&&byte| is_word(byte) || byte == b'.').count();
    &text[..text.len() - path]
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
