//! What a search looks for, and the lines in which it occurs.
//!
//! A pattern matches within one line's text; a terminator is never part of a match. Most
//! patterns nevertheless run over the whole text at once, which is many times faster than a
//! start per line (see [`Pattern::matching_lines`] for when that gives the same answer).

use regex_syntax::hir::{Hir, HirKind, Look};

use crate::error::{Code, Error, Result};
use crate::text::lines::{Lines, Span, Unit, line_around};
use crate::view::anchor::quote;

/// Steps that the backtracking engine may take on one line.
const BACKTRACK_LIMIT_STEPS: usize = 1_000_000;

/// A search as the caller wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The text or regular expression.
    pub search: String,
    /// Whether `search` is a regular expression.
    pub regex: bool,
    /// Whether letters match only their own case.
    pub case_sensitive: bool,
}

/// A compiled search.
#[derive(Debug)]
pub struct Pattern {
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    /// Finite automata: linear time.
    Automaton {
        regex: regex::bytes::Regex,
        /// It has no assertion that differs between a line alone and the line in its text.
        spans_lines: bool,
        /// It asserts the end of a line, which in a whole text is not seen before `\r\n`.
        asserts_line_end: bool,
    },
    /// Look-around and back-references: bounded backtracking, line by line.
    Backtracking(fancy_regex::Regex),
}

impl Pattern {
    /// Compiles a query.
    pub fn new(query: &Query) -> Result<Pattern> {
        if query.search.is_empty() {
            return Err(Error::argument("search is empty: give a text or pattern to look for"));
        }
        if !query.regex {
            if query.search.contains('\n') {
                return Err(spans_lines());
            }
            return automaton(&regex_syntax::escape(&query.search), query.case_sensitive);
        }
        automaton(&query.search, query.case_sensitive)
    }

    /// The lines of UTF-8 `text` in which the pattern occurs, from the line that starts at
    /// byte `from` on.
    ///
    /// The whole text is searched at once where a match within a line's own text exists
    /// exactly when the whole text has one starting in that line. Without assertions about
    /// the text's ends that holds in one direction: what matches in the line alone matches in
    /// the text. The other direction (a match that runs on over the terminator) is checked on
    /// the line itself.
    pub fn matching_lines<'a>(&'a self, text: &'a [u8], from: usize) -> MatchingLines<'a> {
        let whole = match &self.engine {
            Engine::Automaton { spans_lines, asserts_line_end, .. } => {
                *spans_lines && !(*asserts_line_end && memchr::memchr(b'\r', text).is_some())
            }
            Engine::Backtracking(_) => false,
        };
        MatchingLines { pattern: self, text, at: from, whole }
    }

    fn matches_line(&self, line: &[u8]) -> Result<bool> {
        match &self.engine {
            Engine::Automaton { regex, .. } => Ok(regex.is_match(line)),
            Engine::Backtracking(regex) => {
                let line = String::from_utf8_lossy(line);
                regex.is_match(&*line).map_err(|cause| {
                    Error::new(
                        Code::InvalidPattern,
                        format!("the pattern gave up on a line of {} bytes: {cause}", line.len()),
                    )
                })
            }
        }
    }
}

/// Iterates over the lines that match; see [`Pattern::matching_lines`].
pub struct MatchingLines<'a> {
    pattern: &'a Pattern,
    text: &'a [u8],
    at: usize,
    whole: bool,
}

impl MatchingLines<'_> {
    /// The next line that may match: in the whole text the one where the next match starts.
    fn candidate(&self) -> Option<(Span, bool)> {
        match &self.pattern.engine {
            Engine::Automaton { regex, .. } if self.whole => {
                let found = regex.find_at(self.text, self.at)?;
                if found.start() == self.text.len() && self.text.ends_with(b"\n") {
                    return None;
                }
                let line = line_around(self.text, found.start());
                Some((line, found.end() <= line.text_end))
            }
            _ => {
                let line = Lines::starting_at(self.text, Unit::Byte, self.at).next()?;
                Some((line, false))
            }
        }
    }
}

