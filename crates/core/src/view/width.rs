//! Which part of a long line its row shows: the beginning, some columns, or what is around a match.
//!
//! Columns are code points, counted from 1; offsets are bytes. No part begins or ends within a
//! code point.

use std::ops::Range;

/// Columns of a line, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The first one, from 1.
    pub from: u64,
    /// The last one; no less than the first.
    pub to: u64,
}

/// How much of each line is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// All of it.
    #[default]
    Whole,
    /// So many code points: the first ones, or those around a match.
    Chars(u64),
    /// These columns.
    Columns(Columns),
}

impl Width {
    /// What a request asks for. Who names columns has said how much there is to be shown.
    pub fn of(columns: Option<Columns>, max_line_chars: Option<u64>) -> Width {
        match (columns, max_line_chars) {
            (Some(columns), _) => Width::Columns(columns),
            (None, Some(chars)) => Width::Chars(chars),
            (None, None) => Width::Whole,
        }
    }

    /// Lines of so many bytes are shown whole, whatever stands in them.
    pub fn whole_bytes(self) -> usize {
        let chars = match self {
            Width::Whole => return usize::MAX,
            Width::Chars(chars) => chars,
            Width::Columns(Columns { from: 1, to }) => to,
            Width::Columns(_) => 0,
        };
        usize::try_from(chars).unwrap_or(usize::MAX)
    }

    /// The length of the first lines of `text` that are shown whole, whatever stands in them. It
    /// costs one look at each stretch that has room for a long line, and none at short lines.
    pub fn whole_lines_bytes(self, text: &[u8]) -> usize {
        let limit_bytes = self.whole_bytes();
        let mut at = 0;
        while text.len() - at > limit_bytes {
            match memchr::memrchr(b'\n', &text[at..=at + limit_bytes]) {
                Some(newline) => at += newline + 1,
                None => return at,
            }
        }
        text.len()
    }

    /// The part of a line that is shown; `found` is where the match is that it is shown for.
    pub fn part(self, line: &[u8], found: Option<Range<usize>>) -> Range<usize> {
        match self {
            Width::Whole => 0..line.len(),
            Width::Chars(chars) => around(line, found, Measure::Chars(to_size(chars))),
            Width::Columns(Columns { from, to }) => {
                let start = Measure::Chars(to_size(from.saturating_sub(1))).forward(line, 0);
                let more = to.saturating_add(1).saturating_sub(from.max(1));
                start..Measure::Chars(to_size(more)).forward(line, start)
            }
        }
    }
}

fn to_size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// How much may be shown.
#[derive(Clone, Copy)]
pub(super) enum Measure {
    Chars(usize),
    Bytes(usize),
}

/// The first so much of a line, or where a match would not be seen then, so much around it.
pub(super) fn around(line: &[u8], found: Option<Range<usize>>, much: Measure) -> Range<usize> {
    let head = much.forward(line, 0);
    let Some(found) = found.filter(|found| found.end > head && head < line.len()) else {
        return 0..head;
    };
    let found = found.start.min(line.len())..found.end.min(line.len());
    let spare = much.without(&line[found.clone()]);
    let start = spare.half().back(line, found.start);
    let end = much.forward(line, start);
    // There is nothing after the end: more can be shown before.
    let start = if end == line.len() { much.back(line, end) } else { start };
    start..end
}

impl Measure {
    /// The offset that lies so much further on; at the end when the line ends before.
    fn forward(self, line: &[u8], from: usize) -> usize {
        match self {
            Measure::Chars(count) => {
                let rest = &line[from..];
                // As many bytes hold no more code points than that.
                if rest.len() <= count { line.len() } else { from + chars_end(rest, count) }
            }
            Measure::Bytes(count) => {
                let end = from.saturating_add(count);
                if end >= line.len() { line.len() } else { boundary_below(line, end).max(from) }
            }
        }
    }

    /// The offset that lies so much before, no more; at the start when the line starts after it.
    fn back(self, line: &[u8], from: usize) -> usize {
        let mut at = boundary_below(line, from);
        match self {
            Measure::Chars(count) => {
                for _ in 0..count {
                    if at == 0 {
                        break;
                    }
                    at = boundary_below(line, at - 1);
                }
            }
            Measure::Bytes(count) => {
                at = at.min(boundary_above(line, from.saturating_sub(count)));
            }
        }
        at
    }

    /// What is left when a text is shown.
    fn without(self, text: &[u8]) -> Measure {
        match self {
            Measure::Chars(count) => Measure::Chars(count - chars_up_to(text, count)),
            Measure::Bytes(count) => Measure::Bytes(count.saturating_sub(text.len())),
        }
    }

    fn half(self) -> Measure {
        match self {
            Measure::Chars(count) => Measure::Chars(count / 2),
            Measure::Bytes(count) => Measure::Bytes(count / 2),
        }
    }
}

/// Bytes that are looked at together where code points are counted.
const COUNTED_BYTES: usize = 256;

