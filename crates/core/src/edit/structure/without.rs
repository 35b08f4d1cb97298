//! What stands in for `hashline-syntax` in a build without it: no language is known.

/// Any limit will do: no text is parsed.
pub const SOURCE_LIMIT_BYTES: usize = 1;

/// There is none.
#[derive(PartialEq)]
pub struct Language {
    pub is_checked: bool,
    pub is_indented: bool,
}

/// What is wrong; there is nothing to say it of.
pub struct Fault {
    pub line: u32,
    pub what: String,
    pub opened: Option<u32>,
}

/// No text is parsed.
pub enum Source {}

impl Source {
    pub fn parse(_: &'static Language, _: impl AsRef<[u8]>) -> Option<Source> {
        None
    }

    pub fn reparse(&self, _: Vec<u8>) -> Option<Source> {
        match *self {}
    }

    pub fn would_be_clean(&self, _: impl AsRef<[u8]>, _: &mut u32) -> bool {
        match *self {}
    }

    pub fn is_clean(&self) -> bool {
        match *self {}
    }

    pub fn fault(&self) -> Option<Fault> {
        match *self {}
    }

    pub fn language(&self) -> &'static Language {
        match *self {}
    }

    pub fn text(&self) -> &[u8] {
        match *self {}
    }

    pub fn size_bytes(&self) -> usize {
        match *self {}
    }
}

pub fn language_of(_: &str, _: &[u8]) -> Option<&'static Language> {
    None
}
