//! The failures of a patch, collected so that one refusal reports all of them.

use std::collections::{BTreeSet, HashMap};

use crate::edit::outcome::{Failure, Outcome, Rejected, reported_failures};
use crate::edit::report::{AnchorReport, HunkNames, rejected_text};
use crate::edit::session::FileRefusal;
use crate::view::near::MISSING_LIMIT;
use crate::view::scope::Host;
use hashline_base::error::{Code, Error};
use hashline_lines::rows::one_line;
use hashline_memory::{LineSet, MemoryUpdate};

/// The most missing files whose new name is looked up.
const RENAMED_LIMIT: usize = 8;

/// The failures so far, each with the report of its anchor, if it is about one.
#[derive(Debug, Default)]
pub(super) struct Failures {
    all: Vec<(Failure, Option<AnchorReport>)>,
    /// The paths of files that were renamed, if their failures say so.
    renamed: BTreeSet<String>,
    /// What a session learns from the reports of a file, with the paths in them.
    updates: Vec<(BTreeSet<String>, MemoryUpdate)>,
    /// Whether the failures are about anchors to verify, not about operations.
    pub(super) is_verification: bool,
}

impl Failures {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The numbers of the lines that the reports show.
    pub(super) fn lines(&self) -> impl Iterator<Item = u64> + '_ {
        self.all.iter().filter_map(|(_, report)| report.as_ref()).flat_map(AnchorReport::numbers)
    }

    pub(super) fn push(&mut self, operation: usize, path: Option<&str>, error: Error) {
        self.all.push((Failure::new(operation, path, error), None));
    }

    /// Failures without reports of anchors.
    pub(super) fn of(failures: impl IntoIterator<Item = Failure>) -> Failures {
        let all = failures.into_iter().map(|failure| (failure, None)).collect();
        Failures { all, ..Failures::default() }
    }

    pub(super) fn push_reported(&mut self, failure: Failure, report: AnchorReport) {
        self.all.push((failure, Some(report)));
    }

    /// Adds the current name of a file to the message that it was not found, if it was renamed.
    pub(super) fn note_renamed(&mut self, name_now: impl Fn(&str) -> Option<String>) {
        let failures = self.all.iter_mut().map(|(failure, _)| failure);
        let mut names: HashMap<String, Option<String>> = HashMap::new();
        for failure in failures.filter(|failure| failure.code == Code::FileNotFound) {
            let Some(path) = &failure.path else { continue };
            if names.len() == RENAMED_LIMIT && !names.contains_key(path) {
                continue;
            }
            if let Some(now) = names.entry(path.clone()).or_insert_with(|| name_now(path)) {
                let note = format!(
                    ". A file with the content that you know is {}: if it was renamed, read that file and edit it.",
                    one_line(now)
                );
                failure.message = std::mem::take(&mut failure.message) + note;
            }
        }
        self.renamed.extend(names.into_iter().filter_map(|(path, now)| now.map(|_| path)));
    }

    /// Adds near names to the messages about the first files that were not found and whose new name
    /// is not known.
    pub(super) fn note_near_names(&mut self, near: impl Fn(&str) -> Option<String>) {
        let failures = self.all.iter_mut().map(|(failure, _)| failure);
        let mut notes: HashMap<String, Option<String>> = HashMap::new();
        for failure in failures.filter(|failure| failure.code == Code::FileNotFound) {
            let Some(path) = &failure.path else { continue };
            if self.renamed.contains(path)
                || notes.len() == MISSING_LIMIT && !notes.contains_key(path)
            {
                continue;
            }
            if let Some(note) = notes.entry(path.clone()).or_insert_with(|| near(path)) {
                failure.message = std::mem::take(&mut failure.message) + note.as_str();
            }
        }
    }

    pub(super) fn extend(&mut self, other: Failures) {
        self.all.extend(other.all);
        self.renamed.extend(other.renamed);
        self.updates.extend(other.updates);
    }

    pub(super) fn push_refusal(&mut self, refusal: FileRefusal) {
        let paths = refusal.failures.iter().map(|(_, report)| report.path.clone()).collect();
        self.updates.extend(refusal.update.map(|update| (paths, update)));
        for (failure, report) in refusal.failures {
            self.push_reported(failure, report);
        }
    }

    /// The refusal, unless there are no failures. `host` is the caller's binding; `names` are the
    /// names of hunks in a patch in oh-my-pi's language.
    pub(super) fn into_rejected(self, host: &Host, names: HunkNames<'_>) -> Option<Rejected> {
        self.into_shown(host, names).map(|(rejected, _)| rejected)
    }

    /// The same, and what a session learns from its text: the lines of the reports that the text
    /// has room for.
    pub(super) fn into_shown(
        self,
        host: &Host,
        names: HunkNames<'_>,
    ) -> Option<(Rejected, Vec<MemoryUpdate>)> {
        let mut all: Vec<_> = self.all.into_iter().enumerate().collect();
        all.sort_by_key(|(_, (failure, _))| failure.operation);
        let mut failures: Vec<Failure> = Vec::with_capacity(all.len());
        let mut reports = Vec::new();
        for (place, (mut failure, mut report)) in all {
            failure.spell(host);
            if !names.is_empty() {
                names.name_failure(&mut failure, report.as_mut());
                // One hunk can become several operations, which fail with the same message.
                let is_known = |known: &Failure| known.message == failure.message;
                let alike = failures.iter().rev();
                if alike.take_while(|earlier| earlier.operation == failure.operation).any(is_known)
                {
                    continue;
                }
            }
            reports.extend(report.map(|report| (failures.len(), place, report)));
            failures.push(failure);
        }
        let code = failures.first()?.code;
        let reported_count = reported_failures(&failures, host.refusal_limit_bytes).len();
        let mut reported: Vec<_> = reports.iter().filter(|(at, ..)| *at < reported_count).collect();
        reported.sort_by_key(|(_, place, _)| *place);
        // Hunks are named instead, and anchors to verify belong to no operation.
        let has_operations = names.is_empty() && !self.is_verification;
        let operation = |at: usize| has_operations.then(|| failures[at].operation);
        let reported: Vec<_> =
            reported.into_iter().map(|(at, _, report)| (operation(*at), report)).collect();
        let text = rejected_text(&failures, reported_count, has_operations, &reported);
        let mut shown: HashMap<&str, LineSet> = HashMap::new();
        for (_, report) in &reported {
            let lines = report.numbers().map(|line| line..line + 1).collect();
            shown.entry(&report.path).or_default().extend(&lines);
        }
        let updates = self.updates.into_iter().map(|(paths, update)| {
            let mut lines = LineSet::default();
            paths
                .iter()
                .filter_map(|path| shown.get(path.as_str()))
                .for_each(|of| lines.extend(of));
            within(update, &lines)
        });
        let updates = updates.collect();
        let remaps = reports.into_iter().filter_map(|(.., report)| report.remap).collect();
        let remaps = without_contradictions(remaps);
        Some((Rejected { code, failures, remaps, text }, updates))
    }
}

/// What an update teaches of these lines alone.
fn within(update: MemoryUpdate, these: &LineSet) -> MemoryUpdate {
    match update {
        MemoryUpdate::Shown { file, text, lines } => {
            MemoryUpdate::Shown { file, text, lines: lines.common(these) }
        }
        other => other,
    }
}

/// Removes anchors that are stale in several files: no single replacement fits all of them.
fn without_contradictions(mut remaps: Vec<(String, String)>) -> Vec<(String, String)> {
    remaps.sort();
    remaps.dedup();
    let twice = |at: usize| {
        let same =
            |other: Option<&(String, String)>| other.is_some_and(|remap| remap.0 == remaps[at].0);
        same(remaps.get(at + 1)) || (at > 0 && same(remaps.get(at - 1)))
    };
    let unique = (0..remaps.len()).filter(|&at| !twice(at));
    unique.map(|at| remaps[at].clone()).collect()
}

pub(super) fn rejected(failures: Failures, host: &Host, names: HunkNames<'_>) -> Outcome {
    let rejected = failures.into_rejected(host, names);
    Outcome::Rejected(rejected.expect("a refusal has at least one failure"))
}
