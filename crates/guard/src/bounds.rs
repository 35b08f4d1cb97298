//! What is looked at, and what is too large, too deep or too dear for that.
//!
//! The parser crate recurses, and reads some things many times over. So a text is measured before
//! the crate sees it: here in one pass, without recursion. Counts that keep the stack from
//! overflowing do not trust any reading of the text: they count letters, quoted or not.

use memchr::memmem;

use super::lexis::{Lexis, NESTING_LIMIT};

/// The longest command line that is looked at.
pub const INPUT_LIMIT_BYTES: usize = 64 * 1024;

/// How many substitutions may be open at once, and how many scripts may be within each other
/// (`bash -c`).
pub const DEPTH_LIMIT: usize = 24;

/// The stack for everything that is not [`StackRoom::Small`].
pub const STACK_BYTES: usize = 16 * 1024 * 1024;

/// How many words and operators may be read, each counted as often as it is read.
pub const COST_LIMIT: u64 = 50_000;

/// How much of that all scripts within a command line (`bash -c`, `eval`) may cost together: what
/// judging them costs is more for each word, and a word may be in all of them.
pub const INNER_COST_LIMIT: u64 = 12_000;

/// How many bytes of a script within a command line cost as much as one more word: those in quotes
/// and here-documents are read as well.
const BYTES_OF_A_WORD: u64 = 16;

/// How many signs that separate commands there may be, wherever they stand.
const COMMANDS_LIMIT: usize = 12_000;

/// How many expansions of one text may turn out to have no end: each takes a look at all that
/// follows it.
pub const UNCLOSED_LIMIT: usize = 32;

/// How many bytes may be read for them: some of what follows is read again where `((` begins no
/// arithmetic.
pub const UNCLOSED_LIMIT_BYTES: usize = 1_000_000;

/// How many bytes the crate may go through in search of the ends of braces, in a line and all scripts
/// within it: for each brace to the end of its text, if that is malformed.
pub const BRACES_LIMIT_BYTES: u64 = 40_000_000;

/// How many of those bytes cost as much as one more word, in a script within a command line.
const BRACES_BYTES_OF_A_WORD: u64 = 4000;

/// How deep expressions may nest within one level of nesting: the crate has no limit for them.
const EXPRESSION_LIMIT: usize = 4096;

/// How many things that could nest fit on the stack of any thread.
const SMALL_NESTING: usize = 3;

/// How many commands in a row fit on the stack of any thread: the crate nests them, too.
const SMALL_COMMANDS: usize = 64;

/// The longest text with arithmetic or conditions that fits on the stack of any thread.
const SMALL_EXPRESSION_BYTES: usize = 1024;

/// Where a text can be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackRoom {
    /// On the caller's own stack.
    Small,
    /// On a stack of [`STACK_BYTES`].
    Large,
}

/// A text that is within the bounds.
pub struct Measured<'t> {
    /// Where it can be judged.
    pub room: StackRoom,
    /// What was read to measure it.
    pub read: Lexis<'t>,
}

/// Measures a text; `None` when it is too much.
pub fn measure(text: &str) -> Option<Measured<'_>> {
    let commands = text.bytes().filter(|byte| b";&|\n".contains(byte)).count();
    let is_long = text.len() > INPUT_LIMIT_BYTES || commands > COMMANDS_LIMIT;
    if is_long || !fits_expressions(text) {
        return None;
    }
    let read = Lexis::of(text);
    let is_dear = read.cost > COST_LIMIT || braces_bytes(text, &read) > BRACES_LIMIT_BYTES;
    if is_dear || read.depth > DEPTH_LIMIT || read.nesting > NESTING_LIMIT {
        return None;
    }
    // `a+a+a` nests with each sign.
    let has_expression = ["((", "$[", "[["].iter().any(|sign| text.contains(sign));
    let longest = if has_expression { SMALL_EXPRESSION_BYTES } else { INPUT_LIMIT_BYTES };
    let is_small =
        nesting(text) <= SMALL_NESTING && commands <= SMALL_COMMANDS && text.len() <= longest;
    Some(Measured { room: if is_small { StackRoom::Small } else { StackRoom::Large }, read })
}

/// What a script within a command line costs, by all that is read of it.
pub fn inner_cost(text: &str, read: &Lexis<'_>) -> u64 {
    let of_bytes = text.len() as u64 / BYTES_OF_A_WORD;
    read.cost + of_bytes + braces_bytes(text, read) / BRACES_BYTES_OF_A_WORD
}

/// How many bytes the crate may go through in search of the ends of a text's braces.
pub fn braces_bytes(text: &str, read: &Lexis<'_>) -> u64 {
    read.braces * text.len() as u64
}

/// Whether conditions and arithmetic are shallow enough, whatever of the text belongs to them.
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
    // `- - - 1` nests with each sign, `a?b:c?d:e` with each question, `a=b=c` with each `=`.
    let is_sign = |byte: &u8| b"-+!~ \t\n\\".contains(byte);
    let longest = bytes.split(|byte| !is_sign(byte)).map(<[u8]>::len).max();
    longest.unwrap_or(0) <= EXPRESSION_LIMIT && count(b"?=") <= EXPRESSION_LIMIT
}

/// How many things there are that could be nested in each other.
fn nesting(text: &str) -> usize {
    let letters = text.bytes().filter(|byte| b"({`!".contains(byte)).count();
    let words = ["then", "do", "case", "elif", "function", "coproc", "time"];
    let find = |word: &str| memmem::find_iter(text.as_bytes(), word).count();
    letters + words.into_iter().map(find).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(text: &str) -> Option<StackRoom> {
        measure(text).map(|measured| measured.room)
    }

    #[test]
    fn limits_are_exact() {
        let nested = |depth: usize| format!("echo {}a{}", "$(".repeat(depth), ")".repeat(depth));
        assert_eq!(room(&nested(3)), Some(StackRoom::Small));
        assert_eq!(room(&nested(DEPTH_LIMIT)), Some(StackRoom::Large));
        assert_eq!(room(&nested(DEPTH_LIMIT + 1)), None);
        let quoted = |length: usize| format!("echo '{}'", "a".repeat(length - 7));
        assert_eq!(room(&quoted(INPUT_LIMIT_BYTES)), Some(StackRoom::Small));
        assert_eq!(room(&quoted(INPUT_LIMIT_BYTES + 1)), None);
    }

    #[test]
    fn large_here_documents_are_within_the_limits() {
        let line = "  if (a[i] && !b) { $('x').y(`it's`, \"z\") } // it's {\n";
        let text = format!("cat > f <<'EOF'\n{}EOF\n", line.repeat(60_500 / line.len()));
        assert!(text.len() > 60_000);
        assert_eq!(room(&text), Some(StackRoom::Large));
    }
}
