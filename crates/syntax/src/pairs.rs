//! Pairs of brackets, words and tags, and those that are wrong. A `}` that is missing shows only at
//! the end of a text, where an outer block is open. So the indentation shows which one it is.

use std::collections::HashMap;

use crate::source::Source;
use crate::structure::Fault;

/// At most this number of faults are described.
pub(crate) const FAULTS_LIMIT: usize = 1_000;

/// What closes a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Closer<'s> {
    /// A bracket.
    Bracket(char),
    /// A word, such as `end`.
    Word(&'static str),
    /// The end tag of an element with this name.
    Tag(&'s [u8]),
    /// The end of a block of a template: `{/if}`.
    Template(&'s [u8]),
}

impl Closer<'_> {
    fn shown(self) -> String {
        match self {
            Closer::Bracket(bracket) => bracket.to_string(),
            Closer::Word(word) => word.to_owned(),
            Closer::Tag(name) if name.starts_with(b"$") => {
                String::from_utf8_lossy(name).into_owned()
            }
            Closer::Tag(name) => format!("</{}>", String::from_utf8_lossy(name)),
            Closer::Template(name) => format!("{{/{}}}", String::from_utf8_lossy(name)),
        }
    }

    fn what_it_ends(self) -> &'static str {
        match self {
            Closer::Bracket(')' | ']') => "it was",
            Closer::Tag(_) => "the element",
            _ => "the block",
        }
    }
}

/// A closing mark of the text.
struct Mark<'s> {
    closer: Closer<'s>,
    /// The number of open blocks that it closes.
    count: u32,
    /// Whether they may end without it.
    is_optional: bool,
}

/// Something that is not closed so far. A text may have one at each byte.
struct Opened {
    /// The index of its closing mark.
    mark: u32,
    /// What the caller calls it.
    id: u32,
    row: u32,
    /// The indentation of its line.
    indent: u32,
}

/// What is wrong, without where it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wrong {
    /// This closing mark is missing.
    Unclosed(String),
    /// This closing mark closes nothing.
    Surplus(String),
    /// This end tag, which is optional, is missing.
    Omitted(String),
    /// A branch of a condition has other brackets than the first one.
    Branch,
    /// A text or comment does not end.
    Unterminated,
}

/// A fault, and its kind.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub wrong: Wrong,
    pub fault: Fault,
}

impl Found {
    /// The bytes of its texts.
    pub fn text_bytes(&self) -> usize {
        let name = match &self.wrong {
            Wrong::Unclosed(name) | Wrong::Surplus(name) | Wrong::Omitted(name) => name.capacity(),
            Wrong::Branch | Wrong::Unterminated => 0,
        };
        name + self.fault.what.capacity()
    }
}

/// The open blocks of a text, and those that seem wrong by their indentation.
pub(crate) struct Pairs<'s> {
    source: &'s Source,
    open: Vec<Opened>,
    marks: Vec<Mark<'s>>,
    /// The indexes of the marks.
    indexes: HashMap<Closer<'s>, u32>,
    /// The closing brackets at the start of a line: the line, and the offset where they end.
    closing: (usize, usize),
    /// The innermost block whose closing mark is less indented than its line, so that it may belong to
    /// another block.
    unclosed: Option<Found>,
    /// A closing mark that is more indented than the line of its block, so that the block may be closed
    /// already.
    surplus: Option<Found>,
    /// The number of blocks that are open around a part of the text that can only match itself, and
    /// whether it must.
    floor: Option<(usize, bool)>,
    /// The certain faults.
    pub faults: Vec<Found>,
    /// What is closed by an outer block, as it may be.
    omitted: Vec<Found>,
}

/// What is wrong in a whole text, and the optional end tags that are missing.
pub(crate) struct Wrongs {
    pub faults: Vec<Found>,
    pub omitted: Vec<Found>,
}

impl<'s> Pairs<'s> {
    pub fn new(source: &'s Source) -> Pairs<'s> {
        Pairs {
            source,
            open: Vec::new(),
            marks: Vec::new(),
            indexes: HashMap::new(),
            closing: (usize::MAX, 0),
            unclosed: None,
            surplus: None,
            floor: None,
            faults: Vec::new(),
            omitted: Vec::new(),
        }
    }

    /// The innermost open block.
    pub fn innermost(&self) -> Option<u32> {
        self.open.last().map(|opened| opened.id)
    }

    /// Opens a block at an offset.
    pub fn open(&mut self, closer: Closer<'s>, at: usize, id: u32, is_optional: bool) {
        let row = self.source.row_of(at);
        let mark = *self.indexes.entry(closer).or_insert_with(|| {
            self.marks.push(Mark { closer, count: 0, is_optional });
            self.marks.len() as u32 - 1
        });
        self.marks[mark as usize].count += 1;
        let indent = indent_of(self.source, row) as u32;
        self.open.push(Opened { mark, id, row: row as u32, indent });
    }

    /// From here on, the text can only match itself.
    pub fn enter_alternative(&mut self, must_match: bool) {
        self.floor = Some((self.open.len(), must_match));
    }

    /// Ends such a part of the text, with what it has left open.
    pub fn leave_alternative(&mut self, last_row: usize) {
        let (floor, must_match) = self.floor.take().unwrap_or_default();
        while self.open.len() > floor {
            if let Some(opened) = self.pop().filter(|_| must_match) {
                self.report(self.unclosed(&opened, last_row));
            }
        }
    }

    fn pop(&mut self) -> Option<Opened> {
        let opened = self.open.pop()?;
        self.marks[opened.mark as usize].count -= 1;
        Some(opened)
    }

    fn mark_of(&self, opened: &Opened) -> &Mark<'s> {
        &self.marks[opened.mark as usize]
    }

