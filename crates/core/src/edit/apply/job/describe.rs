//! The answer's part for each file that a patch changes: the change, its new lines, and whether it
//! still parses.

use std::collections::HashMap;

use super::{AddedContents, AnswerReader, FileChecks, Job, SessionParts, unread_parts};
use crate::edit::apply::lookup::{FileEdits, FileKey, FileTask, NewContent, Task};
use crate::edit::apply::planned_file::PlannedFile;
use crate::edit::outcome::{Change, FileChange};
use crate::edit::report::{AnswerOptions, BreakMessage, Note, RowStyle, Section, created_section};
use crate::edit::resolve::AmbiguousLines;
use hashline_lines::dialect::Dialect;
use hashline_lines::lines::{LineIndex, Unit, count_lines};
use hashline_lines::tag::Tag;
use hashline_memory::{Body, LineSet};

/// The inputs of an answer.
pub(super) struct AnswerParts<'t> {
    pub(super) added: &'t AddedContents,
    pub(super) checks: &'t FileChecks,
    pub(super) session: Option<SessionParts<'t>>,
    pub(super) answer: AnswerOptions,
    /// Whether it is a dry run.
    pub(super) is_dry_run: bool,
}

/// The answer's part for one file.
pub(super) struct FileAnswer<'t> {
    pub(super) key: FileKey,
    pub(super) change: FileChange,
    pub(super) section: Section<'t>,
    /// The lines whose anchors need an edition to be unambiguous.
    pub(super) ambiguous: AmbiguousLines,
    /// The warning, if the patch breaks the syntax.
    pub(super) broken: Option<BreakMessage>,
}

/// A file that a patch changes.
#[derive(Clone, Copy)]
enum ChangedFile<'a> {
    /// It is edited and not moved.
    Edited(&'a FileEdits<'a>, &'a PlannedFile),
    /// It is created, moved or deleted.
    Whole(&'a FileTask<'a>),
}

