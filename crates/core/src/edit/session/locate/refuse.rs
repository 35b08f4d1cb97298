//! Why an operation is refused, with the data for its explanation.

use super::{Found, KnownView, Locator, PartlyShown, Placed, Target, UnknownLines};
use crate::edit::resolve::Spot;
use hashline_base::error::Code;
use hashline_lines::anchor::Anchor;
use hashline_lines::tag::Tag;
use hashline_memory::LineSet;

/// The most lines that a refusal shows as they were.
const MAX_SHOWN_LINES: u64 = 20;

/// How many lines above the first changed one are shown of a longer block.
const CHANGED_CONTEXT_LINES: u64 = 2;

/// How far from a line to search for its hash.
const NEIGHBOUR_LINES: u64 = 100;

/// A refused anchor: the first one if a range is refused as a whole.
#[derive(Clone, Debug)]
pub struct Refused<'o> {
    /// The anchor.
    pub anchor: &'o Anchor,
    /// The code.
    pub code: Code,
    /// The reason.
    pub reason: Reason,
    /// The lines of the target as they were shown. If there are more than 20, those around the
    /// first changed one.
    pub shown: Vec<ShownLine>,
    /// How many lines `shown` omits.
    pub omitted_lines: u64,
    /// The lines of the current text to read instead; empty (0, 0) if it has none.
    pub now: (u64, u64),
    /// Something that was shown of the file is forgotten, so lines may have been shown that count
    /// as unseen.
    pub forgotten: bool,
}

/// A line as it was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownLine {
    /// Its number at that time.
    pub number: u64,
    /// Its text.
    pub text: Vec<u8>,
}

/// Why an anchor is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// These lines of the current text were never shown, or not as they are: `NOT_SHOWN`.
    NotShown(UnknownLines),
    /// Only parts of these lines were shown, and the operation would replace them: `PARTLY_SHOWN`.
    PartlyShown {
        /// The lines, at least one.
        lines: Vec<PartlyShown>,
    },
    /// The line is past the end and was never shown: `LINE_OUT_OF_RANGE`.
    OutOfRange,
    /// What was shown is forgotten, and the file has changed since: `NOT_SHOWN`.
    Forgotten,
    /// The line was shown, but with another hash: `HASH_MISMATCH`.
    OtherHash {
        /// Lines of the shown text that have that hash (and hint), nearest first, at most 100 lines
        /// away.
        near: Vec<u64>,
        /// The text that was shown is the current one: the anchor is wrong, not stale.
        is_current: bool,
    },
    /// The line was shown with another hash, but the current line with this number has the hash of
    /// the anchor, because of own edits. Either can be meant: `HASH_MISMATCH`.
    RecomputedNumber {
        /// The current number of the line that was shown with the number, if that is certain.
        now: Option<u64>,
    },
    /// The line was shown with that hash, but does not match the hint: `HASH_MISMATCH`.
    OtherText,
    /// The session itself has replaced some of the lines, or inserted others between them:
    /// `HASH_MISMATCH`.
    OwnEdit,
    /// As above, and another process has changed the file after that: `HASH_MISMATCH`.
    OwnEditThenOthers,
    /// The session itself has moved the lines to another file: `HASH_MISMATCH`.
    MovedOut {
        /// The path of that file.
        to: String,
        /// The number of the first line there, when it was moved.
        first: u64,
        /// The number of the last line there.
        last: u64,
    },
    /// Another process has changed the lines, or too much around them to find their place:
    /// `HASH_MISMATCH`.
    Changed,
    /// Less than a tenth of the known lines is left: `HASH_MISMATCH`.
    Replaced,
    /// Another process has re-indented the lines, and the new text cannot be re-indented in the
    /// same way: `HASH_MISMATCH`.
    Reindented,
    /// The anchor names a version that is not the current one, and whose line was never shown:
    /// `HASH_MISMATCH`.
    OtherVersion {
        /// Other lines of that version were shown.
        is_known: bool,
    },
    /// Several texts showed a line with this number and hash, and these are different lines now:
    /// `AMBIGUOUS_ANCHOR`.
    Ambiguous {
        /// The first lines of the possible places; only one if the other place is uncertain.
        places: Vec<u64>,
    },
}

