//! Refusals of patches in oh-my-pi's language. They name operations by the headers of their hunks.
//! Also the refusal of a section that names an old version of its file.

use super::CONTEXT_LINES;
use super::rejected::AnchorReport;
use crate::edit::outcome::Failure;
use crate::edit::request::{NamedVersion, Operations};
use crate::edit::resolve::CurrentText;
use hashline_base::error::{Code, Mention, Message};
use hashline_lines::tag::Tag;
use hashline_omp::ScriptHunk;

/// The name of a hunk: its header and its row.
fn hunk_name(hunk: &ScriptHunk) -> String {
    format!("`{}` (row {} of the patch)", hunk.act, hunk.row)
}

/// The names of the operations of a patch, by its hunks. Empty for patches in other languages.
#[derive(Clone, Copy, Default)]
pub struct HunkNames<'p>(&'p [ScriptHunk]);

impl<'p> HunkNames<'p> {
    /// The names in a patch.
    pub fn of(patch: &'p Operations) -> Self {
        HunkNames(&patch.hunks)
    }

    /// The names of hunks that were kept.
    pub fn of_hunks(hunks: &'p [ScriptHunk]) -> Self {
        HunkNames(hunks)
    }

    /// The hunks, to be kept.
    pub fn hunks(self) -> Vec<ScriptHunk> {
        self.0.to_vec()
    }

    /// Whether there are no names.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The name of what a message mentions; `None` if the patch has no name for it.
    fn name(self, mention: Mention) -> Option<String> {
        let name = |index: usize| self.0.get(index).map(hunk_name);
        match mention {
            Mention::Term(_) => None,
            Mention::Operation(index) | Mention::OperationAtStart(index) => name(index),
            Mention::Operations(one, other) => Some(format!("{} and {}", name(one)?, name(other)?)),
            Mention::OneOperation => (!self.is_empty()).then(|| "one hunk".to_owned()),
        }
    }

    /// The name of what a message mentions, or its usual text.
    pub fn written(self, mention: Mention) -> String {
        self.name(mention).unwrap_or_else(|| mention.to_string())
    }

    /// Writes the names of hunks into a message.
    pub fn write(self, message: &mut Message) {
        message.write(|mention| self.name(mention));
    }

    /// The same for a failure and its report. Its message gets the name of the hunk in front,
    /// unless it contains it.
    pub fn name_failure(self, failure: &mut Failure, report: Option<&mut AnchorReport>) {
        let own = self.0.get(failure.operation).map(hunk_name);
        let write_first = |message: &mut Message| {
            self.write(message);
            if let Some(name) = own.as_ref().filter(|name| !message.contains(name.as_str())) {
                *message = Message::from(format!("{name}: ")) + std::mem::take(message);
            }
        };
        write_first(&mut failure.message);
        if let Some(report) = report {
            write_first(&mut report.headline);
            self.write(&mut report.explanation);
        }
    }
}

/// The refusal of a section that names an old version of its file. It shows the current lines
/// around `named`, which has the first and the last line of each hunk.
pub fn stale_version(
    current_text: &CurrentText<'_>,
    version: &NamedVersion,
    named: &[(u64, u64)],
) -> (Failure, AnchorReport) {
    let path = &version.path;
    let now = Tag::of(current_text.text);
    let count = current_text.count();
    let around = |&(first, last): &(u64, u64)| {
        let first = first.min(count).saturating_sub(CONTEXT_LINES).max(1);
        (first, last.saturating_add(CONTEXT_LINES).min(count).min(first + SHOWN_LIMIT_LINES))
    };
    let ranges: Vec<(u64, u64)> = named.iter().take(SHOWN_LIMIT_RANGES).map(around).collect();
    let headline = format!("[{path}#{}] is not the current version of the file.", version.tag);
    let explanation = format!(
        "The file is [{path}#{now}] now and has {count} lines: use this tag and the line numbers of this version."
    );
    let report = AnchorReport::new(current_text, path, headline, &ranges, explanation);
    let failure = Failure {
        operation: version.operation,
        path: Some(path.clone()),
        code: Code::HashMismatch,
        message: report.headline.clone() + " " + report.explanation.clone(),
        anchor: Some(version.tag.to_string()),
        lines: Some(report.rows()),
        suggestion: None,
        is_applied: false,
    };
    (failure, report)
}

/// Limits for the lines that this refusal shows: of one hunk, and the number of hunks.
const SHOWN_LIMIT_LINES: u64 = 40;
const SHOWN_LIMIT_RANGES: usize = 20;
