//! How a document is written: its indentation, its line endings, the blanks around its signs. What
//! is near counts before what is far, and what a document does not tell is two blanks and a line
//! for each value.

use super::tree::{NodeId, ROOT, Tree, ValueKind, is_blank};

/// How a value is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In one line.
    Inline,
    /// With each member and element on a line of its own.
    Lines,
}

/// The style of the text around a place.
#[derive(Clone, Debug)]
pub struct Style {
    /// What ends a line.
    pub newline: &'static str,
    /// What a level adds to the indentation.
    pub unit: String,
    /// What stands between a key and its value.
    pub colon: String,
    /// What stands after a comma within a line.
    pub comma_gap: String,
    /// What stands inside the braces of an object that is written in one line.
    pub object_pad: String,
    /// What stands inside the brackets of an array that is written in one line.
    pub array_pad: String,
}

/// What a level of indentation is where the document does not tell.
const DEFAULT_UNIT: &str = "  ";

impl Style {
    /// The style around a value; what is nearest to `near` counts.
    pub fn around(tree: &Tree<'_>, near: NodeId) -> Style {
        let unit = find(tree, near, |id| unit_of(tree, id));
        let colon = find(tree, near, |id| colon_of(tree, id));
        let comma_gap = find(tree, near, |id| comma_gap_of(tree, id));
        let comma_gap = comma_gap.or_else(|| {
            let colon = colon.as_deref()?;
            Some(if colon.ends_with(':') { "" } else { " " }.to_owned())
        });
        let pad = |kind| find(tree, near, |id| pad_of(tree, id, kind)).unwrap_or_default();
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

/// How many values of a document are asked for its style where no value near a place tells it.
const FAR_LIMIT: usize = 1_000;

/// Asks a value, then those around it, then others from the first on.
fn find<T>(tree: &Tree<'_>, near: NodeId, ask: impl Fn(NodeId) -> Option<T>) -> Option<T> {
    std::iter::successors(Some(near), |&id| tree.parent(id))
        .find_map(&ask)
        .or_else(|| (ROOT..tree.count().min(FAR_LIMIT)).find_map(ask))
}

/// What ends the line around an offset, or the first line if that one has no end.
fn newline_at(text: &str, offset: usize) -> &'static str {
    let end = memchr::memchr(b'\n', &text.as_bytes()[offset..]).map(|newline| offset + newline);
    let end = end.or_else(|| memchr::memchr(b'\n', text.as_bytes()));
    match end {
        Some(end) if text[..end].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// What the first value in a value is indented more than the value itself, if both begin a line.
fn unit_of(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    let child = tree.member_start(tree.first_child(id)?);
    if !tree.begins_line(child) || tree.line_start(child) <= tree.start(id) {
        return None;
    }
    let more = tree.indent_at(child).strip_prefix(tree.indent_at(tree.start(id)))?;
    (!more.is_empty()).then(|| more.to_owned())
}

/// What stands between the key and the value of a member.
fn colon_of(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    let member = match tree.raw_key(id) {
        Some(_) => id,
        None => tree.first_child(id)?,
    };
    let key = tree.raw_key(member)?;
    let colon = &tree.text()[tree.member_start(member) + key.len()..tree.start(member)];
    let (before, behind) = colon.split_once(':')?;
    (is_blank(before) && is_blank(behind)).then(|| colon.to_owned())
}

/// What stands between two elements or members in one line.
fn comma_gap_of(tree: &Tree<'_>, id: NodeId) -> Option<String> {
    let mut children = tree.children(id);
    let (first, second) = (children.next()?, children.next()?);
    let gap = &tree.text()[tree.comma(first)? + 1..tree.member_start(second)];
    is_blank(gap).then(|| gap.to_owned())
}

/// What stands inside the brackets of a value that is written in one line.
fn pad_of(tree: &Tree<'_>, id: NodeId, kind: ValueKind) -> Option<String> {
    let first = tree.first_child(id).filter(|_| tree.kind(id) == kind)?;
    let pad = &tree.text()[tree.start(id) + 1..tree.member_start(first)];
    is_blank(pad).then(|| pad.to_owned())
}

/// How a value that has something in it is laid out.
pub fn layout_of(tree: &Tree<'_>, id: NodeId) -> Option<Layout> {
    tree.first_child(id)?;
    Some(if tree.slice(id).contains('\n') { Layout::Lines } else { Layout::Inline })
}

/// How a new value is laid out that takes the place of `replaced`, or goes into `container`: as
/// the one it replaces, as the nearest value of its kind beside it, as what is around it.
pub fn layout_for(
    tree: &Tree<'_>,
    kind: ValueKind,
    replaced: Option<NodeId>,
    container: Option<NodeId>,
) -> Layout {
    let own = replaced.and_then(|id| layout_of(tree, id));
    own.or_else(|| layout_beside(tree, kind, replaced, container?))
        .or_else(|| container.map(|id| layout_inside(tree, id)))
        .unwrap_or(Layout::Lines)
}

/// How far a value looks for others of its kind beside it.
const BESIDE_LIMIT: usize = 64;

/// The layout of the last value of a kind before a place in a container, or else of the first one
/// after it.
fn layout_beside(
    tree: &Tree<'_>,
    kind: ValueKind,
    replaced: Option<NodeId>,
    container: NodeId,
) -> Option<Layout> {
    let place = replaced.unwrap_or(usize::MAX);
    let mut before = None;
    for child in tree.children(container).take(BESIDE_LIMIT) {
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

/// Whether what is in a value begins lines of its own.
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
        (None, Some(parent)) => layout_beside(tree, tree.kind(id), Some(id), parent)
            .unwrap_or_else(|| layout_inside(tree, parent)),
        (None, None) => Layout::Lines,
    }
}
