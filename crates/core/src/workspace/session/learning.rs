//! Learning from texts that a tool showed earlier: their headers say of which files they are, and
//! their rows are compared with these.

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
use hashline_memory::{Body, MemoryUpdate, Showing};

/// Rows of one file. A header may be read as one of several paths, the longest first.
pub(super) struct RowsOfFile<'t> {
    paths: Vec<&'t str>,
    rows: String,
}

impl Session {
    /// What rows teach that are true of the files as they are now.
    pub(super) fn updates_of_rows(
        &self,
        mut left: Vec<RowsOfFile<'_>>,
        cancel: &Cancel,
    ) -> Result<Vec<MemoryUpdate>> {
        let mut updates = Vec::new();
        let workspaces = std::iter::once(&self.workspace).chain(&self.readable);
        for (at, workspace) in workspaces.enumerate() {
            let learn = workspace.scoped(cancel, |scope| {
                let mut strange = Vec::new();
                for block in std::mem::take(&mut left) {
                    scope.cancel.check()?;
                    match file_of(scope, &block) {
                        Some((path, file)) => {
                            updates.extend(self.update_of(scope, path, file, &block.rows)?);
                        }
                        None => strange.push(block),
                    }
                }
                left = strange;
                Ok(())
            });
            match learn {
                Err(error) if at == 0 || error.code == Code::Aborted => return Err(error),
                // A directory beside the root that is not there holds no file to learn of.
                _ => {}
            }
        }
        cancel.check()?;
        Ok(updates)
    }

    /// What the rows of one file teach. A file that cannot be read now teaches nothing.
    fn update_of(
        &self,
        scope: &Scope<'_>,
        path: &str,
        file: PathBuf,
        rows: &str,
    ) -> Result<Option<MemoryUpdate>> {
        let load = scope.load_options();
        let read = with_file(scope.fs, scope.base, path, &load, |loaded| {
            let Loaded::Text(document) = loaded else { return Ok(None) };
            let text = self.state.memory.version(document.text(), None);
            let rows = |body: &Body<'_>| rows_shown(scope.dialect, body, rows);
            let lines = text.look(document.text(), rows);
            Ok(Some((text, lines)))
        });
        scope.cancel.check()?;
        let seen = read.ok().flatten().filter(|(_, shown)| !shown.lines.is_empty());
        let showing = Showing::Asked;
        Ok(seen.map(|(text, lines)| MemoryUpdate::Shown { file, text, lines, showing }))
    }
}

/// Which file of a workspace the rows are of, if it is one.
fn file_of<'t>(scope: &Scope<'_>, block: &RowsOfFile<'t>) -> Option<(&'t str, PathBuf)> {
    block.paths.iter().find_map(|&path| Some((path, canonical(scope, path).ok()?)))
}

/// The rows of a text by the headers above them; those above the first are of the file `path`.
///
/// A file whose header comes several times is one block: it is looked at once.
pub(super) fn rows_by_header<'t>(
    dialect: &Dialect,
    text: &'t str,
    path: Option<&'t str>,
) -> Vec<RowsOfFile<'t>> {
    let mut blocks: Vec<RowsOfFile<'t>> = Vec::new();
    // By the longest path, which the others begin.
    let mut places: HashMap<&'t str, usize> = HashMap::new();
    let mut block_of = |blocks: &mut Vec<RowsOfFile<'t>>, paths: Vec<&'t str>| {
        let longest = *paths.first()?;
        Some(*places.entry(longest).or_insert_with(|| {
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
    fn rows_stand_below_the_header_of_their_file() {
        let name = "x".repeat(10_000);
        let text =
            format!("1:aa|a\n--- b --- 1 edit\n1:bb|b\n--- {name} ---\n1:cc|c\n--- b ---\n2:dd|d");
        let found = rows_by_header(Dialect::default_dialect(), &text, Some("a"));
        let found: Vec<_> = found.into_iter().map(|one| (one.paths, one.rows)).collect();
        let expected = [("a", "1:aa|a\n"), ("b", "1:bb|b\n2:dd|d\n")];
        assert_eq!(found, expected.map(|(path, rows)| (vec![path], rows.to_owned())));
    }
}
