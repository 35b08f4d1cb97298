//! Keys that a mapping has twice: an error in YAML and TOML, and in JSON the last one wins. Old
//! ones are left alone.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use tree_sitter::Node;

use crate::budget::Meter;
use crate::edit::edit_between;
use crate::source::Source;
use crate::structure::Fault;
use crate::walk::Walk;

/// Nodes that contain pairs.
const MAPPINGS: &[&str] = &[
    "object",
    "block_mapping",
    "flow_mapping",
    "document",
    "table",
    "table_array_element",
    "inline_table",
];

/// Nodes whose first child is a key.
const PAIRS: &[&str] = &["pair", "block_mapping_pair", "flow_pair", "table"];

/// Merge keys of YAML, and comments in JSON.
const REPEATABLE: &[&[u8]] = &[b"<<", b"\"//\""];

/// Two pairs with the same key, by their offsets.
struct Duplicate {
    first: usize,
    second: usize,
}

/// A key that is duplicate in the text after an edit, and was not before.
pub(crate) fn new_duplicate(before: &Source, after: &Source, meter: &Meter<'_>) -> Option<Fault> {
    // In a template, two branches may have the same key.
    if !after.language.has_keys || before.is_masked || after.is_masked {
        return None;
    }
    let edit = edit_between((&before.text, &before.rows), (&after.text, &after.rows));
    let edited = edit.start_byte..=edit.new_end_byte;
    let (old, new) = (duplicates(before, meter), duplicates(after, meter));
    let grown =
        |(key, found): &(&&[u8], &Vec<Duplicate>)| found.len() > old.get(**key).map_or(0, Vec::len);
    let (key, found) = new.iter().filter(grown).min_by_key(|(_, found)| found[0].second)?;
    let touched = |one: &&Duplicate| {
        let row = |at: usize| after.start_of(after.row_of(at))..=at;
        overlaps(&edited, &row(one.first)) || overlaps(&edited, &row(one.second))
    };
    let Duplicate { first, second } = found.iter().find(touched).or(found.last())?;
    let line = |at: &usize| after.row_of(*at) as u32 + 1;
    let what = format!(
        "the key `{}` is a duplicate of that in line {}",
        String::from_utf8_lossy(key),
        line(first)
    );
    Some(Fault { line: line(second), what, opened: None })
}

fn overlaps(one: &RangeInclusive<usize>, other: &RangeInclusive<usize>) -> bool {
    one.start() <= other.end() && other.start() <= one.end()
}

/// The duplicate keys of a text.
fn duplicates<'s>(source: &'s Source, meter: &Meter<'_>) -> HashMap<&'s [u8], Vec<Duplicate>> {
    let mut found: HashMap<&[u8], Vec<Duplicate>> = HashMap::new();
    let Some(root) = source.root() else { return found };
    let mut walk = Walk::new(root, meter);
    loop {
        let node = walk.node();
        if MAPPINGS.contains(&node.kind()) {
            let mut keys: HashMap<&[u8], usize> = HashMap::new();
            let mut cursor = node.walk();
            for pair in node.named_children(&mut cursor) {
                if !meter.step() {
                    return found;
                }
                // Each element of an array of tables has its own subtables.
                if pair.kind() == "table_array_element" {
                    keys.clear();
                }
                let Some(key) = key_of(source, pair) else { continue };
                if let Some(first) = keys.insert(key, pair.start_byte()) {
                    let second = pair.start_byte();
                    found.entry(key).or_default().push(Duplicate { first, second });
                }
            }
        }
        if !walk.advance() {
            return found;
        }
    }
}

/// Whether a quoted key means the same without its quotes: not a path, a number or another value.
fn is_bare(key: &[u8]) -> bool {
    let is_value = [&b"true"[..], b"false", b"null", b"yes", b"no", b"on", b"off"]
        .iter()
        .any(|value| key.eq_ignore_ascii_case(value));
    key.first().is_some_and(u8::is_ascii_alphabetic)
        && key.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && !is_value
}

/// The key of a pair, without quotes if they make no difference.
fn key_of<'s>(source: &'s Source, pair: Node<'_>) -> Option<&'s [u8]> {
    if !PAIRS.contains(&pair.kind()) {
        return None;
    }
    let key = pair.named_child(0)?;
    let text = &source.text[key.byte_range()];
    let bare = match text {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] if is_bare(inner) => inner,
        _ => text,
    };
    (!REPEATABLE.contains(&bare)).then_some(bare)
}
