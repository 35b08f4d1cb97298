//! Where the lines of one text are in a later version of it.
//!
//! One diff is not enough. It finds a short or likely edit script; where lines repeat there are
//! several, and it chooses one. So three diffs are compared, which choose differently: Myers from
//! the front, Myers from the back, and histogram, which begins with the rarest lines. Often a line
//! could be paired with another one as well: if `a b` becomes `a b a b`, which `a` is the old one?
//! A line counts as kept only if the common lines of a diff have no other place in either text.
//!
//! The rule, chosen by measurement (docs/decisions.md). A block of lines is found if all its lines
//! are kept, equal and together, and one of these holds:
//! - all three diffs agree, and the unbroken run of kept lines around the block is unique in each
//!   text;
//! - two diffs agree, and one line of the block is unique in each text.
//!
//! If neither of the lines next to a single line is kept, it needs more letters.
//!
//! What is unique must also have enough letters: many texts have only one line with a single brace.
//! It proves nothing if a line that is not kept differs from it only in leading or trailing
//! whitespace: in a re-indented file, a line can become equal to a line of another depth.
//!
//! If leading or trailing whitespace has changed, the texts are also compared without it, by the
//! same rule. A block that only this finds must be next to a line that was next to it before, and
//! re-indented as that line is, or nested as before between both.
//!
//! If punctuation has changed as well, few lines are kept. Then the texts are compared by letters
//! and digits only. A block found this way must be equal except for leading and trailing
//! whitespace.

mod agreed;
mod indentation;
mod rewrapped;

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use imara_diff::{Interner, Token};
use memchr::memchr_iter;

use agreed::{Agreed, agreed, counts};
use hashline_base::cancel::Cancel;
use hashline_lines::lines::{Lines, Unit};
use indentation::Units;

pub use indentation::Reindentation;

/// How many letters or digits a unique line or run needs as proof.
const ENOUGH_LETTERS: u8 = 4;

/// How many letters or digits a line needs if neither of the lines next to it is kept: where a
/// formatter wrapped the lines of several statements, each may have an `.iter()`.
const ENOUGH_LETTERS_ALONE: u8 = 10;

/// How many lines are read between two checks for cancellation.
const PIECE_LINES: usize = 1 << 16;

/// A low estimate of the length of a line.
const USUAL_LINE_BYTES: usize = 24;

/// The entry of a line that is not kept.
const NONE: u32 = u32::MAX;

/// Where the lines of an older text are in a newer one.
pub struct Carry<'a> {
    exact: Comparison<'a>,
    /// The texts compared without leading and trailing whitespace; `None` if none has changed, or
    /// if the call is cancelled.
    trimmed: OnceCell<Option<Comparison<'a>>>,
    /// The texts compared by letters and digits; `None` if the call is cancelled.
    by_letters: OnceCell<Option<Comparison<'a>>>,
    /// The lines of the new text without leading and trailing whitespace.
    new_texts: OnceCell<HashSet<&'a [u8]>>,
    /// The kinds of the lines that are not kept, by their text without leading and trailing
    /// whitespace.
    unkept: OnceCell<HashMap<&'a [u8], Vec<Token>>>,
    /// The units of indentation of the texts.
    units: OnceCell<Units>,
    cancel: &'a Cancel,
}

/// Two texts as tokens, and which lines are kept.
struct Comparison<'a> {
    /// A line of each kind, by token.
    kinds: Vec<&'a [u8]>,
    old: Vec<Token>,
    new: Vec<Token>,
    /// For each old line the new one by all three diffs, counted from 0.
    by_all: Vec<u32>,
    /// For each old line the new one by at least two of the three diffs.
    by_two: Vec<u32>,
    /// Whether a kind of line is unique in each text, by token.
    unique_kinds: Vec<bool>,
    /// Whether a run of old lines is unique in each text; a cache.
    unique_runs: RefCell<HashMap<(usize, usize), bool>>,
}

/// The older text.
struct Older<'a> {
    text: &'a [u8],
    /// Where its lines begin; the last entry is its end.
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

    /// How many lines from `first` on end, with their newlines, at or before byte `end`.
    fn ended_until(&self, first: usize, end: usize) -> usize {
        let count = self.starts[first + 1..].partition_point(|&start| start <= end);
        let is_open = first + count == self.count() && !ends_a_line(self.text);
        count - usize::from(is_open && count > 0)
    }
}

/// Whether a text is empty or ends with a newline.
fn ends_a_line(text: &[u8]) -> bool {
    text.last().is_none_or(|&last| last == b'\n')
}

