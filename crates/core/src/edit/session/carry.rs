//! Where the lines of one text are in another one that somebody made of it.
//!
//! No diff can know that: it finds a shortest, or a likely, way from one text to the other, and
//! where lines repeat there are several. So three of them are asked, which choose differently
//! where there is a choice: Myers from the front, Myers from the back, and histogram (which
//! starts from the rarest lines). A line counts as *kept* only where all three agree.

use std::collections::HashMap;

use imara_diff::{Algorithm, Diff, Interner, Token};

use super::body::Body;

/// Of texts that differ in more lines than this no line between the first and the last
/// difference is carried: the work stays bounded, and the answer is a refusal.
const MAX_DIFFERENT_LINES: usize = 400_000;

/// In the place of a line that is not kept.
const NONE: u32 = u32::MAX;

/// Where the lines of an older text are in a newer one.
pub struct Carry<'a> {
    old: Body<'a>,
    new: Body<'a>,
    /// So many lines at the start are the same.
    prefix: u64,
    /// So many at the end are.
    suffix: u64,
    /// The line in the newer text of each line between, counted from 0 and from `prefix`.
    middle: Vec<u32>,
    /// How often a line that was asked for is in both texts.
    lone: HashMap<u64, bool>,
}

impl<'a> Carry<'a> {
    /// Compares two texts.
    pub fn new(old: Body<'a>, new: Body<'a>) -> Self {
        let (prefix, suffix) = common_ends(&old, &new);
        let between = |body: &Body<'a>| {
            let count = (body.count() - prefix - suffix) as usize;
            let lines = body.index.from_line(body.text, prefix + 1).into_iter().flatten();
            let text = body.text;
            lines.take(count).map(move |span| span.text(text)).collect::<Vec<_>>()
        };
        let (above, below) = (between(&old), between(&new));
        let middle = if above.len() + below.len() > MAX_DIFFERENT_LINES {
            vec![NONE; above.len()]
        } else {
            agreed(&above, &below)
        };
        Carry { old, new, prefix, suffix, middle, lone: HashMap::new() }
    }

    /// The line that `line` is now, if it is kept.
    pub fn kept(&self, line: u64) -> Option<u64> {
        let (old, new) = (self.old.count(), self.new.count());
        if line == 0 || line > old {
            return None;
        }
        if line <= self.prefix {
            return Some(line);
        }
        if line > old - self.suffix {
            return Some(line + new - old);
        }
        let found = self.middle[(line - self.prefix - 1) as usize];
        (found != NONE).then(|| self.prefix + 1 + u64::from(found))
    }

    /// Where the lines from `first` to `last` are now, all of them and together.
    pub fn block(&mut self, first: u64, last: u64) -> Option<u64> {
        let now = self.kept(first)?;
        if (first..=last).any(|line| self.kept(line) != Some(now + (line - first))) {
            return None;
        }
        if self.is_same() {
            return Some(now);
        }
        let above = self.is_kept_above(first, now);
        let below = self.is_kept_below(last, now + (last - first));
        let is_safe = (above && below) || (first..=last).any(|line| self.is_lone(line));
        is_safe.then_some(now)
    }

    /// Where the gap behind a line is now: what the line above it is, and the line below.
    pub fn gap(&mut self, above: u64) -> Option<u64> {
        let now = if above == 0 { 0 } else { self.kept(above)? };
        let is_kept = self.is_kept_below(above, now);
        is_kept.then_some(now)
    }

    fn is_same(&self) -> bool {
        self.prefix == self.old.count() && self.prefix == self.new.count()
    }

    /// Whether what stands above line `first` still does: the line, or the start of the text.
    fn is_kept_above(&self, first: u64, now: u64) -> bool {
        if first == 1 || now == 1 {
            return first == now;
        }
        self.kept(first - 1) == Some(now - 1)
    }

    /// Whether what stands below line `last` still does: the line, or the end of the text.
    fn is_kept_below(&self, last: u64, now: u64) -> bool {
        let (old, new) = (self.old.count(), self.new.count());
        if last == old || now == new {
            return last == old && now == new;
        }
        self.kept(last + 1) == Some(now + 1)
    }

    /// Whether a line stands in each of the two texts once.
    fn is_lone(&mut self, line: u64) -> bool {
        let (old, new) = (self.old, self.new);
        *self.lone.entry(line).or_insert_with(|| {
            old.line(line).is_some_and(|text| is_once(&old, text) && is_once(&new, text))
        })
    }
}

