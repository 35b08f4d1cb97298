//! Where the lines of one text are in another one that somebody made of it.
//!
//! No diff can know that. It finds a short, or a likely, way from one text to the other; where
//! lines repeat there are several ways, and it takes one. So three are asked, which choose
//! differently where there is a choice: Myers from the front, Myers from the back, and histogram,
//! which begins with the rarest lines. A stretch of lines that were added or removed can often be
//! shifted up or down: of `a b a b` made from `a b`, which `a` is the old one? Lines over which it
//! can be shifted do not count as kept.
//!
//! The rule, chosen by measurement (docs/decisions.md). A block of lines is found if all its lines
//! are kept, equal and together, and one of these holds:
//! - all three diffs say so, and the unbroken run of kept lines around it is in each text once;
//! - two of them say so, and one of its own lines is in each text once.
//!
//! What is there once must also say something: a brace alone is once in many texts by accident. It
//! is no evidence if a line that is not kept differs from it only in leading or trailing whitespace:
//! in a re-indented file, lines become equal to others of another depth.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, Interner, Token};
use memchr::memchr_iter;

use hashline_base::cancel::Cancel;
use hashline_lines::lines::{Lines, Unit};

/// Texts that differ in more lines than this, between the first difference and the last, are not
/// compared any further: the work stays bounded, and the answer there is that nothing is kept.
const MAX_DIFFERENT_LINES: usize = 400_000;

/// Nor are texts between which there are more edits than this, of lines that both have. What a
/// diff costs grows with the square of that; two texts of 20,000 lines that have nothing to do
/// with each other but their few kinds of lines took ten seconds.
const MAX_EDITS: usize = 2_000;

/// What is in each text once must have so many letters or digits to prove that it is the same.
const ENOUGH_LETTERS: u8 = 4;

/// How many lines are looked at between two looks at the flag that cancels.
const PIECE_LINES: usize = 1 << 16;

/// How long a line is as a rule, or longer.
const USUAL_LINE_BYTES: usize = 24;

/// In the place of a line that is not kept.
const NONE: u32 = u32::MAX;

/// Where the lines of an older text are in a newer one.
pub struct Carry<'a> {
    older: Older<'a>,
    old: Vec<Token>,
    new: Vec<Token>,
    /// For each old line the new one by all three diffs, counted from 0.
    by_all: Vec<u32>,
    /// For each old line the new one by at least two of the three diffs.
    by_two: Vec<u32>,
    /// Which kinds of lines are in each of the texts once.
    lone_kinds: Vec<bool>,
    /// Whether a run of old lines is in each of the texts once.
    runs: HashMap<(usize, usize), bool>,
    /// The lines of each kind.
    kinds: Interner<&'a [u8]>,
    /// The kinds of the lines that are not kept, by their text without leading and trailing whitespace.
    unkept: OnceCell<HashMap<&'a [u8], Vec<Token>>>,
}

/// The older text.
struct Older<'a> {
    text: &'a [u8],
    /// Where its lines begin, and where it ends.
    starts: Vec<usize>,
}

