//! Diffs: the hunks of a change, in the shape of the npm package `diff`, and in the unified format.

use imara_diff::{Algorithm, Diff, InternedInput};

use super::FileReport;
use crate::edit::outcome::{DiffHunk, FileDiff};
use hashline_lines::lines::{LineIndex, Unit};
use hashline_lines::rows::one_line;

/// The row after a line without a newline.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// A run with more old and new lines is not compared: all its lines count as replaced.
const COMPARED_LINES: usize = 20_000;

/// An edited file with more changed regions gets no hunks.
pub const DIFF_LIMIT_REGIONS: usize = 10_000;

/// A larger deleted file gets no hunks.
pub const DELETED_LIMIT_BYTES: usize = 1 << 20;

/// A run of whole lines and the text that replaces it.
struct ReplacedRun {
    /// The number of old lines before it.
    before: usize,
    /// The number of old lines that it replaces.
    old_lines: usize,
    /// Its new text.
    text: Vec<u8>,
}

/// One change. `first` is the index of its first old line, from 0.
struct TextChange<'t> {
    first: usize,
    removed: Vec<&'t [u8]>,
    added: Vec<&'t [u8]>,
}

/// The hunks of an edited file.
pub fn edited_hunks(report: &FileReport<'_>, context_lines: u64) -> Vec<DiffHunk> {
    let old = OldLines { text: report.document.text(), index: report.index };
    let runs = runs(report, &old);
    let changes: Vec<TextChange<'_>> = runs.iter().flat_map(|one| changes_in(&old, one)).collect();
    hunks_of(&old, &changes, context_lines)
}

/// The hunk of a new file.
pub fn created_hunks(text: &[u8]) -> Vec<DiffHunk> {
    hunks_of_whole(Vec::new(), lines_of(text))
}

/// The hunk of a deleted file.
pub fn deleted_hunks(text: &[u8]) -> Vec<DiffHunk> {
    hunks_of_whole(lines_of(text), Vec::new())
}

fn hunks_of_whole(removed: Vec<&[u8]>, added: Vec<&[u8]>) -> Vec<DiffHunk> {
    if removed.is_empty() && added.is_empty() {
        return Vec::new();
    }
    let index = LineIndex::new(b"", Unit::Byte);
    let nothing = OldLines { text: b"", index: &index };
    let change = TextChange { first: 0, removed, added };
    hunks_of(&nothing, &[change], 0)
}

/// The lines of a text, with their newlines.
fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The lines of the old text. Only those near changes are read.
struct OldLines<'a> {
    text: &'a [u8],
    index: &'a LineIndex,
}

impl<'a> OldLines<'a> {
    fn count(&self) -> usize {
        usize::try_from(self.index.count()).unwrap_or(usize::MAX)
    }

    /// The lines `first..end`, counted from 0, with their newlines.
    fn lines(&self, first: usize, end: usize) -> Vec<&'a [u8]> {
        let offset = |line: usize| {
            let span = self.index.span(self.text, line as u64 + 1);
            span.map_or(self.text.len(), |span| span.start)
        };
        if first >= end { Vec::new() } else { lines_of(&self.text[offset(first)..offset(end)]) }
    }
}

/// The regions of a plan as runs of whole lines. Adjacent regions become one run, because the first
/// may end within the line with which the second begins.
fn runs(report: &FileReport<'_>, old: &OldLines<'_>) -> Vec<ReplacedRun> {
    let charset = report.document.charset();
    let mut runs: Vec<ReplacedRun> = Vec::new();
    for region in &report.plan.regions {
        let (before, old_lines) = (region.after_line as usize, region.old_lines as usize);
        let (lead, text) = (charset.decode(&region.lead).text, charset.decode(&region.bytes).text);
        match runs.last_mut() {
            Some(above) if above.before + above.old_lines == before => {
                above.old_lines += old_lines;
                above.text.extend_from_slice(&lead);
                above.text.extend_from_slice(&text);
            }
            // The region adds a newline to the line before it, so that line changes, too.
            _ if !lead.is_empty() && before > 0 => {
                let open = old.lines(before - 1, before).concat();
                let text = [&open, &*lead, &*text].concat();
                runs.push(ReplacedRun { before: before - 1, old_lines: old_lines + 1, text });
            }
            _ => runs.push(ReplacedRun { before, old_lines, text: text.into_owned() }),
        }
    }
    runs
}

