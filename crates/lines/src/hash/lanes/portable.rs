//! Four lines at a time in plain Rust: their steps overlap in the processor, and the compiler can
//! vectorize them.

use xxhash_rust::xxh32::xxh32;

use super::{
    LANE_LIMIT_BYTES, LaneGroup, PRIME_1, PRIME_2, PRIME_3, PRIME_4, PRIME_5, STRIPE_BYTES, Texts,
    hash_long,
};

const LANES: usize = 4;

type Lanes = [u32; LANES];

/// Whether to hash one text at a time. Without 32-bit vector multiplication (x86-64 without
/// SSE4.1), lanes are slower. NEON has it.
const ONE_BY_ONE: bool = cfg!(target_arch = "x86_64");

pub(super) fn hash_all(texts: Texts<'_>, out: &mut Vec<u32>) {
    if ONE_BY_ONE {
        hash_one_by_one(texts, out);
    } else {
        hash_in_lanes(texts, out);
    }
}

pub(super) fn hash_one_by_one(texts: Texts<'_>, out: &mut Vec<u32>) {
    for at in 0..texts.starts.len() {
        let text = &texts.bytes[texts.starts[at] as usize..texts.stops[at] as usize];
        out.push(xxh32(text, texts.seeds[at]));
    }
}

pub(super) fn hash_in_lanes(texts: Texts<'_>, out: &mut Vec<u32>) {
    for first in (0..texts.starts.len()).step_by(LANES) {
        let group = LaneGroup::<LANES>::of(texts, first);
        let count = (texts.starts.len() - first).min(LANES);
        let mut hashes = hash_group(&group);
        if group.lengths.iter().any(|&length| length as usize > LANE_LIMIT_BYTES) {
            hash_long(texts, first, &mut hashes[..count]);
        }
        out.extend_from_slice(&hashes[..count]);
    }
}

#[inline]
fn hash_group(group: &LaneGroup<'_, LANES>) -> Lanes {
    let limit = LANE_LIMIT_BYTES as u32;
    let lengths = group.lengths.map(|length| if length > limit { 0 } else { length });
    let stripes = lengths.map(|length| length / STRIPE_BYTES as u32);
    let rounds = stripes.iter().copied().max().unwrap_or(0);
    let mut hash = group.seeds.map(|seed| seed.wrapping_add(PRIME_5));
    if rounds > 0 {
        let striped = hash_stripes(group, stripes, rounds);
        for lane in 0..LANES {
            hash[lane] = if stripes[lane] > 0 { striped[lane] } else { hash[lane] };
        }
    }
    for lane in 0..LANES {
        hash[lane] = hash[lane].wrapping_add(lengths[lane]);
    }
    let rest_offsets: Lanes =
        std::array::from_fn(|lane| group.starts[lane] + stripes[lane] * STRIPE_BYTES as u32);
    mix(hash_rest(hash, lengths, words_at(group.bytes, rest_offsets)))
}

#[inline]
fn hash_stripes(group: &LaneGroup<'_, LANES>, stripes: Lanes, rounds: u32) -> Lanes {
    let mut accumulators = [
        group.seeds.map(|seed| seed.wrapping_add(PRIME_1).wrapping_add(PRIME_2)),
        group.seeds.map(|seed| seed.wrapping_add(PRIME_2)),
        group.seeds,
        group.seeds.map(|seed| seed.wrapping_sub(PRIME_1)),
    ];
    for round in 0..rounds {
        let words =
            words_at(group.bytes, group.starts.map(|start| start + round * STRIPE_BYTES as u32));
        for (accumulator, words) in accumulators.iter_mut().zip(words) {
            for lane in 0..LANES {
                let sum = accumulator[lane].wrapping_add(words[lane].wrapping_mul(PRIME_2));
                let next = sum.rotate_left(13).wrapping_mul(PRIME_1);
                accumulator[lane] = if stripes[lane] > round { next } else { accumulator[lane] };
            }
        }
    }
    let [one, two, three, four] = accumulators;
    std::array::from_fn(|lane| {
        (one[lane].rotate_left(1).wrapping_add(two[lane].rotate_left(7)))
            .wrapping_add(three[lane].rotate_left(12).wrapping_add(four[lane].rotate_left(18)))
    })
}

#[inline]
fn hash_rest(mut hash: Lanes, lengths: Lanes, rest: [Lanes; 4]) -> Lanes {
    let mut last = rest[0];
    for index in 0..3 {
        for lane in 0..LANES {
            let sum = hash[lane].wrapping_add(rest[index][lane].wrapping_mul(PRIME_3));
            let next = sum.rotate_left(17).wrapping_mul(PRIME_4);
            let is_active = lengths[lane] / 4 % 4 > index as u32;
            hash[lane] = if is_active { next } else { hash[lane] };
            last[lane] = if is_active { rest[index + 1][lane] } else { last[lane] };
        }
    }
    for index in 0..3 {
        for lane in 0..LANES {
            let sum = hash[lane].wrapping_add((last[lane] & 0xFF).wrapping_mul(PRIME_5));
            let next = sum.rotate_left(11).wrapping_mul(PRIME_1);
            last[lane] >>= 8;
            hash[lane] = if lengths[lane] % 4 > index { next } else { hash[lane] };
        }
    }
    hash
}

#[inline]
fn mix(hash: Lanes) -> Lanes {
    hash.map(|hash| {
        let hash = (hash ^ hash >> 15).wrapping_mul(PRIME_2);
        let hash = (hash ^ hash >> 13).wrapping_mul(PRIME_3);
        hash ^ hash >> 16
    })
}

/// The 16 bytes at each offset, as four vectors of words: the first words of all lanes, the second
/// words, and so on.
#[inline]
fn words_at(bytes: &[u8], offsets: Lanes) -> [Lanes; 4] {
    let mut words = [[0; LANES]; 4];
    for lane in 0..LANES {
        let index = offsets[lane] as usize;
        let stripe: [u8; STRIPE_BYTES] =
            *bytes[index..].first_chunk().expect("checked by `LaneGroup`");
        let (quarters, _) = stripe.as_chunks();
        for (words, quarter) in words.iter_mut().zip(quarters) {
            words[lane] = u32::from_le_bytes(*quarter);
        }
    }
    words
}
