//! What the in-memory modules of dialects `omp` and `omp13` need beside formatting and hashing.
//!
//! Their edits are applied in JavaScript, to JavaScript's own strings: a string may hold half
//! of a surrogate pair, which UTF-8 cannot, and has to come back to the character. What is here
//! gains by native code all the same: finding lines.

/// A text in blocks of this many code units is what [`count_line_feeds`] counts in.
pub const BLOCK_UNITS: usize = 128;

/// A code unit of a text.
pub trait CodeUnit: Copy {
    /// How many line feeds there are in a block. Sums as narrow as the units are what compilers
    /// turn into vector instructions; one of bytes has room for a block.
    fn count_line_feeds(block: &[Self]) -> u32;
}

impl CodeUnit for u8 {
    fn count_line_feeds(block: &[u8]) -> u32 {
        u32::from(block.iter().map(|&unit| u8::from(unit == b'\n')).sum::<u8>())
    }
}

impl CodeUnit for u16 {
    fn count_line_feeds(block: &[u16]) -> u32 {
        u32::from(block.iter().map(|&unit| u16::from(unit == u16::from(b'\n'))).sum::<u16>())
    }
}

/// Writes to `counts` how many line feeds stand before each block of `text`, and then how many
/// there are in all. Whoever has the text finds any line by looking through one block.
///
/// `counts` has one element more than the text has blocks; what has no room is left out.
pub fn count_line_feeds<U: CodeUnit>(text: &[U], counts: &mut [u32]) {
    let mut total = 0;
    let mut counts = counts.iter_mut();
    for block in text.chunks(BLOCK_UNITS) {
        let Some(count) = counts.next() else { return };
        *count = total;
        total += U::count_line_feeds(block);
    }
    if let Some(count) = counts.next() {
        *count = total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn line_feeds_are_counted(
            units in proptest::collection::vec(prop_oneof![Just(10u16), Just(13), Just(0x0a0a), any::<u16>()], 0..1000),
            room in 0usize..12,
        ) {
            let bytes: Vec<u8> = units.iter().map(|&unit| unit as u8).collect();
            let naive = |is_line_feed: &dyn Fn(usize) -> bool| -> Vec<u32> {
                let blocks = units.len().div_ceil(BLOCK_UNITS);
                let ends = (0..blocks).map(|block| block * BLOCK_UNITS).chain([units.len()]);
                ends.take(room).map(|end| (0..end).filter(|&at| is_line_feed(at)).count() as u32).collect()
            };
            let room = room.min(units.len().div_ceil(BLOCK_UNITS) + 1);
            let (mut narrow, mut wide) = (vec![0; room], vec![0; room]);
            count_line_feeds(&bytes, &mut narrow);
            count_line_feeds(&units, &mut wide);
            prop_assert_eq!(narrow, naive(&|at| bytes[at] == b'\n'));
            prop_assert_eq!(wide, naive(&|at| units[at] == u16::from(b'\n')));
        }
    }
}
