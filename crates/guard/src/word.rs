//! Expands a word: its text, and the commands in it.

use std::ops::Range;

use super::bounds::{self, Measured, UNCLOSED_LIMIT, UNCLOSED_LIMIT_BYTES};
use super::grammar::{self, Script};
use super::scan::{CodeEnd, Context, NESTING_LIMIT, Scanner, length_to};

/// An expanded word or other text.
#[derive(Debug, Default)]
pub struct Expanded {
    /// The text without quotes. Parts that are only known at run time are kept as written.
    pub value: String,
    /// Whether the whole text is known before run time.
    pub is_static: bool,
    /// The commands of `$(…)`, backquotes, `<(…)` and `>(…)`, in sequence.
    pub substitutions: Vec<Substitution>,
}

/// Commands in a word.
#[derive(Debug)]
pub struct Substitution {
    /// The offset of their text in the word; `None` if it does not appear there verbatim.
    pub at: Option<usize>,
    /// `None` if it cannot be parsed.
    pub script: Option<Script>,
    /// Whether its output is inserted into the word: `$(…)` and backquotes.
    pub gives_text: bool,
}

/// How quotes in a text are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// They are removed: in a word.
    Word,
    /// They are literal: in the body of a here-document, in arithmetic.
    Letters,
}

/// The cost of expanding a text.
#[derive(Default)]
struct Account {
    /// For a text that was not measured: the remaining cost of scripts in it.
    script_cost: Option<u64>,
    /// The number of unclosed expansions.
    unclosed: usize,
    /// The number of bytes that were scanned for them.
    unclosed_bytes: usize,
}

impl Account {
    /// Parses a script, unless that exceeds the limit.
    fn parse(&mut self, text: &str) -> Option<Script> {
        let Some(left) = &mut self.script_cost else {
            return grammar::parse(text, &Scanner::of(text));
        };
        // Stop measuring when the limit is reached, because measuring takes time, too.
        let before = left.checked_sub(1)?;
        let Measured { read, .. } = bounds::measure(text)?;
        *left = before.saturating_sub(read.cost);
        if *left == 0 { None } else { grammar::parse(text, &read) }
    }
}

/// Expands a part of a text that [`bounds::measure`] has measured, as far as possible without
/// running anything.
pub fn expand(raw: &str, quoting: Quoting) -> Expanded {
    expand_inside(raw, quoting, 0, &mut Account::default())
}

/// Expands the body of a here-document. The scripts in it were not measured with the code; their
/// total cost is limited to `cost_limit`. Also returns their cost.
pub fn expand_body(raw: &str, cost_limit: u64) -> (Expanded, u64) {
    let mut account = Account { script_cost: Some(cost_limit), ..Account::default() };
    let expanded = expand_inside(raw, Quoting::Letters, 0, &mut account);
    (expanded, cost_limit - account.script_cost.unwrap_or_default())
}

/// Expands a word within `depth` other expansions.
fn expand_inside(raw: &str, quoting: Quoting, depth: usize, account: &mut Account) -> Expanded {
    let is_plain = |byte: u8| !b"\\'\"$`<>".contains(&byte);
    if raw.bytes().all(is_plain) {
        return Expanded { value: raw.to_owned(), is_static: true, substitutions: Vec::new() };
    }
    #[cfg(test)]
    super::steps::count(raw.len());
    let out = Expanded { is_static: true, ..Expanded::default() };
    let mut reader = WordReader { raw, at: 0, depth, account, out };
    reader.read(quoting, None);
    reader.out
}

struct WordReader<'r> {
    raw: &'r str,
    at: usize,
    depth: usize,
    account: &'r mut Account,
    out: Expanded,
}

