//! The report of an applied patch: every changed region with fresh anchors, and by how much the
//! numbers of later lines moved.

use std::borrow::Cow;

use super::{AnswerOptions, HunkNames, Note, Section, number_of, omission};
use crate::edit::outcome::{
    Applied, Change, FileChange, Noop, NoopReason, Repair, Warning, WarningCode,
};
use crate::edit::plan::{Plan, Region};
use crate::edit::repair::Reindented;
use crate::edit::request::Operation;
use crate::edit::resolve::AmbiguousLines;
use hashline_base::error::{Mention, Message};
use hashline_disk::bytes::Document;
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::mixes_line_number;
use hashline_lines::lines::{LineIndex, Lines, Span, Unit, count_lines};
use hashline_lines::rows::{file_header, one_line, version_header};
use hashline_memory::{LineSet, ShownLines};

/// Only the first and last lines of a region with more new lines are shown.
const REGION_LIMIT_LINES: u64 = 16;

/// The name of a text in memory, which has no path.
const IN_MEMORY: &str = "text";

/// Once the rows of a file have this size, its other changed regions are only counted.
pub(super) const ROWS_LIMIT_BYTES: usize = 50_000;

/// The maximum number of regions in one block of rows.
const BLOCK_LIMIT_REGIONS: usize = 1_000;

/// The number of lines shown at each end of such a region.
pub(super) const REGION_END_LINES: u64 = 6;

/// The same for lines that were moved or copied, which exist elsewhere.
const PASTED_END_LINES: u64 = 2;

/// An edited file, for the report.
pub struct FileReport<'a> {
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// The file before.
    pub document: &'a Document,
    /// Its lines, as UTF-8.
    pub index: &'a LineIndex,
    /// Its changes.
    pub plan: &'a Plan,
}

/// Renders the changed regions of a file.
struct FileRenderer<'s, 'a> {
    file: &'s FileReport<'a>,
    style: RowStyle<'s>,
}

/// How an answer shows the new lines of a file.
#[derive(Clone, Copy)]
pub struct RowStyle<'a> {
    /// The form and the number of context lines.
    pub answer: AnswerOptions,
    /// The new lines that the model neither wrote nor saw. They are always shown as text.
    pub unread: &'a LineSet,
}

/// A region with its new line numbers and its text.
struct ShownRegion<'a> {
    region: &'a Region,
    /// The number of its first new line.
    first: u64,
    /// By how much the lines after this region have moved.
    shift: i64,
    text: Cow<'a, [u8]>,
}

