//! Checks whether files have the versions that a patch in oh-my-pi's language names. Without a
//! session, another version is refused. With a session, only a deletion of the file is: the session
//! compares the lines of all other hunks with what it has shown.

use super::failures::Failures;
use crate::edit::report::stale_version;
use crate::edit::request::{FileAction, NamedVersion, Operations};
use crate::edit::resolve::CurrentText;
use crate::view::scope::Scope;
use hashline_base::error::{Code, Error, Result};
use hashline_disk::bytes::{Loaded, contained, load_place};
use hashline_lines::dialect::Dialect;
use hashline_lines::tag::Tag;

/// The failures of sections whose file has another version. A file that cannot be read is reported
/// elsewhere.
pub(super) fn stale(scope: &Scope<'_>, patch: &Operations, in_session: bool) -> Result<Failures> {
    let mut failures = Failures::default();
    for version in &patch.versions {
        scope.cancel.check()?;
        if in_session && !deletes(patch, version) {
            continue;
        }
        if let Some(found) = stale_file(scope, patch, version) {
            failures.extend(found);
        }
    }
    Ok(failures)
}

/// Whether a section deletes its file. Then the version must match even in a session, because lines
/// that were never shown would be lost.
fn deletes(patch: &Operations, version: &NamedVersion) -> bool {
    let is_delete = |action: &FileAction| matches!(action, FileAction::Delete);
    patch
        .files
        .iter()
        .any(|operation| is_in(version, operation.index) && is_delete(&operation.action))
}

fn is_in(version: &NamedVersion, operation: usize) -> bool {
    (version.operation..version.operation + version.hunks).contains(&operation)
}

fn stale_file(scope: &Scope<'_>, patch: &Operations, version: &NamedVersion) -> Option<Failures> {
    let place = scope.base.existing(&version.path).ok()?;
    let loaded = load_place(scope.fs, &place, &scope.load_options_at(place.canonical())).ok()?;
    let found = contained(&version.path, || {
        let Loaded::Text(document) = loaded else {
            let message = format!("{}: is a binary file, and has no tag", version.path);
            return Err(Error::at(Code::BinaryFile, &version.path, message));
        };
        Ok(stale_text(scope.dialect, document.text(), patch, version))
    });
    found.unwrap_or_else(|error| {
        let mut failures = Failures::default();
        failures.push(version.operation, Some(&version.path), error);
        Some(failures)
    })
}

/// The failure of a section if a text is not the version that it names.
pub(super) fn stale_text(
    dialect: &'static Dialect,
    text: &[u8],
    patch: &Operations,
    version: &NamedVersion,
) -> Option<Failures> {
    if Tag::of(text) == version.tag {
        return None;
    }
    let current_text = CurrentText::new(dialect, text);
    let (failure, report) = stale_version(&current_text, version, &lines_named(patch, version));
    let mut failures = Failures::default();
    failures.push_reported(failure, report);
    Some(failures)
}

/// The first and the last line that each hunk of a section names.
fn lines_named(patch: &Operations, version: &NamedVersion) -> Vec<(u64, u64)> {
    let hunks = patch
        .edits
        .iter()
        .filter(|operation| is_in(version, operation.index) && operation.path == version.path);
    let lines = hunks.filter_map(|hunk| {
        let mut lines = hunk.action.anchors().map(|anchor| u64::from(anchor.line));
        let first = lines.next()?;
        Some((first, lines.last().unwrap_or(first)))
    });
    lines.collect()
}
