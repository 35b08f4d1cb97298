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
        self.0.splice(from..to, std::iter::once(joined));
    }

    /// Adds all lines of another set.
    pub fn extend(&mut self, other: &LineSet) {
        for range in &other.0 {
            self.insert(range.clone());
        }
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

    /// The lines of this set that are not in another.
    pub fn without(&self, other: &LineSet) -> LineSet {
        self.0.iter().flat_map(|range| other.missing(range.clone())).collect()
    }

    /// The lines of a range that are in the set.
    pub(super) fn within(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let first = self.0.partition_point(|one| one.end <= range.start);
        let within = self.0[first..].iter().take_while(|one| one.start < range.end);
        within.map(|one| one.start.max(range.start)..one.end.min(range.end)).collect()
    }

    /// The lines that are in both sets.
    pub fn common(&self, other: &LineSet) -> LineSet {
        other.0.iter().flat_map(|range| self.within(range.clone())).collect()
    }

    /// The ranges, in order.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }

    /// How many lines there are in it.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|one| one.end - one.start).sum()
    }

    /// Whether they can be lines of a text that has so many, or the one behind its last.
    pub(super) fn fits(&self, count: u64) -> bool {
        let first = self.0.first().is_none_or(|one| one.start >= 1);
        let last = self.0.last().is_none_or(|one| one.end <= count.saturating_add(2));
        first && last
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Ranges that are not in order are damage: no set is written so.
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
        let mut set = LineSet::default();
        for range in ranges {
            set.insert(range);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ranges_are_a_set(ranges in prop::collection::vec((0u64..40, 0u64..6), 0..12), ask in (0u64..40, 0u64..20)) {
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
