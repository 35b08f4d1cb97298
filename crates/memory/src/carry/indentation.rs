//! How another process re-indented lines, and the same re-indentation of a text that was written
//! for the old lines.
//!
//! Two changes are recognized. A formatter changes the unit of indentation, for example from four
//! spaces to a tab. Or a block is nested more or less deeply: all of its lines gain or lose leading
//! whitespace. The change that explains all lines of an operation is assumed; if both changes do,
//! the change that explains more of the lines around them. A line of the new text that has the old
//! indentation of a compared line, and is an item of a list as that is, gets the new indentation of
//! that line, whatever the change.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::ops::Range;

use super::Comparison;

/// The most kept lines above an operation, and below it, that are compared.
const NEAR_LINES: usize = 60;

/// How far these lines can be from the operation.
const NEAR_DISTANCE_LINES: usize = 400;

/// The most lines of an operation that are compared one by one.
const BLOCK_LINES: usize = 2_000;

/// The most lines of an operation whose parents are compared.
const NESTED_LINES: usize = 200;

/// The most spaces of one unit.
const UNIT_LIMIT: usize = 8;

/// The most different indentations of the lines of an operation; more are not uniform.
const BLOCK_PAIRS: usize = 256;

/// The indentation of a line before and after.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pair {
    old: String,
    new: String,
    is_item: bool,
}

impl Pair {
    fn place(&self) -> Place<'_> {
        (&self.old, self.is_item)
    }
}

/// The indentation of a line, and whether it is an item of a list: formatters of YAML and Markdown
/// indent items and other lines by different widths.
type Place<'a> = (&'a str, bool);

fn place(line: &[u8]) -> Place<'_> {
    let text = line.trim_ascii();
    (indentation(line), text == b"-" || text.starts_with(b"- "))
}

/// A change of indentation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    /// Another unit.
    Units(Units),
    /// All lines gained this leading whitespace.
    Added(String),
    /// All lines lost this leading whitespace.
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

/// The units of indentation of two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Units {
    old: String,
    new: String,
}

impl Units {
    /// Estimates the units of two texts.
    pub(super) fn of(texts: &Comparison<'_>) -> Units {
        let old = unit((0..texts.old.len()).map(|at| texts.line(at)));
        let new = unit((0..texts.new.len()).map(|at| texts.new_line(at)));
        Units { old, new }
    }

    /// Replaces whole units. The rest aligns a line with another one: it is kept, but cut to less
    /// than a unit.
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

/// The most frequent unit of a text; ties go to the smaller one.
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
        // The lines of a block comment begin with a space and a star.
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

/// How another process re-indented the lines of an operation and those around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reindentation {
    /// The indentations of the lines of the operation that are not blank, without duplicates.
    block: Vec<Pair>,
    /// The change that explains all of them, if there is one.
    change: Option<Change>,
    /// The indentations of kept lines around them, nearest first.
    near: Vec<Pair>,
    /// Those of the lines around them up to the next line that is indented less.
    siblings: Vec<Pair>,
    /// The changed lines of the operation, before and after.
    lines: Vec<(String, String)>,
}

impl Reindentation {
    /// Compares old lines with the new lines from `now` on.
    pub(super) fn of(
        exact: &Comparison<'_>,
        trimmed: &Comparison<'_>,
        (lines, now): (Range<usize>, usize),
        units: &Units,
    ) -> Option<Reindentation> {
        let pair = |(at, now)| pair_of(exact, at, now);
        let mut seen = HashSet::new();
        let own = lines.clone().zip(now..).filter_map(pair);
        let block = own.filter(|found| seen.insert(found.clone())).take(BLOCK_PAIRS + 1);
        let block: Vec<Pair> = block.collect();
        let kept = |at: usize| Some((at, trimmed.kept(at)?));
        let start = lines.start.saturating_sub(NEAR_DISTANCE_LINES);
        let end = exact.old.len().min(lines.end + NEAR_DISTANCE_LINES);
        let above = (start..lines.start).rev().filter_map(kept).filter_map(pair).take(NEAR_LINES);
        let below = (lines.end..end).filter_map(kept).filter_map(pair).take(NEAR_LINES);
        let near: Vec<Pair> = alternately(above, below).collect();
        let depth = block.iter().map(|pair| pair.old.len()).min().unwrap_or_default();
        let is_within = |&at: &usize| {
            let line = exact.line(at);
            line.trim_ascii().is_empty() || indentation(line).len() >= depth
        };
        let above = (start..lines.start).rev().take_while(is_within);
        let below = (lines.end..end).take_while(is_within);
        let siblings = above.chain(below).filter_map(kept).filter_map(pair).collect();
        let changed = lines.clone().zip(now..).take(BLOCK_LINES).filter_map(|(at, now)| {
            let (old, new) = (exact.line(at), exact.new_line(now));
            (old != new).then(|| (text(old), text(new)))
        });
        let changed: Vec<_> = changed.collect();
        if changed.is_empty() && near.iter().all(|pair| pair.old == pair.new) {
            return None;
        }
        let change = change_of(&block, &near, units);
        Some(Reindentation { block, change, near, siblings, lines: changed })
    }

