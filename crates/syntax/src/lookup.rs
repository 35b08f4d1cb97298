//! Looks up the nodes at an offset of a text.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;

use tree_sitter::{Node, Tree};

use crate::budget::Meter;
use crate::language::Kinds;
use crate::source::Source;

/// How many comments or attributes in a row are read.
pub(crate) const COMMENTS_LIMIT: usize = 1_000;

/// A source with a budget for lookups. When it is spent, results are not valid.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'a> {
    pub source: &'a Source,
    pub tree: &'a Tree,
    pub meter: &'a Meter<'a>,
    pub wide: &'a Wide<'a>,
}

/// The number of children of a node above which they are listed.
const WIDE_CHILDREN: u32 = 1_000;

/// The number of lookups after which they are. A list takes as long as a few lookups at its end.
const LOOKUPS_WITHOUT_LIST: u32 = 16;

/// The children of nodes that have very many, such as comments that precede nothing: the parser reads
/// all before the one that it finds.
#[derive(Default)]
pub(crate) struct Wide<'a> {
    lookups: Cell<u32>,
    children: RefCell<HashMap<usize, Vec<Node<'a>>>>,
}

impl<'a> Wide<'a> {
    /// Whether a child of a node is to be found in the list.
    fn has(&self, node: Node<'a>) -> bool {
        let is_wide = node.child_count() > WIDE_CHILDREN;
        self.lookups.set(self.lookups.get() + u32::from(is_wide));
        is_wide && self.lookups.get() > LOOKUPS_WITHOUT_LIST
    }

    /// The first child of a node that ends after a byte.
    fn child(&self, node: Node<'a>, at: usize) -> Option<Node<'a>> {
        let mut lists = self.children.borrow_mut();
        let children = lists.entry(node.id()).or_insert_with(|| {
            let mut children = Vec::with_capacity(node.child_count() as usize);
            children.extend(node.children(&mut node.walk()));
            children
        });
        children.get(children.partition_point(|child| child.end_byte() <= at)).copied()
    }
}

impl Deref for Lookup<'_> {
    type Target = Source;

    fn deref(&self) -> &Source {
        self.source
    }
}

impl<'a> Lookup<'a> {
    /// All nodes that contain a byte, outermost first.
    pub fn path_to(self, at: usize) -> Vec<Node<'a>> {
        let mut cursor = self.tree.walk();
        let mut path = vec![cursor.node()];
        while self.meter.step() {
            let node = cursor.node();
            if self.wide.has(node) {
                let Some(child) = self.wide.child(node, at) else { break };
                cursor.reset(child);
            } else if cursor.goto_first_child_for_byte(at).is_none() {
                break;
            }
            // This is the first child that ends after the byte, so it may start after it, too.
            if cursor.node().start_byte() > at {
                break;
            }
            path.push(cursor.node());
        }
        path
    }
}

/// The nodes of a path that start at a byte, or before it with only comments and attributes in
/// between; outermost first.
pub(crate) fn nodes_starting_at<'a, 'tree>(
    path: &'a [Node<'tree>],
    at: usize,
    kinds: &Kinds,
) -> &'a [Node<'tree>] {
    let mut first = path.len();
    while let Some(node) = first.checked_sub(1).map(|index| path[index]) {
        if node.start_byte() != at && !starts_after_attributes(node, at, kinds) {
            break;
        }
        first -= 1;
    }
    &path[first..]
}

fn starts_after_attributes(node: Node<'_>, at: usize, kinds: &Kinds) -> bool {
    let mut cursor = node.walk();
    node.child_count() > 0
        && node
            .children(&mut cursor)
            .take_while(|child| child.start_byte() < at)
            .all(|child| precedes(child, at, kinds))
}

/// Whether a node is an attribute or comment before the byte, or a list (such as Java's modifiers)
/// that starts with attributes and continues at the byte.
fn precedes(node: Node<'_>, at: usize, kinds: &Kinds) -> bool {
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

/// The child of a node in this field. (The library's own function is recursive for long lists that
/// are not balanced.)
pub(crate) fn field<'tree>(node: Node<'tree>, name: &str) -> Option<Node<'tree>> {
    fields(node, name).next()
}

/// The children of a node in this field.
pub(crate) fn fields<'tree>(node: Node<'tree>, name: &str) -> impl Iterator<Item = Node<'tree>> {
    let mut cursor = node.walk();
    let mut has_next = cursor.goto_first_child();
    std::iter::from_fn(move || {
        while has_next {
            let found = (cursor.field_name() == Some(name)).then(|| cursor.node());
            has_next = cursor.goto_next_sibling();
            if found.is_some() {
                return found;
            }
        }
        None
    })
}

/// The start of a node after its decorators and annotations.
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
