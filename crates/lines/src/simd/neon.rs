//! What the kernels for NEON have in common: how they look at a block of 64 bytes, and what they
//! make a mask of.

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

/// One bit for each byte, the first byte's lowest. Each byte must be 0 or 0xFF.
#[inline]
#[target_feature(enable = "neon")]
pub fn mask_of(quarters: Quarters) -> u64 {
    const BIT_OF_PLACE: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    let bits = load(&BIT_OF_PLACE);
    let [first, second, third, fourth] = quarters.map(|quarter| vandq_u8(quarter, bits));
    // Each sum of two neighbours halves the bytes; after three, eight bits make a byte.
    let halves = vpaddq_u8(vpaddq_u8(first, second), vpaddq_u8(third, fourth));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)))
}

/// 0 when all bytes are 0, and at least 0x80 when one of them is.
#[inline]
#[target_feature(enable = "neon")]
pub fn highest_of(quarters: Quarters) -> u8 {
    let [first, second, third, fourth] = quarters;
    vmaxvq_u8(vorrq_u8(vorrq_u8(first, second), vorrq_u8(third, fourth)))
}