    /// Whether it is certain how each line of a text is indented now: one change explains all
    /// lines of the operation and around it, or the line is one of the operation's, or its
    /// indentation has one new form in the lines of the operation and their siblings, or if it has
    /// none there, in those around it. In a text in quotes, lines can keep the old indentation.
    pub fn covers(&self, lines: &[String]) -> bool {
        let pairs = || self.block.iter().chain(&self.near);
        if self.block.len() > BLOCK_PAIRS {
            return false;
        }
        if self.change.as_ref().is_some_and(|change| pairs().all(|pair| change.explains(pair))) {
            return true;
        }
        let known = self.known_lines();
        let own = indentations(&self.block);
        let (siblings, near) = (indentations(&self.siblings), indentations(&self.near));
        let mut texts = lines.iter().filter(|line| !line.trim().is_empty());
        texts.all(|line| {
            let at = place(line.as_bytes());
            match own.get(&at) {
                _ if known.get(line.as_str()).is_some_and(Option::is_some) => true,
                Some(Some(new)) => siblings.get(&at).is_none_or(|other| *other == Some(*new)),
                Some(None) => false,
                None => near.get(&at).is_some_and(Option::is_some),
            }
        })
    }

    /// The new forms of the changed lines of the operation.
    fn known_lines(&self) -> HashMap<&str, Option<&str>> {
        forms_of(self.lines.iter().map(|(old, new)| (old.as_str(), new.as_str())))
    }

    /// Re-indents lines that were written for the old indentation. A line that equals an old line
    /// becomes the new line.
    pub fn apply(&self, lines: &[String]) -> Vec<String> {
        let known = self.known_lines();
        let line = |line: &String| {
            if let Some(&Some(new)) = known.get(line.as_str()) {
                return new.to_owned();
            }
            if line.trim().is_empty() {
                return line.clone();
            }
            let at = place(line.as_bytes());
            let new = self.indentation(at).unwrap_or_else(|| at.0.to_owned());
            new + &line[at.0.len()..]
        };
        lines.iter().map(line).collect()
    }

    /// The new form of an indentation.
    fn indentation(&self, at: Place<'_>) -> Option<String> {
        let old = at.0;
        let pairs = || self.block.iter().take(BLOCK_PAIRS).chain(&self.near);
        let like = pairs().find(|pair| pair.place() == at);
        if let Some(pair) = like.or_else(|| pairs().find(|pair| pair.old == old)) {
            return Some(pair.new.clone());
        }
        if let Some(change) = &self.change {
            return change.apply(old);
        }
        let above = self.block.iter().rev().filter(|pair| old.starts_with(&pair.old));
        let above = above.max_by_key(|pair| pair.old.len())?;
        Some(format!("{}{}", above.new, &old[above.old.len()..]))
    }
}

/// The new form of each old one, if it has only one.
fn forms_of<'p, K: Eq + Hash>(
    pairs: impl Iterator<Item = (K, &'p str)>,
) -> HashMap<K, Option<&'p str>> {
    let mut forms: HashMap<K, Option<&str>> = HashMap::new();
    for (old, new) in pairs {
        let form = forms.entry(old).or_insert(Some(new));
        *form = form.filter(|form| *form == new);
    }
    forms
}

fn indentations(pairs: &[Pair]) -> HashMap<Place<'_>, Option<&str>> {
    forms_of(pairs.iter().map(|pair| (pair.place(), pair.new.as_str())))
}

/// The indentation of a line before and after; `None` for a blank line.
fn pair_of(exact: &Comparison<'_>, at: usize, now: usize) -> Option<Pair> {
    let (old, new) = (exact.line(at), exact.new_line(now));
    let (front, is_item) = place(old);
    let pair = || Pair { old: front.to_owned(), new: indentation(new).to_owned(), is_item };
    (!old.trim_ascii().is_empty()).then(pair)
}

