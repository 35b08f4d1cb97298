//! 64 bytes at a time: the bytes to remove become a mask, and the kept bytes are moved together,
//! eight at a time, by a shuffle with a table.

use std::arch::x86_64::{
    __m256i, _mm_loadl_epi64, _mm_loadu_si128, _mm_shuffle_epi8, _mm_storel_epi64,
    _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_shuffle_epi8,
};

use super::{
    AHEAD_BYTES, BLOCK_BYTES, BlockWindow, Compactor, Drops, KEPT_INDICES, KeptMasks, OutputBlock,
    Writer,
};

block_loop! { #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")] }

/// Moves the kept bytes of a block to the front of `out`; the content after them is unspecified.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn compress(window: &BlockWindow, kept: u64, out: &mut OutputBlock) {
    for group in 0..BLOCK_BYTES / 8 {
        let mask = (kept >> (8 * group)) as u8;
        let before = (kept & ((1 << (8 * group)) - 1)).count_ones() as usize;
        // SAFETY: The eight bytes read are within the window, because `group < 8`. The eight bytes
        // written start at the number of kept bytes among the first `8 * group`, which is at most
        // `8 * group`, so they end within `out`.
        unsafe {
            let bytes = _mm_loadl_epi64(window.as_ptr().add(8 * group).cast());
            let indices = _mm_loadl_epi64(KEPT_INDICES[usize::from(mask)].as_ptr().cast());
            let together = _mm_shuffle_epi8(bytes, indices);
            _mm_storel_epi64(out.as_mut_ptr().add(before).cast(), together);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn masks(drops: &Drops, window: &BlockWindow) -> KeptMasks {
    // SAFETY: The array has the 16 bytes that are read.
    let table = unsafe { _mm_loadu_si128(drops.by_low_half.as_ptr().cast()) };
    let table = _mm256_broadcastsi128_si256(table);
    let (low, high) = (load::<0>(window), load::<32>(window));
    // The shuffle indexes by the low half of a byte; it returns 0 for a non-ASCII byte.
    let low_dropped = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, low), low);
    let high_dropped = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, high), high);
    let newline = match drops.newline {
        Some(byte) => mask_of(is(low, byte), is(high, byte)),
        None => 0,
    };
    KeptMasks { kept: !mask_of(low_dropped, high_dropped), newline, high: mask_of(low, high) }
}

/// The offsets at which a character may start that is changed, as in [`super::may_be_special`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn special_mask(window: &BlockWindow) -> u64 {
    mask_of(
        special_forms!(load::<0>(window), load::<1>(window), load::<2>(window)),
        special_forms!(load::<32>(window), load::<33>(window), load::<34>(window)),
    )
}

/// The mask of bytes with a value.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn is(bytes: __m256i, value: u8) -> __m256i {
    _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(value as i8))
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn and(one: __m256i, other: __m256i) -> __m256i {
    _mm256_and_si256(one, other)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn or(one: __m256i, other: __m256i) -> __m256i {
    _mm256_or_si256(one, other)
}

/// 32 bytes of a window.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn load<const OFFSET: usize>(window: &BlockWindow) -> __m256i {
    const { assert!(OFFSET + 32 <= BLOCK_BYTES + AHEAD_BYTES) };
    // SAFETY: The 32 bytes at `OFFSET` are within the window, as the assertion checks.
    unsafe { _mm256_loadu_si256(window.as_ptr().add(OFFSET).cast()) }
}

/// The highest bits of the bytes of both halves.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn mask_of(low: __m256i, high: __m256i) -> u64 {
    let (low, high) = (_mm256_movemask_epi8(low) as u32, _mm256_movemask_epi8(high) as u32);
    u64::from(low) | u64::from(high) << 32
}
