//! A search in all directories of a session: its root and the other read roots.

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
                let version = |document: &Document| self.version_of(document, &kept);
                let (result, texts) = search_hashed(scope, query, progress, None, version)?;
                let found = result.files.iter().zip(texts);
                let updates = found.filter_map(|(file, text)| update_for(scope, file, text));
                let updates = updates.collect::<Vec<_>>();
                Ok((result, updates))
            })
        };
        let reader = |path: &PathBuf| (path.clone(), self.reader_of(&path.to_string_lossy()));
        let paths: Vec<_> = query.paths.iter().map(reader).collect();
        let (mut result, mut updates) = (SearchResult::default(), Vec::new());
        for workspace in self.readers() {
            let own_paths = paths.iter().filter(|(_, reader)| std::ptr::eq(*reader, workspace));
            let own_paths: Vec<PathBuf> = own_paths.map(|(path, _)| path.clone()).collect();
            if own_paths.is_empty() && !paths.is_empty() {
                continue;
            }
            let used = result.text.len() + usize::from(!result.text.is_empty());
            let rest = SearchQuery {
                paths: own_paths,
                max_matches: query.max_matches.saturating_sub(result.match_count),
                max_bytes: query.max_bytes.map(|bytes| bytes.saturating_sub(used)),
                ..query.clone()
            };
            let (more, learned) = search(workspace, &rest)?;
            append(&mut result, more);
            updates.extend(learned);
            // Without paths, only the session's own workspace is searched. If no room is left, the
            // result is marked as truncated.
            if paths.is_empty() || result.ran_out {
                break;
            }
        }
        Ok((result, updates))
    }

    /// The version of a file with matches, for the memory. It includes the lines if the memory's
    /// limit has room for them.
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
    Some(MemoryUpdate::Shown { file, text, lines, showing: Showing::Requested })
}

/// Appends another result.
fn append(result: &mut SearchResult, more: SearchResult) {
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
