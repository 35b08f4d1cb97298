//! How lines that others re-indented are indented now, and a text that was written for the old
//! indentation indented in the same way.
//!
//! Two things are done to indentation. Formatters indent each block by another unit: a tab instead
//! of four spaces. And a block is put into another one, or taken out: all of its lines have more
//! whitespace in front, or less. What explains all lines of an operation was done to them; if both
//! do, what explains more of the lines around them.

use std::collections::HashMap;
use std::ops::Range;

use super::Comparison;

/// How many kept lines above an operation, and below it, are compared.
const NEAR_LINES: usize = 60;

/// How far away these are at most.
const NEAR_DISTANCE_LINES: usize = 400;

/// At most this many lines of an operation are compared one by one.
const BLOCK_LINES: usize = 2_000;

/// The widest indentation by spaces that is taken for one step.
const UNIT_LIMIT: usize = 8;

/// The indentation of a line before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair {
    old: String,
    new: String,
}

/// What was done to indentation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    /// Another unit for each step.
    Units(Units),
    /// Whitespace in front of all lines.
    Added(String),
    /// Less whitespace in front of all lines.
    Removed(String),
}

impl Change {
    fn apply(&self, indentation: &str) -> Option<String> {
        match self {
            Change::Units(units) => units.apply(indentation),
            Change::Added(front) => Some(format!("{front}{indentation}")),
            Change::Removed(front) => indentation.strip_prefix(front.as_str()).map(str::to_owned),
        }
    }

    fn explains(&self, pair: &Pair) -> bool {
        self.apply(&pair.old).as_ref() == Some(&pair.new)
    }
}

/// By what two texts indent one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Units {
    old: String,
    new: String,
}

impl Units {
    /// Those of two texts.
    pub(super) fn of(texts: &Comparison<'_>) -> Units {
        let old = unit((0..texts.old.len()).map(|at| texts.line(at)));
        let new = unit((0..texts.new.len()).map(|at| texts.new_line(at)));
        Units { old, new }
    }

    /// Whole steps become steps. What is left over aligns a line with another one: it stays, but
    /// is less than a step.
    fn apply(&self, indentation: &str) -> Option<String> {
        if self.old == self.new {
            return Some(indentation.to_owned());
        }
        let mut rest = indentation;
        let mut new = String::new();
        while let Some(after) = rest.strip_prefix(self.old.as_str()) {
            rest = after;
            new += &self.new;
        }
        if rest.contains('\t') {
            return None;
        }
        let is_tab = self.old == "\t" || self.new == "\t";
        new += if is_tab { rest } else { &rest[..rest.len().min(self.new.len() - 1)] };
        Some(new)
    }
}

/// The step by which the lines of a text are indented most often; ties go to the smaller one.
fn unit<'a>(lines: impl Iterator<Item = &'a [u8]>) -> String {
    let (mut tabs, mut spaces, mut above) = (0, 0, 0);
    let mut steps = [0; UNIT_LIMIT + 1];
    for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
        let indentation = indentation(line);
        if indentation.starts_with('\t') {
            tabs += 1;
            above = 0;
            continue;
        }
        let width = indentation.len();
        // A comment of several lines begins each with a space and a star.
        if width == 1 {
            continue;
        }
        spaces += usize::from(width > 0);
        if let Some(step @ 1..=UNIT_LIMIT) = width.checked_sub(above) {
            steps[step] += 1;
        }
        above = width;
    }
    if tabs > spaces {
        return "\t".to_owned();
    }
    let widest = (1..=UNIT_LIMIT).max_by_key(|&step| (steps[step], UNIT_LIMIT - step));
    " ".repeat(widest.filter(|&step| steps[step] > 0).unwrap_or(UNIT_LIMIT))
}

/// The whitespace at the start of a line.
fn indentation(line: &[u8]) -> &str {
    let end = line.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
    std::str::from_utf8(&line[..end]).unwrap_or_default()
}

/// How others indented the lines of an operation, and those around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reindentation {
    /// The lines of the operation that are not blank, each indentation once.
    block: Vec<Pair>,
    /// The change that explains all of them, if there is one.
    change: Option<Change>,
    /// The lines around them that are kept, the nearest first.
    near: Vec<Pair>,
    /// The lines of the operation that are not as they were, as they were and as they are.
    lines: Vec<(String, String)>,
}

