//! Which lines of two texts are kept by three diffs, within bounds of the work.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, Token};

use super::NONE;
use hashline_base::cancel::Cancel;

/// Texts that differ in more lines than this, between the first difference and the last, are not
/// compared any further: the work stays bounded, and the answer there is that nothing is kept.
pub(super) const MAX_DIFFERENT_LINES: usize = 400_000;

/// Nor are texts between which there are more edits than this, of lines that both have. What a
/// diff costs grows with the square of that; two texts of 20,000 lines that have nothing to do
/// with each other but their few kinds of lines took ten seconds.
const MAX_EDITS: usize = 2_000;

/// For each kind of line, how many a text has.
pub(super) fn counts(text: &[Token], kinds: u32) -> Vec<u32> {
    let mut counts = vec![0; kinds as usize];
    for line in text {
        counts[line.0 as usize] += 1;
    }
    counts
}

/// For each line of an old text the line of a new one that it is.
pub(super) struct Agreed {
    /// By all three diffs.
    pub(super) by_all: Vec<u32>,
    /// By at least two of them.
    pub(super) by_two: Vec<u32>,
}

/// For each line of `old` the line of `new` that the diffs agree on.
pub(super) fn agreed(old: &[Token], new: &[Token], kinds: u32, cancel: &Cancel) -> Option<Agreed> {
    cancel.check().ok()?;
    let CommonEnds { top, bottom } = common_ends(old, new);
    let (above, below) = (&old[top..old.len() - bottom], &new[top..new.len() - bottom]);
    let is_bounded = above.len() + below.len() <= MAX_DIFFERENT_LINES;
    let shared = Shared { in_old: counts(above, kinds), in_new: counts(below, kinds) };
    let plain = is_bounded.then(|| shared.plain_hunks(above, below, top as u32)).flatten();
    if !is_bounded || plain.is_none() && !has_few_edits(above, below, &shared) {
        let between = Hunk {
            before: top as u32..(old.len() - bottom) as u32,
            after: top as u32..(new.len() - bottom) as u32,
        };
        let ends = map_of_hunks(old, new, &[between]);
        return Some(Agreed { by_all: ends.clone(), by_two: ends });
    }
    if let Some(PlainHunks { hunks, has_repeats: false }) = &plain {
        // No line that both have is repeated, so the histogram diff keeps the same ones.
        let kept = map_of_hunks(old, new, hunks);
        return Some(Agreed { by_all: kept.clone(), by_two: kept });
    }
    let rarest = line_map(Algorithm::Histogram, old, new, kinds);
    cancel.check().ok()?;
    let (forwards, backwards) = match plain {
        Some(PlainHunks { hunks, .. }) => (map_of_hunks(old, new, &hunks), None),
        None => {
            let forwards = line_map(Algorithm::Myers, old, new, kinds);
            cancel.check().ok()?;
            (forwards, Some(line_map_backwards(old, new, kinds)))
        }
    };
    let backwards = backwards.as_ref().unwrap_or(&forwards);
    let all =
        |(one, two, three): (u32, u32, u32)| if one == two && two == three { one } else { NONE };
    let most = |(one, two, three): (u32, u32, u32)| {
        if two == three {
            two
        } else if one == two || one == three {
            one
        } else {
            NONE
        }
    };
    let votes = || {
        let pairs = forwards.iter().zip(backwards).zip(&rarest);
        pairs.map(|((&one, &two), &three)| (one, two, three))
    };
    Some(Agreed { by_all: votes().map(all).collect(), by_two: votes().map(most).collect() })
}

/// Hunks between which all lines that two texts share stand in the same order.
struct PlainHunks {
    hunks: Vec<Hunk>,
    /// Whether a text has one of these lines more than once.
    has_repeats: bool,
}

/// How many lines of each kind two texts have.
struct Shared {
    in_old: Vec<u32>,
    in_new: Vec<u32>,
}

impl Shared {
    /// Whether both have the line.
    fn has(&self, line: Token) -> bool {
        self.in_old[line.0 as usize] > 0 && self.in_new[line.0 as usize] > 0
    }

    fn has_once(&self, line: Token) -> bool {
        self.in_old[line.0 as usize] == 1 && self.in_new[line.0 as usize] == 1
    }

    /// The hunks of the texts, in lines from `top` on, where Myers's diff cannot but keep all lines
    /// that both have, from either end: they stand in the same order, and between two hunks there
    /// is one that each has once. (Of lines that are there more often, the diff first leaves out
    /// some that stand between lines which only one text has.)
    fn plain_hunks(&self, old: &[Token], new: &[Token], top: u32) -> Option<PlainHunks> {
        let own = |text: &[Token], from: usize| {
            from + text[from..].iter().take_while(|&&line| !self.has(line)).count()
        };
        let (mut at, mut to, mut is_apart) = (0, 0, true);
        let (mut hunks, mut has_repeats) = (Vec::new(), false);
        loop {
            let (end, now_end) = (own(old, at), own(new, to));
            if (end, now_end) != (at, to) {
                if !is_apart {
                    return None;
                }
                is_apart = false;
                let lines = |from: usize, to: usize| top + from as u32..top + to as u32;
                hunks.push(Hunk { before: lines(at, end), after: lines(to, now_end) });
            }
            match (old.get(end), new.get(now_end)) {
                (None, None) => return Some(PlainHunks { hunks, has_repeats }),
                (Some(&line), Some(&now)) if line == now => {
                    let is_once = self.has_once(line);
                    is_apart |= is_once;
                    has_repeats |= !is_once;
                }
                _ => return None,
            }
            (at, to) = (end + 1, now_end + 1);
        }
    }
}

