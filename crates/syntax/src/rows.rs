//! The offsets of the lines of a text.

/// The table of lines of a text, counted from 0.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The start of each line, and the end of the text.
    starts: Vec<u32>,
    /// Whether the last line has no `\n`.
    is_open: bool,
}

impl Rows {
    /// Indexes a text shorter than 4 GiB.
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

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The start of a line, or the end of the text.
    pub fn start_of(&self, row: usize) -> usize {
        self.starts[row] as usize
    }

    /// The bytes of a line, including its terminator.
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.start_of(row)..self.start_of(row + 1)
    }

    /// The line of a byte; the last line for offsets after the text.
    pub fn row_of(&self, at: usize) -> usize {
        self.begun_until(at).min(self.count().saturating_sub(1))
    }

    /// The number of lines that end before a byte.
    pub fn begun_until(&self, at: usize) -> usize {
        let starts = &self.starts[..self.starts.len() - usize::from(self.is_open)];
        starts.partition_point(|&start| start as usize <= at) - 1
    }

    /// The approximate size in memory.
    pub fn size_bytes(&self) -> usize {
        4 * self.starts.len()
    }
}