impl<'r> WordReader<'r> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.raw.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'r str {
        self.raw.get(self.at..).unwrap_or_default()
    }

    /// Reads to a closing character, or the whole text.
    fn read(&mut self, quoting: Quoting, close: Option<u8>) {
        let is_word = quoting == Quoting::Word;
        while let Some(byte) = self.byte(0) {
            match byte {
                _ if Some(byte) == close => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.escaped(quoting),
                b'\'' if is_word => {
                    let inside = &self.rest()[1..];
                    let end = inside.find('\'').unwrap_or(inside.len());
                    self.out.value.push_str(&inside[..end]);
                    self.at = (self.at + end + 2).min(self.raw.len());
                }
                b'"' if is_word => {
                    self.at += 1;
                    self.read(Quoting::Letters, Some(b'"'));
                }
                b'$' => self.dollar(quoting),
                b'`' => self.backquote(),
                b'<' | b'>' if is_word && self.byte(1) == Some(b'(') => self.bracketed(false),
                _ => self.letter(),
            }
        }
    }

    /// A backslash: escapes the next character, or is literal.
    fn escaped(&mut self, quoting: Quoting) {
        self.at += 1;
        match self.byte(0) {
            Some(b'\n') => self.at += 1,
            Some(next) if quoting == Quoting::Word || b"$`\"\\".contains(&next) => self.letter(),
            _ => self.out.value.push('\\'),
        }
    }

    /// Takes the next character literally.
    fn letter(&mut self) {
        let mut end = (self.at + 1).min(self.raw.len());
        while !self.raw.is_char_boundary(end) {
            end += 1;
        }
        self.out.value.push_str(&self.raw[self.at..end]);
        self.at = end;
    }

    /// Marks the text since `start` as only known at run time.
    fn dynamic(&mut self, start: usize) {
        self.out.is_static = false;
        self.out.value.push_str(&self.raw[start..self.at]);
    }

    fn dollar(&mut self, quoting: Quoting) {
        let in_quotes = quoting == Quoting::Letters;
        let start = self.at;
        let rest = self.rest();
        if rest.starts_with("$((")
            && let Some(inner) = self.arithmetic()
        {
            self.dynamic(start);
            self.inside(inner, Quoting::Letters);
        } else if rest.starts_with("$(") {
            self.bracketed(true);
        } else if rest.starts_with("${") {
            let context = Context::parameter(&rest.as_bytes()[2..], in_quotes);
            if let Some(inner) = self.extent(context) {
                self.inside(inner, quoting);
            }
        } else if rest.starts_with("$'") && !in_quotes {
            let length = length_to(&rest.as_bytes()[2..], b'\'');
            let end = length.map_or(rest.len(), |length| length + 1);
            grammar::decode_ansi_c(&rest[2..end], &mut self.out.value);
            self.at = (start + end + 1).min(self.raw.len());
        } else if rest.starts_with("$\"") && !in_quotes {
            self.at += 1;
        } else {
            let name = rest[1..].bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_');
            let length = match (name.count(), rest.as_bytes().get(1)) {
                (0, Some(byte)) if b"@*#?$!-[".contains(byte) => 1,
                (length, _) => length,
            };
            self.at += 1 + length;
            if length == 0 {
                self.out.value.push('$');
            } else {
                self.dynamic(start);
            }
        }
    }

    /// Reads `$((…))`; `None` if it is not arithmetic.
    fn arithmetic(&mut self) -> Option<Range<usize>> {
        let mut scanner = Scanner::new(self.raw, self.at + 3, Context::ARITHMETIC);
        let end = scanner.find_close().filter(|_| scanner.was_arithmetic)?;
        let inner = self.at + 3..end - 2;
        self.at = end;
        Some(inner)
    }

    /// Reads an expansion that starts with two characters to its end. Returns the range of its
    /// content, without the last byte. An unclosed expansion is literal. Detecting one scans the
    /// rest of the text, so after too many of them the rest counts as not parsable.
    fn extent(&mut self, context: Context) -> Option<Range<usize>> {
        let start = self.at;
        let mut scanner = Scanner::new(self.raw, start + 2, context);
        if let Some(end) = scanner.find_close() {
            self.at = end;
            self.dynamic(start);
            return Some(start + 2..end - 1);
        }
        self.account.unclosed += 1;
        self.account.unclosed_bytes += self.raw.len() - (start + 2) + scanner.rescanned_bytes;
        if self.account.unclosed <= UNCLOSED_LIMIT
            && self.account.unclosed_bytes <= UNCLOSED_LIMIT_BYTES
        {
            self.letter();
        } else {
            self.at = self.raw.len();
            self.mark_unparsed();
        }
        None
    }

    /// Reads commands in brackets.
    fn bracketed(&mut self, gives_text: bool) {
        if let Some(inner) = self.extent(Context::Code(CodeEnd::Substitution)) {
            let script = self.account.parse(&self.raw[inner.clone()]);
            let at = Some(inner.start);
            self.out.substitutions.push(Substitution { at, script, gives_text });
        }
    }

    fn backquote(&mut self) {
        let start = self.at;
        let inside = &self.raw[start + 1..];
        let Some(length) = length_to(inside.as_bytes(), b'`') else { return self.letter() };
        self.at = start + 1 + length;
        self.dynamic(start);
        let text = without_backslashes(&inside[..length - 1]);
        let at = (text.len() == length - 1).then_some(start + 1);
        let script = self.account.parse(&text);
        self.out.substitutions.push(Substitution { at, script, gives_text: true });
    }

    fn mark_unparsed(&mut self) {
        let nothing = Substitution { at: None, script: None, gives_text: true };
        self.out.substitutions.push(nothing);
        self.out.is_static = false;
    }

    /// Expands the commands in the content of an expansion.
    fn inside(&mut self, inner: Range<usize>, quoting: Quoting) {
        let text = &self.raw[inner.clone()];
        if !text.bytes().any(|byte| b"`(".contains(&byte)) {
            return;
        }
        if self.depth == NESTING_LIMIT {
            return self.mark_unparsed();
        }
        for mut substitution in
            expand_inside(text, quoting, self.depth + 1, self.account).substitutions
        {
            substitution.at = substitution.at.map(|at| at + inner.start);
            self.out.substitutions.push(substitution);
        }
    }
}

