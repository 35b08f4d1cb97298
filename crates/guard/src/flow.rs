//! What a command prints: the model's own words, contents of files, or a program's output.

use std::rc::Rc;

use super::hit::Hit;
use super::{CommandSpan, Finding};

/// What comes out of a command, and goes into the next.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Whether there is text in it that stands in the command line.
    pub own: bool,
    /// That text, where it is known and everything.
    pub text: Option<Rc<str>>,
    /// Whether a program's output is in it.
    pub program: bool,
    /// Files whose contents are in it: findings, if they come to be seen.
    pub sources: Vec<Rc<Finding>>,
    /// What shows the one file whose lines it is, in their order.
    pub lines: Option<Rc<Hit>>,
    /// The directory of the files whose names it is.
    pub listing: Option<Rc<str>>,
    /// Where it is redirected from.
    pub at: Option<CommandSpan>,
}

/// How many files and findings are told of: they are enough to say what is wrong with a line.
pub const SOURCES_LIMIT: usize = 100;

impl Flow {
    /// The output of a program.
    pub fn of_program() -> Flow {
        Flow { program: true, ..Flow::default() }
    }

    /// Words of the command line.
    pub fn words(text: Option<Rc<str>>) -> Flow {
        Flow { own: true, text, ..Flow::default() }
    }

    /// Whether it is text that an edit would have written: the model's own or that of a file, and
    /// no program's output.
    pub fn is_text(&self) -> bool {
        (self.own || !self.sources.is_empty()) && !self.program
    }

    /// Whether it is what programs print: with nothing in it of a file that a tool would show.
    pub fn is_output(&self) -> bool {
        self.program && self.sources.is_empty()
    }

    /// Whether there is anything in it.
    pub fn is_fed(&self) -> bool {
        self.own || self.program || !self.sources.is_empty() || self.listing.is_some()
    }

    /// The same, as a command passes it on.
    pub fn passed(&self) -> Flow {
        Flow { at: None, ..self.clone() }
    }

    /// The same in another form.
    pub fn transformed(&self) -> Flow {
        Flow { text: None, lines: None, ..self.passed() }
    }

    /// Adds what is printed behind it.
    pub fn append(&mut self, other: Flow) {
        let was_fed = self.is_fed();
        self.text = match (self.text.take(), other.text) {
            (None, text) if !was_fed => text,
            _ => None,
        };
        self.lines = if was_fed { None } else { other.lines };
        self.own |= other.own;
        self.program |= other.program;
        if self.listing.is_none() {
            self.listing = other.listing;
        }
        self.add(&other.sources);
    }

    /// Adds the contents of files.
    pub fn add(&mut self, sources: &[Rc<Finding>]) {
        let room = SOURCES_LIMIT.saturating_sub(self.sources.len());
        self.sources.extend(sources.iter().take(room).cloned());
    }
}
