//! Eight lines at once, and four times eight where each step waits for the one before.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_max_epu32, _mm_shuffle_epi32,
    _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8, _mm256_castsi128_si256,
    _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cmpgt_epi32, _mm256_extracti128_si256,
    _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_movemask_ps,
    _mm256_mullo_epi32, _mm256_or_si256, _mm256_set1_epi32, _mm256_setzero_si256,
    _mm256_slli_epi32, _mm256_srli_epi32, _mm256_storeu_si256, _mm256_sub_epi32,
    _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    _mm256_xor_si256,
};

use super::{
    LANE_LIMIT_BYTES, PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5, READ_BYTES, STRIPE_BYTES, Texts,
    hash_long,
};

const LANES: usize = 8;

/// How many groups go through the steps of which each waits for the one before.
const TOGETHER: usize = 4;

lane_loop! { #[target_feature(enable = "avx2")] VectorGroup, ReadLimits, __m256i }

/// Where texts may start and stop at most, for comparisons of numbers with signs.
struct ReadLimits {
    last_start: __m256i,
    last_stop: __m256i,
}

impl ReadLimits {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(bytes: &[u8]) -> ReadLimits {
        let limit = |len: usize| splat(i32::try_from(len).unwrap_or(i32::MAX) as u32);
        // Where there are too few bytes, no number is small enough.
        let last_start = bytes.len().checked_sub(READ_BYTES).map_or(splat(u32::MAX), limit);
        ReadLimits { last_start, last_stop: limit(bytes.len()) }
    }
}

/// The texts of one group, one in each lane. [`READ_BYTES`] stand in `bytes` behind each of
/// `starts`, and no length is negative; nothing but [`VectorGroup::of`] makes one.
struct VectorGroup<'a> {
    bytes: &'a [u8],
    starts: &'a [u32; LANES],
    lengths: __m256i,
    seeds: __m256i,
}

impl<'a> VectorGroup<'a> {
    /// The texts from number `first` on. Checks that all that lanes may read is within the bytes,
    /// and that lengths are what they seem: bytes of a mapped file change under those who make
    /// starts and stops of them.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(texts: Texts<'a>, first: usize, limits: &ReadLimits) -> VectorGroup<'a> {
        let eight = |numbers: &'a [u32]| -> &'a [u32; LANES] {
            numbers[first..].first_chunk().expect("a whole group")
        };
        let (starts, stops) = (load(eight(texts.starts)), load(eight(texts.stops)));
        let is_outside = either(
            _mm256_cmpgt_epi32(starts, limits.last_start),
            _mm256_cmpgt_epi32(stops, limits.last_stop),
        );
        let has_no_length = either(starts, _mm256_cmpgt_epi32(starts, stops));
        // The sign of each.
        if _mm256_movemask_ps(_mm256_castsi256_ps(either(is_outside, has_no_length))) != 0 {
            refuse(texts, first);
        }
        VectorGroup {
            bytes: texts.bytes,
            starts: eight(texts.starts),
            lengths: _mm256_sub_epi32(stops, starts),
            seeds: load(eight(texts.seeds)),
        }
    }
}

