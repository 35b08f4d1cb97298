//! Plain Rust.

use xxhash_rust::xxh32::xxh32;

use super::Texts;

pub(super) fn hash_all(texts: Texts<'_>, out: &mut Vec<u32>) {
    for at in 0..texts.starts.len() {
        let text = &texts.bytes[texts.starts[at] as usize..texts.stops[at] as usize];
        out.push(xxh32(text, texts.seeds[at]));
    }
}
