//! The lines near a number, by hash.

use std::collections::HashMap;

use super::Evidence;
use crate::text::hash::{LineHasher, mixes_line_number};
use crate::view::anchor::Anchor;

/// Lines are hashed and sorted by hash so many at a time.
const CHUNK_LINES: u64 = 128;

/// Looks for hashes near a line; for lines that are searched, they are made once, however many
/// anchors ask.
pub(super) struct Window<'e, 'a> {
    evidence: &'e Evidence<'a>,
    size_lines: u64,
    hasher: LineHasher,
    /// Hashes with their lines in ascending order, by number of the chunk; not used where the hash
    /// depends on who asks.
    chunks: HashMap<u64, Vec<(u32, u64)>>,
}

impl<'e, 'a> Window<'e, 'a> {
    pub(super) fn new(evidence: &'e Evidence<'a>, size_lines: u64) -> Self {
        let hasher = LineHasher::new(evidence.dialect);
        Window { evidence, size_lines, hasher, chunks: HashMap::new() }
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

    /// The lines within the window that have its hash, but not the text of its hint, ascending.
    pub(super) fn lines_with_hash_alone(&mut self, anchor: &Anchor) -> Vec<u64> {
        match anchor.hint {
            Some(_) => self.search(anchor, |window, line| !window.hint_agrees(anchor, line)),
            None => Vec::new(),
        }
    }

    /// Whether the anchor's own line is the only one in its window with that hash.
    pub(super) fn is_unique(&mut self, anchor: &Anchor) -> bool {
        self.search(anchor, |_, _| true) == [u64::from(anchor.line)]
    }

    fn search(&mut self, anchor: &Anchor, accept: impl Fn(&Self, &[u8]) -> bool) -> Vec<u64> {
        let named = u64::from(anchor.line);
        let first = named.saturating_sub(self.size_lines).max(1);
        let last = named.saturating_add(self.size_lines).min(self.evidence.count());
        if first > last {
            return Vec::new();
        }
        let mut found = match mixes_line_number(self.evidence.dialect) {
            true => self.each_line(anchor, first, last),
            false => self.from_chunks(anchor, first, last),
        };
        found.retain(|&number| self.evidence.line(number).is_some_and(|line| accept(self, line)));
        found
    }

    /// The lines from the first to the last with the anchor's hash, of which each is made anew.
    fn each_line(&mut self, anchor: &Anchor, first: u64, last: u64) -> Vec<u64> {
        let text = self.evidence.text;
        let lines = self.evidence.index.from_line(text, first).into_iter().flatten();
        let mut found = Vec::new();
        for (number, span) in (first..=last).zip(lines) {
            if self.hash_of(anchor, number, span.text(text)) == anchor.hash {
                found.push(number);
            }
        }
        found
    }

    /// The same, of hashes that are known.
    fn from_chunks(&mut self, anchor: &Anchor, first: u64, last: u64) -> Vec<u64> {
        let mut found = Vec::new();
        for number in first / CHUNK_LINES..=last / CHUNK_LINES {
            let chunk = self.chunk(number);
            let from = chunk.partition_point(|entry| *entry < (anchor.hash, first));
            let entries = chunk[from..].iter();
            let inside = entries.take_while(|entry| **entry <= (anchor.hash, last));
            found.extend(inside.map(|(_, line)| *line));
        }
        found
    }

    fn chunk(&mut self, number: u64) -> &[(u32, u64)] {
        let (evidence, hasher) = (self.evidence, &mut self.hasher);
        self.chunks.entry(number).or_insert_with(|| {
            let first = (number * CHUNK_LINES).max(1);
            let last = (number + 1) * CHUNK_LINES - 1;
            let lines = evidence.index.from_line(evidence.text, first).into_iter().flatten();
            let hashed = (first..=last)
                .zip(lines)
                .map(|(number, span)| (hasher.hash(number, span.text(evidence.text)), number));
            let mut chunk: Vec<_> = hashed.collect();
            chunk.sort_unstable();
            chunk
        })
    }

    fn hint_agrees(&self, anchor: &Anchor, line: &[u8]) -> bool {
        anchor.hint.as_ref().is_none_or(|hint| hint.agrees(self.evidence.dialect, line))
    }

    /// The hash of a line, made with the number that the anchor names: the line may have had
    /// that number when the model saw it.
    fn hash_of(&mut self, anchor: &Anchor, number: u64, line: &[u8]) -> u32 {
        let number = match mixes_line_number(self.evidence.dialect) {
            true => u64::from(anchor.line),
            false => number,
        };
        self.hasher.hash(number, line)
    }
}
