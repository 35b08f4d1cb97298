//! Where an operation takes place, by what its anchors meant when they were shown.
//!
//! In one sentence: an anchor is the line that was shown with that number and hash; where that
//! line is now is known, or found beyond doubt, or the operation is refused.

mod refuse;
mod unknown;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use serde::Deserialize;

use crate::edit::resolve::Spot;
use hashline_base::cancel::Cancel;
use hashline_lines::anchor::{Anchor, Edition};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::LineHasher;
use hashline_lines::tag::Tag;
use hashline_memory::{
    Body, Carry, FileMemory, FileRecord, Knowledge, LineSet, Lineage, Moment, Reindentation,
    SeenParts, Track, View, says_enough,
};

pub use refuse::{Reason, Refused, ShownLine};
pub use unknown::UnknownLines;

/// One line in this many that were shown must be left in a text that others wrote.
const ENOUGH_LEFT_SHARE: u64 = 10;

/// What to do with lines that were never shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unseen {
    /// Refuse to touch them.
    #[default]
    Refuse,
    /// Leave anchors of such lines to the rules that need no memory. A range whose ends were shown
    /// is still found by memory, whatever is between.
    Match,
}

/// The anchors of an operation, and what they enclose.
#[derive(Clone, Copy, Debug)]
pub enum Target<'o> {
    /// One line.
    Line(&'o Anchor),
    /// The lines from the first to the last, which are removed.
    Range(&'o Anchor, &'o Anchor),
    /// The lines from the first to the last, none of which is lost.
    Carried(&'o Anchor, &'o Anchor),
    /// The place after a line.
    After(&'o Anchor),
    /// The place before a line.
    Before(&'o Anchor),
    /// The place between two lines.
    Between(&'o Anchor, &'o Anchor),
}

impl<'o> Target<'o> {
    fn ends(&self) -> (&'o Anchor, &'o Anchor) {
        match *self {
            Target::Line(one) | Target::After(one) | Target::Before(one) => (one, one),
            Target::Range(first, last)
            | Target::Carried(first, last)
            | Target::Between(first, last) => (first, last),
        }
    }

    /// Its first anchor.
    pub fn first(&self) -> &'o Anchor {
        self.ends().0
    }

    /// Whether it is lines from a first to a last one.
    fn is_range(&self) -> bool {
        matches!(self, Target::Range(..) | Target::Carried(..))
    }

    fn block(&self) -> Block {
        let (first, last) = self.ends();
        Block { first: u64::from(first.line), last: u64::from(last.line) }
    }
}

/// The lines of the anchors, in one of the texts on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    first: u64,
    last: u64,
}

impl Block {
    fn at(&self, first: u64) -> Block {
        Block { first, last: first + (self.last - self.first) }
    }
}

/// How a place was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// The file is the text that was shown.
    Unchanged,
    /// Only the session itself has changed it since.
    OwnEdits,
    /// Others have changed it: by the rule of three diffs.
    Carried,
}

/// A line of which the model knows only parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartlyShown {
    /// Its number in the current text.
    pub line: u64,
    /// What was shown of it.
    pub parts: SeenParts,
}

/// Where an operation takes place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The lines, or the gap, in the current text.
    pub spot: Spot,
    /// For inserts, the line next to the new text.
    pub anchor_line: Option<u64>,
    /// How far down the line of the first anchor is from where it was shown.
    pub distance: i64,
    /// How far down the line of the second anchor is from where it was shown: ends that were shown
    /// at different times may have moved differently.
    pub last_distance: i64,
    /// How that is known.
    pub found_by: FoundBy,
    /// The lines of which only parts were shown.
    pub partly: Vec<PartlyShown>,
    /// How others have re-indented the lines since, one change after the other.
    pub reindented: Vec<Reindentation>,
}