impl Reason {
    fn code(&self) -> Code {
        match self {
            Reason::NotShown(_) | Reason::Forgotten => Code::NotShown,
            Reason::PartlyShown { .. } => Code::PartlyShown,
            Reason::OutOfRange => Code::LineOutOfRange,
            Reason::Ambiguous { .. } => Code::AmbiguousAnchor,
            Reason::OtherHash { .. }
            | Reason::RecomputedNumber { .. }
            | Reason::OtherText
            | Reason::OwnEdit
            | Reason::MovedOut { .. }
            | Reason::OwnEditThenOthers
            | Reason::OtherVersion { .. }
            | Reason::Reindented
            | Reason::Replaced
            | Reason::Changed => Code::HashMismatch,
        }
    }
}

impl<'a> Locator<'a> {
    /// A refusal of a target that a view showed.
    pub(super) fn refused<'o>(
        &mut self,
        target: &Target<'o>,
        by: KnownView<'a>,
        reason: Reason,
    ) -> Refused<'o> {
        let view = by.view;
        let is_by_others = self.lineage(by.lineage).tip != self.current.hash
            && self.view_with_track(view.hash).is_none();
        let reason = match reason {
            Reason::OwnEdit if is_by_others => Reason::OwnEditThenOthers,
            reason => reason,
        };
        let block = target.block();
        let first = self.first_changed(by, block.first, block.last);
        let last = block.last.min(first + MAX_SHOWN_LINES - 1);
        let lines = (first..=last).filter(|&line| view.shown.contains(line));
        let shown: Vec<_> = lines
            .filter_map(|number| {
                let text = self.shown_text(by, number)?.to_vec();
                Some(ShownLine { number, text })
            })
            .collect();
        let now = match &reason {
            Reason::Ambiguous { places } => (places.iter().min(), places.iter().max()),
            _ => (None, None),
        };
        let now = match now {
            (Some(&first), Some(&last)) => (first, last),
            _ => {
                let (first, last) = match first > block.first {
                    true => (first, last),
                    false => (block.first, block.last),
                };
                let rewrapped = self.rewrapped(by, &reason, first, last);
                rewrapped.unwrap_or_else(|| self.guess(by, first, last))
            }
        };
        let refused = self.refusal(target.ends().0, reason, shown, now);
        let omitted_lines =
            (block.last - block.first + 1).saturating_sub(refused.shown.len() as u64);
        Refused { omitted_lines, ..refused }
    }

    /// Where to begin to show a block of many lines: a little above the first changed line, if it
    /// is known.
    fn first_changed(&self, by: KnownView<'_>, first: u64, last: u64) -> u64 {
        if last - first < MAX_SHOWN_LINES {
            return first;
        }
        let tip = self.lineage(by.lineage).tip;
        let carry = self.carries.get(&(tip, self.current.hash));
        let is_kept = |line: u64| {
            let line = by.view.track.line(line);
            let carried = |line| carry.is_some_and(|carry| carry.kept(line).is_some());
            line.is_some_and(|line| tip == self.current.hash || carried(line))
        };
        let changed = (first..=last).find(|&line| !is_kept(line));
        changed.map_or(first, |line| line.saturating_sub(CHANGED_CONTEXT_LINES).max(first))
    }

    /// The lines that now have the words of lines that another process changed.
    fn rewrapped(
        &mut self,
        by: KnownView<'a>,
        reason: &Reason,
        first: u64,
        last: u64,
    ) -> Option<(u64, u64)> {
        if !matches!(reason, Reason::Changed | Reason::Replaced) {
            return None;
        }
        let (first, last) = (by.view.track.line(first)?, by.view.track.line(last)?);
        let (tip, now) = (self.lineage(by.lineage).tip, self.current.hash);
        self.carry_between(tip, now).ok()?.rewrapped(first, last)
    }

    /// Estimates where lines of a view are now, from the nearest line above whose place is known.
    fn guess(&self, by: KnownView<'_>, first: u64, last: u64) -> (u64, u64) {
        let tip = self.lineage(by.lineage).tip;
        let carry = self.carries.get(&(tip, self.current.hash));
        let place = |line: u64| {
            let line = by.view.track.line(line)?;
            if tip == self.current.hash { Some(line) } else { carry?.kept(line) }
        };
        let above = first.saturating_sub(NEIGHBOUR_LINES).max(1);
        let known = (above..=first).rev().find_map(|line| Some((line, place(line)?)));
        let start = known.map_or(first, |(line, now)| now + (first - line));
        self.within(start, start + (last - first))
    }

    fn within(&self, first: u64, last: u64) -> (u64, u64) {
        let count = self.current.count();
        (first.min(count), last.min(count))
    }

    pub(super) fn not_shown<'o>(&self, anchor: &'o Anchor, unknown: UnknownLines) -> Refused<'o> {
        let all = unknown.all();
        let first = all.ranges().first().map_or(0, |one| one.start);
        let last = all.ranges().last().map_or(0, |one| one.end - 1);
        let now = self.within(first, last);
        self.refusal(anchor, Reason::NotShown(unknown), Vec::new(), now)
    }

    /// The refusal of the anchor of a line that was never shown.
    fn line_not_shown<'o>(&self, anchor: &'o Anchor) -> Refused<'o> {
        let line = u64::from(anchor.line);
        self.not_shown(anchor, UnknownLines::unseen(LineSet::of(line, line)))
    }

    /// The refusal of an operation that rewrites lines of which only parts were shown.
    pub fn partly_shown<'o>(&self, anchor: &'o Anchor, lines: Vec<PartlyShown>) -> Refused<'o> {
        let line = lines.first().map_or(0, |one| one.line);
        self.refusal(anchor, Reason::PartlyShown { lines }, Vec::new(), self.within(line, line))
    }

    /// The refusal of new text for lines that another process re-indented.
    pub fn reindented<'o>(&self, anchor: &'o Anchor, placed: &Placed) -> Refused<'o> {
        let (first, last) = match placed.spot {
            Spot::Lines(first, last) => (first, last),
            Spot::Gap(gap) => (gap, gap),
        };
        self.refusal(anchor, Reason::Reindented, Vec::new(), self.within(first.max(1), last.max(1)))
    }

    fn refusal<'o>(
        &self,
        anchor: &'o Anchor,
        reason: Reason,
        shown: Vec<ShownLine>,
        now: (u64, u64),
    ) -> Refused<'o> {
        Refused {
            anchor,
            code: reason.code(),
            reason,
            shown,
            omitted_lines: 0,
            now,
            forgotten: self.record.has_forgotten(),
        }
    }

    /// Finds out why no view has the anchors of a target.
    pub(super) fn diagnose<'o>(&mut self, target: &Target<'o>) -> Found<'o> {
        let (first, last) = target.ends();
        let mut anchors = vec![first];
        if !std::ptr::eq(first, last) {
            anchors.push(last);
        }
        let mut refused: Vec<_> =
            anchors.iter().filter_map(|anchor| self.diagnose_anchor(anchor)).collect();
        let is_unseen =
            |one: &Refused<'_>| matches!(one.reason, Reason::NotShown(_) | Reason::OutOfRange);
        if self.unseen == super::Unseen::Match && refused.iter().all(is_unseen) {
            return Found::Unseen;
        }
        if refused.is_empty() {
            // Each anchor is known, but no text showed both.
            let reason =
                Reason::Ambiguous { places: vec![u64::from(first.line), u64::from(last.line)] };
            let now = self.within(u64::from(first.line), u64::from(last.line));
            return Found::Refused(vec![self.refusal(first, reason, Vec::new(), now)]);
        }
        if let Target::Range(..) = target {
            self.add_unseen_lines(&mut refused, u64::from(first.line), u64::from(last.line));
        }
        Found::Refused(refused)
    }

    /// For a range with an unseen end, also reports its other unseen lines, so that one answer is
    /// enough.
    fn add_unseen_lines(&mut self, refused: &mut [Refused<'_>], first: u64, last: u64) {
        let last = last.min(self.current.count());
        let unseen = refused.iter_mut().find_map(|one| match &mut one.reason {
            Reason::NotShown(unknown) => Some(unknown),
            _ => None,
        });
        let Some(unseen) = unseen.filter(|_| first <= last) else { return };
        let mut missing = LineSet::of(first, last);
        if let Some(at) = self.current_lineage() {
            missing = missing.without(&self.known(at).lines);
        }
        if !missing.is_empty() {
            *unseen = UnknownLines::unseen(missing);
        }
    }

    /// Why one anchor is refused; `None` if it is valid on its own.
    fn diagnose_anchor<'o>(&mut self, anchor: &'o Anchor) -> Option<Refused<'o>> {
        let line = u64::from(anchor.line);
        let target = Target::Line(anchor);
        match self.locate_by_views(&target, self.views()) {
            Some(Ok(_)) => return None,
            Some(Err(refused)) => return Some(refused),
            None if self.locate_by_current_numbers(&target).is_some() => return None,
            None => {}
        }
        if let Some(tag) = anchor.tag {
            return Some(self.diagnose_version(anchor, tag));
        }
        let views = self.views();
        let Some(&by) = views.iter().find(|one| one.view.shows(line, self.as_of)) else {
            if line > self.current.count() {
                return Some(self.refusal(
                    anchor,
                    Reason::OutOfRange,
                    Vec::new(),
                    self.within(line, line),
                ));
            }
            return Some(self.line_not_shown(anchor));
        };
        let Some(text) = self.shown_text(by, line).map(<[u8]>::to_vec) else {
            return Some(self.refusal(
                anchor,
                Reason::Forgotten,
                Vec::new(),
                self.within(line, line),
            ));
        };
        let reason = if anchor.edition.is_some() && self.agrees(anchor, &text) {
            // Its version is forgotten, or did not show the line.
            Reason::Forgotten
        } else if self.has_hash(anchor, &text) {
            Reason::OtherText
        } else if self.has_current_number(anchor) {
            let now = self.locate_in_view(by, &target).ok().map(|located| located.block.first);
            Reason::RecomputedNumber { now }
        } else {
            let near = self.near(by, anchor);
            Reason::OtherHash { near, is_current: by.view.hash == self.current.hash }
        };
        Some(self.refused(&target, by, reason))
    }

    /// Why an anchor that names a version is refused, if no view of that version shows its line.
    fn diagnose_version<'o>(&mut self, anchor: &'o Anchor, tag: Tag) -> Refused<'o> {
        let line = u64::from(anchor.line);
        let now = self.within(line, line);
        if self.tag_of(self.current.hash) != Some(tag) {
            let views = self.views();
            let is_known = views.iter().any(|one| self.is_of_version(one.view, tag));
            return self.refusal(anchor, Reason::OtherVersion { is_known }, Vec::new(), now);
        }
        if line > self.current.count() {
            return self.refusal(anchor, Reason::OutOfRange, Vec::new(), now);
        }
        self.line_not_shown(anchor)
    }

    /// Whether an anchor matches a known line by its current number.
    fn has_current_number(&mut self, anchor: &Anchor) -> bool {
        let current = self.current_lineage().filter(|&at| !self.changed_since_call(at));
        current.is_some_and(|at| self.matches_current(at, anchor))
    }

    /// The lines of a view that have the hash and hint of an anchor, nearest first.
    fn near(&mut self, by: KnownView<'a>, anchor: &Anchor) -> Vec<u64> {
        let line = u64::from(anchor.line);
        let first = line.saturating_sub(NEIGHBOUR_LINES).max(1);
        let mut near = Vec::new();
        for number in first..=line + NEIGHBOUR_LINES {
            let text = self.shown_text(by, number).map(<[u8]>::to_vec);
            if number != line && text.is_some_and(|text| self.agrees(anchor, &text)) {
                near.push(number);
            }
        }
        near.sort_by_key(|&number| (number.abs_diff(line), number));
        near
    }
}
