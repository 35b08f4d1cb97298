//! The loop for processors without a kernel of their own: byte by byte, without branches for
//! what is kept or dropped.

use super::{Class, Compacted, Compactor};

pub(super) fn compact(compactor: &Compactor, chunk: &[u8], out: &mut Compacted) {
    let classes = &compactor.drops.classes;
    let mut at = 0;
    let mut written = 0;
    while at < chunk.len() {
        let byte = chunk[at];
        let class = classes[usize::from(byte)];
        if class < Class::Newline {
            out.bytes[written] = byte;
            written += class as usize;
            at += 1;
        } else if class == Class::Newline {
            at += 1;
            out.end_line(at, written);
        } else {
            let (kept, size) = compactor.special(&chunk[at..]).unwrap_or((&chunk[at..=at], 1));
            out.bytes[written..written + kept.len()].copy_from_slice(kept);
            written += kept.len();
            at += size;
        }
    }
    out.written = written;
}
