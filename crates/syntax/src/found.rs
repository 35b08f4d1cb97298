//! What is found in a text, as data: blocks, definitions, folds, headings, faults.

/// Whole lines, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first line, with the comments, attributes and decorators above it.
    pub first: u32,
    /// The line where it begins itself.
    pub start: u32,
    /// Its last line.
    pub last: u32,
}

/// Lines that a view may leave out, counted from 1, both included. Folds are nested or apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The first line that is left out.
    pub first: u32,
    /// The last line that is left out.
    pub last: u32,
    /// The definition whose body it is, by its place in the list.
    pub definition: Option<u32>,
    /// Whether it lies in a test.
    pub is_test: bool,
    /// How many folds it lies in.
    pub depth: u32,
}

/// A function, type, section or the like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name; for what has none, how it begins.
    pub name: String,
    /// The line where it begins, after decorators and annotations.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// Whether it is a test or lies in one.
    pub is_test: bool,
    /// How many definitions it lies in.
    pub depth: u32,
}

/// Definitions and folds of a text, each in the order in which they begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// All definitions.
    pub definitions: Vec<Definition>,
    /// All folds.
    pub folds: Vec<Fold>,
}

impl Outline {
    /// The definitions that a line lies in, the outermost first.
    pub fn path(&self, line: u32) -> impl Iterator<Item = &Definition> {
        let before = self.definitions.partition_point(|definition| definition.first <= line);
        self.definitions[..before].iter().filter(move |definition| definition.last >= line)
    }
}

/// A heading: the lines that it takes, and its level from 1 to 6.
#[derive(Debug)]
pub(crate) struct Heading {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) level: usize,
    pub(crate) title: String,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line where it shows.
    pub line: u32,
    /// What is wrong there.
    pub what: String,
    /// The line where what is not closed opens.
    pub opened: Option<u32>,
}
