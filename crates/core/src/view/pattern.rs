//! What a search looks for, and the lines in which it occurs.
//!
//! A pattern matches within one line's text; a terminator is never part of a match. Most
//! patterns nevertheless run over the whole text at once, which is many times faster than a
//! start per line (see [`Pattern::matching_lines`] for when that gives the same answer).

mod backtrack;
mod line;
mod literal;
mod watch;

use std::borrow::Cow;
use std::ops::Range;

use regex_automata::Input;
use regex_automata::meta;
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_syntax::hir::{Hir, HirKind, Look};

use backtrack::{Backtracker, MatchFailure};
use hashline_base::cancel::{Cancel, PIECE_BYTES};
use hashline_base::error::{Code, Error, Result};
use hashline_lines::anchor::quote;
use hashline_lines::lines::{Lines, Span, Unit, line_around};
use line::LineSearch;
use literal::Literal;
use watch::{Stop, Watch};

/// Longer searches are refused: what some patterns become takes thousands of times their room.
pub const SEARCH_LIMIT_BYTES: usize = 32 << 10;

/// How many classes with large tables a pattern can have: `\pL`, `\w` and their like, and ranges
/// that end outside ASCII. Each can take a millisecond and more.
pub const CLASSES_LIMIT: usize = 100;

/// Room for the plain automaton of a pattern, which is made first. To make it and the faster ones
/// takes about 0.1 s each then, and cannot be stopped.
const AUTOMATON_LIMIT_BYTES: usize = 6 << 20;

/// Room for each of the faster automata that are made of the same pattern.
const FAST_AUTOMATON_LIMIT_BYTES: usize = 10 << 20;

/// Room for the states that are made while it runs.
const CACHE_BYTES: usize = 2 << 20;

/// States times bytes that an engine is left alone with: it may need as many steps, about 50 ms.
const UNWATCHED_STEPS: usize = 1 << 22;

/// How much is looked at before it is told. Pieces end with a line: they can be shorter than
/// `PIECE_BYTES`.
const TELL_BYTES: usize = PIECE_BYTES / 2;

/// A search as the caller wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The text or regular expression.
    pub search: String,
    /// Whether `search` is a regular expression.
    pub regex: bool,
    /// Whether letters match only their own case.
    pub case_sensitive: bool,
}

impl Query {
    /// A text as it stands.
    pub fn text(search: impl Into<String>) -> Query {
        Query { search: search.into(), ..Query::default() }
    }

    /// A regular expression.
    pub fn regex(search: impl Into<String>) -> Query {
        Query { regex: true, ..Query::text(search) }
    }
}

impl<S: Into<String>> From<S> for Query {
    fn from(search: S) -> Query {
        Query::text(search)
    }
}

/// A compiled search.
#[derive(Debug)]
pub struct Pattern {
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    /// A text as it stands: linear time, whatever its length.
    Literal(Box<Literal>),
    /// Finite automata: linear time.
    Automaton(Box<Automaton>),
    /// Look-around and back-references: bounded backtracking, line by line.
    Backtracking(Backtracker),
}

#[derive(Debug)]
struct Automaton {
    regex: meta::Regex,
    /// What the same pattern is without optimizations.
    nfa: NFA,
    /// How much is searched at once.
    piece_bytes: usize,
    /// It has no assertion that differs between a line alone and the line in its text.
    spans_lines: bool,
    /// It asserts the end of a line, which in a whole text is not seen before `\r\n`.
    asserts_line_end: bool,
}

impl Engine {
    /// How much is searched at once where lines need not be looked at alone.
    fn piece_bytes(&self) -> usize {
        match self {
            Engine::Literal(literal) => literal.piece_bytes,
            Engine::Automaton(automaton) => automaton.piece_bytes,
            Engine::Backtracking(_) => 0,
        }
    }

    fn asserts_line_end(&self) -> bool {
        matches!(self, Engine::Automaton(automaton) if automaton.asserts_line_end)
    }

    /// The first match in a text of whole lines, from the byte `from` on.
    fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        match self {
            Engine::Literal(literal) => literal.find(text, from),
            Engine::Automaton(automaton) => {
                automaton.regex.find(Input::new(text).range(from..)).map(|found| found.range())
            }
            Engine::Backtracking(_) => None,
        }
    }
}

