//! JSON documents and JSON requests.
//!
//! `tree` parses a document, `canonical` hashes its values, `path` parses and prints JSON anchors,
//! `resolve` finds the value that an anchor names. `change` turns edits into replaced ranges of the
//! text (`members` handles one object or array). New text follows the style of the text around it
//! (`style`, `value`). `read` shows a document with its anchors.
//!
//! The module `edit` plans, splices and commits these ranges like those of a `replace_text`.
//!
//! `data` holds the values of a request, as every binding passes them in.

mod canonical;
mod change;
mod data;
mod members;
mod path;
mod read;
mod resolve;
mod style;
mod tree;
mod value;

use std::ops::Range;

use change::{ValueChange, changes};
use hashline_base::cancel::Cancel;
use hashline_base::error::Error;
use resolve::AnchorResolver;
use tree::{JsonGrammar, NodeId, Tree};

pub use canonical::quoted;
pub use data::{JsonFault, VALUE, Value, from_json, from_json_value, unique_keys};
pub use path::{JsonAnchor, JsonPath, PathStep};
pub use read::{JsonRequest, JsonView, read_json, read_json_bytes};
pub use resolve::JsonAnchorRefusal;
pub use value::{JsonValue, PartialValue};

/// An edit of a JSON document, by anchor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum JsonEdit {
    /// Sets a value.
    Set {
        /// The value to replace.
        anchor: JsonAnchor,
        /// The new value.
        value: JsonValue,
    },
    /// Inserts a value into an object or array.
    Insert {
        /// The object or array.
        anchor: JsonAnchor,
        /// The position in it.
        slot: JsonSlot,
        /// The new value.
        value: JsonValue,
    },
    /// Deletes a value, with its key.
    Delete {
        /// The value.
        anchor: JsonAnchor,
    },
}

/// Where in an object or array a value is inserted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum JsonSlot {
    /// Under a new key.
    Key(String),
    /// Before the element that now has this index; an index equal to the element count appends.
    Index(usize),
    /// At the end of an array.
    End,
}

impl JsonEdit {
    /// The anchor of the edited or containing value.
    pub fn anchor(&self) -> &JsonAnchor {
        match self {
            JsonEdit::Set { anchor, .. }
            | JsonEdit::Insert { anchor, .. }
            | JsonEdit::Delete { anchor } => anchor,
        }
    }

    fn change(&self, id: NodeId) -> ValueChange<'_> {
        match self {
            JsonEdit::Set { value, .. } => ValueChange::Set(id, value),
            JsonEdit::Insert { slot, value, .. } => ValueChange::Insert(id, slot, value),
            JsonEdit::Delete { .. } => ValueChange::Delete(id),
        }
    }
}

/// A range of the text that an operation replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPiece {
    /// The index of the operation.
    pub operation: usize,
    /// The replaced bytes.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

/// The replaced ranges that a list of edits results in.
#[derive(Clone, Debug, Default)]
pub struct JsonPlan {
    /// Sorted by start, disjoint.
    pub pieces: Vec<JsonPiece>,
    /// Operations that change nothing.
    pub unchanged: Vec<usize>,
}

/// Why an edit was refused.
#[derive(Clone, Debug)]
pub enum JsonRefusal {
    /// The anchor does not resolve to a value.
    Anchor {
        /// The index of the operation.
        operation: usize,
        /// The anchor.
        anchor: JsonAnchor,
        /// Why.
        refusal: JsonAnchorRefusal,
    },
    /// Any other error, with the index of the operation.
    Operation(usize, Error),
}

/// Plans all edits of a document, or returns every reason why one of them is refused.
pub fn plan_json(text: &str, edits: &[(usize, &JsonEdit)]) -> Result<JsonPlan, Vec<JsonRefusal>> {
    let tree = match Tree::parse(text, JsonGrammar::WithComments, &Cancel::default()) {
        Ok(tree) => tree,
        Err(error) => {
            let refused =
                edits.iter().map(|&(index, _)| JsonRefusal::Operation(index, error.clone()));
            return Err(refused.collect());
        }
    };
    let mut resolver = AnchorResolver::new(&tree);
    let (mut found, mut refused) = (Vec::with_capacity(edits.len()), Vec::new());
    for &(operation, edit) in edits {
        let anchor = edit.anchor();
        match resolver.resolve(anchor) {
            Ok(id) => found.push((operation, edit.change(id))),
            Err(refusal) => {
                refused.push(JsonRefusal::Anchor { operation, anchor: anchor.clone(), refusal });
            }
        }
    }
    let changed = match changes(&tree, &found) {
        Ok(changed) if refused.is_empty() => changed,
        Ok(_) => return Err(refused),
        Err(errors) => {
            let errors =
                errors.into_iter().map(|(index, error)| JsonRefusal::Operation(index, error));
            return Err(refused.into_iter().chain(errors).collect());
        }
    };
    let piece = |piece: members::Piece| JsonPiece {
        operation: piece.operation,
        range: piece.start..piece.end,
        text: piece.text,
    };
    let pieces = changed.pieces.into_iter().map(piece).collect();
    Ok(JsonPlan { pieces, unchanged: changed.unchanged })
}

/// The path of a value.
fn path_of(tree: &Tree<'_>, id: NodeId) -> JsonPath {
    let mut steps = Vec::new();
    let mut at = id;
    while let Some(parent) = tree.parent(at) {
        steps.push(match tree.key(at) {
            Some(key) => PathStep::Key(key.into_owned()),
            None => PathStep::Index(tree.children(parent).take_while(|&child| child != at).count()),
        });
        at = parent;
    }
    steps.reverse();
    JsonPath(steps)
}

#[cfg(test)]
mod tests;
