//! Where the lines of a text are after edits of which every position is known.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::lines::LineSet;
use crate::edit::plan::{Plan, Region};

/// Lines that an edit removed and put in their place, by the numbers before the edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// The first line that was removed; where none was, the line before which it inserted.
    pub first: u64,
    /// How many lines were removed.
    pub removed: u64,
    /// How many lines stand there now.
    pub inserted: u64,
}

impl Splice {
    /// What a plan does, line by line: what a region leaves as it was is no part of it.
    pub fn of_plan(plan: &Plan) -> Vec<Splice> {
        plan.regions.iter().map(Splice::of_region).collect()
    }

    /// The lines that edits wrote, by their numbers in the text that they made.
    pub fn written(splices: &[Splice]) -> LineSet {
        let mut shift = 0i64;
        let written = splices.iter().map(|splice| {
            let first = splice.first.saturating_add_signed(shift);
            shift += splice.inserted as i64 - splice.removed as i64;
            first..first + splice.inserted
        });
        written.collect()
    }

    /// The lines that were removed.
    pub(super) fn lines(&self) -> Range<u64> {
        self.first..self.first.saturating_add(self.removed)
    }

    /// Whether splices can make one text of another: they are in order, apart, and within lines
    /// that the texts have.
    pub(super) fn fit(splices: &[Splice], lines_before: u64, lines_after: u64) -> bool {
        let (mut at, mut inserted) = (1, 0u64);
        splices.iter().all(|splice| {
            let lines = splice.lines();
            // The line after the last one is where a text without a final newline grows.
            let is_behind = lines.start >= at && lines.end <= lines_before.saturating_add(2);
            at = lines.end;
            inserted = inserted.saturating_add(splice.inserted);
            is_behind && inserted <= lines_after.saturating_add(1)
        })
    }

    fn of_region(region: &Region) -> Splice {
        let kept = region.kept.0 + region.kept.1;
        Splice {
            first: region.after_line + region.kept.0 + 1,
            removed: region.old_lines.saturating_sub(kept),
            inserted: region.new_lines.saturating_sub(kept),
        }
    }
}

/// Lines that moved together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    lines: Range<u64>,
    /// How far down they moved.
    shift: i64,
}

impl Run {
    fn target(&self) -> Range<u64> {
        self.lines.start.saturating_add_signed(self.shift)
            ..self.lines.end.saturating_add_signed(self.shift)
    }
}

/// Lines are not numbered beyond this, nor do they move further. A text has fewer than 2³² of
/// them; what stands in for its end is larger than any number.
const MAX_LINE: u64 = 1 << 40;

/// Where the lines of one text are in another one: those that are still there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track(Vec<Run>);

impl Default for Track {
    fn default() -> Self {
        Track::identity()
    }
}

impl Track {
    /// Every line is where it was.
    pub fn identity() -> Track {
        Track(vec![Run { lines: 0..u64::MAX, shift: 0 }])
    }

    /// Whether every line is where it was.
    pub fn is_identity(&self) -> bool {
        *self == Track::identity()
    }

    /// Where a line is now, if it is.
    pub fn line(&self, number: u64) -> Option<u64> {
        let at = self.0.partition_point(|run| run.lines.end <= number);
        let run = self.0.get(at).filter(|run| run.lines.contains(&number))?;
        Some(number.saturating_add_signed(run.shift))
    }

    /// Where those of a set of lines are that are still there.
    pub fn set(&self, lines: &LineSet) -> LineSet {
        let moved = lines.ranges().iter().flat_map(|range| {
            let from = self.0.partition_point(|run| run.lines.end <= range.start);
            let runs = self.0[from..].iter().take_while(|run| run.lines.start < range.end);
            runs.map(|run| {
                let start = run.lines.start.max(range.start).saturating_add_signed(run.shift);
                let end = run.lines.end.min(range.end).saturating_add_signed(run.shift);
                start..end
            })
        });
        moved.collect()
    }

    /// The lines that are now in a range, as stretches of the old text, each with the line where it
    /// begins now.
    pub(super) fn origins(&self, now: Range<u64>) -> Vec<(Range<u64>, u64)> {
        let from = self.0.partition_point(|run| run.target().end <= now.start);
        let within = self.0[from..].iter().take_while(|run| run.target().start < now.end);
        let stretches = within.map(|run| {
            let target = run.target();
            let (start, end) = (target.start.max(now.start), target.end.min(now.end));
            let back = |line: u64| line.saturating_add_signed(-run.shift);
            (back(start)..back(end), start)
        });
        stretches.collect()
    }

