//! Plain integers, for processors without a kernel of their own: masks are built eight bytes at a
//! time, and kept bytes are copied in runs.

use super::{
    AHEAD_BYTES, BLOCK_BYTES, BlockWindow, Compactor, Drops, KeptMasks, OutputBlock, Writer,
    is_special_lead, may_be_special,
};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x80 * ONES;

block_loop! {}

#[inline]
fn masks(drops: &Drops, window: &BlockWindow) -> KeptMasks {
    let mut masks = KeptMasks { kept: 0, newline: 0, high: 0 };
    let (words, _) = window[..BLOCK_BYTES].as_chunks();
    let mut high_bits = 0;
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        high_bits |= word & HIGH_BITS;
        masks.kept |= bits_of(!dropped_bits(drops, word) & HIGH_BITS) << (8 * index);
        if let Some(byte) = drops.newline {
            masks.newline |= bits_of(equal_bits(word, byte)) << (8 * index);
        }
    }
    if high_bits != 0 {
        for (index, word) in words.iter().enumerate() {
            masks.high |= bits_of(u64::from_le_bytes(*word) & HIGH_BITS) << (8 * index);
        }
    }
    masks
}

#[inline]
fn special_mask(window: &BlockWindow) -> u64 {
    let block = &window[..BLOCK_BYTES];
    if !block.iter().fold(false, |any, &first| any | is_special_lead(first)) {
        return 0;
    }
    (0..BLOCK_BYTES).fold(0, |mask, at| {
        mask | u64::from(may_be_special(window[at], window[at + 1], window[at + 2])) << at
    })
}

/// Copies each run of kept bytes, 16 bytes at a time; excess bytes are overwritten by the next run.
#[inline]
fn compress(window: &BlockWindow, mut kept: u64, out: &mut OutputBlock) {
    let mut written = 0;
    while kept != 0 {
        let start = kept.trailing_zeros() as usize;
        // Adding the lowest bit carries through the lowest run of ones.
        let without = kept.wrapping_add(1 << start);
        let end = if without == 0 { BLOCK_BYTES } else { without.trailing_zeros() as usize };
        kept &= without;
        let mut from = start;
        while from < end {
            let bytes: [u8; AHEAD_BYTES] =
                *window[from..].first_chunk().expect("the window extends beyond the block");
            let to = written + from - start;
            out[to..to + AHEAD_BYTES].copy_from_slice(&bytes);
            from += AHEAD_BYTES;
        }
        written += end - start;
    }
}

/// The highest bits of the bytes to remove.
#[inline]
fn dropped_bits(drops: &Drops, word: u64) -> u64 {
    // A byte below 0x80 is at least `n` if adding `0x80 - n` sets its highest bit.
    let low = word & !HIGH_BITS;
    let in_range = |(first, end): (u8, u8)| {
        let from_first = low + u64::from(0x80 - first) * ONES;
        let from_end = low + u64::from(0x80 - end) * ONES;
        from_first & !from_end
    };
    (in_range(drops.ranges[0]) | in_range(drops.ranges[1])) & !word & HIGH_BITS
}

/// The highest bits of the bytes that equal `byte`, which is ASCII.
#[inline]
fn equal_bits(word: u64, byte: u8) -> u64 {
    let low = (word ^ (u64::from(byte) * ONES)) & !HIGH_BITS;
    !(low + 0x7F * ONES) & !word & HIGH_BITS
}

/// Collects the highest bits of eight bytes, starting at the lowest bit.
#[inline]
fn bits_of(high_bits: u64) -> u64 {
    (high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
