//! Finds where an operation takes place, by what its anchors meant when they were shown.
//!
//! An anchor means the line that was shown with its number and hash. If it is not certain where
//! that line is now, the operation is refused.

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

/// One in this many known lines must be left in a text that another process wrote.
const ENOUGH_LEFT_SHARE: u64 = 10;

/// If fewer known lines are left than this, the text must have another line that is left. With
/// fewer other lines than this, all of them can have changed.
const FEW_LINES: usize = 4;

/// What to do with lines that were never shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unseen {
    /// Refuse to touch them.
    #[default]
    Refuse,
    /// Resolve their anchors without memory. A range whose ends were shown is still found by
    /// memory, even if lines between them were not shown.
    Match,
}

/// What an operation names by its anchors.
#[derive(Clone, Copy, Debug)]
pub enum Target<'o> {
    /// One line.
    Line(&'o Anchor),
    /// The lines from the first to the last, which are removed.
    Range(&'o Anchor, &'o Anchor),
    /// The lines from the first to the last, which are moved or copied.
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

    /// The first anchor.
    pub fn first(&self) -> &'o Anchor {
        self.ends().0
    }

    /// Whether it is a range of lines.
    fn is_range(&self) -> bool {
        matches!(self, Target::Range(..) | Target::Carried(..))
    }

    fn block(&self) -> Block {
        let (first, last) = self.ends();
        Block { first: u64::from(first.line), last: u64::from(last.line) }
    }
}

/// The lines of the anchors, by their numbers in one of the texts.
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

/// What is left of a text in another one.
enum Left {
    TooFew,
    Enough,
    /// At most three of the known lines: the first lines of the whole text that are left.
    Only(Vec<u64>),
}

/// How a place was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// The file is the text that was shown.
    Unchanged,
    /// Only the session itself has changed the file since.
    OwnEdits,
    /// Another process has changed the file: found by the rule of three diffs.
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
    /// How many lines down the line of the first anchor has moved.
    pub distance: i64,
    /// The same for the second anchor: ends that were shown at different times may have moved
    /// differently.
    pub last_distance: i64,
    /// How the place was found.
    pub found_by: FoundBy,
    /// The lines of which only parts were shown.
    pub partly: Vec<PartlyShown>,
    /// How other processes have re-indented the lines since they were shown, in sequence.
    pub reindented: Vec<Reindentation>,
}

/// The result for one operation.
#[derive(Clone, Debug)]
pub enum Found<'o> {
    /// The place.
    Placed(Placed),
    /// Its lines were never shown, and [`Unseen::Match`] is set.
    Unseen,
    /// It is refused: an entry for each wrong anchor, at least one.
    Refused(Vec<Refused<'o>>),
}

/// Where a block was found, and which lines around it the model knows.
struct Located {
    block: Block,
    found_by: FoundBy,
    /// The lines that the model knows, by the numbers of `tip`.
    known: Known,
    /// The block in the text of `known`.
    tip: Block,
    /// How other processes have re-indented the lines since.
    reindented: Vec<Reindentation>,
}

impl Located {
    /// A place for which no diff was needed.
    fn by_own_edits(block: Block, found_by: FoundBy, known: Known, tip: Block) -> Located {
        Located { block, found_by, known, tip, reindented: Vec::new() }
    }
}

/// A view that a call may mean.
#[derive(Clone, Copy)]
struct KnownView<'a> {
    /// The index of its lineage.
    lineage: usize,
    view: &'a View,
}

/// The place of a target, and the view by which it was found.
struct LocatedView<'a> {
    by: KnownView<'a>,
    located: Located,
    /// The anchors were shown without a version, or have one.
    is_issued: bool,
}

/// The lines that the model knows.
enum Known {
    /// Those of a lineage, by index.
    Lineage(usize),
    /// Those of one view.
    Shown(Knowledge),
}

/// Finds the places of the operations on one file. It compares each pair of texts at most once.
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
    /// What is left of the known lines of a lineage, by its index, in another text.
    left: HashMap<(usize, u128, u128), Left>,
    /// The computed tags of texts.
    tags: HashMap<u128, Tag>,
}

