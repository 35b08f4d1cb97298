//! Searching in the directories of a session: the one that confines it, and those that may be
//! read beside it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Session, canonical};
use crate::edit::session::shown_lines;
use crate::view::scope::Scope;
use crate::view::search::{FileMatches, SearchQuery, SearchResult, search_hashed};
use crate::workspace::Workspace;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
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
        let (mut result, mut updates) = search(&self.workspace, query)?;
        for workspace in &self.readable {
            let outside = paths_outside(query, &result);
            if outside.is_empty() {
                break;
            }
            if result.ran_out {
                // No room is left for what lies there, and the result says that it is cut.
                let reached = paths_within(workspace, outside, cancel)?;
                drop_refusals(&mut result, &reached);
                continue;
            }
            let mut rest = query.clone();
            rest.paths = outside;
            rest.max_matches = query.max_matches.saturating_sub(result.match_count);
            let used = result.text.len() + usize::from(!result.text.is_empty());
            rest.max_bytes = query.max_bytes.map(|bytes| bytes.saturating_sub(used));
            match search(workspace, &rest) {
                Ok((more, learned)) => {
                    add(&mut result, more, &rest.paths);
                    updates.extend(learned);
                }
                Err(error) if error.code == Code::Aborted => return Err(error),
                // A directory that is not there holds nothing to search.
                Err(_) => {}
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

/// The paths of a query that were not searched, since they lie outside of the root.
fn paths_outside(query: &SearchQuery, result: &SearchResult) -> Vec<PathBuf> {
    let is_outside = |path: &&PathBuf| {
        let about = |error: &&Error| error.path.as_deref().map(Path::new) == Some(path);
        result.errors.iter().any(|error| error.code == Code::OutsideRoot && about(&error))
    };
    query.paths.iter().filter(is_outside).cloned().collect()
}

/// Those of some paths that lie in the directory of a workspace.
fn paths_within(
    workspace: &Workspace<'static>,
    mut paths: Vec<PathBuf>,
    cancel: &Cancel,
) -> Result<Vec<PathBuf>> {
    let look = workspace.scoped(cancel, |scope| {
        paths.retain(|path| {
            let found = scope.base.existing(&path.to_string_lossy());
            !matches!(found, Err(error) if error.code == Code::OutsideRoot)
        });
        Ok(())
    });
    match look {
        Ok(()) => Ok(paths),
        Err(error) if error.code == Code::Aborted => Err(error),
        // A directory that is not there holds nothing.
        Err(_) => Ok(Vec::new()),
    }
}

/// Takes back that some paths lie outside of the root.
fn drop_refusals(result: &mut SearchResult, paths: &[PathBuf]) {
    let is_said = |error: &Error| {
        error.path.as_ref().is_some_and(|path| {
            error.code == Code::OutsideRoot && paths.iter().any(|one| one == Path::new(path))
        })
    };
    result.errors.retain(|error| !is_said(error));
}

/// Adds what another search found, which says of these paths what there is to say.
fn add(result: &mut SearchResult, more: SearchResult, paths: &[PathBuf]) {
    drop_refusals(result, paths);
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