/// In backquotes, a backslash before `` ` ``, `\` and `$` is removed before parsing.
fn without_backslashes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(letter) = chars.next() {
        let next = chars.next_if(|next| letter == '\\' && "`\\$".contains(*next));
        out.push(next.unwrap_or(letter));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::grammar::Part;
    use super::*;

    fn word(raw: &str) -> (String, bool, Vec<String>) {
        let expanded = expand(raw, Quoting::Word);
        let names =
            expanded.substitutions.iter().map(|inner| names(inner.script.as_ref().unwrap()));
        (expanded.value, expanded.is_static, names.collect())
    }

    /// The first word of each simple command outside of groups.
    fn names(script: &Script) -> String {
        let names = script.0.iter().map(|part| match part {
            Part::Simple(simple) => simple.words[0].raw.as_str(),
            _ => "(…)",
        });
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn quotes_are_removed() {
        for (raw, value) in [
            ("c'a't", "cat"),
            ("\\cat", "cat"),
            ("c\"a\"t", "cat"),
            ("$'c\\x61t'", "cat"),
            ("$\"cat\"", "cat"),
            ("\"a\\\"b\\c\"", "a\"b\\c"),
            ("'a\\b'", "a\\b"),
            ("a\\\nb", "ab"),
            ("'é'\\é\"é\"", "ééé"),
            ("5$", "5$"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(word(raw), (value.to_owned(), true, Vec::new()), "{raw}");
        }
    }

    #[test]
    fn commands_are_found_wherever_the_shell_runs_them() {
        for (raw, commands) in [
            ("a$(b c)d", &["b"][..]),
            ("\"$(a)`b`\"", &["a", "b"]),
            ("${x:-$(a)}", &["a"]),
            ("\"${x:-\"$(a)\"}\"", &["a"]),
            ("$((1 + $(a) + `b`))", &["a", "b"]),
            ("$((a); b)", &["(…)"]),
            ("<(a)", &["a"]),
            ("x=(1 $(a) '$(b)')", &["a"]),
            ("$(case x in a) b;; esac)", &["(…)"]),
            ("`a \\`b\\``", &["a"]),
            ("'$(a)' \\$(a)", &[]),
        ] {
            let (value, is_static, found) = word(raw);
            assert_eq!(found, commands, "{raw} {value}");
            assert_eq!(is_static, commands.is_empty(), "{raw}");
        }
    }
}
