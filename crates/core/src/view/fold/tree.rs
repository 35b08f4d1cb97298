//! Chooses the folds to open within a number of rows: first those with the most definitions per
//! row, those of tests last, then the shortest bodies.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::layout::{FoldableLines, FoldableText};

/// Definitions per row are compared in units of 1/`PARTS`.
const PARTS: u64 = 1 << 20;

/// The foldable ranges of a text as a tree; the root is the whole text.
pub struct FoldTree {
    nodes: Vec<FoldNode>,
    definitions: Vec<u64>,
}

struct FoldNode {
    lines: Range<u64>,
    is_test: bool,
    children: Vec<usize>,
    is_open: bool,
    /// The gain and cost of opening it.
    gain: Gain,
    /// The best ratio of opening it, alone or with descendants.
    best: Gain,
}

#[derive(Clone, Copy, Default)]
struct Gain {
    definitions: u64,
    rows: u64,
}

impl Gain {
    fn per_row(self) -> u64 {
        self.definitions.saturating_mul(PARTS) / self.rows.max(1)
    }

    fn and(self, other: Gain) -> Gain {
        Gain { definitions: self.definitions + other.definitions, rows: self.rows + other.rows }
    }
}

/// A fold to open; the greatest candidate is opened first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    class: Reverse<u8>,
    per_row: u64,
    rows: Reverse<u64>,
    first: Reverse<u64>,
    node: usize,
}

const ROOT: usize = 0;

impl FoldTree {
    /// The tree of a text with `lines` lines.
    pub fn new(layout: FoldableText, lines: u64) -> FoldTree {
        let mut tree = FoldTree { nodes: Vec::new(), definitions: layout.definitions };
        tree.add(FoldableLines { lines: 1..lines + 1, is_test: false }, Vec::new());
        let mut around = vec![ROOT];
        for range in layout.ranges {
            let ends_before = |&mut node: &mut usize| {
                node != ROOT && tree.nodes[node].lines.end <= range.lines.start
            };
            while around.pop_if(ends_before).is_some() {}
            let parent = around.last().copied().unwrap_or(ROOT);
            let node = tree.add(range, Vec::new());
            tree.nodes[parent].children.push(node);
            around.push(node);
        }
        for node in (0..tree.nodes.len()).rev() {
            tree.update_gain(node);
        }
        tree
    }

    fn add(&mut self, range: FoldableLines, children: Vec<usize>) -> usize {
        let FoldableLines { lines, is_test } = range;
        let (gain, best) = (Gain::default(), Gain::default());
        self.nodes.push(FoldNode { lines, is_test, children, is_open: false, gain, best });
        self.nodes.len() - 1
    }

    /// Computes the gain and cost of opening a node, from those of its children.
    fn update_gain(&mut self, node: usize) {
        let FoldNode { lines, children, .. } = &self.nodes[node];
        let mut gain = Gain {
            definitions: self.definitions_in(lines).len() as u64,
            rows: lines.end - lines.start + children.len() as u64,
        };
        for &child in children {
            let lines = &self.nodes[child].lines;
            gain.definitions -= self.definitions_in(lines).len() as u64;
            gain.rows -= lines.end - lines.start;
        }
        let further = children.iter().map(|&child| gain.and(self.nodes[child].best));
        let best = further.fold(
            gain,
            |best, other| {
                if other.per_row() > best.per_row() { other } else { best }
            },
        );
        (self.nodes[node].gain, self.nodes[node].best) = (gain, best);
    }

    fn definitions_in(&self, lines: &Range<u64>) -> &[u64] {
        let from = self.definitions.partition_point(|&line| line < lines.start);
        let to = self.definitions.partition_point(|&line| line < lines.end);
        &self.definitions[from..to]
    }

