//! Where the lines of a text are after edits of which every position is known.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::lines::LineSet;
use hashline_lines::tag::Tag;

/// Lines that an edit removed and put in their place, by the numbers before the edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// The first line that was removed; where none was, the line before which it inserted.
    pub first: u64,
    /// How many lines were removed.
    pub removed: u64,
    /// How many lines are there now.
    pub inserted: u64,
}

impl Splice {
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

    /// Whether splices can make one text of another: they are sorted, disjoint, and within the
    /// lines of the texts.
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
}

/// Lines that an edit put at another place of the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedLines {
    /// The first of them before.
    pub first: u64,
    /// How many they are.
    pub count: u64,
    /// The first of them after.
    pub now: u64,
}

/// Lines that an edit put into another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftLines {
    /// The first of them before.
    pub first: u64,
    /// How many they are.
    pub count: u64,
    /// The path of the file, as the patch named it.
    pub to: String,
    /// The first of them there.
    pub now: u64,
}

/// What an edit did to the lines of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// Where the texts differ.
    pub splices: Vec<Splice>,
    /// Lines that are elsewhere now, in the order of their old numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<MovedLines>,
    /// Lines that are in other files now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftLines>,
    /// Inserted lines that the model did not write, by their numbers now.
    #[serde(default, skip_serializing_if = "LineSet::is_empty")]
    pub pasted: LineSet,
    /// The tag of the text before, where the model may know it by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_before: Option<Tag>,
}

impl Course {
    /// One that only removes and inserts.
    pub fn of(splices: Vec<Splice>) -> Course {
        Course { splices, ..Course::default() }
    }

    /// The lines that the model wrote, by their numbers in the text that was made.
    pub fn written(&self) -> LineSet {
        Splice::written(&self.splices).without(&self.pasted)
    }

    /// Whether a line that is removed is moved within the text.
    pub(super) fn moves(&self, line: u64) -> bool {
        let at = self.moves.partition_point(|one| one.first + one.count <= line);
        self.moves.get(at).is_some_and(|one| one.first <= line)
    }

    /// Whether it fits texts with these numbers of lines.
    pub(super) fn fits(&self, lines_before: u64, lines_after: u64) -> bool {
        // What follows adds numbers up, which only those of lines allow.
        if !Splice::fit(&self.splices, lines_before, lines_after) {
            return false;
        }
        let removed: LineSet = self.splices.iter().map(Splice::lines).collect();
        let inserted = Splice::written(&self.splices);
        let is_within = |set: &LineSet, first: u64, count: u64| {
            count > 0 && first > 0 && set.missing(first..first.saturating_add(count)).is_empty()
        };
        let mut from = 0;
        let mut goals: Vec<Range<u64>> = Vec::new();
        let moves = self.moves.iter().all(|one| {
            let is_behind = one.first >= from;
            from = one.first.saturating_add(one.count);
            goals.push(one.now..one.now.saturating_add(one.count));
            is_behind
                && is_within(&removed, one.first, one.count)
                && is_within(&inserted, one.now, one.count)
        });
        goals.sort_by_key(|one| one.start);
        moves
            && goals.windows(2).all(|pair| pair[0].end <= pair[1].start)
            && self.left.iter().all(|one| is_within(&removed, one.first, one.count))
            && self.left.iter().all(|one| one.now <= MAX_LINE)
            && self.pasted.without(&inserted).is_empty()
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

/// Lines are not numbered beyond this, nor do they move further. A text has fewer than 2³² of them;
/// the value for its end is larger than any number.
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

    /// The runs of lines, in their current order.
    pub(super) fn as_now(&self) -> TrackAsNow<'_> {
        let mut runs: Vec<&Run> = self.0.iter().collect();
        runs.sort_by_key(|run| run.target().start);
        TrackAsNow(runs)
    }