impl Reindentation {
    /// That of old lines which are at a place of the new text.
    pub(super) fn of(
        exact: &Comparison<'_>,
        trimmed: &Comparison<'_>,
        (lines, now): (Range<usize>, usize),
        units: &Units,
    ) -> Option<Reindentation> {
        let pair = |(at, now): (usize, usize)| {
            let (old, new) = (exact.line(at), exact.new_line(now));
            (!old.trim_ascii().is_empty()).then(|| Pair {
                old: indentation(old).to_owned(),
                new: indentation(new).to_owned(),
            })
        };
        let mut block: Vec<Pair> = Vec::new();
        for found in lines.clone().zip(now..).filter_map(pair) {
            if !block.contains(&found) {
                block.push(found);
            }
        }
        let kept = |at: usize| Some((at, trimmed.kept(at)?));
        let start = lines.start.saturating_sub(NEAR_DISTANCE_LINES);
        let end = exact.old.len().min(lines.end + NEAR_DISTANCE_LINES);
        let above = (start..lines.start).rev().filter_map(kept).filter_map(pair).take(NEAR_LINES);
        let below = (lines.end..end).filter_map(kept).filter_map(pair).take(NEAR_LINES);
        let near: Vec<Pair> = alternately(above, below).collect();
        let changed = lines.clone().zip(now..).take(BLOCK_LINES).filter_map(|(at, now)| {
            let (old, new) = (exact.line(at), exact.new_line(now));
            (old != new).then(|| (text(old), text(new)))
        });
        let changed: Vec<_> = changed.collect();
        if changed.is_empty() && near.iter().all(|pair| pair.old == pair.new) {
            return None;
        }
        let change = change_of(&block, &near, units);
        Some(Reindentation { block, change, near, lines: changed })
    }

    /// Whether all lines of the operation were re-indented in the same way.
    pub fn is_uniform(&self) -> bool {
        self.change.is_some()
    }

    /// Lines that were written for the old indentation, with the new one. A line that was not
    /// changed becomes what it is now.
    pub fn apply(&self, lines: &[String]) -> Vec<String> {
        let mut known: HashMap<&str, Option<&str>> = HashMap::new();
        for (old, new) in &self.lines {
            let known = known.entry(old).or_insert(Some(new));
            *known = known.filter(|known| known == new);
        }
        let line = |line: &String| {
            if let Some(&Some(new)) = known.get(line.as_str()) {
                return new.to_owned();
            }
            if line.trim().is_empty() {
                return line.clone();
            }
            let old = indentation(line.as_bytes());
            let new = self.indentation(old).unwrap_or_else(|| old.to_owned());
            new + &line[old.len()..]
        };
        lines.iter().map(line).collect()
    }

    /// What an indentation is now.
    fn indentation(&self, old: &str) -> Option<String> {
        if let Some(change) = &self.change {
            return change.apply(old);
        }
        let mut pairs = self.block.iter().chain(&self.near);
        if let Some(pair) = pairs.find(|pair| pair.old == old) {
            return Some(pair.new.clone());
        }
        let above = self.block.iter().rev().filter(|pair| old.starts_with(&pair.old));
        let above = above.max_by_key(|pair| pair.old.len())?;
        Some(format!("{}{}", above.new, &old[above.old.len()..]))
    }
}

/// The change that explains all lines of an operation; of several, the one that explains most of
/// the lines around it.
fn change_of(block: &[Pair], near: &[Pair], units: &Units) -> Option<Change> {
    let shift = block.first().or_else(|| near.first()).and_then(|Pair { old, new }| {
        let added = new.strip_suffix(old.as_str()).map(|front| Change::Added(front.to_owned()));
        added.or_else(|| Some(Change::Removed(old.strip_suffix(new.as_str())?.to_owned())))
    });
    let changes = [shift, Some(Change::Units(units.clone()))];
    let changes = changes.into_iter().flatten();
    let changes = changes.filter(|change| block.iter().all(|pair| change.explains(pair)));
    changes.max_by_key(|change| near.iter().filter(|pair| change.explains(pair)).count())
}

fn alternately<T>(
    one: impl Iterator<Item = T>,
    other: impl Iterator<Item = T>,
) -> impl Iterator<Item = T> {
    let (mut one, mut other) = (one.fuse(), other.fuse());
    let mut is_other = true;
    std::iter::from_fn(move || {
        is_other = !is_other;
        match is_other {
            true => other.next().or_else(|| one.next()),
            false => one.next().or_else(|| other.next()),
        }
    })
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}
