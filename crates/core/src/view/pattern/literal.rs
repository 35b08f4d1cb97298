//! A text that is looked for as it stands, in linear time and many bytes at once.

use std::ops::Range;

use memchr::memmem::Finder;

use super::watch::{Stop, Watch};
use hashline_base::cancel::PIECE_BYTES;

/// A text to look for.
#[derive(Debug)]
pub(super) struct Literal {
    finder: Finder<'static>,
    /// How much is searched between two looks at the flag.
    pub(super) piece_bytes: usize,
}

impl Literal {
    /// `text` is not empty.
    pub(super) fn new(text: &[u8]) -> Literal {
        Literal { finder: Finder::new(text).into_owned(), piece_bytes: PIECE_BYTES }
    }

    /// Where it stands first, from the byte `from` on.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let start = from + self.finder.find(&text[from..])?;
        Some(start..start + self.finder.needle().len())
    }

    /// Where it stands first in a line, however long that is.
    pub(super) fn find_in(
        &self,
        line: &[u8],
        watch: &Watch<'_>,
    ) -> Result<Option<Range<usize>>, Stop> {
        let piece_bytes = self.piece_bytes.max(1);
        // What begins in a piece may end in the next one.
        let over = self.finder.needle().len() - 1;
        for start in (0..line.len()).step_by(piece_bytes) {
            let piece = &line[start..line.len().min(start + piece_bytes + over)];
            watch.spend(piece.len() as u64)?;
            if let Some(at) = self.finder.find(piece) {
                return Ok(Some(start + at..start + at + self.finder.needle().len()));
            }
        }
        Ok(None)
    }
}
