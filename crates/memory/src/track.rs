//! Where the lines of a text are after edits whose positions are known.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::lines::LineSet;
use hashline_lines::tag::Tag;

/// Lines that an edit replaced, by the numbers before the edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// The first removed line; if none was removed, the line before which lines were inserted.
    pub first: u64,
    /// How many lines were removed.
    pub removed: u64,
    /// How many lines were inserted.
    pub inserted: u64,
}

impl Splice {
    /// The inserted lines, by their numbers after the edit.
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

    /// Whether splices are sorted, disjoint, and within texts of these lengths.
    pub(super) fn fit(splices: &[Splice], lines_before: u64, lines_after: u64) -> bool {
        let (mut at, mut inserted) = (1, 0u64);
        splices.iter().all(|splice| {
            let lines = splice.lines();
            // The line after the last one is allowed: text appended to a text without a final
            // newline can be recorded there.
            let is_after = lines.start >= at && lines.end <= lines_before.saturating_add(2);
            at = lines.end;
            inserted = inserted.saturating_add(splice.inserted);
            is_after && inserted <= lines_after.saturating_add(1)
        })
    }
}

/// Lines that an edit moved within a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedLines {
    /// Their first number before.
    pub first: u64,
    /// How many lines.
    pub count: u64,
    /// Their first number after.
    pub now: u64,
}

/// Lines that an edit moved to another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedOutLines {
    /// Their first number before.
    pub first: u64,
    /// How many lines.
    pub count: u64,
    /// The path of the file, as the patch named it.
    pub to: String,
    /// Their first number in that file.
    pub now: u64,
}

/// What an edit did to the lines of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineChanges {
    /// The replaced lines.
    pub splices: Vec<Splice>,
    /// Moved lines, sorted by their old numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<MovedLines>,
    /// Lines that were moved to other files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<MovedOutLines>,
    /// Inserted lines that the model did not write, by their numbers after the edit.
    #[serde(default, skip_serializing_if = "LineSet::is_empty")]
    pub pasted: LineSet,
    /// The tag of the text before, if the model may know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag_before: Option<Tag>,
}

impl LineChanges {
    /// Changes without moves.
    pub fn of(splices: Vec<Splice>) -> LineChanges {
        LineChanges { splices, ..LineChanges::default() }
    }

    /// The lines that the model wrote, by their numbers after the edit.
    pub fn written(&self) -> LineSet {
        Splice::written(&self.splices).without(&self.pasted)
    }

    /// Whether a removed line was moved within the text.
    pub(super) fn moves(&self, line: u64) -> bool {
        let at = self.moves.partition_point(|one| one.first + one.count <= line);
        self.moves.get(at).is_some_and(|one| one.first <= line)
    }

    /// Whether the changes are consistent, and within texts of these lengths.
    pub(super) fn fits(&self, lines_before: u64, lines_after: u64) -> bool {
        // The sums below overflow unless the splices are within the texts.
        if !Splice::fit(&self.splices, lines_before, lines_after) {
            return false;
        }
        let removed: LineSet = self.splices.iter().map(Splice::lines).collect();
        let inserted = Splice::written(&self.splices);
        let is_within = |set: &LineSet, first: u64, count: u64| {
            count > 0 && first > 0 && set.missing(first..first.saturating_add(count)).is_empty()
        };
        let mut from = 0;
        let mut destinations: Vec<Range<u64>> = Vec::new();
        let moves = self.moves.iter().all(|one| {
            let is_after = one.first >= from;
            from = one.first.saturating_add(one.count);
            destinations.push(one.now..one.now.saturating_add(one.count));
            is_after
                && is_within(&removed, one.first, one.count)
                && is_within(&inserted, one.now, one.count)
        });
        destinations.sort_by_key(|one| one.start);
        moves
            && destinations.windows(2).all(|pair| pair[0].end <= pair[1].start)
            && self.left.iter().all(|one| is_within(&removed, one.first, one.count))
            && self.left.iter().all(|one| one.now <= MAX_LINE)
            && self.pasted.without(&inserted).is_empty()
    }
}

/// Adjacent lines that moved by the same distance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    lines: Range<u64>,
    /// How many lines down they moved.
    shift: i64,
}

impl Run {
    fn target(&self) -> Range<u64> {
        self.lines.start.saturating_add_signed(self.shift)
            ..self.lines.end.saturating_add_signed(self.shift)
    }
}