impl Pattern {
    /// Compiles a query.
    pub fn new(query: &Query, cancel: &Cancel) -> Result<Pattern> {
        if query.search.is_empty() {
            return Err(Error::argument("search is empty: give a text or pattern to look for"));
        }
        check_size(query)?;
        if !query.regex {
            if query.search.contains('\n') {
                return Err(spans_lines());
            }
            return automaton(&regex_syntax::escape(&query.search), query.case_sensitive, cancel);
        }
        automaton(&query.search, query.case_sensitive, cancel)
    }

    /// The lines of UTF-8 `text` in which the pattern occurs, from the line that starts at
    /// byte `from` on.
    ///
    /// The whole text is searched at once where a match within a line's own text exists
    /// exactly when the whole text has one starting in that line. Without assertions about
    /// the text's ends that holds in one direction: what matches in the line alone matches in
    /// the text. The other direction (a match that runs on over the terminator) is checked on
    /// the line itself. All that holds of any text of whole lines; so it is done piece by piece,
    /// with looks at the flag between them.
    pub fn matching_lines<'a>(
        &'a self,
        text: &'a [u8],
        from: usize,
        cancel: &'a Cancel,
    ) -> MatchingLines<'a> {
        let whole = match &self.engine {
            Engine::Literal(_) => true,
            Engine::Automaton(automaton) => automaton.spans_lines,
            Engine::Backtracking(_) => false,
        };
        let watch = Watch::new(cancel);
        MatchingLines {
            pattern: self,
            text,
            at: from,
            piece_end: from,
            whole,
            watch,
            long_lines: None,
            found: None,
            passed: &|_| {},
            passed_at: from,
        }
    }
}

/// Iterates over the lines that match; see [`Pattern::matching_lines`].
pub struct MatchingLines<'a> {
    pattern: &'a Pattern,
    text: &'a [u8],
    at: usize,
    /// How far the text is searched at once.
    piece_end: usize,
    whole: bool,
    watch: Watch<'a>,
    long_lines: Option<LineSearch<'a>>,
    /// Where in the last line the match is, if that is known already.
    found: Option<Range<usize>>,
    /// Told how much was looked at.
    passed: &'a dyn Fn(usize),
    /// Up to where it was told.
    passed_at: usize,
}

/// A line that may match.
struct CandidateLine {
    line: Span,
    found: MatchExtent,
}

/// What is known of a line that may match.
#[derive(Clone, PartialEq, Eq)]
enum MatchExtent {
    /// A match begins and ends in it, there.
    Inside(Range<usize>),
    /// A match begins in it and ends below.
    RunsOver,
    /// Nothing.
    Nothing,
}

