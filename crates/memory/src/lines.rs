//! Sets of line numbers, as ranges.

use std::ops::Range;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Line numbers as sorted ranges that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LineSet(Vec<Range<u64>>);

impl LineSet {
    /// The lines from `first` to `last`, both included.
    pub fn of(first: u64, last: u64) -> LineSet {
        let mut set = LineSet::default();
        set.insert(first..last.saturating_add(1));
        set
    }

    /// Adds the lines of a range.
    pub fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let from = self.0.partition_point(|one| one.end < range.start);
        let to = self.0.partition_point(|one| one.start <= range.end);
        let start = self.0.get(from).filter(|_| from < to).map_or(range.start, |one| one.start);
        let end = if from < to { self.0[to - 1].end } else { range.end };
        let joined = start.min(range.start)..end.max(range.end);
        #[cfg(test)]
        tests::count_moved(self.0.len() - to);
        self.0.splice(from..to, std::iter::once(joined));
    }

    /// Adds all lines of another set. One sort is faster than inserting each range, which would
    /// move all ranges after it.
    pub fn extend(&mut self, other: &LineSet) {
        match other.0.as_slice() {
            [] => {}
            [range] => self.insert(range.clone()),
            ranges => {
                self.0.extend_from_slice(ranges);
                *self = LineSet::joined(std::mem::take(&mut self.0));
            }
        }
    }

    /// The lines of unsorted ranges.
    fn joined(mut ranges: Vec<Range<u64>>) -> LineSet {
        ranges.retain(|one| !one.is_empty());
        // This sort merges input that consists of a few sorted parts.
        ranges.sort_by_key(|one| one.start);
        ranges.dedup_by(|next, last| {
            let is_joined = next.start <= last.end;
            if is_joined {
                last.end = last.end.max(next.end);
            }
            is_joined
        });
        if ranges.capacity() > 2 * ranges.len() {
            ranges.shrink_to_fit();
        }
        LineSet(ranges)
    }

    /// Whether a line is in the set.
    pub fn contains(&self, line: u64) -> bool {
        let at = self.0.partition_point(|one| one.end <= line);
        self.0.get(at).is_some_and(|one| one.start <= line)
    }

    /// The lines of a range that are not in the set.
    pub fn missing(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        let mut at = range.start;
        let first = self.0.partition_point(|one| one.end <= range.start);
        for one in self.0[first..].iter().take_while(|one| one.start < range.end) {
            if at < one.start {
                missing.push(at..one.start);
            }
            at = one.end;
        }
        if at < range.end {
            missing.push(at..range.end);
        }
        missing
    }

    /// Whether the set and a range have no line in common.
    pub fn is_apart_from(&self, range: Range<u64>) -> bool {
        let first = self.0.partition_point(|one| one.end <= range.start);
        self.0.get(first).is_none_or(|one| one.start >= range.end)
    }

    /// The lines of this set that are not in another.
    pub fn without(&self, other: &LineSet) -> LineSet {
        let mut left = Vec::new();
        let mut others = other.0.as_slice();
        for range in &self.0 {
            others = skip_before(others, range.start);
            let mut at = range.start;
            for one in others.iter().take_while(|one| one.start < range.end) {
                if at < one.start {
                    left.push(at..one.start);
                }
                at = one.end;
            }
            if at < range.end {
                left.push(at..range.end);
            }
        }
        LineSet(left)
    }

    /// The lines of a range that are in the set.
    pub(super) fn within(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let first = self.0.partition_point(|one| one.end <= range.start);
        let within = self.0[first..].iter().take_while(|one| one.start < range.end);
        within.map(|one| one.start.max(range.start)..one.end.min(range.end)).collect()
    }

    /// The lines that are in both sets.
    pub fn common(&self, other: &LineSet) -> LineSet {
        let mut common = Vec::new();
        let mut others = other.0.as_slice();
        for range in &self.0 {
            others = skip_before(others, range.start);
            let within = others.iter().take_while(|one| one.start < range.end);
            common.extend(within.map(|one| one.start.max(range.start)..one.end.min(range.end)));
        }
        LineSet(common)
    }

    /// The sorted ranges.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }

    /// The number of lines.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|one| one.end - one.start).sum()
    }

    /// Whether all lines are in a text of `count` lines, or the line after it.
    pub(super) fn fits(&self, count: u64) -> bool {
        let first = self.0.first().is_none_or(|one| one.start >= 1);
        let last = self.0.last().is_none_or(|one| one.end <= count.saturating_add(2));
        first && last
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Refuses unsorted ranges: a set never has them, so the data is damaged.
impl<'de> Deserialize<'de> for LineSet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let ranges = Vec::<Range<u64>>::deserialize(from)?;
        let is_set = ranges.iter().all(|one| one.start < one.end)
            && ranges.windows(2).all(|two| two[0].end < two[1].start);
        if is_set { Ok(LineSet(ranges)) } else { Err(D::Error::custom("no set of lines")) }
    }
}

