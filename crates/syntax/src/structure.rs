//! The structure of a text as data: blocks, definitions, folds, headings, faults.

use std::ops::Range;

/// A block: whole lines, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first line, including comments, attributes and decorators above it.
    pub first: u32,
    /// The line where the block itself starts.
    pub start: u32,
    /// Its last line.
    pub last: u32,
}

/// Lines that a view may omit, counted from 1, inclusive. Folds are nested or disjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The first omitted line.
    pub first: u32,
    /// The last omitted line.
    pub last: u32,
    /// The index of the definition whose body it is.
    pub definition: Option<u32>,
    /// Whether it is in a test.
    pub is_test: bool,
    /// The number of folds around it.
    pub depth: u32,
}

/// A function, type, section or the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// What belongs to it by its name: the receiver of a Go method, the trait of a Rust `impl`.
    pub qualifier: String,
    /// Its name, or its start if it has none.
    pub name: String,
    /// Whether it has the name of something that is defined elsewhere: a Rust `impl`, a call such as
    /// `describe('Parser', …)`.
    pub is_secondary: bool,
    /// Whether something else with its name is preferred: a member of a type, a prototype.
    pub is_minor: bool,
    /// Whether it is another name of the definition before it.
    pub is_alias: bool,
    /// Its own text.
    pub bytes: Range<usize>,
    /// The line where it starts, after decorators and annotations.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// Whether it is a test or is in one.
    pub is_test: bool,
    /// The number of definitions around it.
    pub depth: u32,
}

/// A definition that was found by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name after those of the definitions around it: `Class.method`.
    pub path: String,
    /// Whether it has the name of something that is defined elsewhere.
    pub is_secondary: bool,
    /// Its first line, including comments, attributes and decorators above it.
    pub first: u32,
    /// The line where the definition itself starts.
    pub start: u32,
    /// Its last line.
    pub last: u32,
    /// Its own text.
    pub bytes: Range<usize>,
}

/// The definitions and folds of a text, each sorted by their starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// All definitions.
    pub definitions: Vec<Definition>,
    /// All folds.
    pub folds: Vec<Fold>,
}

impl Outline {
    /// The definitions around a line, outermost first.
    pub fn path(&self, line: u32) -> impl Iterator<Item = &Definition> {
        let before = self.definitions.partition_point(|definition| definition.first <= line);
        self.definitions[..before].iter().filter(move |definition| definition.last >= line)
    }
}

/// A heading: its lines, and its level from 1 to 6.
#[derive(Debug)]
pub(crate) struct Heading {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) level: usize,
    pub(crate) title: String,
}

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line where it is reported.
    pub line: u32,
    /// The description.
    pub what: String,
    /// The line of an opening bracket that is not closed.
    pub opened: Option<u32>,
}
