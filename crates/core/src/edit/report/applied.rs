//! What was done: every changed region with fresh anchors, and how later numbers shifted.

use std::borrow::Cow;

use super::{AnswerOptions, HunkNames, Note, Section, not_shown, number_of};
use crate::edit::outcome::{
    Applied, Change, FileChange, Noop, NoopReason, Repair, Warning, WarningCode,
};
use crate::edit::plan::{Plan, Region};
use crate::edit::repair::Reindented;
use crate::edit::request::Operation;
use crate::edit::resolve::Doubtful;
use hashline_base::error::{Mention, Message};
use hashline_disk::bytes::Document;
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::mixes_line_number;
use hashline_lines::lines::{LineIndex, Lines, Span, Unit, count_lines};
use hashline_lines::rows::{file_header, one_line, version_header};
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

/// A file that was edited, and how that is told.
struct Telling<'s, 'a> {
    file: &'s FileReport<'a>,
    style: RowStyle<'s>,
}

/// How an answer shows the new lines of a file.
#[derive(Clone, Copy)]
pub struct RowStyle<'a> {
    /// In which form.
    pub answer: AnswerOptions,
    /// The lines that the model neither wrote nor knows.
    pub unread: &'a LineSet,
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

impl<'a> ShownRegion<'a> {
    /// Its new lines with their numbers.
    fn lines(&self) -> impl Iterator<Item = (u64, Cow<'a, [u8]>)> {
        let text_of = |span: Span| match &self.text {
            Cow::Borrowed(text) => Cow::Borrowed(span.text(text)),
            Cow::Owned(text) => Cow::Owned(span.text(text).to_vec()),
        };
        let lines = (self.first..).zip(Lines::new(&self.text, Unit::Byte));
        lines.map(move |(number, span)| (number, text_of(span)))
    }
}

