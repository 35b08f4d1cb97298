//! Lineages and views: the texts that a session's own edits made of a file, and the lines that were
//! shown of each.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Moment;
use crate::body::{Body, hex};
use crate::lines::LineSet;
use crate::shown::{Knowledge, Parts, ShownLines};
use crate::track::{LineChanges, MovedOutLines, Origin, Track, TrackAsNow};
use hashline_lines::tag::Tag;

/// The most views of one lineage. Each text that was shown has a view.
const MAX_VIEWS: usize = 64;

/// The most views of one lineage while waiting calls need them.
const MAX_HELD_VIEWS: usize = 256;

/// When the waiting calls were made.
#[derive(Clone, Copy)]
pub(super) struct WaitingCalls {
    pub(super) oldest: Moment,
    pub(super) newest: Moment,
}

/// The view of a lineage's current tip.
pub(super) struct TipView<'l> {
    pub(super) view: &'l mut View,
    /// The view that was dropped to make room.
    pub(super) evicted: Option<View>,
}

/// What was shown of one text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct View {
    /// The hash of the text.
    #[serde(with = "hex")]
    pub hash: u128,
    /// The tag of the text, if the model was shown it, or if a patch may have named it. Without the
    /// text it cannot be computed later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Tag>,
    /// The lines that were shown, by their numbers in that text.
    pub shown: LineSet,
    /// The parts of lines that were not shown whole.
    #[serde(default, skip_serializing_if = "Parts::is_empty")]
    pub(super) parts: Parts,
    /// The lines whose rows always named the version. Without it, their anchors mean other lines.
    #[serde(default, skip_serializing_if = "LineSet::is_empty")]
    pub(super) versioned: LineSet,
    /// Lines that were shown while calls waited, and when. Calls that were made before cannot mean
    /// them.
    #[serde(skip)]
    pub(super) late: Vec<(Moment, LineSet)>,
    /// Where its lines are in the tip.
    pub track: Track,
    /// Shown lines that an own edit removed, with their text.
    #[serde(with = "texts_by_line")]
    pub gone: BTreeMap<u64, Box<[u8]>>,
    /// Shown lines that an own edit moved to other files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) left: Vec<MovedOutLines>,
    /// When its first lines were shown.
    pub since: Moment,
    /// When lines were last shown.
    pub last: Moment,
}

impl View {
    /// A view of a tip.
    pub(super) fn new(hash: u128, shown: LineSet, now: Moment) -> View {
        View {
            hash,
            tag: None,
            shown,
            parts: Parts::default(),
            versioned: LineSet::default(),
            late: Vec::new(),
            track: Track::identity(),
            gone: BTreeMap::new(),
            left: Vec::new(),
            since: now,
            last: now,
        }
    }

    /// Adds shown lines.
    pub(super) fn show(&mut self, shown: &ShownLines, now: Moment, waiting: Option<WaitingCalls>) {
        let lines = &shown.lines;
        let oldest = waiting.filter(|waiting| self.since <= waiting.newest);
        let oldest = oldest.map(|waiting| waiting.oldest);
        match oldest {
            Some(oldest) => {
                self.late.retain(|(moment, _)| *moment > oldest);
                let fresh = lines.without(&self.shown);
                if !fresh.is_empty() {
                    self.late.push((now, fresh));
                }
            }
            None => self.late.clear(),
        }
        self.versioned.extend(&shown.versioned.without(&self.shown));
        self.versioned = self.versioned.without(&lines.without(&shown.versioned));
        self.parts.show(&self.shown, shown, now, oldest);
        self.shown.extend(lines);
        self.last = now;
    }

    /// Adds what another view of the same text shows.
    pub(super) fn show_as(&mut self, other: &View) {
        self.parts = Parts::union((&self.shown, &self.parts), (&other.shown, &other.parts));
        let bare = self.bare();
        self.versioned = self.versioned.without(&other.bare());
        self.versioned.extend(&other.versioned.without(&bare));
        self.shown.extend(&other.shown);
    }

    /// The lines of which a row without version was shown.
    pub(super) fn bare(&self) -> LineSet {
        self.shown.without(&self.versioned)
    }

    /// Whether only rows with the version showed a line.
    pub fn is_versioned(&self, line: u64) -> bool {
        self.versioned.contains(line)
    }

    /// Whether a call made at `as_of` can mean any line of it.
    pub fn is_known(&self, as_of: Option<Moment>) -> bool {
        as_of.is_none_or(|as_of| self.since <= as_of)
    }

