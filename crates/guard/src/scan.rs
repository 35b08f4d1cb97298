//! Scans a shell text for the ends of quotes, expansions and here-documents.
//!
//! The scan determines what the parser crate need not parse: the crate gets a text in which
//! everything that is quoted or expanded is masked, so that it reads everything once. The scan is a
//! single pass with an explicit stack instead of recursion.

use std::collections::HashSet;
use std::ops::Range;

/// The limit on nested brackets, quotes and expansions.
pub const NESTING_LIMIT: usize = 128;

/// The syntactic context of an offset in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// Commands: the whole text, or the content of brackets.
    Code(CodeEnd),
    /// `"…"`.
    Quotes,
    /// `${…}`.
    Parameter {
        /// Whether an apostrophe is literal in it.
        is_quoted: bool,
    },
    /// `$((…))` and `((…))`.
    Arithmetic {
        /// The number of open single brackets.
        open: u32,
        /// The end of the context if it turns out to be nested brackets.
        or: CodeEnd,
    },
}

/// A command substitution.
const SUBSTITUTION: Context = Context::Code(CodeEnd::Substitution);

/// What ends a sequence of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeEnd {
    /// The end of the text.
    End,
    /// The `)` of a subshell, an array or a pattern.
    Bracket,
    /// The `)` of `$(`, `<(` or `>(`.
    Substitution,
}

impl Context {
    /// The context after `$((`.
    pub const ARITHMETIC: Context = Context::Arithmetic { open: 0, or: CodeEnd::Substitution };

    /// The context after `${`. In double quotes, an apostrophe is literal in a default value
    /// (`"${x:-it's}"`), but quotes in a pattern.
    pub fn parameter(rest: &[u8], in_quotes: bool) -> Context {
        let is_word = |rest: &[u8]| {
            let rest = rest.strip_prefix(b":").unwrap_or(rest);
            rest.first().is_some_and(|sign| b"-=?+".contains(sign))
        };
        Context::Parameter { is_quoted: in_quotes && is_word(after_name(rest)) }
    }

    /// Whether an apostrophe is literal here, and `$` does not start a quote.
    fn is_quoted(self) -> bool {
        matches!(self, Context::Quotes | Context::Parameter { is_quoted: true })
    }
}

/// The position within a `case` command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// After `case`.
    Word,
    /// After the word.
    In,
    /// Before the `)` of a pattern.
    Pattern,
    /// After the `)` of a pattern.
    Body,
}

/// A level of nesting.
struct Level {
    context: Context,
    /// The start of the current word.
    word_start: usize,
    /// Whether a word at this position is the name of a command.
    is_command: bool,
    /// The open `case` commands.
    cases: Vec<Case>,
    /// Here-documents whose bodies start after the end of the line.
    here_docs: Vec<HereDoc>,
    /// The state to backtrack to if this is not arithmetic.
    before: Option<Checkpoint>,
}

/// The state where arithmetic seemed to start.
#[derive(Clone, Copy)]
struct Checkpoint {
    at: usize,
    substitutions: usize,
    opaque: Option<(usize, usize)>,
    letters: usize,
    split_at: usize,
}

/// A here-document whose body starts after the end of the line.
struct HereDoc {
    delimiter: Vec<u8>,
    strip_tabs: bool,
}

/// The limit on the delimiter of a here-document: the crate compares it with itself and with lines.
const DELIMITER_LIMIT_BYTES: usize = 1024;

/// The limit on bytes that are scanned again because they turned out not to be arithmetic.
const RESCAN_LIMIT_BYTES: usize = 8_000_000;

/// Characters that end a word.
const ENDS_WORD: &[u8] = b" \t\n;&|()<>";

/// Words that are followed by a command.
const BEFORE_COMMAND: [&[u8]; 10] =
    [b"then", b"do", b"else", b"elif", b"if", b"while", b"until", b"!", b"{", b"time"];

