//! Describes the first syntax error of a text.

use tree_sitter::Node;

use crate::budget::Meter;
use crate::indentation;
use crate::pairs::{Closer, Pairs, closing_bracket};
use crate::required;
use crate::source::Source;
use crate::structure::Fault;
use crate::walk::Walk;

/// The limit on the bytes of a text that are shown.
const SHOWN_LIMIT_BYTES: usize = 200;

/// The first fault.
pub(crate) fn first(source: &Source, meter: &Meter<'_>) -> Option<Fault> {
    let lexical = source.lexical.as_ref().and_then(|lexical| lexical.first_fault().cloned());
    if lexical.is_some() || !source.checks_tree() {
        return lexical;
    }
    first_in_tree(source, meter)
}

/// The first fault that the tree shows.
pub(crate) fn first_in_tree(source: &Source, meter: &Meter<'_>) -> Option<Fault> {
    let root = source.root()?;
    if !has_error(source, meter) {
        return indentation::fault(source, meter).or_else(|| required::fault(source, meter));
    }
    brackets(source, root, meter).or_else(|| first_error(source, root, meter))
}

/// Whether the parser skipped text or inserted missing tokens.
pub(crate) fn has_error(source: &Source, meter: &Meter<'_>) -> bool {
    source.root().is_some_and(|root| {
        root.has_error()
            && !(source.language.allows_trailing_commas
                && errors(source, root, meter).next().is_none())
    })
}

/// The number of nodes where the parser skipped text or inserted missing tokens.
pub(crate) fn count(source: &Source, meter: &Meter<'_>) -> usize {
    source.root().map_or(0, |root| errors(source, root, meter).count())
}

/// The nodes where the parser skipped text or inserted missing tokens.
pub(crate) fn errors<'t>(
    source: &Source,
    root: Node<'t>,
    meter: &Meter<'_>,
) -> impl Iterator<Item = Node<'t>> {
    let allows_trailing_commas = source.language.allows_trailing_commas;
    let mut commas = TrailingCommas::default();
    let mut walk = Some(Walk::new(root, meter));
    std::iter::from_fn(move || {
        loop {
            let Some(at) = &mut walk else { return commas.open.take() };
            let node = at.node();
            if !at.advance() {
                walk = None;
            }
            let wrong = if allows_trailing_commas {
                commas.wrong(node)
            } else {
                (node.is_missing() || node.is_error()).then_some(node)
            };
            if wrong.is_some() {
                return wrong;
            }
        }
    })
}

/// Distinguishes trailing commas in objects and arrays from errors. In an array, the parser inserts
/// a missing value after the comma; in an object, it skips the comma. Nodes arrive in sequence,
/// because finding the siblings of a node takes time proportional to the depth of the tree.
#[derive(Default)]
struct TrailingCommas<'t> {
    /// The kinds of the last two tokens, ignoring comments.
    last: [&'t str; 2],
    /// An error unless a closing bracket follows.
    open: Option<Node<'t>>,
}

