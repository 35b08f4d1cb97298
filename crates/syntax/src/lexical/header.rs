//! Whether a header is in C or C++: files with the extension `.h` can be both.

use memchr::memmem;

use super::scan::scan;
use super::table::CPP;
use super::token::{Kind, Token};
use super::{Condition, directive};
use crate::budget::Budget;

/// How much of a header is read: it is read for every search, before any limit on texts applies.
const HEADER_LIMIT_BYTES: usize = 64 << 10;

/// What a header in C++ contains at least one of.
const MARKS: &[&[u8]] =
    &[b"class", b"namespace", b"template", b"::", b"public", b"private", b"protected"];

/// Whether a header has constructs of C++ outside of comments, texts and `#ifdef __cplusplus`.
pub(crate) fn is_cpp(text: &[u8]) -> bool {
    let text = &text[..text.len().min(HEADER_LIMIT_BYTES)];
    if !MARKS.iter().any(|mark| memmem::find(text, mark).is_some()) {
        return false;
    }
    let budget = Budget::unattended();
    let mut conditions = Conditions::default();
    let mut code: Vec<Token> = Vec::new();
    scan(text, &CPP, &budget.meter()).tokens.into_iter().any(|token| {
        match token.kind {
            Kind::Directive => conditions.read(&text[token.range()]),
            Kind::Comment => {}
            _ if conditions.count > 0 => {}
            _ => code.push(token),
        }
        is_construct(text, &code[code.len().saturating_sub(4)..])
    })
}

/// The conditions around a token.
#[derive(Default)]
struct Conditions {
    open: Vec<Branch>,
    /// The number of them whose branch is only for C++.
    count: usize,
}

/// Whether a branch of a condition, and those after it, are only for C++.
#[derive(Clone, Copy)]
struct Branch {
    is_cpp: bool,
    is_cpp_after: bool,
}

impl Conditions {
    fn read(&mut self, line: &[u8]) {
        let Some(condition) = directive(line) else { return };
        let last = if condition == Condition::If { None } else { self.open.pop() };
        self.count -= usize::from(last.is_some_and(|last| last.is_cpp));
        let next = match condition {
            Condition::If => Some(Branch::of(line[1..].trim_ascii_start())),
            Condition::Else => last.map(|last| Branch { is_cpp: last.is_cpp_after, ..last }),
            Condition::End => None,
        };
        self.count += usize::from(next.is_some_and(|next| next.is_cpp));
        self.open.extend(next);
    }
}

impl Branch {
    fn of(condition: &[u8]) -> Branch {
        let Some(at) = memmem::find(condition, b"__cplusplus") else {
            return Branch { is_cpp: false, is_cpp_after: false };
        };
        let before = condition[..at].trim_ascii_end();
        let before = before.strip_suffix(b"(").unwrap_or(before).trim_ascii_end();
        let before = before.strip_suffix(b"defined").unwrap_or(before).trim_ascii_end();
        let is_not = before.ends_with(b"!") || before == b"ifndef";
        Branch { is_cpp: !is_not, is_cpp_after: is_not }
    }
}

/// Whether the last three tokens are a construct of C++. One may precede them: `@class` is of
/// Objective-C.
fn is_construct(text: &[u8], near: &[Token]) -> bool {
    let before = near.len().saturating_sub(3);
    let (before, near) = near.split_at(before);
    if near.len() < 3 || before.iter().any(|token| &text[token.range()] == b"@") {
        return false;
    }
    let of = |at: usize| &text[near[at].range()];
    let is_word = |at: usize| near[at].kind == Kind::Word;
    match of(0) {
        b"class" => is_word(1) && (is_word(2) || matches!(of(2), b"{" | b":" | b";")),
        b"namespace" => of(1) == b"{" || is_word(1) && matches!(of(2), b"{" | b":"),
        b"template" => of(1) == b"<",
        b"public" | b"private" | b"protected" => of(1) == b":" && is_word(2),
        _ => is_word(0) && of(1) == b":" && of(2) == b":" && near[1].end() == near[2].start(),
    }
}
