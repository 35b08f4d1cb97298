//! Patches in oh-my-pi's language: sections `[path#TAG]`, each with hunks that name lines by their
//! numbers in the version that has this tag. What they mean for files is for others to say.
//!
//! `rows` says what a row of such a text is, `read` makes sections of them, `body` the new lines of
//! a `hunk`. What models write otherwise than the grammar has it is understood where it can mean
//! one thing alone, and noted.

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]

mod body;
mod hunk;
mod read;
mod rows;

use hashline_lines::tag::Tag;

pub use hunk::{HunkAct, HunkGap, HunkLines, Register, ScriptHunk};
pub use read::{HUNKS_LIMIT, ReadScript, read_script};

/// The hunks of one file under one header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The file.
    pub path: String,
    /// The version whose lines are named.
    pub tag: Tag,
    /// The row of its header, from 1.
    pub row: u64,
    /// What is asked for, in order.
    pub hunks: Vec<ScriptHunk>,
}

/// Something that was understood, though the grammar has it otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptNote {
    /// The row, from 1.
    pub row: u64,
    /// The place of the hunk among all of the text, from 0.
    pub hunk: usize,
    /// How it was understood.
    pub what: &'static str,
}

/// Something that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptProblem {
    /// The row, from 1.
    pub row: u64,
    /// The place of the hunk among all of the text, from 0: that it is in, or the next one.
    pub hunk: usize,
    /// What is wrong, and what to write instead.
    pub what: String,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The sections, in order.
    pub sections: Vec<Section>,
    /// What was understood kindly.
    pub notes: Vec<ScriptNote>,
}

impl Script {
    /// All hunks with their sections, in order.
    pub fn hunks(&self) -> impl Iterator<Item = (&Section, &ScriptHunk)> {
        self.sections.iter().flat_map(|section| section.hunks.iter().map(move |one| (section, one)))
    }
}
