//! Rows that a model copied into the text of `replace_text` or `add_file`, where no other repair
//! runs. Only a session knows which rows it showed, so without one these texts are not changed.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::Path;

use super::lookup::{NewContent, Task, Tasks};
use super::options::EditOptions;
use crate::edit::outcome::Repair;
use crate::edit::repair::{RowEvidence, Rule, invented_row, removed_anchors, strip_rows};
use crate::edit::report::invented_row_error;
use crate::edit::request::Operations;
use crate::edit::session::{CallMemory, CopiedRows};
use hashline_base::error::{Error, Result};
use hashline_lines::dialect::Dialect;

/// A text without copied anchors, and the repair; `None` if it has none. An error if most of its
/// lines begin like rows with hashes that no line has.
pub(super) fn without_rows(
    current_text: &RowEvidence<'_, '_>,
    operation: usize,
    text: &str,
) -> Result<Option<(String, Repair)>> {
    let lines: Vec<&str> = text.split('\n').collect();
    let bare: Vec<&str> =
        lines.iter().map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let stripped = strip_rows(current_text, &bare);
    let rest = stripped.as_deref().unwrap_or(&bare);
    if let Some(row) = invented_row(current_text, rest, None) {
        return Err(invented_row_error(operation, row + 1));
    }
    let Some(stripped) = stripped else { return Ok(None) };
    let cut = |(line, (bare, stripped)): (&&str, (&&str, &&str))| {
        line.get(bare.len() - stripped.len()..).unwrap_or(line).to_owned()
    };
    let after: Vec<String> = lines.iter().zip(bare.iter().zip(&stripped)).map(cut).collect();
    let after = after.join("\n");
    let description = removed_anchors(bare.iter().copied().zip(stripped.iter().copied()));
    let (rule, before) = (Rule::StripAnchors, text.to_owned());
    Ok(Some((after.clone(), Repair { rule, operation, before, after, description })))
}

/// Removes copied anchors from the contents of new files. Returns the operations that are refused.
pub(super) fn strip_new_files(
    tasks: &mut Tasks<'_>,
    patch: &Operations,
    dialect: &'static Dialect,
    options: &EditOptions,
    call_memory: Option<CallMemory<'_>>,
) -> Vec<(usize, Error)> {
    if call_memory.is_none() || !options.repairs.has(Rule::StripAnchors, dialect) {
        return Vec::new();
    }
    let copied = CopiedRows::new(dialect, call_memory);
    let files = patch.files.iter().map(|operation| (operation.index, operation.verbatim));
    let edits = patch.edits.iter().map(|operation| (operation.index, operation.verbatim));
    let verbatim: HashSet<usize> =
        files.chain(edits).filter(|(_, verbatim)| *verbatim).map(|(index, _)| index).collect();
    let mut refused = Vec::new();
    for task in &mut tasks.files {
        let Task::Add { to, content: NewContent::Text(content), .. } = &mut task.task else {
            continue;
        };
        if verbatim.contains(&task.operation) {
            continue;
        }
        let path = to.path();
        match without_rows_of(&copied, &path, dialect, task.operation, content) {
            Ok(Some((text, repair))) => {
                *content = text;
                tasks.repairs.push(repair);
            }
            Ok(None) => {}
            Err(error) => refused.push((task.operation, error)),
        }
    }
    refused
}

fn without_rows_of(
    copied: &CopiedRows<'_>,
    path: &Path,
    dialect: &'static Dialect,
    operation: usize,
    text: &str,
) -> Result<Option<(String, Repair)>> {
    // A file that is replaced may have such lines.
    let has_rows = OnceCell::new();
    let current_text = RowEvidence {
        dialect,
        has_shown: &|row| copied.has(row),
        line: &|_| None::<Cow<'_, str>>,
        file_has_rows: &|| *has_rows.get_or_init(|| copied.are_lines_of(path)),
    };
    without_rows(&current_text, operation, text)
}
