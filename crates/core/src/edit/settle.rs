//! The answer to a patch after the host has worked on its files, such as by a formatter: its
//! anchors, counts and diff are those of the texts now, compared with the texts before the patch.

mod alignment;
mod diagnosed;
mod now;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::line_diff::{Hunk, text_hunks};
use super::outcome::{Applied, Change, FileChange, FileDiff, Warning, WarningCode};
use super::plan::{Plan, Region};
use super::report::{
    BreakReport, DELETED_LIMIT_BYTES, DIFF_LIMIT_REGIONS, FileReport, FinalRange, FinalText,
    Formatted, HunkNames, Note, RowStyle, Section, applied_text, created_hunks, created_section,
    deleted_hunks, edited_hunks, text_edits, unshown_diff,
};
use super::resolve::AmbiguousLines;
use super::session::CallMemory;
use super::structure::{Break, Checked, Revision, SOURCE_LIMIT_BYTES, SyntaxTree, check};
use super::written::{AfterWrite, Written, WrittenFile};
use crate::view::scope::Scope;
use alignment::Alignment;
use hashline_disk::bytes::Document;
use hashline_lines::dialect::Dialect;
use hashline_lines::lines::{LineIndex, Unit};
use hashline_lines::rows::one_line;
use hashline_lines::tag::Tag;
use hashline_memory::{Body, LineChanges, LineSet, MemoryUpdate, ShownLines, Splice, Version};
use now::{FileNow, TextNow, file_now};

/// The answer, and what a session learns from it.
pub struct Settled {
    /// The answer.
    pub applied: Applied,
    /// What the memory learns.
    pub updates: Vec<MemoryUpdate>,
    /// The files of which lines are shown.
    pub files: Vec<PathBuf>,
    /// Syntax trees for the next edits.
    pub trees: Vec<(PathBuf, Option<SyntaxTree>)>,
}

/// The part of the answer about one file.
struct FilePart {
    change: FileChange,
    section: Section<'static>,
    ambiguous: AmbiguousLines,
    /// What the memory learns, without the lines that are shown; `None` if it learns nothing.
    update: Option<MemoryUpdate>,
    /// The lines that the model knows, by their numbers now.
    known: LineSet,
    /// The lines that a warning shows.
    in_warning: ShownLines,
    /// The warning about the syntax now; `None` if that of the patch still holds.
    warning: Option<Option<Warning>>,
    tree: Option<SyntaxTree>,
}

/// The context of a call.
#[derive(Clone, Copy)]
struct Settling<'a> {
    scope: &'a Scope<'a>,
    call_memory: &'a CallMemory<'a>,
    written: &'a Written,
}

/// Builds the answer to a patch from the current content of its files.
pub fn settle(
    scope: &Scope<'_>,
    call_memory: &CallMemory<'_>,
    written: &Written,
    after: &AfterWrite,
) -> Settled {
    let settling = Settling { scope, call_memory, written };
    let files = written.applied.files.iter().zip(&written.files);
    let mut parts: Vec<FilePart> =
        files.map(|(change, file)| settling.part(change, file)).collect();
    let mut applied = Applied { written: None, ..written.applied.clone() };
    applied.files = parts.iter().map(|part| part.change.clone()).collect();
    settling.replace_warnings(&mut applied, &mut parts);
    let limit_bytes = scope.host.answer_limit_bytes;
    let diagnosed = diagnosed::rows(scope, call_memory, &after.diagnostics, limit_bytes / 4);
    let note = notes(&after.notes);
    let room_bytes = limit_bytes.saturating_sub(note.len() + diagnosed.text.len());
    let (sections, rest): (Vec<_>, Vec<_>) = parts.into_iter().map(FilePart::split).unzip();
    let names = HunkNames::of_hunks(&written.hunks);
    let (text, shown) = applied_text(&applied, &sections, names, room_bytes);
    applied.text = text + &written.recovered + &note + &diagnosed.text;
    let mut settled =
        Settled { applied, updates: Vec::new(), files: diagnosed.files, trees: Vec::new() };
    for (file, shown) in rest.into_iter().zip(shown) {
        settled.learn(file, shown, written.is_silent);
    }
    if !written.is_silent {
        settled.updates.extend(diagnosed.updates);
    }
    settled
}

/// At most this many notes are shown.
const NOTES_LIMIT: usize = 5;