    /// Follows the lines through one more edit: `splices` are disjoint, ascending, and count
    /// lines as they are now.
    pub fn follow(&mut self, splices: &[Splice]) {
        let mut runs = Vec::with_capacity(self.0.len() + splices.len());
        let mut push = |run: &Run, kept: Range<u64>, shift: i64| {
            let target = run.target();
            let (start, end) = (target.start.max(kept.start), target.end.min(kept.end));
            if start < end {
                let lines =
                    start.saturating_add_signed(-run.shift)..end.saturating_add_signed(-run.shift);
                match runs.last_mut() {
                    Some(Run { lines: above, shift: known })
                        if above.end == lines.start && *known == run.shift + shift =>
                    {
                        above.end = lines.end;
                    }
                    _ => runs.push(Run { lines, shift: run.shift + shift }),
                }
            }
        };
        let mut at = 0;
        let (mut from, mut shift) = (0, 0);
        for splice in splices.iter().map(Some).chain([None]) {
            let kept = from..splice.map_or(u64::MAX, |splice| splice.first);
            while let Some(run) = self.0.get(at) {
                push(run, kept.clone(), shift);
                // A run that reaches beyond what is kept goes on after the splice.
                if run.target().end > kept.end {
                    break;
                }
                at += 1;
            }
            if let Some(splice) = splice {
                from = splice.lines().end;
                shift += splice.inserted as i64 - splice.removed as i64;
            }
        }
        self.0 = runs;
    }

    /// Whether it is one that edits can make: lines are in order before and after, and lines of a
    /// text stay lines of a text.
    pub(super) fn is_sound(&self) -> bool {
        let (mut from, mut to) = (0, 0);
        self.0.iter().all(|run| {
            let (lines, target) = (&run.lines, run.target());
            let is_in_order = lines.start >= from
                && lines.start < lines.end
                && target.start >= to
                && target.start < target.end;
            (from, to) = (lines.end, target.end);
            let is_known = run.shift.unsigned_abs() <= MAX_LINE && lines.start <= MAX_LINE;
            let is_line = lines.start == 0 || target.start > 0;
            is_in_order && is_known && is_line && (lines.start > 0 || run.shift >= 0)
        })
    }

    /// What it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<Run>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of the lines themselves.
        #[test]
        fn lines_are_followed_like_the_lines_themselves(
            count in 0u64..30,
            edits in prop::collection::vec(prop::collection::vec((0u64..8, 0u64..4, 0u64..4), 1..4), 1..8),
        ) {
            let mut naive: Vec<Option<u64>> = (1..=count).map(Some).collect();
            let mut track = Track::identity();
            for edit in edits {
                let mut splices: Vec<Splice> = Vec::new();
                let mut first = 1;
                for (gap, removed, inserted) in edit {
                    first += gap;
                    let room = (naive.len() as u64 + 1).saturating_sub(first);
                    if first > naive.len() as u64 + 1 {
                        break;
                    }
                    let removed = removed.min(room);
                    splices.push(Splice { first, removed, inserted });
                    first += removed;
                }
                let before = naive.len() as u64;
                for splice in splices.iter().rev() {
                    let at = splice.first as usize - 1;
                    naive.splice(at..at + splice.removed as usize, vec![None; splice.inserted as usize]);
                }
                prop_assert!(Splice::fit(&splices, before, naive.len() as u64));
                track.follow(&splices);
                prop_assert!(track.is_sound());
                for line in 1..=count {
                    let now = naive.iter().position(|one| *one == Some(line));
                    prop_assert_eq!(track.line(line), now.map(|at| at as u64 + 1));
                }
                for (at, one) in naive.iter().enumerate() {
                    let at = at as u64 + 1;
                    let origins = track.origins(at..at + 1);
                    let origin = origins.first().map(|(lines, _)| lines.start);
                    prop_assert!(origins.iter().all(|(lines, now)| *now == at && lines.end == lines.start + 1));
                    prop_assert_eq!(origin.filter(|&line| line <= count), *one);
                }
            }
            let some: LineSet = [1..5, 9..20].into_iter().collect();
            let moved: LineSet = (1..5).chain(9..20).filter_map(|line| track.line(line)).map(|line| line..line + 1).collect();
            prop_assert_eq!(track.set(&some), moved);
        }
    }
}
