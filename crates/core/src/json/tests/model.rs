//! Compares random edits of random documents, in random styles, with a naive model: a list of
//! values that is edited like a list. The test compares the values as written, the comments, and
//! every byte that no edit covers.

use std::collections::HashSet;

use super::*;
use crate::json::tree::{ROOT, ValueKind};

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
enum Model {
    Scalar(String),
    Array(Vec<Model>),
    /// Keys as written, quotes included.
    Object(Vec<(String, Model)>),
}

/// Pseudorandom numbers, reproducible from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % below as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.roll(among.len())]
    }
}

const SCALARS: [&str; 14] = [
    "0",
    "-1",
    "1.0",
    "1e5",
    "12345678901234567890123",
    "2.50",
    "true",
    "false",
    "null",
    "\"\"",
    "\"a, b\"",
    "\"\\u00e9\\n\\\"]\"",
    "\"// no comment\"",
    "\"é😀\"",
];
const KEYS: [&str; 9] =
    ["\"a\"", "\"b\"", "\"c1\"", "\"a b\"", "\"\\u0064\"", "\"é\"", "\"x\\\"]:\"", "\"\"", "\"_\""];

fn random_value(dice: &mut Dice, depth: usize) -> Model {
    let kind = dice.roll(if depth == 0 { 2 } else { 4 });
    let count = dice.roll(5);
    match kind {
        2 => Model::Array((0..count).map(|_| random_value(dice, depth - 1)).collect()),
        3 => {
            let mut members: Vec<(String, Model)> = Vec::new();
            for _ in 0..count {
                let key = dice.pick(&KEYS).to_owned();
                if members.iter().all(|(known, _)| *known != key) {
                    members.push((key, random_value(dice, depth - 1)));
                }
            }
            Model::Object(members)
        }
        _ => Model::Scalar(dice.pick(&SCALARS).to_owned()),
    }
}

/// A random style of a document.
struct Rendering {
    newline: &'static str,
    unit: &'static str,
    colon: &'static str,
    /// Whether each value has its own line; otherwise whitespace is random.
    is_tidy: bool,
    has_comments: bool,
    has_trailing_commas: bool,
    comments: usize,
}

impl Rendering {
    fn random(dice: &mut Dice) -> Rendering {
        Rendering {
            newline: dice.pick(&["\n", "\r\n"]),
            unit: dice.pick(&["  ", "\t", "    ", ""]),
            colon: dice.pick(&[": ", ":", " : "]),
            is_tidy: dice.chance(50),
            has_comments: dice.chance(60),
            has_trailing_commas: dice.chance(40),
            comments: 0,
        }
    }

    /// Random whitespace, line endings and comments.
    fn gap(&mut self, dice: &mut Dice, out: &mut String) {
        for _ in 0..dice.roll(3) {
            match dice.roll(if self.has_comments { 6 } else { 4 }) {
                0 => out.push(' '),
                1 => out.push_str(self.newline),
                2 => out.push('\t'),
                3 => {}
                4 => {
                    self.comments += 1;
                    *out += &format!("/*{}, \"]}}*/", self.comments);
                }
                _ => {
                    self.comments += 1;
                    *out += &format!("//{} [{{,{}", self.comments, self.newline);
                }
            }
        }
    }

    fn separate(&mut self, dice: &mut Dice, depth: usize, out: &mut String) {
        if !self.is_tidy {
            return self.gap(dice, out);
        }
        if self.has_comments && dice.chance(20) {
            self.comments += 1;
            *out += &format!(" // {}", self.comments);
        }
        out.push_str(self.newline);
        out.push_str(&self.unit.repeat(depth));
        if self.has_comments && dice.chance(20) {
            self.comments += 1;
            *out += &format!("// {}{}{}", self.comments, self.newline, self.unit.repeat(depth));
        }
    }

