//! The canonical text of a value, which is what an anchor hashes: keys sorted by their bytes, no
//! whitespace, no optional escapes, numbers as written.

use xxhash_rust::xxh32::xxh32;

use super::tree::{NodeId, Tree, ValueKind};
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;

/// Values hashed between two checks of the cancellation flag.
const VALUES_PER_CANCEL_CHECK: usize = 1 << 12;

/// The canonical text of a value.
pub fn canonical(tree: &Tree<'_>, id: NodeId) -> Vec<u8> {
    let mut out = Vec::with_capacity(tree.end(id) - tree.start(id));
    write(tree, id, &mut out, &mut |_, _| Ok(())).expect("without cancellation it cannot fail");
    out
}

/// The hash of a canonical text.
pub fn hash(canonical: &[u8]) -> u8 {
    xxh32(canonical, 0) as u8
}

/// The hashes of all values of a document.
pub fn all_hashes(tree: &Tree<'_>, cancel: &Cancel) -> Result<Vec<u8>> {
    let mut hashes = vec![0; tree.count()];
    let mut hashed = 0_usize;
    let mut out = Vec::with_capacity(tree.text().len());
    write(tree, super::tree::ROOT, &mut out, &mut |id, text| {
        hashed += 1;
        if hashed.is_multiple_of(VALUES_PER_CANCEL_CHECK) {
            cancel.check()?;
        }
        hashes[id] = hash(text);
        Ok(())
    })?;
    Ok(hashes)
}

/// Appends the canonical text of a value, and calls `each` for every value inside it, and for
/// itself, with its canonical text. The text of a value contains the text of its children, so one
/// buffer serves them all.
fn write(
    tree: &Tree<'_>,
    id: NodeId,
    out: &mut Vec<u8>,
    each: &mut impl FnMut(NodeId, &[u8]) -> Result<()>,
) -> Result<()> {
    let start = out.len();
    match tree.kind(id) {
        ValueKind::Plain => out.extend_from_slice(tree.slice(id).as_bytes()),
        ValueKind::String => write_string(tree.slice(id), out),
        ValueKind::Array => {
            out.push(b'[');
            for (at, child) in tree.children(id).enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write(tree, child, out, each)?;
            }
            out.push(b']');
        }
        ValueKind::Object => {
            let keyed = |child| (tree.key(child).unwrap_or_default(), child);
            let mut members: Vec<_> = tree.children(id).map(keyed).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            out.push(b'{');
            for (at, (_, child)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_string(tree.raw_key(child).unwrap_or("\"\""), out);
                out.push(b':');
                write(tree, child, out, each)?;
            }
            out.push(b'}');
        }
    }
    each(id, &out[start..])
}

/// Appends a string; `raw` is as written, with quotes and escapes.
fn write_string(raw: &str, out: &mut Vec<u8>) {
    if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
        out.extend_from_slice(raw.as_bytes());
    } else {
        out.extend_from_slice(quoted(&super::tree::unescaped(raw)).as_bytes());
    }
}

/// Encodes a text as a JSON string, with the fewest possible escapes.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is always JSON")
}
