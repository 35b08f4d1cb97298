//! Words that open and close blocks, such as `do` and `end`, and brackets that are none.

use super::table::{Fact, Lexicon, When};
use super::token::{Kind, Token};

/// Words of Ruby and Lua after which a statement or value begins.
const BEFORE_STATEMENTS: &[&[u8]] =
    &[b"then", b"else", b"do", b"begin", b"ensure", b"and", b"or", b"not", b"in", b"when"];

/// Words of shells and of Dockerfiles after which a command begins.
const BEFORE_COMMANDS: &[&[u8]] = &[
    b"then", b"do", b"else", b"elif", b"if", b"while", b"until", b"time", b"fi", b"done", b"esac",
    b"coproc", b"RUN",
];

/// What is missing in a block, by its tokens.
pub(super) enum Missing {
    /// `then` of the condition that a word begins, before the token that ends it.
    Then { open: usize, end: usize },
    /// `)` after the pattern of a `case` that ends with this token.
    PatternEnd(usize),
}

impl Missing {
    /// The last token that shows it.
    pub fn at(&self) -> usize {
        match *self {
            Missing::Then { end, .. } => end,
            Missing::PatternEnd(last) => last,
        }
    }
}

/// Makes the words of a language that open or close blocks brackets.
pub(super) fn classify(
    text: &[u8],
    lexicon: &'static Lexicon,
    tokens: &mut [Token],
) -> Vec<Missing> {
    let mut words = Words::new(text, lexicon);
    if !lexicon.words.is_empty() || words.is_shell {
        for at in 0..tokens.len() {
            tokens[at].kind = words.kind(tokens, at);
        }
    }
    words.missing
}

/// The words around a token.
pub(super) struct Words<'a> {
    text: &'a [u8],
    lexicon: &'static Lexicon,
    is_shell: bool,
    open: Vec<Opened>,
    /// The last token after which a statement or command begins.
    keyword: Option<usize>,
    /// The number of blocks around a test of shells: `[[ … ]]`.
    test: Option<usize>,
    missing: Vec<Missing>,
}

/// A block that is open. A text may have one at each byte.
#[derive(Clone, Copy)]
struct Opened {
    at: u32,
    part: Part,
}

/// The part of a block that a token is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Body,
    /// A loop of Ruby before its body, which `do` may begin.
    LoopHead,
    /// A condition of shells and Lua, which `then` ends.
    Condition,
    /// A `case` of shells before `in`, a pattern within a number of brackets, and after a pattern.
    CaseHead,
    Pattern(u16),
    CaseBody,
}

