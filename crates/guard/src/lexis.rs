//! Where things of the shell's language begin and end in a text: quotes, expansions, here-documents.
//!
//! The grammar crate says what the commands are, and this what it need not look into: the crate gets
//! a text in which all that is quoted or expanded is letters, so that it reads everything once. It is
//! one pass, with a stack of its own instead of recursion.

use std::collections::HashSet;
use std::ops::Range;

/// How many brackets, quotes and expansions may be open at once.
pub const NESTING_LIMIT: usize = 128;

/// What the text at a place is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// Commands: the whole text, or what a pair of brackets holds.
    Code(StretchEnd),
    /// `"…"`.
    Quotes,
    /// `${…}`.
    Parameter {
        /// Whether an apostrophe is a letter in it.
        is_quoted: bool,
    },
    /// `$((…))` and `((…))`.
    Arithmetic {
        /// How many single brackets are open in it.
        open: u32,
        /// What ends it if it turns out to be brackets within brackets.
        or: StretchEnd,
    },
}

/// Commands that run on their own, for the sake of their output.
const SUBSTITUTION: Within = Within::Code(StretchEnd::Substitution);

/// What ends a stretch of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StretchEnd {
    /// The end of the text.
    End,
    /// The `)` of a subshell, an array or a pattern.
    Bracket,
    /// The `)` of `$(`, `<(` or `>(`.
    Substitution,
}

impl Within {
    /// What follows `$((`.
    pub const ARITHMETIC: Within = Within::Arithmetic { open: 0, or: StretchEnd::Substitution };

    /// What follows `${`. In double quotes an apostrophe is a letter in the word that stands for a
    /// value: `"${x:-it's}"`. In a pattern it quotes there, too.
    pub fn parameter(rest: &[u8], in_quotes: bool) -> Within {
        let is_word = |rest: &[u8]| {
            let rest = rest.strip_prefix(b":").unwrap_or(rest);
            rest.first().is_some_and(|sign| b"-=?+".contains(sign))
        };
        Within::Parameter { is_quoted: in_quotes && is_word(after_name(rest)) }
    }

    /// Whether an apostrophe is a letter here, and what follows a `$` no quote.
    fn is_quoted(self) -> bool {
        matches!(self, Within::Quotes | Within::Parameter { is_quoted: true })
    }
}

/// Where in a `case` a stretch of commands is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    /// Behind `case`.
    Word,
    /// Behind the word.
    In,
    /// Before the bracket of a pattern.
    Pattern,
    /// Behind it.
    Body,
}

/// A level of nesting.
struct Nesting {
    within: Within,
    /// Where the word that is being read begins.
    word_start: usize,
    /// Whether a word here would be the name of a command.
    is_command: bool,
    /// The `case`s that are open.
    cases: Vec<Case>,
    /// Here-documents that begin after the end of the line.
    here_docs: Vec<HereDoc>,
    /// What to go back to if it is no arithmetic.
    before: Option<Before>,
}

/// Where arithmetic seemed to begin.
#[derive(Clone, Copy)]
struct Before {
    at: usize,
    substitutions: usize,
    opaque: Option<(usize, usize)>,
    letters: usize,
    splits: usize,
}

/// A here-document that begins after the end of the line.
struct HereDoc {
    delimiter: Vec<u8>,
    strip_tabs: bool,
}

/// The longest word that may end a here-document: the crate compares it with itself and with lines.
const DELIMITER_LIMIT_BYTES: usize = 1024;

/// How many bytes may be read again because what seemed to be arithmetic is none.
const AGAIN_LIMIT_BYTES: usize = 8_000_000;

/// Signs that end a word.
const ENDS_WORD: &[u8] = b" \t\n;&|()<>";

/// Words behind which a command follows.
const LEADS_ON: [&[u8]; 10] =
    [b"then", b"do", b"else", b"elif", b"if", b"while", b"until", b"!", b"{", b"time"];

/// Reads a text from somewhere on.
#[derive(Default)]
pub struct Lexis<'t> {
    text: &'t [u8],
    at: usize,
    levels: Vec<Nesting>,
    substitutions: usize,
    /// The lowest level that is quoted or expanded, and where that begins.
    opaque: Option<(usize, usize)>,
    /// Whether the level that was left last was that of arithmetic.
    pub was_arithmetic: bool,
    /// What is quoted or expanded, from its first sign to its last, and lines of here-documents.
    pub letters: Vec<Range<usize>>,
    /// Where brackets within brackets follow each other without a blank, as in arithmetic: the place
    /// of the second one.
    pub splits: Vec<usize>,
    /// Where brackets are no arithmetic.
    no_arithmetic: HashSet<usize>,
    /// How many bytes were read again.
    pub again_bytes: usize,
    /// Whether something has no end, or none that is looked for.
    pub is_cut: bool,
    /// The most substitutions that were open at once.
    pub depth: usize,
    /// The most brackets, quotes and expansions of any kind that were open at once.
    pub nesting: usize,
    /// How many opening braces the crate gets.
    pub braces: u64,
    /// How many words and operators there are, each counted as often as it is read: once for each
    /// substitution around it.
    pub cost: u64,
}

