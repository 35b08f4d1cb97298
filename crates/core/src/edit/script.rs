//! Patches in oh-my-pi's language: sections `[path#TAG]`, each with hunks that name lines by their
//! numbers in the version that has this tag.
//!
//! `rows` says what a row of such a text is, `read` makes sections of them, `body` the new lines of
//! a hunk; all are pure. `lower` makes operations of the sections; `registers` are what a session
//! keeps of them. What models write otherwise than
//! the grammar has it is understood where it can mean one thing alone, and noted.

mod body;
mod lower;
mod read;
mod registers;
mod rows;

use std::fmt;

use crate::text::tag::Tag;

pub use lower::{LoweredScript, lower};
pub use read::{ReadScript, read_script};
pub use registers::Registers;

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

/// One thing that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptHunk {
    /// The row of its head, from 1.
    pub row: u64,
    /// What it does.
    pub act: HunkAct,
}

/// What a hunk does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HunkAct {
    /// `PUT N.=M:`: replaces lines; with no lines it deletes them.
    Replace(HunkLines, Vec<String>),
    /// `PUT >N:`: inserts lines, at least one.
    Insert(HunkGap, Vec<String>),
    /// `CUT N.=M @name`: deletes lines and keeps them in a register.
    Cut(HunkLines, Register),
    /// `PUT >N @name`: inserts what a register holds.
    Paste(HunkGap, Register),
    /// `PUT N.=M @name`: replaces lines by what a register holds.
    PasteOver(HunkLines, String),
    /// `REM`: deletes the file.
    Remove,
    /// `MV PATH`: gives the file another name.
    Move(String),
}

/// The name of a register; the anonymous one has none.
pub type Register = Option<String>;

/// Lines that a hunk names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HunkLines {
    /// From one to another, both included.
    Range(u32, u32),
    /// The block that begins at a line.
    Block(u32),
}

/// A place between lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HunkGap {
    /// Before a line.
    Before(u32),
    /// After a line.
    After(u32),
    /// After the block that begins at a line.
    AfterBlock(u32),
    /// After the last line.
    End,
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

impl fmt::Display for HunkLines {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HunkLines::Range(first, last) => write!(out, "{first}.={last}"),
            HunkLines::Block(line) => write!(out, "{line}*"),
        }
    }
}

impl fmt::Display for HunkGap {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HunkGap::Before(line) => write!(out, "<{line}"),
            HunkGap::After(line) => write!(out, ">{line}"),
            HunkGap::AfterBlock(line) => write!(out, ">{line}*"),
            HunkGap::End => out.write_str(">$"),
        }
    }
}

/// The head of the hunk as the grammar has it.
impl fmt::Display for HunkAct {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |out: &mut fmt::Formatter<'_>, register: &Register| match register {
            Some(name) => write!(out, " @{name}"),
            None => Ok(()),
        };
        match self {
            HunkAct::Replace(lines, _) => write!(out, "PUT {lines}:"),
            HunkAct::Insert(gap, _) => write!(out, "PUT {gap}:"),
            HunkAct::Cut(lines, register) => {
                write!(out, "CUT {lines}")?;
                named(out, register)
            }
            HunkAct::Paste(gap, register) => {
                write!(out, "PUT {gap}")?;
                named(out, register)
            }
            HunkAct::PasteOver(lines, name) => write!(out, "PUT {lines} @{name}"),
            HunkAct::Remove => out.write_str("REM"),
            HunkAct::Move(to) => write!(out, "MV {to}"),
        }
    }
}

#[cfg(test)]
mod tests;
