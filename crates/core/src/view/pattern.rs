//! The pattern of a search, and the lines that match it.
//!
//! A match is within the text of one line; it never includes a line terminator. Most patterns are
//! nevertheless matched against many lines at once, which is many times faster than a call per line
//! ([`Pattern::matching_lines`] explains why the result is the same).

mod backtrack;
mod budget;
mod line;
mod literal;
mod readings;

use std::borrow::Cow;
use std::ops::Range;

use regex_automata::Input;
use regex_automata::meta;
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_syntax::hir::{Hir, HirKind, Look};

use backtrack::{Backtracker, MatchFailure};
use budget::{StepBudget, Stop};
use hashline_base::cancel::{Cancel, PIECE_BYTES};
use hashline_base::error::{Code, Error, Result};
use hashline_lines::anchor::quote;
use hashline_lines::lines::{Lines, Span, Unit, line_around};
use line::LineSearch;
use literal::Literal;

pub(crate) use readings::{Readings, is_likely_regex, readings};

/// The maximum length of a search. Compiled patterns can be thousands of times larger.
pub const SEARCH_LIMIT_BYTES: usize = 32 << 10;

/// The maximum number of classes with large tables: `\pL`, `\w` and the like, and ranges that end
/// outside ASCII. Compiling one can take a millisecond or more.
pub const CLASSES_LIMIT: usize = 100;

/// The size limit of the NFA, which is built first. Building an NFA of that size, and the faster
/// automata from it, takes about 0.1 s each and cannot be cancelled.
const AUTOMATON_LIMIT_BYTES: usize = 6 << 20;

/// The size limit of each of the faster automata built from the same pattern.
const FAST_AUTOMATON_LIMIT_BYTES: usize = 10 << 20;

/// The cache size for states built during a search.
const CACHE_BYTES: usize = 2 << 20;

/// States times bytes for a search that is not cancellable: about 50 ms if every state is visited.
const UNCHECKED_STEPS: usize = 1 << 22;

/// Bytes between two progress reports. Pieces end with a line, so they can be shorter than
/// `PIECE_BYTES`.
const PROGRESS_BYTES: usize = PIECE_BYTES / 2;

/// A search, as given by the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The text or regular expression.
    pub search: String,
    /// Whether `search` is a regular expression.
    pub regex: bool,
    /// Whether the case of letters must match.
    pub case_sensitive: bool,
    /// Whether a match must be a whole word: no word character is next to it.
    pub whole_word: bool,
}

impl Query {
    /// Searches for literal text.
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
    /// Literal text, in time linear in the text.
    Literal(Box<Literal>),
    /// Finite automata, in time linear in the text.
    Automaton(Box<Automaton>),
    /// Look-around and back-references, by bounded backtracking on each line.
    Backtracking(Backtracker),
}

#[derive(Debug)]
struct Automaton {
    regex: meta::Regex,
    /// The NFA without optimizations.
    nfa: NFA,
    /// How many bytes one search covers.
    piece_bytes: usize,
    /// No assertion depends on whether a line is matched alone or in its text.
    spans_lines: bool,
    /// The pattern asserts the end of a line; on a whole text, such an assertion fails before
    /// `\r\n`.
    asserts_line_end: bool,
}

impl Engine {
    /// How many bytes one search covers when lines are not matched one by one.
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

    /// The first match at or after `from`, in a text of whole lines.
    fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        match self {
            Engine::Literal(literal) => literal.find(text, from),
            Engine::Automaton(automaton) => {
                automaton.regex.find(Input::new(text).range(from..)).map(|matched| matched.range())
            }
            Engine::Backtracking(_) => None,
        }
    }
}

impl Pattern {
    /// Compiles a query.
    pub fn new(query: &Query, cancel: &Cancel) -> Result<Pattern> {
        if query.search.is_empty() {
            return Err(Error::argument("search is empty: give a text or pattern"));
        }
        check_size(query)?;
        if !query.regex && query.search.contains('\n') {
            return Err(spans_lines());
        }
        let source = match query.regex {
            true => Cow::from(&query.search),
            false => regex_syntax::escape(&query.search).into(),
        };
        let pattern = automaton(&source, query.case_sensitive, cancel)?;
        if !query.whole_word {
            return Ok(pattern);
        }
        // The pattern is valid alone, so an unpaired bracket cannot end the group.
        let word = format!(r"\b{{start-half}}(?:{source})\b{{end-half}}");
        automaton(&word, query.case_sensitive, cancel)
    }

