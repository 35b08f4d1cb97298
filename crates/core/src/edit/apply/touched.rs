//! The lines that the operations on a file change, to find out whether another operation changes a
//! line.

use std::collections::BTreeMap;

use crate::edit::request::LineEdit;
use crate::edit::resolve::{Resolved, Spot};

/// The lines that operations change, as ranges.
pub(super) struct Touched {
    /// The first line of each range, sorted, with the operations that change its lines.
    ranges: Vec<(u64, ChangedBy)>,
}

#[derive(Clone, Copy)]
enum ChangedBy {
    NoOperation,
    /// The operation with this index.
    One(usize),
    Several,
}

impl Touched {
    /// The lines that operations replace, delete or move away.
    pub(super) fn of(resolved: &[Resolved<'_>]) -> Touched {
        let spans =
            resolved.iter().filter_map(|placed| match (&placed.operation.action, placed.spot) {
                (LineEdit::Take(transfer), _) if transfer.is_copy => None,
                (_, Spot::Lines(first, last)) => Some((placed.operation.index, first, last)),
                (_, Spot::Gap(_)) => None,
            });
        Touched::by_spans(spans)
    }

    /// The lines of operations, each with its first and its last line.
    fn by_spans(spans: impl Iterator<Item = (usize, u64, u64)>) -> Touched {
        let mut edges = Vec::new();
        for (operation, first, last) in spans.filter(|(_, first, last)| first <= last) {
            edges.push((first, true, operation));
            edges.extend(last.checked_add(1).map(|end| (end, false, operation)));
        }
        edges.sort_unstable();
        let mut open: BTreeMap<usize, usize> = BTreeMap::new();
        let ranges = edges.chunk_by(|edge, next| edge.0 == next.0).map(|at_line| {
            for &(_, begins, operation) in at_line {
                let count = open.entry(operation).or_default();
                *count = if begins { *count + 1 } else { *count - 1 };
                if *count == 0 {
                    open.remove(&operation);
                }
            }
            let by = match (open.len(), open.first_key_value()) {
                (1, Some((&operation, _))) => ChangedBy::One(operation),
                (0, _) => ChangedBy::NoOperation,
                _ => ChangedBy::Several,
            };
            (at_line[0].0, by)
        });
        Touched { ranges: ranges.collect() }
    }

    /// Whether an operation other than this one changes a line.
    pub(super) fn by_another(&self, operation: usize, line: u64) -> bool {
        let begun = self.ranges.partition_point(|&(first, _)| first <= line);
        match self.ranges[..begun].last() {
            None | Some((_, ChangedBy::NoOperation)) => false,
            Some(&(_, ChangedBy::One(known))) => known != operation,
            Some((_, ChangedBy::Several)) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ranges of operations 0 and 1 within three lines, including reversed ones.
    fn spans() -> Vec<(usize, u64, u64)> {
        let lines = || 1..=3_u64;
        let ends = lines().flat_map(|first| lines().map(move |last| (first, last)));
        ends.flat_map(|(first, last)| [(0, first, last), (1, first, last)]).collect()
    }

    #[test]
    fn agrees_with_a_scan_of_all_operations() {
        let mut seen = [0_u32; 2];
        for one in spans() {
            for two in spans() {
                for three in spans() {
                    let all = [one, two, (three.0 * 2, three.1, three.2)];
                    let touched = Touched::by_spans(all.into_iter());
                    for (operation, line) in (0..4).flat_map(|one| (0..=4).map(move |at| (one, at)))
                    {
                        let naive = all.iter().any(|&(other, first, last)| {
                            other != operation && (first..=last).contains(&line)
                        });
                        assert_eq!(touched.by_another(operation, line), naive, "{all:?}");
                        seen[usize::from(naive)] += 1;
                    }
                }
            }
        }
        assert!(!seen.contains(&0), "{seen:?}");
    }

    #[test]
    fn no_operations_and_the_last_line() {
        assert!(!Touched::by_spans(std::iter::empty()).by_another(0, 1));
        let touched = Touched::by_spans([(1, 5, u64::MAX)].into_iter());
        assert!(touched.by_another(0, u64::MAX));
        assert!(!touched.by_another(1, 7));
    }
}
