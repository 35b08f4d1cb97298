//! A walk through all nodes of a tree, in the order in which they begin. A tree may be deeper than
//! any stack, so nothing here calls itself.

use tree_sitter::{Node, TreeCursor};

use crate::budget::Meter;

/// A place in the walk.
pub(crate) struct Walk<'tree, 'm> {
    meter: &'m Meter<'m>,
    cursor: TreeCursor<'tree>,
    /// How deep the node is. The cursor would count it anew each time.
    depth: u32,
}

impl<'tree, 'm> Walk<'tree, 'm> {
    pub fn new(root: Node<'tree>, meter: &'m Meter<'m>) -> Walk<'tree, 'm> {
        Walk { meter, cursor: root.walk(), depth: 0 }
    }

    pub fn node(&self) -> Node<'tree> {
        self.cursor.node()
    }

    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Goes to the next node; `false` at the end, and once the budget is spent.
    pub fn advance(&mut self) -> bool {
        if !self.meter.step() {
            return false;
        }
        if self.cursor.goto_first_child() {
            self.depth += 1;
            return true;
        }
        while !self.cursor.goto_next_sibling() {
            if !self.cursor.goto_parent() {
                return false;
            }
            self.depth -= 1;
        }
        true
    }
}
