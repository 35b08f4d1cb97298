//! Patches as models write them → typed operations.
//!
//! `reader` accepts three shapes: `{operations: […]}`, and two forms of `{path, edits: […]}` that
//! other tools use. All become one [`Operations`], in which line edits and operations on whole
//! files have different types, so that no stage can confuse them. Callers in Rust have typed
//! constructors (`patch`), whose patches are read in the same way.

mod fields;
mod patch;
mod reader;

use crate::edit::outcome::Warning;
use crate::edit::undo::{RestoredFile, RestoredLines, UndoChecks};
use crate::json::{JsonEdit, JsonSlot};
use hashline_lines::anchor::Anchor;
use hashline_lines::checksum::Checksum;
use hashline_lines::tag::Tag;
use hashline_omp::ScriptHunk;

pub use patch::{Patch, PatchOperation};
pub use reader::{MAX_OPERATIONS, parse, script_text, whole_file_error};

/// The contents of a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Edits of the lines of files, in the order of the request.
    pub edits: Vec<Operation<LineEdit>>,
    /// Operations on whole files, in the order of the request.
    pub files: Vec<Operation<FileAction>>,
    /// Paths with the snapshots of the files that the author of the patch was shown.
    pub snapshots: Vec<(String, String)>,
    /// The file of a patch that has a path but no operations.
    pub path_without_operations: Option<String>,
    /// The hunks of a patch in oh-my-pi's language, at the indexes of their operations. Their new
    /// lines are in the operations. Empty for other patches.
    pub hunks: Vec<ScriptHunk>,
    /// The versions that the sections of such a patch name.
    pub versions: Vec<NamedVersion>,
    /// The registers that such a patch fills, each with the operation that takes the lines.
    pub captures: Vec<(String, usize)>,
    /// How ambiguous parts of such a patch were read.
    pub warnings: Vec<Warning>,
    /// The checks of a patch that undoes another one.
    pub undo: Option<UndoChecks>,
}

/// A version of a file that a section of such a patch names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedVersion {
    /// The file.
    pub path: String,
    /// Its tag.
    pub tag: Tag,
    /// The index of the first operation of the section.
    pub operation: usize,
    /// The number of operations of the section.
    pub hunks: usize,
}

impl Operations {
    /// The path of the operation with an index.
    pub fn path_of(&self, index: usize) -> Option<&str> {
        self.paths().find(|&(known, _)| known == index).map(|(_, path)| path)
    }

    /// The path of the first operation.
    pub fn first_path(&self) -> Option<&str> {
        self.paths().min_by_key(|&(index, _)| index).map(|(_, path)| path)
    }

    /// The index of the first operation that names `path`.
    pub fn operation_about(&self, path: &str) -> Option<usize> {
        let moves_there = |operation: &&Operation<FileAction>| matches!(&operation.action, FileAction::Move { to } if to == path);
        let moves = self.files.iter().filter(moves_there).map(|operation| operation.index);
        self.paths().filter(|&(_, named)| named == path).map(|(index, _)| index).chain(moves).min()
    }

    /// Whether an operation deletes or moves the file with this path.
    pub fn frees(&self, path: &str) -> bool {
        let is_freed = |operation: &Operation<FileAction>| {
            let frees = matches!(operation.action, FileAction::Move { .. } | FileAction::Delete);
            operation.path == path && frees
        };
        self.files.iter().any(is_freed)
    }

    fn paths(&self) -> impl Iterator<Item = (usize, &str)> {
        let edits = self.edits.iter().map(|operation| (operation.index, operation.path.as_str()));
        edits.chain(self.files.iter().map(|operation| (operation.index, operation.path.as_str())))
    }
}

/// One operation of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<A = LineEdit> {
    /// Its index in the request.
    pub index: usize,
    /// The file; empty for a text in memory.
    pub path: String,
    /// Whether its text is used literally, without repairs.
    pub verbatim: bool,
    /// What it does.
    pub action: A,
}

/// What an operation does to the lines of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LineEdit {
    /// Replaces a line, or the lines from `first` to `last`, both included; with no lines it
    /// deletes them.
    Replace {
        /// The first line.
        first: Anchor,
        /// The last line, for a range.
        last: Option<Anchor>,
        /// The new lines.
        lines: Vec<String>,
        /// The checksum of the lines, and perhaps of lines around them, when they were shown.
        checksum: Option<Checksum>,
        /// Whether the first line names the whole block that begins there.
        block: bool,
    },
    /// Inserts lines.
    Insert {
        /// Where.
        at: InsertAt,
        /// The new lines, at least one.
        lines: Vec<String>,
        /// Whether the line names the whole block that begins there.
        block: bool,
    },
    /// Replaces an exact text.
    ReplaceText {
        /// The text, not empty; `\n` matches any terminator.
        old_text: String,
        /// Its replacement; `\n` becomes the file's terminator.
        new_text: String,
        /// Whether to replace every occurrence instead of the only one.
        all: bool,
    },
    /// Replaces the whole content of the file, which is created if it does not exist.
    ReplaceFile {
        /// The new content.
        content: String,
    },
    /// Puts back the lines that a patch changed.
    Restore(RestoredLines),
    /// Edits a value of a JSON document.
    Json(JsonEdit),
    /// The source of moved or copied lines. Moved lines are deleted here. The [`LineEdit::Put`]
    /// with the same index is the destination.
    Take(Transfer),
    /// The destination of the lines that the [`LineEdit::Take`] with the same index takes.
    Put(Transfer),
}

