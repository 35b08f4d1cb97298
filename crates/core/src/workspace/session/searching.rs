//! Searching in the directories of a session: the one that confines it, and those that may be
//! read beside it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Session, canonical};
use crate::edit::session::shown_lines;
use crate::view::scope::Scope;
use crate::view::search::{FileMatches, SearchQuery, SearchResult, search_hashed};
use crate::workspace::Workspace;
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;
use hashline_disk::bytes::Document;
use hashline_memory::{MemoryUpdate, Showing, Version};

impl Session {
    /// Searches in the session's own directory, and for paths outside of it in the other ones. Also
    /// what the result teaches.
    pub(super) fn search_in_order(
        &self,
        query: &SearchQuery,
        cancel: &Cancel,
        progress: &dyn Fn(usize, usize),
    ) -> Result<(SearchResult, Vec<MemoryUpdate>)> {
        let kept = AtomicUsize::new(0);
        let search = |workspace: &Workspace<'static>, query: &SearchQuery| {
            workspace.scoped(cancel, |scope| {
                let version = |document: &Document| self.found_version(document, &kept);
                let (result, texts) = search_hashed(scope, query, progress, None, version)?;
                let found = result.files.iter().zip(texts);
                let updates = found.filter_map(|(file, text)| found_update(scope, file, text));
                let updates = updates.collect::<Vec<_>>();
                Ok((result, updates))
            })
        };
        let reader = |path: &PathBuf| (path.clone(), self.reader_of(&path.to_string_lossy()));
        let paths: Vec<_> = query.paths.iter().map(reader).collect();
        let (mut result, mut updates) = (SearchResult::default(), Vec::new());
        for workspace in self.readers() {
            let its = paths.iter().filter(|(_, reader)| std::ptr::eq(*reader, workspace));
            let its: Vec<PathBuf> = its.map(|(path, _)| path.clone()).collect();
            if its.is_empty() && !paths.is_empty() {
                continue;
            }
            let used = result.text.len() + usize::from(!result.text.is_empty());
            let rest = SearchQuery {
                paths: its,
                max_matches: query.max_matches.saturating_sub(result.match_count),
                max_bytes: query.max_bytes.map(|bytes| bytes.saturating_sub(used)),
                ..query.clone()
            };
            let (more, learned) = search(workspace, &rest)?;
            add(&mut result, more);
            updates.extend(learned);
            // Without paths, the session's own directory alone is searched; where no room is left,
            // the result says that it is cut.
            if paths.is_empty() || result.ran_out {
                break;
            }
        }
        Ok((result, updates))
    }

    /// The text of a file with matches, as the memory keeps it: with its lines, as far as there is
    /// room for all of them.
    fn found_version(&self, document: &Document, kept_bytes: &AtomicUsize) -> Version {
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

/// What the rows of a file teach. A file that is gone by now is not remembered.
fn found_update(scope: &Scope<'_>, found: &FileMatches, text: Version) -> Option<MemoryUpdate> {
    let (file, lines) = (canonical(scope, &found.path).ok()?, shown_lines(&found.rows));
    Some(MemoryUpdate::Shown { file, text, lines, showing: Showing::Asked })
}

/// Adds what another search found.
fn add(result: &mut SearchResult, more: SearchResult) {
    result.errors.extend(more.errors);
    if !result.text.is_empty() && !more.text.is_empty() {
        result.text.push('\n');
    }
    result.text += &more.text;
    result.files.extend(more.files);
    result.match_count += more.match_count;
    result.files_searched += more.files_searched;
    result.binary_skipped += more.binary_skipped;
    result.truncated |= more.truncated;
    result.ran_out |= more.ran_out;
    result.warnings.extend(more.warnings);
}
