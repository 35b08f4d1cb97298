//! Where things of the shell's language begin and end in a text: quotes, expansions, here-documents.
//!
//! The grammar crate says what the commands are, but gives only the text of a word. This says how far
//! a `$(…)` reaches in it, and, before the crate sees a text, how deep and costly the text is. It is
//! one pass, with a stack of its own instead of recursion.

use std::ops::Range;

/// What the text at a place is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// Commands: the whole text, or what a pair of brackets holds.
    Code(StretchEnd),
    /// `"…"`.
    Quotes,
    /// `${…}`.
    Parameter,
    /// `$((…))` and `((…))`; how many single brackets are open in it.
    Arithmetic(u32),
}

/// What ends a stretch of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StretchEnd {
    /// The end of the text.
    End,
    /// The `)` of a subshell, an array or a pattern.
    Bracket,
    /// The `)` of `$(`, `<(` or `>(`.
    Substitution,
    /// A backquote.
    Backquote,
}

impl Within {
    /// Whether commands in it run on their own, for the sake of their output.
    fn is_substitution(self) -> bool {
        matches!(self, Within::Code(StretchEnd::Substitution | StretchEnd::Backquote))
    }
}

/// A level of nesting, and the word that is being read there.
struct Nesting {
    within: Within,
    word: WordCost,
}

/// What makes a word expensive to read: after each of its parts, braces are looked for in all of
/// it.
#[derive(Clone, Copy, Default)]
struct WordCost {
    start: usize,
    braces: u64,
    parts: u64,
}

/// A here-document that begins after the end of the line.
struct HereDoc {
    delimiter: Vec<u8>,
    strip_tabs: bool,
}

/// Reads a text from somewhere on.
pub struct Lexis<'t> {
    text: &'t [u8],
    at: usize,
    levels: Vec<Nesting>,
    here_docs: Vec<HereDoc>,
    substitutions: usize,
    /// Where the bracket of a substitution follows the delimiter of a here-document.
    glued: Vec<usize>,
    /// The bytes of here-documents.
    pub bodies: Vec<Range<usize>>,
    /// The most substitutions that were open at once.
    pub depth: usize,
    /// The most brackets, quotes and expansions of any kind that were open at once.
    pub nesting: usize,
    /// How many words and operators there are, each counted as often as the grammar crate reads it.
    pub cost: u64,
    /// How many steps the crate's search for braces takes.
    pub brace_steps: u64,
}

