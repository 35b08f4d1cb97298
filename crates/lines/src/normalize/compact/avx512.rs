//! 64 bytes at a time: which are dropped becomes a mask, and the kept ones are moved together by
//! one instruction.

use std::arch::x86_64::{
    __m512i, __mmask64, _mm_loadu_si128, _mm512_broadcast_i32x4, _mm512_cmpeq_epi8_mask,
    _mm512_cmpneq_epi8_mask, _mm512_loadu_si512, _mm512_mask_compress_epi8, _mm512_movepi8_mask,
    _mm512_set1_epi8, _mm512_shuffle_epi8, _mm512_storeu_si512,
};

use super::{AHEAD_BYTES, BLOCK_BYTES, BlockRoom, BlockWindow, Compactor, Drops, KeptMasks, Pen};

block_loop! { #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")] }

/// Moves the kept bytes of a block to the front of `room`; what follows them has no meaning.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn move_together(window: &BlockWindow, kept: u64, room: &mut BlockRoom) {
    let bytes = load::<0>(window);
    // Not the form with zeros behind the kept bytes: Bochs 2.7, under which this is tested, makes
    // nothing but zeros in it when all 64 are kept.
    let together = _mm512_mask_compress_epi8(bytes, kept, bytes);
    // SAFETY: The room has the 64 bytes that are written. They go there whole, since writing only
    // the kept ones is slow on processors of AMD.
    unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), together) };
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn masks(drops: &Drops, window: &BlockWindow) -> KeptMasks {
    // SAFETY: The array has the 16 bytes that are read.
    let table = unsafe { _mm_loadu_si128(drops.by_low_half.as_ptr().cast()) };
    let bytes = load::<0>(window);
    // The shuffle looks a byte up by its low half; of a byte outside ASCII it makes 0.
    let looked_up = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), bytes);
    KeptMasks {
        kept: _mm512_cmpneq_epi8_mask(looked_up, bytes),
        newline: drops.newline.map_or(0, |byte| is(bytes, byte)),
        high: _mm512_movepi8_mask(bytes),
    }
}

/// The places at which a character may begin that is not kept as it is: those of
/// [`super::may_be_special`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn special_mask(window: &BlockWindow) -> u64 {
    special_forms!(load::<0>(window), load::<1>(window), load::<2>(window))
}

/// Where bytes have a value.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn is(bytes: __m512i, value: u8) -> __mmask64 {
    _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(value as i8))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn both(one: __mmask64, other: __mmask64) -> __mmask64 {
    one & other
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn either(one: __mmask64, other: __mmask64) -> __mmask64 {
    one | other
}

/// 64 bytes of a window.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
fn load<const PLACE: usize>(window: &BlockWindow) -> __m512i {
    const { assert!(PLACE + 64 <= BLOCK_BYTES + AHEAD_BYTES) };
    // SAFETY: The 64 bytes at `PLACE` are within the window, as the line above makes sure.
    unsafe { _mm512_loadu_si512(window.as_ptr().add(PLACE).cast()) }
}