    /// The folds of a view of at most `rows` rows; the text must have more lines.
    pub fn folded_to(mut self, rows: u64) -> Vec<Range<u64>> {
        let mut left = rows.max(1);
        let mut candidates = BinaryHeap::new();
        let mut partly = None;
        candidates.push(self.candidate(ROOT));
        while let Some(Candidate { node, .. }) = candidates.pop() {
            // Opening a fold frees its row.
            let room = if node == ROOT { left } else { left + 1 };
            if self.nodes[node].gain.definitions > 0 {
                self.fold_between_definitions(node);
            }
            let needed = self.nodes[node].gain.rows;
            if needed > room {
                if node == ROOT || self.nodes[node].gain.definitions > 0 {
                    partly.get_or_insert(node);
                }
                continue;
            }
            left = room - needed;
            self.nodes[node].is_open = true;
            let inner = self.nodes[node].children.iter().map(|&child| self.candidate(child));
            candidates.extend(inner);
        }
        let rest = partly.map(|node| self.open_partly(node, left));
        self.folded(rest)
    }

    fn candidate(&self, node: usize) -> Candidate {
        let FoldNode { lines, is_test, gain, best, .. } = &self.nodes[node];
        let has_definitions = best.definitions > 0;
        let class = match (node == ROOT, has_definitions, is_test) {
            (true, _, _) => 0,
            (false, true, false) => 1,
            (false, true, true) => 2,
            (false, false, false) => 3,
            (false, false, true) => 4,
        };
        Candidate {
            class: Reverse(class),
            per_row: best.per_row(),
            rows: Reverse(gain.rows),
            first: Reverse(lines.start),
            node,
        }
    }

    /// Folds the lines between the definitions of a node, so that opening it shows little else.
    fn fold_between_definitions(&mut self, node: usize) {
        let lines = self.nodes[node].lines.clone();
        let children = std::mem::take(&mut self.nodes[node].children);
        let is_inside = |line: u64| {
            let at = children.partition_point(|&child| self.nodes[child].lines.end <= line);
            children.get(at).is_some_and(|&child| self.nodes[child].lines.start <= line)
        };
        let own = self.definitions_in(&lines).iter().copied().filter(|&line| !is_inside(line));
        let ends: Vec<u64> = own.chain([lines.end]).collect();
        let (mut from, mut rest, mut between) = (lines.start, children.as_slice(), Vec::new());
        for end in ends {
            let inner;
            let after = rest.partition_point(|&child| self.nodes[child].lines.start < end);
            (inner, rest) = rest.split_at(after);
            between.extend(self.between(from..end, inner, self.nodes[node].is_test));
            from = end + 1;
        }
        self.nodes[node].children = between;
        self.update_gain(node);
    }

    /// A node for the lines between two definitions, if they can be folded.
    fn between(&mut self, lines: Range<u64>, inner: &[usize], is_test: bool) -> Option<usize> {
        if let [child] = inner
            && self.nodes[*child].lines == lines
        {
            return Some(*child);
        }
        if lines.end.saturating_sub(lines.start) < 2 {
            return None;
        }
        let are_tests = !inner.is_empty() && inner.iter().all(|&child| self.nodes[child].is_test);
        let node = self.add(FoldableLines { lines, is_test: is_test || are_tests }, inner.to_vec());
        self.update_gain(node);
        Some(node)
    }

    /// Opens the start of a node that exceeds the remaining rows; returns the rest, which stays
    /// folded.
    fn open_partly(&mut self, node: usize, left: u64) -> Range<u64> {
        let FoldNode { lines, children, .. } = &self.nodes[node];
        let (mut line, mut inner) = (lines.start, children.iter().peekable());
        // The fold has a row already for the rest; the whole text has none.
        for _ in 0..(if node == ROOT { left.saturating_sub(1) } else { left }) {
            let child = inner.next_if(|&&child| self.nodes[child].lines.start == line);
            line = child.map_or(line + 1, |&child| self.nodes[child].lines.end);
        }
        let rest = line.min(lines.end)..lines.end;
        self.nodes[node].is_open = true;
        rest
    }

    /// The closed children of open nodes, and the rest of a node that was opened in part.
    fn folded(&self, rest: Option<Range<u64>>) -> Vec<Range<u64>> {
        let open = self.nodes.iter().filter(|node| node.is_open);
        let inner = open.flat_map(|node| &node.children).map(|&child| &self.nodes[child]);
        let closed = inner.filter(|node| !node.is_open).map(|node| node.lines.clone());
        closed.chain(rest).filter(|lines| !lines.is_empty()).collect()
    }
}