impl<'t> Lexis<'t> {
    pub fn new(text: &'t str, at: usize, within: Within) -> Lexis<'t> {
        let opaque = (within != Within::Code(StretchEnd::End)).then_some((0, at));
        let mut lexis = Lexis { text: text.as_bytes(), at, opaque, ..Lexis::default() };
        lexis.enter(within);
        lexis
    }

    /// Reads a text of commands to its end.
    pub fn of(text: &'t str) -> Lexis<'t> {
        let mut lexis = Lexis::new(text, 0, Within::Code(StretchEnd::End));
        while lexis.step() {}
        lexis.is_cut |= lexis.opaque.is_some();
        lexis
    }

    /// Where the first level ends: just after what closes it. None when nothing does.
    pub fn find_close(&mut self) -> Option<usize> {
        while self.step() {}
        self.levels.is_empty().then_some(self.at)
    }

    /// Reads one thing. False at the end of the text, and when the first level is closed.
    fn step(&mut self) -> bool {
        let Some(level) = self.levels.last() else { return false };
        let Some(&byte) = self.text.get(self.at) else {
            self.is_cut |= self.levels.iter().any(|level| level.before.is_some());
            return false;
        };
        #[cfg(test)]
        super::steps::count(1);
        match (byte, level.within) {
            (b'\\', _) => self.escape(),
            (b'$', _) => self.dollar(),
            (b'`', _) => self.backquote(),
            (b'"', Within::Quotes) => self.leave(1),
            (b'"', _) => self.open(Within::Quotes, self.at, 1),
            (b'\'', within) if within.is_quoted() => self.at += 1,
            (b'\'', _) => {
                let rest = &self.text[self.at + 1..];
                self.skip(memchr::memchr(b'\'', rest).map(|end| end + 2));
            }
            (_, Within::Code(closing)) => self.code(byte, closing),
            (b'}', Within::Parameter { .. }) => self.leave(1),
            (_, Within::Arithmetic { open, or }) => self.arithmetic(byte, open, or),
            _ => self.at += 1,
        }
        true
    }

    fn code(&mut self, byte: u8, closing: StretchEnd) {
        let case = self.levels.last().and_then(|level| level.cases.last().copied());
        let is_after = |signs: &[u8]| self.at > 0 && signs.contains(&self.text[self.at - 1]);
        match byte {
            b'(' if is_after(b"<>") => self.open(SUBSTITUTION, self.at - 1, 1),
            b'(' if case == Some(Case::Pattern) && self.word().is_empty() => self.boundary(1),
            b'(' if !self.no_arithmetic.contains(&self.at)
                && self.next_is(b'(')
                && self.word().is_empty() =>
            {
                // The brackets themselves are no letters.
                let within = Within::Arithmetic { open: 0, or: StretchEnd::Bracket };
                self.open(within, self.at + 2, 2);
            }
            b'(' => {
                self.at += 1;
                if self.no_arithmetic.contains(&(self.at - 1)) {
                    self.splits.push(self.at);
                }
                self.enter(Within::Code(StretchEnd::Bracket));
            }
            b')' => {
                self.end_word();
                if self.case_goes_on(Case::Pattern, Case::Body) || closing == StretchEnd::End {
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
                self.case_goes_on(Case::Body, Case::Pattern);
                self.boundary(1);
            }
            b' ' | b'\t' | b';' | b'&' | b'|' | b'<' | b'>' => self.boundary(1),
            b'{' if !self.is_brace_of_its_own() => self.skip(Some(1)),
            b'{' => {
                self.braces += 1;
                self.at += 1;
            }
            _ => self.at += 1,
        }
    }

    /// At a `#` that begins a comment. The crate may not take it for one: it gets letters.
    fn comment(&mut self) {
        let start = self.at + 1;
        let rest = &self.text[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        if self.opaque.is_none() {
            self.letters.push(start..self.at);
        }
    }

    /// A `case` of this level goes from one part to the next, if it is there.
    fn case_goes_on(&mut self, from: Case, to: Case) -> bool {
        let case = self.levels.last_mut().and_then(|level| level.cases.last_mut());
        let Some(case) = case.filter(|case| **case == from) else { return false };
        *case = to;
        true
    }

    /// Whether a brace is a word, or begins `{name}>`: any other is a letter.
    fn is_brace_of_its_own(&self) -> bool {
        let is_start = self.at == 0 || ENDS_WORD.contains(&self.text[self.at - 1]);
        let rest = &self.text[self.at + 1..];
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let after = &rest[rest.iter().take_while(is_name).count()..];
        let is_alone = rest.first().is_none_or(|next| ENDS_WORD.contains(next));
        is_start && (is_alone || after.starts_with(b"}<") || after.starts_with(b"}>"))
    }

    fn arithmetic(&mut self, byte: u8, open: u32, or: StretchEnd) {
        let open = match byte {
            b'(' => open + 1,
            b')' if open > 0 => open - 1,
            b')' if self.next_is(b')') => return self.leave(2),
            // No arithmetic then, but brackets within brackets.
            b')' => return self.go_back(self.levels.len() - 1),
            _ => open,
        };
        if let Some(level) = self.levels.last_mut() {
            level.within = Within::Arithmetic { open, or };
        }
        // That of `for ((;;))` is no letter.
        if byte == b';'
            && open == 0
            && or == StretchEnd::Bracket
            && let Some((level, start)) =
                self.opaque.filter(|(level, _)| level + 1 == self.levels.len())
        {
            self.letters.push(start..self.at);
            self.opaque = Some((level, self.at + 1));
        }
        self.at += 1;
    }

    /// Reads what seemed to be the arithmetic of a level as brackets within brackets.
    fn go_back(&mut self, level: usize) {
        let Some(before) = self.levels.drain(level..).next().and_then(|level| level.before) else {
            self.was_arithmetic = false;
            return;
        };
        self.again_bytes += self.at - before.at;
        self.no_arithmetic.insert(before.at);
        self.at = before.at;
        self.substitutions = before.substitutions;
        self.opaque = before.opaque;
        self.letters.truncate(before.letters);
        self.splits.truncate(before.splits);
        if self.again_bytes > AGAIN_LIMIT_BYTES {
            self.cut();
        }
    }

    /// Reads no further.
    fn cut(&mut self) {
        self.is_cut = true;
        self.at = self.text.len();
    }

    /// At a backslash.
    fn escape(&mut self) {
        if self.text.get(self.at + 1) != Some(&b'\n') {
            return self.skip(Some(2));
        }
        // The line goes on; so does the word, if there is one.
        let at = self.at;
        self.at += 2;
        if let Some(level) = self.levels.last_mut().filter(|level| level.word_start == at) {
            level.word_start = self.at;
        }
    }

    /// At a `$`.
    fn dollar(&mut self) {
        let rest = &self.text[self.at + 1..];
        let in_quotes = self.levels.last().is_some_and(|level| level.within.is_quoted());
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_#$!?*@-".contains(byte);
        if rest.starts_with(b"((") && !self.no_arithmetic.contains(&self.at) {
            self.open(Within::ARITHMETIC, self.at, 3);
        } else if rest.starts_with(b"(") {
            self.open(SUBSTITUTION, self.at, 2);
        } else if rest.starts_with(b"{") {
            self.open(Within::parameter(&rest[1..], in_quotes), self.at, 2);
        } else if rest.starts_with(b"'") && !in_quotes {
            let length = length_to(&rest[1..], b'\'');
            self.skip(length.map(|length| length + 2));
        } else if rest.first().is_some_and(is_name) {
            // `$#`, `$$` and the like: what follows the dollar means nothing of its own.
            self.skip(Some(2));
        } else {
            self.at += 1;
        }
    }

    /// At a backquote: whatever stands between it and the next is read on its own.
    fn backquote(&mut self) {
        let start = self.at;
        let length = length_to(&self.text[start + 1..], b'`');
        self.skip(length.map(|length| length + 1));
        // The commands in it are read by themselves.
        self.braces += memchr::memchr_iter(b'{', &self.text[start..self.at]).count() as u64;
    }

    /// Takes some bytes for letters; all that follow, if it has no end.
    fn skip(&mut self, length: Option<usize>) {
        self.is_cut |= length.is_none();
        let end = length.map_or(self.text.len(), |length| self.at + length).min(self.text.len());
        if self.opaque.is_none() {
            self.letters.push(self.at..end);
        }
        self.at = end;
        self.count_token();
    }

    /// At a `<<`: notes what ends the here-document.
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
        // The crate looks for substitutions in it.
        let is_odd = delimiter.iter().any(|byte| b"`(".contains(byte));
        self.is_cut |= is_odd || delimiter.len() > DELIMITER_LIMIT_BYTES;
        if let Some(level) = self.levels.last_mut() {
            level.here_docs.push(HereDoc { delimiter, strip_tabs });
        }
    }

    /// Behind the end of a line: skips the here-documents that begin here.
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
                // In a substitution its bracket may follow the delimiter: `EOF)`.
                let closes = |tail: &[u8]| tail.trim_ascii_start().starts_with(b")");
                if let Some(tail) = tail
                    && (is_blank(tail) || (self.substitutions > 0 && closes(tail)))
                {
                    self.at += end - tail.len();
                    break;
                }
                // The crate does not see all of them where they are, and would read them as code.
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

    /// Enters what is quoted or expanded, the letters of which begin at `start`, and its inside some
    /// bytes from here.
    fn open(&mut self, within: Within, start: usize, length: usize) {
        let before = Before {
            at: self.at,
            substitutions: self.substitutions,
            opaque: self.opaque,
            letters: self.letters.len(),
            splits: self.splits.len(),
        };
        self.opaque.get_or_insert((self.levels.len(), start));
        self.at += length;
        self.enter(within);
        if let Some(level) = self.levels.last_mut() {
            level.before = matches!(within, Within::Arithmetic { .. }).then_some(before);
        }
    }

    fn enter(&mut self, within: Within) {
        self.substitutions += usize::from(within == SUBSTITUTION);
        self.depth = self.depth.max(self.substitutions);
        self.count_token();
        self.levels.push(Nesting {
            within,
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
        self.substitutions -= usize::from(left.within == SUBSTITUTION);
        self.was_arithmetic = matches!(left.within, Within::Arithmetic { .. });
        let is_bracket = left.within == Within::Code(StretchEnd::Bracket);
        let is_arithmetic =
            matches!(left.within, Within::Arithmetic { or: StretchEnd::Bracket, .. });
        if let Some((_, start)) = self.opaque.take_if(|(level, _)| *level == self.levels.len()) {
            // The brackets of `((…))` are no letters.
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

    /// The word that is being read.
    fn word(&self) -> &'t [u8] {
        let start = self.levels.last().map_or(self.at, |level| level.word_start);
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Notes what a word says of the level: where a `case` is, and whether a command follows.
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
        level.is_command &= LEADS_ON.contains(&word);
    }

    fn count_token(&mut self) {
        self.cost += self.substitutions as u64 + 1;
    }
}

/// What follows the name of a parameter, and the place of an element: `x`, `!x`, `#`, `x[1]`.
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
    // Not beyond another expansion, so that no text is searched again for each `${` in it.
    match after.iter().position(|byte| b"]$\"'`".contains(byte)) {
        Some(end) if after[end] == b']' => &after[end + 1..],
        _ => after,
    }
}

/// How far it is to and with the next of a sign that has no backslash in front.
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
        let mut lexis = Lexis::new(text, 0, Within::Code(StretchEnd::Substitution));
        lexis.find_close().map(|end| &text[..end])
    }

    /// 4 KB took half a second: where the crate saw no comment, it looked for the end of each brace
    /// in it, over and over.
    #[test]
    fn regression_what_a_comment_holds_is_letters() {
        let letters = |text: &str| -> Vec<String> {
            let ranges = Lexis::of(text).letters;
            ranges.into_iter().map(|range| text[range].to_owned()).collect()
        };
        assert_eq!(letters("a # {b}\nc"), [" {b}"]);
        assert_eq!(letters("x=(a & ## {{ 'b"), ["# {{ 'b"]);
        assert_eq!(letters("a#{b}\n# c"), ["{", " c"]);
        assert_eq!(letters("((1))#c"), ["1", "c"]);
    }

    /// Such a `#` hid the commands behind it.
    #[test]
    fn regression_a_number_sign_within_a_word_begins_no_comment() {
        for word in
            ["\\ #", "\\;#", "\\(#", "a\\\n#", "$(a)#", "$((1))#", "<(a)#", "\"a \"#", "`a `#"]
        {
            let text = format!("echo {word}; b");
            let letters = Lexis::of(&text).letters;
            let sign = text.find('#').expect("it is there");
            assert!(letters.iter().all(|range| range.end <= sign), "{text}: {letters:?}");
        }
    }

    #[test]
    fn brackets_in_quotes_comments_and_here_documents_close_nothing() {
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
    fn depth_counts_substitutions_that_are_open_at_once() {
        let depth = |text: &str| Lexis::of(text).depth;
        assert_eq!(depth("echo $(a) $(b) `c`"), 1);
        assert_eq!(depth("echo \"$(a \"$(b)\" <(c))\""), 2);
        assert_eq!(depth("echo '$(a $(b))' $((1 + (2)))"), 0);
        assert_eq!(depth("cat <<EOF\nit's $( $( $(\nEOF\necho $(a)"), 1);
    }
}
