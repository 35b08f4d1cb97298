//! A traversal of all nodes of a tree in the order of their starts. It is not recursive, because a
//! tree may be deeper than any stack.

use tree_sitter::{Node, TreeCursor};

use crate::budget::Meter;

/// A position in the traversal.
pub(crate) struct Walk<'tree, 'm> {
    meter: &'m Meter<'m>,
    cursor: TreeCursor<'tree>,
    /// The depth of the node; the cursor would compute it again each time.
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

    /// Moves to the next node; `false` at the end, or if the budget is spent.
    pub fn advance(&mut self) -> bool {
        if !self.meter.step() {
            return false;
        }
        if self.cursor.goto_first_child() {
            self.depth += 1;
            return true;
        }
        self.leave()
    }

    /// Moves to the next node that is not within this one; `false` at the end, or if the budget is
    /// spent.
    pub fn advance_past(&mut self) -> bool {
        self.meter.step() && self.leave()
    }

    fn leave(&mut self) -> bool {
        while !self.cursor.goto_next_sibling() {
            if !self.cursor.goto_parent() {
                return false;
            }
            self.depth -= 1;
        }
        true
    }
}
