//! What is added to one object or array, and what is taken away: which pieces of its text change.
//!
//! Commas first: what is left in the end has one after all but the last, and after the last if
//! it had one before. Then blanks: what stood on lines of its own takes its lines along, what
//! stood in a line takes the blanks on one side. Comments stay.

use super::style::{Layout, Style, layout_inside};
use super::tree::{Comment, NodeId, Tree};

/// A piece of the text and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The operation behind it.
    pub operation: usize,
    /// Its first byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// The new text.
    pub text: String,
}

/// A value that comes in.
#[derive(Clone, Debug)]
pub struct Insertion {
    /// The operation.
    pub operation: usize,
    /// How many of the old values stand before it.
    pub gap: usize,
    /// Its key, in an object.
    pub key: Option<String>,
    /// Its text, with the key.
    pub text: String,
}

/// Where a value comes in.
#[derive(Clone, Debug)]
pub struct ValuePlace {
    /// Whether it begins a line.
    pub layout: Layout,
    /// The indentation of the line it begins, or of the one it comes into.
    pub indent: String,
}

/// The members of an object or the elements of an array, and what happens to them.
pub struct Members<'t> {
    tree: &'t Tree<'t>,
    id: NodeId,
    children: Vec<NodeId>,
    /// By child: the operation that deletes it.
    deleted: Vec<Option<usize>>,
    insertions: Vec<Insertion>,
}

/// Deleted children side by side, and the operation of the first.
struct DeletedRun {
    first: usize,
    last: usize,
    operation: usize,
}