    fn write(&mut self, dice: &mut Dice, value: &Model, depth: usize, out: &mut String) {
        let items: Vec<(Option<&String>, &Model)> = match value {
            Model::Scalar(text) => return out.push_str(text),
            Model::Array(items) => items.iter().map(|item| (None, item)).collect(),
            Model::Object(members) => members.iter().map(|(key, item)| (Some(key), item)).collect(),
        };
        let is_array = matches!(value, Model::Array(_));
        out.push(if is_array { '[' } else { '{' });
        let count = items.len();
        for (at, (key, item)) in items.into_iter().enumerate() {
            self.separate(dice, depth + 1, out);
            if let Some(key) = key {
                out.push_str(key);
                out.push_str(self.colon);
            }
            self.write(dice, item, depth + 1, out);
            if at + 1 < count || self.has_trailing_commas {
                if !self.is_tidy {
                    self.gap(dice, out);
                }
                out.push(',');
            }
        }
        if count > 0 || !self.is_tidy {
            self.separate(dice, depth, out);
        }
        out.push(if is_array { ']' } else { '}' });
    }
}

fn model_of(tree: &Tree<'_>, id: NodeId) -> Model {
    match tree.kind(id) {
        ValueKind::Array => {
            Model::Array(tree.children(id).map(|one| model_of(tree, one)).collect())
        }
        ValueKind::Object => Model::Object(
            tree.children(id)
                .map(|one| (tree.raw_key(one).unwrap().to_owned(), model_of(tree, one)))
                .collect(),
        ),
        _ => Model::Scalar(tree.slice(id).to_owned()),
    }
}

fn compact(value: &Model) -> String {
    let (mut dice, mut out) = (Dice(0), String::new());
    let mut spelling = Rendering {
        newline: "",
        unit: "",
        colon: ":",
        is_tidy: true,
        has_comments: false,
        has_trailing_commas: false,
        comments: 0,
    };
    spelling.write(&mut dice, value, 0, &mut out);
    out
}

/// An edit of a value.
#[derive(Clone, Debug)]
enum ModelEdit {
    Set(Model),
    Delete,
    /// A value with its key or its index.
    Insert(Option<String>, usize, Model),
}

/// Random edits that do not conflict.
fn random_edits(dice: &mut Dice, tree: &Tree<'_>) -> Vec<(NodeId, ModelEdit)> {
    let mut edits: Vec<(NodeId, ModelEdit)> = Vec::new();
    let around =
        |id| std::iter::successors(Some(id), |&id| tree.parent(id)).collect::<HashSet<_>>();
    for _ in 0..1 + dice.roll(4) {
        let id = dice.roll(tree.count());
        let new = random_value(dice, 2);
        let edit = match (dice.roll(3), tree.kind(id)) {
            (0, _) => ModelEdit::Set(new),
            (1, _) if id != ROOT => ModelEdit::Delete,
            (_, ValueKind::Array) => {
                ModelEdit::Insert(None, dice.roll(tree.children(id).count() + 1), new)
            }
            (_, ValueKind::Object) => {
                let key = format!("\"new{}\"", edits.len());
                ModelEdit::Insert(Some(key), 0, new)
            }
            _ => ModelEdit::Set(new),
        };
        let replaces = |edit: &ModelEdit| !matches!(edit, ModelEdit::Insert(..));
        let clashes = edits.iter().any(|(other, what)| {
            (replaces(what) && around(id).contains(other))
                || (replaces(&edit) && around(*other).contains(&id))
        });
        if !clashes {
            edits.push((id, edit));
        }
    }
    edits
}

/// Applies the edits to the model.
fn edited(tree: &Tree<'_>, id: NodeId, edits: &[(NodeId, ModelEdit)]) -> Option<Model> {
    let own = || edits.iter().filter(|(target, _)| *target == id);
    match own().map(|(_, edit)| edit).find(|edit| !matches!(edit, ModelEdit::Insert(..))) {
        Some(ModelEdit::Set(value)) => return Some(value.clone()),
        Some(_) => return None,
        None => {}
    }
    let mut kept: Vec<Option<(Option<String>, Model)>> = Vec::new();
    for child in tree.children(id) {
        let key = tree.raw_key(child).map(str::to_owned);
        kept.push(edited(tree, child, edits).map(|value| (key, value)));
    }
    let mut items = Vec::new();
    for gap in 0..=kept.len() {
        for (_, edit) in own() {
            if let ModelEdit::Insert(key, index, value) = edit
                && gap == if key.is_some() { kept.len() } else { *index }
            {
                items.push((key.clone(), value.clone()));
            }
        }
        items.extend(kept.get(gap).cloned().flatten());
    }
    Some(match tree.kind(id) {
        ValueKind::Array => Model::Array(items.into_iter().map(|(_, value)| value).collect()),
        ValueKind::Object => {
            Model::Object(items.into_iter().map(|(key, value)| (key.unwrap(), value)).collect())
        }
        _ => Model::Scalar(tree.slice(id).to_owned()),
    })
}

