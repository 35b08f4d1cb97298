//! Verifies anchors against a current file: reports those that a patch would be refused for.
//! Nothing is written, and no anchor is relocated.

use super::failures::Failures;
use crate::edit::outcome::Rejected;
use crate::edit::report::{HunkNames, anchor_failures};
use crate::edit::request::{InsertAt, LineEdit, Operation};
use crate::edit::resolve::{CurrentText, RELOCATE_WINDOW_LINES, Relocate, RelocatePolicy, resolve};
use crate::view::scope::Scope;
use hashline_base::error::{Code, Error, Result};
use hashline_disk::bytes::{Loaded, load_bytes, with_file};
use hashline_lines::anchor::Anchor;

/// The refusal of the anchors that are not valid in a file, if there are any.
pub fn verify_file(scope: &Scope<'_>, path: &str, anchors: &[String]) -> Result<Option<Rejected>> {
    with_file(scope.fs, scope.base, path, &scope.load_options_of(path), |loaded| {
        verify(scope, path, loaded, anchors)
    })
}

/// The refusal of the anchors that are not valid in bytes that were not read from a file, if there
/// are any; `name` names the bytes.
pub fn verify_bytes(
    scope: &Scope<'_>,
    name: &str,
    bytes: &[u8],
    anchors: &[String],
) -> Result<Option<Rejected>> {
    verify(scope, name, &load_bytes(name, bytes, &scope.load_options())?, anchors)
}

fn verify(
    scope: &Scope<'_>,
    path: &str,
    loaded: &Loaded,
    anchors: &[String],
) -> Result<Option<Rejected>> {
    let Loaded::Text(document) = loaded else {
        let message = format!("{path}: is a binary file (it holds NUL bytes), so it has no lines");
        return Err(Error::at(Code::BinaryFile, path, message));
    };
    let mut failures = Failures::default();
    failures.is_verification = true;
    let mut operations = Vec::with_capacity(anchors.len());
    for (index, anchor) in anchors.iter().enumerate() {
        match Anchor::parse(scope.dialect, anchor) {
            Ok(anchor) => operations.push(probe(index, path, anchor)),
            Err(error) => failures.push(index, Some(path), error),
        }
    }
    let current_text = CurrentText::new(scope.dialect, document.text());
    let policy = RelocatePolicy { relocate: Relocate::Off, window_lines: RELOCATE_WINDOW_LINES };
    let operations: Vec<&Operation> = operations.iter().collect();
    if let Err(refusals) = resolve(&current_text, &policy, &operations) {
        for (failure, report) in
            anchor_failures(&current_text, policy.window_lines, path, &refusals)
        {
            failures.push_reported(failure, report);
        }
    }
    scope.cancel.check()?;
    Ok(failures.into_rejected(&scope.host, HunkNames::default()))
}

/// An operation that names the anchor and is never applied.
fn probe(index: usize, path: &str, anchor: Anchor) -> Operation {
    let action = LineEdit::Insert { at: InsertAt::After(anchor), lines: Vec::new(), block: false };
    Operation { index, path: path.to_owned(), verbatim: true, action }
}