    /// Whether a call made at `as_of` can mean this line.
    pub fn shows(&self, line: u64, as_of: Option<Moment>) -> bool {
        let is_late = |as_of: Moment| {
            self.late.iter().any(|(moment, lines)| *moment > as_of && lines.contains(line))
        };
        self.is_known(as_of) && self.shown.contains(line) && !as_of.is_some_and(is_late)
    }

    /// The lines that a call made at `as_of` can mean.
    pub fn shown_as_of(&self, as_of: Option<Moment>) -> LineSet {
        let mut shown = self.shown.clone();
        for (moment, lines) in &self.late {
            if as_of.is_some_and(|as_of| *moment > as_of) {
                shown = shown.without(lines);
            }
        }
        shown
    }

    /// What a call made at `as_of` can know of the lines.
    pub fn knowledge(&self, as_of: Option<Moment>) -> Knowledge {
        self.parts.knowledge(self.shown_as_of(as_of), as_of)
    }

    pub(super) fn bytes(&self) -> usize {
        let gone: usize = self.gone.values().map(|line| line.len() + 64).sum();
        let late: usize = self.late.iter().map(|(_, lines)| size_of_val(lines.ranges())).sum();
        let lines = size_of_val(self.shown.ranges()) + late;
        let lines = lines + size_of_val(self.versioned.ranges()) + self.parts.bytes();
        let left: usize =
            self.left.iter().map(|one| size_of::<MovedOutLines>() + one.to.len()).sum();
        size_of::<View>() + lines + self.track.bytes() + gone + left
    }

    /// How many of its lines still exist.
    pub(super) fn live_lines(&self) -> u64 {
        self.shown.count().saturating_sub(self.gone.len() as u64)
    }

    /// Remembers the text of shown lines that an edit of the tip removes, if the tip is known, and
    /// the files to which lines were moved.
    fn remember_removed(&mut self, tip: Option<Body<'_>>, changes: &LineChanges) {
        let now = self.track.as_now();
        let mut gone = Vec::new();
        for splice in tip.iter().flat_map(|_| &changes.splices) {
            for Origin { lines, now } in self.shown_in(&now, splice.lines()) {
                for (number, line) in lines.zip(now..).filter(|&(_, line)| !changes.moves(line)) {
                    let text = tip.and_then(|tip| tip.line(line));
                    gone.extend(text.map(|text| (number, text.into())));
                }
            }
        }
        let left = changes.left.iter().flat_map(|one| {
            let shown = self.shown_in(&now, one.first..one.first + one.count);
            shown.into_iter().map(|Origin { lines, now }| MovedOutLines {
                first: lines.start,
                count: lines.end - lines.start,
                to: one.to.clone(),
                now: one.now + (now - one.first),
            })
        });
        let left: Vec<MovedOutLines> = left.collect();
        self.left.extend(left);
        self.gone.extend(gone);
    }

    /// The file to which a line was moved, and its number there.
    pub fn moved_out_to(&self, line: u64) -> Option<(&str, u64)> {
        let one =
            self.left.iter().find(|one| (one.first..one.first + one.count).contains(&line))?;
        Some((&one.to, one.now + (line - one.first)))
    }

    /// The text of a line that was shown, if it is known; `tip` is the text of the tip.
    pub(super) fn line_text<'v>(&'v self, tip: Option<Body<'v>>, line: u64) -> Option<&'v [u8]> {
        let of_tip = || tip?.line(self.track.line(line)?);
        self.gone.get(&line).map(|text| &**text).or_else(of_tip)
    }

    /// Whether a line of the tip was already in this text.
    pub fn has_line_of_tip(&self, line: u64) -> bool {
        !self.track.as_now().origins(line..line + 1).is_empty()
    }

    /// The shown lines that are now in a range of the tip.
    fn shown_in(&self, now: &TrackAsNow<'_>, tip: Range<u64>) -> Vec<Origin> {
        let origins = now.origins(tip);
        let lines = origins.into_iter().flat_map(|origin| {
            let shift = origin.now as i64 - origin.lines.start as i64;
            let shown = self.shown.within(origin.lines);
            shown.into_iter().map(move |lines| {
                let now = lines.start.saturating_add_signed(shift);
                Origin { lines, now }
            })
        });
        lines.collect()
    }
}

