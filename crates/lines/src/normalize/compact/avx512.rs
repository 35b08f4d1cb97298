//! 64 bytes at a time: the bytes to remove become a mask, and the kept bytes are moved together by
//! one instruction.

use std::arch::x86_64::{
    __m512i, __mmask64, _mm_loadu_si128, _mm512_broadcast_i32x4, _mm512_cmpeq_epi8_mask,
    _mm512_cmpneq_epi8_mask, _mm512_loadu_si512, _mm512_mask_compress_epi8, _mm512_movepi8_mask,
    _mm512_set1_epi8, _mm512_shuffle_epi8, _mm512_storeu_si512,
};

use super::{
    AHEAD_BYTES, BLOCK_BYTES, BlockWindow, Compactor, Drops, KeptMasks, OutputBlock, Writer,
};

block_loop! { #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")] }

/// Moves the kept bytes of a block to the front of `out`; the content after them is unspecified.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn compress(window: &BlockWindow, kept: u64, out: &mut OutputBlock) {
    let bytes = load::<0>(window);
    // Not the variant that fills with zeros: Bochs 2.7, which runs the tests, returns only zeros
    // from it if all 64 bytes are kept.
    let together = _mm512_mask_compress_epi8(bytes, kept, bytes);
    // SAFETY: `out` has the 64 bytes that are written. All are written, because a masked store is
    // slow on AMD processors.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), together) };
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn masks(drops: &Drops, window: &BlockWindow) -> KeptMasks {
    // SAFETY: The array has the 16 bytes that are read.
    let table = unsafe { _mm_loadu_si128(drops.by_low_half.as_ptr().cast()) };
    let bytes = load::<0>(window);
    // The shuffle indexes by the low half of a byte; it returns 0 for a non-ASCII byte.
    let looked_up = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), bytes);
    KeptMasks {
        kept: _mm512_cmpneq_epi8_mask(looked_up, bytes),
        newline: drops.newline.map_or(0, |byte| is(bytes, byte)),
        high: _mm512_movepi8_mask(bytes),
    }
}

/// The offsets at which a character may start that is changed, as in [`super::may_be_special`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn special_mask(window: &BlockWindow) -> u64 {
    special_forms!(load::<0>(window), load::<1>(window), load::<2>(window))
}

/// The mask of bytes with a value.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn is(bytes: __m512i, value: u8) -> __mmask64 {
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(value as i8))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn and(one: __mmask64, other: __mmask64) -> __mmask64 {
    one & other
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn or(one: __mmask64, other: __mmask64) -> __mmask64 {
    one | other
}

/// 64 bytes of a window.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn load<const OFFSET: usize>(window: &BlockWindow) -> __m512i {
    const { assert!(OFFSET + 64 <= BLOCK_BYTES + AHEAD_BYTES) };
    // SAFETY: The 64 bytes at `OFFSET` are within the window, as the assertion checks.
    unsafe { _mm512_loadu_si512(window.as_ptr().add(OFFSET).cast()) }
}