/// The lines that an operation names.
pub(super) struct NamedLines {
    /// The first line.
    pub(super) first: Anchor,
    /// The last line, for a range.
    pub(super) last: Option<Anchor>,
    /// Whether the first line names the whole block that begins there.
    pub(super) block: bool,
}

/// Lines that are moved or copied, within a file or to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transfer {
    /// Whether the lines also stay where they are.
    pub is_copy: bool,
    /// The first line.
    pub first: Anchor,
    /// The last line, for a range.
    pub last: Option<Anchor>,
    /// Whether the first line names the whole block that begins there.
    pub block: bool,
    /// The destination file, if it is another one.
    pub to: Option<String>,
    /// The position in the destination; not needed for a file that the lines create.
    pub at: Option<InsertAt>,
    /// Whether the line of the position names the whole block that begins there.
    pub at_block: bool,
    /// How the indentation changes.
    pub indent: MovedIndent,
}

/// How the indentation of moved or copied lines changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MovedIndent {
    /// Not at all.
    Keep,
    /// The common indentation of the lines is replaced by that of the destination.
    Fit,
}

impl LineEdit {
    /// Whether making it again adds one more each time: true for inserts, except those of a key.
    pub fn is_repeatable(&self) -> bool {
        match self {
            LineEdit::Insert { .. } => true,
            LineEdit::Json(JsonEdit::Insert { slot, .. }) => !matches!(slot, JsonSlot::Key(_)),
            LineEdit::Take(transfer) | LineEdit::Put(transfer) => transfer.is_copy,
            LineEdit::Replace { .. }
            | LineEdit::ReplaceText { .. }
            | LineEdit::ReplaceFile { .. }
            | LineEdit::Restore(_)
            | LineEdit::Json(_) => false,
        }
    }

    /// Whether its anchor names the block that begins there.
    pub fn names_block(&self) -> bool {
        match self {
            LineEdit::Replace { block, .. } | LineEdit::Insert { block, .. } => *block,
            LineEdit::Take(transfer) => transfer.block,
            LineEdit::Put(transfer) => transfer.at_block,
            LineEdit::ReplaceText { .. }
            | LineEdit::ReplaceFile { .. }
            | LineEdit::Restore(_)
            | LineEdit::Json(_) => false,
        }
    }

    /// Its anchors, in the order of the lines.
    pub fn anchors(&self) -> impl Iterator<Item = &Anchor> {
        let (first, last) = match self {
            LineEdit::Replace { first, last, .. }
            | LineEdit::Take(Transfer { first, last, .. }) => (Some(first), last.as_ref()),
            LineEdit::Insert { .. } | LineEdit::Put(_) => match self.place() {
                Some(InsertAt::After(one) | InsertAt::Before(one)) => (Some(one), None),
                Some(InsertAt::Between(one, other)) => (Some(one), Some(other)),
                Some(InsertAt::Start | InsertAt::End) | None => (None, None),
            },
            LineEdit::ReplaceText { .. }
            | LineEdit::ReplaceFile { .. }
            | LineEdit::Restore(_)
            | LineEdit::Json(_) => (None, None),
        };
        first.into_iter().chain(last)
    }

    /// The position of new lines, if it only adds lines.
    pub fn place(&self) -> Option<&InsertAt> {
        match self {
            LineEdit::Insert { at, .. } => Some(at),
            LineEdit::Put(transfer) => transfer.at.as_ref(),
            LineEdit::Replace { .. }
            | LineEdit::ReplaceText { .. }
            | LineEdit::ReplaceFile { .. }
            | LineEdit::Restore(_)
            | LineEdit::Json(_)
            | LineEdit::Take(_) => None,
        }
    }
}

/// What an operation does to a whole file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FileAction {
    /// Creates it.
    Add {
        /// Its whole content.
        content: String,
    },
    /// Renames it.
    Move {
        /// The new path.
        to: String,
    },
    /// Removes it.
    Delete,
    /// Creates it as it was.
    Restore(RestoredFile),
}

/// Where lines are inserted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InsertAt {
    /// Before the first line.
    Start,
    /// After the last line.
    End,
    /// After a line.
    After(Anchor),
    /// Before a line.
    Before(Anchor),
    /// Before the second line, with the first somewhere above it.
    Between(Anchor, Anchor),
}

/// What a patch applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// Files: each operation has a path.
    Files,
    /// One text in memory: operations have no path, and none is on a whole file.
    Text,
}

#[cfg(test)]
mod tests;