/// The hashes of some groups, and whether some text is too long for its lane, whose hash then is
/// not its hash. What has only one chain of multiplications is done for all groups together.
#[inline]
#[target_feature(enable = "avx2")]
fn hash_groups<const GROUPS: usize>(
    groups: &[VectorGroup<'_>; GROUPS],
) -> ([[u32; LANES]; GROUPS], bool) {
    let zero = _mm256_setzero_si256();
    let (mut hashes, mut rests, mut has_long) = ([zero; GROUPS], [[zero; 4]; GROUPS], zero);
    for (at, group) in groups.iter().enumerate() {
        let is_long = _mm256_cmpgt_epi32(group.lengths, splat(LANE_LIMIT_BYTES as u32));
        has_long = either(has_long, is_long);
        let stripes = _mm256_srli_epi32::<4>(group.lengths);
        hashes[at] = add(hash_stripes(group, stripes), group.lengths);
        // In a lane that is too long, the reading would go too far; its result is not used.
        let behind = _mm256_slli_epi32::<4>(_mm256_blendv_epi8(stripes, zero, is_long));
        rests[at] = words_at(group, &store(behind));
    }
    hash_rests(groups, &rests, &mut hashes);
    let mut out = [[0; LANES]; GROUPS];
    for (hash, out) in hashes.into_iter().zip(&mut out) {
        *out = store(mix(hash));
    }
    (out, _mm256_movemask_epi8(has_long) != 0)
}

/// The greatest of numbers without a sign.
#[inline]
#[target_feature(enable = "avx2")]
fn greatest(numbers: __m256i) -> u32 {
    let halves =
        _mm_max_epu32(_mm256_castsi256_si128(numbers), _mm256_extracti128_si256::<1>(numbers));
    let pairs = _mm_max_epu32(halves, _mm_shuffle_epi32::<0b01_00_11_10>(halves));
    let one = _mm_max_epu32(pairs, _mm_shuffle_epi32::<0b00_00_00_01>(pairs));
    _mm_cvtsi128_si32(one) as u32
}

/// What the stripes of each text make of its seed: the accumulators put together, or where
/// there are no stripes, the seed itself.
#[inline]
#[target_feature(enable = "avx2")]
fn hash_stripes(group: &VectorGroup<'_>, stripes: __m256i) -> __m256i {
    let seeds = group.seeds;
    let without_stripes = add(seeds, splat(PRIME_5));
    let rounds = (greatest(stripes) as usize).min(LANE_LIMIT_BYTES / STRIPE_BYTES);
    if rounds == 0 {
        return without_stripes;
    }
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
    let together = add(
        add(rotate::<1, 31>(one), rotate::<7, 25>(two)),
        add(rotate::<12, 20>(three), rotate::<18, 14>(four)),
    );
    let has_stripes = _mm256_cmpgt_epi32(stripes, _mm256_setzero_si256());
    _mm256_blendv_epi8(without_stripes, together, has_stripes)
}

/// 16 bytes of each lane's text, `offsets` (at most [`LANE_LIMIT_BYTES`]) behind its start, as four vectors of words: the
/// first words of all lanes, the second ones, and so on.
#[inline]
#[target_feature(enable = "avx2")]
fn words_at(group: &VectorGroup<'_>, offsets: &[u32; LANES]) -> [__m256i; 4] {
    let line = |lane: usize| -> __m128i {
        let at = group.starts[lane] as usize + offsets[lane] as usize;
        debug_assert!(at + STRIPE_BYTES <= group.bytes.len());
        const { assert!(LANE_LIMIT_BYTES + STRIPE_BYTES <= READ_BYTES) };
        // SAFETY: `VectorGroup::of` made sure that `READ_BYTES` stand behind each start, and that no
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
fn either(one: __m256i, other: __m256i) -> __m256i {
    _mm256_or_si256(one, other)
}

#[inline]
#[target_feature(enable = "avx2")]
fn multiply(value: __m256i, prime: u32) -> __m256i {
    _mm256_mullo_epi32(value, splat(prime))
}

#[inline]
#[target_feature(enable = "avx2")]
fn both(one: __m256i, other: __m256i) -> __m256i {
    _mm256_and_si256(one, other)
}

#[inline]
#[target_feature(enable = "avx2")]
fn differing(one: __m256i, other: __m256i) -> __m256i {
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
fn multiply_add(sum: __m256i, value: __m256i, prime: u32) -> __m256i {
    add(sum, multiply(value, prime))
}

#[inline]
#[target_feature(enable = "avx2")]
fn shift_right<const BITS: i32>(value: __m256i) -> __m256i {
    _mm256_srli_epi32::<BITS>(value)
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
