//! What the steps of a journal name: the files they change, the temporary files beside them,
//! and whether all that is such as a transaction writes it.

use std::path::Path;

use crate::disk::commit::TEMPORARY_PREFIX;
use crate::disk::commit::journal::{JournalPath, JournalStep, Mark, Record};

/// Whether a journal is one that a transaction can have written: temporary files have the names
/// of such and lie where they belong, and there is a mark or none for each step.
pub(super) fn is_well_formed(records: &[Record]) -> bool {
    let Some(Record::Begin { steps, directories, .. }) = records.first() else { return false };
    let are_beside = |path: &JournalPath, others: &[&JournalPath]| {
        let path = path.path();
        is_temporary(&path) && others.iter().all(|other| other.path().parent() == path.parent())
    };
    let is_step_in_order = |step: &JournalStep| match step {
        JournalStep::Rewrite { target, temporary, saved, .. } => {
            are_beside(temporary, &[target]) && are_beside(saved, &[target])
        }
        JournalStep::RewriteInPlace { saved, ready, .. } => {
            are_beside(saved, &[ready]) && are_beside(ready, &[saved])
        }
        JournalStep::Create { target, temporary } => are_beside(temporary, &[target]),
        JournalStep::Replace { from, to, temporary, parked, .. } => {
            are_beside(temporary, &[to]) && are_beside(parked, &[from])
        }
        JournalStep::Delete { target, parked, .. } => are_beside(parked, &[target]),
        JournalStep::Rename { from, parked, .. } => {
            parked.iter().all(|parked| are_beside(parked, &[from]))
        }
    };
    let leads_to_a_target = |directory: &JournalPath| {
        let mut all = steps.iter().flat_map(targets);
        all.any(|target| target.path().starts_with(directory.path()))
    };
    let has_all_marks = records.iter().all(|record| match record {
        Record::Committed { staged } => staged.len() == steps.len(),
        _ => true,
    });
    steps.iter().all(is_step_in_order) && directories.iter().all(leads_to_a_target) && has_all_marks
}

/// Whether a path has the name of a temporary file of ours.
pub(super) fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()))
}

/// The version that a step replaces.
pub(super) fn old_mark(step: &JournalStep) -> Option<&Mark> {
    match step {
        JournalStep::Rewrite { old, .. }
        | JournalStep::RewriteInPlace { old, .. }
        | JournalStep::Rename { old, .. }
        | JournalStep::Replace { old, .. }
        | JournalStep::Delete { old, .. } => Some(old),
        JournalStep::Create { .. } => None,
    }
}

/// The name of the file that can wait under one of a step's temporary names.
pub(super) fn home(step: &JournalStep) -> Option<&JournalPath> {
    match step {
        JournalStep::Delete { target, .. } | JournalStep::Rewrite { target, .. } => Some(target),
        JournalStep::Replace { from, .. } | JournalStep::Rename { from, .. } => Some(from),
        JournalStep::Create { .. } | JournalStep::RewriteInPlace { .. } => None,
    }
}

/// The names that a step gives a new state.
pub(super) fn targets(step: &JournalStep) -> Vec<&JournalPath> {
    match step {
        JournalStep::Rewrite { target, .. }
        | JournalStep::RewriteInPlace { target, .. }
        | JournalStep::Create { target, .. }
        | JournalStep::Delete { target, .. } => vec![target],
        JournalStep::Rename { from, to, .. } | JournalStep::Replace { from, to, .. } => {
            vec![from, to]
        }
    }
}

/// The files that hold a step's new or old content.
pub(super) fn temporaries(step: &JournalStep) -> Vec<&JournalPath> {
    match step {
        JournalStep::Rewrite { temporary, saved, .. } => vec![temporary, saved],
        JournalStep::RewriteInPlace { saved, ready, .. } => vec![saved, ready],
        JournalStep::Create { temporary, .. } => vec![temporary],
        JournalStep::Replace { temporary, parked, .. } => vec![temporary, parked],
        JournalStep::Delete { parked, .. } => vec![parked],
        JournalStep::Rename { parked, .. } => parked.iter().collect(),
    }
}
