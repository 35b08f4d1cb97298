//! Learning from rows with anchors: those of a search, and those that a tool showed earlier.

use super::{Session, canonical};
use crate::cancel::Cancel;
use crate::disk::bytes::{Loaded, with_file};
use crate::edit::session::{Body, Lesson, rows_shown};
use crate::error::Result;
use crate::view::render::header_paths;
use crate::view::scope::Scope;

/// Rows below one header, which may be read as one of several paths, the longest first.
struct RowsOfFile {
    paths: Vec<String>,
    rows: String,
}

impl Session {
    /// Learns the rows of a text that are true of the files as they are now; returns how many.
    pub(super) fn learn_rows(
        &self,
        text: &str,
        path: Option<&str>,
        cancel: &Cancel,
    ) -> Result<u64> {
        let blocks = blocks(text, path);
        let lessons = self.workspace.scoped(cancel, |scope| {
            let mut lessons = Vec::new();
            for block in &blocks {
                lessons.extend(self.lesson_of(scope, block)?);
            }
            Ok(lessons)
        })?;
        cancel.check()?;
        self.memory.learn(&lessons);
        let lines = lessons.iter().map(|lesson| match lesson {
            Lesson::Shown { lines, .. } => lines.count(),
            _ => 0,
        });
        Ok(lines.sum())
    }

    /// What the rows of one file teach. A file that cannot be read now teaches nothing.
    fn lesson_of(&self, scope: &Scope<'_>, block: &RowsOfFile) -> Result<Option<Lesson>> {
        let found = block.paths.iter().find_map(|path| Some((path, canonical(scope, path).ok()?)));
        let Some((path, file)) = found else { return Ok(None) };
        let load = scope.load_options();
        let read = with_file(scope.fs, scope.base, path, &load, |loaded| {
            let Loaded::Text(document) = loaded else { return Ok(None) };
            let text = self.memory.version(document.text(), None);
            let rows = |body: &Body<'_>| rows_shown(scope.dialect, body, &block.rows);
            let lines = text.look(document.text(), rows);
            Ok(Some((text, lines)))
        });
        scope.cancel.check()?;
        let seen = read.ok().flatten().filter(|(_, lines)| !lines.is_empty());
        Ok(seen.map(|(text, lines)| Lesson::Shown { file, text, lines }))
    }
}

/// The rows of a text by the headers above them.
fn blocks(text: &str, path: Option<&str>) -> Vec<RowsOfFile> {
    let mut blocks: Vec<RowsOfFile> = Vec::new();
    if let Some(path) = path {
        blocks.push(RowsOfFile { paths: vec![path.to_owned()], rows: String::new() });
    }
    for row in text.lines() {
        let paths = header_paths(row);
        if !paths.is_empty() {
            let paths = paths.into_iter().map(str::to_owned).collect();
            blocks.push(RowsOfFile { paths, rows: String::new() });
        } else if let Some(block) = blocks.last_mut() {
            block.rows += row;
            block.rows.push('\n');
        }
    }
    blocks.retain(|block| !block.rows.is_empty());
    blocks
}