impl<'a> Older<'a> {
    fn of(text: &'a [u8]) -> Self {
        let mut starts = Vec::with_capacity(text.len() / USUAL_LINE_BYTES);
        starts.push(0);
        starts.extend(memchr_iter(b'\n', text).map(|newline| newline + 1));
        if !ends_a_line(text) {
            starts.push(text.len());
        }
        Older { text, starts }
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn line(&self, at: usize) -> &'a [u8] {
        let line = &self.text[self.starts[at]..self.starts[at + 1]];
        let Some(line) = line.strip_suffix(b"\n") else { return line };
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// How many lines from `first` on end at `end` or before it, with their line feeds.
    fn ended_until(&self, first: usize, end: usize) -> usize {
        let count = self.starts[first + 1..].partition_point(|&start| start <= end);
        let is_open = first + count == self.count() && !ends_a_line(self.text);
        count - usize::from(is_open && count > 0)
    }
}

/// Whether nothing stands behind the last line feed of a text.
fn ends_a_line(text: &[u8]) -> bool {
    text.last().is_none_or(|&last| last == b'\n')
}

impl<'a> Carry<'a> {
    /// Compares two texts; `None` once the call is cancelled.
    pub fn new(old: &'a [u8], new: &'a [u8], cancel: &Cancel) -> Option<Self> {
        let older = Older::of(old);
        let count = older.count();
        // As a rule there are a few more kinds, and a few more lines in the new text.
        let mut kinds = Interner::new(count + count / 8);
        let mut old_lines = Vec::with_capacity(count);
        for from in (0..count).step_by(PIECE_LINES) {
            cancel.check().ok()?;
            let piece = from..count.min(from + PIECE_LINES);
            old_lines.extend(piece.map(|at| kinds.intern(older.line(at))));
        }
        let new_lines = alike(&mut kinds, &older, &old_lines, new, cancel)?;
        let (old, new, count) = (old_lines, new_lines, kinds.num_tokens());
        let lone_kinds = counts(&old, count).into_iter().zip(counts(&new, count));
        let lone_kinds = lone_kinds.map(|in_texts| in_texts == (1, 1)).collect();
        let Agreed { by_all, by_two } = agreed(&old, &new, count, cancel)?;
        let (runs, unkept) = (HashMap::new(), OnceCell::new());
        Some(Carry { older, old, new, by_all, by_two, lone_kinds, runs, kinds, unkept })
    }

    /// Whether the texts have the same lines.
    pub fn is_same(&self) -> bool {
        self.old == self.new
    }

    /// The line that `line` is now, if two diffs say that it is kept.
    pub fn kept(&self, line: u64) -> Option<u64> {
        let found = *self.by_two.get(line.checked_sub(1)? as usize)?;
        (found != NONE).then(|| u64::from(found) + 1)
    }

    /// Where the lines from `first` to `last` are now: all of them, together, and certainly.
    pub fn block(&mut self, first: u64, last: u64) -> Option<u64> {
        if first == 0 || first > last || last > self.old.len() as u64 {
            return None;
        }
        let (from, to) = (first as usize - 1, last as usize);
        if self.is_same() {
            return Some(first);
        }
        if let Some(now) = together(&self.by_all, from, to)
            && self.is_once(from, to)
        {
            return Some(now + 1);
        }
        let now = together(&self.by_two, from, to)?;
        (from..to).any(|at| self.is_lone(at)).then_some(now + 1)
    }

    /// How many letters and digits an old line has, up to what is enough. Few lines are asked for.
    fn letters(&self, at: usize) -> usize {
        letters_in(self.older.line(at)).into()
    }

    /// Whether an old line is in each of the texts once, and says something.
    fn is_lone(&self, at: usize) -> bool {
        self.lone_kinds[self.old[at].0 as usize]
            && is_enough(self.letters(at))
            && !self.is_doubtful(at)
    }

    /// Whether a line that is not kept differs from an old one only in leading or trailing
    /// whitespace: then the new line that equals the old one may be the re-indented other one.
    fn is_doubtful(&self, at: usize) -> bool {
        let own = self.old[at];
        let alike = self.unkept().get(self.kinds[own].trim_ascii());
        alike.is_some_and(|others| others.iter().any(|&other| other != own))
    }

    fn unkept(&self) -> &HashMap<&'a [u8], Vec<Token>> {
        self.unkept.get_or_init(|| {
            let mut is_kept = vec![false; self.new.len()];
            for &now in self.by_all.iter().filter(|&&now| now != NONE) {
                is_kept[now as usize] = true;
            }
            let old = self.old.iter().zip(&self.by_all).filter(|(_, now)| **now == NONE);
            let new = self.new.iter().zip(is_kept).filter(|(_, is_kept)| !is_kept);
            let mut unkept: HashMap<&[u8], Vec<Token>> = HashMap::new();
            for &kind in old.map(|(kind, _)| kind).chain(new.map(|(kind, _)| kind)) {
                let alike = unkept.entry(self.kinds[kind].trim_ascii()).or_default();
                if alike.len() < 2 && !alike.contains(&kind) {
                    alike.push(kind);
                }
            }
            unkept
        })
    }

