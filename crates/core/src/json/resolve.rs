//! JSON anchors → the values they name in a document, or why they do not resolve.

use std::borrow::Cow;
use std::collections::HashMap;

use super::canonical::{canonical, hash, quoted};
use super::path::{JsonAnchor, JsonPath, PathStep};
use super::tree::{NodeId, ROOT, Tree, ValueKind};
use hashline_base::error::Code;

/// Why an anchor was refused.
#[derive(Clone, Debug)]
pub struct JsonAnchorRefusal {
    /// The error code.
    pub code: Code,
    /// The first line of the report.
    pub headline: String,
    /// The current state, and what to use instead.
    pub truth: String,
    /// The current anchor of the value at this path.
    pub fresh: Option<String>,
}

/// Resolves anchors in one document. Caches what repeated lookups need.
pub struct AnchorResolver<'t> {
    tree: &'t Tree<'t>,
    elements: HashMap<NodeId, Vec<NodeId>>,
    members: HashMap<NodeId, MembersByKey<'t>>,
    hashes: HashMap<NodeId, u8>,
}

/// Lookups in one object. After a few, the members are indexed: key → first value with it, and the
/// number of values with it.
#[derive(Default)]
struct MembersByKey<'t> {
    lookups: usize,
    by_key: Option<HashMap<Cow<'t, str>, (NodeId, usize)>>,
}

/// Lookups by a linear scan before the keys of an object are indexed. Building the index costs more
/// than a scan, but only once.
const LOOKUPS_BEFORE_INDEX: usize = 4;

/// How much of a value a refusal quotes.
const QUOTED_VALUE_CHARS: usize = 200;

/// How many keys a refusal lists.
const MAX_LISTED_KEYS: usize = 20;

impl<'t> AnchorResolver<'t> {
    /// A resolver with empty caches.
    pub fn new(tree: &'t Tree<'t>) -> AnchorResolver<'t> {
        AnchorResolver {
            tree,
            elements: HashMap::new(),
            members: HashMap::new(),
            hashes: HashMap::new(),
        }
    }

    /// The value at the path of an anchor, if its hash matches.
    pub fn resolve(&mut self, anchor: &JsonAnchor) -> Result<NodeId, JsonAnchorRefusal> {
        let id = self.walk(&anchor.path)?;
        let current = *self.hashes.entry(id).or_insert_with(|| hash(&canonical(self.tree, id)));
        if current == anchor.hash {
            return Ok(id);
        }
        let path = &anchor.path;
        let fresh = JsonAnchor { path: path.clone(), hash: current }.to_string();
        Err(JsonAnchorRefusal {
            code: Code::HashMismatch,
            headline: format!("Hash mismatch for {path}."),
            truth: format!(
                "Expected {:02x}, current {current:02x}. Updated anchor: {fresh}. Current value: {}",
                anchor.hash,
                quote_value(self.tree.slice(id))
            ),
            fresh: Some(fresh),
        })
    }

    fn walk(&mut self, path: &JsonPath) -> Result<NodeId, JsonAnchorRefusal> {
        let mut id = ROOT;
        for (at, step) in path.0.iter().enumerate() {
            let so_far = || JsonPath(path.0[..at].to_vec());
            let found = match (step, self.tree.kind(id)) {
                (PathStep::Key(key), ValueKind::Object) => self.member(id, key),
                (PathStep::Index(index), ValueKind::Array) => {
                    self.elements(id).get(*index).map(|&child| (child, 1))
                }
                _ => None,
            };
            id = match found {
                Some((child, 1)) => child,
                Some((_, count)) => return Err(ambiguous(path, &so_far(), step, count)),
                None => return Err(self.missing(path, &so_far(), id)),
            };
        }
        Ok(id)
    }

    fn elements(&mut self, id: NodeId) -> &[NodeId] {
        self.elements.entry(id).or_insert_with(|| self.tree.children(id).collect())
    }

    /// The first value with a key, and the number of values with that key.
    fn member(&mut self, id: NodeId, key: &str) -> Option<(NodeId, usize)> {
        let tree = self.tree;
        let members = self.members.entry(id).or_default();
        members.lookups += 1;
        if members.lookups <= LOOKUPS_BEFORE_INDEX {
            let mut found = tree.children(id).filter(|&child| tree.has_key(child, key));
            return found.next().map(|first| (first, 1 + found.count()));
        }
        let by_key = members.by_key.get_or_insert_with(|| {
            let mut by_key: HashMap<_, (NodeId, usize)> = HashMap::new();
            for child in tree.children(id) {
                by_key.entry(tree.key(child).unwrap_or_default()).or_insert((child, 0)).1 += 1;
            }
            by_key
        });
        by_key.get(key).copied()
    }

    /// The refusal for a path without a value; `id` is the last value on the path, `so_far` its
    /// path.
    fn missing(&self, path: &JsonPath, so_far: &JsonPath, id: NodeId) -> JsonAnchorRefusal {
        let tree = self.tree;
        let has = match tree.kind(id) {
            ValueKind::Object => {
                let mut keys: Vec<String> = tree
                    .children(id)
                    .filter_map(|child| tree.key(child))
                    .map(|key| quoted(&key))
                    .collect();
                let more = if keys.len() > MAX_LISTED_KEYS { " and more" } else { "" };
                keys.truncate(MAX_LISTED_KEYS);
                if keys.is_empty() {
                    "is an object without keys".to_owned()
                } else {
                    format!("is an object with the keys {}{more}", keys.join(", "))
                }
            }
            ValueKind::Array => match tree.children(id).count() {
                0 => "is an array without elements".to_owned(),
                1 => "is an array with one element, [0]".to_owned(),
                count => format!("is an array with {count} elements, [0] to [{}]", count - 1),
            },
            kind => format!("is {}", kind.noun()),
        };
        JsonAnchorRefusal {
            code: Code::HashMismatch,
            headline: format!("{path} does not exist."),
            truth: format!("{so_far} {has}."),
            fresh: None,
        }
    }
}

fn ambiguous(
    path: &JsonPath,
    so_far: &JsonPath,
    step: &PathStep,
    count: usize,
) -> JsonAnchorRefusal {
    let key = match step {
        PathStep::Key(key) => quoted(key),
        PathStep::Index(index) => index.to_string(),
    };
    JsonAnchorRefusal {
        code: Code::AmbiguousAnchor,
        headline: format!("Ambiguous anchor at {path}."),
        truth: format!(
            "{so_far} has the key {key} {count} times, so the path is ambiguous: edit it by line."
        ),
        fresh: None,
    }
}

/// A value as a refusal quotes it: shortened, in one line.
fn quote_value(text: &str) -> String {
    let mut shown = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == QUOTED_VALUE_CHARS {
            shown.push('…');
            break;
        }
        shown.push(if character.is_control() { ' ' } else { character });
    }
    shown
}
