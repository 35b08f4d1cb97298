//! xxHash32 of several lines at once, one in each lane of a vector, so that their chains of
//! multiplications overlap.
//!
//! The algorithm, for each text: 16 bytes at a time go into four accumulators (a stripe);
//! then what is left, four bytes at a time, and then byte by byte; then all bits are mixed.
//! Lanes take the same steps; a lane that has no such step keeps its value.

/// What levels with vectors have in common: the way through the texts, and the steps after the
/// stripes. It is a macro because functions with different instructions cannot be inlined into
/// one that is shared. The module that uses it has `LANES`, `TOGETHER`, the three types, of which
/// `$limits::of(&[u8])` and `$group::of(Texts, usize, &$limits)` make two, `hash_groups`, and the
/// operations on `$vector` that are called here, all with the same attributes.
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
            while first + TOGETHER * LANES <= whole {
                put::<TOGETHER>(texts, first, &limits, out);
                first += TOGETHER * LANES;
            }
            while first < whole {
                put::<1>(texts, first, &limits, out);
                first += LANES;
            }
            if first < count {
                put_last(texts, first, &limits, out);
            }
        }

        /// Appends the hashes of so many groups, of which text number `first` is the first.
        #[inline]
        $(#[$attribute])*
        fn put<const GROUPS: usize>(
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

        /// Appends the hashes of the last texts, which are too few for a group.
        #[cold]
        $(#[$attribute])*
        fn put_last(texts: Texts<'_>, first: usize, limits: &$limits, out: &mut Vec<u32>) {
            let count = texts.starts.len() - first;
            // Lanes after the last text have no text.
            let start = texts.starts[first];
            let [mut starts, mut stops, mut seeds] = [[start; LANES], [start; LANES], [0; LANES]];
            starts[..count].copy_from_slice(&texts.starts[first..]);
            stops[..count].copy_from_slice(&texts.stops[first..first + count]);
            seeds[..count].copy_from_slice(&texts.seeds[first..first + count]);
            let padded = Texts { bytes: texts.bytes, starts: &starts, stops: &stops, seeds: &seeds };
            let end = out.len() + count;
            put::<1>(padded, 0, limits, out);
            out.truncate(end);
        }

        /// Says what is wrong with a text of the group that begins with text number `first`.
        #[cold]
        #[inline(never)]
        fn refuse(texts: Texts<'_>, first: usize) -> ! {
            texts.check(first, LANES);
            unreachable!("vectors refuse what the check refuses");
        }

        /// Puts the last `length % 16` bytes of each text into its hash; they stand at the front of
        /// `rests`.
        #[inline]
        $(#[$attribute])*
        fn hash_rests<const GROUPS: usize>(
            groups: &[$group<'_>; GROUPS],
            rests: &[[$vector; 4]; GROUPS],
            hashes: &mut [$vector; GROUPS],
        ) {
            // The word that holds the bytes after the last whole word.
            let mut last = rests.map(|rest| rest[0]);
            for place in 0..3 {
                for at in 0..GROUPS {
                    let words = both(shift_right::<2>(groups[at].lengths), splat(3));
                    let is_live = greater(words, splat(place));
                    let sum = multiply_add(hashes[at], rests[at][place as usize], PRIME_3);
                    let next = multiply(rotate::<17, 15>(sum), PRIME_4);
                    hashes[at] = select(is_live, next, hashes[at]);
                    last[at] = select(is_live, rests[at][place as usize + 1], last[at]);
                }
            }
            for place in 0..3 {
                for at in 0..GROUPS {
                    let bytes = both(groups[at].lengths, splat(3));
                    let is_live = greater(bytes, splat(place));
                    let byte = both(last[at], splat(0xFF));
                    last[at] = shift_right::<8>(last[at]);
                    let sum = multiply_add(hashes[at], byte, PRIME_5);
                    let next = multiply(rotate::<11, 21>(sum), PRIME_1);
                    hashes[at] = select(is_live, next, hashes[at]);
                }
            }
        }

        /// The last step: every bit of the input reaches every bit of the hash.
        #[inline]
        $(#[$attribute])*
        fn mix(hash: $vector) -> $vector {
            let hash = multiply(differing(hash, shift_right::<15>(hash)), PRIME_2);
            let hash = multiply(differing(hash, shift_right::<13>(hash)), PRIME_3);
            differing(hash, shift_right::<16>(hash))
        }
    };
}

/// What levels have in common whose vectors hold one text in each lane from its first stripe on
/// (x86-64): `VectorGroup`, `ReadLimits` and `hash_groups`, for [`lane_loop`]. The module that uses
/// it has `words_at`, `greatest`, and the operations on `$vector` that are called here, all with the
/// same attributes; `greater` makes a mask, which `either`, `any` and `select` take.
#[cfg(target_arch = "x86_64")]
macro_rules! stripe_lanes {
    ($(#[$attribute:meta])* $vector:ident) => {
        /// Where texts may start and stop at most, for comparisons of numbers with signs.
        struct ReadLimits {
            last_start: $vector,
            last_stop: $vector,
        }

        impl ReadLimits {
            #[inline]
            $(#[$attribute])*
            fn of(bytes: &[u8]) -> ReadLimits {
                let limit = |len: usize| splat(i32::try_from(len).unwrap_or(i32::MAX) as u32);
                // Where there are too few bytes, no number is small enough.
                let last_start = bytes.len().checked_sub(READ_BYTES).map_or(splat(u32::MAX), limit);
                ReadLimits { last_start, last_stop: limit(bytes.len()) }
            }
        }

        /// The texts of one group, one in each lane. [`READ_BYTES`] stand in `bytes` after each of
        /// `starts`, and no length is negative; nothing but [`VectorGroup::of`] makes one.
        struct VectorGroup<'a> {
            bytes: &'a [u8],
            starts: &'a [u32; LANES],
            lengths: $vector,
            seeds: $vector,
        }

        impl<'a> VectorGroup<'a> {
            /// The texts from number `first` on. Checks that all that lanes may read is within the
            /// bytes, and that lengths are what they seem: bytes of a mapped file change under those
            /// who make starts and stops of them.
            #[inline]
            $(#[$attribute])*
            fn of(texts: Texts<'a>, first: usize, limits: &ReadLimits) -> VectorGroup<'a> {
                let group = |numbers: &'a [u32]| -> &'a [u32; LANES] {
                    numbers[first..].first_chunk().expect("a whole group")
                };
                let (starts, stops) = (load(group(texts.starts)), load(group(texts.stops)));
                let is_outside =
                    either(greater(starts, limits.last_start), greater(stops, limits.last_stop));
                let has_no_length = either(greater(splat(0), starts), greater(starts, stops));
                if any(either(is_outside, has_no_length)) {
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

        /// The hashes of some groups, and whether some text is too long for its lane, whose hash
        /// then is not its hash. What has only one chain of multiplications is done for all groups
        /// together.
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
                has_long = either(has_long, is_long);
                let stripes = shift_right::<4>(group.lengths);
                hashes[at] = add(hash_stripes(group, stripes), group.lengths);
                // In a lane that is too long, the reading would go too far; its result is not used.
                let behind = shift_left::<4>(select(is_long, zero, stripes));
                rests[at] = words_at(group, &store(behind));
            }
            hash_rests(groups, &rests, &mut hashes);
            let mut out = [[0; LANES]; GROUPS];
            for (hash, out) in hashes.into_iter().zip(&mut out) {
                *out = store(mix(hash));
            }
            (out, any(has_long))
        }

        /// What the stripes of each text make of its seed: the accumulators put together, or where
        /// there are no stripes, the seed itself.
        #[inline]
        $(#[$attribute])*
        fn hash_stripes(group: &VectorGroup<'_>, stripes: $vector) -> $vector {
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
                subtract(seeds, splat(PRIME_1)),
            ];
            for round in 0..rounds {
                let offset = (round * STRIPE_BYTES) as u32;
                let words = words_at(group, &[offset; LANES]);
                let is_live = greater(stripes, splat(round as u32));
                for (accumulator, word) in accumulators.iter_mut().zip(words) {
                    let sum = multiply_add(*accumulator, word, PRIME_2);
                    let next = multiply(rotate::<13, 19>(sum), PRIME_1);
                    *accumulator = select(is_live, next, *accumulator);
                }
            }
            let [one, two, three, four] = accumulators;
            let together = add(
                add(rotate::<1, 31>(one), rotate::<7, 25>(two)),
                add(rotate::<12, 20>(three), rotate::<18, 14>(four)),
            );
            select(greater(stripes, splat(0)), together, without_stripes)
        }

        /// The 16 bytes of a lane's text that are `offsets` (at most [`LANE_LIMIT_BYTES`]) after
        /// its start.
        #[inline]
        $(#[$attribute])*
        fn stripe(group: &VectorGroup<'_>, offsets: &[u32; LANES], lane: usize) -> __m128i {
            let at = group.starts[lane] as usize + offsets[lane] as usize;
            debug_assert!(at + STRIPE_BYTES <= group.bytes.len());
            const { assert!(LANE_LIMIT_BYTES + STRIPE_BYTES <= READ_BYTES) };
            // SAFETY: `VectorGroup::of` made sure that `READ_BYTES` stand after each start, and
            // that no length is negative as `greater` sees it, so that offsets are at most
            // `LANE_LIMIT_BYTES`, which is 16 less.
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

/// Longer texts are hashed alone, so that they do not hold up the other lanes.
const LANE_LIMIT_BYTES: usize = 10 * STRIPE_BYTES;

/// What is read after the start of a text, whatever its length: the stripes of the longest
/// text in a group, and what is left after them.
pub(super) const READ_BYTES: usize = LANE_LIMIT_BYTES + STRIPE_BYTES;

const _: () = assert!(READ_BYTES <= crate::normalize::compact::SLACK_BYTES);

/// The texts whose hashes are asked for: parts of the first 2 GiB of `bytes`, from a start to a
/// stop each, all starts at least [`READ_BYTES`] before the end of `bytes`.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) starts: &'a [u32],
    pub(super) stops: &'a [u32],
    /// The seed of each.
    pub(super) seeds: &'a [u32],
}

impl Texts<'_> {
    /// Checks that all that lanes may read is within the bytes, and that lengths are what they
    /// seem: bytes of a mapped file change under those who make starts and stops of them.
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
        // SAFETY: The line above made sure that the processor has these instructions.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2::hash_all(texts, out) },
        // SAFETY: The line above made sure that the processor has these instructions.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512::hash_all(texts, out) },
        // SAFETY: The line above made sure that the processor has these instructions.
        #[cfg(target_arch = "aarch64")]
        Level::Neon => unsafe { neon::hash_all(texts, out) },
        _ => unreachable!("not available"),
    }
}

/// The texts of one group, one in each lane. [`READ_BYTES`] stand in `bytes` after each of
/// `starts`, which nothing but [`LaneGroup::of`] sets.
struct LaneGroup<'a, const LANES: usize> {
    bytes: &'a [u8],
    starts: [u32; LANES],
    lengths: [u32; LANES],
    seeds: [u32; LANES],
}

impl<'a, const LANES: usize> LaneGroup<'a, LANES> {
    /// The texts from number `first` on; lanes after the last text have no text.
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
        // Counts that end in each way: groups together, one alone, and texts too few for one.
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

    /// Every lane of every group: what is wrong with one text is seen before anything is read.
    #[test]
    fn texts_that_are_no_part_of_the_bytes_are_refused() {
        let (bytes, short) = ([b'a'; 4 * READ_BYTES], [b'a'; READ_BYTES - 1]);
        let len = bytes.len() as u32;
        let slack = len - READ_BYTES as u32 + 1;
        let sign = 1 << 31;
        let wrong =
            [(2, 1), (0, len + 1), (slack, slack), (5, u32::MAX), (sign, sign + 1), (1, sign)];
        // One at a time, which is the other portable way, needs no slack.
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
            // Groups of 8 and 16, and four of them together.
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
    fn texts_without_slack_behind_them_are_refused() {
        let texts = Texts { bytes: &[0; READ_BYTES], starts: &[1], stops: &[2], seeds: &[0] };
        hash_all(Level::best(), texts, &mut Vec::new());
    }
}
