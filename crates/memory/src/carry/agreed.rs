//! Which lines of two texts three diffs keep, with bounded work.

use imara_diff::{Algorithm, Diff, Hunk, Token};

use super::NONE;
use hashline_base::cancel::Cancel;

/// The most lines between the first and the last difference that are compared. If there are more,
/// none of them counts as kept.
pub(super) const MAX_DIFFERENT_LINES: usize = 400_000;

/// The most edits of lines that both texts have. The cost of a diff grows with the square of that:
/// two unrelated texts of 20,000 lines of few kinds took ten seconds.
const MAX_EDITS: usize = 2_000;

/// How often each kind of line occurs in a text.
pub(super) fn counts(text: &[Token], kinds: u32) -> Vec<u32> {
    let mut counts = vec![0; kinds as usize];
    for line in text {
        counts[line.0 as usize] += 1;
    }
    counts
}

/// For each old line its number in the new text, or [`NONE`].
pub(super) struct Agreed {
    /// If all three diffs agree.
    pub(super) by_all: Vec<u32>,
    /// If at least two diffs agree.
    pub(super) by_two: Vec<u32>,
}

/// For each line of `old` the line of `new` that the diffs agree on; `None` if the call is
/// cancelled.
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
        // Without repeated lines, the histogram diff keeps the same ones.
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

/// The hunks of two texts that have all their common lines in the same order.
struct PlainHunks {
    hunks: Vec<Hunk>,
    /// Whether a common line is repeated.
    has_repeats: bool,
}

/// How often each kind of line occurs in two texts.
struct Shared {
    in_old: Vec<u32>,
    in_new: Vec<u32>,
}

impl Shared {
    /// Whether both texts have the line.
    fn has(&self, line: Token) -> bool {
        self.in_old[line.0 as usize] > 0 && self.in_new[line.0 as usize] > 0
    }

    fn has_once(&self, line: Token) -> bool {
        self.in_old[line.0 as usize] == 1 && self.in_new[line.0 as usize] == 1
    }

    /// The hunks of two texts for which Myers's diff keeps all common lines, from either end: these
    /// are in the same order, and between two hunks there is one that is unique in each text. (The
    /// diff first drops some repeated lines between lines that only one text has.) Hunks count
    /// lines from `top` on.
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

/// Whether at most [`MAX_EDITS`] edits make one text of the other. Lines that only one text has do
/// not count.
fn has_few_edits(old: &[Token], new: &[Token], shared: &Shared) -> bool {
    let shared =
        |text: &[Token]| text.iter().filter(|line| shared.has(**line)).copied().collect::<Vec<_>>();
    let (old, new) = (shared(old), shared(new));
    if old.len() + new.len() <= MAX_EDITS {
        return true;
    }
    // For each diagonal the furthest line of the old text that `edits` edits can reach. A diagonal
    // is the old line number minus the new one, plus an offset so that it is not negative.
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

/// How many lines at the ends of two texts are equal.
struct CommonEnds {
    top: usize,
    bottom: usize,
}

/// The common lines at both ends of two texts. If the ends overlap in the shorter text, the overlap
/// belongs to neither.
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

/// For each line of `old` the line of `new` by one diff.
fn line_map(algorithm: Algorithm, old: &[Token], new: &[Token], kinds: u32) -> Vec<u32> {
    let mut diff = Diff::default();
    diff.compute_with(algorithm, old, new, kinds);
    map_of_hunks(old, new, &diff.hunks().collect::<Vec<_>>())
}

/// For each line of `old` the line of `new` by Myers's diff of the reversed texts.
fn line_map_backwards(old: &[Token], new: &[Token], kinds: u32) -> Vec<u32> {
    let reversed = |text: &[Token]| text.iter().rev().copied().collect::<Vec<_>>();
    let mut map = line_map(Algorithm::Myers, &reversed(old), &reversed(new), kinds);
    map.reverse();
    for found in map.iter_mut().filter(|found| **found != NONE) {
        *found = new.len() as u32 - 1 - *found;
    }
    map
}

/// For each line of `old` the line of `new` by sorted hunks. Lines that could be paired with another
/// line as well are omitted: the texts do not say whether they are kept.
fn map_of_hunks(old: &[Token], new: &[Token], hunks: &[Hunk]) -> Vec<u32> {
    let end = old.len() as u32;
    let last = Hunk { before: end..end, after: new.len() as u32..new.len() as u32 };
    let (mut kept, mut kept_now) = (Vec::with_capacity(old.len()), Vec::with_capacity(old.len()));
    let (mut from, mut to) = (0, 0);
    for hunk in hunks.iter().chain([&last]) {
        kept.extend(from..hunk.before.start);
        kept_now.extend(to..hunk.after.start);
        (from, to) = (hunk.before.end, hunk.after.end);
    }
    let mut map = vec![NONE; old.len()];
    let sure = are_sure(old, &kept).into_iter().zip(are_sure(new, &kept_now));
    for ((&line, &now), is_sure) in kept.iter().zip(&kept_now).zip(sure) {
        if is_sure == (true, true) {
            map[line as usize] = now;
        }
    }
    map
}

/// For each of the lines of a text that two texts have in common, whether it must be this one: the
/// first place where it can be found, after those before it, is also the last one.
fn are_sure(text: &[Token], common: &[u32]) -> Vec<bool> {
    let mut first = Vec::with_capacity(common.len());
    let mut at = 0;
    for &line in common {
        while text[at] != text[line as usize] {
            at += 1;
        }
        first.push(at);
        at += 1;
    }
    let mut end = text.len();
    let last = common.iter().rev().map(|&line| {
        end -= 1;
        while text[end] != text[line as usize] {
            end -= 1;
        }
        end
    });
    let mut are_sure: Vec<bool> =
        last.zip(first.iter().rev()).map(|(last, &first)| first == last).collect();
    are_sure.reverse();
    are_sure
}

#[cfg(test)]
mod tests;