fn request(tree: &Tree<'_>, id: NodeId, edit: &ModelEdit) -> JsonEdit {
    let anchor = JsonAnchor { path: path_of(tree, id), hash: hash(&canonical(tree, id)) };
    let anchor = JsonAnchor::parse(&anchor.to_string()).unwrap();
    let value = |model: &Model| JsonValue::parse(&compact(model)).unwrap();
    match edit {
        ModelEdit::Set(new) => JsonEdit::Set { anchor, value: value(new) },
        ModelEdit::Delete => JsonEdit::Delete { anchor },
        ModelEdit::Insert(key, index, new) => JsonEdit::Insert {
            anchor,
            slot: match key {
                Some(key) => JsonSlot::Key(key.trim_matches('"').to_owned()),
                None => JsonSlot::Index(*index),
            },
            value: value(new),
        },
    }
}

/// The comments that start outside all ranges.
fn comments_outside<'t>(tree: &Tree<'t>, ranges: &[(usize, usize)]) -> Vec<&'t str> {
    let is_outside = |at: usize| ranges.iter().all(|&(start, end)| at < start || at >= end);
    let all = tree.comments_in(0, tree.text().len()).iter();
    let outside = all.filter(|comment| is_outside(comment.start));
    outside.map(|comment| tree.text()[comment.start..comment.end].trim_end()).collect()
}

fn check_random(seed: u64) {
    let mut dice = Dice(seed);
    let model = random_value(&mut dice, 4);
    let (mut text, mut spelling) = (String::new(), Rendering::random(&mut dice));
    spelling.separate(&mut dice, 0, &mut text);
    spelling.write(&mut dice, &model, 0, &mut text);
    spelling.separate(&mut dice, 0, &mut text);
    let tree = parse(&text);
    assert_eq!(model_of(&tree, ROOT), model, "seed {seed}");
    let model_edits = random_edits(&mut dice, &tree);
    let edits: Vec<_> = model_edits.iter().map(|(id, edit)| request(&tree, *id, edit)).collect();
    let case = || format!("seed {seed}\n{model_edits:?}\n{text}");

    let after = apply(&text, &edits).unwrap_or_else(|refused| panic!("{refused:?} {}", case()));
    let context = || format!("{}\n--- became\n{after}", case());
    let after_tree = Tree::parse(&after, JsonGrammar::WithComments, &Cancel::default());
    let after_tree = after_tree.unwrap_or_else(|error| panic!("{} {}", error.message, context()));
    let mut expected = edited(&tree, ROOT, &model_edits).unwrap();
    // A value that is set to an equal one keeps its spelling.
    let found = model_of(&after_tree, ROOT);
    if found != expected {
        let same = |model: &Model| {
            let text = compact(model);
            String::from_utf8(canonical(&parse(&text), ROOT)).unwrap()
        };
        assert_eq!(same(&found), same(&expected), "{}", context());
        expected = found.clone();
    }
    assert_eq!(found, expected, "{}", context());

    let targets: Vec<(usize, usize)> = model_edits
        .iter()
        .filter_map(|(id, edit)| match edit {
            ModelEdit::Set(_) => Some((tree.start(*id), tree.end(*id))),
            ModelEdit::Delete => Some((tree.member_start(*id), tree.end(*id))),
            ModelEdit::Insert(..) => None,
        })
        .collect();
    let unchanged: Vec<&str> = comments_outside(&after_tree, &[]);
    let kept = comments_outside(&tree, &targets);
    let inside_kept = unchanged.iter().filter(|comment| kept.contains(comment)).count();
    assert_eq!(inside_kept, kept.len(), "{}", context());

    let numbered: Vec<_> = edits.iter().enumerate().collect();
    for piece in plan_json(&text, &numbered).unwrap().pieces {
        for (offset, character) in text[piece.range.clone()].char_indices() {
            let at = piece.range.start + offset;
            let is_target = targets.iter().any(|&(start, end)| (start..end).contains(&at));
            let is_free = character.is_ascii_whitespace() || character == ',';
            let may_go = is_target || (is_free && is_between(&tree, &model_edits, at));
            assert!(may_go, "{character:?} at {at} was deleted: {}", context());
        }
    }
    let mut written = Vec::new();
    find_written((&tree, ROOT), (&after_tree, ROOT), &model_edits, &mut written);
    let (before, after) = (without(&text, targets), without(&after, written));
    if model_edits.iter().all(|(_, edit)| matches!(edit, ModelEdit::Set(_))) {
        assert_eq!(before, after, "{}", context());
    } else {
        // Insertions and deletions also change commas and whitespace.
        assert_eq!(bare(&before), bare(&after), "{}", context());
    }
}

