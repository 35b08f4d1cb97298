//! What a grammar lets be missing or repeated and every compiler refuses: a `try` that handles
//! nothing, a second value in a JSON document, a Go file without `package`.

use tree_sitter::Node;

use crate::budget::Meter;
use crate::occurrence::occurrences;
use crate::source::Source;
use crate::structure::Fault;
use crate::walk::Walk;

/// What the children of some nodes must be.
pub(crate) struct Rules {
    /// The kind that the first child of the root must have, and what it is called.
    pub first: Option<(&'static str, &'static str)>,
    /// Whether the root has one child.
    pub is_single: bool,
    /// A node that needs one of some children.
    pub part: Option<Part>,
}

/// A node that needs one of some children.
pub(crate) struct Part {
    /// The keyword that the text contains then.
    pub word: &'static str,
    pub kind: &'static str,
    pub children: &'static [&'static str],
    /// What is missing.
    pub what: &'static str,
}

pub(crate) static NONE: Rules = NONE_OF_THEM;

const NONE_OF_THEM: Rules = Rules { first: None, is_single: false, part: None };

pub(crate) static JAVASCRIPT: Rules = Rules {
    part: Some(Part {
        word: "try",
        kind: "try_statement",
        children: &["catch_clause", "finally_clause"],
        what: "`catch` or `finally` is missing after this `try`",
    }),
    ..NONE_OF_THEM
};

pub(crate) static PYTHON: Rules = Rules {
    part: Some(Part {
        word: "try",
        kind: "try_statement",
        children: &["except_clause", "except_group_clause", "finally_clause"],
        what: "`except` or `finally` is missing after this `try`",
    }),
    ..NONE_OF_THEM
};

pub(crate) static GO: Rules =
    Rules { first: Some(("package_clause", "`package`")), ..NONE_OF_THEM };

pub(crate) static JSON: Rules = Rules { is_single: true, ..NONE_OF_THEM };

/// The first node that breaks a rule.
pub(crate) fn fault(source: &Source, meter: &Meter<'_>) -> Option<Fault> {
    let root = source.root()?;
    let rules = source.language.required;
    at_root(source, root, rules).or_else(|| incomplete(source, root, rules.part.as_ref()?, meter))
}

fn at_root(source: &Source, root: Node<'_>, rules: &Rules) -> Option<Fault> {
    if rules.first.is_none() && !rules.is_single {
        return None;
    }
    let mut cursor = root.walk();
    let mut children = root.named_children(&mut cursor).filter(|child| !child.is_extra());
    let first = children.next()?;
    if let Some((kind, what)) = rules.first
        && first.kind() != kind
    {
        return Some(source.fault_at(first, format!("{what} is missing above")));
    }
    let second = children.next().filter(|_| rules.is_single)?;
    Some(source.fault_at(second, "a second value follows the document"))
}

fn incomplete(source: &Source, root: Node<'_>, part: &Part, meter: &Meter<'_>) -> Option<Fault> {
    occurrences(&source.text, part.word).next()?;
    let mut walk = Walk::new(root, meter);
    loop {
        let node = walk.node();
        if node.kind() == part.kind && !node.has_error() {
            let mut cursor = node.walk();
            let mut children = node.children(&mut cursor);
            if !children.any(|child| part.children.contains(&child.kind())) {
                return Some(source.fault_at(node, part.what));
            }
        }
        if !walk.advance() {
            return None;
        }
    }
}
