//! Sixteen lines at a time, and four interleaved groups in steps with a single dependency chain.

use std::arch::x86_64::{
    __m128i, __m512i, __mmask16, _mm_loadu_si128, _mm512_add_epi32, _mm512_and_si512,
    _mm512_castsi128_si512, _mm512_cmpgt_epi32_mask, _mm512_inserti32x4, _mm512_loadu_si512,
    _mm512_mask_blend_epi32, _mm512_mullo_epi32, _mm512_reduce_max_epu32, _mm512_rol_epi32,
    _mm512_set1_epi32, _mm512_slli_epi32, _mm512_srli_epi32, _mm512_storeu_si512, _mm512_sub_epi32,
    _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
    _mm512_xor_si512,
};

use super::{
    LANE_LIMIT_BYTES, PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5, READ_BYTES, STRIPE_BYTES, Texts,
    hash_long,
};

const LANES: usize = 16;

/// The number of groups that are interleaved in steps with a single dependency chain.
const INTERLEAVED: usize = 4;

lane_loop! { #[target_feature(enable = "avx512f")] VectorGroup, ReadLimits, __m512i }

stripe_lanes! { #[target_feature(enable = "avx512f")] __m512i }

/// The maximum of unsigned numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn max(numbers: __m512i) -> u32 {
    _mm512_reduce_max_epu32(numbers)
}

/// The stripe of each lane as four vectors of words: the first words of all lanes, the second
/// words, and so on.
#[inline]
#[target_feature(enable = "avx512f")]
fn words_at(group: &VectorGroup<'_>, offsets: &[u32; LANES]) -> [__m512i; 4] {
    let line = |lane: usize| stripe(group, offsets, lane);
    let four = |lane: usize| {
        let first = _mm512_castsi128_si512(line(lane));
        let two = _mm512_inserti32x4::<1>(first, line(lane + 4));
        let three = _mm512_inserti32x4::<2>(two, line(lane + 8));
        _mm512_inserti32x4::<3>(three, line(lane + 12))
    };
    let (first, second, third, fourth) = (four(0), four(1), four(2), four(3));
    let low_one = _mm512_unpacklo_epi32(first, second);
    let high_one = _mm512_unpackhi_epi32(first, second);
    let low_other = _mm512_unpacklo_epi32(third, fourth);
    let high_other = _mm512_unpackhi_epi32(third, fourth);
    [
        _mm512_unpacklo_epi64(low_one, low_other),
        _mm512_unpackhi_epi64(low_one, low_other),
        _mm512_unpacklo_epi64(high_one, high_other),
        _mm512_unpackhi_epi64(high_one, high_other),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add(one: __m512i, other: __m512i) -> __m512i {
    _mm512_add_epi32(one, other)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn subtract(one: __m512i, other: __m512i) -> __m512i {
    _mm512_sub_epi32(one, other)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn multiply(value: __m512i, prime: u32) -> __m512i {
    _mm512_mullo_epi32(value, splat(prime))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn and(one: __m512i, other: __m512i) -> __m512i {
    _mm512_and_si512(one, other)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor(one: __m512i, other: __m512i) -> __m512i {
    _mm512_xor_si512(one, other)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn greater(one: __m512i, other: __m512i) -> __mmask16 {
    _mm512_cmpgt_epi32_mask(one, other)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn select(mask: __mmask16, yes: __m512i, no: __m512i) -> __m512i {
    _mm512_mask_blend_epi32(mask, no, yes)
}

/// Whether a mask has any lane set.
#[inline]
#[target_feature(enable = "avx512f")]
fn any(mask: __mmask16) -> bool {
    mask != 0
}

#[inline]
#[target_feature(enable = "avx512f")]
fn or(one: __mmask16, other: __mmask16) -> __mmask16 {
    one | other
}

#[inline]
#[target_feature(enable = "avx512f")]
fn shift_right<const BITS: u32>(value: __m512i) -> __m512i {
    _mm512_srli_epi32::<BITS>(value)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn shift_left<const BITS: u32>(value: __m512i) -> __m512i {
    _mm512_slli_epi32::<BITS>(value)
}

/// Rotates left by `LEFT`; `LEFT + RIGHT` must be 32.
#[inline]
#[target_feature(enable = "avx512f")]
fn rotate<const LEFT: i32, const RIGHT: i32>(value: __m512i) -> __m512i {
    const { assert!(LEFT + RIGHT == 32) };
    _mm512_rol_epi32::<LEFT>(value)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(value: u32) -> __m512i {
    _mm512_set1_epi32(value as i32)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u32; LANES]) -> __m512i {
    // SAFETY: The array has the 64 bytes that are read.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(vector: __m512i) -> [u32; LANES] {
    let mut words = [0; LANES];
    // SAFETY: The array has the 64 bytes that are written.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) };
    words
}