impl<'a> MatchingLines<'a> {
    /// Says now and then how many bytes more were looked at.
    pub fn telling(mut self, passed: &'a dyn Fn(usize)) -> MatchingLines<'a> {
        self.passed = passed;
        self
    }

    fn pass(&mut self) {
        let bytes = self.at - self.passed_at;
        if bytes >= TELL_BYTES {
            (self.passed)(bytes);
            self.passed_at = self.at;
        }
    }

    /// The next line that may match: in a piece of text the one where the next match starts.
    fn candidate(&mut self) -> Result<Option<CandidateLine>> {
        while self.whole && self.at < self.text.len() {
            if self.at == self.piece_end && !self.begin_piece()? {
                break;
            }
            if let Some(found) = self.find_in_piece() {
                return Ok(Some(found));
            }
            self.at = self.piece_end;
        }
        let line = Lines::starting_at(self.text, Unit::Byte, self.at).next();
        Ok(line.map(|line| CandidateLine { line, found: MatchExtent::Nothing }))
    }

    /// Goes on with as many whole lines as fit into a piece; false when not one does, or when
    /// they are to be looked at alone.
    fn begin_piece(&mut self) -> Result<bool> {
        self.pass();
        let engine = &self.pattern.engine;
        let limit = self.text.len().min(self.at.saturating_add(engine.piece_bytes()));
        let end = if limit == self.text.len() {
            limit
        } else {
            memchr::memrchr(b'\n', &self.text[self.at..limit])
                .map_or(self.at, |newline| self.at + newline + 1)
        };
        self.piece_end = end;
        self.watch.begin(end - self.at).map_err(|stop| stopped(stop, end - self.at))?;
        let piece = &self.text[self.at..end];
        // From here on every line is looked at alone.
        self.whole = !(engine.asserts_line_end() && memchr::memchr(b'\r', piece).is_some());
        Ok(self.whole && !piece.is_empty())
    }

    fn find_in_piece(&self) -> Option<CandidateLine> {
        let piece = &self.text[..self.piece_end];
        let found = self.pattern.engine.find(piece, self.at)?;
        if found.start == piece.len() && piece.ends_with(b"\n") {
            return None;
        }
        let line = line_around(self.text, found.start);
        let found = if found.end <= line.text_end {
            MatchExtent::Inside(found.start - line.start..found.end - line.start)
        } else {
            MatchExtent::RunsOver
        };
        Some(CandidateLine { line, found })
    }

    /// Where in the line that came last the first match is; of a line that is too long for the
    /// engine that says so, where the match ends that ends first.
    pub fn place(&mut self, line: Span) -> Result<Option<Range<usize>>> {
        match self.found.clone() {
            Some(found) => Ok(Some(found)),
            None => self.find_in_line(line.text(self.text)),
        }
    }

    fn matches_line(&mut self, line: &'a [u8]) -> Result<bool> {
        match &self.pattern.engine {
            // To know where the match begins takes longer.
            Engine::Automaton(automaton) if line.len() <= automaton.piece_bytes => {
                self.watch.begin(line.len()).map_err(|stop| stopped(stop, line.len()))?;
                Ok(automaton.regex.is_match(line))
            }
            _ => Ok(self.find_in_line(line)?.is_some()),
        }
    }

    fn find_in_line(&mut self, line: &'a [u8]) -> Result<Option<Range<usize>>> {
        let stopped = |stop| stopped(stop, line.len());
        self.watch.begin(line.len()).map_err(stopped)?;
        let pattern = self.pattern;
        match &pattern.engine {
            Engine::Literal(literal) => literal.find_in(line, &self.watch).map_err(stopped),
            Engine::Automaton(automaton) if line.len() <= automaton.piece_bytes => {
                Ok(automaton.regex.find(line).map(|found| found.range()))
            }
            Engine::Automaton(automaton) => {
                let search = self.long_lines.get_or_insert_with(|| LineSearch::new(&automaton.nfa));
                let end = search.end_of_match(line, &self.watch).map_err(stopped)?;
                Ok(end.map(|end| end..end))
            }
            Engine::Backtracking(backtracker) => {
                let text: Cow<'_, str> = String::from_utf8_lossy(line);
                backtracker.find(&text, &self.watch).map_err(|failed| match failed {
                    MatchFailure::Stopped(stop) => stopped(stop),
                    MatchFailure::GaveUp(cause) => Error::new(
                        Code::InvalidPattern,
                        format!("the pattern gave up on a line of {} bytes: {cause}", line.len()),
                    ),
                })
            }
        }
    }
}

impl Iterator for MatchingLines<'_> {
    type Item = Result<Span>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.text.len() {
            self.pass();
            let matched = match self.candidate() {
                Ok(None) => return None,
                Ok(Some(CandidateLine { line, found })) => {
                    self.at = line.end;
                    // Behind a line that is longer than a piece, the next piece begins.
                    self.piece_end = self.piece_end.max(line.end);
                    self.found = None;
                    if let MatchExtent::Inside(found) = found {
                        self.found = Some(found);
                        return Some(Ok(line));
                    }
                    // A match that runs over the end of its line can run far, and again from each
                    // of the lines below: from here on every line is looked at alone.
                    self.whole &= found != MatchExtent::RunsOver;
                    let text = line.text(self.text);
                    self.matches_line(text).map(|matches| matches.then_some(line))
                }
                Err(error) => Err(error),
            };
            match matched {
                Ok(None) => {}
                Ok(Some(line)) => return Some(Ok(line)),
                Err(error) => {
                    self.at = self.text.len();
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

fn stopped(stop: Stop, bytes: usize) -> Error {
    match stop {
        Stop::Cancelled => Error::new(Code::Aborted, "the call was aborted"),
        Stop::Exhausted => Error::new(
            Code::InvalidPattern,
            format!(
                "the pattern gave up on a line of {bytes} bytes: it takes too many steps; make it simpler"
            ),
        ),
    }
}

/// Refuses what would take long to compile, before anything is made of it.
fn check_size(query: &Query) -> Result<()> {
    let refusal = |what: String| Err(Error::new(Code::InvalidPattern, what));
    let size_bytes = query.search.len();
    if size_bytes > SEARCH_LIMIT_BYTES {
        return refusal(format!(
            "search has {size_bytes} bytes: at most {SEARCH_LIMIT_BYTES} are taken"
        ));
    }
    if !query.regex {
        return Ok(());
    }
    let classes = large_classes(query.search.as_bytes());
    if classes > CLASSES_LIMIT {
        return refusal(format!(
            "the pattern has {classes} large classes like \\pL or \\w: at most {CLASSES_LIMIT} are taken"
        ));
    }
    Ok(())
}

/// How many large classes there are at the most: a `-` need not be that of a range.
fn large_classes(pattern: &[u8]) -> usize {
    let mut classes = 0;
    let mut rest = pattern;
    while let [byte, after @ ..] = rest {
        rest = after;
        match (byte, after) {
            (b'\\', [escaped, after @ ..]) => {
                classes += usize::from(matches!(escaped, b'p' | b'P' | b'w' | b'W'));
                rest = after;
            }
            (b'-', [b'\\' | 0x80.., ..]) => classes += 1,
            _ => {}
        }
    }
    classes
}

fn automaton(pattern: &str, case_sensitive: bool, cancel: &Cancel) -> Result<Pattern> {
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
    if let HirKind::Literal(literal) = hir.kind() {
        return Ok(Pattern { engine: Engine::Literal(Box::new(Literal::new(&literal.0))) });
    }
    let too_large = |limit_bytes: usize| {
        let message = format!(
            "the pattern {} is too large: it takes more than {limit_bytes} bytes; repeat less in it",
            quote(pattern)
        );
        Error::new(Code::InvalidPattern, message)
    };
    let config = NFA::config()
        .utf8(false)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(AUTOMATON_LIMIT_BYTES));
    let nfa = NFA::compiler()
        .configure(config)
        .build_from_hir(&hir)
        .map_err(|_| too_large(AUTOMATON_LIMIT_BYTES))?;
    cancel.check()?;
    let config = meta::Config::new()
        .utf8_empty(false)
        .which_captures(WhichCaptures::Implicit)
        .nfa_size_limit(Some(FAST_AUTOMATON_LIMIT_BYTES))
        .hybrid_cache_capacity(CACHE_BYTES);
    let regex = meta::Builder::new()
        .configure(config)
        .build_from_hir(&hir)
        .map_err(|_| too_large(FAST_AUTOMATON_LIMIT_BYTES))?;
    let looks = hir.properties().look_set();
    let absolute = [Look::Start, Look::End, Look::StartCRLF, Look::EndCRLF];
    let engine = Automaton {
        regex,
        piece_bytes: (UNWATCHED_STEPS / nfa.states().len().max(1)).min(PIECE_BYTES),
        nfa,
        spans_lines: !absolute.iter().any(|&look| looks.contains(look)),
        asserts_line_end: looks.contains(Look::EndLF),
    };
    Ok(Pattern { engine: Engine::Automaton(Box::new(engine)) })
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
    Backtracker::new(pattern, case_sensitive)
        .map(|engine| Pattern { engine: Engine::Backtracking(engine) })
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

    fn compiled(query: &Query) -> Result<Pattern> {
        Pattern::new(query, &Cancel::default())
    }

    #[test]
    fn a_search_says_how_far_it_has_looked() {
        let lines = PIECE_BYTES / 2;
        let text = "a line\n".repeat(lines);
        // In pieces, line by line, and with a match in each line.
        for (search, found) in [("nothing", 0), ("^nothing$", 0), ("(?!b)no", 0), ("line", lines)] {
            let pattern = compiled(&query(search, true, true)).unwrap();
            let told = std::cell::Cell::new(0);
            let tell = |bytes| told.set(told.get() + bytes);
            let cancel = Cancel::default();
            let lines = pattern.matching_lines(text.as_bytes(), 0, &cancel).telling(&tell);
            assert_eq!(lines.map(Result::unwrap).count(), found, "{search}");
            let left = text.len() - told.get();
            assert!(left <= PIECE_BYTES + TELL_BYTES, "{search}: {left}");
        }
    }

    fn matches(search: &str, text: &str) -> Vec<String> {
        let pattern = compiled(&query(search, true, true)).unwrap();
        let cancel = Cancel::default();
        let lines = pattern.matching_lines(text.as_bytes(), 0, &cancel);
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
        let pattern = compiled(&query("É(", false, false)).unwrap();
        assert_eq!(pattern.matching_lines("é(\nÉ\n".as_bytes(), 0, &Cancel::default()).count(), 1);
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
            let error = compiled(&query(search, true, true)).unwrap_err();
            assert_eq!(error.code, Code::InvalidPattern, "{search}");
            assert!(error.message.contains(part), "{search}: {}", error.message);
        }
        assert_eq!(compiled(&query("a\nb", false, true)).unwrap_err().code, Code::InvalidPattern);
        assert_eq!(compiled(&query("", true, true)).unwrap_err().code, Code::InvalidArgument);
    }

    #[test]
    fn regression_a_large_class_that_repeats_is_refused_early_and_looked_at_between() {
        let large = |times| query(&format!(r"\p{{L}}{{1,{times}}}9"), true, true);
        assert!(compiled(&large(200)).is_ok());
        let error = compiled(&large(1000)).unwrap_err();
        assert_eq!(error.code, Code::InvalidPattern);
        assert!(error.message.contains("more than 6291456 bytes"), "{}", error.message);
        let error = Pattern::new(&large(9), &Cancel::at_check(1)).unwrap_err();
        assert_eq!(error.code, Code::Aborted);
    }

    #[test]
    fn backtracking_has_a_limit() {
        let pattern = compiled(&query(r"(?:(a|b|ab)(?!z))*c\1", true, true)).unwrap();
        let text = "ab".repeat(60);
        let found: Vec<_> =
            pattern.matching_lines(text.as_bytes(), 0, &Cancel::default()).collect();
        assert_eq!(found[0].as_ref().unwrap_err().code, Code::InvalidPattern);
        assert_eq!(found.len(), 1);
    }

    proptest! {
        #[test]
        fn whole_text_agrees_with_line_by_line(
            text in "([abé \r]{0,4}\n?){0,12}",
            piece_bytes in prop::option::of(0_usize..12),
            source in prop::sample::select(vec![
                "a", "ba", "b \r", "ab|b", "^a", "a$", "^$", r"\s", r"\s+b", r"a[^b]", r"\bb", r"b\b", "a*",
                r"(?s)a.b", r"a\s*b", r"\Aa", r"b\z", r"(?m)^ *b", r"[^a]$", "(?i)A b", r"\r",
            ]),
        ) {
            let mut pattern = compiled(&query(source, true, true)).unwrap();
            if let Some(bytes) = piece_bytes {
                match &mut pattern.engine {
                    Engine::Literal(literal) => literal.piece_bytes = bytes,
                    Engine::Automaton(automaton) => automaton.piece_bytes = bytes,
                    Engine::Backtracking(_) => {}
                }
            }
            let cancel = Cancel::default();
            let fast: Vec<_> =
                pattern.matching_lines(text.as_bytes(), 0, &cancel).map(Result::unwrap).collect();
            let alone = regex::bytes::RegexBuilder::new(source).multi_line(true).build().unwrap();
            let naive: Vec<_> = Lines::new(text.as_bytes(), Unit::Byte)
                .filter(|line| alone.is_match(line.text(text.as_bytes())))
                .collect();
            prop_assert_eq!(fast, naive);
        }
    }
}
