//! Which stretches of a text are opened within a number of rows: first those that show the most
//! definitions for each row, those of tests last, then the smallest bodies.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::layout::{FoldableLines, FoldableText};

/// Definitions for each row are compared in parts of this one.
const PARTS: u64 = 1 << 20;

/// The stretches of a text as a tree, with the whole text as its root.
pub struct FoldTree {
    nodes: Vec<FoldNode>,
    definitions: Vec<u64>,
}

struct FoldNode {
    lines: Range<u64>,
    is_test: bool,
    children: Vec<usize>,
    is_open: bool,
    /// What opening it shows.
    shows: Shows,
    /// What opening it and some of the stretches in it shows at best.
    best: Shows,
}

#[derive(Clone, Copy, Default)]
struct Shows {
    definitions: u64,
    rows: u64,
}

impl Shows {
    fn per_row(self) -> u64 {
        self.definitions.saturating_mul(PARTS) / self.rows.max(1)
    }

    fn and(self, other: Shows) -> Shows {
        Shows { definitions: self.definitions + other.definitions, rows: self.rows + other.rows }
    }
}

/// What is opened next: the greatest.
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
    /// The tree of a text with so many lines.
    pub fn new(layout: FoldableText, lines: u64) -> FoldTree {
        let mut tree = FoldTree { nodes: Vec::new(), definitions: layout.definitions };
        tree.add(FoldableLines { lines: 1..lines + 1, is_test: false }, Vec::new());
        let mut around = vec![ROOT];
        for stretch in layout.stretches {
            let is_behind = |&mut node: &mut usize| {
                node != ROOT && tree.nodes[node].lines.end <= stretch.lines.start
            };
            while around.pop_if(is_behind).is_some() {}
            let parent = around.last().copied().unwrap_or(ROOT);
            let node = tree.add(stretch, Vec::new());
            tree.nodes[parent].children.push(node);
            around.push(node);
        }
        for node in (0..tree.nodes.len()).rev() {
            tree.settle(node);
        }
        tree
    }

    fn add(&mut self, stretch: FoldableLines, children: Vec<usize>) -> usize {
        let FoldableLines { lines, is_test } = stretch;
        let (shows, best) = (Shows::default(), Shows::default());
        self.nodes.push(FoldNode { lines, is_test, children, is_open: false, shows, best });
        self.nodes.len() - 1
    }

    /// Counts what opening a node shows, of whose children that is known.
    fn settle(&mut self, node: usize) {
        let FoldNode { lines, children, .. } = &self.nodes[node];
        let mut shows = Shows {
            definitions: self.definitions_in(lines).len() as u64,
            rows: lines.end - lines.start + children.len() as u64,
        };
        for &child in children {
            let lines = &self.nodes[child].lines;
            shows.definitions -= self.definitions_in(lines).len() as u64;
            shows.rows -= lines.end - lines.start;
        }
        let further = children.iter().map(|&child| shows.and(self.nodes[child].best));
        let best = further.fold(
            shows,
            |best, one| {
                if one.per_row() > best.per_row() { one } else { best }
            },
        );
        (self.nodes[node].shows, self.nodes[node].best) = (shows, best);
    }

    fn definitions_in(&self, lines: &Range<u64>) -> &[u64] {
        let from = self.definitions.partition_point(|&line| line < lines.start);
        let to = self.definitions.partition_point(|&line| line < lines.end);
        &self.definitions[from..to]
    }

    /// What stays folded in a view of at most so many rows, where there is more than that.
    pub fn folded_to(mut self, rows: u64) -> Vec<Range<u64>> {
        let mut left = rows.max(1);
        let mut candidates = BinaryHeap::new();
        let mut cut = None;
        candidates.push(self.candidate(ROOT));
        while let Some(Candidate { node, .. }) = candidates.pop() {
            // The row that stood for it is free again.
            let room = if node == ROOT { left } else { left + 1 };
            if self.nodes[node].shows.definitions > 0 {
                self.tighten(node);
            }
            let needed = self.nodes[node].shows.rows;
            if needed > room {
                if node == ROOT || self.nodes[node].shows.definitions > 0 {
                    cut.get_or_insert(node);
                }
                continue;
            }
            left = room - needed;
            self.nodes[node].is_open = true;
            let inner = self.nodes[node].children.iter().map(|&child| self.candidate(child));
            candidates.extend(inner);
        }
        let cut = cut.map(|node| self.cut(node, left));
        self.folded(cut)
    }

    fn candidate(&self, node: usize) -> Candidate {
        let FoldNode { lines, is_test, shows, best, .. } = &self.nodes[node];
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
            rows: Reverse(shows.rows),
            first: Reverse(lines.start),
            node,
        }
    }

    /// Folds what stands between the definitions of a node, so that opening it shows little else.
    fn tighten(&mut self, node: usize) {
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
        self.settle(node);
    }

    /// A node for the lines between two definitions, if there are any to fold.
    fn between(&mut self, lines: Range<u64>, inner: &[usize], is_test: bool) -> Option<usize> {
        if let [child] = inner
            && self.nodes[*child].lines == lines
        {
            return Some(*child);
        }
        if lines.end.saturating_sub(lines.start) < 2 {
            return None;
        }
        let are_tests = !inner.is_empty() && inner.iter().all(|&one| self.nodes[one].is_test);
        let node = self.add(FoldableLines { lines, is_test: is_test || are_tests }, inner.to_vec());
        self.settle(node);
        Some(node)
    }

    /// Opens the beginning of a node that is too long for the rows that are left; returns what of
    /// it stays folded behind.
    fn cut(&mut self, node: usize, left: u64) -> Range<u64> {
        let FoldNode { lines, children, .. } = &self.nodes[node];
        let (mut line, mut inner) = (lines.start, children.iter().peekable());
        // The row for what stays folded is there already, but for the whole text.
        for _ in 0..(if node == ROOT { left.saturating_sub(1) } else { left }) {
            let child = inner.next_if(|&&child| self.nodes[child].lines.start == line);
            line = child.map_or(line + 1, |&child| self.nodes[child].lines.end);
        }
        let behind = line.min(lines.end)..lines.end;
        self.nodes[node].is_open = true;
        behind
    }

    /// What is not opened, though it is in something that is, and what stays folded besides.
    fn folded(&self, cut: Option<Range<u64>>) -> Vec<Range<u64>> {
        let open = self.nodes.iter().filter(|node| node.is_open);
        let inner = open.flat_map(|node| &node.children).map(|&child| &self.nodes[child]);
        let closed = inner.filter(|node| !node.is_open).map(|node| node.lines.clone());
        closed.chain(cut).filter(|lines| !lines.is_empty()).collect()
    }
}
