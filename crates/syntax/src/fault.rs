//! What is wrong first in a text that did not parse, in a few plain words.

use tree_sitter::Node;

use crate::found::Fault;
use crate::indentation;
use crate::source::Source;
use crate::walk::Walk;

/// Brackets that were not closed yet.
struct Opener {
    bracket: char,
    row: usize,
    /// The white space that its line begins with.
    indent: usize,
}

/// The first thing that is wrong.
pub(crate) fn first(source: &Source) -> Option<Fault> {
    let root = source.root()?;
    if !has_error(source, root) {
        return indentation::fault(source);
    }
    brackets(source, root).or_else(|| first_error(source, root))
}

/// Whether the parser could not use something, or had to make something up.
pub(crate) fn has_error(source: &Source, root: Node<'_>) -> bool {
    root.has_error() && !(source.language.has_last_commas && errors(source, root).next().is_none())
}

/// The places that the parser could not use, or where it had to make something up.
fn errors<'t>(source: &Source, root: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    let mut walk = Some(Walk::new(root));
    let has_last_commas = source.language.has_last_commas;
    let nodes = std::iter::from_fn(move || {
        let node = walk.as_ref()?.node();
        walk = walk.take().and_then(|mut walk| walk.advance().then_some(walk));
        Some(node)
    });
    nodes.filter(move |node| {
        (node.is_missing() || node.is_error()) && !(has_last_commas && is_last_comma(*node))
    })
}

/// Whether nothing is wrong but a comma behind the last value of an object or array. In an array the
/// parser makes up a value behind it, in an object it passes over the comma.
fn is_last_comma(node: Node<'_>) -> bool {
    let comma = if node.is_missing() {
        before(node).filter(|comma| comma.kind() == ",")
    } else {
        let is_comma =
            node.child_count() == 1 && node.child(0).is_some_and(|one| one.kind() == ",");
        is_comma.then_some(node)
    };
    let Some(value) = comma.and_then(before) else { return false };
    let is_value = value.is_named() && !value.is_error();
    is_value && behind(node).is_some_and(|closer| matches!(closer.kind(), "}" | "]"))
}

/// The node before another one in its list, comments apart.
fn before(node: Node<'_>) -> Option<Node<'_>> {
    std::iter::successors(node.prev_sibling(), Node::prev_sibling).find(|one| !is_comment(*one))
}

/// The node behind another one in its list, comments apart.
fn behind(node: Node<'_>) -> Option<Node<'_>> {
    std::iter::successors(node.next_sibling(), Node::next_sibling).find(|one| !is_comment(*one))
}

fn is_comment(node: Node<'_>) -> bool {
    node.is_extra() && !node.is_error()
}

/// What brackets say, which parsers tell late: a parser that misses `}` complains at the end.
fn brackets(source: &Source, root: Node<'_>) -> Option<Fault> {
    let mut open: Vec<Opener> = Vec::new();
    // The innermost block whose closer stands too far left: it is another's.
    let mut suspect = None;
    let mut walk = Walk::new(root);
    loop {
        let node = walk.node();
        if node.child_count() == 0 && !node.is_missing() {
            let row = node.start_position().row;
            match bracket_of(node) {
                Some((bracket, true)) => {
                    open.push(Opener { bracket, row, indent: indent_of(source, row) });
                }
                Some((bracket, false)) => {
                    let Some(opener) = open.pop() else { return Some(surplus(bracket, row)) };
                    if opener.bracket != bracket {
                        return Some(unclosed(&opener, row));
                    }
                    let is_left = source.begins_line(node.start_byte())
                        && indent_of(source, row) < opener.indent;
                    if suspect.is_none() && is_left {
                        suspect = Some(unclosed(&opener, row));
                    }
                }
                None => {}
            }
        }
        if !walk.advance() {
            break;
        }
    }
    let end = source.text[..root.end_byte()].trim_ascii_end().len();
    let last = source.row_of(end.saturating_sub(1));
    open.pop().map(|opener| suspect.unwrap_or_else(|| unclosed(&opener, last)))
}

/// Which bracket closes, and whether this one opens.
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

fn indent_of(source: &Source, row: usize) -> usize {
    source.first_byte(row).map_or(0, |first| first - source.start_of(row))
}

fn unclosed(opener: &Opener, row: usize) -> Fault {
    let opened = opener.row as u32 + 1;
    let what = match opener.bracket {
        '}' => format!("`}}` is missing: the block opened at line {opened}"),
        bracket => format!("`{bracket}` is missing: it was opened at line {opened}"),
    };
    Fault { line: row as u32 + 1, what, opened: Some(opened) }
}

fn surplus(bracket: char, row: usize) -> Fault {
    Fault { line: row as u32 + 1, what: format!("`{bracket}` closes nothing"), opened: None }
}

/// The first place that the parser could not use, or where it had to make something up; of places
/// within each other the innermost.
fn first_error(source: &Source, root: Node<'_>) -> Option<Fault> {
    let mut found: Option<Node<'_>> = None;
    for node in errors(source, root) {
        if found.is_some_and(|found| node.start_byte() >= found.end_byte()) {
            break;
        }
        found = Some(node);
    }
    let node = found?;
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
    Some(Fault { line: node.start_position().row as u32 + 1, what, opened: None })
}

/// The first words of a text: enough to see what is meant.
fn shorten(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
