//! Which lines were shown, and which parts of lines.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::lines::LineSet;
use super::track::Track;
use super::versions::Moment;

/// The most separate parts of one line that are remembered. Further parts count as not shown.
const MAX_PARTS: usize = 64;

/// The maximum length of a line.
const MAX_LINE_BYTES: u64 = 1 << 40;

/// A part of a line that was shown, in bytes of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPart {
    /// The number of the line.
    pub line: u64,
    /// The length of the line in bytes.
    pub of: u64,
    /// The first byte that was shown.
    pub from: u64,
    /// One past the last byte that was shown.
    pub to: u64,
}

impl ShownPart {
    /// A part of a line.
    pub fn new(line: u64, bytes: &Range<usize>, of: usize) -> ShownPart {
        ShownPart { line, of: of as u64, from: bytes.start as u64, to: bytes.end as u64 }
    }

    fn is_valid(&self) -> bool {
        self.from <= self.to && self.to <= self.of && self.of <= MAX_LINE_BYTES
    }
}

/// Lines that an answer showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownLines {
    /// The lines.
    pub lines: LineSet,
    /// The shown parts of the lines that were not shown whole.
    pub parts: Vec<ShownPart>,
    /// The lines whose rows named the version.
    pub versioned: LineSet,
}

impl From<LineSet> for ShownLines {
    fn from(lines: LineSet) -> ShownLines {
        ShownLines { lines, ..ShownLines::default() }
    }
}

impl ShownLines {
    /// Adds whole lines.
    pub fn extend(&mut self, whole: &LineSet) {
        self.parts.retain(|part| !whole.contains(part.line));
        self.lines.extend(whole);
    }

    /// The lines that were shown whole.
    pub fn whole(&self) -> LineSet {
        let parts = self.parts.iter().map(|part| part.line..part.line + 1);
        self.lines.without(&parts.collect())
    }

    /// Removes the lines that are not in `others`.
    #[must_use]
    pub fn common(mut self, others: &LineSet) -> ShownLines {
        self.lines = self.lines.common(others);
        self.parts.retain(|part| self.lines.contains(part.line));
        self.versioned = self.versioned.common(others);
        self
    }
}

/// Whether a text of `count` lines can have these lines and parts.
pub(super) fn fit(lines: &LineSet, parts: &[ShownPart], count: u64) -> bool {
    let is_valid = |part: &ShownPart| part.is_valid() && lines.contains(part.line);
    lines.fits(count) && parts.iter().all(is_valid)
}

/// The parts of one line that the model knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenParts {
    /// The length of the line in bytes.
    pub line_bytes: u64,
    /// The bytes that were shown.
    pub seen: LineSet,
}

impl SeenParts {
    fn is_whole(&self) -> bool {
        self.seen.missing(0..self.line_bytes).is_empty()
    }

    /// The first bytes that were not shown.
    pub fn first_unseen(&self) -> Option<Range<u64>> {
        self.seen.missing(0..self.line_bytes).into_iter().next()
    }

    /// How many bytes were shown.
    pub fn seen_bytes(&self) -> u64 {
        self.seen.count()
    }
}

/// What a model knows of the lines of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// The lines that it knows whole or in part.
    pub lines: LineSet,
    /// The known parts of the lines that it does not know whole.
    partly: BTreeMap<u64, SeenParts>,
}

impl From<LineSet> for Knowledge {
    fn from(lines: LineSet) -> Knowledge {
        Knowledge { lines, partly: BTreeMap::new() }
    }
}

impl Knowledge {
    /// Adds what another view shows of the same text.
    pub fn add(&mut self, other: &Knowledge) {
        let knows_whole = |one: &Knowledge, line: u64| {
            one.lines.contains(line) && !one.partly.contains_key(&line)
        };
        self.partly.retain(|&line, _| !knows_whole(other, line));
        for (&line, parts) in &other.partly {
            if knows_whole(self, line) {
                continue;
            }
            let known = self.partly.entry(line).or_insert_with(|| parts.clone());
            known.seen.extend(&parts.seen);
            if known.is_whole() {
                self.partly.remove(&line);
            }
        }
        self.lines.extend(&other.lines);
    }

    /// The lines that still exist, with their current numbers.
    #[must_use]
    pub fn tracked(&self, track: &Track) -> Knowledge {
        let partly = self.partly.iter().filter_map(|(&line, parts)| {
            let now = track.line(line)?;
            Some((now, parts.clone()))
        });
        Knowledge { lines: track.set(&self.lines), partly: partly.collect() }
    }

    /// The lines of a range that are known in part.
    pub fn partly(&self, lines: Range<u64>) -> impl Iterator<Item = (u64, &SeenParts)> {
        let range = if lines.is_empty() { 0..0 } else { lines };
        self.partly.range(range).map(|(&line, parts)| (line, parts))
    }

    /// The lines that are known whole.
    pub fn whole(&self) -> LineSet {
        let partly = self.partly.keys().map(|&line| line..line + 1);
        self.lines.without(&partly.collect())
    }
}

