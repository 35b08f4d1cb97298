//! Checks that a journal names files as a transaction does.

use std::path::Path;

use crate::commit::TEMPORARY_PREFIX;
use crate::commit::journal::{JournalPath, JournalRecord, JournalStep};

/// Whether a transaction can have written the journal: temporary files have the right names and
/// directories, and there are either marks for all steps or none.
pub(in crate::commit) fn is_well_formed(records: &[JournalRecord]) -> bool {
    let Some(JournalRecord::Begin { steps, directories, .. }) = records.first() else {
        return false;
    };
    let are_siblings = |path: &JournalPath, others: &[&JournalPath]| {
        let path = path.path();
        is_temporary(&path) && others.iter().all(|other| other.path().parent() == path.parent())
    };
    let is_step_valid = |step: &JournalStep| match step {
        JournalStep::Rewrite { target, temporary, saved, .. } => {
            are_siblings(temporary, &[target]) && are_siblings(saved, &[target])
        }
        JournalStep::RewriteInPlace { saved, ready, .. } => {
            are_siblings(saved, &[ready]) && are_siblings(ready, &[saved])
        }
        JournalStep::Create { target, temporary } => are_siblings(temporary, &[target]),
        JournalStep::Replace { from, to, temporary, parked, .. } => {
            are_siblings(temporary, &[to]) && are_siblings(parked, &[from])
        }
        JournalStep::Delete { target, parked, .. } => are_siblings(parked, &[target]),
        JournalStep::Rename { from, parked, .. } => {
            parked.iter().all(|parked| are_siblings(parked, &[from]))
        }
    };
    let contains_a_target = |directory: &JournalPath| {
        let mut all = steps.iter().flat_map(JournalStep::targets);
        all.any(|target| target.path().starts_with(directory.path()))
    };
    let has_all_marks = records.iter().all(|record| match record {
        JournalRecord::Committed { staged, hashes } => {
            let is_for_all = steps.len() == hashes.len()
                && steps.iter().zip(hashes).all(|(step, of)| step.temporaries().len() == of.len());
            staged.len() == steps.len() && (hashes.is_empty() || is_for_all)
        }
        _ => true,
    });
    steps.iter().all(is_step_valid) && directories.iter().all(contains_a_target) && has_all_marks
}

/// Whether a path has the name of a temporary file of the library.
pub(super) fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()))
}
