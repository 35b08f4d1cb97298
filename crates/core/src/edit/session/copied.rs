//! Rows that a session showed, which a model may have copied into its text with their anchors.

use std::cell::{Cell, OnceCell};
use std::path::Path;

use super::CallMemory;
use hashline_lines::anchor::RowAnchor;
use hashline_lines::dialect::Dialect;
use hashline_memory::{FileRecord, says_enough};

/// The maximum number of comparisons of a row with what is known of a file. After them, rows count
/// as not shown.
const COMPARISONS_LIMIT: usize = 1 << 20;

/// The rows that a session showed of all files. They are collected for the first question.
pub struct CopiedRows<'m> {
    dialect: &'static Dialect,
    call_memory: Option<CallMemory<'m>>,
    records: OnceCell<Vec<FileRecord>>,
    comparisons: Cell<usize>,
}

impl<'m> CopiedRows<'m> {
    /// The rows of a session; none without a session.
    pub fn new(dialect: &'static Dialect, call_memory: Option<CallMemory<'m>>) -> CopiedRows<'m> {
        CopiedRows { dialect, call_memory, records: OnceCell::new(), comparisons: Cell::new(0) }
    }

    /// Whether there is a session.
    pub fn is_remembered(&self) -> bool {
        self.call_memory.is_some()
    }

    /// Whether the session showed exactly this row, of any file. Without a hash, a row is only a
    /// number, so the line must have enough letters or digits.
    pub fn has(&self, row: &RowAnchor<'_>) -> bool {
        let Some(call_memory) = self.call_memory else { return false };
        let text = row.text.as_bytes();
        let is_numbered = !self.dialect.has_hashes() || self.dialect.is_bare(row.hash);
        if is_numbered && !says_enough(text) {
            return false;
        }
        let records = self.records.get_or_init(|| call_memory.memory.records());
        let comparisons = self.comparisons.get() + records.len();
        self.comparisons.set(comparisons);
        comparisons <= COMPARISONS_LIMIT
            && records.iter().any(|record| record.has_shown(row.line, text, call_memory.as_of))
    }

    /// Whether a known text of a file has lines that begin like a row.
    pub fn are_lines_of(&self, file: &Path) -> bool {
        let Some(call_memory) = self.call_memory else { return false };
        let record = call_memory.memory.record(file);
        record.texts().any(|body| body.lines().any(|line| begins_like_row(self.dialect, line)))
    }
}

/// Whether a line of a file begins like a row with a hash.
pub fn begins_like_row(dialect: &Dialect, line: &[u8]) -> bool {
    line.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(u8::is_ascii_digit)
        && std::str::from_utf8(line).is_ok_and(|line| {
            RowAnchor::of(dialect, line.trim_start()).is_some_and(|row| !dialect.is_bare(row.hash))
        })
}
