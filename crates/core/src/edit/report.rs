//! The texts that a harness hands to the model: fresh anchors after success, the current
//! lines and the truth about the cause after a refusal.

mod answer;
mod applied;
mod blockless;
mod broken;
mod cut;
mod diff;
mod hunks;
mod nearest;
pub(super) mod rejected;
mod repeated;
mod section;

use hashline_disk::commit::{Conflict, RecoveryReport};
use hashline_lines::rows::{cut_line_bytes, one_line};
use hashline_memory::{LineSet, ShownLines, ShownPart};

pub use answer::{ANSWER_CONTEXT_MAX_LINES, AnswerForm, AnswerOptions};
pub use applied::{FileReport, RowStyle, applied_text, created_section, reindented_message};
pub use blockless::no_block_failure;
pub use broken::{BreakReport, BrokenTold, fault_rows};
pub use cut::cut_row_failure;
pub use diff::{
    DELETED_LIMIT_BYTES, DIFF_LIMIT_REGIONS, created_hunks, deleted_hunks, edited_hunks,
    unshown_diff,
};
pub use hunks::{HunkNames, stale_version};
pub use nearest::nearest_failure;
pub use rejected::{AnchorReport, anchor_failures, rejected_text, untold};
pub use repeated::repeated_failure;
pub use section::{Note, Section};

/// Lines shown on either side of a failed anchor.
pub(super) const CONTEXT_LINES: u64 = 2;

/// How much of a line a report shows; the anchor stays valid, a hint may be its beginning.
const LINE_LIMIT_BYTES: usize = 1_000;

/// What is known of lines that a report shows: of long ones the start.
pub fn reported_lines<'t>(lines: LineSet, text_of: impl Fn(u64) -> Option<&'t [u8]>) -> ShownLines {
    let part = |number| {
        let line = text_of(number)?;
        let shown = cut_line_bytes(line, LINE_LIMIT_BYTES);
        (shown < line.len()).then(|| ShownPart::new(number, &(0..shown), line.len()))
    };
    let parts = lines.ranges().iter().cloned().flatten().filter_map(part).collect();
    ShownLines { parts, lines }
}

/// A number of things, in words.
pub(super) fn number_of(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What is said of things that have no place in a text.
fn not_shown(count: usize, noun: &str, which: &str) -> Option<String> {
    let are = if count == 1 { "is" } else { "are" };
    let told = number_of(count as u64, &format!("more {noun}"));
    (count > 0).then(|| format!("({told}{which} {are} not shown.)"))
}

/// What a call that worked off an interrupted patch has to tell of it: the files that someone
/// else had changed meanwhile. Each row begins with a line feed.
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
