//! Parses shell text into commands. This is the only module that uses the parser crate: to replace
//! the crate, only the few types below have to be filled.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rable::{Node, NodeKind};

use super::CommandSpan;
use super::scan::Scanner;

/// The commands of a text, in sequence.
#[derive(Debug, Default)]
pub struct Script(pub Vec<Part>);

/// A part of a script.
#[derive(Debug)]
pub enum Part {
    /// A simple command.
    Simple(Simple),
    /// Commands connected by pipes.
    Pipeline(Vec<Part>),
    /// A loop, a subshell, a function or another compound command.
    Group {
        /// The commands and words inside.
        parts: Vec<Part>,
        /// The redirections of the whole group.
        redirects: Vec<Redirect>,
        /// Whether changes of directories and variables end with the group.
        is_subshell: bool,
    },
    /// Words that are expanded but do not run as a command.
    Words {
        /// The variable that is assigned each of them in turn.
        name: Option<String>,
        words: Vec<Word>,
    },
    /// A text in which quotes are literal, such as arithmetic.
    Text(Word),
}

/// A simple command.
#[derive(Debug)]
pub struct Simple {
    /// `NAME=value` before the command.
    pub assignments: Vec<Word>,
    /// The name of the command and its arguments.
    pub words: Vec<Word>,
    /// Its redirections.
    pub redirects: Vec<Redirect>,
}

/// A word as written, with quotes.
#[derive(Debug)]
pub struct Word {
    /// The text without line continuations.
    pub raw: String,
    /// Its span in the text, or that of the command around it.
    pub span: CommandSpan,
}

/// A redirection of a command.
#[derive(Debug)]
pub enum Redirect {
    /// `>`, `<` and the like.
    File {
        /// The operator, without the number before it.
        operator: String,
        /// The file or descriptor.
        target: Word,
        /// The number before the operator, or the variable that is assigned one: `{name}>`.
        descriptor: Option<String>,
        /// The span of operator and target.
        span: CommandSpan,
    },
    /// `<<`.
    HereDoc {
        /// The lines.
        body: String,
        /// Whether the shell does not expand them.
        is_quoted: bool,
        /// The span of the operator and the delimiter.
        span: CommandSpan,
    },
}

/// Parses a text that was scanned; `None` if it is not valid.
pub fn parse(text: &str, read: &Scanner<'_>) -> Option<Script> {
    if read.is_incomplete {
        return None;
    }
    let (masked, starts) = masked(text, read);
    #[cfg(test)]
    super::steps::count_parsed(&masked, super::bounds::braces_bytes(text, read));
    let nodes = nodes(&masked, true)?;
    let offsets = ByteOffsets { text, starts, lacks_target: Cell::new(false) };
    let parts = nodes.iter().map(|node| offsets.part(node)).collect();
    (!offsets.lacks_target.get()).then_some(Script(parts))
}

/// Runs the parser crate, and contains its panics.
fn nodes(text: &str, has_extglob: bool) -> Option<Vec<Node>> {
    catch_unwind(AssertUnwindSafe(|| rable::parse(text, has_extglob))).ok()?.ok()
}

/// The first of the private characters that mask those of a text, each by its index. Characters of
/// the text that are in this range are masked, too.
const MASK: u32 = 0xF_0000;

/// The text with a masked character for each one that is quoted or expanded, so that the crate
/// reads them once as one word. Otherwise, it would parse commands in them again for each level
/// around them. A space is inserted between consecutive brackets, which the crate would try to
/// parse as arithmetic. Also returns the byte offset of each character.
fn masked(text: &str, read: &Scanner<'_>) -> (String, Vec<u32>) {
    let is_private = |letter: char| letter as u32 >= MASK;
    let mut letters = read.letters.iter().peekable();
    let mut split_at = read.split_at.iter().peekable();
    let mut out = String::with_capacity(text.len() * 2);
    let mut starts = Vec::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        if split_at.next_if_eq(&&at).is_some() {
            out.push(' ');
            starts.push(at as u32);
        }
        let index = starts.len() as u32;
        starts.push(at as u32);
        while letters.next_if(|range| range.end <= at).is_some() {}
        let is_letter = letters.peek().is_some_and(|range| range.contains(&at));
        let mask = char::from_u32(MASK + index).filter(|_| is_letter || is_private(letter));
        out.push(mask.unwrap_or(letter));
    }
    (out, starts)
}

/// Decodes the content of `$'…'`, and appends it.
pub fn decode_ansi_c(inside: &str, out: &mut String) {
    let word = format!("$'{inside}'");
    let decoded = nodes(&word, false).and_then(|nodes| {
        let NodeKind::Command { words, .. } = &nodes.first()?.kind else { return None };
        let NodeKind::Word { parts, .. } = &words.first()?.kind else { return None };
        match &parts.first()?.kind {
            NodeKind::AnsiCQuote { decoded, .. } => Some(decoded.clone()),
            _ => None,
        }
    });
    out.push_str(decoded.as_deref().unwrap_or(inside));
}

