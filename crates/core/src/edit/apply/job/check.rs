//! Whether the files of a patch still parse.

use std::collections::HashMap;
use std::path::PathBuf;

use hashline_syntax::Budget;

use super::{AddedContents, Job, Settled, Task};
use crate::edit::apply::lookup::{FileEdits, FileKey};
use crate::edit::outcome::{Failure, Warning, WarningCode};
use crate::edit::plan::Region;
use crate::edit::report::{BrokenTold, breaks_message, broken_message, tried_message};
use crate::edit::request::LineEdit;
use crate::edit::session::PatchState;
use crate::edit::structure::{
    Checked, FILES_LIMIT, NearEdit, Revision, SOURCE_LIMIT_BYTES, TEXT_LIMIT_BYTES, check,
    is_checked,
};
use crate::error::{Code, Error};
use crate::parallel;
use crate::text::dialect::Dialect;

/// What was found, by file.
pub(in crate::edit::apply) type FileChecks = HashMap<FileKey, FileCheck>;

/// What was found of a file.
pub(in crate::edit::apply) struct FileCheck {
    /// Its path before.
    pub from: String,
    /// Its path after.
    pub path: String,
    /// The name under which it is remembered.
    file: PathBuf,
    /// The operation, if it has only one.
    about: Option<usize>,
    pub checked: Checked,
}

/// A warning, and the rows that its message shows of the file.
pub(super) struct WarningWithRows {
    pub(super) warning: Warning,
    pub(super) rows: String,
}

/// A file that the patch makes or edits.
struct CheckedFile<'a> {
    key: FileKey,
    about: Option<usize>,
    from: &'a str,
    path: &'a str,
    file: PathBuf,
    text: CheckedText<'a>,
}

enum CheckedText<'a> {
    New(&'a [u8]),
    Edited(&'a FileEdits<'a>, &'a Settled),
}

impl<'a> CheckedFile<'a> {
    fn edited(
        key: FileKey,
        edits: &'a FileEdits<'a>,
        settled: &'a Settled,
        path: &'a str,
        file: PathBuf,
    ) -> CheckedFile<'a> {
        let about = (edits.operations.len() == 1).then(|| edits.operations[0].index);
        let text = CheckedText::Edited(edits, settled);
        CheckedFile { key, about, from: edits.place.shown(), path, file, text }
    }

    /// The text as it is known without work: before, or of a new file.
    fn known_text(&self) -> &'a [u8] {
        match self.text {
            CheckedText::New(content) => content,
            CheckedText::Edited(_, settled) => settled.document.text(),
        }
    }

    fn check(&self, earlier: Option<&PatchState>, budget: &Budget<'_>) -> Checked {
        match self.text {
            CheckedText::New(content) => check(
                Revision { before: None, path: self.path, text: content.into() },
                None,
                budget,
            ),
            CheckedText::Edited(edits, settled) => {
                let kept = earlier.and_then(|earlier| earlier.trees().of(edits.place.canonical()));
                let before = Some((self.from, settled.document.text()));
                let revision = Revision { before, path: self.path, text: settled.text_after() };
                let mut checked = check(revision, kept, budget);
                checked.suggest(near_edits(edits, settled), budget);
                checked
            }
        }
    }
}

/// The edits of a file, with the operations that name lines by anchors. Each looks through all
/// operations of the file, so they are made one by one, as they are asked for: of many, none is.
fn near_edits<'a>(
    edits: &'a FileEdits<'_>,
    settled: &'a Settled,
) -> impl ExactSizeIterator<Item = NearEdit<'a>> {
    let by_anchor = |index: &usize| {
        let action = edits.operations.iter().find(|one| one.index == *index).map(|one| &one.action);
        matches!(action, Some(LineEdit::Replace { .. } | LineEdit::Insert { .. }))
    };
    let charset = settled.document.charset();
    let edit = move |region: &'a Region| {
        let operation = match &region.operations[..] {
            [index] if region.lead.is_empty() && by_anchor(index) => Some(*index),
            _ => None,
        };
        let mut text = charset.decode(&region.bytes).text;
        if !region.lead.is_empty() {
            text.to_mut().splice(..0, *b"\n");
        }
        NearEdit { operation, after_line: region.after_line, old_lines: region.old_lines, text }
    };
    settled.plan.regions.iter().map(edit)
}

