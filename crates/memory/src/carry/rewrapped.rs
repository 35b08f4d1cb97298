//! Finds the lines that now have the words of lines that are not kept, for example of a statement
//! that a formatter has wrapped. The result is only shown to the model; no edit uses it.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Interner, Token};

use super::{Carry, NONE};

/// The most lines that are compared between two kept lines. The limits are low because a patch may
/// need a comparison for each of its operations.
const MAX_LINES: usize = 1_000;
/// The most words in these lines.
const MAX_WORDS: usize = 10_000;

/// The words of some lines of a text.
struct Words {
    tokens: Vec<Token>,
    /// The line of each word, and whether it is a name.
    places: Vec<(usize, bool)>,
}

impl Words {
    fn of<'a>(
        kinds: &mut Interner<&'a [u8]>,
        numbers: Range<usize>,
        line: impl Fn(usize) -> &'a [u8],
    ) -> Words {
        let mut words = Words { tokens: Vec::new(), places: Vec::new() };
        for number in numbers {
            if words.tokens.len() > MAX_WORDS {
                break;
            }
            for word in words_of(line(number)) {
                words.tokens.push(kinds.intern(word));
                words.places.push((number, is_name(word[0])));
            }
        }
        words
    }
}

/// Splits a line into runs of letters and digits, and single other bytes except whitespace.
fn words_of(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = line.chunk_by(|&one, &next| is_name(one) && is_name(next));
    parts.filter(|word| !word[0].is_ascii_whitespace())
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

impl Carry<'_> {
    /// The first and the last line that now have words of the lines from `first` to `last`, if at
    /// least half of the words still exist.
    pub fn rewrapped(&self, first: u64, last: u64) -> Option<(u64, u64)> {
        let lines = (first as usize).checked_sub(1)?..last as usize;
        if lines.is_empty() || lines.end > self.exact.old.len() {
            return None;
        }
        let kept = |at: usize| Some((at, self.kept(at as u64 + 1)? as usize - 1));
        let above = (0..lines.start).rev().find_map(kept);
        let below = (lines.end..self.exact.old.len()).find_map(kept);
        let (old_start, new_start) = above.map_or((0, 0), |(at, now)| (at + 1, now + 1));
        let (old_end, new_end) = below.unwrap_or((self.exact.old.len(), self.exact.new.len()));
        let count = (old_end - old_start) + new_end.saturating_sub(new_start);
        if new_start >= new_end || count > MAX_LINES {
            return None;
        }
        let mut kinds = Interner::new(1 << 10);
        let old = Words::of(&mut kinds, old_start..old_end, |at| self.exact.line(at));
        let new = Words::of(&mut kinds, new_start..new_end, |at| self.exact.new_line(at));
        if old.tokens.len() + new.tokens.len() > MAX_WORDS {
            return None;
        }
        let found = matched(&old.tokens, &new.tokens, kinds.num_tokens());
        let own = old
            .places
            .iter()
            .zip(found)
            .filter(|((at, is_name), _)| *is_name && lines.contains(at));
        let own: Vec<u32> = own.map(|(_, now)| now).collect();
        let there = own.iter().filter(|&&now| now != NONE).map(|&now| new.places[now as usize].0);
        if there.clone().count() * 2 < own.len() {
            return None;
        }
        Some((there.clone().min()? as u64 + 1, there.max()? as u64 + 1))
    }
}

/// For each old word its index in the new words, or [`NONE`].
fn matched(old: &[Token], new: &[Token], kinds: u32) -> Vec<u32> {
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Myers, old, new, kinds);
    let mut map = vec![NONE; old.len()];
    let (mut at, mut to) = (0, 0);
    for hunk in diff.hunks() {
        (at..hunk.before.start).zip(to..).for_each(|(at, now)| map[at as usize] = now);
        (at, to) = (hunk.before.end, hunk.after.end);
    }
    (at..old.len() as u32).zip(to..).for_each(|(at, now)| map[at as usize] = now);
    map
}
