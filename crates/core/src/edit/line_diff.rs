//! Which lines differ between two texts.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// More different lines are not compared: all of them count as replaced.
const COMPARED_LINES: usize = 200_000;

/// Lines that differ, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The old lines.
    pub before: Range<u64>,
    /// The new lines.
    pub after: Range<u64>,
}

/// The lines that differ between two texts, sorted.
pub fn hunks_of<L: AsRef<[u8]> + Eq + std::hash::Hash>(old: &[L], new: &[L]) -> Vec<Hunk> {
    let (top, bottom) = common_ends(old, new);
    let (old, new) = (&old[top..old.len() - bottom], &new[top..new.len() - bottom]);
    let at =
        |range: Range<u32>| top as u64 + u64::from(range.start)..top as u64 + u64::from(range.end);
    if old.len() + new.len() > COMPARED_LINES {
        let whole = |lines: usize| top as u64..(top + lines) as u64;
        return vec![Hunk { before: whole(old.len()), after: whole(new.len()) }];
    }
    let mut input: InternedInput<&[u8]> = InternedInput::default();
    input.update_before(old.iter().map(AsRef::as_ref));
    input.update_after(new.iter().map(AsRef::as_ref));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    diff.hunks().map(|hunk| Hunk { before: at(hunk.before), after: at(hunk.after) }).collect()
}

/// The lines that differ between two texts, with their terminators.
pub fn text_hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let [old, new] = [old, new]
        .map(|text| -> Vec<&[u8]> { text.split_inclusive(|&byte| byte == b'\n').collect() });
    hunks_of(&old, &new)
}

/// The numbers of equal lines at the start and at the end of two texts.
pub fn common_ends<L: Eq>(old: &[L], new: &[L]) -> (usize, usize) {
    let shorter = old.len().min(new.len());
    let top = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let ends = old.iter().rev().zip(new.iter().rev()).take(shorter - top);
    (top, ends.take_while(|(one, other)| one == other).count())
}
