//! Finds lines near a number by their hash.

use std::collections::HashMap;

use super::CurrentText;
use hashline_lines::anchor::Anchor;
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::{LineHasher, mixes_line_number};

/// How many lines are hashed and sorted at a time.
const CHUNK_LINES: u64 = 128;

/// Searches for hashes near a line. Computes each hash once for all anchors, if possible.
pub(super) struct HashWindow<'e, 'a> {
    current_text: &'e CurrentText<'a>,
    size_lines: u64,
    hasher: LineHasher,
    /// Hashes with their lines, sorted, by number of the chunk. Not used if hashes depend on the
    /// anchor.
    chunks: HashMap<u64, Vec<(u32, FoundLine<'a>)>>,
}

/// A line that was found.
#[derive(Clone, Copy)]
struct FoundLine<'a> {
    number: u64,
    text: &'a [u8],
}

/// The lines from number `first` on.
fn lines_from<'a>(
    current_text: &CurrentText<'a>,
    first: u64,
) -> impl Iterator<Item = (u64, &'a [u8])> + use<'a> {
    let text = current_text.text;
    let lines = current_text.index.from_line(text, first).into_iter().flatten();
    (first..).zip(lines).map(move |(number, span)| (number, span.text(text)))
}

impl<'e, 'a> HashWindow<'e, 'a> {
    pub(super) fn new(current_text: &'e CurrentText<'a>, size_lines: u64) -> Self {
        let hasher = LineHasher::new(current_text.dialect);
        HashWindow { current_text, size_lines, hasher, chunks: HashMap::new() }
    }

    /// The dialect of the hashes.
    pub(super) fn dialect(&self) -> &'static Dialect {
        self.current_text.dialect
    }

    /// Whether line `number` matches the anchor's hash and hint. An anchor that names a version has
    /// neither; the caller compared the version.
    pub(super) fn agrees(&mut self, anchor: &Anchor, number: u64) -> bool {
        if anchor.tag.is_some() {
            return number == u64::from(anchor.line)
                && (1..=self.current_text.count()).contains(&number);
        }
        let Some(line) = self.current_text.line(number) else {
            return false;
        };
        self.hash_of(anchor, number, line) == anchor.hash && self.hint_agrees(anchor, line)
    }

    /// Whether line `number` has the anchor's hash.
    pub(super) fn has_hash(&mut self, anchor: &Anchor, number: u64) -> bool {
        let line = self.current_text.line(number);
        line.is_some_and(|line| self.hash_of(anchor, number, line) == anchor.hash)
    }

    /// The lines in the window that match the hash and hint of an anchor, ascending.
    pub(super) fn lines_with(&mut self, anchor: &Anchor) -> Vec<u64> {
        let found = self.lines_with_hash(anchor);
        let agreeing = found.into_iter().filter(|line| self.hint_agrees(anchor, line.text));
        agreeing.map(|line| line.number).collect()
    }

    /// The lines in the window that match only the hash of an anchor with a hint, ascending.
    pub(super) fn lines_with_hash_alone(&mut self, anchor: &Anchor) -> Vec<u64> {
        if anchor.hint.is_none() {
            return Vec::new();
        }
        let found = self.lines_with_hash(anchor);
        let others = found.into_iter().filter(|line| !self.hint_agrees(anchor, line.text));
        others.map(|line| line.number).collect()
    }

    /// Whether the anchor's own line is the only one in the window with its hash.
    pub(super) fn is_unique(&mut self, anchor: &Anchor) -> bool {
        let found = self.lines_with_hash(anchor);
        matches!(found.as_slice(), [only] if only.number == u64::from(anchor.line))
    }

    /// The lines in the window that have the hash of an anchor, ascending.
    fn lines_with_hash(&mut self, anchor: &Anchor) -> Vec<FoundLine<'a>> {
        if anchor.tag.is_some() {
            return Vec::new();
        }
        let named = u64::from(anchor.line);
        let first = named.saturating_sub(self.size_lines).max(1);
        let last = named.saturating_add(self.size_lines).min(self.current_text.count());
        if first > last {
            return Vec::new();
        }
        if mixes_line_number(self.current_text.dialect) {
            self.hash_each_line(anchor, first, last)
        } else {
            self.cached_lines(anchor.hash, first, last)
        }
    }

    /// Hashes each line, because hashes depend on the anchor.
    fn hash_each_line(&mut self, anchor: &Anchor, first: u64, last: u64) -> Vec<FoundLine<'a>> {
        let mut found = Vec::new();
        for (number, text) in lines_from(self.current_text, first).take_while(|one| one.0 <= last) {
            if self.hash_of(anchor, number, text) == anchor.hash {
                found.push(FoundLine { number, text });
            }
        }
        found
    }

    /// Finds lines by cached hashes.
    fn cached_lines(&mut self, hash: u32, first: u64, last: u64) -> Vec<FoundLine<'a>> {
        let mut found = Vec::new();
        for number in first / CHUNK_LINES..=last / CHUNK_LINES {
            let chunk = self.chunk(number);
            let from = chunk.partition_point(|(other, line)| (*other, line.number) < (hash, first));
            let alike = chunk[from..].iter().take_while(|(other, _)| *other == hash);
            found.extend(alike.map(|(_, line)| *line).take_while(|line| line.number <= last));
        }
        found
    }

    fn chunk(&mut self, number: u64) -> &[(u32, FoundLine<'a>)] {
        let (current_text, hasher) = (self.current_text, &mut self.hasher);
        self.chunks.entry(number).or_insert_with(|| {
            let first = (number * CHUNK_LINES).max(1);
            let end = (number + 1) * CHUNK_LINES;
            let lines = lines_from(current_text, first).take_while(|one| one.0 < end);
            let hashed =
                lines.map(|(number, text)| (hasher.hash(number, text), FoundLine { number, text }));
            let mut chunk: Vec<_> = hashed.collect();
            chunk.sort_unstable_by_key(|(hash, line)| (*hash, line.number));
            chunk
        })
    }

    fn hint_agrees(&self, anchor: &Anchor, line: &[u8]) -> bool {
        anchor.hint.as_ref().is_none_or(|hint| hint.agrees(self.current_text.dialect, line))
    }

    /// The hash of a line. If the dialect hashes line numbers, uses the number of the anchor, which
    /// the line may have had when it was shown.
    fn hash_of(&mut self, anchor: &Anchor, number: u64, line: &[u8]) -> u32 {
        let number = if mixes_line_number(self.current_text.dialect) {
            u64::from(anchor.line)
        } else {
            number
        };
        self.hasher.hash(number, line)
    }
}
