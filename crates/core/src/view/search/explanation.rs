//! What a pattern means, if it may be meant in another way: because it has no match, is invalid,
//! has a word as a set of characters, or matches every line. The lines that match its other readings are counted.

use serde::Serialize;

use super::files::{FileList, ListedFile};
use super::notes::lines_noun;
use super::walk::walk;
use super::{SearchQuery, SearchResult, load_of, load_options};
use crate::view::pattern::{Pattern, Query, Readings, is_likely_regex, readings};
use crate::view::scope::Scope;
use hashline_base::error::{Code, Error, Message, Result, Term};
use hashline_base::parallel;
use hashline_disk::bytes::{LoadOptions, Loaded, with_file};

/// Files that are searched between two checks of the cancellation flag.
const BATCH_FILES: usize = 1024;

/// The files that a pattern without a match was searched in, to count its other readings.
#[derive(Debug)]
pub(crate) struct Unexplained {
    pub(super) files: FileList,
    pub(super) load: LoadOptions,
}

/// The other readings of a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PatternExplanation {
    /// What the pattern means.
    pub meaning: String,
    /// The lines that contain the pattern as literal text; counted only if the pattern has no match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub literal_matches: Option<u64>,
    /// The pattern as `grep` reads it, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grep_pattern: Option<String>,
    /// The lines that match it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grep_matches: Option<u64>,
    /// The lines that match a literal text as a regular expression, if it is rather one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex_matches: Option<u64>,
}

impl PatternExplanation {
    /// Adds the matches in another directory.
    pub(crate) fn add(&mut self, more: &PatternExplanation) {
        let counts = [
            (&mut self.literal_matches, more.literal_matches),
            (&mut self.grep_matches, more.grep_matches),
            (&mut self.regex_matches, more.regex_matches),
        ];
        for (matches, more) in counts {
            *matches = matches.zip(more).map(|(one, other)| one + other).or(*matches);
        }
    }
}

impl SearchResult {
    /// Explains the pattern if it has matches that are probably unwanted, as those of `[ERROR]`. The
    /// matches of that text are not counted: it would take longer than the search.
    pub(crate) fn explain_matches(&mut self, query: &SearchQuery) {
        let readings = readings_of(query).filter(|readings| readings.has_unwanted_matches);
        self.explanation = readings.filter(|_| self.has_results()).map(|readings| {
            PatternExplanation { meaning: readings.meaning, ..PatternExplanation::default() }
        });
    }

    /// Adds the explanation of a pattern without a match in these files.
    pub(crate) fn explain_no_match(
        &mut self,
        scope: &Scope<'_>,
        query: &SearchQuery,
        unexplained: &Unexplained,
    ) -> Result<()> {
        let Unexplained { files, load } = unexplained;
        let more = explain(scope, query, files, load)?;
        match (&mut self.explanation, more) {
            (Some(explanation), Some(more)) => explanation.add(&more),
            (explanation, more) => *explanation = explanation.take().or(more),
        }
        Ok(())
    }
}

/// The lines that contain an invalid pattern as literal text. `None` if the error is about another
/// thing, or the pattern has no literal reading.
pub(crate) fn literal_lines(
    scope: &Scope<'_>,
    query: &SearchQuery,
    error: &Error,
) -> Result<Option<u64>> {
    if error.code != Code::InvalidPattern || !query.search.regex {
        return Ok(None);
    }
    let Some(literal) = literal(scope, &query.search)? else { return Ok(None) };
    let files = walk(scope.fs, scope.base, query, scope.cancel)?.files;
    let counts = count_lines(scope, &[&literal], &files, &load_options(scope, query)?)?;
    Ok(counts.map(|counts| counts[0]))
}

/// The error of an invalid pattern, with the number of lines that contain it as literal text.
pub(crate) fn with_literal_lines(error: Error, lines: u64) -> Error {
    let note = Message::from(format!(". As literal text it matches {}", lines_noun(lines)));
    error.within("", if lines > 0 { note + ": " + Term::Literal } else { note })
}

fn readings_of(query: &SearchQuery) -> Option<Readings> {
    if query.search.regex { readings(&query.search.search) } else { None }
}

