//! Which nodes stand at a place of a text.

use std::ops::Deref;

use tree_sitter::{Node, Tree};

use crate::budget::Meter;
use crate::language::Kinds;
use crate::source::Source;

/// A source whose nodes are looked up, on a budget. Once that is spent, what is found is worthless.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub source: &'a Source,
    pub tree: &'a Tree,
    pub meter: &'a Meter<'a>,
}

impl Deref for Lookup<'_> {
    type Target = Source;

    fn deref(&self) -> &Source {
        self.source
    }
}

impl<'a> Lookup<'a> {
    /// All nodes that hold a byte, the outermost first.
    pub fn path_to(self, at: usize) -> Vec<Node<'a>> {
        let mut cursor = self.tree.walk();
        let mut path = vec![cursor.node()];
        while self.meter.step() && cursor.goto_first_child_for_byte(at).is_some() {
            // This is the first child that ends after the byte: it may begin after it, too.
            if cursor.node().start_byte() > at {
                break;
            }
            path.push(cursor.node());
        }
        path
    }
}

/// The nodes of a path that begin with a byte, the outermost first; what stands before it in them
/// is comments and attributes alone.
pub(crate) fn beginning<'a, 'tree>(
    path: &'a [Node<'tree>],
    at: usize,
    kinds: &Kinds,
) -> &'a [Node<'tree>] {
    let mut first = path.len();
    while let Some(node) = first.checked_sub(1).map(|index| path[index]) {
        if node.start_byte() != at && !begins_behind_attributes(node, at, kinds) {
            break;
        }
        first -= 1;
    }
    &path[first..]
}

fn begins_behind_attributes(node: Node<'_>, at: usize, kinds: &Kinds) -> bool {
    let mut cursor = node.walk();
    node.child_count() > 0
        && node
            .children(&mut cursor)
            .take_while(|child| child.start_byte() < at)
            .all(|child| is_ahead(child, at, kinds))
}

/// Whether a node is an attribute or comment, or a list (as Java's modifiers are) that begins with
/// such and goes on at the byte.
fn is_ahead(node: Node<'_>, at: usize, kinds: &Kinds) -> bool {
    if is_one_of(node, kinds.attributes) || is_one_of(node, kinds.comments) {
        return node.end_byte() <= at;
    }
    node.kind() == "modifiers" && {
        let mut cursor = node.walk();
        let mut before = node.children(&mut cursor).take_while(|child| child.start_byte() < at);
        before.all(|child| is_one_of(child, kinds.attributes) || is_one_of(child, kinds.comments))
    }
}

pub(crate) fn is_one_of(node: Node<'_>, kinds: &[&str]) -> bool {
    kinds.contains(&node.kind())
}

/// The child of a node with this name. (The library's own function calls itself where a list is
/// long and could not be balanced.)
pub(crate) fn field<'tree>(node: Node<'tree>, name: &str) -> Option<Node<'tree>> {
    let mut cursor = node.walk();
    let mut has_next = cursor.goto_first_child();
    while has_next {
        if cursor.field_name() == Some(name) {
            return Some(cursor.node());
        }
        has_next = cursor.goto_next_sibling();
    }
    None
}

/// Where a node begins after its decorators and annotations.
pub(crate) fn own_start(node: Node<'_>, kinds: &Kinds) -> usize {
    let is_leading =
        |child: &Node<'_>| is_one_of(*child, kinds.attributes) || is_one_of(*child, kinds.comments);
    let mut cursor = node.walk();
    for child in node.children(&mut cursor).filter(|child| !is_leading(child)) {
        if child.kind() != "modifiers" {
            return child.start_byte();
        }
        let mut inner = child.walk();
        if let Some(own) = child.children(&mut inner).find(|one| !is_leading(one)) {
            return own.start_byte();
        }
    }
    node.start_byte()
}
