//! What one answer teaches a session about one file.

use std::path::{Path, PathBuf};

use super::body::Version;
use super::lines::LineSet;
use super::shown::ShownLines;
use super::track::Course;
use super::versions::{Memory, Moment, Showing};

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
        /// How that came.
        showing: Showing,
    },
    /// A patch made it.
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
    /// A patch edited it.
    Edited {
        /// The file, under its new name if it was moved as well.
        file: PathBuf,
        /// Its text before.
        before: Version,
        /// Its text now.
        after: Version,
        /// Where they differ.
        course: Course,
        /// The lines of its text now that the report shows.
        shown: ShownLines,
    },
    /// A patch gave files other names, all at once.
    Moved {
        /// The old and the new name of each.
        moves: Vec<(PathBuf, PathBuf)>,
    },
    /// A patch removed it, or it is to be forgotten.
    Forgotten {
        /// The file.
        file: PathBuf,
    },
    /// All is to be forgotten.
    AllForgotten,
}

impl MemoryUpdate {
    /// Notes the tag of the text that it shows, for one who was shown the tag as well.
    pub(super) fn note_tag(&mut self) {
        match self {
            MemoryUpdate::Shown { text, .. }
            | MemoryUpdate::Written { text, .. }
            | MemoryUpdate::Edited { after: text, .. } => text.note_tag(),
            MemoryUpdate::Moved { .. }
            | MemoryUpdate::Forgotten { .. }
            | MemoryUpdate::AllForgotten => {}
        }
    }

    /// The file that it is about, if it is about what is in one.
    fn file(&self) -> Option<&Path> {
        match self {
            MemoryUpdate::Shown { file, .. }
            | MemoryUpdate::Written { file, .. }
            | MemoryUpdate::Edited { file, .. } => Some(file),
            MemoryUpdate::Moved { .. }
            | MemoryUpdate::Forgotten { .. }
            | MemoryUpdate::AllForgotten => None,
        }
    }
}

impl Memory {
    /// Remembers what an answer showed of a file, or what a patch did to it.
    pub fn learn(&mut self, update: &MemoryUpdate) {
        match update {
            MemoryUpdate::Shown { file, text, lines, showing } => {
                self.show(file, text, lines, *showing);
            }
            MemoryUpdate::Written { file, text, shown, pasted } => {
                self.written(file, text, pasted);
                self.show(file, text, shown, Showing::Told);
            }
            MemoryUpdate::Edited { file, before, after, course, shown } => {
                self.edited(file, before, after, course);
                self.show(file, after, shown, Showing::Told);
            }
            MemoryUpdate::Moved { moves } => self.rename_all(moves),
            MemoryUpdate::Forgotten { file } => self.forget(file),
            MemoryUpdate::AllForgotten => self.forget_all(),
        }
    }

    /// Remembers what a call taught that was made at a moment: all but what was to be forgotten
    /// since.
    pub(super) fn learn_wanted(&mut self, updates: &[MemoryUpdate], as_of: Option<Moment>) {
        for update in updates {
            if self.wants(update, as_of) {
                self.learn(update);
            }
        }
    }

    /// Whether what a call taught that was made at a moment still counts.
    pub(super) fn wants(&self, update: &MemoryUpdate, as_of: Option<Moment>) -> bool {
        let named = update.file().zip(as_of);
        named.is_none_or(|(file, as_of)| self.is_wanted(file, as_of))
    }
}