/// The answer for one operation.
#[derive(Clone, Debug)]
pub enum Found<'o> {
    /// It takes place there.
    Placed(Placed),
    /// Its lines were never shown, and the caller wants such anchors matched without memory.
    Unseen,
    /// It is refused: one entry for each anchor that is at fault, at least one.
    Refused(Vec<Refused<'o>>),
}

/// Where a block was found, and from which lineage and which of its lines that is known.
struct Located {
    block: Block,
    found_by: FoundBy,
    /// The lines that the model knows, in the numbers of `tip`.
    known: Known,
    tip: Block,
    /// How others have re-indented the lines on the way.
    reindented: Vec<Reindentation>,
}

impl Located {
    /// Where nobody but the session itself has changed the lines.
    fn by_own_edits(block: Block, found_by: FoundBy, known: Known, tip: Block) -> Located {
        Located { block, found_by, known, tip, reindented: Vec::new() }
    }
}

/// A view that a call may mean.
#[derive(Clone, Copy)]
struct KnownView<'a> {
    /// Its lineage, by the place in the list.
    lineage: usize,
    view: &'a View,
}

/// A target, placed by a view.
struct LocatedView<'a> {
    by: KnownView<'a>,
    located: Located,
}

/// Which lines a range may enclose.
enum Known {
    /// Those of a lineage, by its place in the list.
    Lineage(usize),
    /// Those of one view.
    Shown(Knowledge),
}

/// Finds the places of the operations on one file. It compares each pair of texts once.
pub struct Locator<'a> {
    record: &'a FileRecord,
    file: Option<&'a FileMemory>,
    current: Body<'a>,
    hasher: LineHasher,
    unseen: Unseen,
    as_of: Option<Moment>,
    cancel: &'a Cancel,
    carries: HashMap<(u128, u128), Carry<'a>>,
    known: HashMap<usize, Knowledge>,
    /// Whether enough of what was shown of one text is left in another one.
    left: HashMap<(u128, u128), bool>,
    /// The tags of texts that are there.
    tags: HashMap<u128, Tag>,
}

impl<'a> Locator<'a> {
    /// For a file that has this text now. Views that began after `as_of` are skipped: a call that
    /// was made before then cannot mean them.
    pub fn new(
        record: &'a FileRecord,
        current: Body<'a>,
        dialect: &'static Dialect,
        unseen: Unseen,
        as_of: Option<Moment>,
        cancel: &'a Cancel,
    ) -> Self {
        // Two texts can have one hash. Then the current one goes by another, under which nothing is
        // remembered, so that it is not taken for the text that was shown.
        let is_other = |body: Body<'_>| body.text != current.text;
        let hash = match record.text(current.hash) {
            Some(kept) if is_other(kept) => !current.hash,
            _ => current.hash,
        };
        Locator {
            record,
            file: record.file(),
            current: Body { hash, ..current },
            hasher: LineHasher::new(dialect),
            unseen,
            as_of,
            cancel,
            carries: HashMap::new(),
            known: HashMap::new(),
            left: HashMap::new(),
            tags: HashMap::new(),
        }
    }