/// The maximum line number and distance. A text has fewer than 2³² lines, but the value for its end
/// is larger.
const MAX_LINE: u64 = 1 << 40;

/// Maps the lines of one text that still exist to their numbers in another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track(Vec<Run>);

impl Default for Track {
    fn default() -> Self {
        Track::identity()
    }
}

impl Track {
    /// Maps each line to itself.
    pub fn identity() -> Track {
        Track(vec![Run { lines: 0..u64::MAX, shift: 0 }])
    }

    /// Whether each line is mapped to itself.
    pub fn is_identity(&self) -> bool {
        *self == Track::identity()
    }

    /// The current number of a line, if it still exists.
    pub fn line(&self, number: u64) -> Option<u64> {
        let at = self.0.partition_point(|run| run.lines.end <= number);
        let run = self.0.get(at).filter(|run| run.lines.contains(&number))?;
        Some(number.saturating_add_signed(run.shift))
    }

    /// The current numbers of the lines that still exist.
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

    /// The same, sorted by current number.
    pub(super) fn as_now(&self) -> TrackAsNow<'_> {
        let mut runs: Vec<&Run> = self.0.iter().collect();
        runs.sort_by_key(|run| run.target().start);
        TrackAsNow(runs)
    }

    /// Applies one more edit, given in current numbers.
    pub fn follow(&mut self, changes: &LineChanges) {
        let segments = segments(changes);
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

    /// Whether edits can have made it: old lines are sorted, new lines are disjoint, and all are
    /// within a text.
    pub(super) fn is_valid(&self) -> bool {
        let mut from = 0;
        let is_valid = self.0.iter().all(|run| {
            let (lines, target) = (&run.lines, run.target());
            let is_in_order =
                lines.start >= from && lines.start < lines.end && target.start < target.end;
            from = lines.end;
            let is_known = run.shift.unsigned_abs() <= MAX_LINE && lines.start <= MAX_LINE;
            let is_line = lines.start == 0 || target.start > 0;
            is_in_order && is_known && is_line && (lines.start > 0 || run.shift >= 0)
        });
        let now = self.as_now();
        is_valid && now.0.windows(2).all(|pair| pair[0].target().end <= pair[1].target().start)
    }

    /// What it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<Run>()
    }
}

/// A run of lines of an old text that are adjacent now.
pub(super) struct Origin {
    /// Their numbers in the old text.
    pub(super) lines: Range<u64>,
    /// The current number of the first one.
    pub(super) now: u64,
}

/// A track, sorted by current line numbers.
pub(super) struct TrackAsNow<'a>(Vec<&'a Run>);

impl TrackAsNow<'_> {
    /// The old lines that are now in a range.
    pub(super) fn origins(&self, now: Range<u64>) -> Vec<Origin> {
        let from = self.0.partition_point(|run| run.target().end <= now.start);
        let within = self.0[from..].iter().take_while(|run| run.target().start < now.end);
        let origins = within.map(|run| {
            let target = run.target();
            let (start, end) = (target.start.max(now.start), target.end.min(now.end));
            let back = |line: u64| line.saturating_add_signed(-run.shift);
            Origin { lines: back(start)..back(end), now: start }
        });
        origins.collect()
    }
}

/// The lines that an edit keeps, with the distance by which it moves them; sorted.
fn segments(changes: &LineChanges) -> Vec<Run> {
    let mut segments = Vec::with_capacity(changes.splices.len() + changes.moves.len() + 1);
    let (mut from, mut shift) = (0, 0);
    for splice in &changes.splices {
        segments.push(Run { lines: from..splice.first, shift });
        from = splice.lines().end;
        shift += splice.inserted as i64 - splice.removed as i64;
    }
    segments.push(Run { lines: from..u64::MAX, shift });
    segments.extend(changes.moves.iter().map(|one| Run {
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
        /// Compares with a plain list of lines.
        #[test]
        fn a_track_maps_lines_like_a_list_of_lines(
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
                track.follow(&LineChanges::of(splices));
                prop_assert!(track.is_valid());
                for line in 1..=count {
                    let now = naive.iter().position(|one| *one == Some(line));
                    prop_assert_eq!(track.line(line), now.map(|at| at as u64 + 1));
                }
                for (at, one) in naive.iter().enumerate() {
                    let at = at as u64 + 1;
                    let origins = track.as_now().origins(at..at + 1);
                    let origin = origins.first().map(|origin| origin.lines.start);
                    let is_one = |origin: &Origin| {
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
