//! Finds the block at a line: the outermost node that starts there, with the comments and
//! attributes above it.

use std::fmt;

use tree_sitter::Node;

use crate::budget::{Budget, Meter};
use crate::headings;
use crate::lookup::{COMMENTS_LIMIT, Lookup, Wide, field, is_one_of, nodes_starting_at};
use crate::source::Source;
use crate::structure::Block;

/// The distance within which the nearest blocks are searched.
const NEAR_LINES: u32 = 200;

/// The reason why no block starts at a line, and where the nearest ones start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoBlock {
    /// The reason.
    pub reason: NoBlockReason,
    /// The nearest line above at which a block starts.
    pub above: Option<u32>,
    /// The nearest line below at which a block starts.
    pub below: Option<u32>,
}

/// The reason why no block starts at a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoBlockReason {
    /// The line is empty or does not exist.
    Blank,
    /// Nothing of more than one line starts there.
    Nothing,
    /// There is a syntax error in the code or around it.
    Error,
    /// Other code is on its first or last line.
    Shared,
    /// Its brackets and its indentation do not show the same end.
    Unclear,
    /// The search exceeded the budget.
    TooLong,
}

impl fmt::Display for NoBlockReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            NoBlockReason::Blank => "the line is empty",
            NoBlockReason::Nothing => "nothing of more than one line begins there",
            NoBlockReason::Error => "the code there has a syntax error",
            NoBlockReason::Shared => "other code is on its last line",
            NoBlockReason::Unclear => "its brackets and indentation do not show where it ends",
            NoBlockReason::TooLong => "the search for a block took too long",
        })
    }
}

impl Source {
    /// The block that starts at a line, or that the comment or attribute on the line belongs to.
    pub fn block(&self, line: u32, budget: &Budget<'_>) -> Result<Block, NoBlock> {
        let (meter, wide) = (&budget.meter(), &Wide::default());
        let found = self.find_block(line, meter, wide).map_err(|reason| NoBlock {
            reason,
            above: (line.saturating_sub(NEAR_LINES).max(1)..line)
                .rev()
                .find_map(|near| self.start_at(near, meter, wide)),
            below: (line + 1..=self.lines().min(line.saturating_add(NEAR_LINES)))
                .find_map(|near| self.start_at(near, meter, wide)),
        });
        if meter.is_spent() {
            return Err(NoBlock { reason: NoBlockReason::TooLong, above: None, below: None });
        }
        found
    }

    fn start_at<'a>(&'a self, line: u32, meter: &'a Meter<'a>, wide: &'a Wide<'a>) -> Option<u32> {
        if let (Some(tree), None) = (&self.tree, self.lexical_at(line as usize - 1)) {
            let lookup = Lookup { source: self, tree, meter, wide };
            let lead = leading(lookup, self.first_byte(line as usize - 1)?);
            // What a comment precedes in a later line begins there.
            if lead.is_some_and(|lead| is_one_line(self, lead)) {
                return None;
            }
        }
        let block = self.find_block(line, meter, wide).ok()?;
        (block.start == line).then_some(line)
    }

    pub(crate) fn find_block<'a>(
        &'a self,
        line: u32,
        meter: &'a Meter<'a>,
        wide: &'a Wide<'a>,
    ) -> Result<Block, NoBlockReason> {
        if line == 0 || line > self.lines() {
            return Err(NoBlockReason::Blank);
        }
        if !meter.step() {
            return Err(NoBlockReason::TooLong);
        }
        if let Some(lexical) = self.lexical_at(line as usize - 1) {
            return lexical.block(self, line, meter);
        }
        let Some(tree) = &self.tree else {
            return headings::section(self, line).ok_or(NoBlockReason::Nothing);
        };
        let lookup = Lookup { source: self, tree, meter, wide };
        let row = line as usize - 1;
        let at = self.first_byte(row).ok_or(NoBlockReason::Blank)?;
        let Some(lead) = leading(lookup, at) else { return block_at(lookup, at) };
        // A comment or attribute belongs to what follows. A long comment that precedes nothing is a
        // block of its own.
        let owner = start_after_leading(lookup, lead).map(|at| block_at(lookup, at));
        match owner {
            Some(Ok(block)) if block.first <= line => Ok(block),
            Some(Err(reason @ (NoBlockReason::Error | NoBlockReason::Shared))) => Err(reason),
            _ => own_block(self, lead, row),
        }
    }
}

