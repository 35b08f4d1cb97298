//! Which part of a long line is shown: its start, given columns, or the text around a match.
//!
//! Columns are code points, from 1; offsets are bytes. A part never splits a code point.

use std::ops::Range;

/// A range of columns, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The first column, from 1.
    pub from: u64,
    /// The last column, at least `from`.
    pub to: u64,
}

/// How amount of each line to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// The whole line.
    #[default]
    Whole,
    /// At most this number of code points: the first ones, or those around the match.
    Chars(u64),
    /// Only these columns.
    Columns(Columns),
}

impl Width {
    /// The width that a request asks for; `columns` takes precedence.
    pub fn of(columns: Option<Columns>, max_line_chars: Option<u64>) -> Width {
        match (columns, max_line_chars) {
            (Some(columns), _) => Width::Columns(columns),
            (None, Some(chars)) => Width::Chars(chars),
            (None, None) => Width::Whole,
        }
    }

    /// The length up to which a line is certain to be shown in full.
    pub fn whole_bytes(self) -> usize {
        let chars = match self {
            Width::Whole => return usize::MAX,
            Width::Chars(chars) => chars,
            Width::Columns(Columns { from: 1, to }) => to,
            Width::Columns(_) => 0,
        };
        usize::try_from(chars).unwrap_or(usize::MAX)
    }

    /// The length of the longest prefix of whole lines that are certain to be shown in full. Costs
    /// one scan for each run of `whole_bytes` bytes, not one for each line.
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

    /// The part of a line to show; `matched` is the range of the match in it.
    pub fn part(self, line: &[u8], matched: Option<Range<usize>>) -> Range<usize> {
        match self {
            Width::Whole => 0..line.len(),
            Width::Chars(chars) => window_around(line, matched, Amount::Chars(to_size(chars))),
            Width::Columns(Columns { from, to }) => {
                let start = Amount::Chars(to_size(from.saturating_sub(1))).forward(line, 0);
                let more = to.saturating_add(1).saturating_sub(from.max(1));
                start..Amount::Chars(to_size(more)).forward(line, start)
            }
        }
    }
}

fn to_size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// An amount of text.
#[derive(Clone, Copy)]
pub(super) enum Amount {
    Chars(usize),
    Bytes(usize),
}

/// The first `amount` of a line or, if that does not contain the match, `amount` around it.
pub(super) fn window_around(
    line: &[u8],
    matched: Option<Range<usize>>,
    amount: Amount,
) -> Range<usize> {
    let head = amount.forward(line, 0);
    let Some(matched) = matched.filter(|matched| matched.end > head && head < line.len()) else {
        return 0..head;
    };
    let matched = matched.start.min(line.len())..matched.end.min(line.len());
    let spare = amount.without(&line[matched.clone()]);
    let start = spare.half().back(line, matched.start);
    let end = amount.forward(line, start);
    // At the end of the line, more fits before the match.
    let start = if end == line.len() { amount.back(line, end) } else { start };
    start..end
}

impl Amount {
    /// The offset `self` after `from`, at most the end of the line.
    fn forward(self, line: &[u8], from: usize) -> usize {
        match self {
            Amount::Chars(count) => {
                let rest = &line[from..];
                // A text never has more code points than bytes.
                if rest.len() <= count { line.len() } else { from + chars_end(rest, count) }
            }
            Amount::Bytes(count) => {
                let end = from.saturating_add(count);
                if end >= line.len() { line.len() } else { boundary_below(line, end).max(from) }
            }
        }
    }

    /// The offset at most `self` before `from`, at least 0.
    fn back(self, line: &[u8], from: usize) -> usize {
        let mut at = boundary_below(line, from);
        match self {
            Amount::Chars(count) => {
                for _ in 0..count {
                    if at == 0 {
                        break;
                    }
                    at = boundary_below(line, at - 1);
                }
            }
            Amount::Bytes(count) => {
                at = at.min(boundary_above(line, from.saturating_sub(count)));
            }
        }
        at
    }

    /// The amount that remains after showing `text`.
    fn without(self, text: &[u8]) -> Amount {
        match self {
            Amount::Chars(count) => Amount::Chars(count - chars_up_to(text, count)),
            Amount::Bytes(count) => Amount::Bytes(count.saturating_sub(text.len())),
        }
    }

    fn half(self) -> Amount {
        match self {
            Amount::Chars(count) => Amount::Chars(count / 2),
            Amount::Bytes(count) => Amount::Bytes(count / 2),
        }
    }
}

/// Bytes per chunk when counting code points.
const COUNTED_BYTES: usize = 256;

fn is_start(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

fn count_chars(text: &[u8]) -> usize {
    text.iter().map(|&byte| usize::from(is_start(byte))).sum()
}

/// The offset after the first `count` code points; the length of a text that has fewer.
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

/// The number of code points, at most `limit`.
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

    /// The expected part, computed from a list of code points.
    fn naive(line: &str, matched: Option<Range<usize>>, count: usize) -> Range<usize> {
        let starts: Vec<usize> =
            line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
        let chars = starts.len() - 1;
        let char_at = |offset: usize| starts.iter().rposition(|&at| at <= offset).unwrap();
        let range = |from: usize, to: usize| starts[from]..starts[to];
        let Some(matched) = matched else { return range(0, count.min(chars)) };
        let end = starts.iter().position(|&at| at >= matched.end).unwrap();
        if chars <= count || end <= count {
            return range(0, count.min(chars));
        }
        let first = char_at(matched.start);
        let spare = count - (end - first).min(count);
        let from = first.saturating_sub(spare / 2);
        if from + count >= chars {
            return range(chars.saturating_sub(count), chars);
        }
        range(from, from + count)
    }

    proptest! {
        #[test]
        fn parts_agree_with_code_points(
            line in "[aé€\u{1f600} ]{0,40}",
            (from, len) in (0usize..40, 0usize..40),
            count in 0usize..45,
            is_match in any::<bool>(),
        ) {
            let chars: Vec<usize> =
                line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
            let from = from.min(chars.len() - 1);
            let to = (from + len).min(chars.len() - 1);
            let matched = is_match.then(|| chars[from]..chars[to]);
            let part = Width::Chars(count as u64).part(line.as_bytes(), matched.clone());
            prop_assert_eq!(part, naive(&line, matched, count));
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
        fn parts_in_bytes_never_split_code_points(
            line in "[aé€\u{1f600} ]{0,40}",
            (from, len) in (0usize..160, 0usize..160),
            count in 0usize..170,
        ) {
            let from = boundary_below(line.as_bytes(), from.min(line.len()));
            let to = boundary_below(line.as_bytes(), (from + len).min(line.len()));
            let part = window_around(line.as_bytes(), Some(from..to), Amount::Bytes(count));
            prop_assert!(part.len() <= count && line.get(part.clone()).is_some());
            let fits = to - from + 8 <= count;
            prop_assert!(!fits || (part.start <= from && to <= part.end), "{part:?} {from}..{to}");
        }

        /// A mapped file can change between two reads, so `matched` may not fit the line.
        #[test]
        fn any_bytes_have_a_valid_part(
            line in prop::collection::vec(prop_oneof![Just(0x80u8), any::<u8>()], 0..300),
            (from, to) in (0usize..310, 0usize..310),
            count in 0usize..310,
        ) {
            let matched = Some(from.min(to)..from.max(to));
            for amount in [Amount::Chars(count), Amount::Bytes(count)] {
                let part = window_around(&line, matched.clone(), amount);
                prop_assert!(part.start <= part.end && part.end <= line.len());
            }
        }

        #[test]
        fn whole_lines_are_skipped(
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
