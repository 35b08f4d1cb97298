//! Checks the indentation in Python and YAML, which the parser does not: keeps a stack of the
//! depths that lines must have, in parallel to the tree.

use tree_sitter::Node;

use crate::budget::Meter;
use crate::source::Source;
use crate::structure::Fault;
use crate::walk::Walk;

/// The depth of a line if tabs go to the next multiple of 8, and if a tab is one column. A depth
/// that depends on this is inconsistent.
type Depth = (usize, usize);

/// A list of nodes whose lines must have the same depth.
struct Level {
    /// The depth of the nodes in the tree.
    children: u32,
    /// The depth of their lines, once that of the first is known.
    depth: Option<Depth>,
}

/// The first line with a wrong depth, in a tree without errors.
pub(crate) fn fault(source: &Source, meter: &Meter<'_>) -> Option<Fault> {
    let root = source.root().filter(|root| source.language.is_indented && !root.has_error())?;
    let mut walk = Walk::new(root, meter);
    let mut levels: Vec<Level> = Vec::new();
    loop {
        let node = walk.node();
        while levels.last().is_some_and(|level| level.children > walk.depth()) {
            levels.pop();
        }
        if let Some((level, outer)) = levels.split_last_mut()
            && level.children == walk.depth()
        {
            let outer = outer.last().and_then(|outer| outer.depth);
            if let Some(fault) = misplaced(source, node, level, outer) {
                return Some(fault);
            }
        }
        if let Some(fault) = without_body(source, node).or_else(|| swallowed(source, node)) {
            return Some(fault);
        }
        if matches!(node.kind(), "module" | "block" | "block_mapping" | "block_sequence") {
            let depth = (node.kind() == "module").then_some((0, 0));
            levels.push(Level { children: walk.depth() + 1, depth });
        }
        if !walk.advance() {
            return None;
        }
    }
}

/// A child with another depth than the first one, or a first child whose relation to the lines
/// around its list depends on the width of tabs.
fn misplaced(
    source: &Source,
    node: Node<'_>,
    level: &mut Level,
    outer: Option<Depth>,
) -> Option<Fault> {
    let begins = node.is_named() && !node.is_extra() && source.begins_line(node.start_byte());
    if !begins {
        return None;
    }
    let depth = depth_of(source.row(source.row_of(node.start_byte())));
    let is_first = level.depth.is_none();
    let is_even = outer.is_none_or(|outer| (depth.0 > outer.0) == (depth.1 > outer.1));
    let what = match *level.depth.get_or_insert(depth) == depth {
        true if !is_first || is_even => return None,
        true => "whether this is deeper depends on the width of tabs",
        false => "the indentation is not that of the lines around it",
    };
    Some(Fault {
        line: source.row_of(node.start_byte()) as u32 + 1,
        what: what.into(),
        opened: None,
    })
}

/// Python's grammar allows a body to be empty.
fn without_body(source: &Source, node: Node<'_>) -> Option<Fault> {
    let is_empty = node.kind() == "block" && node.start_byte() == node.end_byte();
    is_empty.then(|| Fault {
        line: source.row_of(node.start_byte()) as u32 + 1,
        what: "an indented body is missing below".into(),
        opened: None,
    })
}

/// In YAML, a list item that is more indented than the item above it becomes part of that item's
/// text.
fn swallowed(source: &Source, node: Node<'_>) -> Option<Fault> {
    let (first, last) = (source.row_of(node.start_byte()), source.row_of(node.end_byte()));
    if node.kind() != "plain_scalar" || first == last {
        return None;
    }
    let is_item = |&row: &usize| source.row(row).trim_ascii_start().starts_with(b"- ");
    let row = (first + 1..=last).find(is_item)?;
    let what = "the indentation makes this item a part of the text above it";
    Some(Fault { line: row as u32 + 1, what: what.into(), opened: Some(first as u32 + 1) })
}

fn depth_of(line: &[u8]) -> Depth {
    let white = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\x0c'));
    white.fold((0, 0), |(wide, narrow), byte| match byte {
        b'\t' => (wide / 8 * 8 + 8, narrow + 1),
        b'\x0c' => (0, 0),
        _ => (wide + 1, narrow + 1),
    })
}
