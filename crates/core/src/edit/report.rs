//! The texts that a harness passes on to the model: fresh anchors after success; the current lines
//! and the cause after a refusal.

mod answer;
mod applied;
mod broken;
mod cut;
mod diagnostics;
mod diff;
mod formatted;
mod hunks;
mod nearest;
mod no_block;
pub(super) mod rejected;
mod repeated;
mod section;
mod text_edits;

use hashline_disk::commit::{Conflict, RecoveryReport};
use hashline_lines::rows::{cut_line_bytes, one_line};
use hashline_memory::{LineSet, ShownLines, ShownPart};

pub use answer::{ANSWER_CONTEXT_MAX_LINES, AnswerForm, AnswerOptions};
pub use applied::{FileReport, RowStyle, applied_text, created_section, reindented_message};
pub use broken::{BreakMessage, BreakReport, fault_rows};
pub use cut::{changed_since_failure, cut_row_failure, invented_row_error};
pub use diagnostics::{DiagnosedFile, diagnostic_rows};
pub use diff::{
    DELETED_LIMIT_BYTES, DIFF_LIMIT_REGIONS, created_hunks, deleted_hunks, edited_hunks,
    unshown_diff,
};
pub use formatted::{FinalRange, FinalText, Formatted};
pub use hunks::{HunkNames, stale_version};
pub use nearest::nearest_failure;
pub use no_block::no_block_failure;
pub use rejected::{AnchorReport, anchor_failures, omitted_problems, rejected_text};
pub use repeated::repeated_failure;
pub use section::{Note, Section};
pub use text_edits::text_edits;

/// Lines shown on either side of a failed anchor.
pub(in crate::edit) const CONTEXT_LINES: u64 = 2;

/// A longer line is cut in a report. Its anchor stays valid, because a hint may be the start of a
/// line.
const LINE_LIMIT_BYTES: usize = 1_000;

/// The lines that a report shows, for the memory. Only the start of a long line counts as shown.
pub fn reported_lines<'t>(lines: LineSet, text_of: impl Fn(u64) -> Option<&'t [u8]>) -> ShownLines {
    let part = |number| {
        let line = text_of(number)?;
        let shown = cut_line_bytes(line, LINE_LIMIT_BYTES);
        (shown < line.len()).then(|| ShownPart::new(number, &(0..shown), line.len()))
    };
    let parts = lines.ranges().iter().cloned().flatten().filter_map(part).collect();
    ShownLines { parts, lines, versioned: LineSet::default() }
}

/// A count with its noun, which gets an `s` except after 1.
pub(super) fn number_of(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The row that says how many things a text omits; `None` if it omits none.
fn omission(count: usize, noun: &str, which: &str) -> Option<String> {
    let are = if count == 1 { "is" } else { "are" };
    let more = number_of(count as u64, &format!("more {noun}"));
    (count > 0).then(|| format!("({more}{which} {are} not shown.)"))
}

/// The rows about an interrupted patch that a call has recovered: one for each file that another
/// process had changed in the meantime. Each row begins with a newline.
pub fn recovery_rows(report: &RecoveryReport) -> String {
    let row = |conflict: &Conflict| {
        let path = one_line(&conflict.path);
        let kept = if conflict.kept.is_empty() {
            String::new()
        } else {
            format!("; the patch's version is in {}", conflict.kept.join(", "))
        };
        format!(
            "\nAn interrupted patch was recovered: another process had changed {path}, which was kept{kept}."
        )
    };
    report.conflicts.iter().map(row).collect()
}
