//! The output of a command: text that the model wrote, contents of files, or output of a program.

use std::rc::Rc;

use super::access::Access;
use super::{CommandSpan, Finding};

/// The output of a command, which is the input of the next.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Whether it contains text from the command line.
    pub has_literal_text: bool,
    /// That text, if it is known and nothing else is in the flow.
    pub text: Option<Rc<str>>,
    /// Whether it contains the output of a program.
    pub has_program_output: bool,
    /// Findings for the files whose contents it contains, to be reported if they are shown.
    pub sources: Vec<Rc<Finding>>,
    /// The access to the single file whose lines it consists of, in file order.
    pub lines: Option<Rc<Access>>,
    /// The directory of the files whose names it lists.
    pub listing: Option<Rc<str>>,
    /// The redirection that it comes from.
    pub at: Option<CommandSpan>,
}

/// The limit on sources and findings: more are not needed to explain the problem of a line.
pub const SOURCES_LIMIT: usize = 100;

impl Flow {
    /// The output of a program.
    pub fn of_program() -> Flow {
        Flow { has_program_output: true, ..Flow::default() }
    }

    /// Text from the command line.
    pub fn words(text: Option<Rc<str>>) -> Flow {
        Flow { has_literal_text: true, text, ..Flow::default() }
    }

    /// Whether it is text that an edit could have written: from the model or a file, and not the
    /// output of a program.
    pub fn is_text(&self) -> bool {
        (self.has_literal_text || !self.sources.is_empty()) && !self.has_program_output
    }

    /// Whether it is only the output of programs: none of it is content of a file that the read tool could show.
    pub fn is_output(&self) -> bool {
        self.has_program_output && self.sources.is_empty()
    }

    /// Whether it contains anything.
    pub fn is_fed(&self) -> bool {
        self.has_literal_text
            || self.has_program_output
            || !self.sources.is_empty()
            || self.listing.is_some()
    }

    /// The flow as a command passes it on.
    pub fn passed(&self) -> Flow {
        Flow { at: None, ..self.clone() }
    }

    /// The flow after a transformation.
    pub fn transformed(&self) -> Flow {
        Flow { text: None, lines: None, ..self.passed() }
    }

    /// Appends the output of the next command.
    pub fn append(&mut self, other: Flow) {
        let was_fed = self.is_fed();
        self.text = match (self.text.take(), other.text) {
            (None, text) if !was_fed => text,
            _ => None,
        };
        self.lines = if was_fed { None } else { other.lines };
        self.has_literal_text |= other.has_literal_text;
        self.has_program_output |= other.has_program_output;
        if self.listing.is_none() {
            self.listing = other.listing;
        }
        self.add(&other.sources);
    }

    /// Adds contents of files.
    pub fn add(&mut self, sources: &[Rc<Finding>]) {
        let room = SOURCES_LIMIT.saturating_sub(self.sources.len());
        self.sources.extend(sources.iter().take(room).cloned());
    }
}
