//! Parses patches in oh-my-pi's language: sections `[path#TAG]`, each with hunks that name lines by
//! their numbers in the version that has this tag. `hashline-core` applies them to files.
//!
//! `rows` classifies a row, `read` groups rows into sections, and `body` parses the new lines of a
//! `hunk`. `parts` splits a text that is still arriving. Deviations from the grammar that models write are accepted where they have one meaning,
//! and are reported in notes.

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]

mod body;
mod hunk;
mod parts;
mod read;
mod rows;

use hashline_lines::tag::Tag;

pub use hunk::{HunkAct, HunkGap, HunkLines, Register, ScriptHunk};
pub use parts::{PartHead, ScriptPart, script_parts};
pub use read::{HUNKS_LIMIT, ReadScript, read_script};

/// A header and the hunks below it, which edit one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The file.
    pub path: String,
    /// The version whose lines are named.
    pub tag: Tag,
    /// The row of its header, from 1.
    pub row: u64,
    /// The hunks, in the order of the text.
    pub hunks: Vec<ScriptHunk>,
}

/// An accepted deviation from the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptNote {
    /// The row, from 1.
    pub row: u64,
    /// The index of the hunk among all hunks of the text, from 0.
    pub hunk: usize,
    /// How it was interpreted.
    pub what: &'static str,
}

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptProblem {
    /// The row, from 1.
    pub row: u64,
    /// The index, from 0, of the last hunk that begins at or before the row; 0 without one.
    pub hunk: usize,
    /// What is wrong, and what to write instead.
    pub what: String,
}

/// A parsed patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The sections, in the order of the text.
    pub sections: Vec<Section>,
    /// The accepted deviations from the grammar.
    pub notes: Vec<ScriptNote>,
}

impl Script {
    /// All hunks with their sections, in the order of the text.
    pub fn hunks(&self) -> impl Iterator<Item = (&Section, &ScriptHunk)> {
        self.sections.iter().flat_map(|section| section.hunks.iter().map(move |one| (section, one)))
    }
}
