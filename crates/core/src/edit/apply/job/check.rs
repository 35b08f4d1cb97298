//! Checks whether the files of a patch still parse.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashline_syntax::Budget;

use super::{AddedContents, Job, PlannedFile, Task};
use crate::edit::apply::lookup::{FileEdits, FileKey};
use crate::edit::outcome::{Failure, Warning, WarningCode};
use crate::edit::plan::Region;
use crate::edit::report::{BreakMessage, BreakReport, reported_lines};
use crate::edit::request::LineEdit;
use crate::edit::resolve::AmbiguousLines;
use crate::edit::session::{CallMemory, PatchState};
use crate::edit::structure::{
    Checked, FILES_LIMIT, LineReplacement, Mistake, Revision, SOURCE_LIMIT_BYTES, Suggestion,
    TEXT_LIMIT_BYTES, check, is_checked,
};
use hashline_base::error::{Code, Error, Message};
use hashline_base::parallel;
use hashline_lines::dialect::Dialect;
use hashline_lines::lines::{LineIndex, Unit};
use hashline_memory::{Body, LineSet, MemoryUpdate, SessionMemory};

/// The results of the checks, by file.
pub(in crate::edit::apply) type FileChecks = HashMap<FileKey, FileCheck>;

/// The result of the check of a file.
pub(in crate::edit::apply) struct FileCheck {
    /// The path before the patch.
    pub from: String,
    /// The path after the patch.
    pub path: String,
    /// The name in the session's memory before the patch.
    old_name: PathBuf,
    /// The name in the session's memory after the patch.
    file: PathBuf,
    /// The operation on the file, if there is only one.
    about: Option<usize>,
    pub checked: Checked,
}

/// A file that the patch creates or edits.
struct CheckedFile<'a> {
    key: FileKey,
    about: Option<usize>,
    from: &'a str,
    path: &'a str,
    file: PathBuf,
    text: CheckedText<'a>,
}

enum CheckedText<'a> {
    New(&'a Arc<Vec<u8>>),
    Edited(&'a FileEdits<'a>, &'a PlannedFile),
}

impl<'a> CheckedFile<'a> {
    fn edited(
        key: FileKey,
        edits: &'a FileEdits<'a>,
        planned: &'a PlannedFile,
        path: &'a str,
        file: PathBuf,
    ) -> CheckedFile<'a> {
        let about = (edits.operations.len() == 1).then(|| edits.operations[0].index);
        let text = CheckedText::Edited(edits, planned);
        CheckedFile { key, about, from: edits.place.shown(), path, file, text }
    }

    /// The name in the session's memory before the patch.
    fn old_name(&self) -> &Path {
        match self.text {
            CheckedText::New(_) => &self.file,
            CheckedText::Edited(edits, _) => edits.place.canonical(),
        }
    }

    /// A text of the file that is available without applying the plan.
    fn known_text(&self) -> &'a [u8] {
        match self.text {
            CheckedText::New(content) => content,
            CheckedText::Edited(_, planned) => planned.document.text(),
        }
    }

    fn check(&self, earlier: Option<&PatchState>, budget: &Budget<'_>) -> Checked {
        match self.text {
            CheckedText::New(content) => check(
                Revision { before: None, path: self.path, text: Arc::clone(content) },
                None,
                budget,
            ),
            CheckedText::Edited(edits, planned) => {
                let kept = earlier.and_then(|earlier| earlier.trees().of(edits.place.canonical()));
                let before = Some((self.from, planned.document.text()));
                let revision =
                    Revision { before, path: self.path, text: Arc::clone(planned.after().text()) };
                let mut checked = check(revision, kept, budget);
                checked.suggest(near_edits(edits, planned), budget);
                checked
            }
        }
    }
}

/// The edits of a file, with the operations that name lines by anchors. The iterator is lazy,
/// because each item scans all operations of the file, and none is used if there are many.
fn near_edits<'a>(
    edits: &'a FileEdits<'_>,
    planned: &'a PlannedFile,
) -> impl ExactSizeIterator<Item = LineReplacement<'a>> {
    let by_anchor = |index: &usize| {
        let action = edits
            .operations
            .iter()
            .find(|operation| operation.index == *index)
            .map(|operation| &operation.action);
        matches!(action, Some(LineEdit::Replace { .. } | LineEdit::Insert { .. }))
    };
    let charset = planned.document.charset();
    let edit = move |region: &'a Region| {
        let operation = match &region.operations[..] {
            [index] if region.lead.is_empty() && by_anchor(index) => Some(*index),
            _ => None,
        };
        let mut text = charset.decode(&region.bytes).text;
        if !region.lead.is_empty() {
            text.to_mut().splice(..0, *b"\n");
        }
        LineReplacement {
            operation,
            after_line: region.after_line,
            old_lines: region.old_lines,
            text,
        }
    };
    planned.plan.regions.iter().map(edit)
}

