//! Whether a header is in C or C++: files with the extension `.h` can be both.

use memchr::memmem;

use super::scan::scan;
use super::table::CPP;
use super::token::{Kind, Token};
use crate::budget::Budget;
use crate::parse::SOURCE_LIMIT_BYTES;

/// What a header in C++ contains at least one of.
const MARKS: &[&[u8]] =
    &[b"class", b"namespace", b"template", b"::", b"public", b"private", b"protected"];

/// Whether a header has constructs of C++ outside of comments, texts and `#ifdef __cplusplus`.
pub(crate) fn is_cpp(text: &[u8]) -> bool {
    let text = &text[..text.len().min(SOURCE_LIMIT_BYTES)];
    if !MARKS.iter().any(|mark| memmem::find(text, mark).is_some()) {
        return false;
    }
    let budget = Budget::unattended();
    let tokens = scan(text, &CPP, &budget.meter()).tokens;
    // The conditions around a token, and whether each is about C++.
    let mut conditions: Vec<bool> = Vec::new();
    let mut code: Vec<Token> = Vec::new();
    for token in tokens {
        match token.kind {
            Kind::Directive => condition(&text[token.range()], &mut conditions),
            Kind::Comment => {}
            _ if conditions.contains(&true) => {}
            _ => code.push(token),
        }
    }
    code.windows(3).any(|near| is_construct(text, near))
}

fn condition(line: &[u8], conditions: &mut Vec<bool>) {
    let word = line[1..].trim_ascii_start();
    if word.starts_with(b"if") {
        conditions.push(memmem::find(word, b"__cplusplus").is_some());
    } else if word.starts_with(b"el") {
        if let Some(last) = conditions.last_mut() {
            *last = false;
        }
    } else if word.starts_with(b"endif") {
        conditions.pop();
    }
}

fn is_construct(text: &[u8], near: &[Token]) -> bool {
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