    /// All matches in a line of UTF-8 that was shown; none if the line is too long for one search,
    /// or takes too many steps.
    pub fn matches_in(&self, line: &str) -> Vec<Range<usize>> {
        let cancel = Cancel::default();
        let budget = StepBudget::new(&cancel);
        if budget.begin(line.len()).is_err() {
            return Vec::new();
        }
        let find = |from: usize| match &self.engine {
            Engine::Backtracking(backtracker) => backtracker.find(line, from, &budget).ok()?,
            engine if line.len() <= engine.piece_bytes() => engine.find(line.as_bytes(), from),
            _ => None,
        };
        let mut matches = Vec::new();
        let mut from = 0;
        while let Some(found) = (from <= line.len()).then(|| find(from)).flatten() {
            // An empty match must not be found again.
            let after = found.end.max(found.start + 1);
            from = (after..line.len()).find(|&at| line.is_char_boundary(at)).unwrap_or(after);
            matches.extend((!found.is_empty()).then_some(found));
        }
        matches
    }

    /// Iterates over the matching lines of UTF-8 `text`, from the line that starts at byte `from`.
    ///
    /// Many lines are matched at once if that finds the same lines as matching each line alone.
    /// Without assertions about the start and end of the text, a match in a line alone is also a
    /// match in the text. The converse does not hold for a match that extends past the line
    /// terminator, so such a line is checked alone. This holds for any text of whole lines;
    /// therefore the text is searched in pieces, with a check of the cancellation flag between
    /// them.
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
        let budget = StepBudget::new(cancel);
        MatchingLines {
            pattern: self,
            text,
            at: from,
            piece_end: from,
            whole,
            budget,
            long_lines: None,
            matched: None,
            progress: &|_| {},
            reported_at: from,
        }
    }
}

/// Iterates over the lines that match; see [`Pattern::matching_lines`].
pub struct MatchingLines<'a> {
    pattern: &'a Pattern,
    text: &'a [u8],
    at: usize,
    /// The end of the current piece.
    piece_end: usize,
    whole: bool,
    budget: StepBudget<'a>,
    long_lines: Option<LineSearch<'a>>,
    /// The match in the last line, if it is known already.
    matched: Option<Range<usize>>,
    /// The progress callback; receives a number of bytes.
    progress: &'a dyn Fn(usize),
    /// The offset of the last progress report.
    reported_at: usize,
}

/// A line that may match.
struct CandidateLine {
    line: Span,
    matched: MatchExtent,
}

/// The extent of a match that starts in a line.
#[derive(Clone, PartialEq, Eq)]
enum MatchExtent {
    /// It ends in the line.
    Inside(Range<usize>),
    /// It extends past the line terminator.
    RunsOver,
    /// Not known.
    Nothing,
}

