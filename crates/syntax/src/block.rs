//! The block at a line: the outermost thing that begins there, with what goes before it.

use std::fmt;

use tree_sitter::Node;

use crate::budget::{Budget, Meter};
use crate::found::Block;
use crate::headings;
use crate::place::{Lookup, beginning, field, is_one_of};
use crate::source::Source;

/// How far away the nearest blocks are looked for.
const NEAR_LINES: u32 = 200;

/// Why no block begins at a line, and where the nearest ones begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoBlock {
    /// Why there is none.
    pub reason: NoBlockReason,
    /// The nearest line above where one begins.
    pub above: Option<u32>,
    /// The nearest line below where one begins.
    pub below: Option<u32>,
}

/// Why no block begins at a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoBlockReason {
    /// It is empty, or there is no such line.
    Blank,
    /// Nothing of more than one line begins there.
    Nothing,
    /// The parser did not understand it, or what it is in.
    Error,
    /// Other code stands in its first or last line.
    Shared,
    /// Finding it would take too long.
    TooLong,
}

impl fmt::Display for NoBlockReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            NoBlockReason::Blank => "the line is empty",
            NoBlockReason::Nothing => "nothing of more than one line begins there",
            NoBlockReason::Error => "the code there has a syntax error",
            NoBlockReason::Shared => "other code stands in its last line",
            NoBlockReason::TooLong => "finding it would take too long",
        })
    }
}

impl Source {
    /// The block that begins at a line, or to which the comment or attribute there belongs.
    pub fn block(&self, line: u32, budget: &Budget<'_>) -> Result<Block, NoBlock> {
        let meter = &budget.meter();
        let found = self.find_block(line, meter).map_err(|reason| NoBlock {
            reason,
            above: (line.saturating_sub(NEAR_LINES).max(1)..line)
                .rev()
                .find_map(|near| self.start_at(near, meter)),
            below: (line + 1..=self.lines().min(line.saturating_add(NEAR_LINES)))
                .find_map(|near| self.start_at(near, meter)),
        });
        if meter.is_spent() {
            return Err(NoBlock { reason: NoBlockReason::TooLong, above: None, below: None });
        }
        found
    }

    fn start_at(&self, line: u32, meter: &Meter<'_>) -> Option<u32> {
        self.find_block(line, meter).ok().map(|block| block.start).filter(|&start| start == line)
    }

    fn find_block(&self, line: u32, meter: &Meter<'_>) -> Result<Block, NoBlockReason> {
        if line == 0 || line > self.lines() {
            return Err(NoBlockReason::Blank);
        }
        if !meter.step() {
            return Err(NoBlockReason::TooLong);
        }
        let Some(tree) = &self.tree else {
            return headings::section(self, line).ok_or(NoBlockReason::Nothing);
        };
        let lookup = Lookup { source: self, tree, meter };
        let row = line as usize - 1;
        let at = self.first_byte(row).ok_or(NoBlockReason::Blank)?;
        let Some(lead) = leading(lookup, at) else { return block_at(lookup, at) };
        // A comment or attribute means what it stands before; a long comment before nothing, itself.
        let owner = behind_leading(lookup, lead).map(|at| block_at(lookup, at));
        match owner {
            Some(Ok(block)) if block.first <= line => Ok(block),
            Some(Err(reason @ (NoBlockReason::Error | NoBlockReason::Shared))) => Err(reason),
            _ => itself(self, lead, row),
        }
    }
}

/// The comment or attribute that a byte lies in.
fn leading<'tree>(lookup: Lookup<'tree>, at: usize) -> Option<Node<'tree>> {
    let kinds = lookup.kinds();
    let is_leading =
        |node: &Node<'_>| is_one_of(*node, kinds.comments) || is_one_of(*node, kinds.attributes);
    lookup.path_to(at).into_iter().find(is_leading)
}

/// Where that begins before which a comment or attribute stands, if no empty line is between.
fn behind_leading<'tree>(source: Lookup<'tree>, mut lead: Node<'tree>) -> Option<usize> {
    loop {
        let (_, end) = extent(&source, lead);
        let row = source.row_of(end.saturating_sub(1));
        let behind = &source.text[end..];
        let inside = behind.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let at = end + inside;
        if source.row_of(at) > row + 1 {
            return None;
        }
        match leading(source, at) {
            Some(next) if next.start_byte() == at => lead = next,
            _ => return Some(at),
        }
    }
}