impl<'a> ShownRegion<'a> {
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
    /// The rows of the changed regions.
    pub fn section(&self, style: RowStyle<'_>) -> Section<'a> {
        let mut section = Section::new(self.dialect);
        FileRenderer { file: self, style }.regions(&mut section);
        section
    }

    /// The numbers of added and removed lines. Unchanged lines within a region do not count.
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

impl<'a> FileRenderer<'_, 'a> {
    fn regions(&self, section: &mut Section<'a>) {
        let regions = &self.file.plan.regions;
        let (mut at, mut shift) = (0, 0);
        while at < regions.len() && section.size_bytes() < ROWS_LIMIT_BYTES {
            let mut end = at + 1;
            while end < regions.len()
                && end - at < BLOCK_LIMIT_REGIONS
                && self.share_block(&regions[end - 1], &regions[end])
            {
                end += 1;
            }
            let shown = self.shown(&regions[at..end], &mut shift);
            // A deletion has no rows if there are no context lines; `group` then adds no gap.
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

    /// Regions with their new numbers. `shift` is by how much earlier regions have moved these
    /// lines; these regions are added to it.
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

    /// Adds one block of rows: regions, the lines around and between them, and the shift.
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
        // After a row of anchors, the line need not be named.
        if self.anchors_suffice(last) && !mixes_line_number(self.file.dialect) {
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

    /// Whether two regions belong to one block because no line between them is hidden.
    fn share_block(&self, above: &Region, below: &Region) -> bool {
        let between = below.after_line - (above.after_line + above.old_lines);
        !self.style.answer.is_brief() && between <= 2 * self.style.answer.context_lines()
    }

    fn new_lines(&self, shown: &ShownRegion<'a>, section: &mut Section<'a>) {
        let ends = if is_pasted(shown.region) { PASTED_END_LINES } else { REGION_END_LINES };
        let lines = (shown.first, shown.region.new_lines);
        add_new_lines(shown.lines(), lines, ends, self.anchors_suffice(shown), section);
    }

    fn anchors_suffice(&self, shown: &ShownRegion<'_>) -> bool {
        anchors_suffice(self.style, (shown.first, shown.region.new_lines))
    }
}

/// Whether `count` lines from `first` on are shown as anchors alone: the model knows all of them,
/// and there is at least one.
pub(super) fn anchors_suffice(style: RowStyle<'_>, (first, count): (u64, u64)) -> bool {
    count > 0 && style.answer.is_brief() && style.unread.is_apart_from(first..first + count)
}

/// Adds `count` new lines from the number `first` on. If there are many, it adds `ends` lines of
/// each end.
pub(super) fn add_new_lines<'t>(
    lines: impl Iterator<Item = (u64, Cow<'t, [u8]>)>,
    (first, count): (u64, u64),
    ends: u64,
    anchors_suffice: bool,
    section: &mut Section<'t>,
) {
    let hidden = if count > REGION_LIMIT_LINES { first + ends..first + count - ends } else { 0..0 };
    let shown = lines.filter(|(number, _)| !hidden.contains(number));
    if anchors_suffice {
        section.anchors((first, first + count - 1), shown);
    } else {
        shown.for_each(|(number, text)| section.line(number, text));
    }
}

/// Whether all its lines were moved or copied from elsewhere.
fn is_pasted(region: &Region) -> bool {
    region.pasted.iter().map(|one| one.lines).sum::<u64>() == region.new_lines
}

/// The rows of a new file. If it is long, the middle is omitted.
pub fn created_section<'t>(
    dialect: &'static Dialect,
    text: &'t [u8],
    style: RowStyle<'_>,
) -> Section<'t> {
    let mut section = Section::new(dialect);
    let lines = (1, count_lines(text, Unit::Byte));
    let texts = (1..).zip(Lines::new(text, Unit::Byte));
    let texts = texts.map(|(number, span)| (number, Cow::Borrowed(span.text(text))));
    add_new_lines(texts, lines, REGION_END_LINES, anchors_suffice(style, lines), &mut section);
    section
}

/// The warning about a text whose indentation differs from that of the lines it replaces.
/// `is_as_shown` says that no other process can have changed these lines since they were shown.
pub fn reindented_message(operation: &Operation, found: &Reindented, is_as_shown: bool) -> Message {
    let described = |text: &str| match text {
        "" => "not indented".to_owned(),
        _ if text.bytes().all(|byte| byte == b' ') => {
            format!("indented by {}", number_of(text.len() as u64, "space"))
        }
        _ => format!("indented by {text:?}"),
    };
    let advice = if is_as_shown {
        "if that is not intended, adjust your text"
    } else {
        "if another process re-indented it since you read it, adjust your text"
    };
    let (old, new) = (described(&found.old), described(&found.new));
    Mention::OperationAtStart(operation.index)
        + format!(": line {} was {old}, its new text is {new}: {advice}.", found.line)
}

/// The text of an answer of at most `limit_bytes`, and for each section the lines that fit into it.
/// There is one section for each file of `applied.files`, with the lines that need an edition.
pub fn applied_text(
    applied: &Applied,
    sections: &[(Section<'_>, AmbiguousLines)],
    names: HunkNames<'_>,
    limit_bytes: usize,
) -> (String, Vec<ShownLines>) {
    let mut notes = LimitedText::new(limit_bytes / 2);
    // Without a header, rows of a warning would seem to belong to the file above.
    let has_tags = sections.iter().any(|(section, _)| section.tag.is_some());
    push_notes(applied, applied.files.len() > 1 && !has_tags, names, &mut notes);
    let notes = notes.into_text("remark");
    let mut files = LimitedText::new(limit_bytes.saturating_sub(notes.len()));
    let mut shown = Vec::with_capacity(sections.len());
    for (file, (section, ambiguous)) in applied.files.iter().zip(sections) {
        let path = if file.path.is_empty() { IN_MEMORY } else { &file.path };
        let headline = match section.tag {
            Some(tag) => format!("{}\n({})\n", version_header(path, tag), summary(file)),
            None if section.is_only_file => format!("{}\n", summary(file)),
            None => format!("{} {}\n", file_header(path), summary(file)),
        };
        shown.push(files.push_section(&headline, section, ambiguous, names));
    }
    let mut out = files.into_text("file") + &notes;
    if applied.files.is_empty() {
        out += "Nothing was changed.\n";
    }
    out.truncate(out.trim_end_matches('\n').len());
    (out, shown)
}

/// How to change line ends, for an edit without effect that may have been meant to.
const LINE_ENDS: &str = r#"Edits keep line ends. To change those of a file, use replace_text with all and verbatim, such as old_text "\r\n", new_text "\n"."#;

fn push_notes(
    applied: &Applied,
    needs_headers: bool,
    names: HunkNames<'_>,
    notes: &mut LimitedText,
) {
    let at_start = |operation: &usize| names.written(Mention::OperationAtStart(*operation));
    for Repair { operation, rule, description, .. } in &applied.repairs {
        let rule = rule.name();
        notes.push(&format!("{}: {description} ({rule}).\n", at_start(operation)));
    }
    for Warning { code, path, message, .. } in &applied.warnings {
        let has_rows = *code == WarningCode::Syntax;
        let header = (has_rows && needs_headers).then(|| format!("{}\n", file_header(path)));
        notes.push(&format!("{}{message}\n", header.unwrap_or_default()));
    }
    for Noop { operation, reason, is_about_line_ends, .. } in &applied.noops {
        let note = match reason {
            NoopReason::Unchanged if *is_about_line_ends => {
                format!("{} changes nothing. {LINE_ENDS}\n", at_start(operation))
            }
            NoopReason::Unchanged => format!("{} changes nothing.\n", at_start(operation)),
            NoopReason::Duplicate { of } => {
                let of = names.written(Mention::Operation(*of));
                format!("{} repeats {of} and was applied once.\n", at_start(operation))
            }
        };
        notes.push(&note);
    }
}

/// The texts that fit into a limit; after the first that does not fit, all are omitted.
struct LimitedText {
    out: String,
    limit_bytes: usize,
    omitted: usize,
}

impl LimitedText {
    fn new(limit_bytes: usize) -> LimitedText {
        LimitedText { out: String::new(), limit_bytes, omitted: 0 }
    }

    /// Adds a text if it fits and no earlier text was omitted; returns whether it was added.
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

    /// Adds a headline and the rows of its section that fit; returns the lines of these rows.
    fn push_section(
        &mut self,
        headline: &str,
        section: &Section<'_>,
        ambiguous: &AmbiguousLines,
        names: HunkNames<'_>,
    ) -> ShownLines {
        if !self.push(headline) {
            return ShownLines::default();
        }
        let room_bytes = self.limit_bytes - self.out.len();
        let rows = section.fitting(room_bytes, ambiguous, names);
        self.out += &rows.text;
        let omitted = omission(rows.omitted, "line", " of this file");
        self.out.extend(omitted.map(|omitted| omitted + "\n"));
        let versioned = ambiguous.lines().common(&rows.shown.lines);
        ShownLines { versioned, ..rows.shown }
    }

    /// The texts, and a row that says how many are omitted.
    fn into_text(self, what: &str) -> String {
        let omitted = omission(self.omitted, what, "");
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
