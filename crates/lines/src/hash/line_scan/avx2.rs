//! 64 bytes at a time: newlines, and letters and digits, become masks.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
};

use super::{BLOCK_BYTES, BlockBytes, LineMasks, LineScan};

scan_loop! { #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")] }

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
        word: mask_of(letters_and_digits(low), letters_and_digits(high)),
        has_carriage_return: mask_of(is(low, b'\r'), is(high, b'\r')) != 0,
        is_ascii: mask_of(low, high) == 0,
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn letters_and_digits(bytes: __m256i) -> __m256i {
    // Converts upper case to lower case; no other byte becomes a letter.
    let small = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    _mm256_or_si256(is_among::<b'0', 10>(bytes), is_among::<b'a', 26>(small))
}

/// Whether each byte is one of the `COUNT` bytes from `FIRST`. Bytes are shifted so that these
/// become the smallest signed numbers.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn is_among<const FIRST: u8, const COUNT: u8>(bytes: __m256i) -> __m256i {
    let shifted = _mm256_add_epi8(bytes, _mm256_set1_epi8(0x80_u8.wrapping_sub(FIRST) as i8));
    _mm256_cmpgt_epi8(_mm256_set1_epi8((0x80 + COUNT) as i8), shifted)
}

/// The highest bits of the bytes of both halves.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn mask_of(low: __m256i, high: __m256i) -> u64 {
    let (low, high) = (_mm256_movemask_epi8(low) as u32, _mm256_movemask_epi8(high) as u32);
    u64::from(low) | u64::from(high) << 32
}
