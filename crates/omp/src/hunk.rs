//! Hunks of patches in oh-my-pi's language. An answer names the operations of such a patch by the
//! heads of their hunks.

use std::fmt;

/// One hunk: a head, and its new lines if it has any.
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
    /// `CUT N.=M @name`: deletes lines and stores them in a register.
    Cut(HunkLines, Register),
    /// `PUT >N @name`: inserts the content of a register.
    Paste(HunkGap, Register),
    /// `PUT N.=M @name`: replaces lines by the content of a register.
    PasteOver(HunkLines, String),
    /// `REM`: deletes the file.
    Remove,
    /// `MV PATH`: renames the file.
    Move(String),
}

/// The name of a register; `None` is the anonymous register.
pub type Register = Option<String>;

/// Lines that a hunk names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HunkLines {
    /// From the first to the last line, both included.
    Range(u32, u32),
    /// The block that begins at a line.
    Block(u32),
}

/// A position between lines.
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

impl HunkLines {
    /// The first line.
    pub fn first(self) -> u32 {
        match self {
            HunkLines::Range(first, _) | HunkLines::Block(first) => first,
        }
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

impl HunkAct {
    /// Moves the new lines out; the head does not change.
    pub fn take_lines(&mut self) -> Vec<String> {
        match self {
            HunkAct::Replace(_, lines) | HunkAct::Insert(_, lines) => std::mem::take(lines),
            _ => Vec::new(),
        }
    }
}

/// Formats the head of the hunk as the grammar defines it.
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
