//! xxHash32 of several lines at the same time, one per lane of a vector, so that their chains of
//! multiplications overlap.
//!
//! The algorithm processes 16 bytes at a time (a stripe) with four accumulators, then the rest four
//! bytes at a time, then byte by byte, and then mixes all bits. All lanes execute the same steps; a
//! lane that does not need a step keeps its value.

/// The part that all vector levels share: the loop over the texts, and the steps after the stripes.
/// It is a macro because functions with different target features cannot be inlined into a shared
/// one. The module that uses it defines, with the same attributes: `LANES`, `INTERLEAVED`, the
/// three types (`$limits::of(&[u8])` and `$group::of(Texts, usize, &$limits)` construct two of
/// them), `hash_groups`, and the operations on `$vector` that are used here.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! lane_loop {
    ($(#[$attribute:meta])* $group:ident, $limits:ident, $vector:ident) => {
        $(#[$attribute])*
        pub(super) fn hash_all(texts: Texts<'_>, out: &mut Vec<u32>) {
            out.reserve(texts.starts.len() + LANES);
            let limits = $limits::of(texts.bytes);
            let count = texts.starts.len();
            let whole = count - count % LANES;
            let mut first = 0;
            while first + INTERLEAVED * LANES <= whole {
                append_groups::<INTERLEAVED>(texts, first, &limits, out);
                first += INTERLEAVED * LANES;
            }
            while first < whole {
                append_groups::<1>(texts, first, &limits, out);
                first += LANES;
            }
            if first < count {
                append_last(texts, first, &limits, out);
            }
        }

        /// Appends the hashes of `GROUPS` groups that start at text number `first`.
        #[inline]
        $(#[$attribute])*
        fn append_groups<const GROUPS: usize>(
            texts: Texts<'_>,
            first: usize,
            limits: &$limits,
            out: &mut Vec<u32>,
        ) {
            let groups = std::array::from_fn(|at| $group::of(texts, first + at * LANES, limits));
            let (mut hashes, has_long) = hash_groups::<GROUPS>(&groups);
            if has_long {
                hash_long(texts, first, hashes.as_flattened_mut());
            }
            out.extend_from_slice(hashes.as_flattened());
        }

        /// Appends the hashes of the last texts, which do not fill a group.
        #[cold]
        $(#[$attribute])*
        fn append_last(texts: Texts<'_>, first: usize, limits: &$limits, out: &mut Vec<u32>) {
            let count = texts.starts.len() - first;
            // Lanes after the last text are empty.
            let start = texts.starts[first];
            let [mut starts, mut stops, mut seeds] = [[start; LANES], [start; LANES], [0; LANES]];
            starts[..count].copy_from_slice(&texts.starts[first..]);
            stops[..count].copy_from_slice(&texts.stops[first..first + count]);
            seeds[..count].copy_from_slice(&texts.seeds[first..first + count]);
            let padded = Texts { bytes: texts.bytes, starts: &starts, stops: &stops, seeds: &seeds };
            let end = out.len() + count;
            append_groups::<1>(padded, 0, limits, out);
            out.truncate(end);
        }

        /// Panics with the reason why a text of the group that starts at text number `first` is
        /// invalid.
        #[cold]
        #[inline(never)]
        fn refuse(texts: Texts<'_>, first: usize) -> ! {
            texts.check(first, LANES);
            unreachable!("vectors refuse what the check refuses");
        }

        /// Adds the last `length % 16` bytes of each text, which are at the front of `rests`, to
        /// its hash.
        #[inline]
        $(#[$attribute])*
        fn hash_rests<const GROUPS: usize>(
            groups: &[$group<'_>; GROUPS],
            rests: &[[$vector; 4]; GROUPS],
            hashes: &mut [$vector; GROUPS],
        ) {
            // The word with the bytes after the last whole word.
            let mut last = rests.map(|rest| rest[0]);
            for index in 0..3 {
                for at in 0..GROUPS {
                    let words = and(shift_right::<2>(groups[at].lengths), splat(3));
                    let is_active = greater(words, splat(index));
                    let sum = multiply_add(hashes[at], rests[at][index as usize], PRIME_3);
                    let next = multiply(rotate::<17, 15>(sum), PRIME_4);
                    hashes[at] = select(is_active, next, hashes[at]);
                    last[at] = select(is_active, rests[at][index as usize + 1], last[at]);
                }
            }
            for index in 0..3 {
                for at in 0..GROUPS {
                    let bytes = and(groups[at].lengths, splat(3));
                    let is_active = greater(bytes, splat(index));
                    let byte = and(last[at], splat(0xFF));
                    last[at] = shift_right::<8>(last[at]);
                    let sum = multiply_add(hashes[at], byte, PRIME_5);
                    let next = multiply(rotate::<11, 21>(sum), PRIME_1);
                    hashes[at] = select(is_active, next, hashes[at]);
                }
            }
        }

        /// The last step: mixes all bits.
        #[inline]
        $(#[$attribute])*
        fn mix(hash: $vector) -> $vector {
            let hash = multiply(xor(hash, shift_right::<15>(hash)), PRIME_2);
            let hash = multiply(xor(hash, shift_right::<13>(hash)), PRIME_3);
            xor(hash, shift_right::<16>(hash))
        }
    };
}

/// The part that levels share whose vectors hold one text per lane from the first stripe (x86-64):
/// `VectorGroup`, `ReadLimits` and `hash_groups`, for [`lane_loop`]. The module that uses it
/// defines, with the same attributes, `words_at`, `max`, and the operations on `$vector` that are
/// used here; `greater` returns a mask, which `or`, `any` and `select` take.
#[cfg(target_arch = "x86_64")]
macro_rules! stripe_lanes {
    ($(#[$attribute:meta])* $vector:ident) => {
        /// The last valid start and stop of a text, for signed comparisons.
        struct ReadLimits {
            last_start: $vector,
            last_stop: $vector,
        }

        impl ReadLimits {
            #[inline]
            $(#[$attribute])*
            fn of(bytes: &[u8]) -> ReadLimits {
                let limit = |len: usize| splat(i32::try_from(len).unwrap_or(i32::MAX) as u32);
                // If there are too few bytes, no start is valid.
                let last_start = bytes.len().checked_sub(READ_BYTES).map_or(splat(u32::MAX), limit);
                ReadLimits { last_start, last_stop: limit(bytes.len()) }
            }
        }

        /// The texts of one group, one per lane. [`READ_BYTES`] are readable in `bytes` after each
        /// of `starts`, and no length is negative. Only [`VectorGroup::of`] constructs one.
        struct VectorGroup<'a> {
            bytes: &'a [u8],
            starts: &'a [u32; LANES],
            lengths: $vector,
            seeds: $vector,
        }

        impl<'a> VectorGroup<'a> {
            /// The texts from number `first` on. Checks that everything that lanes may read is
            /// within the bytes, and that lengths are valid: starts and stops may come from bytes
            /// of a mapped file, which can change.
            #[inline]
            $(#[$attribute])*
            fn of(texts: Texts<'a>, first: usize, limits: &ReadLimits) -> VectorGroup<'a> {
                let group = |numbers: &'a [u32]| -> &'a [u32; LANES] {
                    numbers[first..].first_chunk().expect("a whole group")
                };
                let (starts, stops) = (load(group(texts.starts)), load(group(texts.stops)));
                let is_outside =
                    or(greater(starts, limits.last_start), greater(stops, limits.last_stop));
                let has_no_length = or(greater(splat(0), starts), greater(starts, stops));
                if any(or(is_outside, has_no_length)) {
                    refuse(texts, first);
                }
                VectorGroup {
                    bytes: texts.bytes,
                    starts: group(texts.starts),
                    lengths: subtract(stops, starts),
                    seeds: load(group(texts.seeds)),
                }
            }
        }

        /// The hashes of some groups, and whether a text is too long for its lane; the hash of such
        /// a text is not valid. Steps that are a single chain of multiplications are interleaved
        /// for all groups.
        #[inline]
        $(#[$attribute])*
        fn hash_groups<const GROUPS: usize>(
            groups: &[VectorGroup<'_>; GROUPS],
        ) -> ([[u32; LANES]; GROUPS], bool) {
            let zero = splat(0);
            let (mut hashes, mut rests) = ([zero; GROUPS], [[zero; 4]; GROUPS]);
            let mut has_long = greater(zero, zero);
            for (at, group) in groups.iter().enumerate() {
                let is_long = greater(group.lengths, splat(LANE_LIMIT_BYTES as u32));
                has_long = or(has_long, is_long);
                let stripes = shift_right::<4>(group.lengths);
                hashes[at] = add(hash_stripes(group, stripes), group.lengths);
                // A lane that is too long would read too far; its result is not used.
                let rest_offsets = shift_left::<4>(select(is_long, zero, stripes));
                rests[at] = words_at(group, &store(rest_offsets));
            }
            hash_rests(groups, &rests, &mut hashes);
            let mut out = [[0; LANES]; GROUPS];
            for (hash, out) in hashes.into_iter().zip(&mut out) {
                *out = store(mix(hash));
            }
            (out, any(has_long))
        }

        /// The result of the stripes of each text: the merged accumulators, or the seed if there
        /// are no stripes.
        #[inline]
        $(#[$attribute])*
        fn hash_stripes(group: &VectorGroup<'_>, stripes: $vector) -> $vector {
            let seeds = group.seeds;
            let without_stripes = add(seeds, splat(PRIME_5));
            let rounds = (max(stripes) as usize).min(LANE_LIMIT_BYTES / STRIPE_BYTES);
            if rounds == 0 {
                return without_stripes;
            }
            let mut accumulators = [
                add(seeds, splat(PRIME_1.wrapping_add(PRIME_2))),
                add(seeds, splat(PRIME_2)),
                seeds,
                subtract(seeds, splat(PRIME_1)),
            ];
            for round in 0..rounds {
                let offset = (round * STRIPE_BYTES) as u32;
                let words = words_at(group, &[offset; LANES]);
                let is_active = greater(stripes, splat(round as u32));
                for (accumulator, word) in accumulators.iter_mut().zip(words) {
                    let sum = multiply_add(*accumulator, word, PRIME_2);
                    let next = multiply(rotate::<13, 19>(sum), PRIME_1);
                    *accumulator = select(is_active, next, *accumulator);
                }
            }
            let [one, two, three, four] = accumulators;
            let together = add(
                add(rotate::<1, 31>(one), rotate::<7, 25>(two)),
                add(rotate::<12, 20>(three), rotate::<18, 14>(four)),
            );
            select(greater(stripes, splat(0)), together, without_stripes)
        }

        /// The 16 bytes of the text of a lane that are `offsets` (at most [`LANE_LIMIT_BYTES`])
        /// after its start.
        #[inline]
        $(#[$attribute])*
        fn stripe(group: &VectorGroup<'_>, offsets: &[u32; LANES], lane: usize) -> __m128i {
            let at = group.starts[lane] as usize + offsets[lane] as usize;
            debug_assert!(at + STRIPE_BYTES <= group.bytes.len());
            const { assert!(LANE_LIMIT_BYTES + STRIPE_BYTES <= READ_BYTES) };
            // SAFETY: `VectorGroup::of` checked that `READ_BYTES` follow each start, and that no
            // length is negative for `greater`, so offsets are at most `LANE_LIMIT_BYTES`, which is
            // 16 less.
            unsafe { _mm_loadu_si128(group.bytes.as_ptr().add(at).cast()) }
        }

        #[inline]
        $(#[$attribute])*
        fn multiply_add(sum: $vector, value: $vector, prime: u32) -> $vector {
            add(sum, multiply(value, prime))
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use xxhash_rust::xxh32::xxh32;

use crate::simd::Level;

const PRIME_1: u32 = 0x9E37_79B1;
const PRIME_2: u32 = 0x85EB_CA77;
const PRIME_3: u32 = 0xC2B2_AE3D;
const PRIME_4: u32 = 0x27D4_EB2F;
const PRIME_5: u32 = 0x1656_67B1;

const STRIPE_BYTES: usize = 16;

/// Longer texts are hashed separately, so that they do not delay the other lanes.
const LANE_LIMIT_BYTES: usize = 10 * STRIPE_BYTES;

/// The number of bytes that are read from the start of a text, whatever its length: the stripes of
/// the longest text in a group, and the rest after them.
pub(super) const READ_BYTES: usize = LANE_LIMIT_BYTES + STRIPE_BYTES;

const _: () = assert!(READ_BYTES <= crate::normalize::compact::SLACK_BYTES);

/// The texts to hash: parts of the first 2 GiB of `bytes`, each from a start to a stop. All starts
/// are at least [`READ_BYTES`] before the end of `bytes`.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) starts: &'a [u32],
    pub(super) stops: &'a [u32],
    /// The seed of each.
    pub(super) seeds: &'a [u32],
}

impl Texts<'_> {
    /// Checks that everything that lanes may read is within the bytes, and that lengths are valid:
    /// starts and stops may come from bytes of a mapped file, which can change.
    #[inline(always)]
    fn check(self, first: usize, count: usize) {
        let mut furthest = 0;
        for at in first..first + count {
            let (start, stop) = (self.starts[at], self.stops[at]);
            assert!(start <= stop && stop as usize <= self.bytes.len(), "no part of the bytes");
            assert!(stop <= i32::MAX as u32, "too far from the front");
            furthest = furthest.max(start);
        }
        assert!(furthest as usize + READ_BYTES <= self.bytes.len(), "too near to the end");
    }
}

/// Appends the hash of each text. `level` must be available.
pub(super) fn hash_all(level: Level, texts: Texts<'_>, out: &mut Vec<u32>) {
    assert!(level.is_available());
    match level {
        Level::Portable => portable::hash_all(texts, out),
        // SAFETY: The assertion checked that the processor supports these instructions.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::hash_all(texts, out) },
        // SAFETY: The assertion checked that the processor supports these instructions.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::hash_all(texts, out) },
        // SAFETY: The assertion checked that the processor supports these instructions.
        #[cfg(target_arch = "aarch64")]
        Level::Neon => unsafe { neon::hash_all(texts, out) },
        _ => unreachable!("not available"),
    }
}

/// The texts of one group, one per lane. [`READ_BYTES`] are readable in `bytes` after each of
/// `starts`, which only [`LaneGroup::of`] sets.
struct LaneGroup<'a, const LANES: usize> {
    bytes: &'a [u8],
    starts: [u32; LANES],
    lengths: [u32; LANES],
    seeds: [u32; LANES],
}

impl<'a, const LANES: usize> LaneGroup<'a, LANES> {
    /// The texts from number `first` on; lanes after the last text are empty.
    #[inline(always)]
    fn of(texts: Texts<'a>, first: usize) -> Self {
        let (bytes, none) = (texts.bytes, [0; LANES]);
        let mut group = LaneGroup { bytes, starts: none, lengths: none, seeds: none };
        let count = (texts.starts.len() - first).min(LANES);
        texts.check(first, count);
        for lane in 0..count {
            let (start, stop) = (texts.starts[first + lane], texts.stops[first + lane]);
            group.starts[lane] = start;
            group.lengths[lane] = stop - start;
            group.seeds[lane] = texts.seeds[first + lane];
        }
        group
    }
}

/// Hashes the texts that are too long for a lane, and replaces their hashes.
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

    /// Both variants of the portable level, of which a processor uses one, and every other level.
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
        // Counts with every kind of end: interleaved groups, a single group, and too few texts for
        // a group.
        for level in Level::available() {
            for count in (0..=150).chain([starts.len() - 17, starts.len()]) {
                let texts = Texts {
                    bytes: &bytes,
                    starts: &starts[starts.len() - count..],
                    stops: &stops[starts.len() - count..],
                    seeds: &seeds[starts.len() - count..],
                };
                let mut found = Vec::new();
                hash_all(level, texts, &mut found);
                assert_eq!(found, expected[starts.len() - count..], "{} {count}", level.name());
            }
        }
    }

    /// For every lane of every group, an invalid text is detected before anything is read.
    #[test]
    fn texts_outside_of_the_bytes_are_refused() {
        let (bytes, short) = ([b'a'; 4 * READ_BYTES], [b'a'; READ_BYTES - 1]);
        let len = bytes.len() as u32;
        let slack = len - READ_BYTES as u32 + 1;
        let sign = 1 << 31;
        let wrong =
            [(2, 1), (0, len + 1), (slack, slack), (5, u32::MAX), (sign, sign + 1), (1, sign)];
        // The other portable variant processes one text at a time, and needs no slack.
        let others = Level::available().filter(|&level| level != Level::Portable);
        for level in std::iter::once(None).chain(others.map(Some)) {
            let name = level.map_or("portable", Level::name);
            let way = |texts: Texts<'_>, out: &mut Vec<u32>| match level {
                None => portable::hash_in_lanes(texts, out),
                Some(level) => hash_all(level, texts, out),
            };
            let refuses = |texts: Texts<'_>| {
                std::panic::catch_unwind(|| way(texts, &mut Vec::new())).is_err()
            };
            // Groups of 8 and 16, and four interleaved groups.
            for count in [1, 8, 16, 17, 32, 41, 64, 81] {
                let seeds = vec![0; count];
                let right = Texts { bytes: &bytes, starts: &seeds, stops: &seeds, seeds: &seeds };
                assert!(!refuses(right), "{name}: {count}");
                assert!(refuses(Texts { bytes: &short, ..right }), "{name}: {count} of too few");
                for (lane, (start, stop)) in (0..count).flat_map(|lane| wrong.map(|it| (lane, it)))
                {
                    let (mut starts, mut stops) = (vec![1; count], vec![3; count]);
                    (starts[lane], stops[lane]) = (start, stop);
                    let texts = Texts { starts: &starts, stops: &stops, ..right };
                    assert!(refuses(texts), "{name}: {start}..{stop} in lane {lane} of {count}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "too near to the end")]
    fn texts_without_slack_after_them_are_refused() {
        let texts = Texts { bytes: &[0; READ_BYTES], starts: &[1], stops: &[2], seeds: &[0] };
        hash_all(Level::best(), texts, &mut Vec::new());
    }
}
