//! Four lines at a time. For the stripes, the four accumulators of a line are the lanes of a
//! vector, which is the memory layout of a stripe. The steps after the stripes use one lane per
//! line.

use std::arch::aarch64::{
    uint32x4_t, vaddq_u32, vandq_u32, vbslq_u32, vcgtq_u32, vdupq_n_u32, veorq_u32, vld1q_s32,
    vld1q_u8, vld1q_u32, vmaxvq_u32, vmlaq_u32, vmulq_u32, vorrq_u32, vpaddq_u32,
    vreinterpretq_u32_u8, vreinterpretq_u32_u64, vreinterpretq_u64_u32, vshlq_n_u32, vshlq_u32,
    vshrq_n_u32, vsriq_n_u32, vst1q_u32, vsubq_u32, vtrn1q_u32, vtrn1q_u64, vtrn2q_u32, vtrn2q_u64,
};

use super::{
    LANE_LIMIT_BYTES, PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5, READ_BYTES, STRIPE_BYTES, Texts,
    hash_long,
};

const LANES: usize = 4;

/// The number of groups that are interleaved in steps with a single dependency chain.
const INTERLEAVED: usize = 4;

lane_loop! { #[target_feature(enable = "neon")] NeonGroup, NeonLimits, uint32x4_t }

/// The last valid start and stop of a text.
struct NeonLimits {
    /// `None` if there are too few bytes for any text.
    last_start: Option<uint32x4_t>,
    last_stop: uint32x4_t,
}

impl NeonLimits {
    #[inline]
    #[target_feature(enable = "neon")]
    fn of(bytes: &[u8]) -> NeonLimits {
        let limit = |len: usize| splat(len.min(i32::MAX as usize) as u32);
        let last_start = bytes.len().checked_sub(READ_BYTES).map(limit);
        NeonLimits { last_start, last_stop: limit(bytes.len()) }
    }
}

/// The texts of one group. [`READ_BYTES`] are readable in `bytes` after each of `starts`. Only
/// [`NeonGroup::of`] constructs one.
struct NeonGroup<'a> {
    bytes: &'a [u8],
    starts: &'a [u32; LANES],
    lengths: uint32x4_t,
    seeds: &'a [u32; LANES],
}