impl<'a> Job<'a> {
    /// Parses the files that the patch creates and edits, as they would be written.
    pub(in crate::edit::apply) fn checks(
        &'a self,
        added: &'a AddedContents,
        earlier: Option<&PatchState>,
        budget: &Budget<'_>,
    ) -> FileChecks {
        let mut candidates = self.candidates(added);
        candidates.sort_by_key(|file| file.key);
        let (mut files, mut room) = (FILES_LIMIT, TEXT_LIMIT_BYTES);
        let with_choice: Vec<(CheckedFile<'_>, bool)> = candidates
            .into_iter()
            .map(|file| {
                let text = file.known_text();
                let is_chosen = text.len() <= SOURCE_LIMIT_BYTES.min(room)
                    && files > 0
                    && is_checked(file.path, text);
                if is_chosen {
                    (files, room) = (files - 1, room - text.len());
                }
                (file, is_chosen)
            })
            .collect();
        let checked = parallel::map(&with_choice, |(one, is_chosen)| {
            if *is_chosen { one.check(earlier, budget) } else { Checked::unknown() }
        });
        let found = with_choice.into_iter().zip(checked).map(|((one, _), checked)| {
            let (from, path, old_name) =
                (one.from.to_owned(), one.path.to_owned(), one.old_name().to_owned());
            (one.key, FileCheck { from, path, old_name, file: one.file, about: one.about, checked })
        });
        found.collect()
    }

    fn candidates(&'a self, added: &'a AddedContents) -> Vec<CheckedFile<'a>> {
        let in_place = self.edited_in_place().map(|(edits, planned)| {
            let (path, file) = (edits.place.shown(), edits.place.canonical().to_owned());
            CheckedFile::edited(edits.key(), edits, planned, path, file)
        });
        let others = self.tasks.files.iter().filter_map(|task| match &task.task {
            Task::Add { to, .. } => {
                let content = added.get(&task.key())?.text();
                Some(CheckedFile {
                    key: task.key(),
                    about: Some(task.operation),
                    from: &task.path,
                    path: &task.path,
                    file: to.path(),
                    text: CheckedText::New(content),
                })
            }
            Task::Move { from, to, to_path, .. } => {
                let &at = self.edited.get(from.canonical())?;
                let (edits, planned) = (&self.tasks.edits[at], &self.files[at]);
                Some(CheckedFile::edited(task.key(), edits, planned, to_path, to.path()))
            }
            Task::Delete { .. } => None,
        });
        in_place.chain(others).collect()
    }
}

impl FileCheck {
    fn report(&self, dialect: &'static Dialect) -> Option<BreakReport<'_>> {
        let suggestion = self.checked.suggestion.as_ref();
        Some(BreakReport {
            dialect,
            path: &self.path,
            found: self.checked.fault.as_ref()?,
            suggestion,
        })
    }

    /// The text before the patch, and the line of it that is suggested as the end or start of an
    /// operation.
    fn suggested_line(&self) -> Option<(&[u8], u64)> {
        let Suggestion { mistake, line, .. } = self.checked.suggestion.as_ref()?;
        let is_named = matches!(mistake, Mistake::End(_) | Mistake::Start(_));
        Some((self.checked.text_before()?, *line)).filter(|_| is_named)
    }

    /// The suggested line, if its anchor could also name another line that was shown.
    pub(in crate::edit::apply) fn ambiguous(
        &self,
        dialect: &'static Dialect,
        call_memory: &CallMemory<'_>,
    ) -> AmbiguousLines {
        let Some((text, line)) = self.suggested_line() else { return AmbiguousLines::default() };
        let index = LineIndex::new(text, Unit::Byte);
        call_memory.ambiguous(dialect, &self.old_name, Body::new(text, &index), [line])
    }

    /// The suggested line as a memory update, for a patch that is not applied.
    pub(in crate::edit::apply) fn memory_update(
        &self,
        memory: &SessionMemory,
    ) -> Option<MemoryUpdate> {
        let (text, line) = self.suggested_line()?;
        let index = LineIndex::new(text, Unit::Byte);
        let body = Body::new(text, &index);
        let lines = reported_lines(LineSet::of(line, line), |number| body.line(number));
        let (file, text) = (self.old_name.clone(), memory.version(text, None));
        Some(MemoryUpdate::Shown { file, text, lines })
    }

    /// The failure of a patch that breaks the file. `ambiguous` are lines of the current file.
    pub(in crate::edit::apply) fn refusal(
        &self,
        dialect: &'static Dialect,
        operation: usize,
        ambiguous: &AmbiguousLines,
    ) -> Option<Failure> {
        let report = self.report(dialect)?;
        let message = report.refusal(self.checked.text_before()?, ambiguous);
        let error = Error::new(Code::BreaksSyntax, message);
        Some(Failure::new(self.about.unwrap_or(operation), Some(&self.from), error))
    }

    /// The text of the warning. `ambiguous` are lines of the text after the patch.
    pub(super) fn warning_text(
        &self,
        dialect: &'static Dialect,
        ambiguous: &AmbiguousLines,
    ) -> Option<BreakMessage> {
        Some(self.report(dialect)?.warning(self.checked.text()?, ambiguous))
    }

    /// The text of the warning of a dry run. `ambiguous` are lines of the current file.
    pub(super) fn trial_text(
        &self,
        dialect: &'static Dialect,
        ambiguous: &AmbiguousLines,
    ) -> Option<BreakMessage> {
        let before = self.checked.text_before().unwrap_or_default();
        let after = self.checked.text()?;
        Some(self.report(dialect)?.dry_run(before, after, ambiguous))
    }

    /// The warning with a text.
    pub(super) fn warning(&self, message: Message) -> Warning {
        let (code, path) = (WarningCode::Syntax, self.path.clone());
        Warning { code, operation: self.about, path, message }
    }

    /// Keeps the syntax tree for the next edit.
    pub(in crate::edit::apply) fn keep(self, patches: &PatchState) {
        patches.trees().keep(self.file, self.checked.into_tree());
    }
}
