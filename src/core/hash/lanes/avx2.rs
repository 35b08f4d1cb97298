//! Eight lines at once.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8,
    _mm256_castsi128_si256, _mm256_cmpgt_epi32, _mm256_inserti128_si256, _mm256_loadu_si256,
    _mm256_movemask_epi8, _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_storeu_si256,
    _mm256_sub_epi32, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use super::{
    Group, LANE_LIMIT_BYTES, PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5, READ_BYTES, STRIPE_BYTES,
    Texts, hash_long,
};

const LANES: usize = 8;

#[target_feature(enable = "avx2")]
pub(super) fn hash_all(texts: Texts<'_>, out: &mut Vec<u32>) {
    for first in (0..texts.starts.len()).step_by(LANES) {
        let group = Group::<LANES>::of(texts, first);
        let count = (texts.starts.len() - first).min(LANES);
        let (mut hashes, has_long) = hash_group(&group);
        if has_long {
            hash_long(texts, first, &mut hashes[..count]);
        }
        out.extend_from_slice(&hashes[..count]);
    }
}

/// The hashes of a group, and whether some text is too long for its lane, whose hash then is
/// not its hash.
#[inline]
#[target_feature(enable = "avx2")]
fn hash_group(group: &Group<'_, LANES>) -> ([u32; LANES], bool) {
    let lengths = load(&group.lengths);
    let is_long = _mm256_cmpgt_epi32(lengths, splat(LANE_LIMIT_BYTES as u32));
    let has_long = _mm256_movemask_epi8(is_long) != 0;
    let longest = group.lengths.iter().copied().max().unwrap_or(0) as usize;
    let rounds = longest.min(LANE_LIMIT_BYTES) / STRIPE_BYTES;

    let stripes = _mm256_srli_epi32::<4>(lengths);
    let seeds = load(&group.seeds);
    let mut hash = add(seeds, splat(PRIME_5));
    if rounds > 0 {
        let of_stripes = hash_stripes(group, stripes, seeds, rounds);
        let has_stripes = _mm256_cmpgt_epi32(stripes, _mm256_setzero_si256());
        hash = _mm256_blendv_epi8(hash, of_stripes, has_stripes);
    }
    hash = add(hash, lengths);
    // In a lane that is too long, the reading would go too far; its result is not used.
    let behind =
        _mm256_slli_epi32::<4>(_mm256_blendv_epi8(stripes, _mm256_setzero_si256(), is_long));
    let rest = words_at(group, &store(behind));
    hash = hash_rest(hash, lengths, rest);
    (store(mix(hash)), has_long)
}

/// The accumulators of all lanes after their stripes, put together.
#[inline]
#[target_feature(enable = "avx2")]
fn hash_stripes(
    group: &Group<'_, LANES>,
    stripes: __m256i,
    seeds: __m256i,
    rounds: usize,
) -> __m256i {
    let mut accumulators = [
        add(seeds, splat(PRIME_1.wrapping_add(PRIME_2))),
        add(seeds, splat(PRIME_2)),
        seeds,
        _mm256_sub_epi32(seeds, splat(PRIME_1)),
    ];
    for round in 0..rounds {
        let offset = (round * STRIPE_BYTES) as u32;
        let words = words_at(group, &[offset; LANES]);
        let is_live = _mm256_cmpgt_epi32(stripes, splat(round as u32));
        for (accumulator, word) in accumulators.iter_mut().zip(words) {
            let sum = add(*accumulator, multiply(word, PRIME_2));
            let next = multiply(rotate::<13, 19>(sum), PRIME_1);
            *accumulator = _mm256_blendv_epi8(*accumulator, next, is_live);
        }
    }
    let [one, two, three, four] = accumulators;
    add(
        add(rotate::<1, 31>(one), rotate::<7, 25>(two)),
        add(rotate::<12, 20>(three), rotate::<18, 14>(four)),
    )
}

/// Puts the last `length % 16` bytes into the hash; they stand at the front of `rest`.
#[inline]
#[target_feature(enable = "avx2")]
fn hash_rest(mut hash: __m256i, lengths: __m256i, rest: [__m256i; 4]) -> __m256i {
    let words = _mm256_and_si256(_mm256_srli_epi32::<2>(lengths), splat(3));
    // The word that holds the bytes after the last whole word.
    let mut last = rest[0];
    for place in 0..3 {
        let is_live = _mm256_cmpgt_epi32(words, splat(place));
        let sum = add(hash, multiply(rest[place as usize], PRIME_3));
        let next = multiply(rotate::<17, 15>(sum), PRIME_4);
        hash = _mm256_blendv_epi8(hash, next, is_live);
        last = _mm256_blendv_epi8(last, rest[place as usize + 1], is_live);
    }
    let bytes = _mm256_and_si256(lengths, splat(3));
    for place in 0..3 {
        let is_live = _mm256_cmpgt_epi32(bytes, splat(place));
        let byte = _mm256_and_si256(last, splat(0xFF));
        last = _mm256_srli_epi32::<8>(last);
        let sum = add(hash, multiply(byte, PRIME_5));
        let next = multiply(rotate::<11, 21>(sum), PRIME_1);
        hash = _mm256_blendv_epi8(hash, next, is_live);
    }
    hash
}

/// The last step: every bit of the input reaches every bit of the hash.
#[inline]
#[target_feature(enable = "avx2")]
fn mix(hash: __m256i) -> __m256i {
    let hash = multiply(_mm256_xor_si256(hash, _mm256_srli_epi32::<15>(hash)), PRIME_2);
    let hash = multiply(_mm256_xor_si256(hash, _mm256_srli_epi32::<13>(hash)), PRIME_3);
    _mm256_xor_si256(hash, _mm256_srli_epi32::<16>(hash))
}

/// 16 bytes of each lane's text, `offsets` (at most [`LANE_LIMIT_BYTES`]) behind its start, as four vectors of words: the
/// first words of all lanes, the second ones, and so on.
#[inline]
#[target_feature(enable = "avx2")]
fn words_at(group: &Group<'_, LANES>, offsets: &[u32; LANES]) -> [__m256i; 4] {
    let line = |lane: usize| -> __m128i {
        let at = group.starts[lane] as usize + offsets[lane] as usize;
        debug_assert!(at + STRIPE_BYTES <= group.bytes.len());
        const { assert!(LANE_LIMIT_BYTES + STRIPE_BYTES <= READ_BYTES) };
        // SAFETY: `Group::of` checked that `READ_BYTES` stand behind each start, and that no
        // length is negative as `cmpgt` sees it, so that offsets are at most
        // `LANE_LIMIT_BYTES`, which is 16 less.
        unsafe { _mm_loadu_si128(group.bytes.as_ptr().add(at).cast()) }
    };
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
fn multiply(value: __m256i, prime: u32) -> __m256i {
    _mm256_mullo_epi32(value, splat(prime))
}

/// Rotates left by `LEFT`, which with `RIGHT` makes 32.
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