impl<'a> NeonGroup<'a> {
    /// The texts from number `first` on. Checks that everything that lanes may read is within the
    /// bytes, and that lengths are valid: starts and stops may come from bytes of a mapped file,
    /// which can change.
    #[inline]
    #[target_feature(enable = "neon")]
    fn of(texts: Texts<'a>, first: usize, limits: &NeonLimits) -> NeonGroup<'a> {
        let four = |numbers: &'a [u32]| -> &'a [u32; LANES] {
            numbers[first..].first_chunk().expect("a whole group")
        };
        let (starts, stops) = (load(four(texts.starts)), load(four(texts.stops)));
        let Some(last_start) = limits.last_start else {
            refuse(texts, first);
        };
        let is_outside = vorrq_u32(greater(starts, last_start), greater(stops, limits.last_stop));
        if vmaxvq_u32(vorrq_u32(is_outside, greater(starts, stops))) != 0 {
            refuse(texts, first);
        }
        NeonGroup {
            bytes: texts.bytes,
            starts: four(texts.starts),
            lengths: vsubq_u32(stops, starts),
            seeds: four(texts.seeds),
        }
    }
}

/// The hashes of some groups, and whether a text is too long for its lane; the hash of such a text
/// is not valid. Steps that are a single chain of multiplications are interleaved for all groups.
#[inline]
#[target_feature(enable = "neon")]
fn hash_groups<const GROUPS: usize>(
    groups: &[NeonGroup<'_>; GROUPS],
) -> ([[u32; LANES]; GROUPS], bool) {
    let zero = splat(0);
    let (mut hashes, mut rests, mut has_long) = ([zero; GROUPS], [[zero; 4]; GROUPS], zero);
    for (at, group) in groups.iter().enumerate() {
        let is_long = greater(group.lengths, splat(LANE_LIMIT_BYTES as u32));
        has_long = vorrq_u32(has_long, is_long);
        // A lane that is too long would read too far; its result is not used.
        let stripes = select(is_long, zero, shift_right::<4>(group.lengths));
        let stripes = store(stripes);
        hashes[at] = vaddq_u32(hash_stripes(group, &stripes), group.lengths);
        rests[at] = rests_of(group, &stripes);
    }
    hash_rests(groups, &rests, &mut hashes);
    (hashes.map(|hash| store(mix(hash))), vmaxvq_u32(has_long) != 0)
}

/// The result of the stripes of each text: the merged accumulators, or the seed if there are no
/// stripes.
#[inline]
#[target_feature(enable = "neon")]
fn hash_stripes(group: &NeonGroup<'_>, stripes: &[u32; LANES]) -> uint32x4_t {
    let without_stripes = vaddq_u32(load(group.seeds), splat(PRIME_5));
    let counts = load(stripes);
    let rounds = vmaxvq_u32(counts) as usize;
    if rounds == 0 {
        return without_stripes;
    }
    const FIRST: [u32; LANES] = [PRIME_1.wrapping_add(PRIME_2), PRIME_2, 0, PRIME_1.wrapping_neg()];
    let mut accumulators = group.seeds.map(|seed| vaddq_u32(splat(seed), load(&FIRST)));
    for round in 0..rounds {
        for (lane, accumulator) in accumulators.iter_mut().enumerate() {
            let words = stripe(group, lane, round);
            let sum = multiply_add(*accumulator, words, PRIME_2);
            let next = multiply(rotate::<13, 19>(sum), PRIME_1);
            let is_active = greater(splat(stripes[lane]), splat(round as u32));
            *accumulator = select(is_active, next, *accumulator);
        }
    }
    let [one, two, three, four] = accumulators.map(|it| rotate_accumulators(it));
    let together = vpaddq_u32(vpaddq_u32(one, two), vpaddq_u32(three, four));
    select(greater(counts, splat(0)), together, without_stripes)
}

/// Rotates each accumulator by its own number of bits.
#[inline]
#[target_feature(enable = "neon")]
fn rotate_accumulators(accumulators: uint32x4_t) -> uint32x4_t {
    const LEFT: [i32; LANES] = [1, 7, 12, 18];
    const RIGHT: [i32; LANES] = [1 - 32, 7 - 32, 12 - 32, 18 - 32];
    // SAFETY: The arrays have the 16 bytes that are read.
    let (left, right) = unsafe { (vld1q_s32(LEFT.as_ptr()), vld1q_s32(RIGHT.as_ptr())) };
    vorrq_u32(vshlq_u32(accumulators, left), vshlq_u32(accumulators, right))
}

/// Up to 16 bytes of each text after its stripes, as four vectors of words: the first words of all
/// lanes, the second words, and so on.
#[inline]
#[target_feature(enable = "neon")]
fn rests_of(group: &NeonGroup<'_>, stripes: &[u32; LANES]) -> [uint32x4_t; 4] {
    let rest = |lane: usize| stripe(group, lane, stripes[lane] as usize);
    let (one, two, three, four) = (rest(0), rest(1), rest(2), rest(3));
    let (even_low, odd_low) = (vtrn1q_u32(one, two), vtrn2q_u32(one, two));
    let (even_high, odd_high) = (vtrn1q_u32(three, four), vtrn2q_u32(three, four));
    let halves = |low, high| (vreinterpretq_u64_u32(low), vreinterpretq_u64_u32(high));
    let first = |(low, high)| vreinterpretq_u32_u64(vtrn1q_u64(low, high));
    let second = |(low, high)| vreinterpretq_u32_u64(vtrn2q_u64(low, high));
    let (even, odd) = (halves(even_low, even_high), halves(odd_low, odd_high));
    [first(even), first(odd), second(even), second(odd)]
}

/// A stripe of a text, or the rest after the last one; `number` is at most the number of stripes in
/// [`LANE_LIMIT_BYTES`].
#[inline]
#[target_feature(enable = "neon")]
fn stripe(group: &NeonGroup<'_>, lane: usize, number: usize) -> uint32x4_t {
    let at = group.starts[lane] as usize + number * STRIPE_BYTES;
    debug_assert!(at + STRIPE_BYTES <= group.bytes.len());
    const { assert!(LANE_LIMIT_BYTES + STRIPE_BYTES <= READ_BYTES) };
    // SAFETY: `NeonGroup::of` checked that `READ_BYTES` follow each start; the number of a stripe
    // is at most that of the stripes in `LANE_LIMIT_BYTES`, which is one less.
    let bytes = unsafe { vld1q_u8(group.bytes.as_ptr().add(at)) };
    vreinterpretq_u32_u8(bytes)
}

#[inline]
#[target_feature(enable = "neon")]
fn and(one: uint32x4_t, other: uint32x4_t) -> uint32x4_t {
    vandq_u32(one, other)
}

#[inline]
#[target_feature(enable = "neon")]
fn xor(one: uint32x4_t, other: uint32x4_t) -> uint32x4_t {
    veorq_u32(one, other)
}

#[inline]
#[target_feature(enable = "neon")]
fn greater(one: uint32x4_t, other: uint32x4_t) -> uint32x4_t {
    vcgtq_u32(one, other)
}

#[inline]
#[target_feature(enable = "neon")]
fn select(mask: uint32x4_t, yes: uint32x4_t, no: uint32x4_t) -> uint32x4_t {
    vbslq_u32(mask, yes, no)
}

#[inline]
#[target_feature(enable = "neon")]
fn multiply_add(sum: uint32x4_t, value: uint32x4_t, prime: u32) -> uint32x4_t {
    vmlaq_u32(sum, value, splat(prime))
}

#[inline]
#[target_feature(enable = "neon")]
fn shift_right<const BITS: i32>(value: uint32x4_t) -> uint32x4_t {
    vshrq_n_u32::<BITS>(value)
}

#[inline]
#[target_feature(enable = "neon")]
fn multiply(value: uint32x4_t, prime: u32) -> uint32x4_t {
    vmulq_u32(value, splat(prime))
}

#[inline]
#[target_feature(enable = "neon")]
fn splat(value: u32) -> uint32x4_t {
    vdupq_n_u32(value)
}

/// Rotates left by `LEFT`; `LEFT + RIGHT` must be 32.
#[inline]
#[target_feature(enable = "neon")]
fn rotate<const LEFT: i32, const RIGHT: i32>(value: uint32x4_t) -> uint32x4_t {
    const { assert!(LEFT + RIGHT == 32) };
    vsriq_n_u32::<RIGHT>(vshlq_n_u32::<LEFT>(value), value)
}

#[inline]
#[target_feature(enable = "neon")]
fn load(words: &[u32; LANES]) -> uint32x4_t {
    // SAFETY: The array has the 16 bytes that are read.
    unsafe { vld1q_u32(words.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(vector: uint32x4_t) -> [u32; LANES] {
    let mut words = [0; LANES];
    // SAFETY: The array has the 16 bytes that are written.
    unsafe { vst1q_u32(words.as_mut_ptr(), vector) };
    words
}