impl<'a> Job<'a> {
    /// The parts of the answer, in the order of the first operations on the files.
    pub(super) fn describe_files<'t>(&self, parts: &AnswerParts<'t>) -> Vec<FileAnswer<'t>>
    where
        'a: 't,
    {
        // Without a session, the caller must be shown the lines anyway.
        let session = parts.session.filter(|_| parts.answer.is_brief());
        let unread = session.map(|session| self.unread(parts.added, session)).unwrap_or_default();
        let edited = self.edited_in_place().map(|(edits, file)| ChangedFile::Edited(edits, file));
        let files = edited.chain(self.tasks.files.iter().map(ChangedFile::Whole));
        let mut answers: Vec<_> = files.map(|file| self.describe(file, parts, &unread)).collect();
        answers.sort_by_key(|answer| answer.key);
        if let [one] = answers.as_mut_slice()
            && self.tasks.files.is_empty()
            && self.is_about_one_file()
        {
            one.section.is_only_file = parts.answer.is_brief();
        }
        answers
    }

    fn describe<'t>(
        &self,
        file: ChangedFile<'a>,
        parts: &AnswerParts<'t>,
        unread: &HashMap<FileKey, LineSet>,
    ) -> FileAnswer<'t>
    where
        'a: 't,
    {
        let (key, source) = match file {
            ChangedFile::Edited(edits, _) => (edits.key(), edits.key()),
            ChangedFile::Whole(one) => {
                let edits = self.edits_of(one).map(|(edits, _)| edits.key());
                (one.key(), edits.unwrap_or(one.key()))
            }
        };
        let known = LineSet::default();
        let unread = unread.get(&source).unwrap_or(&known);
        let style = RowStyle { answer: parts.answer, unread };
        let (change, section) = match file {
            ChangedFile::Edited(edits, planned) => {
                let (change, section) =
                    edited_change(self.scope.dialect, edits.place.shown(), planned, style);
                let document = Self::edited_document(edits, planned);
                (FileChange { document, ..change }, section)
            }
            ChangedFile::Whole(one) => self.file_change(one, parts.added, style),
        };
        let check = parts.checks.get(&key);
        if parts.is_dry_run {
            let broken = check.and_then(|check| {
                let ambiguous = self.ambiguous_to_name(parts, key);
                check.trial_text(self.scope.dialect, &ambiguous)
            });
            return FileAnswer {
                key,
                change,
                section,
                ambiguous: AmbiguousLines::default(),
                broken,
            };
        }
        let warning =
            |ambiguous: &AmbiguousLines| check?.warning_text(self.scope.dialect, ambiguous);
        let broken = warning(&AmbiguousLines::default());
        let in_warning = broken.iter().flat_map(|warning| warning.anchors.iter().copied());
        let anchors: Vec<_> = section.anchored_lines().chain(in_warning).collect();
        let ambiguous = self.ambiguous(file, parts, &anchors, &section);
        let broken = if ambiguous.is_empty() { broken } else { warning(&ambiguous) };
        FileAnswer { key, change, section, ambiguous, broken }
    }

    /// The lines of an answer whose anchors could also name other lines that were shown.
    fn ambiguous(
        &self,
        file: ChangedFile<'_>,
        parts: &AnswerParts<'_>,
        anchors: &[(u64, u32)],
        section: &Section<'_>,
    ) -> AmbiguousLines {
        let Some(session) = parts.session else { return AmbiguousLines::default() };
        let call_memory = session.call_memory;
        let (edits, planned) = match file {
            ChangedFile::Edited(edits, planned) => (edits, planned),
            ChangedFile::Whole(one) => match (&one.task, self.edits_of(one)) {
                (Task::Add { to, .. }, _) => {
                    let text = parts.added.get(&one.key()).map_or(&[][..], |added| added.text());
                    let index = LineIndex::new(text, Unit::Byte);
                    let body = Body::new(text, &index);
                    let lines = anchors.iter().map(|&(line, _)| line);
                    return call_memory.ambiguous(self.scope.dialect, &to.path(), body, lines);
                }
                (_, Some(edited)) => edited,
                (_, None) => return AmbiguousLines::default(),
            },
        };
        let name = edits.place.canonical();
        let changes = session.transfers.changes(edits.key(), planned);
        let before = planned.body_before();
        if !call_memory.may_be_ambiguous(self.scope.dialect, name, before, &changes, anchors) {
            return AmbiguousLines::default();
        }
        let (file, shown) = (name.to_owned(), section.shown());
        let update =
            self.edited_update(session, (edits, planned), file, shown, AnswerReader::Model);
        call_memory.ambiguous_after(
            self.scope.dialect,
            &update,
            anchors.iter().map(|&(line, _)| line),
        )
    }

    /// The line that a check suggests, if its anchor could also name another line that was shown.
    fn ambiguous_to_name(&self, parts: &AnswerParts<'_>, key: FileKey) -> AmbiguousLines {
        let ambiguous = parts.checks.get(&key).zip(parts.session);
        ambiguous
            .map(|(check, session)| check.ambiguous(self.scope.dialect, session.call_memory))
            .unwrap_or_default()
    }

    /// The new lines of each file that the model has neither written nor seen.
    pub(super) fn unread(
        &self,
        added: &AddedContents,
        session: SessionParts<'_>,
    ) -> HashMap<FileKey, LineSet> {
        let SessionParts { call_memory, transfers } = session;
        let mut unread = HashMap::new();
        for (edits, file) in self.tasks.edits.iter().zip(self.files) {
            let mut lines = transfers.unread(edits.key());
            lines.extend(&unread_parts(call_memory, edits, file));
            unread.insert(edits.key(), lines);
        }
        for key in added.keys() {
            unread.insert(*key, transfers.unread(*key));
        }
        unread
    }

    fn file_change<'t>(
        &self,
        one: &FileTask<'_>,
        added: &'t AddedContents,
        style: RowStyle<'_>,
    ) -> (FileChange, Section<'t>)
    where
        'a: 't,
    {
        let dialect = self.scope.dialect;
        let mut change = FileChange {
            path: one.path.clone(),
            from: None,
            change: Change::Deleted,
            edits: 0,
            added: 0,
            removed: 0,
            line_count: None,
            snapshot: None,
            syntax: None,
            diff: None,
            document: self.whole_document(one, added),
        };
        match &one.task {
            Task::Add { content, .. } => {
                let new = &added[&one.key()];
                change.change = Change::Created;
                change.added = count_lines(new.text(), Unit::Byte);
                change.line_count = Some(change.added);
                change.snapshot = Some(new.snapshot().to_owned());
                let mut section = match content {
                    // Its content may be large, or binary.
                    NewContent::File(_) => Section::new(dialect),
                    _ => created_section(dialect, new.text(), style),
                };
                section.tag = (!dialect.has_hashes()).then(|| Tag::of(new.text()));
                (change, section)
            }
            Task::Move { to_path, .. } => match self.edits_of(one) {
                Some((_, file)) => {
                    let (edited, section) = edited_change(dialect, to_path, file, style);
                    let document = change.document;
                    (FileChange { from: Some(one.path.clone()), document, ..edited }, section)
                }
                None => {
                    change.path.clone_from(to_path);
                    change.from = Some(one.path.clone());
                    change.change = Change::Moved;
                    (change, Section::new(dialect))
                }
            },
            Task::Delete { .. } => (change, Section::new(dialect)),
        }
    }
}

/// The change of an edited file, and its section in the answer.
pub(in crate::edit::apply) fn edited_change<'t>(
    dialect: &'static Dialect,
    path: &str,
    file: &'t PlannedFile,
    style: RowStyle<'_>,
) -> (FileChange, Section<'t>) {
    let report = file.report(dialect);
    let (added, removed) = report.added_and_removed();
    let change = FileChange {
        path: path.to_owned(),
        from: None,
        change: Change::Edited,
        edits: file.effective_operations(),
        added,
        removed,
        line_count: Some(report.line_count()),
        snapshot: Some(file.snapshot_after()),
        syntax: None,
        diff: None,
        document: None,
    };
    let relocations = file.relocations.iter().cloned().map(Note::Relocated);
    let blocks = file.blocks.iter();
    let blocks = blocks.map(|&(operation, first, last)| Note::Block { operation, first, last });
    let mut section = report.section(style).with_notes_above(relocations.chain(blocks));
    section.tag = (!dialect.has_hashes()).then(|| Tag::of(file.after().text()));
    (change, section)
}
