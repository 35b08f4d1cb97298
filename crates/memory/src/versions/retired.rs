//! The anchors of dropped views, which no other line may get.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{FileMemory, Memory, Moment};
use crate::lines::LineSet;
use hashline_lines::hash::LineHasher;

/// The most anchors of one file. Later ones count as never shown.
const MAX_ANCHORS: usize = 20_000;

/// Numbers and hashes of rows whose meaning is forgotten.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RetiredAnchors(BTreeSet<(u64, u32)>);

impl RetiredAnchors {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a row with this number and hash was shown.
    pub fn contains(&self, line: u64, hash: u32) -> bool {
        self.0.contains(&(line, hash))
    }

    pub(super) fn bytes(&self) -> usize {
        // A node of the tree is at least half full.
        2 * self.0.len() * size_of::<(u64, u32)>()
    }

    fn insert(&mut self, line: u64, hash: u32) {
        if self.0.len() < MAX_ANCHORS {
            self.0.insert((line, hash));
        }
    }
}

impl Memory {
    /// Remembers the anchors of the views that were just dropped. An anchor that another view shows
    /// for an equal line means the same line: otherwise one of the two rows has the version.
    pub(super) fn retire_evicted(&mut self, file: &Path) {
        let evicted = self.files.get(file).map_or(&[][..], |known| &known.evicted);
        if evicted.is_empty() {
            return;
        }
        let known = self.files.get(file).cloned().unwrap_or_default();
        let mut anchors = Vec::new();
        for (tip, view) in self.dialect.iter().flat_map(|_| &known.evicted) {
            let tip = self.texts.get(*tip).map(|kept| kept.body());
            let lost = self.shown_only_in(&known, |line| view.line_text(tip, line), view.bare());
            let mut hasher = self.dialect.map(LineHasher::new);
            let lines = lost.ranges().iter().flat_map(Range::clone).take(MAX_ANCHORS);
            anchors.extend(lines.filter_map(|line| {
                Some((line, hasher.as_mut()?.hash(line, view.line_text(tip, line)?)))
            }));
        }
        drop(known);
        self.change(file, |known| {
            known.evicted.clear();
            anchors.iter().for_each(|&(line, hash)| known.retired.insert(line, hash));
        });
    }

    /// The lines of a dropped view that no other view shows with an equal text. The view that is
    /// being shown does not count, because its rows are not final in a preview.
    fn shown_only_in<'t>(
        &self,
        known: &FileMemory,
        text_of: impl Fn(u64) -> Option<&'t [u8]>,
        mut lines: LineSet,
    ) -> LineSet {
        for lineage in known.lineages.iter().rev() {
            let tip = self.texts.get(lineage.tip).map(|kept| kept.body());
            for view in lineage.views.iter().filter(|view| view.last != Moment(self.now)) {
                let is_same = |&line: &u64| text_of(line) == view.line_text(tip, line);
                let common = lines.common(&view.bare());
                let common = common.ranges().iter().flat_map(Range::clone).filter(is_same);
                lines = lines.without(&common.map(|line| line..line + 1).collect());
            }
        }
        lines
    }
}
