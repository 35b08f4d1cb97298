//! Undoing the patches of a session, the newest first.

use std::path::Path;

use serde::Serialize;

use super::{QueuePosition, Session};
use crate::edit::apply::{PatchOptions, ReadPatch, refused_undo};
use crate::edit::outcome::{Applied, Outcome};
use crate::edit::undo::Inverse;
use crate::edit::written::Written;
use crate::workspace::turns::Access;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_lines::rows::one_line;
use hashline_memory::{AppliedPatch, MemoryUpdate, Moment, UndoEntry, Version};

/// A message names at most this many files of a patch.
const NAMED_FILES: usize = 3;

/// A patch that can be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoablePatch {
    /// When it was applied, in milliseconds after the epoch.
    pub time_ms: u64,
    /// The files that it changed, created, moved or deleted, relative to the base directory.
    pub files: Vec<String>,
    /// Why it cannot be undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl UndoablePatch {
    /// Its files in a few words.
    pub fn files_in_short(&self) -> String {
        let named = self.files.iter().take(NAMED_FILES).map(|file| one_line(file).into_owned());
        let named = named.collect::<Vec<_>>().join(", ");
        match self.files.len().saturating_sub(NAMED_FILES) {
            0 => named,
            more => format!("{named} and {more} more"),
        }
    }
}

/// What is undone, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoRequest {
    /// How many patches, from the newest.
    pub turns: usize,
    /// Whether they are only removed from the list, and the files stay as they are.
    pub discard: bool,
}

impl Default for UndoRequest {
    fn default() -> UndoRequest {
        UndoRequest { turns: 1, discard: false }
    }
}

impl UndoRequest {
    fn check(&self, is_dry_run: bool) -> Result<()> {
        let UndoRequest { turns, discard } = self;
        let expected = match turns {
            0 => "at least 1",
            2.. if is_dry_run => "1 for a dry run",
            _ if *discard && is_dry_run => {
                return Err(Error::argument(
                    "discard and a dry run are both given: a dry run changes nothing",
                ));
            }
            _ => return Ok(()),
        };
        Err(Error::argument(format!("turns is {turns}: expected {expected}")))
    }
}

impl Session {
    /// The patches that can be undone, the newest first: at most 100, and 16 MiB of old lines.
    pub fn undoable(&self) -> Vec<UndoablePatch> {
        let memory = &self.state.memory;
        memory.catch_up(memory.now());
        memory.undo_entries().iter().rev().map(|entry| self.undoable_patch(entry)).collect()
    }

    fn undoable_patch(&self, entry: &UndoEntry) -> UndoablePatch {
        UndoablePatch {
            time_ms: entry.time_ms,
            files: self.relative(&entry.files),
            refused: entry.refused.clone(),
        }
    }

