//! What goes wrong with a patch, collected until all of it is known, then told at once.

use crate::edit::outcome::{Failure, Outcome, Rejected};
use crate::edit::report::{AnchorReport, rejected_text};
use crate::edit::session::{FileRefusal, Lesson};
use crate::error::{Error, Spelling};

/// Failures on the way to a refusal, with the report of failed anchors.
#[derive(Debug, Default)]
pub(super) struct Failures {
    pub(super) failures: Vec<Failure>,
    pub(super) anchors: Vec<AnchorReport>,
    /// What a session learns from the refusal.
    pub(super) lessons: Vec<Lesson>,
}

impl Failures {
    pub(super) fn push(&mut self, operation: usize, path: Option<&str>, error: Error) {
        self.failures.push(Failure::new(operation, path, error));
    }

    pub(super) fn extend(&mut self, other: Failures) {
        self.failures.extend(other.failures);
        self.anchors.extend(other.anchors);
        self.lessons.extend(other.lessons);
    }

    pub(super) fn push_refusal(&mut self, refusal: FileRefusal) {
        for (failure, report) in refusal.failures {
            self.failures.push(failure);
            self.anchors.push(report);
        }
        self.lessons.extend(refusal.lesson);
    }

    /// The refusal, if there is anything to refuse, as a face writes it.
    pub(super) fn into_rejected(mut self, spelling: Spelling) -> Option<Rejected> {
        self.failures.sort_by_key(|failure| failure.operation);
        self.failures.iter_mut().for_each(|failure| failure.spell(spelling));
        let code = self.failures.first()?.code;
        let text = rejected_text(&self.failures, &self.anchors);
        let mut remaps: Vec<_> = self.anchors.into_iter().filter_map(|one| one.remap).collect();
        remaps.sort();
        remaps.dedup();
        // An anchor that is stale in two files has two answers: none that fits both.
        let twice = |at: usize, all: &[(String, String)]| {
            let same =
                |other: Option<&(String, String)>| other.is_some_and(|one| one.0 == all[at].0);
            same(all.get(at + 1)) || (at > 0 && same(all.get(at - 1)))
        };
        let unique = (0..remaps.len()).filter(|&at| !twice(at, &remaps));
        let remaps = unique.map(|at| remaps[at].clone()).collect();
        Some(Rejected { code, failures: self.failures, remaps, text })
    }
}

pub(super) fn rejected(failures: Failures, spelling: Spelling) -> Outcome {
    let rejected = failures.into_rejected(spelling);
    Outcome::Rejected(rejected.expect("a refusal has at least one failure"))
}