    /// Whether the run of kept lines around a block of them is in each of the texts once.
    fn is_once(&mut self, from: usize, to: usize) -> bool {
        let follows = |one: usize| {
            let (above, below) = (self.by_all[one], self.by_all[one + 1]);
            above != NONE && below == above + 1
        };
        let above = (0..from).rev().take_while(|&one| follows(one)).count();
        let below = (to..self.old.len()).take_while(|&one| follows(one - 1)).count();
        let (from, to) = (from - above, to + below);
        if let Some(&known) = self.runs.get(&(from, to)) {
            return known;
        }
        let run = &self.old[from..to];
        let says_enough = || is_enough((from..to).map(|at| self.letters(at)).sum());
        let is_once = (from..to).any(|at| self.is_lone(at))
            || (says_enough()
                && !(from..to).any(|at| self.is_doubtful(at))
                && is_in_once(&self.old, run)
                && is_in_once(&self.new, run));
        self.runs.insert((from, to), is_once);
        is_once
    }
}

/// The tokens of the lines of a text that is mostly the older one. From each line that was found
/// on, what both have in common is passed over at once; only the line behind it is looked up.
fn alike<'a>(
    kinds: &mut Interner<&'a [u8]>,
    older: &Older<'a>,
    old: &[Token],
    new: &'a [u8],
    cancel: &Cancel,
) -> Option<Vec<Token>> {
    let mut places: Vec<u32> = vec![NONE; kinds.num_tokens() as usize];
    for (place, token) in (0..).zip(old) {
        places[token.0 as usize] = place;
    }
    let mut tokens = Vec::with_capacity(old.len() + old.len() / 8);
    let (mut next, mut rest, mut looked) = (0, new, 0);
    while let Some(line) = Lines::new(rest, Unit::Byte).next() {
        if tokens.len() >= looked {
            cancel.check().ok()?;
            looked = tokens.len() + PIECE_LINES;
        }
        let from = older.starts[next];
        let end = from + common_prefix(&older.text[from..], rest);
        // A line without its line feed may go on in the other text.
        let common = older.ended_until(next, end);
        if common > 0 {
            tokens.extend_from_slice(&old[next..next + common]);
            next += common;
            rest = &rest[older.starts[next] - from..];
            continue;
        }
        let token = kinds.intern(line.text(rest));
        tokens.push(token);
        if let Some(&place) = places.get(token.0 as usize).filter(|&&place| place != NONE) {
            next = place as usize + 1;
        }
        rest = &rest[line.end..];
    }
    Some(tokens)
}

/// How many bytes are compared at once.
const COMPARED_BYTES: usize = 256;

fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let pieces = one.chunks_exact(COMPARED_BYTES).zip(other.chunks_exact(COMPARED_BYTES));
    let whole = pieces.take_while(|(one, other)| one == other).count() * COMPARED_BYTES;
    let rest = one[whole..].iter().zip(&other[whole..]);
    whole + rest.take_while(|(one, other)| one == other).count()
}

/// How many letters and digits a line has, up to what is enough; outside ASCII each byte is taken
/// for a part of one.
fn letters_in(line: &[u8]) -> u8 {
    let letters = line.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    letters.take(ENOUGH_LETTERS.into()).count() as u8
}

/// Whether lines with so many letters and digits say something.
fn is_enough(letters: usize) -> bool {
    letters >= usize::from(ENOUGH_LETTERS)
}

/// Whether a line has so many letters and digits that it is told from others by what it says.
pub fn says_enough(line: &[u8]) -> bool {
    is_enough(letters_in(line).into())
}

/// Where lines are that a map keeps together.
fn together(map: &[u32], from: usize, to: usize) -> Option<u64> {
    let now = map[from];
    let is_kept = now != NONE && map[from..to].iter().zip(now..).all(|(&one, now)| one == now);
    is_kept.then_some(u64::from(now))
}