/// Converts the offsets of the crate, which count characters, into byte offsets.
struct ByteOffsets<'t> {
    text: &'t str,
    /// The byte offset of each character that the crate got.
    starts: Vec<u32>,
    /// Whether a redirection has no target, which the crate accepts: `ls >`.
    lacks_target: Cell<bool>,
}

impl<'t> ByteOffsets<'t> {
    fn byte(&self, index: usize) -> usize {
        self.starts.get(index).map_or(self.text.len(), |start| *start as usize)
    }

    /// The original text of a value that the crate returned.
    fn raw(&self, value: &str) -> String {
        let original = |letter: char| {
            let index = (letter as u32).checked_sub(MASK)?;
            self.text[self.byte(index as usize)..].chars().next()
        };
        value.chars().map(|letter| original(letter).unwrap_or(letter)).collect()
    }

    fn span(&self, node: &Node) -> CommandSpan {
        let start = self.byte(node.span.start);
        CommandSpan { start, end: self.byte(node.span.end).max(start) }
    }

    fn part(&self, node: &Node) -> Part {
        match &node.kind {
            NodeKind::Command { assignments, words, redirects } => {
                let span = self.span(node);
                Part::Simple(Simple {
                    assignments: self.words(assignments, span),
                    words: self.words(words, span),
                    redirects: self.redirects(redirects),
                })
            }
            NodeKind::Pipeline { commands, .. } => {
                // The crate represents `|&` before a group as a separate redirection.
                let runs = commands.iter().filter(|c| !matches!(c.kind, NodeKind::Redirect { .. }));
                Part::Pipeline(runs.map(|command| self.part(command)).collect())
            }
            NodeKind::List { .. } => group(self.list(node)),
            NodeKind::Negation { pipeline: inner }
            | NodeKind::Time { pipeline: inner, .. }
            | NodeKind::Function { body: inner, .. }
            | NodeKind::Coproc { command: inner, .. } => self.part(inner),
            _ => self.compound(node),
        }
    }

    /// The commands of a list, which the crate nests to the left.
    fn list(&self, node: &Node) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut left = Some(node);
        while let Some(node) = left.take() {
            let NodeKind::List { items } = &node.kind else {
                parts.push(self.part(node));
                break;
            };
            if let Some((first, others)) = items.split_first() {
                parts.extend(others.iter().rev().map(|item| self.part(&item.command)));
                left = Some(&first.command);
            }
        }
        parts.reverse();
        parts
    }

    fn compound(&self, node: &Node) -> Part {
        let whole = self.span(node);
        let words = |name, words: &[Node]| Part::Words { name, words: self.words(words, whole) };
        let text = |raw: &String| Part::Text(Word { raw: self.raw(raw), span: whole });
        let (parts, redirects) = match &node.kind {
            NodeKind::Subshell { body, redirects } | NodeKind::BraceGroup { body, redirects } => {
                (vec![self.part(body)], redirects)
            }
            NodeKind::If { condition, then_body, else_body, redirects } => {
                let bodies = [Some(condition), Some(then_body), else_body.as_ref()];
                (bodies.into_iter().flatten().map(|body| self.part(body)).collect(), redirects)
            }
            NodeKind::While { condition, body, redirects }
            | NodeKind::Until { condition, body, redirects } => {
                (vec![self.part(condition), self.part(body)], redirects)
            }
            NodeKind::For { var, words: given, body, redirects }
            | NodeKind::Select { var, words: given, body, redirects } => {
                let given = words(Some(var.clone()), given.as_deref().unwrap_or_default());
                (vec![given, self.part(body)], redirects)
            }
            NodeKind::ForArith { init, cond, incr, body, redirects } => {
                (vec![text(init), text(cond), text(incr), self.part(body)], redirects)
            }
            NodeKind::Case { word, patterns, redirects } => {
                let mut parts = vec![words(None, std::slice::from_ref(word))];
                for pattern in patterns {
                    parts.push(words(None, &pattern.patterns));
                    parts.extend(pattern.body.as_ref().map(|body| self.part(body)));
                }
                (parts, redirects)
            }
            NodeKind::ConditionalExpr { body, redirects } => {
                let mut parts = Vec::new();
                self.condition(body, whole, &mut parts);
                (parts, redirects)
            }
            NodeKind::ArithmeticCommand { raw_content, redirects, .. } => {
                (vec![text(raw_content)], redirects)
            }
            // Other nodes are not commands.
            _ => return group(Vec::new()),
        };
        let is_subshell = matches!(node.kind, NodeKind::Subshell { .. });
        Part::Group { parts, redirects: self.redirects(redirects), is_subshell }
    }

    /// The terms of `[[ … ]]`.
    fn condition(&self, node: &Node, whole: CommandSpan, parts: &mut Vec<Part>) {
        match &node.kind {
            NodeKind::UnaryTest { operand, .. } | NodeKind::CondNot { operand } => {
                self.condition(operand, whole, parts);
            }
            NodeKind::BinaryTest { left, right, .. }
            | NodeKind::CondAnd { left, right }
            | NodeKind::CondOr { left, right } => {
                self.condition(left, whole, parts);
                self.condition(right, whole, parts);
            }
            NodeKind::CondParen { inner } => self.condition(inner, whole, parts),
            NodeKind::CondTerm { value, .. } => {
                let words = vec![Word { raw: self.raw(value), span: whole }];
                parts.push(Part::Words { name: None, words });
            }
            _ => {}
        }
    }

    fn words(&self, nodes: &[Node], whole: CommandSpan) -> Vec<Word> {
        nodes.iter().filter_map(|node| self.word(node, whole)).collect()
    }

    fn word(&self, node: &Node, whole: CommandSpan) -> Option<Word> {
        let NodeKind::Word { value, .. } = &node.kind else { return None };
        let span = if node.span.is_empty() { whole } else { self.span(node) };
        Some(Word { raw: self.raw(value), span })
    }

    fn redirects(&self, nodes: &[Node]) -> Vec<Redirect> {
        nodes.iter().filter_map(|node| self.redirect(node)).collect()
    }

    fn redirect(&self, node: &Node) -> Option<Redirect> {
        let span = self.span(node);
        match &node.kind {
            NodeKind::Redirect { op, target, fd, varfd } => {
                let mut target = self.word(target, span)?;
                if !is_target(&target.raw) {
                    self.lacks_target.set(true);
                }
                // The crate's span of a redirection ends with its target.
                if self.text[span.start..span.end].ends_with(&target.raw) {
                    target.span = CommandSpan { start: span.end - target.raw.len(), end: span.end };
                }
                let number = || (*fd >= 0).then(|| fd.to_string());
                let descriptor = varfd.clone().or_else(number);
                Some(Redirect::File { operator: op.clone(), target, descriptor, span })
            }
            NodeKind::HereDoc { content, quoted, .. } => {
                Some(Redirect::HereDoc { body: self.raw(content), is_quoted: *quoted, span })
            }
            _ => None,
        }
    }
}

