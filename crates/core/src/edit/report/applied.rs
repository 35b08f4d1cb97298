//! What was done: every changed region with fresh anchors, and how later numbers shifted.

use std::borrow::Cow;

use super::{AnswerOptions, HunkNames, Rows, not_shown, number_of};
use crate::edit::outcome::{
    Applied, Change, FileChange, Noop, NoopReason, Relocation, Repair, Warning, WarningCode,
};
use crate::edit::plan::{Plan, Region};
use crate::edit::repair::Reindented;
use crate::edit::request::Operation;
use crate::edit::resolve::Doubtful;
use crate::view::excerpt::ANSWER_LIMIT_BYTES;
use hashline_base::error::{Mention, Message};
use hashline_disk::bytes::Document;
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::mixes_line_number;
use hashline_lines::lines::{LineIndex, Lines, Unit, count_lines};
use hashline_lines::rows::{file_header, one_line, version_header};
use hashline_lines::tag::Tag;
use hashline_memory::{LineSet, ShownLines};

/// A region with more new lines than this is shown by its ends.
const REGION_LIMIT_LINES: u64 = 16;

/// What stands in the place of a path where a text in memory was edited.
const IN_MEMORY: &str = "text";

/// Behind so much of the rows of a file, further changed places are counted, not shown.
const ROWS_LIMIT_BYTES: usize = 50_000;

/// So many changed places at the most are shown as one stretch of lines.
const BLOCK_LIMIT_REGIONS: usize = 1_000;

/// How many lines of each end are shown then.
const REGION_END_LINES: u64 = 6;

/// Of lines that were moved or copied nobody has to see what was written.
const PASTED_END_LINES: u64 = 2;

/// A file that was edited, for the report.
pub struct FileReport<'a> {
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// The file before.
    pub document: &'a Document,
    /// Its lines, as UTF-8.
    pub index: &'a LineIndex,
    /// What was done to it.
    pub plan: &'a Plan,
}

/// What is told of the lines of a file.
#[derive(Clone, Debug, Default)]
pub struct ToldRows {
    /// Rows, each ended by `\n`.
    pub text: String,
    /// The lines that they show.
    pub shown: ShownLines,
    /// Where the row of each line ends in the text.
    pub ends: Vec<(u64, usize)>,
    /// Lines of which the rows have the anchors, but not the text.
    pub named: Vec<u64>,
    /// The lines of all anchors, with their hashes.
    pub anchors: Vec<(u64, u32)>,
    /// The tag of the new text, where lines have no hashes.
    pub tag: Option<Tag>,
    /// Whether the call is about this file alone, so that nobody has to be told which one it is.
    pub is_only_file: bool,
}

impl ToldRows {
    /// The rows, which are of this text.
    pub fn of_text<'t>(self, dialect: &Dialect, text: impl FnOnce() -> &'t [u8]) -> ToldRows {
        let tag = (!dialect.has_hashes()).then(|| Tag::of(text()));
        ToldRows { tag, ..self }
    }

    /// Puts other rows before these.
    pub fn below(mut self, above: &str) -> ToldRows {
        self.text.insert_str(0, above);
        self.ends.iter_mut().for_each(|(_, end)| *end += above.len());
        self
    }

    /// Takes back the lines whose rows do not fit into so many bytes.
    pub fn cut(&mut self, room_bytes: usize) {
        let left = self.ends.iter().filter(|&&(_, end)| end > room_bytes);
        let left: LineSet = left.map(|&(line, _)| line..line + 1).collect();
        self.shown.lines = self.shown.lines.without(&left);
        self.shown.parts.retain(|part| !left.contains(part.line));
        self.named.retain(|line| !left.contains(*line));
    }
}

/// A file that was edited, and how that is told.
struct Telling<'a> {
    file: &'a FileReport<'a>,
    style: RowStyle<'a>,
}

/// How an answer shows the new lines of a file.
#[derive(Clone, Copy)]
pub struct RowStyle<'a> {
    /// In which form.
    pub answer: AnswerOptions,
    /// The lines that the model neither wrote nor knows.
    pub unread: &'a LineSet,
    /// The lines whose rows say of which version they are.
    pub doubtful: &'a Doubtful,
    /// What the operations are called.
    pub names: HunkNames<'a>,
}