impl Iterator for MatchingLines<'_> {
    type Item = Result<Span>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.text.len() {
            let (line, sure) = self.candidate()?;
            self.at = line.end;
            if sure {
                return Some(Ok(line));
            }
            // A match that runs over the end of its line can run far, and again from each of
            // the lines below: from here on every line is looked at alone.
            self.whole = false;
            match self.pattern.matches_line(line.text(self.text)) {
                Ok(true) => return Some(Ok(line)),
                Ok(false) => {}
                Err(error) => {
                    self.at = self.text.len();
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

fn automaton(pattern: &str, case_sensitive: bool) -> Result<Pattern> {
    let parsed = regex_syntax::ParserBuilder::new()
        .multi_line(true)
        .case_insensitive(!case_sensitive)
        .utf8(false)
        .build()
        .parse(pattern);
    let hir = match parsed {
        Ok(hir) => hir,
        Err(cause) => return backtracking(pattern, case_sensitive, &cause),
    };
    if has_newline_literal(&hir) {
        return Err(spans_lines());
    }
    let regex = regex::bytes::RegexBuilder::new(pattern)
        .multi_line(true)
        .case_insensitive(!case_sensitive)
        .build()
        .map_err(|cause| Error::new(Code::InvalidPattern, format!("invalid pattern: {cause}")))?;
    let looks = hir.properties().look_set();
    let absolute = [Look::Start, Look::End, Look::StartCRLF, Look::EndCRLF];
    let engine = Engine::Automaton {
        regex,
        spans_lines: !absolute.iter().any(|&look| looks.contains(look)),
        asserts_line_end: looks.contains(Look::EndLF),
    };
    Ok(Pattern { engine })
}

/// The second engine, for patterns that the first does not support; `cause` is its refusal.
fn backtracking(
    pattern: &str,
    case_sensitive: bool,
    cause: &regex_syntax::Error,
) -> Result<Pattern> {
    use regex_syntax::ast::ErrorKind;
    let (unsupported, at, reason) = match cause {
        regex_syntax::Error::Parse(cause) => (
            matches!(
                cause.kind(),
                ErrorKind::UnsupportedLookAround
                    | ErrorKind::UnsupportedBackreference
                    | ErrorKind::EscapeUnrecognized
                    | ErrorKind::GroupNameUnexpectedEof
                    | ErrorKind::RepetitionMissing
            ),
            cause.span().start.offset,
            cause.kind().to_string(),
        ),
        regex_syntax::Error::Translate(cause) => {
            (false, cause.span().start.offset, cause.kind().to_string())
        }
        other => (false, 0, other.to_string()),
    };
    let first_refusal = || invalid(pattern, at, &reason);
    if !unsupported {
        return Err(first_refusal());
    }
    fancy_regex::RegexBuilder::new(pattern)
        .case_insensitive(!case_sensitive)
        .backtrack_limit(BACKTRACK_LIMIT_STEPS)
        .build()
        .map(|regex| Pattern { engine: Engine::Backtracking(regex) })
        .map_err(|cause| match cause {
            fancy_regex::Error::ParseError(at, kind) => invalid(pattern, at, &kind.to_string()),
            _ => first_refusal(),
        })
}

fn invalid(pattern: &str, offset_bytes: usize, reason: &str) -> Error {
    let before = pattern.get(..offset_bytes).unwrap_or(pattern);
    let position = before.chars().count() + 1;
    Error::new(
        Code::InvalidPattern,
        format!("invalid pattern at character {position} of {}: {reason}", quote(pattern)),
    )
}

fn spans_lines() -> Error {
    Error::new(
        Code::InvalidPattern,
        "the pattern holds a line feed, but a match lies within one line: search for each line alone",
    )
}

fn has_newline_literal(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Repetition(repetition) => has_newline_literal(&repetition.sub),
        HirKind::Capture(capture) => has_newline_literal(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().any(has_newline_literal)
        }
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn query(search: &str, regex: bool, case_sensitive: bool) -> Query {
        Query { search: search.into(), regex, case_sensitive }
    }

    fn matches(search: &str, text: &str) -> Vec<String> {
        let pattern = Pattern::new(&query(search, true, true)).unwrap();
        let lines = pattern.matching_lines(text.as_bytes(), 0);
        lines
            .map(|line| String::from_utf8(line.unwrap().text(text.as_bytes()).into()).unwrap())
            .collect()
    }

    #[test]
    fn matches_by_example() {
        assert_eq!(matches("b", "abc\nB\nb"), ["abc", "b"]);
        assert_eq!(matches("a$", "a\r\nba\nab\r\n"), ["a", "ba"]);
        assert_eq!(matches("^b", "ab\nba"), ["ba"]);
        assert_eq!(matches(r"\Ab\z", "b\nab\nb\r\n"), ["b", "b"]);
        assert_eq!(matches(r"a\s", "a\na b\n"), ["a b"]);
        assert_eq!(matches(r"[^x]b", "\nb\nab"), ["ab"]);
        assert_eq!(matches("^$", "\na\n\r\n"), ["", ""]);
        assert_eq!(matches("x*", "a\nb\n"), ["a", "b"]);
        assert_eq!(matches(r"a(?!b)", "ab\nac\n"), ["ac"]);
        assert_eq!(matches(r"(\w)\1", "abc\nabb\n"), ["abb"]);
    }

    #[test]
    fn literals_are_literal_and_fold_case() {
        let pattern = Pattern::new(&query("É(", false, false)).unwrap();
        assert_eq!(pattern.matching_lines("é(\nÉ\n".as_bytes(), 0).count(), 1);
    }

    #[test]
    fn bad_patterns_name_the_position() {
        for (search, part) in [
            ("é(", "at character 2"),
            ("[a", "at character 1"),
            ("a{2,1}", "at character 2"),
            ("(?=", "character"),
            (r"a\n", "line feed"),
        ] {
            let error = Pattern::new(&query(search, true, true)).unwrap_err();
            assert_eq!(error.code, Code::InvalidPattern, "{search}");
            assert!(error.message.contains(part), "{search}: {}", error.message);
        }
        assert_eq!(
            Pattern::new(&query("a\nb", false, true)).unwrap_err().code,
            Code::InvalidPattern
        );
        assert_eq!(Pattern::new(&query("", true, true)).unwrap_err().code, Code::InvalidArgument);
    }

    #[test]
    fn backtracking_has_a_limit() {
        let pattern = Pattern::new(&query(r"(?:(a|b|ab)(?!z))*c\1", true, true)).unwrap();
        let text = "ab".repeat(60);
        let found: Vec<_> = pattern.matching_lines(text.as_bytes(), 0).collect();
        assert_eq!(found[0].as_ref().unwrap_err().code, Code::InvalidPattern);
        assert_eq!(found.len(), 1);
    }

    proptest! {
        #[test]
        fn whole_text_agrees_with_line_by_line(
            text in "([ab \r]{0,4}\n?){0,12}",
            pattern in prop::sample::select(vec![
                "a", "ab|b", "^a", "a$", "^$", r"\s", r"\s+b", r"a[^b]", r"\bb", r"b\b", "a*",
                r"(?s)a.b", r"a\s*b", r"\Aa", r"b\z", r"(?m)^ *b", r"[^a]$", "(?i)A b", r"\r",
            ]),
        ) {
            let compiled = Pattern::new(&query(pattern, true, true)).unwrap();
            let fast: Vec<_> =
                compiled.matching_lines(text.as_bytes(), 0).map(Result::unwrap).collect();
            let alone = regex::bytes::RegexBuilder::new(pattern).multi_line(true).build().unwrap();
            let naive: Vec<_> = Lines::new(text.as_bytes(), Unit::Byte)
                .filter(|line| alone.is_match(line.text(text.as_bytes())))
                .collect();
            prop_assert_eq!(fast, naive);
        }
    }
}