impl<'a> Carry<'a> {
    /// Compares two texts; `None` if the call is cancelled.
    pub fn new(old: &'a [u8], new: &'a [u8], cancel: &'a Cancel) -> Option<Self> {
        let older = Older::of(old);
        let count = older.count();
        // The new text usually adds a few kinds.
        let mut kinds = Interner::new(count + count / 8);
        let mut old = Vec::with_capacity(count);
        for from in (0..count).step_by(PIECE_LINES) {
            cancel.check().ok()?;
            let piece = from..count.min(from + PIECE_LINES);
            old.extend(piece.map(|at| kinds.intern(older.line(at))));
        }
        let new = intern_new_lines(&mut kinds, &older, &old, new, cancel)?;
        let kinds = (0..kinds.num_tokens()).map(|kind| kinds[Token(kind)]).collect();
        let exact = Comparison::of(kinds, old, new, cancel)?;
        let (trimmed, by_letters) = (OnceCell::new(), OnceCell::new());
        let (new_texts, unkept, units) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Some(Carry { exact, trimmed, by_letters, new_texts, unkept, units, cancel })
    }

    /// Whether the texts have the same lines.
    pub fn is_same(&self) -> bool {
        self.exact.old == self.exact.new
    }

    /// The current number of a line that two diffs keep, ignoring leading and trailing whitespace.
    pub fn kept(&self, line: u64) -> Option<u64> {
        let at = line.checked_sub(1)? as usize;
        let exact = self.exact.kept(at);
        let found = exact.or_else(|| self.trimmed()?.kept(at))?;
        Some(found as u64 + 1)
    }

    /// The current number of the first line of a block, if all its lines are certainly found
    /// together.
    pub fn block(&self, first: u64, last: u64) -> Option<u64> {
        if first == 0 || first > last || last > self.exact.old.len() as u64 {
            return None;
        }
        let (from, to) = (first as usize - 1, last as usize);
        if self.is_same() {
            return Some(first);
        }
        let exact = self.exact.block(from, to, |at| self.has_reindented_twin(at));
        let now = match self.trimmed() {
            None => exact,
            Some(trimmed) => match (exact, trimmed.block(from, to, |_| false)) {
                (Some(exact), Some(trimmed)) if exact != trimmed => return None,
                (Some(now), _) => Some(now),
                (None, now) => now.filter(|&now| self.is_with_neighbour(trimmed, from, to, now)),
            },
        };
        Some(now.or_else(|| self.block_by_letters(from, to))? + 1)
    }

    /// Finds a block by the letters and digits of the lines around it. Its own lines must be equal
    /// except for leading and trailing whitespace.
    fn block_by_letters(&self, from: usize, to: usize) -> Option<u64> {
        let is_like = |old: usize, new: usize| {
            self.exact.line(old).trim_ascii() == self.exact.new_line(new).trim_ascii()
        };
        // Usually the lines do not exist any more, and this check is fast.
        let new_texts = self.new_texts.get_or_init(|| {
            self.exact
                .new
                .iter()
                .map(|kind| self.exact.kinds[kind.0 as usize].trim_ascii())
                .collect()
        });
        if !(from..to).all(|at| new_texts.contains(self.exact.line(at).trim_ascii())) {
            return None;
        }
        let by_letters = || self.exact.by(letters_of, self.cancel);
        let by_letters = self.by_letters.get_or_init(by_letters).as_ref()?;
        let now = by_letters.block(from, to, |_| false)?;
        let is_there = (from..to).zip(now as usize..).all(|(old, new)| is_like(old, new))
            && self.is_with_neighbour(by_letters, from, to, now);
        is_there.then_some(now)
    }

    /// Whether a block is next to a line that was next to it before, and was re-indented like the
    /// line above or below it, or is nested as before. Otherwise it may be another one: statements
    /// are equal at several depths where whitespace does not count.
    fn is_with_neighbour(
        &self,
        compared: &Comparison<'_>,
        from: usize,
        to: usize,
        now: u64,
    ) -> bool {
        let units = self.units.get_or_init(|| Units::of(&self.exact));
        let now = now as usize;
        compared.has_neighbour(from, to, now)
            && indentation::is_alike(&self.exact, compared, (from..to, now), units)
    }

    /// How the lines from `first` to `last`, now at `now`, and the lines around them were
    /// re-indented; `None` if they were not.
    pub fn reindentation(&self, first: u64, last: u64, now: u64) -> Option<Reindentation> {
        let trimmed = self.trimmed().or_else(|| self.by_letters.get()?.as_ref())?;
        let (from, to, now) = (first as usize - 1, last as usize, now as usize - 1);
        let units = self.units.get_or_init(|| Units::of(&self.exact));
        Reindentation::of(&self.exact, trimmed, (from..to, now), units)
    }

