//! Insertions into one object or array, and deletions from it → replaced ranges.
//!
//! Commas: afterwards every value but the last is followed by one; the last has one if it had one
//! before. Whitespace: a value on its own lines is deleted with these lines; a value within a line
//! is deleted with the whitespace on one side. Comments stay.

use super::style::{Layout, Style, layout_inside};
use super::tree::{Comment, NodeId, Tree};

/// A range of the text and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The index of the operation that causes it.
    pub operation: usize,
    /// Its first byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// The new text.
    pub text: String,
}

/// A value to insert.
#[derive(Clone, Debug)]
pub struct Insertion {
    /// The index of the operation.
    pub operation: usize,
    /// How many of the old values precede it.
    pub gap: usize,
    /// Its key, in an object.
    pub key: Option<String>,
    /// Its text, key included.
    pub text: String,
}

/// The layout at an insertion point.
#[derive(Clone, Debug)]
pub struct InsertionLayout {
    /// Whether the value starts a line.
    pub layout: Layout,
    /// The indentation of the line that the value starts or is appended to.
    pub indent: String,
}

/// The children of one object or array, with their pending insertions and deletions.
pub struct Members<'t> {
    tree: &'t Tree<'t>,
    id: NodeId,
    children: Vec<NodeId>,
    /// For each child, the operation that deletes it.
    deleted: Vec<Option<usize>>,
    insertions: Vec<Insertion>,
}

/// Adjacent deleted children, and the operation that deletes the first.
struct DeletedRun {
    first: usize,
    last: usize,
    operation: usize,
}