/// Notes, each on its line.
fn notes(notes: &[String]) -> String {
    let mut shown: String =
        notes.iter().take(NOTES_LIMIT).map(|note| format!("\n({note}.)")).collect();
    if notes.len() > NOTES_LIMIT {
        shown += &format!("\n(And {} more notes.)", notes.len() - NOTES_LIMIT);
    }
    shown
}

/// What the memory learns of a file.
struct Learned {
    update: Option<MemoryUpdate>,
    known: LineSet,
    in_warning: ShownLines,
    tree: Option<SyntaxTree>,
}

impl FilePart {
    fn split(self) -> ((Section<'static>, AmbiguousLines), Learned) {
        let FilePart { section, ambiguous, update, known, in_warning, tree, .. } = self;
        ((section, ambiguous), Learned { update, known, in_warning, tree })
    }
}

impl Settled {
    fn learn(&mut self, file: Learned, mut shown: ShownLines, is_silent: bool) {
        let Learned { update, known, in_warning, tree } = file;
        shown.lines.extend(&in_warning.lines);
        shown.parts.extend(in_warning.parts);
        if is_silent {
            shown = shown.common(&known);
        }
        // A rendered line can be cut, but the model knows all of the text that it wrote.
        shown.extend(&shown.lines.common(&known));
        let update = update.map(|update| match update {
            MemoryUpdate::Edited { file, before, after, changes, .. } => {
                MemoryUpdate::Edited { file, before, after, changes, shown }
            }
            MemoryUpdate::Shown { file, text, .. } => {
                MemoryUpdate::Shown { file, text, lines: shown }
            }
            other => other,
        });
        if let Some(MemoryUpdate::Edited { file, .. } | MemoryUpdate::Shown { file, .. }) = &update
        {
            self.files.push(file.clone());
            self.trees.extend(tree.map(|tree| (file.clone(), Some(tree))));
        }
        self.updates.extend(update);
    }
}

impl Settling<'_> {
    fn dialect(&self) -> &'static Dialect {
        self.scope.dialect
    }

    fn part(&self, change: &FileChange, file: &WrittenFile) -> FilePart {
        let Some(name) = &file.name else { return unchanged(change, file) };
        match file_now(self.scope, self.call_memory.memory, &change.path, name) {
            FileNow::Text(now) => match &file.after {
                Some(after) if after.hash() == now.version.hash() => self.same(change, file, now),
                Some(_) => self.formatted(change, file, &now),
                None => self.without_rows(change, file, now_cannot_be_compared(change)),
            },
            // What was not text when it was moved has no rows anyway.
            FileNow::Unreadable(_) if file.after.is_none() => unchanged(change, file),
            FileNow::Unreadable(why) => self.without_rows(change, file, why),
            FileNow::Gone => self.gone(change, file),
        }
    }

    /// The part of a file that has the text that the patch wrote.
    fn same(&self, change: &FileChange, file: &WrittenFile, now: TextNow) -> FilePart {
        let part = unchanged(change, file);
        let Some(name) = &file.name else { return part };
        let lines: Vec<u64> = part.section.anchored_lines().map(|(line, _)| line).collect();
        let ambiguous = match now.version.body() {
            Some(body) => self.call_memory.ambiguous(self.dialect(), name, body, lines),
            None => AmbiguousLines::default(),
        };
        let text = now.version;
        let update =
            Some(MemoryUpdate::Shown { file: name.clone(), text, lines: ShownLines::default() });
        // Its bytes may be others, such as in another encoding.
        let snapshot = part.change.snapshot.is_some().then_some(now.snapshot);
        let change = FileChange { snapshot, ..part.change };
        FilePart { change, ambiguous, update, known: file.known.clone(), ..part }
    }

    /// The part of a file without text.
    fn without_rows(&self, change: &FileChange, file: &WrittenFile, why: String) -> FilePart {
        let text = format!("After the write, {why}.");
        let mut section = section_like(file, Section::new(self.dialect()));
        section.note(Note::NoRows(text));
        let from = change.from.as_deref().unwrap_or(&change.path);
        let from = (change.change != Change::Created).then_some(from);
        let diff = change.diff.as_ref().map(|_| FileDiff {
            text: unshown_diff(from, Some(&change.path), &one_line(&why)),
            hunks: Vec::new(),
        });
        let change =
            FileChange { line_count: None, snapshot: None, syntax: None, diff, ..change.clone() };
        FilePart { section, warning: Some(None), ..of_change(change) }
    }

    /// The part of a file that does not exist any more.
    fn gone(&self, change: &FileChange, file: &WrittenFile) -> FilePart {
        let path = one_line(&change.path).into_owned();
        let mut part = self.without_rows(change, file, format!("{path} does not exist"));
        let before = file.before.as_ref().and_then(Version::body);
        let from = change.from.as_deref().unwrap_or(&change.path);
        let small = before.filter(|before| before.text.len() <= DELETED_LIMIT_BYTES);
        let of_text = |before: Body<'_>| FileDiff::of(Some(from), None, deleted_hunks(before.text));
        part.change = FileChange {
            change: Change::Deleted,
            edits: 0,
            added: 0,
            removed: before.map_or(0, |before| before.count()),
            diff: part.change.diff.take().map(|diff| small.map_or(diff, of_text)),
            ..part.change
        };
        part
    }

    /// The part of a file that has another text than the patch wrote.
    fn formatted(&self, change: &FileChange, file: &WrittenFile, now: &TextNow) -> FilePart {
        let texts = file.name.as_ref().zip(file.after.as_ref()).zip(now.version.body());
        let Some(((name, written), text)) = texts else {
            return self.without_rows(change, file, now_cannot_be_compared(change));
        };
        let Some(written_body) = written.body() else {
            return self.without_rows(change, file, now_cannot_be_compared(change));
        };
        let alignment = Alignment::of(&lines_of(written_body), &lines_of(text));
        let memory = self.call_memory.memory;
        let mut known = memory.known_lines(name, written.hash(), memory.now());
        known.extend(&file.known);
        let known = alignment.kept(&known);
        let ranges = alignment.ranges(&file.regions);
        let (section, stated) = self.final_section(file, text, &ranges, &known);
        let update = self.update(file, name, written, &now.version, &alignment);
        let (warning, checked) = self.syntax(change, file, text);
        let change = self.final_change(change, file, now, &checked);
        let mut part = FilePart {
            section,
            known,
            warning: Some(None),
            update: Some(update),
            ..of_change(change)
        };
        self.warn(&mut part, warning, name, text);
        let written_ends = Ends::of(written_body.text);
        let mut formatted = formatted_beyond(&alignment, &part.section, &ranges);
        formatted.has_other_ends = Ends::of(text.text) != written_ends;
        let before = file.before.as_ref().map(Version::count);
        let shift = before.map(|before| text.count() as i64 - before as i64);
        let is_below = alignment.moves_lines_after(ranges.last().map_or(0, |range| range.new.end));
        formatted.shift = shift.filter(|&shift| is_below && shift != stated);
        if !formatted.is_empty() {
            part.section.note(Note::Formatted(formatted));
        }
        part.tree = checked.into_tree();
        part
    }

    /// The rows of the final text, and by how much they say that the old lines after them moved.
    fn final_section(
        &self,
        file: &WrittenFile,
        text: Body<'_>,
        ranges: &[FinalRange],
        known: &LineSet,
    ) -> (Section<'static>, i64) {
        let unread = LineSet::of(1, text.count()).without(known);
        let style = RowStyle { answer: self.written.answer, unread: &unread };
        let is_created = file.before.is_none();
        let (section, stated) = if is_created {
            (created_section(self.dialect(), text.text, style), 0)
        } else {
            let old_count = file.before.as_ref().map_or(0, Version::count);
            let (dialect, index) = (self.dialect(), text.index);
            FinalText { dialect, text: text.text, index, old_count, ranges, style }.section()
        };
        let notes = file.section.notes_above().into_iter();
        let mut section = section_like(file, section.with_notes_above(notes).into_owned());
        section.tag = (!self.dialect().has_hashes()).then(|| Tag::of(text.text));
        (section, stated)
    }

    /// What the memory learns, without the lines that are shown. A change of lines that the patch
    /// wrote is like an edit: the memory follows all other lines exactly. After another change it
    /// compares the texts, as after any change by another process.
    fn update(
        &self,
        file: &WrittenFile,
        name: &Path,
        written: &Version,
        now: &Version,
        alignment: &Alignment,
    ) -> MemoryUpdate {
        let (file_name, shown) = (name.to_owned(), ShownLines::default());
        let regions = file.regions.iter();
        let lines: LineSet =
            regions.map(|region| region.first..region.first + region.new_lines).collect();
        if !self.is_last_text(name, written) || !alignment.changes_only(&lines) {
            return MemoryUpdate::Shown { file: file_name, text: now.clone(), lines: shown };
        }
        let splices = alignment.splices();
        let pasted = Splice::written(&splices);
        MemoryUpdate::Edited {
            file: file_name,
            before: written.clone(),
            after: now.clone(),
            changes: LineChanges { pasted, ..LineChanges::of(splices) },
            shown,
        }
    }

    /// Whether a text is the last one that the memory knows of a file. The host may have edited the
    /// file in the same session meanwhile.
    fn is_last_text(&self, name: &Path, text: &Version) -> bool {
        let record = self.call_memory.memory.record(name);
        let last = record.file().and_then(|file| file.lineages.last());
        last.is_some_and(|last| last.tip == text.hash())
    }

    /// The first error, if the file does not parse any more, and the check.
    fn syntax(
        &self,
        change: &FileChange,
        file: &WrittenFile,
        text: Body<'_>,
    ) -> (Option<Break>, Checked) {
        let is_checked = self.written.checks_syntax && text.text.len() <= SOURCE_LIMIT_BYTES;
        if !is_checked {
            return (None, Checked::unknown());
        }
        let from = change.from.as_deref().unwrap_or(&change.path);
        let before = file.before.as_ref().and_then(Version::body);
        let before = before.map(|before| (from, before.text));
        let revision = Revision { before, path: &change.path, text: Arc::new(text.text.to_vec()) };
        let checked = check(revision, None, self.scope.budget);
        (checked.fault.clone(), checked)
    }

    /// Adds the warning about the syntax, and finds the lines whose anchors are ambiguous.
    fn warn(&self, part: &mut FilePart, fault: Option<Break>, name: &Path, text: Body<'_>) {
        let path = part.change.path.clone();
        let dialect = self.dialect();
        let report = fault.as_ref().map(|found| BreakReport {
            dialect,
            path: &path,
            found,
            suggestion: None,
        });
        let message =
            |ambiguous: &AmbiguousLines| Some(report.as_ref()?.warning(text.text, ambiguous));
        let in_warning = message(&AmbiguousLines::default());
        let in_warning =
            in_warning.iter().flat_map(|one| one.anchors.iter().map(|&(line, _)| line));
        let lines = part.section.anchored_lines().map(|(line, _)| line).chain(in_warning);
        let lines: Vec<u64> = lines.collect();
        part.ambiguous = match &part.update {
            Some(update @ MemoryUpdate::Edited { .. }) => {
                self.call_memory.ambiguous_after(dialect, update, lines)
            }
            _ => self.call_memory.ambiguous(dialect, name, text, lines),
        };
        if let Some(broken) = message(&part.ambiguous) {
            let (code, operation) = (WarningCode::Syntax, None);
            part.in_warning = broken.shown;
            part.warning = Some(Some(Warning { code, operation, path, message: broken.message }));
        }
    }

    /// The change of a file from the text before the patch to the text now.
    fn final_change(
        &self,
        change: &FileChange,
        file: &WrittenFile,
        now: &TextNow,
        checked: &Checked,
    ) -> FileChange {
        let text = now.version.body();
        let mut new = FileChange {
            line_count: Some(now.version.count()),
            snapshot: Some(now.snapshot.clone()),
            syntax: change.syntax.map(|_| checked.state),
            document: change.document.clone(),
            ..change.clone()
        };
        let before = file.before.as_ref().and_then(Version::body);
        match (before, text) {
            (None, Some(text)) => {
                new.added = text.count();
                let hunks = || created_hunks(text.text);
                new.diff = new.diff.map(|_| FileDiff::of(None, Some(&change.path), hunks()));
            }
            (Some(before), Some(text)) => self.final_edit(&mut new, before, text),
            (_, None) => {}
        }
        if let (Some(document), Some(content)) = (&mut new.document, &now.document) {
            document.content = Some(content.clone());
        }
        new
    }

    fn final_edit(&self, change: &mut FileChange, before: Body<'_>, text: Body<'_>) {
        if change.change == Change::Moved {
            change.change = Change::Edited;
        }
        let document = Document::from_text(before.text);
        let plan = plan_between(before, text);
        let (dialect, index) = (self.dialect(), before.index);
        let report = FileReport { dialect, document: &document, index, plan: &plan };
        (change.added, change.removed) = report.added_and_removed();
        if let Some(document_change) = &mut change.document
            && !document_change.text_edits.is_empty()
        {
            document_change.text_edits = text_edits(&document, &plan);
            document_change.count_byte_order_mark();
        }
        let Some(context_lines) = self.written.diff_context_lines else { return };
        let from = change.from.as_deref().unwrap_or(&change.path);
        let (from, to) = (Some(from), Some(change.path.as_str()));
        change.diff = Some(if plan.regions.len() > DIFF_LIMIT_REGIONS {
            let text = unshown_diff(from, to, "its lines are not shown: there are too many");
            FileDiff { text, hunks: Vec::new() }
        } else {
            FileDiff::of(from, to, edited_hunks(&report, context_lines))
        });
    }

    /// Replaces the warnings about the syntax of files whose text is another one now.
    fn replace_warnings(&self, applied: &mut Applied, parts: &mut [FilePart]) {
        for part in parts {
            let Some(warning) = part.warning.take() else { continue };
            let path = &part.change.path;
            applied
                .warnings
                .retain(|known| known.code != WarningCode::Syntax || known.path != *path);
            applied.warnings.extend(warning);
        }
    }
}