impl<'t> Members<'t> {
    /// What is in a value, untouched so far.
    pub fn of(tree: &'t Tree<'t>, id: NodeId) -> Members<'t> {
        let children: Vec<NodeId> = tree.children(id).collect();
        let deleted = vec![None; children.len()];
        Members { tree, id, children, deleted, insertions: Vec::new() }
    }

    /// How many values there are before anything happens to them.
    pub fn count(&self) -> usize {
        self.children.len()
    }

    /// Deletes a value.
    pub fn delete(&mut self, operation: usize, child: NodeId) {
        if let Ok(at) = self.children.binary_search(&child) {
            self.deleted[at] = Some(operation);
        }
    }

    /// Inserts a value.
    pub fn insert(&mut self, insertion: Insertion) {
        self.insertions.push(insertion);
    }

    /// The inserted values, in the order of the request.
    pub fn insertions(&self) -> &[Insertion] {
        &self.insertions
    }

    /// The old values that stay.
    pub fn kept(&self) -> impl Iterator<Item = NodeId> + '_ {
        let kept = self.children.iter().zip(&self.deleted).filter(|(_, gone)| gone.is_none());
        kept.map(|(&child, _)| child)
    }

    /// How a new value is placed that has `gap` of the old ones before it.
    pub fn place(&self, gap: usize) -> ValuePlace {
        let tree = self.tree;
        let own = tree.indent_at(tree.member_start(self.id));
        let unit = || Style::around(tree, self.id).unit;
        if self.children.is_empty() {
            let layout = layout_inside(tree, self.id);
            let indent = match layout {
                Layout::Lines => own.to_owned() + &unit(),
                Layout::Inline => own.to_owned(),
            };
            return ValuePlace { layout, indent };
        }
        // As the one that it comes before; at the end, as the last one.
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
        ValuePlace { layout, indent }
    }

    /// The pieces of the text that change.
    pub fn pieces(&self, out: &mut Vec<Piece>) {
        if self.children.is_empty() {
            out.extend(self.fill());
            return;
        }
        if self.insertions.is_empty() && self.kept().next().is_none() && !self.has_comments() {
            let operation = self.deleted[0].unwrap_or_default();
            let (start, end) = self.inside();
            out.push(Piece { operation, start, end, text: String::new() });
            return;
        }
        self.commas(out);
        self.added(out);
        for run in self.runs() {
            self.removed(&run, out);
        }
    }

    /// What stands between the brackets.
    fn inside(&self) -> (usize, usize) {
        (self.tree.start(self.id) + 1, self.tree.end(self.id) - 1)
    }

    /// Whether there are comments that belong to no value.
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

    /// What fills an empty object or array.
    fn fill(&self) -> Option<Piece> {
        let tree = self.tree;
        let first = self.insertions.first()?;
        let (start, end) = self.inside();
        let ValuePlace { layout, indent } = self.place(0);
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
        let ordered = self.ordered();
        let texts: Vec<&str> = ordered.iter().map(|one| one.text.as_str()).collect();
        let mut text = texts.join(&(",".to_owned() + &gap));
        let operation = first.operation;
        let Some(comment) = tree.comments_in(start, end).last() else {
            text = lead + &text + &tail;
            return Some(Piece { operation, start, end, text });
        };
        // Behind the comments, and on a line of its own where they end theirs.
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

    /// The inserted values, in the order of the text.
    fn ordered(&self) -> Vec<&Insertion> {
        let mut ordered: Vec<&Insertion> = self.insertions.iter().collect();
        ordered.sort_by_key(|one| (one.gap, one.operation));
        ordered
    }

    /// Whether the last value has a comma after it, and so will have.
    fn ends_in_comma(&self) -> bool {
        self.children.last().is_some_and(|&child| self.tree.comma(child).is_some())
    }

    /// Commas that old values lose or get.
    fn commas(&self, out: &mut Vec<Piece>) {
        let Some(last) = self.deleted.iter().rposition(Option::is_none) else { return };
        let is_last = !self.insertions.iter().any(|one| one.gap > last);
        let child = self.children[last];
        match (self.tree.comma(child), is_last && !self.ends_in_comma()) {
            (Some(comma), true) => {
                let operation = self.deleted[last + 1..].iter().flatten().next();
                let operation = operation.copied().unwrap_or_default();
                out.push(Piece { operation, start: comma, end: comma + 1, text: String::new() });
            }
            (None, false) => {
                let first = self.ordered().into_iter().find(|one| one.gap > last);
                let operation = first.map_or(0, |one| one.operation);
                let at = self.tree.end(child);
                out.push(Piece { operation, start: at, end: at, text: ",".to_owned() });
            }
            _ => {}
        }
    }

    /// The pieces of inserted values, each after the last old value before it that stays.
    fn added(&self, out: &mut Vec<Piece>) {
        let last_kept = self.deleted.iter().rposition(Option::is_none);
        let ordered = self.ordered();
        for (at, one) in ordered.iter().enumerate() {
            let is_last = at + 1 == ordered.len() && last_kept.is_none_or(|last| last < one.gap);
            let comma = if is_last && !self.ends_in_comma() { "" } else { "," };
            out.push(self.add(one, comma));
        }
    }

    fn add(&self, one: &Insertion, comma: &str) -> Piece {
        let tree = self.tree;
        let ValuePlace { layout, indent } = self.place(one.gap);
        let style = Style::around(tree, self.id);
        let before = self.deleted[..one.gap].iter().rposition(Option::is_none);
        let behind = match before {
            Some(before) => {
                let child = self.children[before];
                tree.comma(child).map_or(tree.end(child), |comma| comma + 1)
            }
            None => tree.start(self.id) + 1,
        };
        let (at, text) = match (layout, before) {
            (Layout::Lines, _) => match self.next_line(behind) {
                Some(line) => (line, format!("{indent}{}{comma}{}", one.text, style.newline)),
                None => (behind, format!("{}{indent}{}{comma}", style.newline, one.text)),
            },
            (Layout::Inline, Some(_)) => {
                (behind, format!("{}{}{comma}", style.comma_gap, one.text))
            }
            (Layout::Inline, None) => {
                let gap = if comma.is_empty() { "" } else { &style.comma_gap };
                (self.next_token(behind), format!("{}{comma}{gap}", one.text))
            }
        };
        Piece { operation: one.operation, start: at, end: at, text }
    }

    /// Where the next line begins, if nothing but comments stands before it.
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

    /// The first byte from an offset on that is no white space.
    fn next_token(&self, from: usize) -> usize {
        let text = self.tree.text();
        text.len() - text[from..].trim_start().len()
    }

    /// Deleted values side by side. Where comments stand between them, each is by itself.
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

    /// Takes away values side by side, the comma after them and the blanks around them.
    fn removed(&self, run: &DeletedRun, out: &mut Vec<Piece>) {
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
            // Before the bracket that closes.
            _ if next == self.inside().1 => (self.previous_end(run.first, start), end),
            _ => (start, next),
        };
        out.push(Piece { operation, start: from, end: to, text: String::new() });
    }

    /// Whether nothing stands between a value and the bracket that opens.
    fn is_first(&self, child: usize, start: usize) -> bool {
        child == 0 && self.tree.comments_in(self.inside().0, start).is_empty()
    }

    /// Where the comma, value or comment before a value ends; the value's own start where the
    /// blanks before it have to stay.
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