impl<'a> Words<'a> {
    pub fn new(text: &'a [u8], lexicon: &'static Lexicon) -> Words<'a> {
        let is_shell = lexicon.facts.contains(&Fact::Commands);
        let (open, missing) = (Vec::new(), Vec::new());
        Words { text, lexicon, is_shell, open, keyword: None, test: None, missing }
    }

    fn has(&self, fact: Fact) -> bool {
        self.lexicon.facts.contains(&fact)
    }

    fn text(&self, token: Token) -> &'a [u8] {
        &self.text[token.range()]
    }

    fn part(&self) -> Part {
        self.open.last().map_or(Part::Body, |opened| opened.part)
    }

    fn set_part(&mut self, part: Part) {
        if let Some(opened) = self.open.last_mut() {
            opened.part = part;
        }
    }

    /// What a token is, if those before it are known.
    pub fn kind(&mut self, tokens: &[Token], at: usize) -> Kind {
        let token = tokens[at];
        let is_code = |&one: &usize| tokens[one].kind != Kind::Comment;
        let previous = (at.saturating_sub(8)..at).rev().find(is_code);
        if token.kind == Kind::Comment {
            return Kind::Comment;
        }
        self.end_loop_head(token, previous.map(|one| tokens[one]));
        self.end_pattern(tokens, token, previous);
        let kind = match token.kind {
            _ if self.is_shell && self.is_in_test(tokens, at, previous) => {
                let is_expansion = previous.is_some_and(|one| self.text(tokens[one]) == b"$");
                if token.kind == Kind::Open && is_expansion { Kind::Open } else { Kind::Mark }
            }
            Kind::Word => self.kind_of_word(tokens, at, previous),
            Kind::Open | Kind::Close | Kind::Mark if self.is_shell => {
                self.kind_of_bracket(tokens, at, previous)
            }
            other => other,
        };
        match kind {
            Kind::Open => {
                let part = self.first_part(self.text(token));
                self.open.push(Opened { at: at as u32, part });
            }
            Kind::Close => {
                let closed = self.open.pop();
                let is_word = self.text(token).len() > 1;
                if let Some(Opened { at: open, part: Part::Condition }) = closed.filter(|_| is_word)
                {
                    self.missing.push(Missing::Then { open: open as usize, end: at });
                }
            }
            _ => {}
        }
        kind
    }

    /// The part that begins after a word or bracket.
    fn first_part(&self, open: &[u8]) -> Part {
        match open {
            b"case" if self.is_shell => Part::CaseHead,
            b"if" if self.has(Fact::Then) => Part::Condition,
            b"while" | b"until" | b"for" => Part::LoopHead,
            _ => Part::Body,
        }
    }

    /// The head of a loop ends with its statement: `while a`, not `while a &&`.
    fn end_loop_head(&mut self, token: Token, previous: Option<Token>) {
        let Some(previous) = previous.filter(|_| self.part() == Part::LoopHead) else { return };
        let continues = matches!(self.text(token), b"." | b"&" | b"|")
            || previous.kind == Kind::Mark && self.text(previous) != b";"
            || matches!(self.text(previous), b"and" | b"or" | b"not" | b"in")
            || matches!(self.text(previous), b"while" | b"until" | b"for");
        if self.text(token) == b";" || self.begins_line(token, previous) && !continues {
            self.set_part(Part::Body);
        }
    }

    /// A pattern ends with its line, even without `)`.
    fn end_pattern(&mut self, tokens: &[Token], token: Token, previous: Option<usize>) {
        let Some(one) = previous.filter(|_| matches!(self.part(), Part::Pattern(_))) else {
            return;
        };
        let last = self.text(tokens[one]);
        let is_first = matches!(last, b"in" | b";" | b"&");
        let is_over = last != b"|" && self.begins_line(token, tokens[one]);
        if !is_first && (is_over || self.text(token) == b";") {
            self.missing.push(Missing::PatternEnd(one));
            self.set_part(Part::CaseBody);
        }
    }

    /// Whether the words and brackets of a token are those of a test, which ends with its line if it
    /// does not end before.
    fn is_in_test(&mut self, tokens: &[Token], at: usize, previous: Option<usize>) -> bool {
        let token = tokens[at];
        let text = &self.text[token.start()..];
        if self.test != Some(self.open.len()) {
            let is_start =
                text.starts_with(b"[[") && text.get(2).is_some_and(u8::is_ascii_whitespace);
            if is_start && self.begins_command(tokens, token, previous) {
                self.test = Some(self.open.len());
            }
            return false;
        }
        let is_continued = |last: Token| matches!(last.kind, Kind::Mark | Kind::Open);
        let is_over = previous
            .is_some_and(|one| self.begins_line(token, tokens[one]) && !is_continued(tokens[one]));
        if is_over || self.ends_test_at(token.start()) {
            self.test = None;
        }
        !is_over
    }

    /// In shells braces group commands only where a command begins, and a `)` may end a pattern.
    fn kind_of_bracket(&mut self, tokens: &[Token], at: usize, previous: Option<usize>) -> Kind {
        let token = tokens[at];
        let before = previous.map_or(&b""[..], |one| self.text(tokens[one]));
        let named = at.checked_sub(2).map_or(&b""[..], |one| self.text(tokens[one]));
        let begins = |words: &Words<'_>| {
            words.begins_command(tokens, token, previous)
                || previous.is_some_and(|one| words.ends_test(tokens[one]))
        };
        let part = self.part();
        let is_case = matches!(part, Part::CaseHead | Part::Pattern(_) | Part::CaseBody);
        match (self.text[token.start()], part) {
            (b'{' | b'}', Part::Pattern(_)) => Kind::Mark,
            (b'{', _) if !matches!(named, b"function" | b"coproc") && !begins(self) => Kind::Mark,
            (b'{', _) if !self.text.get(token.end()).is_none_or(u8::is_ascii_whitespace) => {
                Kind::Mark
            }
            (b'}', _) if !begins(self) => Kind::Mark,
            (b'(', Part::Pattern(depth)) if !before.ends_with(b"$") => {
                let is_first = matches!(before, b"in" | b";" | b"&");
                self.set_part(Part::Pattern(depth.saturating_add(u16::from(!is_first))));
                Kind::Mark
            }
            (b')', Part::Pattern(depth)) => {
                self.set_part(depth.checked_sub(1).map_or(Part::CaseBody, Part::Pattern));
                Kind::Mark
            }
            (b';' | b'&', Part::CaseBody) if before == b";" => {
                self.set_part(Part::Pattern(0));
                Kind::Mark
            }
            (b')', _) if is_case => Kind::Mark,
            (b'(', _) if is_case && !before.ends_with(b"$") => Kind::Mark,
            _ => token.kind,
        }
    }

    fn kind_of_word(&mut self, tokens: &[Token], at: usize, previous: Option<usize>) -> Kind {
        let token = tokens[at];
        let word = self.text(token);
        if self.is_shell && self.is_in_case_head(tokens, token, previous)
            || self.is_name(tokens, token, previous)
        {
            return Kind::Word;
        }
        let is_end = matches!(self.part(), Part::Pattern(_));
        let begins = is_end || !self.is_shell || self.begins_command(tokens, token, previous);
        self.note(at, word, begins, tokens, previous);
        let opening = self.lexicon.words.iter().find(|pair| pair.open.as_bytes() == word);
        if self.lexicon.words.iter().any(|pair| pair.close.as_bytes() == word) {
            return if begins { Kind::Close } else { Kind::Word };
        }
        let opens = opening.is_some_and(|pair| match pair.when {
            When::Always => true,
            When::IsCommand => begins || word == b"do" && self.begins_body(tokens, at, previous),
            When::BeginsStatement => self.begins_statement(tokens, token, previous),
            When::NotOfLoop => self.part() != Part::LoopHead,
            When::NotShort => !self.is_short(&tokens[at + 1..]),
        });
        if word == b"do" && self.part() == Part::LoopHead {
            self.set_part(Part::Body);
        }
        if opens { Kind::Open } else { Kind::Word }
    }

    /// Notes what a word means for those after it.
    fn note(
        &mut self,
        at: usize,
        word: &[u8],
        begins: bool,
        tokens: &[Token],
        previous: Option<usize>,
    ) {
        let is_then = self.part() == Part::Condition && word == b"then";
        let is_body = is_then || self.is_shell && self.begins_body(tokens, at, previous);
        let words = if self.is_shell { BEFORE_COMMANDS } else { BEFORE_STATEMENTS };
        if words.contains(&word) && (begins || is_body) {
            self.keyword = Some(at);
        }
        match word {
            b"then" if is_then => self.set_part(Part::Body),
            b"else" | b"elif" | b"elseif" if begins => {
                let Some(&Opened { at: open, part }) = self.open.last() else { return };
                let is_if = part == Part::Condition
                    || self.first_part(self.text(tokens[open as usize])) == Part::Condition;
                if part == Part::Condition {
                    self.missing.push(Missing::Then { open: open as usize, end: at });
                }
                if is_if {
                    self.set_part(if word == b"else" { Part::Body } else { Part::Condition });
                }
            }
            _ => {}
        }
    }

    /// Whether a word of a `case` is its subject or a pattern.
    fn is_in_case_head(&mut self, tokens: &[Token], token: Token, previous: Option<usize>) -> bool {
        match (self.part(), self.text(token)) {
            (Part::CaseHead, b"in") => {
                self.set_part(Part::Pattern(0));
                true
            }
            (Part::Pattern(0), b"esac") => previous.is_some_and(|one| {
                !self.begins_line(token, tokens[one])
                    && !matches!(self.text(tokens[one]), b"in" | b";" | b"&")
            }),
            (Part::CaseHead, _) => true,
            // A word that ends its line is not a pattern: `esac` may be missing.
            (Part::Pattern(_), _) => {
                let is_blank = |byte: &&u8| !matches!(**byte, b' ' | b'\t');
                let after = self.text[token.end()..].iter().find(is_blank);
                !matches!(after, None | Some(b'\n' | b'\r' | b';' | b'#' | b'&'))
            }
            _ => false,
        }
    }

    /// Whether it is a method, a symbol, a key or a variable: `x.class`, `:end`, `if: 1`, `done=1`.
    fn is_name(&self, tokens: &[Token], token: Token, previous: Option<usize>) -> bool {
        let before = token.start().checked_sub(1).map_or(b' ', |at| self.text[at]);
        let mut after = self.text[token.end()..].iter().copied();
        if self.is_shell {
            return after.next() == Some(b'=')
                || matches!(before, b':' | b'$' | b'@' | b'&' | b'.');
        }
        let is_key = after.next() == Some(b':') && after.next() != Some(b':');
        let is_member = previous.is_some_and(|one| {
            let last = tokens[one];
            let second = one.checked_sub(1).map_or(&b""[..], |second| self.text(tokens[second]));
            let is_range = last.start() > 0 && self.text[last.start() - 1] == b'.';
            let has_aliases = self.has(Fact::Aliases);
            let is_defined = self.text(last) == b"def"
                || has_aliases
                    && (matches!(self.text(last), b"alias" | b"undef") || second == b"alias");
            is_defined && !self.begins_line(token, last) || self.text(last) == b"." && !is_range
        });
        is_key
            || is_member
            || matches!(before, b':' | b'$' | b'@' | b'&')
            || before == b'.' && !self.text[..token.start()].ends_with(b"..")
    }

    /// Whether nothing complete precedes a token, so that `if` is not a modifier.
    fn begins_statement(&self, tokens: &[Token], token: Token, previous: Option<usize>) -> bool {
        let Some(one) = previous else { return true };
        self.begins_line(token, tokens[one])
            || match tokens[one].kind {
                Kind::Mark | Kind::Open => true,
                Kind::Word => self.keyword == previous,
                _ => false,
            }
    }

    /// Whether a token is the first one of a line that continues no other.
    fn begins_line(&self, token: Token, previous: Token) -> bool {
        let between = &self.text[previous.end()..token.start()];
        memchr::memchr(b'\n', between).is_some_and(|at| {
            let line = between[..at].trim_ascii_end();
            !line.ends_with(b"\\") || line.contains(&b'#')
        })
    }

    fn begins_command(&self, tokens: &[Token], token: Token, previous: Option<usize>) -> bool {
        let Some(one) = previous else { return true };
        self.begins_line(token, tokens[one])
            || match tokens[one].kind {
                Kind::Mark => {
                    matches!(self.text(tokens[one]), b";" | b"&" | b"|" | b"!" | b")" | b"`")
                }
                Kind::Open | Kind::Close => true,
                Kind::Word => self.keyword == previous,
                _ => false,
            }
    }

    /// Whether `do` follows `for argument`, or `do` or `then` a test: `while [[ a ]] do`.
    fn begins_body(&self, tokens: &[Token], at: usize, previous: Option<usize>) -> bool {
        let before = at.checked_sub(2).map(|before| self.text(tokens[before]));
        let word = self.text(tokens[at]);
        word == b"do" && before == Some(b"for")
            || matches!(word, b"do" | b"then")
                && previous.is_some_and(|one| self.ends_test(tokens[one]))
    }

    /// Whether the word `]]` is at an offset, not `[[:space:]]`.
    fn ends_test_at(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or(b' ', |before| self.text[before]);
        self.text[at..].starts_with(b"]]") && before.is_ascii_whitespace()
    }

    /// Whether a command ends with this token of `[[ … ]]` or `((…))`.
    fn ends_test(&self, token: Token) -> bool {
        token.start() > 0 && self.ends_test_at(token.start() - 1)
            || self.text(token).starts_with(b"((")
    }

    /// Whether a definition has no `end`: `def area = width * height`.
    fn is_short(&self, after: &[Token]) -> bool {
        let mut depth = 0_usize;
        for pair in after.windows(2).take(200) {
            let [token, next] = pair else { return false };
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            let gap = &self.text[token.end()..next.start()];
            if depth > 0 {
                continue;
            }
            if gap.contains(&b'\n') {
                return false;
            }
            let follows = self.text.get(next.end()).copied().unwrap_or(b'\n');
            if self.text[next.start()] == b'=' && !gap.is_empty() && token.kind != Kind::Mark {
                return !matches!(follows, b'=' | b'~' | b'>');
            }
            let is_head = token.kind != Kind::Text && (gap.is_empty() || next.kind == Kind::Open);
            if !is_head {
                return false;
            }
        }
        false
    }
}