/// A comment of several lines that belongs to no block.
fn itself(source: &Source, lead: Node<'_>, row: usize) -> Result<Block, NoBlockReason> {
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

/// The block that begins with a byte.
fn block_at(source: Lookup<'_>, at: usize) -> Result<Block, NoBlockReason> {
    let kinds = source.kinds();
    let path = source.path_to(at);
    let begun = beginning(&path, at, kinds);
    let around = &path[..path.len() - begun.len()];
    if path.iter().any(Node::is_error) {
        return Err(NoBlockReason::Error);
    }
    if around.iter().any(|node| is_one_of(*node, kinds.texts)) {
        return Err(NoBlockReason::Nothing);
    }
    let found = begun.iter().find_map(|&node| {
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
    if !shares_no_end(source, end) || !shares_no_start(source, node) {
        return Err(NoBlockReason::Shared);
    }
    let first = first_row(source, node, rows.0);
    let start = source.row_of(at) as u32 + 1;
    Ok(Block { first: first as u32 + 1, start, last: rows.1 as u32 + 1 })
}

/// Where a node begins and ends, without white space and comments at its end that are not its own.
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

/// `else if (…) { … }` of a chain ends before the next `else`.
fn end_of_clause(node: Node<'_>) -> Option<usize> {
    let mut cursor = node.walk();
    let next = node.children(&mut cursor).find(|child| field(*child, "alternative").is_some())?;
    Some(field(next, "consequence")?.end_byte())
}

/// Where the comment begins that a node ends with, if it belongs to what comes next: grammars
/// without closers take comments at the end for a part of what stands before.
fn foreign_comment(source: &Source, node: Node<'_>, end: usize) -> Option<usize> {
    let kinds = source.kinds();
    let is_table = is_one_of(node, kinds.bodies)
        && kinds.definitions.iter().any(|(kind, _)| *kind == node.kind());
    if (!source.language.is_indented && !is_table) || end <= node.start_byte() + 1 {
        return None;
    }
    // To look for a node takes longer than to see that there is no comment.
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

/// Whether nothing but `,`, `;` and a comment stands after a node in its last line.
fn shares_no_end(source: Lookup<'_>, end: usize) -> bool {
    let rest = source.text[end..].iter().take_while(|&&byte| byte != b'\n');
    let skipped = rest.take_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b';'));
    let at = end + skipped.count();
    match source.text.get(at) {
        None | Some(b'\n') => true,
        Some(_) => leading(source, at).is_some_and(|comment| {
            let (start, end) = extent(&source, comment);
            let is_short = source.row_of(start) == source.row_of(end.saturating_sub(1));
            start == at && is_short && source.ends_line(end)
        }),
    }
}

/// Whether nothing but comments and attributes stands before a node in its first line.
pub(crate) fn shares_no_start(source: Lookup<'_>, node: Node<'_>) -> bool {
    let start = node.start_byte();
    let first = source.first_byte(source.row_of(start));
    first == Some(start) || first.is_some_and(|at| leading(source, at).is_some())
}

/// The first line of what stands directly above a block and belongs to it.
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
            && source.ends_line(behind_all(source, end))
            && !is_of_file(&source, lead);
        if !belongs {
            break;
        }
        row = source.row_of(first);
    }
    row
}

/// The end of all attributes and comments that follow each other in one line.
fn behind_all(source: Lookup<'_>, mut end: usize) -> usize {
    loop {
        let line = source.text[end..].iter().take_while(|&&byte| byte != b'\n');
        let at = end + line.take_while(|byte| byte.is_ascii_whitespace()).count();
        match leading(source, at).filter(|next| next.start_byte() == at) {
            Some(next) => end = extent(&source, next).1,
            None => return end,
        }
    }
}

/// `#!` lines, and comments that describe what they stand in.
fn is_of_file(source: &Source, lead: Node<'_>) -> bool {
    let text = &source.text[lead.byte_range()];
    let is_inner = [&b"//!"[..], b"/*!"].iter().any(|mark| text.starts_with(mark));
    (is_inner && field(lead, "inner").is_some())
        || (lead.start_byte() == 0 && text.starts_with(b"#!"))
}
