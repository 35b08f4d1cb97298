//! Describes the first syntax error of a text.

use tree_sitter::Node;

use crate::budget::Meter;
use crate::indentation;
use crate::required;
use crate::source::Source;
use crate::structure::Fault;
use crate::walk::Walk;

/// The limit on the bytes of a text that are shown.
const SHOWN_LIMIT_BYTES: usize = 200;

/// A bracket that is not closed so far.
struct OpenBracket {
    bracket: char,
    row: usize,
    /// The indentation of its line.
    indent: usize,
}

/// The first fault.
pub(crate) fn first(source: &Source, meter: &Meter<'_>) -> Option<Fault> {
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
            let found = match bracket_of(node) {
                Some((bracket, true)) => pairs.open(bracket, source.row_of(node.start_byte())),
                Some((bracket, false)) => pairs.close(bracket, node.start_byte()),
                None => None,
            };
            if found.is_some() {
                return found;
            }
        }
        if !walk.advance() {
            break;
        }
    }
    let stopped = stopped_at(source, root);
    let closing_bracket_at = stopped.and_then(|at| Some((closing_bracket(source.text[at])?, at)));
    if let Some((bracket, at)) = closing_bracket_at {
        return pairs.close(bracket, at);
    }
    let end = source.text[..root.end_byte()].trim_ascii_end().len();
    pairs.end(source.row_of(end.saturating_sub(1)))
}

/// The open brackets of a text, and those that seem wrong by their indentation.
struct Pairs<'s> {
    source: &'s Source,
    open: Vec<OpenBracket>,
    /// The number of open brackets by kind.
    counts: [usize; 3],
    /// The closing brackets at the start of a line: the line, and the offset where they end.
    closing: (usize, usize),
    /// The innermost block whose closing bracket is less indented than its line, so that it may
    /// belong to another block.
    unclosed: Option<Fault>,
    /// A closing bracket that is more indented than the line of its block, so that the block may be
    /// closed already.
    surplus: Option<Fault>,
}

impl<'s> Pairs<'s> {
    fn new(source: &'s Source) -> Pairs<'s> {
        let (open, counts, closing) = (Vec::new(), [0; 3], (usize::MAX, 0));
        Pairs { source, open, counts, closing, unclosed: None, surplus: None }
    }

    fn count(&mut self, bracket: char) -> &mut usize {
        let at = match bracket {
            '}' => 0,
            ']' => 1,
            _ => 2,
        };
        &mut self.counts[at]
    }

    fn open(&mut self, bracket: char, row: usize) -> Option<Fault> {
        *self.count(bracket) += 1;
        self.open.push(OpenBracket { bracket, row, indent: indent_of(self.source, row) });
        None
    }

    /// Closes a block. Returns an error that is certain.
    fn close(&mut self, bracket: char, at: usize) -> Option<Fault> {
        let row = self.source.row_of(at);
        // A bracket of a kind that is not open cannot be a wrong closing bracket of another block.
        let is_expected = *self.count(bracket) > 0;
        let Some(open_bracket) = self.open.pop().filter(|_| is_expected) else {
            return Some(self.surplus.take().unwrap_or_else(|| surplus(bracket, row)));
        };
        *self.count(open_bracket.bracket) -= 1;
        if open_bracket.bracket != bracket {
            return Some(unclosed(&open_bracket, row));
        }
        let indent = indent_of(self.source, row);
        if indent < open_bracket.indent && self.source.begins_line(at) {
            self.unclosed.get_or_insert_with(|| unclosed(&open_bracket, row));
        }
        if indent > open_bracket.indent && self.follows_only_closing_brackets(at) {
            self.surplus.get_or_insert_with(|| surplus(bracket, row));
        }
        // A block that ends at the margin closes everything that was opened before.
        if self.open.is_empty() && indent == 0 {
            self.surplus = None;
        }
        None
    }

    /// Whether only closing brackets precede an offset in its line. (In languages with indented
    /// blocks, such a line may have any depth.)
    fn follows_only_closing_brackets(&mut self, at: usize) -> bool {
        let row = self.source.row_of(at);
        if self.closing.0 != row {
            let start = self.source.start_of(row);
            let mut line = self.source.row(row).iter();
            let other = line
                .position(|&byte| !byte.is_ascii_whitespace() && closing_bracket(byte).is_none());
            self.closing = (row, other.map_or(usize::MAX, |other| start + other));
        }
        !self.source.language.is_indented && at <= self.closing.1
    }

    /// The fault at the end of the text.
    fn end(mut self, last: usize) -> Option<Fault> {
        let open_bracket = self.open.pop()?;
        Some(self.unclosed.unwrap_or_else(|| unclosed(&open_bracket, last)))
    }
}

fn closing_bracket(byte: u8) -> Option<char> {
    matches!(byte, b'}' | b']' | b')').then_some(byte.into())
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

fn indent_of(source: &Source, row: usize) -> usize {
    source.first_byte(row).map_or(0, |first| first - source.start_of(row))
}

fn unclosed(open_bracket: &OpenBracket, row: usize) -> Fault {
    let opened = open_bracket.row as u32 + 1;
    let what = match open_bracket.bracket {
        '}' => format!("`}}` is missing: the block opened at line {opened}"),
        bracket => format!("`{bracket}` is missing: it was opened at line {opened}"),
    };
    Fault { line: row as u32 + 1, what, opened: Some(opened) }
}

fn surplus(bracket: char, row: usize) -> Fault {
    Fault { line: row as u32 + 1, what: format!("`{bracket}` closes nothing"), opened: None }
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