impl<'t> TrailingCommas<'t> {
    /// Returns an error that is certain.
    fn wrong(&mut self, node: Node<'t>) -> Option<Node<'t>> {
        let ends_value = |kind: &str| !matches!(kind, "" | "[" | "{" | "," | ":");
        if node.is_error() {
            let is_comma =
                node.child_count() == 1 && node.child(0).is_some_and(|one| one.kind() == ",");
            let may_be_last = is_comma && ends_value(self.last[1]);
            return if may_be_last { self.open.replace(node) } else { Some(node) };
        }
        if node.is_missing() {
            let may_be_last = self.last[1] == "," && ends_value(self.last[0]);
            return if may_be_last { self.open.replace(node) } else { Some(node) };
        }
        if node.child_count() > 0 || node.is_extra() {
            return None;
        }
        let open = self.open.take();
        self.last = [self.last[1], node.kind()];
        match node.kind() {
            "}" | "]" => None,
            // The comma itself that was skipped.
            "," if open.is_some_and(|open| open.end_byte() == node.end_byte()) => {
                self.open = open;
                None
            }
            _ => open,
        }
    }
}

/// Checks brackets. Parsers report these errors late: a parser that misses `}` reports it at the
/// end.
pub(crate) fn brackets(source: &Source, root: Node<'_>, meter: &Meter<'_>) -> Option<Fault> {
    let mut pairs = Pairs::new(source);
    let mut walk = Walk::new(root, meter);
    loop {
        let node = walk.node();
        if node.child_count() == 0 && !node.is_missing() {
            match bracket_of(node) {
                Some((bracket, true)) => {
                    pairs.open(Closer::Bracket(bracket), node.start_byte(), 0, false);
                }
                Some((bracket, false)) => {
                    pairs.close(Closer::Bracket(bracket), node.start_byte());
                }
                None => {}
            }
            if !pairs.faults.is_empty() {
                break;
            }
        }
        if !walk.advance() {
            break;
        }
    }
    let stopped = stopped_at(source, root);
    let closing_bracket_at = stopped.and_then(|at| Some((closing_bracket(source.text[at])?, at)));
    if let Some((bracket, at)) = closing_bracket_at.filter(|_| pairs.faults.is_empty()) {
        pairs.close(Closer::Bracket(bracket), at);
    }
    let end = source.text[..root.end_byte()].trim_ascii_end().len();
    let faults = pairs.finish(source.row_of(end.saturating_sub(1)));
    faults.faults.into_iter().next().map(|found| found.fault)
}

/// Where the parser stopped if it could not make a tree of the text: some grammars stop there, and
/// no node contains the rest.
fn stopped_at(source: &Source, root: Node<'_>) -> Option<usize> {
    let end = Some(root.end_byte()).filter(|_| root.is_error())?;
    let rest = &source.text[end..];
    Some(end + rest.iter().position(|byte| !byte.is_ascii_whitespace())?)
}

/// The closing bracket of the pair, and whether this one opens it.
fn bracket_of(node: Node<'_>) -> Option<(char, bool)> {
    match node.kind() {
        "{" | "${" | "#{" => Some(('}', true)),
        "[" | "#[" | "[[" => Some((']', true)),
        "(" => Some((')', true)),
        "}" => Some(('}', false)),
        "]" | "]]" => Some((']', false)),
        ")" => Some((')', false)),
        _ => None,
    }
}

/// The first node where the parser skipped text or inserted a missing token; of nested nodes, the
/// innermost.
fn first_error(source: &Source, root: Node<'_>, meter: &Meter<'_>) -> Option<Fault> {
    let mut found: Option<Node<'_>> = None;
    for node in errors(source, root, meter) {
        if found.is_some_and(|found| node.start_byte() >= found.end_byte()) {
            break;
        }
        found = Some(node);
    }
    let node = found?;
    if let Some(at) = stopped_at(source, root).filter(|_| node == root) {
        let end = source.text.len().min(at + SHOWN_LIMIT_BYTES);
        let shown = shorten(&String::from_utf8_lossy(&source.text[at..end]));
        let what = format!("`{shown}` is not expected here");
        return Some(Fault { line: source.row_of(at) as u32 + 1, what, opened: None });
    }
    Some(describe(source, node))
}

/// The fault of a node where the parser skipped text or inserted a missing token.
pub(crate) fn describe(source: &Source, node: Node<'_>) -> Fault {
    let what = if node.is_missing() {
        format!("`{}` is missing", node.kind())
    } else {
        let shown = shorten(&source.slice(node));
        if shown.is_empty() {
            "something is missing here".to_owned()
        } else {
            format!("`{shown}` is not expected here")
        }
    };
    source.fault_at(node, what)
}

/// The start of a text, long enough to recognize it.
fn shorten(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