    fn unclosed(&self, opened: &Opened, row: usize) -> Found {
        unclosed(self.mark_of(opened).closer, opened.row, row)
    }

    fn report(&mut self, fault: Found) {
        if self.faults.len() < FAULTS_LIMIT {
            self.faults.push(fault);
        }
    }

    fn omit(&mut self, opened: &Opened, row: usize) {
        if self.omitted.len() < FAULTS_LIMIT {
            let Found { wrong, fault } = self.unclosed(opened, row);
            let Wrong::Unclosed(tag) = wrong else { return };
            self.omitted.push(Found { wrong: Wrong::Omitted(tag), fault });
        }
    }

    /// Closes a block, and returns the one that it closes.
    pub fn close(&mut self, closer: Closer<'s>, at: usize) -> Option<u32> {
        let row = self.source.row_of(at);
        let mark = self.indexes.get(&closer).copied();
        if let Some((floor, must_match)) = self.floor {
            let is_own = self.open.len() > floor
                && self.open.last().is_some_and(|opened| Some(opened.mark) == mark);
            if !is_own && must_match {
                self.report(surplus(closer, row));
            }
            return if is_own { self.pop().map(|opened| opened.id) } else { None };
        }
        // A mark of a kind that is not open cannot be a wrong one of another block.
        if mark.is_none_or(|mark| self.marks[mark as usize].count == 0) {
            let fault = self.surplus.take().unwrap_or_else(|| surplus(closer, row));
            self.report(fault);
            return None;
        }
        loop {
            let opened = self.pop()?;
            if Some(opened.mark) == mark {
                self.compare_indents(&opened, row, at);
                return Some(opened.id);
            }
            if self.mark_of(&opened).is_optional {
                self.omit(&opened, row);
            } else {
                self.report(self.unclosed(&opened, row));
            }
        }
    }

    fn compare_indents(&mut self, opened: &Opened, row: usize, at: usize) {
        let indent = indent_of(self.source, row) as u32;
        if indent < opened.indent && self.source.begins_line(at) {
            let found = self.unclosed.take().unwrap_or_else(|| self.unclosed(opened, row));
            self.unclosed = Some(found);
        }
        if indent > opened.indent && self.follows_only_closing_brackets(at) {
            let closer = self.mark_of(opened).closer;
            self.surplus.get_or_insert_with(|| surplus(closer, row));
        }
        // A block that ends at the margin closes everything that was opened before.
        if self.open.is_empty() && indent == 0 {
            self.surplus = None;
        }
    }

    /// Whether only closing brackets precede an offset in its line. (In languages with indented
    /// blocks, such a line may have any depth.)
    fn follows_only_closing_brackets(&mut self, at: usize) -> bool {
        let row = self.source.row_of(at);
        if self.closing.0 != row {
            let start = self.source.start_of(row);
            let mut line = self.source.row(row).iter();
            let other = line
                .position(|&byte| !byte.is_ascii_whitespace() && closing_bracket(byte).is_none());
            self.closing = (row, other.map_or(usize::MAX, |other| start + other));
        }
        !self.source.language.is_indented && at <= self.closing.1
    }

    /// The faults of the whole text.
    pub fn finish(mut self, last_row: usize) -> Wrongs {
        let is_optional = |opened: &mut Opened| self.marks[opened.mark as usize].is_optional;
        let optional: Vec<Opened> = self.open.extract_if(.., is_optional).collect();
        optional.iter().for_each(|opened| self.omit(opened, last_row));
        // If indentation shows which one is missing, all others around it are closed too late, and
        // the outermost one not at all.
        if let Some(fault) = self.unclosed.take().filter(|_| !self.open.is_empty()) {
            self.open.remove(0);
            self.report(fault);
        }
        while let Some(opened) = self.open.pop().filter(|_| self.faults.len() < FAULTS_LIMIT) {
            self.report(self.unclosed(&opened, last_row));
        }
        Wrongs { faults: self.faults, omitted: self.omitted }
    }
}

pub(crate) fn closing_bracket(byte: u8) -> Option<char> {
    matches!(byte, b'}' | b']' | b')').then_some(byte.into())
}

fn indent_of(source: &Source, row: usize) -> usize {
    source.first_byte(row).map_or(0, |first| first - source.start_of(row))
}

pub(crate) fn unclosed(closer: Closer<'_>, opened: u32, row: usize) -> Found {
    let (shown, line) = (closer.shown(), opened + 1);
    let what = format!("`{shown}` is missing: {} opened at line {line}", closer.what_it_ends());
    let fault = Fault { line: row as u32 + 1, what, opened: Some(line) };
    Found { wrong: Wrong::Unclosed(shown), fault }
}

pub(crate) fn surplus(closer: Closer<'_>, row: usize) -> Found {
    let shown = closer.shown();
    let what = format!("`{shown}` closes nothing");
    let fault = Fault { line: row as u32 + 1, what, opened: None };
    Found { wrong: Wrong::Surplus(shown), fault }
}