/// A region in the numbers of the new file, with its text.
struct ShownRegion<'a> {
    region: &'a Region,
    /// The number of its first new line.
    first: u64,
    /// How much later lines have moved, this region included.
    shift: i64,
    text: Cow<'a, [u8]>,
}

impl FileReport<'_> {
    /// The rows of the changed regions.
    pub fn rows(&self, style: RowStyle<'_>) -> ToldRows {
        Telling { file: self, style }.rows()
    }

    /// Lines added and removed: lines that stayed as they were do not count.
    pub fn added_and_removed(&self) -> (u64, u64) {
        let count = |region: &Region| {
            let kept = region.kept.0 + region.kept.1;
            (region.new_lines.saturating_sub(kept), region.old_lines.saturating_sub(kept))
        };
        self.plan.regions.iter().map(count).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// The number of lines after the patch.
    pub fn line_count(&self) -> u64 {
        let shift: i64 = self.plan.regions.iter().map(Region::shift).sum();
        self.index.count().saturating_add_signed(shift)
    }
}

impl Telling<'_> {
    fn rows(&self) -> ToldRows {
        let regions = &self.file.plan.regions;
        let mut rows = Rows::new(self.file.dialect, self.style.doubtful);
        let (mut at, mut shift) = (0, 0);
        while at < regions.len() && rows.out.len() < ROWS_LIMIT_BYTES {
            // Places that meet are shown together, but not thousands of them.
            let mut end = at + 1;
            while end < regions.len()
                && end - at < BLOCK_LIMIT_REGIONS
                && self.meet(&regions[end - 1], &regions[end])
            {
                end += 1;
            }
            let before = rows.out.len();
            if before > 0 && !self.style.answer.is_brief() {
                rows.gap();
            }
            let with_gap = rows.out.len();
            rows.last = None;
            self.block(&self.shown(&regions[at..end], &mut shift), &mut rows);
            // Without context there may be nothing to show where lines are gone.
            if rows.out.len() == with_gap {
                rows.out.truncate(before);
            }
            at = end;
        }
        if at < regions.len() {
            let (left, first) = (regions.len() - at, &regions[at]);
            let line = (first.after_line + 1).saturating_add_signed(shift);
            rows.gap();
            rows.note(&format!("{left} more changed places, from line {line} on, are not shown."));
            if let Some(last) = regions.last() {
                let after = last.after_line + last.old_lines;
                let shift = regions.iter().map(Region::shift).sum();
                if shift != 0 && after < self.file.index.count() {
                    rows.note(&self.shift_note(after, shift));
                }
            }
        }
        rows.into_told()
    }

    /// Regions with their new numbers. `shift` is how much later lines have moved before them, and
    /// then by them as well.
    fn shown<'r>(&self, regions: &'r [Region], shift: &mut i64) -> Vec<ShownRegion<'r>> {
        let charset = self.file.document.charset();
        let regions = regions.iter().map(|region| {
            let first = (region.after_line + 1).saturating_add_signed(*shift);
            *shift += region.shift();
            let text = charset.decode(&region.bytes).text;
            ShownRegion { region, first, shift: *shift, text }
        });
        regions.collect()
    }

    /// Regions that are shown together, the lines around and between them, and the shift.
    fn block(&self, block: &[ShownRegion<'_>], rows: &mut Rows<'_>) {
        let (first, last) = (&block[0], &block[block.len() - 1]);
        let answer = self.style.answer;
        let context_lines = if answer.is_brief() { 0 } else { answer.context_lines() };
        let mut old = (first.region.after_line + 1).saturating_sub(context_lines).max(1);
        let mut shift = first.shift - first.region.shift();
        for shown in block {
            self.old_lines(old, shown.region.after_line, shift, rows);
            self.new_lines(shown, rows);
            old = shown.region.after_line + shown.region.old_lines + 1;
            shift = shown.shift;
        }
        let after = old - 1;
        self.old_lines(old, (after + context_lines).min(self.file.index.count()), shift, rows);
        let moved: i64 = block.iter().map(|shown| shown.region.shift()).sum();
        if moved == 0 || after >= self.file.index.count() {
            return;
        }
        // Behind anchors there is no need to say after which line.
        if self.names(last) && !mixes_line_number(self.file.dialect) {
            rows.append(&format!(" (old lines below: {:+})", last.shift));
        } else {
            rows.note(&self.shift_note(after, last.shift));
        }
    }

    fn old_lines(&self, first: u64, last: u64, shift: i64, rows: &mut Rows<'_>) {
        let text = self.file.document.text();
        let Some(lines) = self.file.index.from_line(text, first) else {
            return;
        };
        for (number, span) in (first..=last).zip(lines) {
            rows.line(number.saturating_add_signed(shift), span.text(text));
        }
    }

    fn shift_note(&self, after: u64, shift: i64) -> String {
        let note = format!("Lines after {after} moved by {shift:+}.");
        if mixes_line_number(self.file.dialect) && shift != 0 {
            format!("{note} Those without letters or digits have new hashes.")
        } else {
            note
        }
    }

    /// Whether two regions are told as one: the lines shown around them follow each other.
    fn meet(&self, one: &Region, other: &Region) -> bool {
        let between = other.after_line - (one.after_line + one.old_lines);
        !self.style.answer.is_brief() && between <= 2 * self.style.answer.context_lines()
    }

    fn new_lines(&self, shown: &ShownRegion<'_>, rows: &mut Rows<'_>) {
        let ends = if is_pasted(shown.region) { PASTED_END_LINES } else { REGION_END_LINES };
        let lines = (shown.first, shown.region.new_lines);
        tell_new_lines(&shown.text, lines, ends, self.names(shown), rows);
    }

    fn names(&self, shown: &ShownRegion<'_>) -> bool {
        is_named(self.style, (shown.first, shown.region.new_lines))
    }
}