/// The pattern as literal text, unless it has several lines.
fn literal(scope: &Scope<'_>, query: &Query) -> Result<Option<Pattern>> {
    let literal = Pattern::new(&Query { regex: false, ..query.clone() }, scope.cancel);
    scope.cancel.check()?;
    Ok(literal.ok())
}

/// Explains a query without matches, unless it has only one reading.
fn explain(
    scope: &Scope<'_>,
    query: &SearchQuery,
    files: &FileList,
    load: &LoadOptions,
) -> Result<Option<PatternExplanation>> {
    if !query.search.regex {
        return explain_text(scope, &query.search, files, load);
    }
    let Some(readings) = readings_of(query) else { return Ok(None) };
    let query = &query.search;
    let Some(literal) = literal(scope, query)? else { return Ok(None) };
    let grep = readings.grep.and_then(|search| {
        let pattern =
            Pattern::new(&Query { search: search.clone(), ..query.clone() }, scope.cancel);
        Some((search, pattern.ok()?))
    });
    let patterns: Vec<&Pattern> =
        [Some(&literal), grep.as_ref().map(|(_, pattern)| pattern)].into_iter().flatten().collect();
    let Some(counts) = count_lines(scope, &patterns, files, load)? else { return Ok(None) };
    let is_worth_it = readings.is_likely || counts.iter().any(|&count| count > 0);
    Ok(is_worth_it.then(|| PatternExplanation {
        meaning: readings.meaning,
        literal_matches: Some(counts[0]),
        grep_matches: counts.get(1).copied(),
        grep_pattern: grep.map(|(search, _)| search),
        regex_matches: None,
    }))
}

/// Explains a literal text without matches, if lines match it as a regular expression.
fn explain_text(
    scope: &Scope<'_>,
    query: &Query,
    files: &FileList,
    load: &LoadOptions,
) -> Result<Option<PatternExplanation>> {
    if !is_likely_regex(&query.search) {
        return Ok(None);
    }
    let pattern = Pattern::new(&Query { regex: true, ..query.clone() }, scope.cancel);
    scope.cancel.check()?;
    let Ok(pattern) = pattern else { return Ok(None) };
    let counts = count_lines(scope, &[&pattern], files, load)?;
    let count = counts.map(|counts| counts[0]).filter(|&count| count > 0);
    Ok(count.map(|count| PatternExplanation {
        meaning: "the pattern is literal text".to_owned(),
        regex_matches: Some(count),
        ..PatternExplanation::default()
    }))
}

/// The lines in all files that match each pattern; `None` if a pattern exceeds its limit.
fn count_lines(
    scope: &Scope<'_>,
    patterns: &[&Pattern],
    files: &FileList,
    load: &LoadOptions,
) -> Result<Option<Vec<u64>>> {
    let mut counts = vec![0; patterns.len()];
    let count = |file: &ListedFile| count_in_file(scope, patterns, &files.shown(*file), load);
    for batch in files.files().chunks(BATCH_FILES) {
        scope.cancel.check()?;
        for in_file in parallel::map(batch, count) {
            let in_file = match in_file {
                Err(error) if error.code == Code::InvalidPattern => return Ok(None),
                // What cannot be searched is reported already.
                in_file => in_file.unwrap_or_default(),
            };
            for (total, count) in counts.iter_mut().zip(in_file) {
                *total += count;
            }
        }
    }
    scope.cancel.check()?;
    Ok(Some(counts))
}

fn count_in_file(
    scope: &Scope<'_>,
    patterns: &[&Pattern],
    path: &str,
    load: &LoadOptions,
) -> Result<Vec<u64>> {
    let load = load_of(scope, path, load);
    with_file(scope.fs, scope.base, path, &load, |loaded| {
        let Loaded::Text(document) = loaded else { return Ok(Vec::new()) };
        let text = document.text();
        let lines = |pattern: &&Pattern| {
            let mut matching = pattern.matching_lines(text, 0, scope.cancel);
            matching.try_fold(0, |count, line| line.map(|_| count + 1))
        };
        patterns.iter().map(lines).collect()
    })
}
