//! 64 bytes at a time: newlines, and letters and digits, become masks.

use std::arch::aarch64::{uint8x16_t, vceqq_u8, vcltq_u8, vdupq_n_u8, vorrq_u8, vsubq_u8};

use super::{BLOCK_BYTES, BlockBytes, LineMasks, LineScan};
use crate::simd::neon::{highest_of, load_quarters, mask_of};

scan_loop! { #[target_feature(enable = "neon")] }

#[inline]
#[target_feature(enable = "neon")]
fn masks(block: &BlockBytes) -> LineMasks {
    let bytes = load_quarters(block);
    let is = |value: u8| bytes.map(|it| vceqq_u8(it, vdupq_n_u8(value)));
    LineMasks {
        newline: mask_of(is(b'\n')),
        has_carriage_return: highest_of(is(b'\r')) != 0,
        word: mask_of(bytes.map(|it| letters_and_digits(it))),
        is_ascii: highest_of(bytes) < 0x80,
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn letters_and_digits(bytes: uint8x16_t) -> uint8x16_t {
    // Converts upper case to lower case; no other byte becomes a letter.
    let small = vorrq_u8(bytes, vdupq_n_u8(0x20));
    vorrq_u8(is_among::<b'0', 10>(bytes), is_among::<b'a', 26>(small))
}

/// Whether each byte is one of the `COUNT` bytes from `FIRST`.
#[inline]
#[target_feature(enable = "neon")]
fn is_among<const FIRST: u8, const COUNT: u8>(bytes: uint8x16_t) -> uint8x16_t {
    vcltq_u8(vsubq_u8(bytes, vdupq_n_u8(FIRST)), vdupq_n_u8(COUNT))
}
