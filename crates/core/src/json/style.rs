//! The style of a document: indentation, line endings, whitespace around punctuation. The closest
//! example decides. Without any, a level is two spaces and each value gets its own line.

use super::tree::{NodeId, ROOT, Tree, ValueKind, is_blank};

/// How a value is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// On one line.
    Inline,
    /// With each member or element on its own line.
    Lines,
}

/// The style of the text around a value.
#[derive(Clone, Debug)]
pub struct Style {
    /// The line ending.
    pub newline: &'static str,
    /// The indentation that one level adds.
    pub unit: String,
    /// The text between a key and its value.
    pub colon: String,
    /// The whitespace after a comma within a line.
    pub comma_gap: String,
    /// The whitespace inside the braces of an object on one line.
    pub object_pad: String,
    /// The whitespace inside the brackets of an array on one line.
    pub array_pad: String,
}

/// The indentation of a level where the document has no example.
const DEFAULT_UNIT: &str = "  ";

impl Style {
    /// The style around `near`; the closest example decides.
    pub fn around(tree: &Tree<'_>, near: NodeId) -> Style {
        let unit = closest(tree, near, |id| unit_of(tree, id));
        let colon = closest(tree, near, |id| colon_of(tree, id));
        let comma_gap = closest(tree, near, |id| comma_gap_of(tree, id));
        let comma_gap = comma_gap.or_else(|| {
            let colon = colon.as_deref()?;
            Some(if colon.ends_with(':') { "" } else { " " }.to_owned())
        });
        let pad = |kind| closest(tree, near, |id| pad_of(tree, id, kind)).unwrap_or_default();
        Style {
            newline: newline_at(tree.text(), tree.start(near)),
            unit: unit.unwrap_or_else(|| DEFAULT_UNIT.to_owned()),
            colon: colon.unwrap_or_else(|| {
                if comma_gap.as_deref() == Some("") { ":" } else { ": " }.to_owned()
            }),
            comma_gap: comma_gap.unwrap_or_else(|| " ".to_owned()),
            object_pad: pad(ValueKind::Object),
            array_pad: pad(ValueKind::Array),
        }
    }
}

/// How many values from the start of the document are tried if none around `near` fits.
const EXAMPLE_LIMIT: usize = 1_000;

/// Tries `near`, then the values that contain it, then those from the start of the document.
fn closest<T>(
    tree: &Tree<'_>,
    near: NodeId,
    example_of: impl Fn(NodeId) -> Option<T>,
) -> Option<T> {
    std::iter::successors(Some(near), |&id| tree.parent(id))
        .find_map(&example_of)
        .or_else(|| (ROOT..tree.count().min(EXAMPLE_LIMIT)).find_map(example_of))
}

/// The line ending at an offset or, in a last line without one, that of the first line.
fn newline_at(text: &str, offset: usize) -> &'static str {
    let end = memchr::memchr(b'\n', &text.as_bytes()[offset..]).map(|newline| offset + newline);
    let end = end.or_else(|| memchr::memchr(b'\n', text.as_bytes()));
    match end {
        Some(end) if text[..end].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The indentation of the first child relative to its parent, if both start a line.
fn unit_of(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    let child = tree.member_start(tree.first_child(id)?);
    if !tree.begins_line(child) || tree.line_start(child) <= tree.start(id) {
        return None;
    }
    let more = tree.indent_at(child).strip_prefix(tree.indent_at(tree.start(id)))?;
    (!more.is_empty()).then(|| more.to_owned())
}

/// The text between the key and the value of a member.
fn colon_of(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    let member = match tree.raw_key(id) {
        Some(_) => id,
        None => tree.first_child(id)?,
    };
    let key = tree.raw_key(member)?;
    let colon = &tree.text()[tree.member_start(member) + key.len()..tree.start(member)];
    let (before, after) = colon.split_once(':')?;
    (is_blank(before) && is_blank(after)).then(|| colon.to_owned())
}

/// The whitespace between two children on one line.
fn comma_gap_of(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    let mut children = tree.children(id);
    let (first, second) = (children.next()?, children.next()?);
    let gap = &tree.text()[tree.comma(first)? + 1..tree.member_start(second)];
    is_blank(gap).then(|| gap.to_owned())
}

/// The whitespace inside the brackets of a value on one line.
fn pad_of(tree: &Tree<'_>, id: NodeId, kind: ValueKind) -> Option<String> {
    let first = tree.first_child(id).filter(|_| tree.kind(id) == kind)?;
    let pad = &tree.text()[tree.start(id) + 1..tree.member_start(first)];
    is_blank(pad).then(|| pad.to_owned())
}

/// The layout of a value that is not empty.
pub fn layout_of(tree: &Tree<'_>, id: NodeId) -> Option<Layout> {
    tree.first_child(id)?;
    Some(if tree.slice(id).contains('\n') { Layout::Lines } else { Layout::Inline })
}

/// The layout of a new value that replaces `replaced` or goes into `container`: that of the value
/// it replaces, else of the closest sibling of the same kind, else of the container.
pub fn layout_for(
    tree: &Tree<'_>,
    kind: ValueKind,
    replaced: Option<NodeId>,
    container: Option<NodeId>,
) -> Layout {
    let own = replaced.and_then(|id| layout_of(tree, id));
    own.or_else(|| sibling_layout(tree, kind, replaced, container?))
        .or_else(|| container.map(|id| layout_inside(tree, id)))
        .unwrap_or(Layout::Lines)
}

/// How many siblings serve as examples of a layout.
const SIBLING_LIMIT: usize = 64;

/// The layout of the last sibling of a kind before `replaced`, else of the first one after it.
fn sibling_layout(
    tree: &Tree<'_>,
    kind: ValueKind,
    replaced: Option<NodeId>,
    container: NodeId,
) -> Option<Layout> {
    let place = replaced.unwrap_or(usize::MAX);
    let mut before = None;
    for child in tree.children(container).take(SIBLING_LIMIT) {
        let layout = layout_of(tree, child).filter(|_| child != place && tree.kind(child) == kind);
        if child > place && before.is_none() && layout.is_some() {
            return layout;
        }
        if child < place {
            before = layout.or(before);
        }
    }
    before
}

/// Whether the children of a value start lines of their own.
pub fn layout_inside(tree: &Tree<'_>, id: NodeId) -> Layout {
    let inside = match tree.first_child(id) {
        Some(first) => tree.start(id)..tree.member_start(first),
        None => tree.start(id)..tree.end(id),
    };
    if tree.text()[inside].contains('\n') {
        return Layout::Lines;
    }
    match (tree.first_child(id), tree.parent(id)) {
        (Some(_), _) => Layout::Inline,
        (None, Some(parent)) => sibling_layout(tree, tree.kind(id), Some(id), parent)
            .unwrap_or_else(|| layout_inside(tree, parent)),
        (None, None) => Layout::Lines,
    }
}
