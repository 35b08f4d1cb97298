//! Conditions of a preprocessor: one branch of each counts, the others are its alternatives.

use super::token::{Kind, Token};
use crate::pairs::{FAULTS_LIMIT, Found, Wrong};
use crate::source::Source;
use crate::structure::Fault;

/// Branches with more brackets that match nothing in them are not compared.
const UNMATCHED_LIMIT: usize = 32;

/// Which branch of a condition counts. The others only have to match themselves: `#if A`,
/// `if (a) {`, `#else`, `if (b) {`, `#endif`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    First,
    Last,
}

/// A branch that does not count.
pub(super) struct Skipped {
    /// Its first token, and the one after it.
    pub start: usize,
    pub end: usize,
    /// Whether unmatched brackets in it are reported: only if the counted branch has none.
    pub must_match: bool,
}

/// The branches that do not count, outermost only, and those that close or open other brackets than
/// the first one: these can be valid.
#[derive(Default)]
pub(super) struct Conditions {
    pub skipped: Vec<Skipped>,
    pub different: Vec<Found>,
}

/// A branch of a condition.
struct Branch {
    /// The index of the token of its directive.
    at: usize,
    /// The brackets that match nothing in it: first those that it closes, then those that it opens.
    closed: Vec<u8>,
    opened: Vec<u8>,
    /// Whether these are known.
    is_known: bool,
    /// Whether there are conditions in it.
    is_nested: bool,
}

impl Branch {
    fn new(at: usize) -> Branch {
        Branch { at, closed: Vec::new(), opened: Vec::new(), is_known: true, is_nested: false }
    }

    fn matches_itself(&self) -> bool {
        self.is_known && self.closed.is_empty() && self.opened.is_empty()
    }

    fn read(&mut self, bracket: u8) {
        let closed = match bracket {
            b'(' | b'[' | b'{' => return self.add(bracket),
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        match self.opened.pop() {
            Some(last) => self.is_known &= last == closed,
            None => {
                self.closed.push(closed);
                self.is_known &= self.closed.len() < UNMATCHED_LIMIT;
            }
        }
    }

    fn add(&mut self, bracket: u8) {
        if self.opened.len() < UNMATCHED_LIMIT {
            self.opened.push(bracket);
        } else {
            self.is_known = false;
        }
    }

    /// Reads a branch of a condition in this one.
    fn contain(&mut self, inner: &Branch) {
        self.is_nested = true;
        self.is_known &= inner.is_known;
        if self.is_known {
            for closed in &inner.closed {
                self.read(match closed {
                    b'(' => b')',
                    b'[' => b']',
                    _ => b'}',
                });
            }
            inner.opened.iter().for_each(|&opened| self.add(opened));
        }
    }
}

impl Conditions {
    pub fn of(source: &Source, tokens: &[Token], counted: Counted) -> Conditions {
        let mut found = Conditions::default();
        let mut open: Vec<Vec<Branch>> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let condition = match token.kind {
                Kind::Directive => directive(&source.text[token.range()]),
                Kind::Open | Kind::Close => {
                    if let Some(branch) = open.last_mut().and_then(|branches| branches.last_mut()) {
                        branch.read(source.text[token.start()]);
                    }
                    continue;
                }
                _ => continue,
            };
            match condition {
                Some(Condition::If) => open.push(vec![Branch::new(at)]),
                Some(Condition::Else) => {
                    if let Some(branches) = open.last_mut() {
                        branches.push(Branch::new(at));
                    }
                }
                Some(Condition::End) => {
                    let Some(branches) = open.pop() else { continue };
                    let first = found.add(source, tokens, (&branches, at), counted);
                    let around = open.last_mut().and_then(|around| around.last_mut());
                    if let (Some(around), Some(first)) = (around, branches.get(first)) {
                        around.contain(first);
                    }
                }
                None => {}
            }
        }
        found.keep_outermost();
        found
    }

    /// Adds the branches of a condition that do not count, and returns the index of the first one that
    /// is code.
    fn add(
        &mut self,
        source: &Source,
        tokens: &[Token],
        (branches, end): (&[Branch], usize),
        counted: Counted,
    ) -> usize {
        let is_dead = is_never(&source.text[tokens[branches[0].at].range()]);
        let first = usize::from(is_dead);
        let counted = match counted {
            Counted::First => first,
            Counted::Last => branches.len() - 1,
        };
        let is_whole = |branch: &Branch| !branch.is_nested && branch.matches_itself();
        let counts = !is_dead && branches.get(counted).is_some_and(is_whole);
        for (index, branch) in branches.iter().enumerate() {
            let (start, end) = (branch.at + 1, branches.get(index + 1).map_or(end, |next| next.at));
            if index != counted && start < end {
                let must_match = counts && !branch.is_nested;
                self.skipped.push(Skipped { start, end, must_match });
            }
        }
        let row = |branch: &Branch| source.row_of(tokens[branch.at].start()) as u32 + 1;
        let compared = branches.get(first).filter(|first| first.is_known);
        let is_different = |branch: &&Branch| {
            compared.is_some_and(|first| {
                let own = (&branch.closed, &branch.opened);
                branch.is_known && own != (&first.closed, &first.opened)
            })
        };
        if let Some(other) = branches.iter().skip(first).find(is_different)
            && self.different.len() < FAULTS_LIMIT
        {
            let (line, opened) = (row(other), row(&branches[0]));
            let what = format!(
                "this branch opens and closes other brackets than the first one, at line {opened}"
            );
            let fault = Fault { line, what, opened: Some(opened) };
            self.different.push(Found { wrong: Wrong::Branch, fault });
        }
        first
    }

    fn keep_outermost(&mut self) {
        self.skipped.sort_unstable_by_key(|part| (part.start, usize::MAX - part.end));
        let mut until = 0;
        self.skipped.retain(|part| {
            let is_outermost = part.start >= until;
            until = until.max(part.end);
            is_outermost
        });
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    If,
    Else,
    End,
}

/// What a directive does with conditions.
pub(super) fn directive(line: &[u8]) -> Option<Condition> {
    let word = line.strip_prefix(b"#")?.trim_ascii_start();
    let length = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    match &word[..length] {
        b"if" | b"ifdef" | b"ifndef" => Some(Condition::If),
        b"else" | b"elif" | b"elseif" | b"elifdef" | b"elifndef" => Some(Condition::Else),
        b"endif" => Some(Condition::End),
        _ => None,
    }
}

/// Whether a condition is `0` or `false`.
pub(super) fn is_never(line: &[u8]) -> bool {
    let words = line[1..].trim_ascii_start();
    let length = words.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let condition = words[length..].split(|&byte| byte == b'/').next().unwrap_or_default();
    matches!(condition.trim_ascii(), b"0" | b"(0)" | b"false")
}
