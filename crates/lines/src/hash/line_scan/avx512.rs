//! 64 bytes at a time: newlines, and letters and digits, become masks.

use std::arch::x86_64::{
    __m512i, __mmask64, _mm512_cmpeq_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_loadu_si512,
    _mm512_movepi8_mask, _mm512_or_si512, _mm512_set1_epi8, _mm512_sub_epi8,
};

use super::{BLOCK_BYTES, BlockBytes, LineMasks, LineScan};

scan_loop! { #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")] }

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
fn masks(block: &BlockBytes) -> LineMasks {
    // SAFETY: The block has the 64 bytes that are read.
    let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
    let is = |value: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(value as i8));
    LineMasks {
        newline: is(b'\n'),
        word: letters_and_digits(bytes),
        has_carriage_return: is(b'\r') != 0,
        is_ascii: _mm512_movepi8_mask(bytes) == 0,
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
fn letters_and_digits(bytes: __m512i) -> __mmask64 {
    // Converts upper case to lower case; no other byte becomes a letter.
    let small = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    is_among::<b'0', 10>(bytes) | is_among::<b'a', 26>(small)
}

/// Whether each byte is one of the `COUNT` bytes from `FIRST`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
fn is_among<const FIRST: u8, const COUNT: u8>(bytes: __m512i) -> __mmask64 {
    let from_first = _mm512_sub_epi8(bytes, _mm512_set1_epi8(FIRST as i8));
    _mm512_cmplt_epu8_mask(from_first, _mm512_set1_epi8(COUNT as i8))
}