impl Source {
    /// The first line of the comments and attributes above what starts at a line, even if that is a
    /// single line or has a syntax error.
    pub(crate) fn first_line_above(&self, line: u32, meter: &Meter<'_>) -> Option<u32> {
        let row = line.checked_sub(1)? as usize;
        if let Some(lexical) = self.lexical_at(row) {
            return lexical.first_line_above(self, line, meter);
        }
        let wide = &Wide::default();
        let lookup = Lookup { source: self, tree: self.tree.as_ref()?, meter, wide };
        let at = self.first_byte(row)?;
        let path = lookup.path_to(at);
        let starting = nodes_starting_at(&path, at, self.kinds());
        let is_block =
            |node: &&Node<'_>| node.parent().is_some() && !is_one_of(**node, self.kinds().lists);
        let node = *starting.iter().find(is_block)?;
        let row = self.row_of(extent(self, node).0);
        Some(first_row(lookup, node, row) as u32 + 1)
    }
}

/// The comment or attribute that contains a byte.
fn leading<'tree>(lookup: Lookup<'tree>, at: usize) -> Option<Node<'tree>> {
    let kinds = lookup.kinds();
    let is_leading =
        |node: &Node<'_>| is_one_of(*node, kinds.comments) || is_one_of(*node, kinds.attributes);
    lookup.path_to(at).into_iter().find(is_leading)
}

/// The start of what a comment or attribute precedes, unless there is an empty line in between.
fn start_after_leading<'tree>(source: Lookup<'tree>, mut lead: Node<'tree>) -> Option<usize> {
    for _ in 0..COMMENTS_LIMIT {
        let (_, end) = extent(&source, lead);
        let row = source.row_of(end.saturating_sub(1));
        let after = &source.text[end..];
        let inside = after.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let at = end + inside;
        if source.row_of(at) > row + 1 {
            return None;
        }
        match leading(source, at) {
            Some(next) if next.start_byte() == at => lead = next,
            _ => return Some(at),
        }
    }
    None
}

/// Whether a node has one line, and nothing follows it there.
fn is_one_line(source: &Source, node: Node<'_>) -> bool {
    let (start, end) = extent(source, node);
    source.row_of(start) == source.row_of(end.saturating_sub(1)) && source.ends_line(end)
}

/// A comment of several lines that belongs to no block.
fn own_block(source: &Source, lead: Node<'_>, row: usize) -> Result<Block, NoBlockReason> {
    let (start, end) = extent(source, lead);
    let rows = (source.row_of(start), source.row_of(end.saturating_sub(1)));
    if rows.0 == rows.1 || rows.0 != row || !is_one_of(lead, source.kinds().comments) {
        return Err(NoBlockReason::Nothing);
    }
    if !source.begins_line(start) || !source.ends_line(end) {
        return Err(NoBlockReason::Shared);
    }
    Ok(Block { first: rows.0 as u32 + 1, start: rows.0 as u32 + 1, last: rows.1 as u32 + 1 })
}

/// The block that starts at a byte.
fn block_at(source: Lookup<'_>, at: usize) -> Result<Block, NoBlockReason> {
    let kinds = source.kinds();
    let path = source.path_to(at);
    let starting = nodes_starting_at(&path, at, kinds);
    let around = &path[..path.len() - starting.len()];
    if path.iter().any(Node::is_error) {
        return Err(NoBlockReason::Error);
    }
    if around.iter().any(|node| is_one_of(*node, kinds.texts)) {
        return Err(NoBlockReason::Nothing);
    }
    let found = starting.iter().find_map(|&node| {
        let is_root = node.id() == path[0].id();
        if is_root || is_one_of(node, kinds.lists) {
            return None;
        }
        let (start, end) = extent(&source, node);
        let rows = (source.row_of(start), source.row_of(end.saturating_sub(1)));
        (rows.0 < rows.1).then_some((node, rows, end))
    });
    let (node, rows, end) = found.ok_or(NoBlockReason::Nothing)?;
    if is_one_of(node, kinds.texts) {
        return Err(NoBlockReason::Nothing);
    }
    if node.has_error() {
        return Err(NoBlockReason::Error);
    }
    if !is_alone_at_end(source, end) || !is_alone_at_start(source, node) {
        return Err(NoBlockReason::Shared);
    }
    let first = first_row(source, node, rows.0);
    let start = source.row_of(at) as u32 + 1;
    Ok(Block { first: first as u32 + 1, start, last: rows.1 as u32 + 1 })
}

/// The start and end of a node, without trailing whitespace and comments that do not belong to it.
pub(crate) fn extent(source: &Source, node: Node<'_>) -> (usize, usize) {
    let start = node.start_byte();
    let mut end = node.end_byte();
    if is_one_of(node, source.kinds().clauses) {
        end = end_of_clause(node).unwrap_or(end);
    }
    end = trimmed(source, start, end);
    while let Some(comment) = foreign_comment(source, node, end) {
        end = trimmed(source, start, comment);
    }
    (start, end)
}