/// Whether one text becomes the other by a bearable number of edits. Lines that only one of them
/// has do not count: what becomes of them is no question.
fn has_few_edits(old: &[Token], new: &[Token], shared: &Shared) -> bool {
    let shared =
        |text: &[Token]| text.iter().filter(|line| shared.has(**line)).copied().collect::<Vec<_>>();
    let (old, new) = (shared(old), shared(new));
    if old.len() + new.len() <= MAX_EDITS {
        return true;
    }
    // For each diagonal the furthest line of the old text that so many edits can reach. A diagonal
    // is lines of the old text less lines of the new one, moved up so that it is not negative.
    let middle = MAX_EDITS + 1;
    let mut furthest = vec![0; 2 * middle + 1];
    for edits in 0..=MAX_EDITS {
        for diagonal in (middle - edits..=middle + edits).step_by(2) {
            let (removed, added) = (furthest[diagonal - 1] + 1, furthest[diagonal + 1]);
            let mut at = match edits {
                0 => 0,
                _ if diagonal == middle - edits => added,
                _ if diagonal == middle + edits => removed,
                _ => removed.max(added),
            };
            let mut to = at + middle - diagonal;
            while at < old.len() && to < new.len() && old[at] == new[to] {
                (at, to) = (at + 1, to + 1);
            }
            if at >= old.len() && to >= new.len() {
                return true;
            }
            furthest[diagonal] = at;
        }
    }
    false
}

/// How many lines two texts have in common at their ends.
struct CommonEnds {
    top: usize,
    bottom: usize,
}

/// How many lines at the start and at the end of two texts are the same in every way to count
/// them: where both reach for the same lines those are left out.
fn common_ends(old: &[Token], new: &[Token]) -> CommonEnds {
    let shorter = old.len().min(new.len());
    let top = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let bottom = old.iter().rev().zip(new.iter().rev());
    let bottom = bottom.take_while(|(one, other)| one == other).count();
    if top + bottom <= shorter {
        CommonEnds { top, bottom }
    } else {
        CommonEnds { top: shorter - bottom, bottom: shorter - top }
    }
}

/// For each line of `old` the line of `new` that it is by one diff.
fn line_map(algorithm: Algorithm, old: &[Token], new: &[Token], kinds: u32) -> Vec<u32> {
    let mut diff = Diff::default();
    diff.compute_with(algorithm, old, new, kinds);
    map_of_hunks(old, new, &diff.hunks().collect::<Vec<_>>())
}

/// For each line of `old` the line of `new` that it is by Myers's diff from the end upwards.
fn line_map_backwards(old: &[Token], new: &[Token], kinds: u32) -> Vec<u32> {
    let reversed = |text: &[Token]| text.iter().rev().copied().collect::<Vec<_>>();
    let mut map = line_map(Algorithm::Myers, &reversed(old), &reversed(new), kinds);
    map.reverse();
    for found in map.iter_mut().filter(|found| **found != NONE) {
        *found = new.len() as u32 - 1 - *found;
    }
    map
}

/// For each line of `old` the line of `new` that it is by these hunks, in order. Lines over
/// which a hunk could be shifted are left out: the texts do not say whether they are kept.
fn map_of_hunks(old: &[Token], new: &[Token], hunks: &[Hunk]) -> Vec<u32> {
    let end = old.len() as u32;
    let last = Hunk { before: end..end, after: new.len() as u32..new.len() as u32 };
    let mut map = vec![NONE; old.len()];
    let (mut from, mut to) = (0, 0);
    for hunk in hunks.iter().chain([&last]) {
        for (line, now) in (from..hunk.before.start).zip(to..) {
            map[line as usize] = now;
        }
        (from, to) = (hunk.before.end, hunk.after.end);
    }
    for (at, hunk) in hunks.iter().enumerate() {
        let above = at.checked_sub(1).map_or(0, |above| hunks[above].before.end);
        let below = hunks.get(at + 1).map_or(end, |below| below.before.start);
        let (before, after) = (&hunk.before, &hunk.after);
        let room =
            Shifts { up: (before.start - above) as usize, down: (below - before.end) as usize };
        for (text, lines) in [(old, before), (new, after)] {
            let Shifts { up, down } = shifts(text, lines.start as usize..lines.end as usize, room);
            map[before.start as usize - up..before.start as usize].fill(NONE);
            map[before.end as usize..before.end as usize + down].fill(NONE);
        }
    }
    map
}

/// By how many lines a stretch of a text can stand higher, and lower.
#[derive(Clone, Copy)]
struct Shifts {
    up: usize,
    down: usize,
}

/// By how many lines a stretch of a text that was added or removed could as well stand elsewhere
/// with the same result, within the room that there is.
fn shifts(text: &[Token], lines: Range<usize>, room: Shifts) -> Shifts {
    let Range { start, end } = lines;
    if start == end {
        return Shifts { up: 0, down: 0 };
    }
    let up = (1..=room.up).take_while(|&by| text[start - by] == text[end - by]).count();
    let down = (0..room.down).take_while(|&by| text[start + by] == text[end + by]).count();
    Shifts { up, down }
}

#[cfg(test)]
mod tests;
