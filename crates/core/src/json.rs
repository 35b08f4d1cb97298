//! JSON: values of documents, by path, and values of requests.
//!
//! `tree` finds the values in a text, `canonical` hashes them, `path` reads and writes their
//! anchors, `place` finds the value of an anchor. `change` makes of edits the pieces of the text
//! that change (`members`: of one object or array), written as what is around them is (`style`,
//! `value`). `read` shows a document with its anchors.
//!
//! The module `edit` plans, splices and commits the pieces like those of a `replace_text`.
//!
//! Requests come as data, too: `data` is a value of one, from any face.

mod canonical;
mod change;
mod data;
mod members;
mod path;
mod place;
mod read;
mod style;
mod tree;
mod value;

use std::ops::Range;

use change::{ValueChange, changes};
use hashline_base::cancel::Cancel;
use hashline_base::error::Error;
use place::ValueFinder;
use tree::{JsonGrammar, NodeId, Tree};

pub use canonical::quoted;
pub use data::{JsonFault, VALUE, Value, from_json, from_json_value, unique_keys};
pub use path::{JsonAnchor, JsonPath, PathStep};
pub use place::JsonAnchorRefusal;
pub use read::{JsonRequest, JsonView, read_json, read_json_bytes};
pub use value::JsonValue;

/// What an operation does to a JSON document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum JsonEdit {
    /// Sets a value.
    Set {
        /// The value.
        anchor: JsonAnchor,
        /// What it becomes.
        value: JsonValue,
    },
    /// Inserts a value into an object or array.
    Insert {
        /// The object or array.
        anchor: JsonAnchor,
        /// Where in it.
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
    /// Before the element that has the index now; after the last one for their count.
    Index(usize),
    /// At the end of an array.
    End,
}

impl JsonEdit {
    /// The anchor that it names.
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

/// A piece of the text that an operation changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPiece {
    /// The operation.
    pub operation: usize,
    /// What is replaced, in bytes of the text.
    pub range: Range<usize>,
    /// What takes its place.
    pub text: String,
}

/// What the edits of a document come to.
#[derive(Clone, Debug, Default)]
pub struct JsonPlan {
    /// The pieces that change, disjoint and in order.
    pub pieces: Vec<JsonPiece>,
    /// Operations that change nothing.
    pub unchanged: Vec<usize>,
}

/// Why edits of a document are refused.
#[derive(Clone, Debug)]
pub enum JsonRefusal {
    /// The anchor of an operation is not that of a value that is there.
    Anchor {
        /// The operation.
        operation: usize,
        /// The anchor.
        anchor: JsonAnchor,
        /// Why.
        refusal: JsonAnchorRefusal,
    },
    /// Anything else about an operation.
    Operation(usize, Error),
}

/// Plans edits of the document that `text` is: all of them, or every reason against them.
pub fn plan_json(text: &str, edits: &[(usize, &JsonEdit)]) -> Result<JsonPlan, Vec<JsonRefusal>> {
    let tree = match Tree::parse(text, JsonGrammar::WithComments, &Cancel::default()) {
        Ok(tree) => tree,
        Err(error) => {
            let refused =
                edits.iter().map(|&(index, _)| JsonRefusal::Operation(index, error.clone()));
            return Err(refused.collect());
        }
    };
    let mut places = ValueFinder::new(&tree);
    let (mut found, mut refused) = (Vec::with_capacity(edits.len()), Vec::new());
    for &(operation, edit) in edits {
        let anchor = edit.anchor();
        match places.find(anchor) {
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
