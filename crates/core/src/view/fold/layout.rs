//! Which lines of a text can be folded: by its grammar, or by indentation.

use std::ops::Range;

use hashline_base::cancel::Cancel;
use hashline_base::error::Result;
use hashline_lines::lines::{Lines, Unit};

use hashline_syntax::{Budget, Source, language_of};

/// The distance between tab stops.
const TAB_COLUMNS: usize = 8;

/// The smallest fold.
const MIN_LINES: u64 = 2;

/// Lines read between two checks of the cancellation flag.
const LINES_PER_CANCEL_CHECK: u64 = 1 << 16;

/// The foldable ranges of a text and the lines on which definitions start. Ranges are nested or
/// disjoint; all is sorted, outer ranges first.
#[derive(Debug, Default)]
pub struct FoldableText {
    /// The ranges.
    pub ranges: Vec<FoldableLines>,
    /// The first line of each definition.
    pub definitions: Vec<u64>,
    /// The names of definitions, by their first lines.
    pub names: Vec<NamedLine>,
}

/// The first line of a definition.
#[derive(Debug)]
pub struct NamedLine {
    pub line: u64,
    /// The number of definitions around it.
    pub depth: u32,
    pub name: String,
}

/// A foldable range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldableLines {
    /// Its lines.
    pub lines: Range<u64>,
    /// Whether it is part of a test.
    pub is_test: bool,
}

impl FoldableText {
    /// From the grammar of a source file; `None` if its language is not known or nothing can be
    /// folded.
    pub fn of_source(path: &str, text: &[u8], budget: &Budget<'_>) -> Option<FoldableText> {
        let source = Source::parse(language_of(path, text)?, text, budget)?;
        let outline = source.outline(budget)?;
        let ranges = outline.folds.iter().map(|fold| FoldableLines {
            lines: u64::from(fold.first)..u64::from(fold.last) + 1,
            is_test: fold.is_test,
        });
        let mut definitions: Vec<u64> =
            outline.definitions.iter().map(|definition| u64::from(definition.first)).collect();
        definitions.sort_unstable();
        definitions.dedup();
        let ranges = ranges.collect();
        let named = outline.definitions.into_iter().map(|definition| NamedLine {
            line: definition.first.into(),
            depth: definition.depth,
            name: definition.name,
        });
        let mut names: Vec<NamedLine> = named.collect();
        names.sort_by_key(|named| named.line);
        let layout = FoldableText { ranges, definitions, names };
        (!layout.ranges.is_empty()).then_some(layout)
    }

    /// From indentation: lines that are indented deeper than the line above them can be folded.
    /// That line counts as a definition.
    pub fn of_indentation(text: &[u8], cancel: &Cancel) -> Result<FoldableText> {
        let mut ranges = IndentedRanges::default();
        for (line, span) in (1..).zip(Lines::new(text, Unit::Byte)) {
            if line % LINES_PER_CANCEL_CHECK == 0 {
                cancel.check()?;
            }
            let content = span.text(text);
            if let Some(depth) = indentation_of(content) {
                ranges.push_line(line, depth);
            }
        }
        Ok(ranges.finish())
    }
}

/// The column of the first character that is not whitespace; `None` for a blank line.
fn indentation_of(line: &[u8]) -> Option<usize> {
    let mut column = 0;
    for byte in line {
        match byte {
            b' ' => column += 1,
            b'\t' => column = column / TAB_COLUMNS * TAB_COLUMNS + TAB_COLUMNS,
            b'\r' | b'\x0c' => {}
            _ => return Some(column),
        }
    }
    None
}

/// Collects ranges of deeper lines.
#[derive(Default)]
struct IndentedRanges {
    /// Open headers with their depths, ascending.
    open: Vec<(u64, usize)>,
    /// The last line that is not blank.
    last: u64,
    ranges: Vec<FoldableLines>,
}

impl IndentedRanges {
    fn push_line(&mut self, line: u64, depth: usize) {
        self.close(depth);
        self.open.push((line, depth));
        self.last = line;
    }

    /// Closes the ranges below headers of at least this depth.
    fn close(&mut self, depth: usize) {
        while let Some((head, _)) = self.open.pop_if(|(_, own)| *own >= depth) {
            let lines = head + 1..self.last + 1;
            if lines.end.saturating_sub(lines.start) >= MIN_LINES {
                self.ranges.push(FoldableLines { lines, is_test: false });
            }
        }
    }

    fn finish(mut self) -> FoldableText {
        self.close(0);
        self.ranges.sort_by_key(|range| (range.lines.start, u64::MAX - range.lines.end));
        let definitions = self.ranges.iter().map(|range| range.lines.start - 1).collect();
        FoldableText { ranges: self.ranges, definitions, names: Vec::new() }
    }
}