impl<'a> Locator<'a> {
    /// For a file with the text `current`. Views that began after `as_of` are ignored: the call was
    /// made before and cannot mean them.
    pub fn new(
        record: &'a FileRecord,
        current: Body<'a>,
        dialect: &'static Dialect,
        unseen: Unseen,
        as_of: Option<Moment>,
        cancel: &'a Cancel,
    ) -> Self {
        // Two texts can have the same hash. Then the current one gets another hash, of which
        // nothing is remembered, so that it is not taken for the text that was shown.
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

    /// Finds where an operation takes place. The anchors of a range must be sorted.
    pub fn locate<'o>(&mut self, target: &Target<'o>) -> Found<'o> {
        let located = match self.locate_by_views(target, self.views()) {
            Some(Ok(found)) if !found.is_issued => {
                let places = vec![found.located.block.first];
                Err(self.refused(target, found.by, Reason::Ambiguous { places }))
            }
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

    /// The refusal of an operation that would remove the lines from `first` to `last` around the
    /// line of an anchor, if the model does not know all of these lines as they are. If they are
    /// rewritten, it must know each of them whole.
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

    /// The lines of an answer whose number and hash were also shown for another line, or for a line
    /// whose current place is uncertain.
    pub fn ambiguous(&mut self, lines: impl IntoIterator<Item = u64>) -> LineSet {
        let mut others = self.views();
        others.retain(|by| by.view.hash != self.current.hash);
        if others.is_empty() && self.file.is_none_or(|file| file.retired.is_empty()) {
            return LineSet::default();
        }
        let lines = lines.into_iter().filter(|&line| self.is_ambiguous(line, &others));
        lines.map(|line| line..line + 1).collect()
    }

    fn is_ambiguous(&mut self, number: u64, others: &[KnownView<'a>]) -> bool {
        let (Ok(line), Some(text)) = (u32::try_from(number), self.current.line(number)) else {
            return false;
        };
        let anchor = Anchor::of_line(line, self.hasher.hash(number, text));
        let target = Target::Line(&anchor);
        self.is_retired(&anchor)
            || others.iter().any(|&by| {
                is_issued(by, &target)
                    && self.shows(by, &anchor)
                    && self.disagrees(by, &target, target.block())
            })
    }

    /// Whether a row with the number and hash of an anchor was shown in a version that is forgotten.
    fn is_retired(&self, anchor: &Anchor) -> bool {
        self.file.is_some_and(|file| file.retired.contains(anchor.line.into(), anchor.hash))
    }

    /// Whether rows with these numbers and hashes could be ambiguous after an edit of the current
    /// text. `track` is where lines are after the edit.
    pub fn may_be_ambiguous(&mut self, anchors: &[(u64, u32)], track: &Track) -> bool {
        let views = self.views();
        anchors.iter().any(|&(number, hash)| {
            let Ok(line) = u32::try_from(number) else { return false };
            let anchor = Anchor::of_line(line, hash);
            self.is_retired(&anchor)
                || views.iter().any(|&by| {
                    let now = || by.view.track.line(number).and_then(|line| track.line(line));
                    self.shows(by, &anchor)
                        && (self.lineage(by.lineage).tip != self.current.hash
                            || now() != Some(number))
                })
        })
    }

    /// Finds a target by those of some views, newest first, that showed all of its anchors. `None`
    /// if none did. A view whose rows name the version does not count if a newer one showed the
    /// anchors. If it is the newest, the model may have omitted the version.
    fn locate_by_views<'o>(
        &mut self,
        target: &Target<'o>,
        views: Vec<KnownView<'a>>,
    ) -> Option<Result<LocatedView<'a>, Refused<'o>>> {
        let (first, last) = target.ends();
        let mut newest: Option<(KnownView<'a>, Result<Located, Reason>)> = None;
        let mut is_any_issued = false;
        for by in views {
            if !(self.shows(by, first) && self.shows(by, last)) {
                continue;
            }
            let is_issued = is_issued(by, target);
            let is_same_text = |one: &KnownView<'_>| one.view.hash == by.view.hash;
            if newest.as_ref().is_some_and(|(one, _)| !is_issued || is_same_text(one)) {
                continue;
            }
            is_any_issued |= is_issued;
            let located = self.locate_in_view(by, target);
            match (&newest, located) {
                (None, located) => newest = Some((by, located)),
                (Some((_, Ok(one))), Ok(other)) if one.block != other.block => {
                    let places = vec![one.block.first, other.block.first];
                    return Some(Err(self.refused(target, by, Reason::Ambiguous { places })));
                }
                (Some((_, Ok(one))), Err(_)) if self.disagrees(by, target, one.block) => {
                    let places = vec![one.block.first];
                    return Some(Err(self.refused(target, by, Reason::Ambiguous { places })));
                }
                _ => {}
            }
        }
        let (by, located) = newest?;
        let located = located.map(|located| LocatedView { by, located, is_issued: is_any_issued });
        Some(located.map_err(|reason| self.refused(target, by, reason)))
    }

    /// Whether a view finds an end of a target on another line than a newer view, or on none.
    fn disagrees(&mut self, by: KnownView<'a>, target: &Target<'_>, block: Block) -> bool {
        let (first, last) = target.ends();
        [(first, block.first), (last, block.last)].into_iter().any(|(end, place)| {
            match self.locate_in_view(by, &Target::Line(end)) {
                Ok(located) => located.block.first != place,
                // The session may have written an equal line in its place.
                Err(Reason::OwnEdit) => !self.is_written_since(by, place),
                Err(_) => true,
            }
        })
    }

    /// Whether the session itself wrote a line of the current text after a view was shown.
    fn is_written_since(&self, by: KnownView<'a>, line: u64) -> bool {
        self.lineage(by.lineage).tip == self.current.hash && !by.view.has_line_of_tip(line)
    }

    /// Refuses the place of a range if one end alone was later shown on another line: the model may
    /// mean that line.
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
            let end = Target::Line(end);
            let is_newer = |view: &View| by.is_none_or(|by| view.last > by.since);
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

    /// The views that a call may mean, most recently shown first.
    fn views(&self) -> Vec<KnownView<'a>> {
        let lineages = self.file.into_iter().flat_map(|file| file.lineages.iter().enumerate());
        let mut views: Vec<_> = lineages
            .flat_map(|(lineage, one)| {
                one.views.iter().map(move |view| KnownView { lineage, view })
            })
            .filter(|one| one.view.is_known(self.as_of))
            .collect();
        // A text that was restored has views in two lineages: the newer lineage comes first.
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

    /// The text with a hash, if it is remembered.
    fn body(&self, hash: u128) -> Option<Body<'a>> {
        if hash == self.current.hash { Some(self.current) } else { self.record.text(hash) }
    }

    /// The tag of the text with a hash, if it is remembered.
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

    /// Whether a view showed the line of an anchor with its hash and hint, or is of the version
    /// that it names.
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

    /// Finds where the lines of a target in a view are now.
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

    /// A view of the text with this hash in the current lineage. Its track is exact for everything
    /// that was shown of the text, also in views of other lineages: what a read showed may be
    /// learned only after an edit changed the file.
    fn view_with_track(&self, hash: u128) -> Option<KnownView<'a>> {
        let lineage = self.current_lineage()?;
        let views = &self.lineage(lineage).views;
        let view = views.iter().rev().find(|view| view.hash == hash)?;
        Some(KnownView { lineage, view })
    }

