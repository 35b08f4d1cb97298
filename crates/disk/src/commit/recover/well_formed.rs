//! Whether a journal names files such as a transaction writes them.

use std::path::Path;

use crate::commit::TEMPORARY_PREFIX;
use crate::commit::journal::{JournalPath, JournalRecord, JournalStep};

/// Whether a journal is one that a transaction can have written: temporary files have the names
/// of such and lie where they belong, and there is a mark or none for each step.
pub(in crate::commit) fn is_well_formed(records: &[JournalRecord]) -> bool {
    let Some(JournalRecord::Begin { steps, directories, .. }) = records.first() else {
        return false;
    };
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
    steps.iter().all(is_step_in_order) && directories.iter().all(leads_to_a_target) && has_all_marks
}

/// Whether a path has the name of a temporary file of ours.
pub(super) fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()))
}
