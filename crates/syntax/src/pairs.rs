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

/// Something that is not closed so far.
struct Opened<'s> {
    closer: Closer<'s>,
    /// What the caller calls it.
    id: u32,
    row: usize,
    /// The indentation of its line.
    indent: usize,
    /// Whether it may end without its closing mark.
    is_optional: bool,
}

/// The open blocks of a text, and those that seem wrong by their indentation.
pub(crate) struct Pairs<'s> {
    source: &'s Source,
    open: Vec<Opened<'s>>,
    /// The number of open blocks by closing mark.
    counts: HashMap<Closer<'s>, usize>,
    /// The closing brackets at the start of a line: the line, and the offset where they end.
    closing: (usize, usize),
    /// The innermost block whose closing mark is less indented than its line, so that it may belong to
    /// another block.
    unclosed: Option<Fault>,
    /// A closing mark that is more indented than the line of its block, so that the block may be closed
    /// already.
    surplus: Option<Fault>,
    /// The number of blocks that are open around a part of the text that can only match itself, and
    /// whether it must.
    floor: Option<(usize, bool)>,
    /// The certain faults.
    pub faults: Vec<Fault>,
}

impl<'s> Pairs<'s> {
    pub fn new(source: &'s Source) -> Pairs<'s> {
        Pairs {
            source,
            open: Vec::new(),
            counts: HashMap::new(),
            closing: (usize::MAX, 0),
            unclosed: None,
            surplus: None,
            floor: None,
            faults: Vec::new(),
        }
    }

    /// The innermost open block.
    pub fn innermost(&self) -> Option<u32> {
        self.open.last().map(|opened| opened.id)
    }

    /// Opens a block at an offset.
    pub fn open(&mut self, closer: Closer<'s>, at: usize, id: u32, is_optional: bool) {
        let row = self.source.row_of(at);
        *self.counts.entry(closer).or_default() += 1;
        let indent = indent_of(self.source, row);
        self.open.push(Opened { closer, id, row, indent, is_optional });
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
                self.report(unclosed(&opened, last_row));
            }
        }
    }

    fn pop(&mut self) -> Option<Opened<'s>> {
        let opened = self.open.pop()?;
        if let Some(count) = self.counts.get_mut(&opened.closer) {
            *count -= 1;
        }
        Some(opened)
    }

    fn report(&mut self, fault: Fault) {
        if self.faults.len() < FAULTS_LIMIT {
            self.faults.push(fault);
        }
    }

    /// Closes a block, and returns the one that it closes.
    pub fn close(&mut self, closer: Closer<'s>, at: usize) -> Option<u32> {
        let row = self.source.row_of(at);
        if let Some((floor, must_match)) = self.floor {
            let is_own = self.open.len() > floor
                && self.open.last().is_some_and(|opened| opened.closer == closer);
            if !is_own && must_match {
                self.report(surplus(closer, row));
            }
            return if is_own { self.pop().map(|opened| opened.id) } else { None };
        }
        // A mark of a kind that is not open cannot be a wrong one of another block.
        if self.counts.get(&closer).is_none_or(|&count| count == 0) {
            let fault = self.surplus.take().unwrap_or_else(|| surplus(closer, row));
            self.report(fault);
            return None;
        }
        loop {
            let opened = self.pop()?;
            if opened.closer == closer {
                self.compare_indents(&opened, row, at);
                return Some(opened.id);
            }
            if !opened.is_optional {
                self.report(unclosed(&opened, row));
            }
        }
    }

    fn compare_indents(&mut self, opened: &Opened<'s>, row: usize, at: usize) {
        let indent = indent_of(self.source, row);
        if indent < opened.indent && self.source.begins_line(at) {
            self.unclosed.get_or_insert_with(|| unclosed(opened, row));
        }
        if indent > opened.indent && self.follows_only_closing_brackets(at) {
            self.surplus.get_or_insert_with(|| surplus(opened.closer, row));
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
    pub fn finish(mut self, last_row: usize) -> Vec<Fault> {
        self.open.retain(|opened| !opened.is_optional);
        // If indentation shows which one is missing, all others around it are closed too late, and
        // the outermost one not at all.
        if let Some(fault) = self.unclosed.take().filter(|_| !self.open.is_empty()) {
            self.open.remove(0);
            self.report(fault);
        }
        while let Some(opened) = self.open.pop().filter(|_| self.faults.len() < FAULTS_LIMIT) {
            self.report(unclosed(&opened, last_row));
        }
        self.faults
    }
}

pub(crate) fn closing_bracket(byte: u8) -> Option<char> {
    matches!(byte, b'}' | b']' | b')').then_some(byte.into())
}

fn indent_of(source: &Source, row: usize) -> usize {
    source.first_byte(row).map_or(0, |first| first - source.start_of(row))
}

fn unclosed(opened: &Opened<'_>, row: usize) -> Fault {
    let closer = opened.closer;
    let line = opened.row as u32 + 1;
    let what =
        format!("`{}` is missing: {} opened at line {line}", closer.shown(), closer.what_it_ends());
    Fault { line: row as u32 + 1, what, opened: Some(line) }
}

fn surplus(closer: Closer<'_>, row: usize) -> Fault {
    let what = format!("`{}` closes nothing", closer.shown());
    Fault { line: row as u32 + 1, what, opened: None }
}
