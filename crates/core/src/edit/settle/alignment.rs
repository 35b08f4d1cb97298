//! Which lines of a text that a patch wrote are in the text that a formatter made of it.
//!
//! Two comparisons are made. Equal lines are the lines that a model still knows. Lines with equal
//! letters and digits say where a region is now: a formatter changes whitespace, quotes and commas.

// A set of lines is a list of ranges, and some sets have one.
#![allow(clippy::single_range_in_vec_init)]

use std::collections::HashMap;
use std::ops::Range;

use crate::edit::line_diff::{Hunk, common_ends, hunks_of};
use crate::edit::report::FinalRange;
use crate::edit::written::WrittenRegion;
use hashline_memory::{LineSet, Splice};

/// How many letters or digits a line needs to be found elsewhere.
const ENOUGH_LETTERS: usize = 4;

/// At most this many lines of a patch are found elsewhere.
const MOVED_LINES: usize = 16;

/// The letters and digits of a line; the line without whitespace if it has none.
fn letters_of(line: &[u8]) -> Vec<u8> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let letters: Vec<u8> = line.iter().copied().filter(is_letter).collect();
    if letters.is_empty() { line.trim_ascii().to_vec() } else { letters }
}

/// A text that a patch wrote, compared with the text of the file now. Lines are without terminators.
pub struct Alignment {
    /// The lines that are not equal.
    pub changed: Vec<Hunk>,
    /// The lines with other letters and digits.
    rewritten: Vec<Hunk>,
    /// The letters and digits of the lines; empty for equal lines at the ends of the texts.
    letters: [Vec<Vec<u8>>; 2],
}

impl Alignment {
    /// Compares two texts.
    pub fn of(written: &[&[u8]], now: &[&[u8]]) -> Alignment {
        let (top, bottom) = common_ends(written, now);
        let letters = [written, now].map(|lines| {
            let middle = top..lines.len() - bottom;
            let letters = |(at, line): (usize, &&[u8])| match middle.contains(&at) {
                true => letters_of(line),
                false => Vec::new(),
            };
            lines.iter().enumerate().map(letters).collect::<Vec<_>>()
        });
        let [old, new] = &letters;
        Alignment { changed: hunks_of(written, now), rewritten: hunks_of(old, new), letters }
    }

    /// The numbers in the final text of lines that are equal.
    pub fn kept(&self, lines: &LineSet) -> LineSet {
        let (mut kept, mut from, mut shift) = (LineSet::default(), 1, 0_i64);
        let end = Hunk { before: u64::MAX..u64::MAX, after: 0..0 };
        for hunk in self.changed.iter().chain([&end]) {
            let same: LineSet = [from..hunk.before.start.saturating_add(1)].into_iter().collect();
            for range in lines.common(&same).ranges() {
                let now = |line: u64| line.saturating_add_signed(shift);
                kept.insert(now(range.start)..now(range.end));
            }
            from = hunk.before.end.saturating_add(1);
            shift = hunk.after.end as i64 - hunk.before.end as i64;
        }
        kept
    }

    /// Whether only `lines` and lines next to them were changed.
    pub fn changes_only(&self, lines: &LineSet) -> bool {
        self.changed.iter().all(|hunk| {
            let removed = hunk.before.start + 1..hunk.before.end + 1;
            match removed.is_empty() {
                true => lines.contains(removed.start) || lines.contains(removed.start - 1),
                false => lines.missing(removed).is_empty(),
            }
        })
    }

    /// Whether the last change is after the first `count` final lines and has lines below it.
    pub fn moves_lines_after(&self, count: u64) -> bool {
        let all = self.letters[1].len() as u64;
        self.changed.last().is_some_and(|hunk| hunk.after.start >= count && hunk.after.end < all)
    }

    /// The changes, for the memory.
    pub fn splices(&self) -> Vec<Splice> {
        let splice = |hunk: &Hunk| Splice {
            first: hunk.before.start + 1,
            removed: hunk.before.end - hunk.before.start,
            inserted: hunk.after.end - hunk.after.start,
        };
        self.changed.iter().map(splice).collect()
    }

    /// Where the regions of a patch are in the final text. A region of which the start or the end
    /// was rewritten together with the lines next to it includes these lines.
    pub fn ranges(&self, regions: &[WrittenRegion]) -> Vec<FinalRange> {
        let mut ranges: Vec<FinalRange> = Vec::new();
        for one in self.widened(regions) {
            let Widened { written, old } = one;
            let mut start = self.start_now(written.start);
            let end = self.end_now(written.end);
            start = start.min(end.max(ranges.last().map_or(0, |range| range.new.end)));
            ranges.push(FinalRange { old, new: start..end.max(start) });
        }
        let moved = self.moved(regions, &ranges);
        ranges.extend(moved);
        ranges.sort_by_key(|range| (range.new.start, range.new.end));
        ranges
    }

    /// Regions with the rewritten lines at their ends, merged where they meet.
    fn widened(&self, regions: &[WrittenRegion]) -> Vec<Widened> {
        let mut widened: Vec<Widened> = Vec::new();
        let mut shift = 0;
        for region in regions {
            let first = region.first - 1;
            let written = self.widen(first..first + region.new_lines);
            let old_start = written.start.saturating_add_signed(-shift);
            shift += region.new_lines as i64 - region.old_lines as i64;
            let old = old_start..written.end.saturating_add_signed(-shift);
            match widened.last_mut().filter(|above| written.start < above.written.end) {
                Some(above) => {
                    above.written.end = above.written.end.max(written.end);
                    above.old.end = above.written.end.saturating_add_signed(-shift);
                }
                None => widened.push(Widened { written, old }),
            }
        }
        widened
    }