impl<'a> Job<'a> {
    /// Parses the files that the patch makes and edits, as they would be written.
    pub(in crate::edit::apply) fn checks(
        &'a self,
        added: &'a AddedContents,
        earlier: Option<&PatchState>,
        budget: &Budget<'_>,
    ) -> FileChecks {
        let mut candidates = self.candidates(added);
        candidates.sort_by_key(|one| one.key);
        let (mut files, mut room) = (FILES_LIMIT, TEXT_LIMIT_BYTES);
        let with_choice: Vec<(CheckedFile<'_>, bool)> = candidates
            .into_iter()
            .map(|one| {
                let text = one.known_text();
                let is_chosen = text.len() <= SOURCE_LIMIT_BYTES.min(room)
                    && files > 0
                    && is_checked(one.path, text);
                if is_chosen {
                    (files, room) = (files - 1, room - text.len());
                }
                (one, is_chosen)
            })
            .collect();
        let checked = parallel::map(&with_choice, |(one, is_chosen)| {
            if *is_chosen { one.check(earlier, budget) } else { Checked::unknown() }
        });
        let found = with_choice.into_iter().zip(checked).map(|((one, _), checked)| {
            let (from, path) = (one.from.to_owned(), one.path.to_owned());
            (one.key, FileCheck { from, path, file: one.file, about: one.about, checked })
        });
        found.collect()
    }

    fn candidates(&'a self, added: &'a AddedContents) -> Vec<CheckedFile<'a>> {
        let in_place = self.edited_in_place().map(|(edits, settled)| {
            let (path, file) = (edits.place.shown(), edits.place.canonical().to_owned());
            CheckedFile::edited(edits.key(), edits, settled, path, file)
        });
        let others = self.tasks.files.iter().filter_map(|one| match &one.task {
            Task::Add { to, .. } => {
                let content = &added.get(&one.key())?.text;
                Some(CheckedFile {
                    key: one.key(),
                    about: Some(one.operation),
                    from: &one.path,
                    path: &one.path,
                    file: to.path(),
                    text: CheckedText::New(content),
                })
            }
            Task::Move { from, to, to_path, .. } => {
                let &at = self.edited.get(from.canonical())?;
                let (edits, settled) = (&self.tasks.edits[at], &self.files[at]);
                Some(CheckedFile::edited(one.key(), edits, settled, to_path, to.path()))
            }
            Task::Delete { .. } => None,
        });
        in_place.chain(others).collect()
    }
}

impl FileCheck {
    /// The refusal of a patch that breaks the file.
    pub(in crate::edit::apply) fn refusal(
        &self,
        dialect: &'static Dialect,
        operation: usize,
    ) -> Option<Failure> {
        let (found, before) = (self.checked.fault.as_ref()?, self.checked.text_before()?);
        let suggestion = self.checked.suggestion.as_ref();
        let message = breaks_message(dialect, &self.path, found, before, suggestion);
        let error = Error::new(Code::BreaksSyntax, message);
        Some(Failure::new(self.about.unwrap_or(operation), Some(&self.from), error))
    }

    /// The warning of a file that the patch breaks.
    pub(super) fn warning(
        &self,
        dialect: &'static Dialect,
        is_tried: bool,
    ) -> Option<WarningWithRows> {
        let (found, after) = (self.checked.fault.as_ref()?, self.checked.text()?);
        let suggestion = self.checked.suggestion.as_ref();
        let BrokenTold { message, rows } = if is_tried {
            let before = self.checked.text_before()?;
            tried_message(dialect, &self.path, found, before, after, suggestion)
        } else {
            broken_message(dialect, &self.path, found, after, suggestion)
        };
        let (code, path) = (WarningCode::Syntax, self.path.clone());
        let warning = Warning { code, operation: self.about, path, message };
        Some(WarningWithRows { warning, rows })
    }

    /// Keeps the tree for the next edit.
    pub(in crate::edit::apply) fn keep(self, patches: &PatchState) {
        patches.trees().keep(self.file, self.checked.into_tree());
    }
}
