//! xxHash32 of several lines at once, one in each lane of a vector, so that their chains of
//! multiplications overlap.
//!
//! The algorithm, for each text: 16 bytes at a time go into four accumulators (a stripe);
//! then what is left, four bytes at a time, and then byte by byte; then all bits are mixed.
//! Lanes take the same steps; a lane that has no such step keeps its value.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

use xxhash_rust::xxh32::xxh32;

use crate::simd::Level;

const PRIME_1: u32 = 0x9E37_79B1;
const PRIME_2: u32 = 0x85EB_CA77;
const PRIME_3: u32 = 0xC2B2_AE3D;
const PRIME_4: u32 = 0x27D4_EB2F;
const PRIME_5: u32 = 0x1656_67B1;

const STRIPE_BYTES: usize = 16;

/// Longer texts are hashed alone, so that they do not hold up the other lanes.
const LANE_LIMIT_BYTES: usize = 10 * STRIPE_BYTES;

/// What is read behind the start of a text, whatever its length: the stripes of the longest
/// text in a group, and what is left after them.
pub(super) const READ_BYTES: usize = LANE_LIMIT_BYTES + STRIPE_BYTES;

const _: () = assert!(READ_BYTES <= crate::normalize::compact::SLACK_BYTES);

/// The texts whose hashes are asked for: parts of `bytes`, from a start to a stop each, all
/// at least [`READ_BYTES`] before the end of `bytes`.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) starts: &'a [u32],
    pub(super) stops: &'a [u32],
    /// The seed of each.
    pub(super) seeds: &'a [u32],
}

/// Appends the hash of each text. `level` must be available.
pub(super) fn hash_all(level: Level, texts: Texts<'_>, out: &mut Vec<u32>) {
    assert!(level.is_available());
    match level {
        Level::Portable => portable::hash_all(texts, out),
        // SAFETY: The line above made sure that the processor has these instructions.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::hash_all(texts, out) },
        #[cfg(not(target_arch = "x86_64"))]
        Level::Avx2 => unreachable!("not available"),
    }
}

/// The texts of one group, one in each lane. [`READ_BYTES`] stand in `bytes` behind each of
/// `starts`, which nothing but [`Group::of`] sets.
struct Group<'a, const LANES: usize> {
    bytes: &'a [u8],
    starts: [u32; LANES],
    lengths: [u32; LANES],
    seeds: [u32; LANES],
}

impl<'a, const LANES: usize> Group<'a, LANES> {
    /// The texts from number `first` on; lanes behind the last text have no text. Checks that
    /// all that lanes may read is within the bytes, and that lengths are what they seem: bytes
    /// of a mapped file change under those who make starts and stops of them.
    #[inline(always)]
    fn of(texts: Texts<'a>, first: usize) -> Self {
        let (bytes, none) = (texts.bytes, [0; LANES]);
        let mut group = Group { bytes, starts: none, lengths: none, seeds: none };
        let count = (texts.starts.len() - first).min(LANES);
        let mut furthest = 0;
        for lane in 0..count {
            let (start, stop) = (texts.starts[first + lane], texts.stops[first + lane]);
            assert!(start <= stop && stop as usize <= bytes.len(), "no part of the bytes");
            assert!(stop - start <= i32::MAX as u32, "too long a text");
            group.starts[lane] = start;
            group.lengths[lane] = stop - start;
            group.seeds[lane] = texts.seeds[first + lane];
            furthest = furthest.max(start);
        }
        assert!(furthest as usize + READ_BYTES <= texts.bytes.len(), "too near to the end");
        group
    }
}

/// Says what is wrong with a text of the group that begins with text number `first`.
#[cfg(target_arch = "x86_64")]
#[cold]
#[inline(never)]
fn refuse(texts: Texts<'_>, first: usize) -> ! {
    Group::<8>::of(texts, first);
    panic!("too far from the front");
}

/// Hashes the texts that are too long for a lane, over what the lanes made of them.
#[cold]
fn hash_long(texts: Texts<'_>, first: usize, hashes: &mut [u32]) {
    for (lane, hash) in hashes.iter_mut().enumerate() {
        let at = first + lane;
        let text = &texts.bytes[texts.starts[at] as usize..texts.stops[at] as usize];
        if text.len() > LANE_LIMIT_BYTES {
            *hash = xxh32(text, texts.seeds[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways of the portable level, of which a processor uses one, and every other level.
    #[test]
    fn lanes_hash_like_the_library() {
        let bytes: Vec<u8> =
            (0..4096u32).map(|at| (at.wrapping_mul(PRIME_1) >> 24) as u8).collect();
        let texts = 0..2 * LANE_LIMIT_BYTES as u32;
        let starts: Vec<u32> = texts.clone().map(|len| len * 7 % 1000).collect();
        let stops: Vec<u32> = texts.clone().zip(&starts).map(|(len, start)| start + len).collect();
        let seeds: Vec<u32> = texts.map(|len| if len % 3 == 0 { 0 } else { len << 20 }).collect();
        let texts = Texts { bytes: &bytes, starts: &starts, stops: &stops, seeds: &seeds };
        let text = |at: usize| &bytes[starts[at] as usize..stops[at] as usize];
        let expected: Vec<u32> = (0..starts.len()).map(|at| xxh32(text(at), seeds[at])).collect();
        for way in [portable::hash_one_by_one, portable::hash_in_lanes] {
            let mut found = Vec::new();
            way(texts, &mut found);
            assert_eq!(found, expected);
        }
        for level in Level::available() {
            let mut found = Vec::new();
            hash_all(level, texts, &mut found);
            assert_eq!(found, expected, "{}", level.name());
        }
    }

    #[test]
    fn texts_that_end_before_they_start_are_refused() {
        let bytes = [b'a'; 4 * READ_BYTES];
        for level in Level::available() {
            for (start, stop) in [(2, 1), (0, bytes.len() as u32 + 1), (5, u32::MAX)] {
                let texts = Texts { bytes: &bytes, starts: &[start], stops: &[stop], seeds: &[0] };
                let hashed = std::panic::catch_unwind(|| {
                    let mut hashes = Vec::new();
                    hash_all(level, texts, &mut hashes);
                    hashes
                });
                // One at a time, the slice itself is refused.
                assert!(hashed.is_err(), "{} {start}..{stop}", level.name());
            }
        }
    }

    #[test]
    #[should_panic(expected = "too near to the end")]
    fn texts_without_slack_behind_them_are_refused() {
        let texts = Texts { bytes: &[0; READ_BYTES], starts: &[1], stops: &[2], seeds: &[0] };
        hash_all(Level::best(), texts, &mut Vec::new());
    }
}
