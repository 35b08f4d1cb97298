//! Shell text → commands. The one module that knows the parser crate: another can take its place
//! by filling the same few types.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rable::{Node, NodeKind};

use super::CommandSpan;
use super::lexis::Lexis;

/// A text as commands, in their order.
#[derive(Debug, Default)]
pub struct Script(pub Vec<Part>);

/// A piece of a script.
#[derive(Debug)]
pub enum Part {
    /// A command with its words.
    Simple(Simple),
    /// Commands of which each but the first reads what the one before it writes.
    Pipeline(Vec<Part>),
    /// A loop, a subshell, a function and the like: what runs or is expanded in it, and where its
    /// input and output go.
    Group {
        /// Commands and words inside.
        parts: Vec<Part>,
        /// Where the input and output of the whole group go.
        redirects: Vec<Redirect>,
        /// Whether directories and variables are those from before behind it.
        is_subshell: bool,
    },
    /// Words that are expanded and start nothing themselves.
    Words {
        /// The variable that takes each of them in turn.
        name: Option<String>,
        words: Vec<Word>,
    },
    /// A text in which quotes are letters, such as arithmetic.
    Text(Word),
}

/// A command with its words.
#[derive(Debug)]
pub struct Simple {
    /// `NAME=value` in front.
    pub assignments: Vec<Word>,
    /// The name of the command and what it is given.
    pub words: Vec<Word>,
    /// Where its input and output go.
    pub redirects: Vec<Redirect>,
}

/// A word as it is written, with quotes.
#[derive(Debug)]
pub struct Word {
    /// As it is written, without line continuations.
    pub raw: String,
    /// Its bytes in the text, or those of the command around it.
    pub span: CommandSpan,
}

/// Where a command reads from or writes to.
#[derive(Debug)]
pub enum Redirect {
    /// `>`, `<` and the like: the operator, the target, and the bytes of both.
    File {
        /// As it is written, without a number in front.
        operator: String,
        /// The file or descriptor.
        target: Word,
        /// The number in front, or the variable that takes one: `{name}>`.
        descriptor: Option<String>,
        /// Operator and target.
        span: CommandSpan,
    },
    /// `<<`.
    HereDoc {
        /// The lines.
        body: String,
        /// Whether the shell leaves them as they are.
        is_quoted: bool,
        /// The bytes of the operator and the delimiter.
        span: CommandSpan,
    },
}

/// The commands of a text that was read; `None` when it does not parse.
pub fn parse(text: &str, read: &Lexis<'_>) -> Option<Script> {
    if read.is_cut {
        return None;
    }
    let (masked, starts) = masked(text, read);
    #[cfg(test)]
    super::steps::count_parsed(&masked, super::bounds::braces_bytes(text, read));
    let nodes = nodes(&masked, true)?;
    let places = ByteOffsets { text, starts, lacks_target: Cell::new(false) };
    let parts = nodes.iter().map(|node| places.part(node)).collect();
    (!places.lacks_target.get()).then_some(Script(parts))
}

/// What the crate makes of a text. A defect of the parser must not take the caller along.
fn nodes(text: &str, has_extglob: bool) -> Option<Vec<Node>> {
    catch_unwind(AssertUnwindSafe(|| rable::parse(text, has_extglob))).ok()?.ok()
}

/// The first of the characters that stand for those of a text, each for the one at its place. They
/// are private, and what a text has of them itself is replaced like any letter.
const MASK: u32 = 0xF_0000;

/// The text with a letter for each character that is quoted or expanded: the crate reads them as one word,
/// once. Otherwise it would look for commands in them, again for each level around them. Brackets that
/// follow each other are set apart, or it would look for arithmetic. And the byte in the text of each
/// character.
fn masked(text: &str, read: &Lexis<'_>) -> (String, Vec<u32>) {
    let is_private = |letter: char| letter as u32 >= MASK;
    let mut letters = read.letters.iter().peekable();
    let mut splits = read.splits.iter().peekable();
    let mut out = String::with_capacity(text.len() * 2);
    let mut starts = Vec::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        if splits.next_if_eq(&&at).is_some() {
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

/// Decodes what `$'…'` holds, and appends it.
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

/// Turns the crate's places, which count characters, into bytes.
struct ByteOffsets<'t> {
    text: &'t str,
    /// Where each character that the crate got stands.
    starts: Vec<u32>,
    /// Whether a redirection has no target, which the crate lets pass: `ls >`.
    lacks_target: Cell<bool>,
}

impl<'t> ByteOffsets<'t> {
    fn byte(&self, place: usize) -> usize {
        self.starts.get(place).map_or(self.text.len(), |start| *start as usize)
    }

    /// What the crate read, as it stands in the text.
    fn raw(&self, value: &str) -> String {
        let original = |letter: char| {
            let place = (letter as u32).checked_sub(MASK)?;
            self.text[self.byte(place as usize)..].chars().next()
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
                // `|&` in front of a group is given as a redirection on its own.
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

    /// The commands of a list, which the crate nests to the left, one level for each of them.
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
            // What is left is no command.
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
                // The crate says where the target ends, which is where the redirection does.
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

/// Whether what stands where a target should is a word, and not an operator.
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
    /// The target of the redirection of a script that is nothing else: `$(< file)`.
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
        let (masked, starts) = masked(text, &Lexis::of(text));
        (masked, ByteOffsets { text, starts, lacks_target: Cell::new(false) })
    }

    /// It reads them again for each level around them, and after a failure to the end of the text.
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
            let (masked, places) = seen_by_the_crate(text);
            let mut shown: Vec<_> =
                masked.chars().map(|c| if c as u32 >= MASK { '·' } else { c }).collect();
            shown.dedup_by(|a, b| (*a, *b) == ('·', '·'));
            let shown = String::from_iter(shown);
            assert_eq!(shown, seen, "{text}");
            if !masked.contains("( (") {
                assert_eq!(places.raw(&masked), text);
            }
        }
        for text in ["cat <<'`a'\n", "a $(b", "a `b", "\"a", "'", "${a", "$((a)", "$'a"] {
            assert!(Lexis::of(text).is_cut, "{text}");
        }
        let private = "a\u{f0000}\u{10fffd}b 'c'";
        let (masked, places) = seen_by_the_crate(private);
        assert_eq!(places.raw(&masked), private);
    }
}