impl<'a> FileReport<'a> {
    /// The changed regions with their lines.
    pub fn section(&self, style: RowStyle<'_>) -> Section<'a> {
        let mut section = Section::new(self.dialect);
        Telling { file: self, style }.regions(&mut section);
        section
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

impl<'a> Telling<'_, 'a> {
    fn regions(&self, section: &mut Section<'a>) {
        let regions = &self.file.plan.regions;
        let (mut at, mut shift) = (0, 0);
        while at < regions.len() && section.size_bytes() < ROWS_LIMIT_BYTES {
            // Places that meet are shown together, but not thousands of them.
            let mut end = at + 1;
            while end < regions.len()
                && end - at < BLOCK_LIMIT_REGIONS
                && self.meet(&regions[end - 1], &regions[end])
            {
                end += 1;
            }
            let shown = self.shown(&regions[at..end], &mut shift);
            // Without context there may be nothing to show where lines are gone.
            section.group(!self.style.answer.is_brief(), |section| self.block(&shown, section));
            at = end;
        }
        if at < regions.len() {
            let (places, first) = (regions.len() - at, &regions[at]);
            let line = (first.after_line + 1).saturating_add_signed(shift);
            section.gap();
            section.note(Note::Unshown { places, line });
            if let Some(last) = regions.last() {
                let after = last.after_line + last.old_lines;
                let shift = regions.iter().map(Region::shift).sum();
                if shift != 0 && after < self.file.index.count() {
                    section.note(self.shift_note(after, shift));
                }
            }
        }
    }

    /// Regions with their new numbers. `shift` is how much later lines have moved before them, and
    /// then by them as well.
    fn shown(&self, regions: &'a [Region], shift: &mut i64) -> Vec<ShownRegion<'a>> {
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
    fn block(&self, block: &[ShownRegion<'a>], section: &mut Section<'a>) {
        let (first, last) = (&block[0], &block[block.len() - 1]);
        let answer = self.style.answer;
        let context_lines = if answer.is_brief() { 0 } else { answer.context_lines() };
        let mut old = (first.region.after_line + 1).saturating_sub(context_lines).max(1);
        let mut shift = first.shift - first.region.shift();
        for shown in block {
            self.old_lines(old, shown.region.after_line, shift, section);
            self.new_lines(shown, section);
            old = shown.region.after_line + shown.region.old_lines + 1;
            shift = shown.shift;
        }
        let after = old - 1;
        self.old_lines(old, (after + context_lines).min(self.file.index.count()), shift, section);
        let moved: i64 = block.iter().map(|shown| shown.region.shift()).sum();
        if moved == 0 || after >= self.file.index.count() {
            return;
        }
        // Behind anchors there is no need to say after which line.
        if self.names(last) && !mixes_line_number(self.file.dialect) {
            section.shift_below(last.shift);
        } else {
            section.note(self.shift_note(after, last.shift));
        }
    }

    fn old_lines(&self, first: u64, last: u64, shift: i64, section: &mut Section<'a>) {
        let text = self.file.document.text();
        let Some(lines) = self.file.index.from_line(text, first) else {
            return;
        };
        for (number, span) in (first..=last).zip(lines) {
            section.line(number.saturating_add_signed(shift), span.text(text).into());
        }
    }

    fn shift_note(&self, after: u64, by: i64) -> Note {
        let has_new_hashes = mixes_line_number(self.file.dialect) && by != 0;
        Note::Shift { after, by, has_new_hashes }
    }

    /// Whether two regions are told as one: the lines shown around them follow each other.
    fn meet(&self, one: &Region, other: &Region) -> bool {
        let between = other.after_line - (one.after_line + one.old_lines);
        !self.style.answer.is_brief() && between <= 2 * self.style.answer.context_lines()
    }

    fn new_lines(&self, shown: &ShownRegion<'a>, section: &mut Section<'a>) {
        let ends = if is_pasted(shown.region) { PASTED_END_LINES } else { REGION_END_LINES };
        let lines = (shown.first, shown.region.new_lines);
        add_new_lines(shown.lines(), lines, ends, self.names(shown), section);
    }

    fn names(&self, shown: &ShownRegion<'_>) -> bool {
        is_named(self.style, (shown.first, shown.region.new_lines))
    }
}

/// Whether of `count` lines from the number `first` on the anchors are enough, and there are any.
fn is_named(style: RowStyle<'_>, (first, count): (u64, u64)) -> bool {
    count > 0 && style.answer.is_brief() && style.unread.is_apart_from(first..first + count)
}

/// Adds `count` new lines from the number `first` on; of many, `ends` at either end.
fn add_new_lines<'t>(
    lines: impl Iterator<Item = (u64, Cow<'t, [u8]>)>,
    (first, count): (u64, u64),
    ends: u64,
    is_named: bool,
    section: &mut Section<'t>,
) {
    let hidden = if count > REGION_LIMIT_LINES { first + ends..first + count - ends } else { 0..0 };
    let shown = lines.filter(|(number, _)| !hidden.contains(number));
    if is_named {
        section.anchors((first, first + count - 1), shown);
    } else {
        shown.for_each(|(number, text)| section.line(number, text));
    }
}

/// Whether nobody wrote its lines: they come from another place.
fn is_pasted(region: &Region) -> bool {
    region.pasted.iter().map(|one| one.lines).sum::<u64>() == region.new_lines
}

/// The lines of a new file, shortened in the middle.
pub fn created_section<'t>(
    dialect: &'static Dialect,
    text: &'t [u8],
    style: RowStyle<'_>,
) -> Section<'t> {
    let mut section = Section::new(dialect);
    let lines = (1, count_lines(text, Unit::Byte));
    let texts = (1..).zip(Lines::new(text, Unit::Byte));
    let texts = texts.map(|(number, span)| (number, Cow::Borrowed(span.text(text))));
    add_new_lines(texts, lines, REGION_END_LINES, is_named(style, lines), &mut section);
    section
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
            ": line {} was {}, its new text is {}: if another process re-indented it since you read it, adjust your text.",
            found.line,
            white_space(&found.old),
            white_space(&found.new)
        )
}

/// The text of an answer of at most `limit_bytes`, and for each of `sections` the lines that it has
/// room for. There is a section for each file of `applied.files`, with the lines that need an edition. What is said of
/// the text goes before rows.
pub fn applied_text(
    applied: &Applied,
    sections: &[(Section<'_>, Doubtful)],
    names: HunkNames<'_>,
    limit_bytes: usize,
) -> (String, Vec<ShownLines>) {
    let mut notes = LimitedText::new(limit_bytes / 2);
    // Rows of a warning must not be taken for rows of the file above.
    let has_tags = sections.iter().any(|(section, _)| section.tag.is_some());
    push_notes(applied, applied.files.len() > 1 && !has_tags, names, &mut notes);
    let notes = notes.into_text("remark");
    let mut files = LimitedText::new(limit_bytes.saturating_sub(notes.len()));
    let mut shown = Vec::with_capacity(sections.len());
    for (file, (section, doubtful)) in applied.files.iter().zip(sections) {
        let path = if file.path.is_empty() { IN_MEMORY } else { &file.path };
        let headline = match section.tag {
            Some(tag) => format!("{}\n({})\n", version_header(path, tag), summary(file)),
            None if section.is_only_file => format!("{}\n", summary(file)),
            None => format!("{} {}\n", file_header(path), summary(file)),
        };
        shown.push(files.push_section(&headline, section, doubtful, names));
    }
    let mut out = files.into_text("file") + &notes;
    if applied.files.is_empty() {
        out += "Nothing was changed.\n";
    }
    out.truncate(out.trim_end_matches('\n').len());
    (out, shown)
}

fn push_notes(
    applied: &Applied,
    needs_headers: bool,
    names: HunkNames<'_>,
    notes: &mut LimitedText,
) {
    let at_start = |operation: &usize| names.written(Mention::OperationAtStart(*operation));
    for Repair { operation, rule, told, .. } in &applied.repairs {
        let rule = rule.name();
        notes.push(&format!("{}: {told} ({rule}).\n", at_start(operation)));
    }
    for Warning { code, path, message, .. } in &applied.warnings {
        let has_rows = *code == WarningCode::Syntax;
        let header = (has_rows && needs_headers).then(|| format!("{}\n", file_header(path)));
        notes.push(&format!("{}{message}\n", header.unwrap_or_default()));
    }
    for Noop { operation, reason, .. } in &applied.noops {
        let told = match reason {
            NoopReason::Unchanged => format!("{} changes nothing.\n", at_start(operation)),
            NoopReason::Duplicate { of } => {
                let of = names.written(Mention::Operation(*of));
                format!("{} repeats {of} and was applied once.\n", at_start(operation))
            }
        };
        notes.push(&told);
    }
}

/// Texts, as many of the first as there is room for.
struct LimitedText {
    out: String,
    limit_bytes: usize,
    omitted: usize,
}

impl LimitedText {
    fn new(limit_bytes: usize) -> LimitedText {
        LimitedText { out: String::new(), limit_bytes, omitted: 0 }
    }

    /// Adds a text, if there is room for it and for all before; returns whether there is.
    fn push(&mut self, text: &str) -> bool {
        let room_bytes = self.limit_bytes.saturating_sub(self.out.len());
        let has_room = self.omitted == 0 && text.len() <= room_bytes;
        if has_room {
            self.out += text;
        } else {
            self.omitted += 1;
        }
        has_room
    }

    /// Adds a headline and as many rows of its section as there is room for; returns their lines.
    fn push_section(
        &mut self,
        headline: &str,
        section: &Section<'_>,
        doubtful: &Doubtful,
        names: HunkNames<'_>,
    ) -> ShownLines {
        if !self.push(headline) {
            return ShownLines::default();
        }
        let room_bytes = self.limit_bytes - self.out.len();
        let rows = section.within(room_bytes, doubtful, names);
        self.out += &rows.text;
        let omitted = not_shown(rows.left, "line", " of this file");
        self.out.extend(omitted.map(|omitted| omitted + "\n"));
        rows.shown
    }

    /// All of it, and how many texts are omitted.
    fn into_text(self, what: &str) -> String {
        let omitted = not_shown(self.omitted, what, "");
        self.out + &omitted.map(|omitted| omitted + "\n").unwrap_or_default()
    }
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
