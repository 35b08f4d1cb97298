//! Eight lines at a time, and four interleaved groups in steps with a single dependency chain.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_max_epu32, _mm_shuffle_epi32,
    _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8, _mm256_castsi128_si256,
    _mm256_castsi256_si128, _mm256_cmpgt_epi32, _mm256_extracti128_si256, _mm256_inserti128_si256,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_mullo_epi32, _mm256_or_si256,
    _mm256_set1_epi32, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_storeu_si256, _mm256_sub_epi32,
    _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    _mm256_xor_si256,
};

use super::{
    LANE_LIMIT_BYTES, PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5, READ_BYTES, STRIPE_BYTES, Texts,
    hash_long,
};

const LANES: usize = 8;

/// The number of groups that are interleaved in steps with a single dependency chain.
const INTERLEAVED: usize = 4;

lane_loop! { #[target_feature(enable = "avx2")] VectorGroup, ReadLimits, __m256i }

stripe_lanes! { #[target_feature(enable = "avx2")] __m256i }

/// The maximum of unsigned numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn max(numbers: __m256i) -> u32 {
    let halves =
        _mm_max_epu32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256::<1>(numbers));
    let pairs = _mm_max_epu32(halves, _mm_shuffle_epi32::<0b01_00_11_10>(halves));
    let one = _mm_max_epu32(pairs, _mm_shuffle_epi32::<0b00_00_00_01>(pairs));
    _mm_cvtsi128_si32(one) as u32
}

/// The stripe of each lane as four vectors of words: the first words of all lanes, the second
/// words, and so on.
#[inline]
#[target_feature(enable = "avx2")]
fn words_at(group: &VectorGroup<'_>, offsets: &[u32; LANES]) -> [__m256i; 4] {
    let line = |lane: usize| stripe(group, offsets, lane);
    let pair = |lane: usize| {
        let low = _mm256_castsi128_si256(line(lane));
        _mm256_inserti128_si256::<1>(low, line(lane + 4))
    };
    let (first, second, third, fourth) = (pair(0), pair(1), pair(2), pair(3));
    let low_one = _mm256_unpacklo_epi32(first, second);
    let high_one = _mm256_unpackhi_epi32(first, second);
    let low_other = _mm256_unpacklo_epi32(third, fourth);
    let high_other = _mm256_unpackhi_epi32(third, fourth);
    [
        _mm256_unpacklo_epi64(low_one, low_other),
        _mm256_unpackhi_epi64(low_one, low_other),
        _mm256_unpacklo_epi64(high_one, high_other),
        _mm256_unpackhi_epi64(high_one, high_other),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(one: __m256i, other: __m256i) -> __m256i {
    _mm256_add_epi32(one, other)
}

#[inline]
#[target_feature(enable = "avx2")]
fn subtract(one: __m256i, other: __m256i) -> __m256i {
    _mm256_sub_epi32(one, other)
}

#[inline]
#[target_feature(enable = "avx2")]
fn multiply(value: __m256i, prime: u32) -> __m256i {
    _mm256_mullo_epi32(value, splat(prime))
}

/// Whether a mask has any lane set.
#[inline]
#[target_feature(enable = "avx2")]
fn any(mask: __m256i) -> bool {
    _mm256_movemask_epi8(mask) != 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn or(one: __m256i, other: __m256i) -> __m256i {
    _mm256_or_si256(one, other)
}

#[inline]
#[target_feature(enable = "avx2")]
fn and(one: __m256i, other: __m256i) -> __m256i {
    _mm256_and_si256(one, other)
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor(one: __m256i, other: __m256i) -> __m256i {
    _mm256_xor_si256(one, other)
}

#[inline]
#[target_feature(enable = "avx2")]
fn greater(one: __m256i, other: __m256i) -> __m256i {
    _mm256_cmpgt_epi32(one, other)
}

#[inline]
#[target_feature(enable = "avx2")]
fn select(mask: __m256i, yes: __m256i, no: __m256i) -> __m256i {
    _mm256_blendv_epi8(no, yes, mask)
}

#[inline]
#[target_feature(enable = "avx2")]
fn shift_right<const BITS: i32>(value: __m256i) -> __m256i {
    _mm256_srli_epi32::<BITS>(value)
}

#[inline]
#[target_feature(enable = "avx2")]
fn shift_left<const BITS: i32>(value: __m256i) -> __m256i {
    _mm256_slli_epi32::<BITS>(value)
}

/// Rotates left by `LEFT`; `LEFT + RIGHT` must be 32.
#[inline]
#[target_feature(enable = "avx2")]
fn rotate<const LEFT: i32, const RIGHT: i32>(value: __m256i) -> __m256i {
    const { assert!(LEFT + RIGHT == 32) };
    _mm256_or_si256(_mm256_slli_epi32::<LEFT>(value), _mm256_srli_epi32::<RIGHT>(value))
}

#[inline]
#[target_feature(enable = "avx2")]
fn splat(value: u32) -> __m256i {
    _mm256_set1_epi32(value as i32)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u32; LANES]) -> __m256i {
    // SAFETY: The array has the 32 bytes that are read.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(vector: __m256i) -> [u32; LANES] {
    let mut words = [0; LANES];
    // SAFETY: The array has the 32 bytes that are written.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) };
    words
}
