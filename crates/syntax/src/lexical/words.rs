//! Words that open and close blocks, such as `do` and `end`, and brackets that are none.

use super::table::{Extra, Lexicon, When};
use super::token::{Kind, Token};

/// Words of Ruby and Lua after which a statement or value begins.
const BEFORE_STATEMENTS: &[&[u8]] =
    &[b"then", b"else", b"do", b"begin", b"ensure", b"and", b"or", b"not", b"in", b"when"];

/// Words of shells and of Dockerfiles after which a command begins.
const BEFORE_COMMANDS: &[&[u8]] = &[
    b"then", b"do", b"else", b"elif", b"if", b"while", b"until", b"time", b"fi", b"done", b"esac",
    b"RUN",
];

/// Makes the words of a language that open or close blocks brackets.
pub(super) fn classify(text: &[u8], lexicon: &'static Lexicon, tokens: &mut [Token]) {
    let is_shell = lexicon.extras.contains(&Extra::Shell);
    if lexicon.words.is_empty() && !is_shell {
        return;
    }
    let mut words = Words { text, lexicon, is_shell, open: Vec::new(), line: 0, loop_line: None };
    for at in 0..tokens.len() {
        let kind = words.kind(tokens, at);
        tokens[at].kind = kind;
    }
}

struct Words<'a> {
    text: &'a [u8],
    lexicon: &'static Lexicon,
    is_shell: bool,
    /// In shells, whether each open block is a `case`, whose patterns end with `)`.
    open: Vec<bool>,
    /// The number of the line, and that of a loop whose `do` has not been read.
    line: usize,
    loop_line: Option<usize>,
}

impl Words<'_> {
    fn kind(&mut self, tokens: &[Token], at: usize) -> Kind {
        let token = tokens[at];
        let from = at.checked_sub(1).map_or(0, |last| tokens[last].start());
        self.line += usize::from(self.text[from..token.start()].contains(&b'\n'));
        let previous = tokens[..at].iter().rev().take(8).find(|one| one.kind != Kind::Comment);
        let kind = match token.kind {
            Kind::Word => self.kind_of_word(tokens, at, previous),
            Kind::Open | Kind::Close if self.is_shell => {
                let before = at.checked_sub(2).map(|before| &self.text[tokens[before].range()]);
                self.kind_of_bracket(token, previous, before == Some(b"function"))
            }
            other => other,
        };
        if self.is_shell {
            match kind {
                Kind::Open => self.open.push(&self.text[token.range()] == b"case"),
                Kind::Close => {
                    self.open.pop();
                }
                _ => {}
            }
        }
        kind
    }

    /// In shells braces group commands only where a command begins, and a `)` may end a pattern.
    fn kind_of_bracket(&self, token: Token, previous: Option<&Token>, is_named: bool) -> Kind {
        let is_pattern = self.open.last() == Some(&true);
        match self.text[token.start()] {
            b'{' if !is_named && !self.begins_command(token, previous) => Kind::Mark,
            b'{' if !self.text.get(token.end()).is_none_or(u8::is_ascii_whitespace) => Kind::Mark,
            b'}' if !self.begins_command(token, previous) => Kind::Mark,
            b')' if is_pattern => Kind::Mark,
            b'(' if is_pattern && previous.is_none_or(|one| self.text[one.start()] != b'$') => {
                Kind::Mark
            }
            _ => token.kind,
        }
    }

    fn kind_of_word(&mut self, tokens: &[Token], at: usize, previous: Option<&Token>) -> Kind {
        let token = tokens[at];
        let word = &self.text[token.range()];
        let opening = self.lexicon.words.iter().find(|pair| pair.open.as_bytes() == word);
        let is_closing = self.lexicon.words.iter().any(|pair| pair.close.as_bytes() == word);
        if opening.is_none() && !is_closing || self.is_name(token, previous) {
            return Kind::Word;
        }
        if is_closing {
            let is_command = !self.is_shell || self.begins_command(token, previous);
            return if is_command { Kind::Close } else { Kind::Word };
        }
        let opens = opening.is_some_and(|pair| match pair.when {
            When::Always => true,
            When::IsCommand => self.begins_command(token, previous) || self.is_of_for(tokens, at),
            When::BeginsStatement => self.begins_statement(token, previous),
            When::NotOfLoop => !self.is_of_loop(),
            When::NotShort => !self.is_short(&tokens[at + 1..]),
        });
        if opens && matches!(word, b"while" | b"until" | b"for") {
            self.loop_line = Some(self.line);
        }
        if opens { Kind::Open } else { Kind::Word }
    }

    /// Whether it is a method, a symbol or a key: `x.class`, `:end`, `if: 1`.
    fn is_name(&self, token: Token, previous: Option<&Token>) -> bool {
        let before = token.start().checked_sub(1).map_or(b' ', |at| self.text[at]);
        let mut after = self.text[token.end()..].iter().copied();
        let is_key = !self.is_shell && after.next() == Some(b':') && after.next() != Some(b':');
        let is_member = previous.is_some_and(|last| {
            let is_defined = &self.text[last.range()] == b"def" && !self.begins_line(token, *last);
            (is_defined || &self.text[last.range()] == b".") && !self.is_shell
        });
        is_key || is_member || matches!(before, b':' | b'$' | b'@' | b'&' | b'.')
    }

    /// Whether nothing complete precedes a token, so that `if` is not a modifier.
    fn begins_statement(&self, token: Token, previous: Option<&Token>) -> bool {
        let Some(previous) = previous else { return true };
        self.begins_line(token, *previous)
            || match previous.kind {
                Kind::Mark | Kind::Open => true,
                Kind::Word => BEFORE_STATEMENTS.contains(&&self.text[previous.range()]),
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

    fn begins_command(&self, token: Token, previous: Option<&Token>) -> bool {
        let Some(previous) = previous else { return true };
        let text = &self.text[previous.range()];
        self.begins_line(token, *previous)
            || match previous.kind {
                Kind::Mark => matches!(text, b";" | b"&" | b"|" | b"!" | b")" | b"`"),
                Kind::Open | Kind::Close => true,
                Kind::Word => BEFORE_COMMANDS.contains(&text),
                _ => false,
            }
    }

    /// `for argument do`.
    fn is_of_for(&self, tokens: &[Token], at: usize) -> bool {
        let before = at.checked_sub(2).map(|before| &self.text[tokens[before].range()]);
        before == Some(b"for") && &self.text[tokens[at].range()] == b"do"
    }

    fn is_of_loop(&mut self) -> bool {
        let is_same = self.loop_line == Some(self.line);
        is_same && self.loop_line.take().is_some()
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
                return follows.is_ascii_whitespace();
            }
            let is_head = token.kind != Kind::Text && (gap.is_empty() || next.kind == Kind::Open);
            if !is_head {
                return false;
            }
        }
        false
    }
}
