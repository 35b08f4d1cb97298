//! Tokens, and the regions between two that match.

/// A part of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    start: u32,
    end: u32,
    /// The innermost region that it is in; that of a bracket is its own.
    pub region: u32,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Word,
    /// A character that is nothing else.
    Mark,
    /// What opens a region: a bracket, a word, a tag.
    Open,
    Close,
    /// A text in quotes, or one in another language.
    Text,
    Comment,
    /// A line for the preprocessor.
    Directive,
}

impl Token {
    pub fn new(kind: Kind, start: usize, end: usize) -> Token {
        Token { start: start as u32, end: end as u32, region: 0, kind }
    }

    /// The same token in a text that has this number of bytes more before it.
    pub fn shifted(self, by: usize) -> Token {
        Token { start: self.start + by as u32, end: self.end + by as u32, ..self }
    }

    pub fn start(self) -> usize {
        self.start as usize
    }

    pub fn end(self) -> usize {
        self.end as usize
    }

    pub fn range(self) -> std::ops::Range<usize> {
        self.start()..self.end()
    }
}

/// What is between an opening token and the one that closes it. The first region is the whole text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub open: u32,
    /// `NONE` if it is not closed.
    pub close: u32,
    /// The region around it.
    pub parent: u32,
}

pub(crate) const NONE: u32 = u32::MAX;
