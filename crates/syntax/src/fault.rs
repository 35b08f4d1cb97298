//! What is wrong first in a text that did not parse, in a few plain words.

use tree_sitter::Node;

use crate::budget::Meter;
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
pub(crate) fn first(source: &Source, meter: &Meter<'_>) -> Option<Fault> {
    let root = source.root()?;
    if !has_error(source, meter) {
        return indentation::fault(source, meter);
    }
    brackets(source, root, meter).or_else(|| first_error(source, root, meter))
}

/// Whether the parser could not use something, or had to make something up.
pub(crate) fn has_error(source: &Source, meter: &Meter<'_>) -> bool {
    source.root().is_some_and(|root| {
        root.has_error()
            && !(source.language.has_last_commas && errors(source, root, meter).next().is_none())
    })
}

/// The places that the parser could not use, or where it had to make something up.
fn errors<'t>(
    source: &Source,
    root: Node<'t>,
    meter: &Meter<'_>,
) -> impl Iterator<Item = Node<'t>> {
    let has_last_commas = source.language.has_last_commas;
    let mut commas = LastCommas::default();
    let mut walk = Some(Walk::new(root, meter));
    std::iter::from_fn(move || {
        loop {
            let Some(at) = &mut walk else { return commas.open.take() };
            let node = at.node();
            if !at.advance() {
                walk = None;
            }
            let wrong = if has_last_commas {
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

/// Tells commas behind the last value of an object or array from what is wrong. In an array the
/// parser makes up a value behind the comma, in an object it passes over the comma. It takes nodes in
/// their order: to ask a node for its neighbours takes as long as the tree is deep.
#[derive(Default)]
struct LastCommas<'t> {
    /// The kinds of the last two tokens, comments apart.
    last: [&'t str; 2],
    /// What is wrong unless a closer comes next.
    open: Option<Node<'t>>,
}

impl<'t> LastCommas<'t> {
    /// What is certain to be wrong now.
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
            // The one that was passed over itself.
            "," if open.is_some_and(|open| open.end_byte() == node.end_byte()) => {
                self.open = open;
                None
            }
            _ => open,
        }
    }
}

/// What brackets say, which parsers tell late: a parser that misses `}` complains at the end.
fn brackets(source: &Source, root: Node<'_>, meter: &Meter<'_>) -> Option<Fault> {
    let mut open: Vec<Opener> = Vec::new();
    // The innermost block whose closer stands too far left: it is another's.
    let mut suspect = None;
    let mut walk = Walk::new(root, meter);
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
fn first_error(source: &Source, root: Node<'_>, meter: &Meter<'_>) -> Option<Fault> {
    let mut found: Option<Node<'_>> = None;
    for node in errors(source, root, meter) {
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