/// How many blank lines are skipped to find the line next to a block.
const BLANK_LINES: usize = 3;

/// Whether a block kept its indentation, or one change explains its indentation and that of a kept
/// line next to it, or the block is nested as before between the kept lines above and below it.
pub(super) fn is_alike(
    exact: &Comparison<'_>,
    compared: &Comparison<'_>,
    (lines, now): (Range<usize>, usize),
    units: &Units,
) -> bool {
    let pair = |(at, now)| pair_of(exact, at, now);
    let block: Vec<Pair> = lines.clone().zip(now..).filter_map(pair).take(BLOCK_LINES).collect();
    if block.iter().all(|pair| pair.old == pair.new) {
        return true;
    }
    let end = now + lines.len();
    let above =
        (1..=BLANK_LINES + 1).map(|by| Some((lines.start.checked_sub(by)?, now.checked_sub(by)?)));
    let below = (0..=BLANK_LINES).map(|by| Some((lines.end + by, end + by)));
    let next = |places: &mut dyn Iterator<Item = Option<(usize, usize)>>| {
        let mut kept =
            places.map_while(|place| place.filter(|&(at, now)| compared.kept(at) == Some(now)));
        kept.find_map(pair)
    };
    let (above, below) = (next(&mut { above }), next(&mut { below }));
    let is_explained = |neighbour: &Pair| {
        let all: Vec<Pair> = block.iter().chain([neighbour]).cloned().collect();
        change_of(&all, &[], units).is_some()
    };
    if [&above, &below].into_iter().flatten().any(is_explained) {
        return true;
    }
    let is_first = (lines.start, now) == (0, 0);
    let is_last = (lines.end, end) == (exact.old.len(), exact.new.len());
    let all: Vec<&Pair> = above.iter().chain(&block).chain(&below).collect();
    lines.len() <= NESTED_LINES
        && (is_first || above.is_some())
        && (is_last || below.is_some())
        && all.windows(2).all(|pair| is_nested_as_before(pair[0], pair[1]))
        && has_same_parents(exact, compared, (lines, now))
}

/// Whether a line is still deeper, as deep, or less deep than the line above it. Formatters of YAML
/// indent items and mappings by different widths.
fn is_nested_as_before(above: &Pair, line: &Pair) -> bool {
    let are_spaces = |pair: &Pair| !pair.old.contains('\t') && !pair.new.contains('\t');
    are_spaces(above)
        && are_spaces(line)
        && above.old.len().cmp(&line.old.len()) == above.new.len().cmp(&line.new.len())
}

/// Whether the parent of each line of a block, the next line above that is indented less, is still
/// the same: below the end of two nested blocks, a line can move into the outer one.
fn has_same_parents(
    exact: &Comparison<'_>,
    compared: &Comparison<'_>,
    (lines, now): (Range<usize>, usize),
) -> bool {
    lines.clone().zip(now..).all(|(at, now_at)| {
        let old = parent(|line| exact.line(line), at);
        let new = parent(|line| exact.new_line(line), now_at);
        match (old, new) {
            (Ok(None), Ok(None)) => true,
            (Ok(Some(old)), Ok(Some(new))) if lines.contains(&old) => {
                old - lines.start == new.wrapping_sub(now)
            }
            (Ok(Some(old)), Ok(Some(new))) => compared.kept(old) == Some(new),
            _ => false,
        }
    })
}

/// A parent is too far away.
struct IsFar;

fn parent<'t>(text: impl Fn(usize) -> &'t [u8], at: usize) -> Result<Option<usize>, IsFar> {
    let depth = indentation(text(at)).len();
    if depth == 0 {
        return Ok(None);
    }
    let first = at.saturating_sub(NEAR_DISTANCE_LINES);
    let is_parent = |&line: &usize| {
        !text(line).trim_ascii().is_empty() && indentation(text(line)).len() < depth
    };
    match (first..at).rev().find(is_parent) {
        None if first > 0 => Err(IsFar),
        found => Ok(found),
    }
}

/// The change that explains all lines of an operation; if both do, the one that explains more of
/// the lines around it.
fn change_of(block: &[Pair], near: &[Pair], units: &Units) -> Option<Change> {
    let shift = block.first().or_else(|| near.first()).and_then(|Pair { old, new, .. }| {
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
