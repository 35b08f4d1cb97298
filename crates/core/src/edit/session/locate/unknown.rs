//! Which lines the model does not know, for an operation that would remove more lines than it
//! names.

use std::ops::Range;

use super::{Known, Located, Locator, PartlyShown};
use hashline_memory::{Knowledge, LineSet};

/// Lines of the current text that the model does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnknownLines {
    /// Lines that were never shown.
    pub unseen: LineSet,
    /// Lines that another process changed since they were shown, or next to which it removed lines.
    pub changed: LineSet,
}

impl UnknownLines {
    /// Lines that were never shown.
    pub fn unseen(unseen: LineSet) -> UnknownLines {
        UnknownLines { unseen, ..UnknownLines::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.unseen.is_empty() && self.changed.is_empty()
    }

    /// All of them.
    pub fn all(&self) -> LineSet {
        let mut all = self.unseen.clone();
        all.extend(&self.changed);
        all
    }
}

/// Maps a range of current lines to their numbers in an older text.
struct OldNumbers {
    first: u64,
    from: Vec<Option<u64>>,
}

impl OldNumbers {
    fn from(&self, line: u64) -> Option<u64> {
        *self.from.get(line.checked_sub(self.first)? as usize)?
    }

    /// Whether a line was shown and is unchanged, and no line next to it was removed.
    fn as_shown(&self, line: u64, shown: &LineSet) -> bool {
        self.from(line).is_some_and(|from| shown.contains(from)) && !self.is_changed(line)
    }

    /// Whether a line is new, or lines next to it were removed.
    fn is_changed(&self, line: u64) -> bool {
        let Some(from) = self.from(line) else { return true };
        let meets = |near: Option<u64>, from: u64| near.is_none_or(|near| near == from);
        !(meets(self.from(line - 1), from - 1) && meets(self.from(line + 1), from + 1))
    }

    fn changed(&self) -> LineSet {
        let lines = self.first..self.first + self.from.len() as u64;
        lines.filter(|&line| self.is_changed(line)).map(|line| line..line + 1).collect()
    }
}

/// The lines of a range that the model knows only in part, by their current numbers.
fn partly_by(known: &Knowledge, lines: Range<u64>, now: impl Fn(u64) -> u64) -> Vec<PartlyShown> {
    let partly = known.partly(lines);
    partly.map(|(line, parts)| PartlyShown { line: now(line), parts: parts.clone() }).collect()
}

impl Locator<'_> {
    /// The lines from `first` to `last` of the current text, around a located line, that the model
    /// does not know, and those that it knows only in part. It knows what it was shown of the
    /// current text, and what is unchanged since an older text was shown.
    pub(super) fn unknown_around(
        &mut self,
        located: &Located,
        first: u64,
        last: u64,
    ) -> (UnknownLines, Vec<PartlyShown>) {
        let mut known = match self.current_lineage() {
            Some(at) => self.known(at).clone(),
            None => Knowledge::default(),
        };
        if let Known::Shown(shown) = &located.known {
            known.add(shown);
        }
        let line = located.block.first;
        let mut partly = partly_by(&known, first..last + 1, |line| line);
        if !known.lines.contains(line) {
            partly.extend(self.partly(located, located.tip.first..located.tip.first + 1));
            known.lines.insert(line..line + 1);
        }
        let mut left = LineSet::of(first, last).without(&known.lines);
        let mut changed = None;
        let lineages = self.file.map_or(0, |file| file.lineages.len());
        for at in (0..lineages).rev() {
            if left.is_empty() || self.lineage(at).tip == self.current.hash {
                continue;
            }
            let Some(kept) = self.old_numbers(at, first, last) else { continue };
            let known = self.known(at);
            let found = (first..=last)
                .filter(|&line| left.contains(line) && kept.as_shown(line, &known.lines));
            for (line, from) in found.clone().filter_map(|line| Some((line, kept.from(line)?))) {
                partly.extend(partly_by(known, from..from + 1, |_| line));
            }
            left = left.without(&found.map(|line| line..line + 1).collect());
            // Compared with the last version that was shown.
            changed.get_or_insert_with(|| kept.changed());
        }
        let changed = changed.unwrap_or_default().common(&left);
        (UnknownLines { unseen: left.without(&changed), changed }, partly)
    }

    /// The numbers, in the tip of a lineage, of the lines from `first` to `last` of the current
    /// text.
    fn old_numbers(&mut self, at: usize, first: u64, last: u64) -> Option<OldNumbers> {
        let tip = self.lineage(at).tip;
        let count = self.body(tip)?.count();
        let carry = self.carry_between(tip, self.current.hash).ok()?;
        let mut from = vec![None; usize::try_from(last + 1 - first).ok()?];
        for line in 1..=count {
            if let Some(now) = carry.kept(line).filter(|now| (first..=last).contains(now)) {
                from[(now - first) as usize] = Some(line);
            }
        }
        Some(OldNumbers { first, from })
    }
}
