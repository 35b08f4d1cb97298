//! What of a text can be folded: by its grammar, or by the depth of its lines.

use std::ops::Range;

use hashline_base::cancel::Cancel;
use hashline_base::error::Result;
use hashline_lines::lines::{Lines, Unit};

use hashline_syntax::{Budget, Source, language_of};

/// Columns from one stop of a tab to the next.
const TAB_COLUMNS: usize = 8;

/// The fewest lines that are folded.
const LEAST_LINES: u64 = 2;

/// Between looks at the flag.
const LINES_BETWEEN_LOOKS: u64 = 1 << 16;

/// Stretches that can be folded, nested or apart, the outer one first, and the lines where
/// definitions begin, all in order.
#[derive(Debug, Default)]
pub struct FoldableText {
    /// The stretches.
    pub stretches: Vec<FoldableLines>,
    /// The first lines of definitions.
    pub definitions: Vec<u64>,
}

/// Lines that can be folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldableLines {
    /// The lines.
    pub lines: Range<u64>,
    /// Whether they are part of a test.
    pub is_test: bool,
}

impl FoldableText {
    /// By the grammar of a source. `None` for other texts.
    pub fn of_source(path: &str, text: &[u8], budget: &Budget<'_>) -> Option<FoldableText> {
        let source = Source::parse(language_of(path, text)?, text, budget)?;
        let outline = source.outline(budget)?;
        let stretches = outline.folds.iter().map(|fold| FoldableLines {
            lines: u64::from(fold.first)..u64::from(fold.last) + 1,
            is_test: fold.is_test,
        });
        let mut definitions: Vec<u64> =
            outline.definitions.iter().map(|one| u64::from(one.first)).collect();
        definitions.sort_unstable();
        definitions.dedup();
        let layout = FoldableText { stretches: stretches.collect(), definitions };
        (!layout.stretches.is_empty()).then_some(layout)
    }

    /// By depth: what is deeper than the line above it can be folded, and that line counts as a
    /// definition.
    pub fn of_indentation(text: &[u8], cancel: &Cancel) -> Result<FoldableText> {
        let mut found = Deeper::default();
        for (line, span) in (1..).zip(Lines::new(text, Unit::Byte)) {
            if line % LINES_BETWEEN_LOOKS == 0 {
                cancel.check()?;
            }
            let content = span.text(text);
            if let Some(depth) = depth_of(content) {
                found.line(line, depth);
            }
        }
        Ok(found.finish())
    }
}

/// The column of the first character that is no white space; `None` for an empty line.
fn depth_of(line: &[u8]) -> Option<usize> {
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

/// Stretches of deeper lines, found line by line.
#[derive(Default)]
struct Deeper {
    /// Lines below which others may be deeper, with their depths, which ascend.
    open: Vec<(u64, usize)>,
    /// The last line that is not empty.
    last: u64,
    stretches: Vec<FoldableLines>,
}

impl Deeper {
    fn line(&mut self, line: u64, depth: usize) {
        self.close(depth);
        self.open.push((line, depth));
        self.last = line;
    }

    /// Ends what is below lines that are at least so deep.
    fn close(&mut self, depth: usize) {
        while let Some((head, _)) = self.open.pop_if(|(_, own)| *own >= depth) {
            let lines = head + 1..self.last + 1;
            if lines.end.saturating_sub(lines.start) >= LEAST_LINES {
                self.stretches.push(FoldableLines { lines, is_test: false });
            }
        }
    }

    fn finish(mut self) -> FoldableText {
        self.close(0);
        self.stretches.sort_by_key(|one| (one.lines.start, u64::MAX - one.lines.end));
        let definitions = self.stretches.iter().map(|one| one.lines.start - 1).collect();
        FoldableText { stretches: self.stretches, definitions }
    }
}
