//! Why a pattern has no match: its meaning, and how many lines match if it is read in another way.

use serde::Serialize;

use super::files::{FileList, ListedFile};
use super::load_of;
use crate::view::pattern::{Pattern, Query, readings};
use crate::view::scope::Scope;
use hashline_base::error::{Code, Result};
use hashline_base::parallel;
use hashline_disk::bytes::{LoadOptions, Loaded, with_file};

/// Files that are searched between two checks of the cancellation flag.
const BATCH_FILES: usize = 1024;

/// The other readings of a pattern that matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PatternExplanation {
    /// What the pattern means.
    pub meaning: String,
    /// The lines that contain the pattern as literal text.
    pub literal_matches: u64,
    /// The pattern as `grep` reads it, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grep_pattern: Option<String>,
    /// The lines that match it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grep_matches: Option<u64>,
}

impl PatternExplanation {
    /// Adds the matches in another directory.
    pub(crate) fn add(&mut self, more: &PatternExplanation) {
        self.literal_matches += more.literal_matches;
        if let (Some(matches), Some(more)) = (&mut self.grep_matches, more.grep_matches) {
            *matches += more;
        }
    }
}

/// Explains a query without matches, unless it has only one reading.
pub(super) fn explain(
    scope: &Scope<'_>,
    query: &Query,
    files: &FileList,
    load: &LoadOptions,
) -> Result<Option<PatternExplanation>> {
    if !query.regex {
        return Ok(None);
    }
    let Some(readings) = readings(&query.search) else { return Ok(None) };
    // A pattern of several lines has no literal reading.
    let literal = Pattern::new(&Query { regex: false, ..query.clone() }, scope.cancel);
    scope.cancel.check()?;
    let Ok(literal) = literal else { return Ok(None) };
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
        literal_matches: counts[0],
        grep_matches: counts.get(1).copied(),
        grep_pattern: grep.map(|(search, _)| search),
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