/// The lines of a text without their terminators.
fn lines_of(body: Body<'_>) -> Vec<&[u8]> {
    body.lines().collect()
}

fn now_cannot_be_compared(change: &FileChange) -> String {
    format!("{} is too large to be compared", one_line(&change.path))
}

/// A part with nothing but its change.
fn of_change(change: FileChange) -> FilePart {
    FilePart {
        change,
        section: Section::new(Dialect::default_dialect()),
        ambiguous: AmbiguousLines::default(),
        update: None,
        known: LineSet::default(),
        in_warning: ShownLines::default(),
        warning: None,
        tree: None,
    }
}

/// The part as the patch left it.
fn unchanged(change: &FileChange, file: &WrittenFile) -> FilePart {
    let (section, in_warning) = (file.section.clone(), file.in_warning.clone());
    FilePart { section, in_warning, ..of_change(change.clone()) }
}

/// A section with the header of another one.
fn section_like(file: &WrittenFile, mut section: Section<'static>) -> Section<'static> {
    section.is_only_file = file.section.is_only_file;
    section
}

/// The changes between two texts, as a plan.
fn plan_between(before: Body<'_>, now: Body<'_>) -> Plan {
    let region = |Hunk { before: old, after: new }: Hunk| {
        let bytes = now.text[now.index.bytes_of(now.text, &new)].to_vec();
        let range = before.index.bytes_of(before.text, &old);
        Region::of_lines(old.start, (old.end - old.start, new.end - new.start), range, bytes)
    };
    let hunks = text_hunks(before.text, now.text).into_iter();
    Plan { regions: hunks.map(region).collect(), ..Plan::default() }
}

/// The lines of a text with their terminators.
fn text_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
}

