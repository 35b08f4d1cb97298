//! Limits on the size, nesting and cost of what is judged.
//!
//! The parser crate is recursive and reads some parts many times. So a text is measured before it
//! is parsed, in one pass without recursion. The limits that protect the stack do not depend on how
//! the text is interpreted: they count characters, quoted or not.

use memchr::memmem;

use super::scan::{NESTING_LIMIT, Scanner};

/// The limit on the length of a command line.
pub const INPUT_LIMIT_BYTES: usize = 64 * 1024;

/// The limit on nested substitutions, and on nested scripts (`bash -c`).
pub const DEPTH_LIMIT: usize = 24;

/// The stack size for everything that is not [`StackRoom::Small`].
pub const STACK_BYTES: usize = 16 * 1024 * 1024;

/// The limit on words and operators; each counts as often as it is read.
pub const COST_LIMIT: u64 = 50_000;

/// The limit on this cost for all scripts within a command line (`bash -c`, `eval`). It is lower
/// because judging a script costs more per word, and a word may be part of all of them.
pub const INNER_COST_LIMIT: u64 = 12_000;

/// The number of bytes that cost as much as one word in a script within a command line: bytes in
/// quotes and here-documents are read as well.
const BYTES_OF_A_WORD: u64 = 16;

/// The limit on characters that separate commands, anywhere in the text.
const COMMANDS_LIMIT: usize = 12_000;

/// The limit on unclosed expansions of one text: for each, everything after it is scanned.
pub const UNCLOSED_LIMIT: usize = 32;

/// The limit on the bytes scanned for them: some are scanned twice where `((` does not start
/// arithmetic.
pub const UNCLOSED_LIMIT_BYTES: usize = 1_000_000;

/// The limit on the bytes that the crate may scan for closing braces, in a line and all scripts
/// within it: in a malformed text, each brace is scanned to the end.
pub const BRACES_LIMIT_BYTES: u64 = 40_000_000;

/// The number of those bytes that cost as much as one word, in a script within a command line.
const BRACES_BYTES_OF_A_WORD: u64 = 4000;

/// The limit on the nesting of expressions within one level: the crate has no limit for them.
const EXPRESSION_LIMIT: usize = 4096;

/// The nesting that fits on the stack of any thread.
const SMALL_NESTING: usize = 3;

/// The number of commands in a list that fits on the stack of any thread: the crate nests lists.
const SMALL_COMMANDS: usize = 64;

/// The length of a text with arithmetic or conditions that fits on the stack of any thread.
const SMALL_EXPRESSION_BYTES: usize = 1024;

/// The stack that judging a text needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackSize {
    /// The stack of the caller.
    Small,
    /// A stack of [`STACK_BYTES`].
    Large,
}

/// A text that is within the limits.
pub struct Measured<'t> {
    /// The stack that it needs.
    pub room: StackSize,
    /// The scan that measured it.
    pub read: Scanner<'t>,
}

/// Measures a text; `None` if it exceeds a limit.
pub fn measure(text: &str) -> Option<Measured<'_>> {
    let commands = text.bytes().filter(|byte| b";&|\n".contains(byte)).count();
    let is_long = text.len() > INPUT_LIMIT_BYTES || commands > COMMANDS_LIMIT;
    if is_long || !fits_expressions(text) {
        return None;
    }
    let read = Scanner::of(text);
    let is_too_costly = read.cost > COST_LIMIT || braces_bytes(text, &read) > BRACES_LIMIT_BYTES;
    if is_too_costly || read.depth > DEPTH_LIMIT || read.nesting > NESTING_LIMIT {
        return None;
    }
    // `a+a+a` adds a level for each operator.
    let has_expression = ["((", "$[", "[["].iter().any(|sign| text.contains(sign));
    let longest = if has_expression { SMALL_EXPRESSION_BYTES } else { INPUT_LIMIT_BYTES };
    let is_small =
        nesting(text) <= SMALL_NESTING && commands <= SMALL_COMMANDS && text.len() <= longest;
    Some(Measured { room: if is_small { StackSize::Small } else { StackSize::Large }, read })
}

/// The cost of a script within a command line.
pub fn inner_cost(text: &str, read: &Scanner<'_>) -> u64 {
    let of_bytes = text.len() as u64 / BYTES_OF_A_WORD;
    read.cost + of_bytes + braces_bytes(text, read) / BRACES_BYTES_OF_A_WORD
}

/// The number of bytes that the crate may scan for the closing braces of a text.
pub fn braces_bytes(text: &str, read: &Scanner<'_>) -> u64 {
    read.braces * text.len() as u64
}

/// Whether conditions and arithmetic cannot be nested too deeply, however the text is interpreted.
fn fits_expressions(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has = |what: &str| memmem::find(bytes, what.as_bytes()).is_some();
    let count = |wanted: &[u8]| bytes.iter().filter(|byte| wanted.contains(byte)).count();
    if has("[[") && count(b"(!") > EXPRESSION_LIMIT {
        return false;
    }
    if !has("$[") {
        return true;
    }
    // `- - - 1` nests with each sign, `a?b:c?d:e` with each question mark, `a=b=c` with each `=`.
    let is_sign = |byte: &u8| b"-+!~ \t\n\\".contains(byte);
    let longest = bytes.split(|byte| !is_sign(byte)).map(<[u8]>::len).max();
    longest.unwrap_or(0) <= EXPRESSION_LIMIT && count(b"?=") <= EXPRESSION_LIMIT
}

/// The number of constructs that could be nested.
fn nesting(text: &str) -> usize {
    let letters = text.bytes().filter(|byte| b"({`!".contains(byte)).count();
    let words = ["then", "do", "case", "elif", "function", "coproc", "time"];
    let find = |word: &str| memmem::find_iter(text.as_bytes(), word).count();
    letters + words.into_iter().map(find).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(text: &str) -> Option<StackSize> {
        measure(text).map(|measured| measured.room)
    }

    #[test]
    fn limits_are_exact() {
        let nested = |depth: usize| format!("echo {}a{}", "$(".repeat(depth), ")".repeat(depth));
        assert_eq!(room(&nested(3)), Some(StackSize::Small));
        assert_eq!(room(&nested(DEPTH_LIMIT)), Some(StackSize::Large));
        assert_eq!(room(&nested(DEPTH_LIMIT + 1)), None);
        let quoted = |length: usize| format!("echo '{}'", "a".repeat(length - 7));
        assert_eq!(room(&quoted(INPUT_LIMIT_BYTES)), Some(StackSize::Small));
        assert_eq!(room(&quoted(INPUT_LIMIT_BYTES + 1)), None);
    }

    #[test]
    fn large_here_documents_are_within_the_limits() {
        let line = "  if (a[i] && !b) { $('x').y(`it's`, \"z\") } // it's {\n";
        let text = format!("cat > f <<'EOF'\n{}EOF\n", line.repeat(60_500 / line.len()));
        assert!(text.len() > 60_000);
        assert_eq!(room(&text), Some(StackSize::Large));
    }
}