/// Whether lines are somewhere in a text, and nowhere else: by Knuth, Morris and Pratt, since
/// texts that repeat themselves would make a search line by line quadratic.
fn is_in_once(text: &[Token], lines: &[Token]) -> bool {
    // For each beginning of the lines, how long its longest end is that they begin with, too.
    let mut borders = vec![0; lines.len()];
    let mut border = 0;
    for at in 1..lines.len() {
        while border > 0 && lines[at] != lines[border] {
            border = borders[border - 1];
        }
        border += usize::from(lines[at] == lines[border]);
        borders[at] = border;
    }
    let (mut matched, mut found) = (0, 0);
    for line in text {
        while matched > 0 && (matched == lines.len() || *line != lines[matched]) {
            matched = borders[matched - 1];
        }
        matched += usize::from(*line == lines[matched]);
        found += usize::from(matched == lines.len());
    }
    found == 1
}

/// For each kind of line, how many a text has.
fn counts(text: &[Token], kinds: u32) -> Vec<u32> {
    let mut counts = vec![0; kinds as usize];
    for line in text {
        counts[line.0 as usize] += 1;
    }
    counts
}

/// For each line of an old text the line of a new one that it is.
struct Agreed {
    /// By all three diffs.
    by_all: Vec<u32>,
    /// By at least two of them.
    by_two: Vec<u32>,
}

/// For each line of `old` the line of `new` that the diffs agree on.
fn agreed(old: &[Token], new: &[Token], kinds: u32, cancel: &Cancel) -> Option<Agreed> {
    cancel.check().ok()?;
    let CommonEnds { top, bottom } = common_ends(old, new);
    let (above, below) = (&old[top..old.len() - bottom], &new[top..new.len() - bottom]);
    let is_bounded = above.len() + below.len() <= MAX_DIFFERENT_LINES;
    let shared = Shared { in_old: counts(above, kinds), in_new: counts(below, kinds) };
    let plain = is_bounded.then(|| shared.plain_hunks(above, below, top as u32)).flatten();
    if !is_bounded || plain.is_none() && !are_near(above, below, &shared) {
        let between = Hunk {
            before: top as u32..(old.len() - bottom) as u32,
            after: top as u32..(new.len() - bottom) as u32,
        };
        let ends = mapped(old, new, &[between]);
        return Some(Agreed { by_all: ends.clone(), by_two: ends });
    }
    if let Some(PlainHunks { hunks, has_repeats: false }) = &plain {
        // No line that both have is repeated, so the histogram diff keeps the same ones.
        let kept = mapped(old, new, hunks);
        return Some(Agreed { by_all: kept.clone(), by_two: kept });
    }
    let rarest = compared(Algorithm::Histogram, old, new, kinds);
    cancel.check().ok()?;
    let (forwards, backwards) = match plain {
        Some(PlainHunks { hunks, .. }) => (mapped(old, new, &hunks), None),
        None => {
            let forwards = compared(Algorithm::Myers, old, new, kinds);
            cancel.check().ok()?;
            (forwards, Some(compared_backwards(old, new, kinds)))
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
fn are_near(old: &[Token], new: &[Token], shared: &Shared) -> bool {
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
fn compared(algorithm: Algorithm, old: &[Token], new: &[Token], kinds: u32) -> Vec<u32> {
    let mut diff = Diff::default();
    diff.compute_with(algorithm, old, new, kinds);
    mapped(old, new, &diff.hunks().collect::<Vec<_>>())
}

/// For each line of `old` the line of `new` that it is by Myers's diff from the end upwards.
fn compared_backwards(old: &[Token], new: &[Token], kinds: u32) -> Vec<u32> {
    let reversed = |text: &[Token]| text.iter().rev().copied().collect::<Vec<_>>();
    let mut map = compared(Algorithm::Myers, &reversed(old), &reversed(new), kinds);
    map.reverse();
    for found in map.iter_mut().filter(|found| **found != NONE) {
        *found = new.len() as u32 - 1 - *found;
    }
    map
}

/// For each line of `old` the line of `new` that it is by these hunks, in order. Lines over
/// which a hunk could be shifted are left out: the texts do not say whether they are kept.
fn mapped(old: &[Token], new: &[Token], hunks: &[Hunk]) -> Vec<u32> {
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