/// The lines that differ within a run.
fn changes_in<'t>(old: &OldLines<'t>, run: &'t ReplacedRun) -> Vec<TextChange<'t>> {
    let first = run.before;
    let removed = old.lines(first, first + run.old_lines);
    let added = lines_of(&run.text);
    if removed.len() + added.len() > COMPARED_LINES {
        return vec![TextChange { first, removed, added }];
    }
    let mut input: InternedInput<&[u8]> = InternedInput::default();
    input.update_before(removed.iter().copied());
    input.update_after(added.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let changes = diff.hunks().map(|hunk| TextChange {
        first: first + hunk.before.start as usize,
        removed: removed[hunk.before.start as usize..hunk.before.end as usize].to_vec(),
        added: added[hunk.after.start as usize..hunk.after.end as usize].to_vec(),
    });
    changes.collect()
}

/// The hunks of changes. Changes whose context lines meet share a hunk.
fn hunks_of(old: &OldLines<'_>, changes: &[TextChange<'_>], context_lines: u64) -> Vec<DiffHunk> {
    let context = usize::try_from(context_lines).unwrap_or(usize::MAX);
    let mut hunks: Vec<DiffHunk> = Vec::new();
    // The index after the last old line that a hunk shows, and by how much later lines have moved.
    let (mut next, mut shift) = (0_usize, 0_i64);
    let mut is_open = false;
    for change in changes {
        let start = change.first.saturating_sub(context);
        if !(is_open && start <= next.saturating_add(context)) {
            close(&mut hunks, old, next, context);
            let old_start = start as u64 + 1;
            let new_start = old_start.saturating_add_signed(shift);
            hunks.push(DiffHunk { old_start, new_start, ..DiffHunk::default() });
            (next, is_open) = (start, true);
        }
        let hunk = hunks.last_mut().expect("one was pushed");
        push(hunk, ' ', &old.lines(next, change.first));
        push(hunk, '-', &change.removed);
        push(hunk, '+', &change.added);
        next = change.first + change.removed.len();
        shift += change.added.len() as i64 - change.removed.len() as i64;
    }
    close(&mut hunks, old, next, context);
    hunks
}

/// Adds the context lines after the last change to the last hunk.
fn close(hunks: &mut [DiffHunk], old: &OldLines<'_>, next: usize, context: usize) {
    if let Some(hunk) = hunks.last_mut() {
        push(hunk, ' ', &old.lines(next, next.saturating_add(context).min(old.count())));
    }
}

fn push(hunk: &mut DiffHunk, mark: char, lines: &[&[u8]]) {
    for line in lines {
        let text = line.strip_suffix(b"\n");
        hunk.lines.push(format!("{mark}{}", String::from_utf8_lossy(text.unwrap_or(line))));
        if text.is_none() {
            hunk.lines.push(NO_NEWLINE.to_owned());
        }
    }
    let count = lines.len() as u64;
    hunk.old_lines += if mark == '+' { 0 } else { count };
    hunk.new_lines += if mark == '-' { 0 } else { count };
}

/// The unified diff of a file. A path is `None` where the file does not exist. A rename has git's
/// header.
pub fn unified_diff(from: Option<&str>, to: Option<&str>, hunks: &[DiffHunk]) -> String {
    let mut out = String::new();
    if let (Some(from), Some(to)) = (from, to)
        && from != to
    {
        let (from, to) = (one_line(from), one_line(to));
        out += &format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
        if hunks.is_empty() {
            return out;
        }
    }
    out += &file_lines(from, to);
    for hunk in hunks {
        let old = range(hunk.old_start, hunk.old_lines);
        let new = range(hunk.new_start, hunk.new_lines);
        out += &format!("@@ -{old} +{new} @@\n");
        for line in &hunk.lines {
            out += line;
            out.push('\n');
        }
    }
    out
}

/// The diff of a file without hunks, with the reason.
pub fn unshown_diff(from: Option<&str>, to: Option<&str>, why: &str) -> String {
    format!("{}({why})\n", file_lines(from, to))
}

fn file_lines(from: Option<&str>, to: Option<&str>) -> String {
    let name = |prefix: &str, path: Option<&str>| match path {
        Some(path) => format!("{prefix}/{}", one_line(path)),
        None => "/dev/null".to_owned(),
    };
    format!("--- {}\n+++ {}\n", name("a", from), name("b", to))
}

/// A range of a hunk header. For an empty range, the format names the line before it.
fn range(start: u64, count: u64) -> String {
    match count {
        0 => format!("{},0", start - 1),
        1 => start.to_string(),
        _ => format!("{start},{count}"),
    }
}

