//! Remembers rows that another tool showed: headers name the files, and rows are compared with the
//! current files.

use std::collections::HashMap;
use std::path::PathBuf;

use super::{Session, canonical};
use crate::edit::session::rows_shown;
use crate::view::scope::Scope;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Result};
use hashline_disk::bytes::{Loaded, with_file};
use hashline_lines::dialect::Dialect;
use hashline_lines::rows::header_paths;
use hashline_memory::{Body, MemoryUpdate};

/// The rows of one file. A header may be parsed as several paths, longest first.
pub(super) struct RowsOfFile<'t> {
    paths: Vec<&'t str>,
    rows: String,
}

impl Session {
    /// The memory updates for the rows that match the current files.
    pub(super) fn updates_for_rows(
        &self,
        mut blocks: Vec<RowsOfFile<'_>>,
        cancel: &Cancel,
    ) -> Result<Vec<MemoryUpdate>> {
        let mut updates = Vec::new();
        let workspaces = std::iter::once(&self.workspace).chain(&self.readable);
        for (at, workspace) in workspaces.enumerate() {
            let learn = workspace.scoped(cancel, |scope| {
                let mut unmatched = Vec::new();
                for block in std::mem::take(&mut blocks) {
                    scope.cancel.check()?;
                    match file_of(scope, &block) {
                        Some((path, file)) => {
                            updates.extend(self.update_for(scope, path, file, &block.rows)?);
                        }
                        None => unmatched.push(block),
                    }
                }
                blocks = unmatched;
                Ok(())
            });
            match learn {
                Err(error) if at == 0 || error.code == Code::Aborted => return Err(error),
                // A read root that does not exist contains no file.
                _ => {}
            }
        }
        cancel.check()?;
        Ok(updates)
    }

    /// The memory update for the rows of one file; none if the file cannot be read.
    fn update_for(
        &self,
        scope: &Scope<'_>,
        path: &str,
        file: PathBuf,
        rows: &str,
    ) -> Result<Option<MemoryUpdate>> {
        let load = scope.load_options_at(&file);
        let read = with_file(scope.fs, scope.base, path, &load, |loaded| {
            let Loaded::Text(document) = loaded else { return Ok(None) };
            let text = self.state.memory.version(document.text(), None);
            let text = text.in_charset(document.own_charset());
            let rows = |body: &Body<'_>| rows_shown(scope.dialect, body, rows);
            let lines = text.with_body(document.text(), rows);
            Ok(Some((text, lines)))
        });
        scope.cancel.check()?;
        let seen = read.ok().flatten().filter(|(_, shown)| !shown.lines.is_empty());
        Ok(seen.map(|(text, lines)| MemoryUpdate::Shown { file, text, lines }))
    }
}

/// The file of the rows, if it is in this workspace.
fn file_of<'t>(scope: &Scope<'_>, block: &RowsOfFile<'t>) -> Option<(&'t str, PathBuf)> {
    block.paths.iter().find_map(|&path| Some((path, canonical(scope, path).ok()?)))
}

/// Groups the rows of a text by header; rows before the first header are those of `path`.
///
/// Several headers of a file form one group, so that the file is read once.
pub(super) fn rows_by_header<'t>(
    dialect: &Dialect,
    text: &'t str,
    path: Option<&'t str>,
) -> Vec<RowsOfFile<'t>> {
    let mut blocks: Vec<RowsOfFile<'t>> = Vec::new();
    // Keyed by the longest path.
    let mut block_indices: HashMap<&'t str, usize> = HashMap::new();
    let mut block_of = |blocks: &mut Vec<RowsOfFile<'t>>, paths: Vec<&'t str>| {
        let longest = *paths.first()?;
        Some(*block_indices.entry(longest).or_insert_with(|| {
            blocks.push(RowsOfFile { paths, rows: String::new() });
            blocks.len() - 1
        }))
    };
    let mut open = path.and_then(|path| block_of(&mut blocks, vec![path]));
    for row in text.lines() {
        if let Some(paths) = header_paths(dialect, row) {
            open = block_of(&mut blocks, paths);
        } else if let Some(at) = open {
            blocks[at].rows += row;
            blocks[at].rows.push('\n');
        }
    }
    blocks.retain(|block| !block.rows.is_empty());
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_grouped_by_the_header_above_them() {
        let name = "x".repeat(10_000);
        let text =
            format!("1:aa|a\n--- b --- 1 edit\n1:bb|b\n--- {name} ---\n1:cc|c\n--- b ---\n2:dd|d");
        let found = rows_by_header(Dialect::default_dialect(), &text, Some("a"));
        let found: Vec<_> = found.into_iter().map(|block| (block.paths, block.rows)).collect();
        let expected = [("a", "1:aa|a\n"), ("b", "1:bb|b\n2:dd|d\n")];
        assert_eq!(found, expected.map(|(path, rows)| (vec![path], rows.to_owned())));
    }
}