    /// Follows the lines through one more edit, which counts lines as they are now.
    pub fn follow(&mut self, course: &Course) {
        let segments = segments(course);
        let mut runs: Vec<Run> = Vec::with_capacity(self.0.len() + segments.len());
        for run in &self.0 {
            let target = run.target();
            let from = segments.partition_point(|one| one.lines.end <= target.start);
            for kept in segments[from..].iter().take_while(|one| one.lines.start < target.end) {
                let start = target.start.max(kept.lines.start).saturating_add_signed(-run.shift);
                let end = target.end.min(kept.lines.end).saturating_add_signed(-run.shift);
                let shift = run.shift + kept.shift;
                match runs.last_mut() {
                    Some(above) if above.lines.end == start && above.shift == shift => {
                        above.lines.end = end;
                    }
                    _ => runs.push(Run { lines: start..end, shift }),
                }
            }
        }
        self.0 = runs;
    }

    /// Whether it is one that edits can make: lines are sorted before, disjoint after, and remain
    /// lines of a text.
    pub(super) fn is_sound(&self) -> bool {
        let mut from = 0;
        let is_sound = self.0.iter().all(|run| {
            let (lines, target) = (&run.lines, run.target());
            let is_in_order =
                lines.start >= from && lines.start < lines.end && target.start < target.end;
            from = lines.end;
            let is_known = run.shift.unsigned_abs() <= MAX_LINE && lines.start <= MAX_LINE;
            let is_line = lines.start == 0 || target.start > 0;
            is_in_order && is_known && is_line && (lines.start > 0 || run.shift >= 0)
        });
        let now = self.as_now();
        is_sound && now.0.windows(2).all(|pair| pair[0].target().end <= pair[1].target().start)
    }

    /// What it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<Run>()
    }
}

/// Lines of an old text that are adjacent now.
pub(super) struct KeptStretch {
    /// Their numbers in the old text.
    pub(super) lines: Range<u64>,
    /// The number that the first of them has now.
    pub(super) now: u64,
}

/// A track, by where its lines are now.
pub(super) struct TrackAsNow<'a>(Vec<&'a Run>);

impl TrackAsNow<'_> {
    /// The lines that are now in a range, as runs of the old text.
    pub(super) fn origins(&self, now: Range<u64>) -> Vec<KeptStretch> {
        let from = self.0.partition_point(|run| run.target().end <= now.start);
        let within = self.0[from..].iter().take_while(|run| run.target().start < now.end);
        let stretches = within.map(|run| {
            let target = run.target();
            let (start, end) = (target.start.max(now.start), target.end.min(now.end));
            let back = |line: u64| line.saturating_add_signed(-run.shift);
            KeptStretch { lines: back(start)..back(end), now: start }
        });
        stretches.collect()
    }
}

/// What an edit leaves of the lines of a text, and where it is then, in the order of the lines.
fn segments(course: &Course) -> Vec<Run> {
    let mut segments = Vec::with_capacity(course.splices.len() + course.moves.len() + 1);
    let (mut from, mut shift) = (0, 0);
    for splice in &course.splices {
        segments.push(Run { lines: from..splice.first, shift });
        from = splice.lines().end;
        shift += splice.inserted as i64 - splice.removed as i64;
    }
    segments.push(Run { lines: from..u64::MAX, shift });
    segments.extend(course.moves.iter().map(|one| Run {
        lines: one.first..one.first + one.count,
        shift: one.now as i64 - one.first as i64,
    }));
    segments.retain(|one| !one.lines.is_empty());
    segments.sort_by_key(|one| one.lines.start);
    segments
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
                track.follow(&Course::of(splices));
                prop_assert!(track.is_sound());
                for line in 1..=count {
                    let now = naive.iter().position(|one| *one == Some(line));
                    prop_assert_eq!(track.line(line), now.map(|at| at as u64 + 1));
                }
                for (at, one) in naive.iter().enumerate() {
                    let at = at as u64 + 1;
                    let origins = track.as_now().origins(at..at + 1);
                    let origin = origins.first().map(|origin| origin.lines.start);
                    let is_one = |origin: &KeptStretch| {
                        origin.now == at && origin.lines.end == origin.lines.start + 1
                    };
                    prop_assert!(origins.iter().all(is_one));
                    prop_assert_eq!(origin.filter(|&line| line <= count), *one);
                }
            }
            let some: LineSet = [1..5, 9..20].into_iter().collect();
            let moved: LineSet = (1..5).chain(9..20).filter_map(|line| track.line(line)).map(|line| line..line + 1).collect();
            prop_assert_eq!(track.set(&some), moved);
        }
    }
}