    /// The comparison without leading and trailing whitespace, if any of that has changed.
    fn trimmed(&self) -> Option<&Comparison<'a>> {
        let trimmed = self.trimmed.get_or_init(|| {
            let is_reindented = self.unkept().values().any(|kinds| kinds.len() > 1);
            let compared = || self.exact.by(|line| line.trim_ascii().to_vec(), self.cancel);
            is_reindented.then(compared).flatten()
        });
        trimmed.as_ref()
    }

    /// Whether a line that is not kept differs from an old line only in leading or trailing
    /// whitespace. Then a new line that equals the old one may be that line, re-indented.
    fn has_reindented_twin(&self, at: usize) -> bool {
        let own = self.exact.old[at];
        let alike = self.unkept().get(self.exact.line(at).trim_ascii());
        alike.is_some_and(|others| others.iter().any(|&other| other != own))
    }

    fn unkept(&self) -> &HashMap<&'a [u8], Vec<Token>> {
        self.unkept.get_or_init(|| {
            let Comparison { kinds, old, new, by_all, .. } = &self.exact;
            let mut is_kept = vec![false; new.len()];
            for &now in by_all.iter().filter(|&&now| now != NONE) {
                is_kept[now as usize] = true;
            }
            let old = old.iter().zip(by_all).filter(|(_, now)| **now == NONE);
            let new = new.iter().zip(is_kept).filter(|(_, is_kept)| !is_kept);
            let mut unkept: HashMap<&[u8], Vec<Token>> = HashMap::new();
            for &kind in old.map(|(kind, _)| kind).chain(new.map(|(kind, _)| kind)) {
                let alike = unkept.entry(kinds[kind.0 as usize].trim_ascii()).or_default();
                if alike.len() < 2 && !alike.contains(&kind) {
                    alike.push(kind);
                }
            }
            unkept
        })
    }
}

impl<'a> Comparison<'a> {
    fn of(kinds: Vec<&'a [u8]>, old: Vec<Token>, new: Vec<Token>, cancel: &Cancel) -> Option<Self> {
        let count = kinds.len() as u32;
        let unique_kinds = counts(&old, count).into_iter().zip(counts(&new, count));
        let unique_kinds = unique_kinds.map(|in_texts| in_texts == (1, 1)).collect();
        let Agreed { by_all, by_two } = agreed(&old, &new, count, cancel)?;
        Some(Comparison {
            kinds,
            old,
            new,
            by_all,
            by_two,
            unique_kinds,
            unique_runs: RefCell::default(),
        })
    }