impl<'a> MatchingLines<'a> {
    /// Calls `progress` periodically with the number of bytes searched since the last call.
    pub fn with_progress(mut self, progress: &'a dyn Fn(usize)) -> MatchingLines<'a> {
        self.progress = progress;
        self
    }

    fn report_progress(&mut self) {
        let bytes = self.at - self.reported_at;
        if bytes >= PROGRESS_BYTES {
            (self.progress)(bytes);
            self.reported_at = self.at;
        }
    }

    /// The next line that may match: the line with the next match in the piece, or simply the next
    /// line.
    fn candidate(&mut self) -> Result<Option<CandidateLine>> {
        while self.whole && self.at < self.text.len() {
            if self.at == self.piece_end && !self.begin_piece()? {
                break;
            }
            if let Some(matched) = self.find_in_piece() {
                return Ok(Some(matched));
            }
            self.at = self.piece_end;
        }
        let line = Lines::starting_at(self.text, Unit::Byte, self.at).next();
        Ok(line.map(|line| CandidateLine { line, matched: MatchExtent::Nothing }))
    }

    /// Starts the next piece, of as many whole lines as fit. Returns false if not one line fits, or
    /// if lines must be matched one by one.
    fn begin_piece(&mut self) -> Result<bool> {
        self.report_progress();
        let engine = &self.pattern.engine;
        let limit = self.text.len().min(self.at.saturating_add(engine.piece_bytes()));
        let end = if limit == self.text.len() {
            limit
        } else {
            memchr::memrchr(b'\n', &self.text[self.at..limit])
                .map_or(self.at, |newline| self.at + newline + 1)
        };
        self.piece_end = end;
        self.budget.begin(end - self.at).map_err(|stop| stopped(stop, end - self.at))?;
        let piece = &self.text[self.at..end];
        // If false, all further lines are matched one by one.
        self.whole = !(engine.asserts_line_end() && memchr::memchr(b'\r', piece).is_some());
        Ok(self.whole && !piece.is_empty())
    }

    fn find_in_piece(&self) -> Option<CandidateLine> {
        let piece = &self.text[..self.piece_end];
        let matched = self.pattern.engine.find(piece, self.at)?;
        if matched.start == piece.len() && piece.ends_with(b"\n") {
            return None;
        }
        let line = line_around(self.text, matched.start);
        let matched = if matched.end <= line.text_end {
            MatchExtent::Inside(matched.start - line.start..matched.end - line.start)
        } else {
            MatchExtent::RunsOver
        };
        Some(CandidateLine { line, matched })
    }

    /// The first match in the line that the iterator returned last. If the line is too long for the
    /// engine that finds the start of a match, returns an empty range: the end of the match that
    /// ends first.
    pub fn match_range(&mut self, line: Span) -> Result<Option<Range<usize>>> {
        match self.matched.clone() {
            Some(matched) => Ok(Some(matched)),
            None => self.find_in_line(line.text(self.text)),
        }
    }

    fn matches_line(&mut self, line: &'a [u8]) -> Result<bool> {
        match &self.pattern.engine {
            // `is_match` is faster than finding the start of the match.
            Engine::Automaton(automaton) if line.len() <= automaton.piece_bytes => {
                self.budget.begin(line.len()).map_err(|stop| stopped(stop, line.len()))?;
                Ok(automaton.regex.is_match(line))
            }
            _ => Ok(self.find_in_line(line)?.is_some()),
        }
    }

    fn find_in_line(&mut self, line: &'a [u8]) -> Result<Option<Range<usize>>> {
        let stopped = |stop| stopped(stop, line.len());
        self.budget.begin(line.len()).map_err(stopped)?;
        let pattern = self.pattern;
        match &pattern.engine {
            Engine::Literal(literal) => literal.find_in(line, &self.budget).map_err(stopped),
            Engine::Automaton(automaton) if line.len() <= automaton.piece_bytes => {
                Ok(automaton.regex.find(line).map(|matched| matched.range()))
            }
            Engine::Automaton(automaton) => {
                let search = self.long_lines.get_or_insert_with(|| LineSearch::new(&automaton.nfa));
                let end = search.end_of_match(line, &self.budget).map_err(stopped)?;
                Ok(end.map(|end| end..end))
            }
            Engine::Backtracking(backtracker) => {
                let text: Cow<'_, str> = String::from_utf8_lossy(line);
                backtracker.find(&text, 0, &self.budget).map_err(|failed| match failed {
                    MatchFailure::Stopped(stop) => stopped(stop),
                    MatchFailure::LimitReached(cause) => Error::new(
                        Code::InvalidPattern,
                        format!("the pattern failed on a line of {} bytes: {cause}", line.len()),
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
            self.report_progress();
            let matched = match self.candidate() {
                Ok(None) => return None,
                Ok(Some(CandidateLine { line, matched })) => {
                    self.at = line.end;
                    // After a line longer than a piece, the next piece starts at its end.
                    self.piece_end = self.piece_end.max(line.end);
                    self.matched = None;
                    if let MatchExtent::Inside(matched) = matched {
                        self.matched = Some(matched);
                        return Some(Ok(line));
                    }
                    // A match that extends past its line can be long, and the following lines may
                    // each start another one. So further lines are matched one by one.
                    self.whole &= matched != MatchExtent::RunsOver;
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
            format!("the pattern takes too many steps on a line of {bytes} bytes: simplify it"),
        ),
    }
}

/// Refuses a pattern that would take too long to compile.
fn check_size(query: &Query) -> Result<()> {
    let refusal = |what: String| Err(Error::new(Code::InvalidPattern, what));
    let size_bytes = query.search.len();
    if size_bytes > SEARCH_LIMIT_BYTES {
        return refusal(format!(
            "search has {size_bytes} bytes: the limit is {SEARCH_LIMIT_BYTES}"
        ));
    }
    if !query.regex {
        return Ok(());
    }
    let classes = large_classes(query.search.as_bytes());
    if classes > CLASSES_LIMIT {
        return refusal(format!(
            "the pattern has {classes} large classes such as \\pL or \\w: the limit is {CLASSES_LIMIT}"
        ));
    }
    Ok(())
}

/// An upper bound of the number of large classes; a `-` is not always part of a range.
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
        piece_bytes: (UNCHECKED_STEPS / nfa.states().len().max(1)).min(PIECE_BYTES),
        nfa,
        spans_lines: !absolute.iter().any(|&look| looks.contains(look)),
        asserts_line_end: looks.contains(Look::EndLF),
    };
    Ok(Pattern { engine: Engine::Automaton(Box::new(engine)) })
}

/// The fallback engine, for patterns that the first one does not support; `cause` is the error of
/// the first.
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
    let first_error = || invalid(pattern, at, &reason);
    if !unsupported {
        return Err(first_error());
    }
    Backtracker::new(pattern, case_sensitive)
        .map(|engine| Pattern { engine: Engine::Backtracking(engine) })
        .map_err(|cause| match cause {
            fancy_regex::Error::ParseError(at, kind) => invalid(pattern, at, &kind.to_string()),
            _ => first_error(),
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
        "the pattern contains a newline, but a match is within one line: search for one line at a time",
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
        Query { search: search.into(), regex, case_sensitive, ..Query::default() }
    }

    fn compiled(query: &Query) -> Result<Pattern> {
        Pattern::new(query, &Cancel::default())
    }

    #[test]
    fn a_search_reports_its_progress() {
        let lines = PIECE_BYTES / 2;
        let text = "a line\n".repeat(lines);
        // In pieces, line by line, and with a match in each line.
        for (search, matched) in [("nothing", 0), ("^nothing$", 0), ("(?!b)no", 0), ("line", lines)]
        {
            let pattern = compiled(&query(search, true, true)).unwrap();
            let told = std::cell::Cell::new(0);
            let progress = |bytes| told.set(told.get() + bytes);
            let cancel = Cancel::default();
            let lines =
                pattern.matching_lines(text.as_bytes(), 0, &cancel).with_progress(&progress);
            assert_eq!(lines.map(Result::unwrap).count(), matched, "{search}");
            let left = text.len() - told.get();
            assert!(left <= PIECE_BYTES + PROGRESS_BYTES, "{search}: {left}");
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
            (r"a\n", "newline"),
        ] {
            let error = compiled(&query(search, true, true)).unwrap_err();
            assert_eq!(error.code, Code::InvalidPattern, "{search}");
            assert!(error.message.contains(part), "{search}: {}", error.message);
        }
        assert_eq!(compiled(&query("a\nb", false, true)).unwrap_err().code, Code::InvalidPattern);
        assert_eq!(compiled(&query("", true, true)).unwrap_err().code, Code::InvalidArgument);
    }

    #[test]
    fn regression_a_repeated_large_class_is_refused_early_and_checks_cancellation() {
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
        let matched: Vec<_> =
            pattern.matching_lines(text.as_bytes(), 0, &Cancel::default()).collect();
        assert_eq!(matched[0].as_ref().unwrap_err().code, Code::InvalidPattern);
        assert_eq!(matched.len(), 1);
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