/// Whether exactly one line of a text is `line`.
fn is_once(body: &Body<'_>, line: &[u8]) -> bool {
    body.lines().filter(|one| *one == line).take(2).count() == 1
}

/// How many lines at the start and at the end of two texts are the same in each way of counting
/// them. Where both reach for the same lines those belong to neither.
fn common_ends(old: &Body<'_>, new: &Body<'_>) -> (u64, u64) {
    let shorter = old.count().min(new.count());
    let prefix = old.lines().zip(new.lines()).take_while(|(one, other)| one == other).count();
    let prefix = prefix as u64;
    if prefix == shorter && old.count() == new.count() {
        return (prefix, 0);
    }
    let suffix = lines_backwards(old.text).zip(lines_backwards(new.text));
    let suffix = suffix.take_while(|(one, other)| one == other).count() as u64;
    if prefix + suffix <= shorter { (prefix, suffix) } else { (shorter - suffix, shorter - prefix) }
}

/// The lines of a text from the last to the first, without terminators.
fn lines_backwards(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text.strip_suffix(b"\n").unwrap_or(text)).filter(|_| !text.is_empty());
    // A last line without line feed may end in a carriage return that is its own.
    let mut is_open = !text.ends_with(b"\n");
    std::iter::from_fn(move || {
        let text = rest?;
        let start = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
        rest = (start > 0).then(|| &text[..start - 1]);
        let line = &text[start..];
        let line = if is_open { line } else { line.strip_suffix(b"\r").unwrap_or(line) };
        is_open = false;
        Some(line)
    })
}

/// For each line of `old` the line of `new` that it is by all three diffs.
fn agreed(old: &[&[u8]], new: &[&[u8]]) -> Vec<u32> {
    let mut lines = Interner::<&[u8]>::new(old.len() + new.len());
    let mut old: Vec<Token> = old.iter().map(|line| lines.intern(*line)).collect();
    let mut new: Vec<Token> = new.iter().map(|line| lines.intern(*line)).collect();
    let kinds = lines.num_tokens();
    let mut kept = mapped(Algorithm::Myers, &old, &new, kinds);
    retain_same(&mut kept, &mapped(Algorithm::Histogram, &old, &new, kinds));
    old.reverse();
    new.reverse();
    let mut backwards = mapped(Algorithm::Myers, &old, &new, kinds);
    backwards.reverse();
    for found in backwards.iter_mut().filter(|found| **found != NONE) {
        *found = new.len() as u32 - 1 - *found;
    }
    retain_same(&mut kept, &backwards);
    kept
}

fn retain_same(kept: &mut [u32], other: &[u32]) {
    for (one, other) in kept.iter_mut().zip(other) {
        if one != other {
            *one = NONE;
        }
    }
}

/// For each line of `old` the line of `new` that it is by one diff.
fn mapped(algorithm: Algorithm, old: &[Token], new: &[Token], kinds: u32) -> Vec<u32> {
    let mut diff = Diff::default();
    diff.compute_with(algorithm, old, new, kinds);
    let mut map = vec![NONE; old.len()];
    let (mut at, mut to) = (0, 0);
    let end = old.len() as u32;
    let hunks = diff.hunks().map(|hunk| (hunk.before, hunk.after));
    for (before, after) in hunks.chain([(end..end, 0..0)]) {
        for line in at..before.start {
            map[line as usize] = to + (line - at);
        }
        (at, to) = (before.end, after.end);
    }
    map
}