/// Whether a target is a word, not an operator.
fn is_target(raw: &str) -> bool {
    match raw.as_bytes() {
        [] | [b'\n' | b';' | b'&' | b'|' | b'(' | b')', ..] => false,
        [b'<' | b'>', rest @ ..] => rest.first() == Some(&b'('),
        _ => true,
    }
}

fn group(parts: Vec<Part>) -> Part {
    Part::Group { parts, redirects: Vec::new(), is_subshell: false }
}

impl Script {
    /// The target of the redirection if the script consists only of one: `$(< file)`.
    pub fn lone_input(&self) -> Option<(&Word, CommandSpan)> {
        let [Part::Simple(simple)] = self.0.as_slice() else { return None };
        let [Redirect::File { operator, target, span, .. }] = simple.redirects.as_slice() else {
            return None;
        };
        let is_lone = simple.assignments.is_empty() && simple.words.is_empty();
        (is_lone && operator == "<").then_some((target, *span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen_by_the_crate(text: &str) -> (String, ByteOffsets<'_>) {
        let (masked, starts) = masked(text, &Scanner::of(text));
        (masked, ByteOffsets { text, starts, lacks_target: Cell::new(false) })
    }

    /// Otherwise, it would read them again for each level around them, and to the end of the text
    /// after a failure.
    #[test]
    fn the_crate_gets_no_expansions() {
        for (text, seen) in [
            ("a \"b $(c)\" d", "a · d"),
            ("a`b[`c '$(' {b,c} { $x", "a·c · ·b,c} { ·"),
            ("$((1 + (2))) <(a) ${a:-\"}\"} \\a é\\é", "· · · · é·"),
            ("$(case a in b) c;; (d) e;; esac) f", "· f"),
            ("$((a); b) c", "· c"),
            ("cat <<'E' $(cat <<F\n)\nF\n)\n$(a)\nE\n", "cat <<'E' ·\n·\nE\n"),
            ("# `a\n((b + $(c)))", "#·\n((·))"),
            ("case a in {`a` <<-b\n\tc $(d)\n\tb\n", "case a in · <<-b\n\t·\n\tb\n"),
            ("for ((i=0; i<(3); i++)); do a; done", "for ((·;·;·)); do a; done"),
            ("((a); (b c))", "( (a); (b c))"),
            ("(((a)) ; b)", "( ((·)) ; b)"),
            ("a=(b $c) x[$y]=1 {fd}>z", "a=(b ·) x[·]=1 {fd}>z"),
        ] {
            let (masked, offsets) = seen_by_the_crate(text);
            let mut shown: Vec<_> =
                masked.chars().map(|c| if c as u32 >= MASK { '·' } else { c }).collect();
            shown.dedup_by(|a, b| (*a, *b) == ('·', '·'));
            let shown = String::from_iter(shown);
            assert_eq!(shown, seen, "{text}");
            if !masked.contains("( (") {
                assert_eq!(offsets.raw(&masked), text);
            }
        }
        for text in ["cat <<'`a'\n", "a $(b", "a `b", "\"a", "'", "${a", "$((a)", "$'a"] {
            assert!(Scanner::of(text).is_incomplete, "{text}");
        }
        let private = "a\u{f0000}\u{10fffd}b 'c'";
        let (masked, offsets) = seen_by_the_crate(private);
        assert_eq!(offsets.raw(&masked), private);
    }
}
