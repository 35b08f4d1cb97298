//! What is wrong first in a text that did not parse, in a few plain words.

use tree_sitter::Node;

use crate::budget::Meter;
use crate::found::Fault;
use crate::indentation;
use crate::source::Source;
use crate::walk::Walk;

/// As many bytes of a text are enough to show what is wrong.
const SHOWN_LIMIT_BYTES: usize = 200;

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
    let mut pairs = Pairs::new(source);
    let mut walk = Walk::new(root, meter);
    loop {
        let node = walk.node();
        if node.child_count() == 0 && !node.is_missing() {
            let found = match bracket_of(node) {
                Some((bracket, true)) => pairs.open(bracket, node.start_position().row),
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
    let closer = stopped.and_then(|at| Some((closer_of(source.text[at])?, at)));
    if let Some((bracket, at)) = closer {
        return pairs.close(bracket, at);
    }
    let end = source.text[..root.end_byte()].trim_ascii_end().len();
    pairs.end(source.row_of(end.saturating_sub(1)))
}

/// Which brackets of a text are open, and which are in doubt by their indentation.
struct Pairs<'s> {
    source: &'s Source,
    open: Vec<Opener>,
    /// How many of each kind are.
    counts: [usize; 3],
    /// How far the closing brackets reach with which a line begins: the line, and the place.
    closers: (usize, usize),
    /// The innermost block whose closing bracket is further left than its line: that is another's.
    unclosed: Option<Fault>,
    /// A closing bracket that is further right than the line of its block: that is closed already.
    surplus: Option<Fault>,
}

impl<'s> Pairs<'s> {
    fn new(source: &'s Source) -> Pairs<'s> {
        let (open, counts, closers) = (Vec::new(), [0; 3], (usize::MAX, 0));
        Pairs { source, open, counts, closers, unclosed: None, surplus: None }
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
        self.open.push(Opener { bracket, row, indent: indent_of(self.source, row) });
        None
    }

    /// Closes a block; returns what is certain to be wrong.
    fn close(&mut self, bracket: char, at: usize) -> Option<Fault> {
        let row = self.source.row_of(at);
        // One that nothing waits for is not that of a block which waits for another.
        let is_awaited = *self.count(bracket) > 0;
        let Some(opener) = self.open.pop().filter(|_| is_awaited) else {
            return Some(self.surplus.take().unwrap_or_else(|| surplus(bracket, row)));
        };
        *self.count(opener.bracket) -= 1;
        if opener.bracket != bracket {
            return Some(unclosed(&opener, row));
        }
        let indent = indent_of(self.source, row);
        if indent < opener.indent && self.source.begins_line(at) {
            self.unclosed.get_or_insert_with(|| unclosed(&opener, row));
        }
        if indent > opener.indent && self.is_behind_closers(at) {
            self.surplus.get_or_insert_with(|| surplus(bracket, row));
        }
        // Where a block ends at the margin, all is closed that was opened before.
        if self.open.is_empty() && indent == 0 {
            self.surplus = None;
        }
        None
    }

    /// Whether a line begins with closing brackets up to a place. (In languages whose blocks are
    /// indented, such a line may be as deep as it likes.)
    fn is_behind_closers(&mut self, at: usize) -> bool {
        let row = self.source.row_of(at);
        if self.closers.0 != row {
            let start = self.source.start_of(row);
            let mut line = self.source.row(row).iter();
            let other =
                line.position(|&byte| !byte.is_ascii_whitespace() && closer_of(byte).is_none());
            self.closers = (row, other.map_or(usize::MAX, |other| start + other));
        }
        !self.source.language.is_indented && at <= self.closers.1
    }

    /// What is wrong at the end of the text.
    fn end(mut self, last: usize) -> Option<Fault> {
        let opener = self.open.pop()?;
        Some(self.unclosed.unwrap_or_else(|| unclosed(&opener, last)))
    }
}

fn closer_of(byte: u8) -> Option<char> {
    matches!(byte, b'}' | b']' | b')').then_some(byte.into())
}

/// Where a parser stopped that could not make a whole of a text: some leave off there, and what
/// follows is in no node.
fn stopped_at(source: &Source, root: Node<'_>) -> Option<usize> {
    let end = Some(root.end_byte()).filter(|_| root.is_error())?;
    let rest = &source.text[end..];
    Some(end + rest.iter().position(|byte| !byte.is_ascii_whitespace())?)
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
    if let Some(at) = stopped_at(source, root).filter(|_| node == root) {
        let end = source.text.len().min(at + SHOWN_LIMIT_BYTES);
        let shown = shorten(&String::from_utf8_lossy(&source.text[at..end]));
        let what = format!("`{shown}` is not expected here");
        return Some(Fault { line: source.row_of(at) as u32 + 1, what, opened: None });
    }
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
