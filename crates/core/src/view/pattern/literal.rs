//! Searches for literal text, in linear time and many bytes at once.

use std::ops::Range;

use memchr::memmem::Finder;

use super::budget::{StepBudget, Stop};
use hashline_base::cancel::PIECE_BYTES;

/// The text to search for.
#[derive(Debug)]
pub(super) struct Literal {
    finder: Finder<'static>,
    /// Bytes searched between two checks of the cancellation flag.
    pub(super) piece_bytes: usize,
}

impl Literal {
    /// `text` must not be empty.
    pub(super) fn new(text: &[u8]) -> Literal {
        Literal { finder: Finder::new(text).into_owned(), piece_bytes: PIECE_BYTES }
    }

    /// The first occurrence at or after `from`.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        let start = from + self.finder.find(&text[from..])?;
        Some(start..start + self.finder.needle().len())
    }

    /// The first occurrence in a line of any length.
    pub(super) fn find_in(
        &self,
        line: &[u8],
        budget: &StepBudget<'_>,
    ) -> Result<Option<Range<usize>>, Stop> {
        let piece_bytes = self.piece_bytes.max(1);
        // An occurrence can start in one piece and end in the next.
        let over = self.finder.needle().len() - 1;
        for start in (0..line.len()).step_by(piece_bytes) {
            let piece = &line[start..line.len().min(start + piece_bytes + over)];
            budget.spend(piece.len() as u64)?;
            if let Some(at) = self.finder.find(piece) {
                return Ok(Some(start + at..start + at + self.finder.needle().len()));
            }
        }
        Ok(None)
    }
}