    /// Follows a block from the tip of a lineage to the current text: by tracks through later
    /// lineages, and by diffs between them.
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
            let before = block;
            block = self.compare(from, next.base, target, block, &mut reindented)?;
            self.check_enough_left(known_by, from, next.base, before)?;
            block = track(&next.track, target, block).ok_or(Reason::OwnEdit)?;
            (from, known_by) = (next.tip, step);
        }
        let place = self.compare(from, self.current.hash, target, block, &mut reindented)?;
        self.check_enough_left(known_by, from, self.current.hash, block)?;
        Ok((place, reindented))
    }

    /// Refuses if too few of the known lines of a lineage's tip are left in a text. A different
    /// file with the same name can have a few equal lines by accident, and the edited lines are
    /// among them.
    fn check_enough_left(
        &mut self,
        at: usize,
        from: u128,
        to: u128,
        edited: Block,
    ) -> Result<(), Reason> {
        if from == to {
            return Ok(());
        }
        let left = match self.left.get(&(at, from, to)) {
            Some(left) => left,
            None => {
                let left = self.count_left(at, from, to)?;
                self.left.entry((at, from, to)).or_insert(left)
            }
        };
        let edited = edited.first..=edited.last;
        match left {
            Left::Enough => Ok(()),
            Left::Only(kept) if kept.iter().any(|line| !edited.contains(line)) => Ok(()),
            Left::Only(_) | Left::TooFew => Err(Reason::Replaced),
        }
    }

    fn count_left(&mut self, at: usize, from: u128, to: u128) -> Result<Left, Reason> {
        let known = self.known(at).lines.clone();
        let body = self.body(from);
        let carry = self.carry_between(from, to)?;
        let (mut all, mut left) = (0u64, 0u64);
        for line in known.ranges().iter().flat_map(Range::clone) {
            // The known lines may go past the end.
            let Some(text) = body.and_then(|body| body.line(line)) else { break };
            if says_enough(text) {
                all += 1;
                left += u64::from(carry.kept(line).is_some());
            }
        }
        if left * ENOUGH_LEFT_SHARE < all {
            return Ok(Left::TooFew);
        }
        if left >= FEW_LINES as u64 {
            return Ok(Left::Enough);
        }
        let (mut kept, mut gone) = (Vec::new(), 0);
        for (line, text) in (1..).zip(body.iter().flat_map(Body::lines)) {
            match carry.kept(line).is_some() {
                _ if !says_enough(text) => {}
                true => kept.push(line),
                false => gone += 1,
            }
            if kept.len() == FEW_LINES {
                break;
            }
        }
        Ok(if gone < FEW_LINES { Left::Enough } else { Left::Only(kept) })
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
            // If the call was cancelled, the refusal is not returned.
            Entry::Vacant(free) => {
                Ok(free
                    .insert(Carry::new(old.text, new.text, self.cancel).ok_or(Reason::Forgotten)?))
            }
        }
    }

    /// Takes the anchors as numbers of the current text: a report says by how much lines moved, so
    /// the model may have computed them. Not if the number was shown with another hash: then the
    /// anchor can be a mistake, and in mistakes the number is nearly always right.
    fn locate_by_current_numbers(&mut self, target: &Target<'_>) -> Option<Located> {
        let at = self.current_lineage().filter(|&at| !self.changed_since_call(at))?;
        let (first, last) = target.ends();
        let mut is_sure = |anchor| {
            self.matches_current(at, anchor)
                && (anchor.edition.is_some() || !self.is_retired(anchor))
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

    /// Whether an anchor matches the current text, which is the tip of a lineage, and the model
    /// knows the line.
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

    /// Whether a view showed the number of an anchor with a line that does not match it, or that is
    /// forgotten.
    fn was_shown_differently(&mut self, anchor: &Anchor) -> bool {
        let line = u64::from(anchor.line);
        let mut views = self.views().into_iter();
        views.any(|one| one.view.shows(line, self.as_of) && !self.shows(one, anchor))
    }

    /// Whether the session edited a lineage after the call was made. Then the call cannot mean
    /// current numbers, or lines that were written since.
    fn changed_since_call(&self, at: usize) -> bool {
        self.as_of.is_some_and(|as_of| self.lineage(at).changed > as_of)
    }

    /// The lineage whose tip is the current text.
    fn current_lineage(&self) -> Option<usize> {
        self.file?.lineages.iter().rposition(|lineage| lineage.tip == self.current.hash)
    }

    /// What the model knows of the lines of a lineage's tip.
    fn known(&mut self, at: usize) -> &Knowledge {
        let (lineage, as_of) = (self.lineage(at), self.as_of);
        self.known.entry(at).or_insert_with(|| lineage.known(as_of))
    }

    /// Finds a range whose ends were shown in different views. Each end is located alone, and only
    /// own edits may have changed the file since.
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

    /// Whether two lines that were shown in different views still enclose the target: between the
    /// lines of [`Target::Between`], only lines that the session wrote are allowed.
    fn is_one_place(&self, target: &Target<'_>, at: usize, first: u64, last: u64) -> bool {
        let is_written = || self.lineage(at).written.missing(first + 1..last).is_empty();
        !matches!(target, Target::Between(..)) || is_written()
    }

    /// The place, or a refusal of a range with unseen lines: it would remove them.
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

    /// The lines of a range of the tip that the model knows only in part, by their current numbers.
    /// With [`Unseen::Match`], only the lines of the anchors count.
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

/// Whether a view that shows the anchors of a target showed each with the version that it has, or
/// without version.
fn is_issued(by: KnownView<'_>, target: &Target<'_>) -> bool {
    let (first, last) = target.ends();
    [first, last].iter().all(|end| {
        end.edition.is_some() || end.tag.is_some() || !by.view.is_versioned(end.line.into())
    })
}

/// Why own edits have removed lines of a view.
fn own_edit(view: &View, block: Block) -> Reason {
    match (view.moved_out_to(block.first), view.moved_out_to(block.last)) {
        (Some((to, first)), Some((other, last))) if to == other => {
            Reason::MovedOut { to: to.to_owned(), first, last }
        }
        _ => Reason::OwnEdit,
    }
}

/// Where the lines of a target are after own edits. `None` if one was removed, or if a range has
/// other lines in it now.
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

/// Finds a target after a change by another process. Returns the lines by which it was found, and
/// the current number of the first one. A gap is found by both lines around it, or else by the line
/// of the anchor.
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