/// A text that another process wrote, and the text that the session's own edits made of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lineage {
    /// The hash of the text that another process wrote.
    #[serde(with = "hex")]
    pub base: u128,
    /// Where its lines are in the tip.
    pub track: Track,
    /// The hash of the text after the edits.
    #[serde(with = "hex")]
    pub tip: u128,
    /// The lines of the tip that the session wrote.
    pub written: LineSet,
    /// The views, oldest first.
    pub views: Vec<View>,
    pub(super) used: Moment,
    /// When the session itself edited it last.
    pub changed: Moment,
}

impl Lineage {
    pub(super) fn new(hash: u128, views: Vec<View>, used: Moment) -> Lineage {
        let (track, written) = (Track::identity(), LineSet::default());
        Lineage { base: hash, track, tip: hash, written, views, used, changed: Moment(0) }
    }

    /// The view of the current tip. If there is none, creates one that includes what was shown of
    /// the same text before: the older view tracks lines that may have been removed and added again
    /// elsewhere.
    pub(super) fn view_of_tip(
        &mut self,
        now: Moment,
        waiting: Option<WaitingCalls>,
    ) -> TipView<'_> {
        let tip = self.tip;
        let is_tip = |view: &View| view.hash == tip && view.track.is_identity();
        let (at, evicted) = match self.views.iter().rposition(is_tip) {
            Some(at) => (at, None),
            None => {
                let mut new = View::new(tip, LineSet::default(), now);
                let same = self.views.iter().filter(|view| view.hash == tip);
                same.for_each(|view| new.show_as(view));
                self.views.push(new);
                let is_full = self.views.len() > MAX_VIEWS;
                let evicted = if is_full { self.evict_view(waiting) } else { None };
                (self.views.len() - 1, evicted)
            }
        };
        TipView { view: &mut self.views[at], evicted }
    }

    /// Drops the view of the older half with the fewest lines: a page that was read must outlive
    /// the reports of edits, which show a few lines each. Views that waiting calls can mean are
    /// kept as long as possible.
    fn evict_view(&mut self, waiting: Option<WaitingCalls>) -> Option<View> {
        let is_free = |view: &View| waiting.is_none_or(|waiting| view.since > waiting.oldest);
        let free = |views: &[View]| {
            let free = views.iter().enumerate().filter(|(_, view)| is_free(view));
            free.min_by_key(|(at, view)| (view.live_lines(), *at)).map(|(at, _)| at)
        };
        let newest = self.views.len() - 1;
        let least = free(&self.views[..MAX_VIEWS / 2]).or_else(|| free(&self.views[..newest]));
        let most = self.views.len() > MAX_HELD_VIEWS;
        let least = least.or(most.then_some(0));
        least.map(|at| self.views.remove(at))
    }

    /// Applies an own edit. Without the text before, the text of removed lines is not remembered.
    pub(super) fn follow(
        &mut self,
        before: Option<Body<'_>>,
        after: u128,
        changes: &LineChanges,
        now: Moment,
    ) {
        self.changed = now;
        for view in &mut self.views {
            if view.hash == self.tip {
                view.tag = view.tag.or(changes.tag_before);
            }
            view.remember_removed(before, changes);
            view.track.follow(changes);
        }
        let mut all = Track::identity();
        all.follow(changes);
        self.written = all.set(&self.written);
        self.written.extend(&changes.written());
        self.track.follow(changes);
        self.tip = after;
    }

    /// The lines of the tip that the model knows because they were shown or it wrote them.
    pub fn known(&self, as_of: Option<Moment>) -> Knowledge {
        let mut known = Knowledge::from(self.written.clone());
        for view in self.views.iter().filter(|view| view.is_known(as_of)) {
            known.add(&view.knowledge(as_of).tracked(&view.track));
        }
        known
    }

    pub(super) fn bytes(&self) -> usize {
        let views: usize = self.views.iter().map(View::bytes).sum();
        size_of::<Lineage>() + self.track.bytes() + size_of_val(self.written.ranges()) + views
    }
}

/// Stores texts of lines as strings. All texts of a session are valid UTF-8.
mod texts_by_line {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type KeptTexts = BTreeMap<u64, Box<[u8]>>;

    pub fn serialize<S: Serializer>(texts: &KeptTexts, to: S) -> Result<S::Ok, S::Error> {
        let texts: Vec<_> =
            texts.iter().map(|(line, text)| (line, String::from_utf8_lossy(text))).collect();
        texts.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<KeptTexts, D::Error> {
        let texts = Vec::<(u64, String)>::deserialize(from)?;
        Ok(texts.into_iter().map(|(line, text)| (line, text.into_bytes().into())).collect())
    }
}