/// The shown parts of one line. Waiting calls cannot mean the parts in `late`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PartsOfLine {
    of: u64,
    seen: LineSet,
    #[serde(skip)]
    late: Vec<(Moment, Range<u64>)>,
}

impl PartsOfLine {
    /// Adds a part. `oldest` is the moment of the oldest waiting call.
    fn add(&mut self, part: Range<u64>, now: Moment, oldest: Option<Moment>) {
        if oldest.is_some() {
            if self.late.len() < MAX_PARTS {
                self.late.push((now, part));
            }
            return;
        }
        let mut seen = self.seen.clone();
        seen.insert(part);
        if seen.ranges().len() <= MAX_PARTS {
            self.seen = seen;
        }
    }

    /// Merges late parts that every waiting call can mean.
    fn merge_late(&mut self, oldest: Option<Moment>) {
        for (moment, part) in std::mem::take(&mut self.late) {
            if oldest.is_some_and(|oldest| moment > oldest) {
                self.late.push((moment, part));
            } else {
                self.add(part, moment, None);
            }
        }
    }

    fn seen_as_of(&self, as_of: Option<Moment>) -> SeenParts {
        let mut seen = self.seen.clone();
        let meant =
            self.late.iter().filter(|(moment, _)| as_of.is_none_or(|as_of| *moment <= as_of));
        meant.for_each(|(_, part)| seen.insert(part.clone()));
        SeenParts { line_bytes: self.of, seen }
    }

    /// Whether every call knows the whole line.
    fn is_whole(&self) -> bool {
        self.seen.missing(0..self.of).is_empty()
    }
}

/// The lines of a view that were shown in part, by number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Parts(BTreeMap<u64, PartsOfLine>);

impl Parts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds what an answer shows. `before` are the lines that were already shown. `oldest` is the
    /// moment of the oldest waiting call if a waiting call can mean the view.
    pub(super) fn show(
        &mut self,
        before: &LineSet,
        shown: &ShownLines,
        now: Moment,
        oldest: Option<Moment>,
    ) {
        let in_part: LineSet = shown.parts.iter().map(|part| part.line..part.line + 1).collect();
        for (&line, parts) in &mut self.0 {
            parts.merge_late(oldest);
            if shown.lines.contains(line) && !in_part.contains(line) {
                parts.add(0..parts.of, now, oldest);
            }
        }
        for &ShownPart { line, of, from, to } in &shown.parts {
            let is_whole = before.contains(line) && !self.0.contains_key(&line);
            if !is_whole {
                let new = || PartsOfLine { of, seen: LineSet::default(), late: Vec::new() };
                self.0.entry(line).or_insert_with(new).add(from..to, now, oldest);
            }
        }
        self.0.retain(|_, parts| !parts.is_whole());
    }

    /// The parts of two views of one text, each given with its shown lines.
    pub(super) fn union(one: (&LineSet, &Parts), other: (&LineSet, &Parts)) -> Parts {
        let mut both = BTreeMap::new();
        for ((_, parts), (shown, others)) in [(one, other), (other, one)] {
            for (&line, parts) in &parts.0 {
                match others.0.get(&line) {
                    None if shown.contains(line) => {}
                    None => drop(both.insert(line, parts.clone())),
                    Some(others) => {
                        let mut parts = parts.clone();
                        parts.seen.extend(&others.seen);
                        parts.late.extend(others.late.iter().cloned());
                        both.insert(line, parts);
                    }
                }
            }
        }
        both.retain(|_, parts| !parts.is_whole());
        Parts(both)
    }

    /// What a call made at `as_of` can know of `lines`.
    pub(super) fn knowledge(&self, lines: LineSet, as_of: Option<Moment>) -> Knowledge {
        let partly = self.0.iter().filter(|(line, _)| lines.contains(**line));
        let partly = partly.map(|(&line, parts)| (line, parts.seen_as_of(as_of)));
        let partly = partly.filter(|(_, parts)| !parts.is_whole()).collect();
        Knowledge { lines, partly }
    }

    /// The moments of the late parts.
    pub(super) fn moments_mut(&mut self) -> impl Iterator<Item = &mut Moment> {
        self.0.values_mut().flat_map(|parts| parts.late.iter_mut().map(|(moment, _)| moment))
    }

    pub(super) fn bytes(&self) -> usize {
        let parts = self.0.values().map(|parts| {
            size_of::<PartsOfLine>()
                + size_of_val(parts.seen.ranges())
                + size_of_val(parts.late.as_slice())
                + size_of::<u64>()
        });
        parts.sum()
    }

    /// Whether all are parts of shown lines, within the length of the line.
    pub(super) fn is_valid(&self, shown: &LineSet) -> bool {
        self.0.iter().all(|(&line, parts)| {
            let end = parts.seen.ranges().last().map_or(0, |last| last.end);
            shown.contains(line) && end <= parts.of && parts.of <= MAX_LINE_BYTES
        })
    }
}
