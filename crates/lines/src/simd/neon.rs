//! Common parts of the NEON kernels: loading a block of 64 bytes, and building masks.

use std::arch::aarch64::{
    uint8x16_t, vandq_u8, vgetq_lane_u64, vld1q_u8, vmaxvq_u8, vorrq_u8, vpaddq_u8,
    vreinterpretq_u64_u8,
};

/// 64 bytes.
pub type Quarters = [uint8x16_t; 4];

/// 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
pub fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: The array has the 16 bytes that are read.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// The first 64 bytes of a slice.
#[inline]
#[target_feature(enable = "neon")]
pub fn load_quarters(bytes: &[u8]) -> Quarters {
    let (quarters, _) = bytes.as_chunks();
    std::array::from_fn(|at| load(&quarters[at]))
}

/// One bit per byte, starting at the lowest bit. Each byte must be 0 or 0xFF.
#[inline]
#[target_feature(enable = "neon")]
pub fn mask_of(quarters: Quarters) -> u64 {
    const BIT_OF_PLACE: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    let bits = load(&BIT_OF_PLACE);
    let [first, second, third, fourth] = quarters.map(|quarter| vandq_u8(quarter, bits));
    // Each pairwise addition halves the number of bytes; after three, eight bits form a byte.
    let halves = vpaddq_u8(vpaddq_u8(first, second), vpaddq_u8(third, fourth));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)))
}

/// The maximum of the bitwise OR of the quarters: 0 if all bytes are 0, and at least 0x80 if any
/// byte is.
#[inline]
#[target_feature(enable = "neon")]
pub fn highest_of(quarters: Quarters) -> u8 {
    let [first, second, third, fourth] = quarters;
    vmaxvq_u8(vorrq_u8(vorrq_u8(first, second), vorrq_u8(third, fourth)))
}