/// How the lines of a text end.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ends {
    has_returns: bool,
    is_open: bool,
}

impl Ends {
    fn of(text: &[u8]) -> Ends {
        let has_returns = text_lines(text).next().is_some_and(|line| line.ends_with(b"\r\n"));
        Ends { has_returns, is_open: text.last().is_some_and(|&last| last != b'\n') }
    }
}

/// What was changed beyond the rows of an answer.
fn formatted_beyond(
    alignment: &Alignment,
    section: &Section<'_>,
    ranges: &[FinalRange],
) -> Formatted {
    let edited: LineSet =
        ranges.iter().map(|range| range.new.start + 1..range.new.end + 1).collect();
    let shown = section.shown().lines.common(&edited);
    let changed = alignment.changed.iter().map(|hunk| hunk.after.start + 1..hunk.after.end + 1);
    let changed: LineSet = changed.filter(|lines| !lines.is_empty()).collect();
    let is_apart =
        |line: u64| !ranges.iter().any(|range| (range.new.start..=range.new.end).contains(&line));
    let removed = alignment.changed.iter().filter(|hunk| hunk.after.is_empty());
    let removed_after = removed.map(|hunk| hunk.after.start).filter(|&line| is_apart(line));
    Formatted {
        lines: changed.without(&shown),
        removed_after: removed_after.collect(),
        ..Formatted::default()
    }
}

/// The lines of a text, for diagnostics.
fn index_of(text: &[u8]) -> LineIndex {
    LineIndex::new(text, Unit::Byte)
}