fn is_start(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

fn count_chars(text: &[u8]) -> usize {
    text.iter().map(|&byte| usize::from(is_start(byte))).sum()
}

/// Where so many code points of a text end; its length when it has fewer.
fn chars_end(text: &[u8], mut count: usize) -> usize {
    let mut at = 0;
    for piece in text.chunks(COUNTED_BYTES) {
        let chars = count_chars(piece);
        if chars > count {
            let mut starts = piece.iter().enumerate().filter(|(_, byte)| is_start(**byte));
            return at + starts.nth(count).map_or(piece.len(), |(start, _)| start);
        }
        (count, at) = (count - chars, at + piece.len());
    }
    text.len()
}

/// How many code points a text has, at most so many.
fn chars_up_to(text: &[u8], limit: usize) -> usize {
    let mut chars = 0;
    for piece in text.chunks(COUNTED_BYTES) {
        chars += count_chars(piece);
        if chars >= limit {
            return limit;
        }
    }
    chars
}

fn boundary_below(line: &[u8], mut at: usize) -> usize {
    while at > 0 && at < line.len() && !is_start(line[at]) {
        at -= 1;
    }
    at
}

fn boundary_above(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && !is_start(line[at]) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same, code point by code point.
    fn naive(line: &str, found: Option<Range<usize>>, count: usize) -> Range<usize> {
        let starts: Vec<usize> =
            line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
        let chars = starts.len() - 1;
        let place = |offset: usize| starts.iter().rposition(|&at| at <= offset).unwrap();
        let range = |from: usize, to: usize| starts[from]..starts[to];
        let Some(found) = found else { return range(0, count.min(chars)) };
        let end = starts.iter().position(|&at| at >= found.end).unwrap();
        if chars <= count || end <= count {
            return range(0, count.min(chars));
        }
        let first = place(found.start);
        let spare = count - (end - first).min(count);
        let from = first.saturating_sub(spare / 2);
        if from + count >= chars {
            return range(chars.saturating_sub(count), chars);
        }
        range(from, from + count)
    }

    proptest! {
        #[test]
        fn parts_are_as_by_code_points(
            line in "[aé€\u{1f600} ]{0,40}",
            (from, len) in (0usize..40, 0usize..40),
            count in 0usize..45,
            is_match in any::<bool>(),
        ) {
            let chars: Vec<usize> =
                line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
            let from = from.min(chars.len() - 1);
            let to = (from + len).min(chars.len() - 1);
            let found = is_match.then(|| chars[from]..chars[to]);
            let part = Width::Chars(count as u64).part(line.as_bytes(), found.clone());
            prop_assert_eq!(part, naive(&line, found, count));
        }

        #[test]
        fn columns_are_code_points(
            line in "[aé€\u{1f600} ]{0,40}",
            (from, more) in (1u64..50, 0u64..50),
        ) {
            let columns = Columns { from, to: from + more };
            let part = Width::Columns(columns).part(line.as_bytes(), None);
            let expected: String =
                line.chars().skip(from as usize - 1).take(more as usize + 1).collect();
            prop_assert_eq!(&line[part], expected);
        }

        #[test]
        fn parts_by_bytes_are_whole_code_points_within_the_limit(
            line in "[aé€\u{1f600} ]{0,40}",
            (from, len) in (0usize..160, 0usize..160),
            count in 0usize..170,
        ) {
            let from = boundary_below(line.as_bytes(), from.min(line.len()));
            let to = boundary_below(line.as_bytes(), (from + len).min(line.len()));
            let part = around(line.as_bytes(), Some(from..to), Measure::Bytes(count));
            prop_assert!(part.len() <= count && line.get(part.clone()).is_some());
            let fits = to - from + 8 <= count;
            prop_assert!(!fits || (part.start <= from && to <= part.end), "{part:?} {from}..{to}");
        }

        /// A mapped file can change between two looks at it.
        #[test]
        fn any_bytes_have_parts(
            line in prop::collection::vec(prop_oneof![Just(0x80u8), any::<u8>()], 0..300),
            (from, to) in (0usize..310, 0usize..310),
            count in 0usize..310,
        ) {
            let found = Some(from.min(to)..from.max(to));
            for much in [Measure::Chars(count), Measure::Bytes(count)] {
                let part = around(&line, found.clone(), much);
                prop_assert!(part.start <= part.end && part.end <= line.len());
            }
        }

        #[test]
        fn lines_that_are_shown_whole_are_skipped(
            lengths in prop::collection::vec(0usize..12, 0..30),
            is_open in any::<bool>(),
            limit in 0u64..12,
        ) {
            let mut text: Vec<u8> = Vec::new();
            for length in &lengths {
                text.extend(std::iter::repeat_n(b'x', *length));
                text.push(b'\n');
            }
            if is_open {
                text.pop();
            }
            let is_short = |line: &&[u8]| line.len() <= limit as usize + 1;
            let expected: usize = text
                .split_inclusive(|&byte| byte == b'\n')
                .take_while(|line| is_short(line) && (line.ends_with(b"\n") || line.len() <= limit as usize))
                .map(<[u8]>::len)
                .sum();
            prop_assert_eq!(Width::Chars(limit).whole_lines_bytes(&text), expected);
            prop_assert_eq!(Width::Whole.whole_lines_bytes(&text), text.len());
        }
    }
}