/// Whether of `count` lines from the number `first` on the anchors are enough, and there are any.
fn is_named(style: RowStyle<'_>, (first, count): (u64, u64)) -> bool {
    count > 0 && style.answer.is_brief() && style.unread.is_apart_from(first..first + count)
}

/// Tells `count` new lines from the number `first` on; of many, as many as `ends` at either end.
fn tell_new_lines(
    text: &[u8],
    (first, count): (u64, u64),
    ends: u64,
    is_named: bool,
    rows: &mut Rows<'_>,
) {
    let hidden = if count > REGION_LIMIT_LINES { ends..count - ends } else { 0..0 };
    let lines = (0..).zip(Lines::new(text, Unit::Byte));
    let shown = lines.filter(|(offset, _)| !hidden.contains(offset));
    let shown = shown.map(|(offset, span)| (first + offset, span.text(text)));
    if is_named {
        rows.anchors((first, first + count - 1), shown);
    } else {
        shown.for_each(|(number, text)| rows.line(number, text));
    }
}

/// Whether nobody wrote its lines: they come from another place.
fn is_pasted(region: &Region) -> bool {
    region.pasted.iter().map(|one| one.lines).sum::<u64>() == region.new_lines
}

/// The rows of a new file, shortened in the middle.
pub fn created_rows(dialect: &'static Dialect, text: &[u8], style: RowStyle<'_>) -> ToldRows {
    let mut rows = Rows::new(dialect, style.doubtful);
    let lines = (1, count_lines(text, Unit::Byte));
    tell_new_lines(text, lines, REGION_END_LINES, is_named(style, lines), &mut rows);
    rows.into_told()
}

/// One row for each anchor that was found on another line.
pub fn relocation_rows(relocations: &[Relocation]) -> String {
    let row = |one: &Relocation| {
        format!("{} was found {}: {} was used.\n", one.from, distance(one.distance), one.to)
    };
    relocations.iter().map(row).collect()
}

/// The warning of a text that is indented otherwise than the lines that it replaces.
pub fn reindented_message(operation: &Operation, found: &Reindented) -> Message {
    let white_space = |text: &str| match text {
        "" => "not indented".to_owned(),
        _ if text.bytes().all(|byte| byte == b' ') => {
            format!("indented by {}", number_of(text.len() as u64, "space"))
        }
        _ => format!("indented by {text:?}"),
    };
    Mention::OperationAtStart(operation.index)
        + format!(
            ": line {} was {}, its new text is {}: if others have indented it anew since it was shown, mend the new text.",
            found.line,
            white_space(&found.old),
            white_space(&found.new)
        )
}