fn trimmed(source: &Source, start: usize, end: usize) -> usize {
    start + source.text[start..end].trim_ascii_end().len()
}

/// `else if (…) { … }` in a chain ends before the next `else`.
fn end_of_clause(node: Node<'_>) -> Option<usize> {
    let mut cursor = node.walk();
    let next = node.children(&mut cursor).find(|child| field(*child, "alternative").is_some())?;
    Some(field(next, "consequence")?.end_byte())
}

/// The start of a comment at the end of a node, if it belongs to the next node: grammars without
/// closing brackets attach trailing comments to the node before.
fn foreign_comment(source: &Source, node: Node<'_>, end: usize) -> Option<usize> {
    let kinds = source.kinds();
    let is_table = is_one_of(node, kinds.bodies)
        && kinds.definitions.iter().any(|(kind, _)| *kind == node.kind());
    if (!source.language.is_indented && !is_table) || end <= node.start_byte() + 1 {
        return None;
    }
    // Looking up a node is slower than checking that there is no comment.
    if source.first_byte(source.row_of(end - 1)).is_none_or(|first| source.text[first] != b'#') {
        return None;
    }
    let last = node.descendant_for_byte_range(end - 1, end)?;
    if !is_one_of(last, kinds.comments)
        || last.id() == node.id()
        || !source.begins_line(last.start_byte())
    {
        return None;
    }
    let (column, own) = (last.start_position().column, node.start_position().column);
    let is_outside = column < own || (column == own && !is_one_of(node, kinds.lists));
    let next = source.row_of(end - 1) + 1;
    let is_above_next = next < source.lines() as usize && source.first_byte(next).is_some();
    (is_outside && (source.language.is_indented || is_above_next)).then(|| last.start_byte())
}

/// Whether a node is followed only by `,`, `;` and a comment on its last line.
fn is_alone_at_end(source: Lookup<'_>, end: usize) -> bool {
    let rest = source.text[end..].iter().take_while(|&&byte| byte != b'\n');
    let skipped = rest.take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b';'));
    let at = end + skipped.count();
    match source.text.get(at) {
        None | Some(b'\n') => true,
        Some(_) => leading(source, at)
            .is_some_and(|comment| comment.start_byte() == at && is_one_line(&source, comment)),
    }
}

/// Whether a node is preceded only by comments and attributes on its first line.
pub(crate) fn is_alone_at_start(source: Lookup<'_>, node: Node<'_>) -> bool {
    let start = node.start_byte();
    let first = source.first_byte(source.row_of(start));
    first == Some(start) || first.is_some_and(|at| leading(source, at).is_some())
}

/// The first line of the comments and attributes directly above a block that belong to it.
fn first_row(source: Lookup<'_>, node: Node<'_>, start: usize) -> usize {
    let column = |at: usize| at - source.start_of(source.row_of(at));
    let own = source.first_byte(source.row_of(node.start_byte())).map(column);
    let mut row = start;
    while let Some(at) = row.checked_sub(1).and_then(|above| source.first_byte(above)) {
        let Some(lead) = leading(source, at) else { break };
        let (first, end) = extent(&source, lead);
        let belongs = source.begins_line(first)
            && own == Some(column(first))
            && source.row_of(end.saturating_sub(1)) + 1 == row
            && source.ends_line(end_of_line_comments(source, end))
            && !is_of_file(&source, lead);
        if !belongs {
            break;
        }
        row = source.row_of(first);
    }
    row
}

/// The end of consecutive attributes and comments on one line.
fn end_of_line_comments(source: Lookup<'_>, mut end: usize) -> usize {
    loop {
        let line = source.text[end..].iter().take_while(|&&byte| byte != b'\n');
        let at = end + line.take_while(|byte| byte.is_ascii_whitespace()).count();
        match leading(source, at).filter(|next| next.start_byte() == at) {
            Some(next) => end = extent(&source, next).1,
            None => return end,
        }
    }
}

/// Whether it is a `#!` line, or a comment that describes what contains it.
fn is_of_file(source: &Source, lead: Node<'_>) -> bool {
    let text = &source.text[lead.byte_range()];
    let is_inner = [&b"//!"[..], b"/*!"].iter().any(|mark| text.starts_with(mark));
    (is_inner && field(lead, "inner").is_some())
        || (lead.start_byte() == 0 && text.starts_with(b"#!"))
}
