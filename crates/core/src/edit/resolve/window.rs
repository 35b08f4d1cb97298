//! The lines near a number, by hash.

use std::collections::HashMap;

use super::Evidence;
use crate::text::hash::{LineHasher, mixes_line_number};
use crate::view::anchor::Anchor;

/// Looks for hashes near a line; every line is hashed once, however many anchors ask.
pub(super) struct Window<'e, 'a> {
    evidence: &'e Evidence<'a>,
    size_lines: u64,
    hasher: LineHasher,
    /// Hashes by line number; not used where the hash depends on who asks.
    known: HashMap<u64, u32>,
}

impl<'e, 'a> Window<'e, 'a> {
    pub(super) fn new(evidence: &'e Evidence<'a>, size_lines: u64) -> Self {
        let hasher = LineHasher::new(evidence.dialect);
        Window { evidence, size_lines, hasher, known: HashMap::new() }
    }

    /// Whether line `number` has the anchor's hash, and its hint's text.
    pub(super) fn agrees(&mut self, anchor: &Anchor, number: u64) -> bool {
        let Some(line) = self.evidence.line(number) else {
            return false;
        };
        self.hash_of(anchor, number, line) == anchor.hash && self.hint_agrees(anchor, line)
    }

    /// Whether line `number` has the anchor's hash.
    pub(super) fn has_hash(&mut self, anchor: &Anchor, number: u64) -> bool {
        let line = self.evidence.line(number);
        line.is_some_and(|line| self.hash_of(anchor, number, line) == anchor.hash)
    }

    /// The lines within the window around the anchor's number that agree with it, ascending.
    pub(super) fn lines_with(&mut self, anchor: &Anchor) -> Vec<u64> {
        self.search(anchor, |window, line| window.hint_agrees(anchor, line))
    }

    /// The lines within the window that have its hash, whatever its hint says, ascending.
    pub(super) fn lines_with_hash(&mut self, anchor: &Anchor) -> Vec<u64> {
        self.search(anchor, |_, _| true)
    }

    /// Whether the anchor's own line is the only one in its window with that hash.
    pub(super) fn is_unique(&mut self, anchor: &Anchor) -> bool {
        self.lines_with_hash(anchor) == [u64::from(anchor.line)]
    }

    fn search(&mut self, anchor: &Anchor, accept: impl Fn(&Self, &[u8]) -> bool) -> Vec<u64> {
        let named = u64::from(anchor.line);
        let first = named.saturating_sub(self.size_lines).max(1);
        let last = named.saturating_add(self.size_lines).min(self.evidence.count());
        let text = self.evidence.text;
        let Some(lines) = self.evidence.index.from_line(text, first) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (number, span) in (first..=last).zip(lines) {
            let line = span.text(text);
            if self.hash_of(anchor, number, line) == anchor.hash && accept(self, line) {
                found.push(number);
            }
        }
        found
    }

    fn hint_agrees(&self, anchor: &Anchor, line: &[u8]) -> bool {
        anchor.hint.as_ref().is_none_or(|hint| hint.agrees(self.evidence.dialect, line))
    }

    /// The hash of a line, made with the number that the anchor names: the line may have had
    /// that number when the model saw it.
    fn hash_of(&mut self, anchor: &Anchor, number: u64, line: &[u8]) -> u32 {
        if mixes_line_number(self.evidence.dialect) {
            return self.hasher.hash(u64::from(anchor.line), line);
        }
        *self.known.entry(number).or_insert_with(|| self.hasher.hash(number, line))
    }
}