impl<'t> Members<'t> {
    /// The children of `id`, without changes so far.
    pub fn of(tree: &'t Tree<'t>, id: NodeId) -> Members<'t> {
        let children: Vec<NodeId> = tree.children(id).collect();
        let deleted = vec![None; children.len()];
        Members { tree, id, children, deleted, insertions: Vec::new() }
    }

    /// The number of children before any change.
    pub fn count(&self) -> usize {
        self.children.len()
    }

    pub fn delete(&mut self, operation: usize, child: NodeId) {
        if let Ok(at) = self.children.binary_search(&child) {
            self.deleted[at] = Some(operation);
        }
    }

    pub fn insert(&mut self, insertion: Insertion) {
        self.insertions.push(insertion);
    }

    /// The insertions, in the order of the request.
    pub fn insertions(&self) -> &[Insertion] {
        &self.insertions
    }

    /// The children that are not deleted.
    pub fn kept(&self) -> impl Iterator<Item = NodeId> + '_ {
        let kept = self.children.iter().zip(&self.deleted).filter(|(_, gone)| gone.is_none());
        kept.map(|(&child, _)| child)
    }

    /// The layout of a new value that `gap` of the old values precede.
    pub fn layout_at(&self, gap: usize) -> InsertionLayout {
        let tree = self.tree;
        let own = tree.indent_at(tree.member_start(self.id));
        let unit = || Style::around(tree, self.id).unit;
        if self.children.is_empty() {
            let layout = layout_inside(tree, self.id);
            let indent = match layout {
                Layout::Lines => own.to_owned() + &unit(),
                Layout::Inline => own.to_owned(),
            };
            return InsertionLayout { layout, indent };
        }
        // Follow the value that it precedes or, at the end, the last value.
        let model = gap.min(self.children.len() - 1);
        let start = tree.member_start(self.children[model]);
        let before = match model {
            0 => tree.start(self.id) + 1,
            _ => tree.end(self.children[model - 1]),
        };
        let begins_line = tree.text()[before..start].contains('\n');
        let layout = if begins_line { Layout::Lines } else { Layout::Inline };
        let indent = match layout {
            Layout::Lines if !tree.begins_line(start) => own.to_owned() + &unit(),
            Layout::Lines | Layout::Inline => tree.indent_at(start).to_owned(),
        };
        InsertionLayout { layout, indent }
    }

    /// Appends the replaced ranges to `out`.
    pub fn pieces(&self, out: &mut Vec<Piece>) {
        if self.children.is_empty() {
            out.extend(self.fill_empty());
            return;
        }
        if self.insertions.is_empty() && self.kept().next().is_none() && !self.has_comments() {
            let operation = self.deleted[0].unwrap_or_default();
            let (start, end) = self.inside();
            out.push(Piece { operation, start, end, text: String::new() });
            return;
        }
        self.comma_changes(out);
        self.insertion_pieces(out);
        for run in self.runs() {
            self.deletion_piece(&run, out);
        }
    }

    /// The range between the brackets.
    fn inside(&self) -> (usize, usize) {
        (self.tree.start(self.id) + 1, self.tree.end(self.id) - 1)
    }

    /// Whether any comment is outside the values.
    fn has_comments(&self) -> bool {
        let (mut at, end) = self.inside();
        let gaps = self.children.iter().map(|&child| {
            let gap = (at, self.tree.member_start(child));
            at = self.tree.end(child);
            gap
        });
        let gaps: Vec<_> = gaps.collect();
        let has = |&(start, end): &(usize, usize)| !self.tree.comments_in(start, end).is_empty();
        gaps.iter().any(has) || has(&(at, end))
    }

    /// Fills an empty object or array.
    fn fill_empty(&self) -> Option<Piece> {
        let tree = self.tree;
        let first = self.insertions.first()?;
        let (start, end) = self.inside();
        let InsertionLayout { layout, indent } = self.layout_at(0);
        let style = Style::around(tree, self.id);
        let own = tree.indent_at(tree.member_start(self.id));
        let (lead, gap, tail) = match layout {
            Layout::Lines => (
                style.newline.to_owned() + &indent,
                style.newline.to_owned() + &indent,
                style.newline.to_owned() + own,
            ),
            Layout::Inline => {
                let pad = match tree.text().as_bytes()[start - 1] {
                    b'{' => style.object_pad.clone(),
                    _ => style.array_pad.clone(),
                };
                (pad.clone(), style.comma_gap.clone(), pad)
            }
        };
        let ordered = self.in_text_order();
        let texts: Vec<&str> = ordered.iter().map(|insertion| insertion.text.as_str()).collect();
        let mut text = texts.join(&(",".to_owned() + &gap));
        let operation = first.operation;
        let Some(comment) = tree.comments_in(start, end).last() else {
            text = lead + &text + &tail;
            return Some(Piece { operation, start, end, text });
        };
        // After the last comment; on a new line if that comment extends to the end of its line.
        let is_line = comment.is_line || layout == Layout::Lines;
        let lead = if is_line { style.newline.to_owned() + &indent } else { " ".to_owned() };
        text = lead + &text;
        let start = comment.end;
        if !is_line || tree.text()[start..end].contains('\n') {
            return Some(Piece { operation, start, end: start, text });
        }
        text += style.newline;
        text += own;
        Some(Piece { operation, start, end, text })
    }

    /// The insertions, in the order of the text.
    fn in_text_order(&self) -> Vec<&Insertion> {
        let mut ordered: Vec<&Insertion> = self.insertions.iter().collect();
        ordered.sort_by_key(|insertion| (insertion.gap, insertion.operation));
        ordered
    }

    /// Whether the container has a trailing comma, which is kept.
    fn ends_in_comma(&self) -> bool {
        self.children.last().is_some_and(|&child| self.tree.comma(child).is_some())
    }

    /// Adds a comma after an old value, or removes one.
    fn comma_changes(&self, out: &mut Vec<Piece>) {
        let Some(last) = self.deleted.iter().rposition(Option::is_none) else { return };
        let is_last = !self.insertions.iter().any(|insertion| insertion.gap > last);
        let child = self.children[last];
        match (self.tree.comma(child), is_last && !self.ends_in_comma()) {
            (Some(comma), true) => {
                let operation = self.deleted[last + 1..].iter().flatten().next();
                let operation = operation.copied().unwrap_or_default();
                out.push(Piece { operation, start: comma, end: comma + 1, text: String::new() });
            }
            (None, false) => {
                let first = self.in_text_order().into_iter().find(|insertion| insertion.gap > last);
                let operation = first.map_or(0, |insertion| insertion.operation);
                let at = self.tree.end(child);
                out.push(Piece { operation, start: at, end: at, text: ",".to_owned() });
            }
            _ => {}
        }
    }

    /// Appends the insertions, each after the closest preceding child that is kept.
    fn insertion_pieces(&self, out: &mut Vec<Piece>) {
        let last_kept = self.deleted.iter().rposition(Option::is_none);
        let ordered = self.in_text_order();
        for (at, insertion) in ordered.iter().enumerate() {
            let is_last =
                at + 1 == ordered.len() && last_kept.is_none_or(|last| last < insertion.gap);
            let comma = if is_last && !self.ends_in_comma() { "" } else { "," };
            out.push(self.insertion_piece(insertion, comma));
        }
    }

    fn insertion_piece(&self, insertion: &Insertion, comma: &str) -> Piece {
        let tree = self.tree;
        let InsertionLayout { layout, indent } = self.layout_at(insertion.gap);
        let style = Style::around(tree, self.id);
        let before = self.deleted[..insertion.gap].iter().rposition(Option::is_none);
        let after = match before {
            Some(before) => {
                let child = self.children[before];
                tree.comma(child).map_or(tree.end(child), |comma| comma + 1)
            }
            None => tree.start(self.id) + 1,
        };
        let (at, text) = match (layout, before) {
            (Layout::Lines, _) => match self.next_line(after) {
                Some(line) => (line, format!("{indent}{}{comma}{}", insertion.text, style.newline)),
                None => (after, format!("{}{indent}{}{comma}", style.newline, insertion.text)),
            },
            (Layout::Inline, Some(_)) => {
                (after, format!("{}{}{comma}", style.comma_gap, insertion.text))
            }
            (Layout::Inline, None) => {
                let gap = if comma.is_empty() { "" } else { &style.comma_gap };
                (self.next_token(after), format!("{}{comma}{gap}", insertion.text))
            }
        };
        Piece { operation: insertion.operation, start: at, end: at, text }
    }

    /// The start of the next line, if only whitespace and comments precede it.
    fn next_line(&self, from: usize) -> Option<usize> {
        let text = self.tree.text();
        let mut at = from;
        loop {
            let rest = text[at..].trim_start_matches([' ', '\t', '\r']);
            at = text.len() - rest.len();
            if rest.starts_with('\n') {
                return Some(at + 1);
            }
            at = self.comment_at(at)?.end;
        }
    }

    fn comment_at(&self, offset: usize) -> Option<Comment> {
        self.tree.comments_in(offset, offset + 1).first().copied()
    }

    /// The first byte at or after `from` that is not whitespace.
    fn next_token(&self, from: usize) -> usize {
        let text = self.tree.text();
        text.len() - text[from..].trim_start().len()
    }

    /// Runs of adjacent deleted children. A comment between two children separates runs.
    fn runs(&self) -> Vec<DeletedRun> {
        let mut runs: Vec<DeletedRun> = Vec::new();
        for (at, operation) in self.deleted.iter().enumerate() {
            let Some(operation) = *operation else { continue };
            let joins = |run: &&mut DeletedRun| {
                let between =
                    self.tree.end(self.children[at - 1])..self.tree.member_start(self.children[at]);
                run.last + 1 == at && self.tree.comments_in(between.start, between.end).is_empty()
            };
            match runs.last_mut().filter(|run| at > 0 && joins(run)) {
                Some(run) => run.last = at,
                None => runs.push(DeletedRun { first: at, last: at, operation }),
            }
        }
        runs
    }

    /// Deletes a run, with the comma after it and the whitespace around it.
    fn deletion_piece(&self, run: &DeletedRun, out: &mut Vec<Piece>) {
        let (tree, operation) = (self.tree, run.operation);
        let text = tree.text();
        let start = tree.member_start(self.children[run.first]);
        let last = self.children[run.last];
        let mut end = tree.end(last);
        if let Some(comma) = tree.comma(last) {
            if text[end..comma].trim().is_empty() {
                end = comma + 1;
            } else {
                out.push(Piece { operation, start: comma, end: comma + 1, text: String::new() });
            }
        }
        let rest = text[end..].trim_start_matches([' ', '\t', '\r']);
        let next = text.len() - rest.len();
        let ends_line = rest.starts_with('\n');
        let begins_line = tree.begins_line(start);
        let (from, to) = match (begins_line, ends_line) {
            (true, true) => (tree.line_start(start), next + 1),
            (false, true) if self.is_first(run.first, start) => (self.inside().0, end),
            (false, true) => (self.previous_end(run.first, start), end),
            // The run ends at the closing bracket.
            _ if next == self.inside().1 => (self.previous_end(run.first, start), end),
            _ => (start, next),
        };
        out.push(Piece { operation, start: from, end: to, text: String::new() });
    }

    /// Whether only whitespace separates a child from the opening bracket.
    fn is_first(&self, child: usize, start: usize) -> bool {
        child == 0 && self.tree.comments_in(self.inside().0, start).is_empty()
    }

    /// The end of the comma, value or comment before a child; the start of the child where the
    /// whitespace before it must stay.
    fn previous_end(&self, child: usize, start: usize) -> usize {
        let tree = self.tree;
        let end = match child.checked_sub(1).map(|before| self.children[before]) {
            Some(before) => tree.comma(before).map_or(tree.end(before), |comma| comma + 1),
            None => tree.start(self.id) + 1,
        };
        match tree.comments_in(end, start).last() {
            Some(comment) if comment.is_line => start,
            Some(comment) => comment.end,
            None if child == 0 => start,
            None => end,
        }
    }
}