impl FileDiff {
    /// The diff with these hunks. A path is `None` where the file does not exist.
    pub(crate) fn of(from: Option<&str>, to: Option<&str>, hunks: Vec<DiffHunk>) -> FileDiff {
        FileDiff { text: unified_diff(from, to, &hunks), hunks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::plan::{Edit, NewLines, Plan, PlanText, plan};
    use crate::edit::request::{InsertAt, LineEdit, Operation};
    use crate::edit::splice::splice;
    use hashline_base::cancel::Cancel;
    use hashline_disk::bytes::Document;
    use hashline_lines::dialect::Dialect;
    use proptest::prelude::*;

    /// A replacement: the number of the first removed line, how many are removed, the new lines.
    type Replaced = (u64, u64, &'static [&'static str]);

    /// The text after these changes, and their hunks.
    fn hunks(before: &str, changes: &[Replaced], context_lines: u64) -> (String, Vec<DiffHunk>) {
        let document = Document::from_text(before.as_bytes());
        let index = LineIndex::new(document.text(), Unit::Byte);
        let operations: Vec<Operation<LineEdit>> = (0..changes.len())
            .map(|index| Operation {
                index,
                path: String::new(),
                action: LineEdit::Insert { at: InsertAt::End, lines: Vec::new(), block: false },
                verbatim: false,
            })
            .collect();
        let edits = changes.iter().zip(&operations).map(|(&(first, removed, lines), operation)| {
            let lines = lines.iter().map(|line| (*line).to_owned()).collect();
            if removed == 0 {
                Edit::Insert { operation, gap: first - 1, lines: NewLines::Text(lines) }
            } else {
                Edit::Replace { operation, first, last: first + removed - 1, lines }
            }
        });
        let subject = PlanText { document: &document, index: &index, cancel: &Cancel::default() };
        let plan: Plan = plan(&subject, edits.collect()).unwrap();
        let dialect = Dialect::default_dialect();
        let report = FileReport { dialect, document: &document, index: &index, plan: &plan };
        let after = splice(&document, &plan).concat();
        (String::from_utf8(after).unwrap(), edited_hunks(&report, context_lines))
    }

    fn unified(before: &str, changes: &[Replaced], context_lines: u64) -> String {
        unified_diff(Some("f"), Some("f"), &hunks(before, changes, context_lines).1)
    }

    #[test]
    fn changes_near_each_other_share_a_hunk() {
        let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let changes: [Replaced; 3] = [(4, 1, &["four"]), (8, 1, &[]), (17, 1, &["17", "17b"])];
        let expected = "--- a/f\n+++ b/f\n@@ -2,9 +2,8 @@\n 2\n 3\n-4\n+four\n 5\n 6\n 7\n-8\n 9\n 10\n@@ -16,4 +15,5 @@\n 16\n 17\n+17b\n 18\n 19\n";
        assert_eq!(unified(&before, &changes, 2), expected);
    }

    #[test]
    fn a_line_that_gains_its_newline_is_a_change() {
        let expected = "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n";
        assert_eq!(unified("a", &[(2, 0, &["b"])], 3), expected);
    }

    #[test]
    fn empty_sides_count_like_the_npm_package_and_print_in_unified_format() {
        let one = DiffHunk {
            old_start: 1,
            old_lines: 0,
            new_start: 1,
            new_lines: 1,
            lines: vec!["+a".into()],
        };
        assert_eq!(created_hunks(b"a\n"), [one]);
        let diff = unified_diff(None, Some("f"), &created_hunks(b"a\n"));
        assert_eq!(diff, "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
        let diff = unified_diff(Some("f"), None, &deleted_hunks(b"a\nb"));
        let expected =
            "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n";
        assert_eq!(diff, expected);
        assert_eq!(hunks("a\n", &[(1, 1, &["a"])], 3).1, []);
    }

    #[test]
    fn renames_and_names_with_newlines_stay_on_their_lines() {
        let renamed = "diff --git a/x b/y\nrename from x\nrename to y\n";
        assert_eq!(unified_diff(Some("x"), Some("y"), &[]), renamed);
        let forged = unified_diff(None, Some("x\n+++ b/y"), &created_hunks(b"a\n"));
        assert_eq!(forged.lines().count(), 4, "{forged}");
    }

    /// Applies hunks to a text; panics if a context line or removed line differs.
    fn patched(before: &str, hunks: &[DiffHunk]) -> String {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let mut out = String::new();
        let mut at = 0;
        for hunk in hunks {
            let start = hunk.old_start as usize - 1;
            out.extend(old[at..start].iter().copied());
            assert_eq!(out.lines().count() as u64 + 1, hunk.new_start, "{hunk:?}");
            at = start;
            let mut lines = hunk.lines.iter().peekable();
            while let Some(line) = lines.next() {
                let is_open = lines.next_if(|next| next.starts_with('\\')).is_some();
                let text = format!("{}{}", &line[1..], if is_open { "" } else { "\n" });
                if !line.starts_with('+') {
                    assert_eq!(old[at], text);
                    at += 1;
                }
                if !line.starts_with('-') {
                    out += &text;
                }
            }
            assert_eq!(at - start, hunk.old_lines as usize);
        }
        out.extend(old[at..].iter().copied());
        out
    }

    proptest! {
        #[test]
        fn hunks_applied_to_the_old_text_give_the_new_text(
            count in 0usize..12,
            is_open in any::<bool>(),
            edits in prop::collection::vec((0u64..5, 0u64..3, prop::sample::select(vec![
                &[][..], &["1"], &["a"], &["", "2"], &["a", "1", "a"],
            ])), 0..4),
            context_lines in 0u64..4,
        ) {
            let mut before: String = (0..count).map(|n| format!("{}\n", n % 3)).collect();
            if is_open {
                before.pop();
            }
            let lines = before.lines().count() as u64;
            let (mut changes, mut at) = (Vec::new(), 1);
            for (gap, removed, text) in edits {
                at += gap;
                if at > lines + 1 {
                    break;
                }
                let removed = removed.min(lines + 1 - at);
                if removed > 0 || !text.is_empty() {
                    changes.push((at, removed, text));
                }
                at += removed.max(1);
            }
            let (after, hunks) = hunks(&before, &changes, context_lines);
            prop_assert_eq!(patched(&before, &hunks), after);
        }
    }
}
