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
use hashline_memory::{AppliedPatch, MemoryUpdate, Moment, UndoEntry, Version};

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

impl Session {
    /// The patches that can be undone, the newest first: at most 100, and 16 MiB of old lines.
    pub fn undoable(&self) -> Vec<UndoablePatch> {
        let memory = &self.state.memory;
        memory.catch_up(memory.now());
        let entries = memory.undo_entries().into_iter().rev();
        let patch = |entry: UndoEntry| UndoablePatch {
            time_ms: entry.time_ms,
            files: self.relative(&entry.files),
            refused: entry.refused,
        };
        entries.map(patch).collect()
    }

    /// Undoes the newest `turns` patches of this session, the newest first. Returns an outcome for
    /// each; the last one is the first refusal. Each is undone completely or not at all: what others
    /// changed elsewhere in its files stays, and where they changed its lines it is refused with
    /// `CONCURRENT_CHANGE`.
    pub fn undo(
        &self,
        turns: usize,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Vec<Outcome>> {
        self.undo_at(&self.enqueue(Access::Writes), turns, patch_options, cancel)
    }

    pub(super) fn undo_at(
        &self,
        position: &QueuePosition,
        turns: usize,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Vec<Outcome>> {
        if turns == 0 || turns > 1 && patch_options.dry_run {
            let expected = if turns == 0 { "at least 1" } else { "1 for a dry run" };
            return Err(Error::argument(format!("turns is {turns}: expected {expected}")));
        }
        let as_of = self.start_writing(position, cancel)?;
        let mut outcomes = Vec::new();
        for _ in 0..turns {
            let Some(entry) = self.state.memory.undo_entries().pop() else { break };
            let outcome = match self.inverse_of(&entry) {
                Err(error) => refused_undo(error, &self.options.workspace.host),
                Ok((inverse, hash)) => {
                    let memory = &self.state.memory;
                    let after = inverse.texts_before(|text| memory.text(text));
                    let outcome = self.undo_patch(inverse, as_of, patch_options, cancel)?;
                    if matches!(outcome, Outcome::Applied(_)) && !patch_options.dry_run {
                        memory.learn(vec![MemoryUpdate::Undone { inverse: hash, after }], cancel);
                    }
                    outcome
                }
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

    fn undo_patch(
        &self,
        inverse: Inverse,
        as_of: Moment,
        patch_options: &PatchOptions,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        let operations = inverse.clone().operations(|path| self.shown_name(path));
        let read = ReadPatch::of_undo(operations);
        let outcome = self.apply_read(read, as_of, patch_options, cancel)?;
        let is_undone = || self.workspace.scoped(cancel, |scope| Ok(inverse.is_undone(scope)));
        let has_files = matches!(&outcome, Outcome::Applied(applied) if !applied.files.is_empty());
        if has_files || !is_undone()? {
            return Ok(outcome);
        }
        let text = "Nothing to undo: the files are as they were before this patch.".to_owned();
        Ok(Outcome::Applied(Applied { text, ..Applied::default() }))
    }

    /// The updates by which an undo of the last patch undoes the changes of a formatter as well.
    /// `updates` are what the memory learns of the files that it formatted.
    pub(super) fn undo_after(
        &self,
        written: &Written,
        applied: &Applied,
        updates: &[MemoryUpdate],
    ) -> Vec<MemoryUpdate> {
        let last = self.state.memory.undo_entries().pop().filter(|_| written.undone_by.is_some());
        let Some((entry, (mut inverse, hash))) =
            last.and_then(|entry| Some((entry.clone(), self.inverse_of(&entry).ok()?)))
        else {
            return Vec::new();
        };
        if written.undone_by != Some(hash) {
            return Vec::new();
        }
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
        if !is_changed {
            return Vec::new();
        }
        let patch = AppliedPatch::new(entry.time_ms, entry.files, inverse.encoded(), after);
        let replaced = MemoryUpdate::Undone { inverse: hash, after: Vec::new() };
        vec![replaced, MemoryUpdate::Applied(patch)]
    }

    /// What undoes a patch, with the hash of its text.
    fn inverse_of(&self, entry: &UndoEntry) -> Result<(Inverse, u128)> {
        let why = match (&entry.refused, self.state.memory.inverse(entry)) {
            (Some(why), _) => why.clone(),
            (None, None) => "its old lines are no longer remembered".to_owned(),
            (None, Some(text)) => {
                let inverse = text.body().and_then(|body| Inverse::parse(body.text));
                match inverse {
                    Some(inverse) => return Ok((inverse, text.hash())),
                    None => "its record is damaged".to_owned(),
                }
            }
        };
        let files = self.relative(&entry.files).join(", ");
        let message = format!("the last patch ({files}) cannot be undone: {why}");
        Err(Error::new(Code::InvalidOperation, message))
    }

    /// An absolute path as messages name it.
    fn shown_name(&self, path: &str) -> String {
        self.relative(&[path.into()]).pop().unwrap_or_default()
    }
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