/// The whole report; `rows` has one entry for each file of `applied.files`, and loses what there is
/// no room for. What is said of the text goes before rows.
pub fn applied_text(applied: &Applied, rows: &mut [ToldRows], names: HunkNames<'_>) -> String {
    let mut notes = ToldPart::new(ANSWER_LIMIT_BYTES / 2);
    // Rows of a warning must not be taken for rows of the file that was told last.
    let needs_headers = applied.files.len() > 1 && rows.iter().all(|rows| rows.tag.is_none());
    tell_notes(applied, needs_headers, names, &mut notes);
    let notes = notes.into_text("remark");
    let mut files = ToldPart::new(ANSWER_LIMIT_BYTES - notes.len());
    for (file, rows) in applied.files.iter().zip(rows) {
        let path = if file.path.is_empty() { IN_MEMORY } else { &file.path };
        let headline = match rows.tag {
            Some(tag) => format!("{}\n({})\n", version_header(path, tag), summary(file)),
            None if rows.is_only_file => format!("{}\n", summary(file)),
            None => format!("{} {}\n", file_header(path), summary(file)),
        };
        rows.cut(files.push(&headline, &rows.text));
    }
    let mut out = files.into_text("file") + &notes;
    if applied.files.is_empty() {
        out += "Nothing was changed.\n";
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn tell_notes(applied: &Applied, needs_headers: bool, names: HunkNames<'_>, notes: &mut ToldPart) {
    let at_start = |operation: &usize| names.written(Mention::OperationAtStart(*operation));
    for Repair { operation, rule, told, .. } in &applied.repairs {
        let rule = rule.name();
        notes.push(&format!("{}: {told} ({rule}).\n", at_start(operation)), "");
    }
    for Warning { code, path, message, .. } in &applied.warnings {
        let has_rows = *code == WarningCode::Syntax;
        let header = (has_rows && needs_headers).then(|| format!("{}\n", file_header(path)));
        notes.push(&format!("{}{message}\n", header.unwrap_or_default()), "");
    }
    for Noop { operation, reason, .. } in &applied.noops {
        let told = match reason {
            NoopReason::Unchanged => format!("{} changes nothing.\n", at_start(operation)),
            NoopReason::Duplicate { of } => {
                let of = names.written(Mention::Operation(*of));
                format!("{} repeats {of} and was applied once.\n", at_start(operation))
            }
        };
        notes.push(&told, "");
    }
}

/// Texts of which the first are told, as far as there is room.
struct ToldPart {
    out: String,
    limit_bytes: usize,
    left: usize,
}

impl ToldPart {
    fn new(limit_bytes: usize) -> ToldPart {
        ToldPart { out: String::new(), limit_bytes, left: 0 }
    }

    /// Adds a headline and its rows, as many of these as there is room for; how long these are.
    fn push(&mut self, headline: &str, rows: &str) -> usize {
        let room = self.limit_bytes.saturating_sub(self.out.len());
        if self.left > 0 || headline.len() > room {
            self.left += 1;
            return 0;
        }
        self.out += headline;
        let room = room - headline.len();
        if rows.len() <= room {
            self.out += rows;
            return rows.len();
        }
        let end = rows[..rows.floor_char_boundary(room)].rfind('\n').map_or(0, |end| end + 1);
        self.out += &rows[..end];
        let left = not_shown(rows[end..].lines().count(), "line", " of this file");
        self.out.extend(left.map(|left| left + "\n"));
        end
    }

    /// All that is told, and how many of what are not.
    fn into_text(self, what: &str) -> String {
        let left = not_shown(self.left, what, "");
        self.out + &left.map(|left| left + "\n").unwrap_or_default()
    }
}

fn distance(lines: i64) -> String {
    let direction = if lines > 0 { "further down" } else { "further up" };
    format!("{} {direction}", number_of(lines.unsigned_abs(), "line"))
}

fn summary(file: &FileChange) -> String {
    let FileChange { edits, added, removed, .. } = file;
    let what = match file.change {
        Change::Edited => format!("{}, +{added} -{removed}", number_of(*edits as u64, "edit")),
        Change::Created => format!("created, +{added}"),
        Change::Moved => "moved".to_owned(),
        Change::Deleted => "deleted".to_owned(),
    };
    match &file.from {
        Some(from) if file.change == Change::Moved => format!("moved from {}", one_line(from)),
        Some(from) => format!("{what}, moved from {}", one_line(from)),
        None => what,
    }
}
