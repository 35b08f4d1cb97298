//! Edits of values → replaced ranges of the text. All edits apply to the document as it is now.
//! Every byte that no edit covers stays the same.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::canonical::{canonical, quoted};
use super::members::{Insertion, Members, Piece};
use super::style::{Layout, Style, layout_for};
use super::tree::{NodeId, ROOT, Tree, ValueKind};
use super::value::{JsonValue, render};
use super::{JsonPath, JsonSlot, path_of};
use hashline_base::error::{Code, Error, Mention};

/// An edit whose anchor is resolved.
#[derive(Clone, Copy, Debug)]
pub enum ValueChange<'v> {
    /// Replaces the value.
    Set(NodeId, &'v JsonValue),
    /// Deletes the value, with its key.
    Delete(NodeId),
    /// Inserts a value into the object or array.
    Insert(NodeId, &'v JsonSlot, &'v JsonValue),
}

impl ValueChange<'_> {
    /// The value that the anchor resolved to.
    pub fn target(&self) -> NodeId {
        match *self {
            ValueChange::Set(id, _) | ValueChange::Delete(id) | ValueChange::Insert(id, ..) => id,
        }
    }
}

/// The effect of edits on the text of a document.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Sorted by start, disjoint.
    pub pieces: Vec<Piece>,
    /// Operations that change nothing.
    pub unchanged: Vec<usize>,
}

/// Computes the replaced ranges, or the errors with the index of each operation.
pub fn changes(
    tree: &Tree<'_>,
    edits: &[(usize, ValueChange<'_>)],
) -> Result<Changes, Vec<(usize, Error)>> {
    let mut refused = overlaps(tree, edits);
    let mut containers: BTreeMap<NodeId, Members<'_>> = BTreeMap::new();
    let mut result = Changes::default();
    for &(operation, change) in edits {
        match change {
            ValueChange::Set(id, value) => match set(tree, operation, id, value) {
                Some(piece) => result.pieces.push(piece),
                None => result.unchanged.push(operation),
            },
            ValueChange::Delete(id) => match tree.parent(id) {
                Some(parent) => {
                    members(&mut containers, tree, parent).delete(operation, id);
                }
                None => refused.push((operation, whole_document(operation))),
            },
            ValueChange::Insert(id, slot, value) => {
                let members = members(&mut containers, tree, id);
                match insertion(tree, members, operation, id, slot, value) {
                    Ok(insertion) => members.insert(insertion),
                    Err(error) => refused.push((operation, error)),
                }
            }
        }
    }
    for (&id, members) in &containers {
        refused.extend(key_conflicts(tree, id, members));
    }
    if !refused.is_empty() {
        refused.sort_by_key(|(operation, _)| *operation);
        return Err(refused);
    }
    for members in containers.values() {
        members.pieces(&mut result.pieces);
    }
    result.pieces = disjoint(result.pieces);
    Ok(result)
}

fn members<'c, 't>(
    containers: &'c mut BTreeMap<NodeId, Members<'t>>,
    tree: &'t Tree<'t>,
    id: NodeId,
) -> &'c mut Members<'t> {
    containers.entry(id).or_insert_with(|| Members::of(tree, id))
}

fn whole_document(operation: usize) -> Error {
    Error::new(
        Code::InvalidOperation,
        Mention::Operation(operation)
            + ": $ is the whole document and cannot be deleted by path: set it, or delete the file",
    )
}

/// Conflicts between operations: two that set or delete the same value, and one inside a value that
/// another sets or deletes.
fn overlaps(tree: &Tree<'_>, edits: &[(usize, ValueChange<'_>)]) -> Vec<(usize, Error)> {
    let mut replaced: HashMap<NodeId, usize> = HashMap::new();
    let mut refused = Vec::new();
    for &(operation, change) in edits {
        if let ValueChange::Set(id, _) | ValueChange::Delete(id) = change
            && let Some(other) = replaced.insert(id, operation)
        {
            let what = format!("both change {}", path_of(tree, id));
            refused.push((operation, overlap(operation, other, &what)));
        }
    }
    if replaced.is_empty() {
        return refused;
    }
    for &(operation, change) in edits {
        let target = change.target();
        let from = match change {
            ValueChange::Set(..) | ValueChange::Delete(..) => tree.parent(target),
            ValueChange::Insert(..) => Some(target),
        };
        let around = std::iter::successors(from, |&id| tree.parent(id));
        let found = around.filter_map(|id| Some((id, *replaced.get(&id)?))).next();
        if let Some((id, other)) = found {
            let what = format!(
                "meet: one changes {}, inside {}, which the other sets or deletes",
                path_of(tree, target),
                path_of(tree, id)
            );
            refused.push((operation.max(other), overlap(operation, other, &what)));
        }
    }
    refused
}

fn overlap(one: usize, other: usize, what: &str) -> Error {
    let (one, other) = (one.min(other), one.max(other));
    Error::new(
        Code::OverlappingEdits,
        Mention::Operations(one, other)
            + format!(" {what}; combine them into ")
            + Mention::OneOperation,
    )
}