    fn widen(&self, lines: Range<u64>) -> Range<u64> {
        let around = |line: u64| {
            let at = self.rewritten.partition_point(|hunk| hunk.before.end <= line);
            let hunk = self.rewritten.get(at)?;
            (hunk.before.start < line).then(|| hunk.before.clone())
        };
        let start = around(lines.start).map_or(lines.start, |hunk| hunk.start);
        let end = around(lines.end).map_or(lines.end, |hunk| hunk.end);
        start..end.max(start)
    }

    /// The number of final lines above a line that no hunk contains, and above lines that were
    /// inserted before it.
    fn start_now(&self, line: u64) -> u64 {
        let at = self.rewritten.partition_point(|hunk| hunk.before.end <= line);
        let above = at.checked_sub(1).map(|at| &self.rewritten[at]);
        match above {
            Some(above) => line - above.before.end + above.after.end,
            None => line,
        }
    }

    /// The same for the line after a region: lines that were inserted before it are below.
    fn end_now(&self, line: u64) -> u64 {
        let at = self.rewritten.partition_point(|hunk| hunk.before.start < line);
        let above = at.checked_sub(1).map(|at| &self.rewritten[at]);
        match above {
            Some(above) => line.max(above.before.end) - above.before.end + above.after.end,
            None => line,
        }
    }

    /// The lines of a patch that are elsewhere now, such as in sorted imports.
    fn moved(&self, regions: &[WrittenRegion], ranges: &[FinalRange]) -> Vec<FinalRange> {
        let [old, new] = &self.letters;
        let mut places: HashMap<&[u8], (u64, u64, u64)> = HashMap::new();
        for hunk in &self.rewritten {
            for at in hunk.before.clone() {
                places.entry(&old[at as usize]).or_default().0 += 1;
            }
            for at in hunk.after.clone() {
                let place = places.entry(&new[at as usize]).or_default();
                (place.1, place.2) = (place.1 + 1, at);
            }
        }
        let lines = regions.iter().flat_map(|one| one.first - 1..one.first - 1 + one.new_lines);
        let found = lines.filter_map(|at| {
            let letters = old.get(at as usize)?;
            let &(1, 1, now) = places.get(letters.as_slice())? else { return None };
            (letters.len() >= ENOUGH_LETTERS).then_some(now)
        });
        let is_apart = |now: &u64| !ranges.iter().any(|range| range.new.contains(now));
        let mut found: Vec<u64> = found.filter(is_apart).take(MOVED_LINES).collect();
        found.sort_unstable();
        let range = |now| {
            let old = self.old_place(now, regions);
            FinalRange { old: old..old, new: now..now + 1 }
        };
        found.into_iter().map(range).collect()
    }

    /// The number of lines before the patch that are above a final line within a hunk.
    fn old_place(&self, now: u64, regions: &[WrittenRegion]) -> u64 {
        let at = self.rewritten.partition_point(|hunk| hunk.after.end <= now);
        let written = self.rewritten.get(at).map_or(now, |hunk| hunk.before.end);
        let above = regions.iter().take_while(|region| region.first - 1 < written);
        let shift: i64 =
            above.map(|region| region.new_lines as i64 - region.old_lines as i64).sum();
        written.saturating_add_signed(-shift)
    }
}

/// Lines that a patch wrote, with the lines before it that they replace; counted from 0.
struct Widened {
    written: Range<u64>,
    old: Range<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&[u8]> {
        text.split_terminator('\n').map(str::as_bytes).collect()
    }

    fn ranges(written: &str, now: &str, first: u64, new_lines: u64) -> Vec<Range<u64>> {
        let region = WrittenRegion { old_lines: new_lines, first, new_lines };
        let alignment = Alignment::of(&lines(written), &lines(now));
        alignment.ranges(&[region]).into_iter().map(|range| range.new).collect()
    }

    #[test]
    fn a_region_is_found_after_other_quotes_and_indentation() {
        let written = "let a=\"1\"\nlet b=\"2\"\nlet c=\"3\"\n";
        assert_eq!(ranges(written, "let a = '1';\n\n  let b = '2';\nlet c = '3';\n", 2, 1), [2..3]);
    }

    #[test]
    fn wrapped_and_joined_lines_belong_to_their_region() {
        let written = "one\nf(first, second)\nlast\n";
        assert_eq!(ranges(written, "one\nf(\n  first,\n  second\n)\nlast\n", 2, 1), [1..5]);
        assert_eq!(ranges("one\nf(\nfirst)\nlast\n", "one\nf(first)\nlast\n", 2, 2), [1..2]);
    }

    #[test]
    fn a_moved_line_is_found_and_lines_inserted_around_a_region_are_not_part_of_it() {
        let sorted = "import alpha\nimport beta\nimport gamma\nrest\n";
        let found = ranges("import gamma\nimport alpha\nimport beta\nrest\n", sorted, 1, 1);
        assert!(found.contains(&(2..3)), "{found:?}");
        assert_eq!(ranges("a\nb\nc\n", "a\n\nb\n\nc\n", 2, 1), [2..3]);
    }

    #[test]
    fn a_deletion_has_no_lines() {
        assert_eq!(ranges("a\nc\n", "a\nc\n", 2, 0), [1..1]);
        assert_eq!(ranges("a\nc\n", "a\n\nc\n", 2, 0).len(), 1);
    }

    #[test]
    fn equal_lines_are_kept() {
        let alignment = Alignment::of(&lines("a\nb\nc\n"), &lines("a\nx\ny\nc\n"));
        assert_eq!(alignment.kept(&LineSet::of(1, 3)).ranges(), [1..2, 4..5]);
        assert!(alignment.changes_only(&LineSet::of(2, 2)));
        assert!(!alignment.changes_only(&LineSet::of(3, 3)));
    }
}