impl FromIterator<Range<u64>> for LineSet {
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(ranges: I) -> Self {
        LineSet::joined(ranges.into_iter().collect())
    }
}

/// Skips the sorted ranges that end before a line.
fn skip_before(mut ranges: &[Range<u64>], line: u64) -> &[Range<u64>] {
    while let [first, rest @ ..] = ranges
        && first.end <= line
    {
        ranges = rest;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::collections::BTreeSet;

    thread_local! {
        /// How many ranges `insert` moved.
        static MOVED: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count_moved(ranges: usize) {
        MOVED.set(MOVED.get() + ranges);
    }

    /// 20,000 lines with gaps between them.
    fn every_other(first: u64) -> LineSet {
        (0..20_000).map(|at| first + 2 * at..first + 2 * at + 1).collect()
    }

    #[test]
    fn regression_joining_sets_of_many_ranges_moves_no_range_twice() {
        MOVED.set(0);
        let (odd, even) = (every_other(1), every_other(2));
        let mut all = odd.clone();
        all.extend(&even);
        assert_eq!(all, LineSet::of(1, 40_000));
        assert_eq!((all.without(&odd), all.common(&odd)), (even.clone(), odd.clone()));
        let backwards: LineSet = odd.ranges().iter().rev().cloned().collect();
        assert_eq!(backwards, odd);
        assert_eq!(MOVED.get(), 0);
    }

    proptest! {
        #[test]
        fn operations_on_two_sets_agree_with_a_plain_set(
            one in prop::collection::vec((0u64..40, 0u64..6), 0..12),
            other in prop::collection::vec((0u64..40, 0u64..6), 0..12),
        ) {
            let set = |ranges: &[(u64, u64)]| -> (LineSet, BTreeSet<u64>) {
                let ranges = ranges.iter().map(|&(start, count)| start..start + count);
                (ranges.clone().collect(), ranges.flatten().collect())
            };
            let ((one, naive_one), (other, naive_other)) = (set(&one), set(&other));
            let mut both = one.clone();
            both.extend(&other);
            for (found, naive) in [
                (&one, naive_one.clone()),
                (&both, &naive_one | &naive_other),
                (&one.without(&other), &naive_one - &naive_other),
                (&one.common(&other), &naive_one & &naive_other),
            ] {
                prop_assert_eq!(&found.ranges().iter().cloned().flatten().collect::<BTreeSet<_>>(), &naive);
                prop_assert!(found.ranges().windows(2).all(|two| two[0].end < two[1].start));
            }
        }

        #[test]
        fn operations_on_ranges_agree_with_a_plain_set(ranges in prop::collection::vec((0u64..40, 0u64..6), 0..12), ask in (0u64..40, 0u64..20)) {
            let mut naive = BTreeSet::new();
            let mut set = LineSet::default();
            for (start, count) in ranges {
                naive.extend(start..start + count);
                set.insert(start..start + count);
            }
            let found: Vec<u64> = set.ranges().iter().cloned().flatten().collect();
            prop_assert_eq!(&found, &naive.iter().copied().collect::<Vec<_>>());
            prop_assert!(set.ranges().windows(2).all(|two| two[0].end < two[1].start));
            prop_assert_eq!(set.count(), naive.len() as u64);
            let ask = ask.0..ask.0 + ask.1;
            let missing: Vec<u64> = set.missing(ask.clone()).into_iter().flatten().collect();
            prop_assert_eq!(set.without(&LineSet::from_iter([ask.clone()])).ranges().iter().cloned().flatten().collect::<Vec<_>>(), naive.iter().copied().filter(|line| !ask.contains(line)).collect::<Vec<_>>());
            prop_assert_eq!(missing, ask.clone().filter(|line| !naive.contains(line)).collect::<Vec<_>>());
            prop_assert!(ask.into_iter().all(|line| set.contains(line) == naive.contains(&line)));
        }
    }
}
