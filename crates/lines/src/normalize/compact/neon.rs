//! 64 bytes at a time: the bytes to remove become a mask, and the kept bytes are moved together,
//! eight at a time, by a table lookup.

use std::arch::aarch64::{
    uint8x16x4_t, vandq_u8, vceqq_u8, vcltzq_s8, vcnt_u8, vcreate_u8, vdupq_n_u8, vget_lane_u64,
    vld1_u8, vorrq_u8, vqtbl1q_u8, vqtbl4q_u8, vreinterpret_u64_u8, vreinterpretq_s8_u8, vst1_u8,
    vsubq_u8, vtbl1_u8, vtstq_u8,
};

use super::{
    ANY_THIRD_FORMS, BLOCK_BYTES, BlockWindow, Compactor, Drops, FITTING_FORMS, KEPT_INDICES,
    KeptMasks, OutputBlock, Writer,
};
use crate::simd::neon::{Quarters, highest_of, load, load_quarters, mask_of};

block_loop! { #[target_feature(enable = "neon")] }

/// Moves the kept bytes of a block to the front of `out`; the content after them is unspecified.
#[inline]
#[target_feature(enable = "neon")]
fn compress(window: &BlockWindow, kept: u64, out: &mut OutputBlock) {
    // In each byte, the number of bytes kept up to the end of that group of eight, at most 64.
    let counts = vget_lane_u64::<0>(vreinterpret_u64_u8(vcnt_u8(vcreate_u8(kept))));
    let kept_up_to = counts.wrapping_mul(0x0101_0101_0101_0101);
    let mut before = 0;
    for group in 0..BLOCK_BYTES / 8 {
        let mask = (kept >> (8 * group)) as u8;
        // SAFETY: The eight bytes read are within the window, because `group < 8`. The eight bytes
        // written start at the number of kept bytes among the first `8 * group`, which is at most
        // `8 * group`, so they end within `out`.
        unsafe {
            let bytes = vld1_u8(window.as_ptr().add(8 * group));
            let indices = vld1_u8(KEPT_INDICES[usize::from(mask)].as_ptr());
            vst1_u8(out.as_mut_ptr().add(before), vtbl1_u8(bytes, indices));
        }
        before = (kept_up_to >> (8 * group)) as u8 as usize;
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn masks(drops: &Drops, window: &BlockWindow) -> KeptMasks {
    let bytes = load_quarters(window);
    let table = load(&drops.by_low_half);
    // The lookup indexes by the low half of a byte; a non-ASCII byte is outside of the table, which
    // gives 0.
    let half = vdupq_n_u8(0x8F);
    let dropped = bytes.map(|it| vceqq_u8(vqtbl1q_u8(table, vandq_u8(it, half)), it));
    let newline = match drops.newline {
        Some(byte) => mask_of(bytes.map(|it| vceqq_u8(it, vdupq_n_u8(byte)))),
        None => 0,
    };
    let high = if highest_of(bytes) < 0x80 {
        0
    } else {
        mask_of(bytes.map(|it| vcltzq_s8(vreinterpretq_s8_u8(it))))
    };
    KeptMasks { kept: !mask_of(dropped), newline, high }
}

/// The offsets at which a character may start that is changed, as in [`super::may_be_special`].
#[inline]
#[target_feature(enable = "neon")]
fn special_mask(window: &BlockWindow) -> u64 {
    let [firsts, seconds, thirds] = &FITTING_FORMS;
    // First bytes start with the bits 11, and those after them with 10; others are outside of the
    // table, which gives 0.
    let firsts = look_up(firsts, 0xC0, load_quarters(window));
    if highest_of(firsts) == 0 {
        return 0;
    }
    let seconds = look_up(seconds, 0x80, load_quarters(&window[1..]));
    let thirds = look_up(thirds, 0x80, load_quarters(&window[2..]));
    let any_third = vdupq_n_u8(ANY_THIRD_FORMS);
    mask_of(std::array::from_fn(|at| {
        vtstq_u8(vandq_u8(firsts[at], seconds[at]), vorrq_u8(thirds[at], any_third))
    }))
}

/// The entries of the table for the 64 bytes from `first`, and 0 for other bytes.
#[inline]
#[target_feature(enable = "neon")]
fn look_up(table: &[u8; 256], first: u8, bytes: Quarters) -> Quarters {
    let [one, two, three, four] = load_quarters(&table[usize::from(first)..]);
    let table = uint8x16x4_t(one, two, three, four);
    bytes.map(|it| vqtbl4q_u8(table, vsubq_u8(it, vdupq_n_u8(first))))
}