impl<'t> Lexis<'t> {
    pub fn new(text: &'t str, at: usize, within: Within) -> Lexis<'t> {
        let level = Nesting { within, word: WordCost { start: at, ..WordCost::default() } };
        Lexis {
            text: text.as_bytes(),
            at,
            levels: vec![level],
            here_docs: Vec::new(),
            substitutions: usize::from(within.is_substitution()),
            glued: Vec::new(),
            bodies: Vec::new(),
            depth: 0,
            nesting: 0,
            cost: 0,
            brace_steps: 0,
        }
    }

    /// Reads to the end of the text.
    pub fn read_all(mut self) -> Self {
        while self.step() {}
        self.end_word();
        self
    }

    /// Where the first level ends: just after what closes it. None when nothing does.
    pub fn find_close(&mut self) -> Option<usize> {
        while self.step() {
            if self.levels.is_empty() {
                return Some(self.at);
            }
        }
        None
    }

    /// Goes on after a bracket that closed nothing: it was that of a pattern of `case`.
    pub fn reopen(&mut self, within: Within) {
        self.enter(within);
    }

    /// Reads one thing. False at the end of the text, and when the first level is closed.
    fn step(&mut self) -> bool {
        let Some(level) = self.levels.last() else { return false };
        let Some(&byte) = self.text.get(self.at) else { return false };
        match (byte, level.within) {
            (b'\\', _) => {
                self.add_parts(1);
                self.at = (self.at + 2).min(self.text.len());
            }
            (b'$', _) => self.dollar(),
            (b'`', Within::Code(StretchEnd::Backquote)) => self.leave(1),
            (b'`', _) => self.open(Within::Code(StretchEnd::Backquote), 1),
            (b'"', Within::Quotes) => self.leave(1),
            (b'"', _) => self.open(Within::Quotes, 1),
            (b'\'', Within::Quotes) => self.at += 1,
            (b'\'', _) => self.skip_past(b"'", 1),
            (_, Within::Code(closing)) => self.code(byte, closing),
            (b'}', Within::Parameter) => self.leave(1),
            (_, Within::Arithmetic(open)) => self.arithmetic(byte, open),
            _ => self.at += 1,
        }
        true
    }

    fn code(&mut self, byte: u8, closing: StretchEnd) {
        match byte {
            b'(' if self.next_is(b'(') && self.is_at_word_start() => {
                self.open(Within::Arithmetic(0), 2);
            }
            b'(' if self.at > 0 && matches!(self.text[self.at - 1], b'<' | b'>') => {
                self.open(Within::Code(StretchEnd::Substitution), 1);
            }
            b'(' => self.open(Within::Code(StretchEnd::Bracket), 1),
            b')' if matches!(closing, StretchEnd::Bracket | StretchEnd::Substitution) => {
                self.leave(1);
            }
            b'#' if self.is_at_word_start() => {
                let ends = |byte: &u8| {
                    *byte == b'\n' || (*byte == b'`' && closing == StretchEnd::Backquote)
                };
                let rest = &self.text[self.at..];
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
            }
            b'<' if self.text[self.at..].starts_with(b"<<<") => self.boundary(3),
            b'<' if self.next_is(b'<') => self.here_doc(),
            b'\n' => {
                self.boundary(1);
                self.skip_here_docs();
            }
            b' ' | b'\t' | b';' | b'&' | b'|' | b'<' | b'>' | b')' => self.boundary(1),
            b'{' => {
                if let Some(level) = self.levels.last_mut() {
                    level.word.braces += 1;
                }
                self.at += 1;
            }
            _ => self.at += 1,
        }
    }

    fn arithmetic(&mut self, byte: u8, open: u32) {
        match byte {
            b'(' => self.set_arithmetic(open + 1),
            b')' if open > 0 => self.set_arithmetic(open - 1),
            b')' if self.next_is(b')') => return self.leave(2),
            // No arithmetic then, but brackets within brackets.
            b')' => return self.leave(1),
            _ => {}
        }
        self.at += 1;
    }

    fn set_arithmetic(&mut self, open: u32) {
        if let Some(level) = self.levels.last_mut() {
            level.within = Within::Arithmetic(open);
        }
    }

    /// At a `$`.
    fn dollar(&mut self) {
        let rest = &self.text[self.at + 1..];
        let in_quotes = self.levels.last().is_some_and(|level| level.within == Within::Quotes);
        if rest.starts_with(b"((") {
            self.open(Within::Arithmetic(0), 3);
        } else if rest.starts_with(b"(") {
            self.open(Within::Code(StretchEnd::Substitution), 2);
        } else if rest.starts_with(b"{") {
            self.open(Within::Parameter, 2);
        } else if rest.starts_with(b"'") && !in_quotes {
            self.at += 2;
            while let Some(&byte) = self.text.get(self.at) {
                self.at += if byte == b'\\' { 2 } else { 1 };
                if byte == b'\'' {
                    break;
                }
            }
            self.at = self.at.min(self.text.len());
            self.count_part();
        } else {
            // `$#`, `$$` and the like: what follows the dollar means nothing of its own.
            let is_special = rest.first().is_some_and(|byte| b"#$!?*@-".contains(byte));
            self.at += if is_special { 2 } else { 1 };
            self.count_part();
        }
    }

    /// At a `<<`: notes what ends the here-document.
    fn here_doc(&mut self) {
        self.boundary(2);
        let strip_tabs = self.text.get(self.at) == Some(&b'-');
        self.at += usize::from(strip_tabs);
        while matches!(self.text.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let start = self.at;
        let mut delimiter = Vec::new();
        let mut quote = None;
        while let Some(&byte) = self.text.get(self.at) {
            match (byte, quote) {
                (_, Some(open)) if byte == open => quote = None,
                (_, Some(_)) => delimiter.push(byte),
                (b'\'' | b'"', None) => quote = Some(byte),
                (b'\\', None) => {
                    self.at += 1;
                    delimiter.extend(self.text.get(self.at));
                }
                (b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')', None) => {
                    break;
                }
                _ => delimiter.push(byte),
            }
            self.at += 1;
        }
        self.at = self.at.min(self.text.len());
        // The crate looks for braces in it as in any word.
        let braces = delimiter.iter().filter(|byte| **byte == b'{').count();
        self.brace_steps += (braces * (self.at - start)) as u64;
        self.here_docs.push(HereDoc { delimiter, strip_tabs });
    }

    /// Behind the end of a line: skips the here-documents that begin here.
    fn skip_here_docs(&mut self) {
        let start = self.at;
        for HereDoc { delimiter, strip_tabs } in std::mem::take(&mut self.here_docs) {
            while self.at < self.text.len() {
                let rest = &self.text[self.at..];
                let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                let line = &rest[..end];
                let tabs =
                    if strip_tabs { line.iter().take_while(|b| **b == b'\t').count() } else { 0 };
                let tail = line[tabs..].strip_prefix(delimiter.as_slice());
                let is_blank = |tail: &[u8]| tail.iter().all(|byte| b" \t\r".contains(byte));
                // In a substitution its bracket may follow the delimiter: `EOF)`.
                let closes = |tail: &[u8]| tail.trim_ascii_start().starts_with(b")");
                if let Some(tail) = tail
                    && (is_blank(tail) || (self.substitutions > 0 && closes(tail)))
                {
                    self.at += end - tail.len();
                    if !is_blank(tail) {
                        self.glued.push(self.at);
                    }
                    break;
                }
                self.at = (self.at + end + 1).min(self.text.len());
            }
        }
        if self.at > start {
            self.bodies.push(start..self.at);
        }
    }

    /// Skips `by` bytes and whatever comes up to and with `end`.
    fn skip_past(&mut self, end: &[u8], by: usize) {
        self.count_part();
        self.at += by;
        let rest = &self.text[self.at..];
        self.at += memchr::memmem::find(rest, end).map_or(rest.len(), |found| found + end.len());
    }

    fn next_is(&self, byte: u8) -> bool {
        self.text.get(self.at + 1) == Some(&byte)
    }

    fn is_at_word_start(&self) -> bool {
        self.at == 0 || b" \t\n;&|()`".contains(&self.text[self.at - 1])
    }

    fn open(&mut self, within: Within, length: usize) {
        self.count_part();
        self.at += length;
        self.enter(within);
    }

    fn enter(&mut self, within: Within) {
        if within.is_substitution() {
            self.substitutions += 1;
            self.depth = self.depth.max(self.substitutions);
        }
        self.count_token();
        self.levels
            .push(Nesting { within, word: WordCost { start: self.at, ..WordCost::default() } });
        self.nesting = self.nesting.max(self.levels.len());
    }

    fn leave(&mut self, length: usize) {
        self.end_word();
        self.at += length;
        if let Some(level) = self.levels.pop() {
            self.substitutions -= usize::from(level.within.is_substitution());
            // What stands in quotes is kept with the word around them.
            if level.within == Within::Quotes {
                self.add_parts(level.word.parts);
            }
        }
    }

    /// At an operator or a blank.
    fn boundary(&mut self, length: usize) {
        self.end_word();
        self.count_token();
        self.at += length;
        if let Some(level) = self.levels.last_mut() {
            level.word = WordCost { start: self.at, ..WordCost::default() };
        }
    }

    fn end_word(&mut self) {
        if let Some(Nesting { word, .. }) = self.levels.last() {
            let length = (self.at - word.start.min(self.at)) as u64;
            self.brace_steps += word.braces * length * (word.parts + 1);
        }
    }

    fn count_part(&mut self) {
        self.add_parts(1);
        self.count_token();
    }

    fn add_parts(&mut self, parts: u64) {
        if let Some(level) = self.levels.last_mut() {
            level.word.parts += parts;
        }
    }

    /// The crate reads the inside of a substitution as part of each word around it: to find its
    /// end, and twice again to give the commands of the two nearest levels; and each level is
    /// read again on its own.
    fn count_token(&mut self) {
        let depth = self.substitutions as u64;
        self.cost += (depth + 1) * (depth + 2) * (depth + 3) / 6;
    }
}

/// The text with each bracket that follows the delimiter of a here-document on a line of its own;
/// `None` when there is none. The shell takes `EOF)"` for both, the parser crate only `EOF)`.
pub fn unglued(text: &str) -> Option<String> {
    let glued = Lexis::new(text, 0, Within::Code(StretchEnd::End)).read_all().glued;
    let mut out = text.to_owned();
    for at in glued.iter().rev().copied().filter(|at| text.is_char_boundary(*at)) {
        out.insert(at, '\n');
    }
    (!glued.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close_of(text: &str) -> Option<&str> {
        let mut lexis = Lexis::new(text, 0, Within::Code(StretchEnd::Substitution));
        lexis.find_close().map(|end| &text[..end])
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
        let depth =
            |text: &str| Lexis::new(text, 0, Within::Code(StretchEnd::End)).read_all().depth;
        assert_eq!(depth("echo $(a) $(b) `c`"), 1);
        assert_eq!(depth("echo \"$(a \"$(b)\" <(c))\""), 2);
        assert_eq!(depth("echo '$(a $(b))' $((1 + (2)))"), 0);
        assert_eq!(depth("cat <<EOF\nit's $( $( $(\nEOF\necho $(a)"), 1);
    }
}