/// Scans a text from an offset.
#[derive(Default)]
pub struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    levels: Vec<Level>,
    substitutions: usize,
    /// The lowest level that is quoted or expanded, and its start.
    opaque: Option<(usize, usize)>,
    /// Whether the level that ended last was arithmetic.
    pub was_arithmetic: bool,
    /// The ranges that are masked: quotes and expansions, and lines of here-documents.
    pub letters: Vec<Range<usize>>,
    /// The offsets of the second of two consecutive brackets that are not arithmetic but could be
    /// taken for it.
    pub split_at: Vec<usize>,
    /// The offsets of brackets that are not arithmetic.
    no_arithmetic: HashSet<usize>,
    /// The number of bytes that were scanned again.
    pub rescanned_bytes: usize,
    /// Whether some construct is not closed, or is not supported.
    pub is_incomplete: bool,
    /// The maximum nesting of substitutions.
    pub depth: usize,
    /// The maximum nesting of brackets, quotes and expansions.
    pub nesting: usize,
    /// The number of opening braces that the crate gets.
    pub braces: u64,
    /// The number of words and operators. Each counts as often as it is read: once for each
    /// substitution around it.
    pub cost: u64,
}

impl<'t> Scanner<'t> {
    pub fn new(text: &'t str, at: usize, context: Context) -> Scanner<'t> {
        let opaque = (context != Context::Code(CodeEnd::End)).then_some((0, at));
        let mut scanner = Scanner { text: text.as_bytes(), at, opaque, ..Scanner::default() };
        scanner.enter(context);
        scanner
    }

    /// Scans a text of commands to its end.
    pub fn of(text: &'t str) -> Scanner<'t> {
        let mut scanner = Scanner::new(text, 0, Context::Code(CodeEnd::End));
        while scanner.step() {}
        scanner.is_incomplete |= scanner.opaque.is_some();
        scanner
    }

    /// The end of the first level, after its closing character; `None` if it is not closed.
    pub fn find_close(&mut self) -> Option<usize> {
        while self.step() {}
        self.levels.is_empty().then_some(self.at)
    }

    /// Scans one token. Returns false at the end of the text, and when the first level is closed.
    fn step(&mut self) -> bool {
        let Some(level) = self.levels.last() else { return false };
        let Some(&byte) = self.text.get(self.at) else {
            self.is_incomplete |= self.levels.iter().any(|level| level.before.is_some());
            return false;
        };
        #[cfg(test)]
        super::steps::count(1);
        match (byte, level.context) {
            (b'\\', _) => self.escape(),
            (b'$', _) => self.dollar(),
            (b'`', _) => self.backquote(),
            (b'"', Context::Quotes) => self.leave(1),
            (b'"', _) => self.open(Context::Quotes, self.at, 1),
            (b'\'', context) if context.is_quoted() => self.at += 1,
            (b'\'', _) => {
                let rest = &self.text[self.at + 1..];
                self.skip(memchr::memchr(b'\'', rest).map(|end| end + 2));
            }
            (_, Context::Code(closing)) => self.code(byte, closing),
            (b'}', Context::Parameter { .. }) => self.leave(1),
            (_, Context::Arithmetic { open, or }) => self.arithmetic(byte, open, or),
            _ => self.at += 1,
        }
        true
    }

    fn code(&mut self, byte: u8, closing: CodeEnd) {
        let case = self.levels.last().and_then(|level| level.cases.last().copied());
        let is_after = |signs: &[u8]| self.at > 0 && signs.contains(&self.text[self.at - 1]);
        match byte {
            b'(' if is_after(b"<>") => self.open(SUBSTITUTION, self.at - 1, 1),
            b'(' if case == Some(Case::Pattern) && self.word().is_empty() => self.boundary(1),
            b'(' if !self.no_arithmetic.contains(&self.at)
                && self.next_is(b'(')
                && self.word().is_empty() =>
            {
                // The brackets themselves are not masked.
                let context = Context::Arithmetic { open: 0, or: CodeEnd::Bracket };
                self.open(context, self.at + 2, 2);
            }
            b'(' => {
                self.at += 1;
                if self.no_arithmetic.contains(&(self.at - 1)) {
                    self.split_at.push(self.at);
                }
                self.enter(Context::Code(CodeEnd::Bracket));
            }
            b')' => {
                self.end_word();
                if self.advance_case(Case::Pattern, Case::Body) || closing == CodeEnd::End {
                    self.boundary(1);
                } else {
                    self.leave(1);
                }
            }
            b'#' if self.word().is_empty() => self.comment(),
            b'<' if self.text[self.at..].starts_with(b"<<<") => self.boundary(3),
            b'<' if self.next_is(b'<') => self.here_doc(),
            b'\n' => {
                self.boundary(1);
                self.skip_here_docs();
            }
            b';' | b'&' if is_after(b";") => {
                self.advance_case(Case::Body, Case::Pattern);
                self.boundary(1);
            }
            b' ' | b'\t' | b';' | b'&' | b'|' | b'<' | b'>' => self.boundary(1),
            b'{' if !self.is_brace_token() => self.skip(Some(1)),
            b'{' => {
                self.braces += 1;
                self.at += 1;
            }
            _ => self.at += 1,
        }
    }

    /// At a `#` that starts a comment. It is masked, because the crate may not recognize the
    /// comment.
    fn comment(&mut self) {
        let start = self.at + 1;
        let rest = &self.text[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        if self.opaque.is_none() {
            self.letters.push(start..self.at);
        }
    }

    /// Moves the `case` of this level from one position to the next, if it is at `from`.
    fn advance_case(&mut self, from: Case, to: Case) -> bool {
        let case = self.levels.last_mut().and_then(|level| level.cases.last_mut());
        let Some(case) = case.filter(|case| **case == from) else { return false };
        *case = to;
        true
    }

    /// Whether a brace is a word, or starts `{name}>`; any other brace is literal.
    fn is_brace_token(&self) -> bool {
        let is_start = self.at == 0 || ENDS_WORD.contains(&self.text[self.at - 1]);
        let rest = &self.text[self.at + 1..];
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let after = &rest[rest.iter().take_while(is_name).count()..];
        let is_alone = rest.first().is_none_or(|next| ENDS_WORD.contains(next));
        is_start && (is_alone || after.starts_with(b"}<") || after.starts_with(b"}>"))
    }

    fn arithmetic(&mut self, byte: u8, open: u32, or: CodeEnd) {
        let open = match byte {
            b'(' => open + 1,
            b')' if open > 0 => open - 1,
            b')' if self.next_is(b')') => return self.leave(2),
            // Not arithmetic but nested brackets.
            b')' => return self.backtrack(self.levels.len() - 1),
            _ => open,
        };
        if let Some(level) = self.levels.last_mut() {
            level.context = Context::Arithmetic { open, or };
        }
        // The `;` of `for ((;;))` is not masked.
        if byte == b';'
            && open == 0
            && or == CodeEnd::Bracket
            && let Some((level, start)) =
                self.opaque.filter(|(level, _)| level + 1 == self.levels.len())
        {
            self.letters.push(start..self.at);
            self.opaque = Some((level, self.at + 1));
        }
        self.at += 1;
    }

    /// Backtracks from a level that seemed to be arithmetic, to scan it as nested brackets.
    fn backtrack(&mut self, level: usize) {
        let Some(before) = self.levels.drain(level..).next().and_then(|level| level.before) else {
            self.was_arithmetic = false;
            return;
        };
        self.rescanned_bytes += self.at - before.at;
        self.no_arithmetic.insert(before.at);
        self.at = before.at;
        self.substitutions = before.substitutions;
        self.opaque = before.opaque;
        self.letters.truncate(before.letters);
        self.split_at.truncate(before.split_at);
        if self.rescanned_bytes > RESCAN_LIMIT_BYTES {
            self.cut();
        }
    }

    /// Stops the scan.
    fn cut(&mut self) {
        self.is_incomplete = true;
        self.at = self.text.len();
    }

    /// At a backslash.
    fn escape(&mut self) {
        if self.text.get(self.at + 1) != Some(&b'\n') {
            return self.skip(Some(2));
        }
        // A line continuation; it also continues the word, if there is one.
        let at = self.at;
        self.at += 2;
        if let Some(level) = self.levels.last_mut().filter(|level| level.word_start == at) {
            level.word_start = self.at;
        }
    }

    /// At a `$`.
    fn dollar(&mut self) {
        let rest = &self.text[self.at + 1..];
        let in_quotes = self.levels.last().is_some_and(|level| level.context.is_quoted());
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_#$!?*@-".contains(byte);
        if rest.starts_with(b"((") && !self.no_arithmetic.contains(&self.at) {
            self.open(Context::ARITHMETIC, self.at, 3);
        } else if rest.starts_with(b"(") {
            self.open(SUBSTITUTION, self.at, 2);
        } else if rest.starts_with(b"{") {
            self.open(Context::parameter(&rest[1..], in_quotes), self.at, 2);
        } else if rest.starts_with(b"'") && !in_quotes {
            let length = length_to(&rest[1..], b'\'');
            self.skip(length.map(|length| length + 2));
        } else if rest.first().is_some_and(is_name) {
            // `$#`, `$$` and the like: the character after the dollar has no meaning of its own.
            self.skip(Some(2));
        } else {
            self.at += 1;
        }
    }

    /// At a backquote: the text up to the next one is scanned separately.
    fn backquote(&mut self) {
        let start = self.at;
        let length = length_to(&self.text[start + 1..], b'`');
        self.skip(length.map(|length| length + 1));
        // The commands in it are parsed separately.
        self.braces += memchr::memchr_iter(b'{', &self.text[start..self.at]).count() as u64;
    }

    /// Masks `length` bytes, or the rest of the text if the construct is not closed.
    fn skip(&mut self, length: Option<usize>) {
        self.is_incomplete |= length.is_none();
        let end = length.map_or(self.text.len(), |length| self.at + length).min(self.text.len());
        if self.opaque.is_none() {
            self.letters.push(self.at..end);
        }
        self.at = end;
        self.count_token();
    }

    /// At a `<<`: records the delimiter of the here-document.
    fn here_doc(&mut self) {
        self.boundary(2);
        let strip_tabs = self.text.get(self.at) == Some(&b'-');
        self.at += usize::from(strip_tabs);
        while matches!(self.text.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let mut delimiter = Vec::new();
        let mut quote = None;
        while let Some(&byte) = self.text.get(self.at) {
            match (byte, quote) {
                (b'\'' | b'"', None) => quote = Some(byte),
                (b'\\', None) => {
                    self.at += 1;
                    delimiter.extend(self.text.get(self.at));
                }
                (_, None) if ENDS_WORD.contains(&byte) => break,
                _ if quote == Some(byte) => quote = None,
                _ => delimiter.push(byte),
            }
            self.at += 1;
        }
        self.at = self.at.min(self.text.len());
        // The crate parses substitutions in the delimiter.
        let is_odd = delimiter.iter().any(|byte| b"`(".contains(byte));
        self.is_incomplete |= is_odd || delimiter.len() > DELIMITER_LIMIT_BYTES;
        if let Some(level) = self.levels.last_mut() {
            level.here_docs.push(HereDoc { delimiter, strip_tabs });
        }
    }

    /// After the end of a line: skips the here-documents that start here.
    fn skip_here_docs(&mut self) {
        let Some(level) = self.levels.last_mut() else { return };
        for HereDoc { delimiter, strip_tabs } in std::mem::take(&mut level.here_docs) {
            while self.at < self.text.len() {
                let rest = &self.text[self.at..];
                let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                let line = &rest[..end];
                let tabs = line.iter().take_while(|byte| strip_tabs && **byte == b'\t').count();
                let tail = line[tabs..].strip_prefix(delimiter.as_slice());
                let is_blank = |tail: &[u8]| tail.iter().all(|byte| b" \t\r".contains(byte));
                // In a substitution, its closing bracket may follow the delimiter: `EOF)`.
                let closes = |tail: &[u8]| tail.trim_ascii_start().starts_with(b")");
                if let Some(tail) = tail
                    && (is_blank(tail) || (self.substitutions > 0 && closes(tail)))
                {
                    self.at += end - tail.len();
                    break;
                }
                // The crate does not recognize all of these lines, and would parse them as code.
                if self.opaque.is_none() {
                    self.letters.push(self.at + tabs..self.at + end);
                }
                self.at = (self.at + end + 1).min(self.text.len());
            }
        }
        if let Some(level) = self.levels.last_mut() {
            level.word_start = self.at;
        }
    }

    fn next_is(&self, byte: u8) -> bool {
        self.text.get(self.at + 1) == Some(&byte)
    }

    /// Enters a quoted or expanded context. It is masked from `start`, and its content starts
    /// `length` bytes after the current offset.
    fn open(&mut self, context: Context, start: usize, length: usize) {
        let before = Checkpoint {
            at: self.at,
            substitutions: self.substitutions,
            opaque: self.opaque,
            letters: self.letters.len(),
            split_at: self.split_at.len(),
        };
        self.opaque.get_or_insert((self.levels.len(), start));
        self.at += length;
        self.enter(context);
        if let Some(level) = self.levels.last_mut() {
            level.before = matches!(context, Context::Arithmetic { .. }).then_some(before);
        }
    }

    fn enter(&mut self, context: Context) {
        self.substitutions += usize::from(context == SUBSTITUTION);
        self.depth = self.depth.max(self.substitutions);
        self.count_token();
        self.levels.push(Level {
            context,
            word_start: self.at,
            is_command: true,
            cases: Vec::new(),
            here_docs: Vec::new(),
            before: None,
        });
        self.nesting = self.nesting.max(self.levels.len());
        if self.nesting > NESTING_LIMIT {
            self.cut();
        }
    }

    fn leave(&mut self, length: usize) {
        self.at += length;
        let Some(mut left) = self.levels.pop() else { return };
        self.substitutions -= usize::from(left.context == SUBSTITUTION);
        self.was_arithmetic = matches!(left.context, Context::Arithmetic { .. });
        let is_bracket = left.context == Context::Code(CodeEnd::Bracket);
        let is_arithmetic =
            matches!(left.context, Context::Arithmetic { or: CodeEnd::Bracket, .. });
        if let Some((_, start)) = self.opaque.take_if(|(level, _)| *level == self.levels.len()) {
            // The brackets of `((…))` are not masked.
            self.letters.push(start..self.at - if is_arithmetic { length } else { 0 });
        }
        let outer = self.levels.last_mut().filter(|_| is_bracket || is_arithmetic);
        if let Some(level) = outer {
            level.here_docs.append(&mut left.here_docs);
            level.word_start = self.at;
            level.is_command |= is_bracket;
        }
    }

    /// At an operator or a blank.
    fn boundary(&mut self, length: usize) {
        self.end_word();
        self.count_token();
        let is_command = self.text.get(self.at).is_some_and(|byte| b"\n;&|)(".contains(byte));
        self.at += length;
        if let Some(level) = self.levels.last_mut() {
            level.word_start = self.at;
            level.is_command |= is_command;
        }
    }

    /// The current word.
    fn word(&self) -> &'t [u8] {
        let start = self.levels.last().map_or(self.at, |level| level.word_start);
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Updates the level at the end of a word: the position in a `case`, and whether a command
    /// follows.
    fn end_word(&mut self) {
        let word = self.word();
        let Some(level) = self.levels.last_mut().filter(|_| !word.is_empty()) else { return };
        let is_command = level.is_command;
        match (level.cases.last_mut(), word) {
            (Some(case @ Case::Word), _) => *case = Case::In,
            (Some(case @ Case::In), b"in") => *case = Case::Pattern,
            (Some(Case::In), _) | (Some(Case::Pattern), b"esac") => drop(level.cases.pop()),
            (Some(Case::Body), b"esac") if is_command => drop(level.cases.pop()),
            (_, b"case") if is_command => level.cases.push(Case::Word),
            _ => {}
        }
        level.is_command &= BEFORE_COMMAND.contains(&word);
    }

    fn count_token(&mut self) {
        self.cost += self.substitutions as u64 + 1;
    }
}

/// The text after the name of a parameter and its subscript: `x`, `!x`, `#`, `x[1]`.
fn after_name(text: &[u8]) -> &[u8] {
    let text = text.strip_prefix(b"!").unwrap_or(text);
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let length = match text.iter().take_while(is_name).count() {
        0 => usize::from(text.first().is_some_and(|sign| b"@*#?$!-".contains(sign))),
        length => length,
    };
    let after = &text[length..];
    if after.first() != Some(&b'[') {
        return after;
    }
    // Stops at another expansion, so that no text is searched again for each `${` in it.
    match after.iter().position(|byte| b"]$\"'`".contains(byte)) {
        Some(end) if after[end] == b']' => &after[end + 1..],
        _ => after,
    }
}

/// The length up to and including the next unescaped `close`.
pub fn length_to(text: &[u8], close: u8) -> Option<usize> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1 + usize::from(byte == b'\\');
        if byte == close {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close_of(text: &str) -> Option<&str> {
        let mut scanner = Scanner::new(text, 0, Context::Code(CodeEnd::Substitution));
        scanner.find_close().map(|end| &text[..end])
    }

    /// 4 KB took half a second: the crate did not recognize the comment, and searched for the end
    /// of each brace in it.
    #[test]
    fn regression_the_text_of_a_comment_is_masked() {
        let letters = |text: &str| -> Vec<String> {
            let ranges = Scanner::of(text).letters;
            ranges.into_iter().map(|range| text[range].to_owned()).collect()
        };
        assert_eq!(letters("a # {b}\nc"), [" {b}"]);
        assert_eq!(letters("x=(a & ## {{ 'b"), ["# {{ 'b"]);
        assert_eq!(letters("a#{b}\n# c"), ["{", " c"]);
        assert_eq!(letters("((1))#c"), ["1", "c"]);
    }

    /// Such a `#` hid the commands after it.
    #[test]
    fn regression_a_number_sign_within_a_word_starts_no_comment() {
        for word in
            ["\\ #", "\\;#", "\\(#", "a\\\n#", "$(a)#", "$((1))#", "<(a)#", "\"a \"#", "`a `#"]
        {
            let text = format!("echo {word}; b");
            let letters = Scanner::of(&text).letters;
            let sign = text.find('#').expect("it is there");
            assert!(letters.iter().all(|range| range.end <= sign), "{text}: {letters:?}");
        }
    }

    #[test]
    fn brackets_in_quotes_comments_and_here_documents_are_literal() {
        for inside in [
            "cat f",
            "echo ')' \")\" \\) $')'",
            "echo ${x:-)} $(( (1) + (2) ))",
            "(a; (b)) | c",
            "a # it's ) here\n",
            "cat <<'EOF'\nit's ) \"\nEOF\n",
            "cat <<-EOF\n\t )\n\tEOF\n",
            "cat <<A <<B\n)\nA\n)\nB\n",
            "echo \"$(echo ')')\"",
            "echo `echo \\`a\\``",
            "echo $# $$ <<< ')'",
        ] {
            let text = format!("{inside})");
            let found = close_of(&format!("{text} rest)")).map(str::to_owned);
            assert_eq!(found, Some(text));
        }
        assert_eq!(
            close_of("cat <<'EOF'\n\"unpaired\nEOF) rest)"),
            Some("cat <<'EOF'\n\"unpaired\nEOF)")
        );
        assert_eq!(close_of("echo 'a) b"), None);
    }

    #[test]
    fn depth_is_the_maximum_nesting_of_substitutions() {
        let depth = |text: &str| Scanner::of(text).depth;
        assert_eq!(depth("echo $(a) $(b) `c`"), 1);
        assert_eq!(depth("echo \"$(a \"$(b)\" <(c))\""), 2);
        assert_eq!(depth("echo '$(a $(b))' $((1 + (2)))"), 0);
        assert_eq!(depth("cat <<EOF\nit's $( $( $(\nEOF\necho $(a)"), 1);
    }
}