    /// Undoes the newest patches of this session, the newest first. Returns an outcome for each; the
    /// last one is the first refusal. Each is undone completely or not at all: what others changed
    /// elsewhere in its files stays, and where they changed its lines it is refused with
    /// `CONCURRENT_CHANGE`.
    pub fn undo(
        &self,
        request: &UndoRequest,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Vec<Outcome>> {
        self.undo_at(&self.enqueue(Access::Writes), request, patch_options, cancel)
    }

    pub(super) fn undo_at(
        &self,
        position: &QueuePosition,
        request: &UndoRequest,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Vec<Outcome>> {
        request.check(patch_options.dry_run)?;
        let as_of = self.start_writing(position, cancel)?;
        let mut outcomes = Vec::new();
        for _ in 0..request.turns {
            let Some(entry) = self.state.memory.last_undo_entry() else { break };
            let outcome = match request.discard {
                true => Ok(self.discard(&entry, cancel)),
                false => self.undo_entry(&entry, as_of, patch_options, cancel),
            };
            let outcome = match outcome {
                // What was undone before must be reported.
                Err(error) if !outcomes.is_empty() => self.refused(error),
                outcome => outcome?,
            };
            self.note_outcome(position, &outcome, patch_options);
            let is_refused = matches!(outcome, Outcome::Rejected(_));
            outcomes.push(outcome);
            if is_refused {
                break;
            }
        }
        Ok(outcomes)
    }

    fn refused(&self, error: Error) -> Outcome {
        refused_undo(error, &self.options.workspace.host)
    }

    /// Removes a patch from the list.
    fn discard(&self, entry: &UndoEntry, cancel: &Cancel) -> Outcome {
        self.state.memory.learn(vec![undone(entry, Vec::new())], cancel);
        let files = self.undoable_patch(entry).files_in_short();
        applied_nothing(format!("Not undone, and not listed any more: the patch of {files}."))
    }

    fn undo_entry(
        &self,
        entry: &UndoEntry,
        as_of: Moment,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        let inverse = match self.inverse_of(entry) {
            Ok(inverse) => inverse,
            Err(error) => return Ok(self.refused(error)),
        };
        let memory = &self.state.memory;
        let after = match patch_options.dry_run {
            true => Vec::new(),
            false => inverse.texts_before(|text| memory.text(text)),
        };
        let learned = [undone(entry, after)];
        let mut before = None;
        loop {
            let pending = self.workspace.scoped(cancel, |scope| Ok(inverse.pending(scope)))?;
            if pending.files.is_empty() {
                if !patch_options.dry_run {
                    memory.learn(learned.into(), cancel);
                }
                let text = "Nothing to undo: the files are as they were before this patch.";
                return Ok(applied_nothing(text.to_owned()));
            }
            let operations = pending.clone().operations(|path| self.shown_name(path));
            let read = ReadPatch::of_undo(operations);
            let outcome = self.apply_read(read, as_of, patch_options, &learned, cancel)?;
            // The call may have recovered an undo that was interrupted.
            if matches!(outcome, Outcome::Applied(_)) || before.as_ref() == Some(&pending) {
                return Ok(outcome);
            }
            before = Some(pending);
        }
    }

    /// The updates by which an undo of a patch undoes the changes of a formatter as well.
    /// `updates` are what the memory learns of the files that it formatted.
    pub(super) fn undo_after(
        &self,
        written: &Written,
        applied: &Applied,
        updates: &[MemoryUpdate],
    ) -> Option<MemoryUpdate> {
        let entries = self.state.memory.undo_entries();
        let entry = entries.iter().rev().find(|entry| written.undone_by == Some(entry.id))?;
        let mut inverse = self.inverse_of(entry).ok()?;
        let (mut is_changed, mut after) = (false, Vec::new());
        for (file, change) in written.files.iter().zip(&applied.files) {
            let now = file.name.as_deref().and_then(|name| text_of(updates, name));
            let (Some(name), Some(now), Some(snapshot)) = (&file.name, now, &change.snapshot)
            else {
                continue;
            };
            let Some(path) = name.to_str() else { continue };
            is_changed |= inverse.follow(path, file.after.as_ref(), now, snapshot);
            after.push(now.clone());
        }
        let patch = || AppliedPatch::changed(entry, inverse.encoded(), after);
        is_changed.then(|| MemoryUpdate::Applied(patch()))
    }

    /// What undoes a patch.
    fn inverse_of(&self, entry: &UndoEntry) -> Result<Inverse> {
        let why = match (&entry.refused, self.state.memory.inverse(entry)) {
            (Some(why), _) => why.clone(),
            (None, None) => "its old lines are no longer remembered".to_owned(),
            (None, Some(text)) => match text.body().and_then(|body| Inverse::parse(body.text)) {
                Some(inverse) => return Ok(inverse),
                None => "its record is damaged".to_owned(),
            },
        };
        let files = self.undoable_patch(entry).files_in_short();
        let message = format!(
            "the last patch ({files}) cannot be undone: {why}. Edit its files instead. A host can discard it, to undo the one before"
        );
        Err(Error::new(Code::InvalidOperation, message))
    }

    /// An absolute path as messages name it.
    fn shown_name(&self, path: &str) -> String {
        self.relative(&[path.into()]).pop().unwrap_or_default()
    }
}

fn undone(entry: &UndoEntry, after: Vec<Version>) -> MemoryUpdate {
    MemoryUpdate::Undone { id: entry.id, after }
}

fn applied_nothing(text: String) -> Outcome {
    Outcome::Applied(Applied { text, ..Applied::default() })
}

/// The text of a file that updates name.
fn text_of<'u>(updates: &'u [MemoryUpdate], name: &Path) -> Option<&'u Version> {
    updates.iter().find_map(|update| match update {
        MemoryUpdate::Edited { file, after: text, .. } | MemoryUpdate::Shown { file, text, .. }
            if file == name =>
        {
            Some(text)
        }
        _ => None,
    })
}