    /// Decides where an operation takes place. Its anchors are sorted.
    pub fn locate<'o>(&mut self, target: &Target<'o>) -> Found<'o> {
        let located = match self.locate_by_views(target, self.views()) {
            Some(Ok(found)) => self.check_ends(target, found.located, Some(found.by.view)),
            Some(Err(refused)) => Err(refused),
            None => match self.locate_by_current_numbers(target) {
                Some(located) => self.check_ends(target, located, None),
                None => return self.locate_ends(target),
            },
        };
        match located {
            Ok(located) => self.placed(target, located),
            Err(refused) => Found::Refused(vec![refused]),
        }
    }

    /// The refusal of an operation that would remove the lines from `first` to `last`, found around
    /// the line of an anchor, if the model does not know all of them as they are. Where a text takes
    /// their place, it must know all of each.
    pub fn unseen_around<'o>(
        &mut self,
        anchor: &'o Anchor,
        (first, last): (u64, u64),
        is_rewritten: bool,
    ) -> Option<Refused<'o>> {
        if self.unseen == Unseen::Match {
            return None;
        }
        let target = Target::Line(anchor);
        let located = match self.locate_by_views(&target, self.views()) {
            Some(found) => found.ok()?.located,
            None => self.locate_by_current_numbers(&target)?,
        };
        let (unknown, partly) = self.unknown_around(&located, first, last);
        if !unknown.is_empty() {
            return Some(self.not_shown(anchor, unknown));
        }
        (is_rewritten && !partly.is_empty()).then(|| self.partly_shown(anchor, partly))
    }

    /// Of lines that an answer is about to show, those whose number and hash were shown for another
    /// line too, or for one of which it is not certain where it is.
    pub fn doubtful(&mut self, lines: impl IntoIterator<Item = u64>) -> LineSet {
        let mut others = self.views();
        others.retain(|by| by.view.hash != self.current.hash);
        let lines = lines.into_iter().filter(|&line| self.is_doubtful(line, &others));
        lines.map(|line| line..line + 1).collect()
    }

    fn is_doubtful(&mut self, number: u64, others: &[KnownView<'a>]) -> bool {
        let (Ok(line), Some(text)) = (u32::try_from(number), self.current.line(number)) else {
            return false;
        };
        let anchor = Anchor::of_line(line, self.hasher.hash(number, text));
        let target = Target::Line(&anchor);
        let newest = self.view_as_it_is();
        others.iter().any(|&by| {
            self.shows(by, &anchor) && self.disagrees(by, &target, target.block(), newest)
        })
    }

    /// The view of the current text in which an answer shows more of it.
    fn view_as_it_is(&self) -> Option<&'a View> {
        let views = self.lineage(self.current_lineage()?).views.iter().rev();
        let mut views = views.filter(|view| view.hash == self.current.hash);
        views.find(|view| view.track.is_identity())
    }

    /// Whether rows with these numbers and hashes, of a text that an edit makes of the current one,
    /// could be doubtful. `track` is where the lines are after the edit.
    pub fn may_be_doubtful(&mut self, anchors: &[(u64, u32)], track: &Track) -> bool {
        let views = self.views();
        anchors.iter().any(|&(number, hash)| {
            let Ok(line) = u32::try_from(number) else { return false };
            let anchor = Anchor::of_line(line, hash);
            views.iter().any(|&by| {
                let now = || by.view.track.line(number).and_then(|line| track.line(line));
                self.shows(by, &anchor)
                    && (self.lineage(by.lineage).tip != self.current.hash
                        || now().is_some_and(|now| now != number))
            })
        })
    }

    /// By those of some views, newest first, in which every anchor of the target was shown as it
    /// says. `None` when there is none.
    fn locate_by_views<'o>(
        &mut self,
        target: &Target<'o>,
        views: Vec<KnownView<'a>>,
    ) -> Option<Result<LocatedView<'a>, Refused<'o>>> {
        let (first, last) = target.ends();
        let mut newest: Option<(KnownView<'a>, Result<Located, Reason>)> = None;
        for by in views {
            if !(self.shows(by, first) && self.shows(by, last)) {
                continue;
            }
            if newest
                .as_ref()
                .is_some_and(|(newest, _)| self.supersedes(newest.view, by.view, target))
            {
                continue;
            }
            let located = self.locate_in_view(by, target);
            match (&newest, located) {
                (None, located) => newest = Some((by, located)),
                (Some((_, Ok(one))), Ok(other)) if one.block != other.block => {
                    let places = vec![one.block.first, other.block.first];
                    return Some(Err(self.refused(target, by, Reason::Ambiguous { places })));
                }
                (Some((newest, Ok(one))), Err(_))
                    if self.disagrees(by, target, one.block, Some(newest.view)) =>
                {
                    let places = vec![one.block.first];
                    return Some(Err(self.refused(target, by, Reason::Ambiguous { places })));
                }
                _ => {}
            }
        }
        let (by, located) = newest?;
        let located = located.map(|located| LocatedView { by, located });
        Some(located.map_err(|why| self.refused(target, by, why)))
    }

    /// Whether a view places an end of a target on another line than a newer view, or cannot place
    /// it with certainty, and the model has not asked for it since. A deleted line does not count.
    fn disagrees(
        &mut self,
        by: KnownView<'a>,
        target: &Target<'_>,
        block: Block,
        newest: Option<&View>,
    ) -> bool {
        let (first, last) = target.ends();
        [(first, block.first), (last, block.last)].into_iter().any(|(end, place)| {
            let line = u64::from(end.line);
            if newest.is_some_and(|newest| newest.was_asked_since(by.view, line, self.as_of)) {
                return false;
            }
            match self.locate_in_view(by, &Target::Line(end)) {
                Ok(located) => located.block.first != place,
                Err(why) => matches!(why, Reason::Changed | Reason::Replaced | Reason::Forgotten),
            }
        })
    }

    /// Whether a newer view of a target's ends replaces an older one, because the model asked for
    /// these lines since. Otherwise, two lines with one number and one hash cannot be
    /// distinguished. The report of an edit is not enough: the model may not have read it before
    /// its next call.
    fn supersedes(&self, newest: &View, older: &View, target: &Target<'_>) -> bool {
        let Block { first, last } = target.block();
        [first, last].into_iter().all(|line| newest.was_asked_since(older, line, self.as_of))
    }

    /// A place of a target, found by a view that shows both its ends or by no view, unless one of
    /// the ends alone was shown elsewhere since: the model may have it from there.
    fn check_ends<'o>(
        &mut self,
        target: &Target<'o>,
        located: Located,
        by: Option<&View>,
    ) -> Result<Located, Refused<'o>> {
        if !target.is_range() && !matches!(target, Target::Between(..)) {
            return Ok(located);
        }
        let (first, last) = target.ends();
        for (end, place) in [(first, located.block.first), (last, located.block.last)] {
            let (end, line) = (Target::Line(end), u64::from(end.line));
            let is_newer = |view: &View| {
                by.is_none_or(|by| {
                    view.last > by.since && !by.was_asked_since(view, line, self.as_of)
                })
            };
            let mut views = self.views();
            views.retain(|one| is_newer(one.view));
            match self.locate_by_views(&end, views) {
                Some(Ok(other)) if other.located.block.first != place => {
                    let places = vec![place, other.located.block.first];
                    return Err(self.refused(&end, other.by, Reason::Ambiguous { places }));
                }
                Some(Err(refused)) => return Err(refused),
                _ => {}
            }
        }
        Ok(located)
    }

    /// The views that a call may mean, the one that was shown last first.
    fn views(&self) -> Vec<KnownView<'a>> {
        let lineages = self.file.into_iter().flat_map(|file| file.lineages.iter().enumerate());
        let mut views: Vec<_> = lineages
            .flat_map(|(lineage, one)| {
                one.views.iter().map(move |view| KnownView { lineage, view })
            })
            .filter(|one| one.view.is_known(self.as_of))
            .collect();
        // A text that came back has its views twice: those of the newer lineage count first.
        views.sort_by_key(|one| std::cmp::Reverse((one.view.last, one.lineage)));
        views
    }

    fn lineage(&self, at: usize) -> &'a Lineage {
        &self.file.expect("a lineage is of a file").lineages[at]
    }

    /// The text of a line as a view showed it, if that is still known.
    fn shown_text(&self, KnownView { lineage, view }: KnownView<'a>, line: u64) -> Option<&[u8]> {
        if view.hash == self.current.hash {
            return self.current.line(line);
        }
        if let Some(text) = view.gone.get(&line) {
            return Some(text);
        }
        self.body(self.lineage(lineage).tip)?.line(view.track.line(line)?)
    }

    /// A text that is known by its hash.
    fn body(&self, hash: u128) -> Option<Body<'a>> {
        if hash == self.current.hash { Some(self.current) } else { self.record.text(hash) }
    }

    /// The tag of a text that is there.
    fn tag_of(&mut self, hash: u128) -> Option<Tag> {
        if let Some(&known) = self.tags.get(&hash) {
            return Some(known);
        }
        let tag = Tag::of(self.body(hash)?.text);
        self.tags.insert(hash, tag);
        Some(tag)
    }

    /// Whether a view is of a version that has a tag.
    fn is_of_version(&mut self, view: &View, tag: Tag) -> bool {
        view.tag.or_else(|| self.tag_of(view.hash)) == Some(tag)
    }

    /// Whether a view showed the line of an anchor with its hash and hint, or in the version it
    /// names.
    fn shows(&mut self, by: KnownView<'a>, anchor: &Anchor) -> bool {
        let line = u64::from(anchor.line);
        if !by.view.shows(line, self.as_of) {
            return false;
        }
        if let Some(tag) = anchor.tag {
            return self.is_of_version(by.view, tag);
        }
        if anchor.edition.is_some_and(|edition| edition != Edition::of(by.view.hash)) {
            return false;
        }
        let Some(text) = self.shown_text(by, line).map(<[u8]>::to_vec) else {
            return false;
        };
        self.agrees(anchor, &text)
    }

    fn agrees(&mut self, anchor: &Anchor, text: &[u8]) -> bool {
        self.has_hash(anchor, text) && self.has_hint(anchor, text)
    }

    fn has_hash(&mut self, anchor: &Anchor, text: &[u8]) -> bool {
        self.hasher.hash(u64::from(anchor.line), text) == anchor.hash
    }

    fn has_hint(&self, anchor: &Anchor, text: &[u8]) -> bool {
        let dialect = self.hasher.dialect();
        anchor.hint.as_ref().is_none_or(|hint| hint.agrees(dialect, text))
    }

    /// Where the lines of a target in a view are now.
    fn locate_in_view(
        &mut self,
        by: KnownView<'a>,
        target: &Target<'_>,
    ) -> Result<Located, Reason> {
        let KnownView { lineage: at, view } = by;
        let (shown, lineage) = (target.block(), self.lineage(at));
        if view.hash == self.current.hash {
            let known = if lineage.tip == view.hash {
                Known::Lineage(at)
            } else {
                Known::Shown(view.knowledge(self.as_of))
            };
            return Ok(Located::by_own_edits(shown, FoundBy::Unchanged, known, shown));
        }
        let tip = track(&view.track, target, shown).ok_or_else(|| own_edit(view, shown))?;
        let known = Known::Lineage(at);
        if lineage.tip == self.current.hash {
            return Ok(Located::by_own_edits(tip, FoundBy::OwnEdits, known, tip));
        }
        if let Some(same) = self.view_with_track(view.hash) {
            let track_to_now = &same.view.track;
            let block =
                track(track_to_now, target, shown).ok_or_else(|| own_edit(same.view, shown))?;
            let mut known = view.knowledge(self.as_of).tracked(track_to_now);
            known.add(self.known(same.lineage));
            return Ok(Located::by_own_edits(block, FoundBy::OwnEdits, Known::Shown(known), block));
        }
        let (block, reindented) = self.carry(at, target, tip)?;
        Ok(Located { block, found_by: FoundBy::Carried, known, tip, reindented })
    }

    /// A view of a text of which the session itself made the current one: what it knows of its
    /// lines is exact, and true of whatever else was shown of that text. What a read found may be
    /// learned only after an edit has changed it.
    fn view_with_track(&self, hash: u128) -> Option<KnownView<'a>> {
        let lineage = self.current_lineage()?;
        let views = &self.lineage(lineage).views;
        let view = views.iter().rev().find(|view| view.hash == hash)?;
        Some(KnownView { lineage, view })
    }

    /// From the tip of a lineage to the current text: through the edits that the session made
    /// meanwhile, whose positions are known, and by diffs in between.
    fn carry(
        &mut self,
        at: usize,
        target: &Target<'_>,
        tip: Block,
    ) -> Result<(Block, Vec<Reindentation>), Reason> {
        let (mut from, mut block, mut known_by) = (self.lineage(at).tip, tip, at);
        let mut reindented = Vec::new();
        for step in at + 1..self.file.map_or(0, |file| file.lineages.len()) {
            let next = self.lineage(step);
            let has_texts = self.body(next.base).is_some() && self.body(next.tip).is_some();
            if next.base == next.tip || !has_texts {
                continue;
            }
            block = self.compare(from, next.base, target, block, &mut reindented)?;
            self.check_enough_left(known_by, from, next.base)?;
            block = track(&next.track, target, block).ok_or(Reason::OwnEdit)?;
            (from, known_by) = (next.tip, step);
        }
        let block = self.compare(from, self.current.hash, target, block, &mut reindented)?;
        self.check_enough_left(known_by, from, self.current.hash)?;
        Ok((block, reindented))
    }

    /// Whether of the lines that the model knows of a lineage's tip enough are left in a text: of
    /// another file that has taken the name, a few lines can be the same by accident.
    fn check_enough_left(&mut self, at: usize, from: u128, to: u128) -> Result<(), Reason> {
        if from == to {
            return Ok(());
        }
        if let Some(&is_left) = self.left.get(&(from, to)) {
            return if is_left { Ok(()) } else { Err(Reason::Replaced) };
        }
        let known = self.known(at).lines.clone();
        let body = self.body(from);
        let carry = self.carry_between(from, to)?;
        let (mut all, mut left) = (0u64, 0u64);
        for line in known.ranges().iter().flat_map(Range::clone) {
            // What is known may go beyond the end.
            let Some(text) = body.and_then(|body| body.line(line)) else { break };
            if says_enough(text) {
                all += 1;
                left += u64::from(carry.kept(line).is_some());
            }
        }
        let is_left = left * ENOUGH_LEFT_SHARE >= all;
        self.left.insert((from, to), is_left);
        if is_left { Ok(()) } else { Err(Reason::Replaced) }
    }

    fn compare(
        &mut self,
        from: u128,
        to: u128,
        target: &Target<'_>,
        block: Block,
        reindented: &mut Vec<Reindentation>,
    ) -> Result<Block, Reason> {
        if from == to {
            return Ok(block);
        }
        let carry = self.carry_between(from, to)?;
        let (lines, now) = carried(carry, target, block).ok_or(Reason::Changed)?;
        reindented.extend(carry.reindentation(lines.first, lines.last, now));
        Ok(block.at(now + (block.first - lines.first)))
    }

    fn carry_between(&mut self, from: u128, to: u128) -> Result<&mut Carry<'a>, Reason> {
        let (Some(old), Some(new)) = (self.body(from), self.body(to)) else {
            return Err(Reason::Forgotten);
        };
        match self.carries.entry((from, to)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            // The refusal of a call that was cancelled is not returned.
            Entry::Vacant(free) => {
                Ok(free
                    .insert(Carry::new(old.text, new.text, self.cancel).ok_or(Reason::Forgotten)?))
            }
        }
    }

    /// Takes the anchors as numbers of the current text: a report says by how much lines moved, and
    /// the model may have added that. Not if such a number was shown with another hash: then the
    /// anchor can also be a mistake, and in mistakes the number is nearly always right.
    fn locate_by_current_numbers(&mut self, target: &Target<'_>) -> Option<Located> {
        let at = self.current_lineage().filter(|&at| !self.changed_since_call(at))?;
        let (first, last) = target.ends();
        let mut is_sure = |anchor| {
            self.matches_current(at, anchor)
                && (anchor.hint.is_some()
                    || anchor.tag.is_some()
                    || !self.was_shown_differently(anchor))
        };
        if !(is_sure(first) && is_sure(last)) {
            return None;
        }
        let (block, known) = (target.block(), Known::Lineage(at));
        if !self.is_one_place(target, at, block.first, block.last) {
            return None;
        }
        Some(Located::by_own_edits(block, FoundBy::OwnEdits, known, block))
    }

    /// Whether the line that has the number of an anchor in a lineage's tip, which is the current
    /// text, has its hash too (or the text is the version that it names), and the model knows that
    /// line.
    fn matches_current(&mut self, at: usize, anchor: &Anchor) -> bool {
        let line = u64::from(anchor.line);
        let text = self.current.line(line);
        if let Some(tag) = anchor.tag {
            let is_current = self.tag_of(self.current.hash) == Some(tag);
            return is_current && self.known(at).lines.contains(line);
        }
        anchor.edition.is_none_or(|edition| edition == Edition::of(self.current.hash))
            && self.known(at).lines.contains(line)
            && text.is_some_and(|text| self.agrees(anchor, text))
    }

    /// Whether a view showed the number of an anchor with another line than the anchor says, or
    /// with one that is forgotten.
    fn was_shown_differently(&mut self, anchor: &Anchor) -> bool {
        let line = u64::from(anchor.line);
        let mut views = self.views().into_iter();
        views.any(|one| one.view.shows(line, self.as_of) && !self.shows(one, anchor))
    }

    /// Whether an own edit came after the call was made: numbers as they are now, and lines that
    /// were written since, cannot be what it means.
    fn changed_since_call(&self, at: usize) -> bool {
        self.as_of.is_some_and(|as_of| self.lineage(at).changed > as_of)
    }

    /// The lineage of which the current text is the tip.
    fn current_lineage(&self) -> Option<usize> {
        self.file?.lineages.iter().rposition(|lineage| lineage.tip == self.current.hash)
    }

    /// What the model knows of the lines of a lineage's tip.
    fn known(&mut self, at: usize) -> &Knowledge {
        let (lineage, as_of) = (self.lineage(at), self.as_of);
        self.known.entry(at).or_insert_with(|| lineage.known(as_of))
    }

    /// A range whose ends were shown at different times, so that no view has both. Each is then
    /// located alone; only own edits may be between.
    fn locate_ends<'o>(&mut self, target: &Target<'o>) -> Found<'o> {
        let (first, last) = target.ends();
        let current = self.current_lineage().filter(|&at| !self.changed_since_call(at));
        let has_ends = target.is_range() || matches!(target, Target::Between(..));
        let Some(at) = current.filter(|_| has_ends) else {
            return self.diagnose(target);
        };
        let mut line = |anchor| match self.locate(&Target::Line(anchor)) {
            Found::Placed(Placed { spot: Spot::Lines(line, _), found_by, .. }) => {
                Some(line).filter(|_| found_by != FoundBy::Carried)
            }
            _ => None,
        };
        match (line(first), line(last)) {
            (Some(first), Some(last))
                if first < last && self.is_one_place(target, at, first, last) =>
            {
                let block = Block { first, last };
                let known = Known::Lineage(at);
                self.placed(target, Located::by_own_edits(block, FoundBy::OwnEdits, known, block))
            }
            _ => self.diagnose(target),
        }
    }

    /// Whether two lines that were shown at different times enclose what the target names: of a
    /// place between lines, nothing but what the session itself put there.
    fn is_one_place(&self, target: &Target<'_>, at: usize, first: u64, last: u64) -> bool {
        let is_written = || self.lineage(at).written.missing(first + 1..last).is_empty();
        !matches!(target, Target::Between(..)) || is_written()
    }

    /// The place, unless a range encloses lines that the model never saw: it would remove them.
    fn placed<'o>(&mut self, target: &Target<'o>, located: Located) -> Found<'o> {
        let Block { first, last } = located.block;
        if let (Target::Range(..), Unseen::Refuse) = (target, self.unseen) {
            let lines = located.tip.first..located.tip.last + 1;
            let missing = match &located.known {
                Known::Lineage(at) => self.known(*at).lines.missing(lines),
                Known::Shown(shown) => shown.lines.missing(lines),
            };
            if !missing.is_empty() {
                let down = |line: u64| line - located.tip.first + first;
                let missing = missing.into_iter().map(|one| down(one.start)..down(one.end));
                let unknown = UnknownLines::unseen(missing.collect());
                return Found::Refused(vec![self.not_shown(target.ends().0, unknown)]);
            }
        }
        let (spot, anchor_line) = match target {
            Target::Line(_) | Target::Range(..) | Target::Carried(..) => {
                (Spot::Lines(first, last), None)
            }
            Target::After(_) => (Spot::Gap(first), Some(first)),
            Target::Before(_) | Target::Between(..) => (Spot::Gap(last - 1), Some(last)),
        };
        let (first_anchor, last_anchor) = target.ends();
        let distance = first as i64 - i64::from(first_anchor.line);
        let last_distance = last as i64 - i64::from(last_anchor.line);
        let partly = match spot {
            Spot::Lines(..) => self.partly(&located, located.tip.first..located.tip.last + 1),
            Spot::Gap(_) => Vec::new(),
        };
        let Located { found_by, reindented, .. } = located;
        Found::Placed(Placed {
            spot,
            anchor_line,
            distance,
            last_distance,
            found_by,
            partly,
            reindented,
        })
    }

    /// The lines of a range of the tip of which the model knows only parts, by their numbers now.
    /// Where lines between anchors need not have been shown, only those of the anchors count.
    fn partly(&mut self, located: &Located, lines: Range<u64>) -> Vec<PartlyShown> {
        let (first, last) = (located.tip.first, located.tip.last);
        let unseen = self.unseen;
        let counts = |line: u64| unseen == Unseen::Refuse || line == first || line == last;
        let now = |line: u64| (line + located.block.first).saturating_sub(first);
        let known = match &located.known {
            Known::Lineage(at) => self.known(*at),
            Known::Shown(known) => known,
        };
        let partly = known.partly(lines).filter(|&(line, _)| counts(line));
        partly.map(|(line, parts)| PartlyShown { line: now(line), parts: parts.clone() }).collect()
    }
}