/// The replaced range that sets a value; none if the value is the same already.
fn set(tree: &Tree<'_>, operation: usize, id: NodeId, value: &JsonValue) -> Option<Piece> {
    let new = value.tree();
    if canonical(tree, id) == canonical(&new, ROOT) {
        return None;
    }
    let layout = layout_for(tree, new.kind(ROOT), Some(id), tree.parent(id));
    let text = in_style(tree, id, value, layout, tree.indent_at(tree.member_start(id)));
    Some(Piece { operation, start: tree.start(id), end: tree.end(id), text })
}

/// The text of a new value, in the style of the text around `near`.
fn in_style(
    tree: &Tree<'_>,
    near: NodeId,
    value: &JsonValue,
    layout: Layout,
    indent: &str,
) -> String {
    if !value.text().starts_with(['{', '[']) {
        return value.text().to_owned();
    }
    render(value, &Style::around(tree, near), layout, indent)
}

/// Validates the position of an insertion and renders its text.
fn insertion(
    tree: &Tree<'_>,
    members: &Members<'_>,
    operation: usize,
    id: NodeId,
    slot: &JsonSlot,
    value: &JsonValue,
) -> Result<Insertion, Error> {
    let path = || path_of(tree, id);
    let invalid = |what: String| {
        Err(Error::new(Code::InvalidOperation, Mention::Operation(operation) + format!(": {what}")))
    };
    let count = members.count();
    let (gap, key) = match (tree.kind(id), slot) {
        (ValueKind::Object, JsonSlot::Key(key)) => (count, Some(key.as_str())),
        (ValueKind::Array, JsonSlot::Index(index)) if *index <= count => (*index, None),
        (ValueKind::Array, JsonSlot::End) => (count, None),
        (ValueKind::Array, JsonSlot::Index(index)) => {
            return invalid(format!(
                "{} has {count} elements: a value can be inserted at index 0 to {count}, not {index}",
                path()
            ));
        }
        (ValueKind::Array, JsonSlot::Key(_)) => {
            return invalid(format!(
                "{} is an array: name an index instead of a key, or neither to insert at the end",
                path()
            ));
        }
        (ValueKind::Object, JsonSlot::Index(_)) => {
            return invalid(format!("{} is an object: name a key instead of an index", path()));
        }
        (ValueKind::Object, JsonSlot::End) => {
            return invalid(format!("{} is an object: the field key is missing", path()));
        }
        (kind, _) => {
            return invalid(format!(
                "{} is {}: values can only be inserted into objects and arrays",
                path(),
                kind.noun()
            ));
        }
    };
    let place = members.layout_at(gap);
    let layout = layout_for(tree, value.tree().kind(ROOT), None, Some(id));
    let style = Style::around(tree, id);
    let mut text = String::new();
    if let Some(key) = key {
        text.push_str(&quoted(key));
        text.push_str(&style.colon);
    }
    text.push_str(&in_style(tree, id, value, layout, &place.indent));
    Ok(Insertion { operation, gap, key: key.map(str::to_owned), text })
}

/// Insertions whose key exists already, or that two operations insert.
fn key_conflicts(tree: &Tree<'_>, id: NodeId, members: &Members<'_>) -> Vec<(usize, Error)> {
    let mut inserted: HashMap<&str, usize> = HashMap::new();
    let mut refused = Vec::new();
    let existing: HashSet<_> =
        if members.insertions().iter().any(|insertion| insertion.key.is_some()) {
            members.kept().filter_map(|child| tree.key(child)).collect()
        } else {
            HashSet::new()
        };
    for insertion in members.insertions() {
        let Some(key) = insertion.key.as_deref() else { continue };
        let operation = insertion.operation;
        let JsonPath(mut steps) = path_of(tree, id);
        steps.push(super::PathStep::Key(key.to_owned()));
        let path = JsonPath(steps);
        if existing.contains(key) {
            let message = Mention::Operation(operation)
                + format!(
                    ": {path} already exists, and an insert does not overwrite: set it instead"
                );
            refused.push((operation, Error::new(Code::KeyExists, message)));
        } else if let Some(other) = inserted.insert(key, operation) {
            let what = format!("both insert {path}");
            refused.push((operation, overlap(operation, other, &what)));
        }
    }
    refused
}

/// Sorts the ranges and makes them disjoint. A deletion around an insertion point is split into a
/// deletion before it and one after it.
fn disjoint(mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.sort_by_key(|piece| (piece.start, piece.end));
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let Some(last) = out.last_mut().filter(|last| last.end > piece.start) else {
            out.push(piece);
            continue;
        };
        let (end, operation) = (last.end, last.operation);
        last.end = piece.start;
        if last.start == last.end && last.text.is_empty() {
            out.pop();
        }
        let rest = Piece { operation, start: piece.end, end, text: String::new() };
        out.push(piece);
        if rest.start < rest.end {
            out.push(rest);
        }
    }
    out
}
