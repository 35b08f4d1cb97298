//! Hunks that are found without a diff are those of all diffs.

use std::collections::HashSet;

use super::*;
use proptest::prelude::*;

proptest! {
    /// The texts have few kinds of lines; some kinds are only in one text.
    #[test]
    fn plain_hunks_keep_the_lines_that_all_diffs_keep(
        mut old in prop::collection::vec(0u32..30, 0..60),
        may_repeat in any::<bool>(),
        edits in prop::collection::vec((0usize..60, 0usize..3, prop::collection::vec(20u32..60, 0..3)), 0..5),
    ) {
        if !may_repeat {
            let mut seen = HashSet::new();
            old.retain(|line| seen.insert(*line));
        }
        let mut new = old.clone();
        for (at, removed, inserted) in edits {
            let at = at.min(new.len());
            new.splice(at..(at + removed).min(new.len()), inserted);
        }
        let tokens = |text: Vec<u32>| text.into_iter().map(Token).collect::<Vec<_>>();
        let (old, new) = (tokens(old), tokens(new));
        let CommonEnds { top, bottom } = common_ends(&old, &new);
        let (above, below) = (&old[top..old.len() - bottom], &new[top..new.len() - bottom]);
        let shared = Shared { in_old: counts(above, 60), in_new: counts(below, 60) };
        if let Some(PlainHunks { hunks, has_repeats }) = shared.plain_hunks(above, below, top as u32) {
            let kept = map_of_hunks(&old, &new, &hunks);
            let rarest = line_map(Algorithm::Histogram, &old, &new, 60);
            prop_assert!(has_repeats || kept == rarest);
            prop_assert_eq!(&kept, &line_map(Algorithm::Myers, &old, &new, 60));
            prop_assert_eq!(&kept, &line_map_backwards(&old, &new, 60));
        }
    }
}
