//! A search in all directories of a session: its root and the other read roots.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Session, canonical};
use crate::edit::resolve::AmbiguousLines;
use crate::edit::session::{ambiguous_to_show, shown_lines};
use crate::view::scope::Scope;
use crate::view::search::{
    FileMatches, FoundFiles, SearchQuery, SearchResult, literal_lines, search_hashed,
    with_literal_lines,
};
use crate::workspace::Workspace;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result};
use hashline_disk::bytes::Document;
use hashline_lines::dialect::Dialect;
use hashline_lines::rows::file_header;
use hashline_memory::{MemoryUpdate, Version};

impl Session {
    /// Searches the session's own workspace, then each read root for the paths in it. Also returns
    /// the memory updates.
    pub(super) fn search_all_roots(
        &self,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<(SearchResult, Vec<MemoryUpdate>)> {
        let kept = AtomicUsize::new(0);
        let search = |workspace: &Workspace<'static>, query: &SearchQuery| {
            workspace.scoped(cancel, |scope| {
                let version = |document: &Document| {
                    self.version_of(document, &kept).in_charset(document.own_charset())
                };
                let search = |query: &SearchQuery| {
                    let (result, texts, unexplained) =
                        search_hashed(scope, query, progress, None, version)?;
                    let found = result.files.iter().zip(texts);
                    let updates = found.map(|(file, text)| update_for(scope, file, text));
                    let updates = updates.collect::<Vec<_>>();
                    let ambiguous = self.ambiguous_in_files(&updates, cancel);
                    Ok((result, updates, ambiguous, unexplained))
                };
                let (mut result, mut updates, mut ambiguous, mut unexplained) = search(query)?;
                let size_bytes = ambiguous.iter().map(AmbiguousLines::size_bytes).sum::<usize>();
                let max_bytes = query.max_bytes.unwrap_or(usize::MAX);
                if size_bytes > 0 && result.text.len() + size_bytes > max_bytes {
                    let max_bytes = Some(max_bytes.saturating_sub(size_bytes).max(1));
                    (result, updates, ambiguous, unexplained) =
                        search(&SearchQuery { max_bytes, ..query.clone() })?;
                }
                if ambiguous.iter().any(|one| !one.is_empty()) {
                    result.text = with_versions(scope.dialect, &result, &ambiguous);
                    for (update, ambiguous) in updates.iter_mut().zip(&ambiguous) {
                        if let Some(MemoryUpdate::Shown { lines, .. }) = update {
                            lines.versioned = ambiguous.lines().clone();
                        }
                    }
                }
                Ok((result, updates.into_iter().flatten().collect::<Vec<_>>(), unexplained))
            })
        };
        let places = self.places(query);
        let (mut result, mut updates) = (SearchResult::default(), Vec::new());
        let mut without_match = Vec::new();
        for (at, (workspace, paths)) in places.iter().enumerate() {
            let used = result.text.len() + usize::from(!result.text.is_empty());
            let (skip, max_files) = rest_of_list(query, &result);
            let rest = SearchQuery {
                paths: paths.clone(),
                skip,
                max_files,
                max_matches: query.max_matches.saturating_sub(result.match_count),
                max_bytes: query.max_bytes.map(|bytes| bytes.saturating_sub(used)),
                ..query.clone()
            };
            let (more, learned, unexplained) = match search(workspace, &rest) {
                Err(error) if at == 0 => return Err(self.explained(error, query, &places, cancel)?),
                found => found?,
            };
            append(&mut result, more, at == 0);
            updates.extend(learned);
            without_match.extend(unexplained.map(|unexplained| (*workspace, unexplained)));
            // If no room is left, the result is marked as truncated.
            if result.ran_out {
                break;
            }
        }
        result.explain_matches(query);
        if !result.has_results() && !result.truncated {
            for (workspace, unexplained) in without_match {
                workspace
                    .scoped(cancel, |scope| result.explain_no_match(scope, query, &unexplained))?;
            }
        }
        if let Some(list) = &mut result.list {
            let end = query.skip.saturating_add(list.files.len() as u64);
            list.next = (end < list.file_count).then_some(end);
            result.truncated |= list.next.is_some();
        }
        Ok((result, updates))
    }

