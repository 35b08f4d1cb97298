//! What the in-memory modules of dialects `omp` and `omp13` need beside formatting and hashing.
//!
//! Their edits are applied in JavaScript, to JavaScript's own strings: a string may hold half
//! of a surrogate pair, which UTF-8 cannot, and has to come back to the character. What is here
//! are the two parts that gain by native code: finding lines, and the repairs of a text that
//! the engine's own edits know too.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::edit::repair::{Draft, Place, Rule, Rules, Subject, repair};
use crate::text::dialect::Dialect;

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

static LAYOUT_RULES: LazyLock<Rules> =
    LazyLock::new(|| Rules::of(&[Rule::Echoes, Rule::Wraps, Rule::PairedIndent]));
static MERGE_RULE: LazyLock<Rules> = LazyLock::new(|| Rules::of(&[Rule::Merges]));

/// New lines and what stands around the place they go to. `replaced` is empty for an insert,
/// which then has a line above, or below, or both.
pub struct Edit {
    /// The line before the place.
    pub above: Option<String>,
    /// The lines that are replaced.
    pub replaced: Vec<String>,
    /// The line behind the place.
    pub below: Option<String>,
    /// The new lines.
    pub lines: Vec<String>,
}

impl Edit {
    /// The new lines without echoes, wraps and lost indentation; `None` when there was nothing
    /// to mend.
    pub fn mended(self, dialect: &'static Dialect) -> Option<Vec<String>> {
        let before = self.lines.clone();
        let after = self.repaired(dialect, &LAYOUT_RULES)?.lines;
        (after != before).then_some(after)
    }

    /// Which lines are replaced when the new one also holds a neighbour of the replaced one: how
    /// many above and how many below. A neighbour that another edit touches is left out.
    pub fn merged(self, dialect: &'static Dialect) -> (u64, u64) {
        let count = self.replaced.len() as u64;
        match self.repaired(dialect, &MERGE_RULE).map(|draft| draft.place) {
            Some(Place::Lines(first, last)) => (ABOVE + 1 - first, last - ABOVE - count),
            _ => (0, 0),
        }
    }

    fn place(&self) -> Option<Place> {
        Some(match (self.replaced.len() as u64, &self.above, &self.below) {
            (0, Some(_), Some(_)) => Place::Between(ABOVE, ABOVE + 1),
            (0, Some(_), None) => Place::After(ABOVE),
            (0, None, Some(_)) => Place::Before(ABOVE + 1),
            (0, None, None) => return None,
            (count, ..) => Place::Lines(ABOVE + 1, ABOVE + count),
        })
    }

    fn repaired(self, dialect: &'static Dialect, rules: &Rules) -> Option<Draft> {
        let place = self.place()?;
        let below = ABOVE + 1 + self.replaced.len() as u64;
        let line = |number: u64| match number {
            ABOVE => self.above.as_deref(),
            number if number == below => self.below.as_deref(),
            number => {
                self.replaced.get(number.checked_sub(ABOVE + 1)? as usize).map(|text| &**text)
            }
        };
        let line = |number| line(number).map(Cow::Borrowed);
        let subject = Subject { dialect, line: &line, is_touched: &|_| false };
        Some(repair(rules, &subject, Draft { place, lines: self.lines.clone() }, &mut Vec::new()))
    }
}

/// The number of the line above, in the little file that an [`Edit`] is to the repairs.
const ABOVE: u64 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn omp() -> &'static Dialect {
        Dialect::by_name("omp").unwrap()
    }

    fn edit(above: Option<&str>, replaced: &[&str], below: Option<&str>, lines: &[&str]) -> Edit {
        let owned = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
        Edit {
            above: above.map(str::to_owned),
            replaced: owned(replaced),
            below: below.map(str::to_owned),
            lines: owned(lines),
        }
    }

    #[test]
    fn texts_are_mended() {
        let check = |edit: Edit, expected: Option<&[&str]>| {
            let expected: Option<Vec<String>> =
                expected.map(|lines| lines.iter().map(|&line| line.to_owned()).collect());
            assert_eq!(edit.mended(omp()), expected);
        };
        check(edit(Some("a"), &[], None, &["a", "x"]), Some(&["x"]));
        check(edit(None, &[], Some("b"), &["x", " b"]), Some(&["x"]));
        check(edit(Some("a"), &[], Some("b"), &["a", "b"]), Some(&["b"]));
        check(edit(Some("a"), &["o"], Some("b"), &["a", "x", "b"]), Some(&["x"]));
        check(edit(Some("a"), &["o"], Some("b"), &["a", "b"]), Some(&[]));
        check(edit(None, &["\tfoo(bar);"], None, &["foo(", "bar);"]), Some(&["\tfoo(bar);"]));
        check(edit(None, &["\u{feff} o"], None, &["x"]), Some(&["\u{feff} x"]));
        check(edit(None, &["  o"], None, &["", "x"]), None);
        check(edit(None, &[], None, &["x", "x"]), None);
    }

    #[test]
    fn merged_neighbours_are_found() {
        let check = |edit: Edit, expected| assert_eq!(edit.merged(omp()), expected);
        check(edit(None, &["a &&"], Some("b"), &["a && b"]), (0, 1));
        check(edit(Some("a ||"), &["b"], None, &["a && b"]), (1, 0));
        check(edit(Some("a"), &["b"], Some("c"), &["abc"]), (0, 0));
        // The slack of 32 counts code units: an emoji is two.
        let long = |emoji: usize| format!("a &&{}b", "🎉".repeat(emoji));
        check(edit(None, &["a &&"], Some("b"), &[&long(16)]), (0, 1));
        check(edit(None, &["a &&"], Some("b"), &[&long(17)]), (0, 0));
    }

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