/// Why lines of a view are not there any more after own edits.
fn own_edit(view: &View, block: Block) -> Reason {
    match (view.moved_out_to(block.first), view.moved_out_to(block.last)) {
        (Some((to, first)), Some((other, last))) if to == other => {
            Reason::MovedOut { to: to.to_owned(), first, last }
        }
        _ => Reason::OwnEdit,
    }
}

/// Where the lines of a target are after own edits: the same lines, and of a range nothing that
/// came between them since.
fn track(track: &Track, target: &Target<'_>, block: Block) -> Option<Block> {
    let (first, last) = (track.line(block.first)?, track.line(block.last)?);
    if first > last {
        return None;
    }
    if target.is_range() {
        let moved = track.set(&LineSet::of(block.first, block.last));
        if moved != LineSet::of(first, last) {
            return None;
        }
    }
    Some(Block { first, last })
}

/// The lines of a target that prove where it is after a change by others, and where the first of
/// them is now. A place beside a line is found with both lines around it, or else with that line
/// alone.
fn carried(carry: &Carry<'_>, target: &Target<'_>, block: Block) -> Option<(Block, u64)> {
    let found = |first: u64, last: u64| {
        let now = carry.block(first, last)?;
        Some((Block { first, last }, now))
    };
    let Block { first, last } = block;
    match target {
        Target::Line(_) | Target::Range(..) | Target::Carried(..) | Target::Between(..) => {
            found(first, last)
        }
        Target::After(_) => found(first, first + 1).or_else(|| found(first, first)),
        Target::Before(_) => found(first - 1, first).or_else(|| found(first, first)),
    }
}
