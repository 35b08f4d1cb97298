//! Where the lines of a text begin.

/// The table of a text's lines, which are counted from 0.
#[derive(Debug)]
pub(crate) struct Rows {
    /// Where each line starts, and the end of the text.
    starts: Vec<u32>,
    /// Whether the text ends with a line that has no `\n`.
    is_open: bool,
}

impl Rows {
    /// The lines of a text shorter than 4 GiB.
    pub fn of(text: &[u8]) -> Rows {
        let mut starts = Vec::with_capacity(text.len() / 16 + 2);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', text).map(|at| at as u32 + 1));
        let is_open = starts.last().is_some_and(|&start| (start as usize) < text.len());
        if is_open {
            starts.push(text.len() as u32);
        }
        Rows { starts, is_open }
    }

    /// How many lines there are.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Where a line starts, or the text ends.
    pub fn start_of(&self, row: usize) -> usize {
        self.starts[row] as usize
    }

    /// The bytes of a line, with its end.
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.start_of(row)..self.start_of(row + 1)
    }

    /// The line of a byte; the last line for what lies behind the text.
    pub fn row_of(&self, at: usize) -> usize {
        self.begun_until(at).min(self.count().saturating_sub(1))
    }

    /// How many lines have ended before a byte.
    pub fn begun_until(&self, at: usize) -> usize {
        let starts = &self.starts[..self.starts.len() - usize::from(self.is_open)];
        starts.partition_point(|&start| start as usize <= at) - 1
    }

    /// About how much memory it takes.
    pub fn size_bytes(&self) -> usize {
        4 * self.starts.len()
    }
}
