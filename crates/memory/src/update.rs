//! What a session learns from one answer about one file.

use std::path::PathBuf;

use super::body::Version;
use super::lines::LineSet;
use super::shown::ShownLines;
use super::track::LineChanges;
use super::undo::AppliedPatch;
use super::versions::{Memory, Moment};

/// What a session learns from one answer about one file.
#[derive(Clone, Debug)]
pub enum MemoryUpdate {
    /// Lines were shown.
    Shown {
        /// The file.
        file: PathBuf,
        /// Its text.
        text: Version,
        /// The lines.
        lines: ShownLines,
    },
    /// A patch wrote the whole file.
    Written {
        /// The file.
        file: PathBuf,
        /// Its text.
        text: Version,
        /// The lines that the report shows.
        shown: ShownLines,
        /// Lines that the model did not write.
        pasted: LineSet,
    },
    /// A patch edited the file.
    Edited {
        /// The file, under its new name if it was moved as well.
        file: PathBuf,
        /// Its text before.
        before: Version,
        /// Its text now.
        after: Version,
        /// What it did to the lines.
        changes: LineChanges,
        /// The lines of the new text that the report shows.
        shown: ShownLines,
    },
    /// A patch renamed files, all at once.
    Moved {
        /// Old and new names.
        moves: Vec<(PathBuf, PathBuf)>,
    },
    /// A patch removed the file, or the caller wants it forgotten.
    Forgotten {
        /// The file.
        file: PathBuf,
        /// Whether patches of the file can still be undone.
        keeps_undo: bool,
    },
    /// A patch was applied, after the updates about its files.
    Applied(AppliedPatch),
    /// A patch was undone.
    Undone {
        /// Its id.
        id: u128,
        /// Texts of files after the patch before, as they would be without changes by others.
        after: Vec<Version>,
    },
    /// The caller wants everything forgotten.
    AllForgotten,
}

impl MemoryUpdate {
    /// Adds the tag of the text, for a model that is shown tags.
    pub(super) fn note_tag(&mut self) {
        match self {
            MemoryUpdate::Shown { text, .. }
            | MemoryUpdate::Written { text, .. }
            | MemoryUpdate::Edited { after: text, .. } => text.note_tag(),
            MemoryUpdate::Moved { .. }
            | MemoryUpdate::Forgotten { .. }
            | MemoryUpdate::Applied(_)
            | MemoryUpdate::Undone { .. }
            | MemoryUpdate::AllForgotten => {}
        }
    }

    /// The files whose contents it describes.
    fn files(&self) -> &[PathBuf] {
        match self {
            MemoryUpdate::Shown { file, .. }
            | MemoryUpdate::Written { file, .. }
            | MemoryUpdate::Edited { file, .. } => std::slice::from_ref(file),
            MemoryUpdate::Applied(patch) => &patch.files,
            MemoryUpdate::Moved { .. }
            | MemoryUpdate::Forgotten { .. }
            | MemoryUpdate::Undone { .. }
            | MemoryUpdate::AllForgotten => &[],
        }
    }
}

impl Memory {
    /// Applies an update.
    pub fn learn(&mut self, update: &MemoryUpdate) {
        match update {
            MemoryUpdate::Shown { file, text, lines } => {
                self.show(file, text, lines);
            }
            MemoryUpdate::Written { file, text, shown, pasted } => {
                self.written(file, text, pasted);
                self.show(file, text, shown);
            }
            MemoryUpdate::Edited { file, before, after, changes, shown } => {
                self.edited(file, before, after, changes);
                self.show(file, after, shown);
            }
            MemoryUpdate::Moved { moves } => self.rename_all(moves),
            MemoryUpdate::Forgotten { file, keeps_undo } => {
                self.forget(file);
                if !keeps_undo {
                    self.forget_undo(file);
                }
            }
            MemoryUpdate::Applied(patch) => self.applied(patch),
            MemoryUpdate::Undone { id, after } => self.undone(*id, after),
            MemoryUpdate::AllForgotten => self.forget_all(),
        }
    }

    /// Applies the updates of a call made at `as_of`, except those of files that were forgotten
    /// since.
    pub(super) fn learn_unless_forgotten(
        &mut self,
        updates: &[MemoryUpdate],
        as_of: Option<Moment>,
    ) {
        for update in updates {
            if self.still_counts(update, as_of) {
                self.learn(update);
            }
        }
    }

    /// Whether the file of an update was not forgotten since `as_of`.
    pub(super) fn still_counts(&self, update: &MemoryUpdate, as_of: Option<Moment>) -> bool {
        let Some(as_of) = as_of else { return true };
        !update.files().iter().any(|file| self.is_forgotten_since(file, as_of))
    }
}
