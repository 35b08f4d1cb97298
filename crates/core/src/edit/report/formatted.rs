//! The rows of a file that the host has formatted after a patch wrote it, and what it has changed
//! beyond these rows.

use std::borrow::Cow;
use std::ops::Range;

use super::applied::{REGION_END_LINES, ROWS_LIMIT_BYTES, add_new_lines, anchors_suffice};
use super::section::shift_text;
use super::{Note, RowStyle, Section};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::mixes_line_number;
use hashline_lines::lines::LineIndex;
use hashline_memory::LineSet;

/// At most this many places are listed.
const PLACES_LIMIT: usize = 8;

/// A changed region: the lines before the patch, and the final lines. Both are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalRange {
    /// The lines before the patch.
    pub old: Range<u64>,
    /// The final lines.
    pub new: Range<u64>,
}

impl FinalRange {
    fn shift_after(&self) -> i64 {
        self.new.end as i64 - self.old.end as i64
    }
}

/// The final text of a file, with the regions that the patch has changed.
pub struct FinalText<'s, 't> {
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// The text.
    pub text: &'t [u8],
    /// Its lines.
    pub index: &'s LineIndex,
    /// The number of lines before the patch.
    pub old_count: u64,
    /// The regions, sorted.
    pub ranges: &'s [FinalRange],
    /// How lines are shown.
    pub style: RowStyle<'s>,
}

impl<'t> FinalText<'_, 't> {
    /// The rows of the regions, and by how much these rows say that the old lines after the last
    /// region have moved.
    pub fn section(&self) -> (Section<'t>, i64) {
        let mut section = Section::new(self.dialect);
        let mut stated = 0;
        let mut ranges = self.ranges;
        while let Some(first) = ranges.first() {
            if section.size_bytes() >= ROWS_LIMIT_BYTES {
                section.gap();
                section.note(Note::Unshown { places: ranges.len(), line: first.new.start + 1 });
                break;
            }
            let together = ranges.windows(2).take_while(|two| self.share_block(&two[0], &two[1]));
            let (block, rest) = ranges.split_at(together.count() + 1);
            section.group(!self.style.answer.is_brief(), |section| {
                self.block(block, &mut stated, section);
            });
            ranges = rest;
        }
        (section, stated)
    }

    fn context_lines(&self) -> u64 {
        if self.style.answer.is_brief() { 0 } else { self.style.answer.context_lines() }
    }

    fn share_block(&self, above: &FinalRange, below: &FinalRange) -> bool {
        let between = below.new.start.saturating_sub(above.new.end);
        !self.style.answer.is_brief() && between <= 2 * self.context_lines()
    }

    /// Adds one block of rows. `stated` is by how much the rows so far say that later lines have
    /// moved.
    fn block(&self, block: &[FinalRange], stated: &mut i64, section: &mut Section<'t>) {
        let (first, last) = (&block[0], &block[block.len() - 1]);
        let mut at = first.new.start.saturating_sub(self.context_lines());
        for range in block {
            self.lines(at..range.new.start, section);
            let lines = (range.new.start + 1, range.new.end - range.new.start);
            let texts = self.numbered(range.new.clone());
            add_new_lines(texts, lines, REGION_END_LINES, self.anchors_suffice(range), section);
            at = range.new.end;
        }
        self.lines(at..(at + self.context_lines()).min(self.index.count()), section);
        let by = last.shift_after();
        if by == *stated || last.old.end >= self.old_count {
            return;
        }
        *stated = by;
        if self.anchors_suffice(last) && !mixes_line_number(self.dialect) {
            section.shift_below(by);
        } else {
            let has_new_hashes = mixes_line_number(self.dialect) && by != 0;
            section.note(Note::Shift { after: last.old.end, by, has_new_hashes });
        }
    }

    fn anchors_suffice(&self, range: &FinalRange) -> bool {
        anchors_suffice(self.style, (range.new.start + 1, range.new.end - range.new.start))
    }

    fn lines(&self, lines: Range<u64>, section: &mut Section<'t>) {
        self.numbered(lines).for_each(|(number, text)| section.line(number, text));
    }

    fn numbered(&self, lines: Range<u64>) -> impl Iterator<Item = (u64, Cow<'t, [u8]>)> {
        let text = self.text;
        let spans = self.index.from_line(text, lines.start + 1).filter(|_| !lines.is_empty());
        let numbers = lines.start + 1..lines.end + 1;
        numbers
            .zip(spans.into_iter().flatten())
            .map(|(number, span)| (number, span.text(text).into()))
    }
}

/// What the host has changed beyond the rows of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formatted {
    /// Changed and added lines, by their final numbers.
    pub lines: LineSet,
    /// The lines after which only lines were removed.
    pub removed_after: Vec<u64>,
    /// Whether it has changed line ends.
    pub has_other_ends: bool,
    /// By how much the old lines after the last place have moved, if no other row says so.
    pub shift: Option<i64>,
}

impl Formatted {
    /// Whether it has changed nothing.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.removed_after.is_empty() && !self.has_other_ends
    }

    /// `formatted: lines 4-9, 12`.
    pub(super) fn text(&self) -> String {
        let range = |range: &Range<u64>| match range.end - range.start {
            1 => range.start.to_string(),
            _ => format!("{}-{}", range.start, range.end - 1),
        };
        let ranges = self.lines.ranges();
        let mut parts: Vec<String> = ranges.iter().take(PLACES_LIMIT).map(range).collect();
        if let Some(first) = parts.first_mut() {
            let noun = if self.lines.count() == 1 { "line" } else { "lines" };
            *first = format!("{noun} {first}");
        }
        let removed = self.removed_after.iter().take(PLACES_LIMIT);
        parts.extend(removed.map(|line| format!("removed after line {line}")));
        let places = ranges.len() + self.removed_after.len();
        let omitted =
            places - ranges.len().min(PLACES_LIMIT) - self.removed_after.len().min(PLACES_LIMIT);
        if omitted > 0 {
            parts.push(format!("{omitted} more places"));
        }
        if self.has_other_ends {
            parts.push("line ends".to_owned());
        }
        let shift = self.shift.map(|by| format!(" {}", shift_text(by))).unwrap_or_default();
        format!("formatted: {}{shift}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_lists_places_and_counts_the_rest() {
        let lines = |lines: LineSet| Formatted { lines, ..Formatted::default() };
        assert_eq!(lines(LineSet::of(4, 4)).text(), "formatted: line 4");
        let shifted = Formatted { shift: Some(-2), ..lines(LineSet::of(4, 9)) };
        assert_eq!(shifted.text(), "formatted: lines 4-9 (old lines below: -2)");
        let many: LineSet = (0..20).map(|at| at * 3 + 1..at * 3 + 2).collect();
        assert!(lines(many).text().ends_with("19, 22, 12 more places"));
        let other =
            Formatted { removed_after: vec![7], has_other_ends: true, ..lines(LineSet::of(2, 3)) };
        assert_eq!(other.text(), "formatted: lines 2-3, removed after line 7, line ends");
    }
}