    /// The workspaces that are searched, with the paths in them: without paths, the session's own.
    fn places(&self, query: &SearchQuery) -> Vec<(&Workspace<'static>, Vec<PathBuf>)> {
        if query.paths.is_empty() {
            return vec![(&self.workspace, Vec::new())];
        }
        let reader = |path: &PathBuf| (path.clone(), self.reader_of(&path.to_string_lossy()));
        let paths: Vec<_> = query.paths.iter().map(reader).collect();
        let own_paths = |workspace: &Workspace<'static>| -> Vec<PathBuf> {
            let own = paths.iter().filter(|(_, reader)| std::ptr::eq(*reader, workspace));
            own.map(|(path, _)| path.clone()).collect()
        };
        let places = self.readers().map(|workspace| (workspace, own_paths(workspace)));
        places.filter(|(_, paths)| !paths.is_empty()).collect()
    }

    /// The error of a search; that of an invalid pattern counts the lines that contain it as text.
    fn explained(
        &self,
        error: Error,
        query: &SearchQuery,
        places: &[(&Workspace<'static>, Vec<PathBuf>)],
        cancel: &Cancel,
    ) -> Result<Error> {
        let mut lines = 0;
        for (workspace, paths) in places {
            let query = SearchQuery { paths: paths.clone(), ..query.clone() };
            let count = |scope: &Scope<'_>| literal_lines(scope, &query, &error);
            match workspace.scoped(cancel, count)? {
                Some(more) => lines += more,
                None => return Ok(error),
            }
        }
        let spelling = self.options.workspace.host.spelling;
        Ok(with_literal_lines(error, lines).spelled(spelling))
    }

    /// For each file with matches, the lines whose rows must name the version.
    fn ambiguous_in_files(
        &self,
        updates: &[Option<MemoryUpdate>],
        cancel: &Cancel,
    ) -> Vec<AmbiguousLines> {
        let (memory, dialect) = (&self.state.memory, self.options.workspace.dialect);
        let of_update = |update| ambiguous_to_show(memory, dialect, update, cancel);
        updates.iter().map(|update| update.as_ref().map(of_update).unwrap_or_default()).collect()
    }

    /// The text of a file with matches for the memory, with its lines if they fit within its limit.
    fn version_of(&self, document: &Document, kept_bytes: &AtomicUsize) -> Version {
        let text = document.text();
        let limit_bytes = self.state.memory.limit_bytes();
        let before = kept_bytes.fetch_add(text.len(), Ordering::Relaxed);
        if before.saturating_add(text.len()) <= limit_bytes {
            return self.state.memory.version(text, None);
        }
        kept_bytes.fetch_sub(text.len(), Ordering::Relaxed);
        Version::of(text, 0)
    }
}

/// The memory update for a file with matches; none if it was removed meanwhile.
fn update_for(scope: &Scope<'_>, matches: &FileMatches, text: Version) -> Option<MemoryUpdate> {
    let (file, lines) = (canonical(scope, &matches.path).ok()?, shown_lines(&matches.rows));
    Some(MemoryUpdate::Shown { file, text, lines })
}

/// The text of a result, with the version in the rows of ambiguous lines of each file.
fn with_versions(dialect: &Dialect, result: &SearchResult, ambiguous: &[AmbiguousLines]) -> String {
    let mut files = result.files.iter().zip(ambiguous).peekable();
    let (mut out, mut of_file) = (String::new(), None);
    for row in result.text.split_inclusive('\n') {
        let is_header = |path: &str| row.trim_end_matches('\n') == file_header(path);
        if let Some((_, ambiguous)) = files.next_if(|(file, _)| is_header(&file.path)) {
            of_file = Some(ambiguous);
        }
        match of_file {
            Some(ambiguous) => ambiguous.push_row(dialect, row, &mut out),
            None => out.push_str(row),
        }
    }
    out
}

/// The files of a list to skip in the next directory, and how many to show.
fn rest_of_list(query: &SearchQuery, result: &SearchResult) -> (u64, u64) {
    let Some(list) = &result.list else { return (query.skip, query.max_files) };
    let left = query.max_files.saturating_sub(list.files.len() as u64);
    let is_full = left == 0
        || list.next.is_some()
        || query.max_bytes.is_some_and(|max| result.text.len() >= max);
    // Without room the files are only counted.
    if is_full { (u64::MAX, 1) } else { (query.skip.saturating_sub(list.file_count), left) }
}

/// Adds the list of another directory.
fn append_list(list: &mut FoundFiles, more: FoundFiles) {
    list.files.extend(more.files);
    list.file_count += more.file_count;
    list.match_count = list.match_count.zip(more.match_count).map(|(one, other)| one + other);
    list.next = list.next.or(more.next);
}

/// Appends the result of the first or of another directory.
fn append(result: &mut SearchResult, more: SearchResult, is_first: bool) {
    result.errors.extend(more.errors);
    if !result.text.is_empty() && !more.text.is_empty() {
        result.text.push('\n');
    }
    result.text += &more.text;
    result.files.extend(more.files);
    match (&mut result.list, more.list) {
        (Some(list), Some(more)) => append_list(list, more),
        (list, more) => *list = list.take().or(more),
    }
    result.match_count += more.match_count;
    result.files_searched += more.files_searched;
    result.binary_skipped += more.binary_skipped;
    result.truncated |= more.truncated;
    result.ran_out |= more.ran_out;
    result.warnings.extend(more.warnings);
    result.skipped.add(more.skipped);
    result.max_file_bytes = result.max_file_bytes.max(more.max_file_bytes);
    // A glob matches if it does in one of the directories.
    match is_first {
        true => result.unmatched_globs = more.unmatched_globs,
        false => result.unmatched_globs.retain(|glob| more.unmatched_globs.contains(glob)),
    }
}
