//! 64 bytes at a time: newlines, letters and digits become masks.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
};

use super::Outline;

const BLOCK_BYTES: usize = 64;

type BlockBytes = [u8; BLOCK_BYTES];

/// What is known of each byte of a block, one bit each, the first byte's lowest.
struct LineMasks {
    newline: u64,
    carriage_return: u64,
    /// Letters and digits of ASCII.
    word: u64,
    /// Part of a character outside ASCII.
    high: u64,
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn find(chunk: &[u8], out: &mut Outline) -> bool {
    out.is_ascii = true;
    let (blocks, rest) = chunk.as_chunks::<BLOCK_BYTES>();
    let mut has_word = false;
    for (index, block) in blocks.iter().enumerate() {
        if !put(block, index * BLOCK_BYTES, &mut has_word, out) {
            return false;
        }
    }
    if !rest.is_empty() {
        let mut block = [0; BLOCK_BYTES];
        block[..rest.len()].copy_from_slice(rest);
        if !put(&block, blocks.len() * BLOCK_BYTES, &mut has_word, out) {
            return false;
        }
    }
    // Not by a second look at the bytes, which may have changed.
    if out.bounds[out.lines] as usize != chunk.len() {
        out.end_line(chunk.len(), has_word);
    }
    true
}

/// Ends the lines that end in a block; false when it holds a carriage return. `has_word` is
/// about the line that is not over yet.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn put(block: &BlockBytes, at: usize, has_word: &mut bool, out: &mut Outline) -> bool {
    let LineMasks { mut newline, carriage_return, mut word, high } = masks(block);
    if carriage_return != 0 {
        return false;
    }
    out.is_ascii &= high == 0;
    while newline != 0 {
        let place = newline.trailing_zeros();
        // The bits up to the newline.
        let line = newline ^ (newline - 1);
        newline &= newline - 1;
        out.end_line(at + place as usize + 1, *has_word || word & line != 0);
        word &= !line;
        *has_word = false;
    }
    *has_word |= word != 0;
    true
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn masks(block: &BlockBytes) -> LineMasks {
    // SAFETY: The block has the 32 bytes at 0 and the 32 bytes at 32 that are read.
    let (low, high) = unsafe {
        let start = block.as_ptr();
        (_mm256_loadu_si256(start.cast()), _mm256_loadu_si256(start.add(32).cast()))
    };
    let is = |bytes, value: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(value as i8));
    LineMasks {
        newline: mask_of(is(low, b'\n'), is(high, b'\n')),
        carriage_return: mask_of(is(low, b'\r'), is(high, b'\r')),
        word: mask_of(letters_and_digits(low), letters_and_digits(high)),
        high: mask_of(low, high),
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn letters_and_digits(bytes: __m256i) -> __m256i {
    // Capital letters become small ones; no other byte becomes a letter by that.
    let small = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    _mm256_or_si256(is_among::<b'0', 10>(bytes), is_among::<b'a', 26>(small))
}

/// Whether each byte is one of `COUNT` from `FIRST` on: shifted so that they are the least of
/// all numbers with a sign.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn is_among<const FIRST: u8, const COUNT: u8>(bytes: __m256i) -> __m256i {
    let shifted = _mm256_add_epi8(bytes, _mm256_set1_epi8(0x80_u8.wrapping_sub(FIRST) as i8));
    _mm256_cmpgt_epi8(_mm256_set1_epi8((0x80 + COUNT) as i8), shifted)
}

/// The highest bit of each byte of both halves.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn mask_of(low: __m256i, high: __m256i) -> u64 {
    let (low, high) = (_mm256_movemask_epi8(low) as u32, _mm256_movemask_epi8(high) as u32);
    u64::from(low) | u64::from(high) << 32
}