/// Whether a byte is between the children of an object or array that edits insert into or delete
/// from.
fn is_between(tree: &Tree<'_>, edits: &[(NodeId, ModelEdit)], at: usize) -> bool {
    let touched = edits.iter().filter_map(|(id, edit)| match edit {
        ModelEdit::Set(_) => None,
        ModelEdit::Delete => tree.parent(*id),
        ModelEdit::Insert(..) => Some(*id),
    });
    let mut around = touched.filter(|&id| (tree.start(id) + 1..tree.end(id)).contains(&at));
    let is_inside = |child| (tree.member_start(child)..tree.end(child)).contains(&at);
    around.any(|id| !tree.children(id).any(is_inside))
}

/// Collects the ranges of inserted and replaced values in the edited text, keys included. Visits
/// them in the same order as `edited`.
fn find_written(
    (tree, id): (&Tree<'_>, NodeId),
    (after_tree, after_id): (&Tree<'_>, NodeId),
    edits: &[(NodeId, ModelEdit)],
    written: &mut Vec<(usize, usize)>,
) {
    let of = |id| edits.iter().filter(move |(target, _)| *target == id).map(|(_, edit)| edit);
    if of(id).any(|edit| matches!(edit, ModelEdit::Set(_))) {
        return written.push((after_tree.start(after_id), after_tree.end(after_id)));
    }
    let before: Vec<NodeId> = tree.children(id).collect();
    let mut now = after_tree.children(after_id);
    for gap in 0..=before.len() {
        for edit in of(id) {
            if let ModelEdit::Insert(key, index, _) = edit
                && gap == if key.is_some() { before.len() } else { *index }
            {
                let new = now.next().unwrap();
                written.push((after_tree.member_start(new), after_tree.end(new)));
            }
        }
        let Some(&child) = before.get(gap) else { continue };
        if !of(child).any(|edit| matches!(edit, ModelEdit::Delete)) {
            find_written((tree, child), (after_tree, now.next().unwrap()), edits, written);
        }
    }
}

/// A text without the given ranges.
fn without(text: &str, mut ranges: Vec<(usize, usize)>) -> String {
    ranges.sort_unstable();
    let (mut rest, mut at) = (String::new(), 0);
    for (start, end) in ranges {
        rest += &text[at..start];
        at = end;
    }
    rest + &text[at..]
}

/// A text without whitespace and commas.
fn bare(text: &str) -> String {
    text.replace([' ', '\t', '\r', '\n', ','], "")
}

#[test]
fn random_edits_of_random_documents_agree_with_a_naive_model() {
    (0..500).for_each(check_random);
}

/// The long version: `cargo test -p hashline-core --lib json:: -- --ignored`.
#[test]
#[ignore = "takes longer than the others"]
fn random_edits_of_5000_documents_agree_with_a_naive_model() {
    (1_000..6_000).for_each(check_random);
}
