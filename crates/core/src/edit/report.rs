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

use crate::edit::resolve::Doubtful;
use hashline_disk::bytes::string_of;
use hashline_disk::commit::{Conflict, RecoveryReport};
use hashline_lines::anchor::anchor_text;
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::LineHasher;
use hashline_lines::rows::{GAP, cut_line_bytes, one_line, render_part};
use hashline_memory::{LineSet, ShownLines, ShownPart};

pub use answer::{ANSWER_CONTEXT_MAX_LINES, AnswerForm, AnswerOptions};
pub use applied::{
    FileReport, RowStyle, ToldRows, applied_text, created_rows, reindented_message, relocation_rows,
};
pub use blockless::{block_rows, no_block_failure};
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
            format!("; the patch's version is kept in {}", conflict.kept.join(", "))
        };
        format!(
            "\nAn interrupted patch was recovered: {path} was changed by someone else and left{kept}."
        )
    };
    report.conflicts.iter().map(row).collect()
}

/// Rows of a report: lines with anchors, gaps where numbers jump.
struct Rows<'d> {
    hasher: LineHasher,
    doubtful: &'d Doubtful,
    out: Vec<u8>,
    last: Option<u64>,
    shown: ShownLines,
    /// Where the row of each line ends.
    ends: Vec<(u64, usize)>,
    /// Lines of which only the anchors are told.
    named: Vec<u64>,
    /// The lines of all anchors, with their hashes.
    anchors: Vec<(u64, u32)>,
}

impl<'d> Rows<'d> {
    fn new(dialect: &'static Dialect, doubtful: &'d Doubtful) -> Rows<'d> {
        let hasher = LineHasher::new(dialect);
        let (out, named, anchors) = (Vec::new(), Vec::new(), Vec::new());
        let shown = ShownLines::default();
        Rows { hasher, doubtful, out, last: None, shown, ends: Vec::new(), named, anchors }
    }

    /// Adds a line; a gap before it when it does not follow the last one.
    fn line(&mut self, number: u64, text: &[u8]) {
        if self.last.is_some_and(|last| number > last + 1) {
            self.gap();
        }
        let hash = self.hasher.hash(number, text);
        let (dialect, start) = (self.hasher.dialect(), self.out.len());
        let part = 0..cut_line_bytes(text, LINE_LIMIT_BYTES);
        render_part(dialect, number, hash, text, part.clone(), &mut self.out);
        self.shown.lines.insert(number..number + 1);
        if part.len() < text.len() {
            self.shown.parts.push(ShownPart::new(number, &part, text.len()));
        }
        if let Some(edition) = self.doubtful.edition(number) {
            let end = start + dialect.anchor_text(number, hash).len();
            self.out.splice(end..end, edition.to_string().into_bytes());
        }
        self.anchors.push((number, hash));
        self.out.push(b'\n');
        self.ends.push((number, self.out.len()));
        self.last = Some(number);
    }

    /// Adds the anchors of a stretch of lines alone: `4-6: 4:ab 5:cd 6:ef`, and `4:ab` of one line;
    /// without hashes, the range.
    fn anchors<'t>(
        &mut self,
        (first, last): (u64, u64),
        lines: impl Iterator<Item = (u64, &'t [u8])>,
    ) {
        let range = if first == last { first.to_string() } else { format!("{first}-{last}") };
        if !self.hasher.dialect().has_hashes() {
            let before = self.named.len();
            self.named.extend(lines.map(|(number, _)| number));
            self.note(&format!("({range})"));
            return self.end_named(before);
        }
        let before = self.named.len();
        let mut row = if first == last { Vec::new() } else { vec![format!("{range}:")] };
        let mut next = first;
        for (number, text) in lines {
            if number > next {
                row.push(GAP.to_owned());
            }
            let hash = self.hasher.hash(number, text);
            let edition = self.doubtful.edition(number);
            row.push(anchor_text(self.hasher.dialect(), number, hash, edition));
            self.named.push(number);
            self.anchors.push((number, hash));
            next = number + 1;
        }
        self.note(&row.join(" "));
        self.end_named(before);
    }

    /// Notes that a row ends which names lines.
    fn end_named(&mut self, first: usize) {
        let end = self.out.len();
        self.ends.extend(self.named[first..].iter().map(|&line| (line, end)));
    }

    /// Adds to the last row.
    fn append(&mut self, text: &str) {
        let end = self.out.pop();
        debug_assert_eq!(end, Some(b'\n'));
        self.note(text);
    }

    fn gap(&mut self) {
        self.out.extend_from_slice(GAP.as_bytes());
        self.out.push(b'\n');
    }

    fn note(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'\n');
    }

    fn into_told(self) -> ToldRows {
        let Rows { shown, ends, named, anchors, .. } = self;
        ToldRows { text: string_of(self.out), shown, ends, named, anchors, ..ToldRows::default() }
    }

    fn into_text(self) -> String {
        string_of(self.out)
    }
}