    /// Compares the same texts by a part of each line.
    fn by(&self, part: impl Fn(&[u8]) -> Vec<u8>, cancel: &Cancel) -> Option<Comparison<'a>> {
        let (mut parts, mut kinds) = (Interner::new(self.kinds.len()), Vec::new());
        let mut kind_of = Vec::with_capacity(self.kinds.len());
        for (at, line) in self.kinds.iter().enumerate() {
            if at % PIECE_LINES == 0 {
                cancel.check().ok()?;
            }
            let kind = parts.intern(part(line));
            if kind.0 as usize == kinds.len() {
                kinds.push(*line);
            }
            kind_of.push(kind);
        }
        let lines = |text: &[Token]| text.iter().map(|kind| kind_of[kind.0 as usize]).collect();
        let (old, new) = (lines(&self.old), lines(&self.new));
        Comparison::of(kinds, old, new, cancel)
    }

    /// An old line.
    fn line(&self, at: usize) -> &'a [u8] {
        self.kinds[self.old[at].0 as usize]
    }

    /// A new line.
    fn new_line(&self, at: usize) -> &'a [u8] {
        self.kinds[self.new[at].0 as usize]
    }

    /// The new number of an old line that two diffs keep, counted from 0.
    fn kept(&self, at: usize) -> Option<usize> {
        let found = *self.by_two.get(at)?;
        (found != NONE).then_some(found as usize)
    }

    /// Finds a block by the rule of three diffs. Lines with a re-indented twin do not count.
    fn block(
        &self,
        from: usize,
        to: usize,
        has_reindented_twin: impl Fn(usize) -> bool,
    ) -> Option<u64> {
        let now = self.block_of_diffs(from, to, has_reindented_twin)?;
        let is_alone = to - from == 1 && !self.has_neighbour(from, to, now as usize);
        let says_enough =
            || letters_in(self.line(from), ENOUGH_LETTERS_ALONE) == ENOUGH_LETTERS_ALONE;
        (!is_alone || says_enough()).then_some(now)
    }

    fn block_of_diffs(
        &self,
        from: usize,
        to: usize,
        has_reindented_twin: impl Fn(usize) -> bool,
    ) -> Option<u64> {
        if let Some(now) = contiguous(&self.by_all, from, to)
            && self.is_unique_run(from, to, &has_reindented_twin)
        {
            return Some(now);
        }
        let now = contiguous(&self.by_two, from, to)?;
        (from..to).any(|at| self.is_unique_line(at, &has_reindented_twin)).then_some(now)
    }

    /// Whether a line next to a block that is now at `now` is kept next to it, or both texts begin
    /// or end there.
    fn has_neighbour(&self, from: usize, to: usize, now: usize) -> bool {
        let end = now + (to - from);
        let above = match (from.checked_sub(1), now.checked_sub(1)) {
            (Some(above), Some(now)) => self.kept(above) == Some(now),
            (above, now) => above.is_none() && now.is_none(),
        };
        let is_last = to == self.old.len() && end == self.new.len();
        above || is_last || self.kept(to) == Some(end)
    }

    /// The number of letters and digits of an old line, at most [`ENOUGH_LETTERS`].
    fn letters(&self, at: usize) -> usize {
        letters_in(self.line(at), ENOUGH_LETTERS).into()
    }

    /// Whether an old line is unique in each text, has enough letters and no re-indented twin.
    fn is_unique_line(&self, at: usize, has_reindented_twin: impl Fn(usize) -> bool) -> bool {
        self.unique_kinds[self.old[at].0 as usize]
            && is_enough(self.letters(at))
            && !has_reindented_twin(at)
    }

    /// Whether the run of kept lines around a block is unique in each text.
    fn is_unique_run(
        &self,
        from: usize,
        to: usize,
        has_reindented_twin: impl Fn(usize) -> bool,
    ) -> bool {
        let follows = |one: usize| {
            let (above, below) = (self.by_all[one], self.by_all[one + 1]);
            above != NONE && below == above + 1
        };
        let above = (0..from).rev().take_while(|&one| follows(one)).count();
        let below = (to..self.old.len()).take_while(|&one| follows(one - 1)).count();
        let (from, to) = (from - above, to + below);
        if let Some(&known) = self.unique_runs.borrow().get(&(from, to)) {
            return known;
        }
        let run = &self.old[from..to];
        let says_enough = || is_enough((from..to).map(|at| self.letters(at)).sum());
        let is_once = (from..to).any(|at| self.is_unique_line(at, &has_reindented_twin))
            || (says_enough()
                && !(from..to).any(&has_reindented_twin)
                && occurs_once(&self.old, run)
                && occurs_once(&self.new, run));
        self.unique_runs.borrow_mut().insert((from, to), is_once);
        is_once
    }
}

/// The tokens of a new text that mostly equals the older one. After each line that is found in the
/// older text, the common part is copied; only lines that differ are interned.
fn intern_new_lines<'a>(
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
    let (mut next, mut rest, mut next_check) = (0, new, 0);
    while let Some(line) = Lines::new(rest, Unit::Byte).next() {
        if tokens.len() >= next_check {
            cancel.check().ok()?;
            next_check = tokens.len() + PIECE_LINES;
        }
        let from = older.starts[next];
        let end = from + common_prefix(&older.text[from..], rest);
        // A line without a newline may be longer in the other text.
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

/// The number of letters and digits of a line, at most `limit`. Each byte outside ASCII counts as
/// one.
fn letters_in(line: &[u8], limit: u8) -> u8 {
    let letters = line.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    letters.take(limit.into()).count() as u8
}

/// The letters and digits of a line.
fn letters_of(line: &[u8]) -> Vec<u8> {
    let letters = line.iter().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    letters.copied().collect()
}

/// Whether this number of letters and digits is enough.
fn is_enough(letters: usize) -> bool {
    letters >= usize::from(ENOUGH_LETTERS)
}

/// Whether a line has enough letters and digits to be recognized by its text.
pub fn says_enough(line: &[u8]) -> bool {
    is_enough(letters_in(line, ENOUGH_LETTERS).into())
}

/// The new number of the first of some lines, if a map keeps them adjacent.
fn contiguous(map: &[u32], from: usize, to: usize) -> Option<u64> {
    let now = map[from];
    let is_kept = now != NONE && map[from..to].iter().zip(now..).all(|(&one, now)| one == now);
    is_kept.then_some(u64::from(now))
}

/// Whether lines occur in a text exactly once. Uses Knuth–Morris–Pratt: in repetitive texts a naive
/// search is quadratic.
fn occurs_once(text: &[Token], lines: &[Token]) -> bool {
    // For each prefix, the length of its longest proper suffix that is also a prefix.
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

#[cfg(test)]
mod tests;
